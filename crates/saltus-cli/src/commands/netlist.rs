//! `saltus run buck.cir`: runs a netlist, writes its voltages and currents, prints its measures.

use super::record::{Targets, Tee, interrupt_flag, progress_bar, show};
use super::run::{Args, pairs};
use super::{event_rows, with_stats};
use crate::text::{self, plural};
use crate::{Error, Outcome};
use saltus::analysis::periodic::{Orbit, Shooting};
use saltus::circuits::measure::{MeasureError, Spectrum};
use saltus::circuits::{Deck, Figures, Method, Plan, Probes, SteadyError, TransientError, Watch};
use saltus::sim::{self, Frames, Layout, Run, Sink};
use serde_json::{Value, json};
use std::path::Path;

/// Whether a file is a netlist, by its name.
pub fn is_netlist(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    ["cir", "sp", "spi", "spice", "net", "ckt"].iter().any(|one| ending.eq_ignore_ascii_case(one))
}

/// A netlist with the values of `--set`, and what it asks for.
pub fn read(path: &Path, set: &[String]) -> Result<Deck, Error> {
    let mut deck = Deck::read(path)?;
    for (name, value) in pairs(set, &[])? {
        let number = saltus::circuits::number(&value).ok_or_else(|| {
            format!("--set {name}={value}: expected a number, for example --set RLOAD=4.7k")
        })?;
        deck.set(&name, number).map_err(|error| format!("--set {name}={value}: {error}"))?;
    }
    Ok(deck)
}

/// Runs the netlist.
pub fn run(args: &Args) -> Result<Outcome, Error> {
    if args.checkpoint.is_some() || args.resume.is_some() {
        return Err("a run of a netlist has no checkpoints".into());
    }
    for (option, value) in [("h", args.h), ("until", args.until)] {
        if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(format!("--{option} {value}: expected a positive number").into());
        }
    }
    let deck = read(&args.file, &args.set)?;
    let mut plan = deck.plan(args.h, args.until)?;
    if let Some(name) = &args.method {
        plan.transient.method = Method::from_name(name)
            .ok_or_else(|| format!("--method {name}: expected `fixed`, `exact` or `adaptive`"))?;
    }
    let targets = Targets::new(args, None, "the netlist", &[])?;
    if !args.quiet && !args.json {
        for warning in deck.warnings() {
            text::message(&format!("warning: {warning}"));
        }
    }

    let period = match args.steady_state {
        None => None,
        Some(None) => Some(plan.model.period()?),
        Some(Some(period)) if period > 0.0 && period.is_finite() => Some(period),
        Some(Some(period)) => {
            return Err(format!("--steady-state {period}: expected a period in seconds").into());
        }
    };
    if period.is_some() && plan.transient.method != Method::Fixed {
        let method = plan.transient.method.name();
        let message = format!(
            "--steady-state takes steps of one length, not the method `{method}`: add --method fixed"
        );
        return Err(message.into());
    }
    let shown = plan.transient.signals.clone().unwrap_or_default();
    if period.is_some() {
        let more = Figures::signals(&plan.circuit);
        plan.transient.signals.get_or_insert_default().extend(more);
    }
    let asked = &plan.transient;
    let probes = Probes::new(&plan.model, asked.signals.as_deref())?;
    let layout = probes.layout().clone();
    let rows = ((asked.until - asked.start) / (asked.h * asked.every as f64)) as usize + 2;
    let interrupt = interrupt_flag()?; // before there is a file that a Ctrl-C would leave
    let text_of_file = std::fs::read_to_string(&args.file).ok();
    let tee = targets.open(&layout, rows, text_of_file.as_deref())?;
    let measured = if period.is_some() { Measured::all(&layout) } else { measured(&plan, &layout) };
    let mut sink = Keeping { tee, measured };
    let bar = progress_bar(args);
    let mut progress = |progress: sim::Progress| show(&bar, progress);
    let watch =
        Watch { interrupt: Some(&interrupt), progress: Some(&mut progress), sink: Some(&mut sink) };
    let mut orbit = None;
    let result = match period {
        None => plan.model.run(asked, watch),
        Some(period) => {
            let found = plan.model.steady_state(asked, period, Shooting::default(), watch);
            match found {
                Ok(state) => {
                    orbit = Some((state.period, state.orbit));
                    Ok(state.run)
                }
                Err(SteadyError::Transient(error)) => Err(error),
                Err(
                    error @ (SteadyError::NoPeriod { .. }
                    | SteadyError::WrongPeriod { .. }
                    | SteadyError::Formula { .. }),
                ) => {
                    return Err(error.into());
                }
                Err(error) => {
                    bar.finish_and_clear();
                    text::message(&format!("there is no steady state: {error}"));
                    return Ok(Outcome::Failed);
                }
            }
        }
    };
    bar.finish_and_clear();
    let (run, failure) = match result {
        Ok(run) => (run, None),
        Err(TransientError::Failed(failure)) => (*failure.run, Some(failure.source)),
        Err(error) => return Err(error.into()),
    };
    let Keeping { tee, measured } = sink;
    let Some(files) = targets.close(tee, &run, failure.as_ref()) else {
        return Ok(Outcome::Failed);
    };
    let kept = Run { layout: measured.layout, frames: measured.frames, ..run };
    let report = Report {
        plan: &plan,
        warnings: deck.warnings().iter().map(ToString::to_string).collect(),
        measures: plan.measure(&kept),
        spectra: plan.spectra(&kept),
        steady: orbit
            .map(|(period, orbit)| (period, orbit, Figures::new(&plan.circuit, &kept, &shown))),
        run: &kept,
        written: &files.file,
        picture: files.picture(),
    };
    if args.json {
        text::out(&format!("{}\n", report.json()))?;
    } else if !args.quiet {
        text::out(&report.text())?;
    }
    let t = kept.frames.time.last().copied().unwrap_or(0.0);
    Ok(files.outcome(&kept, t, failure.as_ref()))
}

/// The signals that measures are taken of, kept in memory beside the file.
struct Measured {
    layout: Layout,
    columns: Vec<usize>, // of the rows of all signals
    frames: Frames,
}

impl Measured {
    /// All columns.
    fn all(layout: &Layout) -> Measured {
        let columns = (0..layout.width()).collect();
        Measured { layout: layout.clone(), columns, frames: Frames::default() }
    }
}

/// The columns that measures and spectra need.
fn measured(plan: &Plan, layout: &Layout) -> Measured {
    let measures = plan.measures.iter().flat_map(|measure| measure.signals());
    let spectra = plan.fourier.iter().flat_map(|fourier| &fourier.signals);
    let mut signals: Vec<sim::Signal> = Vec::new();
    for probe in measures.chain(spectra).flat_map(|signal| &signal.formula.probes) {
        if let Ok(signal) = layout.find(&probe.to_string())
            && !signals.contains(&signal)
        {
            signals.push(signal);
        }
    }
    let columns = signals.iter().map(|signal| signal.columns.start).collect();
    for (place, signal) in signals.iter_mut().enumerate() {
        signal.columns = place..place + 1;
    }
    let layout = Layout { title: layout.title.clone(), signals, ..Layout::default() };
    Measured { layout, columns, frames: Frames::default() }
}

/// Gives rows to the file and the picture, and keeps what is measured.
struct Keeping {
    tee: Tee,
    measured: Measured,
}

impl Sink for Keeping {
    fn append(&mut self, layout: &Layout, frames: &Frames) -> std::io::Result<()> {
        let Measured { columns, frames: kept, .. } = &mut self.measured;
        kept.time.extend_from_slice(&frames.time);
        kept.iterations.extend_from_slice(&frames.iterations);
        kept.residual.extend_from_slice(&frames.residual);
        for row in frames.rows.chunks_exact(layout.width().max(1)) {
            kept.rows.extend(columns.iter().map(|&column| row[column]));
        }
        self.tee.append(layout, frames)
    }
}

/// What is said at the end.
struct Report<'a> {
    plan: &'a Plan,
    warnings: Vec<String>,
    measures: Vec<(String, Result<f64, MeasureError>)>,
    spectra: Vec<Result<Spectrum, MeasureError>>,
    steady: Option<(f64, Orbit, Figures)>,
    run: &'a Run,
    written: &'a Path,
    picture: Option<&'a Path>,
}

impl Report<'_> {
    fn json(&self) -> Value {
        let circuit = &self.plan.circuit;
        let measures: serde_json::Map<String, Value> = (self.measures.iter())
            .map(|(name, value)| (name.clone(), json!(value.as_ref().ok())))
            .collect();
        let failed: serde_json::Map<String, Value> = (self.measures.iter())
            .filter_map(|(name, value)| {
                Some((name.clone(), json!(value.as_ref().err()?.to_string())))
            })
            .collect();
        let document = json!({
            "title": circuit.title,
            "nodes": circuit.nodes.len() - 1,
            "components": circuit.components.len(),
            "method": self.plan.transient.method.name(),
            "h": self.plan.transient.h,
            "until": self.plan.transient.until,
            "measures": measures,
            "failed_measures": failed,
            "spectra": self.spectra.iter().flatten().map(|spectrum| json!({
                "signal": spectrum.signal,
                "mean": spectrum.mean,
                "distortion": spectrum.distortion,
                "harmonics": spectrum.harmonics.iter()
                    .map(|one| json!({
                        "frequency": one.frequency, "magnitude": one.magnitude, "phase": one.phase
                    }))
                    .collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "failed_spectra": self.spectra.iter().filter_map(|one| one.as_ref().err())
                .map(ToString::to_string).collect::<Vec<_>>(),
            "steady_state": self.steady.as_ref().map(|(period, orbit, figures)| json!({
                "period": period,
                "residual": orbit.residual,
                "error": orbit.error,
                "iterations": orbit.iterations,
                "periods": orbit.periods,
                "signals": figures.signals.iter().map(|(name, mean, ripple)| json!({
                    "signal": name, "mean": mean, "ripple": ripple
                })).collect::<Vec<_>>(),
                "duty": figures.duty.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "input_power": figures.input,
                "load": figures.load.as_ref().map(|(name, _)| name),
                "output_power": figures.load.as_ref().map(|(_, power)| power),
                "efficiency": figures.efficiency(),
            })),
            "warnings": self.warnings,
            "events": self.run.events,
            "output": self.written,
            "plot": self.picture,
        });
        with_stats(document, &self.run.stats)
    }

    fn text(&self) -> String {
        let (stats, asked, circuit) = (&self.run.stats, &self.plan.transient, &self.plan.circuit);
        let model = &self.plan.model.model;
        let scheme = match asked.method {
            Method::Fixed => {
                format!("fixed step, h = {} s, θ = {}", number(asked.h), asked.theta)
            }
            method => format!("{}, tol = {:e}", method.name(), asked.tol),
        };
        let states: usize = model.systems().map(|(_, system)| system.dim_q()).sum();
        let mut rows = vec![
            (
                "circuit".to_string(),
                format!(
                    "{}, {}; {}, {}",
                    plural(circuit.nodes.len() - 1, "node"),
                    plural(circuit.components.len(), "component"),
                    plural(states, "state"),
                    plural(model.interactions().len(), "law"),
                ),
            ),
            ("method".to_string(), scheme),
            (
                "run".to_string(),
                format!(
                    "{} to t = {} s in {} ({} a step)",
                    plural(stats.steps, "step"),
                    number(self.run.frames.time.last().copied().unwrap_or(0.0)),
                    text::seconds(stats.seconds),
                    text::seconds(stats.seconds / stats.steps.max(1) as f64),
                ),
            ),
            ("solver".to_string(), format!("worst residual {:.1e}", stats.worst_residual)),
        ];
        for (name, value) in &self.measures {
            let value = match value {
                Ok(value) => number(*value),
                Err(error) => format!("none: {error}"),
            };
            rows.push((name.clone(), value));
        }
        for spectrum in &self.spectra {
            rows.push(match spectrum {
                Err(error) => ("spectrum".to_string(), format!("none: {error}")),
                Ok(spectrum) => {
                    let harmonics = spectrum.harmonics.iter();
                    let magnitudes: Vec<String> =
                        harmonics.map(|one| format!("{:.4e}", one.magnitude)).collect();
                    let figures = magnitudes.join(", ");
                    let (mean, thd) = (spectrum.mean, 100.0 * spectrum.distortion);
                    let mean = number(mean);
                    let figures = format!("mean {mean}, harmonics {figures}; THD {thd:.3} %");
                    let frequency = spectrum.harmonics.first().map_or(0.0, |one| one.frequency);
                    (format!("{} at {frequency} Hz", spectrum.signal), figures)
                }
            });
        }
        if let Some((period, orbit, figures)) = &self.steady {
            rows.extend(steady_rows(*period, orbit, figures));
        }
        rows.extend(event_rows(&self.run.events).into_iter().take(1));
        rows.push(("run file".to_string(), self.written.display().to_string()));
        if let Some(picture) = &self.picture {
            rows.push(("picture".to_string(), picture.display().to_string()));
        }
        format!("{}\n{}", circuit.title, text::columns(&rows))
    }
}

/// A steady state: how it was found, means and ripples, duties, powers.
fn steady_rows(period: f64, orbit: &Orbit, figures: &Figures) -> Vec<(String, String)> {
    const SHOWN: usize = 12;
    let found = format!(
        "period {} s, {} of Newton, {} simulated, off by {:.1e}",
        number(period),
        plural(orbit.iterations, "step"),
        plural(orbit.periods, "period"),
        orbit.residual
    );
    let mut rows = vec![("steady state".to_string(), found)];
    for (name, mean, ripple) in figures.signals.iter().take(SHOWN) {
        rows.push((name.clone(), format!("mean {}, ripple {}", number(*mean), number(*ripple))));
    }
    if figures.signals.len() > SHOWN {
        rows.push(("…".to_string(), plural(figures.signals.len() - SHOWN, "more signal")));
    }
    for (name, share) in figures.duty.iter().take(SHOWN) {
        rows.push((name.clone(), format!("conducts {:.2} % of the period", 100.0 * share)));
    }
    if let (Some((load, power)), Some(efficiency)) = (&figures.load, figures.efficiency()) {
        let (power, input) = (number(*power), number(figures.input));
        let share = 100.0 * efficiency;
        rows.push((
            "efficiency".to_string(),
            format!("{share:.2} %: {power} W in {load} of {input} W"),
        ));
    }
    rows
}

/// A number with at most seven digits.
fn number(value: f64) -> String {
    text::number(value, 7)
}

/// What is in a netlist, for `saltus info`: text and JSON.
pub fn info(path: &Path) -> Result<(String, Value), Error> {
    let deck = read(path, &[])?;
    let (circuit, analysis) = (deck.circuit()?, deck.analysis()?);
    let model = circuit.model()?;
    let states: usize = model.model.systems().map(|(_, system)| system.dim_q()).sum();
    let laws: Vec<&str> = model.model.interactions().map(|(name, _)| name).collect();
    let warnings: Vec<String> = deck.warnings().iter().map(ToString::to_string).collect();
    let names: Vec<&str> = circuit.components.iter().map(|one| one.name.as_str()).collect();
    let mut rows = vec![
        ("nodes".to_string(), listed(circuit.nodes.iter().skip(1).map(String::as_str))),
        ("components".to_string(), listed(names.iter().copied())),
        ("states".to_string(), states.to_string()),
        ("laws".to_string(), listed(laws.iter().copied())),
    ];
    if let Some(tran) = &analysis.tran {
        let text = format!("step {} s, until {} s", number(tran.step), number(tran.stop));
        rows.push(("transient".to_string(), text));
    }
    if !analysis.measures.is_empty() {
        let measures = analysis.measures.iter().map(|measure| measure.name.as_str());
        rows.push(("measures".to_string(), listed(measures)));
    }
    rows.extend(warnings.iter().map(|warning| ("warning".to_string(), warning.clone())));
    let document = json!({
        "title": circuit.title,
        "nodes": circuit.nodes[1..],
        "components": names,
        "states": states,
        "laws": laws,
        "signals": model.signals(),
        "until": analysis.tran.as_ref().map(|tran| tran.stop),
        "h": analysis.tran.as_ref().map(|tran| tran.max_step.unwrap_or(tran.step)),
        "measures": analysis.measures.iter().map(|one| &one.name).collect::<Vec<_>>(),
        "warnings": warnings,
    });
    Ok((format!("{}\n{}", circuit.title, text::columns(&rows)), document))
}

/// How many there are, and the first of them.
fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    const SHOWN: usize = 12;
    let count = names.clone().count();
    let first: Vec<&str> = names.take(SHOWN).collect();
    let more = if count > SHOWN { ", …" } else { "" };
    format!("{count}: {}{more}", first.join(", "))
}
