// Printed from docs/openapi.json. Do not edit by hand; print it again with
// npm run types

/** Nothing. */
export type Empty = Record<string, never>;

/** Any value. */
export type Json = unknown;

/** What is wrong with a member of the request. */
export type Violation = {
  /** Its path, with list positions in brackets; empty for the whole. */
  field: string;
  description: string;
  /** The rule, `REQUIRED_FIELD` for example. */
  violatedRule: string;
  ruleName?: string;
  data: ErrorData;
};

/** `retryAfterSeconds` of a 429 or 503, ids of what it is about, `fieldViolations`. */
export type ErrorData = Record<string, unknown>;

export type ApplicationError = {
  /** One of the codes of the response. */
  code: string;
  description: string;
  data: ErrorData;
};

export type ValidationError = {
  fieldViolations: Array<Violation>;
};

export type ErrorBody = {
  /** For people; codes of content stand before it. */
  message: string;
  details: {
    applicationError: ApplicationError;
    validationError?: ValidationError;
  };
};

export type ValidationErrorBody = {
  message: string;
  details: {
    validationError: ValidationError;
  };
};

/** The members of RFC 6749, section 5.2, and ours beside them. */
export type OauthErrorBody = {
  error: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type' | 'invalid_scope' | 'unsupported_token_type' | 'unauthorized_client' | 'server_error';
  error_description: string;
  message: string;
  details: {
    applicationError?: ApplicationError;
    validationError?: ValidationError;
  };
};

export type BulkTotals = {
  totalSuccesses: number;
  totalFailures: number;
  undetailedFailures: 0;
};

export type BulkResult = {
  itemMetadata: {
    id: string;
    originalIndex: number;
    success: boolean;
    error?: ApplicationError;
  };
};

export type BulkResponse = {
  results: Array<BulkResult>;
  bulkActionMetadata: BulkTotals;
};

export type OffsetMetadata = {
  count: number;
  offset: number;
  total?: number | null;
  tooManyToCount: boolean;
};

export type CursorMetadata = {
  count: number;
  hasNext: boolean;
  cursors: {
    next?: string | null;
  };
};

export type JobResponse = {
  jobId: string;
};

export type MemberIdsRequest = {
  /** One id, or a list. */
  memberIds?: string | Array<string>;
};

export type CursorPaging = {
  /** At most so many. */
  limit?: number | string | null;
  /** Where the page before ended. */
  cursor?: string | null;
};

export type OffsetPaging = {
  /** At most so many. */
  limit?: number | string | null;
  /** As many are left out before. */
  offset?: number | string | null;
};

export type CursorQueryRequest = {
  query?: {
    cursorPaging?: CursorPaging;
  };
};

/** Each name may be written in camel case instead. A body `{"body": "…"}` holds the same as JSON in base64. */
export type TokenRequest = {
  /** `anonymous`, `authorization_code`, `refresh_token`, `client_credentials`, `authorized_client` or `strip_bound_session`. */
  grant_type?: string;
  client_id?: string | null;
  client_secret?: string | null;
  refresh_token?: string | null;
  code?: string | null;
  redirect_uri?: string | null;
  code_verifier?: string | null;
  member_id?: string | null;
  session_token?: string | null;
  access_token?: string | null;
  /** Scopes with a space between (docs/scopes.md). */
  scope?: string | null;
};

export type TokenResponse = {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  refresh_token?: string;
  scope?: string;
};

export type TokenRevokeRequest = {
  token: string;
  /** It is not looked at. */
  token_type_hint?: string | null;
  client_id?: string | null;
  client_secret?: string | null;
};

export type TokenIntrospectRequest = {
  token: string;
  client_id?: string | null;
  client_secret?: string | null;
};

export type TokenInfoRequest = {
  token?: string;
  /** The same as JSON in base64. */
  body?: string;
};

export type TokenInfo = {
  active: boolean;
  subjectType?: 'VISITOR' | 'MEMBER' | 'USER' | 'APP';
  subjectId?: string;
  siteId?: string;
  instanceId?: string;
  scope?: string;
  clientId?: string;
  /** Seconds since 1970. */
  exp?: string;
  /** Seconds since 1970. */
  iat?: string;
};

export type KeySet = {
  keys: Array<{
    kty: 'OKP';
    crv: 'Ed25519';
    use: 'sig';
    alg: 'EdDSA';
    kid: string;
    x: string;
  }>;
};

export type UserInfo = {
  sub: string;
  givenName?: string;
  familyName?: string;
  name?: string;
  email: string;
  emailVerified: boolean;
  picture?: string;
  language?: string;
};

export type TokenIntrospection = {
  active: boolean;
  token_type?: 'Bearer' | 'refresh_token';
  sub?: string;
  client_id?: string | null;
  sid?: string;
  exp?: number | null;
  iat?: number | null;
  iss?: string;
  aud?: string;
  subject_type?: 'VISITOR' | 'MEMBER' | 'USER' | 'APP';
  scope?: string;
};

export type SessionState = 'SUCCESS' | 'REQUIRE_FIRST_FACTOR' | 'REQUIRE_EMAIL_VERIFICATION' | 'REQUIRE_MISSING_FIELDS' | 'REQUIRE_OWNER_APPROVAL' | 'STATUS_CHECK';

export type StateMachine = {
  state: SessionState;
  /** With `SUCCESS`: what becomes a session. */
  sessionToken?: string;
  /** What goes with the next step. */
  stateToken?: string;
  identity?: Identity;
  additionalData?: MissingFields;
};

/** With `REQUIRE_MISSING_FIELDS`: the members of the profile that the site asks for. */
export type MissingFields = {
  missingFields: {
    listValue: {
      value: Array<{
        strValue: 'firstName' | 'lastName' | 'nickname';
      }>;
    };
  };
};

/** A member, as sign-in tells of them. */
export type Identity = {
  id: string;
  revision: string;
  createdDate: string;
  updatedDate: string;
  connections: Array<Empty>;
  identityProfile: IdentityProfile;
  metadata: {
    tags: Array<string>;
  };
  email: {
    address: string;
    isVerified: boolean;
  };
  status: {
    /** `PENDING`, `ACTIVE`, `BLOCKED` and what else a member can be. */
    name: string;
    reasons: Array<'PENDING_EMAIL_VERIFICATION_REQUIRED' | 'PENDING_REQUIRED_FIELDS_MISSING' | 'PENDING_ADMIN_APPROVAL_REQUIRED'>;
  };
  factors: Array<{
    factorId: string;
    type: 'PASSWORD';
    status: 'ACTIVE';
  }>;
};

/** What a member says of themselves. Members that are null or not known are left out. */
export type IdentityProfile = {
  firstName?: string | null;
  lastName?: string | null;
  nickname?: string | null;
  /** An address of the web, or empty. */
  picture?: string | null;
  emails?: Array<string> | null;
  phones?: Array<string> | null;
  labels?: Array<string> | null;
  language?: string | null;
  privacyStatus?: 'UNDEFINED' | 'PUBLIC' | 'PRIVATE' | null;
  customFields?: Array<ProfileCustomField> | null;
  secondaryEmails?: Array<TaggedEmail> | null;
  phonesV2?: Array<TaggedPhone> | null;
  addresses?: Array<TaggedAddress> | null;
  company?: string | null;
  position?: string | null;
  /** YYYY-MM-DD */
  birthdate?: string | null;
  slug?: string | null;
  subscription?: boolean | null;
  vatId?: string | null;
  customAttributes?: Json;
} | null;

export type ProfileCustomField = {
  name: string;
  value?: CustomFieldValue;
};

/** The value of a custom field. */
export type CustomFieldValue = unknown;

export type TaggedEmail = {
  id?: string | null;
  email?: string | null;
  tag?: 'UNTAGGED' | 'MAIN' | 'HOME' | 'WORK' | null;
};

export type TaggedPhone = {
  id?: string | null;
  /** Two capital letters. */
  countryCode?: string | null;
  phone?: string | null;
  tag?: 'UNTAGGED' | 'MAIN' | 'HOME' | 'MOBILE' | 'WORK' | 'FAX' | null;
};

export type TaggedAddress = {
  id?: string | null;
  address?: Address | null;
  tag?: 'UNTAGGED' | 'HOME' | 'WORK' | 'BILLING' | 'SHIPPING' | null;
};

export type Address = {
  country?: string | null;
  subdivision?: string | null;
  city?: string | null;
  postalCode?: string | null;
  addressLine?: string | null;
  addressLine2?: string | null;
  formattedAddress?: string | null;
  hint?: string | null;
  countryFullname?: string | null;
  subdivisionFullname?: string | null;
  geocode?: {
    latitude?: number | null;
    longitude?: number | null;
  } | null;
  streetAddress?: Record<string, string | null> | null;
};

export type LoginId = {
  /** The address. */
  email?: string;
};

/** The answer to a captcha. One of these is looked at. */
export type CaptchaToken = {
  recaptchaForClientSiteKey?: {
    token?: string;
  };
  Recaptcha?: string;
  InvisibleRecaptcha?: string;
  NoCaptcha?: string;
};

/** One, or a list. */
export type CaptchaTokens = CaptchaToken | Array<CaptchaToken> | null;

export type MemberRegisterRequest = {
  loginId: LoginId;
  password: string;
  profile?: IdentityProfile;
  captchaTokens?: CaptchaTokens;
};

export type MemberLoginRequest = {
  loginId?: LoginId;
  password?: string | null;
  stateToken?: string | null;
  profile?: IdentityProfile;
  captchaTokens?: CaptchaTokens;
};

export type MemberSignOnRequest = {
  loginId: LoginId;
  profile?: IdentityProfile;
  /** Whether the application vouches for the address. */
  verifyEmail?: boolean | null;
};

export type MemberSignOnResponse = {
  sessionToken: string;
  identity: Identity;
};

export type PasswordChangeRequest = {
  newPassword: string;
};

export type CaptchaChallenge = ProofOfWork | CaptchaProvider;

export type ProofOfWork = {
  kind: 'PROOF_OF_WORK';
  challenge: string;
  /** Zero bits that the hash must begin with. */
  bits: number;
  expires: string;
};

/** The provider's keys; null where the site has none. */
export type CaptchaProvider = {
  kind: 'PROOF_OF_WORK' | 'PROVIDER';
  visibleSiteKey: string | null;
  invisibleSiteKey: string | null;
};

export type EmailValidateRequest = {
  email: string;
};

export type EmailValidateResponse = {
  valid: boolean;
  formatInvalid: boolean;
};

export type MemberRegisterByEmailRequest = {
  email: string;
  password: string;
  contactInfo?: {
    firstName?: string | null;
    lastName?: string | null;
    picture?: string | null;
    emails?: Array<string> | null;
    phones?: Array<string> | null;
    labels?: Array<string> | null;
    /** Each its value with `name` beside it. */
    customFields?: Array<CustomFieldValue> | null;
  } | null;
  /** `PUBLIC` or `PRIVATE`. */
  profilePrivacyStatus?: string | null;
  captchaTokens?: CaptchaTokens;
};

export type MemberLoginByEmailRequest = {
  email: string;
  password: string;
  captchaTokens?: CaptchaTokens;
};

export type SiteMemberSession = {
  session?: {
    token: string;
  };
  member: SiteMember;
  /** By which an application may let the member in. */
  approvalToken?: string;
};

/** A member, in the form of the members package. */
export type SiteMember = {
  id: string;
  contactId: string;
  loginEmail: string;
  emailVerified: boolean;
  firstName?: string;
  lastName?: string;
  nickname?: string;
  slug?: string;
  profilePrivacyStatus: 'PUBLIC' | 'PRIVATE';
  status: string;
  role: 'MEMBER';
  creationDate: string;
  lastUpdateDate: string;
  lastLoginDate?: string;
  emails: Array<string>;
  phones: Array<string>;
  addresses?: Array<ContactAddress>;
  labels: Array<string>;
  customFields: Array<CustomFieldValue>;
  groups: Array<string>;
};

/** A postal address. */
export type ContactAddress = unknown;

export type PasswordEmailSendRequest = {
  email: string;
  /** It is not looked at. */
  hideIgnoreMessage?: boolean | null;
};

export type Accepted = {
  accepted: true;
};

export type AuthRequest = {
  clientId: string;
  responseType?: 'code' | null;
  responseMode?: 'fragment' | 'query' | 'web_message' | null;
  redirectUri?: string | null;
  state: string;
  codeChallenge: string;
  codeChallengeMethod: 'S256';
  nonce?: string | null;
  scope?: string | null;
  prompt?: 'login' | 'none' | '' | null;
  sessionToken?: string | null;
};

/** One intent: `auth`, `login`, `logout`, or one of the site's own pages. */
export type RedirectSessionCreateRequest = {
  auth?: {
    authRequest: AuthRequest;
    prompt?: 'login' | 'none' | '' | null;
  } | null;
  login?: Record<string, unknown> | null;
  logout?: {
    clientId: string;
  } | null;
  ecomCheckout?: {
    checkoutId: string;
  } | null;
  eventsCheckout?: {
    reservationId: string;
    eventSlug: string;
  } | null;
  paidPlansCheckout?: {
    planId: string;
    checkoutData?: string | null;
  } | null;
  bookingsCheckout?: {
    slotAvailability?: Json;
    slot?: Json;
    timezone?: string | null;
  } | null;
  storesProduct?: {
    productSlug: string;
  } | null;
  bookingsBook?: {
    resourceId?: string | null;
  } | null;
  ecomOrderPaymentRequest?: {
    paymentRequestId: string;
  } | null;
  memberAccountPage?: {
    section?: 'ACCOUNT_INFO' | 'BOOKINGS' | 'ORDERS' | 'SUBSCRIPTIONS' | 'EVENTS' | null;
  } | null;
  prompt?: 'login' | 'none' | '' | null;
  /** Addresses of the client. */
  callbacks?: {
    postFlowUrl?: string | null;
    thankYouPageUrl?: string | null;
    loginUrl?: string | null;
    bookingsServiceListUrl?: string | null;
    cartPageUrl?: string | null;
    planListUrl?: string | null;
    plansListUrl?: string | null;
  } | null;
  origin?: string | null;
  preferences?: {
    additionalQueryParameters?: Record<string, string | null> | null;
  } | null;
};

export type RedirectSessionCreateResponse = {
  redirectSession: {
    id: string;
    fullUrl: string;
    urlDetails: {
      endpoint: string;
      searchParams: {
        session: string;
      };
    };
    /** Empty without one. */
    sessionToken: string;
  };
};

export type LogoutResponse = {
  statusCode: 200 | 302;
  headers: Array<{
    key: 'Location';
    value: string;
  }>;
};

export type VerificationCheckRequest = {
  code: string;
  stateToken: string;
};

export type VerificationResendRequest = {
  stateToken: string;
};

export type VerificationStartRequest = {
  identityId: string;
  target?: 'EMAIL' | null;
};

export type VerificationStartResponse = {
  verificationId: string;
};

/** Where the link leads in the end. */
export type LinkRedirect = {
  /** One of the client's addresses. */
  url?: string | null;
  clientId?: string | null;
} | null;

export type RecoveryEmailSendRequest = {
  email: string;
  /** `en` or `pt-BR`. */
  language?: string | null;
  redirect?: LinkRedirect;
};

export type ActivationEmailSendRequest = {
  identityId: string;
  emailOptions?: {
    language?: string | null;
    redirect?: LinkRedirect;
  } | null;
};

export type RecoveryFinishRequest = {
  recoveryToken: string;
  password: string;
};

export type SessionListResponse = {
  sessions: Array<MemberSession>;
};

export type MemberSession = {
  id: string;
  createdDate: string;
  lastUsedDate: string;
  clientIds: Array<string>;
  isCurrent: boolean;
};

/** The last two are shown where they ask for something. */
export type SignOnPolicy = {
  requireOwnerApproval: boolean;
  requireEmailVerification: boolean;
  requiredFields?: Array<'firstName' | 'lastName' | 'nickname'>;
  requireCaptcha?: boolean;
};

export type SignOnPolicyResponse = {
  signOnPolicy: SignOnPolicy;
};

export type SignOnPolicyUpdateRequest = {
  signOnPolicy: {
    requireOwnerApproval?: boolean | null;
    requireEmailVerification?: boolean | null;
    requiredFields?: Array<'firstName' | 'lastName' | 'nickname'> | null;
    requireCaptcha?: boolean | null;
    id?: Json;
    revision?: Json;
    createdDate?: Json;
    updatedDate?: Json;
  };
};

export type SitePages = {
  pages: {
    ecomCheckout?: string;
    eventsCheckout?: string;
    paidPlansCheckout?: string;
    bookingsCheckout?: string;
    storesProduct?: string;
    bookingsBook?: string;
    ecomOrderPaymentRequest?: string;
    memberAccountPage?: string;
  };
};

export type AuditListResponse = {
  entries: Array<AuditEntry>;
};

export type AuditEntry = {
  id: string;
  /** Milliseconds since 1970. */
  created: number;
  event: string;
  actorKind: string;
  actor: string;
  member?: string;
  address?: string;
};

export type AppConsentRequest = {
  appId: string;
  redirectUrl: string;
  state?: string | null;
};

export type AppConsentDecideRequest = {
  appId: string;
  redirectUrl: string;
  state?: string | null;
  decision: 'INSTALL' | 'DECLINE';
};

export type AppConsent = {
  appName: string;
  host: string;
  isThirdParty: boolean;
  /** Null for full rights. */
  scopes: Array<string> | null;
  site: SiteFace;
};

export type AppConsentDecideResponse = {
  url: string;
};

/** A flow as its page shows it. */
export type FlowView = {
  token: string;
  kind: FlowKind;
  site: SiteFace;
  step: FlowStep;
  problems: Array<Problem>;
  canGoBack: boolean;
  cancelUrl: string | null;
  clientId: string | null;
  homeUrl: string | null;
};

export type FlowKind = 'SIGN_IN' | 'SIGN_UP' | 'SIGN_OUT' | 'RECOVER' | 'OWNER_SETUP' | 'OWNER_SIGN_IN';

/** How the site presents itself on its account pages. */
export type SiteFace = {
  id: string;
  name: string;
  language: string | null;
  logoUrl: string | null;
  colours: SiteColours | null;
  termsUrl: string | null;
  privacyUrl: string | null;
};

export type SiteColours = {
  light: Palette;
  dark: Palette;
};

/** Each as `#rrggbb`. */
export type Palette = {
  accent: string;
  accentStrong: string;
  accentText: string;
  accentSurface: string;
};

export type ProfileField = {
  name: string;
  required: boolean;
};

/** Something wrong with the last input. */
export type Problem = {
  field: string | null;
  code: string;
  message: string;
};

/** One question to the person, or the end of the flow. */
export type FlowStep = {
  type: 'SIGN_IN';
  email: string | null;
  canSignUp: boolean;
  canRecover: boolean;
} | {
  type: 'SIGN_UP';
  email: string | null;
  fields: Array<ProfileField>;
  passwordMinLength: number;
} | {
  type: 'VERIFY_EMAIL';
  emailHint: string;
  resendAfterSeconds: number;
} | {
  type: 'AWAIT_APPROVAL';
  emailHint: string;
} | {
  type: 'MISSING_FIELDS';
  fields: Array<ProfileField>;
} | {
  type: 'RECOVER_REQUEST';
  email: string | null;
} | {
  type: 'RECOVER_SENT';
  emailHint: string;
} | {
  type: 'NEW_PASSWORD';
  emailHint: string | null;
  passwordMinLength: number;
} | {
  type: 'CONFIRM_SIGN_OUT';
  displayName: string | null;
} | {
  type: 'REDIRECT';
  url: string;
} | {
  type: 'POST_MESSAGE';
  origin: string;
  code: string | null;
  state: string;
  error: string | null;
  errorDescription: string | null;
} | {
  type: 'DONE';
  message: 'SIGNED_IN' | 'SIGNED_OUT' | 'PASSWORD_CHANGED' | 'OWNER_READY';
} | {
  type: 'FAILED';
  code: string;
  message: string;
};

export type ProfileInput = {
  firstName?: string | null;
  lastName?: string | null;
  nickname?: string | null;
};

/** What the page sends. */
export type FlowInput = {
  type: 'SIGN_IN';
  email: string;
  password: string;
  captcha?: string | null;
} | {
  type: 'SIGN_UP';
  email: string;
  password: string;
  profile: ProfileInput;
  captcha?: string | null;
} | {
  type: 'SWITCH';
  to: FlowKind;
  email?: string | null;
} | {
  type: 'VERIFY_EMAIL';
  code: string;
} | {
  type: 'RESEND';
} | {
  type: 'MISSING_FIELDS';
  profile: ProfileInput;
} | {
  type: 'RECOVER_REQUEST';
  email: string;
} | {
  type: 'NEW_PASSWORD';
  password: string;
} | {
  type: 'CONFIRM_SIGN_OUT';
} | {
  type: 'BACK';
} | {
  type: 'CANCEL';
};

export type FlowStart = {
  kind: FlowKind;
  clientId?: string | null;
  returnUrl?: string | null;
  invite?: string | null;
};

export type LinkBody = {
  token: string;
};

export type ApprovalView = {
  siteName: string;
  name: string | null;
  email: string;
  emailVerified: boolean;
  createdDate: string;
  state: 'PENDING' | 'APPROVED' | 'DECLINED';
  site: SiteFace;
};

export type ApprovalDecideRequest = {
  token: string;
  decision: 'APPROVE' | 'DECLINE';
};

export type OperatorToken = {
  access_token: string;
  /** Seconds. */
  expires_in: number;
};

export type OperatorAccount = {
  site: SiteFace;
  email: string;
  role: 'OWNER' | 'EDITOR';
  passwordMinLength: number;
  sessions: Array<OperatorSession>;
  problems: Array<Problem>;
};

export type OperatorSession = {
  id: string;
  siteName: string;
  device: string | null;
  createdDate: string;
  isCurrent: boolean;
};

export type OperatorPasswordChangeRequest = {
  old: string;
  password: string;
};

export type OperatorSessionEndRequest = {
  session: string;
};

export type ServerStatus = {
  status: 'ok' | 'ready';
};

export type SitePublicSettings = {
  siteId: string;
  name: string;
  clientId: string | null;
  language: string;
  captcha: CaptchaProvider;
};

/** This document. */
export type OpenApiDocument = Record<string, unknown>;

export type ItemData = unknown;

/** The calls by their ids. */
export interface Calls {
  /** Tells that the process lives */
  healthGet: {
    method: 'GET';
    path: '/healthz';
    query: Record<string, never>;
    request: undefined;
    answer: ServerStatus;
  };
  /** Tells that requests can be served */
  readinessGet: {
    method: 'GET';
    path: '/readyz';
    query: Record<string, never>;
    request: undefined;
    answer: ServerStatus;
  };
  /** Tells crawlers what to leave out */
  robotsGet: {
    method: 'GET';
    path: '/robots.txt';
    query: Record<string, never>;
    request: undefined;
    answer: string;
  };
  /** Reads what a website needs to start */
  sitePublicSettingsGet: {
    method: 'GET';
    path: '/_api/site/v1/public-settings';
    query: Record<string, never>;
    request: undefined;
    answer: SitePublicSettings;
  };
  /** Gives tokens for a grant */
  tokenCreate: {
    method: 'POST';
    path: '/oauth2/token';
    query: Record<string, never>;
    request: TokenRequest;
    answer: TokenResponse;
  };
  /** Gives an application tokens for its code, or new ones */
  applicationTokenCreate: {
    method: 'POST';
    path: '/oauth/access';
    query: Record<string, never>;
    request: TokenRequest;
    answer: TokenResponse;
  };
  /** Takes a token back, with those of its family */
  tokenRevoke: {
    method: 'POST';
    path: '/oauth2/revoke';
    query: Record<string, never>;
    request: TokenRevokeRequest;
    answer: Empty;
  };
  /** Tells a client what a token of its says */
  tokenIntrospect: {
    method: 'POST';
    path: '/oauth2/introspect';
    query: Record<string, never>;
    request: TokenIntrospectRequest;
    answer: TokenIntrospection;
  };
  /** Tells what a token says */
  tokenInfoGet: {
    method: 'POST';
    path: '/oauth2/token-info';
    query: Record<string, never>;
    request: TokenInfoRequest;
    answer: TokenInfo;
  };
  /** Lists the public keys of access tokens */
  tokenKeyList: {
    method: 'GET';
    path: '/oauth2/jwks';
    query: Record<string, never>;
    request: undefined;
    answer: KeySet;
  };
  /** Registers a member */
  memberRegister: {
    method: 'POST';
    path: '/v2/register';
    query: Record<string, never>;
    request: MemberRegisterRequest;
    answer: StateMachine;
  };
  /** Signs a member in by address and password */
  memberLogin: {
    method: 'POST';
    path: '/v2/login';
    query: Record<string, never>;
    request: MemberLoginRequest;
    answer: StateMachine;
  };
  /** Signs a member in whom an application vouches for */
  memberSignOn: {
    method: 'POST';
    path: '/v2/sign-on';
    query: Record<string, never>;
    request: MemberSignOnRequest;
    answer: MemberSignOnResponse;
  };
  /** Changes the calling member's password */
  passwordChange: {
    method: 'POST';
    path: '/v2/change-password';
    query: Record<string, never>;
    request: PasswordChangeRequest;
    answer: Empty;
  };
  /** Gives a captcha challenge, or the keys of the site's provider */
  captchaChallengeGet: {
    method: 'GET';
    path: '/_api/account/v1/captcha';
    query: Record<string, never>;
    request: undefined;
    answer: CaptchaChallenge;
  };
  /** Tells whether an address has the form of one */
  emailValidate: {
    method: 'POST';
    path: '/v2/validate-email';
    query: Record<string, never>;
    request: EmailValidateRequest;
    answer: EmailValidateResponse;
  };
  /** Registers a member, in the form of the members package */
  memberRegisterByEmail: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/auth/register';
    query: Record<string, never>;
    request: MemberRegisterByEmailRequest;
    answer: SiteMemberSession;
  };
  /** Signs a member in, in the form of the members package */
  memberLoginByEmail: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/auth/login';
    query: Record<string, never>;
    request: MemberLoginByEmailRequest;
    answer: SiteMemberSession;
  };
  /** Sends a link by which a member sets a password */
  passwordEmailSend: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/v1/auth/members/send-set-password-email';
    query: Record<string, never>;
    request: PasswordEmailSendRequest;
    answer: Accepted;
  };
  /** Makes an address to which a website sends a person */
  redirectSessionCreate: {
    method: 'POST';
    path: '/v1/redirect-session';
    query: Record<string, never>;
    request: RedirectSessionCreateRequest;
    answer: RedirectSessionCreateResponse;
  };
  /** Leads an owner's browser to the page that asks whether to install an application */
  appInstall: {
    method: 'GET';
    path: '/installer/install';
    query: {
      /** The application. */
      appId: string;
      /** Where the answer goes; one of the application's addresses. */
      redirectUrl: string;
      /** It comes back as it is. */
      state?: string;
      /** Set by the page that leads here itself. */
      here?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Begins an authorization in the browser that comes */
  authorize: {
    method: 'GET';
    path: '/oauth2/authorize';
    query: {
      /** The token of a redirect session. */
      session?: string;
      /** The client. */
      client_id?: string;
      /** Where the answer goes; one of the client's addresses. */
      redirect_uri?: string;
      /** `code`. */
      response_type?: string;
      /** `query`, `fragment` or `web_message`. */
      response_mode?: string;
      /** What is asked for, with spaces between. */
      scope?: string;
      /** It comes back as it is. */
      state?: string;
      /** It stands in the token. */
      nonce?: string;
      /** PKCE, by SHA-256. */
      code_challenge?: string;
      /** `S256`. */
      code_challenge_method?: string;
      /** `none`, `login`, or what OpenID Connect has. */
      prompt?: string;
      /** Seconds since the last sign-in, at most. */
      max_age?: string;
      /** The address that is offered. */
      login_hint?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Signs a member out */
  memberLogout: {
    method: 'GET';
    path: '/v1/logout';
    query: {
      /** Where to go then; one of the client's addresses. */
      postLogoutRedirectUri?: string;
      /** The client. */
      clientId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: LogoutResponse;
  };
  /** Checks a code that was sent by mail */
  verificationCheck: {
    method: 'POST';
    path: '/v1/auth/verify';
    query: Record<string, never>;
    request: VerificationCheckRequest;
    answer: StateMachine;
  };
  /** Sends another code */
  verificationResend: {
    method: 'POST';
    path: '/v1/auth/resend';
    query: Record<string, never>;
    request: VerificationResendRequest;
    answer: StateMachine;
  };
  /** Sends a code by which a member's address is verified */
  verificationStart: {
    method: 'POST';
    path: '/v1/start';
    query: Record<string, never>;
    request: VerificationStartRequest;
    answer: VerificationStartResponse;
  };
  /** Sends a link by which an account is recovered */
  recoveryEmailSend: {
    method: 'POST';
    path: '/v1/send-email';
    query: Record<string, never>;
    request: RecoveryEmailSendRequest;
    answer: Empty;
  };
  /** Sends a member a link by which the account is taken into use */
  activationEmailSend: {
    method: 'POST';
    path: '/v1/activation-email';
    query: Record<string, never>;
    request: ActivationEmailSendRequest;
    answer: Empty;
  };
  /** Sets a password by a link that was sent */
  recoveryFinish: {
    method: 'POST';
    path: '/v1/recover';
    query: Record<string, never>;
    request: RecoveryFinishRequest;
    answer: StateMachine;
  };
  /** Lists where a member is signed in */
  sessionList: {
    method: 'GET';
    path: '/_api/identity/v1/sessions';
    query: {
      /** Whose, for owners and keys; their own for members. */
      memberId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: SessionListResponse;
  };
  /** Ends all sessions but the one that asks */
  sessionEndOthers: {
    method: 'DELETE';
    path: '/_api/identity/v1/sessions';
    query: {
      /** Whose, for owners and keys; their own for members. */
      memberId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Ends a session */
  sessionEnd: {
    method: 'DELETE';
    path: '/_api/identity/v1/sessions/{id}';
    query: {
      /** Whose, for owners and keys; their own for members. */
      memberId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Begins a flow */
  flowStart: {
    method: 'POST';
    path: '/_api/account/v1/flows';
    query: Record<string, never>;
    request: FlowStart;
    answer: FlowView;
  };
  /** Tells where a flow stands */
  flowGet: {
    method: 'GET';
    path: '/_api/account/v1/flows/{token}';
    query: Record<string, never>;
    request: undefined;
    answer: FlowView;
  };
  /** Takes what a person sent to the step of a flow */
  flowAnswer: {
    method: 'POST';
    path: '/_api/account/v1/flows/{token}';
    query: Record<string, never>;
    request: FlowInput;
    answer: FlowView;
  };
  /** Gives the pages an access token of the person who uses them */
  operatorTokenCreate: {
    method: 'POST';
    path: '/_api/account/v1/token';
    query: Record<string, never>;
    request: undefined;
    answer: OperatorToken;
  };
  /** Leads the browser from a link of a message to the page where a password is set */
  recoveryOpen: {
    method: 'GET';
    path: '/_api/account/v1/recover';
    query: {
      /** The token of the link. */
      token: string;
    };
    request: undefined;
    answer: undefined;
  };
  /** Tells which member waits to be let in */
  approvalGet: {
    method: 'POST';
    path: '/_api/account/v1/approvals';
    query: Record<string, never>;
    request: LinkBody;
    answer: ApprovalView;
  };
  /** Lets a member in, or not */
  approvalDecide: {
    method: 'POST';
    path: '/_api/account/v1/approvals/decide';
    query: Record<string, never>;
    request: ApprovalDecideRequest;
    answer: ApprovalView;
  };
  /** Tells who runs the site in this browser */
  operatorGet: {
    method: 'GET';
    path: '/_api/account/v1/operator';
    query: Record<string, never>;
    request: undefined;
    answer: OperatorAccount;
  };
  /** Changes the password, and ends the other sessions */
  operatorPasswordChange: {
    method: 'POST';
    path: '/_api/account/v1/operator/password';
    query: Record<string, never>;
    request: OperatorPasswordChangeRequest;
    answer: OperatorAccount;
  };
  /** Ends a session */
  operatorSessionEnd: {
    method: 'POST';
    path: '/_api/account/v1/operator/sessions/end';
    query: Record<string, never>;
    request: OperatorSessionEndRequest;
    answer: OperatorAccount;
  };
  /** Ends all sessions but the one that asks */
  operatorSessionEndOthers: {
    method: 'POST';
    path: '/_api/account/v1/operator/sessions/end-others';
    query: Record<string, never>;
    request: Empty;
    answer: OperatorAccount;
  };
  /** Tells what an application asks for */
  appConsentGet: {
    method: 'POST';
    path: '/_api/account/v1/installs';
    query: Record<string, never>;
    request: AppConsentRequest;
    answer: AppConsent;
  };
  /** Installs an application, or not */
  appConsentDecide: {
    method: 'POST';
    path: '/_api/account/v1/installs/decide';
    query: Record<string, never>;
    request: AppConsentDecideRequest;
    answer: AppConsentDecideResponse;
  };
  /** Reads who may become a member, and how */
  signOnPolicyGet: {
    method: 'GET';
    path: '/v1/sign-on-policies';
    query: Record<string, never>;
    request: undefined;
    answer: SignOnPolicyResponse;
  };
  /** Changes the policy of sign-on */
  signOnPolicyUpdate: {
    method: 'PATCH';
    path: '/v1/sign-on-policies';
    query: Record<string, never>;
    request: SignOnPolicyUpdateRequest;
    answer: SignOnPolicyResponse;
  };
  /** Reads the site's own pages */
  sitePagesGet: {
    method: 'GET';
    path: '/_api/site/v1/pages';
    query: Record<string, never>;
    request: undefined;
    answer: SitePages;
  };
  /** Sets the site's own pages */
  sitePagesUpdate: {
    method: 'PUT';
    path: '/_api/site/v1/pages';
    query: Record<string, never>;
    request: SitePages;
    answer: SitePages;
  };
  /** Lists what happened to accounts, the latest first */
  auditList: {
    method: 'GET';
    path: '/_api/identity/v1/audit';
    query: {
      /** The member that it is about. */
      member?: string;
      /** The kind of event. */
      event?: string;
      /** From this time on, in milliseconds since 1970. */
      since?: number;
      /** Before this time, in milliseconds since 1970. */
      before?: number;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: AuditListResponse;
  };
  /** Tells who the calling member is */
  userInfoGet: {
    method: 'GET';
    path: '/oauth2/user-info';
    query: Record<string, never>;
    request: undefined;
    answer: UserInfo;
  };
  /** Lets a member set another password before the next sign-in */
  passwordRefuse: {
    method: 'POST';
    path: '/_api/identity/v1/members/{id}/refuse-password';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Lists members by pages */
  memberList: {
    method: 'GET';
    path: '/members/v1/members';
    query: {
      /** How much of a member is wanted. No one gets more than they may see. */
      fieldsets?: Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberQueryResponse;
  };
  /** Makes an account */
  memberCreate: {
    method: 'POST';
    path: '/members/v1/members';
    query: Record<string, never>;
    request: MemberCreateRequest;
    answer: MemberResponse;
  };
  /** Reads the calling member */
  memberGetMy: {
    method: 'GET';
    path: '/members/v1/members/my';
    query: {
      /** How much of a member is wanted. No one gets more than they may see. */
      fieldsets?: Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberResponse;
  };
  /** Deletes the calling member */
  memberDeleteMy: {
    method: 'DELETE';
    path: '/members/v1/members/my';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Changes the calling member's slug */
  memberSlugUpdateMy: {
    method: 'POST';
    path: '/members/v1/members/my/slug';
    query: Record<string, never>;
    request: MemberSlugUpdateRequest;
    answer: MemberResponse;
  };
  /** Finds members by a filter */
  memberQuery: {
    method: 'POST';
    path: '/members/v1/members/query';
    query: Record<string, never>;
    request: MemberQueryRequest;
    answer: MemberQueryResponse;
  };
  /** Shows the calling member to others */
  communityJoin: {
    method: 'POST';
    path: '/members/v1/members/join-community';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Hides the calling member from others */
  communityLeave: {
    method: 'POST';
    path: '/members/v1/members/leave-community';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Deletes many members */
  memberBulkDelete: {
    method: 'POST';
    path: '/members/v1/members/bulk/delete';
    query: Record<string, never>;
    request: MemberBulkDeleteRequest;
    answer: BulkResponse;
  };
  /** Deletes the members that a filter finds */
  memberBulkDeleteByFilter: {
    method: 'POST';
    path: '/members/v1/members/bulk/delete-by-filter';
    query: Record<string, never>;
    request: MemberFilterRequest;
    answer: JobResponse;
  };
  /** Lets the members in that a filter finds */
  memberBulkApproveByFilter: {
    method: 'POST';
    path: '/members/v1/members/bulk/approve-by-filter';
    query: Record<string, never>;
    request: MemberFilterRequest;
    answer: JobResponse;
  };
  /** Blocks the members that a filter finds */
  memberBulkBlockByFilter: {
    method: 'POST';
    path: '/members/v1/members/bulk/block-by-filter';
    query: Record<string, never>;
    request: MemberFilterRequest;
    answer: JobResponse;
  };
  /** Reads a member */
  memberGet: {
    method: 'GET';
    path: '/members/v1/members/{id}';
    query: {
      /** How much of a member is wanted. No one gets more than they may see. */
      fieldsets?: Array<'PUBLIC' | 'EXTENDED' | 'FULL'>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberResponse;
  };
  /** Changes a member */
  memberUpdate: {
    method: 'PATCH';
    path: '/members/v1/members/{id}';
    query: Record<string, never>;
    request: MemberUpdateRequest;
    answer: MemberResponse;
  };
  /** Deletes a member */
  memberDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Changes a member's slug */
  memberSlugUpdate: {
    method: 'POST';
    path: '/members/v1/members/{id}/slug';
    query: Record<string, never>;
    request: MemberSlugUpdateRequest;
    answer: MemberResponse;
  };
  /** Lets a member in */
  memberApprove: {
    method: 'POST';
    path: '/members/v1/members/{id}/approve';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Blocks a member, whose sessions end */
  memberBlock: {
    method: 'POST';
    path: '/members/v1/members/{id}/block';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Puts a member outside the site */
  memberDisconnect: {
    method: 'POST';
    path: '/members/v1/members/{id}/disconnect';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Mutes a member */
  memberMute: {
    method: 'POST';
    path: '/members/v1/members/{id}/mute';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Unmutes a member */
  memberUnmute: {
    method: 'POST';
    path: '/members/v1/members/{id}/unmute';
    query: Record<string, never>;
    request: Empty;
    answer: MemberResponse;
  };
  /** Deletes a member's phone numbers */
  memberPhonesDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}/phones';
    query: Record<string, never>;
    request: undefined;
    answer: MemberResponse;
  };
  /** Deletes a member's other addresses */
  memberEmailsDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}/emails';
    query: Record<string, never>;
    request: undefined;
    answer: MemberResponse;
  };
  /** Deletes a member's postal addresses */
  memberAddressesDelete: {
    method: 'DELETE';
    path: '/members/v1/members/{id}/addresses';
    query: Record<string, never>;
    request: undefined;
    answer: MemberResponse;
  };
  /** Finds people as members, by their user ids */
  userMemberQuery: {
    method: 'POST';
    path: '/members/v1/user-members/query';
    query: Record<string, never>;
    request: UserMemberQueryRequest;
    answer: UserMemberQueryResponse;
  };
  /** Changes the address that a member signs in with */
  memberLoginEmailUpdate: {
    method: 'PATCH';
    path: '/wix-sm/api/v1/auth/api/v1/members/{id}/change-login-email';
    query: Record<string, never>;
    request: MemberLoginEmailUpdateRequest;
    answer: SiteMemberResponse;
  };
  /** Lets a member in, by id, address or token */
  memberApproveByAny: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/members/approve';
    query: Record<string, never>;
    request: MemberApproveByAnyRequest;
    answer: SessionPlaceholder;
  };
  /** Blocks a member, by id or address */
  memberBlockByAny: {
    method: 'POST';
    path: '/wix-sm/api/v1/auth/api/v1/members/block';
    query: Record<string, never>;
    request: MemberNamedRequest;
    answer: Empty;
  };
  /** Lists the roles of the site */
  roleList: {
    method: 'GET';
    path: '/members/v1/roles/definitions';
    query: Record<string, never>;
    request: undefined;
    answer: RoleListResponse;
  };
  /** Makes a role */
  roleCreate: {
    method: 'POST';
    path: '/members/v1/roles/definitions';
    query: Record<string, never>;
    request: RoleCreateRequest;
    answer: RoleResponse;
  };
  /** Reads a role */
  roleGet: {
    method: 'GET';
    path: '/members/v1/roles/definitions/{key}';
    query: Record<string, never>;
    request: undefined;
    answer: RoleResponse;
  };
  /** Changes a role */
  roleUpdate: {
    method: 'PATCH';
    path: '/members/v1/roles/definitions/{key}';
    query: Record<string, never>;
    request: RoleUpdateRequest;
    answer: RoleResponse;
  };
  /** Deletes a role, which its members lose */
  roleDelete: {
    method: 'DELETE';
    path: '/members/v1/roles/definitions/{key}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Reads the roles of many members */
  memberRoleQuery: {
    method: 'POST';
    path: '/members/v1/roles/members/query';
    query: Record<string, never>;
    request: MemberRoleQueryRequest;
    answer: MemberRoleQueryResponse;
  };
  /** Lists the roles of a member */
  memberRoleList: {
    method: 'GET';
    path: '/members/v1/roles/members/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: MemberRoleListResponse;
  };
  /** Gives a member a role */
  memberRoleAssign: {
    method: 'POST';
    path: '/members/v1/roles/members/{id}';
    query: Record<string, never>;
    request: MemberRoleAssignRequest;
    answer: Empty;
  };
  /** Takes a role from a member */
  memberRoleUnassign: {
    method: 'DELETE';
    path: '/members/v1/roles/members/{id}';
    query: {
      /** The role. */
      roleKey?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Lists badges by pages */
  badgeListV3: {
    method: 'GET';
    path: '/members/v3/badges';
    query: {
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: BadgeQueryResponse;
  };
  /** Makes a badge */
  badgeCreateV3: {
    method: 'POST';
    path: '/members/v3/badges';
    query: Record<string, never>;
    request: BadgeCreateRequest;
    answer: BadgeResponse;
  };
  /** Puts badges first, in this order */
  badgeOrderUpdateV3: {
    method: 'PATCH';
    path: '/members/v3/badges/order';
    query: Record<string, never>;
    request: BadgeOrderUpdateV3Request;
    answer: BadgeListResponse;
  };
  /** Reads which badges members have */
  memberBadgeListV3: {
    method: 'POST';
    path: '/members/v3/badges/members';
    query: Record<string, never>;
    request: MemberIdsRequest;
    answer: MemberBadgeListResponse;
  };
  /** Counts the members that have each badge */
  badgeMemberCountV3: {
    method: 'GET';
    path: '/members/v3/badges/members/count';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: BadgeMemberCountResponse;
  };
  /** Reads a badge */
  badgeGetV3: {
    method: 'GET';
    path: '/members/v3/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: BadgeResponse;
  };
  /** Changes a badge */
  badgeUpdateV3: {
    method: 'PATCH';
    path: '/members/v3/badges/{id}';
    query: Record<string, never>;
    request: BadgeUpdateRequest;
    answer: BadgeResponse;
  };
  /** Deletes a badge, which its members lose */
  badgeDeleteV3: {
    method: 'DELETE';
    path: '/members/v3/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists the members that have a badge */
  badgeMemberListV3: {
    method: 'GET';
    path: '/members/v3/badges/{id}/members';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: BadgeMemberListResponse;
  };
  /** Gives members a badge */
  badgeAssignV3: {
    method: 'POST';
    path: '/members/v3/badges/{id}/members';
    query: Record<string, never>;
    request: MemberIdsRequest;
    answer: BadgeMembersResponse;
  };
  /** Takes a badge from members */
  badgeUnassignV3: {
    method: 'DELETE';
    path: '/members/v3/badges/{id}/members';
    query: {
      /** The members. */
      memberIds?: Array<string>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Makes a badge */
  badgeCreate: {
    method: 'POST';
    path: '/badges/v4/badges';
    query: Record<string, never>;
    request: BadgeCreateRequest;
    answer: BadgeResponse;
  };
  /** Finds badges by a filter */
  badgeQuery: {
    method: 'POST';
    path: '/badges/v4/badges/query';
    query: Record<string, never>;
    request: BadgeQueryRequest;
    answer: BadgeQueryResponse;
  };
  /** Puts badges first, in this order */
  badgeOrderUpdate: {
    method: 'POST';
    path: '/badges/v4/badges/order';
    query: Record<string, never>;
    request: BadgeOrderUpdateRequest;
    answer: BadgeListResponse;
  };
  /** Reads a badge */
  badgeGet: {
    method: 'GET';
    path: '/badges/v4/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: BadgeResponse;
  };
  /** Changes a badge */
  badgeUpdate: {
    method: 'PATCH';
    path: '/badges/v4/badges/{id}';
    query: Record<string, never>;
    request: BadgeUpdateRequest;
    answer: BadgeResponse;
  };
  /** Deletes a badge, which its members lose */
  badgeDelete: {
    method: 'DELETE';
    path: '/badges/v4/badges/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Moves a badge within the order */
  badgeMove: {
    method: 'POST';
    path: '/badges/v4/badges/{id}/move';
    query: Record<string, never>;
    request: BadgeMoveRequest;
    answer: Empty;
  };
  /** Gives a member a badge */
  badgeAssignmentCreate: {
    method: 'POST';
    path: '/badges/v4/assignments';
    query: Record<string, never>;
    request: BadgeAssignmentCreateRequest;
    answer: BadgeAssignmentResponse;
  };
  /** Finds assignments by member and badge */
  badgeAssignmentQuery: {
    method: 'POST';
    path: '/badges/v4/assignments/query';
    query: Record<string, never>;
    request: BadgeAssignmentQueryRequest;
    answer: BadgeAssignmentQueryResponse;
  };
  /** Takes a badge from a member */
  badgeAssignmentDelete: {
    method: 'DELETE';
    path: '/badges/v4/assignments/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Gives many members badges */
  badgeAssignmentBulkCreate: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/create';
    query: Record<string, never>;
    request: BadgeAssignmentBulkCreateRequest;
    answer: BulkResponse;
  };
  /** Takes many badges away */
  badgeAssignmentBulkDelete: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/delete';
    query: Record<string, never>;
    request: BadgeAssignmentBulkDeleteRequest;
    answer: BulkResponse;
  };
  /** Tags assignments */
  badgeAssignmentBulkTag: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/bulk-update-tags';
    query: Record<string, never>;
    request: BadgeAssignmentBulkTagRequest;
    answer: BulkResponse;
  };
  /** Tags the assignments that a filter finds */
  badgeAssignmentBulkTagByFilter: {
    method: 'POST';
    path: '/badges/v4/bulk/assignments/update-tags-by-filter';
    query: Record<string, never>;
    request: BadgeAssignmentBulkTagByFilterRequest;
    answer: JobResponse;
  };
  /** Lists fields by pages */
  customFieldList: {
    method: 'GET';
    path: '/members/v1/custom-fields';
    query: {
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CustomFieldListResponse;
  };
  /** Makes a field */
  customFieldCreate: {
    method: 'POST';
    path: '/members/v1/custom-fields';
    query: Record<string, never>;
    request: CustomFieldCreateRequest;
    answer: CustomFieldResponse;
  };
  /** Puts fields first, in this order */
  customFieldOrderUpdate: {
    method: 'POST';
    path: '/members/v1/custom-fields/order';
    query: Record<string, never>;
    request: CustomFieldOrderUpdateRequest;
    answer: CustomFieldOrderUpdateResponse;
  };
  /** Reads a field */
  customFieldGet: {
    method: 'GET';
    path: '/members/v1/custom-fields/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: CustomFieldResponse;
  };
  /** Changes a field */
  customFieldUpdate: {
    method: 'PATCH';
    path: '/members/v1/custom-fields/{id}';
    query: Record<string, never>;
    request: CustomFieldUpdateRequest;
    answer: CustomFieldResponse;
  };
  /** Deletes a field */
  customFieldDelete: {
    method: 'DELETE';
    path: '/members/v1/custom-fields/{id}';
    query: {
      /** The revision that is deleted. */
      revision?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Hides a field */
  customFieldHide: {
    method: 'POST';
    path: '/members/v1/custom-fields/{id}/hide';
    query: Record<string, never>;
    request: CustomFieldHideRequest;
    answer: Empty;
  };
  /** Lists fields that sites usually have and this one doesn't */
  customFieldSuggestionList: {
    method: 'GET';
    path: '/members/v1/custom-field-suggestions';
    query: {
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CustomFieldSuggestionsResponse;
  };
  /** Finds fields that sites usually have and this one doesn't */
  customFieldSuggestionQuery: {
    method: 'POST';
    path: '/members/v1/custom-field-suggestions/query';
    query: Record<string, never>;
    request: CustomFieldSuggestionQueryRequest;
    answer: CustomFieldSuggestionsResponse;
  };
  /** Says to whom a field applies */
  fieldApplicationCreate: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications';
    query: Record<string, never>;
    request: FieldApplicationCreateRequest;
    answer: FieldApplicationResponse;
  };
  /** Reads to whom fields apply */
  fieldApplicationList: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications/applications';
    query: Record<string, never>;
    request: FieldApplicationListRequest;
    answer: FieldApplicationListResponse;
  };
  /** Reads which fields apply to members */
  fieldApplicationListOfMembers: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications/members';
    query: Record<string, never>;
    request: MemberIdsRequest;
    answer: AppliedFieldsResponse;
  };
  /** Reads which fields apply to roles */
  fieldApplicationListOfRoles: {
    method: 'POST';
    path: '/members/v1/custom-fields-applications/roles';
    query: Record<string, never>;
    request: FieldApplicationListOfRolesRequest;
    answer: AppliedFieldsResponse;
  };
  /** Reads to whom a field applies */
  fieldApplicationGet: {
    method: 'GET';
    path: '/members/v1/custom-fields-applications/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: FieldApplicationResponse;
  };
  /** Changes to whom a field applies */
  fieldApplicationUpdate: {
    method: 'PATCH';
    path: '/members/v1/custom-fields-applications/{id}';
    query: Record<string, never>;
    request: FieldApplicationUpdateRequest;
    answer: FieldApplicationResponse;
  };
  /** Lets a field apply to all again */
  fieldApplicationDelete: {
    method: 'DELETE';
    path: '/members/v1/custom-fields-applications/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Reads whether new members are shown */
  defaultPrivacyGet: {
    method: 'GET';
    path: '/members/v1/default-privacy-status';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: DefaultPrivacyResponse;
  };
  /** Sets whether new members are shown */
  defaultPrivacyUpdate: {
    method: 'PATCH';
    path: '/members/v1/default-privacy-status';
    query: Record<string, never>;
    request: DefaultPrivacyUpdateRequest;
    answer: DefaultPrivacyResponse;
  };
  /** Reads how much members show of themselves */
  privacySettingsGet: {
    method: 'GET';
    path: '/members/v1/privacy-settings';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: PrivacySettingsResponse;
  };
  /** Sets how much members show of themselves */
  privacySettingsUpdate: {
    method: 'POST';
    path: '/members/v1/privacy-settings';
    query: Record<string, never>;
    request: PrivacySettingsUpdateRequest;
    answer: PrivacySettingsResponse;
  };
  /** Lists who follows the calling member */
  followerListMy: {
    method: 'GET';
    path: '/members/v3/followers/my';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Lists whom the calling member follows */
  followingListMy: {
    method: 'GET';
    path: '/members/v3/followers/my/following';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Tells which of these follow the calling member, or are followed */
  connectionQueryMy: {
    method: 'POST';
    path: '/members/v3/followers/my/connections';
    query: Record<string, never>;
    request: ConnectionQueryRequest;
    answer: ConnectionQueryResponse;
  };
  /** Lists who follows a member */
  followerList: {
    method: 'GET';
    path: '/members/v3/followers/{id}';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Follows a member */
  followerCreate: {
    method: 'POST';
    path: '/members/v3/followers/{id}';
    query: Record<string, never>;
    request: Empty;
    answer: Empty;
  };
  /** Follows a member no more */
  followerDelete: {
    method: 'DELETE';
    path: '/members/v3/followers/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists whom a member follows */
  followingList: {
    method: 'GET';
    path: '/members/v3/followers/{id}/following';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberIdPage;
  };
  /** Tells which of these follow a member, or are followed */
  connectionQuery: {
    method: 'POST';
    path: '/members/v3/followers/{id}/connections';
    query: Record<string, never>;
    request: ConnectionQueryRequest;
    answer: ConnectionQueryResponse;
  };
  /** Lists whom the calling member has blocked */
  memberBlockListMy: {
    method: 'GET';
    path: '/members/v1/member-to-member-blocks/members/my';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberBlockListMyResponse;
  };
  /** Blocks a member for the calling one */
  memberBlockCreate: {
    method: 'POST';
    path: '/members/v1/member-to-member-blocks/members/my';
    query: Record<string, never>;
    request: MemberBlockCreateRequest;
    answer: Empty;
  };
  /** Takes such a block back */
  memberBlockDelete: {
    method: 'DELETE';
    path: '/members/v1/member-to-member-blocks/members/my/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Lists whom a member has blocked, and by whom they are */
  memberBlockList: {
    method: 'GET';
    path: '/members/v1/member-to-member-blocks/members/{id}';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberBlockListResponse;
  };
  /** Reports a member */
  memberReportCreate: {
    method: 'POST';
    path: '/members/v1/member-reports';
    query: Record<string, never>;
    request: MemberReportCreateRequest;
    answer: MemberReportResponse;
  };
  /** Finds reports */
  memberReportQuery: {
    method: 'POST';
    path: '/members/v1/member-reports/query';
    query: Record<string, never>;
    request: MemberReportQueryRequest;
    answer: MemberReportQueryResponse;
  };
  /** Lists the members that were reported */
  reportedMemberList: {
    method: 'GET';
    path: '/members/v1/member-reports/members';
    query: {
      /** As many on a page, at most. */
      'cursorPaging.limit'?: number;
      /** Where the page before ended, as its answer says. */
      'cursorPaging.cursor'?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: ReportedMembersResponse;
  };
  /** Lists the members that were reported, asked in the body */
  reportedMemberQuery: {
    method: 'POST';
    path: '/members/v1/member-reports/members/query';
    query: Record<string, never>;
    request: CursorQueryRequest;
    answer: ReportedMembersResponse;
  };
  /** Deletes the reports of a member */
  memberReportDelete: {
    method: 'DELETE';
    path: '/members/v1/member-reports/members/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Writes about the calling member */
  memberAboutCreate: {
    method: 'POST';
    path: '/members/v2/abouts';
    query: Record<string, never>;
    request: MemberAboutWriteRequest;
    answer: MemberAboutResponse;
  };
  /** Reads what the calling member wrote */
  memberAboutGetMy: {
    method: 'GET';
    path: '/members/v2/abouts/my';
    query: {
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: MemberAboutResponse;
  };
  /** Reads what members wrote */
  memberAboutQuery: {
    method: 'POST';
    path: '/members/v2/abouts/query';
    query: Record<string, never>;
    request: MemberAboutQueryRequest;
    answer: MemberAboutQueryResponse;
  };
  /** Reads what a member wrote */
  memberAboutGet: {
    method: 'GET';
    path: '/members/v2/abouts/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: MemberAboutResponse;
  };
  /** Changes what a member wrote */
  memberAboutUpdate: {
    method: 'PATCH';
    path: '/members/v2/abouts/{id}';
    query: Record<string, never>;
    request: MemberAboutWriteRequest;
    answer: MemberAboutResponse;
  };
  /** Deletes what a member wrote */
  memberAboutDelete: {
    method: 'DELETE';
    path: '/members/v2/abouts/{id}';
    query: Record<string, never>;
    request: undefined;
    answer: Empty;
  };
  /** Inserts an item */
  itemInsert: {
    method: 'POST';
    path: '/v2/items';
    query: Record<string, never>;
    request: ItemInsertRequest;
    answer: ItemResponse;
  };
  /** Reads an item whose id stands in the query alone */
  itemGetByQuery: {
    method: 'GET';
    path: '/v2/items/';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId: string;
      /** The data of which environment; there is only `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** Fields that are wanted, by dotted names; all without. */
      fields?: Array<string>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemResponse;
  };
  /** Finds items, asked in the query of the address */
  itemQueryByGet: {
    method: 'GET';
    path: '/v2/items/query';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The data of which environment; there is only `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemQueryResponse;
  };
  /** Finds items by a filter, in an order, by pages */
  itemQuery: {
    method: 'POST';
    path: '/v2/items/query';
    query: Record<string, never>;
    request: ItemQueryRequest;
    answer: ItemQueryResponse;
  };
  /** Counts the items that a filter finds */
  itemCount: {
    method: 'POST';
    path: '/v2/items/count';
    query: Record<string, never>;
    request: ItemCountRequest;
    answer: ItemCountResponse;
  };
  /** Reads the values that a field has, each once */
  itemDistinctQuery: {
    method: 'POST';
    path: '/v2/items/query-distinct-values';
    query: Record<string, never>;
    request: ItemDistinctQueryRequest;
    answer: ItemDistinctQueryResponse;
  };
  /** Replaces an item that is there */
  itemUpdate: {
    method: 'POST';
    path: '/v2/items/update';
    query: Record<string, never>;
    request: ItemUpdateRequest;
    answer: ItemResponse;
  };
  /** Inserts an item, or replaces the one that has its id */
  itemSave: {
    method: 'POST';
    path: '/v2/items/save';
    query: Record<string, never>;
    request: ItemSaveRequest;
    answer: ItemSaveResponse;
  };
  /** Changes fields of an item */
  itemPatch: {
    method: 'POST';
    path: '/v2/items/patch';
    query: Record<string, never>;
    request: ItemPatchRequest;
    answer: ItemResponse;
  };
  /** Removes an item */
  itemRemove: {
    method: 'POST';
    path: '/v2/items/remove';
    query: Record<string, never>;
    request: ItemRemoveRequest;
    answer: ItemRemoveResponse;
  };
  /** Removes all items of a collection */
  itemTruncate: {
    method: 'POST';
    path: '/v2/items/truncate';
    query: Record<string, never>;
    request: ItemTruncateRequest;
    answer: Empty;
  };
  /** Reads an item */
  itemGet: {
    method: 'GET';
    path: '/v2/items/{id}';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId?: string;
      /** The data of which environment; there is only `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** Fields that are wanted, by dotted names; all without. */
      fields?: Array<string>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemResponse;
  };
  /** Replaces an item that is there, by its path */
  itemPut: {
    method: 'PUT';
    path: '/v2/items/{id}';
    query: Record<string, never>;
    request: ItemUpdateRequest;
    answer: ItemResponse;
  };
  /** Changes fields of the item in the path */
  itemPatchById: {
    method: 'PATCH';
    path: '/v2/items/{id}';
    query: Record<string, never>;
    request: ItemPatchRequest;
    answer: ItemResponse;
  };
  /** Removes the item in the path */
  itemDelete: {
    method: 'DELETE';
    path: '/v2/items/{id}';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The id, where it is not the one in the path: ids with slashes, dots or nothing but them. */
      dataItemId?: string;
      /** The data of which environment; there is only `LIVE`. */
      environment?: 'LIVE' | 'SANDBOX_PREFERRED' | 'SANDBOX';
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: ItemRemoveResponse;
  };
  /** Inserts many items */
  itemBulkInsert: {
    method: 'POST';
    path: '/v2/bulk/items/insert';
    query: Record<string, never>;
    request: ItemBulkInsertRequest;
    answer: ItemBulkResponse;
  };
  /** Replaces many items */
  itemBulkUpdate: {
    method: 'POST';
    path: '/v2/bulk/items/update';
    query: Record<string, never>;
    request: ItemBulkUpdateRequest;
    answer: ItemBulkResponse;
  };
  /** Inserts or replaces many items */
  itemBulkSave: {
    method: 'POST';
    path: '/v2/bulk/items/save';
    query: Record<string, never>;
    request: ItemBulkSaveRequest;
    answer: ItemBulkResponse;
  };
  /** Changes fields of many items */
  itemBulkPatch: {
    method: 'POST';
    path: '/v2/bulk/items/patch';
    query: Record<string, never>;
    request: ItemBulkPatchRequest;
    answer: ItemBulkResponse;
  };
  /** Removes many items */
  itemBulkRemove: {
    method: 'POST';
    path: '/v2/bulk/items/remove';
    query: Record<string, never>;
    request: ItemBulkRemoveRequest;
    answer: ItemBulkResponse;
  };
  /** Links items with others */
  referenceBulkInsert: {
    method: 'POST';
    path: '/v2/bulk/items/insert-references';
    query: Record<string, never>;
    request: ReferenceBulkInsertRequest;
    answer: ReferenceBulkResponse;
  };
  /** Takes links away */
  referenceBulkRemove: {
    method: 'POST';
    path: '/v2/bulk/items/remove-references';
    query: Record<string, never>;
    request: ReferenceBulkRemoveRequest;
    answer: ReferenceBulkResponse;
  };
  /** Sets all links of an item's field */
  referenceReplace: {
    method: 'POST';
    path: '/v2/items/replace-references';
    query: Record<string, never>;
    request: ReferenceReplaceRequest;
    answer: ReferenceReplaceResponse;
  };
  /** Tells whether two items are linked */
  referenceCheck: {
    method: 'POST';
    path: '/v2/items/is-referenced';
    query: Record<string, never>;
    request: ReferenceCheckRequest;
    answer: ReferenceCheckResponse;
  };
  /** Reads the items that an item's field links to, by pages */
  referencedItemQuery: {
    method: 'POST';
    path: '/v2/items/query-referenced';
    query: Record<string, never>;
    request: ReferencedItemQueryRequest;
    answer: ReferencedItemQueryResponse;
  };
  /** Makes a collection */
  collectionCreate: {
    method: 'POST';
    path: '/v2/collections';
    query: Record<string, never>;
    request: CollectionCreateRequest;
    answer: CollectionResponse;
  };
  /** Lists the collections that the caller may know of */
  collectionList: {
    method: 'GET';
    path: '/v2/collections';
    query: {
      /** As many on a page, at most 1000. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** By what they are sorted. */
      'sort.fieldName'?: 'id' | '_id' | 'displayName' | 'createdDate' | '_createdDate' | 'updatedDate' | '_updatedDate';
      /** In which direction. */
      'sort.order'?: 'ASC' | 'DESC';
      /** Members of the answer that are wanted; all without. */
      fields?: Array<string>;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CollectionListResponse;
  };
  /** Replaces what a collection is */
  collectionUpdate: {
    method: 'PUT';
    path: '/v2/collections';
    query: Record<string, never>;
    request: CollectionUpdateRequest;
    answer: CollectionResponse;
  };
  /** Adds a field */
  fieldCreate: {
    method: 'POST';
    path: '/v2/collections/create-field';
    query: Record<string, never>;
    request: FieldCreateRequest;
    answer: DataCollectionResponse;
  };
  /** Replaces a field */
  fieldUpdate: {
    method: 'POST';
    path: '/v2/collections/update-field';
    query: Record<string, never>;
    request: FieldUpdateRequest;
    answer: DataCollectionResponse;
  };
  /** Deletes a field with its values */
  fieldDelete: {
    method: 'POST';
    path: '/v2/collections/delete-field';
    query: Record<string, never>;
    request: FieldDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds a plugin */
  pluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-plugin';
    query: Record<string, never>;
    request: PluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes a plugin away */
  pluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-plugin';
    query: Record<string, never>;
    request: PluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin PUBLISH */
  publishPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-publish-plugin';
    query: Record<string, never>;
    request: PublishPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin PUBLISH away */
  publishPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-publish-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin URLIZED */
  urlizedPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-urlized-plugin';
    query: Record<string, never>;
    request: UrlizedPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin URLIZED away */
  urlizedPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-urlized-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin MULTILINGUAL */
  multilingualPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-multilingual-plugin';
    query: Record<string, never>;
    request: MultilingualPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin MULTILINGUAL away */
  multilingualPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-multilingual-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin CMS */
  cmsPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-cms-plugin';
    query: Record<string, never>;
    request: CmsPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin CMS away */
  cmsPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-cms-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin CATALOG */
  catalogPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-catalog-plugin';
    query: Record<string, never>;
    request: CatalogPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin CATALOG away */
  catalogPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-catalog-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Adds the plugin DRAFT_ITEMS */
  draftItemsPluginAdd: {
    method: 'POST';
    path: '/v2/collections/add-draft-items-plugin';
    query: Record<string, never>;
    request: DraftItemsPluginAddRequest;
    answer: DataCollectionResponse;
  };
  /** Takes the plugin DRAFT_ITEMS away */
  draftItemsPluginDelete: {
    method: 'POST';
    path: '/v2/collections/delete-draft-items-plugin';
    query: Record<string, never>;
    request: TypedPluginDeleteRequest;
    answer: DataCollectionResponse;
  };
  /** Restores a collection that was deleted */
  collectionRestore: {
    method: 'POST';
    path: '/v2/collections/restore/{id}';
    query: Record<string, never>;
    request: CollectionRestoreRequest;
    answer: DataCollectionResponse;
  };
  /** Reads a collection */
  collectionGet: {
    method: 'GET';
    path: '/v2/collections/{id}';
    query: {
      /** The id, where it can't stand in the path. */
      dataCollectionId?: string;
      /** Members of the answer that are wanted; all without. */
      fields?: Array<string>;
      /** Adds what the caller may do. */
      includeAllowedDataPermissions?: boolean;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: CollectionResponse;
  };
  /** Changes members of a collection, or a field */
  collectionPatch: {
    method: 'PATCH';
    path: '/v2/collections/{id}';
    query: Record<string, never>;
    request: CollectionPatchRequest;
    answer: DataCollectionResponse;
  };
  /** Deletes a collection with its items */
  collectionDelete: {
    method: 'DELETE';
    path: '/v2/collections/{id}';
    query: {
      /** The id, where it can't stand in the path. */
      dataCollectionId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Lists the indexes of a collection */
  indexList: {
    method: 'GET';
    path: '/v2/indexes';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** As many on a page, at most. */
      'paging.limit'?: number;
      /** As many are left out before. */
      'paging.offset'?: number;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: IndexListResponse;
  };
  /** Makes an index */
  indexCreate: {
    method: 'POST';
    path: '/v2/indexes';
    query: Record<string, never>;
    request: IndexCreateRequest;
    answer: IndexResponse;
  };
  /** Drops an index */
  indexDrop: {
    method: 'DELETE';
    path: '/v2/indexes';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** The index. */
      indexName: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Tells how many indexes a collection may still have */
  indexAvailableGet: {
    method: 'GET';
    path: '/v2/indexes/available';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: IndexAvailableResponse;
  };
  /** Reads who may do what with a collection */
  permissionsGet: {
    method: 'GET';
    path: '/v1/permissions';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: PermissionsResponse;
  };
  /** Sets levels of a collection */
  permissionsUpdate: {
    method: 'POST';
    path: '/v1/permissions';
    query: Record<string, never>;
    request: PermissionsUpdateRequest;
    answer: PermissionsResponse;
  };
  /** Tells what the caller may do */
  permissionsGetMy: {
    method: 'GET';
    path: '/v1/permissions/current';
    query: {
      /** The collection. */
      dataCollectionId: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: AllowedPermissions;
  };
  /** Gives a user or a role rights of their own */
  specialPermissionCreate: {
    method: 'POST';
    path: '/v1/permissions/special';
    query: Record<string, never>;
    request: SpecialPermissionCreateRequest;
    answer: SpecialPermissionResponse;
  };
  /** Changes special permissions */
  specialPermissionUpdate: {
    method: 'POST';
    path: '/v1/permissions/special/{id}';
    query: Record<string, never>;
    request: SpecialPermissionUpdateRequest;
    answer: SpecialPermissionResponse;
  };
  /** Takes special permissions back */
  specialPermissionDelete: {
    method: 'DELETE';
    path: '/v1/permissions/special/{id}';
    query: {
      /** The id, where it can't stand in the path. */
      specialPermissionsId?: string;
      /** All that stands in the query, as JSON in base64url. */
      '.r'?: string;
    };
    request: undefined;
    answer: Empty;
  };
  /** Reads this document */
  documentGet: {
    method: 'GET';
    path: '/openapi.json';
    query: Record<string, never>;
    request: undefined;
    answer: OpenApiDocument;
  };
  /** Shows this document as a page */
  referencePageGet: {
    method: 'GET';
    path: '/docs/api';
    query: {
      /** Words of what is looked for. */
      filter?: string;
    };
    request: undefined;
    answer: string;
  };
  /** Reads this document with the types of the site's items */
  siteDocumentGet: {
    method: 'GET';
    path: '/_api/content/v1/openapi.json';
    query: Record<string, never>;
    request: undefined;
    answer: OpenApiDocument;
  };
}
