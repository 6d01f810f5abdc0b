//! Waveforms of the buck converter beside those of ngspice at tight tolerances: states up to 40 µs point by
//! point, then mean, duty and ripple over the last periods.
//!
//! Point by point both have the same devices, exponential diodes and quadratic transistors; the founding
//! comparison's piecewise-linear ones are held against ngspice by their figures.

use saltus::circuits::{Deck, Watch};
use std::process::Command;

/// Rows in time of some signals.
pub struct Waves {
    time: Vec<f64>,
    values: Vec<Vec<f64>>,
}

/// What is compared: output, coil, and the node that is switched.
pub const SIGNALS: [&str; 3] = ["v(out)", "i(L1)", "v(sw)"];
/// Period of the ramp.
const PERIOD: f64 = 1.6667e-6;
/// Periods that figures are taken over.
const LAST: f64 = 12.0;

impl Waves {
    /// A run of a netlist in Saltus; also its time of computing.
    pub fn saltus(text: &str) -> Result<(Waves, f64), String> {
        let deck = Deck::parse(text, "waveforms.cir").map_err(|error| error.to_string())?;
        let mut plan = deck.plan(None, None).map_err(|error| error.to_string())?;
        plan.transient.signals = Some(SIGNALS.map(str::to_string).to_vec());
        let clock = cpu_time::ProcessTime::now();
        let run = plan.model.run(&plan.transient, Watch::default());
        let run = run.map_err(|error| error.to_string())?;
        let seconds = clock.elapsed().as_secs_f64();
        let values = SIGNALS.iter().map(|name| run.signal(name).map_err(|e| e.to_string()));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Ok((Waves { time: run.frames.time, values }, seconds))
    }

    /// The same in ngspice, where it is installed.
    pub fn ngspice(text: &str) -> Option<Waves> {
        let path = |end: &str| {
            std::env::temp_dir().join(format!("saltus-waveforms-{}.{end}", std::process::id()))
        };
        let (netlist, data) = (path("cir"), path("data"));
        let body = text.replace(".end\n", "");
        let columns = SIGNALS.join(" ");
        let written = data.display();
        let text = format!(
            "{body}.control\nset wr_singlescale\nrun\nwrdata {written} {columns}\n.endc\n.end\n"
        );
        std::fs::write(&netlist, text).ok()?;
        let done = Command::new("ngspice").arg("-b").arg(&netlist).output();
        let table = std::fs::read_to_string(&data);
        let _ = (std::fs::remove_file(&netlist), std::fs::remove_file(&data));
        done.ok()?;
        let (mut time, mut values) = (Vec::new(), vec![Vec::new(); SIGNALS.len()]);
        for line in table.ok()?.lines() {
            let row: Option<Vec<f64>> = line.split_whitespace().map(|x| x.parse().ok()).collect();
            let row = row.filter(|row| row.len() == 1 + SIGNALS.len())?;
            time.push(row[0]);
            values.iter_mut().zip(&row[1..]).for_each(|(column, x)| column.push(*x));
        }
        (time.len() > 1).then_some(Waves { time, values })
    }

    /// A signal at an instant, on straight lines.
    fn at(&self, signal: usize, t: f64) -> f64 {
        let next = self.time.partition_point(|known| *known <= t).clamp(1, self.time.len() - 1);
        let (from, to) = (self.time[next - 1], self.time[next]);
        let (a, b) = (self.values[signal][next - 1], self.values[signal][next]);
        a + (b - a) * ((t - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The largest difference of a signal from another's, relative to that one's range, until `until`.
    pub fn apart(&self, other: &Waves, signal: usize, until: f64) -> f64 {
        let rows = other.time.iter().zip(&other.values[signal]).filter(|row| *row.0 <= until);
        let (mut worst, mut low, mut high) = (0.0_f64, f64::INFINITY, f64::NEG_INFINITY);
        for (t, value) in rows {
            worst = worst.max((self.at(signal, *t) - value).abs());
            (low, high) = (low.min(*value), high.max(*value));
        }
        worst / (high - low)
    }

    /// Mean output, duty and ripple of the coil over the last periods.
    pub fn figures(&self) -> [f64; 3] {
        let end = self.time[self.time.len() - 1];
        let begin = end - LAST * PERIOD;
        let (mut mean, mut on, mut low, mut high) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for k in 1..self.time.len() {
            if self.time[k - 1] < begin {
                continue;
            }
            let h = self.time[k] - self.time[k - 1];
            mean += h * (self.values[0][k] + self.values[0][k - 1]) / 2.0;
            on += if self.values[2][k] + self.values[2][k - 1] > 3.0 { h } else { 0.0 };
            (low, high) = (low.min(self.values[1][k]), high.max(self.values[1][k]));
        }
        [mean / (LAST * PERIOD), on / (LAST * PERIOD), high - low]
    }
}
