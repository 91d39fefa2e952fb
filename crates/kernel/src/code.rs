//! Every error code on one page: its name on the wire, its HTTP status and its plain sentence.
//!
//! Sources: docs/protocol/content.md §15 (WDE), docs/protocol/identity.md §11, §12. Statuses
//! without a source are our choice and stand here so that they are made once.

macro_rules! codes {
    ($($variant:ident = $name:literal, $status:literal, $sentence:literal;)+) => {
        /// A code of the table in this file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($variant),+ }

        impl Code {
            /// All codes, for tests and documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The `applicationError.code` that a client reads.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status),+ }
            }
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),+ }
            }
        }
    };
}

codes! {
    // Content: faults of a request that the public client also checks (docs/protocol/content.md §13).
    CollectionNotText    = "WDE0001", 400, "Collection name must be a string.";
    ItemIdNotText        = "WDE0002", 400, "Item id must be a string.";
    FieldNotText         = "WDE0003", 400, "Field name must be a string.";
    ItemNotObject        = "WDE0004", 400, "Item must be an object.";
    ItemsNotObjects      = "WDE0005", 400, "Items must be an array of objects whose _id, when present, is a string.";
    TooManyItems         = "WDE0006", 400, "At most 1000 items per request.";
    ItemIdInvalid        = "WDE0007", 400, "The item's _id must be a non-empty string.";
    ItemTooLarge         = "WDE0009", 400, "The item is too large.";
    FilterNotObject      = "WDE0016", 400, "Filter must be an object.";
    OptionsInvalid       = "WDE0018", 400, "Invalid options.";
    ReferenceIdInvalid   = "WDE0019", 400, "Reference id must be a string or an object with an _id.";
    NotMultiReference    = "WDE0020", 400, "The field is not a multi-reference field.";
    ReferencesInvalid    = "WDE0021", 400, "Invalid references.";
    FieldDeleted         = "WDE0024", 400, "The field was deleted.";
    CollectionNotFound   = "WDE0025", 404, "The collection does not exist.";
    CollectionDeleted    = "WDE0026", 404, "The collection was deleted.";
    PermissionDenied     = "WDE0027", 403, "The current user does not have permissions for this operation.";
    TimeLimit            = "WDE0028", 504, "The operation took too long.";
    ReferenceExists      = "WDE0029", 409, "The reference already exists.";
    NotNumber            = "WDE0032", 400, "Value must be a number.";
    NotPositive          = "WDE0033", 400, "Value must be positive.";
    Negative             = "WDE0034", 400, "Value must not be negative.";
    NotInteger           = "WDE0035", 400, "Value must be an integer.";
    AboveMaximum         = "WDE0036", 400, "Value exceeds the maximum.";
    OperandNotText       = "WDE0044", 400, "Operand must be a string.";
    OperandType          = "WDE0045", 400, "Operand has a type that the operator does not take.";
    OperandTypesDiffer   = "WDE0046", 400, "Operands must have the same type.";
    ListElementType      = "WDE0047", 400, "List elements must be strings, numbers or dates.";
    FilterFieldNotText   = "WDE0048", 400, "Filter field name must be a string.";
    SortNotText          = "WDE0051", 400, "Sort field must be a string.";
    Internal             = "WDE0053", 500, "Internal error.";
    FilterTree           = "WDE0056", 400, "Filter must be an object.";
    ListOperand          = "WDE0057", 400, "The operator takes a list.";
    SortNotList          = "WDE0065", 400, "Sort must be a list.";
    SortElement          = "WDE0066", 400, "Sort elements must be objects.";
    SortDirection        = "WDE0067", 400, "Sort direction must be ASC or DESC.";
    RemoveIdsInvalid     = "WDE0068", 400, "Ids must be an array of strings.";
    TooManyIds           = "WDE0069", 400, "At most 1000 ids per request.";
    RegexNotAllowed      = "WDE0070", 400, "The $regex operator is not allowed.";
    ItemNotFound         = "WDE0073", 404, "The item does not exist.";
    ItemExists           = "WDE0074", 409, "An item with this id already exists.";
    RequestInvalid       = "WDE0075", 400, "The request is not valid.";
    ItemIdRefused        = "WDE0079", 400, "The item id is not valid.";
    HookThrew            = "WDE0078", 400, "A hook of the collection refused this.";
    BadRequest           = "WDE0080", 400, "Bad request.";
    SortTooLarge         = "WDE0092", 400, "The data set is too large to sort.";
    FilterInvalid        = "WDE0093", 400, "The filter is not valid.";
    NameEmpty            = "WDE0094", 400, "Name must not be empty.";
    CollectionExists     = "WDE0104", 409, "A collection with this id already exists.";
    PayloadTooLarge      = "WDE0109", 413, "The request is too large.";
    NotSupported         = "WDE0119", 428, "This is not supported.";
    SortSeveralArrays    = "WDE0121", 400, "At most one sort field may hold arrays.";
    HookQuota            = "WDE0122", 429, "Too many calls wait for the hooks of the site; try again.";
    UniqueConflict       = "WDE0123", 409, "A unique value already exists.";
    ItemTooLargeToIndex  = "WDE0133", 400, "The item has a value that is too large to index.";
    FieldNameDollar      = "WDE0134", 400, "Field names must not begin with $.";
    FieldInvalid         = "WDE0147", 400, "The field is not valid.";
    HookFailed           = "WDE0150", 400, "A hook of the collection failed.";
    CursorInvalid        = "WDE0151", 400, "The cursor is not valid.";
    PagingInvalid        = "WDE0152", 400, "The paging is not valid.";
    ReferenceNotFound    = "WDE0153", 404, "The reference does not exist.";
    IndexLimit           = "WDE0160", 400, "The collection has as many indexes as it may have.";
    IndexExists          = "WDE0164", 400, "There is an index with this name.";
    ItemTooDeep          = "WDE0168", 400, "The item is nested too deep.";
    FilterTooDeep        = "WDE0169", 400, "The filter is nested too deep.";
    HookTimeout          = "WDE0172", 400, "A hook of the collection took too long.";
    IndexNotFound        = "WDE0176", 400, "There is no index with this name.";
    RevisionWrong        = "WDE0178", 409, "The revision is not the current one.";
    SearchOff            = "WDE0190", 400, "The collection is not searched.";
    MultiReferenceValue  = "WDE0303", 400, "The value of a multi-reference must be a list of ids.";
    SandboxDisabled      = "WDE0179", 403, "The sandbox is not available.";

    // Identity: the five codes that the public client maps (docs/protocol/identity.md §11).
    CaptchaMissing       = "-19971", 400, "A captcha answer is needed.";
    CaptchaInvalid       = "-19970", 400, "The captcha answer is not valid.";
    PasswordWrong        = "-19976", 401, "The email or password does not match.";
    PasswordReset        = "-19973", 403, "The password must be reset.";
    EmailTaken           = "-19995", 409, "The email is already taken.";
    // Identity: everything else is symbolic.
    Validation           = "INVALID_ARGUMENT", 400, "INVALID_ARGUMENT";
    EmailInvalid         = "INVALID_EMAIL", 400, "The email address is not valid.";
    MemberBlocked        = "MEMBER_BLOCKED", 403, "The member can not sign in.";
    StateTokenInvalid    = "INVALID_STATE_TOKEN", 400, "The sign-in has expired or was finished; start again.";
    VerificationRequired = "EMAIL_VERIFICATION_REQUIRED", 403, "The email address must be verified first.";
    VerificationFailed   = "VERIFICATION_FAILED", 400, "The code is wrong or has expired.";
    ProofNeeded          = "INSUFFICIENT_USER_AUTHENTICATION", 403, "Show first who you are, by a second factor or the password.";
    FactorNeeded         = "REQUIRE_MFA", 403, "A second factor is needed; sign in on the account pages or by /v2/login.";
    ProfileInvalid       = "INVALID_PROFILE", 400, "The profile is not valid.";
    LinkInvalid          = "INVALID_LINK", 400, "The link has expired or was used.";
    Throttled            = "THROTTLED_FEATURE", 429, "Too many attempts; try again later.";
    Unauthenticated      = "UNAUTHENTICATED", 401, "A valid token is needed.";
    Forbidden            = "PERMISSION_DENIED", 403, "The caller may not do this.";
    ScopeMissing         = "INSUFFICIENT_SCOPE", 403, "The token or key is not given for this.";
    NotFound             = "NOT_FOUND", 404, "Not found.";
    AlreadyExists        = "ALREADY_EXISTS", 409, "It already exists.";
    LastWayIn            = "LAST_WAY_IN", 409, "Nothing would be left to sign in with; set a password first.";
    RevisionOld          = "INVALID_REVISION", 409, "The revision is not the current one.";
    SlugTaken            = "SLUG_ALREADY_EXISTS", 409, "The slug belongs to another member.";
    CommunityClosed      = "COMMUNITY_JOIN_IMPOSSIBLE", 403, "Members of this site can not show themselves.";
    BlockedByMember      = "MEMBER_TO_MEMBER_BLOCKED", 403, "One of the two members has blocked the other.";
    SelfBlock            = "MEMBER_SELF_BLOCK_FORBIDDEN", 400, "Nobody can do this to themselves.";
    TooMany              = "TOO_MANY", 400, "There are too many of these already.";
    SiteUnknown          = "SITE_NOT_FOUND", 404, "No site matches the request.";
    ClientUnknown        = "CLIENT_NOT_FOUND", 400, "The client id is not known.";
    RedirectRefused      = "REDIRECT_URI_NOT_ALLOWED", 400, "The address is not registered for this client.";
    MethodNotAllowed     = "METHOD_NOT_ALLOWED", 405, "The path does not take this method.";
    MalformedJson        = "MALFORMED_JSON", 400, "The request body is not valid JSON.";
    NotBuilt             = "UNIMPLEMENTED", 501, "The server does not have this call.";
    PageNotSet           = "PAGE_NOT_SET", 428, "The site has not said where this page is.";
    Unavailable          = "UNAVAILABLE", 503, "The service is busy; try again.";
    StorageFull          = "STORAGE_FULL", 503, "The server can not store more now.";
    OutcomeUnknown       = "OUTCOME_UNKNOWN", 503, "The write may or may not have happened; read before trying again.";
    // OAuth error names (RFC 6749 section 5.2, OpenID Connect Core 3.1.2.6).
    OauthInvalidRequest  = "invalid_request", 400, "The token request is not valid.";
    OauthInvalidClient   = "invalid_client", 401, "The client is not known or its secret is wrong.";
    OauthInvalidGrant    = "invalid_grant", 400, "The grant is not valid, has expired or was used.";
    OauthGrantType       = "unsupported_grant_type", 400, "The grant type is not supported.";
    OauthInvalidScope    = "invalid_scope", 400, "A scope is not known.";
    OauthTokenType       = "unsupported_token_type", 400, "Tokens of this kind can not be taken back.";
    OauthUnauthorized    = "unauthorized_client", 403, "The caller may not use this grant.";
    OauthLoginRequired   = "login_required", 400, "Nobody is signed in.";
}

impl Code {
    /// Content codes print as `WDExxxx: text`, because public callers search the message for them.
    pub fn is_content(self) -> bool {
        self.name().starts_with("WDE")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let names: HashSet<_> = Code::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
