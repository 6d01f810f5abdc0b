//! The `saltus` command, as a user types it.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod checkpoint;
mod commands;
mod interrupt;
mod netlist;
mod options;
mod output;
mod same_bits;
mod scenes;
mod solve;
mod strategies;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of its own for a test, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("saltus-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The command, in this folder.
    pub(crate) fn saltus(&self, args: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
        Said::new(command.args(args).current_dir(&self.0).output().unwrap())
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Names of all files in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn new(output: Output) -> Said {
        Said {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn done(self) -> Said {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }
}

/// The ball of the README, short.
pub(crate) const BALL: &str = r#"title = "bouncing ball"

[parameters]
g = 9.81
r = 0.1

[simulation]
integrator = { kind = "moreau-jean", theta = 0.5 }
h = 5e-3
until = 1.0

[[system]]
name = "ball"
kind = "lagrangian-linear"
q0 = [1.0]
v0 = [0.0]
M = [[1.0]]
F_ext = ["-g"]

[[interaction]]
name = "floor"
systems = ["ball"]
relation = { kind = "lagrangian-linear", H = [[1]], b = ["-r"] }
law = { kind = "newton-impact", e = 0.9 }
"#;
