//! What scripts for the engines of a JVM may contain and no other engine has: refused by name, while loading.

use crate::lexer::{Kind, Token};

/// The methods of `mc`, in the order of the alphabet; `prelude.js` defines them.
const METHODS: &[&str] = &[
    "addHeader",
    "getEnvelope",
    "getEnvelopeXML",
    "getFaultTo",
    "getFrom",
    "getJsonText",
    "getMessageID",
    "getMessageString",
    "getPayloadJSON",
    "getPayloadText",
    "getPayloadXML",
    "getProperty",
    "getReplyTo",
    "getServiceLog",
    "getSoapAction",
    "getTo",
    "getVariable",
    "getWSAAction",
    "getWSAMessageID",
    "getXpathResult",
    "isResponse",
    "isSOAP11",
    "jsonObject",
    "parseXml",
    "removeProperty",
    "removeVariable",
    "setFaultTo",
    "setFrom",
    "setJsonObject",
    "setJsonText",
    "setPayloadJSON",
    "setPayloadXML",
    "setProperty",
    "setReplyTo",
    "setSoapAction",
    "setTo",
    "setVariable",
    "setWSAAction",
];

/// What of Java there is all the same; `prelude.js` defines it.
const OF_JAVA: &[&str] = &["java.lang.System.currentTimeMillis", "java.lang.Thread.sleep", "java.util.UUID.randomUUID"];

const E4X: &str = "is E4X (XML as a part of JavaScript), which no engine but Rhino has; \
                   mc.setPayloadXML takes XML as text, and mc.getXpathResult(…).selectNodes(…) finds elements";

/// Finds what this engine does not have; gives the byte where it stands, and a sentence.
pub(crate) fn find(tokens: &[Token<'_>]) -> Option<(usize, String)> {
    (0..tokens.len()).find_map(|at| e4x(tokens, at).or_else(|| java(tokens, at)).or_else(|| method(tokens, at)))
}

/// The text of a token that many places behind this one.
fn text<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

fn is_member(tokens: &[Token<'_>], at: usize) -> bool {
    at > 0 && tokens[at - 1].text == "."
}

fn e4x(tokens: &[Token<'_>], at: usize) -> Option<(usize, String)> {
    let (token, next) = (&tokens[at], text(tokens, at + 1));
    let adjoins = tokens.get(at + 1).is_some_and(|next| next.start == token.start + token.text.len());
    let is_word = token.kind == Kind::Word;
    let what = match (token.text, next) {
        ("<", _) if token.is_operand => "<…>",
        (".", ".") if adjoins => "..",
        (".", "*") => ".*",
        (".", "@") | ("@", _) => "@",
        (":", ":") if adjoins => "::",
        ("for", "each") if is_word => "for each",
        ("default", "xml") if is_word && text(tokens, at + 2) == "namespace" => "default xml namespace",
        ("XML" | "XMLList", "(") if is_word && !is_member(tokens, at) => token.text,
        _ => return None,
    };
    Some((token.start, format!("{what:?} {E4X}")))
}

fn java(tokens: &[Token<'_>], at: usize) -> Option<(usize, String)> {
    let token = &tokens[at];
    let is_declared = || {
        let declares = |pair: &[Token<'_>]| {
            matches!(pair[0].text, "var" | "let" | "const" | "function" | "(" | ",") && pair[1].text == token.text
        };
        tokens.windows(2).any(declares)
    };
    if token.kind != Kind::Word || is_member(tokens, at) {
        return None;
    }
    let is_java = match (token.text, text(tokens, at + 1)) {
        ("importPackage" | "importClass" | "load", "(") | ("Packages", ".") => !is_declared(),
        ("JavaImporter", _) => !is_declared(),
        ("Java", ".") => matches!(text(tokens, at + 2), "type" | "extend" | "from" | "to" | "super") && !is_declared(),
        ("java" | "javax", ".") => !is_declared(),
        ("org" | "com", ".") => {
            let names = ["apache", "wso2", "json", "mozilla", "codehaus", "google", "sun", "fasterxml", "nimbusds"];
            names.contains(&text(tokens, at + 2)) && text(tokens, at + 3) == "." && !is_declared()
        }
        _ => false,
    };
    if !is_java {
        return None;
    }
    let mut name = token.text.to_owned();
    let mut end = at + 1;
    while text(tokens, end) == "." && tokens.get(end + 1).is_some_and(|next| next.kind == Kind::Word) {
        name.push('.');
        name.push_str(tokens[end + 1].text);
        end += 2;
    }
    if OF_JAVA.iter().any(|known| name == *known) {
        return None;
    }
    let sentence = format!(
        "{name:?} is of a JVM, which a native program does not have; of Java there is {} alone",
        OF_JAVA.join(", ")
    );
    Some((token.start, sentence))
}

fn method(tokens: &[Token<'_>], at: usize) -> Option<(usize, String)> {
    let (object, name) = (&tokens[at], tokens.get(at + 2)?);
    let is_call = object.text == "mc" && object.kind == Kind::Word && text(tokens, at + 1) == ".";
    if !is_call || is_member(tokens, at) || name.kind != Kind::Word || METHODS.contains(&name.text) {
        return None;
    }
    let near = METHODS.iter().find(|method| method.eq_ignore_ascii_case(name.text));
    let right = near.map_or_else(String::new, |near| format!("; {near} is meant, perhaps"));
    Some((name.start, format!("mc.{} is not offered{right}", name.text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokens;

    /// Asserts that a script is refused at a place, with a sentence that begins so; or not, for an empty one.
    fn check(source: &str, at: usize, expected: &str) {
        match find(&tokens(source)) {
            Some((start, message)) => {
                assert!(!expected.is_empty() && message.starts_with(expected), "{source}: {message}");
                assert_eq!(start, at, "{source}: {message}");
            }
            None => assert!(expected.is_empty(), "{source}: not refused"),
        }
    }

    #[test]
    fn e4x_is_refused_by_name_and_place() {
        check("mc.setPayloadXML(<a/>)", 17, "\"<…>\" is E4X");
        check("mc.setPayloadXML(\n  <m:a xmlns:m=\"u\">{b}</m:a>);", 20, "\"<…>\" is E4X");
        check("var a = mc.getPayloadXML()..*::Code.toString();", 26, "\"..\" is E4X");
        check("x.@id", 1, "\"@\" is E4X");
        check("for each (var a in b) {}", 0, "\"for each\" is E4X");
        check("var a = new XML('<a/>')", 12, "\"XML\" is E4X");
        check("x.*", 1, "\".*\" is E4X");
    }

    #[test]
    fn what_only_looks_like_e4x_is_not_refused() {
        check("if (a < b && c > d) { e = [1, ...f]; }", 0, "");
        check("var s = '<a/>' + \"..\" + `@`; // <b/> ..", 0, "");
        check("var r = /<[^>]*>/g, x = 1..toString(); i = (j) < 3", 0, "");
        check("hash = (hash << 5) - hash; bits <<= 1; x = 1<<20>>>2", 0, "");
        check("a ? b : c; o.XML = 1; s = a ? 'x' : ':'", 0, "");
    }

    #[test]
    fn classes_of_java_are_refused_by_name() {
        check("var a = new java.text.SimpleDateFormat('y')", 12, "\"java.text.SimpleDateFormat\" is of a JVM");
        check("importPackage(Packages.org.apache.axiom)", 0, "\"importPackage\" is of a JVM");
        check("Java.type('java.util.Base64')", 0, "\"Java.type\" is of a JVM");
        check("org.apache.synapse.Foo.bar()", 0, "\"org.apache.synapse.Foo.bar\" is of a JVM");
        check("java.util.UUID.randomUUID().toString(); java.lang.Thread.sleep(1)", 0, "");
        check("var org = payload.org; org.name.x; var com = {}; com.google.x", 0, "");
    }

    #[test]
    fn a_method_that_mc_does_not_have_is_refused_at_its_name() {
        check("mc.getConfiguration()", 3, "mc.getConfiguration is not offered");
        check("mc.getPayloadJson()", 3, "mc.getPayloadJson is not offered; getPayloadJSON is meant");
        check("a.mc.other(); mc.getPayloadJSON()", 0, "");
    }

    #[test]
    fn the_methods_are_those_of_the_prelude() {
        assert!(METHODS.is_sorted());
        let prelude = include_str!("prelude.js");
        for method in METHODS {
            assert!(prelude.contains(&format!("\n    {method}(")), "{method}");
        }
    }
}
