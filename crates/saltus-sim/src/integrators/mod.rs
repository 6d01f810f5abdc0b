//! The one-step schemes: their settings here, one scheme a file.

pub(crate) mod assembly;
mod balance;
mod bilbao;
mod bonds;
mod booking;
pub(crate) mod choice;
mod collision;
mod contact;
mod crowd;
mod d1_minus;
pub(crate) mod euler_moreau;
mod first_order;
mod free_motion;
mod generalized_alpha;
mod global_form;
mod impact;
mod joined;
pub(crate) mod laws;
mod mechanics;
mod mixed;
pub(crate) mod moreau_jean;
mod motion;
mod newton;
pub(crate) mod part;
mod projection;
pub(crate) mod row;
mod schatzman_paoli;
mod sources;
mod together;
mod user_set;
mod zero_order_hold;

pub use choice::check_scene;

use crate::{Ledger, SimError};
use generalized_alpha::Alpha;
use mechanics::{Activation, Mechanics};
use motion::Motion;
use part::Part;
pub use projection::Projection;
use saltus_model::{Model, Order};
use saltus_numerics::{LARGEST_TOL, Memory, Report, Solver, Status, is_interrupted};
use schatzman_paoli::Central;
use serde::{Deserialize, Serialize};

/// A one-step scheme for the systems of one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Integrator {
    /// For first-order systems.
    EulerMoreau(EulerMoreau),
    /// For mechanical systems.
    MoreauJean(MoreauJean),
    /// For mechanical systems.
    SchatzmanPaoli(SchatzmanPaoli),
    /// For mechanical systems.
    GeneralizedAlpha(GeneralizedAlpha),
    /// For mechanical systems.
    D1MinusLinear(D1MinusLinear),
    /// For mechanical systems made of modes.
    MoreauJeanBilbao(MoreauJeanBilbao),
    /// For linear first-order systems.
    ZeroOrderHold(ZeroOrderHold),
}

/// The θ–γ scheme of Euler and Moreau for first-order systems.
///
/// ```text
/// M (x⁺ − x) = h (θ f⁺ + (1 − θ) f) + h (γ r⁺ + (1 − γ) r)
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EulerMoreau {
    /// Weight of the step's end in the smooth terms, in [0, 1]. 1 is implicit and the most
    /// robust, 1/2 is second order where nothing switches. Default 1.
    pub theta: f64,
    /// Weight of the step's end in the multiplier terms, in (0, 1]. Default 1.
    pub gamma: f64,
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// The θ-scheme of Moreau and Jean for mechanical systems with impacts.
///
/// ```text
/// M (v⁺ − v) = h F_θ + Hᵀ λ,    q⁺ = q + h (θ v⁺ + (1 − θ) v)
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MoreauJean {
    /// Weight of the step's end, in [0, 1]. 1/2 conserves the energy of free motion, 1 damps
    /// fast vibrations. Default 1/2.
    pub theta: f64,
    /// A contact is active in a step that starts with `y + γ h u ≤ threshold`. In [0, 1].
    /// Default 1/2.
    pub gamma: f64,
    /// How positions are kept on the constraints. Default none: penetration and drift are
    /// measured, not corrected.
    pub projection: Option<Projection>,
    /// See `gamma`; in the unit of the gap. A small positive value keeps resting contacts
    /// active that round-off has lifted. Default 0.
    pub threshold: f64,
    /// What the problem of a step is written in. Default reduced.
    pub form: Form,
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// What the problem of a step of Moreau and Jean is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The relative velocities alone, `u = H W⁻¹ Hᵀ λ + …`.
    #[default]
    Reduced,
    /// The velocities too, `W v = f + Hᵀ λ`, `u = H v`: the product is left to the method, and
    /// some never form it. Without compliance, polyhedra and bonds.
    Global,
}

/// The scheme of Schatzman and Paoli for mechanical systems: contacts and constraints hold in
/// the positions.
///
/// ```text
/// M (q⁺ − 2 q + q⁻) = h² F(t, q̂, v̂) + h Hᵀ λ,    0 ≤ y⁺ + e y⁻ ⟂ λ ≥ 0
/// q̂ = θ q⁺ + (1 − 2 θ) q + θ q⁻,    v̂ = (q⁺ − q⁻)/(2 h)
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchatzmanPaoli {
    /// Weight of the outer positions in the forces, in [0, 1]: 0 is explicit, from 1/4 on the
    /// scheme is stable for every step. Default 1/2.
    pub theta: f64,
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// The generalized-α scheme for mechanical systems: second order while nothing impacts, with
/// numerical damping of fast vibrations.
///
/// ```text
/// (1 − α_m) a⁺ + α_m a = (1 − α_f) v̇⁺ + α_f v̇,    M v̇ = F
/// v⁺ = v + h (1 − γ) a + h γ a⁺ + M⁻¹ Hᵀ λ,    q⁺ = q + h v + h² (½ − β) a + h² β a⁺ + …
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GeneralizedAlpha {
    /// What is left of infinitely fast vibrations after a step, in [0, 1]: 1 damps nothing.
    /// Default 0.8.
    pub rho_inf: f64,
    /// A contact is active in a step that starts with `y + γ h u ≤ threshold`. In [0, 1].
    /// Default 1/2.
    pub gamma: f64,
    /// How positions are kept on the constraints. Default none.
    pub projection: Option<Projection>,
    /// See `gamma`. Default 0.
    pub threshold: f64,
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// The half-explicit D1-minus scheme of Schindler and Acary for mechanical systems: forces of
/// contacts that stay closed at both ends of the step, impulses of those that close at its end.
///
/// ```text
/// v_free = v + ½ h (a⁺ + a⁻),    v' = v_free + M⁻¹ Hᵀ Λ,    0 ≤ u' + e u_free ⟂ Λ ≥ 0
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct D1MinusLinear {
    /// The level at which forces of contacts that stay closed are found. Default accelerations.
    pub variant: Variant,
    /// Gap, and speed, up to which a contact is closed. Default 1e-8.
    pub tol: f64,
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// The level at which D1-minus finds the forces of contacts that stay closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// `0 ≤ ü ⟂ λ ≥ 0`; without friction.
    #[default]
    Acceleration,
    /// The law holds for the velocity at the end of the step.
    Velocity,
}

/// The scheme of Bilbao for mechanical systems with diagonal `M`, `C` and `K`: strings and other
/// sums of modes, whose free vibration it computes exactly.
///
/// ```text
/// W (v⁺ − v) = −(1 − e^{−2σh}) W v − h K q + h F + Hᵀ λ,    q⁺ = q + h v⁺
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MoreauJeanBilbao {
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// The zero-order hold for linear first-order systems: exact while forcing and multiplier are
/// constant.
///
/// ```text
/// x⁺ = e^{Ah} x + ∫₀ʰ e^{As} ds (b + B λ⁺)
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZeroOrderHold {
    /// Names of the systems it serves. Default none: all of its order that no other one names.
    pub systems: Vec<String>,
}

/// How the equations of a step that are not linear are solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewtonSettings {
    /// Size of the residual, relative to its terms, at which the iteration ends; 1e-9 at least
    /// where a relation of mechanical systems has its `H` by differences. Default 1e-12.
    pub tol: f64,
    /// Iterations before giving up. Default 50.
    pub max_iter: usize,
    /// When Jacobians are renewed. Default full.
    pub mode: NewtonMode,
}

/// When the Jacobians of a step are renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewtonMode {
    /// Wherever the iteration is slow.
    #[default]
    Full,
    /// Once a step.
    Quasi,
    /// Once a step, and there is one iteration only: the scheme is linearly implicit, and the
    /// residual is not asked for.
    Linear,
}

impl EulerMoreau {
    /// The scheme at work on the first-order systems of a model, likewise.
    pub(crate) fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        Ok(match assembly::is_linear(model, Order::First) {
            true => {
                let rule = euler_moreau::Rule::Theta(self.clone());
                Box::new(euler_moreau::EulerMoreauPart::new(model, rule, solver)?)
            }
            false => {
                let scheme = self.clone();
                Box::new(first_order::FirstOrderPart::new(model, scheme, newton, solver)?)
            }
        })
    }
}

impl MoreauJean {
    /// The scheme at work on the mechanical systems of a model: with matrices that are kept where
    /// everything is linear, else by Newton's method.
    pub(crate) fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        let systems = model.systems().filter(|(_, system)| system.order() == Order::Second);
        self.part_with(model, vec![self.theta; systems.count()], newton, solver)
    }

    /// The same with θ of each system.
    pub(crate) fn part_with(
        &self,
        model: &Model,
        thetas: Vec<f64>,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        if model.contact_finder().is_some() {
            match self.crowd(model, &thetas, solver) {
                // bodies that touch nothing may be treated as other systems are
                Err(SimError::Unsuited { .. }) if !model.has_found_contacts() => {}
                part => return part,
            }
        }
        let uniform = thetas.iter().all(|theta| *theta == thetas[0]);
        let kept = uniform && self.projection.is_none();
        let plain = assembly::check_laws(model, "moreau-jean").is_ok();
        let reduced = self.form == Form::Reduced;
        if !reduced {
            assembly::check_global(model)?;
        }
        let linear = kept && plain && reduced && assembly::is_linear(model, Order::Second);
        let theta = thetas.first().copied().unwrap_or(self.theta);
        let bond = model.interactions().find(|(_, one)| one.law.is_bond());
        if let Some((name, _)) = bond
            && thetas.contains(&0.0)
        {
            let (integrator, owner) = ("moreau-jean", format!("`{name}`"));
            let (what, needs) = ("theta", "positive where there are bonds");
            return Err(SimError::Unsuited { integrator, owner, what, needs });
        }
        let motion = Motion::Theta(thetas);
        let acts = activation(self.gamma, self.threshold, self.projection);
        Ok(match linear {
            true => {
                let rule = moreau_jean::Rule::Theta(theta);
                Box::new(moreau_jean::MoreauJeanPart::new(model, rule, acts, solver)?)
            }
            false => {
                let (projection, how) = (self.projection, (self.form, newton));
                Box::new(Mechanics::new(model, motion, acts, projection, how, solver)?)
            }
        })
    }
}

impl MoreauJean {
    /// The scheme at work on systems whose contacts are found.
    fn crowd(
        &self,
        model: &Model,
        thetas: &[f64],
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        self.check_crowd(model, thetas)?;
        Ok(Box::new(crowd::Crowd::new(model, thetas, solver)?))
    }

    /// Whether the settings are those of systems whose contacts are found.
    fn check_crowd(&self, model: &Model, thetas: &[f64]) -> Result<(), SimError> {
        let (integrator, owner) = ("moreau-jean", "contacts that are found".to_string());
        let unsuited = |what, needs| SimError::Unsuited { integrator, owner, what, needs };
        if self.form != Form::Reduced {
            return Err(unsuited("`form`", "reduced: the matrix is never made anyway"));
        }
        if self.projection.is_some() {
            return Err(unsuited("`projection`", "absent: positions are kept without it"));
        }
        let free = model.interactions().len() == 0 && !model.has_found_contacts();
        if thetas.contains(&0.0) && !free {
            return Err(unsuited("`theta`", "positive where there are joints or contacts"));
        }
        Ok(())
    }

    /// Refuses settings that systems whose contacts are found have no use for.
    fn check_idle(&self, model: &Model, newton: NewtonSettings) -> Result<(), SimError> {
        let (integrator, owner) = ("moreau-jean", "a scene".to_string());
        let unsuited = |what, needs| SimError::Unsuited { integrator, owner, what, needs };
        let default = MoreauJean::default();
        let why = "left out: it looks in each step for the contacts that can close";
        if self.gamma != default.gamma {
            return Err(unsuited("`gamma`", why));
        }
        if self.threshold != default.threshold {
            return Err(unsuited("`threshold`", why));
        }
        // those of first order may need it
        let is_all = !model.systems().any(|(_, system)| system.order() == Order::First);
        if is_all && newton != NewtonSettings::default() {
            return Err(unsuited("`newton`", "left out: its steps have no such iteration"));
        }
        Ok(())
    }
}

/// With a combined projection contacts act where they are closed, and are added where the step
/// closes them: there is nothing to predict.
fn activation(gamma: f64, threshold: f64, projection: Option<Projection>) -> Activation {
    let gamma = if projection == Some(Projection::Combined) { 0.0 } else { gamma };
    Activation { gamma, threshold }
}

impl SchatzmanPaoli {
    /// The scheme at work on the mechanical systems of a model.
    pub(crate) fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        assembly::check_laws(model, "schatzman-paoli")?;
        assembly::check_flat(model, "schatzman-paoli")?;
        assembly::check_no_forces(model, "schatzman-paoli")?;
        assembly::check_no_tangential_restitution(model, "schatzman-paoli")?;
        let places = assembly::Places::new(model, Order::Second);
        let motion = Motion::Central(Central::new(self.theta, places.states, places.outputs));
        let always = Activation { gamma: 0.0, threshold: f64::INFINITY };
        let how = (Form::Reduced, newton);
        Ok(Box::new(Mechanics::new(model, motion, always, None, how, solver)?))
    }
}

impl GeneralizedAlpha {
    /// The scheme at work on the mechanical systems of a model.
    pub(crate) fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        assembly::check_laws(model, "generalized-alpha")?;
        let motion = Motion::Alpha(Alpha::new(model, self.rho_inf));
        let acts = activation(self.gamma, self.threshold, self.projection);
        let how = (Form::Reduced, newton);
        Ok(Box::new(Mechanics::new(model, motion, acts, self.projection, how, solver)?))
    }
}

impl D1MinusLinear {
    /// The scheme at work on the mechanical systems of a model.
    pub(crate) fn part(
        &self,
        model: &Model,
        _: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        assembly::check_laws(model, "d1-minus-linear")?;
        assembly::check_flat(model, "d1-minus-linear")?;
        Ok(Box::new(d1_minus::D1Minus::new(model, self.clone(), solver)?))
    }
}

impl MoreauJeanBilbao {
    /// The scheme at work on the mechanical systems of a model, which must be linear.
    pub(crate) fn part(
        &self,
        model: &Model,
        _: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        assembly::check_laws(model, "moreau-jean-bilbao")?;
        assembly::check_linear(model, Order::Second, "moreau-jean-bilbao")?;
        let acts = Activation { gamma: 0.5, threshold: 0.0 };
        let rule = moreau_jean::Rule::Modes;
        Ok(Box::new(moreau_jean::MoreauJeanPart::new(model, rule, acts, solver)?))
    }
}

impl ZeroOrderHold {
    /// The scheme at work on the first-order systems of a model, which must be linear.
    pub(crate) fn part(
        &self,
        model: &Model,
        _: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        assembly::check_linear(model, Order::First, "zero-order-hold")?;
        let rule = euler_moreau::Rule::Hold;
        Ok(Box::new(euler_moreau::EulerMoreauPart::new(model, rule, solver)?))
    }
}

impl Default for NewtonSettings {
    fn default() -> Self {
        NewtonSettings { tol: 1e-12, max_iter: 50, mode: NewtonMode::Full }
    }
}

impl NewtonSettings {
    /// Checks the ranges of the settings.
    pub fn check(&self) -> Result<(), SimError> {
        let owner = "newton";
        if !(self.tol > 0.0 && self.tol <= LARGEST_TOL) {
            let (field, value, allowed) = ("tol", self.tol, "(0, 0.1]");
            return Err(SimError::Setting { owner, field, value, allowed });
        }
        if self.max_iter == 0 {
            let (field, value, allowed) = ("max_iter", 0.0, "[1, inf)");
            return Err(SimError::Setting { owner, field, value, allowed });
        }
        Ok(())
    }
}

impl Default for EulerMoreau {
    fn default() -> Self {
        EulerMoreau { theta: 1.0, gamma: 1.0, systems: Vec::new() }
    }
}

impl Default for MoreauJean {
    fn default() -> Self {
        let (theta, gamma, threshold) = (0.5, 0.5, 0.0);
        let (projection, form) = (None, Form::Reduced);
        MoreauJean { theta, gamma, projection, threshold, form, systems: Vec::new() }
    }
}

impl Default for SchatzmanPaoli {
    fn default() -> Self {
        SchatzmanPaoli { theta: 0.5, systems: Vec::new() }
    }
}

impl Default for D1MinusLinear {
    fn default() -> Self {
        D1MinusLinear { variant: Variant::Acceleration, tol: 1e-8, systems: Vec::new() }
    }
}

impl Default for GeneralizedAlpha {
    fn default() -> Self {
        let (rho_inf, gamma, threshold) = (0.8, 0.5, 0.0);
        GeneralizedAlpha { rho_inf, gamma, projection: None, threshold, systems: Vec::new() }
    }
}

/// What holds for every scheme: its name, the order it serves, and how it comes to work.
macro_rules! schemes {
    ($count:literal: $($scheme:ident $name:literal $order:ident),* $(,)?) => {
        $(impl From<$scheme> for Integrator {
            fn from(scheme: $scheme) -> Self {
                Integrator::$scheme(scheme)
            }
        })*

        impl Integrator {
            /// The names of the schemes, as model files write them.
            pub const NAMES: [&'static str; $count] = [$($name),*];

            /// The scheme's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Integrator::$scheme(_) => $name,)*
                }
            }

            /// The order of the systems it serves.
            pub fn order(&self) -> Order {
                match self {
                    $(Integrator::$scheme(_) => Order::$order,)*
                }
            }

            /// Names of the systems it serves; none for all that no other one names.
            pub fn systems(&self) -> &[String] {
                match self {
                    $(Integrator::$scheme(scheme) => &scheme.systems,)*
                }
            }

            /// The same settings for all systems.
            fn without_systems(&self) -> Integrator {
                let mut same = self.clone();
                match &mut same {
                    $(Integrator::$scheme(scheme) => scheme.systems.clear(),)*
                }
                same
            }

            /// The scheme at work on the systems of its order.
            pub(crate) fn part(
                &self,
                model: &Model,
                newton: NewtonSettings,
                solver: &Solver,
            ) -> Result<Box<dyn Part>, SimError> {
                match self {
                    $(Integrator::$scheme(scheme) => scheme.part(model, newton, solver),)*
                }
            }
        }
    };
}

schemes! { 7:
    EulerMoreau "euler-moreau" First,
    MoreauJean "moreau-jean" Second,
    SchatzmanPaoli "schatzman-paoli" Second,
    GeneralizedAlpha "generalized-alpha" Second,
    D1MinusLinear "d1-minus-linear" Second,
    MoreauJeanBilbao "moreau-jean-bilbao" Second,
    ZeroOrderHold "zero-order-hold" First,
}

impl Integrator {
    /// The scheme for systems of this order where none is given.
    pub fn default_for(order: Order) -> Integrator {
        match order {
            Order::First => EulerMoreau::default().into(),
            Order::Second => MoreauJean::default().into(),
        }
    }

    /// Checks the ranges of the settings.
    pub fn check(&self) -> Result<(), SimError> {
        let settings: &[(&'static str, f64, bool, &'static str)] = match self {
            Integrator::EulerMoreau(s) => &[
                ("theta", s.theta, (0.0..=1.0).contains(&s.theta), "[0, 1]"),
                ("gamma", s.gamma, s.gamma > 0.0 && s.gamma <= 1.0, "(0, 1]"),
            ],
            Integrator::MoreauJean(s) => &[
                ("theta", s.theta, (0.0..=1.0).contains(&s.theta), "[0, 1]"),
                ("gamma", s.gamma, (0.0..=1.0).contains(&s.gamma), "[0, 1]"),
                ("threshold", s.threshold, s.threshold.is_finite(), "the finite numbers"),
            ],
            Integrator::D1MinusLinear(s) => {
                &[("tol", s.tol, s.tol >= 0.0 && s.tol.is_finite(), "[0, inf)")]
            }
            Integrator::MoreauJeanBilbao(_) | Integrator::ZeroOrderHold(_) => &[],
            Integrator::SchatzmanPaoli(s) => {
                &[("theta", s.theta, (0.0..=1.0).contains(&s.theta), "[0, 1]")]
            }
            Integrator::GeneralizedAlpha(s) => &[
                ("rho_inf", s.rho_inf, (0.0..=1.0).contains(&s.rho_inf), "[0, 1]"),
                ("gamma", s.gamma, (0.0..=1.0).contains(&s.gamma), "[0, 1]"),
                ("threshold", s.threshold, s.threshold.is_finite(), "the finite numbers"),
            ],
        };
        match settings.iter().find(|setting| !setting.2) {
            None => Ok(()),
            Some(&(field, value, _, allowed)) => {
                Err(SimError::Setting { owner: self.name(), field, value, allowed })
            }
        }
    }
}

/// One step: from `start` to `end = start + h`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub start: f64,
    pub end: f64,
    pub h: f64,
}

/// Two problems of one step as one: their iterations, and the worse of the answers.
pub(crate) fn together(a: Option<Report>, b: Option<Report>) -> Option<Report> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let worse = if b.residual > a.residual { b } else { a };
            Some(Report { iterations: a.iterations + b.iterations, ..worse })
        }
        (a, b) => a.or(b),
    }
}

impl Step {
    /// The part `k` of so many, from 1 on.
    pub fn part(self, k: usize, parts: usize) -> Step {
        let h = self.h / parts as f64;
        let end = if k == parts { self.end } else { self.end - h * (parts - k) as f64 };
        Step { start: end - h, end, h }
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        memory.number(&mut self.start);
        memory.number(&mut self.end);
        memory.number(&mut self.h);
    }

    /// Ends a step that was asked to stop.
    #[inline]
    pub fn ask(&self) -> Result<(), SimError> {
        if is_interrupted() { Err(SimError::Interrupted { time: self.end }) } else { Ok(()) }
    }

    /// A step whose energies are no numbers fails, whatever its state is; `culprit` names what they are of where
    /// that is known.
    #[inline]
    pub fn check_energies(
        &self,
        ledger: &[f64],
        culprit: impl FnOnce() -> Option<String>,
    ) -> Result<(), SimError> {
        match ledger.iter().fold(true, |all, x| all & x.is_finite()) {
            true => Ok(()),
            false => Err(self.boundless(ledger, culprit())),
        }
    }

    #[cold]
    fn boundless(&self, ledger: &[f64], culprit: Option<String>) -> SimError {
        let entry = ledger.iter().position(|x| !x.is_finite()).map_or("", |k| Ledger::NAMES[k]);
        let of = culprit.map_or(String::new(), |culprit| format!(" of {culprit}"));
        SimError::NotFinite { time: self.end, what: format!("the energy{of} (`{entry}`)") }
    }

    /// A step whose problem is not solved fails; `owner` names the place of the worst residual.
    #[inline]
    pub fn verify(
        &self,
        report: Report,
        owner: impl FnOnce(usize) -> String,
    ) -> Result<(), SimError> {
        if report.status == Status::Solved {
            return Ok(());
        }
        self.ask()?;
        Err(SimError::Unsolved {
            time: self.end,
            why: report.status.name().to_string(),
            residual: report.residual,
            worst: owner(report.worst),
        })
    }
}
