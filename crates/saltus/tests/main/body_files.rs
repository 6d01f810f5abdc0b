//! Rigid bodies, joints and contacts of model files, and the examples made of them.

use crate::example_files::run;
use crate::support::within;
use saltus::io::model_file::ModelFile;
use saltus::prelude::*;

/// Bodies, joints and contacts of model files: every kind of joint, and parts of states in events.
#[test]
fn bodies_joints_and_contacts() {
    let joints = [
        ("ball", "point = [0, 0, 1]"),
        ("pivot", "point = [0, 0, 1], axis = [0, 1, 0]"),
        ("prismatic", "axis = [0, 0, 1]"),
        ("cylindrical", "point = [0, 0, 1], axis = [0, 1, 0]"),
        ("universal", "point = [0, 0, 1], axis = [0, 1, 0], second_axis = [1, 0, 0]"),
        ("planar", "point = [0, 0, 1], normal = [0, 1, 0]"),
        ("distance", "point = [0, 0, 1], second_point = [0, 1, 0]"),
        ("screw", "point = [0, 0, 1], axis = [0, 0, 1], pitch = 0.1"),
        ("gear", "axis = [0, 0, 1], second_axis = [0, 0, 1], teeth = [12, -30]"),
    ];
    let mut text = r#"
        [simulation]
        h = 1e-3
        until = 0.01
        [[system]]
        name = "a"
        kind = "rigid-body"
        mass = 2
        inertia = [[1, 0.1, 0], [0.1, 1, 0], [0, 0, 1]]
        force = ["-q[0]", 0, "sin(t)"]
        force_frame = "body"
        [[system]]
        name = "b"
        kind = "rigid-body"
        position = [0, 0.3, 0]
        orientation = [2, 0, 0, 0]
        omega = [0, 0, 1]
        mass = 1
        inertia = { diagonal = [1, 1, 1] }
        moment = ["-v[3]", 0, 0]
        [[system]]
        name = "disk"
        kind = "rigid-body-2d"
        angle = 0.5
        mass = 1
        inertia = 2
        gravity = [0, -9.81]
        [[interaction]]
        name = "floor"
        systems = ["a"]
        relation = { kind = "point-plane", radius = 0.1, origin = [0, 0, -5] }
        law = { kind = "impact-friction", e = 0.5, mu = 0.3 }
        [[interaction]]
        name = "meet"
        systems = ["a", "b"]
        relation = { kind = "sphere-sphere", radii = [0.1, 0.1], components = 1 }
        law = { kind = "newton-impact", e = 0.5 }
        [[event]]
        at = 0.005
        set = { "b.omega" = [0, 0, "-b.omega[2]"], "disk.angle" = ["1"], "a.position[2]" = 0.25 }
    "#
    .to_string();
    for (kind, keys) in joints {
        text += &format!(
            "[[interaction]]\nname = \"{kind}\"\nsystems = [\"a\", \"b\"]\nactive = false\n\
             relation = {{ kind = \"{kind}\", {keys} }}\nlaw = \"equality\"\n"
        );
    }
    text += "[[interaction]]\nname = \"fixed\"\nsystems = [\"a\", \"b\"]\nactive = false\n\
             relation = { kind = \"fixed\" }\nlaw = \"equality\"\n";
    let file = ModelFile::parse(&text, "bodies", &[]);
    let file = file.unwrap_or_else(|error| panic!("{}", error.report()));
    let sizes: Vec<usize> =
        file.model.interactions().skip(2).map(|(_, one)| one.relation.size()).collect();
    assert_eq!(sizes, [3, 5, 5, 4, 4, 3, 1, 5, 1, 6]);
    let mut sim = TimeStepping::new(file.model, 1e-3, []).unwrap();
    let run = sim.run(0.01).unwrap();
    let last = |path: &str| *run.signal(path).unwrap().last().unwrap();
    assert!((last("b.omega[2]") + 1.0).abs() < 1e-12);
    assert!((last("disk.angle") - 1.0).abs() < 1e-12);
    assert!((last("a.position[2]") - 0.25).abs() < 1e-3);
    assert_eq!(last("b.orientation[0]").hypot(last("b.orientation[3]")), 1.0);
}

/// What is wrong with them is told where it stands.
#[test]
fn wrong_bodies_are_told_where_they_stand() {
    let base =
        "[simulation]\nh = 1e-3\nuntil = 1\n[[system]]\nname = \"a\"\nkind = \"rigid-body\"\n";
    let cases = [
        ("inertia = [1, 1, 1]\n", "mass"),
        ("mass = -1\ninertia = [1, 1, 1]\n", "`mass` = -1 is outside (0, inf)"),
        ("mass = 1\ninertia = [1, 1, 3]\n", "larger than the sum of the other two"),
        ("mass = 1\ninertia = [1, 1]\n", "`inertia` has length 2, expected 3"),
        ("mass = 1\ninertia = [1, 1, 1]\norientation = [0, 0, 0, 0]\n", "length but zero"),
        ("mass = 1\ninertia = [1, 1, 1]\nforce_frame = \"boddy\"\n", "body"),
        (
            "mass = 1\ninertia = [1, 1, 1]\n[[interaction]]\nname = \"j\"\nsystems = [\"a\"]\n\
             relation = { kind = \"pivot\", point = [0, 0, 0], axis = [0, 0, 0] }\nlaw = \"equality\"\n",
            "has no direction",
        ),
        (
            "mass = 1\ninertia = [1, 1, 1]\n[[interaction]]\nname = \"j\"\nsystems = [\"a\"]\n\
             relation = { kind = \"point-plane\", components = 2 }\nlaw = \"equality\"\n",
            "`components` = 2",
        ),
    ];
    for (keys, expected) in cases {
        let error = ModelFile::parse(&format!("{base}{keys}"), "bodies", &[]).unwrap_err();
        let report = error.report().to_string();
        assert!(report.contains(expected), "{report}");
    }
}

/// The axis of the example's top is between its bounds, on its tip.
#[test]
fn the_spinning_top_stands_on_its_tip() {
    let run = run("spinning-top/model.toml", &[]);
    let heights = run.signal("top.position[2]").unwrap();
    let lowest = heights.iter().fold(1.0_f64, |low, z| low.min(z / 0.3));
    within("lowest", (lowest + 0.493_847_243_688_319_2).abs(), 5e-3);
    let gap = run.signal("tip.y").unwrap();
    within("tip", gap.iter().fold(0.0_f64, |most, y| most.max(y.abs())), 1e-13);
}

/// The crank of the four-bar linkage turns twice, and all rods are where they began.
#[test]
fn the_four_bar_linkage_comes_round() {
    let run = run("four-bar/model.toml", &[]);
    let last = |signal: &str| *run.signal(signal).unwrap().last().unwrap();
    within("crank", (last("crank.angle") - 4.0 * std::f64::consts::PI).abs(), 1e-4);
    within("coupler", (last("coupler.position[0]") - 1.25).abs(), 1e-4);
    within("rocker", last("rocker.angle").abs(), 1e-4);
    for pivot in ["drive", "first", "second", "ground"] {
        let y = run.signal(&format!("{pivot}.y")).unwrap();
        within(pivot, y.iter().fold(0.0_f64, |most, y| most.max(y.abs())), 1e-13);
    }
    let y = run.signal("rocker.angle").unwrap();
    assert!(y.iter().any(|y| y.abs() > 0.3), "it does not move");
}

/// The swing door comes to rest on its stop, which carries what is left of the opener.
#[test]
fn the_swing_door_opens_to_its_stop() {
    let run = run("swing-door/model.toml", &[]);
    let y = run.signal("hinge.limit.y").unwrap();
    let [below, above] = y[y.len() - 2..] else { panic!() };
    within("stop", above.abs(), 1e-3);
    within("angle", (below - 1.5).abs(), 1e-3);
    let lam = run.signal("hinge.limit.lam").unwrap();
    let force = lam[lam.len() - 1] / 1e-3;
    assert!((3.9..=5.1).contains(&force), "{force}");
    let motor = run.signal("hinge.motor.lam").unwrap();
    within(
        "opener",
        motor.iter().fold(0.0_f64, |most, lam| most.max(lam.abs())) / 1e-3 - 6.0,
        1e-9,
    );
    assert!(run.events.iter().all(|event| event.name != "hinge.break"));
}
