/** The two requests of the page on which an owner decides about an application. */
import type { SiteFace } from '@stoa/api';
import { isObject, request, type Answer } from './request.ts';
import { sitePath } from './site.ts';

const PATH = '/_api/account/v1/installs';

/** What the address of the page says. */
export interface InstallAddress {
  appId: string;
  redirectUrl: string;
  state: string | null;
}

/** What the application would hold. */
export interface InstallConsent {
  site: SiteFace;
  appName: string;
  /** Where the browser goes on; empty for an app on the person's own device. */
  host: string;
  isThirdParty: boolean;
  /** Such as `items:read:posts`; null for full rights. */
  scopes: string[] | null;
}

export const readInstall = (address: InstallAddress): Promise<Answer<InstallConsent>> =>
  request({ path: PATH, body: bodyOf(address), isValue: isConsent });

export const decideInstall = (
  address: InstallAddress,
  decision: 'INSTALL' | 'DECLINE',
): Promise<Answer<{ url: string }>> =>
  request({ path: `${PATH}/decide`, body: { ...bodyOf(address), decision }, isValue: isWayOn });

/** Where the installer begins, which has the owner sign in. */
export function installerUrl({ appId, redirectUrl, state }: InstallAddress): string {
  const query = new URLSearchParams({ redirectUrl, appId, ...(state === null ? {} : { state }) });
  return `${sitePath()}/installer/install?${query.toString()}`;
}

const bodyOf = ({ state, ...others }: InstallAddress) => (state === null ? others : { ...others, state });

function isConsent(json: unknown): json is InstallConsent {
  if (!isObject(json)) return false;
  const { scopes } = json;
  return (
    isObject(json['site']) &&
    ['appName', 'host'].every((key) => typeof json[key] === 'string') &&
    (scopes === null || (Array.isArray(scopes) && scopes.every((it) => typeof it === 'string')))
  );
}

const isWayOn = (json: unknown): json is { url: string } => isObject(json) && typeof json['url'] === 'string';
