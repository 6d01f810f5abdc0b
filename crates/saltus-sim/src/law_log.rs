//! What laws do from step to step of time-stepping.
//!
//! Steps do not locate events, but their ends tell which branch each law is on:
//!
//! ```text
//! contact   λ_N = 0 open;   λ_N > 0 after an open one: impact;   λ_N > 0 again: closed
//! friction  ‖λ_T‖ = μ λ_N and u_T ≠ 0: slips;   else sticks
//! graph     the piece whose values of λ hold the force                                  (1)
//! ```
//!
//! An event is a change of branch. A contact lifts off where it was closed; one that opens right
//! after an impact has bounced.

use crate::graph::{Piece, pieces};
use crate::integrators::assembly::Places;
use crate::integrators::row::Row;
use crate::recorder::Parts;
use crate::run::{Change, EventKind, EventRecord, Quantity, Value};
use saltus_linalg::{Lanes, WideLanes, vector, wide_lanes};
use saltus_model::{Coefficient, Law, Model, Order};
use saltus_numerics::Memory;

/// The laws of a model, the branch that each is on, and what has happened in the run. Events are
/// kept as numbers: there may be many.
#[derive(Debug, Default)]
pub(crate) struct LawLog {
    orders: [Watch; 2],
    names: Vec<String>,  // of the interactions of the model
    switches: Vec<bool>, // which of them are switches
    log: Log,
}

#[derive(Debug, Default)]
struct Log {
    kept: bool, // only while a run goes on
    entries: Vec<Entry>,
    values: Vec<f64>,
}

/// The laws of one order.
#[derive(Debug, Default)]
struct Watch {
    contacts: Vec<Contact>,
    graphs: Vec<Graph>,
    inside: Inside,
    before: [Vec<f64>; 2], // u and λ at the end of the last step
}

#[derive(Debug)]
struct Contact {
    interaction: usize,
    first: usize,    // row of the interaction
    normal: usize,   // row
    tangents: usize, // rows after it
    mu: Option<f64>, // where it is a number
    fastest: f64,    // along the tangents, of late
    state: Touch,
}

/// What a contact did in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touch {
    Open,
    Impact,
    Slip,
    Stick,
}

#[derive(Debug)]
struct Graph {
    interaction: usize,
    first: usize,
    row: usize,
    pieces: Vec<Piece>,
    on: Option<usize>, // nothing before the first step
}

/// Of all graphs, in order, what tells that a force is well inside the piece that it was on: side by
/// side, since most often all of them are.
#[derive(Debug, Default)]
struct Inside {
    runs: Vec<(usize, usize, usize)>, // first graph, its row, and how many follow each other
    largest: Vec<f64>,                // force of late
    least: Vec<f64>,                  // of the piece; where that is not known, nothing is inside
    most: Vec<f64>,
    nearly: Vec<f64>, // share of `largest` that a force keeps from them, negative on level pieces
}

/// An event: `count` values before and as many after it, in `values`.
#[derive(Debug, Clone, Copy)]
struct Entry {
    time: f64,
    kind: EventKind,
    interaction: u32,
    component: u32,
    count: u8,
    start: usize,
}

/// Shares of a bound below which a force is at it.
const NEARLY: f64 = 1e-8;
/// What is left of the largest force after a step.
const FADING: f64 = 0.99;

impl LawLog {
    pub fn new(model: &Model) -> LawLog {
        let mut log = LawLog::default();
        log.names.extend(model.interactions().map(|(name, _)| name.to_string()));
        log.watch(model);
        log
    }

    /// The laws of a model of the same interactions, which an event has changed.
    pub fn watch(&mut self, model: &Model) {
        self.switches.clear();
        let is_switch = |law: &Law| matches!(law, Law::Switch { .. });
        self.switches.extend(model.interactions().map(|(_, one)| is_switch(&one.law)));
        for (order, watch) in [Order::First, Order::Second].into_iter().zip(&mut self.orders) {
            let places = Places::new(model, order);
            let (contacts, graphs) = (std::mem::take(&mut watch.contacts), &mut watch.graphs);
            let mut old = contacts.iter().peekable();
            let before = std::mem::take(graphs);
            let mut old_graphs = before.iter().zip(&watch.inside.largest).peekable();
            let mut largest_forces = Vec::new();
            watch.before.iter_mut().for_each(|values| values.resize(places.outputs, 0.0));
            for (k, (_, interaction)) in model.interactions().enumerate() {
                let Some(rows) = places.interactions[k].clone() else { continue };
                let law = &interaction.law;
                if !interaction.active || *law == Law::Equality {
                    continue;
                }
                let mut contact = |normal: usize, tangents, mu| {
                    while old.next_if(|one| one.normal < normal).is_some() {}
                    let was = old.next_if(|one| one.normal == normal);
                    let (state, fastest) =
                        was.map_or((Touch::Open, 0.0), |one| (one.state, one.fastest));
                    let (interaction, first) = (k, rows.start);
                    watch.contacts.push(Contact {
                        interaction,
                        first,
                        normal,
                        tangents,
                        mu,
                        fastest,
                        state,
                    });
                };
                match law {
                    _ if law.is_normal() => rows.clone().for_each(|row| contact(row, 0, None)),
                    Law::ImpactFriction { mu, .. }
                    | Law::Fremond { mu, .. }
                    | Law::Cohesive { mu, .. }
                    | Law::BinaryCohesive { mu, .. } => {
                        contact(rows.start, rows.len() - 1, constant(mu));
                    }
                    Law::RollingFriction { mu, .. } => {
                        contact(rows.start, rows.len() / 2, constant(mu));
                    }
                    _ => {
                        for (i, row) in rows.clone().enumerate() {
                            let Some(pieces) = pieces(law, i) else { break };
                            let (interaction, first) = (k, rows.start);
                            while old_graphs.next_if(|(one, _)| one.row < row).is_some() {}
                            let was = old_graphs.next_if(|(one, _)| one.row == row);
                            let same = was.filter(|(one, _)| one.pieces == pieces);
                            let (on, largest) =
                                same.map_or((None, 0.0), |(one, largest)| (one.on, *largest));
                            graphs.push(Graph { interaction, first, row, pieces, on });
                            largest_forces.push(largest);
                        }
                    }
                }
            }
            watch.inside = Inside::new(graphs, largest_forces);
        }
    }

    /// Back to the beginning.
    pub fn reset(&mut self, model: &Model) {
        self.orders = Default::default();
        self.watch(model);
    }

    /// Takes the branches of these rows, in which `λ` are forces; nothing has happened.
    pub fn assume(&mut self, rows: &[Row; 2]) {
        for (watch, row) in self.orders.iter_mut().zip(rows) {
            let (u, lam) = (row.get(Quantity::U), row.get(Quantity::Lam));
            for contact in &mut watch.contacts {
                contact.state = Touch::Stick;
                contact.state = contact.touch(u, lam);
            }
            for (graph, &largest) in watch.graphs.iter_mut().zip(&watch.inside.largest) {
                graph.on = Some(graph.piece(lam[graph.row], largest));
            }
            watch.inside.forget();
            watch.keep(u, lam);
        }
    }

    /// A run begins.
    pub fn open(&mut self) {
        self.log = Log { kept: true, ..Log::default() };
    }

    /// A run has ended: what laws did in it, and the events of the model, in the order of time.
    /// At one instant laws come first.
    pub fn close(&mut self, own: &[EventRecord]) -> Vec<EventRecord> {
        let Log { entries, values, .. } = std::mem::take(&mut self.log);
        let mut events: Vec<_> = entries.iter().map(|entry| self.record(entry, &values)).collect();
        if !own.is_empty() {
            events.extend_from_slice(own);
            events.sort_by(|a, b| a.time.total_cmp(&b.time)); // stable
        }
        events
    }

    /// The largest normal velocity of a contact that pushes.
    pub fn restlessness(&self, parts: &Parts) -> f64 {
        let Some(part) = &parts.second else { return 0.0 };
        let (u, lam) = (part.now().get(Quantity::U), part.now().get(Quantity::Lam));
        let pushing = self.orders[1].contacts.iter().filter(|one| lam[one.normal] > 0.0);
        pushing.fold(0.0, |largest, one| largest.max(u[one.normal].abs()))
    }

    /// The branches that the next step's events depend on.
    pub fn memory(&mut self, memory: &mut Memory) {
        for watch in &mut self.orders {
            for contact in &mut watch.contacts {
                let mut state = contact.state as usize;
                memory.count(&mut state);
                memory.number(&mut contact.fastest);
                contact.state = Touch::ALL[state.min(Touch::ALL.len() - 1)];
            }
            for (graph, largest) in watch.graphs.iter_mut().zip(&mut watch.inside.largest) {
                let mut on = graph.on.map_or(0, |piece| piece + 1);
                memory.count(&mut on);
                memory.number(largest);
                graph.on = on.checked_sub(1).filter(|&piece| piece < graph.pieces.len());
            }
            watch.inside.forget();
            watch.before.iter_mut().for_each(|values| memory.numbers(values));
        }
    }

    /// Switches that were closed or opened at `t`.
    pub fn switched(&mut self, t: f64, changes: impl Iterator<Item = (usize, bool)>) {
        for (interaction, closed) in changes {
            let [before, after] = [!closed, closed].map(|closed| [f64::from(closed)]);
            self.log.push(t, EventKind::Switch, (interaction, 0), &before, &after);
        }
    }

    /// The state from which the next step begins was given, not computed.
    pub fn begin(&mut self, parts: &Parts) {
        for (watch, part) in self.orders.iter_mut().zip([&parts.first, &parts.second]) {
            if let Some(part) = part {
                watch.keep(part.now().get(Quantity::U), part.now().get(Quantity::Lam));
            }
        }
    }

    /// A step of length `h` has ended at `t`: what laws did in it.
    #[inline]
    pub fn look(&mut self, t: f64, h: f64, parts: &Parts) {
        let LawLog { orders: [first, second], log, .. } = self;
        if let Some(part) = &parts.first
            && first.has_laws()
        {
            first.look(t, 1.0, part.now(), log);
        }
        if let Some(part) = &parts.second
            && second.has_laws()
        {
            second.look(t, 1.0 / h, part.now(), log); // λ are impulses
        }
    }

    fn record(&self, entry: &Entry, values: &[f64]) -> EventRecord {
        let Entry { time, kind, interaction, component, count, start } = *entry;
        let is_switch = self.switches[interaction as usize];
        let interaction = &self.names[interaction as usize];
        let count = usize::from(count);
        let (before, after) = values[start..start + 2 * count].split_at(count);
        let what = if matches!(kind, EventKind::Switch | EventKind::Sliding) {
            Quantity::Lam
        } else {
            Quantity::U
        };
        let changes = before.iter().zip(after).enumerate().map(|(i, (before, after))| Change {
            what: match is_switch {
                true => format!("{interaction}.closed"),
                false => format!("{interaction}.{}[{}]", what.name(), component as usize + i),
            },
            before: Value::Number(*before),
            after: Value::Number(*after),
        });
        let (name, changes) = (String::new(), changes.collect());
        EventRecord { time, kind, name, interaction: interaction.clone(), changes }
    }
}

impl Log {
    fn push(
        &mut self,
        time: f64,
        kind: EventKind,
        (interaction, component): (usize, usize),
        before: &[f64],
        after: &[f64],
    ) {
        if !self.kept {
            return;
        }
        let (interaction, component) = (interaction as u32, component as u32);
        let (count, start) = (before.len() as u8, self.values.len());
        self.entries.push(Entry { time, kind, interaction, component, count, start });
        self.values.extend_from_slice(before);
        self.values.extend_from_slice(after);
    }
}

impl Touch {
    const ALL: [Touch; 4] = [Touch::Open, Touch::Impact, Touch::Slip, Touch::Stick];
}

impl Watch {
    fn has_laws(&self) -> bool {
        !(self.contacts.is_empty() && self.graphs.is_empty())
    }

    /// What laws did in the step that led to `row`; forces are `scale` times `λ`.
    #[inline]
    fn look(&mut self, t: f64, scale: f64, row: &Row, log: &mut Log) {
        let (u, lam) = (row.get(Quantity::U), row.get(Quantity::Lam));
        let Watch { contacts, graphs, inside, before: [u_before, lam_before] } = self;
        for contact in contacts.iter_mut() {
            let (was, now) = (contact.state, contact.touch(u, lam));
            if was == now {
                continue;
            }
            contact.state = now;
            let kind = match (was, now) {
                (_, Touch::Impact) => EventKind::Impact,
                (Touch::Slip | Touch::Stick, Touch::Open) => EventKind::LiftOff,
                (Touch::Stick, Touch::Slip) => EventKind::Slip,
                (Touch::Slip, Touch::Stick) => EventKind::Stick,
                _ => continue, // it has bounced, or stays after an impact
            };
            let rows = contact.normal..contact.normal + 1 + contact.tangents;
            let place = (contact.interaction, contact.normal - contact.first);
            log.push(t, kind, place, &u_before[rows.clone()], &u[rows]);
        }
        for run in 0..inside.runs.len() {
            if inside.all(run, scale, lam) {
                continue;
            }
            let (first, _, count) = inside.runs[run];
            for k in first..first + count {
                let graph = &mut graphs[k];
                let force = scale * lam[graph.row];
                if inside.is(k, force) {
                    continue;
                }
                let now = graph.piece(force, inside.largest[k]);
                let was = graph.on.replace(now);
                inside.set(k, &graph.pieces[now]);
                if was.is_none_or(|was| was == now) {
                    continue; // where it began, or at the end of a piece
                }
                let place = (graph.interaction, graph.row - graph.first);
                let (kind, row) = (graph.pieces[now].arrival(), graph.row..graph.row + 1);
                log.push(t, kind, place, &lam_before[row.clone()], &lam[row]);
            }
        }
        self.keep(u, lam);
    }

    #[inline]
    fn keep(&mut self, u: &[f64], lam: &[f64]) {
        let [u_before, lam_before] = &mut self.before;
        if !u.is_empty() {
            vector::copy(u, &mut u_before[..u.len()]); // first-order systems have none
        }
        vector::copy(lam, lam_before);
    }
}

impl Contact {
    /// Equation (1).
    #[inline]
    fn touch(&mut self, u: &[f64], lam: &[f64]) -> Touch {
        let push = lam[self.normal];
        if !(push > 0.0) {
            return Touch::Open;
        }
        if self.state == Touch::Open {
            return Touch::Impact;
        }
        if self.tangents == 0 {
            return Touch::Stick;
        }
        let tangent = self.normal + 1..self.normal + 1 + self.tangents;
        let size = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>().sqrt();
        let speed = size(&u[tangent.clone()]);
        self.fastest = speed.max(FADING * self.fastest);
        let exhausted = match self.mu {
            Some(mu) => size(&lam[tangent]) >= mu * push * (1.0 - NEARLY),
            None => speed > NEARLY * self.fastest,
        };
        if speed > 0.0 && exhausted { Touch::Slip } else { Touch::Stick }
    }
}

impl Inside {
    fn new(graphs: &[Graph], largest: Vec<f64>) -> Inside {
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for (k, graph) in graphs.iter().enumerate() {
            match runs.last_mut() {
                Some((_, row, count)) if *row + *count == graph.row => *count += 1,
                _ => runs.push((k, graph.row, 1)),
            }
        }
        let unknown = vec![0.0; largest.len()];
        let (least, most, nearly) = (unknown.clone(), unknown.clone(), unknown);
        let mut inside = Inside { runs, largest, least, most, nearly };
        inside.forget();
        inside
    }

    /// No piece is known: nothing is inside.
    fn forget(&mut self) {
        self.least.fill(f64::INFINITY);
        self.most.fill(f64::NEG_INFINITY);
        self.nearly.fill(0.0);
    }

    /// The piece that graph `k` is on from now on.
    fn set(&mut self, k: usize, piece: &Piece) {
        let (least, most) = piece.forces();
        let level = least == most;
        self.least[k] = if level { least.next_down() } else { least };
        self.most[k] = if level { most.next_up() } else { most };
        self.nearly[k] = if level { -NEARLY } else { NEARLY };
    }

    /// Whether the force of graph `k` is inside its piece.
    #[inline]
    fn is(&self, k: usize, force: f64) -> bool {
        let nearly = self.nearly[k] * self.largest[k];
        force > self.least[k] + nearly && force < self.most[k] - nearly
    }

    /// Takes note of the forces of a run, and tells whether all of them are inside.
    #[inline]
    fn all(&mut self, run: usize, scale: f64, lam: &[f64]) -> bool {
        let (first, row, count) = self.runs[run];
        let graphs = first..first + count;
        let (least, most) = (&self.least[graphs.clone()], &self.most[graphs.clone()]);
        let nearly = &self.nearly[graphs.clone()];
        let (lam, largest) = (&lam[row..row + count], &mut self.largest[graphs]);
        wide_lanes(Forces { lam, scale, largest, least, most, nearly })
    }
}

/// The forces of some graphs, beside the pieces that these are on.
struct Forces<'a> {
    lam: &'a [f64],
    scale: f64,
    largest: &'a mut [f64],
    least: &'a [f64],
    most: &'a [f64],
    nearly: &'a [f64],
}

/// Forces that are looked at together.
const FOUR: usize = 4;

impl WideLanes for Forces<'_> {
    type Answer = bool;

    /// Whether all forces are inside, and the largest of late; several at a time, without a branch.
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> bool {
        let Forces { lam, scale, largest, least, most, nearly } = self;
        let n = lam.len();
        let (lams, lam) = lam.as_chunks::<FOUR>();
        let (largests, largest) = largest[..n].as_chunks_mut::<FOUR>();
        let (leasts, least) = least[..n].as_chunks::<FOUR>();
        let (mosts, most) = most[..n].as_chunks::<FOUR>();
        let (nearlies, nearly) = nearly[..n].as_chunks::<FOUR>();
        let (scales, fading) = (lanes.splat(scale), lanes.splat(FADING));
        let mut inside = lanes.at_most(scales, scales);
        let n = lams.len();
        let (largests, leasts) = (&mut largests[..n], &leasts[..n]);
        let (mosts, nearlies) = (&mosts[..n], &nearlies[..n]);
        for i in 0..n {
            let force = lanes.mul(scales, lanes.load(&lams[i]));
            let faded = lanes.mul(fading, lanes.load(&largests[i]));
            let late = lanes.greater(lanes.abs(force), faded);
            largests[i] = lanes.store(late);
            let nearly = lanes.mul(lanes.load(&nearlies[i]), late);
            let above = lanes.less(lanes.add(lanes.load(&leasts[i]), nearly), force);
            let below = lanes.less(force, lanes.sub(lanes.load(&mosts[i]), nearly));
            inside = lanes.both(inside, lanes.both(above, below));
        }
        let mut all = lanes.all(inside);
        for i in 0..lam.len() {
            let (force, faded) = (scale * lam[i], FADING * largest[i]);
            largest[i] = if force.abs() > faded { force.abs() } else { faded };
            let nearly = nearly[i] * largest[i];
            all &= (force > least[i] + nearly) & (force < most[i] - nearly);
        }
        all
    }
}

impl Graph {
    /// The piece with this force; a level one where two meet.
    #[inline]
    fn piece(&self, force: f64, largest: f64) -> usize {
        let outside = |piece: &Piece| {
            let (least, most) = piece.forces();
            (least - force).max(force - most).max(0.0)
        };
        let level = self.pieces.iter().position(|piece| {
            let (least, most) = piece.forces();
            least == most && (force - least).abs() <= NEARLY * largest
        });
        level.unwrap_or_else(|| {
            let mut best = (f64::INFINITY, 0);
            for (k, piece) in self.pieces.iter().enumerate() {
                let far = outside(piece);
                if far < best.0 {
                    best = (far, k);
                }
            }
            best.1
        })
    }
}

fn constant(mu: &Coefficient) -> Option<f64> {
    match mu {
        Coefficient::Constant(mu) => Some(*mu),
        Coefficient::Varying(_) => None,
    }
}
