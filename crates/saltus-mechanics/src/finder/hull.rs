//! The convex hull of points, its triangles joined to faces.

use super::polytope::Polytope;
use crate::ShapeError;
use parry3d_f64::math::Vector as Glam;
use parry3d_f64::transformation::try_convex_hull;
use saltus_model::rotation::{Vector, cross, dot, norm, sub, unit};

/// Triangles in one plane, up to this share of the size, are one face.
const COPLANAR: f64 = 1e-9;

/// The smallest convex body that holds the points.
pub(crate) fn hull(points: &[Vector]) -> Result<Polytope, ShapeError> {
    let degenerate = |why: String| ShapeError::Degenerate { shape: "convex-hull", why };
    let size = points.iter().map(|&x| norm(sub(x, points[0]))).fold(0.0_f64, f64::max);
    if !(spread(points) > 1e-7 * size) {
        return Err(degenerate("its points lie in one plane".to_string()));
    }
    let given: Vec<Glam> = points.iter().map(|&x| Glam::from_array(x)).collect();
    let (vertices, triangles) = try_convex_hull(&given).map_err(|e| degenerate(e.to_string()))?;
    let vertices: Vec<Vector> = vertices.iter().map(|x| x.to_array()).collect();
    let faces = join(&vertices, &triangles, COPLANAR * size);
    let polytope = Polytope::from_loops(vertices, &faces);

    // no point may stick out of what was found
    for (f, (&n, o)) in polytope.normals.iter().zip(&polytope.offsets).enumerate() {
        if let Some(k) = points.iter().position(|&x| dot(n, x) > o + 1e-7 * size) {
            return Err(degenerate(format!("point {k} is outside face {f} of what was found")));
        }
    }
    Ok(polytope)
}

/// How far the points reach out of the plane of three of them that are far apart.
fn spread(points: &[Vector]) -> f64 {
    let far = |from: &dyn Fn(Vector) -> f64| {
        let best = points.iter().copied().max_by(|&a, &b| from(a).total_cmp(&from(b)));
        best.unwrap_or([0.0; 3])
    };
    let a = points[0];
    let b = far(&|x| norm(sub(x, a)));
    let along = sub(b, a);
    let c = far(&|x| norm(cross(along, sub(x, a))));
    let Some(n) = unit(cross(along, sub(c, a))) else { return 0.0 };
    points.iter().map(|&x| dot(n, sub(x, a)).abs()).fold(0.0_f64, f64::max)
}

/// Loops of faces: triangles with a common edge and plane are one.
fn join(vertices: &[Vector], triangles: &[[u32; 3]], near: f64) -> Vec<Vec<u32>> {
    let normal = |t: usize| {
        let [a, b, c] = triangles[t].map(|k| vertices[k as usize]);
        unit(cross(sub(b, a), sub(c, a)))
    };
    let mut group: Vec<usize> = (0..triangles.len()).collect();
    for t in 0..triangles.len() {
        let Some(n) = normal(t) else { continue };
        let origin = vertices[triangles[t][0] as usize];
        for other in 0..triangles.len() {
            let shared = triangles[other].iter().filter(|k| triangles[t].contains(k)).count();
            let flat = triangles[other]
                .iter()
                .all(|&k| dot(n, sub(vertices[k as usize], origin)).abs() <= near);
            if other != t && shared == 2 && flat {
                let (from, to) = (group[other].max(group[t]), group[other].min(group[t]));
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    let mut faces = Vec::new();
    for g in 0..triangles.len() {
        let members: Vec<usize> = (0..triangles.len()).filter(|&t| group[t] == g).collect();
        if members.is_empty() {
            continue;
        }
        // directed edges whose opposite is not in the face go round it
        let edges: Vec<[u32; 2]> = members
            .iter()
            .flat_map(|&t| {
                let [a, b, c] = triangles[t];
                [[a, b], [b, c], [c, a]]
            })
            .collect();
        let rim: Vec<[u32; 2]> =
            edges.iter().copied().filter(|&[a, b]| !edges.contains(&[b, a])).collect();
        let Some(&[first, mut at]) = rim.first() else { continue };
        let mut corners = vec![first];
        while at != first && corners.len() <= rim.len() {
            corners.push(at);
            match rim.iter().find(|edge| edge[0] == at) {
                Some(edge) => at = edge[1],
                None => break,
            }
        }
        faces.push(corners);
    }
    faces
}
