//! Level 3: numbers that are known in closed form.

use crate::exact;
use crate::models::{self, G};
use crate::support::{checked_run, order_within, within};
use saltus::prelude::*;
use std::f64::consts::PI;

/// Times of the impacts: steps whose impulse is more than the weight's.
fn impacts(time: &[f64], lam: &[f64], weight: f64) -> Vec<usize> {
    (1..time.len()).filter(|&k| lam[k] > 2.0 * weight).collect()
}

#[test]
fn ball_impacts_and_comes_to_rest() {
    for radius in [0.0, 0.1] {
        let case = models::ball(radius, 5e-3);
        let run = checked_run(&case);
        let of = |signal| run.signal(signal).unwrap();
        let (t, q, v, lam) = (&run.frames.time, of("ball.q[0]"), of("ball.v[0]"), of("floor.lam"));
        let gap = 1.0 - radius;
        let (e, t1) = (0.9, (2.0 * gap / G).sqrt());
        let hits = impacts(t, &lam, G * case.h);
        // t_n = t1 (1 + 2 Σ e^i); each impact is found up to a step late or early, and every
        // flight inherits the error of the one before
        let mut exact = t1;
        for (n, &k) in hits.iter().take(8).enumerate() {
            within(
                &format!("ball, impact {n}, in steps"),
                (t[k] - exact).abs() / case.h,
                1.5 * (n + 1) as f64,
            );
            within("ball, restitution", (v[k] + e * v[k - 1]).abs(), 1e-13);
            exact += 2.0 * t1 * e.powi(n as i32 + 1);
        }
        // At rest the law v⁺ = −e v⁻ still lets the last velocity die out, step by step.
        let zeno = t1 * (1.0 + e) / (1.0 - e);
        for k in 0..t.len() {
            if t[k] > zeno + 0.1 {
                assert!(v[k].abs() <= G * case.h && (q[k] - radius).abs() <= G * case.h * case.h);
            }
            if t[k] > zeno + 1.4 {
                assert!(v[k].abs() <= 1e-12, "t = {}: v = {}", t[k], v[k]);
                assert!((lam[k] - G * case.h).abs() <= 1e-12);
            }
        }
        let deepest = q.iter().fold(0.0f64, |a, q| a.max(radius - q));
        assert_eq!(run.stats.worst_penetration, deepest);
        // nothing moves sideways or turns
        assert!(of("ball.q[1]").iter().chain(&of("ball.q[2]")).all(|&x| x == 0.0));
        let share = crate::support::ledgers(&run).last().unwrap().contact() / (G * gap);
        within("ball, energy taken by the floor", (share - 1.0).abs(), 1e-3);
    }
}

#[test]
fn zeno_times_of_the_ball() {
    let zeno = |gap: f64| (2.0 * gap / G).sqrt() * 1.9 / 0.1;
    assert!((zeno(0.9) - 8.138705800684269).abs() < 1e-12);
    assert!((zeno(1.0) - 8.578949178728887).abs() < 1e-12);
    assert_eq!(exact::ball(0.9, 0.9, 8.14), (0.0, 0.0));
    // e = 0.5: over at 1.3545709229571927; the scheme finds it to a few steps
    let mut model = Model::new("ball");
    let ball = model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-G])).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0]]);
    model.connect("floor", floor, Law::newton_impact(0.5), &[ball]).unwrap();
    let h = 1e-4;
    let run = TimeStepping::new(model, h, []).unwrap().run(2.0).unwrap();
    let v = run.signal("ball.v").unwrap();
    let moving = (0..v.len()).rev().find(|&k| v[k].abs() > G * h).unwrap();
    within("ball, e = 0.5, rest", (run.frames.time[moving] - 1.3545709229571927).abs(), 20.0 * h);
}

#[test]
fn beads_hit_the_floor_and_keep_their_momentum() {
    for (n, h, until) in [(10, 5e-4, 2.0), (1000, 1e-3, 0.6)] {
        let run = checked_run(&models::beads(n, h, until));
        let lam = run.signal("floor.lam").unwrap();
        let first = (0..lam.len()).find(|&k| lam[k] > 0.0).unwrap();
        let t = run.frames.time[first];
        within("beads, first impact, in steps", (t - 0.4283529368781193).abs() / h, 1.5);
        // Σ m v = Σ λ of the floor − n m g t
        let v: Vec<Vec<f64>> = (0..n).map(|i| run.signal(&format!("bead{i}.v")).unwrap()).collect();
        let mut pushed = 0.0;
        for (k, t) in run.frames.time.iter().enumerate() {
            pushed += lam[k];
            let momentum: f64 = v.iter().map(|v| v[k]).sum();
            let left = momentum - (pushed - n as f64 * G * t);
            assert!(left.abs() <= 1e-11 * n as f64 * G, "t = {t}: momentum is off by {left:e}");
        }
    }
    let mut exact = exact::Billiard::new(10);
    exact.advance(1.0);
    assert_eq!(exact.impacts.len(), 224);
}

/// All impacts of a step happen at once: the law of Moreau, not a sequence of pair impacts.
#[test]
fn three_balls_in_a_row() {
    let mut model = Model::new("three balls");
    let ids: Vec<SystemId> = [(0.0, 1.0), (1.0, 0.0), (2.0, 0.0)]
        .into_iter()
        .enumerate()
        .map(|(i, (q, v))| {
            model.add(&format!("ball{i}"), LagrangianLinear::new([q], [v], [[1.0]])).unwrap()
        })
        .collect();
    for i in 0..2 {
        let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
        let law = Law::newton_impact(1.0);
        model.connect(&format!("contact{i}"), gap, law, &ids[i..i + 2]).unwrap();
    }
    let mut sim = TimeStepping::new(model, 1e-3, []).unwrap();
    sim.step().unwrap();
    for (id, expected) in ids.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((sim.v(*id).unwrap()[0] - expected).abs() < 1e-14);
    }
    let ledger = sim.ledger().unwrap();
    assert!((ledger.kinetic - 0.5).abs() < 1e-14 && ledger.contact().abs() < 1e-14);
}

#[test]
fn rectifier_blocks_for_half_a_period() {
    let h = 1e-6;
    let run = checked_run(&models::rectifier(h));
    let (v, lam) = (run.signal("tank.x[0]").unwrap(), run.signal("diode.lam").unwrap());
    for k in 1..v.len() {
        assert!((lam[k] - v[k].max(0.0) / 1e3).abs() <= 1e-12, "step {k}");
    }
    let closes = (1..v.len()).find(|&k| v[k] < 0.0).unwrap();
    let opens = (closes..v.len()).find(|&k| v[k] > 0.0).unwrap();
    let blocked = (opens - closes) as f64 * h;
    within("rectifier, blocked half wave", (blocked - PI * 1e-4).abs(), 2.0 * h);
}

#[test]
fn bridge_gives_the_load_the_modulus() {
    let run = checked_run(&models::bridge(0.5, 1e-6));
    let of = |signal| run.signal(signal).unwrap();
    let (v, y, lam) = (of("tank.x[0]"), of("bridge.y[0]"), of("bridge.lam[2]"));
    for k in 1..v.len() {
        assert!((y[k] + lam[k] - v[k].abs() / 1e3).abs() <= 1e-13, "step {k}");
    }
}

#[test]
fn sliding_is_exact() {
    for h in [0.3, 0.1, 0.05, 0.0125] {
        let run = checked_run(&models::sliding_mode(h));
        let of = |signal| run.signal(signal).unwrap();
        let (s, lam) = (of("surface.y"), of("surface.lam"));
        let reach = (2.21 / h).ceil() as usize;
        for k in 1..s.len() {
            let t = run.frames.time[k];
            if k < reach {
                assert!((s[k] - (2.21 - t)).abs() <= 1e-12, "t = {t}: s = {}", s[k]);
                assert!((lam[k] + 1.0).abs() <= 1e-12);
            } else {
                assert!(s[k].abs() <= 1e-12, "t = {t}: s = {}", s[k]);
                // ṡ = c1 x₂ + ẋ₂ = α λ: the equivalent control is 0, but for the last rest of s
                let expected = if k == reach { -s[k - 1] / h } else { 0.0 };
                assert!((lam[k] - expected).abs() <= 1e-12, "t = {t}: λ = {}", lam[k]);
            }
        }
        let run = checked_run(&models::sign(h));
        let (x, lam) = (run.signal("point.x").unwrap(), run.signal("sign.lam").unwrap());
        let reach = (1.01 / h).ceil() as usize;
        for k in 1..x.len() {
            let exact = (1.01 - run.frames.time[k]).max(0.0);
            assert!((x[k] - exact).abs() <= 1e-14 || (k == reach && x[k].abs() < 1e-14));
            if k > reach {
                assert!(lam[k].abs() <= 1e-12);
            }
        }
    }
}

#[test]
fn spiral_ends_where_it_must() {
    for (start, zeno, z_end) in [([1.0, 1.0, 1.0], 1.0, 1.4), ([-4.0, 3.0, 0.0], 3.5, 2.6)] {
        for theta in [1.0, 0.5] {
            for h in [0.1, 0.07, 0.03, 0.01, 0.001] {
                let case = models::spiral(start, theta, h);
                let until = (10.0f64 / h).floor() * h;
                let run = checked_run(&models::Case { until, ..case });
                let of = |signal| run.signal(signal).unwrap();
                let (x, y, z) = (of("point.x[0]"), of("point.x[1]"), of("point.x[2]"));
                let what = format!("spiral from {start:?}, θ = {theta}, h = {h}");
                within(&what, (z.last().unwrap() - z_end).abs(), 1e-10);
                // |x| + |y| falls at rate 2, but for the steps that turn a corner
                let end = run.frames.time.iter().position(|&t| t > zeno + 20.0 * h).unwrap();
                let left = (end..x.len()).map(|k| x[k].abs() + y[k].abs()).fold(0.0, f64::max);
                within(&what, left, 1e-12);
            }
        }
    }
}

#[test]
fn lzc_turns_and_stops() {
    let h = 5e-4;
    let run = checked_run(&models::lzc(0.5, h));
    let of = |signal| run.signal(signal).unwrap();
    let (v, i, lam) = (of("circuit.x[0]"), of("circuit.x[1]"), of("zener.lam"));
    for (n, turn) in [17.0, -17.0, 7.0, -7.0, -3.0].into_iter().enumerate() {
        let k = (0.5 * n as f64 / h).round() as usize;
        within(&format!("LZC, turning point {n}"), (v[k] - turn).abs(), 1e-6);
    }
    for k in (2.0 / h) as usize + 2..v.len() {
        assert!(i[k].abs() <= 1e-12 && (v[k] + 3.0).abs() <= 1e-6 && (lam[k] + 3.0).abs() <= 1e-6);
    }
}

#[test]
fn ladder_conducts_and_settles() {
    let (n, S, C, D) = (3, 10.0, 1e-3, 1e-4);
    let case = models::ladder(n, 1e-3);
    let run = checked_run(&models::Case { until: 40.0, ..case });
    let (x, k) = (run.signal("ladder.x").unwrap(), run.signal("diodes.lam").unwrap());
    let rows = run.frames.len();
    for row in 1..rows {
        for i in 0..n {
            let of = |row: usize, j: usize| x[row * 2 * n + j];
            let current = k[row * n + i];
            assert!((current - of(row, n + i).max(0.0) / S).abs() <= 1e-12);
            // C u̇ − D v̇ = k
            let charge =
                C * (of(row, i) - of(row - 1, i)) - D * (of(row, n + i) - of(row - 1, n + i));
            assert!((charge - 1e-3 * current).abs() <= 1e-14, "row {row}, cell {i}");
        }
    }
    for i in 0..n {
        let w = x[(rows - 1) * 2 * n + i] + x[(rows - 1) * 2 * n + n + i];
        within("ladder, steady state", (w - 10.0).abs(), 1e-8);
        within("ladder, steady current", k[(rows - 1) * n + i].abs(), 1e-10);
    }
}

#[test]
fn dry_friction_stops_the_mass() {
    let case = models::dry_oscillator(1e-3);
    let run = checked_run(&case);
    let of = |signal| run.signal(signal).unwrap();
    let (x, v, lam) = (of("mass.q"), of("mass.v"), of("friction.lam"));
    within("dry friction, stop", (x.last().unwrap() - 0.6821789367236466).abs(), 1e-4);
    assert!((exact::dry_oscillator(50.0)[0] - 0.6821789367236466).abs() < 1e-12);
    within("dry friction, speed at rest", v.last().unwrap().abs(), 1e-12);
    // at rest friction balances the spring
    within("dry friction, force", (lam.last().unwrap() / case.h - x.last().unwrap()).abs(), 1e-9);
    // each half turn takes 2 of the amplitude
    let turns: Vec<f64> =
        (1..v.len() - 1).filter(|&k| v[k] * v[k + 1] < 0.0).map(|k| x[k].abs()).collect();
    assert!(turns.len() >= 5);
    for pair in turns.windows(2) {
        within("dry friction, loss a half turn", (pair[0] - pair[1] - 2.0).abs(), 5e-3);
    }

    // m = k = 1, F = 0.15, x0 = 1: rests at −0.1 after 3π
    let mut model = Model::new("Coulomb oscillator");
    let mass = LagrangianLinear::new([1.0], [0.0], [[1.0]]).K([[1.0]]);
    let id = model.add("mass", mass).unwrap();
    let relation = LagrangianLinearRelation::new([[1.0]]);
    model.connect("friction", relation, Law::relay(-0.15, 0.15), &[id]).unwrap();
    let h = 1e-3;
    let case = models::Case { model, h, until: 12.0, integrator: MoreauJean::default().into() };
    let run = checked_run(&case);
    let (x, v) = (run.signal("mass.q").unwrap(), run.signal("mass.v").unwrap());
    within("Coulomb oscillator, stop", (x.last().unwrap() + 0.1).abs(), 1e-5);
    let moving = (0..v.len()).rev().find(|&k| v[k].abs() > 1e-9).unwrap();
    within("Coulomb oscillator, time", (run.frames.time[moving] - 3.0 * PI).abs(), 3e-3);
}

#[test]
fn belt_sticks_then_slips_for_ever() {
    let case = models::belt(0.01);
    let run = checked_run(&case);
    let (q, v) = (run.signal("mass.q").unwrap(), run.signal("mass.v").unwrap());
    for (k, &t) in run.frames.time.iter().enumerate() {
        if t < 2.0 - case.h {
            assert!(v[k].abs() <= 1e-12, "t = {t}: slips at {}", v[k]);
        }
        let exact = exact::belt(t);
        assert!((q[k] + models::BELT * t - exact[0]).abs() <= 2e-4);
        assert!((v[k] + models::BELT - exact[1]).abs() <= 2e-4);
    }
}

/// Half period 2 ln φ, whatever the gain (Hamel's condition; see the example's model file).
#[test]
fn relay_oscillator_has_its_period() {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let mut errors = Vec::new();
    for h in [8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4] {
        let run = checked_run(&models::relay_oscillator(h));
        let y = run.signal("plant.x[0]").unwrap();
        let t = &run.frames.time;
        let up: Vec<f64> = (1..y.len())
            .filter(|&k| t[k] > 8.0 && y[k - 1] < 0.0 && y[k] >= 0.0)
            .map(|k| t[k - 1] - y[k - 1] * h / (y[k] - y[k - 1]))
            .collect();
        let period = (up.last().unwrap() - up[0]) / (up.len() - 1) as f64;
        errors.push((h, (period - 4.0 * golden.ln()).abs()));
    }
    within("relay oscillator, period", errors[3].1, 4e-3);
    order_within("relay oscillator, period", &errors, 0.6..=1.5);
}
