//! Numbers of a scene that can be computed with: their squares are neither zero nor infinite.
//!
//! What is not a number at all is told by the model, by name; these here would show as a matrix of
//! the step that is not finite, with no name.

use super::{BodySpec, Member, Part, Scene, SceneError, SceneFault, StaticSpec};
use crate::MassProperties;

/// The largest number that is taken, the inverse of the smallest: its square is finite.
const LARGE: f64 = 1e150;

/// What is allowed of lengths and velocities.
const WITHIN: &str = "within -1e150 to 1e150";

/// What is allowed of masses and moments of inertia.
const POSITIVE: &str = "within 1e-150 to 1e150";

/// Whether a number is positive, and neither too small nor too large; a NaN is not.
fn is_weight(value: f64) -> bool {
    (1.0 / LARGE..=LARGE).contains(&value)
}

impl Scene {
    /// Place, velocity and mass of a body.
    pub(super) fn check_body(&self, k: usize, body: &BodySpec) -> Result<(), SceneError> {
        let at = Member::Body(k);
        let vectors = [("position", body.position), ("v", body.v), ("omega", body.omega)];
        for (key, values) in vectors {
            self.check_reach(at, key, &values)?;
        }
        self.check_reach(at, "angle", &[body.angle])?;
        self.check_parts(at, &body.parts)
    }

    /// The place of what stands still.
    pub(super) fn check_static(&self, k: usize, one: &StaticSpec) -> Result<(), SceneError> {
        self.check_reach(Member::Static(k), "position", &one.position)?;
        self.check_parts(Member::Static(k), &one.parts)
    }

    fn check_parts(&self, at: Member, parts: &[Part]) -> Result<(), SceneError> {
        parts.iter().try_for_each(|part| self.check_reach(at, "position", &part.position))
    }

    fn check_reach(&self, at: Member, key: &'static str, values: &[f64]) -> Result<(), SceneError> {
        match values.iter().find(|value| value.is_finite() && value.abs() > LARGE) {
            None => Ok(()),
            Some(&value) => {
                Err(self.error(at, key, SceneFault::Range { key, value, allowed: WITHIN }))
            }
        }
    }

    /// A mass, or a center of mass, that is given.
    pub(super) fn check_given_mass(&self, k: usize, body: &BodySpec) -> Result<(), SceneError> {
        let wrong = |key, value, allowed| {
            Err(self.error(Member::Body(k), key, SceneFault::Range { key, value, allowed }))
        };
        if let Some(value) = body.mass
            && !is_weight(value)
        {
            let is_positive = value > 0.0 && value.is_finite();
            return wrong("mass", value, if is_positive { POSITIVE } else { "a positive number" });
        }
        let center = body.center.unwrap_or_default();
        match center.into_iter().find(|value| !(value.abs() <= LARGE)) {
            Some(value) if !value.is_finite() => wrong("center", value, "finite numbers"),
            Some(value) => wrong("center", value, WITHIN),
            None => Ok(()),
        }
    }

    /// Mass and moments of inertia that come from shapes.
    pub(super) fn check_weight(&self, k: usize, found: &MassProperties) -> Result<(), SceneError> {
        let body = &self.bodies[k];
        let inertia = match self.space {
            saltus_model::Body::Space => [0, 1, 2].map(|i| found.inertia[i][i]),
            saltus_model::Body::Plane => [found.inertia[2][2]; 3],
        };
        let by_shapes = [("mass", &[found.mass][..], body.mass.is_none())];
        let moments = [("moment of inertia", &inertia[..], body.inertia.is_none())];
        for (what, values, is_of_shapes) in by_shapes.into_iter().chain(moments) {
            if let Some(&value) = values.iter().find(|value| is_of_shapes && !is_weight(**value)) {
                let fault = SceneFault::Weight { what, value, allowed: POSITIVE };
                return Err(self.error(Member::Body(k), "shape", fault));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    /// What is said of a body of stone that is changed.
    #[track_caller]
    fn check(change: impl FnOnce(&mut BodySpec), expected: &str) {
        let mut scene = Scene::new("");
        scene.materials.push(super::super::Material::new("stone", 2500.0));
        let mut body = BodySpec::new("b", Shape::Box { edges: [1.0; 3] }).of("stone");
        change(&mut body);
        scene.bodies.push(body);
        let error = scene.model().expect_err("it is wrong").to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    fn shape(shape: Shape) -> impl FnOnce(&mut BodySpec) {
        |body| body.parts = vec![shape.into()]
    }

    #[test]
    fn numbers_that_cannot_be_computed_with_are_named() {
        let nan = f64::NAN;
        check(
            |body| body.center = Some([0.0, nan, 0.0]),
            "body `b`: `center` is NaN, expected finite numbers",
        );
        check(|body| body.mass = Some(-1.0), "body `b`: `mass` is -1, expected a positive number");
        check(
            |body| body.mass = Some(1e-200),
            "body `b`: `mass` is 1e-200, expected within 1e-150 to 1e150",
        );
        check(
            |body| body.position[2] = 1e308,
            "body `b`: `position` is 1e308, expected within -1e150 to 1e150",
        );
        check(
            |body| body.position[0] = nan,
            "system `b`: `position`[0] is NaN, expected a finite number",
        );
        let thin = shape(Shape::Box { edges: [1e-200, 1.0, 1.0] });
        check(thin, "body `b`: the mass of its shapes is 2.4");
        let wide = shape(Shape::Box { edges: [1e100, 1.0, 1.0] });
        check(wide, "body `b`: the moment of inertia of its shapes is 2.08");
        let dot = shape(Shape::Sphere { radius: 1e-200 });
        check(dot, "body `b`: the mass of its shapes is 0, expected a positive number");
        let plane = shape(Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 });
        check(plane, "body `b`: a plane cannot belong to a body; use a box, or a static");
    }
}
