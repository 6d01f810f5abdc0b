//! Resistors, capacitors, inductors: values of their own, or of a model and a size, at a temperature.
//!
//! ```text
//! R = r_sh (l − 2 short)/(w − 2 narrow),    C = c_j (l − short)(w − narrow) + 2 c_jsw (l − short + w − narrow)
//! value · scale · (1 + a ΔT + b ΔT²)
//! ```

use super::Expansion;
use super::later::{LateFormula, Meaning};
use crate::netlist::card::Passive;
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::lines::At;
use crate::netlist::model::{Model, PassiveCard};
use crate::netlist::resolve::{Uses, Value};
use crate::{Device, Node, Source};

/// What several side by side do to a value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// Capacitances add up.
    Adds,
    /// Resistances and inductances get smaller.
    Divides,
}

impl<'d> Expansion<'d, '_> {
    /// A resistor; one whose resistance is a formula is a source of the current `v/R`.
    pub(super) fn resistor(
        &mut self,
        name: String,
        at: At,
        between: [Node; 2],
        passive: &'d Passive,
        scope: usize,
    ) -> Result<(), NetlistError> {
        if let Some(formula) = &passive.value
            && formula.literal().is_none()
            && !self.context.values.contains_key(&name.to_lowercase())
            && self.passive_model(passive, scope)?.is_none()
            && let Value::Formula { .. } =
                self.resolver.formula(formula, scope, Uses::Quantities)?
        {
            let times = self.grown(passive, scope)?;
            let device = Device::CurrentSource { between, source: Source::Dc(0.0) };
            let component = self.add(name, device, at)?;
            let meaning = Meaning::Resistance;
            let late = LateFormula { component, scope, between, meaning, formula, times };
            self.later.formulas.push(late);
            return Ok(());
        }
        let resistance = self.passive(&name, at, passive, scope, Side::Divides)?;
        self.add(name, Device::Resistor { between, resistance }, at)?;
        Ok(())
    }

    /// The value of one that has a number for it.
    pub(super) fn passive(
        &mut self,
        name: &str,
        at: At,
        passive: &'d Passive,
        scope: usize,
        side: Side,
    ) -> Result<f64, NetlistError> {
        let times = self.times(&passive.times, scope)?;
        let scale = self.optional(&passive.scale, scope)?.unwrap_or(1.0);
        let grown = self.warmed(passive, scope)? * scale;
        let grown = if side == Side::Adds { grown * times } else { grown / times };
        if let Some(value) = self.context.values.get(&name.to_lowercase()) {
            return Ok(value * grown);
        }
        let card = self.passive_model(passive, scope)?;
        let value = match (&passive.value, card) {
            (Some(value), None) => self.resolver.number(value, scope)?,
            (Some(value), Some(_)) if value.literal().is_some() => {
                self.resolver.number(value, scope)?
            }
            (_, Some(card)) => {
                let width = self.optional(&passive.size[0], scope)?;
                let length = self.optional(&passive.size[1], scope)?;
                self.sized(name, at, &card, width, length)?
            }
            (None, None) => 0.0, // the reader asks for one of them
        };
        Ok(value * grown)
    }

    /// How many side by side carry the current of a resistance that is a formula, at its temperature.
    fn grown(&mut self, passive: &'d Passive, scope: usize) -> Result<f64, NetlistError> {
        let times = self.times(&passive.times, scope)?;
        let scale = self.optional(&passive.scale, scope)?.unwrap_or(1.0);
        Ok(times / (scale * self.warmed(passive, scope)?))
    }

    /// `1 + a ΔT + b ΔT²`, or `1.01^(c ΔT)`.
    fn warmed(&mut self, passive: &'d Passive, scope: usize) -> Result<f64, NetlistError> {
        let card = self.passive_model(passive, scope)?;
        let (of_model, nominal) = match &card {
            Some(card) => (card.thermal, card.nominal),
            None => ([0.0; 2], PassiveCard::NOMINAL),
        };
        let own = self.optional(&passive.temperature[0], scope)?;
        let beyond = self.optional(&passive.temperature[1], scope)?.unwrap_or(0.0);
        let warmer = own.unwrap_or(self.context.temperature + beyond) - nominal;
        if let Some(percent) = card.and_then(|card| card.exponential)
            && passive.thermal.iter().all(Option::is_none)
        {
            return Ok(1.01_f64.powf(percent * warmer));
        }
        let [first, second] = &passive.thermal;
        let first = self.optional(first, scope)?.unwrap_or(of_model[0]);
        let second = self.optional(second, scope)?.unwrap_or(of_model[1]);
        Ok(1.0 + warmer * (first + warmer * second))
    }

    /// The model, where one is named.
    fn passive_model(
        &mut self,
        passive: &'d Passive,
        scope: usize,
    ) -> Result<Option<PassiveCard>, NetlistError> {
        let Some(word) = &passive.model else { return Ok(None) };
        // a name in the place of the value may also be a parameter
        let may_be_missing = passive.value.as_ref().is_some_and(|value| value.at == word.at);
        if may_be_missing && self.find_model(&word.text, scope).is_none() {
            return Ok(None);
        }
        match self.model(word, scope)? {
            Model::Passive(card) => Ok(Some(card)),
            _ if may_be_missing => Ok(None),
            _ => Err(self.wrong_type(word, scope, "`R` or `C`")),
        }
    }

    /// The value that follows from a size.
    fn sized(
        &self,
        name: &str,
        at: At,
        card: &PassiveCard,
        width: Option<f64>,
        length: Option<f64>,
    ) -> Result<f64, NetlistError> {
        let [width, length] = [width.unwrap_or(card.size[0]), length.unwrap_or(card.size[1])];
        let value = card.value(width, length);
        if value > 0.0 && value.is_finite() {
            return Ok(value);
        }
        let what = format!("what model and size give `{name}`");
        Err(self.fail(at, Problem::Value { what, value, expected: "more than 0 and finite" }))
    }
}
