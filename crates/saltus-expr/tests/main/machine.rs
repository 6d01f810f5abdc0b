//! Machine code gives the bits that the tape gives.

use crate::robustness::{Random, grown};
use saltus_expr::Function;
use std::thread;

const VALUES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.3,
    1.25,
    2.0,
    3.0,
    -7.5,
    16.0,
    1e-300,
    -1e300,
    5e-324,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// The same texts on the tape and in machine code, at random values and special ones.
#[track_caller]
fn check(texts: &[&str], random: &mut Random) {
    let parse = || {
        let function = Function::parse(texts, &["A", "B"]).expect(texts[0]);
        function.join(&function.jacobian(&[0, 1]))
    };
    let (tape, machine) = (parse(), parse());
    machine.compile();
    let (mut expected, mut out) = (vec![0.0; tape.len()], vec![0.0; tape.len()]);
    for _ in 0..20 {
        let mut value = || match random.below(3) {
            0 => VALUES[random.below(VALUES.len())],
            _ => random.below(4_000_001) as f64 * 2e-6 - 4.0,
        };
        let values = [value(), value()];
        tape.eval(&values, &mut expected);
        machine.eval(&values, &mut out);
        for (k, (a, b)) in out.iter().zip(&expected).enumerate() {
            let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(same, "output {k} of {texts:?} at {values:?}: {a:e}, on the tape {b:e}");
        }
    }
}

#[test]
fn random_formulas() {
    let mut random = Random(11);
    for _ in 0..300 {
        let depth = 1 + random.below(5);
        let texts: Vec<String> =
            (0..1 + random.below(3)).map(|_| grown(&mut random, depth)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        check(&texts, &mut random);
    }
}

#[test]
fn every_function() {
    let mut random = Random(12);
    for text in [
        "sin(A)*cos(A) + tan(B)",
        "if(A > B, sin(A), 2*cos(A) + sin(B))",
        "asin(A) + acos(A)*atan(A)",
        "sinh(A) + cosh(A)*tanh(B)",
        "exp(A) + ln(B) - log10(A)*log2(B)",
        "sqrt(A) + abs(B) - sign(A)*heaviside(B)",
        "floor(A) + ceil(B)*round(A)",
        "atan2(A, B) + hypot(A, B) - mod(A, B)",
        "min(A, B) + max(A, B, 2) - clamp(A, -1, B)",
        "A^2 + A^3 - A^4*A^5 + A^-1 - A^-3 + A^16 + A^17 + A^0.5 + A^B",
        "table(A, -1, 0, 0.5, 2, 1, B) + table(B, 0, 1, 2, -3, 4, 4)",
        "piecewise(A < 0, exp(A), A < 1, sin(B) + cos(B), A > 2 and not B == 0, A/B, B)",
        "if(A, if(B, exp(A*B), sin(A)), if(A + B >= 1 or B != 2, ln(A), sqrt(B)))",
        "(A < B) + (A <= B) - (A > B)*(A >= B) + (A == B) + (A != B) - (not A) + (A and B) + (A or B)",
        "0*A + 2.5",
        "A",
        "pi",
    ] {
        check(&[text], &mut random);
        check(&[text, "A", text, "1.5"], &mut random);
    }
}

#[test]
fn deep_branches() {
    let mut text = "exp(A)".to_string();
    for k in 0..120 {
        text = format!("if(A < {k}/7 - 4, sin(B + {k}), {text})");
    }
    check(&[&text], &mut Random(13));
}

/// More values than the processor has registers, alive at the same time.
#[test]
fn many_outputs() {
    let texts: Vec<String> =
        (0..200).map(|k| format!("sin(A + {k})*B + cos(A + {k})*exp(B/{})", k + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    check(&texts, &mut Random(14));
}

#[test]
fn compiling_changes_nothing_else() {
    let function = || Function::parse(&["sin(x) + 2*x"], &["x"]).expect("a formula");
    let compiled = function();
    compiled.compile();
    assert_eq!(function(), compiled);
    assert_eq!(compiled.jacobian(&[0]), function().jacobian(&[0]));
}

#[test]
fn compiled_once_it_pays_and_by_any_thread() {
    let function = Function::parse(&["sin(x)*x + 1/x"], &["x"]).expect("a formula");
    let first = {
        let mut out = [0.0];
        function.eval(&[0.7], &mut out);
        out
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            let function = function.clone();
            scope.spawn(move || {
                for _ in 0..20_000 {
                    let mut out = [0.0];
                    function.eval(&[0.7], &mut out);
                    assert_eq!(out, first);
                }
            });
        }
    });
}

#[test]
#[should_panic(expected = "values for the variables of a function")]
fn too_few_values() {
    let function = Function::parse(&["x + y"], &["x", "y"]).expect("a formula");
    function.compile();
    if cfg!(not(feature = "jit")) {
        panic!("values for the variables of a function");
    }
    function.eval(&[1.0], &mut [0.0]);
}
