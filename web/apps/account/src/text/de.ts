import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
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
  returnTo: 'Zurück zu {site}',
  thisSite: 'dieser Website',

  email: 'E-Mail-Adresse',
  password: 'Passwort',
  newPassword: 'Neues Passwort',
  choosePassword: 'Passwort',
  passwordLength:
    'Mindestens {n, plural, one {# Zeichen} other {# Zeichen}}. Gut sind ein paar Wörter, die nichts miteinander zu tun haben.',
  firstName: 'Vorname',
  lastName: 'Nachname',
  nickname: 'Spitzname',

  signInTitle: 'Bei {site} anmelden',
  signIn: 'Anmelden',
  forgot: 'Passwort vergessen?',
  noAccount: 'Neu hier?',
  createAccount: 'Konto anlegen',

  ownerSignInTitle: 'Anmelden, um {site} zu betreiben',
  ownerSignInText: 'Für Eigentümer und Redaktion.',

  signUpTitle: 'Konto anlegen',
  signUpText: 'Ein Konto für alles auf {site}.',
  signUp: 'Konto anlegen',
  haveAccount: 'Schon ein Konto?',

  verifyTitle: 'Bitte E-Mails ansehen',
  codeSentTo: 'Wir haben einen sechsstelligen Code an {where} geschickt. Bitte hier eintippen oder einfügen.',
  codeDigits: '{n, number}-stelliger Code',
  verify: 'Bestätigen',
  resend: 'Neuen Code schicken',
  resendIn: 'Ein neuer Code ist in {time} möglich',
  resent: 'Ein neuer Code ist unterwegs.',
  spamHint: 'Nichts angekommen? Auch im Spam-Ordner nachsehen.',

  factorTitle: 'Bitte bestätigen, dass Sie es sind',
  factorText: 'Bitte den Code eingeben, den Ihre Authenticator-App für {site} zeigt.',
  emailFactorText: 'Wir können einen Code an Ihre E-Mail-Adresse senden.',
  smsFactorText: 'Wir können einen Code per SMS an Ihr Telefon senden.',
  callFactorText: 'Wir können Sie anrufen und einen Code ansagen.',
  sendCode: 'Code senden',
  useEmailCode: 'Code per E-Mail verwenden',
  useSmsCode: 'Code per SMS verwenden',
  useCallCode: 'Code per Anruf verwenden',
  recoveryCodeText: 'Bitte einen der aufbewahrten Wiederherstellungscodes eingeben. Jeder gilt einmal.',
  recoveryCode: 'Wiederherstellungscode',
  useRecoveryCode: 'Einen Wiederherstellungscode verwenden',
  useAuthenticator: 'Die Authenticator-App verwenden',
  rememberBrowser: 'In diesem Browser {n, plural, one {# Tag} other {# Tage}} lang nicht mehr fragen',

  setupScan: 'Diesen Code mit einer Authenticator-App scannen.',
  setupQrCode: 'QR-Code für die Authenticator-App',
  setupOpen: 'In einer App auf diesem Gerät öffnen',
  setupType: 'Oder diesen Schlüssel in die App eintippen:',
  setupCode: 'Den Code eingeben, den die App zeigt.',
  copy: 'Kopieren',
  copied: 'Kopiert.',
  copyFailed: 'Kopieren war hier nicht möglich. Der Text ist markiert: bitte mit der Tastatur kopieren.',
  download: 'Als Datei speichern',

  recoveryCodesTitle: 'Diese Wiederherstellungscodes aufbewahren',
  recoveryCodesText:
    'Mit jedem können Sie sich einmal anmelden, wenn Ihr Gerät verloren ist. Sie werden nur jetzt angezeigt: bitte ausdrucken oder in einem Passwortmanager ablegen.',
  recoveryCodesList: 'Wiederherstellungscodes',
  recoveryCodesFile: 'Wiederherstellungscodes für {site}. Jeder gilt einmal.',
  recoveryCodesGone:
    'Sie wurden einmal angezeigt und werden nicht noch einmal angezeigt. Wer sie nicht aufbewahrt hat, erzeugt im eigenen Konto neue.',
  recoveryCodesKept: 'Ich habe sie aufbewahrt',

  enrolTitle: 'Schützen Sie Ihr Konto',
  enrolText:
    '{site} verlangt bei der Anmeldung einen zweiten Schritt: einen Code einer Authenticator-App auf Ihrem Telefon oder Computer.',
  enrolUntil: 'Das können Sie bis {date, date, long} aufschieben.',
  enrolBegin: 'Jetzt einrichten',
  enrolLater: 'Später',
  goOn: 'Weiter',

  approvalTitle: 'Fast geschafft',
  approvalText:
    'Das Konto ist angelegt. Wer {site} betreibt, gibt jedes neue Mitglied frei; danach ist die Anmeldung möglich.',
  approvalMail: 'Ihr Konto: {where}',

  missingTitle: 'Noch ein paar Angaben',
  missingText: '{site} braucht sie, bevor es weitergeht.',
  save: 'Speichern und weiter',

  recoverTitle: 'Passwort zurücksetzen',
  recoverText:
    'Geben Sie die Adresse Ihres Kontos ein. Wir schicken einen Link, mit dem Sie ein neues Passwort wählen.',
  recover: 'Link schicken',
  recoverSentTitle: 'Bitte E-Mails ansehen',
  recoverSentText: 'Wenn es zu {where} ein Konto gibt, ist ein Link unterwegs. Er gilt einmal und nur kurze Zeit.',
  resentLink: 'Noch einmal geschickt.',
  recoverAgain: 'Noch einmal schicken',
  backToSignIn: 'Zurück zur Anmeldung',

  newPasswordTitle: 'Neues Passwort wählen',
  ownerSetupTitle: 'Willkommen. Wählen Sie Ihr Passwort',
  ownerFirstTitle: 'Willkommen. So melden Sie sich an',
  ownerSetupText: 'Sie sind eingeladen, {site} zu betreiben. Mit diesem Passwort melden Sie sich an.',
  passwordFor: 'Für {account}',
  savePassword: 'Passwort speichern',

  signOutTitle: 'Von {site} abmelden?',
  signedInAs: 'Sie sind als {name} angemeldet.',
  signOutText: 'Sie können sich jederzeit wieder anmelden.',
  signOut: 'Abmelden',
  stay: 'Angemeldet bleiben',

  terms: 'Nutzungsbedingungen',
  privacy: 'Datenschutz',
  securityTitle: 'Passwort und Anmeldungen',

  accountTitle: 'Mein Konto',
  redirecting: 'Einen Moment',
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
  goToSite: 'Zu {site}',

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
  requestId: 'Kennung: {id}',
  unknownPageTitle: 'Hier ist nichts',
  unknownPageText: 'Diese Adresse führt nirgendwohin. Vielleicht wollten Sie sich anmelden.',

  problem: {
    required: 'Bitte ausfüllen.',
    credentials: 'E-Mail-Adresse und Passwort passen nicht zusammen.',
    email: 'Das sieht nicht wie eine E-Mail-Adresse aus.',
    emailTaken: 'Zu dieser Adresse gibt es schon ein Konto. Melden Sie sich an, oder setzen Sie das Passwort zurück.',
    passwordShort: 'Bitte mindestens {n, plural, one {# Zeichen} other {# Zeichen}} verwenden.',
    passwordLong: 'Dieses Passwort ist zu lang.',
    passwordCommon: 'Dieses Passwort ist zu bekannt. Bitte ein anderes wählen.',
    passwordLeaked: 'Dieses Passwort ist anderswo bekannt geworden. Bitte ein anderes wählen.',
    passwordContext:
      'Dieses Passwort besteht aus Ihrer Adresse, Ihrem Namen oder dem Namen der Website. Bitte ein anderes wählen.',
    passwordReset: 'Dieses Passwort muss zuerst zurückgesetzt werden.',
    code: 'Der Code ist falsch oder abgelaufen.',
    tooMany: 'Zu viele Versuche. Bitte ein wenig warten und noch einmal versuchen.',
    blocked: 'Dieses Konto kann sich nicht anmelden. Bitte fragen Sie die Betreiber der Website.',
    deletionWaits: 'Dieses Konto wird bald gelöscht. Mit dem Link in der Nachricht darüber bleibt es bestehen.',
    link: 'Dieser Link ist abgelaufen oder wurde schon benutzt.',
    captcha: 'Wir konnten nicht erkennen, dass Sie ein Mensch sind. Bitte noch einmal versuchen.',
    captchaElsewhere:
      'Diese Website verlangt eine Prüfung, die diese Seite nicht zeigen kann. Bitte fragen Sie die Betreiber der Website.',
    busy: 'Der Dienst ist ausgelastet. Bitte gleich noch einmal versuchen.',
    movedOn: 'In einem anderen Fenster ging es schon weiter. Hier ist der jetzige Stand.',
    expired: 'Diese Anmeldung ist abgelaufen oder schon abgeschlossen. Beginnen Sie neu.',
    returnRefused: 'Die Rücksprungadresse ist für diese App nicht eingetragen.',
    client: 'Die App, von der Sie kommen, ist nicht bekannt.',
    address:
      'Die Adresse, die hierher geführt hat, ist nicht vollständig. Gehen Sie zur Website zurück und versuchen Sie es von dort noch einmal.',
    site: 'Unter dieser Adresse gibt es keine Website.',
  },
} satisfies Translation<typeof en>;
