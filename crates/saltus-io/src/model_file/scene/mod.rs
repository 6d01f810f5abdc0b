//! Scenes: materials, contacts, what stands still, bodies and joints from their tables.
//!
//! ```toml
//! [scene]
//! gravity = [0, 0, -9.81]
//!
//! [[material]]
//! name = "stone"
//! density = 2500
//!
//! [[contact]]
//! materials = ["stone", "stone"]
//! mu = 0.7
//!
//! [[static]]
//! name = "ground"
//! shape = { kind = "plane" }
//! material = "stone"
//!
//! [[body]]
//! name = "box{i}"
//! for = "i in 0..10"
//! shape = { kind = "box", size = [1, 1, 1] }
//! material = "stone"
//! position = [0, 0, "0.5 + i"]
//! ```

mod beside;
mod joints;
mod shapes;
mod write;

pub use beside::scene_model;
pub(crate) use beside::{sets_parameters, tables_beside};
pub use write::{SceneTextError, scene_text};

use super::bodies;
use super::build::{owner, tables};
use super::error::{ErrorKind, Fault};
use super::fields::Fields;
use super::repetition::{expand, for_each};
use super::scope::Scope;
use super::slot::Sizes;
use super::source::Place;
use super::tree::{Item, Table, Value};
use super::vocabulary::SectionId;
use saltus_mechanics::scene::{DEFAULT, Member, SceneFault};
use saltus_mechanics::{
    Anchor, BodySpec, ContactPair, DriveSpec, Given, Material, Scene, SceneError, StaticSpec,
};
use saltus_model::rotation::{IDENTITY, Matrix3, Quaternion, Vector};
use saltus_model::{Body, Frame, Model, ModelError};
use std::cell::RefCell;
use std::path::PathBuf;

/// The tables that make a file a scene.
const TABLES: [&str; 6] = ["scene", "material", "contact", "static", "body", "joint"];

/// A scene, and where its parts stand in the file.
pub(crate) struct SceneTables {
    pub(crate) scene: Scene,
    places: Places,
}

/// The tables of each part of a scene, and the pass of a repetition.
#[derive(Default)]
struct Places {
    materials: Vec<Spot>,
    contacts: Vec<Spot>,
    statics: Vec<Spot>,
    bodies: Vec<Spot>,
    joints: Vec<Spot>,
    scene: Option<Spot>,
}

struct Spot {
    item: Item,
    pass: Option<String>,
}

impl SceneTables {
    /// Adds the bodies to a model.
    pub(crate) fn add_bodies(&self, model: &mut Model) -> Result<(), Fault> {
        self.scene.add_bodies(model).map_err(|error| self.fault(error))
    }

    /// Adds joints and contacts.
    pub(crate) fn complete(&self, model: &mut Model) -> Result<(), Fault> {
        self.scene.complete(model).map_err(|error| self.fault(error))
    }

    /// An error of the scene at the key that it is about.
    fn fault(&self, error: SceneError) -> Fault {
        let places = &self.places;
        let spot = match error.member {
            Member::Scene => places.scene.as_ref(),
            Member::Material(k) => places.materials.get(k),
            Member::Contact(k) => places.contacts.get(k),
            Member::Static(k) => places.statics.get(k),
            Member::Body(k) => places.bodies.get(k),
            Member::Joint(k) => places.joints.get(k),
        };
        let start = Place { source: 0, span: 0..0 };
        let Some(spot) = spot else { return Fault::new(&start, error) };
        let entry = spot.item.as_table().and_then(|table| table.entry(error.key));
        let place = entry.map_or(&spot.item.place, |entry| entry.place());
        Fault::new(place, error).repeated(spot.pass.clone())
    }
}

/// Where files that a model names are looked for, and those that were found.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    pub(crate) folders: &'a [PathBuf],
    pub(crate) found: RefCell<Vec<PathBuf>>,
}

impl Files<'_> {
    /// The first place where this file is; else those where it is not.
    fn find(&self, name: &str) -> Result<PathBuf, Vec<PathBuf>> {
        let places: Vec<PathBuf> = self.folders.iter().map(|folder| folder.join(name)).collect();
        let found = places.iter().find(|place| place.exists()).cloned();
        self.found.borrow_mut().extend(found.clone());
        found.ok_or(places)
    }
}

/// What shapes are read in.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) files: &'a Files<'a>,
    pub(crate) space: Body,
}

/// The scene of a file; nothing where it has none of its tables.
pub(crate) fn read(
    file: &Table,
    title: &str,
    files: &Files<'_>,
    scope: &Scope,
) -> Result<Option<SceneTables>, Fault> {
    if !TABLES.iter().any(|key| file.get(key).is_some()) {
        return Ok(None);
    }
    let mut scene = Scene::new(title);
    let mut places = Places::default();
    let mut parameters: Vec<(String, f64)> =
        scope.constants().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    parameters.sort_by(|a, b| a.0.cmp(&b.0));
    scene.parameters = parameters;

    if let Some(item) = file.get("scene") {
        let fields = Fields::open(item, SectionId::Scene, "[scene]".to_owned(), scope)?;
        scene.space = match fields.count("dim")? {
            2 => Body::Plane,
            3 => Body::Space,
            dim => return Err(range(&fields, "dim", dim as f64, "2 or 3")),
        };
        scene.gravity = vector(&fields, "gravity", scene.space)?.unwrap_or_default();
        scene.apart = pairs(&fields, "apart")?;
        places.scene = Some(Spot { item: item.clone(), pass: None });
    }
    let around = Around { files, space: scene.space };
    let all = |key: &'static str, section: SectionId, each: &mut Each<'_>| {
        for (item, table) in tables(file, key, scope)? {
            for_each(table, key, scope, |scope| {
                let fields = Fields::open(item, section, owner(table, key), scope)?;
                each(&fields, Spot { item: item.clone(), pass: scope.pass() })
            })?;
        }
        Ok::<(), Fault>(())
    };
    all("material", SectionId::Material, &mut |fields, spot| {
        places.materials.push(spot);
        scene.materials.push(Material {
            name: expand(fields.need("name")?, "name", fields.scope)?,
            density: number(fields, "density")?,
        });
        Ok(())
    })?;
    all("contact", SectionId::Contact, &mut |fields, spot| {
        places.contacts.push(spot);
        scene.contacts.push(contact(fields)?);
        Ok(())
    })?;
    all("static", SectionId::Static, &mut |fields, spot| {
        places.statics.push(spot);
        scene.statics.push(fixed(fields, around)?);
        Ok(())
    })?;
    all("body", SectionId::Body, &mut |fields, spot| {
        places.bodies.push(spot);
        scene.bodies.push(body(fields, around)?);
        Ok(())
    })?;
    all("joint", SectionId::Joint, &mut |fields, spot| {
        places.joints.push(spot);
        scene.joints.push(joints::joint(fields, around.space)?);
        Ok(())
    })?;
    Ok(Some(SceneTables { scene, places }))
}

/// Takes one table.
type Each<'a> = dyn FnMut(&Fields, Spot) -> Result<(), Fault> + 'a;

pub(super) fn range(fields: &Fields, key: &str, value: f64, allowed: &str) -> Fault {
    let place = fields.place_of(key).unwrap_or(fields.place);
    let (what, allowed) = (key.to_owned(), allowed.to_owned());
    Fault::new(place, ErrorKind::Range { what, value, allowed }).repeated(fields.scope.pass())
}

/// A number that may be left out.
fn number(fields: &Fields, key: &str) -> Result<Option<f64>, Fault> {
    fields.get(key).map(|item| fields.scope.number(item, key)).transpose()
}

/// A vector of the plane or of space.
pub(super) fn vector(
    fields: &Fields,
    key: &'static str,
    space: Body,
) -> Result<Option<Vector>, Fault> {
    let Some(value) = fields.vector(key)? else { return Ok(None) };
    let expected = if space == Body::Plane { 2 } else { 3 };
    if value.len() != expected {
        return Err(length(fields, key, value.len(), expected));
    }
    Ok(Some(std::array::from_fn(|k| value.get(k).copied().unwrap_or(0.0))))
}

pub(super) fn length(fields: &Fields, key: &'static str, found: usize, expected: usize) -> Fault {
    let why = match expected {
        _ if key == "limits" => "the lower and the upper one",
        2 => "the axes of the plane",
        3 => "the axes of space",
        _ => "its components",
    };
    let (owner, why) = (fields.name().to_owned(), why.to_owned());
    let error = ModelError::Length { owner, what: key, found, expected, why };
    Fault::new(fields.place_of(key).unwrap_or(fields.place), error).repeated(fields.scope.pass())
}

/// How something is turned: a quaternion, or in the plane an angle.
pub(super) fn turn(fields: &Fields, space: Body) -> Result<Quaternion, Fault> {
    if let Some(value) = fields.vector("orientation")? {
        let found = value.len();
        return value.try_into().map_err(|_| length(fields, "orientation", found, 4));
    }
    if fields.get("angle").is_some() {
        let angle = fields.number("angle")?;
        if space == Body::Space {
            return Err(range(fields, "angle", angle, "`orientation` in space"));
        }
        let (sin, cos) = (0.5 * angle).sin_cos();
        return Ok([cos, 0.0, 0.0, sin]);
    }
    Ok(IDENTITY)
}

fn name(fields: &Fields, key: &str) -> Result<Option<String>, Fault> {
    fields.get(key).map(|item| expand(item, key, fields.scope)).transpose()
}

fn names(fields: &Fields, key: &str, item: &Item) -> Result<Vec<String>, Fault> {
    let Some(items) = item.as_array() else {
        return Err(fields.scope.wrong_type(item, key, "an array of names"));
    };
    items.iter().map(|item| expand(item, key, fields.scope)).collect()
}

fn pairs(fields: &Fields, key: &str) -> Result<Vec<[String; 2]>, Fault> {
    let Some(item) = fields.get(key) else { return Ok(Vec::new()) };
    let expected = "an array of pairs of names, such as [[\"wheel\", \"frame\"]]";
    let wrong = |item: &Item| fields.scope.wrong_type(item, key, expected);
    let items = item.as_array().ok_or_else(|| wrong(item))?;
    let pair = |item: &Item| match &names(fields, key, item)?[..] {
        [a, b] => Ok([a.clone(), b.clone()]),
        _ => Err(wrong(item)),
    };
    items.iter().map(pair).collect()
}

fn contact(fields: &Fields) -> Result<ContactPair, Fault> {
    let item = fields.need("materials")?;
    let names = names(fields, "materials", item)?;
    let [a, b] = &names[..] else {
        return Err(fields.scope.wrong_type(item, "materials", "two names of materials"));
    };
    let pair = ContactPair {
        e: fields.number("e")?,
        mu: number(fields, "mu")?,
        mu_r: number(fields, "mu_r")?,
        et: fields.number("et")?,
        touch: flag(fields, "touch", true)?,
        ..ContactPair::new(a, b)
    };
    let number = |key| number(fields, key);
    let [stiffness, tangential] = [number("stiffness")?, number("tangential_stiffness")?];
    pair.giving_way(stiffness, number("damping")?, tangential).map_err(|fault| {
        let owner = format!("contact of `{a}` and `{b}`");
        let (key, kind) = match fault {
            SceneFault::Missing { key, needed } => {
                let (key, doc) = (key.to_owned(), format!("which `{needed}` needs"));
                (needed, ErrorKind::MissingKey { owner, key, doc })
            }
            fault => {
                let key = if let SceneFault::Range { key, .. } = fault { key } else { "" };
                let (member, fault) = (Member::Scene, Box::new(fault));
                (key, SceneError { member, owner, key, fault }.into())
            }
        };
        let place = fields.place_of(key).unwrap_or(fields.place);
        Fault::new(place, kind).repeated(fields.scope.pass())
    })
}

pub(super) fn flag(fields: &Fields, key: &str, default: bool) -> Result<bool, Fault> {
    fields.get(key).map_or(Ok(default), |item| fields.flag(item, key))
}

fn fixed(fields: &Fields, around: Around<'_>) -> Result<StaticSpec, Fault> {
    let parts = shapes::parts(fields, around)?;
    if parts.is_empty() {
        fields.need("shape")?;
    }
    let position = vector(fields, "position", around.space)?;
    let drive = fields.get("drive").map(|item| {
        let owner = format!("drive of `{}`", fields.text("name")?.unwrap_or_default());
        let fields = Fields::open(item, SectionId::Drive, owner, fields.scope)?;
        Ok(DriveSpec {
            position: given(&fields, "position")?,
            omega: given(&fields, "omega")?,
            surface: vector(&fields, "surface", around.space)?.unwrap_or_default(),
        })
    });
    Ok(StaticSpec {
        name: expand(fields.need("name")?, "name", fields.scope)?,
        parts,
        material: name(fields, "material")?.unwrap_or_else(|| DEFAULT.to_owned()),
        position: position.unwrap_or_default(),
        orientation: turn(fields, around.space)?,
        drive: drive.transpose()?,
        group: name(fields, "group")?,
    })
}

/// A vector that may be a function: its formulas as texts.
fn given(fields: &Fields, key: &str) -> Result<Option<Given>, Fault> {
    let Some(operator) = fields.vector_operator(key)? else { return Ok(None) };
    if let Some(value) = operator.as_constant() {
        return Ok(Some(Given::Numbers(value.data().to_vec())));
    }
    Ok(Some(Given::Formulas(fields.texts(key)?)))
}

fn body(fields: &Fields, around: Around<'_>) -> Result<BodySpec, Fault> {
    let space = around.space;
    let sizes = match space {
        Body::Plane => Sizes { first: 3, second: 3, inputs: 0 },
        Body::Space => Sizes { first: 7, second: 6, inputs: 0 },
    };
    let fields = &fields.sized(sizes);
    let place = |key| vector(fields, key, space);
    let (position, anchor) = match (place("position")?, place("origin")?) {
        (Some(_), Some(_)) => {
            let words = "position of the center of mass or `origin` of the shapes, not both";
            let item = fields.need("origin")?;
            return Err(fields.scope.wrong_type(item, "origin", words));
        }
        (None, Some(origin)) => (origin, Anchor::Origin),
        (position, None) => (position.unwrap_or_default(), Anchor::Center),
    };
    let frame = |key, default| {
        let name = fields.choice(key, "frame")?;
        Ok::<_, Fault>(name.and_then(Frame::from_name).unwrap_or(default))
    };
    let in_plane = space == Body::Plane;
    if let (true, Some(item)) = (in_plane, fields.get("orientation")) {
        return Err(fields.scope.wrong_type(item, "orientation", "an `angle`, in the plane"));
    }
    Ok(BodySpec {
        name: expand(fields.need("name")?, "name", fields.scope)?,
        parts: shapes::parts(fields, around)?,
        material: name(fields, "material")?.unwrap_or_else(|| DEFAULT.to_owned()),
        position,
        anchor,
        orientation: if in_plane { IDENTITY } else { turn(fields, space)? },
        angle: fields.number("angle")?,
        v: place("v")?.unwrap_or_default(),
        omega: omega(fields, space)?,
        mass: number(fields, "mass")?,
        inertia: inertia(fields, space)?,
        center: place("center")?,
        force: given(fields, "force")?,
        force_frame: frame("force_frame", Frame::World)?,
        moment: given(fields, "moment")?,
        moment_frame: frame("moment_frame", Frame::Body)?,
        birth: number(fields, "birth")?,
        death: number(fields, "death")?,
        group: name(fields, "group")?,
    })
}

/// Three components; in the plane a number.
fn omega(fields: &Fields, space: Body) -> Result<Vector, Fault> {
    let Some(item) = fields.get("omega") else { return Ok([0.0; 3]) };
    match (space, &item.value) {
        (Body::Plane, Value::Array(_)) => {
            Err(fields.scope.wrong_type(item, "omega", "a number, in the plane"))
        }
        (Body::Plane, _) => Ok([0.0, 0.0, fields.scope.number(item, "omega")?]),
        (Body::Space, _) => Ok(vector(fields, "omega", space)?.unwrap_or_default()),
    }
}

/// Three moments or a matrix; in the plane a number.
fn inertia(fields: &Fields, space: Body) -> Result<Option<Matrix3>, Fault> {
    match (space, fields.get("inertia")) {
        (_, None) => Ok(None),
        (Body::Plane, Some(item)) => {
            let moment = fields.scope.number(item, "inertia")?;
            Ok(Some([[0.0; 3], [0.0; 3], [0.0, 0.0, moment]]))
        }
        (Body::Space, Some(_)) => bodies::inertia(fields).map(|inertia| Some(inertia.0)),
    }
}
