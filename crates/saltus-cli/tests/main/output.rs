//! Files that are kept, pipes that are closed, pictures that cannot be.

use crate::{BALL, Folder, Said};
use std::process::{Command, Stdio};

/// Runs the command beside `ball.toml` and `ball.h5`; expects status 2, these words, and both
/// files as they were.
#[track_caller]
fn check_refused(args: &[&str], expected: &str) {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    folder.saltus(&["run", "ball.toml", "--quiet", "--no-plot"]).done();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let run = read("ball.h5");
    let said = folder.saltus(args);
    assert_eq!((said.status, said.out.as_str()), (2, ""), "{said:?}");
    assert_eq!(said.err, format!("saltus: {expected}\n"));
    assert_eq!(folder.names(), ["ball.h5", "ball.toml"]);
    assert!(read("ball.toml") == BALL.as_bytes() && read("ball.h5") == run);
}

#[test]
fn no_file_is_written_over_another_one_of_the_command() {
    let run = "give other names with -o and --plot, or --no-plot";
    check_refused(
        &["run", "ball.toml", "-o", "a.png"],
        &format!("the run file and the picture are both `a.png`; {run}"),
    );
    check_refused(
        &["run", "ball.toml", "-o", "./ball.toml"],
        &format!("the model file and the run file are both `./ball.toml`; {run}"),
    );
    check_refused(
        &["export", "ball.h5", "--to", "csv", "-o", "./ball.h5"],
        "the run file and the file to write are both `./ball.h5`; give another name with -o",
    );
}

#[cfg(unix)]
#[test]
fn a_picture_is_not_drawn_over_its_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    folder.saltus(&["run", "ball.toml", "--quiet", "--no-plot"]).done();
    std::os::unix::fs::symlink("ball.h5", folder.path().join("ball.png")).unwrap();
    let said = folder.saltus(&["plot", "ball.h5"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("the run file and the picture are both `ball.png`"), "{said:?}");
    folder.saltus(&["info", "ball.h5"]).done();
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_replaced() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    for target in ["pipe", "/dev/null"] {
        let said = folder.saltus(&["run", "ball.toml", "--no-plot", "-o", target]);
        assert_eq!(said.status, 2, "{said:?}");
        let expected = format!("saltus: cannot write `{target}`: it is not a regular file\n");
        assert_eq!(said.err, expected);
    }
    assert_eq!(folder.names(), ["ball.toml", "pipe"]);
}

/// `saltus ... | true`, for the commands that print.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    folder.saltus(&["run", "ball.toml", "--quiet", "--no-plot"]).done();
    for args in [
        &["schema"][..],
        &["examples"],
        &["info", "ball.h5"],
        &["info", "ball.toml", "--json"],
        &["compare", "ball.h5", "ball.h5"],
        &["run", "ball.toml", "--no-plot"],
        &["plot", "ball.h5"],
        &["export", "ball.h5", "--to", "csv"],
    ] {
        // the reading end is closed once the other command has ended
        let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let pipe = reader.stdin.take().unwrap();
        reader.wait().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
        command.args(args).current_dir(folder.path()).stdout(pipe);
        let said = Said::new(command.stderr(Stdio::piped()).output().unwrap());
        assert_eq!((said.status, said.err.as_str()), (0, ""), "{args:?}");
    }
}

/// The summary comes first, then the warning, and the run is kept.
#[test]
fn a_picture_that_fails_after_the_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    // a folder where the picture's partial file would be
    std::fs::create_dir(folder.path().join("ball.png.partial")).unwrap();
    let said = folder.saltus(&["run", "ball.toml"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.out.contains("200 steps") && !said.out.contains("ball.png"), "{said:?}");
    let expected = "saltus: warning: there is no picture: cannot write `ball.png`";
    assert!(said.err.starts_with(expected), "{said:?}");
    folder.saltus(&["info", "ball.h5"]).done();
}

#[test]
fn a_run_without_signals_has_no_picture() {
    let folder = Folder::new();
    let model = BALL.replace("until = 1.0", "until = 1.0\noutput = { signals = [] }");
    folder.write("ball.toml", &model);
    let said = folder.saltus(&["run", "ball.toml", "--json"]).done();
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(document["plot"].is_null());
    assert_eq!(folder.names(), ["ball.h5", "ball.toml"]);
    let said = folder.saltus(&["plot", "ball.h5"]);
    assert_eq!(said.status, 2);
    let expected = "saltus: there is nothing to draw: the run has no rows or no signals\n";
    assert_eq!(said.err, expected);
}

#[test]
fn examples_do_not_replace_changed_files() {
    let folder = Folder::new();
    let write = ["examples", "sliding-mode", "--write", "out"];
    folder.saltus(&write).done();
    folder.saltus(&write).done();
    folder.write("out/sliding-mode/model.toml", BALL);
    let said = folder.saltus(&write);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("model.toml` is there and differs from the example"), "{said:?}");
    let kept = std::fs::read_to_string(folder.path().join("out/sliding-mode/model.toml"));
    assert_eq!(kept.unwrap(), BALL);
}

/// Pictures of runs with many lines stay small.
#[test]
fn an_svg_picture_is_small() {
    let folder = Folder::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/rc-diode-ladder/model.toml");
    folder.saltus(&["run", example, "--quiet", "-o", "x.h5", "--plot", "x.svg"]).done();
    let size = std::fs::metadata(folder.path().join("x.svg")).unwrap().len();
    assert!(size < 300_000, "{size} bytes");
}

/// A scene in which nothing can touch has no table of contacts.
#[test]
fn a_scene_without_contacts_is_written() {
    let folder = Folder::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/dzhanibekov/scene.toml");
    folder
        .saltus(&["run", example, "--quiet", "--no-plot", "--until", "0.05", "-o", "x.h5"])
        .done();
    let said = folder.saltus(&["info", "x.h5"]).done();
    assert!(said.out.contains("nut"), "{said:?}");
}
