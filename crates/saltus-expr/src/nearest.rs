//! The known name that an unknown one was probably meant to be.

/// The name in `known` nearest to `name`, if near enough to be a likely slip.
///
/// Distance is the number of characters inserted, left out, replaced, or swapped with a neighbour, upper and lower case
/// counting as equal. Near enough is a third of the longer name, rounded: none in a name of 1, one from 2 on, two from 5
/// on. Of equally near names the first wins.
///
/// ```
/// use saltus_expr::nearest;
///
/// assert_eq!(nearest("moreau-jaen", ["euler", "moreau-jean"]), Some("moreau-jean"));
/// assert_eq!(nearest("mass", ["euler", "moreau-jean"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = folded(name);
    let mut best = None;
    for candidate in known {
        let letters = folded(candidate);
        let limit = (name.len().max(letters.len()) + 1) / 3;
        if name.len().abs_diff(letters.len()) > limit {
            continue;
        }
        let distance = distance(&name, &letters);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> Vec<char> {
    name.chars().map(|c| c.to_ascii_lowercase()).collect()
}

/// Damerau-Levenshtein distance, in the form in which no letter is edited twice (optimal string alignment).
///
/// ```text
/// d(i, j) = min { d(i−1, j) + 1,  d(i, j−1) + 1,  d(i−1, j−1) + [aᵢ ≠ bⱼ],
///                 d(i−2, j−2) + 1  if aᵢ₋₁ aᵢ = bⱼ bⱼ₋₁ }
/// ```
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1]; //              row i−2
    let mut above: Vec<usize> = (0..=b.len()).collect(); // row i−1
    let mut row = vec![0; b.len() + 1]; //                 row i
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 2] == b[j - 1] && a[i - 1] == b[j - 2] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: usize) {
        let (a, b) = (folded(a), folded(b));
        assert_eq!(distance(&a, &b), expected);
        assert_eq!(distance(&b, &a), expected);
    }

    #[test]
    fn distances() {
        check("", "", 0);
        check("", "abc", 3);
        check("gap", "gap", 0);
        check("gap", "gpa", 1);
        check("gap", "cap", 1);
        check("gap", "ga", 1);
        check("kitten", "sitting", 3);
        check("ca", "abc", 3); // 2 if a letter could be edited twice
        check("θ̇", "θ", 1);
    }

    #[test]
    fn near_enough() {
        assert_eq!(nearest("k", ["g", "m"]), None);
        assert_eq!(nearest("G", ["g", "m"]), Some("g"));
        assert_eq!(nearest("MU", ["nu", "mu"]), Some("mu"));
        assert_eq!(nearest("rr", ["g", "r"]), Some("r"));
        assert_eq!(nearest("q[3]", ["q[0]", "q[1]"]), Some("q[0]"));
        assert_eq!(nearest("thta", ["beta", "theta"]), Some("theta"));
        assert_eq!(nearest("theta", []), None);
    }
}
