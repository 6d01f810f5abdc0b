//! Convex bodies with flat faces: what separation and clipping need to know of them.
//!
//! A segment (the core of a capsule) has no faces, a triangle two that look away from each other.

use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub, unit};

/// Two corners and the faces on either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub ends: [u32; 2],
    pub faces: [u32; 2],
}

/// The corners of a face in order, counterclockwise seen from outside: a stretch of `loops`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Loop {
    pub start: u32,
    pub len: u32,
}

/// `{x : nᵢ · x ≤ oᵢ}`, in its own frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Polytope {
    pub vertices: Vec<Vector>,
    pub edges: Vec<Edge>,
    pub normals: Vec<Vector>,
    pub offsets: Vec<f64>,
    pub faces: Vec<Loop>,
    /// Of every corner of every face: the vertex, and the edge that leads on from it.
    pub loops: Vec<[u32; 2]>,
    /// Directions of edges, those that are parallel only once.
    pub directions: Vec<Vector>,
    /// A point inside.
    pub center: Vector,
    /// Half its largest extent.
    pub size: f64,
    /// Whether it has an inside.
    pub solid: bool,
}

impl Polytope {
    /// Vertices come first in the numbers of features, then edges, then faces.
    pub fn features(&self) -> u32 {
        (self.vertices.len() + self.edges.len() + self.faces.len()) as u32
    }

    /// Half the least distance between two parallel planes with the body between them, over the
    /// normals of its faces.
    pub fn thickness(&self) -> f64 {
        let view = View::own(self);
        let widths = self.normals.iter().zip(&self.offsets).map(|(&n, o)| o - view.lowest(n));
        0.5 * widths.fold(f64::INFINITY, f64::min)
    }

    pub fn edge_feature(&self, edge: usize) -> u32 {
        (self.vertices.len() + edge) as u32
    }

    pub fn face_feature(&self, face: usize) -> u32 {
        (self.vertices.len() + self.edges.len() + face) as u32
    }

    pub fn corners(&self, face: usize) -> &[[u32; 2]] {
        let Loop { start, len } = self.faces[face];
        &self.loops[start as usize..(start + len) as usize]
    }

    /// A box with these half edges. Face `2 k` looks along axis `k`, face `2 k + 1` against it.
    pub fn cuboid(half: Vector) -> Polytope {
        let vertices = (0..8_u32)
            .map(|k| {
                let sign = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
                [sign(0) * half[0], sign(1) * half[1], sign(2) * half[2]]
            })
            .collect();
        let loops: [[u32; 4]; 6] =
            [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
        Polytope::from_loops(vertices, &loops.map(|l| l.to_vec()))
    }

    /// The segment from `−half` to `half` along `z`.
    pub fn segment(half: f64) -> Polytope {
        Polytope {
            vertices: vec![[0.0, 0.0, -half], [0.0, 0.0, half]],
            edges: vec![Edge { ends: [0, 1], faces: [0, 0] }],
            directions: vec![[0.0, 0.0, 1.0]],
            size: half,
            ..Polytope::default()
        }
    }

    /// Room for a triangle; see [`Polytope::set_triangle`].
    pub fn triangle() -> Polytope {
        let mut polytope = Polytope::from_loops(
            vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            &[vec![0, 1, 2], vec![0, 2, 1]],
        );
        polytope.directions = vec![[0.0; 3]; 3];
        polytope.solid = false;
        polytope
    }

    /// Makes it this triangle, with the unit normal `n`.
    pub fn set_triangle(&mut self, corners: [Vector; 3], n: Vector) {
        self.vertices.copy_from_slice(&corners);
        self.normals[0] = n;
        self.normals[1] = scaled(-1.0, n);
        self.offsets[0] = dot(n, corners[0]);
        self.offsets[1] = -self.offsets[0];
        for k in 0..3 {
            let along = sub(corners[(k + 1) % 3], corners[k]);
            self.directions[k] = scaled(1.0 / norm(along), along);
        }
        self.center = scaled(1.0 / 3.0, add(corners[0], add(corners[1], corners[2])));
        self.size = (0..3)
            .map(|k| 0.5 * norm(sub(corners[(k + 1) % 3], corners[k])))
            .fold(0.0_f64, f64::max);
    }

    /// From corners and the loops of faces; every edge belongs to two faces.
    pub fn from_loops(vertices: Vec<Vector>, faces: &[Vec<u32>]) -> Polytope {
        let count = vertices.len() as f64;
        let center = scaled(1.0 / count, vertices.iter().fold([0.0; 3], |sum, &v| add(sum, v)));
        let mut polytope = Polytope { vertices, center, solid: true, ..Polytope::default() };
        let mut edges: Vec<Edge> = Vec::new();
        for (f, corners) in faces.iter().enumerate() {
            polytope
                .faces
                .push(Loop { start: polytope.loops.len() as u32, len: corners.len() as u32 });
            for (k, &a) in corners.iter().enumerate() {
                let b = corners[(k + 1) % corners.len()];
                let ends = [a.min(b), a.max(b)];
                let edge = edges.iter().position(|e| e.ends == ends).unwrap_or_else(|| {
                    edges.push(Edge { ends, faces: [f as u32; 2] });
                    edges.len() - 1
                });
                edges[edge].faces[1] = f as u32;
                polytope.loops.push([a, edge as u32]);
            }
            let n = polytope.newell(f);
            // the plane through the corner that reaches farthest, so that nothing sticks out
            let offset = corners.iter().map(|&c| dot(n, polytope.vertices[c as usize]));
            polytope.offsets.push(offset.fold(f64::NEG_INFINITY, f64::max));
            polytope.normals.push(n);
        }
        polytope.edges = edges;
        polytope.find_directions();
        let spread = polytope.vertices.iter().map(|&v| norm(sub(v, center)));
        polytope.size = spread.fold(0.0_f64, f64::max);
        polytope
    }

    /// The unit normal of a loop, `Σ a × b` over its edges.
    fn newell(&self, face: usize) -> Vector {
        let corners = self.corners(face);
        let origin = self.vertices[corners[0][0] as usize];
        let mut sum = [0.0; 3];
        for k in 1..corners.len() {
            let a = sub(self.vertices[corners[k][0] as usize], origin);
            let b = sub(self.vertices[corners[(k + 1) % corners.len()][0] as usize], origin);
            sum = add(sum, cross(a, b));
        }
        unit(sum).unwrap_or([0.0, 0.0, 1.0])
    }

    /// Normals and offsets anew, after vertices have moved.
    pub fn refresh(&mut self) {
        for f in 0..self.faces.len() {
            let n = self.newell(f);
            self.normals[f] = n;
            let corners = self.corners(f).iter().map(|c| dot(n, self.vertices[c[0] as usize]));
            self.offsets[f] = corners.fold(f64::NEG_INFINITY, f64::max);
        }
        let spread = self.vertices.iter().map(|&v| norm(v));
        self.size = spread.fold(0.0_f64, f64::max);
    }

    fn find_directions(&mut self) {
        for edge in &self.edges {
            let [a, b] = edge.ends.map(|end| self.vertices[end as usize]);
            let Some(along) = unit(sub(b, a)) else { continue };
            if !self.directions.iter().any(|&d| norm(cross(d, along)) < 1e-9) {
                self.directions.push(along);
            }
        }
    }
}

/// A polytope seen from the frame in which two of them meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub polytope: &'a Polytope,
    pub vertices: &'a [Vector],
    pub normals: &'a [Vector],
    pub offsets: &'a [f64],
    pub directions: &'a [Vector],
    pub center: Vector,
}

impl<'a> View<'a> {
    /// In its own frame.
    pub fn own(polytope: &'a Polytope) -> View<'a> {
        View {
            polytope,
            vertices: &polytope.vertices,
            normals: &polytope.normals,
            offsets: &polytope.offsets,
            directions: &polytope.directions,
            center: polytope.center,
        }
    }

    /// `min n · x`.
    #[inline]
    pub fn lowest(&self, n: Vector) -> f64 {
        let mut least = f64::INFINITY;
        for &x in self.vertices {
            let along = dot(n, x);
            if along < least {
                least = along;
            }
        }
        least
    }

    /// `max n · x`.
    #[inline]
    pub fn highest(&self, n: Vector) -> f64 {
        -self.lowest(scaled(-1.0, n))
    }

    pub fn ends(&self, edge: usize) -> [Vector; 2] {
        self.polytope.edges[edge].ends.map(|end| self.vertices[end as usize])
    }
}

/// Room for a polytope in another frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Moved {
    vertices: Vec<Vector>,
    normals: Vec<Vector>,
    offsets: Vec<f64>,
    directions: Vec<Vector>,
}

impl Moved {
    /// `x ↦ R x + s`.
    pub fn view<'a>(&'a mut self, polytope: &'a Polytope, to: &crate::pose::Pose) -> View<'a> {
        self.vertices.clear();
        self.vertices.extend(polytope.vertices.iter().map(|&x| to.point(x)));
        self.normals.clear();
        self.normals.extend(polytope.normals.iter().map(|&n| to.turn(n)));
        self.offsets.clear();
        let offsets = self.normals.iter().zip(&polytope.offsets);
        self.offsets.extend(offsets.map(|(&n, o)| o + dot(n, to.x)));
        self.directions.clear();
        self.directions.extend(polytope.directions.iter().map(|&d| to.turn(d)));
        View {
            polytope,
            vertices: &self.vertices,
            normals: &self.normals,
            offsets: &self.offsets,
            directions: &self.directions,
            center: to.point(polytope.center),
        }
    }
}
