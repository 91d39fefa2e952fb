//! German.

use crate::mail::words::{Language, Words};

pub(super) const TEXT: Language = Language {
    tag: "de",
    is_right_to_left: false,
    copy_link: "Wenn die Schaltfläche nichts bewirkt, öffne diese Adresse:",
    footer: "Gesendet von {site}",
    verification: Words {
        subject: "{code} ist Ihr Code für {site}",
        title: "Ihr Code",
        body: "Geben Sie diesen Code ein, um Ihre Adresse bei {site} zu bestätigen.",
        action: "",
        note: "Er gilt einmal und zehn Minuten lang. Wenn Sie ihn nicht angefordert haben, können Sie diese Nachricht ignorieren.",
    },
    recovery: Words {
        subject: "Ein neues Passwort für {site}",
        title: "Neues Passwort wählen",
        body: "Jemand hat ein neues Passwort für Ihr Konto bei {site} angefordert.",
        action: "Neues Passwort wählen",
        note: "Der Link gilt einmal und eine Stunde lang. Wenn Sie das nicht waren, können Sie diese Nachricht ignorieren: Es hat sich nichts geändert.",
    },
    activation: Words {
        subject: "Ihr Konto bei {site}",
        title: "Konto aktivieren",
        body: "{site} hat ein Konto für Sie. Wählen Sie ein Passwort, dann können Sie sich anmelden.",
        action: "Passwort wählen",
        note: "Der Link gilt einmal und eine Stunde lang. Wenn Sie {site} nicht kennen, können Sie diese Nachricht ignorieren.",
    },
    new_device: Words {
        subject: "Neue Anmeldung bei {site}",
        title: "Neue Anmeldung",
        body: "Mit Ihrem Konto hat sich jemand in einem Browser angemeldet, den wir noch nicht kennen.\n{device}\n{time}",
        action: "Das war ich nicht",
        note: "Wenn Sie es waren, brauchen Sie nichts zu tun. Wenn nicht, wählen Sie ein neues Passwort: Damit werden alle abgemeldet.",
    },
    password_changed: Words {
        subject: "Ihr Passwort für {site} wurde geändert",
        title: "Ihr Passwort wurde geändert",
        body: "Das Passwort Ihres Kontos bei {site} wurde geändert.\n{time}",
        action: "Das war ich nicht",
        note: "Wenn Sie es waren, brauchen Sie nichts zu tun. Wenn nicht, wählen Sie ein neues Passwort: Damit werden alle abgemeldet.",
    },
    password_dropped: Words {
        subject: "Ihr Passwort für {site} wurde entfernt",
        title: "Ihr Passwort wurde entfernt",
        body: "{site} hat Sie auf eigenem Weg angemeldet. Diese Adresse hatte vorher niemand bestätigt; deshalb gilt das Passwort des Kontos nicht mehr, das jemand anders gesetzt haben kann.\n{time}",
        action: "Passwort wählen",
        note: "Wenn Sie sich über {site} anmelden, ist nichts zu tun.",
    },
    email_verified: Words {
        subject: "Ihre Adresse für {site} ist bestätigt",
        title: "Ihre Adresse ist bestätigt",
        body: "{email} ist als Adresse Ihres Kontos bei {site} bestätigt.\n{time}",
        action: "Das war ich nicht",
        note: "Wenn Sie es waren, brauchen Sie nichts zu tun. Wenn nicht, wählen Sie ein neues Passwort: Damit werden alle abgemeldet.",
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
        body: "{name} ({email}) hat bei {site} ein Konto angelegt und wartet auf Ihre Antwort.",
        action: "Anfrage ansehen",
        note: "Der Link ist nur für Sie und gilt sieben Tage. Geben Sie diese Nachricht nicht weiter.",
    },
    approved: Words {
        subject: "Willkommen bei {site}",
        title: "Sie können sich jetzt anmelden",
        body: "Die Betreiber von {site} haben Ihr Konto freigegeben.",
        action: "Anmelden",
        note: "",
    },
    declined: Words {
        subject: "Ihr Konto bei {site}",
        title: "Ihr Konto wurde nicht freigegeben",
        body: "Die Betreiber von {site} haben entschieden, Ihr Konto nicht freizugeben.",
        action: "",
        note: "Wenn Sie das für einen Irrtum halten, fragen Sie bitte dort nach.",
    },
    webhook_disabled: Words {
        subject: "Webhooks von {site} kommen nicht an",
        title: "Ein Webhook-Endpunkt wurde abgeschaltet",
        body: "Ereignisse von {site} ließen sich seit Tagen nicht an {name} zustellen; deshalb wird dorthin nichts mehr gesendet. Was inzwischen geschieht, wird bis zu vierzehn Tage aufgehoben.\n{time}",
        action: "Anmelden",
        note: "Wenn der Endpunkt wieder funktioniert, setzen Sie ihn fort: Er macht dann weiter, wo er war.",
    },
};
