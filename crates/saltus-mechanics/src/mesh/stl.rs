//! STL: triangles with three points each, as text or as bytes.

use super::text::{Words, text};
use super::{Fault, Mesh, Place, Welder};

/// A header of 80 bytes and the number of triangles.
const HEAD: usize = 84;

/// A normal, three points, and two bytes more.
const TRIANGLE: usize = 50;

/// A file is bytes where its length says so, since the header of such files may say `solid` too.
pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Fault> {
    let is_text = bytes.trim_ascii_start().starts_with(b"solid");
    let count = bytes.get(80..HEAD).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let fits = count.is_some_and(|count| bytes.len() == HEAD + TRIANGLE * count);
    if is_text && !fits { of_text(bytes) } else { of_bytes(bytes, count) }
}

fn of_bytes(bytes: &[u8], count: Option<usize>) -> Result<Mesh, Fault> {
    let Some(count) = count else {
        return Err(Fault::byte(bytes.len(), "the file ends in its header of 84 bytes"));
    };
    let whole = (bytes.len() - HEAD) / TRIANGLE;
    if whole < count {
        let why = format!("the file ends after {whole} of {count} triangles");
        return Err(Fault::byte(bytes.len(), why));
    }
    let mut welder = Welder::default();
    for (k, triangle) in bytes[HEAD..].chunks_exact(TRIANGLE).take(count).enumerate() {
        let mut corners = [0; 3];
        for (c, corner) in corners.iter_mut().enumerate() {
            let mut x = [0.0; 3];
            for (axis, x) in x.iter_mut().enumerate() {
                let at = 12 + 12 * c + 4 * axis;
                let value = [triangle[at], triangle[at + 1], triangle[at + 2], triangle[at + 3]];
                *x = f64::from(f32::from_le_bytes(value));
                if !x.is_finite() {
                    let why =
                        format!("corner {c} of triangle {k} has {x}, expected finite numbers");
                    return Err(Fault::byte(HEAD + TRIANGLE * k + at, why));
                }
            }
            *corner = welder.point(x);
        }
        welder.polygon(&corners);
    }
    welder.finish(Place::Byte(bytes.len()))
}

fn of_text(bytes: &[u8]) -> Result<Mesh, Fault> {
    let mut words = Words::new(text(bytes)?, 1);
    let mut welder = Welder::default();
    words.keyword("solid")?;
    words.rest_of_line();
    loop {
        let line = words.line();
        match words.word("`facet` or `endsolid`")? {
            word if word.eq_ignore_ascii_case("facet") => {
                words.keyword("normal")?;
                // normals follow from the corners, and are often wrong or not numbers
                for _ in 0..3 {
                    words.word("a component of the normal")?;
                }
                words.keyword("outer")?;
                words.keyword("loop")?;
                let mut corners = [0; 3];
                for corner in &mut corners {
                    words.keyword("vertex")?;
                    *corner = welder.point(words.vector()?);
                }
                words.keyword("endloop")?;
                words.keyword("endfacet")?;
                welder.polygon(&corners);
            }
            word if word.eq_ignore_ascii_case("endsolid") => {
                words.rest_of_line();
                // a file may hold several
                match words.peek() {
                    None => return welder.finish(Place::Line(words.line())),
                    Some(_) => words.keyword("solid")?,
                }
                words.rest_of_line();
            }
            word => {
                return Err(Fault::line(
                    line,
                    format!("found `{word}`, expected `facet` or `endsolid`"),
                ));
            }
        }
    }
}
