//! Edges of a body that lie across ridges of a surface.
//!
//! Where an edge of a body crosses a ridge at one of its corners, each triangle there would rather be pressed aside, along its ridge,
//! than down, so that none of them knows the direction. The surface as a whole does: across both edges,
//!
//! ```text
//! n = ± d × e,    n a normal of the ridge, and the edge the lowest of the body along n
//! ```
//!
//! where the ridge is within the body: one that only comes through a face of it is not pressed down.

use super::super::nearest::segments;
use super::super::polytope::View;
use super::super::touch::Touch;
use super::{LEAN, Surface};
use saltus_model::rotation::{Vector, add, cross, dot, scaled, sub, unit};

/// A ridge falls off this much to both sides: a sine.
const FALLS: f64 = 1e-3;
/// Least depth of a ridge below the faces of a body, of that along `n`.
const WITHIN: f64 = 0.1;
/// Cosine above which directions are nearly the same.
const NEARLY: f64 = 0.99;

impl Surface {
    /// Contacts of ridges of these triangles with edges of a body, which is second and no deeper than `depth`: those along the direction in
    /// which they are the least deep.
    pub(super) fn ridges(
        &self,
        of: &[u32],
        body: View<'_>,
        depth: f64,
        reach: f64,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        for (&t, k) in of.iter().flat_map(|t| (0..3).map(move |k| (t, k))) {
            let [p, p1] = [k, (k + 1) % 3].map(|k| self.corners(t)[k]);
            for edge in 0..body.polytope.edges.len() {
                let touch = self.across(t, k, [p, p1], body, edge);
                touches.extend(touch.filter(|one| one.gap <= reach && one.gap >= -depth));
            }
        }
        let gap = |touch: &Touch| touch.gap;
        let Some(best) = touches[start..].iter().copied().max_by(|a, b| gap(a).total_cmp(&gap(b)))
        else {
            return;
        };
        let mut kept = start;
        for k in start..touches.len() {
            if dot(touches[k].normal, best.normal) > NEARLY {
                touches[kept] = touches[k];
                kept += 1;
            }
        }
        touches.truncate(kept);
    }

    /// Where the side `k` of a triangle and an edge of a body cross.
    fn across(
        &self,
        t: u32,
        k: usize,
        [p, p1]: [Vector; 2],
        body: View<'_>,
        edge: usize,
    ) -> Option<Touch> {
        let [q, q1] = body.ends(edge);
        let (d, e) = (sub(p1, p), sub(q1, q));
        let n = unit(cross(d, e))?;
        let n = [n, scaled(-1.0, n)].into_iter().find(|&n| {
            let lowest = body.lowest(n) >= dot(n, q) - LEAN * body.polytope.size;
            lowest && self.edge_has(t, k, n, -FALLS)
        })?;
        let (s, t_edge) = segments(p, d, q, e);
        let (x, y) = (add(p, scaled(s, d)), add(q, scaled(t_edge, e)));
        let (gap, apart) = (dot(n, sub(y, x)), sub(y, x));
        let is_across = dot(apart, apart) - gap * gap <= 1e-9 * dot(d, d).min(dot(e, e));
        let mut faces = body.normals.iter().zip(body.offsets);
        let is_in = gap > 0.0 || faces.all(|(&n, o)| o - dot(n, x) >= -WITHIN * gap);
        (is_across && is_in).then(|| Touch {
            gap,
            normal: scaled(-1.0, n),
            point: scaled(0.5, add(x, y)),
            features: [self.side_feature(t, k), body.polytope.edge_feature(edge)],
        })
    }
}
