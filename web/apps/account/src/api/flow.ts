/** The requests of a flow: start it, read where it stands, send an input. */
import type { FlowInput, FlowStart, FlowView } from '@stoa/api';
import { captchaAnswer } from './captcha.ts';
import { isObject, request, type Answer } from './request.ts';

const PATH = '/_api/account/v1/flows';
const CAPTCHA_MISSING = '-19971';

export const startFlow = (start: FlowStart): Promise<Answer<FlowView>> =>
  request({ path: PATH, body: start, isValue: isView, isExpired: (_, code) => isOver(code) });

export const readFlow = (token: string): Promise<Answer<FlowView>> =>
  request({ path: flowPath(token), isValue: isView, isExpired: isFlowGone });

/** Sends an input; when the site wants a captcha answer with it, again with one. */
export async function answerFlow(token: string, input: FlowInput): Promise<Answer<FlowView>> {
  const answer = await sendInput(token, input);
  const isAsked = 'value' in answer && answer.value.problems.some(({ code }) => code === CAPTCHA_MISSING);
  if (!isAsked || !('captcha' in input) || input.captcha !== null) return answer;
  const captcha = await captchaAnswer();
  return captcha === null ? answer : sendInput(token, { ...input, captcha });
}

const sendInput = (token: string, input: FlowInput): Promise<Answer<FlowView>> =>
  request({ path: flowPath(token), body: input, isValue: isView, isExpired: isFlowGone });

const flowPath = (token: string) => `${PATH}/${encodeURIComponent(token)}`;

function isView(json: unknown): json is FlowView {
  return isObject(json) && typeof json['token'] === 'string' && isObject(json['step']) && isObject(json['site']);
}

const isOver = (code: string) => code === 'INVALID_STATE_TOKEN';

const isFlowGone = (status: number, code: string) => isOver(code) || status === 404 || status === 410;
