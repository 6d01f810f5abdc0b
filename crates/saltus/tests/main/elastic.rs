//! Contacts that give way: springs and dampers in place of rigid contact, against closed forms.

use crate::support::within;
use saltus::mechanics::{
    BodySpec, ContactPair, DriveSpec, Given, Joint, JointLink, Material, Scene, Shape, StaticSpec,
};
use saltus::numerics::{AutoSettings, Solver};
use saltus::prelude::*;

const G: f64 = 9.81;
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// A floor that gives way.
fn scene(pair: ContactPair, gravity: [f64; 3]) -> Scene {
    let mut scene = Scene::new("springs").gravity(gravity);
    scene.contacts.push(pair);
    scene.statics.push(StaticSpec::new("floor", Shape::Plane { normal: Z, offset: 0.0 }));
    scene
}

fn springs(stiffness: f64, damping: f64) -> ContactPair {
    ContactPair::new("default", "default").friction(0.5).elastic(stiffness, damping)
}

/// A ball of mass 1.
fn ball(name: &str, radius: f64, position: [f64; 3]) -> BodySpec {
    let mut body = BodySpec::new(name, Shape::Sphere { radius }).at(position).mass(1.0);
    let j = 0.4 * radius * radius;
    body.inertia = Some([[j, 0.0, 0.0], [0.0, j, 0.0], [0.0, 0.0, j]]);
    body
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

fn steps(sim: &mut TimeStepping, count: usize) {
    for _ in 0..count {
        sim.step().unwrap();
    }
}

fn state(sim: &TimeStepping, body: &str) -> ([f64; 7], [f64; 6]) {
    let id = sim.model().system_id(body).unwrap();
    (sim.q(id).unwrap().try_into().unwrap(), sim.v(id).unwrap().try_into().unwrap())
}

/// A ball on a spring swings as it should, with second order, and no energy is lost where steps resolve it.
#[test]
fn a_ball_on_a_spring_swings() {
    let (k, radius, t) = (400.0, 0.1, 0.5);
    let mut errors = Vec::new();
    for h in [2e-3, 1e-3] {
        let mut scene = scene(springs(k, 0.0), [0.0, 0.0, -G]);
        scene.bodies.push(ball("ball", radius, [0.0, 0.0, radius - 0.4 * G / k]));
        let mut sim = simulation(&scene, h);
        steps(&mut sim, (t / h).round() as usize);
        let exact = radius - G / k + 0.6 * G / k * f64::cos(f64::sqrt(k) * t);
        errors.push((state(&sim, "ball").0[2] - exact).abs());
        let ledger = sim.ledger().unwrap();
        within("what the scheme takes", ledger.numerical.abs(), 1e-13);
        within("dampers, impacts", ledger.damping.abs() + ledger.impact.abs(), 1e-13);
    }
    let order = (errors[0] / errors[1]).log2();
    assert!((1.9..2.1).contains(&order), "{order} of {errors:?}");
    within("its error", errors[1], 1e-5);
}

/// A ball on a damped spring comes to rest where its weight is carried, and then stands still to the last bit.
#[test]
fn what_rests_on_springs_stands_still() {
    for (k, c, h) in [(1e4, 50.0, 1e-3), (1e6, 0.0, 5e-3), (1e8, 1e5, 5e-3)] {
        let mut scene = scene(springs(k, c), [0.0, 0.0, -G]);
        scene.bodies.push(ball("ball", 0.1, [0.0, 0.0, 0.1]));
        let mut sim = simulation(&scene, h);
        steps(&mut sim, 1000);
        let (q, v) = state(&sim, "ball");
        assert_eq!(v, [0.0; 6], "{k} {c}");
        within("how deep", (0.1 - q[2] - G / k).abs(), 1e-6 * G / k + 1e-12);
        within("its weight", (sim.contacts().impulse[0][2].abs() - G * h).abs(), 1e-6 * G * h);
        steps(&mut sim, 1000);
        assert_eq!(state(&sim, "ball"), (q, v));
    }
}

/// A ball bounces off a spring with damper as much as the law says: it parts as the force ends, at
/// `e = exp(−ζ ω t)`, `ω_d t = π − atan(2 ζ √(1 − ζ²)/(1 − 2 ζ²))`.
#[test]
fn dampers_are_restitution() {
    let (k, v) = (1e4_f64, 2.0);
    for zeta in [0.0, 0.1, 0.3_f64] {
        let mut errors = Vec::new();
        for h in [4e-5, 2e-5] {
            let mut scene = scene(springs(k, 2.0 * zeta * k.sqrt()), [0.0; 3]);
            let start = ball("ball", 0.1, [0.0, 0.0, 0.1 + 1e-4]);
            scene.bodies.push(start.moving([0.0, 0.0, -v], [0.0; 3]));
            let mut sim = simulation(&scene, h);
            steps(&mut sim, (0.04 / h) as usize);
            let turned = f64::sqrt(1.0 - zeta * zeta);
            let angle =
                std::f64::consts::PI - f64::atan(2.0 * zeta * turned / (1.0 - 2.0 * zeta * zeta));
            let e = f64::exp(-zeta * angle / turned);
            let (_, after) = state(&sim, "ball");
            errors.push((after[2] / v - e).abs());
            let ledger = sim.ledger().unwrap();
            let lost = 0.5 * v * v * (1.0 - e * e);
            within("dampers took it", (ledger.damping - lost).abs(), 5e-3);
            within("what the scheme took", ledger.numerical.abs(), 5e-3);
            within("what springs keep", ledger.potential.abs(), 0.0);
        }
        within(&format!("{zeta}: {errors:?}"), errors[1], 2e-3);
    }
}

/// On a slope a box holds by its tangential springs, or slides with the acceleration of Coulomb's law.
#[test]
fn boxes_on_slopes_hold_or_slide() {
    let (k, h) = (1e5, 2e-3);
    for angle in [0.4_f64, 0.6] {
        let (down, along) = (G * angle.cos(), G * angle.sin());
        let mut scene = scene(springs(k, 200.0), [along, 0.0, -down]);
        let cube = Shape::Box { edges: [0.4, 0.4, 0.1] };
        scene.bodies.push(BodySpec::new("box", cube).mass(2.0).at([0.0, 0.0, 0.05]));
        let mut sim = simulation(&scene, h);
        steps(&mut sim, 2000);
        let (q, v) = state(&sim, "box");
        let impulse = sim
            .contacts()
            .impulse
            .iter()
            .fold([0.0; 3], |sum, one| [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]);
        // on the floor, which is the first side
        within("normal", (impulse[2] + 2.0 * down * h).abs(), 1e-6 * down * h);
        if angle.tan() < 0.5 {
            within("tangential", (impulse[0] - 2.0 * along * h).abs(), 1e-6 * along * h);
            assert_eq!(v, [0.0; 6]);
            // by four springs, and by as much as it tilts about its foot
            let moved = 2.0 * along / (4.0 * k) * (1.0 + 0.05 * 0.05 / (0.2 * 0.2));
            within("stretch", (q[0] / moved - 1.0).abs(), 1e-3);
            steps(&mut sim, 500);
            assert_eq!(state(&sim, "box"), (q, v), "it creeps");
        } else {
            let a = along - 0.5 * down;
            let (_, before) = state(&sim, "box");
            steps(&mut sim, 500);
            let (_, after) = state(&sim, "box");
            within("acceleration", ((after[0] - before[0]) / (500.0 * h) / a - 1.0).abs(), 1e-6);
            let ledger = sim.ledger().unwrap();
            let slid = 0.5 * 2.0 * down * state(&sim, "box").0[0];
            within("friction", (ledger.friction / slid - 1.0).abs(), 1e-2);
        }
    }
}

/// Disks in the plane, one beside another and all on springs: weights and depths.
#[test]
fn a_column_of_disks_gives_way() {
    let k = 1e5;
    let mut scene = Scene::new("disks").in_plane().gravity([0.0, -G, 0.0]);
    scene.contacts.push(springs(k, 300.0));
    let floor = Shape::Plane { normal: [0.0, 1.0, 0.0], offset: 0.0 };
    scene.statics.push(StaticSpec::new("floor", floor));
    for i in 0..3 {
        let at = [0.0, 0.1 + 0.2 * f64::from(i), 0.0];
        let mut disk = BodySpec::new(format!("d{i}"), Shape::Disk { radius: 0.1 }).at(at).mass(1.0);
        disk.inertia = Some([[0.0; 3], [0.0; 3], [0.0, 0.0, 0.005]]);
        scene.bodies.push(disk);
    }
    let mut sim = simulation(&scene, 2e-3);
    steps(&mut sim, 2000);
    let mut deep = 0.0;
    for i in 0..3 {
        deep += f64::from(3 - i) * G / k;
        let id = sim.model().system_id(&format!("d{i}")).unwrap();
        let y = sim.q(id).unwrap()[1];
        within("depth", (0.1 + 0.2 * f64::from(i) - deep - y).abs(), 1e-10);
    }
}

/// Rigid contacts and springs in one island; and one whose body is guided by a joint.
#[test]
fn springs_beside_rigid_contacts_and_joints() {
    let (k, h) = (2e4, 1e-3);
    let mut scene = scene(springs(k, 200.0), [0.0, 0.0, -G]);
    scene.materials.push(Material::new("steel", 7800.0));
    scene.contacts.push(ContactPair::new("steel", "steel").friction(0.5));
    let cube = Shape::Box { edges: [0.4, 0.4, 0.1] };
    let lower = BodySpec::new("lower", cube.clone()).of("steel").mass(1.0).at([0.0, 0.0, 0.05]);
    let upper = BodySpec::new("upper", cube.clone()).of("steel").mass(2.0).at([0.0, 0.0, 0.15]);
    scene.bodies.extend([lower, upper]);
    scene.bodies.push(BodySpec::new("guided", cube).mass(3.0).at([2.0, 0.0, 0.05]));
    let guide = Joint::Prismatic { axis: Z };
    scene.joints.push(JointLink::new("guide", guide, &["guided"]));
    let mut sim = simulation(&scene, h);
    steps(&mut sim, 4000);
    let z = |body: &str| state(&sim, body).0[2];
    let depth = 3.0 * G / (4.0 * k);
    within("the lower box", (z("lower") - 0.05 + depth).abs(), 1e-9);
    within("the upper box", (z("upper") - z("lower") - 0.1).abs(), 1e-9);
    within("the guided box", (z("guided") - 0.05 + depth).abs(), 1e-9);
}

/// A heap on springs: every step is solved to its tolerance at once, by sweeps alone, impulses carry the weight, and one of half the
/// tolerance gives the same forces.
#[test]
fn heaps_on_springs_are_solved_by_sweeps() {
    let (count, h) = (5, 5e-3);
    let heap = || {
        let mut scene = scene(springs(1e5, 500.0), [0.0, 0.0, -G]);
        let ends = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]];
        for (i, normal) in ends.into_iter().enumerate() {
            let offset = -0.5 * 0.11 * f64::from(count);
            scene.statics.push(StaticSpec::new(format!("w{i}"), Shape::Plane { normal, offset }));
        }
        for i in 0..count * count * count {
            let cell = [i % count, i / count % count, i / count / count].map(f64::from);
            let off = |k: i32| 0.002 * f64::from((i * 7 + k * 5) % 11 - 5);
            let at = |k: usize| 0.11 * (cell[k] + 0.5) + off(k as i32);
            let middle = 0.5 * 0.11 * f64::from(count);
            let at = [at(0) - middle, at(1) - middle, at(2) - 0.055 + 0.05];
            let mut body = ball(&format!("b{i}"), 0.05, at);
            body.mass = Some(0.5);
            scene.bodies.push(body);
        }
        scene.model().unwrap()
    };
    let run = |tol: f64| {
        let solver = Solver::Auto(AutoSettings { tol, ..AutoSettings::default() });
        let scheme = [MoreauJean::default().into()];
        let mut sim = TimeStepping::with_solver(heap(), h, scheme, &solver).unwrap();
        for _ in 0..60 {
            let done = sim.step().unwrap();
            assert!(done.residual <= tol, "{}", done.residual);
        }
        sim
    };
    let (sim, finer) = (run(1e-6), run(1e-10));
    let up = |sim: &TimeStepping| {
        let contacts = sim.contacts();
        let floor = (0..contacts.len()).filter(|&k| contacts.normal[k][2] == -1.0);
        floor.map(|k| contacts.impulse[k][2]).sum::<f64>()
    };
    within("the same forces", (up(&sim) / up(&finer) - 1.0).abs(), 1e-3);
    let deep = sim.contacts().gap.iter().fold(0.0, |deep: f64, gap| deep.max(-gap));
    assert!(deep > 1e-5 && deep < 2e-3, "{deep}");
    let ledger = sim.ledger().unwrap();
    assert!(
        ledger.damping > 0.0 && ledger.friction > 0.0 && ledger.numerical > -1e-3,
        "{ledger:?}"
    );
}

/// What is kept of springs is kept in checkpoints, and forgotten where a body is put somewhere else.
#[test]
fn springs_are_state() {
    let mut scene = scene(springs(1e5, 100.0), [1.0, 0.0, -G]);
    let cube = Shape::Box { edges: [0.2; 3] };
    scene.bodies.push(BodySpec::new("box", cube).mass(1.0).at([0.0, 0.0, 0.1]));
    let mut sim = simulation(&scene, 1e-3);
    steps(&mut sim, 25);
    let checkpoint = sim.checkpoint();
    steps(&mut sim, 25);
    let mut other = simulation(&scene, 1e-3);
    other.restore(&checkpoint).unwrap();
    steps(&mut other, 25);
    assert_eq!(state(&sim, "box"), state(&other, "box"));
    assert_eq!(sim.ledger(), other.ledger());

    // put where nothing is stretched, it feels less than what held it
    steps(&mut sim, 2000);
    let (mut q, v) = state(&sim, "box");
    assert_eq!(v, [0.0; 6]);
    q[0] += 1.0;
    let id = sim.model().system_id("box").unwrap();
    sim.set_qv(id, Some(&q), None).unwrap();
    assert_eq!(sim.ledger().unwrap().work, 0.0);
    sim.step().unwrap();
    let along: f64 = sim.contacts().impulse.iter().map(|one| one[0]).sum();
    within("tangential", along.abs(), 0.6 * 1e-3);
    let ledger = sim.ledger().unwrap();
    let held = 4.0 * 0.5 * 1e5 * (G / 4e5_f64).powi(2);
    within("what springs held", (ledger.work / held - 1.0).abs(), 0.1);
}

/// Springs beside rolling resistance, few contacts and many: the weight is carried, and what rolls stops.
#[test]
fn springs_beside_rolling_resistance() {
    for count in [1, 14] {
        let mut pair = springs(1e5, 300.0).rolling(0.01);
        pair.mu = Some(0.6);
        let mut scene = scene(pair, [0.0, 0.0, -G]);
        for i in 0..count {
            let at = [0.199 * f64::from(i), 0.0, 0.1];
            scene.bodies.push(ball(&format!("b{i}"), 0.1, at).moving([0.0, 0.1, 0.0], [0.0; 3]));
        }
        let mut sim = simulation(&scene, 2e-3);
        steps(&mut sim, 500);
        let contacts = sim.contacts();
        let floor = (0..contacts.len()).filter(|&k| contacts.normal[k][2].abs() == 1.0);
        let carried: f64 = floor.map(|k| contacts.impulse[k][2].abs()).sum();
        within("the weight", (carried / (f64::from(count) * G * 2e-3) - 1.0).abs(), 1e-6);
        let speed = state(&sim, "b0").1[1].abs();
        within("it rolls", speed, 1e-9);
    }
}

/// On a turntable the springs of a box turn with it: it does not fall behind, revolution after revolution; so on one that is a body. What
/// goes round in steps along its velocity goes out by `ṙ = ½ h ω² r`, on springs as on anything else.
#[test]
fn a_box_on_a_turntable_does_not_fall_behind() {
    let (h, omega, radius, k) = (1e-3, 3.0, 0.3, 1e3);
    for is_body in [false, true] {
        let mut scene = Scene::new("turntable").gravity([0.0, 0.0, -G]);
        scene.contacts.push(springs(k, 20.0));
        let table = Shape::Box { edges: [2.0, 2.0, 0.2] };
        if is_body {
            let table = BodySpec::new("table", table).mass(1e6).at([0.0, 0.0, -0.1]);
            scene.bodies.push(table.moving([0.0; 3], [0.0, 0.0, omega]));
            let hinge = Joint::Pivot { point: [0.0; 3], axis: Z };
            scene.joints.push(JointLink::new("hinge", hinge, &["table"]));
        } else {
            let omega = Some(Given::Numbers(vec![0.0, 0.0, omega]));
            let drive = Some(DriveSpec { omega, ..DriveSpec::default() });
            let turning = StaticSpec::new("table", table);
            scene.statics.push(StaticSpec { drive, position: [0.0, 0.0, -0.1], ..turning });
        }
        let cube = BodySpec::new("box", Shape::Box { edges: [0.1; 3] }).mass(1.0);
        let speed = [[0.0, omega * radius, 0.0], [0.0, 0.0, omega]];
        scene.bodies.push(cube.at([radius, 0.0, 0.05]).moving(speed[0], speed[1]));
        let mut sim = simulation(&scene, h);
        let turn = 2.0 * std::f64::consts::PI / omega;
        let out = |sim: &TimeStepping| {
            let (q, _) = state(sim, "box");
            let angle = q[1].atan2(q[0]) - omega * sim.t();
            [q[0].hypot(q[1]), angle.sin()]
        };
        steps(&mut sim, (turn / h) as usize);
        let once = out(&sim);
        // the springs hold it on its way
        let held: [f64; 3] = sim
            .contacts()
            .impulse
            .iter()
            .fold([0.0; 3], |sum, one| [0, 1, 2].map(|k| sum[k] + one[k]));
        let pulled = omega * omega * once[0] * h;
        within("held", (held[0].hypot(held[1]) / pulled - 1.0).abs(), 1e-2);
        let last = 3.0 * turn;
        steps(&mut sim, (last / h) as usize);
        let [r, angle] = out(&sim);
        let way = f64::exp(0.5 * h * omega * omega * last) - 1.0;
        within("out", ((r / once[0] - 1.0) / way - 1.0).abs(), 2e-2);
        // springs that keep their direction let it creep by their stretch around every revolution
        let creep = 6.0 * std::f64::consts::PI * omega * omega * radius / (4.0 * k);
        within("behind", radius * (angle - once[1]).abs(), 1e-2 * creep);
    }
}

/// A pendulum that leaves a stop on springs is held by a rigid one, which gives nothing.
#[test]
fn a_rigid_stop_after_one_on_springs() {
    let h = 1e-3;
    let mut scene = Scene::new("stops").gravity([2.0, 0.0, -G]);
    scene.materials.extend(["rubber", "steel"].map(|name| Material::new(name, 1000.0)));
    let stone = "default";
    scene.contacts.push(ContactPair::new(stone, "rubber").friction(0.3).elastic(1e3, 0.0));
    scene.contacts.push(ContactPair::new(stone, "steel").friction(0.3));
    for (material, way) in [("rubber", 1.0), ("steel", -1.0)] {
        let stop = Shape::Plane { normal: [way, 0.0, 0.0], offset: -0.15 };
        scene.statics.push(StaticSpec::new(material, stop).of(material));
    }
    scene.bodies.push(ball("bob", 0.1, [0.0, 0.0, -1.0]).moving([-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]));
    let hinge = Joint::Pivot { point: [0.0; 3], axis: [0.0, 1.0, 0.0] };
    scene.joints.push(JointLink::new("hinge", hinge, &["bob"]));
    let mut sim = simulation(&scene, h);
    let mut hit = [0.0_f64; 2];
    for _ in 0..2000 {
        sim.step().unwrap();
        let x = state(&sim, "bob").0[0];
        hit = [hit[0].max(-x - 0.05), hit[1].max(x - 0.05)];
    }
    assert!(hit[0] > 5e-3, "the soft stop gives way: {hit:?}");
    within("the rigid one", hit[1], 1e-6);
    assert_eq!(state(&sim, "bob").1, [0.0; 6]);
}

/// How far a step resolves a spring does not depend on which tangents there are: a rod on its end, and the scene turned by a quarter.
#[test]
fn tangents_are_all_the_same() {
    let run = |turned: bool| {
        let edges = if turned { [0.02, 0.6, 0.02] } else { [0.6, 0.02, 0.02] };
        let mut scene = scene(springs(1e3, 0.0), [0.0, 0.0, -G]);
        let v = if turned { [0.0, 0.3, 0.0] } else { [0.3, 0.0, 0.0] };
        let rod = BodySpec::new("rod", Shape::Box { edges }).mass(0.2).at([0.0, 0.0, 0.05]);
        scene.bodies.push(rod.moving(v, [0.0; 3]));
        let mut sim = simulation(&scene, 4e-3);
        steps(&mut sim, 150);
        let (q, v) = state(&sim, "rod");
        let along = usize::from(turned);
        [q[along], q[1 - along].abs(), q[2], v[along], v[2]]
    };
    let (one, other) = (run(false), run(true));
    for (one, other) in one.into_iter().zip(other) {
        within("the same", (one - other).abs(), 1e-9);
    }
}

/// An event that makes springs stiffer brings their energy by work.
#[test]
fn stiffer_springs_are_work() {
    let text = "title = 'stiffer'\n[parameters]\nk = 1e3\n[simulation]\nh = 1e-3\nuntil = 2.0\n[scene]\ngravity = [0, 0, -9.81]
[[contact]]\nmaterials = ['default', 'default']\nmu = 0.5\nstiffness = 'k'\ndamping = 30\n[[static]]\nname = 'floor'
shape = { kind = 'plane' }\n[[body]]\nname = 'ball'\nmass = 1.0\nshape = { kind = 'sphere', radius = 0.1 }\nposition = [0, 0, 0.1]
[[event]]\nname = 'harder'\nat = 1.6\nset = { k = 4e3 }\n";
    let file = saltus::io::model_file::ModelFile::parse(text, "stiffer.toml", &[])
        .unwrap_or_else(|error| panic!("{error}"));
    let scheme = MoreauJean::default();
    let mut sim = TimeStepping::new(file.model, 1e-3, [scheme.into()]).unwrap();
    sim.run(2.0).unwrap();
    let ledger = sim.ledger().unwrap();
    // at first it lies g/k deep; what springs of four times the stiffness hold there is work
    let deep = G / 1e3;
    within("work", (ledger.work - 0.5 * 4e3 * deep * deep).abs(), 1e-6);
    within("numerical", ledger.numerical.abs(), 1e-2 * ledger.work);
}

/// Springs beyond all numbers: energies are numbers or the run ends with an error that says what is none.
#[test]
fn springs_that_are_no_springs() {
    use saltus::mechanics::{Coordinate, Fitting, Spring};
    let mut failures = Vec::new();
    for stiffness in [1e200, 1e300, 1e308] {
        let mut contact = scene(springs(stiffness, 0.0), [0.0, 0.0, -G]);
        contact.bodies.push(ball("ball", 0.5, [0.0, 0.0, 0.4]));
        let mut damper = scene(springs(1e5, stiffness), [0.0, 0.0, -G]);
        damper.bodies.push(ball("ball", 0.5, [0.0, 0.0, 0.49]));
        let mut joint = scene(ContactPair::new("default", "default"), [0.0, 0.0, -G]);
        joint.bodies.push(ball("ball", 0.5, [0.0, 0.0, 3.0]));
        let mut slide = JointLink::new("slide", Joint::Prismatic { axis: Z }, &["ball"]);
        let spring = Some(Spring { stiffness, damping: 0.0, rest: 1e10 });
        slide.fittings.push(Fitting { spring, ..Fitting::new(Coordinate::Way) });
        joint.joints.push(slide);
        for (name, scene) in [("contact", contact), ("damper", damper), ("joint", joint)] {
            let scheme = [MoreauJean::default().into()];
            let (rows, error) = match TimeStepping::new(scene.model().unwrap(), 1e-3, scheme) {
                Ok(mut sim) => match sim.run(0.1) {
                    Ok(run) => (run.frames.rows, None),
                    Err(failure) => (failure.run.frames.rows, Some(failure.source)),
                },
                Err(error) => (Vec::new(), Some(error)),
            };
            assert!(rows.iter().all(|x| x.is_finite()), "{name} {stiffness:e}: {error:?}");
            failures.extend(error.map(|error| format!("{name} {stiffness:e}: {error}")));
        }
    }
    let named = |failure: &String| {
        failure.contains("energy of `slide") || failure.contains("energy of contacts")
    };
    assert!(failures.iter().any(named), "{failures:#?}");
}
