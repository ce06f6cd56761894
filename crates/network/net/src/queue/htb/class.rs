//! The running tree of classes: which class lends to which, and which are charged.
//!
//! M. Devera, "Hierarchical token bucket theory" (2002), and Linux's `sch_htb`. A
//! leaf that can send lends to itself. A leaf that may borrow asks its parent, which
//! lends if it can send, and asks its own parent if it may borrow. A class above its
//! ceiling blocks all leaves below it.
//!
//! A packet is charged to the ceilings of its leaf and of all classes above the leaf,
//! and to the rates of the lender and of all classes above the lender.
//!
//! *Deviations.* Modes are computed from the tokens when they are needed, where Linux
//! stores them and keeps a queue of their future changes.

use mimosa_units::{Bytes, Time};

use super::bucket::{Buckets, Mode};
use super::config::{ClassConfig, ClassId, HtbConfig, LEVELS};

/// A class of the tree.
#[derive(Debug)]
struct Class {
    id: ClassId,
    parent: Option<usize>,
    /// Level of the class: zero for leaves. The levels of inner classes count down
    /// from the root's, as in Linux.
    level: usize,
    buckets: Buckets,
}

/// A tree of classes. The vector has each class before its children.
#[derive(Debug, Default)]
pub(super) struct Tree {
    classes: Vec<Class>,
}

impl Tree {
    /// The tree of a valid configuration, and its leaves from left to right, each
    /// with its index in the tree. The children of a class are in the order of their
    /// numbers.
    pub(super) fn new(config: &HtbConfig) -> (Self, Vec<(usize, &ClassConfig)>) {
        let inner = config.parents();
        let children = |parent: Option<ClassId>| {
            let is_child = |class: &&ClassConfig| class.parent == parent;
            let mut found: Vec<_> = config.classes.iter().filter(is_child).collect();
            // The last one is taken first.
            found.sort_by_key(|class| std::cmp::Reverse(class.id));
            found
        };
        let (mut tree, mut leaves) = (Self::default(), Vec::new());
        let at_root = |class| (class, None, 0);
        let mut open: Vec<_> = children(None).into_iter().map(at_root).collect();
        while let Some((class, parent, depth)) = open.pop() {
            let index = tree.classes.len();
            let mut level = 0;
            if inner.contains(&class.id) {
                level = (LEVELS - 1).saturating_sub(depth);
                let below = |child| (child, Some(index), depth + 1);
                open.extend(children(Some(class.id)).into_iter().map(below));
            } else {
                leaves.push((index, class));
            }
            tree.classes.push(Class {
                id: class.id,
                parent,
                level,
                buckets: Buckets::new((class.rate, class.burst), (class.ceil, class.cburst)),
            });
        }
        (tree, leaves)
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The class that lends to the leaf `class` at `now`; `None` if none does.
    pub(super) fn lender(&self, class: usize, now: Time) -> Option<usize> {
        for (index, class) in self.upwards(class) {
            match class.buckets.mode(now) {
                Mode::CanSend => return Some(index),
                Mode::MayBorrow => (),
                Mode::CantSend => return None,
            }
        }
        None
    }

    /// When the leaf `class` has a lender, if nothing is charged before; [`Time::MAX`] for never.
    pub(super) fn lender_at(&self, class: usize) -> Time {
        let mut earliest = Time::MAX;
        // When all classes below let the leaf ask this one.
        let mut asks = Time::ZERO;
        for (_, class) in self.upwards(class) {
            earliest = earliest.min(asks.max(class.buckets.can_send()));
            asks = asks.max(class.buckets.may_borrow());
        }
        earliest
    }

    /// Charges a packet of the leaf `class`, for which a class at the level `lender` lent.
    pub(super) fn charge(&mut self, class: usize, lender: usize, now: Time, size: Bytes) {
        let mut next = Some(class);
        while let Some(class) = next.and_then(|index| self.classes.get_mut(index)) {
            class.buckets.charge(now, size, class.level < lender);
            next = class.parent;
        }
    }

    /// The level of a class; zero for a leaf.
    pub(super) fn level(&self, class: usize) -> usize {
        self.classes.get(class).map_or(0, |class| class.level)
    }

    /// The number of a class, in whose order classes take turns.
    pub(super) fn number(&self, class: usize) -> u64 {
        self.classes
            .get(class)
            .map_or(0, |class| u64::from(class.id.0))
    }

    pub(super) fn parent(&self, class: usize) -> Option<usize> {
        self.classes.get(class)?.parent
    }

    /// The child of `above` on the way down from `lender` to the leaf `class`; `None`
    /// if `above` is not on that way. The lender itself if `above` is `None`.
    pub(super) fn towards(
        &self,
        class: usize,
        lender: usize,
        above: Option<usize>,
    ) -> Option<usize> {
        let Some(above) = above else {
            return Some(lender);
        };
        let mut way = self
            .upwards(class)
            .take_while(|(index, _)| *index != lender);
        let (found, _) = way.find(|(_, class)| class.parent == Some(above))?;
        Some(found)
    }

    /// The class with this index, its parent, and so on to the root, each with its index.
    fn upwards(&self, class: usize) -> impl Iterator<Item = (usize, &Class)> {
        let at = |index| Some((index, self.classes.get(index)?));
        std::iter::successors(at(class), move |(_, class)| at(class.parent?))
    }
}
