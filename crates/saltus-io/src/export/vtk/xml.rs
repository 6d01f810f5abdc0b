//! Points, triangles and lines as XML of the Visualization Toolkit.

use saltus_model::rotation::Vector;
use std::fmt::Write;

/// What one file holds.
#[derive(Debug, Default)]
pub(super) struct PolyData {
    pub points: Vec<Vector>,
    pub triangles: Vec<[u32; 3]>,
    pub lines: Vec<[u32; 2]>,
    /// Whether every point is a vertex of its own.
    pub vertices: bool,
    pub arrays: Vec<Array>,
}

/// Numbers at the points.
#[derive(Debug)]
pub(super) struct Array {
    name: &'static str,
    components: usize,
    values: Vec<f64>,
}

impl Array {
    pub fn scalars(name: &'static str, values: Vec<f64>) -> Array {
        Array { name, components: 1, values }
    }

    pub fn vectors(name: &'static str, values: Vec<Vector>) -> Array {
        Array { name, components: 3, values: values.concat() }
    }
}

impl PolyData {
    pub fn to_xml(&self) -> String {
        let vertices = if self.vertices { self.points.len() } else { 0 };
        let mut out = String::new();
        let _ = write!(
            out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\">\n<PolyData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{vertices}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n",
            self.points.len(),
            self.lines.len(),
            self.triangles.len()
        );
        out.push_str("<PointData>\n");
        for Array { name, components, values } in &self.arrays {
            data(&mut out, "Float64", name, *components, values.iter());
        }
        out.push_str("</PointData>\n<Points>\n");
        data(&mut out, "Float64", "Points", 3, self.points.iter().flatten());
        out.push_str("</Points>\n");
        cells(&mut out, "Verts", (0..vertices as u32).map(|k| [k]));
        cells(&mut out, "Lines", self.lines.iter().copied());
        cells(&mut out, "Polys", self.triangles.iter().copied());
        out.push_str("</Piece>\n</PolyData>\n</VTKFile>\n");
        out
    }
}

fn data<T: std::fmt::Debug>(
    out: &mut String,
    kind: &str,
    name: &str,
    components: usize,
    values: impl Iterator<Item = T>,
) {
    let _ = writeln!(
        out,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">"
    );
    for value in values {
        let _ = write!(out, "{value:?} ");
    }
    out.push_str("\n</DataArray>\n");
}

fn cells<const N: usize>(
    out: &mut String,
    name: &str,
    cells: impl Iterator<Item = [u32; N]> + Clone,
) {
    let _ = writeln!(out, "<{name}>");
    data(out, "Int64", "connectivity", 1, cells.clone().flatten());
    data(out, "Int64", "offsets", 1, cells.enumerate().map(|(k, _)| N * (k + 1)));
    let _ = writeln!(out, "</{name}>");
}
