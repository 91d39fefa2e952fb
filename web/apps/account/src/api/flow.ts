/** The requests of a flow: start it, read where it stands, send an input. */
import type { FlowInput, FlowStart, FlowView } from '@stoa/api';
import type { CaptchaWay, Widget } from './captcha.ts';
import { isObject, request, type Answer } from './request.ts';

const PATH = '/_api/account/v1/flows';
const CAPTCHA_MISSING = '-19971';
/** The site's provider has a widget that these pages don't know. */
const CAPTCHA_ELSEWHERE = { field: null, code: 'CAPTCHA_ELSEWHERE', message: '' };

export const startFlow = (start: FlowStart): Promise<Answer<FlowView>> =>
  request({ path: PATH, body: start, isValue: isView, isExpired: (_, code) => isOver(code) });

export const readFlow = (token: string): Promise<Answer<FlowView>> =>
  request({ path: flowPath(token), isValue: isView, isExpired: isFlowGone });

/** An answer, and the widget by which the person answers the site's captcha before the input is sent again. */
export type FlowReply = Answer<FlowView> & { widget?: Widget };

/** Sends an input; when the site wants a captcha answer with it, again with one, or answers how the person gives it. */
export async function answerFlow(token: string, input: FlowInput): Promise<FlowReply> {
  const answer = await sendInput(token, input);
  if (!('value' in answer) || !('captcha' in input) || input.captcha !== null) return answer;
  const view = answer.value;
  if (!view.problems.some(({ code }) => code === CAPTCHA_MISSING)) return answer;
  const way = await captchaWay(view.site.id);
  if (way === null) return answer;
  if (way === 'none here') return { value: { ...view, problems: [CAPTCHA_ELSEWHERE] } };
  if ('widget' in way) return { value: { ...view, problems: [] }, widget: way.widget };
  return sendInput(token, { ...input, captcha: way.answer });
}

/** Few sites ask: what it takes is fetched then. */
async function captchaWay(site: string): Promise<CaptchaWay | null> {
  try {
    return await (await import('./captcha.ts')).captchaWay(site);
  } catch {
    return null;
  }
}

const sendInput = (token: string, input: FlowInput): Promise<Answer<FlowView>> =>
  request({ path: flowPath(token), body: input, isValue: isView, isExpired: isFlowGone });

const flowPath = (token: string) => `${PATH}/${encodeURIComponent(token)}`;

function isView(json: unknown): json is FlowView {
  return isObject(json) && typeof json['token'] === 'string' && isObject(json['step']) && isObject(json['site']);
}

const isOver = (code: string) => code === 'INVALID_STATE_TOKEN';

const isFlowGone = (status: number, code: string) => isOver(code) || status === 404 || status === 410;
