//! Netlists: what they mean, and what is said of wrong ones.

mod analyses;
mod dialects;
mod elements;
mod errors;
mod fuzz;
mod hierarchy;
mod models;

use saltus_circuits::{Circuit, Deck, Device, Node};

/// A deck of these lines under a title.
#[track_caller]
fn deck(lines: &str) -> Deck {
    match Deck::parse(&format!("title\n{lines}"), "a.cir") {
        Ok(deck) => deck,
        Err(error) => panic!("{error}"),
    }
}

/// Its circuit.
#[track_caller]
fn circuit(lines: &str) -> Circuit {
    match deck(lines).circuit() {
        Ok(circuit) => circuit,
        Err(error) => panic!("{error}"),
    }
}

/// The message about these lines.
#[track_caller]
fn message(lines: &str) -> String {
    let files = |path: &std::path::Path| Err(format!("no file {}", path.display()));
    let deck = match Deck::parse_with(&format!("title\n{lines}"), "a.cir", files) {
        Ok(deck) => deck,
        Err(error) => return error.to_string(),
    };
    match (deck.circuit(), deck.analysis()) {
        (Err(error), _) | (_, Err(error)) => error.to_string(),
        _ => panic!("nothing wrong with {lines:?}"),
    }
}

/// Warnings about these lines.
#[track_caller]
fn warnings(lines: &str) -> Vec<String> {
    deck(lines).warnings().iter().map(ToString::to_string).collect()
}

/// The device of a name.
#[track_caller]
fn device(circuit: &Circuit, name: &str) -> Device {
    match circuit.find(name) {
        Some(index) => circuit.components[index].device.clone(),
        None => panic!("no {name}"),
    }
}

/// The node of a name.
#[track_caller]
fn node(circuit: &Circuit, name: &str) -> Node {
    match circuit.find_node(name) {
        Some(node) => node,
        None => panic!("no node {name}"),
    }
}
