//! Circuits beside ngspice and Siconos: the buck converter of the founding comparison, alone and
//! with chains of inverters before its gates, and chains of inverters alone.
//!
//! ngspice runs the same netlist with its quadratic transistors and exponential diodes, its largest
//! step set to ours, so that it takes the same number of steps. Its time is what it tells itself,
//! without reading and writing, which is time that has passed: where its whole process took less of a
//! processor than that, on a busy machine, this counts.

use crate::peers::SiconosRounds;
use crate::rounds::{ROUNDS, Ratios, cell, median};
use crate::{inverters, waveforms, work_precision};
use cpu_time::ProcessTime;
use saltus::circuits::{Deck, Method, Watch};
use std::fmt::Write;
use std::process::{Command, ExitCode};

/// What one simulator says of a circuit.
pub struct Answer {
    pub steps: usize,
    pub seconds: f64,
    measures: Vec<(String, f64)>,
}

pub fn run(arguments: &[String]) -> ExitCode {
    let quick = arguments.iter().any(|one| one == "--quick");
    let asked = |name: &str| arguments.iter().any(|one| one == name);
    let done = match () {
        () if asked("waveforms") => waveforms::run(quick, asked("--all")),
        () if asked("exact") => work_precision::run(quick),
        () if asked("inverters") => inverters::run(quick),
        () => tables(quick),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn tables(quick: bool) -> Result<(), String> {
    println!("| circuit | h | steps | Saltus | ngspice | ratio | Siconos | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut siconos = SiconosRounds::start(&["buck-converter", "--steps", "10000"]);
    let fine = if quick { 2e-5 } else { 2e-4 };
    let standard = [("buck", STANDARD), ("buck, sliding", SLIDING)];
    let mut figures = String::new();
    for (name, values) in standard {
        for (h, until) in [(1e-9, 2e-4), (50e-12, fine)] {
            let deck = buck(values, 0, h, until);
            let (ours, theirs) = row(name, h, &deck, siconos.as_mut())?;
            if until > 1e-4 {
                told(&mut figures, &format!("{name}, h = {h:e}"), &ours, theirs.as_ref());
            }
        }
    }
    for count in [2, 10, 50, 200] {
        let until = if quick { 2e-6 } else { 2e-5 };
        let deck = buck(STANDARD, count, 1e-9, until);
        row(&format!("buck and {count} inverters"), 1e-9, &deck, None)?;
    }
    for count in [2, 10, 50, 200] {
        let deck = chain(count);
        row(&format!("{count} inverters"), 10e-12, &deck, None)?;
    }
    println!("\n| | Saltus | ngspice |\n| --- | --- | --- |\n{figures}");
    waveforms::run(quick, false)
}

/// A circuit in rounds: Saltus, ngspice, Siconos, and again. The answers of the last round.
fn row(
    name: &str,
    h: f64,
    deck: &str,
    mut siconos: Option<&mut SiconosRounds>,
) -> Result<(Answer, Option<Answer>), String> {
    let a_step = |one: &Answer| one.seconds / one.steps.max(1) as f64;
    let [mut ours, mut spice, mut others] = [const { Vec::new() }; 3];
    let mut last = None;
    for round in 0..=ROUNDS {
        let (own, theirs) = (saltus(deck, Method::Fixed)?, ngspice(deck));
        let other = siconos.as_mut().and_then(|siconos| siconos.round());
        if round > 0 {
            ours.push(Some(a_step(&own)));
            spice.push(theirs.as_ref().map(a_step));
            others.push(other.map(|other| other.bare));
        }
        last = Some((own, theirs));
    }
    let (own, theirs) = last.ok_or("no rounds")?;
    let columns = |peer: &[Option<f64>]| {
        format!("{} | {}", crate::time(median(peer)), cell(Ratios::of(peer, &ours)))
    };
    println!(
        "| {name} | {h:e} | {} | {} | {} | {} |",
        own.steps,
        crate::time(median(&ours)),
        columns(&spice),
        columns(&others)
    );
    Ok((own, theirs))
}

fn told(out: &mut String, name: &str, ours: &Answer, theirs: Option<&Answer>) {
    for (measure, value) in &ours.measures {
        let other = theirs.and_then(|one| one.measures.iter().find(|(known, _)| known == measure));
        let other = other.map_or("-".to_string(), |(_, value)| format!("{value:.6}"));
        let _ = writeln!(out, "| {name}: {measure} | {value:.6} | {other} |");
    }
}

/// The netlist in Saltus.
pub fn saltus(text: &str, method: Method) -> Result<Answer, String> {
    let deck = Deck::parse(text, "bench.cir").map_err(|error| error.to_string())?;
    let mut plan = deck.plan(None, None).map_err(|error| error.to_string())?;
    plan.transient.method = method;
    plan.transient.every = (plan.transient.until / plan.transient.h / 2e5).ceil() as usize;
    let clock = ProcessTime::now();
    let run = plan.model.run(&plan.transient, Watch::default());
    let seconds = clock.elapsed().as_secs_f64();
    let run = run.map_err(|error| error.to_string())?;
    let measures = plan.measure(&run).into_iter();
    let measures = measures.filter_map(|(name, value)| Some((name, value.ok()?))).collect();
    Ok(Answer { steps: run.stats.steps, seconds, measures })
}

/// The netlist in ngspice, where that is installed.
pub fn ngspice(text: &str) -> Option<Answer> {
    let path = std::env::temp_dir().join(format!("saltus-bench-{}.cir", std::process::id()));
    let body = text.replace(".end\n", "");
    let text = format!("{body}.control\nrun\nrusage everything\n.endc\n.end\n");
    std::fs::write(&path, text).ok()?;
    let before = children_seconds();
    let output = Command::new("ngspice").arg("-b").arg(&path).output().ok();
    let taken = children_seconds() - before;
    let _ = std::fs::remove_file(&path);
    let output = String::from_utf8_lossy(&output?.stdout).into_owned();
    let figure = |name: &str| {
        let line = output.lines().find(|line| line.to_lowercase().starts_with(name))?;
        let value = line.split('=').nth(1)?.split_whitespace().next()?;
        value.parse::<f64>().ok()
    };
    let measures = ["vout", "ripple", "ontime"];
    let measures = measures.iter().filter_map(|name| Some(((*name).to_string(), figure(name)?)));
    Some(Answer {
        steps: figure("accepted timepoints")? as usize,
        seconds: of_a_processor(figure("transient analysis time")?, taken),
        measures: measures.collect(),
    })
}

/// Processor time of all processes that were started and have ended; not a number where nobody tells.
pub fn children_seconds() -> f64 {
    const TICKS: f64 = 100.0; // a second, as Linux counts for its users
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // the name of the program, in parentheses, may hold anything
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |field: usize| rest.split_whitespace().nth(field)?.parse::<f64>().ok();
    ticks(13).zip(ticks(14)).map_or(f64::NAN, |(user, system)| (user + system) / TICKS)
}

/// The lesser of the time that an analysis says has passed and the processor time of its whole process,
/// where that is long enough to be known.
pub fn of_a_processor(told: f64, taken: f64) -> f64 {
    const KNOWN: f64 = 0.05;
    if taken >= KNOWN { told.min(taken) } else { told }
}

/// The compensators of the founding comparison.
pub const STANDARD: &str = "LF=10u CF=22u R11=15.58k R12=227.8k R21=5.613meg C11=20p C21=1.9p";
pub const SLIDING: &str = "LF=4u CF=10u R11=10k R12=227.8k R21=8meg C11=10p C21=1.9p";

/// Transistors that Saltus takes piecewise linear, as the founding comparison does.
const MODELS: &str = "\
.model NM NMOS(level=1 VTO=2 KP=10 W=1u L=1u)
*saltus + range=1 body=0
.model PM PMOS(level=1 VTO=-2 KP=10 W=1u L=1u)
*saltus + range=1 body=0
.model BODY D(IS=1e-14 N=0.97)
*saltus + vf=0.8
.model NI NMOS(level=1 VTO=0.7 KP=100u W=20u L=1u)
*saltus + range=3 body=0
.model PI PMOS(level=1 VTO=-0.7 KP=50u W=40u L=1u)
*saltus + range=3 body=0
*saltus .option saltus device=pwl
";

/// The buck converter, with an even number of inverters between the comparator and the gates.
pub fn buck(values: &str, inverters: usize, h: f64, until: f64) -> String {
    let mut deck = format!(
        "buck converter of the founding comparison
.param VI=3 {values}
VDD vdd 0 {{VI}}
VREF ref 0 PWL(0 0 100u 1.8)
VRAMP ramp 0 PULSE(0 2.25 0 1.655u 10n 1n 1.6667u)
M1 sw gate vdd vdd PM
M2 sw gate 0 0 NM
D1 sw vdd BODY
D2 0 sw BODY
L1 sw out {{LF}} ic=0
C1 out 0 {{CF}} ic=0
RLOAD out 0 10
R12 out fb {{R12}}
R11 out n1 {{R11}}
C11 n1 fb {{C11}} ic=0
R21 err n2 {{R21}}
C21 n2 fb {{C21}} ic=0
EAMP amp 0 ref fb 1e4
RP amp pole 1
CP pole 0 5.305n ic=0
EBUF err 0 pole 0 1
"
    );
    let comparator = if inverters == 0 { "gate" } else { "g0" };
    let _ = writeln!(deck, "ECMP {comparator} 0 TABLE {{v(ramp,err)}} = (-0.15,0) (0.15,3)");
    for k in 1..=inverters {
        let (input, output) = (format!("g{}", k - 1), format!("g{k}"));
        let output = if k == inverters { "gate".to_string() } else { output };
        inverter(&mut deck, k, &input, &output);
    }
    deck.push_str(MODELS);
    let _ = writeln!(
        deck,
        ".option method=gear\n.save v(out) i(L1)\n.tran {h:e} {until:e} 0 {h:e} uic"
    );
    if until > 1e-4 {
        deck.push_str(
            ".meas tran vout avg v(out) from=180u to=200u
.meas tran ripple pp i(L1) from=195u to=200u
",
        );
    }
    deck.push_str(".end\n");
    deck
}

/// One inverter with the gate of the next as its load.
fn inverter(deck: &mut String, k: usize, input: &str, output: &str) {
    let _ = writeln!(
        deck,
        "MP{k} {output} {input} vdd vdd PI\nMN{k} {output} {input} 0 0 NI\nCL{k} {output} 0 200f ic=0"
    );
}

/// A chain of inverters that a square wave drives.
pub fn chain(count: usize) -> String {
    let mut deck = "chain of inverters
VDD vdd 0 3
VIN g0 0 PULSE(0 3 1n 0.1n 0.1n 4.9n 10n)
"
    .to_string();
    for k in 1..=count {
        inverter(&mut deck, k, &format!("g{}", k - 1), &format!("g{k}"));
    }
    deck.push_str(MODELS);
    let _ = writeln!(deck, ".option method=gear\n.save v(g{count})\n.tran 10p 50n 0 10p uic\n.end");
    deck
}
