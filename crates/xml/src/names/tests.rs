//! Tests of names: numbers, bounds of what is kept, and the table under growth.

use super::*;

#[test]
fn a_name_has_one_number_and_its_expanded_name_another() {
    let mut names = Names::new();
    let first = names.intern("p", "a", "urn:u");
    let other_prefix = names.intern("q", "a", "urn:u");
    let other_namespace = names.intern("p", "a", "urn:v");
    assert_eq!(names.intern("p", "a", "urn:u"), first);
    assert!(first != other_prefix && first != other_namespace);
    assert_eq!(names.expanded(first), names.expanded(other_prefix));
    assert_ne!(names.expanded(first), names.expanded(other_namespace));
    assert_eq!(names.find("urn:u", "a"), Some(names.expanded(first)));
    assert_eq!((names.find("urn:u", "b"), names.find("urn:w", "a")), (None, None));
    assert_eq!(names.get(other_prefix), Name { prefix: "q", local: "a", namespace: "urn:u" });
}

#[test]
fn what_every_document_knows_is_known_before_anything_was_met() {
    let mut names = Names::new();
    for round in 0..2 {
        for (number, text) in ["", "xml", "xmlns", XML_NAMESPACE, XMLNS_NAMESPACE].into_iter().enumerate() {
            let atom = names.find_atom(text).unwrap();
            assert_eq!((atom.index(), names.text(atom)), (number, text), "{round}");
        }
        assert_eq!(names.find_atom("p").is_some(), round == 1);
        names.atom("p");
    }
}

#[test]
fn names_of_all_lengths_are_told_apart() {
    let mut names = Names::new();
    let texts: Vec<String> = (0..2_000).map(|number| format!("{number:0width$}", width = number % 40)).collect();
    let ids: Vec<_> = texts.iter().map(|text| names.intern("", text, "")).collect();
    for (text, id) in texts.iter().zip(&ids) {
        assert_eq!(names.get(*id).local, text);
        assert_eq!(names.intern("", text, ""), *id);
    }
    names.clear();
    assert_eq!((names.count(), names.find("", &texts[0])), (0, None));
    let id = names.intern("", "a", "");
    assert_eq!((id.index(), names.get(id).local), (0, "a"));
}

#[test]
fn names_whose_numbers_may_differ_have_different_identities() {
    let mut names = Names::new();
    names.intern("", "a", "");
    let id = names.id();
    names.intern("", "b", "");
    assert_eq!(names.id(), id);
    let clone = names.clone();
    let mut others = vec![clone.id()];
    names.clear();
    others.push(names.id());
    names.intern("", "b", "");
    others.push(names.id());
    assert!(others.iter().all(|&other| other != id), "{others:?}");
    assert!(others[0] != others[2]);
}

#[test]
fn one_text_in_two_namespaces_is_two_names_whatever_was_looked_up_last() {
    let mut names = Names::new();
    let raw = names.qualified(b"p:a", true).unwrap();
    let (first, second) = (names.atom("urn:u"), names.atom("urn:v"));
    let (in_first, in_second) = (names.resolve(raw, first), names.resolve(raw, second));
    assert_ne!(in_first, in_second);
    assert_eq!((names.resolve(raw, first), names.resolve(raw, second)), (in_first, in_second));
    assert_eq!(names.get(in_first), Name { prefix: "p", local: "a", namespace: "urn:u" });
}

#[test]
fn what_is_no_qualified_name_is_refused_at_its_place() {
    let mut names = Names::new();
    for (raw, place) in [("", 0), ("1", 0), ("a b", 1), (":a", 0), ("a:", 2), ("a:1", 2), ("a:b:c", 3), ("a\u{D7}", 1)]
    {
        assert_eq!(names.qualified(raw.as_bytes(), true), Err(place), "{raw}");
    }
    assert!(names.qualified(b":a:1", false).is_ok());
}

#[test]
fn texts_are_the_same_only_if_each_byte_is() {
    let text = b"abcdefghijklmnopqrstuvwxyz";
    for length in 0..=text.len() {
        let mut other = text[..length].to_vec();
        assert!(same(&text[..length], &other), "{length}");
        assert!(!same(&text[..length], &text[..(length + 1) % (text.len() + 1)]), "{length}");
        for place in 0..length {
            other[place] ^= 1;
            assert!(!same(&text[..length], &other), "{length}, {place}");
            other[place] ^= 1;
        }
    }
}
