//! Back onto what a mode holds, along the shortest way in the metric of the mass.
//!
//! ```text
//! M δ − Cᵀ ν = 0,    C (X + δ) = 0 in the rows that are held,    ν = 0 in the others      (1)
//! ```
//!
//! First the configurations, with gaps; then the velocities, with relative velocities; of
//! first-order systems the states, with outputs.

use super::collocation::Tolerance;
use super::factor::Factor;
use super::mode::Mode;
use super::plant::Plant;
use crate::SimError;
use saltus_model::Order;

/// Share of the tolerance below which nothing is moved.
const QUIET: f64 = 1e-3;

/// How much a held row gives way, relative to `C M⁻¹ Cᵀ`, where rows depend on each other.
const LOOSE: f64 = 1e-10;

impl Plant {
    /// Moves the state onto what the mode holds, where it is off by more than round-off.
    pub fn project(
        &mut self,
        t: f64,
        X: &mut [f64],
        lam: &[f64],
        mode: &Mode,
        tolerance: Tolerance,
    ) -> Result<(), SimError> {
        let mut held = std::mem::take(&mut self.held);
        for velocities in [false, true] {
            for _ in 0..3 {
                self.outputs(t, X, lam)?;
                mode.held(velocities, &mut held);
                held.retain(|one| self.may_move(one.row, velocities));
                let allowed = QUIET * tolerance.atol;
                let off =
                    |plant: &Plant, row: usize, target: f64| match plant.reads(row, velocities) {
                        true => plant.u[row] - target,
                        false => plant.y[row] - target,
                    };
                if !held.iter().any(|one| off(self, one.row, one.value).abs() > allowed) {
                    break;
                }
                let mut right = vec![0.0; self.states + self.rows];
                let mut entries = self.metric(t, X, velocities)?;
                let mut active = vec![false; self.rows];
                for one in &held {
                    active[one.row] = true;
                    right[self.states + one.row] = -off(self, one.row, one.value);
                }
                self.constraints(velocities, &active, &mut entries);
                for (row, active) in active.iter().enumerate() {
                    if !active {
                        entries.push((self.states + row, self.states + row, 1.0));
                    }
                }
                let mut factor = Factor::default();
                let size = self.states + self.rows;
                if !factor.set(size, &entries) {
                    // rows that say the same give way a little, and share what there is to do
                    loosen(&mut entries, self.states, &active);
                    if !factor.set(size, &entries) {
                        break;
                    }
                }
                factor.solve(&mut right);
                // near a singular position nothing is known of the shortest way
                let far = |(change, x): (&f64, &f64)| !(change.abs() <= 1e-3 * (1.0 + x.abs()));
                if right.iter().zip(&*X).any(far) {
                    break;
                }
                X.iter_mut().zip(&right).for_each(|(X, change)| *X += change);
            }
        }
        self.held = held;
        Ok(())
    }

    /// How much a force along each row accelerates it, about. Outputs were evaluated before.
    pub fn lightness(&mut self, t: f64, X: &[f64]) -> Result<Vec<f64>, SimError> {
        let mut entries = self.metric(t, X, true)?;
        self.constraints(true, &vec![true; self.rows], &mut entries);
        Ok(give(&entries, self.states, self.rows))
    }

    /// Whether a row is compared by its velocity in this pass.
    fn reads(&self, row: usize, velocities: bool) -> bool {
        velocities && self.order_of(row) == Order::Second
    }

    /// Whether a held row has something to move in this pass.
    fn may_move(&self, row: usize, velocities: bool) -> bool {
        match self.order_of(row) {
            Order::First => velocities && !self.is_through(row),
            Order::Second => velocities || (self.has_gap(row) && !self.is_through(row)),
        }
    }
}

/// Adds a little of `C M⁻¹ Cᵀ`, with the diagonal of `M`, to the rows that are held.
fn loosen(entries: &mut Vec<(usize, usize, f64)>, states: usize, active: &[bool]) {
    let give = give(entries, states, active.len());
    let held = give.iter().enumerate().filter(|(row, _)| active[*row]);
    entries.extend(held.map(|(row, give)| (states + row, states + row, LOOSE * give)));
}

/// The diagonal of `C M⁻¹ Cᵀ`, with that of `M`.
fn give(entries: &[(usize, usize, f64)], states: usize, rows: usize) -> Vec<f64> {
    let (mut mass, mut give) = (vec![1.0; states], vec![0.0; rows]);
    for &(i, _, x) in entries.iter().filter(|(i, j, _)| i == j && *i < states) {
        mass[i] = x;
    }
    for &(i, j, x) in entries.iter().filter(|(i, j, _)| *i >= states && *j < states) {
        give[i - states] += x * x / mass[j];
    }
    give
}
