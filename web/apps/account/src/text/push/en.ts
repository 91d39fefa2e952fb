/** The texts of notifications as a second factor. Another language is one file beside this one. */
export default {
  use: 'Use a notification',
  factorText: 'We can ask you by a notification in the browser that you added for that.',
  send: 'Send the notification',
  waitTitle: 'Look at your other browser',
  waitText: 'We sent a notification to each browser that you added at {site}. Open it, and type this number there:',
  waiting: 'Waiting for your answer. This page goes on by itself.',
  another: 'Use another way',

  askTitle: 'Is it you who signs in to {site}?',
  askText: 'Someone is signing in to your account now. If it is not you, deny it.',
  device: 'Browser',
  address: 'Network address',
  time: 'Time',
  number: 'The number that is shown where you sign in',
  confirm: 'It is me',
  deny: 'Deny',
  confirmedTitle: 'The sign-in goes on',
  confirmedText: 'You can close this page.',
  wrongTitle: 'That was another number',
  deniedTitle: 'The sign-in was stopped',
  wrongText: 'The sign-in was stopped. If it is you, begin it again, and type the number that is shown there.',
  deniedText: 'Nothing was opened. If it was you, begin again.',
  notMe: 'It was not me',
  protectTitle: 'Protect your account',
  protectText: 'Someone seems to know your password. Choose another one, and look where you are signed in.',
  changePassword: 'Change the password',
  seeSessions: 'See where you are signed in',
  goneTitle: 'There is nothing left to answer',
  goneText:
    'It was answered, here or in another browser, or is older than two minutes. To sign in, have it sent again.',

  /** In the place of the same ones above, where something of the account is to change. */
  change: {
    askTitle: 'Is it you who changes your account at {site}?',
    askText: 'Someone who is signed in to your account wants to change it now. If it is not you, deny it.',
    number: 'The number that is shown where you change it',
    confirmedTitle: 'The change goes on',
    deniedTitle: 'The change was stopped',
    wrongText: 'The change was stopped. If it is you, begin it again, and type the number that is shown there.',
    deniedText: 'Nothing was changed. If it was you, begin again.',
    protectText:
      'Someone seems to be signed in to your account. Choose another password, and look where you are signed in.',
  },

  add: 'Get notifications in this browser',
  addText:
    'When you sign in somewhere, this browser shows a notification, and you type two digits in it. Once you go on, the browser asks whether it may show notifications.',
  nameHelp: 'For example the device that this browser is on.',
  kind: 'Notifications in a browser',
  isGone: 'This browser can not be reached any more. Add it once more there, or remove it here.',
  preparing: 'Answer your browser, if it asks.',
  codeTitle: 'Type the code of the notification',
  codeText: 'We sent a notification with a code to this browser. This page takes the code from it, or you type it.',
  ready: 'This browser is added. It asks you from now on.',
  removeText: 'This browser is not asked any more when you sign in.',

  why: {
    unsupported: 'This browser can not get notifications here.',
    blocked:
      'This browser blocks notifications of this site. Allow them in its settings for the site, by the sign beside the address, and try again.',
    dismissed: 'Without your permission there are no notifications. Try again, and allow them.',
    unreachable: 'This browser can not reach its service for notifications. Try again later, or use another browser.',
    failed: 'Notifications could not be set up in this browser. Try again.',
    tooMany: 'You have as many browsers as an account can have. Remove one first.',
    denied: 'The notification was denied, or another number was typed. Go on another way.',
    expired: 'The notification was not answered in time. Try again, or go on another way.',
    unproved: 'The notification was denied, or not answered in time. Try again, or use another way.',
    limited: 'Too many notifications were sent. Wait a little, or go on another way.',
    unavailable: 'None of your browsers can be reached. Go on another way.',
  },
} as const;
