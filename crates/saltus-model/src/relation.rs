//! What a strategy sees of a relation.

use crate::{At, Jacobian, Line, ModelError, Operator, OperatorError, Order, System};
use saltus_linalg::Matrix;
use std::fmt::Debug;

/// A relation between the state of its systems and the local pair `(y, λ)`.
///
/// ```text
/// first order:  y = h(t, x, λ),    r = g(t, x, λ)
/// Lagrangian:   y = h(t, q, λ),    p = Hᵀ λ,    u = ẏ = H v + ∂h/∂t,    H = ∂h/∂q T
/// ```
///
/// `T` is the identity but for bodies, see [`SecondOrderSystem`](crate::SecondOrderSystem).
/// With several systems `x` (or `q`) is their states one after the other. Where it is evaluated,
/// `first` is `x` or `q`, `second` is `λ`.
pub trait Relation: Debug + Send + Sync {
    /// Order of the systems it speaks about.
    fn order(&self) -> Order;
    /// Number of components of `y` and `λ`.
    fn size(&self) -> usize;
    /// How many systems it links at most, up to [`MOST_LINKED`].
    fn most_systems(&self) -> usize {
        2
    }
    /// The inputs `z` until they are set.
    fn z0(&self) -> &[f64] {
        &[]
    }
    /// The relation in one piece, if it is linear with coefficients that never change, but for its
    /// offset.
    fn linear(&self) -> Option<Linear<'_>> {
        None
    }
    /// `y` at `x = 0`, `λ = 0`, of a linear relation.
    fn offset(&self, t: f64, e: &mut [f64]) -> Result<(), OperatorError> {
        let _ = t;
        match self.linear().and_then(|linear| linear.e) {
            Some(value) => e.copy_from_slice(value),
            None => e.fill(0.0),
        }
        Ok(())
    }
    /// Where that is a straight line from `t` on, see [`Function::line`](crate::Function::line).
    fn offset_line(&self, t: f64, at: &mut [f64], rate: &mut [f64]) -> Option<Line> {
        let _ = (t, at, rate);
        None
    }
    /// What there is besides `h` and `∂h/∂x`.
    fn terms(&self) -> Terms;
    /// Whether [`output_dx`](Self::output_dx) has a column for each component of the velocities, and
    /// is `H` itself, where bodies have more components of `q`. Else it is `∂h/∂q`, and a model
    /// multiplies it by `T`.
    fn is_in_velocities(&self) -> bool {
        false
    }
    /// How far `H` may be off, relative to its entries: zero where it is exact, or given.
    fn noise(&self) -> f64 {
        0.0
    }
    /// A size of `y` that counts: how far an output is off is told relative to its terms, or to this
    /// where they are smaller.
    fn unit(&self) -> f64 {
        0.0
    }
    /// `y = h(t, x, λ)`.
    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError>;
    /// `∂h/∂x`: one row a component, one column a state component.
    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError>;
    /// `y` and `∂h/∂x` together. `work` is memory.
    fn output_and_dx(
        &self,
        at: At<'_>,
        y: &mut [f64],
        C: &mut Matrix,
        work: &mut Vec<f64>,
    ) -> Result<(), OperatorError> {
        let _ = work;
        self.output(at, y)?;
        self.output_dx(at, C)
    }
    /// `h` and then `∂h/∂x`, row by row, as one operator that can be joined with those of other
    /// relations on the same systems, where they are formulas.
    fn output_with_dx(&self) -> Option<&Operator> {
        None
    }
    /// `∂h/∂λ`, where there is one.
    fn output_dlam(&self, at: At<'_>, D: &mut Matrix) -> Result<(), OperatorError>;
    /// `∂h/∂t`, where there is one.
    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError>;
    /// How a component that stands for a force, `y = h(t, q, λ)` with the force `λ`, is taken over a
    /// step; nothing where its law is on the output at the end.
    fn force_rule(&self, component: usize) -> Option<ForceRule> {
        let _ = component;
        None
    }
    /// How `λ` acts; nothing where it is `p = Hᵀ λ`.
    fn input(&self) -> Option<&dyn Input> {
        None
    }
    /// The operators that a step evaluates, to be made ready before the first.
    fn operators(&self) -> Vec<&Operator> {
        Vec::new()
    }
    /// Its Jacobians, to be compared with differences; none where they cannot be wrong.
    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        Vec::new()
    }
    /// Finds what is wrong with the relation on these systems.
    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError>;
}

/// Systems that any relation links at most: those of two joints.
pub const MOST_LINKED: usize = 4;

/// How the multiplier of a first-order relation acts: `r = g(t, x, λ)`.
pub trait Input {
    /// `g`.
    fn value(&self, at: At<'_>, r: &mut [f64]) -> Result<(), OperatorError>;
    /// `∂g/∂λ`: one row a state component, one column a component of `λ`.
    fn dlam(&self, at: At<'_>, B: &mut Matrix) -> Result<(), OperatorError>;
    /// `∂g/∂x`, where there is one.
    fn dx(&self, at: At<'_>, K: &mut Matrix) -> Result<(), OperatorError>;
}

/// What becomes a relation once it is known which systems it links.
pub trait IntoRelation {
    /// The relation.
    type Relation: Relation + 'static;
    /// The relation on these systems.
    fn complete(self, linked: Linked<'_>) -> Self::Relation;
}

/// The systems that a relation links.
#[derive(Debug, Clone, Copy)]
pub struct Linked<'a>(&'a [&'a System]);

impl<'a> Linked<'a> {
    /// These systems.
    pub fn new(systems: &'a [&'a System]) -> Self {
        Linked(systems)
    }

    /// One after the other.
    pub fn systems(self) -> impl ExactSizeIterator<Item = &'a System> {
        self.0.iter().copied()
    }

    /// Components of `x` or `q` in all.
    pub fn states(self) -> usize {
        self.0.iter().map(|system| system.dim_q()).sum()
    }

    /// Components of `x` or `v` in all.
    pub fn dofs(self) -> usize {
        self.0.iter().map(|system| system.dim()).sum()
    }

    /// Whether there are bodies in space among them, with more components of `q` than of `v`.
    pub fn is_curved(self) -> bool {
        self.0.iter().any(|system| system.dim_q() != system.dim())
    }
}

impl<R: Relation + 'static> IntoRelation for R {
    type Relation = R;

    fn complete(self, _: Linked<'_>) -> R {
        self
    }
}

/// A relation that is linear with coefficients that never change, but for its offset.
///
/// ```text
/// y = C x + D λ + e(t),    r = B λ
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    /// `C`, or `H`.
    pub C: &'a Matrix,
    /// `B`; nothing where it is `C` transposed.
    pub B: Option<&'a Matrix>,
    /// `D`; nothing where it is zero.
    pub D: Option<&'a Matrix>,
    /// `e`; nothing where it is zero.
    pub e: Option<&'a [f64]>,
    /// Whether `e` moves with time instead, see [`Relation::offset`].
    pub moves: bool,
}

/// How a force is taken over a step from `t` to `t⁺`, whose mean output is `ȳ = θ y⁺ + (1 − θ) y`.
///
/// ```text
/// spring with a damper:    the law is on ȳ + T (y⁺ − y)/h                                   (1)
/// load:                    the law is on ȳ, which depends on t and λ alone                  (2)
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ForceRule {
    /// (1) with the time of retardation `T`, damping over stiffness.
    Spring {
        /// `T`, not negative.
        retardation: f64,
    },
    /// (2).
    Load,
}

/// What a relation has besides `h` and `∂h/∂x`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// `h` depends on `λ`.
    pub through: bool,
    /// `h` depends on `t`.
    pub time: bool,
    /// `g` depends on `x`.
    pub feedback: bool,
    /// It speaks of velocities alone: `u` is all there is, and `y` means nothing.
    pub velocity: bool,
}
