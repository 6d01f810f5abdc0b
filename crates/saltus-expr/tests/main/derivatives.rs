//! Exact derivatives: by hand where there are kinks, by differences everywhere else.

use std::fmt::Write;

use saltus_expr::{Formula, Function, Rate};

use crate::robustness::Random;

const NAMES: [&str; 3] = ["x", "y", "z"];

fn values(function: &Function, at: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; function.len()];
    function.eval(at, &mut out);
    out
}

/// ∂/∂x of `text` at x, with y = 2 and z = 0.
#[track_caller]
fn check(text: &str, cases: &[(f64, f64)]) {
    let function = Function::parse(&[text], &NAMES).expect(text);
    let slope = function.jacobian(&[0]);
    for &(x, expected) in cases {
        let found = values(&slope, &[x, 2.0, 0.0])[0];
        let is_same = (found - expected).abs() <= 1e-14 * expected.abs() || found == expected;
        assert!(is_same || found.is_nan() && expected.is_nan(), "{text} at {x}: {found}");
    }
}

#[test]
fn kinks_and_jumps() {
    check("abs(x)", &[(-3.0, -1.0), (0.0, 0.0), (3.0, 1.0)]);
    check("sign(x) + heaviside(x) + floor(x) + ceil(x) + round(x)", &[(-0.4, 0.0), (0.0, 0.0)]);
    check("(x > 0) + (x <= y and x != 1) + (not x)", &[(0.0, 0.0), (1.0, 0.0)]);
    check("min(x, 2*x)", &[(-1.0, 2.0), (0.0, 2.0), (1.0, 1.0)]);
    check("max(x, 2*x, -x)", &[(-1.0, -1.0), (1.0, 2.0)]);
    check("clamp(3*x, -1, 1)", &[(-1.0, 0.0), (0.2, 3.0), (1.0, 0.0)]);
    check("if(x < 0, x^2, 5*x)", &[(-2.0, -4.0), (0.0, 5.0), (2.0, 5.0)]);
    check("piecewise(x < 0, -x, x < 1, x^2, 2*x - 1)", &[(-1.0, -1.0), (0.5, 1.0), (3.0, 2.0)]);
    check("mod(3*x, 2)", &[(0.1, 3.0), (5.0, 3.0)]);
    check("mod(7, x)", &[(2.0, -3.0), (-2.0, 4.0)]);
    check("table(x, 0, 1, 2, 5, 3, 4)", &[(-1.0, 0.0), (0.0, 2.0), (2.0, -1.0), (3.0, 0.0)]);
    check("table(x, 0, y, 2, 4*y, 3, x)", &[(-1.0, 0.0), (1.0, 3.0), (2.5, -5.0), (4.0, 1.0)]);
}

#[test]
fn a_branch_not_taken_contributes_nothing() {
    check("sqrt(max(x, 0))", &[(-1.0, 0.0), (4.0, 0.25)]);
    check("if(x > 0, sqrt(x), 0)", &[(-1.0, 0.0), (0.0, 0.0), (4.0, 0.25)]);
    check("if(x > 0, log(x), x/0)", &[(2.0, 0.5)]);
    check("log(if(x > 1, x, 0))", &[(0.5, 0.0), (2.0, 0.5)]);
    check("1/piecewise(x > 1, x, x > 0, 0, -x)", &[(0.5, 0.0), (2.0, -0.25), (-2.0, 0.25)]);
    check("max(x, 0)^1.5", &[(-1.0, 0.0), (0.0, 0.0), (4.0, 3.0)]);
    check("sqrt(table(x, 0, 0, 1, 1))", &[(4.0, 0.0)]);
}

#[test]
fn powers() {
    check("x^2", &[(0.0, 0.0), (3.0, 6.0), (-3.0, -6.0)]);
    check("x^1", &[(0.0, 1.0)]);
    check("x^0", &[(0.0, 0.0)]);
    check("x^3", &[(0.0, 0.0), (-2.0, 12.0)]);
    check("x^5", &[(-2.0, 80.0)]);
    check("x^-1", &[(2.0, -0.25), (0.0, f64::NEG_INFINITY)]);
    check("x^0.5", &[(0.0, f64::INFINITY), (4.0, 0.25)]);
    check("sqrt(x)", &[(0.0, f64::INFINITY), (4.0, 0.25)]);
    check("x^y", &[(0.0, 0.0), (-3.0, -6.0)]);
    check("x^(y - 1)", &[(0.0, 1.0)]);
    check("x^(y - 2)", &[(0.0, 0.0)]);
    check("2^x", &[(3.0, 8.0 * 2.0_f64.ln())]);
    check("0^x", &[(2.0, 0.0)]);
    check("z^x", &[(2.0, 0.0)]);
    check("x^x", &[(1.0, 1.0), (2.0, 4.0 * (1.0 + 2.0_f64.ln()))]);
    check("hypot(x, z)", &[(0.0, 0.0), (-2.0, -1.0)]);
    check("atan2(x, y)", &[(2.0, 0.25)]);
}

#[test]
fn zeros_are_known() {
    let f = Function::parse(&["x*y", "sin(y)", "3", "floor(x) + 0*x"], &NAMES).expect("formulas");
    let jacobian = f.jacobian(&[0, 1, 2]);
    assert_eq!(jacobian.len(), 12);
    assert_eq!(jacobian.nonzeros(), [0, 1, 4]);
    assert_eq!(jacobian.zeros(), [2, 3, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(values(&jacobian.select(&jacobian.nonzeros()), &[5.0, 0.0, 1.0]), [0.0, 5.0, 1.0]);
    assert!(f.depends(0, 0) && !f.depends(1, 0) && f.depends(3, 0));
    assert_eq!(f.constant(2), Some(3.0));
    assert_eq!(f.used(), [0, 1]);
    assert!(f.jacobian(&[2]).is_constant());
    assert_eq!(f.jacobian(&[]).len(), 0);
}

/// h(t, q) of a point on a turning wheel: ḣ = ∂h/∂t + H v, its Jacobians, and ḧ without acceleration.
#[test]
fn rates_in_time() {
    let h = Function::parse(&["q*cos(w*t)", "q^2"], &["t", "q", "w"]).expect("formulas");
    let rates = [(0, Rate::Number(1.0)), (1, Rate::Variable(3))];
    let u = h.rate(&rates);
    assert_eq!((u.len(), u.variables()), (2, 4));
    let (t, q, w, v): (f64, f64, f64, f64) = (0.3, 1.5, 2.0, -0.7);
    let at = [t, q, w, v];
    let (sin, cos) = (w * t).sin_cos();
    let close = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-14, "{found:?}, expected {expected:?}");
        }
    };
    close(&values(&u, &at), &[v * cos - q * w * sin, 2.0 * q * v]);
    close(&values(&u.jacobian(&[1, 3]), &at), &[-w * sin, cos, 2.0 * v, 2.0 * q]);
    let second = [-2.0 * v * w * sin - q * w * w * cos, 2.0 * v * v];
    close(&values(&u.rate(&rates), &at), &second);
}

#[test]
fn a_function_and_its_jacobian_share_their_parts() {
    let f = Function::parse(&["exp(x*y)*z", "exp(x*y)"], &NAMES).expect("formulas");
    let jacobian = f.jacobian(&[0, 1, 2]);
    let both = f.join(&jacobian);
    let at = [0.3, -1.2, 2.5];
    let found = values(&both, &at);
    assert_eq!(found[..2], values(&f, &at));
    assert_eq!(found[2..], values(&jacobian, &at));
}

/// A smooth formula of x, y, z as text, defined everywhere.
fn smooth(random: &mut Random, depth: usize) -> String {
    const LEAVES: &[&str] = &["x", "y", "z", "0.5", "3", "x", "y"];
    const UNARY: &[&str] = &["sin", "cos", "tanh", "atan", "-", "exp(-0.1)*", "sinh(0.3)*"];
    if depth == 0 {
        return random.pick(LEAVES).to_owned();
    }
    let mut operand = || smooth(random, depth - 1);
    let (a, b) = (operand(), operand());
    match random.below(14) {
        0..3 => format!("({a} + {b})"),
        3..5 => format!("({a} - {b})"),
        5..8 => format!("({a}*{b})"),
        8 => format!("({a}/(1.5 + cos({b})))"),
        9 => format!("log(2 + sin({a})) + sqrt(1 + ({b})^2)"),
        10 => format!("tanh({a})^{}", 2 + random.below(4)),
        11 => format!("(2 + sin({a}))^cos({b})"),
        12 => format!("atan2(2 + sin({a}), cos({b})) + hypot(1, sin({a}))"),
        _ => format!("{}({a})", random.pick(UNARY)),
    }
}

/// Jacobian and second derivatives beside central differences of fourth order.
#[test]
fn random_formulas_against_differences() {
    let mut random = Random(4);
    let mut compared = 0;
    for round in 0..1500 {
        let depth = 1 + round % 4;
        let texts = [smooth(&mut random, depth), smooth(&mut random, depth)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let first = Function::parse(&texts, &NAMES).expect("formulas");
        let second = first.jacobian(&[0, 1, 2]);
        let at: [f64; 3] = std::array::from_fn(|_| random.below(2001) as f64 / 1000.0 - 1.0);
        for function in [first, second] {
            let exact = values(&function.jacobian(&[0, 1, 2]), &at);
            for col in 0..3 {
                let shifted = |h: f64| {
                    let mut at = at;
                    at[col] += h;
                    values(&function, &at)
                };
                let h = 2e-3;
                let [a, b, c, d] = [-2.0 * h, -h, h, 2.0 * h].map(shifted);
                for row in 0..function.len() {
                    let difference = (8.0 * (c[row] - b[row]) - (d[row] - a[row])) / (12.0 * h);
                    // the error of the difference, by one of half the order
                    let error = ((c[row] - b[row]) / (2.0 * h) - difference).abs() + 1e-9;
                    let found = exact[row * 3 + col];
                    let size = 1.0 + found.abs() + c[row].abs();
                    if error > 1e-3 * size {
                        continue;
                    }
                    compared += 1;
                    let mut message = String::new();
                    write!(message, "{texts:?} at {at:?}: {found} or {difference}").expect("text");
                    assert!((found - difference).abs() <= 1e-5 * size + error, "{message}");
                }
            }
        }
    }
    assert!(compared > 20_000, "{compared}");
}

/// A formula alone, in company that shares its parts, and written into one text have the same bits.
#[test]
fn sharing_does_not_change_values() {
    let mut random = Random(5);
    for _ in 0..500 {
        let texts: Vec<String> = (0..4).map(|_| smooth(&mut random, 3)).collect();
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let at = [0.7, -0.4, 1.1];
        let together = values(&Function::parse(&all, &NAMES).expect("formulas"), &at);
        let array = Function::parse_array(&format!("[{}]", all.join(", ")), &NAMES);
        assert_eq!(values(&array.expect("a vector").0, &at), together);
        for (text, value) in texts.iter().zip(together) {
            assert_eq!(Formula::parse(text, &NAMES).expect(text).eval(&at), value);
        }
    }
}

#[test]
fn long_chains_are_differentiated() {
    let text = vec!["sin(x)"; 5_000].join("*x + y*");
    let f = Function::parse(&[&text], &NAMES).expect("a formula");
    assert!(values(&f.jacobian(&[0, 1]), &[0.1, 0.2, 0.0])[0].is_finite());

    let pieces: Vec<String> = (0..3_000).map(|i| format!("x < {i}, {}*x", i % 2)).collect();
    let text = format!("sqrt(piecewise({}, 0))", pieces.join(", "));
    let f = Function::parse(&[&text], &NAMES).expect("a formula");
    let slope = values(&f.jacobian(&[0]), &[2.5, 0.0, 0.0])[0];
    assert_eq!(slope, 0.5 / 2.5_f64.sqrt());
}

/// More values at a time than the small file of registers holds.
#[test]
fn many_registers() {
    let names: Vec<String> = (0..400).map(|i| format!("x[{i}]")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let f = Function::parse(&[&names.join("*")], &names).expect("a formula");
    let gradient = f.jacobian(&(0..400).collect::<Vec<_>>());
    let at: Vec<f64> = (0..400).map(|i| if i == 7 { 0.5 } else { 1.0 }).collect();
    let expected: Vec<f64> = (0..400).map(|i| if i == 7 { 1.0 } else { 0.5 }).collect();
    assert_eq!(values(&gradient, &at), expected);
}
