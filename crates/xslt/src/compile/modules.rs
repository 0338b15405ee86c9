//! From one stylesheet document to all that it imports and includes, and to one list of declarations (XSLT 3.0 §3.10).

use std::rc::Rc;

use myelin_xml::{NodeId, XML_NAMESPACE};

use super::element::{Attribute, Child, Element, XSLT, is_white};
use super::here::{Here, truth};
use super::loaded::{Found, Loaded};
use super::module::Module;
use super::problems::{Made, Problems, Reported};
use super::specs;
use super::statics::Statics;
use crate::name::ExpandedName;
use crate::resolver::{Resolver, Wanted};
use crate::scope::At;

/// A stylesheet may be made of as many documents, one that is read twice counted twice.
const MODULES: usize = 1_000;

/// Modules may import and include each other as deep as this.
const DEPTH: usize = 64;

/// Reads a stylesheet with all its modules.
pub(super) fn load(
    source: &[u8],
    uri: &str,
    resolver: &dyn Resolver,
    problems: &mut Problems,
    statics: &mut Statics,
) -> Made<Loaded> {
    let mut loader = Loader {
        resolver,
        problems,
        statics,
        modules: Vec::new(),
        declarations: Vec::new(),
        open: Vec::new(),
        precedence: 0,
        failed: false,
        version: 1.0,
        default_mode: None,
        declares_modes: false,
    };
    let (uri, fragment) = uri.split_once('#').unwrap_or((uri, ""));
    loader.level(source, uri, fragment)?;
    let Loader { modules, declarations, failed, version, default_mode, declares_modes, .. } = loader;
    if failed {
        return Err(Reported);
    }
    // All were put back when they had been read.
    let modules = modules.into_iter().flatten().collect();
    Ok(Loaded { modules, declarations, version, default_mode, declares_modes })
}

struct Loader<'l> {
    resolver: &'l dyn Resolver,
    problems: &'l mut Problems,
    statics: &'l mut Statics,
    /// `None` while it is being read.
    modules: Vec<Option<Module>>,
    declarations: Vec<Found>,
    /// The URIs of the modules that are being read, the outermost first.
    open: Vec<String>,
    /// The next import precedence to be given.
    precedence: u32,
    /// Whether a module could not be read.
    failed: bool,
    version: f64,
    default_mode: Option<ExpandedName>,
    declares_modes: bool,
}

/// A declaration whose precedence is known when all imports have been read.
type Own = Vec<(usize, NodeId, Rc<Here>, bool)>;

impl Loader<'_> {
    /// Reads a stylesheet level: a module with those it includes; the levels it imports come before it.
    fn level(&mut self, source: &[u8], uri: &str, fragment: &str) -> Made<()> {
        let imports_from = self.precedence;
        let mut own = Own::new();
        self.statics.enter_level();
        let read = self.module(source, uri, fragment, &mut own);
        self.statics.leave_level();
        read?;
        let precedence = self.precedence;
        self.precedence += 1;
        let found =
            |(module, node, here, simplified)| Found { module, node, here, precedence, imports_from, simplified };
        self.declarations.extend(own.into_iter().map(found));
        Ok(())
    }

    fn module(&mut self, source: &[u8], uri: &str, fragment: &str, own: &mut Own) -> Made<()> {
        let index = self.modules.len();
        self.problems.files.push(uri.to_owned());
        self.modules.push(None);
        let module = Module::parse(source, uri, index as u32, self.resolver).map_err(|(at, message)| {
            let code = if index == 0 { "XML" } else { "XTSE0165" };
            self.problems.error(at, code, message)
        })?;
        self.open.push(uri.to_owned());
        let read = self.read(&module, index, fragment, own);
        self.open.pop();
        self.modules[index] = Some(module);
        read
    }

    fn read(&mut self, module: &Module, index: usize, fragment: &str, own: &mut Own) -> Made<()> {
        let outermost = At { file: index as u32, line: 1, column: 1 };
        let Some(root) = stylesheet_element(module, fragment) else {
            let message = match fragment {
                "" => "there is no element".to_owned(),
                _ => format!("there is no element with the id {fragment:?}"),
            };
            return Err(self.problems.error(outermost, "XTSE0165", message));
        };
        let mut around: Vec<Element<'_>> = std::iter::successors(root.parent(), |element| element.parent()).collect();
        around.reverse();
        let outermost = Here::outermost(&module.uri);
        let here = around.into_iter().fold(outermost, |here, element| here.enter_around(element, self.problems));
        let mut here = here.enter(root, self.problems);
        let shadowing = module.may_have_shadows();
        if shadowing && root.xslt().is_some() {
            self.statics.shadow(root, &here, self.problems)?;
            here = here.enter(root, self.problems);
        }
        if index == 0 {
            self.version = here.version;
            self.default_mode = here.default_mode.clone();
        }
        if !matches!(root.xslt(), Some("stylesheet" | "transform" | "package")) {
            return self.simplified(root, index, here, own);
        }
        specs::check_attributes(root, &here, self.problems);
        if root.attribute("version").is_none() {
            let message = "version=\"…\" is missing: 1.0, 2.0 or 3.0";
            self.problems.error(root.at(), "XTSE0010", message);
        }
        if !self.statics.use_when(root, &here, self.problems)? {
            return Ok(());
        }
        if root.is("package") {
            self.package(root);
        }
        let mut imports_end = false;
        for child in root.children(&here) {
            match child {
                Child::Text(text) if is_white(&text.value) => {}
                Child::Text(text) => {
                    let message = "text cannot stand below the stylesheet element";
                    self.problems.error(text.visible(), "XTSE0120", message);
                }
                Child::Element(element) => {
                    if shadowing {
                        // What is wrong in it is told; the others are looked at all the same.
                        let _: Made<()> = self.shadow(element, &here);
                    }
                    self.declaration(element, index, &here, own, &mut imports_end);
                }
            }
        }
        Ok(())
    }

    /// What an `xsl:package` says about itself (XSLT 3.0 §3.5).
    fn package(&mut self, root: Element<'_>) {
        let declares = root.attribute("declared-modes").map(|attribute| truth(&attribute, self.problems));
        self.declares_modes = !matches!(declares, Some(Ok(false)));
        let Some(version) = root.attribute("package-version") else { return };
        let (number, name) = match version.trimmed().split_once('-') {
            Some((number, name)) => (number, Some(name)),
            None => (version.trimmed(), None),
        };
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !number.split('.').all(digits) || !name.is_none_or(myelin_xml::is_ncname) {
            let message = format!("package-version={:?}, expected such as 1.2 or 1.2-beta", version.value);
            self.problems.error(version.at(), "XTSE0020", message);
        }
    }

    /// Lets the shadow attributes of an element and of all within it stand for those they shadow: static variables are
    /// known only up to here.
    fn shadow(&mut self, element: Element<'_>, outer: &Rc<Here>) -> Made<()> {
        let mut here = outer.enter(element, self.problems);
        if element.xslt().is_some() && !here.is_backwards() {
            self.statics.shadow(element, &here, self.problems)?;
            here = outer.enter(element, self.problems);
        }
        if self.statics.use_when(element, &here, self.problems)? {
            for child in element.elements() {
                self.shadow(child, &here)?;
            }
        }
        Ok(())
    }

    fn simplified(&mut self, root: Element<'_>, index: usize, here: Rc<Here>, own: &mut Own) -> Made<()> {
        let name = root.name();
        if name.namespace == XSLT {
            let message = format!("<{}> is no stylesheet: expected <xsl:stylesheet>", root.written());
            return Err(self.problems.error(root.at(), "XTSE0010", message));
        }
        if root.attribute_in(XSLT, "version").is_none() {
            let message = format!(
                "<{}> is no stylesheet: expected <xsl:stylesheet> in the namespace {XSLT}, or an element with xsl:version",
                root.written(),
            );
            return Err(self.problems.error(root.at(), "XTSE0150", message));
        }
        own.push((index, root.node, here, true));
        Ok(())
    }

    fn declaration(
        &mut self,
        element: Element<'_>,
        index: usize,
        outer: &Rc<Here>,
        own: &mut Own,
        imports_end: &mut bool,
    ) {
        let here = outer.enter(element, self.problems);
        match self.statics.use_when(element, &here, self.problems) {
            Ok(true) => {}
            Ok(false) | Err(Reported) => return,
        }
        if element.name().namespace.is_empty() {
            let message =
                format!("<{}> without a namespace cannot stand below the stylesheet element", element.written());
            self.problems.error(element.at(), "XTSE0130", message);
            return;
        }
        let local = element.xslt();
        if local == Some("import") && *imports_end && here.is_backwards() {
            let message = "xsl:import has to come before all other declarations";
            self.problems.error(element.at(), "XTSE0200", message);
        }
        *imports_end |= local.is_some() && local != Some("import");
        match local {
            // The other modules are read all the same, for what is wrong with them.
            Some("import" | "include") => self.failed |= self.other(element, &here, own).is_err(),
            _ => {
                if matches!(local, Some("param" | "variable")) {
                    self.statics.declare(element, &here, self.problems);
                }
                own.push((index, element.node, here, false));
            }
        }
    }

    /// `xsl:import` and `xsl:include`
    fn other(&mut self, element: Element<'_>, here: &Here, own: &mut Own) -> Made<()> {
        let import = element.is("import");
        let Some(href) = element.attribute("href") else {
            let message = format!("<{}> needs href=\"…\"", element.written());
            return Err(self.problems.error(element.at(), "XTSE0010", message));
        };
        let (path, fragment) = href.trimmed().split_once('#').unwrap_or((href.trimmed(), ""));
        let resource = match self.resolver.resolve(path, &here.base, Wanted::Stylesheet) {
            Ok(resource) => resource,
            Err(message) => return Err(self.problems.error(href.at(), "XTSE0165", message)),
        };
        self.check_circle(&href, &resource.uri, import)?;
        match import {
            true => self.level(&resource.bytes, &resource.uri, fragment),
            false => self.module(&resource.bytes, &resource.uri, fragment, own),
        }
    }

    fn check_circle(&mut self, href: &Attribute<'_>, uri: &str, import: bool) -> Made<()> {
        let code = if import { "XTSE0210" } else { "XTSE0180" };
        if self.open.iter().any(|open| open == uri) {
            let word = if import { "imports" } else { "includes" };
            let message = format!("{uri} {word} itself: {} → {uri}", self.open.join(" → "));
            return Err(self.problems.error(href.at(), code, message));
        }
        if self.modules.len() >= MODULES || self.open.len() >= DEPTH {
            let message = format!("more than {MODULES} modules, or more than {DEPTH} inside each other");
            return Err(self.problems.error(href.at(), code, message));
        }
        Ok(())
    }
}

/// The outermost element, or the one with an id.
fn stylesheet_element<'s>(module: &'s Module, fragment: &str) -> Option<Element<'s>> {
    let document = &module.document;
    let root = document.root_element()?;
    let at = |node| Element { module, node };
    if fragment.is_empty() {
        return Some(at(root));
    }
    let named = |element: &Element<'_>| {
        let id = element.attribute_in(XML_NAMESPACE, "id").or_else(|| element.attribute("id"));
        id.is_some_and(|id| id.value == fragment)
    };
    std::iter::once(root).chain(document.descendants(root)).map(at).find(named)
}
