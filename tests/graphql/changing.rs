//! Collections that change while they are asked for.

use super::*;

on_both_engines! {
    async fn definitions_change_while_queries_run(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let (key, done) = (app.app(), std::sync::atomic::AtomicBool::new(false));
        let change = async {
            for round in 0..12 {
                let field = json!({ "dataCollectionId": "cars", "field": { "key": "extra", "type": "TEXT" } });
                assert_eq!(key.post("/v2/collections/create-field", &field).await.verdict(), "200");
                // Once it is acknowledged, it is in the schema.
                data(&key, "{cars {items {extra}}}", json!({})).await;
                let field = json!({ "dataCollectionId": "cars", "fieldKey": "extra" });
                assert_eq!(key.post("/v2/collections/delete-field", &field).await.verdict(), "200");
                let gone = ask(&key, "{cars {items {extra}}}", json!({})).await;
                assert_eq!(gone.get("data"), None, "{gone}");
                let id = format!("round{round}");
                define(&app, &id, json!([field_of("n")]), OPEN).await;
                data(&key, &format!("{{{id}Count}}"), json!({})).await;
                assert_eq!(key.delete(&format!("/v2/collections/{id}?dataCollectionId={id}")).await.verdict(), "200");
                assert_eq!(ask(&key, &format!("{{{id}Count}}"), json!({})).await.get("data"), None);
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        };
        let asking = async || {
            let mut asked = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let answer = ask(&visitor, "{cars {items {title extra brand {name}}}}", json!({})).await;
                match answer.get("errors") {
                    None => assert_eq!(answer["data"]["cars"]["items"].as_array().map(Vec::len), Some(3), "{answer}"),
                    Some(errors) => {
                        let code = errors[0]["extensions"]["code"].as_str().unwrap();
                        assert!(matches!(code, "GRAPHQL_VALIDATION_FAILED" | "WDE0025" | "WDE0026"), "{answer}");
                    }
                }
                let whole = data(&visitor, "{cars {totalCount}}", json!({})).await;
                assert_eq!(whole["cars"]["totalCount"], 3);
                asked += 1;
            }
            asked
        };
        let ((), first, second) = tokio::join!(change, asking(), asking());
        assert!(first + second > 10, "{first} {second}");
    }

    async fn permissions_change_what_is_there_at_once(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let levels = async |read: &str| {
            let levels = json!({ "id": "cars", "itemRead": read, "itemInsert": "PRIVILEGED", "itemUpdate": "PRIVILEGED", "itemRemove": "PRIVILEGED" });
            assert_eq!(app.app().post("/v1/permissions", &json!({ "dataPermissions": levels })).await.verdict(), "200");
        };
        for _ in 0..3 {
            levels("PRIVILEGED").await;
            assert_eq!(ask(&visitor, "{carsCount}", json!({})).await.get("data"), None);
            levels("ANYONE").await;
            assert_eq!(data(&visitor, "{carsCount}", json!({})).await["carsCount"], 3);
        }
    }
}

fn field_of(key: &str) -> Value {
    field(key, "NUMBER")
}
