//! Edges of a surface that go through a thin part of another, with both ends outside.
//!
//! The end that is less deep behind the face that it has come in by is drawn back there:
//!
//! ```text
//! from the end x:   in at one face, out at the next, with the normal n;   g = n · (x − y)  < 0,   y on that next face
//! ```

use super::super::touch::Touch;
use super::{DIRECTIONS, Surface, cell};
use crate::pose::Pose;
use saltus_model::rotation::{Vector, cross, dot, sub};

impl Surface {
    /// Adds contacts no deeper than `deep` of edges of `first`, which is at `to` in the frame of this surface.
    pub(super) fn through(
        &self,
        first: &Surface,
        to: &Pose,
        back: &Pose,
        deep: f64,
        [edges, near]: [&mut Vec<u32>; 2],
        touches: &mut Vec<Touch>,
    ) {
        if !self.solid {
            return;
        }
        first.near_bounds(self, back, 0.0, edges);
        for &u in edges.iter() {
            for l in (0..3).filter(|&l| first.edges[u as usize][l]) {
                let ends = first.ends((u, l)).map(|x| to.point(x));
                let corners = [l, (l + 1) % 3].map(|l| first.triangles[u as usize][l]);
                let least = self.behind(ends, near).filter(|&(_, depth, _)| depth <= deep);
                touches.extend(least.map(|(end, depth, n)| {
                    let features = [DIRECTIONS + corners[end], cell(n)];
                    let x = ends[end];
                    let y = [0, 1, 2].map(|i| x[i] + depth * n[i]);
                    Touch::on_second(y, n, -depth, features)
                }));
            }
        }
    }

    /// The end of a segment that is less deep behind the face that it has come in by, how deep, and the normal there.
    fn behind(&self, [p, q]: [Vector; 2], near: &mut Vec<u32>) -> Option<(usize, f64, Vector)> {
        let low = [0, 1, 2].map(|i| p[i].min(q[i]));
        let high = [0, 1, 2].map(|i| p[i].max(q[i]));
        self.near(low, high, near);
        // where it comes out first on the way from either end
        let mut out = [(f64::INFINITY, 0.0, [0.0; 3]); 2];
        for &t in near.iter() {
            let (n, corners) = (self.normals[t as usize], self.corners(t));
            let [from, to] = [p, q].map(|x| dot(n, sub(x, corners[0])));
            if !(from * to < 0.0) {
                continue;
            }
            let share = from / (from - to);
            let x = [0, 1, 2].map(|i| p[i] + share * (q[i] - p[i]));
            let is_in = (0..3).all(|k| {
                let along = sub(corners[(k + 1) % 3], corners[k]);
                dot(cross(along, sub(x, corners[k])), n) >= 0.0
            });
            let end = usize::from(from > 0.0);
            let (way, depth) = if end == 0 { (share, -from) } else { (1.0 - share, -to) };
            if is_in && way < out[end].0 {
                out[end] = (way, depth, n);
            }
        }
        let [a, b] = out;
        // both: it comes in and goes out again
        if !(a.0.is_finite() && b.0.is_finite()) {
            return None;
        }
        let end = usize::from(b.1 < a.1);
        Some((end, out[end].1, out[end].2))
    }
}

#[cfg(test)]
mod tests {
    use super::Surface;
    use saltus_model::rotation::{Vector, scaled};

    /// A pin through the edge of a wedge is drawn back out of the face that its point has come in by.
    #[test]
    fn a_pin_in_a_wedge() {
        let points: Vec<Vector> =
            vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
        let wedge = Surface::new(points, triangles).unwrap();
        let (point, head) = ([0.1, 0.1, -0.02], [0.1, 2.0, 2.0]);
        let mut near = Vec::new();
        let slope = scaled(1.0 / 3.0_f64.sqrt(), [1.0; 3]);
        let depth = (1.0 - 0.18) / 3.0_f64.sqrt();
        for (ends, end) in [([point, head], 0), ([head, point], 1)] {
            let (found, deep, n) = wedge.behind(ends, &mut near).unwrap();
            assert_eq!(found, end);
            assert!((deep - depth).abs() < 1e-15, "{deep} {depth}");
            assert!((0..3).all(|k| (n[k] - slope[k]).abs() < 1e-15));
        }
        assert_eq!(wedge.behind([[0.1, 0.1, 0.1], head], &mut near), None);
        assert_eq!(wedge.behind([[2.0, 2.0, -1.0], head], &mut near), None);
    }
}
