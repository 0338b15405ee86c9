//! Documents and stylesheets by chance, the same for each seed.
//!
//! They are XSLT 1.0 without an error in them, and they end: templates are applied downwards only, and a named template
//! calls only those with a higher number.
//! Left out is what XSLT 1.0 leaves to the processor, or says so that processors differ: how numbers with more digits
//! than a double holds are written, prefixes that are made up or aliased, the order of words in a language, the text of
//! messages, `from` in `xsl:number` where nothing matches it, and how an empty list of numbers is written.
//! Left out as well is what xsltproc is known to do otherwise than the standard says: it does not number the root (§7.7),
//! lets `@x` match an attribute `p:x` too (§5.2),
//! strips white space in spite of `xml:space` (§3.4), takes the text of an attribute for its child (§5.4),
//! and after `xsl:apply-imports` it has lost its context node, or applies the imported rule again (§5.6).

mod document;
mod expression;
mod instruction;
mod stylesheet;

/// What to transform, and with what.
pub(crate) struct Pair {
    pub(crate) document: String,
    pub(crate) stylesheet: String,
    /// Imported by the stylesheet as `imported.xsl`.
    pub(crate) imported: String,
}

/// The pair that belongs to a seed.
pub(crate) fn pair(seed: u64) -> Pair {
    let mut chance = Chance::new(seed);
    let document = document::document(&mut chance);
    let (stylesheet, imported) = stylesheet::stylesheets(&mut chance);
    Pair { document, stylesheet, imported }
}

/// Numbers by chance.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
pub(crate) struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Chance {
        // Mixed, since the numbers of neighbouring seeds would be the same ones, a step apart.
        Chance(Chance(seed).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to one less than `bound`.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const WORDS: [&str; 8] = ["fig", "oak", "elm", "ash fir", "7", "12", "-3", "2.5"];
const NAMES: [&str; 6] = ["a", "b", "c", "d", "p:a", "q:e"];
const ATTRIBUTES: [&str; 4] = ["x", "y", "z", "p:w"];
const MODES: [&str; 2] = ["m", "n"];
/// What the prefixes mean, in documents and in stylesheets.
const NAMESPACES: &str = "xmlns:p=\"u:1\" xmlns:q=\"u:2\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_pair_each_time_and_another_seed_another() {
        assert_eq!(pair(7).stylesheet, pair(7).stylesheet);
        assert_ne!(pair(7).stylesheet, pair(8).stylesheet);
    }
}
