//! A simulation in the middle of its way, to be taken up later: in this process or in another.
//!
//! A checkpoint holds all that the next steps depend on besides the model: the clock, states,
//! multipliers and inputs, what schemes remember of the steps before, the mode of the last problem
//! and which modes the solver has met, the ledger and the totals. A simulation of the same model
//! that is [restored](crate::TimeStepping::restore) from it goes on as the one that was left, bit
//! for bit.
//!
//! ```text
//! "SALTUSCP"  version  length  checksum  |  fingerprint  t  memory
//! ```
//!
//! The fingerprint says which model it was: titles and values of all that must be the same. It has
//! no functions and no matrices; that these are the same is up to the caller.

use saltus_numerics::Memory;
use thiserror::Error;

const MAGIC: [u8; 8] = *b"SALTUSCP";
/// Version of the layout of the memory; it changes whenever a part remembers something else.
const VERSION: u64 = 7;
const HEADER: usize = 32;

/// A simulation at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) t: f64,
    pub(crate) memory: Vec<u8>,
}

/// What must be the same where a checkpoint is restored.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Fingerprint(pub Vec<(String, String)>);

/// A checkpoint that cannot be used. The simulation is as it was.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CheckpointError {
    /// Bytes that are something else.
    #[error("this is not a checkpoint of Saltus")]
    NotOne,
    /// A checkpoint of another version of Saltus.
    #[error("the checkpoint has version {found}; this Saltus reads version {expected}")]
    Version {
        /// Its version.
        found: u64,
        /// The version that can be read.
        expected: u64,
    },
    /// Fewer or more bytes than it was written with.
    #[error("the checkpoint has {found} bytes, but was written with {expected}")]
    Length {
        /// Bytes that are there.
        found: u64,
        /// Bytes that should be.
        expected: u64,
    },
    /// Bytes that have changed since it was written.
    #[error("the checkpoint is damaged: its checksum does not fit")]
    Damaged,
    /// The checkpoint of another model, scheme or solver.
    #[error("the checkpoint is of another simulation: {what} is {here}, and was {saved}")]
    Other {
        /// What differs.
        what: String,
        /// What it was where the checkpoint was made.
        saved: String,
        /// What it is here.
        here: String,
    },
    /// The memory does not fit, though everything else does.
    #[error("the checkpoint does not fit the simulation")]
    Memory,
}

impl Checkpoint {
    /// The time at which it was made.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// All of it, to be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = Memory::to_write();
        self.clone().visit(&mut content);
        let content = content.into_bytes();
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        bytes.extend(MAGIC);
        for word in [VERSION, content.len() as u64, checksum(&content)] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(content);
        bytes
    }

    /// From what [`to_bytes`](Self::to_bytes) made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
        let length =
            |expected: u64| CheckpointError::Length { found: bytes.len() as u64, expected };
        let Some(rest) = bytes.strip_prefix(&MAGIC) else { return Err(CheckpointError::NotOne) };
        let word = |k: usize| {
            let bytes = rest.get(8 * k..).and_then(|rest| rest.first_chunk());
            bytes.map(|bytes| u64::from_le_bytes(*bytes)).ok_or(length(HEADER as u64))
        };
        let (found, size, sum) = (word(0)?, word(1)?, word(2)?);
        if found != VERSION {
            return Err(CheckpointError::Version { found, expected: VERSION });
        }
        let content = &bytes[HEADER..];
        if content.len() as u64 != size {
            return Err(length(size.saturating_add(HEADER as u64)));
        }
        if checksum(content) != sum {
            return Err(CheckpointError::Damaged);
        }
        let mut memory = Memory::to_read(content.to_vec());
        let mut checkpoint =
            Checkpoint { fingerprint: Fingerprint::default(), t: 0.0, memory: Vec::new() };
        checkpoint.visit(&mut memory);
        if memory.is_whole() { Ok(checkpoint) } else { Err(CheckpointError::Damaged) }
    }

    fn visit(&mut self, content: &mut Memory) {
        let Checkpoint { fingerprint, t, memory } = self;
        let blank = (String::new(), String::new());
        content.list(&mut fingerprint.0, blank, |content, (what, value)| {
            content.text(what);
            content.text(value);
        });
        content.number(t);
        content.bytes(memory);
    }
}

impl Fingerprint {
    pub fn add(&mut self, what: impl Into<String>, value: impl ToString) {
        self.0.push((what.into(), value.to_string()));
    }

    /// The first difference to what is here; of lists that differ in length also that.
    pub fn check(&self, here: &Fingerprint) -> Result<(), CheckpointError> {
        let mut lists: Vec<&str> = Vec::new();
        for (title, _) in here.0.iter().chain(&self.0) {
            let list = list_of(title);
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
        for list in lists {
            let [own, other] = [here, self].map(|one| one.list(list));
            if own == other {
                continue;
            }
            let longest = own.len().max(other.len());
            let k = (0..longest).find(|&k| own.get(k) != other.get(k)).unwrap_or(0);
            let value = |of: &[&(String, String)]| {
                of.get(k).map_or("nothing".to_string(), |(_, value)| value.clone())
            };
            let (saved, here) = (value(&other), value(&own));
            let what = own.get(k).or(other.get(k)).map_or("", |(what, _)| what);
            let what = match own.len() == other.len() || own.len().min(other.len()) == 0 {
                true => what.to_string(),
                false => format!(
                    "the number of {list}s is {} and was {}, and the first that differs: {what}",
                    own.len(),
                    other.len()
                ),
            };
            return Err(CheckpointError::Other { what, saved, here });
        }
        Ok(())
    }

    /// The entries of a list.
    fn list(&self, name: &str) -> Vec<&(String, String)> {
        self.0.iter().filter(|(title, _)| list_of(title) == name).collect()
    }
}

/// What the entries of a list have in common: `system` of `system 3`.
fn list_of(title: &str) -> &str {
    match title.rsplit_once(' ') {
        Some((list, number)) if number.bytes().all(|c| c.is_ascii_digit()) => list,
        _ => title,
    }
}

/// The hash of Fowler, Noll and Vo (FNV-1a), 64 bits: `h ← (h ⊕ byte) p`.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Checkpoint {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add("the step h", 0.1);
        fingerprint.add("system 0", "`ball`, 1 component");
        Checkpoint { fingerprint, t: 0.3, memory: vec![1, 2, 3] }
    }

    #[test]
    fn bytes_there_and_back() {
        assert_eq!(Checkpoint::from_bytes(&sample().to_bytes()), Ok(sample()));
    }

    #[test]
    fn whatever_is_wrong_with_the_bytes_is_told() {
        let bytes = sample().to_bytes();
        for end in 0..bytes.len() {
            let error = Checkpoint::from_bytes(&bytes[..end]).unwrap_err();
            match end {
                0..8 => assert_eq!(error, CheckpointError::NotOne),
                _ => assert!(matches!(error, CheckpointError::Length { .. }), "{end}: {error}"),
            }
        }
        for k in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[k] ^= 0x10;
            assert!(Checkpoint::from_bytes(&changed).is_err(), "byte {k}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        let expected = bytes.len() as u64;
        let error = CheckpointError::Length { found: expected + 1, expected };
        assert_eq!(Checkpoint::from_bytes(&longer), Err(error));
        let mut newer = bytes;
        newer[8] = 9;
        let error = CheckpointError::Version { found: 9, expected: VERSION };
        assert_eq!(Checkpoint::from_bytes(&newer), Err(error));
    }

    #[test]
    fn the_first_difference_is_named() {
        let here = sample().fingerprint;
        assert_eq!(here.check(&here), Ok(()));
        let mut other = here.clone();
        other.0[0].1 = "0.2".to_string();
        let error = here.check(&other).unwrap_err().to_string();
        assert!(error.contains("the step h is 0.2, and was 0.1"), "{error}");
        other.0.pop();
        other.0[0].1 = "0.1".to_string();
        let error = here.check(&other).unwrap_err().to_string();
        assert!(error.contains("system 0 is nothing, and was `ball`"), "{error}");
    }

    /// Lists are compared with their likes, whatever stands between them.
    #[test]
    fn lists_of_other_lengths() {
        let print = |systems: &[&str], interactions: &[&str]| {
            let mut print = Fingerprint::default();
            let lists = [("system", systems), ("interaction", interactions)];
            for (list, names) in lists {
                let names = names.iter().enumerate();
                names.for_each(|(k, name)| print.add(format!("{list} {k}"), name));
            }
            print.add("the solver", "auto");
            print
        };
        let check = |saved: &Fingerprint, here: &Fingerprint, expected: &str| {
            let error = saved.check(here).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        };
        let all = print(&["a", "b", "c"], &["hinge"]);
        check(
            &all,
            &print(&["a", "c"], &["hinge"]),
            ": the number of systems is 2 and was 3, and the first that differs: system 1 is c, and was b",
        );
        check(
            &print(&["a", "b"], &["hinge"]),
            &all,
            ": the number of systems is 3 and was 2, and the first that differs: system 2 is c, and was nothing",
        );
        check(&all, &print(&["a", "b", "c"], &[]), ": interaction 0 is nothing, and was hinge");
        check(&all, &print(&["a", "b", "c"], &["axle"]), ": interaction 0 is axle, and was hinge");
    }
}
