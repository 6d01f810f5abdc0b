//! The contacts of a model that are under the law of Liu, Zhao and Brogliato: which of them take
//! part in an impact, and what it does to the momentum.
//!
//! An impact begins where a closed contact closes further; all closed contacts under the law take
//! part. Equalities `G v = 0` hold on the way, by impulses of their own:
//!
//! ```text
//! W = H M⁻¹ Hᵀ − H M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁻¹ G M⁻¹ Hᵀ,    P_G = −(G M⁻¹ Gᵀ)⁻¹ G M⁻¹ Hᵀ P       (1)
//! ```

use super::Step;
use super::assembly::Places;
use super::balance::Members;
use super::collision::{Collision, Spring};
use super::laws::Laws;
use super::newton::Link;
use super::row::MechanicalFields;
use crate::SimError;
use saltus_linalg::{DenseLu, Matrix, vector};
use saltus_model::{At, Law, Model};
use std::ops::Range;

/// The contacts under the law, and the memory of an impact.
#[derive(Debug)]
pub(super) struct Impact {
    contacts: Vec<Item>,
    joints: Vec<Item>,
    collision: Collision,
    masses: Vec<DenseLu>,               // of each system
    active: Vec<Item>,                  // contacts, then joints
    columns: Vec<f64>,                  // M⁻¹ Hᵀ of the active, link by link
    touching: Vec<Vec<(usize, usize)>>, // of each system: active item, place in the columns
    row: Vec<f64>,
    W: Matrix,
    of_joints: Matrix, // G M⁻¹ Gᵀ
    joint_factors: DenseLu,
    /// Of each row of `λ`.
    pub impulse: Vec<f64>,
}

/// One row under the law, or one of an equality.
#[derive(Debug, Clone, Copy)]
struct Item {
    interaction: usize,
    component: usize,
    row: usize,
    spring: Spring,
}

/// Share of the terms of a relative velocity that is round-off.
const ROUND_OFF: f64 = 1e-12;

impl Impact {
    /// Nothing where no contact is under the law.
    pub fn new(model: &Model, places: &Places) -> Option<Impact> {
        let (mut contacts, mut joints) = (Vec::new(), Vec::new());
        for (k, (_, interaction, rows)) in places.interactions_of(model).enumerate() {
            let (list, spring) = match interaction.law {
                Law::MultipleImpact { e, stiffness, exponent } => {
                    (&mut contacts, Spring { e, stiffness, exponent })
                }
                Law::Equality if interaction.active && !interaction.relation.terms().through => {
                    (&mut joints, Spring { e: 0.0, stiffness: 0.0, exponent: 1.0 })
                }
                _ => continue,
            };
            let item = |(component, row)| Item { interaction: k, component, row, spring };
            list.extend(rows.enumerate().map(item));
        }
        let systems = places.systems.iter().flatten().count();
        let all = contacts.len() + joints.len();
        (!contacts.is_empty()).then(|| Impact {
            active: Vec::with_capacity(all),
            contacts,
            joints,
            collision: Collision::default(),
            masses: (0..systems).map(|_| DenseLu::default()).collect(),
            columns: Vec::new(),
            touching: vec![Vec::new(); systems],
            row: Vec::with_capacity(all),
            W: Matrix::default(),
            of_joints: Matrix::default(),
            joint_factors: DenseLu::default(),
            impulse: vec![0.0; places.outputs],
        })
    }

    /// Where a closed contact closes: the impulses of the impact, which are added to the momentum
    /// that the step is given.
    pub fn strike(
        &mut self,
        members: &mut Members,
        links: &[Link],
        laws: &Laws,
        reach: &[f64],
        now: &MechanicalFields<'_>,
    ) -> Result<bool, SimError> {
        self.impulse.fill(0.0);
        let step = members.step;
        let is_on = |item: &&Item| laws.is_on(item.row..item.row + 1);
        self.active.clear();
        self.active.extend(self.contacts.iter().filter(is_on));
        let closes = |item: &Item| {
            let terms = members.interactions[item.interaction].speed_terms(item.component, now.v);
            -now.u[item.row] > ROUND_OFF * terms + reach[item.row] * now.lam[item.row] / step.h
        };
        if !self.active.iter().any(closes) {
            return Ok(false);
        }
        let contacts = self.active.len();
        self.active.extend(&self.joints);
        self.respond(members, links, now)?;
        match self.joints.is_empty() {
            true => self.gather(members, links, now, contacts),
            false => self.gather_with_joints(members, links, now, contacts, step)?,
        }
        self.collision.solve().map_err(|endless| SimError::Impact {
            time: step.start,
            contacts,
            steps: endless.steps,
        })?;
        for (item, impulse) in self.active.iter().zip(self.collision.impulses()) {
            self.impulse[item.row] = *impulse;
        }
        self.hold_joints(contacts);
        for item in &self.active {
            let contact = &members.interactions[item.interaction];
            let (H, mut first) = (contact.H.row(item.component), 0);
            for range in &contact.ranges {
                let momentum = members.f[range.clone()].iter_mut();
                let part = &H[first..first + range.len()];
                momentum.zip(part).for_each(|(f, H)| *f += H * self.impulse[item.row]);
                first += range.len();
            }
        }
        Ok(true)
    }

    /// `M⁻¹ Hᵀ` of what is active.
    fn respond(
        &mut self,
        members: &mut Members,
        links: &[Link],
        now: &MechanicalFields<'_>,
    ) -> Result<(), SimError> {
        let Step { start, h, .. } = members.step;
        for (k, member) in members.systems.iter_mut().enumerate() {
            let range = member.range.clone();
            let q = &now.q[member.place.clone()];
            let at = At::new(start, q, &now.v[range]).with(&member.inputs);
            let evaluated = member.system.mass(at, &mut member.M);
            evaluated.map_err(|error| error.of(&member.name))?;
            self.masses[k].factor(&member.M).map_err(|source| SimError::Iteration {
                system: member.name.clone(),
                matrix: "the mass matrix",
                h,
                source,
            })?;
        }
        self.columns.clear();
        self.touching.iter_mut().for_each(Vec::clear);
        let mut turned = usize::MAX;
        for (k, item) in self.active.iter().enumerate() {
            let contact = &mut members.interactions[item.interaction];
            if turned != item.interaction {
                contact.turn(start, now.q)?;
                turned = item.interaction;
            }
            let mut first = 0;
            for link in &links[contact.links.clone()] {
                let (place, size) = (self.columns.len(), link.range.len());
                self.columns.extend(&contact.H.row(item.component)[first..first + size]);
                self.masses[link.system].solve(&mut self.columns[place..]);
                self.touching[link.system].push((k, place));
                first += size;
            }
        }
        Ok(())
    }

    /// A row of `H M⁻¹ Hᵀ`, into `row`.
    fn row_of(&mut self, members: &Members, links: &[Link], item: Item) {
        self.row.clear();
        self.row.resize(self.active.len(), 0.0);
        let contact = &members.interactions[item.interaction];
        let (H, mut first) = (contact.H.row(item.component), 0);
        for link in &links[contact.links.clone()] {
            let size = link.range.len();
            for &(k, place) in &self.touching[link.system] {
                let column = &self.columns[place..place + size];
                self.row[k] += vector::dot(&H[first..first + size], column);
            }
            first += size;
        }
    }

    /// Gives the impact its contacts.
    fn gather(
        &mut self,
        members: &Members,
        links: &[Link],
        now: &MechanicalFields<'_>,
        contacts: usize,
    ) {
        self.collision.clear();
        for k in 0..contacts {
            let item = self.active[k];
            self.row_of(members, links, item);
            let entries = self.row.iter().copied().enumerate().filter(|(_, value)| *value != 0.0);
            self.collision.push(item.spring, now.u[item.row], entries);
        }
    }

    /// Equation (1).
    fn gather_with_joints(
        &mut self,
        members: &Members,
        links: &[Link],
        now: &MechanicalFields<'_>,
        contacts: usize,
        step: Step,
    ) -> Result<(), SimError> {
        let all = self.active.len();
        self.W.resize(all, all);
        for k in 0..all {
            let item = self.active[k];
            self.row_of(members, links, item);
            self.W.data_mut()[k * all..(k + 1) * all].copy_from_slice(&self.row);
        }
        let joints = all - contacts;
        self.of_joints.resize(joints, joints);
        for i in 0..joints {
            let row = &self.W.row(contacts + i)[contacts..];
            self.of_joints.data_mut()[i * joints..(i + 1) * joints].copy_from_slice(row);
        }
        self.joint_factors.factor(&self.of_joints).map_err(|source| SimError::Iteration {
            system: members.interactions[self.active[contacts].interaction].name.clone(),
            matrix: "G M⁻¹ Gᵀ",
            h: step.h,
            source,
        })?;
        self.collision.clear();
        for k in 0..contacts {
            let item = self.active[k];
            // (G M⁻¹ Gᵀ)⁻¹ G M⁻¹ Hᵀ of this contact; W is symmetric
            self.row.clear();
            self.row.extend_from_slice(self.W.row(k));
            let (own, held) = self.row.split_at_mut(contacts);
            self.joint_factors.solve(held);
            for (j, value) in own.iter_mut().enumerate() {
                *value -= vector::dot(&self.W.row(j)[contacts..], held);
            }
            let entries = own.iter().copied().enumerate().filter(|(_, value)| *value != 0.0);
            self.collision.push(item.spring, now.u[item.row], entries);
        }
        Ok(())
    }

    /// `P_G` of (1).
    fn hold_joints(&mut self, contacts: usize) {
        if self.joints.is_empty() {
            return;
        }
        let range: Range<usize> = 0..contacts;
        self.row.clear();
        for k in contacts..self.active.len() {
            let W = &self.W.row(k)[range.clone()];
            self.row.push(-vector::dot(W, self.collision.impulses()));
        }
        self.joint_factors.solve(&mut self.row);
        for (item, impulse) in self.active[contacts..].iter().zip(&self.row) {
            self.impulse[item.row] = *impulse;
        }
    }
}
