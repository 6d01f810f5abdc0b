//! What can be wrong with a model.

use saltus_expr::ExprError;
use thiserror::Error;

/// A model that makes no sense. Each error names the part, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModelError {
    /// A degree of freedom that the systems do not have, or named twice.
    #[error(
        "{owner}: entry {index} of `dofs` is {found}; expected different numbers below {dim}, the degrees of freedom of the linked systems"
    )]
    Dof {
        /// The interaction.
        owner: String,
        /// Position in `dofs`.
        index: usize,
        /// The entry.
        found: usize,
        /// Degrees of freedom.
        dim: usize,
    },
    /// A vector of the wrong length.
    #[error("{owner}: `{what}` has length {found}, expected {expected} ({why})")]
    Length {
        /// The system or interaction.
        owner: String,
        /// The vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
        /// Where the expected length comes from.
        why: String,
    },
    /// A matrix of the wrong shape.
    #[error(
        "{owner}: `{what}` is {} × {}, expected {} × {} ({why})",
        found.0, found.1, expected.0, expected.1
    )]
    Shape {
        /// The system or interaction.
        owner: String,
        /// The matrix.
        what: &'static str,
        /// Its rows and columns.
        found: (usize, usize),
        /// The rows and columns it should have.
        expected: (usize, usize),
        /// Where the expected shape comes from.
        why: String,
    },
    /// A number that is not finite.
    #[error("{owner}: `{what}`{} is {value}, expected a finite number", place(.at))]
    NotFinite {
        /// The system or interaction.
        owner: String,
        /// The array.
        what: &'static str,
        /// The index in it.
        at: Vec<usize>,
        /// What stands there.
        value: f64,
    },
    /// A parameter outside its range.
    #[error("{owner}: `{what}` = {value} is outside {allowed}")]
    Range {
        /// The system, interaction or law.
        owner: String,
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A contact whose relation has the wrong number of components.
    #[error(
        "{owner}: the relation has {found} components, expected {plane} (in the plane) or {space} (in space)"
    )]
    ContactSize {
        /// The interaction and its law.
        owner: String,
        /// Components of the relation.
        found: usize,
        /// Those of a contact in the plane.
        plane: usize,
        /// Those of a contact in space.
        space: usize,
    },
    /// Points that are no graph.
    #[error("{owner}: point {index} of `points`{} {why}", coordinates(.point))]
    Points {
        /// The interaction and its law.
        owner: String,
        /// The point.
        index: usize,
        /// Its coordinates, if it is there.
        point: Option<(f64, f64)>,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A mass matrix that is not symmetric positive definite.
    #[error(
        "{owner}: the mass matrix `M` is {what}; a Lagrangian system needs it symmetric positive definite"
    )]
    Mass {
        /// The system.
        owner: String,
        /// What it is instead.
        what: &'static str,
    },
    /// Moments of inertia that no body has.
    #[error(
        "{owner}: `inertia` has the principal moments {}, {} and {}: {why}",
        moments[0], moments[1], moments[2]
    )]
    Inertia {
        /// The system.
        owner: String,
        /// The principal moments, or the diagonal of a matrix that has none.
        moments: [f64; 3],
        /// What is wrong with them.
        why: &'static str,
    },
    /// A quaternion that is no rotation.
    #[error(
        "{owner}: `orientation` is ({}, {}, {}, {}), expected a quaternion w, x, y, z of any length but zero",
        found[0], found[1], found[2], found[3]
    )]
    Orientation {
        /// The system.
        owner: String,
        /// The quaternion.
        found: [f64; 4],
    },
    /// A relation of bodies on a system that is none.
    #[error("{owner}: {what} links {bodies}, but number {system} of the linked systems is none")]
    NotABody {
        /// The interaction.
        owner: String,
        /// The relation.
        what: &'static str,
        /// Which of the linked systems, counted from one.
        system: usize,
        /// What it is for: rigid bodies in space or in the plane.
        bodies: &'static str,
    },
    /// A joint without the coordinate that is asked for.
    #[error("{owner}: {joint} leaves no coordinate `{name}` free; it has {known}")]
    Coordinate {
        /// The interaction.
        owner: String,
        /// The kind of joint.
        joint: &'static str,
        /// The coordinate.
        name: &'static str,
        /// Those that it has.
        known: String,
    },
    /// Limits, friction, a spring or a motor of a joint that leaves nothing free.
    #[error("{owner}: {joint} leaves nothing free that `{what}` could act on")]
    NothingFree {
        /// The interaction.
        owner: String,
        /// The kind of joint.
        joint: &'static str,
        /// What is built into it.
        what: &'static str,
    },
    /// A moment that is to break a joint which bears none.
    #[error("{owner}: {joint} bears no moment that `break_moment` could bound; use `break_force`")]
    NoMoment {
        /// The interaction.
        owner: String,
        /// The kind of joint.
        joint: &'static str,
    },
    /// A coordinate of a joint that does not start within its limits.
    #[error(
        "{owner}: the {coordinate} of {joint} starts at {found}, its limits are [{lower}, {upper}]"
    )]
    OutsideLimits {
        /// The interaction.
        owner: String,
        /// The kind of joint.
        joint: &'static str,
        /// The coordinate.
        coordinate: &'static str,
        /// Its least value.
        lower: f64,
        /// Its largest value.
        upper: f64,
        /// Where it starts.
        found: f64,
    },
    /// Limits of an angle that are further apart than its turns are counted.
    #[error(
        "{owner}: the {coordinate} of {joint} is known modulo {period}, its limits [{lower}, {upper}] need more than that"
    )]
    LimitsApart {
        /// The interaction.
        owner: String,
        /// The kind of joint.
        joint: &'static str,
        /// The coordinate.
        coordinate: &'static str,
        /// Its least value.
        lower: f64,
        /// Its largest value.
        upper: f64,
        /// What it is known modulo.
        period: f64,
    },
    /// An interaction with more or fewer systems than its relation is for.
    #[error("{owner}: {what} links {expected}, found {found}")]
    Linked {
        /// The interaction.
        owner: String,
        /// The relation.
        what: &'static str,
        /// How many systems it is for.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A direction that is none.
    #[error("{owner}: `{what}` is ({}, {}, {}), which has no direction", found[0], found[1], found[2])]
    Direction {
        /// The interaction.
        owner: String,
        /// The vector.
        what: &'static str,
        /// Its components.
        found: [f64; 3],
    },
    /// A system or interaction without unknowns.
    #[error("{owner}: `{what}` is empty, expected at least one entry")]
    Empty {
        /// The system or interaction.
        owner: String,
        /// The array.
        what: &'static str,
    },
    /// A name that is used twice.
    #[error("the name `{name}` is used twice; names of systems and interactions must differ")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A name that cannot be used in a signal path.
    #[error("`{name}` cannot be a name: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An unknown name.
    #[error("there is no {what} named `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// "system", "interaction", both, or "parameter".
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The known name closest to it, if any is close.
        nearest: Option<String>,
    },
    /// An interaction that links the wrong number of systems.
    #[error("interaction `{name}` links {found} systems, expected one or two")]
    Links {
        /// The interaction.
        name: String,
        /// How many systems it links.
        found: usize,
    },
    /// An interaction that links a system with itself.
    #[error("interaction `{name}` links system `{system}` twice")]
    LinkedTwice {
        /// The interaction.
        name: String,
        /// The system.
        system: String,
    },
    /// A relation on a system of the other order.
    #[error(
        "interaction `{name}`: its relation is for {relation} systems, but `{system}` is {found}"
    )]
    Order {
        /// The interaction.
        name: String,
        /// The relation's order.
        relation: &'static str,
        /// The system.
        system: String,
        /// The system's order.
        found: &'static str,
    },
    /// A law that cannot govern this relation.
    #[error(
        "interaction `{name}`: the law {law} does not apply to a {relation} relation; {instead}"
    )]
    LawMismatch {
        /// The interaction.
        name: String,
        /// The law.
        law: &'static str,
        /// The relation's order.
        relation: &'static str,
        /// What to use instead.
        instead: &'static str,
    },
    /// A handle of another model.
    #[error("the handle {index} belongs to another model, which has more systems")]
    Handle {
        /// Its index.
        index: usize,
    },
    /// A name that two events have.
    #[error("the name `{name}` is used for two events")]
    TwoEvents {
        /// The name.
        name: String,
    },
    /// A formula of an event that makes no sense.
    #[error("{owner}, {what}: {source}")]
    Formula {
        /// The event.
        owner: String,
        /// What the formula is for.
        what: String,
        /// The formula.
        text: String,
        /// What is wrong with it.
        source: Box<ExprError>,
    },
    /// An instant before the beginning.
    #[error("{owner}: {}`{what}` is {found}, expected a finite time from t0 = {t0} on", entry(.index))]
    Time {
        /// The event.
        owner: String,
        /// `at` or `start`.
        what: &'static str,
        /// Position in a list.
        index: Option<usize>,
        /// The instant.
        found: f64,
        /// The initial time.
        t0: f64,
    },
    /// A state that a system does not have.
    #[error("{owner}: there is no state `{name}`; the system has {known}")]
    NoState {
        /// The event.
        owner: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A parameter that no event can change.
    #[error("event `{event}` sets the parameter `{parameter}`: {why}")]
    Fixed {
        /// The event.
        event: String,
        /// The parameter.
        parameter: String,
        /// Why it cannot.
        why: String,
    },
    /// A function given by the user failed.
    #[error(transparent)]
    Operator(#[from] OperatorError),
}

impl ModelError {
    /// The same, with the system named where a function of it failed.
    pub(crate) fn of(self, system: &str) -> Self {
        match self {
            ModelError::Operator(error) => ModelError::Operator(error.of(system)),
            error => error,
        }
    }
}

/// A function given by the user failed, or answered with something that is not a number.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("`{what}` at t = {time}: {why}")]
pub struct OperatorError {
    /// The operator, for example `F_ext of ball`.
    pub what: String,
    /// The time it was asked for.
    pub time: f64,
    /// What went wrong.
    pub why: String,
}

impl OperatorError {
    /// The same, with the system named: `F_ext of ball`.
    pub fn of(mut self, system: &str) -> Self {
        self.what = format!("{} of {system}", self.what);
        self
    }
}

fn coordinates(point: &Option<(f64, f64)>) -> String {
    point.map(|(y, lam)| format!(", ({y}, {lam}),")).unwrap_or_default()
}

fn entry(index: &Option<usize>) -> String {
    index.map(|index| format!("entry {index} of ")).unwrap_or_default()
}

fn place(at: &[usize]) -> String {
    at.iter().map(|i| format!("[{i}]")).collect()
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
}
