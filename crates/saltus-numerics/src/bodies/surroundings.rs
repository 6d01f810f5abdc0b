//! The surroundings of contacts that hold most of the residual, each solved as a problem of its own with all other
//! impulses as they are.
//!
//! Where bodies are wedged, one contact's slip opens another, and sweeps take for ever to shift their forces.
//! Some thirty contacts around them go through the [interior point method](super::interior) in about ten steps, each
//! of which costs what a few dozen sweeps over them do, and where its path turns it is
//! [followed](super::central_path).

use super::by_body::ByBody;
use super::part::{Measure, Part};
use super::rows::{FIXED, Motion, Whole};
use crate::watch::is_interrupted;

/// Surroundings in one turn, and the share of the squared residual at which no more are looked for.
const SPOTS: usize = 16;
const HELD: f64 = 0.7;
/// Their residual, of the tolerance of the whole.
const FINE: f64 = 0.1;

/// What is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    by_body: ByBody,
    shares: Vec<f64>,
    order: Vec<u32>, // contacts, those with the largest shares first
    is_done: Vec<bool>,
    is_in: Vec<bool>, // bodies
    bodies: Vec<u32>,
    spot: Vec<u32>,
    part: Part,
}

impl Surroundings {
    /// The contacts of each body.
    pub fn prepare(&mut self, whole: &impl Whole) {
        let moving = |c: usize| whole.sides(c).into_iter().filter(|&side| side != FIXED);
        self.by_body.fill(whole.bodies(), (0..whole.count()).map(moving));
    }

    /// Solves some `most` contacts, those of whole bodies, around each of the ones with the largest shares of the residual; `s` are the
    /// velocities of `z`, and follow it. How many steps of the interior point method.
    pub fn solve(
        &mut self,
        whole: &impl Whole,
        measure: Measure,
        tol: f64,
        most: usize,
        z: &mut [f64],
        s: &mut [Motion],
    ) -> usize {
        self.shares.clear();
        let share =
            |(c, z): (usize, &[f64])| whole.look(c, |row| measure.share(row, z, row.velocity(s)));
        self.shares.extend(z.chunks_exact(3).enumerate().map(share));
        let all: f64 = self.shares.iter().sum();
        self.order.clear();
        self.order.extend(0..whole.count() as u32);
        let shares = &self.shares;
        self.order.sort_by(|&a, &b| shares[b as usize].total_cmp(&shares[a as usize]));
        self.is_done.clear();
        self.is_done.resize(whole.count(), false);
        self.is_in.resize(whole.bodies().max(self.is_in.len()), false);
        let (mut steps, mut held, mut spots) = (0, 0.0, 0);
        for at in 0..self.order.len() {
            let worst = self.order[at];
            let is_small = self.shares[worst as usize].sqrt() <= FINE * tol;
            if spots == SPOTS || held >= HELD * all || is_small || is_interrupted() {
                break;
            }
            if self.is_done[worst as usize] {
                continue;
            }
            self.surround(whole, worst, most);
            spots += 1;
            for &c in &self.spot {
                self.is_done[c as usize] = true;
                held += self.shares[c as usize];
            }
            steps += self.part.solve(whole, &self.spot, measure, FINE * tol, z, s).steps;
        }
        steps
    }

    /// The contacts around one, body by body.
    fn surround(&mut self, whole: &impl Whole, worst: u32, most: usize) {
        let Surroundings { by_body, is_done, is_in, bodies, spot, .. } = self;
        spot.clear();
        bodies.clear();
        spot.push(worst);
        is_done[worst as usize] = true;
        let mut add = |c: u32, bodies: &mut Vec<u32>| {
            for side in whole.sides(c as usize) {
                if side != FIXED && !std::mem::replace(&mut is_in[side as usize], true) {
                    bodies.push(side);
                }
            }
        };
        add(worst, bodies);
        let mut at = 0;
        while at < bodies.len() && spot.len() < most {
            for &c in by_body.of(bodies[at] as usize) {
                if !std::mem::replace(&mut is_done[c as usize], true) {
                    spot.push(c);
                    add(c, bodies);
                }
            }
            at += 1;
        }
        bodies.iter().for_each(|&k| is_in[k as usize] = false);
    }
}

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::rows::Rows;
    use super::super::{Friction, Island};
    use super::*;

    /// The worst contacts and what is around them are solved, and nothing else changes.
    #[test]
    fn surroundings_are_solved() {
        let (bodies, members, touches) = heap(4, Friction::Space { mu: 0.5 }, 1.0);
        let mut rows = Rows::default();
        rows.fill(Island { bodies: &bodies, members: &members, touches: &touches });
        let (mut z, mut s) = (vec![0.0; 3 * touches.len()], Vec::new());
        rows.follow(&z, &mut s);
        let mut surroundings = Surroundings::default();
        surroundings.prepare(&rows);
        let measure = Measure { rho: 0.5, scale: 1.0 };
        surroundings.shares.clear();
        for (row, z) in rows.all.iter().zip(z.chunks_exact(3)) {
            surroundings.shares.push(measure.share(row, z, row.velocity(&s)));
        }
        surroundings.is_done.resize(touches.len(), false);
        surroundings.is_in.resize(members.len(), false);
        surroundings.surround(&rows, 30, 20);
        let spot = surroundings.spot.clone();
        assert!(spot.len() >= 20 && spot.len() < 30 && spot[0] == 30, "{spot:?}");
        let solved = surroundings.part.solve(&rows, &spot, measure, 1e-10, &mut z, &mut s);
        assert!(solved.is_solved);
        let mut again = Vec::new();
        rows.follow(&z, &mut again);
        for (c, row) in rows.all.iter().enumerate() {
            let own = &z[3 * c..3 * c + 3];
            match spot.contains(&(c as u32)) {
                true => assert!(measure.share(row, own, row.velocity(&again)).sqrt() <= 1e-9),
                false => assert_eq!(own, [0.0; 3]),
            }
        }
        for (a, b) in s.iter().zip(&again) {
            assert!((0..6).all(|i| (a[i] - b[i]).abs() < 1e-12), "velocities follow");
        }
    }
}
