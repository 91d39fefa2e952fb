import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  continueWith: 'Weiter mit {provider}',

  linkTitle: '{provider} mit Ihrem Konto verbinden',
  linkText:
    'Zu {email} gibt es hier ein Konto. Geben Sie einmal dessen Passwort ein; danach meldet {provider} Sie künftig an.',
  link: 'Verbinden und anmelden',

  failedTitle: 'Die Anmeldung mit {provider} hat nicht geklappt',
  failed: {
    DECLINED: '{provider} hat Sie nicht angemeldet, oder Sie haben dort abgebrochen. Hier hat sich nichts geändert.',
    UNAVAILABLE: '{provider} antwortet gerade nicht. Versuchen Sie es später oder melden Sie sich anders an.',
    NO_EMAIL:
      '{provider} hat keine bestätigte E-Mail-Adresse genannt, und diese Website braucht eine. Melden Sie sich anders an.',
    NO_ACCOUNT: 'Sie haben hier kein Konto, und über {provider} legt diese Website keines an.',
    REFUSED:
      'Die Antwort von {provider} konnte nicht angenommen werden. Versuchen Sie es noch einmal oder melden Sie sich anders an.',
  },
  again: 'Noch einmal mit {provider} versuchen',

  factorText: 'Geben Sie das Passwort Ihres Kontos bei {site} ein.',
  usePassword: 'Das Passwort verwenden',
  wrongPassword: 'Das ist nicht Ihr Passwort.',

  title: 'Anmeldung mit anderen Konten',
  text: 'Sie melden Sie hier ohne Passwort an.',
  none: 'Kein anderes Konto meldet Sie hier an.',
  since: 'Verbunden am {date}',
  disconnect: 'Trennen',
  disconnectTitle: '{provider} trennen?',
  disconnectText: 'Es meldet Sie hier nicht mehr an. Ihr Konto dort bleibt, wie es ist.',
  disconnected: 'Getrennt.',
  lastWayIn:
    'Nur damit können Sie sich hier anmelden. Wählen Sie zuerst ein Passwort oder fügen Sie einen Passkey hinzu.',

  factor: 'Ihr Passwort, nach der Anmeldung mit einem anderen Konto',
  factorHelp:
    'Wenn ein anderes Konto Sie anmeldet, fragen wir auch nach Ihrem Passwort. Nach einer Anmeldung mit Passwort zählt es nicht.',
  addFactor: 'Auch nach meinem Passwort fragen',
  factorReady: 'Sie werden nach Ihrem Passwort gefragt, wenn ein anderes Konto Sie anmeldet.',
  removeFactor: 'Dann meldet das andere Konto allein Sie an.',
  factorsNone: 'Ein Schritt allein meldet Sie an. Mit einer Authenticator-App ist Ihr Konto sicherer.',
} satisfies Translation<typeof en>;
