//! The larger set of problems beside the repository: every file reads, with the sizes that are
//! known of it.

use super::{NO_PROBLEM, shared};
use saltus_io::problem_file::{ErrorKind, Kind, StoredProblem, read, write};
use saltus_numerics::{Operator, Set};
use serde_json::Value;
use std::path::Path;

const FOLDERS: [&str; 12] = [
    "lcp",
    "mlcp",
    "relay",
    "fc2d",
    "fc3d",
    "gfc2d",
    "gfc3d",
    "rfc3d",
    "grfc3d",
    "soclcp",
    "gmp",
    "plasticity",
];

/// What is known of each file.
fn known() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems/problems.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_file_reads() {
    let mut count = 0;
    for folder in FOLDERS {
        for file in shared(folder) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            if NO_PROBLEM.contains(&name.as_str()) {
                assert!(matches!(*read(&file, None).unwrap_err().kind, ErrorKind::Shape { .. }));
                continue;
            }
            let stored = read(&file, None).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(stored.kind.name(), folder, "{name}");
            let path = format!("{folder}/{}", file.file_name().unwrap().to_string_lossy());
            check(&path, &stored, &known()[&path]);
            count += 1;
        }
    }
    assert!(count == 0 || count == 129, "{count} files");
}

/// Holds a problem against what is known of it.
fn check(path: &str, stored: &StoredProblem, known: &Value) {
    assert!(known.is_object(), "{path}");
    let problem = &stored.problem;
    let size = |key: &str| known[key].as_u64().map(|n| n as usize);
    let shape = |key: &str| {
        known[key]["shape"]
            .as_array()
            .map(|s| (s[0].as_u64().unwrap() as usize, s[1].as_u64().unwrap() as usize))
    };
    if let (Some(dim), Some(nc)) = (size("dim"), size("nc")) {
        assert_eq!(problem.len(), dim * nc, "{path}");
        assert_eq!(problem.placed().len(), nc, "{path}");
    }
    if stored.kind == Kind::Soclcp {
        assert_eq!(Some(problem.placed().len()), size("nc"), "{path}");
    }
    let nonzeros = |key: &str| known[key]["nnz"].as_u64().unwrap() as usize;
    let mut q2: f64 = problem.q().iter().map(|q| q * q).sum();
    match problem.matrix() {
        Operator::Global(global) => {
            assert_eq!(shape("M"), Some((global.velocities(), global.velocities())), "{path}");
            assert_eq!(shape("H"), Some((global.velocities(), global.size())), "{path}");
            assert_eq!(global.mass().len(), nonzeros("M"), "{path}");
            assert_eq!(global.H().len(), nonzeros("H"), "{path}");
            q2 = global.f().iter().map(|q| q * q).sum();
        }
        matrix => {
            assert_eq!(shape("M"), Some(matrix.shape()), "{path}");
            let found = match matrix {
                Operator::Sparse(sparse) => sparse.len(),
                dense => dense.to_dense().data().iter().filter(|x| **x != 0.0).count(),
            };
            assert_eq!(found, nonzeros("M"), "{path}");
        }
    }
    let norm = known["norm_q"].as_f64().unwrap();
    assert!((q2.sqrt() - norm).abs() <= 1e-12 * norm, "{path}: {} instead of {norm}", q2.sqrt());

    let (mut mu, mut mu_r) = (Vec::new(), Vec::new());
    problem.for_each_block(|_, set, _| match *set {
        Set::Coulomb2 { mu: m } | Set::Coulomb3 { mu: m } => mu.push(m),
        Set::Rolling2 { mu: m, mu_r: r } | Set::Rolling3 { mu: m, mu_r: r } => {
            mu.push(m);
            mu_r.push(r);
        }
        Set::SecondOrder { mu: m } => mu.push(m),
        Set::DruckerPrager { eta, theta } => {
            mu.push(eta);
            mu_r.push(theta);
        }
        Set::VonMises { sigma_y } => mu.push(sigma_y),
        _ => {}
    });
    for (keys, found) in
        [(["mu", "tau", "eta", "sigma_y"], &mu), (["mu_r", "theta", "", ""], &mu_r)]
    {
        let range = keys.iter().find_map(|key| known[*key].as_array());
        if let Some(range) = range.filter(|range| range.len() == 2) {
            let least = found.iter().copied().fold(f64::INFINITY, f64::min);
            let most = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(Some(least), range[0].as_f64(), "{path}");
            assert_eq!(Some(most), range[1].as_f64(), "{path}");
        }
    }
}

/// What is read and written is read again as the same, in both formats.
#[test]
fn every_file_can_be_written() {
    let folder = std::env::temp_dir().join(format!("saltus-written-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in FOLDERS {
        for file in shared(name) {
            let Ok(stored) = read(&file, None) else { continue };
            if std::fs::metadata(&file).unwrap().len() > 1_000_000 {
                continue;
            }
            for extension in ["dat", "hdf5"] {
                let path = folder.join(format!("x.{extension}"));
                match write(&path, &stored) {
                    Ok(()) => {
                        let again = read(&path, Some(stored.kind)).unwrap();
                        super::fclib::check_same(&stored.problem, &again.problem);
                    }
                    Err(error) => assert!(extension == "hdf5", "{}: {error}", file.display()),
                }
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
