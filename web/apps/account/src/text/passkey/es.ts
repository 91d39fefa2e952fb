import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  signIn: 'Entrar con una llave de acceso',
  use: 'Usar una llave de acceso',
  factorText: 'Confirma con tu llave de acceso: huella, rostro, PIN o llave de seguridad.',
  accountFactorText: 'Escribe el código que tu aplicación de autenticación muestra para esta cuenta.',
  proofText: 'Antes de cambiarlo, confirma con tu llave de acceso.',
  waiting: 'Sigue las indicaciones de tu navegador o dispositivo.',

  enrolText:
    '{site} pide un segundo paso al entrar: una llave de acceso o un código de una aplicación de autenticación.',
  createText:
    'Tu dispositivo o gestor de contraseñas guarda la llave de acceso y la abre con huella, rostro o PIN. También sirve para entrar sin contraseña.',
  secondText:
    'Tu dispositivo o gestor de contraseñas guarda la llave de acceso y la abre con huella, rostro o PIN. Se usa después de la contraseña.',
  create: 'Crear una llave de acceso',
  useApp: 'Usar una aplicación de autenticación',

  add: 'Añadir una llave de acceso',
  nameHelp: 'Por ejemplo, el dispositivo o el gestor de contraseñas que la guarda.',
  kind: 'Llave de acceso',
  synced: 'Llave de acceso, en varios dispositivos',
  ready: 'La llave de acceso está lista. Desde ahora puedes entrar con ella.',
  secondReady: 'La llave de acceso está lista. Desde ahora se pide después de la contraseña.',
  rename: 'Cambiar el nombre',
  renameTitle: 'Cambiar el nombre de {name}',
  saveName: 'Guardar el nombre',
  renamed: 'El nuevo nombre está guardado.',
  removeText: 'Ya no servirá para entrar. Elimínala también de tu dispositivo o gestor de contraseñas.',

  why: {
    unsupported: 'Este navegador no puede usar llaves de acceso aquí.',
    cancelled: 'No se usó ninguna llave de acceso. Inténtalo de nuevo o sigue de otra manera.',
    timeout: 'La ventana estuvo abierta demasiado tiempo. Inténtalo de nuevo.',
    known: 'En este dispositivo ya hay una llave de acceso de esta cuenta.',
    address: 'El navegador no admite llaves de acceso en esta dirección.',
    failed: 'La llave de acceso no funcionó. Inténtalo de nuevo o sigue de otra manera.',
    wrong: 'Esta llave de acceso no vale aquí. Puede que se haya eliminado o que sea de otra cuenta.',
    tooMany: 'Una cuenta no puede tener más llaves de acceso. Elimina una primero.',
  },
} satisfies Translation<typeof en>;
