//! A tree of classes as it is written down, and what can be wrong with it.
//!
//! The parameters of `tc-htb(8)` and their defaults.
//!
//! *Deviations.* Linux reports little and mends much: a priority above 7 becomes
//! 7, and a ceiling below the rate or a default class that is none is taken as it
//! is. Here each is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use mimosa_units::{Bytes, Rate};

use super::classify::Filter;

/// Levels of a tree at most, leaves included (`TC_HTB_MAXDEPTH`).
pub(super) const LEVELS: usize = 8;

/// Priorities (`TC_HTB_NUMPRIO`).
pub(super) const PRIORITIES: u8 = 8;

/// `tc`'s burst where none is given: its packet size of 1600 bytes, and what
/// comes in within one tick of the timer, which is nothing at nanoseconds.
const BURST: Bytes = Bytes::new(1_600);

/// Names a class, like the minor number of `tc`'s `1:10`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClassId(pub u32);

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.0)
    }
}

/// One class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassConfig {
    /// Its name.
    pub id: ClassId,
    /// From whom it borrows; `None` for a root.
    pub parent: Option<ClassId>,
    /// What it is guaranteed; classes may be guaranteed more than their parent.
    pub rate: Rate,
    /// What it gets at most, with what it borrows.
    pub ceil: Rate,
    /// Bytes that it may send at once at its rate.
    pub burst: Bytes,
    /// Bytes that it may send at once at its ceiling.
    pub cburst: Bytes,
    /// 0 to 7; lower ones are offered excess first. Of a leaf only.
    pub priority: u8,
    /// Bytes that it sends in its turn among others of the same priority; `None`
    /// for what [`HtbConfig::r2q`] gives. Of a leaf only.
    pub quantum: Option<Bytes>,
}

impl ClassConfig {
    /// A class with `tc`'s defaults: no more than its rate, bursts of 1600 bytes,
    /// the first priority.
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

/// A tree of classes, and who belongs where.
#[derive(Clone, Debug, PartialEq)]
pub struct HtbConfig {
    /// All classes, in any order.
    pub classes: Vec<ClassConfig>,
    /// Which packets belong to which leaf; the first that matches counts.
    pub filters: Vec<(Filter, ClassId)>,
    /// The leaf of packets that no filter matches. `None`: they pass at once,
    /// before all others and without being counted.
    pub default: Option<ClassId>,
    /// A leaf's quantum is what its rate makes in a second, divided by this.
    pub r2q: u32,
    /// Packets that wait to pass at once at most, and packets of a leaf without a
    /// queue of its own.
    pub direct_limit: usize,
}

impl Default for HtbConfig {
    /// No class, and what `tc-htb(8)` says: `r2q` 10, no default class. An
    /// Ethernet device's queue holds 1000 packets, which Linux takes for both limits.
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

/// Why a tree was refused. Every variant is the author's to mend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HtbError {
    /// Two classes have the same name.
    DuplicateId(ClassId),
    /// The parent is no class.
    UnknownParent {
        /// Whose parent.
        class: ClassId,
        /// The parent.
        parent: ClassId,
    },
    /// The class is its own ancestor.
    Loop(ClassId),
    /// There are more than seven classes above.
    TooDeep(ClassId),
    /// The rate is zero, so that what waits might never leave.
    NoRate(ClassId),
    /// The rate is above the ceiling.
    RateAboveCeil {
        /// Whose.
        class: ClassId,
        /// Its rate.
        rate: Rate,
        /// Its ceiling.
        ceil: Rate,
    },
    /// The priority is above 7.
    PriorityTooHigh {
        /// Whose.
        class: ClassId,
        /// Its priority.
        priority: u8,
    },
    /// The quantum is zero, so that its turn would never come.
    NoQuantum(ClassId),
    /// A filter, the default or a queue names what is no class.
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
    /// What is wrong, and with which class.
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
    /// [`HtbError::UnknownClass`] or [`HtbError::LeafWithChildren`].
    pub fn check_leaf(&self, class: ClassId) -> Result<(), HtbError> {
        if !self.classes.iter().any(|known| known.id == class) {
            return Err(HtbError::UnknownClass(class));
        }
        if self.parents().contains(&class) {
            return Err(HtbError::LeafWithChildren(class));
        }
        Ok(())
    }

    /// Classes that have children.
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
