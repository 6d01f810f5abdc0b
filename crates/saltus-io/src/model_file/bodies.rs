//! Rigid bodies, joints and contacts from their tables.

use super::error::Fault;
use super::fields::Fields;
use super::slot::Sizes;
use super::tree::{Item, Value};
use saltus_mechanics::{Components, DiskDisk, DiskLine, PointPlane, SphereSphere};
use saltus_model::{Frame, Inertia, ModelError, RigidBody, RigidBody2d, System};

/// A vector of `N` numbers, or the default.
pub(crate) fn numbers<const N: usize>(
    fields: &Fields,
    key: &'static str,
    default: [f64; N],
) -> Result<[f64; N], Fault> {
    match fields.vector(key)? {
        None => Ok(default),
        Some(value) => exactly(fields, key, &value),
    }
}

/// The same of a vector that has to be there.
pub(crate) fn must<const N: usize>(fields: &Fields, key: &'static str) -> Result<[f64; N], Fault> {
    exactly(fields, key, &fields.must(key, fields.vector(key)?)?)
}

pub(crate) fn exactly<const N: usize>(
    fields: &Fields,
    key: &'static str,
    value: &[f64],
) -> Result<[f64; N], Fault> {
    value.try_into().map_err(|_| {
        let (owner, found, expected) = (fields.kind().to_string(), value.len(), N);
        let why = "its components".to_string();
        let error = ModelError::Length { owner, what: key, found, expected, why };
        Fault::new(fields.place_of(key).unwrap_or(fields.place), error)
    })
}

fn frame(fields: &Fields, key: &str, default: Frame) -> Result<Frame, Fault> {
    Ok(fields.choice(key, "frame")?.and_then(Frame::from_name).unwrap_or(default))
}

/// A body of the kind `rigid-body` or `rigid-body-2d`.
pub(crate) fn body(fields: &Fields) -> Result<System, Fault> {
    let z0 = fields.vector("z0")?.unwrap_or_default();
    let sized = |first, second| fields.sized(Sizes { first, second, inputs: z0.len() });
    if fields.kind() == "rigid-body-2d" {
        let fields = sized(3, 3);
        let number = |key| fields.number(key);
        return Ok(RigidBody2d {
            position: numbers(&fields, "position", [0.0; 2])?,
            angle: number("angle")?,
            v: numbers(&fields, "v", [0.0; 2])?,
            omega: number("omega")?,
            mass: number("mass")?,
            inertia: number("inertia")?,
            gravity: numbers(&fields, "gravity", [0.0; 2])?,
            force: fields.vector_operator("force")?,
            force_frame: frame(&fields, "force_frame", Frame::World)?,
            moment: fields.vector_operator("moment")?,
            z0,
        }
        .into());
    }
    let fields = sized(7, 6);
    Ok(RigidBody {
        position: numbers(&fields, "position", [0.0; 3])?,
        orientation: numbers(&fields, "orientation", saltus_model::rotation::IDENTITY)?,
        v: numbers(&fields, "v", [0.0; 3])?,
        omega: numbers(&fields, "omega", [0.0; 3])?,
        mass: fields.number("mass")?,
        inertia: inertia(&fields)?,
        gravity: numbers(&fields, "gravity", [0.0; 3])?,
        force: fields.vector_operator("force")?,
        force_frame: frame(&fields, "force_frame", Frame::World)?,
        moment: fields.vector_operator("moment")?,
        moment_frame: frame(&fields, "moment_frame", Frame::Body)?,
        z0,
    }
    .into())
}

/// Three moments, or a matrix.
pub(crate) fn inertia(fields: &Fields) -> Result<Inertia, Fault> {
    let item = fields.need("inertia")?;
    let is_row = |item: &Item| matches!(item.value, Value::Array(_));
    let by_rows = item.as_array().is_some_and(|items| items.iter().any(is_row));
    if item.as_array().is_some() && !by_rows {
        return Ok(must::<3>(fields, "inertia")?.into());
    }
    let matrix = fields.must("inertia", fields.matrix("inertia")?)?;
    if (matrix.rows(), matrix.cols()) != (3, 3) {
        let (owner, found) = (fields.kind().to_string(), (matrix.rows(), matrix.cols()));
        let (what, expected, why) = ("inertia", (3, 3), "the axes of space".to_string());
        let error = ModelError::Shape { owner, what, found, expected, why };
        return Err(Fault::new(&item.place, error));
    }
    Ok(Inertia(std::array::from_fn(|i| std::array::from_fn(|j| matrix[(i, j)]))))
}

/// The rows of a contact.
fn components(
    fields: &Fields,
    of_size: fn(usize) -> Option<Components>,
    allowed: &'static str,
) -> Result<Components, Fault> {
    let size = fields.count("components")?;
    of_size(size).ok_or_else(|| {
        let (owner, what, value) = (fields.kind().to_string(), "components", size as f64);
        let error = ModelError::Range { owner, what, value, allowed };
        Fault::new(fields.place_of("components").unwrap_or(fields.place), error)
    })
}

/// Those in space.
fn in_space(fields: &Fields) -> Result<Components, Fault> {
    let allowed = "1 (the normal), 3 (with tangents) and 5 (with rolling)";
    components(fields, Components::of_size, allowed)
}

/// Those in the plane.
fn in_plane(fields: &Fields) -> Result<Components, Fault> {
    let allowed = "1 (the normal), 2 (with the tangent) and 3 (with rolling)";
    components(fields, Components::of_size_in_plane, allowed)
}

/// A contact of a disk or point with a line.
pub(crate) fn disk_line(fields: &Fields) -> Result<DiskLine, Fault> {
    let default = DiskLine::default();
    Ok(DiskLine {
        center: numbers(fields, "center", default.center)?,
        radius: fields.number("radius")?,
        normal: numbers(fields, "normal", default.normal)?,
        origin: numbers(fields, "origin", default.origin)?,
        components: in_plane(fields)?,
    })
}

/// A contact of two disks.
pub(crate) fn disk_disk(fields: &Fields) -> Result<DiskDisk, Fault> {
    Ok(DiskDisk {
        radii: must(fields, "radii")?,
        centers: [
            numbers(fields, "center", [0.0; 2])?,
            numbers(fields, "second_center", [0.0; 2])?,
        ],
        components: in_plane(fields)?,
    })
}

/// A contact of a sphere or point with a plane.
pub(crate) fn point_plane(fields: &Fields) -> Result<PointPlane, Fault> {
    let default = PointPlane::default();
    Ok(PointPlane {
        center: numbers(fields, "center", default.center)?,
        radius: fields.number("radius")?,
        normal: numbers(fields, "normal", default.normal)?,
        origin: numbers(fields, "origin", default.origin)?,
        components: in_space(fields)?,
    })
}

/// A contact of two spheres.
pub(crate) fn sphere_sphere(fields: &Fields) -> Result<SphereSphere, Fault> {
    Ok(SphereSphere {
        radii: must(fields, "radii")?,
        centers: [
            numbers(fields, "center", [0.0; 3])?,
            numbers(fields, "second_center", [0.0; 3])?,
        ],
        components: in_space(fields)?,
    })
}
