//! GraphQL: `/graphql/v1`.

use crate::{
    openapi::{Answer, Callers, Content, Media, Operation},
    subject::Subject,
};
use stoa_kernel::Code;

const ANSWERS: &[Answer] = &[
    Answer::json(
        "GraphqlResponse",
        "What was asked, or why not: also a document that is refused is answered with this status.",
    ),
    Answer {
        status: 200,
        about: "What was asked, and what of it is missing.",
        content: Some(Content { media: Media::Graphql, schema: Some("GraphqlResponse") }),
    },
    Answer {
        status: 400,
        about: "The document is refused, and nothing of it has run.",
        content: Some(Content { media: Media::Graphql, schema: Some("GraphqlResponse") }),
    },
];

pub(crate) const GRAPHQL_EXECUTE: Operation =
    Operation::new("graphqlExecute", Subject::Graphql, Callers::Known, "Runs a document of GraphQL")
        .notes(
            "The schema has the collections that the caller may know of, and each field asks what the calls on items \
             ask. A query needs the scope `items:read` for its collections, a mutation `items:write`. \
             `accept: application/graphql-response+json` gets a document that is refused as 400.",
        )
        .takes("GraphqlRequest")
        .answers(ANSWERS)
        .errors(&[&[Code::BadRequest]]);
