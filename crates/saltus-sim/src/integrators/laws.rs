//! Laws as sets of the problem of a step.
//!
//! The unknowns of the problem are the multipliers `λ`, and after them what a polyhedron adds:
//! `−w ∈ N_P(λ)` with `P = { A λ ≤ b }` is
//!
//! ```text
//! w + Aᵀ ν = 0,    0 ≤ ν ⟂ b − A λ ≥ 0                                                (1)
//! ```
//!
//! In mechanics a law of forces becomes one of impulses: its bounds and graphs are multiplied by
//! the step. A contact acts where its gap is closed and is switched off elsewhere; its
//! restitution adds `e u⁻` to the relative velocity:
//!
//! ```text
//! u_N⁺ + e u_N⁻,    u_T⁺ + e_T u_T⁻        (Frémond: e_T = 1, the mean of both)      (2)
//! ```

use super::assembly::Places;
use super::row::MechanicalFields;
use super::user_set::Scaled;
use crate::SimError;
use saltus_linalg::Sparse;
use saltus_model::{At, Coefficient, Law, Model, Range as Allowed};
use saltus_numerics::{Block, Graph, Operator, Problem, Set};
use std::ops::Range;
use std::sync::Arc;

/// The laws of all interactions of one order.
#[derive(Debug)]
pub(crate) struct Laws {
    blocks: Vec<LawBlock>,
    first: Vec<usize>, // of each row, the block that it is in
    outputs: usize,
    extra: usize,  // unknowns ν
    varying: bool, // some coefficient is a function
}

/// Rows under one set.
#[derive(Debug)]
struct LawBlock {
    rows: Range<usize>,
    component: usize, // the first one, in the interaction
    law: Law,
    contact: Option<Contact>,
    owner: String,
    states: Vec<Range<usize>>, // x or q of the linked systems
    off: bool,                 // the interaction is not connected
    bond: Option<BondRow>,
    closed: bool, // a switch is
}

/// Rows under one set, as they stand in a step.
#[derive(Debug)]
pub(crate) struct PosedBlock {
    pub rows: Range<usize>,
    pub set: Set,
    /// Of contacts, along normal and tangents.
    pub restitution: Option<[f64; 2]>,
}

/// What a row of a bond allows: impulses from `least` to `most`, which for a constant force are
/// multiplied by the step.
#[derive(Debug, Clone, Copy)]
struct BondRow {
    bond: usize,
    least: f64,
    most: f64,
    on: bool,
}

/// What the contact law is at this instant.
#[derive(Debug, Clone, Copy)]
struct Contact {
    e: f64,
    et: f64,
    mu: f64,
    mu_r: f64,
    bond: Option<usize>, // that friction waits for
    beta: f64,           // of it
    on: bool,
}

impl Laws {
    /// The laws of a model.
    pub fn new(model: &Model, places: &Places) -> Laws {
        let (outputs, extra, varying) = (places.outputs, 0, false);
        let mut laws = Laws { blocks: Vec::new(), first: Vec::new(), outputs, extra, varying };
        let mut bonds = 0;
        for (name, interaction, rows) in places.interactions_of(model) {
            let law = &interaction.acting_law();
            let off = !interaction.active;
            let states = interaction.systems.iter();
            let states: Vec<_> =
                states.filter_map(|id| places.configurations[id.index()].clone()).collect();
            let first = rows.start;
            let mut push = |rows: Range<usize>, bond: Option<BondRow>| {
                let component = rows.start - first;
                let contact = (law.is_contact() && bond.is_none()).then_some(Contact {
                    e: 0.0,
                    et: match law {
                        Law::ImpactFriction { et, .. } => *et,
                        Law::Fremond { .. } => 1.0,
                        _ => 0.0,
                    },
                    mu: 0.0,
                    mu_r: 0.0,
                    bond: matches!(law, Law::Cohesive { .. }).then_some(bonds),
                    beta: 0.0,
                    on: true,
                });
                let (law, owner, states) = (law.clone(), name.to_string(), states.clone());
                let closed = matches!(law, Law::Switch { closed: true, .. });
                laws.blocks.push(LawBlock {
                    rows,
                    component,
                    law,
                    contact,
                    owner,
                    states,
                    off,
                    bond,
                    closed,
                });
            };
            // what holds component by component has a block for each
            match law {
                Law::ImpactFriction { .. }
                | Law::RollingFriction { .. }
                | Law::Fremond { .. }
                | Law::User(_)
                | Law::NormalCone { .. } => push(rows, None),
                Law::Cohesive { .. } | Law::BinaryCohesive { .. } => {
                    let middle = rows.start + rows.len() / 2;
                    push(rows.start..middle, None);
                    for row in middle..rows.end {
                        let (least, most) = bond_bounds(law, row - middle);
                        let bond = BondRow { bond: bonds, least, most, on: true };
                        push(row..row + 1, Some(bond));
                    }
                }
                _ => rows.for_each(|row| push(row..row + 1, None)),
            }
            // as in the row of the state, connected or not
            bonds += usize::from(interaction.law.is_bond());
            if let Law::NormalCone { A, .. } = law {
                laws.extra += A.rows();
            }
        }
        for block in &mut laws.blocks {
            if let Some(contact) = &mut block.contact {
                for (value, (coefficient, _)) in contact.values().zip(coefficients(&block.law)) {
                    match coefficient {
                        Some(Coefficient::Constant(constant)) => *value = *constant,
                        Some(Coefficient::Varying(_)) => laws.varying = true,
                        None => {}
                    }
                }
            }
        }
        laws.number_rows();
        laws
    }

    /// The laws of gaps in place of those of velocities: normals of contacts are not negative,
    /// equalities are zero, and the rest has no multiplier.
    pub fn of_gaps(model: &Model, places: &Places) -> Laws {
        let (outputs, extra, varying) = (places.outputs, 0, false);
        let mut laws = Laws { blocks: Vec::new(), first: Vec::new(), outputs, extra, varying };
        for (name, interaction, rows) in places.interactions_of(model) {
            let first = rows.start;
            let terms = interaction.relation.terms();
            let rigid = !terms.through && !terms.velocity;
            for row in rows {
                let law = match &interaction.acting_law() {
                    Law::Equality if rigid => Law::Equality,
                    law if law.is_normal() => Law::newton_impact(0.0),
                    law if law.is_contact() && row == first => Law::newton_impact(0.0),
                    _ => Law::Relay { lower: vec![0.0], upper: vec![0.0] },
                };
                let (bond, beta) = (None, 0.0);
                let off = Contact { e: 0.0, et: 0.0, mu: 0.0, mu_r: 0.0, bond, beta, on: true };
                let contact = law.is_contact().then_some(off);
                let (owner, states) = (name.to_string(), Vec::new());
                let (rows, component, off) = (row..row + 1, row - first, !interaction.active);
                let (bond, closed) = (None, false);
                laws.blocks.push(LawBlock {
                    rows,
                    component,
                    law,
                    contact,
                    owner,
                    states,
                    off,
                    bond,
                    closed,
                });
            }
        }
        laws.number_rows();
        laws
    }

    /// Says of each row which block it is in.
    fn number_rows(&mut self) {
        let rows = self.blocks.iter().enumerate();
        self.first = rows.flat_map(|(k, block)| block.rows.clone().map(move |_| k)).collect();
    }

    /// Whether a multiplier of these rows can be other than zero.
    pub fn acts(&self, rows: Range<usize>) -> bool {
        let inside = |block: &&LawBlock| rows.contains(&block.rows.start);
        let acts = |block: &LawBlock| match block.law {
            Law::Relay { .. } => false,
            _ => block.contact.is_none_or(|contact| contact.on),
        };
        self.blocks[self.first[rows.start]..].iter().take_while(inside).any(acts)
    }

    /// Switches on the contacts whose normal needed a multiplier `μ`. Whether there were any.
    pub fn close(&mut self, mu: &[f64], problem: &mut Problem) -> bool {
        let mut any = false;
        for block in &mut self.blocks {
            let row = block.rows.start;
            let Some(contact) = &mut block.contact else { continue };
            if contact.on || !(mu[row] > 0.0) {
                continue;
            }
            contact.on = true;
            any = true;
            match block.is_box() {
                true => problem.set_bounds(row, 0.0, f64::INFINITY),
                false => problem.switch(row, true),
            }
        }
        any
    }

    /// Closes or opens the switch of these rows, also in the problem if it is made already.
    pub fn set_switch(&mut self, rows: Range<usize>, closed: bool, problem: Option<&mut Problem>) {
        let blocks = &mut self.blocks[self.first[rows.start]..self.first[rows.end - 1] + 1];
        let switches = blocks.iter_mut().filter(|block| matches!(block.law, Law::Switch { .. }));
        let mut any = false;
        switches.for_each(|block| (block.closed, any) = (closed, true));
        if let Some(problem) = problem.filter(|_| any) {
            let most = if closed { f64::INFINITY } else { 0.0 };
            rows.for_each(|row| problem.set_bounds(row, -most, most));
        }
    }

    /// Unknowns of the problem.
    pub fn unknowns(&self) -> usize {
        self.outputs + self.extra
    }

    /// The blocks of the problem; `scale` is the step in mechanics, else 1.
    fn sets(&self, scale: f64) -> Result<Vec<Block>, SimError> {
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let size = block.rows.len();
            blocks.push(Block { size, set: block.set(scale)? });
        }
        blocks.push(Block { size: self.extra, set: Set::Nonnegative });
        Ok(blocks)
    }

    /// The problem with the matrix `∂w/∂λ`.
    pub fn problem(&mut self, matrix: Operator, scale: f64) -> Result<Problem, SimError> {
        let blocks = self.sets(scale)?;
        let mut q = vec![0.0; self.outputs];
        for block in &self.blocks {
            if let Law::NormalCone { b, .. } = &block.law {
                q.extend(b.iter().map(|b| scale * b));
            }
        }
        let problem = Problem::new(self.with_extra(matrix), q, &blocks)?;
        for contact in self.blocks.iter_mut().filter_map(|block| block.contact.as_mut()) {
            contact.on = true;
        }
        Ok(problem)
    }

    /// Equation (1): the matrix with the rows and columns of `ν`.
    pub fn with_extra(&self, matrix: Operator) -> Operator {
        if self.extra == 0 {
            return matrix;
        }
        let mut triplets = match &matrix {
            // zeros too: they may be written later
            Operator::Dense(dense) => {
                let entry = |k: usize, &x: &f64| (k / dense.cols(), k % dense.cols(), x);
                dense.data().iter().enumerate().map(|(k, x)| entry(k, x)).collect::<Vec<_>>()
            }
            Operator::Sparse(sparse) => sparse.iter().collect(),
            _ => Vec::new(),
        };
        let mut next = self.outputs;
        for block in &self.blocks {
            if let Law::NormalCone { A, .. } = &block.law {
                for i in 0..A.rows() {
                    for (j, &a) in A.row(i).iter().enumerate() {
                        triplets.push((block.rows.start + j, next + i, a));
                        triplets.push((next + i, block.rows.start + j, -a));
                    }
                }
                next += A.rows();
            }
        }
        let matrix = Sparse::from_triplets(next, next, &triplets);
        if next <= 64 { Operator::Dense(matrix.to_dense()) } else { Operator::Sparse(matrix) }
    }

    /// Evaluates the coefficients that are functions.
    pub fn evaluate(
        &mut self,
        t: f64,
        now: &MechanicalFields<'_>,
        problem: &mut Problem,
        scratch: &mut Vec<f64>,
    ) -> Result<(), SimError> {
        if !self.varying {
            return Ok(());
        }
        for block in &mut self.blocks {
            let Some(contact) = &mut block.contact else { continue };
            let pairs = coefficients(&block.law);
            if !pairs.iter().any(|(c, _)| matches!(c, Some(Coefficient::Varying(_)))) {
                continue;
            }
            scratch.clear();
            block.states.iter().for_each(|range| scratch.extend(&now.q[range.clone()]));
            let at = At::new(t, scratch, &now.u[block.rows.clone()]);
            for (value, (coefficient, allowed)) in contact.values().zip(pairs) {
                if let Some(coefficient) = coefficient {
                    *value = coefficient.eval(at, allowed).map_err(|e| e.of(&block.owner))?;
                }
            }
            if block.law_is_placed() {
                problem.set_placed(block.rows.start, &block.set(1.0)?)?;
            }
        }
        Ok(())
    }

    /// The same where the problem is made anew in every step.
    pub fn evaluate_alone(
        &mut self,
        t: f64,
        now: &MechanicalFields<'_>,
        scratch: &mut Vec<f64>,
    ) -> Result<(), SimError> {
        if !self.varying {
            return Ok(());
        }
        for block in &mut self.blocks {
            let Some(contact) = &mut block.contact else { continue };
            scratch.clear();
            block.states.iter().for_each(|range| scratch.extend(&now.q[range.clone()]));
            let at = At::new(t, scratch, &now.u[block.rows.clone()]);
            for (value, (coefficient, allowed)) in contact.values().zip(coefficients(&block.law)) {
                if let Some(coefficient) = coefficient {
                    *value = coefficient.eval(at, allowed).map_err(|e| e.of(&block.owner))?;
                }
            }
        }
        Ok(())
    }

    /// The blocks of these rows: their own rows, their sets in a step of length `h`, and restitution
    /// along normal and tangents, of contacts.
    pub fn blocks_of(
        &self,
        rows: Range<usize>,
        h: f64,
    ) -> impl Iterator<Item = Result<PosedBlock, SimError>> {
        let blocks = &self.blocks[self.first[rows.start]..];
        let blocks = blocks.iter().take_while(move |block| block.rows.end <= rows.end);
        blocks.map(move |block| {
            let restitution = block.contact.map(|contact| [contact.e, contact.et]);
            Ok(PosedBlock { rows: block.rows.clone(), set: block.set(h)?, restitution })
        })
    }

    /// Switches contacts on where `y + γ h u ≤ threshold` (a contact that carried an impulse
    /// stays on while it opens by less than `reach λ`), and gives forces their impulses. Whether
    /// anything acts.
    #[inline]
    pub fn activate(
        &mut self,
        ahead: f64, // γ h
        threshold: f64,
        h: f64,
        reach: &[f64],
        now: &MechanicalFields<'_>,
        problem: &mut Problem,
    ) -> bool {
        self.switch(h, problem, |row| {
            now.y[row] + ahead * now.u[row] <= threshold + reach[row] * now.lam[row]
        })
    }

    /// Switches contacts on where `is_on` says so of their normal, and gives forces their
    /// impulses over a time `h`. Whether anything acts.
    #[inline]
    pub fn switch(&mut self, h: f64, problem: &mut Problem, is_on: impl Fn(usize) -> bool) -> bool {
        let mut any = false;
        for block in &mut self.blocks {
            let row = block.rows.start;
            match &mut block.contact {
                Some(contact) => {
                    let on = is_on(row);
                    any |= on;
                    if on == contact.on {
                        continue;
                    }
                    contact.on = on;
                    match is_box(&block.law, block.rows.len()) {
                        true => problem.set_bounds(row, 0.0, if on { f64::INFINITY } else { 0.0 }),
                        false => problem.switch(row, on),
                    }
                }
                None if block.bond.is_some() => any |= block.bond.is_some_and(|bond| bond.on),
                None => {
                    any |= !block.off;
                    if let Law::Relay { lower, upper } = &block.law {
                        let (lower, upper) = relay_bounds(lower, upper, block.component);
                        problem.set_bounds(row, h * lower, h * upper);
                    }
                }
            }
        }
        any
    }

    /// Gives laws of forces their impulses over a step of length `h`: their sets, and what `q` has
    /// for the unknowns `ν`.
    pub fn scale(&self, h: f64, problem: &mut Problem, q: &mut [f64]) -> Result<(), SimError> {
        let mut next = self.outputs;
        for block in &self.blocks {
            match &block.law {
                Law::PiecewiseLinear { .. } | Law::User(_) => {
                    problem.set_placed(block.rows.start, &block.set(h)?)?;
                }
                Law::NormalCone { b, .. } => {
                    q[next..next + b.len()].iter_mut().zip(b).for_each(|(q, b)| *q = h * b);
                    next += b.len();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes over the integrity of the bonds, in a step of length `h`: their forces, and the
    /// friction that they leave.
    pub fn bind(&mut self, h: f64, beta: &[f64], problem: &mut Problem) -> Result<(), SimError> {
        if beta.is_empty() {
            return Ok(());
        }
        for block in &mut self.blocks {
            let row = block.rows.start;
            if let Some(bond) = &mut block.bond {
                bond.on = beta[bond.bond] > 0.0 && (bond.least, bond.most) != (0.0, 0.0);
                let (least, most) = (h * bond.least, h * bond.most);
                let (least, most) = if bond.on { (least, most) } else { (0.0, 0.0) };
                problem.set_bounds(row, least, most);
            }
            if let Some(contact) = &mut block.contact
                && let Some(bond) = contact.bond
                && contact.beta != beta[bond]
            {
                contact.beta = beta[bond];
                if block.law_is_placed() {
                    problem.set_placed(row, &block.set(1.0)?)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the law of these rows acts.
    #[inline]
    pub fn is_on(&self, rows: Range<usize>) -> bool {
        let on = |block: &LawBlock| match (&block.contact, &block.bond) {
            _ if block.off => false,
            (Some(contact), _) => contact.on,
            (_, Some(bond)) => bond.on,
            _ => true,
        };
        for block in &self.blocks[self.first[rows.start]..] {
            if on(block) {
                return block.rows.end <= rows.end;
            }
            if block.rows.end >= rows.end {
                break;
            }
        }
        false
    }

    /// What is not connected has no multiplier.
    pub fn silence(&self, lam: &mut [f64]) {
        for block in self.blocks.iter().filter(|block| block.off) {
            lam[block.rows.clone()].fill(0.0);
        }
    }

    /// Equation (2): adds what restitution asks for.
    #[inline]
    pub fn restitute(&self, u: &[f64], w: &mut [f64]) {
        for block in &self.blocks {
            let Some(contact) = &block.contact else { continue };
            let row = block.rows.start;
            w[row] += contact.e * u[row];
            if contact.et != 0.0 {
                let tangents = if block.rows.len() == 2 { 1 } else { 2 };
                for i in row + 1..row + 1 + tangents {
                    w[i] += contact.et * u[i];
                }
            }
        }
    }

    /// Of each row: whether the energy that it takes is taken by friction, and not along a normal
    /// or by a constraint.
    pub fn frictional(&self) -> Vec<bool> {
        let mut rows = vec![false; self.outputs];
        for block in &self.blocks {
            for (i, row) in block.rows.clone().enumerate() {
                rows[row] = takes_by_friction(&block.law, i);
            }
        }
        rows
    }

    /// Deepest penetration of a contact.
    #[inline]
    pub fn penetration(&self, y: &[f64]) -> f64 {
        let mut deepest = 0.0;
        for block in &self.blocks {
            if block.contact.is_some() && -y[block.rows.start] > deepest {
                deepest = -y[block.rows.start];
            }
        }
        deepest
    }
}

impl Contact {
    fn values(&mut self) -> impl Iterator<Item = &mut f64> {
        [&mut self.e, &mut self.mu, &mut self.mu_r].into_iter()
    }
}

impl LawBlock {
    fn law_is_placed(&self) -> bool {
        self.contact.is_some() && !self.is_box()
    }

    /// Whether the law of a contact is one of bounds.
    fn is_box(&self) -> bool {
        is_box(&self.law, self.rows.len())
    }

    fn set(&self, scale: f64) -> Result<Set, SimError> {
        let friction = |contact: Contact| ((1.0 - contact.beta) * contact.mu, contact.mu_r);
        let (mu, mu_r) = self.contact.map_or((0.0, 0.0), friction);
        if let Some(BondRow { least, most, .. }) = self.bond {
            return Ok(Set::Interval { lower: scale * least, upper: scale * most });
        }
        Ok(match (&self.law, self.rows.len()) {
            (Law::Equality | Law::NormalCone { .. }, _) => Set::Free,
            (Law::Complementarity, _) => Set::Nonnegative,
            (Law::Switch { .. }, _) if self.closed => Set::Free,
            (Law::Switch { .. }, _) => Set::Interval { lower: 0.0, upper: 0.0 },
            (law, size) if is_box(law, size) => Set::Nonnegative,
            (Law::Relay { lower, upper }, _) => {
                let (lower, upper) = relay_bounds(lower, upper, self.component);
                Set::Interval { lower: scale * lower, upper: scale * upper }
            }
            (Law::PiecewiseLinear { points }, _) => {
                let points: Vec<_> = points.iter().map(|&(y, lam)| (y, scale * lam)).collect();
                Set::Graph(Arc::new(Graph::new(&points).map_err(|error| SimError::Graph {
                    owner: self.owner.clone(),
                    why: error.to_string(),
                })?))
            }
            (Law::ImpactFriction { .. } | Law::Fremond { .. }, 2) => Set::Coulomb2 { mu },
            (Law::ImpactFriction { .. } | Law::Fremond { .. }, _) => Set::Coulomb3 { mu },
            (Law::RollingFriction { .. }, 3) => Set::Rolling2 { mu, mu_r },
            (Law::RollingFriction { .. }, _) => Set::Rolling3 { mu, mu_r },
            (Law::Cohesive { .. } | Law::BinaryCohesive { .. }, 2) => Set::Coulomb2 { mu },
            (Law::Cohesive { .. } | Law::BinaryCohesive { .. }, _) => Set::Coulomb3 { mu },
            (Law::NewtonImpact { .. } | Law::MultipleImpact { .. }, _) => Set::Nonnegative,
            (Law::User(law), _) => Set::user(Scaled { law: law.clone(), h: scale }),
        })
    }
}

/// Whether a block of a contact has bounds in place of a cone: no friction.
#[inline]
fn is_box(law: &Law, size: usize) -> bool {
    law.is_normal() || law.is_bond() && size == 1
}

/// The forces that a component of a bond can have: pulling along the normal, any along tangents, or
/// a constant one.
fn bond_bounds(law: &Law, component: usize) -> (f64, f64) {
    match law {
        Law::Cohesive { .. } if component == 0 => (f64::NEG_INFINITY, 0.0),
        Law::Cohesive { bond, .. } if bond.shear > 0.0 => (f64::NEG_INFINITY, f64::INFINITY),
        Law::BinaryCohesive { strength, .. } if component == 0 => (-strength, -strength),
        _ => (0.0, 0.0),
    }
}

/// `e`, `μ` and `μ_r` of a law, where it has them.
fn coefficients(law: &Law) -> [(Option<&Coefficient>, &'static Allowed); 3] {
    let (e, mu, mu_r) = match law {
        Law::NewtonImpact { e } => (Some(e), None, None),
        Law::ImpactFriction { e, mu, .. } | Law::Fremond { e, mu } => (Some(e), Some(mu), None),
        Law::Cohesive { e, mu, .. } | Law::BinaryCohesive { e, mu, .. } => {
            (Some(e), Some(mu), None)
        }
        Law::RollingFriction { e, mu, mu_r } => (Some(e), Some(mu), Some(mu_r)),
        _ => (None, None, None),
    };
    [(e, &Allowed::E), (mu, &Allowed::MU), (mu_r, &Allowed::MU_R)]
}

/// The bounds of one component of a relay.
fn relay_bounds(lower: &[f64], upper: &[f64], i: usize) -> (f64, f64) {
    (lower[i.min(lower.len() - 1)], upper[i.min(upper.len() - 1)])
}

/// Whether the energy that a component of a law takes is taken by friction, and not along a normal or
/// by a constraint.
pub(crate) fn takes_by_friction(law: &Law, component: usize) -> bool {
    match law {
        Law::Equality | Law::Complementarity | Law::NewtonImpact { .. } => false,
        law => component > 0 || !law.is_contact(),
    }
}
