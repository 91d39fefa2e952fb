import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  use: 'Eine Benachrichtigung verwenden',
  factorText: 'Wir können Sie mit einer Benachrichtigung in dem Browser fragen, den Sie dafür hinzugefügt haben.',
  send: 'Benachrichtigung senden',
  waitTitle: 'Sehen Sie in Ihren anderen Browser',
  waitText:
    'Wir haben eine Benachrichtigung an jeden Browser gesendet, den Sie bei {site} hinzugefügt haben. Öffnen Sie sie und geben Sie dort diese Zahl ein:',
  waiting: 'Wir warten auf Ihre Antwort. Diese Seite geht von selbst weiter.',
  another: 'Einen anderen Weg verwenden',

  askTitle: 'Melden Sie sich gerade bei {site} an?',
  askText: 'Jemand meldet sich gerade mit Ihrem Konto an. Wenn Sie es nicht sind, lehnen Sie ab.',
  device: 'Browser',
  address: 'Netzwerkadresse',
  time: 'Zeit',
  number: 'Die Zahl, die dort steht, wo Sie sich anmelden',
  confirm: 'Ich bin es',
  deny: 'Ablehnen',
  confirmedTitle: 'Die Anmeldung geht weiter',
  confirmedText: 'Sie können diese Seite schließen.',
  wrongTitle: 'Das war eine andere Zahl',
  deniedTitle: 'Die Anmeldung wurde gestoppt',
  wrongText:
    'Die Anmeldung wurde gestoppt. Wenn Sie es sind, beginnen Sie noch einmal und geben Sie die Zahl ein, die dort steht.',
  deniedText: 'Es wurde nichts geöffnet. Wenn Sie es waren, beginnen Sie noch einmal.',
  notMe: 'Das war ich nicht',
  protectTitle: 'Schützen Sie Ihr Konto',
  protectText:
    'Jemand scheint Ihr Passwort zu kennen. Wählen Sie ein anderes und sehen Sie nach, wo Sie angemeldet sind.',
  changePassword: 'Passwort ändern',
  seeSessions: 'Ansehen, wo Sie angemeldet sind',
  goneTitle: 'Hier gibt es nichts mehr zu beantworten',
  goneText:
    'Die Frage ist beantwortet, hier oder in einem anderen Browser, oder älter als zwei Minuten. Um sich anzumelden, lassen Sie sie noch einmal senden.',

  change: {
    askTitle: 'Ändern Sie gerade Ihr Konto bei {site}?',
    askText:
      'Jemand, der in Ihrem Konto angemeldet ist, möchte es gerade ändern. Wenn Sie es nicht sind, lehnen Sie ab.',
    number: 'Die Zahl, die dort steht, wo Sie es ändern',
    confirmedTitle: 'Die Änderung geht weiter',
    deniedTitle: 'Die Änderung wurde gestoppt',
    wrongText:
      'Die Änderung wurde gestoppt. Wenn Sie es sind, beginnen Sie noch einmal und geben Sie die Zahl ein, die dort steht.',
    deniedText: 'Es wurde nichts geändert. Wenn Sie es waren, beginnen Sie noch einmal.',
    protectText:
      'Jemand scheint in Ihrem Konto angemeldet zu sein. Wählen Sie ein anderes Passwort und sehen Sie nach, wo Sie angemeldet sind.',
  },

  add: 'Benachrichtigungen in diesem Browser erhalten',
  addText:
    'Wenn Sie sich irgendwo anmelden, zeigt dieser Browser eine Benachrichtigung, und Sie geben darin zwei Ziffern ein.',
  permissionText: 'Sobald Sie weitergehen, fragt der Browser, ob er Benachrichtigungen zeigen darf.',
  nameHelp: 'Zum Beispiel das Gerät, auf dem dieser Browser ist.',
  kind: 'Benachrichtigungen in einem Browser',
  isGone:
    'Dieser Browser ist nicht mehr erreichbar. Fügen Sie ihn dort noch einmal hinzu, oder entfernen Sie ihn hier.',
  preparing: 'Bitte antworten Sie Ihrem Browser, wenn er fragt.',
  codeTitle: 'Geben Sie den Code der Benachrichtigung ein',
  codeText:
    'Wir haben eine Benachrichtigung mit einem Code an diesen Browser gesendet. Diese Seite übernimmt den Code, oder Sie geben ihn ein.',
  ready: 'Dieser Browser ist hinzugefügt. Ab jetzt fragt er Sie.',
  removeText: 'Dieser Browser wird bei der Anmeldung nicht mehr gefragt.',

  why: {
    unsupported: 'Dieser Browser kann hier keine Benachrichtigungen erhalten.',
    blocked:
      'Dieser Browser blockiert Benachrichtigungen dieser Website. Erlauben Sie sie in seinen Einstellungen für die Website, über das Zeichen neben der Adresse, und versuchen Sie es noch einmal.',
    dismissed:
      'Ohne Ihre Erlaubnis gibt es keine Benachrichtigungen. Versuchen Sie es noch einmal und erlauben Sie sie.',
    unreachable:
      'Dieser Browser erreicht seinen Dienst für Benachrichtigungen nicht. Versuchen Sie es später noch einmal, oder verwenden Sie einen anderen Browser.',
    failed: 'Benachrichtigungen konnten in diesem Browser nicht eingerichtet werden. Bitte noch einmal versuchen.',
    tooMany: 'Ein Konto kann nicht mehr Browser haben. Entfernen Sie zuerst einen.',
    denied: 'Die Benachrichtigung wurde abgelehnt, oder es wurde eine andere Zahl eingegeben. Bitte anders fortfahren.',
    expired:
      'Die Benachrichtigung wurde nicht rechtzeitig beantwortet. Bitte noch einmal versuchen oder anders fortfahren.',
    unproved:
      'Die Benachrichtigung wurde abgelehnt oder nicht rechtzeitig beantwortet. Bitte noch einmal versuchen oder anders fortfahren.',
    limited: 'Es wurden zu viele Benachrichtigungen gesendet. Warten Sie ein wenig, oder fahren Sie anders fort.',
    unavailable: 'Keiner Ihrer Browser ist erreichbar. Bitte anders fortfahren.',
  },
} satisfies Translation<typeof en>;
