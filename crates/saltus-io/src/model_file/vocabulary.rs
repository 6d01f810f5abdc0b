//! The words of a model file: every key, what may stand there, what its absence means, what it is for.
//!
//! This one list decides which keys are known (`fields`), how their values are read
//! ([`Form`]), which paths `--set` can reach, and what the JSON schema says. The kinds, keys and defaults of
//! integrators and solvers are not written here: they are those of the Rust structs, through serde; only what they
//! mean, in words, is (see `SETTINGS`).

mod bodies;
mod scene;

use super::Strategy;
use saltus_numerics::Solver;
use saltus_sim::{AdaptiveSettings, EventSettings, Integrator, NewtonSettings};
use serde_json::Value;
use std::sync::LazyLock;

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
            system(),
            interaction(),
            relation(),
            law(),
            integrator(),
            solver(),
            newton(),
            vector_entries(),
            matrix_entries(),
            matrix_diagonal(),
            matrix_identity(),
            event(),
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

/// The settings of integrators and solvers in words, by kind and key.
const SETTINGS: &[(&str, &[(&str, &str)])] = &[
    (
        "euler-moreau",
        &[
            (
                "theta",
                "weight of the step's end in the smooth terms, in [0, 1]: 1 is implicit and the most robust, 1/2 is second order where nothing switches",
            ),
            ("gamma", "weight of the step's end in the multiplier terms, in (0, 1]"),
        ],
    ),
    (
        "moreau-jean",
        &[
            (
                "theta",
                "weight of the step's end, in [0, 1]: 1/2 conserves the energy of free motion, 1 damps fast vibrations",
            ),
            (
                "gamma",
                "a contact is active in a step that starts with y + gamma h u <= threshold; in [0, 1]",
            ),
            PROJECTION,
            THRESHOLD,
            (
                "form",
                "what a step's problem is written in: \"reduced\" (relative velocities) or \"global\" (velocities too)",
            ),
        ],
    ),
    (
        "schatzman-paoli",
        &[(
            "theta",
            "weight of the outer positions in the forces, in [0, 1]: 0 is explicit, from 1/4 on the scheme is stable for every step",
        )],
    ),
    (
        "generalized-alpha",
        &[
            (
                "rho_inf",
                "what is left of infinitely fast vibrations after a step, in [0, 1]: 1 damps nothing",
            ),
            (
                "gamma",
                "a contact is active in a step that starts with y + gamma h u <= threshold; in [0, 1]",
            ),
            PROJECTION,
            THRESHOLD,
        ],
    ),
    (
        "d1-minus-linear",
        &[
            (
                "variant",
                "the level at which forces of contacts that stay closed are found: \"acceleration\" (without friction) or \"velocity\"",
            ),
            ("tol", "gap, and speed, up to which a contact is closed"),
        ],
    ),
    ("auto", &[TOL, ("max_iter", "iterations that each method of the portfolio may use")]),
    (
        "pivoting",
        &[
            TOL,
            ("max_iter", "changes of mode before giving up"),
            ("cache", "modes whose affine map is kept"),
        ],
    ),
    ("lemke", &[TOL, ("max_iter", "pivots before giving up")]),
    (
        "gauss-seidel",
        &[
            TOL,
            ("max_iter", "sweeps before giving up"),
            ("relaxation", "relaxation in (0, 2): below 1 damps, above 1 over-relaxes"),
            ("accelerate", "prolong the steps between sweeps as conjugate gradients do"),
            ("freeze", "visit a block that did not move in so many sweeps less often; 0: never"),
            ("threads", "threads that share a sweep, by colours; 0: one for each core"),
            ("coloured", "sweep by colours, with the same answers for any number of threads"),
        ],
    ),
    ("fischer-burmeister", &[TOL, ("max_iter", "Newton steps before giving up")]),
    ("enumeration", &[TOL, ("max_iter", "modes to try before giving up")]),
    (
        "newton",
        &[
            TOL,
            ("max_iter", "steps before giving up"),
            ("proximal", "size of the proximal term relative to the residual"),
            ("patience", "steps without a tenth less residual before giving up"),
            (
                "function",
                "the equations that stand for the laws: \"alart-curnier\", \"jean-moreau\", \"natural-map\" or \"fischer-burmeister\"",
            ),
        ],
    ),
    ("interior-point", &[TOL, ("max_iter", "steps before Newton's method takes over")]),
    (
        "admm",
        &[
            TOL,
            ("max_iter", "iterations before giving up"),
            ("rho", "the penalty to begin with, relative to the diagonal"),
        ],
    ),
    ("extragradient", &[TOL, ("max_iter", "iterations before giving up")]),
];

/// The settings that are one of several words.
const CHOICES: &[(&str, &[&str])] = &[
    ("projection", &["direct", "combined", "ggl"]),
    ("variant", &["acceleration", "velocity"]),
    ("form", &["reduced", "global"]),
    ("function", &["alart-curnier", "jean-moreau", "natural-map", "fischer-burmeister"]),
];

const SYSTEMS: (&str, &str) = ("systems", "names of the systems that it serves");
const PROJECTION: (&str, &str) = (
    "projection",
    "how positions are kept on the constraints: \"direct\" (after the step), \"combined\" (with the contacts that the step closes), \"ggl\" (together with the velocities); not at all by default",
);
const THRESHOLD: (&str, &str) = (
    "threshold",
    "see gamma; a small positive value keeps resting contacts active that round-off has lifted",
);
const TOL: (&str, &str) = ("tol", "the verified residual of an answer is at most this");

/// The integrators and solvers in words.
const METHODS: &[(&str, &str)] = &[
    ("euler-moreau", "the theta-gamma scheme of Euler and Moreau, for first-order systems"),
    ("moreau-jean", "the theta-scheme of Moreau and Jean, for mechanical systems with impacts"),
    (
        "schatzman-paoli",
        "the scheme of Schatzman and Paoli, for mechanical systems: contacts hold in the positions",
    ),
    (
        "generalized-alpha",
        "the generalized-alpha scheme, for mechanical systems: second order while nothing impacts",
    ),
    (
        "d1-minus-linear",
        "the half-explicit D1-minus scheme, for mechanical systems: forces at both ends of the step",
    ),
    (
        "moreau-jean-bilbao",
        "the scheme of Bilbao, for mechanical systems with diagonal M, C and K: exact free vibrations",
    ),
    (
        "zero-order-hold",
        "the zero-order hold, for linear first-order systems: exact while forcing and multiplier are constant",
    ),
    ("auto", "a portfolio: warm-started pivoting first, then whatever it takes"),
    ("pivoting", "warm-started principal pivoting with a cache of modes"),
    ("lemke", "Lemke's method with the lexicographic rule"),
    ("gauss-seidel", "Gauss-Seidel by blocks, each solved exactly"),
    ("fischer-burmeister", "semismooth Newton on the Fischer-Burmeister function"),
    ("enumeration", "all modes in turn: small problems only"),
    ("newton", "semismooth Newton with a proximal term"),
    ("interior-point", "primal-dual interior point"),
    ("admm", "alternating directions, with one factorization for many iterations"),
    ("extragradient", "extragradient method with a step that adapts itself"),
];

/// The kinds of an enum of settings: names and defaults from serde, meanings from [`SETTINGS`].
fn settings_kinds(names: &[&'static str], defaults: impl Fn(&str) -> Option<Value>) -> Vec<Kind> {
    let kind = |&name: &&'static str| {
        let words =
            SETTINGS.iter().find(|(kind, _)| *kind == name).map_or(&[][..], |(_, keys)| keys);
        let defaults = defaults(name).unwrap_or_default();
        let settings = defaults.as_object().into_iter().flatten();
        let keys = settings.filter(|(key, _)| *key != "kind").map(|(key, default)| Key {
            name: key.clone(),
            form: match default {
                Value::Number(number) if number.is_u64() => Form::Count,
                Value::Number(_) => Form::Number,
                Value::Bool(_) => Form::Flag,
                Value::Array(_) => Form::Signals,
                _ => match CHOICES.iter().find(|(name, _)| name == key) {
                    Some((_, choices)) => Form::Choice(choices.to_vec()),
                    None => Form::Text,
                },
            },
            absent: match default {
                Value::Null => Absent::Words("none"),
                Value::Array(_) => Absent::Words("all that no other integrator names"),
                default => Absent::Value(default.clone()),
            },
            doc: words
                .iter()
                .chain([&SYSTEMS])
                .find(|(name, _)| name == key)
                .map_or("", |(_, doc)| doc),
        });
        let doc = METHODS.iter().find(|(method, _)| *method == name).map_or("", |(_, doc)| doc);
        Kind { name, doc, keys: keys.collect() }
    };
    names.iter().map(kind).collect()
}

/// The default settings of an integrator, as serde writes them.
pub(crate) fn default_integrator(name: &str) -> Option<Integrator> {
    serde_json::from_value(serde_json::json!({ "kind": name })).ok()
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
            "adaptive: the error allowed in a step, relative to 1 + |X|, in (0, 1)",
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

/// Inputs that a run leaves as they are.
fn inputs() -> Key {
    optional("z0", VECTOR, "no inputs", "the inputs z, as they are until they are set")
}

const EXACT: &str = "the exact derivative";

fn system() -> Section {
    const F: Uses = Uses::TIME.first("x").inputs();
    let first_order = vec![
        needed("x0", VECTOR, "the initial state"),
        needed("f", Form::Vector(F), "the right-hand side, of t, x and z"),
        optional("df_dx", Form::Matrix(F), EXACT, "∂f/∂x"),
        optional("M", MATRIX_OF_TIME, "the identity", "the mass matrix, of t; it may be singular"),
        inputs(),
    ];
    let first_order_linear = vec![
        needed("x0", VECTOR, "the initial state"),
        needed("A", MATRIX_OF_TIME, "the matrix of the state"),
        optional("b", VECTOR_OF_TIME, "zero", "the forcing"),
        optional("M", MATRIX, "the identity", "the mass matrix; it may be singular"),
    ];
    const Q: Uses = Uses::NOTHING.first("q");
    const GYR: Uses = Q.second("v").inputs();
    const INT: Uses = Uses { time: true, ..GYR };
    let lagrangian = vec![
        needed("q0", VECTOR, "the initial configuration"),
        needed("v0", VECTOR, "the initial velocity"),
        needed("M", Form::Matrix(Q), "the mass matrix, of q; symmetric positive definite"),
        optional("F_gyr", Form::Vector(GYR), "zero", "the gyroscopic force, of q, v and z"),
        optional("F_int", Form::Vector(INT), "zero", "the internal force, of t, q, v and z"),
        optional(
            "F_ext",
            Form::Vector(Uses::TIME.inputs()),
            "zero",
            "the external force, of t and z",
        ),
        optional("dF_gyr_dq", Form::Matrix(GYR), EXACT, "∂F_gyr/∂q"),
        optional("dF_gyr_dv", Form::Matrix(GYR), EXACT, "∂F_gyr/∂v"),
        optional("dF_int_dq", Form::Matrix(INT), EXACT, "∂F_int/∂q"),
        optional("dF_int_dv", Form::Matrix(INT), EXACT, "∂F_int/∂v"),
        inputs(),
    ];
    let lagrangian_linear = vec![
        needed("q0", VECTOR, "the initial configuration"),
        needed("v0", VECTOR, "the initial velocity"),
        needed("M", MATRIX, "the mass matrix, symmetric positive definite"),
        optional("C", MATRIX, "zero", "the damping matrix"),
        optional("K", MATRIX, "zero", "the stiffness matrix"),
        optional("F_ext", VECTOR_OF_TIME, "zero", "the external force"),
    ];
    let place = "the origin";
    let still = "zero: at rest";
    let frames = || Form::Choice(vec!["world", "body"]);
    let rigid_body = vec![
        optional("position", VECTOR, place, "where the center of mass is at first"),
        optional("orientation", VECTOR, "[1, 0, 0, 0]", "a quaternion w, x, y, z, of any length"),
        optional("v", VECTOR, still, "its first velocity, in the frame of the world"),
        optional("omega", VECTOR, still, "its first angular velocity, in the frame of the body"),
        needed("mass", Form::Number, "its mass, in (0, inf)"),
        needed(
            "inertia",
            Form::VectorOrMatrix,
            "its moments about the center of mass, in the frame of the body: three, or a matrix",
        ),
        optional("gravity", VECTOR, "zero", "the acceleration of gravity"),
        optional("force", Form::Vector(INT), "zero", "on the center of mass, of t, q, v and z"),
        with_default("force_frame", frames(), "world", "the frame of `force`"),
        optional("moment", Form::Vector(INT), "zero", "a moment, of t, q, v and z"),
        with_default("moment_frame", frames(), "body", "the frame of `moment`"),
        inputs(),
    ];
    let rigid_body_2d = vec![
        optional("position", VECTOR, place, "where the center of mass is at first"),
        with_default("angle", Form::Number, 0.0, "how it is turned at first, in radians"),
        optional("v", VECTOR, still, "its first velocity"),
        with_default("omega", Form::Number, 0.0, "its first angular velocity"),
        needed("mass", Form::Number, "its mass, in (0, inf)"),
        needed("inertia", Form::Number, "its moment about the center of mass, in (0, inf)"),
        optional("gravity", VECTOR, "zero", "the acceleration of gravity"),
        optional("force", Form::Vector(INT), "zero", "on the center of mass, of t, q, v and z"),
        with_default("force_frame", frames(), "world", "the frame of `force`"),
        optional("moment", Form::Vector(INT), "zero", "a moment, of t, q, v and z"),
        inputs(),
    ];
    Section {
        kinds: vec![
            kind("first-order", "M(t) ẋ = f(t, x, z) + r", first_order),
            kind("first-order-linear", "M ẋ = A x + b + r", first_order_linear),
            kind(
                "lagrangian",
                "M(q) v̇ + F_gyr(q, v) + F_int(t, q, v) = F_ext(t) + p, q̇ = v",
                lagrangian,
            ),
            kind("lagrangian-linear", "M v̇ + C v + K q = F_ext + p, q̇ = v", lagrangian_linear),
            kind(
                "rigid-body",
                "m v̇ = m g + force + p, J ω̇ + ω × J ω = moment + p, q = (position, quaternion)",
                rigid_body,
            ),
            kind("rigid-body-2d", "m v̇ = m g + force + p, J ω̇ = moment + p", rigid_body_2d),
        ],
        ..section(
            SectionId::System,
            "system",
            "a dynamical system",
            repeatable("the system's name"),
        )
    }
}

fn interaction() -> Section {
    let mut keys = repeatable("the interaction's name");
    keys.extend([
        needed("systems", Form::Links, "the one or two systems that interact"),
        needed("relation", Form::Kind(SectionId::Relation), "what y is, and how λ acts"),
        needed("law", Form::Kind(SectionId::Law), "what y and λ satisfy"),
        with_default(
            "active",
            Form::Flag,
            true,
            "whether it acts from the beginning; if not, an event can connect it",
        ),
    ]);
    section(SectionId::Interaction, "interaction", "a law on the output of a relation", keys)
}

fn event() -> Section {
    let never = "this is not what it waits for";
    let nothing = "nothing of that";
    let keys = vec![
        optional("name", Form::Name, "event1, event2 …", "the event's name"),
        optional(
            "for",
            Form::Repetition,
            "one table",
            "repeats the table, for example `i in 0..N`; the end is excluded",
        ),
        optional("when", Form::Text, never, "happens when this condition becomes true"),
        optional("at", Form::Bounds, never, "happens at this instant, or these"),
        optional("every", Form::Number, never, "happens every so many seconds"),
        optional("start", Form::Number, "`t0`", "the first instant of `every`"),
        with_default("once", Form::Flag, false, "whether it happens at most once"),
        optional(
            "set",
            Form::Values,
            nothing,
            "new values of states, such as \"ball.v\", and parameters",
        ),
        optional("law", Form::ByName(SectionId::Law), nothing, "new laws of interactions"),
        optional("connect", Form::Signals, nothing, "interactions that act from now on"),
        optional("disconnect", Form::Signals, nothing, "interactions that act no longer"),
        with_default("stop", Form::Flag, false, "whether it ends the run"),
    ];
    section(SectionId::Event, "event", "what changes at an instant", keys)
}

fn relation() -> Section {
    const H: Uses = Uses::TIME.first("x").second("lam").inputs();
    let first_order = vec![
        needed("h", Form::Vector(H), "the output, of t, x, lam and z"),
        needed("g", Form::Vector(H), "the input, of t, x, lam and z"),
        optional("dh_dx", Form::Matrix(H), EXACT, "∂h/∂x"),
        optional("dh_dlam", Form::Matrix(H), EXACT, "∂h/∂λ"),
        optional("dg_dx", Form::Matrix(H), EXACT, "∂g/∂x"),
        optional("dg_dlam", Form::Matrix(H), EXACT, "∂g/∂λ"),
        inputs(),
    ];
    let first_order_linear = vec![
        needed("C", MATRIX_OF_TIME, "the output matrix, one row a component of y"),
        needed("B", MATRIX_OF_TIME, "the input matrix, one column a component of λ"),
        optional("D", MATRIX_OF_TIME, "zero", "the feed-through"),
        optional("e", VECTOR_OF_TIME, "zero", "the offset"),
        optional("F", MATRIX_OF_TIME, "zero", "the weight of the inputs z"),
        inputs(),
    ];
    const GAP: Uses = Uses::TIME.first("q");
    let lagrangian = vec![
        needed("h", Form::Vector(GAP), "the gap, of t and q"),
        optional("H", Form::Matrix(GAP), EXACT, "∂h/∂q"),
        optional("dh_dt", Form::Vector(GAP), EXACT, "∂h/∂t"),
    ];
    const SOFT: Uses = Uses::NOTHING.first("q").second("lam");
    let lagrangian_compliant = vec![
        needed("h", Form::Vector(SOFT), "the gap, of q and lam"),
        optional("H", Form::Matrix(SOFT), EXACT, "∂h/∂q"),
        optional("dh_dlam", Form::Matrix(SOFT), EXACT, "∂h/∂λ"),
    ];
    let prescribed = vec![
        needed("dofs", VECTOR, "the degrees of freedom whose velocity is given, from 0"),
        needed("v", VECTOR_OF_TIME, "their velocities"),
    ];
    let lagrangian_linear = vec![
        needed("H", MATRIX, "the Jacobian of the gap, one row a component"),
        optional("b", VECTOR, "zero", "the offset"),
        optional("D", MATRIX, "zero", "the compliance"),
    ];
    let mut kinds = vec![
        kind("first-order", "y = h(t, x, λ), r = g(t, x, λ)", first_order),
        kind("first-order-linear", "y = C x + D λ + e + F z, r = B λ", first_order_linear),
        kind("lagrangian", "y = h(t, q), u = H v + ∂h/∂t, H = ∂h/∂q, p = Hᵀ λ", lagrangian),
        kind("lagrangian-compliant", "y = h(q, λ), H = ∂h/∂q, p = Hᵀ λ", lagrangian_compliant),
        kind("lagrangian-linear", "y = H q + D λ + b, u = H v, p = Hᵀ λ", lagrangian_linear),
        kind("prescribed", "u = v[dofs] − v(t), p[dofs] = λ", prescribed),
    ];
    kinds.extend(bodies::relations());
    let doc = "what y is, and how λ acts";
    Section { kinds, ..section(SectionId::Relation, "relation", doc, Vec::new()) }
}

fn law() -> Section {
    let relay = vec![
        with_default(
            "lower",
            Form::Bounds,
            -1.0,
            "λ where y > 0: one number for all components, or one each",
        ),
        with_default(
            "upper",
            Form::Bounds,
            1.0,
            "λ where y < 0: one number for all components, or one each",
        ),
    ];
    let switch = vec![
        needed(
            "control",
            Form::Text,
            "a formula of t, states, outputs and parameters, as in events",
        ),
        with_default("on", Form::Number, 0.0, "it closes where the control is above this"),
        optional("off", Form::Number, "as `on`", "it opens where the control is below this"),
        with_default("closed", Form::Flag, false, "whether it is closed at the beginning"),
    ];
    let piecewise_linear = vec![needed(
        "points",
        Form::Points,
        "points [y, lam] of the graph, y not decreasing and lam not increasing",
    )];
    let normal_cone = vec![
        needed("A", MATRIX, "one row a half-space"),
        needed("b", VECTOR, "one entry a half-space"),
    ];
    const CONTACT: Form = Form::Coefficient(Uses::TIME.first("q").second("u"));
    let e = || needed("e", CONTACT, "the restitution, in [0, 1]");
    let mu = || needed("mu", CONTACT, "the friction coefficient, not negative");
    let et = with_default("et", Form::Number, 0.0, "the tangential restitution, in [-1, 1]");
    let mu_r = needed("mu_r", CONTACT, "the coefficient of rolling resistance, a length");
    let multiple_impact = vec![
        needed("e", Form::Number, "the energetic restitution, in [0, 1]"),
        needed("stiffness", Form::Number, "K of the force K d^exponent, positive"),
        with_default("exponent", Form::Number, 1.5, "at least 1: 1 for springs, 3/2 for Hertz"),
    ];
    let after = || {
        [
            with_default("e", CONTACT, 0.0, "the restitution of the contact, in [0, 1]"),
            with_default("mu", CONTACT, 0.0, "its friction coefficient, not negative"),
        ]
    };
    let mut cohesive = vec![
        needed("stiffness", Form::Number, "force per opening of the sound bond, positive"),
        needed("strength", Form::Number, "the largest force, positive"),
        needed("energy", Form::Number, "what it takes to break the bond"),
        with_default(
            "shear",
            Form::Number,
            1.0,
            "the tangential stiffness beside the normal one, not negative",
        ),
    ];
    cohesive.extend(after());
    let mut binary_cohesive = vec![
        needed("strength", Form::Number, "the force of the bond, positive"),
        needed("opening", Form::Number, "the gap beyond which it is broken, not negative"),
    ];
    binary_cohesive.extend(after());
    Section {
        kinds: vec![
            kind("complementarity", "0 ≤ y ⟂ λ ≥ 0", Vec::new()),
            kind("equality", "y = 0 (mechanics: u = 0), λ free", Vec::new()),
            kind(
                "relay",
                "λ = lower where y > 0, upper where y < 0, between them where y = 0",
                relay,
            ),
            kind(
                "piecewise-linear",
                "(y, λ) on the line through the points, continued at both ends",
                piecewise_linear,
            ),
            kind("switch", "closed: y = 0, λ free; open: λ = 0, y free", switch),
            kind("normal-cone", "−y ∈ N_P(λ), P = { λ : A λ ≤ b }", normal_cone),
            kind("newton-impact", "0 ≤ u⁺ + e u⁻ ⟂ λ ≥ 0 where the gap is closed", vec![e()]),
            kind(
                "impact-friction",
                "newton-impact in the normal direction, ‖λ_T‖ ≤ mu λ_N against sliding",
                vec![e(), mu(), et],
            ),
            kind(
                "rolling-friction",
                "impact-friction with rolling resistance ‖λ_R‖ ≤ mu_r λ_N",
                vec![e(), mu(), mu_r],
            ),
            kind(
                "fremond",
                "impact-friction against the mean of the sliding velocities before and after",
                vec![e(), mu()],
            ),
            kind(
                "multiple-impact",
                "impacts on several contacts at once, shared as by springs; 0 ≤ u⁺ ⟂ λ ≥ 0 between them",
                multiple_impact,
            ),
            kind(
                "cohesive",
                "impact-friction and a bond beside it that is damaged by opening",
                cohesive,
            ),
            kind(
                "binary-cohesive",
                "impact-friction and a bond beside it of constant force up to an opening",
                binary_cohesive,
            ),
        ],
        kind_alone: true,
        ..section(SectionId::Law, "law", "what y and λ satisfy", Vec::new())
    }
}

fn integrator() -> Section {
    let defaults = |name: &str| serde_json::to_value(default_integrator(name)?).ok();
    Section {
        kinds: settings_kinds(&Integrator::NAMES, defaults),
        kind_alone: true,
        ..section(SectionId::Integrator, "integrator", "the one-step scheme", Vec::new())
    }
}

fn solver() -> Section {
    let defaults = |name: &str| serde_json::to_value(Solver::from_name(name)?).ok();
    Section {
        kinds: settings_kinds(&Solver::NAMES, defaults),
        default_kind: Some(Solver::default().name()),
        kind_alone: true,
        ..section(SectionId::Solver, "solver", "the solver of each step's problem", Vec::new())
    }
}

fn newton() -> Section {
    let NewtonSettings { tol, max_iter, .. } = NewtonSettings::default();
    let keys = vec![
        with_default(
            "tol",
            Form::Number,
            tol,
            "the residual, relative to its terms, of a solved step",
        ),
        with_default("max_iter", Form::Count, max_iter, "iterations before giving up"),
        with_default(
            "mode",
            Form::Choice(vec!["full", "quasi", "linear"]),
            "full",
            "Jacobians in every iteration (full) or once a step (quasi), or one iteration alone (linear)",
        ),
    ];
    let doc = "how the equations of a step that are not linear are solved";
    section(SectionId::Newton, "newton", doc, keys)
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

    /// What is written here in words is about settings that exist, and every setting has its words.
    #[test]
    fn words_and_settings_agree() {
        let mut known = Vec::new();
        for id in [SectionId::Integrator, SectionId::Solver] {
            for kind in &vocabulary().section(id).kinds {
                assert!(!kind.doc.is_empty(), "{} has no words", kind.name);
                assert!(!kind.keys.is_empty(), "{} has no settings", kind.name);
                for key in &kind.keys {
                    assert!(!key.doc.is_empty(), "{}.{} has no words", kind.name, key.name);
                    known.push((kind.name, key.name.clone()));
                }
            }
        }
        for (kind, keys) in SETTINGS {
            for (key, _) in *keys {
                assert!(known.contains(&(kind, (*key).to_owned())), "there is no {kind}.{key}");
            }
        }
        for (method, _) in METHODS {
            assert!(known.iter().any(|(kind, _)| kind == method), "there is no {method}");
        }
    }

    #[test]
    fn newton_defaults() {
        let defaults = serde_json::to_value(NewtonSettings::default()).expect("plain data");
        let keys = &vocabulary().section(SectionId::Newton).keys;
        assert_eq!(defaults.as_object().map(|it| it.len()), Some(keys.len()));
        for key in keys {
            assert_eq!(key.absent, Absent::Value(defaults[&key.name].clone()), "{}", key.name);
            if let Form::Choice(names) = &key.form {
                for name in names {
                    let settings = serde_json::json!({ &key.name: name });
                    serde_json::from_value::<NewtonSettings>(settings).expect("it is known");
                }
            }
        }
    }

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
