//! Model files of `examples/` against closed forms, invariants and independent solutions.

use crate::example_files::run;
use crate::support::{ledgers, order_within, within};
use saltus::prelude::*;
use std::f64::consts::PI;

/// The golden ratio.
const PHI: f64 = 1.618_033_988_749_895;

fn signal(run: &Run, path: &str) -> Vec<f64> {
    run.signal(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The instants at which a signal rises (or falls) through a level, by linear interpolation.
fn crossings(t: &[f64], x: &[f64], level: f64, rising: bool) -> Vec<f64> {
    let sign = if rising { 1.0 } else { -1.0 };
    (1..t.len())
        .filter(|&k| sign * (x[k - 1] - level) < 0.0 && sign * (x[k] - level) >= 0.0)
        .map(|k| t[k - 1] + (t[k] - t[k - 1]) * (level - x[k - 1]) / (x[k] - x[k - 1]))
        .collect()
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::NAN } else { a.max(b.abs()) })
}

/// What the source gave is stored, or went to the load: an ideal bridge takes nothing.
#[test]
fn power_converter_keeps_its_energy() {
    let (L_r, C_r, L_f, C_f, R) = (150e-6, 68e-9, 0.4e-3, 2.2e-6, 33.0);
    // steps that end where the source switches
    let half = 0.5 / 55e3;
    let mut errors = Vec::new();
    for n in [50, 100, 200, 400] {
        let h = half / f64::from(n);
        let (h_text, until) = (h.to_string(), (40.0 * half).to_string());
        let overrides = [("simulation.h", h_text.as_str()), ("simulation.until", &until)];
        let run = run("power-converter/model.toml", &overrides);
        let [i_Lr, v_Cr, i_Lf, v_Cf] =
            [0, 1, 2, 3].map(|i| signal(&run, &format!("circuit.x[{i}]")));
        let stored = |k: usize| {
            (L_r * i_Lr[k].powi(2)
                + C_r * v_Cr[k].powi(2)
                + L_f * i_Lf[k].powi(2)
                + C_f * v_Cf[k].powi(2))
                / 2.0
        };
        let (mut given, mut used) = (0.0, 0.0);
        for k in 1..i_Lr.len() {
            let source = if ((k - 1) / n as usize).is_multiple_of(2) { 1.0 } else { -1.0 };
            given += h * source * (i_Lr[k - 1] + i_Lr[k]) / 2.0;
            used += h * (v_Cf[k - 1].powi(2) + v_Cf[k].powi(2)) / (2.0 * R);
        }
        let open = given - used - stored(i_Lr.len() - 1);
        errors.push((h, open.abs() / given));
    }
    order_within("power converter: energy", &errors, 0.8..=2.2);
    within("power converter: energy", errors[3].1, 0.02);
}

/// The bits of first order are those of a rotation of the circle by (1 + u)/2, exactly.
#[test]
fn delta_sigma_of_first_order_is_a_rotation() {
    let run = run("delta-sigma/first.toml", &[]);
    let (x, lam) = (signal(&run, "loop.x[0]"), signal(&run, "comparator.lam"));
    let u = 1.0 / PI;
    let (alpha, s) = ((1.0 + u) / 2.0, (0.1 - u + 1.0) / 2.0);
    for k in 1..lam.len() {
        let turns = (s + k as f64 * alpha).floor() - (s + (k - 1) as f64 * alpha).floor();
        assert_eq!(-lam[k], 2.0 * turns - 1.0, "bit {k}");
    }
    // Σ (u − v) = x − x₀, so the mean of the bits is u up to 2/n
    for n in 1..lam.len() {
        let mean = -lam[1..=n].iter().sum::<f64>() / n as f64;
        within("mean", (mean - u).abs(), 2.0 / n as f64);
    }
    within("state", largest(x), 1.0 + u);
}

/// At second order the noise in the band falls by 15 dB where the band is halved.
#[test]
fn delta_sigma_of_second_order_shapes_its_noise() {
    let n = 4096;
    let run = run("delta-sigma/model.toml", &[("simulation.until", "4096*T")]);
    let bits: Vec<f64> = signal(&run, "comparator.lam")[1..].iter().map(|lam| -lam).collect();
    assert_eq!(bits.len(), n);
    assert!(bits.iter().all(|v| v.abs() == 1.0));
    within("x1", largest(signal(&run, "loop.x[0]")), 1.5);
    within("x2", largest(signal(&run, "loop.x[1]")), 2.5);

    // the spectrum below f_s/16, with Hann's window: the signal is in bins 7, 8, 9
    let power: Vec<f64> = (0..=n / 16)
        .map(|bin| {
            let (mut re, mut im) = (0.0, 0.0);
            for (k, v) in bits.iter().enumerate() {
                let turn = 2.0 * PI * k as f64 / n as f64;
                let windowed = v * (1.0 - turn.cos());
                re += windowed * (turn * bin as f64).cos();
                im += windowed * (turn * bin as f64).sin();
            }
            2.0 * (re * re + im * im) / (n * n) as f64
        })
        .collect();
    let tone: f64 = power[7..=9].iter().sum::<f64>() / 1.5;
    within("tone", (tone - 0.125).abs() / 0.125, 0.02);
    let noise = |top: usize| power[11..=top].iter().sum::<f64>();
    for top in [n / 64, n / 32] {
        let slope = 10.0 * (noise(2 * top) / noise(top)).log10();
        println!(
            "noise up to bin {top}: {:.1} dB, {slope:.1} dB an octave",
            10.0 * noise(top).log10()
        );
        assert!((12.0..18.0).contains(&slope), "{slope}");
    }
}

/// Gene a wins: it reaches its own threshold, and stays there in a sliding mode.
#[test]
fn gene_network_slides_on_a_threshold() {
    let (kappa, theta1, theta2) = (20.0f64, 4.0, 8.0);
    for h in ["4e-3", "2e-3", "1e-3", "5e-4"] {
        let run = run("gene-network/model.toml", &[("simulation.h", h)]);
        let (t, a, b) = (&run.frames.time, signal(&run, "cell.x[0]"), signal(&run, "cell.x[1]"));
        // both grow until a passes θ₁ and switches b off; a goes on to θ₂
        let first = ((kappa - 1.0) / (kappa - theta1)).ln();
        let second = ((kappa - 1.0) / (kappa - theta2)).ln();
        let exact_a = |t: f64| (kappa - (kappa - 1.0) * (-t).exp()).min(theta2);
        let exact_b = |t: f64| {
            let grown = kappa - (kappa - 0.5) * (-t.min(first)).exp();
            grown * (-(t - first).max(0.0)).exp()
        };
        let error =
            (0..t.len()).map(|k| (a[k] - exact_a(t[k])).abs().max((b[k] - exact_b(t[k])).abs()));
        // switches are not located: gene b is made for up to a step too long, or too short
        let h: f64 = h.parse().unwrap();
        within("gene network", largest(error), kappa * h);
        // sliding: x_a = θ₂ to round-off, with the equivalent share s = γ θ₂/κ of synthesis
        let (steps, other) = (signal(&run, "steps.lam[1]"), signal(&run, "steps.lam[2]"));
        let sliding = (0..t.len()).filter(|&k| t[k] > second + 2.0 * h);
        within("sliding", largest(sliding.clone().map(|k| a[k] - theta2)), 1e-9);
        within("share", largest(sliding.map(|k| steps[k] * other[k] - theta2 / kappa)), 1e-9);
    }
}

/// Three genes in a ring, thresholds in the middle: the period is 6 ln φ.
#[test]
fn repressilator_has_a_golden_period() {
    for h in ["4e-3", "2e-3", "1e-3", "5e-4"] {
        let run = run("gene-network/repressilator.toml", &[("simulation.h", h)]);
        let found = crossings(&run.frames.time, &signal(&run, "cell.x[0]"), 1.0, true);
        let [.., before, last] = found[..] else { panic!("{} periods", found.len()) };
        // six switches that are not located, and a cycle that locks to the grid
        let h: f64 = h.parse().unwrap();
        within("period", (last - before - 6.0 * PHI.ln()).abs(), 8.0 * h);
    }
}

/// Empty at (q₁ + q₂)/((1 − p) μ₂ − α) = 24, and exact at every step whatever its size.
#[test]
fn fluid_queues_drain_in_the_closed_form_time() {
    for h in ["0.05", "0.3", "0.7"] {
        let run = run("fluid-queues/model.toml", &[("simulation.h", h)]);
        let t = &run.frames.time;
        let [q1, q2, q3] = [0, 1, 2].map(|i| signal(&run, &format!("queue.x[{i}]")));
        let exact = |t: f64| {
            let first = (2.0 - 0.625 * t).max(0.0);
            let second = if t < 3.2 { 1.0 + 0.5 * t } else { 2.6 - 0.125 * (t - 3.2) };
            [first, second.max(0.0), 0.0]
        };
        let error = (0..t.len()).map(|k| {
            let [a, b, c] = exact(t[k]);
            (q1[k] - a).abs().max((q2[k] - b).abs()).max((q3[k] - c).abs())
        });
        within(&format!("fluid queues, h = {h}"), largest(error), 1e-10);
    }
    // afterwards 4/3 flows through every server
    let run = run("fluid-queues/model.toml", &[]);
    for (i, mu) in [2.0, 1.5, 2.0].into_iter().enumerate() {
        let idle = signal(&run, &format!("idle.lam[{i}]"));
        within("idle", (idle[idle.len() - 1] - (1.0 - 4.0 / 3.0 / mu)).abs(), 1e-10);
    }
}

/// With priorities to the last buffers a cycle multiplies q₁ by m₄/(1 − m₂), though every station has
/// capacity to spare.
#[test]
fn fluid_queues_with_priorities_grow_or_drain() {
    for (m, until) in [("0.6", "22"), ("0.4", "8")] {
        let overrides =
            [("m2", m), ("m4", m), ("simulation.until", until), ("simulation.h", "1e-3")];
        let run = run("fluid-queues/priorities.toml", &overrides);
        let m: f64 = m.parse().unwrap();
        let (factor, cycle) = (m / (1.0 - m), 2.0 * m / (1.0 - m));
        let (t, q1, q4) =
            (&run.frames.time, signal(&run, "queue.x[0]"), signal(&run, "queue.x[3]"));
        let sum = |k: usize| (0..4).map(|i| signal(&run, &format!("queue.x[{i}]"))[k]).sum::<f64>();
        let (mut start, mut height) = (0.0, 1.0);
        for _ in 0..3 {
            start += cycle * height;
            height *= factor;
            // q₁ is highest there, and falls at once
            let k = (start / 1e-3).round() as usize;
            let highest = q1[k - 10..k + 10].iter().copied().fold(0.0, f64::max);
            within("time", (t[k] - start).abs(), 1e-3);
            within("q1", (highest - height).abs(), 0.01 * height);
            within("q4", q4[k + 10], 1e-9);
        }
        if factor < 1.0 {
            // infinitely many cycles until cycle/(1 − factor), then empty
            let k = ((cycle / (1.0 - factor) + 0.05) / 1e-3).round() as usize;
            within("empty", sum(k), 1e-9);
            within("empty for good", sum(t.len() - 1), 1e-9);
        }
    }
}

/// The mass arrives at rest, the control is that of the closed form, the Hamiltonian is constant.
#[test]
fn optimal_control_arrives() {
    let (T, U, x0) = (2.0f64, 1.5, 1.25);
    for (file, energy) in [("model", true), ("fuel", false)] {
        let mut errors = Vec::new();
        for h in ["8e-3", "4e-3", "2e-3", "1e-3"] {
            let run = run(&format!("optimal-control/{file}.toml"), &[("simulation.h", h)]);
            let t = &run.frames.time;
            let [x1, x2, p1, p2] = [0, 1, 2, 3].map(|i| signal(&run, &format!("mass.x[{i}]")));
            let u = signal(&run, "control.lam");
            let last = t.len() - 1;
            errors.push((h.parse().unwrap(), x1[last].abs() + x2[last].abs()));
            let (c, cost) = if energy {
                let s = (3.0 * (T * T / 4.0 - x0 / U)).sqrt();
                (U * T / (2.0 * s), U * U * (T / 2.0 - s) + U * U * s / 3.0)
            } else {
                let t1 = (T - (T * T - 4.0 * x0 / U).sqrt()) / 2.0;
                (T / (T - 2.0 * t1), 2.0 * U * t1)
            };
            let h = t[1] - t[0];
            let mut spent = 0.0;
            let price = |u: f64| if energy { u * u / 2.0 } else { u.abs() };
            for k in 1..t.len() {
                let costate = c * (1.0 - 2.0 * t[k] / T);
                within("costate", (p2[k] - costate).abs(), 1e-10);
                let best = if energy {
                    (-costate).clamp(-U, U)
                } else {
                    [0.0, -U * costate.signum()][usize::from(costate.abs() > 1.0)]
                };
                if energy || (costate.abs() - 1.0).abs() > 1e-9 {
                    within("control", (u[k] - best).abs(), 1e-9);
                }
                let hamiltonian = price(u[k]) + p1[k] * x2[k] + p2[k] * u[k];
                let start = price(u[1]) + c * u[1];
                within("Hamiltonian", (hamiltonian - start).abs(), 10.0 * h);
                spent += h * price(u[k]);
            }
            within(&format!("{file}: cost"), (spent - cost).abs() / cost, 3.0 * h);
        }
        within(&format!("{file}: end"), errors[3].1, 5e-3);
        order_within(&format!("{file}: end"), &errors, 0.7..=1.6);
    }
}

/// Levels, the delay of the first inverter in closed form, and equal delays along the chain.
#[test]
fn inverters_have_equal_delays() {
    let (V_DD, a) = (3.0, 100e-6 / (2.0 * 20e-15));
    let overrides = [("period", "8e-9"), ("simulation.until", "8e-9")];
    let run = run("inverter-chain/model.toml", &overrides);
    let (t, h) = (&run.frames.time, 2e-12);
    let node = |i: usize| signal(&run, &format!("node{i}.x[0]"));
    // at rest all levels are exact: high after low
    let rest = t.iter().position(|&t| t > 3.9e-9).unwrap();
    for i in 1..=8 {
        let level = if i % 2 == 1 { V_DD } else { 0.0 };
        within("level", (node(i)[rest] - level).abs(), 1e-9);
        within("after the input rose", (node(i)[t.len() - 2] - (V_DD - level)).abs(), 1e-6);
    }
    // the output falls by ẋ = a (6.25 − f(x)), x = 2.5 − v, from −0.5 to 1, in three pieces
    let pieces = [0.5 / 6.25, (6.25f64 / 6.0).ln() / 0.5, (6.0f64 / 5.25).ln() / 1.5];
    let exact = pieces.iter().sum::<f64>() / a;
    let passes = |i: usize| crossings(t, &node(i), V_DD / 2.0, i.is_multiple_of(2))[0];
    within("first delay", (passes(1) - 4e-9 - exact).abs(), 2.0 * h);
    let delays: Vec<f64> = (2..8).map(|i| passes(i + 1) - passes(i)).collect();
    let [.., last] = delays[..] else { panic!() };
    println!("first {exact:e}, then {delays:?}");
    for delay in &delays[1..] {
        within("delay", (delay - last).abs() / last, 1e-3);
    }

    // a ring of five takes ten delays for a period
    let ring = crate::example_files::run("inverter-chain/ring.toml", &[]);
    let up = crossings(&ring.frames.time, &signal(&ring, "node0.x[0]"), V_DD / 2.0, true);
    let [.., before, after] = up[..] else { panic!("{} periods", up.len()) };
    within("period of the ring", ((after - before) / (10.0 * last) - 1.0).abs(), 1e-3);
}

/// Every mode follows its closed form while nothing is touched, at steps longer than a period too.
#[test]
fn guitar_string_vibrates_exactly() {
    let (f, B) = (196.0, 1.8e-5);
    for (h, modes) in
        [("1/44100", &[1, 2, 21, 79]), ("1e-3", &[1, 2, 3, 4]), ("7e-3", &[1, 2, 3, 4])]
    {
        let run = run("guitar-string/model.toml", &[("action", "1"), ("simulation.h", h)]);
        let t = &run.frames.time;
        for &mode in modes {
            let k = f64::from(mode);
            let q = signal(&run, &format!("string.q[{}]", mode - 1));
            let sigma = 1.0 + 2e-3 * k * k;
            let omega = ((2.0 * PI * f * k).powi(2) * (1.0 + B * k * k) - sigma * sigma).sqrt();
            let exact = |t: f64| {
                q[0] * (-sigma * t).exp() * ((omega * t).cos() + sigma / omega * (omega * t).sin())
            };
            // a last step of another length is left out
            let error = largest((0..t.len() - 1).map(|i| q[i] - exact(t[i])));
            within(&format!("h = {h}, mode {mode}"), error / q[0].abs(), 1e-11);
        }
    }
}

/// Without frets the buzzing string would swing deeper than they allow, and sound longer.
#[test]
fn guitar_string_buzzes() {
    let run = run("guitar-string/model.toml", &[]);
    let touched: Vec<usize> = (1..=12)
        .filter(|j| signal(&run, &format!("fret{j}.lam")).iter().any(|&lam| lam > 0.0))
        .collect();
    assert!(touched.len() > 2, "{touched:?}");
    for j in 1..=12 {
        let gap = signal(&run, &format!("fret{j}.y"));
        println!("fret {j}: deepest {:e}", gap.iter().copied().fold(0.0, f64::min));
    }
}

/// An obstacle in the middle raises the pitch by a fourth: the period is 3/4 of the free one, the
/// string is pressed for a third of it by a constant force, and no energy is lost.
#[test]
fn obstacle_raises_the_pitch_by_a_fourth() {
    let (f, L, mu, pluck, modes) = (196.0, 0.65, 1.17e-3, 4e-3, 200);
    let run = run("guitar-string/obstacle.toml", &[]);
    let (t, gap) = (&run.frames.time, signal(&run, "obstacle.y"));
    let h = t[1];
    let exact = |t: f64| {
        let phase = (t * f / 0.75).fract() * 0.75;
        pluck * (1.0 - 4.0 * phase.min(0.75 - phase)).max(0.0)
    };
    let mean = (0..t.len()).map(|k| (gap[k] - exact(t[k])).abs()).sum::<f64>() / t.len() as f64;
    within("height, mean", mean / pluck, 0.02);

    // force 2 T V/c with T = μ c², V = 2 c pluck/L, c = 2 L f
    let c = 2.0 * L * f;
    let force = 4.0 * mu * c * c * pluck / L;
    let lam = signal(&run, "obstacle.lam");
    let pressed: f64 = lam.iter().sum::<f64>() / h;
    // pressed in [1/4, 1/2], [1, 5/4], [7/4, 2], [5/2, 11/4] of 3 free periods
    within("impulse", (pressed * h / (force / f) - 1.0).abs(), 0.02);

    // ½ Σ ω² A², with the amplitude of a mode from two instants
    let energy = |k: usize| {
        (0..modes)
            .map(|mode| {
                let q = signal(&run, &format!("string.q[{mode}]"));
                let omega = 2.0 * PI * f * (mode + 1) as f64;
                let (sin, cos) = (omega * h).sin_cos();
                let square = q[k].powi(2) + q[k - 1].powi(2) - 2.0 * q[k] * q[k - 1] * cos;
                omega * omega * square / (2.0 * sin * sin)
            })
            .sum::<f64>()
    };
    let (start, end) = (energy(1), energy(t.len() - 1));
    println!("energy {start:e} to {end:e}");
    within("energy lost", (start - end) / start, 0.03);
}

/// The stack stays exactly where it is until the tilt reaches the closed form, and then slides or
/// turns over.
#[test]
fn tilted_stack_moves_at_the_critical_angle() {
    let (rate, g, h) = (0.3, 9.81, 1e-3);
    for (mu, slides) in [(0.7f64, false), (0.3, true)] {
        let critical = if slides { mu.atan() } else { 0.5f64.atan() } / rate;
        let until = (critical + 0.3).to_string();
        let overrides = [("mu", &mu.to_string()[..]), ("simulation.until", &until)];
        let run = run("tilted-stack/model.toml", &overrides);
        let t = &run.frames.time;
        for i in 0..4 {
            let [x, z, phi] = [0, 1, 2].map(|c| signal(&run, &format!("block{i}.q[{c}]")));
            let before = (0..t.len()).filter(|&k| t[k] < critical - h);
            let creep = before.map(|k| x[k].abs().max((z[k] - z[0]).abs()).max(phi[k].abs()));
            within(&format!("creep of block {i}, mu = {mu}"), largest(creep), 1e-13);
            let last = t.len() - 1;
            if slides {
                // ẍ = g (sin β − μ cos β) from the critical angle on
                let (b, b0) = (rate * t[last], rate * critical);
                let exact = g / (rate * rate)
                    * ((b0.cos() + mu * b0.sin()) * (b - b0) + (b0.sin() - b.sin())
                        - mu * (b0.cos() - b.cos()));
                within("slid", (x[last] - exact).abs() / exact, 1e-3);
                within("turned", phi[last].abs(), 1e-12);
            } else {
                // all blocks have turned by the same angle
                let first = signal(&run, "block0.q[2]")[last];
                assert!(first < -1e-3, "{first}");
                within("turned as one", (phi[last] - first).abs(), 1e-12);
            }
        }
    }
}

/// Pushed at its top, the stack stays until the highest block slides, or all turn over.
#[test]
fn pushed_stack_moves_at_the_critical_force() {
    for (mu, critical) in [("0.7", 0.7), ("1.5", 8.0 / 7.0)] {
        let until = (critical + 0.2_f64).to_string();
        let overrides = [("mu", mu), ("rate", "0"), ("push", "9.81"), ("simulation.until", &until)];
        let run = run("tilted-stack/model.toml", &overrides);
        let t = &run.frames.time;
        let last = t.len() - 1;
        for i in 0..4 {
            let [x, z, phi] = [0, 1, 2].map(|c| signal(&run, &format!("block{i}.q[{c}]")));
            let moved = |k: usize| x[k].abs().max((z[k] - z[0]).abs()).max(phi[k].abs());
            let before = (0..t.len()).filter(|&k| t[k] < critical - 1e-3);
            within(&format!("creep of block {i}, mu = {mu}"), largest(before.map(moved)), 1e-13);
            match (mu, i) {
                ("0.7", 3) => {
                    let exact = 9.81 * (t[last] - critical).powi(3) / 6.0;
                    within("slid", (x[last] - exact).abs() / exact, 1e-3);
                }
                ("0.7", _) => within("stayed", moved(last), 1e-12),
                _ => assert!(phi[last] < -1e-3, "block {i} has turned by {}", phi[last]),
            }
        }
    }
}

/// Stops hold without rebound, the ground throws back with e = 0.9, and energy is lost at contacts
/// only.
#[test]
fn falling_arm_bounces_and_stops() {
    let run = run("falling-arm/model.toml", &[]);
    let t = &run.frames.time;
    let (l1, l2, m1, m2, g) = (0.45, 0.48, 8.4, 4.9, 9.81);
    let [q1, q2] = [0, 1].map(|i| signal(&run, &format!("arm.q[{i}]")));
    let of = |path: String| signal(&run, &path);
    let pressed = |lam: &[f64]| (1..t.len()).filter(|&k| lam[k] > 0.0).collect::<Vec<_>>();
    for (stop, instant) in [("low", 1.127038), ("high", 0.329987)] {
        let (lam, u) = (of(format!("{stop}.lam")), of(format!("{stop}.u")));
        let held = pressed(&lam);
        within("instant", (t[held[0]] - instant).abs(), 5e-3);
        within(stop, largest(held.into_iter().map(|k| u[k])), 1e-10);
    }
    let mut first = Vec::new();
    for place in ["elbow", "tip"] {
        let (lam, u) = (of(format!("{place}.lam")), of(format!("{place}.u")));
        let hits = pressed(&lam);
        first.push(t[hits[0]]);
        within(place, largest(hits.into_iter().map(|k| u[k] + 0.9 * u[k - 1])), 1e-10);
    }
    // from an integration with located events
    within("elbow on the ground", (first[0] - 0.700880).abs(), 1e-3);
    within("tip on the ground", (first[1] - 1.055087).abs(), 2e-3);

    // work is that of gravity alone, and what is left of the books is small
    let height =
        |k: usize| (m1 / 2.0 + m2) * l1 * q1[k].sin() + m2 / 2.0 * l2 * (q1[k] + q2[k]).sin();
    let books = ledgers(&run);
    let all = books[books.len() - 1].contact();
    for (k, entry) in books.iter().enumerate() {
        let fallen = g * (height(0) - height(k));
        within("work", (entry.work - fallen).abs() / all, 0.02);
        within("numerical", entry.numerical.abs() / all, 0.02);
    }
    let taken = books.windows(2).map(|two| two[0].contact() - two[1].contact());
    within("given by a contact", taken.fold(0.0, f64::max), 1e-9 * all);
}
