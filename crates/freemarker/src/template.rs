//! A compiled template.

use crate::error::Error;
use crate::machine::{Options, Run};
use crate::parse::{Parsed, parse};
use crate::syntax::{Template, place};
use crate::value::Value;

impl Template {
    /// Compiles a text; `inside` says whether something of the caller's stands on the first and the last line around it,
    /// which white space is then kept for.
    ///
    /// Errors: the author's, of the kinds [`Syntax`](crate::ErrorKind::Syntax) and
    /// [`Unsupported`](crate::ErrorKind::Unsupported).
    /// Source: FreeMarker's manual, "Template Language Reference".
    pub fn compile(text: &str, inside: bool) -> Result<Template, Error> {
        let lines: Vec<u32> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        let parsed = parse(text, inside);
        match parsed {
            Ok(Parsed { block, callables, names, header }) => {
                Ok(Template { block, callables, names, header, text: text.into(), lines })
            }
            Err((kind, at, message)) => Err(Error { kind, place: place(text, &lines, at), message }),
        }
    }

    /// Runs it over data: the variables by their names.
    ///
    /// Errors: of the kinds `Missing`, `Wrong`, `Stopped` and `Limit`.
    pub fn run<'m>(&self, data: &[(&str, Value<'m>)], options: &Options<'_>) -> Result<String, Box<Error>> {
        Run::new(self, data, options).whole()
    }

    /// Whether it may look at a variable of that name.
    pub fn mentions(&self, name: &str) -> bool {
        self.reaches_all() || self.names.find(name).is_some()
    }

    /// The names of members that are written in it, whatever they are asked of.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.names.members().iter().map(|name| &**name)
    }

    /// Whether it may ask for members and variables whose names are not written in it.
    pub fn reaches_all(&self) -> bool {
        self.names.reaches_all()
    }

    /// The prefixes that the header declares, and the namespaces they stand for; `D` is for names without a prefix.
    pub fn prefixes(&self) -> &[(String, String)] {
        &self.header.prefixes
    }
}
