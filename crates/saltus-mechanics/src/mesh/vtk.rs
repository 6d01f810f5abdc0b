//! VTK's legacy files: polygons and strips, as text.

use super::text::{Words, text};
use super::{Fault, Mesh, Place, Welder};

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Fault> {
    // the header is text whatever follows
    let head: Vec<&[u8]> = bytes.splitn(5, |&b| b == b'\n').collect();
    let is = |line: usize, word: &str| {
        head.get(line).is_some_and(|l| l.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    if !bytes.starts_with(b"# vtk DataFile") {
        return Err(Fault::line(1, "expected `# vtk DataFile Version ...`"));
    }
    if is(2, "BINARY") {
        return Err(Fault::line(3, "the file is BINARY, expected ASCII"));
    }
    let mut words = Words::new(text(bytes)?, 1);
    words.rest_of_line();
    words.rest_of_line(); // the title
    words.keyword("ASCII")?;
    words.keyword("DATASET")?;
    words.keyword("POLYDATA")?;

    let mut welder = Welder::default();
    let mut points: Vec<u32> = Vec::new();
    loop {
        let line = words.line();
        let Some(word) = words.next() else { break };
        match word.to_ascii_uppercase().as_str() {
            "POINTS" => {
                let count: usize = words.number("the number of points")?;
                words.word("the type of the points")?;
                points.clear();
                for _ in 0..count {
                    points.push(welder.point(words.vector()?));
                }
            }
            "POLYGONS" => for_cells(&mut words, &points, |cell| welder.polygon(cell))?,
            "TRIANGLE_STRIPS" => for_cells(&mut words, &points, |cell| welder.strip(cell))?,
            "LINES" | "VERTICES" => for_cells(&mut words, &points, |_| {})?,
            "METADATA" => skip_metadata(&mut words),
            // values at points and cells come last
            "POINT_DATA" | "CELL_DATA" | "FIELD" => break,
            _ => {
                let why = format!(
                    "found `{word}`, expected POINTS, POLYGONS, TRIANGLE_STRIPS, LINES, VERTICES, POINT_DATA or CELL_DATA"
                );
                return Err(Fault::line(line, why));
            }
        }
    }
    welder.finish(Place::Line(words.line()))
}

/// Cells as `n i₁ … iₙ`, or from version 5 on as offsets and one list of points.
fn for_cells(
    words: &mut Words<'_>,
    points: &[u32],
    mut take: impl FnMut(&[u32]),
) -> Result<(), Fault> {
    let count: usize = words.number("the number of cells")?;
    let size: usize = words.number("the number of entries")?;
    let mut cell = Vec::new();
    if words.peek().is_some_and(|word| word.eq_ignore_ascii_case("OFFSETS")) {
        words.next();
        words.word("the type of the offsets")?;
        let line = words.line();
        let mut offsets = Vec::new();
        for _ in 0..count {
            offsets.push(words.number::<usize>("an offset")?);
        }
        words.keyword("CONNECTIVITY")?;
        words.word("the type of the positions")?;
        let mut all = Vec::new();
        for _ in 0..size {
            all.push(points[words.index(points.len())? as usize]);
        }
        for pair in offsets.windows(2) {
            match all.get(pair[0]..pair[1]) {
                Some(cell) => take(cell),
                None => {
                    let why = format!(
                        "offsets {} and {} do not lie within the {size} entries",
                        pair[0], pair[1]
                    );
                    return Err(Fault::line(line, why));
                }
            }
        }
        return Ok(());
    }
    for _ in 0..count {
        let corners: usize = words.number("the number of corners of a cell")?;
        cell.clear();
        for _ in 0..corners {
            cell.push(points[words.index(points.len())? as usize]);
        }
        take(&cell);
    }
    Ok(())
}

/// Up to an empty line.
fn skip_metadata(words: &mut Words<'_>) {
    words.rest_of_line();
    while !words.rest_of_line().trim().is_empty() {}
}
