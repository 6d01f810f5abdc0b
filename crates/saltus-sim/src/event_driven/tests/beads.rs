//! Many beads: impacts one after the other, and at once.

use super::{driven, last};
use crate::run::EventKind;
use crate::{RunOptions, TimeStepping};
use saltus_model::*;

/// Beads of unit mass above each other, so far apart, that fall with a metre a second.
fn column(n: usize, gap: f64, e: f64) -> Model {
    let mut model = Model::new("column");
    let law = Law::newton_impact(e);
    let mut below = None;
    for k in 0..n {
        let bead = LagrangianLinear::new([(k + 1) as f64 * gap], [-1.0], [[1.0]]).F_ext([-9.81]);
        let bead = model.add(&format!("bead{k}"), bead).unwrap();
        let name = format!("gap{k}");
        match below {
            None => {
                let floor = LagrangianLinearRelation::new([[1.0]]);
                model.connect(&name, floor, law.clone(), &[bead]).unwrap();
            }
            Some(below) => {
                let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]);
                model.connect(&name, gap, law.clone(), &[below, bead]).unwrap();
            }
        }
        below = Some(bead);
    }
    model
}

/// Beads in a row that touch; the first has a velocity of one.
fn row(n: usize, e: f64) -> Model {
    let mut model = Model::new("row");
    let mut before = None;
    for k in 0..n {
        let bead = LagrangianLinear::new([k as f64], [f64::from(u8::from(k == 0))], [[1.0]]);
        let bead = model.add(&format!("bead{k}"), bead).unwrap();
        if let Some(before) = before {
            let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
            let law = Law::newton_impact(e);
            model.connect(&format!("gap{k}"), gap, law, &[before, bead]).unwrap();
        }
        before = Some(bead);
    }
    model
}

/// Newton's law for a thousand contacts at one instant: `v⁺ = −e v⁻ + (1 + e) V`, with `V` the
/// nearest velocity that no contact forbids, which is the mean.
#[test]
fn a_thousand_contacts_at_once() {
    for e in [1.0, 0.5] {
        let n = 1000;
        let mut sim = driven(row(n, e), 1e-9, 1e-11);
        let run = sim.run(0.0).unwrap();
        let v: Vec<f64> = (0..n).map(|k| last::<1>(&run, &format!("bead{k}.v"))[0]).collect();
        let mean = (1.0 + e) / n as f64;
        assert!((v[0] - (mean - e)).abs() < 1e-9, "{}", v[0]);
        assert!(v[1..].iter().all(|v| (v - mean).abs() < 1e-9));
        let momentum: f64 = v.iter().sum();
        assert!((momentum - 1.0).abs() < 1e-9, "{momentum}");
        let energy: f64 = v.iter().map(|v| v * v).sum();
        // Moreau: the share 1 − e² of what the mean does not have is lost
        let left = 1.0 - (1.0 - e * e) * (1.0 - 1.0 / n as f64);
        assert!((energy - left).abs() < 1e-9, "{energy}");
        // all but the first go on along each other, touching, without a force and without an event
        let run = sim.run(1.0).unwrap();
        assert_eq!(sim.events().len(), n - 1);
        for k in 1..n {
            let q = last::<1>(&run, &format!("bead{k}.q"))[0];
            assert!((q - k as f64 - mean).abs() < 1e-9, "{k}: {q}");
        }
    }
}

/// Bodies that touch without a force, at rest or under way: nothing ever happens.
#[test]
fn touching_without_a_force() {
    for (n, v, a) in [(2, 0.0, 0.0), (2, 0.3, 0.0), (30, 0.3, 0.7), (30, -0.1, -0.7)] {
        let mut model = Model::new("row");
        let mut before = None;
        for k in 0..n {
            let m = 1.0 + 0.1 * k as f64;
            let bead = LagrangianLinear::new([0.1 * k as f64], [v], [[m]]).F_ext([m * a]);
            let bead = model.add(&format!("bead{k}"), bead).unwrap();
            if let Some(before) = before {
                let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-0.1]);
                let law = Law::newton_impact(0.5);
                model.connect(&format!("gap{k}"), gap, law, &[before, bead]).unwrap();
            }
            before = Some(bead);
        }
        let mut sim = driven(model, 1e-9, 1e-11);
        let run = sim.run(5.0).unwrap();
        assert!(sim.events().is_empty() && run.stats.steps < 20, "{:?}", sim.events());
        for k in 0..n {
            let q = last::<1>(&run, &format!("bead{k}.q"))[0];
            let exact = 0.1 * k as f64 + 5.0 * v + 12.5 * a;
            assert!((q - exact).abs() < 1e-9, "{k}: {q} for {exact}");
        }
    }
}

/// A force that is small, but not round-off, does open a contact.
#[test]
fn a_little_force_opens_a_contact() {
    let force = 1e-6;
    let mut model = Model::new("pair");
    let mut ids = Vec::new();
    for (k, f) in [-force, force].into_iter().enumerate() {
        let bead = LagrangianLinear::new([k as f64], [0.0], [[1.0]]).F_ext([f]);
        ids.push(model.add(&format!("bead{k}"), bead).unwrap());
    }
    let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-1.0]);
    model.connect("gap", gap, Law::newton_impact(0.5), &ids).unwrap();
    let run = driven(model, 1e-9, 1e-11).run(10.0).unwrap();
    let gap = last::<1>(&run, "gap.y")[0];
    assert!((gap - force * 100.0).abs() < 1e-9, "{gap}");
}

/// The lowest bead comes back from the floor and meets the next one, and so on upwards: impacts of
/// two bodies each, in the order and at the instants of their parabolas.
#[test]
fn a_column_of_a_thousand_beads() {
    let (n, gap, e) = (1000, 1e-4, 0.9);
    let mut sim = driven(column(n, gap, e), 1e-9, 1e-11);
    let run = sim.run(1e-3).unwrap();
    // relative to the free fall all beads move uniformly
    let mut beads: Vec<(f64, f64)> = (0..n).map(|k| ((k + 1) as f64 * gap, -1.0)).collect();
    let (g, mut t, mut exact) = (9.81, 0.0, Vec::new());
    loop {
        // the next impact: of a pair, or of the lowest bead with the floor
        let (q, v) = (beads[0].0 - 0.5 * g * t * t, beads[0].1 - g * t);
        let floor = (v + (v * v + 2.0 * g * q).sqrt()) / g;
        let mut next = (if floor > 1e-12 { floor } else { f64::INFINITY }, 0);
        for k in 1..n {
            let closing = beads[k - 1].1 - beads[k].1;
            let apart = beads[k].0 - beads[k - 1].0;
            if closing > 0.0 && apart / closing < next.0 {
                next = (apart / closing, k);
            }
        }
        let (after, k) = next;
        if t + after > 1e-3 {
            break;
        }
        t += after;
        beads.iter_mut().for_each(|(q, v)| *q += *v * after);
        if k == 0 {
            beads[0].1 = -e * (beads[0].1 - g * t) + g * t;
        } else {
            let (a, b) = (beads[k - 1].1, beads[k].1);
            let (mean, half) = (0.5 * (a + b), 0.5 * e * (a - b));
            (beads[k - 1].1, beads[k].1) = (mean - half, mean + half);
            let middle = 0.5 * (beads[k - 1].0 + beads[k].0);
            (beads[k - 1].0, beads[k].0) = (middle, middle);
        }
        exact.push((t, k));
    }
    assert!(exact.len() > 40, "{}", exact.len());
    assert_eq!(sim.events().len(), exact.len());
    for (event, (t, k)) in sim.events().iter().zip(&exact) {
        assert_eq!(event.interaction, format!("gap{k}"));
        assert!((event.time - t).abs() < 1e-12, "{} for {t}", event.time);
    }
    for (k, (_, v)) in beads.iter().enumerate() {
        let found = last::<1>(&run, &format!("bead{k}.v"))[0];
        assert!((found - (v - g * 1e-3)).abs() < 1e-11, "{k}: {found}");
    }
}

/// A few beads bounce on each other and on the floor until they rest, their weights adding up.
#[test]
fn a_column_comes_to_rest() {
    let n = 5;
    let mut sim = driven(column(n, 1e-3, 0.5), 1e-9, 1e-11);
    let run = sim.run(1.0).unwrap();
    for k in 0..n {
        let v = last::<1>(&run, &format!("bead{k}.v"))[0];
        let lam = last::<1>(&run, &format!("gap{k}.lam"))[0];
        assert!(v.abs() < 1e-11, "{k}: {v}");
        assert!((lam - 9.81 * (n - k) as f64).abs() < 1e-7, "{k}: {lam}");
    }
    let gaps = (0..n).flat_map(|k| run.signal(&format!("gap{k}.y")).unwrap().to_vec());
    let deepest = gaps.fold(0.0_f64, f64::min);
    assert!(deepest > -1e-11, "{deepest}");
}

/// A long column falls, bounces, and comes to rest: all gaps closed, and every contact carries what
/// is above it.
#[test]
fn a_long_column_comes_to_rest() {
    let (n, until) = (200, 3.0);
    let model = column(n, 1e-3, 0.9);
    let mut sim = driven(model, 1e-9, 1e-11);
    let options = RunOptions { samples: Some(&[0.0, until]), ..RunOptions::default() };
    let run = sim.run_with(until, options).unwrap_or_else(|error| panic!("{error}"));
    assert!(run.events.len() > 50_000, "{}", run.events.len());
    assert!(run.stats.worst_penetration < 1e-14, "{}", run.stats.worst_penetration);
    let ledger = sim.ledger().unwrap();
    assert!(ledger.numerical.abs() < 1e-8 * ledger.work, "{ledger:?}");
    // what falls down is taken by impacts
    let energy = (0..n).map(|k| 0.5 + 9.81e-3 * (k + 1) as f64).sum::<f64>();
    assert!((ledger.impact - energy).abs() < 1e-8 * energy, "{ledger:?}");
    for k in 0..n {
        let v = last::<1>(&run, &format!("bead{k}.v"))[0];
        let lam = last::<1>(&run, &format!("gap{k}.lam"))[0];
        let y = last::<1>(&run, &format!("gap{k}.y"))[0];
        assert!(v.abs() < 1e-11 && y.abs() < 1e-11, "{k}: {v} {y}");
        assert!((lam - 9.81 * (n - k) as f64).abs() < 1e-7, "{k}: {lam}");
    }
}

/// The same of a shorter one, as by time-stepping with short steps.
#[test]
fn a_column_as_by_time_stepping() {
    let (n, h) = (20, 1e-4);
    let model = column(n, 1e-3, 0.5);
    let run = driven(model.clone(), 1e-9, 1e-11).run(1.0).unwrap();
    let mut stepped = TimeStepping::new(model, h, []).unwrap();
    let steps = stepped.run(1.0).unwrap_or_else(|error| panic!("{error}"));
    for k in 0..n {
        let lam = last::<1>(&run, &format!("gap{k}.lam"))[0];
        let impulse = last::<1>(&steps, &format!("gap{k}.lam"))[0];
        assert!((impulse / h - lam).abs() < 1e-6 * lam, "{k}: {impulse}");
        let y = last::<1>(&steps, &format!("gap{k}.y"))[0];
        assert!((y - last::<1>(&run, &format!("gap{k}.y"))[0]).abs() < 10.0 * h, "{k}: {y}");
    }
}

/// Numbers between 0 and 1.
fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

/// Balls of any mass above each other, with coefficients of restitution between these.
fn any_column(seed: &mut u64, least: f64, most: f64) -> (Model, f64) {
    let n = 8 + (random(seed) * 8.0) as usize;
    let mut model = Model::new("column");
    let (mut before, mut energy) = (None, 0.0);
    for k in 0..n {
        let m = 0.5 + random(seed);
        let q = 0.1 * (k as f64 + 0.2 + 0.5 * random(seed));
        let v = 2.0 * (random(seed) - 0.5);
        energy += 0.5 * m * v * v + m * 9.81 * q;
        let ball = LagrangianLinear::new([q], [v], [[m]]).F_ext([-9.81 * m]);
        let ball = model.add(&format!("ball{k}"), ball).unwrap();
        let e = (least + (most - least) * 1.2 * (random(seed) - 0.1)).clamp(least, most);
        let (law, name) = (Law::newton_impact(e), format!("gap{k}"));
        match before {
            None => model.connect(&name, LagrangianLinearRelation::new([[1.0]]), law, &[ball]),
            Some(before) => {
                let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-0.03]);
                model.connect(&name, gap, law, &[before, ball])
            }
        }
        .unwrap();
        before = Some(ball);
    }
    (model, energy)
}

/// Body by body, and all at once: the same impacts at the same instants, then the same rest.
#[test]
fn body_by_body_and_all_at_once() {
    let mut seed = 11;
    for case in 0..8 {
        let (model, _) = any_column(&mut seed, 0.3, 0.8);
        let mut local = driven(model.clone(), 1e-10, 1e-12);
        let mut whole = driven(model, 1e-10, 1e-12);
        whole.flight = None;
        assert!(local.flight.is_some());
        let (a, b) = (local.run(4.0).unwrap(), whole.run(4.0).unwrap());
        assert!(a.events.len() > 100, "{case}: {}", a.events.len());
        for (a, b) in a.events.iter().zip(&b.events).take(60) {
            assert_eq!((a.kind, &a.interaction), (b.kind, &b.interaction), "{case}");
            assert!((a.time - b.time).abs() < 1e-10, "{case}: {} for {}", a.time, b.time);
        }
        for path in ["ball0.q", "ball5.q", "ball7.q", "gap0.lam", "gap3.lam"] {
            let (a, b) = (last::<1>(&a, path)[0], last::<1>(&b, path)[0]);
            assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{case}: {path} {a} for {b}");
        }
    }
}

/// Contacts that bounce for long and plastic ones: it comes to an end, and energy is accounted for.
#[test]
fn long_columns_come_to_an_end() {
    let mut seed = 5;
    for case in 0..20 {
        let (model, energy) = any_column(&mut seed, 0.0, 0.95);
        let n = model.systems().len();
        let mut sim = driven(model, 1e-9, 1e-11);
        let run = sim.run(3.0).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(run.stats.steps < 100_000, "{case}: {} steps", run.stats.steps);
        for k in 0..n {
            let gap = run.signal(&format!("gap{k}.y")).unwrap();
            let deepest = gap.into_iter().fold(0.0, f64::min);
            assert!(deepest > -1e-11, "{case}: {deepest}");
        }
        let numerical = sim.ledger().unwrap().numerical;
        assert!(numerical.abs() < 1e-9 * energy, "{case}: {numerical} of {energy}");
    }
}

/// Where samples lie changes nothing; what they show is on the parabolas.
#[test]
fn samples_leave_no_trace_in_a_column() {
    let model = column(20, 1e-2, 0.7);
    let all = driven(model.clone(), 1e-9, 1e-11).run(0.5).unwrap();
    let many: Vec<f64> = (0..=1000).map(|k| 0.5 * k as f64 / 1000.0).collect();
    for samples in [&many[..], &[0.1], &[]] {
        let mut sim = driven(model.clone(), 1e-9, 1e-11);
        let options = RunOptions { samples: Some(samples), ..RunOptions::default() };
        let run = sim.run_with(0.5, options).unwrap();
        assert_eq!((&run.events, run.stats.steps), (&all.events, all.stats.steps));
        assert_eq!(run.frames.time, samples);
        // the highest bead falls freely until the first impact above it
        let top = all.events.iter().find(|event| event.interaction == "gap19").unwrap().time;
        for (t, q) in samples.iter().zip(run.signal("bead19.q").unwrap()) {
            let exact = 0.2 - t - 0.5 * 9.81 * t * t;
            assert!(*t > top || (q - exact).abs() < 1e-13, "{t}: {q} for {exact}");
        }
        let end = run.frames.time.last() == Some(&0.5);
        assert!(!end || last::<1>(&run, "bead3.q") == last::<1>(&all, "bead3.q"));
    }
}

/// A scheduled event takes the floor away, another gives it back; a condition is watched for as well.
#[test]
fn events_of_the_model_in_a_column() {
    for condition in [false, true] {
        let mut model = column(12, 1e-2, 0.6);
        model.add_event(Event::at([1.0]).disconnect("gap0").named("open")).unwrap();
        model.add_event(Event::at([1.5]).connect("gap0").named("close")).unwrap();
        if condition {
            model.add_event(Event::when("bead0.q[0] < -0.5").named("deep")).unwrap();
        }
        let mut sim = driven(model, 1e-9, 1e-11);
        let run = sim.run(2.0).unwrap();
        let times: Vec<f64> =
            run.events.iter().filter(|event| !event.name.is_empty()).map(|e| e.time).collect();
        assert_eq!(times.len(), 2 + usize::from(condition), "{times:?}");
        let deep = 1.0 + (2.0 * 0.5 / 9.81_f64).sqrt();
        assert!(!condition || (times[1] - deep).abs() < 1e-9, "{times:?}");
        // all of them fell together, and were thrown up again
        let (q, fall) = (last::<1>(&run, "bead7.q")[0], 0.5 * 9.81 * 0.25);
        assert!((q - (0.6 * 9.81 * 0.25 - 2.0 * fall)).abs() < 1e-8, "{q}");
    }
}

/// One contact with friction among many without: what touches it is told by all laws together.
#[test]
fn friction_among_many() {
    let mut model = Model::new("balls");
    for k in 0..10 {
        let ball = LagrangianLinear::new(
            [1.0 + 0.01 * k as f64, 0.0],
            [0.0, 1.0],
            [[1.0, 0.0], [0.0, 1.0]],
        );
        let ball = model.add(&format!("ball{k}"), ball.F_ext([-9.81, 0.0])).unwrap();
        let law = match k {
            3 => Law::impact_friction(0.5, 0.1),
            _ => Law::newton_impact(0.5),
        };
        let floor = match k {
            3 => LagrangianLinearRelation::new([[1.0, 0.0], [0.0, 1.0]]),
            _ => LagrangianLinearRelation::new([[1.0, 0.0]]),
        };
        model.connect(&format!("floor{k}"), floor, law, &[ball]).unwrap();
    }
    let mut sim = driven(model, 1e-9, 1e-11);
    let run = sim.run(3.0).unwrap();
    for k in 0..10 {
        let [height, _] = last::<2>(&run, &format!("ball{k}.q"));
        let [_, along] = last::<2>(&run, &format!("ball{k}.v"));
        assert!(height.abs() < 1e-10, "{k}: {height}");
        let exact = if k == 3 { 0.0 } else { 1.0 };
        assert!((along - exact).abs() < 1e-8, "{k}: {along}");
    }
    let limits = run.events.iter().filter(|event| event.kind == EventKind::Accumulation).count();
    assert_eq!(limits, 10);
}
