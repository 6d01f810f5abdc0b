//! Linear mechanical systems: masses, springs, dampers, modal and finite-element models.

use crate::check;
use crate::system::SecondOrderDependence;
use crate::{At, Dependence, ModelError, Operator, OperatorError, SecondOrderSystem};
use saltus_linalg::{DenseLu, Matrix};

/// A linear mechanical system.
///
/// ```text
/// M v̇ + C v + K q = F_ext(t) + p,    q̇ = v
/// ```
///
/// `M` must be symmetric positive definite.
#[derive(Debug, Clone)]
pub struct LagrangianLinear {
    /// The initial configuration.
    pub q0: Vec<f64>,
    /// The initial velocity.
    pub v0: Vec<f64>,
    /// Mass matrix.
    pub M: Matrix,
    /// Damping matrix; zero unless given.
    pub C: Option<Matrix>,
    /// Stiffness matrix; zero unless given.
    pub K: Option<Matrix>,
    /// External force, constant or a function of time; zero unless given.
    pub F_ext: Option<Operator>,
}

impl LagrangianLinear {
    /// `M v̇ = p` from `q0`, `v0`.
    pub fn new(q0: impl Into<Vec<f64>>, v0: impl Into<Vec<f64>>, M: impl Into<Matrix>) -> Self {
        let (q0, v0, M) = (q0.into(), v0.into(), M.into());
        LagrangianLinear { q0, v0, M, C: None, K: None, F_ext: None }
    }

    /// The same with the damping matrix `C`.
    pub fn C(mut self, C: impl Into<Matrix>) -> Self {
        self.C = Some(C.into());
        self
    }

    /// The same with the stiffness matrix `K`.
    pub fn K(mut self, K: impl Into<Matrix>) -> Self {
        self.K = Some(K.into());
        self
    }

    /// The same with the external force `F_ext`.
    pub fn F_ext(mut self, F_ext: impl Into<Operator>) -> Self {
        self.F_ext = Some(F_ext.into());
        self
    }

    /// `J ← −A`, zero where there is no `A`.
    fn minus(&self, A: &Option<Matrix>, J: &mut Matrix) {
        match A {
            Some(A) => {
                J.copy_from(A);
                J.scale(-1.0);
            }
            None => J.reset(self.q0.len(), self.q0.len()),
        }
    }
}

impl SecondOrderSystem for LagrangianLinear {
    fn dim(&self) -> usize {
        self.q0.len()
    }

    fn q0(&self) -> &[f64] {
        &self.q0
    }

    fn v0(&self) -> &[f64] {
        &self.v0
    }

    fn dependence(&self) -> SecondOrderDependence {
        SecondOrderDependence {
            mass: Dependence::Constant,
            jacobian: Dependence::Constant,
            forcing: self.F_ext.as_ref().map_or(Dependence::Constant, Dependence::of),
        }
    }

    fn mass(&self, _: At<'_>, M: &mut Matrix) -> Result<(), OperatorError> {
        M.copy_from(&self.M);
        Ok(())
    }

    /// `F = F_ext(t) − C v − K q`.
    fn force(&self, at: At<'_>, F: &mut [f64], _: &mut [f64]) -> Result<(), OperatorError> {
        self.external(at.t, F)?;
        for (A, x) in [(&self.C, at.second), (&self.K, at.first)] {
            if let Some(A) = A {
                for i in 0..F.len() {
                    F[i] -= saltus_linalg::vector::dot(A.row(i), x);
                }
            }
        }
        Ok(())
    }

    /// `D = C v`.
    fn damping(&self, at: At<'_>, D: &mut [f64], _: &mut [f64]) -> Result<bool, OperatorError> {
        if let Some(C) = &self.C {
            C.apply(at.second, D);
        }
        Ok(self.C.is_some())
    }

    /// `½ qᵀ K q`.
    fn potential(&self, q: &[f64]) -> f64 {
        let Some(K) = &self.K else { return 0.0 };
        let rows = q.iter().enumerate();
        0.5 * rows.map(|(i, x)| x * saltus_linalg::vector::dot(K.row(i), q)).sum::<f64>()
    }

    fn external(&self, t: f64, F: &mut [f64]) -> Result<(), OperatorError> {
        match &self.F_ext {
            Some(value) => value.eval(At::time(t), "F_ext", F),
            None => {
                F.fill(0.0);
                Ok(())
            }
        }
    }

    fn force_dq(&self, _: At<'_>, J: &mut Matrix, _: &mut Matrix) -> Result<(), OperatorError> {
        self.minus(&self.K, J);
        Ok(())
    }

    fn force_dv(&self, _: At<'_>, J: &mut Matrix, _: &mut Matrix) -> Result<(), OperatorError> {
        self.minus(&self.C, J);
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        self.F_ext.iter().collect()
    }

    fn check(&self, owner: &str) -> Result<(), ModelError> {
        let n = self.dim();
        let why = "the length of `q0`";
        check::not_empty(owner, "q0", n)?;
        check::vector(owner, "q0", &self.q0, n, why)?;
        check::vector(owner, "v0", &self.v0, n, why)?;
        check::matrix(owner, "M", &self.M, (n, n), why)?;
        for (what, A) in [("C", &self.C), ("K", &self.K)] {
            if let Some(A) = A {
                check::matrix(owner, what, A, (n, n), why)?;
            }
        }
        if let Some(F_ext) = &self.F_ext {
            check::vector_operator(owner, "F_ext", F_ext, n, why)?;
        }
        check_mass(owner, &self.M)
    }
}

/// A mass matrix is symmetric, and positive definite.
pub(super) fn check_mass(owner: &str, M: &Matrix) -> Result<(), ModelError> {
    let fail = |what| Err(ModelError::Mass { owner: owner.to_string(), what });
    if !M.is_symmetric(1e-12) {
        return fail("not symmetric");
    }
    if DenseLu::new(M).is_err() {
        return fail("singular");
    }
    if !is_positive_definite(M) {
        return fail("not positive definite");
    }
    Ok(())
}

/// Cholesky's test: every pivot is positive.
fn is_positive_definite(M: &Matrix) -> bool {
    let n = M.rows();
    let mut L = M.clone();
    for j in 0..n {
        for k in 0..j {
            let l = L[(j, k)];
            if l != 0.0 {
                for i in j..n {
                    let update = L[(i, k)] * l;
                    L[(i, j)] -= update;
                }
            }
        }
        let pivot = L[(j, j)];
        if !(pivot > 0.0) {
            return false;
        }
        let scale = 1.0 / pivot.sqrt();
        for i in j..n {
            L[(i, j)] *= scale;
        }
    }
    true
}
