//! The `saltus` command.
fn main() {}
