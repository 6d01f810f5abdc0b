//! The words of a model file: every key, what may stand there, what its absence means, what it is for.
//!
//! This one list decides which keys are known (`fields`), how their values are read
//! ([`Form`]), which paths `--set` can reach, and what the JSON schema says. The kinds, keys and defaults of
//! integrators and solvers are not written here: they are those of the Rust structs, through serde; only what they
//! mean, in words, is (see `settings`).

mod bodies;
mod model;
mod scene;
mod settings;

use super::Strategy;
use saltus_sim::{AdaptiveSettings, EventSettings};
use serde_json::Value;
use std::sync::LazyLock;

pub(crate) use bodies::why_not;
pub(crate) use settings::default_integrator;

/// All sections of a model file.
#[derive(Debug)]
pub struct Vocabulary {
    sections: Vec<Section>, // in the order of `SectionId`
}

/// Names a section of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionId {
    /// The file itself.
    File,
    /// `[simulation]`
    Simulation,
    /// `output` of the simulation.
    Output,
    /// `[[system]]`
    System,
    /// `[[interaction]]`
    Interaction,
    /// `relation` of an interaction.
    Relation,
    /// `law` of an interaction.
    Law,
    /// `integrator` of the simulation.
    Integrator,
    /// `solver` of the simulation.
    Solver,
    /// `newton` of the simulation.
    Newton,
    /// A vector by a formula.
    VectorEntries,
    /// A matrix by a formula.
    MatrixEntries,
    /// A matrix by its diagonal.
    MatrixDiagonal,
    /// An identity matrix.
    MatrixIdentity,
    /// `[[event]]`
    Event,
    /// What is built into a coordinate of a joint.
    Extras,
    /// `spring` of a joint.
    Spring,
    /// `motor` of a joint.
    Motor,
    /// `[scene]`
    Scene,
    /// `[[material]]`
    Material,
    /// `[[contact]]`
    Contact,
    /// `[[static]]`
    Static,
    /// `drive` of what moves as it is told.
    Drive,
    /// `[[body]]`
    Body,
    /// `[[joint]]`
    Joint,
    /// `shape` of a body.
    Shape,
}

/// One table of a model file: its keys, and the keys that each of its kinds adds.
#[derive(Debug)]
pub struct Section {
    /// Which one.
    pub id: SectionId,
    /// What it is called in messages: `system`, `law` …
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys.
    pub keys: Vec<Key>,
    /// Its kinds, chosen by the key `kind`; none if it has no such key.
    pub kinds: Vec<Kind>,
    /// The kind of a table that does not name one. (Integrators: also by the order of the systems.)
    pub default_kind: Option<&'static str>,
    /// Whether a kind's name alone can stand for its table.
    pub kind_alone: bool,
}

/// One kind of a section.
#[derive(Debug)]
pub struct Kind {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// Its equation, in words or signs.
    pub doc: &'static str,
    /// The keys it adds.
    pub keys: Vec<Key>,
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// What may stand there.
    pub form: Form,
    /// What its absence means.
    pub absent: Absent,
    /// What it is for.
    pub doc: &'static str,
}

/// What the absence of a key means.
#[derive(Debug, Clone, PartialEq)]
pub enum Absent {
    /// An error.
    Refused,
    /// This value.
    Value(Value),
    /// Something that is no value, in words.
    Words(&'static str),
}

/// What may stand at a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A string.
    Text,
    /// A name; in a repeated table with formulas in braces.
    Name,
    /// One or two names of systems.
    Links,
    /// `i in 0..N`
    Repetition,
    /// Signals such as `ball.q`.
    Signals,
    /// Pairs of names.
    Pairs,
    /// One of these strings.
    Choice(Vec<&'static str>),
    /// A finite number or a formula.
    Number,
    /// A whole number that is not negative, or a formula.
    Count,
    /// `true` or `false`.
    Flag,
    /// A number or an array of numbers; they may be infinite.
    Bounds,
    /// A number of samples, or an array of instants.
    Samples,
    /// A vector, whose entries may be formulas of this.
    Vector(Uses),
    /// A matrix, likewise.
    Matrix(Uses),
    /// A vector for a diagonal, or a matrix.
    VectorOrMatrix,
    /// The same, or in the plane a number.
    Moments,
    /// A finite number, or a formula of this.
    Coefficient(Uses),
    /// Points `[y, lam]` of a graph.
    Points,
    /// A formula of the position in the array.
    Entry,
    /// New values of states and parameters, by name.
    Values,
    /// Tables with a kind, by name.
    ByName(SectionId),
    /// The table of parameters.
    Parameters,
    /// A table.
    Table(SectionId),
    /// An array of tables.
    Tables(SectionId),
    /// A table with a kind, or the kind's name alone.
    Kind(SectionId),
    /// The same, or an array of such.
    Kinds(SectionId),
}

/// What formulas may use besides parameters. The two vectors depend on the slot, as in
/// [`saltus_model::Operator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// The time `t`.
    pub time: bool,
    /// The name of the first vector, `x` or `q`; empty if there is none.
    pub first: &'static str,
    /// The name of the second vector, `v`, `lam` or `u`; empty if there is none.
    pub second: &'static str,
    /// The inputs `z`.
    pub inputs: bool,
}

impl Uses {
    /// Parameters alone: the value is constant.
    pub const NOTHING: Uses = Uses { time: false, first: "", second: "", inputs: false };
    /// The time.
    pub const TIME: Uses = Uses { time: true, ..Uses::NOTHING };

    const fn first(self, first: &'static str) -> Uses {
        Uses { first, ..self }
    }

    const fn second(self, second: &'static str) -> Uses {
        Uses { second, ..self }
    }

    const fn inputs(self) -> Uses {
        Uses { inputs: true, ..self }
    }

    /// In words: `t`, `q`, `v`.
    pub fn words(self) -> Vec<&'static str> {
        let time = if self.time { "t" } else { "" };
        let inputs = if self.inputs { "z" } else { "" };
        [time, self.first, self.second, inputs]
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect()
    }
}

impl Form {
    /// The section of the tables that stand there.
    pub fn section(&self) -> Option<SectionId> {
        match self {
            Form::Table(id) | Form::Tables(id) | Form::Kind(id) | Form::Kinds(id) => Some(*id),
            _ => None,
        }
    }
}

/// The vocabulary.
pub fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::new);
    &VOCABULARY
}

impl Vocabulary {
    fn new() -> Vocabulary {
        let mut sections = vec![
            file(),
            simulation(),
            output(),
            model::system(),
            model::interaction(),
            model::relation(),
            model::law(),
            settings::integrator(),
            settings::solver(),
            settings::newton(),
            vector_entries(),
            matrix_entries(),
            matrix_diagonal(),
            matrix_identity(),
            model::event(),
            bodies::extras(),
            bodies::spring(),
            bodies::motor(),
        ];
        sections.extend(scene::sections());
        debug_assert!(sections.iter().enumerate().all(|(i, section)| section.id as usize == i));
        Vocabulary { sections }
    }

    /// One section.
    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id as usize]
    }

    /// All sections.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }
}

impl Section {
    /// The kind of that name.
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }

    /// Its keys and those that one of its kinds adds.
    pub fn keys_with<'a>(
        &'a self,
        kind: Option<&'a Kind>,
    ) -> impl Iterator<Item = &'a Key> + Clone {
        self.keys.iter().chain(kind.map_or(&[][..], |kind| &kind.keys))
    }
}

fn key(name: &str, form: Form, absent: Absent, doc: &'static str) -> Key {
    Key { name: name.to_owned(), form, absent, doc }
}

fn needed(name: &str, form: Form, doc: &'static str) -> Key {
    key(name, form, Absent::Refused, doc)
}

fn optional(name: &str, form: Form, absent: &'static str, doc: &'static str) -> Key {
    key(name, form, Absent::Words(absent), doc)
}

fn with_default(name: &str, form: Form, default: impl Into<Value>, doc: &'static str) -> Key {
    key(name, form, Absent::Value(default.into()), doc)
}

const VECTOR: Form = Form::Vector(Uses::NOTHING);
const MATRIX: Form = Form::Matrix(Uses::NOTHING);
const VECTOR_OF_TIME: Form = Form::Vector(Uses::TIME);
const MATRIX_OF_TIME: Form = Form::Matrix(Uses::TIME);

fn section(id: SectionId, name: &'static str, doc: &'static str, keys: Vec<Key>) -> Section {
    Section { id, name, doc, keys, kinds: Vec::new(), default_kind: None, kind_alone: false }
}

fn file() -> Section {
    let mut keys = vec![
        optional("title", Form::Text, "the file's name", "the model's title"),
        optional(
            "parameters",
            Form::Parameters,
            "no parameters",
            "numbers that every formula below may use",
        ),
        needed("simulation", Form::Table(SectionId::Simulation), "how the model is simulated"),
        optional(
            "system",
            Form::Tables(SectionId::System),
            "bodies alone",
            "the dynamical systems",
        ),
        optional(
            "interaction",
            Form::Tables(SectionId::Interaction),
            "no interactions",
            "the laws between systems",
        ),
        optional(
            "event",
            Form::Tables(SectionId::Event),
            "no events",
            "what changes states, parameters and laws while the model runs",
        ),
    ];
    keys.extend(scene::file_keys());
    section(SectionId::File, "model file", "a model and how it is simulated", keys)
}

fn simulation() -> Section {
    let strategies = Strategy::NAMES.to_vec();
    let tolerances = EventSettings::default();
    let by_order = "the default one for each order of systems in the model";
    let keys = vec![
        with_default(
            "strategy",
            Form::Choice(strategies),
            Strategy::default().name(),
            "the strategy",
        ),
        optional(
            "integrator",
            Form::Kinds(SectionId::Integrator),
            by_order,
            "time-stepping: the one-step scheme; a list for mixed models",
        ),
        optional(
            "solver",
            Form::Kind(SectionId::Solver),
            "`auto`",
            "the solver of each step's problem, or of those at events",
        ),
        optional(
            "newton",
            Form::Table(SectionId::Newton),
            "its defaults",
            "time-stepping: the iteration around it, where the model is not linear",
        ),
        optional(
            "h",
            Form::Number,
            "an error for time-stepping, which needs it",
            "time-stepping: the time step",
        ),
        with_default(
            "rtol",
            Form::Number,
            tolerances.rtol,
            "event-driven: the error allowed in a step, relative to the state, in (0, 1)",
        ),
        with_default(
            "atol",
            Form::Number,
            tolerances.atol,
            "event-driven: the error allowed in a step besides, and the gap of a closed contact, in (0, 1)",
        ),
        with_default(
            "tol",
            Form::Number,
            AdaptiveSettings::default().tol,
            "adaptive: the error allowed in a step, relative to 1 + |X|, in (0, 0.1]",
        ),
        needed("until", Form::Number, "the time at which the simulation ends"),
        with_default("t0", Form::Number, 0.0, "the time at which it begins"),
        optional(
            "output",
            Form::Table(SectionId::Output),
            "all signals of every step",
            "what is recorded",
        ),
    ];
    section(SectionId::Simulation, "simulation", "how the model is simulated", keys)
}

fn output() -> Section {
    let keys = vec![
        with_default("every", Form::Count, 1, "one step in how many is recorded"),
        optional(
            "samples",
            Form::Samples,
            "the ends of steps, and both sides of events",
            "event-driven and adaptive: record at these instants instead, or at so many of equal distance",
        ),
        optional(
            "signals",
            Form::Signals,
            "all signals",
            "which signals are recorded, such as `ball.q`",
        ),
    ];
    section(SectionId::Output, "output", "what is recorded", keys)
}

/// The keys of a table that may be repeated.
fn repeatable(name_doc: &'static str) -> Vec<Key> {
    vec![
        needed("name", Form::Name, name_doc),
        optional(
            "for",
            Form::Repetition,
            "one table",
            "repeats the table, for example `i in 0..N`; the end is excluded",
        ),
    ]
}

fn kind(name: &'static str, doc: &'static str, keys: Vec<Key>) -> Kind {
    Kind { name, doc, keys }
}

fn vector_entries() -> Section {
    let keys = vec![
        needed("size", Form::Count, "the number of entries"),
        needed("entry", Form::Entry, "an entry, as a formula of `row` (from 0)"),
    ];
    section(SectionId::VectorEntries, "vector", "a vector by a formula", keys)
}

fn matrix_entries() -> Section {
    let keys = vec![
        needed("rows", Form::Count, "the number of rows"),
        needed("cols", Form::Count, "the number of columns"),
        needed("entry", Form::Entry, "an entry, as a formula of `row` and `col` (from 0)"),
    ];
    section(SectionId::MatrixEntries, "matrix", "a matrix by a formula", keys)
}

fn matrix_diagonal() -> Section {
    let keys = vec![needed("diagonal", VECTOR_OF_TIME, "the entries on the diagonal")];
    section(SectionId::MatrixDiagonal, "matrix", "a matrix by its diagonal", keys)
}

fn matrix_identity() -> Section {
    let keys = vec![needed("identity", Form::Count, "the number of rows and columns")];
    section(SectionId::MatrixIdentity, "matrix", "an identity matrix", keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_twice() {
        for section in vocabulary().sections() {
            let mut kinds: Vec<Option<&Kind>> = section.kinds.iter().map(Some).collect();
            kinds.push(None);
            for kind in kinds {
                let mut names: Vec<&str> =
                    section.keys_with(kind).map(|key| key.name.as_str()).collect();
                names.sort_unstable();
                let count = names.len();
                names.dedup();
                assert_eq!(names.len(), count, "{}", section.name);
                assert!(!names.contains(&"kind"));
            }
        }
    }
}
