//! Reads templates: tags and what stands between them, block by block.

mod expression;
mod tags;
mod token;

use std::ops::Range;

pub(crate) use expression::Parser;
use tags::loop_variables;

use crate::error::{ErrorKind, Refusal};
use crate::escape::{self, Format};
use crate::names::{Names, Symbol};
use crate::scan::{Kind, Piece, scan};
use crate::stack::with_enough;
use crate::syntax::{Block, Callable, Expression, ExpressionKind, Header, Instruction};

/// How deep blocks may lie in each other.
const DEPTH: usize = 100;

/// Tags of FreeMarker that are not offered.
const ELSEWHERE: &[&str] =
    &["foreach", "include", "import", "visit", "recurse", "fallback", "transform", "t", "lt", "rt", "nt", "comment"];

/// A template in parts.
pub(crate) struct Parsed {
    pub(crate) block: Block,
    pub(crate) callables: Vec<Callable>,
    pub(crate) names: Names,
    pub(crate) header: Header,
}

/// Reads a template; `inside` says whether something stands on the lines around it.
pub(crate) fn parse(text: &str, inside: bool) -> Result<Parsed, Refusal> {
    if text.trim_start().starts_with("[#ftl") {
        let message = "tags in square brackets are not offered: write <#…>".to_owned();
        return Err((ErrorKind::Unsupported, text.len() - text.trim_start().len(), message));
    }
    let mut reader = Reader {
        text,
        pieces: scan(text, inside)?.into_iter().peekable(),
        names: Names::default(),
        callables: Vec::new(),
        header: Header::default(),
        format: None,
        language: None,
        escapes: Vec::new(),
        open: Vec::new(),
        depth: 0,
    };
    reader.read_header()?;
    let block = reader.block("", &[])?.0;
    Ok(Parsed { block, callables: reader.callables, names: reader.names, header: reader.header })
}

struct Reader<'a> {
    text: &'a str,
    pieces: std::iter::Peekable<std::vec::IntoIter<Piece>>,
    names: Names,
    callables: Vec<Callable>,
    header: Header,
    /// How interpolations are escaped here.
    format: Option<Format>,
    /// The language of the output here.
    language: Option<Format>,
    /// What `#escape` says, the innermost last.
    escapes: Vec<(Symbol, Expression)>,
    /// The blocks around, the innermost last.
    open: Vec<&'static str>,
    depth: usize,
}

/// What ended a block: the name of the tag, and the rest of it.
type End = Option<(String, Range<usize>)>;

impl<'a> Reader<'a> {
    fn parser(&mut self, range: Range<usize>) -> Parser<'_> {
        Parser::new(self.text, range, &mut self.names)
    }

    /// One expression that is all there is.
    fn whole(&mut self, range: Range<usize>) -> Result<Expression, Refusal> {
        let mut parser = self.parser(range);
        let expression = parser.expression()?;
        parser.finish()?;
        Ok(expression)
    }

    /// The same, or nothing.
    fn optional(&mut self, range: Range<usize>) -> Result<Option<Expression>, Refusal> {
        if self.text[range.clone()].trim().is_empty() { Ok(None) } else { self.whole(range).map(Some) }
    }

    /// Text that stands there for nothing but itself.
    fn nothing(&mut self, name: &str, rest: &Range<usize>) -> Result<(), Refusal> {
        match self.text[rest.clone()].trim().is_empty() {
            true => Ok(()),
            false => Err((ErrorKind::Syntax, rest.start, format!("<#{name}> has nothing behind its name"))),
        }
    }

    /// `<#ftl …>`, which stands in front of everything.
    fn read_header(&mut self) -> Result<(), Refusal> {
        let mut ahead = self.pieces.clone();
        if ahead
            .peek()
            .is_some_and(|piece| matches!(&piece.kind, Kind::Text(range) if self.text[range.clone()].trim().is_empty()))
        {
            ahead.next();
        }
        let Some(Piece { kind: Kind::Open { name, rest, .. }, .. }) = ahead.next() else { return Ok(()) };
        if name != "ftl" {
            return Ok(());
        }
        // The line break behind the header goes with it.
        if let Some(Piece { kind: Kind::Text(range), .. }) = ahead.peek_mut() {
            let source = &self.text[range.clone()];
            let line = source.find('\n').filter(|&at| source[..at].trim().is_empty());
            range.start += line.map_or(0, |at| at + 1);
        }
        self.pieces = ahead;
        let mut parser = Parser::new(self.text, rest, &mut self.names);
        let mut settings = Vec::new();
        while !parser.is_done() {
            let at = parser.place() as usize;
            let Some(symbol) = parser.name_before(&["="])? else {
                return Err(parser.refuse("<#ftl> has parameters with values"));
            };
            parser.take("=")?;
            settings.push((at, symbol, parser.expression()?));
        }
        let mut auto_escape = None;
        for (at, symbol, value) in settings {
            let wrong = |message: String| (ErrorKind::Unsupported, at, message);
            match (self.names.name(symbol), value.kind) {
                ("output_format" | "outputFormat", ExpressionKind::Text(name)) => {
                    let format = escape::format(&name);
                    self.language = format.ok_or_else(|| wrong(format!("output format {name:?} is not offered")))?;
                }
                ("auto_esc" | "autoEsc", ExpressionKind::Boolean(on)) => auto_escape = Some(on),
                ("ns_prefixes" | "nsPrefixes", ExpressionKind::Hash(members)) => {
                    for member in members {
                        let (ExpressionKind::Text(prefix), ExpressionKind::Text(namespace)) =
                            (member.0.kind, member.1.kind)
                        else {
                            return Err(wrong("ns_prefixes holds texts".to_owned()));
                        };
                        self.header.prefixes.push((prefix.to_string(), namespace.to_string()));
                    }
                }
                ("strip_whitespace" | "stripWhitespace" | "strip_text" | "stripText", ExpressionKind::Boolean(on))
                    if on == (self.names.name(symbol).contains("hite")) => {}
                ("encoding" | "attributes", _) => {}
                (name, _) => return Err(wrong(format!("the parameter {name} of <#ftl> is not offered, or not so"))),
            }
        }
        self.format = self.language.filter(|_| auto_escape != Some(false));
        Ok(())
    }

    /// Everything up to the end tag of `name`, or to one of these tags.
    fn block(&mut self, name: &'static str, ends: &[&str]) -> Result<(Block, End), Refusal> {
        self.depth += 1;
        if self.depth > DEPTH {
            let at = self.pieces.peek().map_or(self.text.len(), |piece| piece.range.start);
            return Err((ErrorKind::Syntax, at, format!("blocks lie in each other more than {DEPTH} deep")));
        }
        self.open.push(name);
        let result = with_enough(|| self.instructions(name, ends));
        self.open.pop();
        self.depth -= 1;
        result
    }

    fn instructions(&mut self, name: &'static str, ends: &[&str]) -> Result<(Block, End), Refusal> {
        let mut block = Block::new();
        while let Some(piece) = self.pieces.next_if(|piece| name != "sep" || !ends_sep(&piece.kind)) {
            let start = piece.range.start;
            match piece.kind {
                Kind::Text(range) if range.is_empty() => {}
                Kind::Text(range) | Kind::Raw(range) => {
                    block.push(Instruction::Text { at: range.start as u32, text: self.text[range].into() });
                }
                Kind::Comment => {}
                Kind::Print(range) => {
                    let expression = self.whole(range)?;
                    let expression = self.escapes.iter().rev().fold(expression, |inner, (symbol, with)| Expression {
                        at: inner.at,
                        kind: ExpressionKind::Escaped(*symbol, Box::new([inner, with.clone()])),
                    });
                    block.push(Instruction::Print { expression, format: self.format });
                }
                Kind::Open { name: tag, rest, .. } if ends.contains(&tag.as_str()) => {
                    return Ok((block, Some((tag, rest))));
                }
                Kind::Open { name: tag, rest, is_closed } => {
                    if let Some(instruction) = self.instruction(&tag, rest, is_closed, start)? {
                        block.push(instruction);
                    }
                }
                Kind::Call { rest, is_closed } => block.push(self.call(rest, is_closed)?),
                Kind::Close { name: tag } if tag == name => return Ok((block, None)),
                Kind::CallEnd if name == "@" => return Ok((block, None)),
                Kind::Close { .. } | Kind::CallEnd => {
                    let message = match name {
                        "" => "nothing is open that this tag could close".to_owned(),
                        name => format!("<#{name}> is open here, and something else is closed"),
                    };
                    return Err((ErrorKind::Syntax, start, message.replace("<#@>", "<@…>")));
                }
            }
        }
        match name {
            "" | "sep" => Ok((block, None)),
            name => {
                Err((ErrorKind::Syntax, self.text.len(), format!("<#{name}> is not closed").replace("<#@>", "<@…>")))
            }
        }
    }

    fn instruction(
        &mut self,
        tag: &str,
        rest: Range<usize>,
        is_closed: bool,
        start: usize,
    ) -> Result<Option<Instruction>, Refusal> {
        let syntax = |message: String| (ErrorKind::Syntax, start, message);
        Ok(Some(match tag {
            "if" => self.conditional(rest)?,
            "list" => self.list(rest)?,
            "items" => {
                if !self.open.contains(&"list") {
                    return Err(syntax("<#items> stands in a <#list> without a variable".to_owned()));
                }
                let mut parser = self.parser(rest);
                let at = parser.place();
                let variables = loop_variables(&mut parser)?;
                parser.finish()?;
                let block = self.block("items", &[])?.0;
                Instruction::Items { at, variables, block }
            }
            "sep" => {
                self.nothing(tag, &rest)?;
                if !self.open.iter().any(|block| matches!(*block, "list" | "items")) {
                    return Err(syntax("<#sep> stands in a <#list>".to_owned()));
                }
                Instruction::Sep(self.block("sep", &[])?.0)
            }
            "assign" | "local" | "global" => return self.assign(tag, rest, is_closed, start).map(Some),
            "switch" => self.switch(rest, start)?,
            "break" | "continue" => {
                self.nothing(tag, &rest)?;
                let inside = ["list", "items", "switch"].iter().any(|block| self.open.contains(block));
                match (inside, tag) {
                    (false, _) => return Err(syntax(format!("<#{tag}> stands in nothing that it could leave"))),
                    (true, "break") => Instruction::Break,
                    (true, _) => Instruction::Continue,
                }
            }
            "macro" | "function" => {
                self.callable(tag, rest, start)?;
                return Ok(None);
            }
            "return" => {
                if !self.open.iter().any(|block| matches!(*block, "macro" | "function")) {
                    return Err(syntax("<#return> stands in a macro or function".to_owned()));
                }
                Instruction::Return(self.optional(rest)?)
            }
            "nested" => {
                if !self.open.contains(&"macro") {
                    return Err(syntax("<#nested> stands in a macro".to_owned()));
                }
                let mut parser = self.parser(rest);
                let mut values = Vec::new();
                while !parser.is_done() {
                    values.push(parser.expression()?);
                    parser.take(",")?;
                }
                Instruction::Nested(values)
            }
            "stop" => Instruction::Stop { at: start as u32, message: self.optional(rest)? },
            "flush" => {
                self.nothing(tag, &rest)?;
                return Ok(None);
            }
            "compress" => {
                self.nothing(tag, &rest)?;
                Instruction::Compress { at: start as u32, block: self.block("compress", &[])?.0 }
            }
            "attempt" => {
                self.nothing(tag, &rest)?;
                let (block, end) = self.block("attempt", &["recover"])?;
                if end.is_none() {
                    return Err(syntax("<#attempt> needs a <#recover>".to_owned()));
                }
                let recover = self.block("attempt", &[])?.0;
                Instruction::Attempt { at: start as u32, block, recover }
            }
            "escape" => {
                let mut parser = self.parser(rest);
                let symbol = parser.name()?;
                if !parser.take_word("as")? {
                    return Err(parser.refuse("<#escape> says: x as an expression with x"));
                }
                let with = parser.expression()?;
                parser.finish()?;
                self.escapes.push((symbol, with));
                let block = self.block("escape", &[])?.0;
                self.escapes.pop();
                Instruction::Block(block)
            }
            "noescape" => {
                self.nothing(tag, &rest)?;
                let last = self.escapes.pop().ok_or_else(|| syntax("<#noescape> stands in <#escape>".to_owned()))?;
                let block = self.block("noescape", &[])?.0;
                self.escapes.push(last);
                Instruction::Block(block)
            }
            "outputformat" | "autoesc" | "noautoesc" => self.escaping(tag, rest, start)?,
            "setting" => self.setting(rest)?,
            "ftl" => return Err(syntax("<#ftl> stands in front of everything else".to_owned())),
            "else" | "elseif" | "case" | "default" | "recover" => {
                return Err(syntax(format!("<#{tag}> stands where nothing is open that has one")));
            }
            other if ELSEWHERE.contains(&other) => {
                return Err((ErrorKind::Unsupported, start, format!("<#{other}> is not offered")));
            }
            other => return Err(syntax(format!("there is no <#{other}>"))),
        }))
    }
}

/// Whether a tag ends a `<#sep>` that has no end tag of its own.
fn ends_sep(kind: &Kind) -> bool {
    match kind {
        Kind::Close { name } => matches!(name.as_str(), "list" | "items"),
        Kind::Open { name, .. } => name == "else",
        _ => false,
    }
}
