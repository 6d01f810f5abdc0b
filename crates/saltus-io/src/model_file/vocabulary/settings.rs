//! The words of integrators and solvers.

use super::{Absent, Form, Key, Kind, Section, SectionId, section, with_default};
use saltus_numerics::Solver;
use saltus_sim::{Integrator, NewtonSettings};
use serde_json::Value;

/// The settings of integrators and solvers in words, by kind and key.
const SETTINGS: &[(&str, &[(&str, &str)])] = &[
    (
        "euler-moreau",
        &[
            (
                "theta",
                "weight of the step's end in the smooth terms, in [0, 1]: 1 is implicit and the most robust, 1/2 is second order where nothing switches",
            ),
            ("gamma", "weight of the step's end in the multiplier terms, in (0, 1]"),
        ],
    ),
    (
        "moreau-jean",
        &[
            (
                "theta",
                "weight of the step's end, in [0, 1]: 1/2 conserves the energy of free motion, 1 damps fast vibrations",
            ),
            (
                "gamma",
                "a contact is active in a step that starts with y + gamma h u <= threshold; in [0, 1]",
            ),
            PROJECTION,
            THRESHOLD,
            (
                "form",
                "what a step's problem is written in: \"reduced\" (relative velocities) or \"global\" (velocities too)",
            ),
        ],
    ),
    (
        "schatzman-paoli",
        &[(
            "theta",
            "weight of the outer positions in the forces, in [0, 1]: 0 is explicit, from 1/4 on the scheme is stable for every step",
        )],
    ),
    (
        "generalized-alpha",
        &[
            (
                "rho_inf",
                "what is left of infinitely fast vibrations after a step, in [0, 1]: 1 damps nothing",
            ),
            (
                "gamma",
                "a contact is active in a step that starts with y + gamma h u <= threshold; in [0, 1]",
            ),
            PROJECTION,
            THRESHOLD,
        ],
    ),
    (
        "d1-minus-linear",
        &[
            (
                "variant",
                "the level at which forces of contacts that stay closed are found: \"acceleration\" (without friction) or \"velocity\"",
            ),
            ("tol", "gap, and speed, up to which a contact is closed"),
        ],
    ),
    (
        "auto",
        &[
            TOL,
            ("max_iter", "iterations that each method of the portfolio may use"),
            ("threads", "threads that look for the contacts of a scene; 0: one for each core"),
        ],
    ),
    (
        "pivoting",
        &[
            TOL,
            ("max_iter", "changes of mode before giving up"),
            ("cache", "modes whose affine map is kept"),
        ],
    ),
    ("lemke", &[TOL, ("max_iter", "pivots before giving up")]),
    (
        "gauss-seidel",
        &[
            TOL,
            ("max_iter", "sweeps before giving up"),
            ("relaxation", "relaxation in (0, 2): below 1 damps, above 1 over-relaxes"),
            ("accelerate", "prolong the steps between sweeps as conjugate gradients do"),
            ("freeze", "visit a block that did not move in so many sweeps less often; 0: never"),
            ("threads", "threads that share a sweep, by colours; 0: one for each core"),
            ("coloured", "sweep by colours, with the same answers for any number of threads"),
        ],
    ),
    ("fischer-burmeister", &[TOL, ("max_iter", "Newton steps before giving up")]),
    ("enumeration", &[TOL, ("max_iter", "modes to try before giving up")]),
    (
        "newton",
        &[
            TOL,
            ("max_iter", "steps before giving up"),
            ("proximal", "size of the proximal term relative to the residual"),
            ("patience", "steps without a tenth less residual before giving up"),
            (
                "function",
                "the equations that stand for the laws: \"alart-curnier\", \"jean-moreau\", \"natural-map\" or \"fischer-burmeister\"",
            ),
        ],
    ),
    ("interior-point", &[TOL, ("max_iter", "steps before Newton's method takes over")]),
    (
        "admm",
        &[
            TOL,
            ("max_iter", "iterations before giving up"),
            ("rho", "the penalty to begin with, relative to the diagonal"),
        ],
    ),
    ("extragradient", &[TOL, ("max_iter", "iterations before giving up")]),
];

/// The settings that are one of several words.
const CHOICES: &[(&str, &[&str])] = &[
    ("projection", &["direct", "combined", "ggl"]),
    ("variant", &["acceleration", "velocity"]),
    ("form", &["reduced", "global"]),
    ("function", &["alart-curnier", "jean-moreau", "natural-map", "fischer-burmeister"]),
];

const SYSTEMS: (&str, &str) = ("systems", "names of the systems that it serves");
const PROJECTION: (&str, &str) = (
    "projection",
    "how positions are kept on the constraints: \"direct\" (after the step), \"combined\" (with the contacts that the step closes), \"ggl\" (together with the velocities); not at all by default",
);
const THRESHOLD: (&str, &str) = (
    "threshold",
    "see gamma; a small positive value keeps resting contacts active that round-off has lifted",
);
const TOL: (&str, &str) =
    ("tol", "the verified residual of an answer is at most this, in (0, 0.1]");

/// The integrators and solvers in words.
const METHODS: &[(&str, &str)] = &[
    ("euler-moreau", "the theta-gamma scheme of Euler and Moreau, for first-order systems"),
    ("moreau-jean", "the theta-scheme of Moreau and Jean, for mechanical systems with impacts"),
    (
        "schatzman-paoli",
        "the scheme of Schatzman and Paoli, for mechanical systems: contacts hold in the positions",
    ),
    (
        "generalized-alpha",
        "the generalized-alpha scheme, for mechanical systems: second order while nothing impacts",
    ),
    (
        "d1-minus-linear",
        "the half-explicit D1-minus scheme, for mechanical systems: forces at both ends of the step",
    ),
    (
        "moreau-jean-bilbao",
        "the scheme of Bilbao, for mechanical systems with diagonal M, C and K: exact free vibrations",
    ),
    (
        "zero-order-hold",
        "the zero-order hold, for linear first-order systems: exact while forcing and multiplier are constant",
    ),
    ("auto", "a portfolio: warm-started pivoting first, then whatever it takes"),
    ("pivoting", "warm-started principal pivoting with a cache of modes"),
    ("lemke", "Lemke's method with the lexicographic rule"),
    ("gauss-seidel", "Gauss-Seidel by blocks, each solved exactly"),
    ("fischer-burmeister", "semismooth Newton on the Fischer-Burmeister function"),
    ("enumeration", "all modes in turn: small problems only"),
    ("newton", "semismooth Newton with a proximal term"),
    ("interior-point", "primal-dual interior point"),
    ("admm", "alternating directions, with one factorization for many iterations"),
    ("extragradient", "extragradient method with a step that adapts itself"),
];

/// The kinds of an enum of settings: names and defaults from serde, meanings from [`SETTINGS`].
fn settings_kinds(names: &[&'static str], defaults: impl Fn(&str) -> Option<Value>) -> Vec<Kind> {
    let kind = |&name: &&'static str| {
        let words =
            SETTINGS.iter().find(|(kind, _)| *kind == name).map_or(&[][..], |(_, keys)| keys);
        let defaults = defaults(name).unwrap_or_default();
        let settings = defaults.as_object().into_iter().flatten();
        let keys = settings.filter(|(key, _)| *key != "kind").map(|(key, default)| Key {
            name: key.clone(),
            form: match default {
                Value::Number(number) if number.is_u64() => Form::Count,
                Value::Number(_) => Form::Number,
                Value::Bool(_) => Form::Flag,
                Value::Array(_) => Form::Signals,
                _ => match CHOICES.iter().find(|(name, _)| name == key) {
                    Some((_, choices)) => Form::Choice(choices.to_vec()),
                    None => Form::Text,
                },
            },
            absent: match default {
                Value::Null => Absent::Words("none"),
                Value::Array(_) => Absent::Words("all that no other integrator names"),
                default => Absent::Value(default.clone()),
            },
            doc: words
                .iter()
                .chain([&SYSTEMS])
                .find(|(name, _)| name == key)
                .map_or("", |(_, doc)| doc),
        });
        let doc = METHODS.iter().find(|(method, _)| *method == name).map_or("", |(_, doc)| doc);
        Kind { name, doc, keys: keys.collect() }
    };
    names.iter().map(kind).collect()
}

/// The default settings of an integrator, as serde writes them.
pub(crate) fn default_integrator(name: &str) -> Option<Integrator> {
    serde_json::from_value(serde_json::json!({ "kind": name })).ok()
}

pub fn integrator() -> Section {
    let defaults = |name: &str| serde_json::to_value(default_integrator(name)?).ok();
    Section {
        kinds: settings_kinds(&Integrator::NAMES, defaults),
        kind_alone: true,
        ..section(SectionId::Integrator, "integrator", "the one-step scheme", Vec::new())
    }
}

pub fn solver() -> Section {
    let defaults = |name: &str| serde_json::to_value(Solver::from_name(name)?).ok();
    Section {
        kinds: settings_kinds(&Solver::NAMES, defaults),
        default_kind: Some(Solver::default().name()),
        kind_alone: true,
        ..section(SectionId::Solver, "solver", "the solver of each step's problem", Vec::new())
    }
}

pub fn newton() -> Section {
    let NewtonSettings { tol, max_iter, .. } = NewtonSettings::default();
    let keys = vec![
        with_default(
            "tol",
            Form::Number,
            tol,
            "the residual, relative to its terms, of a solved step",
        ),
        with_default("max_iter", Form::Count, max_iter, "iterations before giving up"),
        with_default(
            "mode",
            Form::Choice(vec!["full", "quasi", "linear"]),
            "full",
            "Jacobians in every iteration (full) or once a step (quasi), or one iteration alone (linear)",
        ),
    ];
    let doc = "how the equations of a step that are not linear are solved";
    section(SectionId::Newton, "newton", doc, keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_file::vocabulary::vocabulary;

    /// What is written here in words is about settings that exist, and every setting has its words.
    #[test]
    fn words_and_settings_agree() {
        let mut known = Vec::new();
        for id in [SectionId::Integrator, SectionId::Solver] {
            for kind in &vocabulary().section(id).kinds {
                assert!(!kind.doc.is_empty(), "{} has no words", kind.name);
                assert!(!kind.keys.is_empty(), "{} has no settings", kind.name);
                for key in &kind.keys {
                    assert!(!key.doc.is_empty(), "{}.{} has no words", kind.name, key.name);
                    known.push((kind.name, key.name.clone()));
                }
            }
        }
        for (kind, keys) in SETTINGS {
            for (key, _) in *keys {
                assert!(known.contains(&(kind, (*key).to_owned())), "there is no {kind}.{key}");
            }
        }
        for (method, _) in METHODS {
            assert!(known.iter().any(|(kind, _)| kind == method), "there is no {method}");
        }
    }

    #[test]
    fn newton_defaults() {
        let defaults = serde_json::to_value(NewtonSettings::default()).expect("plain data");
        let keys = &vocabulary().section(SectionId::Newton).keys;
        assert_eq!(defaults.as_object().map(|it| it.len()), Some(keys.len()));
        for key in keys {
            assert_eq!(key.absent, Absent::Value(defaults[&key.name].clone()), "{}", key.name);
            if let Form::Choice(names) = &key.form {
                for name in names {
                    let settings = serde_json::json!({ &key.name: name });
                    serde_json::from_value::<NewtonSettings>(settings).expect("it is known");
                }
            }
        }
    }
}
