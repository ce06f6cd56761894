//! What the fuzz targets `description` and `connection` do, over seeds: `make fuzz` looks for inputs by the branches
//! that they take, which wants the crate and those below it compiled another time.

use proptest::prelude::*;

#[path = "../inputs/connection.rs"]
mod connection;
#[path = "../inputs/description.rs"]
mod description;

const OFFERS: [&str; 2] = [
    include_str!("../offers/chromium-156.sdp"),
    include_str!("../offers/chromium-156-ccfb.sdp"),
];

/// An offer of a browser's, of whose lines some are another, twice there or gone, and of whose bytes some are others.
fn description() -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..3_u8,
    );
    let lines = prop::collection::vec(change, 0..4);
    let bytes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (0..OFFERS.len(), lines, bytes).prop_map(|(which, lines, bytes)| {
        let mut offer: Vec<&str> = OFFERS[which].split_inclusive('\n').collect();
        for (place, other, what) in lines {
            let (place, other) = (place.index(offer.len()), other.index(offer.len()));
            match what {
                0 => offer[place] = offer[other],
                1 => offer.insert(place, offer[other]),
                _ => drop(offer.remove(place)),
            }
        }
        let mut offer = offer.concat().into_bytes();
        for (place, byte) in bytes {
            let place = place.index(offer.len());
            offer[place] = byte;
        }
        offer
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_changed_description_is_answered_or_refused(text in description()) {
        description::input(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_happens_to_datagrams_a_connection_keeps_to_its_rules(
        steps in prop::collection::vec(prop_oneof![3 => 0..41_u8, 1 => any::<u8>()], 0..300)
    ) {
        connection::input(&steps);
    }
}
