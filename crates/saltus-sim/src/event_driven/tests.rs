//! Event-driven simulation against closed forms.

use super::{EventDriven, EventKind, EventSettings};
use saltus_model::*;
use saltus_numerics::Solver;

fn driven(model: Model, rtol: f64, atol: f64) -> EventDriven {
    EventDriven::with(model, EventSettings { rtol, atol }, &Solver::default()).unwrap()
}

fn ball(e: f64) -> Model {
    let mut model = Model::new("ball");
    let ball =
        model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81])).unwrap();
    let law = Law::newton_impact(e);
    model.connect("floor", LagrangianLinearRelation::new([[1.0]]), law, &[ball]).unwrap();
    model
}

#[test]
fn every_impact_of_the_bouncing_ball_and_their_limit() {
    for e in [0.9, 0.5] {
        let mut sim = driven(ball(e), 1e-10, 1e-12);
        let run = sim.run(10.0).unwrap();
        let g = 9.81_f64;
        let t1 = (2.0 / g).sqrt();
        let mut exact = t1;
        let mut flight = 2.0 * t1 * e;
        let mut worst = 0.0_f64;
        let mut impacts = 0;
        for event in sim.events().iter().filter(|event| event.kind == EventKind::Impact) {
            worst = worst.max((event.time - exact).abs() / exact);
            exact += flight;
            flight *= e;
            impacts += 1;
        }
        let zeno = t1 * (1.0 + e) / (1.0 - e);
        let end = sim.events().iter().find(|event| event.kind == EventKind::Accumulation).unwrap();
        println!(
            "e {e}: {impacts} impacts, worst {worst:.1e}, zeno {:.2e}, steps {} {:?}",
            end.time - zeno,
            run.stats.steps,
            run.stats.seconds
        );
        assert!(worst < 1e-12);
        assert!((end.time - zeno).abs() < 1e-9);
        let q = run.signal("ball.q").unwrap();
        assert!(q.last().unwrap().abs() < 1e-12);
        assert!((run.signal("floor.lam").unwrap().last().unwrap() - 9.81).abs() < 1e-9);
    }
}

fn oscillator() -> Model {
    let mut model = Model::new("oscillator");
    let names = Names { first: ("x", 2), second: ("lam", 1), ..Names::TIME };
    let f = Operator::formulas(2, 1, &["x[0]", "x[1]"], &names, &[]).unwrap();
    let x0 = [(-1.0_f64).exp(), 0.0];
    let id = model.add("point", FirstOrder::new(x0, f)).unwrap();
    let h = Operator::formulas(1, 1, &["x[0]^2 + x[1]^2 - 1"], &names, &[]).unwrap();
    let g = ["-2*pi*lam[0]*x[1]", "2*pi*lam[0]*x[0]"];
    let g = Operator::formulas(2, 1, &g, &names, &[]).unwrap();
    let law = Law::relay(-1.0, 1.0);
    model.connect("circle", FirstOrderRelation::new(h, g), law, &[id]).unwrap();
    model
}

#[test]
fn the_oscillator_switches_at_one() {
    for rtol in [1e-6, 1e-8, 1e-10, 1e-12] {
        let mut sim = driven(oscillator(), rtol, 1e-2 * rtol);
        let run = sim.run(std::f64::consts::FRAC_PI_2).unwrap();
        let x = run.signal("point.x").unwrap();
        let [a, b] = x[x.len() - 2..] else { panic!() };
        let error = (a + 1.5974603774506984).abs().max((b - 0.7614936206060108).abs());
        println!(
            "{rtol:e}: {:?} error {error:.2e} steps {} {:.1e} s",
            sim.events().iter().map(|e| (e.kind.name(), e.time - 1.0)).collect::<Vec<_>>(),
            run.stats.steps,
            run.stats.seconds
        );
    }
}

#[test]
fn coulomb_oscillator_comes_to_rest() {
    let mut model = Model::new("coulomb");
    let id = model.add("mass", LagrangianLinear::new([1.0], [0.0], [[1.0]]).K([[1.0]])).unwrap();
    let law = Law::relay(-0.15, 0.15);
    model.connect("friction", LagrangianLinearRelation::new([[1.0]]), law, &[id]).unwrap();
    let mut sim = driven(model, 1e-12, 1e-13);
    let run = sim.run(20.0).unwrap();
    let q = run.signal("mass.q").unwrap();
    println!(
        "{:?} {} {}",
        sim.events()
            .iter()
            .map(|e| (e.kind.name(), e.time / std::f64::consts::PI))
            .collect::<Vec<_>>(),
        q.last().unwrap() + 0.1,
        run.stats.steps
    );
}

#[test]
fn filippov_spiral_passes_its_centre() {
    let mut model = Model::new("spiral");
    let id = model.add("point", FirstOrderLinear::new([1.0, 1.0, 1.0], Matrix3::zero())).unwrap();
    let relation = FirstOrderLinearRelation::new(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[1.0, -2.0], [2.0, 1.0], [-1.0, -1.0]],
    );
    model.connect("relays", relation, Law::relay(-1.0, 1.0), &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(10.0);
    println!("{} events, last {:?}", sim.events().len(), sim.events().last());
    let run = run.unwrap();
    let x = run.signal("point.x").unwrap();
    println!("{:?}", &x[x.len() - 3..]);
}
struct Matrix3;
impl Matrix3 {
    fn zero() -> [[f64; 3]; 3] {
        [[0.0; 3]; 3]
    }
}

/// A01: a pendulum as a point on a circle, ten seconds.
#[test]
fn pendulum_on_a_circle() {
    let mut model = Model::new("pendulum");
    let names = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
    let mass = LagrangianLinear::new([-1.0, 0.0], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]);
    let id = model.add("mass", mass.F_ext([0.0, -9.81])).unwrap();
    let h = Operator::formulas(1, 1, &["(q[0]^2 + q[1]^2 - 1)/2"], &names, &[]).unwrap();
    model.connect("rod", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();
    for rtol in [1e-6, 1e-8, 1e-10, 1e-12] {
        let mut sim = driven(model.clone(), rtol, rtol);
        let run = sim.run(10.0).unwrap();
        let q = run.signal("mass.q").unwrap();
        let [x, y] = q[q.len() - 2..] else { panic!() };
        let error = (x + 0.27508746257611686).abs().max((y + 0.96141920509912506).abs());
        println!(
            "pendulum {rtol:e}: {error:.1e} in {} steps, {} iterations, {:.1e} s",
            run.stats.steps, run.stats.iterations, run.stats.seconds
        );
    }
}

/// Stick and slip on a belt, with a larger coefficient at rest.
#[test]
fn stick_slip_period() {
    let mut model = Model::new("belt");
    let names = Names { first: ("q", 2), second: ("v", 2), ..Names::TIME };
    // q = (height, place), pressed onto the belt with 1, which moves with 1
    let mass = LagrangianLinear::new([0.0, 0.0], [0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]]);
    let id = model.add("mass", mass.K([[0.0, 0.0], [0.0, 1.0]]).F_ext([-1.0, 0.0])).unwrap();
    let h = Operator::formulas(2, 1, &["q[0]", "q[1] - t"], &names, &[]).unwrap();
    let mu = Operator::formulas(1, 1, &["piecewise(v[1] == 0, 1.5, 0.5)"], &names, &[]);
    let Ok(mu) = mu else {
        println!("{}", mu.unwrap_err());
        return;
    };
    let law = Law::impact_friction(0.0, mu);
    model.connect("belt", LagrangianRelation::new(h), law, &[id]).unwrap();
    let mut sim = driven(model, 1e-12, 1e-13);
    let run = sim.run(40.0);
    let slips: Vec<f64> =
        sim.events().iter().filter(|e| e.kind == EventKind::Slip).map(|e| e.time).collect();
    println!(
        "{:?}",
        sim.events().iter().rev().take(4).map(|e| (e.kind.name(), e.time)).collect::<Vec<_>>()
    );
    let period = slips.windows(2).map(|w| w[1] - w[0] - 6.71238898038469).collect::<Vec<_>>();
    println!("stick-slip {period:?}");
    run.unwrap();
}

/// Three balls in a row, hit by a fourth's velocity: Newton's law at once.
#[test]
fn three_balls() {
    let mut model = Model::new("three balls");
    let mut ids = Vec::new();
    for (k, v) in [1.0, 0.0, 0.0].into_iter().enumerate() {
        let ball =
            LagrangianLinear::new([k as f64 + if k == 0 { -0.5 } else { 0.0 }], [v], [[1.0]]);
        ids.push(model.add(&format!("ball{k}"), ball).unwrap());
    }
    for k in 0..2 {
        let relation = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
        model
            .connect(&format!("gap{k}"), relation, Law::newton_impact(1.0), &[ids[k], ids[k + 1]])
            .unwrap();
    }
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(2.0).unwrap();
    let v: Vec<f64> =
        (0..3).map(|k| *run.signal(&format!("ball{k}.v")).unwrap().last().unwrap()).collect();
    println!(
        "three balls {v:?} {:?}",
        sim.events().iter().map(|e| (e.kind.name(), e.time)).collect::<Vec<_>>()
    );
}

/// The half-wave rectifier: `λ` acts on what it looks at, relative degree zero.
#[test]
fn rectifier() {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let mut model = Model::new("rectifier");
    let circuit = FirstOrderLinear::new([10.0, 0.0], [[0.0, -1.0 / c], [1.0 / l, 0.0]]);
    let id = model.add("circuit", circuit).unwrap();
    let relation = FirstOrderLinearRelation::new([[-1.0, 0.0]], [[-1.0 / c], [0.0]]).D([[r]]);
    model.connect("diode", relation, Law::Complementarity, &[id]).unwrap();
    let mut sim = driven(model, 1e-10, 1e-12);
    let run = sim.run(5e-3).unwrap();
    let times: Vec<f64> = sim.events().iter().map(|e| e.time).collect();
    let half = std::f64::consts::PI * (l * c).sqrt();
    println!(
        "rectifier {} steps, blocked {:?} of {half}",
        run.stats.steps,
        times.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>()
    );
}

/// Ten beads fall onto each other.
#[test]
fn column_of_beads() {
    let mut model = Model::new("beads");
    let mut last = None;
    for k in 0..10 {
        let bead = LagrangianLinear::new([1.0 + 0.25 * k as f64], [0.0], [[1.0]]).F_ext([-9.81]);
        let id = model.add(&format!("bead{k}"), bead).unwrap();
        match last {
            None => model
                .connect(
                    "floor",
                    LagrangianLinearRelation::new([[1.0]]).b([-0.1]),
                    Law::newton_impact(0.9),
                    &[id],
                )
                .unwrap(),
            Some(below) => model
                .connect(
                    &format!("gap{k}"),
                    LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-0.2]),
                    Law::newton_impact(0.9),
                    &[below, id],
                )
                .unwrap(),
        };
        last = Some(id);
    }
    let mut sim = driven(model, 1e-10, 1e-12);
    let clock = std::time::Instant::now();
    let run = sim.run(1.1);
    println!(
        "beads: {} events to {} in {:?}: {:?}",
        sim.events().len(),
        sim.t(),
        clock.elapsed(),
        run.map(|run| run.stats)
    );
}
