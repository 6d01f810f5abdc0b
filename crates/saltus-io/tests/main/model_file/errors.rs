//! What is said of a wrong file, and where.

use super::{BALL, first_order, parse, replaced};
use saltus_io::ModelFile;
use saltus_io::model_file::ErrorKind;
use std::path::Path;

#[track_caller]
fn check_text(text: &str, expected: &str) {
    match parse(text) {
        Ok(_) => panic!("no error, expected {expected}"),
        Err(error) => assert_eq!(error.to_string(), format!("model.toml:{expected}")),
    }
}

/// The ball with something replaced.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    check_text(&replaced(BALL, from, to), expected);
}

#[test]
fn unknown_words() {
    check("theta = 0.5", "thta = 0.5", "9:38: unknown key `thta`; did you mean `theta`?");
    check("until =", "untl =", "11:1: unknown key `untl`; did you mean `until`?");
    check("F_ext =", "Fext =", "20:1: unknown key `Fext`; did you mean `F_ext`?");
    check("[[system]]", "[[systems]]", "14:3: unknown key `systems`; did you mean `system`?");
    check(
        "h = 5e-3",
        "h = 5e-3\nstep = 1",
        "11:1: unknown key `step`; expected one of `strategy`, `integrator`, `solver`, `newton`, `h`, `rtol`, `atol`, `tol`, `until`, `t0`, `output`",
    );
    check(
        "\"moreau-jean\"",
        "\"moreau-jaen\"",
        "9:23: unknown integrator `moreau-jaen`; did you mean `moreau-jean`?",
    );
    check(
        "kind = \"lagrangian-linear\"\nq0",
        "kind = \"Newtonian\"\nq0",
        "16:8: unknown kind of system `Newtonian`; expected one of `first-order`, `first-order-linear`, `lagrangian`, `lagrangian-linear`, `rigid-body`, `rigid-body-2d`",
    );
    check(
        "{ kind = \"newton-impact\", e = 0.9 }",
        "\"newton\"",
        "26:7: unknown law `newton`; expected one of `complementarity`, `equality`, `relay`, `piecewise-linear`, `switch`, `normal-cone`, `newton-impact`, `impact-friction`, `rolling-friction`, `fremond`, `multiple-impact`, `cohesive`, …",
    );
    check(
        "\"time-stepping\" ",
        "\"event driven\" ",
        "8:12: unknown strategy `event driven`; did you mean `event-driven`?",
    );
    check("[\"ball\"]", "[\"bal\"]", "24:12: there is no system named `bal`; did you mean `ball`?");
    check(
        "\"floor.lam\"",
        "\"floor.lamda\"",
        "12:44: the model has no signal `floor.lamda`; did you mean `floor.lam`?",
    );
    check("\"ball.q\"", "\"ball.q[3]\"", "12:34: `ball.q[3]`: index 3 is outside 0 to 2");
}

#[test]
fn missing_keys() {
    check("h = 5e-3\n", "", "7:1: [simulation]: missing key `h`, time-stepping: the time step");
    check(
        "e = 0.9",
        "",
        "26:7: interaction `floor`, law: missing key `e`, the restitution, in [0, 1]",
    );
    check(
        "v0 = [0.0, 0.0, 0.0]\n",
        "",
        "14:1: system `ball`: missing key `v0`, the initial velocity",
    );
    check(
        "kind = \"lagrangian-linear\"\nq0",
        "q0",
        "14:1: system `ball`: missing key `kind`, one of `first-order`, `first-order-linear`, `lagrangian`, `lagrangian-linear`, `rigid-body`, `rigid-body-2d`",
    );
    check("name = \"ball\"\n", "", "14:1: system: missing key `name`, the system's name");
    check_text(
        "title = 'a'",
        "1:1: model file: missing key `simulation`, how the model is simulated",
    );
    check_text(
        "[simulation]\nh = 1\nuntil = 1\n",
        "1:1: the model has no system; expected at least one [[system]] or [[body]]",
    );
    check_text(
        "[simulation]\nh = 1\nuntil = 1\n[[system]]\nfor = 'i in 0..0'\nname = 's{i}'\nkind = 'lagrangian-linear'\n",
        "4:3: the model has no system; expected at least one [[system]] or [[body]]",
    );
}

#[test]
fn wrong_types() {
    check(
        "q0 = [1.0, 0.0, 0.0]",
        "q0 = 1.0",
        "17:6: `q0`: expected an array of numbers, found a number",
    );
    check("h = 5e-3", "h = true", "10:5: `h`: expected a number or a formula, found a boolean");
    check("h = 5e-3", "h = 2020-01-01", "10:5: `h`: expected a number or a formula, found a date");
    check(
        "title = \"bouncing ball\"",
        "title = 3",
        "1:9: `title`: expected a string, found a number",
    );
    check(
        "[1, 0, 0], [0, 1",
        "1, [0, 1",
        "19:6: `M[0]`: expected a row, which is an array of numbers, found a number",
    );
    check(
        "[1, 0, 0], [0, 1, 0]",
        "[1, 0, 0], [0, 1]",
        "19:17: `M`: row 1 has 2 entries, expected 3 (the length of row 0)",
    );
    check(
        "[[system]]",
        "[system]",
        "14:1: `system`: expected tables, each headed [[system]], found a table",
    );
    check("[simulation]", "[[simulation]]", "7:1: `simulation`: expected a table, found an array");
    check(
        "[\"ball\"]",
        "\"ball\"",
        "24:11: `systems`: expected an array of one or two names of systems, found a string",
    );
    check(
        "every = 1",
        "every = 1.5",
        "12:20: `every` is 1.5, expected a whole number that is not negative",
    );
    check("every = 1", "every = 0", "12:12: `every` is 0, expected at least 1");
}

#[test]
fn formulas() {
    check("\"2/5*r^2\"", "\"2/5*rr^2\"", "19:40: unknown name `rr`; did you mean `r`?");
    check("\"2/5*r^2\"", "\"2/5*(r^2\"", "19:44: expected an operator or `)`, found the end");
    check("\"2/5*r^2\"", "'''\n 2/5*\n rr'''", "21:2: unknown name `rr`; did you mean `r`?");
    check(
        "\"2/5*r^2\"",
        "\"1/(r - 0.1)\"",
        "19:35: `M[2][2]`: expected a finite number, found inf",
    );
    check("g = 9.81", "g = \"9,81\"", "4:7: expected an operator or the end, found `,`");
    check("g = 9.81", "g = nan", "4:5: `g`: expected a finite number, found NaN");
    check("h = 5e-3", "h = 1e999", "10:5: the number 1e999 is too large; infinity is `inf`");
    check("h = 5e-3", "h = inf", "10:5: `h`: expected a finite number, found inf");
    check("h = 5e-3", "h = \"dt\"", "10:6: unknown name `dt`");
}

#[test]
fn constants() {
    let refused = "must be constant, so its formula cannot use";
    check("\"2/5*r^2\"", "\"2*t\"", &format!("19:38: `M` {refused} `t`"));
    check("\"2/5*r^2\"", "\"q[0]\"", &format!("19:36: `M` {refused} `q[0]`"));
    check("h = 5e-3", "h = \"t\"", &format!("10:6: `h` {refused} `t`"));
    check("g = 9.81", "g = \"2*t\"", &format!("4:8: `g` {refused} `t`"));
    check("[1.0, 0.0, 0.0]", "{ size = 3, entry = \"t\" }", &format!("17:27: `q0` {refused} `t`"));
}

#[test]
fn parameters() {
    check(
        "g = 9.81\nr = 0.1",
        "z = 'g'\ng = '2*r'\nr = 's - 1'\ns = 'g'",
        "5:1: parameters refer to each other in a circle: g → r → s → g",
    );
    check("g = 9.81", "g = 'g'", "4:1: parameters refer to each other in a circle: g → g");
    check("g = 9.81", "g = 'rr'", "4:6: unknown name `rr`; did you mean `r`?");
    check(
        "g = 9.81",
        "sin = 1\ng = 9.81",
        "4:1: `sin` cannot name a parameter: it is a function or a keyword of formulas",
    );
    check(
        "g = 9.81",
        "t = 1\ng = 9.81",
        "4:1: `t` cannot name a parameter: formulas use `t` for the time, `row` and `col` for the place in an array",
    );
    check(
        "g = 9.81",
        "a-b = 1\ng = 9.81",
        "4:1: `a-b` cannot name a parameter: formulas know names of letters, digits and `_`",
    );
    check("g = 9.81", "g = [9.81]", "4:5: `g`: expected a number or a formula, found an array");
}

#[test]
fn of_the_model() {
    check(
        "v0 = [0.0, 0.0, 0.0]",
        "v0 = [0.0, 0.0]",
        "18:1: system `ball`: `v0` has length 2, expected 3 (the length of `q0`)",
    );
    check(
        "H = [[1, 0, 0]]",
        "H = [[1, 0]]",
        "25:42: interaction `floor`: `H` is 1 × 2, expected 1 × 3 (rows of `H`, degrees of freedom of the linked systems)",
    );
    check(
        "e = 0.9",
        "e = 1.5",
        "26:33: interaction `floor`, law NewtonImpact: `e` = 1.5 is outside [0, 1]",
    );
    check(
        "{ kind = \"newton-impact\", e = 0.9 }",
        "\"complementarity\"",
        "26:1: interaction `floor`: the law Complementarity does not apply to a Lagrangian relation; use NewtonImpact(e=0) for a contact",
    );
    check(
        "name = \"floor\"",
        "name = \"ball\"",
        "23:1: the name `ball` is used twice; names of systems and interactions must differ",
    );
    check(
        "[\"ball\"]",
        "[\"ball\", \"ball\"]",
        "24:1: interaction `floor` links system `ball` twice",
    );
    check("[\"ball\"]", "[]", "24:1: interaction `floor` links 0 systems, expected one or two");
    check(
        "[[1, 0, 0],",
        "[[-1, 0, 0],",
        "19:1: system `ball`: the mass matrix `M` is not positive definite; a Lagrangian system needs it symmetric positive definite",
    );
}

#[test]
fn of_the_simulation() {
    check("h = 5e-3", "h = 0", "10:1: `h` is 0, expected a positive number");
    check(
        "h = 5e-3",
        "h = 1e-30",
        "10:1: `h` is 1e-30, expected a step that is not lost in rounding at t = 10",
    );
    check("until = 10.0", "t0 = 5\nuntil = 1", "12:1: `until` is 1, expected at least t0 = 5");
    check("theta = 0.5", "theta = 1.5", "9:38: `theta` is 1.5, expected [0, 1]");
    check(
        "theta = 0.5",
        "projection = \"direkt\"",
        "9:51: unknown projection `direkt`; did you mean `direct`?",
    );
    check("h = 5e-3", "solver = { tol = 0 }\nh = 5e-3", "10:12: `tol` is 0, expected (0, 0.1]");
    check(
        "{ kind = \"moreau-jean\", theta = 0.5 }",
        "\"euler-moreau\"",
        "9:14: the integrator `euler-moreau` is for first-order systems, of which the model has none",
    );
    check(
        "{ kind = \"moreau-jean\", theta = 0.5 }",
        "[{ theta = 1 }, \"moreau-jean\"]",
        "9:30: the integrator `moreau-jean` is for Lagrangian systems, which have one already",
    );
}

#[test]
fn repetitions() {
    let for_ = |text: &str| format!("for = {text}\nname = \"ball\"\n");
    check(
        "name = \"ball\"\n",
        &for_("'i in 0..3'"),
        "16:8: a repeated system needs the loop variable in its name, for example `ball{i}`",
    );
    let for_ = |text: &str| format!("for = {text}\nname = \"ball{{i}}\"\n");
    check(
        "name = \"ball\"\n",
        &for_("'i of 0..3'"),
        "15:7: expected a repetition such as `i in 0..N`, found `i of 0..3`",
    );
    check("name = \"ball\"\n", &for_("'i in 0..N'"), "15:16: unknown name `N`");
    check(
        "name = \"ball\"\n",
        &for_("'i in 0..2.5'"),
        "15:16: `2.5` is 2.5, expected a whole number",
    );
    check(
        "name = \"ball\"\n",
        &for_("'g in 0..2'"),
        "15:8: `g` cannot name a loop variable: it is a parameter",
    );
    check(
        "name = \"ball\"\n",
        &for_("'t in 0..2'"),
        "15:8: `t` cannot name a loop variable: formulas use `t` for the time, `row` and `col` for the place in an array",
    );
    check(
        "name = \"ball\"\n",
        &for_("3"),
        "15:7: `for`: expected a string such as \"i in 0..N\", found a number",
    );
    check(
        "name = \"ball\"\n",
        &for_("'i in 0..1e9'"),
        "15:7: `for` asks for 1000000000 repetitions, expected at most 1000000 in all",
    );
    check(
        "name = \"ball\"\n",
        &for_("'i in 0..2'"),
        "25:12: there is no system named `ball`; did you mean `ball0`?",
    );
    check(
        "name = \"ball\"\n",
        "for = 'i in 0..2'\nname = \"ball{2*j}\"\n",
        "16:16: unknown name `j` (with i = 0)",
    );
    check(
        "name = \"ball\"\n",
        "for = 'i in 0..2'\nname = \"ball{i/2}\"\n",
        "16:14: `i/2` is 0.5, expected a whole number (with i = 1)",
    );
    check(
        "name = \"ball\"\n",
        "for = 'i in 0..2'\nname = \"ball{0}\"\n",
        "16:1: the name `ball0` is used twice; names of systems and interactions must differ (with i = 1)",
    );
    check(
        "name = \"ball\"\n",
        "for = 'i in 0..2'\nname = \"ball{i\"\n",
        "16:8: `ball{i`: a brace that is not closed, or not opened (with i = 0)",
    );
    check(
        "name = \"ball\"\n",
        "name = \"ball{i}\"\n",
        "15:14: unknown name `i`; did you mean `pi`?",
    );
}

#[test]
fn sizes() {
    let A = |A: &str| first_order("", &format!("x0 = [0]\nA = {A}"));
    check_text(
        &A("{ rows = 1e5, cols = 1e5, entry = 0 }"),
        "10:5: `A` asks for 10000000000 entries, expected at most 100000000 in all",
    );
    check_text(
        &A("{ identity = 1e300 }"),
        "10:18: `identity` is 1e300, expected a whole number that is not negative",
    );
    check_text(
        &A("{ rows = 2, entry = 0 }"),
        "10:5: `A`: missing key `cols`, the number of columns",
    );
    check_text(
        &A("{ rows = 2, cols = 2, entri = 0 }"),
        "10:27: unknown key `entri`; did you mean `entry`?",
    );
    check_text(&A("{ diagonl = [1] }"), "10:7: unknown key `diagonl`; did you mean `diagonal`?");
    check_text(
        &A("{ rows = 2, cols = 2, entry = \"1/row\" }"),
        "10:35: `A[0][0]`: expected a finite number, found inf",
    );
    check_text(
        &A("{ rows = 2, cols = 2, entry = \"roww\" }"),
        "10:36: unknown name `roww`; did you mean `row`?",
    );
    check_text(&A("[[\"row\"]]"), "10:8: unknown name `row`");
}

#[test]
fn not_toml() {
    let error = parse("a = [1,\n").expect_err("it is not TOML");
    assert!(matches!(*error.kind, ErrorKind::Syntax { .. }), "{error}");
    assert!(error.to_string().starts_with("model.toml:1:8: unclosed array"), "{error}");
    let error = parse("a = 1\na = 2\n").expect_err("twice");
    assert_eq!(error.to_string(), "model.toml:2:1: duplicate key");
    let error = parse("  \n").expect_err("empty");
    assert_eq!(
        error.to_string(),
        "model.toml: the file is empty; expected a model with [simulation] and at least one [[system]] or [[body]]"
    );
    assert_eq!(error.report(), error.to_string());
}

#[test]
fn the_report_shows_the_place() {
    let text = replaced(BALL, "\"2/5*r^2\"", "\"2/5*rr^2\"");
    let error = parse(&text).expect_err("no rr");
    let expected = r#"model.toml:19:40: unknown name `rr`; did you mean `r`?
   |
19 | M = [[1, 0, 0], [0, 1, 0], [0, 0, "2/5*rr^2"]]
   |                                        ^^"#;
    assert_eq!(error.report(), expected);
    assert_eq!((error.file.as_str(), error.line, error.column), ("model.toml", 19, 40));
    assert!(matches!(*error.kind, ErrorKind::Formula(_)));
}

#[test]
fn files() {
    let read = |path: &Path| ModelFile::read(path, &[]).expect_err("it cannot be read").to_string();
    assert_eq!(read(Path::new("no/such.toml")), "no/such.toml: no such file");
    assert_eq!(read(Path::new("src")), "src: a directory, expected a model file (.toml)");

    let path = std::env::temp_dir().join(format!("saltus-not-utf8-{}.toml", std::process::id()));
    std::fs::write(&path, b"a = 1\nb = '\xff'\n").expect("a file in the temporary folder");
    let message = read(&path);
    std::fs::remove_file(&path).expect("it was there");
    assert_eq!(message, format!("{}:2:6: not UTF-8 text: byte 0xff", path.display()));
}
