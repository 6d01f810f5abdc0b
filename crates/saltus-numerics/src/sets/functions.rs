//! The equations `f(z, w) = 0` of a block that Newton's method works on, and their steps `ρ`.
//!
//! | function | friction, rolling | cones without shift, Drucker–Prager | boxes | graphs, von Mises, the user's |
//! | --- | --- | --- | --- | --- |
//! | Alart–Curnier | `disks` | natural map | natural map | natural map |
//! | Jean–Moreau | `disks` | natural map | natural map | natural map |
//! | natural map | natural map | natural map | natural map | natural map |
//! | Fischer–Burmeister | `fischer_burmeister`; rolling: `disks` | `fischer_burmeister` | `fischer_burmeister` | natural map |

use super::disks::{self, Radius};
use super::{Set, fischer_burmeister};
use crate::NewtonFunction;

impl Set {
    /// The function, its value and its Jacobians `∂f/∂z`, `∂f/∂w`, row by row.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "a pair, a function, its two Jacobians")]
    pub(crate) fn newton_function(
        &self,
        function: NewtonFunction,
        step: Step,
        z: &[f64],
        w: &[f64],
        f: &mut [f64],
        dz: &mut [f64],
        dw: &mut [f64],
    ) {
        let rho = step.normal;
        let done = match self.equations(function) {
            Equations::Disks(whose) => disks::function(whose, self, step, z, w, f, dz, dw),
            Equations::FischerBurmeister => {
                fischer_burmeister::function(self, rho, z, w, f, dz, dw)
            }
            Equations::NaturalMap => false,
        };
        if !done {
            self.natural_map(rho, z, w, f);
            self.natural_jacobian(rho, z, w, dz, dw);
        }
    }

    /// The value of [`newton_function`](Self::newton_function) alone.
    #[inline]
    pub(crate) fn newton_value(
        &self,
        function: NewtonFunction,
        step: Step,
        z: &[f64],
        w: &[f64],
        f: &mut [f64],
    ) {
        let done = match self.equations(function) {
            Equations::Disks(whose) => disks::value(whose, self, step, z, w, f),
            Equations::FischerBurmeister => fischer_burmeister::value(self, step.normal, z, w, f),
            Equations::NaturalMap => false,
        };
        if !done {
            self.natural_map(step.normal, z, w, f);
        }
    }

    /// A row of the table above.
    #[inline]
    fn equations(&self, function: NewtonFunction) -> Equations {
        match function {
            NewtonFunction::NaturalMap => Equations::NaturalMap,
            NewtonFunction::JeanMoreau => Equations::Disks(Radius::JeanMoreau),
            NewtonFunction::FischerBurmeister
                if self.bounds().is_some() || fischer_burmeister::aperture(self).is_some() =>
            {
                Equations::FischerBurmeister
            }
            NewtonFunction::AlartCurnier | NewtonFunction::FischerBurmeister => {
                Equations::Disks(Radius::AlartCurnier)
            }
        }
    }
}

/// What a function is for one set; where that has no disks, the natural map.
enum Equations {
    Disks(Radius),
    FischerBurmeister,
    NaturalMap,
}

/// The steps `ρ` of the functions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// For the normal component, and for functions with one step.
    pub normal: f64,
    /// For the tangential components.
    pub tangent: f64,
    /// For the rolling components.
    pub rolling: f64,
}

impl Step {
    /// The step of component `i` of a block of `n`.
    pub(crate) fn of_component(&self, set: &Set, i: usize, n: usize) -> f64 {
        let rolls = matches!(set, Set::Rolling2 { .. } | Set::Rolling3 { .. });
        match i {
            0 => self.normal,
            i if rolls && i > n / 2 => self.rolling,
            _ => self.tangent,
        }
    }

    /// The steps for a block of `W`: the inverses of its parts' sizes, where the function has parts; for a
    /// cone's function of Fischer and Burmeister the inverse of its size in the units of that.
    pub(crate) fn of_block(set: &Set, function: NewtonFunction, W: &[f64], n: usize) -> Step {
        let weighted = |range: std::ops::Range<usize>, weight: &dyn Fn(usize) -> f64| {
            let mut size: f64 = 0.0;
            for i in range.clone() {
                let row = range.clone().map(|j| weight(j) * W[i * n + j].abs()).sum::<f64>();
                size = size.max(weight(i) * row);
            }
            if size > 0.0 && size.is_finite() { 1.0 / size } else { 1.0 }
        };
        let size = |range| weighted(range, &|_| 1.0);
        let one = |rho| Step { normal: rho, tangent: rho, rolling: rho };
        if function == NewtonFunction::FischerBurmeister
            && let Some(mu) = fischer_burmeister::aperture(set)
        {
            return one(weighted(0..n, &|i| if i == 0 { 1.0 } else { mu }));
        }
        match set {
            _ if function == NewtonFunction::NaturalMap => one(size(0..n)),
            Set::Coulomb2 { .. } | Set::Coulomb3 { .. } => {
                let tangent = size(1..n);
                Step { normal: size(0..1), tangent, rolling: tangent }
            }
            Set::Rolling2 { .. } | Set::Rolling3 { .. } => {
                let half = n / 2;
                let (tangent, rolling) = (size(1..1 + half), size(1 + half..n));
                Step { normal: size(0..1), tangent, rolling }
            }
            _ => one(size(0..n)),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Numbers between −2 and 2.
    pub fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            4.0 * ((state >> 11) as f64 / (1u64 << 53) as f64) - 2.0
        }
    }

    const FUNCTIONS: [NewtonFunction; 4] = [
        NewtonFunction::AlartCurnier,
        NewtonFunction::JeanMoreau,
        NewtonFunction::NaturalMap,
        NewtonFunction::FischerBurmeister,
    ];

    fn sets() -> Vec<(Set, usize)> {
        let mut sets = vec![
            (Set::Nonnegative, 2),
            (Set::Interval { lower: -0.7, upper: 0.9 }, 2),
            (Set::Free, 1),
            (Set::SecondOrder { mu: 1.0 }, 1),
            (Set::SecondOrder { mu: 0.7 }, 2),
            (Set::SecondOrder { mu: 1.3 }, 7),
            (Set::DruckerPrager { eta: 0.6, theta: 0.2 }, 3),
            (Set::DruckerPrager { eta: 0.0, theta: 0.2 }, 3),
            (Set::Rolling2 { mu: 0.5, mu_r: 0.2 }, 3),
            (Set::Rolling3 { mu: 0.5, mu_r: 0.2 }, 5),
        ];
        for mu in [0.0, 0.3, 1.0, 4.0] {
            sets.extend([(Set::Coulomb2 { mu }, 2), (Set::Coulomb3 { mu }, 3)]);
        }
        sets
    }

    struct Values {
        f: Vec<f64>,
        dz: Vec<f64>,
        dw: Vec<f64>,
    }

    fn all(set: &Set, function: NewtonFunction, step: Step, z: &[f64], w: &[f64]) -> Values {
        let n = z.len();
        let (mut f, mut dz, mut dw) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n * n]);
        set.newton_function(function, step, z, w, &mut f, &mut dz, &mut dw);
        let mut alone = vec![0.0; n];
        set.newton_value(function, step, z, w, &mut alone);
        for (a, b) in f.iter().zip(&alone) {
            assert!((a - b).abs() <= 1e-14 * (1.0 + a.abs()), "{set:?} {function:?} {z:?} {w:?}");
        }
        Values { f, dz, dw }
    }

    /// Steps as a method would take them.
    fn step(
        set: &Set,
        function: NewtonFunction,
        n: usize,
        number: &mut impl FnMut() -> f64,
    ) -> Step {
        let W: Vec<f64> = (0..n * n).map(|_| number()).collect();
        Step::of_block(set, function, &W, n)
    }

    /// A law holds just where the natural map is zero; so does each function vanish just there.
    #[test]
    fn functions_vanish_where_the_natural_map_does() {
        let mut number = numbers(1);
        for (set, n) in sets() {
            for function in FUNCTIONS {
                for _ in 0..2000 {
                    let step = step(&set, function, n, &mut number);
                    let mut x: Vec<f64> = (0..n).map(|_| number()).collect();
                    // a lawful pair from any x: z = P(x), z − x = w + φ(w) e_N
                    let mut z = x.clone();
                    set.project(1.0, &mut z);
                    x.iter_mut().zip(&z).for_each(|(x, z)| *x = z - *x);
                    let mut w = x.clone();
                    w[0] -= set.shift(&x);
                    let mut natural = vec![0.0; n];
                    set.natural_map(1.0, &z, &w, &mut natural);
                    assert!(super::super::norm(&natural) <= 1e-13, "{set:?}");
                    let here = all(&set, function, step, &z, &w);
                    let size = 1.0 + step.normal.max(step.tangent).max(step.rolling);
                    // beside an edge a root of the round-off is left
                    let zero = super::super::norm(&here.f);
                    assert!(zero <= 1e-7 * size, "{set:?} {function:?} {z:?} {w:?}: {zero:e}");
                    // elsewhere
                    let z: Vec<f64> = (0..n).map(|_| number()).collect();
                    let w: Vec<f64> = (0..n).map(|_| number()).collect();
                    set.natural_map(1.0, &z, &w, &mut natural);
                    let wrong = super::super::norm(&natural);
                    let there = super::super::norm(&all(&set, function, step, &z, &w).f);
                    assert!(
                        wrong < 1e-3 || there > 1e-6 * wrong,
                        "{set:?} {function:?} {z:?} {w:?}"
                    );
                }
            }
        }
    }

    /// The Jacobians are those of central differences, but at kinks.
    #[test]
    fn jacobians_are_those_of_differences() {
        let (mut number, h) = (numbers(2), 1e-6);
        for (set, n) in sets() {
            for function in FUNCTIONS {
                let (mut kept, rounds) = (0, 500);
                'rounds: for _ in 0..rounds {
                    let step = step(&set, function, n, &mut number);
                    let z: Vec<f64> = (0..n).map(|_| number()).collect();
                    let w: Vec<f64> = (0..n).map(|_| number()).collect();
                    let here = all(&set, function, step, &z, &w);
                    let mut columns = Vec::new();
                    for j in 0..2 * n {
                        let side = |sign: f64| {
                            let (mut z, mut w) = (z.clone(), w.clone());
                            *(if j < n { &mut z[j] } else { &mut w[j - n] }) += sign * h;
                            all(&set, function, step, &z, &w)
                        };
                        let (plus, minus) = (side(1.0), side(-1.0));
                        let moved = |a: &[f64], b: &[f64]| {
                            a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-3)
                        };
                        if moved(&plus.dz, &minus.dz) || moved(&plus.dw, &minus.dw) {
                            continue 'rounds;
                        }
                        columns.push((plus.f, minus.f));
                    }
                    kept += 1;
                    for (j, (plus, minus)) in columns.iter().enumerate() {
                        for i in 0..n {
                            let difference = (plus[i] - minus[i]) / (2.0 * h);
                            let exact =
                                if j < n { here.dz[i * n + j] } else { here.dw[i * n + j - n] };
                            assert!(
                                (difference - exact).abs() <= 1e-5 * (1.0 + exact.abs()),
                                "{set:?} {function:?} ({i}, {j}): {exact} not {difference} at {z:?} {w:?}"
                            );
                        }
                    }
                }
                assert!(kept > rounds * 3 / 4, "{set:?} {function:?}: {kept}");
            }
        }
    }

    /// At kinks the Jacobian of Fischer's and Burmeister's function is a limit of others.
    #[test]
    fn the_jacobian_at_a_kink_is_a_limit() {
        let set = Set::SecondOrder { mu: 1.0 };
        let function = NewtonFunction::FischerBurmeister;
        let step = Step { normal: 1.0, tangent: 1.0, rolling: 1.0 };
        for (z, w) in [
            ([0.0; 3], [0.0; 3]),
            ([2.0, 2.0, 0.0], [0.0; 3]),
            ([0.0; 3], [5.0, 3.0, 4.0]),
            ([5.0, 3.0, -4.0], [10.0, 6.0, -8.0]),
        ] {
            let here = all(&set, function, step, &z, &w);
            let e = 1e-7;
            let beside =
                all(&set, function, step, &[z[0] + e, z[1], z[2]], &[w[0] + e, w[1], w[2]]);
            for (a, b) in [(&here.dz, &beside.dz), (&here.dw, &beside.dw)] {
                for (a, b) in a.iter().zip(b) {
                    assert!((a - b).abs() <= 1e-6, "{z:?} {w:?}: {here_dz:?}", here_dz = here.dz);
                }
            }
        }
    }
}
