//! The grammar of Synapse expressions.
//!
//! Source: WSO2's `ExpressionLexer.g4` and `ExpressionParser.g4`.
//! A comparison binds tighter than `and` and `or`, as WSO2's documentation has it and its grammar has not.

use myelin_config::element::Text;
use myelin_flow::property::ExternalSource;
use myelin_java_text::pattern::Finder;

use crate::compiler::Compiler;
use crate::error::CompileError;
use crate::result_type::ResultType;
use crate::secrets;
use crate::source::{Source, SourceScope};
use crate::synapse::arithmetic::Operator;
use crate::synapse::datetime::Pattern;
use crate::synapse::function::Function;
use crate::synapse::tree::{Comparison, Date, Junction, Node, Prepared};
use crate::xpath::{XPath, XPathOrSource};

/// Parentheses, arguments and the like within each other; what evaluates them recurses as deep.
const LIMIT_NESTING: usize = 32;

/// Bytes of one expression.
const LIMIT_BYTES: usize = 64 << 10;

/// An expression that is being read.
pub(super) struct Parser<'t, 'l> {
    pub(super) text: Text<'t>,
    pub(super) at: usize,
    nesting: usize,
    compiler: &'l mut Compiler,
}

impl<'t, 'l> Parser<'t, 'l> {
    /// Begins at a byte of a text.
    pub(super) fn new(text: Text<'t>, at: usize, compiler: &'l mut Compiler) -> Parser<'t, 'l> {
        Parser { text, at, nesting: 0, compiler }
    }

    /// Reads an expression up to its closing brace, which is left where it is.
    pub(super) fn whole(&mut self) -> Result<Node, CompileError> {
        let start = self.at;
        let node = self.expression()?;
        self.skip_blanks();
        if self.at - start > LIMIT_BYTES {
            return Err(CompileError::new(start, format!("an expression has at most {LIMIT_BYTES} bytes")));
        }
        match self.peek() {
            Some(b'}') => Ok(node),
            _ => self.fail("expected an operator or `}`"),
        }
    }

    /// The expression with all its operators.
    pub(super) fn expression(&mut self) -> Result<Node, CompileError> {
        self.nested(|parser| {
            let mut cases = Vec::new();
            loop {
                let node = parser.logic()?;
                if !parser.take("?") {
                    return Ok(if cases.is_empty() { node } else { Node::Choice(cases, Box::new(node)) });
                }
                let then = parser.expression()?;
                parser.expect(":")?;
                cases.push((node, then));
            }
        })
    }

    /// `a and b or c`: both bind alike, and from the right, as in Synapse.
    pub(super) fn logic(&mut self) -> Result<Node, CompileError> {
        let mut parts = Vec::new();
        loop {
            let node = self.comparison()?;
            let junction = if self.take("&&") || self.take_word("and") {
                Junction::And
            } else if self.take("||") || self.take_word("or") {
                Junction::Or
            } else {
                return Ok(if parts.is_empty() { node } else { Node::Logic(parts, Box::new(node)) });
            };
            parts.push((node, junction));
        }
    }

    /// Sums that are compared, from the left.
    fn comparison(&mut self) -> Result<Node, CompileError> {
        let start = self.at;
        let mut left = self.sum()?;
        loop {
            let end = self.at;
            let Some((symbol, operator)) = COMPARISONS.iter().find(|(symbol, _)| self.take(symbol)) else {
                return Ok(left);
            };
            let behind = self.at;
            let right = self.sum()?;
            let written = [start..end, behind..self.at].map(|range| self.text.value[range].trim().into());
            left = Node::Comparison(Box::new(Comparison { left, operator: *operator, symbol, right, written }));
        }
    }

    fn sum(&mut self) -> Result<Node, CompileError> {
        self.chain(Parser::product, &[("+", Operator::Plus), ("-", Operator::Minus)])
    }

    fn product(&mut self) -> Result<Node, CompileError> {
        let operators = &[("*", Operator::Times), ("/", Operator::Divided), ("%", Operator::Modulo)];
        self.chain(Parser::factor, operators)
    }

    /// Parts with operators between them, which bind alike and from the left.
    fn chain(
        &mut self,
        part: fn(&mut Self) -> Result<Node, CompileError>,
        operators: &[(&str, Operator)],
    ) -> Result<Node, CompileError> {
        let first = part(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.take(symbol)) {
            rest.push((*operator, part(self)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Chain(Box::new(first), rest) })
    }

    /// A literal, a call, something that is read, or what stands in parentheses.
    pub(super) fn factor(&mut self) -> Result<Node, CompileError> {
        self.skip_blanks();
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        match self.peek() {
            Some(b'"' | b'\'') => self.string().map(|text| Node::Text(text.to_owned())),
            Some(b'-') if !is_digit(self.byte(self.at + 1)) => {
                self.at += 1;
                Ok(Node::Negative(Box::new(self.nested(Parser::factor)?)))
            }
            Some(b'-' | b'0'..=b'9') => Ok(Node::Number(self.number().to_owned())),
            Some(b'!') => {
                self.at += 1;
                Ok(Node::Call(Function::Not, vec![self.nested(Parser::factor)?]))
            }
            Some(b'(') => {
                self.at += 1;
                let node = self.expression()?;
                self.expect(")")?;
                Ok(node)
            }
            Some(b'[') => {
                self.at += 1;
                self.list("]").map(Node::Array)
            }
            Some(b'$') => {
                self.at += 1;
                Ok(Node::Payload(self.route()?))
            }
            _ => self.named(),
        }
    }

    /// What begins with a name.
    fn named(&mut self) -> Result<Node, CompileError> {
        let start = self.at;
        let name = self.name();
        match name {
            "" => self.fail("expected a value"),
            "true" | "false" => Ok(Node::Boolean(name == "true")),
            "null" => Ok(Node::Null),
            "payload" => Ok(Node::Payload(self.route()?)),
            "vars" => {
                let name = self.key()?.to_owned();
                let slot = self.compiler.names().slot(&name);
                Ok(Node::Variable(slot, name, self.route()?))
            }
            "headers" => self.key().map(|name| Node::Read(Source::Header(name.to_owned()), name.to_owned())),
            "props" | "properties" => self.scoped(&[("synapse", SourceScope::Default, ""), ("axis2", SourceScope::Axis2, "")]),
            "params" => self.scoped(&[
                ("queryParams", SourceScope::Default, "query.param."),
                ("pathParams", SourceScope::Default, "uri.var."),
                ("functionParams", SourceScope::Function, ""),
            ]),
            "configs" => {
                let name = self.key()?;
                let value = self.compiler.injected(name).map_err(|message| CompileError::missing(start, message))?;
                Ok(Node::Read(Source::Loaded(value), name.to_owned()))
            }
            "var" | "config" => self.fail_at(start, format!("`{name}` was a name of an early version: write `{name}s`")),
            name if self.peek_behind_blanks() == Some(b'(') => self.call(start, name),
            other => self.fail_at(
                start,
                format!(
                    "{other:?} is unknown; write payload, vars, headers, props, params or configs with a name, a function \
                     with its parentheses, or a text in quotes"
                ),
            ),
        }
    }

    /// `.scope.name`
    fn scoped(&mut self, scopes: &[(&str, SourceScope, &str)]) -> Result<Node, CompileError> {
        self.expect(".")?;
        let start = self.at;
        let scope = self.name();
        let Some((_, base, beginning)) = scopes.iter().find(|(known, ..)| *known == scope) else {
            let known: Vec<&str> = scopes.iter().map(|(known, ..)| *known).collect();
            return self.fail_at(start, format!("expected one of {}", known.join(", ")));
        };
        let name = format!("{beginning}{}", self.key()?);
        Ok(Node::Read(Source::property(*base, &name, self.compiler.names()), name))
    }

    fn call(&mut self, start: usize, name: &'t str) -> Result<Node, CompileError> {
        self.expect("(")?;
        match name {
            "xpath" => return self.xpath(),
            "registry" => return self.registry(),
            "wso2-vault" | "secret" => {
                let alias = self.literal("the alias of a secret")?;
                self.expect(")")?;
                let secret = secrets::secret(alias, "", self.compiler)
                    .map_err(|message| CompileError::missing(start, message))?;
                return Ok(Node::Text(secret));
            }
            "hashicorp-vault" => return self.fail_at(start, secrets::NO_HASHICORP),
            "split" => return self.split(),
            "formatDateTime" => return self.date(),
            _ => {}
        }
        let Some((function, arity)) = Function::named(name) else {
            return self.fail_at(start, format!("there is no function {name:?}"));
        };
        let arguments = self.list(")")?;
        if !arity.contains(&arguments.len()) {
            return self.fail_at(start, format!("{name}() does not take {} arguments", arguments.len()));
        }
        let node = Node::Call(function, arguments);
        match function {
            Function::Object | Function::Array => self.inside(node),
            _ => Ok(node),
        }
    }

    /// `split(text, pattern)`
    fn split(&mut self) -> Result<Node, CompileError> {
        let text = self.expression()?;
        self.expect(",")?;
        let pattern = self.prepared(Finder::compile)?;
        self.expect(")")?;
        Ok(Node::Split(Box::new(text), Box::new(pattern)))
    }

    /// `formatDateTime(milliseconds, to)`, `formatDateTime(date, from, to)`
    fn date(&mut self) -> Result<Node, CompileError> {
        let date = self.expression()?;
        self.expect(",")?;
        let mut patterns = vec![self.prepared(Pattern::formatter)?];
        if self.take(",") {
            patterns.push(self.prepared(Pattern::formatter)?);
        }
        self.expect(")")?;
        let to = patterns.pop();
        let from = patterns.pop();
        Ok(Node::Date(Box::new(Date { date, from, to: to.expect("one was read, and perhaps another") })))
    }

    /// An argument that is compiled: now if it is a text in quotes.
    fn prepared<T>(&mut self, compile: impl FnOnce(&str) -> Result<T, String>) -> Result<Prepared<T>, CompileError> {
        self.skip_blanks();
        let start = self.at;
        match self.expression()? {
            Node::Text(text) => {
                compile(&text).map(Prepared::Fixed).map_err(|message| CompileError::new(start, message))
            }
            node => Ok(Prepared::Open(node)),
        }
    }

    /// What a path that may follow finds in what a call gives.
    fn inside(&mut self, node: Node) -> Result<Node, CompileError> {
        Ok(match self.route()? {
            Some(route) => Node::Inside(Box::new(node), route),
            None => node,
        })
    }

    /// `xpath("…")`, or `xpath("…", "variable")` for what a variable holds.
    fn xpath(&mut self) -> Result<Node, CompileError> {
        self.skip_blanks();
        let start = self.at + 1;
        let path = self.literal("an XPath")?;
        let kind = match self.take(",") {
            false => self.compile_xpath(self.text.part(start..start + path.len()), start)?,
            true => {
                let variable = self.literal("the name of a variable")?;
                let whole = format!("$var:{variable}{path}");
                self.compile_xpath(self.text.standing_for(&whole), start)?
            }
        };
        self.expect(")")?;
        Ok(Node::XPath(Box::new(kind)))
    }

    fn compile_xpath(&mut self, text: Text<'_>, start: usize) -> Result<XPathOrSource, CompileError> {
        // Several passes for one expression would be more than one look at the tree.
        XPath::compile(text, ResultType::Nodes, self.compiler).map_err(|error| error.behind(start))
    }

    /// `registry("key")`, or with an expression that gives the key, perhaps with `.property("name")` or a path behind it.
    fn registry(&mut self) -> Result<Node, CompileError> {
        let key = self.nested(Parser::logic)?;
        self.expect(")")?;
        let property = match self.take(".property(") {
            false => None,
            true => {
                let name = self.literal("the name of a property")?.to_owned();
                self.expect(")")?;
                Some(name)
            }
        };
        let key = match (key, property) {
            (Node::Text(key), None) => key,
            (Node::Text(key), Some(property)) => format!("{key}@{property}"),
            (key, property) => {
                self.compiler.names().any_external(ExternalSource::Registry);
                return self.inside(Node::ResourceOf(Box::new(key), property));
            }
        };
        let source = Source::property(SourceScope::External(ExternalSource::Registry), &key, self.compiler.names());
        self.inside(Node::Resource(source, key))
    }

    /// A text in quotes where nothing else will do: what is not known while loading cannot be compiled or read.
    fn literal(&mut self, what: &str) -> Result<&'t str, CompileError> {
        self.skip_blanks();
        match self.peek() {
            Some(b'"' | b'\'') => self.string(),
            _ => self.fail(format!("{what} is known before there is a message: a text in quotes")),
        }
    }

    /// Expressions with commas between them, up to what closes them.
    fn list(&mut self, close: &str) -> Result<Vec<Node>, CompileError> {
        let mut nodes = Vec::new();
        if self.take(close) {
            return Ok(nodes);
        }
        loop {
            nodes.push(self.expression()?);
            if !self.take(",") {
                self.expect(close)?;
                return Ok(nodes);
            }
        }
    }

    /// `.name`, `["name"]` or `.["name"]`
    fn key(&mut self) -> Result<&'t str, CompileError> {
        let has_dot = self.take(".");
        if self.take("[") {
            let key = self.literal("a name in brackets")?;
            self.expect("]")?;
            return Ok(key);
        }
        let name = match self.peek() {
            Some(b'"' | b'\'') if has_dot => self.string()?,
            _ if has_dot => self.name(),
            _ => "",
        };
        if name.is_empty() { self.fail("expected a name: `.name` or `[\"name\"]`") } else { Ok(name) }
    }

    /// A string from quote to quote: what stands between them is taken as it is, backslashes included, as in Synapse.
    pub(super) fn string(&mut self) -> Result<&'t str, CompileError> {
        let start = self.at + 1;
        let quote = self.byte(self.at);
        let mut end = start;
        while let Some(byte) = self.byte(end) {
            if Some(byte) == quote {
                self.at = end + 1;
                return Ok(&self.text.value[start..end]);
            }
            end += if byte == b'\\' { 2 } else { 1 };
        }
        self.fail("a text is not closed")
    }

    /// A number that begins here: `-?[0-9]+(\.[0-9]+)?`
    pub(super) fn number(&mut self) -> &'t str {
        let start = self.at;
        self.at += 1;
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.peek() == Some(b'.') && self.byte(self.at + 1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        &self.text.value[start..self.at]
    }

    /// A name that begins here, or an empty text; hyphens and digits belong to it.
    pub(super) fn name(&mut self) -> &'t str {
        let rest = &self.text.value[self.at..];
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
        let length = match rest.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            true => rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()),
            false => 0,
        };
        self.at += length;
        &rest[..length]
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        if self.nesting == LIMIT_NESTING {
            return self.fail(format!("nested deeper than {LIMIT_NESTING}"));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, CompileError> {
        Err(CompileError::new(self.at.min(self.text.value.len()), message))
    }

    fn fail_at<T>(&self, at: usize, message: impl Into<String>) -> Result<T, CompileError> {
        Err(CompileError::new(at, message))
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.value.as_bytes().get(at).copied()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    fn peek_behind_blanks(&self) -> Option<u8> {
        self.text.value[self.at..].trim_start().bytes().next()
    }

    fn skip_while(&mut self, mut accept: impl FnMut(u8) -> bool) {
        while self.peek().is_some_and(&mut accept) {
            self.at += 1;
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        self.skip_while(|byte| byte.is_ascii_whitespace());
    }

    /// Steps over a symbol, and blanks before it, if it stands here.
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let rest = self.text.value[self.at..].trim_start_matches(|letter: char| letter.is_ascii_whitespace());
        let here = rest.starts_with(symbol);
        if here {
            self.at = self.text.value.len() - rest.len() + symbol.len();
        }
        here
    }

    /// The same for a word, behind which no other letter stands.
    fn take_word(&mut self, word: &str) -> bool {
        let before = self.at;
        self.skip_blanks();
        if self.name() == word {
            return true;
        }
        self.at = before;
        false
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), CompileError> {
        if self.take(symbol) {
            return Ok(());
        }
        self.skip_blanks();
        self.fail(format!("expected `{symbol}`"))
    }
}

/// The comparisons, the longer symbols first.
const COMPARISONS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
];
