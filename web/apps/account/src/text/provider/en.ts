/** The texts of sign-in by identity providers. Another language is one file beside this one. */
export default {
  continueWith: 'Continue with {provider}',

  linkTitle: 'Connect {provider} to your account',
  linkText: 'There is an account for {email} here. Type its password once; then {provider} signs you in from now on.',
  link: 'Connect and sign in',

  failedTitle: 'Sign-in with {provider} did not work',
  failed: {
    DECLINED: '{provider} did not sign you in, or you cancelled it there. Nothing has changed here.',
    UNAVAILABLE: '{provider} does not answer at the moment. Try again later, or sign in another way.',
    NO_EMAIL: '{provider} gave no verified email address, and this site needs one. Sign in another way.',
    NO_ACCOUNT: 'There is no account for you here, and this site makes none by {provider}.',
    REFUSED: 'What {provider} answered could not be accepted. Try again, or sign in another way.',
  },
  again: 'Try {provider} once more',

  factorText: 'Type the password of your account at {site}.',
  usePassword: 'Use your password',
  wrongPassword: 'This is not your password.',

  title: 'Sign-in with other accounts',
  text: 'They sign you in here without a password.',
  none: 'No other account signs you in here.',
  since: 'Connected on {date}',
  disconnect: 'Disconnect',
  disconnectTitle: 'Disconnect {provider}?',
  disconnectText: 'It does not sign you in here any more. Your account there stays as it is.',
  disconnected: 'Disconnected.',
  lastWayIn: 'It is your only way to sign in here. Choose a password or add a passkey first.',

  factor: 'Your password, after sign-in with another account',
  factorHelp:
    'When another account signs you in, we ask for your password as well. It does not count after sign-in by password.',
  addFactor: 'Ask for my password too',
  factorReady: 'You will be asked for your password when another account signs you in.',
  removeFactor: 'The other account alone signs you in then.',
  factorsNone: 'One step alone signs you in. An authenticator app makes your account safer.',
} as const;
