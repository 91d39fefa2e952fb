import {
  useEffect,
  useEffectEvent,
  useId,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
  type Ref,
} from 'react';
import { Button } from '@stoa/ui/Button';
import type { Widget } from '../api/captcha.ts';
import { pageLanguage, useFetchedTexts, usePageLanguage } from '../page/fetchedTexts.ts';
import { Obstacle } from '../page/Obstacle.tsx';
import { useText } from '../page/text.ts';
import { loadLaterTexts, type LaterTexts } from '../text/later.ts';
import { forgetFresh, isFresh, loadFresh } from './freshPage.ts';
import { ScriptFailure, drawWidget, type Drawn } from './widgetScript.ts';
import './WidgetPart.css';

export interface WidgetHandle {
  /** The form was sent while there is no answer. */
  insist: () => void;
}

export interface WidgetPartProps {
  ref: Ref<WidgetHandle>;
  widget: Widget;
  /** Whether the form was sent; else it has the answer for later. */
  onAnswer: (token: string) => boolean;
  onExpired: () => void;
}

/**
 * `kept`: answered, and the form is not complete. `outdated`: the page was opened before the site had this provider; a fresh
 * one may load it.
 */
type State = 'loading' | 'asked' | 'answered' | 'kept' | 'expired' | 'failed' | 'blocked' | 'outdated';

const WAITS: ReadonlySet<State> = new Set(['loading', 'asked']);
/** In which an answer is the person's, and not one that the widget gave once more by itself. */
const OPEN: ReadonlySet<State> = new Set(['loading', 'asked', 'expired']);
const BROKEN: ReadonlySet<State> = new Set(['failed', 'blocked', 'outdated']);

/** The widget of the site's captcha provider. What the person is asked there is the provider's. */
export function WidgetPart(props: WidgetPartProps) {
  const text = useText();
  const [later, again] = useFetchedTexts(loadLaterTexts, usePageLanguage());
  if (later === null) return <p role="status">{text.loading}</p>;
  if (later !== 'failed') return <Standing {...props} later={later} />;
  return <Obstacle why={text.offlineText} onAgain={again} />;
}

function Standing({ ref, widget, onAnswer, onExpired, later }: WidgetPartProps & { later: LaterTexts }) {
  const text = useText();
  const titleId = useId();
  const group = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const [state, setState] = useState<State>('loading');
  const [round, setRound] = useState(0);
  const dark = useSyncExternalStore(watchScheme, isDark);

  const answered = useEffectEvent((token: string) => {
    if (OPEN.has(state)) setState(onAnswer(token) ? 'answered' : 'kept');
  });
  const expired = useEffectEvent(() => {
    setState('expired');
    onExpired();
  });

  useEffect(() => {
    const place = host.current;
    if (!place) return;
    let isOver = false;
    const turn = (to: State) => {
      if (!isOver) setState(to);
    };
    const events = {
      onAnswer: (token: string) => {
        if (!isOver) answered(token);
      },
      onExpired: () => {
        if (!isOver) expired();
      },
      onFailed: () => {
        turn('failed');
      },
    };
    const look = { dark, language: pageLanguage() };
    drawWidget(widget, place, look, events).then(
      (it) => {
        if (isOver) it.remove();
        else {
          drawn.current = it;
          forgetFresh();
          setState((old) => (old === 'loading' ? 'asked' : old));
        }
      },
      (why: unknown) => {
        const isOld = why instanceof ScriptFailure && why.why === 'policy' && !isFresh(widget.scriptUrl);
        turn(isOld ? 'outdated' : 'blocked');
      },
    );
    return () => {
      isOver = true;
      drawn.current?.remove();
      drawn.current = null;
    };
  }, [widget, dark, round]);

  const again = () => {
    if (state === 'outdated') {
      loadFresh(widget.scriptUrl);
      return;
    }
    setState('loading');
    setRound((old) => old + 1);
  };

  useImperativeHandle(ref, () => ({
    insist: () => {
      if (!WAITS.has(state)) again();
      else if (widget.isVisible) group.current?.focus();
      else drawn.current?.ask();
    },
  }));

  // The person goes on here: at the question once it stands, at the way on when it fails.
  const wantsFocus = BROKEN.has(state) || (widget.isVisible && (state === 'asked' || state === 'expired'));
  useEffect(() => {
    if (!wantsFocus) return;
    const frame = requestAnimationFrame(() => group.current?.focus());
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [wantsFocus, state]);

  const provider = new URL(widget.scriptUrl).host;
  return (
    <div ref={group} className="widget" role="group" aria-labelledby={titleId} tabIndex={-1}>
      <p id={titleId} className="widget-title">
        {later.captchaTitle}
      </p>
      <p className="step-quiet">
        {widget.isVisible ? later.captchaText({ provider }) : later.captchaUnseen({ provider })}
      </p>
      <div ref={host} className="widget-place" hidden={BROKEN.has(state)} />
      <p role="status" className="step-quiet widget-status">
        {state === 'loading' && text.loading}
        {state === 'asked' && !widget.isVisible && later.captchaChecking}
        {state === 'answered' && later.captchaAnswered}
        {state === 'expired' && later.captchaExpired}
      </p>
      {BROKEN.has(state) && (
        <Obstacle why={state === 'failed' ? later.captchaFailed : later.captchaBlocked({ provider })} onAgain={again} />
      )}
      {state === 'expired' && !widget.isVisible && (
        <p>
          <Button variant="link" onPress={again}>
            {text.tryAgain}
          </Button>
        </p>
      )}
    </div>
  );
}

const DARK = '(prefers-color-scheme: dark)';
const isDark = () => matchMedia(DARK).matches;

function watchScheme(changed: () => void) {
  const query = matchMedia(DARK);
  query.addEventListener('change', changed);
  return () => {
    query.removeEventListener('change', changed);
  };
}
