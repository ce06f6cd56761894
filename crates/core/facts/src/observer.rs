//! The trait of what watches a run: figures, recordings and tests.

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::frame::FrameLife;
use crate::page::PageLoad;
use crate::passage::{Passage, StreamPacket};
use crate::run::{FlowPacket, RunEnd};

/// Defines the trait, and the observers that pass everything on: a method that stands here is
/// forwarded by all of them.
macro_rules! observer {
    (
        $(#[$about:meta])*
        pub trait Observer {
            $(
                $(#[$doc:meta])*
                fn $method:ident($($argument:ident: $type:ty),+);
            )+
        }
    ) => {
        $(#[$about])*
        pub trait Observer {
            $(
                $(#[$doc])*
                fn $method(&mut self, $($argument: $type),+) {
                    let _ = ($($argument,)+);
                }
            )+
        }

        /// Both see everything, the left one first.
        impl<A: Observer, B: Observer> Observer for (A, B) {
            $(
                fn $method(&mut self, $($argument: $type),+) {
                    self.0.$method($($argument),+);
                    self.1.$method($($argument),+);
                }
            )+
        }

        /// Sees when it is there.
        impl<O: Observer> Observer for Option<O> {
            $(
                fn $method(&mut self, $($argument: $type),+) {
                    if let Some(observer) = self {
                        observer.$method($($argument),+);
                    }
                }
            )+
        }

        /// Sees for its owner, who asks it afterwards.
        impl<O: Observer + ?Sized> Observer for &mut O {
            $(
                fn $method(&mut self, $($argument: $type),+) {
                    (**self).$method($($argument),+);
                }
            )+
        }
    };
}

observer! {
    /// Watches a run of a network, simulated or emulated.
    ///
    /// Each event is told once, in the order in which the run works events out. An arrival
    /// that is certain may be told ahead of earlier events of other flows. Flows and links
    /// have their numbers in the scenario, counted from zero.
    pub trait Observer {
        /// A flow has offered a packet to the first queue of its route.
        fn offered(packet: &FlowPacket);

        /// The link with this number has sent the last bit of a packet of this size, a
        /// report's or a flow's, at `finished`, after a wait in its queue.
        fn served(link: usize, finished: Time, size: Bytes, wait: TimeDelta);

        /// A packet's fate is known: it was dropped or lost, or is certain to arrive.
        fn packet(passage: &Passage<StreamPacket>);

        /// A packet has arrived at its flow's receiver at `at`, before the end of the run.
        fn arrived(at: Time, packet: &FlowPacket);

        /// A datagram of a report of this size, headers included, has left a flow's receiver
        /// at `at`.
        fn reported(flow: usize, at: Time, size: Bytes);

        /// A frame's life has ended; at the end of the run, frames still on their way come
        /// without an end of their life.
        fn frame(flow: usize, life: &FrameLife);

        /// A flow has loaded a web page.
        fn page(flow: usize, load: &PageLoad);

        /// The run is over; nothing is told afterwards.
        fn ended(end: &RunEnd);
    }
}

/// Ignores everything, at no cost.
impl Observer for () {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of what was told, in their order.
    #[derive(Default)]
    struct Told(Vec<&'static str>);

    impl Observer for Told {
        fn offered(&mut self, _: &FlowPacket) {
            self.0.push("offered");
        }

        fn served(&mut self, _: usize, _: Time, _: Bytes, _: TimeDelta) {
            self.0.push("served");
        }

        fn ended(&mut self, _: &RunEnd) {
            self.0.push("ended");
        }
    }

    fn tell(observer: &mut impl Observer) {
        observer.offered(&FlowPacket {
            flow: 0,
            size: Bytes::new(1),
            offered: Time::ZERO,
        });
        observer.served(0, Time::ZERO, Bytes::new(1), TimeDelta::ZERO);
        observer.ended(&RunEnd::default());
    }

    #[test]
    fn everything_is_passed_on_to_each_observer_that_is_there() {
        let mut lent = Told::default();
        let mut all = ((Some(Told::default()), None::<Told>), (&mut lent, ()));
        tell(&mut all);
        let ((present, absent), _) = all;
        let expected = ["offered", "served", "ended"];
        assert_eq!(present.map(|told| told.0).as_deref(), Some(&expected[..]));
        assert_eq!(absent.map(|told| told.0), None);
        assert_eq!(lent.0, expected);
    }
}
