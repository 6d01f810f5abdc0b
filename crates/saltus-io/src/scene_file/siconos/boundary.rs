//! Boundary conditions: velocities of bodies that are given.
//!
//! ```text
//! HarmonicBC          v_i = a_i + b_i cos(ω_i t + φ_i)
//! BoundaryCondition   v_i = c_i
//! FixedBC             v_i = 0
//! x_i = x_i(0) + a_i t + b_i (sin(ω_i t + φ_i) − sin φ_i)/ω_i                                        (1)
//! ```
//!
//! A body of which all components are given moves as it is told: it becomes a static with a drive. Where
//! some of them are held at zero, that is a joint with the world if there is one that leaves the others.
//! Components of the turn are in the frame of the body.

use super::Reader;
use crate::scene_file::SceneFileError;
use rust_hdf5::H5Dataset;
use saltus_mechanics::{AnyJoint, DriveSpec, Given, Joint, Joint2d, JointLink, Scene, StaticSpec};
use saltus_model::Body;
use saltus_model::rotation::{Quaternion, Vector, normalized, rotate};

/// `a + b cos(ω t + φ)`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rate {
    a: f64,
    b: f64,
    omega: f64,
    phi: f64,
}

impl Rate {
    fn is_zero(&self) -> bool {
        self.a == 0.0 && self.b == 0.0
    }

    /// The formula of `factor` times the rate.
    fn formula(&self, factor: f64) -> String {
        let Rate { a, b, omega, phi } = *self;
        format!("({:?}) + ({:?})*cos(({omega:?})*t + ({phi:?}))", factor * a, factor * b)
    }

    /// (1).
    fn integral(&self, start: f64) -> String {
        let Rate { a, b, omega, phi } = *self;
        if omega == 0.0 {
            return format!("({start:?}) + ({:?})*t", a + b * phi.cos());
        }
        let (amplitude, from) = (b / omega, phi.sin());
        let wave = format!("(sin(({omega:?})*t + ({phi:?})) - ({from:?}))");
        format!("({start:?}) + ({a:?})*t + ({amplitude:?})*{wave}")
    }
}

impl Reader<'_> {
    pub(super) fn boundary_conditions(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        for name in self.datasets("data/boundary_conditions") {
            let path = format!("data/boundary_conditions/{name}");
            let dataset = self.dataset(&path)?;
            let object = self.text(&dataset, "object1").unwrap_or_default();
            let Some(k) = scene.bodies.iter().position(|body| body.name == object) else {
                return Err(self.content(&path, format!("there is no body `{object}`")));
            };
            let Some(rates) = self.rates(&path, &dataset)? else { continue };
            let is_free = |rate: &Option<Rate>| rate.is_none();
            let is_joined = scene.joints.iter().any(|joint| joint.bodies.contains(&object));
            let held = rates.iter().all(|rate| rate.is_none_or(|rate| rate.is_zero()));
            if !rates.iter().any(is_free) && !is_joined && self.drive(scene, k, &rates) {
                continue;
            }
            let (at, turn) = (scene.bodies[k].position, scene.bodies[k].orientation);
            let turn = normalized(turn).unwrap_or(turn);
            let free: Vec<usize> = (0..rates.len()).filter(|i| rates[*i].is_none()).collect();
            match joint(self.space, &free, at, turn) {
                Some(joint) if held => {
                    scene.joints.push(JointLink::new(name, joint, &[object.as_str()]));
                }
                _ => {
                    let given: Vec<usize> =
                        (0..rates.len()).filter(|i| rates[*i].is_some()).collect();
                    let what = format!("the velocities {given:?} of `{object}`");
                    self.aside(&path, format!("{what}, which MOVES FREELY"));
                }
            }
        }
        Ok(())
    }

    /// The rate of each component of the velocity; nothing where it is of no type known here.
    fn rates(
        &mut self,
        path: &str,
        dataset: &H5Dataset,
    ) -> Result<Option<Vec<Option<Rate>>>, SceneFileError> {
        let size = if self.space == Body::Plane { 3 } else { 6 };
        let indices = self.values(path, dataset, "indices")?.unwrap_or_default();
        let list = |key: &str| -> Result<Vec<f64>, SceneFileError> {
            let values = self.values(path, dataset, key)?.unwrap_or_default();
            match values.len() == indices.len() {
                true => Ok(values),
                false => {
                    let found = format!("`{key}` has {} numbers", values.len());
                    let expected = format!("expected {}, as `indices`", indices.len());
                    Err(self.content(path, format!("{found}, {expected}")))
                }
            }
        };
        let none = vec![0.0; indices.len()];
        let [a, b, omega, phi] = match self.text(dataset, "type").unwrap_or_default().as_str() {
            "HarmonicBC" => [list("a")?, list("b")?, list("omega")?, list("phi")?],
            "BoundaryCondition" => [list("v")?, none.clone(), none.clone(), none],
            "FixedBC" => [none.clone(), none.clone(), none.clone(), none],
            kind => {
                self.aside(path, format!("a boundary condition of type `{kind}`"));
                return Ok(None);
            }
        };
        let mut rates = vec![None; size];
        for (k, index) in indices.iter().enumerate() {
            let Some(i) = (0..size).find(|i| *i as f64 == *index) else {
                let found = format!("`indices` has {index}");
                return Err(self.content(path, format!("{found}, expected 0 to {}", size - 1)));
            };
            rates[i] = Some(Rate { a: a[k], b: b[k], omega: omega[k], phi: phi[k] });
        }
        Ok(Some(rates))
    }

    /// Makes a body a static that moves as it is told; not where it turns about several axes.
    fn drive(&self, scene: &mut Scene, k: usize, rates: &[Option<Rate>]) -> bool {
        let Some(rates) = rates.iter().copied().collect::<Option<Vec<Rate>>>() else {
            return false;
        };
        let ways = if self.space == Body::Plane { 2 } else { 3 };
        let (ways, turns) = rates.split_at(ways);
        let turning: Vec<usize> = (0..turns.len()).filter(|i| !turns[*i].is_zero()).collect();
        if turning.len() > 1 {
            return false;
        }
        let mut body = scene.bodies.remove(k);
        let positions = ways.iter().zip(body.position).map(|(rate, x)| rate.integral(x));
        let position = Some(Given::Formulas(positions.collect()));
        // an axis of the body that it turns about stays where it is
        let turn = normalized(body.orientation).unwrap_or(body.orientation);
        let omega = turning.first().map(|&i| match self.space {
            Body::Plane => Given::Formulas(vec![turns[i].formula(1.0)]),
            Body::Space => {
                let axis = rotate(turn, unit(i));
                Given::Formulas(axis.iter().map(|x| turns[i].formula(*x)).collect())
            }
        });
        // the origin of the shapes goes the way of the center of mass only where both are one
        let center = body.center.unwrap_or_default();
        body.parts.iter_mut().for_each(|part| {
            part.position = saltus_model::rotation::sub(part.position, center);
        });
        let Some(first) = body.parts.first().cloned() else { return true };
        let mut fixed = StaticSpec::new(body.name, first);
        (fixed.parts, fixed.material) = (body.parts, body.material);
        (fixed.position, fixed.orientation) = (body.position, body.orientation);
        fixed.drive = Some(DriveSpec { position, omega, surface: [0.0; 3] });
        scene.statics.push(fixed);
        true
    }
}

fn unit(i: usize) -> Vector {
    std::array::from_fn(|k| if k == i { 1.0 } else { 0.0 })
}

/// The joint with the world that leaves these components free.
fn joint(space: Body, free: &[usize], point: Vector, turn: Quaternion) -> Option<AnyJoint> {
    let own = |i: usize| rotate(turn, unit(i));
    Some(match (space, free) {
        (Body::Plane, []) => Joint2d::Fixed.into(),
        (Body::Plane, [2]) => Joint2d::Pivot { point: [point[0], point[1]] }.into(),
        (Body::Plane, &[i]) => {
            let [x, y, _] = unit(i);
            Joint2d::Prismatic { axis: [x, y] }.into()
        }
        (Body::Space, []) => Joint::Fixed.into(),
        (Body::Space, [3, 4, 5]) => Joint::Ball { point }.into(),
        (Body::Space, &[i @ 0..3]) => Joint::Prismatic { axis: unit(i) }.into(),
        (Body::Space, &[i @ 3..6]) => Joint::Pivot { point, axis: own(i - 3) }.into(),
        (Body::Space, &[i @ 0..3, j @ 3..6]) if own(j - 3) == unit(i) => {
            Joint::Cylindrical { point, axis: unit(i) }.into()
        }
        (Body::Space, &[i @ 0..3, j @ 0..3, k @ 3..6]) if own(k - 3) == unit(3 - i - j) => {
            Joint::Planar { point, normal: unit(3 - i - j) }.into()
        }
        _ => return None,
    })
}
