//! The three ways in which a file stores a matrix.
//!
//! ```text
//! matrix := STORAGE ROWS COLS body
//! dense  (STORAGE 0):  ROWS COLS  REAL{ROWS·COLS}                            column by column
//! blocks (STORAGE 1):  NBLOCKS [ NBR NBC  ROWEND{NBR} COLEND{NBC}
//!                                NBR+1 NBLOCKS  PTR{NBR+1} IND{NBLOCKS}
//!                                { k REAL{height·width} }  for k = 0 … NBLOCKS−1 ]
//! sparse (STORAGE 2):  ORIGIN EOL  BANNER EOL  head EOL  entries
//! ```
//!
//! Blocks: `ROWEND` and `COLEND` are where each row and column of blocks ends; row `r` of blocks
//! owns the blocks `PTR[r] … PTR[r+1]−1`, in the columns of blocks `IND`; a block is stored
//! column by column. Sparse, by what the head says, with indices from 0:
//!
//! ```text
//! triplet: M-by-N, nzmax: Z nnz: K              K times    i j : x
//! M-by-N, nzmax: Z nnz: K, 1-norm: V            by column  col j : locations a to b,  then b−a+1 times  i : x
//! csr: M-by-N, nzmax: Z nnz: K, 1-norm: V       by row     row i : locations a to b,  then b−a+1 times  j : x
//! ```
//!
//! Entries at one place add up.

use super::error::{ErrorKind, Fault};
use super::scan::{Count, Scanner, clip};
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::Operator;

/// From this size on a matrix with few entries is kept sparse, however it is stored.
const SPARSE_FROM: usize = 65;
/// One entry in how many may be nonzero for that.
const SPARSE_SHARE: usize = 10;

type Triplets = Vec<(usize, usize, f64)>;

/// What stands before the entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    name: &'static str,
    storage: Count,
    pub(crate) rows: Count,
    pub(crate) cols: Count,
}

/// A matrix as a file stores it.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) name: &'static str,
    pub(crate) at: usize,
    rows: usize,
    cols: usize,
    is_dense: bool,
    triplets: Triplets,
    /// 0 and where each row of blocks ends; empty for what is not stored in blocks.
    pub(crate) row_ends: Vec<usize>,
}

/// A square matrix of this size.
pub(crate) fn square(scanner: &mut Scanner<'_>, size: usize) -> Result<Operator, Fault> {
    let head = head(scanner, "M")?;
    head.check((size, size))?;
    let stored = head.body(scanner)?;
    Ok(operator(size, &stored.triplets))
}

/// The beginning of a matrix.
pub(crate) fn head(scanner: &mut Scanner<'_>, name: &'static str) -> Result<Head, Fault> {
    let storage = scanner.count(|| "storage of the matrix".to_owned())?;
    let rows = scanner.count(|| "rows of the matrix".to_owned())?;
    let cols = scanner.count(|| "columns of the matrix".to_owned())?;
    Ok(Head { name, storage, rows, cols })
}

impl Head {
    /// The matrix must have these rows and columns.
    pub(crate) fn check(&self, expected: (usize, usize)) -> Result<(), Fault> {
        let (rows, cols) = (self.rows.value, self.cols.value);
        if (rows, cols) == expected {
            return Ok(());
        }
        let kind = ErrorKind::Shape { name: self.name, rows, cols, expected };
        Err(Fault::at(self.rows.at, kind))
    }

    /// The matrix must be stored in blocks.
    pub(crate) fn check_blocks(&self) -> Result<(), Fault> {
        within(self.storage, || "storage of the matrix".to_owned(), 1..=1).map(|_| ())
    }

    /// The entries. Rows and columns must be known to fit the file.
    pub(crate) fn body(self, scanner: &mut Scanner<'_>) -> Result<Stored, Fault> {
        let Head { name, storage, rows, cols } = self;
        let shape = Shape { name, rows: rows.value, cols: cols.value };
        let mut row_ends = Vec::new();
        let triplets = match storage.value {
            0 => dense(scanner, shape, rows)?,
            1 => blocks(scanner, shape, &mut row_ends)?,
            2 => sparse(scanner, shape)?,
            _ => {
                let what = "storage of the matrix".to_owned();
                let expected = "0 (dense), 1 (sparse blocks) or 2 (sparse)".to_owned();
                let found = storage.value.to_string();
                return Err(Fault::at(storage.at, ErrorKind::Expected { what, expected, found }));
            }
        };
        let is_dense = storage.value == 0;
        let (rows, cols) = (shape.rows, shape.cols);
        Ok(Stored { name, at: self.rows.at, rows, cols, is_dense, triplets, row_ends })
    }
}

impl Stored {
    /// The matrix with only its nonzero entries.
    pub(crate) fn sparse(&self) -> Result<Sparse, Fault> {
        let sparse = Sparse::from_triplets(self.rows, self.cols, &self.triplets);
        let wrong = sparse.iter().find(|(_, _, x)| !x.is_finite());
        match wrong {
            None => Ok(sparse),
            Some((i, j, _)) => {
                let what = format!("`{}[{i}][{j}]`", self.name);
                Err(Fault::at(self.at, ErrorKind::SumTooLarge { what }))
            }
        }
    }

    /// Dense or sparse, as it is stored.
    pub(crate) fn operator(&self) -> Result<Operator, Fault> {
        let sparse = self.sparse()?;
        Ok(if self.is_dense { sparse.to_dense().into() } else { sparse.into() })
    }
}

/// Rows and columns of a matrix, and what it is called.
#[derive(Debug, Clone, Copy)]
struct Shape {
    name: &'static str,
    rows: usize,
    cols: usize,
}

/// Dense where the matrix is small or full.
pub(crate) fn operator(size: usize, triplets: &Triplets) -> Operator {
    let few = triplets.len() <= size.saturating_mul(size) / SPARSE_SHARE;
    if size >= SPARSE_FROM && few {
        return Sparse::from_triplets(size, size, triplets).into();
    }
    let mut dense = Matrix::zeros(size, size);
    for &(i, j, x) in triplets {
        dense[(i, j)] += x;
    }
    dense.into()
}

/// The entries of a dense matrix that are not zero.
fn dense(scanner: &mut Scanner<'_>, shape: Shape, at: Count) -> Result<Triplets, Fault> {
    let Shape { name, rows, cols } = shape;
    scanner.exactly(rows, || "rows of the matrix, again".to_owned())?;
    scanner.exactly(cols, || "columns of the matrix, again".to_owned())?;
    scanner.check_room(at, "matrix", (rows as u128).saturating_mul(cols as u128))?;
    let mut triplets = Triplets::new();
    for j in 0..cols {
        for i in 0..rows {
            add(&mut triplets, i, j, scanner.finite(|| format!("`{name}[{i}][{j}]`"))?);
        }
    }
    Ok(triplets)
}

fn add(triplets: &mut Triplets, i: usize, j: usize, x: f64) {
    if x != 0.0 {
        triplets.push((i, j, x));
    }
}

fn blocks(
    scanner: &mut Scanner<'_>,
    shape: Shape,
    row_ends: &mut Vec<usize>,
) -> Result<Triplets, Fault> {
    let name = shape.name;
    let mut triplets = Triplets::new();
    let number = scanner.count(|| "number of blocks".to_owned())?;
    if number.value == 0 {
        return Ok(triplets);
    }
    let block_rows = scanner.count(|| "rows of blocks".to_owned())?;
    let block_cols = scanner.count(|| "columns of blocks".to_owned())?;
    *row_ends = ends(scanner, block_rows, "row", shape.rows)?;
    let col_ends = ends(scanner, block_cols, "column", shape.cols)?;
    // `block_rows` is at most the number of rows now
    scanner.exactly(block_rows.value + 1, || "number of pointers to blocks".to_owned())?;
    scanner.exactly(number.value, || "number of columns of blocks".to_owned())?;
    scanner.check_room(number, "blocks", number.value as u128)?;

    let mut pointers = Vec::with_capacity(block_rows.value + 1);
    for k in 0..=block_rows.value {
        let what = || format!("pointer {k} to blocks");
        let pointer = scanner.count(what)?;
        let least = pointers.last().copied().unwrap_or(0);
        let range = match k {
            0 => 0..=0,
            _ if k == block_rows.value => number.value..=number.value,
            _ => least..=number.value,
        };
        pointers.push(within(pointer, what, range)?);
    }
    let mut columns = Vec::with_capacity(number.value);
    for k in 0..number.value {
        let what = || format!("column of block {k}");
        columns.push(within(scanner.count(what)?, what, 0..=block_cols.value - 1)?);
    }
    for r in 0..block_rows.value {
        let (first_row, end_row) = (row_ends[r], row_ends[r + 1]);
        for k in pointers[r]..pointers[r + 1] {
            scanner.exactly(k, || format!("number of block {k}"))?;
            for j in col_ends[columns[k]]..col_ends[columns[k] + 1] {
                for i in first_row..end_row {
                    let x = scanner.finite(|| format!("block {k}, `{name}[{i}][{j}]`"))?;
                    add(&mut triplets, i, j, x);
                }
            }
        }
    }
    Ok(triplets)
}

/// Where the rows or columns of blocks begin and end: 0, then increasing up to `size`.
fn ends(
    scanner: &mut Scanner<'_>,
    number: Count,
    of: &str,
    size: usize,
) -> Result<Vec<usize>, Fault> {
    within(number, || format!("{of}s of blocks"), 1..=size)?;
    let mut ends = vec![0];
    for k in 0..number.value {
        let what = || format!("end of {of} {k} of blocks");
        let end = scanner.count(what)?;
        let range = match k + 1 == number.value {
            true => size..=size,
            false => ends[k] + 1..=size,
        };
        ends.push(within(end, what, range)?);
    }
    Ok(ends)
}

/// The number, if it is in this range.
pub(crate) fn within(
    number: Count,
    what: impl Fn() -> String,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize, Fault> {
    if range.contains(&number.value) {
        return Ok(number.value);
    }
    let expected = match (range.start(), range.end()) {
        (a, b) if a == b => a.to_string(),
        (a, b) if a < b => format!("{a} to {b}"),
        (_, b) => format!("less, the end being {b}"),
    };
    let (what, found) = (what(), number.value.to_string());
    Err(Fault::at(number.at, ErrorKind::Expected { what, expected, found }))
}

/// How a sparse matrix lists its entries.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    Triplets,
    ByColumn,
    ByRow,
}

impl Order {
    /// The number that stands for it before the banner.
    fn origin(self) -> usize {
        match self {
            Order::Triplets => 1,
            Order::ByColumn => 2,
            Order::ByRow => 3,
        }
    }
}

fn sparse(scanner: &mut Scanner<'_>, shape: Shape) -> Result<Triplets, Fault> {
    let what = || "form of the sparse matrix".to_owned();
    let origin = scanner.count(what)?;
    scanner.line(); // what is left of its line
    scanner.line(); // the banner
    let head = scanner.line();
    let Some((order, rows, cols, number)) = read_head(head.text) else {
        let what = "head of the sparse matrix".to_owned();
        let expected = "`M-by-N, nzmax: Z nnz: K`, perhaps after `triplet:` or `csr:`".to_owned();
        let found = format!("`{}`", clip(head.text));
        return Err(Fault::at(head.at, ErrorKind::Expected { what, expected, found }));
    };
    if (rows, cols) != (shape.rows, shape.cols) {
        let expected = (shape.rows, shape.cols);
        let kind = ErrorKind::Shape { name: shape.name, rows, cols, expected };
        return Err(Fault::at(head.at, kind));
    }
    within(origin, what, order.origin()..=order.origin())?;
    let number = Count { value: number, at: head.at };
    let each = if order == Order::Triplets { 4 } else { 3 }; // i j : x, or i : x
    scanner.check_room(number, "sparse matrix", (number.value as u128).saturating_mul(each))?;
    match order {
        Order::Triplets => triplets(scanner, shape, number.value),
        Order::ByColumn => compressed(scanner, shape, number.value, "col"),
        Order::ByRow => compressed(scanner, shape, number.value, "row"),
    }
}

fn read_head(head: &str) -> Option<(Order, usize, usize, usize)> {
    let (order, rest) = match (head.strip_prefix("triplet:"), head.strip_prefix("csr:")) {
        (Some(rest), _) => (Order::Triplets, rest),
        (_, Some(rest)) => (Order::ByRow, rest),
        _ => (Order::ByColumn, head),
    };
    let (shape, rest) = rest.split_once(',')?;
    let (rows, cols) = shape.trim().split_once("-by-")?;
    let number = rest.split_once("nnz:")?.1.split(',').next()?;
    Some((order, rows.parse().ok()?, cols.parse().ok()?, number.trim().parse().ok()?))
}

fn triplets(scanner: &mut Scanner<'_>, shape: Shape, number: usize) -> Result<Triplets, Fault> {
    let name = shape.name;
    let mut triplets = Triplets::new();
    for k in 0..number {
        let i = index(scanner, shape.rows, || format!("row of entry {k}"))?;
        let j = index(scanner, shape.cols, || format!("column of entry {k}"))?;
        scanner.word(":", || format!("entry {k}"))?;
        add(&mut triplets, i, j, scanner.finite(|| format!("entry {k}, `{name}[{i}][{j}]`"))?);
    }
    Ok(triplets)
}

fn compressed(
    scanner: &mut Scanner<'_>,
    shape: Shape,
    number: usize,
    word: &str,
) -> Result<Triplets, Fault> {
    let by_column = word == "col";
    let Shape { name, rows, cols } = shape;
    let (outer_size, size) = if by_column { (cols, rows) } else { (rows, cols) };
    let mut triplets = Triplets::new();
    let mut k = 0;
    for outer in 0..outer_size {
        let what = || format!("{word} {outer} of the sparse matrix");
        scanner.word(word, what)?;
        scanner.exactly(outer, what)?;
        scanner.word(":", what)?;
        scanner.word("locations", what)?;
        scanner.exactly(k, what)?;
        scanner.word("to", what)?;
        let end = last_location(scanner, what, k, number)?;
        while k < end {
            let inner = index(scanner, size, || format!("index of entry {k}"))?;
            scanner.word(":", || format!("entry {k}"))?;
            let (i, j) = if by_column { (inner, outer) } else { (outer, inner) };
            add(&mut triplets, i, j, scanner.finite(|| format!("entry {k}, `{name}[{i}][{j}]`"))?);
            k += 1;
        }
    }
    if k == number {
        return Ok(triplets);
    }
    let what = "sparse matrix".to_owned();
    let (expected, found) = (format!("{number} entries"), format!("{k} in its {word}s"));
    Err(scanner.here(ErrorKind::Expected { what, expected, found }))
}

/// One past the last location; a row or column without entries has the one before its first.
fn last_location(
    scanner: &mut Scanner<'_>,
    what: impl Fn() -> String,
    first: usize,
    number: usize,
) -> Result<usize, Fault> {
    let token = scanner.token();
    let last = token.and_then(|token| token.text.parse::<i64>().ok());
    let end = last.and_then(|last| usize::try_from(last.checked_add(1)?).ok());
    match end {
        Some(end) if (first..=number).contains(&end) => Ok(end),
        _ => {
            let expected = format!("{} to {}", first as i64 - 1, number as i64 - 1);
            Err(scanner.unexpected(token, what(), expected))
        }
    }
}

fn index(
    scanner: &mut Scanner<'_>,
    size: usize,
    what: impl Fn() -> String,
) -> Result<usize, Fault> {
    let number = scanner.count(&what)?;
    match size.checked_sub(1) {
        Some(last) => within(number, what, 0..=last),
        None => {
            let (expected, found) = ("no entries".to_owned(), number.value.to_string());
            Err(Fault::at(number.at, ErrorKind::Expected { what: what(), expected, found }))
        }
    }
}
