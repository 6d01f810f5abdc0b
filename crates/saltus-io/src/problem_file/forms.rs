//! The kinds of problems.
//!
//! ```text
//! lcp   := N matrix q:REAL{N}
//! relay := N matrix q:REAL{N} lower:REAL{N} upper:REAL{N}
//! avi   := N matrix q:REAL{N} ROWS matrix(A) b:REAL{ROWS}       over A z ≤ b
//! mlcp  := FIRST SECOND N M [tagged if FIRST = 1] [parts if SECOND = 1]
//!        | N M N+M parts                                 older files, with M > 0
//! tagged := ROW{0 … N+M, increasing} FLAG{one a block} matrix q:REAL{N+M}
//! parts  := A:REAL{N·N} B:REAL{M·M} C:REAL{N·M} D:REAL{M·N} a:REAL{N} b:REAL{M}   row by row
//! ```
//!
//! `N` counts equalities, `M` complementarities. A block with flag 0 has `w = 0`, one with flag 1
//! `0 ≤ w ⟂ z ≥ 0`. The parts have the equalities first:
//!
//! ```text
//! A u + C v + a = 0,    0 ≤ D u + B v + b ⟂ v ≥ 0                                      (1)
//! ```

use super::error::{ErrorKind, Fault};
use super::kind::Kind;
use super::matrix::{head, operator, square, within};
use super::scan::{Count, Scanner};
use saltus_numerics::{Block, Operator, Polyhedron, Problem, Set};

/// Largest relative difference between the two forms of an `mlcp`: sparse matrices are written
/// with six digits.
const SAME: f64 = 1e-5;

pub(crate) fn lcp(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    let size = size(scanner, 1)?;
    let matrix = square(scanner, size.value)?;
    let q = scanner.vector("q", size.value)?;
    Problem::lcp(matrix, q).map_err(|error| Fault::at(size.at, error))
}

pub(crate) fn relay(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    let size = size(scanner, 3)?;
    let matrix = square(scanner, size.value)?;
    let q = scanner.vector("q", size.value)?;
    let mut lower = Vec::with_capacity(size.value);
    for i in 0..size.value {
        lower.push(scanner.real(|| format!("`lower[{i}]`"))?);
    }
    let mut upper = Vec::with_capacity(size.value);
    for (index, &lower) in lower.iter().enumerate() {
        let start = scanner.next_at();
        let value = scanner.real(|| format!("`upper[{index}]`"))?;
        if !(lower <= value) || lower == f64::INFINITY || value == f64::NEG_INFINITY {
            return Err(Fault::at(start, ErrorKind::Bounds { index, lower, upper: value }));
        }
        upper.push(value);
    }
    Problem::boxed(matrix, q, &lower, &upper).map_err(|error| Fault::at(size.at, error))
}

/// Files of others end after `q`, and do not say which set the inequality is over.
pub(crate) fn avi(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    let size = size(scanner, 1)?;
    let matrix = square(scanner, size.value)?;
    let q = scanner.vector("q", size.value)?;
    if scanner.is_at_end() {
        let (kind, reason) = (Kind::Avi, "the file does not say which set it is over");
        return Err(Fault::at(scanner.next_at(), ErrorKind::Unreadable { kind, reason }));
    }
    let rows = scanner.count(|| "number of inequalities".to_owned())?;
    scanner.check_room(rows, "number of inequalities", rows.value as u128)?;
    let head = head(scanner, "A")?;
    head.check((rows.value, size.value))?;
    let A = head.body(scanner)?.sparse()?;
    let b = scanner.vector("b", rows.value)?;
    let set = Polyhedron::new(size.value).below(A, b);
    Problem::avi(matrix, q, &set).map_err(|error| Fault::at(size.at, error))
}

/// Number of unknowns, for which the rest of the file holds so many vectors at least.
fn size(scanner: &mut Scanner<'_>, vectors: u128) -> Result<Count, Fault> {
    let size = scanner.count(|| "number of unknowns".to_owned())?;
    scanner.check_room(size, "number of unknowns", (size.value as u128).saturating_mul(vectors))?;
    Ok(size)
}

pub(crate) fn mlcp(scanner: &mut Scanner<'_>) -> Result<Problem, Fault> {
    let header = || "header of the mlcp".to_owned();
    let (first, second) = (scanner.count(header)?, scanner.count(header)?);
    if first.value > 1 || second.value > 1 {
        return older_mlcp(scanner, first, second);
    }
    let equalities = scanner.count(|| "number of equalities".to_owned())?;
    let others = scanner.count(|| "number of complementarities".to_owned())?;
    let sizes = Sizes::new(scanner, equalities, others)?;
    let tagged = if first.value == 1 { Some(tagged(scanner, sizes)?) } else { None };
    let parts = if second.value == 1 { Some(Parts::read(scanner, sizes)?) } else { None };
    let wrong = |error| Fault::at(equalities.at, ErrorKind::Problem(error));
    match (tagged, parts) {
        (Some(tagged), parts) => {
            if let Some(parts) = parts {
                tagged.check_against(&parts).map_err(|kind| Fault::at(parts.at, kind))?;
            }
            Problem::new(tagged.matrix, tagged.q, &tagged.blocks).map_err(wrong)
        }
        (None, Some(parts)) => parts.problem().map_err(wrong),
        (None, None) => {
            let expected = "at least one of the two flags to be 1".to_owned();
            let (what, found) = (header(), "0 and 0".to_owned());
            Err(Fault::at(first.at, ErrorKind::Expected { what, expected, found }))
        }
    }
}

/// Files that begin with the sizes: known by a size above 1. Without complementarities it would
/// be what an `lcp` or `relay` in dense storage begins with (`N 0 N`), and is taken for that.
fn older_mlcp(
    scanner: &mut Scanner<'_>,
    equalities: Count,
    others: Count,
) -> Result<Problem, Fault> {
    if others.value == 0 {
        let what = "header of the mlcp".to_owned();
        let expected = "two flags 0 or 1, or two sizes with a positive second one".to_owned();
        let found = format!("{} and 0, as in an lcp or relay", equalities.value);
        return Err(Fault::at(equalities.at, ErrorKind::Expected { what, expected, found }));
    }
    let sizes = Sizes::new(scanner, equalities, others)?;
    let rows = scanner.count(|| "number of rows".to_owned())?;
    if rows.value != sizes.all() {
        let (all, rows_found) = (sizes.all(), rows.value);
        let expected = (all, all);
        let kind = ErrorKind::Shape { name: "M", rows: rows_found, cols: all, expected };
        return Err(Fault::at(rows.at, kind));
    }
    let parts = Parts::read(scanner, sizes)?;
    parts.problem().map_err(|error| Fault::at(equalities.at, error))
}

#[derive(Debug, Clone, Copy)]
struct Sizes {
    equalities: usize,
    others: usize,
    at: usize,
}

impl Sizes {
    /// Sizes for which the rest of the file is long enough.
    fn new(scanner: &Scanner<'_>, equalities: Count, others: Count) -> Result<Sizes, Fault> {
        let all = equalities.value as u128 + others.value as u128;
        scanner.check_room(equalities, "number of unknowns", all)?;
        Ok(Sizes { equalities: equalities.value, others: others.value, at: equalities.at })
    }

    fn all(self) -> usize {
        self.equalities + self.others
    }
}

/// The form with blocks of rows.
struct Tagged {
    matrix: Operator,
    q: Vec<f64>,
    blocks: Vec<Block>,
}

fn tagged(scanner: &mut Scanner<'_>, sizes: Sizes) -> Result<Tagged, Fault> {
    let mut ends = Vec::new();
    while ends.last() != Some(&sizes.all()) {
        let what = || format!("first row of block {}", ends.len());
        let range = match ends.last() {
            None => 0..=0,
            Some(last) => last + 1..=sizes.all(),
        };
        let end = within(scanner.count(what)?, what, range)?;
        ends.push(end);
    }
    let mut blocks = Vec::with_capacity(ends.len() - 1);
    let mut free = 0;
    for (k, rows) in ends.windows(2).enumerate() {
        let what = || format!("flag of block {k} (0: equality, 1: complementarity)");
        let size = rows[1] - rows[0];
        let set = match within(scanner.count(what)?, what, 0..=1)? {
            0 => Set::Free,
            _ => Set::Nonnegative,
        };
        free += if set == Set::Free { size } else { 0 };
        blocks.push(Block { size, set });
    }
    if free != sizes.equalities {
        let what = "equalities in the blocks".to_owned();
        let (expected, found) = (sizes.equalities.to_string(), free.to_string());
        return Err(Fault::at(sizes.at, ErrorKind::Expected { what, expected, found }));
    }
    let matrix = square(scanner, sizes.all())?;
    let q = scanner.vector("q", sizes.all())?;
    Ok(Tagged { matrix, q, blocks })
}

impl Tagged {
    /// The place of each unknown in the parts, which have the equalities first.
    fn places(&self, sizes: Sizes) -> Vec<usize> {
        let (mut free, mut other) = (0, sizes.equalities);
        let mut places = Vec::with_capacity(self.q.len());
        for block in &self.blocks {
            let next = if block.set == Set::Free { &mut free } else { &mut other };
            places.extend(*next..*next + block.size);
            *next += block.size;
        }
        places
    }

    fn check_against(&self, parts: &Parts) -> Result<(), ErrorKind> {
        let same = |x: f64, y: f64| (x - y).abs() <= SAME * x.abs().max(y.abs());
        let places = self.places(parts.sizes);
        for (i, &row) in places.iter().enumerate() {
            for (j, &col) in places.iter().enumerate() {
                let (first, second) = (self.matrix.get(i, j), parts.entry(row, col));
                if !same(first, second) {
                    let what = format!("`M[{i}][{j}]`");
                    return Err(ErrorKind::Disagreement { what, first, second });
                }
            }
            let (first, second) = (self.q[i], parts.q(row));
            if !same(first, second) {
                let what = format!("`q[{i}]`");
                return Err(ErrorKind::Disagreement { what, first, second });
            }
        }
        Ok(())
    }
}

/// The form of equation (1).
struct Parts {
    sizes: Sizes,
    at: usize,
    A: Vec<f64>,
    B: Vec<f64>,
    C: Vec<f64>,
    D: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Parts {
    fn read(scanner: &mut Scanner<'_>, sizes: Sizes) -> Result<Parts, Fault> {
        let (n, m) = (sizes.equalities, sizes.others);
        let all = n as u128 + m as u128;
        let place = Count { value: sizes.all(), at: sizes.at };
        scanner.check_room(place, "the parts A, B, C, D, a, b", all.saturating_mul(all + 1))?;
        let at = scanner.next_at();
        let mut table = |name: &str, rows: usize, cols: usize| {
            let mut data = Vec::with_capacity(rows * cols);
            for i in 0..rows {
                for j in 0..cols {
                    data.push(scanner.finite(|| format!("`{name}[{i}][{j}]`"))?);
                }
            }
            Ok(data)
        };
        let (A, B) = (table("A", n, n)?, table("B", m, m)?);
        let (C, D) = (table("C", n, m)?, table("D", m, n)?);
        let (a, b) = (scanner.vector("a", n)?, scanner.vector("b", m)?);
        Ok(Parts { sizes, at, A, B, C, D, a, b })
    }

    /// Entry of `[[A, C], [D, B]]`.
    fn entry(&self, i: usize, j: usize) -> f64 {
        let Sizes { equalities: n, others: m, .. } = self.sizes;
        match (i < n, j < n) {
            (true, true) => self.A[i * n + j],
            (true, false) => self.C[i * m + j - n],
            (false, true) => self.D[(i - n) * n + j],
            (false, false) => self.B[(i - n) * m + j - n],
        }
    }

    fn q(&self, i: usize) -> f64 {
        let n = self.sizes.equalities;
        if i < n { self.a[i] } else { self.b[i - n] }
    }

    fn problem(&self) -> Result<Problem, saltus_numerics::NumericsError> {
        let size = self.sizes.all();
        let mut triplets = Vec::new();
        for i in 0..size {
            for j in 0..size {
                match self.entry(i, j) {
                    0.0 => {}
                    x => triplets.push((i, j, x)),
                }
            }
        }
        let q = (0..size).map(|i| self.q(i)).collect();
        Problem::mlcp(operator(size, &triplets), q, self.sizes.equalities)
    }
}
