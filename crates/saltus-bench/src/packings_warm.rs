//! Steps that follow each other: a heap whose momentum changes a little, from the last answer.
//!
//! ```text
//! f ← f (1 + 0.01 ρ),   ρ ∈ [−1, 1] drawn anew for each velocity
//! z₀ = the last answer, and 0 for the contacts that are new: one in thirty
//! ```
//!
//! Friction 0.7, tolerance 1e-6, one workspace for all steps. The first step, from zero, is not
//! counted; the matrices are given anew in each.

use super::{Options, print_growth};
use cpu_time::ProcessTime;
use saltus::linalg::Sparse;
use saltus::numerics::methods::Workspace;
use saltus::numerics::{
    Block, Global, NumericsError, Problem, Set, Solver, Status, generate::Heap,
};

const MU: f64 = 0.7;
const TOL: f64 = 1e-6;
const STEPS: usize = 20;
/// Share of the contacts that are new in each step.
const NEW: f64 = 1.0 / 30.0;

/// The table; whether every step was solved. Sizes are numbers of bodies.
pub fn table(options: &Options) -> Result<bool, NumericsError> {
    println!(
        "| c | speed | seed | bodies | contacts | iterations | first | median | worst | solved |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all_solved = true;
    let mut growth = Vec::new();
    for speed in [0.0, 0.05] {
        for &c in &options.ratios {
            for &bodies in &options.sizes {
                let mut medians = Vec::new();
                for &seed in &options.seeds {
                    let contacts = (2.0 * c * bodies as f64) as usize;
                    let heap = Heap { contacts, c, mu: MU, seed, speed, ..Heap::default() };
                    let (median, solved) = follow(&heap)?;
                    medians.push(median);
                    all_solved &= solved;
                }
                growth.push((format!("{c}, speed {speed}"), bodies, medians));
            }
        }
    }
    println!();
    print_growth("bodies", &growth);
    Ok(all_solved)
}

/// One heap, step after step: the median of the seconds, and whether all were solved.
fn follow(heap: &Heap) -> Result<(f64, bool), NumericsError> {
    let first = heap.build()?;
    let Some(global) = first.global() else { return Ok((f64::NAN, false)) };
    let (mass, H): (&Sparse, &Sparse) = (global.mass(), global.H());
    let count = first.contacts_count();
    let blocks = vec![Block { size: 3, set: Set::Coulomb3 { mu: MU } }; count];
    let mut random = Random(heap.seed);
    let mut workspace = Workspace::new(Solver::default().with_tol(TOL))?;
    let (mut z, mut w) = (vec![0.0; first.len()], vec![0.0; first.len()]);
    let (mut seconds, mut iterations, mut solved, mut cold) = (Vec::new(), Vec::new(), 0, 0.0);
    for step in 0..=STEPS {
        let f = global.f().iter().map(|f| f * (1.0 + 0.01 * (2.0 * random.unit() - 1.0))).collect();
        let pair = Global::new(mass.clone(), H.clone(), f)?;
        let problem = Problem::new(pair, vec![0.0; first.len()], &blocks)?;
        for contact in z.chunks_exact_mut(3) {
            if random.unit() < NEW {
                contact.fill(0.0);
            }
        }
        let clock = ProcessTime::now();
        let report = workspace.solve(&problem, &mut z, &mut w)?;
        let took = clock.elapsed().as_secs_f64();
        if step == 0 {
            cold = took;
            continue;
        }
        solved += usize::from(report.status == Status::Solved);
        seconds.push(took);
        iterations.push(report.iterations);
    }
    seconds.sort_by(f64::total_cmp);
    iterations.sort_unstable();
    let median = seconds[STEPS / 2];
    println!(
        "| {} | {} | {} | {} | {count} | {} | {:.1} ms | {:.1} ms | {:.1} ms | {solved} of {STEPS} |",
        heap.c,
        heap.speed,
        heap.seed,
        global.velocities() / 6,
        iterations[STEPS / 2],
        1e3 * cold,
        1e3 * median,
        1e3 * seconds[STEPS - 1],
    );
    Ok((median, solved == STEPS))
}

/// Numbers in [0, 1).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        // Knuth's linear congruence, the upper bits
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
