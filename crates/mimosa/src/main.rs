//! `mimosa`: the command line.

mod beside;
mod doctor;
mod emulate;
mod encode;
mod lab;
mod link;
mod log;
mod play;
mod quality;
mod report;
mod serve;
mod sim;
mod trace;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Interactive video with almost no queue in the network, and the proof of it.
#[derive(Parser)]
#[command(version, about, propagate_version = true)]
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
    /// Look whether `serve` can run here with these settings, and what to do.
    Doctor(Box<doctor::Args>),
    /// Run a scenario in virtual time and print what came of it.
    Sim(Box<sim::Args>),
    /// Run a scenario in real time, with real packets across an emulated link, and print
    /// what came of it.
    Emulate(Box<emulate::Args>),
    /// Encode a clip as a host would, and print what its frames would wait for.
    Encode(encode::Args),
    /// Run a suite of scenarios for every controller and make a page of it.
    Lab(lab::Args),
    /// Emulate a link between two hosts on this machine.
    Link(Box<link::Args>),
    /// Print what came of a recorded session or link and draw it as a page of HTML.
    Report(report::Args),
    /// Measure how far pictures are from those that they should be: PSNR, SSIM, VMAF.
    Quality(quality::Args),
    /// Describe, convert, change and make traces of links.
    Trace(trace::Args),
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
        Command::Serve(args) => serve::run(&args).map_err(|error| error.to_string()),
        Command::Play(args) => play::run(&args).map_err(|error| error.to_string()),
        Command::Doctor(args) => match doctor::run(&args) {
            Ok(false) => return ExitCode::FAILURE,
            result => result.map(drop),
        },
        Command::Sim(args) => sim::run(&args).map_err(|error| error.to_string()),
        Command::Emulate(args) => emulate::run(&args).map_err(|error| error.to_string()),
        Command::Encode(args) => encode::run(&args).map_err(|error| error.to_string()),
        Command::Lab(args) => lab::run(&args).map_err(|error| error.to_string()),
        Command::Link(args) => match link::run(&args) {
            Ok(code) => return code,
            Err(error) => Err(error.to_string()),
        },
        Command::Report(args) => report::run(&args)
            .map_err(|error| error.to_string())
            .and_then(|text| print(text.as_bytes())),
        Command::Quality(args) => quality::run(&args)
            .map_err(|error| error.to_string())
            .and_then(|text| print(text.as_bytes())),
        Command::Trace(args) => trace::run(&args).map_err(|error| error.to_string()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "mimosa", &mut script);
            print(&script)
        }
        Command::Man => manual().and_then(|pages| print(&pages)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            // As for a wrong option: what was asked for cannot be done.
            ExitCode::from(2)
        }
    }
}

/// The page of the command, followed by those of its subcommands.
fn manual() -> Result<Vec<u8>, String> {
    let mut pages = Vec::new();
    let mut render = |command: clap::Command| {
        clap_mangen::Man::new(command)
            .render(&mut pages)
            .map_err(|error| error.to_string())
    };
    let command = Cli::command();
    render(command.clone())?;
    for subcommand in command.get_subcommands() {
        let display = format!("mimosa {}", subcommand.get_name());
        render(subcommand.clone().bin_name(&display).display_name(display))?;
    }
    Ok(pages)
}

/// To standard output; a reader that has gone away is no error.
fn print(text: &[u8]) -> Result<(), String> {
    match std::io::stdout().write_all(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}
