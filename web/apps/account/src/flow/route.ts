/** What an address asks for. The paths of the account pages on one page. */
import type { FlowStart } from '@stoa/api';
import type { InstallAddress } from '../api/install.ts';
import { sitePath, withoutSite } from '../api/site.ts';

/** Parts of a member's account, by the last name of their addresses. */
export type AccountSection = 'profile' | 'password' | 'sessions' | 'privacy';

/** The pages whose token stands behind `#`, where no server and no log reads it. */
export type TokenPageName = 'approve' | 'keep' | 'push';

export type Route =
  | { to: 'flow'; token: string }
  /** `linkIsOver`: a link from a message led here that can't be used any more. */
  | { to: 'start'; start: FlowStart; linkIsOver: boolean }
  /** What a token is about: an owner decides about a member, a member keeps an account, or a browser is asked about a sign-in. */
  | { to: TokenPageName; token: string }
  /** Where a member looks after the account. */
  | { to: 'account'; section: AccountSection }
  /** The password and the sessions of those who run the site. */
  | { to: 'security' }
  | { to: 'install'; address: InstallAddress }
  | { to: 'noInvite' }
  /** Something that the server refused when its address was opened. */
  | { to: 'error'; code: string; clientId: string | null }
  | { to: 'unknown' };

const BASE = '/account/';

export const flowUrl = (token: string): string => `${sitePath()}${BASE}flow/${encodeURIComponent(token)}`;

const PAGES: Record<FlowStart['kind'], string> = {
  SIGN_IN: 'sign-in',
  SIGN_UP: 'sign-up',
  SIGN_OUT: 'sign-out',
  RECOVER: 'recover',
  OWNER_SETUP: 'owner',
  OWNER_SIGN_IN: 'owner',
};

/** The page about the password and the sessions of those who run a site. */
export const securityUrl = (site: string): string => `/s/${encodeURIComponent(site)}${BASE}security`;

/** A part of the account of the member who is signed in. */
export const accountUrl = (section: AccountSection, site = sitePath()): string => `${site}${BASE}${section}`;

/** Where the account pages of the site are, with the slash at the end. */
export const accountHome = (): string => sitePath() + BASE;

/** Where a member looks after the account at a site. */
export const accountUrlOf = (site: string): string => accountUrl('profile', `/s/${encodeURIComponent(site)}`);

/** Where a flow starts again, at the same site and with the same way back. */
export function startUrl({ kind, clientId, returnUrl }: FlowStart): string {
  const query = new URLSearchParams({
    ...(clientId ? { clientId } : {}),
    ...(returnUrl ? { returnUrl } : {}),
  }).toString();
  return `${sitePath()}${BASE}${PAGES[kind]}${query && '?'}${query}`;
}

export function routeOf({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>): Route {
  const path = withoutSite(pathname);
  const [page = '', token = ''] = path.startsWith(BASE) ? path.slice(BASE.length).split('/') : [];
  const query = new URLSearchParams(search);
  switch (page) {
    case 'flow': {
      const plain = decode(token);
      return plain ? { to: 'flow', token: plain } : { to: 'unknown' };
    }
    case '':
      // An address with which an application or a message has always led to the sign-in.
      return ['clientId', 'returnUrl', 'over'].some((it) => query.has(it))
        ? start('SIGN_IN')
        : { to: 'account', section: 'profile' };
    case 'profile':
    case 'password':
    case 'sessions':
    case 'privacy':
      return { to: 'account', section: page };
    case 'sign-in':
      return start('SIGN_IN');
    case 'sign-up':
      return start('SIGN_UP');
    case 'recover':
      return start('RECOVER');
    case 'sign-out':
      return start('SIGN_OUT');
    case 'owner':
      return start('OWNER_SIGN_IN');
    case 'approve':
    case 'keep':
    case 'push':
      return hash.length > 1 ? { to: page, token: decode(hash.slice(1)) } : { to: 'unknown' };
    case 'security':
      return { to: 'security' };
    case 'setup': {
      const invite = query.get('invite') ?? decode(hash.slice(1));
      return invite ? { to: 'start', start: { kind: 'OWNER_SETUP', invite }, linkIsOver: false } : { to: 'noInvite' };
    }
    case 'install': {
      const [appId, redirectUrl] = [query.get('appId'), query.get('redirectUrl')];
      return appId && redirectUrl
        ? { to: 'install', address: { appId, redirectUrl, state: query.get('state') } }
        : { to: 'unknown' };
    }
    case 'error':
      return { to: 'error', code: query.get('code') ?? '', clientId: query.get('clientId') };
    default:
      return { to: 'unknown' };
  }

  function start(kind: FlowStart['kind']): Route {
    const clientId = query.get('clientId');
    const returnUrl = query.get('returnUrl');
    const start = { kind, ...(clientId ? { clientId } : {}), ...(returnUrl ? { returnUrl } : {}) };
    return { to: 'start', start, linkIsOver: query.get('over') === 'link' };
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
