//! What formulas may use at one place of a file, and what is said of the rest.

use super::error::ErrorKind;
use super::vocabulary::Uses;
use saltus_expr::ExprError;
use saltus_model::Names;

/// Numbers of components that the vectors of a slot have.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sizes {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) inputs: usize,
}

impl Uses {
    /// The names with this many components.
    pub(crate) fn names(self, sizes: Sizes) -> Names {
        let sized = |name: &'static str, len| if name.is_empty() { ("", 0) } else { (name, len) };
        Names {
            time: self.time,
            first: sized(self.first, sizes.first),
            second: sized(self.second, sizes.second),
            inputs: if self.inputs { sizes.inputs } else { 0 },
        }
    }
}

/// The vectors that formulas know somewhere.
const VECTORS: [&str; 6] = ["x", "q", "v", "lam", "u", "z"];

/// What may be used, in words: `t`, `q[0]` to `q[2]`.
fn allowed(names: &Names) -> Vec<String> {
    let time = names.time.then(|| "`t`".to_owned());
    let vectors = [names.first, names.second, ("z", names.inputs)];
    let entries = vectors.into_iter().filter(|&(_, len)| len > 0).map(|(name, len)| match len {
        1 => format!("`{name}[0]`"),
        _ => format!("`{name}[0]` to `{name}[{}]`", len - 1),
    });
    time.into_iter().chain(entries).collect()
}

/// An error of a formula in the words of its slot.
pub(crate) fn refusal(error: ExprError, what: &str, names: &Names) -> ErrorKind {
    let error = match error {
        ExprError::Among { error, .. } => *error,
        error => error,
    };
    let ExprError::UnknownName { name, .. } = &error else {
        return error.into();
    };
    let (what, name) = (what.to_owned(), name.clone());
    let vector = name.split('[').next().unwrap_or_default();
    let known = [names.first, names.second, ("z", names.inputs)];
    let is_entry = name.ends_with(']');
    match known.iter().find(|(known, len)| *known == vector && *len > 0) {
        Some(&(_, len)) if is_entry => ErrorKind::Index { what, name, len },
        None if name == "t" || (is_entry && VECTORS.contains(&vector)) => {
            ErrorKind::NotAllowed { what, name, allowed: allowed(names) }
        }
        _ => error.into(),
    }
}
