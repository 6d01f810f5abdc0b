//! A place where two shapes meet, and how many such places are enough.

use saltus_model::rotation::{Vector, add, dot, scaled, sub, tangents};

/// A contact of two shapes, before it has sides and a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Touch {
    pub gap: f64,
    /// From the second shape to the first.
    pub normal: Vector,
    /// In the middle of the gap.
    pub point: Vector,
    /// What of each shape it is on.
    pub features: [u32; 2],
}

impl Touch {
    /// Where `on` is a point of the second shape's surface, or its core's, of radius zero.
    pub fn on_second(on: Vector, normal: Vector, gap: f64, features: [u32; 2]) -> Touch {
        Touch { gap, normal, point: add(on, scaled(0.5 * gap, normal)), features }
    }

    /// The same with the shapes the other way round.
    pub fn flipped(self) -> Touch {
        let [a, b] = self.features;
        Touch { normal: scaled(-1.0, self.normal), features: [b, a], ..self }
    }
}

/// Turns everything from `start` on round.
pub(super) fn flip(touches: &mut [Touch]) {
    for touch in touches {
        *touch = touch.flipped();
    }
}

/// Normals that differ by less than this (about 2.6°) press the same way.
const SAME_WAY: f64 = 1.0 - 1e-3;

/// Contacts that are closer than this share of the size are one.
const SAME_PLACE: f64 = 1e-5;

/// Leaves one of several contacts in the same place that press the same way: the deepest, and of
/// equally deep ones that with the smallest features.
pub(super) fn merge(touches: &mut Vec<Touch>, start: usize, size: f64) {
    let near = SAME_PLACE * size;
    let mut kept = start;
    for k in start..touches.len() {
        let touch = touches[k];
        let same = touches[start..kept].iter().position(|other| {
            let apart = sub(other.point, touch.point);
            dot(apart, apart) <= near * near && dot(other.normal, touch.normal) > SAME_WAY
        });
        match same {
            None => {
                touches[kept] = touch;
                kept += 1;
            }
            Some(k) => {
                let other = &mut touches[start + k];
                let deeper = touch.gap < other.gap - 1e-9 * size;
                let level = touch.gap < other.gap + 1e-9 * size;
                if deeper || (level && touch.features < other.features) {
                    *other = touch;
                }
            }
        }
    }
    touches.truncate(kept);
}

/// Leaves at most four of the contacts that press the same way: those that reach farthest along four
/// directions across the normal, and the deepest. The directions are turned by an odd angle, so that
/// no regular arrangement is a tie.
pub(super) fn reduce(touches: &mut Vec<Touch>, start: usize, size: f64) {
    let mut from = start;
    while from < touches.len() {
        // bring those that press the same way together
        let normal = touches[from].normal;
        let mut end = from + 1;
        for k in from + 1..touches.len() {
            if dot(touches[k].normal, normal) > SAME_WAY {
                touches.swap(k, end);
                end += 1;
            }
        }
        let left = keep_four(&mut touches[from..end], normal, size);
        touches.drain(from + left..end);
        from += left;
    }
}

/// Brings those to keep to the front; says how many they are.
fn keep_four(touches: &mut [Touch], normal: Vector, size: f64) -> usize {
    if touches.len() <= 2 {
        return touches.len();
    }
    if keep_ends(touches, size) {
        return 2;
    }
    if touches.len() <= 4 {
        return touches.len();
    }
    let [t1, t2] = tangents(normal);
    let (sin, cos) = (0.3_f64.sin(), 0.3_f64.cos());
    let (d1, d2) = (add(scaled(cos, t1), scaled(sin, t2)), sub(scaled(cos, t2), scaled(sin, t1)));
    let mut kept = 0;
    for direction in [d1, d2, scaled(-1.0, d1), scaled(-1.0, d2)] {
        let mut best = 0;
        let mut farthest = f64::NEG_INFINITY;
        for (k, touch) in touches.iter().enumerate() {
            // of those above each other the deepest
            let along = dot(direction, touch.point) - 0.1 * touch.gap;
            if along > farthest + 1e-9 * size {
                (best, farthest) = (k, along);
            }
        }
        if best >= kept {
            touches.swap(best, kept);
            kept += 1;
        }
    }
    // the deepest, where it is deeper than those by more than a tilt of rest makes it
    let lowest =
        |touches: &[Touch]| touches.iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
    let (inside, all) = (lowest(&touches[..kept]), lowest(touches));
    if all < inside - 1e-6 * size
        && let Some(k) = touches.iter().position(|t| t.gap == all)
    {
        touches.swap(k, kept);
        kept += 1;
    }
    kept
}

/// Whether all contacts are on one line; if so, its ends are brought to the front.
fn keep_ends(touches: &mut [Touch], size: f64) -> bool {
    let far = |from: Vector, touches: &[Touch]| {
        let mut best = (0, -1.0);
        for (k, touch) in touches.iter().enumerate() {
            let apart = sub(touch.point, from);
            let square = dot(apart, apart);
            if square > best.1 {
                best = (k, square);
            }
        }
        best
    };
    let (first, _) = far(touches[0].point, touches);
    let start = touches[first].point;
    let (second, square) = far(start, touches);
    if !(square > 0.0) {
        return false;
    }
    let along = scaled(1.0 / square.sqrt(), sub(touches[second].point, start));
    let straight = touches.iter().all(|touch| {
        let from = sub(touch.point, start);
        let off = sub(from, scaled(dot(from, along), along));
        dot(off, off) <= (SAME_PLACE * size).powi(2)
    });
    if straight {
        let (first, second) = (first.min(second), first.max(second));
        touches.swap(0, first);
        touches.swap(1, second);
    }
    straight
}
