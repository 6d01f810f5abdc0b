//! The words of scenes: materials, contacts, what stands still, bodies, shapes and joints.

use super::{
    Absent, Form, Key, Kind, MATRIX, Section, SectionId, Uses, VECTOR, VECTOR_OF_TIME, kind,
    needed, optional, repeatable, section, with_default,
};

/// What loads of bodies may use.
const LOAD: Uses = Uses::TIME.first("q").second("v");

/// The keys that scenes add to a model file.
pub(super) fn file_keys() -> Vec<Key> {
    vec![
        optional(
            "scene",
            Form::Table(SectionId::Scene),
            "space without gravity",
            "what all bodies have in common",
        ),
        optional("material", Form::Tables(SectionId::Material), "none", "materials of shapes"),
        optional(
            "contact",
            Form::Tables(SectionId::Contact),
            "nothing touches",
            "what happens where two materials touch",
        ),
        optional(
            "static",
            Form::Tables(SectionId::Static),
            "none",
            "what stands still, or moves as it is told",
        ),
        optional("body", Form::Tables(SectionId::Body), "none", "rigid bodies with shapes"),
        optional("joint", Form::Tables(SectionId::Joint), "none", "what holds bodies together"),
    ]
}

/// The sections of scenes, in the order of [`SectionId`].
pub(super) fn sections() -> Vec<Section> {
    vec![scene(), material(), contact(), fixed(), drive(), body(), joint(), shape()]
}

fn scene() -> Section {
    let keys = vec![
        with_default("dim", Form::Count, 3, "3: bodies in space; 2: bodies in the plane"),
        optional("gravity", VECTOR, "zero", "the acceleration of gravity of all bodies"),
        optional(
            "apart",
            Form::Pairs,
            "none",
            "pairs of names of bodies, statics or groups that do not touch each other",
        ),
    ];
    section(SectionId::Scene, "scene", "what all bodies have in common", keys)
}

fn material() -> Section {
    let mut keys = repeatable("the material's name");
    keys.push(optional(
        "density",
        Form::Number,
        "bodies of it need a `mass`",
        "mass of a unit of volume, or in the plane of area",
    ));
    section(SectionId::Material, "material", "a material", keys)
}

fn contact() -> Section {
    let keys = vec![
        optional(
            "for",
            Form::Repetition,
            "one table",
            "repeats the table, for example `i in 0..N`; the end is excluded",
        ),
        needed("materials", Form::Links, "the two materials; `default` pairs with all"),
        with_default("e", Form::Number, 0.0, "the restitution, in [0, 1]"),
        optional("mu", Form::Number, "no friction", "the friction coefficient, not negative"),
        optional("mu_r", Form::Number, "none", "the coefficient of rolling resistance, a length"),
        with_default("et", Form::Number, 0.0, "the tangential restitution, in [-1, 1]"),
        optional(
            "stiffness",
            Form::Number,
            "they are rigid",
            "of the springs by which they give way, force a length, positive",
        ),
        with_default("damping", Form::Number, 0.0, "of the dampers beside them, force a velocity"),
        optional(
            "tangential_stiffness",
            Form::Number,
            "`stiffness`",
            "of the springs along the tangents, positive",
        ),
        with_default("touch", Form::Flag, true, "whether they touch, or pass through each other"),
    ];
    section(SectionId::Contact, "contact", "what happens where two materials touch", keys)
}

/// The keys of what has shapes.
fn shaped(absent: Absent) -> [Key; 4] {
    [
        Key {
            name: "shape".to_owned(),
            form: Form::Kind(SectionId::Shape),
            absent,
            doc: "its shape",
        },
        optional("shapes", Form::Kinds(SectionId::Shape), "`shape`", "several shapes"),
        with_default("material", Form::Name, "default", "the material of its shapes"),
        optional("group", Form::Name, "none", "a name that `apart` may use for several"),
    ]
}

const TURN: &str = "[1, 0, 0, 0]";

fn fixed() -> Section {
    let mut keys = repeatable("its name");
    keys.extend(shaped(Absent::Words("`shapes`")));
    keys.extend([
        optional("position", VECTOR, "the origin", "where the origin of its shapes is"),
        optional("orientation", VECTOR, TURN, "a quaternion w, x, y, z, of any length"),
        with_default("angle", Form::Number, 0.0, "in the plane: how it is turned, in radians"),
        optional("drive", Form::Table(SectionId::Drive), "it stands still", "how it moves"),
    ]);
    section(SectionId::Static, "static", "what stands still, or moves as it is told", keys)
}

fn drive() -> Section {
    let keys = vec![
        optional(
            "position",
            VECTOR_OF_TIME,
            "where it is put",
            "where the origin of its shapes is, of t",
        ),
        optional("omega", VECTOR_OF_TIME, "zero", "its angular velocity, in the world, of t"),
        optional("surface", VECTOR, "zero", "velocity of its surface along itself: a belt"),
    ];
    section(SectionId::Drive, "drive", "a motion that is given", keys)
}

fn body() -> Section {
    let still = "zero: at rest";
    let frames = || Form::Choice(vec!["world", "body"]);
    let mut keys = repeatable("the body's name");
    keys.extend(shaped(Absent::Words("it touches nothing")));
    keys.extend([
        optional("position", VECTOR, "the origin", "where its center of mass is at first"),
        optional(
            "origin",
            VECTOR,
            "by `position`",
            "instead of `position`: where the origin of its shapes is at first",
        ),
        optional("orientation", VECTOR, TURN, "a quaternion w, x, y, z, of any length"),
        with_default("angle", Form::Number, 0.0, "in the plane: how it is turned at first"),
        optional("v", VECTOR, still, "the first velocity of its center of mass"),
        optional(
            "omega",
            Form::Bounds,
            still,
            "its first angular velocity, in its own frame; in the plane a number",
        ),
        optional("mass", Form::Number, "by shapes and densities", "its mass, positive"),
        optional(
            "inertia",
            Form::Moments,
            "by shapes and mass",
            "its moments about the center of mass: three, or a matrix; in the plane a number",
        ),
        optional("center", VECTOR, "by shapes", "its center of mass in the frame of the shapes"),
        optional("force", Form::Vector(LOAD), "zero", "on the center of mass, of t, q and v"),
        with_default("force_frame", frames(), "world", "the frame of `force`"),
        optional("moment", Form::Vector(LOAD), "zero", "a moment, of t, q and v"),
        with_default("moment_frame", frames(), "body", "the frame of `moment`"),
        optional("birth", Form::Number, "from the beginning", "when it appears"),
        optional("death", Form::Number, "never", "when it disappears"),
    ]);
    section(SectionId::Body, "body", "a rigid body with shapes", keys)
}

fn joint() -> Section {
    let mut keys = repeatable("the joint's name");
    keys.extend([
        needed("bodies", Form::Links, "the body, or the two bodies, that it links"),
        with_default("touch", Form::Flag, false, "whether the two may touch each other"),
        optional("follows", Form::Text, "it moves by itself", "the joint that it follows"),
        with_default(
            "follow_ratio",
            Form::Number,
            1.0,
            "its coordinate for each unit of that of the joint that it follows",
        ),
    ]);
    Section {
        kinds: super::bodies::joints(),
        ..section(SectionId::Joint, "joint", "what holds bodies together", keys)
    }
}

fn shape() -> Section {
    let radius = || needed("radius", Form::Number, "its radius");
    let length = |doc| needed("length", Form::Number, doc);
    let points = |doc| needed("points", MATRIX, doc);
    let keys = vec![
        optional("position", VECTOR, "the origin", "where it is in the frame of its owner"),
        optional("orientation", VECTOR, TURN, "how it is turned there: a quaternion"),
        with_default("angle", Form::Number, 0.0, "in the plane: how it is turned there"),
        optional("material", Form::Name, "that of its owner", "its material"),
        with_default("touch", Form::Flag, true, "whether it touches and has a mass, or is drawn"),
    ];
    let mesh = vec![
        optional("points", MATRIX, "those of `file`", "its points"),
        optional("triangles", MATRIX, "those of `file`", "three positions of points each, from 0"),
        optional("file", Form::Text, "none", "a mesh file (STL, OBJ, VTK), seen from this one"),
        with_default("scale", Form::Number, 1.0, "what lengths of `file` are multiplied by"),
    ];
    let kinds: Vec<Kind> = vec![
        kind("sphere", "a ball about the origin", vec![radius()]),
        kind(
            "box",
            "a box about the origin",
            vec![needed("size", VECTOR, "its three edges; in the plane two")],
        ),
        kind(
            "capsule",
            "all points within `radius` of a segment along z",
            vec![radius(), length("of the segment")],
        ),
        kind("cylinder", "a cylinder along z", vec![radius(), length("its full length")]),
        kind(
            "cone",
            "a cone along z, the origin halfway to the tip",
            vec![radius(), needed("height", Form::Number, "its full height")],
        ),
        kind("convex-hull", "the smallest convex body of points", vec![points("its points")]),
        kind("triangle-mesh", "a surface of triangles", mesh),
        kind(
            "height-field",
            "z = heights[i][j] over a rectangle, rows along y, columns along x",
            vec![
                needed("heights", MATRIX, "the heights, two rows and columns at least"),
                needed("size", VECTOR, "edges of the rectangle along x and y"),
            ],
        ),
        kind(
            "plane",
            "the half-space n · x <= offset",
            vec![
                optional("normal", VECTOR, "upward", "its outer normal, of any length"),
                with_default("offset", Form::Number, 0.0, "of its surface along the normal"),
            ],
        ),
        kind(
            "compound",
            "several shapes that move as one",
            vec![needed("parts", Form::Kinds(SectionId::Shape), "the shapes, each in its place")],
        ),
        kind("disk", "a disk in the plane", vec![radius()]),
        kind(
            "segment",
            "a segment in the plane",
            vec![needed("from", VECTOR, "one end"), needed("to", VECTOR, "the other end")],
        ),
        kind("polygon", "a convex polygon in the plane", vec![points("its corners")]),
        kind("polyline", "segments one after the other", vec![points("their corners")]),
    ];
    Section { kinds, ..section(SectionId::Shape, "shape", "a shape in its place", keys) }
}
