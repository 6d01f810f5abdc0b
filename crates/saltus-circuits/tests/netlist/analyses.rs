use std::borrow::Cow;

use saltus_circuits::measure::{Quantity, Waves, measure};
use saltus_circuits::{Analysis, Fidelity, Warning};

use crate::{deck, warnings};

#[track_caller]
fn analysis(lines: &str) -> Analysis {
    match deck(lines).analysis() {
        Ok(analysis) => analysis,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn tran_and_options() {
    let lines = ".tran {h} 10m 1m 2u uic\n.param h=1u\n.options reltol=1e-5 vntol=1p abstol=1p gmin=1p method=gear\n.temp 50\n.option saltus device=pwl";
    let a = analysis(lines);
    let warned: Vec<String> = deck(lines).warnings().iter().map(ToString::to_string).collect();
    assert!(warned.len() == 2 && warned[0].contains("`abstol`"), "{warned:?}");
    assert!(warned[1].contains("`gmin`"), "{warned:?}");
    let tran = a.tran.unwrap();
    assert_eq!([tran.step, tran.stop, tran.start], [1e-6, 10e-3, 1e-3]);
    assert_eq!((tran.max_step, tran.uic), (Some(2e-6), true));
    assert_eq!((a.options.reltol, a.options.vntol), (Some(1e-5), Some(1e-12)));
    assert_eq!(a.options.method.as_deref(), Some("gear"));
    assert_eq!((a.options.temp, a.options.device), (50.0, Some(Fidelity::PiecewiseLinear)));
    assert_eq!(analysis("R1 a 0 1").tran, None);
}

#[test]
fn outputs() {
    let a = analysis(
        ".save v(a) @L1[i] V1#branch out\n.print tran V(a,b) I(R1) v(a)*i(L1)\n.plot tran v(a) (0,5)\n.probe all",
    );
    let names: Vec<&str> = a.outputs.iter().map(|signal| signal.text.as_str()).collect();
    assert_eq!(names, ["v(a)", "i(L1)", "i(V1)", "v(out)", "v(a, b)", "i(R1)", "v(a)*i(L1)"]);
    assert!(a.all_outputs);
}

#[test]
fn control_blocks() {
    let lines = "R1 a 0 1\n.control\nset x = 1\n* comment\ntran 1u 1m uic\nrun\nprint v(a)\nplot v(a) xlimit 0 1\nlet y = v(a)\n\
                 wrdata out.txt v(b)\nmeas tran vmax MAX v(a)\nplot y[3\nac dec 1 1 1\nquit\n.endc\nR2 a b 1";
    let deck = deck(lines);
    let a = deck.analysis().unwrap();
    assert_eq!(a.tran.unwrap().stop, 1e-3);
    let names: Vec<&str> = a.outputs.iter().map(|signal| signal.text.as_str()).collect();
    assert_eq!(names, ["v(a)", "v(b)"]);
    assert_eq!(a.measures[0].name, "vmax");
    assert_eq!(deck.circuit().unwrap().components.len(), 2);
    let texts: Vec<String> = deck.warnings().iter().map(Warning::to_string).collect();
    assert_eq!(
        texts,
        [
            "a.cir:10:5: `let y` has no effect",
            "a.cir:13:1: `plot` has no effect",
            "a.cir:14:1: `ac` is not run: only `.tran` is",
        ]
    );
}

#[test]
fn vectors_of_control_blocks() {
    let lines = "R1 a 0 1\n.param T=1m\n.control\nlet start = {T}/2\nlet y = v(a)*2\nlet z = y+1\nrun\n\
                 meas tran m1 avg v(a) from=start to=T\nprint m1 start y v(a)\ngnuplot g1 v(a,b)\n.endc\n.probe p(R1) v(c)\nR2 a b 1";
    let deck = deck(lines);
    let a = deck.analysis().unwrap();
    let names: Vec<&str> = a.outputs.iter().map(|signal| signal.text.as_str()).collect();
    assert_eq!(names, ["v(c)", "v(a)", "v(a, b)"]);
    assert!(matches!(a.measures[0].quantity, Quantity::Statistic { from: 0.5e-3, to: 1e-3, .. }));
    let texts: Vec<String> = deck.warnings().iter().map(Warning::to_string).collect();
    assert_eq!(
        texts,
        [
            "a.cir:6:5: `let y` has no effect",
            "a.cir:7:5: `let z` has no effect",
            "a.cir:13:8: `p` has no effect",
        ]
    );
}

#[test]
fn cards_without_effect() {
    assert_eq!(
        warnings(
            ".ac dec 10 1 1meg\n.op\n.nodeset v(a)=1\n.options noacct reltol=1m\n.meas ac x max v(a)\n.print dc v(a)\n.dc V1 0 1 1\n.tran 1 2\n.tran 1 3"
        ),
        [
            "a.cir:2:1: `.ac` is not run: only `.tran` is",
            "a.cir:3:1: `.op` is not run: only `.tran` is",
            "a.cir:4:1: `.nodeset` has no effect",
            "a.cir:5:10: `noacct` has no effect",
            "a.cir:6:7: `ac` is not run: only `.tran` is",
            "a.cir:7:8: `dc` is not run: only `.tran` is",
            "a.cir:8:1: `.dc` is not run: only `.tran` is",
            "a.cir:10:1: `.tran` is given again: this one counts",
        ]
    );
    let title = saltus_circuits::Deck::parse(".param r=1\nR1 a 0 1", "b.cir").unwrap();
    assert_eq!(
        title.warnings()[0].to_string(),
        "b.cir:1:1: the first line is the title and is not read as a card"
    );
}

/// A run of straight lines: v(ramp) = t on [0, 10], v(tri) up to 1 at 5 and back, i(L1) = 2.
struct Run {
    times: Vec<f64>,
}

impl Waves for Run {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn signal(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        let of: fn(f64) -> f64 = match name.to_lowercase().as_str() {
            "v(ramp)" => |t| t,
            "v(tri)" => |t| 1.0 - (t / 5.0 - 1.0).abs(),
            "i(l1)" => |_| 2.0,
            _ => return None,
        };
        Some(self.times.iter().map(|&t| of(t)).collect())
    }
}

#[test]
fn measures() {
    let run = Run { times: (0..=40).map(|k| f64::from(k) / 4.0).collect() };
    let a = analysis(
        ".param half=0.5\n\
         .meas tran average AVG v(ramp)\n.meas tran part avg v(ramp) from=2 to={2+2}\n.measure TRAN r rms v(ramp) from=0 to=3\n\
         .meas tran top max v(tri)\n.meas tran low MIN v(ramp) from=1.3\n.meas tran swing PP v(tri) to=2.5\n\
         .meas tran area INTEG i(L1) from=1 to=3\n.meas tran when1 WHEN v(tri)=half\n.meas tran when2 when v(tri)={half} fall=1\n\
         .meas tran when3 when v(tri)=0.5 cross=LAST\n.meas tran found FIND v(ramp)*i(l1) WHEN v(tri)=0.1 rise=1\n\
         .meas tran at FIND v(ramp) AT=7.1\n.meas tran wait TRIG v(tri) VAL=0.5 RISE=1 TARG v(tri) VAL=0.5 FALL=1\n\
         .meas tran late TRIG AT=1 TARG v(ramp) VAL=9\n.meas tran both when v(ramp)=v(tri,ramp) td=0.1\n\
         .meas tran slope DERIV v(tri) AT=6.1\n.meas tran sum PARAM='wait + late*2'\n.meas tran time_of_top max_at v(tri)\n\
         .meas tran power avg par('v(ramp)*i(L1)')\n.meas tran half_top WHEN v(tri)=top*half\n\
         .meas tran old avg v(ramp) FROM 2 TO 4\n.meas tran old2 find v(ramp) at 3",
    );
    let results = measure(&a.measures, &run);
    let value = |name: &str| {
        let found = results.iter().find(|(known, _)| known == name).unwrap();
        found.1.clone()
    };
    for (name, expected) in [
        ("average", 5.0),
        ("part", 3.0),
        ("r", 3f64.sqrt()),
        ("top", 1.0),
        ("low", 1.3),
        ("swing", 0.5),
        ("area", 4.0),
        ("when1", 2.5),
        ("when2", 7.5),
        ("when3", 7.5),
        ("found", 1.0),
        ("at", 7.1),
        ("wait", 5.0),
        ("late", 8.0),
        ("slope", -0.2),
        ("sum", 21.0),
        ("time_of_top", 5.0),
        ("power", 10.0),
        ("half_top", 2.5),
        ("old", 3.0),
        ("old2", 3.0),
    ] {
        let found = value(name).unwrap();
        assert!((found - expected).abs() < 1e-12, "{name}: {found}, expected {expected}");
    }
    assert_eq!(
        value("both").unwrap_err().to_string(),
        "`v(ramp)` meets `v(tri, ramp)` 0 times from 0.1 s to 10 s, expected at least 1"
    );
}
