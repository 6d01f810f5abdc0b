//! Run files: what is written is read back, and what is broken is refused.

use crate::sample::{self, Folder};
use saltus_io::run_file::{RunFileError, RunWriter, read_info, read_layout, read_run};
use saltus_sim::{
    Change, EventKind, EventRecord, Frames, Layout, Outcome, Quantity, Run, Sink, Value,
};
use std::path::Path;

/// Writes a run in pieces of that many rows.
fn write(path: &Path, run: &Run, piece: usize, text: Option<&str>) {
    let mut writer = RunWriter::create(path, &run.layout, text).unwrap();
    let mut start = 0;
    while start < run.frames.len() {
        let end = (start + piece).min(run.frames.len());
        let piece = sample::frames(&run.layout, start..end);
        Sink::append(&mut writer, &run.layout, &piece).unwrap();
        start = end;
    }
    writer.events(&run.events);
    assert_eq!(writer.finish(&run.stats).unwrap(), path);
}

#[track_caller]
fn check_round_trip(run: &Run, piece: usize) {
    let folder = Folder::new();
    let path = folder.path("run.h5");
    write(&path, run, piece, None);
    assert_eq!(folder.names(), ["run.h5"]);
    let found = read_run(&path).unwrap();
    assert_eq!(found, *run);
    // −0.0 = 0.0, so the bits are another question
    let bits =
        |run: &Run| -> Vec<u64> { run.frames.rows.iter().map(|value| value.to_bits()).collect() };
    assert_eq!(bits(&found), bits(run));
}

#[test]
fn round_trip_of_a_short_run() {
    check_round_trip(&sample::run(201), 10);
}

#[test]
fn round_trip_of_one_row_and_of_none() {
    check_round_trip(&sample::run(1), 1);
    check_round_trip(&sample::run(0), 1);
}

#[test]
fn round_trip_of_events() {
    let mut run = sample::run(20);
    let event = |time: f64, kind, name: &str, changes| {
        let (name, interaction) = (name.to_string(), String::new());
        EventRecord { time, kind, name, interaction, changes }
    };
    let change = |what: &str, before, after| Change { what: what.to_string(), before, after };
    run.events.push(event(0.1, EventKind::When, "λ > 0", Vec::new()));
    check_round_trip(&run, 10); // without changes
    let changes = vec![
        change("ball.v[0]", Value::Number(-1.0 / 3.0), Value::Number(1e-300)),
        change("floor.law", Value::Name("Relay".into()), Value::Name("Equality".into())),
    ];
    run.events.push(event(0.2, EventKind::Scheduled, "second", changes));
    check_round_trip(&run, 10);
}

/// Contacts have chunks of their own, of 4096.
#[test]
fn round_trip_of_contacts() {
    for (rows, piece) in [(0, 1), (1, 1), (3, 2), (2700, 100), (2732, 1), (9000, 9000)] {
        let mut layout = sample::layout();
        layout.sides = ["ball", "box", "größer"].map(str::to_string).to_vec();
        let frames = sample::frames(&layout, 0..rows);
        let events = Vec::new();
        check_round_trip(&Run { layout, frames, stats: sample::stats(), events }, piece);
    }
}

#[test]
fn round_trip_around_chunks() {
    for rows in [8191, 8192, 8193, 16384, 20000] {
        check_round_trip(&sample::run(rows), 1000);
    }
    check_round_trip(&sample::run(20000), 20000);
    check_round_trip(&sample::run(9000), 1);
}

#[test]
fn round_trip_without_signals_and_ledger() {
    let layout = Layout { title: String::new(), ..Layout::default() };
    let frames = sample::frames(&layout, 0..10);
    check_round_trip(&Run { layout, frames, stats: sample::stats(), events: Vec::new() }, 3);
}

#[test]
fn round_trip_of_a_selection() {
    // among them an interaction of no columns
    let mut run = sample::run(50);
    run.layout.signals = vec![
        sample::signal("floor", Quantity::Lam, 0..1),
        sample::signal("nothing", Quantity::Y, 1..1),
        sample::signal("red ball", Quantity::Q, 1..4),
    ];
    run.frames = sample::frames(&run.layout, 0..50);
    check_round_trip(&run, 50);
}

#[test]
fn round_trip_of_values() {
    let mut run = sample::run(50);
    run.layout.signals = vec![
        sample::signal("v(out)", Quantity::Value, 0..1),
        sample::signal("circuit", Quantity::X, 1..4),
        sample::signal("i(X1.L2)", Quantity::Value, 4..5),
    ];
    run.frames = sample::frames(&run.layout, 0..50);
    check_round_trip(&run, 50);
    assert_eq!(run.signal("V(OUT)").unwrap(), run.frames.columns(&run.layout, 0..1));
}

#[test]
fn round_trip_of_many_signals() {
    let mut layout = Layout { title: "beads".to_string(), ledger: true, ..Layout::default() };
    for bead in 0..300 {
        for quantity in [Quantity::Q, Quantity::V, Quantity::Y, Quantity::U, Quantity::Lam] {
            let owner = format!("bead {bead}");
            let column = layout.signals.len();
            layout.signals.push(sample::signal(&owner, quantity, column..column + 1));
        }
    }
    let frames = sample::frames(&layout, 0..2000);
    check_round_trip(&Run { layout, frames, stats: sample::stats(), events: Vec::new() }, 100);
}

#[test]
fn a_wide_signal_is_stored() {
    let signals = vec![sample::signal("field", Quantity::X, 0..100_000)];
    let layout = Layout { title: "field".to_string(), signals, ..Layout::default() };
    let frames = sample::frames(&layout, 0..7);
    check_round_trip(&Run { layout, frames, stats: sample::stats(), events: Vec::new() }, 2);
}

#[test]
fn info_tells_what_is_in_a_file() {
    let folder = Folder::new();
    let path = folder.path("run.h5");
    let run = sample::run(201);
    let text = "title = \"größer\"\n[simulation]\n".repeat(5000);
    write(&path, &run, 201, Some(&text));
    let info = read_info(&path).unwrap();
    assert_eq!(info.layout, run.layout);
    assert_eq!(info.stats, run.stats);
    assert_eq!(info.rows, 201);
    assert_eq!(info.span, Some((0.0, 0.2)));
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(info.model_text.as_deref(), Some(text.as_str()));
    assert_eq!(read_layout(&path).unwrap(), run.layout);

    write(&path, &run, 201, Some(""));
    assert_eq!(read_info(&path).unwrap().model_text.as_deref(), Some(""));
    write(&path, &run, 201, None);
    assert_eq!(read_info(&path).unwrap().model_text, None);
}

#[test]
fn incomplete_runs_say_so() {
    for outcome in [Outcome::Interrupted, Outcome::Failed("t = 0.3: no\nsolution: λ".to_string())]
    {
        let mut run = sample::run(60);
        run.stats.outcome = outcome;
        run.stats.failures = 1;
        run.stats.worst_residual = f64::NAN;
        let folder = Folder::new();
        write(&folder.path("run.h5"), &run, 60, None);
        let found = read_run(folder.path("run.h5")).unwrap();
        assert_eq!(found.stats.outcome, run.stats.outcome);
        assert!(found.stats.worst_residual.is_nan());
        assert_eq!(found.frames, run.frames);
    }
}

#[test]
fn an_unfinished_run_leaves_nothing() {
    let folder = Folder::new();
    let run = sample::run(20_000);
    for frames in [Frames::default(), run.frames.clone()] {
        let mut writer = RunWriter::create(folder.path("run.h5"), &run.layout, None).unwrap();
        writer.append(&frames).unwrap();
        assert_eq!(folder.names(), ["run.h5.partial"]);
        drop(writer);
        assert!(folder.names().is_empty());
    }
}

#[test]
fn an_old_file_stays_until_the_new_one_is_whole() {
    let folder = Folder::new();
    let path = folder.path("run.h5");
    let (old, new) = (sample::run(10), sample::run(20));
    write(&path, &old, 10, None);
    // what a killed process left does not matter
    std::fs::write(folder.path("run.h5.partial"), b"rubbish".repeat(100_000)).unwrap();

    let mut writer = RunWriter::create(&path, &new.layout, None).unwrap();
    writer.append(&new.frames).unwrap();
    assert_eq!(read_run(&path).unwrap(), old);
    writer.finish(&new.stats).unwrap();
    assert_eq!(read_run(&path).unwrap(), new);
    assert_eq!(folder.names(), ["run.h5"]);
}

#[test]
fn two_writers_of_one_file_do_not_meet() {
    let folder = Folder::new();
    let path = folder.path("run.h5");
    let run = sample::run(10);
    let mut first = RunWriter::create(&path, &run.layout, None).unwrap();
    let second = RunWriter::create(&path, &run.layout, None);
    assert!(matches!(second, Err(RunFileError::Create { .. })), "{second:?}");
    drop(second);
    first.append(&run.frames).unwrap();
    first.finish(&run.stats).unwrap();
    assert_eq!(read_run(&path).unwrap(), run);
}

#[test]
fn folders_that_do_not_take_files() {
    let folder = Folder::new();
    let layout = sample::layout();
    let create = |path: &Path| RunWriter::create(path, &layout, None).unwrap_err();

    let missing = folder.path("missing/run.h5");
    let error = RunFileError::NoFolder { path: missing.clone(), folder: folder.path("missing") };
    assert_eq!(create(&missing), error);

    std::fs::write(folder.path("file"), b"").unwrap();
    let below = create(&folder.path("file/run.h5"));
    assert!(matches!(below, RunFileError::Create { .. }), "{below:?}");
    let itself = create(folder.as_ref());
    assert!(matches!(itself, RunFileError::Create { .. }), "{itself:?}");
    assert_eq!(create(Path::new("..")), RunFileError::NotAFileName { path: "..".into() });
    assert_eq!(folder.names(), ["file"]);

    #[cfg(target_os = "linux")]
    {
        let error = create(Path::new("/proc/run.h5"));
        assert!(error.to_string().starts_with("cannot write `/proc/run.h5`: "), "{error}");
    }
}

/// A disk without space: the partial file is a link to a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let run = sample::run(20_000);
    for rows in [100, 20_000] {
        let folder = Folder::new();
        let path = folder.path("run.h5");
        std::os::unix::fs::symlink("/dev/full", folder.path("run.h5.partial")).unwrap();
        let mut writer = RunWriter::create(&path, &run.layout, None).unwrap();
        let appended = writer.append(&sample::frames(&run.layout, 0..rows));
        let finished = writer.finish(&run.stats);
        let error = appended.and(finished.map(|_| ())).unwrap_err();
        assert!(error.to_string().contains("No space left on device"), "{error}");
        assert!(folder.names().is_empty());
    }
}

#[test]
fn a_failed_write_cannot_be_finished() {
    #[cfg(target_os = "linux")]
    {
        let run = sample::run(20_000);
        let folder = Folder::new();
        let path = folder.path("run.h5");
        std::os::unix::fs::symlink("/dev/full", folder.path("run.h5.partial")).unwrap();
        let mut writer = RunWriter::create(&path, &run.layout, None).unwrap();
        if writer.append(&run.frames).is_err() {
            let abandoned = RunFileError::Abandoned { path };
            assert_eq!(writer.append(&run.frames), Err(abandoned.clone()));
            assert_eq!(writer.finish(&run.stats), Err(abandoned));
        }
        assert!(folder.names().is_empty());
    }
}

#[test]
fn names_that_hdf5_cannot_hold() {
    let folder = Folder::new();
    for name in ["a/b", "", ".", ".."] {
        let signals = vec![sample::signal(name, Quantity::X, 0..1)];
        let layout = Layout { signals, ..Layout::default() };
        let error = RunWriter::create(folder.path("run.h5"), &layout, None).unwrap_err();
        assert_eq!(error, RunFileError::Name { name: name.to_string() });
    }
    for name in ["v(a/b)", "", ".", "a.x"] {
        let signals = vec![sample::signal(name, Quantity::Value, 0..1)];
        let layout = Layout { signals, ..Layout::default() };
        let error = RunWriter::create(folder.path("run.h5"), &layout, None).unwrap_err();
        assert_eq!(error, RunFileError::Name { name: name.to_string() });
    }
    let twice = sample::signal("a", Quantity::X, 0..1);
    let layout = Layout { signals: vec![twice.clone(), twice], ..Layout::default() };
    let error = RunWriter::create(folder.path("run.h5"), &layout, None).unwrap_err();
    assert_eq!(error, RunFileError::Duplicate { path: "a.x".to_string() });
    assert!(folder.names().is_empty());
}

#[test]
fn columns_that_do_not_tile_a_row() {
    let folder = Folder::new();
    for (a, b, expected) in [(0..1, 2..3, 1), (0..2, 1..3, 2), (1..2, 2..3, 0)] {
        let signals =
            vec![sample::signal("b", Quantity::X, b), sample::signal("a", Quantity::X, a)];
        let layout = Layout { signals, ..Layout::default() };
        let error = RunWriter::create(folder.path("run.h5"), &layout, None).unwrap_err();
        let RunFileError::Columns { expected: found, .. } = error else { panic!("{error}") };
        assert_eq!(found, expected);
    }
    assert!(folder.names().is_empty());
}

/// A list of columns that was tampered with asks for no memory.
#[test]
fn columns_of_a_damaged_file() {
    let folder = Folder::new();
    let path = folder.path("run.h5");
    let mut run = sample::run(1000);
    run.layout.signals =
        vec![sample::signal("a", Quantity::X, 0..1), sample::signal("b", Quantity::X, 1..3)];
    run.layout.ledger = false;
    run.frames = sample::frames(&run.layout, 0..1000);
    write(&path, &run, 1000, None);

    let bytes = |columns: [i64; 4]| columns.map(i64::to_le_bytes).concat();
    let whole = std::fs::read(&path).unwrap();
    let place = whole.windows(32).position(|window| window == bytes([0, 1, 1, 3])).unwrap();
    for columns in [[0, 1, 1 << 40, 1 << 41], [0, 1, 2, 4], [0, 2, 1, 3], [0, 1, 1, 1 << 40]] {
        let mut damaged = whole.clone();
        damaged[place..place + 32].copy_from_slice(&bytes(columns));
        std::fs::write(&path, &damaged).unwrap();
        let error = read_run(&path).unwrap_err();
        assert!(matches!(error, RunFileError::Damaged { .. }), "{error}");
    }
}

#[test]
fn rows_that_do_not_fit() {
    let folder = Folder::new();
    let mut run = sample::run(10);
    run.frames.rows.pop();
    let mut writer = RunWriter::create(folder.path("run.h5"), &run.layout, None).unwrap();
    let error = writer.append(&run.frames).unwrap_err();
    assert_eq!(error, RunFileError::Shape { table: "rows", rows: 10, expected: 200, found: 199 });
}

#[test]
fn files_that_are_no_runs() {
    let folder = Folder::new();
    let path = folder.path("x.h5");
    assert_eq!(read_run(&path), Err(RunFileError::Missing { path: path.clone() }));

    for text in [&b""[..], b"title = \"a model\"\n", b"\x89HDF\r\n"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(read_run(&path), Err(RunFileError::NotHdf5 { path: path.clone() }));
    }

    let file = rust_hdf5::H5File::create(&path).unwrap();
    let dataset = file.new_dataset::<f64>().shape([3]).create("time").unwrap();
    dataset.write_raw(&[0.0, 1.0, 2.0]).unwrap();
    file.close().unwrap();
    assert_eq!(read_run(&path), Err(RunFileError::NotARun { path }));

    let error = read_run(folder.as_ref()).unwrap_err();
    assert!(matches!(error, RunFileError::Open { .. }), "{error:?}");
}

#[test]
fn files_of_a_later_format() {
    let folder = Folder::new();
    let path = folder.path("x.h5");
    let file = rust_hdf5::H5File::create(&path).unwrap();
    file.set_attr_string("format", "saltus-run").unwrap();
    file.set_attr_string("format_version", "7").unwrap();
    file.close().unwrap();
    assert_eq!(read_run(&path), Err(RunFileError::Newer { path, found: 7 }));
}

#[test]
fn truncated_files() {
    let folder = Folder::new();
    let (path, cut) = (folder.path("run.h5"), folder.path("cut.h5"));
    for rows in [50, 9000] {
        write(&path, &sample::run(rows), rows, Some("title = \"ball\""));
        let bytes = std::fs::read(&path).unwrap();
        for part in 0..100 {
            let length = bytes.len() * part / 100;
            std::fs::write(&cut, &bytes[..length]).unwrap();
            match read_run(&cut).unwrap_err() {
                RunFileError::NotHdf5 { .. } => assert!(length < 8),
                RunFileError::Truncated { found, .. } => assert_eq!(found, length as u64),
                other => panic!("{length} of {} bytes: {other}", bytes.len()),
            }
        }
        std::fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
        assert!(matches!(read_run(&cut), Err(RunFileError::Truncated { .. })));
    }
}

/// Flipped bytes give an error or a run (they may have hit a number), and never a panic.
#[test]
fn damaged_files() {
    let folder = Folder::new();
    let (path, bad) = (folder.path("run.h5"), folder.path("bad.h5"));
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let cases = std::env::var("SALTUS_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for rows in [3, 9000] {
        write(&path, &sample::run(rows), rows, Some("title = \"ball\""));
        let whole = std::fs::read(&path).unwrap();
        // what is not numbers: the first and last parts of the file
        let places: Vec<usize> = (0..whole.len().min(40_000))
            .chain(whole.len().saturating_sub(40_000)..whole.len())
            .collect();
        let mut refused = 0;
        for case in 0..cases {
            let mut bytes = whole.clone();
            for _ in 0..1 + case % 8 {
                let place = places[next(places.len())];
                bytes[place] = match case % 3 {
                    0 => next(256) as u8,
                    1 => 0xff,
                    _ => bytes[place] ^ (1 << next(8)),
                };
            }
            std::fs::write(&bad, &bytes).unwrap();
            refused += usize::from(read_run(&bad).is_err());
        }
        assert!(refused > 0);
    }
}
