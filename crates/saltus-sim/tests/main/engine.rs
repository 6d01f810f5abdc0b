//! How the engine behaves: islands, order, restart, transactions.
