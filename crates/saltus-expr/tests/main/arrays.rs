//! Vectors and matrices in one text, and several texts.

use saltus_expr::{ExprError, Function, Shape, names};

const NAMES: [&str; 2] = ["x[0]", "k"];

#[track_caller]
fn check(text: &str, shape: Shape, expected: &[f64]) {
    let (function, found) = Function::parse_array(text, &NAMES)
        .unwrap_or_else(|error| panic!("{error}\n{}", error.caret(text)));
    assert_eq!(found, shape, "{text}");
    assert_eq!(shape.len(), expected.len());
    let mut out = vec![f64::NAN; function.len()];
    function.eval(&[3.0, 2.0], &mut out);
    assert_eq!(out, expected, "{text}");
}

#[test]
fn shapes() {
    check("k*x[0]", Shape::Scalar, &[6.0]);
    check("[k*x[0]]", Shape::Vector(1), &[6.0]);
    check(" [ x [0], 2 , -k ] ", Shape::Vector(3), &[3.0, 2.0, -2.0]);
    check("[[1, k], [x[0], 4]]", Shape::Matrix(2, 2), &[1.0, 2.0, 3.0, 4.0]);
    check("[[1, max(k, 7)]]", Shape::Matrix(1, 2), &[1.0, 7.0]);
    check("[[1],\n [k]]", Shape::Matrix(2, 1), &[1.0, 2.0]);
}

#[track_caller]
fn wrong(text: &str, carets: &str, message: &str) {
    let error = Function::parse_array(text, &NAMES).expect_err(text);
    assert_eq!(error.to_string(), message);
    assert_eq!(error.caret(text), format!("{text}\n{carets}"));
}

#[test]
fn errors() {
    let ragged = "the rows of a matrix must have the same length: expected 2, found";
    wrong("[[1, 2], [3]]", "         ^^^", &format!("{ragged} 1"));
    wrong("[[1, 2], [3, 4, 5]]", "         ^^^^^^^^^", &format!("{ragged} 3"));
    wrong("[]", " ^", "expected a value, found `]`");
    wrong("[[]]", "  ^", "expected a value, found `]`");
    wrong("[1, ]", "    ^", "expected a value, found `]`");
    wrong("[1, [2]]", "    ^", "expected a value, found `[`");
    wrong("[[1], 2]", "      ^", "expected `[`, found `2`");
    wrong("[1, 2", "     ^", "expected an operator, `,` or `]`, found the end");
    wrong("[[1, 2]", "       ^", "expected `,` or `]`, found the end");
    wrong("[1] + 2", "    ^", "expected the end, found `+`");
    wrong("1 + [2]", "    ^", "expected a value, found `[`");
    wrong("[1, kk]", "    ^^", "unknown name `kk`; did you mean `k`?");
    wrong("k]", " ^", "expected an operator or the end, found `]`");
}

#[test]
fn tables() {
    let message = "the abscissae of a `table` must be finite constants in ascending order";
    wrong("table(k, 0, 1, k + 1, 2)", "               ^^^^^", message);
    wrong("table(k, 0, 1, 0, 2)", "               ^", message);
    wrong("table(k, -inf, 1, 0, 2)", "         ^^^^", message);
    let few = "`table` takes an argument, then at least 2 points x, y, found";
    wrong("table(k, 0, 1)", "^^^^^^^^^^^^^^", &format!("{few} 3"));
    wrong("table(k, 0, 1, 2)", "^^^^^^^^^^^^^^^^^", &format!("{few} 4"));
    let pairs =
        "`piecewise` takes pairs of a condition and a value, then a value for all else, found";
    wrong("piecewise(1, 2)", "^^^^^^^^^^^^^^^", &format!("{pairs} 2"));
    wrong("piecewise(1)", "^^^^^^^^^^^^", &format!("{pairs} 1"));
    check("[table(k, 0, 1, 4, 5), table(9, 0, 1, 4, k)]", Shape::Vector(2), &[3.0, 2.0]);
    check("piecewise(k < 0, 1, k < 3, 5, 9)", Shape::Scalar, &[5.0]);
}

#[test]
fn errors_tell_the_text() {
    let texts = ["k", "1 + kk", "k"];
    let error = Function::parse(&texts, &NAMES).expect_err("an unknown name");
    assert_eq!((error.text(), error.span()), (1, 4..6));
    assert_eq!(error.to_string(), "unknown name `kk`; did you mean `k`?");
    assert_eq!(error.caret(texts[1]), "1 + kk\n    ^^");
    assert!(matches!(error, ExprError::Among { text: 1, .. }));
}

#[test]
fn constants_of_the_caller() {
    let constants = [("L", 2.0), ("pi", 3.0), ("k", 100.0)];
    let f = Function::parse_with(&["table(k, 0, 0, L, pi)"], &["k"], &constants);
    let mut out = [0.0];
    f.expect("a formula").eval(&[1.0], &mut out);
    assert_eq!(out, [1.5]); // the variable `k` hides the constant
    assert_eq!(names("[[table(a, 0, 0, L, b)], [pi]]").expect("names"), ["a", "L", "b", "pi"]);
    let error = Function::parse_with(&["LL"], &[], &constants).expect_err("unknown");
    assert_eq!(error.to_string(), "unknown name `LL`; did you mean `L`?");
}

#[test]
fn functions_are_shared_by_threads() {
    fn is_shared<T: Send + Sync + 'static>(_: &T) {}
    let (f, _) = Function::parse_array("[x[0], k*x[0]]", &NAMES).expect("a vector");
    is_shared(&f);
    std::thread::scope(|scope| {
        for i in 0..4 {
            let f = &f;
            scope.spawn(move || {
                let mut out = [0.0; 2];
                for _ in 0..1000 {
                    f.eval(&[f64::from(i), 2.0], &mut out);
                    assert_eq!(out, [f64::from(i), 2.0 * f64::from(i)]);
                }
            });
        }
    });
}
