//! Found contacts as blocks of the problem of a step.
//!
//! Let `g` be the gap, `u` the normal velocity at the beginning, `u_free` that without contacts. An island
//! moves by `h (ϑ v⁺ + (1 − ϑ) v)`. A contact that closes within the step with a speed of its own,
//!
//! ```text
//! g + h u ≤ 0,   or   g + ½h (u + u_free) ≤ 0 and |u| > |u_free − u|:
//! 0 ≤ u⁺ + e u ⟂ λ ≥ 0,    ϑ ≥ (1 − g/(h |u|))/(1 + e)                                       (1)
//! ```
//!
//! hits, and `ϑ` is such that it is not passed. Every other one may close, and no more:
//!
//! ```text
//! 0 ≤ u⁺ + (g/h + (1 − ϑ) u)/ϑ ⟂ λ ≥ 0       which is g⁺ ≥ 0                                  (2)
//! ```
//!
//! with `u⁺ ≥ 0` where it is closed already. So a gap that is not negative stays so, up to the curvature
//! of the step, and what overlaps does so no more than before. For `e = 1` and θ = ½ an impact keeps
//! the energy to the last bit.
//!
//! Bodies that an impact without rebound stops, or lets slide on, move until it with the velocity of before and after it with the
//! new one,
//!
//! ```text
//! ϑ = max (1 − g/(h |u|))   over the impacts of the island                                   (3)
//! ```
//!
//! also where that is less than the ϑ of the scheme: they end where they hit. What forces do beside that, `½ − ϑ` of `Σ h F · (v⁺ − v)`,
//! must be no gain of energy; a heap of which most is still falling keeps the ϑ of the scheme. Equation (2) is with that one, too: where
//! `g + h u ≥ 0` and `g⁺ ≥ 0` with a larger ϑ, it is so with a smaller one.
//!
//! A gap that is nothing beside the way that forces alone would make in the step counts as closed.
//!
//! Contacts with springs and dampers are another matter (see `elastic`): they hit nothing.
//!
//! A contact is the same as one in the step before if sides and feature are; its impulse, kept in the
//! frame of the world, is where the solver starts.

mod springs;

use super::committed::{Committed, Keeps};
use super::islands::{Islands, NONE};
use super::members::Members;
use super::overlap;
use crate::contacts::{ContactRow, Contacts};
use crate::integrators::Step;
use saltus_linalg::vector::foresee;
use saltus_model::rotation::{add, dot, norm, scaled, sub, tangents};
use saltus_model::{
    At, Body, Coefficient, ContactFinder, ContactSearch, Elasticity, FoundContact, Law, Moment,
    OperatorError, Range as Allowed,
};
use saltus_numerics::bodies::{COMPONENTS, FORESEEN, Friction, Touch, Twist};
use saltus_numerics::{Memory, Solver};
use std::ops::Range;
use std::sync::Arc;

/// The way that forces alone would make in a step, as a share of which a contact that carried an
/// impulse may have opened and is still closed, in islands of more contacts than that: bodies that lie
/// in a heap would squeeze each other to close such gaps.
const KEPT: f64 = 0.01;
const CROWD: usize = 12;
/// Share of the way of a step that its curvature may take.
const CURVED: f64 = 0.1;

/// ϑ by the impacts of an island that has none.
const NO_IMPACT: f64 = -1.0;

/// All contacts of a step, island by island.
#[derive(Debug)]
pub(super) struct Touching {
    finder: Arc<dyn ContactFinder>,
    search: Box<dyn ContactSearch>,
    body_of: Vec<u32>, // of each side; one beyond the last where there is none
    laws: Vec<Coefficients>,
    found: Vec<FoundContact>,
    place: Vec<u32>,     // of each contact found, in `touches`
    pub order: Vec<u32>, // the other way round
    pub touches: Vec<Touch>,
    starts: Vec<u32>,     // of each island in `touches`
    pub thetas: Vec<f64>, // of each island
    stops: Vec<f64>,      // the same by its impacts alone
    pub z: Vec<f64>,
    pub stride: usize,
    stretch: Vec<[f64; 2]>, // of the tangential spring of each contact; none where all are rigid
    potential: f64,         // of all springs, at the end of the step
    pub keeps: Keeps,
    pub last: Committed,
    pub resting: f64, // share of the change of a velocity that counts as none
    scratch: Vec<f64>,
}

/// What a law says in this step.
#[derive(Debug, Clone, Copy)]
struct Coefficients {
    e: f64,
    et: f64,
    mu: f64,
    mu_r: f64,
    size: usize,
    varies: bool,
    elastic: Option<Elasticity>,
}

/// A contact at the beginning of the step.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    gap: f64,
    u: [f64; COMPONENTS],
    free: f64,
    speed: f64, // of what touches, or what forces alone would change: digits below it are round-off
    e: f64,
    et: f64,
}

impl Touching {
    pub fn new(finder: &Arc<dyn ContactFinder>, members: &Members, solver: &Solver) -> Touching {
        let mut starts = Vec::new();
        let mut body_of = Vec::new();
        let known: Vec<Option<usize>> = {
            let last = members.all.iter().map(|one| one.position).max().unwrap_or(0);
            let mut known = vec![None; last + 1];
            members.all.iter().enumerate().for_each(|(k, one)| known[one.position] = Some(k));
            known
        };
        for side in finder.sides() {
            let body = side.system.and_then(|id| known.get(id.index()).copied().flatten());
            starts.push(body.map(|k| [members.all[k].q, members.all[k].v]));
            body_of.push(body.unwrap_or(members.all.len()) as u32);
        }
        let plane = finder.space() == Body::Plane;
        let laws = finder.laws().iter().enumerate();
        let laws: Vec<_> =
            laws.map(|(k, law)| Coefficients::of(law, plane, finder.elasticity(k))).collect();
        let keeps = Keeps {
            moments: laws.iter().any(|law| law.size > 3),
            stretches: laws.iter().any(|law| law.elastic.is_some()),
        };
        let stride = if keeps.moments { COMPONENTS } else { 3 };
        let mut search = finder.begin(&starts);
        search.share(solver.threads());
        Touching {
            search,
            finder: Arc::clone(finder),
            body_of,
            laws,
            found: Vec::new(),
            place: Vec::new(),
            order: Vec::new(),
            touches: Vec::new(),
            starts: Vec::new(),
            thetas: Vec::new(),
            stops: Vec::new(),
            z: Vec::new(),
            stride,
            stretch: Vec::new(),
            potential: 0.0,
            keeps,
            last: Committed::default(),
            resting: (10.0 * solver.tol()).clamp(1e-9, 1e-6),
            scratch: Vec::new(),
        }
    }

    /// Looks for contacts, and says which systems they join.
    pub fn find(
        &mut self,
        step: Step,
        q: &[f64],
        v_free: &[f64],
        islands: &mut Islands,
        bodies: usize,
    ) -> Result<(), OperatorError> {
        let moment = Moment { t: step.start, h: step.h, q, v: v_free };
        self.found.clear();
        foresee(&mut self.found, 1, FORESEEN * bodies);
        self.search.find(moment, &mut self.found)?;
        for contact in &self.found {
            let [a, b] = contact.sides.map(|side| self.body_of[side as usize] as usize);
            match (a < bodies, b < bodies) {
                (true, true) => islands.join(a, b),
                (true, false) => islands.touch(a),
                (false, true) => islands.touch(b),
                (false, false) => {}
            }
        }
        Ok(())
    }

    /// The contacts as blocks, sorted by islands.
    pub fn pose(
        &mut self,
        step: Step,
        q: &[f64],
        members: &Members,
        islands: &Islands,
        least: &[f64],
    ) -> Result<(), OperatorError> {
        self.sort(islands, members.all.len());
        self.thetas.clear();
        self.thetas.extend_from_slice(least);
        self.stops.clear();
        self.stops.extend(least.iter().map(|&least| if least > 0.0 { least } else { NO_IMPACT }));
        for (k, member) in members.all.iter().enumerate() {
            if islands.of[k] != NONE {
                let theta = &mut self.thetas[islands.of[k] as usize];
                *theta = theta.max(member.theta);
            }
        }
        self.touches.clear();
        foresee(&mut self.touches, self.order.len(), FORESEEN * members.all.len());
        for place in 0..self.order.len() {
            let found = self.found[self.order[place] as usize];
            self.touches.push(self.touch(&found, q, members));
            let law = self.law(place, step.start, q, members)?;
            let touch = &mut self.touches[place];
            touch.friction = law.friction(touch.friction);
            let island = self.island(&self.touches[place], islands);
            if let Some(of) = law.elastic {
                // none asks for more than 1
                if let Some(island) = island.filter(|&island| self.thetas[island] < 1.0) {
                    let least = self.theta_of(of, place, step.h, members);
                    self.thetas[island] = self.thetas[island].max(least);
                }
                continue;
            }
            let state = self.state(place, law, members);
            if let (Some(island), true) = (island, state.hits(step.h)) {
                let state = state.among(self.speeds(place, members));
                let Some(least) = state.theta(step.h, self.resting) else { continue };
                let theta = &mut self.thetas[island];
                *theta = theta.max(least).min(1.0);
                // a rebound keeps the ϑ of the scheme
                let stop = if state.e > 0.0 { *theta } else { least };
                self.stops[island] = self.stops[island].max(stop).min(1.0);
            }
        }
        self.z.clear();
        foresee(
            &mut self.z,
            self.stride * self.touches.len(),
            self.stride * FORESEEN * members.all.len(),
        );
        self.warm(step.h, members.all.len());
        for place in 0..self.touches.len() {
            let island = self.island(&self.touches[place], islands);
            let theta = island.map_or(1.0, |island| self.thetas[island]);
            let drive = self.drive_at(place);
            if let Some(of) = self.elastic(place) {
                // an island goes as far as its springs are told
                if let Some(island) = island {
                    self.stops[island] = NO_IMPACT;
                }
                let u = self.before(place, members);
                let contact = self.begin_elastic(of, place, [step.h, theta], u);
                let touch = &mut self.touches[place];
                (touch.q, touch.compliance) = (drive, contact.compliance());
                contact.bias(&mut touch.q[..touch.friction.linear()]);
                continue;
            }
            let law = self.law(place, step.start, q, members)?;
            let state = self.state(place, law, members);
            let contacts = island.map_or(0, |island| self.of_island(island).len());
            let crowded = contacts > CROWD && self.z[place * self.stride] > 0.0;
            let resting = if crowded { KEPT } else { self.resting };
            let touch = &mut self.touches[place];
            touch.q = drive;
            state.bias(step.h, theta, resting, &mut touch.q, touch.friction.size());
        }
        Ok(())
    }

    /// What the law of a contact says.
    fn law(
        &mut self,
        place: usize,
        t: f64,
        q: &[f64],
        members: &Members,
    ) -> Result<Coefficients, OperatorError> {
        let at = self.order[place] as usize;
        match self.laws[self.found[at].law as usize] {
            law if law.varies => {
                let (found, touch) = (self.found[at], self.touches[place]);
                self.evaluate(t, &found, &touch, q, members)
            }
            law => Ok(law),
        }
    }

    /// What a contact begins with, made where it is needed: kept, it would take half as much room as the contact.
    fn state(&self, place: usize, law: Coefficients, members: &Members) -> State {
        let (found, touch) = (&self.found[self.order[place] as usize], &self.touches[place]);
        let [a, b] = touch.bodies.map(|k| members.foreseen(k as usize));
        let u_free = dot(touch.frame[0], touch.velocity(&a, &b)) + self.drive(found, touch)[0];
        State::new(found.gap, self.before(place, members), u_free, [law.e, law.et])
    }

    /// How fast what touches moves, before and without the contact.
    fn speeds(&self, place: usize, members: &Members) -> [[f64; 3]; 4] {
        let touch = &self.touches[place];
        let [a, b] = touch.bodies.map(|k| k as usize);
        let stands = Twist::default();
        [
            touch.velocity(&members.before[a], &stands),
            touch.velocity(&stands, &members.before[b]),
            touch.velocity(&members.foreseen(a), &stands),
            touch.velocity(&stands, &members.foreseen(b)),
        ]
    }

    /// `ϑ` of an island that goes as far as its impacts let it, and no further: (3).
    pub fn stop(&self, island: usize) -> f64 {
        let (theta, stop) = (self.thetas[island], self.stops[island]);
        if stop == NO_IMPACT { theta } else { stop }
    }

    /// The gap of a contact.
    pub fn gap(&self, place: usize) -> f64 {
        self.found[self.order[place] as usize].gap
    }

    /// The island of a contact.
    fn island(&self, touch: &Touch, islands: &Islands) -> Option<usize> {
        let of = |k: u32| islands.of.get(k as usize).copied().unwrap_or(NONE);
        let island = touch.bodies.map(of).into_iter().find(|island| *island != NONE);
        island.map(|island| island as usize)
    }

    /// Contacts of one island stand together, in the order in which they were found.
    fn sort(&mut self, islands: &Islands, bodies: usize) {
        let island = |found: &FoundContact| {
            let sides = found.sides.map(|side| self.body_of[side as usize] as usize);
            let body = sides.into_iter().find(|body| *body < bodies);
            body.map_or(0, |body| islands.of[body] as usize)
        };
        self.starts.clear();
        self.starts.resize(islands.count + 1, 0);
        for found in &self.found {
            self.starts[island(found) + 1] += 1;
        }
        for k in 0..islands.count {
            self.starts[k + 1] += self.starts[k];
        }
        for numbers in [&mut self.place, &mut self.order] {
            numbers.clear();
            foresee(numbers, self.found.len(), FORESEEN * bodies);
        }
        self.order.resize(self.found.len(), 0);
        for (k, found) in self.found.iter().enumerate() {
            let next = &mut self.starts[island(found)];
            self.place.push(*next);
            self.order[*next as usize] = k as u32;
            *next += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// The contacts of an island.
    pub fn of_island(&self, island: usize) -> Range<usize> {
        self.starts[island] as usize..self.starts[island + 1] as usize
    }

    /// The frame of a contact, and its arms.
    fn touch(&self, found: &FoundContact, q: &[f64], members: &Members) -> Touch {
        let n = found.normal;
        let frame = match self.finder.space() {
            Body::Plane => [n, [-n[1], n[0], 0.0], [0.0, 0.0, 1.0]],
            Body::Space => {
                let [s, t] = tangents(n);
                [n, s, t]
            }
        };
        let bodies = found.sides.map(|side| self.body_of[side as usize]);
        // each to its own surface: these points meet where the gap closes
        let half = 0.5 * found.gap.max(0.0);
        let arm = |body: u32, way: f64| match members.all.get(body as usize) {
            Some(member) => sub(add(found.point, scaled(way, n)), member.center(q)),
            None => [0.0; 3],
        };
        let arms = [arm(bodies[0], half), arm(bodies[1], -half)];
        let friction = self.laws[found.law as usize].kind(self.finder.space());
        Touch { bodies, frame, arms, q: [0.0; 3], compliance: [0.0; 2], friction }
    }

    /// The velocity of what is driven.
    fn drive(&self, found: &FoundContact, touch: &Touch) -> [f64; 3] {
        let mut drive = [0.0; 3];
        let velocity = self.search.drive(found);
        if velocity != [0.0; 3] {
            let tangents = if self.finder.space() == Body::Plane { 2 } else { 3 };
            for k in 0..tangents {
                drive[k] = dot(touch.frame[k], velocity);
            }
        }
        drive
    }

    /// Coefficients that are functions.
    fn evaluate(
        &mut self,
        t: f64,
        found: &FoundContact,
        touch: &Touch,
        q: &[f64],
        members: &Members,
    ) -> Result<Coefficients, OperatorError> {
        let [a, b] = touch.bodies.map(|k| k as usize);
        let u = touch.relative(&members.before[a], &members.before[b]);
        self.scratch.clear();
        for member in [a, b].into_iter().filter_map(|k| members.all.get(k)) {
            self.scratch.extend(&q[member.own_q()]);
        }
        let mut values = self.laws[found.law as usize];
        let at = At::new(t, &self.scratch, &u[..values.size]);
        match &self.finder.laws()[found.law as usize] {
            Law::NewtonImpact { e } => values.e = e.eval(at, &Allowed::E)?,
            Law::ImpactFriction { e, mu, .. } => {
                values.e = e.eval(at, &Allowed::E)?;
                values.mu = mu.eval(at, &Allowed::MU)?;
            }
            Law::RollingFriction { e, mu, mu_r } => {
                values.e = e.eval(at, &Allowed::E)?;
                values.mu = mu.eval(at, &Allowed::MU)?;
                values.mu_r = mu_r.eval(at, &Allowed::MU_R)?;
            }
            _ => {}
        }
        Ok(values)
    }

    /// The impulses of the last step, for contacts that are the same.
    fn warm(&mut self, h: f64, bodies: usize) {
        self.z.resize(self.touches.len() * self.stride, 0.0);
        let share = if self.last.h > 0.0 { h / self.last.h } else { 0.0 };
        if self.keeps.stretches {
            self.stretch.clear();
            foresee(&mut self.stretch, self.touches.len(), FORESEEN * bodies);
            self.stretch.resize(self.touches.len(), [0.0; 2]);
        }
        let mut rows = (0..self.last.len()).peekable();
        for (found, &place) in self.found.iter().zip(&self.place) {
            let key = (found.sides, found.feature);
            while rows.next_if(|&k| self.last.key(k) < key).is_some() {}
            let Some(row) = rows.next_if(|&k| self.last.key(k) == key) else { continue };
            let touch = &self.touches[place as usize];
            let (impulse, moment) = self.last.pushed(row);
            let z = touch.components(impulse, moment);
            let start = place as usize * self.stride;
            for k in 0..touch.friction.size() {
                self.z[start + k] = share * z[k];
            }
            if self.keeps.stretches {
                self.stretch[place as usize] = springs::along(&touch.frame, self.last.stretch(row));
            }
        }
    }

    /// The contacts of the step become those of the last one.
    pub fn commit(&mut self, h: f64, after: &[Twist]) {
        let Touching {
            found,
            place,
            touches,
            z,
            stride,
            search,
            last,
            stretch,
            potential,
            keeps,
            ..
        } = self;
        let rows = found.iter().zip(&*place).map(|(found, &place)| {
            let touch = &touches[place as usize];
            let [a, b] = touch.bodies.map(|k| k as usize);
            let (impulse, moment) = touch.impulse(&z[place as usize * *stride..]);
            let [s, t] = stretch.get(place as usize).copied().unwrap_or_default();
            let stretch = add(scaled(s, touch.frame[1]), scaled(t, touch.frame[2]));
            let row = ContactRow {
                sides: found.sides,
                feature: found.feature,
                law: found.law,
                mu: touch.mu(),
                gap: found.gap,
                point: found.point,
                normal: found.normal,
                u: add(touch.velocity(&after[a], &after[b]), search.drive(found)),
                impulse,
                moment,
            };
            (row, stretch)
        });
        last.fill(h, after.len(), *keeps, rows);
        last.potential = *potential;
    }

    /// The contacts of the last step; no table where there can be none.
    pub fn table(&self, contacts: &mut Contacts) {
        if self.body_of.is_empty() {
            return;
        }
        self.last.table(contacts);
    }

    /// The relative velocity at the beginning of the step, component by component.
    pub fn before(&self, place: usize, members: &Members) -> [f64; COMPONENTS] {
        self.relative(place, &members.before)
    }

    /// That at its end.
    pub fn after(&self, place: usize, after: &[Twist]) -> [f64; COMPONENTS] {
        self.relative(place, after)
    }

    fn relative(&self, place: usize, twists: &[Twist]) -> [f64; COMPONENTS] {
        let touch = &self.touches[place];
        let [a, b] = touch.bodies.map(|k| &twists[k as usize]);
        let mut u = [0.0; COMPONENTS];
        if *a != Twist::default() || *b != Twist::default() {
            u = touch.relative(a, b);
        }
        let drive = self.drive_at(place);
        for k in 0..3 {
            u[k] += drive[k];
        }
        u
    }

    /// The velocity of what is driven, at a contact.
    pub fn drive_at(&self, place: usize) -> [f64; 3] {
        let found = &self.found[self.order[place] as usize];
        let mut drive = self.drive(found, &self.touches[place]);
        let linear = if self.touches[place].friction.size() == 1 { 1 } else { 3 };
        drive[linear..].fill(0.0);
        drive
    }

    /// Size of the bodies at a contact: the shorter arm.
    pub fn extent(&self, place: usize) -> f64 {
        let [a, b] = self.touches[place].arms.map(norm);
        if a > 0.0 && b > 0.0 { a.min(b) } else { a.max(b) }
    }

    /// Whether there is an overlap to be taken away among these contacts.
    pub fn overlaps(&self, mut range: Range<usize>) -> bool {
        range.any(|place| {
            let is_rigid = self.elastic(place).is_none();
            is_rigid && -self.gap(place) > overlap::SEEN * self.extent(place)
        })
    }

    /// The sides of a contact, by name.
    pub fn owner(&self, place: usize) -> String {
        let sides = self.found[self.order[place] as usize].sides;
        let [a, b] = sides.map(|side| &self.finder.sides()[side as usize].name);
        format!("the contact of `{a}` and `{b}`")
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        self.last.memory(memory, self.keeps);
    }
}

impl State {
    pub fn new(gap: f64, u: [f64; COMPONENTS], free: f64, [e, et]: [f64; 2]) -> State {
        State { gap, u, free, speed: (free - u[0]).abs(), e, et }
    }

    /// The same, of things that move like this.
    fn among(mut self, velocities: [[f64; 3]; 4]) -> State {
        self.speed = velocities.into_iter().map(norm).fold(self.speed, f64::max);
        self
    }

    /// The same beside a speed that its last impulse made.
    pub fn beside(mut self, speed: f64) -> State {
        self.speed = self.speed.max(speed);
        self
    }

    /// Whether the contact hits in the step, (1).
    pub fn hits(&self, h: f64) -> bool {
        let State { gap, u: [u, ..], free, .. } = *self;
        u < 0.0
            && (gap + h * u <= 0.0 || gap + 0.5 * h * (u + free) <= 0.0 && -u > (free - u).abs())
    }

    /// The least ϑ of (1). A way that is nothing beside those of the bodies asks for none, so that the last
    /// digits of a velocity that was brought to rest do not decide on how an island moves.
    pub fn theta(&self, h: f64, resting: f64) -> Option<f64> {
        let way = -h * self.u[0];
        let nothing = 10.0 * h * resting * self.speed;
        let share = (way / nothing - 1.0).clamp(0.0, 1.0);
        let least = (1.0 - (self.gap / way).max(0.0)).max(0.0) / (1.0 + self.e);
        (share > 0.0).then_some(share * least)
    }

    /// Whether a velocity at the end leaves the contact open, with room for the curvature of the step.
    pub fn stays_open(&self, h: f64, theta: f64, after: f64) -> bool {
        let State { gap, u: [u, ..], .. } = *self;
        let way = h * (theta * after + (1.0 - theta) * u);
        if gap > 0.0 { gap + way > CURVED * way.abs() } else { after >= 0.0 }
    }

    /// The room of (2) of a contact that pressed and will go on: one that stands still beside this speed, which its last
    /// impulse made, and that this speed would close.
    pub fn lies(&self, h: f64, theta: f64, resting: f64, speed: f64) -> Option<f64> {
        let (room, nothing) = (self.room(h, theta, resting), resting * speed);
        let lies = self.u[0].abs() <= nothing && room <= speed;
        lies.then_some(if room > nothing { room } else { 0.0 })
    }

    /// The velocity that closes it, (2).
    fn room(&self, h: f64, theta: f64, resting: f64) -> f64 {
        let State { gap, u: [u, ..], free, .. } = *self;
        let room = (gap / h + (1.0 - theta) * u) / theta;
        if gap > 0.0 && room > resting * (free - u).abs() { room } else { 0.0 }
    }

    /// What (1) or (2) adds to the relative velocity.
    pub fn bias(&self, h: f64, theta: f64, resting: f64, q: &mut [f64; 3], size: usize) {
        let State { u, e, et, .. } = *self;
        if self.hits(h) {
            q[0] += e * u[0];
            if et != 0.0 {
                for k in 1..size.min(3) {
                    q[k] += et * u[k];
                }
            }
            return;
        }
        q[0] += self.room(h, theta, resting);
    }
}

impl Coefficients {
    fn of(law: &Law, plane: bool, elastic: Option<Elasticity>) -> Coefficients {
        let constant = |coefficient: &Coefficient| match coefficient {
            Coefficient::Constant(value) => (*value, false),
            Coefficient::Varying(_) => (0.0, true),
        };
        let (mut e, mut mu, mut mu_r) = ((0.0, false), (0.0, false), (0.0, false));
        let (mut et, mut size) = (0.0, 1);
        match law {
            Law::NewtonImpact { e: own } => e = constant(own),
            Law::ImpactFriction { e: own, mu: friction, et: tangential } => {
                (e, mu, et) = (constant(own), constant(friction), *tangential);
                size = if plane { 2 } else { 3 };
            }
            Law::RollingFriction { e: own, mu: friction, mu_r: rolling } => {
                (e, mu, mu_r) = (constant(own), constant(friction), constant(rolling));
                size = if plane { 3 } else { 5 };
            }
            _ => {}
        }
        let varies = e.1 || mu.1 || mu_r.1;
        Coefficients { e: e.0, et, mu: mu.0, mu_r: mu_r.0, size, varies, elastic }
    }

    /// The law's form.
    fn kind(&self, space: Body) -> Friction {
        let Coefficients { mu, mu_r, .. } = *self;
        match (space, self.size) {
            (_, 1) => Friction::None,
            (Body::Plane, 2) => Friction::Plane { mu },
            (Body::Plane, _) => Friction::RollingPlane { mu, mu_r },
            (Body::Space, 3) => Friction::Space { mu },
            (Body::Space, _) => Friction::RollingSpace { mu, mu_r },
        }
    }

    /// The same form with these values.
    fn friction(&self, form: Friction) -> Friction {
        let Coefficients { mu, mu_r, .. } = *self;
        match form {
            Friction::None => Friction::None,
            Friction::Plane { .. } => Friction::Plane { mu },
            Friction::Space { .. } => Friction::Space { mu },
            Friction::RollingPlane { .. } => Friction::RollingPlane { mu, mu_r },
            Friction::RollingSpace { .. } => Friction::RollingSpace { mu, mu_r },
        }
    }
}

/// Refuses laws that found contacts cannot have.
pub(super) fn refused(law: &Law) -> bool {
    !matches!(
        law,
        Law::NewtonImpact { .. } | Law::ImpactFriction { .. } | Law::RollingFriction { .. }
    )
}

/// Whether a law has a restitution.
pub(super) fn rebounds(law: &Law) -> bool {
    let is_zero = |e: &Coefficient| matches!(e, Coefficient::Constant(e) if *e == 0.0);
    match law {
        Law::NewtonImpact { e } | Law::RollingFriction { e, .. } => !is_zero(e),
        Law::ImpactFriction { e, et, .. } => !is_zero(e) || *et != 0.0,
        _ => false,
    }
}
