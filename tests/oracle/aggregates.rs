//! Aggregations: what they count, sum and let through is what their caller may read.

use super::*;

impl World<'_> {
    /// Groups of the older form, or a pipeline.
    pub async fn aggregate_call(
        &self,
        caller: &Caller<'_>,
        random: &mut Random,
        is_source: bool,
    ) -> (&'static str, String) {
        match random.below(3) {
            0 => ("aggregate", self.aggregate(caller, random, is_source).await),
            1 => ("pipeline", self.pipeline(caller, random, is_source).await),
            _ => ("pipeline of groups", self.grouping_pipeline(caller, random, is_source).await),
        }
    }

    pub async fn aggregate(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.filter(caller, random, is_source);
        let operations = json!([{ "resultFieldName": "count", "itemCount": {} }, { "resultFieldName": "nSum", "sum": { "itemFieldName": "n" } }]);
        let aggregation = json!({ "groupingFields": ["n"], "operations": operations });
        let body = json!({ "dataCollectionId": side.id, "initialFilter": filter, "aggregation": aggregation,
            "finalFilter": { "count": { "$gt": 0 } }, "returnTotalCount": true, "paging": { "limit": 1000 } });
        let reply = caller.client.post("/v2/items/aggregate", &body).await;
        let context = self.context(&format!("aggregate {body}"), caller, side, &reply);
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let mut groups: BTreeMap<Option<u64>, u64> = BTreeMap::new();
        for (_, it) in side.readable(caller).into_iter().filter(|(_, it)| passes(it)) {
            *groups.entry(it["n"].as_u64()).or_default() += 1;
        }
        let group = |(n, count): (&Option<u64>, &u64)| json!({ "_id": { "n": n }, "n": n, "count": count, "nSum": n.unwrap_or(0) * count });
        let json = reply.json();
        assert_eq!(json["results"], groups.iter().map(group).collect::<Value>(), "{context}");
        assert_eq!(json["pagingMetadata"]["total"], groups.len(), "{context}");
        reply.verdict()
    }

    /// Whole items, as a query shows them.
    pub async fn pipeline(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.filter(caller, random, is_source);
        let (limit, skip) = (1 + random.below(12), random.below(3));
        let stages = json!([{ "filter": filter }, { "sort": { "values": pages::sort() } }, { "skip": skip }]);
        let body =
            json!({ "dataCollectionId": side.id, "pipeline": { "stages": stages, "paging": { "limit": limit } } });
        let reply = caller.client.post("/v2/items/aggregate-pipeline", &body).await;
        let context = self.context(&format!("pipeline {body}"), caller, side, &reply);
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let found = side.found(caller, &passes);
        let expected: Vec<_> = found.iter().skip(skip).take(limit).map(|it| (*it).clone()).collect();
        let json = reply.json();
        let results = json["results"].as_array().unwrap_or_else(|| panic!("{context}"));
        assert_eq!(results.iter().map(plain).collect::<Vec<_>>(), expected, "{context}");
        assert_eq!(json["pagingMetadata"]["hasNext"], found.len() > skip + limit, "{context}");
        reply.verdict()
    }

    pub async fn grouping_pipeline(&self, caller: &Caller<'_>, random: &mut Random, is_source: bool) -> String {
        let side = self.side(is_source);
        let (filter, passes) = self.filter(caller, random, is_source);
        let ids = json!([{ "resultFieldName": "ids", "push": { "expression": { "fieldPath": "_id" } } }]);
        let stages = json!([{ "filter": filter }, { "sort": { "values": pages::sort() } }, { "group": { "groupIds": [], "accumulators": ids } }]);
        let body = json!({ "dataCollectionId": side.id, "pipeline": { "stages": stages } });
        let reply = caller.client.post("/v2/items/aggregate-pipeline", &body).await;
        let context = self.context(&format!("pipeline {body}"), caller, side, &reply);
        if right(caller, side, READ) == Right::Refused {
            assert_eq!(reply.verdict(), refusal(caller), "{context}");
            return reply.verdict();
        }
        let ids: Vec<_> = side.found(caller, &passes).into_iter().map(|it| it["_id"].clone()).collect();
        let expected = if ids.is_empty() { json!([]) } else { json!([{ "_id": {}, "ids": ids }]) };
        assert_eq!(reply.json()["results"], expected, "{context}");
        reply.verdict()
    }
}
