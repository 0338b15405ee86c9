//! The first element in the body of a message, found among the events of a parser.

use myelin_soap::Version;
use myelin_xml::Start;

/// How far the search has come; asked of each start tag, with its depth, up to the one that is meant.
///
/// It finds what `Envelope::payload` finds in a tree, and of plain XML the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FirstInBody {
    #[default]
    Before,
    /// In an envelope of that version, before its body.
    Envelope(Version),
    Body,
    /// Behind the body; or in an envelope whose body holds no element.
    Behind,
}

impl FirstInBody {
    /// Whether the element that starts there is the one; the root has the depth 1.
    pub(super) fn is(&mut self, depth: usize, start: &Start<'_>) -> bool {
        let name = start.names().get(start.name);
        match (*self, depth) {
            (FirstInBody::Before, _) => match Version::of_namespace(name.namespace) {
                Some(version) if name.local == "Envelope" => *self = FirstInBody::Envelope(version),
                _ => return true,
            },
            (FirstInBody::Envelope(version), 2) if name.local == "Body" && name.namespace == version.namespace() => {
                *self = FirstInBody::Body;
            }
            (FirstInBody::Body, 3) => return true,
            (FirstInBody::Body, 2) => *self = FirstInBody::Behind,
            _ => {}
        }
        false
    }
}
