//! How a site presents itself on its account pages: the setting `face`.

mod colour;

pub use colour::{Palette, SiteColours};

use crate::{Identity, address::Address};
use colour::colours;
use serde::{Deserialize, Serialize};
use stoa_kernel::{Fault, Result, Violation, nearest::hint};
use stoa_store::{ReaderPool, Site, boxed, setting};
use ts_rs::TS;

const SETTING: &str = "face";

/// The languages of the account pages, as the files of `web/apps/account/src/text` name them.
const LANGUAGES: [&str; 7] = ["ar", "de", "en", "es", "fr", "he", "ja"];

/// How the site presents itself on its account pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SiteFace {
    /// By which an address names the site, `/s/ID/…`.
    pub id: String,
    pub name: String,
    /// BCP 47 tag the site prefers; the page falls back to it after the browser's own languages.
    pub language: Option<String>,
    /// An address of a picture, by https.
    pub logo_url: Option<String>,
    /// Absent where the site has chosen none.
    pub colours: Option<SiteColours>,
    pub terms_url: Option<String>,
    pub privacy_url: Option<String>,
}

/// What a site has chosen, or what is to be changed of it. In a change `None` keeps what is there, and an empty text
/// takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FaceSetting {
    /// An address by https: browsers on a page of https load no other pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// `#rrggbb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// An address by http or https.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terms: Option<String>,
    /// As `terms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<String>,
    /// The language of the account pages for people whose browser asks for none that these have: `de`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

impl FaceSetting {
    /// Whether all that is given can be shown.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] with a violation for each value that can't.
    pub fn check(&self) -> Result<()> {
        let mut violations = Vec::new();
        let known = LANGUAGES.join(", ");
        let near = hint(self.language.as_deref().unwrap_or_default(), LANGUAGES);
        let mut check = |field: &str, value: &Option<String>, is_good: fn(&str) -> bool, what: &str| {
            if let Some(value) = value.as_deref().filter(|it| !it.is_empty() && !is_good(it)) {
                violations.push(Violation::new(field, "FORMAT", format!("{value:?} is no {what}")));
            }
        };
        check("logo", &self.logo, is_https, "address of a picture such as https://www.example.org/logo.svg");
        check("colour", &self.colour, |it| colours(it).is_some(), "colour such as #0b5394");
        let link = "address such as https://www.example.org/terms";
        check("terms", &self.terms, |it| Address::parse(it).is_some(), link);
        check("privacy", &self.privacy, |it| Address::parse(it).is_some(), link);
        let language = format!("language of the account pages, which have {known}{near}");
        check("language", &self.language, |it| LANGUAGES.contains(&it), &language);
        if violations.is_empty() { Ok(()) } else { Err(Fault::invalid(violations)) }
    }

    /// This setting with a change.
    fn changed(self, change: &Self) -> Self {
        let of = |old: Option<String>, new: &Option<String>| match new {
            Some(new) => Some(new.clone()).filter(|it| !it.is_empty()),
            None => old,
        };
        Self {
            logo: of(self.logo, &change.logo),
            colour: of(self.colour, &change.colour),
            terms: of(self.terms, &change.terms),
            privacy: of(self.privacy, &change.privacy),
            language: of(self.language, &change.language),
        }
    }
}

impl Identity {
    /// How a site presents itself.
    pub async fn site_face(&self, site: &Site) -> Result<SiteFace> {
        of_site(site).await
    }

    /// What a site has chosen of it.
    pub async fn site_face_setting(&self, site: &Site) -> Result<FaceSetting> {
        read(site).await
    }

    /// Changes what a site has chosen, and answers it.
    ///
    /// # Errors
    /// As for [`FaceSetting::check`]; then nothing is changed.
    pub async fn site_face_change(&self, site: &Site, change: FaceSetting) -> Result<FaceSetting> {
        change.check()?;
        let written = site.write_with((site.id.clone(), change), |tx, (site, change)| {
            boxed!({
                let face = parse(setting::get(tx, site, SETTING).await?)?.changed(change);
                match face == FaceSetting::default() {
                    true => setting::remove(tx, site, SETTING).await?,
                    false => {
                        setting::put(tx, site, SETTING, serde_json::to_string(&face).map_err(Fault::internal)?).await?
                    }
                }
                Ok(face)
            })
        });
        written.await
    }
}

/// What [`Identity::site_face`] does.
pub(crate) async fn of_site(site: &Site) -> Result<SiteFace> {
    let FaceSetting { logo, colour, terms, privacy, language } = read(site).await?;
    Ok(SiteFace {
        id: site.id.as_str().to_owned(),
        name: site.name(),
        language,
        logo_url: logo,
        colours: colour.as_deref().and_then(colours),
        terms_url: terms,
        privacy_url: privacy,
    })
}

async fn read(site: &Site) -> Result<FaceSetting> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| boxed!(Ok(setting::get(tx, &id, SETTING).await?)));
    parse(read.await?)
}

fn parse(text: Option<String>) -> Result<FaceSetting> {
    text.map_or_else(|| Ok(FaceSetting::default()), |it| serde_json::from_str(&it).map_err(Fault::internal))
}

fn is_https(text: &str) -> bool {
    Address::parse(text).is_some_and(|it| it.origin().starts_with("https:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn languages_are_those_of_the_account_pages() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/apps/account/src/text");
        let files = std::fs::read_dir(folder).expect("the texts").map(|it| it.expect("a file").file_name());
        let names = files.filter_map(|it| it.to_str()?.strip_suffix(".ts").map(str::to_owned));
        let is_tag = |it: &String| it.len() == 2 || it.as_bytes().get(2) == Some(&b'-');
        let mut tags: Vec<String> = names.filter(is_tag).collect();
        tags.sort();
        assert_eq!(tags, LANGUAGES);
    }

    #[test]
    fn unknown_language_is_refused_with_the_nearest() {
        let face = |it: &str| FaceSetting { language: Some(it.to_owned()), ..FaceSetting::default() };
        for good in ["de", ""] {
            assert!(face(good).check().is_ok(), "{good}");
        }
        let refused = face("dee").check().expect_err("no such language");
        let violation = &refused.violations()[0];
        assert_eq!(violation.field, "language");
        assert!(violation.description.contains("\"dee\" is no language"), "{}", violation.description);
        assert!(violation.description.ends_with("did you mean de?"), "{}", violation.description);
    }
}
