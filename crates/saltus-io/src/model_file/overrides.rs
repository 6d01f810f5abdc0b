//! `--set PATH=VALUE`: changes to the tree before it is evaluated.

use super::error::{ErrorKind, Fault};
use super::fields::unknown_key;
use super::source::Place;
use super::tree::{self, Entry, Item, Table, Value};
use super::vocabulary::{Form, Key, Kind, Section, SectionId, vocabulary};
use saltus_expr::nearest;
use std::ops::Range;

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Key(String),
    Index(usize),
}

/// A step, and where it stands in the path.
type Step = (Part, Range<usize>);

/// Applies one override, which is source number `source`.
pub(crate) fn apply(file: &mut Table, path: &str, value: &str, source: usize) -> Result<(), Fault> {
    let change = Change { path, source };
    let steps = change.parse()?;
    let item = parse_value(value, source, path.len() + 1)?;
    let (target, rest) = change.start(file, &steps)?;
    change.set(target, rest, item)
}

/// A TOML value, or the text of a formula or name.
fn parse_value(text: &str, source: usize, offset: usize) -> Result<Item, Fault> {
    match tree::value(text, source, offset) {
        Ok(item) => Ok(item),
        // what begins like a TOML value and is none is a slip, anything else is a text
        Err(fault) if text.trim_start().starts_with(['[', '{', '"', '\'']) => Err(fault),
        Err(_) => {
            let place = Place { source, span: offset..offset + text.len() };
            Ok(Item { place, value: Value::Text(text.to_owned()) })
        }
    }
}

/// Where a path has led: a value, and what the vocabulary says may stand there.
struct Spot<'a> {
    item: &'a mut Item,
    form: Option<Form>,
}

struct Change<'a> {
    path: &'a str,
    source: usize,
}

impl Change<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place { source: self.source, span }
    }

    fn fault(&self, span: &Range<usize>, kind: ErrorKind) -> Fault {
        Fault::new(&self.place(span.clone()), kind)
    }

    /// `ball.q0[0]` as `ball`, `q0`, 0. A dot inside braces belongs to the name.
    fn parse(&self) -> Result<Vec<Step>, Fault> {
        let path = self.path;
        let whole = 0..path.len();
        let syntax = || self.fault(&whole, ErrorKind::PathSyntax { path: path.to_owned() });
        let mut steps: Vec<Step> = Vec::new();
        let mut at = 0;
        loop {
            // a key
            let mut braces = 0;
            let end = path[at..].find(|c| {
                braces += i32::from(c == '{') - i32::from(c == '}');
                (c == '.' || c == '[') && braces <= 0
            });
            let end = end.map_or(path.len(), |end| at + end);
            if path[at..end].trim().is_empty() {
                return Err(syntax());
            }
            steps.push((Part::Key(path[at..end].trim().to_owned()), at..end));
            at = end;

            // its indices
            while path[at..].starts_with('[') {
                let close = at + path[at..].find(']').ok_or_else(syntax)?;
                let index = path[at + 1..close].trim().parse().map_err(|_| syntax())?;
                steps.push((Part::Index(index), at..close + 1));
                at = close + 1;
            }
            match path[at..].chars().next() {
                None => return Ok(steps),
                Some('.') => at += 1,
                Some(_) => return Err(syntax()),
            }
        }
    }

    /// The table that the path begins in, and the steps left.
    fn start<'a, 's>(
        &self,
        file: &'a mut Table,
        steps: &'s [Step],
    ) -> Result<(Start<'a>, &'s [Step]), Fault> {
        let Some((Part::Key(first), span)) = steps.first() else {
            return Err(self.fault(&(0..0), ErrorKind::PathSyntax { path: self.path.to_owned() }));
        };
        let parameters = file.get("parameters").and_then(Item::as_table);
        let parameters: Vec<String> = parameters.map(keys).unwrap_or_default();

        // a bare name is a parameter
        if steps.len() == 1 && parameters.contains(first) {
            let parameters = self.child(file, "parameters", SectionId::File, None, span)?;
            return Ok((Start::At(parameters), steps));
        }
        // a key of the file
        if vocabulary().section(SectionId::File).keys.iter().any(|key| key.name == *first) {
            return Ok((Start::File(file), steps));
        }
        // a system, interaction or event
        let Some((id, key, index)) = find_member(file, |name| name == first) else {
            return Err(self.unknown_start(file, first, span, parameters));
        };
        let spot = self.child(file, key, SectionId::File, None, span)?;
        let spot = self.index(spot, index, span)?;
        Ok((Start::At(Spot { form: Some(Form::Table(id)), ..spot }), &steps[1..]))
    }

    fn unknown_start(
        &self,
        file: &Table,
        first: &str,
        span: &Range<usize>,
        parameters: Vec<String>,
    ) -> Fault {
        if let Some((_, key, index)) = find_member(file, |name| matches_template(name, first)) {
            let items = file.get(key).and_then(Item::as_array).unwrap_or(&[]);
            let template = items.get(index).and_then(member_name).unwrap_or_default().to_owned();
            return self.fault(span, ErrorKind::PathRepeated { name: first.to_owned(), template });
        }
        let sections = ["parameters", "simulation", "title"].map(str::to_owned);
        let known: Vec<String> = members(file)
            .map(|(_, _, _, name)| name.to_owned())
            .chain(parameters)
            .chain(sections)
            .collect();
        self.unknown(first, span, "the model", known)
    }

    fn unknown(&self, part: &str, span: &Range<usize>, owner: &str, known: Vec<String>) -> Fault {
        let nearest = nearest(part, known.iter().map(String::as_str)).map(str::to_owned);
        let (part, owner) = (part.to_owned(), owner.to_owned());
        self.fault(span, ErrorKind::UnknownPath { part, owner, nearest, known })
    }

    /// Follows the steps, and puts the item where they lead.
    fn set(&self, start: Start<'_>, steps: &[Step], item: Item) -> Result<(), Fault> {
        let mut steps = steps.iter();
        let mut spot = match start {
            Start::At(spot) => spot,
            Start::File(file) => match steps.next() {
                Some((Part::Key(key), span)) => {
                    self.child(file, key, SectionId::File, None, span)?
                }
                _ => return Ok(()),
            },
        };
        for (part, span) in steps {
            spot = match part {
                Part::Key(key) => self.key(spot, key, span)?,
                Part::Index(index) => self.index(spot, *index, span)?,
            };
        }
        *spot.item = item;
        Ok(())
    }

    /// The value of a key in the table at a spot.
    fn key<'a>(&self, spot: Spot<'a>, key: &str, span: &Range<usize>) -> Result<Spot<'a>, Fault> {
        let Spot { item, form } = spot;
        let section = form.as_ref().and_then(Form::section);

        // a kind's name alone becomes a table; so does what is not there yet
        if let (Some(_), Value::Text(_)) = (section, &item.value)
            && !matches!(form, Some(Form::Table(_)))
        {
            let kind = item.clone();
            let entry = Entry { key: "kind".to_owned(), key_place: kind.place.clone(), item: kind };
            item.value = Value::Table(Table { entries: vec![entry] });
        }
        let in_words = item.in_words();
        let Value::Table(table) = &mut item.value else {
            let before = self.path[..span.start].trim_end_matches('.');
            let owner = format!("`{before}`, which is {in_words}");
            return Err(self.unknown(key, span, &owner, Vec::new()));
        };
        match section {
            Some(id) => {
                let section = vocabulary().section(id);
                let named = table.get("kind").and_then(Item::as_text).map(str::to_owned);
                let kind = named.as_deref().or(section.default_kind);
                let kind = kind.and_then(|name| section.kind(name));
                self.child(table, key, id, kind, span)
            }
            None => {
                // parameters, or a table such as { size = …, entry = … }
                let owner = format!("`{}`", self.path[..span.start].trim_end_matches('.'));
                let known = keys(table);
                match table.position(key) {
                    Some(at) => Ok(Spot { item: &mut table.entries[at].item, form: None }),
                    None => Err(self.unknown(key, span, &owner, known)),
                }
            }
        }
    }

    /// The value of a known key, made if it is not there.
    fn child<'a>(
        &self,
        table: &'a mut Table,
        key: &str,
        section: SectionId,
        kind: Option<&'static Kind>,
        span: &Range<usize>,
    ) -> Result<Spot<'a>, Fault> {
        let section = vocabulary().section(section);
        let form = known_form(section, kind, key)
            .ok_or_else(|| self.fault(span, unknown_key(key, section, kind)))?;
        let at = match table.position(key) {
            Some(at) => at,
            None => {
                let place = self.place(span.clone());
                let item = Item { place: place.clone(), value: Value::Table(Table::default()) };
                table.entries.push(Entry { key: key.to_owned(), key_place: place, item });
                table.entries.len() - 1
            }
        };
        Ok(Spot { item: &mut table.entries[at].item, form: Some(form) })
    }

    fn index<'a>(
        &self,
        spot: Spot<'a>,
        index: usize,
        span: &Range<usize>,
    ) -> Result<Spot<'a>, Fault> {
        let part = self.path[..span.start].to_owned();
        let mut found = spot.item.in_words().to_owned();
        let form = match spot.form {
            Some(Form::Tables(id)) => Some(Form::Table(id)),
            Some(Form::Kinds(id)) => Some(Form::Kind(id)),
            _ => None,
        };
        if let Value::Array(items) = &mut spot.item.value {
            found = match items.len() {
                1 => "an array of 1 entry".to_owned(),
                len => format!("an array of {len} entries"),
            };
            if let Some(item) = items.get_mut(index) {
                return Ok(Spot { item, form });
            }
        }
        Err(self.fault(span, ErrorKind::PathIndex { part, found, index }))
    }
}

/// Where a path begins.
enum Start<'a> {
    File(&'a mut Table),
    At(Spot<'a>),
}

fn keys(table: &Table) -> Vec<String> {
    table.entries.iter().map(|entry| entry.key.clone()).collect()
}

/// What may stand at a key of a section. Without a kind, the keys of all kinds are known.
fn known_form(section: &Section, kind: Option<&Kind>, name: &str) -> Option<Form> {
    if name == "kind" && !section.kinds.is_empty() {
        return Some(Form::Text);
    }
    let is_meant = |key: &&Key| key.name == name;
    let found = section.keys_with(kind).find(is_meant);
    let all = || section.kinds.iter().flat_map(|kind| &kind.keys).find(is_meant);
    let found = if kind.is_none() { found.or_else(all) } else { found };
    found.map(|key| key.form.clone())
}

/// The systems, interactions, events and parts of scenes of a file: section, key, index, name.
fn members(file: &Table) -> impl Iterator<Item = (SectionId, &'static str, usize, &str)> {
    let kinds = [
        (SectionId::System, "system"),
        (SectionId::Interaction, "interaction"),
        (SectionId::Event, "event"),
        (SectionId::Material, "material"),
        (SectionId::Static, "static"),
        (SectionId::Body, "body"),
        (SectionId::Joint, "joint"),
    ];
    kinds.into_iter().flat_map(|(id, key)| {
        let items = file.get(key).and_then(Item::as_array).unwrap_or(&[]);
        let name = move |(i, item)| Some((id, key, i, member_name(item)?));
        items.iter().enumerate().filter_map(name)
    })
}

fn member_name(item: &Item) -> Option<&str> {
    item.as_table()?.get("name")?.as_text()
}

fn find_member(
    file: &Table,
    is_meant: impl Fn(&str) -> bool,
) -> Option<(SectionId, &'static str, usize)> {
    members(file).find(|(_, _, _, name)| is_meant(name)).map(|(id, key, index, _)| (id, key, index))
}

/// Whether a name could be one that a template such as `bead{i}` gives.
fn matches_template(template: &str, name: &str) -> bool {
    let (Some(open), Some(close)) = (template.find('{'), template.rfind('}')) else {
        return false;
    };
    if close < open {
        return false;
    }
    let number = name.strip_prefix(&template[..open]);
    let number = number.and_then(|rest| rest.strip_suffix(&template[close + 1..]));
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
}
