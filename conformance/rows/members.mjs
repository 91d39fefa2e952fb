// @ts-check
// The members package, none of it required yet. One line a method: who calls, with what.
import { assert } from '../lib/expect.mjs';

/** `app`: the key holder; `me`: a signed-in member. @typedef {'app' | 'me'} Who */

/** @type {Record<string, Record<string, [Who, (ids: { id: string, other: string, some: string }) => any[]]>>} */
const CALLS = {
  members: {
    createMember: ['app', ({ some }) => [{ member: { loginEmail: `made-${some}@example.com` } }]],
    getMember: ['app', ({ id }) => [id, { fieldsets: ['FULL'] }]],
    getCurrentMember: ['me', () => [{ fieldsets: ['FULL'] }]],
    listMembers: ['app', () => [{ paging: { limit: 10 } }]],
    queryMembers: ['app', () => []],
    updateMember: ['app', ({ id }) => [id, { profile: { nickname: 'Nick' } }]],
    updateMemberSlug: ['app', ({ id, some }) => [id, `slug-${some}`]],
    updateCurrentMemberSlug: ['me', ({ some }) => [`own-${some}`]],
    joinCommunity: ['me', () => []],
    leaveCommunity: ['me', () => []],
    muteMember: ['app', ({ other }) => [other]],
    unmuteMember: ['app', ({ other }) => [other]],
    approveMember: ['app', ({ other }) => [other]],
    blockMember: ['app', ({ some }) => [some]],
    disconnectMember: ['app', ({ some }) => [some]],
    deleteMember: ['app', ({ some }) => [some]],
    deleteMyMember: ['me', () => [{ contactAssigneeId: '00000000-0000-4000-8000-000000000000' }]],
    bulkDeleteMembers: ['app', ({ some }) => [[some]]],
    bulkDeleteMembersByFilter: ['app', ({ some }) => [{ id: some }]],
    bulkApproveMembers: ['app', ({ some }) => [{ id: some }]],
    bulkBlockMembers: ['app', ({ some }) => [{ id: some }]],
    deleteMemberPhones: ['app', ({ other }) => [other]],
    deleteMemberEmails: ['app', ({ other }) => [other]],
    deleteMemberAddresses: ['app', ({ other }) => [other]],
  },
  authentication: {
    register: ['app', ({ some }) => [`reg-${some}@example.com`, `pass-${some}`]],
    login: ['app', ({ some }) => [`reg-${some}@example.com`, `pass-${some}`]],
    sendSetPasswordEmail: ['app', ({ some }) => [`reg-${some}@example.com`]],
    changeLoginEmail: ['app', ({ other, some }) => [other, `new-${some}@example.com`]],
    approve: ['app', ({ other }) => [{ id: other }]],
    block: ['app', ({ some }) => [{ id: some }]],
  },
  authorization: {
    assignRole: ['app', ({ id }) => [id, 'role']],
    unassignRole: ['app', ({ id }) => [id, 'role']],
    getRoles: ['app', ({ id }) => [id]],
    queryRoles: ['app', ({ id }) => [{ memberIds: [id] }]],
  },
  memberRoleDefinition: {
    createMemberRoleDefinition: ['app', () => ['role', { roleTitle: 'Role' }]],
    listMemberRoleDefinitions: ['app', () => []],
    getMemberRoleDefinition: ['app', () => ['role']],
    updateMemberRoleDefinition: ['app', () => ['role', { roleTitle: 'Other', revision: '1' }]],
    deleteMemberRoleDefinition: ['app', () => ['role']],
  },
  badges: {
    createBadge: ['app', () => [{ title: 'Badge', backgroundColor: '#ffffff', textColor: '#000000' }]],
    updateBadge: ['app', ({ some }) => [some, { title: 'Other' }]],
    listBadges: ['app', () => []],
    getBadge: ['app', ({ some }) => [some]],
    deleteBadge: ['app', ({ some }) => [some]],
    assignBadge: ['app', ({ some, id }) => [some, [id]]],
    unassignBadge: ['app', ({ some, id }) => [some, [id]]],
    listMembersByBadge: ['app', ({ some }) => [some]],
    listBadgesPerMember: ['app', ({ id }) => [[id]]],
    getMemberCountsPerBadge: ['app', () => []],
    updateBadgesDisplayOrder: ['app', ({ some }) => [[some]]],
  },
  badgesV2: {
    createBadge: ['app', () => [{ title: 'Badge', backgroundColor: '#ffffff', textColor: '#000000' }]],
    getBadge: ['app', ({ some }) => [some]],
    queryBadges: ['app', () => []],
    updateBadge: ['app', ({ some }) => [some, { title: 'Other', revision: '1' }]],
    deleteBadge: ['app', ({ some }) => [some]],
    updateBadgesDisplayOrder: ['app', ({ some }) => [[some]]],
    moveBadge: ['app', ({ some }) => [some, { position: 'FIRST' }]],
  },
  badgeAssignments: {
    createBadgeAssignment: ['app', ({ some, id }) => [{ badgeId: some, memberId: id }]],
    bulkCreateBadgeAssignments: ['app', ({ some, id }) => [[{ badgeId: some, memberId: id }]]],
    queryBadgeAssignments: ['app', () => []],
    deleteBadgeAssignment: ['app', ({ some }) => [some]],
    bulkDeleteBadgeAssignments: ['app', ({ some }) => [[some]]],
    bulkUpdateBadgeAssignmentTags: ['app', ({ some }) => [[some], { assignTags: { tags: { tagIds: [] } } }]],
    bulkUpdateBadgeAssignmentTagsByFilter: ['app', () => [{}, { assignTags: { tags: { tagIds: [] } } }]],
  },
  customFields: {
    createCustomField: ['app', () => [{ name: 'Field', fieldType: 'TEXT' }]],
    getCustomField: ['app', ({ some }) => [some]],
    listCustomFields: ['app', () => []],
    updateCustomField: ['app', ({ some }) => [some, { name: 'Other', revision: '1' }]],
    deleteCustomField: ['app', ({ some }) => [some, '1']],
    hideCustomField: ['app', ({ some }) => [some, '1']],
    updateCustomFieldsOrder: ['app', ({ some }) => [[some]]],
  },
  customFieldApplications: {
    createCustomFieldApplication: ['app', ({ some }) => [{ customFieldId: some }]],
    deleteCustomFieldApplication: ['app', ({ some }) => [some]],
    updateCustomFieldApplication: ['app', ({ some }) => [some, { revision: '1' }]],
    getCustomFieldApplication: ['app', ({ some }) => [some]],
    getCustomFieldApplications: ['app', ({ some }) => [[some]]],
    getMembersCustomFieldApplications: ['app', ({ id }) => [[id]]],
    getRolesCustomFieldApplications: ['app', ({ some }) => [[some]]],
  },
  customFieldSuggestions: {
    listCustomFieldSuggestions: ['app', () => []],
    queryCustomFieldSuggestions: ['app', () => []],
  },
  defaultPrivacy: {
    getDefaultPrivacyStatus: ['app', () => []],
    setDefaultPrivacyStatus: ['app', () => [{ defaultPrivacy: 'PUBLIC', revision: '1' }]],
  },
  memberPrivacySettings: {
    getMemberPrivacySettings: ['app', () => []],
    setMemberPrivacySettings: ['app', () => [{ revision: '1' }]],
  },
  memberFollowers: {
    followMember: ['me', ({ other }) => [other]],
    unfollowMember: ['me', ({ other }) => [other]],
    listCurrentMemberFollowing: ['me', () => []],
    listMemberFollowing: ['me', ({ other }) => [other]],
    listCurrentMemberFollowers: ['me', () => []],
    listMemberFollowers: ['me', ({ other }) => [other]],
    queryCurrentMemberConnections: ['me', ({ other }) => [[other]]],
    queryMemberConnections: ['me', ({ id, other }) => [id, [other]]],
  },
  memberReport: {
    reportMember: ['me', ({ other }) => [{ reportedMemberId: other, reason: { category: 'SPAM' } }]],
    queryMemberReports: ['app', () => []],
    listReportedMembers: ['app', () => []],
    queryReportedMembers: ['app', () => []],
    deleteMemberReports: ['app', ({ other }) => [other]],
  },
  memberToMemberBlock: {
    blockMember: ['me', ({ other }) => [other]],
    unblockMember: ['me', ({ other }) => [other]],
    listCurrentMemberBlocking: ['me', () => []],
    listMemberBlocks: ['me', ({ id }) => [id]],
  },
  membersAbout: {
    createMemberAbout: ['me', () => [{ content: { nodes: [] } }]],
    updateMemberAbout: ['me', ({ some }) => [some, { content: { nodes: [] }, revision: '1' }]],
    deleteMemberAbout: ['me', ({ some }) => [some]],
    getMemberAbout: ['me', ({ some }) => [some]],
    getMyMemberAbout: ['me', () => []],
    queryMemberAbouts: ['me', () => []],
  },
  userMember: { queryUserMembers: ['app', () => []] },
};

/** @param {any} world @param {Who} who */
async function caller(world, who) {
  if (who === 'app') return world.membersApp;
  return world.once('members me', async () => {
    const { client } = await world.member('members me');
    const { auth } = world.visitor(client.auth.getTokens());
    return world.client(auth, await import('@wix/members'));
  });
}

/** @type {import('../lib/runner.mjs').Row[]} */
export const rows = Object.entries(CALLS).flatMap(([namespace, calls]) =>
  Object.entries(calls).map(([name, [who, args]]) => ({
    method: `members ${namespace}.${name}`,
    check: 'answers',
    async run(/** @type {any} */ world) {
      const ids = { id: (await world.member('members me')).id, other: (await world.member('members other')).id, some: world.id() };
      const result = /** @type {any} */ (await caller(world, who))[namespace][name](...args(ids));
      const answer = await (typeof result?.find === 'function' ? result.find() : result);
      if (name === 'getMember' || name === 'getCurrentMember') assert.equal((answer.member ?? answer)._id, ids.id);
    },
  })));
