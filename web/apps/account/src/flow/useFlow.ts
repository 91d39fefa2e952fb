/** A flow as a page holds it: the view the server gave last, and what is under way. The server decides what comes next. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { FlowInput, FlowStart, FlowView } from '@stoa/api';
import type { Widget } from '../api/captcha.ts';
import { answerFlow, readFlow, startFlow, type FlowReply } from '../api/flow.ts';
import type { Failure } from '../api/request.ts';
import { flowUrl, type Route } from './route.ts';

export interface FlowState {
  view: FlowView | null;
  /** Why the last request brought no view. With a view beside it, the page stays as it is. */
  failure: Failure | null;
  /** What was sent and not yet answered. */
  sending: FlowInput['type'] | null;
  /** What was answered last. */
  answered: FlowInput['type'] | null;
  /** By which the person answers the site's captcha, before what was sent last is sent again. */
  widget: Widget | null;
  /** Grows with every view. */
  round: number;
}

/** What would start this flow again. */
function startAgain(route: Route, { view, failure }: FlowState): FlowStart {
  const asked: FlowStart = route.to === 'start' ? route.start : { kind: 'SIGN_IN' };
  const clientId = view?.clientId ?? failure?.clientId ?? asked.clientId;
  return {
    kind: view?.kind ?? asked.kind,
    ...(clientId ? { clientId } : {}),
    ...(asked.returnUrl ? { returnUrl: asked.returnUrl } : {}),
  };
}

export interface Flow extends FlowState {
  /** What would start it again. */
  start: FlowStart;
  /** Sends one input; while one is under way further ones are dropped, so that a double click sends once. */
  send: (input: FlowInput) => void;
  /** Asks for the view again without sending anything. */
  refresh: () => void;
  /**
   * The same in the background: a failure leaves the page alone, and what the person sends meanwhile wins. Where the step is the same,
   * what was said of the last input stays. Answers whether the flow is over.
   */
  poll: () => Promise<boolean>;
}

const INITIAL: FlowState = { view: null, failure: null, sending: null, answered: null, widget: null, round: 0 };

export function useFlow(route: Route): Flow {
  const [state, setState] = useState<FlowState>(INITIAL);
  const token = useRef<string | null>(null);
  const busy = useRef(false);
  /** Grows with every input: the answer to an older poll is dropped. */
  const inputs = useRef(0);

  const take = useCallback((answer: FlowReply, sent: FlowInput['type'] | null, isPolled = false) => {
    busy.current = false;
    if ('value' in answer) {
      const { value: view } = answer;
      token.current = view.token;
      if (location.pathname !== flowUrl(view.token) || location.hash !== '' || location.search !== '')
        history.replaceState(null, '', flowUrl(view.token));
      const widget = answer.widget ?? null;
      setState((old) =>
        isPolled && old.view?.step.type === view.step.type
          ? { ...old, view: { ...view, problems: old.view.problems } }
          : { view, failure: null, sending: null, answered: sent, widget, round: old.round + 1 },
      );
    } else {
      setState((old) => ({ ...old, failure: answer.failure, sending: null, widget: null }));
    }
  }, []);

  const load = useCallback(() => {
    if (busy.current || (route.to !== 'flow' && route.to !== 'start')) return;
    busy.current = true;
    const known = token.current ?? (route.to === 'flow' ? route.token : null);
    const asked = known !== null ? readFlow(known) : route.to === 'start' ? startFlow(route.start) : null;
    void asked?.then((answer) => {
      take(answer, null);
    });
  }, [route, take]);

  useEffect(load, [load]);

  // A page that the browser brings back from its memory may show a step that is over.
  useEffect(() => {
    const shown = (event: PageTransitionEvent) => {
      if (event.persisted) load();
    };
    addEventListener('pageshow', shown);
    return () => {
      removeEventListener('pageshow', shown);
    };
  }, [load]);

  const send = useCallback(
    (input: FlowInput) => {
      if (busy.current || token.current === null) return;
      busy.current = true;
      inputs.current += 1;
      setState((old) => ({ ...old, failure: null, sending: input.type }));
      void answerFlow(token.current, input).then((answer) => {
        take(answer, input.type);
      });
    },
    [take],
  );

  const refresh = useCallback(() => {
    setState((old) => (old.view ? old : { ...old, failure: null }));
    load();
  }, [load]);

  const poll = useCallback(async () => {
    if (busy.current || token.current === null) return false;
    const before = inputs.current;
    const answer = await readFlow(token.current);
    if ('failure' in answer) return answer.failure.why === 'expired';
    if (before === inputs.current && !busy.current) take(answer, null, true);
    return false;
  }, [take]);

  return { ...state, start: startAgain(route, state), send, refresh, poll };
}
