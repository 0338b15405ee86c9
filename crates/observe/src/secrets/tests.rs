use super::*;

/// Masks `CANARY` and nothing else.
fn check(text: &str) {
    let masked = Secrets::default().text(text).into_owned();
    assert_eq!(masked, text.replace("CANARY-7f3", MASK), "{text}");
}

#[test]
fn secrets_in_xml_are_known_by_their_names() {
    check("<a><password>CANARY-7f3</password><b>x</b></a>");
    check(
        r#"<o:UsernameToken><o:Username>joe</o:Username><o:Password Type="x">CANARY-7f3</o:Password></o:UsernameToken>"#,
    );
    check(r#"<wsse:BinarySecurityToken ValueType="v">CANARY-7f3</wsse:BinarySecurityToken>"#);
    check(r#"<login user="joe" passwd='CANARY-7f3' lang="en"/>"#);
    check(r#"<property name="api-key" value="CANARY-7f3" scope="default"/>"#);
    check(r#"<parameter name="Client.Secret">CANARY-7f3</parameter><c/>"#);
    check("<a><secret>CANARY-7f3");
    check("<a><password/><b>x</b><password></password></a>");
    check("a < b and <c d>e</c>");
}

#[test]
fn what_is_inside_of_a_secret_element_is_masked_whole() {
    let text = "<a><secret><![CDATA[x]]><b>y</b></secret><c/></a>";
    assert_eq!(Secrets::default().text(text), "<a><secret>****</secret><c/></a>");
}

#[test]
fn secrets_in_json_are_known_by_their_names() {
    check(r#"{"user": "joe", "password" : "CANARY-7f3", "n": 1}"#);
    check(r#"{"access_token":"CANARY-7f3","expires_in":3600}"#);
    check(r#"{"apiKey":CANARY-7f3}"#);
    check(r#"{"a":"{\"password\":\"CANARY-7f3\",\"b\":\"c\"}"}"#);
    check(r#"{"secret":"CANARY-7f3"#);
    check(r#"{"password":null,"max_tokens":50}"#);
    assert_eq!(Secrets::default().text(r#"{"secrets":{"a":"}","b":[1]},"c":2}"#), r#"{"secrets":****,"c":2}"#);
    assert_eq!(Secrets::default().text(r#"{"password":"a\"b","c":2}"#), r#"{"password":"****","c":2}"#);
}

#[test]
fn secrets_in_forms_and_urls_are_known_by_their_names() {
    check("grant_type=password&client_secret=CANARY-7f3&scope=a");
    check("https://joe:CANARY-7f3@host:443/a?b=c&api_key=CANARY-7f3#d");
    check("Authorization: Bearer CANARY-7f3");
    check("jdbc:mysql://h/db?user=a&password=CANARY-7f3");
    check("the bearer of bad news has a basic right");
    check("http://host:8080/a@b");
}

#[test]
fn values_by_a_secret_name_are_masked_whole() {
    let secrets = Secrets::default();
    for name in
        ["Authorization", "Proxy-Authorization", "Set-Cookie", "X-API-Key", "Ocp-Apim-Subscription-Key", "db.pwd"]
    {
        assert_eq!(secrets.value(name, "a b"), MASK, "{name}");
    }
    for name in ["Content-Type", "token_type", "symbol", "X-Request-Id"] {
        assert_eq!(secrets.value(name, "a b"), "a b", "{name}");
    }
    assert_eq!(secrets.value("Authorization", ""), "");
}

#[test]
fn known_values_are_masked_wherever_they_are_however_they_are_written() {
    let secrets = Secrets::new(["p<a>ss wörd&1", "abc"]);
    for text in ["p<a>ss wörd&1", "p&lt;a&gt;ss wörd&amp;1", "p%3Ca%3Ess%20w%C3%B6rd%261", "cDxhPnNzIHfDtnJkJjE="] {
        let masked = secrets.text(text).into_owned();
        assert_eq!(masked.trim_end_matches('='), MASK, "{text}");
    }
    assert_eq!(secrets.text("abc is too short to be looked for"), "abc is too short to be looked for");
}

#[test]
fn any_text_can_be_looked_at() {
    for text in [
        r#"\"x\"""#,
        r#"\\"\""#,
        "",
        "<",
        "<ä",
        "<a ä='",
        "\"",
        "\\\"",
        "\"a\":",
        "=",
        "password=",
        "://",
        "Basic ",
        "<password ",
        "<p =ü>",
    ] {
        for cut in [text.to_owned(), format!("ü{text}ü"), format!("{text}{text}")] {
            let _ = Secrets::new(["geheim"]).text(&cut);
        }
    }
}
