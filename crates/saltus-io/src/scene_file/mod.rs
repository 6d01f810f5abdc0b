//! Scenes from files: model files (`.toml`), scenes of Siconos (`.hdf5`, `.h5`), robot descriptions
//! (`.urdf`) and models of MuJoCo (`.xml`, `.mjcf`).

mod group_attributes;
mod mjcf;
mod siconos;
mod urdf;
mod xml;

use crate::model_file::{
    ModelFile, ModelFileError, Output, Simulation, Strategy, scene_text, sets_parameters,
    tables_beside,
};
use saltus_mechanics::{Scene, SceneError};
use saltus_model::Order;
use saltus_numerics::Solver;
use saltus_sim::{Integrator, NewtonSettings};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A scene from a file.
#[derive(Debug, Clone)]
pub struct SceneFile {
    /// The scene.
    pub scene: Scene,
    /// Systems, interactions and events that stand beside it in a model file, as text; see
    /// [`scene_model`](crate::model_file::scene_model).
    pub beside: String,
    /// How the file says it is simulated.
    pub simulation: Option<Simulation>,
    /// What of the file has no place in the scene, in words.
    pub left_aside: Vec<String>,
}

/// Why a scene could not be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SceneFileError {
    /// There is no such file.
    #[error("there is no file `{}`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A name that tells of no format.
    #[error(
        "`{}`: expected a model file (.toml), a scene of Siconos (.hdf5), a robot (.urdf) or a model of MuJoCo (.xml, .mjcf)",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// A model file that cannot be read.
    #[error(transparent)]
    Model(#[from] ModelFileError),
    /// A model file without bodies.
    #[error("`{}` is a model, and has no [[body]] with shapes", path.display())]
    NoScene {
        /// The file.
        path: PathBuf,
    },
    /// A model file with what no scene can hold.
    #[error("`{}` has {what} besides its scene; read it as a model", path.display())]
    MoreThanAScene {
        /// The file.
        path: PathBuf,
        /// What it has.
        what: &'static str,
    },
    /// A file that cannot be read.
    #[error("cannot read `{}`: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// A scene that makes no sense.
    #[error("`{}`: {source}", path.display())]
    Scene {
        /// The file.
        path: PathBuf,
        /// What of it.
        source: SceneError,
    },
    /// A file that is not what its name says.
    #[error("`{}`: {place}: {what}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where.
        place: String,
        /// What is wrong there.
        what: String,
    },
}

/// Reads a scene.
pub fn read_scene(path: &Path) -> Result<SceneFile, SceneFileError> {
    let path = path.to_path_buf();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !path.exists() {
        return Err(SceneFileError::Missing { path });
    }
    match ending {
        "toml" => model_file(&path),
        "hdf5" | "h5" => siconos::read(&path),
        "urdf" => urdf::read(&path),
        "xml" | "mjcf" => mjcf::read(&path),
        _ => Err(SceneFileError::Format { path }),
    }
}

/// Reads a scene of another program as a model file, with overrides as those of
/// [`ModelFile::read`]; also what of it was left aside.
pub fn read_model(
    path: &Path,
    overrides: &[(String, String)],
) -> Result<(ModelFile, Vec<String>), SceneFileError> {
    let SceneFile { scene, beside, simulation, left_aside } = read_scene(path)?;
    let simulation = simulation.unwrap_or_else(default_simulation);
    let text = scene_text(&scene, &simulation).map_err(|error| SceneFileError::Read {
        path: path.to_path_buf(),
        cause: error.to_string(),
    })?;
    let text = text + &beside;
    let name = path.display().to_string();
    match ModelFile::parse(&text, &name, overrides) {
        Ok(file) => Ok((file, left_aside)),
        // lines of the text are none of the file
        Err(error) => Err(match scene.model() {
            Err(source) => SceneFileError::Scene { path: path.to_path_buf(), source },
            Ok(_) => error.into(),
        }),
    }
}

/// Whether a file of this name is a scene of another program.
pub fn is_foreign(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("hdf5" | "h5" | "urdf" | "xml" | "mjcf"))
}

/// How scenes are simulated whose files do not say it.
fn default_simulation() -> Simulation {
    Simulation {
        strategy: Strategy::TimeStepping,
        integrators: vec![Integrator::default_for(Order::Second)],
        solver: Solver::default(),
        newton: NewtonSettings::default(),
        h: 5e-4,
        tolerances: Default::default(),
        adaptive: Default::default(),
        until: 10.0,
        output: Output::default(),
    }
}

fn model_file(path: &Path) -> Result<SceneFile, SceneFileError> {
    let file = ModelFile::read(path, &[])?;
    let path = path.to_path_buf();
    let Some(scene) = file.scene else { return Err(SceneFileError::NoScene { path }) };
    // the numbers of a scene are those of its first parameters
    if sets_parameters(&file.model) {
        let what = "events that set parameters";
        return Err(SceneFileError::MoreThanAScene { path, what });
    }
    // those begin at 0, and what is born, driven or timed would be at other times
    if file.model.t0() != 0.0 {
        let what = "a beginning `t0` other than 0";
        return Err(SceneFileError::MoreThanAScene { path, what });
    }
    let beside = tables_beside(&file.text, &path.display().to_string())?;
    let simulation = Some(file.simulation);
    Ok(SceneFile { scene, beside, simulation, left_aside: Vec::new() })
}
