//! Text to lines: title, comments, continuations, included files.
//!
//! A line of a netlist may be written on several lines of a file, those after the first beginning with `+`; comments and
//! empty lines may stand between. `*saltus` and a blank begin a line that is a comment to others. What is left of each file is kept as it was written, with where each piece came from.

use std::path::{Path, PathBuf};

use super::error::{NetlistError, Problem};
use crate::Place;

/// How deep files may include files.
const MAX_INCLUDE_DEPTH: usize = 32;
/// How often files may be included in all.
const MAX_INCLUDES: usize = 10_000;
/// Lines a netlist may have with all it includes.
const MAX_LINES: usize = 2_000_000;

/// What begins a line that only Saltus reads.
const OWN: &str = "*saltus";

/// What gives the text of a file.
pub(crate) type Files<'a> = dyn FnMut(&Path) -> Result<String, String> + 'a;

/// A place in [`Lines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct At {
    /// The line, by its number in [`Lines`].
    pub(crate) line: u32,
    /// The byte in its text.
    pub(crate) offset: u32,
}

/// A line with its continuations, comments left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// What it says, as it was written; pieces are joined by a blank.
    pub(crate) text: String,
    file: usize,
    pieces: Vec<Piece>,
}

/// A part of a line that stands on one line of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    start: usize, // byte in the text of the line
    line: usize,  // in the file, from 1
    column: usize,
}

/// All lines of a netlist, included files in their place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Lines {
    /// The first line of the first file.
    pub(crate) title: String,
    files: Vec<String>,
    lines: Vec<Line>,
}

impl Lines {
    /// The lines of `text`, whose first is the title.
    pub(crate) fn read(
        text: &str,
        name: &str,
        files: &mut Files<'_>,
    ) -> Result<Lines, NetlistError> {
        let mut lines = Lines::default();
        let mut reader = Reader { lines: &mut lines, files, stack: Vec::new(), included: 0 };
        reader.file(text, name, Some(Path::new(name).to_path_buf()), None, true)?;
        Ok(lines)
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The text of one.
    pub(crate) fn text(&self, line: usize) -> &str {
        &self.lines[line].text
    }

    /// Where a place is in its file.
    pub(crate) fn place(&self, at: At) -> Place {
        let Some(line) = self.lines.get(at.line as usize) else {
            let file = self.files.first().cloned().unwrap_or_default();
            return Place { file, line: 1, column: 1 };
        };
        let offset = line.text.floor_char_boundary(at.offset as usize);
        let after = line.pieces.partition_point(|piece| piece.start <= offset);
        let piece = line.pieces[after.max(1) - 1];
        let column = piece.column + line.text[piece.start..offset].chars().count();
        Place { file: self.files[line.file].clone(), line: piece.line, column }
    }
}

struct Reader<'a, 'f> {
    lines: &'a mut Lines,
    files: &'a mut Files<'f>,
    stack: Vec<(String, Option<PathBuf>)>,
    included: usize,
}

impl Reader<'_, '_> {
    /// Adds the lines of a file, or of one section of it; says whether `.end` was met.
    fn file(
        &mut self,
        text: &str,
        name: &str,
        path: Option<PathBuf>,
        section: Option<&str>,
        is_first: bool,
    ) -> Result<(), NetlistError> {
        let file = self.lines.files.len();
        self.lines.files.push(name.to_owned());
        self.stack.push((name.to_owned(), path.clone()));

        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let physical: Vec<&str> = text.lines().collect();
        let mut open: Option<usize> = None; // the line that a `+` goes on with
        let mut is_inside = section.is_none();
        let mut was_found = section.is_none();
        let mut is_control = false;
        let mut number = 0;
        while number < physical.len() {
            let (line, raw) = (number, physical[number]);
            number += 1;
            if is_first && line == 0 {
                self.lines.title = raw.trim().to_owned();
                continue;
            }
            let kept = without_comment(raw);
            let (start, trimmed) = match own_line(kept) {
                Some(start) => (start, kept[start..].trim_end()),
                None => (
                    kept.len() - kept.trim_start_matches(is_nothing).len(),
                    kept.trim_matches(is_nothing),
                ),
            };
            if trimmed.is_empty() || trimmed.starts_with('*') {
                continue;
            }
            let column = kept[..start].chars().count() + 1;
            let at = |column| Place { file: name.to_owned(), line: line + 1, column };
            let fail = |problem| NetlistError::new(at(column), problem);

            if let Some(rest) = trimmed.strip_prefix('+') {
                if !is_inside {
                    continue;
                }
                let Some(open) = open else {
                    return Err(fail(Problem::NothingToContinue));
                };
                let joined = &mut self.lines.lines[open];
                joined.text.push(' ');
                let start = joined.text.len();
                joined.pieces.push(Piece { start, line: line + 1, column: column + 1 });
                joined.text.push_str(rest);
                continue;
            }

            let (card, argument) = first_word(trimmed);
            if card == ".control" || card == ".endc" {
                is_control = card == ".control";
            } else if is_control {
                // commands, not cards
            } else if card == ".endl" {
                if section.is_some() && is_inside {
                    break;
                }
                open = None;
                continue;
            } else if card == ".lib" {
                let words = words(argument);
                open = None;
                match words.as_slice() {
                    [] => {
                        return Err(fail(Problem::Expected {
                            expected: "a file or the name of a section".to_owned(),
                            found: "the end of the line".to_owned(),
                        }));
                    }
                    [one] => {
                        let closes =
                            |at: &&str| first_word(without_comment(at).trim()).0 == ".endl";
                        let end = physical[number..].iter().position(closes);
                        match (section, end) {
                            (Some(section), _)
                                if section.eq_ignore_ascii_case(one) && !was_found =>
                            {
                                is_inside = true;
                                was_found = true;
                            }
                            (_, Some(end)) => number += end + 1,
                            (Some(_), None) => {}
                            (None, None) => self.include(one, None, at(column))?,
                        }
                    }
                    [file, section, ..] if is_inside => {
                        self.include(file, Some(section), at(column))?;
                    }
                    _ => {}
                }
                continue;
            }
            if !is_inside {
                continue;
            }
            if !is_control && (card == ".include" || card == ".inc") {
                let words = words(argument);
                let Some(file) = words.first() else {
                    return Err(fail(Problem::Expected {
                        expected: "a file".to_owned(),
                        found: "the end of the line".to_owned(),
                    }));
                };
                self.include(file, None, at(column))?;
                open = None;
                continue;
            }
            if card == ".end" {
                break;
            }
            if self.lines.lines.len() == MAX_LINES {
                return Err(fail(Problem::TooMany { what: "lines", limit: MAX_LINES }));
            }
            open = Some(self.lines.lines.len());
            self.lines.lines.push(Line {
                text: trimmed.to_owned(),
                file,
                pieces: vec![Piece { start: 0, line: line + 1, column }],
            });
        }
        self.stack.pop();
        match section {
            Some(section) if !was_found => {
                let place = Place { file: name.to_owned(), line: 1, column: 1 };
                let (file, section) = (name.to_owned(), section.to_owned());
                Err(NetlistError::new(place, Problem::NoSection { file, section }))
            }
            _ => Ok(()),
        }
    }

    /// Adds the lines of a file named in another, relative to it.
    fn include(
        &mut self,
        file: &str,
        section: Option<&str>,
        place: Place,
    ) -> Result<(), NetlistError> {
        let fail = |problem| NetlistError::new(place.clone(), problem);
        let folder = self.stack.last().and_then(|(_, path)| path.as_deref()?.parent());
        let path = folder.unwrap_or(Path::new("")).join(file);
        let name = path.to_string_lossy().into_owned();

        let same = |known: &Path| simplified(known) == simplified(&path);
        let from = (self.stack.iter())
            .position(|(_, known)| known.as_deref().is_some_and(same))
            .filter(|_| section.is_none());
        if let Some(from) = from {
            let mut chain: Vec<String> =
                self.stack[from..].iter().map(|(name, _)| name.clone()).collect();
            chain.push(name.clone());
            return Err(fail(Problem::IncludeCycle { file: name, chain }));
        }
        if self.stack.len() >= MAX_INCLUDE_DEPTH {
            return Err(fail(Problem::TooDeep { limit: MAX_INCLUDE_DEPTH }));
        }
        self.included += 1;
        if self.included > MAX_INCLUDES {
            return Err(fail(Problem::TooMany { what: "included files", limit: MAX_INCLUDES }));
        }
        let text = (self.files)(&path)
            .map_err(|reason| fail(Problem::File { file: name.clone(), reason }))?;
        self.file(&text, &name, Some(path), section, false)
    }
}

/// Blanks, and control characters such as the one that ended files once.
fn is_nothing(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// A path without `.` and with `a/..` left out.
fn simplified(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut simple = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(simple.components().next_back(), Some(Component::Normal(_))) =>
            {
                simple.pop();
            }
            part => simple.push(part),
        }
    }
    simple
}

/// A line up to its comment: from `;`, from a `$` with blanks around it, or from `//` after a blank.
fn without_comment(line: &str) -> &str {
    let bytes = line.as_bytes();
    let is_blank = |at: Option<&u8>| at.is_none_or(|byte| byte.is_ascii_whitespace());
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b';') => return &line[..at],
            (None, b'$') if is_blank(before) && is_blank(bytes.get(at + 1)) => return &line[..at],
            (None, b'/') if is_blank(before) && bytes.get(at + 1) == Some(&b'/') => {
                return &line[..at];
            }
            _ => {}
        }
    }
    // a quote that is not closed hides no comment
    match quote {
        Some(_) => line.find(';').map_or(line, |at| &line[..at]),
        None => line,
    }
}

/// Where the line begins that is a comment to others and `*saltus` opens to us.
fn own_line(line: &str) -> Option<usize> {
    let comment = line.trim_start();
    let word = comment.get(..OWN.len()).filter(|word| word.eq_ignore_ascii_case(OWN))?;
    let rest = &comment[word.len()..];
    let inside = rest.trim_start();
    (inside.len() < rest.len() && !inside.is_empty()).then(|| line.len() - inside.len())
}

/// The first word in lower case, and the rest.
fn first_word(line: &str) -> (String, &str) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word.to_ascii_lowercase(), rest)
}

/// Words between blanks, quotes taken off.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '"' | '\'' => rest[1..].split_once(first).unwrap_or((&rest[1..], "")),
            _ => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, others: &[(&str, &str)]) -> Result<Lines, String> {
        let mut files = |path: &Path| {
            let found = others.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| text.to_string()).ok_or("no such file".to_owned())
        };
        Lines::read(text, "dir/a.cir", &mut files).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(text: &str, others: &[(&str, &str)], expected: &[&str]) {
        let lines = read(text, others).unwrap();
        let texts: Vec<&str> = lines.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn comments_and_continuations() {
        check(
            "title\n* comment\nR1 a b ; c\n\n* between\n+ 1k $ d\n  +tc=1\n.end\nR2 a b 1",
            &[],
            &["R1 a b  1k tc=1"],
        );
        check("t\r\nV1 a 0 'x;y' // z\r\n", &[], &["V1 a 0 'x;y'"]);
        check("t\nV1 a 0 $x\nR1 $ y", &[], &["V1 a 0 $x", "R1"]);
        check("t\nR1 a 'b ; c\n", &[], &["R1 a 'b"]);
        check("", &[], &[]);
        check(
            "t\nD1 a b m\n*saltus + off\n *Saltus\tR1\n*saltusR2\n*saltus\n",
            &[],
            &["D1 a b m  off", "R1"],
        );
        assert_eq!(read("\u{feff} a title \n", &[]).unwrap().title, "a title");
        assert_eq!(
            read("t\n* c\n+ 1", &[]).unwrap_err(),
            "dir/a.cir:3:1: a line that begins with `+` goes on with the line before it, but there is none"
        );
    }

    #[test]
    fn places() {
        let own = read("t\n *saltus R1 a", &[]).unwrap();
        assert_eq!(own.place(At { line: 0, offset: 3 }).column, 13);
        let lines = read("t\n  R1 a\n*\n  +  µ b", &[]).unwrap();
        assert_eq!(lines.text(0), "R1 a   µ b");
        let place = |offset| {
            let Place { line, column, .. } = lines.place(At { line: 0, offset });
            (line, column)
        };
        assert_eq!(place(0), (2, 3));
        assert_eq!(place(3), (2, 6));
        assert_eq!(place(7), (4, 6)); // µ, of two bytes
        assert_eq!(place(10), (4, 8));
        assert_eq!(place(99), (4, 9));
    }

    #[test]
    fn includes() {
        let others = [
            ("dir/b.inc", "* no title\nR2 a b 1\n.include sub/c.inc\n.end\nR9 a b 1"),
            ("dir/sub/c.inc", ".inc '../d.inc'\n"),
            ("dir/sub/../d.inc", "R4 a b 1"),
            ("dir/l.lib", "R0 a b 1\n.lib fast\nR5 a b 1\n.endl fast\n.LIB slow\nR6 a b 1\n.endl"),
            ("dir/self.inc", "R1 a b 1\n.include ./self.inc"),
        ];
        check("t\n.include \"b.inc\"\nR3 a b 1", &others, &["R2 a b 1", "R4 a b 1", "R3 a b 1"]);
        check("t\n.lib l.lib slow\n", &others, &["R6 a b 1"]);
        check("t\n.lib l.lib\n", &others, &["R0 a b 1"]);
        check("t\n.control\n.include x\n.endc", &others, &[".control", ".include x", ".endc"]);
        for (text, message) in [
            ("t\n .include x", "dir/a.cir:2:2: cannot read `dir/x`: no such file"),
            ("t\n.include", "dir/a.cir:2:1: expected a file, found the end of the line"),
            (
                "t\n.lib",
                "dir/a.cir:2:1: expected a file or the name of a section, found the end of the line",
            ),
            (
                "t\n.include self.inc",
                "dir/self.inc:2:1: `dir/./self.inc` includes itself: dir/self.inc → dir/./self.inc",
            ),
            (
                "t\n.include a.cir",
                "dir/a.cir:2:1: `dir/a.cir` includes itself: dir/a.cir → dir/a.cir",
            ),
            (
                "t\n.lib l.lib typ",
                "dir/l.lib:1:1: `dir/l.lib` has no section `typ` (a line `.lib typ`, closed by `.endl`)",
            ),
        ] {
            assert_eq!(read(text, &others).unwrap_err(), message);
        }
    }
}
