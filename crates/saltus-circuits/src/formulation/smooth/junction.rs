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

/// Share of its current at breakdown that a junction leaks long before it.
const LEAK: f64 = 1e-12;

impl Junction {
    /// `I_s` and `V = n V_T`.
    pub fn new(saturation: f64, voltage: f64) -> Junction {
        Junction { saturation, voltage, offset: 0.0, corner: 1e3 * saturation, leak: 0.0 }
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

    /// The slope `dv/di` at the corner: what makes a voltage of the equation.
    pub fn resistance(&self) -> f64 {
        self.voltage / (self.corner + self.saturation)
    }

    /// An equation of `i` and `v` that vanishes on the characteristic, and its derivatives.
    ///
    /// ```text
    /// i > i_c:  (V ln(1 + i/I_s) − v) (i_c + I_s)/V        else:  i − I_s (exp(v/V) − 1)
    /// ```
    ///
    /// with the exponential continued as a straight line beyond `i_c`, so that Newton's method finds its
    /// way from anywhere without large numbers.
    pub fn equation(&self, i: f64, v: f64) -> [f64; 3] {
        let Junction { saturation, voltage, corner, offset, .. } = *self;
        let v = v - offset;
        let slope = (corner + saturation) / voltage;
        if i > corner {
            let y = slope * (voltage * (i / saturation).ln_1p() - v);
            return [y, slope * voltage / (saturation + i), -slope];
        }
        let last = voltage * (corner / saturation).ln_1p();
        if v > last {
            return [i - corner - slope * (v - last), 1.0, -slope];
        }
        let grown = (v / voltage).exp_m1();
        [i - saturation * grown, 1.0, -saturation * (grown + 1.0) / voltage]
    }
}
