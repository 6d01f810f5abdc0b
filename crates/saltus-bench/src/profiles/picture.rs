//! The performance profile, and the share of solved problems beside the tolerance.
//!
//! ```text
//! ρ(τ) = share of problems that a solver solves in at most τ times the best time of any
//! ```
//!
//! Dolan, Moré, *Benchmarking optimization software with performance profiles*, 2002.

use super::table::{peer_reaches, share};
use super::{Comparison, Row, TOLERANCES};
use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::plot::legend::LegendPosition;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::palette::Palette;
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;
use saltus::io::write_whole;
use saltus::numerics::Solver;
use std::path::Path;

/// The axis of factors ends here at the latest.
const LARGEST_FACTOR: f64 = 1e6;
const PANEL: (f64, f64) = (520.0, 400.0);

/// A solver's line: its name, the time it takes for a problem, the tolerances it reaches.
struct Line<'a> {
    name: &'static str,
    is_main: bool,
    seconds: Box<dyn Fn(&Row) -> Option<f64> + 'a>,
    reaches: Box<dyn Fn(&Row, usize) -> bool + 'a>,
}

/// Draws both panels to an SVG file.
pub fn draw(found: &Comparison, path: &Path) -> Result<(), String> {
    let lines = lines(found);
    let factors = end_of_axis(found, &lines);
    let theme = Theme { grid_color: "#e3e3e3".to_string(), ..Theme::light() };
    let base = |plots: &[Plot]| {
        Layout::auto_from_plots(plots)
            .with_theme(theme.clone())
            .with_y_axis_min(0.0)
            .with_y_axis_max(1.05)
            .with_label_size(14)
            .with_tick_size(12)
            .with_body_size(12)
            .with_legend_box(false)
    };
    let profile: Vec<Plot> =
        plots(&lines, |line| profile_points(found, &lines, line, factors), true);
    let shares: Vec<Plot> = plots(&lines, |line| share_points(found, line), false);
    let layouts = vec![
        base(&profile)
            .with_log_x()
            .with_x_axis_min(1.0)
            .with_x_axis_max(factors)
            .with_x_label("time, as a multiple of the best")
            .with_y_label(format!("share of {} problems solved", found.rows.len()))
            .with_legend_position(LegendPosition::OutsideRightTop),
        base(&shares)
            .with_x_axis_min(4.0)
            .with_x_axis_max(12.0)
            .with_x_label("digits asked for, −log₁₀ of the tolerance")
            .with_y_label("share solved"),
    ];
    let scene = Figure::new(1, 2)
        .with_plots(vec![profile, shares])
        .with_layouts(layouts)
        .with_cell_size(PANEL.0, PANEL.1)
        .render();
    let text = SvgBackend::new().render_scene(&scene);
    write_whole(path, text.as_bytes()).map_err(|error| error.to_string())
}

/// Our methods, and the best setting of the peer.
fn lines(found: &Comparison) -> Vec<Line<'_>> {
    let mut lines: Vec<Line> = Solver::NAMES
        .into_iter()
        .map(|name| Line {
            name,
            is_main: name == "auto",
            seconds: Box::new(move |row| row.of(name).filter(|o| o.is_solved()).map(|o| o.seconds)),
            reaches: Box::new(move |row, number| row.of(name).is_some_and(|o| o.reaches[number])),
        })
        .collect();
    if found.has_peer {
        lines.push(Line {
            name: "Siconos, best",
            is_main: true,
            seconds: Box::new(|row| row.peer.as_ref().map(|peer| peer.seconds)),
            reaches: Box::new(|row, number| peer_reaches(row, TOLERANCES[number])),
        });
    }
    lines
}

fn plots(lines: &[Line], points: impl Fn(&Line) -> Vec<(f64, f64)>, steps: bool) -> Vec<Plot> {
    let palette = Palette::category10();
    let colored = lines.iter().zip(palette.colors().iter().cycle());
    colored
        .map(|(line, color)| {
            let stroke = if line.is_main { 2.4 } else { 1.2 };
            let plot = LinePlot::new().with_data(points(line)).with_color(color.clone());
            let plot = plot.with_stroke_width(stroke);
            // one legend serves both panels
            Plot::Line(if steps { plot.with_legend(line.name) } else { plot })
        })
        .collect()
}

/// How many times the best time of any a solver takes for a problem.
fn factor(lines: &[Line], line: &Line, row: &Row) -> Option<f64> {
    let best = lines.iter().filter_map(|line| (line.seconds)(row)).min_by(f64::total_cmp)?;
    Some((line.seconds)(row)? / best)
}

/// The corners of ρ(τ), from τ = 1 to the end of the axis.
fn profile_points(found: &Comparison, lines: &[Line], line: &Line, end: f64) -> Vec<(f64, f64)> {
    let mut factors: Vec<f64> =
        found.rows.iter().filter_map(|row| factor(lines, line, row)).collect();
    factors.sort_by(f64::total_cmp);
    let (count, mut level) = (found.rows.len().max(1) as f64, 0.0);
    let mut points = Vec::new();
    for (solved, factor) in factors.into_iter().enumerate() {
        points.push((factor.min(end), level));
        level = (solved + 1) as f64 / count;
        points.push((factor.min(end), level));
    }
    points.push((end, level));
    points
}

fn share_points(found: &Comparison, line: &Line) -> Vec<(f64, f64)> {
    let share = |number| share(found, |row| (line.reaches)(row, number));
    (0..TOLERANCES.len()).map(|number| (-TOLERANCES[number].log10(), share(number))).collect()
}

/// The power of ten above the largest factor.
fn end_of_axis(found: &Comparison, lines: &[Line]) -> f64 {
    let pairs = found.rows.iter().flat_map(|row| lines.iter().map(move |line| (row, line)));
    let largest = pairs.filter_map(|(row, line)| factor(lines, line, row)).fold(10.0, f64::max);
    10f64.powf(largest.log10().ceil()).min(LARGEST_FACTOR)
}
