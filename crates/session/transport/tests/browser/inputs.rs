//! What the fuzz targets `description` and `connection` do, with their initial inputs and with random ones. `make fuzz`
//! looks for inputs by the branches that they take, which wants this crate and those below it compiled another time.

use std::path::Path;

use proptest::prelude::*;

#[path = "../inputs/connection.rs"]
mod connection;
#[path = "../inputs/description.rs"]
mod description;

const OFFERS: [&str; 2] = [
    include_str!("../offers/chromium-156.sdp"),
    include_str!("../offers/chromium-156-ccfb.sdp"),
];

/// A browser's offer with up to three lines replaced, repeated or left out, and up to three bytes replaced.
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

/// Gives a target its initial inputs, among them those that have made it fail.
fn initial(target: &str, input: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds");
    let files: Vec<_> = folder.join(target).read_dir().unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        let path = file.unwrap().path();
        println!("{}", path.display());
        input(&std::fs::read(path).unwrap());
    }
}

#[test]
fn initial_descriptions_are_answered_or_refused() {
    initial("description", description::input);
}

#[test]
fn initial_connections_keep_to_their_rules() {
    initial("connection", connection::input);
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
