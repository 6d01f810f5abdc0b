//! The laws between `y` and `λ`: a closed list that the numerics know in full.

use crate::{ModelError, Order};

/// A law `−y ∈ N_K(λ)`, component by component (mechanics: with `u` for `y`).
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
    /// `0 ≤ u⁺ + e u⁻ ⟂ λ ≥ 0` where the gap is closed: contact without friction.
    NewtonImpact {
        /// Restitution in [0, 1].
        e: f64,
    },
}

impl Law {
    /// A relay with the same bounds for all components.
    pub fn relay(lower: f64, upper: f64) -> Law {
        Law::Relay { lower: vec![lower], upper: vec![upper] }
    }

    /// The law's name.
    pub fn name(&self) -> &'static str {
        match self {
            Law::Complementarity => "Complementarity",
            Law::Equality => "Equality",
            Law::Relay { .. } => "Relay",
            Law::NewtonImpact { .. } => "NewtonImpact",
        }
    }

    /// Finds what is wrong with the law on a relation of this order and size.
    pub(crate) fn check(&self, name: &str, order: Order, size: usize) -> Result<(), ModelError> {
        let mismatch = |instead| {
            let (name, law, relation) = (name.to_string(), self.name(), order.name());
            Err(ModelError::LawMismatch { name, law, relation, instead })
        };
        let owner = || format!("interaction `{name}`, law {}", self.name());
        match (self, order) {
            (Law::Complementarity, Order::Second) => {
                mismatch("use NewtonImpact(e=0) for a contact")
            }
            (Law::NewtonImpact { .. }, Order::First) => {
                mismatch("use Complementarity, or a Lagrangian system")
            }
            (Law::NewtonImpact { e }, Order::Second) if !(0.0..=1.0).contains(e) => {
                Err(ModelError::Range { owner: owner(), what: "e", value: *e, allowed: "[0, 1]" })
            }
            (Law::Relay { lower, upper }, _) => check_bounds(&owner(), lower, upper, size),
            _ => Ok(()),
        }
    }
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
