//! When a function is compiled to machine code: when asked for, or once it has been evaluated so often that compiling
//! pays. Until then, and where there is no compiler, it runs on the tape.

use crate::graph::{Graph, NodeId};
#[cfg(feature = "jit")]
use crate::machine::Routine;
#[cfg(feature = "jit")]
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// Evaluations on the tape that take about as long as compiling.
#[cfg(feature = "jit")]
const OFTEN: u32 = 10_000;

/// The machine code of a function, shared by its clones. Has no part in what a function is: all are equal.
#[cfg(feature = "jit")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Tier(Arc<State>);

#[cfg(feature = "jit")]
#[derive(Debug, Default)]
struct State {
    evaluations: AtomicU32, // on the tape
    routine: OnceLock<Option<Routine>>,
}

#[cfg(feature = "jit")]
impl Tier {
    pub(crate) fn compile(&self, graph: &Graph, outputs: &[NodeId]) {
        self.0.routine.get_or_init(|| Routine::compile(graph, outputs));
    }

    /// Evaluates in machine code; the answer is no where there is none, or not yet.
    #[inline]
    pub(crate) fn eval(
        &self,
        graph: &Graph,
        outputs: &[NodeId],
        values: &[f64],
        out: &mut [f64],
    ) -> bool {
        match self.0.routine.get() {
            Some(Some(routine)) => {
                routine.eval(values, out);
                true
            }
            Some(None) => false,
            None => {
                self.count(graph, outputs);
                false
            }
        }
    }

    /// Threads may lose each other's counts, which does not matter.
    #[inline]
    fn count(&self, graph: &Graph, outputs: &[NodeId]) {
        let count = self.0.evaluations.load(Ordering::Relaxed) + 1;
        self.0.evaluations.store(count, Ordering::Relaxed);
        if count == OFTEN {
            self.compile(graph, outputs);
        }
    }
}

/// Without machine code.
#[cfg(not(feature = "jit"))]
#[derive(Debug, Clone, Default)]
pub(crate) struct Tier(());

#[cfg(not(feature = "jit"))]
impl Tier {
    pub(crate) fn compile(&self, _: &Graph, _: &[NodeId]) {}

    #[inline]
    pub(crate) fn eval(&self, _: &Graph, _: &[NodeId], _: &[f64], _: &mut [f64]) -> bool {
        false
    }
}

impl PartialEq for Tier {
    fn eq(&self, _: &Tier) -> bool {
        true
    }
}
