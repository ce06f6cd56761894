//! Whose turn it is: rounds within rounds.
//!
//! Linux's `sch_htb`. For each priority, the lenders of a level take turns, and so do
//! the children of a class to which it passes on what it borrows or has. A class has
//! its turn until the round among its children is over, a leaf until its quantum is,
//! and each at most as long as it can go on. The round among the children of a class
//! goes on where it was, also when the class could not lend meanwhile.
//!
//! A class has one round for what it lends and for what it borrows. It may end by what
//! the class lends, and with it the turn at what is borrowed: excess is shared by
//! quantum among the children of a class, but only roughly among their parents.
//!
//! *Deviations.* A lender above the leaves whose last borrower is below its own rate
//! again keeps its turn; in Linux the next has it.

use super::class::Tree;
use super::config::{LEVELS, PRIORITIES};

/// A leaf that may send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sendable {
    /// Its place among the leaves.
    pub(super) leaf: usize,
    /// Its place in the tree.
    pub(super) class: usize,
    /// The class that lends to it, which may be itself.
    pub(super) lender: usize,
    /// The lender's level.
    pub(super) level: usize,
    pub(super) priority: u8,
}

/// A place after everyone: the round begins anew.
const END: u64 = u64::MAX;

/// A number from which on the next turn is looked for, for each priority.
type Places = [u64; PRIORITIES as usize];

/// Where all rounds are.
#[derive(Debug)]
pub(super) struct Rounds {
    /// Among the lenders of a level.
    lenders: [Places; LEVELS],
    /// Among the children of a class.
    children: Vec<Places>,
}

impl Rounds {
    /// All at their end, as in Linux.
    pub(super) fn new(classes: usize) -> Self {
        let end = [END; PRIORITIES as usize];
        Self {
            lenders: [end; LEVELS],
            children: vec![end; classes],
        }
    }

    /// Whose turn it is, as a place in `sendable`: among those with the lowest lender,
    /// and among these among those with the lowest priority.
    pub(super) fn next(&mut self, tree: &Tree, sendable: &[Sendable]) -> Option<usize> {
        let first = sendable.iter().map(Sendable::rank).min()?;
        let (level, priority) = first;
        // Among the children of this class, or among the lenders.
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
            // The round is over, and with it the turn of the class to which it belongs.
            *self.place(level, priority, among)? = 0;
            if let Some(class) = among {
                among = tree.parent(class).filter(|_| tree.level(class) != level);
                let after = after(tree, sendable, first, among, class);
                *self.place(level, priority, among)? = after;
            }
        }
    }

    /// Ends the turn of a leaf among the `others` that may send.
    pub(super) fn end_turn(&mut self, tree: &Tree, leaf: Sendable, others: &[Sendable]) {
        let among = tree.parent(leaf.class).filter(|_| leaf.level != 0);
        let after = after(tree, others, leaf.rank(), among, leaf.class);
        if let Some(place) = self.place(leaf.level, leaf.priority, among) {
            *place = after;
        }
    }

    /// Ends the turn of the class that lent to a leaf.
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
    /// Lower ones go first.
    fn rank(&self) -> (usize, u8) {
        (self.level, self.priority)
    }
}

/// The classes that take turns with each other, with their numbers.
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

/// The number of whoever comes after `class`.
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
