//! Contacts with friction of a crowd of bodies: sweeps, factors, and the surroundings of what is left.
//!
//! In a heap that moves, forces of one step say little of the next, and about one force a velocity is left. After some
//! hundred [sweeps](super::fours) most contacts have found their mode, and a few groups hold the residual.
//!
//! - Of few bodies, whose factors cost as much as some sweeps, all contacts go through the
//!   [interior point method](super::interior), down or [along](super::central_path) its path.
//! - Of more, sweeps go on [where impulses still change](super::lively). Then [surroundings](super::surroundings) of the worst contacts
//!   are solved in turn with sweeps, wider ones where that does not help.
//! - Contacts that give way have a matrix `W + C` whose least values are those of `C`: where all do, such sweeps solve them, however many there are. Where
//!   factors are sparse, as of stacks and walls, sweeps only find most modes, and [Newton's method](super::newton) the rest.

use super::fours::Fours;
use super::interior::Interior;
use super::lanes::Kept;
use super::lively::Lively;
use super::measure::{Measured, Scales};
use super::newton::Newton;
use super::part::Measure;
use super::rows::{Rows, Unkept};
use super::sweeps::Sweeping;
use super::turns::{Limits, Now, SWEEPS, Turns};
use super::{FORESEEN, Island, Twist};
use crate::watch::is_interrupted;
use crate::{Report, Status};
use saltus_linalg::GraphLu;
use saltus_linalg::vector::foresee;

/// Rounds of sweeps at first.
const FIRST: usize = 3;
/// Sweeps [where something changes](super::lively); of contacts that give way, of a round, within which the residual must halve, and
/// rounds.
const LONG: usize = 400;
const ROUNDS: usize = 20;
/// Of these, too: how many, and multiplications of a factorization a contact, up to which Newton's method comes first; the residual up
/// to which it comes at once, and the sweeps before it elsewhere.
const GIVING: usize = 10_000;
const SHORT: f64 = 3000.0;
const SETTLED: f64 = 0.03;
const SETTLING: usize = 30;
/// Residual of rigid contacts, in units of the tolerance, above which such sweeps come before surroundings.
const FAR: f64 = 10.0;
/// Multiplications of a factorization, about, up to which the whole crowd is factored first; and at all.
const QUICK: f64 = 1e7;
const LONGEST: f64 = 2e8;
/// Contacts above which it is longer for certain.
const ANALYSED: usize = 6000;
/// Residual, in units of the tolerance, from which sweeps may go the rest of the way.
const NEAR: f64 = 100.0;
/// Change of the velocities in a sweep, in units of the tolerance, at which it is worth to measure; and the share of it
/// that is left for the next time.
const ENOUGH: f64 = 1.0;
const LESS: f64 = 0.5;
/// Turns at most, and those within which the residual must halve.
const TURNS: usize = 16;
const PATIENCE: usize = 6;

/// Both ways of the interior point method.
#[derive(Debug, Clone, Copy)]
enum Way {
    Down,
    Along,
}

/// What is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Crowds {
    rows: Rows,
    fours: Fours,
    light: Fours<f32>, // of contacts that give way
    lively: Lively,
    light_lively: Lively<f32>,
    lu: GraphLu,
    interior: Interior,
    newton: Newton,
    turns: Turns,
    saved: Vec<f64>, // impulses to go back to
}

impl Crowds {
    /// Solves from the guess in `z`, three components a contact; leaves the answer there, and the velocities in
    /// `twists`.
    pub fn solve(
        &mut self,
        island: Island<'_>,
        z: &mut [f64],
        settings: Sweeping,
        twists: &mut [Twist],
    ) -> Report {
        let seen = Seen { island, against: island.scales(twists) };
        let mut call = Call { seen, z, twists, settings, iterations: 0 };
        let mut now = call.measure();
        if call.goes_on(&now) {
            self.save(&call);
            now = match island.gives() {
                true => self.giving(&mut call, now),
                false => self.rigid(&mut call, now),
            };
        }
        // what was left in the velocities is of the last attempt
        now = if now.residual.value <= settings.tol { now } else { call.measure() };
        let (value, worst) = (now.residual.value, now.residual.worst);
        let status = match value {
            value if value <= settings.tol => Status::Solved,
            value if !value.is_finite() => Status::Diverged,
            _ => Status::MaxIter,
        };
        let iterations = call.iterations;
        Report { status, iterations, residual: value, worst, method: "body-sweeps" }
    }

    /// Contacts that give way, all of them or some.
    fn giving(&mut self, call: &mut Call<'_>, begin: Measured) -> Measured {
        let island = call.seen.island;
        let work = self.analyse(island, GIVING);
        let mut now = begin;
        if work <= SHORT * island.touches.len() as f64 && Newton::is_for(&self.rows) {
            if now.residual.value > SETTLED {
                self.light.fill(&self.rows);
                now = call.sweep(&mut self.light, SETTLING, Fours::run);
                now = self.or_saved(call, now);
            }
            if call.goes_on(&now) {
                self.save(call);
                let then = self.by_newton(call);
                now = match then.residual.value < now.residual.value {
                    true => then,
                    false => self.go_back(call),
                };
            }
        }
        if call.goes_on(&now) {
            let Crowds { rows, light, light_lively: lively, .. } = self;
            light.take_in(island, rows, work.is_finite());
            for _ in 0..ROUNDS {
                let before = now.residual.value;
                now = call.sweep(light, LONG, |light, most, still| lively.run(light, most, still));
                let halves = now.residual.value <= 0.5 * before;
                if !halves || !call.goes_on(&now) {
                    break;
                }
            }
        }
        self.or_saved(call, now)
    }

    /// Contacts that do not.
    fn rigid(&mut self, call: &mut Call<'_>, begin: Measured) -> Measured {
        let island = call.seen.island;
        let work = self.analyse(island, ANALYSED);
        let is_factored = work <= QUICK;
        self.fours.take_in(island, &mut self.rows, work.is_finite());
        let mut now = begin;
        for _ in 0..if is_factored { 1 } else { FIRST } {
            if call.goes_on(&now) {
                now = call.sweep(&mut self.fours, SWEEPS, Fours::run);
            }
        }
        let is_far = now.residual.value > FAR * call.settings.tol;
        if call.goes_on(&now) && !is_factored && is_far {
            let Crowds { fours, lively, .. } = self;
            now = call.sweep(fours, LONG, |fours, most, still| lively.run(fours, most, still));
        }
        now = self.or_saved(call, now);
        if call.goes_on(&now) && is_factored {
            now = self.by_factors(call, now);
        }
        if call.goes_on(&now) {
            now = self.by_surroundings(call, now);
        }
        let is_last = call.settings.thorough && !is_factored && work <= LONGEST;
        if call.goes_on(&now) && is_last {
            now = self.by_factors(call, now);
        }
        now
    }

    /// The rows of an island of up to so many contacts, and the analysis of its factors: multiplications of a factorization, without
    /// end where there are more.
    fn analyse(&mut self, island: Island<'_>, most: usize) -> f64 {
        if island.touches.len() > most {
            return f64::INFINITY;
        }
        self.rows.fill(island);
        self.rows.join(&mut self.lu);
        self.lu.work()
    }

    /// Impulses to go back to.
    fn save(&mut self, call: &Call<'_>) {
        self.saved.clear();
        foresee(&mut self.saved, call.z.len(), 3 * FORESEEN * call.seen.island.bodies.len());
        self.saved.extend_from_slice(call.z);
    }

    /// What was measured, or the impulses of before where that is no number.
    fn or_saved(&self, call: &mut Call<'_>, now: Measured) -> Measured {
        if now.residual.value.is_finite() { now } else { self.go_back(call) }
    }

    fn go_back(&self, call: &mut Call<'_>) -> Measured {
        call.z.copy_from_slice(&self.saved);
        call.measure()
    }

    /// Newton's method for contacts that give way.
    fn by_newton(&mut self, call: &mut Call<'_>) -> Measured {
        let Crowds { rows, lu, newton, .. } = self;
        let (most, tol) = (call.left(), call.settings.tol);
        let Call { seen, z, twists, .. } = call;
        let (steps, now) = newton.solve(
            (rows, lu),
            z,
            most,
            seen.energy(ENOUGH * tol),
            |z| seen.measure(z, twists),
            |now| now.residual.value <= tol,
        );
        call.iterations += steps;
        now
    }

    /// Surroundings and sweeps [in turn](super::turns); the best that was found is left in `z`.
    fn by_surroundings(&mut self, call: &mut Call<'_>, begin: Measured) -> Measured {
        let Crowds { fours, turns, saved, .. } = self;
        let now = |of: Measured| {
            let measure = Measure { rho: of.rho, scale: of.rho * of.free };
            Now { residual: of.residual.value, measure }
        };
        let (tol, max_iter) = (call.settings.tol, call.left());
        let limits = Limits { aim: tol, tol, turns: TURNS, patience: PATIENCE, max_iter };
        let Call { seen, z, twists, .. } = call;
        let measured = |z: &[f64]| now(seen.measure(z, twists));
        let steps = turns.run((fours, seen.island.free()), limits, now(begin), z, saved, measured);
        call.iterations += steps;
        call.measure()
    }

    /// The interior point method on all contacts; `z` is as before where neither way leads there.
    fn by_factors(&mut self, call: &mut Call<'_>, begin: Measured) -> Measured {
        let tol = call.settings.tol;
        self.saved.clear();
        self.saved.extend_from_slice(call.z);
        for way in [Way::Down, Way::Along] {
            let Crowds { rows, lu, interior, .. } = self;
            let Call { seen, z, twists, .. } = call;
            let residual = |z: &[f64]| seen.measure(z, twists).residual.value;
            call.iterations += match way {
                Way::Down => interior.solve(rows, lu, z, tol, residual),
                Way::Along => interior.follow(rows, lu, z, tol, residual),
            };
            let mut now = call.measure();
            if now.residual.value > tol && now.residual.value <= NEAR * tol {
                now = call.sweep(&mut self.fours, SWEEPS, Fours::run);
            }
            if now.residual.value <= tol || is_interrupted() {
                return now;
            }
            call.z.copy_from_slice(&self.saved);
        }
        begin
    }
}

/// An island that is being solved.
struct Call<'a> {
    seen: Seen<'a>,
    z: &'a mut [f64],
    twists: &'a mut [Twist], // under the impulses `z`, where these were measured last
    settings: Sweeping,
    iterations: usize,
}

impl Call<'_> {
    fn measure(&mut self) -> Measured {
        self.seen.measure(self.z, self.twists)
    }

    /// Whether there is something left to do, and nobody asks to stop; a NaN is not done.
    fn goes_on(&self, now: &Measured) -> bool {
        !(now.residual.value <= self.settings.tol) && self.left() > 0 && !is_interrupted()
    }

    /// Iterations that are left.
    fn left(&self) -> usize {
        self.settings.max_iter.saturating_sub(self.iterations)
    }

    /// Some sweeps, fewer where they are enough or where that is what is left; `run` makes so many at most, until one changes no more
    /// than an energy.
    fn sweep<T: Kept>(
        &mut self,
        fours: &mut Fours<T>,
        sweeps: usize,
        mut run: impl FnMut(&mut Fours<T>, usize, f64) -> usize,
    ) -> Measured {
        let tol = self.settings.tol;
        fours.begin(self.seen.island.free(), self.z);
        let (mut ahead, mut share) = (sweeps.min(self.left()), ENOUGH);
        loop {
            if !T::WHOLE {
                fours.aim(self.seen.island, self.twists);
            }
            let done = run(fours, ahead, self.seen.energy(share * tol));
            fours.leave(self.z);
            self.iterations += done;
            ahead -= done;
            let now = self.measure();
            if ahead == 0 || !self.goes_on(&now) {
                return now;
            }
            share *= LESS;
        }
    }
}

impl<T: Kept> Fours<T> {
    /// The contacts of an island, from the rows where these are kept.
    fn take_in(&mut self, island: Island<'_>, rows: &mut Rows, kept: bool) {
        if kept {
            self.fill(rows);
            return;
        }
        self.foresee(island.bodies.len(), island.touches.len());
        Unkept::of(island, &mut rows.place, |whole| self.fill(whole));
    }
}

/// An island, and what its residuals are measured against.
#[derive(Clone, Copy)]
struct Seen<'a> {
    island: Island<'a>,
    against: Scales,
}

impl Seen<'_> {
    /// Leaves the velocities under the impulses `z` in `twists`, and measures.
    fn measure(&self, z: &[f64], twists: &mut [Twist]) -> Measured {
        self.island.measure_against(self.against, z, 3, twists)
    }

    /// Of a change of impulses that changes velocities by this share of those without impulses, at least.
    fn energy(&self, share: f64) -> f64 {
        let Scales { free, largest, .. } = self.against;
        (share * free).powi(2) / largest
    }
}

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::{Friction, problem};
    use super::*;
    use crate::methods::Workspace;
    use crate::residual::residual;

    fn analysed(island: Island<'_>) -> Crowds {
        let mut crowds = Crowds::default();
        crowds.rows.fill(island);
        crowds.rows.join(&mut crowds.lu);
        crowds
    }

    fn of_problem(island: Island<'_>, z: &[f64]) -> f64 {
        let known = problem(island).unwrap();
        let size = island.touches[0].friction.size();
        let packed: Vec<f64> = z.chunks_exact(3).flat_map(|z| z[..size].to_vec()).collect();
        residual(&known, &packed, &mut vec![0.0; packed.len()]).value
    }

    /// Either way solves a heap; the residual is measured on its matrix.
    #[test]
    fn both_ways_solve_a_heap() {
        for friction in [Friction::Space { mu: 0.4 }, Friction::None] {
            let (bodies, members, touches) = heap(3, friction, 0.0);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let Crowds { rows, lu, interior, .. } = &mut analysed(island);

            let mut z = vec![0.0; 3 * touches.len()];
            let steps = interior.solve(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            assert!(of_problem(island, &z) <= 1e-8, "{friction:?} {steps}");

            let mut z = vec![0.0; 3 * touches.len()];
            let steps = interior.follow(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            assert!(of_problem(island, &z) <= 1e-8, "{friction:?} {steps}");
        }
    }

    /// Heaps whose path turns: a method that only goes down ends at the first turn, the path leads on.
    #[test]
    fn the_path_is_followed_where_it_turns() {
        let mut stopped = 0;
        for seed in [0, 1, 2, 4, 5, 6, 7, 8] {
            let (bodies, members, touches) = heap(3, Friction::Space { mu: 0.7 }, f64::from(seed));
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let Crowds { rows, lu, interior, .. } = &mut analysed(island);
            let mut z = vec![0.0; 3 * touches.len()];
            interior.solve(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            stopped += usize::from(of_problem(island, &z) > 1e-8);

            z.fill(0.0);
            let steps = interior.follow(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            let value = of_problem(island, &z);
            assert!(value <= 1e-8, "{seed}: {value:e} after {steps}");
        }
        assert!(stopped >= 4, "{stopped} turn");
    }

    /// Heaps whose contacts give way: sweeps solve them, and end where the portfolio does; the residual is measured on the matrix.
    #[test]
    fn sweeps_solve_what_gives_way() {
        let all = [Friction::Space { mu: 0.7 }, Friction::Plane { mu: 0.4 }, Friction::None];
        for (seed, friction) in all.into_iter().enumerate() {
            let (bodies, members, mut touches) = heap(4, friction, seed as f64);
            touches.iter_mut().for_each(|touch| touch.compliance = [0.2, 0.3]);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let mut z = vec![0.0; 3 * touches.len()];
            let mut twists = vec![Twist::default(); bodies.len()];
            let settings = Sweeping { tol: 1e-11, max_iter: 5000, patience: 3, thorough: false };
            let report = Crowds::default().solve(island, &mut z, settings, &mut twists);
            assert_eq!(report.status, Status::Solved, "{friction:?} {report:?}");
            assert!(of_problem(island, &z) <= 1e-10, "{friction:?}");

            let known = problem(island).unwrap();
            let (mut other, mut w) = (vec![0.0; known.len()], vec![0.0; known.len()]);
            let mut workspace = Workspace::new(crate::Solver::default()).unwrap();
            let solved = workspace.solve(&known, &mut other, &mut w).unwrap();
            assert_eq!(solved.status, Status::Solved, "{friction:?}");
            let size = friction.size();
            let largest = other.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
            for (own, other) in z.chunks_exact(3).zip(other.chunks_exact(size)) {
                for k in 0..size {
                    assert!((own[k] - other[k]).abs() <= 1e-6 * largest, "{friction:?}");
                }
            }
        }
    }

    /// Sweeps over rows of seven digits and Newton's method end in the same place, to many more.
    #[test]
    fn sweeps_and_newton_agree() {
        for seed in 0..3 {
            let (bodies, members, mut touches) =
                heap(3, Friction::Space { mu: 0.5 }, f64::from(seed));
            touches.iter_mut().for_each(|touch| touch.compliance = [0.2, 0.3]);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let mut twists = vec![Twist::default(); bodies.len()];
            let seen = Seen { island, against: island.scales(&mut twists) };
            let settings = Sweeping { tol: 1e-13, max_iter: 2000, patience: 3, thorough: false };
            let mut crowds = analysed(island);
            let [mut swept, mut other] =
                [vec![0.0; 3 * touches.len()], vec![0.0; 3 * touches.len()]];
            let mut call =
                Call { seen, z: &mut swept, twists: &mut twists, settings, iterations: 0 };
            call.measure();
            crowds.light.take_in(island, &mut crowds.rows, false);
            let now = call.sweep(&mut crowds.light, 2000, Fours::run);
            assert!(now.residual.value <= 1e-13, "{seed} {now:?}");
            let settings = Sweeping { max_iter: 100, ..settings };
            let mut call =
                Call { seen, z: &mut other, twists: &mut twists, settings, iterations: 0 };
            let now = crowds.by_newton(&mut call);
            assert!(now.residual.value <= 1e-13, "{seed} {now:?}");
            let largest = other.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
            let apart = swept.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart <= 1e-10 * largest, "{seed} {apart:e}");
        }
    }

    #[test]
    fn rows_are_those_of_the_bodies() {
        let (bodies, members, touches) = heap(2, Friction::Space { mu: 0.4 }, 0.0);
        let mut rows = Rows::default();
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        rows.fill(island);
        let z: Vec<f64> = (0..3 * touches.len()).map(|k| (k as f64).cos()).collect();
        let mut twists = vec![Default::default(); bodies.len()];
        island.follow(&z, 3, &mut twists);
        let mut s = Vec::new();
        rows.follow(&z, &mut s);
        for (row, touch) in rows.all.iter().zip(&touches) {
            let [a, b] = touch.bodies.map(|k| k as usize);
            let (own, known) = (row.velocity(&s), touch.relative(&twists[a], &twists[b]));
            for k in 0..3 {
                assert!((own[k] - known[k]).abs() < 1e-12);
            }
        }
    }
}
