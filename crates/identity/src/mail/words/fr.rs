//! French.

use crate::mail::words::{Language, Words};

pub(super) const TEXT: Language = Language {
    tag: "fr",
    is_right_to_left: false,
    copy_link: "Si le bouton ne fonctionne pas, ouvrez cette adresse :",
    footer: "Envoyé par {site}",
    verification: Words {
        subject: "{code} est votre code pour {site}",
        title: "Votre code",
        body: "Saisissez ce code pour confirmer votre adresse sur {site}.",
        action: "",
        note: "Il est valable une fois, pendant dix minutes. Si vous ne l’avez pas demandé, vous pouvez ignorer ce message.",
    },
    recovery: Words {
        subject: "Un nouveau mot de passe pour {site}",
        title: "Choisissez un nouveau mot de passe",
        body: "Quelqu’un a demandé un nouveau mot de passe pour votre compte sur {site}.",
        action: "Choisir un nouveau mot de passe",
        note: "Le lien est valable une fois, pendant une heure. Si ce n’était pas vous, vous pouvez ignorer ce message : rien n’a changé.",
    },
    activation: Words {
        subject: "Votre compte sur {site}",
        title: "Activez votre compte",
        body: "{site} a un compte pour vous. Choisissez un mot de passe et vous pourrez vous connecter.",
        action: "Choisir un mot de passe",
        note: "Le lien est valable une fois, pendant une heure. Si vous ne connaissez pas {site}, vous pouvez ignorer ce message.",
    },
    new_device: Words {
        subject: "Nouvelle connexion à {site}",
        title: "Nouvelle connexion",
        body: "Votre compte a servi à une connexion depuis un navigateur que nous ne connaissions pas.\n{device}\n{time}",
        action: "Ce n’était pas moi",
        note: "Si c’était vous, il n’y a rien à faire. Sinon, choisissez un nouveau mot de passe : toutes les sessions seront fermées.",
    },
    password_changed: Words {
        subject: "Votre mot de passe pour {site} a été changé",
        title: "Votre mot de passe a été changé",
        body: "Le mot de passe de votre compte sur {site} a été changé.\n{time}",
        action: "Ce n’était pas moi",
        note: "Si c’était vous, il n’y a rien à faire. Sinon, choisissez un nouveau mot de passe : toutes les sessions seront fermées.",
    },
    password_dropped: Words {
        subject: "Votre mot de passe pour {site} a été supprimé",
        title: "Votre mot de passe a été supprimé",
        body: "{site} vous a connecté à sa manière. Personne n’avait confirmé cette adresse auparavant ; le mot de passe du compte, que quelqu’un d’autre a pu choisir, ne fonctionne donc plus.\n{time}",
        action: "Choisir un mot de passe",
        note: "Si vous vous connectez par {site}, vous n’avez rien à faire.",
    },
    email_verified: Words {
        subject: "Votre adresse pour {site} est confirmée",
        title: "Votre adresse est confirmée",
        body: "{email} est confirmée comme adresse de votre compte sur {site}.\n{time}",
        action: "Ce n’était pas moi",
        note: "Si c’était vous, il n’y a rien à faire. Sinon, choisissez un nouveau mot de passe : toutes les sessions seront fermées.",
    },
    email_changed: Words {
        subject: "L’adresse de votre compte sur {site} a été changée",
        title: "Votre adresse a été changée",
        body: "Votre compte sur {site} appartient désormais à {email}. Plus aucun message ne sera envoyé à l’adresse à laquelle vous lisez ceci.\n{time}",
        action: "",
        note: "Si c’était vous, il n’y a rien à faire. Sinon, prévenez tout de suite les responsables de {site} : eux seuls peuvent vous rendre le compte.",
    },
    approval_request: Words {
        subject: "{name} souhaite rejoindre {site}",
        title: "Quelqu’un souhaite s’inscrire",
        body: "{name} ({email}) a créé un compte sur {site} et attend votre réponse.",
        action: "Voir la demande",
        note: "Le lien est pour vous seul et valable sept jours. Ne transférez pas ce message.",
    },
    approved: Words {
        subject: "Bienvenue sur {site}",
        title: "Vous pouvez vous connecter",
        body: "Les responsables de {site} ont approuvé votre compte.",
        action: "Se connecter",
        note: "",
    },
    declined: Words {
        subject: "Votre compte sur {site}",
        title: "Votre compte n’a pas été approuvé",
        body: "Les responsables de {site} ont décidé de ne pas approuver votre compte.",
        action: "",
        note: "Si vous pensez qu’il s’agit d’une erreur, contactez-les.",
    },
    webhook_disabled: Words {
        subject: "Les webhooks de {site} ne sont plus remis",
        title: "Un point de terminaison de webhooks a été désactivé",
        body: "Les événements de {site} n’ont pas pu être remis à {name} depuis des jours ; plus rien n’y est donc envoyé. Ce qui se passe entre-temps est conservé jusqu’à quatorze jours.\n{time}",
        action: "Se connecter",
        note: "Quand il fonctionnera de nouveau, réactivez-le : il reprendra où il en était.",
    },
};
