//! Where a network address is, roughly: by a file in the MaxMind DB format that the operator of the server has (decision 63).

use crate::Identity;
use maxminddb::{PathElement, Reader};
use serde::Serialize;
use std::{collections::BTreeMap, fmt, net::IpAddr, sync::Arc};
use stoa_kernel::LanguageTag;

/// What the types of files have in their names that tell of cities or countries as GeoIP2 does.
const KINDS: [&str; 3] = ["City", "Country", "Enterprise"];
/// Characters of the name of a city; a longer one is left out.
const LONGEST: usize = 200;

/// A file of places, held in memory whole. Cheap to clone.
#[derive(Clone)]
pub struct Places(Arc<Reader<Vec<u8>>>);

/// Where an address is, as far as the file knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its name in the language that was asked for, else in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Two letters (ISO 3166-1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Places({})", self.kind())
    }
}

impl Places {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, in English: it has another format, or tells of neither cities nor countries.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let read = Self(Arc::new(Reader::from_source(bytes).map_err(|it| it.to_string())?));
        match KINDS.iter().any(|it| read.kind().contains(it)) {
            true => Ok(read),
            false => Err(format!("the file is of type {:?}, which tells of neither cities nor countries", read.kind())),
        }
    }

    /// The type that the file says it has: `GeoLite2-City`.
    pub fn kind(&self) -> &str {
        &self.0.metadata().database_type
    }

    /// Reads all of the file, which takes seconds where it is large.
    ///
    /// # Errors
    /// What is wrong with it, in English.
    pub fn verify(&self) -> Result<(), String> {
        self.0.verify().map_err(|it| it.to_string())
    }

    /// Where an address is. Nothing where the file doesn't know, also because it is broken there.
    pub fn find(&self, address: IpAddr, language: Option<&LanguageTag>) -> Option<Place> {
        let found = self.0.lookup(address.to_canonical()).ok()?;
        let country = [PathElement::Key("country"), PathElement::Key("iso_code")];
        let country: Option<String> = found.decode_path(&country).ok().flatten();
        let country = country.filter(|it| it.len() == 2 && it.bytes().all(|it| it.is_ascii_uppercase()));
        let names = [PathElement::Key("city"), PathElement::Key("names")];
        let names: Option<BTreeMap<String, String>> = found.decode_path(&names).ok().flatten();
        let city = names.as_ref().and_then(|it| name_in(it, language)).map(str::to_owned);
        (city.is_some() || country.is_some()).then_some(Place { city, country })
    }
}

/// The name in a language, else in one of the same family (`pt` is served by `pt-BR`), else in English.
fn name_in<'n>(names: &'n BTreeMap<String, String>, language: Option<&LanguageTag>) -> Option<&'n str> {
    let sound = |it: &&str| !it.trim().is_empty() && it.chars().count() <= LONGEST && !it.chars().any(char::is_control);
    let tags = language.map(LanguageTag::lookup).unwrap_or_default();
    let of = |is_it: &dyn Fn(&str) -> bool| {
        names.iter().find(|(tag, _)| is_it(tag)).map(|(_, name)| name.as_str()).filter(sound)
    };
    let exact = tags.iter().find_map(|tag| of(&|it| it.eq_ignore_ascii_case(tag)));
    let near = || {
        let primary = tags.last()?;
        of(&|it| it.split('-').next().is_some_and(|it| it.eq_ignore_ascii_case(primary)))
    };
    exact.or_else(near).or_else(|| of(&|it| it == "en"))
}

impl Identity {
    /// Where a network address is, named in a language (BCP 47) where the file has it. Nothing where the server has no file of places,
    /// and where the text is no address or no place is known.
    pub fn place_of(&self, address: Option<&str>, language: Option<&str>) -> Option<Place> {
        let places = self.core.config().places.as_ref()?;
        places.find(address?.parse().ok()?, language.and_then(LanguageTag::parse).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> BTreeMap<String, String> {
        all.iter().map(|it| ((*it).to_owned(), format!("in {it}"))).collect()
    }

    #[test]
    fn name_is_in_the_nearest_language() {
        let all = names(&["de", "en", "pt-BR", "zh-CN"]);
        for (asked, expected) in [
            (Some("de"), "in de"),
            (Some("de-CH-1996"), "in de"),
            (Some("pt-BR"), "in pt-BR"),
            (Some("PT-br"), "in pt-BR"),
            (Some("pt"), "in pt-BR"),
            (Some("he"), "in en"),
            (None, "in en"),
        ] {
            let language = asked.and_then(LanguageTag::parse);
            assert_eq!(name_in(&all, language.as_ref()), Some(expected), "{asked:?}");
        }
        assert_eq!(name_in(&names(&["ja"]), LanguageTag::parse("fr").as_ref()), None);
    }

    #[test]
    fn what_is_no_name_is_left_out() {
        for bad in ["", "  ", "a\nb", &"x".repeat(LONGEST + 1)] {
            let names = BTreeMap::from([("en".to_owned(), bad.to_owned())]);
            assert_eq!(name_in(&names, None), None, "{bad:?}");
        }
    }

    #[test]
    fn file_of_another_format_is_refused() {
        assert!(Places::parse(Vec::new()).is_err());
        assert!(Places::parse(b"\xab\xcd\xefMaxMind.com".to_vec()).is_err());
        assert!(Places::parse(vec![0xff; 4_096]).is_err());
    }
}
