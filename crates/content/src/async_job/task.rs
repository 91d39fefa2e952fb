//! What a job does: a filter, and what becomes of the items that it finds.

use super::{
    own::Own,
    pass::{Moment, OwnChange, Pass},
};
use crate::{
    RequestContext,
    collection::{
        Collection,
        access::{self, ItemWrite, Write},
    },
    drafts::Drafts,
    fault,
    hook::{CallHooks, REMOVES, UPDATES},
    item::{query::check_cost, references},
    reference::filter,
    schema::level::Operation,
    wire::{options::flag, patch::Patch, request::Request},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use stoa_hooks::Hook;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{
    Filter, Kind, Scope,
    plan::{Comparison, Field, Scalar, Test},
    resolve, wire,
};

/// Bytes of a filter with its modifications: they are applied to each of the items.
const BYTES: usize = 65_536;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Patch,
    Remove,
    /// What only tasks do ([`super::own`]).
    Own(OwnChange),
}

impl Change {
    const ALL: [Self; 5] = [
        Self::Patch,
        Self::Remove,
        Self::Own(OwnChange::Copy),
        Self::Own(OwnChange::Edit),
        Self::Own(OwnChange::Status),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Patch => "PATCH",
            Self::Remove => "REMOVE",
            Self::Own(OwnChange::Copy) => "COPY",
            Self::Own(OwnChange::Edit) => "EDIT",
            Self::Own(OwnChange::Status) => "STATUS",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The right that it takes.
    pub(super) fn needs(self) -> (Write, Operation) {
        match self {
            Self::Patch | Self::Own(_) => (Write::Update, Operation::Update),
            Self::Remove => (Write::Remove, Operation::Remove),
        }
    }

    /// The hooks that a call on a single item would ask.
    fn hooks(self) -> &'static [Hook] {
        match self {
            Self::Patch | Self::Own(_) => UPDATES,
            Self::Remove => REMOVES,
        }
    }
}

/// What was asked for, as it was sent.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub change: Change,
    pub drafts: Drafts,
    /// Whether hooks aren't to be asked, if the caller may say so.
    suppresses_hooks: bool,
    filter: Value,
    modifications: Value,
}

/// What a task comes to at the moment, for its caller.
pub(super) struct Plan {
    pub access: ItemWrite,
    /// What a query of the caller finds, without what was made since the job began.
    pub condition: Filter,
    /// Those of them that the caller may change.
    pub wanted: Filter,
}

impl Task {
    /// # Errors
    /// WDE0016 without a filter: that all items are meant has to be said. WDE0018 for `suppressHooks` of another type.
    /// WDE0109 when it is too large.
    pub(super) fn read(change: Change, request: &Request<'_>) -> Result<Self> {
        let member = |name: &str| request.members.get(name).filter(|it| !it.is_null()).cloned();
        let missing = || Fault::because(Code::FilterNotObject, "filter is missing.").with("path", "filter");
        let filter = member("filter").ok_or_else(missing)?;
        let modifications = match change {
            Change::Patch => member("fieldModifications").unwrap_or_default(),
            Change::Remove => Value::Null,
            Change::Own(_) => return Err(Fault::internal("a call for a job that only tasks are")),
        };
        Self::new(change, request, filter, modifications)
    }

    /// What a task is to do; `modifications` are what [`Own`] reads.
    ///
    /// # Errors
    /// As for [`Task::read`].
    pub(super) fn new(change: Change, request: &Request<'_>, filter: Value, modifications: Value) -> Result<Self> {
        let suppresses_hooks = flag(&request.members, "suppressHooks")?;
        let task = Self { change, drafts: request.drafts(), suppresses_hooks, filter, modifications };
        within(&task.print()).map(|()| task)
    }

    pub(super) fn print(&self) -> String {
        let members = json!({
            "filter": self.filter,
            "fieldModifications": self.modifications,
            "showDrafts": self.drafts == Drafts::Included,
            "suppressHooks": self.suppresses_hooks,
        });
        members.to_string()
    }

    /// The same without its filter.
    pub(super) fn without_filter(&self) -> Self {
        Self { filter: Value::Null, ..self.clone() }
    }

    /// A task as [`Task::print`] has it.
    pub(super) fn parse(change: Change, text: &str) -> Self {
        let mut printed: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let drafts = Drafts::of(&printed);
        let mut take = |name: &str| printed.remove(name).unwrap_or_default();
        let suppresses_hooks = take("suppressHooks") == Value::Bool(true);
        Self { change, drafts, suppresses_hooks, filter: take("filter"), modifications: take("fieldModifications") }
    }

    /// How many modifications there are, or how often an edit looks through a list.
    pub(super) fn modifications(&self) -> usize {
        match self.modifications.get("operations").and_then(Value::as_object) {
            Some(it) => it.values().map(|it| it.as_array().map_or(1, Vec::len)).sum(),
            None => self.modifications.as_array().map_or(0, Vec::len),
        }
    }

    /// What it does that only tasks do.
    ///
    /// # Errors
    /// When it can't be read.
    pub(super) fn own(&self) -> Result<Option<Own>> {
        match self.change {
            Change::Own(it) => Own::parse(it, &self.modifications).map(Some),
            Change::Patch | Change::Remove => Ok(None),
        }
    }

    /// The patch of one item.
    pub(super) fn patch(&self, id: &str) -> Value {
        json!({ "dataItemId": id, "fieldModifications": self.modifications })
    }

    /// Resolves the task with the rights that its caller has now.
    ///
    /// # Errors
    /// WDE0027 for a caller who may read or change none of the items, and for all but owners and apps who would remove
    /// all of them; what makes a filter or a patch invalid; WDE0119 for an encrypted field, whose value would be kept in
    /// clear until the job has ended, and where hooks would have to be asked, unless the caller may suppress them and does.
    pub(super) async fn plan(
        &self,
        context: RequestContext<'_>,
        collection: &Arc<Collection>,
        moment: Moment<'_>,
    ) -> Result<Plan> {
        let (write, operation) = self.change.needs();
        let access = access::items(context.caller, context.drafts, collection, write)?;
        let readable = access::scope(context.caller, context.drafts, Operation::Read, collection)?;
        let changeable = access.scope(operation)?;
        // What is marked was found by the filter before.
        let filter = match moment.pass {
            Pass::First => self.resolve(context, collection, &readable).await?,
            Pass::Due | Pass::Clear => Filter::True,
        };
        let mut own = Filter::True;
        match self.change {
            Change::Remove if filter == Filter::True => drop(access::truncation(context.caller, collection)?),
            Change::Remove => {}
            Change::Patch => self.check_patch(context, collection).await?,
            Change::Own(_) => {
                if let Some(it) = self.own()? {
                    if moment.pass != Pass::Clear {
                        it.check(context, collection)?;
                    }
                    own = it.narrowing(collection, moment);
                }
            }
        }
        if moment.pass != Pass::Clear {
            self.refuse_hooks(context, collection).await?;
        }
        let there = Filter::Test(Field::Created, Test::Compare(Comparison::LessOrEqual, Scalar::Date(moment.began)));
        let condition = Filter::all([filter, own, there]);
        let wanted = Filter::all([readable.filter(), changeable.filter(), condition.clone()]);
        Ok(Plan { access, condition, wanted })
    }

    async fn refuse_hooks(&self, context: RequestContext<'_>, collection: &Collection) -> Result<()> {
        let members = Map::from_iter([("suppressHooks".to_owned(), self.suppresses_hooks.into())]);
        let hooks = CallHooks::of_members(context, collection, &members).await?;
        hooks.refuse(collection, self.change.hooks(), fault::job_hook_not_built)
    }

    async fn resolve(&self, context: RequestContext<'_>, collection: &Collection, scope: &Scope) -> Result<Filter> {
        let limits = context.content.limits();
        let read = wire::Filter::parse(&self.filter, &limits.query)?;
        let schema = filter::schema(context, collection, &read).await?;
        let filter = resolve::filter(&read, &schema)?;
        // Items are looked through in the order of their ids, whatever indexes there are.
        check_cost(limits, context.caller, &[], scope, &filter)?;
        Ok(filter)
    }

    async fn check_patch(&self, context: RequestContext<'_>, collection: &Collection) -> Result<()> {
        let name = |it: &Value| it["fieldPath"].as_str().and_then(|it| it.split('.').next()).map(str::to_owned);
        let mut names = self.modifications.as_array().into_iter().flatten().filter_map(name);
        if let Some(it) = names.find(|it| collection.schema.fields.get(it.as_str()) == Some(&Kind::Encrypted)) {
            return Err(fault::job_field_not_built(&it, "an encrypted"));
        }
        let mut references = references::of_collection(context, collection, true).await?;
        let patch = references.take_patch(0, &self.patch(""))?;
        Patch::parse(&patch, context.caller, &collection.schema, context.content.limits().query.item()).map(drop)
    }
}

/// Whether a part of a job has room in its row.
///
/// # Errors
/// WDE0109 when it is too large.
pub(super) fn within(text: &str) -> Result<()> {
    if text.len() <= BYTES {
        return Ok(());
    }
    let text = format!("The filter and the modifications have at most {BYTES} bytes together.");
    Err(Fault::because(Code::PayloadTooLarge, text))
}
