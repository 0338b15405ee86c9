//! The names in a template.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The number of a variable's name.
pub(crate) type Symbol = u32;

/// The names that a template uses: those of variables as numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    names: Vec<Arc<str>>,
    symbols: HashMap<Arc<str>, Symbol>,
    /// Whether names may come up that are not written in the template.
    reaches_all: bool,
    /// The names of members that are written in the template.
    members: BTreeSet<Arc<str>>,
}

impl Names {
    /// The number of a name, given to it now if it had none.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        let name: Arc<str> = name.into();
        let symbol = self.names.len() as Symbol;
        self.names.push(Arc::clone(&name));
        self.symbols.insert(name, symbol);
        symbol
    }

    /// The number of a name, if it has one.
    pub(crate) fn find(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol as usize]
    }

    /// Says that any name may come up.
    pub(crate) fn reach_all(&mut self) {
        self.reaches_all = true;
    }

    pub(crate) fn reaches_all(&self) -> bool {
        self.reaches_all
    }

    /// The name of a member, which is asked of something.
    pub(crate) fn member(&mut self, name: Arc<str>) -> Arc<str> {
        self.members.insert(Arc::clone(&name));
        name
    }

    pub(crate) fn members(&self) -> &BTreeSet<Arc<str>> {
        &self.members
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}
