/** What an address asks for. The paths of the account pages on one page. */
import type { FlowStart } from '@stoa/api';

export type Route =
  | { to: 'flow'; token: string }
  | { to: 'start'; start: FlowStart }
  | { to: 'approve'; token: string }
  | { to: 'noInvite' }
  | { to: 'unknown' };

const BASE = '/account/';

export const flowUrl = (token: string): string => `${BASE}flow/${encodeURIComponent(token)}`;

export function routeOf({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>): Route {
  const [page = '', token = ''] = pathname.startsWith(BASE) ? pathname.slice(BASE.length).split('/') : [];
  const query = new URLSearchParams(search);
  switch (page) {
    case 'flow': {
      const plain = decode(token);
      return plain ? { to: 'flow', token: plain } : { to: 'unknown' };
    }
    case '':
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
    // The token stands behind `#`, where no server and no log reads it.
    case 'approve':
      return hash.length > 1 ? { to: 'approve', token: decode(hash.slice(1)) } : { to: 'unknown' };
    case 'setup': {
      const invite = query.get('invite') ?? decode(hash.slice(1));
      return invite ? { to: 'start', start: { kind: 'OWNER_SETUP', invite } } : { to: 'noInvite' };
    }
    default:
      return { to: 'unknown' };
  }

  function start(kind: FlowStart['kind']): Route {
    const clientId = query.get('clientId');
    const returnUrl = query.get('returnUrl');
    return { to: 'start', start: { kind, ...(clientId ? { clientId } : {}), ...(returnUrl ? { returnUrl } : {}) } };
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
