//! Joints of scenes from their tables, with what is built into them.

use super::{flag, length, names, number, range};
use crate::model_file::error::{ErrorKind, Fault};
use crate::model_file::fields::Fields;
use crate::model_file::joints::joint as of_kind;
use crate::model_file::repetition::expand;
use crate::model_file::tree::Item;
use crate::model_file::vocabulary::SectionId;
use saltus_mechanics::{
    AnyJoint, Fitting, Follows, Friction, Given, JointLink, Limits, MotorSpec, Spring,
};
use saltus_model::{Body, Coefficient};

pub(super) fn joint(fields: &Fields, space: Body) -> Result<JointLink, Fault> {
    let item = fields.need("bodies")?;
    let Some(joint) = of_kind(fields)? else {
        unreachable!("`{}` is in the vocabulary and nowhere else", fields.kind())
    };
    if joint.body() != space {
        let item = fields.need("kind")?;
        let expected = match space {
            Body::Plane => "a joint of the plane: pivot-2d, prismatic-2d, fixed-2d or distance-2d",
            Body::Space => "a joint of space",
        };
        return Err(fields.scope.wrong_type(item, "kind", expected));
    }
    let mut link = JointLink::new(expand(fields.need("name")?, "name", fields.scope)?, joint, &[]);
    link.bodies = names(fields, "bodies", item)?;
    link.touch = flag(fields, "touch", false)?;
    if let Some(item) = fields.get("follows") {
        let joint = expand(item, "follows", fields.scope)?;
        link.follows = Some(Follows { joint, ratio: fields.number("follow_ratio")? });
    } else if let Some(place) = fields.place_of("follow_ratio") {
        let owner = format!("joint `{}`", link.name);
        let (key, doc) = ("follows".to_owned(), "which `follow_ratio` needs".to_owned());
        let missing = ErrorKind::MissingKey { owner, key, doc };
        return Err(Fault::new(place, missing).repeated(fields.scope.pass()));
    }
    link.break_force = number(fields, "break_force")?;
    link.break_moment = number(fields, "break_moment")?;
    if let Some(axis) = fields.vector("twist_axis")? {
        let found = axis.len();
        link.axis = axis.try_into().map_err(|_| length(fields, "twist_axis", found, 3))?;
    }
    link.fittings.extend(fitting(fields, joint)?);
    for item in fields.get("more").and_then(Item::as_array).unwrap_or(&[]) {
        let more = Fields::open(item, SectionId::Extras, "more".to_owned(), fields.scope)?;
        link.fittings.extend(fitting(&more, joint)?);
    }
    Ok(link)
}

/// What is built into one coordinate, if anything is.
fn fitting(fields: &Fields, joint: AnyJoint) -> Result<Option<Fitting>, Fault> {
    let keys = ["limits", "friction", "spring", "motor"];
    let Some(key) = keys.into_iter().find(|key| fields.get(key).is_some()) else {
        return Ok(None);
    };
    let known = joint.coordinates();
    let coordinate = match (fields.text("coordinate")?, known.first()) {
        (Some(name), _) => known.iter().find(|one| one.name() == name),
        (None, first) => first,
    };
    let Some(&coordinate) = coordinate else {
        let names: Vec<&str> = known.iter().map(|one| one.name()).collect();
        let expected = match names.is_empty() {
            true => "a joint that leaves something free".to_owned(),
            false => format!("a coordinate of this joint: {}", names.join(", ")),
        };
        let item = fields.get("coordinate").map_or_else(|| fields.need(key), Ok)?;
        return Err(fields.scope.wrong_type(item, "coordinate", &expected));
    };
    Ok(Some(Fitting {
        coordinate,
        limits: limits(fields)?,
        friction: friction(fields)?,
        spring: spring(fields)?,
        motor: motor(fields)?,
    }))
}

fn open<'a>(
    fields: &Fields<'a>,
    key: &'static str,
    section: SectionId,
) -> Result<Option<Fields<'a>>, Fault> {
    let Some(item) = fields.get(key) else { return Ok(None) };
    Fields::open(item, section, key.to_owned(), fields.scope).map(Some)
}

/// `[lower, upper]`, and the restitution beside it.
fn limits(fields: &Fields) -> Result<Option<Limits>, Fault> {
    if fields.get("limits").is_none() {
        return Ok(None);
    }
    let bounds = fields.bounds("limits")?;
    let [lower, upper] = bounds[..] else { return Err(length(fields, "limits", bounds.len(), 2)) };
    let e = fields.number("restitution")?;
    if !(0.0..=1.0).contains(&e) {
        return Err(range(fields, "restitution", e, "in [0, 1]"));
    }
    Ok(Some(Limits { lower, upper, e }))
}

fn friction(fields: &Fields) -> Result<Option<Friction>, Fault> {
    let Some(force) = number(fields, "friction")? else { return Ok(None) };
    let (stiction, rest_speed) = (number(fields, "stiction")?, fields.number("rest_speed")?);
    Ok(Some(Friction { force, stiction, rest_speed }))
}

fn spring(fields: &Fields) -> Result<Option<Spring>, Fault> {
    let Some(fields) = open(fields, "spring", SectionId::Spring)? else { return Ok(None) };
    Ok(Some(Spring {
        stiffness: fields.number("stiffness")?,
        damping: fields.number("damping")?,
        rest: fields.number("rest")?,
    }))
}

fn motor(fields: &Fields) -> Result<Option<MotorSpec>, Fault> {
    let Some(fields) = open(fields, "motor", SectionId::Motor)? else { return Ok(None) };
    let value = |key| of_time(&fields, key);
    let max_force = || Ok::<_, Fault>(number(&fields, "max_force")?.unwrap_or(f64::INFINITY));
    Ok(Some(match fields.kind() {
        "force" => MotorSpec::Force(value("force")?),
        "velocity" => MotorSpec::Velocity { v: value("v")?, max_force: max_force()? },
        _ => MotorSpec::Position {
            target: value("target")?,
            stiffness: fields.number("stiffness")?,
            damping: fields.number("damping")?,
            max_force: max_force()?,
        },
    }))
}

/// A number or formula of time.
fn of_time(fields: &Fields, key: &str) -> Result<Given, Fault> {
    Ok(match fields.coefficient(key)? {
        Coefficient::Constant(value) => Given::Numbers(vec![value]),
        Coefficient::Varying(_) => Given::Formulas(vec![fields.formula_text(key)?]),
    })
}
