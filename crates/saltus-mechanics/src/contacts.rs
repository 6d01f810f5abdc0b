//! Contacts between simple shapes, found by formulas.
//!
//! ```text
//! y = (gap, 0, …),    u = (n · c, t₁ · c, t₂ · c, t₁ · ω, t₂ · ω)
//! ```
//!
//! with `c` the velocity of the first body against the second at the contact point, and `ω` their
//! relative angular velocity. The normal `n` points to the first body, and `t₁ × t₂ = n`. Of these
//! rows a contact has one (no friction), three (friction) or five (rolling friction). In the plane they
//! are `(n · c, t · c, ω)`, of which it has one, two or three.

use crate::fault::{Fault, direction, point};
use crate::joints_2d::flat;
use crate::pose::{self, Pose, Start};
use crate::row::middle;
use saltus_linalg::Matrix;
use saltus_model::rotation::{Vector, add, dot, norm, scaled, sub, tangents};
use saltus_model::{
    At, Body, IntoRelation, Linked, ModelError, OperatorError, Order, Relation, Terms,
};

/// Which rows a contact has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Components {
    /// The normal alone, for laws without friction.
    Normal,
    /// The normal and two tangents, for laws of friction; in the plane one tangent.
    #[default]
    Friction,
    /// These and two rates of rolling, for rolling friction; in the plane one rate.
    Rolling,
}

impl Components {
    /// How many.
    pub fn size(self) -> usize {
        match self {
            Components::Normal => 1,
            Components::Friction => 3,
            Components::Rolling => 5,
        }
    }

    /// How many in the plane.
    pub fn size_in_plane(self) -> usize {
        match self {
            Components::Normal => 1,
            Components::Friction => 2,
            Components::Rolling => 3,
        }
    }

    /// Those with this many rows in the plane.
    pub fn of_size_in_plane(size: usize) -> Option<Components> {
        let all = [Components::Normal, Components::Friction, Components::Rolling];
        all.into_iter().find(|components| components.size_in_plane() == size)
    }

    /// Those with this many rows.
    pub fn of_size(size: usize) -> Option<Components> {
        let all = [Components::Normal, Components::Friction, Components::Rolling];
        all.into_iter().find(|components| components.size() == size)
    }
}

/// A sphere, or with `radius = 0` a point, of the first body above a plane of the second or of the
/// world.
///
/// ```text
/// gap = n · (P − O) − r,    contact point P − r n
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointPlane {
    /// The center of the sphere, in the frame of the first body. Default its center of mass.
    pub center: Vector,
    /// Its radius, not negative. Default 0: a point.
    pub radius: f64,
    /// The normal of the plane, in the frame of the world where the bodies start. Default upward.
    pub normal: Vector,
    /// A point of the plane, likewise. Default the origin.
    pub origin: Vector,
    /// The rows. Default those of friction.
    pub components: Components,
}

impl Default for PointPlane {
    fn default() -> Self {
        PointPlane {
            center: [0.0; 3],
            radius: 0.0,
            normal: [0.0, 0.0, 1.0],
            origin: [0.0; 3],
            components: Components::Friction,
        }
    }
}

impl PointPlane {
    /// A sphere about the center of mass, above the plane `z = 0`.
    pub fn sphere(radius: f64) -> Self {
        PointPlane { radius, ..PointPlane::default() }
    }

    /// A point of the first body, in its own frame, above the plane `z = 0`.
    pub fn point(center: Vector) -> Self {
        PointPlane { center, ..PointPlane::default() }
    }

    /// The same above another plane.
    pub fn above(mut self, normal: Vector, origin: Vector) -> Self {
        (self.normal, self.origin) = (normal, origin);
        self
    }

    /// The same with these rows.
    pub fn with(mut self, components: Components) -> Self {
        self.components = components;
        self
    }
}

/// Two spheres, of two bodies, or of one body and the world.
///
/// ```text
/// d = P_a − P_b,    n = d/|d|,    gap = |d| − r_a − r_b
/// ```
///
/// The contact point is in the middle of the gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphereSphere {
    /// The radii, not negative.
    pub radii: [f64; 2],
    /// The centers, each in the frame of its body; that of the world where there is one body. Default
    /// the centers of mass.
    pub centers: [Vector; 2],
    /// The rows. Default those of friction.
    pub components: Components,
}

impl SphereSphere {
    /// Spheres about the centers of mass.
    pub fn new(radii: [f64; 2]) -> Self {
        SphereSphere { radii, centers: [[0.0; 3]; 2], components: Components::Friction }
    }

    /// The same with other centers, each in the frame of its body.
    pub fn at(mut self, centers: [Vector; 2]) -> Self {
        self.centers = centers;
        self
    }

    /// The same with these rows.
    pub fn with(mut self, components: Components) -> Self {
        self.components = components;
        self
    }
}

/// A disk, or with `radius = 0` a point, of the first body in the plane above a line of the second or of
/// the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiskLine {
    /// The center of the disk, in the frame of the first body. Default its center of mass.
    pub center: [f64; 2],
    /// Its radius, not negative. Default 0: a point.
    pub radius: f64,
    /// The normal of the line, in the frame of the world where the bodies start. Default upward, y.
    pub normal: [f64; 2],
    /// A point of the line, likewise. Default the origin.
    pub origin: [f64; 2],
    /// The rows. Default those of friction.
    pub components: Components,
}

impl Default for DiskLine {
    fn default() -> Self {
        let components = Components::Friction;
        DiskLine { center: [0.0; 2], radius: 0.0, normal: [0.0, 1.0], origin: [0.0; 2], components }
    }
}

/// Two disks, of two bodies in the plane, or of one body and the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiskDisk {
    /// The radii, not negative.
    pub radii: [f64; 2],
    /// The centers, each in the frame of its body; that of the world where there is one body. Default
    /// the centers of mass.
    pub centers: [[f64; 2]; 2],
    /// The rows. Default those of friction.
    pub components: Components,
}

impl DiskDisk {
    /// Disks about the centers of mass.
    pub fn new(radii: [f64; 2]) -> Self {
        DiskDisk { radii, centers: [[0.0; 2]; 2], components: Components::Friction }
    }
}

/// The corners of a box with these edges, in its own frame.
pub fn corners([a, b, c]: Vector) -> [Vector; 8] {
    std::array::from_fn(|k| {
        let side = |bit: usize, edge: f64| if k & bit == 0 { -0.5 * edge } else { 0.5 * edge };
        [side(1, a), side(2, b), side(4, c)]
    })
}

/// What is found of a contact.
struct Found {
    gap: f64,
    normal: Vector,
    point: Vector,
}

#[derive(Debug, Clone, Copy)]
enum Pair {
    /// The sphere in the first body, the plane in the second.
    Plane {
        center: Vector,
        radius: f64,
        normal: Vector,
        origin: Vector,
    },
    Spheres {
        radii: [f64; 2],
        centers: [Vector; 2],
    },
}

impl Pair {
    #[inline]
    fn find(&self, [A, B]: &[Pose; 2]) -> Option<Found> {
        match *self {
            Pair::Plane { center, radius, normal, origin } => {
                let (P, n) = (A.point(center), B.turn(normal));
                let gap = dot(n, sub(P, B.point(origin))) - radius;
                Some(Found { gap, normal: n, point: sub(P, scaled(radius, n)) })
            }
            Pair::Spheres { radii, centers } => {
                let (P, Q) = (A.point(centers[0]), B.point(centers[1]));
                let d = sub(P, Q);
                let distance = norm(d);
                let n = scaled(1.0 / distance, d);
                let [on_a, on_b] = [sub(P, scaled(radii[0], n)), add(Q, scaled(radii[1], n))];
                let gap = distance - radii[0] - radii[1];
                let found = Found { gap, normal: n, point: middle(on_a, on_b) };
                (distance > 0.0).then_some(found)
            }
        }
    }
}

/// A contact between bodies of a model.
#[derive(Debug)]
pub struct ContactRelation {
    pair: Pair,
    body: Body,
    components: Components,
    fault: Option<Fault>,
}

impl ContactRelation {
    fn found(&self, at: At<'_>) -> Result<([Pose; 2], Found), OperatorError> {
        let poses = Pose::pair(self.body, at.first, Pose::WORLD);
        match self.pair.find(&poses) {
            Some(found) => Ok((poses, found)),
            None => {
                let why = "two spheres or disks have the same center, so that there is no normal";
                Err(OperatorError { what: "contact".to_string(), time: at.t, why: why.to_string() })
            }
        }
    }

    fn fill(&self, poses: &[Pose; 2], found: &Found, states: usize, C: &mut Matrix) {
        let (body, width) = (self.body, pose::width(self.body, states));
        C.resize(self.size(), width);
        let [A, B] = poses;
        let n = found.normal;
        let [s, t] = match body {
            Body::Space => tangents(n),
            Body::Plane => [[-n[1], n[0], 0.0], [0.0, 0.0, 1.0]],
        };
        for (i, row) in C.data_mut().chunks_exact_mut(width).enumerate() {
            let (along, turns) = match (body, i) {
                (_, 0) => (n, false),
                (_, 1) => (s, false),
                (Body::Space, 2) => (t, false),
                (Body::Space, 3) => (s, true),
                _ => (t, true),
            };
            let slope = |pose: &Pose| match turns {
                false => pose.slope(found.point, along),
                true => pose.spin(along),
            };
            pose::write(body, [&slope(A), &slope(B).map(|x| -x)], row);
        }
    }
}

/// Complete, but for what is wrong with it.
fn complete(
    linked: Linked<'_>,
    body: Body,
    components: Components,
    pair: impl FnOnce(Start) -> Result<Pair, Fault>,
) -> ContactRelation {
    let none = Pair::Spheres { radii: [0.0; 2], centers: [[0.0; 3]; 2] };
    let pair = Start::pair(body, linked, Start::WORLD).and_then(|[_, b]| pair(b));
    let (pair, fault) = match pair {
        Ok(pair) => (pair, None),
        Err(fault) => (none, Some(fault)),
    };
    ContactRelation { pair, body, components, fault }
}

fn radius(value: f64) -> Result<f64, Fault> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Fault::Range { what: "radius", value, allowed: "[0, inf)" }),
    }
}

impl IntoRelation for PointPlane {
    type Relation = ContactRelation;

    fn complete(self, linked: Linked<'_>) -> ContactRelation {
        complete(linked, Body::Space, self.components, |b| {
            Ok(Pair::Plane {
                center: point("center", self.center)?,
                radius: radius(self.radius)?,
                normal: b.direction(direction("normal", self.normal)?),
                origin: b.point(point("origin", self.origin)?),
            })
        })
    }
}

impl IntoRelation for SphereSphere {
    type Relation = ContactRelation;

    fn complete(self, linked: Linked<'_>) -> ContactRelation {
        complete(linked, Body::Space, self.components, |_| {
            let [a, b] = self.centers;
            let centers = [point("centers", a)?, point("centers", b)?];
            Ok(Pair::Spheres { radii: [radius(self.radii[0])?, radius(self.radii[1])?], centers })
        })
    }
}

impl IntoRelation for DiskLine {
    type Relation = ContactRelation;

    fn complete(self, linked: Linked<'_>) -> ContactRelation {
        complete(linked, Body::Plane, self.components, |b| {
            Ok(Pair::Plane {
                center: point("center", flat(self.center))?,
                radius: radius(self.radius)?,
                normal: b.direction(direction("normal", flat(self.normal))?),
                origin: b.point(point("origin", flat(self.origin))?),
            })
        })
    }
}

impl IntoRelation for DiskDisk {
    type Relation = ContactRelation;

    fn complete(self, linked: Linked<'_>) -> ContactRelation {
        complete(linked, Body::Plane, self.components, |_| {
            let [a, b] = self.centers;
            let centers = [point("centers", flat(a))?, point("centers", flat(b))?];
            Ok(Pair::Spheres { radii: [radius(self.radii[0])?, radius(self.radii[1])?], centers })
        })
    }
}

impl Relation for ContactRelation {
    fn order(&self) -> Order {
        Order::Second
    }

    fn size(&self) -> usize {
        match self.body {
            Body::Space => self.components.size(),
            Body::Plane => self.components.size_in_plane(),
        }
    }

    fn terms(&self) -> Terms {
        Terms::default()
    }

    fn is_in_velocities(&self) -> bool {
        true
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        let (_, found) = self.found(at)?;
        y.fill(0.0);
        y[0] = found.gap;
        Ok(())
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        let (poses, found) = self.found(at)?;
        self.fill(&poses, &found, at.first.len(), C);
        Ok(())
    }

    fn output_and_dx(
        &self,
        at: At<'_>,
        y: &mut [f64],
        C: &mut Matrix,
        _: &mut Vec<f64>,
    ) -> Result<(), OperatorError> {
        let (poses, found) = self.found(at)?;
        y.fill(0.0);
        y[0] = found.gap;
        self.fill(&poses, &found, at.first.len(), C);
        Ok(())
    }

    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        D.reset(self.size(), self.size());
        Ok(())
    }

    fn output_dt(&self, _: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        Ok(())
    }

    fn check(&self, owner: &str, _: Linked<'_>) -> Result<(), ModelError> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(fault.clone().of(owner, "a contact")),
        }
    }
}
