//! How to run a command on a machine.

/// A machine of a campaign.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Machine {
    /// Name of the machine in the campaign.
    pub name: String,
    /// How to run a command there.
    pub reach: Reach,
    /// Path of the `mimosa` program there.
    pub mimosa: String,
}

/// How to run a command on a machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reach {
    /// The command runs on the machine that drives the campaign.
    Here,
    /// The command runs by `ssh`.
    Ssh {
        /// Where `ssh` connects to, as in `USER@HOST`.
        destination: String,
        /// Options of `ssh`, before the destination.
        options: Vec<String>,
    },
    /// The command's words follow these words.
    Prefix(Vec<String>),
}

impl Machine {
    /// The words of a command on the driving machine that runs the command `words` on this one.
    ///
    /// `ssh` gives its words to a shell, so each of them is quoted for it.
    ///
    /// ```
    /// use mimosa_campaign::{Machine, Reach};
    ///
    /// let machine = Machine {
    ///     name: "far".to_owned(),
    ///     reach: Reach::Ssh { destination: "me@far".to_owned(), options: vec![] },
    ///     mimosa: "mimosa".to_owned(),
    /// };
    /// let words = machine.command(&["echo".to_owned(), "it's".to_owned()]);
    /// assert_eq!(words.last().map(String::as_str), Some(r"'echo' 'it'\''s'"));
    /// ```
    #[must_use]
    pub fn command(&self, words: &[String]) -> Vec<String> {
        match &self.reach {
            Reach::Here => words.to_vec(),
            Reach::Prefix(prefix) => [prefix, words].concat(),
            Reach::Ssh {
                destination,
                options,
            } => {
                // Nobody is there to answer questions, and a terminal would change the bytes.
                let mut all: Vec<String> = ["ssh", "-T", "-o", "BatchMode=yes"]
                    .map(str::to_owned)
                    .to_vec();
                all.extend(options.iter().cloned());
                all.extend(["--".to_owned(), destination.clone()]);
                let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                all.push(quoted.join(" "));
                all
            }
        }
    }

    /// How commands run on this machine, in words for a data sheet, which names no destination.
    #[must_use]
    pub const fn described(&self) -> &'static str {
        match &self.reach {
            Reach::Here => "the machine that drove the campaign",
            Reach::Ssh { .. } => "reached by ssh",
            Reach::Prefix(_) => "reached by a command of the campaign file",
        }
    }
}

/// `word` as one word of a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
