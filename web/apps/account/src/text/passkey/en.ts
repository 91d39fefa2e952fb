/** The texts of passkeys, and of factors of owners and editors. Another language is one file beside this one. */
export default {
  signIn: 'Sign in with a passkey',
  use: 'Use a passkey',
  factorText: 'Confirm with your passkey: by fingerprint, face, PIN or security key.',
  accountFactorText: 'Type the code that your authenticator app shows for this account.',
  proofText: 'Before this changes, confirm with your passkey.',
  waiting: 'Follow the prompt of your browser or device.',

  enrolText: '{site} asks for a second step at sign-in: a passkey, or a code of an authenticator app.',
  createText:
    'Your device or password manager keeps the passkey, and opens it by fingerprint, face or PIN. It also signs you in without a password.',
  secondText:
    'Your device or password manager keeps the passkey, and opens it by fingerprint, face or PIN. You use it after your password.',
  create: 'Create a passkey',
  useApp: 'Use an authenticator app',

  add: 'Add a passkey',
  nameHelp: 'For example the device or the password manager that keeps it.',
  kind: 'Passkey',
  synced: 'Passkey, on several devices',
  ready: 'The passkey is ready. It signs you in from now on.',
  secondReady: 'The passkey is ready. You will be asked for it after your password.',
  rename: 'Rename',
  renameTitle: 'Rename {name}',
  saveName: 'Save the name',
  renamed: 'The new name is saved.',
  removeText: 'It does not sign you in any more. Remove it from your device or password manager too.',

  why: {
    unsupported: 'This browser cannot use passkeys here.',
    cancelled: 'No passkey was used. Try again, or go on another way.',
    timeout: 'The prompt was open too long. Try again.',
    known: 'There is a passkey for this account on this device already.',
    address: 'The browser refuses passkeys at this address.',
    failed: 'The passkey did not work. Try again, or go on another way.',
    wrong: 'This passkey is not accepted here. It may have been removed, or belong to another account.',
    tooMany: 'You have as many passkeys as an account can have. Remove one first.',
  },
} as const;
