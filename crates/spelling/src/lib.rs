//! Suggestions for misspelt names, as in "did you mean `inSequence`?".

use strsim::osa_distance;

/// Longer names are not compared: nobody mistypes one by a letter, and the time is quadratic in the length.
const LONGEST: usize = 100;

/// The known name that a misspelt one is closest to, if any is close; the case of letters does not count.
///
/// Close means: one typing error, and one more for every five letters, but no more than a third of what stands behind
/// the last dot: what all names have in common makes none of them close. A typing error is a letter too many, a letter
/// too few, another letter, or two letters that changed places.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    if name.len() > LONGEST {
        return None;
    }
    let own = name.rsplit('.').next().map_or(0, str::len);
    let allowed = (name.len() / 5).min(own / 3) + 1;
    let known = known.into_iter().filter(|known| known.len().abs_diff(name.len()) <= allowed);
    let (distance, nearest) = known.map(|known| (osa_distance(&name, &known.to_ascii_lowercase()), known)).min()?;
    (distance <= allowed).then_some(nearest)
}

/// The same as the end of a sentence, `; did you mean inSequence?`; empty where nothing is close.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_suggested() {
        assert_eq!(nearest("inSequnce", ["outSequence", "inSequence"]), Some("inSequence"));
        assert_eq!(nearest("B", ["a", "b"]), Some("b"));
        assert_eq!(nearest("kye", ["name", "key"]), Some("key"));
        assert_eq!(suggestion("calll", ["call"]), "; did you mean call?");
    }

    #[test]
    fn what_is_far_from_all_is_not() {
        assert_eq!(nearest("sequential", ["a", "b", "sequence"]), None);
        assert_eq!(suggestion("nonsense", ["call"]), "");
        assert_eq!(nearest(&"a".repeat(10_000), ["a"]), None);
    }

    #[test]
    fn what_all_names_begin_with_makes_none_close() {
        assert_eq!(nearest("one.two.Append", ["one.two.Build"]), None);
        assert_eq!(nearest("one.two.bild", ["one.two.Build"]), Some("one.two.Build"));
    }
}
