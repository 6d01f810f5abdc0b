//! Charges that are no straight lines of their voltage.

use super::BaseCharge;
use crate::JunctionCharge;

/// `λ = q̇` with `q = C₀ Q(v) + τ i/q_B`, through a state `s = q/C` of its own:
///
/// ```text
/// 0 = φ = q(v, i)/C − s,    C ṡ = λ
/// ```
///
/// `w` is `(v, s)`, then `i` where there is a transit time `τ`, or `(v_BE, v_BC, i_F, i_R)` where the
/// charge of the base counts too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charge {
    capacitance: f64,
    shape: JunctionCharge,
    transit: f64,
    base: Option<BaseCharge>,
    unit: f64, // C
}

/// Conductance of a junction that carries some current, with which a transit time is a capacitance.
const CONDUCTANCE: f64 = 1e-2;

impl Charge {
    /// `C₀`, the shape of `Q`, `τ`, and the charge of the base.
    pub fn new(
        capacitance: f64,
        shape: JunctionCharge,
        transit: f64,
        base: Option<BaseCharge>,
    ) -> Charge {
        let unit = capacitance.max(CONDUCTANCE * transit);
        Charge { capacitance, shape, transit, base, unit }
    }

    /// `C`.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// `φ` and its slopes.
    pub fn equation(&self, w: &[f64], dw: &mut [f64]) -> f64 {
        let (stored, slope) = self.shape.charge(w[0]);
        let mut y = self.capacitance / self.unit * stored - w[1];
        dw[0] = self.capacitance / self.unit * slope;
        dw[1] = -1.0;
        let share = self.transit / self.unit;
        match (&self.base, w) {
            (Some(base), &[_, _, v_be, v_bc, i_f, i_r]) => {
                let (moved, slopes) = base.share([share, 0.0], [v_be, v_bc, i_f, i_r]);
                y += moved;
                dw[2..].copy_from_slice(&slopes);
            }
            (_, &[_, _, i]) => {
                y += share * i;
                dw[2] = share;
            }
            _ => {}
        }
        y
    }
}

impl JunctionCharge {
    /// `Q(v)`, the charge for a capacitance of 1 at no voltage, and its slope:
    ///
    /// ```text
    /// v < f φ:   φ/(1 − m) (1 − (1 − v/φ)^(1−m))        slope (1 − v/φ)^−m
    /// ```
    ///
    /// and beyond `f φ` the parabola with the slope and the curvature there.
    fn charge(&self, v: f64) -> (f64, f64) {
        let JunctionCharge { potential, grading, linear_from, .. } = *self;
        let below = |v: f64| {
            let left = 1.0 - v / potential;
            let power = left.powf(-grading);
            (potential / (1.0 - grading) * (1.0 - left * power), power)
        };
        let corner = linear_from * potential;
        if v < corner {
            return below(v);
        }
        let (at_corner, slope) = below(corner);
        let bend = grading * slope / (potential * (1.0 - linear_from));
        let further = v - corner;
        (at_corner + further * (slope + bend * further / 2.0), slope + bend * further)
    }
}
