use saltus_linalg::Sparse;
use saltus_numerics::*;
use std::time::Instant;
struct T {
    t: Vec<String>,
    i: usize,
}
impl T {
    fn n(&mut self) -> &str {
        self.i += 1;
        &self.t[self.i - 1]
    }
    fn u(&mut self) -> usize {
        self.n().parse().unwrap()
    }
    fn f(&mut self) -> f64 {
        self.n().parse().unwrap()
    }
    fn m(&mut self) -> Sparse {
        let (r, c, k) = (self.u(), self.u(), self.u());
        let e: Vec<_> = (0..k).map(|_| (self.u(), self.u(), self.f())).collect();
        Sparse::from_triplets(r, c, &e)
    }
    fn v(&mut self) -> Vec<f64> {
        let k = self.u();
        (0..k).map(|_| self.f()).collect()
    }
}
pub fn load(path: &std::path::Path) -> Problem {
    let s = std::fs::read_to_string(path).unwrap();
    let mut t = T { t: s.split_whitespace().map(String::from).collect(), i: 0 };
    let kind = t.n().to_string();
    let d = t.u();
    if kind == "global" {
        let (m, h, f, b, mu, mur) = (t.m(), t.m(), t.v(), t.v(), t.v(), t.v());
        let set = |c: usize| match (d, mur.is_empty()) {
            (2, _) => Set::Coulomb2 { mu: mu[c] },
            (3, true) => Set::Coulomb3 { mu: mu[c] },
            (3, false) => Set::Rolling2 { mu: mu[c], mu_r: mur[c] },
            _ => Set::Rolling3 { mu: mu[c], mu_r: mur[c] },
        };
        let blocks: Vec<_> = (0..mu.len()).map(|c| Block { size: d, set: set(c) }).collect();
        return Problem::new(Global::new(m, h, f).unwrap(), b, &blocks).unwrap();
    }
    let (w, q, mu, mur) = (t.m(), t.v(), t.v(), t.v());
    if kind == "soclcp" {
        return Problem::second_order(w, q, &vec![3; mu.len()], &mu).unwrap();
    }
    match (d, mur.is_empty()) {
        (2, _) => Problem::friction2d(w, q, &mu),
        (3, true) => Problem::friction3d(w, q, &mu),
        _ => Problem::rolling3d(w, q, &mu, &mur),
    }
    .unwrap()
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let solver: Solver = serde_json::from_str(&a[1]).unwrap();
    let pattern = &a[2];
    let mut files: Vec<_> =
        std::fs::read_dir("/tmp/dump").unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let (mut solved, mut all) = (0, 0);
    for f in files {
        let name = f.file_name().unwrap().to_string_lossy().to_string();
        if !name.contains(pattern.as_str()) {
            continue;
        }
        let p = load(&f);
        let t = Instant::now();
        let s = solve(&p, &solver, None);
        let mut dt = t.elapsed().as_secs_f64();
        if dt < 0.05 {
            for _ in 0..5 {
                let t = Instant::now();
                let _ = solve(&p, &solver, None);
                dt = dt.min(t.elapsed().as_secs_f64());
            }
        }
        all += 1;
        match s {
            Ok(s) => {
                solved += (s.report.status == Status::Solved) as usize;
                println!(
                    "{:55} n={:6} {:9} {:14} it={:6} res={:.2e} {:.3} ms {}",
                    name,
                    p.len(),
                    s.report.status.name(),
                    s.report.method,
                    s.report.iterations,
                    s.report.residual,
                    dt * 1e3,
                    s.attempts
                        .iter()
                        .map(|a| format!("{}:{:.0e}", a.method, a.residual))
                        .collect::<Vec<_>>()
                        .join(" ")
                );
            }
            Err(e) => println!("{name:55} n={:6} ERR {e}", p.len()),
        }
    }
    println!("solved {solved}/{all}");
}
