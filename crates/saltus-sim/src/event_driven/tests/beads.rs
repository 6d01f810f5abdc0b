//! Many beads: impacts one after the other, and at once.

use super::{driven, last};
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
