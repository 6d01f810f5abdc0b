//! Numbers as SPICE writes them: `4.7`, `1e-3`, `10u`, `2.2kohm`, `1meg`, `1e-3k`.
//!
//! ```text
//! number = mantissa [ "e" [ sign ] digits ] letters
//! suffix = t 1e12 | g 1e9 | meg 1e6 | k 1e3 | mil 25.4e-6 | m 1e-3 | u µ 1e-6 | n 1e-9 | p 1e-12 | f 1e-15 | a 1e-18
//! ```
//!
//! Letters that are no suffix, or follow one, are a unit and are ignored. Case does not count, so `1M` is a milli.

/// A number as SPICE writes it, `50k` or `-1e-3`, where a text is nothing else.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match scan(rest)? {
        Ok((value, length)) if length == rest.len() => Some(sign * value),
        _ => None,
    }
}

/// The number at the beginning of a text, without sign, and its length in bytes.
///
/// `None` if there is none; `Err` with its length if what stands there begins like a number and is none.
pub(crate) fn scan(text: &str) -> Option<Result<(f64, usize), usize>> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let count = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        from + count
    };
    let whole = digits(0);
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if end == 0 || &text[..end] == "." {
        return None;
    }
    let mantissa = &text[..end];

    // an exponent only if digits follow: else the `e` is a letter of the unit
    let mut exponent = 0i32;
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let (from, to) = (end + 1 + sign, digits((end + 1 + sign).min(bytes.len())));
        if to > from {
            let size = text[from..to].parse::<i32>().unwrap_or(9999).min(9999);
            exponent = if bytes[end + 1] == b'-' { -size } else { size };
            end = to;
        }
    }

    let letters = |c: char| c.is_alphabetic() || matches!(c, 'µ' | 'Ω' | '°' | '_');
    let unit_length = text[end..].find(|c| !letters(c)).unwrap_or(text.len() - end);
    let unit = &text[end..end + unit_length];
    end += unit_length;

    // `1k5`, `1.2.3`: what follows a number must not be another one
    if text[end..].starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let word = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
        let length = text[end..].find(|c| !word(c)).unwrap_or(text.len() - end);
        return Some(Err(end + length));
    }

    let (power, factor) = suffix(unit);
    let decimal = format!("{mantissa}e{}", exponent + power);
    match decimal.parse::<f64>() {
        Ok(value) if (value * factor).is_finite() => Some(Ok((value * factor, end))),
        _ => Some(Err(end)),
    }
}

/// The power of ten and the factor of the letters behind a number.
fn suffix(unit: &str) -> (i32, f64) {
    let begins =
        |with: &str| unit.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    if begins("meg") {
        return (6, 1.0);
    }
    if begins("mil") {
        return (0, 25.4e-6);
    }
    let power = match unit.chars().next().map(|c| c.to_ascii_lowercase()) {
        Some('t') => 12,
        Some('g') => 9,
        Some('k') => 3,
        Some('m') => -3,
        Some('u' | 'µ' | 'μ') => -6,
        Some('n') => -9,
        Some('p') => -12,
        Some('f') => -15,
        Some('a') => -18,
        _ => 0,
    };
    (power, 1.0)
}

/// A whole text as a number, with a sign if it has one.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    match scan(rest) {
        Some(Ok((value, length))) if length == rest.len() => Some(sign * value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_and_units() {
        for (text, value) in [
            ("0", 0.0),
            ("4.7", 4.7),
            (".5", 0.5),
            ("5.", 5.0),
            ("-3", -3.0),
            ("+3", 3.0),
            ("1e3", 1e3),
            ("1E-3", 1e-3),
            ("1e-3k", 1.0),
            ("10u", 1e-5),
            ("10uF", 1e-5),
            ("10µF", 1e-5),
            ("10μ", 1e-5),
            ("1kohm", 1e3),
            ("1kΩ", 1e3),
            ("1K", 1e3),
            ("1meg", 1e6),
            ("1MEGohm", 1e6),
            ("1M", 1e-3),
            ("1mil", 25.4e-6),
            ("2t", 2e12),
            ("2g", 2e9),
            ("3n", 3e-9),
            ("3pF", 3e-12),
            ("3f", 3e-15),
            ("3a", 3e-18),
            ("5V", 5.0),
            ("1e", 1.0),
            ("0.1u", 1e-7),
            ("2.2n", 2.2e-9),
            ("1e-400", 0.0),
        ] {
            assert_eq!(parse(text), Some(value), "{text}");
        }
    }

    #[test]
    fn none() {
        for text in ["", "-", ".", "a", "1k5", "1.2.3", "1 2", "1e999", "--1", "1+", "λ"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(scan("1k5*2"), Some(Err(3)));
        assert_eq!(scan("2*3"), Some(Ok((2.0, 1))));
        assert_eq!(scan("1e-3k+2"), Some(Ok((1.0, 5))));
        assert_eq!(scan("x"), None);
    }
}
