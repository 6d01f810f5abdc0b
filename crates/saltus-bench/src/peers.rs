//! Runs the peers, where they are installed.

use std::path::Path;
use std::process::Command;

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

/// Times Siconos on the same model; nothing where it is not installed.
pub fn siconos(arguments: &[&str], repeats: usize) -> Option<Siconos> {
    if arguments.is_empty() {
        return None;
    }
    let answer = python_json(
        &siconos_interpreter(),
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/peer/siconos_peer.py")),
        arguments,
        &["--record", "--repeat", &repeats.to_string()],
    )?;
    let bare = answer["cpu_seconds_per_step"].as_f64()?;
    let recording = answer["cpu_seconds_per_step_recording"].as_f64().unwrap_or(bare);
    Some(Siconos { bare, recording })
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

/// Times `run()` of the Python package; nothing where it is not installed.
pub fn python(case: &str, steps: usize, repeats: usize) -> Option<f64> {
    let interpreter = saltus_interpreter();
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/peer/saltus_python.py"));
    let (steps, repeats) = (steps.to_string(), repeats.to_string());
    let answer =
        python_json(&interpreter, script, &[case], &["--steps", &steps, "--repeat", &repeats])?;
    answer["seconds_per_step"].as_f64()
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
