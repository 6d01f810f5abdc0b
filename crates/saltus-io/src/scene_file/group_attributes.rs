//! Numbers in attributes of HDF5 groups, which rust-hdf5 does not read.
//!
//! ```text
//! superblock 0, 1 → root's symbol table → B-tree of names → object header → attribute messages
//! ```
//!
//! That is how groups are stored unless a file asks for more; others are refused.

use rust_hdf5::DatatypeMessage;
use rust_hdf5::format::FormatContext;
use rust_hdf5::format::messages::attribute::AttributeMessage;
use std::collections::HashMap;

/// Levels of a B-tree, and blocks of an object header, that are followed at most.
const LIMIT: usize = 1000;

/// The bytes of a file.
pub(super) struct Groups<'a> {
    bytes: &'a [u8],
}

/// Numbers by the name of the attribute.
pub(super) type Numbers = HashMap<String, Vec<f64>>;

impl<'a> Groups<'a> {
    pub fn new(bytes: &'a [u8]) -> Groups<'a> {
        Groups { bytes }
    }

    fn slice(&self, at: u64, len: usize) -> Option<&'a [u8]> {
        let start = usize::try_from(at).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }

    fn word(&self, at: u64) -> Option<u64> {
        self.slice(at, 8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn half(&self, at: u64) -> Option<u16> {
        self.slice(at, 2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn byte(&self, at: u64) -> Option<u8> {
        self.slice(at, 1)?.first().copied()
    }

    /// The object header of the root.
    fn root(&self) -> Option<u64> {
        let end = match self.byte(8)? {
            0 => 24,
            1 => 28,
            _ => return None,
        };
        // sizes of offsets and lengths
        if self.slice(13, 2)? != [8, 8] {
            return None;
        }
        // base, free space, end and driver; then the entry of the root: name, header
        self.word(end + 4 * 8 + 8)
    }

    /// The numbers in the attributes of a group, by its path without the first slash; nothing where
    /// the file is stored otherwise.
    pub fn numbers(&self, path: &str) -> Option<Numbers> {
        let mut header = self.root()?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            header = self.member(header, name)?;
        }
        let mut numbers = Numbers::new();
        let context = FormatContext { sizeof_addr: 8, sizeof_size: 8 };
        self.messages(header, &mut |kind, body| {
            if kind == 0x0c
                && let Ok((attribute, _)) = AttributeMessage::decode(body, &context)
                && let Some(values) = numbers_of(&attribute)
            {
                numbers.insert(attribute.name, values);
            }
        })?;
        Some(numbers)
    }

    /// Every message of an object header of the first version: its type and its bytes.
    fn messages(&self, header: u64, each: &mut dyn FnMut(u16, &'a [u8])) -> Option<()> {
        if self.byte(header)? != 1 {
            return None;
        }
        let size = u32::from_le_bytes(self.slice(header + 8, 4)?.try_into().ok()?);
        let mut blocks = vec![(header + 16, u64::from(size))];
        let mut next = 0;
        while next < blocks.len() && next < LIMIT {
            let (mut at, size) = blocks[next];
            let end = at.saturating_add(size);
            while at.saturating_add(8) <= end {
                let (kind, len) = (self.half(at)?, self.half(at + 2)?);
                let body = self.slice(at + 8, usize::from(len))?;
                if kind == 0x10 {
                    // the header goes on there
                    blocks.push((self.word(at + 8)?, self.word(at + 16)?));
                }
                each(kind, body);
                at += 8 + u64::from(len);
            }
            next += 1;
        }
        Some(())
    }

    /// The object header of a member of a group.
    fn member(&self, header: u64, name: &str) -> Option<u64> {
        let mut table = None;
        self.messages(header, &mut |kind, body| {
            if kind == 0x11 && body.len() >= 16 {
                let word = |at: usize| body[at..at + 8].try_into().ok().map(u64::from_le_bytes);
                table = word(0).zip(word(8));
            }
        })?;
        let (tree, heap) = table?;
        if self.slice(heap, 4)? != b"HEAP" {
            return None;
        }
        let names = self.word(heap + 24)?;
        self.find(tree, names, name, LIMIT)
    }

    /// The object header of a name below a node of a B-tree.
    fn find(&self, node: u64, names: u64, name: &str, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        if self.slice(node, 4)? == b"TREE" {
            let children = u64::from(self.half(node + 6)?);
            // signature, kind, level, count, two neighbours; then keys and children in turn
            let child = |k: u64| self.word(node + 24 + 8 + 16 * k);
            return (0..children).find_map(|k| self.find(child(k)?, names, name, depth));
        }
        if self.slice(node, 4)? != b"SNOD" {
            return None;
        }
        let entries = u64::from(self.half(node + 6)?);
        (0..entries).find_map(|k| {
            let entry = node + 8 + 40 * k;
            let at = names.checked_add(self.word(entry)?)?;
            let found = self.slice(at, name.len() + 1)?;
            let is_it = found[..name.len()] == *name.as_bytes() && found[name.len()] == 0;
            if is_it { self.word(entry + 8) } else { None }
        })
    }
}

/// The numbers of an attribute, of any width.
fn numbers_of(attribute: &AttributeMessage) -> Option<Vec<f64>> {
    let data = &attribute.data;
    let wide = |size: u32, value: &dyn Fn(&[u8]) -> Option<f64>| {
        data.chunks_exact(size.max(1) as usize).map(value).collect()
    };
    match &attribute.datatype {
        DatatypeMessage::FloatingPoint { size: 8, .. } => {
            wide(8, &|bytes| Some(f64::from_le_bytes(bytes.try_into().ok()?)))
        }
        DatatypeMessage::FloatingPoint { size: 4, .. } => {
            wide(4, &|bytes| Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))))
        }
        DatatypeMessage::FixedPoint { size, signed, .. } if *size <= 8 => {
            let (size, signed) = (*size, *signed);
            wide(size, &move |bytes| {
                let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
                let mut word = if negative { [0xff; 8] } else { [0; 8] };
                word[..bytes.len()].copy_from_slice(bytes);
                Some(if signed {
                    i64::from_le_bytes(word) as f64
                } else {
                    u64::from_le_bytes(word) as f64
                })
            })
        }
        _ => None,
    }
}
