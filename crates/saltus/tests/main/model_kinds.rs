//! Each kind of system, relation and law in a small model file whose answer is known.

use crate::support::{order_within, within};
use saltus::io::model_file::ModelFile;
use saltus::prelude::*;

/// Runs a model: the lines of `[simulation]`, then the rest.
#[track_caller]
fn run(simulation: &str, model: &str) -> Run {
    let text = format!("[simulation]\n{simulation}\n{model}");
    let ModelFile { model, simulation, .. } = ModelFile::parse(&text, "model.toml", &[])
        .unwrap_or_else(|error| panic!("{}", error.report()));
    let (integrators, solver) = (simulation.integrators, &simulation.solver);
    let newton = simulation.newton;
    let mut sim =
        TimeStepping::with_methods(model, simulation.h, integrators, solver, newton).unwrap();
    sim.run(simulation.until).unwrap()
}

/// The value of a signal at the end.
fn last(run: &Run, signal: &str) -> f64 {
    *run.signal(signal).unwrap().last().unwrap()
}

/// A first-order system with a relation and a law.
fn first_order(system: &str, relation: &str, law: &str) -> String {
    format!(
        "[[system]]\nname = \"s\"\n{system}\n[[interaction]]\nname = \"i\"\nsystems = [\"s\"]\nrelation = {{ {relation} }}\nlaw = {law}\n"
    )
}

/// `ẋ = −x³`: x = 1/√(1 + 2t), at second order with θ = 1/2, by every mode of Newton's method.
#[test]
fn a_nonlinear_equation() {
    let system = "[[system]]\nname = \"s\"\nkind = \"first-order\"\nx0 = [1]\nf = [\"-x[0]^3\"]\n";
    let exact = 1.0 / 3f64.sqrt();
    for mode in ["full", "quasi", "linear"] {
        let error = |h: f64| {
            let settings = format!("integrator = {{ theta = 0.5 }}\nh = {h}\nuntil = 1");
            let run = run(&format!("{settings}\nnewton = {{ mode = \"{mode}\" }}"), system);
            (h, (last(&run, "s.x") - exact).abs())
        };
        let errors = [error(0.02), error(0.01), error(0.005)];
        order_within(&format!("x(1), {mode}"), &errors, 1.9..=2.1);
    }
}

/// A given Jacobian is used: with the right one nothing changes.
#[test]
fn a_given_jacobian() {
    let with = |more: &str| {
        let system = format!(
            "[[system]]\nname = \"s\"\nkind = \"first-order\"\nx0 = [1, 0]\nf = \"[x[1], -sin(x[0])*(1 + t)]\"\n{more}\n"
        );
        run("integrator = { theta = 0.5 }\nh = 1e-2\nuntil = 2", &system)
    };
    let (own, given) =
        (with(""), with("df_dx = [[0, 1], [\"-cos(x[0])*(1 + t)\", 0]]\nM = { identity = 2 }"));
    assert_eq!(last(&own, "s.x[0]").to_bits(), last(&given, "s.x[0]").to_bits());
}

/// A singular mass matrix: `ẋ₀ = −x₁`, `0 = x₁ − x₀³`.
#[test]
fn an_algebraic_equation() {
    let system = "[[system]]\nname = \"s\"\nkind = \"first-order\"\nx0 = [1, 1]\nM = [[1, 0], [0, 0]]\nf = [\"-x[1]\", \"x[1] - x[0]^3\"]\n";
    let run = run("h = 1e-3\nuntil = 1\nnewton = { tol = 1e-13 }", system);
    within("x₁ − x₀³", (last(&run, "s.x[1]") - last(&run, "s.x[0]").powi(3)).abs(), 1e-9);
    within("x₀(1)", (last(&run, "s.x[0]") - 1.0 / 3f64.sqrt()).abs(), 1e-3);
}

/// A diode with a nonlinear relation: `y = x² − 1 + λ`, `r = −λ x`: x decays to 1 and stays.
#[test]
fn a_nonlinear_relation() {
    let text = first_order(
        "kind = \"first-order-linear\"\nx0 = [3]\nA = [[0]]",
        "kind = \"first-order\", h = [\"1 - x[0]^2 + lam[0]\"], g = [\"-lam[0]*x[0]\"]",
        "\"complementarity\"",
    );
    // λ = max(0, x² − 1), so ẋ = −x (x² − 1) above 1, and x⁻² = 1 − (8/9) e^(−2t)
    let run = run("h = 1e-4\nuntil = 2", &text);
    let exact = 1.0 / (1.0 - 8.0 / 9.0 * (-4f64).exp()).sqrt();
    within("x(2)", (last(&run, "s.x") - exact).abs(), 1e-4);
}

/// Inputs and a relation that moves with time: `ẋ = −sgn(x − sin t − z)` follows `sin t + z`.
#[test]
fn inputs_and_time() {
    let text = first_order(
        "kind = \"first-order-linear\"\nx0 = [1]\nA = [[0]]",
        "kind = \"first-order-linear\", C = [[1]], B = [[2]], e = [\"-sin(t)\"], F = [[-1]], z0 = [0.5]",
        "\"relay\"",
    );
    let run = run("h = 1e-3\nuntil = 4", &text);
    within("x(4)", (last(&run, "s.x") - 4f64.sin() - 0.5).abs(), 1e-9);
}

/// A saturation: `ẋ = −clamp(x, −1, 1)` from 3 goes down to 1 in two seconds, then decays.
#[test]
fn a_saturation() {
    let text = first_order(
        "kind = \"first-order-linear\"\nx0 = [3]\nA = [[0]]",
        "kind = \"first-order-linear\", C = [[1]], B = [[1]]",
        "{ kind = \"piecewise-linear\", points = [[-2, 1], [-1, 1], [1, -1], [2, -1]] }",
    );
    let run = run("h = 1e-3\nuntil = 3", &text);
    within("x(3)", (last(&run, "s.x") - (-1f64).exp()).abs(), 1e-3);
    let lam = run.signal("i.lam").unwrap();
    within("λ(1)", (lam[1000] + 1.0).abs(), 1e-9);
}

/// Steepest descent in the sum norm: `ẋ = λ`, `|λ₁| + |λ₂| ≤ 1`, moves the larger component.
#[test]
fn a_polyhedron() {
    let text = first_order(
        "kind = \"first-order-linear\"\nx0 = [2, 1]\nA = { diagonal = [0, 0] }",
        "kind = \"first-order-linear\", C = { identity = 2 }, B = { identity = 2 }",
        "{ kind = \"normal-cone\", A = [[1, 1], [1, -1], [-1, 1], [-1, -1]], b = [1, 1, 1, 1] }",
    );
    let run = run("h = 1e-2\nuntil = 4", &text);
    let (a, b) = (run.signal("s.x[0]").unwrap(), run.signal("s.x[1]").unwrap());
    within("x₁(0.5)", (a[50] - 1.5).abs() + (b[50] - 1.0).abs(), 1e-8);
    within("x(2)", (a[200] - 0.5).abs() + (b[200] - 0.5).abs(), 0.011);
    within("x(4)", a[400].abs() + b[400].abs(), 1e-8);
}

/// A mechanical system with a relation and a law.
fn mechanics(system: &str, relation: &str, law: &str) -> String {
    first_order(&format!("kind = \"lagrangian\"\n{system}"), relation, law)
}

/// A soft contact is a spring: it throws the mass back after π √(m/k), as fast as it came.
#[test]
fn a_soft_contact() {
    for (kind, relation) in [
        ("formula", "kind = \"lagrangian-compliant\", h = [\"q[0] + lam[0]/400\"]"),
        ("matrix", "kind = \"lagrangian-linear\", H = [[1]], D = [[0.0025]]"),
    ] {
        let system = "q0 = [0.1]\nv0 = [-1]\nM = [[4]]";
        let run = run("h = 1e-4\nuntil = 1", &mechanics(system, relation, "\"complementarity\""));
        within(&format!("{kind}: v"), (last(&run, "s.v") - 1.0).abs(), 1e-3);
        let (q, v) = (run.signal("s.q").unwrap(), run.signal("s.v").unwrap());
        let depth = q.iter().fold(0.0f64, |a, &b| a.min(b));
        within(&format!("{kind}: depth"), (depth + 0.1).abs(), 1e-3);
        let inside = q.iter().filter(|q| **q < 0.0).count() as f64 * 1e-4;
        within(&format!("{kind}: time"), (inside - std::f64::consts::PI / 10.0).abs(), 1e-3);
        assert_eq!(v[0], -1.0);
    }
}

/// A pendulum as a point on a circle.
#[test]
fn a_constraint() {
    let text = mechanics(
        "q0 = [1, 0]\nv0 = [0, 0]\nM = { diagonal = [2, 2] }\nF_ext = [0, \"-2*9.81\"]",
        "kind = \"lagrangian\", h = [\"q[0]^2 + q[1]^2 - 1\"]",
        "\"equality\"",
    );
    // the multiplier acts along the constraint at the end of the step, which takes energy at first order
    let error = |h: f64| {
        let run = run(&format!("h = {h}\nuntil = 1"), &text);
        let (x, y) = (last(&run, "s.q[0]"), last(&run, "s.q[1]"));
        let (u, v) = (last(&run, "s.v[0]"), last(&run, "s.v[1]"));
        within("length", (x * x + y * y - 1.0).abs(), 10.0 * h);
        (h, (0.5 * (u * u + v * v) + 9.81 * y).abs() / 9.81)
    };
    order_within("energy", &[error(4e-4), error(2e-4), error(1e-4)], 0.9..=1.1);
}

/// A block slides until friction has stopped it, after v₀²/(2 μ g), in the plane and in space,
/// by Coulomb's law and by Frémond's.
#[test]
fn sliding_to_a_stop() {
    for law in ["impact-friction", "fremond"] {
        let law = format!("{{ kind = \"{law}\", e = 0, mu = 0.5 }}");
        let system = "q0 = [0, 0]\nv0 = [0, 2]\nM = { identity = 2 }\nF_ext = [\"-10\", 0]";
        let relation = "kind = \"lagrangian\", h = [\"q[0]\", \"q[1]\"]";
        let plane = run("h = 1e-3\nuntil = 1", &mechanics(system, relation, &law));
        within(&format!("{law}, plane"), (last(&plane, "s.q[1]") - 0.4).abs(), 2e-3);
        within(&format!("{law}, stop"), last(&plane, "s.v[1]").abs(), 1e-9);

        let system =
            "q0 = [0, 0, 0]\nv0 = [0, 1.2, 1.6]\nM = { identity = 3 }\nF_ext = [-10, 0, 0]";
        let relation = "kind = \"lagrangian\", h = \"[q[0], q[1], q[2]]\"";
        let space = run("h = 1e-3\nuntil = 1", &mechanics(system, relation, &law));
        let way = last(&space, "s.q[1]").hypot(last(&space, "s.q[2]"));
        within(&format!("{law}, space"), (way - 0.4).abs(), 2e-3);
    }
}

/// A rolling disk is slowed by rolling resistance: (m + J/R²) v̇ = −μ_r m g/R.
#[test]
fn rolling_to_a_stop() {
    let (m, R, mu_r, g) = (2.0, 0.5, 0.01, 10.0);
    let system =
        "q0 = [0, 0, 0]\nv0 = [0, 1, -2]\nM = { diagonal = [2, 2, 0.25] }\nF_ext = [-20, 0, 0]";
    let relation = "kind = \"lagrangian\", h = [\"q[0]\", \"q[1] + 0.5*q[2]\", \"q[2]\"]";
    let law = "{ kind = \"rolling-friction\", e = 0, mu = 0.4, mu_r = 0.01 }";
    let run = run("h = 1e-3\nuntil = 2", &mechanics(system, relation, law));
    let rate = mu_r * m * g / R / (m + 0.25 / (R * R));
    within("v(2)", (last(&run, "s.v[1]") - (1.0 - 2.0 * rate)).abs(), 1e-6);
    within("rolling", (last(&run, "s.v[1]") + R * last(&run, "s.v[2]")).abs(), 1e-9);
}

/// Coefficients by formulas: a floor that is elastic at first, and sticky later.
#[test]
fn coefficients_by_formulas() {
    let text = mechanics(
        "q0 = [1]\nv0 = [0]\nM = [[1]]\nF_ext = [-10]",
        "kind = \"lagrangian\", h = [\"q[0]\"]",
        "{ kind = \"newton-impact\", e = \"if(t < 1, 1, 0)\" }",
    );
    let run = run("h = 1e-3\nuntil = 4", &text);
    let (q, t) = (run.signal("s.q").unwrap(), &run.frames.time);
    let top = q.iter().zip(t).filter(|(_, t)| **t > 0.5).fold(0.0f64, |a, (q, _)| a.max(*q));
    within("the first bounce", (top - 1.0).abs(), 2e-2);
    within("rest", last(&run, "s.v").abs(), 1e-12);

    // what is out of range stops the run, with the coefficient named
    let wrong = text.replace("if(t < 1, 1, 0)", "1 + t");
    let file = format!("[simulation]\nh = 1e-3\nuntil = 4\n{wrong}");
    let file = ModelFile::parse(&file, "model.toml", &[]).unwrap();
    let mut sim = TimeStepping::new(file.model, 1e-3, file.simulation.integrators).unwrap();
    let message = sim.run(4.0).unwrap_err().to_string();
    assert!(message.contains("`e of i`") && message.contains("[0, 1]"), "{message}");
}

/// Two systems see one configuration: a spring between two masses, as a relation of both.
#[test]
fn two_systems() {
    let mass = |name: &str, q0: f64| {
        format!(
            "[[system]]\nname = \"{name}\"\nkind = \"lagrangian\"\nq0 = [0, {q0}]\nv0 = [0, 0]\nM = {{ identity = 2 }}\nF_ext = [0, -10]\n"
        )
    };
    let rod = "[[interaction]]\nname = \"rod\"\nsystems = [\"a\", \"b\"]\nrelation = { kind = \"lagrangian\", h = [\"(q[2] - q[0])^2 + (q[3] - q[1])^2 - 4\"] }\nlaw = \"equality\"\n";
    let text = format!("{}{}{rod}", mass("a", 1.0), mass("b", 3.0));
    let run = run("h = 1e-3\nuntil = 1", &text);
    within("free fall of the rod", (last(&run, "b.q[1]") - (3.0 - 5.0)).abs(), 1e-9);
    within("its length", (last(&run, "b.q[1]") - last(&run, "a.q[1]") - 2.0).abs(), 1e-12);
}

/// A mass that is carried along, `q = sin t`: the reaction is `m q̈`.
#[test]
fn a_prescribed_motion() {
    let text = mechanics(
        "q0 = [0, 5]\nv0 = [1, 0]\nM = { diagonal = [2, 1] }",
        "kind = \"prescribed\", dofs = [0], v = [\"cos(t)\"]",
        "\"equality\"",
    );
    let run = run("h = 1e-3\nuntil = 2", &text);
    within("q(2)", (last(&run, "s.q[0]") - 2f64.sin()).abs(), 1e-6);
    within("reaction", (last(&run, "i.lam") / 1e-3 + 2.0 * 2f64.sin()).abs(), 2e-3);
    assert_eq!(last(&run, "s.q[1]"), 5.0);
}

/// A scheme for each system, by name.
#[test]
fn two_schemes() {
    let system = |name: &str| {
        format!(
            "[[system]]\nname = \"{name}\"\nkind = \"lagrangian-linear\"\nq0 = [1]\nv0 = [0]\nM = [[1]]\nK = [[1]]\n"
        )
    };
    let model = system("left") + &system("right");
    let integrators = "integrator = [{ kind = \"moreau-jean\", theta = 1, systems = [\"left\"] }, \"schatzman-paoli\"]";
    let run = run(&format!("{integrators}\nh = 0.05\nuntil = 20"), &model);
    assert!(last(&run, "left.q").abs() < 0.8 * 20f64.cos());
    within("right", (last(&run, "right.q") - 20f64.cos()).abs(), 1e-2);
    let wrong = "integrator = { kind = \"moreau-jean\", systems = [\"lft\"] }\nh = 1\nuntil = 1";
    let error = ModelFile::parse(&format!("[simulation]\n{wrong}\n{model}"), "model.toml", &[]);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("model.toml:2:") && error.contains("`lft`"), "{error}");
}
