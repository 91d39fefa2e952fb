import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  continueWith: 'Continuer avec {provider}',

  linkTitle: 'Associer {provider} à votre compte',
  linkText:
    'Il y a ici un compte pour {email}. Saisissez une fois son mot de passe ; {provider} vous connectera ensuite.',
  link: 'Associer et se connecter',

  failedTitle: 'La connexion avec {provider} n’a pas fonctionné',
  failed: {
    DECLINED: '{provider} ne vous a pas connecté, ou vous y avez annulé. Rien n’a changé ici.',
    UNAVAILABLE: '{provider} ne répond pas pour le moment. Réessayez plus tard, ou connectez-vous autrement.',
    NO_EMAIL:
      '{provider} n’a donné aucune adresse e-mail vérifiée, et ce site en demande une. Connectez-vous autrement.',
    NO_ACCOUNT: 'Vous n’avez pas de compte ici, et ce site n’en crée pas avec {provider}.',
    REFUSED: 'La réponse de {provider} n’a pas pu être acceptée. Réessayez, ou connectez-vous autrement.',
  },
  again: 'Réessayer avec {provider}',

  factorText: 'Saisissez le mot de passe de votre compte sur {site}.',
  usePassword: 'Utiliser votre mot de passe',
  wrongPassword: 'Ce n’est pas votre mot de passe.',

  title: 'Connexion avec d’autres comptes',
  text: 'Ils vous connectent ici sans mot de passe.',
  none: 'Aucun autre compte ne vous connecte ici.',
  since: 'Associé le {date}',
  disconnect: 'Dissocier',
  disconnectTitle: 'Dissocier {provider} ?',
  disconnectText: 'Il ne vous connectera plus ici. Votre compte là-bas reste comme il est.',
  disconnected: 'Dissocié.',
  lastWayIn:
    'C’est votre seul moyen de vous connecter ici. Choisissez d’abord un mot de passe ou ajoutez une clé d’accès.',

  factor: 'Votre mot de passe, après une connexion avec un autre compte',
  factorHelp:
    'Quand un autre compte vous connecte, nous demandons aussi votre mot de passe. Il ne compte pas après une connexion par mot de passe.',
  addFactor: 'Demander aussi mon mot de passe',
  factorReady: 'Votre mot de passe vous sera demandé quand un autre compte vous connecte.',
  removeFactor: 'L’autre compte vous connectera alors à lui seul.',
  factorsNone:
    'Une seule étape suffit pour vous connecter. Une application d’authentification rend votre compte plus sûr.',
} satisfies Translation<typeof en>;
