//! The kinds with blocks of other sorts: second-order cones, yield surfaces, mixed blocks.
//!
//! ```text
//! soclcp     := N NC matrix q:REAL{N} FIRST{NC+1: 0 … N, increasing} tau:REAL{NC}
//! plasticity := 3 NC MODEL matrix q:REAL{3·NC} parameters
//! parameters := eta:REAL{NC} theta:REAL{NC}          MODEL 1, Drucker-Prager
//!             | sigma_y:REAL{NC}                     MODEL 2, von Mises
//! gmp        := matrix q:REAL{N} law{one a row of blocks}       the matrix in sparse blocks
//! law        := 0 (complementarity) | 2 (equality) | 4 mu:REAL (friction in space)
//! ```
//!
//! with `w = M z + q` throughout. A `gmp` may name other laws too, but the format does not store
//! their parameters, so nobody can tell what such a file means.

use super::error::{ErrorKind, Fault};
use super::matrix::{head, within};
use super::scan::{Count, Scanner};
use saltus_numerics::{Block, Measure, Problem, Set};

pub(crate) fn soclcp(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    let size = scanner.count(|| "number of unknowns".to_owned())?;
    let cones = scanner.count(|| "number of cones".to_owned())?;
    scanner.check_room(size, "number of unknowns", size.value as u128)?;
    scanner.check_room(cones, "number of cones", 2 * cones.value as u128)?;
    let matrix = head(scanner, "M")?;
    matrix.check((size.value, size.value))?;
    let matrix = matrix.body(scanner)?.operator()?;
    let q = scanner.vector("q", size.value)?;
    let mut sizes = Vec::with_capacity(cones.value);
    let mut last = 0;
    for k in 0..=cones.value {
        let what = || match k == cones.value {
            true => "end of the cones".to_owned(),
            false => format!("first unknown of cone {k}"),
        };
        let range = match k {
            _ if k == cones.value => size.value..=size.value,
            0 => 0..=0,
            _ => last + 1..=size.value,
        };
        let first = scanner.count(what)?;
        within(first, what, range)?;
        if k > 0 {
            if first.value <= last {
                let (expected, found) = (format!("more than {last}"), first.value.to_string());
                return Err(Fault::at(
                    first.at,
                    ErrorKind::Expected { what: what(), expected, found },
                ));
            }
            sizes.push(first.value - last);
        }
        last = first.value;
    }
    let tau = scanner.coefficients("tau", cones.value)?;
    Problem::second_order(matrix, q, &sizes, &tau).map_err(|error| Fault::at(size.at, error))
}

pub(crate) fn plasticity(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    scanner.exactly(3, || "components of a stress".to_owned())?;
    let points = scanner.count(|| "number of points".to_owned())?;
    scanner.check_room(points, "number of points", 4 * points.value as u128)?;
    let model = || "model (1: Drucker-Prager, 2: von Mises)".to_owned();
    let is_cone = within(scanner.count(model)?, model, 1..=2)? == 1;
    let size = 3 * points.value;
    let matrix = head(scanner, "M")?;
    matrix.check((size, size))?;
    let matrix = matrix.body(scanner)?.operator()?;
    let q = scanner.vector("q", size)?;
    let sets: Vec<Set> = if is_cone {
        let eta = scanner.coefficients("eta", points.value)?;
        let theta = scanner.coefficients("theta", points.value)?;
        let pairs = eta.into_iter().zip(theta);
        pairs.map(|(eta, theta)| Set::DruckerPrager { eta, theta }).collect()
    } else {
        let sigma_y = scanner.coefficients("sigma_y", points.value)?;
        sigma_y.into_iter().map(|sigma_y| Set::VonMises { sigma_y }).collect()
    };
    let blocks: Vec<Block> = sets.into_iter().map(|set| Block { size: 3, set }).collect();
    let problem = Problem::new(matrix, q, &blocks).map_err(|error| Fault::at(points.at, error))?;
    Ok(problem.measured(Measure::Absolute))
}

pub(crate) fn gmp(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    let matrix = head(scanner, "M")?;
    let size = matrix.rows;
    matrix.check_blocks()?;
    matrix.check((size.value, size.value))?;
    scanner.check_room(size, "number of unknowns", size.value as u128)?;
    let matrix = matrix.body(scanner)?;
    if matrix.row_ends.is_empty() && size.value > 0 {
        let what = "number of blocks".to_owned();
        let (expected, found) = ("at least 1".to_owned(), "0".to_owned());
        return Err(Fault::at(size.at, ErrorKind::Expected { what, expected, found }));
    }
    let q = scanner.vector("q", size.value)?;
    let mut blocks = Vec::with_capacity(matrix.row_ends.len());
    for (k, rows) in matrix.row_ends.windows(2).enumerate() {
        blocks.push(block(scanner, k, rows[1] - rows[0])?);
    }
    let problem = Problem::new(matrix.operator()?, q, &blocks)
        .map_err(|error| Fault::at(matrix.at, error))?;
    Ok(problem.measured(Measure::Blocks))
}

/// The law of block `k`.
fn block(scanner: &mut Scanner<'_>, k: usize, size: usize) -> Result<Block, Fault> {
    let what = || format!("type of block {k}");
    let number = scanner.count(what)?;
    let set = match within(number, what, 0..=9)? {
        0 => Set::Nonnegative,
        2 => Set::Free,
        4 if size == 3 => Set::Coulomb3 { mu: scanner.nonnegative(|| format!("mu of block {k}"))? },
        4 => {
            let expected = "3 unknowns for type 4 (FC3D)".to_owned();
            let (what, found) = (format!("size of block {k}"), size.to_string());
            return Err(Fault::at(number.at, ErrorKind::Expected { what, expected, found }));
        }
        other => return Err(no_parameters(number, k, other)),
    };
    Ok(Block { size, set })
}

fn no_parameters(number: Count, block: usize, type_number: usize) -> Fault {
    let (law, parameters) = match type_number {
        1 => ("MLCP", "which rows are equalities"),
        3 => ("FC2D", "mu"),
        5 => ("NCP", "the function"),
        6 => ("MCP", "the function"),
        7 => ("VI", "the function and the set"),
        8 => ("AVI", "the set"),
        _ => ("relay", "the bounds"),
    };
    Fault::at(number.at, ErrorKind::NoParameters { block, type_number, law, parameters })
}
