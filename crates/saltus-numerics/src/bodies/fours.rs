//! Sweeps over the contacts of a crowd, four at a time, with conjugate directions between them.
//!
//! ```text
//! z_c ← the answer of w_c = (W_cc + C_c) z_c + b_c with its law,    b_c = K_c s + q_c − W_cc z_c
//! s ← s + K_cᵀ (z_c⁺ − z_c)                                 for each contact in turn           (1)
//! z ← z + β p,    p ← β p + (z⁺ − z),    β = |z⁺ − z|²/|z − z⁻|²                               (2)
//! ```
//!
//! Four contacts that share no body that moves stand side by side, so that one register holds the same number of
//! each; contacts keep their order but for that ([a visit](super::visit) to four of them).
//! `s` is a linear function of `z`, so (2) moves it along; where `β > 1` the direction is forgotten.
//! Reference: Silcowitz, Niebe, Erleben, *The Visual Computer* 26 (2010) 893–901.

use super::FORESEEN;
use super::lanes::Kept;
use super::rows::{FIXED, Free, Motion, Row, Whole};
use super::visit::{Contacts, follow, visit};
use super::{Island, Twist};
use crate::watch::is_interrupted;
use saltus_linalg::vector::{self, room};
use saltus_linalg::{Lanes, WideLanes, wide_lanes};

/// Fours that wait for contacts with other bodies.
const OPEN: usize = 16;
/// Fours that are visited, about, from one question whether to stop to the next.
const SELDOM: usize = 256;

/// The contacts of a crowd and what the sweeps keep between calls.
#[derive(Debug)]
pub(super) struct Fours<T = f64> {
    all: Vec<Contacts<T>>,
    place: Vec<u32>, // of each contact: its four, and where in it
    bodies: usize,
    s: Vec<Motion>,      // the last one stands for all that does not move
    open: Vec<[u32; 5]>, // how many, and which
    s_before: Vec<Motion>,
    along: Vec<Motion>,
    change: Option<f64>, // of the last sweep from these impulses
    last: f64,           // and of the one before
}

impl<T> Default for Fours<T> {
    fn default() -> Self {
        Fours {
            all: Vec::new(),
            place: Vec::new(),
            bodies: 0,
            s: Vec::new(),
            open: Vec::new(),
            s_before: Vec::new(),
            along: Vec::new(),
            change: None,
            last: 0.0,
        }
    }
}

impl<T: Kept> Fours<T> {
    /// Room for the contacts of a crowd, and for as many as a heap of all these bodies has.
    pub fn foresee(&mut self, bodies: usize, contacts: usize) {
        let Fours { all, place, s, s_before, along, .. } = self;
        let [fours, foreseen] =
            [contacts, contacts.max(FORESEEN * bodies)].map(|count| count.div_ceil(4) + OPEN);
        all.clear();
        vector::foresee(all, fours, foreseen);
        place.clear();
        vector::foresee(place, contacts, FORESEEN * bodies);
        for of_bodies in [s, s_before, along] {
            of_bodies.clear();
            vector::room(of_bodies, bodies + 1);
        }
    }

    /// The contacts of a crowd.
    pub fn fill(&mut self, whole: &impl Whole) {
        let meets = |a: u32, b: u32| {
            let (a, b) = (whole.sides(a as usize), whole.sides(b as usize));
            a.iter().any(|k| *k != FIXED && b.contains(k))
        };
        let count = whole.count();
        (self.bodies, self.change) = (whole.bodies(), None);
        self.all.clear();
        room(&mut self.all, count.div_ceil(4) + OPEN);
        self.open.clear();
        self.place.clear();
        room(&mut self.place, count);
        self.place.resize(count, 0);
        for c in 0..count as u32 {
            let free = |four: &[u32; 5]| !four[1..=four[0] as usize].iter().any(|&o| meets(o, c));
            let at = match self.open.iter().position(free) {
                Some(at) => at,
                None => {
                    if self.open.len() == OPEN {
                        let four = self.open.remove(0);
                        self.close(whole, &four);
                    }
                    self.open.push([0; 5]);
                    self.open.len() - 1
                }
            };
            let four = &mut self.open[at];
            four[0] += 1;
            four[four[0] as usize] = c;
            if four[0] == 4 {
                let four = self.open.remove(at);
                self.close(whole, &four);
            }
        }
        while !self.open.is_empty() {
            let four = self.open.remove(0);
            self.close(whole, &four);
        }
        self.s.clear();
        room(&mut self.s, self.bodies + 1);
        self.s.resize(self.bodies + 1, [0.0; 6]);
    }

    /// These contacts side by side.
    fn close(&mut self, whole: &impl Whole, four: &[u32; 5]) {
        let mut contacts = Contacts::missing();
        contacts.sides = [[self.bodies as u32; 4]; 2];
        for (lane, &c) in four[1..=four[0] as usize].iter().enumerate() {
            self.place[c as usize] = (4 * self.all.len() + lane) as u32;
            whole.look(c as usize, |row| contacts.put(lane, row));
        }
        let count = self.all.len();
        room(&mut self.all, count + 1);
        self.all.push(contacts);
    }

    /// Begins at the impulses `z`; `free` are the velocities without them.
    pub fn begin(&mut self, free: impl Free, z: &[f64]) {
        let mut s = std::mem::take(&mut self.s);
        self.follow_from(free, z, &mut s);
        s.push([0.0; 6]);
        self.s = s;
        self.put(z);
    }

    /// The same after `change`, which changes the impulses and lets their velocities follow.
    pub fn begin_after<A>(
        &mut self,
        free: impl Free,
        z: &mut [f64],
        change: impl FnOnce(&Self, &mut [f64], &mut [Motion]) -> A,
    ) -> A {
        self.begin(free, z);
        let mut s = std::mem::take(&mut self.s);
        let done = change(self, z, &mut s[..self.bodies]);
        self.s = s;
        self.put(z);
        done
    }

    /// The same where `s` are their velocities.
    pub fn take(&mut self, z: &[f64], s: &[Motion]) {
        self.s[..s.len()].copy_from_slice(s);
        self.s[s.len()..].fill([0.0; 6]);
        self.put(z);
    }

    /// Where rows have seven digits: `q` so that `w` is that of the island under these impulses, whose motion is in `twists`, to the
    /// last digit. What follows is off by seven digits of its own change.
    pub fn aim(&mut self, island: Island<'_>, twists: &[Twist]) {
        for (touch, &place) in island.touches.iter().zip(&self.place) {
            let [at, lane] = four_and_lane(place);
            let own = &mut self.all[at];
            let [a, b] = touch.bodies.map(|k| &twists[k as usize]);
            let w = touch.moved(a, b);
            for k in 0..touch.friction.size() {
                let C = own.C[k.min(1)][lane].whole();
                let mut q = w[k] + (touch.compliance_of(k) - C) * own.z[k][lane];
                for side in 0..2 {
                    let s = &self.s[own.sides[side][lane] as usize];
                    q -= (0..6).map(|i| own.K[side][6 * k + i][lane].whole() * s[i]).sum::<f64>();
                }
                own.q[k][lane] = q;
            }
        }
    }

    fn put(&mut self, z: &[f64]) {
        self.change = None;
        for (z, &place) in z.chunks_exact(3).zip(&self.place) {
            let [at, lane] = four_and_lane(place);
            let own = &mut self.all[at];
            for k in 0..3 {
                (own.z[k][lane], own.before[k][lane], own.p[k][lane]) = (z[k], z[k], 0.0);
            }
        }
    }

    /// The impulses.
    pub fn leave(&self, z: &mut [f64]) {
        for (z, &place) in z.chunks_exact_mut(3).zip(&self.place) {
            let [at, lane] = four_and_lane(place);
            let own = &self.all[at].z;
            (0..3).for_each(|k| z[k] = own[k][lane]);
        }
    }

    /// Whether the last sweep changed no more than this.
    pub fn is_still(&self, still: f64) -> bool {
        self.change.is_some_and(|change| change <= still)
    }

    /// What the last sweep changed of each contact, an energy, place by place.
    pub fn changes(&self, mut see: impl FnMut(u32, f64)) {
        for (at, own) in self.all.iter().enumerate() {
            for lane in 0..4 {
                let step = |k: usize| (own.z[k][lane] - own.before[k][lane]).powi(2);
                see((4 * at + lane) as u32, own.size[lane] * (step(0) + step(1) + step(2)));
            }
        }
    }

    /// Places, those without a contact too: their bodies are FIXED.
    pub fn places(&self) -> std::ops::Range<u32> {
        0..4 * self.all.len() as u32
    }

    /// The bodies of a place.
    #[inline]
    pub fn sides_at(&self, place: u32) -> [u32; 2] {
        let ([at, lane], fixed) = (four_and_lane(place), self.bodies as u32);
        self.all[at].sides.map(|four| if four[lane] == fixed { FIXED } else { four[lane] })
    }

    /// What a look at one tells.
    #[inline]
    pub fn look_at<A>(&self, place: u32, see: impl FnOnce(&Row) -> A) -> A {
        let [at, lane] = four_and_lane(place);
        let own = &self.all[at];
        let (mut K, mut q) = ([[0.0; 18]; 2], [0.0; 3]);
        for side in 0..2 {
            (0..18).for_each(|k| K[side][k] = own.K[side][k][lane].whole());
        }
        (0..3).for_each(|k| q[k] = own.q[k][lane]);
        let (mu, size) = (own.mu[lane], own.size[lane]);
        let C = own.C.map(|C| C[lane].whole());
        see(&Row { sides: self.sides_at(place), K, q, mu, C, size, pair: None })
    }

    /// The impulse of a place.
    pub fn impulse_at(&self, place: u32) -> [f64; 3] {
        let [at, lane] = four_and_lane(place);
        let z = &self.all[at].z;
        [z[0][lane], z[1][lane], z[2][lane]]
    }

    /// Other impulses of these places and velocities of these bodies, which go with them: those of a part. Directions are forgotten.
    pub fn take_part(&mut self, part: &Fours<T>, places: &[u32], bodies: &[u32]) {
        for (&place, &from) in places.iter().zip(&part.place) {
            let ([at, lane], z) = (four_and_lane(place), part.impulse_at(from));
            (0..3).for_each(|k| self.all[at].z[k][lane] = z[k]);
        }
        for (&k, s) in bodies.iter().zip(&part.s) {
            self.s[k as usize] = *s;
        }
        self.change = None;
    }

    /// The velocity of a body.
    pub fn motion(&self, body: u32) -> &Motion {
        &self.s[body as usize]
    }

    /// So many sweeps at most, the last of which is left as it is; fewer where one changes no more than `still`, an energy. How
    /// many, which are all where it is to stop. Directions are those of the sweeps before, if there were any from these impulses on.
    pub fn run(&mut self, sweeps: usize, still: f64) -> usize {
        let seldom = 1 + SELDOM / (1 + self.all.len());
        for done in 1..=sweeps {
            if done.is_multiple_of(seldom) && is_interrupted() {
                return sweeps;
            }
            let [beta, kept] = self.go_on();
            let Fours { all, s, .. } = self;
            let change = wide_lanes(Sweep { all, s, beta, kept });
            self.change = Some(change);
            if change <= still {
                return done;
            }
        }
        sweeps
    }

    /// Equation (2) for the velocities, after a sweep; the impulses follow as the next one comes by, with this `β` and this share of
    /// their change.
    fn go_on(&mut self) -> [f64; 2] {
        let Fours { s, s_before, along, change, last, .. } = self;
        let Some(change) = *change else {
            along.clear();
            along.resize(s.len(), [0.0; 6]);
            s_before.clone_from(s);
            *last = f64::INFINITY;
            return [0.0; 2];
        };
        let beta = change / *last;
        let [beta, kept] = if beta < 1.0 { [beta, 1.0] } else { [0.0, 0.0] };
        *last = change;
        for ((s, before), along) in s.iter_mut().zip(s_before).zip(along) {
            for k in 0..6 {
                let step = s[k] - before[k];
                s[k] += beta * along[k];
                along[k] = beta * along[k] + kept * step;
            }
            *before = *s;
        }
        [beta, kept]
    }
}

/// The four of a place, and where in it.
#[inline]
fn four_and_lane(place: u32) -> [usize; 2] {
    [place as usize / 4, place as usize % 4]
}

impl<T: Kept> Whole for Fours<T> {
    fn bodies(&self) -> usize {
        self.bodies
    }

    fn count(&self) -> usize {
        self.place.len()
    }

    fn sides(&self, c: usize) -> [u32; 2] {
        self.sides_at(self.place[c])
    }

    #[inline]
    fn look<A>(&self, c: usize, see: impl FnOnce(&Row) -> A) -> A {
        self.look_at(self.place[c], see)
    }
}

/// Equation (1) for all contacts; the energy of the change.
struct Sweep<'a, T> {
    all: &'a mut [Contacts<T>],
    s: &'a mut [Motion],
    beta: f64,
    kept: f64,
}

impl<T: Kept> WideLanes for Sweep<'_, T> {
    type Answer = f64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> f64 {
        let Sweep { all, s, beta, kept } = self;
        let (beta, kept) = (lanes.splat(beta), lanes.splat(kept));
        let mut change = lanes.splat(0.0);
        for contacts in all {
            follow(lanes, contacts, beta, kept);
            change = lanes.add(change, visit(lanes, contacts, s));
        }
        lanes.sum(change)
    }
}

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::rows::{Rows, Unkept};
    use super::super::{Friction, Island, MovingBody, Touch, Twist};
    use super::*;

    impl Fours {
        /// What there is room for.
        pub fn rooms(&self) -> [usize; 5] {
            let Fours { all, place, s, s_before, along, .. } = self;
            [all.capacity(), place.capacity(), s.capacity(), s_before.capacity(), along.capacity()]
        }
    }

    fn filled(bodies: &[MovingBody], members: &[u32], touches: &[Touch]) -> (Rows, Fours) {
        let (mut rows, mut fours) = (Rows::default(), Fours::default());
        rows.fill(Island { bodies, members, touches });
        fours.fill(&rows);
        (rows, fours)
    }

    #[test]
    fn four_contacts_share_no_body_and_none_is_left_out() {
        let (bodies, members, touches) = heap(4, Friction::Space { mu: 0.4 }, 0.0);
        let (rows, fours) = filled(&bodies, &members, &touches);
        let fixed = members.len() as u32;
        for contacts in &fours.all {
            let mut seen = Vec::new();
            for lane in 0..4 {
                let sides = contacts.sides.map(|side| side[lane]);
                let moving = || sides.into_iter().filter(|k| *k != fixed);
                assert!(moving().all(|k| !seen.contains(&k)));
                seen.extend(moving());
            }
        }
        let mut places = fours.place.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), touches.len());
        // what is looked at is what was put there, kept before or not
        let kept = |row: &Row| (row.sides, row.K, row.q, row.mu, row.C, row.size);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut place = Vec::new();
        Unkept::of(island, &mut place, |unkept| {
            assert_eq!((fours.count(), unkept.count()), (touches.len(), touches.len()));
            for (c, row) in rows.all.iter().enumerate() {
                assert_eq!((fours.sides(c), unkept.sides(c)), (row.sides, row.sides));
                assert_eq!((fours.look(c, kept), unkept.look(c, kept)), (kept(row), kept(row)));
            }
        });
        assert!(place.iter().all(|&place| place == FIXED));
        // little room is lost
        assert!(4 * fours.all.len() < touches.len() + 4 * OPEN);
    }

    /// Sweeps solve heaps of weak friction, of every law that has three components at most.
    #[test]
    fn sweeps_solve() {
        let laws = [Friction::None, Friction::Space { mu: 0.2 }, Friction::Space { mu: 0.0 }];
        for friction in laws {
            let (bodies, members, touches) = heap(4, friction, 2.0);
            let (rows, mut fours) = filled(&bodies, &members, &touches);
            let (mut z, mut s) = (vec![0.0; 3 * touches.len()], Vec::new());
            rows.follow(&z, &mut s);
            fours.take(&z, &s);
            fours.run(3000, 0.0);
            fours.leave(&mut z);
            let mut twists = vec![Twist::default(); bodies.len()];
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let value = island.measure(&z, 3, &mut twists).residual.value;
            assert!(value <= 1e-9, "{friction:?} {value:e}");
            // the velocities went along
            rows.follow(&z, &mut s);
            for (a, b) in s.iter().zip(&fours.s) {
                assert!((0..6).all(|i| (a[i] - b[i]).abs() < 1e-9));
            }
        }
    }

    /// A block without an inverse is solved as any other.
    #[test]
    fn a_contact_whose_block_is_singular_is_solved() {
        // its third row is the sum of the others
        let K = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let mut own = [0.0; 18];
        (0..9).for_each(|k| own[6 * (k / 3) + k % 3] = K[k / 3][k % 3]);
        let contact = ([Some(0), None], [own, [0.0; 18]], [-1.0, 0.1, 0.0], 0.3);
        let mut rows = Rows::default();
        rows.set(vec![[0.0; 6]], [contact].into_iter());
        let (mut fours, mut z) = (Fours::<f64>::default(), [0.0; 3]);
        fours.fill(&rows);
        fours.begin(rows.free.iter().copied(), &z);
        fours.run(20, 0.0);
        fours.leave(&mut z);
        assert!(z.iter().all(|z| z.is_finite()) && z[0] > 0.0, "{z:?}");
        assert!(z[1].hypot(z[2]) <= (1.0 + 1e-12) * 0.3 * z[0], "{z:?}");
    }

    /// Contacts that are not kept beside the fours make the same sweeps, to the last bit.
    #[test]
    fn sweeps_do_not_know_where_contacts_were_kept() {
        let (bodies, members, touches) = heap(4, Friction::Space { mu: 0.4 }, 1.0);
        let (rows, mut fours) = filled(&bodies, &members, &touches);
        let mut others = Fours::<f64>::default();
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        Unkept::of(island, &mut Vec::new(), |whole| others.fill(whole));
        let mut z: Vec<f64> = (0..3 * touches.len()).map(|k| (k as f64).cos().max(0.0)).collect();
        let (mut same, mut s) = (z.clone(), Vec::new());
        for _ in 0..2 {
            rows.follow(&z, &mut s);
            fours.take(&z, &s);
            others.begin(island.free(), &same);
            fours.run(7, 0.0);
            others.run(7, 0.0);
            fours.leave(&mut z);
            others.leave(&mut same);
            assert_eq!(z, same);
        }
    }

    /// Two balls in line: what the first sweeps leave is the answer of each contact.
    #[test]
    fn a_slip_that_is_lost_is_found() {
        let (mut bodies, members, mut touches) = heap(1, Friction::Space { mu: 0.5 }, 0.0);
        touches.truncate(1);
        bodies[0].v = [3.0, 0.4, -1.0];
        bodies[0].omega = [0.0; 3];
        let (rows, mut fours) = filled(&bodies, &members, &touches);
        let mut s = Vec::new();
        // a guess that points the wrong way
        let mut z = [0.4, 0.15, -0.1];
        rows.follow(&z, &mut s);
        fours.take(&z, &s);
        fours.run(40, 0.0);
        fours.leave(&mut z);
        let mut twists = vec![Twist::default(); bodies.len()];
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let value = island.measure(&z, 3, &mut twists).residual.value;
        assert!(value <= 1e-12, "{value:e}");
        assert!((z[1].hypot(z[2]) - 0.5 * z[0]).abs() < 1e-12, "{z:?}");
    }
}
