//! Netlists of `examples/` against closed forms, and against figures of their own that must not
//! change unnoticed.

use saltus::circuits::measure::MeasureError;
use saltus::circuits::{Circuit, Deck, Device, Method, Watch};
use saltus::sim::Outcome;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn deck(file: &str) -> Deck {
    let deck = Deck::read(examples().join(file)).unwrap_or_else(|error| panic!("{error}"));
    assert!(deck.warnings().is_empty(), "{file}: {:?}", deck.warnings());
    deck
}

/// Runs a netlist as its `.tran` says, and gives what it measures.
struct Measured(Vec<(String, Result<f64, MeasureError>)>);

impl Measured {
    fn of(deck: &Deck) -> Measured {
        Measured::with(deck, None, Method::Fixed)
    }

    fn with(deck: &Deck, h: Option<f64>, method: Method) -> Measured {
        let mut plan = deck.plan(h, None).unwrap_or_else(|error| panic!("{error}"));
        plan.transient.method = method;
        let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
        assert_eq!(run.stats.outcome, Outcome::Complete);
        assert!(run.stats.worst_residual <= 1e-8, "{:e}", run.stats.worst_residual);
        Measured(plan.measure(&run))
    }

    #[track_caller]
    fn get(&self, name: &str) -> f64 {
        let (_, value) = self.0.iter().find(|(found, _)| found == name).unwrap();
        *value.as_ref().unwrap()
    }

    #[track_caller]
    fn near(&self, name: &str, expected: f64, tolerance: f64) {
        let value = self.get(name);
        let relative = (value - expected).abs() / expected.abs();
        println!("{name} = {value:.9e}, expected {expected:.9e}, off by {relative:.1e}");
        assert!(relative <= tolerance, "{name} = {value}, expected {expected} ± {tolerance:e}");
    }
}

fn run(file: &str) -> Measured {
    Measured::of(&deck(file))
}

fn has_switches(circuit: &Circuit) -> bool {
    circuit.components.iter().any(|component| matches!(component.device, Device::Switch { .. }))
}

/// Every netlist is read without a warning and gives a circuit; those without switches give a model.
#[test]
fn every_netlist_is_read() {
    let mut count = 0;
    for folder in std::fs::read_dir(examples()).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "cir") {
                continue;
            }
            let deck = Deck::read(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(deck.warnings().is_empty(), "{:?}", deck.warnings());
            let circuit = deck.circuit().unwrap_or_else(|error| panic!("{error}"));
            assert!(!deck.analysis().unwrap().measures.is_empty(), "{}", path.display());
            if !has_switches(&circuit) {
                deck.plan(None, None).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
            count += 1;
        }
    }
    assert_eq!(count, 16);
}

/// A tank with R behind the bridge, as the linear circuit that it is: v(t) and the mean of |v|.
#[test]
fn the_tank_cannot_tell_the_bridge_from_the_resistor() {
    let (r, l, c, until) = (1e3, 1e-2, 1e-6, 5e-3);
    let damping: f64 = 1.0 / (2.0 * r * c);
    let omega = (1.0 / (l * c) - damping * damping).sqrt();
    let v = |t: f64| {
        let (sin, cos) = (omega * t).sin_cos();
        10.0 * (-damping * t).exp() * (cos - damping / omega * sin)
    };
    let pieces = 1_000_000;
    let h = until / f64::from(pieces);
    let mean = (0..pieces).map(|k| v((f64::from(k) + 0.5) * h).abs()).sum::<f64>() * h / until;
    // from event to event the tank is exact, and the mean up to straight lines between the samples
    let deck = deck("diode-bridge/bridge.cir");
    let exact = Measured::with(&deck, None, Method::Exact);
    exact.near("mean", mean, 1e-6);
    exact.near("tank", v(until), 1e-9);

    // by steps the errors are of first order: they halve with h, and extrapolation takes them away
    let [coarse, fine] = [1e-6, 5e-7].map(|h| Measured::with(&deck, Some(h), Method::Fixed));
    for (name, exact) in [("mean", mean), ("tank", v(until))] {
        let (coarse, fine) = (coarse.get(name), fine.get(name));
        let ratio = (coarse - exact) / (fine - exact);
        assert!((1.9..2.2).contains(&ratio), "{name}: {coarse}, {fine}, ratio {ratio}");
        let extrapolated = 2.0 * fine - coarse;
        assert!((extrapolated - exact).abs() < 1e-4 * exact.abs(), "{name}: {extrapolated}");
    }
}

/// C₁ and C₂ share their charge at once: 10 V · C₁/(C₁ + C₂).
#[test]
fn capacitors_behind_ideal_diodes_share_their_charge() {
    let measured = run("diode-bridge/filter.cir");
    measured.near("vmax", 10.0 / 1.3, 1e-3);
    measured.near("tank", -6.525246, 1e-6);
}

/// v = 1.8 V, and the ripple (1 − v/V) v T/L of one switching a period.
#[test]
fn the_buck_converter_follows_its_reference() {
    let measured = run("buck-converter/buck.cir");
    measured.near("vout", 1.8, 2e-4);
    measured.near("ripple", 0.4 * 1.8 * 1.6667e-6 / 1e-5, 1e-2);
}

#[test]
fn the_sliding_buck_converter_follows_its_reference() {
    let measured = run("buck-converter/sliding.cir");
    measured.near("vout", 1.8, 2e-4);
    assert!(measured.get("ripple") < 0.4 * 1.8 * 1.6667e-6 / 4e-6); // switches more than once
}

#[test]
fn a_coil_has_no_mean_voltage() {
    let measured = run("power-converter/converter.cir");
    measured.near("vout", 12.264824, 1e-6);
    measured.near("vbridge", measured.get("vout"), 1e-3);
}

/// 3√3/π V less 3 ω L/π i for the takeovers.
#[test]
fn takeovers_cost_a_rectifier_voltage() {
    let measured = run("three-phase-rectifier/rectifier.cir");
    let cost = 3.0 * (2.0 * PI * 50.0) * 0.5e-3 / PI;
    let mean = 3.0 * 3.0_f64.sqrt() / PI * 325.0 / (1.0 + cost / 20.0);
    measured.near("vdc", mean, 1e-3);
    measured.near("idc", mean / 20.0, 1e-3);
    measured.near("vbridge", measured.get("vdc"), 1e-5);
}

/// (N + 1) V less N I/(F C).
#[test]
fn a_charge_pump_gives_five_times_its_supply() {
    let deck = deck("charge-pump/pump.cir");
    for method in [Method::Fixed, Method::Exact] {
        let measured = Measured::with(&deck, None, method);
        measured.near("vout", 25.0 / (1.0 + 4.0 / (1e6 * 10e-9) / 100e3), 2e-4);
    }
}

#[test]
fn delays_of_inverters() {
    let mut deck = deck("inverter-chain/chain.cir");
    let measured = Measured::of(&deck);
    measured.near("delay", 1.0278937e-9, 1e-6);
    measured.near("stage", measured.get("delay") / 10.0, 0.05);
    deck.set("CL", 40e-15).unwrap();
    let twice = Measured::of(&deck);
    twice.near("delay", 2.0 * measured.get("delay"), 0.02);
}

#[test]
fn a_pulse_sets_the_flip_flop() {
    let measured = run("flip-flop/flip-flop.cir");
    assert!(measured.get("before").abs() < 1e-12);
    measured.near("after", 5.0, 1e-12);
    measured.near("turned", 2.1458e-8, 1e-3); // by the parabolas of ngspice
}

/// q = 0, V/2 and V, the middle one by the symmetry of the transistors.
#[test]
fn a_flip_flop_has_three_operating_points() {
    let points = deck("flip-flop/flip-flop.cir").circuit().unwrap().operating_points(1 << 20);
    let mut found: Vec<[f64; 2]> = (points.unwrap().iter())
        .map(|point| ["q", "qb"].map(|node| point.v(node).unwrap()))
        .collect();
    found.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(found.len(), 3, "{found:?}");
    for (found, expected) in found.iter().zip([[0.0, 5.0], [2.5, 2.5], [5.0, 0.0]]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }
}

/// g(v) = −v/R besides v = 0: v = i₀/(1/R − m) on the outer slopes −m, with offsets ∓i₀.
#[test]
fn chuas_circuit_winds_around_two_of_three_points() {
    let deck = deck("chua/chua.cir");
    let m = (4.44e-3 - 0.757e-3) / 9.0;
    let outer = (0.757e-3 - m) / (1.0 / 1750.0 - m);
    let points = deck.circuit().unwrap().operating_points(1000).unwrap();
    let mut found: Vec<f64> = points.iter().map(|point| point.v("a").unwrap()).collect();
    found.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 3, "{found:?}");
    for (found, expected) in found.iter().zip([-outer, 0.0, outer]) {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
    let measured = Measured::of(&deck);
    assert!((outer..4.0).contains(&measured.get("highest")));
    assert!((outer..4.0).contains(&-measured.get("lowest")));
}

/// V − v̄_c = R_L β/(β + 1) (v̄_e + 5 V)/R_E, up to what is stored at the ends.
#[test]
fn the_colpitts_oscillator_is_balanced_in_the_mean() {
    let measured = run("colpitts/colpitts.cir");
    assert!(measured.get("swing") > 4.0);
    assert!(measured.get("balance").abs() < 0.01 * (5.0 - measured.get("collector")));
}

/// V (1 + √(1 + 4 D²/K))/2, K = 2 L/(R T).
#[test]
fn a_boost_converter_whose_coil_runs_empty() {
    let measured = run("boost-converter/boost.cir");
    let k: f64 = 2.0 * 10e-6 / (60.0 * 10e-6);
    measured.near("vout", 12.0 * (1.0 + (1.0 + 4.0 * 0.16 / k).sqrt()) / 2.0, 5e-3);
    measured.near("ipeak", 4.8, 1e-2);
}

/// V (2 (D − t/T) − 1)/(R + 2 R_on).
#[test]
fn dead_time_costs_a_full_bridge_current() {
    let measured = run("full-bridge/bridge.cir");
    measured.near("iavg", 48.0 * 0.36 / 5.02, 1e-2);
    measured.near("ripple", 1.0433, 2e-2);
}

/// Half the supply over the ratio of the transformer, and a little more below the resonance.
#[test]
fn an_llc_converter_near_its_resonance() {
    let measured = run("llc-converter/llc.cir");
    measured.near("vout", 20.296, 1e-2);
    measured.near("irms", 1.365, 2e-2);
}

/// In the mean L i' = V − N D v − R i, C v' = D i.
#[test]
fn an_arm_of_a_hundred_cells_is_a_linear_circuit_in_the_mean() {
    run("modular-multilevel-arm/arm.cir").near("iarm", 19.204, 1e-2);
}

/// The mean of n bits is that of the input up to 2/n.
#[test]
fn the_bits_of_a_modulator_follow_its_input() {
    let measured = run("delta-sigma/modulator.cir");
    assert!((measured.get("rising") - 1.0 / PI).abs() < 2.0 / 100.0);
    assert!(measured.get("mean").abs() < 2.0 / 400.0);
}
