//! Cubes at rest: nothing moves, and statics tells the forces.
//!
//! Every face that touches another does so at its four corners, so that the forces are not
//! unique; the symmetric ones are the answer that is given. `f` is the impulse of the weight over
//! a step of 1/100.

use super::Generated;
use super::packing::cross;
use crate::{Block, Global, NumericsError, Problem, Set};
use saltus_linalg::Sparse;

/// Impulse of the weight of a unit mass over a step.
const WEIGHT: f64 = 9.81 * 0.01;
const CORNERS: [(f64, f64); 4] = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)];

/// Cubes of edge 1 and the faces at which they touch.
#[derive(Default)]
struct Cubes {
    masses: Vec<f64>,
    f: Vec<f64>,
    columns: Vec<(usize, usize, f64)>, // of H
    z: Vec<f64>,
    contacts: usize,
}

impl Cubes {
    /// A cube under this impulse.
    fn add(&mut self, mass: f64, impulse: [f64; 3]) -> usize {
        self.masses.push(mass);
        self.f.extend_from_slice(&impulse);
        self.f.extend_from_slice(&[0.0; 3]);
        self.masses.len() - 1
    }

    /// A face of `body`, pushed along `normal` by `other` (or the ground) with this force.
    fn touch(&mut self, body: usize, other: Option<usize>, normal: [f64; 3], force: f64) {
        // the tangents are the two axes across the normal
        let first = if normal[0] == 0.0 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let second = cross(normal, first);
        for (a, b) in CORNERS {
            let arm = [0, 1, 2].map(|i| -0.5 * normal[i] + a * first[i] + b * second[i]);
            let far = [0, 1, 2].map(|i| arm[i] + normal[i]);
            for (k, t) in [normal, first, second].into_iter().enumerate() {
                let column = 3 * self.contacts + k;
                for (cube, arm, sign) in [(Some(body), arm, 1.0), (other, far, -1.0)] {
                    let Some(cube) = cube else { continue };
                    let turn = cross(arm, t);
                    for i in 0..3 {
                        self.columns.push((6 * cube + i, column, sign * t[i]));
                        self.columns.push((6 * cube + 3 + i, column, sign * turn[i]));
                    }
                }
                self.z.push(if k == 0 { 0.25 * force } else { 0.0 });
            }
            self.contacts += 1;
        }
    }

    fn build(mut self, mu: f64) -> Result<Generated, NumericsError> {
        let n = self.f.len();
        self.columns.retain(|&(_, _, value)| value != 0.0);
        let H = Sparse::from_triplets(n, 3 * self.contacts, &self.columns);
        let mut diagonal = Vec::with_capacity(n);
        for (cube, &m) in self.masses.iter().enumerate() {
            let mass = |i: usize| if i < 3 { m } else { m / 6.0 };
            diagonal.extend((0..6).map(|i| (6 * cube + i, 6 * cube + i, mass(i))));
        }
        let mass = Sparse::from_triplets(n, n, &diagonal);
        let blocks = vec![Block { size: 3, set: Set::Coulomb3 { mu } }; self.contacts];
        let q = vec![0.0; 3 * self.contacts];
        let w = q.clone();
        let problem = Problem::new(Global::new(mass, H, self.f)?, q, &blocks)?;
        Ok(Generated { problem, z: self.z, w, unique: false })
    }
}

/// A wall of unit cubes, `rows` high and `cols` long, in straight columns: each carries what is
/// above it, and the faces between the columns touch without force.
pub fn wall(rows: usize, cols: usize) -> Result<Generated, NumericsError> {
    let mut cubes = Cubes::default();
    for row in 0..rows {
        for col in 0..cols {
            let cube = cubes.add(1.0, [0.0, 0.0, -WEIGHT]);
            let below = row.checked_sub(1).map(|row| row * cols + col);
            cubes.touch(cube, below, [0.0, 0.0, 1.0], (rows - row) as f64 * WEIGHT);
            if col > 0 {
                cubes.touch(cube, Some(cube - 1), [1.0, 0.0, 0.0], 0.0);
            }
        }
    }
    cubes.build(0.6)
}

/// A tower of `n` cubes whose masses grow from 1 at the ground to `mass_ratio` at the top:
/// the larger the ratio, the slower are methods that sweep.
pub fn tower(n: usize, mass_ratio: f64) -> Result<Generated, NumericsError> {
    if !(mass_ratio > 0.0 && mass_ratio.is_finite()) {
        let (field, allowed) = ("mass_ratio", "(0, inf)");
        return Err(NumericsError::Setting { field, value: mass_ratio, allowed });
    }
    let mass = |k: usize| mass_ratio.powf(k as f64 / (n.max(2) - 1) as f64);
    let mut above: Vec<f64> = vec![0.0; n];
    let mut sum = 0.0;
    for k in (0..n).rev() {
        sum += mass(k);
        above[k] = sum * WEIGHT;
    }
    let mut cubes = Cubes::default();
    for k in 0..n {
        let cube = cubes.add(mass(k), [0.0, 0.0, -mass(k) * WEIGHT]);
        cubes.touch(cube, cube.checked_sub(1), [0.0, 0.0, 1.0], above[k]);
    }
    cubes.build(0.6)
}

/// A row of `n` cubes pushed against a wall by an impulse of 1 on the last: information travels
/// through all of them.
pub fn chain(n: usize) -> Result<Generated, NumericsError> {
    let mut cubes = Cubes::default();
    for k in 0..n {
        let push = if k + 1 == n { -1.0 } else { 0.0 };
        let cube = cubes.add(1.0, [push, 0.0, 0.0]);
        cubes.touch(cube, cube.checked_sub(1), [1.0, 0.0, 0.0], 1.0);
    }
    cubes.build(0.6)
}
