//! Islands without contacts as linear systems, also where they have laws that are none.
//!
//! What a law does seldom changes from step to step: a limit is not reached or presses, dry friction slips on in
//! its direction or holds, a motor goes at its rate or pulls as much as it can. So every row of a law is taken as
//! it was in the step before,
//!
//! ```text
//! open limit:         λ = 0,                       right if  y⁺ > 0                               (1)
//! λ was at a bound:   λ = that bound,              right if  u⁺ is on its side of zero, or zero   (2)
//! λ was between:      H v⁺ + ∂h/∂t + D λ = 0,      right if  λ is still between                   (3)
//! limit that pressed: y⁺ = 0,                      right if  λ ≥ 0                                (4)
//! ```
//!
//! which leaves a linear system, whose constraints hold for the mean velocity and do no work. If all rows were
//! right, so is its solution. Those that were not are taken for what the solution says of them, a few times; where
//! that does not help, nothing has happened, and the problem of the island is solved with its laws (`solve_mixed`).
//! So it is where a limit is hit, and where a constraint jolts: the mean velocity would go on with what it takes,
//!
//! ```text
//! u²/W > κ vᵀ M v,    u = H v + ∂h/∂t at the beginning,    W = H M⁻¹ Hᵀ                           (5)
//! ```
//!
//! by more than round-off beside the impulses of the last step.
//!
//! The step is of second order but for those.

use super::Crowd;
use super::forces::Role;
use super::jointed::Joined;
use super::links::{Guess, Link, LinkBlock, Links};
use crate::SimError;
use crate::integrators::Step;
use saltus_numerics::{Report, Set, Status};

/// Share of a bound that an impulse at it may lack.
const AT_BOUND: f64 = 1e-9;
/// Linear systems that are tried.
const TRIES: usize = 4;
/// κ of (5).
const JOLT: f64 = 0.01;

impl Crowd {
    /// An island as a linear system; nothing where it is none.
    pub(super) fn try_linear(
        &mut self,
        island: usize,
        step: Step,
    ) -> Result<Option<Report>, SimError> {
        let own = self.linked[island].iter();
        if own.clone().all(|&k| self.links.all[k].role.is_linear()) {
            self.joined[island].look(&self.links, &self.linked[island]);
            let report = self.solve_linear(island, step)?;
            self.take_impulses(island);
            return Ok(Some(report));
        }
        if !self.jolts(island, step)? && self.foretell(island, step.h)? {
            self.keep(island);
            for _ in 0..TRIES {
                self.joined[island].look(&self.links, &self.linked[island]);
                let report = self.solve_linear(island, step)?;
                self.take_impulses(island);
                let is_solved = report.status == Status::Solved;
                if is_solved && self.is_right(island, step.h, false)? {
                    return Ok(Some(report));
                }
                let is_amended = is_solved && self.amend(island, step.h)?;
                self.undo(island, step)?;
                if !is_amended {
                    break;
                }
            }
        }
        self.joined[island].is_rigid = false;
        Ok(None)
    }

    /// Whether velocities do not obey a constraint, (5).
    fn jolts(&mut self, island: usize, step: Step) -> Result<bool, SimError> {
        let resting = self.touching.resting;
        let Crowd { links, members, linked, now, .. } = self;
        let now = now.mechanical();
        for link in linked[island].iter().map(|&k| &links.all[k]) {
            if link.role != Role::Constraint || now.u[link.rows.clone()].iter().all(|u| *u == 0.0) {
                continue;
            }
            let (mut energy, mut effort) = (0.0, 0.0);
            for &k in &link.members {
                energy += 2.0 * members.energies(k, step.start, now.q, now.v)?[0];
            }
            for (i, lam) in now.lam[link.rows.clone()].iter().enumerate() {
                effort += lam * lam * link.mobility(i, members);
            }
            let most = JOLT * energy + resting * resting * effort;
            for (i, u) in now.u[link.rows.clone()].iter().enumerate() {
                if u * u > most * link.mobility(i, members) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What the laws of an island will do, if that is what they did; whether it is worth a try.
    fn foretell(&mut self, island: usize, h: f64) -> Result<bool, SimError> {
        let (resting, theta) = (self.touching.resting, self.touching.thetas[island]);
        let before = if self.last.h > 0.0 { h / self.last.h } else { 0.0 };
        let Crowd { joined, links, members, linked, now, .. } = self;
        let (guesses, now) = (&mut joined[island].guesses, now.mechanical());
        guesses.clear();
        for link in links.laws_of(&linked[island]) {
            for block in link.blocks(&links.laws, h, now.y, &links.rows) {
                let LinkBlock { rows, set, state } = block?;
                let (row, bounds) = (rows.start, bounds(&set).filter(|_| rows.len() == 1));
                let Some([lower, upper]) = bounds else { return Ok(false) };
                let lam = before * now.lam[row];
                guesses.push(match state {
                    Some(state) if lam > 0.0 => {
                        let speed = lam * link.mobility(row - link.rows.start, members);
                        match state.lies(h, theta, resting, speed) {
                            Some(room) => Guess::Velocity(room),
                            None if state.hits(h) => return Ok(false),
                            None => Guess::Impulse(0.0),
                        }
                    }
                    Some(state) if state.hits(h) => return Ok(false),
                    Some(_) => Guess::Impulse(0.0),
                    None if lam <= lower + AT_BOUND * lower.abs() => Guess::Impulse(lower),
                    None if lam >= upper - AT_BOUND * upper.abs() => Guess::Impulse(upper),
                    None => Guess::Velocity(0.0),
                });
            }
        }
        self.take_guesses(island);
        Ok(true)
    }

    /// What the solution says that laws do: takes those for it that were taken for something else. Whether that is
    /// worth a try.
    fn amend(&mut self, island: usize, h: f64) -> Result<bool, SimError> {
        let theta = self.touching.thetas[island];
        let mut guesses = std::mem::take(&mut self.joined[island].guesses);
        let Crowd { joined, links, members, linked, now, next, .. } = self;
        let (own, now, next) = (&joined[island], now.mechanical(), next.mechanical());
        guesses.clear();
        let mut is_told = true;
        for link in links.laws_of(&linked[island]) {
            for block in link.blocks(&links.laws, h, now.y, &links.rows) {
                let block = block?;
                let noise = || own.noise(link, block.rows.start, members);
                let told = links.told(link, &block, [h, theta], next.lam, noise);
                is_told &= told.is_some();
                guesses.push(told.unwrap_or_default());
            }
        }
        self.joined[island].guesses = guesses;
        if is_told {
            self.take_guesses(island);
        }
        Ok(is_told)
    }

    /// One a row of a law.
    fn take_guesses(&mut self, island: usize) {
        let Crowd { joined, links: Links { all, rows, .. }, linked, .. } = self;
        let laws = linked[island].iter().map(|&k| &all[k]).filter(|link| link.role == Role::Law);
        let own = laws.flat_map(|link| link.rows.clone()).zip(&joined[island].guesses);
        own.for_each(|(row, guess)| rows[row].guess = *guess);
    }

    /// Whether the laws of an island did what they were taken for, or would do so at rest.
    pub(super) fn is_right(
        &mut self,
        island: usize,
        h: f64,
        at_rest: bool,
    ) -> Result<bool, SimError> {
        let theta = self.touching.thetas[island];
        let Crowd { joined, links, members, linked, now, next, .. } = self;
        let (own, now, next) = (&joined[island], now.mechanical(), next.mechanical());
        let mut is_right = true;
        for &k in &linked[island] {
            let link = &links.all[k];
            if link.role != Role::Law {
                continue;
            }
            let rows = &mut links.rows[link.rows.clone()];
            match at_rest {
                true => rows.iter_mut().zip(&link.rate).for_each(|(row, rate)| row.after = *rate),
                false => link.velocities(next.v, members, |i, after| rows[i].after = after),
            }
            for block in link.blocks(&links.laws, h, now.y, &links.rows) {
                let block = block?;
                let noise = || own.noise(link, block.rows.start, members);
                let told = links.told(link, &block, [h, theta], next.lam, noise);
                is_right &= told == Some(links.rows[block.rows.start].guess);
            }
        }
        Ok(is_right)
    }
}

impl Joined {
    /// What there is to solve.
    fn look(&mut self, links: &Links, own: &[usize]) {
        let own = || own.iter().map(|&k| &links.all[k]);
        let rows = |link: &Link| links.rows[link.rows.clone()].iter();
        self.is_rigid = own().all(|link| match link.role {
            Role::Law => rows(link).all(|row| row.guess == Guess::Impulse(0.0)),
            role => role == Role::Constraint,
        });
        self.holds_rates = own().any(|link| {
            link.role == Role::Law && (0..link.rows.len()).any(|i| links.holds(link, i))
        });
    }
}

impl Links {
    /// Those of an island that have a law.
    fn laws_of(&self, own: &[usize]) -> impl Iterator<Item = &Link> {
        own.iter().map(|&k| &self.all[k]).filter(|link| link.role == Role::Law)
    }

    /// What the solution says that a row of a law does; nothing where it cannot be told.
    fn told(
        &self,
        link: &Link,
        block: &LinkBlock,
        [h, theta]: [f64; 2],
        lam: &[f64],
        noise: impl FnOnce() -> f64,
    ) -> Option<Guess> {
        let (own, i) = (block.rows.start, block.rows.start - link.rows.start);
        let (row, [lower, upper]) = (&self.rows[own], bounds(&block.set)?);
        match (&block.state, row.guess) {
            // (1)
            (Some(state), guess @ Guess::Impulse(_)) => {
                state.stays_open(h, theta, row.after).then_some(guess)
            }
            // (2)
            (None, guess @ Guess::Impulse(lam)) => {
                let w = match link.yields.is_empty() {
                    true => row.after,
                    false => {
                        let [D, b] = link.softness(i, h, theta, row);
                        row.after - link.rate[i] + b + D * lam
                    }
                };
                let wrong = if lam > lower { w } else { -w };
                let is_right = lower == upper || wrong <= 0.0 || wrong <= noise();
                Some(if is_right { guess } else { Guess::Velocity(0.0) })
            }
            // (3), (4)
            (_, Guess::Velocity(_)) if lam[own] < lower => Some(Guess::Impulse(lower)),
            (_, Guess::Velocity(_)) if lam[own] > upper => Some(Guess::Impulse(upper)),
            (_, guess) => (lower..=upper).contains(&lam[own]).then_some(guess),
        }
    }
}

/// The least and the largest value of a set of numbers.
fn bounds(set: &Set) -> Option<[f64; 2]> {
    match *set {
        Set::Free => Some([f64::NEG_INFINITY, f64::INFINITY]),
        Set::Nonnegative => Some([0.0, f64::INFINITY]),
        Set::Interval { lower, upper } => Some([lower, upper]),
        _ => None,
    }
}
