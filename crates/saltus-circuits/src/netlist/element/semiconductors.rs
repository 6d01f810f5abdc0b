//! Diodes, switches and transistors.

use super::{Made, Reader, Rest};
use crate::netlist::card::Body;
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::expression::Expr;
use crate::netlist::number;

/// Parameters of a line that only devices of other models have.
const OTHER_LEVELS: &[&str] = &[
    "acnqsmod", "aebcp", "agbcp", "bjtoff", "cth0", "debug", "delvto", "frbody", "geo", "geomod",
    "ic.file", "min", "mulu0", "nf", "nfin", "ngcon", "nqsmod", "nrb", "pdbcp", "psbcp",
    "rbodymod", "rdb", "rgatemod", "rgeomod", "rth0", "sa", "sb", "sca", "scb", "scc", "sd",
    "tnodeout", "trnqsmod", "vbsusr", "wnflag", "xgw",
];

impl Reader<'_, '_> {
    /// The first plain word of the rest that is left, taken as a number.
    pub(super) fn area(&mut self, rest: &mut Rest) -> Result<Option<Expr>, NetlistError> {
        if let Some(area) = rest.take("area") {
            return Ok(Some(area));
        }
        match rest.words.iter().position(|word| number::parse(&word.text).is_some()) {
            Some(at) => {
                let word = rest.words.remove(at);
                self.cursor.seek(word.at);
                Ok(Some(self.cursor.value("an area")?))
            }
            None => Ok(None),
        }
    }

    pub(super) fn diode(&mut self) -> Made {
        self.between()?;
        let model = self.cursor.word("a model")?;
        let mut rest = self.rest()?;
        let (area, times) = (self.area(&mut rest)?, rest.take("m"));
        let keys = ["area", "m", "pj", "ic", "temp", "dtemp", "thermal"];
        self.check_instance(&rest)?;
        self.finish(rest, &["off", "thermal"], &keys)?;
        Ok(Body::Diode { model, area, times })
    }

    /// `on` or `off` behind a switch.
    pub(super) fn closed(&mut self) -> Result<Option<bool>, NetlistError> {
        let mut rest = self.rest()?;
        let closed = match (rest.take_word("on"), rest.take_word("off")) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        self.finish(rest, &[], &["m"])?;
        Ok(closed)
    }

    pub(super) fn voltage_switch(&mut self) -> Made {
        self.between()?;
        let control = self.pair()?;
        self.nodes.extend(control);
        let model = self.cursor.word("a model")?;
        Ok(Body::VoltageSwitch { model, closed: self.closed()? })
    }

    pub(super) fn current_switch(&mut self) -> Made {
        self.between()?;
        let control = self.cursor.word("a component whose current controls the switch")?;
        let model = self.cursor.word("a model")?;
        Ok(Body::CurrentSwitch { control, model, closed: self.closed()? })
    }

    pub(super) fn mos(&mut self) -> Made {
        let mut rest = self.rest()?;
        let _ = rest.take_word("off");
        let _ = rest.take_word("thermal");
        self.check_nodes(
            &rest,
            "a field-effect transistor",
            "drain, gate, source, bulk and a model",
        )?;
        // three nodes and a model, or four
        let Some(model) = rest.words.pop().filter(|_| (3..=4).contains(&rest.words.len())) else {
            return Err(self.cursor.fail(Problem::Expected {
                expected: "drain, gate, source, bulk and a model".to_owned(),
                found: format!("{} words", rest.words.len()),
            }));
        };
        self.nodes = std::mem::take(&mut rest.words);
        let (width, length, times) = (rest.take("w"), rest.take("l"), rest.take("m"));
        let keys =
            ["ad", "as", "pd", "ps", "nrd", "nrs", "ic", "temp", "dtemp", "thermal", "w", "l", "m"];
        self.check_instance(&rest)?;
        self.finish(rest, &[], &keys)?;
        Ok(Body::Mos { model, width, length, times })
    }

    pub(super) fn bipolar(&mut self) -> Made {
        let mut rest = self.rest()?;
        let _ = rest.take_word("off");
        let (area, times) = (self.bipolar_area(&mut rest)?, rest.take("m"));
        let instead = "collector, base, emitter, perhaps the substrate, and a model";
        self.check_nodes(&rest, "a bipolar transistor", instead)?;
        let Some(model) = rest.words.pop().filter(|_| (3..=4).contains(&rest.words.len())) else {
            return Err(self.cursor.fail(Problem::Expected {
                expected: "collector, base, emitter and a model".to_owned(),
                found: format!("{} words", rest.words.len()),
            }));
        };
        self.nodes = std::mem::take(&mut rest.words);
        let substrate = (self.nodes.len() == 4).then(|| self.nodes.remove(3));
        let keys = ["areab", "areac", "ic", "temp", "dtemp", "area", "m"];
        self.check_instance(&rest)?;
        self.finish(rest, &[], &keys)?;
        Ok(Body::Bipolar { model, substrate, area, times })
    }

    /// A transistor with more than four nodes is of a model that is not known here.
    fn check_nodes(
        &self,
        rest: &Rest,
        what: &str,
        instead: &'static str,
    ) -> Result<(), NetlistError> {
        let Some(count) = rest.words.len().checked_sub(1).filter(|count| *count > 4) else {
            return Ok(());
        };
        let model = &rest.words[count];
        let what = format!("the model of {what} with {count} nodes");
        let name = model.text.clone();
        let problem = Problem::NotSupported { name, element: None, what, instead };
        Err(self.cursor.fail_at(model.at, problem))
    }

    /// Parameters that only transistors of other levels have.
    fn check_instance(&self, rest: &Rest) -> Result<(), NetlistError> {
        let Some((key, _)) = rest.pairs.iter().find(|(key, _)| OTHER_LEVELS.contains(&&*key.key()))
        else {
            return Ok(());
        };
        let what = "a parameter of a device of another level".to_owned();
        let name = key.text.clone();
        let problem = Problem::NotSupported { name, element: None, what, instead: "level 1" };
        Err(self.cursor.fail_at(key.at, problem))
    }

    /// An area is a number behind the model; a node may be a number too, so only the last word can be one.
    pub(super) fn bipolar_area(&mut self, rest: &mut Rest) -> Result<Option<Expr>, NetlistError> {
        if let Some(area) = rest.take("area") {
            return Ok(Some(area));
        }
        let is_area = rest.words.len() >= 5
            && rest.words.last().is_some_and(|word| number::parse(&word.text).is_some());
        match rest.words.pop() {
            Some(word) if is_area => {
                self.cursor.seek(word.at);
                Ok(Some(self.cursor.value("an area")?))
            }
            Some(word) => {
                rest.words.push(word);
                Ok(None)
            }
            None => Ok(None),
        }
    }
}
