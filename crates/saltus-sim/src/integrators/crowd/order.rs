//! The order of units in which those that share a system stand close to each other.

use super::linked::Part;
use std::collections::VecDeque;

/// The order of Cuthill and McKee, backwards: from a part far out, neighbours first.
pub(super) fn order(parts: &[Part]) -> Vec<usize> {
    let systems = parts.iter().flat_map(Part::systems).max().map_or(0, |most| most + 1);
    let mut of_system: Vec<Vec<usize>> = vec![Vec::new(); systems];
    for (k, part) in parts.iter().enumerate() {
        part.systems().for_each(|system| of_system[system].push(k));
    }
    let degree = |k: usize| parts[k].systems().map(|s| of_system[s].len() - 1).sum::<usize>();
    let mut all = Vec::with_capacity(parts.len());
    let mut known = vec![false; parts.len()];
    let mut queue = VecDeque::new();
    let mut walk = |from: usize, known: &mut [bool], all: &mut Vec<usize>| {
        known[from] = true;
        queue.push_back(from);
        while let Some(k) = queue.pop_front() {
            all.push(k);
            let begin = queue.len();
            for other in parts[k].systems().flat_map(|s| &of_system[s]) {
                if !std::mem::replace(&mut known[*other], true) {
                    queue.push_back(*other);
                }
            }
            queue.make_contiguous()[begin..].sort_by_key(|&k| (degree(k), k));
        }
    };
    for k in 0..parts.len() {
        if known[k] {
            continue;
        }
        // the last part that is reached from here is far out
        let (start, mut seen) = (all.len(), known.clone());
        walk(k, &mut seen, &mut all);
        let far = all.last().copied().unwrap_or(k);
        all.truncate(start);
        walk(far, &mut known, &mut all);
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use super::super::linked::What;
    use super::*;

    fn pair(k: usize, systems: [Option<usize>; 2]) -> Part {
        Part::of(What::Link(k), 5, systems.into_iter().flatten().map(|k| k as u32))
    }

    /// The farthest that two parts of one system stand apart.
    fn width(parts: &[Part]) -> usize {
        let order = order(parts);
        let place = |k: usize| order.iter().position(|other| *other == k).unwrap();
        let mut most = 0;
        for (a, of) in parts.iter().enumerate() {
            for (b, by) in parts.iter().enumerate() {
                if of.systems().any(|system| by.systems().any(|other| other == system)) {
                    most = most.max(place(a).abs_diff(place(b)));
                }
            }
        }
        assert_eq!(order.len(), parts.len());
        most
    }

    #[test]
    fn a_chain_is_put_in_order() {
        // joints 0–1, 1–2, … named in any order
        let n = 23;
        let named = (0..n).map(|k| (k * 7 + 3) % n);
        let parts: Vec<Part> = named.map(|k| pair(k, [Some(k), (k > 0).then(|| k - 1)])).collect();
        assert_eq!(width(&parts), 1);
        // a ring
        let parts: Vec<Part> =
            (0..n).map(|k| (k * 5) % n).map(|k| pair(k, [Some(k), Some((k + 1) % n)])).collect();
        assert_eq!(width(&parts), 2);
        // two chains, turn about
        let parts: Vec<Part> = (0..n).map(|k| pair(k, [Some(k), Some(k + 2)])).collect();
        assert_eq!(width(&parts), 1);
    }
}
