//! Forces and moments on rigid bodies: an operator, the frame it speaks in, and its Jacobians.

use crate::{Argument, At, Dependence, Jacobian, Operator, OperatorError};

/// The frame that the components of a force or moment are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// That of the world.
    World,
    /// That of the body, which turns with it.
    Body,
}

impl Frame {
    /// The name in model files and Python.
    pub fn name(self) -> &'static str {
        match self {
            Frame::World => "world",
            Frame::Body => "body",
        }
    }

    /// The frame of that name.
    pub fn from_name(name: &str) -> Option<Frame> {
        [Frame::World, Frame::Body].into_iter().find(|frame| frame.name() == name)
    }
}

/// Of `t`, `q`, `v` and inputs: `N` components, on a body with `Q` components of `q` and `V` of `v`.
#[derive(Debug, Clone)]
pub(super) struct Load<const N: usize, const Q: usize, const V: usize> {
    names: [&'static str; 3], // of itself and its Jacobians
    pub value: Operator,
    pub frame: Frame,
    dq: Operator,
    dv: Operator,
}

impl<const N: usize, const Q: usize, const V: usize> Load<N, Q, V> {
    pub fn new(names: [&'static str; 3], value: &Operator, frame: Frame) -> Self {
        let dq = value.derivative(Argument::First, Q);
        let dv = value.derivative(Argument::Second, V);
        Load { names, value: value.clone(), frame, dq, dv }
    }

    /// Its components in its own frame.
    #[inline]
    pub fn eval(&self, at: At<'_>) -> Result<[f64; N], OperatorError> {
        let mut out = [0.0; N];
        self.value.eval(at, self.names[0], &mut out)?;
        Ok(out)
    }

    /// Its slopes in the components of `q`, where it has any.
    #[inline]
    pub fn by_q(&self, at: At<'_>) -> Result<Option<[[f64; Q]; N]>, OperatorError> {
        if self.dq.is_zero() {
            return Ok(None);
        }
        let mut out = [[0.0; Q]; N];
        self.dq.eval(at, self.names[1], out.as_flattened_mut())?;
        Ok(Some(out))
    }

    /// Its slopes in the components of `v`, where it has any.
    #[inline]
    pub fn by_v(&self, at: At<'_>) -> Result<Option<[[f64; V]; N]>, OperatorError> {
        if self.dv.is_zero() {
            return Ok(None);
        }
        let mut out = [[0.0; V]; N];
        self.dv.eval(at, self.names[2], out.as_flattened_mut())?;
        Ok(Some(out))
    }

    pub fn dependence(&self) -> Dependence {
        Dependence::of(&self.value)
    }

    pub fn operators(&self) -> [&Operator; 3] {
        [&self.value, &self.dq, &self.dv]
    }

    pub fn jacobians(&self) -> [Jacobian<'_>; 2] {
        let (function, given) = (&self.value, false);
        let [_, dq, dv] = self.names;
        [
            Jacobian { name: dq, given, value: &self.dq, function, by: Argument::First },
            Jacobian { name: dv, given, value: &self.dv, function, by: Argument::Second },
        ]
    }
}
