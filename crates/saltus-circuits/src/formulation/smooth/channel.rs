//! The channel of a field-effect transistor, first level.

/// With `u = v_GS − V_t(v_BS)` and `v_DS ≥ 0`
///
/// ```text
/// i = K (1 + λ v_DS) · (0 | u²/2 | (u − v_DS/2) v_DS)        u ≤ 0 | u ≤ v_DS | u > v_DS
/// V_t = V_t0 + γ (√(φ − v_BS) − √φ)
/// ```
///
/// and the same with drain and source exchanged for `v_DS < 0`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Channel {
    strength: f64,
    threshold: f64,
    modulation: f64,
    body_effect: f64,
    surface_potential: f64,
}

impl Channel {
    /// `K`, `V_t0`, `λ`, `γ`, `φ`.
    pub fn new(
        strength: f64,
        threshold: f64,
        modulation: f64,
        body_effect: f64,
        surface_potential: f64,
    ) -> Channel {
        Channel { strength, threshold, modulation, body_effect, surface_potential }
    }

    /// The current into the drain at `(v_GS, v_DS, v_BS)`, and its slopes.
    pub fn current(&self, [gate, drain, bulk]: [f64; 3]) -> (f64, [f64; 3]) {
        if drain >= 0.0 {
            return self.forward([gate, drain, bulk]);
        }
        // seen from the drain: v_GD, v_SD, v_BD
        let (i, [g, d, b]) = self.forward([gate - drain, -drain, bulk - drain]);
        (-i, [-g, g + d + b, -b])
    }

    fn forward(&self, [gate, drain, bulk]: [f64; 3]) -> (f64, [f64; 3]) {
        let root = self.surface_potential.sqrt();
        // √(φ − v_BS), a straight line where the junction to the bulk conducts
        let (depth, slope) = match bulk <= 0.0 {
            true => {
                let depth = (self.surface_potential - bulk).sqrt();
                (depth, -0.5 / depth)
            }
            false if bulk < 2.0 * self.surface_potential => {
                (root - bulk / (2.0 * root), -0.5 / root)
            }
            false => (0.0, 0.0),
        };
        let u = gate - self.threshold - self.body_effect * (depth - root);
        if u <= 0.0 {
            return (0.0, [0.0; 3]);
        }
        let grown = 1.0 + self.modulation * drain;
        let (shape, du, dv) = match u <= drain {
            true => (u * u / 2.0, u, 0.0),
            false => ((u - drain / 2.0) * drain, drain, u - drain),
        };
        let K = self.strength;
        let at_gate = K * grown * du;
        let at_drain = K * (grown * dv + self.modulation * shape);
        (K * grown * shape, [at_gate, at_drain, -at_gate * self.body_effect * slope])
    }
}
