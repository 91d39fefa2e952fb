// Every method that the installed packages publish. The table must have a row for each, so a new
// version of a package cannot bring a method without a row.
import * as sdk from '@wix/sdk';
import { SiteSessionAuth } from '@wix/sdk/auth/site-session';
import * as data from '@wix/data';
import * as identity from '@wix/identity';
import * as members from '@wix/members';
import * as redirects from '@wix/redirects';
import * as oldestIdentity from 'identity-1.0.120';
import * as oldIdentity from 'identity-1.0.164';
import * as headlessCms from '@wix/headless-cms/services';

/** Exports that build a value in memory and send nothing. */
const BUILDERS = /(Builder|^Filter|^Sort|^SearchParams|^pipelineBuilder|^filter|ServiceImplementation)$/;

/** @returns {string[]} names such as `items.query` or `identity@1.0.164 authentication.verify` */
export function publishedMethods() {
  // Of the oldest version, what none after it has.
  const still = new Set(namespaces('', oldIdentity));
  const names = [
    ...namespaces('', oldestIdentity)
      .filter((name) => !still.has(name))
      .map((name) => `identity@1.0.120 ${name}`),
    ...namespaces('', data),
    ...namespaces('', identity),
    ...namespaces('', redirects),
    ...namespaces('members ', members),
    ...namespaces('identity@1.0.164 ', oldIdentity),
    ...functions('headless-cms ', headlessCms),
  ];
  const strategies = {
    OAuthStrategy: sdk.OAuthStrategy({ clientId: 'none' }),
    ApiKeyStrategy: sdk.ApiKeyStrategy({ apiKey: 'none', siteId: 'none' }),
    AppStrategy: sdk.AppStrategy({ appId: 'none' }),
    SiteSessionAuth: SiteSessionAuth({ clientId: 'none' }),
  };
  for (const [name, strategy] of Object.entries(strategies)) names.push(...functions(`${name}.`, strategy));
  names.push(...functions('OAuthStrategy.sessions.', strategies.OAuthStrategy.sessions));
  names.push(...['fetch', 'fetchWithAuth', 'graphql'].map((name) => `client.${name}`));
  return names.sort();
}

/** @param {string} prefix @param {object} pkg */
function namespaces(prefix, pkg) {
  // Expressions and Stages are builders of pipeline parts.
  return Object.entries(pkg)
    .filter(([name, value]) => value && typeof value === 'object' && !/^(Expressions|Stages)$/.test(name))
    .flatMap(([name, value]) => functions(`${prefix}${name}.`, value));
}

/** @param {string} prefix @param {object} holder */
function functions(prefix, holder) {
  return Object.entries(holder)
    .filter(([name, value]) => typeof value === 'function' && !BUILDERS.test(name))
    .map(([name]) => `${prefix}${name}`);
}
