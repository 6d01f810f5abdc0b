//! The normal tree: which voltages and currents are free to choose.
//!
//! A spanning tree of the nodes takes branches class by class,
//!
//! ```text
//! voltage sources, controlled ones, capacitors, resistors, devices, open switches, inductors,
//! current sources
//! ```
//!
//! so that a capacitor is left out only where it closes a loop of capacitors and voltage sources, and an
//! inductor is taken only where nothing but inductors and current sources join two halves. With `F` the
//! signs of tree branches `t` in the loops that links `l` close,
//!
//! ```text
//! v_l = F v_t,    i_t = −Fᵀ i_l .                                                             (1)
//! ```

use super::form::Row;
use super::parts::{Branch, Dipole, Kind, Parts, Quantity};
use crate::error::Culprit;
use crate::{Circuit, CircuitError, Node};

/// The class of a branch: those of a lower one are taken into the tree first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A voltage that sources or multipliers give.
    Voltage,
    /// A voltage that other voltages and currents give.
    ControlledVoltage,
    /// A capacitor.
    Capacitor,
    /// A resistor.
    Resistor,
    /// A device of two ends.
    Dipole,
    /// What is left of an open switch: its voltage is the device's, where there is one.
    Leak,
    /// A current that multipliers give.
    Device,
    /// An inductor.
    Inductor,
    /// A current that other voltages and currents give.
    ControlledCurrent,
    /// A current that sources give.
    Current,
}

impl Branch {
    /// Its class.
    pub fn class(&self) -> Class {
        let linear = |quantity: &Quantity| {
            matches!(quantity, Quantity::Voltage(_) | Quantity::Current(_) | Quantity::Through(_))
        };
        match &self.kind {
            Kind::Resistor(_) => Class::Resistor,
            Kind::Leak(_) => Class::Leak,
            Kind::Capacitor(..) => Class::Capacitor,
            Kind::Inductor(..) => Class::Inductor,
            Kind::Dipole(_) => Class::Dipole,
            Kind::Nullor(_) => Class::ControlledVoltage,
            Kind::Voltage(form) if form.iter().any(|(_, one)| linear(one)) => {
                Class::ControlledVoltage
            }
            Kind::Voltage(_) => Class::Voltage,
            Kind::Current(form) if form.iter().any(|(_, one)| linear(one)) => {
                Class::ControlledCurrent
            }
            Kind::Current(form) => {
                match form.iter().any(|(_, one)| matches!(one, Quantity::Multiplier(_))) {
                    true => Class::Device,
                    false => Class::Current,
                }
            }
        }
    }
}

/// The tree.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Whether a branch is in it.
    pub taken: Vec<bool>,
    /// Of each node but ground: the next one towards ground, the branch to it, and its sign.
    parents: Vec<Option<(usize, usize, f64)>>,
    depths: Vec<usize>,
    /// Of each link: the tree branches of its loop with their signs, a row of `F`.
    loops: Vec<Row>,
    /// Of each tree branch: the links of its cut-set, a column of `F`.
    cuts: Vec<Row>,
}

impl Tree {
    /// The normal tree of some branches; refuses what has none.
    pub fn new(circuit: &Circuit, parts: &Parts) -> Result<Tree, CircuitError> {
        let (branches, n) = (&parts.branches, circuit.nodes.len() + parts.hidden);
        if branches.is_empty() {
            return Err(CircuitError::Empty);
        }
        let mut order: Vec<usize> = (0..branches.len()).collect();
        // of capacitors those whose voltage is given are states, of inductors the others are not
        let given = |kind: &Kind| match kind {
            Kind::Capacitor(_, initial) => initial.is_none(),
            Kind::Inductor(_, initial) => initial.is_some(),
            _ => false,
        };
        order.sort_by_key(|&k| (branches[k].class(), given(&branches[k].kind)));
        let mut groups = Groups::new(n);
        let mut taken = vec![false; branches.len()];
        for &k in &order {
            let [a, b] = branches[k].between;
            taken[k] = groups.join(a.0, b.0);
        }
        let mut tree = Tree {
            taken,
            parents: vec![None; n],
            depths: vec![0; n],
            loops: vec![Row::default(); branches.len()],
            cuts: vec![Row::default(); branches.len()],
        };
        tree.hang(branches);
        tree.check_nodes(circuit, parts)?;
        for (k, branch) in branches.iter().enumerate() {
            if tree.taken[k] {
                continue;
            }
            let row = tree.voltage(branch.between);
            row.terms().for_each(|(t, sign)| tree.cuts[t].add_term(k, sign));
            tree.loops[k] = row;
        }
        tree.check_sources(circuit, branches)?;
        tree.check_switches(circuit, branches)?;
        Ok(tree)
    }

    /// Hangs the tree from ground.
    fn hang(&mut self, branches: &[Branch]) {
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); self.parents.len()];
        for (k, branch) in branches.iter().enumerate().filter(|(k, _)| self.taken[*k]) {
            branch.between.iter().for_each(|node| at[node.0].push(k));
        }
        let (mut reached, mut next) = (vec![0], 0);
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &k in &at[node] {
                let [a, b] = branches[k].between.map(|node| node.0);
                let (other, sign) = if a == node { (b, -1.0) } else { (a, 1.0) };
                let known = self.parents[node].is_some_and(|(_, branch, _)| branch == k);
                if !known {
                    self.parents[other] = Some((node, k, sign));
                    self.depths[other] = self.depths[node] + 1;
                    reached.push(other);
                }
            }
        }
    }

    /// Every node that is used has a way to ground.
    fn check_nodes(&self, circuit: &Circuit, parts: &Parts) -> Result<(), CircuitError> {
        let mut used = vec![false; circuit.nodes.len() + parts.hidden];
        let ends = parts.branches.iter().flat_map(|branch| branch.between);
        ends.for_each(|node| used[node.0] = true);
        if let Some((node, k)) = parts.read.iter().find(|(node, _)| !used[node.0] && node.0 > 0) {
            let (node, component) = (circuit.nodes[node.0].clone(), &circuit.components[*k]);
            return Err(CircuitError::Floating { node, component: component.into() });
        }
        let lost = (1..used.len()).filter(|&k| used[k] && self.parents[k].is_none());
        let nodes_: Vec<String> = lost.map(|k| circuit.nodes[k].clone()).collect();
        if nodes_.is_empty() { Ok(()) } else { Err(CircuitError::Island { nodes_ }) }
    }

    /// No loop of voltages that are given, no cut-set of currents that are.
    fn check_sources(&self, circuit: &Circuit, branches: &[Branch]) -> Result<(), CircuitError> {
        for (k, branch) in branches.iter().enumerate() {
            match (branch.class(), self.taken[k]) {
                (Class::Voltage, false) => return Err(self.voltage_loop(circuit, branches, k)),
                (Class::Current, true) => return Err(self.current_cut(circuit, branches, k)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The current of an inductor or source has a way besides ideal switches, which may open.
    fn check_switches(&self, circuit: &Circuit, branches: &[Branch]) -> Result<(), CircuitError> {
        let is_switch = |k: usize| matches!(branches[k].kind, Kind::Dipole(Dipole::Switch(..)));
        if !(0..branches.len()).any(is_switch) {
            return Ok(());
        }
        let (mut others, mut closed) =
            (Groups::new(self.parents.len()), Groups::new(self.parents.len()));
        for (k, branch) in branches.iter().enumerate() {
            let [a, b] = branch.between.map(|node| node.0);
            if branch.class() < Class::Inductor {
                closed.join(a, b);
                if !is_switch(k) {
                    others.join(a, b);
                }
            }
        }
        for (k, branch) in branches.iter().enumerate().filter(|(k, _)| !self.taken[*k]) {
            let [a, b] = branch.between.map(|node| node.0);
            let forced = matches!(branch.class(), Class::Inductor | Class::Current);
            if forced && others.find(a) != others.find(b) && closed.find(a) == closed.find(b) {
                let ways = self.loops[k].terms().map(|(t, _)| t).filter(|&t| {
                    let [a, b] = branches[t].between.map(|node| node.0);
                    is_switch(t) && others.find(a) != others.find(b)
                });
                let switches = culprits(circuit, branches, ways);
                let component = (&circuit.components[branch.component]).into();
                return Err(CircuitError::Interrupted { component, switches });
            }
        }
        Ok(())
    }

    /// The loop that a link closes, as an error.
    pub fn voltage_loop(&self, circuit: &Circuit, branches: &[Branch], k: usize) -> CircuitError {
        CircuitError::VoltageLoop { components: self.loop_of(circuit, branches, k) }
    }

    /// The components of the loop that a link closes.
    pub fn loop_of(&self, circuit: &Circuit, branches: &[Branch], k: usize) -> Vec<Culprit> {
        let others = self.loops[k].terms().map(|(t, _)| t);
        culprits(circuit, branches, std::iter::once(k).chain(others))
    }

    /// The components of the cut-set of a tree branch.
    pub fn cut_of(&self, circuit: &Circuit, branches: &[Branch], k: usize) -> Vec<Culprit> {
        let others = self.cuts[k].terms().map(|(l, _)| l);
        culprits(circuit, branches, std::iter::once(k).chain(others))
    }

    /// The cut-set of a tree branch, as an error.
    pub fn current_cut(&self, circuit: &Circuit, branches: &[Branch], k: usize) -> CircuitError {
        let components = self.cut_of(circuit, branches, k);
        let behind = |node: usize| {
            let mut node = node;
            while let Some((next, branch, _)) = self.parents[node] {
                if branch == k {
                    return true;
                }
                node = next;
            }
            false
        };
        let nodes = (1..circuit.nodes.len()).filter(|&node| behind(node));
        let nodes_ = nodes.map(|node| circuit.nodes[node].clone()).collect();
        CircuitError::CurrentCutSet { components, nodes_ }
    }

    /// The voltage between two nodes, as a sum of those of tree branches.
    pub fn voltage(&self, [from, to]: [Node; 2]) -> Row {
        let (mut a, mut b, mut row) = (from.0, to.0, Row::default());
        while a != b {
            let (lower, side) =
                if self.depths[a] >= self.depths[b] { (&mut a, 1.0) } else { (&mut b, -1.0) };
            let Some((next, branch, sign)) = self.parents[*lower] else { break };
            row.add_term(branch, side * sign);
            *lower = next;
        }
        row
    }

    /// The current through a branch, as a sum of those of links: equation (1).
    pub fn current(&self, k: usize) -> Row {
        if !self.taken[k] {
            return Row::unit(k);
        }
        self.cuts[k].terms().map(|(l, sign)| (l, -sign)).collect()
    }

    /// Whether a node hangs in the tree.
    pub fn has(&self, node: Node) -> bool {
        node == Node::GROUND || self.parents[node.0].is_some()
    }
}

/// The components of some branches, each once.
pub(crate) fn culprits(
    circuit: &Circuit,
    branches: &[Branch],
    of: impl Iterator<Item = usize>,
) -> Vec<Culprit> {
    let mut components: Vec<usize> = Vec::new();
    for k in of.map(|k| branches[k].component) {
        if !components.contains(&k) {
            components.push(k);
        }
    }
    components.iter().map(|&k| (&circuit.components[k]).into()).collect()
}

/// Disjoint sets of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Groups(Vec<usize>);

impl Groups {
    /// Each number alone.
    pub fn new(n: usize) -> Groups {
        Groups((0..n).collect())
    }

    /// The number that stands for the set of `k`.
    pub fn find(&mut self, mut k: usize) -> usize {
        while self.0[k] != k {
            self.0[k] = self.0[self.0[k]];
            k = self.0[k];
        }
        k
    }

    /// Joins the sets of two numbers; whether they were different.
    pub fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[b.max(a)] = a.min(b);
        a != b
    }

    /// The sets, in the order of their first numbers.
    pub fn sets(&mut self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        (0..self.0.len()).for_each(|k| {
            let first = self.find(k);
            sets[first].push(k);
        });
        sets.retain(|set| !set.is_empty());
        sets
    }
}
