//! Primal-dual interior point method for boxes, second-order cones and friction.
//!
//! Each set is a product of half-lines and Lorentz cones `L = { x : ‖x_T‖ ≤ x_N }`, seen through
//! an affine map: `x = G z + g` with `G = (±1)` for a bound, `G = diag(μ, 1, …)` for a cone of
//! aperture `μ`, two such maps of one normal component for rolling. With a dual variable `y` for
//! every such cone the problem is
//!
//! ```text
//! W z + q + φ(y) e_N = Gᵀ y,      x = G z + g,      x ∘ y = τ e,      x, y inside              (1)
//! ```
//!
//! with `τ = 0`. The shift `φ(y) = μ ‖y_T‖` (De Saxcé) makes it Coulomb's law and not its convex
//! relaxation: since `y_T = w_T`, (1) says for each contact
//!
//! ```text
//! w_N (μ z_N + ‖z_T‖) = μ τ,      (μ z_N − ‖z_T‖) (w_N / μ + 2 ‖w_T‖) = τ,      z_T ∥ −w_T    (2)
//! ```
//!
//! so that Signorini's and Coulomb's laws are smoothed together, and friction opposes sliding for
//! every `τ`. The method follows the solutions of (1) as `τ` falls to zero. With the scaling `N`
//! of Nesterov and Todd, `λ = N y = N⁻¹ x`, a step is
//!
//! ```text
//! (W + E N⁻² G) dz = −(1 − σ) r − E N⁻¹ d,      dx = G dz,      dy = −N⁻¹ (d + N⁻¹ dx)         (3)
//! d = λ \ (λ ∘ λ + N⁻¹ dxₐ ∘ N dyₐ − σ τ e)                                                   (4)
//! ```
//!
//! where `E = Gᵀ − e_N φ′`, `r` is the defect of the first equation of (1), and the index `a` marks
//! the step for `σ = 0` without the second term of (4), which tells what `σ` should be (Mehrotra).
//! The steps do not change when a block is scaled, and take some 10 to 40 iterations whatever the
//! conditioning. Along a step `φ(y)` bends away from its tangent; `y_N` takes up the difference, so
//! that `r` falls as it does without a shift, and `y_N − ‖y_T‖`, which is `w_N / μ`, moves in
//! proportion to the length. Each step is one factorization, symmetric where `W` is and no set has
//! a shift; for the pair `(M, H)` it is one of velocities, or of velocities and forces (see
//! `system`). Near the solution round-off may keep the method from going on; a few steps of
//! [`Newton`] then do.
//!
//! The solutions of (1) with a shift may end before `τ` does. Then the shift is frozen, at first to
//! nothing: (1) is convex, and its solution is Coulomb's where nothing slides; otherwise it tells the
//! shift of the next convex problem.
//!
//! Where there is no solution the iterates run away, and their direction may prove it: then, and
//! only then, the problem is called infeasible.
//!
//! `W` positive semidefinite is what the theory covers, and without friction then every problem
//! that has a solution is solved. References: Mehrotra, *SIAM J. Optim.* 2 (1992) 575–601;
//! Vandenberghe, *The CVXOPT linear and quadratic cone program solvers*, 2010; Acary, Armand,
//! Nguyen, Shpakovych, *Second-order cone programming for frictional contact mechanics using
//! interior point algorithm*, Optim. Methods Softw. 39 (2024) 634–663; Acary, Cadoux, Lemaréchal,
//! Malick, *A formulation of the linear discrete Coulomb friction problem via convex optimization*,
//! ZAMM 91 (2011) 155–175.

mod certificate;
mod lorentz;
mod system;

use super::Newton;
use crate::residual::{Residual, residual};
use crate::sets::{clamp, norm};
use crate::{
    InteriorPointSettings, NewtonSettings, NumericsError, Operator, Problem, Report, Set, Status,
};
use system::System;

/// The name in reports.
const METHOD: &str = "interior-point";
/// Iterations without half the residual before Newton's method takes over.
const PATIENCE: usize = 8;
/// Share of the residual that a convex problem may leave for the next to be worth its cost.
const SLOWEST: f64 = 0.8;

/// The interior point method and what it keeps between calls.
#[derive(Debug)]
pub struct InteriorPoint {
    settings: InteriorPointSettings,
    newton: Newton,
    system: System,
    cones: Vec<Cone>,
    frozen: bool,      // the shift stays as it is
    shifts: Vec<f64>,  // what it is then, for each unknown
    fixed: Vec<bool>,  // unknowns that cannot move
    eta: Vec<f64>,     // size of the scaling N of each cone
    scaling: Vec<f64>, // and its v
    x: Vec<f64>,
    y: Vec<f64>,
    lambda: Vec<f64>,
    dx: Vec<f64>,
    dy: Vec<f64>,
    d: Vec<f64>,
    r: Vec<f64>,
    rhs: Vec<f64>,
    dz: Vec<f64>,
    point: Vec<f64>, // z, strictly inside
    best: Vec<f64>,
}

/// What the method has come to.
struct Found {
    least: Residual,
    iterations: usize,
}

impl Found {
    fn report(&self, status: Status, last: Residual) -> Report {
        let Residual { value, worst } = last;
        Report { status, iterations: self.iterations, residual: value, worst, method: METHOD }
    }
}

/// One half-line or Lorentz cone of a set.
#[derive(Debug, Clone, Copy)]
struct Cone {
    at: usize,      // its first component in x and y
    size: usize,    // number of components
    block: usize,   // of the problem
    start: usize,   // first unknown of that block
    width: usize,   // unknowns of that block
    normal: f64,    // what the first unknown is multiplied by: ±1, or the aperture
    bound: f64,     // x = normal (z − bound) for half-lines
    tangent: usize, // first of its other unknowns
    shift: f64,     // coefficient of ‖y_T‖
}

impl Cone {
    /// Its components of `x` or `y`.
    #[inline]
    fn of<'a>(&self, x: &'a [f64]) -> &'a [f64] {
        &x[self.at..self.at + self.size]
    }

    #[inline]
    fn of_mut<'a>(&self, x: &'a mut [f64]) -> &'a mut [f64] {
        &mut x[self.at..self.at + self.size]
    }

    /// Its other unknowns.
    #[inline]
    fn tangents(&self) -> std::ops::Range<usize> {
        self.tangent..self.tangent + self.size - 1
    }

    /// `dx ← G dz`.
    #[inline]
    fn map(&self, dz: &[f64], dx: &mut [f64]) {
        let dx = self.of_mut(dx);
        dx[0] = self.normal * dz[self.start];
        dx[1..].copy_from_slice(&dz[self.tangents()]);
    }

    /// `r ← r − (Gᵀ − e_N φ′) u` for the shift's derivative in the direction of `y`; a frozen shift
    /// has none.
    #[inline]
    fn subtract(&self, frozen: bool, y: &[f64], u: &[f64], r: &mut [f64]) {
        let (y, u) = (self.of(y), self.of(u));
        let shift = if frozen { 0.0 } else { self.shift * along(y, |j| u[j]) };
        r[self.start] -= self.normal * u[0] - shift;
        for (r, u) in r[self.tangents()].iter_mut().zip(&u[1..]) {
            *r -= u;
        }
    }

    /// The longest step of `y` within the cone, bent as [`bend`](Self::bend) does where the shift is
    /// not frozen.
    #[inline]
    fn dual_length(&self, frozen: bool, y: &[f64], dy: &[f64]) -> f64 {
        let (y, dy) = (self.of(y), self.of(dy));
        if self.shift != self.normal || frozen {
            return lorentz::length(y, dy);
        }
        // y_N − ‖y_T‖ moves in proportion to the length
        let (distance, speed) = (y[0] - norm(&y[1..]), dy[0] - along(y, |j| dy[j]));
        if speed < 0.0 { -distance / speed } else { f64::INFINITY }
    }

    /// Adds to the normal component what keeps the first equation of (1) on its tangent:
    /// `normal y_N − shift ‖y_T‖` is to move in proportion to the length. The norm is convex, so
    /// that the point moves inwards.
    #[inline]
    fn bend(&self, y: &[f64], dy: &mut [f64], length: f64) {
        let (y, dy) = (self.of(y), self.of_mut(dy));
        let slope = along(y, |j| dy[j]);
        let mut square = 0.0;
        for j in 1..y.len() {
            square += (y[j] + length * dy[j]).powi(2);
        }
        let excess = f64::sqrt(square) - norm(&y[1..]) - length * slope;
        dy[0] += self.shift / self.normal * excess.max(0.0) / length;
    }
}

/// `Σ y_j f(j) / ‖y_T‖` over the tangential components; 0 where `‖y_T‖` has its kink.
#[inline]
fn along(y: &[f64], f: impl Fn(usize) -> f64) -> f64 {
    let length = norm(&y[1..]);
    if length > 0.0 { (1..y.len()).map(|j| y[j] * f(j)).sum::<f64>() / length } else { 0.0 }
}

impl InteriorPoint {
    /// The method with these settings.
    pub fn new(settings: InteriorPointSettings) -> Self {
        let tol = settings.tol;
        let polish = NewtonSettings {
            tol,
            max_iter: 60,
            proximal: 0.1,
            patience: 12,
            ..NewtonSettings::default()
        };
        InteriorPoint {
            settings,
            newton: Newton::new(polish),
            system: System::default(),
            cones: Vec::new(),
            frozen: false,
            shifts: Vec::new(),
            fixed: Vec::new(),
            eta: Vec::new(),
            scaling: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            lambda: Vec::new(),
            dx: Vec::new(),
            dy: Vec::new(),
            d: Vec::new(),
            r: Vec::new(),
            rhs: Vec::new(),
            dz: Vec::new(),
            point: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Solves; leaves the answer in `z` and `w = F(z) + q`. A guess in `z` that is an answer stays;
    /// any other is not used.
    pub fn solve(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, NumericsError> {
        self.prepare(problem)?;
        let mut found = Found { least: residual(problem, z, w), iterations: 0 };
        self.best.copy_from_slice(z);
        if found.least.value <= self.settings.tol {
            return Ok(found.report(Status::Solved, found.least));
        }
        // Newton's method is to end the path, and not to begin where another method was stuck
        self.best.fill(0.0);
        found.least.value = f64::INFINITY;
        let status = self.follow(problem, z, w, &mut found);

        // iterates that run away may prove that there is no solution, and a residual relative to
        // the size of z falls with them
        let no_solution = found.iterations > 0 && self.no_solution(problem);
        z.copy_from_slice(&self.best);
        if no_solution || status == Status::Solved {
            let status = if no_solution { Status::Infeasible } else { status };
            return Ok(found.report(status, residual(problem, z, w)));
        }

        // what is left is for Newton's method, from the best point, or for convex problems
        let report = self.newton.solve(problem, z, w)?;
        found.iterations += report.iterations;
        if report.status != Status::Solved && self.by_frozen_shifts(problem, z, w, &mut found)? {
            let last = residual(problem, z, w);
            return Ok(last.report(self.settings.tol, status, found.iterations, METHOD));
        }
        let status = if report.status == Status::Solved { Status::Solved } else { status };
        Ok(Report { status, iterations: found.iterations, method: METHOD, ..report })
    }

    /// Follows the solutions of (1) from a point inside, and keeps the best of them.
    fn follow(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        found: &mut Found,
    ) -> Status {
        self.start(problem, w);
        let (tol, first) = (self.settings.tol, self.distance(w));
        let mut halved = [f64::INFINITY; 2]; // the distances when they last were halved
        let mut since = found.iterations; // and when one of them was
        let mut short = 0; // steps in a row that hardly moved
        loop {
            // stop: solved, out of steps, or stuck
            if found.least.value <= tol {
                return Status::Solved;
            }
            if found.iterations >= self.settings.max_iter {
                return Status::MaxIter;
            }
            if found.iterations > since + PATIENCE
                || short > 3
                || halved.iter().all(|&d| d <= 0.01 * tol)
            {
                return Status::Diverged;
            }
            found.iterations += 1;
            let Some(length) = self.step(problem, w) else { return Status::Diverged };
            short = if length < 1e-4 { short + 1 } else { 0 };

            // the new point, within its bounds to the last bit
            for i in 0..z.len() {
                z[i] = clamp(self.point[i], problem.lower()[i], problem.upper()[i]);
            }
            let now = residual(problem, z, w);
            if now.value < found.least.value {
                found.least = now;
                self.best.copy_from_slice(z);
            }
            let distance = match self.frozen {
                true => {
                    let [r, tau] = self.distance(w);
                    [r / first[0], tau / first[1]]
                }
                false => [now.value, f64::INFINITY],
            };
            for (distance, halved) in distance.into_iter().zip(&mut halved) {
                if distance < 0.5 * *halved {
                    (*halved, since) = (distance, found.iterations);
                }
            }
        }
    }

    /// Convex problems with the shift that the one before has left, the first of them with none,
    /// while the residual falls, then Newton's method; whether that led to a better point, which is left in `z`.
    fn by_frozen_shifts(
        &mut self,
        problem: &Problem,
        z: &mut [f64],
        w: &mut [f64],
        found: &mut Found,
    ) -> Result<bool, NumericsError> {
        if self.cones.iter().all(|cone| cone.shift == 0.0) {
            return Ok(false);
        }
        // Newton's method may have found a better point
        let least = residual(problem, z, w);
        if least.value < found.least.value {
            found.least = least;
            self.best.copy_from_slice(z);
        }
        let start = found.least.value;
        self.frozen = true;
        self.shifts.clear();
        self.shifts.resize(z.len(), 0.0);
        let mut before = f64::INFINITY;
        while self.follow(problem, z, w, found) == Status::Diverged {
            let now = residual(problem, z, w).value;
            if !(now <= SLOWEST * before) {
                break;
            }
            before = now;
            self.shifts.fill(0.0);
            for cone in &self.cones {
                self.shifts[cone.start] += cone.shift * norm(&cone.of(&self.y)[1..]);
            }
        }
        self.frozen = false;
        z.copy_from_slice(&self.best);
        if !(found.least.value < start) {
            return Ok(false);
        }
        if found.least.value > self.settings.tol {
            found.iterations += self.newton.solve(problem, z, w)?.iterations;
        }
        Ok(true)
    }

    /// How far the point is from the solution of (1) with `τ = 0`: `‖r‖` and `τ`.
    fn distance(&mut self, w: &[f64]) -> [f64; 2] {
        self.defect(w);
        [saltus_linalg::vector::norm_inf(&self.r), self.scale()]
    }

    /// Whether the last point or step is a direction that no solution allows.
    fn no_solution(&mut self, problem: &Problem) -> bool {
        let InteriorPoint { point, dz, r, rhs, .. } = self;
        [point, dz].into_iter().any(|d| certificate::proves(problem, d, r, rhs))
    }

    /// Cones, linear system and buffers for a problem.
    fn prepare(&mut self, problem: &Problem) -> Result<(), NumericsError> {
        if let Operator::Function(_) = problem.matrix() {
            let (method, what) = (METHOD, "a map that is not linear");
            return Err(NumericsError::Unsupported { method, what });
        }
        self.split(problem)?;
        let symmetric = self.cones.iter().all(|cone| cone.shift == 0.0);
        self.system.prepare(problem, &self.fixed, symmetric)?;
        let size = self.cones.last().map_or(0, |cone| cone.at + cone.size);
        let InteriorPoint { x, y, lambda, scaling, dx, dy, d, .. } = self;
        for buffer in [x, y, lambda, scaling, dx, dy, d] {
            buffer.clear();
            buffer.resize(size, 0.0);
        }
        let InteriorPoint { dz, r, rhs, point, best, .. } = self;
        for buffer in [dz, r, rhs, point, best] {
            buffer.clear();
            buffer.resize(problem.len(), 0.0);
        }
        self.eta.clear();
        self.eta.resize(self.cones.len(), 1.0);
        Ok(())
    }

    /// The sets as half-lines and Lorentz cones.
    fn split(&mut self, problem: &Problem) -> Result<(), NumericsError> {
        let (cones, fixed) = (&mut self.cones, &mut self.fixed);
        cones.clear();
        fixed.clear();
        fixed.resize(problem.len(), false);
        let (mut at, mut next) = (0, 0);
        let mut unsupported = None;
        problem.for_each_block(|start, set, width| {
            let block = next;
            next += 1;
            let mut add = |normal: f64, bound: f64, shift: f64, others: std::ops::Range<usize>| {
                let (size, tangent) = (1 + others.len(), others.start);
                cones.push(Cone { at, size, block, start, width, normal, bound, tangent, shift });
                at += size;
            };
            let end = start + width;
            if let Some((lower, upper)) = set.bounds() {
                fixed[start] = lower == upper;
                if lower < upper && lower.is_finite() {
                    add(1.0, lower, 0.0, end..end);
                }
                if lower < upper && upper.is_finite() {
                    add(-1.0, upper, 0.0, end..end);
                }
                return;
            }
            // aperture, shift and unknowns of each cone
            let half = start + 1 + width / 2;
            let (all, none) = (start + 1..end, (0.0, 0.0, end..end));
            let parts = match *set {
                Set::SecondOrder { mu } => [(mu, 0.0, all), none],
                Set::Coulomb2 { mu } | Set::Coulomb3 { mu } => [(mu, mu, all), none],
                Set::DruckerPrager { eta, theta } if eta > 0.0 || theta == 0.0 => {
                    [(eta, theta, all), none]
                }
                Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
                    [(mu, mu, start + 1..half), (mu_r, mu_r, half..end)]
                }
                _ => {
                    unsupported = Some(set.name());
                    return;
                }
            };
            let mut open = false;
            for (aperture, shift, others) in parts {
                if aperture > 0.0 && !others.is_empty() {
                    add(aperture, 0.0, shift, others);
                    open = true;
                } else {
                    fixed[others].fill(true);
                }
            }
            if !open {
                add(1.0, 0.0, 0.0, end..end);
            }
        });
        match unsupported {
            Some(what) => Err(NumericsError::Unsupported { method: METHOD, what }),
            None => Ok(()),
        }
    }

    /// A point well inside all cones, of the size that `q` and the diagonal of `W` suggest, with
    /// `x ∘ y` the same in all of them. Leaves `w` there.
    fn start(&mut self, problem: &Problem, w: &mut [f64]) {
        self.x.fill(0.0);
        self.y.fill(0.0);
        let z = &mut self.point;
        let (lower, upper) = (problem.lower(), problem.upper());
        for i in 0..z.len() {
            z[i] = if self.fixed[i] && lower[i].is_finite() { lower[i] } else { 0.0 };
        }
        problem.eval(z, w);
        let largest = saltus_linalg::vector::norm_inf(w);
        let beta = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        let mean = self.system.mean;
        for cone in &self.cones {
            let i = cone.start;
            let size = beta / (mean * self.system.omega[i]).sqrt();
            let (x, y) = (&mut self.x[cone.at], &mut self.y[cone.at]);
            if cone.size == 1 {
                z[i] = cone.bound + cone.normal * size.min(0.5 * (upper[i] - lower[i]));
                *x = cone.normal * (z[i] - cone.bound);
            } else {
                z[i] = size;
                *x = cone.normal * size;
            }
            *y = beta * beta / (mean * *x);
        }
        // the second bound of an interval decides where the point is
        for cone in self.cones.iter().filter(|cone| cone.size == 1) {
            self.x[cone.at] = cone.normal * (z[cone.start] - cone.bound);
        }
        problem.eval(z, w);
    }

    /// One step (3) from the point, where `F + q` is `w`. Its length, unless there is none.
    fn step(&mut self, problem: &Problem, w: &[f64]) -> Option<f64> {
        let tau = self.scale();
        self.defect(w);
        self.fill();
        if ![0.0, 1e-12, 1e-9, 1e-6].into_iter().any(|delta| self.system.factor(problem, delta)) {
            return None;
        }

        // what the step would be without keeping away from the boundary
        self.d.copy_from_slice(&self.lambda);
        self.direction(problem, 0.0)?;
        let length = self.longest().min(1.0);
        let sigma = (1.0 - length).powi(3);

        // equation (4)
        for (k, cone) in self.cones.iter().enumerate() {
            let (eta, v) = (self.eta[k], cone.of(&self.scaling));
            let (dx, dy) = (cone.of_mut(&mut self.dx), cone.of_mut(&mut self.dy));
            lorentz::unscale(eta, v, dx);
            lorentz::scale(eta, v, dy);
            lorentz::product(dx, dy);
            let (lambda, d) = (cone.of(&self.lambda), cone.of_mut(&mut self.d));
            d.copy_from_slice(lambda);
            lorentz::product(lambda, d);
            d.iter_mut().zip(&*dy).for_each(|(d, dy)| *d += dy);
            d[0] -= sigma * tau;
            lorentz::divide(lambda, d);
        }
        self.direction(problem, sigma)?;
        let mut length = (0.995 * self.longest()).min(1.0);

        // round-off may leave the cone all the same
        while !self.stays_inside(length) {
            length *= 0.8;
            if length < 1e-12 {
                return None;
            }
        }
        let frozen = self.frozen;
        for cone in self.cones.iter().filter(|cone| cone.shift > 0.0 && !frozen) {
            cone.bend(&self.y, &mut self.dy, length);
        }
        for (x, d) in
            [(&mut self.x, &self.dx), (&mut self.y, &self.dy), (&mut self.point, &self.dz)]
        {
            x.iter_mut().zip(d).for_each(|(x, d)| *x += length * d);
        }
        for cone in self.cones.iter().filter(|cone| cone.shift > 0.0) {
            // round-off again, where y_N − ‖y_T‖ is nothing beside y_N
            let y = cone.of_mut(&mut self.y);
            y[0] = y[0].max((1.0 + 4.0 * f64::EPSILON) * norm(&y[1..]));
        }
        Some(length)
    }

    /// `N` and `λ`; returns the mean of `xᵀ y`.
    fn scale(&mut self) -> f64 {
        let mut sum = 0.0;
        for (k, cone) in self.cones.iter().enumerate() {
            let (x, y) = (cone.of(&self.x), cone.of(&self.y));
            let v = cone.of_mut(&mut self.scaling);
            self.eta[k] = lorentz::scaling(x, y, v);
            let lambda = cone.of_mut(&mut self.lambda);
            lambda.copy_from_slice(y);
            lorentz::scale(self.eta[k], v, lambda);
            sum += x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        }
        sum / self.cones.len().max(1) as f64
    }

    /// `r ← w + φ(y) e_N − Gᵀ y`; the shift is homogeneous, so that `φ(y) = φ′ y`.
    fn defect(&mut self, w: &[f64]) {
        self.r.copy_from_slice(w);
        if self.frozen {
            self.r.iter_mut().zip(&self.shifts).for_each(|(r, shift)| *r += shift);
        }
        for cone in &self.cones {
            cone.subtract(self.frozen, &self.y, &self.y, &mut self.r);
        }
    }

    /// `C ← E N⁻² G`.
    fn fill(&mut self) {
        self.system.C.fill(0.0);
        for (k, cone) in self.cones.iter().enumerate() {
            let (eta, v, y) = (self.eta[k], cone.of(&self.scaling), cone.of(&self.y));
            let shift = if self.frozen { 0.0 } else { cone.shift };
            let C = self.system.block(cone.block);
            // component of the cone to unknown of the block
            let place = |a: usize| if a == 0 { 0 } else { cone.tangent - cone.start + a - 1 };
            for b in 0..cone.size {
                let column = place(b);
                let g = if b == 0 { cone.normal } else { 1.0 };
                let entry = |a: usize| g * lorentz::inverse_square(eta, v, a, b);
                C[column] += cone.normal * entry(0) - shift * along(y, entry);
                for a in 1..cone.size {
                    C[place(a) * cone.width + column] += entry(a);
                }
            }
        }
    }

    /// Equation (3) for the `d` at hand.
    fn direction(&mut self, problem: &Problem, sigma: f64) -> Option<()> {
        for (rhs, r) in self.rhs.iter_mut().zip(&self.r) {
            *rhs = -(1.0 - sigma) * r;
        }
        for (k, cone) in self.cones.iter().enumerate() {
            let dy = cone.of_mut(&mut self.dy);
            dy.copy_from_slice(cone.of(&self.d));
            lorentz::unscale(self.eta[k], cone.of(&self.scaling), dy);
            cone.subtract(self.frozen, &self.y, &self.dy, &mut self.rhs);
        }
        let error = self.system.solve(problem, &self.rhs, &mut self.dz);
        if !error.is_finite() {
            return None;
        }
        for (k, cone) in self.cones.iter().enumerate() {
            let (eta, v) = (self.eta[k], cone.of(&self.scaling));
            cone.map(&self.dz, &mut self.dx);
            let dy = cone.of_mut(&mut self.dy);
            dy.copy_from_slice(cone.of(&self.dx));
            lorentz::unscale(eta, v, dy);
            dy.iter_mut().zip(cone.of(&self.d)).for_each(|(dy, d)| *dy = -(*dy + d));
            lorentz::unscale(eta, v, dy);
        }
        Some(())
    }

    /// The longest step within the cones.
    fn longest(&self) -> f64 {
        self.cones.iter().fold(f64::INFINITY, |least, cone| {
            let x = lorentz::length(cone.of(&self.x), cone.of(&self.dx));
            least.min(x).min(cone.dual_length(self.frozen, &self.y, &self.dy))
        })
    }

    /// Whether a step of that length ends strictly inside.
    fn stays_inside(&self, length: f64) -> bool {
        let ends_inside = |cone: &Cone, x: &[f64], d: &[f64]| {
            let (x, d) = (cone.of(x), cone.of(d));
            let mut square = 0.0;
            for i in 1..x.len() {
                square += (x[i] + length * d[i]).powi(2);
            }
            x[0] + length * d[0] > f64::sqrt(square)
        };
        self.cones.iter().all(|cone| {
            ends_inside(cone, &self.x, &self.dx)
                && (cone.shift == cone.normal && !self.frozen
                    || ends_inside(cone, &self.y, &self.dy))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_linalg::Matrix;

    #[test]
    fn frozen_shifts_lead_to_coulombs_law() {
        // one contact that slips, one that sticks, one that opens
        for (q, z) in [
            ([-1.0, 2.0, 0.0], [1.0, -0.5, 0.0]),
            ([-1.0, 0.3, 0.1], [1.0, -0.3, -0.1]),
            ([1.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
        ] {
            let problem =
                Problem::friction3d(Matrix::identity(3), q.to_vec(), &[0.5]).expect("a problem");
            let mut method = InteriorPoint::new(InteriorPointSettings::default());
            method.prepare(&problem).expect("a linear problem");
            let (mut found, mut w) = ([0.1, 0.05, -0.05], [0.0; 3]);
            method.best.copy_from_slice(&found);
            let least = residual(&problem, &found, &mut w);
            let mut so_far = Found { least, iterations: 0 };
            let better = method.by_frozen_shifts(&problem, &mut found, &mut w, &mut so_far);
            assert_eq!(better, Ok(true), "{q:?}");
            assert!(residual(&problem, &found, &mut w).value <= method.settings.tol, "{q:?}");
            for i in 0..3 {
                assert!((found[i] - z[i]).abs() < 1e-6, "{q:?}: {found:?}");
            }
        }
    }

    /// A point near an answer, where other methods were stuck, is not where the end of the path begins.
    #[test]
    fn a_guess_that_is_no_answer_changes_nothing() {
        let made = crate::generate::packing(60, 3.0, 0.5, 1).expect("a packing");
        let (problem, answer) = (&made.problem, &made.z);
        let solve = |mut z: Vec<f64>| {
            let mut w = vec![0.0; z.len()];
            let mut method = InteriorPoint::new(InteriorPointSettings::default());
            let report = method.solve(problem, &mut z, &mut w).expect("a linear problem");
            (report, z)
        };
        let near: Vec<f64> =
            answer.iter().enumerate().map(|(k, z)| z + 1e-5 * (k as f64).cos()).collect();
        let (cold, warm) = (solve(vec![0.0; near.len()]), solve(near));
        assert_eq!(cold, warm);
        let (report, z) = solve(answer.clone());
        assert_eq!((report.status, report.iterations), (Status::Solved, 0));
        assert_eq!(&z, answer);
    }
}
