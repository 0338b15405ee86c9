//! What is secured here is accepted by Apache WSS4J, on trees and on streams: each algorithm, reference, layout and token.

mod cases;
mod exchange;
mod world;
