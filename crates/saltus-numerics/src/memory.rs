//! What a computation remembers, as bytes: one list of fields that is written and read alike.
//!
//! A type states its memory once, in a method that visits its fields in order:
//!
//! ```
//! use saltus_numerics::Memory;
//!
//! struct Motion { t: f64, v: Vec<f64> }
//!
//! impl Motion {
//!     fn memory(&mut self, memory: &mut Memory) {
//!         memory.number(&mut self.t);
//!         memory.numbers(&mut self.v);
//!     }
//! }
//!
//! let mut there = Memory::to_write();
//! Motion { t: 2.0, v: vec![1.0, -0.0] }.memory(&mut there);
//! let mut here = Motion { t: 0.0, v: vec![0.0; 2] };
//! let mut back = Memory::to_read(there.into_bytes());
//! here.memory(&mut back);
//! assert!(back.is_whole() && here.t == 2.0 && here.v[0] == 1.0);
//! ```
//!
//! Numbers keep their bits. What does not fit (another length, too few bytes, bytes left over) is
//! told by [`Memory::is_whole`] after the last field; fields from there on stay as they were.

/// Bytes that are written to, or read from.
#[derive(Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    next: Option<usize>, // where it is read; `None` where it is written
    is_broken: bool,
}

impl Memory {
    /// Takes what is visited.
    pub fn to_write() -> Memory {
        Memory { bytes: Vec::new(), next: None, is_broken: false }
    }

    /// Gives back what was visited.
    pub fn to_read(bytes: Vec<u8>) -> Memory {
        Memory { bytes, next: Some(0), is_broken: false }
    }

    /// Takes anew what is visited, in place of what it has.
    pub fn write_anew(&mut self) {
        self.bytes.clear();
        (self.next, self.is_broken) = (None, false);
    }

    /// Gives back what it has, from the beginning.
    pub fn read_anew(&mut self) {
        (self.next, self.is_broken) = (Some(0), false);
    }

    /// Whether fields get their values from it.
    pub fn is_read(&self) -> bool {
        self.next.is_some()
    }

    /// Whether all fields were found, and nothing besides.
    pub fn is_whole(&self) -> bool {
        !self.is_broken && self.next.is_none_or(|next| next == self.bytes.len())
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Eight bytes.
    pub fn word(&mut self, value: &mut u64) {
        let Some(next) = self.next else {
            self.bytes.extend_from_slice(&value.to_le_bytes());
            return;
        };
        match self.bytes.get(next..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) if !self.is_broken => {
                *value = u64::from_le_bytes(*bytes);
                self.next = Some(next + 8);
            }
            _ => self.is_broken = true,
        }
    }

    /// A number, to the last bit.
    pub fn number(&mut self, value: &mut f64) {
        let mut bits = value.to_bits();
        self.word(&mut bits);
        *value = f64::from_bits(bits);
    }

    /// A count.
    pub fn count(&mut self, value: &mut usize) {
        let mut word = *value as u64;
        self.word(&mut word);
        *value = word as usize;
    }

    /// A yes or no.
    pub fn flag(&mut self, value: &mut bool) {
        let mut word = u64::from(*value);
        self.word(&mut word);
        *value = word != 0;
    }

    /// So many numbers.
    pub fn numbers(&mut self, values: &mut [f64]) {
        if self.length(values.len()) == Some(values.len()) {
            if self.next.is_none() {
                self.bytes.reserve(8 * values.len());
                for value in values {
                    self.bytes.extend_from_slice(&value.to_le_bytes());
                }
                return;
            }
            values.iter_mut().for_each(|value| self.number(value));
        } else {
            self.is_broken = true;
        }
    }

    /// So many flags.
    pub fn flags(&mut self, values: &mut [bool]) {
        if self.length(values.len()) == Some(values.len()) {
            values.iter_mut().for_each(|value| self.flag(value));
        } else {
            self.is_broken = true;
        }
    }

    /// A list of any length, entry by entry.
    pub fn list<T: Clone>(
        &mut self,
        values: &mut Vec<T>,
        blank: T,
        mut entry: impl FnMut(&mut Memory, &mut T),
    ) {
        match self.length(values.len()) {
            Some(length) => values.resize(length, blank),
            None => return self.is_broken = true,
        }
        values.iter_mut().for_each(|value| entry(self, value));
    }

    /// Bytes of any number.
    pub fn bytes(&mut self, values: &mut Vec<u8>) {
        let mut length = values.len();
        self.count(&mut length);
        let Some(next) = self.next else { return self.bytes.extend_from_slice(values) };
        let end = next.saturating_add(length);
        match self.bytes.get(next..end) {
            Some(bytes) if !self.is_broken => {
                values.clear();
                values.extend_from_slice(bytes);
                self.next = Some(end);
            }
            _ => self.is_broken = true,
        }
    }

    /// A text.
    pub fn text(&mut self, value: &mut String) {
        let mut bytes = std::mem::take(value).into_bytes();
        self.bytes(&mut bytes);
        match String::from_utf8(bytes) {
            Ok(text) => *value = text,
            Err(_) => self.is_broken = true,
        }
    }

    /// A length; `None` where what is left cannot hold it.
    fn length(&mut self, here: usize) -> Option<usize> {
        let mut length = here;
        self.count(&mut length);
        let left = self.next.map_or(usize::MAX, |next| (self.bytes.len() - next) / 8);
        (!self.is_broken && length <= left).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Default)]
    struct All {
        number: f64,
        count: usize,
        flag: bool,
        numbers: Vec<f64>,
        flags: Vec<bool>,
        list: Vec<u64>,
        text: String,
    }

    impl All {
        fn memory(&mut self, memory: &mut Memory) {
            memory.number(&mut self.number);
            memory.count(&mut self.count);
            memory.flag(&mut self.flag);
            memory.numbers(&mut self.numbers);
            memory.flags(&mut self.flags);
            memory.list(&mut self.list, 0, Memory::word);
            memory.text(&mut self.text);
        }

        fn sized() -> All {
            All { numbers: vec![0.0; 3], flags: vec![false; 2], ..All::default() }
        }
    }

    fn sample() -> All {
        All {
            number: -0.0,
            count: 7,
            flag: true,
            numbers: vec![f64::MIN_POSITIVE / 3.0, f64::INFINITY, 1.0 / 3.0],
            flags: vec![true, false],
            list: vec![1, u64::MAX],
            text: "λ".to_string(),
        }
    }

    fn bytes() -> Vec<u8> {
        let mut memory = Memory::to_write();
        sample().memory(&mut memory);
        assert!(memory.is_whole());
        memory.into_bytes()
    }

    #[test]
    fn what_was_written_is_read() {
        let mut memory = Memory::to_read(bytes());
        let mut here = All::sized();
        here.memory(&mut memory);
        assert!(memory.is_whole());
        assert_eq!(here, sample());
        assert_eq!(here.number.to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let whole = bytes();
        for length in 0..whole.len() {
            let mut memory = Memory::to_read(whole[..length].to_vec());
            All::sized().memory(&mut memory);
            assert!(!memory.is_whole(), "{length} bytes");
        }
        let mut more = whole.clone();
        more.push(0);
        let mut memory = Memory::to_read(more);
        All::sized().memory(&mut memory);
        assert!(!memory.is_whole());
        // another size, and lengths out of this world
        let mut memory = Memory::to_read(whole.clone());
        let mut small = All { numbers: vec![0.5; 2], ..All::sized() };
        small.memory(&mut memory);
        assert!(!memory.is_whole() && small.numbers == [0.5; 2]);
        let mut broken = whole;
        broken[24..32].fill(0xff);
        let mut memory = Memory::to_read(broken);
        All::sized().memory(&mut memory);
        assert!(!memory.is_whole());
    }
}
