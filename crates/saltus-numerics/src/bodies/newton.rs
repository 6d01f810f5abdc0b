//! Newton's method for contacts that give way, on the factored matrix of their bodies.
//!
//! Such a contact has one impulse for each velocity `w = K s + q`:
//!
//! ```text
//! z_N = max(0, −w_N/C_N),     z_T = −w_T/C_T, cut to the length μ z_N                          (1)
//! ```
//!
//! so that the velocities of the bodies are the unknowns. With `F` what is left of their balance and `D = −∂z/∂w`,
//!
//! ```text
//! F(s) = s − s_free − Kᵀ z(K s + q),     (1 + Kᵀ D K) δs = −F(s)                               (2)
//! ```
//!
//! is solved by the step that begins where every contact has found its mode. As long as bounds of friction stay as they are, `F` is the
//! gradient of a convex function, and a step goes to where that is least along its way, about: `F(s + τ δs) · δs = 0`. Where bounds that
//! follow their normal impulses make a direction that leads up, the one for bounds as they are is taken.

use super::FORESEEN;
use super::rows::{Motion, Row, Rows};
use crate::watch::is_interrupted;
use saltus_linalg::{GraphLu, Wide, vector, wide};

/// Steps at most, and lengths that are tried.
const MOST: usize = 30;
const LENGTHS: usize = 8;
/// Slope along a step at which its length is right, of that at its beginning.
const FLAT: f64 = 0.3;
/// Least way between the lengths on both sides, of that from one to the other.
const INNER: f64 = 0.1;
/// Share of what is left at which to measure again.
const LESS: f64 = 0.1;

/// The method's vectors, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Newton {
    at: Point,
    tried: Point,
    direction: Vec<Motion>,
    D: Vec<[f64; 9]>,
}

/// Velocities, and what they lead to.
#[derive(Debug, Default)]
struct Point {
    s: Vec<Motion>,
    w: Vec<[f64; 3]>,
    z: Vec<[f64; 3]>,
    F: Vec<Motion>,
}

impl Newton {
    /// Whether (1) is a function for all these contacts.
    pub fn is_for(rows: &Rows) -> bool {
        rows.all.iter().all(|row| row.C[0] > 0.0 && row.C[1] > 0.0)
    }

    /// Some steps at most from the impulses `z`, until they are good by what is measured of them, which is done where `|F|²` is at most
    /// `still`, an energy; leaves the last ones in `z`. How many steps, and what was measured last.
    pub fn solve<T>(
        &mut self,
        (rows, lu): (&Rows, &mut GraphLu),
        z: &mut [f64],
        most: usize,
        mut still: f64,
        mut measure: impl FnMut(&[f64]) -> T,
        is_good: impl Fn(&T) -> bool,
    ) -> (usize, T) {
        self.foresee(rows);
        rows.follow(z, &mut self.at.s);
        let mut left = self.at.respond(rows);
        let (mut step, worth) = (0, still);
        loop {
            step += 1;
            let less = self.step(rows, lu);
            // where it is worth to measure, what does not become less is round-off
            let stalls = less.is_none_or(|less| left <= worth && less >= left);
            let ends = stalls || step >= most.min(MOST) || is_interrupted();
            left = less.unwrap_or(left);
            if left <= still || ends {
                self.at.leave(z);
                let measured = measure(z);
                if ends || is_good(&measured) {
                    return (step, measured);
                }
                still = LESS * left;
            }
        }
    }

    /// Room for these contacts, and for as many as a heap of all these bodies has.
    fn foresee(&mut self, rows: &Rows) {
        let (count, most) = (rows.all.len(), FORESEEN * rows.free.len());
        self.D.clear();
        vector::foresee(&mut self.D, count, most);
        for Point { w, z, .. } in [&mut self.at, &mut self.tried] {
            for of_contacts in [w, z] {
                of_contacts.clear();
                vector::foresee(of_contacts, count, most);
            }
        }
    }

    /// A step; `|F|²` after it, and nothing where there is none.
    fn step(&mut self, rows: &Rows, lu: &mut GraphLu) -> Option<f64> {
        let Newton { at, tried, direction, D } = self;
        for follows in [true, false] {
            D.clear();
            D.extend(rows.all.iter().zip(&at.w).map(|(row, w)| slope(row, w, follows)));
            rows.assemble(D, lu);
            if lu.factor().is_err() {
                continue;
            }
            direction.clone_from(&at.F);
            lu.solve(direction);
            if let Some(less) = at.search(rows, direction, tried) {
                std::mem::swap(at, tried);
                return Some(less);
            }
        }
        None
    }
}

impl Point {
    /// Of what `s` leads to, everything; `|F|²`.
    fn respond(&mut self, rows: &Rows) -> f64 {
        wide(Respond { rows, point: self })
    }

    /// The impulses.
    fn leave(&self, z: &mut [f64]) {
        for (z, own) in z.chunks_exact_mut(3).zip(&self.z) {
            z.copy_from_slice(own);
        }
    }

    /// As far against a direction as `F` is at right angles to it, about; `|F|²` there, and nothing where it leads up.
    fn search(&self, rows: &Rows, direction: &[Motion], to: &mut Point) -> Option<f64> {
        let first = self.along(direction);
        if !(first > 0.0) {
            return None; // a NaN too
        }
        let (mut short, mut long) = ((0.0, first), None);
        let (mut length, mut tried) = (1.0, 1);
        loop {
            to.s.clear();
            to.s.extend(self.s.iter().zip(direction).map(|(s, step)| {
                let mut s = *s;
                (0..6).for_each(|i| s[i] -= length * step[i]);
                s
            }));
            let (left, slope) = (to.respond(rows), to.along(direction));
            if slope.abs() <= FLAT * first || tried == LENGTHS {
                return left.is_finite().then_some(left);
            }
            match slope > 0.0 {
                true => short = (length, slope),
                false => long = Some((length, slope)),
            }
            length = match long {
                Some((most, up)) => {
                    let share: f64 = short.1 / (short.1 - up);
                    short.0 + share.clamp(INNER, 1.0 - INNER) * (most - short.0)
                }
                None => 2.0 * length,
            };
            tried += 1;
        }
    }

    /// `F · d`.
    fn along(&self, direction: &[Motion]) -> f64 {
        let of = |(F, d): (&Motion, &Motion)| (0..6).map(|i| F[i] * d[i]).sum::<f64>();
        self.F.iter().zip(direction).map(of).sum()
    }
}

/// What [`Point::respond`] does.
struct Respond<'a> {
    rows: &'a Rows,
    point: &'a mut Point,
}

impl Wide for Respond<'_> {
    type Answer = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Respond { rows, point: Point { s, w, z, F } } = self;
        w.clear();
        z.clear();
        F.clone_from(&rows.free);
        for row in &rows.all {
            let velocity = row.velocity(s);
            let impulse = response(row, &velocity);
            row.push(impulse, F);
            w.push(velocity);
            z.push(impulse);
        }
        let mut square = 0.0;
        for (F, s) in F.iter_mut().zip(s.iter()) {
            for i in 0..6 {
                F[i] = s[i] - F[i];
                square += F[i] * F[i];
            }
        }
        square
    }
}

/// (1).
#[inline(always)]
fn response(row: &Row, w: &[f64; 3]) -> [f64; 3] {
    let [C, C_T] = row.C;
    let normal = if w[0] >= 0.0 { 0.0 } else { -w[0] / C };
    let (stick, most) = ([-w[1] / C_T, -w[2] / C_T], row.mu * normal);
    let square = stick[0] * stick[0] + stick[1] * stick[1];
    let share = if square > most * most { most / square.sqrt() } else { 1.0 };
    [normal, share * stick[0], share * stick[1]]
}

/// `D`; with the bound of friction as it is, unless that follows its impulse.
#[inline(always)]
fn slope(row: &Row, w: &[f64; 3], follows: bool) -> [f64; 9] {
    let mut D = [0.0; 9];
    if !(w[0] < 0.0) {
        return D;
    }
    let [C, C_T] = row.C;
    let most = row.mu * -w[0] / C;
    let slip = (w[1] * w[1] + w[2] * w[2]).sqrt();
    D[0] = 1.0 / C;
    if slip <= C_T * most {
        (D[4], D[8]) = (1.0 / C_T, 1.0 / C_T);
        return D;
    }
    let d = [w[1] / slip, w[2] / slip];
    let turn = most / slip;
    for i in 0..2 {
        for j in 0..2 {
            let across = if i == j { 1.0 - d[i] * d[j] } else { -d[i] * d[j] };
            D[4 + 3 * i + j] = turn * across;
        }
        D[3 * (i + 1)] = if follows { -row.mu / C * d[i] } else { 0.0 };
    }
    D
}

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::{Friction, Island, Twist};
    use super::*;

    /// `D` is the slope of the impulses, of what sticks, slides and is open.
    #[test]
    fn slopes_are_those_of_the_impulses() {
        let row = Row {
            sides: [0, 1],
            K: [[0.0; 18]; 2],
            q: [0.0; 3],
            mu: 0.6,
            C: [0.2, 0.5],
            size: 1.0,
            pair: None,
        };
        let step = 1e-6;
        for w in [[-0.3, 0.1, -0.2], [-0.3, 0.7, -0.9], [-0.3, 0.0, 2.0], [0.3, 0.4, -0.2]] {
            let D = slope(&row, &w, true);
            for j in 0..3 {
                let moved = |by: f64| {
                    let mut w = w;
                    w[j] += by;
                    response(&row, &w)
                };
                let (ahead, behind) = (moved(step), moved(-step));
                for i in 0..3 {
                    let known = -(ahead[i] - behind[i]) / (2.0 * step);
                    assert!((D[3 * i + j] - known).abs() < 1e-8, "{w:?} {i} {j}");
                }
            }
            // with bounds as they are it is symmetric
            let D = slope(&row, &w, false);
            assert!((0..9).all(|k| D[k] == D[3 * (k % 3) + k / 3]));
        }
    }

    /// From no impulses at all, whatever the heap, its friction and how stiff it is; the residual is measured contact by contact.
    #[test]
    fn heaps_are_solved_from_nothing() {
        let all = [Friction::Space { mu: 0.7 }, Friction::Plane { mu: 0.4 }, Friction::None];
        for (seed, friction) in (0..12).map(|seed| (seed, all[seed % 3])) {
            let (bodies, members, mut touches) = heap(3, friction, seed as f64);
            let C = [0.5, 0.2, 0.05][seed / 4];
            touches.iter_mut().for_each(|touch| touch.compliance = [C, 1.5 * C]);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let (mut rows, mut lu) = (Rows::default(), GraphLu::default());
            rows.fill(island);
            rows.join(&mut lu);
            assert!(Newton::is_for(&rows));
            let mut z = vec![0.0; 3 * touches.len()];
            let mut twists = vec![Twist::default(); bodies.len()];
            let measure = |z: &[f64]| island.measure(z, 3, &mut twists).residual.value;
            let mut newton = Newton::default();
            let solved = newton
                .solve((&rows, &mut lu), &mut z, MOST, 1e-20, measure, |value| *value <= 1e-12);
            assert!(solved.1 <= 1e-12, "{seed} {friction:?} {C} {solved:?}");
        }
    }

    /// One contact that is rigid, and it is not for this method.
    #[test]
    fn rigid_contacts_are_for_others() {
        let (bodies, members, mut touches) = heap(2, Friction::Space { mu: 0.7 }, 0.0);
        touches.iter_mut().skip(1).for_each(|touch| touch.compliance = [0.1; 2]);
        let mut rows = Rows::default();
        rows.fill(Island { bodies: &bodies, members: &members, touches: &touches });
        assert!(!Newton::is_for(&rows));
    }
}
