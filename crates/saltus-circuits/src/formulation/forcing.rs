//! What independent sources add: `e(t) = e₀ + E u(t) + F u̇(t)`.

use crate::Source;
use saltus_model::{Argument, At, Function, Line, Operator};
use std::sync::Arc;

/// A vector that sources move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forcing {
    constant: Vec<f64>,
    moving: Vec<Moving>,
}

/// A source, and where it acts.
#[derive(Debug, Clone)]
struct Moving {
    source: Arc<Source>,
    rate: bool, // u̇ in place of u
    rows: Vec<(usize, f64)>,
}

impl Forcing {
    /// A constant vector.
    pub fn new(constant: Vec<f64>) -> Forcing {
        Forcing { constant, moving: Vec::new() }
    }

    /// Adds `share · u` (or `u̇`) to a row.
    pub fn add(&mut self, row: usize, share: f64, source: &Arc<Source>, rate: bool) {
        let same = |one: &&mut Moving| Arc::ptr_eq(&one.source, source) && one.rate == rate;
        match self.moving.iter_mut().find(same) {
            Some(one) => one.rows.push((row, share)),
            None => {
                let (source, rows) = (Arc::clone(source), vec![(row, share)]);
                self.moving.push(Moving { source, rate, rows });
            }
        }
    }

    /// The value: every source is asked once.
    pub fn eval(&self, t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.constant);
        for Moving { source, rate, rows } in &self.moving {
            let value = if *rate { source.rate(t) } else { source.value(t) };
            rows.iter().for_each(|&(row, share)| out[row] += share * value);
        }
    }

    /// Whether nothing moves.
    pub fn is_constant(&self) -> bool {
        self.moving.is_empty()
    }

    /// As an operator; nothing where it is zero.
    pub fn operator(&self) -> Option<Operator> {
        let rows = self.constant.len();
        if self.is_constant() {
            let zero = self.constant.iter().all(|x| *x == 0.0);
            return (!zero).then(|| Operator::constant(rows, 1, self.constant.clone()));
        }
        Some(Operator::function(rows, 1, Arc::new(self.clone())))
    }
}

impl Function for Forcing {
    fn eval(&self, at: At<'_>, out: &mut [f64]) -> Result<(), String> {
        Forcing::eval(self, at.t, out);
        Ok(())
    }

    fn line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        // the latest beginning of a line, so that it is the same for all instants of a stretch
        let mut line = Line { start: f64::NEG_INFINITY, until: f64::INFINITY };
        for one in &self.moving {
            let stretch = one.source.line(t)?;
            line.until = line.until.min(stretch.until);
            if stretch.rate != 0.0 {
                line.start = line.start.max(stretch.start);
            }
        }
        if line.start == f64::NEG_INFINITY {
            line.start = 0.0;
        }
        at.copy_from_slice(&self.constant);
        rate.fill(0.0);
        for one in &self.moving {
            let stretch = one.source.line(t)?;
            let (value, slope) = match one.rate {
                true => (stretch.rate, 0.0),
                false => {
                    let since = if stretch.rate == 0.0 { 0.0 } else { line.start - stretch.start };
                    (stretch.value + stretch.rate * since, stretch.rate)
                }
            };
            for &(row, share) in &one.rows {
                at[row] += share * value;
                rate[row] += share * slope;
            }
        }
        Some(line)
    }

    fn uses(&self, argument: Argument) -> bool {
        argument == Argument::Time && !self.is_constant()
    }

    fn varies(&self, entry: usize) -> bool {
        self.moving.iter().any(|one| one.rows.iter().any(|&(row, _)| row == entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Vec<Source> {
        let pulse = |rise, fall, count| Source::Pulse {
            low: -0.5,
            high: 2.0,
            delay: 0.3,
            rise,
            fall,
            width: 0.7,
            period: 2.1,
            count,
        };
        let points = vec![(0.0, 1.0), (1.0, 3.0), (1.0, -1.0), (4.0, 0.0)];
        vec![
            Source::Dc(1.5),
            pulse(0.2, 0.4, None),
            pulse(0.0, 0.0, Some(3)),
            pulse(1.0, 1.5, None), // cut off by its period
            Source::PiecewiseLinear { points, repeat: None, delay: 0.25 },
        ]
    }

    #[test]
    fn lines_are_what_the_sources_are() {
        for source in sources() {
            let mut forcing = Forcing::new(vec![0.1, 0.0]);
            let source = Arc::new(source);
            forcing.add(0, 2.0, &source, false);
            forcing.add(1, -1.0, &source, true);
            let (mut at, mut rate, mut out) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            let mut line = Line { start: 0.0, until: f64::NEG_INFINITY };
            let mut found = 0;
            for k in 0..20_000 {
                let t = 5e-4 * k as f64;
                if t >= line.until {
                    line = Function::line(&forcing, t, &mut at, &mut rate).unwrap();
                    found += 1;
                }
                forcing.eval(t, &mut out);
                for i in 0..2 {
                    let on_line = at[i] + rate[i] * (t - line.start);
                    assert!((on_line - out[i]).abs() < 1e-12, "{source:?} at {t}, row {i}");
                }
            }
            assert!(found < 60, "{source:?}: {found} lines");
        }
    }

    #[test]
    fn a_line_does_not_depend_on_where_it_is_asked_for() {
        for source in sources() {
            let mut forcing = Forcing::new(vec![0.0]);
            forcing.add(0, 1.0, &Arc::new(source), false);
            let ask = |t: f64| {
                let (mut at, mut rate) = ([0.0], [0.0]);
                let line = Function::line(&forcing, t, &mut at, &mut rate).unwrap();
                (line, at, rate)
            };
            for k in 0..400 {
                let t = 0.0261 * k as f64;
                let (line, at, rate) = ask(t);
                let later = t + 0.9 * (line.until - t).min(1.0);
                assert_eq!(ask(later), (line, at, rate), "at {t} and {later}");
            }
        }
    }

    #[test]
    fn a_wave_is_no_line() {
        let wave = Source::Sin {
            offset: 0.0,
            amplitude: 1.0,
            frequency: 50.0,
            delay: 0.0,
            damping: 0.0,
            phase: 0.0,
        };
        let mut forcing = Forcing::new(vec![0.0]);
        forcing.add(0, 1.0, &Arc::new(wave), false);
        assert_eq!(Function::line(&forcing, 0.1, &mut [0.0], &mut [0.0]), None);
    }
}
