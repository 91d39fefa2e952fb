//! What a schema has, and how things are called in it.

use super::*;

#[test]
fn schema_is_text_of_the_language() {
    let collections = [
        collection(
            "cars",
            Rights { read: true, remove: true, ..Rights::default() },
            &[
                ("title", FieldKind::Text),
                ("max speed", FieldKind::Number),
                ("brand", FieldKind::Single("brands".to_owned())),
                ("owners", FieldKind::Multi("people".to_owned())),
                ("seller", FieldKind::Single("people".to_owned())),
            ],
        ),
        collection(
            "brands",
            Rights { insert: true, ..Rights::default() },
            &[("name", FieldKind::Text), ("cars", FieldKind::Multi("cars".to_owned()))],
        ),
    ];
    let site = SiteSchema::build(&collections).expect("a schema");
    let wants = r#"scalar JSON @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc8259")
scalar DateTime @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc3339")
enum SortOrder { ASC DESC }
"A field by its key in the collection, and a direction."
input Sort { field: String! order: SortOrder! = ASC }
"Items of the collection cars."
type Cars {
  _id: ID!
  _createdDate: DateTime
  _updatedDate: DateTime
  _owner: ID
  title: String
  "The field max speed."
  max_speed: Float
  brand: Brands
  seller: ID
  "All of the item, also what is not declared."
  _data: JSON!
}
type CarsPage {
  items: [Cars!]!
  totalCount: Int
  hasNext: Boolean!
  next: String
  prev: String
}
"What became of one item of a bulk call."
type CarsOutcome {
  action: String!
  id: ID
  error: BulkError
  item: Cars
}
"Items of the collection brands."
type Brands {
  _id: ID!
  _createdDate: DateTime
  _updatedDate: DateTime
  _owner: ID
  name: String
  cars(limit: Int = 50, offset: Int = 0): [Cars!]!
  "All of the item, also what is not declared."
  _data: JSON!
}
"What became of one item of a bulk call."
type BrandsOutcome {
  action: String!
  id: ID
  error: BulkError
  item: Brands
}
type Query {
  "Ids of the collections that can be read."
  _collections: [String!]!
  cars(filter: JSON, sort: [Sort!], limit: Int = 50, offset: Int, cursor: String): CarsPage
  carsItem(id: ID!): Cars
  carsCount(filter: JSON): Int
}
"Changes of one item: each member of an object names a field, or a path with dots, and its value."
input Patch { id: ID! set: JSON inc: JSON append: JSON pull: JSON unset: [String!] }
type BulkError { code: String! message: String! data: JSON }
type Mutation {
  removeCars(id: ID!, condition: JSON): Cars
  bulkRemoveCars(ids: [ID!]!, condition: JSON): [CarsOutcome!]
  insertBrands(item: JSON!, saveReferences: Boolean): Brands
  saveBrands(item: JSON!, saveReferences: Boolean): Brands
  bulkInsertBrands(items: [JSON!]!, saveReferences: Boolean): [BrandsOutcome!]
  bulkSaveBrands(items: [JSON!]!, saveReferences: Boolean): [BrandsOutcome!]
}
"#;
    assert_eq!(site.text(), wants);
}

#[test]
fn names_that_come_to_the_same_are_numbered_by_age() {
    let ids = ["a/b", "a_b", "a_bItem", "Query", "_collections", "日本", "", "A_b", "insertA_b", "__x", "1", "a\"\\\n"];
    let fields =
        [("x-y", FieldKind::Text), ("x y", FieldKind::Number), ("_id", FieldKind::Any), ("_data", FieldKind::Any)];
    let collections: Vec<_> = ids.iter().map(|it| collection(it, ALL, &fields)).collect();
    let site = SiteSchema::build(&collections).expect("a schema");
    let text = site.text();
    let root = |line: &str| line.trim_start().split('(').next().unwrap_or_default().to_owned();
    let roots: Vec<_> = text.lines().filter(|it| it.contains("(filter: JSON, sort:")).map(root).collect();
    assert_eq!(
        roots,
        [
            "a_b",
            "a_b_2",
            "a_bItem_2",
            "Query_2",
            "_collections_2",
            "_",
            "_2",
            "A_b_3",
            "insertA_b_4",
            "_x",
            "_1",
            "a___",
        ]
    );
    let first = text.split("type A_b {").nth(1).expect("the first type").split('}').next().expect("its end");
    let mut fields: Vec<_> = first.lines().filter_map(|it| it.trim().split_once(':')).map(|it| it.0).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["_createdDate", "_data", "_data_2", "_id", "_owner", "_updatedDate", "x_y", "x_y_2"]);
}

#[test]
fn schema_without_collections_can_be_asked() {
    let site = SiteSchema::build(&[]).expect("a schema");
    let run = prepare(&site, &request("{ _collections __typename }", json!({})), &GraphqlLimits::default(), false);
    let mut run = run.expect("let through");
    assert!(run.next_ask().is_none());
    assert_eq!(run.finish(), r#"{"data":{"_collections":[],"__typename":"Query"}}"#);
}

#[test]
fn introspection_is_for_those_who_may() {
    let (site, limits) = (site(), GraphqlLimits::default());
    let query = "query($n: String!) { s: __schema { queryType { name } } t: __type(name: $n) { fields { name type { name } } } _collections }";
    let asked = request(query, json!({ "n": "CarsPage" }));
    let refused = prepare(&site, &asked, &limits, false).err().expect("refused");
    assert_eq!(refused[0].extensions["code"], "INTROSPECTION_NOT_ALLOWED");
    let mut run = prepare(&site, &asked, &limits, true).expect("let through");
    assert!(run.next_ask().is_none());
    let answer: Value = serde_json::from_str(&run.finish()).expect("JSON");
    assert_eq!(answer["data"]["s"]["queryType"]["name"], "Query");
    assert_eq!(answer["data"]["t"]["fields"][0]["name"], "items");
    assert_eq!(answer["data"]["_collections"], json!(["cars", "brands"]));
    assert_eq!(answer.get("errors"), None);
}
