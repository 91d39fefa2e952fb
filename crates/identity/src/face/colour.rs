//! A site's colour on its account pages, in each theme as light or as dark as it must be for what it is used for.
//!
//! Text, and what stands for text, has a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3) with the ground that it is read
//! on, whatever colour a site chooses: the colour is moved towards black in the light theme and towards white in the
//! dark one until that is so.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The least contrast of text.
const CONTRAST: f64 = 4.5;
/// Steps from a colour to black or white.
const STEPS: u32 = 64;

/// The grounds of the account pages, as `web/packages/ui/src/tokens.css` has them: page, surface, raised.
const LIGHT: [Rgb; 3] = [Rgb([0xfa, 0xf7, 0xf1]), Rgb([0xff, 0xfd, 0xf9]), Rgb([0xff, 0xff, 0xff])];
const DARK: [Rgb; 3] = [Rgb([0x14, 0x19, 0x1e]), Rgb([0x1b, 0x22, 0x29]), Rgb([0x23, 0x2b, 0x34])];
const BLACK: Rgb = Rgb([0, 0, 0]);
const WHITE: Rgb = Rgb([255, 255, 255]);

/// The colours of a site in both themes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SiteColours {
    pub light: Palette,
    pub dark: Palette,
}

/// The colours of a theme, each as `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Palette {
    /// Links and the ground of buttons; read on page, surface, raised ground and on `accentSurface`.
    pub accent: String,
    /// The same beneath a pointer.
    pub accent_strong: String,
    /// Read on `accent` and `accentStrong`.
    pub accent_text: String,
    /// The ground of what is chosen.
    pub accent_surface: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rgb([u8; 3]);

/// The colours that come of one, written as `#rrggbb`; `None` for anything else.
pub(crate) fn colours(text: &str) -> Option<SiteColours> {
    let colour = Rgb::parse(text)?;
    Some(SiteColours { light: palette(colour, &LIGHT, BLACK, 0.10), dark: palette(colour, &DARK, WHITE, 0.18) })
}

/// `tint` is how much of the accent is in the ground of what is chosen.
fn palette(colour: Rgb, grounds: &[Rgb; 3], pole: Rgb, tint: f64) -> Palette {
    let surface_of = |accent: Rgb| grounds[1].mixed(accent, tint);
    let is_readable =
        |accent: &Rgb| grounds.iter().chain([&surface_of(*accent)]).all(|ground| accent.contrast(*ground) >= CONTRAST);
    let steps = (0..=STEPS).map(|step| colour.mixed(pole, f64::from(step) / f64::from(STEPS)));
    let accent = steps.into_iter().find(is_readable).unwrap_or(pole);
    let strong = accent.mixed(pole, 0.18);
    let text = if accent.contrast(WHITE) >= accent.contrast(BLACK) { WHITE } else { BLACK };
    Palette {
        accent: accent.print(),
        accent_strong: strong.print(),
        accent_text: text.print(),
        accent_surface: surface_of(accent).print(),
    }
}

impl Rgb {
    fn parse(text: &str) -> Option<Self> {
        let digits =
            text.strip_prefix('#').filter(|it| it.len() == 6 && it.bytes().all(|it| it.is_ascii_hexdigit()))?;
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        Some(Self([part(0)?, part(2)?, part(4)?]))
    }

    fn print(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// So much of another colour in this one, from 0 to 1.
    fn mixed(self, other: Self, share: f64) -> Self {
        let mut mixed = self;
        for (part, other) in mixed.0.iter_mut().zip(other.0) {
            *part = (f64::from(*part) * (1.0 - share) + f64::from(other) * share).round() as u8;
        }
        mixed
    }

    /// As WCAG 2.2 defines it, from 1 to 21.
    fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0;
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = include_str!("../../../../web/packages/ui/src/tokens.css");

    fn rgb(text: &str) -> Rgb {
        Rgb::parse(text).expect("a colour")
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((BLACK.contrast(WHITE) - 21.0).abs() < 1e-9);
        assert!((rgb("#777777").contrast(WHITE) - 4.478).abs() < 0.001);
        assert!((rgb("#ff0000").contrast(WHITE) - 3.998).abs() < 0.001);
    }

    #[test]
    fn colours_are_readable_whichever_is_chosen() {
        let levels = [0, 1, 64, 119, 128, 180, 224, 254, 255];
        let all = levels.iter().flat_map(|r| levels.iter().flat_map(|g| levels.iter().map(|b| Rgb([*r, *g, *b]))));
        for chosen in all {
            let made = colours(&chosen.print()).expect("a colour");
            for (palette, grounds) in [(made.light, LIGHT), (made.dark, DARK)] {
                let (accent, strong) = (rgb(&palette.accent), rgb(&palette.accent_strong));
                let (text, surface) = (rgb(&palette.accent_text), rgb(&palette.accent_surface));
                for (front, ground) in grounds.iter().chain([&surface]).map(|it| (accent, *it)) {
                    assert!(front.contrast(ground) >= CONTRAST, "{chosen:?} {palette:?}");
                }
                assert!(grounds.iter().all(|it| strong.contrast(*it) >= CONTRAST), "{chosen:?} {palette:?}");
                assert!(text.contrast(accent) >= CONTRAST, "{chosen:?} {palette:?}");
                assert!(text.contrast(strong) >= CONTRAST, "{chosen:?} {palette:?}");
            }
        }
    }

    #[test]
    fn readable_colour_is_taken_as_it_is() {
        let made = colours("#0B5394").expect("a colour");
        assert_eq!((made.light.accent.as_str(), made.light.accent_text.as_str()), ("#0b5394", "#ffffff"));
        assert_ne!(made.dark.accent, "#0b5394", "too dark for the dark theme");
    }

    #[test]
    fn colour_is_six_hexadecimal_digits() {
        for wrong in ["", "#fff", "0b5394", "#0b53944", "#0b539g", "red", "#0b5394;}", "#é1234"] {
            assert_eq!(colours(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn grounds_are_those_of_the_sheet() {
        for (at, name) in ["page", "surface", "raised"].into_iter().enumerate() {
            let line = format!("--{name}: light-dark({}, {});", LIGHT[at].print(), DARK[at].print());
            assert!(SHEET.contains(&line), "{line}");
        }
    }
}
