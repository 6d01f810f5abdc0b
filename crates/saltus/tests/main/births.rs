//! Bodies that are born and die while a scene runs: they fall from birth to death, and rest before and
//! after.

use crate::support::within;
use saltus::io::model_file::ModelFile;
use saltus::mechanics::{BodySpec, Scene, Shape, StaticSpec};
use saltus::prelude::*;

const G: f64 = 10.0;
const BIRTH: f64 = 0.2;
const DEATH: f64 = 0.5;

fn drop(v: f64) -> BodySpec {
    let mut body = BodySpec::new("drop", Shape::Sphere { radius: 0.1 });
    body.mass = Some(1.0);
    body.position = [0.0, 0.0, 1.0];
    body.v = [0.0, 0.0, v];
    (body.birth, body.death) = (Some(BIRTH), Some(DEATH));
    body
}

/// `z = 1 + v t − g t²/2` from birth to death, to round-off, at every recorded instant.
fn check(scene: &Scene, h: f64, v: f64) {
    let integrators = [MoreauJean::default().into()];
    let mut sim = TimeStepping::new(scene.model().unwrap(), h, integrators).unwrap();
    let run = sim.run(1.0).unwrap();
    let (height, speed) =
        (run.signal("drop.position[2]").unwrap(), run.signal("drop.v[2]").unwrap());
    for (row, &t) in run.frames.time.iter().enumerate() {
        let lived = t.clamp(BIRTH, DEATH) - BIRTH;
        let expected = 1.0 + v * lived - 0.5 * G * lived * lived;
        within(&format!("height at {t} s"), (height[row] - expected).abs(), 1e-12);
        // at birth and death it is the velocity after the event
        let tiny = 1e-9;
        let is_there = t > BIRTH - tiny && t < DEATH - tiny;
        let expected = if is_there { v - G * lived } else { 0.0 };
        within(&format!("speed at {t} s"), (speed[row] - expected).abs(), 1e-12);
    }
}

fn scene(v: f64) -> Scene {
    let mut scene = Scene::new("drop").gravity([0.0, 0.0, -G]);
    scene.bodies.push(drop(v));
    scene
}

#[test]
fn a_drop_falls_from_birth_to_death() {
    check(&scene(0.0), 1e-2, 0.0);
    check(&scene(0.7), 1e-2, 0.7);
    // steps that births and deaths cut
    check(&scene(0.7), 3e-3, 0.7);
}

/// Likewise where there is something that it could touch.
#[test]
fn a_drop_above_a_floor_falls_from_birth_to_death() {
    let mut scene = scene(0.0);
    let plane = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: -3.0 };
    scene.statics.push(StaticSpec::new("floor", plane));
    check(&scene, 1e-2, 0.0);
}

/// A belt carries, and a lift lifts, also where a body is born.
#[test]
fn what_moves_as_it_is_told_does_so_beside_births() {
    let text = |birth: &str| {
        format!(
            "[simulation]\nh = 1e-3\nuntil = 0.5\n[scene]\ngravity = [0, 0, -10]\n
            [[contact]]\nmaterials = ['default', 'default']\nmu = 0.5\n
            [[static]]\nname = 'belt'\nshape = {{ kind = 'plane' }}\ndrive = {{ position = [0, 0, 't/4'], surface = [1, 0, 0] }}\n
            [[body]]\nname = 'parcel'\nshape = {{ kind = 'box', size = [1, 1, 0.1] }}\nmass = 1\nposition = [0, 0, 0.05]\n
            [[body]]\nname = 'late'\nshape = {{ kind = 'sphere', radius = 0.1 }}\nmass = 1\nposition = [9, 0, 9]\n{birth}"
        )
    };
    for birth in ["", "birth = 0.4", "death = 0.4"] {
        let file = ModelFile::parse(&text(birth), "scene.toml", &[]).unwrap();
        let mut sim = TimeStepping::new(file.model, 1e-3, []).unwrap();
        let run = sim.run(0.5).unwrap();
        // carried along by friction, at 5 m/s², up to the speed of the belt
        for (signal, expected) in [("parcel.v[0]", 1.0), ("parcel.v[2]", 0.25)] {
            let last = run.signal(signal).unwrap().last().copied().unwrap();
            within(&format!("{signal} {birth}"), (last - expected).abs(), 1e-6);
        }
    }
}
