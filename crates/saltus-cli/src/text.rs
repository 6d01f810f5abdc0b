//! Small pieces of text, and where they go.

use crate::Error;
use std::io::{ErrorKind, Write};

/// Writes to standard output. A reader that has left, as `head` does, has had enough.
pub fn out(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Writes a message to standard error; where that fails there is nobody left to tell.
pub fn message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "saltus: {text}");
}

/// `1 step`, `2 steps`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A duration with a unit that suits it.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{s:.0} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", 1e3 * s),
        s if s >= 1e-6 => format!("{:.2} µs", 1e6 * s),
        s => format!("{:.0} ns", 1e9 * s),
    }
}

/// A number with at most so many digits.
pub fn number(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let plain = (1e-4..1e7).contains(&rounded.abs()) || rounded == 0.0;
    if plain { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// Two columns, the first as wide as its widest entry.
pub fn columns(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter()
        .map(|(name, value)| {
            let pad = " ".repeat(width - name.chars().count());
            format!("  {name}{pad}  {value}\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_the_value() {
        assert_eq!(seconds(250.0), "250 s");
        assert_eq!(seconds(1.234), "1.23 s");
        assert_eq!(seconds(0.0021), "2.10 ms");
        assert_eq!(seconds(3.2e-6), "3.20 µs");
        assert_eq!(seconds(4.1e-8), "41 ns");
        assert_eq!(plural(1, "step"), "1 step");
        assert_eq!(plural(3, "step"), "3 steps");
    }
}
