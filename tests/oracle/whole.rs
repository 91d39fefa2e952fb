//! Calls on whole collections, and what only the privileged may do.

use super::*;
use stoa_content::transfer::{FileOf, Format};

impl World<'_> {
    /// Makes an item another's: the privileged may, and no others.
    pub async fn give(
        &mut self,
        caller: &Caller<'_>,
        callers: &[Caller<'_>],
        random: &mut Random,
        is_source: bool,
    ) -> String {
        let side = self.side(is_source);
        let id = side.any_id(random);
        let heirs: Vec<_> = callers.iter().filter(|it| !it.id.is_empty()).collect();
        let heir = heirs[random.below(heirs.len())].id.clone();
        let set = json!({ "fieldPath": "_owner", "action": "SET_FIELD", "setFieldOptions": { "value": heir } });
        let patch = json!({ "dataItemId": id, "fieldModifications": [set] });
        let reply =
            caller.client.post("/v2/items/patch", &json!({ "dataCollectionId": side.id, "patch": patch })).await;
        let context = self.context(&format!("give {id}"), caller, side, &reply);
        match (caller.kind, side.items.contains_key(&id)) {
            (Kind::Owner | Kind::App, true) => {
                assert_eq!(reply.verdict(), "200", "{context}");
                if let Some(it) = self.items(is_source).get_mut(&id) {
                    it["_owner"] = heir.into();
                }
            }
            (Kind::Owner | Kind::App, false) => assert_eq!(reply.verdict(), "404 WDE0073", "{context}"),
            _ => assert_eq!(reply.verdict(), refusal(caller), "{context}"),
        }
        reply.verdict()
    }

    /// Emptying is for the privileged, whatever the levels; links go from both sides. Then items come back.
    pub async fn truncate(
        &mut self,
        caller: &Caller<'_>,
        callers: &[Caller<'_>],
        random: &mut Random,
        is_source: bool,
    ) -> String {
        let side = self.side(is_source);
        let reply = caller.client.post("/v2/items/truncate", &json!({ "dataCollectionId": side.id })).await;
        let context = self.context("truncate", caller, side, &reply);
        if !matches!(caller.kind, Kind::Owner | Kind::App) {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        assert_eq!(reply.verdict(), "200", "{context}");
        self.items(is_source).clear();
        self.links.clear();
        self.check("truncate", caller).await;
        let side = if is_source { &mut self.source } else { &mut self.target };
        side.fill(self.app, callers, random).await;
        reply.verdict()
    }

    /// The privileged export all there is, and others nothing; nor do others import. No path
    /// leads to it.
    pub async fn export(&self, callers: &[Caller<'_>]) {
        for caller in callers {
            let side = &self.source;
            let what = format!("{}: export of {:?}", self.name, caller.kind);
            let token = Some(caller.client.token.as_str());
            let Ok(known) = self.app.app.identity.authenticate(token, None).await else {
                assert_eq!(caller.kind, Kind::Anonymous, "{what}");
                continue;
            };
            let (content, site, mut out) = (&self.app.app.content, &self.app.site, Vec::new());
            let done = content
                .export(site, &known.caller, FileOf { collection: &side.id, format: Format::Json }, &mut out, |_| {})
                .await;
            if matches!(caller.kind, Kind::Owner | Kind::App) {
                assert_eq!(done.ok(), Some(side.items.len() as u64), "{what}");
                let items: Value = serde_json::from_slice(&out).unwrap();
                let items = items.as_array().into_iter().flatten().map(plain).collect::<Vec<_>>();
                let linked = |it: &Value| {
                    let mut it = it.clone();
                    it["many"] = json!(self.linked(&it["_id"]));
                    it
                };
                assert_eq!(items, side.items.values().map(linked).collect::<Vec<_>>(), "{what}");
                continue;
            }
            assert_eq!(done.err().map(|it| it.code().name()), Some("WDE0027"), "{what}");
            assert!(out.is_empty(), "{what}: {out:?}");
            let line = &b"{\"_id\":\"i0\",\"n\":9,\"_owner\":\"x\"}"[..];
            let done = content
                .import(site, &known.caller, FileOf { collection: &side.id, format: Format::JsonLines }, line, |_| {})
                .await;
            assert_eq!(done.err().map(|it| it.code().name()), Some("WDE0027"), "{what}");
        }
        self.check("export", &callers[0]).await;
    }
}
