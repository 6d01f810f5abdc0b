//! What follows the name in `.meas tran name …`, and signals.

use super::card::{EventCard, MeasureBody, Moment, Window};
use super::cursor::Cursor;
use super::error::NetlistError;
use super::expression::Expr;
use crate::measure::{Edge, Statistic};

/// Words of a measure that have a value.
pub(crate) const PARTS: &[&str] =
    &["from", "to", "at", "val", "td", "rise", "fall", "cross", "goal", "minval", "weight"];

/// A signal or an expression of signals, also as `par('…')`.
pub(crate) fn signal(cursor: &mut Cursor<'_>) -> Result<Expr, NetlistError> {
    let mut ahead = cursor.clone();
    if ahead.take_word("par")
        && ahead.take('(')
        && let Some(expr) = ahead.enclosed()?
    {
        ahead.close()?;
        *cursor = ahead;
        return Ok(expr);
    }
    // nodes may have numbers as names only inside `v( )`
    cursor.expression()
}

/// What follows the name of a measure.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<MeasureBody, NetlistError> {
    let at = cursor.next_at();
    let kind = cursor.word("what to measure, such as `avg`")?.key();
    let statistic = match kind.as_str() {
        "avg" => Some(Statistic::Average),
        "rms" => Some(Statistic::RootMeanSquare),
        "max" => Some(Statistic::Maximum),
        "min" => Some(Statistic::Minimum),
        "pp" => Some(Statistic::PeakToPeak),
        "integ" | "integral" => Some(Statistic::Integral),
        "max_at" => Some(Statistic::TimeOfMaximum),
        "min_at" => Some(Statistic::TimeOfMinimum),
        _ => None,
    };
    if let Some(kind) = statistic {
        let signal = signal(cursor)?;
        return Ok(MeasureBody::Statistic { kind, signal, window: window(cursor)? });
    }
    match kind.as_str() {
        "when" => {
            let event = when(cursor)?;
            Ok(MeasureBody::When { event: event.0, window: event.1 })
        }
        "find" | "deriv" | "derivative" => {
            let is_find = kind == "find";
            let signal = signal(cursor)?;
            if cursor.take_word("at") {
                let _ = cursor.take('=');
                let at = cursor.expression()?;
                return Ok(match is_find {
                    true => MeasureBody::FindAt { signal, at },
                    false => MeasureBody::DerivativeAt { signal, at },
                });
            }
            if !cursor.take_word("when") {
                return Err(cursor.expected("`when` or `at=`"));
            }
            let (event, window) = when(cursor)?;
            Ok(match is_find {
                true => MeasureBody::Find { signal, event, window },
                false => MeasureBody::DerivativeWhen { signal, event, window },
            })
        }
        "trig" => {
            let trigger = moment(cursor)?;
            if !cursor.take_word("targ") {
                return Err(cursor.expected("`targ`"));
            }
            Ok(MeasureBody::Delay { trigger, target: moment(cursor)? })
        }
        "param" => {
            let _ = cursor.take('=');
            Ok(MeasureBody::Formula(cursor.expression()?))
        }
        _ => {
            cursor.seek(at);
            Err(cursor.expected(
                "`avg`, `rms`, `max`, `min`, `max_at`, `min_at`, `pp`, `integ`, `when`, `find`, `deriv`, `trig` or `param`",
            ))
        }
    }
}

/// `from=` and `to=`; the sign may be left out.
fn window(cursor: &mut Cursor<'_>) -> Result<Window, NetlistError> {
    let mut window = [None, None];
    while cursor.is_next("from") || cursor.is_next("to") {
        let is_to = cursor.word("`from` or `to`")?.is("to");
        let _ = cursor.take('=');
        window[usize::from(is_to)] = Some(cursor.expression()?);
    }
    Ok(window)
}

/// `left=right` and which of the times they meet.
fn when(cursor: &mut Cursor<'_>) -> Result<(EventCard, Window), NetlistError> {
    let left = signal(cursor)?;
    if !cursor.take('=') {
        return Err(cursor.expected("`=`"));
    }
    let right = signal(cursor)?;
    let mut event = EventCard { left, right, edge: Edge::Cross, count: None, delay: None };
    let mut bounds = [None, None];
    loop {
        let mut found = window(cursor)?;
        for (bound, found) in bounds.iter_mut().zip(&mut found) {
            *bound = found.take().or(bound.take());
        }
        if !cursor.is_key() || !edge(cursor, &mut event)? {
            return Ok((event, bounds));
        }
    }
}

/// `rise=`, `fall=`, `cross=` or `td=`, if one is next.
fn edge(cursor: &mut Cursor<'_>, event: &mut EventCard) -> Result<bool, NetlistError> {
    let kind = match cursor.peek().map(str::to_lowercase).as_deref() {
        Some("rise") => Some(Edge::Rise),
        Some("fall") => Some(Edge::Fall),
        Some("cross") => Some(Edge::Cross),
        Some("td") => None,
        _ => return Ok(false),
    };
    let key = cursor.word("an edge")?;
    cursor.equals(&key)?;
    match kind {
        Some(kind) => {
            event.edge = kind;
            event.count = Some(match cursor.take_word("last") {
                true => None,
                false => Some(cursor.expression()?),
            });
        }
        None => event.delay = Some(cursor.expression()?),
    }
    Ok(true)
}

/// `at=time`, or `signal val=value` and an edge.
fn moment(cursor: &mut Cursor<'_>) -> Result<Moment, NetlistError> {
    if cursor.is_next("at") && cursor.is_key() {
        let key = cursor.word("`at`")?;
        cursor.equals(&key)?;
        return Ok(Moment::At(cursor.expression()?));
    }
    let left = signal(cursor)?;
    let right = Expr::number(0.0, left.at);
    let mut event = EventCard { left, right, edge: Edge::Cross, count: None, delay: None };
    let mut has_value = false;
    while cursor.is_key() {
        if cursor.is_next("val") {
            let key = cursor.word("`val`")?;
            cursor.equals(&key)?;
            event.right = cursor.expression()?;
            has_value = true;
        } else if !edge(cursor, &mut event)? {
            break;
        }
    }
    if cursor.take('=') {
        event.right = signal(cursor)?;
        has_value = true;
        while cursor.is_key() && edge(cursor, &mut event)? {}
    }
    if !has_value {
        return Err(cursor.expected("`val=`"));
    }
    Ok(Moment::Event(event))
}
