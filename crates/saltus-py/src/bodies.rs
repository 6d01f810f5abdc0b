//! Rigid bodies, joints and contacts.

use crate::model::{PyLaw, PyModel, inputs, optional};
use crate::operator::PyOperator;
use crate::{arrays, errors};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use saltus::mechanics::{
    AnyJoint, Bushing, Components, Coordinate, Coupler, DiskDisk, DiskLine, Friction, Joint,
    Joint2d, JointCoordinate, JointSpec, Limits, Motor, PointPlane, SphereSphere, Spring,
    SpringDamper,
};
use saltus::model::{Frame, Inertia, Law, ModelError, RigidBody, RigidBody2d, StateVector};

type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// A vector of `N` numbers.
fn numbers<const N: usize>(
    py: Python<'_>,
    owner: &str,
    what: &'static str,
    value: &Vector<'_>,
) -> PyResult<[f64; N]> {
    let value = arrays::vector(value);
    value[..].try_into().map_err(|_| {
        let (owner, found, expected) = (owner.to_string(), value.len(), N);
        let why = "its components".to_string();
        errors::model(py, ModelError::Length { owner, what, found, expected, why })
    })
}

fn frame(what: &str, name: &str) -> PyResult<Frame> {
    Frame::from_name(name).ok_or_else(|| {
        errors::input(format!("`{what}` is {name:?}, expected \"world\" or \"body\""))
    })
}

/// The parts of a system's state: name, vector (`x`, `q` or `v`), first component and the one after
/// the last.
#[pyfunction]
pub fn state_parts(
    py: Python<'_>,
    model: &PyModel,
    name: &str,
) -> PyResult<Vec<(&'static str, &'static str, usize, usize)>> {
    let system = model.model.system_id(name).and_then(|id| model.model.system(id));
    let parts = system.map_err(|error| errors::model(py, error))?.state_parts();
    let vector = |of| match of {
        StateVector::X => "x",
        StateVector::Q => "q",
        StateVector::V => "v",
    };
    let part = |part: saltus::model::StatePart| {
        (part.name, vector(part.of), part.range.start, part.range.end)
    };
    Ok(parts.into_iter().map(part).collect())
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn add_rigid_body(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    position: Vector<'_>,
    orientation: Vector<'_>,
    v: Vector<'_>,
    omega: Vector<'_>,
    mass: f64,
    inertia: PyReadonlyArray2<'_, f64>,
    gravity: Vector<'_>,
    force: Option<&PyOperator>,
    force_frame: &str,
    moment: Option<&PyOperator>,
    moment_frame: &str,
    z0: Option<Vector<'_>>,
) -> PyResult<()> {
    model.note(&[force, moment]);
    let owner = &format!("system `{name}`");
    let inertia = arrays::matrix(&inertia);
    if (inertia.rows(), inertia.cols()) != (3, 3) {
        let (owner, found) = (owner.clone(), (inertia.rows(), inertia.cols()));
        let (what, expected, why) = ("inertia", (3, 3), "the axes of space".to_string());
        let error = ModelError::Shape { owner, what, found, expected, why };
        return Err(errors::model(py, error));
    }
    let body = RigidBody {
        position: numbers(py, owner, "position", &position)?,
        orientation: numbers(py, owner, "orientation", &orientation)?,
        v: numbers(py, owner, "v", &v)?,
        omega: numbers(py, owner, "omega", &omega)?,
        mass,
        inertia: Inertia(std::array::from_fn(|i| std::array::from_fn(|j| inertia[(i, j)]))),
        gravity: numbers(py, owner, "gravity", &gravity)?,
        force: optional(force),
        force_frame: frame("force_frame", force_frame)?,
        moment: optional(moment),
        moment_frame: frame("moment_frame", moment_frame)?,
        z0: inputs(&z0),
    };
    model.add(py, name, body.into())
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn add_rigid_body_2d(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    position: Vector<'_>,
    angle: f64,
    v: Vector<'_>,
    omega: f64,
    mass: f64,
    inertia: f64,
    gravity: Vector<'_>,
    force: Option<&PyOperator>,
    force_frame: &str,
    moment: Option<&PyOperator>,
    z0: Option<Vector<'_>>,
) -> PyResult<()> {
    model.note(&[force, moment]);
    let owner = &format!("system `{name}`");
    let body = RigidBody2d {
        position: numbers(py, owner, "position", &position)?,
        angle,
        v: numbers(py, owner, "v", &v)?,
        omega,
        mass,
        inertia,
        gravity: numbers(py, owner, "gravity", &gravity)?,
        force: optional(force),
        force_frame: frame("force_frame", force_frame)?,
        moment: optional(moment),
        z0: inputs(&z0),
    };
    model.add(py, name, body.into())
}

/// What is built into a coordinate: its name; lower, upper and restitution of the limits; friction and
/// stiction; stiffness, damping and rest of the spring; kind, value, stiffness, damping and largest force
/// of the motor.
pub type BuiltIn<V> = (
    String,
    Option<(f64, f64, f64)>,
    Option<(f64, Option<f64>)>,
    Option<(f64, f64, f64)>,
    Option<(String, V, f64, f64, f64)>,
);

/// A joint with its vectors by name.
pub fn joint_of(
    py: Python<'_>,
    owner: &str,
    kind: &str,
    vectors: &[(String, Vector<'_>)],
    number: f64,
    teeth: [i32; 2],
) -> PyResult<AnyJoint> {
    let find = |what: &'static str| match vectors.iter().find(|(key, _)| key == what) {
        Some((_, value)) => Ok(value),
        None => Err(errors::input(format!("{owner}: {kind} needs `{what}`"))),
    };
    let vector = |what: &'static str| numbers::<3>(py, owner, what, find(what)?);
    let flat = |what: &'static str| numbers::<2>(py, owner, what, find(what)?);
    let point = || vector("point");
    let axis = || vector("axis");
    Ok(match kind {
        "ball" => Joint::Ball { point: point()? },
        "pivot" => Joint::Pivot { point: point()?, axis: axis()? },
        "prismatic" => Joint::Prismatic { axis: axis()? },
        "cylindrical" => Joint::Cylindrical { point: point()?, axis: axis()? },
        "universal" => {
            let second_axis = vector("second_axis")?;
            Joint::Universal { point: point()?, axis: axis()?, second_axis }
        }
        "planar" => Joint::Planar { point: point()?, normal: vector("normal")? },
        "fixed" => Joint::Fixed,
        "distance" => Joint::Distance { point: point()?, second_point: vector("second_point")? },
        "screw" => Joint::Screw { point: point()?, axis: axis()?, pitch: number },
        "gear" => Joint::Gear { axis: axis()?, second_axis: vector("second_axis")?, teeth },
        "rack" => Joint::Rack { axis: axis()?, direction: vector("direction")?, radius: number },
        "pivot-2d" => return Ok(Joint2d::Pivot { point: flat("point")? }.into()),
        "prismatic-2d" => return Ok(Joint2d::Prismatic { axis: flat("axis")? }.into()),
        "fixed-2d" => return Ok(Joint2d::Fixed.into()),
        "distance-2d" => {
            let (point, second_point) = (flat("point")?, flat("second_point")?);
            return Ok(Joint2d::Distance { point, second_point }.into());
        }
        _ => return Err(errors::input(format!("{owner}: there is no joint {kind:?}"))),
    }
    .into())
}

/// A coordinate by its name.
fn coordinate(owner: &str, name: &str) -> PyResult<Coordinate> {
    Coordinate::from_name(name).ok_or_else(|| {
        let known = Coordinate::ALL.map(Coordinate::name).join(", ");
        errors::input(format!("{owner}: there is no coordinate {name:?}; there are {known}"))
    })
}

/// The coordinate of a joint that this names; its first one where nothing is named.
pub fn coordinate_of(owner: &str, joint: AnyJoint, name: &str) -> PyResult<Coordinate> {
    match name.is_empty() {
        true => Ok(joint.coordinates().first().copied().unwrap_or(Coordinate::Way)),
        false => coordinate(owner, name),
    }
}

/// Limits by lower, upper and restitution.
pub fn limits_of((lower, upper, e): (f64, f64, f64)) -> Limits {
    Limits { lower, upper, e }
}

/// Friction and stiction.
pub fn friction_of((force, stiction): (f64, Option<f64>)) -> Friction {
    Friction { force, stiction, rest_speed: 1e-6 }
}

/// A spring by stiffness, damping and rest.
pub fn spring_of((stiffness, damping, rest): (f64, f64, f64)) -> Spring {
    Spring { stiffness, damping, rest }
}

/// A joint of this kind, and what is built into it; its size.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of all kinds
pub fn connect_joint(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    kind: &str,
    vectors: Vec<(String, Vector<'_>)>,
    number: f64,
    teeth: [i32; 2],
    built_in: Vec<BuiltIn<PyRef<'_, PyOperator>>>,
    break_force: Option<f64>,
    break_moment: Option<f64>,
) -> PyResult<usize> {
    let owner = format!("interaction `{name}`");
    let joint = joint_of(py, &owner, kind, &vectors, number, teeth)?;
    let mut spec = JointSpec::new(joint);
    if let Some((_, axis)) = vectors.iter().find(|(key, _)| key == "twist_axis") {
        spec.axis = numbers(py, &owner, "twist_axis", axis)?;
    }
    (spec.break_force, spec.break_moment) = (break_force, break_moment);
    for (name, limits, friction, spring, motor) in built_in {
        let extras = spec.extras_of(coordinate_of(&owner, joint, &name)?);
        // the first coordinate may be named, or not
        extras.limits = limits.map(limits_of).or(extras.limits);
        extras.friction = friction.map(friction_of).or(extras.friction);
        extras.spring = spring.map(spring_of).or(extras.spring);
        if let Some((kind, value, stiffness, damping, max_force)) = motor {
            model.note(&[Some(&value)]);
            let value = value.operator.clone();
            extras.motor = Some(match kind.as_str() {
                "force" => Motor::Force(value),
                "velocity" => Motor::Velocity { v: value, max_force },
                _ => Motor::Position { target: value, stiffness, damping, max_force },
            });
        }
    }
    if spec.is_plain() {
        match joint {
            AnyJoint::Space(joint) => model.connect(py, name, law, &systems, joint)?,
            AnyJoint::Plane(joint) => model.connect(py, name, law, &systems, joint)?,
        }
        return Ok(joint.size());
    }
    if law.law != Law::Equality {
        let why = "a joint with something built into it holds with the law Equality";
        return Err(errors::input(format!("{owner}: {why}")));
    }
    let ids = systems.iter().map(|name| model.model.system_id(name)).collect::<Result<Vec<_>, _>>();
    let done = ids.and_then(|ids| spec.connect(&mut model.model, name, &ids));
    done.map(|_| spec.size()).map_err(|error| errors::model(py, error))
}

/// A coordinate of a joint as a relation of its own.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of all kinds
pub fn connect_joint_coordinate(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    kind: &str,
    vectors: Vec<(String, Vector<'_>)>,
    number: f64,
    teeth: [i32; 2],
    of: &str,
) -> PyResult<()> {
    let owner = format!("interaction `{name}`");
    let relation = joint_coordinate(py, &owner, (kind.to_owned(), vectors, number, teeth), of)?;
    model.connect(py, name, law, &systems, relation)
}

/// A joint as Python says it: kind, vectors by name, its number and its teeth.
type PyJoint<'py> = (String, Vec<(String, Vector<'py>)>, f64, [i32; 2]);

fn joint_coordinate(
    py: Python<'_>,
    owner: &str,
    (kind, vectors, number, teeth): PyJoint<'_>,
    of: &str,
) -> PyResult<JointCoordinate> {
    let joint = joint_of(py, owner, &kind, &vectors, number, teeth)?;
    let mut relation = JointCoordinate::new(joint, coordinate(owner, of)?);
    if let Some((_, axis)) = vectors.iter().find(|(key, _)| key == "twist_axis") {
        relation.axis = numbers(py, owner, "twist_axis", axis)?;
    }
    Ok(relation)
}

/// Two coordinates in a ratio.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_coupler(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    first: (PyJoint<'_>, String),
    second: (PyJoint<'_>, String),
    ratio: f64,
    between: bool,
) -> PyResult<()> {
    let owner = format!("interaction `{name}`");
    let of = |(joint, of): (PyJoint<'_>, String)| joint_coordinate(py, &owner, joint, &of);
    let coupler = Coupler { coordinates: [of(first)?, of(second)?], ratio, between };
    model.connect(py, name, law, &systems, coupler)
}

/// Springs and dampers along three directions and about them; returns its size.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_bushing(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    point: Vector<'_>,
    axis: Vector<'_>,
    second_axis: Vector<'_>,
    stiffness: Vector<'_>,
    damping: Vector<'_>,
) -> PyResult<usize> {
    let owner = &format!("interaction `{name}`");
    if law.law != Law::Equality {
        let (name, law, instead) = (name.to_string(), law.law.name(), "use Equality");
        let relation = "bushing";
        return Err(errors::model(py, ModelError::LawMismatch { name, law, relation, instead }));
    }
    let bushing = Bushing {
        point: numbers(py, owner, "point", &point)?,
        axis: numbers(py, owner, "axis", &axis)?,
        second_axis: numbers(py, owner, "second_axis", &second_axis)?,
        stiffness: numbers(py, owner, "stiffness", &stiffness)?,
        damping: numbers(py, owner, "damping", &damping)?,
    };
    let ids = systems.iter().map(|name| model.model.system_id(name)).collect::<Result<Vec<_>, _>>();
    let done = ids.and_then(|ids| bushing.connect(&mut model.model, name, &ids));
    let id = done.map_err(|error| errors::model(py, error))?;
    Ok(model.model.interaction(id).map_or(0, |one| one.relation.size()))
}

/// A spring with a damper between two points, of three or two components.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_spring_damper(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    point: Vector<'_>,
    second_point: Vector<'_>,
    stiffness: f64,
    damping: f64,
    rest: Option<f64>,
) -> PyResult<()> {
    let owner = &format!("interaction `{name}`");
    let spring = if arrays::vector(&point).len() == 2 {
        let point = numbers(py, owner, "point", &point)?;
        let second = numbers(py, owner, "second_point", &second_point)?;
        SpringDamper::in_plane(point, second, stiffness, damping)
    } else {
        let point = numbers(py, owner, "point", &point)?;
        let second = numbers(py, owner, "second_point", &second_point)?;
        SpringDamper::new(point, second, stiffness, damping)
    };
    model.connect(py, name, law, &systems, SpringDamper { rest, ..spring })
}

fn components_in_plane(size: usize) -> PyResult<Components> {
    Components::of_size_in_plane(size).ok_or_else(|| {
        errors::input(format!(
            "`components` = {size} is outside 1 (the normal), 2 (with the tangent) and 3 (with rolling)"
        ))
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_disk_line(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    center: Vector<'_>,
    radius: f64,
    normal: Vector<'_>,
    origin: Vector<'_>,
    size: usize,
) -> PyResult<()> {
    let owner = &format!("interaction `{name}`");
    let contact = DiskLine {
        center: numbers(py, owner, "center", &center)?,
        radius,
        normal: numbers(py, owner, "normal", &normal)?,
        origin: numbers(py, owner, "origin", &origin)?,
        components: components_in_plane(size)?,
    };
    model.connect(py, name, law, &systems, contact)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_disk_disk(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    radii: Vector<'_>,
    center: Vector<'_>,
    second_center: Vector<'_>,
    size: usize,
) -> PyResult<()> {
    let owner = &format!("interaction `{name}`");
    let contact = DiskDisk {
        radii: numbers(py, owner, "radii", &radii)?,
        centers: [
            numbers(py, owner, "center", &center)?,
            numbers(py, owner, "second_center", &second_center)?,
        ],
        components: components_in_plane(size)?,
    };
    model.connect(py, name, law, &systems, contact)
}

fn components(size: usize) -> PyResult<Components> {
    Components::of_size(size).ok_or_else(|| {
        errors::input(format!(
            "`components` = {size} is outside 1 (the normal), 3 (with tangents) and 5 (with rolling)"
        ))
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_point_plane(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    center: Vector<'_>,
    radius: f64,
    normal: Vector<'_>,
    origin: Vector<'_>,
    size: usize,
) -> PyResult<()> {
    let owner = &format!("interaction `{name}`");
    let contact = PointPlane {
        center: numbers(py, owner, "center", &center)?,
        radius,
        normal: numbers(py, owner, "normal", &normal)?,
        origin: numbers(py, owner, "origin", &origin)?,
        components: components(size)?,
    };
    model.connect(py, name, law, &systems, contact)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the equation
pub fn connect_sphere_sphere(
    py: Python<'_>,
    model: &mut PyModel,
    name: &str,
    law: &PyLaw,
    systems: Vec<String>,
    radii: Vector<'_>,
    center: Vector<'_>,
    second_center: Vector<'_>,
    size: usize,
) -> PyResult<()> {
    let owner = &format!("interaction `{name}`");
    let contact = SphereSphere {
        radii: numbers(py, owner, "radii", &radii)?,
        centers: [
            numbers(py, owner, "center", &center)?,
            numbers(py, owner, "second_center", &second_center)?,
        ],
        components: components(size)?,
    };
    model.connect(py, name, law, &systems, contact)
}
