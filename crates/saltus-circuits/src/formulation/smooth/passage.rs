//! A switch that closes little by little.

/// With `s` the share of the way that a control `c` has gone from `c_off` to `c_on`, between 0 and 1, a resistance
///
/// ```text
/// ln R = ln R_off + (3 s² − 2 s³) ln(R_on/R_off),        i = v/R − v/R_off
/// ```
///
/// of which a resistor `R_off` beside it is taken off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    resistances: [f64; 2], // closed, open
    control: [f64; 2],     // at which it is entirely closed, open
}

impl Passage {
    /// `R_on` and `R_off`, `c_on` and `c_off`.
    pub fn new(resistances: [f64; 2], control: [f64; 2]) -> Passage {
        Passage { resistances, control }
    }

    /// The current at `(v, c)`, and its slopes.
    pub fn current(&self, [v, c]: [f64; 2]) -> (f64, [f64; 2]) {
        let ([closed, open], [on, off]) = (self.resistances, self.control);
        let share = (c - off) / (on - off);
        let s = share.clamp(0.0, 1.0);
        let growth = (open / closed).ln();
        let conductance = ((3.0 - 2.0 * s) * s * s * growth).exp() / open;
        let slope = if s == share { 6.0 * s * (1.0 - s) * growth / (on - off) } else { 0.0 };
        let added = conductance - 1.0 / open;
        (v * added, [added, v * conductance * slope])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_ends_and_its_middle() {
        for [on, off] in [[2.0, 1.0], [1.0, 2.0]] {
            let passage = Passage::new([1.0, 1e6], [on, off]);
            let resistance = |c: f64| 1.0 / (passage.current([1.0, c]).0 + 1e-6);
            assert!((resistance(on + 3.0 * (on - off)) - 1.0).abs() < 1e-12);
            assert!((resistance(1.5) / 1e3 - 1.0).abs() < 1e-12);
            assert_eq!(passage.current([1.0, off - 3.0 * (on - off)]), (0.0, [0.0, 0.0]));
        }
    }
}
