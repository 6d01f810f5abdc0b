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
    q: Vec<f64>,
    values: Vec<f64>,
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
                let (operator, q) = (None, Vec::with_capacity(width));
                let values = vec![0.0; group.len() * size];
                groups.push(Together { contacts, ranges, operator, q, values });
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

impl Together {
    /// `y` and `H` of all relations, one after the other; nothing where one of them has no value.
    #[inline]
    pub fn eval(&mut self, t: f64, q: &[f64]) -> Option<&[f64]> {
        let operator = self.operator.as_ref()?;
        let q = match &self.ranges[..] {
            [range] => &q[range.clone()],
            ranges => {
                self.q.clear();
                ranges.iter().for_each(|range| self.q.extend_from_slice(&q[range.clone()]));
                &self.q
            }
        };
        operator.eval(At::new(t, q, &[]), "h or H", &mut self.values).ok()?;
        Some(&self.values)
    }
}
