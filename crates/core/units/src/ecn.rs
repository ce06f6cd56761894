//! Explicit congestion notification (ECN).

/// The ECN field of the IP header (RFC 3168, section 5; RFC 9331, section 4).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Ecn {
    /// 00: not ECN-capable.
    #[default]
    NotEct,
    /// 01: ECN-capable, L4S (RFC 9331).
    Ect1,
    /// 10: ECN-capable, classic.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

impl Ecn {
    /// The field that has this name in files: `not-ect`, `ect0`, `ect1` or
    /// `ce`; `None` for any other name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "not-ect" => Some(Self::NotEct),
            "ect0" => Some(Self::Ect0),
            "ect1" => Some(Self::Ect1),
            "ce" => Some(Self::Ce),
            _ => None,
        }
    }

    /// Whether a queue may mark a packet with this field instead of dropping it.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}
