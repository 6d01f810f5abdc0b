//! Event-driven model files, and `saltus verify`.

use crate::{BALL, Folder};
use serde_json::Value;

/// The ball with these settings instead of its step.
fn ball(settings: &str) -> String {
    let lines = BALL.lines().filter(|line| !line.starts_with("h =") && !line.starts_with("integ"));
    let text: Vec<&str> = lines.collect();
    text.join("\n").replace("[simulation]", &format!("[simulation]\n{settings}"))
}

fn driven(folder: &Folder) {
    folder.write("ball.toml", &ball("strategy = \"event-driven\""));
}

#[test]
fn a_summary_counts_the_events() {
    let folder = Folder::new();
    driven(&folder);
    let said = folder.saltus(&["run", "ball.toml", "--until", "3"]).done();
    for words in
        ["event-driven, rtol = 1e-9, atol = 1e-11", " impact", "floor (impact)", "ball.png"]
    {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let said = folder.saltus(&["info", "ball.h5"]).done();
    assert!(said.out.contains(" impact"), "{}", said.out);
    let said = folder.saltus(&["info", "ball.toml"]).done();
    assert!(said.out.contains("event-driven, rtol = 1e-9, atol = 1e-11, t = 0 to"), "{}", said.out);
}

#[test]
fn json_has_the_events_and_the_settings_that_there_are() {
    let folder = Folder::new();
    driven(&folder);
    let args = ["run", "ball.toml", "--until", "3", "--json", "--no-plot"];
    let document: Value = serde_json::from_str(&folder.saltus(&args).done().out).unwrap();
    assert_eq!((&document["strategy"], &document["rtol"]), (&"event-driven".into(), &1e-9.into()));
    assert!(document["h"].is_null());
    let first = &document["events"][0];
    assert_eq!((&first["kind"], &first["interaction"]), (&"impact".into(), &"floor".into()));
    let args = ["info", "ball.toml", "--json"];
    let document: Value = serde_json::from_str(&folder.saltus(&args).done().out).unwrap();
    assert_eq!((&document["strategy"], &document["atol"]), (&"event-driven".into(), &1e-11.into()));
    assert!(document["h"].is_null());
}

#[test]
fn samples_are_the_rows() {
    let folder = Folder::new();
    folder.write("ball.toml", &ball("strategy = \"event-driven\"\noutput = { samples = 11 }"));
    folder.saltus(&["run", "ball.toml", "--quiet", "--no-plot"]).done();
    let said = folder.saltus(&["info", "ball.h5"]).done();
    assert!(said.out.contains("11, t = 0 to"), "{}", said.out);
}

#[test]
fn options_of_the_other_strategy_are_refused() {
    let folder = Folder::new();
    driven(&folder);
    let said = folder.saltus(&["run", "ball.toml", "--h", "1e-3"]);
    assert_eq!(said.status, 2);
    let words = "`h` is not a setting of event-driven, which has `rtol` and `atol`";
    assert!(said.err.contains(words), "{}", said.err);
    let said = folder.saltus(&["run", "ball.toml", "--checkpoint", "ball.cp"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("cannot be saved"), "{}", said.err);
    for set in
        ["simulation.rtol=0", "simulation.atol=-1", "simulation.rtol=nan", "simulation.rtol=x"]
    {
        let said = folder.saltus(&["run", "ball.toml", "--set", set]);
        assert_eq!(said.status, 2, "{set}: {}", said.err);
    }
    assert_eq!(folder.names(), ["ball.toml"]);
}

#[test]
fn a_file_can_be_run_with_another_strategy() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let args = ["run", "ball.toml", "--set", "simulation.strategy=event-driven", "--no-plot"];
    let said = folder.saltus(&args).done();
    assert!(said.out.contains("event-driven, rtol = 1e-9"), "{}", said.out);
}

#[test]
fn verify_tells_how_much_changes() {
    let folder = Folder::new();
    driven(&folder);
    let said = folder.saltus(&["verify", "ball.toml", "--until", "1"]).done();
    for words in ["rtol = 1e-9 in", "1e-10 in", "ball.q", "floor (impact)", "holds: no signal"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    assert_eq!(folder.names(), ["ball.toml"]);
    let args = ["verify", "ball.toml", "--until", "1", "--json"];
    let document: Value = serde_json::from_str(&folder.saltus(&args).done().out).unwrap();
    assert_eq!((&document["holds"], &document["setting"]), (&true.into(), &"rtol".into()));
    assert!(document["worst"].as_f64().unwrap() < 1e-9);
    // time-stepping is of first order here, and its step is large
    folder.write("ball.toml", BALL);
    let said = folder.saltus(&["verify", "ball.toml"]);
    assert_eq!(said.status, 1, "{}", said.err);
    assert!(said.out.contains("differs: a signal changes by"), "{}", said.out);
    assert!(said.out.contains("h = 0.005 in"), "{}", said.out);
    folder.saltus(&["verify", "ball.toml", "--tol", "10"]).done();
}

/// A velocity that is zero but for round-off does not differ.
#[test]
fn round_off_is_no_difference() {
    let folder = Folder::new();
    folder.write("cube.toml", include_str!("../../../../examples/cube-on-slope/scene.toml"));
    let said = folder.saltus(&["verify", "cube.toml"]).done();
    assert!(said.out.contains("holds: no signal"), "{}", said.out);
}

#[test]
fn adaptive_files() {
    let folder = Folder::new();
    folder.write("ball.toml", &ball("strategy = \"adaptive\"\ntol = 1e-7"));
    let said = folder.saltus(&["run", "ball.toml", "--until", "3", "--no-plot"]).done();
    assert!(said.out.contains("adaptive, tol = 1e-7"), "{}", said.out);
    let said = folder.saltus(&["info", "ball.toml"]).done();
    assert!(said.out.contains("adaptive, tol = 1e-7, t = 0 to 1 s"), "{}", said.out);
    let said = folder.saltus(&["verify", "ball.toml"]).done();
    assert!(said.out.contains("adaptive, tol = 1e-7 in"), "{}", said.out);
    let args = ["run", "ball.toml", "--json", "--no-plot"];
    let document: Value = serde_json::from_str(&folder.saltus(&args).done().out).unwrap();
    assert_eq!((&document["strategy"], &document["tol"]), (&"adaptive".into(), &1e-7.into()));
    let said = folder.saltus(&["run", "ball.toml", "--checkpoint", "ball.cp"]);
    assert!(said.status == 2 && said.err.contains("adaptive runs cannot be saved"), "{}", said.err);
}

#[test]
fn verify_with_wrong_input() {
    let folder = Folder::new();
    driven(&folder);
    for args in [
        &["verify"][..],
        &["verify", "no.toml"],
        &["verify", "ball.toml", "--tol", "nan"],
        &["verify", "ball.toml", "--tol", "-1"],
        &["verify", "ball.toml", "--until", "nan"],
        &["verify", "ball.toml", "--until", "-1"],
        &["verify", "ball.toml", "--set", "simulation.rtol"],
        &["verify", "ball.toml", "--set", "simulation.rtol=2"],
        &["verify", "ball.toml", "--h", "1e-3"],
    ] {
        let said = folder.saltus(args);
        assert_eq!((said.status, said.out.as_str()), (2, ""), "{args:?}: {}", said.err);
    }
}
