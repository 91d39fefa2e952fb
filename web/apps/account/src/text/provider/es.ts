import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  continueWith: 'Continuar con {provider}',

  linkTitle: 'Vincular {provider} con tu cuenta',
  linkText: 'Aquí hay una cuenta de {email}. Escribe una vez tu contraseña; después podrás entrar con {provider}.',
  link: 'Vincular y entrar',

  failedTitle: 'No se pudo entrar con {provider}',
  failed: {
    DECLINED: '{provider} no te ha identificado, o cancelaste allí. Aquí no ha cambiado nada.',
    UNAVAILABLE: '{provider} no responde en este momento. Inténtalo más tarde o entra de otra manera.',
    NO_EMAIL: '{provider} no dio ningún correo verificado, y este sitio necesita uno. Entra de otra manera.',
    NO_ACCOUNT: 'No tienes cuenta aquí, y este sitio no crea cuentas con {provider}.',
    REFUSED: 'No se pudo aceptar la respuesta de {provider}. Inténtalo de nuevo o entra de otra manera.',
  },
  again: 'Intentarlo otra vez con {provider}',

  factorText: 'Escribe la contraseña de tu cuenta en {site}.',
  usePassword: 'Usar tu contraseña',
  wrongPassword: 'Esta no es tu contraseña.',

  title: 'Entrar con otras cuentas',
  text: 'Con ellas entras aquí sin contraseña.',
  none: 'Ninguna otra cuenta te da acceso aquí.',
  since: 'Vinculada el {date}',
  disconnect: 'Desvincular',
  disconnectTitle: '¿Desvincular {provider}?',
  disconnectText: 'Ya no servirá para entrar aquí. Tu cuenta allí sigue como está.',
  disconnected: 'Desvinculada.',
  lastWayIn: 'Es tu única manera de entrar aquí. Elige primero una contraseña o añade una llave de acceso.',

  factor: 'Tu contraseña, después de entrar con otra cuenta',
  factorHelp:
    'Cuando entras con otra cuenta, pedimos también tu contraseña. No cuenta después de entrar con la contraseña.',
  addFactor: 'Pedir también mi contraseña',
  factorReady: 'Se te pedirá la contraseña cuando entres con otra cuenta.',
  removeFactor: 'Entonces bastará con la otra cuenta para entrar.',
  factorsNone: 'Un solo paso basta para entrar. Una aplicación de autenticación hace tu cuenta más segura.',
} satisfies Translation<typeof en>;
