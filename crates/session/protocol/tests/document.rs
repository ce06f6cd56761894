//! Checks that the messages are those of `docs/embed/protocol.md`.

use mimosa_protocol::control::{Decided, FromPage, ToPage};
use mimosa_protocol::info::Info;
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::relay::IceServers;
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../../docs/embed/protocol.md");

fn examples() -> Vec<&'static str> {
    let mut blocks = DOCUMENT.split("```json\n");
    blocks.next();
    blocks
        .filter_map(|block| block.split("```").next())
        .collect()
}

/// The example of the host's statistics.
fn statistics() -> Option<&'static str> {
    let mut all = examples().into_iter();
    all.find(|example| example.contains("\"type\": \"statistics\""))
}

/// Whether two values are equal, where a number may be written with or without a fraction.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| is_same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, l)| right.get(key).is_some_and(|r| is_same(l, r)))
        }
        _ => left == right,
    }
}

#[test]
fn every_example_is_read_and_written_back() {
    let mut seen = Vec::new();
    for example in examples() {
        let value: Value = serde_json::from_str(example).unwrap();
        let untyped = if value["ice_servers"].is_array() {
            "relay"
        } else {
            "info"
        };
        let kind = value["type"].as_str().unwrap_or(untyped);
        let written = match kind {
            "info" => {
                serde_json::to_string(&serde_json::from_str::<Info>(example).unwrap()).unwrap()
            }
            "relay" => serde_json::to_string(&serde_json::from_str::<IceServers>(example).unwrap())
                .unwrap(),
            "client" | "limit" | "test-line" => {
                FromPage::parse(example.as_bytes()).unwrap().to_json()
            }
            _ => ToPage::parse(example.as_bytes()).unwrap().to_json(),
        };
        let written: Value = serde_json::from_str(&written).unwrap();
        assert!(is_same(&written, &value), "{written}\nis not\n{value}");
        seen.push(kind.to_owned());
    }
    assert_eq!(
        seen,
        [
            "info",
            "relay",
            "hello",
            "statistics",
            "notice",
            "feedback",
            "candidates",
            "clipboard",
            "client",
            "limit",
            "test-line",
            "line"
        ]
    );
}

#[test]
fn a_value_that_is_not_known_is_null() {
    let mut value: Value = serde_json::from_str(statistics().unwrap()).unwrap();
    for key in ["target", "utilisation", "state", "rtt", "loss", "quantiser"] {
        value[key] = Value::Null;
    }
    for key in ["capture", "total"] {
        value["stages"][key] = Value::Null;
    }
    let read = ToPage::parse(value.to_string().as_bytes()).unwrap();
    let written: Value = serde_json::from_str(&read.to_json()).unwrap();
    assert!(is_same(&written, &value), "{written}\nis not\n{value}");
}

/// A message without `decision`, or with a part of it, is understood.
#[test]
fn a_decision_may_be_left_out() {
    let mut value: Value = serde_json::from_str(statistics().unwrap()).unwrap();
    let decision = |value: &Value| match ToPage::parse(value.to_string().as_bytes()) {
        Ok(ToPage::Statistics(statistics)) => statistics.decision,
        other => panic!("{other:?}"),
    };
    value["decision"] = serde_json::json!({ "backlog": 7 });
    let part = Decided {
        backlog: Some(7),
        ..Decided::default()
    };
    assert_eq!(decision(&value), part);
    value.as_object_mut().unwrap().remove("decision");
    assert_eq!(decision(&value), Decided::default());
}

#[test]
fn the_table_of_errors_has_every_code_and_no_other() {
    let rows = DOCUMENT.lines().filter_map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let status: u16 = cells.next()?.parse().ok()?;
        let code = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        Some((status, code))
    });
    let codes = ErrorCode::ALL.map(|code| (code.status(), code.name()));
    assert_eq!(rows.collect::<Vec<_>>(), codes);
}

#[test]
fn a_problem_is_written_with_the_code_of_the_table() {
    for error in ErrorCode::ALL {
        let problem = Problem::new(error, "do this".to_owned());
        let value = serde_json::to_value(&problem).unwrap();
        assert_eq!(value["error"], error.name());
        assert_eq!(value["message"], "do this");
        assert_eq!(serde_json::from_value::<Problem>(value).unwrap(), problem);
    }
}
