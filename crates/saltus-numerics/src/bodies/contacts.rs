//! The contacts of a problem of bodies in space, solved in parts or by sweeps and surroundings.

use super::fours::Fours;
use super::part::{Measure, Part};
use super::rows::{Motion, Rows};
use super::turns::{Limits, Now, Turns};

/// Sweeps at first.
const FIRST: usize = 150;
/// Turns at most, and those within which the residual must halve.
const TURNS: usize = 60;
const PATIENCE: usize = 12;
/// Residual that is aimed at, of the tolerance: it is measured in another way by others.
const FINE: f64 = 0.5;

/// All contacts of a problem, of which parts are solved in turn.
#[derive(Debug)]
pub(crate) struct Contacts {
    rows: Rows,
    fours: Option<Fours>, // once there are sweeps
    part: Part,
    measure: Measure,
    s: Vec<Motion>,
    scratch: Vec<Motion>,
    of: Vec<u32>,
}

impl Contacts {
    /// Of bodies that move like this without impulses, and contacts: which bodies they touch, with what matrices in
    /// units of the masses, what is added to the velocity, and the coefficient of friction.
    pub fn new(
        free: Vec<Motion>,
        contacts: impl Iterator<Item = ([Option<u32>; 2], [[f64; 18]; 2], [f64; 3], f64)>,
    ) -> Contacts {
        let mut rows = Rows::default();
        rows.set(free, contacts);
        let measure = Measure { rho: 1.0, scale: 1.0 };
        let (s, scratch, of) = (Vec::new(), Vec::new(), Vec::new());
        Contacts { rows, fours: None, part: Part::default(), measure, s, scratch, of }
    }

    /// The velocities of the impulses `z`, and the scale of both.
    pub fn begin(&mut self, z: &[f64]) {
        self.measure = Measure::of(&self.rows, z);
        self.rows.follow(z, &mut self.s);
    }

    /// Solves for some contacts until their residual, relative to that of all, is at most `aim`; whether that is so.
    pub fn solve(&mut self, of: &[usize], aim: f64, z: &mut [f64]) -> bool {
        let Contacts { rows, part, measure, s, of: own, .. } = self;
        if !(measure.scale > 0.0 && measure.rho.is_finite()) {
            return false;
        }
        own.clear();
        own.extend(of.iter().map(|&c| c as u32));
        part.solve(rows, own, *measure, aim, z, s).is_solved
    }

    /// So many sweeps over all contacts, from the impulses `z`.
    pub fn sweep(&mut self, z: &mut [f64], sweeps: usize) {
        self.begin(z);
        self.sweep_from_here(z, sweeps);
        self.rows.follow(z, &mut self.s);
    }

    /// The same where `s` are the velocities of `z`; they do not follow.
    fn sweep_from_here(&mut self, z: &mut [f64], sweeps: usize) {
        let rows = &self.rows;
        let fours = self.fours.get_or_insert_with(|| {
            let mut fours = Fours::default();
            fours.fill(rows);
            fours
        });
        fours.take(z, &self.s);
        fours.run(sweeps, 0.0);
        fours.leave(z);
    }

    /// Sweeps and the surroundings of what they leave, [in turn](super::turns), until the residual is at most `tol` or
    /// falls no more, or `max_iter` sweeps and steps are done; the best impulses are left in `z`. How many sweeps and
    /// steps.
    pub fn search(&mut self, z: &mut [f64], tol: f64, max_iter: usize) -> usize {
        self.begin(z);
        let begin = z.to_vec();
        self.sweep_from_here(z, FIRST);
        let Contacts { rows, fours: Some(fours), measure, scratch, .. } = self else {
            return FIRST;
        };
        let mut now = |z: &[f64]| {
            let residual = measure.residual(rows, z, scratch);
            *measure = Measure::of(rows, z);
            Now { residual, measure: *measure }
        };
        let first = now(z);
        if !first.residual.is_finite() {
            z.copy_from_slice(&begin);
            return FIRST;
        }
        let max_iter = max_iter.saturating_sub(FIRST);
        let limits = Limits { aim: FINE * tol, tol, turns: TURNS, patience: PATIENCE, max_iter };
        FIRST
            + Turns::default().run(
                (fours, rows.free.iter().copied()),
                limits,
                first,
                z,
                &mut Vec::new(),
                now,
            )
    }

    /// The velocities follow where these contacts have been changed by others.
    pub fn follow(&mut self, of: &[usize], before: &[f64], z: &[f64]) {
        for (&c, before) in of.iter().zip(before.chunks_exact(3)) {
            let step = [0, 1, 2].map(|k| z[3 * c + k] - before[k]);
            self.rows.all[c].push(step, &mut self.s);
        }
    }
}
