//! `--checkpoint` and `--resume`.

use crate::{BALL, Folder};

#[test]
fn a_resumed_run_goes_on_where_the_checkpoint_was_made() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let run = ["run", "ball.toml", "--quiet", "--no-plot"];
    let with = |more: &[&str]| folder.saltus(&[&run[..], more].concat());
    with(&["-o", "whole.h5"]).done();
    with(&["-o", "first.h5", "--until", "0.5", "--checkpoint", "half", "--checkpoint-every", "30"])
        .done();
    with(&["--resume", "half"]).done();
    assert!(folder.names().contains(&"ball-from-0.5.h5".to_string()), "{:?}", folder.names());
    let export = |file: &str| {
        let csv = format!("{file}.csv");
        folder.saltus(&["export", file, "--to", "csv", "-o", &csv]).done();
        std::fs::read_to_string(folder.path().join(csv)).unwrap()
    };
    let (whole, rest) = (export("whole.h5"), export("ball-from-0.5.h5"));
    let (whole, rest): (Vec<&str>, Vec<&str>) = (whole.lines().collect(), rest.lines().collect());
    assert!(rest.len() > 90);
    assert_eq!(rest[2..], whole[whole.len() - rest.len() + 2..]);

    // the summary says where it came from
    let json = ["--json", "--resume", "half", "--checkpoint", "half", "--until", "0.75"];
    let said = folder.saltus(&[&["run", "ball.toml", "--no-plot"], &json[..]].concat()).done();
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&document["from"], &document["t"]), (&0.5.into(), &0.75.into()));
    assert_eq!(document["checkpoint"], "half");
    with(&["--resume", "half"]).done();
    assert!(folder.names().contains(&"ball-from-0.75.h5".to_string()));
}

/// A run that would end where it begins, or before, writes nothing over what is there.
#[test]
fn a_checkpoint_after_the_end_of_the_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let run = |more: &[&str]| folder.saltus(&[&["run", "ball.toml", "--no-plot"], more].concat());
    run(&["--until", "0.5", "--checkpoint", "half", "-o", "keep.h5"]).done();
    let before = std::fs::read(folder.path().join("keep.h5")).unwrap();
    for until in ["0.25", "0.5"] {
        let said = run(&["--until", until, "--resume", "half", "-o", "keep.h5"]);
        let words = format!(
            "the run ends at t = {until} s, not after the checkpoint, which is of t = 0.5 s"
        );
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.err.contains(&words), "{}", said.err);
    }
    assert_eq!(std::fs::read(folder.path().join("keep.h5")).unwrap(), before);
}

#[test]
fn what_cannot_be_resumed_is_told() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let run = |more: &[&str]| folder.saltus(&[&["run", "ball.toml", "--no-plot"], more].concat());
    run(&["--until", "0.1", "--checkpoint", "c"]).done();
    for (args, words) in [
        (&["--resume", "c", "--h", "1e-4"][..], "the step h is 0.0001"),
        (&["--resume", "none"], "none"),
        (&["--resume", "ball.toml", "-o", "x.h5"], "not a checkpoint"),
        (&["--checkpoint-every", "10"], "--checkpoint"),
        (&["--checkpoint", "d", "--checkpoint-every", "often"], "number of steps"),
        (&["--checkpoint", "ball.toml"], "ball.toml"),
    ] {
        let said = run(args);
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
}
