//! What a run leaves behind: its layout, its frames, its summary.
//!
//! The recorder keeps one row a recorded instant: the states of all systems, the outputs and
//! multipliers of all interactions, and the ledger, side by side. A signal is a range of
//! columns. So recording a step is one copy, whatever the number of systems.

use crate::Contacts;
use crate::pushes::{Impulse, Push};
use saltus_model::StateVector;
use serde::Serialize;
use std::ops::Range;
use thiserror::Error;

/// What a recorded array is, in the words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// State of a first-order system.
    X,
    /// Configuration of a mechanical system.
    Q,
    /// Velocity of a mechanical system; of a rigid body that of its center of mass.
    V,
    /// Where the center of mass of a rigid body is.
    Position,
    /// How a rigid body in space is turned: a quaternion `w, x, y, z`.
    Orientation,
    /// How a rigid body in the plane is turned.
    Angle,
    /// Angular velocity of a rigid body; in space, in the frame of the body.
    Omega,
    /// Output of an interaction (mechanics: the gap).
    Y,
    /// Relative velocity `ẏ` of a mechanical interaction.
    U,
    /// Multiplier of an interaction (time-stepping of mechanics: the impulse of the step).
    Lam,
    /// Integrity of a bond: 1 sound, 0 broken.
    Beta,
    /// A number with a name of its own, such as `v(out)`, the voltage of a circuit's node.
    Value,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Quantity; 12] = [
        Quantity::X,
        Quantity::Q,
        Quantity::V,
        Quantity::Position,
        Quantity::Orientation,
        Quantity::Angle,
        Quantity::Omega,
        Quantity::Y,
        Quantity::U,
        Quantity::Lam,
        Quantity::Beta,
        Quantity::Value,
    ];

    /// The name in run files, signal paths and Python.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::X => "x",
            Quantity::Q => "q",
            Quantity::V => "v",
            Quantity::Position => "position",
            Quantity::Orientation => "orientation",
            Quantity::Angle => "angle",
            Quantity::Omega => "omega",
            Quantity::Y => "y",
            Quantity::U => "u",
            Quantity::Lam => "lam",
            Quantity::Beta => "beta",
            Quantity::Value => "value",
        }
    }

    /// The quantity of that name.
    pub fn from_name(name: &str) -> Option<Quantity> {
        Quantity::ALL.into_iter().find(|quantity| quantity.name() == name)
    }

    /// The vector of a state.
    pub(crate) fn of(vector: StateVector) -> Quantity {
        match vector {
            StateVector::X => Quantity::X,
            StateVector::Q => Quantity::Q,
            StateVector::V => Quantity::V,
        }
    }

    /// Whether it belongs to a system.
    pub fn is_state(self) -> bool {
        self.family() == "systems"
    }

    /// Where run files keep it: with the systems, the interactions, or the values.
    pub fn family(self) -> &'static str {
        match self {
            Quantity::Y | Quantity::U | Quantity::Lam | Quantity::Beta => "interactions",
            Quantity::Value => "signals",
            _ => "systems",
        }
    }
}

/// One recorded signal: a quantity of one system or interaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Signal {
    /// Name of the system or interaction, or of the value itself.
    pub owner: String,
    /// What of it.
    pub quantity: Quantity,
    /// Its columns in a row.
    pub columns: Range<usize>,
}

impl Signal {
    /// The path users write, for example `ball.q` or `v(out)`.
    pub fn path(&self) -> String {
        match self.quantity {
            Quantity::Value => self.owner.clone(),
            quantity => format!("{}.{}", self.owner, quantity.name()),
        }
    }

    /// The path of its column `index`, for example `ball.q[0]`; a value has one column, and its name.
    pub fn column(&self, index: usize) -> String {
        match self.quantity {
            Quantity::Value => self.owner.clone(),
            _ => format!("{}[{index}]", self.path()),
        }
    }
}

/// The signals of a run, in the order of the model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Layout {
    /// Title of the model.
    pub title: String,
    /// The recorded signals.
    pub signals: Vec<Signal>,
    /// Whether the ledger is kept, in the last columns: the model has mechanical systems.
    pub ledger: bool,
    /// Names of all that can be touched, where the model finds contacts (see [`Contacts`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<String>,
    /// What interactions do to rigid bodies (see [`Frames::pushes`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pushes: Vec<Push>,
}

impl Layout {
    /// Number of columns of a row.
    pub fn width(&self) -> usize {
        let signals = self.signals.iter().map(|signal| signal.columns.end).max().unwrap_or(0);
        signals + if self.ledger { Ledger::NAMES.len() } else { 0 }
    }

    /// Columns of the ledger, in the order of [`Ledger::NAMES`]; empty where it is not kept.
    pub fn ledger_columns(&self) -> Range<usize> {
        let width = self.width();
        if self.ledger { width - Ledger::NAMES.len()..width } else { width..width }
    }
}

/// Energies of the mechanical systems at one instant, and where they went since `t0`, or since
/// a state was set.
///
/// ```text
/// kinetic + potential − (kinetic + potential)(t0) = work − damping − impact − friction − numerical
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Ledger {
    /// `½ vᵀ M v`.
    pub kinetic: f64,
    /// `½ qᵀ K q`.
    pub potential: f64,
    /// Work of all forces without a potential but damping, and of what moves constraints, since
    /// `t0`.
    pub work: f64,
    /// Energy taken by damping since `t0`: by `C v`, or by what depends on `v` in `F_int`.
    pub damping: f64,
    /// Energy taken along the normals of contacts and by constraints since `t0`.
    pub impact: f64,
    /// Energy taken along the tangents of contacts, by rolling, relays and other laws of forces
    /// since `t0`.
    pub friction: f64,
    /// What is left of the balance: the energy that the scheme itself took since `t0`.
    /// Zero to round-off for θ = 1/2.
    pub numerical: f64,
}

impl Ledger {
    /// Names of the entries, in order.
    pub const NAMES: [&'static str; 7] =
        ["kinetic", "potential", "work", "damping", "impact", "friction", "numerical"];

    /// The ledger with these entries, in the order of [`Ledger::NAMES`]; NaN where one lacks.
    pub(crate) fn from_slice(entries: &[f64]) -> Ledger {
        let entries = entries.first_chunk().unwrap_or(&[f64::NAN; 7]);
        let [kinetic, potential, work, damping, impact, friction, numerical] = *entries;
        Ledger { kinetic, potential, work, damping, impact, friction, numerical }
    }

    /// Energy taken by the interactions since `t0`: impact and friction.
    pub fn contact(&self) -> f64 {
        self.impact + self.friction
    }

    /// The same with the last entry as what is left of the balance since it was `energy0`.
    pub(crate) fn closed(mut self, energy0: f64) -> Ledger {
        let gained = self.kinetic + self.potential - energy0;
        self.numerical = self.work - self.damping - self.impact - self.friction - gained;
        self
    }

    /// The energy when it began.
    pub(crate) fn start(self) -> f64 {
        let Ledger { kinetic, potential, work, damping, impact, friction, numerical } = self;
        kinetic + potential - (work - damping - impact - friction - numerical)
    }

    /// The entries, in the order of [`Ledger::NAMES`].
    pub fn to_array(self) -> [f64; 7] {
        let Ledger { kinetic, potential, work, damping, impact, friction, numerical } = self;
        [kinetic, potential, work, damping, impact, friction, numerical]
    }
}

/// Recorded rows.
#[derive(Clone, PartialEq, Default)]
pub struct Frames {
    /// The recorded instants.
    pub time: Vec<f64>,
    /// The rows one after the other, each of [`Layout::width`] columns.
    pub rows: Vec<f64>,
    /// Iterations of the solver in the step that ended there (0 in the first row).
    pub iterations: Vec<u32>,
    /// Residual of the step's problem, as verified.
    pub residual: Vec<f64>,
    /// Deepest penetration of a contact at the end of that step; empty where the layout has no ledger.
    pub penetration: Vec<f64>,
    /// The contacts that were found.
    pub contacts: Contacts,
    /// What interactions did to rigid bodies in that step: [`Layout::push_count`] a row.
    pub pushes: Vec<Impulse>,
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frames({} rows, {} numbers)", self.len(), self.rows.len())
    }
}

impl Frames {
    /// Number of recorded rows.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Makes room for `rows` more rows, where there is memory for so many.
    pub fn reserve(&mut self, layout: &Layout, rows: usize) {
        // without the room, rows still find theirs one after the other
        let _ = self.time.try_reserve(rows);
        let _ = self.rows.try_reserve(rows.saturating_mul(layout.width()));
        let _ = self.iterations.try_reserve(rows);
        let _ = self.residual.try_reserve(rows);
        let _ = self.pushes.try_reserve(rows.saturating_mul(layout.push_count()));
    }

    /// Forgets all rows, keeps the memory.
    pub fn clear(&mut self) {
        self.time.clear();
        self.rows.clear();
        self.iterations.clear();
        self.residual.clear();
        self.penetration.clear();
        self.contacts.clear();
        self.pushes.clear();
    }

    /// The values in these columns, row by row (a copy).
    pub fn columns(&self, layout: &Layout, columns: Range<usize>) -> Vec<f64> {
        let width = layout.width();
        let mut values = Vec::with_capacity(self.len() * columns.len());
        if width == 0 {
            return values;
        }
        let rows = self.rows.chunks_exact(width);
        if columns.len() == 1 {
            values.extend(rows.map(|row| row[columns.start]));
        } else {
            rows.for_each(|row| values.extend_from_slice(&row[columns.clone()]));
        }
        values
    }

    /// The rows of a signal, one after the other (a copy).
    pub fn signal(&self, layout: &Layout, signal: &Signal) -> Vec<f64> {
        self.columns(layout, signal.columns.clone())
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It reached its end.
    Complete,
    /// It was interrupted; what was computed is kept.
    Interrupted,
    /// A step failed; what was computed before it is kept. Holds the message.
    Failed(String),
}

impl Outcome {
    /// `complete`, `interrupted` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Interrupted => "interrupted",
            Outcome::Failed(_) => "failed",
        }
    }

    /// The message of a failed run.
    pub fn error(&self) -> Option<&str> {
        match self {
            Outcome::Failed(message) => Some(message),
            _ => None,
        }
    }
}

/// Totals of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunStats {
    /// Steps done.
    pub steps: usize,
    /// Iterations of the solver over all steps.
    pub iterations: usize,
    /// Largest verified residual of any step.
    pub worst_residual: f64,
    /// Deepest penetration: the largest `−y` of any contact at any step's end, 0 if none.
    pub worst_penetration: f64,
    /// The sum of the errors of all steps, relative to `1 + |X|`, where the strategy controls them:
    /// about the error of the run if the model neither damps nor amplifies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_estimate: Option<f64>,
    /// Steps that failed (0 or 1: a failed step ends the run).
    pub failures: usize,
    /// Seconds of wall time.
    pub seconds: f64,
    /// How the run ended.
    pub outcome: Outcome,
}

/// A finished run in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its signals.
    pub layout: Layout,
    /// Its rows.
    pub frames: Frames,
    /// Its totals.
    pub stats: RunStats,
    /// What happened in it, in the order of time.
    pub events: Vec<EventRecord>,
}

/// Something that happened at an instant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRecord {
    /// The instant.
    pub time: f64,
    /// What kind of thing.
    pub kind: EventKind,
    /// The event of the model that it was; empty where it was none.
    pub name: String,
    /// The interaction it happened to; empty where it happened to none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub interaction: String,
    /// What changed.
    pub changes: Vec<Change>,
}

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A condition of the model became true.
    When,
    /// A scheduled instant came.
    Scheduled,
    /// Velocities jumped.
    Impact,
    /// A contact opened.
    LiftOff,
    /// A contact came to rest.
    Stick,
    /// A contact began to slip.
    Slip,
    /// A law went over to another branch.
    Switch,
    /// A law began to hold the state on a surface.
    Sliding,
    /// Infinitely many events came to their limit.
    Accumulation,
}

impl EventKind {
    /// All of them.
    pub const ALL: [EventKind; 9] = [
        EventKind::When,
        EventKind::Scheduled,
        EventKind::Impact,
        EventKind::LiftOff,
        EventKind::Stick,
        EventKind::Slip,
        EventKind::Switch,
        EventKind::Sliding,
        EventKind::Accumulation,
    ];

    /// The name in run files and Python.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::When => "when",
            EventKind::Scheduled => "scheduled",
            EventKind::Impact => "impact",
            EventKind::LiftOff => "lift-off",
            EventKind::Stick => "stick",
            EventKind::Slip => "slip",
            EventKind::Switch => "switch",
            EventKind::Sliding => "sliding",
            EventKind::Accumulation => "accumulation",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A value before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Of what: `ball.v[0]`, `mu`, `floor.active` (1 or 0), `floor.law`.
    pub what: String,
    /// Before the event.
    pub before: Value,
    /// After it.
    pub after: Value,
}

/// A number, or the name of a law.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A name.
    Name(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(value) => write!(f, "{value}"),
            Value::Name(name) => f.write_str(name),
        }
    }
}

/// A signal path that the run does not have.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SignalError {
    /// Nothing of that name was recorded.
    #[error("the run has no signal `{path}`; it has {known}")]
    Unknown {
        /// The path asked for.
        path: String,
        /// What there is.
        known: String,
    },
    /// The index is outside the signal.
    #[error("`{path}`: index {index} is outside 0 to {last}")]
    Index {
        /// The path asked for.
        path: String,
        /// The index asked for.
        index: usize,
        /// The largest index there is.
        last: usize,
    },
    /// Nothing of that name has forces.
    #[error("nothing named `{name}` can be touched in this run; it has {known}")]
    NoBody {
        /// The name asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Forces that were not recorded.
    #[error(
        "the run does not record what `{interaction}` does to `{body}`; time-stepping does, where \
         `{interaction}` is recorded"
    )]
    NoForces {
        /// The interaction.
        interaction: String,
        /// The body.
        body: String,
    },
    /// Not of the form `name.quantity` or `name.quantity[index]`.
    #[error("`{path}` is not a signal; write for example `ball.q` or `ball.q[0]`")]
    Syntax {
        /// The path asked for.
        path: String,
    },
}

/// Whether two names of values are the same but for case and spaces: `v(A, b)` is `v(a,B)`.
fn same_name(a: &str, b: &str) -> bool {
    let letters = |name: &str| {
        let bytes = name.bytes().filter(|byte| !byte.is_ascii_whitespace());
        bytes.map(|byte| byte.to_ascii_lowercase()).collect::<Vec<u8>>()
    };
    a.eq_ignore_ascii_case(b) || (a.contains(' ') || b.contains(' ')) && letters(a) == letters(b)
}

impl Layout {
    /// Finds `name.quantity`, `name.quantity[index]`, which has one column, or the name of a value;
    /// in names of values case and spaces do not count.
    pub fn find(&self, path: &str) -> Result<Signal, SignalError> {
        let mut values = self.signals.iter().filter(|signal| signal.quantity == Quantity::Value);
        if let Some(value) = values.find(|value| same_name(&value.owner, path)) {
            return Ok(value.clone());
        }
        let syntax = || SignalError::Syntax { path: path.to_string() };
        let (body, index) = match path.split_once('[') {
            None => (path, None),
            Some((body, rest)) => {
                let digits = rest.strip_suffix(']').ok_or_else(syntax)?;
                (body, Some(digits.trim().parse::<usize>().map_err(|_| syntax())?))
            }
        };
        let unknown = || SignalError::Unknown { path: path.to_string(), known: self.known_paths() };
        let (owner, quantity) = body.rsplit_once('.').ok_or_else(unknown)?;
        let found = self.signals.iter().find(|signal| {
            signal.owner == owner && Some(signal.quantity) == Quantity::from_name(quantity)
        });
        let mut signal = found.cloned().ok_or_else(unknown)?;
        if let Some(index) = index {
            let last = signal.columns.len() - 1;
            if index > last {
                return Err(SignalError::Index { path: path.to_string(), index, last });
            }
            signal.columns = signal.columns.start + index..signal.columns.start + index + 1;
        }
        Ok(signal)
    }

    /// The paths of the signals, at most a dozen of them, for messages.
    fn known_paths(&self) -> String {
        let mut paths: Vec<String> = self.signals.iter().take(12).map(Signal::path).collect();
        if self.signals.len() > paths.len() {
            paths.push(format!("and {} more", self.signals.len() - paths.len()));
        }
        if paths.is_empty() { "none".to_string() } else { paths.join(", ") }
    }
}

impl Run {
    /// The rows of `name.quantity`, `name.quantity[index]` or a value, one after the other.
    pub fn signal(&self, path: &str) -> Result<Vec<f64>, SignalError> {
        let signal = self.layout.find(path)?;
        Ok(self.frames.signal(&self.layout, &signal))
    }
}

/// Where recorded rows go while a simulation runs: a file, a socket, nowhere.
pub trait Sink {
    /// Takes rows; they are forgotten afterwards.
    fn append(&mut self, layout: &Layout, frames: &Frames) -> std::io::Result<()>;
}
