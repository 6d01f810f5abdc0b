//! Writing the text forms, with all digits.

use super::contacts::Law;
use super::write::{ContactsOf, ProblemWriteError, blocks, is_nonnegative};
use super::{Kind, StoredProblem};
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::{Block, Operator, Problem, Set};
use std::fmt::Write;

/// The line that readers skip.
const BANNER: &str = "written by Saltus";

/// The text of a problem.
pub(super) fn write(stored: &StoredProblem) -> Result<String, ProblemWriteError> {
    let (kind, problem) = (stored.kind, &stored.problem);
    let mut text = String::new();
    let result = match kind {
        Kind::Lcp | Kind::Relay | Kind::Mlcp => boxes(&mut text, kind, problem),
        Kind::Soclcp => soclcp(&mut text, problem),
        Kind::Plasticity => plasticity(&mut text, problem),
        Kind::Gmp => gmp(&mut text, problem),
        Kind::Avi => Err("its set cannot be stored".to_owned()),
        _ => {
            let contacts = ContactsOf::new(stored)?;
            friction(&mut text, problem, &contacts)
        }
    };
    match result {
        Ok(()) => Ok(text),
        Err(what) => Err(ProblemWriteError::Content { kind, what }),
    }
}

/// What does not fit the kind.
type Wrong = Result<(), String>;

fn under(unknown: usize, set: &Set) -> String {
    format!("unknown {unknown} is under {}", set.name())
}

fn boxes(text: &mut String, kind: Kind, problem: &Problem) -> Wrong {
    let mut start = 0;
    for Block { size, set } in blocks(problem) {
        let fits = match kind {
            Kind::Lcp => is_nonnegative(&set),
            Kind::Mlcp => set == Set::Free || is_nonnegative(&set),
            _ => set.bounds().is_some(),
        };
        if !fits {
            return Err(under(start, &set));
        }
        start += size;
    }
    match kind {
        Kind::Mlcp => {
            let blocks = blocks(problem);
            let free = |block: &&Block| block.set == Set::Free;
            let equalities: usize = blocks.iter().filter(free).map(|block| block.size).sum();
            line(text, ["1", "0"]);
            line(text, [equalities, problem.len() - equalities]);
            let mut ends = vec![0];
            blocks.iter().for_each(|block| ends.push(ends[ends.len() - 1] + block.size));
            line(text, ends);
            line(text, blocks.iter().map(|block| u8::from(block.set != Set::Free)));
        }
        _ => line(text, [problem.len()]),
    }
    map(text, problem)?;
    numbers(text, problem.q());
    if kind == Kind::Relay {
        numbers(text, problem.lower());
        numbers(text, problem.upper());
    }
    Ok(())
}

fn friction(text: &mut String, problem: &Problem, contacts: &ContactsOf) -> Wrong {
    if contacts.equalities > 0 {
        return Err(under(problem.len() - contacts.equalities, &Set::Free));
    }
    line(text, [contacts.law.size(), contacts.mu.len()]);
    match problem.global() {
        Some(global) => {
            sparse(text, global.mass());
            sparse(text, global.H());
            numbers(text, global.f());
        }
        None => map(text, problem)?,
    }
    numbers(text, problem.q());
    numbers(text, &contacts.mu);
    if Law::ROLLING.contains(&contacts.law) {
        numbers(text, &contacts.mu_r);
    }
    Ok(())
}

fn soclcp(text: &mut String, problem: &Problem) -> Wrong {
    let (mut ends, mut tau) = (vec![0], Vec::new());
    for Block { size, set } in blocks(problem) {
        let end = ends[ends.len() - 1];
        let Set::SecondOrder { mu } = set else { return Err(under(end, &set)) };
        ends.push(end + size);
        tau.push(mu);
    }
    line(text, [problem.len(), tau.len()]);
    map(text, problem)?;
    numbers(text, problem.q());
    line(text, ends);
    numbers(text, &tau);
    Ok(())
}

fn plasticity(text: &mut String, problem: &Problem) -> Wrong {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut is_cone = true;
    for (k, Block { set, .. }) in blocks(problem).into_iter().enumerate() {
        let cone = match set {
            Set::DruckerPrager { eta, theta } => {
                first.push(eta);
                second.push(theta);
                true
            }
            Set::VonMises { sigma_y } => {
                first.push(sigma_y);
                false
            }
            other => return Err(under(3 * k, &other)),
        };
        if k > 0 && cone != is_cone {
            return Err("it has yield surfaces of both models".to_owned());
        }
        is_cone = cone;
    }
    line(text, [3, first.len(), if is_cone { 1 } else { 2 }]);
    map(text, problem)?;
    numbers(text, problem.q());
    numbers(text, &first);
    if is_cone {
        numbers(text, &second);
    }
    Ok(())
}

fn gmp(text: &mut String, problem: &Problem) -> Wrong {
    let blocks = blocks(problem);
    let mut ends = vec![0];
    let mut laws = String::new();
    for Block { size, set } in &blocks {
        let start = ends[ends.len() - 1];
        match *set {
            Set::Free => line(&mut laws, [2]),
            Set::Coulomb3 { mu } => line(&mut laws, [format!("4 {mu:e}")]),
            ref set if is_nonnegative(set) => line(&mut laws, [0]),
            ref set => return Err(under(start, set)),
        }
        ends.push(start + size);
    }
    in_blocks(text, &matrix_of(problem)?, &ends);
    numbers(text, problem.q());
    text.push_str(&laws);
    Ok(())
}

fn matrix_of(problem: &Problem) -> Result<Sparse, String> {
    match problem.matrix() {
        Operator::Dense(matrix) => Ok(Sparse::from_dense(matrix)),
        Operator::Sparse(matrix) => Ok(matrix.clone()),
        Operator::Global(_) | Operator::Function(_) => Err("its map is not a matrix".to_owned()),
    }
}

/// The matrix of a problem, as it is stored.
fn map(text: &mut String, problem: &Problem) -> Wrong {
    match problem.matrix() {
        Operator::Dense(matrix) => dense(text, matrix),
        Operator::Sparse(matrix) => sparse(text, matrix),
        Operator::Global(_) | Operator::Function(_) => {
            return Err("its map is not a matrix".to_owned());
        }
    }
    Ok(())
}

fn dense(text: &mut String, matrix: &Matrix) {
    line(text, [0]);
    line(text, [matrix.rows(), matrix.cols()]);
    line(text, [matrix.rows(), matrix.cols()]);
    for j in 0..matrix.cols() {
        let column: Vec<f64> = (0..matrix.rows()).map(|i| matrix[(i, j)]).collect();
        numbers(text, &column);
    }
}

fn sparse(text: &mut String, matrix: &Sparse) {
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.len());
    line(text, [2]);
    line(text, [rows]);
    line(text, [cols]);
    line(text, [1]);
    line(text, [BANNER]);
    line(text, [format!("triplet: {rows}-by-{cols}, nzmax: {nnz} nnz: {nnz}")]);
    for (i, j, x) in matrix.iter() {
        line(text, [format!("    {i} {j} : {x:e}")]);
    }
}

/// A square matrix in blocks that end there; those on the diagonal are always written.
fn in_blocks(text: &mut String, matrix: &Sparse, ends: &[usize]) {
    let number = ends.len() - 1;
    line(text, [1, matrix.rows(), matrix.cols()]);
    let of_column = |j: usize| ends.partition_point(|end| *end <= j) - 1;
    let mut columns: Vec<Vec<usize>> = Vec::with_capacity(number);
    for r in 0..number {
        let rows = ends[r]..ends[r + 1];
        let mut found: Vec<usize> =
            rows.flat_map(|i| matrix.row(i)).map(|entry| of_column(entry.col)).collect();
        found.push(r);
        found.sort_unstable();
        found.dedup();
        columns.push(found);
    }
    let all: usize = columns.iter().map(Vec::len).sum();
    line(text, [all]);
    if all == 0 {
        return;
    }
    line(text, [number, number]);
    line(text, &ends[1..]);
    line(text, &ends[1..]);
    line(text, [number + 1, all]);
    let mut pointers = vec![0];
    columns.iter().for_each(|row| pointers.push(pointers[pointers.len() - 1] + row.len()));
    line(text, pointers);
    line(text, columns.iter().flatten());
    let mut k = 0;
    for (r, columns) in columns.iter().enumerate() {
        for &c in columns {
            line(text, [k]);
            k += 1;
            for j in ends[c]..ends[c + 1] {
                let column: Vec<f64> = (ends[r]..ends[r + 1]).map(|i| matrix.get(i, j)).collect();
                numbers(text, &column);
            }
        }
    }
}

/// A line of tokens; what is empty has a line too, which readers pass over.
fn line<T: std::fmt::Display>(text: &mut String, tokens: impl IntoIterator<Item = T>) {
    for (k, token) in tokens.into_iter().enumerate() {
        let space = if k == 0 { "" } else { " " };
        let _ = write!(text, "{space}{token}"); // writing to a string does not fail
    }
    text.push('\n');
}

/// Numbers with as many digits as it takes to read them back exactly.
fn numbers(text: &mut String, values: &[f64]) {
    line(text, values.iter().map(|value| format!("{value:e}")));
}
