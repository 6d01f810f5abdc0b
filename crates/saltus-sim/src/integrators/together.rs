//! Relations on the same systems that are formulas, evaluated in one go at the end of a step.
//!
//! ```text
//! (y₁, H₁, y₂, H₂, …) = f(q)
//! ```
//!
//! What they have in common, such as the sines and cosines of the angles they are made of, is
//! computed once. The operators are handed on where the parts of a simulation are built anew.

use super::balance::Contact;
use saltus_model::{At, Operator};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Entries of an evaluation: a larger function is slow to compile.
const MOST: usize = 64;
/// Groups that are compiled at once; of more, those that are evaluated often.
const PREPARED: usize = 50;

/// Some relations in one operator.
#[derive(Debug)]
pub(super) struct Together {
    pub contacts: Range<usize>, // in the list of members
    ranges: Vec<Range<usize>>,  // of their systems
    operator: Option<Operator>,
    at: Option<f64>, // the time of `values`
    q: Vec<f64>,     // and their configuration
    values: Vec<f64>,
}

/// Where the values of a relation are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub group: usize,
    first: usize, // of `y`, which `H` follows
}

/// All groups, and the interactions in them, one after the other.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub groups: Vec<Together>,
    pub members: Vec<usize>,
}

impl Groups {
    /// Groups of two and more; a relation that is in none is evaluated on its own.
    pub fn new(contacts: &[Contact]) -> Groups {
        // systems and number of components
        type Kind = (Vec<(usize, usize)>, usize);
        let mut alike: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
        for (k, contact) in contacts.iter().enumerate() {
            let terms = contact.terms;
            let plain = !(terms.through || terms.time || terms.velocity);
            if plain && contact.relation.output_with_dx().is_some() && contact.inputs.is_empty() {
                let ranges = contact.places.iter().map(|range| (range.start, range.end));
                alike.entry((ranges.collect(), contact.rows.len())).or_default().push(k);
            }
        }
        let (mut groups, mut members) = (Vec::new(), Vec::new());
        for ((ranges, rows), alike) in &alike {
            let width: usize = ranges.iter().map(|(start, end)| end - start).sum();
            let size = rows * (1 + width);
            for group in alike.chunks((MOST / size).max(1)).filter(|group| group.len() > 1) {
                let first = members.len();
                members.extend_from_slice(group);
                let contacts = first..members.len();
                let ranges = ranges.iter().map(|&(start, end)| start..end).collect();
                let (operator, at, q) = (None, None, Vec::with_capacity(width));
                let values = vec![0.0; group.len() * size];
                groups.push(Together { contacts, ranges, operator, at, q, values });
            }
        }
        Groups { groups, members }
    }

    /// Makes the operators that are missing.
    pub fn prepare(&mut self, contacts: &[Contact]) {
        let few = self.groups.len() <= PREPARED;
        for group in self.groups.iter_mut().filter(|group| group.operator.is_none()) {
            let members = self.members[group.contacts.clone()].iter();
            let all = members.filter_map(|&k| contacts[k].relation.output_with_dx());
            let joined = Operator::joined(&all.collect::<Vec<_>>());
            group.operator = joined.filter(|joined| joined.rows() == group.values.len());
            if few && let Some(operator) = &group.operator {
                operator.prepare();
            }
        }
    }

    /// Takes over the operators of the same groups.
    pub fn adopt(&mut self, own: &[Contact], before: &Groups, others: &[Contact]) {
        for (group, other) in self.groups.iter_mut().zip(&before.groups) {
            let ours = &self.members[group.contacts.clone()];
            let theirs = &before.members[other.contacts.clone()];
            let mut pairs = ours.iter().zip(theirs);
            let same =
                |(&a, &b): (&usize, &usize)| Arc::ptr_eq(&own[a].relation, &others[b].relation);
            if ours.len() == theirs.len() && pairs.all(same) {
                group.operator.clone_from(&other.operator);
            }
        }
    }
}

impl Groups {
    /// Where the values of each interaction are, of those that are in a group.
    pub fn shares(&self, contacts: &[Contact]) -> Vec<Option<Share>> {
        let mut shares = vec![None; contacts.len()];
        for (group, together) in self.groups.iter().enumerate() {
            let mut first = 0;
            for &k in &self.members[together.contacts.clone()] {
                shares[k] = Some(Share { group, first });
                first += contacts[k].values();
            }
        }
        shares
    }
}

impl Together {
    /// Evaluates `y` and `H` of all relations, unless that was done last; false where one of them has no
    /// value.
    #[inline]
    pub fn eval(&mut self, t: f64, q: &[f64]) -> bool {
        let Some(operator) = self.operator.as_ref() else { return false };
        let own = self.ranges.iter().flat_map(|range| &q[range.clone()]);
        let bits = |x: &f64| x.to_bits();
        if self.at == Some(t) && self.q.iter().map(bits).eq(own.clone().map(bits)) {
            return true;
        }
        self.q.clear();
        self.q.extend(own);
        let done = operator.eval(At::new(t, &self.q, &[]), "h or H", &mut self.values);
        self.at = done.is_ok().then_some(t);
        done.is_ok()
    }

    /// `y` and `H` of one relation, where [`eval`](Self::eval) was called last.
    #[inline]
    pub fn values(&self, share: Share, rows: usize, entries: usize) -> (&[f64], &[f64]) {
        self.values[share.first..share.first + rows + entries].split_at(rows)
    }
}
