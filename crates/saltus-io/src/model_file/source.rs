//! Places: where in the model file, or in which `--set`, something stands.

use std::ops::Range;

/// A text that values come from: the model file, or one `--set PATH=VALUE`.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file's name, or `--set PATH=VALUE`.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) is_file: bool,
}

/// A piece of a source, in bytes. Source 0 is the model file, the others are overrides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) source: usize,
    pub(crate) span: Range<usize>,
}

impl Place {
    pub(crate) fn is_override(&self) -> bool {
        self.source > 0
    }
}

/// Line and column of a byte, both from 1; columns count characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The span of a range inside a string value, of which `raw` is the TOML text with its quotes.
///
/// A raw text without quotes is taken as it is.
pub(crate) fn inside(raw: &str, inner: &Range<usize>) -> Range<usize> {
    let start = raw_offset(raw, inner.start);
    start..raw_offset(raw, inner.end).max(start)
}

/// Where in `raw` the byte `at` of the decoded string comes from.
fn raw_offset(raw: &str, at: usize) -> usize {
    let quotes = [r#"""""#, "'''", "\"", "'"].into_iter().find(|quotes| raw.starts_with(quotes));
    let quotes = quotes.map_or(0, str::len);
    let has_escapes = raw.starts_with('"');
    let body = &raw[quotes..raw.len().saturating_sub(quotes).max(quotes)];

    let mut rest = body;
    if quotes == 3 {
        rest = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(rest);
    }
    let mut decoded = 0;
    while decoded < at {
        let Some(c) = rest.chars().next() else {
            break;
        };
        let (taken, given) = match rest[c.len_utf8()..].chars().next() {
            Some(escape) if c == '\\' && has_escapes => escaped(rest, escape),
            _ => (c.len_utf8(), c.len_utf8()),
        };
        rest = rest.get(taken..).unwrap_or("");
        decoded += given;
    }
    quotes + body.len() - rest.len()
}

/// Bytes that an escape sequence takes in the text, and bytes that it stands for.
fn escaped(rest: &str, escape: char) -> (usize, usize) {
    let unicode = |digits: usize| {
        let code = rest.get(2..2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        (2 + digits, code.and_then(char::from_u32).map_or(1, char::len_utf8))
    };
    match escape {
        'x' => unicode(2),
        'u' => unicode(4),
        'U' => unicode(8),
        c if c.is_whitespace() => (rest.len() - rest[1..].trim_start().len(), 0),
        c => (1 + c.len_utf8(), 1),
    }
}

/// Characters of a line that an excerpt shows.
const WIDTH: usize = 100;

/// The first line of a span with its number, and a line below it with `^` under the span.
///
/// ```text
///    |
/// 12 | theta = "2*rr"
///    |            ^^
/// ```
pub(crate) fn excerpt(text: &str, span: &Range<usize>) -> String {
    let start = text.floor_char_boundary(span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let end = text.floor_char_boundary(span.end).clamp(start, line_end);

    // of a long line, what is near the place
    let line: Vec<char> = text[line_start..line_end].trim_end().chars().collect();
    let at = text[line_start..start].chars().count();
    let first = if line.len() <= WIDTH { 0 } else { at.saturating_sub(WIDTH / 2) };
    let shown =
        &line[first.min(line.len())..(first + WIDTH).min(line.len()).max(first.min(line.len()))];

    let shown_text: String = shown.iter().collect();
    let blank = |c: &char| if *c == '\t' { '\t' } else { ' ' };
    let mut indent: String = shown.iter().take(at - first).map(blank).collect();
    indent.extend(std::iter::repeat_n(' ', (at - first).saturating_sub(shown.len())));
    let room = (shown.len() + first).saturating_sub(at).max(1);
    let carets = "^".repeat(text[start..end].chars().count().clamp(1, room));

    let number = line_and_column(text, start).0.to_string();
    let margin = " ".repeat(number.len());
    format!("{margin} |\n{number} | {shown_text}\n{margin} | {indent}{carets}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, inner: Range<usize>, expected: &str) {
        assert_eq!(&raw[inside(raw, &inner)], expected);
    }

    #[test]
    fn inside_strings() {
        check(r#""2*rr""#, 2..4, "rr");
        check("'2*rr'", 2..4, "rr");
        check("2*rr", 2..4, "rr");
        check(r#""\t2*rr""#, 3..5, "rr");
        check(r#""\u03bb + rr""#, 5..7, "rr");
        check("\"\"\"\n2*rr\"\"\"", 2..4, "rr");
        check("\"\"\"2*\\\n   rr\"\"\"", 2..4, "\\\n   rr"); // a trimmed line break belongs to what follows
        check("''", 0..0, "");
    }

    #[test]
    fn lines_and_columns() {
        assert_eq!(line_and_column("ab\nλc", 0), (1, 1));
        assert_eq!(line_and_column("ab\nλc", 3), (2, 1));
        assert_eq!(line_and_column("ab\nλc", 5), (2, 2));
        assert_eq!(line_and_column("", 9), (1, 1));
    }

    #[test]
    fn excerpts() {
        assert_eq!(excerpt("a\nθ = 1\n", &(5..6)), "  |\n2 | θ = 1\n  |   ^");
        assert_eq!(excerpt("ab", &(2..2)), "  |\n1 | ab\n  |   ^");
        let long = format!("{} bad {}", "x, ".repeat(100), "y, ".repeat(100));
        let at = long.find("bad").expect("it is there");
        let lines: Vec<String> = excerpt(&long, &(at..at + 3)).lines().map(str::to_owned).collect();
        let column = lines[2].find("^^^").expect("carets");
        assert_eq!(&lines[1][column..column + 3], "bad");
        assert!(lines[1].len() < 120);
    }
}
