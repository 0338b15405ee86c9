//! The key of a request in the cache: a digest over the parts that its generator reads, the body in a canonical form.
//!
//! Source: `HttpRequestHashGenerator`, `REQUESTHASHGenerator` and `DOMHASHGenerator` of WSO2's cache mediator. What they
//! look at is followed; the digest is SHA-256 over pieces with their lengths, not MD5 over what could mean two things.

use myelin_json::Value;
use myelin_message::{Body, Head, HeaderId};
use myelin_wss::algorithm::DigestMethod;
use myelin_wss::crypto::Hasher;
use myelin_xml::{Document, Kind, NodeId};

use myelin_content::{Json, Tree};
use myelin_flow::exchange::Exchange;

/// The key of a request in the cache.
pub(crate) type Key = [u8; 32];

/// The parts of a request that its key is made of.
#[derive(Debug)]
pub(crate) enum Generator {
    /// The body alone (`DOMHASHGenerator`); of a request without one method and address as well.
    Body,
    /// Method, address, header lines and body (`REQUESTHASHGenerator`).
    Request,
    /// The same with the header lines that are said; GET, HEAD and DELETE have no body (`HttpRequestHashGenerator`).
    Http(Headers),
}

/// Which header lines count.
#[derive(Debug)]
pub(crate) enum Headers {
    All,
    None,
    /// All but those of these names.
    AllBut(Vec<String>),
    /// Those of these names.
    Only(Vec<String>),
}

/// The header lines that say how a message travels, when, and for which log line, and nothing of what it asks for.
const OF_THE_WAY: [HeaderId; 14] = [
    HeaderId::ActivityId,
    HeaderId::Connection,
    HeaderId::ContentLength,
    HeaderId::Date,
    HeaderId::Expect,
    HeaderId::KeepAlive,
    HeaderId::ProxyAuthenticate,
    HeaderId::ProxyConnection,
    HeaderId::Te,
    HeaderId::Trailer,
    HeaderId::TransferEncoding,
    HeaderId::Upgrade,
    HeaderId::UserAgent,
    HeaderId::Via,
];

/// The header lines on which it hangs whether an answer is whole, or one at all; they always count.
const CONDITIONS: [&str; 4] = ["Range", "If-Range", "If-Match", "If-Unmodified-Since"];

/// The header lines that a cache heeds itself where it heeds `Cache-Control`: they are no part of what is asked for.
const HEEDED: [&str; 3] = ["Cache-Control", "If-None-Match", "Pragma"];

impl Generator {
    /// Whether the body of a request by that method counts.
    pub(crate) fn looks_at_body(&self, method: &str) -> bool {
        !matches!(self, Generator::Http(_)) || !["GET", "HEAD", "DELETE"].contains(&method)
    }

    /// The key of a request, whose body was read if it counts.
    ///
    /// `heeds_control` says that the cache heeds `Cache-Control` and answers `If-None-Match` itself.
    pub(crate) fn key(&self, exchange: &Exchange, method: &str, heeds_control: bool) -> Key {
        let mut key = Writer::new();
        let body = &exchange.message.body;
        let is_empty = matches!(body, Body::Empty) || body.built::<Tree>().is_some_and(Tree::is_empty);
        let has_body = self.looks_at_body(method) && !is_empty;
        if !matches!(self, Generator::Body) || !has_body {
            key.piece(method.as_bytes());
            key.piece(exchange.to().unwrap_or_default().as_bytes());
        }
        key.headers(self.headers(), &exchange.message.head, heeds_control);
        if has_body {
            // What is asked in one version of SOAP is answered in it.
            key.tag(exchange.content.format as u8);
            key.body(body);
        }
        key.finish()
    }

    /// Whether the header lines of that name count, if they say what is asked for.
    pub(crate) fn counts(&self, name: &str) -> bool {
        self.headers().counts(name)
    }

    fn headers(&self) -> &Headers {
        match self {
            Generator::Body => &Headers::None,
            Generator::Request => &Headers::All,
            Generator::Http(headers) => headers,
        }
    }
}

impl Headers {
    fn counts(&self, name: &str) -> bool {
        let is_one = |known: &String| known.eq_ignore_ascii_case(name);
        match self {
            Headers::All => true,
            Headers::None => false,
            Headers::AllBut(names) => !names.iter().any(is_one),
            Headers::Only(names) => names.iter().any(is_one),
        }
    }
}

/// What a request says in the header lines of these names.
pub(super) fn variant(names: &[String], head: &Head) -> Key {
    let mut key = Writer::new();
    for name in names {
        let lines: Vec<&[u8]> = head.all(name).collect();
        key.piece(&lines.join(&b'\n'));
    }
    key.finish()
}

/// Writes pieces so that no two sequences of them are the same bytes.
struct Writer(Hasher);

impl Writer {
    fn new() -> Writer {
        Writer(Hasher::new(DigestMethod::Sha256))
    }

    fn finish(self) -> Key {
        let mut digest = Key::default();
        digest.copy_from_slice(self.0.finish().as_ref());
        digest
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Says what comes.
    fn tag(&mut self, tag: u8) {
        self.0.update(&[tag]);
    }

    fn headers(&mut self, headers: &Headers, head: &Head, heeds_control: bool) {
        let counts = |id: HeaderId, name: &str| {
            let is_in = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
            let is_said = headers.counts(name) && !(heeds_control && is_in(&HEEDED));
            (is_said && !OF_THE_WAY.contains(&id)) || is_in(&CONDITIONS)
        };
        let mut lines: Vec<(String, &[u8])> = head
            .lines()
            .iter()
            .map(|line| (line.id, head.name(line), head.value(line)))
            .filter(|(id, name, _)| counts(*id, name))
            .map(|(_, name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        // The order of lines with one name means something, that of others does not.
        lines.sort_by(|one, other| one.0.cmp(&other.0));
        self.0.update(&(lines.len() as u64).to_le_bytes());
        for (name, value) in lines {
            self.piece(name.as_bytes());
            self.piece(value);
        }
    }

    fn body(&mut self, body: &Body) {
        if let Some(tree) = body.built::<Tree>() {
            match tree.envelope().body {
                Some(body) => self.xml(tree.document(), body),
                None => self.tag(b'0'),
            }
        } else if let Some(json) = body.built::<Json>() {
            self.json(json.value());
        } else if let Body::Bytes(bytes) = body {
            self.tag(b'b');
            self.piece(bytes);
        }
    }

    /// An element with all below it: names without prefixes, attributes in order, texts, instructions; no comments.
    fn xml(&mut self, document: &Document, top: NodeId) {
        let ways = [Document::first_child, Document::next_sibling, Document::parent];
        walk(document, top, ways, |edge| match edge {
            Edge::Begin(node) => self.xml_node(document, node),
            Edge::End(node) if document.kind(node) == Kind::Element => self.tag(b'/'),
            Edge::End(_) => {}
        });
    }

    fn xml_node(&mut self, document: &Document, node: NodeId) {
        let name = document.qname(node);
        match document.kind(node) {
            Kind::Element => {
                self.tag(b'e');
                self.piece(name.namespace.as_bytes());
                self.piece(name.local.as_bytes());
                let attributes = document.attributes(node).map(|attribute| (document.qname(attribute), attribute));
                let mut attributes: Vec<_> =
                    attributes.map(|(name, attribute)| ((name.namespace, name.local), attribute)).collect();
                attributes.sort_by_key(|(name, _)| *name);
                for ((namespace, local), attribute) in attributes {
                    self.tag(b'a');
                    self.piece(namespace.as_bytes());
                    self.piece(local.as_bytes());
                    self.piece(document.value(attribute).as_bytes());
                }
            }
            Kind::Text => {
                self.tag(b't');
                self.piece(document.value(node).as_bytes());
            }
            Kind::Instruction => {
                self.tag(b'i');
                self.piece(name.local.as_bytes());
                self.piece(document.value(node).as_bytes());
            }
            Kind::Document | Kind::Comment | Kind::Attribute => {}
        }
    }

    /// A value with all in it: members in their order, without the space between.
    fn json(&mut self, value: &Value) {
        let ways = [Value::first_child, Value::next_sibling, Value::parent];
        walk(value, value.root(), ways, |edge| match edge {
            Edge::Begin(node) => {
                self.tag(value.kind(node) as u8);
                if let Some(key) = value.key(node) {
                    self.tag(b'k');
                    self.piece(key.as_bytes());
                }
                if let Some(scalar) = value.scalar(node) {
                    self.tag(b's');
                    self.piece(scalar.as_bytes());
                }
            }
            Edge::End(_) => self.tag(b'/'),
        });
    }
}

/// One side of a node.
enum Edge<N> {
    Begin(N),
    End(N),
}

/// Visits a node and all below it, in the order of the document; how deep they nest takes no stack.
///
/// `ways` lead to the first child of a node, to the next sibling, and to the parent.
fn walk<T, N: Copy + PartialEq>(tree: &T, top: N, ways: [fn(&T, N) -> Option<N>; 3], mut visit: impl FnMut(Edge<N>)) {
    let [child, next, parent] = ways;
    let mut node = top;
    loop {
        visit(Edge::Begin(node));
        if let Some(child) = child(tree, node) {
            node = child;
            continue;
        }
        loop {
            visit(Edge::End(node));
            if node == top {
                return;
            }
            if let Some(next) = next(tree, node) {
                node = next;
                break;
            }
            let Some(parent) = parent(tree, node) else { return };
            node = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use myelin_message::{Message, StatusCode};

    use super::*;

    fn xml(text: &str) -> Body {
        Body::Built(Box::new(Tree::read(text.as_bytes().to_vec(), None).unwrap()))
    }

    fn json(text: &str) -> Body {
        Body::Built(Box::new(Json::read(text.as_bytes().to_vec()).unwrap()))
    }

    fn exchange(headers: &[(&str, &str)], body: Body) -> Exchange {
        let mut message = Message::answer(StatusCode::OK, body);
        headers.iter().for_each(|(name, value)| message.head.append(name, value.as_bytes()).unwrap());
        Exchange::new(message)
    }

    fn bodies(one: Body, other: Body) -> bool {
        let key = |body| Generator::Body.key(&exchange(&[], body), "POST", false);
        key(one) == key(other)
    }

    #[test]
    fn how_xml_is_written_does_not_count_and_what_it_says_does() {
        let same = |one: &str, other: &str| assert!(bodies(xml(one), xml(other)), "{one} {other}");
        same("<a b='1' c=\"2\"></a>", "<a c='2' b='&#49;'/>");
        same("<x:a xmlns:x='urn:x'/>", "<a xmlns='urn:x'/>");
        same("<a>1<!-- no --></a>", "<a>1</a>");
        let differ = |one: &str, other: &str| assert!(!bodies(xml(one), xml(other)), "{one} {other}");
        differ("<a>1</a>", "<a>2</a>");
        differ("<a><b/><c/></a>", "<a><b><c/></b></a>");
        differ("<a b='c'/>", "<a><b>c</b></a>");
        differ("<a xmlns='urn:x'/>", "<a/>");
        differ("<a b='1'/>", "<a c='1'/>");
        differ("<a><?b c?></a>", "<a/>");
    }

    #[test]
    fn space_in_json_does_not_count_and_the_order_of_members_does() {
        assert!(bodies(json("{\"a\": [1, null]}"), json("{\"a\":[1,null]}")));
        assert!(!bodies(json("{\"a\":1,\"b\":2}"), json("{\"b\":2,\"a\":1}")));
        assert!(!bodies(json("[1,[2]]"), json("[[1],2]")));
        assert!(!bodies(json("[\"1\"]"), json("[1]")));
        assert!(!bodies(json("[\"null\"]"), json("[null]")));
        assert!(!bodies(json("{\"a\":\"b\"}"), json("[\"a\",\"b\"]")));
        assert!(!bodies(Body::Bytes(b"[1]".to_vec()), json("[1]")));
    }

    #[test]
    fn the_header_lines_that_are_said_count() {
        let key = |headers: Headers, lines: &[(&str, &str)]| {
            Generator::Http(headers).key(&exchange(lines, Body::Empty), "GET", true)
        };
        let names = || vec!["x-user".to_owned()];
        let (plain, user) = ([("Accept", "a")], [("X-User", "me"), ("accept", "a"), ("Date", "now")]);
        assert_ne!(key(Headers::All, &plain), key(Headers::All, &user));
        assert_eq!(key(Headers::AllBut(names()), &plain), key(Headers::AllBut(names()), &user));
        assert_ne!(key(Headers::Only(names()), &plain), key(Headers::Only(names()), &user));
        assert_eq!(key(Headers::None, &plain), key(Headers::None, &user));
        let tagged = [("Accept", "a"), ("If-None-Match", "\"x\"")];
        assert_eq!(key(Headers::All, &plain), key(Headers::All, &tagged));
        assert_ne!(key(Headers::None, &[]), Generator::Body.key(&exchange(&[], Body::Empty), "DELETE", false));
    }
}
