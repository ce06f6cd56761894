//! Names of controllers that are not part of the program.

/// The name of a controller from outside the program, as settings and scenarios have it:
/// `wasm:FILE` or `process:COMMAND`.
///
/// ```
/// use mimosa_foreign::OutsideName;
///
/// let name = OutsideName::of("process:python3 aimd.py");
/// assert_eq!(name, Some(OutsideName::Process { command: "python3 aimd.py" }));
/// assert_eq!(OutsideName::of("wasm:aimd.wasm"), Some(OutsideName::Wasm { file: "aimd.wasm" }));
/// assert_eq!(OutsideName::of("pudica"), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OutsideName<'a> {
    /// A WebAssembly module or component.
    Wasm {
        /// Path of the module's file.
        file: &'a str,
    },
    /// A process that reads events and writes decisions.
    Process {
        /// The command that starts the process.
        command: &'a str,
    },
}

impl<'a> OutsideName<'a> {
    /// The forms of such names, for messages.
    pub const FORMS: &'static str = "`wasm:FILE` and `process:COMMAND`";

    /// Reads a controller's name; `None` if it has neither form. What follows the colon may be
    /// empty.
    #[must_use]
    pub fn of(name: &'a str) -> Option<Self> {
        let (form, rest) = name.split_once(':')?;
        let rest = rest.trim();
        match form {
            "wasm" => Some(Self::Wasm { file: rest }),
            "process" => Some(Self::Process { command: rest }),
            _ => None,
        }
    }
}
