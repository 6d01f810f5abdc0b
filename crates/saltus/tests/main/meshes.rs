//! Bodies of triangles: what falls on what, and where its energy goes.

use crate::support::within;
use saltus::mechanics::{BodySpec, ContactPair, Scene, Shape, StaticSpec};
use saltus::prelude::*;

const G: f64 = 9.81;

/// A cube of triangles, two a side.
fn cube(half: f64) -> Shape {
    let corner = |k: u32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { half } else { -half });
    let quads =
        [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Shape::TriangleMesh { points: (0..8).map(corner).collect(), triangles }
}

/// A flat square of `2 n²` triangles at `z = 0`, with two sides.
fn sheet(n: u32, size: f64) -> Shape {
    let place = |k: u32| size * (f64::from(k) / f64::from(n) - 0.5);
    let points = (0..=n).flat_map(|i| (0..=n).map(move |j| [place(j), place(i), 0.0])).collect();
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| i * (n + 1) + j));
    let triangles =
        cells.flat_map(|a| [[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]).collect();
    Shape::TriangleMesh { points, triangles }
}

fn scene(pair: ContactPair) -> Scene {
    let mut scene = Scene::new("meshes").gravity([0.0, 0.0, -G]);
    scene.contacts.push(pair);
    scene
}

fn simulation(scene: &Scene, h: f64) -> TimeStepping {
    TimeStepping::new(scene.model().unwrap(), h, [MoreauJean::default().into()]).unwrap()
}

/// What is left of the energy, with that of the weight.
fn energy(sim: &TimeStepping) -> f64 {
    let ledger = sim.ledger().unwrap();
    ledger.kinetic + ledger.potential - ledger.work
}

/// A cube falls on another one with edges across each other, and on one of the same size that is turned by 45°: no corner of either is in
/// the other. It is held on the edge until it tips over, lies on the other at rest, and no energy is gained.
#[test]
fn cubes_are_held_by_their_edges() {
    let half = std::f64::consts::FRAC_PI_8;
    let (cos, sin) = (half.cos(), half.sin());
    let along_x = [cos, sin, 0.0, 0.0];
    for (ground, falling, z, held) in [
        (along_x, [cos, 0.0, sin, 0.0], 2.0_f64.sqrt(), 500),
        ([1.0, 0.0, 0.0, 0.0], [cos, 0.0, 0.0, sin], 1.0, 1500),
    ] {
        let mut scene = scene(ContactPair::new("default", "default").friction(0.5));
        let mut fixed = StaticSpec::new("ground", cube(0.5));
        fixed.orientation = ground;
        scene.statics.push(fixed);
        let mut body = BodySpec::new("cube", cube(0.5)).mass(1.0).at([0.03, 0.02, z + 0.05]);
        body.orientation = falling;
        scene.bodies.push(body);
        let mut sim = simulation(&scene, 1e-3);
        let id = sim.model().system_id("cube").unwrap();
        let mut before = f64::INFINITY;
        for k in 0..1500 {
            let done = sim.step().unwrap();
            assert!(done.penetration < 1e-4, "{k}: {}", done.penetration);
            assert!(energy(&sim) <= before + 1e-9, "{k}: {} after {before}", energy(&sim));
            before = energy(&sim);
            let high = sim.q(id).unwrap()[2];
            assert!(k >= held || high > z - 2e-3, "{k}: {high}");
        }
        if held == 1500 {
            assert_eq!(sim.v(id).unwrap(), [0.0; 6]);
            within("its height", (sim.q(id).unwrap()[2] - z).abs(), 1e-6);
        }
    }
}

/// Cubes of triangles that tumble into a bin overlap little, gain nothing and come to rest.
#[test]
fn cubes_tumble_into_a_bin() {
    let mut scene = scene(ContactPair::new("default", "default").friction(0.3));
    let walls = [
        ("floor", [0.0, 0.0, 1.0], 0.0),
        ("west", [1.0, 0.0, 0.0], -0.25),
        ("east", [-1.0, 0.0, 0.0], -0.25),
        ("south", [0.0, 1.0, 0.0], -0.25),
        ("north", [0.0, -1.0, 0.0], -0.25),
    ];
    for (name, normal, offset) in walls {
        scene.statics.push(StaticSpec::new(name, Shape::Plane { normal, offset }));
    }
    for k in 0..16 {
        let some = |m: i32| f64::from((k * 37 + m * 11) % 19) / 9.0 - 1.0;
        let cell = [k % 2, k / 2 % 2, k / 4].map(f64::from);
        let at = [0.2 * (cell[0] - 0.5), 0.2 * (cell[1] - 0.5), 0.15 + 0.2 * cell[2]];
        let mut body = BodySpec::new(format!("b{k}"), cube(0.05)).mass(1.0).at(at);
        let p = [1.0, some(1), some(2), some(3)];
        let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
        body.orientation = p.map(|x| x / length);
        let omega = [6, 7, 8].map(|m| 5.0 * some(m));
        scene.bodies.push(body.moving([some(4), some(5), 0.0], omega));
    }
    let mut sim = simulation(&scene, 2e-3);
    let start = energy(&sim);
    for k in 0..500 {
        let done = sim.step().unwrap();
        assert!(done.penetration < 3e-3, "{k}: {}", done.penetration);
        assert!(energy(&sim) <= start * (1.0 + 1e-12), "{k}: {} of {start}", energy(&sim));
    }
    within("what still moves", sim.ledger().unwrap().kinetic, 1e-6);
}

/// On springs a body slides, tumbles and bounces over the triangles of a flat sheet or field as it does on a plane: what it touches begins
/// anew at no edge between them, so that it gains no more than a contact may that closes or opens.
#[test]
fn flat_triangles_are_a_plane_to_springs() {
    let grounds = [
        Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 },
        sheet(7, 4.0),
        sheet(1, 4.0),
        Shape::HeightField { heights: vec![vec![0.0; 8]; 8], size: [4.0; 2] },
        // corners of bodies begin right above some of these
        sheet(40, 4.0),
        Shape::HeightField { heights: vec![vec![0.0; 41]; 41], size: [4.0; 2] },
    ];
    let motions = [
        ([0.0; 3], [0.0; 3], 0.5, 0.0),
        ([2.0, 1.0, 0.0], [0.0; 3], 0.3, 0.0),
        ([2.0, 0.7, 0.0], [3.0, 1.0, 2.0], 0.5, 0.0),
        ([1.0, 0.7, 0.0], [3.0, 1.0, 2.0], 0.0, 0.0),
        ([1.0, 0.7, 0.0], [3.0, 1.0, 2.0], 0.3, 20.0),
    ];
    let (k, h) = (1e4, 1e-3);
    for shape in [Shape::Box { edges: [0.2, 0.3, 0.1] }, cube(0.1)] {
        for (v, omega, mu, damping) in motions {
            let mut on_plane = None;
            for ground in &grounds {
                let pair = ContactPair::new("default", "default").friction(mu).elastic(k, damping);
                let mut scene = scene(pair);
                scene.statics.push(StaticSpec::new("ground", ground.clone()));
                let body = BodySpec::new("body", shape.clone()).mass(1.0).at([-1.0, -0.5, 0.25]);
                scene.bodies.push(body.moving(v, omega));
                let mut sim = simulation(&scene, h);
                let start = energy(&sim);
                // κ/4 with the largest W_NN there is, 1/m + ρ²/J
                let allowed = 0.25 * h * h * k * 7.0 * start;
                for step in 0..800 {
                    sim.step().unwrap();
                    let gained = -sim.ledger().unwrap().numerical;
                    let what = (ground.name(), shape.name(), v, mu);
                    assert!(gained < allowed, "{what:?} {step}: {gained} of {start}");
                }
                let id = sim.model().system_id("body").unwrap();
                let q = sim.q(id).unwrap().to_vec();
                let known = on_plane.get_or_insert_with(|| q.clone());
                let apart = known.iter().zip(&q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                within(&format!("{} {} {v:?}", ground.name(), shape.name()), apart, 1e-8);
            }
        }
    }
}
