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
const VERSION: u64 = 6;
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

    /// The first difference to what is here.
    pub fn check(&self, here: &Fingerprint) -> Result<(), CheckpointError> {
        for k in 0..self.0.len().max(here.0.len()) {
            let (saved, here) = (self.0.get(k), here.0.get(k));
            if saved == here {
                continue;
            }
            let value = |of: Option<&(String, String)>, what: &str| match of {
                Some((own, value)) if own == what => value.clone(),
                _ => "nothing".to_string(),
            };
            let what = here.or(saved).map_or(String::new(), |(what, _)| what.clone());
            let (saved, here) = (value(saved, &what), value(here, &what));
            return Err(CheckpointError::Other { what, saved, here });
        }
        Ok(())
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
}
