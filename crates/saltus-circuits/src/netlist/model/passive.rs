//! Models of resistors and capacitors: values that follow from a size.

use super::Values;
use crate::netlist::error::NetlistError;

/// A resistor or capacitor before its size is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PassiveCard {
    /// What has no size.
    value: Option<f64>,
    shape: Shape,
    /// By how much less it is wide and long than drawn.
    less: [f64; 2],
    /// Width and length where none are given.
    pub(crate) size: [f64; 2],
    /// `a`, `b` of the factor `1 + a ΔT + b ΔT²`.
    pub(crate) thermal: [f64; 2],
    /// Percent for each degree, of a resistance that grows by `1.01^(c ΔT)` instead.
    pub(crate) exponential: Option<f64>,
    /// Celsius, from where `ΔT` counts.
    pub(crate) nominal: f64,
}

/// How a value follows from a size.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Ohm for a square of it, narrower on both sides.
    Sheet(f64),
    /// Farad for each square metre, and for each metre around it.
    Plate(f64, f64),
}

impl PassiveCard {
    /// Temperature at which values are given.
    pub(crate) const NOMINAL: f64 = 27.0;

    /// The value of this width and length.
    pub(crate) fn value(&self, width: f64, length: f64) -> f64 {
        let [narrow, short] = self.less;
        match (self.shape, self.value) {
            (Shape::Sheet(0.0) | Shape::Plate(0.0, 0.0), value) => value.unwrap_or(f64::NAN),
            (Shape::Sheet(sheet), _) => sheet * (length - 2.0 * short) / (width - 2.0 * narrow),
            (Shape::Plate(area, side), _) => {
                let (width, length) = (width - narrow, length - short);
                area * width * length + 2.0 * side * (width + length)
            }
        }
    }
}

impl Values<'_> {
    pub(super) fn resistor(&self) -> Result<PassiveCard, NetlistError> {
        Ok(PassiveCard {
            value: self.first(&["r", "res"]),
            shape: Shape::Sheet(self.at_least_zero("rsh", 0.0)?),
            less: [
                self.first(&["narrow", "dw"]).unwrap_or(0.0),
                self.first(&["short", "dlr"]).unwrap_or(0.0),
            ],
            size: [self.first(&["defw", "w"]).unwrap_or(1e-5), self.or("l", 1e-5)],
            thermal: [
                self.first(&["tc1", "tc1r"]).unwrap_or(0.0),
                self.first(&["tc2", "tc2r"]).unwrap_or(0.0),
            ],
            exponential: self.get("tce"),
            nominal: self.or("tnom", PassiveCard::NOMINAL),
        })
    }

    pub(super) fn capacitor(&self) -> Result<PassiveCard, NetlistError> {
        Ok(PassiveCard {
            value: self.first(&["cap", "c"]),
            shape: Shape::Plate(
                self.first(&["cj", "cox"]).unwrap_or(0.0),
                self.first(&["cjsw", "capsw"]).unwrap_or(0.0),
            ),
            less: [self.first(&["narrow", "del"]).unwrap_or(0.0), self.or("short", 0.0)],
            size: [
                self.first(&["defw", "w"]).unwrap_or(1e-5),
                self.first(&["defl", "l"]).unwrap_or(0.0),
            ],
            exponential: None,
            thermal: [self.or("tc1", 0.0), self.or("tc2", 0.0)],
            nominal: self.or("tnom", PassiveCard::NOMINAL),
        })
    }
}
