//! Which pairs `(M, H)` are those of bodies, and whether their blocks hang together.

use crate::{Global, Problem};
use saltus_linalg::BlockDiagonal;

/// Blocks of `W` in a row from which bodies are cheaper.
const CROWDED: f64 = 6.0;

/// A pair whose velocities are those of bodies, all of one kind.
#[derive(Debug, Clone, Copy)]
pub(in crate::methods) struct Pair<'a> {
    pub(super) global: &'a Global,
    pub(super) inverse: &'a BlockDiagonal,
    pub(super) size: usize, // velocities of a body
}

/// The pair of a problem whose mass is that of bodies in space or in the plane, each touched by so many
/// blocks that a row of `W` costs more than the bodies.
pub(in crate::methods) fn of_bodies(problem: &Problem) -> Option<Pair<'_>> {
    let pair = of_masses(problem)?;
    let Pair { global, size, .. } = pair;
    let mut pairs = 0.0; // of blocks on a body, three unknowns each
    for body in 0..global.velocities() / size {
        let rows = size * body..size * (body + 1);
        let most = rows.map(|i| global.H().row(i).len()).max().unwrap_or(0) as f64;
        pairs += most * most / 9.0;
    }
    (size >= 3 && pairs >= CROWDED * problem.len() as f64 / 3.0).then_some(pair)
}

/// The pair of a problem whose mass consists of blocks that do not cross the border of a body: in space,
/// in the plane, or of points.
pub(in crate::methods) fn of_masses(problem: &Problem) -> Option<Pair<'_>> {
    let global = problem.global()?;
    let inverse = global.inverse_blocks()?;
    let n = global.velocities();
    let alone = |size: usize| {
        n.is_multiple_of(size) && inverse.ranges().all(|r| r.start / size == (r.end - 1) / size)
    };
    let size = [6, 3, 2, 1].into_iter().find(|&size| alone(size))?;
    Some(Pair { global, inverse, size })
}

/// Whether all blocks hang together, through the bodies that they touch.
pub(in crate::methods) fn is_one_island(pair: Pair<'_>) -> bool {
    let Pair { global, size, .. } = pair;
    let mut parent: Vec<u32> = (0..global.velocities()).map(|i| (i - i % size) as u32).collect();
    fn root(parent: &mut [u32], mut k: u32) -> u32 {
        while parent[k as usize] != k {
            parent[k as usize] = parent[parent[k as usize] as usize];
            k = parent[k as usize];
        }
        k
    }
    let columns_of_H = global.transposed();
    let mut first = None;
    for unknown in 0..columns_of_H.rows() {
        let mut columns = columns_of_H.row(unknown).iter().map(|entry| entry.col as u32);
        let Some(one) = columns.next() else { continue };
        for other in columns {
            let (a, b) = (root(&mut parent, one), root(&mut parent, other));
            parent[a.max(b) as usize] = a.min(b);
        }
        first = first.or(Some(one));
    }
    let Some(first) = first else { return true };
    let whole = root(&mut parent, first);
    (0..columns_of_H.rows()).all(|unknown| {
        columns_of_H
            .row(unknown)
            .first()
            .is_some_and(|entry| root(&mut parent, entry.col as u32) == whole)
    })
}
