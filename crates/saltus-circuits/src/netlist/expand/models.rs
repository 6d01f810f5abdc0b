//! Models of devices: cards looked up, and made devices once.

use saltus_expr::nearest;

use super::Expansion;
use crate::SwitchModel;
use crate::netlist::card::ModelCard;
use crate::netlist::cursor::Word;
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::model::{self, Model};

impl<'d> Expansion<'d, '_> {
    /// The model of a name, seen from a scope.
    pub(super) fn model(&mut self, name: &Word, scope: usize) -> Result<Model, NetlistError> {
        match self.find_model(&name.text, scope) {
            Some((card, within)) => self.built(card, within),
            None => {
                if self.is_binned(&name.text, scope) {
                    let problem = Problem::NotSupported {
                        name: name.text.clone(),
                        element: None,
                        what: "a model in bins of sizes".to_owned(),
                        instead: "one model for all sizes",
                    };
                    return Err(self.fail(name.at, problem));
                }
                let mut known = Vec::new();
                let mut block = Some(self.resolver.scopes[scope].block);
                while let Some(index) = block {
                    let models = &self.parsed.blocks[index].models;
                    known.extend(models.iter().map(|card| card.name.text.as_str()));
                    block = self.parsed.blocks[index].parent;
                }
                let problem = Problem::Unknown {
                    kind: "model",
                    name: name.text.clone(),
                    nearest: nearest(&name.text, known).map(str::to_owned),
                };
                Err(self.fail(name.at, problem))
            }
        }
    }

    /// Whether there are models `name.1`, `name.2` …
    fn is_binned(&self, name: &str, scope: usize) -> bool {
        let block = self.resolver.scopes[scope].block;
        model::find(&self.parsed.blocks, block, &format!("{name}.1")).is_some()
    }

    /// A model card, and the scope its expressions belong to.
    pub(super) fn find_model(&self, name: &str, scope: usize) -> Option<(&'d ModelCard, usize)> {
        let block = self.resolver.scopes[scope].block;
        let (owner, card) = model::find(&self.parsed.blocks, block, name)?;
        Some((card, self.resolver.scope_of(scope, owner)))
    }

    pub(super) fn built(
        &mut self,
        card: &'d ModelCard,
        scope: usize,
    ) -> Result<Model, NetlistError> {
        let key = (card.name.at.line, card.name.at.offset, scope);
        if let Some(model) = self.models.get(&key) {
            return Ok(model.clone());
        }
        let model = model::build(card, &mut self.resolver, scope, self.context.device)?;
        self.models.insert(key, model.clone());
        Ok(model)
    }

    pub(super) fn switch(
        &mut self,
        name: &Word,
        scope: usize,
    ) -> Result<SwitchModel, NetlistError> {
        match self.model(name, scope)? {
            Model::Switch(switch) => Ok(switch),
            _ => Err(self.wrong_type(name, scope, "`SW` or `CSW`")),
        }
    }

    pub(super) fn wrong_type(
        &self,
        name: &Word,
        scope: usize,
        expected: &'static str,
    ) -> NetlistError {
        let found = self.find_model(&name.text, scope);
        let found = found.map_or(String::new(), |(card, _)| card.kind.text.clone());
        self.fail(name.at, Problem::ModelType { name: name.text.clone(), found, expected })
    }
}
