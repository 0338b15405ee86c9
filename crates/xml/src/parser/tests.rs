//! Tests of the parser through its public face.

use super::*;

/// What a document gives, one event a line; an error is the last line.
fn events(document: &[u8], options: &Options) -> Vec<String> {
    let mut parser = Parser::new(options.clone());
    let mut lines = Vec::new();
    loop {
        match parser.next(document, true) {
            Ok(Step::Event(event)) => lines.push(line(&event)),
            Ok(Step::More) => unreachable!("nothing more can come"),
            Ok(Step::End) => return lines,
            Err(error) => {
                assert_eq!(parser.next(document, true).unwrap_err(), error, "an error stays");
                lines.push(error.to_string());
                return lines;
            }
        }
    }
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Declaration(it) => format!("declaration {} {:?} {:?}", it.version, it.encoding, it.standalone),
        Event::Doctype(it) => format!("doctype {}", it.raw),
        Event::Start(it) => {
            let mut line = format!("start {} {:?}", it.name.index(), it.range);
            for declaration in it.declarations() {
                line += &format!(" xmlns:{}={}", declaration.prefix(), declaration.namespace());
            }
            for attribute in it.attributes() {
                let name = it.names().get(attribute.name);
                line += &format!(" {{{}}}{}={:?}", name.namespace, name.local, attribute.value());
            }
            line
        }
        Event::End(it) => format!("end {} {:?}", it.name.index(), it.range),
        Event::Text(it) => format!("text {:?} {:?}", it.value(), it.range),
        Event::Comment(it) => format!("comment {:?}", it.value()),
        Event::Instruction(it) => format!("instruction {} {:?}", it.target, it.value()),
    }
}

#[test]
fn an_ordinary_document_becomes_its_events() {
    let document = br#"<?xml version="1.0" encoding="UTF-8"?>
<!-- c --><s:a xmlns:s="urn:s" xmlns='urn:d' x="1 &lt; &#x32;" s:y='"'><b/>t&amp;u<![CDATA[<&]]></s:a>
<?pi  data ?>"#;
    assert_eq!(
        events(document, &Options::default()),
        [
            "declaration 1.0 Some(\"UTF-8\") None",
            "comment \" c \"",
            "start 0 49..110 xmlns:s=urn:s xmlns:=urn:d {}x=\"1 < 2\" {urn:s}y=\"\\\"\"",
            "start 3 110..114",
            "end 3 114..114",
            "text \"t&u\" 114..121",
            "text \"<&\" 121..135",
            "end 0 135..141",
            "instruction pi \"data \"",
        ]
    );
}
