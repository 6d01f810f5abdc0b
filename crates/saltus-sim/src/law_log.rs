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
use crate::integrators::part::Part;
use crate::integrators::row::Row;
use crate::recorder::Parts;
use crate::run::{Change, EventKind, EventRecord, Quantity, Value};
use saltus_model::{Coefficient, Law, Model, Order};
use saltus_numerics::Memory;

/// The laws of a model, the branch that each is on, and what has happened in the run. Events are
/// kept as numbers: there may be many.
#[derive(Debug, Default)]
pub(crate) struct LawLog {
    orders: [Watch; 2],
    names: Vec<String>, // of the interactions of the model
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
    impulse: bool, // λ is one
    pieces: Vec<Piece>,
    on: Option<usize>,  // nothing before the first step
    forces: (f64, f64), // of that piece, where it is known
    largest: f64,       // force of late
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
/// Forces of a piece that is not known: none.
const UNKNOWN: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);
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
        for (order, watch) in [Order::First, Order::Second].into_iter().zip(&mut self.orders) {
            let places = Places::new(model, order);
            let (contacts, graphs) = (std::mem::take(&mut watch.contacts), &mut watch.graphs);
            let mut old = contacts.iter().peekable();
            let before = std::mem::take(graphs);
            let mut old_graphs = before.iter().peekable();
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
                            let (first, impulse) = (rows.start, order == Order::Second);
                            while old_graphs.next_if(|one| one.row < row).is_some() {}
                            let was = old_graphs.next_if(|one| one.row == row);
                            let same = was.filter(|one| one.pieces == pieces);
                            let (on, largest) =
                                same.map_or((None, 0.0), |one| (one.on, one.largest));
                            graphs.push(Graph {
                                interaction: k,
                                first,
                                row,
                                impulse,
                                pieces,
                                on,
                                forces: UNKNOWN,
                                largest,
                            });
                        }
                    }
                }
            }
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
            for graph in &mut watch.graphs {
                graph.on = Some(graph.piece(lam[graph.row]));
                graph.forces = UNKNOWN;
            }
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
            for graph in &mut watch.graphs {
                let mut on = graph.on.map_or(0, |piece| piece + 1);
                memory.count(&mut on);
                memory.number(&mut graph.largest);
                graph.on = on.checked_sub(1).filter(|&piece| piece < graph.pieces.len());
                graph.forces = UNKNOWN;
            }
            watch.before.iter_mut().for_each(|values| memory.numbers(values));
        }
    }

    /// A step of length `h` has ended at `t`: what laws did in it.
    #[inline]
    pub fn look(&mut self, t: f64, h: f64, parts: &Parts) {
        let LawLog { orders, log, .. } = self;
        for (watch, part) in orders.iter_mut().zip([&parts.first, &parts.second]) {
            if let Some(part) = part
                && !(watch.contacts.is_empty() && watch.graphs.is_empty())
            {
                watch.look(t, h, part.as_ref(), log);
            }
        }
    }

    fn record(&self, entry: &Entry, values: &[f64]) -> EventRecord {
        let Entry { time, kind, interaction, component, count, start } = *entry;
        let interaction = &self.names[interaction as usize];
        let count = usize::from(count);
        let (before, after) = values[start..start + 2 * count].split_at(count);
        let what = if matches!(kind, EventKind::Switch | EventKind::Sliding) {
            Quantity::Lam
        } else {
            Quantity::U
        };
        let changes = before.iter().zip(after).enumerate().map(|(i, (before, after))| Change {
            what: format!("{interaction}.{}[{}]", what.name(), component as usize + i),
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
    #[inline]
    fn look(&mut self, t: f64, h: f64, part: &dyn Part, log: &mut Log) {
        let row = part.now();
        let (u, lam) = (row.get(Quantity::U), row.get(Quantity::Lam));
        let Watch { contacts, graphs, before: [u_before, lam_before] } = self;
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
        for graph in graphs.iter_mut() {
            let force = if graph.impulse { lam[graph.row] / h } else { lam[graph.row] };
            graph.largest = force.abs().max(FADING * graph.largest);
            if graph.stays(force) {
                continue;
            }
            let now = graph.piece(force);
            let was = graph.on.replace(now);
            graph.forces = graph.pieces[now].forces();
            if was.is_none_or(|was| was == now) {
                continue; // where it began, or at the end of a piece
            }
            let place = (graph.interaction, graph.row - graph.first);
            let (kind, row) = (graph.pieces[now].arrival(), graph.row..graph.row + 1);
            log.push(t, kind, place, &lam_before[row.clone()], &lam[row]);
        }
        self.keep(u, lam);
    }

    fn keep(&mut self, u: &[f64], lam: &[f64]) {
        let [u_before, lam_before] = &mut self.before;
        u_before[..u.len()].copy_from_slice(u);
        lam_before.copy_from_slice(lam);
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

impl Graph {
    /// Whether the force is well inside the piece that the law was on.
    #[inline]
    fn stays(&self, force: f64) -> bool {
        let ((least, most), nearly) = (self.forces, NEARLY * self.largest);
        match least == most {
            true => (force - least).abs() <= nearly,
            false => force > least + nearly && force < most - nearly,
        }
    }

    /// The piece with this force; a level one where two meet.
    #[inline]
    fn piece(&self, force: f64) -> usize {
        let outside = |piece: &Piece| {
            let (least, most) = piece.forces();
            (least - force).max(force - most).max(0.0)
        };
        let level = self.pieces.iter().position(|piece| {
            let (least, most) = piece.forces();
            least == most && (force - least).abs() <= NEARLY * self.largest
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
