//! The exponential diode.

/// `i = I_s (exp((v − v₀)/V) − 1)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Junction {
    saturation: f64,
    voltage: f64,
    offset: f64,
    corner: f64, // the current from which on the equation is solved for the voltage
    leak: f64,
}

/// The least such current, in ampere: below it voltages decide, which leads on wherever Newton's method begins; above it
/// they would grow currents beyond all others.
const CORNER: f64 = 1e-4;
/// The least conductance that makes a voltage of the equation, in siemens: a current that others of a milliampere are
/// weighed against is not known to more digits than this leaves.
const LEAST: f64 = 1e-6;
/// Share of its current at breakdown that a junction leaks long before it.
const LEAK: f64 = 1e-12;

impl Junction {
    /// `I_s` and `V = n V_T`.
    pub fn new(saturation: f64, voltage: f64) -> Junction {
        let corner = CORNER.max(1e3 * saturation);
        Junction { saturation, voltage, offset: 0.0, corner, leak: 0.0 }
    }

    /// The same with a conductance beside it.
    pub fn leaking(self, leak: f64) -> Junction {
        Junction { leak, ..self }
    }

    /// The conductance beside it.
    pub fn leak(&self) -> f64 {
        self.leak
    }

    /// The way backwards: `i` is `current` at the reverse voltage `breakdown`, and grows by `V`.
    pub fn breaking(current: f64, breakdown: f64, voltage: f64) -> Junction {
        let saturation = LEAK * current;
        let offset = breakdown - voltage * (1.0 / LEAK).ln_1p();
        Junction { offset, ..Junction::new(saturation, voltage) }
    }

    /// An equation of `i` and `v`, in volt, that vanishes on the characteristic, and its derivatives.
    ///
    /// ```text
    /// i > i_c:  V ln(1 + i/I_s) − v        else:  (i − I_s (exp(v/V) − 1))/G,    G = I_s exp(v/V)/V
    /// ```
    ///
    /// with the exponential continued as a straight line beyond `i_c`, so that Newton's method finds its
    /// way from anywhere without large numbers. `G`, at least 1 µS, only makes a voltage of a current, and
    /// has no derivative: Newton's steps are those of the equation without it.
    pub fn equation(&self, i: f64, v: f64) -> [f64; 3] {
        let Junction { saturation, voltage, corner, offset, .. } = *self;
        let v = v - offset;
        if i > corner {
            let y = voltage * (i / saturation).ln_1p() - v;
            return [y, voltage / (saturation + i), -1.0];
        }
        let last = voltage * (corner / saturation).ln_1p();
        if v > last {
            let resistance = voltage / (corner + saturation);
            return [resistance * (i - corner) - (v - last), resistance, -1.0];
        }
        let grown = (v / voltage).exp_m1();
        let slope = saturation * (grown + 1.0) / voltage;
        let unit = slope.max(LEAST);
        [(i - saturation * grown) / unit, 1.0 / unit, -slope / unit]
    }
}
