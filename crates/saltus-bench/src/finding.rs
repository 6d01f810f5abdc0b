//! `saltus-bench finding [BODIES...]`: what it costs to find contacts.
//!
//! Bodies on a grid, a little displaced and turned, that touch their neighbours, above a plane. Every
//! search sees them moved on by a step, so nothing is taken from the search before. Figures are the
//! least of many searches, in processor time.

use cpu_time::ProcessTime;
use saltus::mechanics::{Collider, Colliders, Finder, PairLaws, Shape};
use saltus::model::{
    Body, ContactFinder, LagrangianLinear, Law, Model, ModelError, Moment, OperatorError, Side,
};
use std::process::ExitCode;

/// Runs the table.
pub fn run(arguments: &[String]) -> ExitCode {
    let sizes: Result<Vec<usize>, _> = arguments.iter().map(|text| text.parse()).collect();
    let sizes = match sizes {
        Ok(sizes) if sizes.is_empty() => vec![1000, 10_000, 100_000],
        Ok(sizes) => sizes,
        Err(error) => {
            eprintln!("saltus-bench: finding: {error}, expected numbers of bodies");
            return ExitCode::from(2);
        }
    };
    println!(
        "| bodies | | contacts | pairs that touch | a search | a body | a pair that touches | at rest | memory a body |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, shape) in shapes() {
        for &bodies in &sizes {
            match Heap::new(bodies, &shape) {
                Ok(mut heap) => heap.print(name),
                Err(error) => {
                    eprintln!("saltus-bench: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

fn shapes() -> Vec<(&'static str, Shape)> {
    let golden = 2.399_963_229_728_653_f64;
    let point = |k: u32| {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / 20.0;
        let (rho, angle) = ((1.0 - z * z).sqrt(), golden * f64::from(k));
        [0.56 * rho * angle.cos(), 0.56 * rho * angle.sin(), 0.56 * z]
    };
    vec![
        ("spheres", Shape::Sphere { radius: 0.5 }),
        ("boxes", Shape::Box { edges: [1.0; 3] }),
        ("hulls of 20 points", Shape::ConvexHull { points: (0..20).map(point).collect() }),
        ("cylinders", Shape::Cylinder { radius: 0.5, length: 1.0 }),
    ]
}

/// Bodies on a grid.
struct Heap {
    finder: Finder,
    starts: Vec<Option<[usize; 2]>>,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Heap {
    fn new(bodies: usize, shape: &Shape) -> Result<Heap, Box<dyn std::error::Error>> {
        let mut colliders = Colliders {
            sides: Vec::with_capacity(bodies + 1),
            drives: Vec::new(),
            shapes: Vec::with_capacity(bodies + 1),
            laws: PairLaws {
                laws: vec![Law::newton_impact(0.0)],
                elastic: vec![],
                of_pair: vec![Some(0)],
            },
            apart: Vec::new(),
        };
        let (mut q, mut v, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut random = Random(7);
        let edge = (bodies as f64).cbrt().ceil() as usize;
        let ids = handles(bodies)?;
        for (k, system) in ids.into_iter().enumerate() {
            let place = [k % edge, k / edge % edge, k / edge / edge];
            let jitter = |random: &mut Random| 0.02 * (random.unit() - 0.5);
            starts.push(Some([q.len(), v.len()]));
            q.extend(place.map(|x| x as f64 + 0.5 + jitter(&mut random)));
            q.extend([1.0, jitter(&mut random), jitter(&mut random), jitter(&mut random)]);
            let at = q.len() - 4;
            let length = q[at..].iter().map(|x| x * x).sum::<f64>().sqrt();
            q[at..].iter_mut().for_each(|x| *x /= length);
            v.extend((0..6).map(|_| 5.0 * jitter(&mut random)));
            colliders.sides.push(Side { name: k.to_string().into(), system: Some(system) });
            let placed = shape.clone().into();
            colliders.shapes.push(Collider { side: k, placed, material: 0 });
        }
        let plane = Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
        colliders.sides.push(Side { name: "floor".into(), system: None });
        colliders.shapes.push(Collider { side: bodies, placed: plane.into(), material: 0 });
        starts.push(None);
        colliders.drives = vec![None; bodies + 1];
        let finder = Finder::new(Body::Space, &colliders)?;
        Ok(Heap { finder, starts, q, v })
    }

    fn print(&mut self, name: &str) {
        let before = resident();
        let mut search = self.finder.begin(&self.starts);
        let mut found = Vec::new();
        let h = 5e-3;
        let mut find = |q: &[f64], v: &[f64], found: &mut Vec<_>| -> Result<f64, OperatorError> {
            let clock = ProcessTime::now();
            search.find(Moment { t: 0.0, h, q, v }, found)?;
            Ok(clock.elapsed().as_secs_f64())
        };
        let bodies = self.starts.len() - 1;
        let repeats = (300_000 / bodies).clamp(12, 200);
        let mut least = f64::INFINITY;
        for k in 0..repeats {
            // there and back, so that the heap stays as it is
            let step = if k / 8 % 2 == 0 { h } else { -h };
            for body in 0..bodies {
                for i in 0..3 {
                    self.q[7 * body + i] += step * self.v[6 * body + i];
                }
            }
            match find(&self.q, &self.v, &mut found) {
                Ok(seconds) => least = least.min(seconds),
                Err(error) => {
                    eprintln!("saltus-bench: {error}");
                    return;
                }
            }
        }
        let memory = resident().saturating_sub(before);
        let mut rest = f64::INFINITY;
        for _ in 0..10 {
            rest = rest.min(find(&self.q, &self.v, &mut found).unwrap_or(f64::INFINITY));
        }
        let mut pairs: Vec<[u32; 2]> = found.iter().map(|contact| contact.sides).collect();
        pairs.dedup();
        println!(
            "| {bodies} | {name} | {} | {} | {:.2} ms | {:.0} ns | {:.0} ns | {:.3} ms | {} B |",
            found.len(),
            pairs.len(),
            1e3 * least,
            1e9 * least / bodies as f64,
            1e9 * least / pairs.len().max(1) as f64,
            1e3 * rest,
            memory / bodies,
        );
    }
}

/// Handles of that many systems.
fn handles(count: usize) -> Result<Vec<saltus::model::SystemId>, ModelError> {
    let mut model = Model::new("handles");
    let system = LagrangianLinear::new([1.0], [0.0], [[1.0]]);
    (0..count).map(|k| model.add(&k.to_string(), system.clone())).collect()
}

/// Memory of this process, in bytes; zero where the system does not tell.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok());
    4096 * pages.unwrap_or(0)
}

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
