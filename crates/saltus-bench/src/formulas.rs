//! Formula strings beside the same expressions as Rust closures: `saltus-bench formulas`.
//!
//! Both are called through a reference, with values that the compiler cannot know, and write their outputs to a slice.
//! The best of many rounds counts, the two taken in turn.

use saltus::expr::Function;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// Calls in a round, and rounds.
const CALLS: usize = 2_000;
const ROUNDS: usize = 400;

type Closure = dyn Fn(&[f64], &mut [f64]);

/// A formula, its variables, and the same in Rust.
struct Case {
    name: &'static str,
    text: &'static str,
    variables: &'static [&'static str],
    closure: Box<Closure>,
}

/// Prints the table.
pub fn run() -> ExitCode {
    println!("| formula | outputs | tape | machine code | closure | ratio | compiling |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for case in cases() {
        let parse = || {
            let (function, _) = Function::parse_array(case.text, case.variables)
                .expect("a case of the bench is a valid formula");
            function
        };
        let function = parse();
        let clock = Instant::now();
        function.compile();
        let compiling = clock.elapsed().as_secs_f64();
        let values: Vec<f64> = (0..case.variables.len()).map(|i| 1.3 - 0.11 * i as f64).collect();
        check(&case, &function, &values);

        let mut out = vec![0.0; function.len()];
        let [mut tape, mut machine, mut closure] = [f64::INFINITY; 3];
        for _ in 0..ROUNDS {
            let on_tape = parse(); // a round has too few calls to be compiled
            tape = tape.min(nanoseconds(&values, &mut out, |x, y| black_box(&on_tape).eval(x, y)));
            machine =
                machine.min(nanoseconds(&values, &mut out, |x, y| black_box(&function).eval(x, y)));
            closure =
                closure.min(nanoseconds(&values, &mut out, |x, y| black_box(&case.closure)(x, y)));
        }
        println!(
            "| {} | {} | {tape:.1} ns | {machine:.1} ns | {closure:.1} ns | {:.2} | {} |",
            case.name,
            function.len(),
            machine / closure,
            crate::time(Some(compiling))
        );
    }
    ExitCode::SUCCESS
}

/// One call, on average over a round.
fn nanoseconds(values: &[f64], out: &mut [f64], call: impl Fn(&[f64], &mut [f64])) -> f64 {
    let clock = Instant::now();
    for _ in 0..CALLS {
        call(black_box(values), black_box(&mut *out));
    }
    1e9 * clock.elapsed().as_secs_f64() / CALLS as f64
}

/// Both must compute the same, up to the last digits.
fn check(case: &Case, function: &Function, values: &[f64]) {
    let (mut a, mut b) = (vec![0.0; function.len()], vec![0.0; function.len()]);
    function.eval(values, &mut a);
    (case.closure)(values, &mut b);
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{}: {a} or {b}", case.name);
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "pendulum",
            text: "[v, -g/l*sin(q) - d*v]",
            variables: &["q", "v", "g", "l", "d"],
            closure: Box::new(|x, y| {
                let &[q, v, g, l, d] = x else { return };
                y[0] = v;
                y[1] = -g / l * q.sin() - d * v;
            }),
        },
        Case {
            name: "van der Pol",
            text: "[y, mu*(1 - x^2)*y - x]",
            variables: &["x", "y", "mu"],
            closure: Box::new(|x, out| {
                let &[x, y, mu] = x else { return };
                out[0] = y;
                out[1] = mu * (1.0 - x * x) * y - x;
            }),
        },
        Case {
            name: "Lorenz",
            text: "[s*(y - x), x*(r - z) - y, x*y - b*z]",
            variables: &["x", "y", "z", "s", "r", "b"],
            closure: Box::new(|x, out| {
                let &[x, y, z, s, r, b] = x else { return };
                out[0] = s * (y - x);
                out[1] = x * (r - z) - y;
                out[2] = x * y - b * z;
            }),
        },
        Case {
            name: "Lorenz, parameters as numbers",
            text: "[10*(y - x), x*(28 - z) - y, x*y - 8/3*z]",
            variables: &["x", "y", "z"],
            closure: Box::new(|x, out| {
                let &[x, y, z] = x else { return };
                out[0] = 10.0 * (y - x);
                out[1] = x * (28.0 - z) - y;
                out[2] = x * y - 8.0 / 3.0 * z;
            }),
        },
        Case {
            name: "polynomial of degree 4, two variables",
            text: "1 + 2*x - 3*y + x*y + 0.5*x^2 - y^2 + x^3 - 2*x^2*y + x*y^2 - 4*y^3 + x^4 - y^4",
            variables: &["x", "y"],
            closure: Box::new(|x, out| {
                let &[x, y] = x else { return };
                let (x2, y2) = (x * x, y * y);
                out[0] = 1.0 + 2.0 * x - 3.0 * y + x * y + 0.5 * x2 - y2 + x2 * x - 2.0 * x2 * y
                    + x * y2
                    - 4.0 * (y2 * y)
                    + x2 * x2
                    - y2 * y2;
            }),
        },
        Case {
            name: "slider-crank: forces",
            text: "[-l1*(m1/2 + m2 + m3)*sin(a)*w^2 + l2*(m2/2 + m3)*cos(a - b)*u^2 - g*l1*(m1/2 + m2)*cos(a), \
                    -l1*l2*(m2/2 + m3)*sin(a - b)*w^2 - g*l2*m2/2*cos(b), \
                    l1*sin(a) + l2*sin(b) - r*cos(c) + s/2 - d, \
                    l1*cos(a)*w + l2*cos(b)*u + r*sin(c)*v]",
            variables: &[
                "a", "b", "c", "w", "u", "v", "l1", "l2", "m1", "m2", "m3", "g", "r", "s", "d",
            ],
            closure: Box::new(|x, y| {
                let &[a, b, c, w, u, v, l1, l2, m1, m2, m3, g, r, s, d] = x else { return };
                let (sin_a, cos_a, cos_b) = (a.sin(), a.cos(), b.cos());
                let m23 = m2 / 2.0 + m3;
                y[0] = -l1 * (m1 / 2.0 + m2 + m3) * sin_a * (w * w)
                    + l2 * m23 * (a - b).cos() * (u * u)
                    - g * l1 * (m1 / 2.0 + m2) * cos_a;
                y[1] = -l1 * l2 * m23 * (a - b).sin() * (w * w) - g * l2 * m2 / 2.0 * cos_b;
                y[2] = l1 * sin_a + l2 * b.sin() - r * c.cos() + s / 2.0 - d;
                y[3] = l1 * cos_a * w + l2 * cos_b * u + r * c.sin() * v;
            }),
        },
        Case {
            name: "friction law with Stribeck effect",
            text: "if(abs(v) < eps, -k*v, -sign(v)*N*(mu_d + (mu_s - mu_d)*exp(-abs(v)/v_s))) - d*v",
            variables: &["v", "N", "mu_s", "mu_d", "v_s", "eps", "k", "d"],
            closure: Box::new(|x, out| {
                let &[v, N, mu_s, mu_d, v_s, eps, k, d] = x else { return };
                let sign = |v: f64| {
                    if v > 0.0 {
                        1.0
                    } else if v < 0.0 {
                        -1.0
                    } else {
                        v
                    }
                };
                let law = if v.abs() < eps {
                    -k * v
                } else {
                    -sign(v) * N * (mu_d + (mu_s - mu_d) * (-v.abs() / v_s).exp())
                };
                out[0] = law - d * v;
            }),
        },
        Case {
            name: "piecewise friction, no transcendental functions",
            text: "if(abs(v) < eps, -mu*N*v/eps, -mu*N*sign(v)) - d*max(v, 0)",
            variables: &["v", "N", "mu", "eps", "d"],
            closure: Box::new(|x, out| {
                let &[v, N, mu, eps, d] = x else { return };
                let sign = |v: f64| {
                    if v > 0.0 {
                        1.0
                    } else if v < 0.0 {
                        -1.0
                    } else {
                        v
                    }
                };
                let law = if v.abs() < eps { -mu * N * v / eps } else { -mu * N * sign(v) };
                out[0] = law - d * v.max(0.0);
            }),
        },
        Case {
            name: "mass matrix of a planar arm, 3 × 3",
            text: "[[I1 + I2 + I3 + m2*l1^2 + m3*(l1^2 + l2^2) + 2*m3*l1*l2*cos(b), I2 + I3 + m3*l2^2 + m3*l1*l2*cos(b), I3 + m3*l1*l2*cos(c)], \
                    [I2 + I3 + m3*l2^2 + m3*l1*l2*cos(b), I2 + I3 + m3*l2^2, I3 + m3*l2*l1*cos(b + c)], \
                    [I3 + m3*l1*l2*cos(c), I3 + m3*l2*l1*cos(b + c), I3]]",
            variables: &["b", "c", "l1", "l2", "m2", "m3", "I1", "I2", "I3"],
            closure: Box::new(|x, y| {
                let &[b, c, l1, l2, m2, m3, I1, I2, I3] = x else { return };
                let (cos_b, cos_c, cos_bc) = (b.cos(), c.cos(), (b + c).cos());
                let coupling = m3 * l1 * l2;
                let below = I2 + I3 + m3 * (l2 * l2);
                y[0] = I1
                    + I2
                    + I3
                    + m2 * (l1 * l1)
                    + m3 * (l1 * l1 + l2 * l2)
                    + 2.0 * m3 * l1 * l2 * cos_b;
                y[1] = below + coupling * cos_b;
                y[2] = I3 + coupling * cos_c;
                y[3] = y[1];
                y[4] = below;
                y[5] = I3 + coupling * cos_bc;
                y[6] = y[2];
                y[7] = y[5];
                y[8] = I3;
            }),
        },
    ]
}
