//! Synapse expressions: what `${…}` gives, against what WSO2's sources and tests say.

use crate::common::{Scenario, load_text, request, response};
use myelin_engine::{ProcessEnvironment, Settings, load};
use proptest::prelude::*;

/// What the expressions are asked of.
const ORDER: &str = r#"{"id":"A-17","customer":{"name":"Ada","tags":["new","vip"]},"lines":[
    {"sku":"pen","price":8.95,"count":2},{"sku":"ink","price":12.99,"count":1,"rush":true},{"sku":"pad","price":3,"count":10}],
    "limit":10,"index":1,"kind":"pen","text":" Hello World ","nothing":null,"payload":{"vars":{"length":4}},"te st":"x","yes":true,"big":5000000000}"#;

const VARIABLES: &str = r#"<variable name="name" value="Ada"/><variable name="int" type="INTEGER" value="10"/>
    <variable name="five" type="INTEGER" value="5"/><variable name="neg" type="DOUBLE" value="-2.5"/>
    <variable name="encoded" value="V1NPMk1J"/><variable name="empty" value=""/>
    <variable name="json" type="JSON" value='{"a":{"b":[1,2,"three"]},"vars":7}'/>
    <variable name="text" value='{"a":"in text"}'/><variable name="number" value="7"/>
    <property name="phrase" value="Now I am"/><property name="a b" value="in brackets"/><property name="ten" value="10"/>
    <property name="axis" scope="axis2" value="Sic"/>"#;

/// What each expression gives for the order above.
fn check(rows: &[(&str, &str)]) {
    let proxies = rows.iter().enumerate().map(|(row, (expression, _))| {
        let escaped = expression.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        format!(
            "<proxy name='P{row}'><target><inSequence>{VARIABLES}<property name='r' expression=\"${{{escaped}}}\"/>\
             <header name='R' scope='transport' expression=\"concat('[', get-property('r'), ']')\"/><respond/>\
             </inSequence></target></proxy>"
        )
    });
    let scenario = Scenario::new(&proxies.collect::<String>());
    let mut wrong = Vec::new();
    for (row, (expression, expected)) in rows.iter().enumerate() {
        let headers = [("Host", "bus"), ("Content-Type", "application/json"), ("X-Size", "404"), ("X-Word", "HELLO")];
        let reply = scenario.serve(request("POST", &format!("/services/P{row}?q=7"), &headers, ORDER));
        if reply.header("R") != Some(&*format!("[{expected}]")) {
            wrong.push(format!("{expression}: {:?} instead of {expected:?}", reply.header("R").unwrap_or(&reply.body)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn literals_and_operators_give_what_wso2_s_tests_say() {
    check(&[
        ("'text'", "text"),
        (r#""it's""#, "it's"),
        (r#""a\nb""#, r"a\nb"),
        ("-5.3 == -5.3", "true"),
        ("5 == 5.0", "false"),
        ("'5' == 5", "true"),
        ("null == null", "true"),
        ("null != 5", "true"),
        ("5 > -3.4", "true"),
        ("-5 > -3.4", "false"),
        ("5 > 'bla'", ""),
        ("5 > null", ""),
        ("true and false", "false"),
        ("true && true && false", "false"),
        ("false or true", "true"),
        ("true || 'bla'", ""),
        ("false and true or true", "false"),
        ("3 > 2 and 2 > 1", "true"),
        ("!true", "false"),
        ("5.5 + 3", "8.5"),
        ("5 + 3 + -1", "7"),
        ("5.5 + 3.5", "9.0"),
        ("8.95 + 8.99", "17.94"),
        ("'abc' + 5", ""),
        ("'abc' + 'xyz'", "abcxyz"),
        ("2147483647 + 1", "2147483648"),
        ("5 - 30 + 2 - 10", "-33"),
        ("8.9567 - 8.9456", "0.0111"),
        ("3148483647 - 3147483647", "1000000"),
        ("72.0 * 1.05", "75.600"),
        ("2147483647 * -2", "-4294967294"),
        ("10 / 2 / -2.5 * 2", "-4.0"),
        ("34.45 / 3.44", "10.01"),
        ("9 / 3", "3"),
        ("5/10", "0.5"),
        ("10/10000", "0.001"),
        ("20000000000/10", "2.0E9"),
        ("100/10.0", "10.0"),
        ("5/0", ""),
        ("5.2/0", ""),
        ("10 % 3", "1"),
        ("34.56 % 3.45", "0.06"),
        ("(1 + 2) * 3", "9"),
        ("-(1 + 2)", "-3"),
        ("[1, 'a', 2.50]", r#"[1,"a",2.50]"#),
        ("true ? 1 : 2", "1"),
        ("false ? true : false ? false : true", "true"),
        ("true ? false ? false : true : false", "true"),
        ("5.2 > 5 ? 5 : 4", "5"),
        ("'bla' ? true : 123", ""),
        ("null ? 4 : 5", ""),
    ]);
}

#[test]
fn what_is_read_comes_from_where_the_root_says() {
    check(&[
        ("payload.id", "A-17"),
        ("$.customer.name", "Ada"),
        ("payload['te st']", "x"),
        ("payload.['te st']", "x"),
        ("payload.nothing", ""),
        ("payload.nothing == null", "true"),
        ("payload.missing", ""),
        ("payload.customer", r#"{"name":"Ada","tags":["new","vip"]}"#),
        ("payload.payload.vars.length", "4"),
        ("$.lines[1].sku", "ink"),
        ("$.lines[$.index].sku", "ink"),
        ("$.lines[$.index - 1].sku", "pen"),
        ("$.lines[10].sku", ""),
        ("$.lines[0,2].sku", r#"["pen","pad"]"#),
        ("$.lines[$.index, 2].sku", r#"["ink","pad"]"#),
        ("$.lines[$.index:3].sku", r#"["ink","pad"]"#),
        ("$.lines[:2].sku", r#"["pen","ink"]"#),
        ("$.lines[-1:].sku", r#"["pad"]"#),
        ("$.lines[*].count", "[2,1,10]"),
        ("$..price", "[8.95,12.99,3]"),
        ("$.customer.*", r#"["Ada",["new","vip"]]"#),
        ("$.lines[payload.kind]", ""),
        ("payload.customer[vars.empty + 'name']", "Ada"),
        ("$.lines[?(@.sku == 'ink')].price", "[12.99]"),
        ("$.lines[?(@.sku==payload.kind)].price", "[8.95]"),
        ("$.lines[?(@.price > $.limit)].sku", r#"["ink"]"#),
        ("$.lines[?(@.price < integer(props.synapse.ten))].sku", r#"["pen","pad"]"#),
        ("$.lines[?(@.rush)].sku", r#"["ink"]"#),
        ("$.lines[?(!(@.rush))].sku", r#"["pen","pad"]"#),
        ("$.lines[?(@.sku =~ /P.*/i)].sku", r#"["pen","pad"]"#),
        ("$.lines[?(@.sku in ['pen','pad'])].sku", r#"["pen","pad"]"#),
        ("$.lines[?(@.sku == 'pen' || @.sku == 'ink')].count", "[2,1]"),
        ("$.lines[?(@.sku == 'pen' or @.count == 10)].count", "[2,10]"),
        ("$.customer[?(@.tags size 2)].name", r#"["Ada"]"#),
        ("$.customer[?('vip' in @.tags)].name", r#"["Ada"]"#),
        ("$.lines.length()", "3"),
        ("$.lines.size()", "3"),
        ("$..price.max()", "12.99"),
        ("$..price.min()", "3.0"),
        ("round($..price.avg())", "8"),
        ("$..count.sum()", "13.0"),
        ("$.lines[0].keys()", r#"["sku","price","count"]"#),
        ("object($.lines.first()).sku", "pen"),
        ("object($.lines.last()).sku", "pad"),
        ("vars.name", "Ada"),
        ("vars['name']", "Ada"),
        ("vars.\"name\"", "Ada"),
        ("vars.json.a.b[2]", "three"),
        ("vars['json']['a'].b[:2]", "[1,2]"),
        ("vars.json.vars", "7"),
        ("vars.text.a", "in text"),
        ("vars.none", ""),
        ("vars.int[0]", ""),
        ("(vars.int * vars.neg) - vars.five + payload.index", "-29.0"),
        ("vars.int >= vars.five", "true"),
        ("vars.number + 1", ""),
        ("headers.X-Word", "HELLO"),
        ("headers['x-word']", "HELLO"),
        ("headers.X-Size + 4", "408"),
        ("headers.none", ""),
        ("props.synapse.phrase", "Now I am"),
        ("properties.axis2.axis + ' ' + props.synapse['a b']", "Sic in brackets"),
        ("props.synapse.none", ""),
    ]);
}

#[test]
fn functions_give_what_wso2_s_tests_say() {
    check(&[
        ("length('Lahiru')", "6"),
        ("length(['a', 3, 5])", "3"),
        ("length(payload.lines)", "3"),
        ("length(vars.empty)", "0"),
        ("length(34)", ""),
        ("length(null)", ""),
        ("toUpper(payload.customer.name) + '!'", "ADA!"),
        ("toLower('CLIpper')", "clipper"),
        ("toUpper(34)", ""),
        ("subString('Lahiru', 2)", "hiru"),
        ("subString('Lahiru', 2, 4)", "hi"),
        ("subString('Hello', 5)", ""),
        ("subString('Hello', 20)", ""),
        ("subString('Hello', -2, 4)", ""),
        ("startsWith('Curiosity', 'Curi')", "true"),
        ("endsWith('Opportunity', 'tune')", "false"),
        ("contains(payload.text, 'World')", "true"),
        ("contains('a', 34)", ""),
        ("trim(payload.text)", "Hello World"),
        ("replace('Hello', 'l', 'p')", "Heppo"),
        ("split('Split a string,by', '[, ]')", r#"["Split","a","string","by"]"#),
        ("split('a.b', '.')", "[]"),
        ("length(split('NASA, launches; rovers. Mars', '[,; .]+'))", "4"),
        ("indexOf('Hello World', 'World')", "6"),
        ("indexOf('Hello World', 'l', 5)", "9"),
        ("indexOf('Hello World', 'l', 50)", "-1"),
        ("charAt('Hello World', 6)", "W"),
        ("charAt('Hello World', -1)", ""),
        ("charAt('Hello World', 100)", ""),
        ("abs(-5)", "5"),
        ("abs(-5.0)", "5.0"),
        ("abs(payload.lines)", ""),
        ("floor(-5.4)", "-6"),
        ("ceil(5.9)", "6"),
        ("ceil(3)", "3"),
        ("round(5.4)", "5"),
        ("round(5.6)", "6"),
        ("round(-5.5)", "-5"),
        ("round(2.7543, 2)", "2.75"),
        ("round(7, 2)", "7"),
        ("sqrt(25)", "5.0"),
        ("sqrt(-25.0)", "NaN"),
        ("log(1)", "0.0"),
        ("pow(2, 3)", "8.0"),
        ("pow(2, -2)", "0.25"),
        ("base64encode('Hello World')", "SGVsbG8gV29ybGQ="),
        ("base64encode('é', 'ISO-8859-1')", "6Q=="),
        ("base64encode('Hello', 'UTF-99')", ""),
        ("base64decode(vars.encoded)", "WSO2MI"),
        ("base64decode('***')", ""),
        ("urlEncode('Hello World*')", "Hello%20World%2A"),
        ("urlEncode('a b', 'ISO-8859-1')", "a+b"),
        ("urlDecode('Hello+World%26')", "Hello World&"),
        ("isNumber(34)", "true"),
        ("isNumber('34')", "false"),
        ("isNumber(payload.index) && isNumber(vars.int)", "true"),
        ("isNumber(null)", ""),
        ("isString('34')", "true"),
        ("isString(vars.int)", "false"),
        ("isArray(payload.lines)", "true"),
        (r#"isArray("[1,2,{\"abc\":5}]")"#, "true"),
        (r#"isArray("[1,2,{\"abc:5}]")"#, "false"),
        ("isObject(payload)", "true"),
        ("isObject('Hello')", "false"),
        ("string(12) + ' men'", "12 men"),
        ("string(payload.customer.tags)", r#"["new","vip"]"#),
        ("integer('34') + 1", "35"),
        ("integer(34.5)", ""),
        ("integer('Hello')", ""),
        ("float(-34)", "-34.0"),
        ("float(payload.limit) + vars.five", "15.0"),
        ("boolean('true')", "true"),
        ("boolean('1')", "false"),
        ("boolean('0') || (5 > 2)", "true"),
        (r#"object("{\"hello\":\"world\"}").hello"#, "world"),
        ("object('[1]')", ""),
        (r#"array("[\"Hello\",\"World\"]")[0]"#, "Hello"),
        ("toUpper(array(payload.customer.tags)[1])", "VIP"),
        ("not(5 > 6)", "true"),
        ("not(123)", ""),
        ("exists(vars.none)", "false"),
        ("exists(payload.nothing)", "false"),
        ("exists($.full) ? $.full : $.id", "A-17"),
        ("isNumber(now())", "true"),
        ("now() > 1000", "true"),
        ("formatDateTime(0, 'yyyy-MM-dd HH:mm')", "1970-01-01 00:00"),
        ("formatDateTime('29/09/1988', 'dd/MM/yyyy', 'yyyy-MM-dd')", "1988-09-29"),
        ("formatDateTime('19880929', 'yyyyMMdd', 'yyyy ' + 'MMM dd')", "1988 Sep 29"),
        ("formatDateTime('50-22-33', 'HH-mm-ss', 'HH mm ss')", ""),
        ("formatDateTime('x', 'HH')", ""),
        ("length(formatDateTime(now(), 'yyyy'))", "4"),
    ]);
}

#[test]
fn an_expression_that_is_wrong_is_a_problem_at_its_character() {
    let check = |expression: &str, column: u32, part: &str| {
        let text = format!("<sequence name='s'>\n<property name='r' expression=\"${{{expression}}}\"/></sequence>");
        let report = load_text(&text).report;
        let problem = report.artefacts[0].problems.first().unwrap_or_else(|| panic!("{expression} is taken"));
        assert!(problem.message().contains(part), "{expression}: {problem}");
        let start = text.split_once('\n').and_then(|(_, line)| line.find("${")).unwrap() as u32 + 3;
        assert_eq!(problem.column().checked_sub(start), Some(column), "{expression}: {problem}");
    };
    check("5 >> 3", 3, "expected a value");
    check("5 3", 2, "expected an operator");
    check("", 0, "expected a value");
    check("var.x", 0, "write `vars`");
    check("foo", 0, "is unknown; write payload");
    check("foo(1)", 0, "no function");
    check("length()", 0, "0 arguments");
    check("(1 + 2", 6, "expected `)`");
    check("props.other.x", 6, "one of synapse, axis2");
    check("payload.a[?(@.b == ]", 21, "not closed");
    check("payload.a[?(@.b == )]", 7, "the path");
    check("payload.a[?(@.b == 1)", 21, "expected `]`");
    check("vars", 4, "expected a name");
    check("'a", 0, "not closed");
    check("split('a', '(')", 11, "not a regular expression");
    check("formatDateTime(now(), 'yyyyTHH')", 22, "no letter of a pattern");
    check("xpath(vars.p)", 6, "before there is a message");
    check(&"(".repeat(100), 32, "nested deeper");
}

#[test]
fn secrets_and_injected_values_are_read_while_loading() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let secret = folder.path().join("secret");
    write("secret", "hush\n");
    write("conf/file.properties", "name=of the file\nprice=7\nurl=http://injected:81/a\n");
    write("conf/config.properties", "name=string\nown=a value\nmissing=string\n");
    let steps = format!(
        "<property name='a' expression=\"${{configs.name + ' ' + configs.own}}\"/>\
         <property name='b' expression='${{configs.price * 2}}'/>\
         <property name='c' expression=\"wso2:vault-lookup('{path}', 'FILE')\"/>\
         <property name='d' expression=\"wso2:vault-lookup('PASSWORD', 'ENV', 'false')\"/>\
         <property name='e' expression='${{wso2-vault(\"alias\")}}'/>\
         <header name='R' scope='transport' expression=\"concat($ctx:a, '|', $ctx:b, '|', $ctx:c, '|', $ctx:d, '|', $ctx:e)\"/>",
        path = secret.display()
    );
    write(
        "repository/deployment/server/synapse-configs/default/proxy-services/P.xml",
        &format!(
            "<proxy xmlns='http://ws.apache.org/ns/synapse' xmlns:wso2='urn:x' name='P'><target><inSequence>{steps}<send>\
             <endpoint><address uri='$FILE:url'/></endpoint></send></inSequence></target></proxy>"
        ),
    );
    let environment = ProcessEnvironment::of([("PASSWORD", "of the environment")]);
    let mut settings = Settings { environment, ..Settings::default() };
    settings.security.secrets.insert("alias".to_owned(), b"of settings".to_vec().into());
    let loaded = load(&[folder.path().to_owned()], &settings);
    assert!(loaded.report.artefacts.iter().all(|artefact| artefact.problems.is_empty()), "{}", loaded.report.to_text());
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
    scenario.serve(request("POST", "/services/P", &[("Host", "bus")], ""));
    let sent = scenario.into_sent();
    assert_eq!(sent.header("R"), Some("of the file a value|14|hush|of the environment|of settings"));
    assert_eq!(sent.uri, "http://injected:81/a");

    let check = |steps: &str, part: &str| {
        let report =
            load_text(&format!("<sequence name='s' xmlns:wso2='urn:x' xmlns:hashicorp='urn:h'>{steps}</sequence>"))
                .report;
        let text = report.to_text();
        assert!(text.contains(part), "{steps}: {text}");
    };
    check("<property name='a' expression='${configs.none}'/>", "has no value");
    check("<property name='a' expression=\"wso2:vault-lookup('none')\"/>", "has no \"none\"");
    check("<property name='a' expression=\"wso2:vault-lookup($ctx:a)\"/>", "text literals");
    check("<property name='a' expression=\"wso2:vault-lookup('a', 'FILE', 'true')\"/>", "cipher tool");
    check("<property name='a' expression=\"hashicorp:vault-lookup('a', 'b')\"/>", "HashiCorp");
    check("<property name='a' expression='${hashicorp-vault(\"a\", \"b\")}'/>", "HashiCorp");
    check("<property name='a' value='$SYSTEM:NOT_THERE_AT_ALL'/>", "no variable");
}

#[test]
fn expressions_stand_wherever_a_value_is_worked_out() {
    let steps = "<variable name='base' value='http://backend:81'/><variable name='kind' value='small'/>
        <variable name='wait' type='INTEGER' value='1500'/>
        <filter xpath='${payload.total &lt; 10 and vars.kind == \"small\"}'><then>
        <switch source='${payload.id}'><case regex='A-.*'><property name='case' value='of ${payload.id}: ${vars.kind}!'/></case></switch>
        </then></filter>
        <header name='X-Case' scope='transport' expression='${props.synapse.case}'/>
        <property name='next' value='tail'/>
        <sequence key='${props.synapse.next}'/>
        <foreach collection='${payload.lines}' parallel-execution='false'><sequence>
        <property name='seen' expression='${props.synapse.seen + payload.sku}'/></sequence></foreach>
        <send><endpoint><http method='POST' uri-template='${vars.base}/o/${payload.id}?q={uri.var.none}'>
        <timeout><duration>${vars.wait + 500}</duration></timeout></http></endpoint></send>";
    let scenario = Scenario::with(
        &format!(
            "<sequence name='tail'><header name='X-Tail' scope='transport' value='${{payload.total * 2}}'/></sequence>\
             <proxy name='P'><target><inSequence>{steps}</inSequence></target></proxy>"
        ),
        |_, _| Ok(response(200, &[], "")),
    );
    let order = r#"{"id":"A-1","total":4.5,"lines":[{"sku":"a"},{"sku":"b"}]}"#;
    let reply = scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/json")], order));
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = scenario.into_sent();
    assert_eq!(sent.header("X-Case"), Some("of A-1: small!"));
    assert_eq!(sent.header("X-Tail"), Some("9.0"));
    assert_eq!(sent.uri, "http://backend:81/o/A-1?q=");
    assert_eq!(sent.timeout, Some(std::time::Duration::from_secs(2)));
}

#[test]
fn the_payload_of_xml_is_its_json_and_xpath_sees_it_as_it_is() {
    let steps = "<property name='a' expression='${payload.o.a}'/><property name='b' expression=\"${xpath('//b') + '!'}\"/>
        <variable name='x' type='XML' value='&lt;r&gt;&lt;c&gt;in a variable&lt;/c&gt;&lt;/r&gt;'/>
        <property name='c' expression=\"${xpath('//c', 'x')}\"/>
        <property name='d' expression=\"${xpath('$ctx:a')}\"/>
        <variable name='whole' type='XML' expression='${payload}'/><property name='e' expression='name($var:whole/*)'/>
        <header name='R' scope='transport' expression=\"concat($ctx:a, '|', $ctx:b, '|', $ctx:c, '|', $ctx:d, '|', $ctx:e)\"/><respond/>";
    let scenario = Scenario::new(&format!("<proxy name='P'><target><inSequence>{steps}</inSequence></target></proxy>"));
    let headers = [("Content-Type", "application/xml")];
    let reply = scenario.serve(request("POST", "/services/P", &headers, "<o><a>1</a><b>two</b></o>"));
    assert_eq!(reply.header("R"), Some("1|two!|in a variable|1|o"), "{}", reply.body);
}

#[test]
fn an_expression_that_explodes_ends_with_a_fault() {
    let serve = |steps: &str, body: &str| {
        let text = format!("<proxy name='P'><target><inSequence>{steps}<respond/></inSequence></target></proxy>");
        let scenario = Scenario::new(&text);
        scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/json")], body))
    };
    let long = format!("[\"{}\"]", "a".repeat(100_000));
    let reply = serve("<property name='r' expression=\"${replace($[0], 'a', $[0])}\"/>", &long);
    assert_eq!(reply.status, 500);
    assert!(reply.body.contains("could not be evaluated"), "{}", reply.body);
    let doubled = "<property name='r' expression='${props.synapse.r + props.synapse.r}'/>".repeat(30);
    let reply = serve(&format!("<property name='r' value='abcdefgh'/>{doubled}"), "[]");
    assert_eq!(reply.status, 500);
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let paths = "$..*..*..*..*..*".to_owned();
    let reply = serve(&format!("<property name='r' expression='${{{paths}}}'/>"), &deep);
    assert_eq!(reply.status, 500, "{}", reply.body);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Words of the language in any order: most are wrong, and some are not.
    #[test]
    fn any_words_are_refused_or_give_something(expressions in proptest::collection::vec(any_expression(), 8)) {
        let step = |(number, expression): (usize, &String)| {
            let escaped = expression.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            format!("<proxy name='P{number}'><target><inSequence>{VARIABLES}\
                     <variable name='a' expression=\"${{{escaped}}}\"/><property name='b' value=\"a ${{{escaped}}} b\"/>\
                     <filter xpath=\"${{{escaped}}}\"><then/></filter><respond/></inSequence></target></proxy>")
        };
        let loaded = load_text(&expressions.iter().enumerate().map(step).collect::<String>());
        let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
        for number in 0..expressions.len() {
            let headers = [("Content-Type", "application/json")];
            scenario.serve(request("POST", &format!("/services/P{number}"), &headers, ORDER));
        }
    }
}

fn any_expression() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => proptest::sample::select(vec![
            "payload", "$", ".lines", "[0]", "[*]", "..price", ".length()", "[?(@.price > 5)]", "[?(@.sku == vars.name)]",
            "[$.index]", "[1:2]", "vars.json", ".a", "vars.int", "headers.X-Size", "props.synapse.ten", "'text'", "-2.5", "7",
            "null", "true", "[1,'a']", "length(", "toUpper(", "split('a,b', ',')", "round(", "exists(", "object(",
            "formatDateTime(0, 'yyyy')", "xpath('//sku')",
        ]).prop_map(str::to_owned),
        2 => proptest::sample::select(vec!["+", "-", "*", "/", "%", "==", ">", "and", "or", "?", ":", ",", "(", ")", "!", " "])
            .prop_map(str::to_owned),
        1 => "[ -~é]{1,3}",
    ];
    proptest::collection::vec(word, 1..9).prop_map(|words: Vec<_>| words.concat())
}
