//! Exact solutions: closed forms, or arcs in closed form between events that are found exactly.

use crate::models::{BELT, G};
use std::f64::consts::PI;

/// Gap and velocity of a ball dropped from `gap` on a floor with restitution `e`.
pub fn ball(gap: f64, e: f64, t: f64) -> (f64, f64) {
    let t1 = (2.0 * gap / G).sqrt();
    if t <= t1 {
        return (gap - 0.5 * G * t * t, -G * t);
    }
    let (mut start, mut v) = (t1, e * G * t1);
    loop {
        let flight = 2.0 * v / G;
        if t < start + flight {
            let s = t - start;
            return (v * s - 0.5 * G * s * s, v - G * s);
        }
        if flight < 1e-16 * start {
            return (0.0, 0.0);
        }
        start += flight;
        v *= e;
    }
}

/// Beads on a line over a floor: one impact after the other, ballistic arcs between them.
#[derive(Debug, Clone)]
pub struct Billiard {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub impacts: Vec<f64>,
    R: f64,
    e: f64,
}

impl Billiard {
    pub fn new(n: usize) -> Billiard {
        let q = (0..n).map(|i| 1.0 + 0.25 * i as f64).collect();
        Billiard { t: 0.0, q, v: vec![0.0; n], impacts: Vec::new(), R: 0.1, e: 0.9 }
    }

    /// Time to the next impact, and the upper bead of the pair.
    fn next(&self) -> (f64, usize) {
        let mut next = (f64::INFINITY, 0);
        for i in 0..self.q.len() {
            let wait = if i == 0 {
                // y + v s − g s²/2 = 0, the later root
                let (y, v) = (self.q[0] - self.R, self.v[0]);
                (v + (v * v + 2.0 * G * y.max(0.0)).sqrt()) / G
            } else {
                let gap = self.q[i] - self.q[i - 1] - 2.0 * self.R;
                let closing = self.v[i - 1] - self.v[i];
                if closing > 0.0 { gap.max(0.0) / closing } else { f64::INFINITY }
            };
            if wait < next.0 {
                next = (wait, i);
            }
        }
        next
    }

    fn fly(&mut self, s: f64) {
        for (q, v) in self.q.iter_mut().zip(&mut self.v) {
            *q += *v * s - 0.5 * G * s * s;
            *v -= G * s;
        }
        self.t += s;
    }

    pub fn advance(&mut self, t: f64) {
        loop {
            let (wait, i) = self.next();
            if self.t + wait >= t {
                self.fly(t - self.t);
                return;
            }
            self.fly(wait);
            self.impacts.push(self.t);
            if i == 0 {
                self.v[0] *= -self.e;
            } else {
                let u = self.v[i] - self.v[i - 1];
                let p = -0.5 * (1.0 + self.e) * u;
                self.v[i] += p;
                self.v[i - 1] -= p;
            }
        }
    }
}

/// The tank behind the bridge sees the resistor alone: `ẍ + ẋ/(RC) + x/(LC) = 0`.
pub fn bridge(t: f64) -> [f64; 2] {
    let (L, C, R, v0) = (1e-2, 1e-6, 1e3, 10.0);
    let a: f64 = 0.5 / (R * C);
    let w = (1.0 / (L * C) - a * a).sqrt();
    let decay = (-a * t).exp();
    let (sin, cos) = (w * t).sin_cos();
    [v0 * decay * (cos - a / w * sin), v0 / (L * w) * decay * sin]
}

/// `s = 2.21 − t`, then `s = 0`.
pub fn sliding_mode(t: f64) -> [f64; 2] {
    let reach = |t: f64| 3.21 - t - 3.21 * (-t).exp();
    if t <= 2.21 {
        let x1 = reach(t);
        return [x1, 2.21 - t - x1];
    }
    let x1 = reach(2.21) * (2.21 - t).exp();
    [x1, -x1]
}

/// Straight lines from axis to axis.
pub fn spiral(start: [f64; 3], t: f64) -> [f64; 3] {
    let [mut x, mut y, mut z] = start;
    let mut left = t;
    while x.abs() + y.abs() > 1e-14 {
        // on an axis the next quadrant decides; the motion is clockwise
        let (mut sx, mut sy) = (x.signum(), y.signum());
        if x == 0.0 {
            sx = sy;
        }
        if y == 0.0 {
            sy = -sx;
        }
        let (dx, dy, dz) = (-sx + 2.0 * sy, -2.0 * sx - sy, sx + sy);
        let until = |p: f64, d: f64| if p * d < 0.0 { -p / d } else { f64::INFINITY };
        let (tx, ty) = (until(x, dx), until(y, dy));
        let s = tx.min(ty).min(left);
        x = if s == tx { 0.0 } else { x + s * dx };
        y = if s == ty { 0.0 } else { y + s * dy };
        z += s * dz;
        left -= s;
        if left <= 0.0 {
            return [x, y, z];
        }
    }
    [0.0, 0.0, z]
}

/// Half swings about 0 and −5, in turn.
pub fn lzc(t: f64) -> [f64; 2] {
    let C = 1.0 / (2.0 * PI).powi(2);
    let half = (t / 0.5).floor().min(4.0) as usize;
    let (centre, from) = [(0.0, 17.0), (-5.0, -17.0), (0.0, 7.0), (-5.0, -7.0), (-3.0, -3.0)][half];
    let (sin, cos) = (2.0 * PI * (t - 0.5 * half as f64)).sin_cos();
    [centre + (from - centre) * cos, -C * 2.0 * PI * (from - centre) * sin]
}

/// Circular arcs about `−sgn v`, until a turning point within [−1, 1].
pub fn dry_oscillator(t: f64) -> [f64; 2] {
    let (mut x, mut v, mut left) = (12.0f64, 6.0f64, t);
    let mut centre = -1.0;
    loop {
        // time to the turning point: v cos s − (x − c) sin s = 0
        let mut turn = v.atan2(x - centre).rem_euclid(PI);
        if turn < 1e-12 {
            turn = PI;
        }
        let s = turn.min(left);
        let (sin, cos) = s.sin_cos();
        let d = x - centre;
        (x, v) = (centre + d * cos + v * sin, v * cos - d * sin);
        left -= s;
        if left <= 0.0 {
            return [x, v];
        }
        v = 0.0;
        if x.abs() <= 1.0 {
            return [x, 0.0];
        }
        centre = x.signum(); // pulled back: v < 0 where x > 0
    }
}

/// Sticks to t = 2, then swings about 1 without ever sticking again.
pub fn belt(t: f64) -> [f64; 2] {
    if t <= 2.0 {
        return [BELT * t, BELT];
    }
    [1.0 + BELT * (t - 2.0).sin(), BELT * (t - 2.0).cos()]
}
