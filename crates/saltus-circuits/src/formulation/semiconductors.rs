//! What diodes and transistors are made of.

use super::parts::{Dipole, Form, Kind, One, PartLaw, Quantity};
use super::smooth::{BaseCharge, Channel, Charge, Junction, Smooth, Transport};
use crate::{
    BipolarModel, CircuitError, DiodeModel, Fidelity, JunctionCharge, MosModel, Node, Polarity,
};
use saltus_model::Law;

impl One<'_> {
    pub(super) fn diode(
        &mut self,
        suffix: &str,
        between: [Node; 2],
        model: &DiodeModel,
    ) -> Result<(), CircuitError> {
        let dipole = self.junction(model)?;
        if between[0] == between[1] {
            return Ok(()); // carries nothing, as in a subcircuit with its input at ground
        }
        let forward = self.branch(suffix, between, Kind::Dipole(dipole))?;
        if let (Fidelity::Smooth, Some(breakdown)) = (model.fidelity, model.breakdown) {
            let current = self.positive("breakdown current", model.breakdown_current)?;
            let breakdown = self.positive("breakdown", breakdown)?;
            let voltage = model.emission * model.thermal_voltage;
            let back = Junction::breaking(current, breakdown, voltage);
            let kind = Kind::Dipole(Dipole::Junction(back, model.series_resistance));
            self.branch(&format!("{suffix}.breakdown"), [between[1], between[0]], kind)?;
        }
        let capacitance = self.not_negative("capacitance", model.capacitance)?;
        let name = format!("{suffix}.capacitance");
        match (model.fidelity, model.charge) {
            (Fidelity::Smooth, Some(shape)) => {
                let v = vec![(1.0, Quantity::Voltage(between))];
                let i = vec![vec![(1.0, Quantity::Current(forward))]];
                self.charge(&name, between, (capacitance, shape), v, (i, None))
            }
            _ if capacitance > 0.0 => {
                self.beside(&name, between, Kind::Capacitor(capacitance, None))
            }
            _ => Ok(()),
        }
    }

    /// A charge between two nodes, of a voltage and, where there is a transit time, of currents: its
    /// current is a multiplier, and a hidden capacitor holds it.
    fn charge(
        &mut self,
        suffix: &str,
        between: [Node; 2],
        (capacitance, shape): (f64, JunctionCharge),
        voltage: Form,
        (carried, base): (Vec<Form>, Option<BaseCharge>),
    ) -> Result<(), CircuitError> {
        let JunctionCharge { potential, grading, linear_from, transit } = shape;
        self.not_negative("capacitance", capacitance)?;
        self.positive("potential of the junction", potential)?;
        self.not_negative("transit time", transit)?;
        let shares = [("grading", grading), ("bound of the depletion", linear_from)];
        for (what, value) in shares {
            if !(0.0..1.0).contains(&value) {
                return Err(self.wrong(what, value, "[0, 1)"));
            }
        }
        if between[0] == between[1] || (capacitance == 0.0 && transit == 0.0) {
            return Ok(());
        }
        if transit == 0.0 && grading == 0.0 {
            self.branch(suffix, between, Kind::Capacitor(capacitance, None))?;
            return Ok(());
        }
        let held = Node(self.circuit.nodes.len() + self.parts.hidden);
        self.parts.hidden += 1;
        let mut outputs = vec![voltage, vec![(1.0, Quantity::Voltage([held, Node::GROUND]))]];
        if transit > 0.0 {
            outputs.extend(carried);
        }
        let base = base.filter(|_| transit > 0.0);
        let charge = Charge::new(capacitance, shape, transit, base);
        let name = format!("{}{suffix}", self.component.name);
        let law = PartLaw::Smooth(Smooth::Charge(charge));
        let rows = self.parts.add_law(name, self.index, 1, outputs, law);
        let current = Quantity::Multiplier(rows.start);
        self.branch(suffix, between, Kind::Current(vec![(1.0, current)]))?;
        let hold = [Node::GROUND, held];
        self.branch(&format!("{suffix}.in"), hold, Kind::Current(vec![(1.0, current)]))?;
        let unit = Kind::Capacitor(charge.unit(), None);
        self.branch(&format!("{suffix}.charge"), [held, Node::GROUND], unit)?;
        Ok(())
    }

    fn junction(&self, model: &DiodeModel) -> Result<Dipole, CircuitError> {
        if model.fidelity == Fidelity::Smooth {
            let saturation = self.positive("saturation current", model.saturation_current)?;
            let emission = self.positive("emission", model.emission)?;
            let thermal = self.positive("thermal voltage", model.thermal_voltage)?;
            let resistance = self.not_negative("series resistance", model.series_resistance)?;
            let leak = self.not_negative("leak", model.leak)?;
            let junction = Junction::new(saturation, emission * thermal).leaking(leak);
            return Ok(Dipole::Junction(junction, resistance));
        }
        let threshold = self.finite("threshold", model.threshold)?;
        let resistance = self.not_negative("on resistance", model.on_resistance)?;
        let Some(breakdown) = model.breakdown else {
            return Ok(Dipole::Diode { threshold, resistance });
        };
        if !(breakdown > -threshold && breakdown.is_finite()) {
            return Err(self.wrong("breakdown", breakdown, "above minus the threshold"));
        }
        Ok(Dipole::Zener { threshold, breakdown, resistance })
    }

    /// `i = K/2 (f(v_GS − V_t) − f(v_GD − V_t))`, all with the sign of the polarity.
    pub(super) fn mos(
        &mut self,
        [drain, gate, source, bulk]: [Node; 4],
        model: &MosModel,
    ) -> Result<(), CircuitError> {
        let strength = self.positive("strength", model.strength)?;
        let threshold = self.finite("threshold", model.threshold)?;
        let (sign, threshold) = match model.polarity {
            Polarity::N => (1.0, threshold),
            Polarity::P => (-1.0, -threshold),
        };
        self.reads(&[gate, drain, source]);
        // v_GS and v_GD, less the threshold
        let drive = |from: Node, scale: f64| {
            vec![
                (scale * sign, Quantity::Voltage([gate, from])),
                (-scale * threshold, Quantity::One),
            ]
        };
        let name = self.component.name.clone();
        let current = if model.fidelity == Fidelity::Smooth {
            let modulation = self.not_negative("modulation", model.modulation)?;
            let body_effect = self.not_negative("body effect", model.body_effect)?;
            let potential = self.positive("surface potential", model.surface_potential)?;
            let channel = Channel::new(strength, threshold, modulation, body_effect, potential);
            let law = PartLaw::Smooth(Smooth::Channel(channel));
            let from_source = |node: Node| vec![(sign, Quantity::Voltage([node, source]))];
            if body_effect > 0.0 {
                self.reads(&[bulk]);
            }
            let at_bulk = if body_effect > 0.0 { from_source(bulk) } else { Vec::new() };
            let outputs = vec![from_source(gate), from_source(drain), at_bulk];
            let rows = self.parts.add_law(name, self.index, 1, outputs, law);
            vec![(sign, Quantity::Multiplier(rows.start))]
        } else if self.parts.many {
            // a graph on either side: half the rows
            let range = self.positive("range", model.range)?;
            let law = PartLaw::Plain(Law::PiecewiseLinear { points: parabola_graph(range) });
            let outputs = vec![drive(source, -1.0), drive(drain, -1.0)];
            let rows = self.parts.add_law(name, self.index, 2, outputs, law);
            let half = sign * strength / 2.0;
            let [on, back] = [rows.start, rows.start + 1].map(Quantity::Multiplier);
            vec![(half, on), (-half, back)]
        } else {
            let range = self.positive("range", model.range)?;
            // a row for each corner of f, on either side
            let (mut outputs, mut current) = (Vec::new(), Vec::new());
            for (end, side) in [(source, 1.0), (drain, -1.0)] {
                for (corner, bend) in parabola(range) {
                    let lam = Quantity::Multiplier(self.parts.multipliers + outputs.len());
                    let mut output = drive(end, -1.0);
                    output.extend([(1.0, lam), (corner, Quantity::One)]);
                    outputs.push(output);
                    current.push((side * sign * strength / 2.0 * bend, lam));
                }
            }
            let law = PartLaw::Plain(Law::Complementarity);
            self.parts.add_law(name, self.index, outputs.len(), outputs, law);
            current
        };
        self.branch("", [drain, source], Kind::Current(current))?;
        if let Some(body) = &model.body {
            for (end, suffix) in [(drain, ".bulk-drain"), (source, ".bulk-source")] {
                if end != bulk {
                    let forward = if sign > 0.0 { [bulk, end] } else { [end, bulk] };
                    self.diode(suffix, forward, body)?;
                }
            }
        }
        let ends = [source, drain, bulk];
        let suffixes = [".gate-source", ".gate-drain", ".gate-bulk"];
        for ((&value, end), suffix) in model.capacitances.iter().zip(ends).zip(suffixes) {
            if self.not_negative("capacitance", value)? > 0.0 {
                self.beside(suffix, [gate, end], Kind::Capacitor(value, None))?;
            }
        }
        Ok(())
    }

    /// Two diodes from the base, and two currents back to it: `α_F i_F` from the collector, `α_R i_R`
    /// from the emitter (pnp: all the other way round).
    pub(super) fn bipolar(
        &mut self,
        [collector, base, emitter]: [Node; 3],
        model: &BipolarModel,
    ) -> Result<(), CircuitError> {
        let forward = self.positive("forward gain", model.forward_gain)?;
        let reverse = self.not_negative("reverse gain", model.reverse_gain)?;
        if model.fidelity == Fidelity::Smooth {
            return self.gummel_poon([collector, base, emitter], model);
        }
        let turned = model.polarity == Polarity::P;
        let way = |from: Node, to: Node| if turned { [to, from] } else { [from, to] };
        let junction = DiodeModel { fidelity: model.fidelity, ..model.junction.clone() };
        let gains = [forward / (1.0 + forward), reverse / (1.0 + reverse)];
        let first = self.parts.branches.len();
        self.diode(".base-emitter", way(base, emitter), &junction)?;
        let second = self.parts.branches.len();
        self.diode(".base-collector", way(base, collector), &junction)?;
        let forward = Kind::Current(vec![(gains[0], Quantity::Current(first))]);
        self.branch(".forward", way(collector, base), forward)?;
        if gains[1] > 0.0 {
            let reverse = Kind::Current(vec![(gains[1], Quantity::Current(second))]);
            self.branch(".reverse", way(emitter, base), reverse)?;
        }
        Ok(())
    }

    /// A smooth transistor:
    ///
    /// ```text
    /// i_C = (i_F − i_R)/q − i_R/β_R − l_C,    i_B = i_F/β_F + l_E + i_R/β_R + l_C
    /// ```
    ///
    /// with the currents `i_F`, `i_R` of two junctions, the charge `q` of the base, leakage `l`, and the
    /// charges of both junctions (pnp: all the other way round).
    fn gummel_poon(
        &mut self,
        [collector, base, emitter]: [Node; 3],
        model: &BipolarModel,
    ) -> Result<(), CircuitError> {
        let (junction, details) = (&model.junction, &model.details);
        let sign = if model.polarity == Polarity::P { -1.0 } else { 1.0 };
        let saturation = self.positive("saturation current", junction.saturation_current)?;
        let thermal = self.positive("thermal voltage", junction.thermal_voltage)?;
        self.reads(&[collector, base, emitter]);
        let across = |end: Node| vec![(sign, Quantity::Voltage([base, end]))];
        let ends = [emitter, collector];
        let emissions = [junction.emission, details.reverse_emission];
        let names = [".forward", ".reverse"];
        let mut currents = [Quantity::One; 2];
        for k in 0..2 {
            let emission = self.positive("emission", emissions[k])?;
            let law = Junction::new(saturation, emission * thermal).leaking(junction.leak);
            let law = Smooth::JunctionCurrent(law);
            let name = format!("{}{}", self.component.name, names[k]);
            let law = PartLaw::Smooth(law);
            let rows = self.parts.add_law(name, self.index, 1, vec![across(ends[k])], law);
            currents[k] = Quantity::Multiplier(rows.start);
        }

        // the way from collector to emitter
        let (early, knee) = (details.early, details.knee);
        for (what, value) in [("voltage of Early", early), ("knee current", knee)] {
            if let Some(&wrong) = value.iter().find(|value| !(**value > 0.0)) {
                return Err(self.wrong(what, wrong, "(0, inf]"));
            }
        }
        let has_base = early.iter().chain(&knee).any(|value| value.is_finite());
        let base_charge = has_base.then_some(BaseCharge { early, knee });
        let [forward, reverse] = currents.map(|current| vec![(1.0, current)]);
        let inside = vec![across(emitter), across(collector), forward, reverse.clone()];
        let transport = match base_charge {
            None => vec![(sign, currents[0]), (-sign, currents[1])],
            Some(base_charge) => {
                let law = PartLaw::Smooth(Smooth::Transport(Transport(base_charge)));
                let name = self.component.name.clone();
                let rows = self.parts.add_law(name, self.index, 1, inside.clone(), law);
                vec![(sign, Quantity::Multiplier(rows.start))]
            }
        };
        self.branch("", [collector, emitter], Kind::Current(transport))?;

        // what flows into the base
        let gains = [model.forward_gain, model.reverse_gain];
        let names = [".base-emitter", ".base-collector"];
        for k in 0..2 {
            if gains[k] > 0.0 {
                let current = vec![(sign / gains[k], currents[k])];
                self.branch(names[k], [base, ends[k]], Kind::Current(current))?;
            }
            let [saturation, emission] = details.leakage[k];
            let between = if sign > 0.0 { [base, ends[k]] } else { [ends[k], base] };
            if saturation > 0.0 {
                let voltage = self.positive("emission", emission)? * thermal;
                let leak = Dipole::Junction(Junction::new(saturation, voltage), 0.0);
                let name = format!("{}.leakage", names[k]);
                self.branch(&name, between, Kind::Dipole(leak))?;
            }
            let carried = match (k, &base_charge) {
                (0, Some(_)) => (inside.clone(), base_charge),
                (0, None) => (vec![vec![(1.0, currents[0])]], None),
                _ => (vec![reverse.clone()], None),
            };
            let stored = (details.capacitances[k], details.charges[k]);
            let name = format!("{}.capacitance", names[k]);
            self.charge(&name, between, stored, across(ends[k]), carried)?;
        }
        Ok(())
    }
}

/// `f(u) = Σ bend max(u − corner, 0) ≈ max(u, 0)²` in three straight pieces, as pairs of corner and
/// bend: 0 up to `u = 0`, then to a corner in the middle of the range, then through `f = range²` at
/// its end and on.
///
/// At the middle `f` is `(√2 − 1)/2 · range²`, a little below the parabola, so that the error is shared.
fn parabola(range: f64) -> [(f64, f64); 2] {
    let root = std::f64::consts::SQRT_2;
    [(0.0, (root - 1.0) * range), (range / 2.0, 2.0 * (2.0 - root) * range)]
}

/// The same function as points `(−u, f)`.
fn parabola_graph(range: f64) -> Vec<(f64, f64)> {
    let [(_, slope), (middle, _)] = parabola(range);
    vec![(-range, range * range), (-middle, slope * middle), (0.0, 0.0), (range, 0.0)]
}
