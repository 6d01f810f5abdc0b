//! Shapes from their tables.

use super::{Around, flag, length, range, turn, vector};
use crate::model_file::error::{ErrorKind, Fault};
use crate::model_file::fields::Fields;
use crate::model_file::repetition::expand;
use crate::model_file::tree::{Item, Value};
use crate::model_file::vocabulary::SectionId;
use saltus_mechanics::{Part, Placed, Shape};
use saltus_model::Body;

/// The shapes of a body: `shape`, `shapes`, or none.
pub(super) fn parts(fields: &Fields, around: Around<'_>) -> Result<Vec<Part>, Fault> {
    let items: Vec<&Item> = match (fields.get("shape"), fields.get("shapes")) {
        (Some(_), Some(item)) => {
            let expected = "either `shape` or `shapes`";
            return Err(fields.scope.wrong_type(item, "shapes", expected));
        }
        (Some(item), None) => vec![item],
        (None, Some(Item { value: Value::Array(items), .. })) => items.iter().collect(),
        (None, Some(item)) => vec![item],
        (None, None) => Vec::new(),
    };
    items.into_iter().map(|item| part(item, fields, around)).collect()
}

fn part(item: &Item, owner: &Fields, around: Around<'_>) -> Result<Part, Fault> {
    let fields = Fields::open(item, SectionId::Shape, "shape".to_owned(), owner.scope)?;
    let material = fields.get("material");
    Ok(Part {
        shape: shape(&fields, around)?,
        position: vector(&fields, "position", around.space)?.unwrap_or_default(),
        orientation: turn(&fields, around.space)?,
        material: material.map(|item| expand(item, "material", fields.scope)).transpose()?,
        touch: flag(&fields, "touch", true)?,
    })
}

/// A number that has to be positive.
fn positive(fields: &Fields, key: &str) -> Result<f64, Fault> {
    let value = fields.number(key)?;
    if value > 0.0 { Ok(value) } else { Err(range(fields, key, value, "a positive number")) }
}

/// Rows of `N` numbers.
fn rows<const N: usize>(fields: &Fields, key: &'static str) -> Result<Vec<[f64; N]>, Fault> {
    let matrix = fields.must(key, fields.matrix(key)?)?;
    if matrix.cols() != N {
        return Err(length(fields, key, matrix.cols(), N));
    }
    let row = |row: &[f64]| std::array::from_fn(|k| row[k]);
    Ok(matrix.data().chunks_exact(N).map(row).collect())
}

fn numbers<const N: usize>(fields: &Fields, key: &'static str) -> Result<[f64; N], Fault> {
    let value = fields.must(key, fields.vector(key)?)?;
    let found = value.len();
    value.try_into().map_err(|_| length(fields, key, found, N))
}

fn edges<const N: usize>(fields: &Fields) -> Result<[f64; N], Fault> {
    let edges = numbers::<N>(fields, "size")?;
    match edges.iter().find(|edge| !(**edge > 0.0)) {
        None => Ok(edges),
        Some(&edge) => Err(range(fields, "size", edge, "positive numbers")),
    }
}

fn shape(fields: &Fields, around: Around<'_>) -> Result<Shape, Fault> {
    let radius = || positive(fields, "radius");
    let in_plane = around.space == Body::Plane;
    Ok(match fields.kind() {
        "sphere" => Shape::Sphere { radius: radius()? },
        "box" if in_plane => {
            let [a, b] = edges::<2>(fields)?.map(|edge| 0.5 * edge);
            Shape::Polygon { points: vec![[-a, -b], [a, -b], [a, b], [-a, b]] }
        }
        "box" => Shape::Box { edges: edges(fields)? },
        "capsule" => Shape::Capsule { radius: radius()?, length: positive(fields, "length")? },
        "cylinder" => Shape::Cylinder { radius: radius()?, length: positive(fields, "length")? },
        "cone" => Shape::Cone { radius: radius()?, height: positive(fields, "height")? },
        "convex-hull" => Shape::ConvexHull { points: rows(fields, "points")? },
        "triangle-mesh" => mesh(fields, around)?,
        "height-field" => {
            let heights = fields.must("heights", fields.matrix("heights")?)?;
            let (found, cols) = (heights.rows(), heights.cols());
            if found < 2 || cols < 2 {
                let least = found.min(cols) as f64;
                return Err(range(fields, "heights", least, "two rows and columns at least"));
            }
            let heights = heights.data().chunks_exact(cols).map(<[f64]>::to_vec).collect();
            Shape::HeightField { heights, size: edges(fields)? }
        }
        "plane" => {
            let upward = if in_plane { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
            Shape::Plane {
                normal: vector(fields, "normal", around.space)?.unwrap_or(upward),
                offset: fields.number("offset")?,
            }
        }
        "compound" => {
            let item = fields.need("parts")?;
            let Some(items) = item.as_array() else {
                return Err(fields.scope.wrong_type(item, "parts", "an array of shapes"));
            };
            let placed = |item| {
                let Part { shape, position, orientation, .. } = part(item, fields, around)?;
                Ok(Placed { shape, position, orientation })
            };
            Shape::Compound { parts: items.iter().map(placed).collect::<Result<_, Fault>>()? }
        }
        "disk" => Shape::Disk { radius: radius()? },
        "segment" => Shape::Segment { from: numbers(fields, "from")?, to: numbers(fields, "to")? },
        "polygon" => Shape::Polygon { points: rows(fields, "points")? },
        "polyline" => Shape::Polyline { points: rows(fields, "points")? },
        kind => unreachable!("the shape `{kind}` is in the vocabulary and nowhere else"),
    })
}

/// Points and triangles, or a file of them.
fn mesh(fields: &Fields, around: Around<'_>) -> Result<Shape, Fault> {
    if let Some(name) = fields.text("file")? {
        let scale = positive(fields, "scale")?;
        let place = fields.place_of("file").unwrap_or(fields.place);
        let path = around.files.find(name).map_err(|tried| {
            let file = name.to_owned();
            Fault::new(place, ErrorKind::NoMesh { file, tried })
        })?;
        let mesh = saltus_mechanics::mesh::read(path)
            .map_err(|error| Fault::new(place, ErrorKind::Mesh { reason: error.to_string() }))?;
        let points = mesh.points.into_iter().map(|point| point.map(|x| scale * x)).collect();
        return Ok(Shape::TriangleMesh { points, triangles: mesh.triangles });
    }
    let points = rows(fields, "points")?;
    let corner = |row: [f64; 3]| {
        let is_point = |x: &f64| *x >= 0.0 && x.fract() == 0.0 && *x < points.len() as f64;
        match row.iter().find(|x| !is_point(x)) {
            None => Ok(row.map(|x| x as u32)),
            Some(&x) => Err(range(fields, "triangles", x, "positions of points, counted from 0")),
        }
    };
    let triangles = rows(fields, "triangles")?.into_iter().map(corner).collect::<Result<_, _>>()?;
    Ok(Shape::TriangleMesh { points, triangles })
}
