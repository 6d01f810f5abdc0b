//! What can be told of a stored problem without solving it.

use crate::text::{self, plural};
use saltus::io::problem_file::StoredProblem;
use saltus::linalg::Sparse;
use saltus::numerics::{Operator, Problem, Set};
use serde_json::{Map, Value, json};

/// What is said of a problem.
pub struct Facts {
    sets: Vec<(&'static Label, usize)>,
    parameters: Vec<Range>,
    matrices: Vec<MatrixFacts>,
    dof: Option<usize>,
    q: f64, // ‖q‖
}

/// How blocks of one sort are called.
#[derive(Debug, PartialEq)]
struct Label {
    key: &'static str,
    one: &'static str,
    many: &'static str,
}

/// In this order they are told.
const LABELS: [Label; 10] = [
    Label { key: "equalities", one: "equality", many: "equalities" },
    Label { key: "complementarities", one: "complementarity", many: "complementarities" },
    Label { key: "intervals", one: "interval", many: "intervals" },
    Label { key: "graphs", one: "graph", many: "graphs" },
    Label { key: "contacts", one: "contact", many: "contacts" },
    Label { key: "rolling_contacts", one: "rolling contact", many: "rolling contacts" },
    Label { key: "cones", one: "cone", many: "cones" },
    Label { key: "drucker_prager", one: "Drucker-Prager cone", many: "Drucker-Prager cones" },
    Label { key: "von_mises", one: "von Mises surface", many: "von Mises surfaces" },
    Label { key: "user_sets", one: "set of the user's", many: "sets of the user's" },
];

fn label(set: &Set) -> &'static Label {
    let place = match set {
        Set::Free => 0,
        set if set.bounds() == Some((0.0, f64::INFINITY)) => 1,
        Set::Nonnegative | Set::Interval { .. } => 2,
        Set::Graph(_) => 3,
        Set::Coulomb2 { .. } | Set::Coulomb3 { .. } => 4,
        Set::Rolling2 { .. } | Set::Rolling3 { .. } => 5,
        Set::SecondOrder { .. } => 6,
        Set::DruckerPrager { .. } => 7,
        Set::VonMises { .. } => 8,
        Set::User(_) => 9,
    };
    &LABELS[place]
}

/// The least and the largest value of a parameter.
struct Range {
    name: &'static str,
    least: f64,
    most: f64,
}

fn parameters(set: &Set) -> [Option<(&'static str, f64)>; 2] {
    match *set {
        Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => {
            [Some(("mu", mu)), None]
        }
        Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
            [Some(("mu", mu)), Some(("mu_r", mu_r))]
        }
        Set::DruckerPrager { eta, theta } => [Some(("eta", eta)), Some(("theta", theta))],
        Set::VonMises { sigma_y } => [Some(("sigma_y", sigma_y)), None],
        _ => [None, None],
    }
}

struct MatrixFacts {
    name: &'static str,
    nonzeros: usize,
    density: f64,
    largest: f64,
    asymmetry: Option<f64>, // largest |Mᵢⱼ − Mⱼᵢ| beside the largest |Mᵢⱼ|, of square ones
}

impl MatrixFacts {
    fn of(name: &'static str, matrix: &Sparse) -> MatrixFacts {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let (mut nonzeros, mut largest, mut difference) = (0, 0.0f64, 0.0f64);
        let is_square = rows == cols && name != "H";
        for (i, j, x) in matrix.iter() {
            nonzeros += usize::from(x != 0.0);
            largest = largest.max(x.abs());
            if is_square {
                difference = difference.max((x - matrix.get(j, i)).abs());
            }
        }
        let all = rows as f64 * cols as f64;
        MatrixFacts {
            name,
            nonzeros,
            density: if all == 0.0 { 0.0 } else { nonzeros as f64 / all },
            largest,
            asymmetry: match largest {
                _ if !is_square => None,
                0.0 => Some(0.0),
                largest => Some(difference / largest),
            },
        }
    }

    fn text(&self) -> String {
        let symmetry = match self.asymmetry {
            None => String::new(),
            Some(0.0) => ", symmetric".to_string(),
            Some(by) => format!(", not symmetric (by {by:.1e} of the largest entry)"),
        };
        format!(
            "{} ({:.3} %), largest {:.3e}{symmetry}",
            plural(self.nonzeros, "nonzero"),
            100.0 * self.density,
            self.largest
        )
    }

    fn json(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("nonzeros".into(), self.nonzeros.into());
        map.insert("density".into(), self.density.into());
        map.insert("largest_entry".into(), self.largest.into());
        if let Some(asymmetry) = self.asymmetry {
            map.insert("asymmetry".into(), asymmetry.into());
            map.insert("symmetric".into(), (asymmetry == 0.0).into());
        }
        map
    }
}

impl Facts {
    pub fn of(problem: &Problem) -> Facts {
        let mut counts = [0; LABELS.len()];
        let mut ranges: Vec<Range> = Vec::new();
        problem.for_each_block(|_, set, _| {
            let label = label(set);
            counts[LABELS.iter().position(|other| other == label).unwrap_or(0)] += 1;
            for (name, value) in parameters(set).into_iter().flatten() {
                match ranges.iter_mut().find(|range| range.name == name) {
                    Some(range) => {
                        range.least = range.least.min(value);
                        range.most = range.most.max(value);
                    }
                    None => ranges.push(Range { name, least: value, most: value }),
                }
            }
        });
        let matrices = match problem.matrix() {
            Operator::Dense(dense) => vec![MatrixFacts::of("matrix", &Sparse::from_dense(dense))],
            Operator::Sparse(sparse) => vec![MatrixFacts::of("matrix", sparse)],
            Operator::Global(global) => {
                vec![MatrixFacts::of("mass", global.mass()), MatrixFacts::of("H", global.H())]
            }
            Operator::Function(_) => Vec::new(),
        };
        Facts {
            sets: LABELS.iter().zip(counts).collect(),
            parameters: ranges,
            matrices,
            dof: problem.global().map(|global| global.velocities()),
            q: problem.q().iter().map(|q| q * q).sum::<f64>().sqrt(),
        }
    }

    fn sets(&self) -> String {
        let told: Vec<String> = (self.sets.iter().filter(|(_, count)| *count > 0))
            .map(|(label, count)| match count {
                1 => format!("1 {}", label.one),
                count => format!("{count} {}", label.many),
            })
            .collect();
        if told.is_empty() { "none".to_string() } else { told.join(", ") }
    }
}

/// Lines for a reader.
pub fn text(stored: &StoredProblem) -> String {
    let problem = &stored.problem;
    let facts = Facts::of(problem);
    let mut rows = vec![
        ("size".to_string(), plural(problem.len(), "unknown")),
        ("sets".to_string(), facts.sets()),
    ];
    if !facts.parameters.is_empty() {
        let range = |range: &Range| match range.least == range.most {
            true => format!("{} = {}", range.name, range.least),
            false => format!("{} = {} to {}", range.name, range.least, range.most),
        };
        let ranges: Vec<String> = facts.parameters.iter().map(range).collect();
        rows.push(("parameters".to_string(), ranges.join(", ")));
    }
    if let Some(dof) = facts.dof {
        let each = match dof {
            0 => String::new(),
            dof => format!(", {:.3} contacts each", problem.contacts_count() as f64 / dof as f64),
        };
        rows.push(("velocities".to_string(), format!("{dof} degrees of freedom{each}")));
    }
    for matrix in &facts.matrices {
        rows.push((matrix.name.to_string(), matrix.text()));
    }
    rows.push(("‖q‖".to_string(), format!("{:.3e}", facts.q)));
    let answer = if stored.reference.is_some() { "stored in the file" } else { "not stored" };
    rows.push(("answer".to_string(), answer.to_string()));
    if !stored.guesses.is_empty() {
        rows.push(("guesses".to_string(), stored.guesses.len().to_string()));
    }
    let info = &stored.info;
    for (name, said) in
        [("title", &info.title), ("description", &info.description), ("math_info", &info.math_info)]
    {
        if !said.is_empty() {
            let said: Vec<&str> = said.split_whitespace().collect();
            rows.push((name.to_string(), said.join(" ")));
        }
    }
    format!("{} ({} problem)\n{}", stored.name, stored.kind, text::columns(&rows))
}

/// The same for a program.
pub fn json(stored: &StoredProblem) -> Value {
    let problem = &stored.problem;
    let facts = Facts::of(problem);
    let sets: Map<String, Value> = (facts.sets.iter().enumerate())
        .filter(|(k, (_, count))| *k < 3 || *count > 0)
        .map(|(_, (label, count))| (label.key.to_string(), (*count).into()))
        .collect();
    let parameters: Map<String, Value> = (facts.parameters.iter())
        .map(|range| (range.name.to_string(), json!([range.least, range.most])))
        .collect();
    let info = &stored.info;
    let mut document = json!({
        "kind": "problem",
        "problem_kind": stored.kind.name(),
        "title": stored.name,
        "size": problem.len(),
        "sets": sets,
        "parameters": parameters,
        "contacts": problem.contacts_count(),
        "norm_q": facts.q,
        "reference": stored.reference,
        "guesses": stored.guesses.len(),
        "info": {
            "title": info.title,
            "description": info.description,
            "math_info": info.math_info,
        },
    });
    if let Value::Object(map) = &mut document {
        match (&facts.matrices[..], facts.dof) {
            ([matrix], _) => map.extend(matrix.json()),
            (matrices, dof) => {
                for matrix in matrices {
                    map.insert(matrix.name.to_lowercase(), matrix.json().into());
                }
                if let Some(dof) = dof {
                    let contacts = problem.contacts_count() as f64;
                    map.insert("dof".into(), dof.into());
                    map.insert("contacts_per_dof".into(), json!(contacts / dof as f64));
                }
            }
        }
    }
    document
}

/// What an unknown belongs to, in words: `contact 3`, `unknown 5`.
pub fn owner(problem: &Problem, unknown: usize) -> String {
    let mut count = [0; LABELS.len()];
    for block in problem.placed() {
        let label = label(&block.set);
        let place = LABELS.iter().position(|other| other == label).unwrap_or(0);
        if (block.start..block.start + block.size).contains(&unknown) {
            return format!("{} {}", label.one, count[place]);
        }
        count[place] += 1;
    }
    format!("unknown {unknown}")
}
