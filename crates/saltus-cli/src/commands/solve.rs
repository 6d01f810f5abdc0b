//! `saltus solve PROBLEM...`: solves stored problems, one line each.

use super::problem::owner;
use super::record::interrupt_flag;
use crate::text::{self, plural, seconds};
use crate::{Error, Outcome};
use saltus::io::problem_file::{Kind, StoredProblem, read};
use saltus::io::{check_target, write_whole};
use saltus::numerics::residual::{class_figure, physical};
use saltus::numerics::{Interrupt, Solution, Solver, Status, Uniqueness, solve_until, uniqueness};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Solve stored problems.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The files
    #[arg(required = true, value_name = "PROBLEM")]
    files: Vec<PathBuf>,
    /// What they hold: lcp, mlcp, relay, avi, fc2d, fc3d, gfc2d, gfc3d, rfc3d, grfc3d, gmp, soclcp, plasticity
    /// [default: the name of each file's folder; HDF5 files say it themselves]
    #[arg(long)]
    kind: Option<Kind>,
    /// The method: auto, pivoting, lemke, gauss-seidel, fischer-burmeister, enumeration, newton,
    /// interior-point, admm, extragradient
    #[arg(long, value_name = "NAME", default_value = "auto")]
    solver: String,
    /// The residual to reach [default: 1e-8]
    #[arg(long, allow_negative_numbers = true)]
    tol: Option<f64>,
    /// Iterations to spend [default: that of the method]
    #[arg(long, value_name = "N")]
    max_iter: Option<usize>,
    /// Tell whether each answer is the only one; costs a factorization or two
    #[arg(long)]
    unique: bool,
    /// Print one JSON document, and nothing else
    #[arg(long)]
    json: bool,
    /// Write the answer of a single problem there: a line for each unknown, z and w
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// One file, read and solved.
struct Answer<'a> {
    file: &'a Path,
    stored: StoredProblem,
    solution: Solution,
    seconds: f64,
    unique: Option<Uniqueness>, // where it was asked for, and there is an answer
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let solver = solver(args)?;
    if args.output.is_some() && args.files.len() > 1 {
        return Err("`-o` takes the answer of one problem, but there are several".into());
    }
    if let Some(path) = &args.output {
        check_target(path)?;
        let same = |file: &PathBuf| {
            let [a, b] = [file, path].map(|path| std::fs::canonicalize(path).ok());
            a.is_some() && a == b
        };
        if args.files.iter().any(same) {
            return Err(
                format!("{}: the answer would take the problem's place", path.display()).into()
            );
        }
    }
    let interrupt = interrupt_flag()?;
    let width = args.files.iter().map(|file| file.display().to_string().chars().count()).max();
    let width = width.unwrap_or(0);
    let mut documents = Vec::new();
    let mut outcome = Outcome::Done;
    for file in &args.files {
        match answer(file, args, &solver, &interrupt) {
            Ok(answer) => {
                if answer.solution.report.status != Status::Solved && outcome == Outcome::Done {
                    outcome = Outcome::Failed;
                }
                match args.json {
                    true => documents.push(answer.json()),
                    false => text::out(&format!("{}\n", answer.text(width)))?,
                }
                match &args.output {
                    Some(path) if answer.solution.report.status != Status::Solved => {
                        text::message(&format!(
                            "{}: not written, since there is no answer",
                            path.display()
                        ));
                    }
                    Some(path) => {
                        if let Err(error) = write_answer(path, &answer.solution) {
                            outcome = Outcome::Failed;
                            text::message(&error.to_string());
                        }
                    }
                    None => {}
                }
            }
            // one wrong file does not keep the others from being solved
            Err(error) => {
                outcome = Outcome::Wrong;
                text::message(&error.to_string());
                documents.push(json!({ "file": file, "error": error.to_string() }));
            }
        }
        if interrupt.is_set() {
            text::message("interrupted; what was solved is kept");
            outcome = Outcome::Failed;
            break;
        }
    }
    if args.json {
        text::out(&format!("{}\n", Value::from(documents)))?;
    }
    Ok(outcome)
}

/// Comma-separated values: a header, then `z` and `w` of each unknown.
fn write_answer(path: &Path, solution: &Solution) -> Result<(), Error> {
    let mut lines = String::from("z,w\n");
    for (z, w) in solution.z.iter().zip(&solution.w) {
        lines.push_str(&format!("{z:?},{w:?}\n"));
    }
    Ok(write_whole(path, lines.as_bytes())?)
}

fn solver(args: &Args) -> Result<Solver, Error> {
    let name = args.solver.replace('_', "-").to_lowercase();
    let mut solver = Solver::from_name(&name).ok_or_else(|| {
        format!("there is no solver `{}`; there are {}", args.solver, Solver::NAMES.join(", "))
    })?;
    if let Some(tol) = args.tol {
        solver = solver.with_tol(tol);
    }
    if let Some(max_iter) = args.max_iter {
        solver = solver.with_max_iter(max_iter);
    }
    solver.check()?;
    Ok(solver)
}

fn answer<'a>(
    file: &'a Path,
    args: &Args,
    solver: &Solver,
    interrupt: &Interrupt,
) -> Result<Answer<'a>, Error> {
    let stored = read(file, args.kind)?;
    let start = Instant::now();
    let solution = solve_until(&stored.problem, solver, None, Some(interrupt));
    let seconds = start.elapsed().as_secs_f64();
    // a method that cannot work on the problem
    let said = |error| format!("{}: {error}", file.display());
    let solution = solution.map_err(said)?;
    let unique = match args.unique && solution.report.status == Status::Solved {
        true => Some(uniqueness(&stored.problem, &solution.z, solver.tol()).map_err(said)?),
        false => None,
    };
    Ok(Answer { file, stored, solution, seconds, unique })
}

impl Answer<'_> {
    fn text(&self, width: usize) -> String {
        let report = self.solution.report;
        let problem = &self.stored.problem;
        let size = match problem.contacts_count() {
            0 => format!("n = {}", problem.len()),
            contacts => format!("n = {}, {}", problem.len(), plural(contacts, "contact")),
        };
        let line = format!(
            "{file:width$}  {kind:6}  {size:<23}  {status:10}  {method:12}  {iterations:>16}  \
             residual {residual:<8}  {time}",
            file = self.file.display().to_string(),
            kind = self.stored.kind.name(),
            status = report.status.name(),
            method = report.method,
            iterations = plural(report.iterations, "iteration"),
            residual = format!("{:.1e}", report.residual),
            time = seconds(self.seconds),
        );
        match report.status {
            Status::Solved => match self.unique {
                Some(unique) => format!("{line}, {}", unique.words()),
                None => line,
            },
            _ if problem.is_empty() => line,
            _ => format!("{line}, worst at {}", owner(problem, report.worst)),
        }
    }

    fn json(&self) -> Value {
        let report = self.solution.report;
        let attempts = self.solution.attempts.iter().map(|attempt| {
            json!({
                "solver": attempt.method,
                "status": attempt.status.name(),
                "residual": attempt.residual,
            })
        });
        let problem = &self.stored.problem;
        let parts = physical(problem, &self.solution.z, &self.solution.w);
        let contacts = problem.contacts_count();
        let parts = (contacts > 0).then(|| {
            json!({
                "gap": parts.gap,
                "cone": parts.cone,
                "complementarity": parts.complementarity,
                "dissipation_angle": parts.dissipation_angle,
            })
        });
        json!({
            "file": self.file,
            "name": self.stored.name,
            "kind": self.stored.kind.name(),
            "size": problem.len(),
            "contacts": contacts,
            "dof": problem.global().map(|global| global.velocities()),
            "status": report.status.word(),
            "reason": report.status.name(),
            "solver": report.method,
            "iterations": report.iterations,
            "residual": report.residual,
            "class_residual": class_figure(problem, &self.solution.z, &mut self.solution.w.clone()),
            "worst": report.worst,
            "worst_block": owner(problem, report.worst),
            "physical": parts,
            "seconds": self.seconds,
            "attempts": attempts.collect::<Vec<_>>(),
            "history": self.solution.history,
            "unique": self.unique.map(|unique| {
                let directions = match unique {
                    Uniqueness::Not { dimension } => dimension,
                    _ => 0,
                };
                json!({ "word": unique.name(), "dimension": directions, "claim": unique.words() })
            }),
        })
    }
}
