/** A passkey as the answer to a step. */
import { useEffect, useEffectEvent } from 'react';
import type { FlowInput, FlowView, PasskeyChallenge } from '@stoa/api';
import type { Flow } from '../flow/useFlow.ts';
import type { PasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import { getPasskey, offersInField, type Outcome } from '../parts/passkey.ts';
import { usePrompt } from '../parts/usePrompt.ts';

/** A challenge ends after five minutes. */
const FRESH_MS = 4 * 60_000;
const LOOK_MS = 10_000;

export interface PasskeyStep {
  view: FlowView;
  flow: Flow;
  challenge: PasskeyChallenge;
}

/** The input that a passkey gives. */
export type ToInput = (answer: { challengeId: string; credential: string }) => FlowInput;

/** The browser's prompt for a step: opened by the person, and its answer sent. */
export function useStepPrompt({ view, flow, challenge }: PasskeyStep, toInput: ToInput) {
  const prompt = usePrompt();
  const open = (question: (options: string, ending: { signal: AbortSignal }) => Promise<Outcome>) => {
    if (prompt.isOpen || flow.sending !== null) return;
    void prompt
      .open((signal) => question(challenge.options, { signal }))
      .then((credential) => {
        if (credential !== null) flow.send(toInput({ challengeId: challenge.challengeId, credential }));
      });
  };
  const isRefused = flow.sending === null && view.problems.some((it) => it.field === 'passkey');
  return { prompt, open, isRefused };
}

/** What is said of a passkey that the server refused. */
export const refusal = (isRefused: boolean, texts: PasskeyTexts, made = false): string | undefined =>
  isRefused ? texts.why[made ? 'failed' : 'wrong'] : undefined;

/** Has the browser offer passkeys where the address is typed, for as long as nothing else is under way. */
export function usePasskeyInField({ flow, challenge }: PasskeyStep, isIdle: boolean, toInput: ToInput): void {
  const taken = useEffectEvent((challengeId: string, credential: string) => {
    flow.send(toInput({ challengeId, credential }));
  });
  const { challengeId, options } = challenge;
  useEffect(() => {
    if (!isIdle) return;
    const ending = new AbortController();
    const { signal } = ending;
    void offersInField().then(async (does) => {
      if (!does || signal.aborted) return;
      const outcome = await getPasskey(options, { signal, inField: true });
      if ('credential' in outcome) taken(challengeId, outcome.credential);
    });
    return () => {
      ending.abort();
    };
  }, [challengeId, options, isIdle]);
}

/**
 * Asks for another challenge before this one ends, on a page that stays open. One that the browser was asked already still counts. Each
 * try that brings none doubles the wait for the next one, and none follows once the flow is over.
 */
export function useFreshChallenge(flow: Flow, challenge: PasskeyChallenge | null): void {
  const ask = useEffectEvent(() => {
    // The widget of a captcha provider stands in a view; another view would take it away.
    const mayAsk = flow.widget === null && document.visibilityState === 'visible';
    return mayAsk ? flow.poll() : null;
  });
  const id = challenge?.challengeId ?? null;
  useEffect(() => {
    if (id === null) return;
    let due = Date.now() + FRESH_MS;
    let wait = LOOK_MS;
    const again = () => {
      const asked = Date.now() < due ? null : ask();
      if (asked === null) return;
      due = Date.now() + wait;
      wait *= 2;
      void asked.then((isOver) => {
        if (isOver) due = Infinity;
      });
    };
    const timer = setInterval(again, LOOK_MS);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [id]);
}
