// Events: calls of the unmodified packages cause them, the server sends them to a receiver behind `express.text()`, and
// what the packages' handlers are called with is compared. One row for each event that the packages publish
// (lib/events.mjs).
import { isDeepStrictEqual } from 'node:util';
import * as sdk from '@wix/sdk';
import { publishedMethods } from '../lib/catalogue.mjs';
import { createApplication } from '../lib/application.mjs';
import { askForEndpoint } from '../lib/endpoint.mjs';
import { APP_EVENTS, EVENTS, isEvent, typeOf } from '../lib/events.mjs';
import { assert, identified, member, present } from '../lib/expect.mjs';
import { text } from '../lib/parse.mjs';
import { checkEvent, isDate, isText, kitOf } from './event-kit.mjs';
import { tellsOfRow, UNBUILT } from './events-unbuilt.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */
/** @import { Envelope, Expected, Kit } from './event-kit.mjs' */

/** A cause of an event; where the answer of a call doesn't have the entity's id, `fits` knows the event. */
/** @typedef {Expected & { fits?: (event: Envelope) => boolean }} Caused */

/** What the server does by itself, or a command. */
const BY_SERVER = { identityType: 'UNKNOWN' };
const AT = new Date('2024-03-05T06:07:08.009Z');

/** @type {Record<string, (kit: Kit) => Promise<Caused>>} */
const CAUSES = {
  'items.onDataItemCreated': async ({ world, me, collection, byMember }) => {
    // Names and dates inside of an item stay what they are, at every depth.
    const sent = { _id: world.id(), title: 'Made', at: AT, id: 'own', createdDate: 'own', in: { list: [AT], id: 1 } };
    const item = await me.items.insert(collection, sent);
    const entity = { _id: sent._id, dataCollectionId: collection, data: same({ ...item, ...sent }) };
    return { by: byMember, entityId: sent._id, entity };
  },
  'items.onDataItemUpdated': async ({ world, collection }) => {
    const { client, by } = await visitor(world);
    const made = await client.items.insert(collection, { _id: world.id(), title: 'Made', gone: 1, same: 2 });
    const item = await client.items.update(collection, { _id: made._id, title: 'New', at: AT, same: 2 });
    const entity = { _id: made._id, dataCollectionId: collection, data: same(item) };
    return { by, entityId: made._id, entity, modifiedFields: { title: 'New', at: AT, gone: null } };
  },
  'items.onDataItemDeleted': async ({ world, collection, byKey }) => {
    const { _id } = await world.app.items.insert(collection, { _id: world.id(), title: 'Made' });
    await world.app.items.remove(collection, _id);
    return { by: byKey, entityId: _id, entity: { _id, dataCollectionId: collection } };
  },
  'indexes.onIndexCreated': async (kit) => {
    const { _id, name } = await createIndex(kit);
    return { by: kit.byKey, entityId: _id, entity: { _id, name, fields: [{ path: 'title', order: 'ASC' }] } };
  },
  'indexes.onIndexUpdated': async (kit) => {
    const { _id, name } = await createIndex(kit);
    const fits = (/** @type {Envelope} */ event) => member(event.entity, 'status') === 'ACTIVE';
    return { by: BY_SERVER, entityId: _id, entity: { _id, name, status: 'ACTIVE' }, fits };
  },
  'indexes.onIndexDeleted': async (kit) => {
    const { _id, name, collection } = await createIndex(kit);
    const isBuilt = (/** @type {Envelope} */ event) =>
      event.metadata.entityId === _id && member(event.entity, 'status') === 'ACTIVE';
    await kit.event(typeOf('indexes.onIndexUpdated'), isBuilt);
    await kit.world.app.indexes.dropIndex(collection, name);
    return { by: BY_SERVER, entityId: _id, entity: { _id, name } };
  },
  'signOnPolicy.onSignOnPolicyUpdated': async ({ world, byKey }) => {
    const { siteId } = world.run;
    const fits = (/** @type {Envelope} */ event) => member(event.entity, 'requireOwnerApproval') === true;
    await world.withPolicy({ requireOwnerApproval: true }, async () => undefined);
    return { by: byKey, entityId: siteId, entity: { requireOwnerApproval: true }, fits };
  },
  'redirects.onRedirectSessionCreated': async ({ world }) => {
    const { client, by } = await visitor(world);
    const { redirectSession } = await client.redirects.createRedirectSession({ login: {} });
    const { _id } = identified(present(redirectSession));
    return { by, entityId: _id, entity: { _id } };
  },
  'members members.onMemberCreated': async ({ world, byKey }) => {
    const loginEmail = world.email();
    const { members } = world.membersApp;
    const { _id } = identified(await members.createMember({ member: { loginEmail, contact: { firstName: 'Ada' } } }));
    const shown = await members.getMember(_id, { fieldsets: ['FULL'] });
    const { status, privacyStatus } = shown;
    const entity = { _id, loginEmail, status, privacyStatus, contact: { firstName: 'Ada' }, createdDate: isDate };
    return { by: byKey, entityId: _id, entity: renamed(entity) };
  },
  'members members.onMemberUpdated': async ({ world, byKey, member: createMember }) => {
    const id = await createMember();
    await world.membersApp.members.updateMember(id, { profile: { nickname: 'Lovelace' } });
    return { by: byKey, entityId: id, entity: { _id: id, profile: { nickname: 'Lovelace' } } };
  },
  'members members.onMemberDeleted': async ({ world, byKey, member: createMember }) => {
    const id = await createMember();
    await world.membersApp.members.deleteMember(id);
    return { by: byKey, entityId: id };
  },
  'members badges.onBadgeAssigned': async (kit) => {
    const id = await assign(kit);
    return { by: kit.byKey, entityId: id, data: { memberId: kit.memberId } };
  },
  'members badges.onBadgeUnassigned': async (kit) => {
    const id = await assign(kit);
    await kit.world.membersApp.badges.unassignBadge(id, [kit.memberId]);
    return { by: kit.byKey, entityId: id, data: { memberId: kit.memberId } };
  },
  'members badgesV2.onBadgeCreated': async (kit) => {
    const { _id, title } = await createBadge(kit);
    return { by: kit.byKey, entityId: _id, entity: { _id, title, _createdDate: isDate, _updatedDate: isDate } };
  },
  'members badgesV2.onBadgeUpdated': async (kit) => {
    const { _id, revision } = await createBadge(kit);
    await kit.world.membersApp.badgesV2.updateBadge(_id, { title: 'Silver', revision: present(revision) });
    return { by: kit.byKey, entityId: _id, entity: { _id, title: 'Silver', revision: '2' } };
  },
  'members badgesV2.onBadgeDeleted': async (kit) => {
    const { _id } = await createBadge(kit);
    await kit.world.membersApp.badgesV2.deleteBadge(_id);
    return { by: kit.byKey, entityId: _id };
  },
  'members badgeAssignments.onBadgeAssignmentCreated': async (kit) => {
    const { _id, badgeId } = await createAssignment(kit);
    const entity = { _id, badgeId, memberId: kit.memberId, _createdDate: isDate };
    return { by: kit.byKey, entityId: _id, entity };
  },
  'members badgeAssignments.onBadgeAssignmentDeleted': async (kit) => {
    const { _id, badgeId } = await createAssignment(kit);
    await kit.world.membersApp.badgeAssignments.deleteBadgeAssignment(_id);
    return { by: kit.byKey, entityId: _id, entity: { _id, badgeId, memberId: kit.memberId } };
  },
  'members memberFollowers.onFollowMemberFollowed': async (kit) => {
    const other = await follow(kit);
    return { by: kit.byMember, ...connection(kit, other) };
  },
  'members memberFollowers.onFollowMemberUnfollowed': async (kit) => {
    const other = await follow(kit);
    await kit.meAsMember.memberFollowers.unfollowMember(other);
    return { by: kit.byMember, ...connection(kit, other) };
  },
  'members memberReport.onMemberReportCreated': async (kit) => {
    const { reported, reportId } = await report(kit);
    const entity = {
      _id: reportId,
      reportedMemberId: reported,
      reportingMemberId: kit.memberId,
      reason: { category: 'SPAM' },
      _createdDate: isDate,
    };
    return { by: kit.byMember, entityId: reportId, entity };
  },
  'members memberReport.onMemberReportDeleted': async (kit) => {
    const { reported, reportId } = await report(kit);
    await kit.world.membersApp.memberReport.deleteMemberReports(reported);
    const entity = { _id: reportId, reportedMemberId: reported, reportingMemberId: kit.memberId };
    return { by: kit.byKey, entityId: reportId, entity };
  },
  'members memberReport.onMemberReportReportedMemberCreated': async (kit) => {
    const { reported } = await report(kit);
    const shown = { reportedMemberId: reported, reportCount: '1', reviewed: false, lastReportDate: isDate };
    return { by: kit.byMember, entityId: reported, data: { reportedMember: shown } };
  },
  'members memberReport.onMemberReportReportedMemberDeleted': async (kit) => {
    const { reported } = await report(kit);
    await kit.world.membersApp.memberReport.deleteMemberReports(reported);
    return { by: kit.byKey, entityId: reported, data: { reportedMemberId: reported } };
  },
  'members membersAbout.onMemberAboutCreated': async (kit) => {
    const { _id, author } = await createAbout(kit);
    return { by: author.by, entityId: _id, entity: { _id, memberId: author.id } };
  },
  'members membersAbout.onMemberAboutUpdated': async (kit) => {
    const { _id, revision, author } = await createAbout(kit);
    const { membersAbout } = author.client;
    const nodes = [{ type: /** @type {const} */ ('PARAGRAPH'), _id: 'p', nodes: [] }];
    await membersAbout.updateMemberAbout(_id, { content: { nodes }, revision: present(revision) });
    const entity = { _id, memberId: author.id, content: { nodes: (/** @type {unknown[]} */ it) => it.length === 1 } };
    return { by: author.by, entityId: _id, entity };
  },
  'members membersAbout.onMemberAboutDeleted': async (kit) => {
    const { _id, author } = await createAbout(kit);
    await author.client.membersAbout.deleteMemberAbout(_id);
    return { by: author.by, entityId: _id };
  },
};

/** Applications of the client itself. @type {Record<string, (kit: Kit) => Promise<Caused>>} */
const APP_CAUSES = {
  AppInstalled: async (kit) => {
    const { id } = await installed(kit);
    const by = { identityType: 'WIX_USER', wixUserId: isText };
    return { by, data: { appId: id, originInstanceId: '' }, fits: ({ data }) => member(data, 'appId') === id };
  },
  AppRemoved: async (kit) => {
    const { id, revoke } = await installed(kit);
    await revoke();
    return { by: BY_SERVER, data: { appId: id }, fits: ({ data }) => member(data, 'appId') === id };
  },
};

/** Causes an event and compares what its handler was called with. @param {World} world @param {string} type @param {(kit: Kit) => Promise<Caused>} cause */
async function arrives(world, type, cause) {
  const kit = await kitOf(world);
  const since = Date.now();
  const { fits = () => true, ...expected } = await cause(kit);
  const isMeant = (/** @type {Envelope} */ event) =>
    (expected.entityId === undefined || event.metadata.entityId === expected.entityId) && fits(event);
  const event = await kit.event(type, isMeant);
  checkEvent(kit, type, event, expected, since);
  return kit;
}

/** An endpoint for this type is refused, and the answer says why. @param {World} world @param {string} type */
async function refusalOf(world, type) {
  const { app, receiver } = await kitOf(world);
  const { status, answer } = await askForEndpoint(world, { appId: app.id, url: receiver.url, types: [type] });
  assert.equal(status, 400, JSON.stringify(answer));
  const violations = member(member(member(answer, 'details'), 'validationError'), 'fieldViolations');
  const said = /** @type {unknown[]} */ (violations).map((it) => text(it, 'description')).join('; ');
  assert.ok(said.includes(type) && said.includes('not built'), said);
  return said;
}

/** Matches a value that is equal in all its parts. @param {unknown} value */
const same = (value) => (/** @type {unknown} */ it) => isDeepStrictEqual(it, value);

/** A visitor, and who that is. @param {World} world */
async function visitor(world) {
  const client = world.visitor();
  const tokens = await client.auth.generateVisitorTokens();
  client.auth.setTokens(tokens);
  const { secretClientId: appId, clientSecret: appSecret } = world.run;
  const auth = sdk.AppStrategy({ appId, appSecret, accessToken: tokens.accessToken.value });
  const { subjectId } = await auth.getTokenInfo();
  return { client, by: { identityType: 'ANONYMOUS_VISITOR', anonymousVisitorId: subjectId } };
}

/** @param {Kit} kit */
async function createIndex({ world }) {
  const [collection, name] = [await world.createCollection(), `by-${world.id()}`];
  const made = await world.app.indexes.createIndex(collection, { name, fields: [{ path: 'title', order: 'ASC' }] });
  return { ...identified(made), name, collection };
}

/** @param {Kit} kit */
async function createBadge({ world }) {
  const badge = { title: `Gold ${world.id()}`, backgroundColor: '#ffffff', textColor: '#000000' };
  return identified(await world.membersApp.badgesV2.createBadge(badge));
}

/** @param {Kit} kit */
async function assign(kit) {
  const { _id } = await createBadge(kit);
  await kit.world.membersApp.badges.assignBadge(_id, [kit.memberId]);
  return _id;
}

/** @param {Kit} kit */
async function createAssignment(kit) {
  const { _id } = await createBadge(kit);
  const { badgeAssignments } = kit.world.membersApp;
  return identified(await badgeAssignments.createBadgeAssignment({ badgeId: _id, memberId: kit.memberId }));
}

/** @param {Kit} kit */
async function follow(kit) {
  const other = await kit.member();
  await kit.world.membersApp.members.updateMember(other, { privacyStatus: 'PUBLIC' });
  await kit.meAsMember.memberFollowers.followMember(other);
  return other;
}

/** @param {Kit} kit @param {string} other */
function connection({ memberId }, other) {
  const data = { memberConnection: { memberId, affectedMemberId: other } };
  const fits = (/** @type {Envelope} */ event) =>
    member(member(event.data, 'memberConnection'), 'affectedMemberId') === other;
  return { data, fits };
}

/** @param {Kit} kit */
async function report(kit) {
  const reported = await kit.member();
  const reason = { category: /** @type {const} */ ('SPAM'), description: 'Every day' };
  const { memberReport } = await kit.meAsMember.memberReport.reportMember({ reportedMemberId: reported, reason });
  return { reported, reportId: present(memberReport?._id) };
}

/** The text of a member who had none. @param {Kit} kit */
async function createAbout({ world }) {
  const { id, client } = await world.createMember();
  const { auth } = world.visitor(client.auth.getTokens());
  const author = { id, client: world.membersClient(auth), by: { identityType: 'MEMBER', memberId: id } };
  return { ...identified(await author.client.membersAbout.createMemberAbout({ content: { nodes: [] } })), author };
}

/** An application that the owner has let in. @param {Kit} kit */
async function installed({ world }) {
  const app = await createApplication(world, '--redirect-uri', world.run.redirectUri, '--origin', world.run.origin);
  const auth = sdk.AppStrategy({ appId: app.id, appSecret: app.secret });
  const callback = await world.install(auth.getInstallUrl({ redirectUrl: world.run.redirectUri }));
  assert.equal((await auth.handleOAuthCallback(callback)).instanceId, world.run.siteId);
  return app;
}

/** Members have their dates under the names that the client gives them. @param {object} entity */
function renamed(entity) {
  const { createdDate, ...rest } = /** @type {Record<string, unknown>} */ (entity);
  return { ...rest, _createdDate: createdDate };
}

/** @type {Row[]} */
const published = EVENTS.map(({ method, type, sender }) => {
  if (sender === 'server')
    return {
      method,
      check: 'the handler gets what a call did',
      required: true,
      run: async (world) => void (await arrives(world, type, CAUSES[method])),
    };
  if (sender === 'test')
    return {
      method,
      check: 'is refused by name, and the handler gets what a row of the log tells',
      required: true,
      sentByTest: true,
      async run(world) {
        await refusalOf(world, type);
        await tellsOfRow(await kitOf(world), type, UNBUILT[type]);
      },
    };
  return {
    method,
    check: 'is refused by name',
    required: true,
    refused: true,
    run: (world) => refusalOf(world, type),
  };
});

/** @type {Row[]} */
const ofApplications = Object.entries(APP_EVENTS).map(([name, type]) => ({
  method: `webhooks.apps.${name}`,
  check: 'the handler gets what an owner did',
  required: true,
  run: async (world) => void (await arrives(world, type, APP_CAUSES[name])),
}));

/** @type {Row} */
const complete = {
  method: 'client.webhooks',
  check: 'every event that the packages publish has a row, under its type',
  required: true,
  async run(world) {
    assert.deepEqual(EVENTS.map(({ method }) => method).sort(), publishedMethods().filter(isEvent));
    const { client } = await kitOf(world);
    const registered = [...client.webhooks.getRegisteredEvents().keys()];
    assert.deepEqual(registered.sort(), [...EVENTS.map(({ type }) => type), ...Object.values(APP_EVENTS)].sort());
  },
};

export const rows = [complete, ...published, ...ofApplications];
