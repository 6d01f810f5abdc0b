//! The model and its laws.

use crate::{arrays, errors, operator};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use saltus::model::{
    FirstOrderLinear, FirstOrderLinearRelation, LagrangianLinear, LagrangianLinearRelation, Law,
    Model, ModelError, System, SystemId,
};

/// A law between `y` and `lam`.
#[pyclass(frozen, name = "Law", module = "saltus._saltus")]
pub struct PyLaw(Law);

#[pymethods]
impl PyLaw {
    #[staticmethod]
    fn complementarity() -> PyLaw {
        PyLaw(Law::Complementarity)
    }

    #[staticmethod]
    fn equality() -> PyLaw {
        PyLaw(Law::Equality)
    }

    #[staticmethod]
    fn relay(lower: PyReadonlyArray1<'_, f64>, upper: PyReadonlyArray1<'_, f64>) -> PyLaw {
        PyLaw(Law::Relay { lower: arrays::vector(&lower), upper: arrays::vector(&upper) })
    }

    #[staticmethod]
    fn newton_impact(e: f64) -> PyLaw {
        PyLaw(Law::newton_impact(e))
    }
}

/// Systems and interactions, each with a name.
#[pyclass(name = "Model", module = "saltus._saltus")]
pub struct PyModel {
    pub model: Model,
}

#[pymethods]
impl PyModel {
    #[new]
    fn new(title: String, t0: f64) -> PyModel {
        PyModel { model: Model::new(title).starting_at(t0) }
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

    #[pyo3(signature = (name, x0, A, b=None, M=None))]
    fn add_first_order_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        x0: PyReadonlyArray1<'_, f64>,
        A: &Bound<'_, PyAny>,
        b: Option<&Bound<'_, PyAny>>,
        M: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<()> {
        let x0 = arrays::vector(&x0);
        let system = FirstOrderLinear {
            A: operator::matrix("A", A, x0.len())?,
            b: b.map(|b| operator::vector("b", b, x0.len())).transpose()?,
            M: M.as_ref().map(arrays::matrix),
            x0,
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
        F_ext: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let q0 = arrays::vector(&q0);
        let system = LagrangianLinear {
            v0: arrays::vector(&v0),
            M: arrays::matrix(&M),
            C: C.as_ref().map(arrays::matrix),
            K: K.as_ref().map(arrays::matrix),
            F_ext: F_ext.map(|F| operator::vector("F_ext", F, q0.len())).transpose()?,
            q0,
        };
        self.add(py, name, system.into())
    }

    #[pyo3(signature = (name, law, systems, C, B, D=None, e=None))]
    #[allow(clippy::too_many_arguments)] // those of the equation
    fn connect_first_order_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        C: PyReadonlyArray2<'_, f64>,
        B: PyReadonlyArray2<'_, f64>,
        D: Option<PyReadonlyArray2<'_, f64>>,
        e: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let relation = FirstOrderLinearRelation {
            C: arrays::matrix(&C).into(),
            B: arrays::matrix(&B).into(),
            D: D.as_ref().map(|D| arrays::matrix(D).into()),
            e: e.as_ref().map(|e| arrays::vector(e).into()),
            F: None,
            z0: Vec::new(),
        };
        let ids = self.ids(&systems);
        let done = ids.and_then(|ids| self.model.connect(name, relation, law.0.clone(), &ids));
        done.map(|_| ()).map_err(|error| errors::model(py, error))
    }

    #[pyo3(signature = (name, law, systems, H, b=None))]
    fn connect_lagrangian_linear(
        &mut self,
        py: Python<'_>,
        name: &str,
        law: &PyLaw,
        systems: Vec<String>,
        H: PyReadonlyArray2<'_, f64>,
        b: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let relation = LagrangianLinearRelation {
            H: arrays::matrix(&H),
            b: b.as_ref().map(arrays::vector),
            D: None,
        };
        let ids = self.ids(&systems);
        let done = ids.and_then(|ids| self.model.connect(name, relation, law.0.clone(), &ids));
        done.map(|_| ()).map_err(|error| errors::model(py, error))
    }
}

impl PyModel {
    fn add(&mut self, py: Python<'_>, name: &str, system: System) -> PyResult<()> {
        self.model.add(name, system).map(|_| ()).map_err(|error| errors::model(py, error))
    }

    fn ids(&self, systems: &[String]) -> Result<Vec<SystemId>, ModelError> {
        systems.iter().map(|name| self.model.system_id(name)).collect()
    }
}
