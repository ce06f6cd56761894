//! The tree of classes at work: who lends to whom, and who is charged.
//!
//! M. Devera, "Hierarchical token bucket theory" (2002), and Linux's `sch_htb`.
//! A leaf that can send lends to itself; one that may borrow asks its parent, which
//! answers likewise. What is above its ceiling blocks all below it.
//!
//! A packet is charged to the ceiling of its leaf and of all ancestors, and to the
//! rate of the lender and of all above it.
//!
//! *Deviations.* Modes follow from the tokens when they are asked for, where Linux
//! keeps them with a queue of future changes.

use mimosa_units::{Bytes, Time};

use super::bucket::{Buckets, Mode};
use super::config::{ClassConfig, ClassId, HtbConfig, LEVELS};

/// A class.
#[derive(Debug)]
struct Class {
    id: ClassId,
    parent: Option<usize>,
    /// Zero for leaves. Inner classes count down from the root's, as in Linux.
    level: usize,
    buckets: Buckets,
}

/// All classes, each before its children.
#[derive(Debug, Default)]
pub(super) struct Tree {
    classes: Vec<Class>,
}

impl Tree {
    /// The tree of a configuration that is in order, and its leaves from left to
    /// right, children of a class in the order of their names.
    pub(super) fn new(config: &HtbConfig) -> (Self, Vec<(usize, &ClassConfig)>) {
        let inner = config.parents();
        let children = |parent: Option<ClassId>| {
            let is_child = |class: &&ClassConfig| class.parent == parent;
            let mut found: Vec<_> = config.classes.iter().filter(is_child).collect();
            // The last is taken first.
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

    /// Classes there are.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The class that lends to the leaf `class` at `now`.
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

    /// When the leaf `class` has a lender, if nothing is charged before.
    pub(super) fn lender_at(&self, class: usize) -> Time {
        let mut earliest = Time::MAX;
        // When all below let it ask.
        let mut asks = Time::ZERO;
        for (_, class) in self.upwards(class) {
            earliest = earliest.min(asks.max(class.buckets.can_send()));
            asks = asks.max(class.buckets.may_borrow());
        }
        earliest
    }

    /// Charges a packet of the leaf `class` for which a class at `lender` lent.
    pub(super) fn charge(&mut self, class: usize, lender: usize, now: Time, size: Bytes) {
        let mut next = Some(class);
        while let Some(class) = next.and_then(|index| self.classes.get_mut(index)) {
            class.buckets.charge(now, size, class.level < lender);
            next = class.parent;
        }
    }

    /// The level of a class; zero for leaves.
    pub(super) fn level(&self, class: usize) -> usize {
        self.classes.get(class).map_or(0, |class| class.level)
    }

    /// By which classes take turns.
    pub(super) fn number(&self, class: usize) -> u64 {
        self.classes
            .get(class)
            .map_or(0, |class| u64::from(class.id.0))
    }

    pub(super) fn parent(&self, class: usize) -> Option<usize> {
        self.classes.get(class)?.parent
    }

    /// The child of `above` on the way from its `lender` down to the leaf `class`; of
    /// none, the lender. `None` where the way does not pass there.
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

    /// A class with its place, its parent, and so on to the root.
    fn upwards(&self, class: usize) -> impl Iterator<Item = (usize, &Class)> {
        let at = |index| Some((index, self.classes.get(index)?));
        std::iter::successors(at(class), move |(_, class)| at(class.parent?))
    }
}
