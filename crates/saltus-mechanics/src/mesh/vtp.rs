//! VTK's XML files of polygons, with text arrays.

use super::text::{Words, text};
use super::{Fault, Mesh, Place, Welder};

/// An element: its name, its attributes as they stand there, and the text after it up to the next tag.
#[derive(Debug, Clone, Copy)]
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
    after: &'a str,
    line: usize,
    after_line: usize,
}

impl<'a> Tag<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((before, value)) = rest.split_once('=') {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
            let (value, after) = value[1..].split_once(quote)?;
            if before.trim() == name {
                return Some(value);
            }
            rest = after;
        }
        None
    }
}

/// All tags in order; comments and declarations are left out.
fn tags(text: &str) -> Result<Vec<Tag<'_>>, Fault> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(start) = text[at..].find('<') {
        line += text[at..at + start].matches('\n').count();
        let open = at + start + 1;
        let (end, skip) = if text[open..].starts_with("!--") {
            ("-->", true)
        } else {
            (">", text[open..].starts_with(['?', '!']))
        };
        let Some(length) = text[open..].find(end) else {
            return Err(Fault::line(line, format!("a tag has no end; expected `{end}`")));
        };
        let inside = &text[open..open + length];
        let next = open + length + end.len();
        let after_line = line + inside.matches('\n').count();
        if !skip {
            let inside = inside.strip_suffix('/').unwrap_or(inside);
            let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
            let stop = text[next..].find('<').map_or(text.len(), |k| next + k);
            found.push(Tag { name, attributes, after: &text[next..stop], line, after_line });
        }
        line = after_line;
        at = next;
    }
    Ok(found)
}

/// What is being read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    None,
    Points,
    Polys,
    Strips,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Fault> {
    let tags = tags(text(bytes)?)?;
    let Some(file) = tags.iter().find(|tag| tag.name == "VTKFile") else {
        return Err(Fault::line(1, "there is no `VTKFile` element"));
    };
    if file.attribute("type") != Some("PolyData") {
        let found = file.attribute("type").unwrap_or("missing");
        return Err(Fault::line(file.line, format!("the type is {found}, expected PolyData")));
    }
    let mut welder = Welder::default();
    let (mut part, mut points, mut all, mut ends) = (Part::None, Vec::new(), None, None);
    let mut last = file.line;
    for tag in &tags {
        last = tag.line;
        match tag.name {
            "Points" => part = Part::Points,
            "Polys" => part = Part::Polys,
            "Strips" => part = Part::Strips,
            "/Points" => part = Part::None,
            "/Polys" | "/Strips" => {
                take(&mut welder, part, all.take(), ends.take(), tag.line)?;
                part = Part::None;
            }
            "DataArray" if part != Part::None => {
                let mut words = values(tag)?;
                match (part, tag.attribute("Name")) {
                    (Part::Points, _) => {
                        points.clear();
                        while words.peek().is_some() {
                            points.push(welder.point(words.vector()?));
                        }
                    }
                    (_, Some("connectivity")) => {
                        let mut list = Vec::new();
                        while words.peek().is_some() {
                            list.push(points[words.index(points.len())? as usize]);
                        }
                        all = Some(list);
                    }
                    (_, Some("offsets")) => {
                        let mut list = Vec::new();
                        while words.peek().is_some() {
                            list.push(words.number::<usize>("an offset")?);
                        }
                        ends = Some(list);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    welder.finish(Place::Line(last))
}

fn values<'a>(tag: &Tag<'a>) -> Result<Words<'a>, Fault> {
    match tag.attribute("format") {
        Some("ascii") | None => Ok(Words::new(tag.after, tag.after_line)),
        Some(other) => {
            Err(Fault::line(tag.line, format!("the array's format is {other}, expected ascii")))
        }
    }
}

/// Cells between offsets.
fn take(
    welder: &mut Welder,
    part: Part,
    all: Option<Vec<u32>>,
    ends: Option<Vec<usize>>,
    line: usize,
) -> Result<(), Fault> {
    let (Some(all), Some(ends)) = (all, ends) else { return Ok(()) };
    let mut from = 0;
    for end in ends {
        let Some(cell) = all.get(from..end) else {
            let why =
                format!("offsets {from} and {end} do not lie within the {} entries", all.len());
            return Err(Fault::line(line, why));
        };
        if part == Part::Strips {
            welder.strip(cell)
        } else {
            welder.polygon(cell)
        }
        from = end;
    }
    Ok(())
}
