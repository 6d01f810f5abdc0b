//! Surfaces of triangles from files: STL, OBJ, VTK.
//!
//! | ending | what is read |
//! | --- | --- |
//! | `.stl` | binary and text |
//! | `.obj` | points and faces; faces with more corners become fans of triangles |
//! | `.vtk` | legacy files, text, `POLYDATA`: polygons and strips |
//! | `.vtp` | XML files of polygons and strips, with text arrays |
//!
//! Points that are the same to the last bit are one. Parts of STEP files are solids with curved faces,
//! which the library of shapes does not know; CAD programs export their surface as STL, and Python reads them with Open CASCADE.

mod obj;
mod stl;
mod text;
mod vtk;
mod vtp;

use crate::Shape;
use saltus_model::rotation::Vector;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Points, and triangles between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// The points.
    pub points: Vec<Vector>,
    /// Positions of their corners among the points.
    pub triangles: Vec<[u32; 3]>,
}

/// A file that is no mesh.
#[derive(Debug, Error)]
pub enum MeshError {
    /// The file cannot be opened.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// An ending that stands for no format that can be read.
    #[error(
        "{}: the ending {} is none of .stl, .obj, .vtk, .vtp{}",
        path.display(),
        found.as_deref().map_or("(none)".to_string(), |found| format!("`.{found}`")),
        match found.as_deref() {
            Some("step" | "stp") => {
                "; parts of STEP are curved solids: export their surface, or read them in Python (`TriangleMesh.from_file`)"
            }
            _ => "",
        }
    )]
    Ending {
        /// The file.
        path: PathBuf,
        /// Its ending.
        found: Option<String>,
    },
    /// Something in it that makes no sense.
    #[error("{}, {place}: {why}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where.
        place: Place,
        /// What was found, and what was expected.
        why: String,
    },
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from one.
    Line(usize),
    /// A byte, counted from zero.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// What a reader of one format says before the file has a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    place: Place,
    why: String,
}

impl Fault {
    fn line(line: usize, why: impl Into<String>) -> Fault {
        Fault { place: Place::Line(line), why: why.into() }
    }

    fn byte(byte: usize, why: impl Into<String>) -> Fault {
        Fault { place: Place::Byte(byte), why: why.into() }
    }
}

/// Reads a file in the format that its ending stands for.
pub fn read(path: impl AsRef<Path>) -> Result<Mesh, MeshError> {
    let path = path.as_ref();
    let parse = parser(path)?;
    let file = |source| MeshError::File { path: path.to_path_buf(), source };
    parse(path, &std::fs::read(path).map_err(file)?)
}

/// Reads what a file of this name would hold.
pub fn parse(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Mesh, MeshError> {
    let name = name.as_ref();
    parser(name)?(name, bytes)
}

/// What reads files of this name.
fn parser(path: &Path) -> Result<impl Fn(&Path, &[u8]) -> Result<Mesh, MeshError>, MeshError> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let parse = match ending.as_deref() {
        Some("stl") => stl::parse,
        Some("obj") => obj::parse,
        Some("vtk") => vtk::parse,
        Some("vtp") => vtp::parse,
        _ => return Err(MeshError::Ending { path: path.to_path_buf(), found: ending }),
    };
    let content = |path: &Path, Fault { place, why }| MeshError::Content {
        path: path.to_path_buf(),
        place,
        why,
    };
    Ok(move |path: &Path, bytes: &[u8]| parse(bytes).map_err(|fault| content(path, fault)))
}

impl From<Mesh> for Shape {
    fn from(mesh: Mesh) -> Shape {
        Shape::TriangleMesh { points: mesh.points, triangles: mesh.triangles }
    }
}

/// Takes points, and makes those that are the same one.
#[derive(Debug, Default)]
struct Welder {
    mesh: Mesh,
    known: HashMap<[u64; 3], u32>,
}

impl Welder {
    /// The position of a point.
    fn point(&mut self, x: Vector) -> u32 {
        let key = x.map(|x| (x + 0.0).to_bits()); // −0 is 0
        *self.known.entry(key).or_insert_with(|| {
            self.mesh.points.push(x.map(|x| x + 0.0));
            self.mesh.points.len() as u32 - 1
        })
    }

    /// A polygon as a fan of triangles; those without three different corners are left out.
    fn polygon(&mut self, corners: &[u32]) {
        for pair in corners.windows(2).skip(1) {
            let [a, b, c] = [corners[0], pair[0], pair[1]];
            if a != b && b != c && c != a {
                self.mesh.triangles.push([a, b, c]);
            }
        }
    }

    /// A strip: every second triangle goes the other way round.
    fn strip(&mut self, corners: &[u32]) {
        for (k, window) in corners.windows(3).enumerate() {
            let [a, b, c] = [window[0], window[1], window[2]];
            let triangle = if k % 2 == 0 { [a, b, c] } else { [b, a, c] };
            self.polygon(&triangle);
        }
    }

    fn finish(self, place: Place) -> Result<Mesh, Fault> {
        if self.mesh.triangles.is_empty() {
            return Err(Fault { place, why: "there are no triangles".to_string() });
        }
        Ok(self.mesh)
    }
}

#[cfg(test)]
mod tests;
