//! Writing problems: FCLIB for `.hdf5` and `.h5`, the text form of the kind for `.dat`.

use super::contacts::Law;
use super::{Kind, StoredProblem, fclib, text};
use crate::partial::{WriteError, write_whole};
use saltus_numerics::{Block, Problem, Set};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a problem cannot be stored.
#[derive(Debug, Error)]
pub enum ProblemWriteError {
    /// The file cannot be made where it should be.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The name does not say in which format.
    #[error("cannot store a problem as `{path}`: expected a name that ends in .dat, .hdf5 or .h5",
            path = path.display())]
    Extension {
        /// The file to write.
        path: PathBuf,
    },
    /// A kind that FCLIB does not have.
    #[error(
        "problems of kind `{kind}` cannot be stored in HDF5 (FCLIB has none); use a name that ends in .dat"
    )]
    NotInFclib {
        /// The kind.
        kind: Kind,
    },
    /// A problem that is not of its kind.
    #[error("the problem cannot be stored as kind `{kind}`: {what}")]
    Content {
        /// The kind.
        kind: Kind,
        /// What does not fit.
        what: String,
    },
    /// A problem of no kind.
    #[error("no kind of stored problem has these sets and this map")]
    NoKind,
    /// More entries than the integers of FCLIB count.
    #[error("{size} entries are too many for FCLIB, whose integers have 32 bits")]
    TooLarge {
        /// How many.
        size: usize,
    },
    /// A write failed, for example for lack of space.
    #[error("writing `{path}` failed: {cause}", path = path.display())]
    Hdf5 {
        /// The file to write.
        path: PathBuf,
        /// What the system or the HDF5 library said.
        cause: String,
    },
}

/// Stores a problem, in place of a file of that name: whole, or not at all.
///
/// The extension says how: `.hdf5` and `.h5` are FCLIB, which has friction of the kinds `fc2d`,
/// `fc3d`, `gfc2d`, `gfc3d` and `grfc3d`; `.dat` is the text form, which every kind has. The text
/// form holds neither guesses nor notes, and friction in it no equalities.
pub fn write(path: &Path, stored: &StoredProblem) -> Result<(), ProblemWriteError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("hdf5" | "h5") => fclib::write(path, stored),
        Some("dat") => Ok(write_whole(path, text::write(stored)?.as_bytes())?),
        _ => Err(ProblemWriteError::Extension { path: path.to_path_buf() }),
    }
}

impl StoredProblem {
    /// A problem to store, under the kind that has its sets and its map.
    pub fn new(problem: Problem) -> Result<StoredProblem, ProblemWriteError> {
        let kind = Kind::of_problem(&problem).ok_or(ProblemWriteError::NoKind)?;
        Ok(StoredProblem::of_kind(kind, problem))
    }
}

impl Kind {
    /// The kind of file that can hold a problem, if one can. Where several can, the one with the
    /// most to say about it: `lcp` before `mlcp`, `fc3d` before `gmp`.
    pub fn of_problem(problem: &Problem) -> Option<Kind> {
        use Kind::*;
        let candidates =
            [Lcp, Mlcp, Relay, Fc2d, Fc3d, Rfc3d, Gfc2d, Gfc3d, Grfc3d, Soclcp, Plasticity, Gmp];
        let global = problem.global().is_some();
        let fits = |kind: &Kind| {
            let is_global = matches!(kind, Gfc2d | Gfc3d | Grfc3d);
            is_global == global && problem_is(*kind, problem)
        };
        match problem.matrix() {
            saltus_numerics::Operator::Function(_) => None,
            _ => candidates.into_iter().find(fits),
        }
    }
}

/// Whether the sets of a problem are those of a kind.
fn problem_is(kind: Kind, problem: &Problem) -> bool {
    match kind {
        Kind::Lcp => blocks(problem).iter().all(|block| is_nonnegative(&block.set)),
        Kind::Mlcp => blocks(problem).iter().all(|b| b.set == Set::Free || is_nonnegative(&b.set)),
        Kind::Relay => problem.is_boxed(),
        Kind::Soclcp => {
            blocks(problem).iter().all(|block| matches!(block.set, Set::SecondOrder { .. }))
        }
        Kind::Plasticity => {
            let blocks = blocks(problem);
            blocks.iter().all(|block| matches!(block.set, Set::DruckerPrager { .. }))
                || blocks.iter().all(|block| matches!(block.set, Set::VonMises { .. }))
        }
        Kind::Gmp => blocks(problem).iter().all(|block| {
            matches!(block.set, Set::Free | Set::Coulomb3 { .. }) || is_nonnegative(&block.set)
        }),
        Kind::Avi => false,
        _ => ContactsOf::of(kind, problem).is_ok(),
    }
}

pub(super) fn is_nonnegative(set: &Set) -> bool {
    set.bounds() == Some((0.0, f64::INFINITY))
}

/// The blocks of a problem, neighbouring unknowns in one where they are under the same box.
pub(super) fn blocks(problem: &Problem) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    problem.for_each_block(|_, set, size| match blocks.last_mut() {
        Some(last) if set.bounds().is_some() && last.set == *set => last.size += size,
        _ => blocks.push(Block { size, set: set.clone() }),
    });
    blocks
}

/// The contacts of a problem, and how many equalities come after them.
#[derive(Debug)]
pub(super) struct ContactsOf {
    pub(super) law: Law,
    pub(super) mu: Vec<f64>,
    pub(super) mu_r: Vec<f64>,
    pub(super) equalities: usize,
}

impl ContactsOf {
    /// The contacts of a stored problem, whose map must be that of its kind.
    pub(super) fn new(stored: &StoredProblem) -> Result<ContactsOf, ProblemWriteError> {
        let (kind, problem) = (stored.kind, &stored.problem);
        let wrong = |what: String| ProblemWriteError::Content { kind, what };
        let is_global = matches!(kind, Kind::Gfc2d | Kind::Gfc3d | Kind::Grfc3d);
        match (is_global, problem.global().is_some(), problem.matrix().is_matrix()) {
            (true, true, _) | (false, _, true) => {}
            (true, ..) => return Err(wrong("its map is not a pair (M, H)".to_owned())),
            (false, ..) => return Err(wrong("its map is not a matrix".to_owned())),
        }
        ContactsOf::of(kind, problem).map_err(wrong)
    }

    fn of(kind: Kind, problem: &Problem) -> Result<ContactsOf, String> {
        let (mut law, is_rolling) = match kind {
            Kind::Fc2d | Kind::Gfc2d => (Law::Coulomb2, false),
            Kind::Fc3d | Kind::Gfc3d => (Law::Coulomb3, false),
            _ => (Law::Rolling3, true),
        };
        let (mut mu, mut mu_r, mut equalities) = (Vec::new(), Vec::new(), 0);
        let mut wrong = None;
        problem.for_each_block(|start, set, size| {
            let found = match *set {
                Set::Coulomb2 { mu } => Some((Law::Coulomb2, mu, 0.0)),
                Set::Coulomb3 { mu } => Some((Law::Coulomb3, mu, 0.0)),
                Set::Rolling2 { mu, mu_r } => Some((Law::Rolling2, mu, mu_r)),
                Set::Rolling3 { mu, mu_r } => Some((Law::Rolling3, mu, mu_r)),
                _ => None,
            };
            match found {
                Some((found, m, r)) if equalities == 0 => {
                    if is_rolling && mu.is_empty() && found.is_rolling() {
                        law = found;
                    }
                    if found == law {
                        mu.push(m);
                        mu_r.push(r);
                        return;
                    }
                }
                None if *set == Set::Free => {
                    equalities += size;
                    return;
                }
                _ => {}
            }
            wrong.get_or_insert_with(|| match found {
                Some(_) if equalities > 0 => {
                    format!("unknown {start} is a contact after equalities, expected before them")
                }
                _ => format!("unknown {start} is under {}", set.name()),
            });
        });
        match wrong {
            None => Ok(ContactsOf { law, mu, mu_r, equalities }),
            Some(wrong) => Err(wrong),
        }
    }
}
