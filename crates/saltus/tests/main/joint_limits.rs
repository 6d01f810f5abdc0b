//! Limits of joints that cannot be held are refused.

use saltus::mechanics::{
    BodySpec, Coordinate, Fitting, Joint, JointLink, JointSpec, Limits, Scene,
};
use saltus::model::ModelError;
use saltus::prelude::*;
use std::f64::consts::PI;

const Y: [f64; 3] = [0.0, 1.0, 0.0];
const O: [f64; 3] = [0.0; 3];

/// Limits that cannot be held are refused, with the joint, the limits and what is found.
#[test]
fn limits_that_cannot_be_held() {
    let model = |joint: Joint, lower: f64, upper: f64| {
        let mut model = Model::new("limits");
        let body = model.add("body", RigidBody::new(1.0, [1.0; 3])).unwrap();
        let spec = JointSpec::new(joint).limits(lower, upper);
        spec.connect(&mut model, "hinge", &[body]).map(|_| ())
    };
    let pivot = Joint::Pivot { point: O, axis: Y };
    let slide = Joint::Prismatic { axis: Y };
    let rope = Joint::Distance { point: O, second_point: [0.0, 2.0, 0.0] };
    let cross = Joint::Universal { point: O, axis: Y, second_axis: [1.0, 0.0, 0.0] };
    let text = |joint, lower, upper| model(joint, lower, upper).unwrap_err().to_string();
    assert_eq!(
        model(pivot, 0.5, 1.5),
        Err(ModelError::OutsideLimits {
            owner: "interaction `hinge`".to_string(),
            joint: "pivot",
            coordinate: "angle",
            lower: 0.5,
            upper: 1.5,
            found: 0.0,
        })
    );
    assert_eq!(
        text(rope, 0.0, 1.5),
        "interaction `hinge`: the length of distance starts at 2, its limits are [0, 1.5]"
    );
    assert!(matches!(model(slide, -2.0, -1.0), Err(ModelError::OutsideLimits { .. })));
    assert!(matches!(model(pivot, -7.0, 7.0), Err(ModelError::LimitsApart { .. })));
    assert!(matches!(model(pivot, -7.0, f64::INFINITY), Err(ModelError::LimitsApart { .. })));
    assert!(matches!(model(cross, -PI, PI), Err(ModelError::LimitsApart { .. })));
    // by round-off, and as far as turns are counted
    assert_eq!(model(pivot, 5e-10, 1.5), Ok(()));
    assert_eq!(model(pivot, -6.2, 6.2), Ok(()));
    assert_eq!(model(cross, -3.0, 3.0), Ok(()));
    assert_eq!(model(slide, -1e3, 1e3), Ok(()));
    assert_eq!(model(rope, 0.0, 2.0), Ok(()));
    // a scene says which of its joints it is
    let mut scene = Scene::new("limits");
    scene.bodies.push(BodySpec::without_shape("body").mass(1.0));
    scene.bodies[0].inertia = Some([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let mut link = JointLink::new("pivot", pivot, &["body"]);
    let limits = Some(Limits { lower: 0.5, upper: 1.5, e: 0.0 });
    link.fittings.push(Fitting { limits, ..Fitting::new(Coordinate::Angle) });
    scene.joints.push(link);
    let error = scene.model().unwrap_err();
    assert_eq!((error.owner.as_str(), error.key), ("joint `pivot`", "limits"));
    let fault = error.fault.to_string();
    assert!(fault.contains("starts at 0, its limits are [0.5, 1.5]"), "{fault}");
}
