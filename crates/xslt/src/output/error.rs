//! What can go wrong where a result is put together or written.

use std::fmt;

use myelin_xml::Refusal;

/// Why something does not get into a result; it is then as if it had not been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputError {
    /// The result has more than so many bytes.
    TooLarge(usize),
    /// An attribute or namespace behind the first child of its element.
    AttributeLate,
    /// An attribute or namespace that stands in no element.
    AttributeOnDocument,
    /// Two namespaces for one prefix on one element.
    PrefixTaken,
    /// A default namespace on an element without namespace.
    DefaultTaken,
    /// A character that XML does not have, by its number.
    Character(u32),
    /// A character that the encoding does not have, where it cannot be written by its number.
    NotInEncoding(char),
    /// A processing instruction with `>` in it, as HTML.
    HtmlInstruction,
    /// A processing instruction named `xml`.
    InstructionName,
    /// More or less than one element at the top of what is said to be a whole document.
    NoDocument,
}

impl OutputError {
    /// The code that the standards give it; `LIMIT` where a bound was reached.
    pub(crate) fn code(self) -> &'static str {
        match self {
            OutputError::TooLarge(_) => "LIMIT",
            OutputError::AttributeLate => "XTDE0410",
            OutputError::AttributeOnDocument => "XTDE0420",
            OutputError::PrefixTaken => "XTDE0430",
            OutputError::DefaultTaken => "XTDE0440",
            OutputError::InstructionName => "XTDE0890",
            OutputError::NoDocument => "SEPM0004",
            OutputError::Character(_) => "SERE0006",
            OutputError::NotInEncoding(_) => "SERE0008",
            OutputError::HtmlInstruction => "SERE0015",
        }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::TooLarge(bound) => write!(f, "the result has more than {bound} bytes"),
            OutputError::AttributeLate => {
                f.write_str("an attribute or namespace comes behind a child of its element, expected before")
            }
            OutputError::AttributeOnDocument => {
                f.write_str("an attribute or namespace stands outside of all elements, expected in one")
            }
            OutputError::PrefixTaken => f.write_str("one prefix has two namespaces on one element"),
            OutputError::DefaultTaken => f.write_str("a default namespace stands on an element without namespace"),
            OutputError::Character(number) => write!(f, "character U+{number:04X} is not allowed in XML 1.0"),
            OutputError::NotInEncoding(character) => {
                write!(f, "the encoding does not have {character:?}, and it cannot be written by its number here")
            }
            OutputError::HtmlInstruction => f.write_str("a processing instruction cannot hold > in HTML"),
            OutputError::NoDocument => f.write_str(
                "a result with a document type, or that stands alone, has one element at its top and no text",
            ),
            OutputError::InstructionName => f.write_str("a processing instruction cannot be named xml"),
        }
    }
}

impl OutputError {
    /// What a tree's refusal means for a result; `limit` is how large it may be.
    pub(super) fn refused(refusal: &Refusal, limit: usize) -> OutputError {
        match refusal {
            Refusal::Character(number) => OutputError::Character(*number),
            Refusal::Instruction | Refusal::Name(_) => OutputError::InstructionName,
            Refusal::Place => OutputError::AttributeLate,
            _ => OutputError::TooLarge(limit),
        }
    }
}
