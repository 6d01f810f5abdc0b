//! `saltus examples [NAME] [--write DIR]`: the bundled examples.

use crate::bundled::{EXAMPLES, Example};
use crate::{Error, Outcome, text};
use std::path::{Path, PathBuf};

/// List the bundled examples, or write one out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The example; its model file, or its netlist, is printed
    name: Option<String>,
    /// Write the files of the example (of all examples without a name) into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    let chosen: Vec<&Example> = match &args.name {
        None => EXAMPLES.iter().collect(),
        Some(name) => vec![EXAMPLES.iter().find(|e| e.name == name).ok_or_else(|| {
            let names: Vec<&str> = EXAMPLES.iter().map(|e| e.name).collect();
            format!("there is no example `{name}`; there are {}", names.join(", "))
        })?],
    };
    if let Some(folder) = &args.write {
        for example in chosen {
            let folder = folder.join(example.name);
            std::fs::create_dir_all(&folder)
                .map_err(|error| format!("cannot make folder {}: {error}", folder.display()))?;
            for (file, content) in example.files {
                let path = folder.join(file);
                write(&path, content)?;
                text::out(&format!("{}\n", path.display()))?;
            }
        }
        return Ok(Outcome::Done);
    }
    match (&args.name, chosen.first()) {
        (Some(_), Some(example)) => {
            let of = |ending| example.files.iter().filter(move |(file, _)| file.ends_with(ending));
            let ending = if of(".toml").next().is_some() { ".toml" } else { ".cir" };
            for (_, content) in of(ending) {
                text::out(content)?;
            }
        }
        _ => {
            let rows: Vec<_> =
                EXAMPLES.iter().map(|e| (e.name.to_string(), e.title().to_string())).collect();
            text::out(&text::columns(&rows))?;
        }
    }
    Ok(Outcome::Done)
}

/// Writes a file of an example, and keeps one that somebody has changed.
fn write(path: &Path, content: &str) -> Result<(), Error> {
    match std::fs::read(path) {
        Ok(found) if found == content.as_bytes() => Ok(()),
        Ok(_) => {
            let path = path.display();
            Err(format!("`{path}` is there and differs from the example; it is left as it is")
                .into())
        }
        Err(_) => Ok(saltus::io::write_whole(path, content.as_bytes())?),
    }
}
