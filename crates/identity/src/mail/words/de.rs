//! German.

use super::{Language, Words};

pub(super) const TEXT: Language = Language {
    tag: "de",
    is_right_to_left: false,
    copy_link: "Wenn die Schaltfläche nichts bewirkt, öffne diese Adresse:",
    foot: "Gesendet von {site}",
    verification: Words {
        subject: "{code} ist dein Code für {site}",
        title: "Dein Code",
        body: "Gib diesen Code ein, um deine Adresse bei {site} zu bestätigen.",
        action: "",
        note: "Er gilt einmal und zehn Minuten lang. Wenn du ihn nicht angefordert hast, kannst du diese Nachricht ignorieren.",
    },
    recovery: Words {
        subject: "Ein neues Passwort für {site}",
        title: "Neues Passwort wählen",
        body: "Jemand hat ein neues Passwort für dein Konto bei {site} angefordert.",
        action: "Neues Passwort wählen",
        note: "Der Link gilt einmal und eine Stunde lang. Wenn du das nicht warst, kannst du diese Nachricht ignorieren: Es hat sich nichts geändert.",
    },
    activation: Words {
        subject: "Dein Konto bei {site}",
        title: "Konto aktivieren",
        body: "{site} hat ein Konto für dich. Wähle ein Passwort, dann kannst du dich anmelden.",
        action: "Passwort wählen",
        note: "Der Link gilt einmal und eine Stunde lang. Wenn du {site} nicht kennst, kannst du diese Nachricht ignorieren.",
    },
    new_device: Words {
        subject: "Neue Anmeldung bei {site}",
        title: "Neue Anmeldung",
        body: "Mit deinem Konto hat sich jemand in einem Browser angemeldet, den wir noch nicht kennen.\n{device}\n{time}",
        action: "Das war ich nicht",
        note: "Wenn du es warst, brauchst du nichts zu tun. Wenn nicht, wähle ein neues Passwort: Damit werden alle abgemeldet.",
    },
    password_changed: Words {
        subject: "Dein Passwort für {site} wurde geändert",
        title: "Dein Passwort wurde geändert",
        body: "Das Passwort deines Kontos bei {site} wurde geändert.\n{time}",
        action: "Das war ich nicht",
        note: "Wenn du es warst, brauchst du nichts zu tun. Wenn nicht, wähle ein neues Passwort: Damit werden alle abgemeldet.",
    },
    email_verified: Words {
        subject: "Deine Adresse für {site} ist bestätigt",
        title: "Deine Adresse ist bestätigt",
        body: "{email} ist als Adresse deines Kontos bei {site} bestätigt.\n{time}",
        action: "Das war ich nicht",
        note: "Wenn du es warst, brauchst du nichts zu tun. Wenn nicht, wähle ein neues Passwort: Damit werden alle abgemeldet.",
    },
    email_changed: Words {
        subject: "Die Adresse Ihres Kontos bei {site} wurde geändert",
        title: "Ihre Adresse wurde geändert",
        body: "Ihr Konto bei {site} gehört jetzt zu {email}. An die Adresse, unter der Sie das lesen, geht keine Post mehr.\n{time}",
        action: "",
        note: "Wenn Sie es waren, brauchen Sie nichts zu tun. Wenn nicht, sagen Sie sofort denen Bescheid, die {site} betreiben: Nur sie können Ihnen das Konto zurückgeben.",
    },
    approval_request: Words {
        subject: "{name} möchte zu {site}",
        title: "Jemand möchte Mitglied werden",
        body: "{name} ({email}) hat bei {site} ein Konto angelegt und wartet auf deine Antwort.",
        action: "Anfrage ansehen",
        note: "Der Link ist nur für dich und gilt sieben Tage. Gib diese Nachricht nicht weiter.",
    },
    approved: Words {
        subject: "Willkommen bei {site}",
        title: "Du kannst dich jetzt anmelden",
        body: "Die Betreiber von {site} haben dein Konto freigegeben.",
        action: "Anmelden",
        note: "",
    },
    declined: Words {
        subject: "Dein Konto bei {site}",
        title: "Dein Konto wurde nicht freigegeben",
        body: "Die Betreiber von {site} haben entschieden, dein Konto nicht freizugeben.",
        action: "",
        note: "Wenn du das für einen Irrtum hältst, frag bitte dort nach.",
    },
};
