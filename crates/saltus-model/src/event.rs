//! Events: what changes a model while it runs, and when.
//!
//! ```text
//! when  c(t, x, q, v, y, u, λ, p)  becomes true:    x ← …,  p ← …,  law ← …,  connect, disconnect, stop
//! ```
//!
//! A model only says what its events are; the strategy fires them. Formulas of events name states
//! and outputs by their owner: `ball.q[0]`, `floor.lam[0]`, `'bead 3'.v[0]`; they may use `t` and
//! parameters too.

use crate::{InteractionId, Law, Model, ModelError, Order, StateVector, SystemId};
use saltus_expr::{ExprError, Formula, Function};

/// Something that happens at an instant, and what it changes.
///
/// ```
/// use saltus_model::{Event, Law};
///
/// let event = Event::when("ball.q[0] < 0.5").once().named("lower half");
/// let event = event.set_state("ball", "v", ["-0.5*ball.v[0]"]).set_law("floor", Law::newton_impact(0.2));
/// assert_eq!(event.actions.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its name; `event1`, `event2` … where none is given.
    pub name: String,
    /// When it happens.
    pub trigger: Trigger,
    /// Whether it happens at most once.
    pub once: bool,
    /// What it changes: all formulas are taken before the first of them is done.
    pub actions: Vec<Action>,
}

/// When an event happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// When this formula, 0 before, is no longer 0.
    When(String),
    /// At these instants.
    At(Vec<f64>),
    /// At `start`, `start + period`, `start + 2 period` …
    Every {
        /// Seconds between two of them, positive.
        period: f64,
        /// The first of them; `t0` where none is given.
        start: Option<f64>,
    },
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Gives a system another state.
    SetState {
        /// Its name.
        system: String,
        /// `x`, `q` or `v`.
        quantity: String,
        /// One formula a component.
        values: Vec<Term>,
    },
    /// Gives a parameter another value.
    SetParameter {
        /// Its name.
        parameter: String,
        /// The value.
        value: Term,
    },
    /// Gives an interaction another law.
    SetLaw {
        /// Its name.
        interaction: String,
        /// The law.
        law: Law,
    },
    /// Lets an interaction act.
    Connect(String),
    /// Lets an interaction act no longer: its multiplier is zero.
    Disconnect(String),
    /// Ends the run.
    Stop,
}

/// A number or formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term(pub String);

impl From<f64> for Term {
    fn from(value: f64) -> Self {
        Term(format!("{value:?}"))
    }
}

impl From<&str> for Term {
    fn from(text: &str) -> Self {
        Term(text.to_string())
    }
}

impl From<String> for Term {
    fn from(text: String) -> Self {
        Term(text)
    }
}

impl Event {
    fn new(trigger: Trigger) -> Event {
        Event { name: String::new(), trigger, once: false, actions: Vec::new() }
    }

    /// An event that happens when a condition becomes true.
    pub fn when(condition: impl Into<String>) -> Event {
        Event::new(Trigger::When(condition.into()))
    }

    /// An event at given instants.
    pub fn at(times: impl Into<Vec<f64>>) -> Event {
        Event::new(Trigger::At(times.into()))
    }

    /// An event every so many seconds, from `t0` on.
    pub fn every(period: f64) -> Event {
        Event::new(Trigger::Every { period, start: None })
    }

    /// The same, from another time on.
    pub fn starting_at(mut self, time: f64) -> Event {
        if let Trigger::Every { start, .. } = &mut self.trigger {
            *start = Some(time);
        }
        self
    }

    /// The same with a name.
    pub fn named(mut self, name: impl Into<String>) -> Event {
        self.name = name.into();
        self
    }

    /// The same, at most once.
    pub fn once(mut self) -> Event {
        self.once = true;
        self
    }

    /// The same with one more action.
    pub fn does(mut self, action: Action) -> Event {
        self.actions.push(action);
        self
    }

    /// Gives a system another `x`, `q` or `v`.
    pub fn set_state<T: Into<Term>>(
        self,
        system: impl Into<String>,
        quantity: impl Into<String>,
        values: impl IntoIterator<Item = T>,
    ) -> Event {
        let values = values.into_iter().map(Into::into).collect();
        self.does(Action::SetState { system: system.into(), quantity: quantity.into(), values })
    }

    /// Gives a parameter another value.
    pub fn set_parameter(self, parameter: impl Into<String>, value: impl Into<Term>) -> Event {
        let (parameter, value) = (parameter.into(), value.into());
        self.does(Action::SetParameter { parameter, value })
    }

    /// Gives an interaction another law.
    pub fn set_law(self, interaction: impl Into<String>, law: Law) -> Event {
        self.does(Action::SetLaw { interaction: interaction.into(), law })
    }

    /// Lets an interaction act.
    pub fn connect(self, interaction: impl Into<String>) -> Event {
        self.does(Action::Connect(interaction.into()))
    }

    /// Lets an interaction act no longer.
    pub fn disconnect(self, interaction: impl Into<String>) -> Event {
        self.does(Action::Disconnect(interaction.into()))
    }

    /// Ends the run.
    pub fn stop(self) -> Event {
        self.does(Action::Stop)
    }

    /// Finds what is wrong with the event in a model.
    pub(crate) fn check(&self, model: &Model) -> Result<(), ModelError> {
        let owner = format!("event `{}`", self.name);
        match &self.trigger {
            Trigger::When(condition) => {
                model.expression(condition).map_err(|e| formula(&owner, "when", condition, e))?;
            }
            Trigger::At(times) => {
                crate::check::not_empty(&owner, "at", times.len())?;
                for (index, &found) in times.iter().enumerate() {
                    check_time(&owner, "at", Some(index), found, model.t0())?;
                }
            }
            Trigger::Every { period, start } => {
                if !(*period > 0.0 && period.is_finite()) {
                    let (what, value, allowed) = ("every", *period, "(0, inf)");
                    return Err(ModelError::Range { owner, what, value, allowed });
                }
                if let Some(start) = start {
                    check_time(&owner, "start", None, *start, model.t0())?;
                }
            }
        }
        for action in &self.actions {
            action.check(&owner, model)?;
        }
        Ok(())
    }
}

fn check_time(
    owner: &str,
    what: &'static str,
    index: Option<usize>,
    found: f64,
    t0: f64,
) -> Result<(), ModelError> {
    match found >= t0 && found.is_finite() {
        true => Ok(()),
        false => Err(ModelError::Time { owner: owner.to_string(), what, index, found, t0 }),
    }
}

fn formula(owner: &str, what: &str, text: &str, source: ExprError) -> ModelError {
    let (owner, what, text) = (owner.to_string(), what.to_string(), text.to_string());
    ModelError::Formula { owner, what, text, source: Box::new(source) }
}

impl Action {
    fn check(&self, owner: &str, model: &Model) -> Result<(), ModelError> {
        match self {
            Action::SetState { system, quantity, values } => {
                let id = model.system_id(system)?;
                let system_of = model.system(id)?;
                let known = system_of.state_parts();
                let Some(part) = known.iter().find(|part| part.name == quantity) else {
                    let known = known.iter().map(|known| format!("{system}.{}", known.name));
                    return Err(ModelError::NoState {
                        owner: owner.to_string(),
                        name: format!("{system}.{quantity}"),
                        known: known.collect::<Vec<_>>().join(" and "),
                    });
                };
                if values.len() != part.range.len() {
                    let (owner, found) = (format!("{owner}, {system}.{quantity}"), values.len());
                    let (what, why) = ("set", "the size of the system".to_string());
                    let expected = part.range.len();
                    return Err(ModelError::Length { owner, what, found, expected, why });
                }
                for (i, Term(text)) in values.iter().enumerate() {
                    let what = format!("{system}.{quantity}[{i}]");
                    model.expression(text).map_err(|e| formula(owner, &what, text, e))?;
                }
            }
            Action::SetParameter { parameter, value: Term(text) } => {
                model.parameter(parameter)?;
                model.expression(text).map_err(|e| formula(owner, parameter, text, e))?;
            }
            Action::SetLaw { interaction, law } => {
                let id = model.interaction_id(interaction)?;
                model.check_law(id, law)?;
            }
            Action::Connect(interaction) | Action::Disconnect(interaction) => {
                model.interaction_id(interaction)?;
            }
            Action::Stop => {}
        }
        Ok(())
    }
}

/// Where the value of a name in a formula of events comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `t`.
    Time,
    /// A parameter, by its position in the model.
    Parameter(usize),
    /// A component of `x`, `q` or `v` of a system.
    State(SystemId, StateVector, usize),
    /// A component of `y`, `u` or `lam` of an interaction, or of its `force`: of a mechanical one the
    /// impulse of a step over its length.
    Output(InteractionId, &'static str, usize),
}

/// A formula of states, outputs, parameters and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    formula: Formula,
    margins: Option<Function>,
    sources: Vec<Source>,
}

impl Expression {
    /// Where the values of its variables come from.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The value, given those of its variables.
    pub fn eval(&self, values: &[f64]) -> f64 {
        self.formula.eval(values)
    }

    /// Its factors, where it is a sum of multiples of these variables; the others have these values.
    pub fn linear(&self, variables: &[usize], values: &[f64]) -> Option<Vec<f64>> {
        let rates = self.formula.function().jacobian(variables);
        if variables.iter().any(|&variable| rates.uses(variable)) {
            return None;
        }
        let mut factors = vec![0.0; variables.len()];
        rates.eval(values, &mut factors);
        Some(factors)
    }

    /// How many comparisons a condition is made of; none where it is anything else.
    pub fn margins(&self) -> usize {
        self.margins.as_ref().map_or(0, Function::len)
    }

    /// The differences of the sides of its comparisons, given the values of its variables. Where the
    /// condition changes, one of them passes through zero.
    pub fn eval_margins(&self, values: &[f64], out: &mut [f64]) {
        if let Some(margins) = &self.margins {
            margins.eval(values, out);
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.formula.text()
    }
}

impl Model {
    /// The formula of a condition or of a new value in an event.
    pub fn expression(&self, text: &str) -> Result<Expression, ExprError> {
        let used = saltus_expr::names(text)?;
        let (mut variables, mut sources, mut all_known) = (Vec::new(), Vec::new(), true);
        for name in &used {
            match self.source(name) {
                Some(source) => {
                    variables.push(name.as_str());
                    sources.push(source);
                }
                None => all_known &= saltus_expr::constant(name).is_some(),
            }
        }
        if all_known {
            let formula = Formula::parse(text, &variables)?;
            let margins = formula.function().margins();
            return Ok(Expression { formula, margins, sources });
        }
        // only for the error, which names the nearest one
        let names = self.names_of_sources();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let formula = Formula::parse(text, &names)?;
        let sources = names.iter().filter_map(|n| self.source(n)).collect();
        Ok(Expression { formula, margins: None, sources })
    }

    /// What a name stands for.
    fn source(&self, name: &str) -> Option<Source> {
        if name == "t" {
            return Some(Source::Time);
        }
        let Some((owner, rest)) = name.rsplit_once('.') else {
            return self.parameters().position(|(known, _)| known == name).map(Source::Parameter);
        };
        let (quantity, index) = rest.strip_suffix(']')?.split_once('[')?;
        let index: usize = index.parse().ok()?;
        if let Ok(id) = self.system_id(owner) {
            let system = self.system(id).ok()?;
            let part = system.state_parts().into_iter().find(|part| part.name == quantity)?;
            let index = (index < part.range.len()).then_some(part.range.start + index)?;
            return Some(Source::State(id, part.of, index));
        }
        let id = self.interaction_id(owner).ok()?;
        let relation = &self.interaction(id)?.relation;
        let known = outputs(relation.order()).iter().find(|known| **known == quantity)?;
        (index < relation.size()).then_some(Source::Output(id, known, index))
    }

    fn names_of_sources(&self) -> Vec<String> {
        let mut names = vec!["t".to_string()];
        names.extend(self.parameters().map(|(name, _)| name.to_string()));
        let mut push = |owner: &str, quantities: &[&str], size: usize| {
            for quantity in quantities {
                names.extend((0..size).map(|i| format!("{owner}.{quantity}[{i}]")));
            }
        };
        for (name, system) in self.systems() {
            for part in system.state_parts() {
                push(name, &[part.name], part.range.len());
            }
        }
        for (name, interaction) in self.interactions() {
            let relation = &interaction.relation;
            push(name, outputs(relation.order()), relation.size());
        }
        names
    }
}

/// The quantities of an interaction.
fn outputs(order: Order) -> &'static [&'static str] {
    match order {
        Order::First => &["y", "lam"],
        Order::Second => &["y", "u", "lam", "force"],
    }
}
