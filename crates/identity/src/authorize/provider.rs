//! Sign-in by identity providers outside of flows, and the address to which providers send browsers back (docs/protocol/identity.md §6, SSO;
//! docs/identity-providers.md).

use crate::{
    Identity,
    address::form,
    browser::{Browser, Change, Cookies},
    defence::{attempt::Attempt, device::DeviceHints, throttle::AttemptKind},
    flow::by_provider,
    provider::{
        Channel, Failed, IdpConnection, ProviderFailure, Returned, authorization_url, connection, is_nonce,
        person_of_code, person_of_token,
        trip::{self, Purpose, Trip},
    },
    sign_in::{
        CallOrigin, Outcome, enrolment,
        provider::{self, Recognised},
    },
    token::opaque,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Network, Result, Secret, Violation};
use stoa_store::Site;

/// Bounds of what goes to a provider and back.
const LONGEST_SESSION: usize = 100;
const LONGEST_PAYLOAD: usize = 500;
const LONGEST_TOKEN: usize = 16 * 1024;

/// A browser that came back from a provider.
#[derive(Debug)]
pub enum ProviderReturn {
    /// It goes to the page of the flow with this token.
    Flow { token: Secret },
    /// A page of the site waits for the result.
    Channel { channel: Channel, answer: ChannelAnswer },
}

/// What such a page is told.
#[derive(Debug)]
pub enum ChannelAnswer {
    Outcome(Box<Outcome>),
    Failed(ProviderFailure),
    /// The sign-in was refused, whatever the provider said.
    Refused(Fault),
}

impl ChannelAnswer {
    /// Whether the sign-in got so far that the attempt does not count. What only asks for more may come as often as anybody likes to send
    /// it.
    fn is_good(&self) -> bool {
        let Self::Outcome(outcome) = self else { return false };
        matches!(**outcome, Outcome::Success { .. } | Outcome::MfaChallenge { .. } | Outcome::RequireEnrolment { .. })
    }
}

/// With what the provider sent the browser back.
#[derive(Debug, Clone, Copy)]
pub struct ProviderAnswer<'a> {
    pub state: &'a str,
    pub code: Option<&'a str>,
    pub error: Option<&'a str>,
    /// RFC 9207.
    pub issuer: Option<&'a str>,
}

/// An ID token that a front end got itself, for a nonce of its own.
#[derive(Debug)]
pub struct TokenLogin<'a> {
    pub connection: &'a str,
    pub token: &'a str,
    pub nonce: &'a str,
}

impl Channel {
    /// # Errors
    /// What is wrong with it, member by member.
    pub fn check(&self) -> std::result::Result<(), Vec<Violation>> {
        let mut wrong = Vec::new();
        let is_name = |it: &str| {
            (1..=LONGEST_SESSION).contains(&it.len())
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
        };
        if !is_name(&self.session_id) {
            let why = "letters, digits, - _ and . are expected, 100 at most";
            wrong.push(Violation::new("sessionId", "FORMAT", why));
        }
        if self.key().is_none() {
            wrong.push(Violation::new("encryptionKey", "FORMAT", "base64 of 16 or 32 bytes is expected"));
        }
        let length: usize = self.payload.iter().map(|(name, value)| name.len() + value.len()).sum();
        if length > LONGEST_PAYLOAD {
            let why = format!("must be at most {LONGEST_PAYLOAD} bytes");
            wrong.push(Violation::new("customPayload", "MAX_LENGTH", why).with("threshold", LONGEST_PAYLOAD));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    fn key(&self) -> Option<LessSafeKey> {
        let bytes = STANDARD.decode(&self.encryption_key).ok()?;
        let algorithm = match bytes.len() {
            16 => &AES_128_GCM,
            32 => &AES_256_GCM,
            _ => return None,
        };
        UnboundKey::new(algorithm, &bytes).ok().map(LessSafeKey::new)
    }

    /// What goes back with the result, as `additionalData` has it.
    fn with_payload(&self, mut answer: Value) -> Value {
        for (name, value) in &self.payload {
            if answer["additionalData"][name].is_null() {
                answer["additionalData"][name] = json!({ "strValue": value });
            }
        }
        answer
    }
}

impl Identity {
    /// Where a client's page sends a browser that is to sign in by a provider: an address of this server, which shows who asked for
    /// it. `path` is the one of the call.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a connection that there is not; [`Code::Validation`]; [`Code::Forbidden`] unless the caller is a visitor
    /// or a member.
    pub async fn provider_ticket(
        &self,
        site: &Site,
        caller: &Caller,
        (connection, path): (&str, &str),
        channel: Channel,
    ) -> Result<String> {
        let core = &self.core;
        let shown = match caller.bare() {
            Caller::Visitor { id, .. } => Some(id.clone()),
            Caller::Member { .. } => None,
            Caller::User { .. } | Caller::App { .. } | Caller::Scoped(_) => return Err(Fault::new(Code::Forbidden)),
        };
        let mut wrong = channel.check().err().unwrap_or_default();
        if channel.visitor.is_some() && channel.visitor != shown {
            let why = "it is not the visitor of the token";
            wrong.push(Violation::new("visitorId", "VALIDATION", why));
        }
        if !wrong.is_empty() {
            return Err(Fault::invalid(wrong));
        }
        let connection = found(site, connection).await?;
        let channel = Channel { visitor: shown, ..channel };
        let ticket = trip::ticket(core, site, &connection.id, channel)?;
        Ok(format!("{path}?{}", form([("ticket", ticket.as_str())])))
    }

    /// Sends a browser to a provider: the address, and the cookie that the browser comes back with. `ticket` is of
    /// [`Identity::provider_ticket`]; without one the channel is what the address says.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::Validation`]; [`Code::LinkInvalid`] for a ticket that is over; [`Code::Unavailable`] when the provider
    /// does not answer; [`Code::Throttled`].
    pub async fn provider_open(
        &self,
        site: &Site,
        connection: &str,
        (ticket, channel): (Option<&str>, Channel),
        browser: &Browser,
    ) -> Result<(String, Cookies)> {
        let core = &self.core;
        let _permit = core.throttle.attempt(AttemptKind::Flow, core.now(), &site.id, browser.address, "")?;
        let connection = found(site, connection).await?;
        if browser.is_at_sites_host {
            let why = "providers send browsers back to the server's own address; open this one there";
            return Err(Fault::invalid(vec![Violation::new("idpConnectionId", "FIELD_NOT_ALLOWED", why)]));
        }
        let channel = match ticket {
            Some(ticket) => {
                let redeemed = trip::redeem(core, site, &connection.id, ticket).await?;
                redeemed.ok_or_else(|| Fault::new(Code::LinkInvalid))?
            }
            None => {
                let mut wrong = channel.check().err().unwrap_or_default();
                if channel.visitor.is_some() {
                    let why = "a browser without a token does not show whose it is";
                    wrong.push(Violation::new("visitorId", "FIELD_NOT_ALLOWED", why));
                }
                if !wrong.is_empty() {
                    return Err(Fault::invalid(wrong));
                }
                channel
            }
        };
        let known = browser.flow.as_deref().filter(|it| it.len() == 43);
        let cookie = Secret::new(known.map_or_else(|| core.world().token::<32>(), str::to_owned));
        let trip = Trip::begin(core, &connection.id, browser, cookie.expose(), Purpose::Channel(channel));
        let url = authorization_url(core, site, &connection, &trip, false).await?.map_err(|failed| {
            failed.log(&connection);
            Fault::because(Code::Unavailable, ProviderFailure::Unavailable.sentence())
        })?;
        Ok((url, Cookies { flow: Change::Set(cookie), ..Cookies::default() }))
    }

    /// The site that a `state` names.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`].
    pub async fn provider_site(&self, state: &str) -> Result<Arc<Site>> {
        let number = trip::site_number(state).ok_or_else(|| Fault::new(Code::StateTokenInvalid))?;
        opaque::site_of_number(&self.core, number).await.map_err(|it| match it.code() {
            Code::SiteUnknown => Fault::new(Code::StateTokenInvalid),
            _ => it,
        })
    }

    /// Goes on where a browser was that comes back from a provider. Each attempt counts for its network until one succeeds.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] for a state that was made elsewhere, in another browser, too long ago or for what is over, and for an
    /// answer that was used; [`Code::Throttled`]; [`Code::MemberBlocked`]; [`Code::PasswordReset`].
    pub async fn provider_return(
        &self,
        site: &Arc<Site>,
        answer: ProviderAnswer<'_>,
        browser: &Browser,
    ) -> Result<ProviderReturn> {
        let core = &self.core;
        let gone = || Fault::new(Code::StateTokenInvalid);
        let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, browser.address, "")?;
        // Nor are good answers without end: each asks the provider, and leaves a row.
        let _counts = core.throttle.attempt(AttemptKind::Flow, core.now(), &site.id, browser.address, "")?;
        let trip = Trip::open(core, site, answer.state, browser).await?.ok_or_else(gone)?;
        let connection = connection::enabled(site, &trip.connection).await?.ok_or_else(gone)?;
        let ProviderAnswer { code, error, issuer, .. } = answer;
        let network = Network::of(browser.address).site();
        let returned = Returned { network, code, error, issuer };
        let person = person_of_code(core, site, &connection, &trip, returned).await?;
        let (is_good, returned) = match trip.purpose {
            Purpose::Flow { token } => {
                let is_good = person.is_ok();
                by_provider::put(core, site, (&token, browser), &connection, person).await?;
                (is_good, ProviderReturn::Flow { token: Secret::new(token) })
            }
            Purpose::Channel(channel) => {
                let answer = match person {
                    Ok((person, once)) => {
                        let attempt = Attempt {
                            address: browser.address,
                            visitor: channel.visitor.clone(),
                            client: None,
                            hints: DeviceHints {
                                cookie: browser.device.clone(),
                                user_agent: browser.user_agent.clone(),
                            },
                            captcha: None,
                        };
                        let from = CallOrigin::from(browser.address);
                        let signed = async {
                            let recognised = provider::sign_in(core, site, &attempt, &person, Some(&once)).await?;
                            channel_answer(self, site, recognised, from).await
                        };
                        // The page that waits would wait for ever.
                        signed.await.unwrap_or_else(ChannelAnswer::Refused)
                    }
                    Err(failed) => {
                        failed.log(&connection);
                        ChannelAnswer::Failed(failed.reason)
                    }
                };
                (answer.is_good(), ProviderReturn::Channel { channel, answer })
            }
        };
        if is_good {
            core.throttle.refund(permit);
        }
        Ok(returned)
    }

    /// What is posted in a channel: the answer, encrypted for the page that waits.
    ///
    /// # Errors
    /// None that a caller can mend.
    pub fn channel_message(&self, channel: &Channel, answer: &Value) -> Result<Value> {
        let broken = || Fault::internal("a channel was not checked");
        let key = channel.key().ok_or_else(broken)?;
        let iv = self.core.world().bytes::<12>();
        let mut data = channel.with_payload(answer.clone()).to_string().into_bytes();
        let nonce = Nonce::assume_unique_for_key(iv);
        key.seal_in_place_append_tag(nonce, Aad::empty(), &mut data).map_err(|_| broken())?;
        Ok(json!({ "iv": STANDARD.encode(iv), "data": STANDARD.encode(data) }))
    }

    /// Signs in whom a provider has shown to a front end, by an ID token for a nonce that counts once
    /// (`POST /v1/sso/login-with-token-params`).
    ///
    /// # Errors
    /// [`Code::NotFound`] for a connection that there is not; [`Code::VerificationFailed`] for a token that is not accepted;
    /// [`Code::StateTokenInvalid`] for one that was used; [`Code::EmailInvalid`] when it names no address; [`Code::Forbidden`] where it
    /// means no account and the site makes none; [`Code::Unavailable`] when the provider does not answer; those of a sign-in.
    pub async fn provider_login(&self, site: &Arc<Site>, attempt: &Attempt, login: TokenLogin<'_>) -> Result<Outcome> {
        let core = &self.core;
        // Each answer of a provider that counts leaves a row.
        let _permit = core.throttle.attempt(AttemptKind::Flow, core.now(), &site.id, attempt.address, "")?;
        let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, attempt.address, "")?;
        let connection = found(site, login.connection).await?;
        if !is_nonce(login.nonce) {
            let why = "16 to 512 characters are expected";
            return Err(Fault::invalid(vec![Violation::new("tokenParams.nonce", "FORMAT", why)]));
        }
        if login.token.len() > LONGEST_TOKEN {
            let why = format!("must be at most {LONGEST_TOKEN} characters");
            return Err(Fault::invalid(vec![Violation::new("tokenParams.idToken", "MAX_LENGTH", why)]));
        }
        let person = person_of_token(core, site, &connection, login.token, login.nonce).await;
        let (person, once) = person.map_err(|failed| refused(&connection, &failed))?;
        let recognised = provider::sign_in(core, site, attempt, &person, Some(&once)).await?;
        let answer = channel_answer(self, site, recognised, CallOrigin::of(attempt)).await?;
        if answer.is_good() {
            core.throttle.refund(permit);
        }
        match answer {
            ChannelAnswer::Outcome(outcome) => Ok(*outcome),
            ChannelAnswer::Failed(reason) => Err(fault_of(reason)),
            ChannelAnswer::Refused(fault) => Err(fault),
        }
    }
}

async fn channel_answer(
    identity: &Identity,
    site: &Arc<Site>,
    recognised: Recognised,
    from: CallOrigin<'_>,
) -> Result<ChannelAnswer> {
    Ok(match recognised {
        // Where more is to be shown, the account pages link.
        Recognised::Outcome(outcome) | Recognised::Links(outcome) => {
            ChannelAnswer::Outcome(Box::new(enrolment::for_call(&identity.core, site, *outcome, from).await?))
        }
        Recognised::MustLink { email } => ChannelAnswer::Outcome(Box::new(identity.login_begin(site, &email)?)),
        Recognised::Failed(reason) => ChannelAnswer::Failed(reason),
    })
}

fn refused(connection: &IdpConnection, failed: &Failed) -> Fault {
    failed.log(connection);
    fault_of(failed.reason)
}

fn fault_of(reason: ProviderFailure) -> Fault {
    let code = match reason {
        ProviderFailure::Unavailable => Code::Unavailable,
        ProviderFailure::NoEmail => Code::EmailInvalid,
        ProviderFailure::NoAccount => Code::Forbidden,
        ProviderFailure::Declined | ProviderFailure::Refused => Code::VerificationFailed,
    };
    Fault::because(code, reason.sentence())
}

/// A connection that can be used.
async fn found(site: &Site, id: &str) -> Result<IdpConnection> {
    connection::enabled(site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))
}
