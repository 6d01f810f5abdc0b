//! Legs: the way from one event to the next in one go, where the whole model is linear in its mode.
//!
//! Each mode is reduced once (`affine`) and brought into modal coordinates (`modal`), in which states,
//! multipliers and indicators are sums of powers and exponentials of time. Where the first indicator
//! becomes negative is found with certainty, at any distance (`crossing`); there is no step to choose.
//! At an event the next mode is the one behind the corner that was reached, if no indicator denies it.
//! The reduction and the modal coordinates of a mode are checked against its equations once. What this
//! way is not sure of, it leaves to the others.

mod affine;
mod crossing;
mod modal;

use super::super::collocation::Tolerance;
use super::super::mode::{Branch, Mode};
use super::super::watch::Cause;
use super::hold::Hold;
use super::{Link, MOVED, Part};
use crate::graph::Piece;
use affine::Linear;
use crossing::{First, Guard, TERMS, Term};
use modal::{Leg, Modal};
use saltus_linalg::{EigenBlock, Matrix, Packed, vector};
use std::sync::Arc;

/// States and multipliers of a model, at most.
const LARGEST: usize = 128;
/// Modes that are remembered, at most.
const REMEMBERED: usize = 1024;
/// Round-off of an indicator, relative to its terms.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;
/// Share of its terms up to which an indicator may be zero.
const ZERO: f64 = 1e-10;
/// Share of a leg that must be certain, where not all of it is.
const LEAST: f64 = 1e-9;
/// No mode.
const NONE: usize = usize::MAX;

/// A linear model on its legs.
#[derive(Debug)]
pub(in crate::event_driven) struct Legs {
    linear: Linear,
    known: Vec<Known>,
    current: Option<(u64, usize)>, // the id of a mode, and its place
    begun: Course,
    taken: Course,
    is_ready: Option<(u64, f64, f64)>, // the leg of this mode begins at this time, and ends
    indicators: Vec<Indicator>,
    guard: Guard,
    x: Vec<f64>,
    shown: Vec<f64>, // states without mass, multipliers, outputs
    key: Vec<u16>,
}

/// A leg in its mode.
#[derive(Debug, Default)]
struct Course {
    way: Option<Arc<Way>>,
    leg: Leg,
}

/// A mode.
#[derive(Debug)]
struct Known {
    key: Vec<u16>,
    way: Option<Arc<Way>>, // nothing where it cannot be followed
    next: Vec<usize>,      // the mode behind each indicator, as far as it is known
}

#[derive(Debug)]
struct Way {
    modal: Modal,
    shows: Packed, // U and Y of `affine`
    causes: Vec<Cause>,
    hold: Hold,
    of_y: Matrix, // indicators over modal coordinates
    of_s: Matrix, // and over the rest
}

/// An indicator at the beginning of a leg.
#[derive(Debug, Clone, Copy, Default)]
struct Indicator {
    value: f64,
    slope: f64,
    range: f64, // how far it goes on the leg, at most
    terms: f64, // sum of their sizes
}

/// How a leg begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::event_driven) enum Begin {
    /// The mode holds, at first.
    Good,
    /// This indicator is zero and falls.
    Ends(Cause),
    /// Nobody knows.
    Unsure,
}

impl Legs {
    pub(super) fn new(parts: &[Part], links: &[Link]) -> Option<Legs> {
        let linear = Linear::new(parts, links)?;
        let n = linear.massive.len();
        (n + linear.massless.len() + linear.rows <= LARGEST && n <= TERMS).then(|| Legs {
            x: vec![0.0; n + 1],
            shown: vec![0.0; linear.massless.len() + 2 * linear.rows],
            linear,
            known: Vec::new(),
            current: None,
            begun: Course::default(),
            taken: Course::default(),
            is_ready: None,
            indicators: Vec::new(),
            guard: Guard::default(),
            key: Vec::new(),
        })
    }

    /// Forgets the leg that has begun.
    pub fn restart(&mut self) {
        self.is_ready = None;
    }

    /// Begins a leg from `X` at `t` to `t + T` at most; what the mode holds is taken where it is near.
    pub fn begin(
        &mut self,
        mode: &Mode,
        from: Option<Cause>,
        (t, T): (f64, f64),
        X: &[f64],
        tolerance: Tolerance,
    ) -> Begin {
        let id = mode.id();
        if self.is_ready == Some((id, t, T)) {
            return Begin::Good;
        }
        self.is_ready = None;
        if !(T > 0.0 && T.is_finite()) {
            return Begin::Unsure;
        }
        let place = match self.current {
            Some((known, place)) if known == id => place,
            before => {
                let before = before.map(|(_, place)| place);
                let Some(place) = self.find(mode, from.zip(before)) else { return Begin::Unsure };
                self.current = Some((id, place));
                place
            }
        };
        let Course { way, leg } = &mut self.begun;
        way.clone_from(&self.known[place].way);
        let Some(way) = way else { return Begin::Unsure };
        self.x.iter_mut().zip(&self.linear.massive).for_each(|(x, &i)| *x = X[i]);
        if self.x.iter().any(|x| !x.is_finite()) {
            return Begin::Unsure;
        }
        if !way.hold.is_empty() {
            let last = self.x.len() - 1;
            self.x[last] = 1.0;
            if !way.hold.take(&mut self.x, |x| MOVED * tolerance.of(x)) {
                return Begin::Unsure;
            }
        }
        way.modal.begin(&self.x, T, leg);
        way.look(leg, &mut self.indicators);
        for (of, &cause) in self.indicators.iter().zip(&way.causes) {
            if !(of.value >= -ZERO * of.terms) {
                return Begin::Unsure;
            }
            if of.value <= ZERO * of.terms && of.slope < 0.0 && of.range > ZERO * of.terms {
                return Begin::Ends(cause);
            }
        }
        self.is_ready = Some((id, t, T));
        Begin::Good
    }

    /// The leg that has begun is taken: how long it is, up to its first event, or to where it ends or
    /// is certain. Nothing where too little of it is.
    pub fn end(&mut self) -> Option<(f64, Option<Cause>)> {
        let (_, start, _) = self.is_ready.take()?;
        let Course { way, leg } = &self.begun;
        let way = way.as_ref()?;
        let (mut T, mut first) = (leg.T, None);
        for (i, of) in self.indicators.iter().enumerate() {
            // by round-off alone it may be below zero
            let noise = ROUND_OFF * of.terms + (-of.value).max(0.0);
            if of.value + noise > of.range {
                continue;
            }
            way.guard(i, leg, noise, &mut self.guard);
            match self.guard.first_zero(T) {
                First::Never => {}
                First::At(t) => (T, first) = (t, Some(way.causes[i])),
                First::Unseen(from) => (T, first) = (from, None),
            }
        }
        if first.is_none() && !(T >= LEAST * leg.T && start + T > start) {
            return None;
        }
        std::mem::swap(&mut self.begun, &mut self.taken);
        Some((T, first))
    }

    /// State and multipliers at `t` of the leg that was taken last.
    pub fn at(&mut self, t: f64, X: &mut [f64], lam: &mut [f64]) {
        show(&self.linear, &mut self.taken, t, (&mut self.x, &mut self.shown), (X, lam));
    }

    /// The outputs there, where [`at`](Self::at) was asked last.
    pub fn outputs(&self) -> &[f64] {
        &self.shown[self.linear.massless.len() + self.linear.rows..]
    }

    /// State and multipliers where the leg begins that has begun.
    pub fn beginning(&mut self, X: &mut [f64], lam: &mut [f64]) {
        show(&self.linear, &mut self.begun, 0.0, (&mut self.x, &mut self.shown), (X, lam));
    }

    /// The place of a mode, which may be the one behind an indicator of another.
    fn find(&mut self, mode: &Mode, behind: Option<(Cause, usize)>) -> Option<usize> {
        let behind = behind.and_then(|(cause, place)| {
            let way = self.known[place].way.as_ref()?;
            Some((place, way.causes.iter().position(|of| *of == cause)?))
        });
        if let Some((place, indicator)) = behind {
            let next = self.known[place].next[indicator];
            if next != NONE && is(&self.known[next].key, mode) {
                return Some(next);
            }
        }
        self.key.clear();
        for branch in &mode.branches {
            let Branch::Piece(piece) = branch else { return None };
            self.key.push(u16::try_from(*piece).ok()?);
        }
        let known = self.known.iter().position(|known| known.key == self.key);
        let place = match known {
            Some(place) => place,
            None => {
                if self.known.len() == REMEMBERED {
                    self.known.clear();
                }
                let way = Way::new(&self.linear, mode).map(Arc::new);
                let next = vec![NONE; way.as_ref().map_or(0, |way| way.causes.len())];
                self.known.push(Known { key: self.key.clone(), way, next });
                self.known.len() - 1
            }
        };
        if let Some((from, indicator)) = behind
            && let Some(from) = self.known.get_mut(from)
            && let Some(next) = from.next.get_mut(indicator)
        {
            *next = place;
        }
        Some(place)
    }
}

/// State and multipliers at `t` of a leg.
fn show(
    linear: &Linear,
    Course { way, leg }: &mut Course,
    t: f64,
    (x, shown): (&mut [f64], &mut [f64]),
    (X, lam): (&mut [f64], &mut [f64]),
) {
    let Some(way) = way else { return };
    way.modal.at(leg, t, x);
    let Linear { massive, massless, .. } = linear;
    x[massive.len()] = 1.0;
    massive.iter().zip(&*x).for_each(|(&i, x)| X[i] = *x);
    way.shows.apply(x, shown);
    massless.iter().zip(&*shown).for_each(|(&i, u)| X[i] = *u);
    lam.copy_from_slice(&shown[massless.len()..massless.len() + lam.len()]);
}

/// Whether a mode has these pieces.
fn is(key: &[u16], mode: &Mode) -> bool {
    let of = |(key, branch): (&u16, &Branch)| *branch == Branch::Piece(usize::from(*key));
    key.len() == mode.branches.len() && key.iter().zip(&mode.branches).all(of)
}

impl Way {
    fn new(linear: &Linear, mode: &Mode) -> Option<Way> {
        let pieces: Option<Vec<Piece>> = (0..mode.blocks.len()).map(|k| mode.piece(k)).collect();
        let pieces = pieces.filter(|pieces| pieces.len() == linear.rows)?;
        let affine = linear.affine(&pieces)?;
        let modal = Modal::new(&affine)?;
        let (n, free) = (linear.massive.len(), linear.massless.len());
        let (mut causes, mut rows) = (Vec::new(), Vec::new());
        for (block, piece) in pieces.iter().enumerate() {
            if let Some((control, closed)) = mode.switch(block) {
                let of = linear.row(control.terms()?, &affine);
                let (sign, level) = control.margin_of(closed);
                causes.push(Cause { block, indicator: 0 });
                rows.extend(of.iter().map(|x| sign * x));
                rows[(n + 1) * causes.len() - 1] += level;
                continue;
            }
            // level: [s − least, most − s], wall: [most − λ, λ − least]
            let (of, [first, second]) = match *piece {
                Piece::Level { least, most, .. } => {
                    (affine.Y.row(block), [(1.0, -least), (-1.0, most)])
                }
                Piece::Wall { least, most, .. } => {
                    (affine.U.row(free + block), [(-1.0, most), (1.0, -least)])
                }
            };
            for (indicator, (sign, level)) in [first, second].into_iter().enumerate() {
                if level.is_finite() {
                    causes.push(Cause { block, indicator });
                    rows.extend(of.iter().map(|x| sign * x));
                    rows[(n + 1) * causes.len() - 1] += level;
                }
            }
        }
        let rows = Matrix::from_vec(causes.len(), n + 1, rows);
        let mut of_y = Matrix::zeros(causes.len(), modal.rest.len());
        let mut of_s = Matrix::zeros(causes.len(), modal.drivers.len() + 1);
        for i in 0..causes.len() {
            for k in 0..modal.rest.len() {
                let terms = modal.rest.iter().enumerate();
                of_y[(i, k)] = terms.map(|(j, &x)| rows[(i, x)] * modal.V[(j, k)]).sum();
            }
            let columns = modal.drivers.iter().copied().chain([n]);
            columns.enumerate().for_each(|(k, column)| of_s[(i, k)] = rows[(i, column)]);
        }
        let mut shows = Packed::default();
        let above = affine.U.rows();
        shows.fill(above + affine.Y.rows(), n + 1, |i, j| match i.checked_sub(above) {
            None => affine.U[(i, j)],
            Some(i) => affine.Y[(i, j)],
        });
        (of_y.is_finite() && of_s.is_finite()).then_some(Way {
            modal,
            shows,
            causes,
            hold: affine.hold,
            of_y,
            of_s,
        })
    }

    /// The indicators at the beginning of a leg.
    fn look(&self, leg: &Leg, out: &mut Vec<Indicator>) {
        out.clear();
        for i in 0..self.causes.len() {
            let mut of = Indicator::default();
            let Leg { start, slope, y_range, .. } = leg;
            for (k, &a) in self.of_y.row(i).iter().enumerate() {
                of.value += a * start[k];
                of.terms += (a * start[k]).abs();
                of.slope += a * slope[k];
                of.range += a.abs() * y_range[k];
            }
            for (k, &a) in self.of_s.row(i).iter().enumerate() {
                let term = a * leg.s[k][0];
                of.value += term;
                of.terms += term.abs();
                of.slope += a * leg.s[k][1];
                of.range += a.abs() * leg.s_range[k];
            }
            out.push(of);
        }
    }

    /// The `i`-th indicator over the leg.
    fn guard(&self, i: usize, leg: &Leg, noise: f64, out: &mut Guard) {
        out.degree = leg.degree;
        out.polynomial[..=leg.degree].fill(0.0);
        out.polynomial[0] = noise;
        let of_y = self.of_y.row(i).iter().zip(&leg.y);
        for (&a, polynomial) in of_y.chain(self.of_s.row(i).iter().zip(&leg.s)) {
            if a != 0.0 {
                vector::axpy(a, &polynomial[..=leg.degree], &mut out.polynomial[..=leg.degree]);
            }
        }
        out.count = 0;
        for &EigenBlock { first, alpha, omega } in &leg.fast {
            let (h, c) = (self.of_y[(i, first)], leg.transient[first]);
            let (a, b) = match omega > 0.0 {
                true => {
                    let (k, d) = (self.of_y[(i, first + 1)], leg.transient[first + 1]);
                    (h * c + k * d, h * d - k * c)
                }
                false => (h * c, 0.0),
            };
            // what cannot be told from round-off counts for nothing
            if alpha > 0.0 || a.abs() + b.abs() > 1e-3 * noise {
                out.terms[out.count] = Term { alpha, omega, a, b };
                out.count += 1;
            }
        }
    }
}
