//! What Apache WSS4J secures, on trees and on streams, is accepted here: each algorithm, reference, layout and token.

#![allow(clippy::panic, reason = "tests say what was refused, and why")]

mod bindings;
mod cases;
mod tokens;
#[allow(dead_code, reason = "shared with the tests of the other direction, which use the rest")]
#[path = "../interop_out/world.rs"]
mod world;
