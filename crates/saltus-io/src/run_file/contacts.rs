//! `/contacts`: one row a contact and recorded instant, streamed in chunks of their own.
//!
//! ```text
//! /contacts/index    (n + 1,)  int64    where the contacts of each recorded instant begin
//! /contacts/names    (s,)      string   all that can be touched
//! /contacts/time     (c,)      float64  the instant
//! /contacts/bodies   (c, 2)    uint32   the two, by their positions in `names`
//! ...
//! ```

use super::RunFileError;
use super::writer::strings;
use rust_hdf5::{H5Dataset, H5File, H5Group, Hdf5Error, VarLenUnicode};
use saltus_sim::{Contacts, Frames};

/// Contacts of one chunk.
const CHUNK: usize = 4096;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Time,
    Bodies,
    Feature,
    Law,
    Mu,
    Gap,
    Point,
    Normal,
    U,
    Impulse,
    Moment,
}

impl Column {
    const ALL: [Column; 11] = [
        Column::Time,
        Column::Bodies,
        Column::Feature,
        Column::Law,
        Column::Mu,
        Column::Gap,
        Column::Point,
        Column::Normal,
        Column::U,
        Column::Impulse,
        Column::Moment,
    ];

    /// Name, unit and description.
    fn words(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            Column::Time => ("time", Some("s"), "recorded instant"),
            Column::Bodies => ("bodies", None, "the two sides, by their positions in `names`"),
            Column::Feature => ("feature", None, "which contact of its pair"),
            Column::Law => ("law", None, "its law, by position"),
            Column::Mu => ("mu", None, "coefficient of friction in the step"),
            Column::Gap => ("gap", Some("m"), "gap at the beginning of the step"),
            Column::Point => ("point", Some("m"), "where it was then, in the world"),
            Column::Normal => ("normal", None, "unit normal then, from the second to the first"),
            Column::U => {
                ("u", Some("m/s"), "velocity of the first less the second at the step's end")
            }
            Column::Impulse => ("impulse", Some("N s"), "impulse on the first in the step"),
            Column::Moment => ("moment", Some("N m s"), "impulse of rolling on the first"),
        }
    }

    /// Entries of a row, for a table of two axes.
    fn dim(self) -> Option<usize> {
        match self {
            Column::Bodies => Some(2),
            Column::Point | Column::Normal | Column::U | Column::Impulse | Column::Moment => {
                Some(3)
            }
            _ => None,
        }
    }

    fn row_bytes(self) -> usize {
        let element = if matches!(self, Column::Bodies | Column::Law) { 4 } else { 8 };
        element * self.dim().unwrap_or(1)
    }

    fn shape(self, rows: usize) -> Vec<usize> {
        std::iter::once(rows).chain(self.dim()).collect()
    }

    /// Appends one row.
    fn put(self, time: f64, contacts: &Contacts, k: usize, bytes: &mut Vec<u8>) {
        let mut numbers = |values: &[f64]| {
            values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        };
        match self {
            Column::Time => numbers(&[time]),
            Column::Mu => numbers(&[contacts.mu[k]]),
            Column::Gap => numbers(&[contacts.gap[k]]),
            Column::Point => numbers(&contacts.point[k]),
            Column::Normal => numbers(&contacts.normal[k]),
            Column::U => numbers(&contacts.u[k]),
            Column::Impulse => numbers(&contacts.impulse[k]),
            Column::Moment => numbers(&contacts.moment[k]),
            Column::Feature => bytes.extend_from_slice(&contacts.feature[k].to_le_bytes()),
            Column::Law => bytes.extend_from_slice(&contacts.law[k].to_le_bytes()),
            Column::Bodies => {
                contacts.sides[k].iter().for_each(|s| bytes.extend_from_slice(&s.to_le_bytes()));
            }
        }
    }

    fn make(self, group: &H5Group, rows: Option<usize>) -> Result<H5Dataset, Hdf5Error> {
        let (name, unit, description) = self.words();
        let (shape, chunk) = (self.shape(rows.unwrap_or(0)), self.shape(CHUNK));
        let most: Vec<Option<usize>> = std::iter::once(None).chain(self.dim().map(Some)).collect();
        macro_rules! make {
            ($element:ty) => {{
                let builder = group.new_dataset::<$element>().shape(&shape);
                match rows {
                    Some(_) => builder.create(name)?,
                    None => builder.chunk(&chunk).max_shape(&most).create(name)?,
                }
            }};
        }
        let dataset = match self {
            Column::Bodies | Column::Law => make!(u32),
            Column::Feature => make!(u64),
            _ => make!(f64),
        };
        for (name, text) in [("description", Some(description)), ("unit", unit)] {
            if let Some(text) = text {
                let attribute = dataset.new_attr::<VarLenUnicode>().shape(()).create(name)?;
                attribute.write_scalar(&VarLenUnicode(text.to_string()))?;
            }
        }
        Ok(dataset)
    }
}

/// The table in the making.
pub(super) struct ContactTable {
    names: Vec<String>,
    /// Where the contacts of each row begin, and where the last ones end.
    index: Vec<i64>,
    /// The contacts that no chunk holds yet, column by column.
    pending: Vec<Vec<u8>>,
    rows: usize,
    chunks: usize,
    group: Option<H5Group>,
    datasets: Vec<H5Dataset>,
}

impl ContactTable {
    /// Of a run in which these can touch.
    pub fn new(names: &[String]) -> ContactTable {
        let pending = vec![Vec::new(); Column::ALL.len()];
        let (names, index) = (names.to_vec(), vec![0]);
        ContactTable {
            names,
            index,
            pending,
            rows: 0,
            chunks: 0,
            group: None,
            datasets: Vec::new(),
        }
    }

    /// Whether the run has such a table.
    pub fn is_kept(&self) -> bool {
        !self.names.is_empty()
    }

    /// Every row says where its contacts end.
    pub fn check(&self, frames: &Frames) -> Result<(), RunFileError> {
        let (rows, found) = (frames.len(), frames.contacts.ends.len());
        let expected = if self.is_kept() { rows } else { 0 };
        match found == expected {
            true => Ok(()),
            false => Err(RunFileError::Shape { table: "contacts", rows, expected, found }),
        }
    }

    /// Takes the contacts of some rows.
    pub fn append(&mut self, file: &H5File, frames: &Frames) -> Result<(), Hdf5Error> {
        if !self.is_kept() {
            return Ok(());
        }
        for (row, &time) in frames.time.iter().enumerate() {
            for k in frames.contacts.of(row) {
                for (column, bytes) in Column::ALL.iter().zip(&mut self.pending) {
                    column.put(time, &frames.contacts, k, bytes);
                }
                self.rows += 1;
                if self.rows == CHUNK * (self.chunks + 1) {
                    self.write_chunk(file)?;
                }
            }
            self.index.push(self.rows as i64);
        }
        Ok(())
    }

    fn group(&mut self, file: &H5File) -> Result<&H5Group, Hdf5Error> {
        match &mut self.group {
            Some(group) => Ok(group),
            none => Ok(none.insert(file.create_group("contacts")?)),
        }
    }

    fn write_chunk(&mut self, file: &H5File) -> Result<(), Hdf5Error> {
        if self.datasets.is_empty() {
            let group = self.group(file)?;
            let made = Column::ALL.iter().map(|column| column.make(group, None));
            self.datasets = made.collect::<Result<_, _>>()?;
        }
        let columns = Column::ALL.iter().zip(&mut self.pending).zip(&self.datasets);
        for ((column, bytes), dataset) in columns {
            bytes.resize(CHUNK * column.row_bytes(), 0);
            dataset.write_chunk(self.chunks, bytes)?;
            bytes.clear();
        }
        self.chunks += 1;
        Ok(())
    }

    /// What is left, the index and the names.
    pub fn finish(&mut self, file: &H5File) -> Result<(), Hdf5Error> {
        if !self.is_kept() {
            return Ok(());
        }
        let rows = self.rows;
        if self.chunks == 0 {
            let group = self.group(file)?;
            let made = Column::ALL.iter().map(|column| column.make(group, Some(rows)));
            let datasets = made.collect::<Result<Vec<_>, _>>()?;
            for (bytes, dataset) in self.pending.iter().zip(&datasets) {
                if rows > 0 {
                    dataset.write_raw_bytes(bytes)?;
                }
            }
        } else {
            if rows > CHUNK * self.chunks {
                self.write_chunk(file)?;
            }
            for (column, dataset) in Column::ALL.iter().zip(&self.datasets) {
                dataset.extend(&column.shape(rows))?;
            }
        }
        let (index, names) = (self.index.clone(), self.names.clone());
        let group = self.group(file)?;
        let dataset = group.new_dataset::<i64>().shape([index.len()]).create("index")?;
        dataset.write_raw(&index)?;
        strings(group, "names", names.iter().map(String::as_str))?;
        self.datasets.clear();
        self.group = None;
        Ok(())
    }

    /// Lets go of the file.
    pub fn release(&mut self) {
        self.datasets.clear();
        self.group = None;
    }
}
