//! A description in WSDL 2.0, with the endpoints and names that Axis2 gives a service.

use super::{Making, Way, actions};
use crate::described::{Content, Operation, Use};
use crate::page::{Page, escaped};
use crate::prefixes::Prefixes;
use crate::{ACTION, HTTP20_BINDING, SOAP20_BINDING, WSDL20};

/// Makes the description.
///
/// Shape: an interface, a binding for each way, and an endpoint for each way and scheme.
/// Source: what Axis2 publishes for a proxy of Synapse, save for the styles of operations.
pub(crate) fn wsdl20(making: &Making<'_>) -> Page {
    let mut prefixes = Prefixes::new(making.known_prefixes());
    let w = prefixes.of(WSDL20, "wsdl2");
    let tns = prefixes.before(&making.description.namespace, "tns");
    let soap = prefixes.of(SOAP20_BINDING, "wsoap");
    let http = prefixes.of(HTTP20_BINDING, "whttp");
    let wsaw = prefixes.of(ACTION, "wsaw");
    let mut writing = Writing { making, w, tns, soap, http, wsaw, prefixes };
    let interface = writing.interface();
    let bindings: String = making.ways().map(|way| writing.binding(way)).collect();
    let service = writing.service();
    let Writing { w, prefixes, .. } = writing;
    let mut page = making.opening(&w, "description", &prefixes);
    page.push(&interface);
    page.push(&bindings);
    page.append(service);
    page.push(&format!("</{w}:description>\n"));
    page
}

struct Writing<'a> {
    making: &'a Making<'a>,
    w: String,
    /// What stands before the names that the description defines.
    tns: String,
    soap: String,
    http: String,
    wsaw: String,
    prefixes: Prefixes,
}

impl Writing<'_> {
    /// The name of the interface, escaped.
    fn interface_name(&self) -> String {
        match self.making.description.interface.local.as_str() {
            "" => format!("{}PortType", self.making.name()),
            name => escaped(name),
        }
    }

    /// Faults by name: an interface declares each once.
    fn faults(&self) -> Vec<&Use> {
        let mut faults: Vec<&Use> = Vec::new();
        for used in self.making.description.operations.iter().flat_map(|operation| &operation.faults) {
            if !faults.iter().any(|known| known.name == used.name) {
                faults.push(used);
            }
        }
        faults
    }

    fn interface(&mut self) -> String {
        let (w, tns, wsaw) = (self.w.clone(), self.tns.clone(), self.wsaw.clone());
        let description = self.making.description;
        let mut out = format!("<{w}:interface name=\"{}\">\n", self.interface_name());
        let faults: Vec<(String, Option<Content>)> =
            self.faults().into_iter().map(|it| (it.name.clone(), content(it))).collect();
        for (name, content) in faults {
            out.push_str(&format!("  <{w}:fault name=\"{}\" {}/>\n", escaped(&name), self.element(content)));
        }
        for operation in &description.operations {
            let name = escaped(&operation.name);
            out.push_str(&format!("  <{w}:operation name=\"{name}\" pattern=\"{}\">\n", pattern(operation)));
            if let Some(text) = &operation.documentation {
                out.push_str(&format!("    <{w}:documentation>{}</{w}:documentation>\n", escaped(text)));
            }
            if let Some(used) = &operation.input {
                let action = escaped(&actions::input(description, operation, used));
                let element = self.element(content(used));
                out.push_str(&format!("    <{w}:input {element} {wsaw}:Action=\"{action}\"/>\n"));
            }
            if let Some(used) = &operation.output {
                let action = escaped(&actions::output(description, operation, used));
                let element = self.element(content(used));
                out.push_str(&format!("    <{w}:output {element} {wsaw}:Action=\"{action}\"/>\n"));
            }
            for used in &operation.faults {
                let action = escaped(&actions::fault(description, operation, used));
                let name = escaped(&used.name);
                out.push_str(&format!("    <{w}:outfault ref=\"{tns}{name}\" {wsaw}:Action=\"{action}\"/>\n"));
            }
            out.push_str(&format!("  </{w}:operation>\n"));
        }
        out + &format!("</{w}:interface>\n")
    }

    fn element(&mut self, content: Option<Content>) -> String {
        match content {
            None => "element=\"#none\"".to_owned(),
            Some(Content::Element(it)) => format!("element=\"{}\"", self.prefixes.name(&it.namespace, &it.local)),
            // What is said by a type has no element in this version.
            Some(_) => "element=\"#any\"".to_owned(),
        }
    }

    fn binding(&self, way: Way) -> String {
        let Writing { w, tns, soap, http, .. } = self;
        let head = match way {
            Way::Soap11 => format!("type=\"{SOAP20_BINDING}\" {soap}:version=\"1.1\""),
            Way::Soap12 => format!("type=\"{SOAP20_BINDING}\" {soap}:version=\"1.2\""),
            Way::Http => format!("type=\"{HTTP20_BINDING}\" {http}:methodDefault=\"POST\""),
        };
        let (name, interface) = (self.making.name(), self.interface_name());
        let mut out =
            format!("<{w}:binding name=\"{name}{}Binding\" interface=\"{tns}{interface}\" {head}>\n", way.binding());
        for used in self.faults() {
            out.push_str(&format!("  <{w}:fault ref=\"{tns}{}\"/>\n", escaped(&used.name)));
        }
        for operation in &self.making.description.operations {
            let name = escaped(&operation.name);
            let how = match way {
                Way::Http => format!("{http}:location=\"{name}\""),
                _ => format!("{soap}:action=\"{}\"", escaped(&operation.action)),
            };
            out.push_str(&format!("  <{w}:operation ref=\"{tns}{name}\" {how}/>\n"));
        }
        out + &format!("</{w}:binding>\n")
    }

    fn service(&self) -> Page {
        let (w, tns, name) = (&self.w, &self.tns, self.making.name());
        let mut page = Page::default();
        page.push(&format!("<{w}:service name=\"{name}\" interface=\"{tns}{}\">\n", self.interface_name()));
        self.making.endpoints(&mut page, &mut |page, way, endpoint, scheme| {
            let binding = way.binding();
            page.push(&format!(
                "  <{w}:endpoint name=\"{}\" binding=\"{tns}{name}{binding}Binding\" address=\"",
                escaped(endpoint)
            ));
            self.making.address(page, endpoint, scheme);
            page.push("\"/>\n");
        });
        page.push(&format!("</{w}:service>\n"));
        page
    }
}

/// What the body of a message holds: its first part, if it has any.
fn content(used: &Use) -> Option<Content> {
    used.message.parts.first().map(|part| part.content.clone())
}

/// The message exchange pattern (WSDL 2.0 Adjuncts §2).
fn pattern(operation: &Operation) -> &'static str {
    match (&operation.input, &operation.output, operation.faults.is_empty()) {
        (Some(_), Some(_), _) => "http://www.w3.org/ns/wsdl/in-out",
        (Some(_), None, true) => "http://www.w3.org/ns/wsdl/in-only",
        (Some(_), None, false) => "http://www.w3.org/ns/wsdl/robust-in-only",
        (None, _, _) => "http://www.w3.org/ns/wsdl/out-only",
    }
}
