//! English: the language that stands in where another lacks something.

use crate::mail::words::{Language, Words};

pub(super) const TEXT: Language = Language {
    tag: "en",
    is_right_to_left: false,
    copy_link: "If the button does nothing, open this address:",
    footer: "Sent by {site}",
    verification: Words {
        subject: "{code} is your code for {site}",
        title: "Your code",
        body: "Type this code to confirm your address for {site}.",
        action: "",
        note: "It works once, for ten minutes. If you did not ask for it, you can ignore this message.",
    },
    recovery: Words {
        subject: "A new password for {site}",
        title: "Choose a new password",
        body: "Somebody asked for a new password for your account at {site}.",
        action: "Choose a new password",
        note: "The link works once, for one hour. If it was not you, you can ignore this message: nothing has changed.",
    },
    activation: Words {
        subject: "Your account at {site}",
        title: "Activate your account",
        body: "{site} has an account for you. Choose a password and you can sign in.",
        action: "Choose a password",
        note: "The link works once, for one hour. If you do not know {site}, you can ignore this message.",
    },
    new_device: Words {
        subject: "New sign-in to {site}",
        title: "New sign-in",
        body: "Your account was used to sign in from a browser that we have not seen before.\n{device}\n{time}",
        action: "It was not me",
        note: "If it was you, there is nothing to do. If not, choose a new password: that signs out everybody.",
    },
    password_changed: Words {
        subject: "Your password for {site} was changed",
        title: "Your password was changed",
        body: "The password of your account at {site} was changed.\n{time}",
        action: "It was not me",
        note: "If it was you, there is nothing to do. If not, choose a new password: that signs out everybody.",
    },
    password_dropped: Words {
        subject: "Your password for {site} was removed",
        title: "Your password was removed",
        body: "{site} has signed you in in its own way. Nobody had confirmed this address before, so the password of the account, which another person may have set, does not work any more.\n{time}",
        action: "Choose a password",
        note: "If you sign in through {site}, there is nothing to do.",
    },
    email_verified: Words {
        subject: "Your address for {site} is confirmed",
        title: "Your address is confirmed",
        body: "{email} is confirmed as the address of your account at {site}.\n{time}",
        action: "It was not me",
        note: "If it was you, there is nothing to do. If not, choose a new password: that signs out everybody.",
    },
    email_changed: Words {
        subject: "The address of your account at {site} was changed",
        title: "Your address was changed",
        body: "Your account at {site} now belongs to {email}. Messages no longer go to the address at which you read this.\n{time}",
        action: "",
        note: "If it was you, there is nothing to do. If not, tell the people who run {site} at once: only they can give the account back to you.",
    },
    approval_request: Words {
        subject: "{name} asks to join {site}",
        title: "Somebody asks to join",
        body: "{name} ({email}) has made an account at {site} and waits for your answer.",
        action: "Look at the request",
        note: "The link is for you alone and works for seven days. Do not pass this message on.",
    },
    approved: Words {
        subject: "Welcome to {site}",
        title: "You can sign in now",
        body: "The people who run {site} have approved your account.",
        action: "Sign in",
        note: "",
    },
    declined: Words {
        subject: "Your account at {site}",
        title: "Your account was not approved",
        body: "The people who run {site} have decided not to approve your account.",
        action: "",
        note: "If you think this is a mistake, please ask them.",
    },
    webhook_disabled: Words {
        subject: "Webhooks of {site} are not delivered",
        title: "A webhook endpoint was switched off",
        body: "Events of {site} could not be delivered to {name} for days, so nothing is sent there any more. What happens meanwhile is kept for up to fourteen days.\n{time}",
        action: "Sign in",
        note: "When the endpoint works again, resume it: it then goes on where it was.",
    },
};
