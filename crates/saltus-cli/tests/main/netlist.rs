//! Netlists: `saltus run FILE.cir`, and what becomes of its run.

use crate::Folder;
use serde_json::Value;

/// A sine behind a diode, with a capacitor that a resistor empties.
const RECTIFIER: &str = "\
half-wave rectifier
.param F=1k
V1 in 0 SIN(0 10 {F})
D1 in out DI
C1 out 0 1u ic=0
RLOAD out 0 5k
.model DI D
.tran 2u 20m uic
.meas tran vout avg v(out) from=19m to=20m
.meas tran ripple pp v(out) from=19m to=20m
.end
";

/// Runs with `--json`, and gives the document.
fn json(folder: &Folder, args: &[&str]) -> Value {
    let args: Vec<&str> = [&["run", "--json", "--no-plot"], args].concat();
    let said = folder.saltus(&args).done();
    assert_eq!(said.err, "");
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn a_netlist_is_run_drawn_and_measured() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let said = folder.saltus(&["run", "rectifier.cir"]).done();
    assert_eq!(folder.names(), ["rectifier.cir", "rectifier.h5", "rectifier.png"]);
    for words in ["half-wave rectifier", "2 nodes, 4 components", "10000 steps", "vout", "ripple"] {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    assert_eq!(said.err, "");
    let said = folder.saltus(&["info", "rectifier.h5"]).done();
    assert!(said.out.contains("v(out)"), "{}", said.out);
}

/// The capacitor charges to 10 V less at most what the resistor takes in a period: T/(R C) = 1/5.
#[test]
fn json_has_the_measures() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let document = json(&folder, &["rectifier.cir"]);
    let vout = document["measures"]["vout"].as_f64().unwrap();
    let ripple = document["measures"]["ripple"].as_f64().unwrap();
    assert!(10.0 - ripple < vout && vout < 10.0, "{vout} V, {ripple} V");
    assert!(1.4 < ripple && ripple < 10.0 / 5.0, "{ripple} V");
    assert_eq!(document["components"], 4);
    assert_eq!(document["method"], "fixed");
    assert_eq!(document["complete"], true);
    assert_eq!(document["failed_measures"], serde_json::json!({}));
    assert!(!document["events"].as_array().unwrap().is_empty());

    let document = json(&folder, &["rectifier.cir", "--until", "10e-3"]);
    assert_eq!(document["measures"]["vout"], Value::Null);
    assert!(document["failed_measures"]["vout"].as_str().unwrap().contains("no part"));
}

#[test]
fn info_tells_what_is_in_a_netlist() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let said = folder.saltus(&["info", "rectifier.cir"]).done();
    for words in ["half-wave rectifier", "2: in, out", "V1, D1, C1, RLOAD", "1: D1", "vout, ripple"]
    {
        assert!(said.out.contains(words), "{words} in {}", said.out);
    }
    let said = folder.saltus(&["info", "--json", "rectifier.cir"]).done();
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&document["states"], &document["until"]), (&1.into(), &0.02.into()));
}

#[test]
fn set_takes_numbers_as_spice_writes_them() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let plain = json(&folder, &["rectifier.cir", "--set", "RLOAD=2000"]);
    let suffix = json(&folder, &["rectifier.cir", "--set", "RLOAD=2kohm"]);
    assert_eq!(plain["measures"], suffix["measures"]);
}

#[test]
fn set_replaces_parameters_and_components() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let ripple = |set: &[&str]| {
        let document = json(&folder, &[&["rectifier.cir"], set].concat());
        document["measures"]["ripple"].as_f64().unwrap()
    };
    let first = ripple(&[]);
    assert!(ripple(&["--set", "RLOAD=50000"]) < first / 5.0);
    assert!(ripple(&["--set", "f=10000"]) < first / 5.0); // case does not count
    assert!(ripple(&["--set", "C1=0.5e-6"]) > 1.5 * first);
    for (set, words) in [
        ("RLAOD=5", "RLOAD"), // the nearest name
        ("RLOAD=many", "expected a number"),
        ("D1=5", "D1"),
        ("RLOAD", "="),
    ] {
        let said = folder.saltus(&["run", "rectifier.cir", "--set", set]);
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.err.contains(words), "{words} in {}", said.err);
    }
    assert!(!folder.names().iter().any(|name| name.ends_with(".partial")));
}

#[test]
fn methods_agree() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let vout = |method: &str| {
        let document = json(&folder, &["rectifier.cir", "--method", method]);
        assert_eq!(document["method"], method);
        document["measures"]["vout"].as_f64().unwrap()
    };
    let fixed = vout("fixed");
    for method in ["exact", "adaptive"] {
        assert!((vout(method) - fixed).abs() < 5e-4 * fixed, "{method}");
    }
    let said = folder.saltus(&["run", "rectifier.cir", "--method", "euler"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("`fixed`, `exact` or `adaptive`"), "{}", said.err);
}

#[test]
fn a_steady_state_is_that_of_a_long_run() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let long = json(&folder, &["rectifier.cir"]);
    for given in [&["--steady-state"][..], &["--steady-state", "1e-3"]] {
        let document = json(&folder, &[&["rectifier.cir"], given].concat());
        let steady = &document["steady_state"];
        assert_eq!(steady["period"], 1e-3);
        assert!(steady["residual"].as_f64().unwrap() < 1e-6);
        let signals = steady["signals"].as_array().unwrap();
        let out = signals.iter().find(|one| one["signal"] == "v(out)").unwrap();
        for (figure, measure) in [("mean", "vout"), ("ripple", "ripple")] {
            let (found, expected) = (&out[figure], &long["measures"][measure]);
            let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((found - expected).abs() < 1e-3 * expected, "{figure}: {found}, {expected}");
        }
        assert_eq!(steady["load"], "RLOAD");
        let duty = steady["duty"]["D1"].as_f64().unwrap();
        assert!(0.05 < duty && duty < 0.5, "{duty}");
    }
    let said = folder.saltus(&["run", "rectifier.cir", "--steady-state=-1"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("expected a period"), "{}", said.err);
}

/// A raw file has a header in text, then all values of an instant after one another.
#[test]
fn a_run_is_exported_as_spice_writes_it() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    folder.saltus(&["run", "rectifier.cir", "--no-plot", "-q"]).done();
    folder.saltus(&["export", "rectifier.h5", "--to", "raw", "--signal", "v(out)"]).done();
    let bytes = std::fs::read(folder.path().join("rectifier.raw")).unwrap();
    let mark = b"Binary:\n";
    let head = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    for words in ["Title: half-wave rectifier", "No. Variables: 2", "No. Points: 10001", "v(out)"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let values: Vec<f64> = bytes[head + mark.len()..]
        .chunks_exact(8)
        .map(|value| f64::from_le_bytes(value.try_into().unwrap()))
        .collect();
    assert_eq!(values.len(), 2 * 10_001);
    assert_eq!(values[0], 0.0);
    assert!((values[2 * 10_000] - 20e-3).abs() < 1e-12);
    assert!((values[2 * 10_000 + 1] - 10.0).abs() < 2.0);
}

#[test]
fn voltages_and_currents_are_drawn_by_name() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    folder.saltus(&["run", "rectifier.cir", "--no-plot", "-q"]).done();
    let plot = ["plot", "rectifier.h5", "v(out)", "i(D1)", "-o", "out.svg"];
    folder.saltus(&plot).done();
    let svg = std::fs::read_to_string(folder.path().join("out.svg")).unwrap();
    assert!(svg.contains("v(out)") && svg.contains("i(D1)"));
    let said = folder.saltus(&["plot", "rectifier.h5", "v(nowhere)"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("v(nowhere)") && said.err.contains("v(out)"), "{}", said.err);
}

/// File, line and column of what is wrong, and what was expected there.
#[test]
fn a_bad_netlist_is_told_with_its_place() {
    let folder = Folder::new();
    let cases = [
        ("R1 a 0 1k5\n", "bad.cir:2:8:"),
        ("R1 a 0\n", "bad.cir:2"),
        ("R1 a 0 {nobody}\n", "bad.cir:2:9:"),
        ("D1 a 0 NOMODEL\n", "bad.cir:2:8:"),
        ("J1 a b c JFET\n", "bad.cir:2:1:"),
        ("X1 a 0 nosubckt\n", "bad.cir:2:8:"),
        (".include nofile.cir\n", "bad.cir:2"),
        (".model DI D(blah=1)\nD1 a 0 DI\nV1 a 0 1\n", "bad.cir:2:13:"),
    ];
    for (line, place) in cases {
        folder.write("bad.cir", &format!("title\n{line}.tran 1u 1m\n.end\n"));
        let said = folder.saltus(&["run", "bad.cir"]);
        assert_eq!(said.status, 2, "{line}: {said:?}");
        assert!(said.err.contains(place), "{line}: {place} in {}", said.err);
        assert_eq!(said.out, "", "{line}");
    }
    assert_eq!(folder.names(), ["bad.cir"]);
}

/// A circuit that cannot be is told by the names of its members.
#[test]
fn a_circuit_that_makes_no_sense_is_told_by_name() {
    let folder = Folder::new();
    let cases = [
        ("V1 a 0 1\nV2 a 0 2\n", ["V1", "V2"]),
        ("R1 a 0 1\nR2 b c 1\n", ["b", "c"]),
        ("I1 0 a 1\nC1 b 0 1u\nR1 b 0 1\n", ["I1", "a"]),
    ];
    for (lines, names) in cases {
        folder.write("bad.cir", &format!("title\n{lines}.tran 1u 1m\n.end\n"));
        let said = folder.saltus(&["run", "bad.cir"]);
        assert_eq!(said.status, 2, "{lines}: {said:?}");
        assert!(names.iter().all(|name| said.err.contains(name)), "{lines}: {}", said.err);
    }
    folder.write("bad.cir", "title\nV1 a 0 1\nR1 a 0 1\n.end\n");
    let said = folder.saltus(&["run", "bad.cir"]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains(".tran"), "{}", said.err);
    folder.saltus(&["run", "bad.cir", "--h", "1e-3", "--until", "1", "--no-plot"]).done();
}

#[test]
fn an_example_that_is_a_netlist_is_printed_written_and_run() {
    let folder = Folder::new();
    let text = folder.saltus(&["examples", "flip-flop"]).done().out;
    assert!(text.starts_with("Flip-flop of two inverters"), "{text}");
    folder.saltus(&["examples", "flip-flop", "--write", "out"]).done();
    let document = json(&folder, &["out/flip-flop/flip-flop.cir"]);
    assert!((document["measures"]["after"].as_f64().unwrap() - 5.0).abs() < 1e-9);
}

/// Times may have suffixes, as in the netlist.
#[test]
fn times_with_suffixes() {
    let folder = Folder::new();
    folder.write("rectifier.cir", RECTIFIER);
    let document = json(&folder, &["rectifier.cir", "--until", "4m", "--h", "5u"]);
    assert_eq!((document["until"].as_f64(), document["h"].as_f64()), (Some(4e-3), Some(5e-6)));
    let said = folder.saltus(&["run", "rectifier.cir", "--until", "soon"]);
    assert!(said.err.contains("expected a number such as 0.2, 1e-3 or 40u"), "{}", said.err);
}
