// @ts-check
// What rows work with: clients of every kind of caller, fresh collections, the mail that was sent
// and the browser. Nothing here judges an answer.
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as sdk from '@wix/sdk';
import * as data from '@wix/data';
import * as identity from '@wix/identity';
import * as membersPackage from '@wix/members';
import * as oldIdentity from 'identity-1.0.164';
import { redirects } from '@wix/redirects';
import { browserOpen } from './browser.mjs';

const MAIL_LIMIT_MS = 8_000;

/** Everything a client may call; members has an `authentication` of its own, so it is set apart. */
export const modules = { ...data, ...identity, redirects };

/**
 * @param {object} run what the parent process prepared
 * @param {string} run.siteId
 * @param {string} run.clientId
 * @param {string} run.secretClientId
 * @param {string} run.clientSecret
 * @param {string} run.apiKey
 * @param {string} run.ownerSetupUrl
 * @param {string} run.ownerEmail
 * @param {string} run.origin          origin of the website of the run
 * @param {string} run.redirectUri
 * @param {string} run.dataDir
 * @param {number} run.apiPort
 * @param {string} run.spki
 * @param {ReturnType<import('./recorder.mjs').recorderInstall>} recorder
 */
export function worldCreate(run, recorder) {
  const memory = new Map();

  /** @param {any} tokens */
  const visitor = (tokens = undefined) =>
    sdk.createClient({ modules, auth: sdk.OAuthStrategy({ clientId: run.clientId, tokens }) });

  const keyAuth = () => sdk.ApiKeyStrategy({ apiKey: run.apiKey, siteId: run.siteId });
  const app = sdk.createClient({ modules, auth: keyAuth() });

  const world = {
    run,
    recorder,
    visitor,
    /** The holder of the site's API key. */
    app,
    membersApp: sdk.createClient({ modules: membersPackage, auth: keyAuth() }),
    oldApp: sdk.createClient({ modules: oldIdentity, auth: keyAuth() }),
    oldVisitor: () => sdk.createClient({ modules: oldIdentity, auth: sdk.OAuthStrategy({ clientId: run.clientId }) }),
    /** @param {any} auth @param {object} [which] */
    client: (auth, which = modules) => sdk.createClient({ modules: which, auth }),

    /** Runs `make` once per key and remembers the result. @param {string} key @param {() => any} make */
    once(key, make) {
      if (!memory.has(key)) memory.set(key, make());
      return memory.get(key);
    },

    email: () => `person-${randomBytes(5).toString('hex')}@example.com`,
    password: () => `pass-${randomBytes(9).toString('base64url')}`,
    id: () => randomUUID(),

    /** A registered member with a signed-in client. @param {string} name one member for each name */
    member: (name) => world.once(`member ${name}`, () => world.memberCreate()),

    async memberCreate() {
      const email = world.email();
      const password = world.password();
      const client = visitor();
      await client.auth.generateVisitorTokens().then((tokens) => client.auth.setTokens(tokens));
      const answer = await client.authentication.registerV2({ email }, { password });
      if (answer.state !== 'SUCCESS') throw new Error(`registration ended in ${answer.state}`);
      const id = /** @type {string} */ (answer.identity?._id);
      client.auth.setTokens(await client.auth.getMemberTokensForExternalLogin(id, run.apiKey));
      return { email, password, id, client, sessionToken: answer.sessionToken };
    },

    /** The address and password of a person who runs the site: the invitation is accepted in a browser. */
    ownerPerson: () =>
      world.once('owner person', async () => {
        const person = { email: run.ownerEmail, password: world.password() };
        const browser = await world.browser();
        await browser.visit((/** @type {any} */ site) => site.acceptInvitation(run.ownerSetupUrl, person.password));
        return person;
      }),

    /** Runs `work` in another browser, in which that person is signed in. @param {(site: any) => any} work */
    async ownerVisit(work) {
      const person = await world.ownerPerson();
      const browser = await world.browser();
      return browser.visit(async (/** @type {any} */ site) => {
        await site.page.goto(new URL('/account/owner', run.ownerSetupUrl).href);
        await site.signIn(person);
        await site.page.getByText('You are signed in').first().waitFor();
        return work(site);
      });
    },

    /**
     * Opens the installer as an owner, on this server instead of the address that the package names, and
     * answers where the browser was sent.
     * @param {string} installUrl
     */
    install(installUrl) {
      const { pathname, search } = new URL(installUrl);
      return world.ownerVisit(async (site) => {
        const arrival = site.page.waitForRequest((/** @type {any} */ request) =>
          request.url().startsWith(run.redirectUri),
        );
        await site.page.goto(new URL(pathname + search, run.ownerSetupUrl).href).catch(() => undefined);
        return (await arrival).url();
      });
    },

    /** A client with the token that the server's own pages use for that person. */
    owner: () =>
      world.once('owner', async () => {
        const token = await world.ownerVisit((site) =>
          site.page.evaluate(
            async () => (await (await fetch('/_api/account/v1/token', { method: 'POST' })).json()).access_token,
          ),
        );
        if (typeof token !== 'string') throw new Error('the owner has no access token');
        return world.client({ getAuthHeaders: () => ({ headers: { Authorization: token } }) });
      }),

    /**
     * A fresh collection, made by the key holder.
     * @param {object} [definition] members of the collection besides its id
     */
    async collectionCreate(definition = {}) {
      const _id = `c${randomBytes(6).toString('hex')}`;
      await app.collections.createDataCollection(
        /** @type {any} */ ({
          _id,
          displayName: _id,
          fields: [{ key: 'title', displayName: 'Title', type: 'TEXT' }],
          permissions: { insert: 'ANYONE', update: 'ANYONE', remove: 'ANYONE', read: 'ANYONE' },
          ...definition,
        }),
      );
      return _id;
    },

    /** The newest message to an address, waiting for it. @param {string} to @param {number} [count] how many must have come */
    async mail(to, count = 1) {
      const until = Date.now() + MAIL_LIMIT_MS;
      for (;;) {
        const found = mailRead(run.dataDir).filter((message) => [message.to].flat().includes(to));
        if (found.length >= count) return found.at(-1);
        if (Date.now() > until) throw new Error(`no message to ${to} in outbox/mail.jsonl within ${MAIL_LIMIT_MS} ms`);
        await new Promise((done) => setTimeout(done, 100));
      }
    },

    /**
     * Sets the sign-on policy for the time of `work`, then takes it back.
     * @template T @param {object} policy @param {() => Promise<T>} work
     */
    async withPolicy(policy, work) {
      await app.signOnPolicy.updateSignOnPolicy(policy);
      try {
        return await work();
      } finally {
        await app.signOnPolicy.updateSignOnPolicy({ requireOwnerApproval: false, requireEmailVerification: false });
      }
    },

    browser: () => world.once('browser', () => browserOpen(run)),
    async close() {
      if (memory.has('browser')) await (await memory.get('browser')).close();
    },
  };
  return world;
}

/** @param {string} dataDir */
function mailRead(dataDir) {
  const path = join(dataDir, 'outbox', 'mail.jsonl');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
