//! From event to event in one go, where the model is linear in its mode.
//!
//! The mode behind a corner, or the same after an event of the model, is taken where every indicator
//! agrees. Where one does not, where events come too fast, and for everything else, vanishing steps
//! tell what follows (`transition`).

use super::EventDriven;
use super::exact::Begin;
use super::transition::{ENDLESS, SHORT};
use super::watch::Cause;
use crate::driver::StepStats;
use crate::run::EventKind;

/// Laws that may change at one instant.
const TOGETHER: usize = 6;
/// Events in a row that follow each other within a vanishing share of the longest leg, before vanishing
/// steps have a look.
const PATIENCE: usize = 50;
const BRIEF: f64 = 1e-9;

/// What has been seen of legs.
#[derive(Debug, Default)]
pub(super) struct Glides {
    longest: f64,
    brief: usize,
}

impl EventDriven {
    /// A leg, up to the next event or to where it must end; nothing where it cannot be one.
    pub(super) fn glide(&mut self, until: f64) -> Option<StepStats> {
        let known = !self.unsettled && self.pending.is_none() && !self.mode.unknown.contains(&true);
        if !known || !self.may_glide || self.events.has_conditions() {
            return None;
        }
        let (start, stop) = (self.t, self.stop(until));
        let T = stop - start;
        if self.flow.begin_leg(&self.mode, None, (start, T), &self.X, self.tolerance) != Begin::Good
        {
            return None;
        }
        self.pending = self.flow.end_leg(start)?;
        self.limit = stop;
        let h = self.flow.h;
        self.flow.end(&mut self.X, &mut self.lam);
        self.flow.keep();
        let whole = self.pending.is_none() && h >= T;
        self.t = if whole { stop } else { (start + h).min(stop) };
        self.h = if h > 0.0 { h } else { self.h };
        self.crossing.clear();
        let residual = std::mem::take(&mut self.instant.solved).residual;
        Some(StepStats { t: self.t, h: self.t - start, iterations: 0, residual, penetration: 0.0 })
    }

    /// Whether the mode behind a corner that a leg has come to is sure; then it is taken.
    pub(super) fn turns(&mut self, of: Cause) -> bool {
        let since = self.t - self.last_event;
        if !self.flow.is_leg() || self.series[of.block].left(self.t, SHORT[1]).is_some() {
            return false;
        }
        let idle = if since > 0.0 { 0 } else { self.idle + 1 };
        if idle > ENDLESS {
            return false;
        }
        self.glides.longest = self.glides.longest.max(since);
        let brief = since <= BRIEF * self.glides.longest;
        self.glides.brief = if brief { self.glides.brief + 1 } else { 0 };
        if self.glides.brief > PATIENCE {
            self.glides.brief = 0;
            return false;
        }
        let leg = (self.t, self.limit - self.t);
        self.work.branches.clone_from(&self.mode.branches);
        let mut cause = of;
        for _ in 0..TOGETHER {
            let Cause { block, indicator } = cause;
            let branch = self.mode.successor(block, indicator, &self.lam);
            if branch == self.work.branches[block] {
                break; // to and fro: it slides
            }
            self.mode.put(block, branch);
            match self.flow.begin_leg(&self.mode, Some(cause), leg, &self.X, self.tolerance) {
                Begin::Good => {
                    self.log_turns();
                    self.series[of.block].add(self.t);
                    self.idle = idle;
                    self.last_event = self.t;
                    return true;
                }
                Begin::Ends(next) => cause = next,
                Begin::Unsure => break,
            }
        }
        self.mode.set(&self.work.branches);
        self.flow.restart();
        false
    }

    /// Whether the mode is sure to go on after an event of the model has changed the state.
    pub(super) fn stays(&mut self) -> bool {
        let T = self.events.next_instant().min(self.limit.max(2.0 * self.t)) - self.t;
        let known = !self.mode.unknown.contains(&true) && self.flow.is_leg();
        self.flow.restart();
        let leg = (self.t, T);
        if !known
            || self.flow.begin_leg(&self.mode, None, leg, &self.X, self.tolerance) != Begin::Good
        {
            return false;
        }
        self.flow.begin_of_leg(&mut self.X, &mut self.lam);
        self.flow.guess(&self.lam);
        self.unsettled = false;
        true
    }

    /// Tells which laws have switched, beside `work.branches`.
    fn log_turns(&mut self) {
        for block in 0..self.mode.branches.len() {
            let (old, new) = (self.work.branches[block], self.mode.branches[block]);
            if old != new {
                let kind: EventKind = self.mode.arrival(block, new);
                self.log_event(self.t, kind, block, Vec::new());
            }
        }
    }
}
