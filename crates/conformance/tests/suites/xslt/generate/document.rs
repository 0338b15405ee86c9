//! Small documents: nested elements, attributes, namespaces, mixed text.

use super::{ATTRIBUTES, Chance, NAMES, NAMESPACES, WORDS};

pub(super) fn document(chance: &mut Chance) -> String {
    let mut out = String::new();
    if chance.one_in(4) {
        out += "<?target before?>\n<!-- before -->\n";
    }
    out += &format!("<a {NAMESPACES}");
    if chance.one_in(6) {
        out += " xmlns=\"u:3\"";
    }
    attributes(chance, &mut out);
    out.push('>');
    for _ in 0..1 + chance.below(5) {
        node(chance, 4, &mut out);
    }
    out + "</a>"
}

fn attributes(chance: &mut Chance, out: &mut String) {
    for name in ATTRIBUTES {
        if chance.one_in(3) {
            *out += &format!(" {name}=\"{}\"", chance.pick(&WORDS));
        }
    }
    if chance.one_in(10) {
        *out += &format!(" xml:lang=\"{}\"", chance.pick(&["en", "en-GB", "de"]));
    }
}

fn node(chance: &mut Chance, depth: usize, out: &mut String) {
    match chance.below(12) {
        0 | 1 => *out += chance.pick(&WORDS),
        2 => *out += chance.pick(&[" ", "\n  ", "&amp;", "&lt;", "<![CDATA[ & ]]>", "\u{E9}"]),
        3 => *out += chance.pick(&["<!--c-->", "<?target data?>", "<?other?>"]),
        _ => {
            let name = chance.pick(&NAMES);
            *out += &format!("<{name}");
            if chance.one_in(15) {
                *out += chance.pick(&[" xmlns:r=\"u:4\"", " xmlns:p=\"u:5\"", " xmlns=\"\""]);
            }
            attributes(chance, out);
            if depth == 0 || chance.one_in(5) {
                *out += "/>";
                return;
            }
            out.push('>');
            for _ in 0..chance.below(4) {
                node(chance, depth - 1, out);
            }
            *out += &format!("</{name}>");
        }
    }
}
