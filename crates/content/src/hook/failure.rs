//! What a hook makes of a call's failure: `onFailure` answers in place of the call, or says another error.
//!
//! Its answer is for the caller and for nothing else: it is no item that is written, and nothing of the site's items is
//! in it but what the code was shown before.

use super::CallHooks;
use crate::{
    collection::Collection,
    page::{Page, print::print},
};
use serde_json::{json, value::RawValue};
use std::collections::BTreeMap;
use stoa_hooks::Hook;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::plan::Start;
use stoa_sql::json::quoted;

impl CallHooks {
    /// Does a call. Where it fails, `onFailure` is asked, and `read` makes the answer to the call of what that answers;
    /// what can't be read so leaves the failure.
    ///
    /// # Errors
    /// Those of the call, or WDE0078 with what `onFailure` throws.
    pub(crate) async fn answering<T>(
        &self,
        call: impl Future<Output = Result<T>>,
        read: impl FnOnce(&RawValue) -> Option<T>,
    ) -> Result<T> {
        match call.await {
            Err(fault) if self.are_asked_of(&fault) => match self.failure(&fault).await {
                Ok(answer) => answer.and_then(|it| read(&it)).ok_or(fault),
                Err(thrown) => Err(thrown),
            },
            result => result,
        }
    }

    /// What `onFailure` answers to a fault; nothing where the fault stays.
    ///
    /// # Errors
    /// WDE0078 for what it throws. Where it fails otherwise the fault is the better answer.
    pub(crate) async fn failure(&self, fault: &Fault) -> Result<Option<Box<RawValue>>> {
        if !self.are_asked_of(fault) {
            return Ok(None);
        }
        match self.ask(Hook::OnFailure, &argument(fault), None).await {
            Err(thrown) if thrown.code() == Code::HookThrew => Err(thrown),
            answer => Ok(answer.unwrap_or_default()),
        }
    }

    /// Asks `onFailure` about the faults of several items at once.
    pub(crate) async fn ahead_of_failures<'f>(&self, faults: impl Iterator<Item = &'f Fault>) {
        let faults = faults.filter(|it| self.are_asked_of(it));
        // What can't be asked about can't be later, and stays a fault.
        let _ = self.ahead(Hook::OnFailure, faults.map(|it| (argument(it), None))).await;
    }

    /// Whether `onFailure` may answer in place of a fault: not where the server failed, which somebody has to hear of, and
    /// not where the caller's right was withdrawn.
    fn are_asked_of(&self, fault: &Fault) -> bool {
        self.has(Hook::OnFailure) && fault.code().status() < 500 && fault.code() != Code::PermissionDenied
    }

    /// A page of items in place of a failure: of a list, or of an object with a list `items`.
    pub(crate) fn page(&self, collection: &Collection, answer: &RawValue) -> Option<Page> {
        #[derive(serde::Deserialize)]
        struct Found<'a> {
            #[serde(borrow)]
            items: Vec<&'a RawValue>,
        }
        let text = answer.get();
        let items = match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(it) => it,
            Err(_) => serde_json::from_str::<Found<'_>>(text).ok()?.items,
        };
        let mut page = Page::new(&Start::Offset(0));
        page.count = items.len();
        for (n, it) in items.into_iter().enumerate() {
            let document = self.document(None, it)?;
            print(collection, &document, page.element(n));
        }
        Some(page)
    }

    /// Different values in place of a failure.
    pub(crate) fn values(answer: &RawValue) -> Option<Page> {
        let mut page = Page::new(&Start::Offset(0));
        page.set_values(answer)?;
        Some(page)
    }

    /// A document in place of a failure. It has the id that the call names, if it names one.
    pub(crate) fn document(&self, id: Option<&str>, answer: &RawValue) -> Option<String> {
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(answer.get()).ok()?;
        let own = members.remove("_id").and_then(|it| serde_json::from_str::<String>(it.get()).ok());
        let made = || self.active.as_ref().map(|it| it.content.state.world.uuid());
        let id = id.filter(|it| !it.is_empty()).map(str::to_owned).or(own).or_else(made)?;
        Some(super::joined(Some(&quoted(&id)), members))
    }
}

/// A fault as `onFailure` is given it. What a hook threw before is what the next one is given.
fn argument(fault: &Fault) -> String {
    let thrown = fault.data().get("jsErrorValue").cloned();
    let error =
        thrown.unwrap_or_else(|| json!({ "name": "Error", "message": fault.message(), "code": fault.code().name() }));
    error.to_string()
}
