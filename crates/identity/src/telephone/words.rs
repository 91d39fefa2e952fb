//! What messages and calls to telephones say, a row a language. Adding a language is a row here; English stands in for others.

/// Characters of a site's name that are said: a message has room for 160 of GSM 03.38, or for 70 where one is none of them.
const LONGEST_NAME: usize = 22;

/// One language.
#[derive(Debug)]
pub(super) struct Words {
    tag: &'static str,
    /// The tag of the voice.
    pub spoken: &'static str,
    message: &'static str,
    sentence: &'static str,
}

static LANGUAGES: [Words; 7] = [
    Words {
        tag: "en",
        spoken: "en-US",
        message: "{code} is your code for {site}. Tell it to nobody.",
        sentence: "Your code for {site} is: {code}.",
    },
    Words {
        tag: "ar",
        spoken: "ar-AE",
        message: "{code} هو رمزك في {site}. لا تخبر به أحدًا.",
        sentence: "رمزك في {site} هو: {code}.",
    },
    Words {
        tag: "de",
        spoken: "de-DE",
        message: "{code} ist Ihr Code für {site}. Sagen Sie ihn niemandem.",
        sentence: "Ihr Code für {site} ist: {code}.",
    },
    Words {
        tag: "es",
        spoken: "es-ES",
        message: "{code} es su clave para {site}. No se lo diga a nadie.",
        sentence: "Su clave para {site} es: {code}.",
    },
    Words {
        tag: "fr",
        spoken: "fr-FR",
        message: "{code} est votre code pour {site}. Ne le dites à personne.",
        sentence: "Votre code pour {site} est : {code}.",
    },
    Words {
        tag: "he",
        spoken: "he-IL",
        message: "{code} הוא הקוד שלך עבור {site}. אין למסור אותו לאיש.",
        sentence: "הקוד שלך עבור {site} הוא: {code}.",
    },
    Words {
        tag: "ja",
        spoken: "ja-JP",
        message: "{code} は {site} のコードです。誰にも教えないでください。",
        sentence: "{site} のコードは、{code} です。",
    },
];

/// The language of a tag: exactly, or without region; English for others.
pub(super) fn of(tag: &str) -> &'static Words {
    let primary = tag.split(['-', '_']).next().unwrap_or_default();
    LANGUAGES.iter().find(|it| it.tag.eq_ignore_ascii_case(primary)).unwrap_or(&LANGUAGES[0])
}

impl Words {
    /// The text of a message.
    pub(super) fn message(&self, site: &str, code: &str) -> String {
        fill(self.message, site, code)
    }

    /// What is said in a call, the code digit by digit.
    pub(super) fn sentence(&self, site: &str, code: &str) -> String {
        let digits: Vec<String> = code.chars().map(String::from).collect();
        fill(self.sentence, site, &digits.join(", "))
    }
}

/// The code goes in first: a name of a site that looks like a placeholder stays a name.
fn fill(template: &str, site: &str, code: &str) -> String {
    let name: String = site.chars().map(|it| if it.is_control() { ' ' } else { it }).take(LONGEST_NAME).collect();
    template.replace("{code}", code).replace("{site}", name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::MailSetting;

    #[test]
    fn every_language_says_code_and_site() {
        let setting = MailSetting::default();
        for words in &LANGUAGES {
            assert_eq!(setting.choose([Some(words.tag)]), words.tag, "a language of mail");
            assert_eq!(of(words.spoken).tag, words.tag);
            let message = words.message("Atlas", "482915");
            assert!(message.contains("482915") && message.contains("Atlas") && !message.contains('{'), "{message}");
            let sentence = words.sentence("Atlas", "482915");
            assert!(sentence.contains("4, 8, 2, 9, 1, 5") && sentence.contains("Atlas"), "{sentence}");
            let longest = words.message(&"x".repeat(500), "482915");
            // GSM 03.38; of one letter more the message has 70 characters.
            let is_gsm = longest.chars().all(|it| it.is_ascii() || "èéùìòÇØøÅåÆæßÉÄÖÑÜ¿äöñüà¡".contains(it));
            assert_eq!(is_gsm, matches!(words.tag, "en" | "de" | "es" | "fr"), "{longest}");
            let most = if is_gsm { 160 } else { 70 };
            assert!(longest.chars().count() <= most, "{longest}");
        }
        assert_eq!((of("de-AT").tag, of("pt").tag, of("").tag), ("de", "en", "en"));
    }

    #[test]
    fn name_of_a_site_changes_nothing_else() {
        assert_eq!(of("en").message("a{code}\r\nb", "1"), "1 is your code for a{code}  b. Tell it to nobody.");
    }
}
