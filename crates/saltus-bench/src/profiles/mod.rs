//! `saltus-bench profiles [DIR...]`: solvers compared over many problems.
//!
//! ```text
//! sources   which problems                  stored files under the folders, generated ones
//! ours      each method on each problem     a process a pair, ended when its time is up
//! peer      Siconos on the stored files     its fastest settings, the best one counts
//! table     a row a problem, then figures   markdown, profiles.csv
//! picture   performance profile             profiles.svg
//! ```

mod ours;
mod peer;
mod picture;
mod sources;
mod table;

use ours::Outcome;
use saltus::numerics::Solver;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The tolerances for which the share of solved problems is told.
pub const TOLERANCES: [f64; 5] = [1e-4, 1e-6, 1e-8, 1e-10, 1e-12];

const USAGE: &str = "usage: saltus-bench profiles [DIR...] [--tol 1e-8] [--timeout SECONDS] \
                     [--peer FILE.json]... [--no-peer] [--out FOLDER]";

/// What is asked for.
struct Options {
    folders: Vec<PathBuf>,
    tol: f64,
    timeout: Duration,
    /// What the peer printed before, at one tolerance each; it is not run then.
    stored_peer: Vec<PathBuf>,
    run_peer: bool,
    out: PathBuf,
}

/// A problem with what each solver made of it.
pub struct Row {
    /// Its folder and name, or how it is generated.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Unknowns.
    pub size: usize,
    /// Ours, in the order of [`Solver::NAMES`].
    pub ours: Vec<(&'static str, Outcome)>,
    /// The peer's best setting.
    pub peer: Option<peer::Best>,
    /// The smallest residual that the peer reached.
    pub peer_residual: Option<f64>,
}

impl Row {
    /// The outcome of one of our methods.
    pub fn of(&self, method: &str) -> Option<&Outcome> {
        self.ours.iter().find(|(name, _)| *name == method).map(|(_, outcome)| outcome)
    }

    /// The fastest of ours that solves it.
    pub fn best(&self) -> Option<(&'static str, &Outcome)> {
        let solved = self.ours.iter().filter(|(_, outcome)| outcome.is_solved());
        solved.map(|(name, o)| (*name, o)).min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))
    }
}

/// All that was found.
pub struct Comparison {
    /// The tolerance of the timed runs.
    pub tol: f64,
    /// The problems that we read.
    pub rows: Vec<Row>,
    /// Those that we do not: name and reason.
    pub not_read: Vec<(String, String)>,
    /// Whether there is a peer.
    pub has_peer: bool,
}

/// Runs the comparison.
pub fn run(arguments: &[String]) -> ExitCode {
    if arguments.first().is_some_and(|first| first == ours::ONE) {
        return ours::run_one(&arguments[1..]);
    }
    let options = match parse(arguments) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let comparison = compare(&options);
    print!("{}", table::markdown(&comparison));
    let written = table::write_csv(&comparison, &options.out.join("profiles.csv"))
        .and_then(|()| picture::draw(&comparison, &options.out.join("profiles.svg")));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("saltus-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> Comparison {
    let mut rows = Vec::new();
    let mut not_read = Vec::new();
    let sources = sources::all(&options.folders);
    for source in &sources {
        let (kind, size) = match source.load() {
            Ok(loaded) => (loaded.kind, loaded.problem.len()),
            Err(reason) => {
                not_read.push((source.name(), reason));
                continue;
            }
        };
        let measure = |method| (method, ours::measure(source, method, options));
        let ours: Vec<_> = Solver::NAMES.into_iter().map(measure).collect();
        let row = Row { name: source.name(), kind, size, ours, peer: None, peer_residual: None };
        eprintln!("{}: {}", row.name, row.of("auto").map_or("-", |auto| &auto.status));
        rows.push(row);
    }

    let peers = peer::answers(&sources, options);
    for row in &mut rows {
        row.peer = peers.iter().find_map(|peer| peer.best_at(options.tol, &row.name));
        let residuals = peers.iter().filter_map(|peer| peer.residual(&row.name));
        row.peer_residual = residuals.min_by(f64::total_cmp);
    }
    Comparison { tol: options.tol, rows, not_read, has_peer: !peers.is_empty() }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        folders: Vec::new(),
        tol: 1e-8,
        timeout: Duration::from_secs(60),
        stored_peer: Vec::new(),
        run_peer: true,
        out: PathBuf::from("."),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--tol" => options.tol = positive(argument, value()?)?,
            "--timeout" => {
                let seconds = positive(argument, value()?)?;
                let wrong = |_| format!("`--timeout {seconds}` is too long");
                options.timeout = Duration::try_from_secs_f64(seconds).map_err(wrong)?;
            }
            "--peer" => options.stored_peer.push(value()?.into()),
            "--no-peer" => options.run_peer = false,
            "--out" => options.out = value()?.into(),
            flag if flag.starts_with('-') => return Err(format!("there is no option `{flag}`")),
            folder => options.folders.push(folder.into()),
        }
    }
    if let Some(missing) = options.folders.iter().find(|folder| !folder.exists()) {
        return Err(format!("there is no `{}`", missing.display()));
    }
    if options.folders.is_empty() {
        options.folders.extend(sources::default_folder());
    }
    Ok(options)
}

fn positive(option: &str, value: &str) -> Result<f64, String> {
    let number = value.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| format!("`{option} {value}`: expected a number above zero"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read() {
        let options = parse(&words(". --tol 1e-6 --timeout 2.5 --no-peer --peer a.json")).unwrap();
        assert_eq!(options.folders, [PathBuf::from(".")]);
        assert_eq!((options.tol, options.timeout), (1e-6, Duration::from_millis(2500)));
        assert!(!options.run_peer);
        assert_eq!(options.stored_peer, [PathBuf::from("a.json")]);
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, part) in [
            ("--tol", "needs a value"),
            ("--tol x", "expected a number"),
            ("--tol -1", "expected a number"),
            ("--timeout 1e300", "too long"),
            ("--fast", "no option `--fast`"),
            ("nowhere-at-all", "no `nowhere-at-all`"),
        ] {
            let wrong = parse(&words(text)).err().unwrap();
            assert!(wrong.contains(part), "{text}: {wrong}");
        }
    }
}
