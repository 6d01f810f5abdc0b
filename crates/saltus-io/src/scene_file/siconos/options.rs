//! How a scene was run: the options of the runner, which newer versions store as JSON.
//!
//! | option | here | unless stored |
//! | --- | --- | --- |
//! | `h` | `h` | 0.5 ms |
//! | `T` | `until` | 10 s |
//! | `theta` | θ of Moreau and Jean | 1/2 |
//! | `constraint_activation_threshold` | its threshold | 0 |
//! | `gravity_scale` | gravity is 9.80665 m/s² divided by it | 1 |
//! | `output_frequency` | `output.every` | 1 |
//!
//! Tolerances stay those of Saltus: those of the runner are of other measures.

use super::Reader;
use crate::model_file::Simulation;
use crate::scene_file::{SceneFileError, default_simulation};
use saltus_sim::{Integrator, MoreauJean};
use serde_json::Value;

/// What is taken of the options.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub h: f64,
    /// Whether the file says `h`.
    pub h_is_stored: bool,
    pub until: f64,
    pub theta: f64,
    pub threshold: f64,
    pub gravity_scale: f64,
    pub every: usize,
}

impl Default for Options {
    fn default() -> Self {
        let Simulation { h, until, .. } = default_simulation();
        Options {
            h,
            h_is_stored: false,
            until,
            theta: 0.5,
            threshold: 0.0,
            gravity_scale: 1.0,
            every: 1,
        }
    }
}

impl Options {
    pub fn simulation(&self) -> Simulation {
        let (theta, threshold) = (self.theta, self.threshold);
        let integrator = MoreauJean { theta, threshold, ..MoreauJean::default() };
        let mut simulation = default_simulation();
        (simulation.h, simulation.until) = (self.h, self.until);
        simulation.integrators = vec![Integrator::MoreauJean(integrator)];
        simulation.output.every = self.every;
        simulation
    }
}

impl Reader<'_> {
    /// The stored options, or what the runner takes by default.
    pub(super) fn run_options(&mut self) -> Result<Options, SceneFileError> {
        let path = "data/siconos_mechanics_run_options";
        let mut options = Options::default();
        if !self.names.iter().any(|name| name == path) {
            return Ok(options);
        }
        let Some(text) = self.text(&self.dataset(path)?, "options") else { return Ok(options) };
        let stored: Value = serde_json::from_str(&text)
            .map_err(|error| self.content(path, format!("`options` is no JSON: {error}")))?;
        let number = |key: &str, least: f64, most: f64| match stored.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_f64() {
                Some(x) if (least..=most).contains(&x) => Ok(Some(x)),
                _ => {
                    let expected = format!("expected a number from {least:e} to {most:e}");
                    Err(self.content(path, format!("`{key}` is {value}, {expected}")))
                }
            },
        };
        let (least, most) = (f64::MIN_POSITIVE, f64::MAX);
        if let Some(h) = number("h", least, most)? {
            (options.h, options.h_is_stored) = (h, true);
        }
        let set = |slot: &mut f64, value: Option<f64>| *slot = value.unwrap_or(*slot);
        set(&mut options.until, number("T", least, most)?);
        set(&mut options.theta, number("theta", least, 1.0)?);
        set(&mut options.threshold, number("constraint_activation_threshold", -most, most)?);
        set(&mut options.gravity_scale, number("gravity_scale", least, most)?);
        if let Some(every) = number("output_frequency", 0.0, 1e9)? {
            options.every = (every as usize).max(1);
        }
        // what changes a run and is not taken over
        let kept = |key: &str| match stored.get(key) {
            None | Some(Value::Null | Value::Bool(false)) => None,
            Some(value) if value.as_f64() == Some(0.0) => None,
            Some(value) => Some(value.to_string()),
        };
        for key in ["t0", "gamma", "set_external_forces", "controller"] {
            if let Some(value) = kept(key) {
                self.aside(path, format!("the option `{key}`, which is {value}"));
            }
        }
        Ok(options)
    }
}
