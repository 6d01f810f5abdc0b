//! The laws between `y` and `λ`: a closed list that the numerics know in full.

use crate::{At, Bond, ModelError, Operator, OperatorError, Order, SharedLaw, UserLaw};
use saltus_linalg::Matrix;
use std::sync::Arc;

/// A law `−y ∈ N_K(λ)` (mechanics: with `u` for `y`), component by component unless it is one of
/// friction.
///
/// In mechanics the relation of a contact has the normal first, then the tangents, then the
/// rolling rates.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// `0 ≤ y ⟂ λ ≥ 0`: ideal diodes, unilateral constraints.
    Complementarity,
    /// `y = 0`, `λ` free (mechanics: `u = 0`): joints, algebraic equations.
    Equality,
    /// `λ = lower` where `y > 0`, `λ = upper` where `y < 0`, between them where `y = 0`
    /// (mechanics: `u` for `y`; the bounds are forces, `λ` is their impulse over the step).
    Relay {
        /// Least value of `λ`: one number for all components, or one each.
        lower: Vec<f64>,
        /// Largest value of `λ`, likewise.
        upper: Vec<f64>,
    },
    /// `(y, λ)` on a filled-in monotone graph through these points, `y` not decreasing and `λ`
    /// not increasing; the first and the last segment go on to infinity (mechanics: `u` for `y`;
    /// the graph gives a force, `λ` is its impulse over the step).
    PiecewiseLinear {
        /// Points `(y, λ)`.
        points: Vec<(f64, f64)>,
    },
    /// An ideal switch between circuits: `y = 0`, `λ` free while it is closed, `λ = 0`, `y` free
    /// while it is open. For first-order systems: `y` a voltage (less `R_on` times the current), `λ`
    /// the current.
    Switch {
        /// A formula of time, states, outputs and parameters, as in events, taken at the beginning of
        /// a step: `source.x[0]`, `'comparator'.y[0]`, `sin(t)`.
        control: String,
        /// It closes where the control is above this.
        on: f64,
        /// It opens where the control is below this; at most `on`.
        off: f64,
        /// Whether it is closed at the beginning.
        closed: bool,
    },
    /// `−y ∈ N_P(λ)` with the polyhedron `P = { λ : A λ ≤ b }`.
    NormalCone {
        /// One row a half-space.
        A: Matrix,
        /// One entry a half-space.
        b: Vec<f64>,
    },
    /// `0 ≤ u⁺ + e u⁻ ⟂ λ ≥ 0` where the gap is closed: contact without friction.
    NewtonImpact {
        /// Restitution in [0, 1].
        e: Coefficient,
    },
    /// Contact with restitution and Coulomb's friction, in the plane (two components) or in
    /// space (three):
    ///
    /// ```text
    /// 0 ≤ u_N⁺ + e u_N⁻ ⟂ λ_N ≥ 0,    ‖λ_T‖ ≤ μ λ_N,    λ_T against u_T⁺ + e_T u_T⁻ where it slips
    /// ```
    ImpactFriction {
        /// Restitution in [0, 1].
        e: Coefficient,
        /// Friction coefficient, not negative.
        mu: Coefficient,
        /// Tangential restitution in [−1, 1].
        et: f64,
    },
    /// The same with rolling resistance `‖λ_R‖ ≤ μ_r λ_N`, in the plane (three components) or in
    /// space (five).
    RollingFriction {
        /// Restitution in [0, 1].
        e: Coefficient,
        /// Friction coefficient, not negative.
        mu: Coefficient,
        /// Coefficient of rolling resistance, a length, not negative.
        mu_r: Coefficient,
    },
    /// Frémond's law: friction against the mean of the tangential velocities before and after,
    /// which never creates energy.
    ///
    /// ```text
    /// 0 ≤ u_N⁺ + e u_N⁻ ⟂ λ_N ≥ 0,    ‖λ_T‖ ≤ μ λ_N,    λ_T against (u_T⁺ + u_T⁻)/2 where it slips
    /// ```
    Fremond {
        /// Restitution in [0, 1].
        e: Coefficient,
        /// Friction coefficient, not negative.
        mu: Coefficient,
    },
    /// The law of Liu, Zhao and Brogliato for impacts on several closed contacts at once, without
    /// friction: each has a spring of force `K δ^η` that gives back the share `e²` of its energy,
    /// and the springs say how the impulse is shared. While no contact closes, `0 ≤ u⁺ ⟂ λ ≥ 0`.
    MultipleImpact {
        /// Energetic restitution in [0, 1].
        e: f64,
        /// `K`, positive; between contacts of one exponent only ratios count.
        stiffness: f64,
        /// `η`, at least 1: 1 for linear springs, 3/2 for Hertz' contact.
        exponent: f64,
    },
    /// A bond with damage (see [`Bond`]), and contact with friction where it is closed; one
    /// component, or two or three with friction. `β` is its memory:
    ///
    /// ```text
    /// λ = contact + h r(y, β),    0 ≤ u_N⁺ + e u_N⁻ ⟂ λ_N ≥ 0,    ‖λ_T‖ ≤ (1 − β) μ λ_N
    /// ```
    ///
    /// The interaction has its components twice: those of the contact, then those of the bond.
    Cohesive {
        /// The bond.
        bond: Bond,
        /// Restitution in [0, 1].
        e: Coefficient,
        /// Friction coefficient of the broken bond, not negative.
        mu: Coefficient,
    },
    /// A bond that pulls with a constant force until it opens too far, and contact with friction
    /// where it is closed; components as in [`Cohesive`](Law::Cohesive).
    ///
    /// ```text
    /// λ_N = contact − h f    while β = 1;    β = 0 for good once y_N > opening
    /// ```
    BinaryCohesive {
        /// `f`, the force of the bond, not negative.
        strength: f64,
        /// The gap beyond which the bond is broken, not negative.
        opening: f64,
        /// Restitution in [0, 1].
        e: Coefficient,
        /// Friction coefficient, not negative.
        mu: Coefficient,
    },
    /// `−y ∈ N_K(λ)` with a convex set of the user's own (see [`UserLaw`]).
    User(SharedLaw),
}

/// A coefficient of a law: a number, or a function of time `t`, configuration `q` and relative
/// velocity `v`, taken at the beginning of a step.
#[derive(Debug, Clone)]
pub enum Coefficient {
    /// The same always.
    Constant(f64),
    /// A 1 × 1 operator; `first` is the configuration of the linked systems, `second` the
    /// relative velocity `u`.
    Varying(Operator),
}

impl Coefficient {
    /// The value, which must be in the range of the coefficient.
    #[inline]
    pub fn eval(&self, at: At<'_>, what: &Range) -> Result<f64, OperatorError> {
        match self {
            Coefficient::Constant(value) => Ok(*value),
            Coefficient::Varying(operator) => {
                let mut value = [0.0];
                operator.eval(at, what.name, &mut value)?;
                if !what.holds(value[0]) {
                    let why = format!("is {}, expected a number in {}", value[0], what.allowed);
                    return Err(OperatorError { what: what.name.to_string(), time: at.t, why });
                }
                Ok(value[0])
            }
        }
    }
}

impl From<f64> for Coefficient {
    fn from(value: f64) -> Self {
        Coefficient::Constant(value)
    }
}

impl From<Operator> for Coefficient {
    fn from(operator: Operator) -> Self {
        match operator.as_constant().map(Matrix::data) {
            Some(&[value]) => Coefficient::Constant(value),
            _ => Coefficient::Varying(operator),
        }
    }
}

impl PartialEq for Coefficient {
    /// Functions are never equal, not even to themselves.
    fn eq(&self, other: &Self) -> bool {
        matches!((self, other), (Coefficient::Constant(a), Coefficient::Constant(b)) if a == b)
    }
}

/// What a coefficient may be.
#[derive(Debug)]
pub struct Range {
    name: &'static str,
    least: f64,
    most: f64,
    allowed: &'static str,
}

impl Range {
    /// Restitution.
    pub const E: Range = Range { name: "e", least: 0.0, most: 1.0, allowed: "[0, 1]" };
    /// Tangential restitution.
    pub const ET: Range = Range { name: "et", least: -1.0, most: 1.0, allowed: "[-1, 1]" };
    /// Friction.
    pub const MU: Range = Range { name: "mu", least: 0.0, most: f64::MAX, allowed: "[0, inf)" };
    /// Rolling resistance.
    pub const MU_R: Range = Range { name: "mu_r", least: 0.0, most: f64::MAX, allowed: "[0, inf)" };

    /// Stiffness of a contact or a bond.
    pub const STIFFNESS: Range = Range::positive("stiffness");
    /// Exponent of a force.
    pub const EXPONENT: Range =
        Range { name: "exponent", least: 1.0, most: f64::MAX, allowed: "[1, inf)" };
    /// Largest force of a bond.
    pub const STRENGTH: Range = Range::positive("strength");
    /// Tangential stiffness beside the normal one.
    pub const SHEAR: Range =
        Range { name: "shear", least: 0.0, most: f64::MAX, allowed: "[0, inf)" };
    /// Opening of a bond.
    pub const OPENING: Range =
        Range { name: "opening", least: 0.0, most: f64::MAX, allowed: "[0, inf)" };

    const fn positive(name: &'static str) -> Range {
        Range { name, least: f64::MIN_POSITIVE, most: f64::MAX, allowed: "(0, inf)" }
    }

    fn holds(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

impl Law {
    /// A relay with the same bounds for all components.
    pub fn relay(lower: f64, upper: f64) -> Law {
        Law::Relay { lower: vec![lower], upper: vec![upper] }
    }

    /// A switch that is open at the beginning, and closed while its control is above a threshold.
    pub fn switch(control: impl Into<String>, threshold: f64) -> Law {
        Law::Switch { control: control.into(), on: threshold, off: threshold, closed: false }
    }

    /// A contact without friction.
    pub fn newton_impact(e: impl Into<Coefficient>) -> Law {
        Law::NewtonImpact { e: e.into() }
    }

    /// A contact with friction, without tangential restitution.
    pub fn impact_friction(e: impl Into<Coefficient>, mu: impl Into<Coefficient>) -> Law {
        Law::ImpactFriction { e: e.into(), mu: mu.into(), et: 0.0 }
    }

    /// The law of several impacts at once, with Hertz' exponent.
    pub fn multiple_impact(e: f64, stiffness: f64) -> Law {
        Law::MultipleImpact { e, stiffness, exponent: 1.5 }
    }

    /// A bond with damage whose contact has friction `mu` and no restitution.
    pub fn cohesive(bond: Bond, mu: impl Into<Coefficient>) -> Law {
        Law::Cohesive { bond, e: 0.0.into(), mu: mu.into() }
    }

    /// A law of the user's own.
    pub fn user(law: impl UserLaw + 'static) -> Law {
        Law::User(SharedLaw(Arc::new(law)))
    }

    /// The law's name.
    pub fn name(&self) -> &'static str {
        match self {
            Law::Complementarity => "Complementarity",
            Law::Equality => "Equality",
            Law::Relay { .. } => "Relay",
            Law::PiecewiseLinear { .. } => "PiecewiseLinear",
            Law::Switch { .. } => "Switch",
            Law::NormalCone { .. } => "NormalCone",
            Law::NewtonImpact { .. } => "NewtonImpact",
            Law::ImpactFriction { .. } => "ImpactFriction",
            Law::RollingFriction { .. } => "RollingFriction",
            Law::Fremond { .. } => "Fremond",
            Law::MultipleImpact { .. } => "MultipleImpact",
            Law::Cohesive { .. } => "Cohesive",
            Law::BinaryCohesive { .. } => "BinaryCohesive",
            Law::User(_) => "User",
        }
    }

    /// The coefficients that are functions.
    pub(crate) fn operators(&self) -> Vec<&Operator> {
        let coefficients = match self {
            Law::NewtonImpact { e } => vec![e],
            Law::ImpactFriction { e, mu, .. }
            | Law::Fremond { e, mu }
            | Law::Cohesive { e, mu, .. }
            | Law::BinaryCohesive { e, mu, .. } => vec![e, mu],
            Law::RollingFriction { e, mu, mu_r } => vec![e, mu, mu_r],
            _ => Vec::new(),
        };
        let varying = coefficients.into_iter().filter_map(|coefficient| match coefficient {
            Coefficient::Varying(operator) => Some(operator),
            Coefficient::Constant(_) => None,
        });
        varying.collect()
    }

    /// Whether it speaks of contacts, which only act where the gap is closed.
    pub fn is_contact(&self) -> bool {
        matches!(
            self,
            Law::NewtonImpact { .. }
                | Law::ImpactFriction { .. }
                | Law::RollingFriction { .. }
                | Law::Fremond { .. }
                | Law::MultipleImpact { .. }
                | Law::Cohesive { .. }
                | Law::BinaryCohesive { .. }
        )
    }

    /// Whether it is a contact without friction, component by component.
    pub fn is_normal(&self) -> bool {
        matches!(self, Law::NewtonImpact { .. } | Law::MultipleImpact { .. })
    }

    /// Whether it holds its surfaces together by a bond, whose memory is `β`.
    pub fn is_bond(&self) -> bool {
        matches!(self, Law::Cohesive { .. } | Law::BinaryCohesive { .. })
    }

    /// Finds what is wrong with the law on a relation of this order and size; `compliant` says
    /// whether its output depends on `λ`.
    pub(crate) fn check(
        &self,
        name: &str,
        order: Order,
        size: usize,
        compliant: bool,
    ) -> Result<(), ModelError> {
        let mismatch = |instead| {
            let (name, law, relation) = (name.to_string(), self.name(), order.name());
            Err(ModelError::LawMismatch { name, law, relation, instead })
        };
        let owner = format!("interaction `{name}`, law {}", self.name());
        if self.is_contact() && order == Order::First {
            return mismatch("use Complementarity, or a Lagrangian system");
        }
        if *self == Law::Complementarity && order == Order::Second && !compliant {
            return mismatch("use NewtonImpact(e=0) for a contact");
        }
        if matches!(self, Law::Switch { .. }) && order == Order::Second {
            return mismatch("use Equality, and events that connect it");
        }
        // the laws of contacts are on velocities, a compliance on the gap
        if self.is_contact() && compliant {
            return mismatch("use Complementarity, or a relation without compliance");
        }
        let constant = |value: f64, range| check_range(&owner, &value.into(), range);
        match self {
            Law::Equality | Law::Complementarity => Ok(()),
            Law::Relay { lower, upper } => check_bounds(&owner, lower, upper, size),
            Law::PiecewiseLinear { points } => check_points(&owner, points),
            Law::Switch { on, off, .. } => {
                let (what, value, allowed) = match (on.is_finite(), off.is_finite() && off <= on) {
                    (true, true) => return Ok(()),
                    (false, _) => ("on", *on, "(-inf, inf)"),
                    (_, false) => ("off", *off, "(-inf, on]"),
                };
                Err(ModelError::Range { owner, what, value, allowed })
            }
            Law::NormalCone { A, b } => {
                let why = "components of the relation";
                crate::check::not_empty(&owner, "A", A.rows())?;
                crate::check::matrix(&owner, "A", A, (A.rows(), size), why)?;
                crate::check::vector(&owner, "b", b, A.rows(), "rows of `A`")
            }
            Law::NewtonImpact { e } => check_range(&owner, e, &Range::E),
            Law::ImpactFriction { e, mu, et } => {
                check_size(&owner, size, &[2, 3])?;
                check_range(&owner, e, &Range::E)?;
                check_range(&owner, mu, &Range::MU)?;
                check_range(&owner, &Coefficient::Constant(*et), &Range::ET)
            }
            Law::RollingFriction { e, mu, mu_r } => {
                check_size(&owner, size, &[3, 5])?;
                check_range(&owner, e, &Range::E)?;
                check_range(&owner, mu, &Range::MU)?;
                check_range(&owner, mu_r, &Range::MU_R)
            }
            Law::Fremond { e, mu } => {
                check_size(&owner, size, &[2, 3])?;
                check_range(&owner, e, &Range::E)?;
                check_range(&owner, mu, &Range::MU)
            }
            Law::MultipleImpact { e, stiffness, exponent } => {
                constant(*e, &Range::E)?;
                constant(*stiffness, &Range::STIFFNESS)?;
                constant(*exponent, &Range::EXPONENT)
            }
            Law::Cohesive { bond, e, mu } => {
                if size != 1 {
                    check_size(&owner, size, &[2, 3])?;
                }
                check_range(&owner, e, &Range::E)?;
                check_range(&owner, mu, &Range::MU)?;
                constant(bond.stiffness, &Range::STIFFNESS)?;
                constant(bond.strength, &Range::STRENGTH)?;
                constant(bond.shear, &Range::SHEAR)?;
                match bond.last_opening() > bond.first_opening() && bond.energy.is_finite() {
                    true => Ok(()),
                    false => {
                        let (what, value) = ("energy", bond.energy);
                        let allowed = "(strength^2/(2 stiffness), inf)";
                        Err(ModelError::Range { owner, what, value, allowed })
                    }
                }
            }
            Law::BinaryCohesive { strength, opening, e, mu } => {
                if size != 1 {
                    check_size(&owner, size, &[2, 3])?;
                }
                check_range(&owner, e, &Range::E)?;
                check_range(&owner, mu, &Range::MU)?;
                constant(*strength, &Range::STRENGTH)?;
                constant(*opening, &Range::OPENING)
            }
            Law::User(law) => {
                let (found, expected) = (law.0.size(), size);
                if found == expected {
                    return Ok(());
                }
                let (what, why) = ("size", "components of the relation".to_string());
                Err(ModelError::Length { owner, what, found, expected, why })
            }
        }
    }
}

fn check_range(owner: &str, value: &Coefficient, range: &Range) -> Result<(), ModelError> {
    match value {
        &Coefficient::Constant(value) if !range.holds(value) => {
            let (owner, what, allowed) = (owner.to_string(), range.name, range.allowed);
            Err(ModelError::Range { owner, what, value, allowed })
        }
        Coefficient::Constant(_) => Ok(()),
        Coefficient::Varying(operator) => {
            crate::check::vector_operator(owner, range.name, operator, 1, "one number")
        }
    }
}

/// The relation of a contact has one of these sizes.
fn check_size(owner: &str, found: usize, sizes: &[usize; 2]) -> Result<(), ModelError> {
    if sizes.contains(&found) {
        return Ok(());
    }
    let (owner, [plane, space]) = (owner.to_string(), *sizes);
    Err(ModelError::ContactSize { owner, found, plane, space })
}

fn check_points(owner: &str, points: &[(f64, f64)]) -> Result<(), ModelError> {
    let fail = |index: usize, why| {
        let (owner, point) = (owner.to_string(), points.get(index).copied());
        Err(ModelError::Points { owner, index, point, why })
    };
    for (i, point) in points.iter().enumerate() {
        if !(point.0.is_finite() && point.1.is_finite()) {
            return fail(i, "is not finite");
        }
        if i > 0 && (point.0 < points[i - 1].0 || point.1 > points[i - 1].1) {
            return fail(i, "goes back: y must not decrease, lam not increase");
        }
    }
    if points.iter().all(|point| *point == points[0]) {
        return fail(points.len(), "is missing: a graph needs two different points");
    }
    Ok(())
}

fn check_bounds(owner: &str, lower: &[f64], upper: &[f64], size: usize) -> Result<(), ModelError> {
    for (what, bound) in [("lower", lower), ("upper", upper)] {
        if bound.len() != 1 && bound.len() != size {
            let why = "one bound for all components, or one each".to_string();
            let (owner, found) = (owner.to_string(), bound.len());
            return Err(ModelError::Length { owner, what, found, expected: size, why });
        }
        if let Some(i) = bound.iter().position(|x| x.is_nan()) {
            let (owner, value, allowed) = (owner.to_string(), bound[i], "[-inf, inf]");
            return Err(ModelError::Range { owner, what, value, allowed });
        }
    }
    for i in 0..size {
        let (l, u) = (lower[i.min(lower.len() - 1)], upper[i.min(upper.len() - 1)]);
        if l > u || l == f64::INFINITY || u == f64::NEG_INFINITY {
            return Err(ModelError::Range {
                owner: owner.to_string(),
                what: "lower",
                value: l,
                allowed: "(-inf, upper]",
            });
        }
    }
    Ok(())
}
