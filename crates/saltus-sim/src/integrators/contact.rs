//! An interaction in a step of mechanics: its relation at the iterate, what its laws are on, and the impulses
//! along it. The equations (3), (5), (6) are those of `balance`.

use super::Step;
use super::assembly::Places;
use super::balance::Member;
use super::bonds::BondOfStep;
use super::motion::Motion;
use super::newton::Link;
use super::together::Share;
use crate::SimError;
use saltus_linalg::{Matrix, unrolled, vector};
use saltus_model::{At, ForceRule, Interaction, OperatorError, Relation, Terms};
use std::ops::Range;
use std::sync::Arc;

/// A component of (6) in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Force {
    rule: ForceRule,
    mean: f64,  // weight of the end of the step
    scale: f64, // of `w`
}

/// An interaction, and what is known of it at the iterate.
#[derive(Debug)]
pub(super) struct Contact {
    pub name: String,
    pub relation: Arc<dyn Relation>,
    pub rows: Range<usize>,
    pub ranges: Vec<Range<usize>>, // of its systems
    pub places: Vec<Range<usize>>, // the same in q
    pub links: Range<usize>,
    pub terms: Terms,
    pub fixed: bool,          // H never changes
    offset: Option<Vec<f64>>, // of a gap H q + e of one system, where e does not either
    pub compliant: bool,
    pub forces: Vec<Force>, // of (6); none where the relation stands for no force
    q_start: Vec<f64>,      // where the step begins
    pub on_gap: Vec<bool>,  // components whose law is on `y/h` in place of `u`
    pub bond: Option<BondOfStep>,
    pub plain: bool, // its laws are on u⁺ alone
    pub inputs: Vec<f64>,
    pub q: Vec<f64>,
    pub H: Matrix,
    pub rate: Vec<f64>,        // ∂h/∂t
    pub rate_before: Vec<f64>, // at the beginning of the step
    pub force: Vec<f64>,
    pub y: Vec<f64>,
    pub share: Option<Share>, // where it is evaluated together with others
    work: Vec<f64>,
}

/// What the impulses give to each degree of freedom.
pub(super) struct Gained<'a> {
    /// `Hᵀ λ`.
    pub impulse: &'a mut [f64],
    /// `|Hᵀ| |λ|`.
    pub pushes: &'a mut [f64],
}

impl Contact {
    /// An interaction of a model; the links and bonds of those before it are counted.
    pub fn new(
        name: &str,
        interaction: &Interaction,
        rows: Range<usize>,
        places: &Places,
        motion: &Motion,
        (links, bonds): (usize, usize),
    ) -> Contact {
        let relation = Arc::clone(&interaction.relation);
        let linked = interaction.systems.iter();
        let ranges: Vec<_> = linked.filter_map(|id| places.systems[id.index()].clone()).collect();
        let linked = interaction.systems.iter();
        let places: Vec<_> =
            linked.filter_map(|id| places.configurations[id.index()].clone()).collect();
        let width: usize = ranges.iter().map(|range| range.len()).sum();
        let terms = relation.terms();
        let bond = BondOfStep::new(&interaction.law, interaction.active, bonds, rows.len() / 2);
        let linear = relation.linear();
        let fixed = linear.is_some();
        let moves = terms.through || terms.time || terms.velocity || bond.is_some();
        let still = linear.filter(|linear| !(linear.moves || moves) && ranges.len() == 1);
        let offset = |e: Option<&[f64]>| e.map_or(vec![0.0; rows.len()], <[f64]>::to_vec);
        let offset = still.map(|linear| offset(linear.e));
        let rules = (0..rows.len()).filter_map(|i| relation.force_rule(i));
        let forces = rules.map(|rule| Force { rule, mean: 1.0, scale: 1.0 });
        let forces: Vec<Force> = forces.collect();
        let compliant = terms.through;
        let on_gap = motion.on_gap(&interaction.law, terms, rows.len());
        let on_velocity = !(compliant || on_gap.contains(&true));
        Contact {
            name: name.to_string(),
            plain: on_velocity && forces.is_empty() && bond.is_none(),
            links: links..links + ranges.len(),
            inputs: relation.z0().to_vec(),
            q_start: Vec::new(),
            q: Vec::new(),
            H: Matrix::default(),
            rate: vec![0.0; rows.len()],
            rate_before: vec![0.0; rows.len()],
            force: vec![0.0; rows.len()],
            y: vec![0.0; rows.len()],
            share: None,
            work: Vec::with_capacity(rows.len() * (1 + width)),
            relation,
            ranges,
            places,
            terms,
            fixed,
            offset,
            compliant,
            forces,
            on_gap,
            bond,
            rows,
        }
    }

    /// The forces of (6) in a step of length `h`, with `θ = κ`, that begins at `q`.
    pub fn begin_forces(&mut self, h: f64, kappa: f64, q: &[f64]) {
        self.gather(q);
        self.q_start.clone_from(&self.q);
        for force in &mut self.forces {
            (force.mean, force.scale) = match force.rule {
                ForceRule::Spring { retardation } => {
                    let mean = kappa + retardation / h;
                    (mean, 1.0 / (h * mean * kappa))
                }
                ForceRule::Load => (kappa, 1.0),
            };
        }
    }

    /// Numbers of its output and its `H`.
    pub fn values(&self) -> usize {
        let width: usize = self.places.iter().map(|place| place.len()).sum();
        self.rows.len() * (1 + width)
    }

    /// Takes the configuration of its systems.
    pub fn gather(&mut self, q: &[f64]) {
        self.q.clear();
        self.places.iter().for_each(|place| self.q.extend_from_slice(&q[place.clone()]));
    }

    /// Takes the impulses, which are forces when multiplied by `rate`, where the relation depends
    /// on them.
    pub fn press(&mut self, rate: f64, lam: &[f64]) {
        if self.terms.through {
            let lam = &lam[self.rows.clone()];
            self.force.iter_mut().zip(lam).for_each(|(force, lam)| *force = rate * lam);
        }
    }

    /// `H` and `∂h/∂t` at this configuration, under the forces that [`press`](Self::press) took.
    pub fn turn(&mut self, t: f64, q: &[f64]) -> Result<(), SimError> {
        self.gather(q);
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        let of_contact = |error: OperatorError| error.of(&self.name);
        if !(self.fixed && self.H.rows() > 0) {
            self.relation.output_dx(at, &mut self.H).map_err(of_contact)?;
        }
        if self.terms.time {
            self.relation.output_dt(at, &mut self.rate).map_err(of_contact)?;
        }
        Ok(())
    }

    /// [`turn`](Self::turn), then `y = h(t, q)` of a relation whose output does not depend on `λ`.
    pub fn turn_with_gap(&mut self, t: f64, q: &[f64], y: &mut [f64]) -> Result<(), SimError> {
        if let (Some(offset), [range]) = (&self.offset, &self.places[..]) {
            let q = &q[range.clone()];
            for (i, row) in self.rows.clone().enumerate() {
                y[row] = vector::dot(self.H.row(i), q) + offset[i];
            }
            return Ok(());
        }
        let q = match &self.places[..] {
            [range] => &q[range.clone()],
            _ => {
                self.gather(q);
                &self.q
            }
        };
        let at = At::new(t, q, &self.force).with(&self.inputs);
        let of_contact = |error: OperatorError| error.of(&self.name);
        let y = &mut y[self.rows.clone()];
        if self.fixed && self.H.rows() > 0 {
            self.relation.output(at, y).map_err(of_contact)?;
        } else {
            let work = &mut self.work;
            self.relation.output_and_dx(at, y, &mut self.H, work).map_err(of_contact)?;
        }
        if self.terms.time {
            self.relation.output_dt(at, &mut self.rate).map_err(of_contact)?;
        }
        Ok(())
    }

    /// Lets `λ` act along `H`, where [`turn`](Self::turn) was called last.
    pub fn grip(&self, links: &mut [Link]) {
        let mut first = 0;
        for link in &mut links[self.links.clone()] {
            let width = link.range.len();
            for i in 0..self.H.rows() {
                let row = &self.H.row(i)[first..first + width];
                link.Bt.data_mut()[i * width..][..width].copy_from_slice(row);
            }
            first += width;
        }
    }

    /// `C = B = H`, and the impulses along it, where [`turn`](Self::turn) was called last.
    #[inline]
    pub fn push(&self, links: &mut [Link], lam: &[f64], gained: Gained<'_>) {
        let Gained { impulse, pushes } = gained;
        let lam = &lam[self.rows.clone()];
        let mut first = 0;
        for link in links {
            let width = link.range.len();
            let impulse = &mut impulse[link.range.clone()];
            let pushes = &mut pushes[link.range.clone()];
            let blocks = link.C.data_mut().chunks_exact_mut(width);
            let blocks = blocks.zip(link.Bt.data_mut().chunks_exact_mut(width));
            for (i, ((C, Bt), lam)) in blocks.zip(lam).enumerate() {
                let H = &self.H.row(i)[first..][..width];
                for j in 0..width {
                    (C[j], Bt[j]) = (H[j], H[j]);
                    impulse[j] += H[j] * lam;
                    pushes[j] += (H[j] * lam).abs();
                }
            }
            first += width;
        }
    }

    /// The same of laws on gaps and forces, (5) and (6); along the old `B` where it acts `early`.
    pub fn push_weighted(
        &self,
        systems: &[Member],
        h: f64,
        links: &mut [Link],
        early: bool,
        lam: &[f64],
        gained: Gained<'_>,
    ) {
        let Gained { impulse, pushes } = gained;
        let mut first = 0;
        for link in &mut links[self.links.clone()] {
            let kappa = systems[link.system].kappa;
            let scale = if self.compliant { h * kappa } else { 1.0 };
            let width = link.range.len();
            let impulse = &mut impulse[link.range.clone()];
            let pushes = &mut pushes[link.range.clone()];
            for i in 0..self.H.rows() {
                let scale = self.forces.get(i).map_or(scale, |force| match force.rule {
                    ForceRule::Spring { .. } => scale * force.mean * force.scale,
                    ForceRule::Load => 0.0,
                });
                let row = &self.H.row(i)[first..first + width];
                let lam = lam[link.rows.start + i];
                let C = &mut link.C.data_mut()[i * width..][..width];
                let Bt = &mut link.Bt.data_mut()[i * width..][..width];
                for j in 0..width {
                    C[j] = scale * row[j];
                    if !early {
                        Bt[j] = row[j];
                    }
                    impulse[j] += Bt[j] * lam;
                    pushes[j] += (Bt[j] * lam).abs();
                }
            }
            first += width;
        }
    }

    /// `w`: what its laws are on.
    pub fn output(&mut self, step: Step, xi: &[f64], w: &mut [f64]) -> Result<(), SimError> {
        match self.compliant {
            true if self.is_force() => self.mean(step, w)?,
            true => self.gap(step.end, w)?,
            false => self.velocity(xi, w),
        }
        if self.on_gap.contains(&true) {
            self.scaled_gap(step.end, step.h, w)?;
        }
        Ok(())
    }

    /// `u = H v + ∂h/∂t`, where [`turn`](Self::turn) was called last.
    #[inline]
    pub fn velocity(&self, v: &[f64], u: &mut [f64]) {
        let u = &mut u[self.rows.clone()];
        if let [range] = &self.ranges[..] {
            let v = &v[range.clone()];
            return unrolled!(v.len(), speeds(self.H.data(), v, &self.rate, u));
        }
        u.iter_mut().enumerate().for_each(|(i, u)| *u = self.speed(i, v));
    }

    /// One component of it.
    #[inline]
    pub fn speed(&self, i: usize, v: &[f64]) -> f64 {
        if let [range] = &self.ranges[..] {
            return self.rate[i] + vector::dot(self.H.row(i), &v[range.clone()]);
        }
        let (mut first, mut speed) = (0, self.rate[i]);
        for range in &self.ranges {
            let H = &self.H.row(i)[first..first + range.len()];
            speed += vector::dot(H, &v[range.clone()]);
            first += range.len();
        }
        speed
    }

    /// Size of the terms of one component of it.
    pub fn speed_terms(&self, i: usize, v: &[f64]) -> f64 {
        let (mut first, mut terms) = (0, self.rate[i].abs());
        for range in &self.ranges {
            let H = &self.H.row(i)[first..first + range.len()];
            terms += H.iter().zip(&v[range.clone()]).map(|(H, v)| (H * v).abs()).sum::<f64>();
            first += range.len();
        }
        terms
    }

    /// `y = h(t, q, λ)` where [`turn`](Self::turn) was called last.
    pub fn gap(&mut self, t: f64, y: &mut [f64]) -> Result<(), SimError> {
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        let y = &mut y[self.rows.clone()];
        Ok(self.relation.output(at, y).map_err(|error| error.of(&self.name))?)
    }

    /// Equation (6), where [`turn`](Self::turn) was called last.
    fn mean(&mut self, step: Step, w: &mut [f64]) -> Result<(), SimError> {
        self.gap(step.end, w)?;
        let at = At::new(step.start, &self.q_start, &self.force).with(&self.inputs);
        self.relation.output(at, &mut self.y).map_err(|error| error.of(&self.name))?;
        for (i, row) in self.rows.clone().enumerate() {
            let Force { mean, scale, .. } = self.forces[i];
            w[row] = scale * (mean * w[row] + (1.0 - mean) * self.y[i]);
        }
        Ok(())
    }

    /// Whether it stands for a force.
    pub fn is_force(&self) -> bool {
        !self.forces.is_empty()
    }

    /// What is recorded of its output: of a force that without its multiplier.
    pub fn shown_gap(&mut self, t: f64, y: &mut [f64]) -> Result<(), SimError> {
        if self.is_force() {
            self.force.fill(0.0);
        }
        self.gap(t, y)
    }

    /// Whether some law of it is on a gap, or it is a bond.
    pub fn is_on_gap(&self) -> bool {
        self.compliant || self.bond.is_some() || self.on_gap.contains(&true)
    }

    /// Whether it is one of those that [`Members::gaps_together`] evaluates.
    pub fn is_grouped(&self) -> bool {
        self.share.is_some()
    }

    /// Size of the terms of the gap, where the law is on it; `q` are those of configurations.
    pub fn gap_terms(&self, h: f64, q: &[f64], terms: &mut [f64]) {
        for (i, row) in self.rows.clone().enumerate() {
            if self.compliant || self.on_gap[i] {
                let q = self.ranges.iter().flat_map(|range| &q[range.clone()]);
                let sum: f64 = self.H.row(i).iter().zip(q).map(|(H, q)| (H * q).abs()).sum();
                let scale = self.forces.get(i).map_or(1.0, |force| force.scale);
                terms[row] = if self.on_gap[i] { sum / h } else { scale * sum };
            }
        }
    }

    /// `y/h` in place of `u`, in the components whose law asks for it.
    pub fn scaled_gap(&mut self, t: f64, h: f64, w: &mut [f64]) -> Result<(), SimError> {
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        self.relation.output(at, &mut self.y).map_err(|error| error.of(&self.name))?;
        for (i, row) in self.rows.clone().enumerate() {
            if self.on_gap[i] {
                w[row] = self.y[i] / h;
            }
        }
        Ok(())
    }

    /// `D` of (5).
    pub fn through(&mut self, h: f64, t: f64, D: &mut Matrix) -> Result<(), SimError> {
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        self.relation.output_dlam(at, D).map_err(|error| error.of(&self.name))?;
        D.scale(1.0 / h);
        for (i, force) in self.forces.iter().enumerate() {
            let width = D.cols();
            D.data_mut()[i * width..][..width].iter_mut().for_each(|entry| *entry *= force.scale);
        }
        Ok(())
    }
}

/// `u = H v + ∂h/∂t` of one system of `n` degrees of freedom.
#[inline(always)] // `n` is a number where it is small
fn speeds(n: usize, H: &[f64], v: &[f64], rate: &[f64], u: &mut [f64]) {
    let v = &v[..n];
    for ((u, rate), H) in u.iter_mut().zip(rate).zip(H.chunks_exact(n)) {
        *u = rate + vector::dot(H, v);
    }
}
