//! Answers to what the queue of mail asks: which member a recovery link is for, which owners are notified of a member.

use crate::{
    Core,
    mail::{Answerer, Question},
    sign_in::{approval_request, operator_recovery, recovery},
};
use std::sync::Arc;

/// Answers as long as the core lives.
pub(crate) fn answerer(core: &Arc<Core>) -> Answerer {
    let core = Arc::downgrade(core);
    Box::new(move |site, question| {
        let core = core.upgrade();
        Box::pin(async move {
            match (core, question) {
                (None, _) => Ok(()),
                (Some(core), Question::Recovery { task, email, options }) => {
                    recovery::answer(&core, &site, task, email, options).await
                }
                (Some(core), Question::OperatorRecovery { task, email, language }) => {
                    operator_recovery::answer(&core, &site, task, email, language).await
                }
                (Some(core), Question::Approval { task, member }) => {
                    approval_request::ask(&core, &site, task, member).await
                }
            }
        })
    })
}
