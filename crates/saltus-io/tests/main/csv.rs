//! CSV: the header, numbers that read back, files that appear whole.

use crate::sample::{self, Folder};
use saltus_io::export::{ExportError, Format, NoInstants, export, write_csv};
use saltus_sim::{Quantity, Run};

fn csv(run: &Run, paths: &[&str]) -> String {
    let signals: Vec<_> = paths.iter().map(|path| run.layout.find(path).unwrap()).collect();
    let mut out = Vec::new();
    write_csv(run, &signals, 1, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn all_signals_by_default() {
    let run = sample::run(2);
    let text = csv(&run, &[]);
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "t,red ball.q[0],red ball.q[1],red ball.q[2],red ball.v[0],red ball.v[1],red ball.v[2],\
         Kugel ü.q[0],Kugel ü.v[0],circuit.x[0],circuit.x[1],floor.y[0],floor.u[0],floor.lam[0]"
    );
    assert!(lines.next().unwrap().starts_with("0.0,0.9854497299884601,"));
    assert_eq!(lines.count(), 1);
}

#[test]
fn a_column_keeps_its_index() {
    let run = sample::run(1);
    assert_eq!(
        csv(&run, &["red ball.q[2]", "Kugel ü.q[0]"]).lines().next().unwrap(),
        "t,red ball.q[2],Kugel ü.q[0]"
    );
}

#[test]
fn numbers_read_back() {
    let run = sample::run(200);
    let text = csv(&run, &["red ball.q"]);
    let mut values = Vec::new();
    for line in text.lines().skip(1) {
        values.extend(line.split(',').skip(1).map(|value| value.parse::<f64>().unwrap().to_bits()));
    }
    let expected = run.signal("red ball.q").unwrap();
    let expected: Vec<u64> = expected.iter().map(|value| value.to_bits()).collect();
    assert_eq!(values, expected);
}

#[test]
fn names_with_commas_are_quoted() {
    let mut run = sample::run(1);
    run.layout.signals[0].owner = "a, \"b\"".to_string();
    let text = csv(&run, &["a, \"b\".q[0]"]);
    assert_eq!(text.lines().next().unwrap(), "t,\"a, \"\"b\"\".q[0]\"");
}

#[test]
fn every_so_many_instants() {
    let run = sample::run(8);
    let times = |every: usize| {
        let mut out = Vec::new();
        write_csv(&run, &[], every, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let times = text.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok());
        times.collect::<Vec<f64>>()
    };
    let of =
        |places: &[usize]| -> Vec<f64> { places.iter().map(|&k| run.frames.time[k]).collect() };
    assert_eq!(times(1), run.frames.time);
    // the first and the last always
    assert_eq!(times(3), of(&[0, 3, 6, 7]));
    assert_eq!(times(7), of(&[0, 7]));
    assert_eq!(times(100), of(&[0, 7]));
    let error = write_csv(&run, &[], 0, Vec::new()).unwrap_err();
    assert!(matches!(error, ExportError::Every(NoInstants)));
    assert_eq!(error.to_string(), "`every` = 0 is outside 1, 2, 3 …");
}

#[test]
fn a_signal_of_another_run() {
    let run = sample::run(1);
    let signal = sample::signal("red ball", Quantity::Q, 0..4);
    let error = write_csv(&run, &[signal], 1, Vec::new()).unwrap_err();
    assert!(matches!(error, ExportError::Unknown { .. }), "{error}");
}

#[test]
fn files_are_whole_or_absent() {
    let folder = Folder::new();
    let run = sample::run(20);
    export(&run, &[], 1, Format::Csv, folder.path("run.csv")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path("run.csv")).unwrap(), csv(&run, &[]));
    let other = [sample::signal("other", Quantity::Q, 0..1)];
    assert!(export(&run, &other, 1, Format::Csv, folder.path("other.csv")).is_err());
    let error = export(&run, &[], 1, Format::Csv, folder.path("missing/run.csv")).unwrap_err();
    assert!(error.to_string().contains("there is no folder"), "{error}");
    assert_eq!(folder.names(), ["run.csv"]);
}
