//! What holds for an element by what is written on it and around it: namespaces, version, base URI and defaults.

use std::cell::Cell;
use std::rc::Rc;

use myelin_xml::{Kind, XML_NAMESPACE};
use myelin_xpath::Version;

use super::element::{Attribute, Child, Element, RESERVED, XSLT, is_white};
use super::problems::{Made, Problems};
use crate::functions::resolve;
use crate::name::ExpandedName;
use crate::program::ScopeId;

/// What holds for an element.
#[derive(Clone, Debug)]
pub(super) struct Here {
    /// Prefix and namespace of all that is in scope, without `xml`; the empty prefix is the default namespace.
    pub(super) namespaces: Vec<(String, String)>,
    pub(super) version: f64,
    pub(super) base: String,
    /// `xpath-default-namespace`
    pub(super) default_namespace: String,
    /// The namespaces of extension elements.
    pub(super) extensions: Vec<String>,
    /// Namespaces that literal result elements do not bring along.
    pub(super) excluded: Vec<String>,
    /// `expand-text`
    pub(super) expand_text: bool,
    /// `xml:space="preserve"`
    pub(super) preserve_space: bool,
    /// `default-mode`; `None`: the one without a name.
    pub(super) default_mode: Option<ExpandedName>,
    /// Its number in the program, once it has one.
    pub(super) scope: Cell<Option<ScopeId>>,
}

/// The order of texts by the numbers of their characters.
pub(super) const CODEPOINT: &str = "http://www.w3.org/2005/xpath-functions/collation/codepoint";

/// The attributes that every element of XSLT may have, and literal result elements with a prefix (XSLT 3.0 §3.5).
pub(super) const STANDARD: [&str; 9] = [
    "version",
    "exclude-result-prefixes",
    "extension-element-prefixes",
    "xpath-default-namespace",
    "default-collation",
    "default-mode",
    "default-validation",
    "expand-text",
    "use-when",
];

impl Here {
    /// What holds around the outermost element of a stylesheet document.
    pub(super) fn outermost(base: &str) -> Rc<Here> {
        Rc::new(Here {
            namespaces: Vec::new(),
            version: 1.0,
            base: base.to_owned(),
            default_namespace: String::new(),
            extensions: Vec::new(),
            excluded: Vec::new(),
            expand_text: false,
            preserve_space: false,
            default_mode: None,
            scope: Cell::new(None),
        })
    }

    /// What holds for an element, given what holds around it.
    pub(super) fn enter(self: &Rc<Here>, element: Element<'_>, problems: &mut Problems) -> Rc<Here> {
        self.enter_with(element, true, problems)
    }

    /// The same for an element of the document around an embedded stylesheet: of its attributes only `xml:space` and
    /// `xml:base` have an effect, and XSLT's own have none (XSLT 3.0 §3.11).
    pub(super) fn enter_around(self: &Rc<Here>, element: Element<'_>, problems: &mut Problems) -> Rc<Here> {
        self.enter_with(element, false, problems)
    }

    fn enter_with(self: &Rc<Here>, element: Element<'_>, standards: bool, problems: &mut Problems) -> Rc<Here> {
        let xslt = element.name().namespace == XSLT;
        let document = &element.module.document;
        let own = |attribute: &Attribute<'_>| {
            let name = attribute.name();
            let standard = STANDARD.contains(&name.local) && name.namespace == if xslt { "" } else { XSLT };
            (standard && standards) || (name.namespace == XML_NAMESPACE && matches!(name.local, "space" | "base"))
        };
        let declares = document.declarations(element.node).next().is_some();
        if !declares && !element.attributes().any(|attribute| own(&attribute)) {
            return Rc::clone(self);
        }
        let mut here = Here::clone(self);
        here.scope = Cell::new(None);
        for (prefix, namespace) in document.declarations(element.node) {
            here.namespaces.retain(|(known, _)| known != prefix);
            if !namespace.is_empty() {
                here.namespaces.push((prefix.to_owned(), namespace.to_owned()));
            }
        }
        for attribute in element.attributes().filter(own) {
            // An error is noted, and what was wrong says nothing.
            let _: Made<()> = here.apply(&attribute, problems);
        }
        Rc::new(here)
    }

    fn apply(&mut self, attribute: &Attribute<'_>, problems: &mut Problems) -> Made<()> {
        match attribute.name().local {
            "space" => self.preserve_space = attribute.value == "preserve",
            "base" => self.base = resolve(attribute.trimmed(), &self.base),
            "version" => match attribute.trimmed().parse::<f64>() {
                Ok(version) if version.is_finite() => self.version = version,
                _ => {
                    let message = format!("version={:?} is no number such as 1.0", attribute.value);
                    return Err(problems.error(attribute.at(), "XTSE0110", message));
                }
            },
            "xpath-default-namespace" => self.default_namespace = attribute.trimmed().to_owned(),
            "extension-element-prefixes" => {
                let namespaces = self.prefixes(attribute, "XTSE1430", problems)?;
                if let Some(reserved) = namespaces.iter().find(|namespace| RESERVED.contains(&namespace.as_str())) {
                    let message = format!("{reserved:?} is a namespace of the standards, and none of extensions");
                    return Err(problems.error(attribute.at(), "XTSE0085", message));
                }
                self.extensions.extend(namespaces);
            }
            "exclude-result-prefixes" => {
                let namespaces = self.prefixes(attribute, "XTSE0808", problems)?;
                self.excluded.extend(namespaces);
            }
            "default-collation" if !attribute.words().any(|word| word == CODEPOINT) => {
                let message = format!("the only default-collation that is offered is {CODEPOINT}");
                return Err(problems.error(attribute.at(), "XTSE0125", message));
            }
            "expand-text" => self.expand_text = truth(attribute, problems)?,
            "default-mode" => {
                self.default_mode = match attribute.trimmed() {
                    "#unnamed" => None,
                    _ => Some(self.name(attribute, attribute.trimmed(), problems)?),
                };
            }
            _ => {}
        }
        Ok(())
    }

    /// The namespaces of a list of prefixes.
    fn prefixes(&self, attribute: &Attribute<'_>, code: &'static str, problems: &mut Problems) -> Made<Vec<String>> {
        let mut found = Vec::new();
        for word in attribute.words() {
            let prefix = if word == "#default" { "" } else { word };
            match self.namespace(prefix) {
                Some(namespace) => found.push(namespace.to_owned()),
                None if word == "#all" => found.extend(self.namespaces.iter().map(|(_, namespace)| namespace.clone())),
                None if word == "#default" => {
                    // 1.0 knows no such error: no default namespace is one that needs no excluding.
                    if self.version >= 2.0 {
                        let message = "there is no default namespace here that #default could mean".to_owned();
                        return Err(problems.error(attribute.at(), "XTSE0809", message));
                    }
                }
                None => {
                    let message = format!("the prefix {word:?} is not declared: xmlns:{word}=\"…\" is missing");
                    return Err(problems.error(attribute.at(), code, message));
                }
            }
        }
        Ok(found)
    }

    /// The namespace that a prefix stands for.
    pub(super) fn namespace(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML_NAMESPACE);
        }
        self.namespaces.iter().find(|(known, _)| known == prefix).map(|(_, namespace)| namespace.as_str())
    }

    /// A name of a declaration or of what refers to one: without a prefix it is in no namespace.
    pub(super) fn name(&self, attribute: &Attribute<'_>, text: &str, problems: &mut Problems) -> Made<ExpandedName> {
        if let Some(name) = text.strip_prefix("Q{").and_then(|_| ExpandedName::parse(text)) {
            return Ok(name);
        }
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        let named = myelin_xml::is_ncname(local) && (prefix.is_empty() != text.contains(':'));
        if !named {
            let message = format!("{text:?} is no name such as `local` or `prefix:local`");
            return Err(problems.error(attribute.at(), "XTSE0020", message));
        }
        if prefix.is_empty() {
            return Ok(ExpandedName::new("", local));
        }
        match self.namespace(prefix) {
            Some(namespace) => Ok(ExpandedName::new(namespace, local)),
            None => {
                let message = format!("the prefix {prefix:?} is not declared: xmlns:{prefix}=\"…\" is missing");
                Err(problems.error(attribute.at(), "XTSE0280", message))
            }
        }
    }

    /// By which rules expressions run.
    pub(super) fn rules(&self) -> Version {
        match self.version {
            version if version < 2.0 => Version::V1,
            version if version < 3.0 => Version::V2,
            _ => Version::V3,
        }
    }

    /// Whether what is not known here is for later processors, which have a say only where it is come to (§3.9).
    ///
    /// A version between 1.0 and 2.0 never was one, so that a stylesheet that says so means the same.
    pub(super) fn is_forwards(&self) -> bool {
        self.version > 3.0 || (self.version > 1.0 && self.version < 2.0)
    }

    /// Whether 1.0 is followed where 2.0 says something else (§3.8).
    pub(super) fn is_backwards(&self) -> bool {
        self.version < 2.0
    }

    /// Whether white space alone stays in the stylesheet.
    pub(super) fn keeps(&self, text: &str) -> bool {
        self.preserve_space || !is_white(text)
    }
}

impl<'s> Element<'s> {
    /// What stands inside. From 2.0 on, texts with a comment or instruction between them are one (XSLT 2.0 §4.2).
    pub(super) fn children(self, here: &Here) -> Vec<Child<'s>> {
        let document = &self.module.document;
        let mut children = Vec::new();
        for node in document.children(self.node) {
            match document.kind(node) {
                Kind::Element => children.push(Child::Element(Element { node, ..self })),
                Kind::Text => match children.last_mut() {
                    Some(Child::Text(before)) if !here.is_backwards() => {
                        before.value.to_mut().push_str(&document.value(node));
                    }
                    _ => children.push(Child::Text(Attribute::new(self.module, node))),
                },
                _ => {}
            }
        }
        if here.preserve_space {
            self.strip(&mut children);
        }
        children
    }

    /// Drops white space that goes in spite of `xml:space="preserve"` (XSLT 3.0 §4.3).
    fn strip(self, children: &mut Vec<Child<'s>>) {
        const WITHOUT_TEXT: [&str; 20] = [
            "accumulator",
            "analyze-string",
            "apply-imports",
            "apply-templates",
            "attribute-set",
            "call-template",
            "character-map",
            "choose",
            "evaluate",
            "fork",
            "merge",
            "merge-source",
            "mode",
            "next-iteration",
            "next-match",
            "override",
            "package",
            "stylesheet",
            "transform",
            "use-package",
        ];
        let without = self.xslt().is_some_and(|local| WITHOUT_TEXT.contains(&local));
        let is_one_of = |child: Option<&Child<'s>>, names: &[&str]| match child {
            Some(Child::Element(element)) => element.xslt().is_some_and(|local| names.contains(&local)),
            _ => false,
        };
        let goes = |(place, child): (usize, &Child<'s>)| match child {
            Child::Text(text) if is_white(&text.value) => {
                let before = place.checked_sub(1).and_then(|place| children.get(place));
                without
                    || is_one_of(children.get(place + 1), &["param", "sort", "context-item", "on-completion"])
                    || is_one_of(before, &["catch", "on-completion"])
            }
            _ => false,
        };
        let mut gone = children.iter().enumerate().map(goes).collect::<Vec<_>>().into_iter();
        children.retain(|_| !gone.next().unwrap_or_default());
    }
}

/// What an attribute says that takes `yes` or `no`.
pub(super) fn truth(attribute: &Attribute<'_>, problems: &mut Problems) -> Made<bool> {
    match attribute.trimmed() {
        "yes" | "true" | "1" => Ok(true),
        "no" | "false" | "0" => Ok(false),
        other => {
            let message = format!("{}={other:?} is neither yes nor no", attribute.written());
            Err(problems.error(attribute.at(), "XTSE0020", message))
        }
    }
}
