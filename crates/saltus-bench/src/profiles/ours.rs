//! Our methods on one problem.
//!
//! Each pair of problem and method runs in a process of its own, `saltus-bench profiles --one`,
//! which is ended when its time is up: a thread could only be left behind, and would slow down
//! what is timed after it.

use super::sources::Source;
use super::{Options, TOLERANCES};
use saltus::numerics::methods::Workspace;
use saltus::numerics::{NumericsError, Problem, Solver, Status, solve};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The argument by which such a process knows that it is one.
pub const ONE: &str = "--one";

/// Runs are repeated for about so long, in seconds, and at most so often.
const REPEAT: (f64, f64) = (0.2, 1000.0);
/// A run that takes longer, in seconds, is not repeated.
const LONG: f64 = 5.0;

/// What a method made of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended: a status of the library, `timeout`, `refused` or `crash`.
    pub status: String,
    /// The best run; infinite unless it was solved.
    pub seconds: f64,
    /// The residual that it reached.
    pub residual: f64,
    /// Its iterations.
    pub iterations: u64,
    /// The method that gave the answer.
    pub by: String,
    /// Which of [`TOLERANCES`] it reaches when asked to.
    pub reaches: [bool; TOLERANCES.len()],
}

impl Outcome {
    fn failed(status: &str) -> Outcome {
        Outcome {
            status: status.to_owned(),
            seconds: f64::INFINITY,
            residual: f64::NAN,
            iterations: 0,
            by: String::new(),
            reaches: [false; TOLERANCES.len()],
        }
    }

    /// Whether it solved the problem to the tolerance of the timed runs.
    pub fn is_solved(&self) -> bool {
        self.status == Status::Solved.name()
    }
}

/// Times a method on a problem; the time limit is for all of it.
pub fn measure(source: &Source, method: &str, options: &Options) -> Outcome {
    let tol = options.tol.to_string();
    let child = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(["profiles", ONE, &source.address(), method, &tol])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    });
    let Ok(mut child) = child else { return Outcome::failed("crash") };
    let (send, lines) = mpsc::channel();
    let reader = child.stdout.take().map(|stdout| {
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.for_each(|line| drop(send.send(line)));
        })
    });

    let clock = Instant::now();
    let mut outcome = Outcome::failed("crash"); // unless it says otherwise
    loop {
        let left = options.timeout.saturating_sub(clock.elapsed());
        match lines.recv_timeout(left) {
            Ok(line) => take(&mut outcome, &line),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if outcome.status == "crash" {
                    outcome.status = "timeout".to_owned();
                }
                break;
            }
        }
    }
    // it may have ended by itself
    let _ = child.kill();
    let _ = child.wait();
    if let Some(reader) = reader {
        let _ = reader.join();
    }
    outcome
}

/// Takes in one line of the process: the timed runs first, then a tolerance a line.
fn take(outcome: &mut Outcome, line: &str) {
    let Ok(said) = serde_json::from_str::<Value>(line) else { return };
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    if let Some(number) = said["reaches"].as_u64() {
        outcome.reaches[number as usize] = true;
    } else {
        outcome.status = text("status");
        outcome.by = text("by");
        outcome.seconds = said["seconds"].as_f64().unwrap_or(f64::INFINITY);
        outcome.residual = said["residual"].as_f64().unwrap_or(f64::NAN);
        outcome.iterations = said["iterations"].as_u64().unwrap_or(0);
    }
}

/// The process: solves one problem with one method, and prints a line for each thing it finds.
pub fn run_one(arguments: &[String]) -> ExitCode {
    let [address, method, tol] = arguments else { return ExitCode::from(2) };
    let (Ok(loaded), Some(solver), Ok(tol)) =
        (Source::from_address(address).load(), Solver::from_name(method), tol.parse())
    else {
        return ExitCode::from(2);
    };
    println!("{}", timed(&loaded.problem, &solver.clone().with_tol(tol)));
    for (number, tol) in TOLERANCES.into_iter().enumerate() {
        let asked = solve(&loaded.problem, &solver.clone().with_tol(tol), None);
        if asked.is_ok_and(|found| found.report.status == Status::Solved) {
            println!("{}", json!({ "reaches": number }));
        }
    }
    ExitCode::SUCCESS
}

/// The best of repeated runs. Like the peer's options and vectors, the workspace is made before the
/// clock starts; from run to run it keeps its memory, but nothing that it learned: its guesses are
/// forgotten, and the matrix is given anew, so that its factors are those of another one.
fn timed(problem: &Problem, solver: &Solver) -> Value {
    let (mut z, mut w) = (vec![0.0; problem.len()], vec![0.0; problem.len()]);
    let mut problem = problem.clone();
    let Ok(mut workspace) = Workspace::new(solver.clone()) else {
        return json!({ "status": "refused" });
    };
    let mut run = || {
        workspace.forget();
        problem.set_matrix(problem.matrix().clone())?;
        z.fill(0.0);
        let clock = Instant::now();
        let report = workspace.solve(&problem, &mut z, &mut w)?;
        Ok::<_, NumericsError>((clock.elapsed(), report))
    };
    let Ok((first, report)) = run() else { return json!({ "status": "refused" }) };
    let solved = report.status == Status::Solved;
    let mut seconds = first.as_secs_f64();
    if solved && seconds < LONG {
        let times = (REPEAT.0 / seconds.max(1e-9)).clamp(2.0, REPEAT.1) as usize;
        let best = (0..times).filter_map(|_| run().ok()).map(|(time, _)| time).min();
        let best = best.unwrap_or(Duration::MAX);
        seconds = seconds.min(best.as_secs_f64());
    }
    json!({
        "status": report.status.name(),
        "by": report.method,
        "seconds": solved.then_some(seconds),
        "residual": report.residual,
        "iterations": report.iterations,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::linalg::Matrix;

    #[test]
    fn lines_of_the_process_are_understood() {
        let problem = Problem::lcp(Matrix::from([[2.0]]), vec![-1.0]).unwrap();
        let mut outcome = Outcome::failed("crash");
        take(&mut outcome, &timed(&problem, &Solver::default()).to_string());
        take(&mut outcome, r#"{"reaches": 3}"#);
        take(&mut outcome, "something else");
        assert!(outcome.is_solved() && outcome.seconds < 1.0);
        assert_eq!(outcome.residual, 0.0);
        assert_eq!(outcome.reaches, [false, false, false, true, false]);
    }

    #[test]
    fn what_is_not_solved_has_no_time() {
        let problem = Problem::lcp(Matrix::from([[-1.0]]), vec![-1.0]).unwrap();
        let mut outcome = Outcome::failed("crash");
        take(&mut outcome, &timed(&problem, &Solver::default()).to_string());
        assert!(!outcome.is_solved());
        assert_eq!(outcome.seconds, f64::INFINITY);
    }
}
