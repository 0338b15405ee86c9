//! From the texts of a script to what the engine is given.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Problem;
use crate::lexer::{self, Kind, Token};
use crate::machine::Machine;
use crate::refusal;
use crate::script::{Call, Code, Script, Source};

/// Whoever says one of these may change the language itself.
const WILD: &[&str] = &["prototype", "__proto__", "defineProperty", "defineProperties", "setPrototypeOf", "globalThis"];

/// The methods that tell what a script needs of the message, and what it changes.
const TELLING: &[&str] = &[
    "addHeader",
    "getEnvelope",
    "getEnvelopeXML",
    "getFaultTo",
    "getFrom",
    "getMessageID",
    "getMessageString",
    "getPayloadJSON",
    "getPayloadText",
    "getPayloadXML",
    "getReplyTo",
    "getSoapAction",
    "getTo",
    "getWSAAction",
    "getWSAMessageID",
    "isSOAP11",
    "jsonObject",
    "setPayloadJSON",
    "setPayloadXML",
];

impl Script {
    /// Compiles a script from its parts, one behind the other.
    ///
    /// Errors: a [`Problem`] where it is not JavaScript, or needs what another engine offers; the author's.
    pub fn compile(sources: Vec<Source>, call: &Call) -> Result<Script, Problem> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut words = Vec::new();
        let mut is_tame = true;
        for source in &sources {
            let tokens = lexer::tokens(&source.text);
            if let Some((offset, message)) = refusal::find(&tokens) {
                return Err(Problem { place: Some(source.place(offset)), message });
            }
            // A method can be called by a name that stands in a text.
            words.extend(TELLING.iter().filter(|word| source.text.contains(**word)));
            is_tame &= !WILD.iter().any(|word| source.text.contains(word));
        }
        let mut machine = Machine::new(true).map_err(|message| Problem { place: None, message })?;
        let code = match call {
            Call::Function(name) => function(&sources, name)?,
            Call::Whole => whole(&sources, &mut |code| machine.check(code).is_ok()),
        };
        let script = Script { id: NEXT.fetch_add(1, Ordering::Relaxed), code, is_tame, sources, words };
        match machine.check(&script.code) {
            Ok(()) => Ok(script),
            Err((message, line)) => Err(Problem { place: line.and_then(|line| script.place(line)), message }),
        }
    }
}

impl Code {
    /// The text of a function that has a body and nothing else.
    fn of(body: &str) -> Code {
        Code::Function(format!("(function(mc){{{body}\n}})"))
    }
}

fn function(sources: &[Source], name: &str) -> Result<Code, Problem> {
    let is_word = |token: &Token<'_>| token.kind == Kind::Word && token.text == name;
    if !sources.iter().any(|source| lexer::tokens(&source.text).iter().any(is_word)) {
        let message = format!("there is no function {name:?} in the script");
        return Err(Problem { place: sources.first().map(|source| source.place(0)), message });
    }
    let texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
    Ok(Code::of(&format!("{}\n;return {name}(mc);", texts.join("\n"))))
}

/// Makes a function of a text whose last statement is an expression; the result of any other only `eval` tells.
fn whole(sources: &[Source], compiles: &mut dyn FnMut(&Code) -> bool) -> Code {
    /// How many places are tried at which the last statement may begin.
    const TRIED: usize = 16;
    let text = sources.iter().map(|source| source.text.as_str()).collect::<Vec<_>>().join("\n");
    let mut tokens = lexer::tokens(&text);
    while tokens.pop_if(|token| token.text == ";").is_some() {}
    let Some(end) = tokens.last().map(|token| token.start + token.text.len()) else { return Code::Text(text) };
    let starts = (0..tokens.len()).rev().filter(|&at| may_begin(&tokens, at)).take(TRIED);
    for start in starts.map(|at| tokens[at].start) {
        let (before, last) = (&text[..start], &text[start..end]);
        if compiles(&Code::of(&format!("return ({last}\n)"))) && compiles(&Code::of(before)) {
            return Code::of(&format!("{before}return ({last}\n);"));
        }
    }
    Code::Text(text)
}

/// Whether a statement that is an expression may begin at a token.
fn may_begin(tokens: &[Token<'_>], at: usize) -> bool {
    /// What begins another statement, or goes on with one.
    const OTHERS: &[&str] = &["{", "async", "class", "function", "in", "instanceof", "let"];
    let token = tokens[at];
    let is_behind_statement = at == 0 || matches!(tokens[at - 1].text, ";" | "}");
    let begins_line = token.starts_line
        && match token.kind {
            Kind::Sign => matches!(token.text, "!" | "~" | "++" | "--"),
            Kind::Literal => !token.text.starts_with(['`', '/']),
            Kind::Word => true,
        };
    token.depth == 0 && (is_behind_statement || begins_line) && !OTHERS.contains(&token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { file: "a.xml".into(), line: 10, column: 1, text: text.to_owned() }
    }

    fn check(text: &str, expected: &str) {
        let script = Script::compile(vec![source(text)], &Call::Whole).unwrap();
        match &script.code {
            Code::Function(code) => assert!(!expected.is_empty() && code.contains(expected), "{text}: {code}"),
            Code::Text(_) => assert_eq!(expected, "", "{text}"),
        }
    }

    #[test]
    fn a_text_that_ends_in_an_expression_becomes_a_function() {
        check("mc.setPayloadJSON({});", "return (mc.setPayloadJSON({})");
        check("var a = 1; a\n == 1 // so it is", "; return (a\n == 1");
        check("var a = [1,\n 2]\na.length", "]\nreturn (a.length");
        check("if (x) { y() }\n z = {\n a: 1 };", "}\n return (z = {\n a: 1 }");
        check("function f() {} f()", "{} return (f()");
    }

    #[test]
    fn the_result_of_any_other_is_known_to_eval_alone() {
        check("if (mc) { false }", "");
        check("if (mc)\n false", "");
        check("1 == 2; var a = 3", "");
        check("for (var i = 0; i < 3; i++)\n i == 1", "");
        check("", "");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let check = |text: &str, call: Call, line: Option<u32>, message: &str| {
            let problem = Script::compile(vec![source("// first\n\n"), source(text)], &call).unwrap_err();
            assert_eq!(problem.place.as_ref().map(|place| place.line), line, "{problem}");
            assert!(problem.message.contains(message), "{problem}");
        };
        check("var a = 1;\nvar b = = 2;", Call::Whole, Some(11), "unexpected token");
        check("function f(mc) {\n return <a/>; }", Call::Function("f".to_owned()), Some(11), "E4X");
        check("function f(mc) {}", Call::Function("g".to_owned()), Some(10), "no function \"g\"");
    }
}
