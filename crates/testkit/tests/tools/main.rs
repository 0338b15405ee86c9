//! What tests stand on does what it says.

mod faulty;
mod runner;
mod unit_tests;
