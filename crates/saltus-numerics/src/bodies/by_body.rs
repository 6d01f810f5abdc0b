//! The contacts of each body.

/// For each body the contacts it is a side of, in their order.
#[derive(Debug, Default)]
pub(super) struct ByBody {
    first: Vec<u32>, // of each body, in `all`
    all: Vec<u32>,
}

impl ByBody {
    /// From the bodies on the sides of each contact.
    pub fn fill<Sides: IntoIterator<Item = u32>>(
        &mut self,
        bodies: usize,
        contacts: impl Iterator<Item = Sides> + Clone,
    ) {
        let ByBody { first, all } = self;
        first.clear();
        first.resize(bodies + 1, 0);
        for side in contacts.clone().flatten() {
            first[side as usize + 1] += 1;
        }
        for k in 0..bodies {
            first[k + 1] += first[k];
        }
        all.clear();
        all.resize(first[bodies] as usize, 0);
        for (c, sides) in contacts.enumerate() {
            for side in sides {
                let next = &mut first[side as usize];
                all[*next as usize] = c as u32;
                *next += 1;
            }
        }
        first.rotate_right(1);
        first[0] = 0;
    }

    /// The contacts of one.
    pub fn of(&self, body: usize) -> &[u32] {
        &self.all[self.first[body] as usize..self.first[body + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_stand_with_their_bodies() {
        let contacts = [vec![0, 2], vec![2], vec![1, 2], vec![]];
        let mut by_body = ByBody::default();
        for _ in 0..2 {
            by_body.fill(4, contacts.iter().map(|sides| sides.iter().copied()));
            let all: Vec<&[u32]> = (0..4).map(|k| by_body.of(k)).collect();
            assert_eq!(all, [&[0][..], &[2], &[0, 1, 2], &[]]);
        }
    }
}
