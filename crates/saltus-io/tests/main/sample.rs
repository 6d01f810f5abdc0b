//! Runs to write and read, and a folder to do it in.

use saltus_sim::{ContactRow, Frames, Layout, Outcome, Quantity, Run, RunStats, Signal};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("saltus-io-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of what is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn signal(owner: &str, quantity: Quantity, columns: Range<usize>) -> Signal {
    Signal { owner: owner.to_string(), quantity, columns }
}

/// Two systems and an interaction, in an order that is not that of the alphabet.
pub fn layout() -> Layout {
    Layout {
        title: "bouncing ball, größer".to_string(),
        signals: vec![
            signal("red ball", Quantity::Q, 2..5),
            signal("red ball", Quantity::V, 6..9),
            signal("Kugel ü", Quantity::Q, 5..6),
            signal("Kugel ü", Quantity::V, 9..10),
            signal("circuit", Quantity::X, 0..2),
            signal("floor", Quantity::Y, 10..11),
            signal("floor", Quantity::U, 11..12),
            signal("floor", Quantity::Lam, 12..13),
        ],
        ledger: true,
        ..Layout::default()
    }
}

pub fn stats() -> RunStats {
    RunStats {
        steps: 2000,
        iterations: 4321,
        worst_residual: 3.5e-11,
        worst_penetration: 1e-4,
        error_estimate: Some(3e-9),
        failures: 0,
        seconds: 0.25,
        outcome: Outcome::Complete,
    }
}

/// Rows that differ in every entry; values that are awkward to store are among them.
pub fn frames(layout: &Layout, rows: Range<usize>) -> Frames {
    let mut frames = Frames::default();
    for row in rows {
        let time = row as f64 * 1e-3;
        frames.time.push(time);
        for column in 0..layout.width() {
            let value = (time + column as f64 * 0.7).sin();
            frames.rows.push(match row % 97 {
                5 => -0.0,
                6 => f64::INFINITY,
                7 => 5e-324,
                _ => value,
            });
        }
        frames.iterations.push((row % 7) as u32);
        frames.residual.push(1e-12 * (row % 5) as f64);
        if layout.ledger {
            frames.penetration.push(1e-9 * (row % 3) as f64);
        }
        let push = |k: usize| std::array::from_fn(|i| (row as f64 + k as f64 + i as f64).cos());
        frames.pushes.extend((0..layout.push_count()).map(push));
        if !layout.sides.is_empty() {
            (0..row % 4).for_each(|k| frames.contacts.push(contact(row, k)));
            frames.contacts.close();
        }
    }
    frames
}

/// A contact whose numbers differ in every entry.
fn contact(row: usize, k: usize) -> ContactRow {
    let vector = |shift: usize| [0, 1, 2].map(|i| ((7 * row + 5 * k + shift + i) as f64).sin());
    ContactRow {
        sides: [k as u32 % 2, 2],
        feature: u64::MAX - row as u64,
        law: k as u32,
        mu: 0.1 * k as f64,
        gap: -1e-9 * row as f64,
        point: vector(0),
        normal: vector(3),
        u: vector(6),
        impulse: vector(9),
        moment: vector(12),
    }
}

pub fn run(rows: usize) -> Run {
    let layout = layout();
    let frames = frames(&layout, 0..rows);
    Run { layout, frames, stats: stats(), events: Vec::new() }
}
