//! Sites with many collections, and callers with different schemas at once.

use super::*;

on_both_engines! {
    async fn callers_of_one_site_have_schemas_of_their_own(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        define(&app, "kept", json!([field("n", "NUMBER")]), ["PRIVILEGED"; 4]).await;
        let (visitor, owner) = (app.visitor().await, app.owner().await);
        // As on the first request of a new definition: many at once want the same two schemas.
        let asking = (0..40).map(|n| {
            let client = if n % 2 == 0 { &visitor } else { &owner };
            data(client, "{_collections}", json!({}))
        });
        let answers = futures_util::future::join_all(asking).await;
        for (n, it) in answers.iter().enumerate() {
            let wants = if n % 2 == 0 { json!(["brands", "tags", "cars"]) } else { json!(["brands", "tags", "cars", "kept"]) };
            assert_eq!(it["_collections"], wants);
        }
    }

    async fn second_site_has_its_own(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, secret) = app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let stranger = app.with_token(secret.expose());
        assert_eq!(data(&stranger, "{_collections}", json!({})).await["_collections"], json!([]));
        assert_eq!(ask(&stranger, "{carsCount}", json!({})).await.get("data"), None);
        assert_eq!(data(&app.app(), "{carsCount}", json!({})).await["carsCount"], 3);
    }
}
