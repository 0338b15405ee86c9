//! The parts of XML.

use myelin_xml::{Document, Kind, NodeId, Refusal};

use myelin_content::{Tree, graft, memory};
use myelin_flow::fault::{Fault, Outcome};

/// Elements of a message, and what surrounds each of them in a message of its own.
pub(crate) struct Parts {
    source: Document,
    elements: Vec<NodeId>,
    /// What all parts share; nothing, where each of them is plain XML alone.
    rest: Document,
    /// Where an element goes in there; `None` makes it the root.
    place: Option<NodeId>,
}

impl Parts {
    /// The parts that these nodes are, alone or with the rest of the message.
    ///
    /// Errors: the bus's, where one of them is no element.
    pub(crate) fn of(tree: &Tree, elements: Vec<NodeId>, keeps_rest: bool) -> Outcome<Parts> {
        // What other parts of a package hold would stay behind.
        let source = tree.complete_document().map_err(|error| Fault::of_content(error, false))?;
        if elements.iter().any(|&node| source.kind(node) != Kind::Element) {
            return Err(Fault::bus("The parts of a message can only be elements"));
        }
        let rest = rest(&source, tree, &elements, keeps_rest)?;
        let place = if tree.is_plain() || keeps_rest { None } else { body(&rest) };
        Ok(Parts { source, elements, rest, place })
    }

    /// What is left of the message.
    pub(crate) fn rest(&self) -> Tree {
        Tree::from_document(self.rest.clone())
    }

    /// Says where in the rest of the message each element goes: behind what is in that element already.
    ///
    /// `rest` is what [`Parts::rest`] gave, in whose body the root of plain XML stands.
    /// Errors: the bus's, where that is no element of the rest.
    pub(crate) fn attach_to(&mut self, place: Option<NodeId>, rest: &Tree) -> Outcome<()> {
        let is_element = |&place: &NodeId| rest.document().kind(place) == Kind::Element;
        let Some(place) = place.filter(is_element) else {
            return Err(Fault::bus("There is no element at the attachPath to attach a part of the message to"));
        };
        // The body around plain XML is one that is never sent: what is attached to it is the root.
        let around = [Some(rest.envelope().element), rest.envelope().body];
        self.place = match rest.is_plain() && around.contains(&Some(place)) {
            false => Some(place),
            true if self.rest.root_element().is_none() => None,
            true => return Err(Fault::bus("Plain XML has one root element, and there would be several")),
        };
        Ok(())
    }

    pub(crate) fn count(&self) -> usize {
        self.elements.len()
    }

    /// The message that the part with this number becomes.
    pub(crate) fn part(&self, number: usize) -> Result<Tree, Refusal> {
        let mut document = if self.place.is_some() { self.rest.clone() } else { Document::in_arena(memory::take(0)) };
        let element = graft(&self.source, self.elements[number], &mut document, self.place)?;
        document.append(self.place.unwrap_or(document.document_node()), element)?;
        Ok(Tree::from_document(document))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        memory::keep(std::mem::take(&mut self.source));
        memory::keep(std::mem::take(&mut self.rest));
    }
}

/// What is left of a message without these elements, or of its envelope without the content.
fn rest(source: &Document, tree: &Tree, elements: &[NodeId], keeps_rest: bool) -> Result<Document, Refusal> {
    let mut left = source.clone();
    let envelope = tree.envelope();
    elements.iter().for_each(|&element| left.detach(element));
    if let Some(body) = envelope.body.filter(|_| !keeps_rest) {
        let content: Vec<NodeId> = left.children(body).collect();
        content.into_iter().for_each(|node| left.detach(node));
    }
    let top = if tree.is_plain() { envelope.payload(&left) } else { Some(envelope.element) };
    // A document of its own, without the source of what was taken out, as it is copied for each part.
    let mut rest = Document::in_arena(memory::take(0));
    if let Some(top) = top {
        let copy = rest.import(&left, top)?;
        rest.append(rest.document_node(), copy)?;
    }
    memory::keep(left);
    Ok(rest)
}

fn body(document: &Document) -> Option<NodeId> {
    myelin_soap::Envelope::of(document)?.body
}

#[cfg(test)]
mod tests {
    use myelin_message::Built;

    use super::*;

    const SOAP: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:p='urn:p'><s:Header>\
        <p:h/></s:Header><s:Body><p:all a='1'><p:i>1</p:i><q/><p:i p:x='y'><p:z/></p:i></p:all></s:Body></s:Envelope>";

    fn found(document: &Document, name: &str) -> Vec<NodeId> {
        document.descendants(document.document_node()).filter(|&node| document.qname(node).local == name).collect()
    }

    fn written(tree: Tree) -> String {
        String::from_utf8(Box::new(tree).into_bytes()).unwrap()
    }

    fn check(message: &str, attach_path: Option<&str>, expected: &[&str]) {
        let tree = Tree::read(message.into(), None).unwrap();
        let mut parts = Parts::of(&tree, found(tree.document(), "i"), attach_path.is_some()).unwrap();
        if let Some(name) = attach_path {
            let rest = parts.rest();
            let place = found(rest.document(), name).first().copied();
            parts.attach_to(place, &rest).unwrap();
        }
        let all: Vec<String> = (0..parts.count()).map(|number| written(parts.part(number).unwrap())).collect();
        assert_eq!(all, expected, "{message}");
    }

    #[test]
    fn a_part_of_plain_xml_is_a_message_with_the_namespaces_it_needs() {
        check(
            "<p:all xmlns:p='urn:p' xmlns:q='urn:q'><p:i>1</p:i><i a='q:x'/></p:all>",
            None,
            &["<p:i xmlns:p=\"urn:p\">1</p:i>", "<i xmlns:q=\"urn:q\" a='q:x'/>"],
        );
        check("<i/>", None, &["<i/>"]);
    }

    #[test]
    fn a_part_of_soap_keeps_the_header() {
        let around = |inside: &str| {
            format!(
                "<s:Envelope xmlns:p=\"urn:p\" xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Header><p:h/>\
                 </s:Header><s:Body>{inside}</s:Body></s:Envelope>"
            )
        };
        let expected = [around("<p:i>1</p:i>"), around("<p:i p:x='y'><p:z/></p:i>")];
        check(SOAP, None, &[&expected[0], &expected[1]]);
        let expected = [
            around("<p:all a='1'><q/><p:i>1</p:i></p:all>"),
            around("<p:all a='1'><q/><p:i p:x='y'><p:z/></p:i></p:all>"),
        ];
        check(SOAP, Some("all"), &[&expected[0], &expected[1]]);
    }

    #[test]
    fn the_rest_of_plain_xml_is_kept_where_it_is_wanted() {
        check("<a><b/>x<i>1</i><i>2</i></a>", Some("b"), &["<a><b><i>1</i></b>x</a>", "<a><b><i>2</i></b>x</a>"]);
        check("<i>1</i>", Some("Body"), &["<i>1</i>"]);
    }

    #[test]
    fn there_must_be_an_element_to_attach_to() {
        let tree = Tree::read("<a><i/></a>".into(), None).unwrap();
        let mut parts = Parts::of(&tree, found(tree.document(), "i"), true).unwrap();
        let rest = parts.rest();
        assert!(parts.attach_to(None, &rest).unwrap_err().message.contains("attachPath"));
        assert!(parts.attach_to(rest.envelope().body, &rest).unwrap_err().message.contains("one root"));
        let text = tree.document().first_child(found(tree.document(), "a")[0]).unwrap();
        assert!(Parts::of(&Tree::read("<a>x</a>".into(), None).unwrap(), vec![text], false).is_err());
    }
}
