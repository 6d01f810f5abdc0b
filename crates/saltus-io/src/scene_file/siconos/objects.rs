//! Bodies, and what stands still.

use super::Reader;
use crate::scene_file::SceneFileError;
use saltus_mechanics::{BodySpec, Scene, Shape, StaticSpec};
use saltus_model::rotation::{dot, normalized, rotate, sub};

/// Attributes of an object that are read here, or mean nothing here.
const KNOWN: [&str; 11] = [
    "id",
    "mass",
    "inertia",
    "translation",
    "orientation",
    "velocity",
    "center_of_mass",
    "time_of_birth",
    "time_of_death",
    "allow_self_collide",
    "type",
];

impl Reader<'_> {
    pub(super) fn objects(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        // in the order they were given: dynamic ones 1, 2, …, static ones −1, −2, …
        let mut objects = Vec::new();
        for name in self.groups("data/input")? {
            let path = format!("data/input/{name}");
            let numbers = self.numbers(&path)?;
            let id = numbers.get("id").and_then(|id| id.first()).copied().unwrap_or(0.0);
            objects.push((id, name, path, numbers));
        }
        objects.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        for (_, name, path, numbers) in objects {
            let group = self.checked(&path, self.group(&path))?;
            let attributes = self.checked(&path, group.attr_names())?;
            for attribute in attributes.iter().filter(|one| !KNOWN.contains(&one.as_str())) {
                self.aside(&path, format!("`{attribute}`"));
            }
            let all = |key: &str| numbers.get(key).map_or(&[][..], |values| values);
            let one = |key: &str| all(key).first().copied();
            let position = self.vector(&path, "translation", all("translation"))?;
            let center = self.vector(&path, "center_of_mass", all("center_of_mass"))?;
            let (orientation, angle) = self.turn(&path, all("orientation"))?;
            let (parts, lines) = self.contactors(&path)?;
            let birth = one("time_of_birth").filter(|time| *time > 0.0);
            let death = one("time_of_death").filter(|time| *time >= 0.0);
            let Some(mass) = one("mass").filter(|mass| *mass > 0.0) else {
                for (key, time) in [("time_of_birth", birth), ("time_of_death", death)] {
                    if let Some(time) = time {
                        let what = format!("`{key}` {time} of what stands still");
                        self.aside(&path, format!("{what}; it is there all the time"));
                    }
                }
                let k = scene.statics.len();
                self.lines.extend(lines.into_iter().map(|part| [k, part]));
                let mut fixed = StaticSpec::new(name, Shape::Sphere { radius: 1.0 });
                let turn = normalized(orientation).unwrap_or(orientation);
                fixed.parts = parts;
                fixed.position = sub(position, rotate(turn, center));
                fixed.orientation = orientation;
                scene.statics.push(fixed);
                continue;
            };
            let mut body = BodySpec::without_shape(name);
            body.parts = parts;
            (body.position, body.orientation, body.angle) = (position, orientation, angle);
            body.mass = Some(mass);
            match *all("velocity") {
                [] => {}
                [vx, vy, vz, wx, wy, wz] => {
                    (body.v, body.omega) = ([vx, vy, vz], [wx, wy, wz]);
                }
                [vx, vy, wz] => (body.v, body.omega) = ([vx, vy, 0.0], [0.0, 0.0, wz]),
                ref other => {
                    let found = format!("`velocity` has {} numbers", other.len());
                    return Err(self.content(&path, format!("{found}, expected 6, or 3 in 2D")));
                }
            }
            body.inertia = match all("inertia") {
                [] => None,
                [moment] => Some([[0.0; 3], [0.0; 3], [0.0, 0.0, *moment]]),
                [a, b, c] => Some([[*a, 0.0, 0.0], [0.0, *b, 0.0], [0.0, 0.0, *c]]),
                values if values.len() == 9 => {
                    Some(std::array::from_fn(|i| std::array::from_fn(|j| values[3 * i + j])))
                }
                values => {
                    let found = format!("`inertia` has {} numbers", values.len());
                    return Err(self.content(&path, format!("{found}, expected 1, 3 or 9")));
                }
            };
            body.center = Some(center);
            (body.birth, body.death) = (birth, death);
            scene.bodies.push(body);
        }
        self.sides_of_lines(scene);
        Ok(())
    }

    /// A straight line of Siconos touches on both sides; here it is the edge of a half-plane, where no
    /// body is.
    fn sides_of_lines(&mut self, scene: &mut Scene) {
        for [k, part] in std::mem::take(&mut self.lines) {
            let fixed = &mut scene.statics[k];
            let turn = normalized(fixed.orientation).unwrap_or(fixed.orientation);
            let place = &mut fixed.parts[part];
            let own = normalized(place.orientation).unwrap_or(place.orientation);
            let Shape::Plane { normal, offset } = &mut place.shape else { continue };
            let n = rotate(turn, rotate(own, *normal));
            let at = rotate(turn, place.position);
            let surface = dot(n, fixed.position) + dot(n, at) + *offset;
            let heights: Vec<f64> =
                scene.bodies.iter().map(|body| dot(n, body.position) - surface).collect();
            if heights.iter().all(|height| *height <= 0.0) {
                (*normal, *offset) = (normal.map(|x| -x), -*offset);
            } else if heights.iter().any(|height| *height < 0.0) {
                place.touch = false;
                let path = format!("data/input/{}", fixed.name);
                self.aside(&path, "a `Line` between bodies, which TOUCHES NOTHING");
            }
        }
    }
}
