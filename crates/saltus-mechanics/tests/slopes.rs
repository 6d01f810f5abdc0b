//! `H` of every joint and contact against differences along the ways of the bodies, and what is wrong
//! with others.

#![allow(clippy::unwrap_used)]

use saltus_linalg::Matrix;
use saltus_mechanics::{
    AnyJoint, Bushing, Components, Coordinate, Coupler, DiskDisk, DiskLine, Joint, Joint2d,
    JointCoordinate, JointSpec, Motor, PointPlane, SphereSphere, SpringDamper,
};
use saltus_model::{
    At, IntoRelation, LagrangianLinear, Law, Model, ModelError, Operator, RigidBody, RigidBody2d,
    System,
};

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
        Joint::Rack { axis, direction: [0.0, 0.3, 1.0], radius: 0.2 },
    ]
}

/// Those of bodies in the plane.
fn joints_in_plane() -> Vec<Joint2d> {
    let point = [0.3, -0.2];
    vec![
        Joint2d::Pivot { point },
        Joint2d::Prismatic { axis: [0.4, 1.0] },
        Joint2d::Fixed,
        Joint2d::Distance { point, second_point: [-0.5, 1.0] },
    ]
}

fn bodies_in_plane(model: &mut Model) -> [saltus_model::SystemId; 2] {
    let body = |x, angle| RigidBody2d::new(1.0, 1.2).at(x, angle);
    let a = model.add("a", body([0.1, 0.2], 7.3)).unwrap();
    let b = model.add("b", body([-0.4, 0.5], -0.9)).unwrap();
    [a, b]
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
    check_first(&model, count)
}

/// The same in the plane.
fn check_in_plane(relation: impl IntoRelation, law: Law, count: usize) -> (Vec<f64>, f64) {
    let mut model = Model::new("slopes");
    let systems = bodies_in_plane(&mut model);
    model.connect("link", relation, law, &systems[..count]).unwrap();
    check_first(&model, count)
}

fn check_first(model: &Model, count: usize) -> (Vec<f64>, f64) {
    let parts: Vec<_> = model.systems().take(count).map(|(_, system)| system.clone()).collect();
    let relation = &model.interactions().next().unwrap().1.relation;
    let of = |system: &System| match system {
        System::SecondOrder(body) => body.clone(),
        System::FirstOrder(_) => panic!(),
    };
    let (n, m) = (parts[0].dim_q(), parts[0].dim());
    let moved = |way: &[f64], from: &[f64]| {
        let mut q = vec![0.0; n * count];
        for k in 0..count {
            let (from, to) = (&from[n * k..n * k + n], &mut q[n * k..n * k + n]);
            of(&parts[k]).displace(from, &way[m * k..m * k + m], to);
        }
        q
    };
    let output = |q: &[f64]| {
        let mut y = vec![0.0; relation.size()];
        relation.output(At::new(0.0, q, &[]), &mut y).unwrap();
        y
    };
    let start: Vec<f64> = parts.iter().flat_map(|part| of(part).q0().to_vec()).collect();
    let off: Vec<f64> = (0..m * count).map(|k| 0.02 * (1.7 * k as f64).sin()).collect();
    let q = moved(&off, &start);
    let mut H = Matrix::default();
    relation.output_dx(At::new(0.0, &q, &[]), &mut H).unwrap();
    assert_eq!((H.rows(), H.cols()), (relation.size(), m * count));
    let mut worst = 0.0_f64;
    for j in 0..m * count {
        let at = |sign: f64| {
            let mut way = vec![0.0; m * count];
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
            if count == 1 && matches!(joint, Joint::Gear { .. } | Joint::Rack { .. }) {
                continue;
            }
            let (start, worst) = check(joint, Law::Equality, count);
            assert_eq!(start.len(), joint.size());
            assert!(start.iter().all(|y| y.abs() < 1e-15), "{joint:?}: {start:?}");
            assert!(worst < 1e-9, "{joint:?} of {count}: {worst:e}");
        }
    }
}

#[test]
fn slopes_of_joints_in_the_plane_are_exact() {
    for joint in joints_in_plane() {
        for count in [1, 2] {
            let (start, worst) = check_in_plane(joint, Law::Equality, count);
            assert_eq!(start.len(), joint.size());
            assert!(start.iter().all(|y| y.abs() < 1e-15), "{joint:?}: {start:?}");
            assert!(worst < 1e-9, "{joint:?} of {count}: {worst:e}");
        }
    }
}

/// All coordinates of all joints, off the joint too.
#[test]
fn slopes_of_coordinates_are_exact() {
    let all = joints().into_iter().map(AnyJoint::from);
    for joint in all.chain(joints_in_plane().into_iter().map(AnyJoint::from)) {
        for &coordinate in joint.coordinates() {
            let couples = matches!(joint, AnyJoint::Space(Joint::Gear { .. } | Joint::Rack { .. }));
            for count in if couples { 2..3 } else { 1..3 } {
                let one = JointCoordinate { axis: AXIS, ..JointCoordinate::new(joint, coordinate) };
                let (start, worst) = match joint {
                    AnyJoint::Space(_) => check(one, Law::Equality, count),
                    AnyJoint::Plane(_) => check_in_plane(one, Law::Equality, count),
                };
                if coordinate != Coordinate::Length {
                    assert!(start[0].abs() < 1e-15, "{one:?}: {start:?}");
                }
                // the differences see how a small swing curves
                let tol = if coordinate == Coordinate::Swing { 1e-7 } else { 1e-9 };
                assert!(worst < tol, "{one:?} of {count}: {worst:e}");
            }
        }
    }
}

#[test]
fn slopes_of_couplers_and_springs_are_exact() {
    let shaft = Joint::Cylindrical { point: POINT, axis: AXIS };
    let [way, angle] =
        [Coordinate::Way, Coordinate::Angle].map(|one| JointCoordinate::new(shaft, one));
    for (coordinates, ratio) in [([angle, way], 0.3), ([way, angle], -2.0), ([angle, angle], 2.5)] {
        for (count, between) in [(1, false), (2, false), (2, true)] {
            if (count, ratio) == (1, 2.5) || between && ratio == 2.5 {
                continue; // it would couple an angle with itself
            }
            let coupler = Coupler { coordinates, ratio, between };
            let (start, worst) = check(coupler, Law::Equality, count);
            assert!(start[0].abs() < 1e-15 && worst < 1e-9, "{coupler:?}: {start:?} {worst:e}");
        }
    }
    for count in [1, 2] {
        let spring = SpringDamper::new(POINT, [-0.5, 1.0, 0.1], 50.0, 2.0);
        let (start, worst) = check(spring, Law::Equality, count);
        assert!(start[0].abs() < 1e-15 && worst < 1e-9, "{worst:e}");
        let mut model = Model::new("bushing");
        let systems = bodies(&mut model);
        let stiffness = [1.0, 2.0, 3.0, 0.0, 5.0, 6.0];
        let bushing = Bushing::new(POINT, stiffness, [0.5; 6]);
        bushing.connect(&mut model, "bushing", &systems[..count]).unwrap();
        assert_eq!(model.interactions().len(), 2);
        assert!(check_first(&model, count).1 < 1e-9);
    }
}

/// Angles go on to two turns in space, over all turns in the plane; limits are next to their middle.
#[test]
fn angles_count_turns() {
    let axis = [0.0, 0.0, 1.0];
    let mut model = Model::new("turns");
    let body = model.add("body", RigidBody::new(1.0, [1.0; 3])).unwrap();
    let hinge = Joint::Pivot { point: [0.0; 3], axis };
    JointSpec::new(hinge).limits(-1.0, 9.0).connect(&mut model, "hinge", &[body]).unwrap();
    let angle = JointCoordinate::new(hinge, Coordinate::Angle);
    model.connect("angle", angle, Law::relay(0.0, 0.0), &[body]).unwrap();
    let of = |name: &str, turn: f64| {
        let id = model.interaction_id(name).unwrap();
        let relation = &model.interaction(id).unwrap().relation;
        let (s, c) = (0.5 * turn).sin_cos();
        let mut y = vec![0.0; relation.size()];
        relation.output(At::new(0.0, &[0.0, 0.0, 0.0, c, 0.0, 0.0, s], &[]), &mut y).unwrap();
        y
    };
    assert!((of("angle", 5.0)[0] - 5.0).abs() < 1e-14);
    assert!((of("angle", -6.0)[0] + 6.0).abs() < 1e-14);
    let [below, above] = of("hinge.limit", 7.0)[..] else { panic!() };
    assert!((below - 8.0).abs() < 1e-14 && (above - 2.0).abs() < 1e-14, "{below} {above}");
    // 7 and 7 + 4π are the same
    let same = of("hinge.limit", 7.0 + 4.0 * std::f64::consts::PI);
    assert!((same[0] - 8.0).abs() < 1e-13, "{same:?}");
    let mut model = Model::new("turns");
    let body = model.add("body", RigidBody2d::new(1.0, 1.0)).unwrap();
    let angle = JointCoordinate::new(Joint2d::Pivot { point: [0.0; 2] }, Coordinate::Angle);
    model.connect("angle", angle, Law::relay(0.0, 0.0), &[body]).unwrap();
    let relation = &model.interactions().next().unwrap().1.relation;
    let mut y = [0.0];
    relation.output(At::new(0.0, &[0.0, 0.0, 100.0], &[]), &mut y).unwrap();
    assert_eq!(y, [100.0]);
}

/// A joint is its parts, under names that follow from its own.
#[test]
fn parts_of_joints() {
    let mut model = Model::new("parts");
    let systems = bodies(&mut model);
    let shaft = JointSpec::new(Joint::Cylindrical { point: POINT, axis: AXIS })
        .limits(-1.0, f64::INFINITY)
        .restitution(0.5)
        .on(Coordinate::Angle)
        .friction(2.0)
        .stiction(3.0)
        .spring(1.0, 0.1, 0.2)
        .motor(Motor::Velocity { v: Operator::constant(1, 1, vec![1.0]), max_force: 3.0 })
        .break_force(100.0);
    shaft.connect(&mut model, "shaft", &systems).unwrap();
    let names: Vec<_> = model.interactions().map(|(name, _)| name).collect();
    let parts = ["shaft", "shaft.way_limit", "shaft.angle_friction", "shaft.angle_spring"];
    assert_eq!(names[..4], parts);
    assert_eq!(names[4..], ["shaft.angle_motor"]);
    assert_eq!(model.interactions().nth(1).unwrap().1.relation.size(), 1);
    let events: Vec<_> = model.events().iter().map(|event| event.name.as_str()).collect();
    assert_eq!(events, ["shaft.angle_friction.slip", "shaft.angle_friction.stick", "shaft.break"]);
    // parts need an owner, and the words of quantities are taken
    let relation = JointCoordinate::new(shaft.joint, Coordinate::Way);
    for name in ["nobody.limit", "shaft.lam", "a.limit", "shaft.way_limit"] {
        assert!(model.connect(name, relation, Law::relay(0.0, 0.0), &systems).is_err(), "{name}");
    }
    let wrong = JointSpec::new(Joint::Fixed).limits(0.0, 1.0);
    let error = wrong.connect(&mut model, "glue", &systems).unwrap_err().to_string();
    assert!(error.contains("fixed leaves nothing free that `limits` could act on"), "{error}");
    let pivot = || JointSpec::new(Joint::Pivot { point: POINT, axis: AXIS });
    let rope = || JointSpec::new(Joint::Distance { point: POINT, second_point: [0.0; 3] });
    let cases = [
        (pivot().limits(1.0, 0.0), "`limits` = 1"),
        (pivot().friction(-1.0), "`friction` = -1"),
        (pivot().friction(2.0).stiction(1.0), "`stiction` = 1"),
        (pivot().spring(0.0, 0.0, 0.0), "`stiffness` = 0"),
        (pivot().break_force(0.0), "`break_force` = 0"),
        (pivot().on(Coordinate::Way).friction(1.0), "no coordinate `way` free; it has angle"),
        (rope().break_moment(1.0), "distance bears no moment"),
        (JointSpec::new(Joint::Ball { point: POINT }).break_moment(1.0), "ball bears no moment"),
        (rope().limits(-1.0, 0.0), "`limits` = 0"),
        (rope().limits(0.0, f64::INFINITY), "`limits` = inf"),
    ];
    for (k, (spec, expected)) in cases.into_iter().enumerate() {
        let error = spec.connect(&mut model, &format!("hinge{k}"), &systems).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// A distance with something built into its length does not hold it: the first part has its name.
#[test]
fn parts_of_a_rope() {
    let rope = || JointSpec::new(Joint::Distance { point: POINT, second_point: [0.0; 3] });
    let parts = |spec: JointSpec| {
        let mut model = Model::new("rope");
        let systems = bodies(&mut model);
        spec.connect(&mut model, "rope", &systems).unwrap();
        let size = model.interactions().next().unwrap().1.relation.size();
        assert_eq!(size, spec.size());
        let names: Vec<_> = model.interactions().map(|(name, _)| name.to_string()).collect();
        (names.join(" "), size)
    };
    assert_eq!(parts(rope()), ("rope".to_string(), 1));
    assert_eq!(parts(rope().limits(0.0, 2.0)), ("rope".to_string(), 1));
    let whole = rope().limits(0.5, 2.0).spring(1.0, 0.0, 1.0).friction(1.0).break_force(1.0);
    assert_eq!(parts(whole), ("rope rope.friction rope.spring".to_string(), 2));
    let elastic = rope().limits(0.0, f64::INFINITY).spring(1.0, 0.0, 1.0);
    assert_eq!(parts(elastic), ("rope".to_string(), 1));
    // limits that are nowhere are no part of any joint
    let pivot = JointSpec::new(Joint::Pivot { point: POINT, axis: AXIS });
    let free = pivot.limits(f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(parts(free), ("rope".to_string(), 5));
}

/// The world may be the first side: the same conditions the other way, with exact slopes.
#[test]
fn slopes_from_the_world_are_exact() {
    let check = |spec: JointSpec, plane: bool| {
        let mut model = Model::new("slopes");
        let systems = if plane { bodies_in_plane(&mut model) } else { bodies(&mut model) };
        spec.connect(&mut model, "link", &systems[..1]).unwrap();
        let (start, worst) = check_first(&model, 1);
        assert!(start.iter().all(|y| y.abs() < 1e-15), "{:?}: {start:?}", spec.joint);
        assert!(worst < 1e-9, "{:?}: {worst:e}", spec.joint);
        same_slopes_both_ways(&model);
    };
    for joint in joints() {
        if !matches!(joint, Joint::Gear { .. } | Joint::Rack { .. }) {
            check(JointSpec::new(joint).from_world(), false);
        }
    }
    for joint in joints_in_plane() {
        check(JointSpec::new(joint).from_world(), true);
    }
}

/// `output_and_dx` says what `output` and `output_dx` say.
fn same_slopes_both_ways(model: &Model) {
    let System::SecondOrder(body) = model.systems().next().unwrap().1 else { panic!() };
    let relation = &model.interactions().next().unwrap().1.relation;
    let mut q = vec![0.0; body.q0().len()];
    let way: Vec<f64> = (0..body.dim()).map(|k| 0.3 * (1.7 * k as f64).cos()).collect();
    body.displace(body.q0(), &way, &mut q);
    let at = At::new(0.0, &q, &[]);
    let (mut y, mut both) = (vec![0.0; relation.size()], vec![0.0; relation.size()]);
    let (mut H, mut K) = (Matrix::default(), Matrix::default());
    relation.output(at, &mut y).unwrap();
    relation.output_dx(at, &mut H).unwrap();
    relation.output_and_dx(at, &mut both, &mut K, &mut Vec::new()).unwrap();
    assert!(y.iter().zip(&both).all(|(a, b)| (a - b).abs() < 1e-15));
    assert!(H.data().iter().zip(K.data()).all(|(a, b)| (a - b).abs() < 1e-15));
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
        let components = Components::Normal;
        let line = DiskLine {
            center: [0.1, -0.3],
            radius: 0.25,
            normal: [0.2, 1.0],
            ..DiskLine::default()
        };
        assert!(check_in_plane(DiskLine { components, ..line }, law(), count).1 < 1e-9);
        let disks = DiskDisk { centers: [[0.1, 0.2], [0.4, -0.5]], ..DiskDisk::new([0.2, 0.3]) };
        assert!(check_in_plane(DiskDisk { components, ..disks }, law(), count).1 < 1e-9);
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
        if !matches!(joint, Joint::Gear { .. } | Joint::Rack { .. } | Joint::Ball { .. }) {
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
    let second = JointCoordinate::new(gear, Coordinate::SecondAngle);
    refused(second, 1, "links two bodies, found 1");
    refused(PointPlane::sphere(-1.0), 1, "`radius` = -1 is outside [0, inf)");
    let mut model = Model::new("no body");
    let mass = model.add("mass", LagrangianLinear::new([0.0], [0.0], [[1.0]])).unwrap();
    let error = model.connect("link", Joint::Fixed, Law::Equality, &[mass]).unwrap_err();
    assert!(matches!(error, ModelError::NotABody { system: 1, .. }), "{error}");
}
