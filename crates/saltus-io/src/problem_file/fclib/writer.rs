//! Writing FCLIB files, whole or not at all.

use super::super::StoredProblem;
use super::super::write::{ContactsOf, ProblemWriteError};
use super::Form;
use crate::partial::Partial;
use crate::run_file::{cause, fixed_string, padded};
use rust_hdf5::{H5File, H5Group, Hdf5Error};
use saltus_linalg::Sparse;
use saltus_numerics::{Operator, Problem};
use std::path::Path;

/// Writes a problem with friction.
pub(crate) fn write(path: &Path, stored: &StoredProblem) -> Result<(), ProblemWriteError> {
    let kind = stored.kind;
    let form = Form::of(kind).ok_or(ProblemWriteError::NotInFclib { kind })?;
    let contacts = ContactsOf::new(stored)?;
    let problem = &stored.problem;
    let largest = [problem.len(), entries(problem)].into_iter().max().unwrap_or(0);
    if i32::try_from(largest).is_err() {
        return Err(ProblemWriteError::TooLarge { size: largest });
    }

    if let Some(what) = not_of_form(&stored.problem, contacts.equalities) {
        return Err(ProblemWriteError::Content { kind: stored.kind, what });
    }
    let mut partial = Partial::create(path)?;
    let failed = |error: Hdf5Error| ProblemWriteError::Hdf5 {
        path: path.to_path_buf(),
        cause: cause(&error),
    };
    let file = H5File::create(partial.path()).map_err(failed)?;
    partial.claim();
    if let Err(error) = fill(&file, form, stored, &contacts) {
        // by hand, because the library prints when a close in its own drop fails
        partial.remove();
        let _ = file.close_no_sync();
        return Err(failed(error));
    }
    file.close().map_err(failed)?;
    partial.commit().map_err(|error| ProblemWriteError::Hdf5 {
        path: path.to_path_buf(),
        cause: error.to_string(),
    })
}

/// What keeps a matrix from the form `[W V; Vᵀ R]`, of which only `W`, `V` and `R` are stored.
fn not_of_form(problem: &Problem, equalities: usize) -> Option<String> {
    if equalities == 0 || !problem.matrix().is_matrix() {
        return None;
    }
    let (n, m, matrix) = (problem.len(), problem.len() - equalities, problem.matrix());
    for i in m..n {
        for j in 0..m {
            if matrix.get(i, j) != matrix.get(j, i) {
                return Some(format!(
                    "the rows of its equalities are not their transposed columns (at [{i}, {j}])"
                ));
            }
        }
    }
    None
}

/// Most entries of a matrix.
fn entries(problem: &Problem) -> usize {
    match problem.matrix() {
        Operator::Dense(_) | Operator::Function(_) => problem.len().saturating_mul(problem.len()),
        Operator::Sparse(matrix) => matrix.len(),
        Operator::Global(global) => global.mass().len().max(global.H().len()),
    }
}

fn fill(
    file: &H5File,
    form: Form,
    stored: &StoredProblem,
    contacts: &ContactsOf,
) -> Result<(), Hdf5Error> {
    let group = file.create_group(form.group())?;
    integer(&group, "spacedim", contacts.law.size() as i32)?;
    let problem = &stored.problem;
    let m = problem.len() - contacts.equalities;
    let (q, s) = problem.q().split_at(m);
    let vectors = group.create_group("vectors")?;
    reals(&vectors, "mu", &contacts.mu)?;
    if form == Form::GlobalRolling {
        reals(&vectors, "mu_r", &contacts.mu_r)?;
    }
    match problem.matrix() {
        Operator::Global(global) => {
            let n = global.velocities();
            reals(&vectors, "f", global.f())?;
            reals(&vectors, "w", q)?;
            by_triplets(&group, "M", global.mass())?;
            by_triplets(&group, "H", &part(global.H(), 0..n, 0..m))?;
            if !s.is_empty() {
                by_triplets(&group, "G", &part(global.H(), 0..n, m..problem.len()))?;
                reals(&vectors, "b", s)?;
            }
        }
        matrix => {
            let all = match matrix {
                Operator::Sparse(sparse) => sparse.clone(),
                other => Sparse::from_dense(&other.to_dense()),
            };
            reals(&vectors, "q", q)?;
            by_rows(&group, "W", &part(&all, 0..m, 0..m))?;
            if !s.is_empty() {
                by_rows(&group, "V", &part(&all, 0..m, m..problem.len()))?;
                by_rows(&group, "R", &part(&all, m..problem.len(), m..problem.len()))?;
                reals(&vectors, "s", s)?;
            }
        }
    }
    let info = group.create_group("info")?;
    text(&info, "title", &stored.info.title)?;
    text(&info, "description", &stored.info.description)?;
    text(&info, "math_info", &stored.info.math_info)?;

    if !stored.guesses.is_empty() {
        let guesses = file.create_group("guesses")?;
        integer(&guesses, "number_of_guesses", stored.guesses.len() as i32)?;
        for (k, z) in stored.guesses.iter().enumerate() {
            unknowns(&guesses.create_group(&(k + 1).to_string())?, problem, z, m)?;
        }
    }
    if let Some(z) = &stored.reference {
        unknowns(&file.create_group("solution")?, problem, z, m)?;
    }
    Ok(())
}

/// `u`, `r`, and `v`, `l` where there are any.
fn unknowns(group: &H5Group, problem: &Problem, z: &[f64], m: usize) -> Result<(), Hdf5Error> {
    let mut w = vec![0.0; z.len()];
    problem.eval(z, &mut w);
    reals(group, "u", &w[..m])?;
    reals(group, "r", &z[..m])?;
    if z.len() > m {
        reals(group, "l", &z[m..])?;
    }
    if let Some(global) = problem.global() {
        let mut v = vec![0.0; global.velocities()];
        global.velocity(z, &mut v);
        reals(group, "v", &v)?;
    }
    Ok(())
}

/// These rows and columns.
fn part(matrix: &Sparse, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Sparse {
    let inside = |(i, j, _): &(usize, usize, f64)| rows.contains(i) && cols.contains(j);
    let shifted = |(i, j, x)| (i - rows.start, j - cols.start, x);
    let triplets: Vec<_> = matrix.iter().filter(inside).map(shifted).collect();
    Sparse::from_triplets(rows.len(), cols.len(), &triplets)
}

fn by_triplets(parent: &H5Group, name: &str, matrix: &Sparse) -> Result<(), Hdf5Error> {
    let cols: Vec<i32> = matrix.iter().map(|(_, j, _)| j as i32).collect();
    let rows: Vec<i32> = matrix.iter().map(|(i, _, _)| i as i32).collect();
    store(parent, name, matrix, matrix.len() as i32, &cols, &rows)
}

fn by_rows(parent: &H5Group, name: &str, matrix: &Sparse) -> Result<(), Hdf5Error> {
    let mut pointers = vec![0];
    for i in 0..matrix.rows() {
        pointers.push(pointers[i] + matrix.row(i).len() as i32);
    }
    let cols: Vec<i32> = matrix.entries().iter().map(|entry| entry.col as i32).collect();
    store(parent, name, matrix, -2, &pointers, &cols)
}

fn store(
    parent: &H5Group,
    name: &str,
    matrix: &Sparse,
    nz: i32,
    p: &[i32],
    i: &[i32],
) -> Result<(), Hdf5Error> {
    let group = parent.create_group(name)?;
    integer(&group, "m", matrix.rows() as i32)?;
    integer(&group, "n", matrix.cols() as i32)?;
    integer(&group, "nz", nz)?;
    integer(&group, "nzmax", matrix.len() as i32)?;
    integers(&group, "p", p)?;
    integers(&group, "i", i)?;
    let x: Vec<f64> = matrix.entries().iter().map(|entry| entry.value).collect();
    reals(&group, "x", &x)
}

fn integer(group: &H5Group, name: &str, value: i32) -> Result<(), Hdf5Error> {
    integers(group, name, &[value])
}

fn integers(group: &H5Group, name: &str, values: &[i32]) -> Result<(), Hdf5Error> {
    let dataset = group.new_dataset::<i32>().shape([values.len()]).create(name)?;
    if values.is_empty() { Ok(()) } else { dataset.write_raw(values) }
}

fn reals(group: &H5Group, name: &str, values: &[f64]) -> Result<(), Hdf5Error> {
    let dataset = group.new_dataset::<f64>().shape([values.len()]).create(name)?;
    if values.is_empty() { Ok(()) } else { dataset.write_raw(values) }
}

fn text(group: &H5Group, name: &str, value: &str) -> Result<(), Hdf5Error> {
    let builder = group.new_dataset::<u8>().scalar();
    let dataset = builder.datatype(fixed_string(value.len())).create(name)?;
    dataset.write_raw_bytes(&padded([value], value.len()))
}
