//! Strategies: which keys each of them has, and what they mean.

use super::{BALL, parse};
use saltus_io::{ModelFile, Samples, Strategy};
use saltus_sim::{AdaptiveSettings, EventSettings};

/// The ball with other lines for strategy, integrator and step.
fn ball(settings: &str) -> String {
    let lines = BALL.lines().filter(|line| {
        !["strategy", "integrator", "h =", "output"].iter().any(|key| line.starts_with(key))
    });
    let text: Vec<&str> = lines.collect();
    text.join("\n").replace("[simulation]", &format!("[simulation]\n{settings}"))
}

fn good(settings: &str) -> ModelFile {
    parse(&ball(settings)).unwrap_or_else(|error| panic!("{}", error.report()))
}

#[track_caller]
fn refused(settings: &str, expected: &str) {
    let error = parse(&ball(settings)).expect_err(settings).to_string();
    assert!(error.contains(expected), "{settings}: {error}");
}

#[test]
fn event_driven() {
    let file = good("strategy = \"event-driven\"");
    assert_eq!(file.simulation.strategy, Strategy::EventDriven);
    assert_eq!(file.simulation.tolerances, EventSettings::default());
    assert!(file.simulation.h.is_nan() && file.simulation.integrators.is_empty());
    let file =
        good("strategy = \"event-driven\"\nrtol = \"10^-6\"\natol = 1e-8\nsolver = \"lemke\"");
    assert_eq!(file.simulation.tolerances, EventSettings { rtol: 1e-6, atol: 1e-8 });
    assert_eq!(file.simulation.solver.name(), "lemke");
}

#[test]
fn adaptive() {
    let file = good("strategy = \"adaptive\"");
    assert_eq!(file.simulation.strategy, Strategy::Adaptive);
    assert_eq!(file.simulation.adaptive, AdaptiveSettings::default());
    let file = good("strategy = \"adaptive\"\ntol = \"10^-4\"\noutput = { samples = 3 }");
    assert_eq!(file.simulation.adaptive.tol, 1e-4);
    assert_eq!(file.simulation.output.samples, Some(Samples::Count(3)));
    let other = "is not a setting of adaptive, which has `tol`";
    for key in ["h = 1e-3", "rtol = 1e-9", "atol = 1e-9", "integrator = \"moreau-jean\""] {
        refused(&format!("strategy = \"adaptive\"\n{key}"), other);
    }
    refused("strategy = \"event-driven\"\ntol = 1e-6", "`tol` is not a setting of event-driven");
    refused("h = 1e-3\ntol = 1e-6", "`tol` is not a setting of time-stepping");
    for value in ["0", "-1", "0.2", "1"] {
        let settings = format!("strategy = \"adaptive\"\ntol = {value}");
        refused(&settings, &format!("`tol` is {value}, expected (0, 0.1]"));
    }
}

#[test]
fn each_has_its_own_keys() {
    let driven = |key: &str| format!("strategy = \"event-driven\"\n{key}");
    let other = "is not a setting of event-driven, which has `rtol` and `atol`";
    refused(&driven("h = 1e-3"), &format!("9:1: `h` {other}"));
    refused(&driven("integrator = \"moreau-jean\""), &format!("`integrator` {other}"));
    refused(&driven("newton = { tol = 1e-9 }"), &format!("`newton` {other}"));
    let stepping = "is not a setting of time-stepping, which has `h` and `integrator` and `newton`";
    refused("h = 1e-3\nrtol = 1e-9", &format!("`rtol` {stepping}"));
    refused("strategy = \"time-stepping\"\nh = 1e-3\natol = 1e-9", &format!("`atol` {stepping}"));
    refused("strategy = \"time-stepping\"", "missing key `h`, time-stepping: the time step");
    refused(&driven("rtoll = 1e-9"), "unknown key `rtoll`; did you mean `rtol`?");
}

#[test]
fn a_strategy_that_is_set_leaves_the_keys_of_the_file_aside() {
    let set = |changes: &[(&str, &str)]| {
        let pairs = changes.iter().map(|(path, value)| (path.to_string(), value.to_string()));
        ModelFile::parse(BALL, "model.toml", &pairs.collect::<Vec<_>>())
    };
    let strategy = ("simulation.strategy", "event-driven");
    let file = set(&[strategy, ("simulation.rtol", "1e-10")]).unwrap();
    assert_eq!(file.simulation.strategy, Strategy::EventDriven);
    assert_eq!(file.simulation.tolerances.rtol, 1e-10);
    let error = set(&[strategy, ("simulation.h", "1e-3")]).unwrap_err().to_string();
    assert!(error.contains("`h` is not a setting of event-driven"), "{error}");
    let error = set(&[("simulation.rtol", "1e-3")]).unwrap_err().to_string();
    assert!(error.contains("`rtol` is not a setting of time-stepping"), "{error}");
}

#[test]
fn bad_tolerances() {
    for value in ["0", "-1e-9", "1", "2"] {
        for key in ["rtol", "atol"] {
            let settings = format!("strategy = \"event-driven\"\n{key} = {value}");
            refused(&settings, &format!("`{key}` is {value}, expected (0, 1)"));
        }
    }
    refused("strategy = \"event-driven\"\nrtol = nan", "`rtol`: expected a finite number");
    refused("strategy = \"event-driven\"\nrtol = \"small\"", "small");
    refused("strategy = \"event-driven\"\nrtol = [1e-9]", "`rtol`: expected a number");
}

#[test]
fn samples() {
    let output = |output: &str| format!("strategy = \"event-driven\"\noutput = {{ {output} }}");
    let read = |text: &str| good(&output(text)).simulation.output.samples;
    assert_eq!(read("every = 2"), None);
    assert_eq!(read("samples = 5"), Some(Samples::Count(5)));
    assert_eq!(read("samples = \"2*50 + 1\""), Some(Samples::Count(101)));
    assert_eq!(read("samples = [0, \"r\", 2.5]"), Some(Samples::Instants(vec![0.0, 0.1, 2.5])));
    let instants = Samples::Count(3).instants(1.0, 2.0);
    assert_eq!(instants, [1.0, 1.5, 2.0]);
    refused(&output("samples = 1"), "`samples` is 1, expected a number of samples from 2");
    refused(&output("samples = 2.5"), "samples");
    refused(&output("samples = [1, 1]"), "`samples[1]` is 1, expected instants that increase");
    refused(&output("samples = [1, 11]"), "`samples[1]` is 11, expected instants that increase");
    refused(&output("samples = [-1]"), "`samples[0]` is -1");
    refused(&output("samples = [\"0/0\"]"), "samples");
    refused(&output("samples = 5, every = 2"), "`every` counts steps, and `samples` are none");
    let stepping = "h = 1e-3\noutput = { samples = 5 }";
    refused(stepping, "`samples` is not a setting of time-stepping, which has `every`");
}
