//! Problems in HDF5, and what is written: it reads back as what it was.

use super::contacts::TEXTS;
use super::{Random, text};
use rust_hdf5::{H5File, H5Group};
use saltus_io::problem_file::{
    ErrorKind, Info, Kind, ProblemWriteError, StoredProblem, parse, read, write,
};
use saltus_linalg::{Matrix, Sparse};
use saltus_numerics::residual::residual;
use saltus_numerics::{Block, Global, Operator, Problem, Set};
use std::path::{Path, PathBuf};

/// A folder for the files of one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("saltus-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The data of two problems are the same to the last bit.
#[track_caller]
pub fn check_same(a: &Problem, b: &Problem) {
    assert_eq!((a.len(), a.q(), a.measure()), (b.len(), b.q(), b.measure()));
    assert_eq!((a.lower(), a.upper(), a.placed()), (b.lower(), b.upper(), b.placed()));
    match (a.matrix(), b.matrix()) {
        (Operator::Global(a), Operator::Global(b)) => assert_eq!(a, b),
        (a, b) => assert_eq!(a.to_dense(), b.to_dense()),
    }
}

#[test]
fn texts_read_back_as_what_they_were() {
    let folder = Folder::new("texts");
    let boxes = ["lcp/dense", "lcp/triplet", "mlcp/both", "mlcp/parts", "relay/dense"];
    let boxes = boxes.map(|name| {
        (name.split('/').next().unwrap().parse().unwrap(), text(&format!("{name}.dat")))
    });
    let others = TEXTS.map(|(kind, text)| (kind, text.to_owned()));
    for (kind, text) in boxes.into_iter().chain(others) {
        let stored = parse(&text, kind).unwrap();
        let path = folder.file("x.dat");
        write(&path, &stored).unwrap();
        let again = read(&path, Some(kind)).unwrap();
        check_same(&stored.problem, &again.problem);
        assert_eq!(again.name, "x");
        assert_eq!(Kind::of_problem(&stored.problem), Some(kind));
    }
}

#[test]
fn fclib_reads_back_as_what_it_was() {
    let folder = Folder::new("fclib");
    for (kind, text) in TEXTS {
        let mut stored = parse(text, kind).unwrap();
        let n = stored.problem.len();
        stored.info =
            Info { title: "ü".into(), description: String::new(), math_info: "m".into() };
        stored.guesses = vec![vec![0.5; n], vec![0.25; n]];
        let path = folder.file(&format!("{kind}.hdf5"));
        match write(&path, &stored) {
            Ok(()) => {
                let again = read(&path, None).unwrap();
                assert_eq!(again.kind, kind);
                check_same(&stored.problem, &again.problem);
                assert_eq!((again.guesses, again.info), (stored.guesses, stored.info));
                let wrong = read(&path, Some(Kind::Lcp)).unwrap_err();
                assert_eq!(*wrong.kind, ErrorKind::OtherKind { kind: Kind::Lcp, found: kind });
            }
            Err(error) => {
                let has_none =
                    matches!(kind, Kind::Rfc3d | Kind::Soclcp | Kind::Plasticity | Kind::Gmp);
                assert!(has_none && !path.exists(), "{error}");
                assert_eq!(
                    error.to_string(),
                    format!(
                        "problems of kind `{kind}` cannot be stored in HDF5 (FCLIB has none); use a name that ends in .dat"
                    )
                );
            }
        }
    }
    assert!(std::fs::read_dir(&folder.0).unwrap().count() == 5, "no other files");
}

/// W, V, R with 1 = W = R and V = (1, 0, 0)ᵀ: r_N + l + q = 0 and r_N + l + s = 0.
fn bordered() -> StoredProblem {
    let matrix = Matrix::from([
        [2.0, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 3.0],
    ]);
    let blocks =
        [Block { size: 3, set: Set::Coulomb3 { mu: 0.5 } }, Block { size: 1, set: Set::Free }];
    let matrix = Sparse::from_dense(&matrix);
    let problem = Problem::new(matrix, vec![-4.0, 0.0, 0.0, -7.0], &blocks).unwrap();
    StoredProblem::new(problem).unwrap()
}

#[test]
fn equalities_beside_contacts() {
    let folder = Folder::new("equalities");
    let stored = bordered();
    assert_eq!(stored.kind, Kind::Fc3d);
    let path = folder.file("local.h5");
    write(&path, &stored).unwrap();
    let file = H5File::open(&path).unwrap();
    let names = file.dataset_names();
    for name in ["V/x", "R/x", "vectors/s"] {
        assert!(names.contains(&format!("fclib_local/{name}")), "{name}");
    }
    let again = read(&path, None).unwrap();
    check_same(&stored.problem, &again.problem);
    // 2 r + l = 4, r + 3 l = 7
    let mut w = [0.0; 4];
    assert!(residual(&again.problem, &[1.0, 0.0, 0.0, 2.0], &mut w).value < 1e-15);

    // the same from M = 1, H and G: u = v + w, 0 = Gᵀ v + b
    let mass = Sparse::from_dense(&Matrix::identity(3));
    let H = Sparse::from_triplets(
        3,
        4,
        &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 3, 1.0), (1, 3, 1.0)],
    );
    let global = Global::new(mass, H, vec![-1.0, 0.0, 0.0]).unwrap();
    let blocks =
        [Block { size: 3, set: Set::Coulomb3 { mu: 0.5 } }, Block { size: 1, set: Set::Free }];
    let problem = Problem::new(global, vec![0.0, 0.0, 0.0, 0.5], &blocks).unwrap();
    let stored = StoredProblem::new(problem).unwrap();
    assert_eq!(stored.kind, Kind::Gfc3d);
    let path = folder.file("global.h5");
    write(&path, &stored).unwrap();
    check_same(&stored.problem, &read(&path, None).unwrap().problem);
    // the text forms have no place for equalities
    let error = write(&folder.file("x.dat"), &stored).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the problem cannot be stored as kind `gfc3d`: unknown 3 is under Free"
    );
    assert!(!folder.file("x.dat").exists());
}

#[test]
fn what_cannot_be_written() {
    let folder = Folder::new("unwritten");
    let mut stored = parse(TEXTS[0].1, Kind::Fc2d).unwrap();
    let said = |name: &str, stored: &StoredProblem| {
        let path = folder.file(name);
        let error = write(&path, stored).unwrap_err();
        assert!(!path.exists());
        error.to_string().replace(&path.display().to_string(), name)
    };
    assert_eq!(
        said("x.txt", &stored),
        "cannot store a problem as `x.txt`: expected a name that ends in .dat, .hdf5 or .h5"
    );
    assert_eq!(said("none/x.dat", &stored).split(": ").next(), Some("cannot write `none/x.dat`"));
    assert_eq!(said("none/x.h5", &stored).split(": ").next(), Some("cannot write `none/x.h5`"));
    stored.kind = Kind::Gfc2d;
    assert_eq!(
        said("x.h5", &stored),
        "the problem cannot be stored as kind `gfc2d`: its map is not a pair (M, H)"
    );
    stored.kind = Kind::Fc3d;
    assert_eq!(
        said("x.h5", &stored),
        "the problem cannot be stored as kind `fc3d`: unknown 0 is under Coulomb2"
    );
    for kind in [Kind::Lcp, Kind::Mlcp, Kind::Relay, Kind::Soclcp, Kind::Plasticity, Kind::Gmp] {
        stored.kind = kind;
        assert_eq!(
            said("x.dat", &stored),
            format!("the problem cannot be stored as kind `{kind}`: unknown 0 is under Coulomb2")
        );
    }
    let mixed = [
        Block { size: 2, set: Set::Coulomb2 { mu: 0.5 } },
        Block { size: 3, set: Set::SecondOrder { mu: 0.5 } },
    ];
    let mixed = Problem::new(Matrix::identity(5), vec![0.0; 5], &mixed).unwrap();
    assert!(matches!(StoredProblem::new(mixed), Err(ProblemWriteError::NoKind)));
}

/// One contact in space; what a test changes is made before it.
struct Made {
    p: Vec<i32>,
    i: Vec<i32>,
    x: Vec<f64>,
    nz: i32,
    q: Vec<f64>,
    mu: Vec<f64>,
    spacedim: i32,
    size: i32,
}

impl Made {
    fn new() -> Made {
        Made {
            p: vec![0, 1, 2],
            i: vec![0, 1, 2],
            x: vec![2.0, 3.0, 4.0],
            nz: 3,
            q: vec![-1.0, 0.0, 0.0],
            mu: vec![0.5],
            spacedim: 3,
            size: 3,
        }
    }

    fn write(&self, path: &Path) {
        let file = H5File::create(path).unwrap();
        let group = file.create_group("fclib_local").unwrap();
        integers(&group, "spacedim", &[self.spacedim]);
        let vectors = group.create_group("vectors").unwrap();
        reals(&vectors, "q", &self.q);
        reals(&vectors, "mu", &self.mu);
        let W = group.create_group("W").unwrap();
        integers(&W, "m", &[self.size]);
        integers(&W, "n", &[self.size]);
        integers(&W, "nz", &[self.nz]);
        integers(&W, "nzmax", &[77]);
        integers(&W, "p", &self.p);
        integers(&W, "i", &self.i);
        reals(&W, "x", &self.x);
        file.close().unwrap();
    }
}

fn integers(group: &H5Group, name: &str, values: &[i32]) {
    let dataset = group.new_dataset::<i32>().shape([values.len()]).create(name).unwrap();
    dataset.write_raw(values).unwrap();
}

fn reals(group: &H5Group, name: &str, values: &[f64]) {
    let dataset = group.new_dataset::<f64>().shape([values.len()]).create(name).unwrap();
    dataset.write_raw(values).unwrap();
}

#[test]
fn matrices_in_every_form() {
    let folder = Folder::new("forms");
    let path = folder.file("x.hdf5");
    let entry = |made: &Made, i: usize, j: usize| {
        made.write(&path);
        read(&path, None).unwrap().problem.matrix().get(i, j)
    };
    // p has the columns
    let mut made = Made { p: vec![0, 2, 2, 9], i: vec![0, 1, 1, 9], ..Made::new() };
    made.x = vec![1.0, 5.0, 0.5, f64::MAX]; // one entry twice, and what lies beyond nz
    assert_eq!(entry(&made, 1, 2), 5.5);
    // by row and by column, not in order
    let made = Made { nz: -2, p: vec![0, 2, 3, 3], i: vec![2, 0, 1], ..Made::new() };
    assert_eq!((entry(&made, 0, 2), entry(&made, 0, 0)), (2.0, 3.0));
    let made = Made { nz: -1, ..made };
    assert_eq!((entry(&made, 2, 0), entry(&made, 1, 1)), (2.0, 4.0));
}

/// The pointers of a triplet are rows where only that fits: H of 2 × 3 … with rows above 2.
#[test]
fn swapped_triplets() {
    let folder = Folder::new("swapped");
    let stored = parse(super::contacts::GFC3D, Kind::Gfc3d).unwrap();
    let global = stored.problem.global().unwrap();
    // five velocities, three of which the contact sees, the last two among them
    let mass = Sparse::from_dense(&Matrix::identity(5));
    let H = Sparse::from_triplets(5, 3, &[(0, 0, 1.0), (3, 1, 2.0), (4, 2, 3.0)]);
    let pair = Global::new(mass, H, vec![1.0; 5]).unwrap();
    let blocks = [Block { size: 3, set: Set::Coulomb3 { mu: 0.5 } }];
    let problem = Problem::new(pair, vec![0.0; 3], &blocks).unwrap();
    assert_eq!(global.size(), 3);
    let stored = StoredProblem::new(problem).unwrap();
    let path = folder.file("x.hdf5");
    write(&path, &stored).unwrap();
    // swap the names of p and i by swapping their bytes in the file
    let bytes = std::fs::read(&path).unwrap();
    let words = |values: [i32; 3]| values.map(i32::to_le_bytes).concat();
    let (columns, rows) = (words([0, 1, 2]), words([0, 3, 4]));
    let place = |what: &[u8], from: usize| {
        from + bytes[from..].windows(12).position(|window| window == what).unwrap()
    };
    let at_rows = place(&rows, 0);
    let at_columns = (0..at_rows).rev().find(|k| bytes[*k..].starts_with(&columns)).unwrap();
    let mut swapped = bytes.clone();
    swapped[at_rows..at_rows + 12].copy_from_slice(&columns);
    swapped[at_columns..at_columns + 12].copy_from_slice(&rows);
    std::fs::write(&path, swapped).unwrap();
    check_same(&stored.problem, &read(&path, None).unwrap().problem);
}

#[test]
fn wrong_fclib() {
    let folder = Folder::new("wrong-fclib");
    let path = folder.file("x.hdf5");
    let check = |made: Made, expected: &str| {
        made.write(&path);
        let error = read(&path, None).unwrap_err();
        assert_eq!(error.message, expected);
        assert_eq!((error.line, error.file), (0, path.display().to_string()));
    };
    let new = Made::new;
    check(Made { spacedim: 4, ..new() }, "`/fclib_local/spacedim`: expected 2 or 3, found 4");
    check(
        Made { q: vec![1.0; 4], ..new() },
        "`/fclib_local/vectors/q`: expected a multiple of 3 values, found 4",
    );
    check(
        Made { mu: vec![0.5; 2], ..new() },
        "`/fclib_local/vectors/mu`: expected 1 values, found 2",
    );
    check(
        Made { mu: vec![-0.5], ..new() },
        "`/fclib_local/vectors/mu[0]`: expected a number that is not negative, found -0.5",
    );
    check(
        Made { q: vec![0.0, f64::NAN, 0.0], ..new() },
        "`/fclib_local/vectors/q[1]`: expected a finite number, found NaN",
    );
    check(
        Made { x: vec![0.0, 0.0, f64::INFINITY], ..new() },
        "`/fclib_local/W/x[2]`: expected a finite number, found inf",
    );
    check(
        Made { i: vec![0, 1, 3], ..new() },
        "`/fclib_local/W/i[2]`: expected an index below 3, found 3",
    );
    check(
        Made { p: vec![0, 1, -1], ..new() },
        "`/fclib_local/W/p[2]`: expected an index below 3, found -1",
    );
    check(
        Made { size: i32::MAX, ..new() },
        "`/fclib_local/W`: expected a matrix of 3 × 3, found 2147483647 × 2147483647",
    );
    check(Made { nz: 4, ..new() }, "`/fclib_local/W/p`: expected 4 values, found 3");
    check(Made { nz: -3, ..new() }, "`/fclib_local/W/nz`: expected at least -2, found -3");
    check(Made { nz: -2, ..new() }, "`/fclib_local/W/p`: expected 4 values, found 3");
    check(
        Made { nz: -2, p: vec![0, 1, 4, 4], ..new() },
        "`/fclib_local/W/p[2]`: expected 1 to 3, found 4",
    );
    check(
        Made { nz: -2, p: vec![1, 1, 2, 2], ..new() },
        "`/fclib_local/W/p[1]`: expected 0 to 3, found 1",
    );
    check(
        Made { p: vec![0; 3], i: vec![0; 3], x: vec![f64::MAX; 3], ..new() },
        "`/fclib_local/W`, entry (0, 0): the entries at this place add up to too large a number",
    );

    let file = H5File::create(&path).unwrap();
    file.create_group("fclib_global").unwrap();
    file.close().unwrap();
    let said = |path: &Path| read(path, None).unwrap_err().message;
    assert_eq!(said(&path), "`/fclib_global/spacedim`: expected a dataset, found nothing");
    let file = H5File::create(&path).unwrap();
    file.create_group("something").unwrap();
    file.close().unwrap();
    assert_eq!(*read(&path, None).unwrap_err().kind, ErrorKind::NotFclib);
    std::fs::write(&path, b"\x89HDF\r\n\x1a\n\0\0").unwrap();
    assert_eq!(said(&path), "the HDF5 file is damaged: cut off, with 10 of 48 bytes");
    new().write(&path);
    let bytes = std::fs::read(&path).unwrap();
    for end in [9, 60, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..end]).unwrap();
        assert!(said(&path).contains("cut off"), "{end}: {}", said(&path));
    }
}

/// h5py finds everything where FCLIB has it, where a Python with it is at hand: the one that the
/// variable `PYTHON` names, or that of the tests of the Python package.
#[test]
#[expect(clippy::print_stderr)] // a test says that it is skipped
fn other_tools_read_what_is_written() {
    const SCRIPT: &str = "
import sys
try:
    import h5py
except ImportError:
    sys.exit(77)
f = h5py.File(sys.argv[1])
W = f['fclib_local/W']
assert f['fclib_local/spacedim'].shape == (1,) and f['fclib_local/spacedim'].dtype == '<i4'
assert [int(W[k][0]) for k in ('m', 'n', 'nz', 'nzmax')] == [3, 3, -2, 3]
assert W['p'][:].tolist() == [0, 1, 2, 3] and W['i'][:].tolist() == [0, 1, 2]
assert W['x'][:].tolist() == [2.0, 1.0, 1.0] and W['x'].dtype == '<f8'
V = f['fclib_local/V']
assert [int(V[k][0]) for k in ('m', 'n')] == [3, 1]
assert f['fclib_local/R/x'][:].tolist() == [3.0]
v = f['fclib_local/vectors']
assert v['q'][:].tolist() == [-4.0, 0.0, 0.0] and v['s'][:].tolist() == [-7.0]
assert v['mu'][:].tolist() == [0.5]
assert f['fclib_local/info/title'][()] == b'a title'
assert f['guesses/number_of_guesses'][0] == 1
assert f['guesses/1/r'][:].tolist() == [1.0, 0.0, 0.0] and f['guesses/1/l'][:].tolist() == [2.0]
assert f['guesses/1/u'][:].tolist() == [0.0, 0.0, 0.0]
";
    let folder = Folder::new("h5py");
    let mut stored = bordered();
    stored.info.title = "a title".to_owned();
    stored.guesses = vec![vec![1.0, 0.0, 0.0, 2.0]];
    let path = folder.file("x.hdf5");
    write(&path, &stored).unwrap();
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/venv/bin/python");
    let python = std::env::var("PYTHON").unwrap_or(default.to_owned());
    let Ok(said) = std::process::Command::new(python).args(["-c", SCRIPT]).arg(&path).output()
    else {
        eprintln!("skipped: no Python");
        return;
    };
    match said.status.code() {
        Some(77) => eprintln!("skipped: no h5py"),
        code => assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&said.stderr)),
    }
}

/// Files with a few wrong bytes are read or refused, and nothing else.
/// `SALTUS_FUZZ_HDF5=100000` tries more.
#[test]
fn mutated_fclib() {
    let folder = Folder::new("mutated");
    let count: usize =
        std::env::var("SALTUS_FUZZ_HDF5").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let path = folder.file("x.hdf5");
    let mut files = Vec::new();
    for (kind, text) in TEXTS {
        let mut stored = parse(text, kind).unwrap();
        stored.guesses = vec![vec![0.5; stored.problem.len()]];
        if write(&path, &stored).is_ok() {
            files.push(std::fs::read(&path).unwrap());
        }
    }
    Made::new().write(&path);
    files.push(std::fs::read(&path).unwrap());
    files.extend(super::shared("gfc3d").iter().chain(&super::shared("fc3d")).filter_map(|file| {
        let bytes = std::fs::read(file).unwrap();
        (bytes.starts_with(b"\x89HDF") && bytes.len() < 40_000).then_some(bytes)
    }));
    let mut random = Random(5);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..count {
        let mut bytes = files[random.below(files.len())].clone();
        for _ in 0..1 + random.below(6) {
            let at = random.below(bytes.len());
            // the structure stands at the beginning of a small file as much as anywhere
            let at = if random.below(2) == 0 { at.min(random.below(4096)) } else { at };
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
                _ => {
                    let end = (at + 1 + random.below(8)).min(bytes.len());
                    bytes[at..end].fill([0, 0xff][random.below(2)]);
                }
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        match read(&path, None) {
            Ok(stored) => {
                right += 1;
                assert!(stored.problem.len() <= bytes.len());
            }
            Err(error) => {
                wrong += 1;
                assert!(!error.message.is_empty());
            }
        }
    }
    assert!(right + wrong == count && wrong > count / 100, "{right} right, {wrong} wrong");
}
