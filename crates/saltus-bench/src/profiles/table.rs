//! A row a problem, and the figures of all.

use super::{Comparison, Row, TOLERANCES};
use crate::time;
use saltus::io::write_whole;
use std::fmt::Write;
use std::path::Path;

/// Ratios of shorter runs say more about a call than about a solver.
const LONG: f64 = 1e-3;

/// The table and its figures.
pub fn markdown(found: &Comparison) -> String {
    let mut text = String::from(
        "| problem | unknowns | Saltus auto | by | residual | fastest method | | Siconos | setting | residual | ratio |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in &found.rows {
        let auto = row.of("auto");
        let best = row.best();
        let peer = row.peer.as_ref();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.name,
            row.size,
            auto.map_or("-".to_owned(), |o| match o.is_solved() {
                true => time(Some(o.seconds)),
                false => o.status.clone(),
            }),
            auto.map_or("-", |o| &o.by),
            residual(auto.map(|o| o.residual)),
            time(best.map(|(_, o)| o.seconds)),
            best.map_or("-", |(name, _)| name),
            time(peer.map(|p| p.seconds)),
            // a pipe would end the cell
            peer.map_or("-".to_owned(), |p| p.setting.replace('|', "\\|")),
            residual(peer.map(|p| p.residual)),
            ratio(row).map_or("-".to_owned(), short),
        );
    }
    text + &figures(found) + &not_read(found)
}

/// How much longer the peer takes than our `auto`, where both solve it.
pub fn ratio(row: &Row) -> Option<f64> {
    let ours = row.of("auto").filter(|outcome| outcome.is_solved())?;
    Some(row.peer.as_ref()?.seconds / ours.seconds)
}

fn figures(found: &Comparison) -> String {
    let mut text = String::new();
    if found.has_peer {
        let ratios: Vec<f64> = found.rows.iter().filter_map(ratio).collect();
        let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let _ = writeln!(
            text,
            "\nGeometric mean of the ratios over the {} problems that both solve at {:e}: {}.",
            ratios.len(),
            found.tol,
            short(mean)
        );
        let is_long = |row: &&Row| {
            let times = [row.of("auto").map(|o| o.seconds), row.peer.as_ref().map(|p| p.seconds)];
            times.into_iter().flatten().any(|seconds| seconds > LONG)
        };
        let worst = (found.rows.iter().filter(is_long))
            .filter_map(|row| Some((ratio(row)?, &row.name)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((ratio, name)) = worst {
            let _ = writeln!(
                text,
                "Worst ratio where either takes more than 1 ms: {} ({name}).",
                short(ratio)
            );
        }
        let is_missed = |row: &&Row| row.peer.is_some() && ratio(row).is_none();
        let missed: Vec<&str> =
            found.rows.iter().filter(is_missed).map(|row| row.name.as_str()).collect();
        if !missed.is_empty() {
            let _ = writeln!(text, "Solved by Siconos and not by `auto`: {}.", missed.join(", "));
        }
    }
    let head = ["tolerance", "Saltus auto", "any method", "Siconos, at least"];
    let columns = if found.has_peer { 4 } else { 3 };
    let _ = writeln!(text, "\n| {} |", head[..columns].join(" | "));
    let _ = writeln!(text, "|{}", " --- |".repeat(columns));
    for (number, tol) in TOLERANCES.into_iter().enumerate() {
        let mut cells = vec![format!("{tol:e}")];
        cells.push(percent(found, |row| row.of("auto").is_some_and(|o| o.reaches[number])));
        cells.push(percent(found, |row| row.ours.iter().any(|(_, o)| o.reaches[number])));
        if found.has_peer {
            cells.push(percent(found, |row| peer_reaches(row, tol)));
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Whether the peer reached this residual, at whatever tolerance it was asked for.
pub fn peer_reaches(row: &Row, tol: f64) -> bool {
    row.peer_residual.is_some_and(|residual| residual <= tol)
}

/// The share of problems of which something is true.
pub fn share(found: &Comparison, is_so: impl Fn(&Row) -> bool) -> f64 {
    let count = found.rows.iter().filter(|row| is_so(row)).count();
    count as f64 / found.rows.len().max(1) as f64
}

fn percent(found: &Comparison, is_so: impl Fn(&Row) -> bool) -> String {
    format!("{:.0} %", 100.0 * share(found, is_so))
}

fn not_read(found: &Comparison) -> String {
    if found.not_read.is_empty() {
        return String::new();
    }
    let mut text = format!("\nNot read, {} files:\n\n", found.not_read.len());
    for (name, reason) in &found.not_read {
        let _ = writeln!(text, "- {name}: {reason}");
    }
    text
}

/// The same rows with bare numbers, and the time of each method.
pub fn write_csv(found: &Comparison, path: &Path) -> Result<(), String> {
    let methods = found.rows.first().map_or(&[][..], |row| &row.ours[..]);
    let mut text = String::from("file,kind,size,status,seconds,method,residual,iterations");
    methods.iter().for_each(|(name, _)| text += &format!(",seconds {name}"));
    text += ",siconos setting,siconos seconds,siconos residual,ratio\n";
    for row in &found.rows {
        let _ = write!(text, "{},{},{}", row.name, row.kind, row.size);
        match row.of("auto") {
            Some(o) => {
                let cells = [finite(o.seconds), o.by.clone(), finite(o.residual)];
                let _ = write!(text, ",{},{},{}", o.status, cells.join(","), o.iterations);
            }
            None => text += ",,,,,",
        }
        row.ours.iter().for_each(|(_, o)| text += &format!(",{}", finite(o.seconds)));
        let _ = match &row.peer {
            Some(peer) => {
                write!(text, ",{},{:e},{:e}", peer.setting, peer.seconds, peer.residual)
            }
            None => write!(text, ",,,"),
        };
        let _ = writeln!(text, ",{}", ratio(row).map_or(String::new(), finite));
    }
    write_whole(path, text.as_bytes()).map_err(|error| error.to_string())
}

/// A number, or nothing.
fn finite(value: f64) -> String {
    if value.is_finite() { format!("{value:e}") } else { String::new() }
}

fn residual(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("-".to_owned(), |value| format!("{value:.1e}"))
}

/// Three digits, more or less.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}
