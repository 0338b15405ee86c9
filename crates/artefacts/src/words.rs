//! The message for an attribute whose value is none of the words that the attribute allows.

use myelin_channel::listed;
use myelin_spelling::suggestion;

/// A sentence that names the words there are, and the one that was meant, if one is close.
pub(crate) fn unknown_word(what: &str, word: &str, known: &[&str]) -> String {
    let (all, meant) = (listed(known.iter().copied()), suggestion(word, known.iter().copied()));
    format!("{what} {word:?} is unknown: {all} are known{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_named_and_the_close_one_once_more() {
        let said = |word| unknown_word("scope", word, &["default", "axis2"]);
        assert_eq!(said("axis22"), "scope \"axis22\" is unknown: default and axis2 are known; did you mean axis2?");
        assert_eq!(said("nowhere"), "scope \"nowhere\" is unknown: default and axis2 are known");
    }
}
