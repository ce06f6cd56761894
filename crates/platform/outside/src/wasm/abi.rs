//! How a line gets into a module's memory, and its answer out of it.
//!
//! A module has the exports in `docs/embed/foreign.md`. The functions of a component are called by the canonical ABI
//! (WebAssembly component model, `design/mvp/CanonicalABI.md`): `realloc` gives the place of a text, a text is passed as
//! its place and its length in bytes, and one that is given as the place of these two numbers. `post_return` is called
//! when it has been read.

use mimosa_foreign::LONGEST_ANSWER;
use wasmi::{Instance, Memory, Store, StoreLimits, TypedFunc, WasmParams, WasmResults};

use super::component::{self, Lifted};
use crate::error::Problem;

/// How the functions of a module are called.
#[derive(Debug)]
pub(super) enum Form {
    Module,
    Component { start: Lifted, event: Lifted },
}

/// A function that takes a line and gives an answer.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    memory: Memory,
    call: Call,
}

#[derive(Clone, Copy)]
enum Call {
    /// Gives the answer's place and its length in the upper and the lower half.
    Packed {
        alloc: TypedFunc<u32, u32>,
        function: TypedFunc<(u32, u32), u64>,
    },
    /// Gives the place of the answer's place and its length.
    Canonical {
        realloc: TypedFunc<(u32, u32, u32, u32), u32>,
        function: TypedFunc<(u32, u32), u32>,
        post_return: Option<TypedFunc<u32, ()>>,
    },
}

/// Why there is no answer.
pub(super) enum Wrong {
    Trap(wasmi::Error),
    /// The bytes from `at` on are not all in the module's memory.
    Place {
        what: &'static str,
        at: u32,
        length: u32,
    },
}

impl From<wasmi::Error> for Wrong {
    fn from(error: wasmi::Error) -> Self {
        Self::Trap(error)
    }
}

impl Form {
    /// The module in these bytes of a module or a component, and how it is called.
    ///
    /// # Errors
    ///
    /// The errors of [`component::open`], if the bytes are those of a component.
    pub(super) fn of(bytes: &[u8]) -> Result<(&[u8], Self), Problem> {
        if !component::is_component(bytes) {
            return Ok((bytes, Self::Module));
        }
        let component::Component {
            module,
            start,
            event,
        } = component::open(bytes)?;
        Ok((module, Self::Component { start, event }))
    }

    /// The functions that take the first line and every other.
    ///
    /// # Errors
    ///
    /// [`Problem::Export`] if there is none of the right type.
    pub(super) fn functions(
        &self,
        store: &Store<StoreLimits>,
        instance: Instance,
    ) -> Result<(Asked, Asked), Problem> {
        match self {
            Self::Module => {
                let function = |name| {
                    let function = instance.get_typed_func(store, name);
                    function.map_err(|_| no(name, "(i32, i32) -> i64"))
                };
                let (start, event) = (function("mimosa_start")?, function("mimosa_event")?);
                let memory = instance.get_memory(store, "memory");
                let memory = memory.ok_or_else(|| no("memory", "a memory"))?;
                let alloc = instance.get_typed_func(store, "mimosa_alloc");
                let alloc = alloc.map_err(|_| no("mimosa_alloc", "(i32) -> i32"))?;
                let asked = |function| Asked {
                    memory,
                    call: Call::Packed { alloc, function },
                };
                Ok((asked(start), asked(event)))
            }
            Self::Component { start, event } => Ok((
                lifted(store, instance, "start", start)?,
                lifted(store, instance, "event", event)?,
            )),
        }
    }
}

const fn no(name: &'static str, is: &'static str) -> Problem {
    Problem::Export { name, is }
}

/// A function of a component. That the module has what the component names was checked when it was read.
fn lifted(
    store: &Store<StoreLimits>,
    instance: Instance,
    name: &'static str,
    lifted: &Lifted,
) -> Result<Asked, Problem> {
    fn typed<P: WasmParams, R: WasmResults>(
        (store, instance): (&Store<StoreLimits>, Instance),
        by: &str,
        problem: impl FnOnce() -> Problem,
    ) -> Result<TypedFunc<P, R>, Problem> {
        let function = instance.get_typed_func(store, by);
        function.map_err(|_| problem())
    }
    let of = (store, instance);
    let problem = || no(name, "the canonical ABI");
    let memory = instance.get_memory(store, &lifted.memory);
    let post_return = lifted.post_return.as_ref();
    Ok(Asked {
        memory: memory.ok_or_else(problem)?,
        call: Call::Canonical {
            realloc: typed(of, &lifted.realloc, problem)?,
            function: typed(of, &lifted.function, problem)?,
            post_return: post_return.map(|by| typed(of, by, problem)).transpose()?,
        },
    })
}

/// A number of the canonical ABI in four bytes, the least first.
fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

impl Asked {
    /// Gives a line, and returns the answer.
    pub(super) fn call(
        self,
        store: &mut Store<StoreLimits>,
        line: &[u8],
    ) -> Result<Vec<u8>, Wrong> {
        let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
        let at = match self.call {
            Call::Packed { alloc, .. } => alloc.call(&mut *store, length)?,
            // A text has no alignment, and there was none before.
            Call::Canonical { realloc, .. } => realloc.call(&mut *store, (0, 0, 1, length))?,
        };
        let what = "the place for the line";
        let written = self.memory.write(&mut *store, at as usize, line);
        written.map_err(|_| Wrong::Place { what, at, length })?;
        match self.call {
            Call::Packed { function, .. } => {
                let packed = function.call(&mut *store, (at, length))?;
                #[expect(clippy::cast_possible_truncation, reason = "each is a half of it")]
                let (at, length) = ((packed >> 32) as u32, packed as u32);
                self.answer(store, at, length)
            }
            Call::Canonical {
                function,
                post_return,
                ..
            } => {
                let pair = function.call(&mut *store, (at, length))?;
                let numbers = self.bytes(store, "the place of the answer", pair, 8)?;
                let (at, length) = numbers.split_at(4);
                let (at, length) = (number(at), number(length));
                let answer = self.answer(store, at, length)?;
                if let Some(post_return) = post_return {
                    post_return.call(&mut *store, pair)?;
                }
                Ok(answer)
            }
        }
    }

    /// The answer, without what is beyond the longest one and a byte more.
    fn answer(&self, store: &Store<StoreLimits>, at: u32, length: u32) -> Result<Vec<u8>, Wrong> {
        let answer = self.bytes(store, "the answer", at, length)?;
        Ok(answer[..answer.len().min(LONGEST_ANSWER + 1)].to_vec())
    }

    fn bytes<'a>(
        &self,
        store: &'a Store<StoreLimits>,
        what: &'static str,
        at: u32,
        length: u32,
    ) -> Result<&'a [u8], Wrong> {
        let begin = at as usize;
        begin
            .checked_add(length as usize)
            .and_then(|end| self.memory.data(store).get(begin..end))
            .ok_or(Wrong::Place { what, at, length })
    }
}
