//! Transient analyses: what is recorded, and how they end.

use saltus_circuits::{Circuit, Deck, Method, Source, Transient, TransientError, Watch};
use saltus_numerics::Interrupt;
use saltus_sim::{Frames, Layout, Outcome, Sink};

/// A capacitor of 1 µF that a source of 1 V charges through 1 kΩ.
fn charging() -> Circuit {
    let mut circuit = Circuit::new("RC");
    circuit.voltage_source("V1", ["in", "0"], Source::Dc(1.0));
    circuit.resistor("R1", ["in", "out"], 1e3);
    let capacitor = circuit.capacitor("C1", ["out", "0"], 1e-6);
    circuit.start(capacitor, 0.0);
    circuit
}

#[test]
fn every_method_charges_a_capacitor() {
    let model = charging().model().unwrap();
    for method in Method::ALL {
        let asked = Transient { method, theta: 0.5, ..Transient::new(5e-3, 1e-5) };
        let run = model.run(&asked, Watch::default()).unwrap();
        let (time, v) = (&run.frames.time, run.signal("v(out)").unwrap());
        let i = run.signal("i(C1)").unwrap();
        assert_eq!((time.len(), time[500]), (501, 5e-3), "{method:?}");
        let allowed = if method == Method::Fixed { 5e-6 } else { 1e-5 };
        for ((t, v), i) in time.iter().zip(&v).zip(&i) {
            let exact = 1.0 - (-t / 1e-3).exp();
            assert!((v - exact).abs() < allowed, "{method:?} t = {t}: {v}, exact {exact}");
            assert!((1e3 * i - (1.0 - v)).abs() < 1e-9, "{method:?} t = {t}");
        }
    }
}

#[test]
fn only_what_is_asked_for_is_recorded() {
    let model = charging().model().unwrap();
    let signals = ["V(OUT)", "v(in, out)", "v(out)"].map(str::to_string).to_vec();
    let asked =
        Transient { signals: Some(signals), start: 1e-3, every: 10, ..Transient::new(5e-3, 1e-5) };
    let run = model.run(&asked, Watch::default()).unwrap();
    let paths: Vec<String> = run.layout.signals.iter().map(|signal| signal.path()).collect();
    assert_eq!(paths, ["V(OUT)", "v(in, out)"]);
    assert!((run.frames.time[0] - 1e-3).abs() < 1e-12);
    assert_eq!(run.frames.len(), 41);

    let asked = Transient { signals: Some(vec!["v(uot)".into()]), ..Transient::new(5e-3, 1e-5) };
    let error = model.run(&asked, Watch::default()).unwrap_err();
    assert!(error.to_string().contains("out"), "{error}");
}

#[test]
fn settings_that_make_no_sense() {
    let model = charging().model().unwrap();
    let asked = Transient::new(5e-3, 1e-5);
    for wrong in [
        Transient { until: f64::NAN, ..asked.clone() },
        Transient { h: 0.0, ..asked.clone() },
        Transient { start: 1.0, ..asked.clone() },
        Transient { tol: -1.0, ..asked.clone() },
        Transient { theta: 2.0, ..asked.clone() },
    ] {
        let error = model.run(&wrong, Watch::default()).unwrap_err();
        assert!(matches!(error, TransientError::Setting(_)), "{wrong:?}: {error:?}");
    }
}

/// Rows given away are those that would be kept, and an interrupt keeps what was computed.
#[test]
fn rows_are_given_away() {
    struct Rows(Vec<f64>);
    impl Sink for Rows {
        fn append(&mut self, layout: &Layout, frames: &Frames) -> std::io::Result<()> {
            assert_eq!(layout.width(), 4);
            self.0.extend_from_slice(&frames.rows);
            Ok(())
        }
    }
    let model = charging().model().unwrap();
    let signals = ["v(in)", "v(out)", "i(R1)", "i(V1)"].map(str::to_string).to_vec();
    let asked = Transient { signals: Some(signals), ..Transient::new(5e-3, 1e-5) };
    let kept = model.run(&asked, Watch::default()).unwrap();
    let mut rows = Rows(Vec::new());
    let run = model.run(&asked, Watch { sink: Some(&mut rows), ..Watch::default() }).unwrap();
    assert_eq!((run.frames.len(), rows.0), (0, kept.frames.rows));

    let flag = Interrupt::default();
    flag.stop();
    let run = model.run(&asked, Watch { interrupt: Some(&flag), ..Watch::default() }).unwrap();
    assert_eq!((run.stats.outcome, run.frames.len()), (Outcome::Interrupted, 1));
}

/// Corners of sources are never stepped over: a pulse pumps a capacitor to twice the supply.
#[test]
fn every_method_sees_the_corners_of_sources() {
    let deck = Deck::parse(
        "one stage\nVIN in 0 5\nVP p 0 PULSE(0 5 0 10n 10n 490n 1u)\nD1 in a DI\nC1 a p 10n ic=0\n\
         D2 a out DI\nC5 out 0 100n ic=0\nRLOAD out 0 100k\n.model DI D\n.tran 5n 100u uic\n\
         .meas tran vout avg v(out) from=90u to=100u\n",
        "pump.cir",
    );
    let mut plan = deck.unwrap().plan(None, None).unwrap();
    for method in Method::ALL {
        plan.transient.method = method;
        let run = plan.model.run(&plan.transient, Watch::default()).unwrap();
        let (_, vout) = plan.measure(&run).remove(0);
        assert!((vout.unwrap() - 9.9894).abs() < 1e-3, "{method:?}");
    }
}
