//! The mode: which branch of its law every interaction is on.
//!
//! A law of one component is on one piece of its graph (see `graph`), level or a wall. A switch is open or
//! closed until its control turns it (see `control`).
//! A contact is open, closed, sticks or slips:
//!
//! ```text
//! open    λ = 0,  while y_N ≥ 0                                                       (2)
//! closed  u_N = 0,  while λ_N ≥ 0;  with friction besides
//!   stick  u_T = 0,  while ‖λ_T‖ ≤ μ λ_N
//!   slip   λ_T + μ λ_N d = 0,  d = u_T / ‖u_T‖,  while u_T has not turned
//! ```
//!
//! What stands after "while" is an indicator: the mode ends where one passes through zero.

use super::Instant;
use super::control::Control;
use crate::SimError;
use crate::graph::{Piece, nearest, pieces};
use crate::run::EventKind;
use saltus_model::{At, Coefficient, Law, Model, Order, Range as Allowed};
use std::ops::Range;

/// What an interaction, or a component of one, obeys.
#[derive(Debug)]
pub(super) struct LawBlock {
    pub rows: Range<usize>,
    pub owner: String,
    kind: Kind,
}

#[derive(Debug)]
struct Switch {
    control: Control,
    closed: bool, // at the beginning
}

#[derive(Debug)]
enum Kind {
    /// A graph of pieces, or a switch: open and closed are its pieces, and its control tells which.
    Graph {
        pieces: Vec<Piece>,
        on_velocity: bool,
        control: Option<Box<Switch>>,
    },
    Contact {
        mu: Option<Coefficient>,
        states: Vec<Range<usize>>,
    },
}

/// The branch that a block is on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Branch {
    /// This piece of its graph.
    Piece(usize),
    /// A contact that is open.
    Open,
    /// A contact without friction, or with both bodies at rest along the tangent.
    Closed,
    /// A contact that slips; the direction at the beginning of the slip.
    Slip([f64; 2]),
}

/// The laws of a model and the branch that each is on.
#[derive(Debug)]
pub(super) struct Mode {
    pub blocks: Vec<LawBlock>,
    pub branches: Vec<Branch>,
    /// Blocks of which no branch is known yet.
    pub unknown: Vec<bool>,
    id: u64,
    next_id: u64,
}

/// How the equations of a mode depend on `y`, `u` and `λ`: row, component, `∂/∂y`, `∂/∂u`, `∂/∂λ`.
#[derive(Debug, Default)]
pub(super) struct Local(Vec<(usize, usize, f64, f64, f64)>);

impl Local {
    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The entries of these rows.
    pub fn of(
        &self,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (usize, usize, f64, f64, f64)> + '_ {
        let first = self.0.partition_point(|entry| entry.0 < rows.start);
        self.0[first..].iter().copied().take_while(move |entry| entry.0 < rows.end)
    }
}

/// A row that is held at a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub row: usize,
    pub value: f64,
}

/// The pieces of a switch.
const OPEN: usize = 0;
const CLOSED: usize = 1;

/// Indicators of a block, at most.
pub(super) const INDICATORS: usize = 2;

impl Mode {
    /// The laws of a model, all contacts open; what has no place here is refused.
    pub fn new(
        model: &Model,
        states: impl Fn(usize) -> Vec<Range<usize>>,
    ) -> Result<Mode, SimError> {
        let mut blocks = Vec::new();
        let mut next = 0;
        for (k, (name, interaction)) in model.interactions().enumerate() {
            let rows = next..next + interaction.relation.size();
            next = rows.end;
            let terms = interaction.relation.terms();
            let law = &interaction.law;
            let on_velocity = interaction.relation.order() == Order::Second && !terms.through;
            if interaction.relation.force_rule(0).is_some() {
                return Err(SimError::Unsuited {
                    integrator: "event-driven",
                    owner: format!("interaction `{name}`"),
                    what: "the relation",
                    needs: "no spring, damper or load: use forces of the systems",
                });
            }
            let mut push = |rows: Range<usize>, kind| {
                blocks.push(LawBlock { rows, owner: name.to_string(), kind });
            };
            match law {
                _ if !interaction.active => {
                    // not connected: no force, whatever happens
                    for row in rows {
                        let (pieces, control) = (vec![Piece::NOTHING], None);
                        push(row..row + 1, Kind::Graph { pieces, on_velocity, control });
                    }
                }
                Law::NewtonImpact { .. } if !terms.through => {
                    for row in rows {
                        push(row..row + 1, Kind::Contact { mu: None, states: Vec::new() });
                    }
                }
                Law::ImpactFriction { mu, .. } if !terms.through => {
                    push(rows, Kind::Contact { mu: Some(mu.clone()), states: states(k) });
                }
                Law::Switch { control, on, off, closed } => {
                    for row in rows {
                        let control = Control::new(model, (name, control), (*on, *off))?;
                        let control = Some(Box::new(Switch { control, closed: *closed }));
                        let pieces = vec![Piece::NOTHING, Piece::HELD];
                        push(row..row + 1, Kind::Graph { pieces, on_velocity, control });
                    }
                }
                _ => {
                    for (component, row) in rows.enumerate() {
                        let Some(pieces) = pieces(law, component) else {
                            return Err(SimError::Unsuited {
                                integrator: "event-driven",
                                owner: format!("interaction `{name}`"),
                                what: "the law",
                                needs: "Complementarity, Equality, Relay, PiecewiseLinear, Switch, or of a rigid contact NewtonImpact or ImpactFriction",
                            });
                        };
                        push(row..row + 1, Kind::Graph { pieces, on_velocity, control: None });
                    }
                }
            }
        }
        let branches = blocks.iter().map(LawBlock::first_branch).collect();
        let unknown = vec![true; blocks.len()];
        Ok(Mode { blocks, branches, unknown, id: 1, next_id: 2 })
    }

    /// Takes over the branches of the mode of a model that has been changed since, where the laws
    /// are of the same kind.
    pub fn adopt(&mut self, old: &Mode) {
        (self.id, self.next_id) = (old.next_id, old.next_id + 1);
        for (k, block) in self.blocks.iter().enumerate() {
            // blocks are in the order of their rows
            let l = old.blocks.partition_point(|other| other.rows.start < block.rows.start);
            let Some(other) = old.blocks.get(l).filter(|other| other.rows == block.rows) else {
                continue;
            };
            self.unknown[k] = match (&block.kind, &other.kind) {
                (Kind::Graph { pieces: new, .. }, Kind::Graph { pieces, .. }) => pieces != new,
                (Kind::Contact { .. }, Kind::Contact { .. }) => old.unknown[l],
                _ => true,
            };
            if !self.unknown[k] {
                self.branches[k] = old.branches[l];
            }
        }
    }

    /// Changes with every change of a branch.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Takes these branches.
    pub fn set(&mut self, branches: &[Branch]) {
        if self.branches != branches {
            self.branches.copy_from_slice(branches);
            self.id = self.next_id;
            self.next_id += 1;
        }
    }

    /// Takes this branch for a block.
    pub fn put(&mut self, k: usize, branch: Branch) {
        if self.branches[k] != branch {
            self.branches[k] = branch;
            self.id = self.next_id;
            self.next_id += 1;
        }
    }

    /// The left sides of (1) and (2), row by row.
    pub fn equations(
        &self,
        t: f64,
        X: &[f64],
        y: &[f64],
        u: &[f64],
        lam: &[f64],
        out: &mut [f64],
    ) -> Result<(), SimError> {
        (0..self.blocks.len()).try_for_each(|k| self.equations_of_block(k, t, X, [y, u, lam], out))
    }

    /// The same, in the rows of one block.
    pub fn equations_of_block(
        &self,
        k: usize,
        t: f64,
        X: &[f64],
        [y, u, lam]: [&[f64]; 3],
        out: &mut [f64],
    ) -> Result<(), SimError> {
        let (block, branch) = (&self.blocks[k], &self.branches[k]);
        let rows = block.rows.clone();
        let row = rows.start;
        match (&block.kind, branch) {
            (Kind::Graph { pieces, on_velocity, .. }, Branch::Piece(piece)) => {
                let s = if *on_velocity { u[row] } else { y[row] };
                out[row] = match pieces[*piece] {
                    Piece::Level { a, b, .. } => lam[row] - a - b * s,
                    Piece::Wall { s: held, .. } => s - held,
                };
            }
            (_, Branch::Closed) => out[rows.clone()].copy_from_slice(&u[rows]),
            (Kind::Contact { .. }, Branch::Slip(direction)) => {
                out[row] = u[row];
                let mu = block.friction(t, X, &u[rows.clone()])?;
                let tangent = row + 1..rows.end;
                let d = direction_of(&u[tangent.clone()], direction);
                for (k, i) in tangent.enumerate() {
                    out[i] = lam[i] + mu * lam[row] * d[k];
                }
            }
            _ => out[rows.clone()].copy_from_slice(&lam[rows]),
        }
        Ok(())
    }

    /// The derivatives of [`equations`](Self::equations).
    pub fn linearize(
        &self,
        t: f64,
        X: &[f64],
        y: &[f64],
        u: &[f64],
        lam: &[f64],
        out: &mut Local,
    ) -> Result<(), SimError> {
        let _ = y;
        out.clear();
        (0..self.blocks.len()).try_for_each(|k| self.linearize_block(k, t, X, u, lam, out))
    }

    /// The same, added for one block.
    pub fn linearize_block(
        &self,
        k: usize,
        t: f64,
        X: &[f64],
        u: &[f64],
        lam: &[f64],
        out: &mut Local,
    ) -> Result<(), SimError> {
        let (block, branch) = (&self.blocks[k], &self.branches[k]);
        let rows = block.rows.clone();
        let row = rows.start;
        match (&block.kind, branch) {
            (Kind::Graph { pieces, on_velocity, .. }, Branch::Piece(piece)) => {
                let by = |s: f64| if *on_velocity { (0.0, s) } else { (s, 0.0) };
                let ((by_y, by_u), by_lam) = match pieces[*piece] {
                    Piece::Level { b, .. } => (by(-b), 1.0),
                    Piece::Wall { .. } => (by(1.0), 0.0),
                };
                out.0.push((row, row, by_y, by_u, by_lam));
            }
            (_, Branch::Closed) => {
                out.0.extend(rows.map(|row| (row, row, 0.0, 1.0, 0.0)));
            }
            (Kind::Contact { .. }, Branch::Slip(direction)) => {
                out.0.push((row, row, 0.0, 1.0, 0.0));
                let mu = block.friction(t, X, &u[rows.clone()])?;
                let tangent = row + 1..rows.end;
                let u_t = &u[tangent.clone()];
                let d = direction_of(u_t, direction);
                let speed = norm(u_t);
                for (k, i) in tangent.clone().enumerate() {
                    out.0.push((i, row, 0.0, 0.0, mu * d[k]));
                    for (l, j) in tangent.clone().enumerate() {
                        let turn = if u_t.len() == 2 && speed > 0.0 {
                            mu * lam[row] * (f64::from(u8::from(k == l)) - d[k] * d[l]) / speed
                        } else {
                            0.0
                        };
                        let own = if k == l { 1.0 } else { 0.0 };
                        out.0.push((i, j, 0.0, turn, own));
                    }
                }
            }
            _ => out.0.extend(rows.map(|row| (row, row, 0.0, 0.0, 1.0))),
        }
        Ok(())
    }

    /// The indicators of a block; infinite where there is none.
    pub fn indicators(
        &self,
        k: usize,
        t: f64,
        X: &[f64],
        y: &[f64],
        u: &[f64],
        lam: &[f64],
    ) -> Result<[f64; INDICATORS], SimError> {
        const NONE: f64 = f64::INFINITY;
        let block = &self.blocks[k];
        let rows = block.rows.clone();
        let row = rows.start;
        Ok(match (&block.kind, self.branches[k]) {
            (Kind::Graph { control: Some(switch), .. }, Branch::Piece(piece)) => {
                [switch.control.margin(piece == CLOSED, t, X), NONE]
            }
            (Kind::Graph { pieces, on_velocity, .. }, Branch::Piece(piece)) => {
                let s = if *on_velocity { u[row] } else { y[row] };
                match pieces[piece] {
                    Piece::Level { least, most, .. } => [s - least, most - s],
                    Piece::Wall { least, most, .. } => [most - lam[row], lam[row] - least],
                }
            }
            (_, Branch::Open) => [y[row], NONE],
            (Kind::Contact { mu: None, .. }, Branch::Closed) => [lam[row], NONE],
            (_, Branch::Closed) => {
                let still = [0.0; 3];
                let mu = block.friction(t, X, &still[..rows.len()])?;
                let pull = norm(&lam[row + 1..rows.end]);
                [lam[row], mu * lam[row] - pull]
            }
            (_, Branch::Slip(direction)) => {
                let along = u[row + 1..rows.end].iter().zip(direction);
                [lam[row], along.map(|(u, d)| u * d).sum()]
            }
            _ => [NONE, NONE],
        })
    }

    /// The branches that the answer `(y, u, λ)` of a step of vanishing length is on.
    ///
    /// `speed` is the size of velocities, whose round-off does not open a contact.
    pub fn read(&self, y: &[f64], u: &[f64], lam: &[f64], speed: f64, out: &mut Vec<Branch>) {
        out.clear();
        let largest = lam.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (block, branch) in self.blocks.iter().zip(&self.branches) {
            let rows = block.rows.clone();
            let row = rows.start;
            let round_off = 1e-11 * largest;
            out.push(match &block.kind {
                Kind::Graph { control: Some(_), .. } => *branch,
                Kind::Graph { pieces, on_velocity, .. } => {
                    let s = if *on_velocity { u[row] } else { y[row] };
                    Branch::Piece(nearest(pieces, s, lam[row], round_off))
                }
                Kind::Contact { mu, .. } => {
                    if !(lam[row] > 0.0 && u[row] <= 1e-11 * speed) {
                        Branch::Open
                    } else if mu.is_none() || rows.len() == 1 {
                        Branch::Closed
                    } else {
                        let u_t = &u[row + 1..rows.end];
                        let slip = norm(u_t);
                        let pull = norm(&lam[row + 1..rows.end]);
                        if slip > 0.0 && block.slips(slip > 1e-11 * speed, pull, lam[row]) {
                            let mut d = [0.0; 2];
                            d.iter_mut().zip(u_t).for_each(|(d, u)| *d = u / slip);
                            Branch::Slip(d)
                        } else {
                            Branch::Closed
                        }
                    }
                }
            });
        }
    }

    /// The branch that follows where this indicator of a block has reached zero.
    pub fn successor(&self, k: usize, indicator: usize, lam: &[f64]) -> Branch {
        let block = &self.blocks[k];
        let rows = block.rows.clone();
        match (&block.kind, self.branches[k], indicator) {
            (Kind::Graph { control: Some(_), .. }, Branch::Piece(piece), _) => {
                Branch::Piece(if piece == CLOSED { OPEN } else { CLOSED })
            }
            (Kind::Graph { .. }, Branch::Piece(piece), 0) => Branch::Piece(piece.saturating_sub(1)),
            (Kind::Graph { pieces, .. }, Branch::Piece(piece), _) => {
                Branch::Piece((piece + 1).min(pieces.len() - 1))
            }
            (_, Branch::Open, _) => Branch::Closed,
            (_, Branch::Closed | Branch::Slip(_), 0) => Branch::Open,
            (_, Branch::Closed, _) => {
                let pull = &lam[rows.start + 1..rows.end];
                let size = norm(pull);
                let mut d = [0.0; 2]; // without a pull no direction counts
                if size > 0.0 {
                    d.iter_mut().zip(pull).for_each(|(d, pull)| *d = -pull / size);
                }
                Branch::Slip(d)
            }
            _ => Branch::Closed,
        }
    }

    /// The branch of a contact that closes with these relative velocities: where it slides by more than
    /// `still`, it goes on.
    pub fn closing(&self, k: usize, u: &[f64], still: f64) -> Branch {
        let rows = self.blocks[k].rows.clone();
        let along = &u[rows.start + 1..rows.end];
        let speed = norm(along);
        if speed <= still {
            return Branch::Closed;
        }
        let mut d = [0.0; 2];
        d.iter_mut().zip(along).for_each(|(d, u)| *d = u / speed);
        Branch::Slip(d)
    }

    /// The rows that are held, with the values of `y` or, of velocities, of `u`.
    pub fn held(&self, velocities: bool, held: &mut Vec<Held>) {
        held.clear();
        for (block, branch) in self.blocks.iter().zip(&self.branches) {
            let row = block.rows.start;
            match (&block.kind, branch) {
                (Kind::Graph { pieces, on_velocity, .. }, Branch::Piece(piece)) => {
                    if let Piece::Wall { s, least, most } = pieces[*piece] {
                        // of a mechanical equality the gap is zero too
                        let joint = least == f64::NEG_INFINITY && most == f64::INFINITY;
                        if velocities || !*on_velocity || joint {
                            held.push(Held { row, value: s });
                        }
                    }
                }
                (_, Branch::Closed) if velocities => {
                    held.extend(block.rows.clone().map(|row| Held { row, value: 0.0 }));
                }
                (_, Branch::Closed | Branch::Slip(_)) => held.push(Held { row, value: 0.0 }),
                _ => {}
            }
        }
    }

    /// The first row of the interaction that the block belongs to.
    pub fn first_row(&self, k: usize) -> usize {
        let owner = &self.blocks[k].owner;
        let of_owner = self.blocks[..k].iter().rev().take_while(|block| block.owner == *owner);
        of_owner.last().unwrap_or(&self.blocks[k]).rows.start
    }

    /// Whether the equations of the block are linear in the state, with constant coefficients.
    pub fn is_linear(&self, k: usize) -> bool {
        let block = &self.blocks[k];
        match (&block.kind, self.branches[k]) {
            (Kind::Contact { mu: Some(mu), .. }, Branch::Slip(_)) => {
                matches!(mu, Coefficient::Constant(_)) && block.rows.len() == 2
            }
            _ => true,
        }
    }

    /// Whether the block never acts: what it belongs to is not connected.
    pub fn is_idle(&self, k: usize) -> bool {
        match &self.blocks[k].kind {
            Kind::Graph { pieces, .. } => {
                matches!(pieces[..], [Piece::Level { a: 0.0, b: 0.0, .. }])
            }
            Kind::Contact { .. } => false,
        }
    }

    /// The multiplier of the block, all components, where its branch fixes it.
    pub fn fixed(&self, k: usize) -> Option<f64> {
        match (&self.blocks[k].kind, self.branches[k]) {
            (Kind::Graph { pieces, .. }, Branch::Piece(piece)) => match pieces[piece] {
                Piece::Level { a, b: 0.0, .. } => Some(a),
                _ => None,
            },
            (_, Branch::Open) => Some(0.0),
            _ => None,
        }
    }

    /// The piece of its graph that a block is on, where the graph is one of outputs.
    pub fn piece(&self, k: usize) -> Option<Piece> {
        match (&self.blocks[k].kind, self.branches[k]) {
            (Kind::Graph { pieces, on_velocity: false, .. }, Branch::Piece(piece)) => {
                pieces.get(piece).copied()
            }
            _ => None,
        }
    }

    /// The control of a block that is a switch, and whether it is closed.
    pub fn switch(&self, k: usize) -> Option<(&Control, bool)> {
        match &self.blocks[k].kind {
            Kind::Graph { control: Some(switch), .. } => {
                Some((&switch.control, self.branches[k] == Branch::Piece(CLOSED)))
            }
            _ => None,
        }
    }

    /// The blocks that are switches.
    pub fn switches(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.blocks.len()).filter(|&k| self.switch(k).is_some())
    }

    /// Tells the schemes of steps which of them are closed.
    pub fn tell_switches(&self, schemes: &mut Instant) {
        for block in 0..self.blocks.len() {
            if let Some((_, closed)) = self.switch(block) {
                schemes.set_switch(self.blocks[block].rows.start, closed);
            }
        }
    }

    /// Turns a switch.
    pub fn turn(&mut self, k: usize) {
        self.put(k, self.successor(k, 0, &[]));
    }

    /// Back to the branches of the beginning.
    pub fn restart(&mut self) {
        let first: Vec<Branch> = self.blocks.iter().map(LawBlock::first_branch).collect();
        self.set(&first);
    }

    /// Whether the block is a contact.
    pub fn is_contact(&self, k: usize) -> bool {
        matches!(self.blocks[k].kind, Kind::Contact { .. })
    }

    /// What happens where a law goes over to a branch.
    pub fn arrival(&self, k: usize, branch: Branch) -> EventKind {
        match (&self.blocks[k].kind, branch) {
            (Kind::Graph { pieces, .. }, Branch::Piece(piece)) => pieces[piece].arrival(),
            (_, Branch::Open) => EventKind::LiftOff,
            (_, Branch::Slip(_)) => EventKind::Slip,
            _ => EventKind::Stick,
        }
    }
}

impl LawBlock {
    fn first_branch(&self) -> Branch {
        match &self.kind {
            Kind::Graph { control: Some(switch), .. } if switch.closed => Branch::Piece(CLOSED),
            Kind::Graph { .. } => Branch::Piece(0),
            Kind::Contact { .. } => Branch::Open,
        }
    }

    fn friction(&self, t: f64, X: &[f64], u: &[f64]) -> Result<f64, SimError> {
        match &self.kind {
            Kind::Contact { mu: Some(Coefficient::Constant(mu)), .. } => Ok(*mu),
            Kind::Contact { mu: Some(varying), states } => {
                let q: Vec<f64> =
                    states.iter().flat_map(|range| X[range.clone()].iter().copied()).collect();
                let at = At::new(t, &q, u);
                Ok(varying.eval(at, &Allowed::MU).map_err(|error| error.of(&self.owner))?)
            }
            _ => Ok(0.0),
        }
    }

    /// Whether the friction of a contact is exhausted; where its coefficient varies, whether it
    /// moves.
    fn slips(&self, moves: bool, pull: f64, push: f64) -> bool {
        match &self.kind {
            Kind::Contact { mu: Some(Coefficient::Constant(mu)), .. } => {
                pull >= mu * push * (1.0 - 1e-9)
            }
            _ => moves,
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `u_T / ‖u_T‖` in space, the sign of slip in the plane; the old direction where it stands still.
fn direction_of(u: &[f64], old: &[f64; 2]) -> [f64; 2] {
    let [first, second] = *u else { return *old };
    let speed = first.hypot(second);
    if speed > 0.0 { [first / speed, second / speed] } else { *old }
}
