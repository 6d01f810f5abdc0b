//! `saltus schema`: the JSON schema of model files.

use crate::{Error, Outcome, text};

/// Print the JSON schema of model files.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args) -> Result<Outcome, Error> {
    let schema = serde_json::to_string_pretty(&saltus::io::model_file::schema())?;
    text::out(&format!("{schema}\n"))?;
    Ok(Outcome::Done)
}
