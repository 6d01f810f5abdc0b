//! Chains of inverters, alone and before the gates of the buck converter: how the cost of a step grows.

use crate::circuits::{self, STANDARD, buck, chain};
use crate::time;
use saltus::circuits::Method;

/// Our runs, of which the quickest counts.
const REPEATS: usize = 3;

pub fn run(quick: bool) -> Result<(), String> {
    println!("| circuit | steps | Saltus | an inverter | ngspice | ratio | by exponent |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let until = if quick { 2e-6 } else { 2e-5 };
    for with_buck in [true, false] {
        let mut before: Option<(f64, f64)> = None;
        for count in [2, 10, 50, 100, 200] {
            let (name, deck) = match with_buck {
                true => (format!("buck and {count} inverters"), buck(STANDARD, count, 1e-9, until)),
                false => (format!("{count} inverters"), chain(count)),
            };
            let mut ours = circuits::saltus(&deck, Method::Fixed)?;
            for _ in 1..REPEATS {
                let again = circuits::saltus(&deck, Method::Fixed)?;
                ours.seconds = ours.seconds.min(again.seconds);
            }
            let step = ours.seconds / ours.steps.max(1) as f64;
            let theirs = circuits::ngspice(&deck).map(|one| one.seconds / one.steps.max(1) as f64);
            let ratio = theirs.map_or("-".to_string(), |theirs| format!("{:.1}", theirs / step));
            let n = count as f64;
            let exponent = before.map_or("-".to_string(), |(m, of)| {
                format!("{:.2}", (step / of).ln() / (n / m).ln())
            });
            before = Some((n, step));
            println!(
                "| {name} | {} | {} | {} | {} | {ratio} | {exponent} |",
                ours.steps,
                time(Some(step)),
                time(Some(step / n)),
                time(theirs)
            );
        }
    }
    Ok(())
}
