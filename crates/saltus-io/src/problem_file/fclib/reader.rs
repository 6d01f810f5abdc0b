//! Reading FCLIB files.
//!
//! Nothing in a file is trusted: sizes are held against the length of the file, and matrices
//! against the vectors, before memory is asked for.

use super::super::error::ErrorKind;
use super::super::{Info, StoredProblem, is_answer};
use super::Form;
use crate::run_file::{RunFileError, cause, check_signature};
use rust_hdf5::{H5Dataset, H5File, H5Type, Hdf5Error, ReadNumeric};
use saltus_linalg::Sparse;
use saltus_numerics::{Block, Global, Operator, Problem, Set};
use std::collections::HashSet;
use std::path::Path;

/// Reads a problem, without its name.
pub(crate) fn read(path: &Path) -> Result<StoredProblem, ErrorKind> {
    let source = Source::open(path)?;
    let form = Form::ALL.into_iter().find(|form| source.has_group(form.group()));
    let form = form.ok_or(ErrorKind::NotFclib)?;
    let group = form.group();

    // how many components a contact has says which law it obeys
    let name = format!("{group}/spacedim");
    let dimension = source.count(&name)?;
    let laws = form.laws();
    let Some(law) = laws.into_iter().find(|law| law.size() == dimension) else {
        let expected = format!("{} or {}", laws[0].size(), laws[1].size());
        return Err(expected_at(&name, expected, dimension));
    };

    let free = if form == Form::Local { "q" } else { "w" };
    let mut q = source.reals(&format!("{group}/vectors/{free}"))?;
    let m = q.len();
    if m % dimension != 0 {
        let expected = format!("a multiple of {dimension} values");
        return Err(expected_at(&format!("{group}/vectors/{free}"), expected, m));
    }
    let mu = source.coefficients(&format!("{group}/vectors/mu"), m / dimension)?;
    let mu_r = match law.is_rolling() {
        true => source.coefficients(&format!("{group}/vectors/mu_r"), m / dimension)?,
        false => Vec::new(),
    };

    // the equalities beside the contacts
    let mut blocks = law.blocks(&mu, &mu_r);
    let matrix: Operator = if form == Form::Local {
        let W = source.matrix(&format!("{group}/W"), (m, m))?;
        source.bordered(group, W, &mut q)?.into()
    } else {
        source.pair(group, m, &mut q)?.into()
    };
    if q.len() > m {
        blocks.push(Block { size: q.len() - m, set: Set::Free });
    }
    let problem = Problem::new(matrix, q, &blocks)?;

    let text = |name: &str| source.text(&format!("{group}/info/{name}"));
    let info = Info {
        title: text("title"),
        description: text("description"),
        math_info: text("math_info"),
    };
    let unknowns = |of: &str| source.unknowns(of, m, problem.len());
    let reference = unknowns("solution").filter(|z| is_answer(&problem, z));
    let guesses = (1..).map_while(|k: usize| {
        let of = format!("guesses/{k}");
        source.has(&format!("{of}/r")).then(|| unknowns(&of))
    });
    let guesses = guesses.flatten().collect();
    let kind = form.kind(law);
    Ok(StoredProblem { kind, problem, name: String::new(), reference, guesses, info })
}

/// Something else than what should stand at this place.
fn expected_at(name: &str, expected: String, found: impl ToString) -> ErrorKind {
    ErrorKind::Expected { what: format!("`/{name}`"), expected, found: found.to_string() }
}

/// An open file.
struct Source {
    file: H5File,
    names: HashSet<String>,
    /// Length of the file in bytes.
    length: u64,
}

impl Source {
    fn open(path: &Path) -> Result<Source, ErrorKind> {
        let length = check_signature(path).map_err(|error| match error {
            RunFileError::Truncated { expected, found, .. } => {
                damaged(format!("cut off, with {found} of {expected} bytes"))
            }
            other => damaged(other.to_string()),
        })?;
        let file = H5File::open(path).map_err(said)?;
        let names = file.dataset_names().into_iter().collect();
        Ok(Source { file, names, length })
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn has_group(&self, name: &str) -> bool {
        self.file.root_group().group(name).is_ok()
    }

    /// A dataset that is not larger than the file.
    fn dataset(&self, name: &str) -> Result<H5Dataset, ErrorKind> {
        if !self.has(name) {
            return Err(expected_at(name, "a dataset".to_owned(), "nothing"));
        }
        let dataset = self.file.dataset(name).map_err(said)?;
        // deflate makes nothing smaller than a thousandth
        let most = match dataset.filters().map_err(said)?.is_empty() {
            true => self.length,
            false => self.length.saturating_mul(1100),
        };
        let mut sizes = dataset.shape().into_iter().map(|size| size as u64);
        match sizes.try_fold(dataset.element_size() as u64, u64::checked_mul) {
            Some(size) if size <= most => Ok(dataset),
            _ => Err(damaged(format!("`/{name}` is larger than the file"))),
        }
    }

    fn numbers<T: H5Type + ReadNumeric>(&self, name: &str) -> Result<Vec<T>, ErrorKind> {
        self.dataset(name)?
            .read_numeric_as()
            .map_err(|error| damaged(format!("`/{name}`: {}", cause(&error))))
    }

    /// Finite numbers.
    fn reals(&self, name: &str) -> Result<Vec<f64>, ErrorKind> {
        let values: Vec<f64> = self.numbers(name)?;
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(values),
            Some(k) => {
                let (what, found) = (format!("`/{name}[{k}]`"), values[k].to_string());
                Err(ErrorKind::NotFinite { what, found })
            }
        }
    }

    /// So many numbers that are not negative.
    fn coefficients(&self, name: &str, size: usize) -> Result<Vec<f64>, ErrorKind> {
        let values = self.reals(name)?;
        if values.len() != size {
            return Err(expected_at(name, format!("{size} values"), values.len()));
        }
        match values.iter().position(|x| !(*x >= 0.0)) {
            None => Ok(values),
            Some(k) => {
                let (what, found) = (format!("`/{name}[{k}]`"), values[k]);
                Err(ErrorKind::Negative { what, found })
            }
        }
    }

    fn integer(&self, name: &str) -> Result<i64, ErrorKind> {
        match self.numbers::<i64>(name)?[..] {
            [value] => Ok(value),
            ref values => Err(expected_at(name, "1 value".to_owned(), values.len())),
        }
    }

    /// An integer that is not negative.
    fn count(&self, name: &str) -> Result<usize, ErrorKind> {
        let value = self.integer(name)?;
        usize::try_from(value)
            .map_err(|_| expected_at(name, "a nonnegative integer".to_owned(), value))
    }

    /// A string, in whatever encoding; empty where there is none.
    fn text(&self, name: &str) -> String {
        let strings = self.dataset(name).ok().and_then(|data| data.read_strings_lossy().ok());
        strings.and_then(|strings| strings.into_iter().next()).unwrap_or_default()
    }

    /// `[W V; Vᵀ R]` and `[q; s]`, where there are `V` and `R`.
    fn bordered(&self, group: &str, W: Sparse, q: &mut Vec<f64>) -> Result<Sparse, ErrorKind> {
        let (V, R) = (format!("{group}/V"), format!("{group}/R"));
        match (self.has_group(&V), self.has_group(&R)) {
            (false, false) => return Ok(W),
            (true, true) => {}
            (true, false) => return Err(expected_at(&R, "a matrix beside V".into(), "nothing")),
            (false, true) => return Err(expected_at(&V, "a matrix beside R".into(), "nothing")),
        }
        let m = q.len();
        let s = self.reals(&format!("{group}/vectors/s"))?;
        let V = self.matrix(&V, (m, s.len()))?;
        let R = self.matrix(&R, (s.len(), s.len()))?;
        let mut triplets: Vec<_> = W.iter().collect();
        triplets.extend(V.iter().flat_map(|(i, j, x)| [(i, m + j, x), (m + j, i, x)]));
        triplets.extend(R.iter().map(|(i, j, x)| (m + i, m + j, x)));
        q.extend(s);
        Ok(Sparse::from_triplets(q.len(), q.len(), &triplets))
    }

    /// `(M, [H G])` with `f`, and `[w; b]`, where there is a `G`.
    fn pair(&self, group: &str, m: usize, w: &mut Vec<f64>) -> Result<Global, ErrorKind> {
        let f = self.reals(&format!("{group}/vectors/f"))?;
        let n = f.len();
        let mass = self.matrix(&format!("{group}/M"), (n, n))?;
        let mut H = self.matrix(&format!("{group}/H"), (n, m))?;
        let G = format!("{group}/G");
        if self.has_group(&G) {
            let b = self.reals(&format!("{group}/vectors/b"))?;
            let G = self.matrix(&G, (n, b.len()))?;
            let mut triplets: Vec<_> = H.iter().collect();
            triplets.extend(G.iter().map(|(i, j, x)| (i, m + j, x)));
            w.extend(b);
            H = Sparse::from_triplets(n, w.len(), &triplets);
        }
        Ok(Global::new(mass, H, f)?)
    }

    /// A matrix, which must have this shape.
    fn matrix(&self, name: &str, expected: (usize, usize)) -> Result<Sparse, ErrorKind> {
        let part = |of: &str| format!("{name}/{of}");
        let (m, n) = (self.count(&part("m"))?, self.count(&part("n"))?);
        if (m, n) != expected {
            let expected = format!("a matrix of {} × {}", expected.0, expected.1);
            return Err(expected_at(name, expected, format!("{m} × {n}")));
        }
        let nz = self.integer(&part("nz"))?;
        let (p, i) = (self.numbers::<i64>(&part("p"))?, self.numbers::<i64>(&part("i"))?);
        let x = self.reals(&part("x"))?;
        let mut triplets = Vec::with_capacity(x.len());
        let mut add = |i: usize, j: usize, x: f64| {
            if x != 0.0 {
                triplets.push((i, j, x));
            }
        };
        match usize::try_from(nz) {
            Ok(nz) => {
                let (p, i) = (first(&part("p"), &p, nz)?, first(&part("i"), &i, nz)?);
                let x = first(&part("x"), &x, nz)?;
                let fits = |rows: &[i64], cols: &[i64]| {
                    rows.iter().all(|&i| index(i, m).is_some())
                        && cols.iter().all(|&j| index(j, n).is_some())
                };
                let swapped = !fits(i, p) && fits(p, i);
                let (rows, cols) = if swapped { (p, i) } else { (i, p) };
                for k in 0..nz {
                    let i = checked(&part("i"), k, rows[k], m)?;
                    add(i, checked(&part("p"), k, cols[k], n)?, x[k]);
                }
            }
            Err(_) => {
                let (outer, inner) = match nz {
                    -1 => (n, m),
                    -2 => (m, n),
                    _ => return Err(expected_at(&part("nz"), "at least -2".to_owned(), nz)),
                };
                let pointers = first(&part("p"), &p, outer + 1)?;
                let mut end = 0;
                for (k, range) in pointers.windows(2).enumerate() {
                    let most = i.len().min(x.len());
                    let next = usize::try_from(range[1]).ok();
                    let next = next.filter(|next| (end..=most).contains(next) && pointers[0] == 0);
                    let Some(next) = next else {
                        let what = format!("`/{name}/p[{}]`", k + 1);
                        let (expected, found) = (format!("{end} to {most}"), range[1].to_string());
                        return Err(ErrorKind::Expected { what, expected, found });
                    };
                    for e in end..next {
                        let other = checked(&part("i"), e, i[e], inner)?;
                        match nz {
                            -1 => add(other, k, x[e]),
                            _ => add(k, other, x[e]),
                        }
                    }
                    end = next;
                }
            }
        }
        let sparse = Sparse::from_triplets(m, n, &triplets);
        let wrong = sparse.iter().find(|(_, _, x)| !x.is_finite());
        match wrong {
            None => Ok(sparse),
            Some((i, j, _)) => {
                Err(ErrorKind::SumTooLarge { what: format!("`/{name}`, entry ({i}, {j})") })
            }
        }
    }

    /// `r`, then `l`, of a guess or solution, where they fit the problem.
    fn unknowns(&self, of: &str, m: usize, size: usize) -> Option<Vec<f64>> {
        let mut z = self.reals(&format!("{of}/r")).ok().filter(|r| r.len() == m)?;
        if size > m {
            let l = self.reals(&format!("{of}/l")).ok().filter(|l| l.len() == size - m);
            z.extend(l.unwrap_or_else(|| vec![0.0; size - m]));
        }
        Some(z)
    }
}

fn index(i: i64, size: usize) -> Option<usize> {
    usize::try_from(i).ok().filter(|i| *i < size)
}

/// The index at place `k`, below `size`.
fn checked(name: &str, k: usize, i: i64, size: usize) -> Result<usize, ErrorKind> {
    index(i, size).ok_or_else(|| {
        let (what, expected) = (format!("`/{name}[{k}]`"), format!("an index below {size}"));
        ErrorKind::Expected { what, expected, found: i.to_string() }
    })
}

/// The first values of a dataset, which may be longer.
fn first<'a, T>(name: &str, values: &'a [T], size: usize) -> Result<&'a [T], ErrorKind> {
    let too_short = || expected_at(name, format!("{size} values"), values.len());
    values.get(..size).ok_or_else(too_short)
}

fn damaged(cause: String) -> ErrorKind {
    ErrorKind::Hdf5 { cause }
}

fn said(error: Hdf5Error) -> ErrorKind {
    damaged(cause(&error))
}
