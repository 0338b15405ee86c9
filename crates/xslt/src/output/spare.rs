//! Memory that one result needed and the next one of the same thread will need again.
//!
//! A small message is transformed in less time than it takes to allocate and free what holds its names.

use std::cell::RefCell;

use myelin_xml::Names;

use super::bytes::CopiedTags;
use super::scope::Tables;

/// How many results may be made at once in memory that was used before.
const KEPT: usize = 4;

/// What a table of names may hold to be kept; a large one would take memory for nothing ever after.
const KEPT_NAMES: usize = 1_024;

thread_local! {
    static KEPT_MEMORY: RefCell<Vec<Spare>> = const { RefCell::new(Vec::new()) };
}

/// What a result is put together with.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) names: Names,
    pub(super) tables: Tables,
    pub(super) copied: CopiedTags,
}

impl Spare {
    /// Memory that was used before, if there is some.
    pub(super) fn take() -> Spare {
        KEPT_MEMORY.with_borrow_mut(Vec::pop).unwrap_or_default()
    }

    /// Keeps the memory for the next result.
    pub(super) fn keep(mut self) {
        let (names, bytes) = self.names.size();
        if names > KEPT_NAMES || bytes > KEPT_NAMES * 64 {
            self.names = Names::new();
        }
        if self.tables.is_larger(KEPT_NAMES) {
            self.tables = Tables::default();
        }
        if self.copied.is_larger(KEPT_NAMES) {
            self.copied = CopiedTags::default();
        }
        KEPT_MEMORY.with_borrow_mut(|kept| {
            if kept.len() < KEPT {
                kept.push(self);
            }
        });
    }
}
