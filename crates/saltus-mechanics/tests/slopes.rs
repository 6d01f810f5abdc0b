//! `H` of every joint and contact against differences along the ways of the bodies, and what is wrong
//! with others.

#![allow(clippy::unwrap_used)]

use saltus_linalg::Matrix;
use saltus_mechanics::{Components, Joint, PointPlane, SphereSphere};
use saltus_model::{At, IntoRelation, LagrangianLinear, Law, Model, ModelError, RigidBody, System};

const POINT: [f64; 3] = [0.3, -0.2, 0.9];
const AXIS: [f64; 3] = [0.2, 1.0, -0.4];
const ACROSS: [f64; 3] = [1.0, -0.2, 0.0];

fn joints() -> Vec<Joint> {
    let (point, axis) = (POINT, AXIS);
    vec![
        Joint::Ball { point },
        Joint::Pivot { point, axis },
        Joint::Prismatic { axis },
        Joint::Cylindrical { point, axis },
        Joint::Universal { point, axis, second_axis: ACROSS },
        Joint::Planar { point, normal: axis },
        Joint::Fixed,
        Joint::Distance { point, second_point: [-0.5, 1.0, 0.1] },
        Joint::Screw { point, axis, pitch: 0.1 },
        Joint::Gear { axis, second_axis: [0.0, 0.3, 1.0], teeth: [12, -31] },
    ]
}

fn bodies(model: &mut Model) -> [saltus_model::SystemId; 2] {
    let body = |x, p| RigidBody::new(1.0, [1.0, 1.2, 1.4]).at(x).orientation(p);
    let a = model.add("a", body([0.1, 0.2, 0.3], [0.9, 0.2, -0.1, 0.3])).unwrap();
    let b = model.add("b", body([-0.4, 0.5, -0.1], [0.3, -0.7, 0.2, 0.1])).unwrap();
    [a, b]
}

/// `y` where the bodies start, and the largest difference between `H` and differences of `y` at a
/// configuration that the joint does not allow.
fn check(relation: impl IntoRelation, law: Law, count: usize) -> (Vec<f64>, f64) {
    let mut model = Model::new("slopes");
    let systems = bodies(&mut model);
    model.connect("link", relation, law, &systems[..count]).unwrap();
    let parts: Vec<_> = model.systems().take(count).map(|(_, system)| system.clone()).collect();
    let relation = &model.interactions().next().unwrap().1.relation;
    let of = |system: &System| match system {
        System::SecondOrder(body) => body.clone(),
        System::FirstOrder(_) => panic!(),
    };
    let moved = |way: &[f64], from: &[f64]| {
        let mut q = vec![0.0; 7 * count];
        for k in 0..count {
            let (from, to) = (&from[7 * k..7 * k + 7], &mut q[7 * k..7 * k + 7]);
            of(&parts[k]).displace(from, &way[6 * k..6 * k + 6], to);
        }
        q
    };
    let output = |q: &[f64]| {
        let mut y = vec![0.0; relation.size()];
        relation.output(At::new(0.0, q, &[]), &mut y).unwrap();
        y
    };
    let start: Vec<f64> = parts.iter().flat_map(|part| of(part).q0().to_vec()).collect();
    let off: Vec<f64> = (0..6 * count).map(|k| 0.02 * (1.7 * k as f64).sin()).collect();
    let q = moved(&off, &start);
    let mut H = Matrix::default();
    relation.output_dx(At::new(0.0, &q, &[]), &mut H).unwrap();
    assert_eq!((H.rows(), H.cols()), (relation.size(), 6 * count));
    let mut worst = 0.0_f64;
    for j in 0..6 * count {
        let at = |sign: f64| {
            let mut way = vec![0.0; 6 * count];
            way[j] = sign * 1e-5;
            output(&moved(&way, &q))
        };
        let (above, below) = (at(1.0), at(-1.0));
        for i in 0..relation.size() {
            let expected = (above[i] - below[i]) / 2e-5;
            worst = worst.max((H[(i, j)] - expected).abs());
        }
    }
    (output(&start), worst)
}

#[test]
fn slopes_of_joints_are_exact() {
    for joint in joints() {
        for count in [1, 2] {
            if count == 1 && matches!(joint, Joint::Gear { .. }) {
                continue;
            }
            let (start, worst) = check(joint, Law::Equality, count);
            assert_eq!(start.len(), joint.size());
            assert!(start.iter().all(|y| y.abs() < 1e-15), "{joint:?}: {start:?}");
            assert!(worst < 1e-9, "{joint:?} of {count}: {worst:e}");
        }
    }
}

/// The normal is the slope of the gap; the tangents have no gap, but move with the contact point.
#[test]
fn normals_of_contacts_are_exact() {
    let law = || Law::newton_impact(0.0);
    for count in [1, 2] {
        let plane = PointPlane {
            center: [0.1, 0.2, -0.3],
            radius: 0.25,
            ..PointPlane::default().above(AXIS, POINT).with(Components::Normal)
        };
        assert!(check(plane, law(), count).1 < 1e-9);
        let spheres = SphereSphere::new([0.2, 0.3]).at([[0.1, 0.0, 0.2], [0.4, -0.5, 0.3]]);
        assert!(check(spheres.with(Components::Normal), law(), count).1 < 1e-9);
    }
}

fn rolling() -> Law {
    Law::RollingFriction { e: 0.0.into(), mu: 0.5.into(), mu_r: 0.1.into() }
}

/// A motion of both bodies as one leaves every contact and joint between them alone.
#[test]
fn what_moves_as_one_has_no_relative_velocity() {
    let mut model = Model::new("as one");
    let systems = bodies(&mut model);
    let spheres = SphereSphere::new([0.2, 0.3]).with(Components::Rolling);
    model.connect("spheres", spheres, rolling(), &systems).unwrap();
    let plane = PointPlane::sphere(0.2).above(AXIS, POINT).with(Components::Rolling);
    model.connect("plane", plane, rolling(), &systems).unwrap();
    for (k, joint) in joints().into_iter().enumerate() {
        if !matches!(joint, Joint::Gear { .. } | Joint::Ball { .. }) {
            model.connect(&format!("joint{k}"), joint, Law::Equality, &systems).unwrap();
        }
    }
    let start: Vec<Vec<f64>> = model
        .systems()
        .map(|(_, system)| match system {
            System::SecondOrder(body) => body.q0().to_vec(),
            System::FirstOrder(_) => panic!(),
        })
        .collect();
    use saltus_model::rotation::{add, cross, rotate_back};
    let (speed, spin) = ([0.3, -1.0, 0.5], [1.0, 0.4, -0.8]);
    let v: Vec<f64> = start
        .iter()
        .flat_map(|q| {
            let v = add(speed, cross(spin, [q[0], q[1], q[2]]));
            let w = rotate_back([q[3], q[4], q[5], q[6]], spin);
            [v, w].concat()
        })
        .collect();
    let q = start.concat();
    for (name, interaction) in model.interactions() {
        let mut H = Matrix::default();
        interaction.relation.output_dx(At::new(0.0, &q, &[]), &mut H).unwrap();
        let mut u = vec![0.0; H.rows()];
        H.apply(&v, &mut u);
        assert!(u.iter().all(|u| u.abs() < 1e-14), "{name}: {u:?}");
    }
}

#[track_caller]
fn refused(relation: impl IntoRelation, count: usize, expected: &str) {
    let mut model = Model::new("refused");
    let systems = bodies(&mut model);
    let error = model.connect("link", relation, Law::Equality, &systems[..count]).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn impossible_joints_are_refused() {
    let (point, axis) = (POINT, AXIS);
    refused(
        Joint::Pivot { point, axis: [0.0; 3] },
        1,
        "`axis` is (0, 0, 0), which has no direction",
    );
    refused(Joint::Ball { point: [f64::NAN, 0.0, 0.0] }, 1, "`point` = NaN");
    refused(Joint::Universal { point, axis, second_axis: axis }, 1, "right angles");
    refused(Joint::Distance { point, second_point: point }, 2, "use a ball joint");
    refused(Joint::Screw { point, axis, pitch: 0.0 }, 2, "use a pivot");
    let gear = Joint::Gear { axis, second_axis: axis, teeth: [1, 0] };
    refused(gear, 2, "`teeth` = 0");
    refused(gear, 1, "gear links two bodies, found 1");
    refused(PointPlane::sphere(-1.0), 1, "`radius` = -1 is outside [0, inf)");
    let mut model = Model::new("no body");
    let mass = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let error = model.connect("link", Joint::Fixed, Law::Equality, &[mass]).unwrap_err();
    assert!(matches!(error, ModelError::NotABody { system: 1, .. }), "{error}");
}
