//! Scenes of many bodies: the same bits for any number of threads, and results that do not depend on
//! the order of the bodies.

use crate::support::within;
use saltus::mechanics::{BodySpec, ContactPair, Material, Scene, Shape, StaticSpec};
use saltus::numerics::{AutoSettings, Solver};
use saltus::prelude::*;

/// An empty bin of this width, whose walls and contents rub.
fn bin(width: f64, mu: f64) -> Scene {
    let mut scene = Scene::new("bin").gravity([0.0, 0.0, -9.81]);
    scene.materials.push(Material::new("stone", 1000.0));
    scene.contacts.push(ContactPair::new("stone", "stone").friction(mu));
    let walls = [
        ("floor", [0.0, 0.0, 1.0], 0.0),
        ("west", [1.0, 0.0, 0.0], 0.0),
        ("east", [-1.0, 0.0, 0.0], -width),
        ("south", [0.0, 1.0, 0.0], 0.0),
        ("north", [0.0, -1.0, 0.0], -width),
    ];
    for (name, normal, offset) in walls {
        scene.statics.push(StaticSpec::new(name, Shape::Plane { normal, offset }).of("stone"));
    }
    scene
}

fn simulation(model: Model, tol: f64, threads: usize) -> TimeStepping {
    let solver = Solver::Auto(AutoSettings { tol, threads, ..AutoSettings::default() });
    TimeStepping::with_solver(model, 5e-3, [MoreauJean::default().into()], &solver).unwrap()
}

/// Configurations and velocities of all bodies, by name.
fn states(sim: &TimeStepping, names: &[String]) -> [Vec<f64>; 2] {
    let ids = || names.iter().map(|name| sim.model().system_id(name).unwrap());
    let q = ids().flat_map(|id| sim.q(id).unwrap().to_vec()).collect();
    let v = ids().flat_map(|id| sim.v(id).unwrap().to_vec()).collect();
    [q, v]
}

fn names(scene: &Scene) -> Vec<String> {
    scene.bodies.iter().map(|body| body.name.clone()).collect()
}

/// Spheres and boxes on the floor that run into each other.
fn crowd() -> Scene {
    let across = 21;
    let mut scene = bin(0.12 * across as f64, 0.4);
    for k in 0..across * across {
        let (x, y) = ((k % across) as f64 + 0.5, (k / across) as f64 + 0.5);
        let push = |i: usize| 0.9 * ((k * 37 + i * 11) % 19) as f64 / 9.0 - 0.9;
        let shape = match k % 2 {
            0 => Shape::Sphere { radius: 0.05 },
            _ => Shape::Box { edges: [0.08, 0.09, 0.1] },
        };
        let body = BodySpec::new(format!("b{k}"), shape).of("stone");
        let body = body.at([0.12 * x, 0.12 * y, 0.05]);
        scene.bodies.push(body.moving([push(0), push(1), 0.0], [0.0, 0.0, push(2)]));
    }
    scene
}

/// All rows and contacts of a run, with so many threads.
fn recorded(threads: usize) -> (Vec<f64>, Vec<f64>) {
    let run = simulation(crowd().model().unwrap(), 1e-6, threads).run(0.1).unwrap();
    let contacts = &run.frames.contacts;
    assert!(contacts.len() > 2000, "{}", contacts.len());
    let flat = |all: &[[f64; 3]]| all.iter().flatten().copied().collect::<Vec<f64>>();
    let mut figures = contacts.gap.clone();
    figures.extend(flat(&contacts.point));
    figures.extend(flat(&contacts.impulse));
    (run.frames.rows.clone(), figures)
}

/// The work of contact finding is shared by threads; two simulations in two threads at once are no
/// matter either.
#[test]
fn threads_do_not_change_a_bit() {
    let one = recorded(1);
    let bits = |(rows, contacts): &(Vec<f64>, Vec<f64>)| -> Vec<u64> {
        rows.iter().chain(contacts).map(|x| x.to_bits()).collect()
    };
    let expected = bits(&one);
    std::thread::scope(|scope| {
        let at_once = [2, 3, 0].map(|threads| scope.spawn(move || recorded(threads)));
        for (run, threads) in at_once.into_iter().zip([2, 3, 0]) {
            assert!(bits(&run.join().unwrap()) == expected, "{threads} threads");
        }
    });
}

/// Bodies in the order of a scene, and in another one.
fn shuffled(mut scene: Scene) -> Scene {
    scene.bodies.reverse();
    let (n, bodies) = (scene.bodies.len(), &mut scene.bodies);
    (0..n).step_by(3).for_each(|k| bodies.swap(k, (7 * k + 3) % n));
    scene.statics.reverse();
    scene
}

/// The largest difference.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (x, y)| most.max((x - y).abs()))
}

/// Balls that fall into a bin of 2 by 2 of them.
fn falling(count: usize) -> Scene {
    let mut scene = bin(0.5, 0.5);
    for k in 0..count {
        let (i, j, l) = (k % 2, k / 2 % 2, k / 4);
        let shift = 2e-3 * ((k * 7) % 5) as f64;
        let place = [0.13 + 0.22 * i as f64 - shift, 0.12 + 0.23 * j as f64 + shift];
        let place = [place[0], place[1], 0.11 + 0.21 * l as f64];
        let ball = BodySpec::new(format!("ball{k}"), Shape::Sphere { radius: 0.1 }).of("stone");
        scene.bodies.push(ball.at(place).mass(1.0 + 0.1 * k as f64));
    }
    scene
}

/// The order of the bodies changes no step by more than the solver's tolerance: from the same state, in
/// a heap that falls, is hit and wedges itself.
#[test]
fn the_order_of_bodies_does_not_change_a_step() {
    let (tol, scene) = (1e-8, falling(20));
    let (names, model) = (names(&scene), scene.model().unwrap());
    let other = shuffled(scene).model().unwrap();
    let mut sim = simulation(model.clone(), tol, 1);
    for step in 0..100 {
        let [q, v] = states(&sim, &names);
        let one_step = |model: &Model| {
            let mut sim = simulation(model.clone(), tol, 1);
            for (k, name) in names.iter().enumerate() {
                let id = sim.model().system_id(name).unwrap();
                let (q, v) = (&q[7 * k..7 * k + 7], &v[6 * k..6 * k + 6]);
                sim.set_qv(id, Some(q), Some(v)).unwrap();
            }
            sim.step().unwrap();
            states(&sim, &names)
        };
        let (a, b) = (one_step(&model), one_step(&other));
        // velocities are some m/s, and a residual of 1e-8 leaves them open by a few times that
        within(&format!("velocities after step {step}"), apart(&a[1], &b[1]), 1e-6);
        within(&format!("places after step {step}"), apart(&a[0], &b[0]), 1e-8);
        sim.step().unwrap();
    }
}

/// Stacks of three cubes that slide, and soon tip over their leading edges.
fn stacks() -> Scene {
    let mut scene = bin(4.0, 0.4);
    for k in 0..12 {
        let (row, place) = (k / 4, k % 4);
        let at = [0.5 + 0.5 * place as f64, 1.0 + 0.1 * place as f64, 0.1 + 0.2 * row as f64];
        let cube = BodySpec::new(format!("cube{k}"), Shape::Box { edges: [0.2; 3] }).of("stone");
        scene.bodies.push(cube.at(at).moving([0.5, 0.2, 0.0], [0.0; 3]));
    }
    scene
}

/// Nor does it change a run, as long as the motion itself does not part what is next to each other, and
/// steps have one answer only.
#[test]
fn the_order_of_bodies_does_not_change_a_run() {
    // a wall that slides, whose bricks lie on two others each
    let mut wall = bin(4.0, 0.4);
    for k in 0..12 {
        let (row, place) = (k / 4, k % 4);
        let at = [0.5 + 0.31 * place as f64 + 0.1 * (row % 2) as f64, 1.0, 0.1 + 0.2 * row as f64];
        let brick = BodySpec::new(format!("brick{k}"), Shape::Box { edges: [0.3, 0.2, 0.2] });
        wall.bodies.push(brick.of("stone").at(at).moving([0.5, 0.0, 0.0], [0.0; 3]));
    }
    // the residual of 1e-8 adds up from step to step; the stacks have several answers later, see below
    for (scene, steps, tolerance) in
        [(stacks(), 20, 1e-12), (wall, 60, 1e-8), (falling(20), 40, 1e-6)]
    {
        let names = names(&scene);
        let mut one = simulation(scene.model().unwrap(), 1e-8, 1);
        let mut other = simulation(shuffled(scene).model().unwrap(), 1e-8, 1);
        for step in 0..steps {
            one.step().unwrap();
            other.step().unwrap();
            let (a, b) = (states(&one, &names), states(&other, &names));
            within(&format!("places after step {step}"), apart(&a[0], &b[0]), tolerance);
        }
    }
}

/// Coulomb's law does not say everything. Once a stack has tipped onto two of its corners, the friction
/// between its cubes is at its limit while they hardly slide, and the law has several solutions: from one
/// state, all orders of the bodies give answers whose residual is below 1e-10, and the velocities of
/// two of them differ by a centimeter a second. In a run the order of the bodies decides which one is
/// taken; no tolerance does.
#[test]
fn a_step_may_have_several_answers() {
    let (scene, tol) = (stacks(), 1e-10);
    let names = names(&scene);
    let mut sim = simulation(scene.model().unwrap(), 1e-8, 1);
    let answers = |sim: &TimeStepping| -> Vec<Vec<f64>> {
        let [q, v] = states(sim, &names);
        let others = (0..12).map(|k| {
            let mut scene = scene.clone();
            scene.bodies.rotate_left(k);
            scene
        });
        let one_step = |scene: Scene| {
            let mut sim = simulation(scene.model().unwrap(), tol, 1);
            for (k, name) in names.iter().enumerate() {
                let id = sim.model().system_id(name).unwrap();
                let (q, v) = (&q[7 * k..7 * k + 7], &v[6 * k..6 * k + 6]);
                sim.set_qv(id, Some(q), Some(v)).unwrap();
            }
            assert!(sim.step().unwrap().residual <= tol);
            let [_, v] = states(&sim, &names);
            v
        };
        others.chain([shuffled(scene.clone())]).map(one_step).collect()
    };
    let widest = |all: &[Vec<f64>]| {
        let pairs = all.iter().flat_map(|a| all.iter().map(move |b| apart(a, b)));
        pairs.fold(0.0, f64::max)
    };
    for _ in 0..19 {
        sim.step().unwrap();
    }
    within("velocities while the stacks slide", widest(&answers(&sim)), 1e-9);
    for _ in 0..4 {
        sim.step().unwrap();
    }
    let apart = widest(&answers(&sim));
    assert!(apart > 1e-3, "{apart:e}");
}

/// A heap is no more chaotic than its bodies: of two that differ by 1e-12 m at first neither the last
/// digits of velocities at rest nor the order of anything makes other ones.
#[test]
fn a_small_difference_stays_small() {
    let scene = falling(20);
    let names = names(&scene);
    let mut moved = scene.clone();
    for (k, body) in moved.bodies.iter_mut().enumerate() {
        body.position[0] += 1e-13 * ((k * 31 % 17) as f64 - 8.0);
        body.position[1] += 1e-13 * ((k * 13 % 11) as f64 - 5.0);
    }
    let mut one = simulation(scene.model().unwrap(), 1e-8, 1);
    let mut other = simulation(moved.model().unwrap(), 1e-8, 1);
    for _ in 0..50 {
        one.step().unwrap();
        other.step().unwrap();
    }
    let (a, b) = (states(&one, &names), states(&other, &names));
    within("places", apart(&a[0], &b[0]), 1e-9);
}
