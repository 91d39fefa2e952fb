import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  signIn: 'Se connecter avec une clé d’accès',
  use: 'Utiliser une clé d’accès',
  factorText: 'Confirmez avec votre clé d’accès : empreinte, visage, code PIN ou clé de sécurité.',
  accountFactorText: 'Saisissez le code que votre application d’authentification affiche pour ce compte.',
  proofText: 'Avant ce changement, confirmez avec votre clé d’accès.',
  waiting: 'Suivez les indications de votre navigateur ou de votre appareil.',

  enrolText:
    '{site} demande une deuxième étape à la connexion : une clé d’accès, ou un code d’une application d’authentification.',
  createText:
    'Votre appareil ou gestionnaire de mots de passe garde la clé d’accès et l’ouvre par empreinte, visage ou code PIN. Elle permet aussi de se connecter sans mot de passe.',
  secondText:
    'Votre appareil ou gestionnaire de mots de passe garde la clé d’accès et l’ouvre par empreinte, visage ou code PIN. Elle s’utilise après le mot de passe.',
  create: 'Créer une clé d’accès',
  useApp: 'Utiliser une application d’authentification',

  add: 'Ajouter une clé d’accès',
  nameHelp: 'Par exemple l’appareil ou le gestionnaire de mots de passe qui la garde.',
  kind: 'Clé d’accès',
  synced: 'Clé d’accès, sur plusieurs appareils',
  ready: 'La clé d’accès est prête. Elle vous connecte désormais.',
  secondReady: 'La clé d’accès est prête. Elle sera demandée après le mot de passe.',
  rename: 'Renommer',
  renameTitle: 'Renommer {name}',
  saveName: 'Enregistrer le nom',
  renamed: 'Le nouveau nom est enregistré.',
  removeText:
    'Elle ne vous connectera plus. Supprimez-la aussi de votre appareil ou de votre gestionnaire de mots de passe.',

  why: {
    unsupported: 'Ce navigateur ne peut pas utiliser de clés d’accès ici.',
    cancelled: 'Aucune clé d’accès n’a été utilisée. Réessayez, ou continuez d’une autre façon.',
    timeout: 'La demande est restée ouverte trop longtemps. Réessayez.',
    known: 'Il y a déjà une clé d’accès pour ce compte sur cet appareil.',
    address: 'Le navigateur refuse les clés d’accès à cette adresse.',
    failed: 'La clé d’accès n’a pas fonctionné. Réessayez, ou continuez d’une autre façon.',
    wrong: 'Cette clé d’accès n’est pas acceptée ici. Elle a peut-être été supprimée, ou appartient à un autre compte.',
    tooMany: 'Un compte ne peut pas avoir plus de clés d’accès. Supprimez-en une d’abord.',
  },
} satisfies Translation<typeof en>;
