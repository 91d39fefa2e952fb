//! More items and links than any limit of a page: counts and pages are complete.

use super::*;
use stoa_sql::Table;
use stoa_store::boxed;

/// Of six items five are the member's.
const ALL: usize = 120_006;
const OWN: usize = 100_005;
/// Different values among the first 6,000 of them, and how many of these the member finds.
const VALUES: usize = 1_500;
const OWN_VALUES: usize = 1_250;
/// Links of one item to the first of them.
const LINKS: usize = 3_000;
const OWN_LINKS: usize = 2_500;

/// A collection whose items are read by their authors, and a team that leads to many of them. Items and
/// links are made inside the engine.
async fn fill(app: &TestApp, author: &str) {
    let levels = json!({ "itemRead": "SITE_MEMBER_AUTHOR", "itemRemove": "SITE_MEMBER_AUTHOR" });
    let members = json!({ "multiReference": { "referencedCollectionId": "mass", "referencingFieldKey": "teams" } });
    let field = json!({ "key": "members", "type": "MULTI_REFERENCE", "typeMetadata": members });
    for collection in [
        json!({ "id": "mass", "fields": [{ "key": "k", "type": "NUMBER" }], "dataPermissions": levels }),
        json!({ "id": "team", "fields": [field], "dataPermissions": { "itemRead": "ANYONE" } }),
    ] {
        let reply = app.app().post("/v2/collections", &json!({ "collection": collection })).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    }
    let team = json!({ "dataCollectionId": "team", "dataItem": { "data": { "_id": "t" } } });
    assert_eq!(app.app().post("/v2/items", &team).await.verdict(), "200");
    let site = app.site.number;
    let load = app.site.write_with((app.site.id.clone(), author.to_owned()), move |tx, (id, author)| {
        boxed!({
            let sql = "select number from stoa.collection where site = $1 and id = 'mass'";
            let number = tx.row(sql, &stoa_sql::params![id], |row| row.get::<i64>(0)).await?.unwrap_or_default();
            let owner = format!("case n % 6 when 0 then 'another' else '{author}' end");
            let d = tx.dialect();
            let document = d.store_doc(&format!(
                "('{{\"_id\":\"i' || n || '\",\"_owner\":\"' || {owner} || '\",\"k\":' || (n % {VALUES}) || '}}')"
            ));
            let sql = format!(
                "with recursive number(n) as (select 0 union all select n + 1 from number where n < {}) \
                 insert into {} (id, created, updated, owner, doc) select 'i' || n, n, n, {owner}, {document} from number",
                ALL - 1,
                d.table(Table { site, number })
            );
            tx.execute(&sql, &[]).await?;
            let sql = format!(
                "with recursive number(n) as (select 0 union all select n + 1 from number where n < {}) \
                 insert into stoa.item_link (site, relation, referring, referenced) \
                 select $1, (select max(number) from stoa.relation where site = $1), 't', 'i' || n from number",
                LINKS - 1
            );
            Ok(tx.execute(&sql, &stoa_sql::params![id]).await?)
        })
    });
    assert_eq!(load.await.unwrap(), LINKS as u64);
}

on_both_engines! {
    async fn limits_never_cut_visible_items(engine) {
        let app = TestApp::new(engine).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        let author = app.app.identity.authenticate(Some(ann.token.as_str()), None).await.unwrap().caller;
        fill(&app, author.owner().unwrap()).await;
        let ask = async |who: &TestClient<'_>, path: &str, more: Value| {
            let mut body = json!({ "dataCollectionId": "mass" });
            more.as_object().unwrap().iter().for_each(|(name, it)| body[name] = it.clone());
            let reply = who.post(path, &body).await;
            assert_eq!(reply.verdict(), "200", "{body}: {:?}", reply.body);
            reply.json()
        };
        let since = json!({ "_createdDate": { "$gte": { "$date": "1970-01-01T00:00:00.000Z" } } });
        for (who, own) in [(&ann, OWN), (&bob, 0), (&app.app(), ALL)] {
            for filter in [json!({}), since.clone()] {
                assert_eq!(ask(who, "/v2/items/count", json!({ "filter": filter })).await["totalCount"], own);
            }
            let end = json!({ "returnTotalCount": true, "query": { "paging": { "limit": 10, "offset": own.max(1) - 1 } } });
            let page = ask(who, "/v2/items/query", end).await;
            assert_eq!(page["dataItems"].as_array().map(Vec::len), Some(own.min(1)), "the last of them");
            let metadata = &page["pagingMetadata"];
            assert_eq!((&metadata["total"], &metadata["tooManyToCount"], &metadata["hasNext"]), (&json!(own), &json!(false), &json!(false)));
        }
        let few = json!({ "_createdDate": { "$lt": { "$date": "1970-01-01T00:00:06.000Z" } } });
        for (who, own) in [(&ann, OWN_VALUES), (&bob, 0), (&app.app(), VALUES)] {
            let values = json!({ "fieldName": "k", "filter": few, "returnTotalCount": true,
                "paging": { "limit": 1000, "offset": 1000 } });
            let page = ask(who, "/v2/items/query-distinct-values", values).await;
            assert_eq!(page["distinctValues"].as_array().map(Vec::len), Some(own.saturating_sub(1000)));
            assert_eq!(page["pagingMetadata"]["total"], own);
        }
        for (who, own) in [(&ann, OWN_LINKS), (&bob, 0), (&app.app(), LINKS)] {
            let team = json!({ "dataCollectionId": "team", "referringItemFieldName": "members", "referringItemId": "t",
                "returnTotalCount": true, "paging": { "limit": 10, "offset": own.max(1) - 1 } });
            let page = ask(who, "/v2/items/query-referenced", team).await;
            assert_eq!(page["results"].as_array().map(Vec::len), Some(own.min(1)), "the last of them");
            assert_eq!(page["pagingMetadata"]["total"], own);
            let whole = json!({ "dataCollectionId": "team", "includeReferences": [{ "field": "members", "limit": 1000 }] });
            let shown = ask(who, "/v2/items/query", whole).await;
            assert_eq!(shown["dataItems"][0]["data"]["members"].as_array().map(Vec::len), Some(own.min(1000)));
            let linked = json!({ "filter": { "teams": { "$hasSome": ["t"] } } });
            assert_eq!(ask(who, "/v2/items/count", linked).await["totalCount"], own);
        }
        // What is more than a call takes is refused, not done in part.
        let ids: Vec<_> = (0..1001).map(|n| format!("i{n}")).collect();
        let remove = json!({ "dataCollectionId": "mass", "dataItemIds": ids });
        assert_eq!(ann.post("/v2/bulk/items/remove", &remove).await.verdict(), "400 WDE0069");
        let remove = json!({ "dataCollectionId": "mass", "dataItemIds": &ids[..1000] });
        let metadata = ann.post("/v2/bulk/items/remove", &remove).await.json()["bulkActionMetadata"].clone();
        assert_eq!((&metadata["totalSuccesses"], &metadata["totalFailures"]), (&json!(833), &json!(167)));
        assert_eq!(ask(&ann, "/v2/items/count", json!({})).await["totalCount"], OWN - 833);
        assert_eq!(ask(&app.app(), "/v2/items/count", json!({})).await["totalCount"], ALL - 833);
    }
}
