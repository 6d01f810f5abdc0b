//! Heaps of grains.
