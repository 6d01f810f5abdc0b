//! Stored problems with friction in HDF5: the files of FCLIB.
//!
//! ```text
//! /fclib_local            spacedim (2 or 3), W, [V, R], vectors/{q, mu, [s]}, info
//! /fclib_global           spacedim (2 or 3), M, H, [G], vectors/{f, w, mu, [b]}, info
//! /fclib_global_rolling   spacedim (3 or 5), M, H, [G], vectors/{f, w, mu, mu_r, [b]}, info
//! /guesses                number_of_guesses, 1/{u, r, [v], [l]}, 2/…
//! /solution               u, r, [v], [l]
//! ```
//!
//! `spacedim` counts the components of a contact. One of the first three groups is there; what
//! stands in brackets states equalities `l` beside the contacts:
//!
//! ```text
//! local:    u = W r + V l + q,    0 = Vᵀ r + R l + s                                    (1)
//! global:   M v = f + H r + G l,    u = Hᵀ v + w,    0 = Gᵀ v + b                       (2)
//! ```
//!
//! The unknowns of the problem are `r`, then `l` as one block of free unknowns, so (1) has the
//! matrix `[W V; Vᵀ R]` and (2) the pair `(M, [H G])`.
//!
//! A matrix is a group of `m`, `n` (rows, columns), `nz`, `nzmax`, `p`, `i`, `x`:
//!
//! ```text
//! nz ≥ 0    nz entries: column p[k], row i[k], value x[k]
//! nz = −1   by column: entries p[j] … p[j+1]−1 of column j, rows i, values x
//! nz = −2   by row: entries p[i] … p[i+1]−1 of row i, columns i, values x
//! ```
//!
//! FCLIB says that `p` holds the rows of the first form, but what writes such files puts the
//! columns there; where only the other reading fits the shape it is taken. `nzmax` is not looked
//! at. Entries may come in any order, and those at one place add up. Strings may be in any
//! encoding.

mod reader;
mod writer;

pub(crate) use reader::read;
pub(crate) use writer::write;

use super::contacts::Law;
use super::kind::Kind;

/// The three sorts of problems.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Local,
    Global,
    GlobalRolling,
}

impl Form {
    const ALL: [Form; 3] = [Form::Local, Form::Global, Form::GlobalRolling];

    fn group(self) -> &'static str {
        match self {
            Form::Local => "fclib_local",
            Form::Global => "fclib_global",
            Form::GlobalRolling => "fclib_global_rolling",
        }
    }

    fn laws(self) -> [Law; 2] {
        match self {
            Form::Local | Form::Global => [Law::Coulomb2, Law::Coulomb3],
            Form::GlobalRolling => Law::ROLLING,
        }
    }

    fn kind(self, law: Law) -> Kind {
        match (self, law) {
            (Form::Local, Law::Coulomb2) => Kind::Fc2d,
            (Form::Local, _) => Kind::Fc3d,
            (Form::Global, Law::Coulomb2) => Kind::Gfc2d,
            (Form::Global, _) => Kind::Gfc3d,
            (Form::GlobalRolling, _) => Kind::Grfc3d,
        }
    }

    /// The form that holds problems of this kind, if one does.
    fn of(kind: Kind) -> Option<Form> {
        match kind {
            Kind::Fc2d | Kind::Fc3d => Some(Form::Local),
            Kind::Gfc2d | Kind::Gfc3d => Some(Form::Global),
            Kind::Grfc3d => Some(Form::GlobalRolling),
            _ => None,
        }
    }
}
