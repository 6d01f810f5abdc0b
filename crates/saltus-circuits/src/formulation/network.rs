//! Extraction: what is left of a circuit once states, devices and sources are taken out.
//!
//! Tree capacitors become voltage sources and link inductors current sources `x`, the other capacitors
//! and inductors sources `j`, devices sources `λ`, independent sources are `u(t)`. Every branch has one
//! quantity of its own, its voltage in the tree and its current outside of it; those of resistors and
//! controlled sources are the unknowns `w` of
//!
//! ```text
//! K w = R [x; λ; u; j; 1]                                                                     (1)
//! ```
//!
//! which falls apart into small groups. With its solution every voltage and every current is a sum of
//! the entries on the right.

use super::form::Row;
use super::parts::{Branch, Contact, Dipole, Form, Kind, PartLaw, Parts, Quantity};
use super::smooth::Smooth;
use super::topology::{Class, Groups, Tree, culprits};
use crate::{Circuit, CircuitError, Node};
use saltus_linalg::{DenseLu, Matrix};
use saltus_model::Law;
use std::ops::Range;

/// Where the entries of the right-hand side stand.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// States.
    pub x: Range<usize>,
    /// Multipliers.
    pub lam: Range<usize>,
    /// Sources.
    pub u: Range<usize>,
    /// Currents of capacitors that are links, voltages of inductors in the tree.
    pub j: Range<usize>,
    /// 1.
    pub one: usize,
}

/// A circuit with its solution (1).
#[derive(Debug)]
pub(crate) struct Network<'a> {
    /// The circuit.
    pub circuit: &'a Circuit,
    /// Its parts, the laws of dipoles among them.
    pub parts: Parts,
    /// Its tree.
    pub tree: Tree,
    /// The places on the right.
    pub columns: Columns,
    /// The branches of states, and of `j`.
    pub states: Vec<usize>,
    /// The branches of `j`.
    pub excess: Vec<usize>,
    own: Vec<Row>, // of each branch, in terms of the columns
}

impl<'a> Network<'a> {
    /// Parts, tree and solution.
    pub fn new(circuit: &'a Circuit) -> Result<Network<'a>, CircuitError> {
        let mut swapped = Vec::new();
        let (parts, tree) = loop {
            let parts = Parts::new(circuit, &swapped)?;
            let tree = Tree::new(circuit, &parts)?;
            let turn = turned_winding(&parts, &tree).filter(|k| !swapped.contains(k));
            match turn {
                Some(component) => swapped.push(component),
                None => break (parts, tree),
            }
        };
        let (mut states, mut excess) = (Vec::new(), Vec::new());
        for (k, branch) in parts.branches.iter().enumerate() {
            match (&branch.kind, tree.taken[k]) {
                (Kind::Capacitor(..), true) | (Kind::Inductor(..), false) => states.push(k),
                (Kind::Capacitor(..), false) | (Kind::Inductor(..), true) => excess.push(k),
                _ => {}
            }
        }
        let zero = Columns { x: 0..0, lam: 0..0, u: 0..0, j: 0..0, one: 0 };
        let own = Vec::new();
        let mut network = Network { circuit, parts, tree, columns: zero, states, excess, own };
        let equations = network.equations();
        let (nx, m) = (network.states.len(), network.parts.multipliers);
        let (nu, nj) = (network.parts.sources.len(), network.excess.len());
        let x = 0..nx;
        let lam = x.end..x.end + m;
        let u = lam.end..lam.end + nu;
        let j = u.end..u.end + nj;
        network.columns = Columns { one: j.end, x, lam, u, j };
        network.solve(&equations)?;
        Ok(network)
    }

    /// One equation `0 = form` a branch; devices get their laws here, since these depend on the tree.
    fn equations(&mut self) -> Vec<Form> {
        let mut equations = Vec::new();
        for k in 0..self.parts.branches.len() {
            let Branch { name, component, between, kind } = self.parts.branches[k].clone();
            let (v, i) = (Quantity::Voltage(between), Quantity::Current(k));
            let taken = self.tree.taken[k];
            let less = |form: Form, of: Quantity| {
                let mut form: Form = form.into_iter().map(|(a, one)| (-a, one)).collect();
                form.push((1.0, of));
                form
            };
            let equation = match kind {
                Kind::Resistor(R) => vec![(1.0, v), (-R, i)],
                Kind::Leak(R) => vec![(1.0 / R, v), (-1.0, i)],
                Kind::Capacitor(..) | Kind::Inductor(..) => Vec::new(),
                Kind::Voltage(form) => less(form, v),
                Kind::Nullor(form) => form,
                Kind::Current(form) if taken && self.parts.branches[k].class() == Class::Device => {
                    // its voltage is free, and the others must carry its current
                    let law = PartLaw::Plain(Law::Equality);
                    // in units of its multipliers
                    let size = form.iter().fold(0.0_f64, |most, (a, _)| most.max(a.abs()));
                    let mut output = less(form, i);
                    output.iter_mut().for_each(|term| term.0 /= size);
                    let (name, outputs) = (format!("{name}.voltage"), vec![output]);
                    let rows = self.parts.add_law(name, component, 1, outputs, law);
                    vec![(1.0, v), (-1.0, Quantity::Multiplier(rows.start))]
                }
                Kind::Current(form) => less(form, i),
                Kind::Dipole(dipole) => self.dipole(name, component, dipole, (v, i), taken),
            };
            equations.push(equation);
        }
        equations
    }

    /// The equation of a device of two ends, and its law.
    fn dipole(
        &mut self,
        name: String,
        component: usize,
        dipole: Dipole,
        (v, i): (Quantity, Quantity),
        taken: bool,
    ) -> Form {
        let lam = Quantity::Multiplier(self.parts.multipliers);
        let (law, output, equation) = match (dipole, taken) {
            // λ = i, y = threshold + R λ − v
            (Dipole::Diode { threshold, resistance }, false) => {
                let y = vec![(threshold, Quantity::One), (resistance, lam), (-1.0, v)];
                (PartLaw::Plain(Law::Complementarity), y, vec![(1.0, i), (-1.0, lam)])
            }
            // λ = threshold + R i − v, y = i
            (Dipole::Diode { threshold, resistance }, true) => {
                let equation =
                    vec![(1.0, v), (1.0, lam), (-resistance, i), (-threshold, Quantity::One)];
                (PartLaw::Plain(Law::Complementarity), vec![(1.0, i)], equation)
            }
            // i = λ₀ − λ₁, y = (threshold + R λ₀ − v, breakdown + R λ₁ + v)
            (Dipole::Zener { threshold, breakdown, resistance }, false) => {
                let back = Quantity::Multiplier(self.parts.multipliers + 1);
                let y = vec![
                    vec![(threshold, Quantity::One), (resistance, lam), (-1.0, v)],
                    vec![(breakdown, Quantity::One), (resistance, back), (1.0, v)],
                ];
                let law = PartLaw::Plain(Law::Complementarity);
                self.parts.add_law(name, component, 2, y, law);
                return vec![(1.0, i), (-1.0, lam), (1.0, back)];
            }
            // λ = −v, y = i
            (Dipole::Zener { threshold, breakdown, resistance }, true) => {
                let points = vec![
                    (-1.0, breakdown + resistance),
                    (0.0, breakdown),
                    (0.0, -threshold),
                    (1.0, -threshold - resistance),
                ];
                let law = PartLaw::Plain(Law::PiecewiseLinear { points });
                (law, vec![(1.0, i)], vec![(1.0, v), (1.0, lam)])
            }
            // λ = i, w = v − R λ
            (Dipole::Junction(junction, resistance), false) => {
                let law = PartLaw::Smooth(Smooth::JunctionCurrent(junction));
                let w = vec![(1.0, v), (-resistance, lam)];
                (law, w, vec![(1.0, i), (-1.0, lam)])
            }
            // λ = v − R i, w = i
            (Dipole::Junction(junction, resistance), true) => {
                let law = PartLaw::Smooth(Smooth::JunctionVoltage(junction));
                (law, vec![(1.0, i)], vec![(1.0, v), (-resistance, i), (-1.0, lam)])
            }
            // λ = i, y = v − R λ
            (Dipole::Switch(contact, resistance), false) => {
                let y = vec![(1.0, v), (-resistance, lam)];
                (PartLaw::Switch(contact), y, vec![(1.0, i), (-1.0, lam)])
            }
            // λ = v − R i, y = i
            (Dipole::Switch(contact, resistance), true) => {
                let law = PartLaw::Switch(Box::new(Contact { turned: true, ..*contact }));
                (law, vec![(1.0, i)], vec![(1.0, v), (-resistance, i), (-1.0, lam)])
            }
        };
        self.parts.add_law(name, component, 1, vec![output], law);
        equation
    }

    /// A form in terms of the quantities of branches of their own, and of the columns after them.
    fn expand(&self, form: &Form) -> Row {
        let base = self.parts.branches.len();
        let mut row = Row::default();
        for &(a, quantity) in form {
            match quantity {
                Quantity::One => row.add_term(base + self.columns.one, a),
                Quantity::Source(k) => row.add_term(base + self.columns.u.start + k, a),
                Quantity::Multiplier(k) => row.add_term(base + self.columns.lam.start + k, a),
                Quantity::Voltage(nodes) => row.add(a, &self.tree.voltage(nodes)),
                Quantity::Current(k) => row.add(a, &self.tree.current(k)),
                Quantity::Through(k) => {
                    for &(sign, branch) in self.first_terminal(k) {
                        row.add(a * sign, &self.tree.current(branch));
                    }
                }
            }
        }
        row
    }

    /// The current into a component: branches and signs.
    fn first_terminal(&self, component: usize) -> &[(f64, usize)] {
        let terminals = &self.parts.terminals[component];
        let first = self.circuit.components[component].device.nodes().first().copied();
        let found = terminals.iter().find(|terminal| Some(terminal.0) == first);
        found.or(terminals.first()).map_or(&[], |terminal| &terminal.1)
    }

    /// The current into the terminal of a component at a node.
    pub fn terminal_current(&self, component: usize, node: Node) -> Option<Row> {
        let found = self.parts.terminals[component].iter().find(|terminal| terminal.0 == node)?;
        Some(self.current_sum(&found.1))
    }

    /// The current into a component, at its first terminal.
    pub fn through(&self, component: usize) -> Row {
        self.current_sum(self.first_terminal(component))
    }

    fn current_sum(&self, branches: &[(f64, usize)]) -> Row {
        let mut row = Row::default();
        branches.iter().for_each(|&(sign, k)| row.add(sign, &self.current(k)));
        row
    }

    /// A form in terms of the columns.
    pub fn resolve(&self, form: &Form) -> Row {
        self.in_columns(&self.expand(form))
    }

    /// The current through a branch in terms of the columns.
    pub fn current(&self, k: usize) -> Row {
        self.in_columns(&self.tree.current(k))
    }

    /// The voltage between two nodes in terms of the columns.
    pub fn voltage(&self, nodes: [Node; 2]) -> Row {
        self.in_columns(&self.tree.voltage(nodes))
    }

    fn in_columns(&self, row: &Row) -> Row {
        let base = self.parts.branches.len();
        let mut result = Row::default();
        for (place, a) in row.terms() {
            match place.checked_sub(base) {
                None => result.add(a, &self.own[place]),
                Some(column) => result.add_term(column, a),
            }
        }
        result
    }

    /// Equation (1): first the quantities that are given, then the unknowns, group by group.
    fn solve(&mut self, equations: &[Form]) -> Result<(), CircuitError> {
        let base = self.parts.branches.len();
        self.own = vec![Row::default(); base];
        for (k, &branch) in self.states.iter().enumerate() {
            self.own[branch] = Row::unit(self.columns.x.start + k);
        }
        for (k, &branch) in self.excess.iter().enumerate() {
            self.own[branch] = Row::unit(self.columns.j.start + k);
        }
        let mut open: Vec<(usize, Row)> = Vec::new();
        for (k, form) in equations.iter().enumerate().filter(|(_, form)| !form.is_empty()) {
            let row = self.expand(form);
            let alone = row.within(0..base).all(|(place, _)| place == k) && row.get(k) != 0.0;
            match alone {
                true => {
                    let scale = -1.0 / row.get(k);
                    let right = row.terms().filter(|(place, _)| *place >= base);
                    self.own[k] = right.map(|(place, a)| (place - base, scale * a)).collect();
                }
                false => open.push((k, row)),
            }
        }
        let mut position = vec![None; base];
        open.iter().enumerate().for_each(|(i, (k, _))| position[*k] = Some(i));
        let mut groups = Groups::new(open.len());
        for (i, (_, row)) in open.iter().enumerate() {
            for other in row.within(0..base).filter_map(|(place, _)| position[place]) {
                groups.join(i, other);
            }
        }
        for group in groups.sets() {
            let unknowns: Vec<usize> = group.iter().map(|&i| open[i].0).collect();
            let place = |k: usize| unknowns.iter().position(|&unknown| unknown == k);
            let mut K = Matrix::zeros(group.len(), group.len());
            let mut right = vec![Row::default(); group.len()];
            for (row, &i) in group.iter().enumerate() {
                for (k, a) in open[i].1.terms() {
                    if k >= base {
                        right[row].add_term(k - base, -a);
                    } else if let Some(column) = place(k) {
                        K[(row, column)] += a;
                    } else {
                        right[row].add(-a, &self.own[k]);
                    }
                }
            }
            let solution = linear_solution(&K, &right)
                .map_err(|column| self.undetermined(&unknowns, column))?;
            for (k, row) in unknowns.iter().zip(solution) {
                self.own[*k] = row;
            }
        }
        Ok(())
    }

    /// Names what has no value.
    fn undetermined(&self, unknowns: &[usize], column: usize) -> CircuitError {
        let (circuit, branches) = (self.circuit, &self.parts.branches);
        let class = |k: usize| (branches[k].class(), self.tree.taken[k]);
        let closes = |k: &&usize| class(**k) == (Class::ControlledVoltage, false);
        if let Some(&k) = unknowns.iter().find(closes) {
            return self.tree.voltage_loop(circuit, branches, k);
        }
        let cuts = |k: &&usize| class(**k) == (Class::ControlledCurrent, true);
        if let Some(&k) = unknowns.iter().find(cuts) {
            return self.tree.current_cut(circuit, branches, k);
        }
        let nullor = |k: &&usize| matches!(branches[**k].kind, Kind::Nullor(_));
        let (k, why) = match unknowns.iter().find(nullor) {
            Some(&k) => (k, "an ideal amplifier needs a way back from its output to its inputs"),
            None => (
                unknowns[column],
                "the equations of controlled sources and resistors contradict each other, or leave it free",
            ),
        };
        let component = (&circuit.components[branches[k].component]).into();
        let others = unknowns.iter().copied().filter(|&other| other != k);
        CircuitError::Undetermined { component, why, others: culprits(circuit, branches, others) }
    }
}

/// A transformer whose winding of given voltage closes a loop of voltages, or whose winding of given
/// current is needed in the tree: the other way round it may work.
fn turned_winding(parts: &Parts, tree: &Tree) -> Option<usize> {
    let wrong = parts.branches.iter().enumerate().find(|(k, branch)| {
        let winding = branch.name.ends_with(".primary") || branch.name.ends_with(".secondary");
        let class = branch.class();
        winding
            && match tree.taken[*k] {
                true => class == Class::ControlledCurrent,
                false => class == Class::ControlledVoltage,
            }
    });
    wrong.map(|(_, branch)| branch.component)
}

/// Unknowns up to which the rank is looked at.
const SMALL: usize = 200;
/// A pivot below this share of its scaled matrix is none.
const RANK: f64 = 1e-13;

/// Solves `K w = right`; names the column that has no pivot.
fn linear_solution(K: &Matrix, right: &[Row]) -> Result<Vec<Row>, usize> {
    let n = K.rows();
    // rows and columns of size 1, by powers of two
    let power = |size: f64| if size > 0.0 { (-size.log2()).round().exp2() } else { 1.0 };
    let largest = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0_f64, |most, x| most.max(x.abs()));
    let rows: Vec<f64> = (0..n).map(|i| power(largest(&mut K.row(i).iter().copied()))).collect();
    let cols: Vec<f64> =
        (0..n).map(|j| power(largest(&mut (0..n).map(|i| rows[i] * K[(i, j)])))).collect();
    let mut scaled = K.clone();
    for i in 0..n {
        for j in 0..n {
            scaled[(i, j)] *= rows[i] * cols[j];
        }
    }
    if n <= SMALL
        && let Some(column) = missing_pivot(scaled.clone())
    {
        return Err(column);
    }
    let mut factors = DenseLu::new(&scaled).map_err(|singular| singular.column)?;
    let mut touched: Vec<usize> = right.iter().flat_map(|row| row.terms().map(|t| t.0)).collect();
    touched.sort_unstable();
    touched.dedup();
    let mut solution = vec![Row::default(); n];
    let mut w = vec![0.0; n];
    for column in touched {
        (0..n).for_each(|i| w[i] = rows[i] * right[i].get(column));
        let b = w.clone();
        factors.solve(&mut w);
        clear_roundoff(&scaled, &b, &mut w);
        for i in 0..n {
            solution[i].add_term(column, cols[i] * w[i]);
        }
    }
    Ok(solution)
}

/// The first column without a pivot in a complete search.
fn missing_pivot(mut A: Matrix) -> Option<usize> {
    let n = A.rows();
    let (mut rows, mut cols): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
    for k in 0..n {
        let (mut best, mut size) = ((k, k), 0.0);
        for i in k..n {
            for j in k..n {
                let x = A[(rows[i], cols[j])].abs();
                if x > size {
                    (best, size) = ((i, j), x);
                }
            }
        }
        if !(size > RANK) {
            return Some(cols[k]);
        }
        rows.swap(k, best.0);
        cols.swap(k, best.1);
        for i in k + 1..n {
            let factor = A[(rows[i], cols[k])] / A[(rows[k], cols[k])];
            if factor != 0.0 {
                for j in k..n {
                    let x = A[(rows[k], cols[j])];
                    A[(rows[i], cols[j])] -= factor * x;
                }
            }
        }
    }
    None
}

/// What is left of a zero in a solution of `A w = b`: an entry that no equation would miss.
fn clear_roundoff(A: &Matrix, b: &[f64], w: &mut [f64]) {
    let n = w.len();
    let sizes: Vec<f64> = (0..n)
        .map(|i| b[i].abs() + A.row(i).iter().zip(&*w).map(|(a, w)| (a * w).abs()).sum::<f64>())
        .collect();
    for k in 0..n {
        let small = |i: usize| (A[(i, k)] * w[k]).abs() <= 8.0 * f64::EPSILON * sizes[i];
        if w[k] != 0.0 && (0..n).all(small) {
            w[k] = 0.0;
        }
    }
}
