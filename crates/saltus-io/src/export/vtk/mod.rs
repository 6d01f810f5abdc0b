//! Scenes in the format of the Visualization Toolkit, as ParaView opens them.
//!
//! ```text
//! DIR/bodies.pvd     the surfaces of all bodies and statics, one file an instant: bodies/000000.vtp …
//! DIR/contacts.pvd   points of contact with gap, normal, velocity, impulse and force
//! DIR/chains.pvd     lines between the centers of bodies that touch, with the force they pass on
//! ```

mod xml;

use crate::model_file::ModelFile;
use crate::partial::{WriteError, write_whole};
use saltus_mechanics::{Placed, Scene, mesh::Mesh};
use saltus_model::rotation::{Quaternion, Vector, add, norm, rotate, scaled, sub};
use saltus_sim::{Quantity, Run};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;
use xml::{Array, PolyData};

/// Why a run could not be written as a scene.
#[derive(Debug, Error)]
pub enum VtkError {
    /// A run without shapes.
    #[error("the run has no scene: it was made from no file with [[body]] tables")]
    NoScene,
    /// The scene of the run cannot be read.
    #[error("the scene of the run cannot be read: {reason}")]
    Scene {
        /// Why.
        reason: String,
    },
    /// A body that was not recorded.
    #[error("the run has no `{signal}`, so it is not known where the body is")]
    NotRecorded {
        /// The signal that would tell.
        signal: String,
    },
    /// A folder that cannot be made.
    #[error("cannot make the folder `{}`: {cause}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A body or static, and how to draw it.
struct Item {
    mesh: Mesh,
    /// Where position and turn of a body begin in a row; nothing of what stands still.
    columns: Option<(usize, Turn)>,
    center: Vector,
}

#[derive(Clone, Copy)]
enum Turn {
    Quaternion(usize),
    Angle(usize),
}

/// Writes the bodies, contacts and force chains of a run to a folder. `text` is the model file that
/// made it, as the run file holds it.
pub fn write_vtk(run: &Run, text: Option<&str>, folder: &Path) -> Result<(), VtkError> {
    let text = text.ok_or(VtkError::NoScene)?;
    let file = ModelFile::of_run(text).map_err(|reason| VtkError::Scene { reason })?;
    let scene = file.scene.ok_or(VtkError::NoScene)?;
    let items = items(run, &scene)?;
    let names: Vec<&str> = scene.statics.iter().map(|one| one.name.as_str()).collect();
    let bodies = scene.bodies.iter().map(|body| body.name.as_str());
    let names: Vec<&str> = names.into_iter().chain(bodies).collect();

    let series = [Series::new(folder, "bodies")?, Series::new(folder, "contacts")?];
    let [mut shapes, mut contacts] = series;
    let mut chains = Series::new(folder, "chains")?;
    let touching = !run.layout.sides.is_empty();
    let width = run.layout.width();
    for (k, &time) in run.frames.time.iter().enumerate() {
        let row = &run.frames.rows[k * width..(k + 1) * width];
        let frames: Vec<(Vector, Quaternion)> = items.iter().map(|item| item.frame(row)).collect();
        shapes.add(time, &draw(&items, &frames))?;
        if touching {
            let step = step(run, k);
            contacts.add(time, &points(run, k, step))?;
            chains.add(time, &lines(run, k, step, &names, &frames, &items))?;
        }
    }
    shapes.finish()?;
    if touching {
        contacts.finish()?;
        chains.finish()?;
    }
    Ok(())
}

/// The length of the step that ended at a recorded instant: the mean one where not every step is
/// recorded.
fn step(run: &Run, instant: usize) -> f64 {
    let time = &run.frames.time;
    match (instant, time.first(), time.last()) {
        (0, ..) => 0.0,
        (k, ..) if time.len() == run.stats.steps + 1 => time[k] - time[k - 1],
        (_, Some(first), Some(last)) => (last - first) / run.stats.steps.max(1) as f64,
        _ => 0.0,
    }
}

/// How far what has no end is drawn: twice as far as the bodies go at first.
fn reach(scene: &Scene) -> f64 {
    let far = scene.bodies.iter().flat_map(|body| body.position);
    far.fold(1.0_f64, |most, x| most.max(2.0 * x.abs()))
}

fn items(run: &Run, scene: &Scene) -> Result<Vec<Item>, VtkError> {
    let reach = reach(scene);
    let mesh = |parts: &[saltus_mechanics::Part]| {
        let mut mesh = Mesh::default();
        for part in parts {
            let (shape, position) = (part.shape.clone(), part.position);
            mesh.extend(Placed { shape, position, orientation: part.orientation }.drawing(reach));
        }
        mesh
    };
    let mut items = Vec::new();
    for one in &scene.statics {
        let mut mesh = mesh(&one.parts);
        for point in &mut mesh.points {
            *point = add(one.position, rotate(one.orientation, *point));
        }
        items.push(Item { mesh, columns: None, center: [0.0; 3] });
    }
    for (k, body) in scene.bodies.iter().enumerate() {
        let column = |quantity: Quantity| {
            let signals = run.layout.signals.iter();
            let found =
                signals.into_iter().find(|s| s.owner == body.name && s.quantity == quantity);
            found.map(|signal| signal.columns.start)
        };
        let missing =
            |what: &str| VtkError::NotRecorded { signal: format!("{}.{what}", body.name) };
        let position = column(Quantity::Position).ok_or_else(|| missing("position"))?;
        let turn = match (column(Quantity::Orientation), column(Quantity::Angle)) {
            (Some(start), _) => Turn::Quaternion(start),
            (None, Some(start)) => Turn::Angle(start),
            (None, None) => return Err(missing("orientation")),
        };
        let center = scene.mass_of(k).map(|mass| mass.center);
        let center = center.map_err(|error| VtkError::Scene { reason: error.to_string() })?;
        items.push(Item { mesh: mesh(&body.parts), columns: Some((position, turn)), center });
    }
    Ok(items)
}

impl Item {
    /// Where its center of mass is, and how it is turned.
    fn frame(&self, row: &[f64]) -> (Vector, Quaternion) {
        match self.columns {
            None => ([0.0; 3], [1.0, 0.0, 0.0, 0.0]),
            Some((at, Turn::Quaternion(turn))) => {
                let place = [row[at], row[at + 1], row[at + 2]];
                (place, [row[turn], row[turn + 1], row[turn + 2], row[turn + 3]])
            }
            Some((at, Turn::Angle(turn))) => {
                let (sin, cos) = (0.5 * row[turn]).sin_cos();
                ([row[at], row[at + 1], 0.0], [cos, 0.0, 0.0, sin])
            }
        }
    }
}

/// All surfaces where they are, with the number of their owner.
fn draw(items: &[Item], frames: &[(Vector, Quaternion)]) -> PolyData {
    let mut data = PolyData::default();
    let mut owner = Vec::new();
    for (k, (item, (place, turn))) in items.iter().zip(frames).enumerate() {
        let start = data.points.len() as u32;
        let moved = |point: &Vector| add(*place, rotate(*turn, sub(*point, item.center)));
        data.points.extend(item.mesh.points.iter().map(moved));
        data.triangles.extend(item.mesh.triangles.iter().map(|c| c.map(|k| start + k)));
        owner.resize(data.points.len(), k as f64);
    }
    data.arrays.push(Array::scalars("body", owner));
    data
}

/// The points of contact at an instant.
fn points(run: &Run, instant: usize, step: f64) -> PolyData {
    let contacts = &run.frames.contacts;
    let own = contacts.of(instant);
    let mut data = PolyData { points: contacts.point[own.clone()].to_vec(), ..Default::default() };
    data.vertices = true;
    let share = if step > 0.0 { 1.0 / step } else { 0.0 };
    let force: Vec<Vector> =
        contacts.impulse[own.clone()].iter().map(|p| scaled(share, *p)).collect();
    let side =
        |at: usize| contacts.sides[own.clone()].iter().map(|sides| f64::from(sides[at])).collect();
    data.arrays = vec![
        Array::vectors("force", force),
        Array::vectors("impulse", contacts.impulse[own.clone()].to_vec()),
        Array::vectors("normal", contacts.normal[own.clone()].to_vec()),
        Array::vectors("u", contacts.u[own.clone()].to_vec()),
        Array::scalars("gap", contacts.gap[own.clone()].to_vec()),
        Array::scalars("first", side(0)),
        Array::scalars("second", side(1)),
    ];
    data
}

/// Lines between centers of what touches, over the point of contact, with the size of the force.
fn lines(
    run: &Run,
    instant: usize,
    step: f64,
    names: &[&str],
    frames: &[(Vector, Quaternion)],
    items: &[Item],
) -> PolyData {
    let contacts = &run.frames.contacts;
    let mut data = PolyData::default();
    let mut force = Vec::new();
    for k in contacts.of(instant) {
        let size = if step > 0.0 { norm(contacts.impulse[k]) / step } else { 0.0 };
        if !(size > 0.0) {
            continue;
        }
        for side in contacts.sides[k] {
            let name = run.layout.sides.get(side as usize).map_or("", String::as_str);
            let item = names.iter().position(|known| *known == name);
            // what stands still has no center: its chains end at the contact
            let Some(item) = item.filter(|&k| items[k].columns.is_some()) else { continue };
            let start = data.points.len() as u32;
            data.points.extend([frames[item].0, contacts.point[k]]);
            data.lines.push([start, start + 1]);
            force.extend([size; 2]);
        }
    }
    data.arrays.push(Array::scalars("force", force));
    data
}

/// Files of one kind, an instant each, and the collection that names them.
struct Series {
    folder: PathBuf,
    name: &'static str,
    entries: String,
    count: usize,
}

impl Series {
    fn new(folder: &Path, name: &'static str) -> Result<Series, VtkError> {
        let path = folder.join(name);
        std::fs::create_dir_all(&path)
            .map_err(|error| VtkError::Folder { path, cause: error.to_string() })?;
        Ok(Series { folder: folder.to_path_buf(), name, entries: String::new(), count: 0 })
    }

    fn add(&mut self, time: f64, data: &PolyData) -> Result<(), VtkError> {
        let file = format!("{}/{:06}.vtp", self.name, self.count);
        write_whole(self.folder.join(&file), data.to_xml().as_bytes())?;
        let _ = writeln!(
            self.entries,
            "    <DataSet timestep=\"{time:?}\" group=\"\" part=\"0\" file=\"{file}\"/>"
        );
        self.count += 1;
        Ok(())
    }

    fn finish(self) -> Result<(), VtkError> {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  <Collection>\n{}  </Collection>\n</VTKFile>\n",
            self.entries
        );
        write_whole(self.folder.join(format!("{}.pvd", self.name)), text.as_bytes())?;
        Ok(())
    }
}
