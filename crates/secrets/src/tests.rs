use super::*;

/// Masks `CANARY` and nothing else in a message.
fn check(text: &str) {
    assert_eq!(masked_message(text), text.replace("CANARY-7f3", MASK), "{text}");
}

/// Masks what is a star in `expected`, and nothing else, in a configuration.
fn check_configuration(text: &str, expected: &str) {
    assert_eq!(masked_configuration(text), expected.replace('*', MASK), "{text}");
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
    check("<a>&lt;v:password a='b'&gt;CANARY-7f3&lt;/v:password> c</a>");
    check("<a>&lt;password a='&lt;b'>CANARY-7f3&lt;/password>&lt;c&gt;d</a>");
    check("<a><![CDATA[<b password='CANARY-7f3'>]]></a>");
    check(r#"<field name="password" value="CANARY-7f3"/><d/>"#);
    check("<a><password/><b>x</b><password></password></a>");
    check("a < b and <c d>e</c>");
}

#[test]
fn what_is_inside_of_a_secret_element_is_masked_whole() {
    let text = "<a><secret><![CDATA[x]]><b>y</b></secret><c/></a>";
    assert_eq!(masked_message(text), "<a><secret><![CDATA[****]]><b>****</b></secret><c/></a>");
}

#[test]
fn secrets_in_json_are_known_by_their_names() {
    check(r#"{"user": "joe", "password" : "CANARY-7f3", "n": 1}"#);
    check(r#"{"access_token":"CANARY-7f3","expires_in":3600}"#);
    check(r#"{"apiKey":CANARY-7f3}"#);
    check(r#"{"a":"{\"password\":\"CANARY-7f3\",\"b\":\"c\"}"}"#);
    check(r#"{"secret":"CANARY-7f3"#);
    check(r#"{"password":null,"max_tokens":50}"#);
    assert_eq!(masked_message(r#"{"secrets":{"a":"}","b":[1]},"c":2}"#), r#"{"secrets":****,"c":2}"#);
    assert_eq!(masked_message(r#"{"password":"a\"b","c":2}"#), r#"{"password":"****","c":2}"#);
}

#[test]
fn secrets_in_forms_and_urls_are_known_by_their_names() {
    check("grant_type=password&client_secret=CANARY-7f3&scope=a&p%61ssword=CANARY-7f3");
    check("https://joe:CANARY-7f3@host:443/a?b=c&api_key=CANARY-7f3&d#e");
    check("Authorization: Bearer CANARY-7f3");
    check("jdbc:mysql://h/db?user=a&password=CANARY-7f3");
    check("the bearer of bad news has a basic right");
    check("http://host:8080/a@b");
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
            let _ = (masked_message(&cut), masked_configuration(&cut));
        }
    }
}

#[test]
fn values_of_attributes_and_texts_with_names_of_secrets_are_found() {
    check_configuration("<a password='hush' b='1'/>", "<a password='*' b='1'/>");
    check_configuration("<a trustStorePass = \"hush\"/>", "<a trustStorePass = \"*\"/>");
    check_configuration("<c:KeyPassword>hush</c:KeyPassword>b", "<c:KeyPassword>*</c:KeyPassword>b");
    check_configuration("<password><![CDATA[hu<sh]]></password>", "<password><![CDATA[*]]></password>");
    check_configuration("<clientSecret>\n  hush\n</clientSecret>", "<clientSecret>\n  *\n</clientSecret>");
    check_configuration("<!-- <password>hush</password> -->", "<!-- <password>*</password> -->");
    check_configuration("<token><v a='1'>hush</v></token>", "<token><v a='1'>*</v></token>");
}

#[test]
fn a_value_under_the_name_of_a_secret_is_one() {
    check_configuration(
        "<parameter name='transport.vfs.Password'>hush</parameter>",
        "<parameter name='transport.vfs.Password'>*</parameter>",
    );
    check_configuration(
        "<property name='Authorization' value='Basic x' scope='s'/>",
        "<property name='Authorization' value='*' scope='s'/>",
    );
    check_configuration("<parameter name='p'>free</parameter>", "<parameter name='p'>free</parameter>");
    check_configuration(
        "<proxy name='TokenService' a='b'><c>d</c></proxy>",
        "<proxy name='TokenService' a='b'><c>d</c></proxy>",
    );
    check_configuration("<sequence key='getToken'/>", "<sequence key='getToken'/>");
}

#[test]
fn a_misspelt_name_of_a_secret_counts_as_one() {
    check_configuration(
        "<basicAuth><pasword>hush</pasword></basicAuth>",
        "<basicAuth><pasword>*</pasword></basicAuth>",
    );
    check_configuration("<a clientSecrte='hush'/>", "<a clientSecrte='*'/>");
    check_configuration("<paramter nmae='my.passwrod'>hush</paramter>", "<paramter nmae='my.passwrod'>*</paramter>");
    check_configuration("<property name='password' valeu='hush'/>", "<property name='password' valeu='*'/>");
}

#[test]
fn urls_json_and_tables_are_searched_as_well() {
    check_configuration("<u>jdbc:a://h/d;user=sa;password=hush;x=1</u>", "<u>jdbc:a://h/d;user=sa;password=*;x=1</u>");
    check_configuration("http://h/?access_token=hush&amp;b=1", "http://h/?access_token=*&amp;b=1");
    check_configuration("{\"a\": 1, \"password\": \"hu sh\", \"b\": 2}", "{\"a\": 1, \"password\": \"*\", \"b\": 2}");
    check_configuration("password = \"hush\"\nport = 1", "password = \"*\"\nport = 1");
    check_configuration("http://me:hush@host/a:b@c", "http://me:*@host/a:b@c");
    check_configuration("<token:b c='1'>d</token:b>", "<token:b c='1'>d</token:b>");
}

#[test]
fn what_says_where_a_secret_is_stays() {
    check_configuration("<a password='$secret{store}'/>", "<a password='$secret{store}'/>");
    check_configuration("<a password='$secret{a}hush{}'/>", "<a password='*'/>");
}

#[test]
fn text_that_is_not_well_formed_is_searched_to_its_end() {
    check_configuration("<a password='hush", "<a password='*");
    check_configuration("<a><password>hush<b></a>", "<a><password>*<b></a>");
    check_configuration("<a <password>hush", "<a <password>*");
    check_configuration("<", "<");
    check_configuration("</", "</");
    check_configuration("<a b=>c", "<a b=>c");
}

#[test]
fn names_of_secrets_are_known_in_every_spelling_and_harmless_ones_are_not() {
    for name in [
        "Authorization",
        "Proxy-Authorization",
        "Set-Cookie",
        "X-API-Key",
        "Ocp-Apim-Subscription-Key",
        "X-JWT-Assertion",
        "db.pwd",
        "p%61ssword",
    ] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in ["Content-Type", "token_type", "symbol", "X-Request-Id", "compass", "pasword"] {
        assert!(!is_secret_name(name), "{name}");
    }
    assert!(!is_secret_name(&"password".repeat(50)), "no name is so long");
}

#[test]
fn parameters_of_a_target_are_masked_by_their_names() {
    assert_eq!(masked_target("/a/b"), "/a/b");
    assert_eq!(
        masked_target("/a?q=1&Password=x&access_token=y&token="),
        "/a?q=1&Password=****&access_token=****&token="
    );
    assert_eq!(masked_target("/a?p%61ssword=x&b"), "/a?p%61ssword=****&b");
    assert_eq!(masked_target("/a?pwd=x&%"), "/a?pwd=****&%");
}

#[test]
fn what_overlaps_is_one() {
    assert_eq!(apart(vec![3..5, 1..4, 7..7, 8..9]), [1..5, 8..9]);
}

#[test]
fn what_the_management_api_shows_of_configurations_holds_none() {
    check_configuration(r#"<dataSource user="u" password="hush"/>"#, r#"<dataSource user="u" password="*"/>"#);
    check_configuration(r#"<password xmlns="a">hush</password>"#, r#"<password xmlns="a">*</password>"#);
    check_configuration(
        r#"<parameter locked="false" name="db.password" type="x">hush</parameter>"#,
        r#"<parameter locked="false" name="db.password" type="x">*</parameter>"#,
    );
    check_configuration(
        r#"<property value="hush" name="access_token"/>"#,
        r#"<property value="*" name="access_token"/>"#,
    );
    check_configuration(
        r#"<localEntry key="db-password">hush</localEntry>"#,
        r#"<localEntry key="db-password">*</localEntry>"#,
    );
    check_configuration("[keystore]\nkey_password='hush'", "[keystore]\nkey_password='*'");
    check_configuration("\"db-password\" = \"hush\"", "\"db-password\" = \"*\"");
    for text in [
        r#"<property name="uri.var.id" expression="$ctx:token"/>"#,
        r#"<property name="grant_type" value="password"/>"#,
        "<localEntry key=\"token-xslt\">\n<x:stylesheet xmlns:x=\"y\"/></localEntry>",
        r#"<password>{wso2:vault-lookup('x')}</password>"#,
        r#"<log level="custom"><property name="message" value="a token came"/></log>"#,
        r#"<address uri="http://host:8080/path@1"/>"#,
    ] {
        check_configuration(text, text);
    }
}

#[test]
fn a_setting_is_secret_by_its_name_unless_it_is_a_reference() {
    assert_eq!(masked_setting("db-pasword", "hush"), MASK);
    assert_eq!(masked_setting("db-password", "$secret{a}"), "$secret{a}");
    assert_eq!(masked_setting("url", "http://me:hush@host/"), "http://me:****@host/");
    assert_eq!(masked_setting("password", ""), "");
}
