//! Events of the model: located where their conditions change, and at scheduled instants.

use super::*;
use crate::SimError;
use crate::run::Value;

/// A first-order system `ẋ = p`, with the parameter `p`.
fn ramp(p: f64, events: &[Event]) -> Model {
    let build = {
        let events = events.to_vec();
        move |p: f64| {
            let mut model = Model::new("ramp");
            model.add_parameter("p", p);
            model.add("x", FirstOrderLinear::new([0.0], [[0.0]]).b([p]))?;
            events.iter().try_for_each(|event| model.add_event(event.clone()))?;
            Ok::<_, ModelError>(model)
        }
    };
    let model = build(p).unwrap();
    model.with_recipe(move |set| build(set[0].1).map_err(|error| error.to_string()))
}

fn eventful(mut model: Model, events: &[Event]) -> Model {
    events.iter().for_each(|event| model.add_event(event.clone()).unwrap());
    model
}

fn all_times(sim: &EventDriven) -> Vec<f64> {
    sim.events().iter().map(|event| event.time).collect()
}

#[track_caller]
fn check_times(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?} for {expected:?}");
    assert!(worst(found, expected) < 1e-12, "{found:?} for {expected:?}");
}

#[test]
fn a_condition_is_located_and_fires_once_until_it_is_false_again() {
    let event = Event::when("x.x[0] > 0.5").named("half").set_state("x", "x", ["x.x[0] + 0.05"]);
    let mut sim = driven(ramp(1.0, &[event]), 1e-9, 1e-11);
    let run = sim.run(1.0).unwrap();
    check_times(&all_times(&sim), &[0.5]);
    let event = &run.events[0];
    assert_eq!((event.kind, event.name.as_str()), (EventKind::When, "half"));
    assert_eq!(event.changes[0].what, "x.x[0]");
    let [Value::Number(before), Value::Number(after)] =
        [&event.changes[0].before, &event.changes[0].after]
    else {
        panic!("numbers")
    };
    assert!((before - 0.5).abs() < 1e-12 && (after - 0.55).abs() < 1e-12);
    assert!((last::<1>(&run, "x.x")[0] - 1.05).abs() < 1e-12);

    // made false by what it does
    for (reset, expected) in
        [("x.x[0] > 0.35", &[0.35, 0.7, 1.05][..]), ("x.x[0] >= 0.35", &[0.35, 0.7, 1.05])]
    {
        let event = Event::when(reset).set_state("x", "x", [0.0]);
        let mut sim = driven(ramp(1.0, std::slice::from_ref(&event)), 1e-9, 1e-11);
        sim.run(1.3).unwrap();
        check_times(&all_times(&sim), expected);
        let mut sim = driven(ramp(1.0, &[event.once()]), 1e-9, 1e-11);
        sim.run(1.3).unwrap();
        check_times(&all_times(&sim), &expected[..1]);
    }
}

#[test]
fn nothing_happens_for_what_is_true_from_the_beginning() {
    let event = Event::when("x.x[0] < 0.5").set_state("x", "x", [0.0]);
    let mut sim = driven(ramp(1.0, &[event]), 1e-9, 1e-11);
    sim.run(1.0).unwrap();
    assert!(sim.events().is_empty());
}

/// Every comparison of a condition can be the one that makes it true; other conditions are found too.
#[test]
fn conditions_of_any_form() {
    for (condition, expected) in [
        ("x.x[0] > 0.25 and t > 0.125", 0.25),
        ("t > 0.125 and x.x[0] > 0.25", 0.25),
        ("x.x[0] > 0.75 or not (t < 0.375)", 0.375),
        ("sin(20*t)*(t > 0.3) > 0.5", PI / 10.0 + 0.5_f64.asin() / 20.0),
        ("if(x.x[0] > 0.5, 1, 0)", 0.5),
        ("abs(x.x[0] - 0.6) < 1e-3", 0.6 - 1e-3),
        ("(x.x[0] - 0.6)^2 < 1e-10", 0.6 - 1e-5),
    ] {
        let event = Event::when(condition).stop();
        let mut sim = driven(ramp(1.0, &[event]), 1e-9, 1e-11);
        let run = sim.run(1.0).unwrap();
        let found = all_times(&sim);
        assert!(found.len() == 1 && (found[0] - expected).abs() < 1e-11, "{condition}: {found:?}");
        assert_eq!(run.frames.time.last(), Some(&found[0]));
    }
}

#[test]
fn steps_end_at_scheduled_instants() {
    let every = Event::every(0.1).starting_at(0.1).set_parameter("p", "-p");
    let mut sim = driven(ramp(1.0, &[every]), 1e-9, 1e-11);
    let run = sim.run(0.95).unwrap();
    let expected: Vec<f64> = (0..9).map(|k| 0.1 + k as f64 * 0.1).collect();
    assert_eq!(all_times(&sim), expected);
    assert!(sim.events().iter().all(|event| event.kind == EventKind::Scheduled));
    assert!((last::<1>(&run, "x.x")[0] - 0.05).abs() < 1e-13);
    let [Value::Number(before), Value::Number(after)] =
        [&run.events[0].changes[0].before, &run.events[0].changes[0].after]
    else {
        panic!("numbers")
    };
    assert_eq!((run.events[0].changes[0].what.as_str(), *before, *after), ("p", 1.0, -1.0));
    // at the beginning, and at the end
    let at = Event::at([0.0, 0.5]).set_state("x", "x", ["x.x[0] + 1"]);
    let mut sim = driven(ramp(0.0, &[at]), 1e-9, 1e-11);
    let run = sim.run(0.5).unwrap();
    assert_eq!(all_times(&sim), [0.0, 0.5]);
    assert_eq!(last::<1>(&run, "x.x"), [2.0]);
}

/// Formulas are taken before anything changes, and events follow one another.
#[test]
fn several_events_at_one_instant() {
    let mut model = Model::new("swap");
    for (name, x0) in [("a", 1.0), ("b", 2.0)] {
        model.add(name, FirstOrderLinear::new([x0], [[0.0]])).unwrap();
    }
    let swap = Event::at([0.5]).set_state("a", "x", ["b.x[0]"]).set_state("b", "x", ["a.x[0]"]);
    let follows = Event::when("a.x[0] > 1.5").set_state("b", "x", ["10*a.x[0]"]);
    let mut sim = driven(eventful(model, &[swap, follows]), 1e-9, 1e-11);
    let run = sim.run(1.0).unwrap();
    assert_eq!(all_times(&sim), [0.5, 0.5]);
    assert_eq!((last::<1>(&run, "a.x"), last::<1>(&run, "b.x")), ([2.0], [20.0]));

    // two conditions that become true together, in the order of the model
    let first = Event::when("x.x[0] > 0.3").named("first").set_parameter("p", 2.0);
    let second = Event::when("t > 0.3").named("second").set_parameter("p", "3*p");
    for events in [[first.clone(), second.clone()], [second, first]] {
        let mut sim = driven(ramp(1.0, &events), 1e-9, 1e-11);
        let run = sim.run(1.0).unwrap();
        check_times(&all_times(&sim), &[0.3, 0.3]);
        let names: Vec<&str> = sim.events().iter().map(|event| event.name.as_str()).collect();
        let expected: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, expected);
        let p = if names[0] == "first" { 6.0 } else { 2.0 };
        assert!((last::<1>(&run, "x.x")[0] - (0.3 + 0.7 * p)).abs() < 1e-11);
    }
}

#[test]
fn events_without_end_are_an_error() {
    let up = Event::when("x.x[0] > 0.5").set_state("x", "x", [0.0]);
    let down = Event::when("x.x[0] < 0.05").set_state("x", "x", [1.0]);
    let failure = driven(ramp(1.0, &[up, down]), 1e-9, 1e-11).run(1.0).unwrap_err();
    assert!(matches!(failure.source, SimError::EventLoop { .. }), "{failure}");
}

#[test]
fn an_event_that_fails_changes_nothing_and_is_tried_again() {
    let event = Event::when("x.x[0] > 0.5").named("root").set_parameter("p", 5.0).set_state(
        "x",
        "x",
        ["sqrt(0.2 - x.x[0])"],
    );
    let mut sim = driven(ramp(1.0, &[event]), 1e-9, 1e-11);
    let failure = sim.run(1.0).unwrap_err();
    assert!(matches!(failure.source, SimError::Event { .. }), "{failure}");
    assert!((failure.run.frames.time.last().unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(sim.model().parameters().next(), Some(("p", 1.0)));
    assert!(sim.events().is_empty());
    assert!(sim.run(1.0).is_err()); // still due
}

/// The impact and the condition that it makes true, at the same instant; the condition that lies on
/// the surface of the contact.
#[test]
fn conditions_and_impacts_at_one_instant() {
    let upwards = Event::when("ball.v[0] > 0").named("upwards").once();
    let touches = Event::when("floor.y[0] <= 0").named("touches").once();
    let lower = Event::when("ball.q[0] < 0.5").named("lower");
    let soft = Event::when("ball.v[0] > 0").once().set_law("floor", Law::newton_impact(0.0));
    let mut sim = driven(eventful(ball(0.5), &[upwards, touches, lower, soft]), 1e-10, 1e-12);
    let run = sim.run(3.0).unwrap();
    let first = (2.0 / 9.81_f64).sqrt();
    let half = (1.0 / 9.81_f64).sqrt();
    let of = |name: &str| -> Vec<f64> {
        let named = sim.events().iter().filter(|event| event.name == name);
        named.map(|event| event.time).collect()
    };
    check_times(&of("upwards"), &[first]);
    check_times(&of("touches"), &[first]);
    check_times(&of("lower"), &[half]);
    // the law of the second impact is another
    check_times(&times(&sim, EventKind::Impact), &[first, 2.0 * first]);
    assert!(last::<1>(&run, "ball.q")[0].abs() < 1e-12);
}

/// A second floor that waits, and a floor that goes.
#[test]
fn interactions_come_and_go() {
    let mut model = ball(0.0);
    let ball = model.system_id("ball").unwrap();
    let table = LagrangianLinearRelation::new([[1.0]]).b([-0.5]);
    let id = model.connect("table", table, Law::newton_impact(0.0), &[ball]).unwrap();
    model.set_active(id, false);
    // it comes below the ball in flight, and goes
    let comes = Event::when("ball.q[0] < 0.75").connect("table").once();
    let goes = Event::at([1.0]).disconnect("table");
    let mut sim = driven(eventful(model, &[comes, goes]), 1e-10, 1e-12);
    let run = sim.run(2.0).unwrap();
    let fall = (1.0 / 9.81_f64).sqrt();
    check_times(&times(&sim, EventKind::Impact), &[fall, 1.0 + fall]);
    assert!(last::<1>(&run, "ball.q")[0].abs() < 1e-12);
    let flags: Vec<&str> =
        run.events.iter().flat_map(|event| &event.changes).map(|c| c.what.as_str()).collect();
    assert!(flags.contains(&"table.active"), "{flags:?}");
}

/// A ball with any restitution passes any height downwards as often as it should, when it should.
#[test]
fn every_passage_of_a_height_is_found() {
    let mut seed = 7u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let g = 9.81;
    for case in 0..100 {
        let (e, height, until) = (0.95 * random(), random(), 0.5 + 2.0 * random());
        let down = Event::when(format!("ball.q[0] < {height:?}")).named("down");
        let up = Event::when(format!("ball.q[0] >= {height:?} and ball.v[0] > 0")).named("up");
        let mut sim = driven(eventful(ball(e), &[down, up]), 1e-9, 1e-11);
        sim.run(until).unwrap();
        let (mut expected, mut t) = ([Vec::new(), Vec::new()], -(2.0_f64 / g).sqrt());
        let mut speed = (2.0_f64 * g).sqrt(); // of a throw from the floor at t
        while t < until && speed > 1e-3 {
            let rest = speed * speed - 2.0 * g * height;
            if rest > 0.0 {
                expected[0].push(t + (speed + rest.sqrt()) / g);
                expected[1].push(t + (speed - rest.sqrt()) / g);
            }
            t += 2.0 * speed / g;
            speed *= e;
        }
        for (name, expected) in ["down", "up"].into_iter().zip(&expected) {
            let found = sim.events().iter().filter(|event| event.name == name);
            let found: Vec<f64> = found.map(|event| event.time).collect();
            let inside = expected.iter().copied().filter(|t| *t > 1e-9 && *t < until - 1e-9);
            let expected: Vec<f64> = inside.collect();
            assert_eq!(found.len(), expected.len(), "case {case}: {e} {height} {until} {found:?}");
            assert!(worst(&found, &expected) < 1e-9, "case {case}: {found:?} for {expected:?}");
        }
    }
}

/// Conditions of two oscillating states, against the same motion looked at often.
#[test]
fn conditions_of_an_oscillator() {
    let mut seed = 11u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let oscillator = |cubic: f64| {
        let names = Names { first: ("x", 2), second: ("lam", 1), ..Names::TIME };
        let f = ["x[1]", "-x[0] - cubic*x[0]^3"];
        let f = Operator::formulas(2, 1, &f, &names, &[("cubic", cubic)]).unwrap();
        let mut model = Model::new("oscillator");
        model.add("o", FirstOrder::new([1.0, 0.0], f)).unwrap();
        model
    };
    for case in 0..24 {
        let (a, b) = (2.0 * random() - 1.0, 2.0 * random() - 1.0);
        let (joined, cubic) = (["and", "or"][case % 2], 0.3 * (case % 3) as f64);
        let condition = format!("o.x[0] < {a:?} {joined} o.x[1] > {b:?}");
        let model = eventful(oscillator(cubic), &[Event::when(condition.as_str())]);
        let mut sim = driven(model, 1e-10, 1e-12);
        sim.run(20.0).unwrap();
        let (mut seen, mut held) = (Vec::new(), true);
        let mut other = driven(oscillator(cubic), 1e-10, 1e-12);
        for k in 1..2000 {
            let t = 0.01 * k as f64;
            let x: [f64; 2] = last(&other.run(t).unwrap(), "o.x");
            let (p, q) = (x[0] < a, x[1] > b);
            let holds = if joined == "and" { p && q } else { p || q };
            if holds && !held {
                seen.push(t);
            }
            held = holds;
        }
        let found = all_times(&sim);
        assert_eq!(found.len(), seen.len(), "{condition}: {found:?} for {seen:?}");
        let near = found.iter().zip(&seen).all(|(f, t)| *f <= *t + 1e-9 && *f > *t - 0.0101);
        assert!(near, "{condition}: {found:?} for {seen:?}");
    }
}
