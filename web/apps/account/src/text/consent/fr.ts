import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  title: 'Autoriser {app} à agir pour vous sur {site} ?',
  may: 'En votre nom, dans la limite de vos droits, elle pourra alors :',
  until: 'Cela vaut jusqu’à ce que vous le retiriez dans votre compte.',
  allow: 'Autoriser',
  installUntil: 'Cela vaut jusqu’à ce que les responsables du site révoquent l’application.',
} satisfies Translation<typeof en>;
