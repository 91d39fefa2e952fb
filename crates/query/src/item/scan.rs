//! One pass from any JSON text to canonical text; no tree is built.

use super::{CanonicalItem, Limits, SentId, too_large};
use serde_json::Value as Json;
use std::{borrow::Cow, collections::HashMap, ops::Range};
use stoa_kernel::{Code, Fault, Millis, Result, date};

/// An item's `data`: all members but the server's own, and those apart.
pub(super) fn item(json: &str, limits: Limits) -> Result<CanonicalItem> {
    let mut scan = Scan::new(json, limits);
    scan.space();
    if scan.peek() != Some(b'{') {
        // Whatever it is, it has to be JSON before it can be the wrong kind of JSON.
        scan.value(2)?;
        return Err(Fault::new(Code::ItemNotObject));
    }
    scan.system = Some(System::default());
    scan.object(1)?;
    scan.end()?;
    let system = scan.system.unwrap_or_default();
    let members = scan.out;
    let id = system.id.unwrap_or(SentId::Absent);
    Ok(CanonicalItem { id, owner: system.owner, created: system.created, members, limits })
}

/// The canonical form of a single value: what a filter compares with, or a patch writes.
/// It may be as large as it could be in an item.
pub fn value(json: &Json, limits: Limits) -> Result<Json> {
    let text = json.to_string();
    let mut scan = Scan::new(&text, limits);
    scan.value(2)?;
    serde_json::from_str(&scan.out).map_err(Fault::internal)
}

/// What is left to read, and what has been written.
pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) out: String,
    /// Members of the objects that are open, the innermost last.
    members: Vec<Member>,
    /// The server's own members, wanted only on the outermost level of an item.
    system: Option<System>,
    limits: Limits,
}

/// Where a member stands in the output.
struct Member {
    name: Range<usize>,
    value: Range<usize>,
}

#[derive(Default)]
struct System {
    id: Option<SentId>,
    owner: Option<String>,
    created: Option<Millis>,
}

/// Why the text was refused, and the names that lead to the place, the innermost first.
pub(super) struct Refusal {
    code: Code,
    problem: Cow<'static, str>,
    path: Vec<String>,
}

pub(super) type Scanned<T = ()> = Result<T, Box<Refusal>>;

impl From<Box<Refusal>> for Fault {
    fn from(refusal: Box<Refusal>) -> Self {
        if refusal.code == Code::ItemTooLarge {
            return Self::because(refusal.code, refusal.problem);
        }
        let path: Vec<_> = refusal.path.iter().rev().map(String::as_str).collect();
        let place = if path.is_empty() { String::new() } else { format!(", at {}", path.join(".")) };
        Self::because(refusal.code, format!("{}{place}", refusal.problem))
    }
}

pub(super) fn refuse<T>(code: Code, problem: impl Into<Cow<'static, str>>) -> Scanned<T> {
    Err(Box::new(Refusal { code, problem: problem.into(), path: Vec::new() }))
}

pub(super) fn malformed<T>() -> Scanned<T> {
    refuse(Code::MalformedJson, "the item is not valid JSON")
}

/// From here on an object finds its names in a table; below, looking through them is faster.
const MANY_MEMBERS: usize = 24;

impl<'a> Scan<'a> {
    fn new(text: &'a str, limits: Limits) -> Self {
        let out = String::with_capacity(text.len().min(limits.bytes) + 16);
        Self { text, at: 0, out, members: Vec::new(), system: None, limits }
    }

    /// Any value. `depth` is the level that an object or array here would be on.
    fn value(&mut self, depth: usize) -> Scanned {
        self.space();
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => malformed(),
        }?;
        if self.out.len() > self.limits.bytes {
            return refuse(Code::ItemTooLarge, too_large(self.limits));
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Scanned {
        self.check_depth(depth)?;
        self.at += 1;
        self.out.push('[');
        self.space();
        if !self.skip(b']') {
            for n in 0.. {
                self.value(depth + 1).map_err(|it| inside(it, || n.to_string()))?;
                self.space();
                if self.skip(b']') {
                    break;
                }
                self.expect(b',')?;
                self.out.push(',');
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Scanned {
        let start = self.out.len();
        let first_member = self.members.len();
        // A date is no level, so one more is let in here; what isn't a date is refused at the end.
        self.check_depth(depth - 1)?;
        // The outermost braces of an item are written by `CanonicalItem::document`.
        let system = self.system.take();
        let is_item = system.is_some();
        let mut system = system.unwrap_or_default();
        let mut table = HashMap::new();
        self.at += 1;
        if !is_item {
            self.out.push('{');
        }
        self.space();
        let mut is_first = true;
        if !self.skip(b'}') {
            loop {
                self.space();
                let comma = self.out.len();
                if self.members.len() > first_member {
                    self.out.push(',');
                }
                let name = self.out.len();
                if self.peek() != Some(b'"') {
                    return malformed();
                }
                self.string()?;
                let name = name..self.out.len();
                self.space();
                self.expect(b':')?;
                if self.out[name.clone()].starts_with("\"$") {
                    if &self.out[name.clone()] != "\"$date\"" || !is_first || is_item {
                        let name = self.bare(&name);
                        return refuse(Code::FieldNameDollar, "a field name begins with $")
                            .map_err(|it| inside(it, || name));
                    }
                    self.out.truncate(start);
                    return self.date();
                }
                is_first = false;
                self.out.push(':');
                let value = self.out.len();
                self.value(depth + 1).map_err(|it| inside(it, || self.bare(&name)))?;
                let value = value..self.out.len();
                if is_item && system.take(&self.out[name.clone()], &self.out[value.clone()]) {
                    self.out.truncate(comma);
                } else {
                    self.add_member(first_member, comma, Member { name, value }, &mut table);
                }
                self.space();
                if self.skip(b'}') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        if is_item {
            self.system = Some(system);
        } else {
            // An object that turned out to be a date is none, so this waits until the end.
            self.check_depth(depth)?;
            self.out.push('}');
        }
        self.members.truncate(first_member);
        Ok(())
    }

    /// Notes the member just written, or puts its value in the place of an earlier one of its name.
    fn add_member(&mut self, first: usize, comma: usize, member: Member, table: &mut HashMap<String, usize>) {
        let name = &self.out[member.name.clone()];
        let count = self.members.len() - first;
        if count == MANY_MEMBERS {
            let named = |(n, it): (usize, &Member)| (self.out[it.name.clone()].to_owned(), first + n);
            *table = self.members[first..].iter().enumerate().map(named).collect();
        }
        let earlier = if count < MANY_MEMBERS {
            let found = self.members[first..].iter().position(|it| self.out[it.name.clone()] == *name);
            found.map(|n| first + n)
        } else {
            table.get(name).copied()
        };
        let Some(earlier) = earlier else {
            if count >= MANY_MEMBERS {
                table.insert(name.to_owned(), self.members.len());
            }
            self.members.push(member);
            return;
        };
        let value = self.out[member.value].to_owned();
        self.out.truncate(comma);
        let old = self.members[earlier].value.clone();
        self.out.replace_range(old.clone(), &value);
        self.members[earlier].value.end = old.start + value.len();
        for it in &mut self.members[earlier + 1..] {
            for edge in [&mut it.name.start, &mut it.name.end, &mut it.value.start, &mut it.value.end] {
                *edge = *edge + value.len() - old.len();
            }
        }
    }

    /// The rest of `{"$date":` … `}`.
    fn date(&mut self) -> Scanned {
        self.space();
        let start = self.out.len();
        let millis = match self.peek() {
            Some(b'"') => {
                self.string()?;
                date::parse(self.out[start..].trim_matches('"'))
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                self.out[start..].parse::<f64>().ok().filter(|it| it.abs() < 1e15).map(|it| it as Millis)
            }
            _ => None,
        };
        self.out.truncate(start);
        let Some(iso) = millis.and_then(date::print) else {
            return refuse(Code::BadRequest, "$date is not a date of the years 0000 to 9999");
        };
        self.space();
        if !self.skip(b'}') {
            return refuse(Code::FieldNameDollar, "an object with $date has other members");
        }
        self.out.extend(["{\"$date\":\"", &iso, "\"}"]);
        Ok(())
    }

    /// Nothing but white space may follow.
    fn end(&mut self) -> Scanned {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { malformed() }
    }

    fn check_depth(&self, depth: usize) -> Scanned {
        if depth > self.limits.depth {
            let most = self.limits.depth;
            return refuse(Code::ItemTooDeep, format!("the item is nested deeper than {most} levels"));
        }
        Ok(())
    }

    fn bare(&self, name: &Range<usize>) -> String {
        self.out[name.clone()].trim_matches('"').to_owned()
    }
}

impl System {
    /// Keeps a member that is the server's own; whether it is one.
    fn take(&mut self, name: &str, value: &str) -> bool {
        let text = || serde_json::from_str::<String>(value).ok();
        match name {
            "\"_id\"" => {
                self.id = Some(match value {
                    "null" => SentId::Null,
                    _ => text().map_or(SentId::Other, SentId::Text),
                });
            }
            "\"_owner\"" => self.owner = text(),
            "\"_createdDate\"" => {
                let iso = value.strip_prefix("{\"$date\":\"").and_then(|it| it.strip_suffix("\"}"));
                self.created = iso.and_then(date::parse);
            }
            "\"_updatedDate\"" => {}
            _ => return false,
        }
        true
    }
}

/// Adds a name in front of the place of a refusal.
fn inside(mut refusal: Box<Refusal>, name: impl FnOnce() -> String) -> Box<Refusal> {
    refusal.path.push(name());
    refusal
}
