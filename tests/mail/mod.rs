//! Mail as it leaves: through a real SMTP server with TLS, and what follows from the links in it.

mod approval;
mod links;
mod notices;
mod sender;
mod smtp;
