//! The names a text uses, without knowing which exist.

use saltus_expr::names;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(names(text).expect(text), expected);
}

#[test]
fn in_order_of_first_use() {
    check("2*r^2 + m*sin(r)", &["r", "m"]);
    check("x [ 1 ] + x[0] + x", &["x[1]", "x[0]", "x"]);
    check("1 + 2", &[]);
    check("_a1 and B", &["_a1", "B"]);
}

#[test]
fn with_constants_and_dead_branches() {
    check("tau*k + e", &["tau", "k", "e"]);
    check("if(0, a, b)", &["a", "b"]);
}

#[test]
fn errors_as_in_parse() {
    let error = names("a + sni(b)").expect_err("no such function");
    assert_eq!(error.to_string(), "unknown function `sni`; did you mean `sin`?");
}
