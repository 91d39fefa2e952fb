//! Mail through an SMTP server.
//!
//! Names, subjects and addresses are what people typed. Nothing with a control character in it reaches
//! a header: such a message is refused here, whatever was checked before.

use crate::{Letter, Mail, Mailer, Sending, Undelivered, chain::chain};
use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{
        Mailbox, MultiPart,
        header::{Header, HeaderName, HeaderValue},
    },
    transport::smtp::{
        PoolConfig,
        authentication::Credentials,
        client::{Certificate, CertificateStore, Tls, TlsParameters},
        extension::ClientId,
    },
};
use std::{
    str::FromStr,
    time::{Duration, SystemTime},
};
use tokio::runtime::Handle;

/// An idle connection is closed after this long; servers close theirs after five minutes.
const IDLE: Duration = Duration::from_secs(60);

/// How to reach the server and what to say there.
#[derive(Debug, Clone)]
pub struct SmtpConfig {
    pub host: String,
    pub port: u16,
    pub security: Security,
    /// User and password.
    pub login: Option<(String, stoa_kernel::Secret)>,
    /// The sender: `name@example.org`, or `Name <name@example.org>` to say the same name for every site.
    pub from: String,
    /// For connecting and for each command.
    pub timeout: Duration,
    /// Connections at the same time.
    pub connections: u32,
    /// Certificate authority (PEM) to trust beside the public ones.
    pub authority: Option<Vec<u8>>,
}

/// What protects the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte, usually port 465.
    Implicit,
    /// TLS after `STARTTLS`, usually port 587; a server that doesn't offer it is not used.
    StartTls,
    /// Nothing: for a relay on this machine.
    None,
}

/// Sends through a pool of connections to one server.
pub struct Smtp {
    /// Absent only while it is dropped.
    transport: Option<AsyncSmtpTransport<Tokio1Executor>>,
    from: Mailbox,
    /// The pool says goodbye to its connections when it is dropped, which takes a runtime.
    runtime: Handle,
}

impl Drop for Smtp {
    fn drop(&mut self) {
        let _inside = self.runtime.enter();
        self.transport.take();
    }
}

impl Smtp {
    /// Checks the configuration; connects only when there is something to send.
    ///
    /// # Errors
    /// A sentence that says which part can't be used; also outside a runtime.
    pub fn new(config: &SmtpConfig) -> Result<Self, String> {
        let runtime = Handle::try_current().map_err(|it| it.to_string())?;
        let mut from: Mailbox = config.from.parse().map_err(|it| format!("the sender {:?}: {it}", config.from))?;
        if config.from.chars().any(char::is_control) {
            return Err(format!("the sender {:?} holds control characters", config.from));
        }
        from.email = address(from.email.as_ref()).map_err(|it| it.to_string())?;
        let tls = || -> Result<TlsParameters, String> {
            let mut tls = TlsParameters::builder(config.host.clone()).certificate_store(CertificateStore::WebpkiRoots);
            if let Some(pem) = &config.authority {
                let authority = Certificate::from_pem(pem);
                tls = tls.add_root_certificate(authority.map_err(|it| format!("the certificate authority: {it}"))?);
            }
            tls.build_rustls().map_err(|it| format!("TLS: {it}"))
        };
        let tls = match config.security {
            Security::Implicit => Tls::Wrapper(tls()?),
            Security::StartTls => Tls::Required(tls()?),
            Security::None => Tls::None,
        };
        let pool = PoolConfig::new().max_size(config.connections.max(1)).idle_timeout(IDLE);
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(config.host.clone())
            .port(config.port)
            .tls(tls)
            .hello_name(ClientId::Domain(from.email.domain().to_owned()))
            .timeout(Some(config.timeout))
            .pool_config(pool);
        if let Some((user, password)) = &config.login {
            builder = builder.credentials(Credentials::new(user.clone(), password.expose().to_owned()));
        }
        Ok(Self { transport: Some(builder.build()), from, runtime })
    }

    /// Connects, signs in and leaves: whether the configuration works.
    ///
    /// # Errors
    /// What the server or the network said.
    pub async fn probe(&self) -> Result<(), String> {
        let transport = self.transport.as_ref().ok_or("closed")?;
        match transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err("the server closed the connection".to_owned()),
            Err(error) => Err(chain(&error)),
        }
    }

    fn message(&self, letter: &Letter) -> Result<Message, Undelivered> {
        let never = |what: &str| Undelivered::Never(what.to_owned());
        let Mail { to, subject, text, html, .. } = &letter.mail;
        let Letter { from_name, from_address, reply_to, .. } = letter;
        let header_texts = [to.as_str(), subject, from_name, &letter.id, &letter.language];
        let addresses = from_address.iter().chain(reply_to).map(String::as_str);
        if header_texts.into_iter().chain(addresses).any(|it| it.chars().any(char::is_control)) {
            return Err(never("a header would hold control characters"));
        }
        let to = address(to)?;
        // The site speaks in its own name unless the configuration gives one to the server's address.
        let (fixed, from) = match from_address {
            Some(own) => (None, address(own)?),
            None => (self.from.name.clone(), self.from.email.clone()),
        };
        let name = fixed.or_else(|| Some(from_name.clone()).filter(|it| !it.is_empty()));
        let seconds = u64::try_from(letter.created / 1000).unwrap_or_default();
        let mut builder = Message::builder().from(Mailbox::new(name, from));
        if let Some(reply_to) = reply_to {
            builder = builder.reply_to(Mailbox::new(None, address(reply_to)?));
        }
        let mut message = builder
            .to(Mailbox::new(None, to))
            .subject(subject.clone())
            .date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            .message_id(Some(format!("<{}@{}>", letter.id, self.from.email.domain())))
            .header(AutoSubmitted)
            .multipart(MultiPart::alternative_plain_html(text.clone(), html.clone()))
            .map_err(|it| Undelivered::Never(format!("the message can't be written: {it}")))?;
        let language = HeaderValue::new(HeaderName::new_from_ascii_str("Content-Language"), letter.language.clone());
        message.headers_mut().insert_raw(language);
        Ok(message)
    }
}

impl Mailer for Smtp {
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a> {
        Box::pin(async move {
            let message = self.message(letter)?;
            let transport = self.transport.as_ref().ok_or_else(|| Undelivered::Later("closed".to_owned()))?;
            match transport.send(message).await {
                Ok(_) => Ok(()),
                // A server that doesn't let us in (RFC 4954) says nothing about the recipient.
                // With an address that a site chose, the refusal may be of that one: the message would be lost although
                // the operator has yet to tell the server of it, or the site takes it back.
                Err(error) if error.is_permanent() && !is_about_us(&error) && letter.from_address.is_none() => {
                    Err(Undelivered::Never(chain(&error)))
                }
                Err(error) => Err(unsent(letter, chain(&error))),
            }
        })
    }

    fn fixed_name(&self) -> Option<&str> {
        self.from.name.as_deref()
    }
}

/// Whether a text is an address that a message can be from or to.
pub fn is_mail_address(text: &str) -> bool {
    !text.chars().any(char::is_control) && address(text).is_ok()
}

/// The address with its domain as every server knows it (RFC 5890 A-labels). What stands before the `@` has no such
/// form: letters beyond ASCII there need a server with SMTPUTF8 (RFC 6531).
fn address(text: &str) -> Result<Address, Undelivered> {
    let never = |it: String| Undelivered::Never(format!("the address can't be used: {it}"));
    let given = Address::from_str(text).map_err(|it| never(it.to_string()))?;
    if given.domain().is_ascii() {
        return Ok(given);
    }
    let domain = idna::domain_to_ascii(given.domain()).map_err(|it| never(it.to_string()))?;
    Address::new(given.user(), domain).map_err(|it| never(it.to_string()))
}

/// What a failure that is not the server's last word means. An address that the server has no way to take is not
/// tried again; lettre names that in its text alone.
fn unsent(letter: &Letter, why: String) -> Undelivered {
    let user = letter.mail.to.rsplit_once('@').map_or("", |it| it.0);
    if !user.is_ascii() && why.contains("SMTPUTF8") { Undelivered::Never(why) } else { Undelivered::Later(why) }
}

fn is_about_us(error: &lettre::transport::smtp::Error) -> bool {
    error.status().is_some_and(|it| matches!(u16::from(it), 421 | 500..=504 | 521 | 530..=538))
}

/// Says that no person wrote this, so that no absence notice answers it (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smtp(from: &str) -> Result<Smtp, String> {
        Smtp::new(&SmtpConfig {
            host: "mail.example.org".to_owned(),
            port: 465,
            security: Security::Implicit,
            login: None,
            from: from.to_owned(),
            timeout: Duration::from_secs(1),
            connections: 1,
            authority: None,
        })
    }

    fn letter() -> Letter {
        let mail = Mail {
            to: "anna@example.org".into(),
            subject: "Grüße \u{2068}für\u{2069} dich".into(),
            text: "Text".into(),
            html: "<p>Text</p>".into(),
            links: Vec::new(),
            code: None,
        };
        Letter {
            id: "1".into(),
            created: 1_767_225_600_000,
            from_name: "Café, \"Zeus\"".into(),
            from_address: None,
            reply_to: None,
            language: "de".into(),
            mail,
        }
    }

    #[tokio::test]
    async fn a_letter_becomes_one_message() {
        let plain = smtp("no-reply@example.org").unwrap();
        let text = String::from_utf8(plain.message(&letter()).unwrap().formatted()).unwrap();
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        for line in [
            "Message-ID: <1@example.org>",
            "Date: Thu, 01 Jan 2026 00:00:00 +0000",
            "Auto-Submitted: auto-generated",
            "Content-Language: de",
            "To: anna@example.org",
        ] {
            assert!(head.lines().any(|it| it == line), "{line} in {head}");
        }
        assert!(head.contains("<no-reply@example.org>") && head.is_ascii(), "{head}");
        let named = smtp("Post <no-reply@example.org>").unwrap();
        let text = String::from_utf8(named.message(&letter()).unwrap().formatted()).unwrap();
        assert!(text.contains("From: Post <no-reply@example.org>"), "{text}");
    }

    #[tokio::test]
    async fn a_site_with_an_address_of_its_own_speaks_in_its_own_name() {
        let named = smtp("Post <no-reply@example.org>").unwrap();
        assert_eq!(named.fixed_name(), Some("Post"));
        let letter = Letter {
            from_name: "Zeus".into(),
            from_address: Some("zeus@cafe.example".into()),
            reply_to: Some("help@elsewhere.example".into()),
            ..letter()
        };
        let message = named.message(&letter).unwrap();
        assert_eq!(message.envelope().from().map(ToString::to_string).as_deref(), Some("zeus@cafe.example"));
        let text = String::from_utf8(message.formatted()).unwrap();
        for line in
            ["From: Zeus <zeus@cafe.example>", "Reply-To: help@elsewhere.example", "Message-ID: <1@example.org>"]
        {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
    }

    #[tokio::test]
    async fn nothing_typed_becomes_a_header() {
        let plain = smtp("no-reply@example.org").unwrap();
        for evil in ["x\r\nBcc: eve@example.org", "x\nBcc: eve@example.org", "x\rBcc: y", "x\0y", "x\u{85}y"] {
            let refused = |change: fn(&mut Letter) -> &mut String| {
                let mut it = letter();
                *change(&mut it) = evil.to_owned();
                assert!(matches!(plain.message(&it), Err(Undelivered::Never(_))), "{evil:?}");
            };
            refused(|it| &mut it.mail.subject);
            refused(|it| &mut it.from_name);
            refused(|it| &mut it.language);
            refused(|it| &mut it.id);
            refused(|it| &mut it.mail.to);
            refused(|it| it.from_address.insert(String::new()));
            refused(|it| it.reply_to.insert(String::new()));
        }
        for evil in ["a@example.org, eve@example.org", "a@example.org> <eve@example.org", "<a@example.org>", "a b@c.de"]
        {
            let mut it = letter();
            it.mail.to = evil.to_owned();
            assert!(plain.message(&it).is_err(), "{evil}");
        }
        assert!(smtp("x\r\nBcc: y <a@example.org>").is_err());
        assert!(smtp("nobody").is_err());
    }
}
