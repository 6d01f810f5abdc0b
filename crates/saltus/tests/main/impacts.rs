//! Impacts on several contacts at once: closed forms, springs that are integrated here apart from
//! Saltus, momentum and energy.

use crate::support::within;
use saltus::prelude::*;
use saltus::sim::SimError;

/// Balls of radius 1/2 in a row: the first one flies at the others, which touch each other.
fn row(masses: &[f64], law: impl Fn(usize) -> Law) -> Model {
    let mut model = Model::new("row of balls");
    let mut balls = Vec::new();
    for (i, &mass) in masses.iter().enumerate() {
        let (q, v) = if i == 0 { (-0.0625, 1.0) } else { (i as f64, 0.0) };
        let ball = LagrangianLinear::new([q], [v], [[mass]]);
        balls.push(model.add(&format!("ball{i}"), ball).unwrap());
    }
    for i in 0..masses.len() - 1 {
        let mut gap = LagrangianLinearRelation::new([[-1.0, 1.0]]);
        gap.b = Some(vec![-1.0]);
        let pair = [balls[i], balls[i + 1]];
        model.connect(&format!("contact{i}"), gap, law(i), &pair).unwrap();
    }
    model
}

/// The velocities some time after the impact.
fn after(model: Model) -> Vec<f64> {
    let mut sim = TimeStepping::new(model, 1.0 / 64.0, [MoreauJean::default().into()]).unwrap();
    let run = sim.run(0.25).unwrap();
    let balls = sim.model().systems().len();
    (0..balls).map(|i| *run.signal(&format!("ball{i}.v")).unwrap().last().unwrap()).collect()
}

/// The same balls joined by springs `K δ^η` that push only and are never shorter than the gap, by
/// the classical Runge–Kutta method with a fixed step.
fn springs(masses: &[f64], stiffness: &[f64], exponent: f64) -> Vec<f64> {
    let n = masses.len();
    // velocities, then δ
    let slope = |state: &[f64]| -> Vec<f64> {
        let (v, depth) = state.split_at(n);
        let force = |i: usize| stiffness[i] * depth[i].max(0.0).powf(exponent);
        let mut slopes = Vec::new();
        for i in 0..n {
            let pushed = if i > 0 { force(i - 1) } else { 0.0 };
            let held = if i + 1 < n { force(i) } else { 0.0 };
            slopes.push((pushed - held) / masses[i]);
        }
        slopes.extend((0..n - 1).map(|i| v[i] - v[i + 1]));
        slopes
    };
    let mut state = vec![0.0; 2 * n - 1];
    state[0] = 1.0;
    let h = 2e-4;
    for _ in 0..200_000 {
        let moved = |k: &[f64], a: f64| -> Vec<f64> {
            state.iter().zip(k).map(|(x, k)| x + a * h * k).collect()
        };
        let k1 = slope(&state);
        let k2 = slope(&moved(&k1, 0.5));
        let k3 = slope(&moved(&k2, 0.5));
        let k4 = slope(&moved(&k3, 1.0));
        for j in 0..state.len() {
            state[j] += h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
        }
        state[n..].iter_mut().for_each(|depth| *depth = depth.max(0.0));
    }
    state[..n].to_vec()
}

#[test]
fn two_balls_follow_newton() {
    for e in [0.0, 0.25, 0.6, 1.0] {
        for masses in [[1.0, 1.0], [1.0, 3.0], [5.0, 1.0]] {
            let several = after(row(&masses, |_| Law::multiple_impact(e, 7.0)));
            let newton = after(row(&masses, |_| Law::newton_impact(e)));
            for (a, b) in several.iter().zip(&newton) {
                within("one contact", (a - b).abs(), 1e-9);
            }
        }
    }
}

/// Three laws, three answers, of which only one is wrong for steel: Newton's for all contacts at
/// once, and (0, 0, 1) where impacts come one after the other.
#[test]
fn three_balls_and_three_laws() {
    let newton = after(row(&[1.0; 3], |_| Law::newton_impact(1.0)));
    for (v, exact) in newton.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        within("Newton", (v - exact).abs(), 1e-12);
    }
    // a first contact that is far stiffer than the second has ended before that begins
    let sequence = |i| Law::MultipleImpact { e: 1.0, stiffness: [1e12, 1.0][i], exponent: 1.0 };
    for (v, exact) in after(row(&[1.0; 3], sequence)).iter().zip([0.0, 0.0, 1.0]) {
        within("one after the other", (v - exact).abs(), 1e-5);
    }
    // equal springs: some of the momentum stays, the first ball comes back
    for exponent in [1.0, 1.5] {
        let law = |_| Law::MultipleImpact { e: 1.0, stiffness: 1.0, exponent };
        let several = after(row(&[1.0; 3], law));
        let compliant = springs(&[1.0; 3], &[1.0; 2], exponent);
        for (a, b) in several.iter().zip(&compliant) {
            within("equal springs", (a - b).abs(), 1e-8);
        }
        assert!(several[0] < -0.05 && several[2] > 0.98, "{several:?}");
    }
}

/// Only the ratio of stiffnesses counts, and what a chain of springs does is what comes out.
#[test]
fn a_chain_is_that_of_springs() {
    let (masses, stiffness) = ([1.0, 0.5, 2.0, 1.0, 0.25], [1.0, 4.0, 0.5, 2.0]);
    for exponent in [1.0, 1.5] {
        let compliant = springs(&masses, &stiffness, exponent);
        for scale in [1.0, 1e9] {
            let law = |i: usize| Law::MultipleImpact {
                e: 1.0,
                stiffness: scale * stiffness[i],
                exponent,
            };
            for (a, b) in after(row(&masses, law)).iter().zip(&compliant) {
                within("chain", (a - b).abs(), 1e-7);
            }
        }
    }
}

#[test]
fn momentum_stays_and_energy_goes() {
    let masses = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0];
    for e in [0.0, 0.3, 0.8, 1.0] {
        let v = after(row(&masses, |_| Law::multiple_impact(e, 1.0)));
        let momentum: f64 = masses.iter().zip(&v).map(|(m, v)| m * v).sum();
        let energy: f64 = masses.iter().zip(&v).map(|(m, v)| m * v * v).sum();
        within("momentum", (momentum - 1.0).abs(), 4e-15);
        assert!(energy <= 1.0 + 1e-10, "e = {e}: {energy}");
        assert!(v.windows(2).all(|pair| pair[1] - pair[0] >= -1e-10), "{v:?}");
    }
}

/// A ball dropped on two others at rest on a floor: impacts, and contacts that stay closed under
/// gravity by complementarity alone.
#[test]
fn a_stack_comes_to_rest() {
    let mut model = Model::new("stack");
    let heights = [0.5, 1.5, 3.0];
    let balls = [0, 1, 2].map(|i| {
        let ball = LagrangianLinear::new([heights[i]], [0.0], [[1.0]]).F_ext([-9.81]);
        model.add(&format!("ball{i}"), ball).unwrap()
    });
    let law = || Law::multiple_impact(0.5, 1.0);
    let mut floor = LagrangianLinearRelation::new([[1.0]]);
    floor.b = Some(vec![-0.5]);
    model.connect("floor", floor, law(), &[balls[0]]).unwrap();
    for i in 0..2 {
        let mut gap = LagrangianLinearRelation::new([[-1.0, 1.0]]);
        gap.b = Some(vec![-1.0]);
        let name = format!("contact{i}");
        model.connect(&name, gap, law(), &[balls[i], balls[i + 1]]).unwrap();
    }
    let h = 1e-3;
    let mut sim = TimeStepping::new(model, h, [MoreauJean::default().into()]).unwrap();
    let mut taken = 0.0;
    for _ in 0..4000 {
        sim.step().unwrap();
        let ledger = sim.ledger().unwrap();
        // in a step with an impact forces act after it: they are of the size g h
        assert!(ledger.contact() >= taken - (9.81 * h).powi(2), "an impact gave energy");
        within("the scheme takes nothing", ledger.numerical.abs(), 1e-9);
        taken = ledger.contact();
    }
    let run = sim.run(5.0).unwrap();
    for (k, name) in ["floor", "contact0", "contact1"].into_iter().enumerate() {
        let carried = run.signal(&format!("{name}.lam")).unwrap();
        let weight = (3 - k) as f64 * 9.81 * h;
        within(name, (carried.last().unwrap() - weight).abs(), 1e-8);
    }
}

/// Two balls on rods: the joints hold while the impact goes on.
#[test]
fn joints_hold_in_an_impact() {
    let mut model = Model::new("pendulums");
    let M = Matrix::identity(2);
    // hung at height 1, one radius apart; the first one comes with 1
    let first = model.add("first", LagrangianLinear::new([0.0, 0.0], [1.0, 0.0], M.clone()));
    let second = model.add("second", LagrangianLinear::new([1.0, 0.0], [0.0, 0.0], M));
    let (first, second) = (first.unwrap(), second.unwrap());
    let rod = LagrangianLinearRelation::new([[0.0, 1.0]]);
    model.connect("rod1", rod.clone(), Law::Equality, &[first]).unwrap();
    model.connect("rod2", rod, Law::Equality, &[second]).unwrap();
    // a slanted contact would lift the second ball
    let (c, s) = (0.8, 0.6);
    let mut gap = LagrangianLinearRelation::new([[-c, -s, c, s]]);
    gap.b = Some(vec![-c]);
    model.connect("contact", gap, Law::multiple_impact(0.5, 1.0), &[first, second]).unwrap();
    let mut sim = TimeStepping::new(model, 1e-3, [MoreauJean::default().into()]).unwrap();
    sim.step().unwrap();
    let (v1, v2) = (sim.v(first).unwrap().to_vec(), sim.v(second).unwrap().to_vec());
    // only the horizontal part moves: u = c (v₂ − v₁) goes from −c to c/2
    for (v, exact) in [(v1[0], 0.25), (v2[0], 0.75), (v1[1], 0.0), (v2[1], 0.0)] {
        within("velocity", (v - exact).abs(), 1e-9);
    }
    let lam = sim.lam(sim.model().interaction_id("rod2").unwrap())[0];
    within("impulse of the rod", (lam + 0.75 * s / c).abs(), 1e-9);
}

#[test]
fn only_moreau_jean_knows_it() {
    let others: [Integrator; 4] = [
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
        MoreauJeanBilbao::default().into(),
    ];
    for integrator in others {
        let model = row(&[1.0; 2], |_| Law::multiple_impact(1.0, 1.0));
        let error = TimeStepping::new(model, 0.1, [integrator]).unwrap_err();
        assert!(matches!(error, SimError::Unsuited { .. }), "{error}");
    }
}

#[test]
fn bad_springs_are_refused() {
    for (e, stiffness, exponent, what) in [
        (1.5, 1.0, 1.5, "e"),
        (0.5, 0.0, 1.5, "stiffness"),
        (0.5, f64::NAN, 1.5, "stiffness"),
        (0.5, 1.0, 0.5, "exponent"),
    ] {
        let mut model = Model::new("ball");
        let ball = model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]])).unwrap();
        let law = Law::MultipleImpact { e, stiffness, exponent };
        let relation = LagrangianLinearRelation::new([[1.0]]);
        let error = model.connect("floor", relation, law, &[ball]).unwrap_err();
        assert!(error.to_string().contains(&format!("`{what}`")), "{error}");
    }
}
