//! Scenes: shapes, materials, bodies and joints, which come to a model.

use crate::bodies::{BuiltIn, coordinate_of, friction_of, joint_of, limits_of, spring_of};
use crate::model::PyModel;
use crate::operator::PyOperator;
use crate::settings::{self, newton_text, text_of};
use crate::{arrays, errors};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use saltus::io::model_file::{ModelFile, Output, Simulation, Strategy, scene_model, scene_text};
use saltus::io::scene_file::{SceneFile, read_scene};
use saltus::mechanics::scene::Member;
use saltus::mechanics::{
    Anchor, BodySpec, ContactPair, DriveSpec, Fitting, Follows, Given, JointLink, Material,
    MotorSpec, Part, Placed, Scene, Shape, StaticSpec,
};
use saltus::model::{Body, Frame};
use std::collections::HashSet;
use std::path::PathBuf;

type Vector<'py> = PyReadonlyArray1<'py, f64>;
type Table<'py> = PyReadonlyArray2<'py, f64>;

/// A shape in its own frame.
#[pyclass(frozen, name = "Shape", module = "saltus._saltus")]
pub struct PyShape(Shape);

/// `N` numbers.
fn exactly<const N: usize>(what: &str, value: &[f64]) -> PyResult<[f64; N]> {
    value.try_into().map_err(|_| {
        errors::input(format!("`{what}` has {} components, expected {N}", value.len()))
    })
}

fn vector<const N: usize>(what: &str, value: &Vector<'_>) -> PyResult<[f64; N]> {
    exactly(what, &arrays::vector(value))
}

/// Rows of `N` numbers.
fn rows<const N: usize>(what: &str, value: &Table<'_>) -> PyResult<Vec<[f64; N]>> {
    value.as_array().rows().into_iter().map(|row| exactly(what, &row.to_vec())).collect()
}

#[pymethods]
impl PyShape {
    #[staticmethod]
    fn sphere(radius: f64) -> PyShape {
        PyShape(Shape::Sphere { radius })
    }

    #[staticmethod]
    fn cuboid(edges: Vector<'_>) -> PyResult<PyShape> {
        let edges = arrays::vector(&edges);
        if let [a, b] = edges[..] {
            let (a, b) = (0.5 * a, 0.5 * b);
            return Ok(PyShape(Shape::Polygon {
                points: vec![[-a, -b], [a, -b], [a, b], [-a, b]],
            }));
        }
        Ok(PyShape(Shape::Box { edges: exactly("edges", &edges)? }))
    }

    #[staticmethod]
    fn capsule(radius: f64, length: f64) -> PyShape {
        PyShape(Shape::Capsule { radius, length })
    }

    #[staticmethod]
    fn cylinder(radius: f64, length: f64) -> PyShape {
        PyShape(Shape::Cylinder { radius, length })
    }

    #[staticmethod]
    fn cone(radius: f64, height: f64) -> PyShape {
        PyShape(Shape::Cone { radius, height })
    }

    #[staticmethod]
    fn convex_hull(points: Table<'_>) -> PyResult<PyShape> {
        Ok(PyShape(Shape::ConvexHull { points: rows("points", &points)? }))
    }

    #[staticmethod]
    fn triangle_mesh(points: Table<'_>, triangles: Vec<[u32; 3]>) -> PyResult<PyShape> {
        Ok(PyShape(Shape::TriangleMesh { points: rows("points", &points)?, triangles }))
    }

    /// A mesh out of a file.
    #[staticmethod]
    fn mesh_file(path: PathBuf, scale: f64) -> PyResult<PyShape> {
        let mesh = saltus::mechanics::mesh::read(&path);
        let mesh = mesh.map_err(|error| errors::mesh_file(&path, &error))?;
        let points = mesh.points.into_iter().map(|point| point.map(|x| scale * x)).collect();
        Ok(PyShape(Shape::TriangleMesh { points, triangles: mesh.triangles }))
    }

    #[staticmethod]
    fn height_field(heights: Table<'_>, size: Vector<'_>) -> PyResult<PyShape> {
        let heights = heights.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        Ok(PyShape(Shape::HeightField { heights, size: vector("size", &size)? }))
    }

    #[staticmethod]
    fn plane(normal: Vector<'_>, offset: f64) -> PyResult<PyShape> {
        let normal = arrays::vector(&normal);
        let normal = match normal[..] {
            [x, y] => [x, y, 0.0],
            _ => exactly("normal", &normal)?,
        };
        Ok(PyShape(Shape::Plane { normal, offset }))
    }

    #[staticmethod]
    fn compound(parts: Vec<PyRef<'_, PyPart>>) -> PyShape {
        let placed = |part: PyRef<'_, PyPart>| Placed {
            shape: part.0.shape.clone(),
            position: part.0.position,
            orientation: part.0.orientation,
        };
        PyShape(Shape::Compound { parts: parts.into_iter().map(placed).collect() })
    }

    #[staticmethod]
    fn disk(radius: f64) -> PyShape {
        PyShape(Shape::Disk { radius })
    }

    #[staticmethod]
    fn segment(start: Vector<'_>, end: Vector<'_>) -> PyResult<PyShape> {
        let (from, to) = (vector("from", &start)?, vector("to", &end)?);
        Ok(PyShape(Shape::Segment { from, to }))
    }

    #[staticmethod]
    fn polygon(points: Table<'_>) -> PyResult<PyShape> {
        Ok(PyShape(Shape::Polygon { points: rows("points", &points)? }))
    }

    #[staticmethod]
    fn polyline(points: Table<'_>) -> PyResult<PyShape> {
        Ok(PyShape(Shape::Polyline { points: rows("points", &points)? }))
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.name()
    }
}

/// A shape in its place.
#[pyclass(frozen, name = "Part", module = "saltus._saltus")]
pub struct PyPart(Part);

#[pymethods]
impl PyPart {
    #[new]
    fn new(
        shape: &PyShape,
        position: Vector<'_>,
        orientation: Vector<'_>,
        material: Option<String>,
        touch: bool,
    ) -> PyResult<PyPart> {
        let (shape, orientation) = (shape.0.clone(), vector("orientation", &orientation)?);
        let position = any_dim("position", &position)?;
        Ok(PyPart(Part { shape, position, orientation, material, touch }))
    }
}

/// A vector of the plane or of space.
fn any_dim(what: &str, value: &Vector<'_>) -> PyResult<[f64; 3]> {
    let value = arrays::vector(value);
    match value[..] {
        [x, y] => Ok([x, y, 0.0]),
        _ => exactly(what, &value),
    }
}

/// What may be a function.
#[derive(FromPyObject)]
pub enum PyGiven<'py> {
    Operator(PyRef<'py, PyOperator>),
    Numbers(Vector<'py>),
    Formulas(Vec<String>),
    Formula(String),
}

/// A scene in the making.
#[pyclass(name = "Scene", module = "saltus._saltus")]
pub struct PyScene {
    scene: Scene,
    /// Systems, interactions and events that stood beside it in a model file.
    beside: String,
    is_python: bool,
    /// Names of statics, bodies and joints.
    names: HashSet<String>,
}

impl PyScene {
    fn around(scene: Scene, beside: String, is_python: bool) -> PyScene {
        let statics = scene.statics.iter().map(|one| &one.name);
        let bodies = scene.bodies.iter().map(|one| &one.name);
        let joints = scene.joints.iter().map(|one| &one.name);
        let names = statics.chain(bodies).chain(joints).cloned().collect();
        PyScene { scene, beside, is_python, names }
    }

    /// Takes the last part of a list back where something is wrong with it.
    fn checked(&mut self, member: Member) -> PyResult<()> {
        let name = match member {
            Member::Static(k) => Some(&self.scene.statics[k].name),
            Member::Body(k) => Some(&self.scene.bodies[k].name),
            Member::Joint(k) => Some(&self.scene.joints[k].name),
            _ => None,
        };
        let is_new = name.is_none_or(|name| self.names.insert(name.clone()));
        let done = match is_new {
            true => self.scene.check(member),
            false => Err(self.scene.duplicate(member)),
        };
        let Err(error) = done else { return Ok(()) };
        let scene = &mut self.scene;
        let name = match member {
            Member::Scene => None,
            Member::Material(_) => scene.materials.pop().and(None),
            Member::Contact(_) => scene.contacts.pop().and(None),
            Member::Static(_) => scene.statics.pop().map(|one| one.name),
            Member::Body(_) => scene.bodies.pop().map(|one| one.name),
            Member::Joint(_) => scene.joints.pop().map(|one| one.name),
        };
        if let Some(name) = name.filter(|_| is_new) {
            self.names.remove(&name);
        }
        Err(errors::model_input(error.to_string()))
    }

    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    fn given(&mut self, given: Option<PyGiven<'_>>) -> Option<Given> {
        Some(match given? {
            PyGiven::Operator(operator) => {
                self.is_python |= operator.is_python;
                Given::Function(operator.operator.clone())
            }
            PyGiven::Numbers(values) => Given::Numbers(arrays::vector(&values)),
            PyGiven::Formulas(texts) => Given::Formulas(texts),
            PyGiven::Formula(text) => Given::of_text(&text),
        })
    }

    /// A vector with as many components as the scene has dimensions.
    fn vector(&self, what: &str, value: &Vector<'_>) -> PyResult<[f64; 3]> {
        let (found, expected) = (value.as_array().len(), self.scene.dim());
        if found != expected {
            let message = format!("`{what}` has {found} components, expected {expected}");
            return Err(errors::input(message));
        }
        any_dim(what, value)
    }

    fn optional(&self, what: &str, value: Option<Vector<'_>>) -> PyResult<Option<[f64; 3]>> {
        value.map(|value| self.vector(what, &value)).transpose()
    }
}

fn parts(parts: Vec<PyRef<'_, PyPart>>) -> Vec<Part> {
    parts.into_iter().map(|part| part.0.clone()).collect()
}

fn frame(what: &str, name: &str) -> PyResult<Frame> {
    Frame::from_name(name).ok_or_else(|| {
        errors::input(format!("`{what}` is {name:?}, expected \"world\" or \"body\""))
    })
}

#[pymethods]
impl PyScene {
    #[new]
    fn new(
        title: String,
        dim: usize,
        gravity: Option<Vector<'_>>,
        parameters: Vec<(String, f64)>,
    ) -> PyResult<PyScene> {
        let mut scene = Scene::new(title);
        scene.space = match dim {
            2 => Body::Plane,
            3 => Body::Space,
            _ => return Err(errors::input(format!("`dim` is {dim}, expected 2 or 3"))),
        };
        scene.parameters = parameters;
        let mut scene = PyScene::around(scene, String::new(), false);
        scene.scene.gravity = scene.optional("gravity", gravity)?.unwrap_or_default();
        scene.checked(Member::Scene)?;
        Ok(scene)
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scene.title
    }

    #[getter]
    fn dim(&self) -> usize {
        self.scene.dim()
    }

    #[getter]
    fn gravity(&self) -> Vec<f64> {
        self.scene.gravity[..self.scene.dim()].to_vec()
    }

    #[getter]
    fn parameters(&self) -> Vec<(String, f64)> {
        self.scene.parameters.clone()
    }

    /// Names of materials, statics, bodies and joints.
    fn names(&self) -> [Vec<String>; 4] {
        let scene = &self.scene;
        [
            scene.materials.iter().map(|one| one.name.clone()).collect(),
            scene.statics.iter().map(|one| one.name.clone()).collect(),
            scene.bodies.iter().map(|one| one.name.clone()).collect(),
            scene.joints.iter().map(|one| one.name.clone()).collect(),
        ]
    }

    fn material(&mut self, name: String, density: Option<f64>) -> PyResult<()> {
        self.scene.materials.push(Material { name, density });
        self.checked(Member::Material(self.scene.materials.len() - 1))
    }

    #[allow(clippy::too_many_arguments)] // those of the law
    fn contact(
        &mut self,
        a: String,
        b: String,
        e: f64,
        mu: Option<f64>,
        mu_r: Option<f64>,
        et: f64,
        touch: bool,
        stiffness: Option<f64>,
        damping: Option<f64>,
        tangential_stiffness: Option<f64>,
    ) -> PyResult<()> {
        let owner = format!("contact of `{a}` and `{b}`");
        let pair = ContactPair { e, mu, mu_r, et, touch, ..ContactPair::new(a, b) };
        let pair = pair.giving_way(stiffness, damping, tangential_stiffness);
        let pair = pair.map_err(|fault| errors::input(format!("{owner}: {fault}")))?;
        self.scene.contacts.push(pair);
        self.checked(Member::Contact(self.scene.contacts.len() - 1))
    }

    fn apart(&mut self, a: String, b: String) {
        self.scene.apart.push([a, b]);
    }

    #[allow(clippy::too_many_arguments)] // all that can be said of it
    fn add_static(
        &mut self,
        name: String,
        shapes: Vec<PyRef<'_, PyPart>>,
        material: String,
        position: Option<Vector<'_>>,
        orientation: Vector<'_>,
        group: Option<String>,
        drive: Option<(Option<PyGiven<'_>>, Option<PyGiven<'_>>, Option<Vector<'_>>)>,
    ) -> PyResult<()> {
        let drive = match drive {
            None => None,
            Some((position, omega, surface)) => Some(DriveSpec {
                position: self.given(position),
                omega: self.given(omega),
                surface: self.optional("surface", surface)?.unwrap_or_default(),
            }),
        };
        let position = self.optional("position", position)?.unwrap_or_default();
        let orientation = vector("orientation", &orientation)?;
        let parts = parts(shapes);
        self.scene.statics.push(StaticSpec {
            name,
            parts,
            material,
            position,
            orientation,
            drive,
            group,
        });
        self.checked(Member::Static(self.scene.statics.len() - 1))
    }

    #[allow(clippy::too_many_arguments)] // all that can be said of it
    fn add_body(
        &mut self,
        name: String,
        shapes: Vec<PyRef<'_, PyPart>>,
        material: String,
        position: Option<Vector<'_>>,
        origin: Option<Vector<'_>>,
        orientation: Vector<'_>,
        angle: f64,
        v: Option<Vector<'_>>,
        omega: Vector<'_>,
        mass: Option<f64>,
        inertia: Option<Table<'_>>,
        center: Option<Vector<'_>>,
        loads: (Option<PyGiven<'_>>, &str, Option<PyGiven<'_>>, &str),
        life: (Option<f64>, Option<f64>),
        group: Option<String>,
    ) -> PyResult<()> {
        if position.is_some() && origin.is_some() {
            return Err(errors::input(
                "`position` is that of the center of mass and `origin` that of the shapes: give one",
            ));
        }
        let (force, force_frame, moment, moment_frame) = loads;
        let anchor = if origin.is_some() { Anchor::Origin } else { Anchor::Center };
        let place = self.optional("position", position.or(origin))?;
        let inertia = inertia.map(|value| -> PyResult<_> {
            Ok(match rows::<3>("inertia", &value)?[..] {
                [a, b, c] => [a, b, c],
                [[a, b, c]] => [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]],
                _ => return Err(errors::input("`inertia` is not 3 × 3")),
            })
        });
        let body = BodySpec {
            parts: parts(shapes),
            material,
            position: place.unwrap_or_default(),
            anchor,
            orientation: vector("orientation", &orientation)?,
            angle,
            v: self.optional("v", v)?.unwrap_or_default(),
            omega: vector("omega", &omega)?,
            mass,
            inertia: inertia.transpose()?,
            center: self.optional("center", center)?,
            force: self.given(force),
            force_frame: frame("force_frame", force_frame)?,
            moment: self.given(moment),
            moment_frame: frame("moment_frame", moment_frame)?,
            birth: life.0,
            death: life.1,
            group,
            ..BodySpec::without_shape(name)
        };
        self.scene.bodies.push(body);
        self.checked(Member::Body(self.scene.bodies.len() - 1))
    }

    #[allow(clippy::too_many_arguments)] // those of all kinds
    fn add_joint(
        &mut self,
        py: Python<'_>,
        name: String,
        kind: &str,
        vectors: Vec<(String, Vector<'_>)>,
        number: f64,
        teeth: [i32; 2],
        built_in: Vec<BuiltIn<PyGiven<'_>>>,
        break_force: Option<f64>,
        break_moment: Option<f64>,
        bodies: Vec<String>,
        touch: bool,
        follows: Option<(String, f64)>,
    ) -> PyResult<()> {
        let owner = format!("joint `{name}`");
        let joint = joint_of(py, &owner, kind, &vectors, number, teeth)?;
        let mut link = JointLink::new(name, joint, &[]);
        (link.bodies, link.touch) = (bodies, touch);
        link.follows = follows.map(|(joint, ratio)| Follows { joint, ratio });
        (link.break_force, link.break_moment) = (break_force, break_moment);
        if let Some((_, axis)) = vectors.iter().find(|(key, _)| key == "twist_axis") {
            link.axis = vector("twist_axis", axis)?;
        }
        for (coordinate, limits, friction, spring, motor) in built_in {
            let motor = motor.map(|(kind, value, stiffness, damping, max_force)| {
                let value = self.given(Some(value))?;
                Some(match kind.as_str() {
                    "force" => MotorSpec::Force(value),
                    "velocity" => MotorSpec::Velocity { v: value, max_force },
                    _ => MotorSpec::Position { target: value, stiffness, damping, max_force },
                })
            });
            link.fittings.push(Fitting {
                coordinate: coordinate_of(&owner, joint, &coordinate)?,
                limits: limits.map(limits_of),
                friction: friction.map(friction_of),
                spring: spring.map(spring_of),
                motor: motor.flatten(),
            });
        }
        self.scene.joints.push(link);
        self.checked(Member::Joint(self.scene.joints.len() - 1))
    }

    /// Mass, center of mass and moments of inertia of the body number `k`.
    fn mass_of(&self, k: usize) -> PyResult<(f64, [f64; 3], [[f64; 3]; 3])> {
        let mass = self.scene.mass_of(k).map_err(|error| errors::model_input(error.to_string()))?;
        Ok((mass.mass, mass.center, mass.inertia))
    }

    /// The scene as it is now.
    fn copy(&self) -> PyScene {
        PyScene::around(self.scene.clone(), self.beside.clone(), self.is_python)
    }

    fn model(&self) -> PyResult<PyModel> {
        let own = || self.scene.model().map_err(|error| errors::model_input(error.to_string()));
        let model = match self.beside.is_empty() {
            true => own()?,
            false => match scene_model(&self.scene, &self.beside) {
                Ok(model) => model,
                // what is wrong with the scene alone has no place in the text beside it
                Err(error) => return own().and(Err(errors::model_input(error.to_string()))),
            },
        };
        Ok(PyModel { model, is_python: self.is_python })
    }

    /// The text of a model file, with these settings of time-stepping, and with these tables beside
    /// the scene and those that it was read with.
    fn text(
        &self,
        beside: &str,
        h: f64,
        until: f64,
        integrators: Vec<String>,
        solver: &str,
        newton: Option<&str>,
    ) -> PyResult<String> {
        fn read<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
            serde_json::from_str(text).map_err(|error| errors::input(error.to_string()))
        }
        let integrators = integrators.iter().map(|text| read(text)).collect::<PyResult<_>>()?;
        let simulation = Simulation {
            strategy: Strategy::TimeStepping,
            integrators,
            solver: read(solver)?,
            newton: newton.map(settings::newton).transpose()?.unwrap_or_default(),
            h,
            tolerances: Default::default(),
            adaptive: Default::default(),
            until,
            output: Output::default(),
        };
        let text = scene_text(&self.scene, &simulation);
        let text = text.map_err(|error| errors::input(error.to_string()))? + &self.beside + beside;
        if !(self.beside.is_empty() && beside.is_empty()) {
            // it is read as it was meant, or not written
            ModelFile::parse(&text, "the text of the scene", &[])
                .map_err(|error| errors::input(error.to_string()))?;
        }
        Ok(text)
    }
}

/// What a file of a scene holds: the scene; step, end, integrators, solver and Newton's settings as
/// JSON, where it says how it is simulated; and what of it was left aside.
type Loaded = (PyScene, Option<(f64, f64, Vec<String>, String, String)>, Vec<String>);

/// Reads a scene: a model file, a scene of Siconos, or a robot description.
#[pyfunction]
pub fn load_scene(py: Python<'_>, path: PathBuf) -> PyResult<Loaded> {
    let read = py.detach(|| read_scene(&path));
    let file = read.map_err(|error| errors::scene_file(py, &path, &error))?;
    let SceneFile { scene, beside, simulation, left_aside } = file;
    let simulation = simulation.filter(|one| one.strategy == Strategy::TimeStepping);
    let settings = simulation.map(|one| -> PyResult<_> {
        let integrators = one.integrators.iter().map(|it| text_of(serde_json::to_string(it)));
        let integrators = integrators.collect::<PyResult<_>>()?;
        let solver = text_of(serde_json::to_string(&one.solver))?;
        Ok((one.h, one.until, integrators, solver, newton_text(one.newton)?))
    });
    Ok((PyScene::around(scene, beside, false), settings.transpose()?, left_aside))
}
