//! The order of every scheme, measured on smooth motion, impacts, friction and sliding.
//!
//! ```text
//! oscillator  q̈ = −q                                   smooth
//! pendulum    q̈ = −g sin q, and the same as |q| = 1     smooth, with an equality
//! bead        (1 + 4 q²) q̈ + 4 q q̇² = −2 g q            smooth, with a mass that changes
//! ball        0 ≤ y ⟂ λ ≥ 0 with e = 0.9               impacts before they accumulate
//! dry         q̈ = −q − 0.15 sgn q̇                      friction: at rest at −0.1 from 3π on
//! incline     q̈ = g (sin α − μ cos α)                  sliding with a constant force
//! bowl        φ̈ = g cos φ − μ (φ̇² + g sin φ)            sliding on a circle: the contact moves
//! across      v̇ = g (sin α e − μ cos α v/‖v‖)           sliding that turns downhill, in space
//! ```
//!
//! and for first-order systems
//!
//! ```text
//! decay       ẋ = A x                                  smooth
//! forced      ẋ = −x + cos t                           smooth, with a forcing
//! clamp       ẋ = cos t + λ,  0 ≤ x ⟂ λ ≥ 0            a diode that closes and opens
//! stop        the LZC circuit: dry friction            switches, and comes to rest
//! spiral      Filippov's square spiral                 switches that accumulate
//! sliding     ẋ₂ = −x₂ − sgn(x₁ + x₂)                   reaches a surface and slides on it
//! ```
//!
//! `cargo nextest run -p saltus --run-ignored only orders::table --no-capture` prints the tables of
//! the book, "Integrators / Measured orders".

use crate::support::order;
use crate::{exact, models, schemes};
use saltus::model::Names;
use saltus::prelude::*;
use schemes::{last, run, sup};
use std::f64::consts::PI;
use std::ops::Range;

/// A problem with a known answer: its name, its steps, and the error at a step.
struct Problem {
    name: &'static str,
    h: f64,
    /// Steps, each half of the one before.
    steps: usize,
    error: fn(&Integrator, f64) -> f64,
}

const fn problem(
    name: &'static str,
    h: f64,
    steps: usize,
    error: fn(&Integrator, f64) -> f64,
) -> Problem {
    Problem { name, h, steps, error }
}

/// What is expected of a scheme on a problem.
#[derive(Debug, Clone, Copy)]
enum Expect {
    /// At least this order, less what a measurement may be off.
    Order(f64),
    /// Round-off at every step.
    Exact,
    /// The problem is not for the scheme, which says so: a part of its message.
    Refused(&'static str),
    /// The problem is not for the setting, which does not converge on it.
    Without,
}
use Expect::{Exact, Order, Refused, Without};

// where an impact or a stop lies in its step is as good as random: more steps of these
const MECHANICS: [Problem; 9] = [
    problem("oscillator", 0.1, 4, |scheme, h| {
        let run = run(schemes::oscillator(), h, scheme, 10.0);
        sup(&run, "mass.q", |t| t.cos() + 0.5 * t.sin())
    }),
    problem("pendulum", 4e-3, 4, |scheme, h| {
        let q = last(&run(schemes::pendulum(), h, scheme, 10.0), "mass.q");
        pendulum_error(q.sin(), -q.cos())
    }),
    problem("rod", 1e-3, 3, |scheme, h| {
        let run = run(schemes::rod(), h, scheme, 10.0);
        pendulum_error(last(&run, "mass.q[0]"), last(&run, "mass.q[1]"))
    }),
    problem("bead", 1e-2, 4, |scheme, h| {
        (last(&run(schemes::bead(), h, scheme, 2.0), "mass.q") - schemes::bead_end()).abs()
    }),
    problem("ball", 5e-3, 7, |scheme, h| {
        let run = run(schemes::ball(0.9), h, scheme, 3.0);
        let q = run.signal("mass.q").unwrap();
        let rows = run.frames.time.iter().zip(&q);
        rows.map(|(&t, q)| h * (q - exact::ball(1.0, 0.9, t).0).abs()).sum()
    }),
    problem("dry", 2e-2, 7, |scheme, h| {
        let run = run(schemes::dry(), h, scheme, 12.0);
        sup(&run, "mass.q[1]", |t| match t {
            t if t < PI => 0.15 + 0.85 * t.cos(),
            t if t < 2.0 * PI => -0.15 + 0.55 * t.cos(),
            t if t < 3.0 * PI => 0.15 + 0.25 * t.cos(),
            _ => -0.1,
        })
    }),
    problem("incline", 1e-2, 4, |scheme, h| {
        let run = run(schemes::incline(0.3), h, scheme, 1.0);
        sup(&run, "mass.q[1]", |t| 0.5 * 9.81 * (0.5 - 0.3 * 0.75f64.sqrt()) * t * t)
    }),
    problem("bowl", 7e-3, 5, |scheme, h| {
        let run = run(bowl(), h, scheme, 0.7);
        let (sin, cos) = bowl_end().sin_cos();
        (last(&run, "mass.q[0]") + cos).hypot(last(&run, "mass.q[1]") + sin)
    }),
    problem("across", 1e-2, 5, |scheme, h| {
        let run = run(across(), h, scheme, 1.0);
        let [x, y] = across_end();
        (last(&run, "mass.q[1]") - x).hypot(last(&run, "mass.q[2]") - y)
    }),
];

/// The end of the pendulum after ten seconds: a multibody benchmark.
fn pendulum_error(x: f64, y: f64) -> f64 {
    (x + 0.275_087_462_576_116_9).hypot(y + 0.961_419_205_099_125)
}

/// The classical scheme of Runge and Kutta.
fn runge_kutta<const N: usize>(
    rate: impl Fn([f64; N]) -> [f64; N],
    mut x: [f64; N],
    until: f64,
    steps: usize,
) -> [f64; N] {
    let h = until / steps as f64;
    for _ in 0..steps {
        let along = |k: [f64; N], s: f64| std::array::from_fn(|i| x[i] + s * k[i]);
        let k1 = rate(x);
        let k2 = rate(along(k1, 0.5 * h));
        let k3 = rate(along(k2, 0.5 * h));
        let k4 = rate(along(k3, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    x
}

const BOWL: f64 = 0.2;

/// A mass that slides down a circular guide with friction, from its horizontal tangent point on.
fn bowl() -> Model {
    let mut model = Model::new("bowl");
    let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], Matrix::identity(2));
    let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
    let names = Names { first: ("q", 2), second: ("lam", 2), ..Names::TIME };
    let texts = ["1 - hypot(q[0], q[1])", "atan2(q[0], -q[1])"];
    let gap = Operator::formulas(2, 1, &texts, &names, &[]).unwrap();
    let law = Law::impact_friction(0.0, BOWL);
    model.connect("bowl", LagrangianRelation::new(gap), law, &[id]).unwrap();
    model
}

/// Where it is after 0.7 s, as the angle below the horizontal.
fn bowl_end() -> f64 {
    let rate = |[phi, omega]: [f64; 2]| {
        let normal = omega * omega + 9.81 * phi.sin();
        [omega, 9.81 * phi.cos() - BOWL * normal]
    };
    runge_kutta(rate, [0.0, 0.0], 0.7, 7000)[0]
}

/// A block thrown across an incline, with μ = tan α.
fn across() -> Model {
    let (sin, cos) = (0.5, 0.75f64.sqrt());
    let mut model = Model::new("across");
    let block = LagrangianLinear::new([0.0; 3], [0.0, 0.0, 2.0], Matrix::identity(3));
    let id = model.add("mass", block.F_ext([-9.81 * cos, 9.81 * sin, 0.0])).unwrap();
    let plane = LagrangianLinearRelation::new(Matrix::identity(3));
    model.connect("plane", plane, Law::impact_friction(0.0, sin / cos), &[id]).unwrap();
    model
}

fn across_end() -> [f64; 2] {
    let rate = |[_, _, u, v]: [f64; 4]| {
        let speed = u.hypot(v);
        [u, v, 9.81 * 0.5 * (1.0 - u / speed), -9.81 * 0.5 * v / speed]
    };
    let [x, y, ..] = runge_kutta(rate, [0.0, 0.0, 0.0, 2.0], 1.0, 10_000);
    [x, y]
}

const FIRST_ORDER: [Problem; 6] = [
    problem("decay", 0.1, 4, |scheme, h| {
        let mut model = Model::new("decay");
        let A = [[-0.1, 1.0], [-1.0, -0.1]];
        model.add("plant", FirstOrderLinear::new([1.0, 0.0], A)).unwrap();
        let run = run(model, h, scheme, 10.0);
        sup(&run, "plant.x[0]", |t| (-0.1 * t).exp() * t.cos())
    }),
    problem("forced", 0.1, 4, |scheme, h| {
        let mut model = Model::new("forced");
        let b = Operator::vector_of_time(1, |t, b| b[0] = t.cos());
        model.add("plant", FirstOrderLinear::new([0.5], [[-1.0]]).b(b)).unwrap();
        sup(&run(model, h, scheme, 5.0), "plant.x", |t| 0.5 * (t.cos() + t.sin()))
    }),
    problem("clamp", 2e-2, 6, |scheme, h| {
        let mut model = Model::new("clamp");
        let b = Operator::vector_of_time(1, |t, b| b[0] = t.cos());
        let id = model.add("plant", FirstOrderLinear::new([0.5], [[0.0]]).b(b)).unwrap();
        let diode = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
        model.connect("diode", diode, Law::Complementarity, &[id]).unwrap();
        sup(&run(model, h, scheme, 6.0), "plant.x", |t| match t {
            t if t < 7.0 * PI / 6.0 => 0.5 + t.sin(),
            t if t < 1.5 * PI => 0.0,
            t => 1.0 + t.sin(),
        })
    }),
    problem("stop", 5e-3, 4, |scheme, h| {
        let case = models::lzc(0.5, h);
        sup(&run(case.model, h, scheme, 3.0), "circuit.x[0]", |t| exact::lzc(t)[0])
    }),
    problem("spiral", 0.1, 7, |scheme, h| {
        let start = [1.0, 1.0, 1.0];
        let run = run(models::spiral(start, 1.0, h).model, h, scheme, 3.0);
        let of = |i: usize| sup(&run, &format!("point.x[{i}]"), |t| exact::spiral(start, t)[i]);
        of(0).max(of(1)).max(of(2))
    }),
    problem("sliding", 0.1, 6, |scheme, h| {
        let run = run(models::sliding_mode(h).model, h, scheme, 5.0);
        let of = |i: usize| sup(&run, &format!("plant.x[{i}]"), |t| exact::sliding_mode(t)[i]);
        of(0).max(of(1))
    }),
];

/// What was measured, as the table of the book has it.
fn measure(scheme: &Integrator, problem: &Problem, expected: Expect) -> String {
    if let Without | Refused(_) = expected {
        return "–".to_string();
    }
    let errors = errors(scheme, problem);
    if errors.iter().all(|(_, error)| *error <= 1e-10) {
        return "exact".to_string();
    }
    format!("{:.2}", order(&errors))
}

fn errors(scheme: &Integrator, problem: &Problem) -> Vec<(f64, f64)> {
    let steps = (0..problem.steps).map(|k| problem.h / f64::from(1 << k));
    steps.map(|h| (h, (problem.error)(scheme, h))).collect()
}

/// Measures the problems of a range that are for the scheme, and sees the others refused.
#[track_caller]
fn check<const N: usize>(row: &Row<N>, problems: &[Problem; N], which: Range<usize>) {
    let (name, scheme) = (row.name, &row.scheme);
    let mut failed = Vec::new();
    for (problem, &expected) in problems.iter().zip(&row.expected).take(which.end).skip(which.start)
    {
        let least = match expected {
            Without => continue,
            Refused(why) => {
                let refused = std::panic::catch_unwind(|| (problem.error)(scheme, problem.h));
                let message = refused.expect_err(problem.name);
                let message = message.downcast_ref::<String>().cloned().unwrap_or_default();
                assert!(message.contains(why), "{name}, {}: {message}", problem.name);
                continue;
            }
            Order(least) => least,
            Exact => f64::INFINITY,
        };
        let errors = errors(scheme, problem);
        let (coarse, fine) = (errors[0].1, errors[errors.len() - 1].1);
        let (found, exact) = (order(&errors), errors.iter().all(|(_, error)| *error <= 1e-10));
        println!("{name:28} {:10} {coarse:9.2e} {fine:9.2e}  order {found:5.2}", problem.name);
        if !(exact || (found >= least - 0.3 && fine < coarse)) {
            failed.push((problem.name, found, expected));
        }
    }
    assert!(failed.is_empty(), "{name}: {failed:?}");
}

/// A row of a table.
struct Row<const N: usize> {
    name: &'static str,
    scheme: Integrator,
    expected: [Expect; N],
}

/// The rows, and two tests for each: the smooth problems, which come first, and the others.
macro_rules! rows {
    ($rows:ident, $problems:ident, $count:literal, $smooth:literal: $($test:ident: $name:literal, $scheme:expr, $expected:expr;)*) => {
        fn $rows() -> Vec<Row<$count>> {
            vec![$(Row { name: $name, scheme: $scheme.into(), expected: $expected }),*]
        }
        $(mod $test {
            use super::*;

            fn row() -> Row<$count> {
                Row { name: $name, scheme: $scheme.into(), expected: $expected }
            }

            #[test]
            fn smooth() {
                check(&row(), &$problems, 0..$smooth);
            }

            #[test]
            fn nonsmooth() {
                check(&row(), &$problems, $smooth..$count);
            }
        })*
    };
}

/// Of oscillator and pendulum, rod, bead, and bowl; impacts and friction are of first order.
const fn orders(smooth: f64, rod: f64, bead: f64, bowl: f64) -> [Expect; 9] {
    let one = Order(1.0);
    [Order(smooth), Order(smooth), Order(rod), Order(bead), one, one, one, Order(bowl), one]
}

fn theta_scheme(theta: f64, projection: Option<Projection>) -> MoreauJean {
    MoreauJean { theta, projection, ..MoreauJean::default() }
}

fn paoli(theta: f64) -> SchatzmanPaoli {
    SchatzmanPaoli { theta, ..SchatzmanPaoli::default() }
}

fn alpha(rho_inf: f64) -> GeneralizedAlpha {
    GeneralizedAlpha { rho_inf, ..GeneralizedAlpha::default() }
}

fn d1_minus(variant: Variant) -> D1MinusLinear {
    D1MinusLinear { variant, ..D1MinusLinear::default() }
}

const FRICTION: Expect = Refused("without friction");
const LINEAR: Expect = Refused("linear");

rows! { mechanics, MECHANICS, 9, 4:
    moreau_jean_half: "Moreau–Jean, θ = 1/2", theta_scheme(0.5, None), orders(2.0, 1.0, 1.0, 1.0);
    moreau_jean_one: "the same, θ = 1", theta_scheme(1.0, None), orders(1.0, 1.0, 1.0, 1.0);
    moreau_jean_direct: "the same, direct", theta_scheme(0.5, Some(Projection::Direct)), orders(2.0, 1.0, 1.0, 1.0);
    moreau_jean_combined: "the same, combined", theta_scheme(0.5, Some(Projection::Combined)), orders(2.0, 1.0, 1.0, 1.0);
    moreau_jean_ggl: "the same, GGL", theta_scheme(0.5, Some(Projection::Ggl)), orders(2.0, 1.0, 1.0, 1.0);
    moreau_jean_global: "the same, global form", MoreauJean { form: Form::Global, ..MoreauJean::default() }, orders(2.0, 1.0, 1.0, 1.0);
    schatzman_paoli_0: "Schatzman–Paoli, θ = 0", paoli(0.0), orders(2.0, 2.0, 2.0, 2.0);
    schatzman_paoli_quarter: "the same, θ = 1/4", paoli(0.25), orders(2.0, 2.0, 2.0, 2.0);
    schatzman_paoli_half: "the same, θ = 1/2", paoli(0.5), orders(2.0, 2.0, 2.0, 2.0);
    generalized_alpha_0: "generalized-α, ρ = 0", alpha(0.0), orders(2.0, 2.0, 2.0, 1.0);
    generalized_alpha_half: "the same, ρ = 0.5", alpha(0.5), orders(2.0, 2.0, 2.0, 1.0);
    generalized_alpha: "the same, ρ = 0.8", alpha(0.8), orders(2.0, 2.0, 2.0, 1.0);
    generalized_alpha_1: "the same, ρ = 1", alpha(1.0), orders(2.0, 2.0, 2.0, 1.0);
    d1_minus_accelerations: "D1-minus, accelerations", d1_minus(Variant::Acceleration),
        [Order(2.0), Order(2.0), Order(2.0), Order(2.0), Order(1.0), FRICTION, FRICTION, FRICTION, FRICTION];
    d1_minus_velocities: "D1-minus, velocities", d1_minus(Variant::Velocity), orders(2.0, 2.0, 2.0, 2.0);
    bilbao: "Bilbao", MoreauJeanBilbao::default(),
        [Exact, LINEAR, LINEAR, LINEAR, Order(1.0), Order(1.0), Order(1.0), LINEAR, Order(1.0)];
}

fn euler_moreau(theta: f64, gamma: f64) -> EulerMoreau {
    EulerMoreau { theta, gamma, ..EulerMoreau::default() }
}

// a multiplier that switches keeps its error with γ = 1/2
const RELAY: Expect = Without;

rows! { first_order, FIRST_ORDER, 6, 2:
    euler_moreau_one: "Euler–Moreau, θ = 1", euler_moreau(1.0, 1.0), [Order(1.0); 6];
    euler_moreau_half: "the same, θ = 1/2", euler_moreau(0.5, 1.0),
        [Order(2.0), Order(2.0), Order(2.0), Order(2.0), Order(1.0), Order(2.0)];
    euler_moreau_halves: "the same, θ = γ = 1/2", euler_moreau(0.5, 0.5),
        [Order(2.0), Order(2.0), Order(2.0), RELAY, RELAY, RELAY];
    zero_order_hold: "zero-order hold", ZeroOrderHold::default(),
        [Exact, Order(1.0), Order(1.0), Exact, Order(1.0), Order(2.0)];
}

#[test]
#[ignore = "prints the tables of the book"]
fn table() {
    fn print<const N: usize>(rows: &[Row<N>], problems: &[Problem; N]) {
        let head: Vec<&str> = problems.iter().map(|problem| problem.name).collect();
        println!("| scheme | {} |", head.join(" | "));
        println!("| --- |{}", " --- |".repeat(N));
        for row in rows {
            let cells = problems.iter().zip(row.expected);
            let cells: Vec<String> =
                cells.map(|(problem, e)| measure(&row.scheme, problem, e)).collect();
            println!("| {} | {} |", row.name, cells.join(" | "));
        }
        println!();
    }
    print(&mechanics(), &MECHANICS);
    print(&first_order(), &FIRST_ORDER);
}
