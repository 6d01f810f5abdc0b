//! `saltus examples [NAME] [--write DIR]`: the bundled examples.

use crate::bundled::{EXAMPLES, Example};
use crate::{Error, Outcome, text};
use std::path::PathBuf;

/// List the bundled examples, or write one out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The example; its model file is printed
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
                std::fs::write(&path, content)
                    .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
                println!("{}", path.display());
            }
        }
        return Ok(Outcome::Done);
    }
    match (&args.name, chosen.first()) {
        (Some(_), Some(example)) => {
            for (_, content) in example.files.iter().filter(|(file, _)| file.ends_with(".toml")) {
                print!("{content}");
            }
        }
        _ => {
            let rows: Vec<_> =
                EXAMPLES.iter().map(|e| (e.name.to_string(), e.title().to_string())).collect();
            print!("{}", text::columns(&rows));
        }
    }
    Ok(Outcome::Done)
}
