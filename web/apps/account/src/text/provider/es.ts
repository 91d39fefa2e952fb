import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  continueWith: 'Continuar con {provider}',

  linkTitle: 'Vincular {provider} con su cuenta',
  linkText: 'Aquí hay una cuenta de {email}. Escriba una vez su contraseña; después podrá entrar con {provider}.',
  link: 'Vincular y entrar',

  failedTitle: 'No se pudo entrar con {provider}',
  failed: {
    DECLINED: '{provider} no le ha identificado, o usted canceló allí. Aquí no ha cambiado nada.',
    UNAVAILABLE: '{provider} no responde en este momento. Inténtelo más tarde o entre de otra manera.',
    NO_EMAIL: '{provider} no dio ningún correo verificado, y este sitio necesita uno. Entre de otra manera.',
    NO_ACCOUNT: 'Usted no tiene cuenta aquí, y este sitio no crea cuentas con {provider}.',
    REFUSED: 'No se pudo aceptar la respuesta de {provider}. Inténtelo de nuevo o entre de otra manera.',
  },
  again: 'Intentarlo otra vez con {provider}',

  factorText: 'Escriba la contraseña de su cuenta en {site}.',
  usePassword: 'Usar su contraseña',
  wrongPassword: 'Esta no es su contraseña.',

  title: 'Entrar con otras cuentas',
  text: 'Con ellas entra aquí sin contraseña.',
  none: 'Ninguna otra cuenta le da acceso aquí.',
  since: 'Vinculada el {date}',
  disconnect: 'Desvincular',
  disconnectTitle: '¿Desvincular {provider}?',
  disconnectText: 'Ya no servirá para entrar aquí. Su cuenta allí sigue como está.',
  disconnected: 'Desvinculada.',
  lastWayIn: 'Es su única manera de entrar aquí. Elija primero una contraseña o añada una llave de acceso.',

  factor: 'Su contraseña, después de entrar con otra cuenta',
  factorHelp:
    'Cuando entra con otra cuenta, pedimos también su contraseña. No cuenta después de entrar con la contraseña.',
  addFactor: 'Pedir también mi contraseña',
  factorReady: 'Se le pedirá la contraseña cuando entre con otra cuenta.',
  removeFactor: 'Entonces bastará con la otra cuenta para entrar.',
  factorsNone: 'Un solo paso basta para entrar. Una aplicación de autenticación hace su cuenta más segura.',
} satisfies Translation<typeof en>;
