//! What Synapse's expressions may refer to: variables, properties and functions, settled when they are compiled.

use myelin_xpath::{Argument, Declared, Environment};

use super::functions::Function;
use super::places::Place;
use super::source::{Base, Source};
use crate::config::Text;
use crate::property::{Names, Outside};

/// The state of compiling one expression: what its slots stand for.
pub(super) struct Compiling<'a> {
    text: Text<'a>,
    names: &'a mut Names,
    pub(super) sources: Vec<Source>,
    pub(super) functions: Vec<Function>,
}

impl<'a> Compiling<'a> {
    pub(super) fn new(text: Text<'a>, names: &'a mut Names) -> Compiling<'a> {
        Compiling { text, names, sources: Vec::new(), functions: Vec::new() }
    }

    fn source(&mut self, source: Source) -> u32 {
        self.sources.push(source);
        // The slots of places come first.
        (Place::ALL.len() + self.sources.len() - 1) as u32
    }

    fn call(&mut self, function: Function) -> Declared {
        self.functions.push(function);
        Declared::Function((self.functions.len() - 1) as u32)
    }

    /// `get-property(name)`, `get-property(scope, name)`, and a format behind the name `SYSTEM_DATE`.
    fn get_property(&mut self, arguments: &[Argument<'_>]) -> Result<Declared, String> {
        let (base, name) = match *arguments {
            [name] => (Base::Default, name),
            [Argument::Text("SYSTEM_DATE"), _] | [_, Argument::Text("SYSTEM_DATE"), _] => {
                return Ok(self.call(Function::Date));
            }
            [Argument::Text(scope), name] => (base(scope)?, name),
            [_, _] => return Err("get-property(): the scope must be a text literal".to_owned()),
            _ => return Err("get-property() takes a name, or a scope and a name".to_owned()),
        };
        match name {
            Argument::Text("FAULT") if base == Base::Default => Ok(Declared::Variable(Place::Fault.slot())),
            Argument::Text(name) => {
                let source = Source::property(base, name, self.names);
                Ok(Declared::Variable(self.source(source)))
            }
            _ if matches!(base, Base::Outside(_)) => {
                let message = "get-property(): what is in the registry or a file is read before there is a message: its name \
                               must be a text literal";
                Err(message.to_owned())
            }
            _ => Ok(self.call(Function::Property(base))),
        }
    }
}

impl Environment for Compiling<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.text.namespace(prefix).map(str::to_owned)
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let base = match prefix {
            Some("trp") => return Ok(self.source(Source::Header(local.to_owned()))),
            Some("url") => return Ok(self.source(Source::Query(local.to_owned()))),
            Some("ctx") => Base::Default,
            Some("axis2") => Base::Axis2,
            Some("operation") => Base::Operation,
            Some("sys" | "system" | "env") => Base::System,
            Some("func") => Base::Function,
            Some("var") => Base::Variable,
            Some(other) => return Err(format!("{other:?} is no known kind of variable")),
            None => {
                let place = match local {
                    "body" => Place::Body,
                    "header" => Place::Header,
                    "env" => Place::Envelope,
                    _ => return Err(
                        "known are $body, $header, $env, and $ctx: $var: $trp: $axis2: $url: $operation: $sys: $func: with a name"
                            .to_owned(),
                    ),
                };
                return Ok(place.slot());
            }
        };
        let source = Source::property(base, local, self.names);
        Ok(self.source(source))
    }

    fn function(
        &mut self,
        name: &str,
        _namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        // Synapse knows its functions by their local name, whatever the prefix stands for.
        let local = name.rsplit(':').next().unwrap_or(name);
        if local == "get-property" {
            return self.get_property(arguments).map(Some);
        }
        let function = match local {
            "base64Encode" => Function::Base64Encode,
            "base64Decode" => Function::Base64Decode,
            "url-encode" => Function::UrlEncode,
            "hmac-generate" | "encrypt" | "decrypt" | "vault-lookup" | "xpath" | "registry" => {
                return Err("is not offered yet".to_owned());
            }
            _ => return Ok(None),
        };
        match *arguments {
            [_] => {}
            [_, Argument::Text(charset)] if ["utf-8", "utf8"].contains(&charset.to_ascii_lowercase().as_str()) => {}
            [_, Argument::Text(charset)] => {
                return Err(format!("character set {charset:?} is not offered: UTF-8 is"));
            }
            [_, _] => return Err("the character set must be a text literal".to_owned()),
            _ => {
                return Err(format!(
                    "does not take {} arguments: a text, and perhaps a character set",
                    arguments.len()
                ));
            }
        }
        Ok(Some(self.call(function)))
    }
}

fn base(scope: &str) -> Result<Base, String> {
    Ok(match scope {
        "default" | "synapse" => Base::Default,
        "axis2" => Base::Axis2,
        "axis2-client" => Base::Axis2Client,
        "operation" => Base::Operation,
        "transport" => Base::Transport,
        "system" | "env" => Base::System,
        "func" => Base::Function,
        "registry" => Base::Outside(Outside::Registry),
        "file" => Base::Outside(Outside::File),
        other => return Err(format!("get-property(): scope {other:?} is not known")),
    })
}
