//! The portfolio for problems with sets that are no boxes: friction, cones, graphs.
//!
//! 1. Above `ISLANDS` unknowns each island on its own, where there are several (see `islands`): a few
//!    sweeps, then this portfolio.
//!    Many bodies with about as many forces as velocities or more get sweeps of all blocks, which go over
//!    the bodies (see `bodies`), in turn with solutions of the surroundings of the few that hold most of
//!    the residual: most of the problem settles in as many sweeps however large it is, and what does not
//!    is small. With more forces than velocities [`Admm`] is next, which needs no factors there, and
//!    whose iterations do not grow in number with the bodies, and regions (3) where that stalls.
//! 2. [`GaussSeidel`] while its residual falls fast enough to be done at less cost than Newton's
//!    method.
//!    Contacts of bodies in space with about one force a velocity, up to `WEDGED` unknowns: sweeps over four at a
//!    time in turn with interior points for the surroundings of the worst (see `bodies::contacts`).
//! 3. Above `ISLANDS` unknowns the surroundings of the worst blocks (see `regions`), in turn with
//!    sweeps where these have disturbed others, while the residual falls; and up to `LARGE` unknowns
//!    with a few steps of Newton's method.
//! 4. [`Admm`] while its residual falls fast, [`Newton`] from there, [`InteriorPoint`], Newton from
//!    zero and with care, a long run of [`Admm`]; none of them for problems so large that factors
//!    would fill the memory, which get [`Extragradient`] where sweeps cannot be.
//! 5. Gauss–Seidel again, longer, and the rest from there, until the budget is spent.
//!
//! A problem whose map is a function goes to Josephy's method (see `josephy`).
//! Each attempt starts from the best point so far, but for interior points and one of Newton's, which
//! come once. A proof that there is no solution ends the search.

use super::admm;
use super::bodies::{self, is_one_island, of_bodies};
use super::islands::Islands;
use super::parts::Parts;
use super::{Admm, Extragradient, GaussSeidel, InteriorPoint, Newton, josephy, regions};
use crate::residual::{residual, shares};
use crate::{
    AdmmSettings, Attempt, AutoSettings, ExtragradientSettings, GaussSeidelSettings, Global,
    InteriorPointSettings, NewtonSettings, NumericsError, Operator, Problem, Report, Status,
};
use saltus_linalg::vector::norm2;

/// Sweeps that cost as much as Newton's method, for small problems; larger ones are worth more,
/// since factors fill in.
fn sweeps_worth(unknowns: usize) -> usize {
    (unknowns / 4).max(150)
}

/// Sweeps after which the rate of convergence is judged.
const TRIAL: usize = 20;
/// What comes after the sweeps, in this order.
const TRIES: [Try; 6] = [
    Try::Admm { limit: 400 },
    NEWTON,
    Try::InteriorPoint,
    Try::Newton { from_zero: true, proximal: 1.0, careful: false },
    Try::Newton { from_zero: false, proximal: 0.01, careful: true },
    Try::Admm { limit: 5000 },
];

/// The same for problems of at most `SMALL` unknowns, whose factors cost little, and for regions.
const SMALL_TRIES: [Try; 6] = [NEWTON, TRIES[0], TRIES[2], TRIES[3], TRIES[4], TRIES[5]];
const SMALL: usize = 120;
/// How many of these, once, for a region of more than `LARGE` unknowns: it need not be solved, since other
/// regions follow in the next round, and one that is not cost as much as all the rest.
const REGION_TRIES: usize = 3;
const NEWTON: Try = Try::Newton { from_zero: false, proximal: 0.1, careful: false };

/// Unknowns above which a problem is cut into its islands, and these into regions.
const ISLANDS: usize = 300;
/// Most sweeps of an island before other methods.
const SETTLE: usize = 60;
/// Sweeps between two rounds of regions.
const BETWEEN: usize = 50;
/// Rounds of regions within which the residual must halve; in each they become larger.
const ROUNDS: usize = 8;
/// Least pieces of that size that a problem has.
const PIECES: usize = 30;
/// Unknowns above which factors cost more than regions; and the most sweeps before these.
const LARGE: usize = 3000;
const FIRST: usize = 200;
/// Steps of Newton's method without progress, in each attempt and between rounds of regions.
const PATIENCE: usize = 25;
const SHORT_PATIENCE: usize = 2;

/// Forces a velocity from which most contacts hang together, and spots come before regions; from which
/// alternating directions come next; and from which they come first in very large problems.
const JOINED: f64 = 0.8;
const HYPERSTATIC: f64 = 1.5;
const CROWDED: f64 = 5.0;
/// Sweeps after which spots come, at the next measurement, unless the residual has halved; rounds of these in which it
/// must.
const STALLED: usize = 12;
const SPOT_ROUNDS: usize = 20;
/// Most iterations of those, and iterations in which their residual must halve.
const MOST: usize = 400;
const HALVED: usize = 25;
/// Largest problem of about one force a velocity that begins with surroundings by interior points.
const WEDGED: usize = 12_000;
/// Largest problem whose matrix is factored: beyond it factors fill the memory.
const FACTORED: usize = 60_000;

/// One attempt.
#[derive(Debug, Clone, Copy)]
enum Try {
    /// From the best point so far, or from zero, which leads away from where it is stuck.
    Newton {
        from_zero: bool,
        proximal: f64,
        careful: bool,
    },
    InteriorPoint,
    /// While the residual falls, up to so many iterations.
    Admm {
        limit: usize,
    },
}

impl Try {
    /// Whether it does not look at where it begins.
    fn forgets(self) -> bool {
        matches!(self, Try::InteriorPoint | Try::Newton { from_zero: true, .. })
    }
}

/// The portfolio and what its methods keep between calls.
#[derive(Debug)]
pub(crate) struct Cones {
    settings: AutoSettings,
    pub(super) gauss_seidel: GaussSeidel,
    newton: Newton,
    interior_point: InteriorPoint,
    admm: Admm,
    pub(super) has_regions: bool, // not so where it solves one
    pub(super) most_tries: usize,
    best: Vec<f64>,
}

impl Cones {
    pub fn new(settings: AutoSettings) -> Self {
        let AutoSettings { tol, max_iter, .. } = settings;
        let sweeps = GaussSeidelSettings { tol, max_iter, ..Default::default() };
        let steps = NewtonSettings { tol, max_iter, patience: PATIENCE, ..Default::default() };
        let steps_inside = InteriorPointSettings::default().max_iter.min(max_iter);
        let interior = InteriorPointSettings { tol, max_iter: steps_inside };
        let directions = AdmmSettings { tol, max_iter, ..Default::default() };
        Cones {
            settings,
            gauss_seidel: GaussSeidel::new(sweeps),
            newton: Newton::new(steps),
            interior_point: InteriorPoint::new(interior),
            admm: Admm::new(directions),
            has_regions: true,
            most_tries: usize::MAX,
            best: Vec::new(),
        }
    }

    /// Solves from the guess in `z`; leaves the answer in `z` and `w`.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        attempts: &mut Vec<Attempt>,
    ) -> Result<Report, NumericsError> {
        if let Operator::Function(_) = problem.matrix() {
            return josephy::solve(&self.settings, problem, z, w, attempts);
        }
        let mut best = std::mem::take(&mut self.best);
        let mut search = Search::new(problem, z, w, attempts, &mut best);
        self.search(problem, z, w, &mut search);
        let report = search.finish(problem, z, w);
        self.best = best;
        report
    }

    /// The attempts in turn, until one of them decides.
    fn search(&mut self, problem: &Problem, z: &mut [f64], w: &mut [f64], search: &mut Search<'_>) {
        let (n, worth) = (problem.len(), sweeps_worth(problem.len()));
        let mut sweeps = if n > LARGE && self.has_regions { worth.min(FIRST) } else { worth };
        let forces = |global: &Global| n as f64 / global.velocities() as f64;
        let forces = problem.global().filter(|_| admm::is_iterative(problem)).map_or(0.0, forces);
        // with few forces a velocity spots are known to be better only up to that size
        let joined = forces > if n <= FACTORED { JOINED } else { HYPERSTATIC };
        // with very many of them sweeps get on more slowly in larger problems than the bodies at once
        let crowded = forces > CROWDED && n > FACTORED;
        if joined && !crowded && self.by_spots(problem, z, w, search) {
            return;
        }
        if forces > HYPERSTATIC {
            z.copy_from_slice(search.best);
            let report = self.bodies_at_once(problem, z, w);
            if search.take(report, z) {
                return;
            }
            // a few contacts that change between modes keep it from its end
            if self.gauss_seidel.cut(problem, z).is_ok() && self.by_regions(problem, z, w, search) {
                return;
            }
            z.copy_from_slice(search.best);
        } else if n > ISLANDS && !of_bodies(problem).is_some_and(is_one_island) {
            // the blocks alone, to see whether there are islands
            if self.gauss_seidel.cut(problem, z).is_ok() {
                let islands = Islands::of(&self.gauss_seidel.blocks);
                if islands.len() > 1 && self.by_islands(problem, z, w, search, &islands) {
                    return;
                }
            }
        }
        let mut is_first = true;
        while search.iterations < self.settings.max_iter {
            let before = search.residual;
            let report = self.sweep(problem, z, w, sweeps);
            let can_sweep = report.is_ok();
            if search.take(report, z) {
                return;
            }
            if can_sweep && is_first && self.by_surroundings(problem, z, w, search) {
                return;
            }
            if n > ISLANDS && can_sweep && self.has_regions {
                if self.by_regions(problem, z, w, search) {
                    return;
                }
                z.copy_from_slice(search.best);
            }
            if n > FACTORED && !can_sweep {
                let AutoSettings { tol, max_iter, .. } = self.settings;
                let settings = ExtragradientSettings { tol, max_iter };
                let report = Extragradient::new(settings).solve(problem, z, w);
                search.take(report, z);
                return;
            }
            let tries = if n <= SMALL || !self.has_regions { SMALL_TRIES } else { TRIES };
            let is_large_region = n > LARGE && !self.has_regions;
            let most = if is_large_region { REGION_TRIES } else { tries.len() };
            let most = most.min(self.most_tries);
            for attempt in tries.into_iter().take(most) {
                if n > FACTORED {
                    break;
                }
                if !is_first && attempt.forgets() {
                    continue; // it would end where it did
                }
                let report = self.attempt(attempt, problem, z, w);
                let infeasible =
                    report.as_ref().is_ok_and(|report| report.status == Status::Infeasible);
                if search.take(report, z) || infeasible {
                    return;
                }
            }
            if is_large_region
                || most < tries.len()
                || !(search.residual < 0.5 * before) && sweeps > 10 * worth
            {
                return;
            }
            sweeps *= 4;
            is_first = false;
        }
    }

    /// Contacts of bodies with about one force a velocity, where some wedge each other and sweeps alone do not get on:
    /// sweeps and surroundings by interior points in turn; whether that solves the problem.
    fn by_surroundings(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        search: &mut Search<'_>,
    ) -> bool {
        let n = problem.len();
        let of_all = |global: &Global| n as f64 / global.velocities() as f64;
        let wedged = problem.global().map(of_all).is_some_and(|c| JOINED < c && c < HYPERSTATIC);
        if !wedged || !self.has_regions || !(ISLANDS..=WEDGED).contains(&n) {
            return false;
        }
        let Some(mut contacts) = bodies::contacts(problem) else { return false };
        let AutoSettings { tol, max_iter, .. } = self.settings;
        let iterations = contacts.search(z, tol, max_iter - search.iterations.min(max_iter));
        let last = residual(problem, z, w);
        let report = last.report(tol, Status::Stalled, iterations, "surroundings");
        let done = search.take(Ok(report), z);
        z.copy_from_slice(search.best);
        done
    }

    /// Sweeps while they will be done in time at the rate so far.
    fn sweep(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        sweeps: usize,
    ) -> Result<Report, NumericsError> {
        let tol = self.settings.tol;
        let mut first = None;
        let promising = |sweep: usize, residual: f64| {
            if sweep < TRIAL {
                return true;
            }
            let &mut (start, from) = first.get_or_insert((sweep, residual));
            if sweep < start + TRIAL {
                return true;
            }
            let rate = (residual / from).ln() / (sweep - start) as f64;
            let left = (tol / residual).ln() / rate;
            rate < 0.0 && sweep as f64 + left <= 1.2 * sweeps as f64
        };
        self.gauss_seidel.run(problem, z, w, sweeps, promising)
    }

    /// One attempt from the point in `z`.
    fn attempt(
        &mut self,
        attempt: Try,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        match attempt {
            Try::Newton { from_zero, proximal, careful } => {
                self.newton.set_proximal(proximal, careful);
                if from_zero {
                    z.fill(0.0);
                }
                self.newton.solve(problem, z, w)
            }
            Try::InteriorPoint => self.interior_point.solve(problem, z, w),
            Try::Admm { limit } => {
                let mut before = f64::INFINITY;
                let mut next = 100;
                // it goes on while a hundred iterations make the residual ten times less
                let falls = |iteration: usize, residual: f64| {
                    if iteration < next || limit > 400 {
                        return true;
                    }
                    let falls = residual <= 0.1 * before;
                    (before, next) = (residual, iteration + 100);
                    falls
                };
                self.admm.run(problem, z, w, limit, falls)
            }
        }
    }

    /// Alternating directions without factors, while the residual halves within `HALVED` iterations.
    fn bodies_at_once(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        let (mut least, mut since) = (f64::INFINITY, 0);
        let falls = |iteration: usize, residual: f64| {
            if residual <= 0.5 * least {
                (least, since) = (residual, iteration);
            }
            iteration < since + HALVED
        };
        self.admm.run(problem, z, w, MOST, falls)
    }

    /// Each island on its own, from the point in `z`, which is cut into blocks; whether that solves the
    /// problem. Sweeps first, then the portfolio for those that are left.
    fn by_islands(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        search: &mut Search<'_>,
        islands: &Islands,
    ) -> bool {
        let AutoSettings { tol, .. } = self.settings;
        let mut iterations = self.gauss_seidel.settle(islands, z, SETTLE, tol);
        let mut last = residual(problem, z, w);
        if last.value > tol && last.value <= 100.0 * tol {
            iterations += self.gauss_seidel.settle(islands, z, SETTLE, 0.01 * tol);
            last = residual(problem, z, w);
        }
        let report = last.report(tol, Status::MaxIter, iterations, "gauss-seidel");
        if search.keep_going(report, z) {
            return true;
        }
        // what each island may have of the residual
        let mut of_blocks = Vec::new();
        shares(problem, z, w, &mut of_blocks);
        let all = norm2(&of_blocks);
        let enough = 0.3 * tol / last.value * all / (islands.len() as f64).sqrt();
        let mut parts = Parts::new(AutoSettings { tol: 0.5 * tol, ..self.settings.clone() });
        for island in islands.iter() {
            let own = island.iter().map(|&k| of_blocks[k] * of_blocks[k]).sum::<f64>().sqrt();
            if !(own <= enough) {
                parts.solve(problem, self.gauss_seidel.blocks(), island, z);
            }
        }
        let last = residual(problem, z, w);
        search.take(Ok(parts.report(last, tol, "islands")), z)
    }

    /// Sweeps of all blocks, and the surroundings of those few that hold most of the residual, in turn,
    /// while the residual falls; whether that solves the problem.
    fn by_spots(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        search: &mut Search<'_>,
    ) -> bool {
        let AutoSettings { tol, max_iter, .. } = self.settings;
        let (mut least, mut stale, mut rings) = (f64::INFINITY, 0, 1);
        let (mut of_blocks, mut sweeps) = (Vec::new(), 0);
        let mut contacts = None;
        while stale < SPOT_ROUNDS && sweeps < max_iter {
            // as long as the residual halves now and then
            let (mut half, mut since) = (f64::INFINITY, 0);
            let falls = |sweep: usize, residual: f64| {
                if residual <= 0.5 * half {
                    (half, since) = (residual, sweep);
                }
                sweep < since + STALLED
            };
            let report = self.gauss_seidel.run(problem, z, w, max_iter, falls);
            let Ok(report) = report else { return false };
            let now = report.residual;
            sweeps += report.iterations.max(1);
            if search.keep_going(report, z) {
                return true;
            }
            if now <= 0.5 * least {
                (least, stale, rings) = (now, 0, 1);
            } else {
                stale += 1;
                rings += usize::from(stale % 2 == 0);
            }

            shares(problem, z, w, &mut of_blocks);
            let Some(level) = regions::worst(&of_blocks, stale > 0) else { continue };
            let tol = (0.01 * now).max(0.3 * tol);
            let contacts = contacts.get_or_insert_with(|| bodies::contacts(problem));
            let parts = Parts::new(AutoSettings { tol, ..self.settings.clone() });
            let mut parts = parts.among(contacts.as_mut(), z);
            parts.inner.has_regions = false;
            if let Some(bodies) = self.gauss_seidel.bodies_of(problem) {
                parts.solve_spots(problem, bodies, &of_blocks, level, rings, z);
            } else {
                let Ok(blocks) = self.gauss_seidel.blocks_of(problem) else { return false };
                parts.solve_spots(problem, blocks, &of_blocks, level, rings, z);
            }
            let tol = self.settings.tol;
            let last = residual(problem, z, w);
            if search.keep_going(parts.report(last, tol, "regions"), z) {
                return true;
            }
        }
        false
    }

    /// The surroundings of the worst blocks, sweeps where they have disturbed others, and Newton's
    /// method in turn, while the residual falls; whether that solves the problem.
    fn by_regions(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        search: &mut Search<'_>,
    ) -> bool {
        let AutoSettings { tol, max_iter, .. } = self.settings;
        let Ok(blocks) = self.gauss_seidel.blocks_of(problem) else { return false };
        let largest = regions::LARGEST.max(blocks.len() / PIECES);
        let (mut least, mut left, mut size) = (f64::INFINITY, ROUNDS, regions::SIZE);
        let mut contacts = bodies::contacts(problem);
        let mut tried = f64::INFINITY; // the residual from which Newton's method was tried
        let (mut of_blocks, mut sweeps) = (Vec::new(), 0);
        while left > 0 && sweeps < max_iter {
            let now = residual(problem, z, w).value;
            if now <= 0.5 * least {
                (least, left, size) = (now, ROUNDS, (size / 2).max(regions::SIZE));
            } else {
                left -= 1;
                size = (2 * size).min(largest);
            }
            shares(problem, z, w, &mut of_blocks);
            let level = norm2(&of_blocks) / (of_blocks.len() as f64).sqrt();
            let around = regions::around(self.gauss_seidel.blocks(), &of_blocks, size);
            let Some(regions) = around else { return false };
            // Newton's method is soon done, or soon lost; where factors cost much the rest comes first
            if now <= 0.25 * tried && problem.len() <= LARGE {
                tried = now;
                self.newton.set_patience(SHORT_PATIENCE);
                let report = self.attempt(NEWTON, problem, z, w);
                self.newton.set_patience(PATIENCE);
                if search.take(report, z) {
                    return true;
                }
            }
            let blocks = self.gauss_seidel.blocks();
            let tol_of_parts = (0.01 * now).max(0.3 * tol);
            let parts = Parts::new(AutoSettings { tol: tol_of_parts, ..self.settings.clone() });
            let mut parts = parts.among(contacts.as_mut(), z);
            parts.inner.has_regions = false;
            for region in &regions {
                parts.solve(problem, blocks, region, z);
            }
            let last = residual(problem, z, w);
            if search.keep_going(parts.report(last, tol, "regions"), z) {
                return true;
            }

            // sweeps, where blocks are now worse than they were in the mean
            shares(problem, z, w, &mut of_blocks);
            let spots = regions::spots(blocks, &of_blocks, level, regions::RINGS);
            let many = 2 * spots.iter().map(Vec::len).sum::<usize>() > blocks.len();
            parts.iterations = 0;
            let report = if many && !parts.sweep_all(z, BETWEEN) {
                self.gauss_seidel.run(problem, z, w, BETWEEN, |_, _| true)
            } else {
                for spot in spots.iter().filter(|_| !many) {
                    parts.sweep(problem, blocks, spot, z, BETWEEN);
                }
                let last = residual(problem, z, w);
                Ok(parts.report(last, tol, "gauss-seidel"))
            };
            let Ok(report) = report else { return false };
            sweeps += report.iterations;
            if search.keep_going(report, z) {
                return true;
            }
        }
        false
    }
}

/// The best point so far, and what was tried.
struct Search<'a> {
    attempts: &'a mut Vec<Attempt>,
    best: &'a mut Vec<f64>,
    residual: f64,
    report: Option<Report>,
    iterations: usize,
    refusal: Option<NumericsError>,
}

impl<'a> Search<'a> {
    fn new(
        problem: &Problem,
        z: &[f64],
        w: &mut [f64],
        attempts: &'a mut Vec<Attempt>,
        best: &'a mut Vec<f64>,
    ) -> Self {
        attempts.clear();
        best.clear();
        best.extend_from_slice(z);
        let residual = residual(problem, z, w).value;
        Search { attempts, best, residual, report: None, iterations: 0, refusal: None }
    }

    /// Notes an attempt that others build upon, and leaves `z` where it is. Whether the search is
    /// over.
    fn keep_going(&mut self, report: Report, z: &mut [f64]) -> bool {
        let Report { method, status, residual, iterations, .. } = report;
        let same = self.attempts.last().is_some_and(|last| last.method == method);
        match self.attempts.last_mut() {
            Some(last) if same => (last.status, last.residual) = (status, residual),
            _ => self.attempts.push(Attempt { method, status, residual }),
        }
        self.iterations += iterations.max(1);
        if residual < self.residual {
            self.residual = residual;
            self.best.copy_from_slice(z);
            self.report = Some(report);
        }
        status == Status::Solved
    }

    /// Notes an attempt; leaves the best point in `z`. Whether the search is over.
    fn take(&mut self, report: Result<Report, NumericsError>, z: &mut [f64]) -> bool {
        let report = match report {
            Ok(report) => report,
            // that a method cannot work on a problem is no failure of the portfolio
            Err(error) => {
                self.refusal = Some(error);
                z.copy_from_slice(self.best);
                return false;
            }
        };
        let Report { method, status, residual, iterations, .. } = report;
        self.attempts.push(Attempt { method, status, residual });
        self.iterations += iterations.max(1);
        let solved = status == Status::Solved;
        let decided = solved || status == Status::Infeasible;
        if decided || residual < self.residual || self.report.is_none() {
            self.report = Some(report);
        }
        if solved || residual < self.residual {
            self.residual = residual;
            self.best.copy_from_slice(z);
        } else {
            z.copy_from_slice(self.best);
        }
        solved
    }

    /// The report on the best point, with `w` there.
    fn finish(
        self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        z.copy_from_slice(self.best);
        if let Some(report) = self.report.filter(|report| report.status == Status::Solved) {
            // measured at this very point, with its `w`
            return Ok(Report { iterations: self.iterations, ..report });
        }
        let last = residual(problem, z, w);
        match (self.report, self.refusal) {
            (Some(report), _) => Ok(Report {
                iterations: self.iterations,
                residual: last.value,
                worst: last.worst,
                ..report
            }),
            (None, Some(refusal)) => Err(refusal),
            (None, None) => Ok(Report {
                status: Status::MaxIter,
                iterations: 0,
                residual: last.value,
                worst: last.worst,
                method: "auto",
            }),
        }
    }
}
