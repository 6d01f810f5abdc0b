//! States: the reactive elements on top of the network.
//!
//! With `x` the states, `q` voltages of link capacitors and currents of tree inductors, `p` what
//! belongs to `x` in the other unit (currents of tree capacitors, voltages of link inductors), `j` what
//! belongs to `q`, and `𝓛` capacitances and inductances,
//!
//! ```text
//! p = P_x x + P_λ λ + P_u u + P_j j + p₁,    q = Q_x x + Q_u u + q₁                            (1)
//! [p; j] = 𝓛 d/dt [x; q]                                                                       (2)
//! M ẋ = P_x x + P_λ λ + P_u u + p₁ + N u̇                                                       (3)
//! M = 𝓛_xx + 𝓛_xq Q_x − P_j (𝓛_qx + 𝓛_qq Q_x),    N = P_j 𝓛_qq Q_u − 𝓛_xq Q_u                  (4)
//! ```
//!
//! `u̇` goes away with the states `z = x − S u`, `S = M⁻¹ N`, which are charges and fluxes in other
//! words: they do not jump where a source does.

use super::form::Row;
use super::network::{Columns, Network};
use super::parts::Kind;
use super::topology::{Groups, culprits};
use crate::error::Culprit;
use crate::{Circuit, CircuitError, Coupling};
use saltus_linalg::{DenseLu, Matrix};

/// Every quantity as a sum of `z`, `λ`, `u`, `u̇` and 1; `u̇` stands where `j` does in the network.
#[derive(Debug)]
pub(crate) struct StateSpace<'a> {
    /// The network.
    pub network: Network<'a>,
    /// The places, `j` being those of `u̇`.
    pub columns: Columns,
    /// `M`, a row a state; the identity but where inductors are coupled entirely.
    pub mass: Vec<Row>,
    /// `M ż`.
    pub rates: Vec<Row>,
    /// `S`, a row a state, over the places of sources counted from 0.
    pub shift: Vec<Row>,
    excess: Vec<Row>, // `j`
}

/// `p`, `q` and `𝓛` of (1) and (2); all rows but those of `𝓛` are over the columns of the network.
struct Reactive {
    p: Vec<Row>,
    q: Vec<Row>,
    L: Vec<Row>, // over states, then excess
}

impl<'a> StateSpace<'a> {
    /// Equations (3) and (4).
    pub fn new(network: Network<'a>) -> Result<StateSpace<'a>, CircuitError> {
        let reactive = Reactive::new(&network)?;
        let (nx, of) = (network.states.len(), network.columns.clone());
        let columns = Columns {
            j: of.j.start..of.j.start + of.u.len(),
            one: of.j.start + of.u.len(),
            ..of.clone()
        };
        // a row of the network without j, in the new places
        let plain = |row: &Row| -> Row {
            let kept = row.terms().filter(|(place, _)| !of.j.contains(place));
            let moved = |place| if place == of.one { columns.one } else { place };
            kept.map(|(place, a)| (moved(place), a)).collect()
        };
        // d/dt of q as a row over states, then u̇
        let q_rates: Vec<Row> = (reactive.q.iter())
            .map(|q| {
                let states = q.within(of.x.clone());
                let sources = q.within(of.u.clone()).map(|(k, a)| (nx + k, a));
                states.chain(sources).collect()
            })
            .collect();
        // row i of 𝓛 d/dt [x; q], likewise
        let stored = |i: usize| {
            let mut row = Row::default();
            for (k, a) in reactive.L[i].terms() {
                match k.checked_sub(nx) {
                    None => row.add_term(k, a),
                    Some(q) => row.add(a, &q_rates[q]),
                }
            }
            row
        };
        // (4): M and −N
        let mut masses = Vec::new();
        for i in 0..nx {
            let mut row = stored(i);
            for (j, a) in reactive.p[i].within(of.j.clone()) {
                row.add(-a, &stored(nx + j));
            }
            masses.push(row);
        }
        let right: Vec<Row> = (0..nx)
            .map(|i| {
                let mut row = plain(&reactive.p[i]);
                masses[i].within(nx..nx + of.u.len()).for_each(|(k, a)| {
                    row.add_term(columns.j.start + k, -a);
                });
                row
            })
            .collect();

        // ẋ = M⁻¹ (…), where there is one
        let mut groups = Groups::new(nx);
        for (i, row) in masses.iter().enumerate() {
            row.within(0..nx).for_each(|(k, _)| {
                groups.join(i, k);
            });
        }
        let mut space = StateSpace {
            mass: (0..nx).map(Row::unit).collect(),
            rates: vec![Row::default(); nx],
            shift: vec![Row::default(); nx],
            excess: Vec::new(),
            columns,
            network,
        };
        let mut free = vec![false; nx]; // of equations that give ẋ
        for group in groups.sets() {
            let M = Matrix::from_vec(
                group.len(),
                group.len(),
                group
                    .iter()
                    .flat_map(|&i| group.iter().map(move |&k| (i, k)))
                    .map(|(i, k)| masses[i].get(k))
                    .collect(),
            );
            match inverse(&M) {
                Some(inverse) => {
                    for (k, &i) in group.iter().enumerate() {
                        for (l, &from) in group.iter().enumerate() {
                            space.rates[i].add(inverse[(k, l)], &right[from]);
                        }
                        free[i] = true;
                    }
                }
                None => {
                    // coupled entirely: the equations stay as they are, each brought to size 1
                    for &i in &group {
                        let size =
                            masses[i].terms().fold(0.0_f64, |most, (_, a)| most.max(a.abs()));
                        space.mass[i] =
                            masses[i].within(0..nx).map(|(k, a)| (k, a / size)).collect();
                        space.rates[i].add(1.0 / size, &right[i]);
                    }
                }
            }
        }
        space.shift_states(&free)?;
        space.find_excess(&reactive, &free)?;
        space.replace_states();
        Ok(space)
    }

    /// `S`: what `u̇` adds to `ẋ`.
    fn shift_states(&mut self, free: &[bool]) -> Result<(), CircuitError> {
        let places = self.columns.j.clone();
        for i in 0..free.len() {
            let shift: Row = self.rates[i].within(places.clone()).collect();
            if !shift.is_empty() && !free[i] {
                let others = culprits(
                    self.network.circuit,
                    &self.network.parts.branches,
                    self.network.excess.iter().copied(),
                );
                return Err(CircuitError::Reactive {
                    component: self.culprit(self.network.states[i]),
                    what: "cut-set",
                    others,
                    instead: "take a coefficient below 1",
                });
            }
            for (k, a) in shift.terms() {
                self.rates[i].add_term(places.start + k, -a);
            }
            self.shift[i] = shift;
        }
        Ok(())
    }

    /// `j` as a sum of states, multipliers, sources and their rates.
    fn find_excess(&mut self, reactive: &Reactive, free: &[bool]) -> Result<(), CircuitError> {
        let (nx, of) = (free.len(), &self.network.columns);
        for j in 0..reactive.q.len() {
            let mut row = Row::default();
            let mut add_rate = |a: f64, x: usize| {
                row.add(a, &self.rates[x]);
                self.shift[x]
                    .terms()
                    .for_each(|(k, s)| row.add_term(self.columns.j.start + k, a * s));
                free[x]
            };
            let mut known = true;
            let mut direct: Vec<(usize, f64)> = Vec::new();
            for (k, a) in reactive.L[nx + j].terms() {
                match k.checked_sub(nx) {
                    None => known &= add_rate(a, k),
                    Some(q) => {
                        let q = &reactive.q[q];
                        for (x, b) in q.within(of.x.clone()) {
                            known &= add_rate(a * b, x);
                        }
                        direct.extend(q.within(of.u.clone()).map(|(k, b)| (k, a * b)));
                    }
                }
            }
            direct.iter().for_each(|&(k, a)| row.add_term(self.columns.j.start + k, a));
            if !known {
                let k = self.network.excess[j];
                return Err(CircuitError::Reactive {
                    component: self.culprit(k),
                    what: "cut-set",
                    others: self.network.tree.cut_of(
                        self.network.circuit,
                        &self.network.parts.branches,
                        k,
                    ),
                    instead: "take a coefficient below 1",
                });
            }
            self.excess.push(row);
        }
        Ok(())
    }

    /// `x = z + S u` in what is there.
    fn replace_states(&mut self) {
        let rows = std::mem::take(&mut self.rates);
        self.rates = rows.iter().map(|row| self.shifted(row)).collect();
        let rows = std::mem::take(&mut self.excess);
        self.excess = rows.iter().map(|row| self.shifted(row)).collect();
    }

    fn shifted(&self, row: &Row) -> Row {
        let mut result = row.clone();
        for (i, a) in row.within(self.columns.x.clone()) {
            self.shift[i]
                .terms()
                .for_each(|(k, s)| result.add_term(self.columns.u.start + k, a * s));
        }
        result
    }

    /// A row of the network in terms of the new columns.
    pub fn complete(&self, row: &Row) -> Row {
        let of = &self.network.columns;
        let mut result = Row::default();
        for (place, a) in row.terms() {
            if of.j.contains(&place) {
                result.add(a, &self.excess[place - of.j.start]);
            } else if place == of.one {
                result.add_term(self.columns.one, a);
            } else {
                result.add_term(place, a);
                if of.x.contains(&place) {
                    let shift = self.shift[place - of.x.start].terms();
                    shift.for_each(|(k, s)| result.add_term(self.columns.u.start + k, a * s));
                }
            }
        }
        result
    }

    fn culprit(&self, branch: usize) -> Culprit {
        let component = self.network.parts.branches[branch].component;
        (&self.network.circuit.components[component]).into()
    }
}

impl Reactive {
    fn new(network: &Network<'_>) -> Result<Reactive, CircuitError> {
        let (branches, of) = (&network.parts.branches, &network.columns);
        let voltage = |k: usize| network.voltage(branches[k].between);
        let p = network.states.iter().map(|&k| match network.tree.taken[k] {
            true => network.current(k),
            false => voltage(k),
        });
        let p: Vec<Row> = p.collect();
        let mut q = Vec::new();
        for &k in &network.excess {
            let row = if network.tree.taken[k] { network.current(k) } else { voltage(k) };
            if row.within(of.lam.clone()).next().is_some()
                || row.within(of.j.clone()).next().is_some()
            {
                let (circuit, tree) = (network.circuit, &network.tree);
                let (what, others) = match tree.taken[k] {
                    true => ("cut-set", tree.cut_of(circuit, branches, k)),
                    false => ("loop", tree.loop_of(circuit, branches, k)),
                };
                let component: Culprit = (&circuit.components[branches[k].component]).into();
                let others = others.into_iter().filter(|other| *other != component).collect();
                let instead = "put a small resistor in between";
                return Err(CircuitError::Reactive { component, what, others, instead });
            }
            q.push(row);
        }
        Ok(Reactive { p, q, L: stores(network)? })
    }
}

/// `𝓛`: capacitances, inductances and what couplings add.
fn stores(network: &Network<'_>) -> Result<Vec<Row>, CircuitError> {
    let order: Vec<usize> = network.states.iter().chain(&network.excess).copied().collect();
    let mut rows: Vec<Row> = Vec::new();
    for (place, &k) in order.iter().enumerate() {
        let value = match network.parts.branches[k].kind {
            Kind::Capacitor(value, _) | Kind::Inductor(value, _) => value,
            _ => 0.0,
        };
        rows.push([(place, value)].into_iter().collect());
    }
    let circuit = network.circuit;
    let mut groups = Groups::new(circuit.components.len());
    for coupling in &circuit.couplings {
        let [a, b] = coupled(circuit, &network.parts.inductors, coupling)?;
        let place = |branch: usize| order.iter().position(|&k| k == branch).unwrap_or(0);
        let (i, k) = (place(a), place(b));
        let mutual = coupling.coefficient * (rows[i].get(i) * rows[k].get(k)).sqrt();
        rows[i].add_term(k, mutual);
        rows[k].add_term(i, mutual);
        groups.join(coupling.inductors[0], coupling.inductors[1]);
    }
    for group in groups.sets().iter().filter(|group| group.len() > 1) {
        let inductors = group.iter().filter_map(|&k| network.parts.inductors[k]);
        let places = inductors.filter_map(|branch| order.iter().position(|&k| k == branch));
        if !gives_no_energy(&rows, &places.collect::<Vec<_>>()) {
            let last = circuit.couplings.iter().rfind(|one| group.contains(&one.inductors[0]));
            let none = || Culprit { name: String::new(), place: None };
            return Err(CircuitError::Coupling {
                coupling: last.map_or_else(none, culprit),
                inductors: group.iter().map(|&k| (&circuit.components[k]).into()).collect(),
            });
        }
    }
    Ok(rows)
}

fn culprit(coupling: &Coupling) -> Culprit {
    Culprit { name: coupling.name.clone(), place: coupling.place.clone().map(Box::new) }
}

/// The branches of two inductors that are coupled.
fn coupled(
    circuit: &Circuit,
    inductors: &[Option<usize>],
    coupling: &Coupling,
) -> Result<[usize; 2], CircuitError> {
    let k = coupling.coefficient;
    if !(k.abs() <= 1.0 && k != 0.0) {
        let (what, allowed) = ("coefficient", "[-1, 1] and not 0");
        return Err(CircuitError::Value { component: culprit(coupling), what, value: k, allowed });
    }
    let mut branches = [0; 2];
    for (index, branch) in coupling.inductors.iter().zip(&mut branches) {
        let count = circuit.components.len();
        let Some(component) = circuit.components.get(*index) else {
            let component = culprit(coupling);
            return Err(CircuitError::NoComponent { component, index: *index, count });
        };
        *branch = inductors[*index].ok_or_else(|| CircuitError::WrongComponent {
            component: culprit(coupling),
            other: component.into(),
            expected: "an inductor",
        })?;
    }
    if branches[0] == branches[1] {
        let other = (&circuit.components[coupling.inductors[0]]).into();
        let expected = "two different inductors";
        return Err(CircuitError::WrongComponent { component: culprit(coupling), other, expected });
    }
    Ok(branches)
}

/// Whether no currents have a negative energy: Cholesky's factors of coefficients exist.
fn gives_no_energy(rows: &[Row], places: &[usize]) -> bool {
    let n = places.len();
    let own = |i: usize| rows[places[i]].get(places[i]).sqrt();
    let mut A = Matrix::zeros(n, n);
    for i in 0..n {
        for k in 0..n {
            A[(i, k)] = rows[places[i]].get(places[k]) / (own(i) * own(k));
        }
    }
    // elimination; a column without a pivot must be empty
    for i in 0..n {
        let pivot = A[(i, i)];
        if pivot < -1e-12 {
            return false;
        }
        if pivot <= 1e-12 {
            if (i + 1..n).any(|k| A[(i, k)].abs() > 1e-6) {
                return false;
            }
            continue;
        }
        for k in i + 1..n {
            let factor = A[(k, i)] / pivot;
            for l in i..n {
                let x = A[(i, l)];
                A[(k, l)] -= factor * x;
            }
        }
    }
    true
}

/// The inverse, if there is one: rows and columns may have any units.
fn inverse(M: &Matrix) -> Option<Matrix> {
    if saltus_linalg::left_null_projector(M).is_some() {
        return None;
    }
    let n = M.rows();
    if M.is_diagonal() {
        let diagonal: Vec<f64> = (0..n).map(|i| 1.0 / M[(i, i)]).collect();
        return Some(Matrix::diagonal(&diagonal));
    }
    let size = |i: usize| M.row(i).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let rows: Vec<f64> = (0..n).map(|i| 1.0 / size(i)).collect();
    let mut scaled = M.clone();
    for i in 0..n {
        for k in 0..n {
            scaled[(i, k)] *= rows[i];
        }
    }
    let mut factors = DenseLu::new(&scaled).ok()?;
    Some(factors.solve_matrix(&Matrix::diagonal(&rows)))
}
