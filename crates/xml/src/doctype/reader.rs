//! From the text of a document type to what it declares (XML 1.0 §2.8, §3.4).

use std::collections::HashMap;
use std::rc::Rc;

use super::declarations::Dtd;
use super::input::{Input, markup_length, name_at, reference_at};
use super::{DoctypeOptions, Externals, external};
use crate::characters::is_space;

/// Where in the document something is wrong, and a sentence for the author.
pub(super) type Failure = (usize, String);

/// The text of an external entity, and its URI.
pub(super) type Read = (Rc<str>, Rc<str>);

/// Sections inside each other; nobody writes more than a few.
const SECTIONS: usize = 100;

/// Reads declarations.
pub(super) struct Reader<'s> {
    pub(super) dtd: Dtd,
    pub(super) parameters: HashMap<String, Parameter>,
    /// What is read, the innermost last.
    pub(super) inputs: Vec<Input<'s>>,
    /// How many inputs there were when the declaration at hand began.
    pub(super) floor: usize,
    pub(super) limits: &'s DoctypeOptions,
    pub(super) budget: Budget,
    externals: &'s dyn Externals,
    /// Declarations so far.
    declared: usize,
    /// Whether a parameter entity was referred to.
    pub(super) has_parameters: bool,
}

/// A parameter entity as it is declared.
#[derive(Clone)]
pub(super) enum Parameter {
    Internal(Rc<str>),
    External { public: Option<String>, system: String, base: Rc<str>, read: Option<Read> },
}

/// How much was read of external files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    pub(super) external_bytes: usize,
    /// What parameter entities added to the declarations.
    pub(super) parameter_bytes: usize,
}

impl Budget {
    /// Reads an external entity, and counts it.
    pub(super) fn read(
        &mut self,
        externals: &dyn Externals,
        limits: &DoctypeOptions,
        (public, system, base): (Option<&str>, &str, &str),
    ) -> Result<Read, Unread> {
        let found = externals.find(public, system, base).map_err(Unread::Absent)?;
        self.external_bytes = self.external_bytes.saturating_add(found.bytes.len());
        if self.external_bytes > limits.external_bytes {
            let (uri, bound) = (found.uri, limits.external_bytes);
            return Err(Unread::Wrong(format!("{uri}: external entities have more than {bound} bytes together")));
        }
        Ok((external::text_of(&found).map_err(Unread::Wrong)?, found.uri.into()))
    }
}

/// Why an external entity is not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It cannot be had.
    Absent(String),
    /// It is there, and is none.
    Wrong(String),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::Absent(sentence) | Unread::Wrong(sentence) => f.write_str(sentence),
        }
    }
}

impl<'s> Reader<'s> {
    /// Of a document type that begins at `start`.
    pub(super) fn new(
        source: &'s str,
        uri: &str,
        start: usize,
        externals: &'s dyn Externals,
        limits: &'s DoctypeOptions,
    ) -> Reader<'s> {
        Reader {
            dtd: Dtd::default(),
            parameters: HashMap::new(),
            inputs: vec![Input::source(source, start, uri.into())],
            floor: 1,
            limits,
            budget: Budget::default(),
            externals,
            declared: 0,
            has_parameters: false,
        }
    }

    pub(super) fn finish(self) -> (Dtd, Budget) {
        (self.dtd, self.budget)
    }

    /// Reads all of it; where it ends in the document.
    pub(super) fn document_type(&mut self) -> Result<usize, Failure> {
        self.parts().map_err(|sentence| self.place(sentence))
    }

    fn parts(&mut self) -> Result<usize, String> {
        self.skip("<!DOCTYPE".len());
        self.required_space()?;
        self.name("the name of the root element")?;
        let spaced = self.space()?;
        let external = if spaced { self.external_id(false)? } else { None };
        self.space()?;
        if self.eat("[") {
            self.subset()?;
            if !self.eat("]") {
                return Err(self.expected("] behind the declarations"));
            }
            self.space()?;
        }
        if !self.eat(">") {
            return Err(self.expected("> at the end of the document type"));
        }
        let end = self.top().at;
        if let Some((public, system)) = external {
            self.dtd.has_externals = true;
            let base = self.top().uri.clone();
            match self.budget.read(self.externals, self.limits, (public.as_deref(), &system, &base)) {
                Ok((text, uri)) => {
                    self.inputs.push(Input::made(text, None, uri, true));
                    self.subset()?;
                    if !self.top().rest().is_empty() {
                        return Err(self.expected("a declaration"));
                    }
                    self.inputs.pop();
                }
                // It is the document's own, and says how to check it: the document may do without.
                Err(Unread::Absent(reason)) => self.dtd.unread = Some(reason),
                Err(Unread::Wrong(reason)) => return Err(reason),
            }
        }
        Ok(end)
    }

    /// Reads declarations up to what is none.
    fn subset(&mut self) -> Result<(), String> {
        let bottom = self.inputs.len();
        loop {
            let rest = self.top().rest();
            let Some(first) = rest.bytes().next() else {
                if self.top().sections > 0 {
                    return Err(self.expected("]]> at the end of a section"));
                }
                if self.inputs.len() == bottom {
                    return Ok(());
                }
                self.inputs.pop();
                continue;
            };
            self.floor = self.inputs.len();
            match first {
                byte if is_space(byte) => self.skip(1),
                b'%' => self.enter_parameter()?,
                b'<' => self.markup()?,
                b']' if self.top().sections > 0 => {
                    if !self.eat("]]>") {
                        return Err(self.expected("]]> at the end of a section"));
                    }
                    if let Some(top) = self.inputs.last_mut() {
                        top.sections -= 1;
                    }
                }
                _ if self.inputs.len() == bottom => return Ok(()),
                _ => return Err(self.expected("a declaration")),
            }
        }
    }

    fn markup(&mut self) -> Result<(), String> {
        let rest = self.top().rest();
        if rest.starts_with("<!--") || rest.starts_with("<?") {
            return self.passed();
        }
        self.declared += 1;
        if self.declared > self.limits.declarations {
            return Err(format!("a document type of more than {} declarations", self.limits.declarations));
        }
        if self.eat("<!ENTITY") {
            self.entity()
        } else if self.eat("<!ATTLIST") {
            self.attributes()
        } else if self.eat("<!ELEMENT") {
            self.element()
        } else if self.eat("<!NOTATION") {
            self.notation()
        } else if self.eat("<![") && self.top().external {
            self.section()
        } else {
            Err(self.expected("a declaration"))
        }
    }

    /// A comment or an instruction.
    fn passed(&mut self) -> Result<(), String> {
        let rest = self.top().rest();
        let length = markup_length(rest).unwrap_or(rest.len());
        let whole = &rest[..length];
        let fault = match whole.strip_prefix("<!--") {
            Some(comment) => match comment.strip_suffix("-->") {
                None => Some("--> at the end of a comment"),
                Some(inside) => (inside.contains("--") || inside.ends_with('-')).then_some("no -- within a comment"),
            },
            None => match whole[2..].strip_suffix("?>") {
                None => Some("?> at the end of an instruction"),
                Some(inside) => {
                    let target = name_at(inside);
                    let spaced =
                        inside.len() == target.len() || inside[target.len()..].starts_with([' ', '\t', '\r', '\n']);
                    let reserved = target.is_empty() || target.eq_ignore_ascii_case("xml") || !spaced;
                    reserved.then_some("the name of an instruction, other than xml")
                }
            },
        };
        match fault {
            Some(fault) => Err(self.expected(fault)),
            None => {
                self.skip(length);
                Ok(())
            }
        }
    }

    fn notation(&mut self) -> Result<(), String> {
        self.required_space()?;
        let name = self.name("the name of a notation")?;
        if name.contains(':') {
            return Err(self.expected("a name without a colon"));
        }
        self.required_space()?;
        if self.external_id(true)?.is_none() {
            return Err(self.expected("SYSTEM or PUBLIC"));
        }
        self.close()
    }

    /// `<![INCLUDE[…]]>`, `<![IGNORE[…]]>`
    fn section(&mut self) -> Result<(), String> {
        self.space()?;
        let word = self.name("INCLUDE or IGNORE")?;
        self.space()?;
        if !self.eat("[") {
            return Err(self.expected("["));
        }
        match word.as_str() {
            "INCLUDE" => {
                let Some(top) = self.inputs.last_mut() else { return Ok(()) };
                top.sections += 1;
                if top.sections > SECTIONS {
                    return Err(format!("more than {SECTIONS} sections inside each other"));
                }
                Ok(())
            }
            "IGNORE" => {
                let rest = self.top().rest().as_bytes();
                let (mut depth, mut at) = (1_u32, 0);
                while depth > 0 {
                    let Some(next) = memchr::memchr2(b'<', b']', rest.get(at..).unwrap_or_default()) else {
                        return Err(self.expected("]]> at the end of a section"));
                    };
                    at += next;
                    if rest[at..].starts_with(b"<![") {
                        depth += 1;
                        at += 3;
                    } else if rest[at..].starts_with(b"]]>") {
                        depth -= 1;
                        at += 3;
                    } else {
                        at += 1;
                    }
                }
                self.skip(at);
                Ok(())
            }
            _ => Err(self.expected("INCLUDE or IGNORE")),
        }
    }

    /// `SYSTEM "…"`, `PUBLIC "…" "…"`; of a notation the system identifier may be left out.
    pub(super) fn external_id(&mut self, notation: bool) -> Result<Option<(Option<String>, String)>, String> {
        if self.eat("SYSTEM") {
            self.required_space()?;
            return Ok(Some((None, self.literal()?)));
        }
        if !self.eat("PUBLIC") {
            return Ok(None);
        }
        self.required_space()?;
        let public = self.literal()?;
        let is_public = |letter: char| letter.is_ascii_alphanumeric() || " \n-'()+,./:=?;!*#@$_%".contains(letter);
        if !public.chars().all(is_public) {
            return Err(format!("{public:?} is no public identifier"));
        }
        let public = public.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let spaced = self.space()?;
        let has_system = self.top().rest().starts_with(['"', '\'']);
        match (has_system, spaced) {
            (true, true) => Ok(Some((Some(public), self.literal()?))),
            (false, _) if notation => Ok(Some((Some(public), String::new()))),
            _ => Err(self.expected("a system identifier")),
        }
    }

    /// Goes into the parameter entity that is referred to here.
    fn enter_parameter(&mut self) -> Result<(), String> {
        let Some(name) = reference_at(self.top().rest()).map(str::to_owned) else {
            return Err(self.expected("a name and ; behind %"));
        };
        self.skip(name.len() + 2);
        let outside = self.top().external;
        self.has_parameters = true;
        let Some(((text, uri), external)) = self.parameter(&name)? else { return Ok(()) };
        if self.inputs.iter().any(|input| input.name.as_ref() == Some(&name)) {
            return Err(format!("the entity %{name}; stands for itself"));
        }
        self.inputs.push(Input::made(text, Some(name), uri, external || outside));
        Ok(())
    }

    /// The text of a parameter entity, its URI, and whether it is a file; `None`: it is not declared, and may be left out.
    pub(super) fn parameter(&mut self, name: &str) -> Result<Option<(Read, bool)>, String> {
        let base = self.top().uri.clone();
        let found = match self.parameters.get_mut(name) {
            // Where not everything was read, nobody knows whether it is declared.
            None if self.dtd.has_externals => None,
            None => return Err(format!("the entity %{name}; is not declared")),
            // What it declares belongs to where it is referred to (§4.2.2).
            Some(Parameter::Internal(text)) => Some(((text.clone(), base), false)),
            Some(Parameter::External { read: Some((text, uri)), .. }) => Some(((text.clone(), uri.clone()), true)),
            Some(Parameter::External { public, system, base, read }) => {
                self.dtd.has_externals = true;
                let reference = (public.as_deref(), system.as_str(), &**base);
                let (text, uri) = self
                    .budget
                    .read(self.externals, self.limits, reference)
                    .map_err(|reason| format!("the entity %{name}; is not read: {reason}"))?;
                *read = Some((text.clone(), uri.clone()));
                Some(((text, uri), true))
            }
        };
        let length = found.as_ref().map_or(0, |((text, _), _)| text.len());
        self.budget.parameter_bytes = self.budget.parameter_bytes.saturating_add(length + 1);
        if self.budget.parameter_bytes > self.limits.expansion_bytes {
            return Err(format!(
                "the entity %{name}; is one too many: entities add more than {} bytes to the document type",
                self.limits.expansion_bytes
            ));
        }
        if self.inputs.len() > self.limits.depth {
            return Err(format!("the entity %{name}; is one of more than {} inside each other", self.limits.depth));
        }
        Ok(found)
    }

    // What declarations are made of.

    pub(super) fn top(&self) -> &Input<'s> {
        self.inputs.last().expect("the document itself is never taken away")
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        if let Some(top) = self.inputs.last_mut() {
            top.at += bytes;
        }
    }

    /// Takes a mark, if it stands here.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.top().rest().starts_with(mark);
        if found {
            self.skip(mark.len());
        }
        found
    }

    /// Passes white space, and goes into parameter entities and out of them; whether there was any of it.
    pub(super) fn space(&mut self) -> Result<bool, String> {
        let mut found = false;
        loop {
            let rest = self.top().rest();
            match rest.bytes().next() {
                Some(byte) if is_space(byte) => {
                    let length = rest.bytes().take_while(|byte| is_space(*byte)).count();
                    self.skip(length);
                }
                Some(b'%') if self.top().external && reference_at(rest).is_some() => self.enter_parameter()?,
                None if self.inputs.len() > self.floor => drop(self.inputs.pop()),
                _ => return Ok(found),
            }
            found = true;
        }
    }

    pub(super) fn required_space(&mut self) -> Result<(), String> {
        match self.space()? {
            true => Ok(()),
            false => Err(self.expected("white space")),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String, String> {
        let name = name_at(self.top().rest()).to_owned();
        if name.is_empty() {
            return Err(self.expected(what));
        }
        self.skip(name.len());
        Ok(name)
    }

    /// What stands between quotes.
    pub(super) fn literal(&mut self) -> Result<String, String> {
        let rest = self.top().rest();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        let inside = quote.and_then(|quote| rest[1..].split_once(quote)).map(|(inside, _)| inside);
        let Some(inside) = inside else { return Err(self.expected("a text between quotes")) };
        let (length, inside) = (inside.len(), external::normal_lines(inside));
        if let Some(foreign) = inside.chars().find(|letter| !crate::characters::is_allowed(*letter)) {
            return Err(format!("character U+{:04X} is not allowed", u32::from(foreign)));
        }
        self.skip(length + 2);
        Ok(inside)
    }

    /// The end of a declaration.
    pub(super) fn close(&mut self) -> Result<(), String> {
        self.space()?;
        match self.eat(">") {
            true => Ok(()),
            false => Err(self.expected("> at the end of a declaration")),
        }
    }

    pub(super) fn expected(&self, what: &str) -> String {
        match self.top().rest().chars().next() {
            Some(found) => format!("expected {what}, found {found:?}"),
            None => format!("expected {what}, found the end"),
        }
    }

    /// Where in the document that is, with the place in an external file if it is one.
    fn place(&self, sentence: String) -> Failure {
        let offset = self.inputs.first().map_or(0, |input| input.at);
        let inner = self.top();
        if self.inputs.len() == 1 {
            return (offset, sentence);
        }
        let line = inner.text()[..inner.at].matches('\n').count() + 1;
        match &inner.name {
            Some(name) => (offset, format!("{}: entity %{name};, line {line}: {sentence}", inner.uri)),
            None => (offset, format!("{}:{line}: {sentence}", inner.uri)),
        }
    }
}
