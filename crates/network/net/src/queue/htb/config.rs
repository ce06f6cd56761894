//! The configuration of a tree of classes, and its possible mistakes.
//!
//! The parameters and their defaults are those of `tc-htb(8)`.
//!
//! *Deviations.* Linux reports few mistakes: a priority above 7 becomes 7, and a
//! ceiling below the rate or a default class that does not exist is accepted. Here
//! each of these is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use mimosa_units::{Bytes, Rate};

use super::classify::Filter;

/// The most levels of a tree, leaves included (`TC_HTB_MAXDEPTH`).
pub(super) const LEVELS: usize = 8;

/// Number of priorities (`TC_HTB_NUMPRIO`).
pub(super) const PRIORITIES: u8 = 8;

/// The burst of `tc` where none is given: its packet size of 1600 bytes, plus what
/// comes in within one tick of the timer, which is nothing for a timer of
/// nanoseconds.
const BURST: Bytes = Bytes::new(1_600);

/// The number of a class, like the minor number in `tc`'s `1:10`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClassId(pub u32);

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.0)
    }
}

/// The parameters of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassConfig {
    /// Number of the class.
    pub id: ClassId,
    /// The class from which this one borrows; `None` for a root.
    pub parent: Option<ClassId>,
    /// The guaranteed rate. The rates of classes may add up to more than their parent's.
    pub rate: Rate,
    /// The ceiling: the highest rate of the class, borrowing included.
    pub ceil: Rate,
    /// Bytes that the class may send at once within its rate.
    pub burst: Bytes,
    /// Bytes that the class may send at once within its ceiling.
    pub cburst: Bytes,
    /// Priority of a leaf, 0 to 7: a lower number is offered excess first. Without
    /// effect on other classes.
    pub priority: u8,
    /// Bytes that a leaf sends in its turn among others of the same priority; `None`
    /// for the quantum that follows from [`HtbConfig::r2q`]. Without effect on other
    /// classes.
    pub quantum: Option<Bytes>,
}

impl ClassConfig {
    /// A class with `tc`'s defaults: a ceiling equal to its rate, bursts of 1600
    /// bytes, and priority 0.
    #[must_use]
    pub const fn new(id: ClassId, parent: Option<ClassId>, rate: Rate) -> Self {
        Self {
            id,
            parent,
            rate,
            ceil: rate,
            burst: BURST,
            cburst: BURST,
            priority: 0,
            quantum: None,
        }
    }
}

/// The configuration of a tree of classes, with the filters that assign packets to classes.
#[derive(Clone, Debug, PartialEq)]
pub struct HtbConfig {
    /// All classes, in any order.
    pub classes: Vec<ClassConfig>,
    /// Filters, each with the leaf to which its packets belong; the first filter that
    /// matches counts.
    pub filters: Vec<(Filter, ClassId)>,
    /// The leaf of packets that no filter matches. With `None` they pass at once,
    /// before all others and without being charged to a class.
    pub default: Option<ClassId>,
    /// Divisor for quanta: a leaf's quantum is the bytes that its rate yields in a
    /// second, divided by this.
    pub r2q: u32,
    /// The most packets without a class that wait, and the most packets that wait in
    /// a leaf for which no queue is given.
    pub direct_limit: usize,
}

impl Default for HtbConfig {
    /// No class, and the defaults of `tc-htb(8)`: an `r2q` of 10, no default class.
    /// The limit is 1000 packets: Linux takes the length of the device's queue for
    /// both of its limits, and that of an Ethernet device is 1000 packets.
    fn default() -> Self {
        Self {
            classes: Vec::new(),
            filters: Vec::new(),
            default: None,
            r2q: 10,
            direct_limit: 1_000,
        }
    }
}

/// Why a tree was refused. Every variant is a mistake in the configuration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HtbError {
    /// Two classes have the same number.
    DuplicateId(ClassId),
    /// The parent of a class does not exist.
    UnknownParent {
        /// The class whose parent does not exist.
        class: ClassId,
        /// The parent that it states.
        parent: ClassId,
    },
    /// A class is its own ancestor.
    Loop(ClassId),
    /// A class has more than seven classes above it.
    TooDeep(ClassId),
    /// A class has a rate of zero, so that its packets might never leave.
    NoRate(ClassId),
    /// A class has a rate above its ceiling.
    RateAboveCeil {
        /// The class.
        class: ClassId,
        /// The rate of the class.
        rate: Rate,
        /// The ceiling of the class.
        ceil: Rate,
    },
    /// A class has a priority above 7.
    PriorityTooHigh {
        /// The class.
        class: ClassId,
        /// The priority of the class.
        priority: u8,
    },
    /// A class has a quantum of zero, so that its turn would never come.
    NoQuantum(ClassId),
    /// A filter, the default or a queue names a class that does not exist.
    UnknownClass(ClassId),
    /// A filter, the default or a queue names a class that has children; packets
    /// wait in leaves only.
    LeafWithChildren(ClassId),
}

impl fmt::Display for HtbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId(class) => write!(f, "{class} is there twice"),
            Self::UnknownParent { class, parent } => {
                write!(f, "{class} has {parent} for a parent, which is not there")
            }
            Self::Loop(class) => write!(f, "{class} is its own ancestor"),
            Self::TooDeep(class) => {
                write!(f, "{class} has more than {} classes above it", LEVELS - 1)
            }
            Self::NoRate(class) => write!(f, "{class} has a rate of zero"),
            Self::RateAboveCeil { class, rate, ceil } => {
                write!(f, "{class} has a rate of {rate}, above its ceil of {ceil}")
            }
            Self::PriorityTooHigh { class, priority } => {
                let most = PRIORITIES - 1;
                write!(f, "{class} has priority {priority}, but {most} is the last")
            }
            Self::NoQuantum(class) => write!(f, "{class} has a quantum of zero"),
            Self::UnknownClass(class) => {
                write!(
                    f,
                    "{class}, named by a filter, default or queue, is not there"
                )
            }
            Self::LeafWithChildren(class) => {
                write!(f, "{class} is to hold packets, but has children")
            }
        }
    }
}

impl Error for HtbError {}

impl HtbConfig {
    /// Refuses a tree that cannot be built.
    ///
    /// # Errors
    ///
    /// [`HtbError`] with the first mistake, and the class that has it.
    pub fn check(&self) -> Result<(), HtbError> {
        let mut parents = BTreeMap::new();
        for class in &self.classes {
            if parents.insert(class.id, class.parent).is_some() {
                return Err(HtbError::DuplicateId(class.id));
            }
        }
        for class in &self.classes {
            class.check()?;
            check_ancestors(class.id, &parents)?;
        }
        let named = self.filters.iter().map(|(_, class)| *class);
        for class in named.chain(self.default) {
            self.check_leaf(class)?;
        }
        Ok(())
    }

    /// Refuses a class in which no packet can wait.
    ///
    /// # Errors
    ///
    /// [`HtbError::UnknownClass`] when there is no such class, or
    /// [`HtbError::LeafWithChildren`] when it is not a leaf.
    pub fn check_leaf(&self, class: ClassId) -> Result<(), HtbError> {
        if !self.classes.iter().any(|known| known.id == class) {
            return Err(HtbError::UnknownClass(class));
        }
        if self.parents().contains(&class) {
            return Err(HtbError::LeafWithChildren(class));
        }
        Ok(())
    }

    /// The classes that have children.
    pub(super) fn parents(&self) -> BTreeSet<ClassId> {
        self.classes.iter().filter_map(|one| one.parent).collect()
    }
}

impl ClassConfig {
    fn check(&self) -> Result<(), HtbError> {
        let class = self.id;
        if self.rate == Rate::ZERO {
            return Err(HtbError::NoRate(class));
        }
        if self.rate > self.ceil {
            let (rate, ceil) = (self.rate, self.ceil);
            return Err(HtbError::RateAboveCeil { class, rate, ceil });
        }
        if self.priority >= PRIORITIES {
            let priority = self.priority;
            return Err(HtbError::PriorityTooHigh { class, priority });
        }
        if self.quantum == Some(Bytes::ZERO) {
            return Err(HtbError::NoQuantum(class));
        }
        Ok(())
    }
}

fn check_ancestors(
    class: ClassId,
    parents: &BTreeMap<ClassId, Option<ClassId>>,
) -> Result<(), HtbError> {
    let (mut at, mut above) = (class, 0);
    while let Some(parent) = parents.get(&at).copied().flatten() {
        if !parents.contains_key(&parent) {
            return Err(HtbError::UnknownParent { class: at, parent });
        }
        above += 1;
        if above > parents.len() {
            return Err(HtbError::Loop(class));
        }
        at = parent;
    }
    if above >= LEVELS {
        return Err(HtbError::TooDeep(class));
    }
    Ok(())
}
