//! Jacobians beside central differences: what is given, and what is exact, can be wrong.
//!
//! ```text
//! J ≈ (f(x + δ eⱼ) − f(x − δ eⱼ)) / 2δ,    δ = ε^⅓ max(1, |xⱼ|)                          (1)
//! ```

use crate::{Argument, At, Interaction, Model, ModelError, Operator, OperatorError, System};

/// A Jacobian of a system or relation, and the function that it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Jacobian<'a> {
    /// Its name, for example `df_dx`.
    pub name: &'static str,
    /// Whether the user gave it; else it was found out.
    pub given: bool,
    /// Its value.
    pub value: &'a Operator,
    /// The function.
    pub function: &'a Operator,
    /// The argument.
    pub by: Argument,
}

/// Where Jacobians are looked at: the initial state, and random points near it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JacobianPoints {
    /// The time; the initial time unless given.
    pub t: Option<f64>,
    /// Number of random points. Default 3.
    pub count: usize,
    /// How far away they are, relative to `max(1, |x|)`. Default 0.1.
    pub spread: f64,
    /// Chooses the points. Default 0.
    pub seed: u64,
}

impl Default for JacobianPoints {
    fn default() -> Self {
        JacobianPoints { t: None, count: 3, spread: 0.1, seed: 0 }
    }
}

/// The entry of a Jacobian that is farthest from its difference quotient.
#[derive(Debug, Clone, PartialEq)]
pub struct JacobianCheck {
    /// The system or interaction.
    pub owner: String,
    /// The Jacobian, for example `df_dx`.
    pub name: &'static str,
    /// Row and column of the entry.
    pub entry: (usize, usize),
    /// What the Jacobian says.
    pub value: f64,
    /// The difference quotient.
    pub expected: f64,
    /// How far the two are apart, relative to the largest entry (at least 1).
    pub difference: f64,
    /// Random points at which the function or the Jacobian failed: nothing was compared there.
    pub skipped: usize,
}

impl Model {
    /// Compares every Jacobian that was given, and every exact derivative of a formula, with
    /// central differences. Those that are differences themselves, or zero because the function
    /// does not depend on the argument, are left out.
    ///
    /// ```
    /// use saltus_model::{FirstOrder, JacobianPoints, Model, Names, Operator};
    ///
    /// let names = Names { first: ("x", 1), ..Names::TIME };
    /// let f = Operator::formula("[-x[0]^2]", &names, &[])?;
    /// let mut model = Model::new("wrong");
    /// model.add("point", FirstOrder::new([1.0], f).df_dx([[-1.0]]))?;
    /// let checks = model.check_jacobians(JacobianPoints::default())?;
    /// assert!(checks[0].difference > 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_jacobians(
        &self,
        points: JacobianPoints,
    ) -> Result<Vec<JacobianCheck>, ModelError> {
        let t = points.t.unwrap_or(self.t0());
        let mut checks = Vec::new();
        for (name, system) in self.systems() {
            let (jacobians, first, second, inputs) = match system {
                System::FirstOrder(system) => {
                    (system.jacobians(), system.x0().to_vec(), Vec::new(), system.z0())
                }
                System::SecondOrder(system) => {
                    (system.jacobians(), system.q0().to_vec(), system.v0().to_vec(), system.z0())
                }
            };
            let place = Place { t, first, second, inputs: inputs.to_vec() };
            place.check(name, &jacobians, points, &mut checks)?;
        }
        for (name, interaction) in self.interactions() {
            let Interaction { relation, systems, .. } = interaction;
            let mut first = Vec::new();
            for &id in systems {
                match self.system(id)? {
                    System::FirstOrder(system) => first.extend_from_slice(system.x0()),
                    System::SecondOrder(system) => first.extend_from_slice(system.q0()),
                }
            }
            let second = vec![0.0; relation.size()];
            let place = Place { t, first, second, inputs: relation.z0().to_vec() };
            place.check(name, &relation.jacobians(), points, &mut checks)?;
        }
        Ok(checks)
    }
}

/// A point to look at.
#[derive(Clone)]
struct Place {
    t: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    inputs: Vec<f64>,
}

impl Place {
    fn at(&self) -> At<'_> {
        At::new(self.t, &self.first, &self.second).with(&self.inputs)
    }

    fn check(
        &self,
        owner: &str,
        jacobians: &[Jacobian<'_>],
        points: JacobianPoints,
        checks: &mut Vec<JacobianCheck>,
    ) -> Result<(), ModelError> {
        for jacobian in jacobians {
            let Jacobian { given, function, by, .. } = *jacobian;
            let exact = function.uses(by) && function.is_differentiable(by);
            if !(given || exact) {
                continue;
            }
            let here = self.worst(jacobian).map_err(|error| error.of(owner))?;
            let mut worst = JacobianCheck { owner: owner.to_string(), ..here };
            let (mut random, mut skipped) = (points.seed, 0);
            for _ in 0..points.count {
                let mut there = self.clone();
                for x in there.first.iter_mut().chain(&mut there.second) {
                    *x += points.spread * x.abs().max(1.0) * uniform(&mut random);
                }
                // a random point may be outside of what the function is defined for
                match there.worst(jacobian) {
                    Ok(there) if there.difference > worst.difference => {
                        worst = JacobianCheck { owner: worst.owner, ..there };
                    }
                    Ok(_) => {}
                    Err(_) => skipped += 1,
                }
            }
            checks.push(JacobianCheck { skipped, ..worst });
        }
        Ok(())
    }

    /// The entry that is farthest from equation (1).
    fn worst(&self, jacobian: &Jacobian<'_>) -> Result<JacobianCheck, OperatorError> {
        let Jacobian { name, value, function, by, .. } = *jacobian;
        let entries = function.shape().0 * function.shape().1;
        let cols = match by {
            Argument::Time => 1,
            Argument::First => self.first.len(),
            Argument::Second => self.second.len(),
            Argument::Inputs => self.inputs.len(),
        };
        let mut J = vec![0.0; entries * cols];
        value.eval(self.at(), name, &mut J)?;
        let mut expected = vec![0.0; entries * cols];
        let (mut ahead, mut behind) = (vec![0.0; entries], vec![0.0; entries]);
        for j in 0..cols {
            let (above, above_at) = self.moved(by, j, 1.0);
            let (below, below_at) = self.moved(by, j, -1.0);
            function.eval(above.at(), name, &mut ahead)?;
            function.eval(below.at(), name, &mut behind)?;
            for i in 0..entries {
                expected[i * cols + j] = (ahead[i] - behind[i]) / (above_at - below_at);
            }
        }
        let scale = J.iter().chain(&expected).fold(1.0, |scale: f64, x| scale.max(x.abs()));
        let mut worst = JacobianCheck {
            owner: String::new(),
            name,
            entry: (0, 0),
            value: J.first().copied().unwrap_or(0.0),
            expected: expected.first().copied().unwrap_or(0.0),
            difference: 0.0,
            skipped: 0,
        };
        for (k, (&value, &expected)) in J.iter().zip(&expected).enumerate() {
            let difference = (value - expected).abs() / scale;
            if difference > worst.difference {
                let (owner, entry) = (String::new(), (k / cols, k % cols));
                worst =
                    JacobianCheck { owner, name, entry, value, expected, difference, skipped: 0 };
            }
        }
        Ok(worst)
    }

    /// The point with one component moved by `sign δ`, and where that component then is.
    fn moved(&self, by: Argument, j: usize, sign: f64) -> (Place, f64) {
        let mut place = self.clone();
        let x = match by {
            Argument::Time => &mut place.t,
            Argument::First => &mut place.first[j],
            Argument::Second => &mut place.second[j],
            Argument::Inputs => &mut place.inputs[j],
        };
        *x += sign * f64::EPSILON.cbrt() * x.abs().max(1.0);
        let there = *x;
        (place, there)
    }
}

/// The next number in [−1, 1) of the sequence that `state` stands for (SplitMix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FirstOrder, FirstOrderRelation, Lagrangian, LagrangianCompliant, LagrangianRelation, Law,
        Names,
    };

    fn formula(text: &str, names: Names) -> Operator {
        Operator::formula(text, &names, &[]).unwrap()
    }

    /// Everything exact, and one Jacobian wrong in one entry.
    fn model(wrong: f64) -> Model {
        let mut model = Model::new("checked");
        let qv = Names { first: ("q", 2), second: ("v", 2), ..Names::TIME };
        let mut arm = Lagrangian::new([0.3, -1.0], [0.5, 2.0], [[1.0, 0.0], [0.0, 2.0]])
            .F_gyr(formula("[v[0]*v[1]*sin(q[0]), q[1]^3]", qv))
            .F_int(formula("[t*q[0]^2 + v[1], exp(q[1])]", qv));
        let text = format!("[[2*t*q[0] + {wrong}, 0], [0, exp(q[1])]]");
        arm.dF_int_dq = Some(formula(&text, qv));
        let arm = model.add("arm", arm).unwrap();
        let q = Names { first: ("q", 2), second: ("lam", 1), ..Names::TIME };
        let gap = LagrangianRelation::new(formula("[hypot(q[0], q[1]) - 1 - sin(t)]", q));
        model.connect("gap", gap, Law::newton_impact(0.0), &[arm]).unwrap();
        let soft = LagrangianCompliant::new(formula("[q[0] + q[1]*lam[0]^3]", q));
        model.connect("soft", soft, Law::Complementarity, &[arm]).unwrap();
        let x = Names { first: ("x", 1), second: ("lam", 1), inputs: 1, ..Names::TIME };
        let point = FirstOrder::new([1.0], formula("[-x[0]^3*z[0]]", x)).z0([2.0]);
        let point = model.add("point", point).unwrap();
        let (h, g) = (formula("[x[0]*lam[0]]", x), formula("[sin(x[0] + lam[0])]", x));
        model.connect("link", FirstOrderRelation::new(h, g), Law::Equality, &[point]).unwrap();
        model
    }

    #[test]
    fn exact_derivatives_agree() {
        let points = JacobianPoints { t: Some(0.7), ..JacobianPoints::default() };
        let checks = model(0.0).check_jacobians(points).unwrap();
        let names: Vec<_> = checks.iter().map(|c| (c.owner.as_str(), c.name)).collect();
        assert_eq!(
            names,
            [
                ("arm", "dF_gyr_dq"),
                ("arm", "dF_gyr_dv"),
                ("arm", "dF_int_dq"),
                ("arm", "dF_int_dv"),
                ("point", "df_dx"),
                ("gap", "H"),
                ("gap", "dh_dt"),
                ("soft", "H"),
                ("soft", "dh_dlam"),
                ("link", "dh_dx"),
                ("link", "dh_dlam"),
                ("link", "dg_dx"),
                ("link", "dg_dlam"),
            ]
        );
        for check in checks {
            assert!(check.difference < 1e-8, "{check:?}");
        }
    }

    #[test]
    fn a_wrong_entry_is_found() {
        let checks = model(0.01).check_jacobians(JacobianPoints::default()).unwrap();
        let wrong: Vec<_> = checks.iter().filter(|c| c.difference > 1e-6).collect();
        let [wrong] = wrong[..] else { panic!("{wrong:?}") };
        assert_eq!((wrong.name, wrong.entry), ("dF_int_dq", (0, 0)));
        assert!((wrong.value - wrong.expected - 0.01).abs() < 1e-8, "{wrong:?}");
    }

    /// Random points outside of the domain of a function are counted.
    #[test]
    fn points_outside_are_told() {
        let names = Names { first: ("x", 1), ..Names::TIME };
        let mut model = Model::new("root");
        let root = FirstOrder::new([1e-9], formula("[sqrt(x[0] + 1e-5)]", names));
        model.add("root", root).unwrap();
        let points = JacobianPoints { count: 40, ..JacobianPoints::default() };
        let checks = model.check_jacobians(points).unwrap();
        assert!((10..=30).contains(&checks[0].skipped), "{checks:?}");
    }

    #[test]
    fn differences_are_left_out() {
        let f = Operator::vector(1, |at, out| out[0] = at.first[0].sin());
        let mut model = Model::new("closure");
        model.add("point", FirstOrder::new([1.0], f)).unwrap();
        assert_eq!(model.check_jacobians(JacobianPoints::default()).unwrap(), []);
    }
}
