//! Runs the peers, where they are installed.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Processor seconds a step of Siconos' own loop.
#[derive(Debug, Clone, Copy)]
pub struct Siconos {
    /// Stepping only.
    pub bare: f64,
    /// Stepping, and keeping q, v and λ of every step.
    pub recording: f64,
}

/// The interpreter that has Siconos: `$SICONOS_PYTHON`, or the system's.
pub fn siconos_interpreter() -> String {
    std::env::var("SICONOS_PYTHON").unwrap_or_else(|_| "/usr/bin/python3".to_string())
}

/// A peer that waits for its rounds.
pub struct Waiting {
    child: Child,
    answers: BufReader<ChildStdout>,
    script: PathBuf,
}

impl Waiting {
    fn start(interpreter: &str, script: &str, arguments: &[&str]) -> Option<Waiting> {
        let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/peer")).join(script);
        let mut child = Command::new(interpreter)
            .arg(&script)
            .args(arguments)
            .env("OPENBLAS_NUM_THREADS", "1")
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null()) // Siconos prints much
            .spawn()
            .ok()?;
        let answers = BufReader::new(child.stdout.take()?);
        Some(Waiting { child, answers, script })
    }

    /// One round; nothing where it does not run.
    fn round(&mut self) -> Option<serde_json::Value> {
        let mut line = String::new();
        let asked = self.child.stdin.as_mut()?.write_all(b"\n");
        match asked.and_then(|()| self.answers.read_line(&mut line)) {
            Ok(length) if length > 0 => serde_json::from_str(&line).ok(),
            _ => {
                self.child.stdin = None; // it is told once
                eprintln!(
                    "{} gives no answer; it says why when it is run alone",
                    self.script.display()
                );
                None
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.child.stdin = None; // the end of its rounds
        let _ = self.child.wait();
    }
}

/// Siconos on the same model, in rounds; nothing where it is not installed.
pub struct SiconosRounds(Waiting);

impl SiconosRounds {
    /// The arguments are those of `siconos_peer.py`.
    pub fn start(arguments: &[&str]) -> Option<SiconosRounds> {
        if arguments.is_empty() {
            return None;
        }
        let all = [arguments, &["--record", "--rounds"]].concat();
        Waiting::start(&siconos_interpreter(), "siconos_peer.py", &all).map(SiconosRounds)
    }

    /// Processor seconds a step of one run.
    pub fn round(&mut self) -> Option<Siconos> {
        let answer = self.0.round()?;
        let bare = answer["cpu_seconds_per_step"].as_f64()?;
        let recording = answer["cpu_seconds_per_step_recording"].as_f64().unwrap_or(bare);
        Some(Siconos { bare, recording })
    }
}

/// `run()` of the Python package in rounds; nothing where it is not installed.
pub struct PythonRounds(Waiting);

impl PythonRounds {
    pub fn start(case: &str, steps: usize) -> Option<PythonRounds> {
        let arguments = [case, "--steps", &steps.to_string()];
        Waiting::start(&saltus_interpreter(), "saltus_python.py", &arguments).map(PythonRounds)
    }

    /// Processor seconds a step of one round.
    pub fn round(&mut self) -> Option<f64> {
        self.0.round()?["seconds_per_step"].as_f64()
    }
}

/// The interpreter that has the Python package: `$SALTUS_PYTHON`, or that of the virtual
/// environment that `cargo xtask test` makes.
fn saltus_interpreter() -> String {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");
    std::env::var("SALTUS_PYTHON").unwrap_or_else(|_| default.to_string())
}

/// Times Python functions as right-hand sides; nothing where the package is not installed.
pub fn callables() -> Option<serde_json::Value> {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/peer/saltus_callable.py"));
    python_json(&saltus_interpreter(), script, &[], &[])
}

/// A run of a peer that was accurate enough, or the most accurate one.
pub struct EventDrivenRun {
    /// The peer, with its settings.
    pub what: String,
    /// Events that it found.
    pub events: usize,
    /// Its error.
    pub error: f64,
    /// Processor seconds.
    pub seconds: f64,
}

/// The fastest runs of a peer (`siconos` or `scipy`) on a case of `event_driven`.
pub fn event_driven(peer: &str, case: &str, accurate: f64) -> Vec<EventDrivenRun> {
    let scripts = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/peer"));
    let interpreter = match peer {
        "siconos" => siconos_interpreter(),
        _ => std::env::var("SCIPY_PYTHON").unwrap_or_else(|_| saltus_interpreter()),
    };
    let script = scripts.join(format!("{peer}_events.py"));
    let options = ["--accurate", &accurate.to_string()];
    let answer = python_json(&interpreter, &script, &[case], &options).unwrap_or_default();
    let runs = answer["runs"].as_array().cloned().unwrap_or_default();
    let read = |run: &serde_json::Value| {
        Some(EventDrivenRun {
            what: run["what"].as_str()?.to_string(),
            events: run["events"].as_u64()? as usize,
            error: run["error"].as_f64()?,
            seconds: run["seconds"].as_f64()?,
        })
    };
    runs.iter().filter_map(read).collect()
}

fn python_json(
    interpreter: &str,
    script: &Path,
    case: &[&str],
    options: &[&str],
) -> Option<serde_json::Value> {
    let output = Command::new(interpreter)
        .arg(script)
        .args(case)
        .args(options)
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1")
        .output()
        .ok()?;
    if !output.status.success() {
        // it is there but fails: not the same as absent
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
        eprintln!("{interpreter} {}: {last}", script.display());
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    serde_json::from_str(text.lines().last()?).ok()
}
