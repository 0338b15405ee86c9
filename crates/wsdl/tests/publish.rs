//! What is published, against what Apache Synapse 3.0.1 publishes of the same descriptions (`tests/synapse/README.md`).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use myelin_wsdl::{
    Addresses, Description, Documents, ErrorKind, Form, Links, Options, Page, Published, Scheme, Source, publish,
};
use myelin_xml::{Document, Kind, NodeId};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn source(path: &Path) -> Option<Source> {
    let text = fs::read_to_string(path).ok()?;
    Some(Source { uri: path.display().to_string(), text })
}

fn documents(name: &str) -> Documents {
    let root = source(&folder().join("files").join(name)).unwrap();
    Documents::collect(root, |wanted| source(&Path::new(wanted.base).parent()?.join(wanted.location))).unwrap()
}

fn options(service: &str, form: Form) -> Options<'_> {
    Options {
        service,
        documentation: None,
        form,
        links: Links::Relative,
        keep_policies: form != Form::Own,
        soap11: true,
        soap12: true,
        http: true,
        plain: true,
        secure: false,
    }
}

const ADDRESSES: Addresses<'_> =
    Addresses { asked: Scheme::Http, http: Some("http://vm:18431/services/"), https: Some("https://vm/services/") };

fn text(page: &Page) -> String {
    String::from_utf8(page.fill(&ADDRESSES)).unwrap()
}

/// A document line by line, with what may differ left out: prefixes, the order of what has none, defaults of schemas.
fn lines(text: &str) -> Vec<String> {
    let tree = Document::parse(text.as_bytes().to_vec(), &Default::default()).unwrap();
    element(&tree, tree.root_element().unwrap())
}

fn element(tree: &Document, node: NodeId) -> Vec<String> {
    let name = tree.qname(node);
    let expand = |value: &str| match value.split_once(':') {
        Some((prefix, local)) if !local.starts_with("//") => match tree.lookup_namespace(node, prefix) {
            Some(namespace) => format!("{{{namespace}}}{local}"),
            None => value.to_owned(),
        },
        _ => value.to_owned(),
    };
    let attributes = tree.attributes(node).filter_map(|attribute| {
        let name = tree.qname(attribute);
        let value = expand(&tree.value(attribute));
        match (name.local, value.as_str()) {
            ("attributeFormDefault" | "elementFormDefault", "unqualified") => None,
            // Optional, and of no use to anybody who reads 2.0 today.
            ("style" | "signature", _) if tree.qname(node).namespace == myelin_wsdl::WSDL20 => None,
            // The names of imported schemas are the bus's own affair.
            ("schemaLocation", value) => Some(format!("schemaLocation={}", value.split('=').next().unwrap())),
            (local, value) => Some(format!("{{{}}}{local}={value}", name.namespace)),
        }
    });
    let mut attributes: Vec<String> = attributes.collect();
    attributes.sort();
    let mut children: Vec<Vec<String>> = Vec::new();
    for child in tree.children(node) {
        match tree.kind(child) {
            Kind::Element => children.push(element(tree, child)),
            Kind::Text if !tree.value(child).trim().is_empty() => {
                children.push(vec![tree.value(child).trim().to_owned()]);
            }
            _ => {}
        }
    }
    if !name.namespace.ends_with("XMLSchema") {
        children.sort();
    }
    let mut lines = vec![format!("{{{}}}{} {}", name.namespace, name.local, attributes.join(" "))];
    lines.extend(children.into_iter().flatten().map(|line| format!("  {line}")));
    lines
}

/// Checks a page against Synapse's; `known` is what Axis2 writes and why ours differs, as a replacement in its text.
fn check(page: &Page, file: &str, known: &[(&str, &str)]) {
    let mut expected = fs::read_to_string(folder().join("synapse").join(file)).unwrap();
    for (was, is) in known {
        assert!(expected.contains(was), "{file} no longer has {was:?}");
        expected = expected.replace(was, is);
    }
    let (ours, expected) = (lines(&text(page)), lines(&expected));
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|line| !other.contains(line)).cloned().collect()
    };
    assert!(
        ours == expected,
        "{file}: only ours {:#?}, only Synapse's {:#?}",
        only(&ours, &expected),
        only(&expected, &ours)
    );
}

fn published(name: &str, options: &Options<'_>) -> Published {
    let documents = documents(name);
    publish(Some(&documents), &Description::read(&documents).unwrap(), options)
}

#[test]
fn a_proxy_without_a_description_has_one_that_takes_anything() {
    // The part is one of no message: Axis2 names it all the same.
    let known = [(" part=\"parameters\"", "")];
    let made = publish(None, &Description::unknown("mediate"), &options("None", Form::Own));
    check(&made.wsdl, "None.wsdl", &known);
    let with_words = Options { documentation: Some("Says what came."), ..options("NoneDesc", Form::Own) };
    check(&publish(None, &Description::unknown("mediate"), &with_words).wsdl, "NoneDesc.wsdl", &known);
    assert!(text(&made.wsdl2).contains("element=\"#none\""));
}

#[test]
fn a_service_describes_itself_by_the_interface_of_the_source_with_its_own_name_and_ports() {
    let orders = published("orders.wsdl", &options("Orders", Form::Own));
    // Axis2 declares headers of SOAP 1.1 in the namespace of 1.2, which nobody understands.
    let header = "<soap:body use=\"literal\"/>\n                <soap12:header";
    check(&orders.wsdl, "Orders.wsdl", &[(header, &header.replace("soap12", "soap"))]);
    let known = [
        // The name of a part that the message does not have.
        ("part=\"parameters\"", "part=\"body\""),
        // By default an action begins with the namespace of its port type, which is the imported one.
        ("urn:concrete:Pinger", "urn:abstract:Pinger"),
    ];
    check(&published("concrete.wsdl", &options("Concrete", Form::Own)).wsdl, "Concrete.wsdl", &known);
}

#[test]
fn operations_of_the_rpc_style_become_ones_of_the_document_style_with_the_same_messages() {
    check(&published("rpc.wsdl", &options("Rpc", Form::Own)).wsdl, "Rpc.wsdl", &[]);
    let only11 = Options { soap12: false, http: false, ..options("Nosoap12", Form::Own) };
    check(&published("rpc.wsdl", &only11).wsdl, "Nosoap12.wsdl", &[]);
}

#[test]
fn the_original_keeps_all_but_addresses_and_links() {
    check(&published("orders.wsdl", &options("OrdersOrig", Form::Original)).wsdl, "OrdersOrig.wsdl", &[]);
    check(&published("concrete.wsdl", &options("ConcreteOrig", Form::Original)).wsdl, "ConcreteOrig.wsdl", &[]);
    check(&published("rpc.wsdl", &options("RpcOrig", Form::Original)).wsdl, "RpcOrig.wsdl", &[]);
    check(&published("rpc.wsdl", &options("RpcOrigAsIs", Form::AsItCame)).wsdl, "RpcOrigAsIs.wsdl", &[]);
}

#[test]
fn version_two_says_the_same() {
    // A binding need not repeat the messages of an operation.
    let messages = ("<wsdl2:input/>", "");
    check(&published("rpc.wsdl", &options("Rpc", Form::Own)).wsdl2, "Rpc.wsdl2", &[messages, ("<wsdl2:output/>", "")]);
    let fault = "<wsdl2:outfault ref=\"tns:refused\"/>";
    check(
        &published("orders.wsdl", &options("Orders", Form::Own)).wsdl2,
        "Orders.wsdl2",
        &[messages, ("<wsdl2:output/>", ""), (fault, "")],
    );
}

#[test]
fn what_was_published_can_be_read_again_in_either_version() {
    let orders = published("orders.wsdl", &options("Orders", Form::Own));
    for page in [&orders.wsdl, &orders.wsdl2] {
        let documents = Documents::new(Source { uri: "again".to_owned(), text: text(page) }).unwrap();
        let again = Description::read(&documents).unwrap();
        let actions: Vec<_> = again.operations.iter().map(|it| (it.name.as_str(), it.action.as_str())).collect();
        assert_eq!(actions, [("place", "urn:orders#place"), ("note", "urn:orders#note")]);
        assert_eq!(again.operations[0].element.as_ref().unwrap().local, "place");
        assert_eq!(again.ports.len(), 3);
        assert!(again.ports.iter().all(|port| port.address.starts_with("http://vm:18431/services/Orders.Orders")));
    }
}

#[test]
fn imported_schemas_have_pages_that_lead_to_each_other() {
    let orders = published("orders.wsdl", &options("Orders", Form::Own));
    let names: Vec<&str> = orders.schemas.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["types/orders.xsd", "types/common.xsd", "types/more.xsd"]);
    let first = text(orders.schema("types/orders.xsd").unwrap());
    assert!(first.contains("schemaLocation=\"Orders?xsd=types/common.xsd\""), "{first}");
    assert_eq!(first, text(orders.schema("xsd0").unwrap()));
    assert!(text(orders.schema("xsd1.xsd").unwrap()).contains("urn:common"));
    assert!(orders.schema("xsd9").is_none() && orders.schema("other").is_none());
    assert!(text(orders.schema.as_ref().unwrap()).contains("schemaLocation=\"Orders?xsd=types/orders.xsd\""));
    let absolute = Options { links: Links::Absolute, ..options("Orders", Form::Own) };
    let absolute = text(&published("orders.wsdl", &absolute).wsdl);
    assert!(absolute.contains("\"http://vm:18431/services/Orders?xsd=types/orders.xsd\""), "{absolute}");
    let imported = published("concrete.wsdl", &options("Concrete", Form::Original));
    assert!(text(&imported.descriptions["abstract.wsdl"]).contains("Pinger"));
}

#[test]
fn policies_are_handed_on_or_not() {
    let kept = Options { keep_policies: true, ..options("Rpc", Form::Own) };
    let kept = text(&published("rpc.wsdl", &kept).wsdl);
    assert_eq!(kept.matches("PolicyReference").count(), 3, "each binding has it: {kept}");
    assert!(kept.contains("x:Secret"));
    let gone = Options { keep_policies: false, ..options("Rpc", Form::Original) };
    let gone = text(&published("rpc.wsdl", &gone).wsdl);
    assert!(!gone.contains("Policy") && !gone.contains("Secret"), "{gone}");
}

#[test]
fn only_ports_that_are_offered_are_told_and_addresses_are_escaped() {
    let both = Options { secure: true, ..options("Rpc", Form::Own) };
    let page = published("rpc.wsdl", &both).wsdl;
    assert_eq!(text(&page).matches("address location=\"https://vm/services/Rpc.RpcHttps").count(), 3);
    let hostile = Addresses { asked: Scheme::Http, http: Some("http://a\"<&/services/"), https: None };
    let filled = String::from_utf8(page.fill(&hostile)).unwrap();
    assert!(!filled.contains("Https") && filled.contains("http://a&quot;&lt;&amp;/services/Rpc.Rpc"), "{filled}");
}

#[test]
fn imports_in_a_circle_end_and_too_many_are_refused() {
    let schema = |location: &str| {
        format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:include schemaLocation='{location}'/></xs:schema>"
        )
    };
    let root = |location: &str| Source {
        uri: "root".to_owned(),
        text: format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><types>{}</types></definitions>",
            schema(location)
        ),
    };
    let mut asked = 0;
    let circle = Documents::collect(root("a"), |wanted| {
        asked += 1;
        let other = if wanted.location == "a" { "b" } else { "a" };
        Some(Source { uri: wanted.location.to_owned(), text: schema(other) })
    });
    assert!(circle.is_ok());
    assert_eq!(asked, 3, "root asks for a, a for b, b for a");
    let endless = Documents::collect(root("0"), |wanted| {
        let next: u32 = wanted.location.parse().unwrap();
        Some(Source { uri: wanted.location.to_owned(), text: schema(&(next + 1).to_string()) })
    });
    assert!(matches!(endless.unwrap_err().kind, ErrorKind::TooManyDocuments(_)));
}

#[test]
fn what_is_missing_is_told_with_its_place() {
    let read = |text: &str| {
        let documents = Documents::new(Source { uri: "a.wsdl".to_owned(), text: text.to_owned() })?;
        Description::read(&documents)
    };
    let error = read(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'>\n<portType><operation name='a'><input message='b'/></operation></portType></definitions>",
    );
    assert_eq!(error.unwrap_err().to_string(), "a.wsdl:2:31: there is no message \"b\"");
    assert!(matches!(read("<a/>").unwrap_err().kind, ErrorKind::Root(_)));
    assert!(matches!(
        read("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>").unwrap_err().kind,
        ErrorKind::Empty
    ));
    assert!(matches!(read("<a").unwrap_err().kind, ErrorKind::Malformed(_)));
}

#[test]
fn an_operation_is_found_by_its_action_or_else_by_its_element() {
    let description = Description::read(&documents("orders.wsdl")).unwrap();
    let check = |action, element, expected| {
        assert_eq!(description.operation(action, element).map(|operation| operation.name.as_str()), expected);
    };
    check("urn:orders#note", Some(("urn:orders:types", "place")), Some("note"));
    check("urn:wrong", Some(("urn:orders:types", "place")), Some("place"));
    check("", Some(("urn:other", "place")), None);
    check("", None, None);
}

#[test]
fn a_description_of_more_than_anybody_writes_is_refused() {
    let operations = "<operation name='a'/>".repeat(20_000);
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><portType>{operations}</portType></definitions>"
    );
    let error = Documents::new(Source { uri: String::new(), text }).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::TooManyDefinitions(_)), "{error}");
}

#[test]
fn a_description_with_a_piece_missing_makes_nothing_panic() {
    for file in ["orders.wsdl", "concrete.wsdl", "abstract.wsdl", "rpc.wsdl"] {
        let whole = source(&folder().join("files").join(file)).unwrap().text;
        let again = text(&published(file, &options("Again", Form::Own)).wsdl2);
        for whole in [whole, again] {
            for (at, length) in (0..whole.len()).step_by(3).zip([1, 7, 40, 300].into_iter().cycle()) {
                let text = format!("{}{}", &whole[..at], &whole[(at + length).min(whole.len())..]);
                let Ok(documents) = Documents::new(Source { uri: file.to_owned(), text }) else { continue };
                let Ok(description) = Description::read(&documents) else { continue };
                for form in [Form::Own, Form::Original] {
                    let made = publish(Some(&documents), &description, &options("Again", form));
                    for page in [&made.wsdl, &made.wsdl2] {
                        let parsed = Document::parse(page.fill(&ADDRESSES), &Default::default());
                        assert!(parsed.is_ok(), "{}: {}", parsed.unwrap_err(), self::text(page));
                    }
                }
            }
        }
    }
}
