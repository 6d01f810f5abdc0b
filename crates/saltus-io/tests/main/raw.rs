//! Runs as SPICE's raw files.

use crate::sample::{self, Folder};
use saltus_io::export::{Format, export, write_raw};
use saltus_sim::Quantity;

#[test]
fn a_raw_file_has_a_header_and_numbers_row_by_row() {
    let mut run = sample::run(3);
    run.layout.signals = vec![
        sample::signal("v(out)", Quantity::Value, 0..1),
        sample::signal("i(L1)", Quantity::Value, 1..2),
        sample::signal("red ball", Quantity::Q, 2..4),
    ];
    run.layout.ledger = false;
    run.layout.title = "two\nlines".to_string();
    run.frames = sample::frames(&run.layout, 0..3);
    let mut bytes = Vec::new();
    write_raw(&run, &[], 1, &mut bytes).unwrap();

    let marker = b"Binary:\n";
    let at = bytes.windows(marker.len()).position(|window| window == marker).unwrap();
    let header = std::str::from_utf8(&bytes[..at]).unwrap();
    assert_eq!(
        header,
        "Title: two lines\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: 5\n\
         No. Points: 3\nVariables:\n\t0\ttime\ttime\n\t1\tv(out)\tvoltage\n\t2\ti(L1)\tcurrent\n\
         \t3\tredball.q[0]\tnotype\n\t4\tredball.q[1]\tnotype\n"
    );
    let numbers: Vec<f64> = bytes[at + marker.len()..]
        .chunks_exact(8)
        .map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap()))
        .collect();
    let mut expected = Vec::new();
    for (time, row) in run.frames.time.iter().zip(run.frames.rows.chunks_exact(4)) {
        expected.push(*time);
        expected.extend_from_slice(row);
    }
    assert_eq!(numbers, expected);
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let (run, folder) = (sample::run(3), Folder::new());
    export(&run, &[], 1, Format::Raw, folder.path("run.raw")).unwrap();
    let other = [sample::signal("nobody", Quantity::X, 0..1)];
    assert!(export(&run, &other, 1, Format::Raw, folder.path("other.raw")).is_err());
    assert_eq!(folder.names(), ["run.raw"]);
}
