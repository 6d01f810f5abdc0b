//! The kinds with friction.
//!
//! ```text
//! fc2d, fc3d    := D NC matrix q:REAL{m} mu:REAL{NC}                            m = D·NC
//! rfc3d         := D NC matrix q:REAL{m} mu:REAL{NC} mu_r:REAL{NC}
//! gfc2d, gfc3d  := D NC matrix(M) matrix(H) q:REAL{n} b:REAL{m} mu:REAL{NC}     M is n × n, H n × m
//! grfc3d        := D NC matrix(M) matrix(H) q:REAL{n} b:REAL{m} mu:REAL{NC} mu_r:REAL{NC}
//! ```
//!
//! `D` counts the components of a contact, normal first: 2 in the plane, 3 in space; with rolling
//! resistance 3 and 5. The reduced problem is `u = W r + q`; the global one
//!
//! ```text
//! M v = q + H r,    u = Hᵀ v + b                                                        (1)
//! ```
//!
//! which is `u = Hᵀ M⁻¹ (H r + q) + b`: the file's `q` is the `f` of [`Global`], and the file's
//! `b` the vector of the problem. There may be no contacts at all.

use super::error::{ErrorKind, Fault};
use super::matrix::head;
use super::scan::{Count, Scanner};
use saltus_numerics::{Block, Global, Problem, Set};

/// What a contact of a file obeys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    Coulomb2,
    Coulomb3,
    Rolling2,
    Rolling3,
}

impl Law {
    pub(crate) const ROLLING: [Law; 2] = [Law::Rolling2, Law::Rolling3];

    /// Components of a contact.
    pub(crate) fn size(self) -> usize {
        match self {
            Law::Coulomb2 => 2,
            Law::Coulomb3 | Law::Rolling2 => 3,
            Law::Rolling3 => 5,
        }
    }

    pub(crate) fn is_rolling(self) -> bool {
        Law::ROLLING.contains(&self)
    }

    /// One block a contact; `mu_r` is not looked at where nothing rolls.
    pub(crate) fn blocks(self, mu: &[f64], mu_r: &[f64]) -> Vec<Block> {
        let set = |c: usize| match self {
            Law::Coulomb2 => Set::Coulomb2 { mu: mu[c] },
            Law::Coulomb3 => Set::Coulomb3 { mu: mu[c] },
            Law::Rolling2 => Set::Rolling2 { mu: mu[c], mu_r: mu_r[c] },
            Law::Rolling3 => Set::Rolling3 { mu: mu[c], mu_r: mu_r[c] },
        };
        (0..mu.len()).map(|c| Block { size: self.size(), set: set(c) }).collect()
    }
}

/// A problem in terms of the contacts alone.
pub(crate) fn reduced(scanner: &mut Scanner<'_>, laws: &[Law]) -> Result<Problem, Fault> {
    let Contacts { law, number, size } = contacts(scanner, laws)?;
    let matrix = head(scanner, "M")?;
    matrix.check((size, size))?;
    let W = matrix.body(scanner)?.operator()?;
    let q = scanner.vector("q", size)?;
    let mu = scanner.coefficients("mu", number.value)?;
    let wrong = |error| Fault::at(number.at, ErrorKind::Problem(error));
    match law {
        Law::Coulomb2 => Problem::friction2d(W, q, &mu).map_err(wrong),
        Law::Coulomb3 => Problem::friction3d(W, q, &mu).map_err(wrong),
        Law::Rolling2 | Law::Rolling3 => {
            let mu_r = scanner.coefficients("mu_r", number.value)?;
            match law {
                Law::Rolling2 => Problem::rolling2d(W, q, &mu, &mu_r).map_err(wrong),
                _ => Problem::rolling3d(W, q, &mu, &mu_r).map_err(wrong),
            }
        }
    }
}

/// A problem in terms of velocities and contacts, equation (1).
pub(crate) fn global(scanner: &mut Scanner<'_>, laws: &[Law]) -> Result<Problem, Fault> {
    let Contacts { law, number, size } = contacts(scanner, laws)?;
    let mass = head(scanner, "M")?;
    let n = mass.rows;
    mass.check((n.value, n.value))?;
    scanner.check_room(n, "number of velocities", n.value as u128)?;
    let mass = mass.body(scanner)?;
    let H = head(scanner, "H")?;
    H.check((n.value, size))?;
    let H = H.body(scanner)?.sparse()?;
    let f = scanner.vector("q", n.value)?;
    let b = scanner.vector("b", size)?;
    let mu = scanner.coefficients("mu", number.value)?;
    let mu_r = match law.is_rolling() {
        true => scanner.coefficients("mu_r", number.value)?,
        false => Vec::new(),
    };
    let wrong = |at| move |error| Fault::at(at, ErrorKind::Problem(error));
    let global = Global::new(mass.sparse()?, H, f).map_err(wrong(mass.at))?;
    Problem::new(global, b, &law.blocks(&mu, &mu_r)).map_err(wrong(number.at))
}

/// How many contacts of which law, for which the rest of the file is long enough.
struct Contacts {
    law: Law,
    number: Count,
    size: usize, // components of all contacts
}

fn contacts(scanner: &mut Scanner<'_>, laws: &[Law]) -> Result<Contacts, Fault> {
    let dimension = scanner.count(|| "components of a contact".to_owned())?;
    let Some(&law) = laws.iter().find(|law| law.size() == dimension.value) else {
        let what = "components of a contact".to_owned();
        let sizes: Vec<String> = laws.iter().map(|law| law.size().to_string()).collect();
        let (expected, found) = (sizes.join(" or "), dimension.value.to_string());
        return Err(Fault::at(dimension.at, ErrorKind::Expected { what, expected, found }));
    };
    let number = scanner.count(|| "number of contacts".to_owned())?;
    let each = law.size() as u128 + if law.is_rolling() { 2 } else { 1 };
    scanner.check_room(
        number,
        "number of contacts",
        (number.value as u128).saturating_mul(each),
    )?;
    Ok(Contacts { law, number, size: law.size() * number.value })
}
