// Printed from the Rust types in crates/identity/src/flow/wire.rs. Do not edit by hand; print it again with
// STOA_WRITE_TYPESCRIPT=1 cargo test -p stoa-identity typescript

/**
 * A flow as its page shows it.
 */
export type FlowView = { 
/**
 * Opaque; names the flow in the next request. A new one may be given with every answer.
 */
token: string, kind: FlowKind, site: SiteFace, step: Step, 
/**
 * What is wrong with the last input; empty when nothing is.
 */
problems: Array<Problem>, 
/**
 * Whether `Back` leads somewhere.
 */
canGoBack: boolean, 
/**
 * Where `Cancel` leads; absent when the flow can't be left.
 */
cancelUrl: string | null, 
/**
 * The front end that the flow is for: by it an address of the account pages finds the site.
 */
clientId: string | null, 
/**
 * Where people find the front end; absent when nothing is known of it.
 */
homeUrl: string | null, };

export type FlowKind = "SIGN_IN" | "SIGN_UP" | "SIGN_OUT" | "RECOVER" | "OWNER_SETUP" | "OWNER_SIGN_IN";

/**
 * How the site presents itself on its account pages.
 */
export type SiteFace = { 
/**
 * By which an address names the site, `/s/ID/…`.
 */
id: string, name: string, 
/**
 * BCP 47 tag the site prefers; the page falls back to it after the browser's own languages.
 */
language: string | null, 
/**
 * An address of a picture, by https.
 */
logoUrl: string | null, 
/**
 * Absent where the site has chosen none.
 */
colours: SiteColours | null, termsUrl: string | null, privacyUrl: string | null, };

/**
 * The colours of a site in both themes.
 */
export type SiteColours = { light: Palette, dark: Palette, };

/**
 * The colours of a theme, each as `#rrggbb`.
 */
export type Palette = { 
/**
 * Links and the ground of buttons; read on page, surface, raised ground and on `accentSurface`.
 */
accent: string, 
/**
 * The same beneath a pointer.
 */
accentStrong: string, 
/**
 * Read on `accent` and `accentStrong`.
 */
accentText: string, 
/**
 * The ground of what is chosen.
 */
accentSurface: string, };

/**
 * One question to the person, or the end of the flow.
 */
export type Step = { "type": "SIGN_IN", email: string | null, canSignUp: boolean, canRecover: boolean, passkey: PasskeyChallenge | null, providers: Array<Provider>, } | { "type": "SIGN_UP", email: string | null, fields: Array<ProfileField>, passwordMinLength: number, providers: Array<Provider>, } | { "type": "LINK_PROVIDER", provider: string, email: string, canRecover: boolean, } | { "type": "PROVIDER_FAILED", provider: Provider, reason: ProviderFailure, } | { "type": "VERIFY_EMAIL", emailHint: string, resendAfterSeconds: number, } | { "type": "AWAIT_APPROVAL", emailHint: string, } | { "type": "MISSING_FIELDS", fields: Array<ProfileField>, } | { "type": "SECOND_FACTOR", factors: Array<FactorType>, rememberDays: number, sentTo: string | null, sentBy: FactorType | null, resendAfterSeconds: number, passkey: PasskeyChallenge | null, } | { "type": "AWAIT_PUSH", number: string, expiresDate: string, } | { "type": "OFFER_FACTOR", until: string | null, } | { "type": "ENROL_FACTOR", secret: string, uri: string, until: string | null, passkey: PasskeyChallenge | null, } | { "type": "RECOVERY_CODES", codes: Array<string>, } | { "type": "RECOVER_REQUEST", email: string | null, } | { "type": "RECOVER_SENT", emailHint: string, } | { "type": "NEW_PASSWORD", emailHint: string | null, passwordMinLength: number, } | { "type": "CONSENT", appName: string, host: string, account: string, scopes: Array<string>, } | { "type": "CONFIRM_SIGN_OUT", displayName: string | null, } | { "type": "REDIRECT", url: string, } | { "type": "POST_MESSAGE", origin: string, code: string | null, state: string, error: string | null, errorDescription: string | null, } | { "type": "DONE", message: DoneMessage, } | { "type": "FAILED", code: string, message: string, };

/**
 * What a browser is asked to have a passkey sign. Each view has another one.
 */
export type PasskeyChallenge = { 
/**
 * A GUID, which goes back with the answer.
 */
challengeId: string, 
/**
 * JSON text of PublicKeyCredentialRequestOptionsJSON; of PublicKeyCredentialCreationOptionsJSON in
 * the step `ENROL_FACTOR`.
 */
options: string, 
/**
 * When it ends, ISO 8601.
 */
expiresDate: string, };

/**
 * An identity provider by which members sign in.
 */
export type Provider = { 
/**
 * A GUID, which goes back with the choice.
 */
id: string, 
/**
 * What people call it.
 */
label: string, };

/**
 * Why a provider signed no one in.
 */
export type ProviderFailure = "DECLINED" | "UNAVAILABLE" | "NO_EMAIL" | "NO_ACCOUNT" | "REFUSED";

export type DoneMessage = "SIGNED_IN" | "SIGNED_OUT" | "PASSWORD_CHANGED" | "OWNER_READY";

/**
 * What can be shown as second factor, by the names of docs/protocol/identity.md §10.4; the strongest first.
 */
export type FactorType = "WEBAUTHN" | "TOTP" | "PUSH" | "EMAIL" | "SMS" | "CALL" | "PASSWORD" | "RECOVERY_CODE";

/**
 * What the page sends.
 */
export type FlowInput = { "type": "SIGN_IN", email: string, password: string, captcha: string | null, } | { "type": "SIGN_UP", email: string, password: string, profile: ProfileInput, captcha: string | null, } | { "type": "PROVIDER", id: string, } | { "type": "LINK_PROVIDER", password: string, captcha: string | null, } | { "type": "SWITCH", to: FlowKind, email: string | null, } | { "type": "VERIFY_EMAIL", code: string, } | { "type": "RESEND", factor?: FactorType, } | { "type": "MISSING_FIELDS", profile: ProfileInput, } | { "type": "SECOND_FACTOR", factor: FactorType, code: string, 
/**
 * Not to ask again in this browser for a while.
 */
remember: boolean, } | { "type": "PASSKEY", challengeId: string, 
/**
 * JSON text of `PublicKeyCredential.toJSON()`.
 */
credential: string, 
/**
 * As of a second factor; means nothing in the place of a password.
 */
remember: boolean, } | { "type": "ENROL_FACTOR" } | { "type": "CONFIRM_FACTOR", code: string, } | { "type": "CONFIRM_PASSKEY", challengeId: string, 
/**
 * JSON text of `PublicKeyCredential.toJSON()`.
 */
credential: string, } | { "type": "LATER" } | { "type": "CODES_KEPT" } | { "type": "RECOVER_REQUEST", email: string, } | { "type": "NEW_PASSWORD", password: string, } | { "type": "ALLOW" } | { "type": "DECLINE" } | { "type": "CONFIRM_SIGN_OUT" } | { "type": "BACK" } | { "type": "CANCEL" };

export type ProfileInput = { firstName: string | null, lastName: string | null, nickname: string | null, };

export type ProfileField = { 
/**
 * JSON name inside [`ProfileInput`].
 */
name: string, required: boolean, };

/**
 * Something wrong with the last input. `field` is the name of the input member, absent when the whole
 * step is meant; `message` is the server's own sentence, shown at the field.
 */
export type Problem = { field: string | null, 
/**
 * Stable name for translation, for example `INVALID_CREDENTIALS`.
 */
code: string, message: string, };

/**
 * What the account pages send to begin a flow.
 */
export type FlowStart = { kind: FlowKind, clientId?: string, 
/**
 * Where to go at the end: an address of the client or of this server.
 */
returnUrl?: string, 
/**
 * The token of the invitation, for OWNER_SETUP.
 */
invite?: string, };
