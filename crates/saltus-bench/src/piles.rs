//! Piles of spheres and boxes in a bin beside MuJoCo, Bullet, Rapier and Siconos.
//!
//! Bodies of a loose lattice, jittered and turned, fall into a bin and come to rest: friction 0.7, no
//! restitution, one second at 5 ms. Every engine gets the same scene and tells its processor time a
//! step; penetrations are measured here, by our own contact finding, on the bodies where each engine
//! left them. How far contacts are from Signorini's and Coulomb's law is measured here too, from what
//! each engine says of impulses `r` and velocities `u` after its last step: the distance
//!
//! ```text
//! ‖r − P(r − u − μ ‖u_T‖ n)‖,    P the projection onto ‖r_T‖ ≤ μ r_N
//! ```
//!
//! and that from Coulomb's law alone, with the normal impulse as it is: `‖r_T − P(r_T − u_T)‖` with the disk `‖r_T‖ ≤ μ r_N`. Here `r`
//! is in units of the mean normal impulse and `u` in units of `g h`; an open gap of a peer counts
//! as velocity of the normal, `gap/h`; of ours the closed contacts count. Several tolerances give several rows of ours;
//! ratios are to the first row, over the steps that both did. `--springs K C` are rows of ours with contacts that give way by springs and dampers; those of
//! rigid contacts then take a `--tol`. No engine begins a step after `--patience` seconds of the processor (600), which its row
//! says; the first steps, which fall freely, are the cheap ones.

use cpu_time::ProcessTime;
use saltus::mechanics::{BodySpec, ContactPair, Material, Scene, Shape, StaticSpec};
use saltus::model::rotation::{dot, tangents};
use saltus::model::{Model, Moment};
use saltus::numerics::{AutoSettings, Solver};
use saltus::sim::{MoreauJean, TimeStepping};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Length of a step.
const H: f64 = 5e-3;
/// Friction.
const MU: f64 = 0.7;
/// Radius of spheres; boxes have edges a bit shorter than their diameter.
const RADIUS: f64 = 0.05;
const EDGE: f64 = 0.09;
/// Edge of a cell of the lattice.
const CELL: f64 = 0.11;
/// Gap up to which a contact of ours counts as closed.
const CLOSED: f64 = 1e-9;
/// Residual of every step, relative, unless others are asked for.
pub const TOLERANCE: f64 = 1e-6;

/// Seconds of the processor after which no engine begins a step, unless others are asked for.
const PATIENCE: usize = 600;

/// What one engine did.
struct Answer {
    steps: usize,
    /// A step.
    seconds: f64,
    /// Seconds after each step, of ours.
    clock: Vec<f64>,
    poses: Vec<Vec<f64>>,
    residual: Option<Distance>,
    note: String,
}

/// Distances of contacts from the law, in units of the mean normal impulse and of g h.
struct Distance {
    worst: f64,
    /// Root mean square.
    mean: f64,
    /// The same of friction alone.
    friction: f64,
}

/// What is asked.
struct Asked {
    kinds: Vec<&'static str>,
    sizes: Vec<usize>,
    alone: bool,
    steps: usize,
    patience: usize,
    tolerances: Vec<f64>,
    springs: Vec<Springs>,
}

/// Stiffness and damping of contacts.
pub type Springs = [f64; 2];

fn parsed(arguments: &[String]) -> Result<Asked, &str> {
    let (sizes, tolerances) = (Vec::new(), Vec::new());
    let (kinds, springs) = (Vec::new(), Vec::new());
    let (steps, patience) = (200, PATIENCE);
    let mut asked = Asked { kinds, sizes, alone: false, steps, patience, tolerances, springs };
    let mut left = arguments.iter();
    while let Some(one) = left.next() {
        match one.as_str() {
            "--alone" => asked.alone = true,
            "--spheres" => asked.kinds.push("sphere"),
            "--boxes" => asked.kinds.push("box"),
            "--steps" => asked.steps = number_after(one, left.next())?,
            "--patience" => asked.patience = number_after(one, left.next())?,
            "--springs" => asked.springs.push(springs_after(one, [left.next(), left.next()])?),
            "--tol" => asked.tolerances.push(tolerance_after(one, left.next())?),
            text => asked.sizes.push(number_after(text, Some(one))?),
        }
    }
    if asked.sizes.is_empty() {
        asked.sizes = vec![100, 1000, 10_000];
    }
    if asked.kinds.is_empty() {
        asked.kinds = vec!["sphere", "box"];
    }
    if asked.tolerances.is_empty() && asked.springs.is_empty() {
        asked.tolerances.push(TOLERANCE);
    }
    Ok(asked)
}

/// A number above zero; otherwise what was found in its place, or what it stands after.
pub fn number_after<'a>(option: &'a str, text: Option<&'a String>) -> Result<usize, &'a str> {
    let text = text.ok_or(option)?;
    text.parse().ok().filter(|&number| number > 0).ok_or(text)
}

/// The same for a tolerance.
pub fn tolerance_after<'a>(option: &'a str, text: Option<&'a String>) -> Result<f64, &'a str> {
    let text = text.ok_or(option)?;
    text.parse().ok().filter(|&tol| tol > 0.0 && tol < 1.0).ok_or(text)
}

/// The same for springs: their stiffness and their damping.
pub fn springs_after<'a>(
    option: &'a str,
    texts: [Option<&'a String>; 2],
) -> Result<Springs, &'a str> {
    let number = |text: Option<&'a String>, least: f64| -> Result<f64, &'a str> {
        let text = text.map_or(option, |text| text.as_str());
        text.parse().ok().filter(|&value: &f64| value >= least && value.is_finite()).ok_or(text)
    };
    Ok([number(texts[0], f64::MIN_POSITIVE)?, number(texts[1], 0.0)?])
}

pub fn run(arguments: &[String]) -> ExitCode {
    let asked = match parsed(arguments) {
        Ok(asked) => asked,
        Err(found) => {
            eprintln!(
                "piles [SIZE...] [--spheres] [--boxes] [--alone] [--steps N] [--patience S] [--tol T]... [--springs K C]..., all above zero but C, T below 1; not `{found}`"
            );
            return ExitCode::from(2);
        }
    };
    println!(
        "| bodies | engine | a step | to Saltus, same steps | penetration | distance from the law, worst | mean square | of friction |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for kind in &asked.kinds {
        for &size in &asked.sizes {
            if let Err(error) = table(kind, size, &asked) {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn table(kind: &str, size: usize, asked: &Asked) -> Result<(), String> {
    let pile = Pile::new(kind, size, asked);
    let mut first: Option<Vec<f64>> = None;
    let mut row = |engine: &str, one: &Answer| {
        let clock = first.get_or_insert_with(|| one.clock.clone());
        let same = one.steps.clamp(1, clock.len().max(1));
        let to = clock.get(same - 1).map_or(f64::NAN, |seconds| seconds / same as f64);
        let depth = pile.penetration(&one.poses).unwrap_or(f64::NAN);
        let law = match one.residual {
            Some(Distance { worst, mean, friction }) => {
                format!("{worst:.1e} | {mean:.1e} | {friction:.1e}")
            }
            None => "- | - | -".to_string(),
        };
        let (time, ratio) = (crate::time(Some(one.seconds)), one.seconds / to);
        let ended = match one.steps < asked.steps {
            true => format!(", ended after {} steps", one.steps),
            false => String::new(),
        };
        println!(
            "| {size} {kind} | {engine}{}{ended} | {time} | {ratio:.2} | {depth:.1e} m | {law} |",
            one.note
        );
    };
    let springs = asked.springs.iter().map(|&springs| (Some(springs), TOLERANCE));
    for (springs, tol) in springs.chain(asked.tolerances.iter().map(|&tol| (None, tol))) {
        let given = springs.map(|[k, c]| format!(", springs {k:.0e} N/m, {c:.0} N s/m"));
        let what = format!("{}, tolerance {tol:.0e}", given.unwrap_or_default());
        match pile.saltus(springs, tol) {
            Ok(ours) => row(&format!("Saltus{what}"), &ours),
            Err(error) => eprintln!("{size} {kind}{what}: {error}"),
        }
    }
    if asked.alone {
        return Ok(());
    }
    let python = std::env::var("PILES_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let peer = |name: &str| [peers().join(name).to_string_lossy().into_owned()];
    let rapier = std::env::var("RAPIER_PILE").ok();
    let siconos = crate::peers::siconos_interpreter();
    for iterations in ["4", "50"] {
        if let Some(one) = rapier.as_ref().and_then(|path| pile.peer(path, &[], &[iterations])) {
            row(&format!("Rapier, {iterations} iterations"), &one);
        }
    }
    if let Some(one) = pile.peer(&python, &peer("bullet_pile.py"), &["50"]) {
        row("Bullet, 50 iterations", &one);
    }
    for (solver, name) in [("newton", "Newton"), ("cg", "conjugate gradients")] {
        if let Some(one) = pile.peer(&python, &peer("mujoco_pile.py"), &[solver]) {
            row(&format!("MuJoCo, {name}"), &one);
        }
    }
    if let Some(one) = pile.peer(&siconos, &peer("siconos_pile.py"), &[]) {
        row("Siconos", &one);
    }
    Ok(())
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/piles")
}

/// A scene, for all engines alike.
pub struct Pile {
    kind: String,
    steps: usize,
    patience: usize,
    bin: f64,
    bodies: Vec<([f64; 3], [f64; 4])>,
}

impl Pile {
    fn new(kind: &str, size: usize, asked: &Asked) -> Pile {
        let across = (size as f64).cbrt().round().max(3.0) as usize;
        let &Asked { steps, patience, .. } = asked;
        Pile { steps, patience, ..Pile::wide(kind, size, across) }
    }

    /// A pile that is so many bodies wide.
    pub fn wide(kind: &str, size: usize, across: usize) -> Pile {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let bodies = (0..size).map(|k| {
            let cell = [k % across, (k / across) % across, k / (across * across)];
            let place = cell.map(|i| (i as f64 + 0.5) * CELL + 0.004 * random.next());
            let turn = [1.0, 0.1 * random.next(), 0.1 * random.next(), 0.1 * random.next()];
            let length = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
            let turn = if kind == "box" { turn.map(|x| x / length) } else { [1.0, 0.0, 0.0, 0.0] };
            (place, turn)
        });
        Pile {
            kind: kind.to_string(),
            steps: 0,
            patience: PATIENCE,
            bin: across as f64 * CELL,
            bodies: bodies.collect(),
        }
    }

    /// Its model, with rigid contacts or springs.
    pub fn model(&self, springs: Option<Springs>) -> Result<Model, String> {
        let mut scene = Scene::new("pile").gravity([0.0, 0.0, -9.81]);
        scene.materials.push(Material::new("stone", 1000.0));
        let contact = ContactPair::new("stone", "stone").friction(MU);
        scene.contacts.push(match springs {
            Some([stiffness, damping]) => contact.elastic(stiffness, damping),
            None => contact,
        });
        let walls = [
            ("floor", [0.0, 0.0, 1.0], 0.0),
            ("west", [1.0, 0.0, 0.0], 0.0),
            ("east", [-1.0, 0.0, 0.0], -self.bin),
            ("south", [0.0, 1.0, 0.0], 0.0),
            ("north", [0.0, -1.0, 0.0], -self.bin),
        ];
        for (name, normal, offset) in walls {
            let plane = Shape::Plane { normal, offset };
            scene.statics.push(StaticSpec::new(name, plane).of("stone"));
        }
        for (k, (place, turn)) in self.bodies.iter().enumerate() {
            let shape = match self.kind.as_str() {
                "sphere" => Shape::Sphere { radius: RADIUS },
                _ => Shape::Box { edges: [EDGE; 3] },
            };
            let body = BodySpec::new(format!("b{k}"), shape).of("stone").at(*place);
            scene.bodies.push(body.orientation(*turn));
        }
        scene.model().map_err(|error| error.to_string())
    }

    fn saltus(&self, springs: Option<Springs>, tol: f64) -> Result<Answer, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let model = self.model(springs)?;
        let names: Vec<String> = model.systems().map(|(name, _)| name.to_string()).collect();
        let solver = Solver::Auto(AutoSettings { tol, ..AutoSettings::default() });
        let scheme = [MoreauJean::default().into()];
        let mut sim = TimeStepping::with_solver(model, H, scheme, &solver).map_err(|e| said(&e))?;
        let (mut worst, mut iterations) = (0.0_f64, 0);
        let begin = ProcessTime::now();
        let mut clock = Vec::with_capacity(self.steps);
        while clock.len() < self.steps && begin.elapsed().as_secs() < self.patience as u64 {
            let done = sim.step().map_err(|e| said(&e))?;
            worst = worst.max(done.residual);
            iterations += done.iterations;
            clock.push(begin.elapsed().as_secs_f64());
        }
        let steps = clock.len();
        let seconds = clock.last().map_or(f64::NAN, |all| all / steps as f64);
        let pose = |name: &String| {
            let id = sim.model().system_id(name).map_err(|e| said(&e))?;
            sim.q(id).map(<[f64]>::to_vec).map_err(|e| said(&e))
        };
        let poses = names.iter().map(pose).collect::<Result<_, String>>()?;
        let a_step = iterations as f64 / steps as f64;
        let note = format!(" (residual {worst:.1e}, {a_step:.0} iterations a step)");
        let table = sim.contacts();
        let (mut r, mut u) = (Vec::new(), Vec::new());
        // of open contacts the law is one of positions, with the weights of the scheme
        for k in (0..table.gap.len()).filter(|&k| table.gap[k] <= CLOSED) {
            let n = table.normal[k];
            let [t1, t2] = tangents(n);
            let along = |a: [f64; 3]| vec![dot(n, a), dot(t1, a), dot(t2, a)];
            r.push(along(table.impulse[k]));
            u.push(along(table.u[k]));
        }
        let residual = Some(distance(&r, &u));
        Ok(Answer { steps, seconds, clock, poses, residual, note })
    }

    /// The deepest overlap of bodies that are there.
    fn penetration(&self, poses: &[Vec<f64>]) -> Result<f64, String> {
        let model = self.model(None)?;
        let Some(finder) = model.contact_finder() else { return Ok(0.0) };
        let mut starts = Vec::new();
        for side in finder.sides() {
            starts.push(side.system.map(|id| [7 * id.index(), 6 * id.index()]));
        }
        let (q, v) = (poses.concat(), vec![0.0; 6 * poses.len()]);
        let mut found = Vec::new();
        let moment = Moment { t: 0.0, h: 1e-9, q: &q, v: &v };
        finder.begin(&starts).find(moment, &mut found).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|one| -one.gap).fold(0.0, f64::max))
    }

    /// The scene as peers read it.
    fn json(&self) -> Value {
        let (kind, size) = match self.kind.as_str() {
            "sphere" => ("sphere", RADIUS),
            _ => ("box", EDGE),
        };
        let body = |(place, turn): &([f64; 3], [f64; 4])| json!({"kind": kind, "size": size, "position": place, "orientation": turn});
        let bodies: Vec<Value> = self.bodies.iter().map(body).collect();
        json!({"h": H, "steps": self.steps, "patience": self.patience, "mu": MU, "bin": [self.bin, self.bin], "bodies": bodies})
    }

    /// What a peer says; nothing where it is not installed or fails, which is told.
    fn peer(&self, program: &str, script: &[String], arguments: &[&str]) -> Option<Answer> {
        let mut command = Command::new(program);
        command.args(script).args(arguments).env("OMP_NUM_THREADS", "1");
        let name = script.first().map_or(program, |path| path.as_str());
        match self.answer(command) {
            Ok(answer) => read(&answer),
            Err(why) => {
                eprintln!("{name} gives no answer: {why}");
                None
            }
        }
    }

    /// What a program answers to the scene.
    fn answer(&self, mut command: Command) -> Result<Value, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let scene = self.json().to_string();
        // one that ends before it has read all says why
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(scene.as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answer = text.lines().find_map(|line| serde_json::from_str(line).ok());
        answer.ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty());
            format!("{}, {}", output.status, last.unwrap_or("without a word"))
        })
    }
}

/// What the answer of a peer says.
fn read(answer: &Value) -> Option<Answer> {
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let poses = answer["poses"].as_array()?.iter().map(numbers).collect();
    let rows = |what: &str| -> Option<Vec<Vec<f64>>> {
        Some(answer[what].as_array()?.iter().map(numbers).collect())
    };
    let (r, u) = (rows("reactions"), rows("velocities"));
    let residual = r.zip(u).map(|(r, u)| distance(&r, &u));
    let (steps, seconds) = (answer["steps"].as_u64()? as usize, answer["seconds"].as_f64()?);
    let note = answer["note"].as_str().unwrap_or_default().to_string();
    Some(Answer { steps, seconds, clock: Vec::new(), poses, residual, note })
}

/// How far contacts are from the law.
fn distance(reactions: &[Vec<f64>], velocities: &[Vec<f64>]) -> Distance {
    let acting = reactions.iter().filter(|r| r[0] > 0.0);
    let (sum, count) = acting.fold((0.0, 0), |(sum, count), r| (sum + r[0], count + 1));
    let (mean, gh) = (sum / f64::from(count.max(1)), 9.81 * H);
    let (mut worst, mut squares, mut of_friction) = (0.0_f64, 0.0, 0.0);
    for (r, u) in reactions.iter().zip(velocities) {
        let r = [0, 1, 2].map(|k| r[k] / mean);
        let u = [0, 1, 2].map(|k| u[k] / gh);
        let x = [r[0] - u[0] - MU * u[1].hypot(u[2]), r[1] - u[1], r[2] - u[2]];
        let projected = onto_cone(x);
        let apart = (0..3).map(|k| (r[k] - projected[k]).powi(2)).sum::<f64>();
        worst = worst.max(apart.sqrt());
        squares += apart;
        let along = x[1].hypot(x[2]);
        let cut = if along > MU * r[0].max(0.0) { MU * r[0].max(0.0) / along } else { 1.0 };
        of_friction += (1..3).map(|k| (r[k] - cut * x[k]).powi(2)).sum::<f64>();
    }
    let mean_of = |squares: f64| (squares / reactions.len().max(1) as f64).sqrt();
    Distance { worst, mean: mean_of(squares), friction: mean_of(of_friction) }
}

/// The point of the cone `‖x_T‖ ≤ μ x_N` next to `x`.
fn onto_cone(x: [f64; 3]) -> [f64; 3] {
    let along = x[1].hypot(x[2]);
    if along <= MU * x[0] {
        return x;
    }
    if MU * along <= -x[0] {
        return [0.0; 3];
    }
    let normal = (x[0] + MU * along) / (1.0 + MU * MU);
    [normal, MU * normal * x[1] / along, MU * normal * x[2] / along]
}

/// Numbers in [−1, 1], the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
