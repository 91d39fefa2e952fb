// The members package: each method with things that are really there, and a look at what came of it.
import { assert, identified, present, untyped } from '../lib/expect.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/**
 * What a row works with: `app` holds the site's key, `me` is a signed-in member of its own.
 * @typedef {object} Kit
 * @property {World['membersApp']} app
 * @property {ReturnType<World['membersClient']>} me
 * @property {string} id        the member who is `me`
 * @property {() => Promise<string>} member  makes another member
 * @property {() => string} unique  a text that was not used before
 * @property {World} world
 */

/** @type {Record<string, Record<string, (kit: Kit) => Promise<unknown>>>} */
const CALLS = {
  members: {
    createMember: async ({ app, unique }) => {
      const email = `made-${unique()}@example.com`;
      const made = await app.members.createMember({
        member: { loginEmail: email, contact: { firstName: 'Ada', phones: ['1'] }, profile: { nickname: 'ada' } },
      });
      assert.equal(made.loginEmail, email);
    },
    getMember: async ({ app, id }) => assert.equal((await app.members.getMember(id, { fieldsets: ['FULL'] }))._id, id),
    getCurrentMember: async ({ me, id }) =>
      assert.equal((await me.members.getCurrentMember({ fieldsets: ['FULL'] })).member?._id, id),
    listMembers: async ({ app, member }) => {
      await member();
      const { members, metadata } = await app.members.listMembers({ paging: { limit: 1 }, fieldsets: ['FULL'] });
      assert.equal(members?.length, 1);
      assert.ok(members?.[0].loginEmail && Number(metadata?.total) >= 1);
    },
    queryMembers: async ({ app, id }) => {
      const found = await app.members
        .queryMembers({ fieldsets: ['FULL'] })
        .eq('_id', id)
        .find();
      assert.deepEqual(
        found.items.map(({ _id }) => _id),
        [id],
      );
    },
    updateMember: async ({ app, member }) => {
      const changed = await app.members.updateMember(await member(), {
        profile: { nickname: 'Nick' },
        contact: { customFields: { a: { value: 1 } } },
      });
      assert.equal(changed.profile?.nickname, 'Nick');
      assert.equal(changed.contact?.customFields?.a.value, 1);
    },
    updateMemberSlug: async ({ app, member, unique }) => {
      const slug = `slug-${unique()}`;
      assert.equal((await app.members.updateMemberSlug(await member(), slug)).member?.profile?.slug, slug);
    },
    updateCurrentMemberSlug: async ({ me, unique }) => {
      const slug = `own-${unique()}`;
      assert.equal((await me.members.updateCurrentMemberSlug(slug)).member?.profile?.slug, slug);
    },
    joinCommunity: async ({ me }) => assert.equal((await me.members.joinCommunity()).member?.privacyStatus, 'PUBLIC'),
    leaveCommunity: async ({ me }) =>
      assert.equal((await me.members.leaveCommunity()).member?.privacyStatus, 'PRIVATE'),
    muteMember: async ({ app, member }) =>
      assert.equal((await app.members.muteMember(await member())).member?.activityStatus, 'MUTED'),
    unmuteMember: async ({ app, member }) =>
      assert.equal((await app.members.unmuteMember(await member())).member?.activityStatus, 'ACTIVE'),
    approveMember: async ({ app, member }) => {
      const id = await member();
      await app.members.blockMember(id);
      assert.equal((await app.members.approveMember(id)).member?.status, 'APPROVED');
    },
    blockMember: async ({ app, member }) =>
      assert.equal((await app.members.blockMember(await member())).member?.status, 'BLOCKED'),
    disconnectMember: async ({ app, member }) =>
      assert.equal((await app.members.disconnectMember(await member())).member?.status, 'OFFLINE'),
    deleteMember: async ({ app, member }) => {
      const id = await member();
      await app.members.deleteMember(id);
      await assert.rejects(app.members.getMember(id));
    },
    deleteMyMember: async ({ world, app }) => {
      const { id, client } = await world.createMember();
      const { auth } = world.visitor(client.auth.getTokens());
      await world.membersClient(auth).members.deleteMyMember();
      await assert.rejects(app.members.getMember(id));
    },
    bulkDeleteMembers: async ({ app, member, unique }) => {
      const { results, bulkActionMetadata } = await app.members.bulkDeleteMembers([await member(), unique()]);
      assert.deepEqual(
        results?.map(({ itemMetadata }) => itemMetadata?.success),
        [true, false],
      );
      assert.equal(bulkActionMetadata?.totalSuccesses, 1);
    },
    bulkDeleteMembersByFilter: async ({ app, member }) => {
      const id = await member();
      assert.ok((await app.members.bulkDeleteMembersByFilter({ id })).jobId);
      await assert.rejects(app.members.getMember(id));
    },
    bulkApproveMembers: async ({ app, member }) => {
      const id = await member();
      await app.members.blockMember(id);
      assert.ok((await app.members.bulkApproveMembers({ id })).jobId);
      assert.equal((await app.members.getMember(id, { fieldsets: ['FULL'] })).status, 'APPROVED');
    },
    bulkBlockMembers: async ({ app, member }) => {
      const id = await member();
      assert.ok((await app.members.bulkBlockMembers({ id })).jobId);
      assert.equal((await app.members.getMember(id, { fieldsets: ['FULL'] })).status, 'BLOCKED');
    },
    deleteMemberPhones: async (kit) => checkCleared(kit, 'deleteMemberPhones', 'phones', ['1']),
    deleteMemberEmails: async (kit) => checkCleared(kit, 'deleteMemberEmails', 'emails', ['other@example.com']),
    deleteMemberAddresses: async (kit) =>
      checkCleared(kit, 'deleteMemberAddresses', 'addresses', [{ city: 'Ulm', addressLine: 'Platz 1' }]),
  },
  authentication: {
    register: async ({ app, unique }) => {
      const email = `reg-${unique()}@example.com`;
      const { session, member } = await app.authentication.register(email, `pass-${unique()}`, {
        contactInfo: { firstName: 'Ada' },
      });
      assert.ok(session?.token);
      assert.equal(member?.firstName, 'Ada');
    },
    login: async ({ app, unique }) => {
      const [email, password] = [`log-${unique()}@example.com`, `pass-${unique()}`];
      await app.authentication.register(email, password);
      assert.equal((await app.authentication.login(email, password)).member?.loginEmail, email);
      await assert.rejects(app.authentication.login(email, 'wrong-password'));
    },
    sendSetPasswordEmail: async ({ app, world, unique }) => {
      const email = `set-${unique()}@example.com`;
      await app.members.createMember({ member: { loginEmail: email } });
      assert.equal((await app.authentication.sendSetPasswordEmail(email)).accepted, true);
      await world.mail(email);
    },
    changeLoginEmail: async ({ app, member, unique }) => {
      const email = `new-${unique()}@example.com`;
      assert.equal((await app.authentication.changeLoginEmail(await member(), email)).member?.loginEmail, email);
    },
    approve: async ({ app, member }) => {
      const id = await member();
      await app.authentication.block({ _id: id });
      await app.authentication.approve({ _id: id });
      assert.equal((await app.members.getMember(id, { fieldsets: ['FULL'] })).status, 'APPROVED');
    },
    block: async ({ app, member }) => {
      const id = await member();
      await app.authentication.block({ _id: id });
      assert.equal((await app.members.getMember(id, { fieldsets: ['FULL'] })).status, 'BLOCKED');
    },
  },
  authorization: {
    assignRole: async (kit) => {
      const key = await createRole(kit);
      assert.equal((await kit.app.authorization.assignRole(kit.id, key)).roleKey, key);
    },
    unassignRole: async (kit) => {
      const key = await createRole(kit);
      await kit.app.authorization.assignRole(kit.id, key);
      await kit.app.authorization.unassignRole(kit.id, key);
      const { roles } = await kit.app.authorization.getRoles(kit.id);
      assert.ok(!present(roles).some(({ roleKey }) => roleKey === key));
    },
    getRoles: async (kit) => {
      const key = await createRole(kit);
      await kit.app.authorization.assignRole(kit.id, key);
      const { roles } = await kit.me.authorization.getRoles(kit.id);
      assert.deepEqual(
        roles?.find(({ roleKey }) => roleKey === key),
        { roleKey: key, title: 'Role' },
      );
    },
    queryRoles: async (kit) => {
      const key = await createRole(kit);
      const member = await kit.member();
      await kit.app.authorization.assignRole(member, key);
      const { rolesByMemberId } = await kit.app.authorization.queryRoles({
        query: { filter: { memberId: { $in: [member] } } },
      });
      assert.equal(rolesByMemberId?.[member].roles?.[0].roleKey, key);
    },
  },
  memberRoleDefinition: {
    createMemberRoleDefinition: createRole,
    listMemberRoleDefinitions: async (kit) => {
      const key = await createRole(kit);
      const { roles } = await kit.app.memberRoleDefinition.listMemberRoleDefinitions();
      assert.ok(roles?.some(({ roleKey }) => roleKey === key));
    },
    getMemberRoleDefinition: async (kit) => {
      const key = await createRole(kit);
      const found = await kit.app.memberRoleDefinition.getMemberRoleDefinition(key);
      assert.equal(found.role?.title, 'Role');
    },
    updateMemberRoleDefinition: async (kit) => {
      const key = await createRole(kit);
      const changed = await kit.app.memberRoleDefinition.updateMemberRoleDefinition(key, {
        blockable: true,
        revision: '1',
      });
      assert.equal(changed.role?.blockable, true);
      await assert.rejects(
        kit.app.memberRoleDefinition.updateMemberRoleDefinition(key, { blockable: true, revision: '1' }),
      );
    },
    deleteMemberRoleDefinition: async (kit) => {
      const key = await createRole(kit);
      await kit.app.memberRoleDefinition.deleteMemberRoleDefinition(key);
      await assert.rejects(kit.app.memberRoleDefinition.getMemberRoleDefinition(key));
    },
  },
  badges: {
    createBadge,
    updateBadge: async (kit) =>
      assert.equal((await kit.app.badges.updateBadge(await createBadge(kit), { title: 'Other' })).title, 'Other'),
    listBadges: async (kit) => {
      const id = await createBadge(kit);
      assert.ok((await kit.app.badges.listBadges({ paging: { limit: 100 } })).badges?.some(({ _id }) => _id === id));
    },
    getBadge: async (kit) => {
      const id = await createBadge(kit);
      const found = await kit.app.badges.getBadge(id);
      assert.equal(found._id, id);
    },
    deleteBadge: async (kit) => {
      const id = await createBadge(kit);
      await kit.app.badges.deleteBadge(id);
      await assert.rejects(kit.app.badges.getBadge(id));
    },
    assignBadge: async (kit) =>
      assert.deepEqual((await kit.app.badges.assignBadge(await createBadge(kit), [kit.id])).memberIds, [kit.id]),
    unassignBadge: async (kit) => {
      const id = await createBadge(kit);
      await kit.app.badges.assignBadge(id, [kit.id]);
      await kit.app.badges.unassignBadge(id, [kit.id]);
      assert.deepEqual((await kit.app.badges.listMembersByBadge(id)).memberIds, []);
    },
    listMembersByBadge: async (kit) => {
      const id = await createBadge(kit);
      await kit.app.badges.assignBadge(id, [kit.id]);
      assert.deepEqual((await kit.app.badges.listMembersByBadge(id)).memberIds, [kit.id]);
    },
    listBadgesPerMember: async (kit) => {
      const id = await createBadge(kit);
      await kit.app.badges.assignBadge(id, [kit.id]);
      const { memberBadgeIds } = await kit.app.badges.listBadgesPerMember([kit.id]);
      assert.ok(memberBadgeIds?.[0].badgeIds?.includes(id));
    },
    getMemberCountsPerBadge: async (kit) => {
      const id = await createBadge(kit);
      await kit.app.badges.assignBadge(id, [kit.id]);
      const { badgeMemberCounts } = await kit.app.badges.getMemberCountsPerBadge();
      assert.equal(badgeMemberCounts?.find(({ badgeId }) => badgeId === id)?.memberCount, 1);
    },
    updateBadgesDisplayOrder: async (kit) => {
      const id = await createBadge(kit);
      assert.equal((await kit.app.badges.updateBadgesDisplayOrder([id])).badges?.[0]._id, id);
    },
  },
  badgesV2: {
    createBadge: createBadgeV2,
    getBadge: async (kit) => {
      const { _id } = identified(await kit.app.badgesV2.createBadge({ ...BADGE, icon: ICON }));
      const found = await kit.app.badgesV2.getBadge(_id);
      assert.deepEqual([found.title, found.icon], ['Badge', ICON]);
      assert.equal((await kit.app.badges.getBadge(_id)).icon, ICON);
    },
    queryBadges: async (kit) => {
      const id = await createBadgeV2(kit);
      const found = await kit.app.badgesV2.queryBadges().eq('_id', id).limit(100).find();
      assert.ok(found.items.every(({ _id }) => _id === id));
    },
    updateBadge: async (kit) =>
      assert.equal(
        (await kit.app.badgesV2.updateBadge(await createBadgeV2(kit), { title: 'Other', revision: '1' })).revision,
        '2',
      ),
    deleteBadge: async (kit) => {
      const id = await createBadgeV2(kit);
      await kit.app.badgesV2.deleteBadge(id);
      await assert.rejects(kit.app.badgesV2.getBadge(id));
    },
    updateBadgesDisplayOrder: async (kit) => {
      const id = await createBadgeV2(kit);
      assert.equal((await kit.app.badgesV2.updateBadgesDisplayOrder([id])).badges?.[0]._id, id);
    },
    moveBadge: async (kit) => {
      const id = await createBadgeV2(kit);
      await kit.app.badgesV2.moveBadge(id, { position: 'FIRST' });
      assert.equal((await kit.app.badges.listBadges()).badges?.[0]._id, id);
    },
  },
  badgeAssignments: {
    createBadgeAssignment: assignBadge,
    bulkCreateBadgeAssignments: async (kit) => {
      const made = await kit.app.badgeAssignments.bulkCreateBadgeAssignments([
        { badgeId: await createBadgeV2(kit), memberId: kit.id },
      ]);
      assert.equal(made.bulkActionMetadata?.totalSuccesses, 1);
    },
    queryBadgeAssignments: async (kit) => {
      const made = await assignBadge(kit);
      const found = await kit.app.badgeAssignments.queryBadgeAssignments().eq('badgeId', made.badgeId).find();
      assert.deepEqual(
        found.items.map(({ _id }) => _id),
        [made._id],
      );
    },
    deleteBadgeAssignment: async (kit) => {
      const made = await assignBadge(kit);
      await kit.app.badgeAssignments.deleteBadgeAssignment(made._id);
      await assert.rejects(kit.app.badgeAssignments.deleteBadgeAssignment(made._id));
    },
    bulkDeleteBadgeAssignments: async (kit) => {
      const gone = await kit.app.badgeAssignments.bulkDeleteBadgeAssignments([(await assignBadge(kit))._id]);
      assert.equal(gone.bulkActionMetadata?.totalSuccesses, 1);
    },
    bulkUpdateBadgeAssignmentTags: async (kit) => {
      const { _id, badgeId } = await assignBadge(kit);
      const tagId = kit.unique();
      await kit.app.badgeAssignments.bulkUpdateBadgeAssignmentTags([_id], {
        assignTags: { tags: { tagIds: [tagId] } },
      });
      const found = await kit.app.badgeAssignments.queryBadgeAssignments().eq('badgeId', badgeId).find();
      assert.deepEqual(found.items[0].tags?.tags?.tagIds, [tagId]);
    },
    bulkUpdateBadgeAssignmentTagsByFilter: async (kit) => {
      const { badgeId } = await assignBadge(kit);
      const answer = await kit.app.badgeAssignments.bulkUpdateBadgeAssignmentTagsByFilter(
        { badgeId },
        { assignTags: { tags: { tagIds: [kit.unique()] } } },
      );
      assert.ok(answer.jobId);
    },
  },
  customFields: {
    createCustomField: createField,
    getCustomField: async (kit) => {
      const { _id } = await createField(kit);
      const found = await kit.app.customFields.getCustomField(_id);
      assert.equal(found.field?._id, _id);
    },
    listCustomFields: async (kit) => {
      const { _id } = await createField(kit);
      assert.ok(
        (await kit.app.customFields.listCustomFields({ paging: { limit: 100 } })).fields?.some(
          (found) => found._id === _id,
        ),
      );
    },
    updateCustomField: async (kit) =>
      assert.equal(
        (await kit.app.customFields.updateCustomField((await createField(kit))._id, { name: 'Other', revision: '1' }))
          .name,
        'Other',
      ),
    deleteCustomField: async (kit) => kit.app.customFields.deleteCustomField((await createField(kit))._id, '1'),
    hideCustomField: async (kit) => kit.app.customFields.hideCustomField((await createField(kit))._id, '1'),
    updateCustomFieldsOrder: async (kit) => {
      const { _id } = await createField(kit);
      assert.equal((await kit.app.customFields.updateCustomFieldsOrder([_id])).fields?.[0]._id, _id);
    },
  },
  customFieldApplications: {
    createCustomFieldApplication: createApplication,
    deleteCustomFieldApplication: async (kit) => {
      const id = await createApplication(kit);
      await kit.app.customFieldApplications.deleteCustomFieldApplication(id);
      await assert.rejects(kit.app.customFieldApplications.getCustomFieldApplication(id));
    },
    updateCustomFieldApplication: async (kit) =>
      kit.app.customFieldApplications.updateCustomFieldApplication(await createApplication(kit), {
        revision: '1',
        exclusions: { items: [] },
      }),
    getCustomFieldApplication: async (kit) => {
      const { application: found } = await kit.app.customFieldApplications.getCustomFieldApplication(
        await createApplication(kit),
      );
      assert.equal(found?.applications?.items?.[0].entityId, kit.id);
    },
    getCustomFieldApplications: async (kit) =>
      assert.equal(
        (await kit.app.customFieldApplications.getCustomFieldApplications([await createApplication(kit)])).applications
          ?.length,
        1,
      ),
    getMembersCustomFieldApplications: async (kit) => {
      await createApplication(kit);
      const { results } = await kit.app.customFieldApplications.getMembersCustomFieldApplications([kit.id]);
      assert.ok(results?.[0].applications?.some(({ applies }) => applies));
    },
    getRolesCustomFieldApplications: async (kit) =>
      assert.equal(
        (await kit.app.customFieldApplications.getRolesCustomFieldApplications([await createRole(kit)])).results
          ?.length,
        1,
      ),
  },
  customFieldSuggestions: {
    listCustomFieldSuggestions: async ({ app }) =>
      assert.ok((await app.customFieldSuggestions.listCustomFieldSuggestions()).suggestions?.length),
    queryCustomFieldSuggestions: async ({ app }) => {
      const found = await app.customFieldSuggestions.queryCustomFieldSuggestions().eq('fieldType', 'SOCIAL').find();
      assert.ok(found.items.length > 0 && found.items.every(({ fieldType }) => fieldType === 'SOCIAL'));
    },
  },
  defaultPrivacy: {
    getDefaultPrivacyStatus: async ({ app }) =>
      assert.equal((await app.defaultPrivacy.getDefaultPrivacyStatus()).defaultPrivacy?.defaultPrivacy, 'PRIVATE'),
    setDefaultPrivacyStatus: async ({ app }) => {
      const revision = present((await app.defaultPrivacy.getDefaultPrivacyStatus()).defaultPrivacy?.revision);
      const { defaultPrivacy: set } = await app.defaultPrivacy.setDefaultPrivacyStatus({
        defaultPrivacy: 'PUBLIC',
        revision,
      });
      assert.equal(set?.defaultPrivacy, 'PUBLIC');
      await assert.rejects(app.defaultPrivacy.setDefaultPrivacyStatus({ defaultPrivacy: 'PRIVATE', revision }));
      await app.defaultPrivacy.setDefaultPrivacyStatus({
        defaultPrivacy: 'PRIVATE',
        revision: present(set?.revision),
      });
    },
  },
  memberPrivacySettings: {
    getMemberPrivacySettings: async ({ app }) =>
      assert.ok(
        (await app.memberPrivacySettings.getMemberPrivacySettings()).memberPrivacySettings?.publicMemberVisibility,
      ),
    setMemberPrivacySettings: async ({ app }) => {
      const { memberPrivacySettings: now } = await app.memberPrivacySettings.getMemberPrivacySettings();
      const set = await app.memberPrivacySettings.setMemberPrivacySettings({
        revision: present(now?.revision),
        publicMemberVisibility: 'VISIBLE_TO_ALL',
      });
      assert.equal(set.memberPrivacySettings?.publicMemberVisibility, 'VISIBLE_TO_ALL');
    },
  },
  memberFollowers: {
    followMember,
    unfollowMember: async (kit) => {
      const other = await followMember(kit);
      await kit.me.memberFollowers.unfollowMember(other);
      assert.ok(!(await kit.me.memberFollowers.listCurrentMemberFollowing()).memberIds.includes(other));
    },
    listCurrentMemberFollowing: async (kit) => {
      const other = await followMember(kit);
      assert.ok((await kit.me.memberFollowers.listCurrentMemberFollowing()).memberIds.includes(other));
    },
    listMemberFollowing: async (kit) =>
      assert.ok(Array.isArray((await kit.me.memberFollowers.listMemberFollowing(await followMember(kit))).memberIds)),
    listCurrentMemberFollowers: async ({ me }) =>
      assert.deepEqual((await me.memberFollowers.listCurrentMemberFollowers()).memberIds, []),
    listMemberFollowers: async (kit) =>
      assert.deepEqual((await kit.me.memberFollowers.listMemberFollowers(await followMember(kit))).memberIds, [kit.id]),
    queryCurrentMemberConnections: async (kit) => {
      const other = await followMember(kit);
      const { connectedMembers } = await kit.me.memberFollowers.queryCurrentMemberConnections([other]);
      assert.deepEqual(connectedMembers, [
        { connectedMemberId: other, followedByMember: true, followingMember: false },
      ]);
    },
    queryMemberConnections: async (kit) => {
      const other = await followMember(kit);
      const { connectedMembers } = await kit.me.memberFollowers.queryMemberConnections(kit.id, [other]);
      assert.equal(connectedMembers?.[0].followedByMember, true);
    },
  },
  memberReport: {
    reportMember,
    queryMemberReports: async (kit) => {
      const other = await reportMember(kit);
      const found = await kit.app.memberReport.queryMemberReports().eq('reportedMemberId', other).find();
      assert.deepEqual(
        found.items.map((report) => report.reportingMemberId),
        [kit.id],
      );
    },
    listReportedMembers: async (kit) => {
      const other = await reportMember(kit);
      const { reportedMembers } = await kit.app.memberReport.listReportedMembers(untyped({ paging: { limit: 100 } }));
      assert.ok(reportedMembers?.some(({ reportedMemberId }) => reportedMemberId === other));
    },
    queryReportedMembers: async ({ app }) =>
      assert.ok(Array.isArray((await app.memberReport.queryReportedMembers()).reportedMembers)),
    deleteMemberReports: async (kit) => kit.app.memberReport.deleteMemberReports(await reportMember(kit)),
  },
  memberToMemberBlock: {
    blockMember,
    unblockMember: async (kit) => kit.me.memberToMemberBlock.unblockMember(await blockMember(kit)),
    listCurrentMemberBlocking: async (kit) => {
      const other = await blockMember(kit);
      assert.ok(
        (
          await kit.me.memberToMemberBlock.listCurrentMemberBlocking({ cursorPaging: { limit: 100 } })
        ).blockedMemberIds?.includes(other),
      );
    },
    listMemberBlocks: async (kit) => {
      const other = await blockMember(kit);
      const { memberBlocks } = await kit.me.memberToMemberBlock.listMemberBlocks(kit.id);
      assert.ok(memberBlocks?.some((block) => block.memberId === other && block.blockDirection === 'BLOCKING'));
    },
  },
  membersAbout: {
    createMemberAbout: createAbout,
    updateMemberAbout: async (kit) => {
      const { _id, revision } = await createAbout(kit);
      const changed = await kit.me.membersAbout.updateMemberAbout(_id, { content: { nodes: [] }, revision });
      assert.ok(Number(changed.revision) > Number(revision));
    },
    deleteMemberAbout: async (kit) => kit.me.membersAbout.deleteMemberAbout((await createAbout(kit))._id),
    getMemberAbout: async (kit) => {
      const { _id } = await createAbout(kit);
      const found = await kit.me.membersAbout.getMemberAbout(_id);
      assert.equal(found.memberId, kit.id);
    },
    getMyMemberAbout: async (kit) => {
      await createAbout(kit);
      assert.equal((await kit.me.membersAbout.getMyMemberAbout()).memberAbout?.memberId, kit.id);
    },
    queryMemberAbouts: async (kit) => {
      await createAbout(kit);
      assert.equal((await kit.me.membersAbout.queryMemberAbouts().eq('memberId', kit.id).find()).items.length, 1);
    },
  },
  userMember: {
    queryUserMembers: async ({ app, id }) => {
      const found = await app.userMember.queryUserMembers().eq('userId', id).find();
      assert.deepEqual(
        found.items.map(({ memberId }) => memberId),
        [id],
      );
    },
  },
};

/**
 * @param {Kit} kit
 * @param {'deleteMemberPhones' | 'deleteMemberEmails' | 'deleteMemberAddresses'} call
 * @param {'phones' | 'emails' | 'addresses'} list
 * @param {unknown[]} value
 */
async function checkCleared({ app, member }, call, list, value) {
  const id = await member();
  await app.members.updateMember(id, { contact: { [list]: value } });
  const before = present((await app.members.getMember(id, { fieldsets: ['FULL'] })).contact?.[list]);
  assert.equal(before.length, 1);
  await app.members[call](id);
  const after = (await app.members.getMember(id, { fieldsets: ['FULL'] })).contact?.[list] ?? [];
  assert.ok(!after.map((value) => JSON.stringify(value)).includes(JSON.stringify(before[0])));
}

/** @param {Kit} kit */
async function createRole({ app, unique }) {
  const key = `role-${unique()}`;
  await app.memberRoleDefinition.createMemberRoleDefinition(key, { roleTitle: 'Role' });
  return key;
}

const ICON = 'https://static.example/badge.svg';
const BADGE = { title: 'Badge', backgroundColor: '#ffffff', textColor: '#000000' };

/** @param {Kit} kit */
async function createBadge({ app }) {
  const made = await app.badges.createBadge({ ...BADGE });
  return present(made._id);
}

/** @param {Kit} kit */
async function createBadgeV2({ app }) {
  return present((await app.badgesV2.createBadge({ ...BADGE }))._id);
}

/** @param {Kit} kit */
async function assignBadge(kit) {
  const made = await kit.app.badgeAssignments.createBadgeAssignment({
    badgeId: await createBadgeV2(kit),
    memberId: kit.id,
  });
  assert.equal(made.memberId, kit.id);
  return identified(made);
}

/** @param {Kit} kit */
async function createField({ app, unique }) {
  const made = await app.customFields.createCustomField({ name: `Field ${unique()}`, fieldType: 'TEXT' });
  return identified(made);
}

/** @param {Kit} kit */
async function createApplication(kit) {
  const { _id } = await createField(kit);
  await kit.app.customFieldApplications.createCustomFieldApplication({
    customFieldId: _id,
    applications: { items: [{ applicationType: 'MEMBER', entityId: kit.id }] },
  });
  return _id;
}

/** @param {Kit} kit */
async function followMember(kit) {
  const other = await kit.member();
  await kit.app.members.updateMember(other, { privacyStatus: 'PUBLIC' });
  await kit.me.memberFollowers.followMember(other);
  return other;
}

/** @param {Kit} kit */
async function reportMember(kit) {
  const other = await kit.member();
  await kit.me.memberReport.reportMember({ reportedMemberId: other, reason: { category: 'SPAM' } });
  return other;
}

/** @param {Kit} kit */
async function blockMember(kit) {
  const other = await kit.member();
  await kit.me.memberToMemberBlock.blockMember(other);
  return other;
}

/** A member has one about: what an earlier row left is taken away first. @param {Kit} kit */
async function createAbout({ me, id }) {
  await me.membersAbout.deleteMemberAbout(id).catch(() => undefined);
  const made = await me.membersAbout.createMemberAbout({ content: { nodes: [] } });
  return identified(made);
}

/** @param {World} world @returns {Promise<Kit>} */
async function createKit(world) {
  const { id, client } = await world.member('members me');
  const me = await world.once('members client', async () => {
    const { auth } = world.visitor(client.auth.getTokens());
    return world.membersClient(auth);
  });
  const app = world.membersApp;
  const member = async () => {
    const made = await app.members.createMember({ member: { loginEmail: world.email() } });
    return present(made._id);
  };
  return { app, me, id, member, unique: () => world.id(), world };
}

/** @type {Row[]} */
export const rows = Object.entries(CALLS).flatMap(([namespace, calls]) =>
  Object.entries(calls).map(([name, call]) => ({
    method: `members ${namespace}.${name}`,
    check: 'does what it says',
    required: true,
    /** @param {World} world */
    async run(world) {
      await call(await createKit(world));
    },
  })),
);
