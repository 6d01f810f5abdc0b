//! The words of rigid bodies: joints, what is built into them, contacts, springs.

use super::{
    Form, Key, Kind, Section, SectionId, Uses, VECTOR, kind, needed, optional, section,
    with_default,
};

const NONE: &str = "none";
const OF_TIME: Form = Form::Coefficient(Uses::TIME);

/// The joints that leave nothing free.
const FIXED: [&str; 2] = ["fixed", "fixed-2d"];

/// The joints that bear forces alone.
const WITHOUT_MOMENTS: [&str; 5] = ["ball", "distance", "rack", "pivot-2d", "distance-2d"];

/// Why a joint does not have a key that others have.
pub(crate) fn why_not(kind: &str, key: &str) -> Option<&'static str> {
    let is_built_in = || key == "more" || built_in().iter().any(|one| one.name == key);
    match (FIXED.contains(&kind), WITHOUT_MOMENTS.contains(&kind)) {
        (true, _) if is_built_in() => Some("it leaves nothing free"),
        (_, true) if key == "break_moment" => Some("it bears no moment; use `break_force`"),
        _ => None,
    }
}

/// What is built into a coordinate of a joint.
fn built_in() -> Vec<Key> {
    vec![
        optional(
            "coordinate",
            Form::Text,
            "its first one",
            "the coordinate that limits, friction, spring and motor act on",
        ),
        optional("limits", Form::Bounds, NONE, "the least and the largest value, or infinite"),
        with_default("restitution", Form::Number, 0.0, "that of the limits, in [0, 1]"),
        optional("friction", Form::Number, NONE, "the largest force of dry friction"),
        optional("stiction", Form::Number, "as `friction`", "the same at rest"),
        with_default("rest_speed", Form::Number, 1e-6, "below this speed it is at rest"),
        optional("spring", Form::Table(SectionId::Spring), NONE, "a spring and a damper"),
        optional("motor", Form::Kind(SectionId::Motor), NONE, "what drives it"),
    ]
}

pub(super) fn extras() -> Section {
    section(SectionId::Extras, "more", "what is built into a coordinate of a joint", built_in())
}

pub(super) fn spring() -> Section {
    let keys = vec![
        with_default("stiffness", Form::Number, 0.0, "force or moment for each unit"),
        with_default("damping", Form::Number, 0.0, "force or moment for each unit of its rate"),
        with_default("rest", Form::Number, 0.0, "where it has no force"),
    ];
    section(SectionId::Spring, "spring", "a spring and a damper in a joint", keys)
}

pub(super) fn motor() -> Section {
    let max_force = || optional("max_force", Form::Number, "no bound", "the largest force");
    Section {
        kinds: vec![
            kind("force", "a force or moment", vec![needed("force", OF_TIME, "the force, of t")]),
            kind(
                "velocity",
                "a rate, as far as the force allows",
                vec![needed("v", OF_TIME, "the rate, of t"), max_force()],
            ),
            kind(
                "position",
                "−stiffness (x − target) − damping (ẋ − its rate), as far as the force allows",
                vec![
                    needed("target", OF_TIME, "where it is to be, of t"),
                    needed("stiffness", Form::Number, "force for each unit off"),
                    with_default("damping", Form::Number, 0.0, "force for each unit of its rate"),
                    max_force(),
                ],
            ),
        ],
        ..section(SectionId::Motor, "motor", "what drives a joint", Vec::new())
    }
}

/// The joints.
pub(super) fn joints() -> Vec<Kind> {
    // where the bodies start
    let point = || needed("point", VECTOR, "a point, in the frame of the world at the start");
    let axis = || needed("axis", VECTOR, "a direction, likewise");
    let second_axis = |doc| needed("second_axis", VECTOR, doc);
    let second_point = || needed("second_point", VECTOR, "a point of the second body");
    let breaking = |name: &str| {
        let force = "it breaks under forces larger than this; a gear under its moment";
        let moment = || optional("break_moment", Form::Number, NONE, "the same of its moments");
        let moment = (!WITHOUT_MOMENTS.contains(&name)).then(moment);
        std::iter::once(optional("break_force", Form::Number, NONE, force)).chain(moment)
    };
    // one that leaves something free
    let joint = |name, doc, own: Vec<Key>| {
        let keys = own.into_iter().chain(built_in());
        let more = "what is built into its other coordinates";
        let more = optional("more", Form::Tables(SectionId::Extras), NONE, more);
        kind(name, doc, keys.chain([more]).chain(breaking(name)).collect())
    };
    // one that leaves nothing free
    let plain = |name, doc| kind(name, doc, breaking(name).collect());
    vec![
        joint("ball", "a point that both have in common", vec![point(), swing()]),
        joint("pivot", "an axis in common, along which nothing moves", vec![point(), axis()]),
        joint("prismatic", "a way along an axis, without a turn", vec![axis()]),
        joint("cylindrical", "an axis in common", vec![point(), axis()]),
        joint(
            "universal",
            "a point in common, and an axis of each at a right angle",
            vec![point(), axis(), second_axis("the axis of the second body, across the first")],
        ),
        joint(
            "planar",
            "a plane in which the first body moves and turns",
            vec![point(), needed("normal", VECTOR, "the normal of the plane")],
        ),
        plain(FIXED[0], "both are one body"),
        joint(
            "distance",
            "two points that keep their distance; what is built into its length replaces that",
            vec![point(), second_point()],
        ),
        joint(
            "screw",
            "an axis in common, and a way along it with each turn",
            vec![
                point(),
                axis(),
                needed("pitch", Form::Number, "the way of a full turn, not zero"),
            ],
        ),
        joint(
            "gear",
            "teeth[0] ω_a + teeth[1] ω_b = 0, about axes that the world holds",
            vec![
                axis(),
                second_axis("the axis of the second body"),
                needed("teeth", VECTOR, "whole numbers; of both signs for teeth inside"),
            ],
        ),
        joint(
            "rack",
            "direction · v_b = radius ω_a: a pinion, the first body, on a rack",
            vec![
                axis(),
                needed("direction", VECTOR, "that the rack moves in as the pinion turns"),
                needed("radius", Form::Number, "of the pinion, positive"),
            ],
        ),
        joint("pivot-2d", "a point in common, in the plane", vec![point()]),
        joint("prismatic-2d", "a way along an axis, without a turn, in the plane", vec![axis()]),
        plain(FIXED[1], "both are one body, in the plane"),
        joint(
            "distance-2d",
            "two points that keep their distance, in the plane, likewise",
            vec![point(), second_point()],
        ),
    ]
}

/// The twist axis of ball joints.
fn swing() -> Key {
    optional("twist_axis", VECTOR, "[0, 0, 1]", "the axis of the coordinates swing and twist")
}

/// The relations of bodies.
pub(super) fn relations() -> Vec<Kind> {
    let point = || needed("point", VECTOR, "a point, in the frame of the world at the start");
    let second_point = || needed("second_point", VECTOR, "a point of the second body");
    let components = |default: u64, doc| with_default("components", Form::Count, default, doc);
    let in_space = "1: the normal; 3: and two tangents, for friction; 5: and two rates of rolling";
    let in_plane = "1: the normal; 2: and the tangent, for friction; 3: and the rate of rolling";
    let center = || {
        optional("center", VECTOR, "its center of mass", "a point of the first body, in its frame")
    };
    let second_center =
        || optional("second_center", VECTOR, "its center of mass", "of the second, in its frame");
    let radius =
        || with_default("radius", Form::Number, 0.0, "of the sphere about it; 0: the point alone");
    let normal = |absent| {
        let doc = "of the plane or line, which is the second body's or the world's";
        optional("normal", VECTOR, absent, doc)
    };
    let origin = || optional("origin", VECTOR, "zero", "a point of the plane or line");
    let of_joint = |name: &str| needed(name, Form::Kind(SectionId::Relation), "the joint");
    let coordinate = |name: &str| needed(name, Form::Text, "the coordinate of that joint");
    let others = vec![
        kind(
            "joint-coordinate",
            "y is what a joint leaves free",
            vec![of_joint("joint"), coordinate("coordinate"), swing()],
        ),
        kind(
            "coupler",
            "y = x₂ − ratio x₁ of two coordinates",
            vec![
                of_joint("joint"),
                coordinate("coordinate"),
                of_joint("second_joint"),
                coordinate("second_coordinate"),
                needed("ratio", Form::Number, "not zero; of whole numbers where both are angles"),
                with_default(
                    "between",
                    Form::Flag,
                    false,
                    "whether both are between the two bodies, not each of its own and the world",
                ),
            ],
        ),
        kind(
            "spring-damper",
            "a spring and a damper between two points",
            vec![
                point(),
                second_point(),
                needed("stiffness", Form::Number, "force for each unit of length, positive"),
                with_default("damping", Form::Number, 0.0, "force for each unit of its rate"),
                optional("rest", Form::Number, "that at the start", "its length without force"),
            ],
        ),
        kind(
            "bushing",
            "springs and dampers along three directions and about them",
            vec![
                point(),
                optional("axis", VECTOR, "[1, 0, 0]", "the first direction"),
                optional("second_axis", VECTOR, "[0, 1, 0]", "the second, across the first"),
                needed("stiffness", VECTOR, "three along the directions, three about them"),
                optional("damping", VECTOR, "zero", "likewise"),
            ],
        ),
        kind(
            "point-plane",
            "gap = n · (P − origin) − radius",
            vec![center(), radius(), normal("[0, 0, 1]"), origin(), components(3, in_space)],
        ),
        kind(
            "sphere-sphere",
            "gap = |P − Q| − radii[0] − radii[1]",
            vec![
                needed("radii", VECTOR, "of both spheres"),
                center(),
                second_center(),
                components(3, in_space),
            ],
        ),
        kind(
            "disk-line",
            "gap = n · (P − origin) − radius, in the plane",
            vec![center(), radius(), normal("[0, 1]"), origin(), components(2, in_plane)],
        ),
        kind(
            "disk-disk",
            "gap = |P − Q| − radii[0] − radii[1], in the plane",
            vec![
                needed("radii", VECTOR, "of both disks"),
                center(),
                second_center(),
                components(2, in_plane),
            ],
        ),
    ];
    joints().into_iter().chain(others).collect()
}
