//! How the engines go about lists of members: by an index, for every filter and every caller.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod common;

use common::*;
use stoa_identity::member::{
    Audience::{self, Public, Staff},
    MemberField as F, MemberFilter as Filter, MemberQuery, MemberSort as Sort, Operand, Paging,
};
use stoa_sql::{Value, params};
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::on_both_engines;

const MEMBERS: i64 = 20_000;

fn text(value: &str) -> Operand {
    Operand::Text(value.to_owned())
}

fn is(field: F, value: Operand) -> Filter {
    Filter::All(vec![Filter::equal(field, value)])
}

fn prefix(field: F, prefix: &str) -> Filter {
    Filter::All(vec![Filter::Prefix(field, prefix.to_owned())])
}

/// Who asks for what, and which index answers: by its name on SQLite and on PostgreSQL.
fn by_filter() -> Vec<(Filter, &'static str, &'static str)> {
    let two = |field: F, a: &str, b: &str| Filter::All(vec![Filter::Any(vec![is(field, text(a)), is(field, text(b))])]);
    let (by_id, by_email) = ("sqlite_autoindex_member_1", "sqlite_autoindex_member_2");
    let (id, email) = ("member_pkey", "member_site_email_folded_key");
    vec![
        (is(F::Id, text("m7")), by_id, id),
        (two(F::Id, "m7", "m8"), by_id, id),
        (is(F::Email, text("m7@example.org")), by_email, email),
        (two(F::Email, "m7@example.org", "m8@example.org"), by_email, email),
        (prefix(F::Email, "m77@"), by_email, email),
        (is(F::Nickname, text("name 7")), "member_name", "member_name"),
        (two(F::Nickname, "name 7", "name 8"), "member_name", "member_name"),
        (prefix(F::Nickname, "name 77"), "member_name", "member_name"),
        (is(F::Slug, text("slug-7")), "member_slug", "member_slug"),
        (prefix(F::Slug, "slug-77"), "member_slug", "member_slug"),
        (is(F::Status, text("PENDING")), "member_status", "member_status"),
    ]
}

impl Kit {
    /// Many members without a sign-in each, so that the planner has something to think about.
    async fn fill(&self) {
        let sql = "insert into stoa.member (site, id, email, email_folded, email_verified, status, pending_email, \
            pending_approval, profile, revision, created, updated, slug_folded, nickname_folded, privacy) \
            with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < $1) \
            select $2, 'm' || i, 'm' || i || '@example.org', 'm' || i || '@example.org', 1, 'ACTIVE', 0, 0, '{}', 1, \
            i, i, 'slug-' || i, 'name ' || (i / 20), 'PUBLIC' from n";
        let is_postgres = self.site.dialect().name() != "sqlite";
        let filled = self.site.write_with(self.site.id.clone(), move |tx, site| {
            boxed!({
                tx.execute(sql, &params![MEMBERS, site]).await?;
                let sql = "insert into stoa.member_tie (site, kind, holder, target, id, doc, created) \
                    select site, 'block', id, 'm' || (created % 100), id, '{}', 1 from stoa.member where site = $1";
                tx.execute(sql, &params![site]).await?;
                if is_postgres {
                    tx.batch("analyze stoa.member").await?;
                    tx.batch("analyze stoa.member_tie").await?;
                }
                Ok(())
            })
        });
        filled.await.unwrap();
    }

    async fn plan(&self, (sql, values): (String, Vec<Value>)) -> String {
        let (how, column) = match self.site.dialect().name() {
            "sqlite" => ("explain query plan", 3),
            _ => ("explain", 0),
        };
        let sql = format!("{how} {sql}");
        let rows = self.site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let rows: Vec<String> = tx.rows(&sql, &values, |row| row.get(column)).await?;
                Ok(rows)
            })
        });
        rows.await.unwrap().join("\n")
    }

    /// The index by which a query's page is read, and by which its total is.
    async fn plans(&self, audience: Audience, query: &MemberQuery) -> [String; 2] {
        let (dialect, site) = (self.site.dialect(), &self.site.id);
        let page = self.plan(query.page(dialect, site, audience).unwrap()).await;
        [page, self.plan(query.count(dialect, site, audience).unwrap()).await]
    }
}

on_both_engines! {
    /// One page of a million members must not read them all: a filter that few members fit is answered by
    /// its own index and not by the one that has the order.
    async fn filters_are_answered_by_their_index(engine) {
        let kit = Kit::new(engine).await;
        kit.fill().await;
        let is_sqlite = kit.site.dialect().name() == "sqlite";
        for (filter, on_sqlite, on_postgres) in by_filter() {
            let is_of_staff = filter == is(F::Status, text("PENDING"));
            for (audience, viewer) in [(Staff, None), (Public, None), (Public, Some("m9".into()))] {
                // Others see active members alone, and name no status.
                if is_of_staff && audience == Public {
                    continue;
                }
                let query = MemberQuery { filter: filter.clone(), viewer, ..Default::default() };
                for plan in kit.plans(audience, &query).await {
                    let index = if is_sqlite { on_sqlite } else { on_postgres };
                    assert!(plan.contains(index), "{audience:?} {filter:?}:\n{plan}");
                }
            }
        }
    }

    /// Orders come from an index, too: nothing is sorted, and a page is read up to its end only.
    async fn orders_are_not_made_by_sorting(engine) {
        let kit = Kit::new(engine).await;
        kit.fill().await;
        for sort in [Sort::Created, Sort::LastLogin, Sort::Nickname, Sort::Email] {
            for (is_ascending, audience) in [(false, Staff), (true, Staff), (false, Public), (true, Public)] {
                let query = MemberQuery { sort, is_ascending, viewer: Some("m9".into()), ..Default::default() };
                let [page, _] = kit.plans(audience, &query).await;
                let is_sorted = page.contains("TEMP B-TREE") || page.contains("Sort");
                assert!(!is_sorted, "{audience:?} {sort:?} {is_ascending}:\n{page}");
            }
        }
        let first = MemberQuery { limit: 1, paging: Paging::After(String::new()), ..Default::default() };
        let page = kit.identity.member_query(&kit.site, Staff, &first).await.unwrap();
        assert_eq!(page.members[0].id.as_str(), format!("m{MEMBERS}"));
        let next = MemberQuery { paging: Paging::After(page.next.unwrap()), ..Default::default() };
        let plan = kit.plan(next.page(kit.site.dialect(), &kit.site.id, Staff).unwrap()).await;
        assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{plan}");
    }
}
