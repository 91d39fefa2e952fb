import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  title: '¿Permitir que {app} actúe por ti en {site}?',
  may: 'En tu nombre, y hasta donde tú puedes, podrá entonces:',
  until: 'Vale hasta que lo retires en tu cuenta.',
  allow: 'Permitir',
  installUntil: 'Vale hasta que quienes llevan el sitio revoquen la aplicación.',
} satisfies Translation<typeof en>;
