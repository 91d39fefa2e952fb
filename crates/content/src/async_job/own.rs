//! What only tasks do to items: copy a field into another, edit a field, publish and take back (docs/protocol/content.md §9).

use super::pass::{Moment, OwnChange, Pass};
use crate::{
    RequestContext,
    collection::{Collection, access},
    fault,
    schema::publishing::{Schedule, Writer},
    wire::{
        edit::ValueEdit,
        patch::Modification,
        task::{StatusOperation, TaskKind},
    },
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result, clock::Millis, date};
use stoa_query::{
    Filter, Kind, Scope,
    item::ItemLimits,
    plan::{Field, PUBLISH_STATUS, Scalar, Test},
};

pub(super) struct Own(TaskKind);

impl Own {
    /// What a row keeps of a task, and which change it is; nothing for a removal, which other calls ask for as well.
    pub(super) fn print(kind: &TaskKind) -> Option<(OwnChange, Value)> {
        Some(match kind {
            TaskKind::Delete => return None,
            TaskKind::Copy { source, target } => (OwnChange::Copy, json!({ "source": source, "target": target })),
            TaskKind::Edit { field, operations } => {
                (OwnChange::Edit, json!({ "field": field, "operations": operations }))
            }
            TaskKind::Status(operation) => {
                let (name, at) = match operation {
                    StatusOperation::SetPublished => ("PUBLISH", None),
                    StatusOperation::SetDraft => ("DRAFT", None),
                    StatusOperation::SchedulePublished(at) => ("PUBLISH_AT", Some(at)),
                    StatusOperation::ScheduleDraft(at) => ("DRAFT_AT", Some(at)),
                    StatusOperation::CancelScheduling => ("CANCEL", None),
                };
                (OwnChange::Status, json!({ "operation": name, "at": at }))
            }
        })
    }

    /// As [`Own::print`] has it.
    ///
    /// # Errors
    /// What a later program may have written.
    pub(super) fn parse(change: OwnChange, printed: &Value) -> Result<Self> {
        let text = |name: &str| printed[name].as_str().map(str::to_owned);
        let at = || printed["at"].as_i64();
        let read = || {
            Some(match change {
                OwnChange::Copy => TaskKind::Copy { source: text("source")?, target: text("target")? },
                OwnChange::Edit => {
                    TaskKind::Edit { field: text("field")?, operations: printed["operations"].as_object()?.clone() }
                }
                OwnChange::Status => TaskKind::Status(match printed["operation"].as_str()? {
                    "PUBLISH" => StatusOperation::SetPublished,
                    "DRAFT" => StatusOperation::SetDraft,
                    "PUBLISH_AT" => StatusOperation::SchedulePublished(at()?),
                    "DRAFT_AT" => StatusOperation::ScheduleDraft(at()?),
                    "CANCEL" => StatusOperation::CancelScheduling,
                    _ => return None,
                }),
            })
        };
        read().map(Self).ok_or_else(|| Fault::because(Code::NotSupported, "A task of another version."))
    }

    /// The change of status that is to be made at a time, and the time.
    pub(super) fn schedule(&self) -> Option<(Schedule, Millis)> {
        match self.0 {
            TaskKind::Status(StatusOperation::SchedulePublished(at)) => Some((Schedule::Publish, at)),
            TaskKind::Status(StatusOperation::ScheduleDraft(at)) => Some((Schedule::Draft, at)),
            _ => None,
        }
    }

    /// # Errors
    /// WDE0027 for who may not say what is published, WDE0080 for a collection without the plugin PUBLISH, WDE0119 for
    /// fields that jobs don't change, and what makes a patch of the field invalid.
    pub(super) fn check(&self, context: RequestContext<'_>, collection: &Collection) -> Result<()> {
        let limits = context.content.limits().query.item();
        let (fields, modification) = match &self.0 {
            TaskKind::Status(_) => return check_status(context, collection),
            TaskKind::Delete => return Ok(()),
            TaskKind::Copy { source, target } => (vec![source, target], Modification::copy(source, target)),
            TaskKind::Edit { field, operations } => (vec![field], edit(field, operations, limits)?),
        };
        for key in fields {
            match collection.schema.fields.get(key.as_str()) {
                Some(Kind::Encrypted) => return Err(fault::job_field_not_built(key, "an encrypted")),
                Some(Kind::MultiReference) => return Err(fault::job_field_not_built(key, "a multi-reference")),
                Some(Kind::Calculated { .. }) => return Err(fault::job_field_not_built(key, "a calculated")),
                _ => {}
            }
        }
        let writer = Writer::naming([modification.field()].into_iter());
        if writer != Writer::Call && collection.definition.publishing().is_some() {
            let rule = "is set by tasks of the type UPDATE_PUBLISH_STATUS alone";
            return Err(fault::invalid(modification.field(), rule));
        }
        modification.check(context.caller, &collection.schema)
    }

    /// Which of the items that the filter finds, or that were marked, it is about.
    pub(super) fn narrowing(&self, collection: &Collection, moment: Moment<'_>) -> Filter {
        let field = |name: &str| Field::Path(vec![name.to_owned()]);
        let operation = match &self.0 {
            TaskKind::Status(it) => *it,
            // Where there is nothing to copy, nothing is changed.
            TaskKind::Copy { source, .. } => return Filter::Test(Field::parse(source), Test::Present),
            TaskKind::Delete | TaskKind::Edit { .. } => return Filter::True,
        };
        if let (Some((schedule, _)), Pass::Due | Pass::Clear) = (self.schedule(), moment.pass) {
            let own = Scalar::Text(moment.job.to_owned());
            return Filter::Test(field(schedule.task_field()), Test::Equal(own));
        }
        let published = || {
            let unmarked = collection.definition.publishes_unmarked().unwrap_or(true);
            Scope::Everything.published(unmarked).filter()
        };
        match operation {
            StatusOperation::SetPublished => published().negated(),
            StatusOperation::SetDraft => published(),
            StatusOperation::SchedulePublished(_) | StatusOperation::ScheduleDraft(_) => Filter::True,
            StatusOperation::CancelScheduling => {
                let marks = Schedule::ALL.into_iter().flat_map(|it| [it.date_field(), it.task_field()]);
                Filter::any(marks.map(|it| Filter::Test(field(it), Test::Present)))
            }
        }
    }

    /// What becomes of an item.
    ///
    /// # Errors
    /// What makes the values of an edit invalid.
    pub(super) fn modifications(&self, moment: Moment<'_>, limits: ItemLimits) -> Result<Vec<Modification>> {
        let set = |name: &str, value: Value| Modification::of_task(name, Some(value));
        let unmark = |it: Schedule| [it.date_field(), it.task_field()].map(|it| Modification::of_task(it, None));
        let operation = match &self.0 {
            TaskKind::Status(it) => *it,
            TaskKind::Copy { source, target } => return Ok(vec![Modification::copy(source, target)]),
            TaskKind::Edit { field, operations } => return Ok(vec![edit(field, operations, limits)?]),
            TaskKind::Delete => return Ok(Vec::new()),
        };
        let Some((schedule, at)) = self.schedule() else {
            return Ok(match operation {
                StatusOperation::CancelScheduling => Schedule::ALL.into_iter().flat_map(unmark).collect(),
                // What was to be done at a time is done with it.
                StatusOperation::SetPublished => status(Schedule::Publish),
                _ => status(Schedule::Draft),
            });
        };
        Ok(match moment.pass {
            Pass::First => vec![
                set(schedule.date_field(), json!({ "$date": date::iso_from_millis(at) })),
                set(schedule.task_field(), moment.job.into()),
            ],
            Pass::Due => status(schedule),
            Pass::Clear => unmark(schedule).into(),
        })
    }
}

/// A status, and no mark that it is to be set.
fn status(schedule: Schedule) -> Vec<Modification> {
    let unmark = [schedule.date_field(), schedule.task_field()].map(|it| Modification::of_task(it, None));
    [Modification::of_task(PUBLISH_STATUS, Some(schedule.status().into()))].into_iter().chain(unmark).collect()
}

fn edit(field: &str, operations: &Map<String, Value>, limits: ItemLimits) -> Result<Modification> {
    let edit = ValueEdit::parse(operations, "task.editFieldDataOptions.operations", limits)?;
    Ok(Modification::edit(field, &Arc::new(edit)))
}

fn check_status(context: RequestContext<'_>, collection: &Collection) -> Result<()> {
    access::publishing(context.caller, collection)?;
    if collection.definition.publishing().is_some() {
        return Ok(());
    }
    let id = collection.id.as_str();
    let text = format!("The {id} collection does not have the plugin PUBLISH, so its items have no status.");
    Err(Fault::because(Code::BadRequest, text).with("collectionName", id))
}
