//! Rigid bodies, joints and contacts.

use crate::model::{PyLaw, PyModel, inputs, optional};
use crate::operator::PyOperator;
use crate::{arrays, errors};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use saltus::mechanics::{Components, Joint, PointPlane, SphereSphere};
use saltus::model::{Frame, Inertia, ModelError, RigidBody, RigidBody2d, StateVector};

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

/// A joint of this kind with its vectors in the order of the kind's own; its size.
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
    pitch: f64,
    teeth: [i32; 2],
) -> PyResult<usize> {
    let owner = format!("interaction `{name}`");
    let joint = joint_of(py, &owner, kind, &vectors, pitch, teeth)?;
    model.connect(py, name, law, &systems, joint)?;
    Ok(joint.size())
}

/// A joint of this kind with its vectors by name.
pub fn joint_of(
    py: Python<'_>,
    owner: &str,
    kind: &str,
    vectors: &[(String, Vector<'_>)],
    pitch: f64,
    teeth: [i32; 2],
) -> PyResult<Joint> {
    let vector = |what: &'static str| match vectors.iter().find(|(key, _)| key == what) {
        Some((_, value)) => numbers::<3>(py, owner, what, value),
        None => Err(errors::input(format!("{owner}: {kind} needs `{what}`"))),
    };
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
        "screw" => Joint::Screw { point: point()?, axis: axis()?, pitch },
        "gear" => Joint::Gear { axis: axis()?, second_axis: vector("second_axis")?, teeth },
        _ => return Err(errors::input(format!("{owner}: there is no joint {kind:?}"))),
    })
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
