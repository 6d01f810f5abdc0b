//! Newton's method by modes, for a few contacts with friction in the plane, alone or among boxes.
//!
//! With `x = z − ρ w`, `ρ = 1/Wᵢᵢ`, each block is in one of a few modes, in which its law is linear:
//!
//! ```text
//! x_N ≤ 0              open     z_N = 0,  z_T = 0
//! |x_T| ≤ μ x_N        stick    w_N = 0,  w_T = 0
//! ± x_T > μ x_N > 0    slip     w_N = 0,  z_T = ± μ z_N                                      (1)
//! ```
//!
//! and a box at its lower bound, free, or at its upper one. A step solves the equations of all
//! modes for what is not fixed by them; a mode that comes back is the answer. The last answer is a
//! good guess: where contacts stay as they are, one step is all. References: Alart, Curnier,
//! *Comput. Methods Appl. Mech. Engrg.* 92 (1991) 353–375.

use crate::residual::natural_map;
use crate::{Operator, Problem, Report, Set, Status};
use saltus_linalg::{DenseLu, Matrix, vector};

/// Most unknowns.
const MOST: usize = 48;
/// Steps after which modes go round in circles.
const STEPS: usize = 8;

/// The method and its memory.
#[derive(Debug)]
pub(super) struct Planar {
    modes: Vec<Mode>, // of each unknown
    before: Vec<Mode>,
    free: Vec<usize>, // the unknowns that the modes do not fix
    lu: DenseLu,
    factored: Vec<Mode>, // the modes that `lu` is of
    matrix_id: u64,      // and the matrix
    right: Vec<f64>,
}

/// What is known of one unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// `w = 0`.
    Free,
    /// `z` is this.
    Fixed(f64),
    /// `z` is so many times the unknown before it.
    Slips(f64),
}

impl Planar {
    pub fn new() -> Planar {
        Planar {
            modes: Vec::new(),
            before: Vec::new(),
            free: Vec::new(),
            lu: DenseLu::with_capacity(0),
            factored: Vec::new(),
            matrix_id: 0,
            right: Vec::new(),
        }
    }

    /// Solves from the guess in `z`, if the problem is one of these and the modes come to rest;
    /// else `z` is as it was.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        tol: f64,
    ) -> Option<Report> {
        let Operator::Dense(W) = problem.matrix() else { return None };
        let planar = |set: &Set| matches!(set, Set::Coulomb2 { .. });
        if z.len() > MOST || !problem.placed().iter().all(|block| planar(&block.set)) {
            return None;
        }
        let mut guess = [0.0; MOST];
        let guess = &mut guess[..z.len()];
        guess.copy_from_slice(z);
        self.before.clear();
        for step in 0..=STEPS {
            problem.eval(z, w);
            self.classify(problem, W, z, w)?;
            if self.modes == self.before {
                let check = natural_map(problem, z, w);
                if check.value <= tol {
                    let (residual, worst) = (check.value, check.worst);
                    let status = Status::Solved;
                    return Some(Report {
                        status,
                        iterations: step,
                        residual,
                        worst,
                        method: "newton",
                    });
                }
                break;
            }
            if step == STEPS || self.step(problem, W, z).is_none() {
                break;
            }
            std::mem::swap(&mut self.before, &mut self.modes);
        }
        z.copy_from_slice(guess);
        None
    }

    /// Equation (1).
    fn classify(&mut self, problem: &Problem, W: &Matrix, z: &[f64], w: &[f64]) -> Option<()> {
        self.modes.clear();
        let rho = |i: usize| {
            let diagonal = W[(i, i)];
            (diagonal > 0.0).then_some(1.0 / diagonal)
        };
        let of_box = |i: usize| {
            let (lower, upper) = (problem.lower()[i], problem.upper()[i]);
            if lower == upper {
                return Some(Mode::Fixed(lower));
            }
            let x = z[i] - rho(i)? * w[i];
            Some(if x <= lower {
                Mode::Fixed(lower)
            } else if x >= upper {
                Mode::Fixed(upper)
            } else {
                Mode::Free
            })
        };
        for block in problem.placed() {
            while self.modes.len() < block.start {
                self.modes.push(of_box(self.modes.len())?);
            }
            let Set::Coulomb2 { mu } = block.set else { return None };
            let (n, t) = (block.start, block.start + 1);
            let (x_n, x_t) = (z[n] - rho(n)? * w[n], z[t] - rho(t)? * w[t]);
            let modes = if x_n <= 0.0 {
                [Mode::Fixed(0.0), Mode::Fixed(0.0)]
            } else if x_t.abs() <= mu * x_n {
                [Mode::Free, Mode::Free]
            } else {
                [Mode::Free, Mode::Slips(mu.copysign(x_t))]
            };
            self.modes.extend(modes);
        }
        while self.modes.len() < z.len() {
            self.modes.push(of_box(self.modes.len())?);
        }
        Some(())
    }

    /// The point at which all modes hold.
    fn step(&mut self, problem: &Problem, W: &Matrix, z: &mut [f64]) -> Option<()> {
        let Planar { modes, free, lu, factored, matrix_id, right, .. } = self;
        free.clear();
        for (i, mode) in modes.iter().enumerate() {
            match mode {
                Mode::Free => free.push(i),
                Mode::Fixed(value) => z[i] = *value,
                Mode::Slips(_) => z[i] = 0.0,
            }
        }
        free.iter().for_each(|&i| z[i] = 0.0);
        right.clear();
        right.extend(free.iter().map(|&i| -problem.q()[i] - vector::dot(W.row(i), z)));
        if !free.is_empty() {
            // a slipping tangent goes with its normal
            let column = |i: usize, j: usize| match modes.get(j + 1) {
                Some(Mode::Slips(share)) => W[(i, j)] + share * W[(i, j + 1)],
                _ => W[(i, j)],
            };
            if *matrix_id != problem.matrix_id() || factored != modes {
                factored.clear(); // until there are factors
                lu.factor_with(free.len(), |a, b| column(free[a], free[b])).ok()?;
                factored.clone_from(modes);
                *matrix_id = problem.matrix_id();
            }
            lu.solve(right);
        }
        for (&i, &value) in free.iter().zip(&*right) {
            z[i] = value;
            if let Some(Mode::Slips(share)) = modes.get(i + 1) {
                z[i + 1] = share * value;
            }
        }
        vector::all_finite(z).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    /// One contact that opens, one that sticks, two that slip, and a box, each on its own.
    #[test]
    fn every_mode() {
        let contact = Block { size: 2, set: Set::Coulomb2 { mu: 0.5 } };
        let boxed = Block { size: 1, set: Set::Interval { lower: -1.0, upper: 1.0 } };
        let blocks = [contact.clone(), contact.clone(), boxed, contact.clone(), contact];
        let q = vec![1.0, 1.0, -1.0, 0.2, -3.0, -1.0, 2.0, -1.0, -2.0];
        let problem = Problem::new(Matrix::identity(9), q, &blocks).unwrap();
        let (mut z, mut w) = ([0.0; 9], [0.0; 9]);
        let report = Planar::new().solve(&problem, &mut z, &mut w, 1e-12).unwrap();
        assert_eq!(z, [0.0, 0.0, 1.0, -0.2, 1.0, 1.0, -0.5, 1.0, 0.5]);
        assert_eq!(report.status, Status::Solved);
        // the answer as a guess takes one step
        assert_eq!(Planar::new().solve(&problem, &mut z, &mut w, 1e-12).unwrap().iterations, 1);
    }

    #[test]
    fn what_it_cannot_do_is_left_as_it_was() {
        let space = Problem::friction3d(Matrix::identity(3), vec![-1.0; 3], &[0.3]).unwrap();
        let mut z = [0.1, 0.2, 0.3];
        assert_eq!(Planar::new().solve(&space, &mut z, &mut [0.0; 3], 1e-8), None);
        assert_eq!(z, [0.1, 0.2, 0.3]);
    }
}
