//! `mimosa test-line`: what the line to a host is like.

use std::path::PathBuf;

use clap::Args as Arguments;
use mimosa_client::{Address, ConnectionConfig, DataPlan, test_line};
use mimosa_protocol::control::{LineReport, Role};
use mimosa_session::viewer::SessionConfig;

use crate::secret_file;

/// Most sentences of a host that are printed; ours has at most six.
const MOST_WORDS: usize = 12;

/// Which line, and how the result is printed.
#[derive(Arguments)]
pub(crate) struct Args {
    /// The host, as `mimosa serve` prints it: https://HOST:PORT/#token=TOKEN&key=KEY
    #[arg(value_name = "URL")]
    address: String,
    /// The host's token, in place of the address's
    #[arg(long)]
    token: Option<String>,
    /// A file with the host's token, which `ps` does not show
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Print JSON in place of the table
    #[arg(long)]
    json: bool,
}

/// Asks the host for a test, and returns the result as text.
pub(crate) fn run(args: &Args) -> Result<String, String> {
    let file = args.token_file.as_deref().map(secret_file::read);
    let file = file.transpose().map_err(|error| error.to_string())?;
    let address = Address::parse(&args.address).map_err(|error| error.to_string())?;
    let config = ConnectionConfig {
        address: address
            .with_token(file.or_else(|| args.token.clone()))
            .or_paired(),
        role: Role::Viewer,
        session: SessionConfig::default(),
        data: DataPlan::default(),
    };
    let report =
        test_line(config).map_err(|error| mimosa_units::one_line(&error.to_string(), 1_000))?;
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        return Ok(json + "\n");
    }
    Ok(table(&report))
}

/// The result as lines of a name and a value, and in plain words.
fn table(report: &LineReport) -> String {
    let least = |is_least| if is_least { "at least " } else { "" };
    let millis = |span: mimosa_protocol::control::Millis| format!("{:.1} ms", span.0.as_millis());
    let share = |share: f64| format!("{:.2} %", share * 100.0);
    let unknown = || "unknown: the test could not fill the line".to_owned();
    let buffer = report.buffer.map_or_else(unknown, |buffer| {
        let least = least(buffer.is_least);
        format!(
            "{least}{}, {least}{} kB",
            millis(buffer.delay),
            buffer.size / 1_000
        )
    });
    let rows = [
        (
            "rate",
            format!(
                "{}{:.1} Mbit/s",
                least(report.rate_is_least),
                report.rate.0.as_mbps()
            ),
        ),
        ("round trip", millis(report.round_trip)),
        ("jitter at rest", millis(report.jitter)),
        ("buffer", buffer),
        (
            "bufferbloat",
            report.grade.map_or_else(unknown, String::from),
        ),
        ("loss at rest", share(report.loss_at_rest)),
        (
            "loss when full",
            report.loss_when_full.map_or_else(unknown, share),
        ),
        (
            "takes at once",
            format!(
                "{}{} kB",
                least(report.burst_is_least),
                report.burst / 1_000
            ),
        ),
        ("medium", mimosa_units::one_line(&report.medium, 40)),
        (
            "the test",
            format!(
                "{:.1} MB in {:.1} s",
                report.spent as f64 / 1e6,
                report.took.0.as_secs()
            ),
        ),
    ];
    let rows = rows.map(|(name, value)| format!("{name:<16}{value}\n"));
    let words = report.words.iter().take(MOST_WORDS);
    let words = words.map(|word| format!("\n{}", mimosa_units::one_line(word, 400)));
    rows.into_iter().chain(words).collect::<String>() + "\n"
}
