//! The `[[event]]` tables.

use super::{BALL, parse};
use saltus_io::ModelFile;
use saltus_model::{Action, Law, Term, Trigger};

/// The ball with events.
fn with(event: &str) -> String {
    format!("{BALL}\n[[event]]\n{event}\n")
}

#[track_caller]
fn good(event: &str) -> ModelFile {
    parse(&with(event)).unwrap_or_else(|error| panic!("{}", error.report()))
}

#[track_caller]
fn check(event: &str, expected: &str) {
    let error = parse(&with(event)).map(|_| ()).unwrap_err();
    // the event begins in line 28, its first key in line 29
    assert_eq!(error.to_string(), format!("model.toml:{expected}"));
}

#[test]
fn all_that_an_event_can_do() {
    let file = good(
        r#"
        name = "all"
        when = "ball.q[0] < r and floor.lam[0] > 0"
        once = true
        set = { "ball.v" = ["-ball.v[0]", 0, 1], "ball.q[1]" = "2*r", g = 1.62 }
        law = { floor = { kind = "newton-impact", e = "r" } }
        disconnect = ["floor"]
        connect = ["floor"]
        stop = true"#,
    );
    let [event] = file.model.events() else { panic!() };
    assert_eq!((event.name.as_str(), event.once), ("all", true));
    let condition = "ball.q[0] < r and floor.lam[0] > 0".to_string();
    assert_eq!(event.trigger, Trigger::When(condition));
    let terms = |texts: [&str; 3]| texts.map(|text| Term(text.to_string())).to_vec();
    let state = |quantity: &str, values| {
        let (system, quantity) = ("ball".to_string(), quantity.to_string());
        Action::SetState { system, quantity, values }
    };
    let expected = [
        state("v", terms(["-ball.v[0]", "0.0", "1.0"])),
        state("q", terms(["'ball'.q[0]", "2*r", "'ball'.q[2]"])),
        Action::SetParameter { parameter: "g".to_string(), value: Term("1.62".to_string()) },
        Action::SetLaw { interaction: "floor".to_string(), law: Law::newton_impact(0.1) },
        Action::Disconnect("floor".to_string()),
        Action::Connect("floor".to_string()),
        Action::Stop,
    ];
    assert_eq!(event.actions, expected);

    let moved = file.model.with_parameters(&[("r", 0.25)]).unwrap();
    let Action::SetLaw { law, .. } = &moved.events()[0].actions[3] else { panic!() };
    assert_eq!(*law, Law::newton_impact(0.25)); // laws of events have the new value too
    assert_eq!(moved.parameters().collect::<Vec<_>>(), [("g", 9.81), ("r", 0.25)]);
}

#[test]
fn times() {
    let trigger = |event: &str| good(event).model.events()[0].trigger.clone();
    assert_eq!(trigger("at = 1"), Trigger::At(vec![1.0]));
    assert_eq!(trigger("at = [\"2*r\", 3]"), Trigger::At(vec![0.2, 3.0]));
    assert_eq!(trigger("every = \"r\""), Trigger::Every { period: 0.1, start: None });
    let every = Trigger::Every { period: 0.5, start: Some(0.25) };
    assert_eq!(trigger("every = 0.5\nstart = 0.25"), every);
    assert_eq!(good("at = 1").model.events()[0].name, "event1");
}

#[test]
fn repeated_events_and_interactions_that_wait() {
    let text = with(
        "name = \"kick{i}\"\nfor = \"i in 0..3\"\nwhen = \"ball.q[{i}] > {i}\"\nset = { ball.v = [0, 0, 0] }",
    );
    let text = text.replace("e = 0.9 }", "e = 0.9 }\nactive = false");
    let model = parse(&text).unwrap().model;
    let names: Vec<&str> = model.events().iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["kick0", "kick1", "kick2"]);
    assert_eq!(model.events()[2].trigger, Trigger::When("ball.q[2] > 2".to_string()));
    assert!(!model.interactions().next().unwrap().1.active);
}

#[test]
fn wrong_events() {
    check("stop = true", "28:1: an event needs one of `when`, `at` and `every`, found none");
    check(
        "at = 1\nwhen = \"t > 1\"",
        "29:6: an event needs one of `when`, `at` and `every`, found more than one",
    );
    check("at = 1\nstart = 1", "30:9: `start`: expected `every` beside it, found a number");
    check("when = \"bal.q[0] < 1\"", "29:9: unknown name `bal.q[0]`; did you mean `ball.q[0]`?");
    check(
        "when = \"t > 1\"\nset = { \"ball.v\" = [0, \"1 + ball.w[0]\", 0] }",
        "30:29: unknown name `ball.w[0]`; did you mean `ball.q[0]`?",
    );
    check(
        "at = 1\nset = { \"ball.v\" = [0] }",
        "30:20: event `event`, ball.v: `set` has length 1, expected 3 (the size of the system)",
    );
    check("at = 1\nset = { h = 1 }", "30:13: there is no parameter named `h`");
    check(
        "at = 1\nset = { \"ball.q[3]\" = 1 }",
        "30:23: `set`: there is no `ball.q[3]`, expected an index from 0 to 2",
    );
    check(
        "at = 1\nconnect = [\"flor\"]",
        "30:12: there is no interaction named `flor`; did you mean `floor`?",
    );
    check(
        "at = 1\nlaw = { flor = \"equality\" }",
        "30:16: there is no interaction named `flor`; did you mean `floor`?",
    );
    check("at = 1\nonec = true", "30:1: unknown key `onec`; did you mean `once`?");
    check(
        "at = [1, -1]",
        "29:6: event `event`: entry 1 of `at` is -1, expected a finite time from t0 = 0 on",
    );
    check("at = nan", "29:6: `at`: expected a finite number, found NaN");
    check("every = 0", "29:9: event `event`: `every` = 0 is outside (0, inf)");
}
