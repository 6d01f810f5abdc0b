//! No text makes the reader panic, hang or overflow the stack.

use super::{BALL, examples, parse};
use saltus_io::ModelFile;

/// A small deterministic generator: Knuth's linear congruential one.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// A text with a few random changes.
fn mutated(text: &str, random: &mut Random) -> String {
    const PIECES: [&str; 24] = [
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        "=",
        ".",
        "\n",
        "\"\"\"",
        "#",
        "-1",
        "inf",
        "nan",
        "\"t\"",
        "\"row\"",
        "{i}",
        "for = \"i in 0..3\"\n",
        "1e9",
        "λ",
        "\\",
        ",",
        "[[system]]\n",
        "kind = \"relay\"",
    ];
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(3) {
        let at = text.floor_char_boundary(random.below(text.len()));
        let end = text.floor_char_boundary((at + random.below(12)).min(text.len()));
        match random.below(4) {
            0 => text.replace_range(at..end, ""),
            1 => text.replace_range(at..end, PIECES[random.below(PIECES.len())]),
            2 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
            _ => {
                let piece = text[at..end].to_owned();
                let at = text.floor_char_boundary(random.below(text.len()));
                text.insert_str(at, &piece);
            }
        }
    }
    text
}

#[test]
fn mutated_files() {
    let mut random = Random(1);
    let mut texts = vec![BALL.to_owned()];
    for path in examples::all() {
        texts.push(std::fs::read_to_string(path).expect("an example"));
    }
    let mut wrong = 0;
    for _ in 0..4000 {
        let text = mutated(&texts[random.below(texts.len())], &mut random);
        if let Err(error) = parse(&text) {
            wrong += 1;
            assert!(!error.message.is_empty());
            assert!(error.line <= text.lines().count() + 1);
            assert!(error.report().contains(&error.message));
        }
    }
    assert!(wrong > 1000, "only {wrong} were wrong");
}

#[test]
fn mutated_overrides() {
    let mut random = Random(2);
    let good =
        ["ball.q0[0]=\"2*r\"", "floor.law.e=0.5", "simulation.integrator.theta=1", "g={a.b=[1,2]}"];
    for _ in 0..4000 {
        let text = mutated(good[random.below(good.len())], &mut random);
        let (path, value) = text.split_once('=').unwrap_or((&text, ""));
        if let Err(error) =
            ModelFile::parse(BALL, "model.toml", &[(path.to_owned(), value.to_owned())])
        {
            assert!(error.report().contains(&error.message));
        }
    }
}

#[test]
fn deep_nesting() {
    let deep = 100_000;
    for text in [
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}", "{ a = ".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
        format!("{}'a' = 1", "'a' . ".repeat(deep)),
        format!("a = {{ {}a = 1 }}", "a.".repeat(deep)),
        format!("[parameters]\na = \"{}\"", "(".repeat(deep)),
        format!("[parameters]\na = \"{}1\"", "-".repeat(deep)),
    ] {
        assert!(parse(&text).is_err());
    }
    let values =
        [("g".to_owned(), "[".repeat(deep)), (format!("g{}", ".g".repeat(deep)), "1".to_owned())];
    for change in values {
        assert!(ModelFile::parse(BALL, "model.toml", &[change]).is_err());
    }
}

#[test]
fn long_chains_of_parameters() {
    let mut text = String::from("[parameters]\np0 = 1\n");
    for i in 1..20_000 {
        text += &format!("p{i} = \"p{} + 1\"\n", i - 1);
    }
    text += "[simulation]\nh = 1\nuntil = \"p19999\"\n[[system]]\nname = 's'\nkind = 'first-order-linear'\nx0 = [0]\nA = [[0]]\n";
    assert_eq!(parse(&text).expect("it is right").simulation.until, 20_000.0);
    let circle = text.replacen("p0 = 1", "p0 = \"p19999\"", 1);
    assert!(parse(&circle).is_err());
}
