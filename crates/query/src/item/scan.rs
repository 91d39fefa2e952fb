//! One pass from any JSON text to canonical text; no tree is built.

use super::{
    date,
    lex::Lexer,
    refusal::{Scanned, inside, malformed, refuse},
};
use serde_json::Value as Json;
use std::{collections::HashMap, ops::Range};
use stoa_kernel::{Code, Fault, Millis, Result};

/// How large an item may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemLimits {
    /// Bytes of canonical text.
    pub bytes: usize,
    /// Levels of objects and arrays; the item itself is one, a date is none.
    pub depth: usize,
}

impl ItemLimits {
    /// What is said of an item that has more bytes.
    pub(super) fn too_large(self) -> String {
        format!("the item is larger than {} bytes", self.bytes)
    }
}

/// How an item's `_id` arrived. Which of these an operation takes differs (docs/protocol/content.md §13.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawId {
    Absent,
    Null,
    /// Any text, the empty one too.
    Text(String),
    /// A value that can't be an id.
    Other,
}

/// An item's `data`: all members but the server's own, and those apart.
pub(super) struct ScannedItem {
    pub(super) id: RawId,
    pub(super) owner: Option<String>,
    pub(super) created: Option<Millis>,
    pub(super) members: String,
}

/// Reads the text of an object.
pub(super) fn item(json: &str, limits: ItemLimits) -> Result<ScannedItem> {
    let mut scan = Scan::new(json, limits);
    scan.lexer.space();
    if scan.lexer.peek() != Some(b'{') {
        // Whatever it is, it has to be JSON before it can be the wrong kind of JSON.
        scan.value(2)?;
        return Err(Fault::new(Code::ItemNotObject));
    }
    scan.system = Some(System::default());
    scan.object(1)?;
    scan.end()?;
    let system = scan.system.unwrap_or_default();
    let members = scan.lexer.out;
    let id = system.id.unwrap_or(RawId::Absent);
    Ok(ScannedItem { id, owner: system.owner, created: system.created, members })
}

/// The canonical form of a single value: what a filter compares with, or a patch writes.
/// It may be as large as it could be in an item.
pub fn value(json: &Json, limits: ItemLimits) -> Result<Json> {
    let text = json.to_string();
    let mut scan = Scan::new(&text, limits);
    scan.value(2)?;
    serde_json::from_str(&scan.lexer.out).map_err(Fault::internal)
}

/// A text on its way to its canonical form.
struct Scan<'a> {
    lexer: Lexer<'a>,
    /// Members of the objects that are open, the innermost last.
    members: Vec<Member>,
    /// The server's own members, wanted only on the outermost level of an item.
    system: Option<System>,
    limits: ItemLimits,
}

/// Where a member stands in the output.
struct Member {
    name: Range<usize>,
    value: Range<usize>,
}

#[derive(Default)]
struct System {
    id: Option<RawId>,
    owner: Option<String>,
    created: Option<Millis>,
}

/// From here on an object finds its names in a table; below, looking through them is faster.
const MANY_MEMBERS: usize = 24;

impl<'a> Scan<'a> {
    fn new(text: &'a str, limits: ItemLimits) -> Self {
        let lexer = Lexer::new(text, text.len().min(limits.bytes) + 16);
        Self { lexer, members: Vec::new(), system: None, limits }
    }

    /// Any value. `depth` is the level that an object or array here would be on.
    fn value(&mut self, depth: usize) -> Scanned {
        self.lexer.space();
        match self.lexer.peek() {
            Some(b'"') => self.lexer.string(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.lexer.number(),
            Some(b't') => self.lexer.keyword("true"),
            Some(b'f') => self.lexer.keyword("false"),
            Some(b'n') => self.lexer.keyword("null"),
            _ => malformed(),
        }?;
        if self.lexer.out.len() > self.limits.bytes {
            return refuse(Code::ItemTooLarge, self.limits.too_large());
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Scanned {
        self.check_depth(depth)?;
        self.lexer.take();
        self.lexer.out.push('[');
        self.lexer.space();
        if !self.lexer.skip(b']') {
            for n in 0.. {
                self.value(depth + 1).map_err(|it| inside(it, || n.to_string()))?;
                self.lexer.space();
                if self.lexer.skip(b']') {
                    break;
                }
                self.lexer.expect(b',')?;
                self.lexer.out.push(',');
            }
        }
        self.lexer.out.push(']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Scanned {
        let start = self.lexer.out.len();
        let first_member = self.members.len();
        // A date is no level, so one more is let in here; what isn't a date is refused at the end.
        self.check_depth(depth - 1)?;
        // The outermost braces of an item are written by `CanonicalItem::document`.
        let system = self.system.take();
        let is_item = system.is_some();
        let mut system = system.unwrap_or_default();
        let mut table = HashMap::new();
        self.lexer.take();
        if !is_item {
            self.lexer.out.push('{');
        }
        self.lexer.space();
        let mut is_first = true;
        if !self.lexer.skip(b'}') {
            loop {
                self.lexer.space();
                let comma = self.lexer.out.len();
                if self.members.len() > first_member {
                    self.lexer.out.push(',');
                }
                let name = self.lexer.out.len();
                if self.lexer.peek() != Some(b'"') {
                    return malformed();
                }
                self.lexer.string()?;
                let name = name..self.lexer.out.len();
                self.lexer.space();
                self.lexer.expect(b':')?;
                if self.lexer.out[name.clone()].starts_with("\"$") {
                    if &self.lexer.out[name.clone()] != "\"$date\"" || !is_first || is_item {
                        let name = self.bare(&name);
                        return refuse(Code::FieldNameDollar, "a field name begins with $")
                            .map_err(|it| inside(it, || name));
                    }
                    self.lexer.out.truncate(start);
                    return self.date();
                }
                is_first = false;
                self.lexer.out.push(':');
                let value = self.lexer.out.len();
                self.value(depth + 1).map_err(|it| inside(it, || self.bare(&name)))?;
                let value = value..self.lexer.out.len();
                if is_item && system.take(&self.lexer.out[name.clone()], &self.lexer.out[value.clone()]) {
                    self.lexer.out.truncate(comma);
                } else {
                    self.add_member(first_member, comma, Member { name, value }, &mut table);
                }
                self.lexer.space();
                if self.lexer.skip(b'}') {
                    break;
                }
                self.lexer.expect(b',')?;
            }
        }
        if is_item {
            self.system = Some(system);
        } else {
            // An object that turned out to be a date is none, so this waits until the end.
            self.check_depth(depth)?;
            self.lexer.out.push('}');
        }
        self.members.truncate(first_member);
        Ok(())
    }

    /// Notes the member just written, or puts its value in the place of an earlier one of its name.
    fn add_member(&mut self, first: usize, comma: usize, member: Member, table: &mut HashMap<String, usize>) {
        let name = &self.lexer.out[member.name.clone()];
        let count = self.members.len() - first;
        if count == MANY_MEMBERS {
            let named = |(n, it): (usize, &Member)| (self.lexer.out[it.name.clone()].to_owned(), first + n);
            *table = self.members[first..].iter().enumerate().map(named).collect();
        }
        let earlier = if count < MANY_MEMBERS {
            let found = self.members[first..].iter().position(|it| self.lexer.out[it.name.clone()] == *name);
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
        let value = self.lexer.out[member.value].to_owned();
        self.lexer.out.truncate(comma);
        let old = self.members[earlier].value.clone();
        self.lexer.out.replace_range(old.clone(), &value);
        self.members[earlier].value.end = old.start + value.len();
        for it in &mut self.members[earlier + 1..] {
            for edge in [&mut it.name.start, &mut it.name.end, &mut it.value.start, &mut it.value.end] {
                *edge = *edge + value.len() - old.len();
            }
        }
    }

    /// The rest of `{"$date":` … `}`.
    fn date(&mut self) -> Scanned {
        self.lexer.space();
        let start = self.lexer.out.len();
        let millis = match self.lexer.peek() {
            Some(b'"') => {
                self.lexer.string()?;
                date::parse(self.lexer.out[start..].trim_matches('"'))
            }
            Some(b'-' | b'0'..=b'9') => {
                self.lexer.number()?;
                self.lexer.out[start..].parse::<f64>().ok().filter(|it| it.abs() < 1e15).map(|it| it as Millis)
            }
            _ => None,
        };
        self.lexer.out.truncate(start);
        let Some(iso) = millis.and_then(date::print) else {
            return refuse(Code::BadRequest, "$date is not a date of the years 0000 to 9999");
        };
        self.lexer.space();
        if !self.lexer.skip(b'}') {
            return refuse(Code::FieldNameDollar, "an object with $date has other members");
        }
        self.lexer.out.extend(["{\"$date\":\"", &iso, "\"}"]);
        Ok(())
    }

    /// Nothing but white space may follow.
    fn end(&mut self) -> Scanned {
        self.lexer.space();
        if self.lexer.is_at_end() { Ok(()) } else { malformed() }
    }

    fn check_depth(&self, depth: usize) -> Scanned {
        if depth > self.limits.depth {
            let most = self.limits.depth;
            return refuse(Code::ItemTooDeep, format!("the item is nested deeper than {most} levels"));
        }
        Ok(())
    }

    fn bare(&self, name: &Range<usize>) -> String {
        self.lexer.out[name.clone()].trim_matches('"').to_owned()
    }
}

impl System {
    /// Keeps a member that is the server's own; whether it is one.
    fn take(&mut self, name: &str, value: &str) -> bool {
        let text = || serde_json::from_str::<String>(value).ok();
        match name {
            "\"_id\"" => {
                self.id = Some(match value {
                    "null" => RawId::Null,
                    _ => text().map_or(RawId::Other, RawId::Text),
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
