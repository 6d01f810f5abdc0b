//! Reference files, norms, orders, and the equations of a run checked from outside.

use crate::models::Case;
use saltus::model::{Law, System};
use saltus::prelude::*;
use saltus::sim::{Ledger, Outcome, Quantity};
use std::path::{Path, PathBuf};

/// The thinned reference files of this repository.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trajectories")
}

/// The full reference files, where they are at hand: in `shared` beside the repository, or
/// further up.
pub fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/reference/trajectories"))
        .find(|folder| folder.is_dir());
    if folder.is_none() {
        eprintln!("skipped: ../shared not found");
    }
    folder
}

/// A table of numbers with named columns.
pub struct Csv {
    head: Vec<String>,
    pub rows: Vec<Vec<f64>>,
}

impl Csv {
    pub fn read(folder: &Path, file: &str) -> Csv {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let mut lines = text.lines();
        let head = lines.next().unwrap().split(',').map(str::to_string).collect();
        let rows = lines.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect());
        let csv = Csv { head, rows: rows.collect() };
        assert!(!csv.rows.is_empty(), "{path:?} has no rows");
        csv
    }

    pub fn column(&self, name: &str) -> usize {
        self.head.iter().position(|h| h == name).unwrap_or_else(|| panic!("no column `{name}`"))
    }

    pub fn columns(&self) -> &[String] {
        &self.head
    }

    /// Without the first row, where Siconos has no multipliers yet.
    pub fn after_start(mut self) -> Csv {
        self.rows.retain(|row| row[0] > 0.0);
        self
    }

    /// Only the rows before `t`.
    pub fn before(mut self, t: f64) -> Csv {
        self.rows.retain(|row| row[0] < t);
        self
    }
}

/// Largest difference between a column of the reference and a signal (or what `of` makes of a
/// step), over the largest value of the column.
#[derive(Debug, Clone, Copy)]
pub struct Difference {
    pub absolute: f64,
    pub scale: f64,
}

impl Difference {
    pub fn relative(self) -> f64 {
        self.absolute / self.scale.max(1e-300)
    }
}

/// Compares a column with `of(step)`, over all rows of the reference that lie on a step.
pub fn difference(csv: &Csv, column: &str, h: f64, of: impl Fn(usize) -> f64) -> Difference {
    let c = csv.column(column);
    let (mut absolute, mut scale) = (0.0f64, 0.0f64);
    for row in &csv.rows {
        let step = step_at(row[0], h);
        let error = (row[c] - of(step)).abs();
        assert!(!error.is_nan());
        absolute = absolute.max(error);
        scale = scale.max(row[c].abs());
    }
    Difference { absolute, scale }
}

/// The step that ends at `t`; panics where none does.
pub fn step_at(t: f64, h: f64) -> usize {
    let steps = (t / h).round();
    assert!((t - steps * h).abs() < 1e-6 * h, "t = {t} is no multiple of h = {h}");
    steps as usize
}

/// Says what was reached, for the record, and holds it against the tolerance.
#[track_caller]
pub fn within(what: &str, found: f64, tolerance: f64) {
    println!("{what}: {found:.2e} (tolerance {tolerance:.0e})");
    assert!(found <= tolerance, "{what}: {found:e} > {tolerance:e}");
}

/// The slope of log error over log h, by least squares.
pub fn order(errors: &[(f64, f64)]) -> f64 {
    let n = errors.len() as f64;
    let points: Vec<(f64, f64)> = errors.iter().map(|&(h, e)| (h.ln(), e.ln())).collect();
    let (sx, sy) = points.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    let (mx, my) = (sx / n, sy / n);
    let (num, den) = points
        .iter()
        .fold((0.0, 0.0), |s, p| (s.0 + (p.0 - mx) * (p.1 - my), s.1 + (p.0 - mx) * (p.0 - mx)));
    num / den
}

/// Holds the order of convergence against the range it should lie in.
#[track_caller]
pub fn order_within(what: &str, errors: &[(f64, f64)], range: std::ops::RangeInclusive<f64>) {
    let found = order(errors);
    let list: Vec<String> = errors.iter().map(|(h, e)| format!("{h:.3e}: {e:.4e}")).collect();
    println!("{what}: order {found:.3} ({})", list.join(", "));
    assert!(range.contains(&found), "{what}: order {found} is not in {range:?}: {list:?}");
}

/// Runs a case to its end and checks all its equations.
pub fn checked_run(case: &Case) -> Run {
    let run = case.sim().run(case.until).unwrap();
    assert_eq!(run.stats.outcome, Outcome::Complete);
    check_run(case, &run);
    run
}

/// Checks every step of a run by equations written down here once more: the law of every
/// interaction, the balance of every system, and the ledger.
pub fn check_run(case: &Case, run: &Run) {
    let view = View::new(&case.model, run);
    let tol = 1e-8; // the default tolerance of the solver
    let worst = run.frames.residual.iter().fold(0.0f64, |a, &b| a.max(b));
    assert!(worst <= tol, "residual {worst:e}");
    assert_eq!(worst, run.stats.worst_residual);
    for k in 1..run.frames.len() {
        view.check_step(case, k, tol);
    }
    if run.layout.ledger {
        check_ledger(case, run);
    }
}

/// Where the signals of the systems and interactions stand.
struct View<'a> {
    run: &'a Run,
    width: usize,
    systems: Vec<[std::ops::Range<usize>; 2]>, // x and nothing, or q and v
    interactions: Vec<[std::ops::Range<usize>; 3]>, // y, λ, u
    scales: Vec<f64>,                          // of each column
}

impl<'a> View<'a> {
    fn new(model: &Model, run: &'a Run) -> View<'a> {
        use std::collections::HashMap;
        let columns: HashMap<(&str, Quantity), std::ops::Range<usize>> = (run.layout.signals)
            .iter()
            .map(|s| ((s.owner.as_str(), s.quantity), s.columns.clone()))
            .collect();
        let of = |name, quantity| columns.get(&(name, quantity)).cloned().unwrap_or(0..0);
        let systems = model.systems().map(|(name, system)| match system {
            System::FirstOrder(_) => [of(name, Quantity::X), 0..0],
            System::SecondOrder(_) => [of(name, Quantity::Q), of(name, Quantity::V)],
        });
        let interactions = model.interactions().map(|(name, _)| {
            [of(name, Quantity::Y), of(name, Quantity::Lam), of(name, Quantity::U)]
        });
        let width = run.layout.width();
        let mut scales = vec![0.0f64; width];
        for row in run.frames.rows.chunks_exact(width) {
            for (scale, x) in scales.iter_mut().zip(row) {
                *scale = scale.max(x.abs());
            }
        }
        let (systems, interactions) = (systems.collect(), interactions.collect());
        View { run, width, systems, interactions, scales }
    }

    fn at(&self, k: usize, columns: &std::ops::Range<usize>) -> &[f64] {
        &self.run.frames.rows[k * self.width..][..self.width][columns.clone()]
    }

    fn scale(&self, columns: &std::ops::Range<usize>) -> f64 {
        self.scales[columns.clone()].iter().fold(0.0f64, |a, &b| a.max(b))
    }

    /// Whether no multiplier of step `k` acts along the velocity before the step.
    fn opposed(&self, k: usize) -> bool {
        self.interactions.iter().all(|[_, lams, us]| {
            self.at(k, lams).iter().zip(self.at(k - 1, us)).all(|(lam, u)| lam * u <= 0.0)
        })
    }

    fn check_step(&self, case: &Case, k: usize, tol: f64) {
        let h = case.h;
        let (t0, t1) = (self.run.frames.time[k - 1], self.run.frames.time[k]);
        assert!((t1 - t0 - h).abs() <= 1e-9 * h, "step {k} is not of length h");
        let (theta, gamma, threshold) = match &case.integrator {
            Integrator::EulerMoreau(s) => (s.theta, s.gamma, 0.0),
            Integrator::MoreauJean(s) => (s.theta, s.gamma, s.threshold),
            other => panic!("{} is not checked here", other.name()),
        };

        // the laws; r = what the multipliers add to the balance of each system
        let mut forces: Vec<Vec<f64>> =
            case.model.systems().map(|(_, system)| vec![0.0; system.dim()]).collect();
        for ((name, interaction), [ys, lams, us]) in
            case.model.interactions().zip(&self.interactions)
        {
            let relation = interaction.relation.linear().expect("linear relations");
            let gather = |k: usize, which: usize| -> Vec<f64> {
                let of = |id: &SystemId| self.at(k, &self.systems[id.index()][which]).to_vec();
                interaction.systems.iter().flat_map(of).collect()
            };
            let (x, lam, y) = (gather(k, 0), self.at(k, lams), self.at(k, ys));
            let C = relation.C;
            let mut own_y = relation.e.map_or(vec![0.0; y.len()], <[f64]>::to_vec);
            C.apply_add(&x, &mut own_y);
            if let Some(D) = relation.D {
                D.apply_add(lam, &mut own_y);
            }
            let size = 1.0 + self.scale(ys);
            for (a, b) in own_y.iter().zip(y) {
                assert!((a - b).abs() <= 1e-10 * size, "{name}, step {k}: y is {b}, not {a}");
            }
            let mechanical = !us.is_empty();
            let mut own_u = vec![0.0; y.len()];
            if mechanical {
                C.apply(&gather(k, 1), &mut own_u);
                let size = 1.0 + self.scale(us);
                for (a, b) in own_u.iter().zip(self.at(k, us)) {
                    assert!((a - b).abs() <= 1e-12 * size, "{name}, step {k}: u is {b}, not {a}");
                }
            }
            for i in 0..y.len() {
                let (lower, upper, w) = match &interaction.law {
                    Law::Complementarity => (0.0, f64::INFINITY, own_y[i]),
                    Law::Equality if mechanical => (f64::NEG_INFINITY, f64::INFINITY, own_u[i]),
                    Law::Equality => (f64::NEG_INFINITY, f64::INFINITY, own_y[i]),
                    Law::Relay { lower, upper } => {
                        let bound = |b: &[f64]| if b.len() == 1 { b[0] } else { b[i] };
                        let factor = if mechanical { h } else { 1.0 };
                        let w = if mechanical { own_u[i] } else { own_y[i] };
                        (factor * bound(lower), factor * bound(upper), w)
                    }
                    Law::NewtonImpact { e: Coefficient::Constant(e) } => {
                        let (y, u) = (self.at(k - 1, ys)[i], self.at(k - 1, us)[i]);
                        let active = y + gamma * h * u <= threshold;
                        (0.0, if active { f64::INFINITY } else { 0.0 }, own_u[i] + e * u)
                    }
                    law => panic!("{} is not checked here", law.name()),
                };
                let r = lam[i] - (lam[i] - w).clamp(lower, upper);
                let size = 1.0 + self.scale(ys) + self.scale(us);
                assert!(r.abs() <= tol * size, "{name}, step {k}: the law is broken by {r:e}");
                // the multiplier itself is where the law allows it, not only nearly
                let slack = 1e-12 * (1.0 + self.scale(lams));
                assert!(lam[i] >= lower - slack && lam[i] <= upper + slack, "{name}, step {k}");
            }
            // B λ, or Hᵀ λ
            let lam_before = self.at(k - 1, lams);
            let weighted: Vec<f64> = match &case.integrator {
                Integrator::EulerMoreau(s) => (lam.iter().zip(lam_before))
                    .map(|(a, b)| h * (s.gamma * a + (1.0 - s.gamma) * b))
                    .collect(),
                _ => lam.to_vec(),
            };
            let input = relation.B.cloned().unwrap_or_else(|| C.transpose());
            let mut force = vec![0.0; x.len()];
            input.apply(&weighted, &mut force);
            let mut force = force.as_slice();
            for id in &interaction.systems {
                let own = &mut forces[id.index()];
                let (head, rest) = force.split_at(own.len());
                own.iter_mut().zip(head).for_each(|(f, x)| *f += x);
                force = rest;
            }
        }

        // the balance of each system
        for (((name, system), [first, second]), force) in
            case.model.systems().zip(&self.systems).zip(&forces)
        {
            let n = system.dim();
            let (mut f0, mut f1) = (vec![0.0; n], vec![0.0; n]);
            let mut M = Matrix::default();
            let changing = match system {
                System::FirstOrder(system) => {
                    system.mass(At::time(t1), &mut M).unwrap();
                    system.rhs(At::new(t0, self.at(k - 1, first), &[]), &mut f0).unwrap();
                    system.rhs(At::new(t1, self.at(k, first), &[]), &mut f1).unwrap();
                    first
                }
                System::SecondOrder(system) => {
                    let (q0, v0) = (self.at(k - 1, first), self.at(k - 1, second));
                    let (q1, v1) = (self.at(k, first), self.at(k, second));
                    let (from, to) = (At::new(t0, q0, v0), At::new(t1, q1, v1));
                    system.mass(to, &mut M).unwrap();
                    system.force(from, &mut f0, &mut vec![0.0; n]).unwrap();
                    system.force(to, &mut f1, &mut vec![0.0; n]).unwrap();
                    for i in 0..n {
                        let moved = h * (theta * v1[i] + (1.0 - theta) * v0[i]);
                        let slack = 1e-14 * (1.0 + self.scale(first));
                        assert!((q1[i] - q0[i] - moved).abs() <= slack, "{name}, step {k}: q");
                    }
                    second
                }
            };
            let (before, after) = (self.at(k - 1, changing), self.at(k, changing));
            let change: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
            let mut inertia = vec![0.0; n];
            M.apply(&change, &mut inertia);
            for i in 0..n {
                let smooth = h * (theta * f1[i] + (1.0 - theta) * f0[i]);
                let size = h * f1[i].abs().max(f0[i].abs())
                    + force[i].abs()
                    + M.row(i).iter().fold(0.0f64, |a, m| a.max(m.abs())) * self.scale(changing);
                let left = inertia[i] - smooth - force[i];
                assert!(left.abs() <= 1e-10 * size, "{name}, step {k}: balance off by {left:e}");
            }
        }
    }
}

/// The ledger of every row, in order.
pub fn ledgers(run: &Run) -> Vec<Ledger> {
    let columns = run.layout.ledger_columns();
    let rows = run.frames.rows.chunks_exact(run.layout.width());
    let ledger = |row: &[f64]| {
        let [kinetic, potential, work, damping, impact, friction, numerical] =
            row[columns.clone()].try_into().unwrap();
        Ledger { kinetic, potential, work, damping, impact, friction, numerical }
    };
    rows.map(ledger).collect()
}

/// Energies are what they are called, the balance is closed, contacts only take energy, and
/// θ = 1/2 takes none itself.
fn check_ledger(case: &Case, run: &Run) {
    let view = View::new(&case.model, run);
    let ledgers = ledgers(run);
    let scale = ledgers.iter().fold(1e-300f64, |a, l| {
        a.max(l.kinetic.abs()).max(l.potential.abs()).max(l.work.abs()).max(l.contact().abs())
    });
    let first = ledgers[0];
    assert_eq!([first.work, first.damping, first.contact(), first.numerical], [0.0; 4]);
    let theta = match &case.integrator {
        Integrator::MoreauJean(s) => s.theta,
        _ => 0.5,
    };
    for (k, ledger) in ledgers.iter().enumerate() {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for ((_, system), [q, v]) in case.model.systems().zip(&view.systems) {
            let System::SecondOrder(system) = system else { continue };
            let (q, v) = (view.at(k, q), view.at(k, v));
            let (mut A, mut work) = (Matrix::default(), vec![0.0; q.len()]);
            let mut half = |A: &Matrix, x: &[f64]| {
                A.apply(x, &mut work);
                0.5 * x.iter().zip(&work).map(|(a, b)| a * b).sum::<f64>()
            };
            let at = At::new(0.0, q, v);
            system.mass(at, &mut A).unwrap();
            kinetic += half(&A, v);
            system.force_dq(at, &mut A, &mut Matrix::default()).unwrap();
            potential -= half(&A, q);
        }
        assert!((kinetic - ledger.kinetic).abs() <= 1e-12 * scale, "row {k}: kinetic");
        assert!((potential - ledger.potential).abs() <= 1e-12 * scale, "row {k}: potential");
        let gained = kinetic + potential - first.kinetic - first.potential;
        let spent = ledger.work - ledger.damping - ledger.contact() - ledger.numerical;
        assert!((gained - spent).abs() <= 1e-12 * scale, "row {k}: the balance is open");
        if theta == 0.5 {
            let share = ledger.numerical.abs() / scale;
            assert!(share <= 1e-10, "row {k}: the scheme took {share:e} of the energy");
        }
        assert!(ledger.contact() >= -1e-12 * scale, "row {k}: contact {}", ledger.contact());
        assert!(ledger.damping >= -1e-12 * scale, "row {k}: damping {}", ledger.damping);
        // A step takes energy wherever no multiplier acts along the velocity before it. Where
        // one does, λ (u + u⁻)/2 may be positive: a resting contact that has sunk in and is
        // stopped on its way out, friction in the step of a reversal.
        if k > 0 && view.opposed(k) {
            let taken = ledger.contact() - ledgers[k - 1].contact();
            assert!(taken >= -1e-12 * scale, "row {k}: a contact gave {:e}", -taken);
        }
    }
}
