//! An expression answered from the wire and one answered from the tree give the same.
#![allow(clippy::type_complexity, reason = "what is compared is printed once")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Scenario, request};

const NS: &str = r#"xmlns:s11="http://schemas.xmlsoap.org/soap/envelope/" xmlns:s12="http://www.w3.org/2003/05/soap-envelope" xmlns:o="urn:o""#;

/// A body on the wire that has all come, and is shown so many bytes more each time.
struct Whole(std::cell::RefCell<Vec<u8>>, usize);

impl myelin_message::Source for Whole {
    fn remaining(&self, _: u64) -> Option<u64> {
        None
    }
    fn poll_piece(
        &self,
        _: u64,
        _: &mut std::task::Context<'_>,
        into: &mut Vec<u8>,
    ) -> std::task::Poll<Result<bool, myelin_message::BodyError>> {
        into.append(&mut self.0.borrow_mut());
        std::task::Poll::Ready(Ok(false))
    }
    fn poll_look(
        &self,
        _: u64,
        _: &mut std::task::Context<'_>,
        _: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> std::task::Poll<Result<(), myelin_message::BodyError>> {
        let rest = self.0.borrow();
        let ends = (0..rest.len()).step_by(self.1).chain([rest.len()]);
        let _ = ends.into_iter().any(|end| look(&rest[..end], end == rest.len()));
        std::task::Poll::Ready(Ok(()))
    }
    fn as_any(self: std::rc::Rc<Self>) -> std::rc::Rc<dyn std::any::Any> {
        self
    }
}

fn whole(body: &str, step_bytes: usize) -> myelin_message::Body {
    let source = std::rc::Rc::new(Whole(std::cell::RefCell::new(body.into()), step_bytes));
    myelin_message::Body::Wire(myelin_message::Wire { source, ticket: 1 })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn scenario(expression: &str, tree: bool) -> Scenario {
    let expression = escape(expression);
    let build = if tree { r#"<property name="built" expression="//none-such" type="OM"/>"# } else { "" };
    Scenario::new(&format!(
        r#"<sequence name="bad"><property name="HTTP_SC" value="500" scope="axis2"/>
             <property name="X-Error" scope="transport" expression="get-property('ERROR_MESSAGE')"/>
             <respond/></sequence>
           <proxy name="P" {NS}><target faultSequence="bad"><inSequence>
             {build}
             <property name="other" expression="count(//*)"/>
             <property name="r" expression="{expression}"/>
             <filter xpath="{expression}"><then><property name="X-B" scope="transport" value="1"/></then>
               <else><property name="X-B" scope="transport" value="0"/></else></filter>
             <filter source="{expression}" regex="(?s).*"><then><property name="X-M" scope="transport" value="1"/></then></filter>
             <property name="X-R" scope="transport" expression="base64Encode(get-property('r'))"/>
             <respond/>
           </inSequence></target></proxy>"#
    ))
}

fn documents() -> Vec<(&'static str, String)> {
    let s11 = "http://schemas.xmlsoap.org/soap/envelope/";
    let s12 = "http://www.w3.org/2003/05/soap-envelope";
    let mut all: Vec<(&'static str, String)> = vec![
        ("application/xml", r#"<o:order xmlns:o="urn:o" id="7"><o:symbol>IBM</o:symbol><o:symbol>SUN</o:symbol><o:qty>12</o:qty><a/><m>a<b>c</b>d</m></o:order>"#.into()),
        ("application/xml", "<?xml version=\"1.0\"?>\n<!-- before -->\n<?pi one?>\n<a><b>1</b><!-- in --><b>2</b></a>\n<!-- after -->\n<?pi two?>\n".into()),
        ("application/xml", "\u{feff}<a x='1' y='2'>t<![CDATA[<raw>]]><b/>u</a>".into()),
        ("application/xml; charset=ISO-8859-1", "<a>x</a>".into()),
        ("text/xml", "<a><Header/><Body><b/></Body></a>".into()),
        ("application/xml", "<Envelope><Body><b>1</b></Body></Envelope>".into()),
        ("application/xml", "<a/>".into()),
        ("application/xml", "<a>   </a>".into()),
        ("application/xml", "<a><b>   </b><b><c/></b><b>x</b></a>".into()),
        ("application/xml", "<a xmlns='urn:d' xmlns:p='urn:p' p:q='v'><p:b p:c='1'>é&#xe9;&amp;&lt;</p:b></a>".into()),
    ];
    for ns in [s11, s12] {
        let ct = if ns == s11 { "text/xml" } else { "application/soap+xml" };
        for (header, body) in [
            (
                "<S:Header><o:h>H</o:h></S:Header>",
                "<S:Body><o:order id=\"7\"><o:symbol>IBM</o:symbol><o:qty>12</o:qty></o:order></S:Body>",
            ),
            ("", "<S:Body><o:order/><b>1</b></S:Body>"),
            ("<S:Header/>", "<S:Body/>"),
            ("<Header>fake</Header>", "<S:Body><b>1</b></S:Body><S:Header><o:h/></S:Header>"),
            ("", "<o:Body><b>9</b></o:Body><S:Body><b>1</b></S:Body>"),
            (
                "<o:Header><b>x</b></o:Header><S:Header><b>y</b></S:Header>",
                "<S:Body><S:Fault><faultstring>no</faultstring></S:Fault></S:Body><S:Body><b>2</b></S:Body>",
            ),
            ("", ""),
            ("<!-- c -->t", "<S:Body>x<o:Fault/><S:Fault/></S:Body><?pi x?><o:after>z</o:after>"),
        ] {
            // Those without a comment begin alike, so that a pass learns from one how the others begin.
            all.push((ct, format!(r#"<?xml version="1.0"?><S:Envelope xmlns:S="{ns}" xmlns:o="urn:o" at="v">{header}{body}</S:Envelope>"#)));
            all.push((ct, format!(r#"<?xml version="1.0"?><!-- top --><S:Envelope xmlns:S="{ns}" xmlns:o="urn:o" at="v">{header}{body}</S:Envelope><!-- end -->"#)));
        }
    }
    all
}

const EXPRESSIONS: &[&str] = &[
    "//b",
    "//o:symbol",
    "//o:symbol[1]",
    "//o:symbol[2]",
    "/descendant::o:symbol[last()]",
    "//o:order/@id",
    "//@*",
    "//text()",
    "//comment()",
    "//processing-instruction()",
    "/comment()",
    "/node()",
    "count(/node())",
    "count(/comment())",
    "count(//node())",
    "count(//comment())",
    "count(//*)",
    "count(/*)",
    "count(/*/*)",
    "count(*)",
    "count(node())",
    "/",
    ".",
    "..",
    "/*",
    "/*/*",
    "*",
    "*/*",
    "*/*/*",
    "$body",
    "$header",
    "$body/*",
    "$body/*[1]",
    "$body/node()",
    "$header/*",
    "$env",
    "$env/*",
    "$body/..",
    "$body/comment()",
    "$body/b",
    "$body/o:order",
    "$body/o:order/@id",
    "$body//b",
    "$body/@*",
    "count($body/*)",
    "count($header)",
    "count($body)",
    "boolean($header)",
    "not($header)",
    "not($body)",
    "local-name()",
    "name()",
    "namespace-uri()",
    "local-name(/*)",
    "name(/*)",
    "name(//*)",
    "local-name($body/*)",
    "name($body/*[1])",
    "namespace-uri($body/*[1])",
    "position()",
    "last()",
    "string()",
    "string(.)",
    "string(/)",
    "string(//b)",
    "string($body)",
    "normalize-space()",
    "normalize-space(//b)",
    "string-length()",
    "string-length(//b)",
    "s11:Body/b",
    "s12:Body/b",
    "s11:Body/*",
    "s11:Envelope/s11:Body",
    "/s11:Envelope/s11:Body/b",
    "/s11:Envelope/s11:Header",
    "/s12:Envelope/s12:Body/*",
    "s11:Header",
    "s11:Header/o:h",
    "//b = 1",
    "//b = '1'",
    "//b != 1",
    "//b > 1",
    "//o:qty > 10",
    "//o:qty > 10 and //o:symbol = 'IBM'",
    "//o:symbol = 'SUN' or //b",
    "1 = //b",
    "'IBM' = //o:symbol",
    "//b = //b",
    "//b = true()",
    "//b/text() = '1'",
    "//b[. = 1]",
    "//b[text()]",
    "//b[not(*)]",
    "//*[@id]",
    "//*[@id = 7]/o:symbol",
    "//*[local-name() = 'symbol']",
    "//*[local-name() = 'b'][2]",
    "(//b)[1]",
    "(//b)[2]",
    "(//b)[last()]",
    "//*[b]",
    "//*[b = 2]",
    "//*[not(b)]",
    "//a/b[1]",
    "/*/*/*[1]",
    "//a[b = 1]/b",
    "//m",
    "//m/text()",
    "//a",
    "//a/@x",
    "//a/@x | //a/@y",
    "//b | //o:symbol",
    "//b/..",
    "//b/../@*",
    "//b/following-sibling::*",
    "//b/preceding-sibling::*",
    "//b/ancestor::*",
    "//b/parent::*",
    "/descendant::node()",
    "//self::b",
    "//b/self::node()",
    "/descendant-or-self::node()",
    "count(//b)",
    "count(//b) > 1",
    "count(//b) + 1",
    "sum(//b)",
    "-//b",
    "//b + 1",
    "number(//b)",
    "//b * 2",
    "floor(//b)",
    "1 div 0",
    "concat(//b, '-', //o:symbol)",
    "concat(count(//b), '')",
    "substring(//o:symbol, 2)",
    "contains(//o:symbol, 'BM')",
    "starts-with(//b, '1')",
    "translate(//o:symbol, 'I', 'i')",
    "string(count(//b))",
    "not(//b)",
    "boolean(//b)",
    "boolean(//b = 1)",
    "not(//b = 1)",
    "true()",
    "'lit'",
    "3",
    "get-property('FAULT')",
    "get-property('FAULT')/faultstring",
    "boolean(get-property('FAULT'))",
    "id('7')",
    "lang('en')",
    "//b[lang('en')]",
    "//namespace::*",
    "//b[position() = 2]",
    "//b[position() < 2]",
    "//b[last()]",
    "//*[position() = 1]",
    "//b[$ctx:other > 3]",
    "//b[. = get-property('other')]",
    "//b = $ctx:other",
    "//*[local-name() = $ctx:nope]",
    "concat($ctx:other, //b)",
    "//b > $trp:X-N",
    "//b = $trp:X-N",
    "count(//*) = $ctx:other",
    "$ctx:nope = //b",
    "$ctx:other and //b",
    "//b[base64Encode(.) = 'MQ==']",
    "base64Encode(//b)",
    "//*/*",
    "//*//*",
    "/*//b",
    "//Body/b",
    "//Header",
    "//*[local-name() = 'Body']",
    "//*[local-name() = 'Body']/*",
    "/*/*[local-name() = 'Body']/*",
    "//*[name() = 'S:Body']",
    "//S",
    "//*[namespace-uri() = 'urn:o']",
    "//@p:q | //@at",
    "/*/@at",
    "@at",
    "@*",
    "//attribute::*[. = 'v']",
    "//processing-instruction('pi')",
    "//node()[self::b]",
    "//*[starts-with(local-name(), 'sym')]",
    "//*[self::b or self::m]",
    "//b[1] = 1",
    "//*[*]",
    "//*[text() = '1']",
    "//*[. = '12']",
    "//*[@*]",
    "//*[comment()]",
    "//text()[. = '1']",
    "//text()[contains(., 'IB')]",
    "//comment()[1]",
    "//b[2]/text()",
    "boolean(//text())",
    "boolean(//comment())",
    "boolean(/comment())",
    "count(//text())",
    "//text() = 'x'",
];

#[test]
fn stream_and_tree_give_the_same_in_the_bus() {
    let documents = documents();
    let mut different = Vec::new();
    for expression in EXPRESSIONS {
        // What cannot be loaded is refused for both.
        let loaded = crate::common::load_text(&format!(
            r#"<proxy name="P" {NS}><target><inSequence><property name="r" expression="{}"/></inSequence></target></proxy>"#,
            escape(expression)
        ));
        if loaded.report.faulty() > 0 {
            eprintln!("not loaded: {expression}");
            continue;
        }
        let (stream, tree) = (scenario(expression, false), scenario(expression, true));
        for (ct, document) in &documents {
            let ask = |scenario: &Scenario, step_bytes: usize| {
                let mut message =
                    request("POST", "/services/P", &[("Host", "b"), ("Content-Type", ct), ("X-N", "1")], "");
                message.body = whole(document, step_bytes);
                let reply = scenario.serve(message);
                let part = |name: &str| reply.header(name).map(str::to_owned);
                (reply.status, part("X-B"), part("X-M"), part("X-R"), part("X-Error"), reply.body == *document)
            };
            let b = ask(&tree, 1);
            for a in [1, usize::MAX].map(|step_bytes| ask(&stream, step_bytes)) {
                if a == b && a.5 {
                    continue;
                }
                let show = |x: &(u16, Option<String>, Option<String>, Option<String>, Option<String>, bool)| {
                    use base64::Engine as _;
                    let text = x.3.as_deref().map(|t| {
                        String::from_utf8_lossy(&base64::engine::general_purpose::STANDARD.decode(t).unwrap())
                            .into_owned()
                    });
                    format!("{} B={:?} M={:?} R={:?} E={:?} same={}", x.0, x.1, x.2, text, x.4, x.5)
                };
                different.push(format!("{expression}\n   {document}\n   stream {}\n   tree   {}", show(&a), show(&b)));
            }
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}
