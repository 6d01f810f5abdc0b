//! Operating points: what a circuit is at rest.
//!
//! Capacitors carry no current, inductors have no voltage, sources are what they are at the beginning.
//! With `x_g` the states that are given and `x` the others, an operating point solves
//!
//! ```text
//! 0 = −P x − P_g x_g − P_λ λ − p,    y = C x + C_g x_g + D λ + e,    (y, λ) obeys the law      (1)
//! ```
//!
//! a mixed complementarity problem. Where it leaves states free (a capacitor behind a diode that
//! blocks), that next to zero is found by proximal steps: `ε (x − x_before)` is added to the first
//! equation, until `x` stays. Smooth devices are linearized, and the problem is solved again. Where that leads nowhere the
//! circuit is followed from zero in longer and longer steps, `C/h (x − x_before)` in the place of that term. Switches are
//! open, if nothing else is given, and turned until all are as their controls want them.

use super::form::Row;
use super::network::Network;
use super::parts::{Kind, PartLaw};
use super::smooth::Smooth;
use crate::{Circuit, CircuitError, Node};
use saltus_linalg::Sparse;
use saltus_model::Law;
use saltus_numerics::methods::{Enumeration, Workspace};
use saltus_numerics::{Block, EnumerationSettings, Graph, Operator, Problem, Set, Solver, Status};
use std::sync::Arc;

/// Weight of proximal steps, relative to the equations.
const EPSILON: f64 = 1e-6;
/// Most proximal steps, and Newton steps.
const STEPS: usize = 200;
/// Change of a step at which it is the last, relative to the largest value.
const SETTLED: f64 = 1e-13;
/// Unknowns up to which matrices are dense.
const DENSE: usize = 64;
/// Newton steps that are trusted before they must come nearer, and how often one is halved then.
const TRUSTED: usize = 10;
const HALVINGS: usize = 6;
/// The largest and the smallest of the conductances beside smooth devices.
const FIRST_LEAK: f64 = 1e-2;
const LAST_LEAK: f64 = 1e-13;
/// Share of the first stride on the way to a circuit below which the way is given up.
const SHORTEST: f64 = 1.0 / 128.0;
/// The first of the steps in which a circuit comes to rest, the last and the shortest ones, in seconds; how much longer and
/// shorter they become, and how many are tried.
const FIRST_STEP: f64 = 1e-9;
const LAST_STEP: f64 = 1e6;
const LEAST_STEP: f64 = 1e-18;
const LONGER: f64 = 4.0;
const SHORTER: f64 = 1.0 / 64.0;
const TRIES: usize = 400;
/// Most Newton steps in one of them.
const NEWTON: usize = 40;
/// Residual of the problems.
const TOLERANCE: f64 = 1e-10;

/// A circuit at rest: the voltages of its nodes and the currents of its components.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatingPoint {
    voltages: Vec<(String, f64)>,
    currents: Vec<(String, f64)>,
}

impl OperatingPoint {
    /// The voltages of all nodes.
    pub fn voltages(&self) -> &[(String, f64)] {
        &self.voltages
    }

    /// The currents of all components.
    pub fn currents(&self) -> &[(String, f64)] {
        &self.currents
    }

    /// The voltage of a node.
    pub fn v(&self, node: &str) -> Option<f64> {
        let node = if node.eq_ignore_ascii_case("gnd") { "0" } else { node };
        find(&self.voltages, node)
    }

    /// The current through a component.
    pub fn i(&self, component: &str) -> Option<f64> {
        find(&self.currents, component)
    }
}

fn find(values: &[(String, f64)], name: &str) -> Option<f64> {
    values.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

impl Circuit {
    /// The circuit at rest, with its sources as they are at the beginning; initial values do not
    /// count. Where there are several such points, one of them.
    pub fn operating_point(&self) -> Result<OperatingPoint, CircuitError> {
        let network = Network::new(self)?;
        let mut rest = Rest::new(&network, vec![None; network.states.len()]);
        let inputs = rest.solve()?;
        Ok(rest.point(&inputs))
    }

    /// All points at which the circuit is at rest, by trying all modes of its devices, which must be
    /// piecewise linear; at most `modes` of them are tried. Points of a continuum are not found.
    pub fn operating_points(&self, modes: usize) -> Result<Vec<OperatingPoint>, CircuitError> {
        let network = Network::new(self)?;
        let rest = Rest::new(&network, vec![None; network.states.len()]);
        if let Some(law) =
            network.parts.laws.iter().find(|law| !matches!(law.law, PartLaw::Plain(_)))
        {
            let (what, instead) = match law.law {
                PartLaw::Switch(_) => {
                    ("a switch is as its past says, not its mode", "ask for one operating point")
                }
                _ => (
                    "modes of a smooth device cannot be counted",
                    "take it ideal or piecewise linear, or ask for one operating point",
                ),
            };
            let component = (&self.components[law.component]).into();
            return Err(CircuitError::Unsupported { component, what, instead });
        }
        if rest.size() == 0 {
            return Ok(vec![rest.point(&rest.inputs(&[]))]);
        }
        let (problem, _) = rest.problem(&rest.start(), Hold::Near(0.0), 0.0)?;
        let settings = EnumerationSettings { tol: TOLERANCE, max_iter: modes };
        let found = Enumeration::new(settings).all(&problem)?;
        Ok(found.solutions.iter().map(|one| rest.point(&rest.inputs(&one.z))).collect())
    }
}

/// A network at rest: unknowns are the states that are not given, then the multipliers.
pub(crate) struct Rest<'a, 'b> {
    network: &'a Network<'b>,
    free: Vec<usize>,       // states
    balances: Vec<Row>,     // currents or voltages that vanish, of the free states
    stores: Vec<f64>,       // their capacitances and inductances
    outputs: Vec<Vec<Row>>, // of each law
    fixed: Vec<f64>,        // the columns of the network, with zeros for the unknowns
    switches: Vec<Switch>,
}

/// What holds states back.
#[derive(Clone, Copy)]
enum Hold<'a> {
    /// `ε (x − x_before)`, relative to the equations, from where the iteration is.
    Near(f64),
    /// `C/h (x − x_before)` with capacitances and inductances, from where the step began.
    Step(f64, &'a [f64]),
}

/// A switch at rest.
struct Switch {
    law: usize,
    control: Row,
    closed: bool,
}

impl<'a, 'b> Rest<'a, 'b> {
    /// The network with some states given.
    pub fn new(network: &'a Network<'b>, given: Vec<Option<f64>>) -> Rest<'a, 'b> {
        let free: Vec<usize> = (0..given.len()).filter(|&i| given[i].is_none()).collect();
        let balance = |&i: &usize| {
            let k = network.states[i];
            match network.parts.branches[k].kind {
                Kind::Capacitor(..) => network.current(k),
                _ => network.voltage(network.parts.branches[k].between),
            }
        };
        let balances = free.iter().map(balance).collect();
        let store = |&i: &usize| match network.parts.branches[network.states[i]].kind {
            Kind::Capacitor(value, _) | Kind::Inductor(value, _) => value,
            _ => 0.0,
        };
        let stores = free.iter().map(store).collect();
        let outputs = network
            .parts
            .laws
            .iter()
            .map(|law| law.outputs.iter().map(|form| network.resolve(form)).collect());
        let columns = &network.columns;
        let mut fixed = vec![0.0; columns.one + 1];
        fixed[columns.one] = 1.0;
        for (k, source) in network.parts.sources.iter().enumerate() {
            fixed[columns.u.start + k] = source.value(0.0);
        }
        for (i, value) in given.iter().enumerate() {
            fixed[columns.x.start + i] = value.unwrap_or(0.0);
        }
        let outputs = outputs.collect();
        let mut switches = Vec::new();
        for (law, one) in network.parts.laws.iter().enumerate() {
            if let PartLaw::Switch(contact) = &one.law {
                let control = network.resolve(&contact.control);
                let closed = contact.closed.unwrap_or(false);
                switches.push(Switch { law, control, closed });
            }
        }
        let mut rest = Rest { network, free, balances, stores, outputs, fixed, switches };
        rest.turn_known();
        rest
    }

    /// The laws of closed switches.
    pub fn closed(&self) -> Vec<usize> {
        self.switches.iter().filter(|one| one.closed).map(|one| one.law).collect()
    }

    fn is_closed(&self, law: usize) -> bool {
        let found = self.switches.binary_search_by_key(&law, |one| one.law);
        found.is_ok_and(|k| self.switches[k].closed)
    }

    /// Turns the switches whose controls are known from the beginning.
    fn turn_known(&mut self) {
        let mut switches = std::mem::take(&mut self.switches);
        for switch in &mut switches {
            let (control, unknown) = self.split(&switch.control);
            if let (PartLaw::Switch(contact), true) =
                (&self.network.parts.laws[switch.law].law, unknown.is_empty())
            {
                switch.closed = contact.follows(control, switch.closed);
            }
        }
        self.switches = switches;
    }

    /// Turns the first switch that is not as its control wants it, or all of them; says which.
    fn turn(&mut self, inputs: &[f64], all: bool) -> Option<usize> {
        let mut turned = None;
        for switch in &mut self.switches {
            let PartLaw::Switch(contact) = &self.network.parts.laws[switch.law].law else {
                continue;
            };
            let closed = contact.follows(value(&switch.control, inputs), switch.closed);
            if closed != switch.closed {
                switch.closed = closed;
                turned = Some(switch.law);
                if !all {
                    break;
                }
            }
        }
        turned
    }

    fn size(&self) -> usize {
        self.free.len() + self.network.columns.lam.len()
    }

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.size()]
    }

    /// The unknown at a column of the network.
    fn unknown(&self, column: usize) -> Option<usize> {
        let columns = &self.network.columns;
        if columns.lam.contains(&column) {
            return Some(self.free.len() + column - columns.lam.start);
        }
        let state = columns.x.contains(&column).then(|| column - columns.x.start)?;
        self.free.binary_search(&state).ok()
    }

    /// The columns of the network, given the unknowns.
    fn inputs(&self, z: &[f64]) -> Vec<f64> {
        let (mut inputs, columns) = (self.fixed.clone(), &self.network.columns);
        for (k, &state) in self.free.iter().enumerate() {
            inputs[columns.x.start + state] = z[k];
        }
        inputs[columns.lam.clone()].copy_from_slice(&z[self.free.len()..]);
        inputs
    }

    /// What does not depend on the unknowns in a row, and the rest as entries.
    fn split(&self, row: &Row) -> (f64, Vec<(usize, f64)>) {
        let (mut constant, mut entries) = (0.0, Vec::new());
        for (column, a) in row.terms() {
            match self.unknown(column) {
                Some(k) => entries.push((k, a)),
                None => constant += a * self.fixed[column],
            }
        }
        (constant, entries)
    }

    /// Problem (1), linearized at `z`, with what holds states back and conductances beside smooth devices; also how far `z`
    /// is from the smooth laws.
    fn problem(
        &self,
        z: &[f64],
        hold: Hold<'_>,
        leak: f64,
    ) -> Result<(Problem, f64), CircuitError> {
        let n = self.size();
        let (mut W, mut q) = (Vec::new(), vec![0.0; n]);
        for (i, row) in self.balances.iter().enumerate() {
            let (constant, entries) = self.split(row);
            // in units of its largest coefficient
            let size = entries.iter().fold(0.0_f64, |most, (_, a)| most.max(a.abs()));
            let scale = if size > 0.0 { 1.0 / size } else { 1.0 };
            let (weight, before) = match hold {
                Hold::Near(epsilon) => (epsilon, z[i]),
                Hold::Step(h, before) => (scale * self.stores[i] / h, before[i]),
            };
            q[i] = -scale * constant - weight * before;
            W.extend(entries.iter().map(|&(k, a)| (i, k, -scale * a)));
            W.push((i, i, weight));
        }
        let mut blocks = vec![Block { size: 1, set: Set::Free }; self.free.len()];
        let mut apart = 0.0_f64;
        let inputs = self.inputs(z);
        for (k, (law, rows)) in self.network.parts.laws.iter().zip(&self.outputs).enumerate() {
            let first = self.free.len() + law.multipliers.start;
            match &law.law {
                PartLaw::Plain(plain) => {
                    for (i, row) in rows.iter().enumerate() {
                        let (constant, entries) = self.split(row);
                        q[first + i] = constant;
                        W.extend(entries.iter().map(|&(k, a)| (first + i, k, a)));
                        blocks.push(Block { size: 1, set: set_of(plain, i)? });
                    }
                }
                PartLaw::Switch(contact) => {
                    let (constant, entries) = self.split(&rows[0]);
                    q[first] = constant;
                    W.extend(entries.iter().map(|&(k, a)| (first, k, a)));
                    let set = match self.is_closed(k) != contact.turned {
                        true => Set::Free,
                        false => Set::Interval { lower: 0.0, upper: 0.0 },
                    };
                    blocks.push(Block { size: 1, set });
                }
                PartLaw::Smooth(smooth) => {
                    let y =
                        self.linearize((smooth, leak), rows, first, &inputs, z, (&mut W, &mut q));
                    apart = apart.max(y.abs());
                    blocks.push(Block { size: 1, set: Set::Free });
                }
            }
        }
        let W = Sparse::from_triplets(n, n, &W);
        let W = if n <= DENSE { Operator::Dense(W.to_dense()) } else { Operator::Sparse(W) };
        Ok((Problem::new(W, q, &blocks)?, apart))
    }

    /// Writes `φ + φ_w (w − w₀) + φ_λ (λ − λ₀)` into a row, in units of its largest coefficient; says `φ`
    /// in those units.
    fn linearize(
        &self,
        (smooth, leak): (&Smooth, f64),
        rows: &[Row],
        i: usize,
        inputs: &[f64],
        z: &[f64],
        (W, q): (&mut Vec<(usize, usize, f64)>, &mut [f64]),
    ) -> f64 {
        let w: Vec<f64> = rows.iter().map(|row| value(row, inputs)).collect();
        let mut dw = vec![0.0; w.len()];
        let (y, dlam) = smooth.eval(0.0, leak, &w, z[i], &mut dw);
        let size = dw.iter().fold(dlam.abs(), |most, a| most.max(a.abs()));
        let scale = if size > 0.0 { 1.0 / size } else { 1.0 };
        q[i] = scale * (y - dlam * z[i]);
        W.push((i, i, scale * dlam));
        for (k, row) in rows.iter().enumerate() {
            q[i] -= scale * dw[k] * w[k];
            let (constant, entries) = self.split(row);
            q[i] += scale * dw[k] * constant;
            W.extend(entries.iter().map(|&(column, a)| (i, column, scale * dw[k] * a)));
        }
        scale * y
    }

    /// The columns of the network at an operating point, with switches as their controls want them.
    pub fn solve(&mut self) -> Result<Vec<f64>, CircuitError> {
        let most = 2 * self.switches.len() + 2;
        for round in 0..=most {
            let inputs = self.solve_once()?;
            // all at once to begin with, then one by one
            let Some(law) = self.turn(&inputs, 2 * round < most) else { return Ok(inputs) };
            if round == most {
                let name = &self.network.parts.laws[law].name;
                let why = format!("switch `{name}` opens what closes it, and closes what opens it");
                return Err(CircuitError::OperatingPoint { why });
            }
        }
        self.solve_once()
    }

    /// The same with switches as they are.
    fn solve_once(&mut self) -> Result<Vec<f64>, CircuitError> {
        let mut z = self.start();
        if z.is_empty() {
            return Ok(self.inputs(&z));
        }
        let smooth =
            self.network.parts.laws.iter().any(|law| matches!(law.law, PartLaw::Smooth(_)));
        if !smooth {
            self.settle(&mut z, Hold::Near(EPSILON), 0.0, false)?;
            return Ok(self.inputs(&z));
        }
        if self.lessen(&mut z).is_err()
            && self.raise(&mut z).is_err()
            && self.relax(&mut z).is_err()
        {
            z = self.start();
            self.settle(&mut z, Hold::Near(EPSILON), 0.0, true)?;
        }
        Ok(self.inputs(&z))
    }

    /// The way through circuits with conductances beside smooth devices, smaller and smaller. What
    /// devices that block leave to their leakage only proximal terms smaller than these let move.
    fn lessen(&self, z: &mut [f64]) -> Result<(), CircuitError> {
        self.settle(z, Hold::Near(EPSILON * FIRST_LEAK), FIRST_LEAK, true)?;
        // in powers of ten
        let decades = (FIRST_LEAK / LAST_LEAK).log10();
        follow(z, decades, 1.0, |z, gone| {
            let leak = FIRST_LEAK / 10_f64.powf(gone);
            self.settle(z, Hold::Near(EPSILON * leak), leak, true)
        })?;
        self.settle(z, Hold::Near(EPSILON * LAST_LEAK), 0.0, true)
    }

    /// The way through circuits with weaker sources, from none.
    fn raise(&mut self, z: &mut [f64]) -> Result<(), CircuitError> {
        let places = self.network.columns.u.start..self.network.columns.one;
        let full = self.fixed[places.clone()].to_vec();
        z.fill(0.0);
        let found = follow(z, 1.0, 0.1, |z, share| {
            let scaled = full.iter().map(|value| value * share);
            self.fixed[places.clone()].iter_mut().zip(scaled).for_each(|(own, new)| *own = new);
            self.settle(z, Hold::Near(EPSILON * LAST_LEAK), 0.0, true)
        });
        self.fixed[places].copy_from_slice(&full);
        found
    }

    /// The way in time: from zero, in steps that become longer until nothing moves any more.
    fn relax(&self, z: &mut [f64]) -> Result<(), CircuitError> {
        z.fill(0.0);
        let (mut before, mut h) = (z.to_vec(), FIRST_STEP);
        for _ in 0..TRIES {
            match self.settle(z, Hold::Step(h, &before), 0.0, true) {
                Ok(()) if h > LAST_STEP => break,
                Ok(()) => {
                    before.copy_from_slice(z);
                    h *= LONGER;
                }
                Err(error) => {
                    z.copy_from_slice(&before);
                    h *= SHORTER;
                    if h < LEAST_STEP {
                        return Err(error);
                    }
                }
            }
        }
        self.settle(z, Hold::Near(EPSILON * LAST_LEAK), 0.0, true)
    }

    /// Proximal and Newton steps from `z` until nothing moves.
    fn settle(
        &self,
        z: &mut [f64],
        hold: Hold<'_>,
        leak: f64,
        smooth: bool,
    ) -> Result<(), CircuitError> {
        let mut workspace = Workspace::new(Solver::default().with_tol(TOLERANCE))?;
        let mut w = vec![0.0; z.len()];
        let most = if matches!(hold, Hold::Step(..)) { NEWTON } else { STEPS };
        for step in 0..most {
            let before = z.to_vec();
            let (problem, apart) = self.problem(z, hold, leak)?;
            let report = workspace.solve(&problem, z, &mut w)?;
            if report.status != Status::Solved {
                let why =
                    format!("the problem is {} ({:.1e})", report.status.word(), report.residual);
                return Err(CircuitError::OperatingPoint { why });
            }
            let moved = change(&before, z);
            if moved <= SETTLED && (!smooth || apart <= 1e-9) {
                return Ok(());
            }
            // a step that comes no nearer is halved, once the iteration has had its time
            if smooth && step >= TRUSTED && apart > 1e-9 {
                for _ in 0..HALVINGS {
                    if self.problem(z, hold, leak)?.1 < apart {
                        break;
                    }
                    z.iter_mut().zip(&before).for_each(|(z, old)| *z = old + (*z - old) / 2.0);
                }
            }
        }
        let (_, apart) = self.problem(z, hold, leak)?;
        if smooth && apart > 1e-9 {
            let why = format!("no progress after {most} steps ({apart:.1e})");
            return Err(CircuitError::OperatingPoint { why });
        }
        Ok(())
    }

    /// Voltages and currents.
    fn point(&self, inputs: &[f64]) -> OperatingPoint {
        let (network, circuit) = (self.network, self.network.circuit);
        let nodes = circuit.nodes.iter().enumerate().filter(|(k, _)| network.tree.has(Node(*k)));
        let voltages = nodes.map(|(k, name)| {
            (name.clone(), value(&network.voltage([Node(k), Node::GROUND]), inputs))
        });
        let currents = circuit
            .components
            .iter()
            .enumerate()
            .map(|(k, component)| (component.name.clone(), value(&network.through(k), inputs)));
        OperatingPoint { voltages: voltages.collect(), currents: currents.collect() }
    }
}

/// Follows solutions from 0 to an end: a stride that fails is taken again with half its length, one that
/// succeeds is followed by one twice as long, up to the first length.
fn follow(
    z: &mut [f64],
    end: f64,
    first: f64,
    mut solve: impl FnMut(&mut [f64], f64) -> Result<(), CircuitError>,
) -> Result<(), CircuitError> {
    let (mut at, mut stride) = (0.0, first);
    let mut kept = z.to_vec();
    while at < end {
        let next = if at + 1.001 * stride > end { end } else { at + stride };
        match solve(z, next) {
            Ok(()) => {
                kept.copy_from_slice(z);
                (at, stride) = (next, (2.0 * stride).min(first));
            }
            Err(error) => {
                z.copy_from_slice(&kept);
                stride /= 2.0;
                if stride < first * SHORTEST {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// A row at the columns of its network; what stores charge and flux rests.
pub(crate) fn value(row: &Row, inputs: &[f64]) -> f64 {
    row.terms().map(|(column, a)| a * inputs[column]).sum()
}

/// How far two vectors are apart, relative to their largest entry.
fn change(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1e-3_f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) / size
}

/// The set of one component of a law.
fn set_of(law: &Law, i: usize) -> Result<Set, CircuitError> {
    Ok(match law {
        Law::Equality => Set::Free,
        Law::Relay { lower, upper } => Set::Interval {
            lower: lower[i.min(lower.len() - 1)],
            upper: upper[i.min(upper.len() - 1)],
        },
        Law::PiecewiseLinear { points } => {
            let fail = |error: saltus_numerics::GraphError| CircuitError::OperatingPoint {
                why: error.to_string(),
            };
            Set::Graph(Arc::new(Graph::new(points).map_err(fail)?))
        }
        _ => Set::Nonnegative,
    })
}
