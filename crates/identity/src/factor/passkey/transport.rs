//! How browsers reach authenticators.

/// By what a browser reaches an authenticator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Usb,
    Nfc,
    Ble,
    SmartCard,
    Hybrid,
    Internal,
}

impl Transport {
    const ALL: [Self; 6] = [Self::Usb, Self::Nfc, Self::Ble, Self::SmartCard, Self::Hybrid, Self::Internal];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Usb => "usb",
            Self::Nfc => "nfc",
            Self::Ble => "ble",
            Self::SmartCard => "smart-card",
            Self::Hybrid => "hybrid",
            Self::Internal => "internal",
        }
    }

    /// The one with a name; unknown ones are left out.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
