//! Nonlinear mechanical systems.

use super::lagrangian_linear::check_mass;
use crate::check;
use crate::system::{Linearized, SecondOrderDependence};
use crate::{
    Argument, At, Dependence, Jacobian, ModelError, Operator, OperatorError, SecondOrderSystem,
    System,
};
use saltus_linalg::Matrix;
use std::sync::Arc;

/// A nonlinear mechanical system.
///
/// ```text
/// M(q) v̇ + F_gyr(q, v) + F_int(t, q, v) = F_ext(t) + p,    q̇ = v
/// ```
///
/// `M` must be symmetric positive definite. Every force may also depend on inputs `z`, which stay
/// as they are until they are set. A missing Jacobian is exact for a formula, and by differences
/// for a function.
#[derive(Debug, Clone)]
pub struct Lagrangian {
    /// The initial configuration.
    pub q0: Vec<f64>,
    /// The initial velocity.
    pub v0: Vec<f64>,
    /// Mass matrix, of `q`.
    pub M: Operator,
    /// Gyroscopic force, of `q` and `v`; zero unless given.
    pub F_gyr: Option<Operator>,
    /// Internal force, of `t`, `q` and `v`; zero unless given.
    pub F_int: Option<Operator>,
    /// External force, of `t`; zero unless given.
    pub F_ext: Option<Operator>,
    /// `∂F_gyr/∂q`, if it is not to be found out.
    pub dF_gyr_dq: Option<Operator>,
    /// `∂F_gyr/∂v`, likewise.
    pub dF_gyr_dv: Option<Operator>,
    /// `∂F_int/∂q`, likewise.
    pub dF_int_dq: Option<Operator>,
    /// `∂F_int/∂v`, likewise.
    pub dF_int_dv: Option<Operator>,
    /// The inputs until they are set; none unless given.
    pub z0: Vec<f64>,
}

impl Lagrangian {
    /// `M(q) v̇ = p` from `q0`, `v0`.
    pub fn new(q0: impl Into<Vec<f64>>, v0: impl Into<Vec<f64>>, M: impl Into<Operator>) -> Self {
        Lagrangian {
            q0: q0.into(),
            v0: v0.into(),
            M: M.into(),
            F_gyr: None,
            F_int: None,
            F_ext: None,
            dF_gyr_dq: None,
            dF_gyr_dv: None,
            dF_int_dq: None,
            dF_int_dv: None,
            z0: Vec::new(),
        }
    }

    /// The same with the gyroscopic force.
    pub fn F_gyr(mut self, F_gyr: impl Into<Operator>) -> Self {
        self.F_gyr = Some(F_gyr.into());
        self
    }

    /// The same with the internal force.
    pub fn F_int(mut self, F_int: impl Into<Operator>) -> Self {
        self.F_int = Some(F_int.into());
        self
    }

    /// The same with the external force.
    pub fn F_ext(mut self, F_ext: impl Into<Operator>) -> Self {
        self.F_ext = Some(F_ext.into());
        self
    }

    /// The same with inputs.
    pub fn z0(mut self, z0: impl Into<Vec<f64>>) -> Self {
        self.z0 = z0.into();
        self
    }

    /// The forces that are subtracted, with their given Jacobians.
    fn subtracted(&self) -> [Subtracted<'_>; 2] {
        [
            (["F_gyr", "dF_gyr_dq", "dF_gyr_dv"], &self.F_gyr, &self.dF_gyr_dq, &self.dF_gyr_dv),
            (["F_int", "dF_int_dq", "dF_int_dv"], &self.F_int, &self.dF_int_dq, &self.dF_int_dv),
        ]
    }
}

type Subtracted<'a> =
    ([&'static str; 3], &'a Option<Operator>, &'a Option<Operator>, &'a Option<Operator>);

/// The system with its Jacobians.
#[derive(Debug)]
struct Complete {
    given: Lagrangian,
    forces: Vec<Force>,
    joined: Option<Joined>,
    damps: bool,               // F_int depends on v
    damping: Option<Operator>, // the formula F_int(t, q, v) − F_int(t, q, 0)
}

/// Formulas that are evaluated in one go.
#[derive(Debug)]
struct Joined {
    value: Operator, // M and F
    all: Operator,   // M, F, ∂F/∂q and ∂F/∂v
}

/// A force that is subtracted.
#[derive(Debug)]
struct Force {
    names: [&'static str; 3], // of itself and its Jacobians
    value: Operator,
    dq: Operator,
    dv: Operator,
    given: [bool; 2], // which of the two
}

impl From<Lagrangian> for System {
    fn from(given: Lagrangian) -> Self {
        let n = given.q0.len();
        let complete = |(names, value, dq, dv): Subtracted<'_>| {
            let value = value.clone()?;
            let derivative = |given: &Option<Operator>, by| {
                given.clone().unwrap_or_else(|| value.derivative(by, n))
            };
            let given = [dq.is_some(), dv.is_some()];
            let (dq, dv) = (derivative(dq, Argument::First), derivative(dv, Argument::Second));
            Some(Force { names, value, dq, dv, given })
        };
        let forces: Vec<Force> = given.subtracted().into_iter().filter_map(complete).collect();
        let joined = join(&given, &forces);
        let damping = damping(&given);
        let damps = given.F_int.as_ref().is_some_and(|F| F.uses(Argument::Second));
        System::SecondOrder(Arc::new(Complete { given, forces, joined, damps, damping }))
    }
}

fn join(given: &Lagrangian, forces: &[Force]) -> Option<Joined> {
    let n = given.q0.len();
    let shapes = |force: &Force| {
        let [value, dq, dv] = [&force.value, &force.dq, &force.dv].map(Operator::shape);
        value == (n, 1) && dq == (n, n) && dv == (n, n)
    };
    if given.M.shape() != (n, n) || forces.is_empty() || !forces.iter().all(shapes) {
        return None;
    }
    let (none, still) = (Operator::zero(n, 1), Operator::zero(n, n));
    let mut F = vec![given.F_ext.as_ref().unwrap_or(&none)];
    let (mut dq, mut dv) = (vec![&still], vec![&still]);
    for force in forces {
        F.push(&force.value);
        dq.push(&force.dq);
        dv.push(&force.dv);
    }
    let [F, dq, dv] = [F, dq, dv].map(|terms| Operator::difference(&terms));
    let (F, dq, dv) = (F?, dq?, dv?);
    let value = Operator::joined(&[&given.M, &F])?;
    let all = Operator::joined(&[&given.M, &F, &dq, &dv])?;
    Some(Joined { value, all })
}

fn damping(given: &Lagrangian) -> Option<Operator> {
    let F_int = given.F_int.as_ref().filter(|F| F.uses(Argument::Second))?;
    Operator::difference(&[F_int, &F_int.without(Argument::Second)?])
}

impl SecondOrderSystem for Complete {
    fn dim(&self) -> usize {
        self.given.q0.len()
    }

    fn q0(&self) -> &[f64] {
        &self.given.q0
    }

    fn v0(&self) -> &[f64] {
        &self.given.v0
    }

    fn z0(&self) -> &[f64] {
        &self.given.z0
    }

    fn dependence(&self) -> SecondOrderDependence {
        let Lagrangian { M, F_ext, .. } = &self.given;
        let jacobian =
            if self.forces.is_empty() { Dependence::Constant } else { Dependence::State };
        SecondOrderDependence {
            mass: Dependence::of(M),
            jacobian,
            forcing: F_ext.as_ref().map_or(Dependence::Constant, Dependence::of).max(jacobian),
        }
    }

    fn mass(&self, at: At<'_>, M: &mut Matrix) -> Result<(), OperatorError> {
        self.given.M.eval_matrix(at, "M", M)
    }

    /// `F = F_ext − F_int − F_gyr`.
    fn force(&self, at: At<'_>, F: &mut [f64], work: &mut [f64]) -> Result<(), OperatorError> {
        match &self.given.F_ext {
            Some(value) => value.eval(at, "F_ext", F)?,
            None => F.fill(0.0),
        }
        for force in &self.forces {
            force.value.eval(at, force.names[0], work)?;
            F.iter_mut().zip(&*work).for_each(|(F, x)| *F -= x);
        }
        Ok(())
    }

    /// `D = F_int(t, q, v) − F_int(t, q, 0)`. Where `F_int` has no value at rest, nothing is known.
    fn damping(&self, at: At<'_>, D: &mut [f64], work: &mut [f64]) -> Result<bool, OperatorError> {
        let Some(F_int) = self.given.F_int.as_ref().filter(|_| self.damps) else {
            return Ok(false);
        };
        if let Some(damping) = &self.damping
            && damping.eval(at, "F_int", D).is_ok()
        {
            return Ok(true);
        }
        D.fill(0.0);
        let rest = At { second: D, ..at };
        if F_int.eval(rest, "F_int", work).is_err() {
            return Ok(false);
        }
        F_int.eval(at, "F_int", D)?;
        D.iter_mut().zip(&*work).for_each(|(D, at_rest)| *D -= at_rest);
        Ok(true)
    }

    fn external(&self, t: f64, F: &mut [f64]) -> Result<(), OperatorError> {
        match &self.given.F_ext {
            Some(value) => value.eval(At::time(t).with(&self.given.z0), "F_ext", F),
            None => {
                F.fill(0.0);
                Ok(())
            }
        }
    }

    fn force_dq(&self, at: At<'_>, J: &mut Matrix, work: &mut Matrix) -> Result<(), OperatorError> {
        J.reset(self.dim(), self.dim());
        for force in &self.forces {
            force.dq.eval_matrix(at, force.names[1], work)?;
            J.add_scaled(-1.0, work);
        }
        Ok(())
    }

    fn force_dv(&self, at: At<'_>, J: &mut Matrix, work: &mut Matrix) -> Result<(), OperatorError> {
        J.reset(self.dim(), self.dim());
        for force in &self.forces {
            force.dv.eval_matrix(at, force.names[2], work)?;
            J.add_scaled(-1.0, work);
        }
        Ok(())
    }

    fn mass_and_force(
        &self,
        at: At<'_>,
        M: &mut Matrix,
        F: &mut [f64],
        work: &mut Vec<f64>,
    ) -> Result<(), OperatorError> {
        let n = F.len();
        let Some(joined) = &self.joined else {
            work.resize(n, 0.0);
            self.mass(at, M)?;
            return self.force(at, F, work);
        };
        work.resize(joined.value.rows(), 0.0);
        joined.value.eval(at, "M, F_ext, F_int or F_gyr", work)?;
        M.resize(n, n);
        scatter(work, [M.data_mut(), F]);
        Ok(())
    }

    fn force_jacobians(
        &self,
        at: At<'_>,
        dq: &mut Matrix,
        dv: &mut Matrix,
        work: &mut Matrix,
    ) -> Result<(), OperatorError> {
        let Some(joined) = &self.joined else {
            self.force_dq(at, dq, work)?;
            return self.force_dv(at, dv, work);
        };
        let n = self.dim();
        joined.all.eval_matrix(at, "F_int, F_gyr or a Jacobian of these", work)?;
        dq.resize(n, n);
        dv.resize(n, n);
        scatter(&work.data()[n * n + n..], [dq.data_mut(), dv.data_mut()]);
        Ok(())
    }

    fn linearized(
        &self,
        at: At<'_>,
        out: Linearized<'_>,
        work: &mut Vec<f64>,
        matrix: &mut Matrix,
    ) -> Result<(), OperatorError> {
        let Linearized { M, F, dq, dv } = out;
        let Some(joined) = &self.joined else {
            self.mass_and_force(at, M, F, work)?;
            return self.force_jacobians(at, dq, dv, matrix);
        };
        work.resize(joined.all.rows(), 0.0);
        joined.all.eval(at, "M, F_ext, F_int, F_gyr or a Jacobian of these", work)?;
        let n = F.len();
        [&mut *M, &mut *dq, &mut *dv].into_iter().for_each(|matrix| matrix.resize(n, n));
        scatter(work, [M.data_mut(), F, dq.data_mut(), dv.data_mut()]);
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        let mut all = vec![&self.given.M];
        all.extend(&self.given.F_ext);
        match &self.joined {
            Some(Joined { value, all: with_jacobians }) => all.extend([value, with_jacobians]),
            None => all.extend(self.forces.iter().flat_map(|f| [&f.value, &f.dq, &f.dv])),
        }
        all.extend(&self.damping);
        all
    }

    fn jacobians(&self) -> Vec<Jacobian<'_>> {
        let mut all = Vec::new();
        for force in &self.forces {
            let Force { names: [_, dq, dv], value: function, given, .. } = force;
            let (q, v) = (Argument::First, Argument::Second);
            all.push(Jacobian { name: dq, given: given[0], value: &force.dq, function, by: q });
            all.push(Jacobian { name: dv, given: given[1], value: &force.dv, function, by: v });
        }
        all
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        let (n, given) = (self.dim(), &self.given);
        let why = "the length of `q0`";
        check::not_empty(owner, "q0", n)?;
        check::vector(owner, "q0", &given.q0, n, why)?;
        check::vector(owner, "v0", &given.v0, n, why)?;
        check::vector(owner, "z0", &given.z0, given.z0.len(), "")?;
        check::matrix_operator(owner, "M", &given.M, (n, n), why)?;
        if let Some(F_ext) = &given.F_ext {
            check::vector_operator(owner, "F_ext", F_ext, n, why)?;
        }
        for Force { names: [name, name_dq, name_dv], value, dq, dv, .. } in &self.forces {
            check::vector_operator(owner, name, value, n, why)?;
            check::matrix_operator(owner, name_dq, dq, (n, n), why)?;
            check::matrix_operator(owner, name_dv, dv, (n, n), why)?;
        }
        let mut M = Matrix::default();
        given.M.eval_matrix(At::new(0.0, &given.q0, &[]).with(&given.z0), "M", &mut M)?;
        check_mass(owner, &M)
    }
}

/// Gives the entries to these places, one after the other.
#[inline]
fn scatter<const N: usize>(mut entries: &[f64], places: [&mut [f64]; N]) {
    for place in places {
        let (own, rest) = entries.split_at(place.len());
        place.copy_from_slice(own);
        entries = rest;
    }
}
