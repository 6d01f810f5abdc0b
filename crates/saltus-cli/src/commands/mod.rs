//! The commands, one a file.

pub mod compare;
pub mod examples;
pub mod export;
pub mod info;
pub mod plot;
pub mod run;
pub mod schema;

use saltus::sim::{Layout, Signal};

/// The signals of these paths; a bare name stands for all signals of its owner.
fn find_signals(layout: &Layout, paths: &[String]) -> Result<Vec<Signal>, crate::Error> {
    let mut found = Vec::new();
    for path in paths {
        let of_owner = layout.signals.iter().filter(|signal| signal.owner == *path);
        let before = found.len();
        found.extend(of_owner.cloned());
        if found.len() == before {
            found.push(layout.find(path)?);
        }
    }
    Ok(found)
}
