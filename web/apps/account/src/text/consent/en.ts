/** The texts of the page on which a member is asked about an application of others. */
export default {
  title: 'Let {app} act for you at {site}?',
  may: 'In your name, as far as you may yourself, it may then:',
  until: 'This holds until you take it back in your account.',
  allow: 'Allow',
  installUntil: 'This holds until the people who run the site revoke the app.',
} as const;
