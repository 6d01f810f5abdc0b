//! Joints, what is built into them, and springs, from their tables.

use super::bodies::{exactly, must, numbers};
use super::error::{ErrorKind, Fault};
use super::fields::Fields;
use super::vocabulary::SectionId;
use saltus_expr::nearest;
use saltus_mechanics::{
    AnyJoint, Bushing, Coordinate, Coupler, Extras, Friction, Joint, Joint2d, JointCoordinate,
    JointSpec, Limits, Motor, Spring, SpringDamper,
};
use saltus_model::{Coefficient, ModelError, Operator};

/// A joint of any kind; nothing where the table is of another relation.
pub(crate) fn joint(fields: &Fields) -> Result<Option<AnyJoint>, Fault> {
    let point = || must::<3>(fields, "point");
    let axis = || must::<3>(fields, "axis");
    let second_axis = || must::<3>(fields, "second_axis");
    let in_space = match fields.kind() {
        "ball" => Joint::Ball { point: point()? },
        "pivot" => Joint::Pivot { point: point()?, axis: axis()? },
        "prismatic" => Joint::Prismatic { axis: axis()? },
        "cylindrical" => Joint::Cylindrical { point: point()?, axis: axis()? },
        "universal" => {
            Joint::Universal { point: point()?, axis: axis()?, second_axis: second_axis()? }
        }
        "planar" => Joint::Planar { point: point()?, normal: must(fields, "normal")? },
        "fixed" => Joint::Fixed,
        "distance" => {
            Joint::Distance { point: point()?, second_point: must(fields, "second_point")? }
        }
        "screw" => Joint::Screw { point: point()?, axis: axis()?, pitch: fields.number("pitch")? },
        "gear" => Joint::Gear { axis: axis()?, second_axis: second_axis()?, teeth: teeth(fields)? },
        "rack" => Joint::Rack {
            axis: axis()?,
            direction: must(fields, "direction")?,
            radius: fields.number("radius")?,
        },
        _ => return Ok(in_plane(fields)?.map(AnyJoint::from)),
    };
    Ok(Some(in_space.into()))
}

fn in_plane(fields: &Fields) -> Result<Option<Joint2d>, Fault> {
    let point = || must::<2>(fields, "point");
    Ok(Some(match fields.kind() {
        "pivot-2d" => Joint2d::Pivot { point: point()? },
        "prismatic-2d" => Joint2d::Prismatic { axis: must(fields, "axis")? },
        "fixed-2d" => Joint2d::Fixed,
        "distance-2d" => {
            Joint2d::Distance { point: point()?, second_point: must(fields, "second_point")? }
        }
        _ => return Ok(None),
    }))
}

fn teeth(fields: &Fields) -> Result<[i32; 2], Fault> {
    let teeth = must::<2>(fields, "teeth")?;
    match teeth.iter().find(|x| x.fract() != 0.0 || x.abs() > 1e9) {
        None => Ok(teeth.map(|x| x as i32)),
        Some(&value) => {
            let (owner, what) = (fields.kind().to_string(), "teeth");
            let allowed = "the whole numbers but zero";
            let error = ModelError::Range { owner, what, value, allowed };
            Err(Fault::new(fields.place_of(what).unwrap_or(fields.place), error))
        }
    }
}

/// A number that may be left out.
fn maybe(fields: &Fields, key: &str) -> Result<Option<f64>, Fault> {
    fields.get(key).map(|item| fields.scope.number(item, key)).transpose()
}

/// A number or formula of time.
fn of_time(fields: &Fields, key: &str) -> Result<Operator, Fault> {
    Ok(match fields.coefficient(key)? {
        Coefficient::Constant(value) => Operator::constant(1, 1, vec![value]),
        Coefficient::Varying(operator) => operator,
    })
}

/// The joint with all that is built into it.
pub(crate) fn spec(fields: &Fields, joint: AnyJoint) -> Result<JointSpec, Fault> {
    let mut spec = JointSpec::new(joint);
    spec.axis = numbers(fields, "twist_axis", spec.axis)?;
    spec.break_force = maybe(fields, "break_force")?;
    spec.break_moment = maybe(fields, "break_moment")?;
    spec.extras.extend(extras(fields, joint)?);
    if let Some(items) = fields.get("more").and_then(|item| item.as_array()) {
        for item in items {
            let owner = format!("{}, more", fields.kind());
            let more = Fields::open(item, SectionId::Extras, owner, fields.scope)?;
            spec.extras.extend(extras(&more, joint)?);
        }
    }
    Ok(spec)
}

/// What is built into one coordinate, if anything is.
fn extras(fields: &Fields, joint: AnyJoint) -> Result<Option<Extras>, Fault> {
    let limits = match fields.get("limits") {
        None => None,
        Some(_) => {
            let [lower, upper] = exactly(fields, "limits", &fields.bounds("limits")?)?;
            Some(Limits { lower, upper, e: fields.number("restitution")? })
        }
    };
    let friction = match maybe(fields, "friction")? {
        None => None,
        Some(force) => {
            let stiction = maybe(fields, "stiction")?;
            Some(Friction { force, stiction, rest_speed: fields.number("rest_speed")? })
        }
    };
    let open = |key: &'static str, section| {
        let item = fields.get(key);
        let owner = format!("{}, {key}", fields.name());
        item.map(|item| Fields::open(item, section, owner, fields.scope)).transpose()
    };
    let spring = match open("spring", SectionId::Spring)? {
        None => None,
        Some(spring) => Some(Spring {
            stiffness: spring.number("stiffness")?,
            damping: spring.number("damping")?,
            rest: spring.number("rest")?,
        }),
    };
    let motor = open("motor", SectionId::Motor)?.map(|motor| self::motor(&motor)).transpose()?;
    if limits.is_none() && friction.is_none() && spring.is_none() && motor.is_none() {
        return Ok(None);
    }
    let coordinate = match fields.text("coordinate")? {
        Some(_) => coordinate(fields, "coordinate")?,
        // one without coordinates is refused when it is connected
        None => joint.coordinates().first().copied().unwrap_or(Coordinate::Way),
    };
    Ok(Some(Extras { coordinate, limits, friction, spring, motor }))
}

fn motor(fields: &Fields) -> Result<Motor, Fault> {
    let max_force = || Ok(maybe(fields, "max_force")?.unwrap_or(f64::INFINITY));
    Ok(match fields.kind() {
        "force" => Motor::Force(of_time(fields, "force")?),
        "velocity" => Motor::Velocity { v: of_time(fields, "v")?, max_force: max_force()? },
        _ => Motor::Position {
            target: of_time(fields, "target")?,
            stiffness: fields.number("stiffness")?,
            damping: fields.number("damping")?,
            max_force: max_force()?,
        },
    })
}

/// A coordinate by its name.
fn coordinate(fields: &Fields, key: &'static str) -> Result<Coordinate, Fault> {
    let name = fields.text(key)?.unwrap_or_default();
    Coordinate::from_name(name).ok_or_else(|| {
        let known = || Coordinate::ALL.into_iter().map(Coordinate::name);
        let kind = ErrorKind::UnknownKind {
            family: "coordinate".to_owned(),
            found: name.to_owned(),
            nearest: nearest(name, known()).map(str::to_owned),
            known: known().map(str::to_owned).collect(),
        };
        Fault::new(fields.place_of(key).unwrap_or(fields.place), kind)
    })
}

/// The joint in a table within this one, and one of its coordinates.
fn coordinate_of(
    fields: &Fields,
    joint_key: &'static str,
    key: &'static str,
) -> Result<JointCoordinate, Fault> {
    let item = fields.need(joint_key)?;
    let owner = format!("{}, {joint_key}", fields.kind());
    let table = Fields::open(item, SectionId::Relation, owner, fields.scope)?;
    let Some(joint) = joint(&table)? else {
        return Err(fields.scope.wrong_type(item, joint_key, "a joint"));
    };
    let of = JointCoordinate::new(joint, coordinate(fields, key)?);
    // said of the joint, or beside it
    let axis = numbers(&table, "twist_axis", of.axis)?;
    Ok(JointCoordinate { axis: numbers(fields, "twist_axis", axis)?, ..of })
}

/// A coordinate of a joint.
pub(crate) fn joint_coordinate(fields: &Fields) -> Result<JointCoordinate, Fault> {
    coordinate_of(fields, "joint", "coordinate")
}

/// Two of them in a ratio.
pub(crate) fn coupler(fields: &Fields) -> Result<Coupler, Fault> {
    let between = fields.get("between");
    Ok(Coupler {
        coordinates: [
            coordinate_of(fields, "joint", "coordinate")?,
            coordinate_of(fields, "second_joint", "second_coordinate")?,
        ],
        ratio: fields.number("ratio")?,
        between: between.map_or(Ok(false), |item| fields.flag(item, "between"))?,
    })
}

/// A spring with a damper, in space or in the plane.
pub(crate) fn spring_damper(fields: &Fields) -> Result<SpringDamper, Fault> {
    let (stiffness, damping) = (fields.number("stiffness")?, fields.number("damping")?);
    let flat = fields.vector("point")?.is_some_and(|point| point.len() == 2);
    let spring = match flat {
        true => {
            let (point, second) = (must(fields, "point")?, must(fields, "second_point")?);
            SpringDamper::in_plane(point, second, stiffness, damping)
        }
        false => {
            let (point, second) = (must(fields, "point")?, must(fields, "second_point")?);
            SpringDamper::new(point, second, stiffness, damping)
        }
    };
    Ok(SpringDamper { rest: maybe(fields, "rest")?, ..spring })
}

/// A bushing.
pub(crate) fn bushing(fields: &Fields) -> Result<Bushing, Fault> {
    let stiffness = must(fields, "stiffness")?;
    let damping = numbers(fields, "damping", [0.0; 6])?;
    let plain = Bushing::new(must(fields, "point")?, stiffness, damping);
    Ok(Bushing {
        axis: numbers(fields, "axis", plain.axis)?,
        second_axis: numbers(fields, "second_axis", plain.second_axis)?,
        ..plain
    })
}
