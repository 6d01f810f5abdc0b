//! A table read with its vocabulary: known keys only, none missing, each value in its form.

use super::arrays::{self, Slot};
use super::error::{ErrorKind, Fault};
use super::scope::Scope;
use super::slot::Sizes;
use super::source::Place;
use super::tree::{Item, Table, Value};
use super::vocabulary::{Absent, Form, Key, Kind, Section, SectionId, Uses, vocabulary, why_not};
use saltus_expr::nearest;
use saltus_linalg::Matrix;
use saltus_model::{Coefficient, Operator};

/// A table whose keys are checked.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    section: &'static Section,
    kind: Option<&'static Kind>,
    table: Option<&'a Table>, // nothing for a kind's name alone
    pub(crate) place: &'a Place,
    owner: String,
    pub(crate) scope: &'a Scope<'a>,
    sizes: Sizes,
}

impl<'a> Fields<'a> {
    /// Checks the keys of a table. `owner` names it in messages.
    pub(crate) fn open(
        item: &'a Item,
        section: SectionId,
        owner: String,
        scope: &'a Scope<'a>,
    ) -> Result<Fields<'a>, Fault> {
        Fields::open_with(item, section, owner, scope, None)
    }

    /// The same, with the kind of a table that names none.
    pub(crate) fn open_with(
        item: &'a Item,
        section: SectionId,
        owner: String,
        scope: &'a Scope<'a>,
        default_kind: Option<&str>,
    ) -> Result<Fields<'a>, Fault> {
        let section = vocabulary().section(section);
        let (table, kind) = match &item.value {
            Value::Table(table) => {
                let named = table.get("kind").map(|kind| named_kind(kind, section, scope));
                let default = default_kind.or(section.default_kind);
                let kind = match named.transpose()? {
                    None => default.and_then(|name| section.kind(name)),
                    named => named,
                };
                (Some(table), kind)
            }
            Value::Text(_) if section.kind_alone => (None, Some(named_kind(item, section, scope)?)),
            _ => {
                let expected = match section.kind_alone {
                    true => "a table with a `kind`, or a kind alone as a string",
                    false => "a table",
                };
                return Err(scope.wrong_type(item, section.name, expected));
            }
        };
        let (place, sizes) = (&item.place, Sizes::default());
        let fields = Fields { section, kind, table, place, owner, scope, sizes };
        fields.check_keys()?;
        Ok(fields)
    }

    /// No key is unknown, and none is missing.
    fn check_keys(&self) -> Result<(), Fault> {
        if !self.section.kinds.is_empty() && self.kind.is_none() {
            return Err(self.missing("kind", &self.kinds_in_words()));
        }
        for entry in self.table.iter().flat_map(|table| &table.entries) {
            if self.find(&entry.key).is_none() && !self.is_kind(&entry.key) {
                let place =
                    if entry.item.place.is_override() { entry.place() } else { &entry.key_place };
                let kind = match why_not(self.kind(), &entry.key) {
                    None => unknown_key(&entry.key, self.section, self.kind),
                    Some(why) => {
                        let (kind, key) = (self.kind(), entry.key.clone());
                        ErrorKind::NotOfThisKind { kind, key, why }
                    }
                };
                return Err(Fault::new(place, kind).repeated(self.scope.pass()));
            }
        }
        for key in self.section.keys_with(self.kind) {
            if key.absent == Absent::Refused && self.get(&key.name).is_none() {
                return Err(self.missing(&key.name, key.doc));
            }
        }
        Ok(())
    }

    fn is_kind(&self, key: &str) -> bool {
        key == "kind" && !self.section.kinds.is_empty()
    }

    fn find(&self, name: &str) -> Option<&'static Key> {
        self.section.keys_with(self.kind).find(|key| key.name == name)
    }

    fn kinds_in_words(&self) -> String {
        let names: Vec<String> =
            self.section.kinds.iter().map(|kind| format!("`{}`", kind.name)).collect();
        format!("one of {}", names.join(", "))
    }

    fn missing(&self, key: &str, doc: &str) -> Fault {
        let (owner, key, doc) = (self.owner.clone(), key.to_owned(), doc.to_owned());
        Fault::new(self.place, ErrorKind::MissingKey { owner, key, doc })
            .repeated(self.scope.pass())
    }

    /// The name of its kind.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind.map_or("", |kind| kind.name)
    }

    /// The name of its kind, or its own if it has none.
    pub(crate) fn name(&self) -> &'static str {
        self.kind.map_or(self.section.name, |kind| kind.name)
    }

    /// Its keys, and those that its kind adds.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.section.keys_with(self.kind)
    }

    /// Where to point when the value of a key makes no sense: at the key, or at the table.
    pub(crate) fn place_of(&self, key: &str) -> Option<&'a Place> {
        self.table?.entry(key).map(|entry| entry.place())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Item> {
        self.table?.get(key)
    }

    pub(crate) fn need(&self, key: &str) -> Result<&'a Item, Fault> {
        self.get(key).ok_or_else(|| self.missing(key, self.find(key).map_or("", |key| key.doc)))
    }

    /// The same, with the number of components of what its formulas may use.
    pub(crate) fn sized(&self, sizes: Sizes) -> Fields<'a> {
        Fields { sizes, ..self.clone() }
    }

    /// What the vocabulary lets the formulas at a key use.
    fn slot<'s>(&'s self, key: &'s str) -> Slot<'s> {
        let uses = match self.find(key).map(|key| &key.form) {
            Some(Form::Vector(uses) | Form::Matrix(uses) | Form::Coefficient(uses)) => *uses,
            _ => Uses::NOTHING,
        };
        Slot { what: key, names: uses.names(self.sizes), scope: self.scope }
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, Fault> {
        let Some(item) = self.get(key) else {
            return Ok(None);
        };
        let text = item.as_text();
        text.map(Some).ok_or_else(|| self.scope.wrong_type(item, key, "a string"))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, item: &Item, key: &str) -> Result<bool, Fault> {
        match item.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.scope.wrong_type(item, key, "true or false")),
        }
    }

    pub(crate) fn number(&self, key: &str) -> Result<f64, Fault> {
        match (self.get(key), self.find(key).map(|key| &key.absent)) {
            (None, Some(Absent::Value(default))) => Ok(default.as_f64().unwrap_or(f64::NAN)),
            _ => self.scope.number(self.need(key)?, key),
        }
    }

    pub(crate) fn count(&self, key: &str) -> Result<usize, Fault> {
        match (self.get(key), self.find(key).map(|key| &key.absent)) {
            (None, Some(Absent::Value(default))) => Ok(default.as_u64().unwrap_or(0) as usize),
            _ => self.scope.count(self.need(key)?, key),
        }
    }

    /// A number, or an array of numbers, that may be infinite.
    pub(crate) fn bounds(&self, key: &str) -> Result<Vec<f64>, Fault> {
        let scope = self.scope;
        match self.get(key).map(|item| (item, &item.value)) {
            None => self.number(key).map(|value| vec![value]),
            Some((item, Value::Array(items))) => {
                scope.limits.take_entries(key, &item.place, items.len() as f64)?;
                let number = |(i, item)| scope.constant(item, &format!("{key}[{i}]"));
                items.iter().enumerate().map(number).collect()
            }
            Some((item, _)) => scope.constant(item, key).map(|value| vec![value]),
        }
    }

    /// A number, or a formula of what the key allows.
    pub(crate) fn coefficient(&self, key: &str) -> Result<Coefficient, Fault> {
        match (self.get(key), self.find(key).map(|key| &key.absent)) {
            (None, Some(Absent::Value(_))) => Ok(self.number(key)?.into()),
            _ => arrays::scalar(self.need(key)?, &self.slot(key)).map(Coefficient::from),
        }
    }

    /// Points of a graph, `[[y, lam], …]`.
    pub(crate) fn points(&self, key: &str) -> Result<Vec<(f64, f64)>, Fault> {
        let (item, scope) = (self.need(key)?, self.scope);
        let expected = "an array of points [y, lam]";
        let items = item.as_array().ok_or_else(|| scope.wrong_type(item, key, expected))?;
        scope.limits.take_entries(key, &item.place, 2.0 * items.len() as f64)?;
        let point = |(i, item): (usize, &Item)| {
            let what = format!("{key}[{i}]");
            let Some([y, lam]) = item.as_array() else {
                return Err(scope.wrong_type(item, &what, "a point [y, lam]"));
            };
            let number = |item, j| scope.number(item, &format!("{what}[{j}]"));
            Ok((number(y, 0)?, number(lam, 1)?))
        };
        items.iter().enumerate().map(point).collect()
    }

    /// The length of a vector, without a look at its entries; zero if it is not there.
    pub(crate) fn len_of(&self, key: &str) -> Result<usize, Fault> {
        self.get(key).map_or(Ok(0), |item| arrays::len(item, &self.slot(key)))
    }

    pub(crate) fn vector_operator(&self, key: &str) -> Result<Option<Operator>, Fault> {
        self.get(key).map(|item| arrays::vector(item, &self.slot(key))).transpose()
    }

    /// The entries of a vector as texts.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, Fault> {
        arrays::texts(self.need(key)?, &self.slot(key))
    }

    /// A formula as a text that stands on its own.
    pub(crate) fn formula_text(&self, key: &str) -> Result<String, Fault> {
        arrays::text(self.need(key)?, &self.slot(key))
    }

    pub(crate) fn vector(&self, key: &str) -> Result<Option<Vec<f64>>, Fault> {
        Ok(self.constant(self.vector_operator(key)?).map(|value| value.data().to_vec()))
    }

    pub(crate) fn matrix_operator(&self, key: &str) -> Result<Option<Operator>, Fault> {
        self.get(key).map(|item| arrays::matrix(item, &self.slot(key))).transpose()
    }

    pub(crate) fn matrix(&self, key: &str) -> Result<Option<Matrix>, Fault> {
        Ok(self.constant(self.matrix_operator(key)?))
    }

    /// The value of an operator that no formula could make a function.
    fn constant(&self, value: Option<Operator>) -> Option<Matrix> {
        value.and_then(|value| value.as_constant().cloned())
    }

    /// A vector that has to be there.
    pub(crate) fn must_vector(&self, key: &str) -> Result<Operator, Fault> {
        self.must(key, self.vector_operator(key)?)
    }

    /// A matrix that has to be there.
    pub(crate) fn must_matrix(&self, key: &str) -> Result<Operator, Fault> {
        self.must(key, self.matrix_operator(key)?)
    }

    /// One of the strings that the vocabulary lists; `family` is what they are called in messages.
    pub(crate) fn choice(&self, key: &str, family: &str) -> Result<Option<&'a str>, Fault> {
        let (Some(name), Some(Form::Choice(known))) =
            (self.text(key)?, self.find(key).map(|key| &key.form))
        else {
            return Ok(None);
        };
        if known.contains(&name) {
            return Ok(Some(name));
        }
        let kind = ErrorKind::UnknownKind {
            family: family.to_owned(),
            found: name.to_owned(),
            nearest: nearest(name, known.iter().copied()).map(str::to_owned),
            known: known.iter().map(|&name| name.to_owned()).collect(),
        };
        Err(Fault::new(self.get(key).map_or(self.place, |item| &item.place), kind))
    }

    /// The value of a key that has to be there.
    pub(crate) fn must<T>(&self, key: &str, value: Option<T>) -> Result<T, Fault> {
        value.ok_or_else(|| self.missing(key, self.find(key).map_or("", |key| key.doc)))
    }
}

/// The kind that a string names.
fn named_kind(
    item: &Item,
    section: &'static Section,
    scope: &Scope,
) -> Result<&'static Kind, Fault> {
    let Some(name) = item.as_text() else {
        return Err(scope.wrong_type(item, "kind", "a string"));
    };
    let known = || section.kinds.iter().map(|kind| kind.name);
    section.kind(name).ok_or_else(|| {
        let kind = ErrorKind::UnknownKind {
            family: match section.id {
                SectionId::System => "kind of system".to_owned(),
                SectionId::Relation => "kind of relation".to_owned(),
                SectionId::Joint => "kind of joint".to_owned(),
                _ => section.name.to_owned(),
            },
            found: name.to_owned(),
            nearest: nearest(name, known()).map(str::to_owned),
            known: known().map(str::to_owned).collect(),
        };
        scope.fault(item, kind)
    })
}

/// The error of a key that a section does not have.
pub(crate) fn unknown_key(key: &str, section: &Section, kind: Option<&Kind>) -> ErrorKind {
    let kinds = if section.kinds.is_empty() { None } else { Some("kind") };
    let mut known: Vec<&str> = kinds.into_iter().collect();
    known.extend(section.keys_with(kind).map(|key| key.name.as_str()));
    if section.id == SectionId::MatrixEntries {
        known.extend(["diagonal", "identity"]);
    }
    ErrorKind::UnknownKey {
        key: key.to_owned(),
        nearest: nearest(key, known.iter().copied()).map(str::to_owned),
        known: known.into_iter().map(str::to_owned).collect(),
    }
}
