//! A search: sweep, meet, touch, sort.

use super::broad::{Bounds, Tree};
use super::driven::{Driving, Motion};
use super::pairs::{Body as Shaped, Room, contacts};
use super::plan::Plan;
use super::round::HalfSpace;
use super::solid::Solid;
use super::touch::{Touch, merge};
use crate::pose::Pose;
use saltus_linalg::vector;
use saltus_model::rotation::{Vector, add, dot, norm, sub};
use saltus_model::{Body, ContactSearch, FoundContact, Moment, OperatorError};
use std::ops::Range;
use std::sync::Arc;

/// A push within the step closes gaps up to this share of the size of a shape, if the body is that
/// fast.
const PUSH: f64 = 0.05;

/// Gaps up to this share of the size are found in any case: a body at rest keeps all its contacts,
/// whichever of them carry it.
const SLACK: f64 = 1e-6;

/// Pairs an item that moves, for which there is room from the first on.
const FORESEEN: usize = 8;

/// Boxes about shapes are right up to this share of the size.
const ROUNDING: f64 = 1e-9;

/// Pairs that are worth a thread.
const SHARE: usize = 1024;

/// A finder at work.
#[derive(Debug)]
pub(super) struct Search {
    plan: Arc<Plan>,
    /// Where configuration and velocity of each side begin.
    starts: Vec<Option<[u32; 2]>>,
    motions: Vec<Motion>,
    /// Sides that move as they did when was asked last.
    still: Vec<bool>,
    /// How far each item can get.
    reaches: Vec<Reach>,
    /// Sides that are driven, and how.
    driven: Vec<(u32, Driving)>,
    moving: Tree,
    standing: Tree,
    /// What has no end, and where it is if it stands still.
    endless: Vec<(u32, Option<HalfSpace>)>,
    pairs: Vec<[u32; 2]>,
    workers: Vec<Worker>,
    threads: usize,
    last: Last,
}

/// How far an item can get within the step.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    /// By turning: `h |ω| ρ`.
    turn: f64,
    /// By a push.
    push: f64,
}

impl Reach {
    /// The gap of two items that can close within the step, where one moves by `shift` beside the other.
    #[inline]
    fn with(self, other: Reach, shift: Vector) -> f64 {
        (norm(shift) + (self.turn + other.turn)).max(self.push + other.push)
    }
}

/// When was asked last, and what was found, where much of it may be found again.
#[derive(Debug, Default)]
struct Last {
    t: f64,
    h: f64, // zero where nothing was asked
    found: Option<Vec<FoundContact>>,
}

impl Search {
    pub fn new(plan: Arc<Plan>, starts: &[Option<[usize; 2]>]) -> Search {
        let motions = vec![Motion::REST; plan.sides.len()];
        let standing = plan.standing.iter().map(|&item| {
            let item = &plan.items[item as usize];
            let at = plan.places[item.place as usize].at(&Pose::WORLD);
            let slack = SLACK * item.size;
            swept(plan.solids[item.solid as usize].bounds(&at), [0.0; 3], slack)
        });
        let standing = Tree::new(standing);
        let endless = plan.endless.iter().map(|&k| {
            let item = &plan.items[k as usize];
            let at = plan.places[item.place as usize].at(&Pose::WORLD);
            match plan.solids[item.solid as usize] {
                Solid::Plane { n, offset } if !plan.moves(item.side as usize) => {
                    (k, Some(HalfSpace::new(n, offset, &at)))
                }
                _ => (k, None),
            }
        });
        let endless = endless.collect();
        let driven = plan.drives.iter().map(|(side, drive)| {
            let name = &plan.sides[*side as usize].name;
            (*side, Driving::new(drive, plan.space, name))
        });
        let driven = driven.collect();
        Search {
            starts: starts.iter().map(|own| own.map(|own| own.map(|k| k as u32))).collect(),
            still: vec![true; plan.sides.len()],
            motions,
            reaches: vec![Reach::default(); plan.items.len()],
            driven,
            moving: Tree::default(),
            standing,
            endless,
            pairs: Vec::new(),
            workers: Vec::new(),
            threads: 1,
            last: Last::default(),
            plan,
        }
    }

    /// Where every side is, and how it moves in the step; how many of them have something new.
    fn take(&mut self, moment: &Moment<'_>) -> Result<usize, OperatorError> {
        let (h, mut changed) = (moment.h, 0);
        for (side, motion) in self.motions.iter_mut().enumerate() {
            if let Some(own) = self.starts.get(side).copied().flatten() {
                let [q, v] = own.map(|k| k as usize);
                let next = match self.plan.space {
                    Body::Space => Motion::of_body(&moment.q[q..q + 7], &moment.v[v..v + 6], h),
                    Body::Plane => Motion::in_plane(&moment.q[q..q + 3], &moment.v[v..v + 3], h),
                };
                self.still[side] = next == *motion;
                changed += usize::from(!self.still[side]);
                *motion = next;
            }
        }
        for (side, driving) in &mut self.driven {
            let (side, next) = (*side as usize, driving.step(moment.t, h)?);
            self.still[side] = next == self.motions[side];
            changed += usize::from(!self.still[side]);
            self.motions[side] = next;
        }
        for (reach, item) in self.reaches.iter_mut().zip(&self.plan.items) {
            let motion = &self.motions[item.side as usize];
            let turn = motion.turn * item.lever;
            let fast = norm(motion.shift) + turn;
            // only bodies can be pushed
            let is_body = self.starts.get(item.side as usize).is_some_and(Option::is_some);
            let push = if is_body { fast.min(PUSH * item.size) + SLACK * item.size } else { 0.0 };
            *reach = Reach { turn, push };
        }
        Ok(changed)
    }

    /// The box of what an item can touch within the step.
    #[inline]
    fn bounds(&self, item: u32) -> Bounds {
        let reach = self.reaches[item as usize];
        let item = &self.plan.items[item as usize];
        let motion = &self.motions[item.side as usize];
        let at = self.plan.places[item.place as usize].at(&motion.pose());
        let bounds = self.plan.solids[item.solid as usize].bounds(&at);
        swept(bounds, motion.shift, reach.turn + reach.push)
    }

    /// All pairs of items whose boxes meet and that have a law, by sides.
    fn meet(&mut self) {
        let plan = Arc::clone(&self.plan);
        let first = self.moving.is_empty() && !plan.moving.is_empty();
        if first {
            self.moving = Tree::new(plan.moving.iter().map(|&item| self.bounds(item)));
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        vector::foresee(&mut pairs, 1, FORESEEN * plan.moving.len());
        for (k, &item) in plan.moving.iter().enumerate() {
            let bounds = self.bounds(item);
            if !first {
                self.moving.set(k, bounds);
            }
            let mut offer = |other: u32| {
                if plan.law(&plan.items[item as usize], &plan.items[other as usize]).is_some() {
                    push(&mut pairs, [item, other]);
                }
            };
            self.standing.meeting(&bounds, |j| offer(plan.standing[j as usize]));
            let slack = ROUNDING * plan.items[item as usize].size;
            for &(other, plane) in &self.endless {
                if plane.is_none_or(|plane| !(bounds.lowest(plane.n) - plane.offset > slack)) {
                    offer(other);
                }
            }
        }
        if !first {
            self.moving.refit();
        }
        let (motions, reaches) = (&self.motions, &self.reaches);
        self.moving.pairs(|i, j| {
            let (a, b) = (plan.moving[i as usize], plan.moving[j as usize]);
            let (item, other) = (&plan.items[a as usize], &plan.items[b as usize]);
            // balls about the origins of the sides
            let (of_a, of_b) = (&motions[item.side as usize], &motions[other.side as usize]);
            let apart = sub(of_a.x, of_b.x);
            let reach = reaches[a as usize].with(reaches[b as usize], sub(of_a.shift, of_b.shift));
            let far = item.radius + other.radius + reach;
            if dot(apart, apart) <= far * far && plan.law(item, other).is_some() {
                push(&mut pairs, [a, b]);
            }
        });
        if plan.single {
            pairs.sort_unstable_by_key(|&[a, b]| u64::from(a) << 32 | u64::from(b));
        } else {
            let side = |item: u32| plan.items[item as usize].side;
            pairs.sort_unstable_by_key(|&[a, b]| (side(a), side(b), a, b));
        }
        self.pairs = pairs;
    }

    /// The contacts of all pairs: a share of them for each thread, one after the other in the order of
    /// the pairs, so that their number does not change a bit. Those of two sides that are still are `known`, if there are any known.
    fn touch(&mut self, known: Option<&[FoundContact]>, found: &mut Vec<FoundContact>) {
        let Search { plan, motions, still, reaches, pairs, workers, threads, .. } = self;
        let all = Pairs { plan, motions, still, reaches, pairs, known };
        let shares = (pairs.len() / SHARE).clamp(1, *threads);
        workers.resize_with(shares.max(workers.len()), Worker::default);
        let mut from = 0;
        let cuts = (1..=shares).map(|share| {
            let to = all.cut(pairs.len() * share / shares);
            std::mem::replace(&mut from, to)..to
        });
        let Some((own, others)) = workers.split_first_mut() else { return };
        if shares == 1 {
            all.touch(0..pairs.len(), own, found);
            return;
        }
        let cuts: Vec<Range<usize>> = cuts.collect();
        std::thread::scope(|scope| {
            for (worker, cut) in others.iter_mut().zip(&cuts[1..]) {
                scope.spawn(|| {
                    let mut found = std::mem::take(&mut worker.found);
                    found.clear();
                    all.touch(cut.clone(), worker, &mut found);
                    worker.found = found;
                });
            }
            all.touch(cuts[0].clone(), own, found);
        });
        let more: usize = others[..shares - 1].iter().map(|worker| worker.found.len()).sum();
        vector::room(found, found.len() + more);
        others[..shares - 1].iter().for_each(|worker| found.extend_from_slice(&worker.found));
    }
}

/// What one thread needs to itself.
#[derive(Debug, Default)]
struct Worker {
    touches: Vec<Touch>,
    room: Room,
    found: Vec<FoundContact>,
}

/// Pairs whose contacts are asked for, and where their items are.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    plan: &'a Plan,
    motions: &'a [Motion],
    still: &'a [bool],
    reaches: &'a [Reach],
    pairs: &'a [[u32; 2]],
    known: Option<&'a [FoundContact]>,
}

impl Pairs<'_> {
    fn sides(&self, pair: usize) -> [u32; 2] {
        self.pairs[pair].map(|item| self.plan.items[item as usize].side)
    }

    /// What was found between these sides, where that is the same as now.
    fn known(&self, sides: [u32; 2]) -> Option<&[FoundContact]> {
        let known = self.known?;
        if !sides.iter().all(|&side| self.still[side as usize]) {
            return None;
        }
        let from = known.partition_point(|contact| contact.sides < sides);
        let count = known[from..].iter().take_while(|contact| contact.sides == sides).count();
        Some(&known[from..from + count])
    }

    /// The first place from this one on where other sides begin.
    fn cut(&self, mut at: usize) -> usize {
        while 0 < at && at < self.pairs.len() && self.sides(at) == self.sides(at - 1) {
            at += 1;
        }
        at
    }

    /// The contacts of some of the pairs.
    fn touch(&self, range: Range<usize>, worker: &mut Worker, found: &mut Vec<FoundContact>) {
        let mut from = range.start;
        while from < range.end {
            // all pairs of the same two sides
            let both = self.sides(from);
            let count = (from..range.end).take_while(|&k| self.sides(k) == both).count();
            let start = found.len();
            if let Some(known) = self.known(both) {
                vector::room(found, start + known.len());
                found.extend_from_slice(known);
                from += count;
                continue;
            }
            for k in from..from + count {
                let [a, b] = self.pairs[k];
                self.pair(a, b, worker, found);
            }
            if count > 1 {
                let [a, b] = self.pairs[from].map(|item| self.plan.items[item as usize].size);
                join(&mut worker.touches, found, start, a.min(b));
            }
            from += count;
        }
    }

    /// The contacts of one pair, sorted by feature.
    fn pair(&self, i: u32, j: u32, worker: &mut Worker, found: &mut Vec<FoundContact>) {
        let (plan, Worker { touches, room, .. }) = (self.plan, worker);
        let (a, b) = (&plan.items[i as usize], &plan.items[j as usize]);
        let Some(law) = plan.law(a, b) else { return };
        let (of_a, of_b) = (&self.motions[a.side as usize], &self.motions[b.side as usize]);
        let (reach_a, reach_b) = (&self.reaches[i as usize], &self.reaches[j as usize]);
        let shift = sub(of_a.shift, of_b.shift);
        let turn = reach_a.turn + reach_b.turn;
        let push = reach_a.push + reach_b.push;
        let reach = reach_a.with(*reach_b, shift);
        let at_a = plan.places[a.place as usize].at(&of_a.pose());
        let at_b = plan.places[b.place as usize].at(&of_b.pose());
        touches.clear();
        contacts(
            Shaped { solid: &plan.solids[a.solid as usize], at: &at_a },
            Shaped { solid: &plan.solids[b.solid as usize], at: &at_b },
            reach,
            room,
            touches,
        );
        // what cannot close within the step
        touches.retain(|touch| {
            let closing = (-dot(touch.normal, shift)).max(0.0) + turn;
            touch.gap <= closing.max(push)
        });
        if touches.len() > 1 {
            touches.sort_unstable_by_key(|touch| touch.features);
            tell_apart(touches);
        }
        let start = found.len();
        vector::room(found, start + touches.len());
        found.extend(touches.iter().map(|touch| FoundContact {
            sides: [a.side, b.side],
            feature: u64::from(a.feature + touch.features[0]) << 32
                | u64::from(b.feature + touch.features[1]),
            law,
            gap: touch.gap,
            normal: touch.normal,
            point: touch.point,
        }));
    }
}

/// One more pair, the lesser item first.
fn push(pairs: &mut Vec<[u32; 2]>, [a, b]: [u32; 2]) {
    vector::room(pairs, pairs.len() + 1);
    pairs.push([a.min(b), a.max(b)]);
}

/// A box that moves by `shift`, and `wide` beyond that.
#[inline]
fn swept([center, half]: [Vector; 2], shift: Vector, wide: f64) -> Bounds {
    let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
    for k in 0..3 {
        let half = half[k] + wide;
        low[k] = center[k] - half + shift[k].min(0.0);
        high[k] = center[k] + half + shift[k].max(0.0);
    }
    Bounds { low, high }
}

/// Contacts of one pair with the same features get different ones: the next that is free.
fn tell_apart(touches: &mut [Touch]) {
    for k in 1..touches.len() {
        if touches[k].features <= touches[k - 1].features {
            let [a, b] = touches[k - 1].features;
            touches[k].features = [a, b + 1];
        }
    }
}

/// Contacts of several shapes of the same two sides: one in each place, sorted by feature.
fn join(touches: &mut Vec<Touch>, found: &mut Vec<FoundContact>, start: usize, size: f64) {
    // the position among those found stands in for the features
    touches.clear();
    touches.extend(found[start..].iter().enumerate().map(|(k, contact)| Touch {
        gap: contact.gap,
        normal: contact.normal,
        point: contact.point,
        features: [k as u32, 0],
    }));
    merge(touches, 0, size);
    touches.sort_unstable_by_key(|touch| touch.features);
    for (k, touch) in touches.iter().enumerate() {
        found[start + k] = found[start + touch.features[0] as usize];
    }
    found.truncate(start + touches.len());
    found[start..].sort_unstable_by_key(|contact| contact.feature);
    for k in start + 1..found.len() {
        if found[k].feature <= found[k - 1].feature {
            found[k].feature = found[k - 1].feature + 1;
        }
    }
}

impl ContactSearch for Search {
    fn share(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    fn find(
        &mut self,
        moment: Moment<'_>,
        found: &mut Vec<FoundContact>,
    ) -> Result<(), OperatorError> {
        found.clear();
        if let Some(k) = moment.q.iter().chain(moment.v).position(|x| !x.is_finite()) {
            let why = format!("entry {k} of the configurations and velocities is not finite");
            return Err(OperatorError { what: "contacts".to_string(), time: moment.t, why });
        }
        let timeless = self
            .plan
            .drives
            .iter()
            .all(|(_, drive)| drive.position.is_none() && drive.omega.is_none());
        // where this fails, nothing is known
        let mut last = std::mem::take(&mut self.last);
        let changed = self.take(&moment)?;
        let is_known = last.h.to_bits() == moment.h.to_bits()
            && (timeless || last.t.to_bits() == moment.t.to_bits());
        let known = last.found.as_deref().filter(|_| is_known);
        match known {
            Some(known) if changed == 0 => {
                vector::room(found, known.len());
                found.extend_from_slice(known);
                self.last = last;
                return Ok(());
            }
            _ => {
                self.meet();
                self.touch(known, found);
            }
        }
        // where most of it moves, to keep it is not worth the room
        let bodies = self.starts.iter().flatten().count();
        last.found = match 2 * changed <= bodies {
            true => {
                let mut kept = last.found.unwrap_or_default();
                kept.clear();
                vector::room(&mut kept, found.len());
                kept.extend_from_slice(found);
                Some(kept)
            }
            false => None,
        };
        self.last = Last { t: moment.t, h: moment.h, found: last.found };
        Ok(())
    }

    fn drive(&self, contact: &FoundContact) -> Vector {
        if self.driven.is_empty() {
            return [0.0; 3];
        }
        let velocity = |driving: &Driving| driving.velocity(contact.point, contact.normal);
        let [a, b] = self.of_driven(contact, velocity);
        sub(a, b)
    }

    fn turn(&self, contact: &FoundContact) -> Vector {
        if self.driven.is_empty() {
            return [0.0; 3];
        }
        let [a, b] = self.of_driven(contact, Driving::omega);
        add(a, b)
    }
}

impl Search {
    /// What is said of both sides of a contact, where they are driven.
    fn of_driven(&self, contact: &FoundContact, say: impl Fn(&Driving) -> Vector) -> [Vector; 2] {
        contact.sides.map(|side| match self.driven.binary_search_by_key(&side, |(side, _)| *side) {
            Ok(k) => say(&self.driven[k].1),
            Err(_) => [0.0; 3],
        })
    }
}
