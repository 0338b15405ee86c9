//! What Synapse's expressions may refer to: variables, properties and functions, settled when they are compiled.

use myelin_config::element::Text;
use myelin_content::Charset;
use myelin_flow::property::ExternalSource;
use myelin_wss::algorithm::DigestMethod;
use myelin_xpath::{Argument, Declared, Environment};

use crate::compiler::Compiler;
use crate::functions::Function;
use crate::places::MessagePart;
use crate::secrets;
use crate::source::{Source, SourceScope};

/// The state of compiling one expression: what its slots stand for.
pub(super) struct XPathEnvironment<'a> {
    text: Text<'a>,
    compiler: &'a mut Compiler,
    pub(super) sources: Vec<Source>,
    pub(super) functions: Vec<Function>,
}

impl<'a> XPathEnvironment<'a> {
    pub(super) fn new(text: Text<'a>, compiler: &'a mut Compiler) -> XPathEnvironment<'a> {
        XPathEnvironment { text, compiler, sources: Vec::new(), functions: Vec::new() }
    }

    fn source(&mut self, source: Source) -> u32 {
        self.sources.push(source);
        // The slots of places come first.
        (MessagePart::ALL.len() + self.sources.len() - 1) as u32
    }

    fn call(&mut self, function: Function) -> Declared {
        self.functions.push(function);
        Declared::Function((self.functions.len() - 1) as u32)
    }

    /// `get-property(name)`, `get-property(scope, name)`, and a format behind the name `SYSTEM_DATE`.
    fn get_property(&mut self, arguments: &[Argument<'_>]) -> Result<Declared, String> {
        let (base, name) = match *arguments {
            [name] => (SourceScope::Default, name),
            [Argument::Text("SYSTEM_DATE"), _] | [_, Argument::Text("SYSTEM_DATE"), _] => {
                return Ok(self.call(Function::Date));
            }
            [first @ Argument::Text(scope), second] => match base(scope) {
                Some(base) => (base, second),
                // As in Synapse, where what is behind it counts as a format, which only a date has.
                None => {
                    let message = format!(
                        "get-property(): {scope:?} is no scope, and counts as the name; what follows has no effect"
                    );
                    self.compiler.warning(self.text.problem(message));
                    (SourceScope::Default, first)
                }
            },
            [_, _] => return Err("get-property(): the scope must be a text literal".to_owned()),
            _ => return Err("get-property() takes a name, or a scope and a name".to_owned()),
        };
        match name {
            Argument::Text("FAULT") if base == SourceScope::Default => {
                Ok(Declared::Variable(MessagePart::Fault.slot()))
            }
            Argument::Text(name) => {
                let source = Source::property(base, name, self.compiler.names());
                Ok(Declared::Variable(self.source(source)))
            }
            _ => {
                if let SourceScope::External(source) = base {
                    self.compiler.names().any_external(source);
                }
                Ok(self.call(Function::Property(base)))
            }
        }
    }
}

impl Environment for XPathEnvironment<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.text.namespace(prefix).map(str::to_owned)
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let base = match prefix {
            Some("trp") => return Ok(self.source(Source::Header(local.to_owned()))),
            Some("url") => return Ok(self.source(Source::Query(local.to_owned()))),
            Some("ctx") => SourceScope::Default,
            Some("axis2") => SourceScope::Axis2,
            Some("operation") => SourceScope::Operation,
            Some("sys" | "system" | "env") => SourceScope::System,
            Some("func") => SourceScope::Function,
            Some("var") => SourceScope::Variable,
            Some(other) => return Err(format!("{other:?} is no known kind of variable")),
            None => {
                let place = match local {
                    "body" => MessagePart::Body,
                    "header" => MessagePart::Header,
                    "env" => MessagePart::Envelope,
                    _ => return Err(
                        "known are $body, $header, $env, and $ctx: $var: $trp: $axis2: $url: $operation: $sys: $func: with a name"
                            .to_owned(),
                    ),
                };
                return Ok(place.slot());
            }
        };
        let source = Source::property(base, local, self.compiler.names());
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
        let function = match (local, arguments) {
            ("base64Encode", [_]) => Function::Base64Encode(Charset::Utf8),
            ("base64Encode", [_, charset]) => Function::Base64Encode(charset_of(*charset)?),
            ("base64Decode", [_]) => Function::Base64Decode(Charset::Utf8),
            ("base64Decode", [_, charset]) => Function::Base64Decode(charset_of(*charset)?),
            ("url-encode", [_]) => Function::UrlEncode(Charset::Utf8),
            ("url-encode", [_, charset]) => Function::UrlEncode(charset_of(*charset)?),
            ("hmac-generate", [_, _]) => Function::Hmac(DigestMethod::Sha1),
            ("hmac-generate", [_, _, algorithm]) => Function::Hmac(secrets::digest(*algorithm)?),
            ("encrypt", [_, store @ ..]) => secrets::encrypt(store, self.compiler)?,
            ("decrypt", [_, store @ ..]) => secrets::decrypt(store, self.compiler)?,
            ("vault-lookup", _) if name.starts_with("hashicorp:") => return Err(secrets::NO_HASHICORP.to_owned()),
            ("vault-lookup", lookup) => {
                let secret = secrets::vault(lookup, self.compiler)?;
                return Ok(Some(Declared::Variable(self.source(Source::Loaded(secret)))));
            }
            ("base64Encode" | "base64Decode" | "url-encode", _) => {
                let message = "does not take {} arguments: a text, and perhaps a character set";
                return Err(message.replace("{}", &arguments.len().to_string()));
            }
            ("hmac-generate", _) => {
                return Err("takes a text, a secret and perhaps an algorithm such as 'HmacSHA256'".to_owned());
            }
            ("encrypt" | "decrypt", []) => return Err(secrets::STORE.to_owned()),
            _ => return Ok(None),
        };
        Ok(Some(self.call(function)))
    }
}

/// The character set that an argument names.
fn charset_of(argument: Argument<'_>) -> Result<Charset, String> {
    let Argument::Text(name) = argument else { return Err("the character set must be a text literal".to_owned()) };
    let known = "UTF-8, UTF-16, ISO-8859-1 and US-ASCII are";
    Charset::of(name).ok_or_else(|| format!("character set {name:?} is not offered: {known}"))
}

fn base(scope: &str) -> Option<SourceScope> {
    Some(match scope {
        "default" | "synapse" => SourceScope::Default,
        "axis2" => SourceScope::Axis2,
        "axis2-client" => SourceScope::Axis2Client,
        "operation" => SourceScope::Operation,
        "transport" => SourceScope::Transport,
        "system" | "env" => SourceScope::System,
        "func" => SourceScope::Function,
        "registry" => SourceScope::External(ExternalSource::Registry),
        "file" => SourceScope::External(ExternalSource::File),
        _ => return None,
    })
}
