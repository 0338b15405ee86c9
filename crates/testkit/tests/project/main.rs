//! The golden cases and the examples of this project.

mod cases;
mod examples;
