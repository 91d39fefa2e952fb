import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  continueWith: 'המשך עם {provider}',

  linkTitle: 'חיבור {provider} לחשבון שלך',
  linkText: 'יש כאן חשבון לכתובת {email}. יש להקליד פעם אחת את הסיסמה שלו; מכאן והלאה אפשר להיכנס עם {provider}.',
  link: 'חיבור וכניסה',

  failedTitle: 'הכניסה עם {provider} לא הצליחה',
  failed: {
    DECLINED: '{provider} לא אישר את הכניסה, או שביטלת שם. כאן לא השתנה דבר.',
    UNAVAILABLE: '{provider} לא עונה כרגע. אפשר לנסות מאוחר יותר, או להיכנס בדרך אחרת.',
    NO_EMAIL: '{provider} לא מסר כתובת דוא״ל מאומתת, והאתר הזה צריך אחת. אפשר להיכנס בדרך אחרת.',
    NO_ACCOUNT: 'אין לך חשבון כאן, והאתר הזה לא יוצר חשבון דרך {provider}.',
    REFUSED: 'אי אפשר היה לקבל את התשובה של {provider}. אפשר לנסות שוב, או להיכנס בדרך אחרת.',
  },
  again: 'ניסיון נוסף עם {provider}',

  factorText: 'נא להקליד את הסיסמה של החשבון שלך ב־{site}.',
  usePassword: 'שימוש בסיסמה',
  wrongPassword: 'זו לא הסיסמה שלך.',

  title: 'כניסה עם חשבונות אחרים',
  text: 'הם מאפשרים להיכנס לכאן בלי סיסמה.',
  none: 'שום חשבון אחר לא משמש לכניסה לכאן.',
  since: 'חובר ב־{date}',
  disconnect: 'ניתוק',
  disconnectTitle: 'לנתק את {provider}?',
  disconnectText: 'לא יהיה אפשר להיכנס איתו לכאן. החשבון שלך שם נשאר כמו שהוא.',
  disconnected: 'נותק.',
  lastWayIn: 'זו הדרך היחידה שלך להיכנס לכאן. יש לבחור תחילה סיסמה או להוסיף מפתח גישה.',

  factor: 'הסיסמה שלך, אחרי כניסה עם חשבון אחר',
  factorHelp: 'בכניסה עם חשבון אחר נבקש גם את הסיסמה. היא לא נחשבת אחרי כניסה עם סיסמה.',
  addFactor: 'לבקש גם את הסיסמה שלי',
  factorReady: 'הסיסמה שלך תתבקש בכניסה עם חשבון אחר.',
  removeFactor: 'אז החשבון האחר לבדו יספיק לכניסה.',
  factorsNone: 'שלב אחד בלבד מספיק לכניסה. אפליקציית אימות הופכת את החשבון לבטוח יותר.',
} satisfies Translation<typeof en>;
