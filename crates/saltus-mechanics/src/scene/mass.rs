//! Mass, center of mass and moments of inertia of a body, given or from its shapes.

use super::{BodySpec, DEFAULT, Member, Part, Scene, SceneError, SceneFault};
use crate::{MassProperties, Placed};
use saltus_model::rotation::{Matrix3, Vector, dot, sub};

/// The moments of a mass at `d` about the origin: `m (|d|² I − d dᵀ)`.
fn moments(m: f64, d: Vector) -> Matrix3 {
    let square = dot(d, d);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| m * (if i == j { square } else { 0.0 } - d[i] * d[j]))
    })
}

impl Scene {
    /// Mass, center of mass and moments of inertia of the body number `k`, in the frame of its
    /// shapes.
    ///
    /// ```text
    /// a given mass:     J ← (m/m_shapes) J
    /// a given center:   J ← J + m (|d|² I − d dᵀ),    d = center − center of the shapes
    /// ```
    pub fn mass_of(&self, k: usize) -> Result<MassProperties, SceneError> {
        let body = &self.bodies[k];
        self.check_given_mass(k, body)?;
        // all that is asked of shapes may be given
        if let (Some(mass), Some(inertia)) = (body.mass, body.inertia) {
            let by_shapes = || self.by_shapes(k, body).map_or([0.0; 3], |found| found.center);
            let center = body.center.unwrap_or_else(by_shapes);
            return Ok(MassProperties { mass, center, inertia });
        }
        let mut found = self.by_shapes(k, body)?;
        if let Some(mass) = body.mass {
            let share = mass / found.mass;
            found.inertia = found.inertia.map(|row| row.map(|x| share * x));
            found.mass = mass;
        }
        if let Some(center) = body.center {
            let more = moments(found.mass, sub(center, found.center));
            for (row, more) in found.inertia.iter_mut().zip(more) {
                row.iter_mut().zip(more).for_each(|(x, more)| *x += more);
            }
            found.center = center;
        }
        if let Some(inertia) = body.inertia {
            found.inertia = inertia;
        }
        self.check_weight(k, &found)?;
        Ok(found)
    }

    /// The same by shapes and densities; of one density for all where only their shares count.
    fn by_shapes(&self, k: usize, body: &BodySpec) -> Result<MassProperties, SceneError> {
        let at = Member::Body(k);
        let fault = |why: &str| self.error(at, "mass", SceneFault::NoMass { why: why.to_string() });
        let parts: Vec<&Part> = body.parts.iter().filter(|part| part.touch).collect();
        let densities: Option<Vec<f64>> =
            parts.iter().map(|part| self.density_of(body, part)).collect();
        let densities = match (densities, body.mass) {
            (Some(densities), _) => densities,
            (None, Some(_)) => vec![1.0; parts.len()],
            (None, None) => {
                let of = |part: &&&Part| self.density_of(body, part).is_none();
                let name = parts.iter().find(of).map_or(DEFAULT, |part| material(body, part));
                return Err(fault(&format!(
                    "the material `{name}` has no density, and `mass` is not given"
                )));
            }
        };
        let weigh = |(part, density): (&&Part, f64)| {
            let (shape, position) = (part.shape.clone(), part.position);
            Placed { shape, position, orientation: part.orientation }.mass_properties(density)
        };
        let all = parts.iter().zip(densities).map(weigh).collect::<Result<Vec<_>, _>>();
        let all = all.map_err(|error| self.error(at, "shape", error))?;
        let missing = match body.mass {
            None => "give it a shape and a density, or `mass` and `inertia`",
            Some(_) => "give it a shape, or `inertia` too",
        };
        let value: f64 = all.iter().map(|one| one.mass).sum();
        if !all.is_empty() && !(value > 0.0) {
            let (what, allowed) = ("mass", "a positive number");
            return Err(self.error(at, "shape", SceneFault::Weight { what, value, allowed }));
        }
        MassProperties::sum(&all).ok_or_else(|| fault(missing))
    }

    fn density_of(&self, body: &BodySpec, part: &Part) -> Option<f64> {
        let name = material(body, part);
        self.materials.iter().find(|one| one.name == name)?.density
    }
}

/// The material of a part of a body.
fn material<'a>(body: &'a BodySpec, part: &'a Part) -> &'a str {
    part.material.as_deref().unwrap_or(&body.material)
}
