//! Contacts that are only touched, and dips below zero between two looks at an indicator.

use super::*;

/// The smallest of a signal.
fn least(run: &Run, path: &str) -> f64 {
    run.signal(path).unwrap().into_iter().fold(f64::INFINITY, f64::min)
}

/// Thrown so as to reach the ceiling, a little less, or a little more: neither through nor stuck.
#[test]
fn a_ball_that_just_touches_the_ceiling() {
    let (g, e, height): (f64, f64, f64) = (9.81, 0.5, 1.0);
    for excess in [-1e-3, -1e-6, -1e-9, -1e-12, -1e-15, 0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3] {
        let v0 = (2.0 * g * height * (1.0 + excess)).sqrt();
        let mut model = Model::new("ball");
        let ball = LagrangianLinear::new([0.0], [v0], [[1.0]]).F_ext([-g]);
        let ball = model.add("ball", ball).unwrap();
        let ceiling = LagrangianLinearRelation::new([[-1.0]]).b([height]);
        model.connect("ceiling", ceiling, Law::newton_impact(e), &[ball]).unwrap();
        let mut sim = driven(model, 1e-10, 1e-12);
        let run = sim.run(0.8).unwrap();
        assert!(least(&run, "ceiling.y") > -1e-12, "{excess:e}");
        // what is left of its velocity at the ceiling
        let u = (2.0 * g * height * excess).max(0.0).sqrt();
        let t1 = (v0 - u) / g;
        let exact = match u > 0.0 {
            true => height - e * u * (0.8 - t1) - 0.5 * g * (0.8 - t1).powi(2),
            false => v0 * 0.8 - 0.5 * g * 0.64,
        };
        // nothing tells a touch from a bounce with the velocity that round-off gives
        let allowed = if excess.abs() < 1e-11 { 1e-5 } else { 1e-9 };
        let q = last::<1>(&run, "ball.q")[0];
        assert!((q - exact).abs() < allowed, "{excess:e}: {q} for {exact}");
        let impacts = times(&sim, EventKind::Impact).len();
        assert!(impacts <= 1 && (impacts == 1 || excess < 1e-9), "{excess:e}: {impacts}");
        assert!(sim.events().len() <= 1 && run.stats.steps < 100, "{:?}", sim.events());
    }
}

/// `ẍ + 0.2 ẋ + x = F cos(0.8 t)` in its steady motion, with a wall at its amplitude.
#[test]
fn an_impact_oscillator_at_its_grazing_amplitude() {
    let (damping, omega) = (0.2, 0.8);
    let real = 1.0 - omega * omega;
    let imaginary = damping * omega;
    let amplitude = 1.0 / f64::hypot(real, imaginary);
    let phase = imaginary.atan2(real);
    let steady = |t: f64| amplitude * (omega * t - phase).cos();
    for (distance, touches) in [(1.0 + 1e-6, 0), (1.0, 1), (1.0 - 1e-3, 3)] {
        let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
        let force = Operator::formulas(1, 1, &["cos(0.8*t)"], &names, &[]).unwrap();
        let v0 = amplitude * omega * phase.sin();
        let mass = LagrangianLinear::new([steady(0.0)], [v0], [[1.0]]);
        let mass = mass.K([[1.0]]).C([[damping]]).F_ext(force);
        let mut model = Model::new("oscillator");
        let id = model.add("mass", mass).unwrap();
        let wall = LagrangianLinearRelation::new([[-1.0]]).b([distance * amplitude]);
        model.connect("wall", wall, Law::newton_impact(0.8), &[id]).unwrap();
        let mut sim = driven(model, 1e-10, 1e-12);
        let until = 100.0;
        let run = sim.run(until).unwrap();
        assert!(least(&run, "wall.y") > -1e-9, "{distance}");
        let impacts = times(&sim, EventKind::Impact).len();
        let far = (last::<1>(&run, "mass.q")[0] - steady(until)).abs();
        match touches {
            0 => assert!(impacts == 0 && far < 1e-9, "{impacts}, {far}"),
            1 => assert!(far < 1e-4, "{impacts}, {far}"),
            _ => assert!(impacts >= touches, "{impacts}"),
        }
    }
}

/// A bump of the floor that a fast point meets well inside one long step.
#[test]
fn a_dip_between_two_looks_is_seen() {
    for place in [0.2, 0.47, 0.5, 0.7123, 0.96] {
        let mut model = Model::new("bump");
        let id = model.add("point", LagrangianLinear::new([0.0], [1.0], [[1.0]])).unwrap();
        let names = Names { first: ("q", 1), second: ("lam", 1), ..Names::TIME };
        let h = format!("(q[0] - {place})^2 - 1e-4");
        let h = Operator::formulas(1, 1, &[h.as_str()], &names, &[]).unwrap();
        model.connect("bump", LagrangianRelation::new(h), Law::newton_impact(1.0), &[id]).unwrap();
        let mut sim = driven(model, 1e-9, 1e-11);
        let run = sim.run(1.0).unwrap();
        let impacts = times(&sim, EventKind::Impact);
        assert!(impacts.len() == 1 && (impacts[0] - place + 1e-2).abs() < 1e-12, "{impacts:?}");
        let (q, exact) = (last::<1>(&run, "point.q")[0], 2.0 * (place - 1e-2) - 1.0);
        // the bump is as short as a hundred vanishing steps
        assert!((q - exact).abs() < 1e-7, "{q} for {exact}");
    }
}

/// The same for the condition of an event.
#[test]
fn a_condition_that_is_true_for_a_moment_is_seen() {
    let mut model = Model::new("moment");
    model.add("x", FirstOrderLinear::new([0.0], [[0.0]]).b([1.0])).unwrap();
    model.add_event(Event::when("x.x[0] > 0.3 and x.x[0] < 0.30001").named("moment")).unwrap();
    model.add_event(Event::when("(x.x[0] - 0.7)^2 < 1e-12").named("other")).unwrap();
    let mut sim = driven(model, 1e-9, 1e-11);
    sim.run(1.0).unwrap();
    let found: Vec<f64> = sim.events().iter().map(|event| event.time).collect();
    assert!(found.len() == 2 && worst(&found, &[0.3, 0.7 - 1e-6]) < 1e-10, "{found:?}");
}
