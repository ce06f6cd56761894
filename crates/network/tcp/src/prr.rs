//! Proportional rate reduction: RFC 6937, with the slow-start reduction bound
//! chosen per acknowledgement as in RFC 9937 and Linux.
//!
//! While the window is being reduced, the bytes that leave are the bytes that arrive times the
//! ratio of the reduction, so that the flight shrinks evenly over one round trip.

#[derive(Clone, Debug, Default)]
pub(crate) struct Prr {
    /// Bytes in flight when the reduction began.
    flight: u64,
    delivered: u64,
    sent: u64,
    /// How many bytes may be in flight now.
    window: u64,
}

impl Prr {
    /// Begins a reduction with `flight` bytes not yet delivered.
    pub(crate) fn begin(&mut self, flight: u64, window: u64) {
        *self = Self {
            flight: flight.max(1),
            delivered: 0,
            sent: 0,
            window,
        };
    }

    pub(crate) const fn on_sent(&mut self, bytes: u64) {
        self.sent = self.sent.saturating_add(bytes);
    }

    /// Takes an acknowledgement of `delivered` bytes that leaves `in_flight` bytes. `target` is the
    /// window at the end of the reduction. `is_safe` says that the acknowledgement advanced the
    /// stream without showing further loss.
    pub(crate) fn on_ack(
        &mut self,
        delivered: u64,
        in_flight: u64,
        target: u64,
        mss: u64,
        is_safe: bool,
    ) {
        self.delivered = self.delivered.saturating_add(delivered);
        let allowance = if in_flight > target {
            let share = u128::from(self.delivered) * u128::from(target);
            let share = share.div_ceil(u128::from(self.flight));
            u64::try_from(share)
                .unwrap_or(u64::MAX)
                .saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            let owed = if is_safe { owed + mss } else { owed };
            owed.min(target - in_flight)
        };
        // The first retransmission always leaves.
        let allowance = if self.sent == 0 {
            allowance.max(mss)
        } else {
            allowance
        };
        self.window = in_flight.saturating_add(allowance);
    }

    pub(crate) const fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_arrives_leaves_when_the_window_is_halved() {
        let (mss, flight) = (1, 100);
        let mut prr = Prr::default();
        prr.begin(flight, flight);
        let mut in_flight = flight - 1;
        let mut sent = 0;
        for _ in 0..99 {
            in_flight -= 1;
            prr.on_ack(1, in_flight, flight / 2, mss, false);
            while in_flight < prr.window() {
                prr.on_sent(1);
                in_flight += 1;
                sent += 1;
            }
        }
        assert!((49..=51).contains(&sent), "{sent} sent");
        assert!((49..=51).contains(&in_flight), "{in_flight} in flight");
    }
}
