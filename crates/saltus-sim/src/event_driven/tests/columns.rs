//! Columns of balls of any mass and restitution: several contacts accumulate at once, and elastic ones
//! never.

use super::*;

/// Numbers between 0 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A coefficient of restitution, at times 0 or 1.
    fn restitution(&mut self) -> f64 {
        match self.next() {
            e if e < 0.2 => 0.0,
            e if e > 0.9 => 1.0,
            e => e,
        }
    }
}

/// One to four balls above each other, and the energy that they have.
fn column(random: &mut Random) -> (Model, f64) {
    let n = 1 + (random.next() * 4.0) as usize;
    let mut model = Model::new("column");
    let (mut ids, mut energy) = (Vec::new(), 0.0);
    for k in 0..n {
        let m = 0.5 + random.next();
        let q = 0.3 + k as f64 + 0.4 * random.next();
        let v = 4.0 * (random.next() - 0.5);
        energy += 0.5 * m * v * v + m * 9.81 * q;
        let ball = LagrangianLinear::new([q], [v], [[m]]).F_ext([-9.81 * m]);
        ids.push(model.add(&format!("ball{k}"), ball).unwrap());
    }
    let law = Law::newton_impact(random.restitution());
    model.connect("gap0", LagrangianLinearRelation::new([[1.0]]), law, &ids[..1]).unwrap();
    for k in 1..n {
        let law = Law::newton_impact(random.restitution());
        let gap = LagrangianLinearRelation::new([[-1.0, 1.0]]).b([-0.1]);
        model.connect(&format!("gap{k}"), gap, law, &ids[k - 1..=k]).unwrap();
    }
    (model, energy)
}

#[test]
fn columns_come_to_an_end() {
    let mut random = Random(3);
    for case in 0..60 {
        let (model, energy) = column(&mut random);
        let n = model.systems().len();
        let mut sim = driven(model, 1e-9, 1e-11);
        let run = sim.run(3.0).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(run.stats.steps < 10_000, "{case}: {} steps", run.stats.steps);
        for k in 0..n {
            let gap = run.signal(&format!("gap{k}.y")).unwrap();
            let deepest = gap.into_iter().fold(0.0, f64::min);
            assert!(deepest > -1e-11, "{case}: {deepest}");
        }
        let numerical = sim.ledger().unwrap().numerical;
        assert!(numerical.abs() < 1e-9 * energy, "{case}: {numerical} of {energy}");
    }
}

/// A puck that bounces and slides at once keeps its way along the floor when it stops bouncing.
#[test]
fn a_bouncing_puck_goes_on_sliding() {
    for (mu, v) in [(0.1, 20.0), (1e-5, 1e-3)] {
        let (e, g) = (0.5, 9.81);
        let mut model = Model::new("puck");
        let puck = LagrangianLinear::new([0.0, 1.0], [v, 0.0], Matrix::identity(2));
        let id = model.add("puck", puck.F_ext([0.0, -g])).unwrap();
        let floor = LagrangianLinearRelation::new([[0.0, 1.0], [1.0, 0.0]]);
        model.connect("floor", floor, Law::impact_friction(e, mu), &[id]).unwrap();
        let mut sim = driven(model, 1e-10, 1e-12);
        let run = sim.run(3.0).unwrap();
        assert_eq!(times(&sim, EventKind::Accumulation).len(), 1, "{:?}", sim.events());
        // friction takes μ of all that the floor gives upwards, whatever the bounces are
        let along = last::<2>(&run, "puck.v")[0];
        let exact = v - mu * g * 3.0;
        assert!((along - exact).abs() < 1e-8, "{along} for {exact}");
    }
}
