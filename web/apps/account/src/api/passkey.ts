/** What those who are signed in ask about their passkeys. What the browser is to be asked, and what it says, go through as they are. */
import type { FactorCalls } from './member.ts';
import { isObject, type Answer } from './request.ts';

/** A passkey that the browser is to make. */
export interface NewPasskey {
  /** Names the challenge. */
  id: string;
  /** PublicKeyCredentialCreationOptionsJSON */
  options: object;
}

/** A question to the passkeys of an account. */
export interface PasskeyChallenge {
  challengeId: string;
  /** JSON text of PublicKeyCredentialRequestOptionsJSON */
  options: string;
}

export async function beginPasskey(calls: FactorCalls): Promise<Answer<NewPasskey>> {
  const answer = await calls.ask({ path: `${calls.path}/factors`, body: { type: 'WEBAUTHN' }, isValue: isBegun });
  return 'failure' in answer ? answer : { value: { id: answer.value.factor.id, options: answer.value.options } };
}

/** Keeps what the browser has made. Answers the recovery codes that come with the first factor. */
export async function keepPasskey(
  calls: FactorCalls,
  id: string,
  credential: string,
  name: string,
): Promise<Answer<string[]>> {
  const path = `${calls.path}/factors/${encodeURIComponent(id)}/confirm`;
  const answer = await calls.ask({ path, body: { credential, ...(name ? { name } : {}) }, isValue: isObject });
  if ('failure' in answer) return answer;
  const codes = answer.value['recoveryCodes'];
  return { value: Array.isArray(codes) ? codes.map(String) : [] };
}

/** Begins a proof by passkey. */
export async function beginPasskeyProof(calls: FactorCalls): Promise<Answer<PasskeyChallenge>> {
  const answer = await calls.ask({ path: `${calls.path}/proof`, body: { webauthnData: {} }, isValue: isAsked });
  if ('failure' in answer) return answer;
  const { challengeId, publicKeyCredentialRequestOptionsJson: options } = answer.value.webauthnData;
  return { value: { challengeId, options } };
}

const isBegun = (json: unknown): json is { factor: { id: string }; options: object } =>
  isObject(json) && isObject(json['factor']) && typeof json['factor']['id'] === 'string' && isObject(json['options']);

function isAsked(
  json: unknown,
): json is { webauthnData: { challengeId: string; publicKeyCredentialRequestOptionsJson: string } } {
  const data = isObject(json) ? json['webauthnData'] : null;
  return (
    isObject(data) &&
    typeof data['challengeId'] === 'string' &&
    typeof data['publicKeyCredentialRequestOptionsJson'] === 'string'
  );
}
