//! What is said more than once: by a module of higher precedence, which is right, or twice by one (XSLT 3.0 §3.11.3).

use std::collections::HashMap;

use super::problems::Problems;
use crate::name::ExpandedName;
use crate::scope::At;

/// What was said so far; it comes with ascending precedence.
#[derive(Default)]
pub(super) struct Overrides {
    said: HashMap<Subject, Said>,
}

/// About what something is said: the error that a contradiction is, a name, and a detail such as an attribute.
pub(super) type Subject = (&'static str, ExpandedName, String);

struct Said {
    precedence: u32,
    value: String,
    /// What is wrong with it, if nothing of higher precedence comes.
    conflict: Option<(At, String)>,
}

impl Overrides {
    /// Notes what is said now; `conflict` tells what is wrong where the same precedence said something else before.
    pub(super) fn say(
        &mut self,
        subject: Subject,
        value: impl Into<String>,
        precedence: u32,
        conflict: impl FnOnce() -> (At, String),
    ) {
        let value = value.into();
        let before = self.said.remove(&subject).filter(|before| before.precedence == precedence);
        let conflict = before.and_then(|before| match before.conflict {
            None if before.value != value => Some(conflict()),
            known => known,
        });
        self.said.insert(subject, Said { precedence, value, conflict });
    }

    /// Tells the conflicts that nothing has overridden.
    pub(super) fn finish(&mut self, problems: &mut Problems) {
        for ((code, ..), said) in self.said.drain() {
            if let Some((at, message)) = said.conflict {
                problems.error(at, code, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_one_unless_it_is_overridden() {
        let conflicts = |said: &[(u32, u32)]| {
            let subject = || ("XTSE0660", ExpandedName::default(), String::new());
            let mut overrides = Overrides::default();
            for &(value, precedence) in said {
                overrides.say(subject(), value.to_string(), precedence, || (At::default(), String::new()));
            }
            let mut problems = Problems::default();
            overrides.finish(&mut problems);
            problems.mark()
        };
        assert_eq!(conflicts(&[(1, 0), (2, 0)]), 1);
        assert_eq!(conflicts(&[(1, 0), (1, 0)]), 0);
        assert_eq!(conflicts(&[(1, 0), (2, 0), (2, 0)]), 1);
        assert_eq!(conflicts(&[(1, 0), (2, 0), (3, 1)]), 0);
        assert_eq!(conflicts(&[(1, 0), (2, 1)]), 0);
    }
}
