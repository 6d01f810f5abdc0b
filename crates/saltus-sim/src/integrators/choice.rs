//! Which scheme serves which system.
//!
//! An integrator serves the systems that it names, or, where it names none, those of its order
//! that no other one names. Systems that nothing serves get the default of their order. All
//! systems of an interaction are solved together, so they need one scheme; Moreau–Jean may differ
//! in θ alone.

use super::mixed::Mixed;
use super::part::Part;
use super::{Integrator, MoreauJean, NewtonSettings};
use crate::SimError;
use saltus_model::{Body, Law, Model, Order};
use saltus_numerics::{NumericsError, Solver};

/// The systems of one order that are solved together.
#[derive(Debug)]
pub(super) struct Group {
    pub scheme: Integrator,
    /// Positions of its systems in the model, each with its own settings.
    pub systems: Vec<(usize, Integrator)>,
}

/// The systems of one order at work; nothing where the model has none.
pub(crate) fn part(
    model: &Model,
    order: Order,
    integrators: &[Integrator],
    newton: NewtonSettings,
    solver: &Solver,
) -> Result<Option<Box<dyn Part>>, SimError> {
    let mut groups = groups(model, order, integrators)?;
    if order == Order::Second {
        check_found(model, &groups)?;
        check_settings(model, &groups, newton, solver)?;
    }
    match groups.len() {
        0 => Ok(None),
        1 => Ok(Some(groups.remove(0).part(model, newton, solver)?)),
        _ if order == Order::First && switch(model).is_some() => {
            let owner = format!("interaction `{}`", switch(model).unwrap_or_default());
            let (integrator, what) = (groups[0].scheme.name(), "the law Switch");
            let needs = "with one scheme for all first-order systems";
            Err(SimError::Unsuited { integrator, owner, what, needs })
        }
        _ => Ok(Some(Box::new(Mixed::new(model, order, groups, newton, solver)?))),
    }
}

/// Contacts that are found need one scheme for all mechanical systems, that of Moreau and Jean.
fn check_found(model: &Model, groups: &[Group]) -> Result<(), SimError> {
    if !model.has_found_contacts() {
        return Ok(());
    }
    let suits = |group: &&Group| matches!(group.scheme, Integrator::MoreauJean(_));
    let other = groups.iter().find(|group| !suits(group));
    let (integrator, needs) = match (other, groups.len()) {
        (Some(group), _) => (group.scheme.name(), "absent; use moreau-jean for them"),
        (None, 0 | 1) => return Ok(()),
        (None, _) => ("moreau-jean", "under one scheme for all mechanical systems"),
    };
    let (owner, what) = (format!("the model `{}`", model.title()), "contacts that are found");
    Err(SimError::Unsuited { integrator, owner, what, needs })
}

/// Refuses settings that have no effect on the steps of a scene, or with which its contacts cannot be solved.
pub fn check_scene(
    model: &Model,
    integrators: &[Integrator],
    newton: NewtonSettings,
    solver: &Solver,
) -> Result<(), SimError> {
    match model.contact_finder() {
        None => Ok(()),
        Some(_) => {
            let groups = groups(model, Order::Second, integrators)?;
            check_settings(model, &groups, newton, solver)
        }
    }
}

fn check_settings(
    model: &Model,
    groups: &[Group],
    newton: NewtonSettings,
    solver: &Solver,
) -> Result<(), SimError> {
    let Some(finder) = model.contact_finder() else { return Ok(()) };
    let [group] = groups else { return Ok(()) };
    let Integrator::MoreauJean(scheme) = &group.scheme else { return Ok(()) };
    match scheme.check_crowd(model, &group.thetas(scheme)) {
        // its systems are treated as those of other models are
        Err(SimError::Unsuited { .. }) if !model.has_found_contacts() => return Ok(()),
        done => done?,
    }
    scheme.check_idle(model, newton)?;
    // methods that pivot have no cones
    let pivots = matches!(
        solver,
        Solver::Pivoting(_)
            | Solver::Lemke(_)
            | Solver::FischerBurmeister(_)
            | Solver::Enumeration(_)
    );
    let in_plane = finder.space() == Body::Plane;
    let what = finder.laws().iter().find_map(|law| match law {
        Law::RollingFriction { .. } => Some("rolling friction"),
        Law::ImpactFriction { .. } if !in_plane => Some("friction in space"),
        _ => None,
    });
    match what {
        Some(what) if pivots => {
            Err(NumericsError::Unsupported { method: solver.name(), what }.into())
        }
        _ => Ok(()),
    }
}

/// The first interaction that is a switch.
fn switch(model: &Model) -> Option<&str> {
    let is_switch = |law: &Law| matches!(law, Law::Switch { .. });
    model.interactions().find(|(_, one)| is_switch(&one.law)).map(|(name, _)| name)
}

/// Checks that every integrator has something to do, with good settings.
pub(crate) fn check(model: &Model, integrators: &[Integrator]) -> Result<(), SimError> {
    for integrator in integrators {
        integrator.check()?;
        let (name, order) = (integrator.name(), integrator.order());
        if !model.systems().any(|(_, system)| system.order() == order) {
            return Err(SimError::IdleIntegrator { name, order: order.name() });
        }
        for system in integrator.systems() {
            let id = model.system_id(system)?;
            if model.system(id)?.order() != order {
                let (system, order) = (system.clone(), order.name());
                return Err(SimError::OtherOrder { integrator: name, system, order });
            }
        }
    }
    Ok(())
}

fn groups(model: &Model, order: Order, integrators: &[Integrator]) -> Result<Vec<Group>, SimError> {
    // who serves whom
    let mut rest = None;
    let mut named: Vec<Option<&Integrator>> = vec![None; model.systems().len()];
    for integrator in integrators.iter().filter(|integrator| integrator.order() == order) {
        if integrator.systems().is_empty() && rest.replace(integrator).is_some() {
            return Err(SimError::Integrators { order: order.name() });
        }
        for system in integrator.systems() {
            let place = &mut named[model.system_id(system)?.index()];
            if place.replace(integrator).is_some() {
                return Err(SimError::TwoIntegrators { system: system.clone() });
            }
        }
    }
    let default = Integrator::default_for(order);
    let of = |k: usize| named[k].or(rest).unwrap_or(&default);
    let mut groups: Vec<Group> = Vec::new();
    for (k, (_, system)) in model.systems().enumerate() {
        if system.order() != order {
            continue;
        }
        let scheme = of(k);
        let member = (k, scheme.clone());
        match groups.iter_mut().find(|group| group.scheme.goes_with(scheme)) {
            Some(group) => group.systems.push(member),
            None => groups.push(Group { scheme: scheme.clone(), systems: vec![member] }),
        }
    }

    // one scheme for an interaction
    let names: Vec<&str> = model.systems().map(|(name, _)| name).collect();
    let interactions = model.interactions();
    for (name, interaction) in interactions.filter(|(_, one)| one.relation.order() == order) {
        let Some((first, others)) = interaction.systems.split_first() else { continue };
        for second in others {
            let (a, b) = (of(first.index()), of(second.index()));
            if !a.goes_with(b) {
                return Err(SimError::Schemes {
                    interaction: name.to_string(),
                    systems: [first, second].map(|id| names[id.index()].to_string()),
                    integrators: [a.name(), b.name()],
                });
            }
        }
    }
    Ok(groups)
}

impl Integrator {
    /// Whether systems of both can be solved together.
    fn goes_with(&self, other: &Integrator) -> bool {
        match (self, other) {
            (Integrator::MoreauJean(a), Integrator::MoreauJean(b)) => {
                (a.gamma, a.threshold, a.projection, a.form)
                    == (b.gamma, b.threshold, b.projection, b.form)
            }
            (a, b) => a.without_systems() == b.without_systems(),
        }
    }
}

impl Group {
    /// The group at work on a model that has no other systems of its order.
    pub fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        if let Integrator::MoreauJean(scheme) = &self.scheme {
            return scheme.part_with(model, self.thetas(scheme), newton, solver);
        }
        self.scheme.part(model, newton, solver)
    }

    /// θ of each system.
    fn thetas(&self, scheme: &MoreauJean) -> Vec<f64> {
        let theta = |(_, one): &(usize, Integrator)| match one {
            Integrator::MoreauJean(one) => one.theta,
            _ => scheme.theta,
        };
        self.systems.iter().map(theta).collect()
    }
}
