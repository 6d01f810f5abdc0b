//! Where energy goes, beside closed forms: impacts, friction and damping apart, for linear models
//! with kept matrices and for the same models by Newton's method, by every scheme.

use crate::support::within;
use saltus::prelude::*;
use saltus::sim::Ledger;

/// The schemes for mechanics that these models allow.
fn schemes() -> [Integrator; 8] {
    let velocity = D1MinusLinear { variant: Variant::Velocity, ..Default::default() };
    [
        MoreauJean::default().into(),
        MoreauJean { theta: 1.0, ..Default::default() }.into(),
        MoreauJean { projection: Some(Projection::Direct), ..Default::default() }.into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
        velocity.into(),
        MoreauJeanBilbao::default().into(),
    ]
}

/// `M v̇ + C v + K q = F` as a linear system, or as one of functions.
fn system(
    linear: bool,
    start: (&[f64], &[f64]),
    [m, c, k]: [f64; 3],
    force: &[f64],
) -> saltus::model::System {
    let ((q0, v0), n) = (start, start.0.len());
    let mut M = Matrix::identity(n);
    M.scale(m);
    let of = |x: f64| {
        let mut A = Matrix::identity(n);
        A.scale(x);
        A
    };
    if linear {
        let system = LagrangianLinear::new(q0, v0, M).C(of(c)).K(of(k));
        return system.F_ext(Operator::constant(n, 1, force.to_vec())).into();
    }
    let F_int = Operator::vector(n, move |at, out| {
        for (out, (q, v)) in out.iter_mut().zip(at.first.iter().zip(at.second)) {
            *out = c * v + k * q;
        }
    });
    let system = Lagrangian::new(q0, v0, M).F_int(F_int);
    system.F_ext(Operator::constant(n, 1, force.to_vec())).into()
}

/// The ledger and the position at the end.
fn run(model: &Model, h: f64, until: f64, scheme: &Integrator) -> Option<(Ledger, Vec<f64>)> {
    let mut sim = TimeStepping::new(model.clone(), h, [scheme.clone()]).ok()?;
    sim.run(until).ok()?;
    let id = model.system_id("body").unwrap();
    Some((sim.ledger()?, sim.q(id).unwrap().to_vec()))
}

/// An impact takes `½ m v² (1 − e²)`, whatever the scheme.
#[test]
fn impact() {
    let (m, v, e) = (2.0, 3.0, 0.6);
    for linear in [true, false] {
        let mut model = Model::new("impact");
        let body = system(linear, (&[0.5], &[-v]), [m, 0.0, 0.0], &[0.0]);
        let body = model.add("body", body).unwrap();
        let wall = LagrangianLinearRelation::new([[1.0]]);
        model.connect("wall", wall, Law::newton_impact(e), &[body]).unwrap();
        let mut served = 0;
        for scheme in schemes() {
            let Some((ledger, _)) = run(&model, 1e-3, 0.3, &scheme) else { continue };
            served += 1;
            let before = 0.5 * m * v * v;
            let taken = match scheme {
                // the velocity after it depends on where in the step it was
                Integrator::SchatzmanPaoli(_) => before - ledger.kinetic,
                _ => before * (1.0 - e * e),
            };
            let what = format!("impact, {}, linear: {linear}", scheme.name());
            within(&what, (ledger.impact - taken).abs() / before, 1e-12);
            assert_eq!([ledger.work, ledger.damping, ledger.friction], [0.0; 3], "{what}");
            within(&format!("{what}: balance"), ledger.numerical.abs() / before, 1e-12);
        }
        assert!(served >= 7, "{served}");
    }
}

/// A block that slides a way `d` loses `μ m g d` to friction, and nothing else.
#[test]
fn friction() {
    let (m, g, mu, v, h) = (2.0, 9.81, 0.3, 2.0, 1e-3);
    for linear in [true, false] {
        let mut model = Model::new("sliding");
        let body = system(linear, (&[0.0, 0.0], &[0.0, v]), [m, 0.0, 0.0], &[-m * g, 0.0]);
        let body = model.add("body", body).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0, 0.0], [0.0, 1.0]]);
        model.connect("floor", floor, Law::impact_friction(0.0, mu), &[body]).unwrap();
        let start = 0.5 * m * v * v;
        for scheme in schemes() {
            for until in [0.3, 1.5] {
                let Some((ledger, q)) = run(&model, h, until, &scheme) else { continue };
                let what = format!("friction, {}, linear: {linear}, {until}", scheme.name());
                let way = mu * m * g * q[1];
                within(&what, (ledger.friction - way).abs() / start, 2.0 * h);
                if until > 1.0 {
                    within(&what, (ledger.friction - start).abs() / start, 2.0 * h);
                    within(&what, (way - start).abs() / start, 5.0 * h);
                }
                within(&format!("{what}: impact"), ledger.impact.abs() / start, 2.0 * h);
                assert_eq!(ledger.damping, 0.0, "{what}");
                within(&format!("{what}: balance"), ledger.numerical.abs() / start, 2.0 * h);
            }
        }
    }
}

/// A damped oscillation loses `∫ c v² dt`.
#[test]
fn damping() {
    let (m, c, k, until) = (1.0, 0.4, 9.0, 3.0);
    // q = e^{−σt} (cos ωt + σ/ω sin ωt)
    let sigma = 0.5 * c / m;
    let omega = f64::sqrt(k / m - sigma * sigma);
    let (sin, cos) = (omega * until).sin_cos();
    let decay = f64::exp(-sigma * until);
    let q = decay * (cos + sigma / omega * sin);
    let v = -decay * (omega + sigma * sigma / omega) * sin;
    let (start, end) = (0.5 * k, 0.5 * (m * v * v + k * q * q));
    for linear in [true, false] {
        let mut model = Model::new("oscillator");
        let body = system(linear, (&[1.0], &[0.0]), [m, c, k], &[0.0]);
        model.add("body", body).unwrap();
        for scheme in schemes() {
            let error = |h: f64| {
                let (ledger, _) = run(&model, h, until, &scheme)?;
                let what = format!("{}, linear: {linear}", scheme.name());
                if scheme == MoreauJean::default().into() {
                    // without a potential, what is in the spring is work that was done
                    let open = ledger.numerical.abs() / start;
                    within(&format!("{what}: balance"), open, 1e-10);
                }
                assert_eq!([ledger.impact, ledger.friction], [0.0; 2], "{what}");
                let stored = if linear { ledger.potential } else { 0.5 * k * q * q };
                within(&what, (ledger.kinetic + stored - end).abs() / start, 20.0 * h);
                Some((ledger.damping - (start - end)).abs() / start)
            };
            let (Some(coarse), Some(fine)) = (error(4e-3), error(2e-3)) else { continue };
            let what = format!("damping, {}, linear: {linear}", scheme.name());
            within(&what, fine, 2e-2); // θ = 1: damped by the scheme as well
            assert!(fine < 0.6 * coarse || fine < 1e-6, "{what}: {coarse:e}, {fine:e}");
        }
    }
}

/// The same model by kept matrices and by Newton's method: the same ledger, but for what it can
/// know of a potential.
#[test]
fn linear_and_newton_alike() {
    let mut ledgers = Vec::new();
    for linear in [true, false] {
        let mut model = Model::new("all at once");
        let start: (&[f64], &[f64]) = (&[0.2, 0.0], &[0.0, 1.0]);
        let body = system(linear, start, [1.5, 0.3, 0.0], &[-9.0, 0.5]);
        let body = model.add("body", body).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0, 0.0], [0.0, 1.0]]);
        model.connect("floor", floor, Law::impact_friction(0.5, 0.2), &[body]).unwrap();
        ledgers.push(run(&model, 1e-3, 1.0, &MoreauJean::default().into()).unwrap().0);
    }
    let [a, b] = [ledgers[0].to_array(), ledgers[1].to_array()];
    for (name, (a, b)) in Ledger::NAMES.iter().zip(a.iter().zip(b)) {
        within(name, (a - b).abs(), 1e-9);
    }
    assert!(ledgers[0].impact > 0.1 && ledgers[0].friction > 0.1 && ledgers[0].damping > 0.1);
}
