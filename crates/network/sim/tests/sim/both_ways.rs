//! The network of a scenario, for an emulator.

use mimosa_net::LossModel;
use mimosa_scenario::{LoadedNetwork, Network, load_network};
use mimosa_units::{Rate, Time, TimeDelta};

fn read(text: &str) -> Result<LoadedNetwork, String> {
    load_network(text, "path.toml", &mut ()).map_err(|error| error.to_string())
}

fn network(text: &str) -> Network {
    read(text).unwrap().variants.remove(0).1
}

fn rate(way: &mimosa_scenario::Way) -> Rate {
    let schedule = &way.link.schedule;
    let mut steps = schedule.steps(Time::ZERO, Time::from_millis(1));
    steps.next().unwrap().1
}

#[test]
fn without_a_table_of_its_own_the_way_back_has_no_rate() {
    let network = network(
        "[link]\nrate = '8Mbit/s'\none_way_delay = '5ms'\nreturn_delay = '9ms'\nreturn_loss = 0.1\n",
    );
    assert_eq!(rate(&network.there), Rate::from_kbps(8_000));
    assert_eq!(rate(&network.back), Rate::MAX);
    assert_eq!(network.there.path.delay, TimeDelta::from_millis(5));
    assert_eq!(network.back.path.delay, TimeDelta::from_millis(9));
    assert_eq!(network.back.path.loss, LossModel::Random(0.1));
}

#[test]
fn the_way_back_may_have_rate_queue_and_classes() {
    let network = network(
        r#"
        [link]
        rate = "8Mbit/s"
        one_way_delay = "5ms"
        [link.reverse]
        rate = "2Mbit/s"
        loss = 0.2
        queue = { kind = "htb", default = "rest" }
        [[link.reverse.class]]
        name = "rest"
        rate = "1Mbit/s"
        "#,
    );
    assert_eq!(rate(&network.back), Rate::from_kbps(2_000));
    // As there, as nothing else is said.
    assert_eq!(network.back.path.delay, TimeDelta::from_millis(5));
    assert_eq!(network.back.path.loss, LossModel::Random(0.2));
    assert_eq!(network.back.link.queue.lanes(), ["direct", "rest"]);
    assert_eq!(network.there.link.queue.lanes(), ["droptail"]);
}

#[test]
fn every_variant_has_its_network() {
    let loaded = read(
        "[link]\nrate = '8Mbit/s'\n[[variant]]\nname = 'slow'\nlink.rate = '1Mbit/s'\n[[variant]]\nname = 'as is'\n",
    )
    .unwrap();
    let rates: Vec<_> = loaded
        .variants
        .iter()
        .map(|(name, network)| (name.as_deref().unwrap(), rate(&network.there).as_mbps()))
        .collect();
    assert_eq!(rates, [("slow", 1.0), ("as is", 8.0)]);
}

#[test]
fn flows_of_classes_are_noted() {
    let loaded = read(
        r#"
        [link]
        rate = "8Mbit/s"
        queue = { kind = "htb" }
        [[link.class]]
        name = "game"
        rate = "1Mbit/s"
        flows = ["flow1"]
        [[flow]]
        "#,
    )
    .unwrap();
    assert_eq!(loaded.notes.len(), 1);
    assert_eq!(loaded.notes[0].0.line, 8);
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    for (text, message) in [
        ("seed = 3\n", "path.toml:1: `[link]` is missing"),
        (
            "[link]\nrate = '1Mbit/s'\nreturn_aggregation = '5ms'\n",
            "path.toml:3: `return_aggregation` means nothing for an emulated link",
        ),
        (
            "[link]\nrate = '1Mbit/s'\n[[link.next]]\nrate = '1Mbit/s'\n",
            "path.toml:3: `next` means nothing for an emulated link",
        ),
        (
            "[link]\nrate = '1Mbit/s'\nreturn_loss = 0.1\n[link.reverse]\nloss = 0.2\n",
            "path.toml:4: `return_loss` and `[link.reverse]` exclude each other",
        ),
        (
            "[link]\nrate = '1Mbit/s'\n[link.reverse]\nreturn_delay = '1ms'\n",
            "path.toml:4: `return_delay` means nothing for `[link.reverse]`",
        ),
        (
            "[link]\nrate = '1Mbit/s'\n[link.reverse]\nrate = '0Mbit/s'\n",
            "path.toml:4: `rate` must be above zero",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
}
