//! What is known before there are values, and which variables matter.

use saltus_expr::{Formula, constant, is_reserved};

const VARIABLES: [&str; 3] = ["x", "y", "z"];

#[track_caller]
fn check(text: &str, uses: &[usize]) {
    let formula = Formula::parse(text, &VARIABLES).expect(text);
    let found: Vec<usize> = (0..VARIABLES.len()).filter(|&i| formula.uses(i)).collect();
    assert_eq!(found, uses, "{text}");
    assert_eq!(formula.is_constant(), uses.is_empty(), "{text}");
    assert!(!formula.uses(VARIABLES.len()));
}

#[test]
fn uses() {
    check("z*x + x", &[0, 2]);
    check("min(x, y, z)", &[0, 1, 2]);
    check("if(x > 0, 1, 2)", &[0]);
    check("x - x", &[0]);
    check("0*x", &[0]); // NaN if x is
}

#[test]
fn constants() {
    check("2/5*0.1^2 + sin(pi/4)", &[]);
    check("min(1, 2, 3) + clamp(5, 0, 1)", &[]);
    check("not 1 < 2 or 3 == 3 and -1", &[]);
    check("if(1 < 2, 3, x)", &[]);
    check("if(0, x, if(1, y, z))", &[1]);
    check("0/0", &[]);
}

#[test]
fn a_constant_needs_no_values() {
    let formula = Formula::parse("2*tau", &VARIABLES).expect("a formula");
    assert_eq!(formula.eval(&[]), 2.0 * std::f64::consts::TAU);
}

#[test]
fn folding_keeps_the_formula() {
    // one number in place of 2*pi, and no more: the order of the operations is the writer's
    let formula = Formula::parse("2*pi*x", &["x"]).expect("a formula");
    let folded = Formula::parse("6.283185307179586*x", &["x"]).expect("a formula");
    assert_eq!(formula.eval(&[0.3]), folded.eval(&[0.3]));
    assert_eq!(formula.text(), "2*pi*x");
    assert_eq!(formula, formula.clone());
    assert_ne!(formula, folded);
}

#[test]
fn variables_hide_constants() {
    let formula = Formula::parse("tau + pi", &["tau"]).expect("a formula");
    assert!(formula.uses(0));
    assert_eq!(formula.eval(&[10.0]), 10.0 + std::f64::consts::PI);

    let formula = Formula::parse("e*inf", &["e", "inf"]).expect("a formula");
    assert_eq!(formula.eval(&[0.5, 4.0]), 2.0);
}

#[test]
fn the_order_of_variables_counts() {
    let one = Formula::parse("a - b", &["a", "b"]).expect("a formula");
    let other = Formula::parse("a - b", &["b", "a"]).expect("a formula");
    assert_eq!(one.eval(&[3.0, 1.0]), 2.0);
    assert_eq!(other.eval(&[3.0, 1.0]), -2.0);
    assert_ne!(one, other);
}

#[test]
fn reserved() {
    for name in
        ["sin", "if", "and", "or", "not", "clamp", "ln", "max", "table", "piecewise", "heaviside"]
    {
        assert!(is_reserved(name), "{name}");
    }
    for name in ["e", "pi", "tau", "inf", "x", "x[0]", "Sin", ""] {
        assert!(!is_reserved(name), "{name}");
    }
    assert_eq!(constant("pi"), Some(std::f64::consts::PI));
    assert_eq!(constant("e"), None);
}

#[test]
fn what_a_condition_compares() {
    let margins = |text: &str, values: &[f64]| {
        let formula = Formula::parse(text, &["a", "b"]).expect("a formula");
        formula.function().margins().map(|margins| {
            let mut out = vec![0.0; margins.len()];
            margins.eval(values, &mut out);
            out
        })
    };
    assert_eq!(margins("a < b", &[1.0, 3.0]), Some(vec![2.0]));
    assert_eq!(
        margins("a > 0.5 and not (b <= 2*a or a < b)", &[1.0, 3.0]),
        Some(vec![0.5, -1.0, 2.0])
    );
    assert_eq!(margins("a < b or a < b", &[1.0, 3.0]), Some(vec![2.0]));
    for other in ["a", "a == b", "sin(a) and a < b", "if(a < b, 1, 0)"] {
        assert_eq!(margins(other, &[1.0, 3.0]), None, "{other}");
    }
}
