//! From systems and interactions to the matrices of one step.
//!
//! All systems of one order stand one after the other in one state vector, all their
//! interactions one after the other in `y` and `λ`; relations become sparse matrices of the
//! whole, mass and iteration matrices stay one dense block a system.

use super::row::Sizes;
use crate::SimError;
use saltus_linalg::{DenseLu, LinearMap, Matrix, Sparse};
use saltus_model::{
    Dependence, Interaction, Law, Linear, Model, Order, StateVector, System, SystemId,
};
use saltus_numerics::Operator;
use std::ops::Range;

/// Where the systems and interactions of one order stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// Of each system of the model: its range in `x` or `v`, if it is of this order.
    pub systems: Vec<Option<Range<usize>>>,
    /// The same in `x` or `q`.
    pub configurations: Vec<Option<Range<usize>>>,
    /// Of each interaction of the model: its range of components, if it is of this order.
    pub interactions: Vec<Option<Range<usize>>>,
    /// Components of `x` or `v` in all.
    pub states: usize,
    /// Components of `x` or `q` in all.
    pub positions: usize,
    /// Interaction components in all.
    pub outputs: usize,
    /// Of each interaction of the model: which of the bonds it is, if it is one.
    pub bonds: Vec<Option<Range<usize>>>,
    /// Bonds in all.
    pub bond_count: usize,
}

impl Places {
    pub fn new(model: &Model, order: Order) -> Places {
        let (systems, interactions) = (model.systems().len(), model.interactions().len());
        let mut places = Places {
            systems: Vec::with_capacity(systems),
            configurations: Vec::with_capacity(systems),
            interactions: Vec::with_capacity(interactions),
            bonds: Vec::with_capacity(interactions),
            ..Places::default()
        };
        for (_, system) in model.systems() {
            let range = (system.order() == order).then(|| {
                let start = places.states;
                places.states += system.dim();
                start..places.states
            });
            places.systems.push(range);
            let range = (system.order() == order).then(|| {
                let start = places.positions;
                places.positions += system.dim_q();
                start..places.positions
            });
            places.configurations.push(range);
        }
        for (_, interaction) in model.interactions() {
            let range = (interaction.relation.order() == order).then(|| {
                let start = places.outputs;
                places.outputs += interaction.relation.size();
                start..places.outputs
            });
            places.interactions.push(range);
            let bond = interaction.relation.order() == order && interaction.law.is_bond();
            let start = places.bond_count;
            places.bond_count += usize::from(bond);
            places.bonds.push(bond.then_some(start..places.bond_count));
        }
        places
    }

    /// The sizes of a row.
    pub fn sizes(&self) -> Sizes {
        let Places { positions, states, outputs, bond_count: bonds, .. } = *self;
        Sizes { positions, states, outputs, bonds }
    }

    /// Where a vector of a state stands in its quantity.
    pub fn of(&self, system: usize, vector: StateVector) -> Option<Range<usize>> {
        let places = match vector {
            StateVector::Q => &self.configurations,
            StateVector::X | StateVector::V => &self.systems,
        };
        places.get(system).cloned().flatten()
    }

    /// The systems of this order with their ranges, and their position in the model.
    pub fn systems_of<'a>(
        &'a self,
        model: &'a Model,
    ) -> impl Iterator<Item = (usize, &'a str, &'a System, Range<usize>)> {
        let places = model.systems().zip(&self.systems).enumerate();
        places.filter_map(|(k, ((name, system), range))| Some((k, name, system, range.clone()?)))
    }

    /// The interactions of this order with their ranges.
    pub fn interactions_of<'a>(
        &'a self,
        model: &'a Model,
    ) -> impl Iterator<Item = (&'a str, &'a Interaction, Range<usize>)> {
        let places = model.interactions().zip(&self.interactions);
        places.filter_map(|((name, interaction), range)| Some((name, interaction, range.clone()?)))
    }

    /// The components of the interactions that link this system.
    pub fn outputs_of<'a>(
        &'a self,
        model: &'a Model,
        id: SystemId,
    ) -> impl Iterator<Item = Range<usize>> {
        self.interactions_of(model)
            .filter(move |(_, interaction, _)| interaction.systems.contains(&id))
            .map(|(_, _, range)| range)
    }

    /// Name of the interaction that component `index` of `λ` belongs to.
    pub fn owner_of(&self, model: &Model, index: usize) -> String {
        let mut added = self.outputs; // unknowns that laws add come after all outputs
        for (name, interaction, range) in self.interactions_of(model) {
            let more = match &interaction.law {
                Law::NormalCone { b, .. } => b.len(),
                _ => 0,
            };
            if range.contains(&index) || (added..added + more).contains(&index) {
                return format!("`{name}`");
            }
            added += more;
        }
        format!("component {index}")
    }
}

/// The relations of all interactions as one: `y = C x + D λ + e`, `r = B λ`.
#[derive(Debug, Clone)]
pub(crate) struct Relations {
    pub C: Sparse,
    pub B: Sparse,
    pub D: Sparse,
    pub e: Vec<f64>,
}

impl Relations {
    pub fn new(model: &Model, places: &Places) -> Relations {
        let (n, m) = (places.states, places.outputs);
        let (mut C, mut B, mut D) = (Vec::new(), Vec::new(), Vec::new());
        let mut e = vec![0.0; m];
        for (_, interaction, rows) in places.interactions_of(model) {
            let Some(relation) = interaction.relation.linear() else { continue };
            let columns: Vec<usize> = (interaction.systems.iter())
                .flat_map(|id| places.systems[id.index()].clone().unwrap_or(0..0))
                .collect();
            let output = relation.C;
            for (i, row) in rows.clone().enumerate() {
                for (j, &column) in columns.iter().enumerate() {
                    C.push((row, column, output[(i, j)]));
                    let input = relation.B.map_or(output[(i, j)], |input| input[(j, i)]);
                    B.push((column, row, input));
                }
                if let Some(through) = relation.D {
                    for (j, column) in rows.clone().enumerate() {
                        D.push((row, column, through[(i, j)]));
                    }
                }
                if let Some(offset) = relation.e {
                    e[row] = offset[i];
                }
            }
        }
        for triplets in [&mut C, &mut B, &mut D] {
            triplets.retain(|&(_, _, x)| x != 0.0);
        }
        Relations {
            C: Sparse::from_triplets(m, n, &C),
            B: Sparse::from_triplets(n, m, &B),
            D: Sparse::from_triplets(m, m, &D),
            e,
        }
    }
}

/// Entries of a matrix made of blocks, one a system.
#[derive(Debug, Default)]
pub(crate) struct Blocks(Vec<(usize, usize, f64)>);

impl Blocks {
    pub fn add(&mut self, range: &Range<usize>, block: &Matrix) {
        for i in 0..block.rows() {
            for (j, &x) in block.row(i).iter().enumerate() {
                if x != 0.0 {
                    self.0.push((range.start + i, range.start + j, x));
                }
            }
        }
    }

    /// Adds `scale W⁻¹ weight B` for the rows of one system: only the columns that touch it are
    /// computed.
    pub fn add_solution(
        &mut self,
        range: &Range<usize>,
        W: &mut DenseLu,
        weight: &Matrix,
        B: &Sparse,
        scale: f64,
    ) {
        let mut touched: Vec<usize> =
            range.clone().flat_map(|row| B.row(row).iter().map(|entry| entry.col)).collect();
        touched.sort_unstable();
        touched.dedup();
        let (mut input, mut column) = (vec![0.0; range.len()], vec![0.0; range.len()]);
        for j in touched {
            for (k, row) in range.clone().enumerate() {
                input[k] = scale * B.get(row, j);
            }
            weight.apply(&input, &mut column);
            W.solve(&mut column);
            for (k, row) in range.clone().enumerate() {
                if column[k] != 0.0 {
                    self.0.push((row, j, column[k]));
                }
            }
        }
    }

    pub fn sparse(&self, rows: usize, cols: usize) -> Sparse {
        Sparse::from_triplets(rows, cols, &self.0)
    }

    pub fn map(&self, n: usize) -> LinearMap {
        LinearMap::from_sparse(self.sparse(n, n))
    }
}

/// `D + C G`, dense or sparse, whichever the methods handle better.
pub(crate) fn problem_matrix(D: &Sparse, C: &Sparse, G: &Sparse) -> Operator {
    let product = C.mul(G);
    let m = product.rows();
    let entries: Vec<_> = product.iter().chain(D.iter()).collect();
    let matrix = Sparse::from_triplets(m, m, &entries);
    if m <= 64 || matrix.len() * 4 > m * m {
        Operator::Dense(matrix.to_dense())
    } else {
        Operator::Sparse(matrix)
    }
}

/// LU factors of a system's iteration matrix.
pub(crate) fn factor(
    system: &str,
    matrix: &'static str,
    h: f64,
    W: &Matrix,
) -> Result<DenseLu, SimError> {
    DenseLu::new(W).map_err(|source| SimError::Iteration {
        system: system.to_string(),
        matrix,
        h,
        source,
    })
}

/// The same into factors that are there.
pub(crate) fn factor_in(
    lu: &mut DenseLu,
    system: &str,
    h: f64,
    W: &Matrix,
) -> Result<(), SimError> {
    lu.factor(W).map_err(|source| SimError::Iteration {
        system: system.to_string(),
        matrix: "the Jacobian of the step",
        h,
        source,
    })
}

/// Whether all systems and relations of this order are linear with coefficients that stay the
/// same (first order: that change with time at most), so that the matrices of a step can be kept.
pub(crate) fn is_linear(model: &Model, order: Order) -> bool {
    not_linear(model, order).is_none()
}

/// Refuses laws that only Moreau–Jean knows: impacts on several contacts, and bonds.
pub(crate) fn check_laws(model: &Model, integrator: &'static str) -> Result<(), SimError> {
    let special = |law: &Law| law.is_bond() || matches!(law, Law::MultipleImpact { .. });
    match model.interactions().find(|(_, one)| special(&one.law)) {
        None => Ok(()),
        Some((name, interaction)) => {
            let owner = format!("`{name}`, law {}", interaction.law.name());
            let (what, needs) = ("the law", "one of the others; use moreau-jean for it");
            Err(SimError::Unsuited { integrator, owner, what, needs })
        }
    }
}

/// Refuses what the global form cannot be written for.
pub(crate) fn check_global(model: &Model) -> Result<(), SimError> {
    let mechanics = model.interactions().filter(|(_, one)| one.relation.order() == Order::Second);
    for (name, interaction) in mechanics {
        let (what, needs) = match &interaction.law {
            Law::NormalCone { .. } => ("the law", "no polyhedron in the global form"),
            law if law.is_bond() => ("the law", "no bond in the global form"),
            _ if interaction.relation.terms().through => {
                ("the relation", "rigid in the global form")
            }
            _ => continue,
        };
        let (integrator, owner) = ("moreau-jean", format!("`{name}`"));
        return Err(SimError::Unsuited { integrator, owner, what, needs });
    }
    Ok(())
}

/// Refuses restitution along tangents, for what has no velocity just before and just after an impact.
pub(crate) fn check_no_tangential_restitution(
    model: &Model,
    integrator: &'static str,
) -> Result<(), SimError> {
    let restores = |law: &Law| match law {
        Law::ImpactFriction { et, .. } => *et != 0.0,
        law => matches!(law, Law::Fremond { .. }),
    };
    match model.interactions().find(|(_, one)| restores(&one.law)) {
        None => Ok(()),
        Some((name, _)) => {
            let (owner, what) = (format!("`{name}`"), "the law");
            let needs = "without restitution along tangents; use moreau-jean or d1-minus-linear";
            Err(SimError::Unsuited { integrator, owner, what, needs })
        }
    }
}

/// Refuses springs and loads between systems, for what does not take the mean of a force.
pub(crate) fn check_no_forces(model: &Model, integrator: &'static str) -> Result<(), SimError> {
    let is_force = |one: &Interaction| one.relation.force_rule(0).is_some();
    match model.interactions().find(|(_, one)| is_force(one)) {
        None => Ok(()),
        Some((name, _)) => {
            let (owner, what) = (format!("`{name}`"), "the relation");
            let needs = "no spring, damper or load; use moreau-jean or generalized-alpha";
            Err(SimError::Unsuited { integrator, owner, what, needs })
        }
    }
}

/// Refuses bodies in space, for what moves configurations as vectors.
pub(crate) fn check_flat(model: &Model, integrator: &'static str) -> Result<(), SimError> {
    match model.systems().find(|(_, system)| system.dim_q() != system.dim()) {
        None => Ok(()),
        Some((name, _)) => {
            let (owner, what) = (format!("`{name}`"), "the configuration");
            let needs = "a vector, which that of a body in space is not; time-stepping with moreau-jean or generalized-alpha moves it";
            Err(SimError::Unsuited { integrator, owner, what, needs })
        }
    }
}

/// Refuses a model that is not linear, for a scheme that cannot do without.
pub(crate) fn check_linear(
    model: &Model,
    order: Order,
    integrator: &'static str,
) -> Result<(), SimError> {
    match not_linear(model, order) {
        None => Ok(()),
        Some((owner, what)) => {
            let (owner, needs) = (format!("`{owner}`"), "linear");
            Err(SimError::Unsuited { integrator, owner, what, needs })
        }
    }
}

/// The first system or interaction that is not linear.
fn not_linear(model: &Model, order: Order) -> Option<(&str, &'static str)> {
    let mut systems = model.systems().filter(|(_, system)| !match system {
        System::FirstOrder(system) if order == Order::First => {
            let depends = system.dependence();
            depends.mass.max(depends.jacobian).max(depends.forcing) <= Dependence::Time
        }
        System::SecondOrder(system) if order == Order::Second => {
            let depends = system.dependence();
            depends.mass.max(depends.jacobian) == Dependence::Constant
                && depends.forcing <= Dependence::Time
        }
        _ => true,
    });
    let linear = |relation: Option<Linear<'_>>| match (order, relation) {
        (_, None) => false,
        (Order::Second, Some(relation)) => relation.D.is_none(),
        (Order::First, Some(_)) => true,
    };
    let relations = model.interactions().filter(|(_, one)| one.relation.order() == order);
    let mut relations = relations.filter(|(_, one)| !linear(one.relation.linear()));
    let system = systems.next().map(|(name, _)| (name, "the system"));
    system.or_else(|| relations.next().map(|(name, _)| (name, "the relation")))
}
