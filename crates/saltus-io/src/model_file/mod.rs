//! Model files: TOML text to a model and how it is simulated.
//!
//! ```toml
//! title = "bouncing ball"
//!
//! [parameters]                # usable in every number below as a formula string
//! g = 9.81
//!
//! [simulation]
//! integrator = { kind = "moreau-jean", theta = 0.5 }
//! h = 5e-3
//! until = 10.0
//!
//! [[system]]
//! name = "ball"
//! kind = "lagrangian-linear"
//! q0 = [1.0]
//! v0 = [0.0]
//! M = [[1]]
//! F_ext = ["-g"]
//!
//! [[interaction]]
//! name = "floor"
//! systems = ["ball"]
//! relation = { kind = "lagrangian-linear", H = [[1]] }
//! law = { kind = "newton-impact", e = 0.9 }
//! ```
//!
//! What happens to a text, a file a stage: `tree` (TOML with places), `overrides` (`--set`), `parameters`,
//! then `build` and `simulation`, which read tables through `fields` and numbers through `scope` and
//! `arrays`. Which keys there are is written once, in [`vocabulary`].

mod arrays;
mod bodies;
mod build;
mod error;
mod events;
mod expansion;
mod fields;
mod joints;
mod overrides;
mod parameters;
mod repetition;
mod scene;
mod schema;
mod scope;
mod simulation;
mod slot;
mod source;
mod tree;
pub mod vocabulary;

pub(crate) use error::quoted;
pub use error::{ErrorKind, ModelFileError};
pub use scene::{SceneTextError, scene_model, scene_text};
pub(crate) use scene::{sets_parameters, tables_beside};
pub use schema::schema;

use error::Fault;
use fields::Fields;
use saltus_mechanics::Scene;
use saltus_model::Model;
use saltus_numerics::Solver;
use saltus_sim::{AdaptiveSettings, EventSettings, Integrator, NewtonSettings};
use scope::{Limits, Scope};
use source::{Place, Source, line_and_column};
use std::cell::RefCell;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use tree::{Item, Table, Value};
use vocabulary::SectionId;

/// A model file, read and evaluated.
#[derive(Debug, Clone)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// How it is simulated.
    pub simulation: Simulation,
    /// The scene that is part of the model, where it has bodies with shapes.
    pub scene: Option<Scene>,
    /// The text of the file, without overrides.
    pub text: String,
    /// The files that it names, such as meshes, where they were found.
    pub files: Vec<PathBuf>,
    /// The folder in which these are looked for: that of the file.
    pub folder: PathBuf,
}

/// How a model is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// The strategy.
    pub strategy: Strategy,
    /// Time-stepping: one integrator for each order of systems in the model.
    pub integrators: Vec<Integrator>,
    /// The solver of each step's problem, or of those at events.
    pub solver: Solver,
    /// Time-stepping: how the equations of a step that are not linear are solved.
    pub newton: NewtonSettings,
    /// Time-stepping: the time step, positive. Not a number for other strategies.
    pub h: f64,
    /// Event-driven: the errors allowed in a step.
    pub tolerances: EventSettings,
    /// Adaptive: the error allowed in a step.
    pub adaptive: AdaptiveSettings,
    /// The time at which the simulation ends, at least the model's `t0`.
    pub until: f64,
    /// What is recorded.
    pub output: Output,
}

/// How time is advanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Steps of fixed size, with all events of a step taken together.
    #[default]
    TimeStepping,
    /// Steps of high order with error control, and events at their instants.
    EventDriven,
    /// The one while events are rare, the other through clusters of them.
    Adaptive,
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// One step in how many, at least 1.
    pub every: usize,
    /// At which instants instead, where the strategy knows the inside of its steps.
    pub samples: Option<Samples>,
    /// Which signals, such as `ball.q` or `ball.q[0]`; all if not given.
    pub signals: Option<Vec<String>>,
}

/// Instants at which a run is recorded.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// So many of equal distance, both ends included.
    Count(usize),
    /// These, which increase.
    Instants(Vec<f64>),
}

impl Samples {
    /// The instants of a run from `t` to `until`.
    pub fn instants(&self, t: f64, until: f64) -> Vec<f64> {
        match self {
            Samples::Instants(instants) => instants.clone(),
            // where there is no way to go, there is one instant
            Samples::Count(_) if !(until > t) => vec![until],
            Samples::Count(count) => {
                let last = count.saturating_sub(1);
                let step = (until - t) / last.max(1) as f64;
                let at = |k: usize| if k == last { until } else { t + k as f64 * step };
                (0..*count).map(at).collect()
            }
        }
    }
}

impl Default for Output {
    fn default() -> Self {
        Output { every: 1, samples: None, signals: None }
    }
}

impl Strategy {
    /// The names of the strategies, as model files write them.
    pub const NAMES: [&'static str; 3] = ["time-stepping", "event-driven", "adaptive"];

    /// The strategy of that name.
    pub fn from_name(name: &str) -> Option<Strategy> {
        let all = [Strategy::TimeStepping, Strategy::EventDriven, Strategy::Adaptive];
        all.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::TimeStepping => Strategy::NAMES[0],
            Strategy::EventDriven => Strategy::NAMES[1],
            Strategy::Adaptive => Strategy::NAMES[2],
        }
    }

    /// The keys of `[simulation]` that only this strategy has.
    pub(crate) fn own_keys(self) -> &'static [&'static str] {
        match self {
            Strategy::TimeStepping => &["h", "integrator", "newton"],
            Strategy::EventDriven => &["rtol", "atol"],
            Strategy::Adaptive => &["tol"],
        }
    }

    /// Whether its runs can be recorded at given samples.
    pub(crate) fn has_samples(self) -> bool {
        self != Strategy::TimeStepping
    }
}

impl ModelFile {
    /// Reads a model file. Each override is a path such as `floor.law.e` and a TOML value or a formula.
    pub fn read(path: &Path, overrides: &[(String, String)]) -> Result<ModelFile, ModelFileError> {
        let name = path.display().to_string();
        let unreadable =
            |reason: String| ModelFileError::of_file(&name, ErrorKind::Read { reason });
        if path.is_dir() {
            return Err(unreadable("a directory, expected a model file (.toml)".to_owned()));
        }
        let bytes = std::fs::read(path).map_err(|error| match error.kind() {
            IoErrorKind::NotFound => unreadable("no such file".to_owned()),
            _ => unreadable(format!("cannot be read: {error}")),
        })?;
        let text = String::from_utf8(bytes).map_err(|error| not_utf8(&name, &error))?;
        ModelFile::parse(&text, &name, overrides)
    }

    /// The same from a text; `name` stands for the file in errors.
    pub fn parse(
        text: &str,
        name: &str,
        overrides: &[(String, String)],
    ) -> Result<ModelFile, ModelFileError> {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        ModelFile::parse_in(text, name, overrides, &[folder.to_path_buf()])
    }

    /// The same, with files that the text names looked for in these folders, one after the other.
    pub fn parse_in(
        text: &str,
        name: &str,
        overrides: &[(String, String)],
        folders: &[PathBuf],
    ) -> Result<ModelFile, ModelFileError> {
        if text.trim().is_empty() {
            return Err(ModelFileError::of_file(name, ErrorKind::Empty));
        }
        let mut sources =
            vec![Source { name: name.to_owned(), text: text.to_owned(), is_file: true }];
        for (path, value) in overrides {
            let text = format!("{path}={value}");
            sources.push(Source { name: format!("--set {text}"), text, is_file: false });
        }
        evaluate(text, name, overrides, folders).map_err(|fault| fault.locate(&sources))
    }

    /// The model file that made a run, from the text that the run keeps: its folder and overrides as
    /// comments before it (see [`ModelFile::text_with`]). Files that it names are looked for in
    /// `folder`, where it is given, then where they were for the run, `beside` the run, and in the
    /// current folder.
    pub fn of_run(
        text: &str,
        folder: Option<&Path>,
        beside: Option<&Path>,
    ) -> Result<ModelFile, ModelFileError> {
        let (own, rest) = match text.strip_prefix(FOLDER).and_then(|rest| rest.split_once('\n')) {
            Some((own, rest)) => (Some(Path::new(own)), rest),
            None => (None, text),
        };
        let mut folders: Vec<PathBuf> = Vec::new();
        let all = [folder, own, beside, Some(Path::new(""))];
        for folder in all.into_iter().flatten().map(Path::to_path_buf) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let lines = rest.lines().map_while(|line| line.strip_prefix("# --set "));
        let pairs = lines.filter_map(|line| line.split_once('='));
        // how long it ran, and what of it was kept, is no part of the model
        let overrides: Vec<(String, String)> = pairs
            .filter(|(path, _)| !path.starts_with("simulation."))
            .map(|(path, value)| (path.to_owned(), value.to_owned()))
            .collect();
        ModelFile::parse_in(text, "model", &overrides, &folders)
    }

    /// The text of the file with overrides as comments before it: what made a run, for the
    /// run's file. Where the model names files, its folder comes first.
    ///
    /// ```text
    /// # folder /home/ada/mill
    /// # --set floor.law.e=0.5
    /// title = "bouncing ball"
    /// ...
    /// ```
    pub fn text_with(&self, overrides: &[(String, String)]) -> String {
        let mut text = String::new();
        if let Some(folder) = self.named_folder() {
            text.extend([FOLDER, &folder, "\n"]);
        }
        for (path, value) in overrides {
            text.push_str("# --set ");
            // a comment of TOML ends with the line and has no control characters but tabs
            for c in format!("{path}={value}").chars() {
                match c.is_control() && c != '\t' {
                    true => text.extend(c.escape_default()),
                    false => text.push(c),
                }
            }
            text.push('\n');
        }
        text + &self.text
    }

    /// The folder of a model that names files, as a comment can hold it.
    fn named_folder(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let folder = match self.folder.as_os_str().is_empty() {
            true => std::env::current_dir(),
            false => std::path::absolute(&self.folder),
        };
        let folder = folder.ok()?.into_os_string().into_string().ok()?;
        (!folder.chars().any(char::is_control)).then_some(folder)
    }
}

/// The comment before the text of a run that says where files are which the model names.
const FOLDER: &str = "# folder ";

/// The stages one after the other.
fn evaluate(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    folders: &[PathBuf],
) -> Result<ModelFile, Fault> {
    let mut file = tree::document(text)?;
    for (i, (path, value)) in overrides.iter().enumerate() {
        overrides::apply(&mut file, path, value, i + 1)?;
    }

    let parameters = parameters::evaluate(file.get("parameters"))?;
    let limits = Limits::default();
    let scope = Scope { parameters: &parameters, variable: None, limits: &limits };
    let start = Place { source: 0, span: 0..0 };
    let root = Item { place: start, value: Value::Table(file) };
    let fields = Fields::open(&root, SectionId::File, "model file".to_owned(), &scope)?;

    let settings = simulation::open(fields.need("simulation")?, &scope)?;
    let title = fields.text("title")?.unwrap_or_else(|| stem(name));
    let mut model = Model::new(title).starting_at(settings.number("t0")?);
    let empty = Table::default();
    let file = root.as_table().unwrap_or(&empty);
    build::add_systems(file, &mut model, &scope)?;
    let files = scene::Files { folders, found: RefCell::default() };
    let scene = scene::read(file, model.title(), &files, &scope)?;
    if let Some(scene) = &scene {
        scene.add_bodies(&mut model)?;
    }
    if model.systems().len() == 0 {
        let place = fields.place_of("system").unwrap_or(fields.place);
        return Err(Fault::new(place, ErrorKind::NoSystem));
    }
    build::connect(file, &mut model, &scope)?;
    if let Some(scene) = &scene {
        scene.complete(&mut model)?;
    }
    events::add_events(file, &mut model, &scope)?;
    if model.parameters().len() > 0 {
        let (text, name, overrides) = (text.to_owned(), name.to_owned(), overrides.to_vec());
        let folders = folders.to_vec();
        let again = move |set: &[(&str, f64)]| {
            let set = set
                .iter()
                .map(|(name, value)| (format!("parameters.{name}"), format!("{value:?}")));
            let overrides: Vec<_> = overrides.iter().cloned().chain(set).collect();
            let file = ModelFile::parse_in(&text, &name, &overrides, &folders);
            file.map(|file| file.model).map_err(|error| error.to_string())
        };
        model = model.with_recipe(again);
    }

    let simulation = simulation::simulation(&settings, &model)?;
    let scene = scene.map(|tables| tables.scene);
    let (text, files) = (text.to_owned(), files.found.into_inner());
    let folder = folders.first().cloned().unwrap_or_default();
    Ok(ModelFile { model, simulation, scene, text, files, folder })
}

/// Names of files that say nothing: such a file has the name of its folder.
pub const PLAIN_NAMES: [&str; 2] = ["model", "scene"];

/// The title of a file that gives none: its name, or its folder's.
fn stem(name: &str) -> &str {
    let path = Path::new(name);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    if PLAIN_NAMES.contains(&stem) { folder.unwrap_or(stem) } else { stem }
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> ModelFileError {
    let bytes = error.as_bytes();
    let valid = &bytes[..error.utf8_error().valid_up_to()];
    let byte = bytes.get(valid.len()).copied().unwrap_or(0);
    let (line, column) = line_and_column(&String::from_utf8_lossy(valid), valid.len());
    ModelFileError::of_file(name, ErrorKind::NotUtf8 { byte }).at(line, column)
}
