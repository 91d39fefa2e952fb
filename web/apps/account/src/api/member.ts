/** What a member who is signed in asks: by the token that the page is given, with which no other page's request goes. */
import type { SiteFace } from '@stoa/api';
import { contactOf, type Contact, type ContactChange } from './contact.ts';
import { inLanguage, type Place } from './place.ts';
import { SIGNED_OUT, isObject, request, type Answer, type Failure, type RequestOptions } from './request.ts';

const OPEN = '/_api/account/v1/member';
const OWN = '/_api/identity/v1';
const MEMBERS = '/members/v1/members';

/** Who is signed in in this browser. */
export interface MemberAccount {
  site: SiteFace;
  access_token: string;
  memberId: string;
  email: string;
  emailVerified: boolean;
  hasPassword: boolean;
  passwordMinLength: number;
  /** For how many days an account stays that the member wants to be deleted. */
  deletionDays: number;
}

/** Sends a call as the member. */
export type Ask = <Value>(options: RequestOptions<Value>) => Promise<Answer<Value>>;

/** The calls about the factors of an account: how they are sent, and below which path they are. */
export interface FactorCalls {
  ask: Ask;
  path: string;
}

/** What is known of an account whose factors are shown. */
export interface FactorAccount extends Pick<MemberAccount, 'site' | 'emailVerified' | 'hasPassword'> {
  /** It is the account of an owner or editor, which is the same at all sites. */
  isOperator?: boolean;
}

/** What a member shows of themselves. */
export interface Profile {
  nickname: string;
  firstName: string;
  lastName: string;
  photoUrl: string;
  isPublic: boolean;
  contact: Contact;
}

export interface Factor {
  id: string;
  type: 'WEBAUTHN' | 'TOTP' | 'PUSH' | 'EMAIL' | 'SMS' | 'CALL' | 'PASSWORD';
  /** Of codes that go to a number: most of its digits left out. */
  name: string;
  createdDate: string;
  lastUsedDate?: string;
  /** Of passkeys: whether its keeper has it on several devices. */
  backedUp?: boolean;
  /** Of notifications: whether the browser can't be reached any more. */
  needsReenrolment?: boolean;
}

export interface Factors {
  policy: string;
  /** The kinds that can be added here. */
  addable: string[];
  /** The site's public key for notifications, where they can be added. */
  pushKey?: string;
  factors: Factor[];
  recoveryCodesLeft: number;
  /** Absent where every browser asks for a code. */
  rememberedBrowsers?: number;
}

/** A factor that waits for its first code: an authenticator to be set up, or codes of which one was sent, also as a notification. */
export type Enrolment = { factor: { id: string } } & (
  { secret: string; uri: string } | { sentTo: string } | { isPushed: true }
);

export interface MemberSession {
  id: string;
  createdDate: string;
  lastUsedDate: string;
  clientNames: string[];
  device?: string;
  address?: string;
  /** Roughly where the address is, where the server can tell. */
  place?: Place;
  isCurrent: boolean;
  /** There where an owner of the site acts as the member. */
  impersonation?: { access: 'READ' | 'WRITE'; expiresDate: string };
}

export type Proof =
  | { password: string }
  | { webauthnData: { challengeId: string; credential: string } }
  | { totpData: { code: string } }
  | { emailData: { code: string } }
  | { smsData: { code: string } }
  | { callData: { code: string } }
  | { recoveryCodeData: { code: string } };

/** The code of the refusal for who has to show first who they are. */
export const PROOF_NEEDED = 'INSUFFICIENT_USER_AUTHENTICATION';

/** The calls about the factors of a member. */
export const memberCalls = (ask: Ask): FactorCalls => ({ ask, path: OWN });

export const openAccount = (): Promise<Answer<MemberAccount>> => request({ path: OPEN, body: {}, isValue: isAccount });

/**
 * Calls as the member of an account. A token that is over is replaced once, as long as the same member is signed in;
 * `onSignedOut` is told when that isn't so.
 */
export function askAs(account: MemberAccount, onSignedOut: () => void): Ask {
  let token = account.access_token;
  return async (options) => {
    const send = () => request({ ...options, headers: { ...options.headers, authorization: token } });
    let answer = await send();
    if (isSignedOut(answer)) {
      const opened = await openAccount();
      if ('failure' in opened) answer = opened;
      else if (opened.value.memberId === account.memberId) {
        token = opened.value.access_token;
        answer = await send();
      }
    }
    if (isSignedOut(answer)) onSignedOut();
    return answer;
  };
}

const isSignedOut = (answer: Answer<unknown>): answer is { failure: Failure } =>
  'failure' in answer && answer.failure.code === SIGNED_OUT;

export async function readProfile(ask: Ask): Promise<Answer<Profile>> {
  const answer = await ask({ path: `${MEMBERS}/my?fieldsets=FULL`, isValue: isMember });
  return 'failure' in answer ? answer : { value: profileOf(answer.value.member) };
}

/** Sends what differs; what is empty is removed. */
export async function saveProfile(ask: Ask, id: string, before: Profile, after: Profile): Promise<Answer<Profile>> {
  const differs = (name: keyof Profile) => before[name] !== after[name];
  const text = (name: 'nickname' | 'firstName' | 'lastName') =>
    differs(name) ? { [name]: after[name].trim() || null } : {};
  const photo = after.photoUrl.trim();
  const member = {
    profile: { ...text('nickname'), ...(differs('photoUrl') ? { photo: photo ? { url: photo } : null } : {}) },
    contact: { ...text('firstName'), ...text('lastName') },
    ...(differs('isPublic') ? { privacyStatus: after.isPublic ? 'PUBLIC' : 'PRIVATE' } : {}),
  };
  const path = `${MEMBERS}/${encodeURIComponent(id)}`;
  const answer = await ask({ path, method: 'PATCH', body: { member }, isValue: isMember });
  return 'failure' in answer ? answer : { value: profileOf(answer.value.member) };
}

/** Changes the contact as it is stored by now; what the change doesn't name stays. */
export async function changeContact(
  ask: Ask,
  id: string,
  change: (now: Contact) => ContactChange,
): Promise<Answer<Contact>> {
  const now = await readProfile(ask);
  if ('failure' in now) return now;
  const body = { member: { contact: change(now.value.contact) } };
  const path = `${MEMBERS}/${encodeURIComponent(id)}`;
  const answer = await ask({ path, method: 'PATCH', body, isValue: isMember });
  return 'failure' in answer ? answer : { value: profileOf(answer.value.member).contact };
}

export const replacePassword = (ask: Ask, oldPassword: string, newPassword: string): Promise<Answer<object>> =>
  ask({ path: `${OWN}/password`, body: { oldPassword, newPassword }, isValue: isObject });

export const prove = (calls: FactorCalls, proof: Proof): Promise<Answer<object>> =>
  calls.ask({ path: `${calls.path}/proof`, body: proof, isValue: isObject });

/** The member of a request that is about the codes of a kind. */
export const dataName = (kind: 'EMAIL' | 'SMS' | 'CALL'): string =>
  ({ EMAIL: 'emailData', SMS: 'smsData', CALL: 'callData' })[kind];

/** Has a code sent by which the member proves who they are: where it went. */
export async function sendProofCode(calls: FactorCalls, kind: 'EMAIL' | 'SMS' | 'CALL'): Promise<Answer<string>> {
  const answer = await calls.ask({ path: `${calls.path}/proof`, body: { [dataName(kind)]: {} }, isValue: isObject });
  return 'failure' in answer ? answer : { value: String(answer.value['sentTo']) };
}

export const readFactors = (calls: FactorCalls): Promise<Answer<Factors>> =>
  calls.ask({ path: `${calls.path}/factors`, isValue: isFactors });

export const beginFactor = (calls: FactorCalls, name: string): Promise<Answer<Enrolment>> =>
  calls.ask({ path: `${calls.path}/factors`, body: name ? { name } : {}, isValue: isEnrolment });

export const beginEmailFactor = (calls: FactorCalls): Promise<Answer<Enrolment>> =>
  calls.ask({ path: `${calls.path}/factors`, body: { type: 'EMAIL' }, isValue: isEnrolment });

/** Begins to take codes at a number, of which the first is sent. */
export const beginPhoneFactor = (calls: FactorCalls, type: 'SMS' | 'CALL', phone: string): Promise<Answer<Enrolment>> =>
  calls.ask({ path: `${calls.path}/factors`, body: { type, phone }, isValue: isEnrolment });

/** Has the password asked for after a sign-in by a provider; it counts at once. Answers recovery codes where some come with it. */
export const addPasswordFactor = (calls: FactorCalls): Promise<Answer<string[]>> =>
  readCodes(calls, '/factors', { type: 'PASSWORD' });

/** Answers the recovery codes that come with the first one. */
export const confirmFactor = (calls: FactorCalls, id: string, code: string): Promise<Answer<string[]>> =>
  readCodes(calls, `/factors/${encodeURIComponent(id)}/confirm`, { code });

export const removeFactor = (calls: FactorCalls, id: string): Promise<Answer<object>> =>
  calls.ask({ path: `${calls.path}/factors/${encodeURIComponent(id)}`, method: 'DELETE', isValue: isObject });

/** Gives an authenticator, a passkey or a browser another name. */
export const renameFactor = (calls: FactorCalls, id: string, name: string): Promise<Answer<object>> =>
  calls.ask({
    path: `${calls.path}/factors/${encodeURIComponent(id)}`,
    method: 'PATCH',
    body: { name },
    isValue: isObject,
  });

export const renewRecoveryCodes = (calls: FactorCalls): Promise<Answer<string[]>> =>
  readCodes(calls, '/recovery-codes', {});

async function readCodes(calls: FactorCalls, path: string, body: object): Promise<Answer<string[]>> {
  const answer = await calls.ask({ path: calls.path + path, body, isValue: isObject });
  return 'failure' in answer ? answer : { value: stringsOf(answer.value['recoveryCodes']) };
}

export const forgetBrowsers = (calls: FactorCalls): Promise<Answer<object>> =>
  calls.ask({ path: `${calls.path}/remembered-browsers`, method: 'DELETE', isValue: isObject });

/** Where the member is signed in; places are named in a language. */
export async function readSessions(ask: Ask, language: string): Promise<Answer<MemberSession[]>> {
  const answer = await ask({ path: `${OWN}/sessions`, headers: inLanguage(language), isValue: hasSessions });
  return 'failure' in answer ? answer : { value: answer.value.sessions };
}

/** A client of others in which the member is signed on. */
export interface Application {
  id: string;
  name: string;
  home?: string;
  /** What it may do; absent where that is all. */
  scopes?: string[];
  createdDate: string;
  lastUsedDate: string;
}

export async function readApplications(ask: Ask): Promise<Answer<Application[]>> {
  const answer = await ask({ path: `${OWN}/applications`, isValue: hasApplications });
  return 'failure' in answer ? answer : { value: answer.value.applications };
}

/** Signs the member off an application. */
export const endApplication = (ask: Ask, id: string): Promise<Answer<object>> =>
  ask({ path: `${OWN}/applications/${encodeURIComponent(id)}`, method: 'DELETE', isValue: isObject });

/** Ends one session, or with null all but the one that asks. */
export const endSession = (ask: Ask, id: string | null): Promise<Answer<object>> =>
  ask({
    path: id === null ? `${OWN}/sessions` : `${OWN}/sessions/${encodeURIComponent(id)}`,
    method: 'DELETE',
    isValue: isObject,
  });

/** All that is known of the member, as text of a file. */
export async function readExport(ask: Ask): Promise<Answer<string>> {
  const answer = await ask({ path: `${OWN}/export`, isValue: isObject });
  return 'failure' in answer ? answer : { value: `${JSON.stringify(answer.value, null, 2)}\n` };
}

/** The code of the refusal for who was told other days than those of the site. */
export const DAYS_CHANGED = 'DAYS_CHANGED';

/** Has the account deleted after the days that the member was told: when it goes, or null where it is gone already. */
export async function askDeletion(ask: Ask, deletionDays: number): Promise<Answer<string | null>> {
  const answer = await ask({ path: `${OWN}/deletion`, body: { deletionDays }, isValue: isObject });
  if ('failure' in answer && answer.failure.problems.some((it) => it.field === 'deletionDays'))
    return { failure: { ...answer.failure, code: DAYS_CHANGED } };
  if ('failure' in answer) return answer;
  const date = answer.value['deletionDate'];
  return { value: isText(date) ? date : null };
}

/** Has a code sent to the member's own address, and answers by what the code is checked. */
export async function sendCode(ask: Ask, memberId: string): Promise<Answer<string>> {
  const body = { identityId: memberId, target: 'EMAIL' };
  const answer = await ask({ path: '/v1/start', body, isValue: isObject });
  return 'failure' in answer ? answer : { value: String(answer.value['verificationId']) };
}

export const checkCode = (ask: Ask, stateToken: string, code: string): Promise<Answer<object>> =>
  ask({ path: '/v1/auth/verify', body: { code, stateToken }, isValue: isObject });

/** Has a code sent to an address that the member wants. */
export const beginEmailChange = (ask: Ask, email: string): Promise<Answer<object>> =>
  ask({ path: `${OWN}/email`, body: { email }, isValue: isObject });

/** Gives the account the address to which the last code went, and answers it. */
export async function confirmEmailChange(ask: Ask, code: string): Promise<Answer<string>> {
  const answer = await ask({ path: `${OWN}/email/confirm`, body: { code }, isValue: isObject });
  return 'failure' in answer ? answer : { value: String(answer.value['email']) };
}

const isAccount = (json: unknown): json is MemberAccount =>
  isObject(json) && isObject(json['site']) && ['access_token', 'memberId', 'email'].every((it) => isText(json[it]));

const isMember = (json: unknown): json is { member: Record<string, unknown> } =>
  isObject(json) && isObject(json['member']);

const isFactors = (json: unknown): json is Factors =>
  isObject(json) && Array.isArray(json['factors']) && Array.isArray(json['addable']) && isText(json['policy']);

const isEnrolment = (json: unknown): json is Enrolment =>
  isObject(json) &&
  isObject(json['factor']) &&
  (isText(json['sentTo']) || (isText(json['secret']) && isText(json['uri'])));

const hasSessions = (json: unknown): json is { sessions: MemberSession[] } =>
  isObject(json) && Array.isArray(json['sessions']);

const hasApplications = (json: unknown): json is { applications: Application[] } =>
  isObject(json) && Array.isArray(json['applications']);

const isText = (value: unknown): value is string => typeof value === 'string';

const stringsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);

function profileOf(member: Record<string, unknown>): Profile {
  const part = (name: string) => (isObject(member[name]) ? member[name] : {});
  const [profile, contact] = [part('profile'), part('contact')];
  const photo = isObject(profile['photo']) ? profile['photo'] : {};
  const text = (value: unknown) => (isText(value) ? value : '');
  return {
    nickname: text(profile['nickname']),
    firstName: text(contact['firstName']),
    lastName: text(contact['lastName']),
    photoUrl: text(photo['url']),
    isPublic: member['privacyStatus'] === 'PUBLIC',
    contact: contactOf(contact),
  };
}
