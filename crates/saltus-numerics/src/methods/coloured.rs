//! Gauss–Seidel by colours, on several threads.
//!
//! Blocks that share no entry of `W` do not see each other, so they may be solved at once. A greedy
//! colouring gives each block the first colour that no neighbour has; a sweep goes through the
//! colours in turn, and the threads share the blocks of each:
//!
//! ```text
//! for each colour:   for each block c of it, in any order:   solve c with the others as they are
//! ```
//!
//! What a block becomes depends on the colouring, not on who computes it: the answers are the
//! same, bit for bit, for any number of threads. They differ from those of sweeps in the order of
//! the blocks.
//!
//! The threads live as long as the solution takes. Each has the unknowns for itself, and after
//! each colour they meet and tell each other what has changed; as that takes some microseconds,
//! small colours are left to the first thread.

use super::gauss_seidel::Sweeper;
use crate::blocks::Blocks;
use crate::settings::threads_of;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Entries of `W` that are worth a meeting of the threads.
const WORTH: usize = 4000;
/// Looks at the others before a thread that waits lets another program run.
const LOOKS: usize = 2000;

/// The blocks by colours.
#[derive(Debug, Default)]
pub(super) struct Colouring {
    order: Vec<usize>, // the blocks, colour by colour
    colours: Vec<Range<usize>>,
    work: Vec<usize>, // entries of W before each place of the order, and the end
}

impl Colouring {
    /// The first colour for each block that none of its neighbours has.
    pub fn of(blocks: &Blocks) -> Colouring {
        let count = blocks.len();
        let of_unknown = &blocks.of_unknown;

        // neighbours in either direction
        let mut neighbours = vec![Vec::new(); count];
        for k in 0..count {
            for col in blocks.matrix.neighbours(k) {
                neighbours[k].push(of_unknown[col]);
                neighbours[of_unknown[col]].push(k);
            }
        }
        let mut colour = vec![usize::MAX; count];
        let mut taken = Vec::new(); // the last block that had a neighbour of each colour
        for k in 0..count {
            for &other in &neighbours[k] {
                if let Some(last) = taken.get_mut(colour[other]) {
                    *last = k;
                }
            }
            let free = taken.iter().position(|&last| last != k);
            colour[k] = free.unwrap_or(taken.len());
            if free.is_none() {
                taken.push(usize::MAX);
            }
        }

        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&k| colour[k]); // stable
        let mut colours = Vec::new();
        let mut start = 0;
        for c in 0..taken.len() {
            let end = start + order[start..].partition_point(|&k| colour[k] == c);
            colours.push(start..end);
            start = end;
        }
        let mut work = vec![0];
        for &k in &order {
            let mut entries = 0;
            let height = blocks.matrix.range(k).len();
            blocks.matrix.for_each_in_row(k, |_, width, _| entries += height * width);
            work.push(work[work.len() - 1] + entries);
        }
        Colouring { order, colours, work }
    }

    /// What the threads do between two meetings: a share of a large colour each, or the first
    /// all of some small ones.
    fn phases(&self, threads: usize) -> Vec<Vec<Range<usize>>> {
        let mut phases: Vec<Vec<Range<usize>>> = Vec::new();
        let mut together = false; // the last phase is one of the first thread
        for colour in &self.colours {
            let (from, to) = (self.work[colour.start], self.work[colour.end]);
            let large = threads > 1 && to - from >= WORTH;
            if large {
                let cut = |thread: usize| {
                    let share = from + (to - from) * thread / threads;
                    let cut = self.work.partition_point(|&work| work < share);
                    cut.clamp(colour.start, colour.end)
                };
                phases.push((0..threads).map(|thread| cut(thread)..cut(thread + 1)).collect());
            } else if let Some(last) = phases.last_mut()
                && together
            {
                last[0].end = colour.end;
            } else {
                let mut phase = vec![0..0; threads];
                phase[0] = colour.clone();
                phases.push(phase);
            }
            together = !large;
        }
        phases
    }
}

/// Runs `work` with a function that makes one sweep, `(z, number)`, on this and further threads.
pub(super) fn with_threads<T>(
    mut sweeper: Sweeper<'_>,
    colouring: &Colouring,
    work: impl FnOnce(&mut dyn FnMut(&mut [f64], usize)) -> T,
) -> T {
    let (settings, blocks, visits) = (sweeper.settings, sweeper.blocks, sweeper.visits);
    let threads = threads_of(settings.threads);
    let sizes = colouring.colours.iter().map(|c| colouring.work[c.end] - colouring.work[c.start]);
    let useful = sizes.max().unwrap_or(0) / (WORTH / 2);
    let threads = threads.min(useful).max(1);
    let shared = Shared {
        order: &colouring.order,
        phases: colouring.phases(threads),
        z: (0..blocks.q.len()).map(|_| AtomicU64::new(0)).collect(),
        number: AtomicUsize::new(0),
        meeting: Meeting::new(threads),
    };
    std::thread::scope(|scope| {
        // whatever happens here, the others do not wait for ever
        let _end = EndMeeting(&shared.meeting);
        for thread in 1..threads {
            let shared = &shared;
            scope.spawn(move || {
                let _end = EndMeeting(&shared.meeting);
                let (still, long) = (&mut vec![0; blocks.len()][..], &mut Vec::new());
                let mut sweeper = Sweeper { settings, blocks, visits, still, long };
                let mut z = vec![0.0; shared.z.len()];
                while shared.meeting.wait() {
                    shared.hear(0..z.len(), &mut z);
                    if !shared.sweep(thread, &mut sweeper, &mut z) {
                        break;
                    }
                }
            });
        }
        work(&mut |z, number| {
            shared.tell(0..z.len(), z);
            shared.number.store(number, Ordering::Relaxed);
            if shared.meeting.wait() {
                shared.sweep(0, &mut sweeper, z);
            }
        })
    })
}

/// What the threads share.
struct Shared<'a> {
    order: &'a [usize],
    phases: Vec<Vec<Range<usize>>>,
    z: Vec<AtomicU64>, // the bits of z: nobody reads what somebody writes between two meetings
    number: AtomicUsize, // of the sweep
    meeting: Meeting,
}

impl Shared<'_> {
    /// The part of a sweep that one thread does, with its own `z`; false where all is over.
    fn sweep(&self, thread: usize, sweeper: &mut Sweeper<'_>, z: &mut [f64]) -> bool {
        let blocks = sweeper.blocks;
        let number = self.number.load(Ordering::Relaxed);
        for phase in &self.phases {
            let own = &self.order[phase[thread].clone()];
            sweeper.sweep(own.iter().copied(), z, number);
            if phase.len() == 1 {
                continue;
            }
            own.iter().for_each(|&k| self.tell(blocks.matrix.range(k), z));
            if !self.meeting.wait() {
                return false;
            }
            for (_, share) in phase.iter().enumerate().filter(|(other, _)| *other != thread) {
                for &k in &self.order[share.clone()] {
                    self.hear(blocks.matrix.range(k), z);
                }
            }
        }
        true
    }

    /// Writes unknowns for the others.
    #[inline]
    fn tell(&self, range: Range<usize>, z: &[f64]) {
        if self.meeting.threads > 1 {
            for (shared, z) in self.z[range.clone()].iter().zip(&z[range]) {
                shared.store(z.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Reads unknowns that others wrote.
    #[inline]
    fn hear(&self, range: Range<usize>, z: &mut [f64]) {
        for (shared, z) in self.z[range.clone()].iter().zip(&mut z[range]) {
            *z = f64::from_bits(shared.load(Ordering::Relaxed));
        }
    }
}

/// Where the threads wait for each other.
#[derive(Debug)]
struct Meeting {
    threads: usize,
    arrived: AtomicUsize,
    number: AtomicUsize, // of meetings held
    over: AtomicBool,
}

impl Meeting {
    fn new(threads: usize) -> Self {
        let (arrived, number, over) =
            (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        Meeting { threads, arrived, number, over }
    }

    /// Returns when all have come, and what they wrote can be read; false when all is over.
    fn wait(&self) -> bool {
        let number = self.number.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.number.store(number.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut looks = 0;
        while self.number.load(Ordering::Acquire) == number {
            if self.over.load(Ordering::Acquire) {
                return false;
            }
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        true
    }
}

/// Ends all meetings when it goes.
struct EndMeeting<'a>(&'a Meeting);

impl Drop for EndMeeting<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;
    use saltus_linalg::Sparse;

    fn blocks_of(triplets: &[(usize, usize, f64)], contacts: usize) -> Blocks {
        let matrix = Sparse::from_triplets(3 * contacts, 3 * contacts, triplets);
        let problem =
            Problem::friction3d(matrix, vec![0.0; 3 * contacts], &vec![0.5; contacts]).unwrap();
        let mut blocks = Blocks::default();
        blocks.update("gauss-seidel", &problem).unwrap();
        blocks
    }

    /// Neighbours, be they so in one direction only, never have one colour; all blocks have one.
    #[test]
    fn neighbours_differ() {
        let contacts = 40;
        let mut triplets: Vec<_> = (0..3 * contacts).map(|i| (i, i, 1.0)).collect();
        let mut edges = Vec::new();
        for k in 0..contacts {
            for other in [(k + 1) % contacts, (7 * k + 3) % contacts] {
                if other != k {
                    triplets.push((3 * k, 3 * other + 1, 0.1));
                    edges.push((k, other));
                }
            }
        }
        let colouring = Colouring::of(&blocks_of(&triplets, contacts));
        let mut colour = vec![usize::MAX; contacts];
        for (c, range) in colouring.colours.iter().enumerate() {
            for &k in &colouring.order[range.clone()] {
                assert_eq!(colour[k], usize::MAX);
                colour[k] = c;
            }
        }
        assert!(colour.iter().all(|&c| c < colouring.colours.len()));
        assert!(colouring.colours.len() <= 8, "{}", colouring.colours.len());
        for (a, b) in edges {
            assert_ne!(colour[a], colour[b], "{a} and {b}");
        }
    }

    /// The phases hold every block once, in the order of the colours.
    #[test]
    fn phases_cover_all() {
        let contacts = 3000;
        let triplets: Vec<_> = (0..3 * contacts).map(|i| (i, i, 1.0)).collect();
        let mut triplets = triplets;
        for k in 1..contacts {
            triplets.push((3 * k, 3 * k - 1, 0.1));
        }
        let colouring = Colouring::of(&blocks_of(&triplets, contacts));
        assert_eq!(colouring.colours.len(), 2);
        for threads in [1, 2, 3, 5] {
            let phases = colouring.phases(threads);
            assert_eq!(phases.len(), if threads == 1 { 1 } else { 2 });
            let mut next = 0;
            for share in phases.iter().flatten().filter(|share| !share.is_empty()) {
                assert_eq!(share.start, next);
                next = share.end;
            }
            assert_eq!(next, contacts);
        }
    }
}
