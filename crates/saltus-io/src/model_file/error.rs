//! What can be wrong with a model file, and where.

use super::source::{Place, Source, excerpt, inside, line_and_column};
use saltus_expr::ExprError;
use saltus_mechanics::SceneError;
use saltus_model::ModelError;
use saltus_sim::SignalError;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use thiserror::Error;

/// A model file that cannot be read, with the place of what is wrong.
///
/// `Display` gives one line, `examples/x/model.toml:12:5: unknown key …`; [`report`](Self::report)
/// adds the line of the file and a caret under the place.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFileError {
    /// The file, or `--set PATH=VALUE` if an override is wrong.
    pub file: String,
    /// The line, from 1; 0 if the file as a whole is meant.
    pub line: usize,
    /// The column in characters, from 1; 0 if the file as a whole is meant.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The same, to match on.
    pub kind: Box<ErrorKind>,
    in_file: bool,
    excerpt: Option<Box<str>>,
}

/// Paths for a message.
pub(crate) fn quoted(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    paths.join(", ")
}

/// What can be wrong with a model file.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ErrorKind {
    /// The file cannot be read.
    #[error("{reason}")]
    Read {
        /// Why.
        reason: String,
    },
    /// The file is not text.
    #[error("not UTF-8 text: byte 0x{byte:02x}")]
    NotUtf8 {
        /// The first byte that is wrong.
        byte: u8,
    },
    /// Nothing is in the file.
    #[error(
        "the file is empty; expected a model with [simulation] and at least one [[system]] or [[body]]"
    )]
    Empty,
    /// The text is not TOML.
    #[error("{reason}")]
    Syntax {
        /// What the parser says.
        reason: String,
    },
    /// A dotted key with too many parts.
    #[error("a key with more than {limit} parts")]
    DeepKey {
        /// How many are allowed.
        limit: usize,
    },
    /// A key that means nothing there.
    #[error("unknown key `{key}`{}", hint(.nearest, .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
        /// All keys there are.
        known: Vec<String>,
    },
    /// A key that others of its kind have, and this one cannot.
    #[error("`{kind}` has no `{key}`: {why}")]
    NotOfThisKind {
        /// The kind.
        kind: &'static str,
        /// The key.
        key: String,
        /// Why it cannot have it.
        why: &'static str,
    },
    /// A key that has to be there.
    #[error("{owner}: missing key `{key}`, {doc}")]
    MissingKey {
        /// The table without it.
        owner: String,
        /// The key.
        key: String,
        /// What it is, in words.
        doc: String,
    },
    /// A key that the strategy does not have.
    #[error(
        "`{key}` is not a setting of {strategy}, which has {}",
        known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")
    )]
    OtherStrategy {
        /// The key.
        key: String,
        /// The strategy.
        strategy: &'static str,
        /// What it has instead.
        known: &'static [&'static str],
    },
    /// A kind that does not exist.
    #[error("unknown {family} `{found}`{}", hint(.nearest, .known))]
    UnknownKind {
        /// What it is a kind of.
        family: String,
        /// The kind.
        found: String,
        /// The kind that was probably meant.
        nearest: Option<String>,
        /// All kinds there are.
        known: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("`{what}`: expected {expected}, found {found}")]
    Type {
        /// The key.
        what: String,
        /// What should stand there, in words.
        expected: String,
        /// What does, in words.
        found: String,
    },
    /// An event with no trigger, or more than one.
    #[error("an event needs one of `when`, `at` and `every`, found {}", if *.found == 0 { "none" } else { "more than one" })]
    Trigger {
        /// How many there are.
        found: usize,
    },
    /// A text that is no formula.
    #[error(transparent)]
    Formula(#[from] ExprError),
    /// A name that means something, but not there.
    #[error("{}", not_allowed(.what, .name, .allowed))]
    NotAllowed {
        /// The key.
        what: String,
        /// The name.
        name: String,
        /// What may be used, in words; nothing where the value must be constant.
        allowed: Vec<String>,
    },
    /// An entry that a vector does not have.
    #[error("`{what}`: there is no `{name}`, expected an index from 0 to {}", .len - 1)]
    Index {
        /// The key.
        what: String,
        /// The entry asked for.
        name: String,
        /// How many there are.
        len: usize,
    },
    /// A number that is not finite, or none at all.
    #[error("`{what}`: expected a finite number, found {value}")]
    NotFinite {
        /// The key.
        what: String,
        /// Its value.
        value: f64,
    },
    /// A literal beyond the range of `f64`.
    #[error("the number {text} is too large; infinity is `inf`")]
    NumberTooLarge {
        /// The number as written.
        text: String,
    },
    /// A number outside its range.
    #[error("`{what}` is {}, expected {allowed}", short(*.value))]
    Range {
        /// The key.
        what: String,
        /// Its value.
        value: f64,
        /// What is allowed, in words.
        allowed: String,
    },
    /// Parameters that need each other.
    #[error("parameters refer to each other in a circle: {}", .0.join(" → "))]
    Cycle(
        /// The names, the first one again at the end.
        Vec<String>,
    ),
    /// A name that no formula could use.
    #[error("`{name}` cannot name a {what}: {why}")]
    Unusable {
        /// `parameter` or `loop variable`.
        what: &'static str,
        /// The name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// A `for` that is not of its form.
    #[error("expected a repetition such as `i in 0..N`, found `{found}`")]
    Repetition {
        /// The text.
        found: String,
    },
    /// A repeated table whose name is always the same.
    #[error(
        "a repeated {what} needs the loop variable in its name, for example `{name}{{{variable}}}`"
    )]
    SameName {
        /// `system` or `interaction`.
        what: &'static str,
        /// The name.
        name: String,
        /// The loop variable.
        variable: String,
    },
    /// Braces in a name that do not match.
    #[error("`{text}`: a brace that is not closed, or not opened")]
    Braces {
        /// The name.
        text: String,
    },
    /// Rows of different lengths.
    #[error("`{what}`: row {row} has {found} entries, expected {expected} (the length of row 0)")]
    Ragged {
        /// The matrix.
        what: String,
        /// The row, from 0.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of row 0.
        expected: usize,
    },
    /// More of something than fits.
    #[error("`{what}` asks for {} {of}, expected at most {limit} in all", short(*.found))]
    TooMany {
        /// The key.
        what: String,
        /// Entries or repetitions.
        of: &'static str,
        /// How many.
        found: f64,
        /// How many can be.
        limit: usize,
    },
    /// A model without systems.
    #[error("the model has no system; expected at least one [[system]] or [[body]]")]
    NoSystem,
    /// A link to a system that is not there.
    #[error("there is no system named `{name}`{}", hint(.nearest, .known))]
    UnknownSystem {
        /// The name.
        name: String,
        /// The system that was probably meant.
        nearest: Option<String>,
        /// The first systems there are.
        known: Vec<String>,
    },
    /// A model that makes no sense.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A mesh that cannot be read.
    #[error("{reason}")]
    Mesh {
        /// Why.
        reason: String,
    },
    /// A file of a mesh that is not where it is looked for.
    #[error("there is no mesh `{file}`; it was looked for as {}", quoted(tried))]
    NoMesh {
        /// The file, as the model names it.
        file: String,
        /// The places where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// A scene that makes no sense.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Two integrators for the same systems, or one for none.
    #[error("the integrator `{name}` is for {order} systems, {why}")]
    Integrator {
        /// The integrator.
        name: &'static str,
        /// The systems it is for.
        order: &'static str,
        /// What is wrong with that.
        why: &'static str,
    },
    /// Settings that the Rust struct does not take.
    #[error("{owner}: {reason}")]
    Settings {
        /// The integrator or solver.
        owner: String,
        /// What it says.
        reason: String,
    },
    /// A signal that the model does not have.
    #[error("the model has no signal `{path}`{}", hint(.nearest, .known))]
    UnknownSignal {
        /// The signal.
        path: String,
        /// The signal that was probably meant.
        nearest: Option<String>,
        /// The first signals there are.
        known: Vec<String>,
    },
    /// A text that is no signal, or an index beyond its end.
    #[error(transparent)]
    Signal(#[from] SignalError),
    /// A `--set` path that is not of the form `ball.q0[0]`.
    #[error("expected a path such as `parameters.g` or `ball.q0[0]`, found `{path}`")]
    PathSyntax {
        /// The path.
        path: String,
    },
    /// A `--set` path that leads nowhere.
    #[error("there is no `{part}` in {owner}{}", hint(.nearest, .known))]
    UnknownPath {
        /// The part of the path that is not there.
        part: String,
        /// Where it was looked for.
        owner: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// A `--set` path with an index into something that has no such entry.
    #[error("`{part}` is {found}, which has no entry [{index}]")]
    PathIndex {
        /// The part of the path before the index.
        part: String,
        /// What stands there, in words.
        found: String,
        /// The index.
        index: usize,
    },
    /// A `--set` path to one of many repeated tables.
    #[error("`{name}` is one of the repeated `{template}`; set `{template}` to change all of them")]
    PathRepeated {
        /// The name asked for.
        name: String,
        /// The name as the file has it.
        template: String,
    },
}

/// `; did you mean …?`, or a short list of what there is.
fn hint(nearest: &Option<String>, known: &[String]) -> String {
    const SHOWN: usize = 12;
    let quoted: Vec<String> = known.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match (nearest, quoted.as_slice()) {
        (Some(nearest), _) => format!("; did you mean `{nearest}`?"),
        (None, []) => String::new(),
        (None, [only]) => format!("; expected {only}"),
        (None, _) if known.len() > SHOWN => format!("; expected one of {}, …", quoted.join(", ")),
        (None, _) => format!("; expected one of {}", quoted.join(", ")),
    }
}

/// A number without a page of zeros.
fn short(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-5..1e15).contains(&size) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

fn not_allowed(what: &str, name: &str, allowed: &[String]) -> String {
    match allowed {
        [] => format!("`{what}` must be constant, so its formula cannot use `{name}`"),
        _ => {
            format!("`{what}`: its formula cannot use `{name}`; it may use {}", allowed.join(", "))
        }
    }
}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.in_file && self.line > 0 {
            write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
        } else {
            write!(f, "{}: {}", self.file, self.message)
        }
    }
}

impl std::error::Error for ModelFileError {}

impl ModelFileError {
    /// The one-line message, then the line of the file with a caret under the place.
    pub fn report(&self) -> String {
        match &self.excerpt {
            Some(excerpt) => format!("{self}\n{excerpt}"),
            None => self.to_string(),
        }
    }

    /// An error of the file as a whole.
    pub(crate) fn of_file(file: &str, kind: ErrorKind) -> Self {
        ModelFileError {
            file: file.to_owned(),
            line: 0,
            column: 0,
            message: kind.to_string(),
            kind: Box::new(kind),
            in_file: true,
            excerpt: None,
        }
    }

    /// The same at a place of the file that cannot be shown.
    pub(crate) fn at(self, line: usize, column: usize) -> Self {
        ModelFileError { line, column, ..self }
    }
}

/// An error before its place is turned into line and column.
#[derive(Debug)]
pub(crate) struct Fault {
    place: Place,
    inner: Option<Range<usize>>, // the part of a string value that is meant
    repetition: Option<String>,  // `i = 3`
    kind: Box<ErrorKind>,
}

impl Fault {
    pub(crate) fn new(place: &Place, kind: impl Into<ErrorKind>) -> Fault {
        let kind = Box::new(kind.into());
        Fault { place: place.clone(), inner: None, repetition: None, kind }
    }

    /// The same, at a part of the string value that stands at its place.
    pub(crate) fn inside(mut self, inner: Range<usize>) -> Fault {
        self.inner = Some(inner);
        self
    }

    /// The same, in one pass of a repetition.
    pub(crate) fn repeated(mut self, pass: Option<String>) -> Fault {
        self.repetition = self.repetition.or(pass);
        self
    }

    /// The place as file, line and column.
    pub(crate) fn locate(self, sources: &[Source]) -> ModelFileError {
        let source = &sources[self.place.source];
        let mut span = self.place.span;
        if let (Some(inner), Some(raw)) = (self.inner, source.text.get(span.clone())) {
            let inner = inside(raw, &inner);
            span = span.start + inner.start..span.start + inner.end;
        }
        let (line, column) = line_and_column(&source.text, span.start);
        let message = match self.repetition {
            Some(pass) => format!("{} (with {pass})", self.kind),
            None => self.kind.to_string(),
        };
        ModelFileError {
            file: source.name.clone(),
            line,
            column,
            message,
            kind: self.kind,
            in_file: source.is_file,
            excerpt: Some(excerpt(&source.text, &span).into()),
        }
    }
}
