//! OBJ: points, and faces that name them.

use super::text::{Words, text};
use super::{Fault, Mesh, Place, Welder};

/// Lines about things that a shape has no use for.
const OTHER: [&str; 22] = [
    "vt",
    "vn",
    "vp",
    "g",
    "o",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "l",
    "p",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
    "trace_obj",
    "end",
    "call",
    "csh",
];

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Fault> {
    let text = text(bytes)?;
    let mut welder = Welder::default();
    let mut points: Vec<u32> = Vec::new();
    let mut corners = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut joined = String::new();
    while let Some((number, first)) = lines.next() {
        let number = number + 1;
        // a backslash at its end joins a line with the next
        joined.clear();
        joined.push_str(first);
        while joined.ends_with('\\') {
            joined.pop();
            match lines.next() {
                Some((_, more)) => joined.push_str(more),
                None => break,
            }
        }
        let line = joined.split('#').next().unwrap_or_default();
        let mut words = Words::new(line, number);
        match words.next() {
            None => {}
            Some("v") => points.push(welder.point(words.vector()?)),
            Some("f") => {
                corners.clear();
                while let Some(word) = words.next() {
                    corners.push(points[corner(word, points.len(), number)?]);
                }
                if corners.len() < 3 {
                    let why =
                        format!("the face has {} corners, expected at least 3", corners.len());
                    return Err(Fault::line(number, why));
                }
                welder.polygon(&corners);
            }
            Some(word) if OTHER.contains(&word) => {}
            Some(word) => {
                let why =
                    format!("`{word}` is not read; expected `v`, `f`, or lines without a shape");
                return Err(Fault::line(number, why));
            }
        }
    }
    welder.finish(Place::Line(text.lines().count().max(1)))
}

/// `7`, `7/1`, `7/1/3`, `7//3`, or `−1` for the last point so far.
fn corner(word: &str, count: usize, line: usize) -> Result<usize, Fault> {
    let number = word.split('/').next().unwrap_or_default();
    let index: i64 = number.parse().map_err(|_| {
        Fault::line(
            line,
            format!("found `{word}`, expected the number of a point, as in `7` or `7/1/3`"),
        )
    })?;
    let position = if index > 0 { index - 1 } else { count as i64 + index };
    let inside = index != 0 && position >= 0 && position < count as i64;
    if inside {
        Ok(position as usize)
    } else {
        let why = format!("point {index} is named, but {count} points came before, counted from 1");
        Err(Fault::line(line, why))
    }
}
