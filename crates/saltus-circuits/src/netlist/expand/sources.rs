//! Sources: values and functions of time.

use super::later::{LateFormula, Meaning};
use super::{Done, Expansion};
use crate::netlist::card::Wave;
use crate::netlist::error::Problem;
use crate::netlist::expression::Expr;
use crate::netlist::lines::At;
use crate::{Control, Device, Node, Source};

impl<'d> Expansion<'d, '_> {
    pub(super) fn source(
        &mut self,
        name: String,
        at: At,
        between: [Node; 2],
        is_voltage: bool,
        wave: &'d Wave,
        scope: usize,
    ) -> Done {
        let source = match wave {
            Wave::Dc(value) => {
                if let Some(&value) = self.context.values.get(&name.to_lowercase()) {
                    Source::Dc(value)
                } else if let Some(value) = value.literal() {
                    Source::Dc(value)
                } else {
                    return self.formula(name, at, between, is_voltage, value, 1.0, scope);
                }
            }
            Wave::Pulse(values) => {
                let values = self.numbers(values, scope)?;
                let get = |index: usize, default| values.get(index).copied().unwrap_or(default);
                let period = get(6, f64::INFINITY);
                let count = get(7, 0.0);
                let step = self.context.tran.map_or(0.0, |[step, _]| step);
                self.in_range(at, "the period of `pulse`", period, period > 0.0, "more than 0")?;
                for (what, index) in [("the rise", 3), ("the fall", 4), ("the width", 5)] {
                    let value = get(index, 0.0);
                    self.in_range(
                        at,
                        &format!("{what} of `pulse`"),
                        value,
                        value >= 0.0,
                        "at least 0",
                    )?;
                }
                let is_count = count >= 0.0 && count.fract() == 0.0;
                self.in_range(at, "the number of pulses", count, is_count, "a whole number")?;
                Source::Pulse {
                    low: values[0],
                    high: values[1],
                    delay: get(2, 0.0),
                    rise: get(3, step),
                    fall: get(4, step),
                    width: get(5, f64::INFINITY),
                    period,
                    count: (count > 0.0).then_some(count as u64),
                }
            }
            Wave::Sin(values) => {
                let values = self.numbers(values, scope)?;
                let get = |index: usize| values.get(index).copied().unwrap_or(0.0);
                let frequency = match (values.get(2), self.context.tran) {
                    (Some(frequency), _) => *frequency,
                    (None, Some([_, stop])) => 1.0 / stop,
                    (None, None) => {
                        let problem = Problem::NeedsTran { what: "the frequency of `sin`" };
                        return Err(self.fail(at, problem));
                    }
                };
                Source::Sin {
                    offset: values[0],
                    amplitude: values[1],
                    frequency,
                    delay: get(3),
                    damping: get(4),
                    phase: get(5).to_radians(),
                }
            }
            Wave::Exp(values) => {
                let values = self.numbers(values, scope)?;
                let get = |index: usize, default: Option<f64>| {
                    values
                        .get(index)
                        .copied()
                        .or(default)
                        .ok_or(Problem::NeedsTran { what: "a time of `exp`" })
                };
                let step = self.context.tran.map(|[step, _]| step);
                let rise_delay = get(2, Some(0.0)).map_err(|problem| self.fail(at, problem))?;
                let rise_time = get(3, step).map_err(|problem| self.fail(at, problem))?;
                let fall_delay = get(4, step.map(|step| rise_delay + step))
                    .map_err(|problem| self.fail(at, problem))?;
                let fall_time = get(5, step).map_err(|problem| self.fail(at, problem))?;
                for time in [rise_time, fall_time] {
                    self.in_range(at, "a time constant of `exp`", time, time > 0.0, "more than 0")?;
                }
                Source::Exp {
                    first: values[0],
                    second: values[1],
                    rise_delay,
                    rise_time,
                    fall_delay,
                    fall_time,
                }
            }
            Wave::PiecewiseLinear { points, repeat, delay } => {
                let values = self.numbers(points, scope)?;
                let points: Vec<(f64, f64)> =
                    values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                for (pair, exprs) in
                    points.windows(2).zip(wave_points(wave).chunks_exact(2).skip(1))
                {
                    let at = exprs[0].at;
                    let expected = "at least the time before it";
                    self.in_range(
                        at,
                        "a time of `pwl`",
                        pair[1].0,
                        pair[1].0 >= pair[0].0,
                        expected,
                    )?;
                }
                let repeat = self.optional(repeat, scope)?.filter(|&repeat| repeat != -1.0);
                let end = points.last().map_or(0.0, |point| point.0);
                if let Some(repeat) = repeat {
                    let is_time = (0.0..end).contains(&repeat);
                    self.in_range(
                        at,
                        "`r` of `pwl`",
                        repeat,
                        is_time,
                        "a time before the last point",
                    )?;
                }
                let delay = self.optional(delay, scope)?.unwrap_or(0.0);
                Source::PiecewiseLinear { points, repeat, delay }
            }
        };
        self.add(name, independent(is_voltage, between, source), at)?;
        Ok(())
    }

    /// A source given by an expression; what it is shows once all components are there.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn formula(
        &mut self,
        name: String,
        at: At,
        between: [Node; 2],
        is_voltage: bool,
        formula: &'d Expr,
        times: f64,
        scope: usize,
    ) -> Done {
        let device = independent(is_voltage, between, Source::Dc(0.0));
        let component = self.add(name, device, at)?;
        let meaning = if is_voltage { Meaning::Voltage } else { Meaning::Current };
        let late = LateFormula { component, scope, between, meaning, formula, times };
        self.later.formulas.push(late);
        Ok(())
    }
}

fn wave_points(wave: &Wave) -> &[Expr] {
    match wave {
        Wave::PiecewiseLinear { points, .. } => points,
        _ => &[],
    }
}

pub(super) fn independent(is_voltage: bool, between: [Node; 2], source: Source) -> Device {
    match is_voltage {
        true => Device::VoltageSource { between, source },
        false => Device::CurrentSource { between, source },
    }
}

pub(super) fn controlled(
    is_voltage: bool,
    between: [Node; 2],
    control: Control,
    gain: f64,
) -> Device {
    match is_voltage {
        true => Device::ControlledVoltage { between, control, gain },
        false => Device::ControlledCurrent { between, control, gain },
    }
}
