//! Ctrl-C, failing steps and failing disks keep or remove what they should.

use crate::{BALL, Folder, Said};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Ctrl-C once ends the run after the current step; what was computed is kept and marked.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_computed() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["run", "ball.toml", "--until", "1e9", "--no-plot"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // the file is made after Ctrl-C has got its meaning
    let deadline = Instant::now() + Duration::from_secs(60);
    while folder.names() != ["ball.h5.partial", "ball.toml"] {
        assert!(Instant::now() < deadline, "{:?}", folder.names());
        std::thread::sleep(Duration::from_millis(10));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let said = Said::new(child.wait_with_output().unwrap());
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("interrupted at t = "), "{said:?}");
    assert_eq!(folder.names(), ["ball.h5", "ball.toml"]);
    let info = folder.saltus(&["info", "ball.h5"]).done();
    assert!(info.out.contains("interrupted (incomplete)"), "{info:?}");
}

/// A step that cannot be solved ends the run: status 1, the rows before it are kept.
#[test]
fn a_failed_run_keeps_the_rows_before_the_failure() {
    let folder = Folder::new();
    // 0 ≤ y = 1 − t − 0·λ ⟂ λ ≥ 0 has no solution once t > 1
    folder.write(
        "dead.toml",
        r#"title = "dead end"
[simulation]
h = 0.125
until = 3
[[system]]
name = "clock"
kind = "first-order-linear"
x0 = [1]
A = [[0]]
b = [-1]
[[interaction]]
name = "wall"
systems = ["clock"]
relation = { kind = "first-order-linear", C = [[1]], B = [[0]] }
law = "complementarity"
"#,
    );
    let said = folder.saltus(&["run", "dead.toml", "--no-plot"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("t = 1.125") && said.err.contains("`wall`"), "{said:?}");
    let info = folder.saltus(&["info", "dead.h5", "--json"]).done();
    let info: serde_json::Value = serde_json::from_str(&info.out).unwrap();
    assert_eq!(info["rows"], 9);
    assert_eq!(info["outcome"], "failed");
}

/// A disk that takes no more fails the run, and leaves no file under the final name.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    // a limit on file sizes stands for a full disk: writes fail in the middle of the run
    let script = format!(
        "trap '' XFSZ; ulimit -f 512; exec {} run ball.toml --until 2000 --no-plot",
        env!("CARGO_BIN_EXE_saltus")
    );
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    let said = Said::new(output);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("ball.h5"), "{said:?}");
    assert_eq!(folder.names(), ["ball.toml"]);
}

/// Ctrl-C ends the problem at hand; the document holds it and those before it.
#[cfg(unix)]
#[test]
fn an_interrupted_solve_keeps_what_was_solved() {
    use std::fmt::Write;
    let folder = Folder::new();
    folder.write("small.dat", "1 0 1 1 1 1 2 -1");
    // the modes of so many unknowns take a minute
    let n = 24;
    let mut text = format!("{n} 0 {n} {n} {n} {n}\n");
    for i in 0..n {
        for j in 0..n {
            // no unknown can be basic alone: W = −(all ones), whose modes have no answer
            let _ = write!(text, "{} ", if i == j { -2.0 } else { -1.0 });
        }
    }
    let _ = writeln!(text, "{}", "-1 ".repeat(n));
    folder.write("long.dat", &text);
    let args = ["solve", "small.dat", "long.dat", "small.dat", "--kind", "lcp", "--json"];
    let child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(args)
        .args(["--solver", "enumeration", "--max-iter", "100000000"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let said = Said::new(child.wait_with_output().unwrap());
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("interrupted; what was solved is kept"), "{said:?}");
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let reasons: Vec<&str> =
        document.as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["solved", "interrupted"]);
}
