//! Stands in for commands that this program was built without. `mimosa --help` lists them, and they
//! answer with how to build a program that has them.

use std::ffi::OsString;

/// The arguments of such a command: any.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Args {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    ignored: Vec<OsString>,
}

/// A part of the program that can be left out, by its feature.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Serve,
    Play,
    Proxy,
    Window,
    Lab,
}

impl Part {
    /// The cargo feature of `mimosa-cli` that builds the part in.
    pub(crate) const fn feature(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::Play => "play",
            Self::Proxy => "proxy",
            Self::Window => "window",
            Self::Lab => "lab",
        }
    }

    /// The target of `make` that builds the part in.
    pub(crate) const fn target(self) -> &'static str {
        match self {
            Self::Serve => "make play",
            Self::Play | Self::Window => "make client",
            Self::Lab | Self::Proxy => "make all",
        }
    }

    /// How to build a program that has the part.
    pub(crate) fn remedy(self) -> String {
        format!(
            "build one with `{}`, or with `cargo build --release -p mimosa-cli --features {}`",
            self.target(),
            self.feature()
        )
    }

    /// The error for a command that needs the part.
    pub(crate) fn error(self) -> String {
        format!(
            "this program was built without `{}`, which this needs; {}",
            self.feature(),
            self.remedy()
        )
    }
}

/// Stands in for the commands that run a host.
#[cfg(any(test, not(feature = "serve")))]
pub(crate) mod serve {
    pub(crate) use super::Args;

    /// Returns the error that says how to build a program with the command.
    pub(crate) fn run(_: &Args) -> Result<(), String> {
        Err(super::Part::Serve.error())
    }
}

/// Stands in for the native client.
#[cfg(any(test, not(feature = "play")))]
pub(crate) mod play {
    pub(crate) use super::Args;

    /// Returns the error that says how to build a program with the command.
    pub(crate) fn run(_: &Args) -> Result<(), String> {
        Err(super::Part::Play.error())
    }
}

/// Stands in for the proxy.
#[cfg(any(test, not(feature = "proxy")))]
pub(crate) mod proxy {
    pub(crate) use super::Args;

    /// Returns the error that says how to build a program with the command.
    pub(crate) fn run(_: &Args) -> Result<(), String> {
        Err(super::Part::Proxy.error())
    }
}

/// Stands in for the commands that simulate, emulate, measure and draw.
#[cfg(any(test, not(feature = "lab")))]
pub(crate) mod lab {
    pub(crate) use super::Args;

    /// Returns the error that says how to build a program with the command.
    pub(crate) fn run(_: &Args) -> Result<(), String> {
        Err(super::Part::Lab.error())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_command_that_is_left_out_takes_anything_and_says_how_to_build_it() {
        for line in [
            "x",
            "x --help",
            "x -V",
            "x run --seeds 1..3 file.toml -- -v",
        ] {
            let args = Alone::try_parse_from(line.split(' ')).map_err(|error| error.to_string());
            let args = args.unwrap_or_else(|error| panic!("{line}: {error}")).args;
            assert_eq!(args.ignored.len(), line.split(' ').count() - 1, "{line}");
            for (result, target, feature) in [
                (serve::run(&args), "`make play`", "--features serve`"),
                (play::run(&args), "`make client`", "--features play`"),
                (proxy::run(&args), "`make all`", "--features proxy`"),
                (lab::run(&args), "`make all`", "--features lab`"),
            ] {
                let error = result.unwrap_err();
                assert!(error.contains(target) && error.contains(feature), "{error}");
            }
        }
    }
}
