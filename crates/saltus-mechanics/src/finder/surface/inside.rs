//! On which side of a surface a point is.
//!
//! By the nearest point `y` of the surface, and the normal that the surface has there: that of a face, the sum of both at an edge, and
//! at a corner the sum of all around it, each times its angle there,
//!
//! ```text
//! x is inside  ⟺  n(y) · (x − y) < 0
//! ```
//!
//! Reference: Bærentzen and Aanæs, *Signed Distance Computation Using the Angle Weighted Pseudonormal*, 2005.

use super::super::nearest::{Part, on_triangle};
use super::{NONE, Surface};
use saltus_model::rotation::{Vector, add, dot, norm, scaled, sub};

impl Surface {
    /// The nearest point of the surface to one that is inside, where it is as near as `reach`. A height field has its inside below its
    /// rectangle.
    pub(super) fn way_out(&self, x: Vector, reach: f64, near: &mut Vec<u32>) -> Option<Vector> {
        let [center, half] = self.bounds;
        if !self.solid || (0..2).any(|k| (x[k] - center[k]).abs() > half[k]) {
            return None;
        }
        let wide = [reach; 3];
        self.near(sub(x, wide), add(x, wide), near);
        let (mut least, mut side, mut nearest) = (f64::INFINITY, 0.0, None);
        for &t in near.iter() {
            let (y, part) = on_triangle(x, self.corners(t));
            let apart = sub(x, y);
            let square = dot(apart, apart);
            if square < least {
                (least, nearest) = (square, Some(y));
                side = dot(self.normal_at(t, part), apart);
            }
        }
        nearest.filter(|_| side < 0.0)
    }

    /// The normal of the surface on a part of a triangle, of any length.
    fn normal_at(&self, t: u32, part: Part) -> Vector {
        let own = self.normals[t as usize];
        match part {
            Part::Face => own,
            Part::Edge(k) => match self.neighbours[t as usize][k] {
                NONE => own,
                other => add(own, self.normals[other as usize]),
            },
            Part::Corner(k) => {
                let point = self.triangles[t as usize][k];
                let place = point as usize;
                let fan = self.starts[place] as usize..self.starts[place + 1] as usize;
                self.fans[fan].iter().fold([0.0; 3], |sum, &t| {
                    add(sum, scaled(self.angle(t, point), self.normals[t as usize]))
                })
            }
        }
    }

    /// The angle of a triangle at one of its corners.
    fn angle(&self, t: u32, point: u32) -> f64 {
        let x = self.points[point as usize];
        let others = self.triangles[t as usize].into_iter().filter(|&corner| corner != point);
        let mut ways = others.map(|corner| sub(self.points[corner as usize], x));
        let (Some(a), Some(b)) = (ways.next(), ways.next()) else { return 0.0 };
        (dot(a, b) / (norm(a) * norm(b))).clamp(-1.0, 1.0).acos()
    }
}
