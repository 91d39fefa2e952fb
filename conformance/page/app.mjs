// Runs in the browser: puts the untouched packages where a row can reach them.
import * as sdk from '@wix/sdk';
import { SiteSessionAuth } from '@wix/sdk/auth/site-session';
import { collections, items } from '@wix/data';
import { authentication, oauth, recovery, signOnPolicy, verification } from '@wix/identity';
import { redirects } from '@wix/redirects';
import { BUILT, idsOf, plain, RAW, wide, wideFilter } from '../rows/operator-cases.mjs';

/** @import { Tokens } from '@wix/sdk' */

const modules = { items, collections, authentication, oauth, recovery, verification, signOnPolicy, redirects };

/**
 * Every operator, built and raw: the cases whose answer is another than expected.
 * @param {Client} site @param {string} id of the shelf
 */
async function operators({ items }, id) {
  const wrong = [];
  for (const [check, build, expected] of BUILT) {
    const found = idsOf(
      await build(wide(items.query(id)), () => wideFilter(items.filter()))
        .limit(100)
        .find(),
    );
    if (found !== expected) wrong.push({ check, expected, found });
  }
  for (const [check, filter, expected] of RAW) {
    const found = idsOf(await items.query(id, { filter: plain(filter), paging: { limit: 100 } }));
    if (found !== expected) wrong.push({ check: `raw: ${check}`, expected, found });
  }
  return { wrong, count: BUILT.length + RAW.length };
}

/** A client of the website; its tokens live as long as the page. @param {string} clientId @param {Tokens} [tokens] */
const client = (clientId, tokens) => sdk.createClient({ modules, auth: sdk.OAuthStrategy({ clientId, tokens }) });
/** @typedef {ReturnType<typeof client>} Client */

export const conformance = {
  operators,
  sdk,
  SiteSessionAuth,
  modules,
  client,
};
window.conformance = conformance;
document.documentElement.dataset.ready = 'true';
