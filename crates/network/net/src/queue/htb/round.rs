//! The turns of classes: rounds within rounds.
//!
//! Linux's `sch_htb`. For each priority, the lenders of a level take turns, and so do
//! the children to which a class passes on what it lends or borrows. The turn of a
//! class lasts until the round among its children is over, that of a leaf until its
//! quantum is spent, and neither lasts longer than it can send. The round among the
//! children of a class goes on where it stopped, even if the class could not lend in
//! the meantime.
//!
//! A class has a single round for what it lends and for what it borrows. What the class
//! lends may end the round, and with it the class's turn to borrow: excess is shared in
//! proportion to the quanta among the children of a class, but only roughly among their
//! parents.
//!
//! *Deviations.* A lender above the leaves keeps its turn when its last borrower is
//! below its own rate again; in Linux the turn goes to the next lender.

use super::class::Tree;
use super::config::{LEVELS, PRIORITIES};

/// A leaf that may send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sendable {
    /// Index of the leaf among the leaves.
    pub(super) leaf: usize,
    /// Index of the leaf's class in the tree.
    pub(super) class: usize,
    /// Index of the class that lends to the leaf, which may be the leaf's own.
    pub(super) lender: usize,
    /// Level of the lender.
    pub(super) level: usize,
    pub(super) priority: u8,
}

/// A place behind all classes: the round begins again.
const END: u64 = u64::MAX;

/// The places in a round, for each priority: the class number from which on the next
/// turn is looked for.
type Places = [u64; PRIORITIES as usize];

/// The state of all rounds.
#[derive(Debug)]
pub(super) struct Rounds {
    /// Places in the round among the lenders of each level.
    lenders: [Places; LEVELS],
    /// Places in the round among the children of each class.
    children: Vec<Places>,
}

impl Rounds {
    /// Rounds of a tree of `classes` classes, all at their end, as in Linux.
    pub(super) fn new(classes: usize) -> Self {
        let end = [END; PRIORITIES as usize];
        Self {
            lenders: [end; LEVELS],
            children: vec![end; classes],
        }
    }

    /// The leaf whose turn it is, as an index in `sendable`; `None` if `sendable` is
    /// empty. Only leaves whose lender has the lowest level take part, and of these
    /// only those with the lowest priority number.
    pub(super) fn next(&mut self, tree: &Tree, sendable: &[Sendable]) -> Option<usize> {
        let first = sendable.iter().map(Sendable::rank).min()?;
        let (level, priority) = first;
        // The round is among the children of this class, or among the lenders.
        let mut among = None;
        loop {
            let place = *self.place(level, priority, among)?;
            let next = numbers(tree, sendable, first, among)
                .filter(|(number, _)| *number >= place)
                .min();
            if let Some((number, class)) = next {
                *self.place(level, priority, among)? = number;
                let found = sendable.iter().position(|leaf| leaf.class == class);
                if found.is_some() {
                    return found;
                }
                among = Some(class);
                continue;
            }
            // The round is over, and with it the turn of the class whose children take part.
            *self.place(level, priority, among)? = 0;
            if let Some(class) = among {
                among = tree.parent(class).filter(|_| tree.level(class) != level);
                let after = after(tree, sendable, first, among, class);
                *self.place(level, priority, among)? = after;
            }
        }
    }

    /// Ends the turn of a leaf. `others` are the other leaves that may send.
    pub(super) fn end_turn(&mut self, tree: &Tree, leaf: Sendable, others: &[Sendable]) {
        let among = tree.parent(leaf.class).filter(|_| leaf.level != 0);
        let after = after(tree, others, leaf.rank(), among, leaf.class);
        if let Some(place) = self.place(leaf.level, leaf.priority, among) {
            *place = after;
        }
    }

    /// Ends the turn of the class that lent to a leaf. `others` are the other leaves that may send.
    pub(super) fn end_lenders_turn(&mut self, tree: &Tree, leaf: Sendable, others: &[Sendable]) {
        let after = after(tree, others, leaf.rank(), None, leaf.lender);
        if let Some(place) = self.place(leaf.level, leaf.priority, None) {
            *place = after;
        }
    }

    fn place(&mut self, level: usize, priority: u8, among: Option<usize>) -> Option<&mut u64> {
        let places = match among {
            Some(class) => self.children.get_mut(class)?,
            None => self.lenders.get_mut(level)?,
        };
        places.get_mut(usize::from(priority))
    }
}

impl Sendable {
    /// The rank of the leaf: leaves with a lower rank go first.
    fn rank(&self) -> (usize, u8) {
        (self.level, self.priority)
    }
}

/// The classes that take turns in a round, each with its number.
fn numbers(
    tree: &Tree,
    sendable: &[Sendable],
    rank: (usize, u8),
    among: Option<usize>,
) -> impl Iterator<Item = (u64, usize)> {
    let asking = sendable.iter().filter(move |leaf| leaf.rank() == rank);
    let classes = asking.filter_map(move |leaf| tree.towards(leaf.class, leaf.lender, among));
    classes.map(|class| (tree.number(class), class))
}

/// The number of the class that comes after `class` in a round; [`END`] if none does.
fn after(
    tree: &Tree,
    sendable: &[Sendable],
    rank: (usize, u8),
    among: Option<usize>,
    class: usize,
) -> u64 {
    numbers(tree, sendable, rank, among)
        .map(|(number, _)| number)
        .filter(|number| *number > tree.number(class))
        .min()
        .unwrap_or(END)
}
