//! Transistors: their size, and what stands around them.

use super::{Done, Expansion};
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::lines::At;
use crate::netlist::model::{BipolarSurroundings, MosCard};
use crate::{
    BipolarModel, Control, Device, DiodeModel, Fidelity, GummelPoon, MosModel, Node, Polarity,
    SwitchModel,
};

impl<'d> Expansion<'d, '_> {
    /// A transistor, or a switch and its body diode where it is taken as ideal.
    pub(super) fn mos(
        &mut self,
        name: String,
        at: At,
        nodes: [Node; 4],
        card: MosCard,
        size: [Option<f64>; 2],
        times: f64,
    ) -> Done {
        let width = size[0].or(card.width).unwrap_or(1e-4);
        let length = size[1].or(card.length).unwrap_or(1e-4) - 2.0 * card.overlap;
        for (what, value) in [("the width", width), ("the length", length)] {
            if !(value > 0.0 && value.is_finite()) {
                let what = format!("{what} of `{name}`");
                return Err(self.fail(at, Problem::Value { what, value, expected: "more than 0" }));
            }
        }
        let [drain, gate, source, bulk] = nodes;
        let [at_drain, at_gate, at_source] = card.resistances.map(|resistance| resistance / times);
        let inner_drain = self.series(&name, "drain", drain, at_drain, at)?;
        let inner_gate = self.series(&name, "gate", gate, at_gate, at)?;
        let inner_source = self.series(&name, "source", source, at_source, at)?;
        let bulk = if bulk == source { inner_source } else { bulk };

        // with the bulk at the source only the diode to the drain is left
        let [to_drain, to_source] = card.junctions;
        let has_one = bulk == inner_source;
        let capacitance = if has_one || to_drain == to_source { to_drain } else { 0.0 };
        let body =
            card.model.body.map(|body| DiodeModel { capacitance, ..sized_diode(body, times) });

        let (strength, [gate_source, gate_drain, gate_bulk]) = match card.is_power {
            true => (1.0, card.model.capacitances),
            false => {
                let [source, drain, bulk] = card.model.capacitances;
                (width / length, [source * width, drain * width, bulk * length])
            }
        };
        let capacitances = [gate_source, gate_drain, gate_bulk].map(|value| value * times);
        if card.model.fidelity == Fidelity::Ideal {
            let (control, threshold) = match card.model.polarity {
                Polarity::N => ([inner_gate, inner_source], card.model.threshold),
                Polarity::P => ([inner_source, inner_gate], -card.model.threshold),
            };
            let switch = SwitchModel {
                fidelity: Fidelity::Ideal,
                threshold,
                hysteresis: 0.0,
                on_resistance: card.on_resistance / times,
                off_resistance: f64::INFINITY,
            };
            let device = Device::Switch {
                between: [inner_drain, inner_source],
                control: Control::Voltage(control),
                model: switch,
                closed: None,
            };
            self.add(name.clone(), device, at)?;
            if let Some(model) = body {
                let ends = [(inner_drain, "body"), (inner_source, "bodysource")];
                for (end, part) in ends.into_iter().filter(|(end, _)| *end != bulk) {
                    let between = match card.model.polarity {
                        Polarity::N => [bulk, end],
                        Polarity::P => [end, bulk],
                    };
                    let device = Device::Diode { between, model: model.clone() };
                    self.add(format!("{name}.{part}"), device, at)?;
                }
            }
            let pairs = [[inner_gate, inner_source], [inner_gate, inner_drain], [inner_gate, bulk]];
            for ((between, capacitance), part) in
                pairs.into_iter().zip(capacitances).zip(["cgs", "cgd", "cgb"])
            {
                if capacitance != 0.0 {
                    let device = Device::Capacitor { between, capacitance, initial: None };
                    self.add(format!("{name}.{part}"), device, at)?;
                }
            }
            return Ok(());
        }
        let model = MosModel {
            strength: card.model.strength * strength * times,
            body,
            capacitances,
            ..card.model
        };
        let nodes = [inner_drain, inner_gate, inner_source, bulk];
        self.add(name, Device::Mos { nodes, model }, at)?;
        Ok(())
    }

    /// A bipolar transistor, its resistances, and its capacitance to the substrate.
    pub(super) fn bipolar(
        &mut self,
        name: String,
        at: At,
        [collector, base, emitter, substrate]: [Node; 4],
        (card, around): (BipolarModel, BipolarSurroundings),
        area: f64,
    ) -> Done {
        let [at_base, at_collector, at_emitter] =
            around.resistances.map(|resistance| resistance / area);
        let nodes = [
            self.series(&name, "collector", collector, at_collector, at)?,
            self.series(&name, "base", base, at_base, at)?,
            self.series(&name, "emitter", emitter, at_emitter, at)?,
        ];
        let junction = sized_diode(card.junction.clone(), area);
        if around.substrate > 0.0 {
            let between = [nodes[0], substrate];
            let capacitance = around.substrate * area;
            let device = Device::Capacitor { between, capacitance, initial: None };
            self.add(format!("{name}.csubstrate"), device, at)?;
        }
        let details = sized_transistor(card.details.clone(), area);
        let model = BipolarModel { junction, details, ..card };
        self.add(name, Device::Bipolar { nodes, model }, at)?;
        Ok(())
    }

    /// A resistor between a node and the device behind it, if there is any resistance: the inner node.
    pub(super) fn series(
        &mut self,
        name: &str,
        part: &str,
        node: Node,
        resistance: f64,
        at: At,
    ) -> Result<Node, NetlistError> {
        if resistance == 0.0 {
            return Ok(node);
        }
        let inner = self.flat_node(format!("{name}.{part}"));
        let device = Device::Resistor { between: [node, inner], resistance };
        self.add(format!("{name}.r{part}"), device, at)?;
        Ok(inner)
    }
}

/// A diode of a larger area: as many beside one another.
pub(super) fn sized_diode(diode: DiodeModel, area: f64) -> DiodeModel {
    DiodeModel {
        on_resistance: diode.on_resistance / area,
        saturation_current: diode.saturation_current * area,
        breakdown_current: diode.breakdown_current * area,
        series_resistance: diode.series_resistance / area,
        capacitance: diode.capacitance * area,
        ..diode
    }
}

/// The same for what Gummel and Poon add.
pub(super) fn sized_transistor(details: GummelPoon, area: f64) -> GummelPoon {
    GummelPoon {
        knee: details.knee.map(|current| current * area),
        leakage: details.leakage.map(|[saturation, emission]| [saturation * area, emission]),
        capacitances: details.capacitances.map(|capacitance| capacitance * area),
        ..details
    }
}
