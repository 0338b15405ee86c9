//! The properties that mean something to the bus: what each does, for the page `docs/properties.md` and for warnings.

use std::fmt::Write;

/// A property that steers the bus, or that the bus sets.
pub(super) struct Known {
    pub name: &'static str,
    /// The word of the attribute `scope`.
    pub scope: &'static str,
    pub part: Part,
    /// Markdown, one sentence or two.
    effect: &'static str,
    /// Where it comes from: `AS` is Apache Synapse and WSO2, `WS` is WSO2 alone.
    whose: &'static str,
}

/// What is done with a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It is set to steer a request to a backend.
    Request,
    /// It is set to steer an answer to the client.
    Answer,
    /// It is set to steer the flow.
    Flow,
    /// The bus knows it, and it is read.
    Read,
    /// It has no effect here, for the reason that its effect tells.
    Idle,
    /// It belongs to a transport that is not offered yet.
    Later,
}

use Part::{Answer, Flow, Idle, Later, Read, Request};

const fn known(
    name: &'static str,
    scope: &'static str,
    part: Part,
    whose: &'static str,
    effect: &'static str,
) -> Known {
    Known { name, scope, part, effect, whose }
}

/// Every such property.
const ALL: &[Known] = &[
    known("HTTP_METHOD", "axis2", Request, "AS", "The method of the request. Unset: the client's; it can be read."),
    known(
        "REST_URL_POSTFIX",
        "axis2",
        Request,
        "AS",
        "What stands behind the address of an `address` endpoint. \
         Unset: the rest of the client's path and its query; it can be read.",
    ),
    known("REQUEST_HOST_HEADER", "axis2", Request, "AS", "The `Host` of the request. Unset: the host of the address."),
    known("POST_TO_URI", "axis2", Request, "AS", "`true`: the request line has the absolute URI."),
    known("FULL_URI", "axis2", Request, "AS", "The same as `POST_TO_URI`."),
    known("FORCE_HTTP_1.0", "axis2", Request, "AS", "`true`: the request leaves by HTTP/1.0, with its length."),
    known("FORCE_POST_PUT_NOBODY", "axis2", Request, "WS", "`true`: the request has no body."),
    known(
        "IGNORE_SC_ACCEPTED",
        "axis2",
        Request,
        "AS",
        "`true`: an answer 202 is none; the flow ends as with `OUT_ONLY`.",
    ),
    known(
        "disableAddressingForOutMessages",
        "axis2",
        Request,
        "AS",
        "`true`: `enableAddressing` of the endpoint writes nothing.",
    ),
    known("LB_COOKIE_HEADER", "default", Request, "AS", "The `Cookie` of the request."),
    known(
        "PRESERVE_WS_ADDRESSING",
        "default",
        Request,
        "AS",
        "`true`: with `enableAddressing`, the client's own WS-Addressing header blocks stay.",
    ),
    known("OUT_ONLY", "default", Request, "AS", "`true`: nobody waits for the answer; the client gets 202."),
    known(
        "FORCE_ERROR_ON_SOAP_FAULT",
        "default",
        Request,
        "WS",
        "`true`: an answer that is a SOAP fault is a failure of its endpoint, with code 500000.",
    ),
    known(
        "RECEIVING_SEQUENCE",
        "default",
        Request,
        "AS",
        "The name of the sequence for the next answer, as `receive` of `send` says it; forgotten when it is used.",
    ),
    known(
        "non.error.http.status.codes",
        "axis2",
        Request,
        "WS",
        "Statuses separated by commas that are no failure of `call blocking=\"true\"`, besides 2xx, 400 and 500.",
    ),
    known(
        "BLOCKING_SENDER_PRESERVE_REQ_HEADERS",
        "default",
        Request,
        "WS",
        "`false`: after `call blocking=\"true\"` and `callout` the header lines are the answer's. \
         Unset: the request's stay.",
    ),
    known(
        "HTTP_SC",
        "axis2",
        Answer,
        "AS",
        "The status of the answer, 200 to 999. Unset: the backend's, 500 of a fault, else 200; it can be read.",
    ),
    known(
        "HTTP_SC_DESC",
        "axis2",
        Answer,
        "AS",
        "The reason phrase of the answer. Unset: the backend's, unless the status is another one; it can be read.",
    ),
    known("HTTP_REASON_PHRASE", "axis2", Answer, "WS", "The same as `HTTP_SC_DESC`."),
    known("SC_ACCEPTED", "axis2", Answer, "AS", "`true`: the answer has status 202, whatever `HTTP_SC` says."),
    known(
        "FAULTS_AS_HTTP_200",
        "axis2",
        Answer,
        "AS",
        "`true`: a SOAP fault leaves with status 200, unless `HTTP_SC` says another.",
    ),
    known(
        "FORCE_SC_ACCEPTED",
        "axis2",
        Answer,
        "AS",
        "`true` when a message is sent: the client gets an empty 202, whatever comes of it.",
    ),
    known("HTTP_ETAG", "axis2", Answer, "WS", "`true`: the answer gets an `ETag`, made of its body."),
    known(
        "RESPONSE",
        "default",
        Answer,
        "AS",
        "`true`: the message counts as a response, so that `send` answers the client with it.",
    ),
    known("enableMTOM", "axis2", Flow, "AS", "`true`: XML leaves as the one part of an MTOM package."),
    known("enableSwA", "axis2", Flow, "AS", "`true`: XML leaves as the one part of SOAP with attachments."),
    known("messageType", "axis2", Flow, "AS", "The content type that the message is written as. It can be read."),
    known("ContentType", "axis2", Flow, "AS", "The `Content-Type` of the message that leaves. It can be read."),
    known(
        "NO_ENTITY_BODY",
        "axis2",
        Flow,
        "AS",
        "`true`: the message leaves without a body. Unset: `true` where there is none; it can be read.",
    ),
    known(
        "DISABLE_CHUNKING",
        "axis2",
        Flow,
        "AS",
        "`true`: the message leaves with its length; a body whose length nobody knows is read first.",
    ),
    known("FORCE_HTTP_CONTENT_LENGTH", "axis2", Flow, "AS", "The same as `DISABLE_CHUNKING`."),
    known(
        "NO_KEEPALIVE",
        "axis2",
        Flow,
        "AS",
        "`true`: the connection ends with the message: the backend's with its answer, the client's with ours.",
    ),
    known(
        "CHARACTER_SET_ENCODING",
        "axis2",
        Flow,
        "AS",
        "The encoding that XML leaves in: UTF-8, UTF-16, ISO-8859-1 or US-ASCII. \
         Unset: that of the message; it can be read.",
    ),
    known(
        "setCharacterEncoding",
        "axis2",
        Flow,
        "WS",
        "`false`: the content type that leaves names no character set, and `CHARACTER_SET_ENCODING` is not heeded.",
    ),
    known(
        "transport.vfs.ReplyFileName",
        "transport",
        Flow,
        "AS",
        "The name of the file that the message is written to, in a folder; see [file.md](file.md). \
         Unset: what the address or the proxy says, else `response.xml`.",
    ),
    known(
        "SET_ROLLBACK_ONLY",
        "default",
        Flow,
        "AS",
        "`true`: the message stays where its source took it from, as a file, and comes again. \
         A request over HTTP never does.",
    ),
    known("SET_ROLLBACK_ONLY", "axis2", Flow, "AS", "The same."),
    known("TRANSPORT_HEADERS", "axis2", Flow, "AS", "Removed: all header lines go. It can be read."),
    known("EXCESS_TRANSPORT_HEADERS", "axis2", Flow, "AS", "Removed: of headers with several lines the first stays."),
    known("ERROR_CODE", "default", Read, "AS", "In a fault sequence: Synapse's code, or the word of `throwError`."),
    known("ERROR_MESSAGE", "default", Read, "AS", "In a fault sequence: a sentence that clients may read."),
    known("ERROR_DETAIL", "default", Read, "AS", "In a fault sequence: what the log gets."),
    known("ERROR_EXCEPTION", "default", Read, "AS", "The same as `ERROR_DETAIL`."),
    known(
        "BASE_ERROR_CODE",
        "default",
        Read,
        "WS",
        "In a fault sequence, after a connection failed: the same as `ERROR_CODE`.",
    ),
    known(
        "PROTOCOL_STATE_ON_FAILURE",
        "default",
        Read,
        "WS",
        "In a fault sequence, after a connection failed: how far the request had come: \
         `REQUEST_READY`, `REQUEST_BODY`, `REQUEST_DONE` or `RESPONSE_HEAD`.",
    ),
    known("RAW_PAYLOAD", "axis2", Read, "WS", "The text of a body that could not be understood."),
    known("blocking.sender.error", "default", Read, "WS", "Whether the last `call blocking=\"true\"` failed."),
    known("ORIGINAL_STATUS_CODE", "axis2", Read, "WS", "The status of the backend's answer."),
    known("SERVICE_PREFIX", "axis2", Read, "AS", "The address of the service that the client used."),
    known("TransportInURL", "axis2", Read, "AS", "The request's path and query as they came."),
    known("REMOTE_ADDR", "axis2", Read, "AS", "The client's address."),
    known("REMOTE_HOST", "axis2", Read, "AS", "The same as `REMOTE_ADDR`: nobody asks for a name."),
    known("TRANSPORT_IN_NAME", "default", Read, "WS", "`http` or `https`: how the request came."),
    known("SERVER_IP", "default", Read, "AS", "The address that the client connected to."),
    known("SERVER_HOST", "default", Read, "AS", "The name of the machine."),
    known("MessageID", "default", Read, "AS", "The identifier of the message, by WS-Addressing or a new one."),
    known("MESSAGE_FORMAT", "default", Read, "AS", "`soap11`, `soap12`, `pox` or `get`."),
    known(
        "OperationName",
        "default",
        Read,
        "AS",
        "The operation of the proxy's description that the request means, else `mediate`.",
    ),
    known("OperationNamespace", "default", Read, "AS", "The namespace of that operation."),
    known("proxy.name", "default", Read, "AS", "The name of the proxy."),
    known(
        "last_endpoint",
        "default",
        Read,
        "AS",
        "The name of the endpoint that the message was sent to last, `AnonymousEndpoint` where it has none.",
    ),
    known("ENDPOINT_PREFIX", "default", Read, "WS", "The address of that endpoint, where it is an `address` endpoint."),
    known(
        "uri.var.…",
        "default",
        Read,
        "AS",
        "What the URI template of an API's resource found; set, they fill the holes of `http` endpoints.",
    ),
    known("query.param.…", "default", Read, "AS", "The query parameters of a request to an API."),
    known(
        "REST_API_CONTEXT",
        "default",
        Read,
        "AS",
        "Of a request to an API; so are `REST_FULL_REQUEST_PATH`, `REST_SUB_REQUEST_PATH`, `REST_METHOD`, \
         `REST_URL_PREFIX`, `SYNAPSE_REST_API`, `SYNAPSE_REST_API_VERSION` and \
         `SYNAPSE_RESOURCE`; see [apis.md](apis.md).",
    ),
    known(
        "FILE_NAME",
        "transport",
        Read,
        "AS",
        "Of a message that was a file: its name. So are `FILE_PATH`, `FILE_URI`, `FILE_LENGTH` (bytes), \
         `LAST_MODIFIED` (milliseconds since 1970), `VFS_SCHEME` and `RELATIVE_PATH`; see [file.md](file.md).",
    ),
    known(
        "security.user",
        "default",
        Read,
        "Myelin",
        "What WS-Security proved of the sender; see [ws-security.md](ws-security.md).",
    ),
    known(
        "COPY_CONTENT_LENGTH_FROM_INCOMING",
        "axis2",
        Idle,
        "AS",
        "a body whose length is known is always passed on unread with that length",
    ),
    known("FORCE_SOAP_FAULT", "axis2", Idle, "AS", "every client gets an answer"),
    known(
        "DISCARD_ON_COMPLETE",
        "axis2",
        Idle,
        "AS",
        "what is left of a request is always read or its connection closed",
    ),
    known("force.passthrough.builder", "axis2", Idle, "WS", "a body is understood wherever a mediator asks for it"),
    known("relay_early_build", "axis2", Idle, "WS", "a body is understood wherever a mediator asks for it"),
    known("preserveProcessedHeaders", "default", Idle, "WS", "SOAP header blocks always stay"),
    known("PRESERVE_ENVELOPE", "default", Idle, "AS", "a message that may have to be sent again is always kept"),
    known("ClientApiNonBlocking", "axis2", Idle, "AS", "no thread waits for a send"),
    known("transportNonBlocking", "axis2", Idle, "AS", "no thread waits for a send"),
    known(
        "OUTPUT_FILE",
        "axis2",
        Idle,
        "AS",
        "the address of the endpoint names the file, or `transport.vfs.ReplyFileName` in scope `transport`",
    ),
    known("NoDefaultContentType", "axis2", Idle, "WS", "no content type is ever made up for a message without one"),
    known("PROXY_PROFILE_TARGET_HOST", "axis2", Idle, "WS", "there are no proxy profiles"),
    known("FORCE_COLLECT_PAYLOAD", "default", Idle, "WS", "nothing collects payloads for statistics"),
    known("synapse.is.concurrent.access.allowed", "default", Idle, "WS", "throttles keep their own counts"),
    known("PRESERVE_XML_PROCESSING_INSTRUCTIONS", "axis2", Idle, "WS", "processing instructions always stay"),
    known("RETRY_ON_SOAPFAULT", "default", Later, "WS", "message processors"),
    known("SET_REQUEUE_ON_ROLLBACK", "default", Later, "WS", "brokers"),
    known("ACKNOWLEDGE", "default", Later, "WS", "brokers"),
    known("ACK_DECISION", "default", Later, "WS", "brokers"),
    known("JMS_COORELATION_ID", "axis2", Later, "AS", "brokers"),
    known("JMS_WAIT_REPLY", "axis2", Later, "AS", "brokers"),
    known("transport.jms.ContentTypeProperty", "axis2", Later, "AS", "brokers"),
    known("transport.mail.Format", "axis2", Later, "AS", "mail"),
];

/// What a configuration is told that sets a property: that this has no effect, or that another scope would have one.
pub fn remark(name: &str, scope: &str) -> Option<String> {
    let mut same_name = ALL.iter().filter(|known| known.name == name).peekable();
    let first = *same_name.peek()?;
    match same_name.find(|known| known.scope == scope) {
        Some(Known { part: Idle, effect, .. }) => Some(format!("{name} has no effect: {effect}")),
        Some(Known { part: Later, effect, .. }) => {
            let (transport, _) = effect.split_once(':').unwrap_or((effect, ""));
            Some(format!("{name} has no effect yet, as {transport} are not offered; it can be read again"))
        }
        None if matches!(first.part, Request | Answer | Flow) => {
            Some(format!("{name} steers nothing in scope {scope:?}: in scope {:?} it would", first.scope))
        }
        _ => None,
    }
}

/// The page of all of them in Markdown: `docs/properties.md`.
pub(super) fn markdown() -> String {
    let mut out = String::from(
        "# Properties\n\n\
         The properties that mean something to the bus.\n\
         Generated from the code by `cargo xtask docs`.\n\
         `AS` marks what Apache Synapse and WSO2 Micro Integrator have, `WS` what is WSO2's alone.\n\
         Scope `axis2` belongs to the current message and is gone when the response comes; `default` stays.\n",
    );
    let parts = [
        (Request, "Steer a request to a backend", "Set before the message is sent."),
        (Answer, "Steer an answer to the client", "Set before the message is sent back."),
        (Flow, "Steer any message that leaves", "Set before it is sent, either way."),
        (Read, "Set by the bus", "They can be read; the bus does not look at them again."),
        (Idle, "Have no effect", "What they ask for is always so, or means nothing here; setting one is a warning."),
        (Later, "Have no effect yet", "They belong to what is not offered yet; setting one is a warning."),
    ];
    for (part, title, sentence) in parts {
        // Writing into a string cannot fail.
        let _ =
            write!(out, "\n## {title}\n\n{sentence}\n\n| name | scope | what it does | whose |\n|---|---|---|---|\n");
        for known in ALL.iter().filter(|known| known.part == part) {
            let Known { name, scope, effect, whose, .. } = known;
            let _ = writeln!(out, "| `{name}` | {scope} | {effect} | {whose} |");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_that_steers_nothing_is_remarked_on() {
        let check = |name: &str, scope: &str, part: Option<&str>| match (remark(name, scope), part) {
            (Some(remark), Some(part)) => assert!(remark.contains(part), "{remark}"),
            (remark, part) => assert_eq!(remark.as_deref(), part, "{name} {scope}"),
        };
        check("HTTP_SC", "axis2", None);
        check("HTTP_SC", "default", Some("in scope \"axis2\" it would"));
        check("OUT_ONLY", "axis2", Some("in scope \"default\" it would"));
        check("ERROR_CODE", "axis2", None);
        check("FORCE_SOAP_FAULT", "axis2", Some("every client gets an answer"));
        check("JMS_WAIT_REPLY", "axis2", Some("no effect yet, as brokers are not offered"));
        check("SET_ROLLBACK_ONLY", "axis2", None);
        check("SET_ROLLBACK_ONLY", "default", None);
        check("transport.vfs.ReplyFileName", "transport", None);
        check("transport.vfs.ReplyFileName", "axis2", Some("in scope \"transport\" it would"));
        check("my.own", "axis2", None);
    }

    #[test]
    fn no_property_is_listed_twice() {
        for (at, known) in ALL.iter().enumerate() {
            let twin = ALL[..at].iter().find(|other| (other.name, other.scope) == (known.name, known.scope));
            assert!(twin.is_none(), "{}", known.name);
        }
        assert_eq!(markdown().matches("\n## ").count(), 6);
    }
}
