//! What each command does when all is well.

use crate::{BALL, Folder};

#[test]
fn run_writes_a_run_file_and_a_picture_and_prints_a_summary() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let said = folder.saltus(&["run", "ball.toml"]).done();
    assert_eq!(folder.names(), ["ball.h5", "ball.png", "ball.toml"]);
    for words in ["bouncing ball", "200 steps", "worst residual", "ball.h5", "ball.png"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    assert_eq!(said.err, "");
    let png = std::fs::read(folder.path().join("ball.png")).unwrap();
    assert_eq!(&png[..4], b"\x89PNG");
}

#[test]
fn a_file_named_model_lends_its_folders_name() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("tower")).unwrap();
    folder.write("tower/model.toml", BALL);
    folder.saltus(&["run", "tower/model.toml", "--quiet", "--no-plot"]).done();
    assert_eq!(folder.names(), ["tower", "tower.h5"]);
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let said = folder.saltus(&["run", "ball.toml", "--json", "--until", "0.5"]).done();
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["steps"], 100);
    assert_eq!(document["complete"], true);
    assert_eq!(document["outcome"], "complete");
    assert_eq!(document["failures"], 0);
    assert_eq!(said.err, "");
    for file in ["info", "compare"] {
        let args: &[&str] = match file {
            "info" => &["info", "ball.h5", "--json"],
            _ => &["compare", "ball.h5", "ball.h5", "--json"],
        };
        let said = folder.saltus(args).done();
        serde_json::from_str::<serde_json::Value>(&said.out).unwrap();
    }
}

#[test]
fn set_replaces_values_and_is_kept_in_the_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let earth = ["run", "ball.toml", "--quiet", "--no-plot", "-o", "earth.h5"];
    folder.saltus(&earth).done();
    let moon = ["run", "ball.toml", "--quiet", "--no-plot", "-o", "moon.h5", "--set", "g=1.62"];
    folder.saltus(&moon).done();
    let law =
        ["run", "ball.toml", "--quiet", "--no-plot", "-o", "law.h5", "--set", "floor.law.e=0"];
    folder.saltus(&law).done();
    assert_eq!(folder.saltus(&["compare", "earth.h5", "earth.h5"]).status, 0);
    assert_eq!(folder.saltus(&["compare", "earth.h5", "moon.h5"]).status, 1);
    assert_eq!(folder.saltus(&["compare", "earth.h5", "law.h5"]).status, 1);
    assert_eq!(folder.saltus(&["compare", "earth.h5", "moon.h5", "--tol", "1e9"]).status, 0);
    let bytes = std::fs::read(folder.path().join("moon.h5")).unwrap();
    let note = b"# --set g=1.62";
    assert!(bytes.windows(note.len()).any(|window| window == note));
}

#[test]
fn plot_export_and_info_read_a_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    folder.saltus(&["run", "ball.toml", "--quiet", "--no-plot"]).done();

    folder.saltus(&["plot", "ball.h5", "ball.q[0]", "floor", "-o", "ball.svg"]).done();
    let svg = std::fs::read_to_string(folder.path().join("ball.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.contains("ball.q"));

    folder.saltus(&["export", "ball.h5", "--to", "csv", "-o", "ball.csv"]).done();
    let csv = std::fs::read_to_string(folder.path().join("ball.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("t,ball.q[0],ball.v[0],floor.y[0],floor.u[0],floor.lam[0]"));
    assert_eq!(lines.next(), Some("0.0,1.0,0.0,0.9,0.0,0.0"));
    assert_eq!(csv.lines().count(), 202);

    let said = folder.saltus(&["info", "ball.h5"]).done();
    for words in ["complete", "201", "ball.q", "floor.lam"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let said = folder.saltus(&["info", "ball.toml"]).done();
    for words in ["moreau-jean", "NewtonImpact", "on ball", "relative degree 2"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
}

#[test]
fn events_are_told() {
    let folder = Folder::new();
    let event =
        "[[event]]\nname = \"lift\"\nat = 0.3\nset = { \"ball.q\" = [1.25], g = \"g/2\" }\n";
    folder.write("ball.toml", &format!("{BALL}\n{event}"));
    let args = ["run", "ball.toml", "--no-plot", "--until", "0.5", "--set", "lift.at=0.25"];
    let said = folder.saltus(&args).done();
    for words in ["t = 0.25", "lift (scheduled): ball.q[0] ", "→ 1.25, g 9.81 → 4.905"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let said = folder.saltus(&["info", "ball.h5"]).done();
    assert!(said.out.contains("lift (scheduled)"), "{}", said.out);
    for args in [&["info", "ball.h5", "--json"][..], &["run", "ball.toml", "--no-plot", "--json"]] {
        let said = folder.saltus(args).done();
        let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let event = &document["events"][0];
        assert_eq!((&event["kind"], &event["name"]), (&"scheduled".into(), &"lift".into()));
        assert_eq!(event["changes"][1]["what"], "g");
        assert_eq!(event["changes"][1]["after"], 9.81 / 2.0);
    }
    let said = folder.saltus(&["info", "ball.toml"]).done();
    assert!(said.out.contains("event at [0.3] s: 2 actions"), "{}", said.out);
}

#[test]
fn every_bundled_example_is_listed_and_written() {
    let folder = Folder::new();
    let list = folder.saltus(&["examples"]).done().out;
    assert!(list.contains("bouncing-ball") && list.lines().count() >= 9);
    let text = folder.saltus(&["examples", "diode-bridge"]).done().out;
    assert!(text.contains("complementarity"));
    folder.saltus(&["examples", "diode-bridge", "--write", "out"]).done();
    folder.saltus(&["run", "out/diode-bridge/model.toml", "--quiet", "--no-plot"]).done();
    assert_eq!(folder.names(), ["diode-bridge.h5", "out"]);
}

#[test]
fn the_schema_is_json() {
    let said = Folder::new().saltus(&["schema"]).done();
    let schema: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn output_every_and_signals_are_obeyed() {
    let folder = Folder::new();
    let model = BALL.replace(
        "until = 1.0",
        "until = 1.0\noutput = { every = 50, signals = [\"ball.q\", \"floor\"] }",
    );
    folder.write("ball.toml", &model);
    folder.saltus(&["run", "ball.toml", "--quiet", "--no-plot"]).done();
    folder.saltus(&["export", "ball.h5", "--to", "csv"]).done();
    let csv = std::fs::read_to_string(folder.path().join("ball.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("t,ball.q[0],floor.y[0],floor.u[0],floor.lam[0]"));
    assert_eq!(csv.lines().count(), 6);
}
