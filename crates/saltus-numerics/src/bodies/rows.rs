//! Contacts of rigid bodies in units of their masses.
//!
//! ```text
//! s = M^½ V,     w = K s + q + C z,     s = s_free + Kᵀ z                                     (1)
//! ```
//!
//! All contacts have three components here; those that a law does not have are rows of zeros.

use super::{FORESEEN, Friction, Island, MovingBody, Symmetric, Touch, Vector, cross, dot};
use saltus_linalg::vector::foresee;
use saltus_linalg::{GraphLu, PairPlace, Wide, wide};

/// `s` of a body: along, about.
pub(super) type Motion = [f64; 6];

/// No body that moves.
pub(super) const FIXED: u32 = u32::MAX;

/// A contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub sides: [u32; 2],
    pub K: [[f64; 18]; 2],
    pub q: [f64; 3],
    pub mu: f64,
    /// Of the normal and the tangents.
    pub C: [f64; 2],
    /// The mean of the diagonal of `K Kᵀ + C`.
    pub size: f64,
    /// Where the blocks of its bodies stand, once they are [joined](Rows::join).
    pub pair: Option<PairPlace>,
}

/// `s` of each body without impulses.
pub(super) trait Free: Iterator<Item = Motion> + Clone {}

impl<T: Iterator<Item = Motion> + Clone> Free for T {}

impl Island<'_> {
    /// `s` of its members without impulses.
    pub(super) fn free(&self) -> impl Free {
        let Island { bodies, members, .. } = *self;
        members.iter().map(|&k| Root::of(&bodies[k as usize]).motion(&bodies[k as usize]))
    }
}

/// Contacts of bodies, to be looked at one by one, wherever they are kept.
pub(super) trait Whole {
    /// How many bodies there are.
    fn bodies(&self) -> usize;

    /// How many contacts.
    fn count(&self) -> usize;

    /// The bodies of one.
    fn sides(&self, c: usize) -> [u32; 2];

    /// What a look at one of them tells.
    fn look<T>(&self, c: usize, see: impl FnOnce(&Row) -> T) -> T;

    /// `s` under the impulses `z`, from that without.
    fn follow_from(&self, free: impl Free, z: &[f64], s: &mut Vec<Motion>) {
        s.clear();
        s.extend(free);
        for (c, z) in z.chunks_exact(3).enumerate() {
            self.look(c, |row| row.push([z[0], z[1], z[2]], s));
        }
    }
}

/// `M^-½` of a body: `1/√m`, and `L` of `J⁻¹ = L Lᵀ`.
#[derive(Debug, Clone, Copy, Default)]
struct Root {
    mass: f64,
    turn: [f64; 6],
}

/// All contacts of an island.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub all: Vec<Row>,
    pub free: Vec<Motion>,
    pub place: Vec<u32>, // of each body among the members; FIXED between calls
    roots: Vec<Root>,    // of each member
}

impl Rows {
    /// The contacts of an island.
    pub fn fill(&mut self, island: Island<'_>) {
        let Rows { all, free, place, roots } = self;
        roots.clear();
        roots.extend(island.members.iter().map(|&k| Root::of(&island.bodies[k as usize])));
        free.clear();
        let members = island.members.iter().zip(&*roots);
        free.extend(members.map(|(&k, root)| root.motion(&island.bodies[k as usize])));
        all.clear();
        foresee(all, island.touches.len(), FORESEEN * island.members.len());
        Unkept::of(island, place, |whole| {
            all.extend(island.touches.iter().map(|touch| {
                let sides = touch.bodies.map(|k| whole.place[k as usize]);
                Row::new(touch, sides, |side| roots[sides[side] as usize])
            }));
        });
    }

    /// These bodies and contacts, in units of the masses.
    pub fn set(
        &mut self,
        free: Vec<Motion>,
        contacts: impl Iterator<Item = ([Option<u32>; 2], [[f64; 18]; 2], [f64; 3], f64)>,
    ) {
        self.free = free;
        self.all.clear();
        for (sides, K, q, mu) in contacts {
            let size = K.iter().flatten().map(|x| x * x).sum::<f64>() / 3.0;
            let sides = sides.map(|side| side.unwrap_or(FIXED));
            self.all.push(Row { sides, K, q, mu, C: [0.0; 2], size, pair: None });
        }
    }

    /// `s` under the impulses `z`.
    pub fn follow(&self, z: &[f64], s: &mut Vec<Motion>) {
        self.follow_from(self.free.iter().copied(), z, s);
    }

    /// Some of the contacts alone, as rows of their own: what the others push is in the velocities `s` of all
    /// impulses `z`.
    pub fn part(&mut self, whole: &impl Whole, of: &[u32], z: &[f64], s: &[Motion]) {
        self.place.resize(whole.bodies().max(self.place.len()), FIXED);
        self.free.clear();
        self.all.clear();
        for &c in of {
            let mut row = whole.look(c as usize, |row| *row);
            for side in &mut row.sides {
                if *side != FIXED {
                    let place = &mut self.place[*side as usize];
                    if *place == FIXED {
                        *place = self.free.len() as u32;
                        self.free.push(s[*side as usize]);
                    }
                    *side = *place;
                }
            }
            let z = &z[3 * c as usize..];
            row.push([-z[0], -z[1], -z[2]], &mut self.free);
            self.all.push(row);
        }
        for &c in of {
            for side in whole.sides(c as usize).into_iter().filter(|&side| side != FIXED) {
                self.place[side as usize] = FIXED;
            }
        }
    }

    /// The analysis of the matrix of [`assemble`](Self::assemble).
    pub fn join(&mut self, lu: &mut GraphLu) {
        let pairs = self.all.iter().filter_map(Row::pair);
        lu.fit(self.free.len(), pairs);
        for row in &mut self.all {
            row.pair = row.pair().and_then(|(a, b)| lu.pair(a, b));
        }
    }

    /// `1 + Kᵀ D K`, with one block `D` a contact.
    pub fn assemble(&self, D: &[[f64; 9]], lu: &mut GraphLu) {
        wide(Assemble { rows: self, D, lu });
    }
}

impl Whole for Rows {
    fn bodies(&self) -> usize {
        self.free.len()
    }

    fn count(&self) -> usize {
        self.all.len()
    }

    fn sides(&self, c: usize) -> [u32; 2] {
        self.all[c].sides
    }

    #[inline]
    fn look<T>(&self, c: usize, see: impl FnOnce(&Row) -> T) -> T {
        see(&self.all[c])
    }
}

/// Contacts of an island, made where they are looked at: of many, rows would take more memory than anything else.
pub(super) struct Unkept<'a> {
    island: Island<'a>,
    place: &'a [u32],
}

impl Unkept<'_> {
    /// Looks at those of an island; `place` has room for all bodies, which are FIXED before and after.
    pub fn of(island: Island<'_>, place: &mut Vec<u32>, look: impl FnOnce(&Unkept<'_>)) {
        place.resize(island.bodies.len().max(place.len()), FIXED);
        for (at, &k) in island.members.iter().enumerate() {
            place[k as usize] = at as u32;
        }
        look(&Unkept { island, place });
        island.members.iter().for_each(|&k| place[k as usize] = FIXED);
    }
}

impl Whole for Unkept<'_> {
    fn bodies(&self) -> usize {
        self.island.members.len()
    }

    fn count(&self) -> usize {
        self.island.touches.len()
    }

    fn sides(&self, c: usize) -> [u32; 2] {
        self.island.touches[c].bodies.map(|k| self.place[k as usize])
    }

    #[inline]
    fn look<T>(&self, c: usize, see: impl FnOnce(&Row) -> T) -> T {
        let Island { bodies, touches, .. } = self.island;
        let touch = &touches[c];
        let root = |side: usize| Root::of(&bodies[touch.bodies[side] as usize]);
        see(&Row::new(touch, self.sides(c), root))
    }
}

/// What [`Rows::assemble`] does.
struct Assemble<'a> {
    rows: &'a Rows,
    D: &'a [[f64; 9]],
    lu: &'a mut GraphLu,
}

impl Wide for Assemble<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        let Assemble { rows, D, lu } = self;
        lu.set_identity();
        for (row, D) in rows.all.iter().zip(D) {
            if D.iter().all(|x| *x == 0.0) {
                continue;
            }
            let [DA, DB] = [product(D, &row.K[0]), product(D, &row.K[1])];
            if row.sides[0] != FIXED {
                add(lu.diagonal(row.sides[0] as usize), &row.K[0], &DA);
            }
            if row.sides[1] != FIXED {
                add(lu.diagonal(row.sides[1] as usize), &row.K[1], &DB);
            }
            if let Some(pair) = row.pair {
                let (first, second) = lu.blocks(pair);
                add(first, &row.K[0], &DB);
                add(second, &row.K[1], &DA);
            }
        }
    }
}

impl Row {
    /// A contact of bodies that have these places among the members, and these roots where they move.
    #[inline]
    fn new(touch: &Touch, sides: [u32; 2], root: impl Fn(usize) -> Root) -> Row {
        let (mut K, mut size) = ([[0.0; 18]; 2], 0.0);
        let n = touch.friction.size();
        for side in 0..2 {
            if sides[side] == FIXED {
                continue;
            }
            let Root { mass, turn } = root(side);
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for k in 0..n {
                let about = cross(touch.arms[side], touch.frame[k]);
                let about = lower_transposed(&turn, about);
                for i in 0..3 {
                    K[side][6 * k + i] = sign * mass * touch.frame[k][i];
                    K[side][6 * k + 3 + i] = sign * about[i];
                }
            }
            size += K[side].iter().map(|x| x * x).sum::<f64>() / n as f64;
        }
        let mut q = [0.0; 3];
        q[..n].copy_from_slice(&touch.q[..n]);
        // without tangents the cone is as good as any other
        let mu = if touch.friction == Friction::None { 1.0 } else { touch.mu() };
        let C = touch.compliance;
        size += (C[0] + (n - 1) as f64 * C[1]) / n as f64;
        Row { sides, K, q, mu, C, size, pair: None }
    }

    /// `K Kᵀ + C`, with ones on the diagonal of components that the law does not have.
    pub fn block(&self) -> [f64; 9] {
        let mut W = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                for K in &self.K {
                    W[3 * i + j] += (0..6).map(|m| K[6 * i + m] * K[6 * j + m]).sum::<f64>();
                }
            }
        }
        for i in 0..3 {
            match W[4 * i] == 0.0 {
                true => W[4 * i] = 1.0,
                false => W[4 * i] += self.C[i.min(1)],
            }
        }
        W
    }

    /// Both bodies, where they move.
    fn pair(&self) -> Option<(usize, usize)> {
        let [a, b] = self.sides;
        (a != FIXED && b != FIXED && a != b).then_some((a as usize, b as usize))
    }

    /// `K s`.
    #[inline(always)]
    pub fn turn(&self, s: &[Motion]) -> [f64; 3] {
        // sums over even and odd places, side by side
        let mut w = [[0.0; 2]; 3];
        for side in 0..2 {
            if self.sides[side] != FIXED {
                let (K, s) = (&self.K[side], &s[self.sides[side] as usize]);
                for k in 0..3 {
                    for i in [0, 2, 4] {
                        w[k][0] += K[6 * k + i] * s[i];
                        w[k][1] += K[6 * k + i + 1] * s[i + 1];
                    }
                }
            }
        }
        [w[0][0] + w[0][1], w[1][0] + w[1][1], w[2][0] + w[2][1]]
    }

    /// `K s + q`.
    #[inline(always)]
    pub fn velocity(&self, s: &[Motion]) -> [f64; 3] {
        let w = self.turn(s);
        [w[0] + self.q[0], w[1] + self.q[1], w[2] + self.q[2]]
    }

    /// `s ← s + Kᵀ z`.
    #[inline(always)]
    pub fn push(&self, z: [f64; 3], s: &mut [Motion]) {
        for side in 0..2 {
            if self.sides[side] != FIXED {
                let (K, s) = (&self.K[side], &mut s[self.sides[side] as usize]);
                for k in 0..3 {
                    for i in 0..6 {
                        s[i] += K[6 * k + i] * z[k];
                    }
                }
            }
        }
    }
}

/// `D K`.
#[inline(always)]
fn product(D: &[f64; 9], K: &[f64; 18]) -> [f64; 18] {
    let mut out = [0.0; 18];
    for i in 0..3 {
        for k in 0..3 {
            for j in 0..6 {
                out[6 * i + j] += D[3 * i + k] * K[6 * k + j];
            }
        }
    }
    out
}

/// `A ← A + Kᵀ (D K)`.
#[inline(always)]
fn add(A: &mut [f64; 36], K: &[f64; 18], DK: &[f64; 18]) {
    for i in 0..6 {
        let mut row = [0.0; 6];
        row.copy_from_slice(&A[6 * i..6 * i + 6]);
        for k in 0..3 {
            for j in 0..6 {
                row[j] += K[6 * k + i] * DK[6 * k + j];
            }
        }
        A[6 * i..6 * i + 6].copy_from_slice(&row);
    }
}

impl Root {
    fn of(body: &MovingBody) -> Root {
        Root { mass: body.inverse_mass.sqrt(), turn: root(&body.inverse_inertia) }
    }

    /// `M^½ V` of its body.
    fn motion(&self, body: &MovingBody) -> Motion {
        let [a, b, c] = body.v.map(|v| v / self.mass);
        let [d, e, f] = lower_solve(&self.turn, body.omega);
        [a, b, c, d, e, f]
    }
}

/// `L` of `J⁻¹ = L Lᵀ`: the entries 00, 10, 11, 20, 21, 22. What cannot turn has zeros.
fn root(A: &Symmetric) -> [f64; 6] {
    let over = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    let a = A[0].max(0.0).sqrt();
    let (b, d) = (over(A[3], a), over(A[4], a));
    let c = (A[1] - b * b).max(0.0).sqrt();
    let e = over(A[5] - d * b, c);
    [a, b, c, d, e, (A[2] - d * d - e * e).max(0.0).sqrt()]
}

/// `L⁻¹ a`.
fn lower_solve(L: &[f64; 6], a: Vector) -> Vector {
    let over = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    let x = over(a[0], L[0]);
    let y = over(a[1] - L[1] * x, L[2]);
    [x, y, over(a[2] - L[3] * x - L[4] * y, L[5])]
}

/// `Lᵀ a`.
fn lower_transposed(L: &[f64; 6], a: Vector) -> Vector {
    [dot([L[0], L[1], L[3]], a), L[2] * a[1] + L[4] * a[2], L[5] * a[2]]
}
