//! A law of the user's own as a set of the problem.
//!
//! ```text
//! P_{hK}(x) = h P_K(x/h),    P_{hK}′(x) = P_K′(x/h)                                       (1)
//! ```

use saltus_model::SharedLaw;
use saltus_numerics::UserSet;

/// Components up to which no memory is taken from the heap.
const FEW: usize = 16;

/// The set `h K`.
#[derive(Debug)]
pub(super) struct Scaled {
    pub law: SharedLaw,
    pub h: f64,
}

impl UserSet for Scaled {
    fn size(&self) -> usize {
        self.law.0.size()
    }

    fn project(&self, x: &mut [f64]) {
        let Scaled { law, h } = self;
        if *h == 1.0 {
            return law.0.project(x);
        }
        let (mut small, mut long) = ([0.0; 2 * FEW], Vec::new());
        let buffer = match small.get_mut(..2 * x.len()) {
            Some(buffer) => buffer,
            None => {
                long.resize(2 * x.len(), 0.0);
                &mut long[..]
            }
        };
        let (scaled, before) = buffer.split_at_mut(x.len());
        scaled.iter_mut().zip(&*x).for_each(|(scaled, x)| *scaled = x / h);
        before.copy_from_slice(scaled);
        law.0.project(scaled);
        // what is inside stays what it is
        if *scaled != *before {
            x.iter_mut().zip(scaled).for_each(|(x, scaled)| *x = h * *scaled);
        }
    }

    fn jacobian(&self, x: &[f64], jacobian: &mut [f64]) {
        let scaled: Vec<f64> = x.iter().map(|x| x / self.h).collect();
        if !self.law.0.jacobian(&scaled, jacobian) {
            Plain(self).jacobian(x, jacobian);
        }
    }
}

/// The same without a Jacobian of its own.
#[derive(Debug)]
struct Plain<'a>(&'a Scaled);

impl UserSet for Plain<'_> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn project(&self, x: &mut [f64]) {
        self.0.project(x);
    }
}
