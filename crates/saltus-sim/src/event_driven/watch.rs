//! Events in a step: which indicator passes through zero first, and where.
//!
//! Indicators are looked at on the polynomial of the step, at some instants and at the minima
//! between them, so that none dips below zero unseen. The polynomial is less accurate than the end
//! of the step, so the length of the step becomes an unknown: with `g(h)` the indicator at the end
//! of a step of length `h`, Newton's method finds
//!
//! ```text
//! g(h) = 0                                                                            (1)
//! ```
//!
//! and the event has the order of the step. Conditions of the model are watched in the same way:
//! their indicators are the differences of the sides of their comparisons.

use super::EventDriven;
use super::collocation::Outcome;
use super::flow::Flow;
use super::mode::{Branch, INDICATORS};
use super::plant::Plant;
use crate::SimError;

/// Instants of a step at which indicators are looked at.
pub(super) const KNOTS: [f64; 11] =
    [0.0, 0.015625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.984375, 1.0];
/// Knots that only tell slopes: beside the beginning, an indicator may be zero to round-off.
const SLOPES: [usize; 2] = [1, 9];
/// Iterations on (1); they converge quadratically.
const ITERATIONS: usize = 12;
/// Share of the tolerance by which an indicator must dip below zero between two knots.
const DEPTH: f64 = 1e-3;

/// Share of the tolerance by which a force that is none may move something.
const LIGHT: f64 = 1e-2;

/// An indicator of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cause {
    pub block: usize,
    pub indicator: usize,
}

/// What passes through zero, or becomes true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Watched {
    /// An indicator of a law.
    Law(Cause),
    /// A comparison in the condition of an event, with the sign that it has before.
    Margin { event: usize, margin: usize, sign: f64 },
    /// A condition that is no comparison.
    Condition(usize),
}

/// How a search for the end of a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Located {
    /// The event is at the end of the step.
    Event,
    /// There is none: an indicator only touches zero. The step ends beyond that.
    Nothing,
    /// A step did not converge.
    TooLong,
}

/// The knot before, at which signs count.
fn left_of(j: usize) -> usize {
    if SLOPES.contains(&(j - 1)) { j - 2 } else { j - 1 }
}

impl EventDriven {
    /// Whether no indicator is negative at the end of the step.
    pub(super) fn consistent(&mut self) -> Result<bool, SimError> {
        self.look(1.0)?;
        for block in 0..self.mode.blocks.len() {
            if self.indicators(block, 1.0)?.iter().any(|value| *value < 0.0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Evaluates state, multipliers and outputs at `t + θ h`.
    pub(super) fn look(&mut self, theta: f64) -> Result<(), SimError> {
        let Flow { t, h, .. } = self.flow;
        self.flow.at(theta, &mut self.work.X, &mut self.work.lam);
        if let Some(y) = self.flow.outputs_of_leg() {
            self.plant.y.copy_from_slice(y);
            return Ok(());
        }
        self.plant.outputs(t + theta * h, &self.work.X, &self.work.lam)
    }

    fn indicators(&self, block: usize, theta: f64) -> Result<[f64; INDICATORS], SimError> {
        let Flow { t, h, .. } = self.flow;
        let Plant { y, u, .. } = &self.plant;
        self.mode.indicators(block, t + theta * h, &self.work.X, y, u, &self.work.lam)
    }

    /// The indicator at `t + θ h`: positive before, negative after.
    fn value(&mut self, of: Watched, theta: f64) -> Result<f64, SimError> {
        if let Watched::Law(cause) = of
            && self.mode.switch(cause.block).is_none()
        {
            // its own interaction tells
            let Flow { t, h, .. } = self.flow;
            let k = self.plant.interaction_of(self.mode.blocks[cause.block].rows.start);
            self.flow.interaction_at(k, theta, &mut self.work.X, &mut self.work.lam);
            self.plant.outputs_of(k, t + theta * h, &self.work.X, &self.work.lam)?;
            return Ok(self.indicators(cause.block, theta)?[cause.indicator]);
        }
        self.look(theta)?;
        Ok(match of {
            Watched::Law(switch) => self.indicators(switch.block, theta)?[switch.indicator],
            Watched::Margin { event, margin, sign } => {
                sign * self.margins(event, theta).get(margin).copied().unwrap_or(f64::NAN)
            }
            Watched::Condition(event) => match self.condition(event, theta) {
                true => -1.0,
                false => 1.0,
            },
        })
    }

    /// What an event compares, where the polynomial was looked at last.
    fn margins(&mut self, event: usize, theta: f64) -> &[f64] {
        self.show(true);
        let t = self.flow.t + theta * self.flow.h;
        let rows = self.rows.each_ref().map(|row| &row.values[..]);
        self.events.margins(event, t, rows, &mut self.work.margins);
        &self.work.margins
    }

    /// Whether a condition holds, where the polynomial was looked at last.
    fn condition(&mut self, event: usize, theta: f64) -> bool {
        self.show(true);
        let t = self.flow.t + theta * self.flow.h;
        self.events.holds(event, t, self.rows.each_ref().map(|row| &row.values[..]))
    }

    /// The first that passes through zero in the step, and about where (θ).
    pub(super) fn first_event(&mut self) -> Result<Option<(Watched, f64)>, SimError> {
        self.sample()?;
        let mut first: Option<(Watched, f64)> = None;
        // what seems to come first, so that there is little to be found before it
        if let Some(k) = self.likely() {
            first = self.crossing_of(k, self.work.watched[k], 1.0)?;
        }
        for k in 0..self.work.watched.len() {
            let of = self.work.watched[k];
            let last = first.map_or(1.0, |(_, theta)| theta);
            if let Some((of, theta)) = self.crossing_of(k, of, last)?
                && first.is_none_or(|(_, before)| theta < before)
            {
                first = Some((of, theta));
            }
        }
        Ok(first)
    }

    /// The law whose secant between two knots passes through zero first.
    fn likely(&self) -> Option<usize> {
        let mut best = (f64::INFINITY, None);
        for (k, (of, values)) in self.work.watched.iter().zip(&self.work.samples).enumerate() {
            let negative = |&j: &usize| values[j] < 0.0 && !SLOPES.contains(&j);
            if let (Watched::Law(_), Some(j)) = (of, (1..KNOTS.len()).find(negative)) {
                let left = left_of(j);
                let share = values[left].max(0.0) / (values[left].max(0.0) - values[j]);
                let theta = KNOTS[left] + share * (KNOTS[j] - KNOTS[left]);
                if theta < best.0 {
                    best = (theta, Some(k));
                }
            }
        }
        best.1
    }

    /// The values of all that is watched, at all knots.
    fn sample(&mut self) -> Result<(), SimError> {
        let mut watched = std::mem::take(&mut self.work.watched);
        let mut samples = std::mem::take(&mut self.work.samples);
        watched.clear();
        samples.clear();
        for (j, &theta) in KNOTS.iter().enumerate() {
            self.look(theta)?;
            let mut next = 0;
            let mut add = |of: Watched, value: f64| {
                if j == 0 {
                    watched.push(of);
                    samples.push([f64::INFINITY; KNOTS.len()]);
                }
                if let Some(values) = samples.get_mut(next) {
                    values[j] = value;
                }
                next += 1;
            };
            for block in 0..self.mode.blocks.len() {
                let noise = -self.noise(block);
                for (indicator, value) in self.indicators(block, theta)?.into_iter().enumerate() {
                    let value = if value < 0.0 && value >= noise { 0.0 } else { value };
                    add(Watched::Law(Cause { block, indicator }), value);
                }
            }
            for event in 0..self.events.len() {
                if self.events.held(event).is_none() {
                    continue;
                }
                let holds = self.condition(event, theta);
                add(Watched::Condition(event), if holds { -1.0 } else { 1.0 });
                for (margin, &value) in self.margins(event, theta).iter().enumerate() {
                    add(Watched::Margin { event, margin, sign: 1.0 }, value);
                }
            }
        }
        (self.work.watched, self.work.samples) = (watched, samples);
        Ok(())
    }

    /// How deep an indicator may be below zero by round-off alone.
    ///
    /// The gap of an open contact: bodies may fly along each other for ever. The force of a closed
    /// one: if they do so touching, without a force. In all of the time `T` before and after, it would
    /// have moved them by `C M⁻¹ Cᵀ λ T²`, far less than the tolerance.
    fn noise(&self, block: usize) -> f64 {
        let row = self.mode.blocks[block].rows.start;
        match self.mode.branches[block] {
            Branch::Open => {
                let k = self.plant.interaction_of(row);
                let states = self.plant.states_of(k).iter();
                let states = states.flat_map(|range| &self.work.X[range.clone()]);
                let far = states.fold(0.0_f64, |far, q| far.max(q.abs()));
                (DEPTH * self.tolerance.atol).max(8.0 * f64::EPSILON * far)
            }
            Branch::Closed if self.mode.is_contact(block) => {
                let time = (self.limit - self.t).max(self.t - self.model.t0());
                let moves = self.work.lightness.get(row).map_or(0.0, |light| light * time * time);
                if moves > 0.0 { LIGHT * self.tolerance.atol / moves } else { 0.0 }
            }
            _ => 0.0,
        }
    }

    /// Where one of them passes through zero first, before `last`.
    fn crossing_of(
        &mut self,
        k: usize,
        of: Watched,
        last: f64,
    ) -> Result<Option<(Watched, f64)>, SimError> {
        let values = self.work.samples[k];
        match of {
            Watched::Law(cause) => {
                // a contact that has just opened may have left its gap below zero by round-off
                let level = match self.mode.branches[cause.block] {
                    Branch::Open => values[0].min(0.0),
                    _ => 0.0,
                };
                for j in 1..KNOTS.len() {
                    if KNOTS[left_of(j)] >= last {
                        break;
                    }
                    if values[j] < level && !SLOPES.contains(&j) {
                        if last < KNOTS[j] && self.value(of, last)? >= 0.0 {
                            return Ok(None);
                        }
                        let theta = self.root(of, KNOTS[left_of(j)], KNOTS[j])?;
                        return Ok(Some((of, theta)));
                    }
                    if let Some(low) = self.dip(of, &values, j)? {
                        let theta = self.root(of, KNOTS[j - 1], low)?;
                        return Ok(Some((of, theta)));
                    }
                }
                Ok(None)
            }
            Watched::Condition(event) => {
                let mut held = self.events.held(event).unwrap_or(true);
                for j in (1..KNOTS.len()).filter(|j| !SLOPES.contains(j)) {
                    let left = KNOTS[left_of(j)];
                    if left >= last {
                        break;
                    }
                    let holds = values[j] < 0.0;
                    if holds && !held {
                        return self.rise(event, left, KNOTS[j]).map(Some);
                    }
                    held = holds;
                }
                Ok(None)
            }
            // their conditions have been looked at at the knots; here between them
            Watched::Margin { event, margin, .. } => {
                for j in 1..KNOTS.len() {
                    let (left, right) = (KNOTS[j - 1], KNOTS[j]);
                    if left >= last {
                        break;
                    }
                    let sign = if values[j] < 0.0 { 1.0 } else { -1.0 };
                    let of = Watched::Margin { event, margin, sign };
                    let moment = match sign * values[j - 1] > 0.0 {
                        true => Some(self.root(of, left, right)? + 1e-9),
                        false => {
                            let of = Watched::Margin { event, margin, sign: -sign };
                            self.dip(of, &values.map(|value| -sign * value), j)?
                        }
                    };
                    if let Some(moment) = moment
                        && self.holds_at(event, moment)?
                        && !self.holds_at(event, left)?
                        && !(j == 1 && self.events.held(event) == Some(true))
                    {
                        return self.rise(event, left, moment).map(Some);
                    }
                }
                Ok(None)
            }
        }
    }

    /// Whether a condition holds at `t + θ h`.
    fn holds_at(&mut self, event: usize, theta: f64) -> Result<bool, SimError> {
        self.look(theta)?;
        Ok(self.condition(event, theta))
    }

    /// The minimum of an indicator around knot `j`, where it is negative there only.
    fn dip(
        &mut self,
        of: Watched,
        values: &[f64; KNOTS.len()],
        j: usize,
    ) -> Result<Option<f64>, SimError> {
        let Some(&[a, b, c]) = values.get(j - 1..=j + 1) else { return Ok(None) };
        let floor = DEPTH * self.tolerance.atol;
        if !(a > floor
            && b > 0.0
            && c > floor
            && b <= a
            && b <= c
            && a.is_finite()
            && c.is_finite())
        {
            return Ok(None);
        }
        // a parabola tells whether it is worth the while; formulas of users may have kinks
        let (x, y, z) = (KNOTS[j - 1], KNOTS[j], KNOTS[j + 1]);
        let (left, right) = ((b - a) / (y - x), (c - b) / (z - y));
        let curvature = (right - left) / (z - x);
        let slope = left + curvature * (y - x);
        let lowest = b - slope * slope / (4.0 * curvature);
        let smooth = matches!(of, Watched::Law(_));
        if smooth && !(lowest < 0.5 * b || b < 0.1 * a.max(c)) {
            return Ok(None);
        }
        let (mut low, mut high) = (x, z);
        const GOLDEN: f64 = 0.381_966_011_250_105;
        let mut inner = [low + GOLDEN * (high - low), high - GOLDEN * (high - low)];
        let mut at = [self.value(of, inner[0])?, self.value(of, inner[1])?];
        for _ in 0..40 {
            if at[0] < -floor {
                return Ok(Some(inner[0]));
            }
            if at[1] < -floor {
                return Ok(Some(inner[1]));
            }
            if at[0] < at[1] {
                high = inner[1];
                (inner[1], at[1]) = (inner[0], at[0]);
                inner[0] = low + GOLDEN * (high - low);
                at[0] = self.value(of, inner[0])?;
            } else {
                low = inner[0];
                (inner[0], at[0]) = (inner[1], at[1]);
                inner[1] = high - GOLDEN * (high - low);
                at[1] = self.value(of, inner[1])?;
            }
        }
        Ok(None)
    }

    /// Where a condition becomes true between two instants, and which comparison makes it so.
    fn rise(&mut self, event: usize, left: f64, right: f64) -> Result<(Watched, f64), SimError> {
        let (mut a, mut b) = (left, right);
        while b - a > 1e-15 {
            let c = 0.5 * (a + b);
            if c <= a || c >= b {
                break;
            }
            self.look(c)?;
            match self.condition(event, c) {
                true => b = c,
                false => a = c,
            }
        }
        // a little apart, so that round-off does not hide the change of sign
        let (a, b) = ((a - 1e-9).max(left), (b + 1e-9).min(right));
        self.look(a)?;
        let before = self.margins(event, a).to_vec();
        self.look(b)?;
        let after = self.margins(event, b);
        let changed = before.iter().zip(after).position(|(x, y)| (*x > 0.0) != (*y > 0.0));
        Ok(match changed {
            Some(margin) => {
                let sign = if after[margin] > 0.0 { -1.0 } else { 1.0 };
                (Watched::Margin { event, margin, sign }, b)
            }
            None => (Watched::Condition(event), b),
        })
    }

    /// Where an indicator that is negative at `right` becomes so, by secants, of which one that
    /// stays is halved (the method of Illinois), and bisection. At the beginning of the step, where
    /// it may be zero to round-off, it counts as positive.
    fn root(&mut self, of: Watched, left: f64, right: f64) -> Result<f64, SimError> {
        let (mut a, mut b) = (left, right);
        let mut g_b = self.value(of, b)?;
        let mut g_a = if a == 0.0 { f64::NAN } else { self.value(of, a)? };
        let mut stays = 0_i32; // how often the same end has stayed: positive for b, negative for a
        for _ in 0..100 {
            let secant = a + (b - a) * g_a / (g_a - g_b);
            let bisects = !(secant > a && secant < b) || stays.abs() > 8;
            let c = if bisects { 0.5 * (a + b) } else { secant };
            if c <= a || c >= b || b - a <= 4.0 * f64::EPSILON * b {
                break;
            }
            let g_c = self.value(of, c)?;
            if g_c < 0.0 {
                (b, g_b) = (c, g_c);
                stays = if stays < 0 { stays - 1 } else { -1 };
                if stays < -1 {
                    g_a *= 0.5;
                }
            } else {
                (a, g_a) = (c, g_c);
                stays = if stays > 0 { stays + 1 } else { 1 };
                if stays > 1 {
                    g_b *= 0.5;
                }
            }
        }
        Ok(b)
    }

    /// Equation (1), from a guess of the length.
    pub(super) fn locate(&mut self, of: Watched, mut h: f64) -> Result<Located, SimError> {
        if let Watched::Condition(_) = of {
            return self.bisect(of, h);
        }
        let mut known: Option<(f64, f64)> = None; // a length and its indicator
        let (mut before, mut after) = (0.0_f64, f64::INFINITY); // lengths with g ≥ 0, with g < 0
        let mut slope = f64::NAN;
        let longest = self.limit - self.t;
        for _ in 0..ITERATIONS {
            if self.t + h == self.t {
                // the event is now: nothing moves
                self.flow.hold(self.t, &self.X, &self.lam);
                return Ok(Located::Event);
            }
            if self.smooth(h)? == Outcome::TooLong {
                return Ok(Located::TooLong);
            }
            let value = self.value(of, 1.0)?;
            let round_off = 2.0 * f64::EPSILON * self.t.abs().max(h);
            match known {
                Some((at, was)) if (h - at).abs() > 1e3 * round_off => {
                    slope = (value - was) / (h - at);
                }
                Some(_) => {}
                None => slope = (value - self.value(of, 1.0 - 1e-3)?) / (1e-3 * h),
            }
            known = Some((h, value));
            match value < 0.0 {
                true => after = after.min(h),
                false => before = before.max(h),
            }
            let mut next = h - value / slope;
            if (next - h).abs() <= round_off || after - before <= round_off {
                return Ok(Located::Event);
            }
            if !(next > before && next < after.min(2.0 * h)) {
                if after == f64::INFINITY {
                    return Ok(Located::Nothing);
                }
                next = 0.5 * (before + after);
            }
            if next > longest {
                if before >= longest {
                    return Ok(Located::Nothing); // not before the step must end
                }
                next = longest;
            }
            h = next;
        }
        Ok(if after < f64::INFINITY { Located::Event } else { Located::Nothing })
    }

    /// The length of the step at whose end a condition becomes true, by bisection.
    fn bisect(&mut self, of: Watched, guess: f64) -> Result<Located, SimError> {
        let (mut before, mut after, mut apart) = (0.0, f64::INFINITY, 1e-6 * guess);
        let (mut h, longest) = (guess, self.limit - self.t);
        while self.t + h > self.t {
            if self.smooth(h)? == Outcome::TooLong {
                return Ok(Located::TooLong);
            }
            match self.value(of, 1.0)? < 0.0 {
                true => after = h,
                false => before = h,
            }
            if after - before <= f64::EPSILON * self.t.abs().max(h) {
                break;
            }
            h = match (before > 0.0, after < f64::INFINITY) {
                (true, true) => 0.5 * (before + after),
                (false, _) => (after - apart).max(0.5 * after),
                (true, false) if before < longest.min(2.0 * guess) => (before + apart).min(longest),
                (true, false) => return Ok(Located::Nothing),
            };
            apart *= 10.0;
        }
        if self.t + after > self.t {
            return Ok(match self.smooth(after)? {
                Outcome::TooLong => Located::TooLong,
                Outcome::Done(_) => Located::Event,
            });
        }
        self.flow.hold(self.t, &self.X, &self.lam);
        Ok(Located::Event)
    }
}
