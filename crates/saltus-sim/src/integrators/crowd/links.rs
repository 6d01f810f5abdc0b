//! Interactions of the model among bodies that find contacts: joints, limits, motors, springs of laws.
//!
//! Their relations are linearized in the middle of the step, where the systems would be under the
//! velocities at its beginning, and constraints hold for the way of the step:
//!
//! ```text
//! Equality:        H (ϑ v⁺ + (1 − ϑ) v) + ∂h/∂t = 0,    then  y(q⁺) = 0  by Newton's method,          (1)
//!                  and  H(q⁺) v⁺ + ∂h/∂t = 0;    in islands with contacts, or laws that change (see
//!                  `tried`),  H v⁺ + ∂h/∂t = 0
//! contacts:        as those that are found, with the gap y (see `touching`)
//! laws of forces:  (H v⁺ + ∂h/∂t, λ) in the graph of h times the law
//! springs, loads:  see `forces`
//! ```
//!
//! With ϑ = ½ the reaction of (1) does no work. The second part of (1) moves positions alone, along
//! `M⁻¹ Hᵀ`, so that constraints do not drift; the third one keeps the part of the velocity that leads
//! off them from swinging to and fro.

use super::forces::{Role, Yield};
use super::linked::{Part, product};
use super::members::{Kind, Members};
use super::touching::State;
use crate::SimError;
use crate::integrators::Step;
use crate::integrators::assembly::Places;
use crate::integrators::laws::{Laws, PosedBlock};
use saltus_linalg::Matrix;
use saltus_model::{At, Law, Model, OperatorError, Order, Relation, Terms};
use saltus_numerics::Set;
use std::ops::Range;
use std::sync::Arc;

/// One interaction.
#[derive(Debug)]
pub(super) struct Link {
    /// Its position in the model.
    pub position: usize,
    pub name: String,
    relation: Arc<dyn Relation>,
    pub rows: Range<usize>,
    pub members: Vec<usize>,
    /// All of them are bodies in space.
    is_in_space: bool,
    pub terms: Terms,
    pub role: Role,
    /// How each row gives way; none where they do not.
    pub yields: Vec<Yield>,
    /// `∂h/∂λ` of each row, of springs and loads.
    pub compliance: Vec<f64>,
    /// Whether `y` and `H` are those at the end of the step.
    pub is_current: bool,
    pub inputs: Vec<f64>,
    pub H: Matrix,
    pub rate: Vec<f64>,
    pub y: Vec<f64>,
    /// `Hᵀ λ` of the step, in which `H` changes, and of the last one that was committed.
    pub push: Vec<f64>,
    pub pushed: Vec<f64>,
    q: Vec<f64>,
    lam: Vec<f64>,
    work: Vec<f64>,
    through: Matrix,
}

/// All interactions of mechanical systems.
#[derive(Debug)]
pub(super) struct Links {
    pub all: Vec<Link>,
    pub laws: Laws,
    pub frictional: Vec<bool>,
    /// The rows of the problem as they stand in the step.
    pub rows: Vec<RowOfStep>,
    /// Configurations in the middle of the step.
    pub q_mid: Vec<f64>,
    pub scratch: Vec<f64>,
}

/// A row at the beginning of the step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowOfStep {
    /// `H v + ∂h/∂t`.
    pub u: f64,
    /// The same with the free velocity.
    pub free: f64,
    /// The same with the velocity at the end, and the same `H`.
    pub after: f64,
    /// `∂h/∂t`.
    pub rate: f64,
    /// `y` of a spring, and what time alone changes in it.
    pub gap: f64,
    pub drift: f64,
    /// What a row of a law is taken for, where the step is tried so (see `tried`).
    pub guess: Guess,
}

/// What a row of a law may do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Guess {
    /// `λ` is this.
    Impulse(f64),
    /// `H v⁺ + ∂h/∂t + c + D λ = 0` with this `c`.
    Velocity(f64),
}

impl Default for Guess {
    fn default() -> Guess {
        Guess::Impulse(0.0)
    }
}

/// Rows of an interaction under one set.
#[derive(Debug)]
pub(super) struct LinkBlock {
    pub rows: Range<usize>,
    pub set: Set,
    /// Of a contact.
    pub state: Option<State>,
}

impl Links {
    pub fn new(model: &Model, places: &Places, members: &Members) -> Result<Links, SimError> {
        let laws = Laws::new(model, places);
        let mut all = Vec::new();
        let positions = (0..).zip(&places.interactions).filter(|(_, rows)| rows.is_some());
        let own = places.interactions_of(model).zip(positions);
        for ((name, interaction, rows), (position, _)) in own {
            let (relation, law) = (Arc::clone(&interaction.relation), &interaction.law);
            let role = Role::of(&*relation, law, interaction.active, rows.len());
            let (what, needs) = match law {
                _ if role.is_none() => {
                    ("the relation", "rigid, a spring or a load where contacts are found")
                }
                Law::NormalCone { .. } | Law::MultipleImpact { .. } | Law::Complementarity => {
                    ("the law", "another one where contacts are found")
                }
                law if law.is_bond() => ("the law", "no bond where contacts are found"),
                _ => ("", ""),
            };
            if !what.is_empty() {
                let (integrator, owner) = ("moreau-jean", format!("`{name}`, law {}", law.name()));
                return Err(SimError::Unsuited { integrator, owner, what, needs });
            }
            let of = |index: usize| members.all.iter().position(|one| one.position == index);
            let linked: Vec<usize> =
                interaction.systems.iter().filter_map(|id| of(id.index())).collect();
            let (size, terms) = (rows.len(), relation.terms());
            let (role, yields) = role.unwrap_or((Role::Off, Vec::new()));
            let width = linked.iter().map(|&k| members.all[k].dim()).sum();
            all.push(Link {
                position,
                push: vec![0.0; width],
                pushed: vec![0.0; width],
                name: name.to_string(),
                role,
                yields,
                compliance: vec![1.0; size],
                through: Matrix::default(),
                is_current: false,
                inputs: relation.z0().to_vec(),
                relation,
                rows,
                is_in_space: linked.iter().all(|&k| members.all[k].kind == Kind::Space),
                members: linked,
                terms,
                H: Matrix::default(),
                rate: vec![0.0; size],
                y: vec![0.0; size],
                q: Vec::new(),
                lam: vec![0.0; size],
                work: Vec::new(),
            });
        }
        debug_assert!(all.iter().all(|link| link.relation.order() == Order::Second));
        // asked for by interactions alone
        let positions = if all.is_empty() { 0 } else { places.positions };
        Ok(Links {
            frictional: laws.frictional(),
            laws,
            all,
            rows: vec![RowOfStep::default(); places.outputs],
            q_mid: vec![0.0; positions],
            scratch: Vec::new(),
        })
    }
}

impl Links {
    /// Some of the interactions, as parts of a problem.
    pub fn parts(&self, wanted: impl Fn(&Link) -> bool) -> impl Iterator<Item = Part> {
        let own = self.all.iter().enumerate().filter(move |(_, link)| wanted(link));
        own.map(|(k, link)| Part::link(k, link))
    }
}

impl Links {
    /// Whether a row is one of velocities that are held in a step without contacts.
    pub fn holds(&self, link: &Link, i: usize) -> bool {
        match link.role {
            Role::Law if link.yields.is_empty() => {
                matches!(self.rows[link.rows.start + i].guess, Guess::Velocity(_))
            }
            role => role == Role::Constraint,
        }
    }
}

impl Link {
    /// When it is linearized: a velocity that is asked for is that at the end.
    pub fn time(&self, step: Step) -> f64 {
        if self.terms.velocity && !self.is_force() { step.end } else { step.start + 0.5 * step.h }
    }

    /// The inputs that it starts with.
    pub fn reset_inputs(&mut self) {
        self.inputs.clear();
        self.inputs.extend_from_slice(self.relation.z0());
    }

    /// Takes the configurations of its systems.
    fn gather(&mut self, q: &[f64], members: &Members) {
        self.q.clear();
        for &k in &self.members {
            let member = &members.all[k];
            self.q.extend_from_slice(&q[member.own_q()]);
        }
    }

    /// `y` alone at these configurations.
    pub fn output(&mut self, t: f64, q: &[f64], members: &Members) -> Result<(), SimError> {
        self.gather(q, members);
        let at = At::new(t, &self.q, &self.lam).with(&self.inputs);
        Ok(self.relation.output(at, &mut self.y).map_err(|error| error.of(&self.name))?)
    }

    /// `y`, `H`, `∂h/∂t` and, where it has one, `∂h/∂λ` at these configurations.
    pub fn evaluate(&mut self, t: f64, q: &[f64], members: &Members) -> Result<(), SimError> {
        self.gather(q, members);
        let Link { relation, q: own, H, y, work, lam, rate, is_current, .. } = self;
        *is_current = false;
        let at = At::new(t, own, lam).with(&self.inputs);
        let done = relation.output_and_dx(at, y, H, work);
        done.map_err(|error: OperatorError| error.of(&self.name))?;
        if self.terms.time {
            relation.output_dt(at, rate).map_err(|error| error.of(&self.name))?;
        }
        if self.terms.through {
            let through = &mut self.through;
            relation.output_dlam(at, through).map_err(|error| error.of(&self.name))?;
            for (i, compliance) in self.compliance.iter_mut().enumerate() {
                *compliance = through[(i, i)];
            }
        }
        Ok(())
    }

    /// Adds `Hᵀ λ`, with `H` as it is now, to what the interaction does in the step.
    pub fn add_push(&mut self, lam: &[f64]) {
        for (row, lam) in lam.iter().enumerate().filter(|(_, lam)| **lam != 0.0) {
            self.push.iter_mut().zip(self.H.row(row)).for_each(|(p, H)| *p += H * lam);
        }
    }

    /// `H v + ∂h/∂t`, row by row.
    pub fn velocities(&self, v: &[f64], members: &Members, mut take: impl FnMut(usize, f64)) {
        let of = |k: usize| {
            let member = &members.all[k];
            &v[member.own_v()]
        };
        let (H, _) = self.H.data().as_chunks::<6>();
        match self.members[..] {
            // bodies in space
            [a] if self.is_in_space => {
                let Some(a) = of(a).first_chunk::<6>() else { return };
                for row in 0..self.rate.len() {
                    take(row, self.rate[row] + product(&H[row], a));
                }
            }
            [a, b] if self.is_in_space => {
                let Some(a) = of(a).first_chunk::<6>() else { return };
                let Some(b) = of(b).first_chunk::<6>() else { return };
                let (H, _) = H.as_chunks::<2>();
                for row in 0..self.rate.len() {
                    let [by_a, by_b] = &H[row];
                    take(row, self.rate[row] + (product(by_a, a) + product(by_b, b)));
                }
            }
            _ => {
                for (row, rate) in self.rate.iter().enumerate() {
                    let (mut sum, mut left) = (*rate, self.H.row(row));
                    for &k in &self.members {
                        let (own, rest) = left.split_at(members.all[k].dim());
                        sum += own.iter().zip(of(k)).map(|(H, v)| H * v).sum::<f64>();
                        left = rest;
                    }
                    take(row, sum);
                }
            }
        }
    }

    /// `H M⁻¹ Hᵀ` of a row.
    pub fn mobility(&self, i: usize, members: &mut Members) -> f64 {
        let mut left = self.H.row(i);
        let own = self.members.iter().map(|&k| {
            let (own, rest) = left.split_at(members.all[k].dim());
            left = rest;
            members.mobility(k, own)
        });
        own.sum()
    }

    /// Its blocks: rows, set, and the state of a contact.
    pub fn blocks(
        &self,
        laws: &Laws,
        h: f64,
        y: &[f64],
        rows: &[RowOfStep],
    ) -> impl Iterator<Item = Result<LinkBlock, SimError>> {
        laws.blocks_of(self.rows.clone(), h).map(move |block| {
            let PosedBlock { rows: own, set, restitution } = block?;
            // a spring that only pushes has no impacts
            let restitution = restitution.filter(|_| self.yields.is_empty());
            let state = restitution.map(|[e, et]| {
                let mut u = [0.0; saltus_numerics::bodies::COMPONENTS];
                for (k, row) in own.clone().enumerate().take(u.len()) {
                    u[k] = rows[row].u;
                }
                State::new(y[own.start], u, rows[own.start].free, [e, et])
            });
            Ok(LinkBlock { rows: own, set, state })
        })
    }
}
