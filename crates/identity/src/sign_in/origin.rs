//! Where a sign-in comes from, and what it has shown on its way.

use crate::factor::FirstFactor;
use std::net::IpAddr;
use stoa_kernel::{Caller, VisitorId};

/// Where a sign-in comes from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin<'a> {
    /// The visitor who becomes the member.
    pub visitor: Option<&'a VisitorId>,
    /// Of the person; unknown when an app speaks for them.
    pub address: Option<IpAddr>,
    /// The app that vouches for the member.
    pub app: Option<&'a Caller>,
    pub second: SecondFactor<'a>,
    /// What has shown who they are.
    pub first: FirstFactor,
    /// Whether the sign-in has shown that the address is the member's, by a code that was sent there.
    pub has_shown_address: bool,
}

/// What is known of the second factor of one who signs in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum SecondFactor<'a> {
    #[default]
    Nothing,
    /// The browser brought the cookie by which it is known; it may be one in which the member isn't asked.
    Browser(&'a str),
    /// A member puts off to set up what the site requires, perhaps after one that doesn't do was shown.
    PutOff {
        has_shown: bool,
        /// As of the one that was shown.
        remembers: bool,
    },
    /// It was shown.
    Shown {
        /// Whether the member isn't to be asked again in the browser where the sign-in ends.
        remembers: bool,
        /// Whether it counted in this very transaction and is one of those that a site requires. Otherwise the member's factors are
        /// looked through for one.
        is_authenticator: bool,
    },
}

impl<'a> SecondFactor<'a> {
    /// Of a browser, by its cookie.
    pub(crate) fn of_browser(cookie: Option<&'a str>) -> Self {
        cookie.map_or(Self::Nothing, Self::Browser)
    }

    /// Whether the member isn't to be asked again in the browser where the sign-in ends.
    pub(crate) fn remembers(self) -> bool {
        matches!(self, Self::Shown { remembers: true, .. } | Self::PutOff { remembers: true, .. })
    }
}
