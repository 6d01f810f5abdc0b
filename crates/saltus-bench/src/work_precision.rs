//! Time beside error: the buck converter from event to event beside ngspice over a ladder of its settings.
//!
//! The error of a run is the largest difference of output or coil current from a reference, relative to
//! their range, up to 40 µs; of ngspice at its own instants, so that what is between them does not count,
//! and beside its own run at tight tolerances. Ours has no setting: its error is told by steps of one length
//! that become shorter.

use crate::circuits::{SLIDING, STANDARD, buck};
use crate::time;
use crate::waveforms::{Asked, Devices, POINTWISE, Waves};
use saltus::circuits::Method;

/// Distance of the instants that we record.
const SAMPLES: f64 = 2e-8;
/// Errors at which times are compared.
const LEVELS: [f64; 8] = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5];
/// Our runs, of which the quickest counts.
const REPEATS: usize = 9;

/// A run of ngspice.
struct Rung {
    asked: Asked,
    devices: Devices,
    seconds: f64,
    error: f64,
}

pub fn run(quick: bool) -> Result<(), String> {
    for (name, values) in [("buck", STANDARD), ("buck, sliding", SLIDING)] {
        println!("\n{name}, {POINTWISE:e} s\n");
        ours_alone(values, quick)?;
        let ours = quickest(values, POINTWISE)?;
        println!("\nSaltus from event to event: {}\n", time(Some(ours.1)));
        let mut rungs = Vec::new();
        println!(
            "| devices | method | reltol | trtol | largest step | points | ngspice | v(out) | i(L1) |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for devices in [Devices::PiecewiseLinear, Devices::Smooth] {
            rungs.extend(ladder(values, devices, quick, &ours.0));
        }
        println!(
            "\n| error | devices | fastest ngspice that reaches it | ngspice | Saltus | ratio |"
        );
        println!("| --- | --- | --- | --- | --- | --- |");
        for devices in [Devices::PiecewiseLinear, Devices::Smooth] {
            for level in LEVELS {
                let own = rungs.iter().filter(|one| one.devices == devices && one.error <= level);
                let Some(best) = own.min_by(|a, b| a.seconds.total_cmp(&b.seconds)) else {
                    println!("| {level:e} | {} | none | - | - | - |", devices.name());
                    continue;
                };
                let Asked { method, reltol, trtol, longest } = best.asked;
                println!(
                    "| {level:e} | {} | {method}, reltol {reltol:e}, trtol {trtol}, {longest:e} | {} | {} | {:.0} |",
                    devices.name(),
                    time(Some(best.seconds)),
                    time(Some(ours.1)),
                    best.seconds / ours.1
                );
            }
        }
        figures(values, &rungs)?;
    }
    Ok(())
}

/// The error of our run: steps of one length beside it.
fn ours_alone(values: &str, quick: bool) -> Result<(), String> {
    let (exact, _) = Waves::saltus(&buck(values, 0, SAMPLES, POINTWISE), Method::Exact)?;
    println!("| Saltus, steps of | v(out) beside event to event | i(L1) | time |");
    println!("| --- | --- | --- | --- |");
    let steps: &[f64] = if quick { &[1e-9, 1e-10] } else { &[1e-9, 2e-10, 5e-11, 1.25e-11] };
    for &h in steps {
        let (fixed, seconds) = Waves::saltus(&buck(values, 0, h, POINTWISE), Method::Fixed)?;
        let [out, coil] = [0, 1].map(|signal| exact.apart(&fixed, signal, POINTWISE));
        println!("| {h:e} | {out:.1e} | {coil:.1e} | {} |", time(Some(seconds)));
    }
    Ok(())
}

/// Our run from event to event, and the time of the quickest of several.
fn quickest(values: &str, until: f64) -> Result<(Waves, f64), String> {
    let deck = buck(values, 0, SAMPLES, until);
    let (waves, mut best) = Waves::saltus(&deck, Method::Exact)?;
    for _ in 1..REPEATS {
        best = best.min(Waves::saltus(&deck, Method::Exact)?.1);
    }
    Ok((waves, best))
}

/// All settings, each with its error beside the tight run.
fn ladder(values: &str, devices: Devices, quick: bool, ours: &Waves) -> Vec<Rung> {
    let tight = Asked { method: "gear", reltol: 1e-6, trtol: 1.0, longest: 1e-10 };
    let Some((reference, _)) = tight.run(values, devices, POINTWISE) else { return Vec::new() };
    let [out, coil] = [0, 1].map(|signal| ours.apart(&reference, signal, POINTWISE));
    println!(
        "| {} | Saltus beside the reference | | | | | | {out:.1e} | {coil:.1e} |",
        devices.name()
    );
    let mut rungs = Vec::new();
    let reltols: &[f64] = if quick { &[1e-3, 1e-5] } else { &[1e-2, 1e-3, 1e-4, 1e-5, 1e-6] };
    let trtols: &[f64] = if quick { &[7.0] } else { &[1.0, 7.0] };
    for method in ["trap", "gear"] {
        for &reltol in reltols {
            for &trtol in trtols {
                for longest in [POINTWISE / 50.0, 5e-8, 1e-8, 2e-9, 5e-10] {
                    let asked = Asked { method, reltol, trtol, longest };
                    let Some((waves, seconds)) = asked.run(values, devices, POINTWISE) else {
                        continue; // it gives up on some
                    };
                    let [out, coil] =
                        [0, 1].map(|signal| waves.apart(&reference, signal, POINTWISE));
                    println!(
                        "| {} | {method} | {reltol:e} | {trtol} | {longest:e} | {} | {} | {out:.1e} | {coil:.1e} |",
                        devices.name(),
                        waves.time.len(),
                        time(Some(seconds)),
                    );
                    let reached = waves.time.last().is_some_and(|t| *t >= POINTWISE * (1.0 - 1e-9));
                    if reached && seconds > 0.0 {
                        rungs.push(Rung { asked, devices, seconds, error: out.max(coil) });
                    }
                }
            }
        }
    }
    rungs
}

/// Figures over the last periods of 200 µs, of us and of the fastest settings at some errors.
fn figures(values: &str, rungs: &[Rung]) -> Result<(), String> {
    let until = 2e-4;
    println!("\n| 200 µs | devices | time | mean output | duty | above 1.5 V | ripple | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let (ours, seconds) = quickest(values, until)?;
    let row = |by: &str, devices: Devices, waves: &Waves, of: f64| {
        let [mean, duty, above, ripple] = waves.figures();
        println!(
            "| {by} | {} | {} | {mean:.6} | {duty:.5} | {above:.5} | {ripple:.5} | {:.1} |",
            devices.name(),
            time(Some(of)),
            of / seconds
        );
    };
    row("Saltus, event to event", Devices::PiecewiseLinear, &ours, seconds);
    for devices in [Devices::PiecewiseLinear, Devices::Smooth] {
        for level in [1e-1, 1e-2, 1e-3] {
            let own = rungs.iter().filter(|one| one.devices == devices && one.error <= level);
            let Some(best) = own.min_by(|a, b| a.seconds.total_cmp(&b.seconds)) else { continue };
            if let Some((waves, of)) = best.asked.run(values, devices, until) {
                row(&format!("ngspice at {level:e}"), devices, &waves, of);
            }
        }
    }
    Ok(())
}
