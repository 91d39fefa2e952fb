import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  use: 'Usar una notificación',
  factorText: 'Podemos preguntarte con una notificación en el navegador que añadiste para ello.',
  send: 'Enviar la notificación',
  waitTitle: 'Mira tu otro navegador',
  waitText:
    'Hemos enviado una notificación a cada navegador que añadiste en {site}. Ábrela y escribe allí este número:',
  waiting: 'Esperamos tu respuesta. Esta página continúa por sí sola.',
  another: 'Usar otra manera',

  askTitle: '¿Eres tú quien entra en {site}?',
  askText: 'Alguien está entrando ahora en tu cuenta. Si no eres tú, recházalo.',
  device: 'Navegador',
  address: 'Dirección de red',
  time: 'Hora',
  number: 'El número que se muestra donde entras',
  confirm: 'Soy yo',
  deny: 'Rechazar',
  confirmedTitle: 'El inicio de sesión continúa',
  confirmedText: 'Puedes cerrar esta página.',
  wrongTitle: 'Era otro número',
  deniedTitle: 'El inicio de sesión se detuvo',
  wrongText: 'El inicio de sesión se detuvo. Si eres tú, empieza de nuevo y escribe el número que se muestra allí.',
  deniedText: 'No se abrió nada. Si eras tú, empieza de nuevo.',
  notMe: 'No era yo',
  protectTitle: 'Protege tu cuenta',
  protectText: 'Parece que alguien conoce tu contraseña. Elige otra y mira dónde has iniciado sesión.',
  changePassword: 'Cambiar la contraseña',
  seeSessions: 'Ver dónde has iniciado sesión',
  goneTitle: 'No queda nada por responder',
  goneText:
    'La pregunta ya tiene respuesta, aquí o en otro navegador, o tiene más de dos minutos. Para entrar, haz que se envíe de nuevo.',

  change: {
    askTitle: '¿Eres tú quien cambia tu cuenta en {site}?',
    askText: 'Alguien que ha entrado en tu cuenta quiere cambiarla ahora. Si no eres tú, recházalo.',
    number: 'El número que se muestra donde la cambias',
    confirmedTitle: 'El cambio continúa',
    deniedTitle: 'El cambio se detuvo',
    wrongText: 'El cambio se detuvo. Si eres tú, empieza de nuevo y escribe el número que se muestra allí.',
    deniedText: 'No se cambió nada. Si eras tú, empieza de nuevo.',
    protectText: 'Parece que alguien ha entrado en tu cuenta. Elige otra contraseña y mira dónde has iniciado sesión.',
  },

  add: 'Recibir notificaciones en este navegador',
  addText: 'Cuando entres en algún lugar, este navegador mostrará una notificación, y en ella escribirás dos cifras.',
  permissionText: 'Cuando continúes, el navegador preguntará si puede mostrar notificaciones.',
  nameHelp: 'Por ejemplo, el dispositivo en el que está este navegador.',
  kind: 'Notificaciones en un navegador',
  isGone: 'Ya no se puede llegar a este navegador. Añádelo de nuevo desde él, o elimínalo aquí.',
  preparing: 'Responde a tu navegador, si pregunta.',
  codeTitle: 'Escribe el código de la notificación',
  codeText:
    'Hemos enviado una notificación con un código a este navegador. Esta página toma el código, o lo escribes tú.',
  ready: 'Este navegador está añadido. Desde ahora te preguntará.',
  removeText: 'Ya no se preguntará a este navegador cuando entres.',

  why: {
    unsupported: 'Este navegador no puede recibir notificaciones aquí.',
    blocked:
      'Este navegador bloquea las notificaciones de este sitio. Permítelas en su configuración del sitio, con el signo junto a la dirección, e inténtalo de nuevo.',
    dismissed: 'Sin tu permiso no hay notificaciones. Inténtalo de nuevo y permítelas.',
    unreachable:
      'Este navegador no puede llegar a su servicio de notificaciones. Inténtalo más tarde o usa otro navegador.',
    failed: 'No se pudieron preparar las notificaciones en este navegador. Inténtalo de nuevo.',
    tooMany: 'Una cuenta no puede tener más navegadores. Elimina uno primero.',
    denied: 'La notificación se rechazó, o se escribió otro número. Sigue de otra manera.',
    expired: 'La notificación no se respondió a tiempo. Inténtalo de nuevo o sigue de otra manera.',
    unproved: 'La notificación se rechazó o no se respondió a tiempo. Inténtalo de nuevo o sigue de otra manera.',
    limited: 'Se enviaron demasiadas notificaciones. Espera un poco o sigue de otra manera.',
    unavailable: 'No se puede llegar a ninguno de tus navegadores. Sigue de otra manera.',
  },
} satisfies Translation<typeof en>;
