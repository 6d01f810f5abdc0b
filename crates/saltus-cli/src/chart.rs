//! Pictures of a run: a panel a signal, one above the other over a common time axis.
//!
//! Long runs are thinned before they are drawn. For every pixel column the first, the lowest, the
//! highest and the last value in it are kept, in their order, so that the picture is that of all
//! rows and no spike is lost. Points on an almost straight line between others are left out then.
//! Values that are not finite leave a gap.

use kuva::backend::raster::RasterBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::plot::legend::LegendPosition;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout as PanelLayout;
use kuva::render::palette::Palette;
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;
use saltus::io::{WriteError, check_target, write_whole};
use saltus::sim::{Layout, Quantity, Run, Signal};
use std::path::{Path, PathBuf};

/// Width of the picture, in points; a PNG has [`PNG_SCALE`] pixels a point.
const WIDTH: f64 = 1000.0;
const PNG_SCALE: f32 = 2.0;
/// Height of the axes of a panel: the first where there is room, the second where there are many.
const PANEL_HEIGHT: (f64, f64) = (200.0, 90.0);
/// Height that the panels share.
const HEIGHT: f64 = 1400.0;
/// Margins of the axes: left for the ticks, right without and with a legend, top, bottom without
/// and with the time axis.
const LEFT: f64 = 92.0;
const RIGHT: (f64, f64) = (28.0, 104.0);
const TOP: f64 = 10.0;
const BOTTOM: (f64, f64) = (12.0, 52.0);
/// Pixel columns for thinning: those of a PNG.
const PIXELS: usize = 1800;
/// Points that the lines of an SVG share, at some 17 bytes each, and the fewest columns of a line.
const SVG_POINTS: usize = 12_000;
const SVG_COLUMNS: usize = 40;
/// How far, in points, a line may pass from a value that is left out.
const FLATNESS: f64 = 0.1;
/// Panels of the default selection, and how many of them states take first.
const DEFAULT_PANELS: usize = 6;
const DEFAULT_STATES: usize = 4;
/// Most lines in a panel, and most lines that a legend names.
const LINES: usize = 64;
const LEGEND_LINES: usize = 8;

/// Why a picture could not be made.
#[derive(Debug)]
pub enum ChartError {
    /// The file's name does not end in `.png` or `.svg`.
    Extension {
        /// The file to write.
        path: PathBuf,
    },
    /// The run has no rows, or there is no signal to draw.
    Nothing,
    /// A signal that the run does not have.
    Unknown {
        /// Its path.
        signal: String,
    },
    /// The picture could not be rendered.
    Render {
        /// What the renderer said.
        cause: String,
    },
    /// The file cannot be written.
    Write(WriteError),
}

impl From<WriteError> for ChartError {
    fn from(error: WriteError) -> Self {
        ChartError::Write(error)
    }
}

impl std::fmt::Display for ChartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ChartError::Extension { path } => write!(
                f,
                "cannot tell the kind of picture from `{}`: its name must end in .png or .svg",
                path.display()
            ),
            ChartError::Nothing => {
                write!(f, "there is nothing to draw: the run has no rows or no signals")
            }
            ChartError::Unknown { signal } => write!(f, "the run has no signal `{signal}`"),
            ChartError::Render { cause } => write!(f, "drawing failed: {cause}"),
            ChartError::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChartError {}

/// The signals that are drawn when none are named: states and values first, then multipliers.
pub fn default_signals(layout: &Layout) -> Vec<Signal> {
    let mut all: Vec<&Signal> = Vec::new();
    for signal in layout.signals.iter().filter(|signal| !signal.columns.is_empty()) {
        if all.len() < 1000 && !all.contains(&signal) {
            all.push(signal);
        }
    }
    let states = all
        .iter()
        .filter(|signal| signal.quantity.is_state() || signal.quantity == Quantity::Value);
    let lams = all.iter().filter(|signal| signal.quantity == Quantity::Lam);

    // four states and two multipliers; more of one where there are fewer of the other
    let lam_count = lams.clone().count();
    let state_count =
        states.clone().count().min(DEFAULT_STATES.max(DEFAULT_PANELS.saturating_sub(lam_count)));
    let mut chosen: Vec<&Signal> = states.take(state_count).copied().collect();
    chosen.extend(lams.take(DEFAULT_PANELS - chosen.len()).copied());
    if chosen.is_empty() {
        chosen = all.into_iter().take(DEFAULT_PANELS).collect();
    }
    chosen.into_iter().cloned().collect()
}

/// Whether a picture of this name can be drawn: known before a long run begins.
pub fn check_path(path: &Path) -> Result<(), ChartError> {
    kind_of(path)?;
    Ok(check_target(path)?)
}

/// `png` or `svg`, from the file's name.
fn kind_of(path: &Path) -> Result<&'static str, ChartError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let kinds = ["png", "svg"].into_iter().find(|kind| extension.eq_ignore_ascii_case(kind));
    kinds.ok_or_else(|| ChartError::Extension { path: path.to_path_buf() })
}

/// Draws the signals of a run, or [`default_signals`], to a `.png` or `.svg` file.
///
/// The file appears whole or not at all.
pub fn draw(run: &Run, signals: &[Signal], path: &Path) -> Result<(), ChartError> {
    let kind = kind_of(path)?;
    let chosen;
    let signals = if signals.is_empty() {
        chosen = default_signals(&run.layout);
        &chosen[..]
    } else {
        signals
    };
    if run.frames.is_empty() || signals.is_empty() {
        return Err(ChartError::Nothing);
    }
    let lines = signals.iter().map(|signal| signal.columns.len().min(LINES)).sum::<usize>();
    let pixels = match kind {
        "png" => PIXELS,
        _ => (SVG_POINTS / lines.max(1) / 4).clamp(SVG_COLUMNS, PIXELS),
    };
    let scene = figure(run, signals, pixels)?.render();
    let bytes = match kind {
        "png" => {
            let backend = RasterBackend::new().with_scale(PNG_SCALE);
            backend.render_scene(&scene).map_err(|cause| ChartError::Render { cause })?
        }
        _ => SvgBackend::new().render_scene(&scene).into_bytes(),
    };
    Ok(write_whole(path, &bytes)?)
}

/// The panels under the title of the run, thinned to that many pixel columns.
fn figure(run: &Run, signals: &[Signal], pixels: usize) -> Result<Figure, ChartError> {
    let times = time_range(&run.frames.time);
    let count = signals.len();
    let legends = signals.iter().any(|signal| (2..=LEGEND_LINES).contains(&signal.columns.len()));
    let right = if legends { RIGHT.1 } else { RIGHT.0 };
    let height = (HEIGHT / count as f64).clamp(PANEL_HEIGHT.1, PANEL_HEIGHT.0);

    let theme = Theme { grid_color: "#e3e3e3".to_string(), ..Theme::light() };
    let mut figure = Figure::new(count, 1).with_spacing(0.0).with_padding(8.0);
    let mut panels = Vec::with_capacity(count);
    let mut layouts = Vec::with_capacity(count);
    for (row, signal) in signals.iter().enumerate() {
        let last = row + 1 == count;
        let bottom = if last { BOTTOM.1 } else { BOTTOM.0 };
        let (plots, range, label) = panel(run, signal, &Axes { times, pixels, height })?;
        let mut layout = PanelLayout::auto_from_plots(&plots)
            .with_y_label(label)
            .with_x_axis_min(times.0)
            .with_x_axis_max(times.1)
            .with_y_axis_min(range.0)
            .with_y_axis_max(range.1)
            .with_ticks(if height < 150.0 { 3 } else { 5 })
            .with_theme(theme.clone())
            .with_label_size(14)
            .with_tick_size(12)
            .with_body_size(12)
            .with_legend_position(LegendPosition::OutsideRightTop)
            .with_legend_box(false)
            .with_force_margins(LEFT, right)
            .with_force_margins_y(TOP, bottom);
        if last {
            layout = layout.with_x_label("t [s]");
        }
        figure = figure.with_row_height(row, height + TOP + bottom);
        panels.push(plots);
        layouts.push(layout);
    }
    if !run.layout.title.is_empty() {
        figure = figure.with_title(plain(&run.layout.title)).with_title_size(18);
    }
    Ok(figure
        .with_plots(panels)
        .with_layouts(layouts)
        .with_col_width(0, WIDTH - 16.0)
        .with_shared_x_all())
}

/// The axes of a panel.
struct Axes {
    times: (f64, f64),
    pixels: usize,
    height: f64,
}

/// The lines of one signal, the range of its axis, and its label.
#[allow(clippy::type_complexity)]
fn panel(
    run: &Run,
    signal: &Signal,
    axes: &Axes,
) -> Result<(Vec<Plot>, (f64, f64), String), ChartError> {
    let whole = run.layout.signals.iter().find(|whole| {
        whole.owner == signal.owner
            && whole.quantity == signal.quantity
            && whole.columns.start <= signal.columns.start
            && signal.columns.end <= whole.columns.end
    });
    let Some(whole) = whole.filter(|_| !signal.columns.is_empty()) else {
        return Err(ChartError::Unknown { signal: signal.path() });
    };
    let (table, width) = (&run.frames.rows, run.layout.width());
    let columns = signal.columns.len();
    let lines = columns.min(LINES);
    let palette = Palette::category10();

    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    let column_of = |line: usize| signal.columns.start + line * columns / lines;
    let mut thin = Vec::with_capacity(lines);
    for line in 0..lines {
        let values = table[column_of(line)..].iter().step_by(width).copied();
        let points = thinned(&run.frames.time, values, axes.times, axes.pixels);
        for (_, value) in points.iter().flatten() {
            range = (range.0.min(*value), range.1.max(*value));
        }
        thin.push(points);
    }
    let range = padded(range);
    let flatness = FLATNESS * (range.1 - range.0) / axes.height;

    let mut plots = Vec::new();
    for (line, points) in thin.iter().enumerate() {
        let column = column_of(line);
        let color = &palette.colors()[line % palette.len()];
        let stroke = if lines > LEGEND_LINES { 0.9 } else { 1.4 };
        let name = format!("{}[{}]", signal.quantity.name(), column - whole.columns.start);
        let segments = points.split(Option::is_none).filter(|segment| !segment.is_empty());
        for (number, segment) in segments.enumerate() {
            let points = straightened(segment.iter().flatten().copied(), flatness);
            let mut plot = LinePlot::new().with_data(points).with_color(color.clone());
            plot = plot.with_stroke_width(stroke);
            // one entry a line, however many gaps it has
            if number == 0 && (2..=LEGEND_LINES).contains(&columns) {
                plot = plot.with_legend(name.clone());
            }
            plots.push(Plot::Line(plot));
        }
    }

    let path = plain(&signal.path());
    let label = match columns {
        1 if whole.columns.len() == 1 => path,
        1 => format!("{path}[{}]", signal.columns.start - whole.columns.start),
        _ if lines < columns => format!("{path} ({lines} of {columns})"),
        _ => path,
    };
    Ok((plots, range, label))
}

/// The points of a line, at most four a pixel column; `None` is a gap.
fn thinned(
    times: &[f64],
    values: impl Iterator<Item = f64>,
    range: (f64, f64),
    pixels: usize,
) -> Vec<Option<(f64, f64)>> {
    let rows = times.iter().copied().zip(values);
    let finite =
        |(t, value): (f64, f64)| (t.is_finite() && value.is_finite()).then_some((t, value));
    if times.len() <= 4 * pixels {
        return rows.map(finite).collect();
    }

    let scale = pixels as f64 / (range.1 - range.0);
    let mut points = Vec::with_capacity(4 * pixels);
    let mut column = Column::default();
    for (t, value) in rows {
        let pixel = ((t - range.0) * scale) as usize;
        if pixel != column.pixel {
            column.flush(&mut points);
            column = Column { pixel, ..Column::default() };
        }
        column.take(finite((t, value)));
    }
    column.flush(&mut points);
    points
}

/// Leaves out the points that a straight line between their neighbours passes within `flatness`.
///
/// From a point that is kept, `(t₀, y₀)`, the slopes that pass all points since then are an
/// interval, which shrinks with every point:
///
/// ```text
/// (yᵢ − y₀ − flatness)/(tᵢ − t₀)  ≤  slope  ≤  (yᵢ − y₀ + flatness)/(tᵢ − t₀)
/// ```
///
/// The last point whose own slope is in the interval of those before it is kept next.
fn straightened(points: impl Iterator<Item = (f64, f64)>, flatness: f64) -> Vec<(f64, f64)> {
    let all_slopes = (f64::NEG_INFINITY, f64::INFINITY);
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let (mut slopes, mut previous) = (all_slopes, None);
    for point in points {
        let Some(&(mut anchor)) = kept.last() else {
            kept.push(point);
            continue;
        };
        let slope = |anchor: (f64, f64)| (point.1 - anchor.1) / (point.0 - anchor.0);
        // also where time stands still: then the slope is no number
        let fits = slope(anchor) >= slopes.0 && slope(anchor) <= slopes.1;
        if let Some(before) = previous.filter(|_| !(fits && point.0 > anchor.0)) {
            kept.push(before);
            anchor = before;
            slopes = all_slopes;
        }
        if point.0 > anchor.0 {
            let room = flatness / (point.0 - anchor.0);
            slopes.0 = slopes.0.max(slope(anchor) - room);
            slopes.1 = slopes.1.min(slope(anchor) + room);
        } else {
            slopes = (f64::INFINITY, f64::NEG_INFINITY); // a jump: no line passes it
        }
        previous = Some(point);
    }
    kept.extend(previous);
    kept
}

/// What a line has in one pixel column: points with their place among the rows.
#[derive(Default)]
struct Column {
    pixel: usize,
    rows: usize,
    first: Option<(f64, f64)>,
    low: Option<(usize, (f64, f64))>,
    high: Option<(usize, (f64, f64))>,
    last: Option<(f64, f64)>,
}

impl Column {
    fn take(&mut self, point: Option<(f64, f64)>) {
        self.rows += 1;
        let Some(point) = point else { return };
        self.first = self.first.or(Some(point));
        self.last = Some(point);
        if self.low.is_none_or(|(_, low)| point.1 < low.1) {
            self.low = Some((self.rows, point));
        }
        if self.high.is_none_or(|(_, high)| point.1 > high.1) {
            self.high = Some((self.rows, point));
        }
    }

    fn flush(&self, points: &mut Vec<Option<(f64, f64)>>) {
        let (Some(first), Some(low), Some(high), Some(last)) =
            (self.first, self.low, self.high, self.last)
        else {
            if self.rows > 0 {
                points.push(None);
            }
            return;
        };
        let inner = if low.0 < high.0 { [low.1, high.1] } else { [high.1, low.1] };
        for point in [first, inner[0], inner[1], last] {
            if points.last() != Some(&Some(point)) {
                points.push(Some(point));
            }
        }
    }
}

/// The span of the recorded instants; never empty.
fn time_range(times: &[f64]) -> (f64, f64) {
    let finite = times.iter().copied().filter(|t| t.is_finite());
    let (start, end) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(start, end), t| {
        (f64::min(start, t), f64::max(end, t))
    });
    if start < end {
        (start, end)
    } else if start == end {
        (start - 0.5, end + 0.5)
    } else {
        (0.0, 1.0)
    }
}

/// The range of an axis around the values; a constant gets room to be seen in.
fn padded((low, high): (f64, f64)) -> (f64, f64) {
    if !(low <= high) {
        return (-1.0, 1.0);
    }
    let span = high - low;
    let room = if span > 1e-9 * low.abs().max(high.abs()) {
        0.06 * span
    } else if low == 0.0 {
        1.0
    } else {
        0.1 * low.abs().max(high.abs())
    };
    (low - room, high + room)
}

/// A text as it stands: kuva typesets what is between dollar signs.
fn plain(text: &str) -> String {
    text.replace('$', "\\$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_survives_thinning() {
        let times: Vec<f64> = (0..1_000_000).map(|row| row as f64 * 1e-6).collect();
        let mut values = vec![0.0; times.len()];
        values[123_456] = 7.0;
        values[654_321] = -3.0;
        let points = thinned(&times, values.into_iter(), (0.0, 1.0), PIXELS);
        assert!(points.len() <= 4 * (PIXELS + 1));
        assert!(points.contains(&Some((times[123_456], 7.0))));
        assert!(points.contains(&Some((times[654_321], -3.0))));
        let drawn: Vec<f64> = points.iter().flatten().map(|point| point.0).collect();
        assert!(drawn.is_sorted());
        assert_eq!((drawn[0], drawn[drawn.len() - 1]), (times[0], times[999_999]));
    }

    #[test]
    fn what_is_not_finite_leaves_a_gap() {
        let values = [0.0, f64::NAN, 2.0, f64::INFINITY];
        let points = thinned(&[0.0, 1.0, 2.0, 3.0], values.into_iter(), (0.0, 3.0), PIXELS);
        assert_eq!(points, [Some((0.0, 0.0)), None, Some((2.0, 2.0)), None]);
    }

    #[test]
    fn straight_parts_need_no_points() {
        let check = |values: &[(f64, f64)], expected: &[(f64, f64)]| {
            assert_eq!(straightened(values.iter().copied(), 1e-3), expected);
        };
        check(&[], &[]);
        check(&[(0.0, 1.0)], &[(0.0, 1.0)]);
        check(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], &[(0.0, 0.0), (3.0, 3.0)]);
        let bend = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 1.0), (4.0, 2.0)];
        check(&bend, &[(0.0, 0.0), (2.0, 0.0), (4.0, 2.0)]);
        // two values at one instant
        let jump = [(0.0, 0.0), (1.0, 0.0), (1.0, 5.0), (2.0, 5.0)];
        check(&jump, &[(0.0, 0.0), (1.0, 0.0), (1.0, 5.0), (2.0, 5.0)]);
        let peak = [(0.0, 0.0), (0.5, 0.0), (1.0, 7.0), (1.5, 0.0), (2.0, 0.0)];
        check(&peak, &peak);
    }

    #[test]
    fn what_is_left_out_is_near_the_line() {
        let points: Vec<_> = (0..5000).map(|k| k as f64 * 1e-3).map(|t| (t, t.sin())).collect();
        let kept = straightened(points.iter().copied(), 1e-2);
        assert!(kept.len() < 60, "{}", kept.len());
        for &(t, y) in &points {
            let after = kept.partition_point(|point| point.0 < t).max(1);
            let (a, b) = (kept[after - 1], kept[after]);
            let line = a.1 + (b.1 - a.1) * (t - a.0) / (b.0 - a.0);
            assert!((line - y).abs() <= 1.0001e-2, "{t}");
        }
    }

    #[test]
    fn states_come_before_multipliers() {
        let signal = |owner: usize, quantity| Signal {
            owner: format!("bead {owner}"),
            quantity,
            columns: owner..owner + 1,
        };
        let mut layout = Layout::default();
        for owner in 0..100 {
            for quantity in [Quantity::Y, Quantity::Lam, Quantity::Q] {
                layout.signals.push(signal(owner, quantity));
            }
        }
        let quantities = |layout: &Layout| -> Vec<Quantity> {
            default_signals(layout).iter().map(|signal| signal.quantity).collect()
        };
        use Quantity::{Lam, Q, Y};
        assert_eq!(quantities(&layout), [Q, Q, Q, Q, Lam, Lam]);
        layout.signals.retain(|signal| signal.quantity != Q);
        assert_eq!(quantities(&layout), [Lam; 6]);
        layout.signals.retain(|signal| signal.quantity == Y);
        assert_eq!(quantities(&layout), [Y; 6]);
    }

    #[test]
    fn axes_are_never_empty() {
        assert_eq!(padded((0.0, 0.0)), (-1.0, 1.0));
        assert_eq!(padded((f64::INFINITY, f64::NEG_INFINITY)), (-1.0, 1.0));
        assert_eq!(padded((10.0, 10.0)), (9.0, 11.0));
        assert_eq!(time_range(&[2.0]), (1.5, 2.5));
        assert_eq!(time_range(&[]), (0.0, 1.0));
    }
}
