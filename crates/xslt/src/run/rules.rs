//! Which template is for which node: tables of rules, found by what a node is.

use crate::program::Rule;

/// The rules of one mode, the best first.
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Puts rules in order: precedence, then priority, then the last that is written.
    pub(crate) fn new(mut rules: Vec<Rule>) -> Rules {
        rules.sort_by(|a, b| {
            let priority = b.priority.total_cmp(&a.priority);
            b.precedence.cmp(&a.precedence).then(priority).then(b.order.cmp(&a.order))
        });
        Rules { rules }
    }
}
