//! What takes long holds up nobody but who waits for it.
//!
//! These tests look at how long others wait, so they are a binary of their own and take turns.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

#[path = "../support/mod.rs"]
mod support;

mod memory;
mod overload;
mod scripts;
mod transforming;
mod work;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other of these tests runs; the next may begin when the guard is dropped.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing behind that could hinder the next.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
