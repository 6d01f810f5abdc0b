//! Waveforms of the buck converter beside those of ngspice at tight tolerances: states up to 40 µs point by
//! point, then mean, duty and ripple over the last periods.
//!
//! ngspice has the quadratic transistors and exponential diodes of its models (`smooth`), or the
//! piecewise-linear ones of the founding comparison, written as current sources: an ideal diode is one of
//! 0.1 mΩ there. The comparator is a sum of two ramps in ngspice, since its own tables have rounded corners.

use crate::circuits::{SLIDING, STANDARD, buck, children_seconds, of_a_processor};
use saltus::circuits::{Deck, Method, Watch};
use std::process::Command;

/// Rows in time of some signals.
pub struct Waves {
    pub time: Vec<f64>,
    values: Vec<Vec<f64>>,
}

/// What is compared: output, coil, and the node that is switched.
pub const SIGNALS: [&str; 3] = ["v(out)", "i(L1)", "v(sw)"];
/// Period of the ramp.
const PERIOD: f64 = 1.6667e-6;
/// Periods that figures are taken over.
const LAST: f64 = 12.0;
/// The supply.
const SUPPLY: f64 = 3.0;
/// Where waveforms are compared point by point.
pub const POINTWISE: f64 = 4e-5;

/// Which devices a netlist has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    Smooth,
    PiecewiseLinear,
}

impl Devices {
    pub fn name(self) -> &'static str {
        match self {
            Devices::Smooth => "smooth",
            Devices::PiecewiseLinear => "piecewise linear",
        }
    }

    /// The netlist of the buck converter with these devices, for Saltus.
    pub fn saltus(self, deck: &str) -> String {
        let mut deck = deck.to_string();
        if self == Devices::Smooth {
            let own = ["*saltus + range=1 body=0\n", "*saltus + vf=0.8\n"];
            own.iter().for_each(|line| deck = deck.replace(line, ""));
            deck = deck.replace("device=pwl", "device=smooth");
        }
        deck
    }

    /// The same for ngspice.
    pub fn ngspice(self, deck: &str) -> String {
        let comparator = |line: &str| match line.starts_with("ECMP gate ") {
            true => "BCMP gate 0 V = 10*(uramp(v(ramp,err)+0.15)-uramp(v(ramp,err)-0.15))\n".into(),
            false => format!("{line}\n"),
        };
        let deck: String = deck.lines().map(comparator).collect();
        if self == Devices::Smooth {
            return deck;
        }
        // f(u) = (√2 − 1) max(u, 0) + 2 (2 − √2) max(u − ½, 0), as the transistors of Saltus
        let root = std::f64::consts::SQRT_2;
        let f = |u: &str| {
            format!("({:e}*uramp({u})+{:e}*uramp({u}-0.5))", root - 1.0, 4.0 - 2.0 * root)
        };
        let channel = |on: &str, back: &str| format!("I = 5*({}-{})", f(on), f(back));
        let diode = |v: &str| format!("I = uramp({v}-0.8)*1e4");
        let lines = [
            ("M1 ", format!("B1 vdd sw {}", channel("v(vdd,gate)-2", "v(sw,gate)-2"))),
            ("M2 ", format!("B2 sw 0 {}", channel("v(gate)-2", "v(gate,sw)-2"))),
            ("D1 ", format!("B3 sw vdd {}", diode("v(sw,vdd)"))),
            ("D2 ", format!("B4 0 sw {}", diode("v(0,sw)"))),
        ];
        let replaced = |line: &str| {
            let own = lines.iter().find(|(begin, _)| line.starts_with(begin));
            own.map_or(line.to_string(), |(_, new)| new.clone())
        };
        deck.lines().map(|line| replaced(line) + "\n").collect()
    }
}

/// What ngspice is asked for.
#[derive(Clone, Copy)]
pub struct Asked {
    pub method: &'static str,
    pub reltol: f64,
    pub trtol: f64,
    pub longest: f64,
}

impl Asked {
    const fn tight(longest: f64) -> Asked {
        Asked { method: "gear", reltol: 1e-6, trtol: 1.0, longest }
    }

    /// For states point by point.
    const fn tighter(method: &'static str, longest: f64) -> Asked {
        Asked { method, reltol: 1e-7, trtol: 1.0, longest }
    }

    /// A run of the buck converter; also its time of computing.
    pub fn run(self, values: &str, devices: Devices, until: f64) -> Option<(Waves, f64)> {
        let Asked { method, reltol, trtol, longest } = self;
        let options = format!(
            ".options method={method} reltol={reltol:e} vntol={:e} abstol={:e} trtol={trtol}",
            1e-3 * reltol,
            1e-9 * reltol
        );
        let deck = devices.ngspice(&buck(values, 0, longest, until));
        let deck = deck.replace(".option method=gear", &options);
        Waves::ngspice(&deck.replace(".save v(out) i(L1)", ".save v(out) i(L1) v(sw)"))
    }
}

impl Waves {
    /// A run of a netlist in Saltus; also its time of computing.
    pub fn saltus(text: &str, method: Method) -> Result<(Waves, f64), String> {
        let deck = Deck::parse(text, "waveforms.cir").map_err(|error| error.to_string())?;
        let mut plan = deck.plan(None, None).map_err(|error| error.to_string())?;
        plan.transient.method = method;
        plan.transient.signals = Some(SIGNALS.map(str::to_string).to_vec());
        let clock = cpu_time::ProcessTime::now();
        let run = plan.model.run(&plan.transient, Watch::default());
        let run = run.map_err(|error| error.to_string())?;
        let seconds = clock.elapsed().as_secs_f64();
        let values = SIGNALS.iter().map(|name| run.signal(name).map_err(|e| e.to_string()));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Ok((Waves { time: run.frames.time, values }, seconds))
    }

    /// The same in ngspice, where it is installed; the time is what it tells itself, without reading and
    /// writing.
    pub fn ngspice(text: &str) -> Option<(Waves, f64)> {
        let path = |end: &str| {
            std::env::temp_dir().join(format!("saltus-waveforms-{}.{end}", std::process::id()))
        };
        let (netlist, data) = (path("cir"), path("data"));
        let body = text.replace(".end\n", "");
        let columns = SIGNALS.join(" ");
        let written = data.display();
        let text = format!(
            "{body}.control\nset wr_singlescale\nset numdgt=12\nrun\nrusage everything\nwrdata {written} {columns}\n.endc\n.end\n"
        );
        std::fs::write(&netlist, text).ok()?;
        let before = children_seconds();
        let done = Command::new("ngspice").arg("-b").arg(&netlist).output();
        let taken = children_seconds() - before;
        let table = std::fs::read_to_string(&data);
        let _ = (std::fs::remove_file(&netlist), std::fs::remove_file(&data));
        let told = String::from_utf8_lossy(&done.ok()?.stdout).to_lowercase();
        let seconds = told.lines().find(|line| line.starts_with("transient analysis time"))?;
        let seconds = seconds.split('=').nth(1)?.split_whitespace().next()?.parse().ok()?;
        let seconds = of_a_processor(seconds, taken);
        let (mut time, mut values) = (Vec::new(), vec![Vec::new(); SIGNALS.len()]);
        for line in table.ok()?.lines() {
            let row: Option<Vec<f64>> = line.split_whitespace().map(|x| x.parse().ok()).collect();
            let row = row.filter(|row| row.len() == 1 + SIGNALS.len())?;
            time.push(row[0]);
            values.iter_mut().zip(&row[1..]).for_each(|(column, x)| column.push(*x));
        }
        (time.len() > 1).then_some((Waves { time, values }, seconds))
    }

    /// A signal at an instant, on straight lines.
    fn at(&self, signal: usize, t: f64) -> f64 {
        let next = self.time.partition_point(|known| *known <= t).clamp(1, self.time.len() - 1);
        let (from, to) = (self.time[next - 1], self.time[next]);
        let (a, b) = (self.values[signal][next - 1], self.values[signal][next]);
        a + (b - a) * ((t - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The largest difference of a signal from the same of a run with many more points, at its own
    /// instants until `until`, relative to the range of that one.
    pub fn apart(&self, dense: &Waves, signal: usize, until: f64) -> f64 {
        let rows = self.time.iter().zip(&self.values[signal]).filter(|row| *row.0 <= until);
        let (mut worst, mut low, mut high) = (0.0_f64, f64::INFINITY, f64::NEG_INFINITY);
        for (t, value) in rows {
            let other = dense.at(signal, *t);
            worst = worst.max((other - value).abs());
            (low, high) = (low.min(other), high.max(other));
        }
        worst / (high - low)
    }

    /// The largest differences of the two states up to 40 µs.
    fn states(&self, beside: Option<&Waves>) -> String {
        let Some(beside) = beside else { return "-".to_string() };
        let [out, coil] = [0, 1].map(|k| self.apart(beside, k, POINTWISE));
        format!("{out:.1e}, {coil:.1e}")
    }

    /// Mean output, duty, share of the time that the switched node is in the upper half, and ripple of
    /// the coil over the last periods. The duty is that of an ideal switch with this mean of the switched
    /// node.
    pub fn figures(&self) -> [f64; 4] {
        let end = self.time[self.time.len() - 1];
        let begin = end - LAST * PERIOD;
        let (mut mean, mut switched, mut on) = (0.0, 0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 1..self.time.len() {
            if self.time[k - 1] < begin {
                continue;
            }
            let h = self.time[k] - self.time[k - 1];
            let middle =
                |signal: usize| 0.5 * (self.values[signal][k] + self.values[signal][k - 1]);
            mean += h * middle(0);
            switched += h * middle(2);
            on += if middle(2) > 0.5 * SUPPLY { h } else { 0.0 };
            (low, high) = (low.min(self.values[1][k]), high.max(self.values[1][k]));
        }
        let whole = LAST * PERIOD;
        [mean / whole, switched / (SUPPLY * whole), on / whole, high - low]
    }
}

/// The tables; `all` with what explains the first.
pub fn run(quick: bool, all: bool) -> Result<(), String> {
    asked_for(quick)?;
    if all {
        println!();
        devices(quick)?;
        println!();
        states(quick)?;
    }
    Ok(())
}

/// What is asked for: figures over the last periods of 200 µs within 0.5 % and states up to 40 µs within 1e-3 of
/// ngspice with its own devices at a tight tolerance, with rows or steps every nanosecond and every 50 ps.
fn asked_for(quick: bool) -> Result<(), String> {
    println!(
        "| circuit | run | h | seconds | mean output | duty | ripple | v(out), i(L1) to 40 µs |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let until = 2e-4;
    let finest = if quick { 5e-11 } else { 2.5e-11 };
    for (name, values) in [("buck", STANDARD), ("buck, sliding", SLIDING)] {
        let whole = Asked::tight(2.5e-10).run(values, Devices::Smooth, until);
        let near = Asked::tighter("gear", finest).run(values, Devices::Smooth, POINTWISE);
        let (Some((whole, seconds)), Some((near, _))) = (whole, near) else {
            return Err("ngspice gives no waveform".into());
        };
        let [mean, duty, _, ripple] = whole.figures();
        println!(
            "| {name} | ngspice | 2.5e-10 | {seconds:.1} | {mean:.6} | {duty:.5} | {ripple:.5} | {} |",
            whole.states(Some(&near))
        );
        for (devices, method, h) in [
            (Devices::Smooth, Method::Adaptive, 1e-9),
            (Devices::Smooth, Method::Adaptive, 5e-11),
            (Devices::PiecewiseLinear, Method::Fixed, 1e-9),
            (Devices::PiecewiseLinear, Method::Fixed, 5e-11),
        ] {
            let deck = devices.saltus(&buck(values, 0, h, until));
            let deck = deck.replace(".option method=gear", ".option reltol=1e-7");
            let (ours, seconds) = Waves::saltus(&deck, method)?;
            let off = |ours: f64, theirs: f64| {
                format!("{ours:.5} ({:+.3} %)", 100.0 * (ours - theirs) / theirs)
            };
            let figures = ours.figures();
            println!(
                "| {name} | Saltus, {}, {} | {h:e} | {seconds:.1} | {} | {} | {} | {} |",
                method.name(),
                devices.name(),
                off(figures[0], mean),
                off(figures[1], duty),
                off(figures[3], ripple),
                ours.states(Some(&near))
            );
        }
    }
    Ok(())
}

/// Each kind of devices beside itself and beside the smooth ones, at some steps.
fn devices(quick: bool) -> Result<(), String> {
    println!(
        "| circuit | simulator | devices | mean output | duty | above 1.5 V | ripple | v(out), i(L1) to 40 µs beside the same devices | beside smooth ones |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let until = 2e-4;
    for (name, values) in [("buck", STANDARD), ("buck, sliding", SLIDING)] {
        let tight = |devices| Asked::tight(2.5e-10).run(values, devices, until).map(|run| run.0);
        let (smooth, linear) = (tight(Devices::Smooth), tight(Devices::PiecewiseLinear));
        let row = |by: &str, devices: Devices, waves: &Waves, whole: bool| {
            let figures = match whole {
                true => {
                    let [mean, duty, above, ripple] = waves.figures();
                    format!("{mean:.6} | {duty:.5} | {above:.5} | {ripple:.5}")
                }
                false => "- | - | - | -".to_string(),
            };
            let own = if devices == Devices::Smooth { &smooth } else { &linear };
            let (own, beside) = (waves.states(own.as_ref()), waves.states(smooth.as_ref()));
            println!("| {name} | {by} | {} | {figures} | {own} | {beside} |", devices.name());
        };
        for (devices, reference) in
            [(Devices::Smooth, &smooth), (Devices::PiecewiseLinear, &linear)]
        {
            if let Some(reference) = reference {
                row("ngspice, 2.5e-10", devices, reference, true);
            }
            for longest in [5e-10, 1e-9] {
                if let Some((waves, _)) = Asked::tight(longest).run(values, devices, until) {
                    row(&format!("ngspice, {longest:e}"), devices, &waves, true);
                }
            }
        }
        for (devices, h, method) in [
            (Devices::PiecewiseLinear, 1e-9, Method::Fixed),
            (Devices::PiecewiseLinear, 5e-11, Method::Fixed),
            (Devices::PiecewiseLinear, 1e-9, Method::Exact),
            (Devices::Smooth, 1e-9, Method::Fixed),
            (Devices::Smooth, 2.5e-10, Method::Fixed),
            (Devices::Smooth, 1e-9, Method::Adaptive),
        ] {
            let quickly = devices == Devices::PiecewiseLinear && h == 1e-9;
            let whole = !quick || quickly || method == Method::Adaptive;
            let until = if whole { until } else { POINTWISE };
            let deck = devices.saltus(&buck(values, 0, h, until));
            let (ours, _) = Waves::saltus(&deck, method)?;
            let by = match method {
                Method::Fixed => format!("{h:e}"),
                other => other.name().to_string(),
            };
            row(&format!("Saltus, {by}"), devices, &ours, whole);
        }
    }
    Ok(())
}

/// States up to 40 µs with the devices of ngspice, beside ngspice at its tightest.
fn states(quick: bool) -> Result<(), String> {
    println!(
        "| circuit | simulator | steps or points | seconds | v(out), i(L1) to 40 µs beside the tightest |"
    );
    println!("| --- | --- | --- | --- | --- |");
    let finest = if quick { 5e-11 } else { 2.5e-11 };
    for (name, values) in [("buck", STANDARD), ("buck, sliding", SLIDING)] {
        let row = |by: &str, waves: &Waves, seconds: f64, beside: &Waves| {
            let (points, apart) = (waves.time.len(), waves.states(Some(beside)));
            println!("| {name} | {by} | {points} | {seconds:.1} | {apart} |");
        };
        let ask = |asked: Asked| asked.run(values, Devices::Smooth, POINTWISE);
        let Some((tightest, seconds)) = ask(Asked::tighter("gear", finest)) else {
            return Err("ngspice gives no waveform".into());
        };
        row(&format!("ngspice, gear, {finest:e}"), &tightest, seconds, &tightest);
        for (method, longest) in [
            ("gear", 2.0 * finest),
            ("gear", 4.0 * finest),
            ("trap", finest),
            ("trap", 2.0 * finest),
        ] {
            if let Some((waves, seconds)) = ask(Asked::tighter(method, longest)) {
                row(&format!("ngspice, {method}, {longest:e}"), &waves, seconds, &tightest);
            }
        }
        for h in [2.5e-10, 1e-10, 5e-11] {
            let deck = Devices::Smooth.saltus(&buck(values, 0, h, POINTWISE));
            let (ours, seconds) = Waves::saltus(&deck, Method::Fixed)?;
            row(&format!("Saltus, fixed, {h:e}"), &ours, seconds, &tightest);
        }
        // rows every h; steps are as long as their error allows
        for (tol, h) in
            [(1e-5, 2.5e-10), (1e-6, 2.5e-10), (1e-7, 2.5e-10), (1e-6, 1e-9), (1e-6, 5e-11)]
        {
            let deck = Devices::Smooth.saltus(&buck(values, 0, h, POINTWISE));
            let deck = deck.replace(".option method=gear", &format!(".option reltol={tol:e}"));
            let (ours, seconds) = Waves::saltus(&deck, Method::Adaptive)?;
            let by = format!("Saltus, adaptive, {tol:e}, rows every {h:e}");
            row(&by, &ours, seconds, &tightest);
        }
    }
    Ok(())
}
