//! The way to an answer along a line of right-hand sides.
//!
//! Any point of the graphs is the answer of a problem with another `q₀`. Along `q₀ + s Δq`, `s` from 0 to
//! 1, the answer moves on a path of straight pieces, one in each mode:
//!
//! ```text
//! leans: (W dz)_i + d dz_i = −Δq_i          level: dz_i = 0,      dx = dz − ρ (W dz + Δq)      (1)
//! ```
//!
//! A piece ends where the first `x` comes to the end of its segment, and the path goes on in the segment
//! beside it. `s` turns back where only so `x` moves into that one, as in Lemke's method. While answers
//! are unique the path comes to `s = 1`; where it comes back to 0, or too many pieces are needed, the
//! search has failed.

use super::{ALL, Segment, Segments};
use crate::Problem;

/// Pieces of a path, at most: so many, and so many more an unknown.
const PIECES: usize = 200;
const EACH: usize = 20;

/// Memory of a path.
#[derive(Debug, Default)]
pub(super) struct Path {
    x: Vec<f64>,
    dx: Vec<f64>,
    dz: Vec<f64>,
    dq: Vec<f64>,
}

impl Segments {
    /// Follows the path from the point of the graphs that `x = z − ρ w` tells, to the mode of an answer;
    /// the pieces it took.
    pub(super) fn follow(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Option<usize> {
        let mut path = std::mem::take(&mut self.path);
        let pieces = self.follow_with(problem, z, w, &mut path);
        self.path = path;
        pieces
    }

    fn follow_with(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        path: &mut Path,
    ) -> Option<usize> {
        let n = z.len();
        let Path { x, dx, dz, dq } = path;
        [&mut *x, &mut *dx, &mut *dz, &mut *dq].into_iter().for_each(|of| of.resize(n, 0.0));
        self.start(problem, z, w, x)?;
        // q − q₀ = q + W z − w
        dq.copy_from_slice(w);
        problem.eval(z, w);
        dq.iter_mut().zip(&*w).for_each(|(dq, w)| *dq = w - *dq);

        let (mut s, mut onward) = (0.0, 1.0);
        let mut entered: Option<(usize, f64)> = None; // the unknown that changed its segment, and its way
        for pieces in 1..=PIECES + EACH * n {
            if !self.direction(problem, dq, dz) {
                return None;
            }
            problem.matrix().apply(dz, dx);
            for i in 0..n {
                dx[i] = dz[i] - self.rho[i] * (dx[i] + dq[i]);
            }
            if let Some((i, way)) = entered {
                if !(dx[i] * way != 0.0) || !dx[i].is_finite() {
                    return None;
                }
                onward = if dx[i] * way > 0.0 { 1.0 } else { -1.0 };
            }
            let mut length = if onward > 0.0 { 1.0 - s } else { s };
            let mut leaves = None;
            for i in 0..n {
                let Segment { least, most, .. } = self.segments[self.mode[i] as usize];
                let rate = onward * dx[i];
                let end = if rate > 0.0 { most } else { least };
                if rate == 0.0 || end.abs() == ALL {
                    continue;
                }
                let reaches = ((end - x[i]) / rate).max(0.0);
                if reaches < length {
                    (length, leaves) = (reaches, Some((i, rate > 0.0)));
                }
            }
            s += onward * length;
            x.iter_mut().zip(&*dx).for_each(|(x, dx)| *x += onward * length * dx);
            let Some((i, up)) = leaves else { return (onward > 0.0).then_some(pieces) };
            let Segment { least, most, .. } = self.segments[self.mode[i] as usize];
            let end = if up { most } else { least };
            x[i] = end;
            let own = self.first[i]..self.first[i + 1];
            let beside = |one: &Segment| if up { one.least == end } else { one.most == end };
            let next = own.clone().find(|&k| {
                let one = &self.segments[k];
                k != self.mode[i] as usize && beside(one) && one.least < one.most
            })?;
            self.mode[i] = next as u32;
            entered = Some((i, if up { 1.0 } else { -1.0 }));
        }
        None
    }

    /// The point of the graphs at `x = z − ρ w`, and its mode.
    fn start(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        x: &mut [f64],
    ) -> Option<()> {
        problem.eval(z, w);
        self.mode.clear();
        for i in 0..z.len() {
            let rho = self.rho[i];
            x[i] = z[i] - rho * w[i];
            let own = self.first[i]..self.first[i + 1];
            let holds = |one: &Segment| x[i] >= one.least && x[i] <= one.most;
            let k = own.clone().find(|&k| holds(&self.segments[k]))?;
            let Segment { level, z: held, d, c, .. } = self.segments[k];
            z[i] = if level { held } else { (x[i] + rho * c) / (1.0 + rho * d) };
            w[i] = if level { (held - x[i]) / rho } else { c - d * z[i] };
            self.mode.push(k as u32);
        }
        Some(())
    }
}
