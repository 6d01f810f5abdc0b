//! Many beads above each other.

use super::driven;
use crate::run::EventKind;
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

#[test]
fn debug_column() {
    let n: usize = std::env::var("N").unwrap().parse().unwrap();
    let until: f64 = std::env::var("T").unwrap().parse().unwrap();
    let mut sim = driven(column(n, 1e-4, 0.9), 1e-9, 1e-11);
    let clock = std::time::Instant::now();
    let result = sim.run(until);
    let kinds = [EventKind::Impact, EventKind::LiftOff, EventKind::Accumulation];
    let counts = kinds.map(|kind| sim.events().iter().filter(|e| e.kind == kind).count());
    eprintln!(
        "{n} {until}: {counts:?} {:?} {:?}",
        result.map(|r| r.stats).map_err(|e| e.source),
        clock.elapsed()
    );
    for event in sim.events().iter().rev().take(12) {
        eprintln!("{} {:?} {}", event.time, event.kind, event.interaction);
    }
}
