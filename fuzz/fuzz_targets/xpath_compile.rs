#![no_main]
//! Whatever stands in an XPath expression, it is refused with its place, or gives a value within its limits; the
//! short ways to a condition and to a text give what the value says.

use libfuzzer_sys::fuzz_target;
use myelin_xml::{Document, Options};
use myelin_xpath::{
    Argument, Context, Declared, Environment, Error, Expression, Host, Item, Limits, NodeRef, Value, Version,
};

const DOCUMENT: &str =
    "<d xmlns:p='urn:p' a='1' xml:lang='en'><p:b c='2'>x<e>3</e>y</p:b><!--n--><?t i?><b>4.5</b><b/></d>";

/// Knows every variable, one prefix and one function.
struct Names(Version);

impl Environment for Names {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "p").then(|| "urn:p".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Ok(local.len() as u32 % 3)
    }

    fn function(&mut self, name: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok((name == "h").then_some(Declared::Function(0)))
    }

    fn version(&self) -> Version {
        self.0
    }
}

struct Values<'a>(&'a Document);

impl<'a> Host<'a> for Values<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        Ok(match slot {
            0 => Value::from("text"),
            1 => Value::from(-1.5),
            _ => Value::node(self.0, self.0.document_node()),
        })
    }

    fn call(&'a self, _: u32, arguments: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::from(arguments.len() as f64))
    }
}

fuzz_target!(|text: &str| {
    let document = Document::parse(DOCUMENT.as_bytes().to_vec(), &Options::default()).expect("a document");
    let host = Values(&document);
    for version in [Version::V1, Version::V2] {
        let compiled = match Expression::compile(text, &mut Names(version)) {
            Ok(compiled) => compiled,
            Err(error) => {
                assert!(text.is_char_boundary(error.offset), "{error}");
                continue;
            }
        };
        let mut context = Context::new(&host).at(NodeRef::new(&document, document.document_node()));
        context.limits = Limits { steps: 20_000, bytes: 200_000 };
        let Ok(value) = compiled.evaluate(&context) else { continue };
        for item in value.items() {
            let _ = item.text(version);
        }
        if version == Version::V1 {
            // Each has limits of its own, which the other way may just have kept.
            if let Ok(condition) = compiled.condition(&context) {
                assert_eq!(condition, value.boolean());
            }
            if let Ok(text) = compiled.text(&context) {
                assert_eq!(text, value.string());
            }
        }
    }
});
