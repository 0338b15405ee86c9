//! A description in WSDL 1.1, with the ports and names that Axis2 gives a service.

use super::{Making, Messages, Way, actions};
use crate::described::{Content, Operation, Use};
use crate::page::{Page, escaped};
use crate::prefixes::Prefixes;
use crate::{ACTION, HTTP_BINDING, MIME_BINDING, SOAP11_BINDING, SOAP12_BINDING, WSDL11, policies};

/// Makes the description.
///
/// Shape: document style only; a port type, a binding for each way, and a port for each way and scheme.
/// Source: what Axis2 publishes for a proxy of Synapse, save that headers are in the namespace of their binding.
pub(crate) fn wsdl11(making: &Making<'_>) -> Page {
    let mut prefixes = Prefixes::new(making.known_prefixes());
    let w = prefixes.of(WSDL11, "wsdl");
    let tns = prefixes.before(&making.description.namespace, "tns");
    let mut writing = Writing { making, w, tns, prefixes, messages: Messages::default() };
    let port_type = writing.port_type();
    let bindings: Vec<Page> = making.ways().map(|way| writing.binding(way)).collect();
    let service = writing.service();
    let messages = writing.messages();
    let Writing { w, prefixes, .. } = writing;
    let mut page = making.opening(&w, "definitions", &prefixes);
    page.push(&messages);
    page.push(&port_type);
    bindings.into_iter().for_each(|binding| page.append(binding));
    page.append(service);
    if let Some(documents) = making.documents.filter(|_| making.options.keep_policies) {
        policies::definitions(documents, &mut page);
    }
    page.push(&format!("</{w}:definitions>\n"));
    page
}

struct Writing<'a> {
    making: &'a Making<'a>,
    w: String,
    /// What stands before the names that the description defines.
    tns: String,
    prefixes: Prefixes,
    messages: Messages,
}

impl<'a> Writing<'a> {
    fn port_type(&mut self) -> String {
        let (w, description) = (self.w.clone(), self.making.description);
        let mut out = format!("<{w}:portType name=\"{}PortType\">\n", self.making.name());
        for operation in &description.operations {
            out.push_str(&format!("  <{w}:operation name=\"{}\">\n", escaped(&operation.name)));
            if let Some(text) = &operation.documentation {
                out.push_str(&format!("    <{w}:documentation>{}</{w}:documentation>\n", escaped(text)));
            }
            let inout = [
                ("input", &operation.input, actions::input as fn(&_, &_, &_) -> String),
                ("output", &operation.output, actions::output),
            ];
            for (direction, used, action) in inout {
                let Some(used) = used else { continue };
                let action = action(description, operation, used);
                out.push_str(&self.message(direction, used, "", &action));
            }
            for used in &operation.faults {
                let name = format!(" name=\"{}\"", escaped(&used.name));
                out.push_str(&self.message("fault", used, &name, &actions::fault(description, operation, used)));
            }
            out.push_str(&format!("  </{w}:operation>\n"));
        }
        out + &format!("</{w}:portType>\n")
    }

    fn message(&mut self, direction: &str, used: &Use, name: &str, action: &str) -> String {
        let (w, tns) = (&self.w, &self.tns);
        let wsaw = self.prefixes.of(ACTION, "wsaw");
        let message = escaped(&self.messages.name(&used.message));
        let action = escaped(action);
        format!("    <{w}:{direction} message=\"{tns}{message}\"{name} {wsaw}:Action=\"{action}\"/>\n")
    }

    /// All messages that something refers to; written last, as only then they are known.
    fn messages(&mut self) -> String {
        let w = self.w.clone();
        let mut out = String::new();
        for (name, message) in std::mem::take(&mut self.messages).list {
            out.push_str(&format!("<{w}:message name=\"{}\">\n", escaped(&name)));
            for part in &message.parts {
                let content = match &part.content {
                    Content::Element(it) => format!(" element=\"{}\"", self.prefixes.name(&it.namespace, &it.local)),
                    Content::Type(it) => format!(" type=\"{}\"", self.prefixes.name(&it.namespace, &it.local)),
                    Content::Any => format!(" type=\"{}\"", self.prefixes.name(crate::SCHEMA, "anyType")),
                };
                out.push_str(&format!("  <{w}:part name=\"{}\"{content}/>\n", escaped(&part.name)));
            }
            out.push_str(&format!("</{w}:message>\n"));
        }
        out
    }

    fn binding(&mut self, way: Way) -> Page {
        let (w, tns, name) = (self.w.clone(), self.tns.clone(), self.making.name());
        let of_way = match way {
            Way::Soap11 => self.prefixes.of(SOAP11_BINDING, "soap"),
            Way::Soap12 => self.prefixes.of(SOAP12_BINDING, "soap12"),
            Way::Http => self.prefixes.of(HTTP_BINDING, "http"),
        };
        let mut page = Page::default();
        page.push(&format!("<{w}:binding name=\"{name}{}Binding\" type=\"{tns}{name}PortType\">\n", way.binding()));
        self.policies(None, &mut page);
        page.push(&match way {
            Way::Http => format!("  <{of_way}:binding verb=\"POST\"/>\n"),
            _ => {
                format!("  <{of_way}:binding transport=\"http://schemas.xmlsoap.org/soap/http\" style=\"document\"/>\n")
            }
        });
        for operation in &self.making.description.operations {
            self.bound(way, &of_way, operation, &mut page);
        }
        page.push(&format!("</{w}:binding>\n"));
        page
    }

    fn bound(&mut self, way: Way, of_way: &str, operation: &Operation, page: &mut Page) {
        let (w, name) = (self.w.clone(), escaped(&operation.name));
        page.push(&format!("  <{w}:operation name=\"{name}\">\n"));
        self.policies(Some((&operation.name, None)), page);
        let action = escaped(&operation.action);
        page.push(&match way {
            Way::Http => format!("    <{of_way}:operation location=\"{name}\"/>\n"),
            _ => format!("    <{of_way}:operation soapAction=\"{action}\" style=\"document\"/>\n"),
        });
        for (direction, used) in [("input", &operation.input), ("output", &operation.output)] {
            let Some(used) = used else { continue };
            page.push(&format!("    <{w}:{direction}>\n"));
            self.policies(Some((&operation.name, Some(direction))), page);
            page.push(&self.content(way, of_way, used));
            page.push(&format!("    </{w}:{direction}>\n"));
        }
        for used in &operation.faults {
            let name = escaped(&used.name);
            page.push(&match way {
                Way::Http => format!("    <{w}:fault name=\"{name}\"/>\n"),
                _ => format!(
                    "    <{w}:fault name=\"{name}\"><{of_way}:fault use=\"literal\" name=\"{name}\"/></{w}:fault>\n"
                ),
            });
        }
        page.push(&format!("  </{w}:operation>\n"));
    }

    /// What a binding says of a message.
    fn content(&mut self, way: Way, of_way: &str, used: &Use) -> String {
        if way == Way::Http {
            let mime = self.prefixes.of(MIME_BINDING, "mime");
            let part = used.message.parts.first();
            let part = part.map(|part| format!(" part=\"{}\"", escaped(&part.name))).unwrap_or_default();
            return format!("      <{mime}:content type=\"application/xml\"{part}/>\n");
        }
        let parts = used.body_parts.as_ref().map(|parts| format!(" parts=\"{}\"", escaped(parts))).unwrap_or_default();
        let mut out = format!("      <{of_way}:body use=\"literal\"{parts}/>\n");
        for header in &used.headers {
            let message = escaped(&self.messages.name(&header.message));
            let (tns, part) = (&self.tns, escaped(&header.part));
            out.push_str(&format!(
                "      <{of_way}:header use=\"literal\" part=\"{part}\" message=\"{tns}{message}\"/>\n"
            ));
        }
        out
    }

    fn policies(&self, operation: Option<(&str, Option<&str>)>, page: &mut Page) {
        if let Some(documents) = self.making.documents.filter(|_| self.making.options.keep_policies) {
            policies::attached(documents, self.making.description.binding, operation, page);
        }
    }

    fn service(&self) -> Page {
        let (w, tns, service) = (&self.w, &self.tns, self.making.name());
        let mut page = Page::default();
        page.push(&format!("<{w}:service name=\"{service}\">\n"));
        self.making.endpoints(&mut page, &mut |page, way, name, scheme| {
            let of_way = match way {
                Way::Soap11 => SOAP11_BINDING,
                Way::Soap12 => SOAP12_BINDING,
                Way::Http => HTTP_BINDING,
            };
            let used = self.prefixes.used().iter().find(|(_, namespace)| namespace == of_way);
            let prefix = used.map_or("", |(prefix, _)| prefix);
            let (name, binding) = (escaped(name), way.binding());
            page.push(&format!("  <{w}:port name=\"{name}\" binding=\"{tns}{service}{binding}Binding\">\n"));
            page.push(&format!("    <{prefix}:address location=\""));
            self.making.address(page, &name, scheme);
            page.push(&format!("\"/>\n  </{w}:port>\n"));
        });
        page.push(&format!("</{w}:service>\n"));
        page
    }
}
