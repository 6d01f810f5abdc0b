//! Some of many contacts, solved with all other impulses as they are, by the [interior point
//! method](super::interior) or [along](super::central_path) its path.

use super::Vector;
use super::interior::Interior;
use super::rows::{Motion, Row, Rows, Whole};
use crate::Set;
use saltus_linalg::GraphLu;

/// A part that came so near to what was asked is taken.
const TAKEN: f64 = 10.0;
/// Multiplications of a factorization, about, above which there is none.
const LONGEST: f64 = 2e7;

/// How residuals are measured: natural maps with `ρ` impulses a velocity, relative to the impulses `scale`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub rho: f64,
    pub scale: f64,
}

impl Measure {
    /// For the impulses `z`.
    pub fn of(rows: &Rows, z: &[f64]) -> Measure {
        let square = |w: Vector| w.iter().map(|w| w * w).sum::<f64>();
        let free = rows.all.iter().map(|row| square(row.velocity(&rows.free))).sum::<f64>().sqrt();
        let largest = rows.all.iter().map(|row| row.size).fold(0.0, f64::max);
        let forces = z.iter().map(|z| z * z).sum::<f64>().sqrt();
        let scale = forces.max(free / largest);
        Measure { rho: scale / free, scale }
    }

    /// The square of the share of a contact.
    pub fn share(self, row: &Row, z: &[f64], w: Vector) -> f64 {
        let mut f = [0.0; 3];
        Set::Coulomb3 { mu: row.mu }.natural_map(self.rho, &z[..3], &w, &mut f);
        f.iter().map(|x| x * x).sum::<f64>() / (self.scale * self.scale)
    }

    /// The residual of rows.
    pub fn residual(self, rows: &Rows, z: &[f64], s: &mut Vec<Motion>) -> f64 {
        rows.follow(z, s);
        let own = |(row, z): (&Row, &[f64])| self.share(row, z, row.velocity(s));
        rows.all.iter().zip(z.chunks_exact(3)).map(own).sum::<f64>().sqrt()
    }
}

/// What became of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub is_solved: bool,
    pub steps: usize,
}

/// A part, its factors, and the method's vectors, kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Part {
    rows: Rows,
    lu: GraphLu,
    interior: Interior,
    z: Vec<f64>,
    s: Vec<Motion>,
}

impl Part {
    /// Solves for the contacts `of` until their residual is at most `aim`. `s` are the velocities of `z`, and follow it;
    /// nothing changes where the part is not solved.
    pub fn solve(
        &mut self,
        whole: &impl Whole,
        of: &[u32],
        measure: Measure,
        aim: f64,
        z: &mut [f64],
        s: &mut [Motion],
    ) -> Outcome {
        let Part { rows, lu, interior, z: own, s: of_part } = self;
        rows.part(whole, of, z, s);
        rows.join(lu);
        if lu.work() > LONGEST {
            return Outcome { is_solved: false, steps: 0 };
        }
        let begin = |own: &mut Vec<f64>| {
            own.clear();
            for &c in of {
                own.extend_from_slice(&z[3 * c as usize..3 * c as usize + 3]);
            }
        };
        let mut residual = |z: &[f64]| measure.residual(rows, z, of_part);
        begin(own);
        let mut steps = interior.solve(rows, lu, own, aim, &mut residual);
        let mut value = residual(own);
        if !(value <= aim) {
            begin(own);
            steps += interior.follow(rows, lu, own, aim, &mut residual);
            value = residual(own);
        }
        let is_solved = value <= TAKEN * aim;
        if is_solved {
            for (&c, own) in of.iter().zip(own.chunks_exact(3)) {
                let before = &mut z[3 * c as usize..3 * c as usize + 3];
                let step = [own[0] - before[0], own[1] - before[1], own[2] - before[2]];
                whole.look(c as usize, |row| row.push(step, s));
                before.copy_from_slice(own);
            }
        }
        Outcome { is_solved, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::{Friction, Island};
    use super::*;

    #[test]
    fn a_part_sees_what_the_others_push() {
        let (bodies, members, touches) = heap(3, Friction::Space { mu: 0.4 }, 0.0);
        let (mut rows, mut part) = (Rows::default(), Rows::default());
        rows.fill(Island { bodies: &bodies, members: &members, touches: &touches });
        let z: Vec<f64> = (0..3 * touches.len()).map(|k| (k as f64).cos()).collect();
        let (mut s, mut of_part) = (Vec::new(), Vec::new());
        rows.follow(&z, &mut s);
        let of = [3, 17, 40, 41];
        for _ in 0..2 {
            part.part(&rows, &of, &z, &s);
            let own: Vec<f64> =
                of.iter().flat_map(|&c| z[3 * c as usize..3 * c as usize + 3].to_vec()).collect();
            part.follow(&own, &mut of_part);
            for (&c, row) in of.iter().zip(&part.all) {
                let (a, b) = (row.velocity(&of_part), rows.all[c as usize].velocity(&s));
                assert!((0..3).all(|k| (a[k] - b[k]).abs() < 1e-12));
            }
        }
    }
}
