//! The model: systems and interactions from their tables.

use super::bodies;
use super::error::{ErrorKind, Fault};
use super::fields::Fields;
use super::joints;
use super::repetition::{expand, for_each};
use super::scope::Scope;
use super::slot::Sizes;
use super::source::Place;
use super::tree::{Item, Table};
use super::vocabulary::SectionId;
use saltus_expr::nearest;
use saltus_mechanics::AnyJoint;
use saltus_model::{
    Bond, FirstOrder, FirstOrderLinear, FirstOrderLinearRelation, FirstOrderRelation, Lagrangian,
    LagrangianCompliant, LagrangianLinear, LagrangianLinearRelation, LagrangianRelation, Law,
    Model, ModelError, OperatorError, Prescribed, System, SystemId,
};

/// Adds the systems of the file to the model.
pub(crate) fn add_systems(file: &Table, model: &mut Model, scope: &Scope) -> Result<(), Fault> {
    for (item, table) in tables(file, "system", scope)? {
        for_each(table, "system", scope, |scope| {
            let fields = Fields::open(item, SectionId::System, owner(table, "system"), scope)?;
            let name = expand(fields.need("name")?, "name", scope)?;
            let system = system(&fields)?;
            model.add(&name, system).map_err(|error| {
                let place = place_in(&error, &[&fields]).unwrap_or(&item.place);
                Fault::new(place, error)
            })?;
            Ok(())
        })?;
    }
    Ok(())
}

/// Adds the interactions of the file to the model.
pub(crate) fn connect(file: &Table, model: &mut Model, scope: &Scope) -> Result<(), Fault> {
    for (item, table) in tables(file, "interaction", scope)? {
        for_each(table, "interaction", scope, |scope| {
            let owner = owner(table, "interaction");
            let fields = Fields::open(item, SectionId::Interaction, owner.clone(), scope)?;
            let name = expand(fields.need("name")?, "name", scope)?;
            let systems = links(&fields, model)?;
            let part = |key, section| {
                Fields::open(fields.need(key)?, section, format!("{owner}, {key}"), scope)
            };
            let relation = part("relation", SectionId::Relation)?;
            let law = part("law", SectionId::Law)?;
            connect_one(model, &name, &relation, &law, &systems).map_err(
                |failed| match failed {
                    Failed::Fault(fault) => fault,
                    Failed::Model(error) => {
                        // `e` is both an offset of a relation and a restitution of a law
                        let parts = match is_of_law(&error) {
                            true => [&law, &fields],
                            false => [&relation, &fields],
                        };
                        let place = place_in(&error, &parts).unwrap_or(&item.place);
                        Fault::new(place, error)
                    }
                },
            )?;
            if let Some(active) = fields.get("active") {
                let active = fields.flag(active, "active")?;
                let part = format!("{name}.");
                let names = model.interactions().map(|(name, _)| name.to_string());
                let own = names.filter(|one| *one == name || one.starts_with(&part));
                let own = own.filter_map(|one| model.interaction_id(&one).ok());
                for id in own.collect::<Vec<_>>() {
                    model.set_active(id, active);
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The tables of an array of tables.
pub(crate) fn tables<'a>(
    file: &'a Table,
    key: &'static str,
    scope: &Scope,
) -> Result<Vec<(&'a Item, &'a Table)>, Fault> {
    let Some(item) = file.get(key) else {
        return Ok(Vec::new());
    };
    let expected = format!("tables, each headed [[{key}]]");
    let Some(items) = item.as_array() else {
        return Err(scope.wrong_type(item, key, &expected));
    };
    let table = |item: &'a Item| match item.as_table() {
        Some(table) => Ok((item, table)),
        None => Err(scope.wrong_type(item, key, &expected)),
    };
    items.iter().map(table).collect()
}

/// What a table is called in messages.
pub(crate) fn owner(table: &Table, what: &str) -> String {
    match table.get("name").and_then(Item::as_text) {
        Some(name) => format!("{what} `{name}`"),
        None => what.to_owned(),
    }
}

fn system(fields: &Fields) -> Result<System, Fault> {
    let inputs = fields.vector("z0")?.unwrap_or_default();
    let sized = |n| fields.sized(Sizes { first: n, second: n, inputs: inputs.len() });
    Ok(match fields.kind() {
        "first-order" => {
            let x0 = fields.must("x0", fields.vector("x0")?)?;
            let fields = sized(x0.len());
            FirstOrder {
                x0,
                f: fields.must_vector("f")?,
                df_dx: fields.matrix_operator("df_dx")?,
                M: fields.matrix_operator("M")?,
                z0: inputs,
            }
            .into()
        }
        "first-order-linear" => FirstOrderLinear {
            x0: fields.must("x0", fields.vector("x0")?)?,
            A: fields.must_matrix("A")?,
            b: fields.vector_operator("b")?,
            M: fields.matrix("M")?,
        }
        .into(),
        "lagrangian" => {
            let q0 = fields.must("q0", fields.vector("q0")?)?;
            let fields = sized(q0.len());
            Lagrangian {
                v0: fields.must("v0", fields.vector("v0")?)?,
                q0,
                M: fields.must_matrix("M")?,
                F_gyr: fields.vector_operator("F_gyr")?,
                F_int: fields.vector_operator("F_int")?,
                F_ext: fields.vector_operator("F_ext")?,
                dF_gyr_dq: fields.matrix_operator("dF_gyr_dq")?,
                dF_gyr_dv: fields.matrix_operator("dF_gyr_dv")?,
                dF_int_dq: fields.matrix_operator("dF_int_dq")?,
                dF_int_dv: fields.matrix_operator("dF_int_dv")?,
                z0: inputs,
            }
            .into()
        }
        "lagrangian-linear" => LagrangianLinear {
            q0: fields.must("q0", fields.vector("q0")?)?,
            v0: fields.must("v0", fields.vector("v0")?)?,
            M: fields.must("M", fields.matrix("M")?)?,
            C: fields.matrix("C")?,
            K: fields.matrix("K")?,
            F_ext: fields.vector_operator("F_ext")?,
        }
        .into(),
        "rigid-body" | "rigid-body-2d" => bodies::body(fields)?,
        kind => unreachable!("the system `{kind}` is in the vocabulary and nowhere else"),
    })
}

/// A law from its table.
pub(crate) fn law(fields: &Fields) -> Result<Law, Fault> {
    let e = || fields.coefficient("e");
    let mu = || fields.coefficient("mu");
    Ok(match fields.kind() {
        "complementarity" => Law::Complementarity,
        "equality" => Law::Equality,
        "relay" => Law::Relay { lower: fields.bounds("lower")?, upper: fields.bounds("upper")? },
        "piecewise-linear" => Law::PiecewiseLinear { points: fields.points("points")? },
        "switch" => {
            let on = fields.number("on")?;
            Law::Switch {
                control: expand(fields.need("control")?, "control", fields.scope)?,
                on,
                off: if fields.get("off").is_some() { fields.number("off")? } else { on },
                closed: match fields.get("closed") {
                    Some(item) => fields.flag(item, "closed")?,
                    None => false,
                },
            }
        }
        "normal-cone" => Law::NormalCone {
            A: fields.must("A", fields.matrix("A")?)?,
            b: fields.must("b", fields.vector("b")?)?,
        },
        "newton-impact" => Law::NewtonImpact { e: e()? },
        "impact-friction" => Law::ImpactFriction { e: e()?, mu: mu()?, et: fields.number("et")? },
        "rolling-friction" => {
            Law::RollingFriction { e: e()?, mu: mu()?, mu_r: fields.coefficient("mu_r")? }
        }
        "fremond" => Law::Fremond { e: e()?, mu: mu()? },
        "multiple-impact" => Law::MultipleImpact {
            e: fields.number("e")?,
            stiffness: fields.number("stiffness")?,
            exponent: fields.number("exponent")?,
        },
        "cohesive" => Law::Cohesive {
            bond: Bond {
                stiffness: fields.number("stiffness")?,
                strength: fields.number("strength")?,
                energy: fields.number("energy")?,
                shear: fields.number("shear")?,
            },
            e: e()?,
            mu: mu()?,
        },
        "binary-cohesive" => Law::BinaryCohesive {
            strength: fields.number("strength")?,
            opening: fields.number("opening")?,
            e: e()?,
            mu: mu()?,
        },
        kind => unreachable!("the law `{kind}` is in the vocabulary and nowhere else"),
    })
}

/// Why an interaction could not be added.
enum Failed {
    Fault(Fault),
    Model(ModelError),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Failed::Fault(fault)
    }
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Failed::Model(error)
    }
}

fn connect_one(
    model: &mut Model,
    name: &str,
    relation: &Fields,
    law_fields: &Fields,
    systems: &[SystemId],
) -> Result<(), Failed> {
    // what formulas may use: the states of the systems one above the other, and λ (in laws, u)
    let dims = systems.iter().map(|&id| Ok(model.system(id)?.dim_q()));
    let dim = dims.sum::<Result<usize, ModelError>>()?;
    let inputs = relation.vector("z0")?.unwrap_or_default();
    let sizes = |size| Sizes { first: dim, second: size, inputs: inputs.len() };
    let law = |size| law(&law_fields.sized(sizes(size)));
    let fields = relation.sized(sizes(relation.len_of("h")?));
    match fields.kind() {
        "first-order" => {
            let relation = FirstOrderRelation {
                h: fields.must_vector("h")?,
                g: fields.must_vector("g")?,
                dh_dx: fields.matrix_operator("dh_dx")?,
                dh_dlam: fields.matrix_operator("dh_dlam")?,
                dg_dx: fields.matrix_operator("dg_dx")?,
                dg_dlam: fields.matrix_operator("dg_dlam")?,
                z0: inputs.clone(),
            };
            let law = law(relation.h.rows())?;
            model.connect(name, relation, law, systems)?;
        }
        "first-order-linear" => {
            let relation = FirstOrderLinearRelation {
                C: fields.must_matrix("C")?,
                B: fields.must_matrix("B")?,
                D: fields.matrix_operator("D")?,
                e: fields.vector_operator("e")?,
                F: fields.matrix_operator("F")?,
                z0: inputs.clone(),
                unit: 0.0,
            };
            let law = law(relation.C.rows())?;
            model.connect(name, relation, law, systems)?;
        }
        "lagrangian" => {
            let relation = LagrangianRelation {
                h: fields.must_vector("h")?,
                H: fields.matrix_operator("H")?,
                dh_dt: fields.vector_operator("dh_dt")?,
            };
            let law = law(relation.h.rows())?;
            model.connect(name, relation, law, systems)?;
        }
        "lagrangian-compliant" => {
            let relation = LagrangianCompliant {
                h: fields.must_vector("h")?,
                H: fields.matrix_operator("H")?,
                dh_dlam: fields.matrix_operator("dh_dlam")?,
            };
            let law = law(relation.h.rows())?;
            model.connect(name, relation, law, systems)?;
        }
        "lagrangian-linear" => {
            let relation = LagrangianLinearRelation {
                H: fields.must("H", fields.matrix("H")?)?,
                b: fields.vector("b")?,
                D: fields.matrix("D")?,
            };
            let law = law(relation.H.rows())?;
            model.connect(name, relation, law, systems)?;
        }
        "prescribed" => {
            let item = fields.need("dofs")?;
            let Some(items) = item.as_array() else {
                let expected = "an array of degrees of freedom";
                return Err(fields.scope.wrong_type(item, "dofs", expected).into());
            };
            let dofs = items.iter().map(|item| fields.scope.count(item, "dofs"));
            let dofs = dofs.collect::<Result<Vec<_>, _>>()?;
            let relation = Prescribed::new(dofs, fields.must_vector("v")?);
            let law = law(relation.dofs.len())?;
            model.connect(name, relation, law, systems)?;
        }
        "point-plane" => {
            let relation = bodies::point_plane(&fields)?;
            let law = law(relation.components.size())?;
            model.connect(name, relation, law, systems)?;
        }
        "sphere-sphere" => {
            let relation = bodies::sphere_sphere(&fields)?;
            let law = law(relation.components.size())?;
            model.connect(name, relation, law, systems)?;
        }
        "disk-line" => {
            let relation = bodies::disk_line(&fields)?;
            let law = law(relation.components.size_in_plane())?;
            model.connect(name, relation, law, systems)?;
        }
        "disk-disk" => {
            let relation = bodies::disk_disk(&fields)?;
            let law = law(relation.components.size_in_plane())?;
            model.connect(name, relation, law, systems)?;
        }
        "joint-coordinate" => {
            model.connect(name, joints::joint_coordinate(&fields)?, law(1)?, systems)?;
        }
        "coupler" => {
            model.connect(name, joints::coupler(&fields)?, law(1)?, systems)?;
        }
        "spring-damper" => {
            model.connect(name, joints::spring_damper(&fields)?, law(1)?, systems)?;
        }
        "bushing" => {
            equality(name, &law(6)?, "bushing")?;
            joints::bushing(&fields)?.connect(model, name, systems)?;
        }
        kind => {
            let Some(joint) = joints::joint(&fields)? else {
                unreachable!("the relation `{kind}` is in the vocabulary and nowhere else")
            };
            let spec = joints::spec(&fields, joint)?;
            let law = law(spec.size())?;
            if spec.is_plain() {
                match joint {
                    AnyJoint::Space(joint) => model.connect(name, joint, law, systems)?,
                    AnyJoint::Plane(joint) => model.connect(name, joint, law, systems)?,
                };
                return Ok(());
            }
            equality(name, &law, "joint")?;
            spec.connect(model, name, systems)?;
        }
    }
    Ok(())
}

/// What is built of several parts has the law of equality.
fn equality(name: &str, law: &Law, relation: &'static str) -> Result<(), ModelError> {
    match law {
        Law::Equality => Ok(()),
        law => {
            let (name, law, instead) = (name.to_string(), law.name(), "use Equality");
            Err(ModelError::LawMismatch { name, law, relation, instead })
        }
    }
}

/// The systems that an interaction names.
fn links(fields: &Fields, model: &Model) -> Result<Vec<SystemId>, Fault> {
    let (item, scope) = (fields.need("systems")?, fields.scope);
    let Some(items) = item.as_array() else {
        return Err(scope.wrong_type(item, "systems", "an array of one or two names of systems"));
    };
    let link = |item: &Item| {
        let name = expand(item, "systems", scope)?;
        model.system_id(&name).map_err(|_| {
            let known = || model.systems().map(|(name, _)| name);
            let nearest = nearest(&name, known()).map(str::to_owned);
            let known = known().take(13).map(str::to_owned).collect();
            scope.fault(item, ErrorKind::UnknownSystem { name, nearest, known })
        })
    };
    items.iter().map(link).collect()
}

/// The key that an error of the model is about.
fn key_of(error: &ModelError) -> Option<&str> {
    match error {
        ModelError::Length { what, .. }
        | ModelError::Shape { what, .. }
        | ModelError::NotFinite { what, .. }
        | ModelError::Range { what, .. }
        | ModelError::Empty { what, .. } => Some(what),
        ModelError::Operator(OperatorError { what, .. }) => what.split(" of ").next(),
        ModelError::Mass { .. } => Some("M"),
        ModelError::Inertia { .. } => Some("inertia"),
        ModelError::Orientation { .. } => Some("orientation"),
        ModelError::Direction { what, .. } => Some(what),
        ModelError::Points { .. } => Some("points"),
        ModelError::ContactSize { .. } => Some("relation"),
        ModelError::Duplicate { .. } | ModelError::Name { .. } => Some("name"),
        ModelError::Links { .. }
        | ModelError::Linked { .. }
        | ModelError::NotABody { .. }
        | ModelError::LinkedTwice { .. }
        | ModelError::Order { .. } => Some("systems"),
        ModelError::LawMismatch { .. } => Some("law"),
        ModelError::Coordinate { .. } => Some("coordinate"),
        ModelError::NothingFree { what, .. } => Some(what),
        ModelError::NoMoment { .. } => Some("break_moment"),
        ModelError::OutsideLimits { .. } | ModelError::LimitsApart { .. } => Some("limits"),
        _ => None,
    }
}

/// Whether an error speaks of the law of an interaction.
fn is_of_law(error: &ModelError) -> bool {
    match error {
        ModelError::Length { owner, .. }
        | ModelError::Shape { owner, .. }
        | ModelError::NotFinite { owner, .. }
        | ModelError::Range { owner, .. }
        | ModelError::Empty { owner, .. }
        | ModelError::Points { owner, .. } => owner.contains(", law "),
        _ => false,
    }
}

/// The place of the key that an error of the model is about, in the first of the tables that has it.
fn place_in<'a>(error: &ModelError, tables: &[&Fields<'a>]) -> Option<&'a Place> {
    let key = key_of(error)?;
    tables.iter().find_map(|fields| fields.place_of(key))
}
