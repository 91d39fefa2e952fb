import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  use: 'Utiliser une notification',
  factorText: 'Nous pouvons vous interroger par une notification dans le navigateur que vous avez ajouté pour cela.',
  send: 'Envoyer la notification',
  waitTitle: 'Regardez votre autre navigateur',
  waitText:
    'Nous avons envoyé une notification à chaque navigateur que vous avez ajouté chez {site}. Ouvrez-la et saisissez-y ce nombre :',
  waiting: 'Nous attendons votre réponse. Cette page continue d’elle-même.',
  another: 'Utiliser un autre moyen',

  askTitle: 'Est-ce vous qui vous connectez à {site} ?',
  askText: 'Quelqu’un se connecte à votre compte en ce moment. Si ce n’est pas vous, refusez.',
  device: 'Navigateur',
  address: 'Adresse réseau',
  time: 'Heure',
  number: 'Le nombre affiché là où vous vous connectez',
  confirm: 'C’est moi',
  deny: 'Refuser',
  confirmedTitle: 'La connexion continue',
  confirmedText: 'Vous pouvez fermer cette page.',
  wrongTitle: 'C’était un autre nombre',
  deniedTitle: 'La connexion a été arrêtée',
  wrongText: 'La connexion a été arrêtée. Si c’est vous, recommencez et saisissez le nombre affiché là-bas.',
  deniedText: 'Rien n’a été ouvert. Si c’était vous, recommencez.',
  notMe: 'Ce n’était pas moi',
  protectTitle: 'Protégez votre compte',
  protectText:
    'Quelqu’un semble connaître votre mot de passe. Choisissez-en un autre et vérifiez où vous êtes connecté.',
  changePassword: 'Changer le mot de passe',
  seeSessions: 'Voir où vous êtes connecté',
  goneTitle: 'Il n’y a plus rien à répondre',
  goneText:
    'La question a reçu une réponse, ici ou dans un autre navigateur, ou date de plus de deux minutes. Pour vous connecter, faites-la envoyer à nouveau.',

  change: {
    askTitle: 'Est-ce vous qui modifiez votre compte chez {site} ?',
    askText: 'Quelqu’un qui est connecté à votre compte veut le modifier en ce moment. Si ce n’est pas vous, refusez.',
    number: 'Le nombre affiché là où vous le modifiez',
    confirmedTitle: 'La modification continue',
    deniedTitle: 'La modification a été arrêtée',
    wrongText: 'La modification a été arrêtée. Si c’est vous, recommencez et saisissez le nombre affiché là-bas.',
    deniedText: 'Rien n’a été modifié. Si c’était vous, recommencez.',
    protectText:
      'Quelqu’un semble être connecté à votre compte. Choisissez un autre mot de passe et vérifiez où vous êtes connecté.',
  },

  add: 'Recevoir des notifications dans ce navigateur',
  addText:
    'Quand vous vous connectez quelque part, ce navigateur affiche une notification, et vous y saisissez deux chiffres.',
  permissionText: 'Dès que vous continuez, le navigateur demande s’il peut afficher des notifications.',
  nameHelp: 'Par exemple l’appareil sur lequel se trouve ce navigateur.',
  kind: 'Notifications dans un navigateur',
  isGone: 'Ce navigateur n’est plus joignable. Ajoutez-le à nouveau depuis celui-ci, ou supprimez-le ici.',
  preparing: 'Répondez à votre navigateur s’il vous pose une question.',
  codeTitle: 'Saisissez le code de la notification',
  codeText:
    'Nous avons envoyé une notification avec un code à ce navigateur. Cette page reprend le code, ou vous le saisissez.',
  ready: 'Ce navigateur est ajouté. Il vous interrogera désormais.',
  removeText: 'Ce navigateur ne sera plus interrogé quand vous vous connectez.',

  why: {
    unsupported: 'Ce navigateur ne peut pas recevoir de notifications ici.',
    blocked:
      'Ce navigateur bloque les notifications de ce site. Autorisez-les dans ses réglages du site, par le signe à côté de l’adresse, puis réessayez.',
    dismissed: 'Sans votre autorisation, il n’y a pas de notifications. Réessayez et autorisez-les.',
    unreachable:
      'Ce navigateur ne peut pas joindre son service de notifications. Réessayez plus tard, ou utilisez un autre navigateur.',
    failed: 'Les notifications n’ont pas pu être mises en place dans ce navigateur. Réessayez.',
    tooMany: 'Un compte ne peut pas avoir plus de navigateurs. Supprimez-en un d’abord.',
    denied: 'La notification a été refusée, ou un autre nombre a été saisi. Continuez d’une autre façon.',
    expired: 'La notification n’a pas reçu de réponse à temps. Réessayez, ou continuez d’une autre façon.',
    unproved:
      'La notification a été refusée, ou n’a pas reçu de réponse à temps. Réessayez, ou continuez d’une autre façon.',
    limited: 'Trop de notifications ont été envoyées. Attendez un peu, ou continuez d’une autre façon.',
    unavailable: 'Aucun de vos navigateurs n’est joignable. Continuez d’une autre façon.',
  },
} satisfies Translation<typeof en>;
