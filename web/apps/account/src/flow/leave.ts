/** How a flow is left: by a redirect, or by a message to the window that opened this one. */
import type { Step } from '@stoa/api';

const RUNS_CODE = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:']);

/** Whether a URL may be opened. The server checks where it leads; this only makes sure that opening it can't run anything here. */
export function isSafeUrl(url: string): boolean {
  try {
    return !RUNS_CODE.has(new URL(url, location.href).protocol);
  } catch {
    return false;
  }
}

/** Whether a URL is a whole one of the web. */
export function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

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
