//! Event-driven simulation against closed forms.

use super::{EventDriven, EventSettings};
use crate::run::EventKind;
use saltus_linalg::Matrix;
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

/// A02: two four-bar loops in natural coordinates, through a singular position.
#[test]
fn four_bars() {
    let mut model = Model::new("four bars");
    // B0, B1, B2; bars of one metre and one kilogram: A_i B_i, B_0 B_1, B_1 B_2
    let mut M = Matrix::zeros(6, 6);
    let mut weight = [0.0; 6];
    for point in 0..3 {
        for axis in 0..2 {
            M[(2 * point + axis, 2 * point + axis)] += 1.0 / 3.0;
        }
        weight[2 * point + 1] -= 0.5 * 9.81;
    }
    for bar in 0..2 {
        for axis in 0..2 {
            let (i, j) = (2 * bar + axis, 2 * bar + 2 + axis);
            M[(i, i)] += 1.0 / 3.0;
            M[(j, j)] += 1.0 / 3.0;
            M[(i, j)] += 1.0 / 6.0;
            M[(j, i)] += 1.0 / 6.0;
        }
        weight[2 * bar + 1] -= 0.5 * 9.81;
        weight[2 * bar + 3] -= 0.5 * 9.81;
    }
    let q0 = [0.0, 1.0, 1.0, 1.0, 2.0, 1.0];
    let v0 = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    let id = model.add("bars", LagrangianLinear::new(q0, v0, M).F_ext(weight)).unwrap();
    let names = Names { first: ("q", 6), second: ("lam", 5), ..Names::TIME };
    let h = [
        "(q[0]^2 + q[1]^2 - 1)/2",
        "((q[2] - 1)^2 + q[3]^2 - 1)/2",
        "((q[4] - 2)^2 + q[5]^2 - 1)/2",
        "((q[2] - q[0])^2 + (q[3] - q[1])^2 - 1)/2",
        "((q[4] - q[2])^2 + (q[5] - q[3])^2 - 1)/2",
    ];
    let h = Operator::formulas(5, 1, &h, &names, &[]).unwrap();
    model.connect("joints", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();
    for rtol in [1e-10, 1e-12] {
        let mut sim = driven(model.clone(), rtol, rtol);
        match sim.run(10.0) {
            Ok(run) => {
                let q = run.signal("bars.q").unwrap();
                let end = &q[q.len() - 6..];
                println!(
                    "four bars {rtol:e}: {:.2e} {:.2e} in {} steps {:.2e} s",
                    end[0] - 0.32845811154081538,
                    end[1] - 0.94451853817860096,
                    run.stats.steps,
                    run.stats.seconds
                );
            }
            Err(failure) => println!(
                "four bars {rtol:e}: {} after {} steps",
                failure.source, failure.run.stats.steps
            ),
        }
    }
}

/// A03: Andrews' squeezing mechanism.
#[test]
fn squeezer() {
    let constants = [
        ("m1", 0.04325),
        ("m2", 0.00365),
        ("m3", 0.02373),
        ("m4", 0.00706),
        ("m5", 0.07050),
        ("m6", 0.00706),
        ("m7", 0.05498),
        ("i1", 2.194e-6),
        ("i2", 4.410e-7),
        ("i3", 5.255e-6),
        ("i4", 5.667e-7),
        ("i5", 1.169e-5),
        ("i6", 5.667e-7),
        ("i7", 1.912e-5),
        ("xa", -0.06934),
        ("ya", -0.00227),
        ("xb", -0.03635),
        ("yb", 0.03273),
        ("xc", 0.014),
        ("yc", 0.072),
        ("c0", 4530.0),
        ("lo", 0.07785),
        ("d", 28e-3),
        ("da", 115e-4),
        ("ee", 2e-2),
        ("ea", 1421e-5),
        ("zf", 2e-2),
        ("fa", 1421e-5),
        ("rr", 7e-3),
        ("ra", 92e-5),
        ("ss", 35e-3),
        ("sa", 1874e-5),
        ("sb", 1043e-5),
        ("sc", 18e-3),
        ("sd", 2e-2),
        ("ta", 2308e-5),
        ("tb", 916e-5),
        ("u", 4e-2),
        ("ua", 1228e-5),
        ("ub", 449e-5),
        ("zt", 4e-2),
        ("mom", 0.033),
    ];
    let names = Names { first: ("q", 7), second: ("v", 7), ..Names::TIME };
    let mut mass = vec!["0".to_string(); 49];
    let mut put = |i: usize, j: usize, text: &str| {
        mass[7 * i + j] = text.to_string();
        mass[7 * j + i] = text.to_string();
    };
    put(0, 0, "m1*ra^2 + m2*(rr^2 - 2*da*rr*cos(q[1]) + da^2) + i1 + i2");
    put(0, 1, "m2*(da^2 - da*rr*cos(q[1])) + i2");
    put(1, 1, "m2*da^2 + i2");
    put(2, 2, "m3*(sa^2 + sb^2) + i3");
    put(3, 3, "m4*(ee - ea)^2 + i4");
    put(3, 4, "m4*((ee - ea)^2 + zt*(ee - ea)*sin(q[3])) + i4");
    put(4, 4, "m4*(zt^2 + 2*zt*(ee - ea)*sin(q[3]) + (ee - ea)^2) + m5*(ta^2 + tb^2) + i4 + i5");
    put(5, 5, "m6*(zf - fa)^2 + i6");
    put(5, 6, "m6*((zf - fa)^2 - u*(zf - fa)*sin(q[5])) + i6");
    put(6, 6, "m6*((zf - fa)^2 - 2*u*(zf - fa)*sin(q[5]) + u^2) + m7*(ua^2 + ub^2) + i6 + i7");
    let mass: Vec<&str> = mass.iter().map(String::as_str).collect();
    let mass = Operator::formulas(7, 7, &mass, &names, &constants).unwrap();
    let xd = "(sd*cos(q[2]) + sc*sin(q[2]) + xb)";
    let yd = "(sd*sin(q[2]) - sc*cos(q[2]) + yb)";
    let length = format!("sqrt(({xd} - xc)^2 + ({yd} - yc)^2)");
    let spring = format!("(c0*({length} - lo)/{length})");
    let force = [
        "-(mom - m2*da*rr*v[1]*(v[1] + 2*v[0])*sin(q[1]))".to_string(),
        "-m2*da*rr*v[0]^2*sin(q[1])".to_string(),
        format!(
            "{spring}*(({xd} - xc)*(sc*cos(q[2]) - sd*sin(q[2])) + ({yd} - yc)*(sd*cos(q[2]) + sc*sin(q[2])))"
        ),
        "-m4*zt*(ee - ea)*v[4]^2*cos(q[3])".to_string(),
        "m4*zt*(ee - ea)*v[3]*(v[3] + 2*v[4])*cos(q[3])".to_string(),
        "m6*u*(zf - fa)*v[6]^2*cos(q[5])".to_string(),
        "-m6*u*(zf - fa)*v[5]*(v[5] + 2*v[6])*cos(q[5])".to_string(),
    ];
    let force: Vec<&str> = force.iter().map(String::as_str).collect();
    let force = Operator::formulas(7, 1, &force, &names, &constants).unwrap();
    let q0 = [
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    ];
    let mut model = Model::new("squeezer");
    let id = model.add("squeezer", Lagrangian::new(q0, [0.0; 7], mass).F_int(force)).unwrap();
    let h = [
        "rr*cos(q[0]) - d*cos(q[0] + q[1]) - ss*sin(q[2]) - xb",
        "rr*sin(q[0]) - d*sin(q[0] + q[1]) + ss*cos(q[2]) - yb",
        "rr*cos(q[0]) - d*cos(q[0] + q[1]) - ee*sin(q[3] + q[4]) - zt*cos(q[4]) - xa",
        "rr*sin(q[0]) - d*sin(q[0] + q[1]) + ee*cos(q[3] + q[4]) - zt*sin(q[4]) - ya",
        "rr*cos(q[0]) - d*cos(q[0] + q[1]) - zf*cos(q[5] + q[6]) - u*sin(q[6]) - xa",
        "rr*sin(q[0]) - d*sin(q[0] + q[1]) - zf*sin(q[5] + q[6]) + u*cos(q[6]) - ya",
    ];
    let names = Names { first: ("q", 7), second: ("lam", 6), ..Names::TIME };
    let h = Operator::formulas(6, 1, &h, &names, &constants).unwrap();
    model.connect("loops", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();
    for rtol in [1e-8, 1e-10, 1e-12] {
        let mut sim = driven(model.clone(), rtol, 1e-2 * rtol);
        match sim.run(0.03) {
            Ok(run) => {
                let q = run.signal("squeezer.q").unwrap();
                let end = &q[q.len() - 7..];
                let exact = [
                    15.81077119629904,
                    -15.75637105984298,
                    0.04082224013073101,
                    -0.5347301163226948,
                    0.5244099658805304,
                    0.5347301163226948,
                    1.048080741042263,
                ];
                let worst = end
                    .iter()
                    .zip(exact)
                    .map(|(a, b): (&f64, f64)| (a - b).abs())
                    .fold(0.0, f64::max);
                println!(
                    "squeezer {rtol:e}: {worst:.1e} in {} steps, {} iterations, {:.2e} s",
                    run.stats.steps, run.stats.iterations, run.stats.seconds
                );
            }
            Err(failure) => println!(
                "squeezer {rtol:e}: {} after {} steps",
                failure.source, failure.run.stats.steps
            ),
        }
    }
}

/// A block in space on a slope of 30°, pushed across: it slips, turns, and sticks where it can.
#[test]
fn block_in_space() {
    let g = 9.81_f64;
    let (sine, cosine) = (30.0_f64.to_radians().sin(), 30.0_f64.to_radians().cos());
    for (mu, v0) in
        [(0.3, [0.0, 0.0]), (0.7, [0.0, 0.0]), (0.7, [1.0, 2.0]), (sine / cosine, [0.0, 1.0])]
    {
        let mut model = Model::new("block");
        let block = LagrangianLinear::new([0.0; 3], [0.0, v0[0], v0[1]], Matrix::identity(3));
        let id = model.add("block", block.F_ext([-g * cosine, g * sine, 0.0])).unwrap();
        let relation =
            LagrangianLinearRelation::new([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        model.connect("slope", relation, Law::impact_friction(0.0, mu), &[id]).unwrap();
        let mut sim = driven(model, 1e-10, 1e-12);
        match sim.run(1.0) {
            Ok(run) => {
                let v = run.signal("block.v").unwrap();
                let v = &v[v.len() - 3..];
                println!(
                    "block {mu} {v0:?}: {v:?} {:?} {} steps; a = {}; |v| + v_x = {}",
                    sim.events().iter().map(|e| (e.kind.name(), e.time)).collect::<Vec<_>>(),
                    run.stats.steps,
                    v[1] - g * (sine - mu * cosine),
                    v[1].hypot(v[2]) + v[1]
                );
            }
            Err(failure) => {
                println!("block {mu}: {} after {} steps", failure.source, failure.run.stats.steps)
            }
        }
    }
}
