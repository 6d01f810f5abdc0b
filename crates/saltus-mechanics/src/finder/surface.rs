//! Surfaces of triangles: meshes and height fields.
//!
//! A contact on an edge or corner counts only if its normal is one that the surface has there: where
//! two triangles lie in one plane, or meet in a valley, the edge between them is not felt.
//! Closed surfaces and height fields have an inside, open ones two sides.

mod crossings;
mod flat;
mod inside;
mod meeting;
mod ridges;
mod through;

use super::broad::{Bounds, Tree};
use super::manifold::Clipper;
use super::nearest::{Part, on_triangle};
use super::pairs::{Body, flat_faced, relative, to_world};
use super::polytope::{Moved, Polytope, View};
use super::solid::{Solid, around};
use super::touch::{Touch, flip, merge, reduce};
use crate::ShapeError;
use crate::pose::Pose;
use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub, unit};
use std::collections::HashMap;

const NONE: u32 = u32::MAX;

/// Normals are told apart by cells of a cube: so many along an edge of it, an odd number so that axes
/// are in the middle of cells.
const CELLS: u32 = 5;
const DIRECTIONS: u32 = 6 * CELLS * CELLS;

/// Normals may lean this much out of what the surface allows: a sine.
const LEAN: f64 = 1e-6;

/// Triangles that are more parallel than this have no edge between them: a sine.
const FLAT: f64 = 1e-5;

/// Cosine above which two directions are the same.
const SAME: f64 = 1.0 - 1e-12;

/// Distances are told apart up to this share.
const SLACK: f64 = 1e-6;

/// Triangles with their neighbours.
#[derive(Debug)]
pub(super) struct Surface {
    pub points: Vec<Vector>,
    pub triangles: Vec<[u32; 3]>,
    normals: Vec<Vector>,
    /// Across the edge from corner `k` to the next.
    neighbours: Vec<[u32; 3]>,
    /// Sides that an edge of another surface can cross.
    edges: Vec<[bool; 3]>,
    /// Points that are not within a plane.
    felt: Vec<u32>,
    /// Triangles about each point: `fans[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    fans: Vec<u32>,
    /// Whether there is an inside.
    solid: bool,
    tree: Tree,
    /// Center and half edges of its box.
    pub bounds: [Vector; 2],
    /// Half its smallest extent that is one.
    pub size: f64,
}

/// Room to work in.
#[derive(Debug)]
pub(super) struct Room {
    pub near: Vec<u32>,
    pub triangle: Polytope,
    pub odd: Odd,
    body: Moved,
    clipper: Clipper,
}

/// Triangles that are looked at again, and those near a point.
#[derive(Debug, Default)]
pub(super) struct Odd {
    triangles: Vec<u32>,
    near: Vec<u32>,
}

impl Default for Room {
    fn default() -> Self {
        Room {
            near: Vec::new(),
            triangle: Polytope::triangle(),
            odd: Odd::default(),
            body: Moved::default(),
            clipper: Clipper::default(),
        }
    }
}

impl Surface {
    /// Of triangles that have been checked. Those without area are left out.
    pub fn new(points: Vec<Vector>, triangles: Vec<[u32; 3]>) -> Result<Surface, ShapeError> {
        let bounds = around(points.iter().copied());
        let extent = norm(bounds[1]);
        let area = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|k| points[k as usize]);
            norm(cross(sub(b, a), sub(c, a)))
        };
        let triangles: Vec<[u32; 3]> =
            triangles.into_iter().filter(|t| area(t) > 1e-14 * extent * extent).collect();
        if triangles.is_empty() {
            let why = "none of its triangles has an area".to_string();
            return Err(ShapeError::Degenerate { shape: "triangle-mesh", why });
        }
        let (neighbours, closed) = neighbours(&triangles);
        Ok(Surface::build(points, triangles, neighbours, closed, bounds))
    }

    /// The ground over a rectangle, two triangles a cell.
    pub fn ground(heights: &[Vec<f64>], size: [f64; 2]) -> Result<Surface, ShapeError> {
        let (points, triangles) = ground(heights, size);
        let (neighbours, _) = neighbours(&triangles);
        let bounds = around(points.iter().copied());
        Ok(Surface::build(points, triangles, neighbours, true, bounds))
    }

    fn build(
        points: Vec<Vector>,
        triangles: Vec<[u32; 3]>,
        neighbours: Vec<[u32; 3]>,
        solid: bool,
        bounds: [Vector; 2],
    ) -> Surface {
        let corners = |t: &[u32; 3]| t.map(|k| points[k as usize]);
        let normals = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = corners(t);
                unit(cross(sub(b, a), sub(c, a))).unwrap_or([0.0, 0.0, 1.0])
            })
            .collect();
        let mut starts = vec![0_u32; points.len() + 1];
        for &corner in triangles.iter().flatten() {
            starts[corner as usize + 1] += 1;
        }
        for k in 0..points.len() {
            starts[k + 1] += starts[k];
        }
        let mut filled = starts.clone();
        let mut fans = vec![0; 3 * triangles.len()];
        for (t, triangle) in triangles.iter().enumerate() {
            for &corner in triangle {
                fans[filled[corner as usize] as usize] = t as u32;
                filled[corner as usize] += 1;
            }
        }
        let tree = Tree::new(triangles.iter().map(|t| {
            let [center, half] = around(corners(t).into_iter());
            Bounds { low: sub(center, half), high: add(center, half) }
        }));
        let extent = norm(bounds[1]);
        let thick = bounds[1].into_iter().filter(|&half| half > 1e-3 * extent);
        let size = thick.fold(f64::INFINITY, f64::min);
        let mut surface = Surface {
            points,
            triangles,
            normals,
            neighbours,
            edges: Vec::new(),
            felt: Vec::new(),
            starts,
            fans,
            solid,
            tree,
            bounds,
            size,
        };
        let all = 0..surface.triangles.len() as u32;
        surface.edges = all.map(|t| [0, 1, 2].map(|k| surface.is_edge((t, k)))).collect();
        let all = 0..surface.points.len() as u32;
        surface.felt = all.filter(|&point| !surface.is_flat_about(point)).collect();
        surface
    }

    /// Directions of normals, then points, then edges.
    pub fn features(&self) -> u32 {
        DIRECTIONS + self.points.len() as u32 + 3 * self.triangles.len() as u32
    }

    fn corners(&self, t: u32) -> [Vector; 3] {
        self.triangles[t as usize].map(|k| self.points[k as usize])
    }

    /// Triangles near a box, in ascending order.
    pub(super) fn near(&self, low: Vector, high: Vector, near: &mut Vec<u32>) {
        near.clear();
        self.tree.meeting(&Bounds { low, high }, |t| near.push(t));
        near.sort_unstable();
    }

    /// Whether the surface has the normal `n` on the edge `k` of a triangle.
    fn edge_has(&self, t: u32, k: usize, n: Vector, lean: f64) -> bool {
        let away = |third: Vector| {
            let m = self.inwards(t, k, third);
            dot(n, m) <= lean * norm(m)
        };
        let other = self.neighbours[t as usize][k];
        away(self.corners(t)[(k + 2) % 3])
            && (other == NONE || self.third(other, t, k).is_none_or(away))
    }

    /// From the edge `k` of a triangle to a point, across the edge.
    fn inwards(&self, t: u32, k: usize, x: Vector) -> Vector {
        let [p, q] = [k, (k + 1) % 3].map(|k| self.corners(t)[k]);
        let (along, from) = (sub(q, p), sub(x, p));
        sub(from, scaled(dot(from, along) / dot(along, along), along))
    }

    /// The corner of `other` that is not on the edge `k` of `t`.
    fn third(&self, other: u32, t: u32, k: usize) -> Option<Vector> {
        let edge = [k, (k + 1) % 3].map(|k| self.triangles[t as usize][k]);
        let corner = self.triangles[other as usize].iter().find(|c| !edge.contains(c))?;
        Some(self.points[*corner as usize])
    }

    /// Whether the surface has the normal `n` in a point.
    fn point_has(&self, point: u32, n: Vector, lean: f64) -> bool {
        let x = self.points[point as usize];
        let fan = self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize;
        self.fans[fan].iter().all(|&t| {
            self.corners(t).into_iter().all(|corner| {
                let d = sub(corner, x);
                dot(n, d) <= lean * norm(d)
            })
        })
    }

    /// A sphere about `x`, in the frame of the world; the surface is second.
    pub fn sphere(
        &self,
        x: Vector,
        r: f64,
        at: &Pose,
        reach: f64,
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        self.ball(x, r, x, at, reach, room, touches);
    }

    /// A ball of a body about `of`, which says on which side of an open surface it is.
    #[allow(clippy::too_many_arguments)]
    fn ball(
        &self,
        x: Vector,
        r: f64,
        of: Vector,
        at: &Pose,
        reach: f64,
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        let [c, of] = [x, of].map(|x| at.turn_back(sub(x, at.x)));
        let wide = [r + reach; 3];
        self.near(sub(c, wide), add(c, wide), &mut room.near);
        let mut behind: Option<f64> = None;
        for &t in &room.near {
            let (n, corners) = (self.normals[t as usize], self.corners(t));
            let (y, part) = on_triangle(c, corners);
            let height = dot(n, sub(c, corners[0]));
            let apart = sub(c, y);
            let distance = norm(apart);
            let direction = if distance > 0.0 { scaled(1.0 / distance, apart) } else { n };
            // right above or below an edge or corner within a plane, which is not felt
            let straight = distance - height.abs() <= 0.5 * LEAN * LEAN * distance;
            let part = match part {
                Part::Edge(k) if straight && self.is_flat(t, k) => Part::Face,
                Part::Corner(k)
                    if straight && self.is_flat_about(self.triangles[t as usize][k]) =>
                {
                    Part::Face
                }
                part => part,
            };
            let touch = match part {
                // inside, it may be: only where nothing else is touched
                _ if self.solid && height < 0.0 => {
                    behind = Some(behind.map_or(distance, |other| other.min(distance)));
                    continue;
                }
                Part::Face if !self.solid && dot(n, sub(of, corners[0])) < 0.0 => {
                    Touch::on_second(y, scaled(-1.0, n), -height - r, [0, 0])
                }
                Part::Face => Touch::on_second(y, n, height - r, [0, 0]),
                // too far away, whatever the surface has there
                _ if (1.0 - SLACK) * distance - r > reach => continue,
                Part::Edge(k) if !self.edge_has(t, k, direction, LEAN) => continue,
                Part::Corner(k)
                    if !self.point_has(self.triangles[t as usize][k], direction, LEAN) =>
                {
                    continue;
                }
                // on the rim of the triangle, but straight above it
                _ if height > 0.0 && distance - height < 0.5 * LEAN * LEAN * height => {
                    Touch::on_second(y, n, height - r, [0, 0])
                }
                _ => Touch::on_second(y, direction, distance - r, [0, 0]),
            };
            if touch.gap <= reach {
                touches.push(touch);
            }
        }
        // a face that looks away from a point outside is behind something that is not near yet
        if touches.len() == start
            && let Some(depth) = behind
            && let Some(y) = self.way_out(c, (1.0 + SLACK) * depth, &mut room.near)
            && let Some(n) = unit(sub(y, c))
        {
            touches.push(Touch::on_second(y, n, -norm(sub(y, c)) - r, [0, 0]));
        }
        merge(touches, start, r.max(1e-3 * self.size));
        for touch in &mut touches[start..] {
            touch.features[1] = cell(touch.normal);
        }
        to_world(&mut touches[start..], at);
    }

    /// Any other shape; the surface is second.
    pub fn contacts(
        &self,
        a: Body<'_>,
        at: &Pose,
        reach: f64,
        room: &mut super::pairs::Room,
        touches: &mut Vec<Touch>,
    ) {
        match a.solid {
            Solid::Surface(other) => {
                self.surface(other, a.at, at, reach, &mut room.surface, touches)
            }
            Solid::Cylinder { .. } | Solid::Cone { .. } => {
                super::revolved::on_surface(a, self, at, reach, room, touches);
            }
            _ => {
                if let Some((body, r)) = flat_faced(a.solid) {
                    self.polytope(body, r, a.at, at, reach, &mut room.surface, touches);
                }
            }
        }
    }

    /// A convex body with flat faces.
    #[allow(clippy::too_many_arguments)]
    fn polytope(
        &self,
        body: &Polytope,
        r: f64,
        of_body: &Pose,
        at: &Pose,
        reach: f64,
        room: &mut Room,
        touches: &mut Vec<Touch>,
    ) {
        let start = touches.len();
        let Room { near, triangle, odd, body: moved, clipper } = room;
        let view = moved.view(body, &relative(at, of_body));
        let [center, half] = around(view.vertices.iter().copied());
        let wide = add(half, [r + reach; 3]);
        self.near(sub(center, wide), add(center, wide), near);
        let radii = [0.0, r];
        self.gather(
            near,
            triangle,
            odd,
            (view.center, body.size + r),
            touches,
            |one, face, all| match face {
                None => clipper.contacts(View::own(one), view, radii, reach, all),
                Some(f) => clipper.on_one_face(View::own(one), f, view, radii, reach, all),
            },
        );
        // what has no inside has no edges that could be pressed down
        let is_solid = r == 0.0 && !view.normals.is_empty();
        if is_solid && !touches[start..].iter().any(|touch| touch.gap <= 0.0) {
            self.ridges(&odd.triangles, view, body.size, reach, touches);
        }
        let size = body.size.min(self.size);
        merge(touches, start, size);
        reduce(touches, start, size);
        flip(&mut touches[start..]);
        to_world(&mut touches[start..], at);
    }

    /// Contacts with all these triangles, which are first: `meet` finds those with one, or those on one
    /// face of it. The body is about `center`, and no deeper than `depth`.
    ///
    /// A direction between body and triangle counts if the surface has it in one of the contacts. Where
    /// it has not, the triangle is a part of something larger, and the direction of the whole is one
    /// that was found at other triangles: either that same one (corners of a face beside the lowest), or
    /// the triangle's own normal (a plane under a body that is a little tilted). Else contacts are along
    /// the triangle's normal, as far as nothing of the surface is nearer to the point that is pressed
    /// out: a triangle across which the body lies presses nothing out along itself.
    pub(super) fn gather(
        &self,
        near: &[u32],
        triangle: &mut Polytope,
        odd: &mut Odd,
        (center, depth): (Vector, f64),
        touches: &mut Vec<Touch>,
        mut meet: impl FnMut(&Polytope, Option<usize>, &mut Vec<Touch>),
    ) {
        let start = touches.len();
        odd.triangles.clear();
        for &t in near {
            triangle.set_triangle(self.corners(t), self.normals[t as usize]);
            let one = touches.len();
            meet(triangle, None, touches);
            let found = &touches[one..];
            let had = |touch: &Touch| self.has(t, touch.features[0], scaled(-1.0, touch.normal));
            let fine = |touch: &Touch| {
                found.iter().any(|other| other.normal == touch.normal && had(other))
            };
            if found.iter().all(fine) {
                self.leave_out_flat(t, triangle, touches, one);
                self.name(t, triangle, &mut touches[one..]);
            } else {
                touches.truncate(one);
                odd.triangles.push(t);
            }
        }
        let known = start..touches.len();
        let Odd { triangles, near } = odd;
        for &t in triangles.iter() {
            triangle.set_triangle(self.corners(t), self.normals[t as usize]);
            let one = touches.len();
            let same = |touches: &[Touch], n: Vector| {
                touches[known.clone()].iter().any(|touch| dot(touch.normal, n) > SAME)
            };
            meet(triangle, None, touches);
            let all_known = touches[one..].iter().all(|touch| same(touches, touch.normal));
            if !all_known {
                touches.truncate(one);
                let above = dot(triangle.normals[0], center) >= triangle.offsets[0];
                let face = usize::from(!self.solid && !above);
                let n = triangle.normals[face];
                meet(triangle, Some(face), touches);
                let plain = same(touches, scaled(-1.0, n));
                let mut kept = one;
                for k in one..touches.len() {
                    let touch = touches[k];
                    let x = add(touch.point, scaled(0.5 * touch.gap, n));
                    if touch.gap >= -depth && (plain || self.nearest(x, -touch.gap, near)) {
                        touches[kept] = touch;
                        kept += 1;
                    }
                }
                touches.truncate(kept);
            }
            self.leave_out_flat(t, triangle, touches, one);
            self.name(t, triangle, &mut touches[one..]);
        }
    }

    /// Whether nothing of the surface is nearer to `x` than `distance`.
    fn nearest(&self, x: Vector, distance: f64, near: &mut Vec<u32>) -> bool {
        if distance <= 0.0 {
            return true;
        }
        let least = (1.0 - 1e-6) * distance;
        self.near(sub(x, [least; 3]), add(x, [least; 3]), near);
        near.iter().all(|&t| {
            let apart = sub(x, on_triangle(x, self.corners(t)).0);
            dot(apart, apart) >= least * least
        })
    }

    /// From features of a triangle to those of the surface.
    fn name(&self, t: u32, triangle: &Polytope, touches: &mut [Touch]) {
        for touch in touches {
            touch.features[0] = match touch.features[0] {
                corner @ 0..3 => DIRECTIONS + self.triangles[t as usize][corner as usize],
                edge @ 3..6 => self.side_feature(t, self.side(edge as usize - 3, triangle)),
                _ => cell(scaled(-1.0, touch.normal)),
            };
        }
    }

    /// The feature of a side of a triangle: the same from both triangles.
    fn side_feature(&self, t: u32, k: usize) -> u32 {
        let other = self.neighbours[t as usize][k];
        let number = match other == NONE || t < other {
            true => 3 * t + k as u32,
            false => {
                let back = self.neighbours[other as usize].iter().position(|&back| back == t);
                3 * other + back.unwrap_or(0) as u32
            }
        };
        DIRECTIONS + self.points.len() as u32 + number
    }

    /// Which side of the triangle an edge of its polytope is.
    fn side(&self, edge: usize, triangle: &Polytope) -> usize {
        match triangle.edges[edge].ends {
            [0, 1] => 0,
            [1, 2] => 1,
            _ => 2,
        }
    }

    /// Whether the surface has the normal `n` on this feature of the polytope of triangle `t`.
    fn has(&self, t: u32, feature: u32, n: Vector) -> bool {
        let face = self.normals[t as usize];
        let along = dot(n, face);
        if along > 1.0 - LEAN * LEAN || (!self.solid && along < LEAN * LEAN - 1.0) {
            return true;
        }
        if self.solid && along < 0.0 {
            return false;
        }
        match feature {
            corner @ 0..3 => self.point_has(self.triangles[t as usize][corner as usize], n, LEAN),
            // edges of a triangle's polytope are in the order of its loop
            edge @ 3..6 => {
                let k = edge as usize - 3;
                let [p, q] = [k, (k + 1) % 3].map(|k| self.corners(t)[k]);
                let along = sub(q, p);
                dot(n, along).abs() <= LEAN * norm(along) && self.edge_has(t, k, n, LEAN)
            }
            _ => false,
        }
    }
}

/// Whether every edge belongs to two triangles that go along it in opposite ways.
pub(crate) fn closed(triangles: &[[u32; 3]]) -> bool {
    neighbours(triangles).1
}

/// The triangle across each edge, and whether every edge has one that goes the other way.
fn neighbours(triangles: &[[u32; 3]]) -> (Vec<[u32; 3]>, bool) {
    let mut directed: HashMap<[u32; 2], u32> = HashMap::with_capacity(3 * triangles.len());
    let mut twice = false;
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for edge in [[a, b], [b, c], [c, a]] {
            twice |= directed.insert(edge, t as u32).is_some();
        }
    }
    let across = |a: u32, b: u32| directed.get(&[b, a]).copied().unwrap_or(NONE);
    let all: Vec<[u32; 3]> =
        triangles.iter().map(|&[a, b, c]| [across(a, b), across(b, c), across(c, a)]).collect();
    let closed = !twice && all.iter().flatten().all(|&other| other != NONE);
    (all, closed)
}

/// Points and triangles of a height field.
fn ground(heights: &[Vec<f64>], size: [f64; 2]) -> (Vec<Vector>, Vec<[u32; 3]>) {
    let (rows, cols) = (heights.len(), heights[0].len());
    let place = |k: usize, count: usize, size: f64| size * (k as f64 / (count - 1) as f64 - 0.5);
    let mut points = Vec::with_capacity(rows * cols);
    for (i, row) in heights.iter().enumerate() {
        for (j, &z) in row.iter().enumerate() {
            points.push([place(j, cols, size[0]), place(i, rows, size[1]), z]);
        }
    }
    let mut triangles = Vec::with_capacity(2 * (rows - 1) * (cols - 1));
    for i in 0..rows - 1 {
        for j in 0..cols - 1 {
            let a = (i * cols + j) as u32;
            let (b, c, d) = (a + 1, a + cols as u32, a + cols as u32 + 1);
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    (points, triangles)
}

/// The cell of a direction.
fn cell(n: Vector) -> u32 {
    let axis = (0..3).fold(0, |most, k| if n[k].abs() > n[most].abs() { k } else { most });
    let face = 2 * axis as u32 + u32::from(n[axis] < 0.0);
    let place = |k: usize| {
        let share = 0.5 * (n[k] / n[axis].abs() + 1.0);
        ((share * f64::from(CELLS)) as u32).min(CELLS - 1)
    };
    (face * CELLS + place((axis + 1) % 3)) * CELLS + place((axis + 2) % 3)
}
