//! `.model` cards to devices.
//!
//! ```text
//! type                    has a meaning                                   ours
//! D                       IS N RS CJO BV, VFWD RON VREV of an ideal one    saltus vf ron
//! SW, CSW                 VT VH (IT IH) RON ROFF                           saltus
//! VSWITCH, ISWITCH        VON VOFF (ION IOFF) RON ROFF                     saltus
//! NMOS, PMOS (level 1)    VTO KP (or UO, TOX) LAMBDA W L LD IS RD RS CGSO CGDO CGBO CBD CBS    saltus vf ron range body
//! VDMOS                   VTO KP LAMBDA IS N RD RS RG CGS CGDMIN CJO BV    saltus vf ron range body
//! NPN, PNP                IS BF BR NF RB RC RE                             saltus vf ron
//! opamp, comparator, transformer (called by X)                             gain low high offset, ratio
//! ```
//!
//! `saltus` is `ideal`, `pwl` or `smooth`. Other parameters that SPICE knows have no effect, and a warning says so;
//! those it does not know are errors.

mod passive;

use std::collections::HashMap;

use saltus_expr::nearest;

use super::card::{Block, ModelCard};
use super::error::{Caution, NetlistError, Problem, Warning};
use super::lines::{At, Lines};
use super::resolve::Resolver;
use super::vocabulary::{FOREIGN, KINDS, Kind, NEUTRAL, has, vocabulary};
use crate::{
    BipolarModel, DiodeModel, Fidelity, GummelPoon, JunctionCharge, MosModel, OpAmpModel, Polarity,
    SwitchModel,
};

pub(crate) use passive::PassiveCard;

/// Current at which the exponential diode has the threshold of a piecewise-linear one that is given none, in ampere.
const THRESHOLD_CURRENT: f64 = 1e-3;
/// Gate voltage beyond the threshold up to which a piecewise-linear transistor follows its parabola, in volt.
const RANGE: f64 = 5.0;
/// Conductance beside a smooth junction, as in SPICE: without it several junctions that block would leave the
/// voltages between them open.
const GMIN: f64 = 1e-12;
/// Permittivity of the oxide of a gate, F/m.
const OXIDE: f64 = 3.9 * 8.854_187_812_8e-12;

/// A diode, switch or other of a circuit, with what stands in series with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Model {
    Diode(DiodeModel),
    Switch(SwitchModel),
    Mos(MosCard),
    Bipolar(BipolarModel, BipolarSurroundings),
    OpAmp(OpAmpModel),
    Transformer(f64),
    Passive(PassiveCard),
}

/// A field-effect transistor before its size is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MosCard {
    pub(crate) model: MosModel,
    /// `KP`; a power transistor's is the strength itself.
    pub(crate) is_power: bool,
    pub(crate) width: Option<f64>,
    pub(crate) length: Option<f64>,
    /// How far source and drain reach under the gate.
    pub(crate) overlap: f64,
    /// Resistances of drain, gate, source.
    pub(crate) resistances: [f64; 3],
    /// Resistance of the channel taken as a switch.
    pub(crate) on_resistance: f64,
    /// Capacitances from bulk to drain and to source.
    pub(crate) junctions: [f64; 2],
}

/// What stands around a bipolar transistor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BipolarSurroundings {
    /// Resistances of base, collector, emitter.
    pub(crate) resistances: [f64; 3],
    /// Capacitance from collector to substrate.
    pub(crate) substrate: f64,
}

/// The kind of a model card, if it is one of ours.
pub(crate) fn kind(card: &ModelCard) -> Option<Kind> {
    let name = card.kind.key();
    KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// How a card is taken: as it says, or as all are.
fn fidelity_of(card: &ModelCard, overall: Option<Fidelity>) -> Option<Fidelity> {
    let own = card.parameters.iter().find(|(name, _)| name.is("saltus"));
    own.and_then(|(_, value)| fidelity(value.as_ref()?.word.as_deref())).or(overall)
}

/// Checks the parameters of a card and warns of those without effect. A smooth device is SPICE's own, so
/// that a parameter it does not have is refused.
pub(crate) fn check(
    card: &ModelCard,
    lines: &Lines,
    overall: Option<Fidelity>,
    warnings: &mut Vec<Warning>,
) -> Result<(), NetlistError> {
    if let Some(error) = &card.error {
        return Err(error.clone());
    }
    let Some(kind) = kind(card) else {
        if let Some((_, what)) = FOREIGN.iter().find(|(known, _)| *known == card.kind.key()) {
            let problem = Problem::NotSupported {
                name: card.name.text.clone(),
                element: None,
                what: format!("the model of {what}"),
                instead: "a model of the type D SW CSW NMOS PMOS VDMOS NPN PNP R or C",
            };
            return Err(NetlistError::new(lines.place(card.kind.at), problem));
        }
        let names = KINDS.iter().map(|(name, _)| *name);
        let name = card.kind.text.clone();
        let near = nearest(&card.kind.key(), names).map(str::to_owned);
        let problem = Problem::Unknown { kind: "type of model", name, nearest: near };
        return Err(NetlistError::new(lines.place(card.kind.at), problem));
    };
    let words = vocabulary(kind);
    let level = card.parameters.iter().find(|(name, _)| name.is("level"));
    let level = level.and_then(|(_, value)| value.as_ref()?.expr.literal());
    if has(words.used, "level") && level.is_some_and(|level| level != 1.0) {
        return Ok(()); // a model of another level is refused for that, not for its parameters
    }
    let is_smooth = fidelity_of(card, overall) == Some(Fidelity::Smooth);
    let mut unused = Vec::new();
    for (name, value) in &card.parameters {
        let key = name.key();
        if has(words.used, &key) || (is_smooth && has(words.smooth, &key)) {
            continue;
        }
        if has(words.known, &key) || has(words.smooth, &key) {
            let is_zero = value.as_ref().is_some_and(|value| value.expr.literal() == Some(0.0));
            let is_neutral = has(NEUTRAL, &key);
            if is_smooth && !is_zero && !is_neutral {
                let what = format!(
                    "a parameter of the model `{}` that a smooth device does not have",
                    card.name.text
                );
                let instead = kind.smooth_words();
                let problem =
                    Problem::NotSupported { name: name.text.clone(), element: None, what, instead };
                return Err(NetlistError::new(lines.place(name.at), problem));
            }
            if !is_zero && !["mfg", "type", "tnom", "tref"].contains(&key.as_str()) {
                unused.push(name.text.clone());
            }
            continue;
        }
        let problem = Problem::UnknownModelParameter {
            model: card.name.text.clone(),
            kind: card.kind.text.clone(),
            name: name.text.clone(),
            nearest: nearest(&key, words.all()).map(str::to_owned),
        };
        return Err(NetlistError::new(lines.place(name.at), problem));
    }
    if !unused.is_empty() {
        let caution =
            Caution::ModelParameters { model: card.name.text.clone(), parameters: unused };
        warnings.push(Warning { place: lines.place(card.name.at), caution });
    }
    Ok(())
}

/// Finds a model from a block outwards: the block it is defined in, and its number there.
pub(crate) fn place(blocks: &[Block], from: usize, name: &str) -> Option<(usize, usize)> {
    let mut block = Some(from);
    while let Some(index) = block {
        let mut models = blocks[index].models.iter();
        if let Some(at) = models.position(|card| card.name.text.eq_ignore_ascii_case(name)) {
            return Some((index, at));
        }
        block = blocks[index].parent;
    }
    None
}

/// Finds a model from a block outwards: the block it is defined in, and the card.
pub(crate) fn find<'d>(
    blocks: &'d [Block],
    from: usize,
    name: &str,
) -> Option<(usize, &'d ModelCard)> {
    let (owner, at) = place(blocks, from, name)?;
    Some((owner, &blocks[owner].models[at]))
}

/// The device of a card, its expressions evaluated in a scope.
pub(crate) fn build<'d>(
    card: &'d ModelCard,
    resolver: &mut Resolver<'d>,
    scope: usize,
    overall: Option<Fidelity>,
) -> Result<Model, NetlistError> {
    check(card, resolver.lines, overall, &mut Vec::new())?;
    let kind = kind(card).unwrap_or(Kind::Diode); // checked just before
    let mut values = Values {
        card,
        numbers: HashMap::new(),
        fidelity: overall,
        lines: resolver.lines,
        thermal: 1.380_649e-23 * (resolver.temperature + 273.15) / 1.602_176_634e-19,
    };
    let words = vocabulary(kind);
    for (name, value) in &card.parameters {
        let key = name.key();
        if !(has(words.used, &key) || has(words.smooth, &key)) {
            continue;
        }
        let Some(value) = value else {
            values.numbers.insert(key, 1.0); // a flag
            continue;
        };
        if key == "saltus" {
            values.fidelity = Some(fidelity(value.word.as_deref()).ok_or_else(|| {
                let found = value.word.as_deref().unwrap_or("an expression");
                let problem = Problem::Expected {
                    expected: "`ideal`, `pwl` or `smooth`".to_owned(),
                    found: format!("`{found}`"),
                };
                NetlistError::new(resolver.lines.place(value.expr.at), problem)
            })?);
            continue;
        }
        let number = match value.word.as_deref() {
            Some("inf" | "infinity") => f64::INFINITY,
            _ => match (&value.expr.node, value.expr.literal()) {
                (super::expression::Node::Minus(of), None)
                    if of.node == super::expression::Node::Name("inf".to_owned()) =>
                {
                    f64::NEG_INFINITY
                }
                (_, Some(number)) => number,
                _ => resolver.number(&value.expr, scope)?,
            },
        };
        let may_be_infinite = has("gain low high roff bv vrev vaf va vbf var vb ikf ik ikr", &key);
        if number.is_infinite() && !may_be_infinite {
            return Err(values.wrong(&key, number, "a finite number"));
        }
        values.numbers.insert(key, number);
    }
    match kind {
        Kind::Diode => values.diode().map(Model::Diode),
        Kind::VoltageSwitch => values.switch(["vt", "vh", "von", "voff"], 1.0).map(Model::Switch),
        Kind::CurrentSwitch => values.switch(["it", "ih", "ion", "ioff"], 1e-3).map(Model::Switch),
        Kind::Mos(polarity) => values.mos(polarity).map(Model::Mos),
        Kind::PowerMos => values.power_mos().map(Model::Mos),
        Kind::Bipolar(polarity) => {
            values.bipolar(polarity).map(|(model, series)| Model::Bipolar(model, series))
        }
        Kind::OpAmp => values.amplifier(f64::NEG_INFINITY, f64::INFINITY).map(Model::OpAmp),
        Kind::Comparator => values.amplifier(0.0, 1.0).map(Model::OpAmp),
        Kind::Transformer => values.transformer().map(Model::Transformer),
        Kind::Resistor => values.resistor().map(Model::Passive),
        Kind::Capacitor => values.capacitor().map(Model::Passive),
    }
}

/// The fidelity of this name.
pub(crate) fn fidelity(name: Option<&str>) -> Option<Fidelity> {
    match name?.to_lowercase().as_str() {
        "ideal" => Some(Fidelity::Ideal),
        "pwl" => Some(Fidelity::PiecewiseLinear),
        "smooth" => Some(Fidelity::Smooth),
        _ => None,
    }
}

/// The numbers of a card.
struct Values<'d> {
    card: &'d ModelCard,
    numbers: HashMap<String, f64>,
    fidelity: Option<Fidelity>,
    lines: &'d Lines,
    thermal: f64,
}

impl Values<'_> {
    fn get(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    fn or(&self, name: &str, default: f64) -> f64 {
        self.get(name).unwrap_or(default)
    }

    /// A parameter that must not be below zero.
    fn at_least_zero(&self, name: &str, default: f64) -> Result<f64, NetlistError> {
        self.checked(name, default, |value| value >= 0.0, "at least 0")
    }

    fn positive(&self, name: &str, default: f64) -> Result<f64, NetlistError> {
        self.checked(name, default, |value| value > 0.0, "more than 0")
    }

    fn checked(
        &self,
        name: &str,
        default: f64,
        is_allowed: impl Fn(f64) -> bool,
        expected: &'static str,
    ) -> Result<f64, NetlistError> {
        let value = self.or(name, default);
        if is_allowed(value) { Ok(value) } else { Err(self.wrong(name, value, expected)) }
    }

    fn at(&self, name: &str) -> At {
        let given = self.card.parameters.iter().find(|(key, _)| key.is(name));
        given.map_or(self.card.name.at, |(key, _)| key.at)
    }

    fn wrong(&self, name: &str, value: f64, expected: &'static str) -> NetlistError {
        let what = format!("parameter `{name}` of the model `{}`", self.card.name.text);
        let problem = Problem::Value { what, value, expected };
        NetlistError::new(self.lines.place(self.at(name)), problem)
    }

    fn level(&self) -> Result<(), NetlistError> {
        match self.get("level") {
            None | Some(1.0) => Ok(()),
            Some(level) => {
                let problem = Problem::NotSupported {
                    name: self.card.name.text.clone(),
                    element: None,
                    what: format!("a model of level {level}"),
                    instead: "level 1",
                };
                Err(NetlistError::new(self.lines.place(self.at("level")), problem))
            }
        }
    }

    /// A junction: threshold and resistance only where they are given, or follow from the fidelity.
    fn junction(
        &self,
        fidelity: Fidelity,
        (emission, saturation): (&str, f64),
        series: f64,
    ) -> Result<DiodeModel, NetlistError> {
        let saturation_current = self.positive("is", saturation)?;
        let emission = self.positive(emission, 1.0)?;
        let default = match fidelity {
            Fidelity::PiecewiseLinear => {
                emission * self.thermal * (THRESHOLD_CURRENT / saturation_current).ln_1p()
            }
            _ => 0.0,
        };
        let breakdown = self.get("bv").or(self.get("vrev"));
        if let Some(voltage) = breakdown.filter(|voltage| !(*voltage > 0.0)) {
            return Err(self.wrong(
                if self.get("bv").is_some() { "bv" } else { "vrev" },
                voltage,
                "more than 0",
            ));
        }
        let threshold = self.get("vf").or(self.get("vfwd")).unwrap_or(default);
        Ok(DiodeModel {
            fidelity,
            threshold,
            on_resistance: self.at_least_zero("ron", series)?,
            breakdown: breakdown.filter(|voltage| voltage.is_finite()),
            saturation_current,
            emission,
            thermal_voltage: self.thermal,
            series_resistance: series,
            capacitance: 0.0,
            charge: None,
            breakdown_current: self.positive("ibv", 1e-3)?,
            leak: GMIN,
        })
    }

    /// The first of several names for one parameter.
    fn first(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The shape of a charge: names of potential and grading, what they are if not given, transit time.
    fn charge(
        &self,
        potentials: [&str; 2],
        gradings: [&str; 2],
        potential: f64,
        grading: f64,
        transit: f64,
    ) -> Result<JunctionCharge, NetlistError> {
        let share = |name: &str, value: f64| match (0.0..1.0).contains(&value) {
            true => Ok(value),
            false => Err(self.wrong(name, value, "at least 0 and below 1")),
        };
        let given = self.first(&potentials).unwrap_or(potential);
        if !(given > 0.0) {
            return Err(self.wrong(potentials[0], given, "more than 0"));
        }
        Ok(JunctionCharge {
            potential: given,
            grading: share(gradings[0], self.first(&gradings).unwrap_or(grading))?,
            linear_from: share("fc", self.or("fc", 0.5))?,
            transit,
        })
    }

    fn diode(&self) -> Result<DiodeModel, NetlistError> {
        self.level()?;
        let series = self.at_least_zero("rs", 0.0)?;
        let junction = self.junction(self.fidelity.unwrap_or_default(), ("n", 1e-14), series)?;
        let capacitance = match self.get("cjo") {
            Some(_) => self.at_least_zero("cjo", 0.0)?,
            None => self.at_least_zero("cj0", 0.0)?,
        };
        let charge =
            self.charge(["vj", "pb"], ["m", "mj"], 1.0, 0.5, self.at_least_zero("tt", 0.0)?)?;
        Ok(DiodeModel { capacitance, charge: Some(charge), ..junction })
    }

    /// Names of threshold, hysteresis, and where it is on and off; and where PSpice's is on unless that
    /// is given.
    fn switch(&self, names: [&str; 4], usual: f64) -> Result<SwitchModel, NetlistError> {
        let [threshold, hysteresis, on, off] = names;
        let is_ideal = self.fidelity == Some(Fidelity::Ideal);
        let gives = |names: [&str; 2]| names.iter().any(|name| self.get(name).is_some());
        // PSpice's are gradual unless they say otherwise, SPICE's own if they say so
        let is_of_pspice = has("vswitch iswitch", &self.card.kind.key());
        let is_gradual = gives([on, off]) || (is_of_pspice && !gives([threshold, hysteresis]));
        let (closed, open) = match (is_ideal, is_gradual) {
            (true, _) => (0.0, f64::INFINITY),
            (false, true) => (1.0, 1e6),
            (false, false) => (1.0, 1e12),
        };
        let on_resistance = self.at_least_zero("ron", closed)?;
        let off_resistance = self.positive("roff", open)?;
        if is_gradual {
            let (on_at, off_at) = (self.or(on, usual), self.or(off, 0.0));
            if self.fidelity == Some(Fidelity::Smooth) && on_at == off_at {
                let expected = match off {
                    "ioff" => "another value than `ioff` of a smooth switch",
                    _ => "another value than `voff` of a smooth switch",
                };
                return Err(self.wrong(on, on_at, expected));
            }
            return Ok(SwitchModel {
                fidelity: self.fidelity.unwrap_or_default(),
                threshold: (on_at + off_at) / 2.0,
                hysteresis: (on_at - off_at) / 2.0,
                on_resistance,
                off_resistance,
            });
        }
        // SPICE's own has no other form
        Ok(SwitchModel {
            fidelity: Fidelity::Ideal,
            threshold: self.or(threshold, 0.0),
            hysteresis: self.at_least_zero(hysteresis, 0.0)?,
            on_resistance,
            off_resistance,
        })
    }

    /// `VTO`: for enhancement positive of n channels and negative of p channels.
    fn threshold(&self) -> f64 {
        ["vto", "vt0", "vth0"].iter().find_map(|name| self.get(name)).unwrap_or(0.0)
    }

    /// The body diode, unless `body=0` or `IS=0` leave it out.
    fn body(&self, fidelity: Fidelity) -> Result<Option<DiodeModel>, NetlistError> {
        if self.get("body") == Some(0.0) || self.get("is") == Some(0.0) {
            return Ok(None);
        }
        let diode = self.junction(fidelity, ("n", 1e-14), 0.0)?;
        let transit = self.at_least_zero("tt", 0.0)?;
        let charge = self.charge(["vj", "pb"], ["m", "mj"], 0.8, 0.5, transit)?;
        Ok(Some(DiodeModel { on_resistance: 0.0, charge: Some(charge), ..diode }))
    }

    fn mos(&self, polarity: Polarity) -> Result<MosCard, NetlistError> {
        self.level()?;
        let fidelity = self.fidelity.unwrap_or(Fidelity::PiecewiseLinear);
        if fidelity == Fidelity::Smooth && self.get("tox").is_some() {
            let what = "the oxide of a gate whose charge moves".to_owned();
            let problem = Problem::NotSupported {
                name: "tox".to_owned(),
                element: None,
                what,
                instead: "`kp` and the capacitances `cgso`, `cgdo`, `cgbo`",
            };
            return Err(NetlistError::new(self.lines.place(self.at("tox")), problem));
        }
        let strength = match (self.get("kp"), self.get("tox")) {
            (None, Some(_)) => {
                let mobility = self.get("uo").or(self.get("u0")).unwrap_or(600.0); // cm²/(V s)
                mobility * 1e-4 * OXIDE / self.positive("tox", 1e-7)?
            }
            _ => self.positive("kp", 2e-5)?,
        };
        Ok(MosCard {
            model: MosModel {
                fidelity,
                polarity,
                threshold: self.threshold(),
                strength,
                modulation: self.at_least_zero("lambda", 0.0)?,
                range: self.positive("range", RANGE)?,
                body: self.body(fidelity)?,
                // for each metre of the width or length
                capacitances: [
                    self.at_least_zero("cgso", 0.0)?,
                    self.at_least_zero("cgdo", 0.0)?,
                    self.at_least_zero("cgbo", 0.0)?,
                ],
                body_effect: self.at_least_zero("gamma", 0.0)?,
                surface_potential: self.positive("phi", 0.6)?,
            },
            is_power: false,
            width: self.get("w"),
            length: self.get("l"),
            overlap: self.at_least_zero("ld", 0.0)?,
            resistances: [self.at_least_zero("rd", 0.0)?, 0.0, self.at_least_zero("rs", 0.0)?],
            on_resistance: self.at_least_zero("ron", 0.0)?,
            junctions: [self.at_least_zero("cbd", 0.0)?, self.at_least_zero("cbs", 0.0)?],
        })
    }

    fn power_mos(&self) -> Result<MosCard, NetlistError> {
        let is_p = self.get("pchan").is_some() || self.card.kind.is("vdmosp");
        let polarity = if is_p { Polarity::P } else { Polarity::N };
        let fidelity = self.fidelity.unwrap_or(Fidelity::PiecewiseLinear);
        let capacitance = self.get("cjo").or(self.get("cj0")).unwrap_or(0.0);
        Ok(MosCard {
            model: MosModel {
                fidelity,
                polarity,
                threshold: self.threshold(),
                strength: self.positive("kp", 1.0)?,
                modulation: self.at_least_zero("lambda", 0.0)?,
                range: self.positive("range", RANGE)?,
                body: self.body(fidelity)?,
                capacitances: [
                    self.at_least_zero("cgs", 0.0)?,
                    self.at_least_zero("cgdmin", 0.0)?,
                    0.0,
                ],
                body_effect: 0.0,
                surface_potential: 0.6,
            },
            is_power: true,
            width: None,
            length: None,
            overlap: 0.0,
            resistances: [
                self.at_least_zero("rd", 0.0)?,
                self.at_least_zero("rg", 0.0)?,
                self.at_least_zero("rs", 0.0)?,
            ],
            on_resistance: self.at_least_zero("ron", 0.0)?,
            junctions: [capacitance, 0.0],
        })
    }

    fn bipolar(
        &self,
        polarity: Polarity,
    ) -> Result<(BipolarModel, BipolarSurroundings), NetlistError> {
        self.level()?;
        let fidelity = self.fidelity.unwrap_or_default();
        let model = BipolarModel {
            fidelity,
            polarity,
            forward_gain: self.positive("bf", 100.0)?,
            reverse_gain: self.at_least_zero("br", 1.0)?,
            junction: self.junction(fidelity, ("nf", 1e-16), 0.0)?,
            details: self.gummel_poon()?,
        };
        let resistances = [
            self.at_least_zero("rb", 0.0)?,
            self.at_least_zero("rc", 0.0)?,
            self.at_least_zero("re", 0.0)?,
        ];
        Ok((model, BipolarSurroundings { resistances, substrate: self.substrate()? }))
    }

    fn gummel_poon(&self) -> Result<GummelPoon, NetlistError> {
        // a voltage or current of 0 is one that is not given
        let bound = |names: &[&str]| match self.first(names) {
            None | Some(0.0) => Ok(f64::INFINITY),
            Some(value) if value > 0.0 => Ok(value),
            Some(value) => Err(self.wrong(names[0], value, "at least 0")),
        };
        Ok(GummelPoon {
            reverse_emission: self.positive("nr", 1.0)?,
            early: [bound(&["vaf", "va", "vbf"])?, bound(&["var", "vb"])?],
            knee: [bound(&["ikf", "ik"])?, bound(&["ikr"])?],
            leakage: [
                [self.at_least_zero("ise", 0.0)?, self.positive("ne", 1.5)?],
                [self.at_least_zero("isc", 0.0)?, self.positive("nc", 2.0)?],
            ],
            capacitances: [self.at_least_zero("cje", 0.0)?, self.at_least_zero("cjc", 0.0)?],
            charges: [
                self.charge(
                    ["vje", "pe"],
                    ["mje", "me"],
                    0.75,
                    0.33,
                    self.at_least_zero("tf", 0.0)?,
                )?,
                self.charge(
                    ["vjc", "pc"],
                    ["mjc", "mc"],
                    0.75,
                    0.33,
                    self.at_least_zero("tr", 0.0)?,
                )?,
            ],
        })
    }

    /// The capacitance from collector to substrate of a smooth transistor.
    fn substrate(&self) -> Result<f64, NetlistError> {
        if self.fidelity != Some(Fidelity::Smooth) {
            return Ok(0.0);
        }
        if let Some(grading) = self.first(&["mjs", "ms"]).filter(|grading| *grading != 0.0) {
            return Err(self.wrong("mjs", grading, "0: a capacitance that stays the same"));
        }
        let name = ["cjs", "ccs", "csub"].into_iter().find(|name| self.get(name).is_some());
        self.at_least_zero(name.unwrap_or("cjs"), 0.0)
    }

    fn amplifier(&self, low: f64, high: f64) -> Result<OpAmpModel, NetlistError> {
        let low = self.or("low", low);
        let high = self.checked("high", high, |high| high > low, "more than `low`")?;
        Ok(OpAmpModel {
            gain: self.positive("gain", f64::INFINITY)?,
            offset: self.or("offset", 0.0),
            low,
            high,
        })
    }

    fn transformer(&self) -> Result<f64, NetlistError> {
        let is_allowed = |ratio: f64| ratio != 0.0 && ratio.is_finite();
        self.checked("ratio", 1.0, is_allowed, "a finite number other than 0")
    }
}
