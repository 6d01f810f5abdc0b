//! Calls: subcircuits, and amplifiers and transformers called like them.

use std::collections::HashMap;

use saltus_expr::nearest;

use super::{Done, Expansion, MAX_CALLS, MAX_SCOPES};
use crate::Device;
use crate::netlist::card::Element;
use crate::netlist::cursor::Word;
use crate::netlist::error::Problem;
use crate::netlist::expression::Expr;
use crate::netlist::model::Model;

impl<'d> Expansion<'d, '_> {
    pub(super) fn call(
        &mut self,
        name: String,
        element: &'d Element,
        block: &'d Word,
        given: &'d [(Word, Expr)],
        scope: usize,
    ) -> Done {
        let Some(index) = self.find_block(&block.text, scope) else {
            return self.device(name, element, block, given, scope);
        };
        let of = &self.parsed.blocks[index];
        let given_ports = of.ports.len() - of.optional.len()..=of.ports.len();
        if !given_ports.contains(&element.nodes.len()) {
            let problem = Problem::Nodes {
                kind: "subcircuit",
                name: block.text.clone(),
                expected: of.ports.len(),
                found: element.nodes.len(),
            };
            return Err(self.fail(element.name.at, problem));
        }
        if let Some(from) = self.calls.iter().position(|&known| known == index) {
            let names = self.calls[from..].iter().chain([&index]);
            let chain = names.map(|&index| self.parsed.blocks[index].name.text.clone()).collect();
            let problem = Problem::Cycle { kind: "subcircuit", name: block.text.clone(), chain };
            return Err(self.fail(block.at, problem));
        }
        if self.calls.len() == MAX_CALLS {
            return Err(self.fail(block.at, Problem::TooDeep { limit: MAX_CALLS }));
        }
        if self.resolver.scopes.len() > MAX_SCOPES {
            let problem = Problem::TooMany { what: "calls of subcircuits", limit: MAX_SCOPES };
            return Err(self.fail(block.at, problem));
        }
        let known = || of.defaults.iter().chain(&of.parameters).map(|(name, _)| &name.text);
        let is_known = |key: &Word| known().any(|name| key.is(name));
        if let Some((key, _)) = given.iter().find(|(key, _)| !is_known(key)) {
            let problem = Problem::Unknown {
                kind: "parameter of the subcircuit",
                name: key.text.clone(),
                nearest: nearest(&key.text, known().map(String::as_str)).map(str::to_owned),
            };
            return Err(self.fail(key.at, problem));
        }
        let prefix = format!("{name}.");
        let inner = self.resolver.add_scope(index, Some(scope), prefix, given, &HashMap::new())?;
        let left_out = of.ports.len() - element.nodes.len();
        let nodes = element.nodes.iter().chain(&of.optional[of.optional.len() - left_out..]);
        for (port, node) in of.ports.iter().zip(nodes) {
            let connected = self.node(scope, &node.text);
            let connected = self.circuit.nodes[connected.0].clone();
            self.resolver.scopes[inner].ports.insert(port.key(), connected);
        }
        self.calls.push(index);
        self.block(index, inner)?;
        self.calls.pop();
        Ok(())
    }

    /// The block of a name, seen from a scope.
    pub(super) fn find_block(&self, name: &str, scope: usize) -> Option<usize> {
        let key = name.to_lowercase();
        let mut block = Some(self.resolver.scopes[scope].block);
        while let Some(index) = block {
            let blocks = &self.parsed.blocks[index].blocks;
            if let Some((_, found)) = blocks.iter().find(|(known, _)| *known == key) {
                return Some(*found);
            }
            block = self.parsed.blocks[index].parent;
        }
        None
    }

    /// An amplifier, comparator or transformer, called like a subcircuit.
    pub(super) fn device(
        &mut self,
        name: String,
        element: &'d Element,
        block: &Word,
        given: &[(Word, Expr)],
        scope: usize,
    ) -> Done {
        let Some((card, within)) = self.find_model(&block.text, scope) else {
            let blocks = self.parsed.blocks[1..].iter().map(|block| block.name.text.as_str());
            let problem = Problem::Unknown {
                kind: "subcircuit",
                name: block.text.clone(),
                nearest: nearest(&block.text, blocks).map(str::to_owned),
            };
            return Err(self.fail(block.at, problem));
        };
        let model = self.built(card, within)?;
        if let Some((key, _)) = given.first() {
            let problem = Problem::Unknown {
                kind: "parameter of the subcircuit",
                name: key.text.clone(),
                nearest: None,
            };
            return Err(self.fail(key.at, problem));
        }
        let mut nodes = Vec::with_capacity(element.nodes.len());
        for node in &element.nodes {
            nodes.push(self.node(scope, &node.text));
        }
        let (expected, device) = match (model, nodes.as_slice()) {
            (Model::OpAmp(model), &[plus, minus, output]) => {
                (3, Some(Device::OpAmp { nodes: [plus, minus, output], model }))
            }
            (Model::OpAmp(_), _) => (3, None),
            (Model::Transformer(ratio), &[a, b, c, d]) => {
                (4, Some(Device::Transformer { primary: [a, b], secondary: [c, d], ratio }))
            }
            (Model::Transformer(_), _) => (4, None),
            _ => {
                let expected = "`opamp`, `comparator` or `transformer`, or a subcircuit";
                return Err(self.wrong_type(block, scope, expected));
            }
        };
        match device {
            Some(device) => {
                self.add(name, device, element.name.at)?;
                Ok(())
            }
            None => {
                let problem = Problem::Nodes {
                    kind: "model",
                    name: block.text.clone(),
                    expected,
                    found: nodes.len(),
                };
                Err(self.fail(element.name.at, problem))
            }
        }
    }
}
