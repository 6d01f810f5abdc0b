//! Functions that are made of others.

use saltus_expr::Function;

const NAMES: [&str; 3] = ["x", "y", "z"];

fn values(function: &Function, at: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; function.len()];
    function.eval(at, &mut out);
    out
}

/// f − g has the bits of the two values, subtracted.
#[test]
fn differences() {
    let f = Function::parse(&["sin(x)*y + z", "x/3", "7"], &NAMES).unwrap();
    let g = Function::parse(&["sin(x)*y", "z^2", "7"], &NAMES[..3]).unwrap();
    let difference = f.minus(&g);
    for at in [[0.3, -1.7, 0.1], [2.0, 1e9, -0.7], [-0.0, 0.0, 5.0]] {
        let (f, g) = (values(&f, &at), values(&g, &at));
        let expected: Vec<f64> = f.iter().zip(&g).map(|(f, g)| f - g).collect();
        assert_eq!(values(&difference, &at), expected);
        difference.compile();
        assert_eq!(values(&difference, &at), expected);
    }
    assert_eq!(difference.constant(2), Some(0.0));
    assert!(values(&f.minus(&f), &[f64::INFINITY, 1.0, 1.0])[0].is_nan());
}

/// Where variables are zero, what hangs on them alone is a number.
#[test]
fn without_some_variables() {
    let f = Function::parse(&["cos(x) + 3*y", "y*z", "if(z > 0, y, 2*x)"], &NAMES).unwrap();
    let rest = f.without(1..3);
    assert_eq!(rest.variables(), 3);
    assert_eq!(rest.used(), [0]);
    assert_eq!(rest.constant(1), Some(0.0));
    for x in [0.0, 0.4, -3.0] {
        assert_eq!(values(&rest, &[x, 8.0, 9.0]), values(&f, &[x, 0.0, 0.0]));
    }
    assert_eq!(values(&f.without(0..0), &[1.0, 2.0, 3.0]), values(&f, &[1.0, 2.0, 3.0]));
}
