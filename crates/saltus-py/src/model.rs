//! The model and its laws.

use crate::operator::PyOperator;
use crate::{arrays, errors, operator};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use saltus::model::{
    Bond, Coefficient, FirstOrder, FirstOrderLinear, FirstOrderLinearRelation, FirstOrderRelation,
    IntoRelation, JacobianCheck, JacobianPoints, Lagrangian, LagrangianCompliant, LagrangianLinear,
    LagrangianLinearRelation, LagrangianRelation, Law, Model, ModelError, Operator, Prescribed,
    System, SystemId,
};

/// A law between `y` and `lam`.
#[pyclass(frozen, name = "Law", module = "saltus._saltus")]
pub struct PyLaw {
    pub law: Law,
    pub is_python: bool, // a coefficient is a Python function
}

impl From<Law> for PyLaw {
    fn from(law: Law) -> Self {
        PyLaw { law, is_python: false }
    }
}

impl PyLaw {
    fn with(law: Law, coefficients: &[&PyOperator]) -> PyLaw {
        PyLaw { law, is_python: coefficients.iter().any(|one| one.is_python) }
    }
}

#[pymethods]
impl PyLaw {
    #[staticmethod]
    fn complementarity() -> PyLaw {
        Law::Complementarity.into()
    }

    #[staticmethod]
    fn equality() -> PyLaw {
        Law::Equality.into()
    }

    #[staticmethod]
    fn relay(lower: PyReadonlyArray1<'_, f64>, upper: PyReadonlyArray1<'_, f64>) -> PyLaw {
        Law::Relay { lower: arrays::vector(&lower), upper: arrays::vector(&upper) }.into()
    }

    #[staticmethod]
    fn piecewise_linear(points: Vec<(f64, f64)>) -> PyLaw {
        Law::PiecewiseLinear { points }.into()
    }

    #[staticmethod]
    fn switch(control: String, on: f64, off: f64, closed: bool) -> PyLaw {
        Law::Switch { control, on, off, closed }.into()
    }

    #[staticmethod]
    fn normal_cone(A: PyReadonlyArray2<'_, f64>, b: PyReadonlyArray1<'_, f64>) -> PyLaw {
        Law::NormalCone { A: arrays::matrix(&A), b: arrays::vector(&b) }.into()
    }

    #[staticmethod]
    fn newton_impact(e: &PyOperator) -> PyLaw {
        PyLaw::with(Law::NewtonImpact { e: coefficient(e) }, &[e])
    }

    #[staticmethod]
    fn impact_friction(e: &PyOperator, mu: &PyOperator, et: f64) -> PyLaw {
        let law = Law::ImpactFriction { e: coefficient(e), mu: coefficient(mu), et };
        PyLaw::with(law, &[e, mu])
    }

    #[staticmethod]
    fn rolling_friction(e: &PyOperator, mu: &PyOperator, mu_r: &PyOperator) -> PyLaw {
        let all = [e, mu, mu_r];
        let [e, mu, mu_r] = all.map(coefficient);
        PyLaw::with(Law::RollingFriction { e, mu, mu_r }, &all)
    }

    #[staticmethod]
    fn fremond(e: &PyOperator, mu: &PyOperator) -> PyLaw {
        let law = Law::Fremond { e: coefficient(e), mu: coefficient(mu) };
        PyLaw::with(law, &[e, mu])
    }

    #[staticmethod]
    fn multiple_impact(e: f64, stiffness: f64, exponent: f64) -> PyLaw {
        Law::MultipleImpact { e, stiffness, exponent }.into()
    }

    #[staticmethod]
    fn cohesive(
        stiffness: f64,
        strength: f64,
        energy: f64,
        shear: f64,
        e: &PyOperator,
        mu: &PyOperator,
    ) -> PyLaw {
        let bond = Bond { stiffness, strength, energy, shear };
        let law = Law::Cohesive { bond, e: coefficient(e), mu: coefficient(mu) };
        PyLaw::with(law, &[e, mu])
    }

    #[staticmethod]
    fn binary_cohesive(strength: f64, opening: f64, e: &PyOperator, mu: &PyOperator) -> PyLaw {
        let (e_law, mu_law) = (coefficient(e), coefficient(mu));
        let law = Law::BinaryCohesive { strength, opening, e: e_law, mu: mu_law };
        PyLaw::with(law, &[e, mu])
    }
}

fn coefficient(operator: &PyOperator) -> Coefficient {
    operator.operator.clone().into()
}

/// Systems and interactions, each with a name.
#[pyclass(name = "Model", module = "saltus._saltus")]
pub struct PyModel {
    pub model: Model,
    /// Whether some operator is a Python function.
    pub is_python: bool,
}

#[pymethods]
impl PyModel {
    #[new]
    fn new(title: String, t0: f64) -> PyModel {
        PyModel { model: Model::new(title).starting_at(t0), is_python: false }
    }

    #[getter]
    fn title(&self) -> &str {
        self.model.title()
    }

    #[getter]
    fn t0(&self) -> f64 {
        self.model.t0()
    }

    /// Name, order (1 or 2) and size of each system.
    fn systems(&self) -> Vec<(String, u8, usize)> {
        let order = |system: &System| match system {
            System::FirstOrder(_) => 1,
            System::SecondOrder(_) => 2,
        };
        let all = self.model.systems();
        all.map(|(name, system)| (name.to_string(), order(system), system.dim())).collect()
    }

    /// Name, law, size and linked systems of each interaction.
    fn interactions(&self) -> Vec<(String, &'static str, usize, Vec<String>)> {
        let names: Vec<&str> = self.model.systems().map(|(name, _)| name).collect();
        let linked = |ids: &[SystemId]| {
            ids.iter().filter_map(|id| names.get(id.index())).map(|name| name.to_string()).collect()
        };
        let all = self.model.interactions();
        all.map(|(name, interaction)| {
            let (law, size) = (interaction.law.name(), interaction.relation.size());
            (name.to_string(), law, size, linked(&interaction.systems))
        })
        .collect()
    }

    /// `q`, `v` or `x` of a system at `t0`.
    fn initial<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        quantity: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let system = self.model.system_id(name).and_then(|id| self.model.system(id));
        let value = match (system.map_err(|error| errors::model(py, error))?, quantity) {
            (System::FirstOrder(system), "x") => system.x0(),
            (System::SecondOrder(system), "q") => system.q0(),
            (System::SecondOrder(system), "v") => system.v0(),
            _ => return Err(errors::input(format!("system `{name}` has no {quantity}"))),
        };
        Ok(PyArray1::from_slice(py, value))
    }

    /// The inputs of a system or interaction at `t0`.
    fn initial_inputs<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let z = self.model.inputs(name).map_err(|error| errors::model(py, error))?;
        Ok(PyArray1::from_slice(py, z))
    }

    /// Owner, name, entry, value, expected value and difference of each Jacobian, points skipped.
    fn check_jacobians(
        &self,
        py: Python<'_>,
        t: Option<f64>,
        count: usize,
        spread: f64,
        seed: u64,
    ) -> PyResult<Vec<JacobianRow>> {
        operator::take_failure();
        let points = JacobianPoints { t, count, spread, seed };
        let checks = self.model.check_jacobians(points);
        let checks = checks.map_err(|error| errors::model(py, error))?;
        let row = |check: JacobianCheck| {
            let JacobianCheck { owner, name, entry, value, expected, difference, skipped } = check;
            (owner, name, entry, value, expected, difference, skipped)
        };
        Ok(checks.into_iter().map(row).collect())
    }

    #[pyo3(signature = (name, x0, f, df_dx=None, M=None, z0=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn add_first_order(
        &mut self,
        py: Python<'_>,
        name: &str,
        x0: PyReadonlyArray1<'_, f64>,
        f: &PyOperator,
        df_dx: Option<&PyOperator>,
        M: Option<&PyOperator>,
        z0: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        self.note(&[Some(f), df_dx, M]);
        let system = FirstOrder {
            x0: arrays::vector(&x0),
            f: f.operator.clone(),
            df_dx: optional(df_dx),
            M: optional(M),
            z0: inputs(&z0),
        };
        self.add(py, name, system.into())
    }

    #[pyo3(signature = (name, x0, A, b=None, M=None))]
    fn add_first_order_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        x0: PyReadonlyArray1<'_, f64>,
        A: &PyOperator,
        b: Option<&PyOperator>,
        M: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<()> {
        self.note(&[Some(A), b]);
        let system = FirstOrderLinear {
            x0: arrays::vector(&x0),
            A: A.operator.clone(),
            b: optional(b),
            M: M.as_ref().map(arrays::matrix),
        };
        self.add(py, name, system.into())
    }

    #[pyo3(signature = (
        name, q0, v0, M, F_gyr=None, F_int=None, F_ext=None, dF_gyr_dq=None, dF_gyr_dv=None,
        dF_int_dq=None, dF_int_dv=None, z0=None
    ))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn add_lagrangian(
        &mut self,
        py: Python<'_>,
        name: &str,
        q0: PyReadonlyArray1<'_, f64>,
        v0: PyReadonlyArray1<'_, f64>,
        M: &PyOperator,
        F_gyr: Option<&PyOperator>,
        F_int: Option<&PyOperator>,
        F_ext: Option<&PyOperator>,
        dF_gyr_dq: Option<&PyOperator>,
        dF_gyr_dv: Option<&PyOperator>,
        dF_int_dq: Option<&PyOperator>,
        dF_int_dv: Option<&PyOperator>,
        z0: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        self.note(&[Some(M), F_gyr, F_int, F_ext, dF_gyr_dq, dF_gyr_dv, dF_int_dq, dF_int_dv]);
        let system = Lagrangian {
            q0: arrays::vector(&q0),
            v0: arrays::vector(&v0),
            M: M.operator.clone(),
            F_gyr: optional(F_gyr),
            F_int: optional(F_int),
            F_ext: optional(F_ext),
            dF_gyr_dq: optional(dF_gyr_dq),
            dF_gyr_dv: optional(dF_gyr_dv),
            dF_int_dq: optional(dF_int_dq),
            dF_int_dv: optional(dF_int_dv),
            z0: inputs(&z0),
        };
        self.add(py, name, system.into())
    }

    #[pyo3(signature = (name, q0, v0, M, C=None, K=None, F_ext=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn add_lagrangian_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        q0: PyReadonlyArray1<'_, f64>,
        v0: PyReadonlyArray1<'_, f64>,
        M: PyReadonlyArray2<'_, f64>,
        C: Option<PyReadonlyArray2<'_, f64>>,
        K: Option<PyReadonlyArray2<'_, f64>>,
        F_ext: Option<&PyOperator>,
    ) -> PyResult<()> {
        self.note(&[F_ext]);
        let system = LagrangianLinear {
            q0: arrays::vector(&q0),
            v0: arrays::vector(&v0),
            M: arrays::matrix(&M),
            C: C.as_ref().map(arrays::matrix),
            K: K.as_ref().map(arrays::matrix),
            F_ext: optional(F_ext),
        };
        self.add(py, name, system.into())
    }

    #[pyo3(signature = (
        name, law, systems, h, g, dh_dx=None, dh_dlam=None, dg_dx=None, dg_dlam=None, z0=None
    ))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn connect_first_order(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        h: &PyOperator,
        g: &PyOperator,
        dh_dx: Option<&PyOperator>,
        dh_dlam: Option<&PyOperator>,
        dg_dx: Option<&PyOperator>,
        dg_dlam: Option<&PyOperator>,
        z0: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        self.note(&[Some(h), Some(g), dh_dx, dh_dlam, dg_dx, dg_dlam]);
        let relation = FirstOrderRelation {
            h: h.operator.clone(),
            g: g.operator.clone(),
            dh_dx: optional(dh_dx),
            dh_dlam: optional(dh_dlam),
            dg_dx: optional(dg_dx),
            dg_dlam: optional(dg_dlam),
            z0: inputs(&z0),
        };
        self.connect(py, name, law, &systems, relation)
    }

    #[pyo3(signature = (name, law, systems, C, B, D=None, e=None, F=None, z0=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn connect_first_order_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        C: &PyOperator,
        B: &PyOperator,
        D: Option<&PyOperator>,
        e: Option<&PyOperator>,
        F: Option<&PyOperator>,
        z0: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        self.note(&[Some(C), Some(B), D, e, F]);
        let relation = FirstOrderLinearRelation {
            C: C.operator.clone(),
            B: B.operator.clone(),
            D: optional(D),
            e: optional(e),
            F: optional(F),
            z0: inputs(&z0),
            unit: 0.0,
        };
        self.connect(py, name, law, &systems, relation)
    }

    #[pyo3(signature = (name, law, systems, h, H=None, dh_dt=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn connect_lagrangian(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        h: &PyOperator,
        H: Option<&PyOperator>,
        dh_dt: Option<&PyOperator>,
    ) -> PyResult<()> {
        self.note(&[Some(h), H, dh_dt]);
        let h = h.operator.clone();
        let relation = LagrangianRelation { h, H: optional(H), dh_dt: optional(dh_dt) };
        self.connect(py, name, law, &systems, relation)
    }

    fn connect_prescribed(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        dofs: Vec<usize>,
        v: &PyOperator,
    ) -> PyResult<()> {
        self.note(&[Some(v)]);
        let relation = Prescribed { dofs, v: v.operator.clone() };
        self.connect(py, name, law, &systems, relation)
    }

    #[pyo3(signature = (name, law, systems, h, H=None, dh_dlam=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn connect_compliant(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        h: &PyOperator,
        H: Option<&PyOperator>,
        dh_dlam: Option<&PyOperator>,
    ) -> PyResult<()> {
        self.note(&[Some(h), H, dh_dlam]);
        let h = h.operator.clone();
        let relation = LagrangianCompliant { h, H: optional(H), dh_dlam: optional(dh_dlam) };
        self.connect(py, name, law, &systems, relation)
    }

    #[pyo3(signature = (name, law, systems, H, b=None, D=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn connect_lagrangian_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        H: PyReadonlyArray2<'_, f64>,
        b: Option<PyReadonlyArray1<'_, f64>>,
        D: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<()> {
        let relation = LagrangianLinearRelation {
            H: arrays::matrix(&H),
            b: b.as_ref().map(arrays::vector),
            D: D.as_ref().map(arrays::matrix),
        };
        self.connect(py, name, law, &systems, relation)
    }
}

/// Owner, name, entry, value, expected value and difference of a Jacobian, and points skipped.
type JacobianRow = (String, &'static str, (usize, usize), f64, f64, f64, usize);

pub(crate) fn optional(operator: Option<&PyOperator>) -> Option<Operator> {
    operator.map(|one| one.operator.clone())
}

pub(crate) fn inputs(z0: &Option<PyReadonlyArray1<'_, f64>>) -> Vec<f64> {
    z0.as_ref().map(arrays::vector).unwrap_or_default()
}

impl PyModel {
    pub(crate) fn add(&mut self, py: Python<'_>, name: &str, system: System) -> PyResult<()> {
        operator::take_failure();
        self.model.add(name, system).map(|_| ()).map_err(|error| errors::model(py, error))
    }

    /// Looks for Python functions among the operators.
    pub(crate) fn note(&mut self, operators: &[Option<&PyOperator>]) {
        self.is_python |= operators.iter().flatten().any(|one| one.is_python);
    }

    pub(crate) fn connect(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: &[String],
        relation: impl IntoRelation,
    ) -> PyResult<()> {
        self.is_python |= law.is_python;
        let ids = self.ids(systems);
        let done = ids.and_then(|ids| self.model.connect(name, relation, law.law.clone(), &ids));
        done.map(|_| ()).map_err(|error| errors::model(py, error))
    }

    fn ids(&self, systems: &[String]) -> Result<Vec<SystemId>, ModelError> {
        systems.iter().map(|name| self.model.system_id(name)).collect()
    }
}
