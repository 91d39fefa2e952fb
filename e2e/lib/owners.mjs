// Sites of their own, and those who run them.
import { text } from '../../conformance/lib/parse.mjs';
import { newCredentials, title } from './steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { World } from './run-tests.mjs' */

export const OWNER_PASSWORD = 'quite a long phrase';

/**
 * A site of its own, so that the demo of the other tests stays as it is; answers its id.
 * @param {Pick<World, 'stoa'>} world @param {string} name
 */
export async function makeSite({ stoa }, name) {
  return text(await stoa.command('site', 'create', '--name', name), 'siteId');
}

/**
 * An invitation of an owner, or with another role of somebody else: the address and the link.
 * @param {Pick<World, 'stoa'>} world @param {{ site?: string, role?: string }} [where] without a site it is the only one
 */
export async function invite({ stoa }, { site, role = 'owner' } = {}) {
  const { email } = newCredentials();
  const where = site === undefined ? [] : ['--site', site];
  const invited = await stoa.command('owner', 'invite', '--email', email, '--role', role, ...where);
  return { email, setupUrl: text(invited, 'setupUrl') };
}

/** Opens the link of an invitation and chooses the password. @param {Page} page @param {string} setupUrl */
export async function accept(page, setupUrl) {
  await page.goto(setupUrl);
  await page.getByLabel('Password', { exact: true }).fill(OWNER_PASSWORD);
  await page.getByRole('button', { name: 'Save password' }).click();
}

/** Makes an owner and answers the address. @param {Pick<World, 'stoa'>} world @param {Page} page @param {string} [site] */
export async function becomeOwner(world, page, site) {
  const { email, setupUrl } = await invite(world, site === undefined ? {} : { site });
  await accept(page, setupUrl);
  await title(page, 'You are ready').waitFor();
  return email;
}
