//! The project's own commands.
//!
//! ```text
//! cargo xtask test            everything CI checks, in order, on a fresh machine too
//! cargo xtask test rust       only the Rust half
//! cargo xtask test python     only the Python half
//! cargo xtask pictures        runs every example and writes its picture beside its README
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command prints

mod arrows;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

fn main() -> ExitCode {
    if let Err(error) = std::env::set_current_dir(root()) {
        eprintln!("xtask: {}: {error}", root().display());
        return ExitCode::FAILURE;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => rust().and_then(|()| python()),
        ["test", "rust"] => rust(),
        ["test", "python"] => python(),
        ["pictures"] => pictures(),
        _ => Err("usage: cargo xtask test [rust|python] | pictures".to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Format, clippy, tests, doc tests, docs, every example.
fn rust() -> Result<(), String> {
    step("format", cargo(&["fmt", "--all", "--check"]))?;
    let all = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    step("clippy", cargo(&all))?;
    let tests = if has_nextest() {
        cargo(&["nextest", "run", "--workspace", "--locked"])
    } else {
        cargo(&["test", "--workspace", "--locked", "--lib", "--bins", "--tests"])
    };
    step("tests", tests)?;
    step("doc tests", cargo(&["test", "--workspace", "--locked", "--doc"]))?;
    let mut docs = cargo(&["doc", "--workspace", "--locked", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    step("docs", docs)?;
    // the workspace as a whole, so that nothing is built again with other features
    step("command line", cargo(&["build", "--locked", "--workspace", "--bin", "saltus"]))?;
    examples(&target().join("debug/saltus"))
}

/// Every model file of every example runs to its end.
fn examples(saltus: &Path) -> Result<(), String> {
    let out = target().join("examples-run");
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    for model in model_files()? {
        let name = model.to_string_lossy().replace(['/', '\\'], "-").replace(".toml", "");
        let mut command = Command::new(saltus);
        command.arg("run").arg(&model).arg("--quiet");
        command.arg("--output").arg(out.join(format!("{name}.h5")));
        step(&format!("example {}", model.display()), command)?;
    }
    Ok(())
}

/// Runs every example and writes its picture into its folder.
fn pictures() -> Result<(), String> {
    step("command line", cargo(&["build", "--release", "--package", "saltus-cli"]))?;
    for model in model_files()? {
        let mut command = Command::new(target().join("release/saltus"));
        command.arg("run").arg(&model).arg("--quiet");
        command.arg("--output").arg(target().join("picture.h5"));
        let stem = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = if stem == "model" { "picture.svg".into() } else { format!("{stem}.svg") };
        command.arg("--plot").arg(model.with_file_name(name));
        step(&format!("picture of {}", model.display()), command)?;
    }
    Ok(())
}

/// A virtual environment with the package built into it, then pytest.
fn python() -> Result<(), String> {
    let venv = target().join("venv");
    let bin = |name: &str| {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        venv.join(folder).join(name)
    };
    if !bin("python").exists() && !bin("python.exe").exists() {
        let python = find_python()?;
        let mut create = Command::new(python);
        create.arg("-m").arg("venv").arg(&venv);
        step("virtual environment", create).map_err(|error| {
            format!(
                "{error}\nxtask: Python's `venv` is needed (Debian: apt-get install python3-venv)"
            )
        })?;
    }
    // `.[test]` builds the extension in release mode, as `pip install .` does for users
    let mut install = Command::new(bin("python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ".[test]"]);
    // shares compiled dependencies with `cargo build --release`
    install.env("CARGO_TARGET_DIR", target());
    step("python package", install)?;
    let mut pytest = Command::new(bin("python"));
    pytest.args(["-m", "pytest", "-q", "python/tests"]);
    step("python tests", pytest)
}

/// The model files of the examples.
fn model_files() -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let read = |folder: &Path| {
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))
    };
    for example in read(Path::new("examples"))?.flatten() {
        if example.path().is_dir() {
            for file in read(&example.path())?.flatten() {
                if file.path().extension().is_some_and(|e| e == "toml") {
                    files.push(file.path());
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

fn has_nextest() -> bool {
    let mut version = cargo(&["nextest", "--version"]);
    version.output().is_ok_and(|output| output.status.success())
}

fn find_python() -> Result<&'static str, String> {
    let works = |name: &&str| {
        let check = "import sys; sys.exit(sys.version_info < (3, 10))";
        Command::new(name).args(["-c", check]).status().is_ok_and(|status| status.success())
    };
    ["python3", "python"].into_iter().find(works).ok_or_else(|| {
        "Python 3.10 or newer is needed (Debian: apt-get install python3 python3-venv)".to_string()
    })
}

/// The folder cargo builds into.
fn target() -> PathBuf {
    let folder =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    std::path::absolute(&folder).unwrap_or(folder)
}

/// Runs one step, with its name before it and its time after it.
fn step(name: &str, mut command: Command) -> Result<(), String> {
    println!("── {name}");
    let clock = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("{name}: cannot start {:?}: {error}", command.get_program()))?;
    println!("   {name}: {:.1} s", clock.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("{name} failed ({status})")) }
}

/// The workspace's root.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), Path::to_path_buf)
}
