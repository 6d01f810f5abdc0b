//! What can go wrong while a model is prepared or run.

use saltus_linalg::Singular;
use saltus_model::{ModelError, OperatorError};
use saltus_numerics::NumericsError;
use thiserror::Error;

/// A simulation that cannot start, or a step that failed. A failed step changes nothing.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimError {
    /// The model has no system.
    #[error("the model `{title}` has no system; add one before simulating it")]
    EmptyModel {
        /// Title of the model.
        title: String,
    },
    /// A setting outside its range.
    #[error("{owner}: setting `{field}` = {value} is outside {allowed}")]
    Setting {
        /// The integrator or strategy.
        owner: &'static str,
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A graph that the step makes too steep or too flat to tell its points apart.
    #[error("{owner}: {why}")]
    Graph {
        /// The interaction.
        owner: String,
        /// What is wrong.
        why: String,
    },
    /// Newton's method did not converge.
    #[error(
        "the step to t = {time}: Newton's method stopped after {iterations} iterations with a residual of {residual:.1e}, tolerance {tol:.1e}; try a smaller step, or more iterations"
    )]
    Newton {
        /// End of the step.
        time: f64,
        /// Iterations done.
        iterations: usize,
        /// Residual relative to its terms.
        residual: f64,
        /// The tolerance.
        tol: f64,
    },
    /// Instants that do not increase.
    #[error(
        "the instants of `h` must increase from t0: entry {index} is {found}, the one before it {before}"
    )]
    Instants {
        /// The offending entry.
        index: usize,
        /// Its value.
        found: f64,
        /// The entry before it, or `t0`.
        before: f64,
    },
    /// An empty list of instants.
    #[error("`h` has no instant after t0; give a step, or the instants at which steps end")]
    NoInstants,
    /// A step asked for beyond the last given instant.
    #[error("`h` gives instants up to t = {last}; there is no step beyond it")]
    NoMoreInstants {
        /// The last instant.
        last: f64,
    },
    /// An end before the current time.
    #[error("until = {until} lies before the current time t = {time}")]
    Until {
        /// The end asked for.
        until: f64,
        /// The current time.
        time: f64,
    },
    /// An integrator for systems that the model does not have.
    #[error("the integrator {name} is for {order} systems, and the model has none")]
    IdleIntegrator {
        /// The integrator.
        name: &'static str,
        /// The order it serves.
        order: &'static str,
    },
    /// A system that the integrators cannot advance.
    #[error("system `{system}`: {what} depends on {on}, which {integrator} cannot handle")]
    Unsupported {
        /// The system.
        system: String,
        /// The operator.
        what: &'static str,
        /// What it depends on.
        on: &'static str,
        /// The integrator.
        integrator: &'static str,
    },
    /// A system or an interaction that an integrator is not made for.
    #[error("{owner}: {integrator} needs {what} to be {needs}")]
    Unsuited {
        /// The integrator.
        integrator: &'static str,
        /// The system or interaction.
        owner: String,
        /// What of it.
        what: &'static str,
        /// What it would have to be.
        needs: &'static str,
    },
    /// A configuration that a system cannot have.
    #[error("`{system}`: {why}")]
    Configuration {
        /// The system.
        system: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An impact on several contacts that does not end.
    #[error("at t = {time}: the impact on {contacts} contacts has not ended after {steps} steps")]
    Impact {
        /// Time of the impact.
        time: f64,
        /// Contacts that take part.
        contacts: usize,
        /// Steps of its integration.
        steps: usize,
    },
    /// Two integrators for systems of one order.
    #[error("two integrators for {order} systems were given; one is enough")]
    Integrators {
        /// The order.
        order: &'static str,
    },
    /// Two integrators that name one system.
    #[error("system `{system}` has two integrators; one is enough")]
    TwoIntegrators {
        /// The system.
        system: String,
    },
    /// An integrator that names a system of the other order.
    #[error("{integrator} is for {order} systems, and `{system}` is none")]
    OtherOrder {
        /// The integrator.
        integrator: &'static str,
        /// The system.
        system: String,
        /// The order it serves.
        order: &'static str,
    },
    /// An interaction of systems with schemes that cannot be solved together.
    #[error(
        "interaction `{interaction}` links `{}`, which has {}, and `{}`, which has {}: systems of an interaction need the same scheme with the same settings; of moreau-jean, theta may differ", systems[0], integrators[0], systems[1], integrators[1]
    )]
    Schemes {
        /// The interaction.
        interaction: String,
        /// Its systems.
        systems: [String; 2],
        /// Their integrators.
        integrators: [&'static str; 2],
    },
    /// The iteration matrix of a system cannot be inverted.
    #[error("system `{system}`: the iteration matrix {matrix} is singular for h = {h}: {source}")]
    Iteration {
        /// The system.
        system: String,
        /// Its formula.
        matrix: &'static str,
        /// The step.
        h: f64,
        /// Where the factorization stopped.
        source: Singular,
    },
    /// The problem of a step was not solved.
    #[error(
        "t = {time}: the step's problem was not solved: {why} (residual {residual:e}, worst at {worst})"
    )]
    Unsolved {
        /// End of the step.
        time: f64,
        /// How the solver ended.
        why: String,
        /// The verified residual.
        residual: f64,
        /// The interaction with the largest share of it.
        worst: String,
    },
    /// It was asked to stop before the step was done; nothing has changed. A run that ends so is
    /// [interrupted](crate::Outcome::Interrupted), and has not failed.
    #[error("interrupted in the step to t = {time}, which has changed nothing")]
    Interrupted {
        /// End of the step.
        time: f64,
    },
    /// No step is short enough.
    #[error(
        "t = {time}: even a step of {h:e} does not reach the tolerance; the model may have no solution beyond, or not be smooth where it says so"
    )]
    TooShort {
        /// Where the step begins.
        time: f64,
        /// Its length.
        h: f64,
    },
    /// Events that follow each other without end, at one instant.
    #[error("t = {time}: the events of interaction `{interaction}` do not settle at this instant")]
    Unsettled {
        /// The instant.
        time: f64,
        /// The interaction.
        interaction: String,
    },
    /// A switch that opens and closes without end, at one instant.
    #[error(
        "t = {time}: the switch `{interaction}` opens and closes without end at this instant; give it a hysteresis, or take steps of one length"
    )]
    Chatters {
        /// The instant.
        time: f64,
        /// The switch.
        interaction: String,
    },
    /// The new state, or an output, is not finite.
    #[error("t = {time}: {what} is no longer finite")]
    NotFinite {
        /// End of the step.
        time: f64,
        /// The state of a system, or the output of an interaction.
        what: String,
    },
    /// A state that the system does not have.
    #[error("system `{system}` has no {what}: only {needs} systems have it")]
    NoSuchState {
        /// The system.
        system: String,
        /// What was asked for.
        what: &'static str,
        /// The order of systems that have it.
        needs: &'static str,
    },
    /// A signal that cannot be recorded.
    #[error(transparent)]
    Signal(#[from] crate::SignalError),
    /// A name that the model does not have.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A function given by the user failed.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The solver cannot work on the problem.
    #[error(transparent)]
    Numerics(#[from] NumericsError),
    /// An event could not happen; it changed nothing, and is tried again before the next step.
    #[error("event `{event}` at t = {time}: {source}")]
    Event {
        /// The event.
        event: String,
        /// The time.
        time: f64,
        /// Why not.
        source: Box<SimError>,
    },
    /// A condition or new value of an event that is not a number.
    #[error("`{what}` is {value}, expected a finite number")]
    EventValue {
        /// What the formula is for.
        what: String,
        /// Its value.
        value: f64,
    },
    /// Events that make one another happen without end.
    #[error(
        "t = {time}: events make one another happen without end; the last one was `{event}` (after {rounds} rounds)"
    )]
    EventLoop {
        /// The time.
        time: f64,
        /// The last event.
        event: String,
        /// Rounds of events.
        rounds: usize,
    },
    /// A state of events that belongs to another model.
    #[error("the state of events has {found} entries for {what}, the model has {expected}")]
    EventState {
        /// Of what.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries that the model has.
        expected: usize,
    },
    /// A checkpoint that cannot be used here.
    #[error(transparent)]
    Checkpoint(#[from] crate::CheckpointError),
    /// A strategy that cannot be saved on its way.
    #[error("{strategy} runs cannot be saved and taken up again; leave the checkpoints away")]
    NoCheckpoint {
        /// The strategy.
        strategy: &'static str,
    },
    /// A strategy that knows the state at the ends of its steps alone.
    #[error(
        "{strategy} runs record at the ends of their steps; instead of `samples`, choose them with `every` or `h`"
    )]
    NoSamples {
        /// The strategy.
        strategy: &'static str,
    },
    /// Samples that do not increase, or lie outside of the run.
    #[error(
        "`samples` must increase from the current time to until = {until}: entry {index} is {found}, and comes after {from}"
    )]
    Samples {
        /// The offending entry.
        index: usize,
        /// Its value.
        found: f64,
        /// The entry before it, or the current time.
        from: f64,
        /// The end of the run.
        until: f64,
    },
    /// Recorded rows could not be stored.
    #[error("recording failed: {0}")]
    Record(String),
}
