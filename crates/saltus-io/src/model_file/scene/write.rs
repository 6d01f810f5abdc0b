//! A scene as the text of a model file, from which the same scene is read to the last bit.

mod joints;

use crate::model_file::{Output, Samples, Simulation, Strategy};
use saltus_mechanics::scene::DEFAULT;
use saltus_mechanics::{
    Anchor, BodySpec, ContactPair, DriveSpec, Given, Part, Placed, Scene, Shape, StaticSpec,
};
use saltus_model::rotation::{IDENTITY, Matrix3, Quaternion, Vector};
use saltus_model::{Body, Elasticity, Frame, Order};
use saltus_sim::{Integrator, NewtonSettings};
use std::fmt::Write;
use thiserror::Error;

/// A scene that no file can hold.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SceneTextError {
    /// A function that is no formula.
    #[error("{owner}: `{key}` is a function, and a file holds numbers and formulas only")]
    Function {
        /// Whose it is.
        owner: String,
        /// The key.
        key: &'static str,
    },
    /// A name that would be read as a formula.
    #[error("{owner}: a name with braces would be read as a formula in a file")]
    Braces {
        /// Whose it is.
        owner: String,
    },
}

/// The text of a scene and how it is simulated.
pub fn scene_text(scene: &Scene, simulation: &Simulation) -> Result<String, SceneTextError> {
    let mut text = Text { out: String::new(), space: scene.space };
    text.pair("title", &string(&scene.title));
    if !scene.parameters.is_empty() {
        text.head("[parameters]");
        for (name, value) in &scene.parameters {
            text.pair(name, &number(*value));
        }
    }
    text.simulation(simulation);
    text.head("[scene]");
    text.pair("dim", &scene.dim().to_string());
    text.pair("gravity", &text.vector(scene.gravity));
    if !scene.apart.is_empty() {
        let pairs = scene.apart.iter().map(|[a, b]| format!("[{}, {}]", string(a), string(b)));
        text.pair("apart", &array(pairs));
    }
    for material in &scene.materials {
        text.head("[[material]]");
        text.name(&material.name, "material")?;
        if let Some(density) = material.density {
            text.pair("density", &number(density));
        }
    }
    scene.contacts.iter().for_each(|pair| text.contact(pair));
    scene.statics.iter().try_for_each(|one| text.fixed(one))?;
    scene.bodies.iter().try_for_each(|body| text.body(body))?;
    scene.joints.iter().try_for_each(|joint| joints::write(&mut text, joint))?;
    Ok(text.out)
}

/// A number that is read back as it is.
pub(super) fn number(value: f64) -> String {
    format!("{value:?}")
}

/// A basic string of TOML.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

pub(super) fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn numbers(values: &[f64]) -> String {
    array(values.iter().map(|value| number(*value)))
}

fn rows<'a>(rows: impl Iterator<Item = &'a [f64]>) -> String {
    array(rows.map(numbers))
}

/// A value of serde in the words of TOML; nothing for what is not there.
fn setting(value: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match value {
        Value::Null => None,
        Value::String(text) => Some(string(text)),
        Value::Array(items) => Some(array(items.iter().filter_map(setting))),
        Value::Object(entries) => {
            let entries = entries.iter().filter_map(|(key, value)| {
                // systems that are not named are all of them
                let empty = value.as_array().is_some_and(Vec::is_empty);
                let value = setting(value).filter(|_| !empty)?;
                Some(format!("{key} = {value}"))
            });
            Some(format!("{{ {} }}", entries.collect::<Vec<_>>().join(", ")))
        }
        other => Some(other.to_string()),
    }
}

struct Text {
    out: String,
    space: Body,
}

impl Text {
    fn head(&mut self, head: &str) {
        let _ = writeln!(self.out, "\n{head}");
    }

    fn pair(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.out, "{key} = {value}");
    }

    fn name(&mut self, name: &str, what: &str) -> Result<(), SceneTextError> {
        if name.contains(['{', '}']) {
            return Err(SceneTextError::Braces { owner: format!("{what} `{name}`") });
        }
        self.pair("name", &string(name));
        Ok(())
    }

    /// Of two or three components.
    fn vector(&self, value: Vector) -> String {
        numbers(if self.space == Body::Plane { &value[..2] } else { &value[..] })
    }

    fn vector_unless_zero(&mut self, key: &str, value: Vector) {
        if value.iter().any(|x| *x != 0.0 || x.is_sign_negative()) {
            self.pair(key, &self.vector(value));
        }
    }

    fn turn(&mut self, value: Quaternion) {
        if value != IDENTITY {
            self.pair("orientation", &numbers(&value));
        }
    }

    /// How the scene is simulated; integrators and Newton's settings that are the defaults are not said,
    /// so that a text that was read is written alike.
    fn simulation(&mut self, simulation: &Simulation) {
        self.head("[simulation]");
        let Simulation { strategy, integrators, solver, newton, h, until, output, .. } = simulation;
        let json = |value: Result<serde_json::Value, _>| value.ok().and_then(|v| setting(&v));
        match strategy {
            Strategy::TimeStepping => {
                self.pair("h", &number(*h));
                let default = [Integrator::default_for(Order::Second)];
                if !integrators.is_empty()
                    && integrators[..] != default
                    && let Some(value) = json(serde_json::to_value(integrators))
                {
                    self.pair("integrator", &value);
                }
                if *newton != NewtonSettings::default()
                    && let Some(value) = json(serde_json::to_value(newton))
                {
                    self.pair("newton", &value);
                }
            }
            Strategy::EventDriven => {
                self.pair("strategy", &string(strategy.name()));
                self.pair("rtol", &number(simulation.tolerances.rtol));
                self.pair("atol", &number(simulation.tolerances.atol));
            }
            Strategy::Adaptive => {
                self.pair("strategy", &string(strategy.name()));
                self.pair("tol", &number(simulation.adaptive.tol));
            }
        }
        if let Some(value) = json(serde_json::to_value(solver)) {
            self.pair("solver", &value);
        }
        self.pair("until", &number(*until));
        self.output(output);
    }

    fn output(&mut self, Output { every, samples, signals }: &Output) {
        let mut entries = Vec::new();
        if *every != Output::default().every {
            entries.push(format!("every = {every}"));
        }
        match samples {
            None => {}
            Some(Samples::Count(count)) => entries.push(format!("samples = {count}")),
            Some(Samples::Instants(instants)) => {
                entries.push(format!("samples = {}", numbers(instants)));
            }
        }
        if let Some(signals) = signals {
            let names = array(signals.iter().map(|name| string(name)));
            entries.push(format!("signals = {names}"));
        }
        if !entries.is_empty() {
            self.pair("output", &format!("{{ {} }}", entries.join(", ")));
        }
    }

    fn contact(&mut self, pair: &ContactPair) {
        self.head("[[contact]]");
        self.pair("materials", &array(pair.materials.iter().map(|name| string(name))));
        self.pair("e", &number(pair.e));
        for (key, value) in [("mu", pair.mu), ("mu_r", pair.mu_r)] {
            if let Some(value) = value {
                self.pair(key, &number(value));
            }
        }
        if pair.et != 0.0 {
            self.pair("et", &number(pair.et));
        }
        if let Some(Elasticity { stiffness, damping, tangential }) = pair.elastic {
            self.pair("stiffness", &number(stiffness));
            if damping != 0.0 {
                self.pair("damping", &number(damping));
            }
            if tangential != stiffness {
                self.pair("tangential_stiffness", &number(tangential));
            }
        }
        if !pair.touch {
            self.pair("touch", "false");
        }
    }

    /// `shape`, or `shapes` where there are several.
    fn parts(&mut self, parts: &[Part]) {
        match parts {
            [] => {}
            [one] => {
                let value = self.part(one);
                self.pair("shape", &value);
            }
            many => {
                let lines: Vec<_> =
                    many.iter().map(|one| format!("  {},\n", self.part(one))).collect();
                self.pair("shapes", &format!("[\n{}]", lines.concat()));
            }
        }
    }

    fn part(&self, part: &Part) -> String {
        let mut entries = self.shape(&part.shape);
        self.place(&mut entries, part.position, part.orientation);
        if let Some(material) = &part.material {
            entries.push(format!("material = {}", string(material)));
        }
        if !part.touch {
            entries.push("touch = false".to_owned());
        }
        format!("{{ {} }}", entries.join(", "))
    }

    fn place(&self, entries: &mut Vec<String>, position: Vector, orientation: Quaternion) {
        if position != [0.0; 3] {
            entries.push(format!("position = {}", self.vector(position)));
        }
        if orientation != IDENTITY {
            entries.push(format!("orientation = {}", numbers(&orientation)));
        }
    }

    fn placed(&self, placed: &Placed) -> String {
        let mut entries = self.shape(&placed.shape);
        self.place(&mut entries, placed.position, placed.orientation);
        format!("{{ {} }}", entries.join(", "))
    }

    /// The kind of a shape and its keys.
    fn shape(&self, shape: &Shape) -> Vec<String> {
        let one = |key: &str, value: f64| format!("{key} = {}", number(value));
        let flat = |points: &[[f64; 2]]| rows(points.iter().map(|point| &point[..]));
        let keys = match shape {
            Shape::Sphere { radius } | Shape::Disk { radius } => vec![one("radius", *radius)],
            Shape::Box { edges } => vec![format!("size = {}", numbers(edges))],
            Shape::Capsule { radius, length } | Shape::Cylinder { radius, length } => {
                vec![one("radius", *radius), one("length", *length)]
            }
            Shape::Cone { radius, height } => vec![one("radius", *radius), one("height", *height)],
            Shape::ConvexHull { points } => {
                vec![format!("points = {}", rows(points.iter().map(|point| &point[..])))]
            }
            Shape::TriangleMesh { points, triangles } => {
                let corners = triangles.iter().map(|[a, b, c]| format!("[{a}, {b}, {c}]"));
                vec![
                    format!("points = {}", rows(points.iter().map(|point| &point[..]))),
                    format!("triangles = {}", array(corners)),
                ]
            }
            Shape::HeightField { heights, size } => vec![
                format!("heights = {}", rows(heights.iter().map(|row| &row[..]))),
                format!("size = {}", numbers(size)),
            ],
            Shape::Plane { normal, offset } => {
                vec![format!("normal = {}", self.vector(*normal)), one("offset", *offset)]
            }
            Shape::Compound { parts } => {
                vec![format!("parts = {}", array(parts.iter().map(|part| self.placed(part))))]
            }
            Shape::Segment { from, to } => {
                vec![format!("from = {}", numbers(from)), format!("to = {}", numbers(to))]
            }
            Shape::Polygon { points } | Shape::Polyline { points } => {
                vec![format!("points = {}", flat(points))]
            }
        };
        let kind = format!("kind = {}", string(shape.name()));
        std::iter::once(kind).chain(keys).collect()
    }

    fn material(&mut self, material: &str, group: &Option<String>) {
        if material != DEFAULT {
            self.pair("material", &string(material));
        }
        if let Some(group) = group {
            self.pair("group", &string(group));
        }
    }

    fn given(
        &mut self,
        owner: &str,
        key: &'static str,
        value: &Option<Given>,
    ) -> Result<(), SceneTextError> {
        let value = match value {
            None => return Ok(()),
            Some(value) => written(owner, key, value)?,
        };
        self.pair(key, &value);
        Ok(())
    }

    fn fixed(&mut self, one: &StaticSpec) -> Result<(), SceneTextError> {
        self.head("[[static]]");
        self.name(&one.name, "static")?;
        self.parts(&one.parts);
        self.material(&one.material, &one.group);
        self.vector_unless_zero("position", one.position);
        self.turn(one.orientation);
        let Some(DriveSpec { position, omega, surface }) = &one.drive else { return Ok(()) };
        let owner = format!("static `{}`", one.name);
        let mut entries = Vec::new();
        for (key, value) in [("position", position), ("omega", omega)] {
            if let Some(value) = value {
                entries.push(format!("{key} = {}", written(&owner, key, value)?));
            }
        }
        if *surface != [0.0; 3] {
            entries.push(format!("surface = {}", self.vector(*surface)));
        }
        self.pair("drive", &format!("{{ {} }}", entries.join(", ")));
        Ok(())
    }

    fn body(&mut self, body: &BodySpec) -> Result<(), SceneTextError> {
        self.head("[[body]]");
        self.name(&body.name, "body")?;
        self.parts(&body.parts);
        self.material(&body.material, &body.group);
        match body.anchor {
            Anchor::Center => self.pair("position", &self.vector(body.position)),
            Anchor::Origin => self.pair("origin", &self.vector(body.position)),
        }
        match self.space {
            Body::Plane => {
                if body.angle != 0.0 {
                    self.pair("angle", &number(body.angle));
                }
            }
            Body::Space => self.turn(body.orientation),
        }
        self.vector_unless_zero("v", body.v);
        match self.space {
            Body::Plane if body.omega[2] != 0.0 => self.pair("omega", &number(body.omega[2])),
            Body::Plane => {}
            Body::Space => self.vector_unless_zero("omega", body.omega),
        }
        if let Some(mass) = body.mass {
            self.pair("mass", &number(mass));
        }
        if let Some(inertia) = &body.inertia {
            self.inertia(inertia);
        }
        if let Some(center) = body.center {
            self.pair("center", &self.vector(center));
        }
        let owner = format!("body `{}`", body.name);
        self.given(&owner, "force", &body.force)?;
        if body.force_frame != Frame::World {
            self.pair("force_frame", &string(body.force_frame.name()));
        }
        self.given(&owner, "moment", &body.moment)?;
        if body.moment_frame != Frame::Body {
            self.pair("moment_frame", &string(body.moment_frame.name()));
        }
        for (key, value) in [("birth", body.birth), ("death", body.death)] {
            if let Some(value) = value {
                self.pair(key, &number(value));
            }
        }
        Ok(())
    }

    fn inertia(&mut self, inertia: &Matrix3) {
        let value = match self.space {
            Body::Plane => number(inertia[2][2]),
            Body::Space => rows(inertia.iter().map(|row| &row[..])),
        };
        self.pair("inertia", &value);
    }
}

/// Numbers or formulas.
fn written(owner: &str, key: &'static str, value: &Given) -> Result<String, SceneTextError> {
    match value {
        Given::Numbers(values) => Ok(numbers(values)),
        Given::Formulas(texts) => Ok(array(texts.iter().map(|text| string(text)))),
        Given::Function(_) => Err(SceneTextError::Function { owner: owner.to_owned(), key }),
    }
}
