//! A request of GraphQL as it is sent, and the way from its text to a plan.

use crate::{
    call::Call,
    cost,
    error::{Error, ErrorCode, line_column, of_diagnostics, shortened},
    fragments::Fragments,
    limits::GraphqlLimits,
    plan::{Planner, Root},
    run::Run,
    schema::SiteSchema,
    shape,
    value::{Arguments, Variables},
};
use apollo_compiler::{
    ExecutableDocument, ast,
    executable::Operation,
    introspection,
    parser::Parser,
    response::{JsonMap, JsonValue, serde_json_bytes},
    validation::Valid,
};
use serde_json::{Map, Value};
use stoa_kernel::{Code, Fault};

/// The members of a request's body (GraphQL over HTTP, section 5).
#[derive(Debug, Default)]
pub struct Request {
    query: String,
    operation: Option<String>,
    variables: Map<String, Value>,
}

impl Request {
    /// Bytes of the document.
    pub fn size(&self) -> usize {
        self.query.len()
    }

    /// Reads a body.
    ///
    /// # Errors
    /// WDE0080: what a member must be and isn't.
    pub fn parse(body: Value) -> Result<Self, Fault> {
        let wrong = |text: &str| Fault::because(Code::BadRequest, text);
        let Value::Object(mut members) = body else { return Err(wrong("The request must be an object.")) };
        let query = match members.remove("query") {
            Some(Value::String(it)) => it,
            None | Some(Value::Null) => return Err(wrong("query is missing: the document, as text.")),
            Some(_) => return Err(wrong("query must be a string.")),
        };
        let operation = match members.remove("operationName") {
            Some(Value::String(it)) => Some(it),
            None | Some(Value::Null) => None,
            Some(_) => return Err(wrong("operationName must be a string.")),
        };
        let variables = match members.remove("variables") {
            Some(Value::Object(it)) => it,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(wrong("variables must be an object.")),
        };
        match members.remove("extensions") {
            None | Some(Value::Null | Value::Object(_)) => Ok(Self { query, operation, variables }),
            Some(_) => Err(wrong("extensions must be an object.")),
        }
    }
}

/// Reads, checks and plans a request; nothing has run when it is refused. It keeps a thread for milliseconds, and needs
/// some hundred kilobytes of its stack.
///
/// # Errors
/// All that is wrong with the document and its variables, in the order in which it is found out: size, form, how much it
/// asks for, types, variables, how many items it may bring.
pub fn prepare(
    schema: &SiteSchema,
    request: &Request,
    limits: &GraphqlLimits,
    may_introspect: bool,
) -> Result<Run, Vec<Error>> {
    let one = |it: Error| vec![it];
    let document = parse(&request.query, limits)?;
    shape::check(&document, limits).map_err(one)?;
    let ordered: Vec<String> = match Fragments::of(&document) {
        Ok(it) => it.ordered.iter().map(|it| (*it).to_owned()).collect(),
        Err(_) => Vec::new(),
    };
    let document = document
        .to_executable_validate(&schema.schema)
        .map_err(|it| of_diagnostics(ErrorCode::Validation, &it.errors))?;
    let operation = operation(&document, request.operation.as_deref()).map_err(one)?;
    let variables = Variables::of(&schema.schema, operation, &request.variables).map_err(one)?;
    cost::check(schema, &document, &ordered, operation, &variables, limits).map_err(one)?;
    let arguments = Arguments::new(&schema.schema, &variables, limits.graphql_argument_bytes);
    let planner = Planner { schema, document: &document, variables: &variables, arguments };
    let mut roots = planner.roots(operation).map_err(one)?;
    if roots.iter().any(|it| matches!(it.call, Call::Introspection)) {
        if !may_introspect {
            let text = "The schema is told to owners, editors and apps; a setting of the server opens it to others.";
            return Err(one(Error::new(ErrorCode::Forbidden, text)));
        }
        introspect(schema, &document, operation, &variables, &mut roots).map_err(one)?;
    }
    Ok(Run::new(roots, operation.is_mutation(), limits))
}

/// The document, of a form that may be looked through.
fn parse(text: &str, limits: &GraphqlLimits) -> Result<ast::Document, Vec<Error>> {
    if text.len() > limits.graphql_bytes {
        return Err(vec![Error::limit("graphql_bytes", "bytes", text.len() as u64, limits.graphql_bytes)]);
    }
    let mut parser = Parser::new().recursion_limit(shape::NESTING).token_limit(limits.graphql_tokens);
    parser.parse_ast(text, "document.graphql").map_err(|it| {
        let mut errors = of_diagnostics(ErrorCode::Parse, &it.errors);
        if parser.tokens_reached() > limits.graphql_tokens {
            errors = vec![too_much("graphql_tokens", "words and signs", limits.graphql_tokens)];
        } else if parser.recursion_reached() > shape::NESTING {
            errors = vec![too_much("nesting", "things within things", shape::NESTING)];
        }
        errors
    })
}

/// More than the parser goes on counting.
fn too_much(limit: &'static str, what: &str, most: usize) -> Error {
    Error::limit(limit, what, u64::MAX, most)
}

fn operation<'d>(document: &'d Valid<ExecutableDocument>, name: Option<&str>) -> Result<&'d Operation, Error> {
    document.operations.get(name).map(|it| &**it).map_err(|it| {
        let mut error = Error::new(ErrorCode::Request, shortened(it.message().to_string()));
        error.location = line_column(it.location(), &document.sources);
        error
    })
}

/// Answers what is asked of the schema.
fn introspect(
    schema: &SiteSchema,
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: &Variables<'_>,
    roots: &mut [Root],
) -> Result<(), Error> {
    let of = |it: &apollo_compiler::request::RequestError| {
        let mut error = Error::new(ErrorCode::Limit, shortened(it.message().to_string()));
        error.location = line_column(it.location(), &document.sources);
        error
    };
    introspection::check_max_depth(document, operation).map_err(|it| of(&it))?;
    let mut plain = JsonMap::new();
    for (name, value) in variables.plain() {
        let value = serde_json_bytes::to_value(value).unwrap_or(JsonValue::Null);
        plain.insert(name, value);
    }
    let plain = Valid::assume_valid(plain);
    let answered = introspection::partial_execute(&schema.schema, &schema.implementers, document, operation, &plain);
    let data = answered.map_err(|it| of(&it))?.data.unwrap_or_default();
    for it in roots.iter_mut().filter(|it| matches!(it.call, Call::Introspection)) {
        let value = data.get(it.key.as_str()).unwrap_or(&JsonValue::Null);
        it.call = Call::Known(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
    }
    Ok(())
}
