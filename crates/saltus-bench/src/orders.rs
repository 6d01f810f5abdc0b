//! Errors beside steps, through events: `saltus-bench orders [PICTURE.svg]`.
//!
//! Two problems with known ends: the oscillator that turns round at the unit circle, which it meets at
//! t = 1, and the oscillator with dry friction, which rests at −0.1. The slopes of the lines are the
//! orders of the strategies across their events.

use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::plot::legend::LegendPosition;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::palette::Palette;
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;
use saltus::io::write_whole;
use saltus::model::Names;
use saltus::prelude::*;
use saltus::sim::{EventDriven, EventSettings};
use std::f64::consts::FRAC_PI_2;
use std::path::Path;
use std::process::ExitCode;

const PANEL: (f64, f64) = (520.0, 400.0);
/// Steps of time-stepping.
const STEPS: [f64; 8] = [2e1, 5e1, 1e2, 3e2, 1e3, 3e3, 1e4, 3e4];

/// A problem with a known end.
struct Problem {
    name: &'static str,
    model: Model,
    until: f64,
    path: &'static str,
    exact: Vec<f64>,
}

/// Steps and errors of one strategy.
struct Line {
    name: &'static str,
    points: Vec<(f64, f64)>,
}

impl Line {
    /// Its slope between the first and the last point above round-off.
    fn order(&self) -> f64 {
        let seen: Vec<_> = self.points.iter().filter(|(_, error)| *error > 1e-13).collect();
        match (seen.first(), seen.last()) {
            (Some(a), Some(b)) if a.0 != b.0 => -(b.1 / a.1).ln() / (b.0 / a.0).ln(),
            _ => f64::NAN,
        }
    }
}

/// Prints the table; draws the picture where a file is given.
pub fn run(arguments: &[String]) -> ExitCode {
    match measure(arguments.first().map(Path::new)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(picture: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let mut panels = Vec::new();
    println!("| problem | strategy | steps | error | order, on the whole |");
    println!("| --- | --- | --- | --- | --- |");
    for problem in [switched()?, coulomb()?] {
        let lines = problem.lines()?;
        for line in &lines {
            for (steps, error) in &line.points {
                print!("| {} | {} | {steps} | {error:.1e} | ", problem.name, line.name);
                println!("{:.1} |", line.order());
            }
        }
        panels.push((problem.name, lines));
    }
    match picture {
        Some(path) => draw(&panels, path),
        None => Ok(()),
    }
}

impl Problem {
    fn lines(&self) -> Result<Vec<Line>, Box<dyn std::error::Error>> {
        let mut driven = Line { name: "event-driven", points: Vec::new() };
        for digits in 3..13 {
            let rtol = 10f64.powi(-digits);
            let settings = EventSettings { rtol, atol: 0.01 * rtol };
            let mut sim = EventDriven::with(self.model.clone(), settings, &Solver::default())?;
            let run = sim.run(self.until)?;
            driven.points.push((run.stats.steps as f64, self.error(&run)?));
        }
        let mut lines = vec![driven];
        let schemes: [(_, [Integrator; 2]); 2] =
            [("time-stepping, θ = 1", schemes(1.0)), ("time-stepping, θ = 1/2", schemes(0.5))];
        for (name, [euler, jean]) in schemes {
            let mut line = Line { name, points: Vec::new() };
            for steps in STEPS {
                let first =
                    self.model.systems().any(|(_, s)| s.order() == saltus::model::Order::First);
                let scheme = if first { euler.clone() } else { jean.clone() };
                let mut sim = TimeStepping::new(self.model.clone(), self.until / steps, [scheme])?;
                line.points.push((steps, self.error(&sim.run(self.until)?)?));
            }
            lines.push(line);
        }
        Ok(lines)
    }

    fn error(&self, run: &Run) -> Result<f64, Box<dyn std::error::Error>> {
        let values = run.signal(self.path)?;
        let end = &values[values.len() - self.exact.len()..];
        let worst = end.iter().zip(&self.exact).fold(0.0_f64, |a, (x, y)| a.max((x - y).abs()));
        Ok(worst.max(f64::EPSILON))
    }
}

fn schemes(theta: f64) -> [Integrator; 2] {
    [
        EulerMoreau { theta, ..EulerMoreau::default() }.into(),
        MoreauJean { theta, ..MoreauJean::default() }.into(),
    ]
}

/// ẋ = x ± 2π (−x₁, x₀), which turns round at the unit circle.
fn switched() -> Result<Problem, Box<dyn std::error::Error>> {
    let mut model = Model::new("oscillator that turns round");
    let names = Names { first: ("x", 2), second: ("lam", 1), ..Names::TIME };
    let f = Operator::formulas(2, 1, &["x[0]", "x[1]"], &names, &[])?;
    let id = model.add("point", FirstOrder::new([(-1.0_f64).exp(), 0.0], f))?;
    let h = Operator::formulas(1, 1, &["x[0]^2 + x[1]^2 - 1"], &names, &[])?;
    let g = ["-2*pi*lam[0]*x[1]", "2*pi*lam[0]*x[0]"];
    let g = Operator::formulas(2, 1, &g, &names, &[])?;
    model.connect("circle", FirstOrderRelation::new(h, g), Law::relay(-1.0, 1.0), &[id])?;
    let exact = vec![-1.5974603774506984, 0.7614936206060108];
    let (name, until, path) = ("oscillator that turns round", FRAC_PI_2, "point.x");
    Ok(Problem { name, model, until, path, exact })
}

/// m = k = 1, friction of 0.15, from rest at 1.
fn coulomb() -> Result<Problem, Box<dyn std::error::Error>> {
    let mut model = Model::new("oscillator with dry friction");
    let names = Names { first: ("q", 1), second: ("v", 1), ..Names::TIME };
    // by a formula, so that collocation follows it
    let M = Operator::formulas(1, 1, &["1 + 0*q[0]"], &names, &[])?;
    let spring = Operator::formulas(1, 1, &["q[0]"], &names, &[])?;
    let id = model.add("mass", Lagrangian::new([1.0], [0.0], M).F_int(spring))?;
    let law = Law::relay(-0.15, 0.15);
    model.connect("friction", LagrangianLinearRelation::new([[1.0]]), law, &[id])?;
    let (name, until, path) = ("oscillator with dry friction", 10.0, "mass.q");
    Ok(Problem { name, model, until, path, exact: vec![-0.1] })
}

fn draw(panels: &[(&str, Vec<Line>)], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let palette = Palette::category10();
    let theme = Theme { grid_color: "#e3e3e3".to_string(), ..Theme::light() };
    let (mut plots, mut layouts) = (Vec::new(), Vec::new());
    for (k, (name, lines)) in panels.iter().enumerate() {
        let colored = lines.iter().zip(palette.colors().iter().cycle());
        let panel: Vec<Plot> = colored
            .map(|(line, color)| {
                // as powers of ten: the logarithmic axis ends at 10⁻¹⁰
                let points: Vec<(f64, f64)> =
                    line.points.iter().map(|(steps, error)| (*steps, error.log10())).collect();
                let plot = LinePlot::new().with_data(points);
                let plot = plot.with_color(color.clone()).with_stroke_width(2.0);
                // one legend serves both panels
                Plot::Line(if k == 0 { plot.with_legend(line.name) } else { plot })
            })
            .collect();
        let layout = Layout::auto_from_plots(&panel)
            .with_theme(theme.clone())
            .with_log_x()
            .with_y_axis_min(-16.0)
            .with_y_axis_max(1.0)
            .with_label_size(14)
            .with_tick_size(12)
            .with_body_size(12)
            .with_legend_box(false)
            .with_title(*name)
            .with_x_label("steps")
            .with_y_label("log₁₀ of the error at the end")
            .with_legend_position(LegendPosition::OutsideRightTop);
        layouts.push(layout);
        plots.push(panel);
    }
    let figure = Figure::new(1, panels.len()).with_plots(plots).with_layouts(layouts);
    let scene = figure.with_cell_size(PANEL.0, PANEL.1).render();
    write_whole(path, SvgBackend::new().render_scene(&scene).as_bytes())?;
    Ok(())
}
