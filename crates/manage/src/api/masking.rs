//! Takes secrets out of configuration text before anybody sees it.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What stands in the place of a secret.
const MASK: &str = "*****";

/// Names behind which secrets stand.
const NAMES: &str = r"[\w.:\-]*(?i:password|passwd|passphrase|secret|token|api[_\-.]?key|private[_\-.]?key|credential|authorization)[\w.:\-]*";

static RULES: LazyLock<[Regex; 6]> = LazyLock::new(|| {
    [
        // An attribute of such a name, and a key of TOML or a properties file.
        format!(r#"(?P<before>\b{NAMES}["']?\s*=\s*")(?P<secret>[^"]*)(?P<after>")"#),
        format!(r#"(?P<before>\b{NAMES}["']?\s*=\s*')(?P<secret>[^']*)(?P<after>')"#),
        // An element of such a name.
        format!(r"(?P<before><(?:{NAMES})(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[)?)(?P<secret>[^<>\]]+)(?P<after>)"),
        // A parameter, a property or a header that is named so: what it holds, and its value.
        format!(r#"(?P<before>\b(?:name|key)\s*=\s*["']{NAMES}["'][^<>]*?\bvalue\s*=\s*["'])(?P<secret>[^"'<>]*)(?P<after>["'])"#),
        format!(r#"(?P<before>\b(?:name|key)\s*=\s*["']{NAMES}["'][^<>]*[^/<>]>\s*(?:<!\[CDATA\[)?|\b(?:name|key)\s*=\s*["']{NAMES}["']>\s*(?:<!\[CDATA\[)?)(?P<secret>[^<>\]]+)(?P<after>)"#),
        // The password in an address, and the value before the name.
        r"(?P<before>://[^/\s:@<>]{1,200}:)(?P<secret>[^/\s@<>]{1,200})(?P<after>@)".to_owned(),
    ]
    // The expressions are constants, and a test compiles them.
    .map(|rule| Regex::new(&rule).expect("a constant expression"))
});

static REVERSED: LazyLock<Regex> = LazyLock::new(|| {
    let rule = format!(
        r#"(?P<before>\bvalue\s*=\s*["'])(?P<secret>[^"'<>]*)(?P<after>["'][^<>]*?\b(?:name|key)\s*=\s*["']{NAMES}["'])"#
    );
    Regex::new(&rule).expect("a constant expression")
});

/// The text with `*****` where a secret stands: values of attributes, elements, parameters, properties and keys whose
/// names say so, and passwords in addresses. References such as `$secret{…}`, `${…}` and `{…}` stay, as they hold none.
pub fn mask(text: &str) -> String {
    RULES.iter().chain([&*REVERSED]).fold(text.to_owned(), |text, rule| {
        rule.replace_all(&text, |found: &Captures<'_>| {
            let secret = found.name("secret").map_or("", |secret| secret.as_str());
            let is_reference = {
                let trimmed = secret.trim();
                trimmed.is_empty() || trimmed.starts_with('$') || (trimmed.starts_with('{') && trimmed.ends_with('}'))
            };
            if is_reference { found[0].to_owned() } else { format!("{}{MASK}{}", &found["before"], &found["after"]) }
        })
        .into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_are_named_so() {
        for text in [
            r#"<dataSource user="u" password="canary"/>"#,
            r#"<x:clientSecret>canary</x:clientSecret>"#,
            r#"<password xmlns="a">canary</password>"#,
            r#"<parameter name="transport.vfs.Password">canary</parameter>"#,
            r#"<parameter locked="false" name="db.password" type="x">canary</parameter>"#,
            r#"<property name="apiKey" value="canary" scope="axis2"/>"#,
            r#"<property value="canary" name="access_token"/>"#,
            r#"<header name="Authorization" value="Basic canary"/>"#,
            r#"<address uri="http://ann:canary@host/path"/>"#,
            r#"<oauth:refreshToken><![CDATA[canary]]></oauth:refreshToken>"#,
            r#"<localEntry key="db-password">canary</localEntry>"#,
            "password = \"canary\"",
            "[keystore]\nkey_password='canary'",
            "\"db-password\" = \"canary\"",
        ] {
            let masked = mask(text);
            assert!(!masked.contains("canary") && masked.contains(MASK), "{text} became {masked}");
        }
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        for text in [
            r#"<property name="uri.var.id" expression="$ctx:token"/>"#,
            r#"<parameter name="password">$secret{db}</parameter>"#,
            "<sequence key=\"TokenSequence\"/>\n<localEntry key=\"token-xslt\">\n<x:stylesheet xmlns:x=\"y\"/></localEntry>",
            r#"<password>{wso2:vault-lookup('x')}</password>"#,
            r#"<log level="custom"><property name="message" value="a token came"/></log>"#,
            r#"<address uri="http://host:8080/path@1"/>"#,
            "<proxy name=\"TokenService\" transports=\"http\">\n  <target/>\n</proxy>",
        ] {
            assert_eq!(mask(text), text);
        }
    }
}
