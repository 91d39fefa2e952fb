import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  title: 'לאפשר ל-\u2068{app}\u2069 לפעול בשמך באתר \u2068{site}\u2069?',
  may: 'בשמך, ובמידה שמותר לך, הוא יוכל לאחר מכן:',
  until: 'זה בתוקף עד שיבוטל בחשבון.',
  allow: 'אישור',
  installUntil: 'זה בתוקף עד שמנהלי האתר יבטלו את היישום.',
} satisfies Translation<typeof en>;
