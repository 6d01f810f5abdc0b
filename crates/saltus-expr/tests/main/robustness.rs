//! Any text is a formula or an error, never a panic.

use std::thread;

use saltus_expr::{Formula, Function, Rate, Shape, names};

const VARIABLES: [&str; 5] = ["x", "y", "t", "x[0]", "mu"];
const VALUES: [f64; 5] = [1.3, -0.7, 2.0, 0.25, 0.5];

/// A linear congruential generator (Knuth's MMIX constants), of which the upper bits are used.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const SEEDS: &[&str] = &[
    "2/5*mu^2 - x*y",
    "if(x > 0 and not y <= 1, sin(t)^2, -cos(t)**-1)",
    "max(x[0], min(y, 3.5e-2), clamp(t, 0, 1)) + x [ 0 ]",
    "atan2(y, x) + hypot(1, 2)*mod(-x, .5) - log10(1e3)",
    "((x + 1)*(y - 2))/(t^2 + mu) == pi or tau != inf",
    "sqrt(abs(x*y*t)) - round(2.5)\n\t+ sign(0)",
    "table(x, 0, 1, 2, y, 3, 4)*piecewise(x < 0, -x, t > 1, heaviside(y), 2)",
];

const ARRAYS: &[&str] = &[
    "[table(x, 0, 1, 2, y, 3, 4), piecewise(x < 0, -x, t > 1, heaviside(y), 2)]",
    "[[x^3, 1/y], [x^mu, mod(x, y)]]",
    "[max(x, y), atan2(y, x), if(x > 0, sqrt(x), t)]",
];

const PIECES: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "^",
    "**",
    "(",
    ")",
    ",",
    "[",
    "]",
    "<",
    "<=",
    "==",
    "!=",
    "!",
    "=",
    ".",
    "_",
    " ",
    "\n",
    "\t",
    "0",
    "1",
    "9",
    "1e",
    "1e-",
    "e",
    "E",
    "1e999",
    "x",
    "x[",
    "x[0]",
    "[0]",
    "and",
    "or ",
    " not ",
    "if(",
    "sin(",
    "max(",
    "pi",
    "nan",
    "inf",
    "π",
    "−",
    "²",
    "θ̇",
    "\u{a0}",
    "[[",
    "]]",
    "],[",
    "table(",
    "piecewise(",
    "heaviside(",
    "\u{feff}",
    "🦀",
    "\0",
    "\"",
    "\\",
    "%",
    "&",
    "|",
];

/// A seed with some characters taken out, put in, doubled or moved.
fn mutated(random: &mut Random, seeds: &[&str]) -> String {
    let mut text: Vec<char> = random.pick(seeds).chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len() + 1);
        let to = (at + random.below(12)).min(text.len());
        match random.below(5) {
            0 => drop(text.drain(at..to)),
            1 => drop(text.splice(at..at, random.pick(PIECES).chars())),
            2 => drop(text.splice(at..to, random.pick(PIECES).chars())),
            3 => {
                let doubled = text[at..to].to_vec();
                drop(text.splice(at..at, doubled));
            }
            _ => {
                let moved: Vec<char> = text.drain(at..to).collect();
                let target = random.below(text.len() + 1);
                drop(text.splice(target..target, moved));
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn mutated_texts() {
    let mut random = Random(1);
    let (mut formulas, mut errors) = (0, 0);
    for _ in 0..100_000 {
        let text = mutated(&mut random, SEEDS);
        match Formula::parse(&text, &VARIABLES) {
            Ok(formula) => {
                formulas += 1;
                formula.eval(&VALUES);
                let names = names(&text).expect(&text);
                for (index, variable) in VARIABLES.iter().enumerate() {
                    assert!(
                        !formula.uses(index) || names.iter().any(|name| name == variable),
                        "{text}"
                    );
                }
            }
            Err(error) => {
                errors += 1;
                let span = error.span();
                assert!(text.get(span).is_some(), "{text}: {error:?}");
                assert!(error.caret(&text).contains('^'), "{text}");
                assert!(!error.to_string().is_empty());
            }
        }
    }
    // the mutations are neither too mild nor too wild
    assert!(formulas > 5_000 && errors > 50_000, "{formulas} formulas, {errors} errors");
}

#[test]
fn random_pieces() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let text: String = (0..random.below(30)).map(|_| random.pick(PIECES)).collect();
        if let Err(error) = Formula::parse(&text, &VARIABLES) {
            assert!(text.get(error.span()).is_some(), "{text}: {error:?}");
            error.caret(&text);
        }
    }
}

/// Whatever parses, as one entry or several, can be differentiated twice and evaluated.
#[test]
fn mutated_arrays() {
    let mut random = Random(6);
    let mut arrays = 0;
    for _ in 0..30_000 {
        let text = mutated(&mut random, ARRAYS);
        match Function::parse_array(&text, &VARIABLES) {
            Ok((function, shape)) => {
                arrays += usize::from(shape != Shape::Scalar);
                assert_eq!(function.len(), shape.len());
                let slopes = function.jacobian(&[0, 1, 4]);
                let second = slopes.rate(&[(0, Rate::Variable(5)), (2, Rate::Number(1.0))]);
                let all = function.join(&slopes).join(&second);
                let values = [1.3, -0.7, 2.0, 0.25, 0.5, 1.1];
                all.eval(&values, &mut vec![0.0; all.len()]);
            }
            Err(error) => {
                assert!(text.get(error.span()).is_some(), "{text}: {error:?}");
                assert!(error.caret(&text).contains('^'), "{text}");
            }
        }
    }
    assert!(arrays > 500, "{arrays}");
}

/// A formula of `A` and `B`, as text.
pub(crate) fn grown(random: &mut Random, depth: usize) -> String {
    const LEAVES: &[&str] = &["A", "B", "0", "1.5", "3", "pi"];
    const OPERATORS: &[&str] = &["+", "-", "*", "/", "^", "<", ">=", "==", "!=", "and", "or"];
    const UNARY: &[&str] = &["-", "not ", "sin", "exp", "sqrt", "floor", "sign", "log", "round"];
    const BINARY: &[&str] = &["min", "max", "mod", "atan2", "hypot", "pow"];
    if depth == 0 {
        return random.pick(LEAVES).to_owned();
    }
    let operand = |random: &mut Random| grown(random, depth - 1);
    match random.below(6) {
        0 => format!("({}({}))", random.pick(UNARY), operand(random)),
        1 => format!("{}({}, {})", random.pick(BINARY), operand(random), operand(random)),
        2 => format!("if({}, {}, {})", operand(random), operand(random), operand(random)),
        _ => format!("({} {} {})", operand(random), random.pick(OPERATORS), operand(random)),
    }
}

/// Numbers written into a formula give the same bits as numbers handed to it.
#[test]
fn folding_and_evaluation_agree() {
    let mut random = Random(3);
    for _ in 0..5_000 {
        let depth = 1 + random.below(4);
        let text = grown(&mut random, depth);
        let values = [1.25, -0.3];
        let formula = Formula::parse(&text, &["A", "B"]).expect(&text);
        let written = text.replace('A', "1.25").replace('B', "(-0.3)");
        let folded = Formula::parse(&written, &[]).expect(&written);
        assert!(folded.is_constant());
        let (a, b) = (formula.eval(&values), folded.eval(&[]));
        assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{text}: {a} or {b}");
    }
}

/// The deepest formula there is fits on a small stack: every level passes through all rules.
#[test]
fn the_deepest_nesting_on_a_small_stack() {
    let text = format!("{}1{}", "0 or 1 and 0 < 1 + 2*(".repeat(200), ")".repeat(200));
    let parse = move || Formula::parse(&text, &[]).is_ok_and(|formula| formula.is_constant());
    let thread = thread::Builder::new().stack_size(1 << 20).spawn(parse);
    assert!(thread.expect("a thread").join().expect("no overflow"));
}
