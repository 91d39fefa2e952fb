// Every event that the packages publish a handler for, by the name in the catalogue, and where this run gets it from. A
// row compares the list with the packages, so a new version of one brings no event without a row.

/**
 * @typedef {'server' | 'test' | 'nobody'} Sender
 *   `server`: a call of the packages causes it, and the server sends it. `test`: the module that it tells of is not built,
 *   so the run writes the row of the log, and the server sends that. `nobody`: neither. An endpoint that asks for one of
 *   the last two is told why not.
 * @typedef {object} PublishedEvent
 * @property {string} method  for example `items.onDataItemCreated`; those of the members package have a prefix
 * @property {string} type    the `eventType` of a delivery
 * @property {Sender} sender
 */

/** @type {Record<Sender, Record<string, string>>} */
const TYPES = {
  server: {
    'items.onDataItemCreated': 'wix.data.v2.data_item_created',
    'items.onDataItemUpdated': 'wix.data.v2.data_item_updated',
    'items.onDataItemDeleted': 'wix.data.v2.data_item_deleted',
    'indexes.onIndexCreated': 'wix.data.v2.index_created',
    'indexes.onIndexUpdated': 'wix.data.v2.index_updated',
    'indexes.onIndexDeleted': 'wix.data.v2.index_deleted',
    'signOnPolicy.onSignOnPolicyUpdated': 'wix.iam.signon.v1.sign_on_policy_updated',
    'redirects.onRedirectSessionCreated': 'wix.headless.v1.redirect_session_created',
    'members members.onMemberCreated': 'wix.members.v1.member_created',
    'members members.onMemberUpdated': 'wix.members.v1.member_updated',
    'members members.onMemberDeleted': 'wix.members.v1.member_deleted',
    'members badges.onBadgeAssigned': 'wix.badges.v3.badge_badge_assigned',
    'members badges.onBadgeUnassigned': 'wix.badges.v3.badge_badge_unassigned',
    'members badgesV2.onBadgeCreated': 'wix.badges.v4.badge_created',
    'members badgesV2.onBadgeUpdated': 'wix.badges.v4.badge_updated',
    'members badgesV2.onBadgeDeleted': 'wix.badges.v4.badge_deleted',
    'members badgeAssignments.onBadgeAssignmentCreated': 'wix.badges.v4.badge_assignment_created',
    'members badgeAssignments.onBadgeAssignmentDeleted': 'wix.badges.v4.badge_assignment_deleted',
    'members memberFollowers.onFollowMemberFollowed': 'wix.members.v3.follow_member_followed',
    'members memberFollowers.onFollowMemberUnfollowed': 'wix.members.v3.follow_member_unfollowed',
    'members memberReport.onMemberReportCreated': 'wix.members.v1.member_report_created',
    'members memberReport.onMemberReportDeleted': 'wix.members.v1.member_report_deleted',
    'members memberReport.onMemberReportReportedMemberCreated': 'wix.members.v1.member_report_reported_member_created',
    'members memberReport.onMemberReportReportedMemberDeleted': 'wix.members.v1.member_report_reported_member_deleted',
    'members membersAbout.onMemberAboutCreated': 'wix.members.about.v2.member_about_created',
    'members membersAbout.onMemberAboutUpdated': 'wix.members.about.v2.member_about_updated',
    'members membersAbout.onMemberAboutDeleted': 'wix.members.about.v2.member_about_deleted',
  },
  test: {
    'backups.onBackupStateChanged': 'wix.data.v2.backup_backup_state_changed',
    'backups.onBackupRestorationStateChanged': 'wix.data.v2.backup_restoration_state_changed',
    'movementJobs.onJobCreated': 'wix.hub.v1.job_created',
    'movementJobs.onJobUpdated': 'wix.hub.v1.job_updated',
    'movementJobs.onJobDeleted': 'wix.hub.v1.job_deleted',
  },
  nobody: {
    'sharing.onDataSharingPolicyCreated': 'wix.data.v1.data_sharing_policy_created',
    'sharing.onDataSharingPolicyUpdated': 'wix.data.v1.data_sharing_policy_updated',
    'sharing.onDataSharingPolicyDeleted': 'wix.data.v1.data_sharing_policy_deleted',
    'sharing.onDataSharingPolicySharedCollectionConnected':
      'wix.data.v1.data_sharing_policy_shared_collection_connected',
    'sharing.onDataSharingPolicySharedCollectionDisconnected':
      'wix.data.v1.data_sharing_policy_shared_collection_disconnected',
    'scheduledWorkflows.onJobsCreated': 'wix.data.sync.v1.jobs_created',
    'scheduledWorkflows.onJobsUpdated': 'wix.data.sync.v1.jobs_updated',
    'scheduledWorkflows.onJobsDeleted': 'wix.data.sync.v1.jobs_deleted',
  },
};

/** @type {PublishedEvent[]} */
export const EVENTS = Object.entries(TYPES).flatMap(([sender, types]) =>
  Object.entries(types).map(([method, type]) => ({ method, type, sender: /** @type {Sender} */ (sender) })),
);

/** What the client itself has handlers for, besides the modules: its applications. */
export const APP_EVENTS = { AppInstalled: 'AppInstalled', AppRemoved: 'AppRemoved' };

/** The types that an endpoint can ask for. */
export const DELIVERED = [...Object.values(TYPES.server), ...Object.values(APP_EVENTS)];

/** Names of the catalogue that are events. @param {string} method */
export const isEvent = (method) => /(^|[. ])on[A-Z]\w*$/.test(method);

/** The type of an event's method. @param {string} method */
export function typeOf(method) {
  const found = EVENTS.find((event) => event.method === method);
  if (!found) throw new Error(`no event is called ${method}`);
  return found.type;
}
