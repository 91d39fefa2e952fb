//! The development outbox: without SMTP every message is kept in `DIR/outbox/mail.jsonl`.
//!
//! One line of JSON a message, in the order of sending. The file is not synced: a message that a power
//! cut loses is asked for again.

use crate::{Letter, Mail, Mailer, Sending, Undelivered};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
};
use stoa_kernel::{Code, Fault, Result};

/// A message as it is kept, and from where it would be and where answers would go when its site says so.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(flatten)]
    mail: &'a Mail,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'a str>,
}

/// Appends messages to a file. The log says that there is one: its readers must not sign in by it.
pub struct OutboxFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl OutboxFile {
    /// Opens `data/outbox/mail.jsonl`, making it when it is missing. Only its owner may read it: the
    /// messages hold links that sign people in.
    pub fn open(data: &Path) -> Result<Self> {
        let folder = data.join("outbox");
        let path = folder.join("mail.jsonl");
        let open = || -> std::io::Result<File> {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            File::options().create(true).append(true).mode(0o600).open(&path)
        };
        match open() {
            Ok(file) => Ok(Self { path, file: Mutex::new(file) }),
            Err(error) => Err(Fault::because(
                Code::Unavailable,
                format!("the outbox {} can not be opened: {error}", path.display()),
            )),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps what is for the people who run the server, and is sent to no one.
    ///
    /// # Errors
    /// [`Code::Unavailable`] when the file can't be written.
    pub fn keep(&self, mail: &Mail) -> Result<()> {
        let line = Line { mail, from: None, reply_to: None };
        self.append(&line).map_err(|it| Fault::because(Code::Unavailable, it.to_string()))
    }

    fn append(&self, line: &Line<'_>) -> Result<(), Undelivered> {
        let mail = line.mail;
        let mut line = serde_json::to_vec(line).map_err(|it| Undelivered::Never(it.to_string()))?;
        line.push(b'\n');
        // One call under a lock, so that a reader never sees lines mixed.
        let mut file = self.file.lock().unwrap_or_else(|it| it.into_inner());
        file.write_all(&line).map_err(|it| Undelivered::Later(format!("outbox: {it}")))?;
        drop(file);
        // A subject may hold a code.
        let holds = match (mail.links.is_empty(), mail.code.is_some()) {
            (false, _) => " with a link",
            (true, true) => " with a code",
            (true, false) => "",
        };
        // What has no address is told of where it is kept.
        if !mail.to.is_empty() {
            tracing::info!(to = %mail.to, "a message{holds} was kept in {}", self.path.display());
        }
        Ok(())
    }
}

impl Mailer for OutboxFile {
    fn send<'a>(&'a self, letter: &'a Letter) -> Sending<'a> {
        let (from, reply_to) = (letter.from_address.as_deref(), letter.reply_to.as_deref());
        Box::pin(async move { self.append(&Line { mail: &letter.mail, from, reply_to }) })
    }

    fn is_local(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_one_line_a_message_in_the_documented_shape() {
        let folder = std::env::temp_dir().join(format!("stoa-outbox-{}", std::process::id()));
        let outbox = OutboxFile::open(&folder).expect("opens");
        let mail = Mail {
            to: "a@example.org".into(),
            subject: "Line\nbreak".into(),
            text: "t".into(),
            html: "<p>t</p>".into(),
            links: vec!["https://example.org/x".into()],
            code: None,
        };
        let letter = |mail| Letter {
            id: "1".into(),
            created: 0,
            from_name: "Site".into(),
            from_address: None,
            reply_to: None,
            language: "en".into(),
            mail,
        };
        outbox.send(&letter(mail.clone())).await.expect("kept");
        outbox.send(&letter(Mail { code: Some("012345".into()), ..mail.clone() })).await.expect("kept");
        let own = Some("site@example.org".to_owned());
        outbox.send(&Letter { from_address: own.clone(), reply_to: own, ..letter(mail) }).await.expect("kept");
        let text = fs::read_to_string(outbox.path()).expect("readable");
        fs::remove_dir_all(&folder).expect("removed");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|it| serde_json::from_str(it).expect("each line is JSON")).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!([&lines[2]["from"], &lines[2]["replyTo"]], ["site@example.org"; 2]);
        let keys: Vec<_> = lines[0].as_object().expect("object").keys().cloned().collect();
        assert_eq!(keys, ["to", "subject", "text", "html", "links", "code"]);
        assert!(lines[0]["code"].is_null());
        assert_eq!(lines[1]["code"], "012345");
    }
}
