//! What acts on linear first-order systems from outside: `b(t)` of the systems, `e(t)` of the relations.
//!
//! ```text
//! b = b₀ + ḃ (t − t₀),    e = e₀ + ė (t − t₀)                                              (1)
//! ```
//!
//! from one corner to the next, where all of it is made of straight lines; else it is asked for at
//! every instant.

use super::assembly::Places;
use crate::SimError;
use saltus_model::{Dependence, FirstOrderSystem, Model, Relation, System};
use std::ops::Range;
use std::sync::Arc;

/// All that acts from outside.
#[derive(Debug)]
pub(super) struct Sources {
    systems: Vec<Driven>,
    offsets: Vec<Moving>,
    from: f64, // equation (1) holds from here
    until: f64,
    start: f64,       // t₀
    b: Vec<Straight>, // entries that move
    e: Vec<Straight>,
    work: [Vec<f64>; 2],
}

/// A system whose `b` moves with time.
#[derive(Debug)]
struct Driven {
    name: String,
    system: Arc<dyn FirstOrderSystem>,
    range: Range<usize>,
}

/// A relation whose `e` moves with time.
#[derive(Debug)]
struct Moving {
    name: String,
    relation: Arc<dyn Relation>,
    rows: Range<usize>,
}

/// An entry of equation (1).
#[derive(Debug, Clone, Copy)]
struct Straight {
    place: usize,
    from: f64, // where its own line starts
    at: f64,
    rate: f64,
}

impl Sources {
    pub fn new(model: &Model, places: &Places) -> Sources {
        let mut systems = Vec::new();
        for (_, name, system, range) in places.systems_of(model) {
            if let System::FirstOrder(system) = system
                && system.dependence().forcing > Dependence::Constant
            {
                systems.push(Driven { name: name.to_string(), system: Arc::clone(system), range });
            }
        }
        let moving = places.interactions_of(model).filter(|(_, interaction, _)| {
            interaction.relation.linear().is_some_and(|linear| linear.moves)
        });
        let offsets = moving.map(|(name, interaction, rows)| Moving {
            name: name.to_string(),
            relation: Arc::clone(&interaction.relation),
            rows,
        });
        let offsets = offsets.collect();
        let most = places.states.max(places.outputs);
        Sources {
            systems,
            offsets,
            from: f64::INFINITY,
            until: f64::NEG_INFINITY,
            start: 0.0,
            b: Vec::new(),
            e: Vec::new(),
            work: [vec![0.0; most], vec![0.0; most]],
        }
    }

    /// Whether some `b` moves with time.
    pub fn drive_systems(&self) -> bool {
        !self.systems.is_empty()
    }

    /// Whether some `e` does.
    pub fn move_offsets(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The rows of `e` that do.
    pub fn moving_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.offsets.iter().flat_map(|one| one.rows.clone())
    }

    /// The entries of `b` and `e` at `t` that move.
    #[inline]
    pub fn fill(&mut self, t: f64, b: &mut [f64], e: &mut [f64]) -> Result<(), SimError> {
        if t >= self.from && t < self.until {
            self.on_lines(t, b, e);
            return Ok(());
        }
        self.fill_anew(t, b, e)
    }

    /// Equation (1).
    #[inline]
    fn on_lines(&self, t: f64, b: &mut [f64], e: &mut [f64]) {
        let since = t - self.start;
        self.b.iter().for_each(|one| b[one.place] = one.at + one.rate * since);
        self.e.iter().for_each(|one| e[one.place] = one.at + one.rate * since);
    }

    #[cold]
    fn fill_anew(&mut self, t: f64, b: &mut [f64], e: &mut [f64]) -> Result<(), SimError> {
        (self.from, self.until) = (f64::INFINITY, f64::NEG_INFINITY);
        if self.find_lines(t).is_some() {
            self.on_lines(t, b, e);
            return Ok(());
        }
        for Driven { name, system, range } in &self.systems {
            system.forcing(t, &mut b[range.clone()]).map_err(|error| error.of(name))?;
        }
        for Moving { name, relation, rows } in &self.offsets {
            relation.offset(t, &mut e[rows.clone()]).map_err(|error| error.of(name))?;
        }
        Ok(())
    }

    /// The lines from `t` on; nothing where something is none.
    fn find_lines(&mut self, t: f64) -> Option<()> {
        let Sources { systems, offsets, b, e, work: [at, rate], .. } = self;
        b.clear();
        e.clear();
        let (mut start, mut until) = (f64::NEG_INFINITY, f64::INFINITY);
        for one in &*systems {
            let n = one.range.len();
            let line = one.system.forcing_line(t, &mut at[..n], &mut rate[..n])?;
            (start, until) = (start.max(line.start), until.min(line.until));
            let moves = (0..n).filter(|&k| one.system.forcing_varies(k));
            b.extend(moves.map(|k| Straight {
                place: one.range.start + k,
                from: line.start,
                at: at[k],
                rate: rate[k],
            }));
        }
        for one in &*offsets {
            let n = one.rows.len();
            let line = one.relation.offset_line(t, &mut at[..n], &mut rate[..n])?;
            (start, until) = (start.max(line.start), until.min(line.until));
            e.extend((0..n).map(|k| Straight {
                place: one.rows.start + k,
                from: line.start,
                at: at[k],
                rate: rate[k],
            }));
        }
        if !start.is_finite() {
            start = 0.0;
        }
        for one in b.iter_mut().chain(e) {
            one.at += one.rate * (start - one.from);
        }
        (self.from, self.until, self.start) = (t, until, start);
        Some(())
    }

    /// Forgets the lines: time may have gone back.
    pub fn forget(&mut self) {
        (self.from, self.until) = (f64::INFINITY, f64::NEG_INFINITY);
    }
}
