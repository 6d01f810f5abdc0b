//! Systems and interactions: what the rows of the state space become.

use super::autonomous::Autonomous;
use super::coupling::cover;
use super::forcing::Forcing;
use super::form::Row;
use super::network::Columns;
use super::parts::{Contact, Lawful, PartLaw};
use super::signal::{Signal, Signals};
use super::smooth::{Formula, Smooth, SmoothRelation};
use super::state_space::StateSpace;
use super::topology::Groups;
use crate::{Circuit, CircuitError, Source};
use saltus_linalg::Matrix;
use saltus_model::{Event, FirstOrderLinear, FirstOrderLinearRelation, Law, Model, SystemId, Term};
use saltus_sim::Run;
use std::sync::Arc;

/// The model of a circuit, and how its voltages and currents are read off it.
#[derive(Debug, Clone)]
pub struct CircuitModel {
    /// Systems of states, and one interaction a device, under its name.
    pub model: Model,
    pub(crate) signals: Signals,
    pub(crate) smooth: Option<String>, // the first device that is not linear in its mode
    pub(crate) turned: Vec<String>,    // interactions of switches that are open where `y = 0`
    sources: Vec<Arc<Source>>,
    pub(crate) timed: Vec<Timed>,
    circuit: Option<Arc<Circuit>>, // where its sources are functions of time
}

/// A source that is a formula of time.
#[derive(Debug, Clone)]
pub(crate) struct Timed {
    /// Its name.
    pub name: String,
    formula: Formula,
    quantities: usize,
}

impl Timed {
    /// Whether it does the same again after a period from an instant on, as far as samples of a period tell, whatever the quantities
    /// in it are.
    pub fn repeats(&self, begin: f64, period: f64) -> bool {
        const SAMPLES: usize = 509;
        let mut slopes = vec![0.0; self.quantities];
        for level in [0.0, 1.0, -0.7] {
            let w: Vec<f64> = (0..self.quantities).map(|k| level / (1.0 + k as f64)).collect();
            let mut at = |t: f64| self.formula.value(t, &w, &mut slopes);
            let instant = |k: usize| begin + period * (k as f64 + 0.382) / SAMPLES as f64;
            let size = (0..SAMPLES).map(|k| at(instant(k)).abs()).fold(0.0, f64::max);
            let is_apart = (0..SAMPLES).any(|k| {
                let (now, later) = (at(instant(k)), at(instant(k) + period));
                (now - later).abs() > 1e-6 * size || now.is_finite() != later.is_finite()
            });
            if is_apart {
                return false;
            }
        }
        true
    }
}

/// States up to which there is one system.
const ONE_SYSTEM: usize = 16;

/// A current that counts where others add up to none, in ampere.
const CURRENT: f64 = 1e-6;

/// Corners of sources up to which each may be an event.
const CORNERS: usize = 1000;

/// A state, or a quantity without mass, with its equation.
#[derive(Debug, Default)]
struct Equation {
    mass: Row,          // over states
    states: Row,        // A
    lam: Row,           // B
    rest: Row,          // over u, u̇ and 1, as in the state space
    joined: Vec<usize>, // states that belong to the same system
}

/// An output of a device.
#[derive(Debug, Default)]
struct Output {
    states: Row, // C
    lam: Row,    // D, over its own multipliers
    rest: Row,   // e
}

/// Where a state has gone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Which system.
    pub system: usize,
    /// Which component of it.
    pub index: usize,
}

/// The model of a state space from `x0` and `λ₀`, with some laws of switches closed; with `autonomous`,
/// sources are states too.
pub(crate) fn build(
    space: &StateSpace<'_>,
    (x0, lam0, closed): (&[f64], Option<&[f64]>, &[usize]),
    autonomous: bool,
) -> Result<CircuitModel, CircuitError> {
    let sources: Vec<Arc<Source>> =
        space.network.parts.sources.iter().cloned().map(Arc::new).collect();
    let laws = &space.network.parts.laws;
    let (mut equations, mut outputs) = equations(space);
    let controls = controls(space, &mut equations);
    let mut start = initial_states(space, x0);
    let between = equations[start.len()..].iter();
    start.extend(between.map(|one| without_mass(space, one, lam0)));
    let mut systems_of_sources = Vec::new();
    if autonomous {
        for source in &sources {
            systems_of_sources.push(add_source(source, &mut equations, &mut start));
        }
        let columns = &space.columns;
        let rows = equations.iter_mut().map(|one| (&mut one.states, &mut one.rest));
        rows.for_each(|(states, rest)| replace_sources(columns, &systems_of_sources, states, rest));
        for output in outputs.iter_mut().flatten() {
            let Output { states, rest, .. } = output;
            replace_sources(columns, &systems_of_sources, states, rest);
        }
    }
    if equations.is_empty() {
        // a system must have a state
        let mass = Row::default();
        let states = [(0, -1.0)].into_iter().collect();
        equations.push(Equation { mass, states, ..Equation::default() });
    }
    start.resize(equations.len(), 0.0);
    let blocks = blocks(&equations, &outputs, laws);
    let mut places = vec![Place::default(); equations.len()];
    for (system, block) in blocks.iter().enumerate() {
        block.iter().enumerate().for_each(|(index, &k)| places[k] = Place { system, index });
    }

    let forcing = |rows: &mut dyn Iterator<Item = &Row>| forcing(space, &sources, rows);
    let mut model = Model::new(space.network.circuit.title.clone());
    let mut ids = Vec::new();
    for block in &blocks {
        let n = block.len();
        let (mut M, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        for (i, &k) in block.iter().enumerate() {
            equations[k].mass.terms().for_each(|(other, a)| M[(i, places[other].index)] = a);
            equations[k].states.terms().for_each(|(other, a)| A[(i, places[other].index)] = a);
        }
        let x0: Vec<f64> = block.iter().map(|&k| start[k]).collect();
        let mut system = FirstOrderLinear::new(x0, A);
        if M.data() != Matrix::identity(n).data() {
            system = system.M(M);
        }
        if let Some(b) = forcing(&mut block.iter().map(|&k| &equations[k].rest)).operator() {
            system = system.b(b);
        }
        ids.push(model.add(&system_name(space, &blocks, block), system)?);
    }

    let mut actions: Vec<Vec<(usize, f64)>> = vec![Vec::new(); space.columns.lam.len()]; // B by columns
    for (k, equation) in equations.iter().enumerate() {
        equation.lam.terms().for_each(|(lam, a)| actions[lam].push((k, a)));
    }
    let mut first_smooth: Option<String> = None;
    let mut interactions = Vec::new();
    for (k, (law, outputs)) in laws.iter().zip(&outputs).enumerate() {
        let name = name_in_model(&law.name);
        let mut systems: Vec<usize> = Vec::new();
        let touched = touched(outputs, law, &actions);
        for system in touched.map(|k| places[k].system) {
            if !systems.contains(&system) {
                systems.push(system);
            }
        }
        systems.sort_unstable();
        if systems.is_empty() {
            systems.push(0);
        }
        let mut dim = 0;
        let offsets: Vec<usize> = systems
            .iter()
            .map(|&system| {
                let offset = dim;
                dim += blocks[system].len();
                offset
            })
            .collect();
        let column = |k: usize| {
            let Place { system, index } = places[k];
            systems.iter().position(|&one| one == system).map_or(index, |one| offsets[one] + index)
        };
        let (p, m) = (outputs.len(), law.multipliers.len());
        let (mut C, mut D) = (Matrix::zeros(p, dim), Matrix::zeros(p, m));
        let mut B = Matrix::zeros(dim, m);
        for (i, output) in outputs.iter().enumerate() {
            output.states.terms().for_each(|(k, a)| C[(i, column(k))] += a);
            output.lam.terms().for_each(|(k, a)| D[(i, k - law.multipliers.start)] += a);
        }
        for (i, lam) in law.multipliers.clone().enumerate() {
            actions[lam].iter().for_each(|&(k, a)| B[(column(k), i)] += a);
        }
        let e = forcing(&mut outputs.iter().map(|output| &output.rest));
        let systems: Vec<SystemId> = systems.iter().map(|&system| ids[system]).collect();
        let plain = match &law.law {
            PartLaw::Plain(plain) => plain.clone(),
            PartLaw::Switch(contact) => {
                let control = formula(&controls[k], contact.turned, &places, &model);
                switch(contact, control, closed.contains(&k))
            }
            PartLaw::Smooth(smooth) => {
                let relation = SmoothRelation { law: smooth.clone(), C, D, B, e };
                interactions.push(model.connect(&name, relation, Law::Equality, &systems)?);
                first_smooth.get_or_insert(name);
                continue;
            }
        };
        let mut relation = FirstOrderLinearRelation::new(C, B);
        if matches!(plain, Law::Equality) {
            relation = relation.unit(CURRENT);
        }
        if !D.is_zero() {
            relation = relation.D(D);
        }
        if let Some(e) = e.operator() {
            relation = relation.e(e);
        }
        interactions.push(model.connect(&name, relation, plain, &systems)?);
    }
    for (k, (first, system)) in systems_of_sources.iter().enumerate() {
        let place = places[*first];
        let name =
            model.systems().nth(place.system).map_or_else(String::new, |one| one.0.to_string());
        let size = blocks[place.system].len();
        for (trigger, state) in &system.settings {
            let mut values: Vec<Term> =
                (0..size).map(|i| format!("'{name}'.x[{i}]").into()).collect();
            for (i, value) in state.iter().enumerate().filter_map(|(i, x)| Some((i, (*x)?))) {
                values[places[first + i].index] = value.into();
            }
            let event = Event {
                name: format!("source {k} at {}", model.events().len()),
                trigger: trigger.clone(),
                once: false,
                actions: Vec::new(),
            };
            model.add_event(event.set_state(name.clone(), "x", values))?;
        }
    }
    let of_sources = autonomous.then_some(systems_of_sources.as_slice());
    let handles = (ids.as_slice(), interactions.as_slice());
    let mut signals = Signals::new(space, &places, &model, handles, &sources, of_sources);
    signals.start_with(lam0);
    let moves = !autonomous && !sources.is_empty();
    let circuit = moves.then(|| Arc::new(space.network.circuit.clone()));
    let is_turned = |law: &&Lawful| matches!(&law.law, PartLaw::Switch(one) if one.turned);
    let turned = laws.iter().filter(is_turned).map(|law| name_in_model(&law.name)).collect();
    let smooth = first_smooth;
    let timed = laws.iter().filter_map(|law| match &law.law {
        PartLaw::Smooth(Smooth::Formula(formula)) if formula.uses_time() => {
            let (name, formula) = (law.name.clone(), formula.as_ref().clone());
            Some(Timed { name, formula, quantities: law.outputs.len() })
        }
        _ => None,
    });
    let timed = timed.collect();
    Ok(CircuitModel { model, signals, smooth, turned, sources, timed, circuit })
}

/// Adds the states of a source; says the first of them.
fn add_source(
    source: &Source,
    equations: &mut Vec<Equation>,
    start: &mut Vec<f64>,
) -> (usize, Autonomous) {
    let (first, system) = (equations.len(), Autonomous::new(source));
    for i in 0..system.start.len() {
        equations.push(Equation { mass: Row::unit(first + i), ..Equation::default() });
    }
    for &(i, k, a) in &system.dynamics {
        equations[first + i].states.add_term(first + k, a);
    }
    // states that stay together: nothing else would join one that stays as it is
    (1..system.start.len()).for_each(|i| equations[first].joined.push(first + i));
    start.extend(&system.start);
    (first, system)
}

/// Replaces sources and their rates by states.
fn replace_sources(
    columns: &Columns,
    sources: &[(usize, Autonomous)],
    states: &mut Row,
    rest: &mut Row,
) {
    let mut left: Row = [(columns.one, rest.get(columns.one))].into_iter().collect();
    for (k, a) in rest.within(columns.u.clone()) {
        let (first, system) = &sources[k];
        left.add_term(columns.one, a * system.offset);
        system.value.iter().enumerate().for_each(|(i, b)| states.add_term(first + i, a * b));
    }
    for (k, a) in rest.within(columns.j.clone()) {
        let (first, system) = &sources[k];
        system.rate().iter().enumerate().for_each(|(i, b)| states.add_term(first + i, a * b));
    }
    *rest = left;
}

/// `z = x − S u` at the beginning.
fn initial_states(space: &StateSpace<'_>, x0: &[f64]) -> Vec<f64> {
    let u: Vec<f64> = space.network.parts.sources.iter().map(|source| source.value(0.0)).collect();
    let states = x0.iter().zip(&space.shift);
    states.map(|(x, shift)| x - shift.terms().map(|(k, a)| a * u[k]).sum::<f64>()).collect()
}

/// The equations of states, of those without mass that join devices, and the outputs of devices.
fn equations(space: &StateSpace<'_>) -> (Vec<Equation>, Vec<Vec<Output>>) {
    let (columns, laws) = (&space.columns, &space.network.parts.laws);
    let rest =
        |row: &Row| -> Row { row.terms().filter(|(place, _)| *place >= columns.u.start).collect() };
    let mut equations: Vec<Equation> = (space.rates.iter().zip(&space.mass))
        .map(|(row, mass)| Equation {
            mass: mass.clone(),
            states: row.within(columns.x.clone()).collect(),
            lam: row.within(columns.lam.clone()).collect(),
            rest: rest(row),
            joined: Vec::new(),
        })
        .collect();

    // rows of D that read multipliers of others
    let mut owner = vec![0; columns.lam.len()];
    for (k, law) in laws.iter().enumerate() {
        law.multipliers.clone().for_each(|lam| owner[lam] = k);
    }
    let mut rows: Vec<(usize, Row)> = Vec::new(); // of which law
    for (k, law) in laws.iter().enumerate() {
        let forms = law.outputs.iter().map(|form| space.complete(&space.network.resolve(form)));
        rows.extend(forms.map(|row| (k, row)));
    }
    let foreign = |k: usize, row: &Row| -> Vec<(usize, f64)> {
        row.within(columns.lam.clone()).filter(|(lam, _)| owner[*lam] != k).collect()
    };
    let mut entries = Vec::new();
    for (i, (k, row)) in rows.iter().enumerate() {
        entries.extend(foreign(*k, row).iter().map(|&(lam, _)| (i, lam)));
    }
    let (row_chosen, col_chosen) = cover(rows.len(), columns.lam.len(), &entries);
    let mut add_state = |lam: Row| {
        let place = equations.len();
        let states = [(place, -1.0)].into_iter().collect();
        equations.push(Equation { states, lam, ..Equation::default() });
        place
    };
    let of_col: Vec<Option<usize>> = (col_chosen.iter().enumerate())
        .map(|(lam, chosen)| chosen.then(|| add_state(Row::unit(lam))))
        .collect();
    let mut outputs: Vec<Vec<Output>> = laws.iter().map(|_| Vec::new()).collect();
    for (i, (k, row)) in rows.iter().enumerate() {
        let mut output = Output {
            states: row.within(columns.x.clone()).collect(),
            lam: row.within(columns.lam.clone()).filter(|(lam, _)| owner[*lam] == *k).collect(),
            rest: rest(row),
        };
        let mut left = Row::default(); // what goes through a state of the row
        for (lam, a) in foreign(*k, row) {
            match of_col[lam] {
                Some(state) => output.states.add_term(state, a),
                None => left.add_term(lam, a),
            }
        }
        if row_chosen[i] && !left.is_empty() {
            output.states.add_term(add_state(left), 1.0);
        }
        outputs[*k].push(output);
    }
    (equations, outputs)
}

/// What controls a switch: a sum of states and a constant.
#[derive(Debug, Default)]
struct Reading {
    states: Row,
    constant: f64,
}

/// The controls of switches, law by law (of other laws nothing). Sources and multipliers in them become states without mass,
/// `0 = −s + u(t)`, `0 = −s + λ`, one for all that read them.
fn controls(space: &StateSpace<'_>, equations: &mut Vec<Equation>) -> Vec<Reading> {
    let (columns, network) = (&space.columns, &space.network);
    let mut known: Vec<(usize, usize)> = Vec::new(); // columns and their states
    let laws = network.parts.laws.iter().map(|law| {
        let mut reading = Reading::default();
        let PartLaw::Switch(contact) = &law.law else { return reading };
        for (column, a) in space.complete(&network.resolve(&contact.control)).terms() {
            if columns.x.contains(&column) {
                reading.states.add_term(column - columns.x.start, a);
                continue;
            }
            if column == columns.one {
                reading.constant += a;
                continue;
            }
            let found = known.iter().find(|one| one.0 == column).map(|one| one.1);
            let state = found.unwrap_or_else(|| {
                let state = equations.len();
                let states = [(state, -1.0)].into_iter().collect();
                let mut equation = Equation { states, ..Equation::default() };
                match columns.lam.contains(&column) {
                    true => equation.lam = Row::unit(column - columns.lam.start),
                    false => equation.rest = Row::unit(column),
                }
                equations.push(equation);
                known.push((column, state));
                state
            });
            reading.states.add_term(state, a);
        }
        reading
    });
    laws.collect()
}

/// The value of a state without mass at the beginning.
fn without_mass(space: &StateSpace<'_>, equation: &Equation, lam0: Option<&[f64]>) -> f64 {
    let (columns, sources) = (&space.columns, &space.network.parts.sources);
    let lam = equation.lam.terms().map(|(k, a)| lam0.map_or(0.0, |lam0| a * lam0[k]));
    let u = equation.rest.within(columns.u.clone()).map(|(k, a)| a * sources[k].value(0.0));
    let rates = equation.rest.within(columns.j.clone()).map(|(k, a)| a * sources[k].rate(0.0));
    lam.chain(u).chain(rates).sum()
}

/// A control, or what is opposite to it, as a formula.
fn formula(reading: &Reading, opposite: bool, places: &[Place], model: &Model) -> String {
    let sign = if opposite { -1.0 } else { 1.0 };
    let mut text = format!("{:e}", sign * reading.constant);
    for (k, a) in reading.states.terms() {
        let Place { system, index } = places[k];
        let name = model.systems().nth(system).map_or("", |one| one.0);
        text.push_str(&format!(" + ({:e})*'{name}'.x[{index}]", sign * a));
    }
    text
}

/// The law of a switch. With voltage and current the other way round it is open where it was closed.
fn switch(contact: &Contact, control: String, closed: bool) -> Law {
    let Contact { on, off, .. } = *contact;
    match contact.turned {
        false => Law::Switch { control, on, off, closed },
        true => Law::Switch { control, on: -off, off: -on, closed: !closed },
    }
}

/// The states that a device reads or drives.
fn touched<'a>(
    outputs: &'a [Output],
    law: &'a Lawful,
    actions: &'a [Vec<(usize, f64)>],
) -> impl Iterator<Item = usize> + 'a {
    let read = outputs.iter().flat_map(|output| output.states.terms().map(|(k, _)| k));
    let driven = law.multipliers.clone().flat_map(|lam| actions[lam].iter().map(|(k, _)| *k));
    read.chain(driven)
}

/// States that belong together: linear elements couple them, or a device links more than two groups.
fn blocks(equations: &[Equation], outputs: &[Vec<Output>], laws: &[Lawful]) -> Vec<Vec<usize>> {
    let n = equations.len();
    let mut groups = Groups::new(n);
    if n <= ONE_SYSTEM {
        (1..n).for_each(|k| {
            groups.join(0, k);
        });
        return groups.sets();
    }
    let mut actions: Vec<Vec<(usize, f64)>> = Vec::new();
    actions.resize(laws.last().map_or(0, |law| law.multipliers.end), Vec::new());
    for (k, equation) in equations.iter().enumerate() {
        for (other, _) in equation.states.terms().chain(equation.mass.terms()) {
            groups.join(k, other);
        }
        for &other in &equation.joined {
            groups.join(k, other);
        }
        equation.lam.terms().for_each(|(lam, a)| actions[lam].push((k, a)));
    }
    let mut sizes = vec![0; n];
    groups.sets().iter().for_each(|set| sizes[set[0]] = set.len());
    for (law, outputs) in laws.iter().zip(outputs) {
        let mut found: Vec<usize> =
            touched(outputs, law, &actions).map(|k| groups.find(k)).collect();
        found.sort_unstable();
        found.dedup();
        // the smallest ones become one, until two are left
        while found.len() > 2 {
            found.sort_by_key(|&k| std::cmp::Reverse(sizes[k]));
            if let (Some(a), Some(b)) = (found.pop(), found.pop()) {
                groups.join(a, b);
                sizes[a.min(b)] = sizes[a] + sizes[b];
                found.push(a.min(b));
            }
        }
    }
    groups.sets()
}

/// A name for the system of some states: that of its first element where there are several systems.
fn system_name(space: &StateSpace<'_>, blocks: &[Vec<usize>], block: &[usize]) -> String {
    let network = &space.network;
    let taken = |name: &str| network.parts.laws.iter().any(|law| name_in_model(&law.name) == name);
    let mut name = match block.iter().find_map(|&k| network.states.get(k)) {
        _ if blocks.len() == 1 => "circuit".to_string(),
        Some(&branch) => name_in_model(&network.parts.branches[branch].name),
        None => format!("between devices {}", block[0] - network.states.len()),
    };
    while taken(&name) {
        name.push_str(" (states)");
    }
    name
}

/// A name without what has a meaning in paths of signals: `X1.M1` is `X1:M1`.
fn name_in_model(name: &str) -> String {
    const MEANING: &[char] = &['.', '/', '[', ']', '{', '}', ',', '\'', '"'];
    name.replace(MEANING, ":")
}

/// What sources and constants add to some rows.
fn forcing(
    space: &StateSpace<'_>,
    sources: &[Arc<Source>],
    rows: &mut dyn Iterator<Item = &Row>,
) -> Forcing {
    let columns = &space.columns;
    let rows: Vec<&Row> = rows.collect();
    let mut forcing = Forcing::new(rows.iter().map(|row| row.get(columns.one)).collect());
    for (i, row) in rows.iter().enumerate() {
        for (k, a) in row.within(columns.u.clone()) {
            forcing.add(i, a, &sources[k], false);
        }
        for (k, a) in row.within(columns.j.clone()) {
            forcing.add(i, a, &sources[k], true);
        }
    }
    forcing
}

impl CircuitModel {
    /// The signal of this name: `v(node)`, `v(node, node)`, `i(component)`, or the current into a
    /// terminal of a transistor, `id(M1)`, `ig(M1)`, `is(M1)`, `ic(Q1)`, `ib(Q1)`, `ie(Q1)`.
    pub fn signal(&self, name: &str) -> Result<Signal, CircuitError> {
        self.signals.find(name)
    }

    /// The names of all voltages of nodes and currents of components.
    pub fn signals(&self) -> Vec<String> {
        self.signals.names()
    }

    /// A signal at every row of a run.
    pub fn trace(&self, run: &Run, name: &str) -> Result<Vec<f64>, CircuitError> {
        self.signal(name)?.trace(run)
    }

    /// The same circuit with its sources as states, see
    /// [`Circuit::autonomous_model`]; nothing where they are, or where they have so many corners that
    /// functions of time are better.
    pub(crate) fn autonomous(&self) -> Result<Option<CircuitModel>, CircuitError> {
        let corners = |source: &Arc<Source>| Autonomous::new(source).settings.len();
        match &self.circuit {
            Some(circuit) if self.sources.iter().map(corners).sum::<usize>() <= CORNERS => {
                circuit.autonomous_model().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The first device that is not linear in its mode.
    pub(crate) fn first_smooth(&self) -> Option<&str> {
        self.smooth.as_deref()
    }

    /// The independent sources that move.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().map(|source| &**source)
    }

    /// The instants in `(from, until]` at which a source breaks or jumps, in order.
    pub fn breakpoints(&self, from: f64, until: f64) -> Vec<f64> {
        let mut times: Vec<f64> =
            self.sources.iter().flat_map(|source| source.breakpoints(from, until)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }
}
