//! The crate as its users see it.

mod allocation;
mod arrays;
mod combining;
mod derivatives;
mod errors;
mod folding;
mod machine;
mod meaning;
mod names;
mod robustness;

use saltus_expr::Formula;

/// The value of `text` with x = 3, y = −2, `x[0]` = 5.
#[track_caller]
fn value(text: &str) -> f64 {
    let names = ["x", "y", "x[0]"];
    let formula = Formula::parse(text, &names)
        .unwrap_or_else(|error| panic!("{error}\n{}", error.caret(text)));
    formula.eval(&[3.0, -2.0, 5.0])
}

/// The example at the crate's root.
#[test]
fn root_example() -> Result<(), saltus_expr::ExprError> {
    let names = ["q[0]", "v[0]", "m", "g"];
    let energy = Formula::parse("m*v[0]^2/2 + m*g*max(q[0], 0)", &names)?;
    assert_eq!(energy.eval(&[1.0, 4.0, 2.0, 9.75]), 35.5);
    assert!(energy.uses(1));

    let text = "2*rr";
    let error = Formula::parse(text, &["r"]).expect_err("an unknown name");
    assert_eq!(error.to_string(), "unknown name `rr`; did you mean `r`?");
    assert_eq!(error.caret(text), "2*rr\n  ^^");
    Ok(())
}
