//! Model files: what they mean, and what is said of wrong ones.

mod allocation;
mod errors;
mod events;
mod examples;
mod formulas;
mod meaning;
mod overrides;
mod robustness;
mod scenes;
mod schema;
mod strategies;
mod vocabulary;

use saltus_io::{ModelFile, ModelFileError};

/// The bouncing ball of the contract, word for word.
const BALL: &str = r#"title = "bouncing ball"

[parameters]            # usable in every number below as a formula string
g = 9.81
r = 0.1

[simulation]
strategy = "time-stepping"      # "event-driven", "adaptive"
integrator = { kind = "moreau-jean", theta = 0.5 }
h = 5e-3
until = 10.0
output = { every = 1, signals = ["ball.q", "floor.lam"] }   # optional: all by default

[[system]]
name = "ball"
kind = "lagrangian-linear"
q0 = [1.0, 0.0, 0.0]
v0 = [0.0, 0.0, 0.0]
M = [[1, 0, 0], [0, 1, 0], [0, 0, "2/5*r^2"]]
F_ext = ["-g", 0, 0]

[[interaction]]
name = "floor"
systems = ["ball"]
relation = { kind = "lagrangian-linear", H = [[1, 0, 0]], b = ["-r"] }
law = { kind = "newton-impact", e = 0.9 }
"#;

fn parse(text: &str) -> Result<ModelFile, ModelFileError> {
    ModelFile::parse(text, "model.toml", &[])
}

/// A text in which something is replaced; it has to be there.
#[track_caller]
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in the text");
    text.replacen(from, to, 1)
}

/// A first-order model with these lines in its system.
fn first_order(parameters: &str, system: &str) -> String {
    format!(
        "[parameters]\n{parameters}\n[simulation]\nh = 1\nuntil = 1\n[[system]]\nname = \"s\"\nkind = \"first-order-linear\"\n{system}\n"
    )
}
