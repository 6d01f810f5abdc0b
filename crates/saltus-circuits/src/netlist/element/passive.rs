//! Resistors, capacitors, inductors: `R1 a b 1k`, `C1 a b C={c} ic=5`, `R2 a b sheet w=2u l=10u`.

use super::Reader;
use crate::netlist::card::Passive;
use crate::netlist::cursor::Word;
use crate::netlist::error::{Caution, NetlistError};
use crate::netlist::expression::Node;
use crate::netlist::number;

impl Reader<'_, '_> {
    /// The value stands plain or behind its letter and `=`; a word behind it, or in its place, is a model.
    pub(super) fn passive(
        &mut self,
        letter: &str,
        expected: &str,
        no_effect: &[&str],
    ) -> Result<Box<Passive>, NetlistError> {
        self.between()?;
        let mut passive = Passive::default();
        if !self.cursor.is_key() {
            let word = self.cursor.clone().word(expected).ok();
            let value = self.cursor.value(expected)?;
            passive.model = word.filter(|_| matches!(value.node, Node::Name(_)));
            passive.value = Some(value);
        }
        // `R1 a b model 1k`
        if passive.model.is_some()
            && self.cursor.peek().is_some_and(|word| number::parse(word).is_some())
            && !self.cursor.is_key()
        {
            passive.value = Some(self.cursor.value(expected)?);
        }
        let after = self.cursor.next_at();
        let mut rest = self.rest()?;
        if passive.model.is_none() && !rest.words.is_empty() {
            passive.model = Some(rest.words.remove(0));
        }
        passive.value = passive.value.or(rest.take(letter));
        passive.size = [rest.take("w"), if letter == "l" { None } else { rest.take("l") }];
        passive.times = rest.take("m");
        passive.scale = rest.take("scale");
        passive.thermal = [rest.take("tc1").or(rest.take("tc")), rest.take("tc2")];
        passive.temperature = [rest.take("temp"), rest.take("dtemp")];
        passive.initial = if letter == "r" { None } else { rest.take("ic") };
        if passive.value.is_none() && passive.model.is_none() {
            self.cursor.seek(after);
            return Err(self.cursor.expected(expected));
        }
        let mut known = vec!["tc", "m", "w", "scale", "tc1", "tc2", "temp", "dtemp", letter];
        known.extend(no_effect);
        self.finish(rest, &[], &known)?;
        Ok(Box::new(passive))
    }

    pub(super) fn capacitor(&mut self) -> Result<Box<Passive>, NetlistError> {
        let mut ahead = self.cursor.clone();
        let passive = self.passive("c", "a capacitance", &[])?;
        // `1F` is a femtofarad
        for _ in 0..2 {
            ahead.word("a node")?;
        }
        if let Some(text) = ahead.peek()
            && let Some(number) = number::parse(text)
            && text.ends_with('F')
            && text.trim_end_matches('F').ends_with(|c: char| c.is_ascii_digit() || c == '.')
        {
            let at = Word { text: text.to_owned(), at: ahead.next_at() };
            self.warn_with(&at, Caution::Femto { text: text.to_owned(), value: number });
        }
        Ok(passive)
    }
}
