/** The two requests of the page on which an owner decides about a new member. */
import type { SiteFace } from '@stoa/api';
import { isObject, request, type Answer } from './request.ts';

const PATH = '/_api/account/v1/approvals';

export type Decision = 'APPROVE' | 'DECLINE';

/** What the server says of the member who waits. */
export interface ApprovalRequest {
  site: SiteFace;
  siteName: string;
  name: string;
  email: string;
  emailVerified: boolean;
  createdDate: string;
  state: 'PENDING' | 'APPROVED' | 'DECLINED';
}

/** An `expired` failure means: the link is used, too old or unknown. */
export const readApproval = (token: string): Promise<Answer<ApprovalRequest>> => send(PATH, { token });

export const decideApproval = (token: string, decision: Decision): Promise<Answer<ApprovalRequest>> =>
  send(`${PATH}/decide`, { token, decision });

const send = (path: string, body: object): Promise<Answer<ApprovalRequest>> =>
  request({ path, body, isValue: isRequest, isExpired: isLinkOver });

const isLinkOver = (status: number) => status >= 400 && status < 500 && status !== 429;

function isRequest(json: unknown): json is ApprovalRequest {
  const strings = ['siteName', 'name', 'email', 'createdDate', 'state'];
  return isObject(json) && isObject(json['site']) && strings.every((key) => typeof json[key] === 'string');
}
