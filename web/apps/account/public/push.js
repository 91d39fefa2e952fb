/* Shows what a site asks a browser of its member: the worker of the account pages, which receives messages and does nothing else.
 * A message is JSON that was encrypted for this browser alone:
 * {kind: "question" | "code", for?: "SIGN_IN" | "CHANGE", site, token?, code?, expires, locale}. A click on a question leads to the page `push#TOKEN`. */

/** Title and text of a notification, by what is asked: with `{site}`, and `{code}`. */
const TEXTS = {
  en: {
    question: ['Is it you who signs in to {site}?', 'Open this to answer. If it is not you, deny it.'],
    change: ['Is it you who changes your account at {site}?', 'Open this to answer. If it is not you, deny it.'],
    code: ['Your code for {site}: {code}', 'Type it on the page on which you add this browser.'],
  },
  de: {
    question: ['Melden Sie sich gerade bei {site} an?', 'Zum Antworten öffnen. Wenn Sie es nicht sind, lehnen Sie ab.'],
    change: ['Ändern Sie gerade Ihr Konto bei {site}?', 'Zum Antworten öffnen. Wenn Sie es nicht sind, lehnen Sie ab.'],
    code: ['Ihr Code für {site}: {code}', 'Geben Sie ihn auf der Seite ein, auf der Sie diesen Browser hinzufügen.'],
  },
  fr: {
    question: ['Est-ce vous qui vous connectez à {site} ?', 'Ouvrez pour répondre. Si ce n’est pas vous, refusez.'],
    change: [
      'Est-ce vous qui modifiez votre compte chez {site} ?',
      'Ouvrez pour répondre. Si ce n’est pas vous, refusez.',
    ],
    code: ['Votre code pour {site} : {code}', 'Saisissez-le sur la page où vous ajoutez ce navigateur.'],
  },
  es: {
    question: ['¿Eres tú quien entra en {site}?', 'Ábrelo para responder. Si no eres tú, recházalo.'],
    change: ['¿Eres tú quien cambia tu cuenta en {site}?', 'Ábrelo para responder. Si no eres tú, recházalo.'],
    code: ['Tu código para {site}: {code}', 'Escríbelo en la página en la que añades este navegador.'],
  },
  ja: {
    question: [
      '{site} にログインしているのはあなたですか？',
      '開いて回答してください。あなたでなければ拒否してください。',
    ],
    change: [
      '{site} のアカウントを変更しているのはあなたですか？',
      '開いて回答してください。あなたでなければ拒否してください。',
    ],
    code: ['{site} のコード：{code}', 'このブラウザーを追加するページで入力してください。'],
  },
  ar: {
    question: ['هل أنت من يسجّل الدخول إلى {site}؟', 'افتحه للإجابة. إن لم تكن أنت، فارفض.'],
    change: ['هل أنت من يغيّر حسابك في {site}؟', 'افتحه للإجابة. إن لم تكن أنت، فارفض.'],
    code: ['رمزك لـ {site}: {code}', 'اكتبه في الصفحة التي تضيف فيها هذا المتصفح.'],
  },
  he: {
    question: ['האם זה אתם שנכנסים אל {site}?', 'יש לפתוח כדי לענות. אם אלה לא אתם, יש לדחות.'],
    change: ['האם זה אתם שמשנים את החשבון שלכם ב־{site}?', 'יש לפתוח כדי לענות. אם אלה לא אתם, יש לדחות.'],
    code: ['הקוד שלכם ל־{site}: {code}', 'יש להקליד אותו בדף שבו מוסיפים את הדפדפן הזה.'],
  },
};
const RIGHT_TO_LEFT = ['ar', 'he'];

self.addEventListener('install', () => {
  void self.skipWaiting();
});

self.addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
});

self.addEventListener('push', (event) => {
  const message = messageOf(event.data);
  if (message !== null) event.waitUntil(Promise.all([show(message), handOn(message)]));
});

self.addEventListener('notificationclick', (event) => {
  const { token } = event.notification.data ?? {};
  event.notification.close();
  event.waitUntil(lead(typeof token === 'string' ? `push#${token}` : 'password'));
});

/** A message as it is agreed, or null. */
function messageOf(data) {
  let message;
  try {
    message = data?.json();
  } catch {
    return null;
  }
  const { kind, site, token, code } = message ?? {};
  if (typeof site !== 'string') return null;
  const isQuestion = kind === 'question' && /^[\w.-]{16,200}$/.test(String(token));
  const isCode = kind === 'code' && /^\d{6}$/.test(String(code));
  return isQuestion || isCode ? message : null;
}

/** The language of a message, or that of this browser. */
function languageOf({ locale }) {
  const primary = (tag) => String(tag).split('-')[0].toLowerCase();
  const known = [locale, ...self.navigator.languages].map(primary).find((it) => Object.hasOwn(TEXTS, it));
  return known ?? 'en';
}

function show(message) {
  const { kind, site, token, code } = message;
  const lang = languageOf(message);
  const fill = (text) => text.replace('{site}', () => site).replace('{code}', () => String(code));
  const [title, body] = TEXTS[lang][message.for === 'CHANGE' && kind === 'question' ? 'change' : kind].map(fill);
  return self.registration.showNotification(title, {
    body,
    lang,
    dir: RIGHT_TO_LEFT.includes(lang) ? 'rtl' : 'ltr',
    // Another question takes the place of the one before.
    tag: `stoa-${kind}`,
    renotify: true,
    requireInteraction: kind === 'question',
    data: { token: kind === 'question' ? token : null },
  });
}

/** Hands a code to the account pages that are open, one of which may wait for it. */
async function handOn({ kind, code }) {
  if (kind !== 'code') return;
  for (const page of await pages()) page.postMessage({ kind, code });
}

/** The open pages of the account. A page keeps the address under which it was loaded, which may have been one without the site. */
async function pages() {
  const { scope } = self.registration;
  const homes = [scope, new URL('/account/', scope).href];
  const all = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  return all.filter(({ url }) => homes.some((it) => url.startsWith(it)));
}

/** Shows an address of the account pages: that of a code in the page that waits for it. */
async function lead(path) {
  const url = new URL(path, self.registration.scope).href;
  const shown = (await pages()).find((it) => it.url === url);
  if (shown) await shown.focus();
  else await self.clients.openWindow(url);
}
