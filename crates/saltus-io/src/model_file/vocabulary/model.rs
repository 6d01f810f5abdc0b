//! The words of systems, interactions, relations, laws and events.

use super::{
    Form, Key, MATRIX, MATRIX_OF_TIME, Section, SectionId, Uses, VECTOR, VECTOR_OF_TIME, bodies,
    kind, needed, optional, repeatable, section, with_default,
};

/// Inputs that a run leaves as they are.
fn inputs() -> Key {
    optional("z0", VECTOR, "no inputs", "the inputs z, as they are until they are set")
}

const EXACT: &str = "the exact derivative";

pub fn system() -> Section {
    const F: Uses = Uses::TIME.first("x").inputs();
    let first_order = vec![
        needed("x0", VECTOR, "the initial state"),
        needed("f", Form::Vector(F), "the right-hand side, of t, x and z"),
        optional("df_dx", Form::Matrix(F), EXACT, "∂f/∂x"),
        optional("M", MATRIX_OF_TIME, "the identity", "the mass matrix, of t; it may be singular"),
        inputs(),
    ];
    let first_order_linear = vec![
        needed("x0", VECTOR, "the initial state"),
        needed("A", MATRIX_OF_TIME, "the matrix of the state"),
        optional("b", VECTOR_OF_TIME, "zero", "the forcing"),
        optional("M", MATRIX, "the identity", "the mass matrix; it may be singular"),
    ];
    const Q: Uses = Uses::NOTHING.first("q");
    const GYR: Uses = Q.second("v").inputs();
    const INT: Uses = Uses { time: true, ..GYR };
    let lagrangian = vec![
        needed("q0", VECTOR, "the initial configuration"),
        needed("v0", VECTOR, "the initial velocity"),
        needed("M", Form::Matrix(Q), "the mass matrix, of q; symmetric positive definite"),
        optional("F_gyr", Form::Vector(GYR), "zero", "the gyroscopic force, of q, v and z"),
        optional("F_int", Form::Vector(INT), "zero", "the internal force, of t, q, v and z"),
        optional(
            "F_ext",
            Form::Vector(Uses::TIME.inputs()),
            "zero",
            "the external force, of t and z",
        ),
        optional("dF_gyr_dq", Form::Matrix(GYR), EXACT, "∂F_gyr/∂q"),
        optional("dF_gyr_dv", Form::Matrix(GYR), EXACT, "∂F_gyr/∂v"),
        optional("dF_int_dq", Form::Matrix(INT), EXACT, "∂F_int/∂q"),
        optional("dF_int_dv", Form::Matrix(INT), EXACT, "∂F_int/∂v"),
        inputs(),
    ];
    let lagrangian_linear = vec![
        needed("q0", VECTOR, "the initial configuration"),
        needed("v0", VECTOR, "the initial velocity"),
        needed("M", MATRIX, "the mass matrix, symmetric positive definite"),
        optional("C", MATRIX, "zero", "the damping matrix"),
        optional("K", MATRIX, "zero", "the stiffness matrix"),
        optional("F_ext", VECTOR_OF_TIME, "zero", "the external force"),
    ];
    let place = "the origin";
    let still = "zero: at rest";
    let frames = || Form::Choice(vec!["world", "body"]);
    let rigid_body = vec![
        optional("position", VECTOR, place, "where the center of mass is at first"),
        optional("orientation", VECTOR, "[1, 0, 0, 0]", "a quaternion w, x, y, z, of any length"),
        optional("v", VECTOR, still, "its first velocity, in the frame of the world"),
        optional("omega", VECTOR, still, "its first angular velocity, in the frame of the body"),
        needed("mass", Form::Number, "its mass, in (0, inf)"),
        needed(
            "inertia",
            Form::VectorOrMatrix,
            "its moments about the center of mass, in the frame of the body: three, or a matrix",
        ),
        optional("gravity", VECTOR, "zero", "the acceleration of gravity"),
        optional("force", Form::Vector(INT), "zero", "on the center of mass, of t, q, v and z"),
        with_default("force_frame", frames(), "world", "the frame of `force`"),
        optional("moment", Form::Vector(INT), "zero", "a moment, of t, q, v and z"),
        with_default("moment_frame", frames(), "body", "the frame of `moment`"),
        inputs(),
    ];
    let rigid_body_2d = vec![
        optional("position", VECTOR, place, "where the center of mass is at first"),
        with_default("angle", Form::Number, 0.0, "how it is turned at first, in radians"),
        optional("v", VECTOR, still, "its first velocity"),
        with_default("omega", Form::Number, 0.0, "its first angular velocity"),
        needed("mass", Form::Number, "its mass, in (0, inf)"),
        needed("inertia", Form::Number, "its moment about the center of mass, in (0, inf)"),
        optional("gravity", VECTOR, "zero", "the acceleration of gravity"),
        optional("force", Form::Vector(INT), "zero", "on the center of mass, of t, q, v and z"),
        with_default("force_frame", frames(), "world", "the frame of `force`"),
        optional("moment", Form::Vector(INT), "zero", "a moment, of t, q, v and z"),
        inputs(),
    ];
    Section {
        kinds: vec![
            kind("first-order", "M(t) ẋ = f(t, x, z) + r", first_order),
            kind("first-order-linear", "M ẋ = A x + b + r", first_order_linear),
            kind(
                "lagrangian",
                "M(q) v̇ + F_gyr(q, v) + F_int(t, q, v) = F_ext(t) + p, q̇ = v",
                lagrangian,
            ),
            kind("lagrangian-linear", "M v̇ + C v + K q = F_ext + p, q̇ = v", lagrangian_linear),
            kind(
                "rigid-body",
                "m v̇ = m g + force + p, J ω̇ + ω × J ω = moment + p, q = (position, quaternion)",
                rigid_body,
            ),
            kind("rigid-body-2d", "m v̇ = m g + force + p, J ω̇ = moment + p", rigid_body_2d),
        ],
        ..section(
            SectionId::System,
            "system",
            "a dynamical system",
            repeatable("the system's name"),
        )
    }
}

pub fn interaction() -> Section {
    let mut keys = repeatable("the interaction's name");
    keys.extend([
        needed("systems", Form::Links, "the one or two systems that interact"),
        needed("relation", Form::Kind(SectionId::Relation), "what y is, and how λ acts"),
        needed("law", Form::Kind(SectionId::Law), "what y and λ satisfy"),
        with_default(
            "active",
            Form::Flag,
            true,
            "whether it acts from the beginning; if not, an event can connect it",
        ),
    ]);
    section(SectionId::Interaction, "interaction", "a law on the output of a relation", keys)
}

pub fn event() -> Section {
    let never = "this is not what it waits for";
    let nothing = "nothing of that";
    let keys = vec![
        optional("name", Form::Name, "event1, event2 …", "the event's name"),
        optional(
            "for",
            Form::Repetition,
            "one table",
            "repeats the table, for example `i in 0..N`; the end is excluded",
        ),
        optional("when", Form::Text, never, "happens when this condition becomes true"),
        optional("at", Form::Bounds, never, "happens at this instant, or these"),
        optional("every", Form::Number, never, "happens every so many seconds"),
        optional("start", Form::Number, "`t0`", "the first instant of `every`"),
        with_default("once", Form::Flag, false, "whether it happens at most once"),
        optional(
            "set",
            Form::Values,
            nothing,
            "new values of states, such as \"ball.v\", and parameters",
        ),
        optional("law", Form::ByName(SectionId::Law), nothing, "new laws of interactions"),
        optional("connect", Form::Signals, nothing, "interactions that act from now on"),
        optional("disconnect", Form::Signals, nothing, "interactions that act no longer"),
        with_default("stop", Form::Flag, false, "whether it ends the run"),
    ];
    section(SectionId::Event, "event", "what changes at an instant", keys)
}

pub fn relation() -> Section {
    const H: Uses = Uses::TIME.first("x").second("lam").inputs();
    let first_order = vec![
        needed("h", Form::Vector(H), "the output, of t, x, lam and z"),
        needed("g", Form::Vector(H), "the input, of t, x, lam and z"),
        optional("dh_dx", Form::Matrix(H), EXACT, "∂h/∂x"),
        optional("dh_dlam", Form::Matrix(H), EXACT, "∂h/∂λ"),
        optional("dg_dx", Form::Matrix(H), EXACT, "∂g/∂x"),
        optional("dg_dlam", Form::Matrix(H), EXACT, "∂g/∂λ"),
        inputs(),
    ];
    let first_order_linear = vec![
        needed("C", MATRIX_OF_TIME, "the output matrix, one row a component of y"),
        needed("B", MATRIX_OF_TIME, "the input matrix, one column a component of λ"),
        optional("D", MATRIX_OF_TIME, "zero", "the feed-through"),
        optional("e", VECTOR_OF_TIME, "zero", "the offset"),
        optional("F", MATRIX_OF_TIME, "zero", "the weight of the inputs z"),
        inputs(),
    ];
    const GAP: Uses = Uses::TIME.first("q");
    let lagrangian = vec![
        needed("h", Form::Vector(GAP), "the gap, of t and q"),
        optional("H", Form::Matrix(GAP), EXACT, "∂h/∂q"),
        optional("dh_dt", Form::Vector(GAP), EXACT, "∂h/∂t"),
    ];
    const SOFT: Uses = Uses::NOTHING.first("q").second("lam");
    let lagrangian_compliant = vec![
        needed("h", Form::Vector(SOFT), "the gap, of q and lam"),
        optional("H", Form::Matrix(SOFT), EXACT, "∂h/∂q"),
        optional("dh_dlam", Form::Matrix(SOFT), EXACT, "∂h/∂λ"),
    ];
    let prescribed = vec![
        needed("dofs", VECTOR, "the degrees of freedom whose velocity is given, from 0"),
        needed("v", VECTOR_OF_TIME, "their velocities"),
    ];
    let lagrangian_linear = vec![
        needed("H", MATRIX, "the Jacobian of the gap, one row a component"),
        optional("b", VECTOR, "zero", "the offset"),
        optional("D", MATRIX, "zero", "the compliance"),
    ];
    let mut kinds = vec![
        kind("first-order", "y = h(t, x, λ), r = g(t, x, λ)", first_order),
        kind("first-order-linear", "y = C x + D λ + e + F z, r = B λ", first_order_linear),
        kind("lagrangian", "y = h(t, q), u = H v + ∂h/∂t, H = ∂h/∂q, p = Hᵀ λ", lagrangian),
        kind("lagrangian-compliant", "y = h(q, λ), H = ∂h/∂q, p = Hᵀ λ", lagrangian_compliant),
        kind("lagrangian-linear", "y = H q + D λ + b, u = H v, p = Hᵀ λ", lagrangian_linear),
        kind("prescribed", "u = v[dofs] − v(t), p[dofs] = λ", prescribed),
    ];
    kinds.extend(bodies::relations());
    let doc = "what y is, and how λ acts";
    Section { kinds, ..section(SectionId::Relation, "relation", doc, Vec::new()) }
}

pub fn law() -> Section {
    let relay = vec![
        with_default(
            "lower",
            Form::Bounds,
            -1.0,
            "λ where y > 0: one number for all components, or one each",
        ),
        with_default(
            "upper",
            Form::Bounds,
            1.0,
            "λ where y < 0: one number for all components, or one each",
        ),
    ];
    let switch = vec![
        needed(
            "control",
            Form::Text,
            "a formula of t, states, outputs and parameters, as in events",
        ),
        with_default("on", Form::Number, 0.0, "it closes where the control is above this"),
        optional("off", Form::Number, "as `on`", "it opens where the control is below this"),
        with_default("closed", Form::Flag, false, "whether it is closed at the beginning"),
    ];
    let piecewise_linear = vec![needed(
        "points",
        Form::Points,
        "points [y, lam] of the graph, y not decreasing and lam not increasing",
    )];
    let normal_cone = vec![
        needed("A", MATRIX, "one row a half-space"),
        needed("b", VECTOR, "one entry a half-space"),
    ];
    const CONTACT: Form = Form::Coefficient(Uses::TIME.first("q").second("u"));
    let e = || needed("e", CONTACT, "the restitution, in [0, 1]");
    let mu = || needed("mu", CONTACT, "the friction coefficient, not negative");
    let et = with_default("et", Form::Number, 0.0, "the tangential restitution, in [-1, 1]");
    let mu_r = needed("mu_r", CONTACT, "the coefficient of rolling resistance, a length");
    let multiple_impact = vec![
        needed("e", Form::Number, "the energetic restitution, in [0, 1]"),
        needed("stiffness", Form::Number, "K of the force K d^exponent, positive"),
        with_default("exponent", Form::Number, 1.5, "at least 1: 1 for springs, 3/2 for Hertz"),
    ];
    let after = || {
        [
            with_default("e", CONTACT, 0.0, "the restitution of the contact, in [0, 1]"),
            with_default("mu", CONTACT, 0.0, "its friction coefficient, not negative"),
        ]
    };
    let mut cohesive = vec![
        needed("stiffness", Form::Number, "force per opening of the sound bond, positive"),
        needed("strength", Form::Number, "the largest force, positive"),
        needed("energy", Form::Number, "what it takes to break the bond"),
        with_default(
            "shear",
            Form::Number,
            1.0,
            "the tangential stiffness beside the normal one, not negative",
        ),
    ];
    cohesive.extend(after());
    let mut binary_cohesive = vec![
        needed("strength", Form::Number, "the force of the bond, positive"),
        needed("opening", Form::Number, "the gap beyond which it is broken, not negative"),
    ];
    binary_cohesive.extend(after());
    Section {
        kinds: vec![
            kind("complementarity", "0 ≤ y ⟂ λ ≥ 0", Vec::new()),
            kind("equality", "y = 0 (mechanics: u = 0), λ free", Vec::new()),
            kind(
                "relay",
                "λ = lower where y > 0, upper where y < 0, between them where y = 0",
                relay,
            ),
            kind(
                "piecewise-linear",
                "(y, λ) on the line through the points, continued at both ends",
                piecewise_linear,
            ),
            kind("switch", "closed: y = 0, λ free; open: λ = 0, y free", switch),
            kind("normal-cone", "−y ∈ N_P(λ), P = { λ : A λ ≤ b }", normal_cone),
            kind("newton-impact", "0 ≤ u⁺ + e u⁻ ⟂ λ ≥ 0 where the gap is closed", vec![e()]),
            kind(
                "impact-friction",
                "newton-impact in the normal direction, ‖λ_T‖ ≤ mu λ_N against sliding",
                vec![e(), mu(), et],
            ),
            kind(
                "rolling-friction",
                "impact-friction with rolling resistance ‖λ_R‖ ≤ mu_r λ_N",
                vec![e(), mu(), mu_r],
            ),
            kind(
                "fremond",
                "impact-friction against the mean of the sliding velocities before and after",
                vec![e(), mu()],
            ),
            kind(
                "multiple-impact",
                "impacts on several contacts at once, shared as by springs; 0 ≤ u⁺ ⟂ λ ≥ 0 between them",
                multiple_impact,
            ),
            kind(
                "cohesive",
                "impact-friction and a bond beside it that is damaged by opening",
                cohesive,
            ),
            kind(
                "binary-cohesive",
                "impact-friction and a bond beside it of constant force up to an opening",
                binary_cohesive,
            ),
        ],
        kind_alone: true,
        ..section(SectionId::Law, "law", "what y and λ satisfy", Vec::new())
    }
}
