//! The host's side of pairing: one PIN at a time, and the exchanges that use it
//! (`docs/embed/protocol.md`, "Pairing").
//!
//! A PIN has a million values, and each exchange tries one. A PIN is good for one pairing, for five
//! minutes and for three wrong tries. After each PIN that was spent on wrong tries, the next one is
//! longer in coming, twice as long each time: whoever guesses as long as they like at one host gets 3
//! tries a PIN, and 36 in the first two days, which find a PIN once in 28 000 times.

use mimosa_protocol::pairing::{
    Allowed, Begin, Begun, CHANNEL, Exchange, Finish, Finished, Paired, is_name,
};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::proof::{hex, is_same, unhex};
use mimosa_tls::KeyHash;
use mimosa_units::{Time, TimeDelta};

/// How long a PIN is good: time to go to the other device and type.
const LONGEST_PIN: TimeDelta = TimeDelta::from_millis(300_000);
/// How long an exchange may take; it has two requests.
const LONGEST_EXCHANGE: TimeDelta = TimeDelta::from_millis(30_000);
/// Wrong tries that spend a PIN.
const TRIES: u32 = 3;
/// Most exchanges under way; the oldest gives way.
const MOST_EXCHANGES: usize = 4;
/// How long the next PIN takes after the first spent one, and at most.
const FIRST_REST: TimeDelta = TimeDelta::from_millis(60_000);
const LONGEST_REST: TimeDelta = TimeDelta::from_millis(86_400_000);

/// A device that has paired.
#[derive(Clone, Debug)]
pub(crate) struct NewDevice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) role: Allowed,
    pub(crate) token: String,
}

/// A PIN, and what became of it so far.
#[derive(Clone)]
struct Pin {
    text: String,
    until: Time,
    wrong: u32,
}

/// An exchange whose second request has not come yet.
struct Under {
    session: [u8; 16],
    name: String,
    paired: Paired,
    until: Time,
}

/// Who asks for a PIN, and who may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asking {
    /// Whoever reaches the host: the PIN is told where only its owner sees it, at a terminal.
    Anybody,
    /// The host's owner, from the page that shows the PIN to the owner.
    Owner,
}

/// The state of pairing. `Debug` prints no PIN.
pub(crate) struct Pairing {
    role: Allowed,
    /// Who may have a PIN made.
    from: Asking,
    /// The SHA-256 of the key of the host's own certificate, in hexadecimal.
    key: Option<String>,
    pin: Option<Pin>,
    exchanges: Vec<Under>,
    /// How many PINs were spent on wrong tries, one after the other.
    spent: u32,
    /// No PIN before this.
    rest: Time,
}

impl std::fmt::Debug for Pairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pairing(…)")
    }
}

impl Pairing {
    /// Pairs devices that may do this, and tells them the `key` of the host's own certificate. PINs are
    /// made when asked for by `from`, and by the owner in any case.
    pub(crate) fn new(role: Allowed, from: Asking, key: Option<KeyHash>) -> Self {
        Self {
            role,
            from,
            key: key.map(|key| key.to_string()),
            pin: None,
            exchanges: Vec::new(),
            spent: 0,
            rest: Time::ZERO,
        }
    }

    /// A new PIN to show to the owner, asked for by `who` and made from these random bits; `None` if the
    /// present one is still good.
    ///
    /// # Errors
    ///
    /// A [`Problem`] while the host rests after wrong tries, and where only the owner may ask.
    pub(crate) fn ask(
        &mut self,
        now: Time,
        who: Asking,
        bits: u128,
    ) -> Result<Option<String>, Problem> {
        if self.good(now).is_some() {
            return Ok(None);
        }
        if who == Asking::Anybody && self.from == Asking::Owner {
            let message = "this host has no terminal to show a PIN at; its owner shows one on the page of the URL `own`, \
                           with the button Host";
            return Err(Problem::new(ErrorCode::OwnerOnly, message.to_owned()));
        }
        if now < self.rest {
            let seconds = self.rest.since(now).as_secs().ceil();
            let message = format!(
                "wrong PINs were tried, and the host shows the next one in {seconds} s; its owner can start it again, or give you its URL"
            );
            return Err(Problem::new(ErrorCode::TooManyRequests, message));
        }
        // 128 bits modulo a million favour no PIN by more than 1 in 10^32.
        let text = format!("{:06}", bits % 1_000_000);
        let until = now + LONGEST_PIN;
        self.exchanges.clear();
        self.pin = Some(Pin {
            text: text.clone(),
            until,
            wrong: 0,
        });
        Ok(Some(text))
    }

    /// Whether PINs are told at a terminal.
    pub(crate) fn has_terminal(&self) -> bool {
        self.from == Asking::Anybody
    }

    /// The PIN that is good now, and for how long.
    pub(crate) fn shown(&self, now: Time) -> Option<(&str, TimeDelta)> {
        let pin = self.good(now)?;
        Some((&pin.text, pin.until.since(now)))
    }

    /// Answers the first message of an exchange with these random bytes.
    ///
    /// # Errors
    ///
    /// A [`Problem`] if the message is wrong, or no PIN is shown.
    pub(crate) fn begin(
        &mut self,
        now: Time,
        begin: &Begin,
        random: [u8; 32],
    ) -> Result<Begun, Problem> {
        if !is_name(&begin.name) {
            let message = "a device's name is 1 to 40 bytes of visible text".to_owned();
            return Err(bad(message));
        }
        let session = unhex(&begin.session)
            .ok_or_else(|| bad("`session` is 32 hexadecimal digits".to_owned()))?;
        let share = unhex(&begin.share)
            .ok_or_else(|| bad("`share` is 64 hexadecimal digits".to_owned()))?;
        let pin = self.good(now).ok_or_else(no_pin)?;
        let exchange = Exchange::begin(pin.text.as_bytes(), CHANNEL, session, random);
        let key = exchange
            .responded(&share, begin.name.as_bytes(), b"")
            .map_err(|error| bad(error.to_string()))?;
        self.exchanges
            .retain(|under| now < under.until && under.session != session);
        if self.exchanges.len() >= MOST_EXCHANGES {
            self.exchanges.remove(0);
        }
        self.exchanges.push(Under {
            session,
            name: begin.name.clone(),
            paired: Paired::new(&key),
            until: now + LONGEST_EXCHANGE,
        });
        let share = hex(&exchange.share());
        Ok(Begun { share })
    }

    /// Answers the second message of an exchange; the device's identifier has these bits.
    ///
    /// # Errors
    ///
    /// A [`Problem`] if the message is wrong, or the PIN was.
    pub(crate) fn finish(
        &mut self,
        now: Time,
        finish: &Finish,
        id: u64,
    ) -> Result<(Finished, NewDevice), Problem> {
        let session: Option<[u8; 16]> = unhex(&finish.session);
        let place = self
            .exchanges
            .iter()
            .position(|under| now < under.until && Some(under.session) == session);
        let pin = self.pin.as_mut().filter(|pin| now < pin.until);
        let (Some(place), Some(pin)) = (place, pin) else {
            return Err(no_pin());
        };
        // Each exchange is good for one try.
        let under = self.exchanges.remove(place);
        let proof = unhex::<32>(&finish.proof).unwrap_or_default();
        if !is_same(&proof, &under.paired.by_device()) {
            pin.wrong += 1;
            if pin.wrong >= TRIES {
                self.spend(now);
            }
            let message = "that is not the PIN that the host shows".to_owned();
            return Err(Problem::new(ErrorCode::PinWrong, message));
        }
        self.pin = None;
        self.exchanges.clear();
        self.spent = 0;
        let id = format!("{id:016x}");
        let finished = Finished {
            id: id.clone(),
            role: self.role,
            key: self.key.clone(),
            proof: hex(&under.paired.by_host(&id, self.role, self.key.as_deref())),
        };
        let device = NewDevice {
            id,
            name: under.name,
            role: self.role,
            token: under.paired.token(),
        };
        Ok((finished, device))
    }

    /// The PIN, while it is good.
    fn good(&self, now: Time) -> Option<&Pin> {
        self.pin.as_ref().filter(|pin| now < pin.until)
    }

    /// Takes the PIN away, after wrong tries.
    fn spend(&mut self, now: Time) {
        self.pin = None;
        self.exchanges.clear();
        let doubled = (0..self.spent).fold(FIRST_REST, |rest, _| (rest * 2).min(LONGEST_REST));
        self.spent = (self.spent + 1).min(32);
        self.rest = now + doubled;
    }
}

fn bad(message: String) -> Problem {
    Problem::new(ErrorCode::BadRequest, message)
}

fn no_pin() -> Problem {
    let message = "the PIN is not good any more; ask the host for another".to_owned();
    Problem::new(ErrorCode::PinOld, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: TimeDelta = TimeDelta::from_millis(1_000);

    /// A device's side with this PIN. Its number is not zero, which would be no secret.
    struct Device {
        exchange: Exchange,
        session: [u8; 16],
    }

    impl Device {
        fn new(pin: &str, number: u8) -> Self {
            let session = [number; 16];
            let exchange = Exchange::begin(pin.as_bytes(), CHANNEL, session, [number; 32]);
            Self { exchange, session }
        }

        fn begin(&self) -> Begin {
            Begin {
                name: "Phone".to_owned(),
                session: hex(&self.session),
                share: hex(&self.exchange.share()),
            }
        }

        fn paired(&self, begun: &Begun) -> Paired {
            let share = unhex(&begun.share).unwrap();
            Paired::new(&self.exchange.initiated(b"Phone", &share, b"").unwrap())
        }

        fn finish(&self, paired: &Paired) -> Finish {
            Finish {
                session: hex(&self.session),
                proof: hex(&paired.by_device()),
            }
        }

        /// Tries to pair.
        fn pair(&self, host: &mut Pairing, now: Time) -> Result<NewDevice, ErrorCode> {
            let begun = host
                .begin(now, &self.begin(), [9; 32])
                .map_err(|problem| problem.error)?;
            let paired = self.paired(&begun);
            let finished = host.finish(now, &self.finish(&paired), 0xabc);
            let (finished, device) = finished.map_err(|problem| problem.error)?;
            assert_eq!(
                finished.proof,
                hex(&paired.by_host(&finished.id, finished.role, finished.key.as_deref()))
            );
            assert_eq!((&device.token, &device.id), (&paired.token(), &finished.id));
            Ok(device)
        }
    }

    #[test]
    fn the_pin_pairs_one_device() {
        let mut host = Pairing::new(Allowed::View, Asking::Anybody, None);
        let now = Time::from_secs(1);
        assert_eq!(
            Device::new("000007", 1).pair(&mut host, now).err(),
            Some(ErrorCode::PinOld)
        );
        assert_eq!(
            host.ask(now, Asking::Anybody, 7).unwrap().as_deref(),
            Some("000007")
        );
        assert_eq!(
            host.ask(now, Asking::Anybody, 8).unwrap(),
            None,
            "it is shown already"
        );
        let device = Device::new("000007", 1).pair(&mut host, now).unwrap();
        assert_eq!((&*device.name, device.role), ("Phone", Allowed::View));
        assert_eq!((device.token.len(), &*device.id), (32, "0000000000000abc"));
        let second = Device::new("000007", 2).pair(&mut host, now);
        assert_eq!(second.err(), Some(ErrorCode::PinOld), "it was used");
        assert_eq!(
            host.ask(now, Asking::Anybody, 9_000_008)
                .unwrap()
                .as_deref(),
            Some("000008")
        );
    }

    #[test]
    fn a_pin_is_good_for_five_minutes_and_three_tries() {
        let mut host = Pairing::new(Allowed::Play, Asking::Anybody, None);
        let start = Time::from_secs(1);
        host.ask(start, Asking::Anybody, 7).unwrap();
        let late = start + LONGEST_PIN;
        assert!(Device::new("000007", 1).pair(&mut host, late).is_err());
        host.ask(late, Asking::Anybody, 8).unwrap();
        for number in 1..=3 {
            let wrong = Device::new("000007", number).pair(&mut host, late);
            assert_eq!(wrong.err(), Some(ErrorCode::PinWrong), "{number}");
        }
        let right = Device::new("000008", 4).pair(&mut host, late);
        assert_eq!(right.err(), Some(ErrorCode::PinOld));
    }

    #[test]
    fn guessing_gets_slower_and_slower() {
        let mut host = Pairing::new(Allowed::Play, Asking::Anybody, None);
        let (mut now, mut tries) = (Time::ZERO, 0);
        let end = Time::from_secs(2 * 86_400);
        while now < end {
            let pin = host.ask(now, Asking::Anybody, 500_000);
            if matches!(pin, Ok(Some(_))) {
                for number in 1..=3 {
                    tries += 1;
                    assert!(Device::new("1", number).pair(&mut host, now).is_err());
                }
            }
            now += SECOND * 10;
        }
        // PINs after 0, 1, 3, 7, … 1023, 2047 minutes.
        assert!((30..=36).contains(&tries), "{tries}");
        let mut host = Pairing::new(Allowed::Play, Asking::Anybody, None);
        host.ask(Time::ZERO, Asking::Anybody, 1).unwrap();
        for number in 1..=3 {
            assert!(
                Device::new("1", number)
                    .pair(&mut host, Time::ZERO)
                    .is_err()
            );
        }
        assert!(host.ask(Time::ZERO, Asking::Anybody, 1).is_err());
        let later = Time::ZERO + FIRST_REST;
        host.ask(later, Asking::Anybody, 2).unwrap();
        assert!(Device::new("000002", 1).pair(&mut host, later).is_ok());
        assert_eq!(host.spent, 0, "an owner who types right is not held up");
    }

    #[test]
    fn without_a_terminal_only_the_owner_has_a_pin_shown() {
        let mut host = Pairing::new(Allowed::Play, Asking::Owner, None);
        let now = Time::from_secs(1);
        let refused = host.ask(now, Asking::Anybody, 7).unwrap_err();
        assert_eq!(refused.error, ErrorCode::OwnerOnly);
        assert!(host.shown(now).is_none());
        assert!(host.ask(now, Asking::Owner, 7).unwrap().is_some());
        // A device that asks meanwhile learns that there is one, and pairs by it.
        assert_eq!(host.ask(now, Asking::Anybody, 8).unwrap(), None);
        assert!(Device::new("000007", 1).pair(&mut host, now).is_ok());
    }

    /// Whoever begins and never finishes learns nothing, and keeps nobody else out for long.
    #[test]
    fn exchanges_are_bounded_and_good_once() {
        let mut host = Pairing::new(Allowed::Play, Asking::Anybody, None);
        let now = Time::from_secs(1);
        host.ask(now, Asking::Anybody, 7).unwrap();
        for number in 1..=100 {
            host.begin(now, &Device::new("1", number).begin(), [9; 32])
                .unwrap();
        }
        assert_eq!(host.exchanges.len(), MOST_EXCHANGES);
        let device = Device::new("000007", 200);
        let begun = host.begin(now, &device.begin(), [9; 32]).unwrap();
        let wrong = Finish {
            proof: "00".repeat(32),
            ..device.finish(&device.paired(&begun))
        };
        let code = |finish: &Finish, now, host: &mut Pairing| {
            host.finish(now, finish, 1)
                .err()
                .map(|problem| problem.error)
        };
        assert_eq!(code(&wrong, now, &mut host), Some(ErrorCode::PinWrong));
        let right = device.finish(&device.paired(&begun));
        assert_eq!(
            code(&right, now, &mut host),
            Some(ErrorCode::PinOld),
            "one try"
        );
        let begun = host.begin(now, &device.begin(), [9; 32]).unwrap();
        let right = device.finish(&device.paired(&begun));
        let late = now + LONGEST_EXCHANGE;
        assert_eq!(code(&right, late, &mut host), Some(ErrorCode::PinOld));
    }

    #[test]
    fn messages_that_are_wrong_are_refused() {
        let mut host = Pairing::new(Allowed::Play, Asking::Anybody, None);
        let now = Time::from_secs(1);
        host.ask(now, Asking::Anybody, 7).unwrap();
        let good = Device::new("000007", 1).begin();
        for bad in [
            Begin {
                name: " ".to_owned(),
                ..good.clone()
            },
            Begin {
                session: "00".to_owned(),
                ..good.clone()
            },
            Begin {
                share: "zz".repeat(32),
                ..good.clone()
            },
            Begin {
                share: "00".repeat(32),
                ..good.clone()
            },
        ] {
            let error = host.begin(now, &bad, [9; 32]).unwrap_err().error;
            assert_eq!(error, ErrorCode::BadRequest, "{bad:?}");
        }
    }
}
