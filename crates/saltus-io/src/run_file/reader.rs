//! Reading a run file back, whole or only what is known about it.
//!
//! Nothing in a file is trusted: sizes are held against the length of the file before memory is
//! asked for, and every dataset must have the shape that the list of signals gives it.

use super::{FORMAT, FORMAT_VERSION, RunFileError, cause, check_columns, parts};
use rust_hdf5::{H5Dataset, H5File, Hdf5Error};
use saltus_sim::{
    Change, Contacts, EventKind, EventRecord, Frames, Layout, Ledger, Outcome, Push, Quantity, Run,
    RunStats, Signal, Value,
};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What is known about a run without reading its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// Its signals; `layout.title` is the model's title.
    pub layout: Layout,
    /// Its totals, with how it ended.
    pub stats: RunStats,
    /// Number of recorded rows.
    pub rows: usize,
    /// The first and the last recorded instant.
    pub span: Option<(f64, f64)>,
    /// The version of Saltus that ran it.
    pub version: String,
    /// The text of its model file, where it was made from one.
    pub model_text: Option<String>,
    /// What happened in it.
    pub events: Vec<EventRecord>,
}

/// Reads a run file whole.
pub fn read_run(path: impl AsRef<Path>) -> Result<Run, RunFileError> {
    let source = RunSource::open(path.as_ref())?;
    let info = source.info()?;
    let frames = source.frames(&info)?;
    Ok(Run { layout: info.layout, frames, stats: info.stats, events: info.events })
}

/// Reads what is known about a run, and not its rows.
pub fn read_info(path: impl AsRef<Path>) -> Result<RunInfo, RunFileError> {
    RunSource::open(path.as_ref())?.info()
}

/// Reads the signals of a run, and not its rows.
pub fn read_layout(path: impl AsRef<Path>) -> Result<Layout, RunFileError> {
    read_info(path).map(|info| info.layout)
}

/// An open run file.
struct RunSource {
    path: PathBuf,
    /// Length of the file in bytes.
    length: u64,
    file: H5File,
}

impl RunSource {
    fn open(path: &Path) -> Result<RunSource, RunFileError> {
        let path = path.to_path_buf();
        let length = check_signature(&path)?;
        let file = H5File::open(&path)
            .map_err(|error| RunFileError::Damaged { path: path.clone(), cause: cause(&error) })?;
        let source = RunSource { path, length, file };

        // any HDF5 file gets here; only ours says so
        if source.file.attr_string("format").ok().as_deref() != Some(FORMAT) {
            return Err(RunFileError::NotARun { path: source.path });
        }
        let found = source.checked(source.file.attr_string("format_version"))?;
        let found: u32 = found.parse().map_err(|_| {
            source.damaged(format!("its format version is `{found}`, which is not a number"))
        })?;
        if found > FORMAT_VERSION {
            return Err(RunFileError::Newer { path: source.path, found });
        }
        Ok(source)
    }

    fn info(&self) -> Result<RunInfo, RunFileError> {
        let model = self.checked(self.file.root_group().group("model"))?;
        let names = self.file.dataset_names();
        let has = |name: &str| names.iter().any(|found| found == name);
        let sides = match has("contacts/index") {
            true => self.strings("contacts/names")?,
            false => Vec::new(),
        };
        let layout = Layout {
            title: self.checked(model.attr_string("title"))?,
            signals: self.signals()?,
            ledger: has("ledger/kinetic"),
            sides,
            pushes: if has("model/push_places") { self.pushes()? } else { Vec::new() },
        };
        let model_text = match has("model/text") {
            true => self.strings("model/text")?.into_iter().next(),
            false => None,
        };

        let time = self.dataset("time")?;
        let rows = match time.shape()[..] {
            [rows] => rows,
            _ => return Err(self.damaged("`/time` does not have one axis".to_string())),
        };
        let span = match rows {
            0 => None,
            _ => {
                let at = |row: usize| self.checked(time.read_slice::<f64>(&[row], &[1]));
                at(0)?.first().copied().zip(at(rows - 1)?.first().copied())
            }
        };
        let stats = self.stats(has("stats/error_estimate"))?;
        let version = self.checked(model.attr_string("version"))?;
        let events = match has("events/time") {
            true => self.events(has("event_changes/event"))?,
            false => Vec::new(),
        };
        Ok(RunInfo { layout, stats, rows, span, version, model_text, events })
    }

    /// What happened, each with what changed.
    fn events(&self, has_changes: bool) -> Result<Vec<EventRecord>, RunFileError> {
        let (kinds, names) = (self.strings("events/kind")?, self.strings("events/name")?);
        let interactions = self.strings("events/interaction")?;
        let time = self.numbers::<f64>("events/time", &[kinds.len()])?;
        let mut events = Vec::with_capacity(time.len());
        let rest = names.into_iter().zip(interactions);
        for ((time, kind), (name, interaction)) in time.into_iter().zip(&kinds).zip(rest) {
            let kind = EventKind::from_name(kind)
                .ok_or_else(|| self.damaged(format!("`{kind}` is no kind of event")))?;
            events.push(EventRecord { time, kind, name, interaction, changes: Vec::new() });
        }
        if events.len() != kinds.len() {
            return Err(self.damaged("the tables of `/events` differ in length".to_string()));
        }
        if !has_changes {
            return Ok(events);
        }
        let what = self.strings("event_changes/what")?;
        let of = self.numbers::<i64>("event_changes/event", &[what.len()])?;
        let values = |side: &str| -> Result<Vec<Value>, RunFileError> {
            let numbers = self.numbers::<f64>(&format!("event_changes/{side}"), &[what.len()])?;
            let names = self.strings(&format!("event_changes/{side}_name"))?;
            let value = |(number, name): (f64, String)| match name.is_empty() {
                true => Value::Number(number),
                false => Value::Name(name),
            };
            Ok(numbers.into_iter().zip(names).map(value).collect())
        };
        let (before, after) = (values("before")?, values("after")?);
        for ((of, what), (before, after)) in
            of.into_iter().zip(what).zip(before.into_iter().zip(after))
        {
            let event = usize::try_from(of).ok().and_then(|of| events.get_mut(of));
            let event = event.ok_or_else(|| self.damaged(format!("there is no event {of}")))?;
            event.changes.push(Change { what, before, after });
        }
        Ok(events)
    }

    /// The signals in their order: `/model/signals` beside `/model/columns`.
    fn signals(&self) -> Result<Vec<Signal>, RunFileError> {
        let paths = self.strings("model/signals")?;
        let columns = self.numbers::<i64>("model/columns", &[paths.len(), 2])?;
        let mut signals = Vec::with_capacity(paths.len());
        for (path, range) in paths.iter().zip(columns.chunks_exact(2)) {
            let (owner, quantity) = parts(path);
            let columns = usize::try_from(range[0]).ok().zip(usize::try_from(range[1]).ok());
            let Some((start, end)) = columns.filter(|_| !owner.is_empty()) else {
                return Err(self.damaged(format!("`{path}` is not a signal")));
            };
            signals.push(Signal { owner: owner.to_string(), quantity, columns: start..end });
        }
        check_columns(&signals).map_err(|error| self.damaged(error.to_string()))?;
        Ok(signals)
    }

    /// What interactions do to bodies: who does it to whom, and where it stands.
    fn pushes(&self) -> Result<Vec<Push>, RunFileError> {
        let (interactions, bodies) =
            (self.strings("model/push_interactions")?, self.strings("model/push_bodies")?);
        let places = self.numbers::<i64>("model/push_places", &[interactions.len()])?;
        let mut kept: Vec<i64> = places.iter().copied().filter(|place| *place >= 0).collect();
        kept.sort_unstable();
        let is_whole = kept.iter().enumerate().all(|(k, place)| *place == k as i64);
        if bodies.len() != interactions.len() || !is_whole {
            return Err(self.damaged("`/model/push_places` leaves places out".to_string()));
        }
        let pushes = interactions.into_iter().zip(bodies).zip(places);
        let push = |((interaction, body), place)| Push {
            interaction,
            body,
            place: usize::try_from(place).ok(),
        };
        Ok(pushes.map(push).collect())
    }

    fn stats(&self, has_error: bool) -> Result<RunStats, RunFileError> {
        let text = self.checked(self.file.attr_string("outcome"))?;
        let outcome = match text.as_str() {
            "complete" => Outcome::Complete,
            "interrupted" => Outcome::Interrupted,
            other => match other.strip_prefix("failed: ") {
                Some(message) => Outcome::Failed(message.to_string()),
                None => return Err(self.damaged(format!("its outcome is `{text}`"))),
            },
        };
        let totals = self.numbers::<f64>("stats/totals", &[6])?;
        let error = match has_error {
            true => self.numbers::<f64>("stats/error_estimate", &[1])?,
            false => Vec::new(),
        };
        Ok(RunStats {
            steps: totals[0] as usize,
            iterations: totals[1] as usize,
            worst_residual: totals[2],
            worst_penetration: totals[3],
            error_estimate: error.first().copied(),
            failures: totals[4] as usize,
            seconds: totals[5],
            outcome,
        })
    }

    /// The rows: each signal is put back to its columns.
    fn frames(&self, info: &RunInfo) -> Result<Frames, RunFileError> {
        let rows = info.rows;
        let mut frames = Frames {
            time: self.numbers("time", &[rows])?,
            iterations: self.numbers("stats/iterations", &[rows])?,
            residual: self.numbers("stats/residual", &[rows])?,
            ..Frames::default()
        };
        let has = |name: &str| self.file.dataset_names().iter().any(|found| found == name);
        if info.layout.ledger && has("stats/penetration") {
            frames.penetration = self.numbers("stats/penetration", &[rows])?;
        }
        let count = info.layout.push_count();
        if count > 0 {
            let values = self.numbers::<f64>("pushes/impulse", &[rows, 6 * count])?;
            frames.pushes = values.as_chunks::<6>().0.to_vec();
        }
        if !info.layout.sides.is_empty() {
            frames.contacts = self.contacts(rows, info.layout.sides.len())?;
        }
        let width = info.layout.width();
        let signals = info.layout.signals.iter().map(|signal| {
            let (family, owner) = (signal.quantity.family(), &signal.owner);
            let (name, shape) = match signal.quantity {
                Quantity::Value => (format!("{family}/{owner}"), vec![rows]),
                quantity => (
                    format!("{family}/{owner}/{}", quantity.name()),
                    vec![rows, signal.columns.len()],
                ),
            };
            (name, shape, signal.columns.clone())
        });
        let ledger = info
            .layout
            .ledger_columns()
            .zip(Ledger::NAMES)
            .map(|(column, name)| (format!("ledger/{name}"), vec![rows], column..column + 1));
        let wanted = signals.chain(ledger).filter(|(_, _, columns)| !columns.is_empty());

        // every shape is known to be in the file before memory for all of them is asked for
        let mut datasets = Vec::new();
        let mut compressed = false;
        for (name, shape, columns) in wanted {
            let dataset = self.shaped(&name, &shape)?;
            compressed |= self.is_compressed(&dataset)?;
            datasets.push((name, dataset, columns));
        }
        frames.rows = self.table(rows, width, compressed)?;
        for (name, dataset, columns) in datasets {
            let values = self.values::<f64>(&name, &dataset)?;
            let found = values.chunks_exact(columns.len());
            for (row, found) in frames.rows.chunks_exact_mut(width).zip(found) {
                row[columns.clone()].copy_from_slice(found);
            }
        }
        Ok(frames)
    }

    /// The contacts of all rows, between so many sides.
    fn contacts(&self, rows: usize, sides: usize) -> Result<Contacts, RunFileError> {
        let index = self.numbers::<i64>("contacts/index", &[rows + 1])?;
        let count = match self.dataset("contacts/time")?.shape()[..] {
            [count] => count,
            _ => return Err(self.damaged("`/contacts/time` does not have one axis".to_string())),
        };
        let increases = index.windows(2).all(|pair| pair[0] <= pair[1]);
        if index.first() != Some(&0) || index.last() != Some(&(count as i64)) || !increases {
            let cause = format!("`/contacts/index` does not lead from 0 to {count}");
            return Err(self.damaged(cause));
        }
        let numbers = |name: &str| self.numbers::<f64>(&format!("contacts/{name}"), &[count]);
        let vectors = |name: &str| {
            let values = self.numbers::<f64>(&format!("contacts/{name}"), &[count, 3])?;
            Ok::<_, RunFileError>(values.as_chunks::<3>().0.to_vec())
        };
        let bodies = self.numbers::<u32>("contacts/bodies", &[count, 2])?;
        if let Some(side) = bodies.iter().find(|&&side| side as usize >= sides) {
            return Err(self.damaged(format!("`/contacts/bodies` names number {side}")));
        }
        Ok(Contacts {
            ends: index[1..].iter().map(|&end| end as usize).collect(),
            sides: bodies.as_chunks::<2>().0.to_vec(),
            feature: self.numbers("contacts/feature", &[count])?,
            law: self.numbers("contacts/law", &[count])?,
            mu: numbers("mu")?,
            gap: numbers("gap")?,
            point: vectors("point")?,
            normal: vectors("normal")?,
            u: vectors("u")?,
            impulse: vectors("impulse")?,
            moment: vectors("moment")?,
        })
    }

    /// A table of zeros, which is no larger than what the file can hold.
    fn table(&self, rows: usize, width: usize, compressed: bool) -> Result<Vec<f64>, RunFileError> {
        let mut table = Vec::new();
        let fits = |size: &usize| *size as u64 <= self.largest(compressed) / 8;
        let size = rows.checked_mul(width).filter(fits);
        match size.filter(|size| table.try_reserve_exact(*size).is_ok()) {
            Some(size) => {
                table.resize(size, 0.0);
                Ok(table)
            }
            None => Err(self.damaged(format!("{rows} rows of {width} columns are too many"))),
        }
    }

    fn dataset(&self, name: &str) -> Result<H5Dataset, RunFileError> {
        self.checked(self.file.dataset(name))
    }

    /// A dataset of numbers, which must have that shape.
    fn numbers<T: rust_hdf5::H5Type + rust_hdf5::ReadNumeric>(
        &self,
        name: &str,
        shape: &[usize],
    ) -> Result<Vec<T>, RunFileError> {
        self.values(name, &self.shaped(name, shape)?)
    }

    /// A dataset, which must have that shape.
    fn shaped(&self, name: &str, shape: &[usize]) -> Result<H5Dataset, RunFileError> {
        let dataset = self.dataset(name)?;
        let found = dataset.shape();
        if found != shape {
            return Err(self.damaged(format!("`/{name}` has shape {found:?} instead of {shape:?}")));
        }
        self.check_size(name, &dataset)?;
        Ok(dataset)
    }

    /// The numbers of a dataset that has passed [`Self::shaped`].
    fn values<T: rust_hdf5::H5Type + rust_hdf5::ReadNumeric>(
        &self,
        name: &str,
        dataset: &H5Dataset,
    ) -> Result<Vec<T>, RunFileError> {
        let values: Vec<T> = self.checked(dataset.read_numeric_as())?;
        match values.len() == dataset.shape().iter().product::<usize>() {
            true => Ok(values),
            false => Err(self.damaged(format!("`/{name}` has {} values", values.len()))),
        }
    }

    fn strings(&self, name: &str) -> Result<Vec<String>, RunFileError> {
        let dataset = self.dataset(name)?;
        self.check_size(name, &dataset)?;
        self.checked(dataset.read_strings())
    }

    fn is_compressed(&self, dataset: &H5Dataset) -> Result<bool, RunFileError> {
        Ok(!self.checked(dataset.filters())?.is_empty())
    }

    /// Most bytes that can be in the file: its own, unless it is compressed (by another tool;
    /// deflate makes nothing smaller than a thousandth).
    fn largest(&self, compressed: bool) -> u64 {
        if compressed { self.length.saturating_mul(1100) } else { self.length }
    }

    /// No dataset is larger than the file that holds it.
    fn check_size(&self, name: &str, dataset: &H5Dataset) -> Result<(), RunFileError> {
        let largest = self.largest(self.is_compressed(dataset)?);
        let mut elements = dataset.shape().into_iter().map(|size| size as u64);
        let size = elements.try_fold(dataset.element_size() as u64, u64::checked_mul);
        match size {
            Some(size) if size <= largest => Ok(()),
            _ => Err(self.damaged(format!("`/{name}` is larger than the file"))),
        }
    }

    fn checked<T>(&self, result: Result<T, Hdf5Error>) -> Result<T, RunFileError> {
        result.map_err(|error| self.damaged(cause(&error)))
    }

    fn damaged(&self, cause: String) -> RunFileError {
        RunFileError::Damaged { path: self.path.clone(), cause }
    }
}

/// Tells apart: no file, not HDF5, cut off. Returns the length of the file.
///
/// ```text
/// superblock 0, 1   signature 8, versions and sizes 16 (20), base, free space, end of file ...
/// superblock 2, 3   signature 8, version and sizes 4,        base, extension,  end of file ...
/// ```
pub(crate) fn check_signature(path: &Path) -> Result<u64, RunFileError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            RunFileError::Missing { path: path.to_path_buf() }
        }
        _ => RunFileError::Open { path: path.to_path_buf(), cause: error.to_string() },
    };
    let file = File::open(path).map_err(failed)?;
    let data = file.metadata().map_err(failed)?;
    if data.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    let mut head = Vec::new();
    file.take(64).read_to_end(&mut head).map_err(failed)?;
    if !head.starts_with(b"\x89HDF\r\n\x1a\n") {
        return Err(RunFileError::NotHdf5 { path: path.to_path_buf() });
    }
    let end = match head.get(8) {
        Some(0) => 40,
        Some(1) => 44,
        _ => 28,
    };
    let end = head.get(end..end + 8).and_then(|bytes| bytes.try_into().ok());
    let expected = end.map_or(u64::MAX, u64::from_le_bytes);
    let found = data.len();
    match end.is_some() && expected <= found {
        true => Ok(found),
        false => {
            // a header that is cut itself promises at least its own size
            let expected = if end.is_some() { expected } else { 48 };
            Err(RunFileError::Truncated { path: path.to_path_buf(), expected, found })
        }
    }
}
