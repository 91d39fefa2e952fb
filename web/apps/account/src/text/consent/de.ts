import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  title: '{app} auf {site} für Sie handeln lassen?',
  may: 'In Ihrem Namen darf sie dann, soweit Sie es selbst dürfen:',
  until: 'Das gilt, bis Sie es in Ihrem Konto zurücknehmen.',
  allow: 'Erlauben',
  installUntil: 'Das gilt, bis die Betreiber der Website der App den Zugriff entziehen.',
} satisfies Translation<typeof en>;
