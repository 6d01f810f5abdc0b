//! What Siconos makes of the stored problems: run here where it is installed, or before.

use super::Options;
use super::sources::Source;
use crate::peers::siconos_interpreter;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// The fastest setting that solves a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Its name.
    pub setting: String,
    /// The best run.
    pub seconds: f64,
    /// The residual, evaluated by us.
    pub residual: f64,
}

/// What `siconos_problems.py` printed, at one tolerance.
pub struct Answer(Value);

/// The answers that are given, or that of a run.
pub fn answers(sources: &[Source], options: &Options) -> Vec<Answer> {
    if !options.stored_peer.is_empty() {
        return options.stored_peer.iter().filter_map(|path| stored(path)).collect();
    }
    if !options.run_peer {
        return Vec::new();
    }
    run(sources, options).into_iter().collect()
}

fn stored(path: &Path) -> Option<Answer> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    let found = text.and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string()));
    found.map(Answer).map_err(|error| eprintln!("{}: {error}", path.display())).ok()
}

/// Runs it; nothing where it is not installed.
fn run(sources: &[Source], options: &Options) -> Option<Answer> {
    let interpreter = siconos_interpreter();
    let is_installed = Command::new(&interpreter)
        .args(["-c", "import siconos.numerics"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_installed {
        eprintln!("{interpreter} has no Siconos: no peer");
        return None;
    }
    let output = Command::new(&interpreter)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peer/siconos_problems.py"))
        .args(["--tol", &options.tol.to_string()])
        .args(["--limit", &options.timeout.as_secs_f64().to_string()])
        .args(sources.iter().filter_map(Source::file))
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1")
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    let found = serde_json::from_slice(&output.stdout);
    found.map(Answer).map_err(|error| eprintln!("siconos_problems.py: {error}")).ok()
}

impl Answer {
    fn file(&self, name: &str) -> Option<&Value> {
        self.0["files"].as_array()?.iter().find(|file| file["file"] == name)
    }

    /// The best setting for a problem, if this answer is for that tolerance.
    pub fn best_at(&self, tol: f64, name: &str) -> Option<Best> {
        if self.0["tol"].as_f64() != Some(tol) {
            return None;
        }
        let best = &self.file(name)?["best"];
        Some(Best {
            setting: best["setting"].as_str()?.to_owned(),
            seconds: best["seconds"].as_f64()?,
            residual: best["residual"].as_f64()?,
        })
    }

    /// The smallest residual that any setting reached on a problem.
    pub fn residual(&self, name: &str) -> Option<f64> {
        let settings = self.file(name)?["settings"].as_array()?;
        settings.iter().filter_map(|run| run["residual"].as_f64()).min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_found_by_name_and_tolerance() {
        let run = |setting: &str, seconds: f64, residual: f64| json!({ "setting": setting, "seconds": seconds, "residual": residual });
        let settings = [run("LEMKE", 1e-3, 1e-9), run("PGS", 2e-3, 1e-12)];
        let solved = json!({ "file": "lcp/a.dat", "best": settings[0], "settings": settings });
        let failed = json!({ "file": "lcp/b.dat", "best": null, "settings": [] });
        let answer = Answer(json!({ "tol": 1e-8, "files": [solved, failed] }));
        assert_eq!(answer.best_at(1e-8, "lcp/a.dat").map(|best| best.seconds), Some(1e-3));
        assert_eq!(answer.best_at(1e-4, "lcp/a.dat"), None);
        assert_eq!(answer.best_at(1e-8, "lcp/b.dat"), None);
        assert_eq!(answer.residual("lcp/a.dat"), Some(1e-12));
        assert_eq!(answer.residual("lcp/b.dat"), None);
    }
}
