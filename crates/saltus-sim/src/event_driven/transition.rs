//! What follows from the state at an event: jumps, then the mode.

use super::EventDriven;
use super::accumulation::{APART, Series};
use super::collocation::Outcome;
use super::control::Control;
use super::flow::Flow;
use super::instant::{Instant, SHARES};
use super::mode::Branch;
use super::watch::Cause;
use crate::SimError;
use crate::run::{Change, EventKind, EventRecord, Value};
use saltus_model::{Coefficient, Law};

/// A vanishing step, as a share of the steps around it.
pub(super) const VANISHING: f64 = 1e-4;
/// Switches that may turn at one instant.
const TURNS: usize = 1000;
/// A control that has left its level, in units of the tolerance; and turnings in a row of a switch whose has not.
const AWAY: f64 = 10.0;
const RETURNS: usize = 100;
/// Jumps at one instant that may follow each other.
const JUMPS: usize = 100;
/// Events at one instant before they are called endless.
pub(super) const ENDLESS: usize = 1000;
/// Intervals at which impacts, and other events, are taken for an accumulation, relative to the
/// longest of them. The gap of a bounce shrinks with the square of its time.
pub(super) const SHORT: [f64; 2] = [1e-6, 1e-9];

/// Speed, in units of the tolerance, whose round-off is what projection leaves of velocities.
const STILL: f64 = 1e8;
/// Share of the force of a contact that is more than what changes in a vanishing step.
const HELD: f64 = 1e-3;
/// Velocity after an impact, in units of the tolerance, that is more than the end of a bounce.
const LIVELY: f64 = 100.0;

impl EventDriven {
    /// Jumps, and takes the mode that follows. If it fails, nothing has changed.
    pub(super) fn settle(&mut self, cause: Option<Cause>) -> Result<(), SimError> {
        if cause.is_some_and(|of| self.turns(of)) {
            return Ok(());
        }
        self.keep_event();
        self.settle_now(cause).inspect_err(|_| self.take_back())
    }

    fn settle_now(&mut self, cause: Option<Cause>) -> Result<(), SimError> {
        if let Some(of) = cause {
            self.idle = if self.t > self.last_event { 0 } else { self.idle + 1 };
            if self.idle > ENDLESS {
                return Err(self.unsettled_by(of.block));
            }
            if self.accumulates(of.block)? || self.stands_still(of.block)? {
                return Ok(());
            }
        }
        // shorter than what came before by far, so that nothing else happens meanwhile
        let since = self.t - self.last_event;
        if since > 0.0 {
            // a power of sixteen, so that the matrices of the steps stay
            let epsilon = VANISHING * self.h.min(since);
            self.epsilon = 16f64.powi((epsilon.log2() / 4.0).floor() as i32);
        }
        self.last_event = self.t;
        if let Some(of) = cause
            && (self.sticks(of)? || self.bounces(of)?)
        {
            return Ok(());
        }

        let before = self.mode.branches.clone();
        let mut jumped = false;
        if let Some(of) = cause
            && self.mode.switch(of.block).is_some()
        {
            let Flow { t, h, .. } = self.flow;
            self.flow.at(0.5, &mut self.work.X, &mut self.work.lam);
            self.turn(of.block, t + 0.5 * h, None)?;
        }
        let mut turned = 0;
        loop {
            jumped |= self.follow_jumps()?;
            // what has changed may turn switches, and these others
            let Some(block) = self.turned() else { break };
            turned += 1;
            if turned > TURNS {
                return Err(self.unsettled_by(block));
            }
            self.mode.turn(block);
        }
        let mut branches = std::mem::take(&mut self.work.branches);
        let Instant { y, u, lam, X, .. } = &self.instant;
        // what is left where everything has come to rest is below what projection cares for
        let still = STILL * self.tolerance.atol;
        let speed = self.jumping().fold(still, |a, i| a.max(X[i].abs()));
        self.mode.read(y, u, lam, speed, &mut branches);
        if let Some(of) = cause
            && branches == before
            && !jumped
        {
            match before[of.block] {
                Branch::Open => self.graze(of.block)?,
                // forces that are not unique have drifted: others hold all of it
                _ if since > 0.0 && self.is_held(of)? => {}
                // between two branches: the one it was going to
                _ => branches[of.block] = self.mode.successor(of.block, of.indicator, &self.lam),
            }
        }
        self.mode.set(&branches);
        self.log_switches(&before, &branches);
        self.mode.unknown.fill(false);
        self.unsettled = false;
        self.work.branches = branches;
        self.flow.restart();
        self.flow.guess(&self.instant.lam);
        self.project()?;
        self.work.lightness = self.plant.lightness(self.t, &self.X)?;
        self.measure()
    }

    /// Jumps as long as vanishing steps do, with the switches as they are; whether there was a jump.
    fn follow_jumps(&mut self) -> Result<bool, SimError> {
        self.mode.tell_switches(&mut self.instant);
        let mut jumped = false;
        for _ in 0..JUMPS {
            let mut tries: [Vec<f64>; 3] = Default::default();
            let mut impulses: [Vec<f64>; 3] = Default::default();
            for (k, X) in tries.iter_mut().enumerate() {
                let step = SHARES[k] * self.epsilon;
                self.instant.step(&self.model, self.t, &self.X, k, step)?;
                X.clone_from(&self.instant.X);
                impulses[k].extend(self.instant.lam.iter().map(|lam| step * lam));
            }
            if !self.jumps(&tries) {
                break;
            }
            self.jump(&tries, &impulses)?;
            jumped = true;
        }
        Ok(jumped)
    }

    /// A switch that the state after the vanishing step turns, by more than is known of it.
    fn turned(&self) -> Option<usize> {
        self.mode.switches().find(|&block| {
            let turns = |(control, closed): (&Control, bool)| {
                let margin = control.margin(closed, self.t, &self.instant.X);
                margin < -self.tolerance.of(control.margin_of(closed).1)
            };
            self.mode.switch(block).is_some_and(turns)
        })
    }

    /// Turns a switch, whose control was in the middle of the last step what this state says, or what was looked at
    /// last. One that has hardly left its level since it turned, and so on, turns for ever.
    pub(super) fn turn(&mut self, block: usize, t: f64, X: Option<&[f64]>) -> Result<(), SimError> {
        if let Some((control, closed)) = self.mode.switch(block) {
            let margin = control.margin(closed, t, X.unwrap_or(&self.work.X));
            let away = margin > AWAY * self.tolerance.of(control.margin_of(closed).1);
            self.returns[block] = if away { 0 } else { self.returns[block] + 1 };
        }
        if self.returns[block] > RETURNS {
            return Err(self.unsettled_by(block));
        }
        self.mode.turn(block);
        Ok(())
    }

    /// The events of this block do not end at this instant.
    fn unsettled_by(&self, block: usize) -> SimError {
        let interaction = self.mode.blocks[block].owner.clone();
        match self.mode.switch(block) {
            Some(_) => SimError::Chatters { time: self.t, interaction },
            None => SimError::Unsettled { time: self.t, interaction },
        }
    }

    /// Whether the forces of the vanishing step hold a contact well within what it can bear, where
    /// those of the mode have come to its limit.
    fn is_held(&self, of: Cause) -> Result<bool, SimError> {
        let Instant { y, u, lam, X, .. } = &self.instant;
        let by_force = match self.mode.branches[of.block] {
            Branch::Closed => true,
            Branch::Slip(_) => of.indicator == 0,
            _ => false,
        };
        let margin = self.mode.indicators(of.block, self.t, X, y, u, lam)?[of.indicator];
        let push = lam[self.mode.blocks[of.block].rows.start];
        let largest = self.lam.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let share = HELD * if of.indicator == 0 { largest } else { push };
        // a contact that comes to its end alone has nothing beside it that could hold
        let shared = HELD * push < largest;
        Ok(by_force && shared && self.mode.is_contact(of.block) && margin > share)
    }

    /// A contact that closes with no velocity worth the name, and opens at once: what is left of it
    /// is taken, so that it does not close again at this instant.
    fn graze(&mut self, block: usize) -> Result<(), SimError> {
        let open = self.mode.branches.clone();
        let mut closed = open.clone();
        closed[block] = Branch::Closed;
        self.mode.set(&closed);
        self.project()?;
        self.mode.set(&open);
        Ok(())
    }

    /// Whether this is an impact of a contact without friction between systems that nothing else
    /// touches. Then Newton's law alone tells what follows, and the mode stays:
    ///
    /// ```text
    /// u⁺ = −e u⁻,    v⁺ = v⁻ + M⁻¹ Hᵀ p,    H M⁻¹ Hᵀ p = u⁺ − u⁻
    /// ```
    fn bounces(&mut self, of: Cause) -> Result<bool, SimError> {
        let Some(exact) = self.flow.exact() else { return Ok(false) };
        let row = self.mode.blocks[of.block].rows.start;
        let k = self.plant.interaction_of(row);
        if self.unsettled || self.mode.branches[of.block] != Branch::Open {
            return Ok(false);
        }
        let law = self.model.interactions().nth(k).map(|(_, interaction)| &interaction.law);
        let Some(&Law::NewtonImpact { e: Coefficient::Constant(e) }) = law else {
            return Ok(false);
        };
        let Some(neighbours) = exact.neighbours(k, &self.mode) else { return Ok(false) };
        for other in neighbours {
            self.plant.outputs_of(other, self.t, &self.X, &self.lam)?;
            if self.plant.gaps(other).iter().any(|gap| *gap <= APART * self.tolerance.atol) {
                return Ok(false);
            }
        }
        self.plant.outputs_of(k, self.t, &self.X, &self.lam)?;
        let before = self.plant.u[row];
        let speed = self.jumping().fold(0.0_f64, |speed, i| speed.max(self.X[i].abs()));
        let after = -e * before;
        if !(after > LIVELY * self.tolerance.of(speed).max(speed * f64::EPSILON)) {
            return Ok(false);
        }
        let impulse = exact.push(k, after - before, &mut self.X);
        self.standstill.forget();
        self.plant.outputs_of(k, self.t, &self.X, &self.lam)?;
        self.book.take(row, 0.5 * impulse * (before + self.plant.u[row]));
        self.measure()?;
        let change = Change {
            what: format!("{}.u[0]", self.mode.blocks[of.block].owner),
            before: Value::Number(before),
            after: Value::Number(self.plant.u[row]),
        };
        self.log_event(self.t, EventKind::Impact, of.block, vec![change]);
        self.series[of.block].add(self.t);
        Ok(true)
    }

    /// Whether what has come to rest sticks: friction may be larger there than a moment before.
    fn sticks(&mut self, of: Cause) -> Result<bool, SimError> {
        if !matches!(self.mode.branches[of.block], Branch::Slip(_)) || of.indicator == 0 {
            return Ok(false);
        }
        let (before, X) = (self.mode.branches.clone(), self.X.clone());
        let mut branches = before.clone();
        branches[of.block] = Branch::Closed;
        self.mode.set(&branches);
        self.project()?;
        self.flow.restart();
        self.flow.guess(&self.lam);
        let sticks = self.smooth(self.epsilon)? != Outcome::TooLong && self.consistent()?;
        if sticks {
            self.log_switches(&before, &branches);
        } else {
            self.mode.set(&before);
            self.X = X;
            self.flow.restart();
        }
        Ok(sticks)
    }

    /// A velocity that cannot be told from none, beside those of the state.
    fn still(&self) -> f64 {
        self.tolerance.of(self.jumping().fold(0.0_f64, |speed, i| speed.max(self.X[i].abs())))
    }

    /// The components that can jump: configurations cannot.
    fn jumping(&self) -> impl Iterator<Item = usize> + use<> {
        let (nx, nq) = (self.places[0].states, self.places[1].states);
        (0..nx).chain(nx + nq..nx + 2 * nq)
    }

    /// Whether the state moved by more than a vanishing step can.
    fn jumps(&self, [far, _, near]: &[Vec<f64>; 3]) -> bool {
        let (mut by_far, mut by_near) = (0.0_f64, 0.0_f64);
        for i in self.jumping() {
            let allowed = self.tolerance.of(self.X[i]);
            by_far = by_far.max((far[i] - self.X[i]).abs() / allowed);
            by_near = by_near.max((near[i] - self.X[i]).abs() / allowed);
        }
        by_near > 1.0 && by_near > 0.6 * by_far
    }

    /// Takes over the jump: the limit of vanishing steps.
    fn jump(
        &mut self,
        [far, middle, near]: &[Vec<f64>; 3],
        impulses: &[Vec<f64>; 3],
    ) -> Result<(), SimError> {
        self.plant.outputs(self.t, &self.X, &self.lam)?;
        let (y, u) = (self.plant.y.clone(), self.plant.u.clone());
        for i in self.jumping() {
            self.X[i] = limit(far[i], middle[i], near[i]);
        }
        self.standstill.see(&self.X, self.tolerance);
        self.plant.outputs(self.t, &self.X, &self.lam)?;
        let [far, middle, near] = impulses;
        let impulses = (0..far.len()).map(|row| limit(far[row], middle[row], near[row]));
        self.book_jump(&impulses.collect::<Vec<_>>(), &u)?;
        let largest = self.instant.lam.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for k in 0..self.mode.blocks.len() {
            let rows = self.mode.blocks[k].rows.clone();
            // that a switch turns is told by itself
            let is_switch = self.mode.switch(k).is_some();
            if is_switch || !(self.instant.lam[rows.start].abs() > 1e-9 * largest) {
                continue;
            }
            let (kind, name, before, after) = match self.mode.is_contact(k) {
                true => (EventKind::Impact, "u", &u, &self.plant.u),
                false => (EventKind::Switch, "y", &y, &self.plant.y),
            };
            let owner = &self.mode.blocks[k].owner;
            let first = self.mode.first_row(k);
            let changes = rows.map(|row| Change {
                what: format!("{owner}.{name}[{}]", row - first),
                before: Value::Number(before[row]),
                after: Value::Number(after[row]),
            });
            let changes = changes.collect();
            self.log_event(self.t, kind, k, changes);
            if kind == EventKind::Impact {
                self.series[k].add(self.t);
            }
        }
        Ok(())
    }

    /// Whether the events of this block have come to their limit; then it is passed.
    ///
    /// A contact is closed: nothing is left of its bounces. Anything else takes one implicit step
    /// over the limit.
    fn accumulates(&mut self, block: usize) -> Result<bool, SimError> {
        let is_switch = self.mode.switch(block).is_some();
        let contact = self.mode.is_contact(block);
        if !contact {
            self.series[block].add(self.t);
        } else if self.mode.branches[block] != Branch::Open {
            return Ok(false);
        }
        let k = self.plant.interaction_of(self.mode.blocks[block].rows.start);
        self.plant.outputs_of(k, self.t, &self.X, &self.lam)?;
        let still = self.still();
        let closing = self.mode.closing(block, &self.plant.u, still);
        let u = self.plant.u[self.mode.blocks[block].rows.start];
        // the friction of what is left of the bounces is left out, so that it must be little
        let short = SHORT[usize::from(!contact || closing != Branch::Closed)];
        let left = match self.series[block].left(self.t, short) {
            None if contact && self.series[block].is_last(self.t, u, self.tolerance) => 0.0,
            None => return Ok(false),
            // no step over it tells whether it is open or closed
            Some(_) if is_switch => return Err(self.unsettled_by(block)),
            Some(left) => left,
        };
        self.log_event(self.t + left, EventKind::Accumulation, block, Vec::new());
        self.work.last_bounce = self.series[block].since(self.t);
        self.series[block] = Series::default();
        self.series.iter_mut().for_each(Series::restart);
        if contact {
            let mut branches = self.mode.branches.clone();
            branches[block] = closing;
            self.close_beside(block, &mut branches)?;
            self.mode.set(&branches);
            self.project()?;
            self.book_loss(block)?;
        } else {
            self.pass(block, 4.0 * left)?;
        }
        self.settle_now(None)?;
        Ok(true)
    }

    /// Closes the other contacts of the bodies of one whose bounces are over, where theirs cannot be
    /// told from rest: one that bounced on would lift the first again, and so on.
    ///
    /// The last bounce, of speed `u` and length `Δ`, tells the force that brings bodies back: others rise
    /// by `u² / (2 a)` with `a = 2 u / Δ`.
    fn close_beside(&mut self, block: usize, branches: &mut [Branch]) -> Result<(), SimError> {
        let Some(interval) = self.work.last_bounce.take() else { return Ok(()) };
        let row = self.mode.blocks[block].rows.start;
        let k = self.plant.interaction_of(row);
        let pull = 2.0 * self.plant.u[row].abs() / interval;
        let still = self.still();
        for other in (0..branches.len()).filter(|&other| other != block) {
            let rows = self.mode.blocks[other].rows.clone();
            let l = self.plant.interaction_of(rows.start);
            if !self.mode.is_contact(other)
                || branches[other] != Branch::Open
                || !self.plant.share(k, l)
            {
                continue;
            }
            self.plant.outputs_of(l, self.t, &self.X, &self.lam)?;
            let (y, u) = (self.plant.y[rows.start], self.plant.u[rows.start]);
            if y + 0.5 * u * u / pull <= APART * self.tolerance.atol {
                branches[other] = self.mode.closing(other, &self.plant.u, still);
                self.series[other] = Series::default();
            }
        }
        Ok(())
    }

    /// Whether events follow each other without end and nothing moves; then a step passes them by.
    fn stands_still(&mut self, block: usize) -> Result<bool, SimError> {
        let far = if self.limit.is_finite() { self.limit.abs() } else { 0.0 };
        let horizon = far.max(self.t.abs());
        let Some(length) = self.standstill.add(self.t, &self.X, horizon, self.tolerance) else {
            return Ok(false);
        };
        if self.mode.switch(block).is_some() {
            return Err(self.unsettled_by(block));
        }
        self.log_event(self.t, EventKind::Accumulation, block, Vec::new());
        self.series.iter_mut().for_each(Series::restart);
        self.pass(block, length)?;
        self.settle_now(None)?;
        Ok(true)
    }

    /// One implicit step over what happens meanwhile.
    fn pass(&mut self, block: usize, length: f64) -> Result<(), SimError> {
        let length = length.min(self.limit - self.t);
        if self.t + length > self.t {
            self.instant.step(&self.model, self.t, &self.X, 0, length)?;
            self.X.copy_from_slice(&self.instant.X);
            self.t += length;
        }
        self.book_loss(block)
    }

    fn log_switches(&mut self, before: &[Branch], after: &[Branch]) {
        for (k, (old, new)) in before.iter().zip(after).enumerate() {
            // the impact of a contact that closes is there already
            if old == new || *old == Branch::Open || self.mode.unknown[k] {
                continue;
            }
            let kind = self.mode.arrival(k, *new);
            self.log_event(self.t, kind, k, Vec::new());
        }
    }

    pub(super) fn log_event(
        &mut self,
        time: f64,
        kind: EventKind,
        block: usize,
        changes: Vec<Change>,
    ) {
        let interaction = self.mode.blocks[block].owner.clone();
        let name = String::new();
        self.events.log.push(EventRecord { time, kind, name, interaction, changes });
    }
}

/// The value at zero of what is known at `ε`, `ε/2` and `ε/4`.
fn limit(far: f64, middle: f64, near: f64) -> f64 {
    (far - 6.0 * middle + 8.0 * near) / 3.0
}
