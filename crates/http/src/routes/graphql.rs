//! GraphQL, by the two names of its version.

use crate::{
    endpoint::{Line, post},
    graphql,
    openapi::operations::graphql::GRAPHQL_EXECUTE,
};

/// Both. A document may write, so neither is a read, whatever is asked.
pub(super) fn routes() -> Vec<Line> {
    vec![
        post("/graphql/v1", graphql::execute, &GRAPHQL_EXECUTE),
        post("/graphql/alpha", graphql::execute, &GRAPHQL_EXECUTE),
    ]
}
