//! Statements as configurations have them, with a `?` for each parameter, and as databases want them.

use std::ops::Range;

use myelin_flow::database::{Answer, Kind, Statement};

/// Whose language a statement is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    MySql,
}

/// Finds the parameters of a statement and writes them as its database wants them.
///
/// What stands in quotes and comments is left alone.
///
/// Errors: a sentence where there are more or fewer than `parameters`, something is not closed, or what JDBC alone
/// understands is in it.
pub(crate) fn translate(
    text: &str,
    parameters: &[Kind],
    answer: Answer,
    dialect: Dialect,
) -> Result<Statement, String> {
    let Found { places, several } = find(text, dialect)?;
    let wanted = places.iter().filter(|place| place.len() == 1).count();
    if wanted != parameters.len() {
        return Err(format!(
            "the number of ? in the statement is {wanted}, but the number of parameters is {}",
            parameters.len()
        ));
    }
    if several && wanted > 0 {
        return Err(
            "a text with several statements cannot have parameters; put each statement into a <statement> of its own"
                .into(),
        );
    }
    if several && matches!(answer, Answer::Row(_)) {
        return Err("a lookup takes one statement; put each statement into a <statement> of its own".into());
    }
    let (mut out, mut done, mut number) = (String::with_capacity(text.len()), 0, 0);
    for place in places {
        out.push_str(&text[done..place.start]);
        done = place.end;
        if place.len() == 1 {
            out.push_str(&placeholder(parameters[number], number + 1, dialect));
            number += 1;
        } else {
            out.push('?');
        }
    }
    out.push_str(&text[done..]);
    Ok(Statement { text: out, several, answer })
}

/// A parameter as a database wants it. What leaves the bus as text and is none says what it is.
fn placeholder(kind: Kind, number: usize, dialect: Dialect) -> String {
    let name = if dialect == Dialect::Postgres { format!("${number}") } else { "?".to_owned() };
    let kind = match (dialect, kind) {
        (Dialect::Postgres | Dialect::Sqlite, Kind::Decimal) => "NUMERIC",
        (Dialect::Postgres, Kind::Date) => "DATE",
        (Dialect::Postgres, Kind::Time) => "TIME",
        (Dialect::Postgres, Kind::Timestamp) => "TIMESTAMP",
        _ => return name,
    };
    format!("CAST({name} AS {kind})")
}

struct Found {
    /// Where there is a `?`, or two that stand for one that is no parameter.
    places: Vec<Range<usize>>,
    /// Whether something follows a semicolon.
    several: bool,
}

fn find(text: &str, dialect: Dialect) -> Result<Found, String> {
    let bytes = text.as_bytes();
    let mut found = Found { places: Vec::new(), several: false };
    let (mut at, mut ended) = (0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let before = at.checked_sub(1).map(|at| bytes[at]);
        if let Some(length) = comment(rest, dialect)? {
            at += length;
            continue;
        }
        found.several |= ended && !rest[0].is_ascii_whitespace() && rest[0] != b';';
        let length = match rest[0] {
            quote @ (b'\'' | b'"' | b'`') => {
                let escapes = match dialect {
                    Dialect::Sqlite => false,
                    Dialect::Postgres => quote == b'\'' && is_escape_string(&bytes[..at]),
                    Dialect::MySql => quote != b'`',
                };
                quoted(rest, quote, escapes)?
            }
            b'[' if dialect == Dialect::Sqlite => quoted(rest, b']', false)?,
            b'$' if dialect == Dialect::Postgres && !before.is_some_and(is_part_of_name) => dollar_quoted(rest)?,
            b'{' if is_jdbc_escape(rest, dialect) => {
                return Err(
                    "a JDBC escape, { }, is not supported; write CALL name(?) or the SQL of the database".into()
                );
            }
            b'?' if dialect == Dialect::Postgres && rest.starts_with(b"??") => {
                found.places.push(at..at + 2);
                2
            }
            b'?' if rest.get(1).is_some_and(u8::is_ascii_digit) => {
                return Err("a numbered parameter is not supported; write ? for each parameter, in order".into());
            }
            b'?' => {
                found.places.push(at..at + 1);
                1
            }
            b';' => {
                ended = true;
                1
            }
            _ => 1,
        };
        at += length;
    }
    Ok(found)
}

/// How long the comment is that begins here.
fn comment(rest: &[u8], dialect: Dialect) -> Result<Option<usize>, String> {
    let line = match rest {
        // MySQL takes two minus signs for a comment only where they stand alone.
        [b'-', b'-', next, ..] => dialect != Dialect::MySql || next.is_ascii_whitespace(),
        [b'-', b'-'] => true,
        [b'#', ..] => dialect == Dialect::MySql,
        _ => false,
    };
    if line {
        return Ok(Some(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())));
    }
    if !rest.starts_with(b"/*") {
        return Ok(None);
    }
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        match rest.get(at..) {
            Some([b'*', b'/', ..]) => (at, depth) = (at + 2, depth - 1),
            Some([b'/', b'*', ..]) if dialect == Dialect::Postgres => (at, depth) = (at + 2, depth + 1),
            Some([_, ..]) => at += 1,
            _ => return Err("a comment is not closed".into()),
        }
    }
    Ok(Some(at))
}

/// How long the quoted text is that begins here; a doubled quote in it ends one and begins another.
fn quoted(rest: &[u8], end: u8, escapes: bool) -> Result<usize, String> {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' if escapes => at += 2,
            _ if byte == end => return Ok(at + 1),
            _ => at += 1,
        }
    }
    Err(format!("a quote is not closed: {}", char::from(rest[0])))
}

/// How long the text is that begins here with `$name$` and ends with the same; 1 where none does.
fn dollar_quoted(rest: &[u8]) -> Result<usize, String> {
    let name = rest[1..].iter().take_while(|byte| is_part_of_name(**byte) && **byte != b'$').count();
    if rest.get(name + 1) != Some(&b'$') || rest[1].is_ascii_digit() {
        return Ok(1);
    }
    let (tag, inside) = rest.split_at(name + 2);
    let end = inside.windows(tag.len()).position(|part| part == tag);
    end.map(|end| end + 2 * tag.len()).ok_or_else(|| "a quote is not closed: $".to_owned())
}

/// Whether the text ends with the `E` that lets PostgreSQL read escapes in the string behind it.
fn is_escape_string(before: &[u8]) -> bool {
    match before {
        [.., name, b'e' | b'E'] => !is_part_of_name(*name),
        [b'e' | b'E'] => true,
        _ => false,
    }
}

fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Whether a brace is JDBC's; MySQL reads those of times itself.
fn is_jdbc_escape(rest: &[u8], dialect: Dialect) -> bool {
    let inside = rest[1..].trim_ascii_start();
    dialect != Dialect::MySql
        || inside.starts_with(b"?")
        || inside.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"call"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: [Kind; 3] = [Kind::Text; 3];

    fn check(dialect: Dialect, parameters: &[Kind], text: &str, expected: &str) {
        let statement =
            translate(text, parameters, Answer::Done, dialect).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(statement.text, expected);
    }

    #[test]
    fn parameters_have_the_form_that_their_database_wants() {
        let text = "update a set b = ? where c = ? and d > ?";
        let kinds = [Kind::Decimal, Kind::Text, Kind::Timestamp];
        let postgres = "update a set b = CAST($1 AS NUMERIC) where c = $2 and d > CAST($3 AS TIMESTAMP)";
        check(Dialect::Postgres, &kinds, text, postgres);
        check(Dialect::Sqlite, &kinds, text, "update a set b = CAST(? AS NUMERIC) where c = ? and d > ?");
        check(Dialect::MySql, &kinds, text, text);
    }

    #[test]
    fn quotes_and_comments_are_left_alone() {
        let same = |dialect, text: &str| check(dialect, &[], text, text);
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql] {
            same(dialect, "select '?''?', \"?\" from a -- ?\n/* ? */");
            same(dialect, "select 'é?' /* ; */ from a -- the end?");
        }
        same(Dialect::Sqlite, "select [?] from `?` where a = '\\'");
        same(Dialect::MySql, "select 'a\\'?', \"\\\"?\" from `?` # ?\n");
        same(Dialect::Postgres, "select E'\\'?', $$?$$, $a$ $b$ ? $a$ /* /* ? */ ? */ from a$b");
        check(Dialect::Postgres, &TEXT[..1], "select 'a\\' || ?", "select 'a\\' || $1");
        check(Dialect::Postgres, &TEXT[..1], "select a ?? ?", "select a ? $1");
        check(Dialect::MySql, &TEXT[..1], "select 1--?", "select 1--?");
        check(Dialect::MySql, &TEXT[..1], "select {d '2026-11-21'}, ?", "select {d '2026-11-21'}, ?");
    }

    #[test]
    fn several_statements_are_told_from_one() {
        let several = |text: &str, dialect| translate(text, &[], Answer::Done, dialect).unwrap().several;
        for text in ["select 1", "select 1;", "select 1 ; -- done\n ;; ", "select ';' as a"] {
            assert!(!several(text, Dialect::Postgres), "{text}");
        }
        assert!(several("delete from a; delete from b", Dialect::MySql));
        assert!(!several("create function f() as $$ begin; end; $$", Dialect::Postgres));
    }

    #[test]
    fn what_cannot_work_is_refused_before_anybody_asks() {
        let refuse = |dialect, parameters: &[Kind], text: &str, part: &str| {
            let error = translate(text, parameters, Answer::Done, dialect).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        };
        refuse(Dialect::Postgres, &TEXT[..1], "select 1", "is 0, but the number of parameters is 1");
        refuse(Dialect::Postgres, &TEXT[..1], "select ?, ?", "the number of ? in the statement is 2");
        refuse(Dialect::Sqlite, &[], "select 'a", "not closed: '");
        refuse(Dialect::Postgres, &[], "select $a$ a", "not closed: $");
        refuse(Dialect::MySql, &[], "select 1 /* a", "comment");
        refuse(Dialect::MySql, &TEXT[..1], "{ call f(?)}", "JDBC");
        refuse(Dialect::Postgres, &[], "select {fn now()}", "JDBC");
        refuse(Dialect::Sqlite, &TEXT[..1], "select ?1", "numbered parameter");
        refuse(Dialect::Sqlite, &TEXT[..1], "delete from a where b = ?; delete from b", "a <statement> of its own");
        let answer = Answer::Row(Vec::new());
        assert!(translate("select 1; select 2", &[], answer, Dialect::Sqlite).unwrap_err().contains("one statement"));
    }
}
