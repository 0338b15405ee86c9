//! What is to be said of the keys of a `deployment.toml`: misspelt ones, those without an effect, and values where a table
//! has to be.

use std::collections::BTreeSet;
use std::ops::Range;

use myelin_engine::Problem;
use myelin_spelling::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::content::BUILDERS;
use super::file_text::FileText;
use super::keys::Standing::{Heeded, Later, Needless};
use super::keys::{INNER, KEYS, standing};

/// What is to be said of the keys of a file.
#[derive(Default)]
pub(super) struct Findings {
    /// What keeps the file from being used: a value where a table has to be, and the other way round.
    pub(super) problems: Vec<Problem>,
    /// What has no effect.
    pub(super) warnings: Vec<Problem>,
}

/// Looks at all keys of a file; in one that is no TOML there are none.
pub(super) fn examine(source: &FileText<'_>) -> Findings {
    let mut walk = Walk { source, told: BTreeSet::new(), findings: Findings::default() };
    if let Some(table) = &source.table {
        walk.table("", table);
    }
    walk.findings
}

struct Walk<'a> {
    source: &'a FileText<'a>,
    /// Of a table that all is said of, it is said once.
    told: BTreeSet<&'static str>,
    findings: Findings,
}

impl Walk<'_> {
    fn table(&mut self, above: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let path = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
            match misspelt_part(&path, above) {
                // The name of the table is reported; the keys inside it are not.
                Some(meant) => self.unknown(&path, key.span(), [meant.as_str()]),
                None => self.value(&path, key.span(), value),
            }
        }
    }

    fn value(&mut self, path: &str, span: Range<usize>, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) if !table.is_empty() => self.table(path, table),
            DeValue::Array(items) if items.iter().any(|item| matches!(item.get_ref(), DeValue::Table(_))) => {
                if is_table(path) {
                    let message = format!("{path} is a list of tables, [[{path}]]: one table is needed, [{path}]");
                    return self.findings.problems.push(self.source.problem(span, message));
                }
                items.iter().for_each(|item| self.value(path, span.clone(), item));
            }
            DeValue::Table(_) => self.key(path, span),
            _ if is_table(path) => {
                let message = format!("{path}: a table is needed, [{path}]");
                self.findings.problems.push(self.source.problem(value.span(), message));
            }
            _ => self.key(path, span),
        }
    }

    fn key(&mut self, path: &str, span: Range<usize>) {
        let said = match standing(path) {
            Some((table, Heeded(_))) => match inner(table) {
                Some(names) if table != path && !is_inner(path, table, &names) => {
                    let names: Vec<String> = names.iter().map(|name| format!("{table}.{name}")).collect();
                    return self.unknown(path, span, names.iter().map(String::as_str));
                }
                _ => return,
            },
            // A table that has no effect as a whole may hold keys that have one, and a misspelt one is none of the others.
            Some((key, _))
                if key != path
                    && let Some(meant) = misspelt(path, key) =>
            {
                return self.unknown(path, span, [meant]);
            }
            Some((key, Later(why) | Needless(why))) if self.told.insert(key) => format!("{key} has no effect: {why}"),
            Some(_) => return,
            None => return self.unknown(path, span, KEYS.iter().map(|(key, _)| *key)),
        };
        self.findings.warnings.push(self.source.problem(span, said));
    }

    fn unknown<'b>(&mut self, path: &str, span: Range<usize>, known: impl IntoIterator<Item = &'b str>) {
        let message = format!("{path} is unknown and has no effect");
        self.findings.warnings.push(self.source.misspelt(span, message, path, known));
    }
}

/// Whether a path is that of one table: that of a key store, or one that holds keys that are heeded.
fn is_table(path: &str) -> bool {
    let below = |key: &str| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    let is_above = || KEYS.iter().any(|(key, standing)| below(key) && matches!(standing, Heeded(_)));
    let is_key = KEYS.iter().find(|(key, _)| *key == path);
    match is_key {
        Some((_, Heeded(heed))) => heed.value.starts_with("a table"),
        _ => is_above(),
    }
}

/// The keys of a table that is heeded as a whole; `None` where any may be.
fn inner(table: &str) -> Option<Vec<&'static str>> {
    match table {
        "message_builders" | "message_formatters" => Some(BUILDERS.iter().map(|(key, _)| *key).collect()),
        _ => INNER.iter().find(|(known, _)| *known == table).map(|(_, names)| names.to_vec()),
    }
}

/// Whether a path is that of one of the keys of a table, or in one.
fn is_inner(path: &str, table: &str, names: &[&str]) -> bool {
    let rest = path.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')).unwrap_or_default();
    names.iter().any(|name| rest.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// The path that was meant where the last part of one is unknown in the table above it and close to a part that leads to
/// something heeded, or, where nothing at all is known of it, to any.
fn misspelt_part(path: &str, above: &str) -> Option<String> {
    let name = path.strip_prefix(above)?.trim_start_matches('.');
    let reaches = |key: &str| key == path || key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    // Keys that hold dots themselves are compared as a whole.
    if name.contains('.') || KEYS.iter().any(|(key, _)| reaches(key)) {
        return None;
    }
    let is_covered = match standing(path) {
        Some((_, Heeded(_))) => return None,
        Some(_) => true,
        None => false,
    };
    let known = KEYS.iter().filter(|(_, standing)| !is_covered || matches!(standing, Heeded(_)));
    let siblings = known.filter_map(|(key, _)| {
        let below = if above.is_empty() { key } else { key.strip_prefix(above)?.strip_prefix('.')? };
        below.split('.').next()
    });
    let meant = nearest(name, siblings)?;
    Some(if above.is_empty() { meant.to_owned() } else { format!("{above}.{meant}") })
}

/// The key in a table that has an effect and that a path in it is close to.
fn misspelt(path: &str, table: &str) -> Option<&'static str> {
    let heeded = KEYS.iter().filter(|(_, standing)| matches!(standing, Heeded(_))).map(|(key, _)| *key);
    nearest(path, heeded.filter(|key| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(ToString::to_string).collect()
    }

    fn warnings(text: &str) -> Vec<String> {
        let findings = examine(&FileText::new("d.toml", text));
        assert!(findings.problems.is_empty(), "{:?}", findings.problems);
        told(&findings.warnings)
    }

    #[test]
    fn what_has_no_effect_is_told_with_its_place_and_once() {
        let text = "[server]\nhostname = 'h'\noffest = 3\n[transport.jms]\nlistener.enable = true\n\
                    [[transport.jms.sender]]\nname = 'x'\n[nonsense]\na.b = 1\n[transport.http]\nlistener.port = 1\n\
                    [[custom_transport.sender]]\nclass = 'a.B'\n";
        let expected = [
            "d.toml:3:1: server.offest is unknown and has no effect; did you mean server.offset?",
            "d.toml:5:10: transport.jms has no effect: JMS is not supported yet",
            "d.toml:9:3: nonsense.a.b is unknown and has no effect",
            "d.toml:13:1: custom_transport has no effect: it names a Java class, which cannot run in a native program",
        ];
        assert_eq!(warnings(text), expected);
    }

    #[test]
    fn a_misspelt_key_of_a_table_that_has_no_effect_is_told_apart() {
        let text = "[transport.http]\nsocket_timout = 1\nlistner.port = 1\nlistener.prot = 1\nlistener.backlog = 1\n\
                    [transport.https]\nlistener.protocol = 'x'\n";
        let expected = [
            "d.toml:2:1: transport.http.socket_timout is unknown and has no effect; did you mean transport.http.socket_timeout?",
            "d.toml:3:1: transport.http.listner is unknown and has no effect; did you mean transport.http.listener?",
            "d.toml:4:10: transport.http.listener.prot is unknown and has no effect; did you mean transport.http.listener.port?",
            "d.toml:5:10: transport.http.listener has no effect: [myelin.server] holds the settings of listeners",
            "d.toml:7:10: transport.https.listener.protocol is unknown and has no effect; did you mean transport.https.listener.protocols?",
        ];
        assert_eq!(warnings(text), expected);
    }

    #[test]
    fn a_misspelt_table_is_told_once_with_its_line() {
        let text = "[transprot.http]\nlistener.port = 1\nlistener.enable = true\n[[datsource]]\nid = 'a'\nurl = 'b'\n";
        let findings = examine(&FileText::new("d.toml", text));
        let expected = [
            "d.toml:1:2: transprot is unknown and has no effect; did you mean transport?",
            "d.toml:4:3: datsource is unknown and has no effect; did you mean datasource?",
        ];
        assert_eq!(told(&findings.warnings), expected);
        let shown = findings.warnings[0].excerpt().unwrap().to_text();
        assert_eq!(shown, "1 | [transprot.http]\n  |  ^^^^^^^^^\n");
        assert_eq!(findings.warnings[1].suggestion(), Some("datasource"));
    }

    #[test]
    fn a_misspelt_key_of_a_table_that_is_heeded_as_a_whole_is_told() {
        let text = "[keystore.tls]\nfilename = 'a'\npasword = 'b'\n[[internal_apis.users]]\nuser.nmae = 'a'\n\
                    [[datasource]]\nid = 'a'\nusrname = 'b'\npool_options.x = 1\n[message_builders]\naplication_xml = 'a'\n";
        let expected = [
            "d.toml:2:1: keystore.tls.filename is unknown and has no effect; did you mean keystore.tls.file_name?",
            "d.toml:3:1: keystore.tls.pasword is unknown and has no effect; did you mean keystore.tls.password?",
            "d.toml:5:6: internal_apis.users.user.nmae is unknown and has no effect; did you mean internal_apis.users.user.name?",
            "d.toml:8:1: datasource.usrname is unknown and has no effect; did you mean datasource.username?",
            "d.toml:11:1: message_builders.aplication_xml is unknown and has no effect; did you mean message_builders.application_xml?",
        ];
        assert_eq!(warnings(text), expected);
    }

    #[test]
    fn a_value_where_a_table_has_to_be_is_a_problem() {
        let text = "transport = 1\n[keystore]\ntls = 'a.jks'\n[[mediation]]\nx = 1\n[[truststore]]\nfile_name = 'a'\n";
        let expected = [
            "d.toml:1:13: transport: a table is needed, [transport]",
            "d.toml:3:7: keystore.tls: a table is needed, [keystore.tls]",
            "d.toml:4:3: mediation is a list of tables, [[mediation]]: one table is needed, [mediation]",
            "d.toml:6:3: truststore is a list of tables, [[truststore]]: one table is needed, [truststore]",
        ];
        assert_eq!(told(&examine(&FileText::new("d.toml", text)).problems), expected);
    }
}
