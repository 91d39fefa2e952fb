//! A request on its way: which call of content comes next, and the answer as it grows.
//!
//! Nothing here calls anything. Who runs it asks content, in order, and hands over what that answers.

use crate::{
    call::{self, Call, OutcomeField, PageField},
    error::{Error, ErrorCode, PathStep},
    limits::GraphqlLimits,
    plan::Root,
    print::{Answer, Selection, documents},
    types::Write,
};
use serde_json::{Map, Value};
use stoa_kernel::Fault;

/// A request that was let through.
pub struct Run {
    roots: Vec<Root>,
    is_mutation: bool,
    next: usize,
    answer: Answer,
}

/// What content is to be asked for a field.
#[derive(Debug)]
pub enum Ask<'r> {
    /// A page of items, by the members of the request.
    Query(&'r Map<String, Value>),
    Count(&'r Map<String, Value>),
    /// A write, by the whole of its request.
    Write(Write, &'r Value),
}

/// A page as content answers it.
#[derive(Debug, Default)]
pub struct Page {
    /// JSON text: the elements with commas between them.
    pub elements: String,
    pub total: Option<i64>,
    pub has_next: bool,
    pub next: Option<String>,
    pub prev: Option<String>,
}

/// What became of one item that was to be written.
#[derive(Debug, Default)]
pub struct Written {
    pub action: &'static str,
    pub id: Option<String>,
    pub fault: Option<Fault>,
    /// The item's document, if the caller is shown it.
    pub document: Option<String>,
}

impl Run {
    pub(crate) fn new(roots: Vec<Root>, is_mutation: bool, limits: &GraphqlLimits) -> Self {
        let mut answer = Answer::new(limits.graphql_answer_bytes);
        answer.out.push_str("{\"data\":{");
        Self { roots, is_mutation, next: 0, answer }
    }

    pub fn is_mutation(&self) -> bool {
        self.is_mutation
    }

    /// What is to be asked next; fields that are known already are answered on the way. Nothing at the end, or when the
    /// answer has grown too large.
    pub fn next_ask(&mut self) -> Option<Ask<'_>> {
        while !self.answer.is_full() {
            match &self.roots.get(self.next)?.call {
                Call::Known(_) | Call::Introspection => {
                    self.begin();
                    let text = match &self.roots[self.next].call {
                        Call::Known(text) => text.as_str(),
                        _ => "null",
                    };
                    self.answer.out.push_str(text);
                    self.next += 1;
                }
                _ => break,
            }
        }
        if self.answer.is_full() {
            return None;
        }
        Some(match &self.roots.get(self.next)?.call {
            Call::Page { members, .. } | Call::Item { members, .. } => Ask::Query(members),
            Call::Count(members) => Ask::Count(members),
            Call::Write { write, body, .. } => Ask::Write(*write, body),
            Call::Known(_) | Call::Introspection => return None,
        })
    }

    /// The query for what written items refer to, if that is answered and there are any.
    pub fn reread(&self, written: &[Written]) -> Option<Map<String, Value>> {
        let Call::Write { reread: Some(members), .. } = &self.roots.get(self.next)?.call else { return None };
        let ids: Vec<&str> =
            written.iter().filter(|it| it.document.is_some()).filter_map(|it| it.id.as_deref()).collect();
        (!ids.is_empty()).then(|| call::with_ids(members, &ids))
    }

    /// Takes the answer to a query.
    ///
    /// # Errors
    /// A page that can't be read: a fault of the server.
    pub fn page(&mut self, page: &Page) -> Result<(), Fault> {
        let documents = documents(&page.elements).map_err(Fault::internal)?;
        self.begin();
        let (root, answer) = (&self.roots[self.next], &mut self.answer);
        answer.at(PathStep::Field(root.key.clone()), |answer| match &root.call {
            Call::Item { selection, .. } => match documents.first() {
                Some(it) => answer.item(selection, it, None),
                None => answer.out.push_str("null"),
            },
            Call::Page { fields, .. } => print_page(answer, fields, page, &documents),
            _ => answer.out.push_str("null"),
        });
        self.next += 1;
        Ok(())
    }

    /// Takes the answer to a count.
    pub fn count(&mut self, count: i64) {
        self.begin();
        self.answer.out.push_str(&count.to_string());
        self.next += 1;
    }

    /// Takes what a write answers, one for each of its items, and the elements of the page that [`Run::reread`] asked for.
    ///
    /// # Errors
    /// As for [`Run::page`].
    pub fn written(&mut self, written: &[Written], reread: Option<&str>) -> Result<(), Fault> {
        let documents = reread.map(documents).transpose().map_err(Fault::internal)?;
        self.begin();
        let (root, answer) = (&self.roots[self.next], &mut self.answer);
        if let Call::Write { write, outcome, .. } = &root.call {
            let print = WrittenPrint { outcome, documents: documents.as_deref() };
            answer.at(PathStep::Field(root.key.clone()), |answer| match (write.is_bulk(), written.first()) {
                (true, _) => print.all(answer, written),
                (false, Some(it)) => print.alone(answer, it),
                (false, None) => answer.out.push_str("null"),
            });
        }
        self.next += 1;
        Ok(())
    }

    /// Takes a refusal: the field is null, and the others are as they are.
    pub fn refuse(&mut self, fault: &Fault) {
        self.fail(Error::of_fault(fault));
    }

    /// Answers null for this field, and for all that come, which were not begun.
    pub fn time_out(&mut self, milliseconds: i64) {
        while self.next_ask().is_some() {
            let text = format!("The request took longer than {milliseconds} ms; this was not finished.");
            self.fail(Error::new(ErrorCode::Timeout, text));
        }
    }

    fn fail(&mut self, mut error: Error) {
        self.begin();
        let root = &self.roots[self.next];
        error.location = root.location;
        error.path = vec![PathStep::Field(root.key.clone())];
        self.answer.out.push_str("null");
        self.answer.fail(error);
        self.next += 1;
    }

    /// The whole answer as JSON.
    pub fn finish(mut self) -> String {
        if self.answer.is_full() {
            let text = format!("The answer is larger than {} bytes; ask for less.", self.answer.most());
            let mut error = Error::new(ErrorCode::AnswerTooLarge, text);
            if let Some(root) = self.roots.get(self.next.saturating_sub(1)) {
                error.location = root.location;
                error.path = vec![PathStep::Field(root.key.clone())];
            }
            return failure_with_data(&[error]);
        }
        let errors = self.answer.take_errors();
        let mut out = self.answer.out;
        out.push('}');
        if !errors.is_empty() {
            print_errors(&errors, &mut out);
        }
        out.push('}');
        out
    }

    fn begin(&mut self) {
        let key = &self.roots[self.next].key;
        self.answer.out.extend([if self.next > 0 { ",\"" } else { "\"" }, key, "\":"]);
    }
}

/// The answer to a request of which nothing ran.
pub fn failure(errors: &[Error]) -> String {
    let mut out = String::new();
    print_errors(errors, &mut out);
    // Without the comma.
    format!("{{{}}}", out.get(1..).unwrap_or_default())
}

fn failure_with_data(errors: &[Error]) -> String {
    let mut out = "{\"data\":null".to_owned();
    print_errors(errors, &mut out);
    out.push('}');
    out
}

fn print_errors(errors: &[Error], out: &mut String) {
    out.push_str(",\"errors\":[");
    for (n, it) in errors.iter().enumerate() {
        out.push_str(if n > 0 { "," } else { "" });
        it.print(out);
    }
    out.push(']');
}

fn print_page(answer: &mut Answer, fields: &[(String, PageField)], page: &Page, documents: &[&str]) {
    answer.out.push('{');
    for (n, (key, field)) in fields.iter().enumerate() {
        answer.out.extend([if n > 0 { ",\"" } else { "\"" }, key, "\":"]);
        match field {
            PageField::Items(selection) => {
                answer.at(PathStep::Field(key.clone()), |answer| print_list(answer, selection, documents));
            }
            PageField::TotalCount => match page.total {
                Some(it) => answer.out.push_str(&it.to_string()),
                None => answer.out.push_str("null"),
            },
            PageField::HasNext => answer.out.push_str(if page.has_next { "true" } else { "false" }),
            PageField::Next => print_text(answer, page.next.as_deref()),
            PageField::Prev => print_text(answer, page.prev.as_deref()),
            PageField::TypeName(it) => print_text(answer, Some(it)),
        }
    }
    answer.out.push('}');
}

fn print_list(answer: &mut Answer, selection: &Selection, documents: &[&str]) {
    answer.out.push('[');
    for (n, it) in documents.iter().enumerate() {
        if answer.is_full() {
            break;
        }
        answer.out.push_str(if n > 0 { "," } else { "" });
        answer.at(PathStep::Index(n), |answer| answer.item(selection, it, None));
    }
    answer.out.push(']');
}

fn print_text(answer: &mut Answer, text: Option<&str>) {
    answer.out.push_str(&text.map_or(Value::Null, Value::from).to_string());
}

/// What is answered of items that were written.
struct WrittenPrint<'w> {
    outcome: &'w [(String, OutcomeField)],
    /// What they are with what they refer to, if that was asked.
    documents: Option<&'w [&'w str]>,
}

impl WrittenPrint<'_> {
    fn alone(&self, answer: &mut Answer, written: &Written) {
        match self.outcome.first() {
            Some((_, OutcomeField::Item(selection))) => self.item(answer, selection, written),
            _ => answer.out.push_str("null"),
        }
    }

    fn all(&self, answer: &mut Answer, written: &[Written]) {
        answer.out.push('[');
        for (n, it) in written.iter().enumerate() {
            if answer.is_full() {
                break;
            }
            answer.out.push_str(if n > 0 { "," } else { "" });
            answer.at(PathStep::Index(n), |answer| self.outcome(answer, it));
        }
        answer.out.push(']');
    }

    fn outcome(&self, answer: &mut Answer, written: &Written) {
        answer.out.push('{');
        for (n, (key, field)) in self.outcome.iter().enumerate() {
            answer.out.extend([if n > 0 { ",\"" } else { "\"" }, key, "\":"]);
            match field {
                OutcomeField::Item(selection) => {
                    answer.at(PathStep::Field(key.clone()), |answer| self.item(answer, selection, written));
                }
                OutcomeField::Action => print_text(answer, Some(written.action)),
                OutcomeField::Id => print_text(answer, written.id.as_deref()),
                OutcomeField::TypeName(it) => print_text(answer, Some(it)),
                OutcomeField::Error(members) => print_fault(answer, members, written.fault.as_ref()),
            }
        }
        answer.out.push('}');
    }

    fn item(&self, answer: &mut Answer, selection: &Selection, written: &Written) {
        let Some(document) = &written.document else {
            answer.out.push_str("null");
            return;
        };
        let begins = written.id.as_ref().map(|id| format!("{{\"_id\":{}", Value::from(id.as_str())));
        let is_same = |it: &&&str| begins.as_ref().is_some_and(|begins| it.starts_with(begins));
        let found = self.documents.map(|all| all.iter().find(is_same).copied());
        // Without a second look, what it refers to is not known: a removed item refers to nothing.
        answer.item(selection, document, Some(found.flatten()));
    }
}

fn print_fault(answer: &mut Answer, members: &[(String, String)], fault: Option<&Fault>) {
    let Some(fault) = fault else {
        answer.out.push_str("null");
        return;
    };
    let error = Error::of_fault(fault);
    answer.out.push('{');
    for (n, (key, member)) in members.iter().enumerate() {
        answer.out.extend([if n > 0 { ",\"" } else { "\"" }, key, "\":"]);
        let value = match member.as_str() {
            "code" => error.extensions.get("code").cloned().unwrap_or_default(),
            "message" => Value::from(error.message.as_str()),
            "data" => error.extensions.get("data").cloned().unwrap_or_default(),
            _ => Value::from("BulkError"),
        };
        answer.out.push_str(&value.to_string());
    }
    answer.out.push('}');
}
