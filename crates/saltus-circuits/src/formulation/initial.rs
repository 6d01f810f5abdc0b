//! The state at the beginning: what is given, and for the rest an operating point.

use super::network::Network;
use super::operating_point::{Rest, value};
use super::parts::{Kind, PartLaw};
use super::state_space::StateSpace;
use crate::{Circuit, CircuitError, Device, Node, Source};
use saltus_model::Law;

/// How far initial values may contradict each other, relative to their size.
const AGREES: f64 = 1e-9;

/// The beginning.
pub(crate) struct Beginning {
    /// `x`.
    pub state: Vec<f64>,
    /// `λ`, where there is one: a jump of the state has none.
    pub multipliers: Option<Vec<f64>>,
    /// The laws of the switches that are closed.
    pub closed: Vec<usize>,
}

/// `x` and `λ` at the beginning.
pub(crate) fn beginning(space: &StateSpace<'_>) -> Result<Beginning, CircuitError> {
    let network = &space.network;
    let (state, known) = state(space)?;
    let (found, closed) = multipliers(network, &state);
    Ok(Beginning { state, multipliers: found.or(known), closed })
}

/// `x` at the beginning, and `λ` where the circuit is at rest.
fn state(space: &StateSpace<'_>) -> Result<(Vec<f64>, Option<Vec<f64>>), CircuitError> {
    let network = &space.network;
    blocked(network)?;
    let given: Vec<Option<f64>> = network.states.iter().map(|&k| given(network, k)).collect();
    let known: Option<Vec<f64>> = given.iter().copied().collect();
    let mut lam = None;
    let x0 = match known {
        Some(x0) => {
            hold_nodes(network)?;
            x0
        }
        None if network.circuit.uic => {
            hold_nodes(network)?;
            let states = given.iter().zip(&network.states);
            states.map(|(given, &k)| given.unwrap_or_else(|| from_nodes(network, k))).collect()
        }
        None => {
            let (x0, found) = at_rest(network)?;
            lam = found;
            x0
        }
    };
    check_excess(network, &x0)?;
    check_nodes(network, &x0)?;
    Ok((x0, lam))
}

/// Multipliers up to which those of the beginning are looked for.
const SMALL: usize = 500;

/// `λ` at the beginning, given the state, where there is one: a jump of the state has none. Also the
/// laws of the switches that are closed.
fn multipliers(network: &Network<'_>, x0: &[f64]) -> (Option<Vec<f64>>, Vec<usize>) {
    let places = network.columns.lam.clone();
    let given = x0.iter().map(|x| Some(*x)).collect();
    let mut rest = Rest::new(network, given);
    if places.is_empty() || places.len() > SMALL {
        return (None, rest.closed());
    }
    let inputs = rest.solve().ok();
    (inputs.map(|inputs| inputs[places].to_vec()), rest.closed())
}

/// The initial value of a capacitor or inductor.
fn given(network: &Network<'_>, branch: usize) -> Option<f64> {
    match network.parts.branches[branch].kind {
        Kind::Capacitor(_, initial) | Kind::Inductor(_, initial) => initial,
        _ => None,
    }
}

/// The voltage of a capacitor between nodes whose initial voltages are given, zero where they are not.
fn from_nodes(network: &Network<'_>, branch: usize) -> f64 {
    let Kind::Capacitor(..) = network.parts.branches[branch].kind else { return 0.0 };
    let [from, to] = network.parts.branches[branch].between.map(|node| {
        let found = network.circuit.initial.iter().find(|(known, _)| *known == node);
        found.map_or(0.0, |(_, voltage)| *voltage)
    });
    from - to
}

/// Voltages of capacitors and currents of inductors at rest, with nodes held where `.ic` says so; the
/// multipliers too where nothing is held.
fn at_rest(network: &Network<'_>) -> Result<(Vec<f64>, Option<Vec<f64>>), CircuitError> {
    let held = hold_nodes(network)?;
    let is_free = held.components.len() == network.circuit.components.len();
    let at_rest = Network::new(&held)?;
    let known = at_rest.states.iter().map(|&k| given(&at_rest, k)).collect();
    let inputs = Rest::new(&at_rest, known).solve()?;
    // components that hold nodes come last: the others have the branches they had
    let states = network.states.iter().map(|&k| match at_rest.parts.branches[k].kind {
        Kind::Capacitor(..) => value(&at_rest.voltage(at_rest.parts.branches[k].between), &inputs),
        _ => value(&at_rest.current(k), &inputs),
    });
    let lam = is_free.then(|| inputs[at_rest.columns.lam.clone()].to_vec());
    Ok((states.collect(), lam))
}

/// The circuit with a voltage source at every node whose initial voltage is given.
fn hold_nodes(network: &Network<'_>) -> Result<Circuit, CircuitError> {
    let mut circuit = network.circuit.clone();
    let mut inputs = vec![0.0; network.columns.one + 1];
    inputs[network.columns.one] = 1.0;
    for (k, source) in network.parts.sources.iter().enumerate() {
        inputs[network.columns.u.start + k] = source.value(0.0);
    }
    for &(node, voltage) in &network.circuit.initial {
        let name = &network.circuit.nodes[node.0];
        if !network.tree.has(node) || node == Node::GROUND {
            continue;
        }
        let row = network.voltage([node, Node::GROUND]);
        let sources = network.columns.u.start;
        if row.terms().all(|(column, _)| column >= sources) {
            // only sources decide
            let found = value(&row, &inputs);
            if (found - voltage).abs() > AGREES * found.abs().max(1.0) {
                let node = name.clone();
                return Err(CircuitError::InitialNode { node, given: voltage, found });
            }
            continue;
        }
        let (between, source) = ([node, Node::GROUND], Source::Dc(voltage));
        circuit.add(format!(".ic v({name})"), Device::VoltageSource { between, source });
    }
    Ok(circuit)
}

/// A node whose voltage is that of capacitors, one of them with an initial value of its own, starts there.
fn check_nodes(network: &Network<'_>, x0: &[f64]) -> Result<(), CircuitError> {
    let columns = &network.columns;
    for &(node, voltage) in &network.circuit.initial {
        if !network.tree.has(node) || node == Node::GROUND {
            continue;
        }
        let row = network.voltage([node, Node::GROUND]);
        let is_state = |column: usize| columns.x.contains(&column);
        let own = |column: usize| given(network, network.states[column - columns.x.start]);
        let decided = row.terms().all(|(column, _)| is_state(column))
            && row.terms().any(|(column, _)| own(column).is_some());
        if !decided {
            continue;
        }
        let found: f64 = row.terms().map(|(column, a)| a * x0[column - columns.x.start]).sum();
        if (found - voltage).abs() > AGREES * found.abs().max(voltage.abs()).max(1.0) {
            let node = network.circuit.nodes[node.0].clone();
            return Err(CircuitError::InitialNode { node, given: voltage, found });
        }
    }
    Ok(())
}

/// Capacitors and inductors that are no states start as the others say.
fn check_excess(network: &Network<'_>, x0: &[f64]) -> Result<(), CircuitError> {
    let columns = &network.columns;
    let mut inputs = vec![0.0; columns.one + 1];
    inputs[columns.one] = 1.0;
    inputs[columns.x.clone()].copy_from_slice(x0);
    for (k, source) in network.parts.sources.iter().enumerate() {
        inputs[columns.u.start + k] = source.value(0.0);
    }
    for &k in &network.excess {
        let Some(asked) = given(network, k) else { continue };
        let (branches, tree) = (&network.parts.branches, &network.tree);
        let (row, others) = match tree.taken[k] {
            true => (network.current(k), tree.cut_of(network.circuit, branches, k)),
            false => {
                (network.voltage(branches[k].between), tree.loop_of(network.circuit, branches, k))
            }
        };
        let found = value(&row, &inputs);
        if (found - asked).abs() > AGREES * found.abs().max(asked.abs()).max(1.0) {
            let component = (&network.circuit.components[branches[k].component]).into();
            let others = others.into_iter().filter(|other| *other != component).collect();
            return Err(CircuitError::Initial { component, given: asked, found, others });
        }
    }
    Ok(())
}

/// A diode that alone must carry the current of sources, and the wrong way.
fn blocked(network: &Network<'_>) -> Result<(), CircuitError> {
    let columns = &network.columns;
    for law in &network.parts.laws {
        if !matches!(law.law, PartLaw::Plain(Law::Complementarity)) {
            continue;
        }
        for form in &law.outputs {
            let row = network.resolve(form);
            if row.is_empty() || row.terms().any(|(column, _)| column < columns.u.start) {
                continue;
            }
            let mut current = row.get(columns.one);
            for (k, a) in row.within(columns.u.clone()) {
                current += a * network.parts.sources[k].value(0.0);
            }
            if current < 0.0 {
                let component = (&network.circuit.components[law.component]).into();
                return Err(CircuitError::Blocked { component, current });
            }
        }
    }
    Ok(())
}
