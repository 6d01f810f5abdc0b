//! Scenes in the format of the Visualization Toolkit, as ParaView opens them.
//!
//! ```text
//! DIR/bodies.pvd     the surfaces of bodies and statics where they are, one file an instant:
//!                    bodies/000000.vtp …; bodies that are not born yet, or dead, are left out
//! DIR/contacts.pvd   points of contact with gap, normal, velocity, impulse and force
//! DIR/chains.pvd     lines between the centers of bodies that touch, with the force they pass on
//! ```

mod items;
mod xml;

use super::{NoInstants, thinned};
use crate::model_file::{ErrorKind, ModelFile, quoted};
use crate::partial::{WriteError, write_whole};
use items::{Item, items};
use saltus_mechanics::Scene;
use saltus_model::rotation::{Vector, norm, scaled};
use saltus_sim::Run;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;
use xml::{Array, PolyData};

/// Why a run could not be written as a scene.
#[derive(Debug, Error)]
pub enum VtkError {
    /// A run that keeps no model.
    #[error(
        "the run keeps no model text, so the shapes of its bodies are not known: it was made by functions or \
         in a program; export it there, where its scene is known"
    )]
    NoText,
    /// A run without shapes.
    #[error("the run has no scene: its model has no [[body]] with shapes")]
    NoScene,
    /// A mesh of the scene that is not found.
    #[error(
        "the scene of the run has a mesh in the file `{file}`, which is not there; it was looked for as {}; \
         name the folder of the model (`--folder DIR`, in Python `folder=`)",
        quoted(tried)
    )]
    NoMesh {
        /// The file, as the model names it.
        file: String,
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// A thinning that keeps nothing.
    #[error(transparent)]
    Every(#[from] NoInstants),
    /// A static whose drive has no value.
    #[error("at t = {time} s: {reason}")]
    Drive {
        /// The instant.
        time: f64,
        /// Why.
        reason: String,
    },
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
    /// A file of an earlier export that cannot be removed.
    #[error("cannot remove `{}`, which an earlier export has left: {cause}", path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The scene of a run, from the model text that its file holds. Meshes in files are looked for in
/// `folder` and `beside` the run, as [`ModelFile::of_run`] says.
pub fn scene_of_run(
    text: Option<&str>,
    folder: Option<&Path>,
    beside: Option<&Path>,
) -> Result<Scene, VtkError> {
    let text = text.ok_or(VtkError::NoText)?;
    let file = ModelFile::of_run(text, folder, beside);
    let file = file.map_err(|error| match *error.kind {
        ErrorKind::NoMesh { file, tried } => VtkError::NoMesh { file, tried },
        _ => VtkError::Scene { reason: error.to_string() },
    })?;
    file.scene.ok_or(VtkError::NoScene)
}

/// Writes the bodies, contacts and force chains of a run to a folder, at every so many of its instants,
/// the first and the last. `text` is the model file that made it, as the run file holds it.
pub fn write_vtk(
    run: &Run,
    text: Option<&str>,
    every: usize,
    folder: &Path,
) -> Result<(), VtkError> {
    write_scene(run, &scene_of_run(text, None, None)?, every, folder)
}

/// The same of a scene at hand.
pub fn write_scene(run: &Run, scene: &Scene, every: usize, folder: &Path) -> Result<(), VtkError> {
    let instants = thinned(run.frames.len(), every)?;
    let mut items = items(run, scene)?;
    let [mut shapes, mut contacts] =
        [Series::new(folder, "bodies")?, Series::new(folder, "contacts")?];
    let mut chains = Series::new(folder, "chains")?;
    let touching = !run.layout.sides.is_empty();
    let width = run.layout.width();
    for k in instants {
        let time = run.frames.time[k];
        let row = &run.frames.rows[k * width..(k + 1) * width];
        for item in &mut items {
            item.be_at(time, row)?;
        }
        shapes.add(time, &draw(&items))?;
        if touching {
            let step = run.step_to(k);
            contacts.add(time, &points(run, k, step))?;
            chains.add(time, &lines(run, k, step, &items))?;
        }
    }
    shapes.finish()?;
    contacts.finish()?;
    chains.finish()
}

/// All surfaces that are there, where they are, with the number of their owner: statics first, then
/// bodies.
fn draw(items: &[Item]) -> PolyData {
    let mut data = PolyData::default();
    let mut owner = Vec::new();
    for (k, item) in items.iter().enumerate().filter(|(_, item)| item.is_there) {
        let start = data.points.len() as u32;
        data.points.extend(item.mesh.points.iter().map(|point| item.place_of(*point)));
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
fn lines(run: &Run, instant: usize, step: f64, items: &[Item]) -> PolyData {
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
            let item = items.iter().find(|item| item.name == name);
            // what has no mass has no center: its chains end at the contact
            let Some(item) = item.filter(|item| item.is_body()) else { continue };
            let start = data.points.len() as u32;
            data.points.extend([item.place, contacts.point[k]]);
            data.lines.push([start, start + 1]);
            force.extend([size; 2]);
        }
    }
    data.arrays.push(Array::scalars("force", force));
    data
}

/// Files of one kind, an instant each, and the collection that names them. Files of an earlier export that has
/// gone on for longer are removed: those alone that its collection names as this one would.
struct Series {
    folder: PathBuf,
    name: &'static str,
    entries: String,
    count: usize,
    earlier: usize, // files of the collection that was there
}

const HEAD: &str = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  <Collection>\n";
const FOOT: &str = "  </Collection>\n</VTKFile>\n";

impl Series {
    fn new(folder: &Path, name: &'static str) -> Result<Series, VtkError> {
        let path = folder.join(name);
        std::fs::create_dir_all(&path)
            .map_err(|error| VtkError::Folder { path, cause: error.to_string() })?;
        let folder = folder.to_path_buf();
        let mut series = Series { folder, name, entries: String::new(), count: 0, earlier: 0 };
        series.earlier = series.files_before().unwrap_or(0);
        Ok(series)
    }

    fn collection(&self) -> PathBuf {
        self.folder.join(format!("{}.pvd", self.name))
    }

    fn file(&self, place: usize) -> String {
        format!("{}/{place:06}.vtp", self.name)
    }

    /// How many files the collection in the folder names; nothing where there is none, or it is not one of these.
    fn files_before(&self) -> Option<usize> {
        let text = std::fs::read_to_string(self.collection()).ok()?;
        let entries = text.strip_prefix(HEAD)?.strip_suffix(FOOT)?;
        let is_own = |(place, line): (usize, &str)| {
            let end = format!("\" group=\"\" part=\"0\" file=\"{}\"/>", self.file(place));
            line.starts_with("    <DataSet timestep=\"") && line.ends_with(&end)
        };
        entries.lines().enumerate().all(is_own).then(|| entries.lines().count())
    }

    fn add(&mut self, time: f64, data: &PolyData) -> Result<(), VtkError> {
        let file = self.file(self.count);
        write_whole(self.folder.join(&file), data.to_xml().as_bytes())?;
        let _ = writeln!(
            self.entries,
            "    <DataSet timestep=\"{time:?}\" group=\"\" part=\"0\" file=\"{file}\"/>"
        );
        self.count += 1;
        Ok(())
    }

    /// Writes the collection, then removes what an earlier one has named beyond it; a collection of nothing is none.
    fn finish(self) -> Result<(), VtkError> {
        let removed = |path: PathBuf| match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(VtkError::Remove { path, cause: error.to_string() })
            }
            _ => Ok(()),
        };
        if self.count > 0 {
            write_whole(self.collection(), format!("{HEAD}{}{FOOT}", self.entries).as_bytes())?;
        } else if self.earlier > 0 {
            removed(self.collection())?;
        }
        (self.count..self.earlier).try_for_each(|place| removed(self.folder.join(self.file(place))))
    }
}
