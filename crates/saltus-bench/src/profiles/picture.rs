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

/// Whose line it is.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    /// One of our methods.
    Ours(&'static str),
    /// The best setting of the peer for each problem.
    Peer,
}

impl Line {
    fn name(self) -> &'static str {
        match self {
            Line::Ours(method) => method,
            Line::Peer => "Siconos, best",
        }
    }

    /// What it takes for a problem that it solves.
    fn seconds(self, row: &Row) -> Option<f64> {
        match self {
            Line::Ours(method) => row.of(method).filter(|o| o.is_solved()).map(|o| o.seconds),
            Line::Peer => row.peer.as_ref().map(|peer| peer.seconds),
        }
    }

    /// Whether it reaches one of [`TOLERANCES`].
    fn reaches(self, row: &Row, number: usize) -> bool {
        match self {
            Line::Ours(method) => row.of(method).is_some_and(|o| o.reaches[number]),
            Line::Peer => peer_reaches(row, TOLERANCES[number]),
        }
    }
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

/// Our methods, and the peer if there is one.
fn lines(found: &Comparison) -> Vec<Line> {
    let ours = Solver::NAMES.into_iter().map(Line::Ours);
    ours.chain(found.has_peer.then_some(Line::Peer)).collect()
}

fn plots(lines: &[Line], points: impl Fn(Line) -> Vec<(f64, f64)>, steps: bool) -> Vec<Plot> {
    let palette = Palette::category10();
    let colored = lines.iter().zip(palette.colors().iter().cycle());
    colored
        .map(|(&line, color)| {
            let is_main = matches!(line, Line::Ours("auto") | Line::Peer);
            let stroke = if is_main { 2.4 } else { 1.2 };
            let plot = LinePlot::new().with_data(points(line)).with_color(color.clone());
            let plot = plot.with_stroke_width(stroke);
            // one legend serves both panels
            Plot::Line(if steps { plot.with_legend(line.name()) } else { plot })
        })
        .collect()
}

/// How many times the best time of any a solver takes for a problem.
fn factor(lines: &[Line], line: Line, row: &Row) -> Option<f64> {
    let best = lines.iter().filter_map(|line| line.seconds(row)).min_by(f64::total_cmp)?;
    Some(line.seconds(row)? / best)
}

/// The corners of ρ(τ), from τ = 1 to the end of the axis.
fn profile_points(found: &Comparison, lines: &[Line], line: Line, end: f64) -> Vec<(f64, f64)> {
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

fn share_points(found: &Comparison, line: Line) -> Vec<(f64, f64)> {
    let share = |number| share(found, |row| line.reaches(row, number));
    (0..TOLERANCES.len()).map(|number| (-TOLERANCES[number].log10(), share(number))).collect()
}

/// The power of ten above the largest factor.
fn end_of_axis(found: &Comparison, lines: &[Line]) -> f64 {
    let pairs = found.rows.iter().flat_map(|row| lines.iter().map(move |&line| (row, line)));
    let largest = pairs.filter_map(|(row, line)| factor(lines, line, row)).fold(10.0, f64::max);
    10f64.powf(largest.log10().ceil()).min(LARGEST_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::super::ours::Outcome;
    use super::super::peer::Best;
    use super::*;

    fn row(auto: f64, peer: f64) -> Row {
        let outcome = Outcome {
            status: "solved".to_owned(),
            seconds: auto,
            residual: 0.0,
            iterations: 1,
            by: String::new(),
            reaches: [true; TOLERANCES.len()],
        };
        let best = Best { setting: String::new(), seconds: peer, residual: 1e-9 };
        Row {
            name: String::new(),
            kind: String::new(),
            size: 1,
            ours: vec![("auto", outcome)],
            peer: Some(best),
            peer_residual: Some(1e-9),
        }
    }

    #[test]
    fn the_profile_counts_problems_within_a_factor() {
        let rows = vec![row(1.0, 2.0), row(1.0, 8.0), row(3.0, 1.0)];
        let found = Comparison { tol: 1e-8, rows, not_read: Vec::new(), has_peer: true };
        let lines = lines(&found);
        let end = end_of_axis(&found, &lines);
        assert_eq!(end, 10.0);
        let (third, whole) = (1.0 / 3.0, 1.0);
        let corners = [
            (1.0, 0.0),
            (1.0, third),
            (2.0, third),
            (2.0, 2.0 * third),
            (8.0, 2.0 * third),
            (8.0, whole),
            (end, whole),
        ];
        assert_eq!(profile_points(&found, &lines, Line::Peer, end), corners);
        let last = *profile_points(&found, &lines, Line::Ours("auto"), end).last().unwrap();
        assert_eq!(last, (end, whole));
        assert_eq!(share_points(&found, Line::Peer)[2], (8.0, 1.0));
        assert_eq!(share_points(&found, Line::Peer)[3], (10.0, 0.0));
    }
}
