/** The scripts of captcha providers: each is loaded once a page, draws its widget, and tells the outcome. */
import type { Widget } from '../api/captcha.ts';

export interface Look {
  dark: boolean;
  /** BCP 47. */
  language: string;
}

export interface Events {
  onAnswer: (token: string) => void;
  /** The answer is too old, or was not given in time. */
  onExpired: () => void;
  /** The provider gave up. */
  onFailed: () => void;
}

/** A widget that stands on the page. */
export interface Drawn {
  /** Asks the provider to judge, where the person has nothing to press. */
  ask: () => void;
  remove: () => void;
}

/** Why a script is not there. `policy`: the page that the browser has may not load it. */
export class ScriptFailure extends Error {
  constructor(readonly why: 'policy' | 'network') {
    super(why);
  }
}

/** What the providers' scripts have in common. */
interface Api {
  ready?: (then: () => void) => void;
  render: (place: HTMLElement, options: Record<string, unknown>) => unknown;
  reset: (id: unknown) => void;
  remove?: (id: unknown) => void;
  execute: (id: unknown, options?: object) => unknown;
}

/** Called by the script when its calls are there. */
const READY = 'stoaWidgetReady';
const TIMEOUT_MS = 20_000;
/** Width of the usual widgets in pixels; where there is less, they have a narrow form. */
const USUAL_WIDTH = 304;

const NAMES: Record<Widget['kind'], string> = {
  RECAPTCHA: 'grecaptcha',
  RECAPTCHA_SCORE: 'grecaptcha',
  HCAPTCHA: 'hcaptcha',
  TURNSTILE: 'turnstile',
  OTHER: 'grecaptcha',
};

/** Languages that reCAPTCHA calls otherwise. */
const OLD_TAGS: Readonly<Record<string, string>> = { he: 'iw' };

/** Draws a widget into `host`. Rejects with a [`ScriptFailure`] when its script does not come. */
export async function drawWidget(widget: Widget, host: HTMLElement, look: Look, events: Events): Promise<Drawn> {
  await load(widget, look.language);
  const api = apiOf(widget);
  if (!api) throw new ScriptFailure('network');
  if (widget.kind === 'RECAPTCHA_SCORE') return scored(api, widget, events);
  const place = document.createElement('div');
  host.append(place);
  const id = api.render(place, optionsOf(widget, host, look, events));
  const isPressed = !widget.isVisible && widget.kind !== 'TURNSTILE';
  const drawn: Drawn = {
    ask: () => {
      if (isPressed) api.execute(id);
      else if (!widget.isVisible) api.reset(id);
    },
    remove: () => {
      try {
        if (api.remove) api.remove(id);
        else api.reset(id);
      } catch {
        // A widget that is not there any more leaves nothing behind.
      }
      place.remove();
    },
  };
  if (isPressed) api.execute(id);
  return drawn;
}

/** reCAPTCHA v3 draws nothing and is asked at once. */
function scored(api: Api, widget: Widget, events: Events): Drawn {
  let isOver = false;
  const ask = () => {
    Promise.resolve(api.execute(widget.siteKey, { action: 'account' })).then(
      (token) => {
        if (isOver) return;
        if (typeof token === 'string') events.onAnswer(token);
        else events.onFailed();
      },
      () => {
        if (!isOver) events.onFailed();
      },
    );
  };
  ask();
  return {
    ask,
    remove: () => {
      isOver = true;
    },
  };
}

function optionsOf(widget: Widget, host: HTMLElement, look: Look, events: Events): Record<string, unknown> {
  const failed = () => {
    events.onFailed();
    // Turnstile writes it to the console otherwise.
    return true;
  };
  const isNarrow = host.clientWidth > 0 && host.clientWidth < USUAL_WIDTH;
  const common = {
    sitekey: widget.siteKey,
    theme: look.dark ? 'dark' : 'light',
    callback: events.onAnswer,
    'expired-callback': events.onExpired,
    'error-callback': failed,
  };
  const size = isNarrow ? 'compact' : 'normal';
  switch (widget.kind) {
    case 'TURNSTILE':
      return {
        ...common,
        size,
        language: look.language,
        appearance: widget.isVisible ? 'always' : 'interaction-only',
        // These pages take no part in its forms.
        'response-field': false,
        // An answer sends the form, so none comes unless the person is waiting for it.
        'refresh-expired': 'manual',
        'refresh-timeout': 'manual',
        retry: 'never',
        'timeout-callback': events.onExpired,
        'unsupported-callback': failed,
      };
    case 'HCAPTCHA':
      return {
        ...common,
        size: widget.isVisible ? size : 'invisible',
        'chalexpired-callback': events.onExpired,
        ...(widget.isVisible ? {} : { 'close-callback': failed }),
      };
    default:
      return { ...common, ...(widget.isVisible ? { size } : { size: 'invisible', badge: 'inline' }) };
  }
}

const apiOf = ({ kind }: Widget) => (window as unknown as Record<string, Api | undefined>)[NAMES[kind]];

let loading: { of: string; ready: Promise<void> } | null = null;

function load(widget: Widget, language: string): Promise<void> {
  const of = `${widget.kind} ${widget.scriptUrl}`;
  if (loading?.of === of) return loading.ready;
  const ready = fetchScript(widget, language);
  loading = { of, ready };
  ready.catch(() => {
    loading = null;
  });
  return ready;
}

async function fetchScript(widget: Widget, language: string): Promise<void> {
  const script = document.createElement('script');
  let clear: () => void = () => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const refused = (event: SecurityPolicyViolationEvent) => {
        if (isAbout(event, widget.scriptUrl)) reject(new ScriptFailure('policy'));
      };
      const failed = () => {
        // A refusal by the policy may be told a moment later.
        setTimeout(() => {
          reject(new ScriptFailure('network'));
        }, 100);
      };
      const timer = setTimeout(failed, TIMEOUT_MS);
      document.addEventListener('securitypolicyviolation', refused);
      clear = () => {
        clearTimeout(timer);
        document.removeEventListener('securitypolicyviolation', refused);
      };
      (window as unknown as Record<string, () => void>)[READY] = resolve;
      script.addEventListener('error', failed);
      script.addEventListener('load', () => {
        if (NAMES[widget.kind] === 'grecaptcha') apiOf(widget)?.ready?.(resolve);
      });
      script.async = true;
      script.src = addressOf(widget, language);
      document.head.append(script);
    });
  } catch (why) {
    script.remove();
    throw why;
  } finally {
    clear();
  }
}

/** The script's address with what its provider wants to know before it draws. */
function addressOf(widget: Widget, language: string): string {
  const url = new URL(widget.scriptUrl);
  url.searchParams.set('onload', READY);
  url.searchParams.set('render', widget.kind === 'RECAPTCHA_SCORE' ? widget.siteKey : 'explicit');
  if (widget.kind === 'HCAPTCHA') url.searchParams.set('recaptchacompat', 'off');
  const isGoogle = widget.kind === 'RECAPTCHA' || widget.kind === 'RECAPTCHA_SCORE';
  if (widget.kind !== 'TURNSTILE') url.searchParams.set('hl', (isGoogle ? OLD_TAGS[language] : null) ?? language);
  return url.href;
}

/** Whether the policy refused the script itself, and not something that it loads. */
function isAbout({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent, scriptUrl: string): boolean {
  const isScript = effectiveDirective === 'script-src' || effectiveDirective === 'script-src-elem';
  return isScript && withoutQuery(blockedURI) === withoutQuery(scriptUrl);
}

/** An address without what follows its path; what is none is empty. */
function withoutQuery(address: string): string {
  try {
    const { origin, pathname } = new URL(address);
    return origin + pathname;
  } catch {
    return '';
  }
}
