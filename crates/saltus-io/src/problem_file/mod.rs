//! Stored problems: the text files of Siconos, and the HDF5 files of FCLIB (see `fclib`).
//!
//! ```text
//! lcp, mlcp, relay, avi                       boxes (see `forms`)
//! fc2d, fc3d, rfc3d, gfc2d, gfc3d, grfc3d     friction (see `contacts`)
//! soclcp, plasticity, gmp                     other blocks (see `blocks`)
//! matrix := dense | sparse blocks | sparse    (see `matrix`)
//! ```
//!
//! Tokens are separated by white space. There are no comments, no magic number and no version,
//! and what a file holds is not written in it: the [`Kind`] is given, or taken from the name of
//! its folder. Readers stop after the last number they expect, and anything may follow.
//!
//! What happens to a text, a file a stage: `scan` (tokens and numbers with places), `matrix`, the
//! kinds. `write` stores a problem in either format. A number in the file that says how much follows is believed only where
//! the file is long enough for it, so memory is bounded by the file's length.

mod blocks;
mod contacts;
mod error;
mod fclib;
mod forms;
mod kind;
mod matrix;
mod scan;
mod text;
mod write;

pub use error::{ErrorKind, ProblemFileError};
pub use kind::{Kind, UnknownKind};
pub use write::{ProblemWriteError, write};

use contacts::Law;
use error::Fault;
use saltus_numerics::Problem;
use saltus_numerics::residual::class_figure;
use scan::Scanner;
use std::fs::File;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::Path;

/// The longest file that is read.
const LONGEST: u64 = 1 << 31;

/// What an HDF5 file begins with.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A number that a stored answer must be below, in the figure of its class, to be taken for one: files
/// print it with six decimals, and some hold something else there.
const REFERENCE: f64 = 1e-4;

/// A problem from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProblem {
    /// What the file holds.
    pub kind: Kind,
    /// The problem.
    pub problem: Problem,
    /// The file's name without folder and extension; empty for a text.
    pub name: String,
    /// An answer that follows the problem in the file, where one does: a residual of at most
    /// 1e-4, so a hint and not a certificate.
    pub reference: Option<Vec<f64>>,
    /// Where to start from, as an HDF5 file may suggest.
    pub guesses: Vec<Vec<f64>>,
    /// What an HDF5 file says about the problem.
    pub info: Info,
}

/// Words about a problem, empty where there are none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    /// What it is.
    pub title: String,
    /// Where it comes from.
    pub description: String,
    /// What is known about it.
    pub math_info: String,
}

impl StoredProblem {
    /// A problem of this kind, without a name.
    fn of_kind(kind: Kind, problem: Problem) -> StoredProblem {
        let (name, info) = (String::new(), Info::default());
        StoredProblem { kind, problem, name, reference: None, guesses: Vec::new(), info }
    }
}

/// Reads a problem: of this kind, or of the kind that its folder is named after. An HDF5 file
/// says itself what it holds, which must be this kind where one is given.
pub fn read(path: &Path, kind: Option<Kind>) -> Result<StoredProblem, ProblemFileError> {
    let name = path.display().to_string();
    let wrong = |kind: ErrorKind| ProblemFileError::of_file(&name, kind);
    let unread = |reason| wrong(ErrorKind::Read { reason });
    let (start, file) = opened(path).map_err(unread)?;
    let mut stored = if start == HDF5 {
        let stored = fclib::read(path).map_err(wrong)?;
        match kind {
            Some(kind) if kind != stored.kind => {
                return Err(wrong(ErrorKind::OtherKind { kind, found: stored.kind }));
            }
            _ => stored,
        }
    } else {
        let kind =
            kind.or_else(|| Kind::of_folder(path)).ok_or_else(|| wrong(ErrorKind::NoKind))?;
        let bytes = bytes_of(start, file).map_err(unread)?;
        // what follows the numbers may be in any encoding
        let text = String::from_utf8_lossy(&bytes);
        parse(&text, kind).map_err(|error| error.in_file(&name))?
    };
    stored.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(stored)
}

/// The same from a text.
///
/// ```
/// use saltus_io::problem_file::{Kind, parse};
///
/// //                    size, dense, rows and columns twice, two columns, q
/// let stored = parse("2   0   2 2   2 2   4 -2   1 3   -5 1", Kind::Lcp)?;
/// assert_eq!(stored.problem.matrix().get(0, 1), 1.0);
/// assert_eq!(stored.problem.q(), [-5.0, 1.0]);
/// # Ok::<(), saltus_io::problem_file::ProblemFileError>(())
/// ```
pub fn parse(text: &str, kind: Kind) -> Result<StoredProblem, ProblemFileError> {
    evaluate(text, kind).map_err(|fault| fault.locate(text))
}

fn evaluate(text: &str, kind: Kind) -> Result<StoredProblem, Fault> {
    let mut scanner = Scanner::new(text);
    if scanner.is_at_end() {
        return Err(Fault::at(0, ErrorKind::Empty { kind }));
    }
    let problem = match kind {
        Kind::Lcp => forms::lcp(&mut scanner)?,
        Kind::Relay => forms::relay(&mut scanner)?,
        Kind::Mlcp => forms::mlcp(&mut scanner)?,
        Kind::Fc2d => contacts::reduced(&mut scanner, &[Law::Coulomb2])?,
        Kind::Fc3d => contacts::reduced(&mut scanner, &[Law::Coulomb3])?,
        Kind::Rfc3d => contacts::reduced(&mut scanner, &Law::ROLLING)?,
        Kind::Gfc2d => contacts::global(&mut scanner, &[Law::Coulomb2])?,
        Kind::Gfc3d => contacts::global(&mut scanner, &[Law::Coulomb3])?,
        Kind::Grfc3d => contacts::global(&mut scanner, &Law::ROLLING)?,
        Kind::Soclcp => blocks::soclcp(&mut scanner)?,
        Kind::Plasticity => blocks::plasticity(&mut scanner)?,
        Kind::Gmp => blocks::gmp(&mut scanner)?,
        Kind::Avi => forms::avi(&mut scanner)?,
    };
    let reference = reference(&mut scanner, &problem);
    Ok(StoredProblem { reference, ..StoredProblem::of_kind(kind, problem) })
}

/// The numbers after the problem, if they are an answer of it.
fn reference(scanner: &mut Scanner<'_>, problem: &Problem) -> Option<Vec<f64>> {
    let z = std::iter::from_fn(|| scanner.any_finite()).take(problem.len()).collect();
    Some(z).filter(|z: &Vec<f64>| is_answer(problem, z))
}

/// Whether these are as many numbers as there are unknowns, and solve the problem roughly.
fn is_answer(problem: &Problem, z: &[f64]) -> bool {
    let n = problem.len();
    n > 0 && z.len() == n && class_figure(problem, z, &mut vec![0.0; n]) <= REFERENCE
}

/// The file and its first bytes, which tell HDF5 from text.
fn opened(path: &Path) -> Result<(Vec<u8>, File), String> {
    if path.is_dir() {
        return Err("a directory, expected a stored problem".to_owned());
    }
    let mut file = File::open(path).map_err(said)?;
    let mut start = Vec::new();
    (&mut file).take(HDF5.len() as u64).read_to_end(&mut start).map_err(said)?;
    Ok((start, file))
}

/// The whole text, of which `start` was read.
fn bytes_of(start: Vec<u8>, file: File) -> Result<Vec<u8>, String> {
    let mut bytes = start;
    file.take(LONGEST).read_to_end(&mut bytes).map_err(said)?;
    match bytes.len() as u64 > LONGEST {
        true => Err(format!("longer than {LONGEST} bytes")),
        false => Ok(bytes),
    }
}

fn said(error: std::io::Error) -> String {
    match error.kind() {
        IoErrorKind::NotFound => "no such file".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}
