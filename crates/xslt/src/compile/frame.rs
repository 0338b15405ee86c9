//! Which variables are in scope, and the slots of a frame that they have while running.

use crate::name::ExpandedName;

/// The variables of one template, function or global declaration, as far as they are in scope.
///
/// A variable is in scope behind its declaration, up to the end of what it stands in; then its slot is free again.
#[derive(Debug, Default)]
pub(super) struct Frame {
    visible: Vec<(ExpandedName, u32)>,
    next: u32,
    most: u32,
}

/// Where a scope began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    visible: usize,
    next: u32,
}

impl Frame {
    pub(super) fn open(&self) -> Mark {
        Mark { visible: self.visible.len(), next: self.next }
    }

    /// Ends the scope that began there.
    pub(super) fn close(&mut self, mark: Mark) {
        self.visible.truncate(mark.visible);
        self.next = mark.next;
    }

    /// Brings a variable in scope.
    pub(super) fn declare(&mut self, name: ExpandedName) -> u32 {
        let slot = self.next;
        self.visible.push((name, slot));
        self.next += 1;
        self.most = self.most.max(self.next);
        slot
    }

    /// The innermost variable of that name.
    pub(super) fn find(&self, name: &ExpandedName) -> Option<u32> {
        self.visible.iter().rev().find(|(known, _)| known == name).map(|(_, slot)| *slot)
    }

    /// The variables that can be seen, each with its slot.
    pub(super) fn visible(&self) -> Box<[(ExpandedName, u32)]> {
        let is_innermost =
            |index: usize, name: &ExpandedName| self.visible[index + 1..].iter().all(|(it, _)| it != name);
        let found = self.visible.iter().enumerate().filter(|(index, (name, _))| is_innermost(*index, name));
        found.map(|(_, variable)| variable.clone()).collect()
    }

    /// How many slots are in use at most.
    pub(super) fn size(&self) -> u32 {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_scopes_that_ended_are_used_again() {
        let name = |local: &str| ExpandedName::new("", local);
        let mut frame = Frame::default();
        assert_eq!(frame.declare(name("a")), 0);
        let mark = frame.open();
        assert_eq!((frame.declare(name("b")), frame.declare(name("a"))), (1, 2));
        assert_eq!(frame.find(&name("a")), Some(2));
        frame.close(mark);
        assert_eq!((frame.find(&name("a")), frame.find(&name("b"))), (Some(0), None));
        assert_eq!(*frame.visible(), [(name("a"), 0)]);
        assert_eq!((frame.declare(name("c")), frame.size()), (1, 3));
    }
}
