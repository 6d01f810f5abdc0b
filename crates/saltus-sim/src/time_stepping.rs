//! The time-stepping strategy: one problem a step, events are not located.
//!
//! A step is a transaction: the new state is computed beside the old one and takes its place
//! only when every problem of the step is solved and verified. Events of the model happen at the
//! ends of steps (see `events`).

use crate::SimError;
use crate::checkpoint::Checkpoint;
use crate::clock::{Clock, Steps};
use crate::contacts::Contacts;
use crate::driver::{self, RunFailure, RunOptions, StepStats, Strategy};
use crate::events::Events;
use crate::integrators::{Integrator, NewtonSettings, Step, choice};
use crate::law_log::LawLog;
use crate::listening::Listening;
use crate::pushes::{Impulse, Place, impulse_on, places_of};
use crate::recorder::{Parts, Recorder, signals_of};
use crate::run::{EventRecord, Layout, Ledger, Quantity, Run};
use crate::switches::Switches;
use saltus_linalg::Matrix;
use saltus_model::{At, InteractionId, Model, ModelError, Order, SystemId};
use saltus_numerics::{Interrupt, Memory, Report, Solver};

/// What all steps since the beginning, or since [`reset`](TimeStepping::reset), have done.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Steps done.
    pub steps: usize,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Largest verified residual.
    pub worst_residual: f64,
    /// Deepest penetration of a contact at the end of a step.
    pub worst_penetration: f64,
}

/// A model on its way through time, step by step.
///
/// ```
/// use saltus_model::{LagrangianLinear, LagrangianLinearRelation, Law, Model};
/// use saltus_sim::{MoreauJean, TimeStepping};
///
/// let mut model = Model::new("bouncing ball");
/// let ball = model.add("ball", LagrangianLinear::new([1.0], [0.0], [[1.0]]).F_ext([-9.81]))?;
/// let law = Law::newton_impact(0.9);
/// model.connect("floor", LagrangianLinearRelation::new([[1.0]]), law, &[ball])?;
///
/// let mut sim = TimeStepping::new(model, 5e-3, [MoreauJean::default().into()])?;
/// sim.step()?;
/// assert!(sim.q(ball)?[0] < 1.0);
/// let run = sim.run(10.0)?;
/// assert_eq!(run.frames.len(), 2000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TimeStepping {
    pub(crate) model: Model,             // as events have changed it
    pub(crate) base: Option<Box<Model>>, // as it was given, where events have changed it
    pub(crate) steps: Steps,
    pub(crate) clock: Clock,
    pub(crate) parts: Parts,
    pub(crate) methods: Methods,
    pub(crate) events: Events,
    pub(crate) laws: LawLog,
    pub(crate) switches: Switches,
    pub(crate) totals: Totals,
    pub(crate) recorded: usize, // steps since the run began that is interrupted here, else 0
    left: usize,                // steps of the current run that are left
    h: f64,                     // the last step
    pushed: Pushed,
    listening: Option<Listening>,
}

/// Memory of what interactions do to bodies.
#[derive(Debug, Default)]
struct Pushed {
    places: Option<Vec<Place>>,
    q: Vec<f64>,
    lam: Vec<f64>,
    H: Matrix,
    p: Vec<f64>,
}

/// How the steps are computed.
#[derive(Debug)]
pub(crate) struct Methods {
    pub integrators: Vec<Integrator>,
    pub newton: NewtonSettings,
    pub solver: Solver,
}

impl TimeStepping {
    /// A simulation with the default solver. An order of systems without an integrator gets
    /// the default scheme for it.
    pub fn new(
        model: Model,
        steps: impl Into<Steps>,
        integrators: impl IntoIterator<Item = Integrator>,
    ) -> Result<Self, SimError> {
        TimeStepping::with_solver(model, steps, integrators, &Solver::default())
    }

    /// A simulation with this solver.
    pub fn with_solver(
        model: Model,
        steps: impl Into<Steps>,
        integrators: impl IntoIterator<Item = Integrator>,
        solver: &Solver,
    ) -> Result<Self, SimError> {
        let newton = NewtonSettings::default();
        TimeStepping::with_methods(model, steps, integrators, solver, newton)
    }

    /// A simulation with this solver of the problem of a step, and these settings of the
    /// iteration around it, where the model is not linear.
    pub fn with_methods(
        model: Model,
        steps: impl Into<Steps>,
        integrators: impl IntoIterator<Item = Integrator>,
        solver: &Solver,
        newton: NewtonSettings,
    ) -> Result<Self, SimError> {
        newton.check()?;
        if model.systems().len() == 0 {
            return Err(SimError::EmptyModel { title: model.title().to_string() });
        }
        let (owner, t0) = ("the model", model.t0());
        if !t0.is_finite() {
            let allowed = "the finite numbers";
            return Err(SimError::Setting { owner, field: "t0", value: t0, allowed });
        }
        let steps = steps.into().checked(t0)?;
        solver.check()?;
        let integrators: Vec<Integrator> = integrators.into_iter().collect();
        choice::check(&model, &integrators)?;
        model.prepare();
        let methods = Methods { integrators, newton, solver: solver.clone() };
        let (parts, events) = (methods.parts(&model)?, Events::new(&model)?);
        let (mut laws, switches) = (LawLog::new(&model), Switches::new(&model)?);
        laws.begin(&parts);
        Ok(TimeStepping {
            model,
            base: None,
            steps,
            clock: Clock::new(t0),
            parts,
            methods,
            events,
            laws,
            switches,
            totals: Totals::default(),
            recorded: 0,
            left: 0,
            h: 0.0,
            pushed: Pushed::default(),
            listening: None,
        })
    }

    /// The model, as events have changed it.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Current time.
    pub fn t(&self) -> f64 {
        self.clock.t
    }

    /// Whether there is no step left before `until`, or an event has stopped the run.
    pub fn done(&self, until: f64) -> bool {
        self.events.state.stopped || self.steps_ahead(until) == 0
    }

    /// All signals that a run can record.
    pub fn layout(&self) -> Layout {
        signals_of(&self.model).with_pushes()
    }

    /// The layout of a run that records these signals (all of them if none are chosen).
    pub fn layout_of(&self, signals: Option<&[String]>) -> Result<Layout, SimError> {
        Ok(Recorder::new(self.layout(), signals)?.layout)
    }

    /// One step, and the events at its end. If the step fails, nothing has changed; if an event
    /// fails, that event has changed nothing, and is tried again before the next step.
    pub fn step(&mut self) -> Result<StepStats, SimError> {
        self.begin_events()?;
        let done = self.step_towards(f64::INFINITY)?;
        if !self.events.is_empty() {
            self.fire_events()?;
        }
        Ok(done)
    }

    /// Events that are due before the first step, or could not happen after the last one.
    fn begin_events(&mut self) -> Result<(), SimError> {
        if self.events.is_empty() {
            return Ok(());
        }
        self.events.state.stopped = false;
        if self.events.state.pending { self.fire_events() } else { Ok(()) }
    }

    /// One step, which ends at `until` or the next scheduled instant at the latest.
    #[inline]
    fn step_towards(&mut self, until: f64) -> Result<StepStats, SimError> {
        let step = self.clock.next_step(&self.steps, until)?;
        if self.events.is_empty() {
            return self.advance_parts(step, false);
        }
        let (step, between) = self.clock.cut(step, &self.steps, self.events.next_instant());
        self.advance_parts(step, between)
    }

    /// Runs until `until` and keeps all recorded rows. The last step is shortened where
    /// `until` asks for it.
    pub fn run(&mut self, until: f64) -> Result<Run, RunFailure> {
        self.run_with(until, RunOptions::default())
    }

    /// Runs until `until`. An interrupted run is no error; its outcome says so.
    pub fn run_with(&mut self, until: f64, options: RunOptions<'_>) -> Result<Run, RunFailure> {
        driver::run(self, until, options)
    }

    /// Back to the initial state and time, with the initial parameters, laws and connections. If
    /// it fails, nothing has changed.
    pub fn reset(&mut self) -> Result<(), SimError> {
        let t0 = self.model.t0();
        if let Some(base) = &self.base {
            self.parts = self.methods.parts(base)?;
        } else {
            let mut before = Memory::to_write();
            self.memory(&mut before)?;
            let parts = [&mut self.parts.first, &mut self.parts.second];
            let done = parts.into_iter().flatten().try_for_each(|part| part.reset(t0));
            if let Err(error) = done {
                let _ = self.memory(&mut Memory::to_read(before.into_bytes())); // it was good before
                return Err(error);
            }
        }
        if let Some(base) = self.base.take() {
            self.model = *base;
        }
        self.switches = Switches::new(&self.model)?;
        self.switches.apply(&mut self.parts);
        if !self.events.is_empty() {
            self.events.reset(&self.model);
        }
        self.laws.reset(&self.model);
        self.laws.begin(&self.parts);
        self.clock = Clock::new(t0);
        (self.totals, self.recorded) = (Totals::default(), 0);
        Ok(())
    }

    /// What all steps so far have done.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// State of a first-order system.
    pub fn x(&self, id: SystemId) -> Result<&[f64], SimError> {
        let range = self.first_range(id)?;
        Ok(self.parts.first.as_ref().map_or(&[], |part| &part.now().get(Quantity::X)[range]))
    }

    /// Configuration of a mechanical system.
    pub fn q(&self, id: SystemId) -> Result<&[f64], SimError> {
        let range = self.place_of_q(id)?;
        Ok(self.parts.second.as_ref().map_or(&[], |part| &part.now().get(Quantity::Q)[range]))
    }

    /// Velocity of a mechanical system.
    pub fn v(&self, id: SystemId) -> Result<&[f64], SimError> {
        let range = self.second_range(id)?;
        Ok(self.parts.second.as_ref().map_or(&[], |part| &part.now().get(Quantity::V)[range]))
    }

    /// Output (gap) of an interaction.
    pub fn y(&self, id: InteractionId) -> &[f64] {
        self.of_interaction(id, Quantity::Y)
    }

    /// Relative velocity of a mechanical interaction; empty for a first-order one.
    pub fn u(&self, id: InteractionId) -> &[f64] {
        self.of_interaction(id, Quantity::U)
    }

    /// Multiplier of an interaction in the last step (mechanics: its impulse).
    pub fn lam(&self, id: InteractionId) -> &[f64] {
        self.of_interaction(id, Quantity::Lam)
    }

    /// Integrity of a bond, from 1 (sound) to 0 (broken); nothing for other interactions.
    pub fn beta(&self, id: InteractionId) -> Option<f64> {
        self.beta_of(id).first().copied()
    }

    /// The same as a row: one number, or none.
    pub fn beta_of(&self, id: InteractionId) -> &[f64] {
        let Some(part) = &self.parts.second else { return &[] };
        match part.places().bonds.get(id.index()) {
            Some(Some(range)) => &part.now().get(Quantity::Beta)[range.clone()],
            _ => &[],
        }
    }

    /// Energies of the mechanical systems, if there are any.
    pub fn ledger(&self) -> Option<Ledger> {
        self.parts.second.as_ref().map(|part| part.now().ledger())
    }

    /// From now on each mode that linear first-order systems are found in becomes one map of the step: steps
    /// in known modes cost less, and a step that finds a new one takes memory.
    pub fn compose_modes(&mut self) {
        if let Some(part) = &mut self.parts.first {
            part.compose_modes();
        }
    }

    /// The contacts that were found in the last step, where the model finds any.
    pub fn contacts(&self) -> Contacts {
        let mut contacts = Contacts::default();
        self.add_contacts(&mut contacts);
        contacts
    }

    /// Replaces the state of a first-order system. The multipliers of its interactions start
    /// anew at zero.
    pub fn set_x(&mut self, id: SystemId, x: &[f64]) -> Result<(), SimError> {
        let range = self.first_range(id)?;
        check_state("x", x, range.len())?;
        if let Some(part) = &mut self.parts.first {
            part.set(&self.model, id, range, [Some(x), None])?;
        }
        self.laws.begin(&self.parts);
        Ok(())
    }

    /// Replaces configuration or velocity, or both, of a mechanical system. The ledger starts
    /// anew, and the multipliers of its interactions at zero.
    pub fn set_qv(
        &mut self,
        id: SystemId,
        q: Option<&[f64]>,
        v: Option<&[f64]>,
    ) -> Result<(), SimError> {
        let range = self.second_range(id)?;
        let sizes = [self.place_of_q(id)?.len(), range.len()];
        for ((what, value), size) in [("q", q), ("v", v)].into_iter().zip(sizes) {
            if let Some(value) = value {
                check_state(what, value, size)?;
            }
        }
        if let Some(part) = &mut self.parts.second {
            part.set(&self.model, id, range, [q, v])?;
        }
        self.laws.begin(&self.parts);
        Ok(())
    }

    /// The inputs `z` of a system or interaction, by name.
    pub fn inputs(&self, name: &str) -> Result<&[f64], SimError> {
        let initial = self.model.inputs(name)?;
        let parts = [&self.parts.first, &self.parts.second].into_iter().flatten();
        Ok(parts.filter_map(|part| part.inputs(name)).next().unwrap_or(initial))
    }

    /// Replaces the inputs `z` of a system or interaction from now on.
    pub fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        let expected = self.model.inputs(name)?.len();
        check_value("set_input", "z", z, expected, "the number of its inputs, those of `z0`")?;
        for part in [&mut self.parts.first, &mut self.parts.second].into_iter().flatten() {
            part.set_inputs(name, z)?;
        }
        Ok(())
    }

    /// Advances all parts, with the switches as they are from now on; commits only if all of them
    /// succeed.
    #[inline]
    fn advance_parts(&mut self, step: Step, between: bool) -> Result<StepStats, SimError> {
        if self.switches.is_empty() {
            return self.advance_with(step, between);
        }
        self.switches.operate(step.start, &mut self.parts)?;
        let done = self.advance_with(step, between);
        if done.is_err() {
            self.switches.turn(&mut self.parts);
        }
        done
    }

    #[inline]
    fn advance_with(&mut self, step: Step, between: bool) -> Result<StepStats, SimError> {
        let (mut iterations, mut residual) = (0, 0.0);
        let mut count = |report: Option<Report>| {
            if let Some(report) = report {
                iterations += report.iterations;
                if !(report.residual <= residual) {
                    residual = report.residual;
                }
            }
        };
        let TimeStepping { model, parts, listening, .. } = self;
        match listening {
            None => {
                for part in parts.all() {
                    count(part.advance(model, step)?);
                }
            }
            Some(listening) => listening.advance(model, parts, step, count)?,
        }
        if let Some(part) = &mut self.parts.first {
            part.commit();
        }
        if let Some(part) = &mut self.parts.second {
            part.commit();
        }
        match between {
            false => self.clock.advance(step, &self.steps),
            true => self.clock.advance_between(step),
        }
        if !self.switches.is_empty() {
            self.laws.switched(step.start, self.switches.changes());
        }
        self.laws.look(step.end, step.h, &self.parts);
        self.h = step.h;
        let penetration = self.parts.second.as_ref().map_or(0.0, |part| part.penetration());
        self.totals.add(iterations, residual, penetration);
        Ok(StepStats { t: step.end, h: step.h, iterations, residual, penetration })
    }

    /// `p = Hᵀ λ` of an interaction in the last step, as its part has it, or with `H` at the end.
    fn push_of(&mut self, interaction: usize) -> Result<(), SimError> {
        let Pushed { q, lam, H, p, .. } = &mut self.pushed;
        p.clear();
        let Some(part) = &self.parts.second else { return Ok(()) };
        if let Some(kept) = part.pushes(interaction) {
            p.extend_from_slice(kept);
            return Ok(());
        }
        let (places, now) = (part.places(), part.now());
        let Some(Some(rows)) = places.interactions.get(interaction) else { return Ok(()) };
        let Some((name, one)) = self.model.interaction_at(interaction) else { return Ok(()) };
        let own = &now.get(Quantity::Lam)[rows.clone()];
        q.clear();
        let (mut width, all) = (0, now.get(Quantity::Q));
        for id in &one.systems {
            let place = places.configurations[id.index()].clone().unwrap_or(0..0);
            q.extend_from_slice(&all[place]);
            width += places.systems[id.index()].as_ref().map_or(0, |range| range.len());
        }
        p.resize(width, 0.0);
        if own.iter().all(|lam| *lam == 0.0) {
            return Ok(());
        }
        lam.clear();
        lam.extend(own.iter().map(|lam| if self.h > 0.0 { lam / self.h } else { 0.0 }));
        let at = At::new(self.clock.t, q, lam).with(part.inputs(name).unwrap_or(one.relation.z0()));
        one.relation.output_dx(at, H).map_err(|error| error.of(name))?;
        for (row, lam) in own.iter().enumerate() {
            p.iter_mut().zip(H.row(row)).for_each(|(p, H)| *p += H * lam);
        }
        Ok(())
    }

    fn check_until(&self, until: f64) -> Result<(), SimError> {
        driver::check_until(Self::NAME, until, self.clock.t, self.clock.round_off())?;
        match self.steps.end_before(until) {
            Some(last) => Err(SimError::NoMoreInstants { last }),
            None => Ok(()),
        }
    }

    fn count_left(&mut self, until: f64) {
        self.left = if self.events.state.stopped { 0 } else { self.steps_ahead(until) };
    }

    /// Steps left before `until`, a shortened last one included.
    pub fn steps_ahead(&self, until: f64) -> usize {
        self.clock.steps_ahead(&self.steps, until)
    }

    fn first_range(&self, id: SystemId) -> Result<std::ops::Range<usize>, SimError> {
        let places = self.parts.first.as_ref().map(|part| part.places());
        self.range(id, places.and_then(|p| p.systems.get(id.index())), "x", Order::First)
    }

    fn second_range(&self, id: SystemId) -> Result<std::ops::Range<usize>, SimError> {
        let places = self.parts.second.as_ref().map(|part| part.places());
        self.range(id, places.and_then(|p| p.systems.get(id.index())), "q, v", Order::Second)
    }

    fn place_of_q(&self, id: SystemId) -> Result<std::ops::Range<usize>, SimError> {
        let places = self.parts.second.as_ref().map(|part| part.places());
        let place = places.and_then(|places| places.configurations.get(id.index()));
        self.range(id, place, "q, v", Order::Second)
    }

    fn range(
        &self,
        id: SystemId,
        place: Option<&Option<std::ops::Range<usize>>>,
        what: &'static str,
        order: Order,
    ) -> Result<std::ops::Range<usize>, SimError> {
        range_of(&self.model, id, place, what, order)
    }

    fn of_interaction(&self, id: InteractionId, quantity: Quantity) -> &[f64] {
        let k = id.index();
        if let Some(part) = &self.parts.first
            && let Some(Some(range)) = part.places().interactions.get(k)
        {
            return part.now().get(quantity).get(range.clone()).unwrap_or(&[]);
        }
        if let Some(part) = &self.parts.second
            && let Some(Some(range)) = part.places().interactions.get(k)
        {
            return part.now().get(quantity).get(range.clone()).unwrap_or(&[]);
        }
        &[]
    }
}

impl Strategy for TimeStepping {
    const NAME: &'static str = "time-stepping";
    const CHECKPOINTS: bool = true;
    const SAMPLES: bool = false;

    fn model(&self) -> &Model {
        &self.model
    }

    #[inline]
    fn t(&self) -> f64 {
        self.clock.t
    }

    fn events(&self) -> &[EventRecord] {
        &self.events.log
    }

    fn take_events(&mut self, since: usize) -> Vec<EventRecord> {
        self.laws.close(self.events.log.get(since..).unwrap_or(&[]))
    }

    fn begin(&mut self, until: f64) -> Result<(), SimError> {
        self.laws.open();
        self.check_until(until)?;
        self.begin_events()?;
        self.count_left(until);
        Ok(())
    }

    fn listen(&mut self, interrupt: Option<&Interrupt>) {
        self.listening = interrupt.map(Listening::new);
    }

    #[inline]
    fn finished(&self, _until: f64) -> bool {
        self.left == 0
    }

    #[inline]
    fn advance(&mut self, until: f64) -> Result<StepStats, SimError> {
        let done = self.step_towards(until)?;
        self.left = self.left.saturating_sub(1);
        Ok(done)
    }

    #[inline]
    fn jumps(&self) -> bool {
        false // velocities jump in the middle of steps, which are not looked at
    }

    #[inline]
    fn react(&mut self, until: f64) -> Result<(), SimError> {
        if self.events.is_empty() {
            return Ok(());
        }
        let done = self.fire_events();
        self.count_left(until); // steps were cut, or the run stopped
        done
    }

    #[inline]
    fn rows(&mut self) -> [&[f64]; 2] {
        self.parts.rows()
    }

    fn add_contacts(&self, contacts: &mut Contacts) {
        if let Some(part) = &self.parts.second {
            part.contacts(contacts);
        }
    }

    fn full_layout(&self) -> Layout {
        self.layout()
    }

    fn add_pushes(&mut self, wanted: &[usize], pushes: &mut Vec<Impulse>) -> Result<(), SimError> {
        // events change laws and parameters, not what is linked with what
        let places = self.pushed.places.take();
        let places = places.unwrap_or_else(|| places_of(&self.model));
        let mut last = None;
        for place in wanted.iter().filter_map(|&k| places.get(k).copied()) {
            if last.replace(place.interaction) != Some(place.interaction) {
                self.push_of(place.interaction)?;
            }
            pushes.push(impulse_on(place, &self.pushed.p));
        }
        self.pushed.places = Some(places);
        Ok(())
    }

    fn rows_at(&mut self, _t: f64) -> [&[f64]; 2] {
        self.parts.rows() // nothing is known inside of a step
    }

    fn steps_left(&self, _until: f64) -> Option<usize> {
        Some(self.left)
    }

    fn take_resumed(&mut self) -> usize {
        std::mem::take(&mut self.recorded)
    }

    fn checkpoint_after(&mut self, steps: usize) -> Result<Checkpoint, SimError> {
        self.recorded = steps;
        let checkpoint = self.checkpoint();
        self.recorded = 0;
        Ok(checkpoint)
    }
}

impl Methods {
    /// The parts of a model.
    fn parts(&self, model: &Model) -> Result<Parts, SimError> {
        let part = |order| choice::part(model, order, &self.integrators, self.newton, &self.solver);
        let (mut first, mut second) = (part(Order::First)?, part(Order::Second)?);
        [&mut first, &mut second].into_iter().flatten().for_each(|part| part.prepare());
        Ok(Parts { first, second })
    }
}

impl Totals {
    #[inline]
    fn add(&mut self, iterations: usize, residual: f64, penetration: f64) {
        self.steps += 1;
        self.iterations += iterations;
        if !(residual <= self.worst_residual) {
            self.worst_residual = residual;
        }
        if penetration > self.worst_penetration {
            self.worst_penetration = penetration;
        }
    }
}

/// The place of a system's state, where it has one of that order.
pub(crate) fn range_of(
    model: &Model,
    id: SystemId,
    place: Option<&Option<std::ops::Range<usize>>>,
    what: &'static str,
    order: Order,
) -> Result<std::ops::Range<usize>, SimError> {
    model.system(id)?;
    if let Some(Some(range)) = place {
        return Ok(range.clone());
    }
    let name = model.systems().nth(id.index()).map(|(name, _)| name.to_string());
    let (system, needs) = (name.unwrap_or_default(), order.name());
    Err(SimError::NoSuchState { system, what, needs })
}

pub(crate) fn check_state(
    what: &'static str,
    value: &[f64],
    expected: usize,
) -> Result<(), SimError> {
    check_value("set_state", what, value, expected, "the size of the system")
}

fn check_value(
    owner: &str,
    what: &'static str,
    value: &[f64],
    expected: usize,
    why: &str,
) -> Result<(), SimError> {
    let owner = owner.to_string();
    if value.len() != expected {
        let why = why.to_string();
        let found = value.len();
        return Err(SimError::Model(ModelError::Length { owner, what, found, expected, why }));
    }
    match value.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let (at, value) = (vec![i], value[i]);
            Err(SimError::Model(ModelError::NotFinite { owner, what, at, value }))
        }
    }
}
