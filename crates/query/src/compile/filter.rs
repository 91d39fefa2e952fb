//! Filters. A condition may be NULL where it fails, so only `is not true` negates.

use super::{
    access,
    access::Rows,
    keyed, links,
    parts::{sign, through_arrays},
};
use crate::plan::{Field, Filter, Scalar, Test};
use stoa_kernel::date;
use stoa_sql::{Dialect, DocumentPath, Operand, Probe, Sign, Value, Writer, key};

pub(super) fn write(sql: &mut Writer<'_>, filter: &Filter, rows: Rows<'_>) {
    match filter {
        Filter::True => drop(sql.push("true")),
        Filter::False => drop(sql.push("false")),
        Filter::And(list) => joined(sql, list, " and ", list, rows),
        Filter::Or(list) => joined(sql, list, " or ", &[], rows),
        Filter::Not(it) => {
            sql.push("(");
            write(sql, it, rows);
            sql.push(") is not true");
        }
        Filter::Test(field, test) => {
            let condition = condition(sql, field, test, &[], rows);
            sql.push(&condition);
        }
        Filter::Rows(rids) => {
            let rids = sql.param(rids.iter().map(ToString::to_string).collect::<Vec<_>>());
            let these = sql.dialect().any_row_of("rid", &rids);
            sql.push(&these);
        }
    }
}

/// `beside`: what holds as well wherever one of the list does.
fn joined(sql: &mut Writer<'_>, list: &[Filter], keyword: &str, beside: &[Filter], rows: Rows<'_>) {
    sql.push("(");
    for (n, it) in list.iter().enumerate() {
        sql.push(if n > 0 { keyword } else { "" });
        match it {
            Filter::Test(field, test) => {
                let condition = condition(sql, field, test, beside, rows);
                sql.push(&condition);
            }
            it => write(sql, it, rows),
        }
    }
    sql.push(")");
}

/// Where rows have a sort key of the field, the test is on that: so the index serves.
fn condition(sql: &mut Writer<'_>, field: &Field, test: &Test, beside: &[Filter], rows: Rows<'_>) -> String {
    match (field, rows.key(field)) {
        (Field::Path(names), None) => on_path(sql, names, test, false),
        (Field::Path(names), Some((key, is_folded))) => {
            let plain = |sql: &mut Writer<'_>| on_path(sql, names, test, true);
            let is_closed = beside.iter().any(|it| keyed::closes(it, field, test));
            let key = keyed::IndexedKey { key, is_folded, is_closed };
            keyed::write(sql, &key, test, &plain).unwrap_or_else(|| on_path(sql, names, test, true))
        }
        (Field::Owner, Some((key, _))) => {
            let plain = |sql: &mut Writer<'_>| on_column(sql, field, "owner", test);
            let key = keyed::IndexedKey { key, is_folded: false, is_closed: false };
            keyed::write(sql, &key, test, &plain).unwrap_or_else(|| on_column(sql, field, "owner", test))
        }
        (_, Some((key, _))) if access::is_time(field) => on_column(sql, field, key, test),
        (Field::Links(it), None) => links::condition(sql, it, test, rows.column(&Field::Id)),
        _ => on_column(sql, field, rows.column(field), test),
    }
}

/// A test on a field of the document. `is_scalar`: no array is there or on the way.
fn on_path(sql: &mut Writer<'_>, names: &[String], test: &Test, is_scalar: bool) -> String {
    let d = sql.dialect();
    let path = Path { dialect: d, names, is_scalar };
    match test {
        Test::Empty => path.is_empty(),
        Test::Present => path.reaches(&|it| d.is_present(it)),
        Test::Array => path.reaches(&|it| d.is_array(it)),
        Test::Equal(it) => probe(sql, names, Sign::Equal, it),
        Test::Compare(comparison, it) => probe(sql, names, sign(*comparison), it),
        Test::In(list) => {
            let tests = one_of(sql, list);
            path.any(&|path| {
                let each: Vec<_> = tests.iter().map(|it| it(path)).collect();
                if is_scalar { format!("({})", each.join(" or ")) } else { each.join(" or ") }
            })
        }
        Test::Whole(json) => {
            let text = sql.param(key::sorted_of(json));
            path.any(&|it| d.is_whole(it, &text))
        }
        Test::StartsWith(it) => path.any(&text(sql, TextTest::Start, it.as_str())),
        Test::EndsWith(it) if it.as_str().is_empty() => path.any(&text(sql, TextTest::Start, "")),
        Test::EndsWith(it) => path.any(&text(sql, TextTest::End, it.as_str())),
        Test::Contains(it) => path.any(&text(sql, TextTest::Inside, it.as_str())),
        Test::Matches(parts, ignore_case) => {
            let pattern = sql.param(d.pattern(parts));
            path.any(&|it| d.fits(&folded_if(d, *ignore_case, d.text(it)), &pattern))
        }
    }
}

/// Says of a path whether the test holds there. Its parameters are taken already.
type At<'a> = Box<dyn Fn(&DocumentPath) -> String + 'a>;

/// A field of the document, and the ways in which a test on it may come true.
struct Path<'a> {
    dialect: &'a dyn Dialect,
    names: &'a [String],
    is_scalar: bool,
}

impl Path<'_> {
    /// The test holds for a value there, or for an element of an array there.
    fn any(&self, test: &dyn Fn(&DocumentPath) -> String) -> String {
        if self.is_scalar {
            return test(&DocumentPath::field(self.names));
        }
        let alias = self.names.len() + 1;
        self.reaches(&|path| {
            let elements = self.dialect.elements(path, alias);
            let (here, array, inside) = (test(path), self.dialect.is_array(path), test(&DocumentPath::element(alias)));
            format!("({here} or {array} and exists (select 1 from {elements} where {inside}))")
        })
    }

    /// The test holds for a value there. The plain way comes first and alone, so that an index serves it.
    fn reaches(&self, test: &dyn Fn(&DocumentPath) -> String) -> String {
        let here = test(&DocumentPath::field(self.names));
        let Some(through_arrays) = self.through_arrays() else { return here };
        let (leaves, leaf) = self.dialect.leaves(self.names, 1);
        format!("({here} or ({through_arrays}) and exists (select 1 from {leaves} where {}))", test(&leaf))
    }

    /// Nothing there, or null.
    fn is_empty(&self) -> String {
        let d = self.dialect;
        let here = d.is_empty(&DocumentPath::field(self.names));
        let Some(through_arrays) = self.through_arrays() else { return here };
        let (leaves, leaf) = d.leaves(self.names, 1);
        let (null, present) = (d.is_null(&leaf), d.is_present(&leaf));
        format!(
            "case when {through_arrays} then exists (select 1 from {leaves} where {null}) \
             or not exists (select 1 from {leaves} where {present}) else {here} end"
        )
    }

    /// Whether an array stands in the way to the field; nothing if nothing can.
    fn through_arrays(&self) -> Option<String> {
        if self.is_scalar { None } else { through_arrays(self.dialect, self.names) }
    }
}

/// A comparison with one operand, the commonest question of all: one call answers it.
fn probe(sql: &mut Writer<'_>, names: &[String], sign: Sign, operand: &Scalar) -> String {
    let operand = match operand {
        Scalar::Number(it) => Operand::Number(*it),
        Scalar::Text(it) => Operand::Text(it.clone()),
        Scalar::Flag(it) => Operand::Flag(*it),
        Scalar::Date(it) => match date::print(*it) {
            Some(it) => Operand::Date(it),
            None => return never(),
        },
    };
    let (d, probe) = (sql.dialect(), Probe { sign, operand });
    let placeholder = sql.param(d.probe(names, &probe));
    d.holds(names, &probe, &placeholder)
}

/// One test for each type among the operands.
fn one_of<'d>(sql: &mut Writer<'d>, list: &[Scalar]) -> Vec<At<'d>> {
    let d = sql.dialect();
    let texts = |wanted: fn(&Scalar) -> Option<String>| {
        Some(list.iter().filter_map(wanted).collect::<Vec<_>>()).filter(|it| !it.is_empty())
    };
    let mut tests: Vec<At<'d>> = Vec::new();
    if let Some(numbers) = texts(|it| if let Scalar::Number(it) = it { Some(it.to_string()) } else { None }) {
        let numbers = sql.param(numbers);
        tests.push(Box::new(move |it| d.any_number_of(&parenthesised(d.number(it)), &numbers)));
    }
    if let Some(texts) = texts(|it| if let Scalar::Text(it) = it { Some(it.clone()) } else { None }) {
        let texts = sql.param(texts);
        tests.push(Box::new(move |it| d.any_of(&parenthesised(d.text(it)), &texts)));
    }
    if let Some(dates) = texts(|it| if let Scalar::Date(it) = it { date::print(*it) } else { None }) {
        let dates = sql.param(dates);
        tests.push(Box::new(move |it| d.any_of(&parenthesised(d.date(it)), &dates)));
    }
    tests
}

#[derive(Clone, Copy)]
enum TextTest {
    Start,
    End,
    Inside,
}

fn text<'d>(sql: &mut Writer<'d>, test: TextTest, operand: &str) -> At<'d> {
    let d = sql.dialect();
    let count = operand.chars().count();
    let operand = sql.param(operand);
    Box::new(move |path| text_test(d, test, &d.fold(&d.text(path)), &operand, count))
}

fn text_test(d: &dyn Dialect, test: TextTest, text: &str, operand: &str, count: usize) -> String {
    match test {
        TextTest::Start => d.starts_with(text, operand, count),
        TextTest::End => d.ends_with(text, operand, count),
        TextTest::Inside => d.contains(text, operand),
    }
}

fn folded_if(d: &dyn Dialect, fold: bool, text: String) -> String {
    if fold { d.fold(&text) } else { parenthesised(text) }
}

fn parenthesised(expression: String) -> String {
    format!("({expression})")
}

/// A test on a column: its type is known, and it holds no arrays.
fn on_column(sql: &mut Writer<'_>, column: &Field, name: &str, test: &Test) -> String {
    let d = sql.dialect();
    let is_date = matches!(column, Field::Created | Field::Updated);
    let of_its_type = |it: &Scalar| match it {
        Scalar::Text(it) if !is_date => Some(Value::from(it)),
        Scalar::Date(it) if is_date => Some(Value::from(*it)),
        _ => None,
    };
    match test {
        Test::Empty => format!("{name} is null"),
        Test::Present => format!("{name} is not null"),
        Test::Equal(it) => match of_its_type(it) {
            Some(it) => format!("{name} = {}", sql.param(it)),
            None => never(),
        },
        Test::Compare(comparison, it) => match of_its_type(it) {
            Some(it) => format!("{name} {} {}", sign(*comparison).sql(), sql.param(it)),
            None => never(),
        },
        Test::In(list) if is_date => {
            let times = list.iter().filter_map(of_its_type).map(|it| sql.param(it)).collect::<Vec<_>>();
            if times.is_empty() { never() } else { format!("{name} in ({})", times.join(", ")) }
        }
        Test::In(list) => {
            let text = |it: &Scalar| if let Scalar::Text(it) = it { Some(it.clone()) } else { None };
            let texts: Vec<_> = list.iter().filter_map(text).collect();
            if texts.is_empty() { never() } else { d.any_of(name, &sql.param(texts)) }
        }
        Test::StartsWith(it) if !is_date => column_text(sql, TextTest::Start, name, it.as_str()),
        Test::EndsWith(it) if !is_date && it.as_str().is_empty() => format!("{name} is not null"),
        Test::EndsWith(it) if !is_date => column_text(sql, TextTest::End, name, it.as_str()),
        Test::Contains(it) if !is_date => column_text(sql, TextTest::Inside, name, it.as_str()),
        Test::Matches(parts, ignore_case) if !is_date => {
            let pattern = sql.param(d.pattern(parts));
            let text = if *ignore_case { d.fold(name) } else { name.to_owned() };
            d.fits(&text, &pattern)
        }
        Test::Array | Test::Whole(_) | Test::StartsWith(_) | Test::EndsWith(_) | Test::Contains(_) => never(),
        Test::Matches(..) => never(),
    }
}

fn column_text(sql: &mut Writer<'_>, test: TextTest, column: &str, operand: &str) -> String {
    let d = sql.dialect();
    let count = operand.chars().count();
    let operand = sql.param(operand);
    text_test(d, test, &d.fold(column), &operand, count)
}

fn never() -> String {
    "false".to_owned()
}
