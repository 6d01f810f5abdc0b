//! What formulas compute: precedence, functions, NaN.

use std::f64::consts::{E, FRAC_PI_4, PI, TAU};

use crate::value;
use saltus_expr::Formula;

#[track_caller]
fn check(cases: &[(&str, f64)]) {
    for &(text, expected) in cases {
        let found = value(text);
        let same = found == expected || (found.is_nan() && expected.is_nan());
        assert!(same, "{text}: expected {expected}, found {found}");
    }
}

#[test]
fn numbers() {
    check(&[
        ("1", 1.0),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e-3", 1e-3),
        ("1E+3", 1000.0),
        ("1.e2", 100.0),
        ("2.5e2-1", 249.0),
        ("0.1", 0.1),
        ("007", 7.0),
        ("1e-400", 0.0),
    ]);
}

#[test]
fn precedence() {
    check(&[
        // sums and products go left to right
        ("1 - 2 - 3", -4.0),
        ("8 / 4 / 2", 1.0),
        ("8 / 4 * 2", 4.0),
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        // powers go right to left, and bind tighter than signs
        ("2^3^2", 512.0),
        ("(2^3)^2", 64.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^-1", 0.5),
        ("2^-2^2", 0.0625),
        ("2**3", 8.0),
        ("2 * 3^2", 18.0),
        ("2^2 * 3", 12.0),
        // signs
        ("--3", 3.0),
        ("+3", 3.0),
        ("3 - -2", 5.0),
        ("3--2", 5.0),
        ("2 * -3", -6.0),
        ("-x * y", 6.0),
        // comparisons, looser than sums
        ("1 + 1 == 2", 1.0),
        ("1 < 2", 1.0),
        ("2 < 2", 0.0),
        ("2 <= 2", 1.0),
        ("2 > 2", 0.0),
        ("2 >= 2", 1.0),
        ("2 != 2", 0.0),
        ("(1 < 2) < 1", 0.0),
        // not, and, or, each looser than the one before
        ("not 0", 1.0),
        ("not 2", 0.0),
        ("not not 2", 1.0),
        ("not 1 == 2", 1.0),
        ("not 0 and 0", 0.0),
        ("1 or 0 and 0", 1.0),
        ("(1 or 0) and 0", 0.0),
        ("1 and not 0", 1.0),
        ("0 or not 1 < 2", 0.0),
        ("x > 0 and y < 0", 1.0),
        ("2 and 3", 1.0),
        ("2 + (not 0)", 3.0),
    ]);
}

#[test]
fn functions() {
    check(&[
        ("sin(0.5)", 0.5_f64.sin()),
        ("cos(0.5)", 0.5_f64.cos()),
        ("tan(0.5)", 0.5_f64.tan()),
        ("asin(0.5)", 0.5_f64.asin()),
        ("acos(0.5)", 0.5_f64.acos()),
        ("atan(1)", FRAC_PI_4),
        ("atan2(1, -1)", 3.0 * FRAC_PI_4),
        ("sinh(0.5)", 0.5_f64.sinh()),
        ("cosh(0.5)", 0.5_f64.cosh()),
        ("tanh(0.5)", 0.5_f64.tanh()),
        ("exp(1)", E),
        ("log(exp(1))", 1.0),
        ("ln(8) - log(8)", 0.0),
        ("log10(1000)", 3.0),
        ("log2(8)", 3.0),
        ("sqrt(9)", 3.0),
        ("abs(y)", 2.0),
        ("sign(x)", 1.0),
        ("sign(y)", -1.0),
        ("sign(0)", 0.0),
        ("sign(x - x)", 0.0),
        ("floor(-1.5)", -2.0),
        ("ceil(-1.5)", -1.0),
        ("round(2.5)", 3.0),
        ("round(-2.5)", -3.0),
        ("min(x, y)", -2.0),
        ("max(x, y)", 3.0),
        ("min(4, x, y, -7, 1)", -7.0),
        ("max(4, x, 9, y)", 9.0),
        ("mod(7, 3)", 1.0),
        ("mod(-1, 3)", 2.0),
        ("mod(1, -3)", -2.0),
        ("mod(-3, 3)", 0.0),
        ("hypot(3, 4)", 5.0),
        ("pow(2, 10)", 1024.0),
        ("pow(x, 3)", 27.0),
        ("clamp(x, 0, 2)", 2.0),
        ("clamp(y, 0, 2)", 0.0),
        ("clamp(1, 0, 2)", 1.0),
        ("clamp(1, 5, 4)", 4.0),
        ("if(x > 0, 10, 20)", 10.0),
        ("if(y > 0, 10, 20)", 20.0),
        ("if(x - 3, 10, 20)", 20.0),
        ("heaviside(x)", 1.0),
        ("heaviside(y)", 0.0),
        ("heaviside(x - x)", 1.0),
        ("table(x, 0, 0, 4, 8)", 6.0),
        ("table(y, 0, 1, 4, 8)", 1.0),
        ("table(x[0], 0, 1, 4, 8)", 8.0),
        ("table(x, 0, 0, 3, y, 4, 1)", -2.0),
        ("piecewise(x < 0, 1, x < 4, 2, 3)", 2.0),
        ("x^-2", 1.0 / 9.0),
        ("x^7", 2187.0),
        ("x^16", 43046721.0),
        ("y^5", -32.0),
        ("pi", PI),
        ("tau", TAU),
        ("-inf", f64::NEG_INFINITY),
    ]);
}

#[test]
fn not_a_number() {
    check(&[
        ("1/0", f64::INFINITY),
        ("0/0", f64::NAN),
        ("sqrt(-1)", f64::NAN),
        ("sign(0/0)", f64::NAN),
        ("min(sqrt(y), 1)", f64::NAN),
        ("min(1, sqrt(y))", f64::NAN),
        ("max(sqrt(y), 1)", f64::NAN),
        ("max(1, sqrt(y))", f64::NAN),
        ("clamp(sqrt(y), 0, 1)", f64::NAN),
        ("mod(1, 0)", f64::NAN),
        ("heaviside(0/0)", f64::NAN),
        ("table(sqrt(y), 0, 1, 2, 3)", f64::NAN),
        ("table(sqrt(y), 0, x, 2, 3)", f64::NAN),
        // a branch not taken has no influence
        ("if(y < 0, 1, sqrt(y))", 1.0),
        ("if(y >= 0, sqrt(y), 1)", 1.0),
    ]);
}

#[test]
fn blanks_and_indices() {
    check(&[
        (" x+\n\ty ", 1.0),
        ("x[0]", 5.0),
        ("x [ 0 ]", 5.0),
        ("x*x[0]", 15.0),
        ("if (x>y,1,2)", 1.0),
        ("1+\u{a0}2", 3.0),
    ]);
}

#[test]
fn long_and_deep() {
    // a tree as deep as the text is long, and stacks on both sides of the inline one
    assert_eq!(value(&vec!["x"; 40_000].join("+")), 120_000.0);
    assert_eq!(value(&vec!["x"; 30_000].join("-")), 3.0 - 3.0 * 29_999.0);
    assert_eq!(value(&format!("max({})", vec!["x"; 40_000].join(","))), 3.0);
    for depth in [30, 31, 32, 33, 200] {
        let text = format!("{}x{}", "x+(".repeat(depth), ")".repeat(depth));
        assert_eq!(value(&text), 3.0 * (depth as f64 + 1.0));
    }
}

#[test]
fn names_of_members() {
    let names = ["ball.q[0]", "bead 3.lam[1]", "r"];
    let formula = Formula::parse("ball.q [ 0 ]*10 + 'bead 3'.lam[1]/r", &names).unwrap();
    assert_eq!(formula.eval(&[2.0, 3.0, 4.0]), 20.75);
    let used = saltus_expr::names("min(ball.q[0], 'bead 3'.lam[1]) < 2.e3").unwrap();
    assert_eq!(used, ["ball.q[0]", "bead 3.lam[1]"]);
    let error = Formula::parse("ball.q[1]", &names).unwrap_err();
    assert_eq!(error.to_string(), "unknown name `ball.q[1]`; did you mean `ball.q[0]`?");
}
