//! Scopes: what a key, a client of others or an installation is held to (docs/scopes.md).
//!
//! Scopes only ever take rights away. What a caller may do by itself is decided elsewhere, as if there were none;
//! they say which of that is left.

use crate::nearest;
use std::{collections::BTreeSet, fmt};

/// How many scopes one key, client or installation may have.
const MOST: usize = 50;
/// Bytes of one scope.
const LONGEST: usize = 150;
/// Bytes of all of them with the spaces between: each access token carries them.
const LARGEST: usize = 1000;
/// Words that a client may send among its scopes and that give no right: the public SDK's, and those of OpenID Connect.
const WITHOUT_RIGHT: [&str; 6] = ["offline_access", "openid", "profile", "email", "address", "phone"];

/// A part of a site that scopes open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// Items and the links between them.
    Items,
    /// What collections are: fields, levels, special permissions, indexes.
    Collections,
    /// Members, and all that they are to each other.
    Members,
    /// Policies, pages and the audit log.
    Site,
}

/// What a scope lets be done in its area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    Read,
    /// Everything that changes something, and reading.
    Write,
    /// To make tokens of members. No other right has it.
    SignIn,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Scope {
    area: Area,
    right: Right,
    /// The one collection that it is about; all of them without.
    collection: Option<String>,
}

/// A set of scopes. The empty one leaves nothing.
///
/// As text its members stand in order with a space between them, for example `items:read:posts members:sign-in`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Reads scopes that a person wrote, one in each text.
    ///
    /// # Errors
    /// For each that is none, its place in the list and what is wrong with it.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, Vec<(usize, String)>> {
        let (mut scopes, mut faults) = (BTreeSet::new(), Vec::new());
        // The first that is too many is the last that is read: each that is none costs a search for the nearest name.
        for (at, text) in texts.into_iter().take(MOST + 1).enumerate() {
            match Scope::parse(text) {
                Ok(_) if at >= MOST => faults.push((at, format!("there are at most {MOST} scopes"))),
                Ok(scope) => {
                    scopes.insert(scope);
                }
                Err(why) => faults.push((at, why)),
            }
        }
        let scopes = Self(scopes).reduced();
        if scopes.to_string().len() > LARGEST {
            faults.push((0, format!("scopes have at most {LARGEST} bytes in all")));
        }
        if faults.is_empty() { Ok(scopes) } else { Err(faults) }
    }

    /// What a client asks for, with a space between its words; nothing when no word gives a right.
    ///
    /// # Errors
    /// What is wrong with the first word that is no scope. To pass over one would leave a client of the site, which
    /// has the whole right where it names no scope, with more than it asked for.
    pub fn asked(text: &str) -> Result<Option<Self>, String> {
        let words = text.split(' ').filter(|it| !it.is_empty() && !WITHOUT_RIGHT.contains(it));
        match Self::parse(words) {
            Ok(scopes) => Ok(Some(scopes).filter(|it| !it.is_empty())),
            Err(faults) => Err(faults.into_iter().next().map(|it| it.1).unwrap_or_default()),
        }
    }

    /// The scopes among the words of a text that is stored. Other words, those of a later version, give no right here.
    pub fn among(text: &str) -> Self {
        let scopes = text.split(' ').filter_map(|it| Scope::parse(it).ok());
        Self(scopes.take(MOST).collect()).reduced()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this may be done there; without a collection, in all of them.
    pub fn allow(&self, area: Area, right: Right, collection: Option<&str>) -> bool {
        self.0.iter().any(|it| {
            let is_there = it.collection.is_none() || it.collection.as_deref() == collection;
            it.area == area && it.right.has(right) && is_there
        })
    }

    /// Whether this may be done in at least one collection.
    pub fn allow_somewhere(&self, area: Area, right: Right) -> bool {
        self.0.iter().any(|it| it.area == area && it.right.has(right))
    }

    /// What both allow.
    pub fn and(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|one| other.0.iter().filter_map(|it| one.and(it)));
        Self(pairs.collect()).reduced()
    }

    /// What one of them allows. Where that is more than scopes can be, the other alone.
    pub fn or(&self, other: &Self) -> Self {
        let all = Self(self.0.union(&other.0).cloned().collect()).reduced();
        let fits = all.0.len() <= MOST && all.to_string().len() <= LARGEST;
        if fits { all } else { other.clone() }
    }

    /// What both allow, where none means everything.
    pub fn narrowed(one: Option<&Self>, other: Option<&Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other).cloned(),
        }
    }

    /// Its members as text, in order.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(Scope::to_string).collect()
    }

    /// Without those that another one has whole.
    fn reduced(self) -> Self {
        let all = &self.0;
        let is_had = |it: &Scope| all.iter().any(|other| other != it && other.has(it));
        Self(all.iter().filter(|it| !is_had(it)).cloned().collect())
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().join(" "))
    }
}

impl Scope {
    fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("a scope has at most {LONGEST} bytes"));
        }
        // RFC 6749 section 3.3.
        if !text.bytes().all(|it| matches!(it, 0x21 | 0x23..=0x5b | 0x5d..=0x7e)) {
            return Err(format!("{text:?} holds what no scope can: spaces, quotes, backslashes or other letters"));
        }
        let mut parts = text.splitn(3, ':');
        let (area, right, collection) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let unknown = |what: &str, name: &str, known: &[&str]| {
            let hint = nearest::hint(name, known.iter().copied());
            format!("{text:?}: there is no {what} {name:?}, only {}{hint}", known.join(", "))
        };
        let found = Area::ALL.into_iter().find(|it| it.name() == area);
        let area = found.ok_or_else(|| unknown("area", area, &Area::ALL.map(Area::name)))?;
        let rights = area.rights();
        let names: Vec<&str> = rights.iter().map(|it| it.name()).collect();
        let right = right.ok_or_else(|| format!("{text:?} names no right: {}", names.join(", ")))?;
        let found = rights.iter().find(|it| it.name() == right);
        let right = *found.ok_or_else(|| unknown("right", right, &names))?;
        match collection {
            Some("") => Err(format!("{text:?} names no collection behind its second colon")),
            Some(_) if !area.has_collections() => Err(format!("{text:?}: {} has no collections", area.name())),
            _ => Ok(Self { area, right, collection: collection.map(str::to_owned) }),
        }
    }

    fn and(&self, other: &Self) -> Option<Self> {
        let right = match (self.right, other.right) {
            (one, two) if one.has(two) => two,
            (one, two) if two.has(one) => one,
            _ => return None,
        };
        let collection = match (&self.collection, &other.collection) {
            (Some(one), Some(two)) if one != two => return None,
            (one, two) => one.as_ref().or(two.as_ref()).cloned(),
        };
        (self.area == other.area).then_some(Self { area: self.area, right, collection })
    }

    /// Whether all that the other allows is allowed by this.
    fn has(&self, other: &Self) -> bool {
        let has_collection = self.collection.is_none() || self.collection == other.collection;
        self.area == other.area && self.right.has(other.right) && has_collection
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.area.name(), self.right.name())?;
        self.collection.as_ref().map_or(Ok(()), |it| write!(f, ":{it}"))
    }
}

impl Area {
    const ALL: [Self; 4] = [Self::Items, Self::Collections, Self::Members, Self::Site];

    pub fn name(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Collections => "collections",
            Self::Members => "members",
            Self::Site => "site",
        }
    }

    fn rights(self) -> &'static [Right] {
        match self {
            Self::Members => &[Right::Read, Right::Write, Right::SignIn],
            _ => &[Right::Read, Right::Write],
        }
    }

    fn has_collections(self) -> bool {
        matches!(self, Self::Items | Self::Collections)
    }
}

impl Right {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::SignIn => "sign-in",
        }
    }

    fn has(self, other: Self) -> bool {
        self == other || self == Self::Write && other == Self::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Scopes {
        Scopes::parse(text.split_whitespace()).expect("scopes")
    }

    #[test]
    fn scopes_read_and_print_alike() {
        for text in [
            "",
            "items:read",
            "items:write:posts",
            "items:read collections:write:a:b members:sign-in site:read",
            "items:read:Members/FullData members:write members:sign-in",
        ] {
            assert_eq!(scopes(text).to_string(), text);
            assert_eq!(Scopes::among(text), scopes(text));
        }
        // What another one has whole is left out.
        assert_eq!(scopes("items:read items:write items:read:a").to_string(), "items:write");
        let asked = |text: &str| Scopes::asked(text).map(|it| it.map(|it| it.to_string()));
        for none in ["", " ", "offline_access", "openid profile email address phone"] {
            assert_eq!(asked(none), Ok(None), "{none}");
        }
        assert_eq!(asked("openid  items:read offline_access items:read"), Ok(Some("items:read".to_owned())));
        for (bad, why) in
            [("items:raed", "did you mean read?"), ("offline_access memmbers:read", "did you mean members?")]
        {
            assert!(asked(bad).is_err_and(|it| it.contains(why)), "{bad}");
        }
        assert_eq!(Scopes::among("openid items:read offline_access items:read").to_string(), "items:read");
        assert!(Scopes::among("offline_access").is_empty());
    }

    #[test]
    fn scopes_that_mean_nothing_are_refused() {
        let long = format!("items:read:{}", "x".repeat(LONGEST));
        for bad in [
            "",
            "item:read",
            "items",
            "items:",
            "items:raed",
            "items:read:",
            "items:sign-in",
            "members:read:posts",
            "site:write:x",
            "Items:read",
            "items:read:a b",
            "items:read:\"",
            "items:read:\u{e9}",
            "offline_access",
            &long,
        ] {
            assert_eq!(Scopes::parse(["site:read", bad]).expect_err(bad)[0].0, 1, "{bad}");
            // In a text of several a space ends one.
            assert!(bad.contains(' ') || Scopes::among(bad).is_empty(), "{bad}");
        }
        let [(at, why)] = &Scopes::parse(["item:read"]).expect_err("bad")[..] else { panic!("one") };
        assert!(*at == 0 && why.contains("did you mean items?"), "{why}");
        let large: Vec<String> = (0..8).map(|it| format!("items:read:{it}{}", "x".repeat(130))).collect();
        assert!(Scopes::parse(large.iter().skip(1).map(String::as_str)).is_ok());
        assert!(Scopes::parse(large.iter().map(String::as_str)).expect_err("too large")[0].1.contains("in all"));
        let many: Vec<String> = (0..=MOST).map(|it| format!("items:read:c{it}")).collect();
        assert_eq!(Scopes::parse(many.iter().map(String::as_str)).expect_err("too many")[0].0, MOST);
        assert_eq!(Scopes::parse(["x"; 10_000]).expect_err("wrong ones").len(), MOST + 1);
    }

    #[test]
    fn scopes_narrow_to_what_both_allow() {
        let singles = [
            "items:read",
            "items:write",
            "items:read:a",
            "items:write:a",
            "items:write:b",
            "collections:read",
            "collections:write:a",
            "members:read",
            "members:write",
            "members:sign-in",
            "site:read",
            "site:write",
        ];
        let sets: Vec<Scopes> = (0..1_usize << singles.len())
            .step_by(7)
            .map(|bits| {
                let chosen = singles.iter().enumerate().filter(|it| bits >> it.0 & 1 == 1);
                Scopes::parse(chosen.map(|it| *it.1)).expect("scopes")
            })
            .collect();
        for one in sets.iter().step_by(9) {
            for two in &sets {
                let both = one.and(two);
                for area in Area::ALL {
                    for right in [Right::Read, Right::Write, Right::SignIn] {
                        for collection in [None, Some("a"), Some("b"), Some("c")] {
                            let expected = one.allow(area, right, collection) && two.allow(area, right, collection);
                            assert_eq!(both.allow(area, right, collection), expected, "{one} and {two}: {both}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn scopes_of_two_are_no_more_than_scopes_can_be() {
        let or = |one: &str, two: &str| scopes(one).or(&scopes(two)).to_string();
        assert_eq!(or("items:read:a", "site:read"), "items:read:a site:read");
        assert_eq!(or("items:read:a members:read", "items:write"), "items:write members:read");
        assert_eq!(or("", "items:read"), "items:read");
        let many = |from: usize| (from..from + 40).map(|it| format!("items:read:c{it}")).collect::<Vec<_>>().join(" ");
        assert_eq!(or(&many(0), &many(40)), scopes(&many(40)).to_string());
        let large =
            |of: char| (0..5).map(|it| format!("items:read:{it}{}", of.to_string().repeat(130))).collect::<Vec<_>>();
        assert_eq!(or(&large('x').join(" "), &large('y').join(" ")), large('y').join(" "));
    }

    #[test]
    fn scopes_of_none_take_nothing_away() {
        let some = scopes("items:read");
        assert_eq!(Scopes::narrowed(None, None), None);
        assert_eq!(Scopes::narrowed(Some(&some), None), Some(some.clone()));
        assert_eq!(Scopes::narrowed(Some(&some), Some(&Scopes::default())), Some(Scopes::default()));
    }
}
