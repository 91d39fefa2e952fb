//! Tasks: `/v1/tasks…`.

use super::{FILTER, LIMIT, OFFSET, ON_ITEMS, PACKED, UNCHANGED};
use crate::{
    openapi::{Answer, Callers, Operation, Parameter},
    subject::Subject,
};
use stoa_kernel::Code;

const TASK_ID: Parameter = Parameter::text("taskId", "The task, where it is not the one in the path.");
const TASK: Answer = Answer::json("TaskResponse", "The task.");

const fn task(id: &'static str, callers: Callers, summary: &'static str) -> Operation {
    Operation::new(id, Subject::Tasks, callers, summary)
}

pub(crate) const TASK_CREATE: Operation =
    task("taskCreate", Callers::Permitted, "Begins a task on all items that a filter finds")
        .notes(
            "On those among them that the caller may read and change at that moment. A task fails when the caller may do so \
             no longer. Items are published and taken back by those who work on the site, and apps, in collections with \
             the plugin `PUBLISH`; a task that does so at a time is `RUNNING` until then. An item has the time in \
             `_publishDate` or `_draftDate`, and the task in `_publishTask` or `_draftTask`.",
        )
        .takes("TaskCreateRequest")
        .answers(&[TASK])
        .errors(&[
            ON_ITEMS,
            FILTER,
            &[Code::RequestInvalid, Code::PayloadTooLarge, Code::NotSupported],
        ]);

pub(crate) const TASK_LIST: Operation = task("taskList", Callers::Known, "Lists tasks, the newest first")
    .notes(
        "Those that the caller asked for; all of them for owners and apps. Tasks are kept for a week after their end.",
    )
    .query(&[LIMIT, OFFSET, PACKED])
    .answers(&[Answer::json("TaskListResponse", "A page of tasks."), UNCHANGED])
    .errors(&[&[Code::BadRequest, Code::PagingInvalid]]);

pub(crate) const TASK_GET: Operation = task("taskGet", Callers::Known, "Reads how a task stands")
    .notes("For who asked for it, and for owners and apps.")
    .query(&[TASK_ID, PACKED])
    .answers(&[TASK, UNCHANGED])
    .errors(&[&[Code::BadRequest, Code::NotFound]]);

pub(crate) const TASK_CANCEL: Operation = task("taskCancel", Callers::Known, "Cancels a task")
    .notes(
        "What it has done stays; what it was to publish or take back at a time is not. A task that has ended stays as it is.",
    )
    .query(&[TASK_ID, PACKED])
    .answers(&[TASK])
    .errors(&[&[Code::BadRequest, Code::NotFound, Code::PermissionDenied]]);
