//! Tests that read every kind of queue from its keys, and that check what each refuses
//! and at which place.

use mimosa_units::Rate;
use serde::Deserialize;

use super::*;
use crate::medium::MediumConfig;
use crate::queue::Classes;

#[derive(Deserialize)]
struct File {
    queue: Spanned<Table>,
    class: Option<Vec<Spanned<Table>>>,
}

fn read(text: &str) -> Result<QueueConfig, KeyError> {
    let file: File = toml::from_str(text).unwrap();
    let around = Surroundings {
        slowest: Rate::from_kbps(1_000),
        largest: Bytes::new(1_200),
        flows: &["game".to_owned()],
        classes: match &file.class {
            None => Classes::None,
            Some(tables) => Classes::Given(tables),
        },
    };
    QueueConfig::read(&file.queue, &around)
}

/// The part of the file that is refused, and the message.
fn refused(text: &str) -> (&str, String) {
    let error = read(text).unwrap_err();
    (&text[error.at.clone()], error.to_string())
}

const CLASS: &str = "[[class]]\nname = 'all'\nrate = '1Mbit/s'\n";

#[test]
fn every_kind_is_read_and_refuses_what_it_does_not_have() {
    for kind in QueueConfig::NAMES {
        let least = match *kind {
            "droptail" => "limit = '9kB'",
            "token-bucket" => "rate = '1Mbit/s'\nburst = '2kB'",
            _ => "",
        };
        let text = format!("[queue]\n{least}\nkind = '{kind}'\n");
        match read(&format!("{text}{CLASS}")) {
            Ok(config) => assert!(!config.lanes().is_empty()),
            // This kind has more required keys.
            Err(error) => {
                assert!(
                    matches!(error.problem, KeyProblem::Missing { .. }),
                    "{error}"
                );
                continue;
            }
        }
        let text = format!("{text}zeal = 1\n\nardour = 2\n{CLASS}");
        let (at, why) = refused(&text);
        assert_eq!(at, "zeal", "the first in the file");
        let begin = format!("`zeal` means nothing for a queue of kind \"{kind}\", which has ");
        assert!(why.starts_with(&begin), "{why}");
    }
}

#[test]
fn every_kind_has_a_row_in_the_documentation() {
    let page = include_str!("../../../../../docs/use/simulation.md");
    for (title, names) in [
        ("Queues\n", QueueConfig::NAMES),
        ("Media\n", MediumConfig::NAMES),
    ] {
        let rows = page.split("### ").find(|part| part.starts_with(title));
        let rows = rows
            .unwrap()
            .lines()
            .filter_map(|line| line.strip_prefix("| `"));
        let kinds = rows.filter_map(|row| Some(row.split_once('`')?.0));
        let kinds = kinds.filter(|kind| *kind != "kind");
        assert_eq!(kinds.collect::<Vec<_>>(), names);
    }
}

#[test]
fn the_list_of_keys_is_what_was_asked_for() {
    for (kind, known) in [
        (
            "fq-codel",
            "limit, target, interval, mtu, ecn, ce_threshold, flows, quantum, memory, drop_batch",
        ),
        (
            "pie",
            "limit, target, update, burst_allowance, alpha, beta, ecn_threshold, sleeps",
        ),
        (
            "dualpi2",
            "limit, preset, target, update, alpha, beta, coupling, step, ramp, classic_share, shift, drop_on_overload, mtu",
        ),
        (
            "sfq",
            "limit, flows, divisor, quantum, depth, perturb, head_drop",
        ),
        ("htb", "default, r2q, direct_limit"),
    ] {
        let text = format!("[queue]\nkind = '{kind}'\nzeal = 1\n{CLASS}");
        let (_, why) = refused(&text);
        assert!(why.ends_with(&format!("which has {known}")), "{why}");
    }
}

#[test]
fn a_value_is_refused_where_it_stands() {
    for (queue, at, why) in [
        (
            "kind = 'codel', target = '0s'",
            "'0s'",
            "`target` must be longer than zero",
        ),
        (
            "kind = 'codel', ecn = 3",
            "3",
            "invalid type: integer `3`, expected a boolean",
        ),
        (
            "kind = 'sfq', flows = 0",
            "0",
            "`flows` must be a number from 1 to 65536",
        ),
        (
            "kind = 'pie', alpha = -1",
            "-1",
            "`alpha` must be a number from 0 to 1000000",
        ),
        (
            "kind = 'dualpi2', ramp = { from = '1ms', until = '2ms' }",
            "{ from = '1ms', until = '2ms' }",
            "missing field `width`",
        ),
        (
            "kind = 'dualpi2', ramp = { from = '1ms', width = '2ms', until = '3ms' }",
            "until",
            "unknown field `until`, expected `from` or `width`",
        ),
        ("limit = '9kB'", "{ limit = '9kB' }", "missing field `kind`"),
    ] {
        let text = format!("queue = {{ {queue} }}");
        assert_eq!(refused(&text), (at, why.to_owned()));
    }
}

#[test]
fn a_kind_that_does_not_exist_is_refused_with_those_that_do() {
    let bucket = "kind = 'token-bucket', rate = '1Mbit/s', burst = '2kB'";
    let text = format!("queue = {{ {bucket}, inner = {{ kind = 'red' }} }}");
    let kinds = QueueConfig::NAMES.join(", ");
    let why = format!("there is no queue `red`; there is {kinds}");
    assert_eq!(refused(&text), ("'red'", why));
}

#[test]
fn a_date_is_refused_where_it_stands() {
    let text = "queue = { kind = 'codel', mtu = 2000-01-01 }";
    let error = toml::from_str::<File>(text).err().unwrap();
    assert_eq!(error.message(), "a date means nothing here");
    assert_eq!(error.span().map(|at| &text[at]), Some("2000-01-01"));
}

#[test]
fn the_keys_of_a_class_are_its_own() {
    let with = |more: &str| format!("[queue]\nkind = 'htb'\n{CLASS}{more}\n");
    let text = with("match = [{ dscp = 1 },\n{ dscp = 64 }]");
    assert_eq!(
        refused(&text),
        ("64", "`dscp` must be a number from 0 to 63".to_owned())
    );
    let text = with("flows = ['game', 'film']");
    assert_eq!(
        refused(&text),
        (
            "'film'",
            "there is no flow `film`; there is game".to_owned()
        )
    );
    let text = with("zeal = 1");
    let (at, why) = refused(&text);
    assert_eq!(at, "zeal");
    assert!(why.starts_with("unknown field `zeal`, expected one of `name`, `parent`, `rate`"));
}

/// If the classes were read again for a queue within one of them, reading would never end.
#[test]
fn classes_have_no_classes_however_deep() {
    for inner in [
        "{ kind = 'htb' }",
        "{ kind = 'token-bucket', rate = '1Mbit/s', burst = '2kB', inner = { kind = 'htb' } }",
    ] {
        let text = format!("[queue]\nkind = 'htb'\n{CLASS}queue = {inner}\n");
        let why = "`kind = \"htb\"` means nothing for a class; give classes a `parent` instead; \
                   remove it";
        assert_eq!(refused(&text), ("{ kind = 'htb' }", why.to_owned()));
    }
}

#[test]
fn a_limit_of_very_many_packets_is_very_many_bytes() {
    let limit = format!("limit = '{}packets'", usize::MAX);
    let config = read(&format!("queue = {{ kind = 'dualpi2', {limit} }}")).unwrap();
    let QueueConfig::DualPi2(config) = config else {
        panic!("{config:?}");
    };
    assert_eq!(config.limit, Bytes::MAX);
}
