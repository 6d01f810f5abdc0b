//! Every option of every command changes something: none is parsed and forgotten.

use crate::{BALL, Folder};
use std::collections::BTreeSet;
use std::path::Path;

/// A command line without the option, one with it, and what has to differ.
struct Case {
    option: &'static str,
    without: &'static [&'static str],
    with: &'static [&'static str],
    differs: Differs,
}

#[derive(Debug, Clone, Copy)]
enum Differs {
    /// What the command prints.
    Output,
    /// The names of the files that are there afterwards.
    Files,
    /// What is in this file.
    In(&'static str),
    /// The exit status.
    Status,
}
use Differs::{Files, In, Output, Status};

const fn case(
    option: &'static str,
    without: &'static [&'static str],
    with: &'static [&'static str],
    differs: Differs,
) -> Case {
    Case { option, without, with, differs }
}

const CASES: &[Case] = &[
    case(
        "run --output",
        &["run", "ball.toml", "--no-plot"],
        &["run", "ball.toml", "--no-plot", "-o", "other.h5"],
        Files,
    ),
    case(
        "run --until",
        &["run", "ball.toml", "--no-plot", "--json"],
        &["run", "ball.toml", "--no-plot", "--json", "--until", "0.5"],
        Output,
    ),
    case(
        "run --h",
        &["run", "ball.toml", "--no-plot", "--json"],
        &["run", "ball.toml", "--no-plot", "--json", "--h", "0.01"],
        Output,
    ),
    case(
        "run --set",
        &["run", "ball.toml", "--no-plot", "--json"],
        &["run", "ball.toml", "--no-plot", "--json", "--set", "floor.law.e=0.5"],
        Output,
    ),
    case("run --plot", &["run", "ball.toml"], &["run", "ball.toml", "--plot", "ball.svg"], Files),
    case("run --no-plot", &["run", "ball.toml"], &["run", "ball.toml", "--no-plot"], Files),
    case(
        "run --json",
        &["run", "ball.toml", "--no-plot"],
        &["run", "ball.toml", "--no-plot", "--json"],
        Output,
    ),
    case(
        "run --quiet",
        &["run", "ball.toml", "--no-plot"],
        &["run", "ball.toml", "--no-plot", "--quiet"],
        Output,
    ),
    case(
        "run --method",
        &["run", "rc.cir", "--no-plot", "--json"],
        &["run", "rc.cir", "--no-plot", "--json", "--method", "exact"],
        Output,
    ),
    case(
        "run --steady-state",
        &["run", "rc.cir", "--no-plot", "--json"],
        &["run", "rc.cir", "--no-plot", "--json", "--steady-state"],
        Output,
    ),
    case("plot --output", &["plot", "run.h5"], &["plot", "run.h5", "-o", "picture.svg"], Files),
    case("solve --kind", &["solve", "x.dat"], &["solve", "x.dat", "--kind", "lcp"], Status),
    case(
        "solve --solver",
        &["solve", "lcp/x.dat", "--json"],
        &["solve", "lcp/x.dat", "--json", "--solver", "gauss-seidel"],
        Output,
    ),
    case(
        "solve --tol",
        &["solve", "lcp/x.dat", "--solver", "gauss-seidel", "--max-iter", "3"],
        &["solve", "lcp/x.dat", "--solver", "gauss-seidel", "--max-iter", "3", "--tol", "0.1"],
        Status,
    ),
    case(
        "solve --max-iter",
        &["solve", "lcp/x.dat", "--solver", "gauss-seidel"],
        &["solve", "lcp/x.dat", "--solver", "gauss-seidel", "--max-iter", "1"],
        Status,
    ),
    case("solve --json", &["solve", "lcp/x.dat"], &["solve", "lcp/x.dat", "--json"], Output),
    case("solve --output", &["solve", "lcp/x.dat"], &["solve", "lcp/x.dat", "-o", "z.csv"], Files),
    case("info --kind", &["info", "x.dat"], &["info", "x.dat", "--kind", "lcp"], Status),
    case("info --json", &["info", "ball.toml"], &["info", "ball.toml", "--json"], Output),
    case("export --to", &["export", "run.h5"], &["export", "run.h5", "--to", "csv"], Status),
    case(
        "export --output",
        &["export", "run.h5", "--to", "csv"],
        &["export", "run.h5", "--to", "csv", "-o", "table.csv"],
        Files,
    ),
    case(
        "export --signal",
        &["export", "run.h5", "--to", "csv"],
        &["export", "run.h5", "--to", "csv", "--signal", "ball.q"],
        In("run.csv"),
    ),
    case(
        "export --every",
        &["export", "run.h5", "--to", "csv"],
        &["export", "run.h5", "--to", "csv", "--every", "5"],
        In("run.csv"),
    ),
    case("verify --tol", &["verify", "ball.toml"], &["verify", "ball.toml", "--tol", "10"], Status),
    case(
        "verify --until",
        &["verify", "ball.toml", "--tol", "10"],
        &["verify", "ball.toml", "--tol", "10", "--until", "0.2"],
        Output,
    ),
    case(
        "verify --set",
        &["verify", "ball.toml", "--tol", "10"],
        &["verify", "ball.toml", "--tol", "10", "--set", "g=1.62"],
        Output,
    ),
    case(
        "verify --json",
        &["verify", "ball.toml", "--tol", "10"],
        &["verify", "ball.toml", "--tol", "10", "--json"],
        Output,
    ),
    case(
        "compare --tol",
        &["compare", "run.h5", "moon.h5"],
        &["compare", "run.h5", "moon.h5", "--tol", "1e9"],
        Status,
    ),
    case(
        "compare --json",
        &["compare", "run.h5", "run.h5"],
        &["compare", "run.h5", "run.h5", "--json"],
        Output,
    ),
    case("examples --write", &["examples"], &["examples", "--write", "out"], Files),
];

/// Options with tests of their own, in the file that is named.
const ELSEWHERE: &[(&str, &str)] = &[
    ("run --checkpoint", "checkpoint.rs"),
    ("run --checkpoint-every", "checkpoint.rs"),
    ("run --resume", "checkpoint.rs"),
    ("solve --unique", "solve.rs"),
    ("export --folder", "scenes.rs"),
];

/// A folder with what the commands need: a model, a netlist, two runs of it, a stored problem.
fn folder(runs: &Folder) -> Folder {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let rc = "rc\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 1u ic=0\n.tran 10u 2m uic\n";
    folder.write("rc.cir", rc);
    for run in ["run.h5", "moon.h5"] {
        std::fs::copy(runs.path().join(run), folder.path().join(run)).unwrap();
    }
    // one sweep does not solve it
    let problem = "2 0 2 2 2 2 2 1 1 2 -1 -1.5";
    folder.write("x.dat", problem);
    std::fs::create_dir(folder.path().join("lcp")).unwrap();
    folder.write("lcp/x.dat", problem);
    folder
}

#[test]
fn every_option_has_an_effect() {
    let runs = Folder::new();
    runs.write("ball.toml", BALL);
    for (file, g) in [("run.h5", "g=9.81"), ("moon.h5", "g=1.62")] {
        let usual = ["run", "ball.toml", "--quiet", "--no-plot", "-o", file, "--set", g];
        runs.saltus(&usual).done();
    }
    for Case { option, without, with, differs } in CASES {
        let [(one, said_one), (other, said_other)] = [without, with].map(|args| {
            let folder = folder(&runs);
            let said = folder.saltus(args);
            (folder, said)
        });
        let differ = match *differs {
            Output => without_seconds(&said_one.out) != without_seconds(&said_other.out),
            Files => one.names() != other.names(),
            In(file) => read(one.path(), file) != read(other.path(), file),
            Status => said_one.status != said_other.status,
        };
        assert!(differ, "{option} has no effect on {differs:?}: {said_one:?} {said_other:?}");
        let expected = i32::from(*option == "solve --max-iter"); // too few of them
        assert_eq!(said_other.status, expected, "{option}: {said_other:?}");
    }
}

/// Wall times differ from run to run, whatever the options are.
fn without_seconds(text: &str) -> String {
    text.split([',', '\n']).filter(|part| !part.contains("seconds")).collect()
}

fn read(folder: &Path, file: &str) -> Vec<u8> {
    std::fs::read(folder.join(file)).unwrap()
}

/// The list above has every option that the help tells of.
#[test]
fn every_option_is_in_the_list() {
    let folder = Folder::new();
    let listed: BTreeSet<&str> =
        CASES.iter().map(|case| case.option).chain(ELSEWHERE.iter().map(|one| one.0)).collect();
    let commands =
        ["run", "plot", "solve", "info", "export", "verify", "compare", "examples", "schema"];
    let help = folder.saltus(&["--help"]).done().out;
    let told = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let told: Vec<&str> = told
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&command| command != "help")
        .collect();
    assert_eq!(told, commands);
    for command in commands {
        let help = folder.saltus(&[command, "--help"]).done().out;
        let options = help.lines().filter_map(|line| {
            let line = line.trim_start();
            let long = line.strip_prefix("--").or_else(|| line.split_once(", --").map(|p| p.1))?;
            line.starts_with('-').then(|| long.split([' ', '=']).next().unwrap_or(long))
        });
        for option in options.filter(|&option| option != "help") {
            let name = format!("{command} --{option}");
            assert!(listed.contains(name.as_str()), "`{name}` has no test");
        }
    }
}
