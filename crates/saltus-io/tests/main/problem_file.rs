//! Stored problems: every form has its known answer, and wrong files are told where they are wrong.

#[path = "problem_file/contacts.rs"]
mod contacts;
#[path = "problem_file/fclib.rs"]
mod fclib;
#[path = "problem_file/shared.rs"]
mod shared_set;

use saltus_io::problem_file::{ErrorKind, Kind, ProblemFileError, StoredProblem, parse, read};
use saltus_linalg::Matrix;
use saltus_numerics::{Operator, Solver, Status, solve};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/problems").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(testdata(name)).unwrap()
}

/// Reads a file whose folder says what it is, and expects these data and this answer.
#[track_caller]
fn check(name: &str, q: [f64; 3], bounds: [(f64, f64); 3], z: [f64; 3]) -> StoredProblem {
    let stored = read(&testdata(name), None).unwrap();
    assert_eq!(stored.kind.name(), name.split('/').next().unwrap());
    let problem = &stored.problem;
    assert_eq!(problem.q(), q);
    // the parts of an mlcp have the equality, unknown 1, first
    let order = if name.ends_with("parts.dat") || name.ends_with("older.dat") {
        [1, 0, 2]
    } else {
        [0, 1, 2]
    };
    for (i, &row) in order.iter().enumerate() {
        for (j, &col) in order.iter().enumerate() {
            assert_eq!(problem.matrix().get(i, j), M[row][col], "{name}, entry ({i}, {j})");
        }
    }
    let found: Vec<(f64, f64)> =
        problem.lower().iter().copied().zip(problem.upper().iter().copied()).collect();
    assert_eq!(found, bounds);
    for solver in ["auto", "lemke", "enumeration"] {
        let solution = solve(problem, &Solver::from_name(solver).unwrap(), None).unwrap();
        assert_eq!(solution.report.status, Status::Solved, "{name}, {solver}");
        for (found, expected) in solution.z.iter().zip(z) {
            assert!((found - expected).abs() < 1e-12, "{name}, {solver}: {:?}", solution.z);
        }
    }
    stored
}

const INF: f64 = f64::INFINITY;
const M: [[f64; 3]; 3] = [[2.0, 1.0, 0.0], [-1.0, 3.0, 1.0], [0.0, 0.5, 2.0]];

#[test]
fn lcp_in_every_storage() {
    let matrix = Matrix::from(M);
    for name in ["dense", "fortran", "blocks", "triplet", "columns", "rows"] {
        let file = format!("lcp/{name}.dat");
        let stored = check(&file, [-2.0, 1.0, -4.0], [(0.0, INF); 3], [1.0, 0.0, 2.0]);
        assert_eq!(*stored.problem.matrix(), Operator::Dense(matrix.clone()), "{name}");
        assert_eq!(stored.name, name);
        let answer = (name == "dense").then(|| vec![1.0, 0.0, 2.0]);
        assert_eq!(stored.reference, answer, "{name}");
    }
}

#[test]
fn mlcp_in_every_form() {
    let (free, other) = ((-INF, INF), (0.0, INF));
    for name in ["both", "tagged"] {
        let stored = check(
            &format!("mlcp/{name}.dat"),
            [0.0, 7.0, 4.0],
            [other, free, other],
            [1.0, -2.0, 0.0],
        );
        assert_eq!(stored.reference.is_some(), name == "tagged");
    }
    for name in ["parts", "older"] {
        check(&format!("mlcp/{name}.dat"), [7.0, 0.0, 4.0], [free, other, other], [-2.0, 1.0, 0.0]);
    }
}

#[test]
fn relay_with_infinite_bounds() {
    for name in ["relay/dense.dat", "relay/blocks.dat"] {
        let bounds = [(-1.0, 1.0), (0.0, 1.0), (-INF, 0.5)];
        check(name, [3.0, -3.0, -2.0], bounds, [-1.0, 0.5, 0.5]);
    }
}

#[test]
fn large_matrices_with_few_entries_are_kept_sparse() {
    let n = 80;
    let mut text = format!("{n}\n0\n{n} {n}\n{n} {n}\n");
    for j in 0..n {
        for i in 0..n {
            text += if i == j { "2 " } else { "0 " };
        }
    }
    text += &"-1 ".repeat(n);
    let stored = parse(&text, Kind::Lcp).unwrap();
    let Operator::Sparse(matrix) = stored.problem.matrix() else { panic!("dense") };
    assert_eq!(matrix.len(), n);
    let solution = solve(&stored.problem, &Solver::default(), None).unwrap();
    assert!(solution.z.iter().all(|z| *z == 0.5));
}

#[test]
fn nothing_is_a_problem_too() {
    let stored = parse("0 0 0 0 0 0", Kind::Lcp).unwrap();
    assert!(stored.problem.is_empty() && stored.reference.is_none());
    let solution = solve(&stored.problem, &Solver::default(), None).unwrap();
    assert_eq!(solution.report.status, Status::Solved);
    assert!(parse("1 1 0 0 0", Kind::Mlcp).is_err()); // without its matrix
}

/// Parses a text and expects it to be wrong there, in these words.
#[track_caller]
fn check_wrong(kind: Kind, text: &str, expected: &str) -> ProblemFileError {
    let error = parse(text, kind).unwrap_err();
    assert_eq!(error.to_string(), expected);
    error
}

#[test]
fn wrong_numbers() {
    let lcp = |text: &str, expected: &str| {
        check_wrong(Kind::Lcp, text, expected);
    };
    lcp("", "line 1, column 1: the file is empty, expected a problem of kind `lcp`");
    lcp(" \n\t ", "line 1, column 1: the file is empty, expected a problem of kind `lcp`");
    lcp("x", "line 1, column 1: number of unknowns: expected a nonnegative integer, found `x`");
    lcp("-2 0", "line 1, column 1: number of unknowns: expected a nonnegative integer, found `-2`");
    lcp(
        "1.5 0",
        "line 1, column 1: number of unknowns: expected a nonnegative integer, found `1.5`",
    );
    lcp(
        "1\n7 1 1 1 1 1 1",
        "line 2, column 1: storage of the matrix: expected 0 (dense), 1 (sparse blocks) or 2 (sparse), found 7",
    );
    lcp(
        "2 0\n3 2 3 2 1 1 1 1",
        "line 2, column 1: the matrix is 3 × 2, expected 2 × 2 (rectangular problems cannot be solved)",
    );
    lcp("2 0\n3 3 3 3 1 1 1 1", "line 2, column 1: the matrix is 3 × 3, expected 2 × 2");
    lcp("1 0 1 1\n2 1 5 5", "line 2, column 1: rows of the matrix, again: expected 1, found 2");
    lcp(
        "2 0 2 2 2 2\r\n1 2\r\n 3 nan\r\n1 2",
        "line 3, column 4: `M[1][1]`: expected a number, found nan",
    );
    lcp(
        "1 0 1 1 1 1\n-inf\n1",
        "line 2, column 1: `M[0][0]`: expected a finite number, found -inf",
    );
    lcp("1 0 1 1 1 1\n1\n\tinf", "line 3, column 2: `q[0]`: expected a finite number, found inf");
    lcp("1 0 1 1 1 1 1 1e999", "line 1, column 15: `q[0]`: the number 1e999 is too large");
    lcp("1 0 1 1 1 1 1 ⟂", "line 1, column 15: `q[0]`: expected a number, found `⟂`");
    lcp("1 0 1 1 1 1 4", "line 1, column 14: `q[0]`: expected a number, found the end of the file");
}

#[test]
fn wrong_sizes_take_no_memory() {
    let billion = "1000000000";
    for (kind, text) in [
        (Kind::Lcp, format!("{billion} 0 {billion} {billion} {billion} {billion} 1 2 3")),
        (Kind::Lcp, format!("{0} 2 {0} {0} 1\n\ntriplet: {0}-by-{0}, nzmax: 0 nnz: 0\n", billion)),
        (Kind::Relay, "18446744073709551615 0 1 1 1 1".to_owned()),
        (Kind::Mlcp, format!("1 1 {billion} {billion} 0")),
        (Kind::Mlcp, "0 1 18446744073709551615 18446744073709551615 0".to_owned()),
        (Kind::Mlcp, format!("{billion} {billion} 2000000000 1 2 3")),
        (Kind::Lcp, format!("1 1 1 1 {billion} 1 1 1 1 2 {billion} 0 {billion} 0 0 1 1")),
        (Kind::Lcp, format!("1 2 1 1 1\n\ntriplet: 1-by-1, nzmax: 0 nnz: {billion}\n0 0 : 1\n1")),
        (Kind::Lcp, format!("{0} 0 40 40 40 40 {0}", "40 ".repeat(40))),
    ] {
        let error = parse(&text, kind).unwrap_err();
        let short = matches!(*error.kind, ErrorKind::TooShort { .. } | ErrorKind::Expected { .. });
        assert!(short && error.line > 0, "{text}: {error}");
    }
    let error = parse("1000000000 0 1 1 1 1", Kind::Lcp).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, column 1: number of unknowns: 1000000000 numbers should follow, but the file has only 10 more bytes"
    );
}

/// Replaces a piece of a good file, and expects these words.
#[track_caller]
fn check_changed(name: &str, old: &str, new: &str, expected: &str) {
    let text = text(name);
    assert!(text.contains(old), "{old}");
    let kind = name.split('/').next().unwrap().parse().unwrap();
    check_wrong(kind, &text.replacen(old, new, 1), expected);
}

#[test]
fn wrong_matrices() {
    check_changed(
        "lcp/blocks.dat",
        "2 3\n2 3\n",
        "2 3\n2 2\n",
        "line 9, column 3: end of column 1 of blocks: expected 3, found 2",
    );
    check_changed(
        "lcp/blocks.dat",
        "0 1 0 1\n",
        "0 2 0 1\n",
        "line 13, column 3: column of block 1: expected 0 to 1, found 2",
    );
    check_changed(
        "lcp/blocks.dat",
        "0 2 4\n",
        "0 5 4\n",
        "line 12, column 3: pointer 1 to blocks: expected 0 to 4, found 5",
    );
    check_changed(
        "lcp/blocks.dat",
        "1\n 0 1\n",
        "0\n 0 1\n",
        "line 17, column 1: number of block 1: expected 1, found 0",
    );
    check_changed(
        "lcp/triplet.dat",
        "triplet:",
        "triplets",
        "line 7, column 1: head of the sparse matrix: expected `M-by-N, nzmax: Z nnz: K`, perhaps after `triplet:` or `csr:`, found `triplets 3-by-3, nzmax: 9 nnz: 8`",
    );
    check_changed(
        "lcp/triplet.dat",
        "2 1 : 0.5",
        "3 1 : 0.5",
        "line 14, column 5: row of entry 6: expected 0 to 2, found 3",
    );
    check_changed(
        "lcp/triplet.dat",
        "nnz: 8",
        "nnz: 9",
        "line 16, column 1: row of entry 8: expected a nonnegative integer, found `-2`",
    );
    check_changed(
        "lcp/triplet.dat",
        "3\n1\n",
        "3\n4\n",
        "line 5, column 1: form of the sparse matrix: expected 1, found 4",
    );
    check_changed(
        "lcp/columns.dat",
        "to 5",
        "to 8",
        "line 12, column 28: col 1 of the sparse matrix: expected 2 to 7, found `8`",
    );
    check_changed(
        "lcp/rows.dat",
        "row 1",
        "col 1",
        "line 11, column 5: row 1 of the sparse matrix: expected `row`, found `col`",
    );
}

#[test]
fn wrong_forms() {
    check_changed(
        "relay/dense.dat",
        " 1.0  1.0  0.5",
        " 1.0 -1.0  0.5",
        "line 11, column 6: unknown 1: the bounds [0, -1] are not an interval",
    );
    check_changed(
        "relay/dense.dat",
        "-inf",
        " nan",
        "line 10, column 12: `lower[2]`: expected a number, found nan",
    );
    check_changed(
        "mlcp/both.dat",
        "0 1 2 3\n",
        "0 1 4 3\n",
        "line 5, column 5: first row of block 2: expected 2 to 3, found 4",
    );
    check_changed(
        "mlcp/both.dat",
        "1 0 1\n",
        "1 2 1\n",
        "line 6, column 3: flag of block 1 (0: equality, 1: complementarity): expected 0 to 1, found 2",
    );
    check_changed(
        "mlcp/both.dat",
        "1 0 1\n",
        "0 0 1\n",
        "line 3, column 1: equalities in the blocks: expected 1, found 2",
    );
    check_changed(
        "mlcp/both.dat",
        "-1.0 1.0\n",
        "-1.0 1.5\n",
        "line 15, column 2: `M[1][2]` is 1 in the first form of the problem and 1.5 in the second, expected the same",
    );
    check_changed(
        "mlcp/parts.dat",
        "0 1\n",
        "0 0\n",
        "line 1, column 1: header of the mlcp: expected at least one of the two flags to be 1, found 0 and 0",
    );
    check_changed(
        "mlcp/older.dat",
        "1 2 3\n",
        "1 2 4\n",
        "line 1, column 5: the matrix is 4 × 3, expected 3 × 3 (rectangular problems cannot be solved)",
    );
    check_wrong(
        Kind::Mlcp,
        &text("lcp/dense.dat"),
        "line 1, column 1: header of the mlcp: expected two flags 0 or 1, or two sizes with a positive second one, found 3 and 0, as in an lcp or relay",
    );
}

#[test]
fn kinds() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    let error = parse("1 0 1 1 1 1 2 3", Kind::Avi).unwrap_err();
    assert_eq!(
        error.message,
        "kind `avi` cannot be read: the file does not say which set it is over"
    );
    let unknown = |name: &str| name.parse::<Kind>().unwrap_err().to_string();
    assert_eq!(unknown("rely"), "there is no kind of problem `rely`; did you mean `relay`?");
    assert!(
        unknown("zzzzzzzz").starts_with("there is no kind of problem `zzzzzzzz`; there are lcp, ")
    );
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("saltus-problems-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("lcp")).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).unwrap();
        folder.join(name)
    };
    let plain = write("x.dat", b"1 0 1 1 1 1 2 -4 latin \xe9");
    assert!(matches!(*read(&plain, None).unwrap_err().kind, ErrorKind::NoKind));
    assert_eq!(read(&plain, Some(Kind::Lcp)).unwrap().problem.q(), [-4.0]);
    let wrong = write("lcp/y.dat", b"1 0 1 1 1 1\n2 \xff");
    let error = read(&wrong, None).unwrap_err();
    assert_eq!((error.line, error.column, error.file), (2, 3, wrong.display().to_string()));
    let hdf5 = write("lcp/z.dat", b"\x89HDF\r\n\x1a\n\0\0");
    let error = read(&hdf5, Some(Kind::Lcp)).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Hdf5 { .. }), "{error}");
    for missing in [folder.join("nope.dat"), folder.clone()] {
        let error = read(&missing, Some(Kind::Lcp)).unwrap_err();
        assert!(matches!(*error.kind, ErrorKind::Read { .. }), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A small deterministic generator: Knuth's linear congruential one.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// A text with a few random changes.
fn mutated(text: &str, random: &mut Random) -> String {
    const PIECES: [&str; 22] = [
        "0",
        "1",
        "2",
        "3",
        "-1",
        " ",
        "\n",
        "\r\n",
        ":",
        "inf",
        "nan",
        "1d-3",
        "1e400",
        "λ",
        ".",
        "1000000000",
        "18446744073709551615",
        "18446744073709551616",
        "-",
        "col 1",
        "nnz: 7",
        "\0",
    ];
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(4) {
        let at = text.floor_char_boundary(random.below(text.len()));
        let end = text.floor_char_boundary((at + random.below(10)).min(text.len()));
        match random.below(5) {
            0 => text.replace_range(at..end, ""),
            1 => text.replace_range(at..end, PIECES[random.below(PIECES.len())]),
            2 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
            3 => text.truncate(at),
            _ => {
                let piece = text[at..end].to_owned();
                let at = text.floor_char_boundary(random.below(text.len()));
                text.insert_str(at, &piece);
            }
        }
    }
    text
}

/// Mutates texts of a kind; `SALTUS_FUZZ=1000000` tries more.
fn fuzz(kind: Kind, texts: &[String]) {
    let count = std::env::var("SALTUS_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut random = Random(texts.len() as u64);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..count {
        let text = mutated(&texts[random.below(texts.len())], &mut random);
        match parse(&text, kind) {
            Ok(stored) => {
                right += 1;
                // whatever was read is a problem whose data are in the text
                assert!(stored.problem.len() <= text.len());
                assert!(stored.problem.q().iter().all(|q| q.is_finite()));
            }
            Err(error) => {
                wrong += 1;
                assert!(!error.message.is_empty());
                assert!(error.line >= 1 && error.column >= 1, "{text:?}: {error}");
                assert!(error.line <= text.matches('\n').count() + 1, "{text:?}: {error}");
            }
        }
    }
    assert!(right > count / 100 && wrong > count / 10, "{right} right, {wrong} wrong");
}

/// Mutates files of a kind.
fn fuzz_files(kind: Kind, names: &[&str]) {
    let file = |name: &&str| text(&format!("{kind}/{name}.dat"));
    fuzz(kind, &names.iter().map(file).collect::<Vec<_>>());
}

/// Mutates the inline texts of a kind.
fn fuzz_texts(kind: Kind) {
    let texts = contacts::TEXTS.iter().filter(|(of, _)| *of == kind);
    fuzz(kind, &texts.map(|(_, text)| (*text).to_owned()).collect::<Vec<_>>());
}

#[test]
fn mutated_lcp() {
    fuzz_files(Kind::Lcp, &["dense", "fortran", "blocks", "triplet", "columns", "rows"]);
}

#[test]
fn mutated_mlcp() {
    fuzz_files(Kind::Mlcp, &["both", "tagged", "parts", "older"]);
}

#[test]
fn mutated_relay() {
    fuzz_files(Kind::Relay, &["dense", "blocks"]);
}

#[test]
fn mutated_friction() {
    fuzz_texts(Kind::Fc2d);
    fuzz_texts(Kind::Fc3d);
}

#[test]
fn mutated_global_friction() {
    fuzz_texts(Kind::Gfc2d);
    fuzz_texts(Kind::Gfc3d);
}

#[test]
fn mutated_rolling() {
    fuzz_texts(Kind::Rfc3d);
    fuzz_texts(Kind::Grfc3d);
}

#[test]
fn mutated_cones_and_surfaces() {
    fuzz_texts(Kind::Soclcp);
    fuzz_texts(Kind::Plasticity);
}

#[test]
fn mutated_gmp() {
    fuzz_texts(Kind::Gmp);
}

/// The larger set of problems beside the repository, where it is at hand.
#[expect(clippy::print_stderr)] // a test says that it is skipped
fn shared(folder: &str) -> Vec<PathBuf> {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems");
    let Ok(entries) = std::fs::read_dir(problems.join(folder)) else {
        eprintln!("skipped: ../shared not found");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Files that state no problem, or one without a solution.
const NO_SOLUTION: [&str; 1] = ["lcp_pang"];
const NO_PROBLEM: [&str; 1] = ["Rectangular_mlcp"];

#[test]
#[expect(clippy::print_stderr)] // the table of what was reached
fn every_solvable_problem_of_the_shared_set_is_solved() {
    for folder in ["lcp", "mlcp", "relay"] {
        for file in shared(folder) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let is_in = |list: &[&str]| list.contains(&name.as_str());
            if is_in(&NO_PROBLEM) {
                assert!(matches!(*read(&file, None).unwrap_err().kind, ErrorKind::Shape { .. }));
                continue;
            }
            let stored = read(&file, None).unwrap();
            assert_eq!(stored.kind.name(), folder);
            for tol in [1e-8, 1e-10] {
                let solver = Solver::default().with_tol(tol);
                let start = Instant::now();
                let solution = solve(&stored.problem, &solver, None).unwrap();
                let (report, seconds) = (solution.report, start.elapsed().as_secs_f64());
                eprintln!("{name}: {report:?}, {seconds:.6} s");
                let is_solved = report.status == Status::Solved;
                assert_eq!(is_solved, report.residual <= tol, "{name}");
                match is_in(&NO_SOLUTION) {
                    true => assert_eq!(report.status, Status::Infeasible, "{name}: {report:?}"),
                    false => assert!(is_solved, "{name}: {report:?}"),
                }
            }
        }
    }
}

/// A stored matrix without a problem around it: the storages as Siconos writes them.
#[test]
fn matrices_of_the_shared_set() {
    let shapes = [("NSM_triplet_162x162", 162, 6174), ("W_102x102", 102, 234)];
    for file in shared("matrix") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let Some((_, n, stored)) = shapes.iter().find(|(known, ..)| *known == name) else {
            continue;
        };
        let text = std::fs::read_to_string(&file).unwrap();
        let problem = parse(&format!("{n}\n{text}\n{}", "1 ".repeat(*n)), Kind::Lcp).unwrap();
        let matrix = problem.problem.matrix().to_dense();
        let nonzeros = matrix.data().iter().filter(|x| **x != 0.0).count();
        assert!(nonzeros <= *stored && nonzeros > stored / 2, "{name}: {nonzeros}");
        assert!(matrix.is_symmetric(1e-4), "{name}");
    }
}

#[test]
fn an_inequality_over_a_polyhedron() {
    // the point of z₀ + z₁ ≤ 1, −z₁ ≤ 0 nearest to (2, 1)
    let text = "2  0 2 2  2 2  1 0 0 1  -2 -1   2  0 2 2  2 2  1 0 1 -1  1 0";
    let stored = parse(text, Kind::Avi).unwrap();
    let solution = solve(&stored.problem, &Solver::default(), None).unwrap();
    assert_eq!(solution.z[..2], [1.0, 0.0]);
    let wrong = |text: &str| parse(text, Kind::Avi).unwrap_err().to_string();
    assert_eq!(
        wrong("1  0 1 1  1 1  1  -2   1  0 1 2  1 2  1 1  1"),
        "line 1, column 29: the matrix `A` is 1 × 2, expected 1 × 1 (rectangular problems cannot be solved)"
    );
}
