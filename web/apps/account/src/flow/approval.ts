/** The two requests of the page on which an owner decides about a new member. */

const ROOT = '/_api/account/v1/approvals';
const PATIENCE_MS = 30_000;

export type Decision = 'APPROVE' | 'DECLINE';

/** What the server says of whoever waits. */
export interface ApprovalRequest {
  siteName: string;
  name: string;
  email: string;
  emailVerified: boolean;
  createdDate: string;
  state: 'PENDING' | 'APPROVED' | 'DECLINED';
}

/** `gone`: the link is used, too old or nobody's; `failed`: no answer, or not one that can be read. */
export type ApprovalAnswer = { request: ApprovalRequest } | { failed: 'gone' | 'failed' };

export const lookAtApproval = (token: string): Promise<ApprovalAnswer> => send(ROOT, { token });
export const decideApproval = (token: string, decision: Decision): Promise<ApprovalAnswer> =>
  send(`${ROOT}/decide`, { token, decision });

async function send(path: string, body: object): Promise<ApprovalAnswer> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.status >= 400 && response.status < 500 && response.status !== 429) return { failed: 'gone' };
    const json: unknown = await response.json();
    return response.ok && isRequest(json) ? { request: json } : { failed: 'failed' };
  } catch {
    return { failed: 'failed' };
  }
}

function isRequest(json: unknown): json is ApprovalRequest {
  if (typeof json !== 'object' || json === null) return false;
  const it = json as Record<string, unknown>;
  return ['siteName', 'name', 'email', 'createdDate', 'state'].every((key) => typeof it[key] === 'string');
}
