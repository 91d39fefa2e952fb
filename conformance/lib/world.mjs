// What rows work with: clients of every kind of caller, fresh collections, the mail that was sent
// and the browser. Nothing here judges an answer.
import { randomBytes, randomUUID } from 'node:crypto';
import * as sdk from '@wix/sdk';
import * as data from '@wix/data';
import * as identity from '@wix/identity';
import * as membersPackage from '@wix/members';
import * as oldestIdentity from 'identity-1.0.120';
import * as oldIdentity from 'identity-1.0.164';
import { redirects } from '@wix/redirects';
import { openBrowser } from './browser.mjs';
import { messagesTo } from './mail.mjs';
import { text, untyped } from './parse.mjs';

/** @import { AuthenticationStrategy, Tokens } from '@wix/sdk' */
/** @import { Browser, Site } from './browser.mjs' */
/** @import { Recorder } from './recorder.mjs' */
/** @import { Credentials, Definition, Run } from './types.js' */

/** @typedef {ReturnType<typeof createWorld>} World */
/** @typedef {ReturnType<typeof websiteClient>} Client   a client of the website, with the tokens of a visitor or a member */
/** @typedef {ReturnType<typeof oldWebsiteClient>} OldClient   the same with the older version of @wix/identity */
/** @typedef {Credentials & { id: string, client: Client, sessionToken?: string }} Member */

const MAIL_LIMIT_MS = 8_000;

/** Everything a client may call; members has an `authentication` of its own, so it is set apart. */
export const modules = { ...data, ...identity, redirects };

/** @param {string} clientId @param {Tokens} [tokens] */
const websiteClient = (clientId, tokens) =>
  sdk.createClient({ modules, auth: sdk.OAuthStrategy({ clientId, tokens }) });

/** @param {string} clientId */
const oldWebsiteClient = (clientId) =>
  sdk.createClient({ modules: oldIdentity, auth: sdk.OAuthStrategy({ clientId }) });

/** With sign-in by identity providers, which later versions don't publish. @param {string} clientId */
const oldestWebsiteClient = (clientId) =>
  sdk.createClient({ modules: oldestIdentity, auth: sdk.OAuthStrategy({ clientId }) });

/** @param {string} token */
const ownerClient = (token) =>
  sdk.createClient({ modules, auth: { getAuthHeaders: () => ({ headers: { Authorization: token } }) } });

/** @param {Run} run @param {Recorder} recorder */
export function createWorld(run, recorder) {
  /** @type {Map<string, unknown>} */
  const memory = new Map();

  /** @param {Tokens} [tokens] */
  const visitor = (tokens) => websiteClient(run.clientId, tokens);

  /** @type {Promise<Browser> | undefined} */
  let browser;

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
    oldVisitor: () => oldWebsiteClient(run.clientId),
    oldestVisitor: () => oldestWebsiteClient(run.clientId),
    /** @template {AuthenticationStrategy<undefined>} A @param {A} auth */
    client: (auth) => sdk.createClient({ modules, auth }),
    /** @template {AuthenticationStrategy<undefined>} A @param {A} auth */
    membersClient: (auth) => sdk.createClient({ modules: membersPackage, auth }),

    /**
     * Runs `make` once per key and remembers the result.
     * @template T @param {string} key each goes with one type @param {() => T} make @returns {T}
     */
    once(key, make) {
      if (!memory.has(key)) memory.set(key, make());
      return /** @type {T} */ (memory.get(key));
    },

    email: () => `person-${randomBytes(5).toString('hex')}@example.com`,
    password: () => `pass-${randomBytes(9).toString('base64url')}`,
    id: () => randomUUID(),

    /** A registered member with a signed-in client. @param {string} name one member for each name @returns {Promise<Member>} */
    member: (name) => world.once(`member ${name}`, () => world.createMember()),

    /** @returns {Promise<Member>} */
    async createMember() {
      const email = world.email();
      const password = world.password();
      const client = visitor();
      await client.auth.generateVisitorTokens().then((tokens) => client.auth.setTokens(tokens));
      const answer = await client.authentication.registerV2({ email }, { password });
      if (answer.state !== 'SUCCESS') throw new Error(`registration ended in ${answer.state}`);
      const id = text(answer.identity, '_id');
      client.auth.setTokens(await client.auth.getMemberTokensForExternalLogin(id, run.apiKey));
      return { email, password, id, client, sessionToken: answer.sessionToken ?? undefined };
    },

    /** The owner of the site, whose invitation is accepted in a browser. @returns {Promise<Credentials>} */
    ownerCredentials: () =>
      world.once('owner credentials', async () => {
        const credentials = { email: run.ownerEmail, password: world.password() };
        const browser = await world.browser();
        await browser.visit((site) => site.acceptInvitation(run.ownerSetupUrl, credentials.password));
        return credentials;
      }),

    /**
     * Runs `work` in another browser, in which the owner is signed in.
     * @template T @param {(site: Site) => Promise<T>} work @returns {Promise<T>}
     */
    async ownerVisit(work) {
      const credentials = await world.ownerCredentials();
      const browser = await world.browser();
      return browser.visit(async (site) => {
        await site.page.goto(new URL('/account/owner', run.ownerSetupUrl).href);
        await site.signIn(credentials);
        await site.page.getByText('You are signed in').first().waitFor();
        return work(site);
      });
    },

    /**
     * Opens the installer as an owner, on this server instead of the address that the package names, agrees, and
     * answers where the browser was sent.
     * @param {string} installUrl
     * @returns {Promise<string>}
     */
    install(installUrl) {
      const { pathname, search } = new URL(installUrl);
      return world.ownerVisit(async (site) => {
        const arrival = site.page.waitForRequest((request) => request.url().startsWith(run.redirectUri));
        await site.page.goto(new URL(pathname + search, run.ownerSetupUrl).href);
        await site.page.getByRole('button', { name: 'Install' }).click();
        return (await arrival).url();
      });
    },

    /**
     * A client with the token that the server's own pages use for the owner.
     * @returns {Promise<ReturnType<typeof ownerClient>>}
     */
    owner: () => world.once('owner', async () => ownerClient(await ownerToken())),

    /**
     * A fresh collection, made by the key holder.
     * @param {Definition} [definition] members of the collection besides its id
     */
    async createCollection(definition = {}) {
      const _id = `c${randomBytes(6).toString('hex')}`;
      await app.collections.createDataCollection(
        // The type demands `permissions`, which a definition may leave out for `dataPermissions`.
        untyped({
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
        const found = messagesTo(run.dataDir, to);
        const newest = found.at(-1);
        if (newest && found.length >= count) return newest;
        if (Date.now() > until) throw new Error(`no message to ${to} in outbox/mail.jsonl within ${MAIL_LIMIT_MS} ms`);
        await new Promise((done) => setTimeout(done, 100));
      }
    },

    /**
     * Sets the sign-on policy for the time of `work`, then takes it back.
     * @template T @param {Parameters<typeof app.signOnPolicy.updateSignOnPolicy>[0]} policy @param {() => Promise<T>} work
     */
    async withPolicy(policy, work) {
      await app.signOnPolicy.updateSignOnPolicy(policy);
      try {
        return await work();
      } finally {
        await app.signOnPolicy.updateSignOnPolicy(
          // The type does not know the house's own member.
          untyped({
            requireOwnerApproval: false,
            requireEmailVerification: false,
            secondFactor: 'OFF',
            secondFactorByTelephone: false,
          }),
        );
      }
    },

    /** @returns {Promise<Browser>} */
    browser: () => (browser ??= openBrowser(run)),
    async close() {
      await (await browser)?.close();
    },
  };
  return world;

  /** The token that the server's own pages use for the owner. @returns {Promise<string>} */
  function ownerToken() {
    return world.ownerVisit(async (site) =>
      text(
        await site.page.evaluate(async () => (await fetch('/_api/account/v1/token', { method: 'POST' })).json()),
        'access_token',
      ),
    );
  }
}
