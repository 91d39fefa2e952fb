/** How a flow ends by a message to the window that opened this one. Apart from leave.ts, which the first page loads. */
import type { Step } from '@stoa/api';

type PostMessageStep = Extract<Step, { type: 'POST_MESSAGE' }>;

/** The object that the waiting window reads: every member at its top level. */
export function messageOf(step: PostMessageStep): Record<string, string> {
  if (step.error != null) {
    return {
      error: step.error,
      ...(step.errorDescription != null ? { error_description: step.errorDescription } : {}),
      state: step.state,
    };
  }
  return { ...(step.code != null ? { code: step.code } : {}), state: step.state };
}

/** Posts the result to the frame's parent or the popup's opener, at that origin only. Returns whether there was one. */
export function postResult(step: PostMessageStep, here: Window = window): boolean {
  const framed = here.parent !== here;
  const target = framed ? here.parent : (here.opener as Window | null);
  if (!target) return false;
  target.postMessage(messageOf(step), step.origin);
  if (!framed) here.close();
  return true;
}
