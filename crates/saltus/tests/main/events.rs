//! Events: what happens at conditions and scheduled instants, and that nothing else does.

use saltus::model::{Action, ModelError};
use saltus::prelude::*;
use saltus::sim::{EventKind, EventRecord, SimError, Value};

const G: f64 = 10.0;

/// A ball above a floor.
fn ball(e: f64) -> Model {
    let mut model = Model::new("ball");
    let ball = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-G]);
    let ball = model.add("ball", ball).unwrap();
    let floor = LagrangianLinearRelation::new([[1.0]]);
    model.connect("floor", floor, Law::newton_impact(e), &[ball]).unwrap();
    model
}

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

fn simulate(model: Model, h: f64) -> TimeStepping {
    TimeStepping::new(model, h, []).unwrap()
}

/// The events of the model.
fn own(run: &Run) -> Vec<&EventRecord> {
    run.events.iter().filter(|event| !event.name.is_empty()).collect()
}

fn times(run: &Run) -> Vec<f64> {
    own(run).iter().map(|event| event.time).collect()
}

fn numbers(value: &Value) -> f64 {
    match value {
        Value::Number(value) => *value,
        Value::Name(name) => panic!("{name}"),
    }
}

#[test]
fn a_condition_fires_when_it_becomes_true_and_not_while_it_stays_so() {
    let event = Event::when("x.x[0] > 0.5").named("half").set_state("x", "x", ["x.x[0] - 0.05"]);
    let run = simulate(ramp(1.0, &[event]), 0.1).run(1.0).unwrap();
    // at 0.6: 0.6 → 0.55, which holds on; never false again
    assert_eq!(run.events.len(), 1);
    let event = &run.events[0];
    assert_eq!((event.kind, event.name.as_str()), (EventKind::When, "half"));
    assert!((event.time - 0.6).abs() < 1e-12);
    assert_eq!(event.changes[0].what, "x.x[0]");
    assert!((numbers(&event.changes[0].before) - 0.6).abs() < 1e-12);
    assert!((numbers(&event.changes[0].after) - 0.55).abs() < 1e-12);
    assert!((run.signal("x.x").unwrap()[10] - 0.95).abs() < 1e-12);

    // one that the event makes false fires again
    let event = Event::when("x.x[0] > 0.35").set_state("x", "x", [0.0]);
    let run = simulate(ramp(1.0, std::slice::from_ref(&event)), 0.1).run(1.3).unwrap();
    let expected = [0.4, 0.8, 1.2];
    assert_eq!(run.events.len(), 3);
    assert!(times(&run).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    let run = simulate(ramp(1.0, &[event.once()]), 0.1).run(1.3).unwrap();
    assert_eq!(run.events.len(), 1);
}

#[test]
fn what_is_true_from_the_beginning_is_no_event() {
    let event = Event::when("x.x[0] < 0.5 or x.x[0] > 0.85").set_parameter("p", "p/2");
    let mut sim = simulate(ramp(1.0, &[event]), 0.1);
    let run = sim.run(1.0).unwrap();
    assert_eq!(run.events.len(), 1);
    assert!((run.events[0].time - 0.9).abs() < 1e-12);
    assert!((run.signal("x.x").unwrap()[10] - 0.95).abs() < 1e-12);
}

#[test]
fn steps_end_at_scheduled_instants_and_go_on_along_their_grid() {
    let event = Event::at([0.25, 0.3, 0.625]).set_parameter("p", "p + 1");
    let mut sim = simulate(ramp(1.0, &[event]), 0.1);
    let run = sim.run(0.8).unwrap();
    let grid = [0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.625, 0.7, 0.8];
    assert_eq!(run.frames.time.len(), grid.len());
    assert!(run.frames.time.iter().zip(grid).all(|(a, b)| (a - b).abs() < 1e-14));
    assert_eq!(run.frames.time[3], 0.25); // exactly
    assert_eq!(run.frames.time[8], 0.625);
    assert_eq!(run.stats.steps, 10);
    let expected = 0.25 + 2.0 * 0.05 + 3.0 * 0.325 + 4.0 * 0.175;
    assert!((run.signal("x.x").unwrap()[10] - expected).abs() < 1e-12);
    assert!(run.events.iter().all(|event| event.kind == EventKind::Scheduled));

    // given instants likewise
    let event = Event::at([0.25]).set_parameter("p", 3.0);
    let instants = vec![0.1, 0.4, 0.5];
    let mut sim = TimeStepping::new(ramp(1.0, &[event]), instants, []).unwrap();
    let run = sim.run(0.5).unwrap();
    assert_eq!(run.frames.time, [0.0, 0.1, 0.25, 0.4, 0.5]);
    assert!((run.signal("x.x").unwrap()[4] - 1.0).abs() < 1e-12);
}

#[test]
fn every_so_many_seconds() {
    let event = Event::every(0.25).set_parameter("p", "2*p");
    let mut sim = simulate(ramp(1.0, &[event]), 0.1);
    let run = sim.run(0.6).unwrap();
    assert_eq!(times(&run), [0.0, 0.25, 0.5]); // from t0 on
    let expected = 2.0 * 0.25 + 4.0 * 0.25 + 8.0 * 0.1;
    assert!((run.signal("x.x").unwrap().last().unwrap() - expected).abs() < 1e-12);

    let event = Event::every(0.2).starting_at(0.3).once().set_parameter("p", 0.0);
    let run = simulate(ramp(1.0, &[event]), 0.1).run(1.0).unwrap();
    assert_eq!(run.events.len(), 1);
    assert!((run.signal("x.x").unwrap()[10] - 0.3).abs() < 1e-12);
}

#[test]
fn a_ball_loses_its_floor_and_gets_it_back() {
    let mut model = ball(0.0);
    model.add_event(Event::at([0.8]).disconnect("floor").named("trap door")).unwrap();
    model.add_event(Event::at([1.0]).set_state("ball", "q", [1.0]).connect("floor")).unwrap();
    let id = model.interaction_id("floor").unwrap();
    let mut sim = simulate(model, 1e-3);
    let run = sim.run(0.8).unwrap();
    let q = *run.signal("ball.q").unwrap().last().unwrap();
    assert!(q.abs() < 1e-2, "{q}");
    assert_eq!(sim.lam(id), [0.0]); // of what is not connected
    assert!(!sim.event_state().active[0]);
    let run = sim.run(0.999).unwrap();
    assert!(run.signal("floor.lam").unwrap()[1..].iter().all(|lam| *lam == 0.0));
    let fallen = sim.q(sim.model().system_id("ball").unwrap()).unwrap()[0];
    assert!((fallen - (q - 0.5 * G * 0.199 * 0.199)).abs() < 1e-9, "{fallen}");
    assert_eq!(sim.y(id), [fallen]); // the output is told all the same
    let run = sim.run(2.5).unwrap();
    let q = *run.signal("ball.q").unwrap().last().unwrap();
    assert!(q.abs() < 1e-2, "{q}");
    let lam = *run.signal("floor.lam").unwrap().last().unwrap();
    assert!((lam - G * 1e-3).abs() < 1e-12);
}

#[test]
fn an_interaction_may_wait_for_its_event() {
    let mut model = ball(0.5);
    let id = model.interaction_id("floor").unwrap();
    model.set_active(id, false);
    model.add_event(Event::when("ball.q[0] < -0.5").connect("floor")).unwrap();
    let mut sim = simulate(model, 1e-3);
    let run = sim.run(1.0).unwrap();
    let q = run.signal("ball.q").unwrap();
    let least = q.iter().copied().fold(0.0, f64::min);
    assert!((-0.52..-0.5).contains(&least), "{least}");
    assert_eq!(run.events[0].changes[0].what, "floor.active");
}

#[test]
fn laws_change_and_the_ledger_goes_on() {
    let mut model = ball(1.0);
    let event = Event::when("floor.lam[0] > 0").once().set_law("floor", Law::newton_impact(0.0));
    model.add_event(event).unwrap();
    let mut sim = simulate(model, 1e-3);
    let run = sim.run(3.0).unwrap();
    let change = &own(&run)[0].changes[0];
    assert_eq!(change.what, "floor.law");
    assert_eq!(change.after, Value::Name("NewtonImpact".to_string()));
    // one elastic bounce, then rest
    assert!(run.signal("ball.q").unwrap().last().unwrap().abs() < 2e-2);
    let ledger = sim.ledger().unwrap();
    assert!(ledger.numerical.abs() < 1e-10, "{ledger:?}");
    assert!((ledger.contact() - G).abs() < 0.2, "{ledger:?}");
    assert!((ledger.work - G).abs() < 0.2, "{ledger:?}");
}

#[test]
fn every_scheme_can_lose_and_get_back_its_interactions() {
    let schemes: [Integrator; 5] = [
        MoreauJean::default().into(),
        MoreauJean { projection: Some(Projection::Direct), ..MoreauJean::default() }.into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        D1MinusLinear::default().into(),
    ];
    for scheme in schemes {
        let mut model = ball(0.0);
        let pin = LagrangianLinearRelation::new([[1.0]]).b([-1.0]);
        let id = model.system_id("ball").unwrap();
        model.connect("pin", pin, Law::Equality, &[id]).unwrap();
        model.add_event(Event::at([0.5]).disconnect("pin")).unwrap();
        model.add_event(Event::at([1.5]).disconnect("floor").named("down")).unwrap();
        let name = scheme.name();
        let mut sim = TimeStepping::new(model, 1e-3, [scheme]).unwrap();
        let mut at = |t: f64| {
            sim.run(t).unwrap();
            sim.q(id).unwrap()[0]
        };
        assert!((at(0.5) - 1.0).abs() < 1e-9, "{name}");
        let q = at(0.7);
        assert!((q - 0.8).abs() < 1e-2, "{name}: {q}");
        assert!(at(1.5).abs() < 2e-2, "{name}");
        assert!((at(1.7) + 0.2).abs() < 3e-2, "{name}");
    }
}

#[test]
fn nonlinear_systems_go_on_where_they_were() {
    // a pendulum whose string is cut
    let mut model = Model::new("cut");
    let mass = LagrangianLinear::new([1.0, 0.0], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]);
    let mass = model.add("mass", mass.F_ext([0.0, -G])).unwrap();
    let names = saltus::model::Names { time: true, first: ("q", 2), ..Default::default() };
    let h = Operator::formula("[1 - sqrt(q[0]^2 + q[1]^2)]", &names, &[]).unwrap();
    let string = LagrangianRelation::new(h);
    model.connect("string", string, Law::newton_impact(0.0), &[mass]).unwrap();
    model.add_event(Event::when("mass.q[0] < 0").disconnect("string").once()).unwrap();
    let mut sim = simulate(model, 1e-3);
    let run = sim.run(1.2).unwrap();
    let cut = own(&run)[0].time;
    let row = run.frames.time.iter().position(|t| *t == cut).unwrap();
    let (q, v) = (run.signal("mass.q").unwrap(), run.signal("mass.v").unwrap());
    let t = run.frames.time.last().unwrap() - cut;
    let last = run.frames.len() - 1;
    assert!((q[2 * last] - (q[2 * row] + t * v[2 * row])).abs() < 1e-9);
    let free = q[2 * row + 1] + t * v[2 * row + 1] - 0.5 * G * t * t;
    assert!((q[2 * last + 1] - free).abs() < 1e-9);
    assert!((v[2 * row].hypot(v[2 * row + 1]) - (2.0 * G).sqrt()).abs() < 0.05);
}

#[test]
fn an_event_can_stop_the_run() {
    let mut model = ball(0.9);
    model.add_event(Event::when("floor.lam[0] > 0").stop().named("first impact")).unwrap();
    let mut sim = simulate(model, 1e-3);
    let run = sim.run(10.0).unwrap();
    assert!((sim.t() - (2.0_f64 / G).sqrt()).abs() < 2e-3);
    assert!(sim.done(10.0));
    assert_eq!(run.frames.time.last(), Some(&sim.t()));
    assert_eq!(own(&run).len(), 1);
    let again = sim.run(10.0).unwrap(); // to the next one
    assert!(again.frames.time[0] < *again.frames.time.last().unwrap());
    assert_eq!(own(&again).len(), 1);
    assert_eq!(sim.events().len(), 2);
}

#[test]
fn reset_takes_everything_back() {
    let mut model = ball(0.9);
    let event = Event::every(0.3).starting_at(0.3).set_state("ball", "v", ["ball.v[0] + 1"]);
    model.add_event(event).unwrap();
    let event = Event::when("ball.q[0] < 0.2").set_law("floor", Law::newton_impact(0.3));
    model.add_event(event.named("soft")).unwrap();
    model.add_event(Event::at([1.0]).disconnect("floor")).unwrap();
    let mut sim = simulate(model, 1e-3);
    let first = sim.run(1.5).unwrap();
    sim.reset().unwrap();
    assert!(sim.events().is_empty());
    let second = sim.run(1.5).unwrap();
    assert_eq!(first.frames, second.frames);
    assert_eq!(first.events, second.events);

    let mut sim = simulate(ramp(1.0, &[Event::at([0.5]).set_parameter("p", 7.0)]), 0.1);
    let first = sim.run(1.0).unwrap();
    assert_eq!(sim.model().parameters().next(), Some(("p", 7.0)));
    sim.reset().unwrap();
    assert_eq!(sim.model().parameters().next(), Some(("p", 1.0)));
    assert_eq!(first.frames, sim.run(1.0).unwrap().frames);
}

#[test]
fn a_state_of_events_can_be_given_to_another_simulation() {
    let model = || {
        let mut model = ball(0.9);
        let event = Event::when("ball.q[0] < 0.5").once().set_law("floor", Law::newton_impact(0.1));
        model.add_event(event).unwrap();
        model.add_event(Event::every(0.4).disconnect("floor").named("off")).unwrap();
        model.add_event(Event::every(0.4).starting_at(0.1).connect("floor").named("on")).unwrap();
        model
    };
    let mut one = simulate(model(), 1e-3);
    one.run(0.7).unwrap();
    let mut other = simulate(model(), 1e-3);
    other.run(0.7).unwrap();
    let state = one.event_state().clone();
    assert_eq!(state, *other.event_state());
    other.set_event_state(state).unwrap();
    assert_eq!(one.run(1.5).unwrap().frames.rows, other.run(1.5).unwrap().frames.rows);
    let error = other.set_event_state(Default::default()).unwrap_err();
    assert!(matches!(error, SimError::EventState { .. }), "{error}");
}

#[test]
fn formulas_of_an_event_are_taken_before_it_and_events_follow_one_another() {
    let mut model = Model::new("swap");
    for name in ["a", "b"] {
        let x0 = if name == "a" { 1.0 } else { 2.0 };
        model.add(name, FirstOrderLinear::new([x0], [[0.0]])).unwrap();
    }
    let swap = Event::at([0.5]).set_state("a", "x", ["b.x[0]"]).set_state("b", "x", ["a.x[0]"]);
    model.add_event(swap).unwrap();
    // made true by the other, at the same instant
    model.add_event(Event::when("a.x[0] > 1.5").set_state("b", "x", ["10*a.x[0]"])).unwrap();
    let mut sim = simulate(model, 0.25);
    let run = sim.run(1.0).unwrap();
    assert_eq!(times(&run), [0.5, 0.5]);
    assert_eq!(run.signal("a.x").unwrap(), [1.0, 1.0, 2.0, 2.0, 2.0]);
    assert_eq!(run.signal("b.x").unwrap(), [2.0, 2.0, 20.0, 20.0, 20.0]);
}

#[test]
fn events_without_end_are_an_error() {
    let up = Event::when("x.x[0] > 0.5").set_state("x", "x", [0.0]);
    let down = Event::when("x.x[0] < 0.05").set_state("x", "x", [1.0]);
    let failure = simulate(ramp(1.0, &[up, down]), 0.1).run(1.0).unwrap_err();
    assert!(matches!(failure.source, SimError::EventLoop { .. }), "{failure}");
}

#[test]
fn an_event_that_fails_changes_nothing_and_is_tried_again() {
    let event = Event::when("x.x[0] > 0.45").named("root").set_parameter("p", 5.0).set_state(
        "x",
        "x",
        ["sqrt(0.2 - x.x[0])"],
    );
    let mut sim = simulate(ramp(1.0, &[event]), 0.1);
    let failure = sim.run(1.0).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "event `root` at t = 0.5: `x.x[0]` is NaN, expected a finite number"
    );
    let id = sim.model().system_id("x").unwrap();
    assert!((sim.x(id).unwrap()[0] - 0.5).abs() < 1e-12);
    assert_eq!(failure.run.frames.time.last(), Some(&0.5));
    assert_eq!(sim.model().parameters().next(), Some(("p", 1.0)));
    assert!(sim.events().is_empty());
    assert!(sim.step().is_err()); // still due
    sim.set_x(id, &[0.1]).unwrap();
    sim.step().unwrap();
    assert!((sim.x(id).unwrap()[0] - 0.2).abs() < 1e-12);
}

#[test]
fn bad_events_are_told() {
    let check = |event: Event, expected: &str| {
        let mut model = ball(0.5);
        model.add_parameter("mu", 0.3);
        let error = model.add_event(event.named("bad")).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let when = |text: &str| Event::when(text);
    check(
        when("bal.q[0] < 1"),
        "event `bad`, when: unknown name `bal.q[0]`; did you mean `ball.q[0]`?",
    );
    check(
        when("ball.q < 1"),
        "event `bad`, when: unknown name `ball.q`; did you mean `ball.q[0]`?",
    );
    check(
        when("floor.lam[1] > 0 or nu > 0"),
        "event `bad`, when: unknown name `floor.lam[1]`; did you mean `floor.lam[0]`?",
    );
    check(when("[t, t]"), "event `bad`, when: expected a value, found `[`");
    check(
        when("t > 1").set_parameter("mi", 1.0),
        "there is no parameter named `mi`; did you mean `mu`?",
    );
    check(
        when("t > 1").connect("flor"),
        "there is no interaction named `flor`; did you mean `floor`?",
    );
    check(
        when("t > 1").set_state("ball", "x", [1.0]),
        "event `bad`: there is no state `ball.x`; the system has ball.q and ball.v",
    );
    check(
        when("t > 1").set_state("ball", "v", [1.0, 2.0]),
        "event `bad`, ball.v: `set` has length 2, expected 1 (the size of the system)",
    );
    check(
        when("t > 1").set_law("floor", Law::newton_impact(2.0)),
        "interaction `floor`, law NewtonImpact: `e` = 2 is outside [0, 1]",
    );
    check(
        Event::at([1.0, -1.0]).stop(),
        "event `bad`: entry 1 of `at` is -1, expected a finite time from t0 = 0 on",
    );
    check(
        Event::at([f64::NAN]),
        "event `bad`: entry 0 of `at` is NaN, expected a finite time from t0 = 0 on",
    );
    check(Event::at([]), "event `bad`: `at` is empty, expected at least one entry");
    check(Event::every(0.0), "event `bad`: `every` = 0 is outside (0, inf)");

    // a parameter of a model that does not say how it depends on it
    let mut model = ball(0.5);
    model.add_parameter("mu", 0.3);
    model
        .add_event(
            Event::at([1.0])
                .does(Action::SetParameter { parameter: "mu".to_string(), value: 1.0.into() }),
        )
        .unwrap();
    let error = TimeStepping::new(model, 0.1, []).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event `event1` sets the parameter `mu`: the model does not say how it depends on its parameters"
    );
}

/// A pendulum in a model file, whose gravity an event changes.
fn pendulum(event: &str) -> Result<Model, String> {
    let text = format!(
        r#"
        [parameters]
        g = 9.81
        k = "2*g"          # follows
        n = 1
        [simulation]
        h = 1e-2
        until = 1
        [[system]]
        name = "pendulum{{i}}"
        for = "i in 0..n"
        kind = "lagrangian"
        q0 = [1]
        v0 = [0]
        M = [["1 + 0.1*cos(q[0])^2"]]
        F_int = ["k/2*sin(q[0]) + 0.1*v[0]"]
        {event}"#
    );
    let file = saltus::io::ModelFile::parse(&text, "pendulum.toml", &[]);
    file.map(|file| file.model).map_err(|error| error.to_string())
}

#[test]
fn parameters_of_nonlinear_systems_change() {
    let model = pendulum("[[event]]\nat = 0.5\nset = { g = \"g/3\" }").unwrap();
    let id = model.system_id("pendulum0").unwrap();
    let mut sim = simulate(model, 1e-2);
    let run = sim.run(1.0).unwrap();
    let values: Vec<(&str, f64)> = sim.model().parameters().collect();
    assert_eq!(values, [("g", 9.81 / 3.0), ("k", 2.0 * 9.81 / 3.0), ("n", 1.0)]);

    // the same in two pieces
    let mut first = simulate(pendulum("").unwrap(), 1e-2);
    first.run(0.5).unwrap();
    let (q, v) = (first.q(id).unwrap().to_vec(), first.v(id).unwrap().to_vec());
    let model = pendulum("").unwrap().with_parameters(&[("g", 9.81 / 3.0)]).unwrap();
    let mut second = simulate(model.starting_at(0.5), 1e-2);
    second.set_qv(id, Some(&q), Some(&v)).unwrap();
    let expected = second.run(1.0).unwrap().signal("pendulum0.q").unwrap();
    let found = run.signal("pendulum0.q").unwrap();
    let worst = (expected.iter().zip(&found[50..])).map(|(a, b)| (a - b).abs());
    assert!(worst.fold(0.0, f64::max) < 1e-12);
}

#[test]
fn what_the_model_consists_of_cannot_change() {
    let model = pendulum("[[event]]\nname = \"more\"\nat = 0.5\nset = { n = 2 }").unwrap();
    let failure = simulate(model, 1e-2).run(1.0).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "event `more` at t = 0.5: event `more` sets the parameter `n`: it would change which \
         systems, interactions and events there are"
    );
    // of several events that set it, the one that cannot
    let two = "[[event]]\nname = \"same\"\nat = 0.2\nset = { n = 1 }\n[[event]]\nname = \"more\"\nat = 0.5\nset = { n = 2 }";
    let failure = simulate(pendulum(two).unwrap(), 1e-2).run(1.0).unwrap_err().to_string();
    let told = "event `more` at t = 0.5: event `more` sets the parameter `n`: ";
    assert!(failure.starts_with(told), "{failure}");
    let model = pendulum("[[event]]\nat = 0.5\nset = { g = \"-1/0\" }").unwrap();
    assert!(simulate(model, 1e-2).run(1.0).is_err());
}

#[test]
fn schemes_side_by_side() {
    let model = |events: bool| {
        let mut model = ball(0.5);
        let other = LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-G]);
        let other = model.add("other", other).unwrap();
        let floor = LagrangianLinearRelation::new([[1.0]]);
        model.connect("ground", floor, Law::newton_impact(0.5), &[other]).unwrap();
        if events {
            model.add_event(Event::at([0.6]).disconnect("floor")).unwrap();
        }
        model
    };
    let schemes = || -> [Integrator; 2] {
        let systems = vec!["other".to_string()];
        [MoreauJean::default().into(), SchatzmanPaoli { systems, ..Default::default() }.into()]
    };
    let mut sim = TimeStepping::new(model(true), 1e-3, schemes()).unwrap();
    let run = sim.run(1.0).unwrap();
    let mut plain = TimeStepping::new(model(false), 1e-3, schemes()).unwrap();
    let plain = plain.run(1.0).unwrap();
    let last = |run: &Run, signal: &str| *run.signal(signal).unwrap().last().unwrap();
    assert!(last(&run, "ball.q") < -0.2 && last(&plain, "ball.q") > -1e-2);
    // the scheme of the other one starts anew, from the state that it has
    assert!((last(&run, "other.q") - last(&plain, "other.q")).abs() < 5e-3);
    assert!(
        (run.signal("ball.q").unwrap()[600] - plain.signal("ball.q").unwrap()[600]).abs() < 1e-12
    );
}

#[test]
fn inputs_stay_what_they_are() {
    let mut model = Model::new("inputs");
    let names =
        saltus::model::Names { time: true, first: ("x", 1), inputs: 1, ..Default::default() };
    let f = Operator::formula("[z[0] + 0*x[0]]", &names, &[]).unwrap();
    let system = FirstOrder { x0: vec![0.0], f, df_dx: None, M: None, z0: vec![1.0] };
    let id = model.add("x", system).unwrap();
    let relation = FirstOrderLinearRelation::new([[1.0]], [[1.0]]);
    model.connect("wall", relation, Law::Complementarity, &[id]).unwrap();
    model.add_event(Event::at([0.5]).disconnect("wall")).unwrap();
    let mut sim = simulate(model, 0.1);
    sim.run(0.3).unwrap();
    sim.set_inputs("x", &[-3.0]).unwrap();
    sim.run(1.0).unwrap();
    // 0.3 at 0.3, on the wall from 0.4 on, and down from 0.5 on
    assert!((sim.x(id).unwrap()[0] + 1.5).abs() < 1e-9, "{:?}", sim.x(id));
    assert_eq!(sim.inputs("x").unwrap(), [-3.0]);
}

/// An event that changes something else leaves the motion alone, by every scheme.
#[test]
fn momentum_outlives_events() {
    let build = |k: f64| {
        let mut model = Model::new("fall");
        model.add_parameter("k", k);
        model.add("ball", LagrangianLinear::new([0.0], [0.0], [[1.0]]).F_ext([-G]))?;
        model.add_event(Event::every(0.01).set_parameter("k", "k + 1"))?;
        Ok::<_, ModelError>(model)
    };
    let schemes: [Integrator; 4] = [
        MoreauJean::default().into(),
        SchatzmanPaoli::default().into(),
        GeneralizedAlpha::default().into(),
        MoreauJeanBilbao::default().into(),
    ];
    for scheme in schemes {
        let model = build(0.0).unwrap();
        let model = model.with_recipe(move |set| build(set[0].1).map_err(|e| e.to_string()));
        let mut sim = TimeStepping::new(model, 1e-3, [scheme.clone()]).unwrap();
        let run = sim.run(1.0).unwrap();
        assert!(run.events.len() >= 99);
        let q = *run.signal("ball.q").unwrap().last().unwrap();
        assert!((q + 0.5 * G).abs() < 1e-9, "{scheme:?}: {q}");
    }
}

/// What is connected as a bond stays one.
#[test]
fn a_bond_is_not_made_by_an_event() {
    let bond = || Law::cohesive(Bond::new(1e4, 20.0, 0.1), 0.0);
    for (first, second) in [(bond(), Law::newton_impact(0.5)), (Law::newton_impact(0.5), bond())] {
        let mut model = Model::new("bond");
        let mass = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
        let relation = LagrangianLinearRelation::new([[1.0]]);
        model.connect("link", relation, first, &[mass]).unwrap();
        let error = model.add_event(Event::at([0.5]).set_law("link", second)).unwrap_err();
        assert!(error.to_string().contains("bond"), "{error}");
    }
}
