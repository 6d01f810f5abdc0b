//! Periodic orbits against closed forms.

use saltus_analysis::periodic::{Shooting, ShootingError, find};
use std::convert::Infallible;

/// `x⁺ = A x + b` with a slow mode: Newton finds `(I − A)⁻¹ b` at once, plain periods would take
/// thousands.
#[test]
fn a_linear_map_is_solved_in_one_step() {
    let mut count = 0;
    let period = |x: &[f64], end: &mut [f64]| -> Result<(), Infallible> {
        count += 1;
        end[0] = 0.9999 * x[0] + 0.1 * x[1] + 1e-4;
        end[1] = 0.5 * x[1] + 1.0;
        Ok(())
    };
    let orbit = find(&[0.0, 0.0], Shooting::default(), period).unwrap();
    assert!((orbit.state[1] - 2.0).abs() < 1e-8, "{orbit:?}");
    assert!((orbit.state[0] - 2001.0).abs() < 1e-3, "{orbit:?}");
    assert!(orbit.iterations <= 3 && orbit.periods == count, "{orbit:?}");
}

/// A piecewise-linear map with a kink between start and orbit: `x⁺ = max(0.5 x, 3 − 2 x)`… its
/// fixed points are 1 on the second piece, which is unstable, and none on the first.
#[test]
fn an_unstable_orbit_is_found() {
    let period = |x: &[f64], end: &mut [f64]| -> Result<(), Infallible> {
        end[0] = (0.5 * x[0]).max(3.0 - 2.0 * x[0]);
        Ok(())
    };
    let settings = Shooting { settle: 0, ..Shooting::default() };
    let orbit = find(&[1.1], settings, period).unwrap();
    assert!((orbit.state[0] - 1.0).abs() < 1e-9, "{orbit:?}");
}

#[test]
fn a_map_without_an_orbit_says_so() {
    let period = |x: &[f64], end: &mut [f64]| -> Result<(), Infallible> {
        end[0] = x[0] + 1.0;
        Ok(())
    };
    let settings = Shooting { max_periods: 100, ..Shooting::default() };
    let error = find(&[0.0], settings, period).unwrap_err();
    assert!(matches!(error, ShootingError::NotFound { .. }), "{error:?}");

    let period = |_: &[f64], end: &mut [f64]| -> Result<(), Infallible> {
        end[0] = f64::NAN;
        Ok(())
    };
    assert_eq!(find(&[0.0], settings, period), Err(ShootingError::NotFinite));

    let failing = |_: &[f64], _: &mut [f64]| Err("stop");
    assert_eq!(find(&[0.0], settings, failing), Err(ShootingError::Period("stop")));
}

#[test]
fn the_origin_is_an_orbit_too() {
    let period = |x: &[f64], end: &mut [f64]| -> Result<(), Infallible> {
        end.copy_from_slice(x);
        Ok(())
    };
    let orbit = find(&[0.0, 0.0], Shooting::default(), period).unwrap();
    assert_eq!((orbit.residual, orbit.iterations), (0.0, 0));
}
