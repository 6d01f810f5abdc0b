//! Settings as JSON text: their names, ranges and defaults are those of the Rust structs.

use crate::errors;
use pyo3::prelude::*;
use saltus::numerics::Solver;
use saltus::sim::{Integrator, NewtonSettings};
use serde::{Deserialize, Serialize};

/// Newton's settings with a kind, as all settings have one.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Method {
    Newton(NewtonSettings),
}

/// All integrators and solvers with their default settings, by kind, as a JSON object.
#[pyfunction]
pub fn defaults() -> PyResult<String> {
    let mut families = Vec::new();
    for (family, names, complete) in [
        ("integrators", &Integrator::NAMES[..], check_integrator as fn(&str) -> PyResult<String>),
        ("solvers", &Solver::NAMES[..], check_solver),
        ("newton", &["newton"][..], check_newton),
    ] {
        let mut kinds = Vec::new();
        for name in names {
            kinds.push(format!("\"{name}\":{}", complete(&format!("{{\"kind\":\"{name}\"}}"))?));
        }
        families.push(format!("\"{family}\":{{{}}}", kinds.join(",")));
    }
    Ok(format!("{{{}}}", families.join(",")))
}

/// Reads and checks an integrator; gives it back with all its settings.
#[pyfunction]
pub fn check_integrator(text: &str) -> PyResult<String> {
    text_of(serde_json::to_string(&integrator(text)?))
}

/// Reads and checks a solver; gives it back with all its settings.
#[pyfunction]
pub fn check_solver(text: &str) -> PyResult<String> {
    text_of(serde_json::to_string(&solver(text)?))
}

/// Reads and checks the settings of Newton's method; gives them back with all of them.
#[pyfunction]
pub fn check_newton(text: &str) -> PyResult<String> {
    newton_text(newton(text)?)
}

/// The settings of Newton's method as text.
pub fn newton_text(settings: NewtonSettings) -> PyResult<String> {
    text_of(serde_json::to_string(&Method::Newton(settings)))
}

pub fn newton(text: &str) -> PyResult<NewtonSettings> {
    let Method::Newton(settings) =
        serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    settings.check().map_err(|error| errors::input(error.to_string()))?;
    Ok(settings)
}

pub fn integrator(text: &str) -> PyResult<Integrator> {
    let integrator: Integrator = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    integrator.check().map_err(|error| errors::input(error.to_string()))?;
    Ok(integrator)
}

pub fn solver(text: &str) -> PyResult<Solver> {
    let solver: Solver = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    solver.check().map_err(|error| {
        let (name, error) = (solver.name(), error.to_string());
        errors::input(format!("{name}: {error}"))
    })?;
    Ok(solver)
}

pub fn text_of(text: Result<String, serde_json::Error>) -> PyResult<String> {
    text.map_err(|error| errors::input(error.to_string()))
}

/// The message without the place in a text that the user has not written.
fn unreadable(error: &serde_json::Error) -> PyErr {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    errors::input(message)
}
