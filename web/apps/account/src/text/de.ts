import type { Catalogue } from './catalogue.ts';

const de: Catalogue = {
  dir: 'ltr',

  loading: 'Wird geladen',
  language: 'Sprache',
  back: 'Zurück',
  tryAgain: 'Noch einmal versuchen',
  startAgain: 'Neu beginnen',
  optional: '(freiwillig)',
  showPassword: 'Passwort anzeigen',
  hidePassword: 'Passwort verbergen',
  problemsTitle: 'Bitte prüfen',
  returnTo: (site) => `Zurück zu ${site}`,
  thisSite: 'dieser Website',

  email: 'E-Mail-Adresse',
  password: 'Passwort',
  newPassword: 'Neues Passwort',
  choosePassword: 'Passwort',
  passwordLength: (n) => `Mindestens ${n} Zeichen. Gut sind ein paar Wörter, die nichts miteinander zu tun haben.`,
  firstName: 'Vorname',
  lastName: 'Nachname',
  nickname: 'Spitzname',

  signInTitle: (site) => `Bei ${site} anmelden`,
  signIn: 'Anmelden',
  forgot: 'Passwort vergessen?',
  noAccount: 'Neu hier?',
  createAccount: 'Konto anlegen',

  ownerSignInTitle: (site) => `Anmelden, um ${site} zu betreiben`,
  ownerSignInText: 'Für Eigentümer und Redaktion.',

  signUpTitle: 'Konto anlegen',
  signUpText: (site) => `Ein Konto für alles auf ${site}.`,
  signUp: 'Konto anlegen',
  haveAccount: 'Schon ein Konto?',

  verifyTitle: 'Bitte E-Mails ansehen',
  codeSentTo: (where) =>
    `Wir haben einen sechsstelligen Code an ${where} geschickt. Bitte hier eintippen oder einfügen.`,
  codeDigits: (n) => `${n}-stelliger Code`,
  verify: 'Bestätigen',
  resend: 'Neuen Code schicken',
  resendIn: (time) => `Ein neuer Code ist in ${time} möglich`,
  resent: 'Ein neuer Code ist unterwegs.',
  spamHint: 'Nichts angekommen? Auch im Spam-Ordner nachsehen.',

  approvalTitle: 'Fast geschafft',
  approvalText: (site) =>
    `Das Konto ist angelegt. Wer ${site} betreibt, gibt jedes neue Mitglied frei; danach ist die Anmeldung möglich.`,
  approvalMail: (where) => `Ihr Konto: ${where}`,

  approveTitle: (name, site) => `${name} möchte zu ${site}`,
  approveSince: (date) => `Konto angelegt am ${date}`,
  approveUnproven: 'Diese Adresse ist noch nicht bestätigt.',
  approve: 'Freigeben',
  decline: 'Ablehnen',
  declineTitle: (name) => `${name} ablehnen?`,
  declineText: 'Die Person erfährt davon und kann sich nicht anmelden, solange Sie es sich nicht anders überlegen.',
  approvedTitle: (name) => `${name} kann sich jetzt anmelden`,
  declinedTitle: (name) => `${name} wurde abgelehnt`,
  approveTold: 'Die Person bekommt eine Nachricht darüber. Sie können diese Seite schließen.',
  approveGoneTitle: 'Hier gibt es nichts mehr zu entscheiden',
  approveGoneText: 'Die Anfrage ist beantwortet, der Link ist zu alt, oder er ist nicht für Sie.',

  missingTitle: 'Noch ein paar Angaben',
  missingText: (site) => `${site} braucht sie, bevor es weitergeht.`,
  save: 'Speichern und weiter',

  recoverTitle: 'Passwort zurücksetzen',
  recoverText:
    'Geben Sie die Adresse Ihres Kontos ein. Wir schicken einen Link, mit dem Sie ein neues Passwort wählen.',
  recover: 'Link schicken',
  recoverSentTitle: 'Bitte E-Mails ansehen',
  recoverSentText: (where) =>
    `Wenn es zu ${where} ein Konto gibt, ist ein Link unterwegs. Er gilt einmal und nur kurze Zeit.`,
  resentLink: 'Noch einmal geschickt.',
  recoverAgain: 'Noch einmal schicken',
  backToSignIn: 'Zurück zur Anmeldung',

  newPasswordTitle: 'Neues Passwort wählen',
  ownerSetupTitle: 'Willkommen. Wählen Sie Ihr Passwort',
  ownerFirstTitle: 'Willkommen. So melden Sie sich an',
  ownerSetupText: (site) => `Sie sind eingeladen, ${site} zu betreiben. Mit diesem Passwort melden Sie sich an.`,
  passwordFor: (account) => `Für ${account}`,
  savePassword: 'Passwort speichern',

  signOutTitle: (site) => `Von ${site} abmelden?`,
  signedInAs: (name) => `Sie sind als ${name} angemeldet.`,
  signOutText: 'Sie können sich jederzeit wieder anmelden.',
  signOut: 'Abmelden',
  stay: 'Angemeldet bleiben',

  redirecting: 'Es geht zurück',
  redirectStuck: 'Nichts passiert? Von Hand weitergehen',
  redirectRefused: 'Die Rücksprungadresse lässt sich nicht gefahrlos öffnen.',
  messageSent: 'Fertig',
  messageSentText: 'Sie können dieses Fenster schließen.',

  done: {
    SIGNED_IN: 'Sie sind angemeldet',
    SIGNED_OUT: 'Sie sind abgemeldet',
    PASSWORD_CHANGED: 'Das Passwort wurde geändert',
    OWNER_READY: 'Es kann losgehen',
  },
  doneText: {
    SIGNED_IN: 'Sie können diese Seite schließen.',
    SIGNED_OUT: 'Sie können diese Seite schließen.',
    PASSWORD_CHANGED: 'Ab jetzt gilt das neue Passwort. Überall sonst wurden Sie abgemeldet.',
    OWNER_READY: 'Ihr Passwort ist gesetzt, und Sie sind angemeldet.',
  },
  goToSite: (site) => `Zu ${site}`,

  failedTitle: 'Hier geht es nicht weiter',
  expiredTitle: 'Diese Seite ist abgelaufen',
  expiredText: 'Zu Ihrer Sicherheit gelten Anmeldeseiten nur kurze Zeit. Beginnen Sie neu; es dauert nicht lange.',
  inviteTitle: 'Die Einladung fehlt',
  inviteText: 'Öffnen Sie den Link aus der Einladung noch einmal. Wurde er schon benutzt, melden Sie sich einfach an.',
  offlineTitle: 'Keine Verbindung',
  offlineText:
    'Der Server hat nicht geantwortet. Nichts ist verloren: Prüfen Sie die Verbindung und versuchen Sie es noch einmal.',
  brokenTitle: 'Etwas ist schiefgegangen',
  brokenText: 'Das liegt an uns, nicht an Ihnen. Nichts ist verloren; bitte versuchen Sie es gleich noch einmal.',
  requestId: (id) => `Kennung: ${id}`,
  unknownPageTitle: 'Hier ist nichts',
  unknownPageText: 'Diese Adresse führt nirgendwohin. Vielleicht wollten Sie sich anmelden.',

  problem: {
    required: 'Bitte ausfüllen.',
    credentials: 'E-Mail-Adresse und Passwort passen nicht zusammen.',
    email: 'Das sieht nicht wie eine E-Mail-Adresse aus.',
    emailTaken: 'Zu dieser Adresse gibt es schon ein Konto. Melden Sie sich an, oder setzen Sie das Passwort zurück.',
    passwordShort: (n) => `Bitte mindestens ${n} Zeichen verwenden.`,
    passwordLong: 'Dieses Passwort ist zu lang.',
    passwordCommon: 'Dieses Passwort ist zu bekannt. Bitte ein anderes wählen.',
    passwordReset: 'Dieses Passwort muss zuerst zurückgesetzt werden.',
    code: 'Der Code ist falsch oder abgelaufen.',
    tooMany: 'Zu viele Versuche. Bitte ein wenig warten und noch einmal versuchen.',
    blocked: 'Dieses Konto kann sich nicht anmelden. Bitte fragen Sie die Betreiber der Website.',
    link: 'Dieser Link ist abgelaufen oder wurde schon benutzt.',
    captcha: 'Wir konnten nicht erkennen, dass Sie ein Mensch sind. Bitte noch einmal versuchen.',
    busy: 'Der Dienst ist ausgelastet. Bitte gleich noch einmal versuchen.',
    movedOn: 'In einem anderen Fenster ging es schon weiter. Hier ist der jetzige Stand.',
    expired: 'Diese Anmeldung ist abgelaufen oder schon abgeschlossen. Beginnen Sie neu.',
    returnRefused: 'Die Rücksprungadresse ist für diese App nicht eingetragen.',
    client: 'Die App, von der Sie kommen, ist nicht bekannt.',
    address:
      'Die Adresse, die hierher geführt hat, ist nicht vollständig. Gehen Sie zur Website zurück und versuchen Sie es von dort noch einmal.',
    site: 'Unter dieser Adresse gibt es keine Website.',
  },
};

export default de;
