//! The module in a component, and the names by which its functions are called (WebAssembly component model,
//! `design/mvp/Binary.md` and `CanonicalABI.md`).
//!
//! A component of the world in `controllers/controller.wit` that is given nothing is one module in an envelope: an
//! instance of the module, and an export for each function with how its strings are passed. The envelope is read here, and
//! the module in it runs as any other.
//!
//! *Deviations.* A component of several modules, with components or with imports in it is refused with the reason: no
//! controller needs one, and an interpreter of modules suffices without.

use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentAlias, ComponentExternalKind, ComponentType,
    ComponentValType, ExternalKind, Instance, Parser, Payload, PrimitiveValType, Validator,
};

use crate::error::Problem;

/// What a component's functions must be.
const IS: &str = "func(line: string) -> string";

/// The module in a component, and its two functions.
#[derive(Debug)]
pub(super) struct Component<'a> {
    pub(super) module: &'a [u8],
    pub(super) start: Lifted,
    pub(super) event: Lifted,
}

/// A function that takes a text and gives one: names of exports of the module.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lifted {
    pub(super) function: String,
    /// The memory in which both texts are.
    pub(super) memory: String,
    /// Gives a place for the text that is taken.
    pub(super) realloc: String,
    /// Takes back the text that the function gave, once the text has been read.
    pub(super) post_return: Option<String>,
}

/// Whether these bytes begin as a component does.
pub(super) fn is_component(bytes: &[u8]) -> bool {
    Parser::is_component(bytes)
}

/// Reads and checks a component.
///
/// # Errors
///
/// [`Problem::NoModule`], [`Problem::Import`], [`Problem::Envelope`] or [`Problem::Export`].
pub(super) fn open(bytes: &[u8]) -> Result<Component<'_>, Problem> {
    let no = |error: wasmparser::BinaryReaderError| Problem::NoModule {
        why: error.to_string(),
    };
    Validator::new().validate_all(bytes).map_err(no)?;
    let mut envelope = Envelope::default();
    // The parser goes through the module as well, which is the interpreter's.
    let mut is_in_module = false;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(no)? {
            Payload::End(_) => is_in_module = false,
            _ if is_in_module => {}
            Payload::ModuleSection {
                unchecked_range, ..
            } => {
                let module = bytes.get(unchecked_range).unwrap_or_default();
                if envelope.module.replace(module).is_some() {
                    return Err(envelope_of("has more than one module"));
                }
                is_in_module = true;
            }
            payload => envelope.take(payload).map_err(|wrong| match wrong {
                Wrong::Unread(error) => no(error),
                Wrong::Problem(problem) => problem,
            })?,
        }
    }
    let start = envelope.function("start")?;
    let event = envelope.function("event")?;
    let module = envelope.module.ok_or(envelope_of("has no module"))?;
    Ok(Component {
        module,
        start,
        event,
    })
}

/// Why a part of an envelope is not taken.
enum Wrong {
    Unread(wasmparser::BinaryReaderError),
    Problem(Problem),
}

impl From<wasmparser::BinaryReaderError> for Wrong {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::Unread(error)
    }
}

const fn envelope_of(why: &'static str) -> Problem {
    Problem::Envelope { why }
}

const fn wrong<T>(why: &'static str) -> Result<T, Wrong> {
    Err(Wrong::Problem(envelope_of(why)))
}

/// What has been read of an envelope. What is counted in it has numbers in the order in which it comes.
#[derive(Default)]
struct Envelope<'a> {
    module: Option<&'a [u8]>,
    has_instance: bool,
    /// Names that the module gives its functions and memories, of those that the envelope uses.
    core_functions: Vec<&'a str>,
    memories: Vec<&'a str>,
    /// Whether a type is that of a function from a text to a text.
    types: Vec<bool>,
    /// The functions; `None` for one that does not take a text and give one.
    functions: Vec<Option<Lifted>>,
    exports: Vec<(&'a str, u32)>,
}

impl<'a> Envelope<'a> {
    fn take(&mut self, payload: Payload<'a>) -> Result<(), Wrong> {
        match payload {
            Payload::ComponentImportSection(imports) => {
                if let Some(import) = imports.into_iter().next() {
                    let name = import?.name.0.to_owned();
                    return Err(Wrong::Problem(Problem::Import { name }));
                }
            }
            Payload::InstanceSection(instances) => {
                for instance in instances {
                    let Instance::Instantiate { args, .. } = instance? else {
                        return wrong("makes an instance of its own");
                    };
                    if !args.is_empty() || std::mem::replace(&mut self.has_instance, true) {
                        return wrong("gives its module something from another one");
                    }
                }
            }
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases {
                    self.alias(&alias?)?;
                }
            }
            Payload::ComponentTypeSection(types) => {
                for of in types {
                    self.types.push(is_of_texts(&of?));
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                for function in functions {
                    self.lift(function?)?;
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    let index = export.index as usize;
                    // What is exported gets another number besides.
                    match export.kind {
                        ComponentExternalKind::Func => {
                            let function = self.functions.get(index).cloned();
                            self.functions.push(function.flatten());
                            self.exports.push((export.name.0, export.index));
                        }
                        ComponentExternalKind::Type => {
                            let of = self.types.get(index).copied();
                            self.types.push(of.unwrap_or(false));
                        }
                        _ => return wrong("exports more than functions"),
                    }
                }
            }
            Payload::ComponentSection { .. } | Payload::ComponentInstanceSection(_) => {
                return wrong("has components in it");
            }
            Payload::ComponentStartSection { .. } => return wrong("has a function to begin with"),
            _ => {}
        }
        Ok(())
    }

    fn alias(&mut self, alias: &ComponentAlias<'a>) -> Result<(), Wrong> {
        let ComponentAlias::CoreInstanceExport { kind, name, .. } = *alias else {
            return wrong("takes something from another component");
        };
        match kind {
            ExternalKind::Func => self.core_functions.push(name),
            ExternalKind::Memory => self.memories.push(name),
            _ => {}
        }
        Ok(())
    }

    fn lift(&mut self, function: CanonicalFunction) -> Result<(), Wrong> {
        let CanonicalFunction::Lift {
            core_func_index,
            type_index,
            options,
        } = function
        else {
            return wrong("gives its module functions of the system");
        };
        let of =
            |names: &[&str], index: u32| names.get(index as usize).map(|&name| name.to_owned());
        let (mut memory, mut realloc, mut post_return) = (None, None, None);
        for option in options {
            match option {
                CanonicalOption::UTF8 => {}
                CanonicalOption::Memory(index) => memory = of(&self.memories, index),
                CanonicalOption::Realloc(index) => realloc = of(&self.core_functions, index),
                CanonicalOption::PostReturn(index) => {
                    post_return = of(&self.core_functions, index);
                }
                _ => return wrong("passes texts in another way than at once and as UTF-8"),
            }
        }
        let function = of(&self.core_functions, core_func_index);
        let lifted = function.zip(memory).zip(realloc);
        let lifted = lifted.map(|((function, memory), realloc)| Lifted {
            function,
            memory,
            realloc,
            post_return,
        });
        let is_of_texts = self.types.get(type_index as usize) == Some(&true);
        self.functions.push(lifted.filter(|_| is_of_texts));
        Ok(())
    }

    /// The function that is exported by this name.
    fn function(&self, name: &'static str) -> Result<Lifted, Problem> {
        let export = self.exports.iter().find(|(by, _)| *by == name);
        let function = export.and_then(|(_, index)| self.functions.get(*index as usize));
        let function = function.cloned().flatten();
        function.ok_or(Problem::Export { name, is: IS })
    }
}

/// Whether this is the type of a function that takes a text and gives one.
fn is_of_texts(of: &ComponentType<'_>) -> bool {
    const TEXT: ComponentValType = ComponentValType::Primitive(PrimitiveValType::String);
    matches!(of, ComponentType::Func(function)
        if matches!(&function.params[..], [(_, TEXT)]) && function.result == Some(TEXT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIMD: &[u8] = include_bytes!("../../controllers/aimd.component.wasm");

    #[test]
    fn the_module_and_the_names_of_its_functions_are_found() {
        let Component {
            module,
            start,
            event,
        } = open(AIMD).unwrap();
        assert!(is_component(AIMD) && !is_component(module));
        let lifted = |function: &str| Lifted {
            function: function.to_owned(),
            memory: "memory".to_owned(),
            realloc: "cabi_realloc".to_owned(),
            post_return: Some(format!("cabi_post_{function}")),
        };
        assert_eq!((start, event), (lifted("start"), lifted("event")));
    }

    /// A damaged component is refused, or is read with a module and both functions all the same.
    #[test]
    fn damaged_components_are_refused_or_read() {
        // Nothing is missing before the last section, which says who made it.
        let whole = (0..AIMD.len()).filter(|end| open(&AIMD[..*end]).is_ok());
        assert_eq!(whole.count(), 1);
        let (mut read, mut refused) = (0, 0);
        for at in 0..AIMD.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = AIMD.to_vec();
                bytes[at] ^= change;
                match open(&bytes) {
                    Ok(component) => {
                        assert!(!component.module.is_empty());
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} and {refused}");
    }
}
