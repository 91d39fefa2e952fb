//! What an operation is for those who call it: data that stands beside the handler in the table of routes.
//!
//! What the table says already is not said again: method, path and parameters in the path, whether a call only reads,
//! which scopes open it and how large its body may be ([`crate::traffic::Route`]).

use crate::subject::Subject;
use stoa_kernel::Code;

/// One call of the interface. All of them are constants in `operations/`, a file a subject.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Noun and verb, `itemInsert`; unique.
    pub id: &'static str,
    /// What it does, in one sentence without a full stop.
    pub summary: &'static str,
    /// What else a caller needs to know, in Markdown; empty for most.
    pub notes: &'static str,
    /// The chapter that it stands in.
    pub subject: Subject,
    pub callers: Callers,
    /// What can stand in the query.
    pub query: &'static [Parameter],
    /// `None` for a call that reads no body.
    pub request: Option<RequestBody>,
    /// What it answers when nothing is wrong, one a status.
    pub answers: &'static [Answer],
    /// Codes that it can be refused with, besides those of every call (`errors.rs`); lists are shared by name.
    pub errors: &'static [&'static [Code]],
    /// What counts its attempts, besides the limits that hold for every request.
    pub throttle: Throttle,
    /// How errors are printed.
    pub error_form: ErrorForm,
}

/// Who is let in, before anything else is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    /// Anyone; no token is looked at.
    Open,
    /// A client of the site, by what stands in the body or in `Authorization: Basic`.
    Clients,
    /// A browser that one of our own pages runs in, by its cookies and its origin.
    Pages,
    /// Anyone with a valid token, a visitor's too.
    Known,
    /// Anyone with a valid token whom the collection's permissions let in.
    Permitted,
    /// Members about themselves; where it concerns others, those who run the site.
    Members,
    /// Those who run the site and its full keys.
    Editors,
    /// Owners of the site and its full keys.
    Owners,
    /// Owners of the site in person: no keys.
    Persons,
    /// Keys and applications alone.
    Apps,
}

/// A value in the query of an address.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub about: &'static str,
    pub value: ParameterValue,
    pub is_required: bool,
}

/// What a parameter can hold.
#[derive(Debug, Clone, Copy)]
pub enum ParameterValue {
    Text,
    /// A whole number, zero or more.
    Number,
    Flag,
    /// May stand several times.
    Texts,
    OneOf(&'static [&'static str]),
    /// Values of an enumeration; may stand several times.
    SomeOf(&'static [&'static str]),
    /// JSON of a schema in base64url, whose members may stand in the query by themselves as well.
    Packed(&'static str),
}

/// What a call takes.
#[derive(Debug, Clone, Copy)]
pub struct RequestBody {
    /// The name of its schema, in `schemas/`.
    pub schema: &'static str,
    pub media: &'static [Media],
    /// Whether the call means something without it.
    pub is_required: bool,
}

/// What a call answers with a status.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    pub status: u16,
    pub about: &'static str,
    /// `None` for an answer without body.
    pub content: Option<Content>,
}

/// The body of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    pub media: Media,
    /// The name of its schema, in `schemas/`; `None` for what is no JSON.
    pub schema: Option<&'static str>,
}

/// Media types of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Json,
    /// JSON of an answer of GraphQL whose status says whether the document was understood.
    Graphql,
    Form,
    Html,
    Text,
    /// Messages one after another, `text/event-stream`.
    Events,
}

/// What counts attempts of a kind (docs/defence.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throttle {
    None,
    SignIn,
    Registration,
    Password,
    Recovery,
    Captcha,
    Flow,
    Export,
}

/// How errors are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorForm {
    /// `{message, details}`.
    Common,
    /// The same with `error` and `error_description` beside it (RFC 6749, section 5.2).
    Oauth,
}

const JSON: &[Media] = &[Media::Json];
const JSON_OR_FORM: &[Media] = &[Media::Json, Media::Form];

impl Operation {
    pub(crate) const fn new(id: &'static str, subject: Subject, callers: Callers, summary: &'static str) -> Self {
        Self {
            id,
            summary,
            notes: "",
            subject,
            callers,
            query: &[],
            request: None,
            answers: &[],
            errors: &[],
            throttle: Throttle::None,
            error_form: ErrorForm::Common,
        }
    }

    pub(crate) const fn notes(mut self, notes: &'static str) -> Self {
        self.notes = notes;
        self
    }

    pub(crate) const fn query(mut self, parameters: &'static [Parameter]) -> Self {
        self.query = parameters;
        self
    }

    /// A body of JSON.
    pub(crate) const fn takes(mut self, schema: &'static str) -> Self {
        self.request = Some(RequestBody { schema, media: JSON, is_required: true });
        self
    }

    /// A body of JSON, which may be missing.
    pub(crate) const fn may_take(mut self, schema: &'static str) -> Self {
        self.request = Some(RequestBody { schema, media: JSON, is_required: false });
        self
    }

    /// A body of JSON or of a form.
    pub(crate) const fn takes_form(mut self, schema: &'static str) -> Self {
        self.request = Some(RequestBody { schema, media: JSON_OR_FORM, is_required: true });
        self
    }

    pub(crate) const fn answers(mut self, answers: &'static [Answer]) -> Self {
        self.answers = answers;
        self
    }

    pub(crate) const fn errors(mut self, lists: &'static [&'static [Code]]) -> Self {
        self.errors = lists;
        self
    }

    pub(crate) const fn counts(mut self, throttle: Throttle) -> Self {
        self.throttle = throttle;
        self
    }

    pub(crate) const fn fails_as(mut self, form: ErrorForm) -> Self {
        self.error_form = form;
        self
    }

    /// The codes of its own, each once.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes: Vec<Code> = Vec::new();
        for code in self.errors.iter().copied().flatten() {
            if !codes.contains(code) {
                codes.push(*code);
            }
        }
        codes
    }
}

impl Parameter {
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::Text, is_required: false }
    }

    pub(crate) const fn number(name: &'static str, about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::Number, is_required: false }
    }

    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::Flag, is_required: false }
    }

    pub(crate) const fn texts(name: &'static str, about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::Texts, is_required: false }
    }

    pub(crate) const fn one_of(name: &'static str, values: &'static [&'static str], about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::OneOf(values), is_required: false }
    }

    pub(crate) const fn some_of(name: &'static str, values: &'static [&'static str], about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::SomeOf(values), is_required: false }
    }

    pub(crate) const fn packed(name: &'static str, schema: &'static str, about: &'static str) -> Self {
        Self { name, about, value: ParameterValue::Packed(schema), is_required: false }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }
}

impl Answer {
    /// 200 with JSON of a schema.
    pub(crate) const fn json(schema: &'static str, about: &'static str) -> Self {
        Self { status: 200, about, content: Some(Content { media: Media::Json, schema: Some(schema) }) }
    }

    /// 200 with what is no JSON.
    pub(crate) const fn other(media: Media, about: &'static str) -> Self {
        Self { status: 200, about, content: Some(Content { media, schema: None }) }
    }

    /// 200 with messages of a schema, one after another.
    pub(crate) const fn events(schema: &'static str, about: &'static str) -> Self {
        Self { status: 200, about, content: Some(Content { media: Media::Events, schema: Some(schema) }) }
    }

    /// A status without body.
    pub(crate) const fn empty(status: u16, about: &'static str) -> Self {
        Self { status, about, content: None }
    }
}
