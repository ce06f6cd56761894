//! `mimosa`: the command line.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic when a pipe is closed, and pass on what a terminal obeys; see `terminal`"
)]

#[cfg(feature = "lab")]
mod bar;
#[cfg(feature = "lab")]
mod beside;
#[cfg(feature = "lab")]
mod campaign;
#[cfg(feature = "serve")]
mod devices;
#[cfg(feature = "serve")]
mod doctor;
#[cfg(feature = "lab")]
mod emulate;
#[cfg(feature = "lab")]
mod encode;
#[cfg(feature = "lab")]
mod fleet;
#[cfg(feature = "lab")]
mod lab;
#[allow(dead_code, reason = "what of it is used depends on the features")]
mod left_out;
#[cfg(feature = "lab")]
mod link;
#[cfg_attr(
    not(feature = "lab"),
    allow(unused, reason = "few commands write files")
)]
mod lock;
#[cfg(any(feature = "serve", feature = "play", feature = "proxy"))]
mod log;
#[cfg_attr(
    not(feature = "lab"),
    allow(unused, reason = "few commands write files")
)]
mod output;
#[cfg(feature = "play")]
mod pair;
#[cfg(feature = "play")]
mod play;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(feature = "lab")]
mod quality;
#[cfg(feature = "lab")]
mod report;
#[cfg(any(feature = "serve", feature = "play", feature = "proxy"))]
mod secret_file;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod service;
#[cfg(feature = "serve")]
mod sessions;
#[cfg(feature = "lab")]
mod sim;
#[cfg(feature = "lab")]
mod soak;
#[cfg_attr(
    not(feature = "lab"),
    allow(unused, reason = "few commands write files")
)]
mod terminal;
#[cfg(feature = "play")]
mod test_line;
#[cfg(feature = "lab")]
mod text;
#[cfg(feature = "lab")]
mod trace;
#[cfg(feature = "serve")]
mod urls;
mod version;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use terminal::say;

#[cfg(not(feature = "proxy"))]
use left_out::proxy;
#[cfg(not(feature = "lab"))]
use left_out::{
    lab, lab as campaign, lab as emulate, lab as encode, lab as fleet, lab as link, lab as quality,
    lab as report, lab as sim, lab as soak, lab as trace,
};
#[cfg(not(feature = "play"))]
use left_out::{play, play as pair, play as test_line};
#[cfg(not(feature = "serve"))]
use left_out::{
    serve, serve as devices, serve as doctor, serve as service, serve as sessions, serve as urls,
};

/// Interactive video with almost no queue in the network, and the proof of it.
#[derive(Parser)]
#[command(
    name = "mimosa",
    version,
    long_version = version::long(),
    about,
    propagate_version = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Stream a game, or the built-in scene, to a browser.
    #[command(
        after_help = "A flag wins over its environment variable, and that over the settings file."
    )]
    Serve(Box<serve::Args>),
    /// Play what a host streams.
    Play(Box<play::Args>),
    /// Find out in a few seconds what the line to a host is like: rate, delay, loss and medium.
    TestLine(test_line::Args),
    /// Make this machine known to a host by the PIN that the host shows.
    Pair(pair::Args),
    /// List the devices that have paired with this user's hosts, and rename or revoke them.
    Devices(devices::Args),
    /// List who is connected to this user's hosts, and end sessions.
    Sessions(sessions::Args),
    /// Print where this user's hosts are reached, as they printed it when they started.
    Urls(urls::Args),
    /// Put congestion control around an RTP application that has none: this program runs on both
    /// sides of the path.
    Proxy(Box<proxy::Args>),
    /// Look whether `serve` can run here with these settings, and what to do.
    Doctor(Box<doctor::Args>),
    /// Let systemd run `serve` for this user, from each log-in on.
    Service(service::Args),
    /// Run a scenario in virtual time and print what came of it.
    Sim(Box<sim::Args>),
    /// Run hosts and players whole, in virtual time, under faults drawn from seeds, and
    /// check the rules that always hold.
    Soak(soak::Args),
    /// Run a scenario in real time, with real packets across an emulated link, and print
    /// what came of it.
    Emulate(Box<emulate::Args>),
    /// Encode a clip as a host would, and print what its frames would wait for.
    Encode(encode::Args),
    /// Run a suite of scenarios for every controller and make a page of it.
    Lab(lab::Args),
    /// Study arms over the sessions of many users, on this machine or a cluster, by the Python
    /// package `mimosa_lab`.
    Fleet(fleet::Args),
    /// Compare arms over real paths between several machines, in blocks of sessions.
    Campaign(campaign::Args),
    /// Emulate a link between two hosts on this machine.
    Link(Box<link::Args>),
    /// Print what came of a recorded session or link and draw it as a page of HTML.
    Report(report::Args),
    /// Measure how far pictures are from those that they should be: PSNR, SSIM, VMAF.
    Quality(quality::Args),
    /// Describe, convert, change and make traces of links.
    Trace(trace::Args),
    /// Decode what a host sends, for the process of `play` that starts this one.
    #[cfg(feature = "play")]
    #[command(name = play::DECODER, hide = true)]
    Decoder(play::DecoderArgs),
    /// Print a shell's completion script.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in the format of man(1).
    Man,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(&args).ended(),
        Command::Play(args) => play::run(&args).ended(),
        #[cfg(feature = "play")]
        Command::Decoder(args) => return play::run_decoder(&args),
        Command::TestLine(args) => test_line::run(&args).ended(),
        Command::Pair(args) => pair::run(&args).ended(),
        Command::Devices(args) => devices::run(&args).ended(),
        Command::Sessions(args) => sessions::run(&args).ended(),
        Command::Urls(args) => urls::run(&args).ended(),
        Command::Proxy(args) => proxy::run(&args).ended(),
        Command::Doctor(args) => doctor::run(&args).ended(),
        Command::Service(args) => service::run(&args).ended(),
        Command::Sim(args) => sim::run(&args).ended(),
        Command::Soak(args) => soak::run(&args).ended(),
        Command::Emulate(args) => emulate::run(&args).ended(),
        Command::Encode(args) => encode::run(&args).ended(),
        Command::Lab(args) => lab::run(&args).ended(),
        Command::Fleet(args) => fleet::run(&args).ended(),
        Command::Campaign(args) => campaign::run(&args).ended(),
        Command::Link(args) => link::run(&args).ended(),
        Command::Report(args) => report::run(&args).ended(),
        Command::Quality(args) => quality::run(&args).ended(),
        Command::Trace(args) => trace::run(&args).ended(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "mimosa", &mut script);
            print(&String::from_utf8_lossy(&script)).ended()
        }
        Command::Man => manual()
            .and_then(|pages| print(&String::from_utf8_lossy(&pages)))
            .ended(),
    };
    result.unwrap_or_else(|error| {
        say(format_args!("error: {error}"));
        // The same exit code as for a wrong option: what was asked for is impossible.
        ExitCode::from(2)
    })
}

/// The result of a command.
trait Ended {
    /// The exit code, after the command's text is printed; or the error to print.
    fn ended(self) -> Result<ExitCode, String>;
}

impl<E: Display> Ended for Result<(), E> {
    fn ended(self) -> Result<ExitCode, String> {
        self.map(|()| ExitCode::SUCCESS)
            .map_err(|error| error.to_string())
    }
}

impl<E: Display> Ended for Result<ExitCode, E> {
    fn ended(self) -> Result<ExitCode, String> {
        self.map_err(|error| error.to_string())
    }
}

impl<E: Display> Ended for Result<String, E> {
    fn ended(self) -> Result<ExitCode, String> {
        let text = self.map_err(|error| error.to_string())?;
        print(&text).ended()
    }
}

/// The manual page of the command, followed by those of its subcommands.
fn manual() -> Result<Vec<u8>, String> {
    let mut pages = Vec::new();
    let mut render = |command: clap::Command| {
        clap_mangen::Man::new(command)
            .render(&mut pages)
            .map_err(|error| error.to_string())
    };
    let command = Cli::command();
    render(command.clone())?;
    let subcommands = command.get_subcommands();
    for subcommand in subcommands.filter(|subcommand| !subcommand.is_hide_set()) {
        let display = format!("mimosa {}", subcommand.get_name());
        render(subcommand.clone().bin_name(&display).display_name(display))?;
    }
    Ok(pages)
}

/// Prints `text` on standard output.
fn print(text: &str) -> Result<(), String> {
    terminal::print(text).map_err(|error| error.to_string())
}
