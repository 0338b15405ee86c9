//! A configuration element: names, attributes, text and places, free of the parser that read it.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use myelin_content::{Fragment, text_of};
use myelin_spelling::nearest;
use myelin_xml::{DeclaredEncoding, Document, ErrorKind, Kind, NodeId, Options};

use crate::excerpt::{Excerpt, Shown};
use crate::problem::{Place, Problem};

/// The namespace of the configuration language.
pub const SYNAPSE: &str = "http://ws.apache.org/ns/synapse";

/// Elements nested deeper than this are refused: building them recurses.
const DEPTH_LIMIT: usize = 64;

/// One element with everything below it.
#[derive(Debug)]
pub struct Element {
    /// The namespace; `None` where there is none.
    pub namespace: Option<String>,
    /// The local name.
    pub name: String,
    /// Where its start tag begins.
    pub place: Place,
    /// The elements in it, in order.
    pub children: Vec<Element>,
    attributes: Vec<Attribute>,
    text: String,
    file: Arc<File>,
    node: NodeId,
    visited: Cell<bool>,
    /// The attributes somebody looked for, which are not there.
    missed: RefCell<Vec<String>>,
    /// The names that somebody expected this element to have.
    expected: RefCell<Vec<String>>,
}

/// The names without which messages take another way.
#[derive(Debug, Default)]
pub struct Structure {
    /// Attributes: a misspelt one is a problem.
    pub attributes: &'static [&'static str],
    /// Attributes of other elements, each with those that mean the same: one in the wrong element is a problem.
    pub synonyms: &'static [(&'static str, &'static [&'static str])],
}

/// What was found by [`Element::unread`].
#[derive(Debug, Default)]
pub struct Unread {
    /// What would be lost without a word.
    pub problems: Vec<Problem>,
    /// What has no effect.
    pub warnings: Vec<Problem>,
}

#[derive(Debug)]
struct Attribute {
    name: String,
    value: String,
    name_offset: usize,
    value_offset: usize,
    // Escapes shift offsets inside the value, so a column in it is then the value's own.
    escaped: bool,
    read: Cell<bool>,
}

/// One file as a tree, and where its lines start.
#[derive(Debug)]
struct File {
    name: Arc<str>,
    tree: Document,
    lines: Vec<usize>,
    /// Where secrets stand in it, once something of it was shown.
    secrets: OnceLock<Vec<Range<usize>>>,
}

/// The file that an element stands in.
#[derive(Clone, Debug)]
pub struct SourceFile(Arc<File>);

impl SourceFile {
    /// The line around a place of it, without secrets.
    pub fn excerpt(&self, line: u32, column: u32) -> Option<Excerpt> {
        Shown::new(self.0.tree.source(), &self.0.secrets).excerpt(line, column)
    }
}

impl File {
    fn new(name: &Arc<str>, tree: Document) -> File {
        let breaks = memchr::memchr_iter(b'\n', tree.source().as_bytes());
        let lines = std::iter::once(0).chain(breaks.map(|at| at + 1)).collect();
        File { name: Arc::clone(name), tree, lines, secrets: OnceLock::new() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|&start| start <= offset).max(1);
        let before = self.tree.source().get(self.lines[line - 1]..offset).unwrap_or_default();
        Place { file: Arc::clone(&self.name), line: line as u32, column: before.chars().count() as u32 + 1 }
    }

    fn range(&self, node: NodeId) -> Range<usize> {
        // Nobody changes a configuration's tree, so that each node has its range.
        self.tree.range(node).unwrap_or_default()
    }
}

/// An attribute's value with the place of each character in it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The value, escapes resolved.
    pub value: &'a str,
    element: &'a Element,
    offset: usize,
    exact: bool,
}

impl<'a> Text<'a> {
    /// The place of the byte `offset` inside the value.
    pub fn place(&self, offset: usize) -> Place {
        let inside = if self.exact { offset.min(self.value.len()) } else { 0 };
        self.element.file.place(self.offset + inside)
    }

    /// A problem that this value has.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.place(0), message)
    }

    /// The namespace that a prefix stands for where this value stands.
    pub fn namespace(&self, prefix: &str) -> Option<&'a str> {
        self.element.file.tree.lookup_namespace(self.element.node, prefix)
    }

    /// Another value that is meant by this one: its problems stand where this one begins.
    pub fn standing_for<'b>(&self, value: &'b str) -> Text<'b>
    where
        'a: 'b,
    {
        Text { value, exact: false, ..*self }
    }

    /// The part of this value from `start` to `end`.
    pub fn part(&self, range: Range<usize>) -> Text<'a> {
        let offset = if self.exact { self.offset + range.start } else { self.offset };
        Text { value: &self.value[range], offset, ..*self }
    }
}

impl Element {
    /// Reads a whole document.
    ///
    /// Errors: a [`Problem`] with line and column where the text is not well-formed, nests too deep or has a DTD.
    pub fn parse(file: &Arc<str>, text: String) -> Result<Element, Problem> {
        // The text was decoded already, whatever its declaration says.
        let options = Options { declared_encoding: DeclaredEncoding::Any, ..Options::default() };
        // Nothing else remembers the text of what is no document.
        let shown = text.clone();
        let tree = Document::parse(text.into_bytes(), &options).map_err(|error| {
            let place = Place { file: Arc::clone(file), line: error.line as u32, column: error.column as u32 };
            let message = match error.kind {
                ErrorKind::DoctypeRefused => "a DTD is refused: it could define entities".to_owned(),
                kind => format!("not well-formed XML: {kind}"),
            };
            let excerpt = Shown::new(&shown, &OnceLock::new()).excerpt(place.line, place.column);
            Problem { excerpt, ..Problem::new(place, message) }
        })?;
        let file = Arc::new(File::new(file, tree));
        let root = file.tree.root_element().expect("a document that was read has a root element");
        convert(root, &file, 0)
    }

    /// The file that it stands in.
    pub fn source_file(&self) -> SourceFile {
        SourceFile(Arc::clone(&self.file))
    }

    /// Whether this element belongs to the configuration language and has that local name.
    pub fn is(&self, name: &str) -> bool {
        let is = self.name == name && self.is_synapse();
        if is {
            self.heed();
        } else if !self.visited.get() {
            self.expected.borrow_mut().push(name.to_owned());
        }
        is
    }

    /// Counts it as one that somebody knows, so that nothing is told of it as a whole.
    pub fn heed(&self) {
        self.visited.set(true);
        self.expected.borrow_mut().clear();
    }

    /// Whether this element has the name of one of the language, and stands in another namespace.
    pub fn is_foreign(&self, names: &[&str]) -> bool {
        !self.is_synapse() && names.contains(&self.name.as_str())
    }

    /// Whether this element is in Synapse's namespace, or in none: files without a declaration are common.
    pub fn is_synapse(&self) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == SYNAPSE)
    }

    /// The name as a reader of the file would say it.
    pub fn tag(&self) -> String {
        if self.is_synapse() {
            format!("<{}>", self.name)
        } else {
            format!("<{}> of {}", self.name, self.namespace.as_deref().unwrap_or_default())
        }
    }

    /// The value of an attribute without namespace.
    pub fn attribute(&self, name: &str) -> Option<Text<'_>> {
        self.visited.set(true);
        let Some(attribute) = self.attributes.iter().find(|attribute| attribute.name == name) else {
            if !self.attributes.is_empty() {
                self.missed.borrow_mut().push(name.to_owned());
            }
            return None;
        };
        attribute.read.set(true);
        Some(Text { value: &attribute.value, element: self, offset: attribute.value_offset, exact: !attribute.escaped })
    }

    /// The attribute `expression` as people may be shown it; `None` where there is none, and where the name of the
    /// element says that it sets a secret. It does not count as read.
    pub fn shown_expression(&self) -> Option<Box<str>> {
        let value = |name: &str| Some(&*self.attributes.iter().find(|attribute| attribute.name == name)?.value);
        let is_secret = value("name").is_some_and(myelin_secrets::is_secret_name);
        value("expression").filter(|_| !is_secret).map(Box::from)
    }

    /// The value of an attribute that must be there and not be empty.
    pub fn required(&self, name: &str) -> Result<Text<'_>, Problem> {
        match self.attribute(name) {
            Some(text) if !text.value.trim().is_empty() => Ok(text),
            Some(text) => Err(text.problem(format!("{}: attribute {name:?} is empty", self.tag()))),
            None => {
                if let Some(child) = self.children.iter().find(|child| child.name == name) {
                    let message =
                        format!("{} is an attribute of {}, and no element: {name}=\"…\"", child.tag(), self.tag());
                    return Err(child.problem(message));
                }
                let message = format!("{}: attribute {name:?} is missing", self.tag());
                Err(self.misspelt(message, |attribute| nearest(attribute, [name])))
            }
        }
    }

    /// A switch; `default` where nothing is said.
    ///
    /// Errors: a [`Problem`] where it is neither on nor off.
    pub fn switch(&self, name: &str, default: bool) -> Result<bool, Problem> {
        match self.attribute(name).map(|text| (text.value.trim(), text)) {
            None | Some(("", _)) => Ok(default),
            Some(("true", _)) => Ok(true),
            Some(("false", _)) => Ok(false),
            Some((other, text)) => Err(text.problem(format!("{name} {other:?} is neither true nor false"))),
        }
    }

    /// A value that is meant by this element: its problems stand where it begins.
    pub fn standing<'a>(&'a self, value: &'a str) -> Text<'a> {
        Text { value, element: self, offset: self.file.range(self.node).start, exact: false }
    }

    /// The text directly in this element, white space around it left out.
    pub fn text(&self) -> Text<'_> {
        self.visited.set(true);
        Text { value: self.text.trim(), element: self, offset: self.file.range(self.node).start, exact: false }
    }

    /// The text and the values of the attributes, for whoever looks at all of them.
    pub fn texts(&self) -> impl Iterator<Item = Text<'_>> {
        let text =
            Text { value: self.text.trim(), element: self, offset: self.file.range(self.node).start, exact: false };
        let values = self.attributes.iter().map(|attribute| Text {
            value: &attribute.value,
            element: self,
            offset: attribute.value_offset,
            exact: !attribute.escaped,
        });
        values.chain([text])
    }

    /// The first child of the language with that name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.visited.set(true);
        self.children.iter().find(|child| child.is(name))
    }

    /// All that prefixes stand for in this element.
    pub fn namespaces(&self) -> Vec<(&str, &str)> {
        self.file.tree.namespaces_in_scope(self.node)
    }

    /// The element as it stands in the file.
    pub fn source(&self) -> &str {
        self.file.tree.source().get(self.file.range(self.node)).unwrap_or_default()
    }

    /// Whether a place stands in it.
    pub fn covers(&self, place: &Place) -> bool {
        let position = |place: &Place| (place.line, place.column);
        let end = self.file.place(self.file.range(self.node).end);
        self.place.file == place.file && (position(&self.place)..position(&end)).contains(&position(place))
    }

    /// The element as a document of its own, in which everything has the line and column that it has in its file.
    ///
    /// Its start tag declares what holds around it, too: the default namespace, and each prefix that comes up in it.
    pub fn standalone(&self) -> String {
        let source = self.source();
        let end = end_of_start_tag(source);
        let mut text = padding(&self.place);
        text.push_str(&source[..end]);
        let own: Vec<&str> = self.file.tree.declarations(self.node).map(|(prefix, _)| prefix).collect();
        for (prefix, namespace) in self.namespaces() {
            let comes_up = prefix.is_empty() || source.contains(&format!("{prefix}:"));
            if prefix != "xml" && comes_up && !own.contains(&prefix) {
                let colon = if prefix.is_empty() { "" } else { ":" };
                let namespace = namespace.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
                text.push_str(&format!(" xmlns{colon}{prefix}=\"{namespace}\""));
            }
        }
        text + &source[end..]
    }

    /// The text in this element, in which everything has the line and column that it has in its file, save where
    /// something in it was escaped; an XML declaration is blanked out, as it no longer stands at the start.
    pub fn standalone_text(&self) -> String {
        let text = self.text().value;
        let declaration = if text.starts_with("<?xml ") { text.find("?>").map_or(0, |at| at + 2) } else { 0 };
        padding(&self.text_place()) + &" ".repeat(declaration) + &text[declaration..]
    }

    /// Where the text in this element begins, behind the white space before it; where the element begins, if something
    /// in the text was escaped.
    pub fn text_place(&self) -> Place {
        let (source, start) = (self.source(), self.file.range(self.node).start);
        let tag = end_of_start_tag(source);
        let offset = source[tag..].find(self.text().value).map_or(0, |offset| tag + offset);
        self.file.place(start + offset)
    }

    /// The element with all below it, as a piece of XML of its own, with the namespaces that its names use.
    pub fn fragment(&self) -> Fragment {
        self.forgive();
        Fragment::parse(&text_of(&self.file.tree, self.node)).expect("an element that was read is written as one")
    }

    /// A copy nobody has looked at, with what `fill` gives in the place of the texts and attributes that it knows.
    pub fn filled(&self, fill: &dyn Fn(&str) -> Option<String>) -> Element {
        let attribute = |attribute: &Attribute| {
            let filled = fill(&attribute.value);
            Attribute {
                name: attribute.name.clone(),
                escaped: attribute.escaped || filled.is_some(),
                value: filled.unwrap_or_else(|| attribute.value.clone()),
                name_offset: attribute.name_offset,
                value_offset: attribute.value_offset,
                read: Cell::new(false),
            }
        };
        Element {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            place: self.place.clone(),
            children: self.children.iter().map(|child| child.filled(fill)).collect(),
            attributes: self.attributes.iter().map(attribute).collect(),
            text: fill(&self.text).unwrap_or_else(|| self.text.clone()),
            file: Arc::clone(&self.file),
            node: self.node,
            visited: Cell::new(false),
            missed: RefCell::default(),
            expected: RefCell::default(),
        }
    }

    /// An empty element of the language that is made of this one: its problems stand where this one does.
    pub fn made(&self, name: &str) -> Element {
        Element {
            namespace: None,
            name: name.to_owned(),
            place: self.place.clone(),
            children: Vec::new(),
            attributes: Vec::new(),
            text: String::new(),
            file: Arc::clone(&self.file),
            node: self.node,
            visited: Cell::new(false),
            missed: RefCell::default(),
            expected: RefCell::default(),
        }
    }

    /// The same with an attribute, of one that was made.
    pub fn with_attribute(mut self, name: &str, value: &str) -> Element {
        let start = self.file.range(self.node).start;
        self.attributes.push(Attribute {
            name: name.to_owned(),
            value: value.to_owned(),
            name_offset: start,
            value_offset: start,
            escaped: true,
            read: Cell::new(false),
        });
        self
    }

    /// The same with a text, of one that was made.
    pub fn with_text(self, text: &str) -> Element {
        Element { text: text.to_owned(), ..self }
    }

    /// The same with one more child, of one that was made.
    pub fn with_child(mut self, child: Element) -> Element {
        self.children.push(child);
        self
    }

    /// A problem that this element has; of one that nobody knows, the message ends in the name that was expected, where
    /// one is close.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        let problem = Problem::new(self.place.clone(), message);
        if self.visited.get() {
            return problem;
        }
        problem.suggesting(self.expected_name(&self.expected.borrow()))
    }

    /// A problem of an element whose name is none of those that its parent may hold; the message ends in the one that was
    /// meant, where one is close.
    pub fn misnamed(&self, message: impl Into<String>, names: &[&str]) -> Problem {
        let meant = nearest(&self.name, names.iter().copied()).filter(|meant| *meant != self.name);
        Problem::new(self.place.clone(), message).suggesting(meant)
    }

    fn expected_name<'a>(&self, expected: &'a [String]) -> Option<&'a str> {
        nearest(&self.name, expected.iter().map(String::as_str)).filter(|meant| *meant != self.name)
    }

    /// A problem of an element that lacks an attribute. Where one stands in it that nobody read, and that looks like one
    /// that was looked for, the message ends in both names, and the problem stands where that one does.
    pub fn lacks(&self, message: impl Into<String>) -> Problem {
        let missed = self.missed.borrow();
        self.misspelt(message.into(), |attribute| nearest(attribute, missed.iter().map(String::as_str)))
    }

    /// A problem of this element that says by which attribute nobody read another one was `meant`, where there is one.
    fn misspelt<'a>(&self, message: String, meant: impl Fn(&str) -> Option<&'a str>) -> Problem {
        let unread = self.attributes.iter().filter(|attribute| !attribute.read.get());
        match unread.filter_map(|attribute| Some((meant(&attribute.name)?, attribute))).next() {
            Some((meant, attribute)) => {
                let message = format!("{message}; did you mean {meant:?} by {:?}?", attribute.name);
                Problem::new(self.file.place(attribute.name_offset), message).meaning(meant)
            }
            None => self.problem(message),
        }
    }

    /// Counts every attribute here and below as read: nothing more is to be said about this element.
    pub fn forgive(&self) {
        self.expected.borrow_mut().clear();
        self.attributes.iter().for_each(|attribute| attribute.read.set(true));
        self.children.iter().for_each(Element::forgive);
    }

    /// Counts everything here and below as read that does not look misspelt: something else is said about this element,
    /// and what is misspelt may be the reason.
    pub fn forgive_all_but_misspelt(&self) {
        let missed = self.missed.borrow();
        for attribute in self.attributes.iter().filter(|attribute| !attribute.read.get()) {
            let meant = nearest(&attribute.name, missed.iter().map(String::as_str));
            attribute.read.set(!self.visited.get() || meant.is_none());
        }
        self.children.iter().for_each(Element::forgive_all_but_misspelt);
    }

    /// Tells of attributes nobody read, in elements somebody looked at, and of elements that nobody looked at though they
    /// have almost the name of one that was expected, here and below.
    ///
    /// A name that is close to one that the builder asked for is told with that name. It is a problem if it is an element,
    /// or an attribute of the `structure`, and a warning otherwise.
    pub fn unread(&self, structure: &Structure, found: &mut Unread) {
        for attribute in &self.attributes {
            // Every element of the language may carry these, and they change nothing.
            let free = matches!(attribute.name.as_str(), "description" | "trace" | "statistics");
            if self.visited.get() && !attribute.read.get() && !free {
                self.tell_unread(attribute, structure, found);
            }
        }
        for child in &self.children {
            if child.visited.get() || !self.visited.get() {
                child.unread(structure, found);
            } else if let Some(problem) = child.unexpected(&self.tag()) {
                found.problems.push(problem);
            } else {
                child.unread(structure, found);
            }
        }
    }

    fn tell_unread(&self, attribute: &Attribute, structure: &Structure, found: &mut Unread) {
        let place = self.file.place(attribute.name_offset);
        let name = attribute.name.as_str();
        let missed = self.missed.borrow();
        let is_missed = |name: &&str| missed.iter().any(|missed| missed == name);
        let synonyms = structure.synonyms.iter().find(|(synonym, _)| *synonym == name);
        let same = synonyms.and_then(|(_, same)| same.iter().copied().find(is_missed));
        let meant = same.or_else(|| nearest(name, missed.iter().map(String::as_str)));
        let is_structure = meant.is_some_and(|meant| structure.attributes.contains(&meant));
        let told = if is_structure { "is unknown" } else { "has no effect here" };
        let message = format!("{}: attribute {name:?} {told}", self.tag());
        let problem = Problem::new(place, message).suggesting(meant);
        if is_structure { &mut found.problems } else { &mut found.warnings }.push(problem);
    }

    /// The problem of an element that nobody knows, where it has almost the name of one that was expected.
    fn unexpected(&self, parent: &str) -> Option<Problem> {
        let expected = self.expected.borrow();
        let meant = nearest(&self.name, expected.iter().map(String::as_str))?;
        Some(self.unknown_in(parent, meant))
    }

    /// The problem of an element that should have another name in its parent, or stand in another namespace.
    pub fn unknown_in(&self, parent: &str, meant: &str) -> Problem {
        let message = match self.name == meant {
            true => format!("{} is unknown in {parent}; did you mean <{meant} xmlns=\"{SYNAPSE}\">?", self.tag()),
            false => format!("{} is unknown in {parent}; did you mean <{meant}>?", self.tag()),
        };
        Problem::new(self.place.clone(), message).meaning(meant)
    }
}

/// What brings text to a place: an empty line for each above it, and a blank for each character before it.
fn padding(place: &Place) -> String {
    "\n".repeat(place.line as usize - 1) + &" ".repeat(place.column as usize - 1)
}

/// Where the `>` or `/>` of the tag stands that a text begins with.
fn end_of_start_tag(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'>', b'"', b'\'', &bytes[at..]) {
        at += found;
        if bytes[at] == b'>' {
            return if bytes[..at].ends_with(b"/") { at - 1 } else { at };
        }
        at += 1 + memchr::memchr(bytes[at], &bytes[at + 1..]).map_or(0, |quote| quote + 1);
    }
    text.len()
}

fn convert(node: NodeId, file: &Arc<File>, depth: usize) -> Result<Element, Problem> {
    let tree = &file.tree;
    let place = file.place(file.range(node).start);
    if depth >= DEPTH_LIMIT {
        return Err(Problem::new(place, format!("elements nest deeper than {DEPTH_LIMIT}")));
    }
    let attributes = tree.attributes(node).map(|attribute| {
        let (name, value) = (tree.qname(attribute), tree.value(attribute));
        let value_range = tree.value_range(attribute).unwrap_or_default();
        Attribute {
            name: match name.namespace {
                "" => name.local.to_owned(),
                // A qualified attribute is none of the language's, whatever its local name.
                namespace => format!("{{{namespace}}}{}", name.local),
            },
            name_offset: file.range(attribute).start,
            value_offset: value_range.start,
            escaped: tree.source().get(value_range) != Some(&*value),
            value: value.into_owned(),
            read: Cell::new(false),
        }
    });
    let of_kind = |kind: Kind| tree.children(node).filter(move |&child| tree.kind(child) == kind);
    let name = tree.qname(node);
    Ok(Element {
        namespace: Some(name.namespace).filter(|namespace| !namespace.is_empty()).map(str::to_owned),
        name: name.local.to_owned(),
        place,
        attributes: attributes.collect(),
        children: of_kind(Kind::Element).map(|child| convert(child, file, depth + 1)).collect::<Result<_, _>>()?,
        text: of_kind(Kind::Text).map(|text| tree.value(text)).collect(),
        file: Arc::clone(file),
        node,
        visited: Cell::new(false),
        missed: RefCell::default(),
        expected: RefCell::default(),
    })
}

#[cfg(test)]
mod tests;
