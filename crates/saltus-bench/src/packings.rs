//! `saltus-bench packings [--known-answer] [--warm] [--c C] [--seed N]... [CONTACTS...]`: how the cost of
//! packings grows.
//!
//! Heaps of grains or bricks in a bin under their weight (`saltus_numerics::generate::Heap`), for
//! several ratios `c` of contact unknowns to velocities; with `--known-answer` packings whose answer
//! is drawn contact by contact, which for `c > 1` no motion of the bodies makes. With `--warm` steps
//! that follow each other: see `warm`.
//!
//! A row for each seed, then the mean, the median and the worst of the seeds for each size, with the
//! exponents `p` of `seconds ~ contacts^p` from the size before and, in parentheses, from the first one; the seconds are
//! those of the processor.
//! A heap of 10⁴ contacts is as hard as the hardest of its parts, so small heaps are drawn from more
//! seeds, unless these are given: it is the mean over them that sizes share.

use cpu_time::ProcessTime;
use saltus::numerics::{NumericsError, Problem, Solver, Status, generate, solve};
use std::process::ExitCode;

#[path = "packings_warm.rs"]
mod warm;

const USAGE: &str =
    "usage: saltus-bench packings [--known-answer] [--warm] [--c C] [--seed N]... [CONTACTS...]";

/// What is asked for.
#[derive(Debug, Default)]
struct Options {
    known_answer: bool,
    warm: bool,
    ratios: Vec<f64>,
    seeds: Vec<u64>,
    sizes: Vec<usize>,
}

impl Options {
    fn from(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(text) = rest.next() {
            let mut value = |of: &str| rest.next().ok_or(format!("{of} takes a number"));
            match text.as_str() {
                "--known-answer" => options.known_answer = true,
                "--warm" => options.warm = true,
                "--c" => options.ratios.push(number(value("--c")?)?),
                "--seed" => options.seeds.push(number(value("--seed")?)?),
                other if other.starts_with("--") => return Err(format!("no option `{other}`")),
                contacts => options.sizes.push(number(contacts)?),
            }
        }
        if options.ratios.is_empty() {
            options.ratios =
                if options.warm { vec![1.0, 3.0, 7.0] } else { vec![0.1, 1.0, 3.0, 7.0] };
        }
        if options.warm && options.seeds.is_empty() {
            options.seeds = vec![1];
        }
        if options.sizes.is_empty() {
            options.sizes =
                if options.warm { vec![1000, 10_000] } else { vec![1000, 10_000, 100_000] };
        }
        Ok(options)
    }

    /// The seeds of heaps of a size.
    fn seeds(&self, contacts: usize) -> Vec<u64> {
        match self.seeds.is_empty() {
            true => (1..=(SHARED / contacts.max(1)).clamp(10, 30) as u64).collect(),
            false => self.seeds.clone(),
        }
    }
}

/// Contacts of all heaps of a size together, between three heaps and thirty.
const SHARED: usize = 100_000;

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number that fits there"))
}

/// Runs the table.
pub fn run(arguments: &[String]) -> ExitCode {
    let options = match Options::from(arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("saltus-bench: packings: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let solved = if options.warm { warm::table(&options) } else { table(&options) };
    match solved {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("saltus-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The cold table; whether all of it was solved.
fn table(options: &Options) -> Result<bool, NumericsError> {
    println!(
        "| c | seed | contacts | status | method | iterations | residual | seconds | peak MB |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all_solved = true;
    let mut growth = Vec::new(); // c, contacts, the seconds of all seeds
    for &c in &options.ratios {
        for &contacts in &options.sizes {
            let (mut seconds, mut count) = (Vec::new(), 0);
            for seed in options.seeds(contacts) {
                let problem = problem(contacts, c, options.known_answer, seed)?;
                let clock = ProcessTime::now();
                let solution = solve(&problem, &Solver::default(), None)?;
                let took = clock.elapsed().as_secs_f64();
                all_solved &= solution.report.status == Status::Solved;
                count = problem.contacts_count();
                seconds.push(took);
                println!(
                    "| {c} | {seed} | {count} | {} | {} | {} | {:.1e} | {took:.3} | {:.0} |",
                    solution.report.status.name(),
                    solution.report.method,
                    solution.report.iterations,
                    solution.report.residual,
                    peak_megabytes(),
                );
            }
            growth.push((c.to_string(), count, seconds));
        }
    }
    println!();
    print_growth("contacts", &growth);
    Ok(all_solved)
}

/// Mean, median and worst of the seeds for each size, with their exponents.
fn print_growth(what: &str, rows: &[(String, usize, Vec<f64>)]) {
    println!(
        "| c | {what} | seeds | mean seconds | exponent | median | exponent | worst | exponent |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut sizes: Vec<(&str, usize, [f64; 3])> = Vec::new();
    for (c, contacts, seconds) in rows {
        if sizes.last().is_some_and(|(of, ..)| of != c) {
            sizes.clear();
        }
        let mut sorted = seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let (Some(&median), Some(&worst)) = (sorted.get(sorted.len() / 2), sorted.last()) else {
            continue;
        };
        let seeds = sorted.len();
        let mean = sorted.iter().sum::<f64>() / seeds as f64;
        let from = |size: &(&str, usize, [f64; 3]), which: usize, now: f64| {
            (now / size.2[which]).ln() / (*contacts as f64 / size.1 as f64).ln()
        };
        let exponent = |which: usize, now: f64| match &sizes[..] {
            [] => String::new(),
            [only] => format!("{:.2}", from(only, which, now)),
            [first, .., last] => {
                format!("{:.2} ({:.2})", from(last, which, now), from(first, which, now))
            }
        };
        println!(
            "| {c} | {contacts} | {seeds} | {mean:.4} | {} | {median:.4} | {} | {worst:.4} | {} |",
            exponent(0, mean),
            exponent(1, median),
            exponent(2, worst)
        );
        sizes.push((c, *contacts, [mean, median, worst]));
    }
}

fn problem(contacts: usize, c: f64, known: bool, seed: u64) -> Result<Problem, NumericsError> {
    match known {
        true => generate::packing(contacts, c, 0.5, seed).map(|generated| generated.problem),
        false => generate::heap(contacts, c, 0.5, seed),
    }
}

/// The most memory that the process has held, where the system tells; it never falls.
pub fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes / 1024.0)
}
