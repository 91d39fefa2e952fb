import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  title: 'هل تسمح لـ \u2068{app}\u2069 بالتصرف نيابةً عنك على \u2068{site}\u2069؟',
  may: 'باسمك، وفي حدود ما يحق لك، سيتمكن بعدها من:',
  until: 'يسري هذا حتى تسحبه من حسابك.',
  allow: 'السماح',
  installUntil: 'يسري هذا حتى يلغي القائمون على الموقع التطبيق.',
} satisfies Translation<typeof en>;
