//! Joints as tables.

use super::{SceneTextError, Text, array, number, numbers, string};
use saltus_mechanics::{
    AnyJoint, Fitting, Friction, Given, Joint, Joint2d, JointLink, MotorSpec, Spring,
};

pub(super) fn write(text: &mut Text, link: &JointLink) -> Result<(), SceneTextError> {
    text.head("[[joint]]");
    text.name(&link.name, "joint")?;
    text.pair("kind", &string(link.joint.name()));
    text.pair("bodies", &array(link.bodies.iter().map(|name| string(name))));
    match &link.joint {
        AnyJoint::Space(joint) => space(text, joint),
        AnyJoint::Plane(joint) => plane(text, joint),
    }
    if link.touch {
        text.pair("touch", "true");
    }
    if let Some(follows) = &link.follows {
        text.pair("follows", &string(&follows.joint));
        text.pair("follow_ratio", &number(follows.ratio));
    }
    if link.axis != [0.0, 0.0, 1.0] {
        text.pair("twist_axis", &numbers(&link.axis));
    }
    for (key, value) in [("break_force", link.break_force), ("break_moment", link.break_moment)] {
        if let Some(value) = value {
            text.pair(key, &number(value));
        }
    }
    let owner = format!("joint `{}`", link.name);
    if !link.fittings.is_empty() {
        let fittings = link.fittings.iter().map(|one| fitting(&owner, one));
        let fittings = fittings.collect::<Result<Vec<_>, _>>()?;
        text.pair("more", &array(fittings.into_iter()));
    }
    Ok(())
}

fn space(text: &mut Text, joint: &Joint) {
    let mut vector = |key: &str, value: &[f64; 3]| text.pair(key, &numbers(value));
    match joint {
        Joint::Fixed => {}
        Joint::Ball { point } => vector("point", point),
        Joint::Prismatic { axis } => vector("axis", axis),
        Joint::Pivot { point, axis }
        | Joint::Cylindrical { point, axis }
        | Joint::Screw { point, axis, .. } => {
            vector("point", point);
            vector("axis", axis);
        }
        Joint::Universal { point, axis, second_axis } => {
            vector("point", point);
            vector("axis", axis);
            vector("second_axis", second_axis);
        }
        Joint::Planar { point, normal } => {
            vector("point", point);
            vector("normal", normal);
        }
        Joint::Distance { point, second_point } => {
            vector("point", point);
            vector("second_point", second_point);
        }
        Joint::Gear { axis, second_axis, .. } => {
            vector("axis", axis);
            vector("second_axis", second_axis);
        }
        Joint::Rack { axis, direction, .. } => {
            vector("axis", axis);
            vector("direction", direction);
        }
    }
    match joint {
        Joint::Screw { pitch, .. } => text.pair("pitch", &number(*pitch)),
        Joint::Gear { teeth: [a, b], .. } => text.pair("teeth", &format!("[{a}, {b}]")),
        Joint::Rack { radius, .. } => text.pair("radius", &number(*radius)),
        _ => {}
    }
}

fn plane(text: &mut Text, joint: &Joint2d) {
    match joint {
        Joint2d::Pivot { point } => text.pair("point", &numbers(point)),
        Joint2d::Prismatic { axis } => text.pair("axis", &numbers(axis)),
        Joint2d::Fixed => {}
        Joint2d::Distance { point, second_point } => {
            text.pair("point", &numbers(point));
            text.pair("second_point", &numbers(second_point));
        }
    }
}

fn table(entries: &[String]) -> String {
    format!("{{ {} }}", entries.join(", "))
}

/// A number that may be infinite.
fn bound(value: f64) -> String {
    if value.is_infinite() {
        format!("{}inf", if value < 0.0 { "-" } else { "" })
    } else {
        number(value)
    }
}

fn fitting(owner: &str, fitting: &Fitting) -> Result<String, SceneTextError> {
    let mut entries = vec![format!("coordinate = {}", string(fitting.coordinate.name()))];
    if let Some(limits) = fitting.limits {
        entries.push(format!("limits = [{}, {}]", bound(limits.lower), bound(limits.upper)));
        entries.push(format!("restitution = {}", number(limits.e)));
    }
    if let Some(Friction { force, stiction, rest_speed }) = fitting.friction {
        entries.push(format!("friction = {}", number(force)));
        entries.extend(stiction.map(|value| format!("stiction = {}", number(value))));
        entries.push(format!("rest_speed = {}", number(rest_speed)));
    }
    if let Some(Spring { stiffness, damping, rest }) = fitting.spring {
        let keys = [("stiffness", stiffness), ("damping", damping), ("rest", rest)];
        let keys = keys.map(|(key, value)| format!("{key} = {}", number(value)));
        entries.push(format!("spring = {}", table(&keys)));
    }
    if let Some(motor) = &fitting.motor {
        let given = |key, value| Ok(format!("{key} = {}", of_time(owner, value)?));
        let one = |key: &str, value: f64| format!("{key} = {}", number(value));
        let most = |value: &f64| value.is_finite().then(|| one("max_force", *value));
        let (kind, keys) = match motor {
            MotorSpec::Force(force) => ("force", vec![given("force", force)?]),
            MotorSpec::Velocity { v, max_force } => {
                ("velocity", std::iter::once(given("v", v)?).chain(most(max_force)).collect())
            }
            MotorSpec::Position { target, stiffness, damping, max_force } => {
                let mut keys = vec![given("target", target)?, one("stiffness", *stiffness)];
                keys.push(one("damping", *damping));
                keys.extend(most(max_force));
                ("position", keys)
            }
        };
        let keys: Vec<String> =
            std::iter::once(format!("kind = {}", string(kind))).chain(keys).collect();
        entries.push(format!("motor = {}", table(&keys)));
    }
    Ok(table(&entries))
}

/// A number or formula of time.
fn of_time(owner: &str, value: &Given) -> Result<String, SceneTextError> {
    match value {
        Given::Numbers(values) => Ok(number(values.first().copied().unwrap_or(0.0))),
        Given::Formulas(texts) => Ok(string(texts.first().map_or("0", String::as_str))),
        Given::Function(_) => {
            Err(SceneTextError::Function { owner: owner.to_owned(), key: "motor" })
        }
    }
}
