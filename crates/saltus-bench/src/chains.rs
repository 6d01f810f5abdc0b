//! Chains of links on pivots beside Siconos and MuJoCo.
//!
//! Boxes hang on each other by pivots with axis y, let go from the horizontal. Every engine gets the same
//! bodies in maximal coordinates, in MuJoCo free bodies whose pivots are closed by two points of the
//! axis each, and tells the processor time of a step, the best of runs over two seconds, five at least. The gap is the largest
//! distance of two points of an axis that a pivot holds together, over all steps of a run.

use cpu_time::ProcessTime;
use saltus::mechanics::{BodySpec, Joint, JointLink, Scene};
use saltus::model::rotation::{Vector, add, norm, rotate, sub};
use saltus::sim::TimeStepping;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const LENGTH: f64 = 0.1;
const WIDTH: f64 = 0.02;
const MASS: f64 = 0.1;
const GRAVITY: f64 = 9.81;
const H: f64 = 1e-3;
const REPEATS: usize = 5;
const SECONDS: f64 = 2.0;

/// What one engine did.
struct Answer {
    seconds: f64,
    gap: f64,
}

pub fn run(arguments: &[String]) -> ExitCode {
    let mut sizes = Vec::new();
    let (mut alone, mut steps) = (false, 1000);
    let mut left = arguments.iter();
    while let Some(one) = left.next() {
        match one.as_str() {
            "--alone" => alone = true,
            "--steps" => match left.next().and_then(|text| text.parse().ok()) {
                Some(count) if count > 0 => steps = count,
                _ => {
                    eprintln!("--steps: expected a positive number");
                    return ExitCode::from(2);
                }
            },
            text => match text.parse() {
                Ok(size) => sizes.push(size),
                Err(_) => {
                    eprintln!("chains [LINKS...] [--alone] [--steps N]; `{text}` is none of these");
                    return ExitCode::from(2);
                }
            },
        }
    }
    if sizes.is_empty() {
        sizes = vec![10, 30, 100];
    }
    println!("| links | engine | a step | to Saltus | gap |");
    println!("| --- | --- | --- | --- | --- |");
    for size in sizes {
        let ours = match saltus(size, steps) {
            Ok(ours) => ours,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        };
        let row = |engine: &str, one: &Answer| {
            let (time, ratio) = (crate::time(Some(one.seconds)), one.seconds / ours.seconds);
            println!("| {size} | {engine} | {time} | {ratio:.1} | {:.1e} m |", one.gap);
        };
        row("Saltus", &ours);
        if alone {
            continue;
        }
        let mujoco = std::env::var("CHAINS_PYTHON").unwrap_or_else(|_| "python3".to_string());
        let siconos = crate::peers::siconos_interpreter();
        let peers = [("MuJoCo", mujoco, "mujoco"), ("Siconos", siconos, "siconos")];
        for (name, interpreter, script) in peers {
            if let Some(one) = peer(&interpreter, script, size, steps) {
                row(name, &one);
            }
        }
    }
    ExitCode::SUCCESS
}

fn scene(links: usize) -> Scene {
    let mut scene = Scene::new("chain").gravity([0.0, 0.0, -GRAVITY]);
    let (along, across) = (WIDTH * WIDTH, LENGTH * LENGTH + WIDTH * WIDTH);
    let [along, across] = [2.0 * along, across].map(|square| MASS * square / 12.0);
    for k in 0..links {
        let mut body = BodySpec::without_shape(format!("link{k}"));
        body.position = [(k as f64 + 0.5) * LENGTH, 0.0, 0.0];
        body.mass = Some(MASS);
        body.inertia = Some([[along, 0.0, 0.0], [0.0, across, 0.0], [0.0, 0.0, across]]);
        scene.bodies.push(body);
        let (point, axis) = ([k as f64 * LENGTH, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let (own, last) = (format!("link{k}"), format!("link{}", k.wrapping_sub(1)));
        let bodies = if k == 0 { &[&*own][..] } else { &[&*own, &*last][..] };
        let pivot = JointLink::new(format!("pivot{k}"), Joint::Pivot { point, axis }, bodies);
        scene.joints.push(pivot);
    }
    scene
}

fn saltus(links: usize, steps: usize) -> Result<Answer, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let start = || {
        let model = scene(links).model().map_err(|e| said(&e))?;
        TimeStepping::new(model, H, []).map_err(|e| said(&e))
    };
    let (mut seconds, mut runs, whole) = (f64::INFINITY, 0, ProcessTime::now());
    while runs < REPEATS || whole.elapsed().as_secs_f64() < SECONDS {
        runs += 1;
        let mut sim = start()?;
        let begin = ProcessTime::now();
        for _ in 0..steps {
            sim.step().map_err(|e| said(&e))?;
        }
        seconds = seconds.min(begin.elapsed().as_secs_f64() / steps as f64);
    }
    let mut sim = start()?;
    let ids: Vec<_> = (0..links)
        .map(|k| sim.model().system_id(&format!("link{k}")))
        .collect::<Result<_, _>>()
        .map_err(|e| said(&e))?;
    let mut gap = 0.0_f64;
    for _ in 0..steps {
        sim.step().map_err(|e| said(&e))?;
        let place = |k: usize, point: Vector| {
            let q = sim.q(ids[k]).map_err(|e| said(&e))?;
            let turned = rotate([q[3], q[4], q[5], q[6]], point);
            Ok::<_, String>(add([q[0], q[1], q[2]], turned))
        };
        for k in 0..links {
            for y in [-0.5 * WIDTH, 0.5 * WIDTH] {
                let other = match k {
                    0 => [0.0, y, 0.0],
                    _ => place(k - 1, [0.5 * LENGTH, y, 0.0])?,
                };
                gap = gap.max(norm(sub(place(k, [-0.5 * LENGTH, y, 0.0])?, other)));
            }
        }
    }
    Ok(Answer { seconds, gap })
}

/// What a peer says; nothing where it is not installed.
fn peer(interpreter: &str, name: &str, links: usize, steps: usize) -> Option<Answer> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/chains");
    let mut command = Command::new(interpreter);
    command.arg(folder.join(format!("{name}_chain.py"))).env("OMP_NUM_THREADS", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let chain = json!({
        "links": links, "length": LENGTH, "width": WIDTH, "mass": MASS, "gravity": GRAVITY,
        "h": H, "steps": steps, "repeats": REPEATS, "least": SECONDS,
    });
    child.stdin.take()?.write_all(chain.to_string().as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Value = text.lines().find_map(|line| serde_json::from_str(line).ok())?;
    Some(Answer { seconds: answer["seconds"].as_f64()?, gap: answer["gap"].as_f64()? })
}
