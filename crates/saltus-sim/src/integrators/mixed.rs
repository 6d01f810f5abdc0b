//! Systems of one order under several schemes, which no interaction joins.
//!
//! Each group is a model of its own with its own part; what is seen from outside is one row, put
//! together after every step.

use super::assembly::Places;
use super::choice::Group;
use super::part::Part;
use super::row::Row;
use super::{NewtonSettings, Step, together};
use crate::{Ledger, Quantity, SimError};
use saltus_model::{Model, Order, SystemId};
use saltus_numerics::{Memory, Report, Solver};
use std::any::Any;
use std::ops::Range;

/// Several parts as one.
#[derive(Debug)]
pub(crate) struct Mixed {
    places: Places,
    members: Vec<Member>,
    now: Row,
}

/// A group of systems.
#[derive(Debug)]
struct Member {
    model: Model,
    part: Box<dyn Part>,
    systems: Vec<usize>, // of the whole model, in the order of its own
    columns: Vec<(Quantity, Range<usize>, Range<usize>)>, // own, and of the whole
}

impl Mixed {
    pub fn new(
        model: &Model,
        order: Order,
        groups: Vec<Group>,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Mixed, SimError> {
        let places = Places::new(model, order);
        let mut members = Vec::new();
        for group in groups {
            let systems: Vec<usize> = group.systems.iter().map(|(k, _)| *k).collect();
            let (own, interactions) = model.part(&systems);
            let part = group.part(&own, newton, solver)?;
            let ours = part.places();
            let mut columns = Vec::new();
            for (place, &k) in ours.systems.iter().zip(&systems) {
                if let (Some(from), Some(to)) = (place, &places.systems[k]) {
                    for quantity in [Quantity::X, Quantity::V] {
                        columns.push((quantity, from.clone(), to.clone()));
                    }
                }
            }
            for (place, &k) in ours.configurations.iter().zip(&systems) {
                if let (Some(from), Some(to)) = (place, &places.configurations[k]) {
                    columns.push((Quantity::Q, from.clone(), to.clone()));
                }
            }
            for (place, &k) in ours.interactions.iter().zip(&interactions) {
                if let (Some(from), Some(to)) = (place, &places.interactions[k]) {
                    for quantity in [Quantity::Y, Quantity::U, Quantity::Lam] {
                        columns.push((quantity, from.clone(), to.clone()));
                    }
                }
            }
            for (place, &k) in ours.bonds.iter().zip(&interactions) {
                if let (Some(from), Some(to)) = (place, &places.bonds[k]) {
                    columns.push((Quantity::Beta, from.clone(), to.clone()));
                }
            }
            columns.retain(|(quantity, ..)| !part.now().get(*quantity).is_empty());
            members.push(Member { model: own, part, systems, columns });
        }
        let now = Row::new(order, places.sizes());
        let mut mixed = Mixed { places, members, now };
        mixed.collect();
        Ok(mixed)
    }

    /// Puts the row together.
    fn collect(&mut self) {
        let mut ledger = [0.0; Ledger::NAMES.len()];
        for Member { part, columns, .. } in &self.members {
            for (quantity, from, to) in columns {
                let values = &part.now().get(*quantity)[from.clone()];
                self.now.get_mut(*quantity)[to.clone()].copy_from_slice(values);
            }
            let own = part.now().ledger().to_array();
            ledger.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        self.now.set_ledger(&ledger);
    }
}

impl Part for Mixed {
    fn places(&self) -> &Places {
        &self.places
    }

    fn now(&self) -> &Row {
        &self.now
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        for member in &mut self.members {
            member.part.reset(t0)?;
        }
        self.collect();
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, same: bool) -> Result<(), SimError> {
        // which systems go together does not depend on parameters and laws
        if let Some(before) = before.as_any().downcast_ref::<Mixed>() {
            for (member, before) in self.members.iter_mut().zip(&before.members) {
                member.part.adopt(before.part.as_ref(), last, same)?;
            }
        }
        self.collect();
        Ok(())
    }

    fn prepare(&mut self) {
        self.members.iter_mut().for_each(|member| member.part.prepare());
    }

    fn settle(&mut self) {
        self.members.iter_mut().for_each(|member| member.part.settle());
        self.collect();
    }

    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        _: Range<usize>,
        values: [Option<&[f64]>; 2],
    ) -> Result<(), SimError> {
        let name = model.systems().nth(id.index()).map_or("", |(name, _)| name);
        for member in self.members.iter_mut().filter(|one| one.systems.contains(&id.index())) {
            let own = member.model.system_id(name)?;
            if let Some(range) = member.part.places().systems[own.index()].clone() {
                member.part.set(&member.model, own, range, values)?;
            }
        }
        self.collect();
        Ok(())
    }

    fn be_at(&mut self, t: f64) {
        self.members.iter_mut().for_each(|member| member.part.be_at(t));
    }

    fn inputs(&self, name: &str) -> Option<&[f64]> {
        self.members.iter().find_map(|member| member.part.inputs(name))
    }

    fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        for member in &mut self.members {
            member.part.set_inputs(name, z)?;
        }
        self.collect();
        Ok(())
    }

    fn advance(&mut self, _: &Model, step: Step) -> Result<Option<Report>, SimError> {
        let mut report: Option<Report> = None;
        for member in &mut self.members {
            let own = member.part.advance(&member.model, step)?;
            report = together(report, own);
        }
        Ok(report)
    }

    fn commit(&mut self) {
        self.members.iter_mut().for_each(|member| member.part.commit());
        self.collect();
    }

    fn is_quick(&self) -> bool {
        self.members.iter().all(|member| member.part.is_quick())
    }

    fn touched(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.members.iter_mut().try_for_each(|member| member.part.touched(memory))
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        for member in &mut self.members {
            member.part.memory(memory)?;
        }
        self.collect();
        Ok(())
    }

    fn penetration(&self) -> f64 {
        self.members.iter().fold(0.0, |deepest, member| deepest.max(member.part.penetration()))
    }
}
