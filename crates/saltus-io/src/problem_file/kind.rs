//! What a stored problem may be.

use saltus_expr::nearest;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use thiserror::Error;

/// What a stored problem is. The names are those of the folders that hold such files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `lcp`: linear complementarity.
    Lcp,
    /// `mlcp`: equalities and complementarities.
    Mlcp,
    /// `relay`: box constraints.
    Relay,
    /// `avi`: affine variational inequality over a polyhedron, where the file has one.
    Avi,
    /// `fc2d`: friction in 2D.
    Fc2d,
    /// `fc3d`: friction in 3D.
    Fc3d,
    /// `gfc2d`: friction in 2D, in global form.
    Gfc2d,
    /// `gfc3d`: friction in 3D, in global form.
    Gfc3d,
    /// `rfc3d`: rolling friction, in space or in the plane.
    Rfc3d,
    /// `grfc3d`: rolling friction, in space or in the plane, in global form.
    Grfc3d,
    /// `gmp`: generic mechanical problem, blocks of several kinds.
    Gmp,
    /// `soclcp`: second-order cones.
    Soclcp,
    /// `plasticity`: yield surfaces.
    Plasticity,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 13] = [
        Kind::Lcp,
        Kind::Mlcp,
        Kind::Relay,
        Kind::Avi,
        Kind::Fc2d,
        Kind::Fc3d,
        Kind::Gfc2d,
        Kind::Gfc3d,
        Kind::Rfc3d,
        Kind::Grfc3d,
        Kind::Gmp,
        Kind::Soclcp,
        Kind::Plasticity,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Lcp => "lcp",
            Kind::Mlcp => "mlcp",
            Kind::Relay => "relay",
            Kind::Avi => "avi",
            Kind::Fc2d => "fc2d",
            Kind::Fc3d => "fc3d",
            Kind::Gfc2d => "gfc2d",
            Kind::Gfc3d => "gfc3d",
            Kind::Rfc3d => "rfc3d",
            Kind::Grfc3d => "grfc3d",
            Kind::Gmp => "gmp",
            Kind::Soclcp => "soclcp",
            Kind::Plasticity => "plasticity",
        }
    }

    /// The kind that the file's folder is named after.
    pub fn of_folder(path: &Path) -> Option<Kind> {
        let named = |folder: &Path| folder.file_name()?.to_str()?.parse().ok();
        let folder = path.parent()?;
        named(folder).or_else(|| {
            // `problem.dat` and `../lcp/./problem.dat` have a folder too
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            named(&folder.canonicalize().ok()?)
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no kind of problem has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no kind of problem `{name}`; {}", hint(.nearest))]
pub struct UnknownKind {
    /// The name.
    pub name: String,
    /// The kind that was probably meant.
    pub nearest: Option<Kind>,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Kind, UnknownKind> {
        let of_name = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name);
        of_name(name).ok_or_else(|| {
            let nearest = nearest(name, Kind::ALL.map(Kind::name)).and_then(of_name);
            UnknownKind { name: name.to_owned(), nearest }
        })
    }
}

fn hint(nearest: &Option<Kind>) -> String {
    match nearest {
        Some(kind) => format!("did you mean `{kind}`?"),
        None => format!("there are {}", names()),
    }
}

/// The names of all kinds, with commas.
pub(crate) fn names() -> String {
    Kind::ALL.map(Kind::name).join(", ")
}
