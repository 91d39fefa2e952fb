import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  signIn: 'Mit einem Passkey anmelden',
  use: 'Einen Passkey verwenden',
  factorText: 'Bitte mit Ihrem Passkey bestätigen: per Fingerabdruck, Gesicht, PIN oder Sicherheitsschlüssel.',
  accountFactorText: 'Bitte den Code eingeben, den Ihre Authenticator-App für dieses Konto zeigt.',
  proofText: 'Bevor sich das ändert, bestätigen Sie bitte mit Ihrem Passkey.',
  waiting: 'Bitte der Aufforderung des Browsers oder Geräts folgen.',

  enrolText:
    '{site} verlangt bei der Anmeldung einen zweiten Schritt: einen Passkey oder einen Code einer Authenticator-App.',
  createText:
    'Ihr Gerät oder Passwortmanager bewahrt den Passkey auf und öffnet ihn per Fingerabdruck, Gesicht oder PIN. Er meldet Sie auch ohne Passwort an.',
  secondText:
    'Ihr Gerät oder Passwortmanager bewahrt den Passkey auf und öffnet ihn per Fingerabdruck, Gesicht oder PIN. Sie verwenden ihn nach dem Passwort.',
  create: 'Passkey erstellen',
  useApp: 'Eine Authenticator-App verwenden',

  add: 'Passkey hinzufügen',
  nameHelp: 'Zum Beispiel das Gerät oder der Passwortmanager, der ihn aufbewahrt.',
  kind: 'Passkey',
  synced: 'Passkey, auf mehreren Geräten',
  ready: 'Der Passkey ist bereit. Er meldet Sie ab jetzt an.',
  secondReady: 'Der Passkey ist bereit. Er wird ab jetzt nach dem Passwort verlangt.',
  rename: 'Umbenennen',
  renameTitle: '{name} umbenennen',
  saveName: 'Namen speichern',
  renamed: 'Der neue Name ist gespeichert.',
  removeText: 'Er meldet Sie dann nicht mehr an. Entfernen Sie ihn auch von Ihrem Gerät oder aus dem Passwortmanager.',

  why: {
    unsupported: 'Dieser Browser kann hier keine Passkeys verwenden.',
    cancelled: 'Es wurde kein Passkey verwendet. Bitte noch einmal versuchen oder anders fortfahren.',
    timeout: 'Die Aufforderung war zu lange offen. Bitte noch einmal versuchen.',
    known: 'Auf diesem Gerät gibt es schon einen Passkey für dieses Konto.',
    address: 'Der Browser lehnt Passkeys unter dieser Adresse ab.',
    failed: 'Der Passkey hat nicht funktioniert. Bitte noch einmal versuchen oder anders fortfahren.',
    wrong: 'Dieser Passkey gilt hier nicht. Vielleicht wurde er entfernt oder gehört zu einem anderen Konto.',
    tooMany: 'Ein Konto kann nicht mehr Passkeys haben. Entfernen Sie zuerst einen.',
  },
} satisfies Translation<typeof en>;
