//! The session that a request belongs to, if its endpoint cares.
//!
//! A session's name is what both sides send: a cookie of the backend's, the group of services of Axis2 in a SOAP
//! header, or a name that the client chose itself.
//! Source: Synapse's `SALoadbalanceEndpoint`, `HttpSessionDispatcher`, `SoapSessionDispatcher` and
//! `SimpleClientSessionDispatcher`.

use myelin_message::Head;
use myelin_soap::Envelope;
use myelin_xml::{Document, NodeId};

use crate::endpoints::sessions::{Kind, Sessions};
use myelin_content::Tree;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;

/// The cookies by which servers of applications name sessions; part of a cookie is enough.
const SESSION_COOKIES: [&str; 4] = ["JSESSIONID", "PHPSESSID", "phpMyAdmin", "wordpress_test_cookie"];

const AXIS2: &str = "http://ws.apache.org/namespaces/axis2";
const ADDRESSING: &str = "http://www.w3.org/2005/08/addressing";
const SYNAPSE: &str = "http://ws.apache.org/ns/synapse";

/// The session that one request belongs to.
pub(super) struct Session<'a> {
    sessions: &'a Sessions,
    /// The member it is bound to, if the session is known.
    pub(super) member: Option<usize>,
    /// The name that the client gave to a new session.
    name: Option<String>,
}

impl Session<'_> {
    /// The session of the current message; what names one that nobody knows is taken out of a message that a backend
    /// is to begin a new one for.
    ///
    /// Errors: faults of whoever sent a body that cannot be read.
    pub(super) async fn of<'a>(
        sessions: &'a Sessions,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Session<'a>> {
        let now = context.transport.monotonic();
        let (member, name) = match sessions.kind {
            Kind::Http => (cookies(&exchange.message.head).find_map(|cookie| sessions.member(cookie, now)), None),
            kind => {
                Need::built().fulfil(exchange, context).await?;
                let tree = exchange.message.body.built::<Tree>();
                let name = tree.and_then(|tree| header_name(kind, tree, false));
                (name.as_deref().and_then(|name| sessions.member(name, now)), name)
            }
        };
        if member.is_none() {
            match sessions.kind {
                Kind::Http => without_session(&mut exchange.message.head),
                Kind::Soap if name.is_some() => exchange.tree_mut()?.change_header(|document, envelope| {
                    service_group(document, envelope).into_iter().for_each(|block| document.detach(block));
                    Ok(())
                })?,
                _ => {}
            }
        }
        Ok(Session { sessions, member, name: name.filter(|_| sessions.kind == Kind::Client) })
    }

    /// A member gets the first request of the session.
    pub(super) fn begin(&self, member: usize, context: &RequestContext<'_>) {
        if let Some(name) = &self.name {
            self.sessions.bind(name, member, context.transport.monotonic());
        }
    }

    /// That member failed to take it.
    pub(super) fn end(&self) {
        if let Some(name) = &self.name {
            self.sessions.unbind(name);
        }
    }

    /// Remembers the session that the response names.
    ///
    /// Errors: faults of a backend whose response cannot be read.
    pub(super) async fn learn(
        &self,
        member: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<()> {
        let now = context.transport.monotonic();
        match self.sessions.kind {
            Kind::Http => {
                let cookie = cookie_set(&exchange.message.head);
                cookie.into_iter().for_each(|cookie| self.sessions.bind(cookie, member, now));
            }
            Kind::Soap => {
                Need::built().fulfil(exchange, context).await?;
                let tree = exchange.message.body.built::<Tree>();
                let name = tree.and_then(|tree| header_name(Kind::Soap, tree, true));
                name.into_iter().for_each(|name| self.sessions.bind(&name, member, now));
            }
            Kind::Client => {}
        }
        Ok(())
    }
}

/// The cookies that a request brings, as `name=value`.
fn cookies(head: &Head) -> impl Iterator<Item = &str> {
    let lines = head.all("Cookie").filter_map(|value| std::str::from_utf8(value).ok());
    lines.flat_map(|line| line.split(';')).map(str::trim).filter(|cookie| !cookie.is_empty())
}

/// The cookie that names the session in a response: one of the known names, else the first that is set.
fn cookie_set(head: &Head) -> Option<&str> {
    let lines = head.all("Set-Cookie").filter_map(|value| std::str::from_utf8(value).ok());
    let mut cookies = lines.filter_map(|line| line.split(';').next()).map(str::trim);
    let first = cookies.next()?;
    Some(std::iter::once(first).chain(cookies).find(|cookie| names_session(cookie)).unwrap_or(first))
}

/// Takes out the cookies of sessions that nobody knows, so that the member begins a new one.
fn without_session(head: &mut Head) {
    if !cookies(head).any(names_session) {
        return;
    }
    let kept: Vec<&str> = cookies(head).filter(|cookie| !names_session(cookie)).collect();
    let kept = kept.join("; ");
    head.remove("Cookie");
    if !kept.is_empty() {
        // Parts of valid values are valid.
        let _ = head.set("Cookie", kept.as_bytes());
    }
}

fn names_session(cookie: &str) -> bool {
    SESSION_COOKIES.iter().any(|name| cookie.contains(name))
}

/// The name of the session that a message's header tells.
fn header_name(kind: Kind, tree: &Tree, of_response: bool) -> Option<String> {
    let document = tree.document();
    let node = match (kind, of_response) {
        (Kind::Http, _) | (Kind::Client, true) => None,
        (Kind::Client, false) => child(document, tree.envelope().header?, SYNAPSE, "ClientID"),
        (Kind::Soap, false) => service_group(document, &tree.envelope()),
        (Kind::Soap, true) => child(document, tree.envelope().header?, ADDRESSING, "ReplyTo")
            .and_then(|reply_to| child(document, reply_to, ADDRESSING, "ReferenceParameters"))
            .and_then(|parameters| child(document, parameters, AXIS2, "ServiceGroupId")),
    };
    let name = document.string_value(node?).trim().to_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// The header block by which Axis2 knows a session.
fn service_group(document: &Document, envelope: &Envelope) -> Option<NodeId> {
    child(document, envelope.header?, AXIS2, "ServiceGroupId")
}

fn child(document: &Document, parent: NodeId, namespace: &str, local: &str) -> Option<NodeId> {
    document.children(parent).find(|&node| {
        let name = document.qname(node);
        name.namespace == namespace && name.local == local
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, values: &[&str]) -> Head {
        let mut head = Head::default();
        values.iter().for_each(|value| head.append(name, value.as_bytes()).unwrap());
        head
    }

    #[test]
    fn cookies_of_a_request_are_read_from_all_its_lines() {
        let head = head("Cookie", &["a=1; JSESSIONID=x.y", "b=2;;"]);
        assert_eq!(cookies(&head).collect::<Vec<_>>(), ["a=1", "JSESSIONID=x.y", "b=2"]);
    }

    #[test]
    fn a_response_names_its_session_by_a_known_cookie_or_by_its_first() {
        let check = |values: &[&str], expected| assert_eq!(cookie_set(&head("Set-Cookie", values)), expected);
        check(&["theme=dark; Path=/", "JSESSIONID=1; HttpOnly"], Some("JSESSIONID=1"));
        check(&["SID=7; Path=/", "theme=dark"], Some("SID=7"));
        check(&[], None);
    }

    #[test]
    fn the_cookie_of_an_unknown_session_is_taken_out_and_others_stay() {
        let check = |values: &[&str], expected: Option<&str>| {
            let mut head = head("Cookie", values);
            without_session(&mut head);
            assert_eq!(head.first("Cookie"), expected.map(str::as_bytes));
        };
        check(&["a=1; JSESSIONID=2; b=3"], Some("a=1; b=3"));
        check(&["PHPSESSID=2"], None);
        check(&["a=1"], Some("a=1"));
    }

    #[test]
    fn sessions_of_axis2_and_of_clients_are_named_in_the_soap_header() {
        let check = |kind, of_response, header: &str, expected: Option<&str>| {
            let text = format!(
                "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:w='{ADDRESSING}'>\
                 <s:Header>{header}</s:Header><s:Body/></s:Envelope>"
            );
            let tree = Tree::read(text.into_bytes(), None).unwrap();
            assert_eq!(header_name(kind, &tree, of_response).as_deref(), expected);
        };
        let group = format!("<g:ServiceGroupId xmlns:g='{AXIS2}'> urn:1 </g:ServiceGroupId>");
        let reply = format!("<w:ReplyTo><w:ReferenceParameters>{group}</w:ReferenceParameters></w:ReplyTo>");
        check(Kind::Soap, false, &group, Some("urn:1"));
        check(Kind::Soap, false, &reply, None);
        check(Kind::Soap, true, &reply, Some("urn:1"));
        check(Kind::Soap, true, &group, None);
        check(Kind::Client, false, &format!("<c:ClientID xmlns:c='{SYNAPSE}'>me</c:ClientID>"), Some("me"));
        check(Kind::Client, false, &format!("<c:ClientID xmlns:c='{SYNAPSE}'> </c:ClientID>"), None);
        check(Kind::Http, false, &group, None);
    }
}
