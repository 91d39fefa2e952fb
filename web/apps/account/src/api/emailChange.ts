/** The two requests of the page on which who reads the address of before takes an account back. */
import type { SiteFace } from '@stoa/api';
import { isObject, request, type Answer } from './request.ts';

const PATH = '/_api/account/v1/email-changes';

/** The code of the refusal where another account has the address. */
export const EMAIL_IN_USE = '-19995';

/** The address that a link gives back. */
export interface EmailChange {
  site: SiteFace;
  email: string;
  /** Whether the account has it again. */
  isUndone: boolean;
}

/** An `expired` failure means: the link is used, too old or unknown. */
export const readEmailChange = (token: string): Promise<Answer<EmailChange>> => send(PATH, token);

export const undoEmailChange = (token: string): Promise<Answer<EmailChange>> => send(`${PATH}/undo`, token);

const send = (path: string, token: string): Promise<Answer<EmailChange>> =>
  request({ path, body: { token }, isValue: isChange, isExpired: (_, code) => code === 'INVALID_LINK' });

const isChange = (json: unknown): json is EmailChange =>
  isObject(json) && isObject(json['site']) && typeof json['email'] === 'string';
