use std::f64::consts::{PI, TAU};

use super::*;

/// Signals by name over common times.
struct Table {
    times: Vec<f64>,
    columns: Vec<(&'static str, Vec<f64>)>,
}

type Named = (&'static str, fn(f64) -> f64);

impl Table {
    fn new(times: Vec<f64>, of: &[Named]) -> Table {
        let column = |of: fn(f64) -> f64| times.iter().map(|&t| of(t)).collect();
        let columns = of.iter().map(|&(name, of)| (name, column(of))).collect();
        Table { times, columns }
    }
}

impl Waves for Table {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn signal(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        let found = self.columns.iter().find(|(known, _)| *known == name);
        found.map(|(_, values)| Cow::Borrowed(values.as_slice()))
    }
}

fn signal(text: &str) -> Signal {
    Signal::parse(text).unwrap()
}

fn value(quantity: Quantity, waves: &impl Waves) -> Result<f64, MeasureError> {
    let name = "x".to_owned();
    measure(&[Measure { name, quantity, place: None }], waves).remove(0).1
}

fn statistic(statistic: Statistic, of: &str, from: f64, to: f64) -> Quantity {
    Quantity::Statistic { statistic, signal: signal(of), from, to }
}

fn crossing(left: &str, right: &str, edge: Edge, count: Option<usize>) -> Crossing {
    let (from, to) = (f64::NEG_INFINITY, f64::INFINITY);
    Crossing { left: signal(left), right: signal(right), edge, count, from, to }
}

fn uneven(count: usize, end: f64) -> Vec<f64> {
    // points that crowd towards the beginning, none of them on a bound used below
    (0..=count).map(|k| end * (k as f64 / count as f64).powf(1.3)).collect()
}

#[track_caller]
fn close(found: Result<f64, MeasureError>, expected: f64, tolerance: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() <= tolerance, "{found}, expected {expected}");
}

#[test]
fn exact_for_straight_lines() {
    let waves = Table::new(uneven(37, 10.0), &[("v(a)", |t| 3.0 * t - 4.0)]);
    let over = |kind| value(statistic(kind, "v(a)", 1.234, 8.765), &waves);
    let (a, b) = (3.0 * 1.234 - 4.0, 3.0 * 8.765 - 4.0);
    close(over(Statistic::Average), (a + b) / 2.0, 1e-13);
    close(over(Statistic::Integral), (a + b) / 2.0 * (8.765 - 1.234), 1e-12);
    close(over(Statistic::RootMeanSquare), ((a * a + a * b + b * b) / 3.0f64).sqrt(), 1e-12);
    close(over(Statistic::Maximum), b, 1e-13);
    close(over(Statistic::Minimum), a, 1e-13);
    close(over(Statistic::PeakToPeak), b - a, 1e-13);
    close(over(Statistic::TimeOfMaximum), 8.765, 1e-15);
    close(over(Statistic::TimeOfMinimum), 1.234, 1e-15);
}

#[test]
fn second_order_for_curves() {
    let rms = |count| {
        let waves = Table::new(uneven(count, 1.0), &[("v(a)", |t| (TAU * t).sin())]);
        value(statistic(Statistic::RootMeanSquare, "v(a)", 0.0, 1.0), &waves).unwrap()
    };
    let error = |count| (rms(count) - 0.5f64.sqrt()).abs();
    let order = (error(200) / error(400)).log2();
    assert!((order - 2.0).abs() < 0.05, "{order}");
}

#[test]
fn jumps_count_once() {
    let waves = Table {
        times: vec![0.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0],
        columns: vec![("v(a)", vec![0.0, 0.0, 5.0, 5.0, 5.0, 0.0, 0.0])],
    };
    close(value(statistic(Statistic::Average, "v(a)", 0.0, 4.0), &waves), 2.5, 1e-15);
    close(value(statistic(Statistic::Maximum, "v(a)", 0.0, 1.0), &waves), 5.0, 0.0);
    close(value(statistic(Statistic::Maximum, "v(a)", 0.0, 0.9), &waves), 0.0, 0.0);
    let time = |edge, count| {
        value(Quantity::Time(Instant::When(crossing("v(a)", "2.5", edge, count))), &waves)
    };
    close(time(Edge::Rise, Some(1)), 1.0, 0.0);
    close(time(Edge::Fall, Some(1)), 3.0, 0.0);
    close(time(Edge::Cross, Some(2)), 3.0, 0.0);
    close(time(Edge::Cross, None), 3.0, 0.0);
    assert_eq!(
        time(Edge::Rise, Some(2)).unwrap_err().to_string(),
        "`v(a)` meets `2.5` 1 times from 0 s to 4 s, expected at least 2"
    );
    let at = |at| value(Quantity::Value { signal: signal("v(a)"), at: Instant::At(at) }, &waves);
    close(at(1.0), 5.0, 0.0);
    close(at(4.0), 0.0, 0.0);
    close(at(4.0 + 1e-12), 0.0, 0.0);
    close(at(-1e-12), 0.0, 0.0);
    assert_eq!(
        at(4.1).unwrap_err().to_string(),
        "the run from 0 s to 4 s has no part from 4.1 s to 4.1 s"
    );
}

#[test]
fn crossings_of_a_sine() {
    let times: Vec<f64> = (0..=10_000).map(|k| k as f64 / 10_000.0 * 3.0).collect();
    let waves = Table::new(times, &[("v(s)", |t| (TAU * t).sin()), ("v(c)", |t| (TAU * t).cos())]);
    let time = |quantity| value(Quantity::Time(Instant::When(quantity)), &waves);
    close(time(crossing("v(s)", "0.5", Edge::Rise, Some(1))), 1.0 / 12.0, 1e-7);
    close(time(crossing("v(s)", "0.5", Edge::Fall, Some(2))), 1.0 + 5.0 / 12.0, 1e-7);
    close(time(crossing("v(s)", "v(c)", Edge::Cross, Some(3))), 1.0 + 1.0 / 8.0, 1e-7);
    let delayed = Crossing { from: 2.0, ..crossing("v(s)", "0.5", Edge::Rise, Some(1)) };
    close(time(delayed), 2.0 + 1.0 / 12.0, 1e-7);
    let slope = Quantity::Slope { signal: signal("v(s)"), at: Instant::At(1.0 / 3.0) };
    // a piece has the slope of its middle: off by at most h/2 |y''|
    close(value(slope, &waves), TAU * (TAU / 3.0).cos(), 1.5e-4 * TAU * TAU);
    let product = statistic(Statistic::Average, "v(s)*v(s) + v(c)^2", 0.0, 3.0);
    close(value(product, &waves), 1.0, 1e-12);
    let apart = statistic(Statistic::Maximum, "v(s, c)", 0.0, 3.0);
    close(value(apart, &waves), 2f64.sqrt(), 1e-6);
}

#[test]
fn errors() {
    let waves = Table::new(vec![0.0, 1.0], &[("v(a)", |t| t)]);
    let unknown = value(statistic(Statistic::Average, "v(b)", 0.0, 1.0), &waves);
    assert_eq!(unknown.unwrap_err().to_string(), "there is no signal `v(b)`");
    let empty = value(statistic(Statistic::Average, "v(a)", 1.0, 1.0), &waves);
    assert!(matches!(empty, Err(MeasureError::EmptyInterval { .. })));
    let outside = value(statistic(Statistic::Maximum, "v(a)", 2.0, 3.0), &waves);
    assert!(matches!(outside, Err(MeasureError::EmptyInterval { .. })));
    let later = value(Quantity::Formula(signal("2*m(y)")), &waves);
    assert_eq!(later.unwrap_err().to_string(), "measure `y` has no value");
    let none = Table { times: Vec::new(), columns: vec![("v(a)", Vec::new())] };
    let none = value(statistic(Statistic::Average, "v(a)", 0.0, 1.0), &none);
    assert!(matches!(none, Err(MeasureError::Length { .. })));
}

#[test]
fn spectrum_of_straight_lines_is_exact() {
    // a triangle of amplitude 1: harmonics 8/π² (1, 0, −1/9, 0, 1/25, …) of sines, and a mean of 0.25
    let times: Vec<f64> = (0..=12).map(|k| k as f64 / 4.0).collect();
    let waves = Table::new(
        times,
        &[("v(a)", |t| match (4.0 * t).round() as i64 % 4 {
            1 => 1.25,
            3 => -0.75,
            _ => 0.25,
        })],
    );
    let four = Fourier { frequency: 1.0, signals: vec![signal("v(a)")] };
    let spectrum = four.spectra(&waves).remove(0).unwrap();
    assert!((spectrum.mean - 0.25).abs() < 1e-14);
    let expected = |k: usize| if k % 2 == 1 { 8.0 / (PI * k as f64).powi(2) } else { 0.0 };
    for (k, harmonic) in spectrum.harmonics.iter().enumerate() {
        assert!((harmonic.magnitude - expected(k + 1)).abs() < 1e-13, "{k}: {harmonic:?}");
    }
    assert!(spectrum.harmonics[0].phase.abs() < 1e-10);
    assert!((spectrum.harmonics[2].phase.abs() - 180.0).abs() < 1e-9);
    let others: f64 = (2..=9).map(|k| expected(k).powi(2)).sum();
    assert!((spectrum.distortion - others.sqrt() / expected(1)).abs() < 1e-13);
}

#[test]
fn spectrum_of_a_square_and_of_a_shifted_sine() {
    let waves = Table {
        times: vec![0.0, 0.5, 0.5, 1.0],
        columns: vec![("v(a)", vec![1.0, 1.0, -1.0, -1.0])],
    };
    let four = Fourier { frequency: 1.0, signals: vec![signal("v(a)")] };
    let spectrum = four.spectra(&waves).remove(0).unwrap();
    for (k, harmonic) in spectrum.harmonics.iter().enumerate() {
        let expected = if k % 2 == 0 { 4.0 / (PI * (k + 1) as f64) } else { 0.0 };
        assert!((harmonic.magnitude - expected).abs() < 1e-14, "{k}: {harmonic:?}");
    }

    let times: Vec<f64> = (0..=20_000).map(|k| k as f64 / 20_000.0 * 0.1).collect();
    let waves = Table::new(times, &[("i(L1)", |t| 2.0 + 3.0 * (TAU * 50.0 * t + 0.5).sin())]);
    let four = Fourier { frequency: 50.0, signals: vec![signal("i(L1)")] };
    let spectrum = four.spectra(&waves).remove(0).unwrap();
    assert!((spectrum.mean - 2.0).abs() < 1e-7);
    assert!((spectrum.harmonics[0].magnitude - 3.0).abs() < 1e-6);
    assert!((spectrum.harmonics[0].phase - 0.5f64.to_degrees()).abs() < 1e-6);
    assert!(spectrum.distortion < 1e-6);

    let short = Fourier { frequency: 1.0, signals: vec![signal("i(L1)")] };
    assert!(matches!(short.spectra(&waves).remove(0), Err(MeasureError::EmptyInterval { .. })));
}
