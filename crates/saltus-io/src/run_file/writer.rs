//! Writing a run file while the simulation goes on, in bounded memory.
//!
//! Rows gather in a buffer; a full buffer becomes one chunk of every dataset. The datasets are
//! made with the first full buffer, or at the end, when their final size is known.

use super::contacts::ContactTable;
use super::{FORMAT, FORMAT_VERSION, RunFileError, cause, check_columns, parts};
use crate::partial::Partial;
use rust_hdf5::{DatatypeMessage, H5Dataset, H5File, H5Group, Hdf5Error, VarLenUnicode};
use saltus_sim::{EventRecord, Frames, Layout, Ledger, Outcome, Quantity, RunStats, Sink, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The version that writes: all crates of Saltus share one.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Bytes of rows that gather before they are written.
const BUFFER_BYTES: usize = 16 << 20;
/// Most bytes of one chunk: HDF5 tools cache 1 MiB of chunks a dataset.
const CHUNK_BYTES: usize = 512 << 10;
/// Most rows of one chunk.
const CHUNK_ROWS: usize = 8192;
/// Signals with more columns than this do not list them in an attribute.
const LISTED_COLUMNS: usize = 256;
/// Runs of more signals than this have no attributes at their datasets.
const DESCRIBED_SIGNALS: usize = 500;

/// Writes a run file, row by row.
///
/// The file has its final name only after [`RunWriter::finish`]; a writer that is dropped before
/// leaves nothing behind. A file that already has the name stays as it is until then.
pub struct RunWriter {
    partial: Partial,
    file: Option<H5File>,
    layout: Layout,
    /// Columns of a row; [`Layout::width`] looks at all signals.
    width: usize,
    model_text: Option<String>,
    events: Vec<EventRecord>,
    contacts: ContactTable,
    columns: Vec<Column>,
    /// The datasets of `columns`, once they are made in chunks.
    datasets: Vec<H5Dataset>,
    chunk_rows: usize,
    chunks: usize,
    pending: Frames,
    bytes: Vec<u8>,
    failed: bool,
}

/// A dataset with one row a recorded instant.
#[derive(Debug, Clone)]
struct Column {
    source: Source,
    /// Folder of the dataset, for example `/systems/ball`; empty for the root.
    group: String,
    name: String,
    /// Columns, for a dataset of two axes.
    dim: Option<usize>,
    unit: Option<&'static str>,
    description: &'static str,
}

/// Where a dataset's values stand in [`Frames`].
#[derive(Debug, Clone)]
enum Source {
    Time,
    Columns { columns: Range<usize>, width: usize },
    Iterations,
    Residual,
    Penetration,
    Pushes,
    Status,
}

impl RunWriter {
    /// Starts the run file `path`, replacing what has that name only when the run is finished.
    ///
    /// Fails if the folder does not exist or cannot be written to.
    pub fn create(
        path: impl AsRef<Path>,
        layout: &Layout,
        model_text: Option<&str>,
    ) -> Result<RunWriter, RunFileError> {
        check_names(layout)?;
        check_columns(&layout.signals)?;
        let mut partial = Partial::create(path.as_ref()).map_err(|error| error.into_run_file())?;
        let file = H5File::create(partial.path()).map_err(|error| RunFileError::Create {
            path: partial.target().to_path_buf(),
            cause: cause(&error),
        })?;
        partial.claim();
        let columns = columns(layout);
        let row_bytes: usize = columns.iter().map(Column::row_bytes).sum();
        let widest = columns.iter().map(Column::row_bytes).max().unwrap_or(8);
        let chunk_rows = (BUFFER_BYTES / row_bytes).min(CHUNK_BYTES / widest).clamp(1, CHUNK_ROWS);
        Ok(RunWriter {
            partial,
            file: Some(file),
            layout: layout.clone(),
            width: layout.width(),
            model_text: model_text.map(str::to_string),
            events: Vec::new(),
            contacts: ContactTable::new(&layout.sides),
            columns,
            datasets: Vec::new(),
            chunk_rows,
            chunks: 0,
            pending: Frames::default(),
            bytes: Vec::new(),
            failed: false,
        })
    }

    /// The final name of the file.
    pub fn path(&self) -> &Path {
        self.partial.target()
    }

    /// Takes rows. After an error the file cannot be finished any more.
    pub fn append(&mut self, frames: &Frames) -> Result<(), RunFileError> {
        if self.failed {
            return Err(RunFileError::Abandoned { path: self.path().to_path_buf() });
        }
        self.check_shape(frames)?;
        self.contacts.check(frames)?;
        self.guarded(|writer, file| writer.contacts.append(file, frames))?;
        let mut start = 0;
        while start < frames.len() {
            let rows = (frames.len() - start).min(self.chunk_rows - self.pending.len());
            self.gather(frames, start..start + rows);
            start += rows;
            if self.pending.len() == self.chunk_rows {
                self.guarded(RunWriter::write_chunk)?;
            }
        }
        Ok(())
    }

    /// Takes what happened in the run, to be written at the end.
    pub fn events(&mut self, events: &[EventRecord]) {
        self.events.extend_from_slice(events);
    }

    /// Completes the file and gives it its name, which is returned.
    pub fn finish(mut self, stats: &RunStats) -> Result<PathBuf, RunFileError> {
        if self.failed {
            return Err(RunFileError::Abandoned { path: self.path().to_path_buf() });
        }
        self.guarded(|writer, file| {
            if writer.chunks == 0 { writer.write_whole(file) } else { writer.write_last(file) }?;
            writer.contacts.finish(file)?;
            writer.write_model(file)?;
            writer.write_events(file)?;
            writer.write_totals(file, stats)
        })?;

        // close syncs: the rename below must not overtake the data
        self.datasets.clear();
        let path = self.path().to_path_buf();
        if let Some(file) = self.file.take() {
            file.close().map_err(|error| self.write_error(&error))?;
        }
        self.partial.commit().map_err(|error| RunFileError::Create {
            path: path.clone(),
            cause: error.to_string(),
        })?;
        Ok(path)
    }

    /// Calls the HDF5 library, and remembers if it failed.
    fn guarded(
        &mut self,
        work: impl FnOnce(&mut RunWriter, &H5File) -> Result<(), Hdf5Error>,
    ) -> Result<(), RunFileError> {
        let Some(file) = self.file.take() else {
            return Err(RunFileError::Abandoned { path: self.path().to_path_buf() });
        };
        let result = work(self, &file);
        self.file = Some(file);
        result.map_err(|error| {
            self.failed = true;
            self.write_error(&error)
        })
    }

    fn write_error(&self, error: &Hdf5Error) -> RunFileError {
        RunFileError::Write { path: self.path().to_path_buf(), cause: cause(error) }
    }

    /// Every table must have the rows of `time`.
    fn check_shape(&self, frames: &Frames) -> Result<(), RunFileError> {
        let rows = frames.len();
        let tables = [
            ("rows", self.width, frames.rows.len()),
            ("iterations", 1, frames.iterations.len()),
            ("residual", 1, frames.residual.len()),
        ];
        let mechanical = [
            ("penetration", usize::from(self.layout.ledger), frames.penetration.len()),
            ("pushes", self.layout.push_count(), frames.pushes.len()),
        ];
        for (table, width, found) in tables.into_iter().chain(mechanical) {
            if found != rows * width {
                return Err(RunFileError::Shape { table, rows, expected: rows * width, found });
            }
        }
        Ok(())
    }

    /// Copies rows to the buffer.
    fn gather(&mut self, frames: &Frames, rows: Range<usize>) {
        let (pending, width) = (&mut self.pending, self.width);
        pending.time.extend_from_slice(&frames.time[rows.clone()]);
        pending.rows.extend_from_slice(&frames.rows[rows.start * width..rows.end * width]);
        pending.iterations.extend_from_slice(&frames.iterations[rows.clone()]);
        pending.residual.extend_from_slice(&frames.residual[rows.clone()]);
        if self.layout.ledger {
            pending.penetration.extend_from_slice(&frames.penetration[rows.clone()]);
        }
        let count = self.layout.push_count();
        pending.pushes.extend_from_slice(&frames.pushes[rows.start * count..rows.end * count]);
    }

    /// The full buffer becomes one chunk of every dataset.
    fn write_chunk(&mut self, file: &H5File) -> Result<(), Hdf5Error> {
        if self.datasets.is_empty() {
            self.datasets = self.make_datasets(file, None)?;
        }
        for (column, dataset) in self.columns.iter().zip(&self.datasets) {
            column.fill(&self.pending, &mut self.bytes);
            // the last chunk is padded; the extent set at the end leaves the padding out
            self.bytes.resize(self.chunk_rows * column.row_bytes(), 0);
            dataset.write_chunk(self.chunks, &self.bytes)?;
        }
        self.chunks += 1;
        self.pending.clear();
        Ok(())
    }

    /// The last chunk, and the final number of rows.
    fn write_last(&mut self, file: &H5File) -> Result<(), Hdf5Error> {
        let rows = self.chunks * self.chunk_rows + self.pending.len();
        if !self.pending.is_empty() {
            self.write_chunk(file)?;
        }
        for (column, dataset) in self.columns.iter().zip(&self.datasets) {
            dataset.extend(&column.shape(rows))?;
        }
        Ok(())
    }

    /// A short run: all of it at once.
    fn write_whole(&mut self, file: &H5File) -> Result<(), Hdf5Error> {
        let rows = self.pending.len();
        let datasets = self.make_datasets(file, Some(rows))?;
        if rows > 0 {
            for (column, dataset) in self.columns.iter().zip(&datasets) {
                column.fill(&self.pending, &mut self.bytes);
                dataset.write_raw_bytes(&self.bytes)?;
            }
        }
        Ok(())
    }

    /// Makes the datasets with their attributes: of that many rows, or to be extended.
    fn make_datasets(
        &self,
        file: &H5File,
        rows: Option<usize>,
    ) -> Result<Vec<H5Dataset>, Hdf5Error> {
        let mut groups = HashMap::from([(String::new(), file.root_group())]);
        for name in ["systems", "interactions", "stats"] {
            groups.insert(format!("/{name}"), file.create_group(name)?);
        }
        if self.layout.ledger {
            groups.insert("/ledger".to_string(), file.create_group("ledger")?);
        }
        let mut datasets = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            if !groups.contains_key(&column.group) {
                let (parent, owner) = column.group.rsplit_once('/').unwrap_or(("", &column.group));
                let group = match groups.get(parent) {
                    Some(parent) => parent.create_group(owner)?,
                    None => return Err(Hdf5Error::NotFound(parent.to_string())),
                };
                groups.insert(column.group.clone(), group);
            }
            datasets.push(self.make_dataset(&groups[&column.group], column, rows)?);
        }
        Ok(datasets)
    }

    fn make_dataset(
        &self,
        group: &H5Group,
        column: &Column,
        rows: Option<usize>,
    ) -> Result<H5Dataset, Hdf5Error> {
        let shape = column.shape(rows.unwrap_or(0));
        let chunk = column.shape(self.chunk_rows);
        let max_shape = match column.dim {
            None => vec![None],
            Some(dim) => vec![None, Some(dim)],
        };
        // the three element types differ only in the builder's type
        macro_rules! make {
            ($element:ty) => {{
                let builder = group.new_dataset::<$element>().shape(&shape);
                match rows {
                    Some(_) => builder.create(&column.name)?,
                    None => builder.chunk(&chunk).max_shape(&max_shape).create(&column.name)?,
                }
            }};
        }
        let dataset = match column.source {
            Source::Iterations => make!(u32),
            Source::Status => make!(u8),
            _ => make!(f64),
        };

        if self.layout.signals.len() > DESCRIBED_SIGNALS {
            return Ok(dataset);
        }
        let text = |name: &str, value: &str| {
            let attribute = dataset.new_attr::<VarLenUnicode>().shape(()).create(name)?;
            attribute.write_scalar(&VarLenUnicode(value.to_string()))
        };
        text("description", column.description)?;
        if let Some(unit) = column.unit {
            text("unit", unit)?;
        }
        if let (Some(dim), Some((_, owner))) = (column.dim, column.group.rsplit_once('/'))
            && dim <= LISTED_COLUMNS
            && !matches!(column.source, Source::Pushes)
        {
            let name = &column.name;
            let names: Vec<String> = (0..dim).map(|i| format!("{owner}.{name}[{i}]")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let attribute = dataset.new_attr::<VarLenUnicode>().shape([dim]).create("columns")?;
            attribute.write_string_array(&names)?;
        }
        Ok(dataset)
    }

    /// `/model`.
    fn write_model(&self, file: &H5File) -> Result<(), Hdf5Error> {
        let model = file.create_group("model")?;
        model.set_attr_string("title", &self.layout.title)?;
        model.set_attr_string("version", VERSION)?;
        if let Some(text) = &self.model_text {
            let builder = model.new_dataset::<u8>().scalar();
            let dataset = builder.datatype(fixed_string(text.len())).create("text")?;
            dataset.write_raw_bytes(&padded([text.as_str()], text.len()))?;
        }

        let paths: Vec<String> = self.layout.signals.iter().map(|signal| signal.path()).collect();
        let longest = paths.iter().map(String::len).max().unwrap_or(0);
        let builder = model.new_dataset::<u8>().shape([paths.len()]);
        let signals = builder.datatype(fixed_string(longest)).create("signals")?;
        let builder = model.new_dataset::<i64>().shape([paths.len(), 2]);
        let columns = builder.create("columns")?;
        if !paths.is_empty() {
            signals.write_raw_bytes(&padded(paths.iter().map(String::as_str), longest))?;
            let ranges = self.layout.signals.iter().map(|signal| &signal.columns);
            let ranges: Vec<i64> =
                ranges.flat_map(|range| [range.start as i64, range.end as i64]).collect();
            columns.write_raw(&ranges)?;
        }

        let pushes = &self.layout.pushes;
        if !pushes.is_empty() {
            strings(&model, "push_interactions", pushes.iter().map(|push| &*push.interaction))?;
            strings(&model, "push_bodies", pushes.iter().map(|push| &*push.body))?;
            let places: Vec<i64> =
                pushes.iter().map(|push| push.place.map_or(-1, |place| place as i64)).collect();
            let dataset = model.new_dataset::<i64>().shape([places.len()]).create("push_places")?;
            dataset.write_raw(&places)?;
        }
        Ok(())
    }

    /// `/events`, where there were any.
    fn write_events(&self, file: &H5File) -> Result<(), Hdf5Error> {
        if self.events.is_empty() {
            return Ok(());
        }
        let group = file.create_group("events")?;
        let time: Vec<f64> = self.events.iter().map(|event| event.time).collect();
        group.new_dataset::<f64>().shape([time.len()]).create("time")?.write_raw(&time)?;
        strings(&group, "kind", self.events.iter().map(|event| event.kind.name()))?;
        strings(&group, "name", self.events.iter().map(|event| event.name.as_str()))?;
        strings(&group, "interaction", self.events.iter().map(|one| one.interaction.as_str()))?;

        let indexed = self.events.iter().enumerate();
        let changes: Vec<_> = indexed
            .flat_map(|(k, event)| event.changes.iter().map(move |change| (k, change)))
            .collect();
        if changes.is_empty() {
            return Ok(());
        }
        let group = file.create_group("event_changes")?;
        let of: Vec<i64> = changes.iter().map(|(k, _)| *k as i64).collect();
        group.new_dataset::<i64>().shape([of.len()]).create("event")?.write_raw(&of)?;
        strings(&group, "what", changes.iter().map(|(_, change)| change.what.as_str()))?;
        for side in ["before", "after"] {
            let values = || {
                changes
                    .iter()
                    .map(|(_, one)| if side == "before" { &one.before } else { &one.after })
            };
            let numbers: Vec<f64> = values()
                .map(|value| if let Value::Number(value) = value { *value } else { f64::NAN })
                .collect();
            group.new_dataset::<f64>().shape([numbers.len()]).create(side)?.write_raw(&numbers)?;
            let names = values().map(|value| if let Value::Name(name) = value { name } else { "" });
            strings(&group, &format!("{side}_name"), names)?;
        }
        Ok(())
    }

    /// The root's attributes, and the same numbers where this library can read them back.
    fn write_totals(&self, file: &H5File, stats: &RunStats) -> Result<(), Hdf5Error> {
        let outcome = match &stats.outcome {
            Outcome::Complete => "complete".to_string(),
            Outcome::Interrupted => "interrupted".to_string(),
            Outcome::Failed(message) => format!("failed: {message}"),
        };
        file.set_attr_string("format", FORMAT)?;
        file.set_attr_string("format_version", &FORMAT_VERSION.to_string())?;
        file.set_attr_string("title", &self.layout.title)?;
        file.set_attr_string("version", VERSION)?;
        file.set_attr_string("outcome", &outcome)?;
        file.set_attr_numeric("complete", &u8::from(stats.outcome == Outcome::Complete))?;
        file.set_attr_numeric("steps", &(stats.steps as u64))?;
        file.set_attr_numeric("iterations", &(stats.iterations as u64))?;
        file.set_attr_numeric("worst_residual", &stats.worst_residual)?;
        file.set_attr_numeric("worst_penetration", &stats.worst_penetration)?;
        file.set_attr_numeric("failures", &(stats.failures as u64))?;
        file.set_attr_numeric("seconds", &stats.seconds)?;

        if let Some(error) = stats.error_estimate {
            file.set_attr_numeric("error_estimate", &error)?;
            let group = file.root_group().group("stats")?;
            group
                .new_dataset::<f64>()
                .shape([1usize])
                .create("error_estimate")?
                .write_raw(&[error])?;
        }
        // rust-hdf5 0.7.9 writes numeric attributes of groups but does not read them
        let totals = file.root_group().group("stats")?.new_dataset::<f64>().shape([6usize]);
        totals.create("totals")?.write_raw(&[
            stats.steps as f64,
            stats.iterations as f64,
            stats.worst_residual,
            stats.worst_penetration,
            stats.failures as f64,
            stats.seconds,
        ])
    }
}

impl Sink for RunWriter {
    fn append(&mut self, _layout: &Layout, frames: &Frames) -> std::io::Result<()> {
        Ok(RunWriter::append(self, frames)?)
    }
}

impl std::fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWriter").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        // Unfinished: closing by hand, because the library prints when a close in its own drop
        // fails. Without a name the file costs no disk; `partial` removes it where that must wait.
        if let Some(file) = self.file.take() {
            self.partial.remove();
            self.datasets.clear();
            self.contacts.release();
            let _ = file.close_no_sync();
        }
    }
}

impl Column {
    fn row_bytes(&self) -> usize {
        let element = match self.source {
            Source::Iterations => 4,
            Source::Status => 1,
            _ => 8,
        };
        element * self.dim.unwrap_or(1)
    }

    fn shape(&self, rows: usize) -> Vec<usize> {
        match self.dim {
            None => vec![rows],
            Some(dim) => vec![rows, dim],
        }
    }

    /// The rows of this dataset, as they stand in the file.
    fn fill(&self, frames: &Frames, bytes: &mut Vec<u8>) {
        bytes.clear();
        match &self.source {
            Source::Time => put(bytes, frames.time.iter()),
            Source::Columns { columns, width } => {
                if columns.len() == 1 {
                    let column = frames.rows.get(columns.start..).unwrap_or(&[]);
                    put(bytes, column.iter().step_by(*width));
                } else {
                    let rows = frames.rows.chunks_exact(*width);
                    rows.for_each(|row| put(bytes, row[columns.clone()].iter()));
                }
            }
            Source::Iterations => {
                bytes.extend(frames.iterations.iter().flat_map(|value| value.to_le_bytes()));
            }
            Source::Residual => put(bytes, frames.residual.iter()),
            Source::Penetration => put(bytes, frames.penetration.iter()),
            Source::Pushes => put(bytes, frames.pushes.as_flattened().iter()),
            Source::Status => bytes.resize(frames.len(), 0),
        }
    }
}

/// Appends numbers in the byte order of the file.
fn put<'a>(bytes: &mut Vec<u8>, values: impl ExactSizeIterator<Item = &'a f64>) {
    let start = bytes.len();
    bytes.resize(start + 8 * values.len(), 0);
    for (slot, value) in bytes[start..].chunks_exact_mut(8).zip(values) {
        slot.copy_from_slice(&value.to_le_bytes());
    }
}

/// The datasets of a layout.
fn columns(layout: &Layout) -> Vec<Column> {
    let width = layout.width();
    let scalar = |source, group: &str, name: &str, unit, description| Column {
        source,
        group: group.to_string(),
        name: name.to_string(),
        dim: None,
        unit,
        description,
    };
    let mut columns = vec![
        scalar(Source::Time, "", "time", Some("s"), "recorded instants"),
        scalar(
            Source::Iterations,
            "/stats",
            "iterations",
            None,
            "iterations of the solver in the step that ended there",
        ),
        scalar(
            Source::Residual,
            "/stats",
            "residual",
            None,
            "residual of the step's problem, as verified",
        ),
        scalar(Source::Status, "/stats", "status", None, "0: solved"),
    ];
    if layout.ledger {
        let description = "deepest penetration of a contact at the end of the step";
        columns.push(scalar(Source::Penetration, "/stats", "penetration", Some("m"), description));
    }
    let count = layout.push_count();
    if count > 0 {
        columns.push(Column {
            source: Source::Pushes,
            group: "/pushes".to_string(),
            name: "impulse".to_string(),
            dim: Some(6 * count),
            unit: None,
            description: "of each in /model/push_places: impulse in the world, that of the moment in the body",
        });
    }

    // a signal of no columns has no dataset: `/model/signals` tells of it
    for signal in layout.signals.iter().filter(|signal| !signal.columns.is_empty()) {
        let source = Source::Columns { columns: signal.columns.clone(), width };
        let family = signal.quantity.family();
        if signal.quantity == Quantity::Value {
            let unit = unit_of_value(&signal.owner);
            columns.push(scalar(source, &format!("/{family}"), &signal.owner, unit, "value"));
            continue;
        }
        columns.push(Column {
            source,
            group: format!("/{family}/{}", signal.owner),
            name: signal.quantity.name().to_string(),
            dim: Some(signal.columns.len()),
            unit: None,
            description: match signal.quantity {
                Quantity::X => "state",
                Quantity::Q => "configuration",
                Quantity::V => "velocity",
                Quantity::Position => "position of the center of mass",
                Quantity::Orientation => "quaternion w, x, y, z",
                Quantity::Angle => "angle, radians",
                Quantity::Omega => "angular velocity (in space: in the frame of the body)",
                Quantity::Y => "output (mechanics: gap)",
                Quantity::U => "relative velocity",
                Quantity::Lam => "multiplier (time-stepping of mechanics: impulse of the step)",
                Quantity::Beta => "integrity of the bond: 1 sound, 0 broken",
                Quantity::Value => "value",
            },
        });
    }

    if layout.ledger {
        let descriptions = [
            "kinetic energy",
            "potential energy",
            "work of the forces without a potential, but damping, since t0",
            "energy taken by damping since t0",
            "energy taken along normals of contacts and by constraints since t0",
            "energy taken by friction and other laws of forces since t0",
            "energy taken by the scheme since t0",
        ];
        let entries = layout.ledger_columns().zip(Ledger::NAMES).zip(descriptions);
        for ((column, name), description) in entries {
            let source = Source::Columns { columns: column..column + 1, width };
            columns.push(scalar(source, "/ledger", name, Some("J"), description));
        }
    }
    columns
}

/// The unit of a voltage `v(…)` or a current `i(…)`.
fn unit_of_value(name: &str) -> Option<&'static str> {
    match name.get(..2)? {
        "v(" => Some("V"),
        "i(" => Some("A"),
        _ => None,
    }
}

/// Names must be names of HDF5 groups, and each signal must be there once.
fn check_names(layout: &Layout) -> Result<(), RunFileError> {
    let mut seen = HashSet::new();
    for signal in &layout.signals {
        // points stand in names of subcircuits and of what is built into joints
        let owner = &signal.owner;
        if owner.is_empty()
            || [".", ".."].contains(&owner.as_str())
            || owner.contains(['/', '\0'])
            || parts(&signal.path()).1 != signal.quantity
        {
            return Err(RunFileError::Name { name: signal.owner.clone() });
        }
        if !seen.insert((&signal.owner, signal.quantity)) {
            return Err(RunFileError::Duplicate { path: signal.path() });
        }
    }
    Ok(())
}

/// A dataset of strings.
pub(super) fn strings<'a>(
    group: &H5Group,
    name: &str,
    strings: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Hdf5Error> {
    let longest = strings.clone().map(str::len).max().unwrap_or(0);
    let builder = group.new_dataset::<u8>().shape([strings.clone().count()]);
    let dataset = builder.datatype(fixed_string(longest)).create(name)?;
    dataset.write_raw_bytes(&padded(strings, longest))
}

/// A string of fixed length in UTF-8, filled up with zeros; HDF5 has no string of length 0.
pub(crate) fn fixed_string(length: usize) -> DatatypeMessage {
    DatatypeMessage::FixedString { size: length.max(1) as u32, padding: 1, charset: 1 }
}

/// Strings as [`fixed_string`] stores them.
pub(crate) fn padded<'a>(strings: impl IntoIterator<Item = &'a str>, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for string in strings {
        let start = bytes.len();
        bytes.extend_from_slice(string.as_bytes());
        bytes.resize(start + length.max(1), 0);
    }
    bytes
}
