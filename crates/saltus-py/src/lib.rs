//! The compiled half of the Python package: conversions, and nothing that computes.
//!
//! What users see is `python/saltus`. Here every class is a thin shell around one Rust value;
//! settings travel as JSON text that serde reads into the settings structs, so that their names
//! and defaults exist once.

mod adaptive;
mod arrays;
mod bodies;
mod callable;
mod circuits;
mod compiled;
mod errors;
mod event_driven;
mod events;
mod function;
mod model;
mod model_file;
mod names;
mod numerics;
mod operator;
mod problem_file;
mod run;
mod scene;
mod settings;
mod signals;
mod simulation;
mod time_stepping;

use pyo3::prelude::*;

/// The compiled half of Saltus. Private: use `saltus`.
#[pymodule(name = "_saltus")]
mod extension {
    #[pymodule_export]
    use crate::adaptive::PyAdaptive;
    #[pymodule_export]
    use crate::bodies::{
        add_rigid_body, add_rigid_body_2d, connect_bushing, connect_coupler, connect_disk_disk,
        connect_disk_line, connect_joint, connect_joint_coordinate, connect_point_plane,
        connect_sphere_sphere, connect_spring_damper, state_parts,
    };
    #[pymodule_export]
    use crate::circuits::PyCircuit;
    #[pymodule_export]
    use crate::event_driven::PyEventDriven;
    #[pymodule_export]
    use crate::events::{
        PyAction, add_event, add_parameter, copy_model, model_events, model_parameters, set_active,
        set_recipe, with_parameters,
    };
    #[pymodule_export]
    use crate::model::{PyLaw, PyModel};
    #[pymodule_export]
    use crate::model_file::{PyModelFile, load_model};
    #[pymodule_export]
    use crate::names::nearest;
    #[pymodule_export]
    use crate::numerics::{
        PyProblem, PyQuadraticProgram, all_solutions, avi_problem, block_problem, boxed_problem,
        class_figure, contact_problem, function_problem, global_problem, lcp_problem, mlcp_problem,
        physical, residual, second_order_problem, solve, uniqueness,
    };
    #[pymodule_export]
    use crate::operator::{PyOperator, evaluate, is_parameter_name};
    #[pymodule_export]
    use crate::problem_file::{read_problem, write_problem};
    #[pymodule_export]
    use crate::run::{PyRun, load_run};
    #[pymodule_export]
    use crate::scene::{PyPart, PyScene, PyShape, load_scene};
    #[pymodule_export]
    use crate::settings::{check_integrator, check_newton, check_solver, defaults};
    #[pymodule_export]
    use crate::time_stepping::PyTimeStepping;
    #[pymodule_export]
    const VERSION: &str = saltus::VERSION;
}
