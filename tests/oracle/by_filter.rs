//! Jobs by filter: what they change is what their caller may find with a query and change with a call. Where hooks would
//! have to be asked, there is none but for those who may do without hooks and say so.

use super::*;
use crate::async_jobs::ended;

impl World<'_> {
    pub async fn patch_by_filter(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let (filter, passes) = self.filter(caller, random, is_source);
        let value = random.below(1_000_000);
        let set = json!([{ "fieldPath": "mark", "action": "SET_FIELD", "setFieldOptions": { "value": value } }]);
        let suppresses = self.suppresses(random);
        let body = json!({ "dataCollectionId": self.side(is_source).id, "filter": filter, "fieldModifications": set,
            "suppressHooks": suppresses });
        let reply = caller.client.post("/v2/bulk/items/async-patch-by-filter", &body).await;
        let found = match self.found_by_job(caller, (is_source, UPDATE, suppresses), &reply, &filter, &passes).await {
            Ok(it) => it,
            Err(verdict) => return verdict,
        };
        for id in found {
            self.items(is_source).entry(id).and_modify(|it| it["mark"] = value.into());
        }
        reply.verdict()
    }

    pub async fn remove_by_filter(&mut self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let (mut filter, passes) = self.filter(caller, random, is_source);
        // Seldom more than a few: the world is to go on.
        let id = self.side(is_source).any_id(random);
        let is_narrow = !random.one_in(8);
        if is_narrow {
            filter = json!({ "$and": [filter, { "_id": id }] });
        }
        let holds_always = filter == json!({}) || filter["$or"][0] == json!({});
        let suppresses = self.suppresses(random);
        let id_of_side = &self.side(is_source).id;
        let body = json!({ "dataCollectionId": id_of_side, "filter": filter, "suppressHooks": suppresses });
        let (path, body) = match random.one_in(2) {
            true => ("/v2/bulk/items/async-remove-by-filter", body),
            false => {
                let task = json!({ "type": "DELETE_BY_QUERY", "deleteByQueryOptions": body });
                ("/v1/tasks", json!({ "task": task }))
            }
        };
        let reply = caller.client.post(path, &body).await;
        if holds_always && !matches!(caller.kind, Kind::Owner | Kind::App) {
            assert_eq!(reply.verdict(), refusal(caller), "all items: {filter}");
            return reply.verdict();
        }
        let passes: Passes = Box::new(move |it| passes(it) && (!is_narrow || it["_id"] == id.as_str()));
        let found = match self.found_by_job(caller, (is_source, REMOVE, suppresses), &reply, &filter, &passes).await {
            Ok(it) => it,
            Err(verdict) => return verdict,
        };
        found.iter().for_each(|id| self.forget(is_source, id));
        reply.verdict()
    }

    /// Whether a call is to do without the hooks that there are.
    fn suppresses(&self, random: &mut Random) -> bool {
        self.has_hooks && random.one_in(2)
    }

    /// The items that a job must have changed, or how it was refused, as it must have been.
    async fn found_by_job(
        &self,
        caller: &Caller<'_>,
        (is_source, operation, suppresses): (bool, usize, bool),
        reply: &Reply,
        filter: &Value,
        passes: &Passes,
    ) -> Result<Vec<String>, String> {
        let side = self.side(is_source);
        let context = self.context(&format!("by filter {filter}"), caller, side, reply);
        if [READ, operation].iter().any(|it| right(caller, side, *it) == Right::Refused) {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return Err(reply.verdict());
        }
        let does_without = suppresses && matches!(caller.kind, Kind::Editor | Kind::Owner | Kind::App);
        if self.has_hooks && !does_without {
            assert_eq!(reply.verdict(), "428 WDE0119", "{context}");
            return Err(reply.verdict());
        }
        let job = ended(&caller.client, reply).await;
        let may_both = |it: &Value| may(caller, side, READ, it) && may(caller, side, operation, it);
        let found: Vec<String> =
            side.items.iter().filter(|(_, it)| may_both(it) && passes(it)).map(|(id, _)| id.clone()).collect();
        let counts = (&job["status"], &job["successCount"], &job["failureCount"]);
        assert_eq!(counts, (&json!("SUCCEEDED"), &json!(found.len()), &json!(0)), "{context} {found:?}");
        Ok(found)
    }
}
