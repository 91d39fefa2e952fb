// Runs in the browser: puts the untouched packages where a row can reach them.
import * as sdk from '@wix/sdk';
import { SiteSessionAuth } from '@wix/sdk/auth/site-session';
import { items, collections } from '@wix/data';
import { authentication, oauth, recovery, verification, signOnPolicy } from '@wix/identity';
import { redirects } from '@wix/redirects';

const modules = { items, collections, authentication, oauth, recovery, verification, signOnPolicy, redirects };

window.conformance = {
  sdk,
  SiteSessionAuth,
  modules,
  /** A client of the website; its tokens live as long as the page. */
  client: (clientId, tokens) => sdk.createClient({ modules, auth: sdk.OAuthStrategy({ clientId, tokens }) }),
};
document.documentElement.dataset.ready = 'true';
