//! Messages, word for word, and the places they point at.

use saltus_expr::{ExprError, Formula, MAX_LENGTH};

#[track_caller]
fn error(text: &str) -> ExprError {
    let variables = ["r", "x[0]", "x[1]", "theta", "mass"];
    Formula::parse(text, &variables).expect_err(text)
}

/// The message, and a caret line under the text.
#[track_caller]
fn check(text: &str, carets: &str, message: &str) {
    let error = error(text);
    assert_eq!(error.to_string(), message);
    assert_eq!(error.caret(text), format!("{text}\n{carets}"));
}

#[test]
fn unknown_names() {
    check("2*rr", "  ^^", "unknown name `rr`; did you mean `r`?");
    check("R", "^", "unknown name `R`; did you mean `r`?");
    check("2*thetta", "  ^^^^^^", "unknown name `thetta`; did you mean `theta`?");
    check("x[7] + 1", "^^^^", "unknown name `x[7]`; did you mean `x[0]`?");
    check("x [ 7 ]", "^^^^^^^", "unknown name `x[7]`; did you mean `x[0]`?");
    check("x + 1", "^", "unknown name `x`; did you mean `x[0]`?");
    check("Pi", "^^", "unknown name `Pi`; did you mean `pi`?");
    check("k", "^", "unknown name `k`");
    check("e^2", "^", "unknown name `e`; Euler's number is `exp(1)`");
}

#[test]
fn functions() {
    check("1 + sni(r)", "    ^^^", "unknown function `sni`; did you mean `sin`?");
    check("arctan(r)", "^^^^^^", "unknown function `arctan`; did you mean `atan`?");
    check("mass(r)", "^^^^", "unknown function `mass`");
    check("sin + 1", "^^^", "`sin` is a function: expected `(` after it, found `+`");
    check("2*if", "  ^^", "`if` is a function: expected `(` after it, found the end");
    check("1 + sin()", "    ^^^^^", "`sin` takes 1 argument, found 0");
    check("atan2(1)", "^^^^^^^^", "`atan2` takes 2 arguments, found 1");
    check("max(r)", "^^^^^^", "`max` takes at least 2 arguments, found 1");
    check("if(r, 1)", "^^^^^^^^", "`if` takes 3 arguments, found 2");
    check("clamp(1,2,3,4)", "^^^^^^^^^^^^^^", "`clamp` takes 3 arguments, found 4");
}

#[test]
fn something_else_expected() {
    check("", "^", "expected a value, found the end");
    check("1 +", "   ^", "expected a value, found the end");
    check("1 + * 2", "    ^", "expected a value, found `*`");
    check("()", " ^", "expected a value, found `)`");
    check("max(r, )", "       ^", "expected a value, found `)`");
    check("2 * not r", "    ^^^", "expected a value, found `not`");
    check("1 < not r", "    ^^^", "expected a value, found `not`");
    check("r r", "  ^", "expected an operator or the end, found `r`");
    check("2(r)", " ^", "expected an operator or the end, found `(`");
    check("(1))", "   ^", "expected an operator or the end, found `)`");
    check("1, 2", " ^", "expected an operator or the end, found `,`");
    check("(1 + 2", "      ^", "expected an operator or `)`, found the end");
    check("(1, 2)", "  ^", "expected an operator or `)`, found `,`");
    check("sin(1", "     ^", "expected an operator, `,` or `)`, found the end");
    check("sin(1 2)", "      ^", "expected an operator, `,` or `)`, found `2`");
    check("x[i]", "  ^", "expected an index such as 0, found `i`");
    check("x[1.5]", "  ^^^", "expected an index such as 0, found `1.5`");
    check("x[-1]", "  ^", "expected an index such as 0, found `-`");
    check("x[", "  ^", "expected an index such as 0, found the end");
    check("x[]", "  ^", "expected an index such as 0, found `]`");
    check("x[0 + 1", "    ^", "expected `]`, found `+`");
    check("x[0", "   ^", "expected `]`, found the end");
}

#[test]
fn numbers() {
    let not = |text: &str| {
        format!("`{text}` is not a number such as 1, 1.5, .5 or 1e-3; a product needs `*`")
    };
    check("1_000", "^^^^^", &not("1_000"));
    check("r + 2r", "    ^^", &not("2r"));
    check("2e*r", "^^", &not("2e"));
    check("1.2.3", "^^^^^", &not("1.2.3"));
    check("0x1F", "^^^^", &not("0x1F"));
    check("1e-3e", "^^^^^", &not("1e-3e"));
    check("1e999", "^^^^^", "the number `1e999` is too large; infinity is `inf`");
}

#[test]
fn characters() {
    check("r = 2", "  ^", "unexpected character `=`; write `==`");
    check("r % 2", "  ^", "unexpected character `%`; write `mod(a, b)`");
    check("r && 2", "  ^", "unexpected character `&`; write `and`");
    check("!r", "^", "unexpected character `!`; write `not`");
    check("1 − r", "  ^", "unexpected character `−`; write `-`");
    check("π*r²", "^", "unexpected character `π`; write `pi`");
    check("r. q", " ^", "unexpected character `.`");
    check("'r'", "^", "unexpected character `'`");
    check("'r", "^", "unexpected character `'`");
    check("'r'.2", "^", "unexpected character `'`");
    check("r\0", " ^", "unexpected character `\\0`");
    check("\u{feff}r", "^", "unexpected character `\\u{feff}`");
    check("🦀", "^", "unexpected character `🦀`");
}

#[test]
fn comparisons_do_not_chain() {
    let message = "comparisons do not chain: write `a < b and b < c`, not `a < b < c`";
    check("0 < r < 1", "      ^", message);
    check("not r == 1 == 2", "           ^^", message);
}

#[test]
fn spans_are_bytes() {
    assert_eq!(error("2*rr").span(), 2..4);
    assert_eq!(error("1 +  ").span(), 3..3);
    assert_eq!(error("1 × 2").span(), 2..4);
    assert_eq!(error("1+\u{a0}rr").span(), 4..6);
    assert_eq!(error("sin(r, 2) ").span(), 0..9);
}

#[test]
fn fields() {
    let expected =
        ExprError::UnknownName { name: "rr".into(), nearest: Some("r".into()), span: 2..4 };
    assert_eq!(error("2*rr"), expected);
}

#[test]
fn caret_lines() {
    // the line it is on, tabs kept
    assert_eq!(error("r +\n\trr +\r\n r").caret("r +\n\trr +\r\n r"), "\trr +\n\t^^");
    // a span over lines is marked on its first
    assert_eq!(error("max(\n r)").caret("max(\n r)"), "max(\n^^^^");
    // what is left out of long lines is marked so
    let text = format!("{}rr{}", "1+".repeat(100), "+1".repeat(100));
    let expected = format!("…{}rr{}…\n{}^^", "1+".repeat(20), "+1".repeat(20), " ".repeat(41));
    assert_eq!(error(&text).caret(&text), expected);
    // another text than the one parsed does no harm
    assert_eq!(error("2*rr").caret(""), "\n^");
    assert_eq!(error("2*rr").caret("1−2"), "1−2\n ^");
}

#[test]
fn long_names_are_cut_in_messages() {
    let message = error(&"a".repeat(90_000)).to_string();
    assert_eq!(message, format!("unknown name `{}…`", "a".repeat(40)));
}

#[test]
fn limits() {
    let message = "nested too deep: expected at most 200 levels";
    let nested =
        |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    for (open, close) in
        [("(", ")"), ("-", ""), ("+", ""), ("not ", ""), ("1^", ""), ("sin(", ")"), ("max(", ",1)")]
    {
        assert!(Formula::parse(&nested(open, close, 200), &[]).is_ok(), "{open}");
        let text = nested(open, close, 201);
        assert_eq!(error(&text).to_string(), message, "{open}");
        assert_eq!(error(&text).span().start, open.len() * 201, "{open}");
    }
    assert_eq!(error(&"(".repeat(MAX_LENGTH)).to_string(), message);

    let longest = format!("{}1", "1+".repeat(MAX_LENGTH / 2 - 1));
    assert!(Formula::parse(&longest, &[]).is_ok());
    let error = error(&format!("{longest}+1"));
    assert_eq!(error.to_string(), "too long: expected at most 100000 bytes, found 100001");
    assert_eq!(error.span(), 100_000..100_001);
}
