//! Where the search for the end of an incomplete token goes on when more has come.

/// A search that goes on.
#[derive(Debug)]
pub(super) struct Resume {
    sought: Sought,
    /// Everything before was looked at.
    pub(super) looked: usize,
}

/// What ends a token.
#[derive(Debug)]
enum Sought {
    /// `<`, for text.
    Markup,
    /// `>` outside of quotes, for a tag; which quote is open.
    TagEnd { quote: Option<u8> },
    /// These bytes, for comments, CDATA sections and instructions.
    Mark(&'static [u8]),
    /// The end of a document type declaration.
    Doctype(Doctype),
}

impl Resume {
    /// A search for the end of the token at `at`; none where the window is too short to say which it is,
    /// because then it is also too short to be costly.
    pub(super) fn begin(window: &[u8], at: usize) -> Option<Resume> {
        let rest = &window[at..];
        let (sought, mark) = match rest {
            [] | [b'<'] => return None,
            [b'<', b'?', ..] => (Sought::Mark(b"?>"), "<?".len()),
            [b'<', b'!', b'-', b'-', ..] => (Sought::Mark(b"-->"), "<!--".len()),
            [b'<', b'!', b'[', ..] if rest.starts_with(b"<![CDATA[") => (Sought::Mark(b"]]>"), "<![CDATA[".len()),
            [b'<', b'!', b'D', ..] if rest.starts_with(b"<!DOCTYPE") => {
                (Sought::Doctype(Doctype::default()), "<!DOCTYPE".len())
            }
            [b'<', b'!', ..] => return None,
            [b'<', ..] => (Sought::TagEnd { quote: None }, "<".len()),
            _ => (Sought::Markup, 0),
        };
        Some(Resume { sought, looked: at + mark })
    }

    /// Looks on to the end of the window; whether the token's end is there.
    pub(super) fn look(&mut self, window: &[u8]) -> bool {
        let rest = &window[self.looked.min(window.len())..];
        let found = match &mut self.sought {
            Sought::Markup => memchr::memchr(b'<', rest).is_some(),
            Sought::TagEnd { quote } => tag_end(rest, quote),
            Sought::Mark(mark) => {
                let found = memchr::memmem::find(rest, mark).is_some();
                // The mark may have begun already.
                self.looked += rest.len().saturating_sub(mark.len() - 1);
                return found;
            }
            Sought::Doctype(doctype) => {
                let (looked, found) = doctype.skip(rest);
                self.looked += looked;
                return found;
            }
        };
        self.looked += rest.len();
        found
    }
}

fn tag_end(mut rest: &[u8], quote: &mut Option<u8>) -> bool {
    loop {
        let next = match *quote {
            Some(open) => memchr::memchr(open, rest),
            None => rest.iter().position(|byte| matches!(byte, b'>' | b'"' | b'\'' | b'<')),
        };
        let Some(next) = next else { return false };
        *quote = match (*quote, rest[next]) {
            (Some(_), _) => None,
            (None, byte @ (b'"' | b'\'')) => Some(byte),
            // A `<` cannot stand here: the error need not wait for the end of the tag.
            _ => return true,
        };
        rest = &rest[next + 1..];
    }
}

/// Where a scanner of a document type declaration is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doctype {
    inside: Inside,
    /// Whether the internal subset is open.
    subset: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    /// Between declarations, or in the outermost one.
    #[default]
    Nothing,
    /// A declaration of the internal subset.
    Declaration,
    /// A quoted literal; in a declaration of the subset or not.
    Literal {
        quote: u8,
        declaration: bool,
    },
    Comment,
    Instruction,
}

impl Doctype {
    /// Goes over `rest`, which stands behind what was skipped so far.
    ///
    /// Shape: how far it came, and whether the last byte before is the final `>`.
    /// It stops before marks that the end of `rest` cuts.
    pub(super) fn skip(&mut self, rest: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = rest.get(at) {
            let ahead = &rest[at..];
            let mut length = 1;
            self.inside = match self.inside {
                Inside::Literal { quote, declaration } => match byte == quote {
                    true if declaration => Inside::Declaration,
                    true => Inside::Nothing,
                    false => self.inside,
                },
                Inside::Comment | Inside::Instruction => {
                    let mark: &[u8] = if self.inside == Inside::Comment { b"-->" } else { b"?>" };
                    match memchr::memmem::find(ahead, mark) {
                        Some(distance) => {
                            length = distance + mark.len();
                            Inside::Nothing
                        }
                        None => return (at + ahead.len().saturating_sub(mark.len() - 1), false),
                    }
                }
                Inside::Declaration => match byte {
                    b'>' => Inside::Nothing,
                    b'"' | b'\'' => Inside::Literal { quote: byte, declaration: true },
                    _ => Inside::Declaration,
                },
                Inside::Nothing if self.subset => match byte {
                    b'<' if b"<!--".starts_with(&ahead[..ahead.len().min(4)]) => {
                        if ahead.len() < 4 {
                            return (at, false);
                        }
                        length = 4;
                        Inside::Comment
                    }
                    b'<' if ahead.get(1) == Some(&b'?') => {
                        length = 2;
                        Inside::Instruction
                    }
                    b'<' => Inside::Declaration,
                    b']' => {
                        self.subset = false;
                        Inside::Nothing
                    }
                    _ => Inside::Nothing,
                },
                Inside::Nothing => match byte {
                    b'>' => return (at + 1, true),
                    b'[' => {
                        self.subset = true;
                        Inside::Nothing
                    }
                    b'"' | b'\'' => Inside::Literal { quote: byte, declaration: false },
                    _ => Inside::Nothing,
                },
            };
            at += length;
        }
        (at, false)
    }
}
