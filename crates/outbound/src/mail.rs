//! A message and the trait that sends it.

use std::pin::Pin;
use stoa_kernel::Result;

/// One e-mail to one person.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mail {
    /// Address as the person wrote it.
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The addresses in the text that do something, so that nobody has to search for them.
    pub links: Vec<String>,
    /// The one-time code in the text, when there is one.
    pub code: Option<String>,
}

/// The answer of [`Mailer::send`].
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// Hands messages to whoever delivers them.
pub trait Mailer: Send + Sync {
    /// Accepts the message for delivery. An error means that it was not accepted:
    /// [`stoa_kernel::Code::Unavailable`], with the reason in the log text.
    fn send<'a>(&'a self, mail: &'a Mail) -> Sending<'a>;
}
