//! Properties and headers: what they hold, how long, and what they steer.

use crate::common::{Scenario, get, post, request, response};

/// Evaluates an expression while a request is served; `None` where it finds nothing.
fn value(prepare: &str, expression: &str) -> Option<String> {
    let scenario = Scenario::new(&format!(
        "<proxy name=\"T\"><target><inSequence>{prepare}\
         <property name=\"X-Result\" scope=\"transport\" expression=\"{expression}\"/><respond/></inSequence></target></proxy>"
    ));
    let request = post("/services/T/foo/bar?q=1&w=a%20b", &[("SOAPAction", "\"urn:x\""), ("X-In", "in")], "<a/>");
    scenario.serve(request).header("X-Result").map(str::to_owned)
}

#[test]
fn expressions_give_what_synapse_3_0_1_gave() {
    // Asked of the real one, pass-through transport, same request.
    let prepare = r#"<property name="a" value="abc123def456"/><property name="f" value="1.50" type="FLOAT"/>
        <property name="d" value="10000000" type="DOUBLE"/><property name="b" value="TRUE" type="BOOLEAN"/>"#;
    let check = |expression: &str, expected: Option<&str>| {
        assert_eq!(value(prepare, expression).as_deref(), expected, "{expression}");
    };
    check("get-property('To')", Some("/services/T/foo/bar?q=1&w=a%20b"));
    check("string(get-property('nope')='')", Some("false"));
    check("string(get-property('nope')!='x')", Some("false"));
    check("string($ctx:nope='')", Some("false"));
    check("1 div 3", Some("0.3333333333333333"));
    check("number('x')", Some("NaN"));
    check("100000000 * 10", Some("1.0E9"));
    check("1 div 0", Some("Infinity"));
    check("2 + 2", Some("4.0"));
    check("get-property('f')", Some("1.5"));
    check("$ctx:d", Some("1.0E7"));
    check("get-property('b')", Some("true"));
    check("get-property('axis2','HTTP_METHOD')", Some("POST"));
    check("$axis2:REST_URL_POSTFIX", Some("/foo/bar?q=1&w=a%20b"));
    check("$url:q", Some("1"));
    check("$axis2:TransportInURL", Some("/services/T/foo/bar?q=1&w=a%20b"));
    check("$axis2:REMOTE_ADDR", Some("192.0.2.7"));
    check("get-property('MESSAGE_FORMAT')", Some("soap11"));
    check("get-property('SYSTEM_DATE')", Some("11/21/26, 4:34 AM"));
    check("get-property('SYSTEM_TIME')", Some("1795235677176"));
    check("get-property('Action')", Some("urn:x"));
    check("base64Encode('hello')", Some("aGVsbG8="));
    check("$axis2:messageType", Some("text/xml"));
    check("$axis2:ContentType", Some("text/xml"));
    check("$trp:nope", None);
    check("1=1", Some("true"));
    check("url-encode('a b/c')", Some("a%20b/c"));
    check("url-encode(';:@$,![]()*~^|{}\\_-.`+?=&amp;%#')", Some(";:@$,!%5B%5D()*~%5E%7C%7B%7D%5C_-.%60%2B?=&%25%23"));
    check("string($url:nope = '')", Some("true"));
    check("string($trp:nope = '')", Some("false"));
    check("get-property('From')", Some(""));
    check("get-property('SERVER_IP')", Some("192.0.2.1"));
    check("-5 mod 3", Some("-2.0"));
    check("concat(-0, '')", Some("0"));
    check("concat(1000000 * 1000000 * 1000000 * 1000000, '')", Some("1000000000000000000000000"));
    check("string(0.1 + 0.2)", Some("0.30000000000000004"));
    check("get-property('proxy.name')", Some("T"));
    check("string-length(get-property('nope'))", Some("0.0"));
    check("not(get-property('nope'))", Some("true"));
    check("concat('x',get-property('nope'),$ctx:nope,'y')", Some("xy"));
    check("boolean($ctx:nope)", Some("false"));
    check("number(get-property('nope'))", Some("NaN"));
    check("string(get-property('b') = 'true')", Some("true"));
}

#[test]
fn variables_hold_what_their_type_says() {
    let check = |prepare: &str, expression: &str, expected: Option<&str>| {
        assert_eq!(value(prepare, expression).as_deref(), expected, "{prepare} {expression}");
    };
    check("<variable name='v' value='a b'/>", "$var:v", Some("a b"));
    check("<variable name='v' value='41' type='INTEGER'/>", "string($var:v + 1)", Some("42"));
    check("<variable name='v' value='true' type='BOOLEAN'/>", "not($var:v)", Some("false"));
    check("<variable name='v' value='2' type='DOUBLE'/>", "$var:v", Some("2.0"));
    check("<variable name='v' value='{ &quot;a&quot;: 1 }' type='JSON'/>", "$var:v", Some("{\"a\":1}"));
    check("<variable name='v' value='&lt;p>&lt;q>7&lt;/q>&lt;/p>' type='XML'/>", "$var:v/q", Some("7"));
    check("<variable name='v' expression='$trp:X-In'/>", "$var:v", Some("in"));
    check("<variable name='v' value='1'/><variable name='v' expression='$trp:X-None'/>", "$var:v", Some("1"));
    check("<variable name='v' value='1'/><variable name='v' action='remove'/>", "$var:v", None);
    check("<property name='v' value='1'/>", "$var:v", None);
    check("<variable name='v' expression='${1 + 2}'/>", "$var:v", Some("3"));
    check("<variable name='v' expression='${1 + 2}' type='DOUBLE'/>", "$var:v", Some("3.0"));
    check("<variable name='v' expression='${7 / 2}' type='LONG'/>", "$var:v", Some("3"));
    check("<variable name='v' expression='${[1, 2]}' type='JSON'/>", "$var:v", Some("[1,2]"));
    check("<variable name='v' value='${1 + 2} of ${headers.X-In}'/>", "$var:v", Some("3 of in"));
    check("<variable name='v' expression='${1 &lt; 2}' type='BOOLEAN'/>", "not($var:v)", Some("false"));
    check("<variable name='v' expression='${&quot;x&quot;}' type='BOOLEAN'/>", "1", None);
    check("<variable name='SYSTEM_TIME' value='late'/>", "$var:SYSTEM_TIME", Some("late"));
}

#[test]
fn xpath_functions_and_operators_follow_the_standard() {
    let check = |expression: &str, expected: &str| {
        assert_eq!(
            value("<property name='i' value='7' type='INTEGER'/>", expression).as_deref(),
            Some(expected),
            "{expression}"
        );
    };
    check("string(2 + 3 * 4 - -1)", "15");
    check("string(7 mod -3)", "1");
    check("string(-7 mod 3)", "-1");
    check("string(- - 2)", "2");
    check("string((1 or 0) and not(false()))", "true");
    check("string(1 &lt; 2 = true())", "true");
    check("string('a' = 'a')", "true");
    check("string('1' = 1.0)", "true");
    check("string(true() = 'x')", "true");
    check("substring('12345', 2, 3)", "234");
    check("substring('12345', 1.5, 2.6)", "234");
    check("substring('12345', 0, 3)", "12");
    check("substring('12345', -42, 1 div 0)", "12345");
    check("substring('12345', 0 div 0, 3)", "");
    check("substring('é12', 2)", "12");
    check("substring-before('1999/04/01', '/')", "1999");
    check("substring-after('1999/04/01', '/')", "04/01");
    check("substring-after('a', 'x')", "");
    check("string(string-length('été'))", "3");
    check("normalize-space('  a  b ')", "a b");
    check("translate('--aaa--', 'abc-', 'ABC')", "AAA");
    check("string(round(-2.5))", "-2");
    check("string(floor(2.7) + ceiling(2.1))", "5");
    check("string(starts-with('abc', 'ab'))", "true");
    check("string(ends-with('abc', 'bc'))", "true");
    check("string(contains('abc', ''))", "true");
    check("fn:upper-case('aé')", "AÉ");
    check("string(matches('abc', 'b'))", "true");
    check("replace('a-b-c', '([a-z])-', '$1+')", "a+b+c");
    check("base64Decode('aGVsbG8=')", "hello");
    check("string(get-property('i') + 1)", "8");
    check("string(get-property('i') = '7')", "true");
    check("syn:get-property('transport', 'x-in')", "in");
    check("string(get-property(concat('no', 'pe')))", "");
    check("get-property(concat('proxy', '.name'))", "T");
    check("concat(&quot;a'b&quot;, 'c')", "a'bc");
    check("string(position() = last())", "true");
    check("get-property('SYSTEM_DATE', 'yyyy')", "2026");
    check("$url:w", "a b");
}

#[test]
fn a_local_entry_is_read_like_a_property_that_nobody_set() {
    let scenario = Scenario::new(
        r#"<localEntry key="where">http://back</localEntry>
           <proxy name="P"><target><inSequence>
             <property name="uri.var.base" expression="get-property('where')"/>
             <property name="where" value="set"/>
             <property name="X-Where" expression="$ctx:where" scope="transport"/>
             <send><endpoint><http uri-template="{+uri.var.base}/x"/></endpoint></send>
           </inSequence></target></proxy>"#,
    );
    scenario.serve(post("/services/P", &[], ""));
    assert_eq!(scenario.sent()[0].uri, "http://back/x");
    assert_eq!(scenario.sent()[0].header("X-Where"), Some("set"));
}

#[test]
fn a_pattern_takes_a_group_of_the_whole_value() {
    let check = |pattern: &str, group: u8, expected: &str| {
        let prepare = format!(
            "<property name='a' value='abc123def456'/><property name='p' expression=\"$ctx:a\" pattern='{pattern}' group='{group}'/>"
        );
        assert_eq!(value(&prepare, "$ctx:p").as_deref(), Some(expected), "{pattern}");
    };
    check("[a-z]+([0-9]+)", 1, "");
    check("[a-z]+([0-9]+)[a-z]+([0-9]+)", 2, "456");
    check("zz", 0, "");
}

#[test]
fn what_is_set_on_the_request_is_gone_or_kept_by_scope_when_the_response_comes() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <property name="a" value="default"/><property name="a" value="operation" scope="operation"/>
             <property name="a" value="axis2" scope="axis2"/>
             <send><endpoint><address uri="http://back/"/></endpoint></send>
           </inSequence><outSequence>
             <property name="X-Default" expression="$ctx:a" scope="transport"/>
             <property name="X-Operation" expression="$operation:a" scope="transport"/>
             <property name="X-Axis2" expression="$axis2:a" scope="transport"/>
             <property name="X-Status" expression="$axis2:HTTP_SC" scope="transport"/>
             <property name="X-To" expression="get-property('To')" scope="transport"/>
             <send/>
           </outSequence></target></proxy>"#,
    );
    let reply = scenario.serve(post("/services/P", &[], ""));
    assert_eq!((reply.header("X-Default"), reply.header("X-Operation")), (Some("default"), Some("operation")));
    assert_eq!((reply.header("X-Axis2"), reply.header("X-Status")), (None, Some("200")));
    assert_eq!(reply.header("X-To"), Some("http://www.w3.org/2005/08/addressing/anonymous"));
}

/// Serves one request through a proxy whose in sequence is `mediators` and then sends it.
fn sent(mediators: &str, request: myelin_message::Message) -> (crate::common::Sent, crate::common::Reply) {
    let scenario = Scenario::new(&format!(
        "<proxy name=\"P\"><target><inSequence>{mediators}</inSequence>\
         <endpoint><address uri=\"http://back/base\"/></endpoint></target></proxy>"
    ));
    let reply = scenario.serve(request);
    (scenario.into_sent(), reply)
}

#[test]
fn steering_properties_change_the_request_that_leaves() {
    let axis2 = |name: &str, value: &str| format!("<property name=\"{name}\" value=\"{value}\" scope=\"axis2\"/>");
    let (out, _) = sent(&axis2("HTTP_METHOD", "PATCH"), post("/services/P", &[], "<a/>"));
    assert_eq!((out.method.as_str(), out.body.as_str()), ("PATCH", "<a/>"));
    let (out, _) = sent(&axis2("HTTP_METHOD", "GET"), post("/services/P", &[], "<a/>"));
    assert_eq!((out.method.as_str(), out.body.as_str()), ("GET", ""));
    let (out, _) = sent(&axis2("REST_URL_POSTFIX", "/new"), get("/services/P/old"));
    assert_eq!(out.uri, "http://back/base/new");
    let (out, _) = sent("<property name='REST_URL_POSTFIX' scope='axis2' action='remove'/>", get("/services/P/old"));
    assert_eq!(out.uri, "http://back/base");
    let (out, _) = sent(&axis2("NO_ENTITY_BODY", "true"), post("/services/P", &[], "<a/>"));
    assert_eq!(out.body, "");
    let (out, _) = sent(&axis2("REQUEST_HOST_HEADER", "other"), post("/services/P", &[], ""));
    assert_eq!(out.host.as_deref(), Some("other"));
    let (out, _) = sent(&axis2("ContentType", "text/plain"), post("/services/P", &[], ""));
    assert_eq!(out.header("Content-Type"), Some("text/plain"));
    let (out, _) = sent(&axis2("DISABLE_CHUNKING", "true"), post("/services/P", &[], "<a/>"));
    assert!(!out.on_the_wire);
    let (out, _) = sent(
        "<property name='TRANSPORT_HEADERS' scope='axis2' action='remove'/>",
        post("/services/P", &[("X", "1")], ""),
    );
    assert_eq!((out.header("X"), out.header("Content-Type")), (None, Some("text/xml")));
    let (out, _) =
        sent("<header name='Action' value='urn:new'/>", post("/services/P", &[("SOAPAction", "urn:old")], ""));
    assert_eq!(out.header("SOAPAction"), Some("\"urn:new\""));
    let soap12 =
        request("POST", "/services/P", &[("Content-Type", "application/soap+xml; action=\"a\"; charset=UTF-8")], "");
    let (out, _) = sent("<header name='Action' value='urn:new'/>", soap12);
    assert_eq!(out.header("Content-Type"), Some("application/soap+xml; charset=UTF-8; action=\"urn:new\""));
}

#[test]
fn steering_properties_change_the_answer() {
    let (_, reply) =
        sent("<property name='FORCE_SC_ACCEPTED' value='true' scope='axis2'/>", post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
    let accepted = "<property name='FORCE_SC_ACCEPTED' value='true' scope='axis2'/>";
    let call = |blocking: bool| {
        let sequence = format!(
            "{accepted}<call blocking='{blocking}'><endpoint><address uri='http://back/'/></endpoint></call><respond/>"
        );
        let proxy = format!("<proxy name='P'><target><inSequence>{sequence}</inSequence></target></proxy>");
        Scenario::new(&proxy).serve(post("/services/P", &[], "<a/>")).status
    };
    // As in Synapse, who waits for a call holds the client, too.
    assert_eq!((call(false), call(true)), (202, 200));
    let (_, reply) = sent("<property name='OUT_ONLY' value='true'/>", post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
    let scenario = Scenario::with(
        r#"<proxy name="P"><target><endpoint><address uri="http://back/"/></endpoint><outSequence>
             <property name="HTTP_SC" value="418" scope="axis2"/>
             <property name="HTTP_SC_DESC" value="Short and stout" scope="axis2"/>
             <property name="NO_ENTITY_BODY" value="true" scope="axis2"/><send/>
           </outSequence></target></proxy>"#,
        |_, _| Ok(response(200, &[], "body")),
    );
    let reply = scenario.serve(post("/services/P", &[], ""));
    assert_eq!((reply.status, reply.reason.as_deref(), reply.body.as_str()), (418, Some("Short and stout"), ""));
}

#[test]
fn headers_are_set_replaced_and_removed_whatever_their_case() {
    let (out, _) = sent(
        r#"<property name="x-in" scope="transport" action="remove"/>
           <header name="X-New" scope="transport" expression="concat($trp:X-Two, '!')"/>
           <property name="X-Gone" scope="transport" value="1"/>
           <property name="X-Gone" scope="transport" expression="$ctx:nothing"/>"#,
        post("/services/P", &[("X-In", "1"), ("X-Two", "2")], ""),
    );
    assert_eq!((out.header("X-In"), out.header("X-New"), out.header("X-Gone")), (None, Some("2!"), None));
}

#[test]
fn a_value_cannot_smuggle_a_line_into_the_head() {
    let (scenario, name) = (
        Scenario::new(
            r#"<proxy name="P"><target><inSequence>
                 <property name="X-New" scope="transport" expression="$url:x"/><respond/>
               </inSequence></target></proxy>"#,
        ),
        "/services/P?x=a%0d%0aX-Evil:1",
    );
    let reply = scenario.serve(get(name));
    assert_eq!((reply.status, reply.header("X-Evil")), (500, None));
}

#[test]
fn a_name_that_is_worked_out_is_found_by_whoever_works_it_out_too() {
    let prepare = r#"<property name="{concat('price-', $url:q)}" value="42"/>
        <property name="{'X-Named'}" scope="transport" value="yes"/>
        <property name="{'HTTP_METHOD'}" scope="axis2" value="PUT"/>
        <property name="{$ctx:nothing}" value="lost"/>
        <property name="known" value="1"/><property name="{'known'}" action="remove"/>"#;
    let check = |expression: &str, expected: Option<&str>| {
        assert_eq!(value(prepare, expression).as_deref(), expected, "{expression}");
    };
    check("get-property(concat('price-', '1'))", Some("42"));
    check("get-property(concat('price-', '2'))", Some(""));
    check("$trp:X-Named", Some("yes"));
    check("$axis2:HTTP_METHOD", Some("PUT"));
    check("$ctx:known", None);
}

#[test]
fn each_scope_is_read_by_its_own_name() {
    let prepare = r#"<property name="a" value="default"/><property name="a" value="axis2" scope="axis2"/>
        <property name="a" value="client" scope="axis2-client"/><property name="a" value="operation" scope="operation"/>
        <property name="a" value="header" scope="transport"/><property name="a" value="seen" scope="trace"/>"#;
    let check = |expression: &str, expected: &str| {
        assert_eq!(value(prepare, expression).as_deref(), Some(expected), "{expression}");
    };
    check("concat($ctx:a, $axis2:a, $operation:a, $trp:a)", "defaultaxis2operationheader");
    check("get-property('default', 'a')", "default");
    check("get-property('axis2-client', 'a')", "client");
    check("get-property('operation', 'a')", "operation");
    check("get-property('transport', 'A')", "header");
    check("string(get-property('system', 'no.such.thing') = '')", "true");
    check("string($sys:nothing = '')", "true");
    check("get-property('axis2', 'SYSTEM_TIME')", "1795235677176");
    check("get-property('default', 'SYSTEM_DATE', 'yyyy')", "2026");
}
