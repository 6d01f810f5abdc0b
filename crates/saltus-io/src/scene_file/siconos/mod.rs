//! Scenes of Siconos' mechanics runner, version 4.
//!
//! | in the file | here |
//! | --- | --- |
//! | `/data/input` | bodies, and what stands still: `objects.rs` |
//! | `/data/ref` | their shapes: `shapes.rs` |
//! | `/data/nslaws` | contacts of materials, one a group of contactors: `laws.rs` |
//! | `/data/joints` | joints with their stops, friction and couplings: `joints.rs` |
//! | `/data/boundary_conditions` | bodies that move as they are told: `boundary.rs` |
//! | `/data/siconos_mechanics_run_options` | the simulation: `options.rs` |
//!
//! The rest of `/data` are results. What has no place here is told, with its path.

mod boundary;
mod joints;
mod laws;
mod objects;
mod options;
mod shapes;

use super::group_attributes::{Groups, Numbers};
use super::{SceneFile, SceneFileError};
use options::Options;
use rust_hdf5::{DatatypeMessage, H5Dataset, H5File, Hdf5Error};
use saltus_mechanics::Scene;
use saltus_model::Body;
use saltus_model::rotation::{Quaternion, Vector};
use std::path::Path;

/// Standard gravity, as the runner has it.
const GRAVITY: f64 = 9.80665;

/// Tables of results, and what is read elsewhere here.
const KNOWN: [&str; 16] = [
    "static",
    "dynamic",
    "velocities",
    "cf",
    "cf_info",
    "cf_work",
    "energy_work",
    "solv",
    "domain",
    "log",
    "input",
    "nslaws",
    "joints",
    "ref",
    "boundary_conditions",
    "siconos_mechanics_run_options",
];

struct Reader<'a> {
    path: &'a Path,
    file: H5File,
    bytes: Vec<u8>,
    names: Vec<String>,
    space: Body,
    options: Options,
    /// Straight lines of the plane: which static, and which part of it.
    lines: Vec<[usize; 2]>,
    left_aside: Vec<String>,
}

/// Reads the scene of a file.
pub(super) fn read(path: &Path) -> Result<SceneFile, SceneFileError> {
    let cause = |cause: String| SceneFileError::Read { path: path.to_path_buf(), cause };
    crate::run_file::check_signature(path).map_err(|error| cause(error.to_string()))?;
    let bytes = std::fs::read(path).map_err(|error| cause(error.to_string()))?;
    let file = H5File::open(path).map_err(|error| cause(crate::run_file::cause(&error)))?;
    let names = file.dataset_names();
    let mut reader = Reader {
        path,
        file,
        bytes,
        names,
        space: Body::Space,
        options: Options::default(),
        lines: Vec::new(),
        left_aside: Vec::new(),
    };
    let scene = reader.scene()?;
    let simulation = reader.options.simulation();
    Ok(SceneFile {
        scene,
        beside: String::new(),
        simulation: Some(simulation),
        left_aside: reader.left_aside,
    })
}

impl Reader<'_> {
    fn scene(&mut self) -> Result<Scene, SceneFileError> {
        if !self.names.iter().any(|name| name == "data/dynamic") {
            return Err(self.content("data/dynamic", "not there, so it is no scene of Siconos"));
        }
        let root = self.numbers("")?;
        self.space = match root.get("dimension").and_then(|values| values.first()) {
            Some(dim) if *dim == 2.0 => Body::Plane,
            _ => Body::Space,
        };
        self.options = self.run_options()?;
        let title = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("scene");
        let mut scene = Scene::new(title);
        scene.space = self.space;
        let g = GRAVITY / self.options.gravity_scale;
        scene.gravity = match self.space {
            Body::Plane => [0.0, -g, 0.0],
            Body::Space => [0.0, 0.0, -g],
        };
        self.objects(&mut scene)?;
        self.laws(&mut scene)?;
        self.joints(&mut scene)?;
        self.boundary_conditions(&mut scene)?;
        self.unknown()?;
        Ok(scene)
    }

    /// Tells of everything else in the file.
    fn unknown(&mut self) -> Result<(), SceneFileError> {
        for group in self.groups("data")? {
            let path = format!("data/{group}");
            let filled = !self.datasets(&path).is_empty() || !self.groups(&path)?.is_empty();
            if !KNOWN.contains(&group.as_str()) && filled {
                self.left_aside.push(format!("/{path}"));
            }
        }
        let own = self.datasets("data").into_iter();
        let unknown = own.filter(|name| !KNOWN.contains(&name.as_str()));
        self.left_aside.extend(unknown.map(|name| format!("/data/{name}")));
        Ok(())
    }

    /// Tells of something that has no place in the scene.
    fn aside(&mut self, place: &str, what: impl std::fmt::Display) {
        self.left_aside.push(format!("/{place}: {what}"));
    }

    fn content(&self, place: &str, what: impl Into<String>) -> SceneFileError {
        let (path, place) = (self.path.to_path_buf(), format!("/{place}"));
        SceneFileError::Content { path, place, what: what.into() }
    }

    fn checked<T>(&self, place: &str, result: Result<T, Hdf5Error>) -> Result<T, SceneFileError> {
        result.map_err(|error| self.content(place, crate::run_file::cause(&error)))
    }

    /// The numbers in the attributes of a group, all of them finite.
    fn numbers(&self, path: &str) -> Result<Numbers, SceneFileError> {
        let numbers = Groups::new(&self.bytes).numbers(path).ok_or_else(|| {
            self.content(path, "its attributes are stored in a way that is not known here")
        })?;
        let mut keys: Vec<&String> = numbers.keys().collect();
        keys.sort();
        keys.into_iter().try_for_each(|key| self.finite(path, key, &numbers[key]))?;
        Ok(numbers)
    }

    fn finite(&self, place: &str, key: &str, values: &[f64]) -> Result<(), SceneFileError> {
        match values.iter().find(|value| !value.is_finite()) {
            None => Ok(()),
            Some(value) => {
                Err(self.content(place, format!("`{key}` has {value}, expected finite numbers")))
            }
        }
    }

    /// The members of a group that are groups.
    fn groups(&self, path: &str) -> Result<Vec<String>, SceneFileError> {
        let group = self.checked(path, self.group(path))?;
        self.checked(path, group.group_names())
    }

    fn group(&self, path: &str) -> Result<rust_hdf5::H5Group, Hdf5Error> {
        path.split('/').try_fold(self.file.root_group(), |group, name| group.group(name))
    }

    /// The members of a group that are datasets.
    fn datasets(&self, path: &str) -> Vec<String> {
        let prefix = format!("{path}/");
        let own = self.names.iter().filter_map(|name| name.strip_prefix(&prefix));
        own.filter(|name| !name.contains('/')).map(str::to_string).collect()
    }

    fn dataset(&self, path: &str) -> Result<H5Dataset, SceneFileError> {
        self.checked(path, self.file.dataset(path))
    }

    /// A text in the attributes of a dataset.
    fn text(&self, dataset: &H5Dataset, key: &str) -> Option<String> {
        dataset.attr(key).ok()?.read_string().ok()
    }

    /// A text, or a list of texts of one length, as NumPy stores them.
    fn texts(&self, dataset: &H5Dataset, key: &str) -> Option<Vec<String>> {
        let attribute = dataset.attr(key).ok()?;
        if let Ok(DatatypeMessage::FixedString { size, .. }) = attribute.datatype() {
            let bytes = attribute.read_raw().ok()?;
            let texts = bytes.chunks_exact((size as usize).max(1)).map(|text| {
                let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
                String::from_utf8_lossy(&text[..end]).into_owned()
            });
            return Some(texts.collect());
        }
        attribute.read_string().ok().map(|text| vec![text])
    }

    /// Finite numbers in the attributes of a dataset; nothing where there are none of that name.
    fn values(
        &self,
        path: &str,
        dataset: &H5Dataset,
        key: &str,
    ) -> Result<Option<Vec<f64>>, SceneFileError> {
        let Ok(attribute) = dataset.attr(key) else { return Ok(None) };
        let whole = || {
            let values = attribute.read_numeric_as::<i64>().ok()?;
            Some(values.into_iter().map(|value| value as f64).collect())
        };
        let Some(values) = attribute.read_numeric_as::<f64>().ok().or_else(whole) else {
            return Err(self.content(path, format!("`{key}` is expected to be numbers")));
        };
        self.finite(path, key, &values)?;
        Ok(Some(values))
    }

    /// The first number of an attribute.
    fn value(
        &self,
        path: &str,
        dataset: &H5Dataset,
        key: &str,
    ) -> Result<Option<f64>, SceneFileError> {
        Ok(self.values(path, dataset, key)?.and_then(|values| values.first().copied()))
    }

    /// A number that has to be there.
    fn need(&self, path: &str, dataset: &H5Dataset, key: &str) -> Result<f64, SceneFileError> {
        let value = self.value(path, dataset, key)?;
        value.ok_or_else(|| self.content(path, format!("`{key}` is missing, expected a number")))
    }

    fn flag(&self, dataset: &H5Dataset, key: &str) -> Option<bool> {
        let attribute = dataset.attr(key).ok()?;
        // booleans of h5py are enumerations of one byte
        attribute.read_raw().ok().map(|bytes| bytes.iter().any(|byte| *byte != 0))
    }

    /// A vector of the plane or of space; zero where it is not given.
    fn vector(&self, path: &str, key: &str, values: &[f64]) -> Result<Vector, SceneFileError> {
        match (values, self.space) {
            ([], _) => Ok([0.0; 3]),
            ([x, y] | [x, y, _], Body::Plane) => Ok([*x, *y, 0.0]),
            ([x, y, z], Body::Space) => Ok([*x, *y, *z]),
            _ => Err(self.content(path, format!("`{key}` has {} numbers", values.len()))),
        }
    }

    /// A quaternion, or an angle of the plane; also the angle.
    fn turn(&self, path: &str, values: &[f64]) -> Result<(Quaternion, f64), SceneFileError> {
        match *values {
            [] => Ok(([1.0, 0.0, 0.0, 0.0], 0.0)),
            [w, x, y, z] if w * w + x * x + y * y + z * z > 0.0 => {
                Ok(([w, x, y, z], 2.0 * z.atan2(w)))
            }
            [angle] => {
                let (sin, cos) = (0.5 * angle).sin_cos();
                Ok(([cos, 0.0, 0.0, sin], angle))
            }
            _ => {
                let found = format!("`orientation` is {values:?}");
                Err(self.content(path, format!("{found}, expected a quaternion or an angle")))
            }
        }
    }
}
