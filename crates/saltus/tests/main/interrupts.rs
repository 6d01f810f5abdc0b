//! Steps that are interrupted change nothing, and what follows is what a run does that was never interrupted, bit
//! for bit: wherever in the step that is, for all schemes, solvers and scenes.

use crate::checkpoints::{self, Case, bits};
use saltus::mechanics::{
    BodySpec, ContactPair, Joint, JointLink, Material, Scene, Shape, StaticSpec,
};
use saltus::numerics::{AutoSettings, Interrupt, Solver};
use saltus::prelude::*;
use saltus::sim::{
    Checkpoint, CheckpointEvery, Checkpoints, NewtonSettings, Outcome, SimError, Strategy,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// An interrupt that is due once it has been asked for so often.
fn countdown() -> (Interrupt, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&left);
    let less = |left: usize| left.checked_sub(1);
    let look = move || asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err();
    (Interrupt::looking(look), left)
}

/// Every step is interrupted at its first question, then at its second, its fourth … until it is done; after some of
/// these another simulation goes on from a checkpoint. How often it was interrupted; nothing where the scheme is not made for the model.
fn check(case: &Case) -> Option<usize> {
    let (name, mut whole, mut parts) = (&case.name, case.build().ok()?, case.build().ok()?);
    let (interrupt, left) = countdown();
    parts.listen(Some(&interrupt));
    let mut stopped = 0;
    for step in 1..=case.most {
        let a = whole.step();
        let mut questions = 0;
        let b = loop {
            interrupt.reset();
            left.store(questions, Ordering::Relaxed);
            let before = bits(&parts);
            match parts.step() {
                Err(SimError::Interrupted { .. }) => {
                    assert_eq!(bits(&parts), before, "{name}: step {step} after {questions}");
                }
                done => break done,
            }
            stopped += 1;
            questions = 2 * questions + 1;
            if stopped % 29 == 0 {
                let checkpoint = parts.checkpoint();
                parts = case.build().unwrap();
                parts.restore(&checkpoint).unwrap();
                parts.listen(Some(&interrupt));
            }
        };
        assert_eq!(a.is_ok(), b.is_ok(), "{name}: step {step}: {a:?} and {b:?}");
        let (Ok(a), Ok(b)) = (a, b) else { break };
        assert_eq!((a, bits(&whole)), (b, bits(&parts)), "{name}: step {step}");
    }
    assert_eq!(whole.totals(), parts.totals(), "{name}");
    Some(stopped)
}

#[test]
fn every_example_as_it_is() {
    let examples = checkpoints::examples().into_iter();
    let stopped: usize =
        examples.map(|(name, file)| check(&checkpoints::case(&name, &file, 40)).unwrap()).sum();
    assert!(stopped > 300, "{stopped}");
}

#[test]
fn every_scheme_on_every_example() {
    for (k, scheme) in checkpoints::schemes().into_iter().enumerate() {
        for (name, file) in checkpoints::examples() {
            let mut case = checkpoints::case(&format!("{name} by scheme {k}"), &file, 8);
            case.integrators = vec![scheme.clone()];
            check(&case);
        }
    }
}

#[test]
fn every_solver_on_every_example() {
    for solver in Solver::NAMES {
        for (name, file) in checkpoints::examples() {
            let mut case = checkpoints::case(&format!("{name} by {solver}"), &file, 12);
            case.solver = Solver::from_name(solver).unwrap();
            check(&case);
        }
    }
}

/// A part that can be interrupted, of many pendulums, beside some that are too quick for it.
#[test]
fn several_schemes_at_once() {
    const MANY: usize = 65;
    let mut case = Case { most: 300, ..checkpoints::mixed() };
    let row = |i| std::array::from_fn(|k| f64::from(u8::from(i == k)));
    let mass: [[f64; MANY]; MANY] = std::array::from_fn(row);
    let force = Operator::vector(MANY, |at, out| {
        out.iter_mut().zip(at.first).for_each(|(out, q)| *out = 9.81 * q.sin());
    });
    let many = Lagrangian::new([1.0; MANY], [0.0; MANY], mass).F_int(force);
    case.model.add("many", many).unwrap();
    let systems = vec!["many".to_string()];
    case.integrators.push(MoreauJean { systems, ..Default::default() }.into());
    assert!(check(&case).unwrap() > 300);
}

/// Balls and boxes in a bin.
fn heap(across: usize, layers: usize) -> Scene {
    let width = 0.12 * across as f64;
    let mut scene = Scene::new("heap").gravity([0.0, 0.0, -9.81]);
    scene.materials.push(Material::new("stone", 1000.0));
    scene.contacts.push(ContactPair::new("stone", "stone").friction(0.5));
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
    for k in 0..across * across * layers {
        let place = [k % across, k / across % across, k / (across * across)];
        let [x, y, z] = place.map(|place| 0.12 * (place as f64 + 0.5));
        let aside = |i: usize| 0.01 * (((k * 37 + i * 11) % 19) as f64 / 9.0 - 1.0);
        let shape = match k % 2 {
            0 => Shape::Sphere { radius: 0.055 },
            _ => Shape::Box { edges: [0.1, 0.09, 0.11] },
        };
        let body = BodySpec::new(format!("b{k}"), shape).of("stone");
        scene.bodies.push(body.at([x + aside(0), y + aside(1), z]));
    }
    scene
}

fn case(name: &str, scene: &Scene, tol: f64, most: usize) -> Case {
    let settings = AutoSettings { tol, threads: 1, ..AutoSettings::default() };
    Case {
        name: name.to_string(),
        model: scene.model().unwrap(),
        steps: 5e-3.into(),
        integrators: vec![MoreauJean::default().into()],
        newton: NewtonSettings::default(),
        solver: Solver::Auto(settings),
        most,
    }
}

#[test]
fn heaps() {
    let stopped = check(&case("a heap", &heap(3, 3), 1e-10, 60)).unwrap();
    assert!(stopped > 200, "{stopped}");
    // near what numbers can resolve: methods that take long, and parts of steps
    check(&case("a heap near round-off", &heap(3, 3), 1e-14, 40));
    let mut soft = heap(3, 3);
    soft.contacts[0] = soft.contacts[0].clone().elastic(1e5, 50.0);
    check(&case("a soft heap", &soft, 1e-10, 60));
    let mut rolling = heap(3, 2);
    rolling.contacts[0] = rolling.contacts[0].clone().rolling(1e-3);
    check(&case("a heap that resists rolling", &rolling, 1e-8, 30));
}

/// Pendulums with friction in their joints, which run into a heap.
#[test]
fn joints_and_contacts() {
    let mut scene = heap(3, 1);
    for k in 0..3 {
        let name = format!("pendulum {k}");
        let body = BodySpec::new(&name, Shape::Sphere { radius: 0.05 }).of("stone");
        scene
            .bodies
            .push(body.at([0.18 + 0.2 * k as f64, 0.18, 0.2]).moving([-2.0, 0.3, 0.0], [0.0; 3]));
        let joint = Joint::Pivot { point: [0.18, 0.18, 0.5], axis: [0.0, 1.0, 0.0] };
        let joint = JointLink::new(format!("joint {k}"), joint, &[&name]);
        scene.joints.push(joint);
    }
    assert!(check(&case("joints", &scene, 1e-10, 25)).unwrap() > 100);
}

/// What a run does besides: it is told as interrupted, keeps its rows, ends at the last whole step, and writes the checkpoint
/// of it; from there it goes on.
#[test]
fn a_run_ends_in_the_middle_of_a_step() {
    let case = case("a run", &heap(3, 2), 1e-10, 0);
    let whole = case.build().unwrap().run(0.2).unwrap();
    let width = whole.layout.width();
    for questions in [0, 1, 2, 50, 300] {
        let (interrupt, left) = countdown();
        left.store(questions, Ordering::Relaxed);
        let mut last: Option<Checkpoint> = None;
        let mut keep = |checkpoint: &Checkpoint| {
            last = Some(checkpoint.clone());
            Ok(())
        };
        let checkpoints =
            Some(Checkpoints { every: CheckpointEvery::Steps(1000), keep: &mut keep });
        let options =
            RunOptions { interrupt: Some(&interrupt), checkpoints, ..RunOptions::default() };
        let mut sim = case.build().unwrap();
        let run = sim.run_with(0.2, options).unwrap();
        let done = run.stats.steps;
        assert_eq!((&run.stats.outcome, run.stats.failures), (&Outcome::Interrupted, 0));
        assert!(done < 40 && run.frames.len() == done + 1);
        assert_eq!(run.frames.rows, whole.frames.rows[..(done + 1) * width]);
        assert_eq!(sim.t(), run.frames.time[done]);
        // the same simulation, and another one from the checkpoint
        let mut other = case.build().unwrap();
        other.restore(&last.unwrap()).unwrap();
        for mut sim in [sim, other] {
            let rest = sim.run(0.2).unwrap();
            assert_eq!(rest.stats.outcome, Outcome::Complete);
            assert_eq!(rest.frames.rows, whole.frames.rows[done * width..]);
        }
    }
}

/// Another thread asks while a step is in work: it is told of a question, asks to stop, and the step goes on to the next.
#[test]
fn another_thread_asks() {
    let (tell, told) = mpsc::channel::<()>();
    let (answer, answered) = mpsc::channel::<()>();
    let channel = std::sync::Mutex::new((tell, answered, 0));
    let interrupt = Interrupt::looking(move || {
        let mut channel = channel.lock().unwrap();
        channel.2 += 1;
        if channel.2 == 40 {
            channel.0.send(()).unwrap();
            channel.1.recv().unwrap();
        }
        false
    });
    let case = case("another thread", &heap(3, 2), 1e-10, 0);
    let mut sim = case.build().unwrap();
    let run = std::thread::scope(|scope| {
        let other = interrupt.clone();
        scope.spawn(move || {
            told.recv().unwrap();
            other.stop();
            answer.send(()).unwrap();
        });
        let options = RunOptions { interrupt: Some(&interrupt), ..RunOptions::default() };
        sim.run_with(10.0, options).unwrap()
    });
    assert_eq!(run.stats.outcome, Outcome::Interrupted);
    let whole = case.build().unwrap().run(sim.t()).unwrap();
    assert_eq!(run.frames.rows, whole.frames.rows);
}

/// A force that asks to stop in the middle of a step, which is quick and ends before the run does.
#[test]
fn a_force_asks() {
    let interrupt = Interrupt::default();
    let set = interrupt.clone();
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let model = |when: usize| {
        let (set, count) = (set.clone(), Arc::clone(&count));
        count.store(0, Ordering::Relaxed);
        let force = Operator::vector(1, move |at, out| {
            if count.fetch_add(1, Ordering::Relaxed) == when {
                set.stop();
            }
            out[0] = 9.81 * at.first[0].sin();
        });
        let mut model = Model::new("pendulum");
        let system = Lagrangian::new([1.0], [0.0], [[1.0]]).F_int(force);
        model.add("pendulum", system).unwrap();
        model
    };
    let sim = |when| TimeStepping::new(model(when), 0.01, []).unwrap();
    let whole = sim(usize::MAX).run(1.0).unwrap();
    let of_all = calls.load(Ordering::Relaxed);
    let mut sim = sim(of_all / 2);
    let options = RunOptions { interrupt: Some(&interrupt), ..RunOptions::default() };
    let run = sim.run_with(1.0, options).unwrap();
    let (done, width) = (run.stats.steps, whole.layout.width());
    assert_eq!(run.stats.outcome, Outcome::Interrupted);
    assert!(done > 0 && done < 100, "{done}");
    assert_eq!(run.frames.rows, whole.frames.rows[..(done + 1) * width]);
    let rest = sim.run(1.0).unwrap();
    assert_eq!(rest.frames.rows, whole.frames.rows[done * width..]);
}
