//! Controllers that are WebAssembly modules or components, in an interpreter that gives them nothing from outside.

mod abi;
mod component;

use std::fmt;
use std::io::Read;
use std::path::Path;

use mimosa_facts::{Controller, Event, Limits};
use mimosa_foreign::{Dialogue, Maker};
use mimosa_units::Time;
use wasmi::{
    CompilationMode, Config, Engine, Linker, Module, Store, StoreLimits, StoreLimitsBuilder,
    TrapCode,
};

use self::abi::{Asked, Form};
use crate::bounds::{WasmBounds, split};
use crate::digest::Digest;
use crate::driven::{Driven, Driver};
use crate::error::Problem;

/// Most megabytes of a module's file.
const LARGEST_FILE: u64 = 16;
/// Most elements of a module's tables.
const LARGEST_TABLE: usize = 65_536;

/// Makes controllers of a module that is compiled once.
pub(crate) struct WasmMaker {
    name: String,
    module: Module,
    form: Form,
    digest: u64,
}

impl fmt::Debug for WasmMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmMaker")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl WasmMaker {
    /// Reads and compiles the module or the component in `file`, a path that counts from `folder`.
    pub(crate) fn read(file: &str, folder: &Path) -> Result<Self, Problem> {
        let path = folder.join(file);
        let shown = path.display().to_string();
        let failed = |why: std::io::Error| Problem::NoFile {
            file: shown.clone(),
            why: why.to_string(),
        };
        let opened = std::fs::File::open(&path).map_err(failed)?;
        let mut bytes = Vec::new();
        let most = LARGEST_FILE << 20;
        let mut limited = opened.take(most + 1);
        limited.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            let most = LARGEST_FILE;
            return Err(Problem::Large { file: shown, most });
        }
        Self::of(format!("wasm:{file}"), &bytes)
    }

    /// Compiles a module, which may be in a component.
    fn of(name: String, bytes: &[u8]) -> Result<Self, Problem> {
        let (inner, form) = Form::of(bytes)?;
        let mut config = Config::default();
        // Compiling a function when it is first called would take fuel from that line.
        config
            .consume_fuel(true)
            .compilation_mode(CompilationMode::Eager);
        let engine = Engine::new(&config);
        let module = Module::new(&engine, inner).map_err(|error| Problem::NoModule {
            why: error.to_string(),
        })?;
        if let Some(import) = module.imports().next() {
            let name = format!("{}.{}", import.module(), import.name());
            return Err(Problem::Import { name });
        }
        let mut digest = Digest::new();
        digest.add(bytes);
        Ok(Self {
            name,
            module,
            form,
            digest: digest.value(),
        })
    }

    /// A module of its own, which has answered the first line.
    fn begin(
        &self,
        bounds: WasmBounds,
        dialogue: &mut Dialogue,
        first: &[u8],
    ) -> Result<Running, Problem> {
        let mut running = Running::new(&self.module, &self.form, bounds)?;
        let start = running.start;
        running.call(start, dialogue, first)?;
        Ok(running)
    }

    fn start(&self, params: &toml::Table, limits: Limits) -> Driven<Running> {
        let (bounds, params) = match split::<WasmBounds>(params) {
            Ok(split) => split,
            Err(problem) => {
                let (dialogue, _) = Dialogue::begin(limits, &toml::Table::new());
                return Driven::new(&self.name, dialogue, Err(problem));
            }
        };
        let (mut dialogue, first) = Dialogue::begin(limits, &params);
        let begun = self.begin(bounds, &mut dialogue, &first);
        Driven::new(&self.name, dialogue, begun)
    }
}

impl Maker for WasmMaker {
    fn check(&self, params: &toml::Table, limits: Limits) -> Result<(), String> {
        let failure = self.start(params, limits).into_failure();
        failure.map_or(Ok(()), Err)
    }

    fn make(&self, params: &toml::Table, limits: Limits) -> Box<dyn Controller> {
        Box::new(self.start(params, limits))
    }

    fn digest(&self) -> u64 {
        self.digest
    }
}

/// A module with its memory.
struct Running {
    store: Store<StoreLimits>,
    start: Asked,
    event: Asked,
    fuel: u64,
}

impl Running {
    fn new(module: &Module, form: &Form, bounds: WasmBounds) -> Result<Self, Problem> {
        let memory = usize::try_from(bounds.memory.get()).unwrap_or(usize::MAX);
        let limits = StoreLimitsBuilder::new()
            .memory_size(memory)
            .table_elements(LARGEST_TABLE)
            .instances(1)
            .memories(1)
            .tables(1)
            .build();
        let mut store = Store::new(module.engine(), limits);
        store.limiter(|limits| limits);
        let begin = |error: wasmi::Error| Problem::Begin {
            why: error.to_string(),
        };
        store.set_fuel(bounds.fuel).map_err(begin)?;
        let linker = Linker::new(module.engine());
        let instance = linker
            .instantiate_and_start(&mut store, module)
            .map_err(begin)?;
        let (start, event) = form.functions(&store, instance)?;
        Ok(Self {
            start,
            event,
            fuel: bounds.fuel,
            store,
        })
    }

    /// Gives the module a line, and takes its answer.
    fn call(
        &mut self,
        function: Asked,
        dialogue: &mut Dialogue,
        line: &[u8],
    ) -> Result<(), Problem> {
        let seq = dialogue.awaited();
        let fuel = self.fuel;
        let problem = |wrong| match wrong {
            abi::Wrong::Trap(error) => match error.as_trap_code() {
                Some(TrapCode::OutOfFuel) => Problem::Fuel { seq, fuel },
                _ => Problem::Trap {
                    seq,
                    why: error.to_string(),
                },
            },
            abi::Wrong::Place { what, at, length } => Problem::Memory {
                seq,
                what,
                at: u64::from(at),
                length: u64::from(length),
            },
        };
        let set = self.store.set_fuel(self.fuel);
        set.map_err(|error| problem(abi::Wrong::Trap(error)))?;
        let answer = function.call(&mut self.store, line).map_err(problem)?;
        dialogue.take(&answer)?;
        Ok(())
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("fuel", &self.fuel)
            .finish_non_exhaustive()
    }
}

impl Driver for Running {
    fn ask(
        &mut self,
        dialogue: &mut Dialogue,
        now: Time,
        event: &Event<'_>,
    ) -> Result<(), Problem> {
        let line = dialogue.tell(now, event);
        self.call(self.event, dialogue, &line)
    }
}
