//! Relative degrees: how often an output must be differentiated until its multiplier appears.
//!
//! With the systems of an interaction as `M ẋ = J x + B λ`, `y = C x + D λ` at the initial state, a
//! component of `y` has the degree of the first of these rows that is not zero:
//!
//! ```text
//! D,    C M⁻¹ B,    C M⁻¹ J M⁻¹ B                                                     (1)
//! ```
//!
//! Where `M` is singular, it is the power with which `D + C (s M − J)⁻¹ B` falls for large `s`. Of
//! mechanics a gap has degree 2, a relative velocity 1; one that gives way, `y = h(q, λ)`, has 0.

use super::EventDriven;
use crate::SimError;
use saltus_linalg::{DenseLu, Matrix};
use saltus_model::{At, Interaction, Law, Model, OperatorError, Order, Relation, System};

/// The relative degrees of an interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeDegree {
    /// Its name.
    pub interaction: String,
    /// Of each component of what its law looks at; nothing where the multiplier does not appear in
    /// two derivatives.
    pub degrees: Vec<Option<usize>>,
}

/// Relative to the sizes of what is multiplied, zero.
const ZERO: f64 = 1e-12;

/// The relative degrees of all interactions of a model, at its initial state.
///
/// ```
/// use saltus_model::{LagrangianLinear, LagrangianLinearRelation, Law, Model};
/// use saltus_sim::relative_degrees;
///
/// let mut model = Model::new("ball");
/// let ball = model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]))?;
/// model.connect("floor", LagrangianLinearRelation::new([[1.0]]), Law::newton_impact(0.5), &[ball])?;
/// assert_eq!(relative_degrees(&model)?[0].degrees, [Some(2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn relative_degrees(model: &Model) -> Result<Vec<RelativeDegree>, SimError> {
    let one = |(name, interaction): (&str, &Interaction)| {
        let named = |error: OperatorError| error.of(name);
        let degrees = match interaction.relation.order() {
            Order::First => of_states(model, interaction).map_err(named)?,
            Order::Second => of_motion(model, interaction).map_err(named)?,
        };
        Ok(RelativeDegree { interaction: name.to_string(), degrees })
    };
    model.interactions().map(one).collect()
}

impl EventDriven {
    /// The relative degrees of all interactions, at the initial state: see [`relative_degrees`].
    pub fn relative_degrees(&self) -> Result<Vec<RelativeDegree>, SimError> {
        relative_degrees(&self.model)
    }
}

/// Of first-order systems: (1).
fn of_states(
    model: &Model,
    interaction: &Interaction,
) -> Result<Vec<Option<usize>>, OperatorError> {
    let relation = &*interaction.relation;
    let systems = interaction.systems.iter().filter_map(|id| model.system(*id).ok());
    let systems = systems.filter_map(|system| match system {
        System::FirstOrder(system) => Some(system),
        System::SecondOrder(_) => None,
    });
    let systems: Vec<_> = systems.collect();
    let x: Vec<f64> = systems.iter().flat_map(|system| system.x0().iter().copied()).collect();
    let (n, m) = (x.len(), relation.size());
    let (mut M, mut J) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    let mut first = 0;
    for system in systems {
        let at = At::new(model.t0(), system.x0(), &[]).with(system.z0());
        let mut block = Matrix::default();
        system.mass(at, &mut block)?;
        put(&mut M, &block, first);
        system.rhs_dx(at, &mut block)?;
        put(&mut J, &block, first);
        first += system.dim();
    }
    let (C, D) = derivatives(relation, model.t0(), &x)?;
    let mut B = Matrix::zeros(n, m);
    if let Some(input) = relation.input() {
        let lam = vec![0.0; m];
        input.dlam(At::new(model.t0(), &x, &lam).with(relation.z0()), &mut B)?;
    }
    let mut degrees: Vec<Option<usize>> =
        (0..m).map(|i| nonzero(&D, i, 0.0).then_some(0)).collect();
    let mut note = |degree: usize, reached: &Matrix, size: f64| {
        for (i, known) in degrees.iter_mut().enumerate().filter(|(_, known)| known.is_none()) {
            *known = nonzero(reached, i, ZERO * size).then_some(degree);
        }
    };
    match DenseLu::new(&M) {
        Ok(mut lu) => {
            let reached = lu.solve_matrix(&B);
            note(1, &product(&C, &reached), largest(&C) * largest(&reached));
            let turned = product(&J, &reached);
            let reached = lu.solve_matrix(&turned);
            note(2, &product(&C, &reached), largest(&C) * largest(&reached));
        }
        Err(_) => {
            let s = 1e6 * largest(&J).max(f64::MIN_POSITIVE) / largest(&M).max(f64::MIN_POSITIVE);
            let Some((near, far)) = falling(&M, &J, &B, s).zip(falling(&M, &J, &B, 10.0 * s))
            else {
                return Ok(degrees);
            };
            let (near, far) = (product(&C, &near), product(&C, &far));
            for (i, known) in degrees.iter_mut().enumerate().filter(|(_, known)| known.is_none()) {
                let size = |G: &Matrix| G.row(i).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                let power = (size(&near) / size(&far)).log10().round();
                *known = (0.0..=2.0).contains(&power).then_some(power as usize);
            }
        }
    }
    Ok(degrees)
}

/// Of mechanical systems.
fn of_motion(
    model: &Model,
    interaction: &Interaction,
) -> Result<Vec<Option<usize>>, OperatorError> {
    let relation = &*interaction.relation;
    let mut q = Vec::new();
    for id in &interaction.systems {
        if let Ok(System::SecondOrder(system)) = model.system(*id) {
            q.extend_from_slice(system.q0());
        }
    }
    let (H, D) = derivatives(relation, model.t0(), &q)?;
    let law = &interaction.law;
    let on_gap = law.is_contact() || matches!(law, Law::Equality);
    let degree = if on_gap && !relation.terms().velocity { 2 } else { 1 };
    let of = |i: usize| match nonzero(&D, i, 0.0) {
        true => Some(0),
        false => nonzero(&H, i, 0.0).then_some(degree),
    };
    Ok((0..relation.size()).map(of).collect())
}

/// `C`, or `H`, and `D`.
fn derivatives(
    relation: &dyn Relation,
    t: f64,
    x: &[f64],
) -> Result<(Matrix, Matrix), OperatorError> {
    let lam = vec![0.0; relation.size()];
    let at = At::new(t, x, &lam).with(relation.z0());
    let (mut C, mut D) = (Matrix::default(), Matrix::zeros(lam.len(), lam.len()));
    relation.output_dx(at, &mut C)?;
    if relation.terms().through {
        relation.output_dlam(at, &mut D)?;
    }
    Ok((C, D))
}

/// `(s M − J)⁻¹ B`.
fn falling(M: &Matrix, J: &Matrix, B: &Matrix, s: f64) -> Option<Matrix> {
    let mut shifted = J.clone();
    for i in 0..M.rows() {
        for j in 0..M.cols() {
            shifted[(i, j)] = s * M[(i, j)] - J[(i, j)];
        }
    }
    Some(DenseLu::new(&shifted).ok()?.solve_matrix(B))
}

fn put(all: &mut Matrix, block: &Matrix, first: usize) {
    for i in 0..block.rows() {
        for (j, x) in block.row(i).iter().enumerate() {
            all[(first + i, first + j)] = *x;
        }
    }
}

fn product(A: &Matrix, B: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(A.rows(), B.cols());
    for i in 0..A.rows() {
        for (k, a) in A.row(i).iter().enumerate().filter(|(_, a)| **a != 0.0) {
            for j in 0..B.cols() {
                out[(i, j)] += a * B[(k, j)];
            }
        }
    }
    out
}

fn largest(A: &Matrix) -> f64 {
    (0..A.rows()).flat_map(|i| A.row(i)).fold(0.0, |a: f64, b| a.max(b.abs()))
}

fn nonzero(A: &Matrix, row: usize, least: f64) -> bool {
    A.row(row).iter().any(|x| x.abs() > least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_model::{
        FirstOrderLinear, FirstOrderLinearRelation, LagrangianLinear, LagrangianLinearRelation,
    };

    #[track_caller]
    fn check(model: &Model, expected: &[Option<usize>]) {
        assert_eq!(relative_degrees(model).unwrap()[0].degrees, expected);
    }

    /// `ẋ₁ = x₂, ẋ₂ = x₃, ẋ₃ = λ`, looked at by its components.
    #[test]
    fn of_a_chain_of_integrators() {
        let A = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]];
        for (C, D, expected) in [
            ([0.0, 0.0, 1.0], 0.5, Some(0)),
            ([0.0, 0.0, 1.0], 0.0, Some(1)),
            ([0.0, 1.0, 0.0], 0.0, Some(2)),
            ([1.0, 0.0, 0.0], 0.0, None),
        ] {
            let mut model = Model::new("chain");
            let id = model.add("chain", FirstOrderLinear::new([0.0; 3], A)).unwrap();
            let relation = FirstOrderLinearRelation::new([C], [[0.0], [0.0], [1.0]]).D([[D]]);
            model.connect("law", relation, Law::Complementarity, &[id]).unwrap();
            check(&model, &[expected]);
        }
    }

    /// A resistor with a state of its own, `0 = x₂ − λ`, beside a capacitor.
    #[test]
    fn with_a_singular_mass() {
        let mut model = Model::new("circuit");
        let system = FirstOrderLinear::new([1.0, 0.0], [[0.0, -1.0], [0.0, 1.0]]);
        let id = model.add("circuit", system.M([[1.0, 0.0], [0.0, 0.0]])).unwrap();
        let relation =
            FirstOrderLinearRelation::new([[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [-1.0, -1.0]]);
        model.connect("diodes", relation, Law::Complementarity, &[id]).unwrap();
        check(&model, &[Some(0), Some(1)]);
    }

    #[test]
    fn of_contacts_friction_and_joints() {
        for (law, expected) in
            [(Law::newton_impact(0.5), 2), (Law::Equality, 2), (Law::relay(-1.0, 1.0), 1)]
        {
            let mut model = Model::new("ball");
            let ball = model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]])).unwrap();
            model.connect("floor", LagrangianLinearRelation::new([[1.0]]), law, &[ball]).unwrap();
            check(&model, &[Some(expected)]);
        }
    }
}
