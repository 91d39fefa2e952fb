use crate::common::*;
use stoa_content::search::{Index, NewSegment, Publication, SearchMemory, StoredSegment, pieces};
use stoa_kernel::Result;
use stoa_query::pipeline::SharedMemory;
use stoa_search::{
    document::FieldText,
    question::{Hit, Mode, Options, Question},
    rows::Rows,
    segment::{Builder, Segment},
};
use stoa_store::{ReaderPool, Requester, Site, boxed};
use stoa_testkit::on_both_engines;

const COLLECTION: i64 = 7;

fn segment(items: impl IntoIterator<Item = (u64, String)>) -> Segment {
    let mut builder = Builder::default();
    for (rid, text) in items {
        builder.put(rid, &[FieldText { bit: 1, is_display: true, text: &text }]);
    }
    builder.build()
}

fn index(site: &Site) -> Index {
    Index { site: site.id.clone(), collection: COLLECTION }
}

/// Writes a segment as the job does, but doesn't publish it.
async fn write(site: &Site, segment: &Segment, level: i64) -> StoredSegment {
    let new = NewSegment { segment: segment.clone(), level, language: String::new() };
    let begun = site.write_with((index(site), new), |tx, (index, new)| boxed!(index.begin(tx, new).await));
    let begun = begun.await.unwrap();
    let number = begun.number;
    for piece in pieces(segment) {
        let put =
            site.write_with((index(site), piece), move |tx, (index, rows)| boxed!(index.put(tx, number, rows).await));
        put.await.unwrap();
    }
    begun
}

async fn publish(site: &Site, segment: i64, publication: Publication) {
    let published = site.write_with((index(site), publication), move |tx, (index, publication)| {
        boxed!(index.publish(tx, &[segment], publication).await)
    });
    published.await.unwrap();
}

async fn all(site: &Site) -> Result<Vec<(StoredSegment, Segment)>> {
    all_of(site, index(site)).await
}

/// What questions read of an index.
pub async fn all_of(site: &Site, index: Index) -> Result<Vec<(StoredSegment, Segment)>> {
    let read = site.read_at_point(Requester::SERVER, move |tx| {
        boxed!({
            let mut all = Vec::new();
            for it in index.segments(tx).await? {
                let whole = index.whole(tx, &it).await?;
                all.push((it, whole));
            }
            Ok(all)
        })
    });
    Ok(read.await?.0)
}

fn memory() -> SearchMemory {
    SearchMemory::new(usize::MAX, SharedMemory::new(usize::MAX))
}

async fn ask(site: &Site, question: &Question) -> Vec<Hit> {
    let (index, asked) = (index(site), question.clone());
    let read = site.read_at_point(Requester::SERVER, move |tx| {
        boxed!({
            let segments = index.segments(tx).await?;
            index.lists(tx, &segments, &asked, &mut memory()).await
        })
    });
    let lists = read.await.unwrap().0;
    question.ask(&lists).expect("sound").take(usize::MAX).to_vec()
}

/// Sweeps until nothing is left, and answers how many rows of lists there are.
async fn sweep(site: &Site) -> i64 {
    while site.write_with(index(site), |tx, index| boxed!(index.sweep(tx).await)).await.unwrap() {}
    let count = site.read(ReaderPool::Point, |tx| {
        boxed!(Ok(tx.row("select count(*) from stoa.search_list", &[], |row| row.get::<i64>(0)).await?))
    });
    count.await.unwrap().unwrap()
}

async fn execute(site: &Site, sql: &'static str) {
    site.write_with(sql, |tx, sql| boxed!(Ok(tx.execute(sql, &[]).await?))).await.unwrap();
}

fn questions() -> Vec<Question> {
    let expressions = [
        "new york",
        "yrok~",
        "münchen",
        "mu*",
        "東京タワー",
        "京",
        "m* mun* york",
        "haven~ mu*",
        "!!",
        "w1* w15~",
        "w7 w70*",
    ];
    let modes = [(Mode::Or, false), (Mode::And, false), (Mode::Or, true)];
    let options = modes.map(|(mode, fuzzy)| Options { mode, fuzzy, fields: 255, rarity: true });
    let each = expressions.iter().flat_map(|it| options.map(|options| Question::parse(it, options)));
    each.map(|it| it.expect("allowed").expect("not blank")).collect()
}

async fn answers_are_those_of(site: &Site, segments: &[Segment]) {
    for question in questions() {
        let expected = question.ask(segments).expect("sound").take(usize::MAX).to_vec();
        assert_eq!(ask(site, &question).await, expected, "{question:?}");
    }
}

on_both_engines! {
    async fn segments_answer_from_storage_as_in_memory(engine) {
        let world = World::new(engine).await;
        let site = &world.site;
        let places = ["New York", "York", "New Haven", "München", "Munster", "東京タワー", "京都"];
        let mut first = segment((1..).zip(places.map(String::from)));
        // More than a transaction's rows, and a list of more than one part.
        let second = segment((100..20_100).map(|rid| (rid, format!("common w{} York", rid % 3_000))));
        let one = write(site, &first, 0).await;
        assert!(all(site).await.unwrap().is_empty(), "it isn't published");
        publish(site, one.number, Publication::default()).await;
        answers_are_those_of(site, std::slice::from_ref(&first)).await;

        let two = write(site, &second, 0).await;
        assert!(pieces(&second).len() > 1 && second.rows().any(|it| it.number == 1));
        first.bury(&Rows::new(vec![1, 4]));
        publish(site, two.number, Publication { dead: vec![(one.number, first.dead().clone())], ..Publication::default() }).await;
        let stored = all(site).await.unwrap();
        assert_eq!(stored.iter().map(|it| it.1.clone()).collect::<Vec<_>>(), [first.clone(), second.clone()]);
        answers_are_those_of(site, &[first.clone(), second.clone()]).await;

        let merged = Segment::merge(&[first, second]).unwrap();
        let three = write(site, &merged, 1).await;
        publish(site, three.number, Publication { replaced: vec![one.number, two.number], ..Publication::default() }).await;
        answers_are_those_of(site, std::slice::from_ref(&merged)).await;
        assert_eq!(sweep(site).await, merged.rows().count() as i64);
        assert_eq!(all(site).await.unwrap(), [(three, merged)]);
    }

    async fn what_was_cut_off_is_swept(engine) {
        let world = World::new(engine).await;
        let site = &world.site;
        let kept = write(site, &segment([(1, "York".into())]), 0).await;
        publish(site, kept.number, Publication::default()).await;
        write(site, &segment((1..2_000).map(|rid| (rid, format!("w{rid}")))), 0).await;
        assert_eq!(sweep(site).await, 2, "its items and one term");
        let next = write(site, &segment([(2, "Haven".into())]), 0).await;
        publish(site, next.number, Publication::default()).await;
        assert_eq!(all(site).await.unwrap().len(), 2);
    }

    async fn damaged_rows_are_told(engine) {
        let world = World::new(engine).await;
        let site = &world.site;
        for sql in [
            "update stoa.search_list set part = 1 where term = 'york'",
            "delete from stoa.search_list where term = ''",
            "update stoa.search_segment set dead = (select list from stoa.search_list where term = 'york')",
            "update stoa.search_segment set items = 3",
            "update stoa.search_segment set version = -1",
        ] {
            let mut segment = segment([(1, "York".into()), (2, "Haven".into())]);
            segment.bury(&Rows::new(vec![2]));
            let stored = write(site, &segment, 0).await;
            publish(site, stored.number, Publication::default()).await;
            assert_eq!(all(site).await.unwrap(), [(stored, segment)]);
            execute(site, sql).await;
            assert_eq!(all(site).await.unwrap_err().code().name(), "WDE0053", "{sql}");
            execute(site, "delete from stoa.search_list").await;
            execute(site, "delete from stoa.search_segment").await;
        }
    }
}
