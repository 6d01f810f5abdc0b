//! Sweeps that go on where impulses still change.
//!
//! In a large heap most impulses are settled after some dozens of sweeps, while in a few places they take hundreds
//! to shift. With what a sweep changes of each contact, an energy,
//!
//! ```text
//! e_c = m_c |z_c⁺ − z_c|²,     Σ e_c over the rest ≤ REST Σ e_c over all                               (1)
//! ```
//!
//! (`m_c` the mean of the diagonal of `W_cc + C_c`) the contacts that hold nearly all of it, with the others of their bodies, are a
//! heap of their own. Where those that hold it are few, it is swept with all other impulses as they are until it changes about as much as the rest does; in the same way, so that ever smaller
//! parts are swept ever longer. Sweeps over all begin and end it: only one of these tells that nothing changes any more.

use super::FORESEEN;
use super::fours::Fours;
use super::lanes::Kept;
use super::rows::{FIXED, Motion, Row, Whole};
use crate::watch::is_interrupted;
use saltus_linalg::vector::room;

/// Sweeps before a part is looked for, at first and then.
const FIRST: usize = 40;
const AHEAD: usize = 20;
/// (1), and the share of all contacts that those may be which hold the change.
const REST: f64 = 0.1;
const PART: f64 = 0.1;
/// A part is swept until a sweep changes this share of what it changes of the rest, or of what all are asked for if that is more.
const AIM: f64 = 0.3;
/// Sweeps over a part at most.
const MOST: usize = 1000;
/// Contacts up to which all of them are swept; parts in parts.
const FEW: usize = 200;
const DEEP: usize = 3;

/// What is kept between calls: each part is one of the part before.
#[derive(Debug)]
pub(super) struct Lively<T = f64> {
    parts: [Piece<T>; DEEP],
}

/// A part of a heap.
#[derive(Debug)]
struct Piece<T> {
    fours: Fours<T>,
    of: Vec<u32>, // its contacts, by their places in the heap
    bodies: Numbered,
    z: Vec<f64>,
    s: Vec<Motion>,
}

/// Bodies of a heap, numbered as they come by.
#[derive(Debug, Default)]
struct Numbered {
    all: Vec<u32>,
    place: Vec<u32>, // of each body of the heap among these; FIXED between calls
}

impl<T> Default for Lively<T> {
    fn default() -> Self {
        let part = |_| Piece {
            fours: Fours::default(),
            of: Vec::new(),
            bodies: Numbered::default(),
            z: Vec::new(),
            s: Vec::new(),
        };
        Lively { parts: std::array::from_fn(part) }
    }
}

impl<T: Kept> Lively<T> {
    /// So many sweeps at most, of all and of parts, until one over all of them changes no more than `still`. How many: a sweep over a part
    /// counts by its contacts.
    pub fn run(&mut self, fours: &mut Fours<T>, most: usize, still: f64) -> usize {
        let count = fours.count().max(1);
        let whole = Sizes { bodies: fours.bodies(), contacts: fours.count() };
        run(&mut self.parts, fours, most * count, still, whole).div_ceil(count).min(most)
    }
}

/// Bodies and contacts of the whole heap: any part may come to as many, and has room for them from the first on. What is
/// never written to takes no memory of the system.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    bodies: usize,
    contacts: usize,
}

/// The same where visits of contacts are counted.
fn run<T: Kept>(
    parts: &mut [Piece<T>],
    fours: &mut Fours<T>,
    most: usize,
    still: f64,
    whole: Sizes,
) -> usize {
    let count = fours.count();
    let (mut visits, mut ahead) = (0, FIRST);
    loop {
        let left = (most - visits).div_ceil(count.max(1));
        let parts = if count > FEW { &mut *parts } else { &mut [] };
        let Some((part, deeper)) = parts.split_first_mut() else {
            return visits + count * fours.run(left, still);
        };
        visits += count * fours.run(ahead.min(left), still);
        ahead = AHEAD;
        if fours.is_still(still) || visits >= most || is_interrupted() {
            return visits;
        }
        if let Some(rest) = part.pick(fours, whole) {
            part.take_from(fours, whole);
            let (own, aim) = (MOST * part.of.len(), AIM * rest.max(still));
            visits += run(deeper, &mut part.fours, own.min(most - visits), aim, whole);
            part.give_back(fours);
        }
        if visits >= most || is_interrupted() {
            return visits;
        }
    }
}

/// Contacts for which there is room, of whatever island of as many bodies.
fn foreseen(whole: Sizes) -> usize {
    whole.contacts.max(FORESEEN * whole.bodies)
}

impl<T: Kept> Piece<T> {
    /// The contacts that (1) leaves, with those of their bodies, where the former are few; the change of the rest.
    fn pick(&mut self, fours: &Fours<T>, whole: Sizes) -> Option<f64> {
        let Piece { of, bodies, .. } = self;
        // by powers of two
        let mut powers = [(0.0, 0_usize); 2048];
        let power = |change: f64| (change.to_bits() >> 52) as usize & 2047;
        fours.changes(|_, change| {
            let (sum, count) = &mut powers[power(change)];
            *sum += change;
            *count += 1;
        });
        let all: f64 = powers.iter().map(|(sum, _)| sum).sum();
        let most = (PART * fours.count() as f64) as usize;
        let (mut least, mut held, mut count) = (powers.len(), 0.0, 0);
        // a NaN never holds anything
        while !(held >= (1.0 - REST) * all) {
            least = least.checked_sub(1)?;
            held += powers[least].0;
            count += powers[least].1;
            if count > most {
                return None;
            }
        }

        bodies.begin(whole.bodies);
        fours.changes(|place, change| {
            if power(change) >= least {
                bodies.add(fours.sides_at(place));
            }
        });
        // all contacts of these, and the bodies that they are with
        let own = bodies.all.len() as u32;
        let is_own = |side: u32| side != FIXED && bodies.place[side as usize] < own;
        of.clear();
        room(of, foreseen(whole));
        of.extend(fours.places().filter(|&place| fours.sides_at(place).into_iter().any(is_own)));
        of.iter().for_each(|&place| bodies.add(fours.sides_at(place)));
        Some(all - held)
    }

    /// The part as a heap of its own.
    fn take_from(&mut self, fours: &Fours<T>, whole: Sizes) {
        let Piece { fours: own, of, bodies, z, s } = self;
        own.foresee(whole.bodies, whole.contacts);
        own.fill(&PartOf { fours, of, bodies });
        z.clear();
        room(z, 3 * foreseen(whole));
        of.iter().for_each(|&place| z.extend(fours.impulse_at(place)));
        s.clear();
        room(s, whole.bodies);
        s.extend(bodies.all.iter().map(|&k| *fours.motion(k)));
        own.take(z, s);
    }

    /// What it came to.
    fn give_back(&mut self, fours: &mut Fours<T>) {
        fours.take_part(&self.fours, &self.of, &self.bodies.all);
        self.bodies.end();
    }
}

impl Numbered {
    /// Of so many bodies none.
    fn begin(&mut self, bodies: usize) {
        self.place.resize(bodies.max(self.place.len()), FIXED);
        self.all.clear();
        room(&mut self.all, bodies);
    }

    /// Those of a contact too.
    #[inline]
    fn add(&mut self, sides: [u32; 2]) {
        for side in sides {
            if side != FIXED && self.place[side as usize] == FIXED {
                self.place[side as usize] = self.all.len() as u32;
                self.all.push(side);
            }
        }
    }

    fn end(&mut self) {
        self.all.iter().for_each(|&k| self.place[k as usize] = FIXED);
    }
}

/// Some contacts of a heap.
struct PartOf<'a, T> {
    fours: &'a Fours<T>,
    of: &'a [u32],
    bodies: &'a Numbered,
}

impl<T: Kept> Whole for PartOf<'_, T> {
    fn bodies(&self) -> usize {
        self.bodies.all.len()
    }

    fn count(&self) -> usize {
        self.of.len()
    }

    fn sides(&self, c: usize) -> [u32; 2] {
        let place =
            |side: u32| if side == FIXED { FIXED } else { self.bodies.place[side as usize] };
        self.fours.sides_at(self.of[c]).map(place)
    }

    #[inline]
    fn look<A>(&self, c: usize, see: impl FnOnce(&Row) -> A) -> A {
        self.fours.look_at(self.of[c], |row| see(&Row { sides: self.sides(c), ..*row }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::heaps::heap;
    use super::super::rows::Unkept;
    use super::super::{Friction, Island, MovingBody, Touch};
    use super::*;

    /// A heap that gives way.
    fn giving(across: usize) -> (Vec<MovingBody>, Vec<u32>, Vec<Touch>) {
        let (bodies, members, mut touches) = heap(across, Friction::Space { mu: 0.5 }, 0.0);
        touches.iter_mut().for_each(|touch| touch.compliance = [0.2, 0.3]);
        (bodies, members, touches)
    }

    fn filled(island: Island<'_>) -> Fours {
        let mut fours = Fours::default();
        Unkept::of(island, &mut Vec::new(), |whole| fours.fill(whole));
        fours.begin(island.free(), &vec![0.0; 3 * island.touches.len()]);
        fours
    }

    fn sizes(fours: &Fours) -> Sizes {
        Sizes { bodies: fours.bodies(), contacts: fours.count() }
    }

    fn impulses(fours: &Fours) -> Vec<f64> {
        let mut z = vec![0.0; 3 * fours.count()];
        fours.leave(&mut z);
        z
    }

    /// Parts come to where sweeps over all come to, within the same change.
    #[test]
    fn parts_end_where_sweeps_over_all_do() {
        let (mut bodies, members, touches) = giving(8);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut settled = filled(island);
        assert!(settled.run(3000, 1e-26) < 3000);
        let z = impulses(&settled);
        // one body is pushed
        bodies[300].v[2] -= 3.0;
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let (mut all, mut some) = (filled(island), filled(island));
        all.begin(island.free(), &z);
        some.begin(island.free(), &z);
        let mut lively = Lively::default();
        let sweeps = all.run(3000, 1e-26);
        let fewer = lively.run(&mut some, 3000, 1e-26);
        assert!(sweeps < 3000 && fewer < 3000, "{sweeps} {fewer}");
        assert!(some.is_still(1e-26));
        let largest = z.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
        for (own, known) in impulses(&some).iter().zip(impulses(&all)) {
            assert!((own - known).abs() <= 1e-10 * largest);
        }
    }

    /// A part is made of whole bodies, sees what the others push, and leaves them alone; velocities follow.
    #[test]
    fn a_part_is_a_heap_of_its_own() {
        let (mut bodies, members, touches) = giving(8);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut settled = filled(island);
        settled.run(3000, 1e-26);
        let before = impulses(&settled);
        bodies[300].v[2] -= 3.0;
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut fours = filled(island);
        fours.begin(island.free(), &before);
        fours.run(1, 0.0);
        let before = impulses(&fours);
        let mut part = Lively::default().parts.into_iter().next().unwrap();
        let rest = part.pick(&fours, sizes(&fours)).expect("what one push changes is a part");
        assert!(rest > 0.0 && part.of.len() < touches.len() / 4, "{rest} {}", part.of.len());
        assert!(part.bodies.all.contains(&300));
        part.take_from(&fours, sizes(&fours));
        assert_eq!(part.fours.count(), part.of.len());
        for (c, &place) in part.of.iter().enumerate() {
            let whole = fours.look_at(place, |row| row.velocity(&part.s_of_all(&fours)));
            let own = part.fours.look(c, |row| row.velocity(&part.s));
            assert_eq!(own, whole);
        }
        part.fours.run(5, 0.0);
        part.give_back(&mut fours);
        assert!(part.bodies.place.iter().all(|&place| place == FIXED));

        let after = impulses(&fours);
        let changed: Vec<usize> = (0..touches.len())
            .filter(|c| before[3 * c..3 * c + 3] != after[3 * c..3 * c + 3])
            .collect();
        assert!(!changed.is_empty() && changed.len() <= part.of.len());
        let mut again = filled(island);
        again.begin(island.free(), &after);
        for k in 0..members.len() as u32 {
            let (own, known) = (fours.motion(k), again.motion(k));
            assert!((0..6).all(|i| (own[i] - known[i]).abs() < 1e-12), "{k}");
        }
    }

    /// Parts have room for whatever they may become.
    #[test]
    fn parts_do_not_grow() {
        let (bodies, members, touches) = giving(8);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut settled = filled(island);
        settled.run(3000, 1e-26);
        let z = impulses(&settled);
        let mut lively = Lively::default();
        let mut rooms = Vec::new();
        // more and more bodies are pushed
        for pushed in [1, 3, 9, 20, 40] {
            let mut bodies = bodies.clone();
            (0..pushed).for_each(|k| bodies[300 - 7 * k].v[2] -= 3.0);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let mut fours = filled(island);
            fours.begin(island.free(), &z);
            lively.run(&mut fours, 2000, 1e-20);
            let part = &lively.parts[0];
            assert!(!part.of.is_empty());
            let Piece { fours, of, bodies, z, s } = part;
            rooms.push((
                of.capacity(),
                bodies.all.capacity(),
                z.capacity(),
                s.capacity(),
                fours.rooms(),
            ));
        }
        assert!(rooms.windows(2).all(|pair| pair[0] == pair[1]), "{rooms:?}");
    }

    /// Where everything changes there is no part, and no more sweeps are made than asked for.
    #[test]
    fn what_is_lively_everywhere_is_no_part() {
        let (bodies, members, touches) = giving(8);
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut fours = filled(island);
        fours.run(1, 0.0);
        let mut lively = Lively::default();
        assert!(lively.parts[0].pick(&fours, sizes(&fours)).is_none());
        for most in [1, 39, 40, 41, 61] {
            let mut fours = filled(island);
            assert_eq!(lively.run(&mut fours, most, 0.0), most);
        }
        // nor where it is no number
        let (mut bodies, members, touches) = giving(5);
        bodies[4].v[1] = f64::NAN;
        let island = Island { bodies: &bodies, members: &members, touches: &touches };
        let mut fours = filled(island);
        fours.run(2, 0.0);
        assert!(lively.parts[0].pick(&fours, sizes(&fours)).is_none());
        assert_eq!(lively.run(&mut fours, 45, 1e-9), 45);
    }

    impl Piece<f64> {
        /// The velocities of the whole heap.
        fn s_of_all(&self, fours: &Fours) -> Vec<Motion> {
            (0..fours.bodies() as u32).map(|k| *fours.motion(k)).collect()
        }
    }
}
