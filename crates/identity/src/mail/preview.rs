//! Every message as it would be sent.

use crate::{
    Identity,
    mail::{deliver, message::Message, render::render, setting, words},
};
use stoa_kernel::Result;
use stoa_store::Site;

impl Identity {
    /// Every message as it would be sent, by language and kind, for looking at.
    pub async fn mail_preview(&self, site: &Site) -> Result<Vec<(String, &'static str, stoa_outbound::Mail)>> {
        let core = &self.core;
        let (setting, context) = (setting::of_site(site).await?, deliver::context_of(core, site).await?);
        let mut tags: Vec<String> = words::tags().map(str::to_owned).collect();
        tags.extend(setting.templates.keys().filter(|it| words::find(it).is_none()).cloned());
        let examples = Message::examples();
        let all = tags.iter().flat_map(|tag| examples.iter().map(move |it| (tag, it)));
        all.map(|(tag, message)| {
            let mail = render(message, "anna@example.org", tag, &context, &setting)?;
            Ok((tag.clone(), message.kind(), mail))
        })
        .collect()
    }
}
