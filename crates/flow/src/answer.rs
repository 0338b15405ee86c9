//! From a fault to the answer a client gets. There is no other place where one is written.

use myelin_content::{Format, coding};
use myelin_message::{Body, Message, StatusCode};
use myelin_soap::{self as soap, Version, Who};

use crate::fault::{Fault, Origin};
use crate::property::Value;

/// The answer to a fault that no sequence answered, in the language the request spoke.
///
/// Shape: a SOAP 1.1 or 1.2 fault, a JSON object, or one line of text; code and sentence, never the trail.
pub fn from_fault(fault: &Fault, format: Format) -> Message {
    let Fault { message, status, .. } = fault;
    let code = fault.error_code();
    let mut answer = match format {
        Format::Soap11 => soap(Version::Soap11, fault),
        Format::Soap12 => soap(Version::Soap12, fault),
        Format::Json => {
            let code = match code {
                Value::Integer(number) => serde_json::json!(number),
                word => serde_json::json!(word.text()),
            };
            let body = serde_json::json!({ "error": { "code": code, "message": message } });
            with_body("application/json", body.to_string())
        }
        // Synapse has no code for what is refused before a flow begins.
        _ if matches!(code, Value::Integer(0)) => with_body("text/plain; charset=UTF-8", format!("{message}\n")),
        _ => with_body("text/plain; charset=UTF-8", format!("{} {message}\n", code.text())),
    };
    answer.status = match format {
        // SOAP 1.1 §6.2 knows no other for a fault.
        Format::Soap11 if fault.subcode.is_some() => StatusCode::INTERNAL_SERVER_ERROR,
        _ => *status,
    };
    if answer.status == StatusCode::UNAUTHORIZED {
        // RFC 9110 §11.6.1: such an answer has a challenge.
        answer
            .head
            .set("WWW-Authenticate", BASIC_CHALLENGE.as_bytes())
            .expect("our own challenges are valid header values");
    }
    if fault.status == StatusCode::SERVICE_UNAVAILABLE && fault.origin == Origin::Bus {
        // RFC 9110 §10.2.3: a limit of the bus, which is soon behind it.
        answer.head.set("Retry-After", b"1").expect("a number is a valid header value");
    }
    if fault.status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // RFC 9110 §15.5.16: that the coding is at fault, and which would do.
        let codings = coding::DECODABLE.as_bytes();
        answer.head.set("Accept-Encoding", codings).expect("a list of our own is a valid header value");
    }
    answer
}

/// The challenge to say who one is by HTTP Basic (RFC 7617).
pub const BASIC_CHALLENGE: &str = "Basic realm=\"Myelin\", charset=\"UTF-8\"";

/// A plain answer that is no fault of an exchange: nobody offers the path, or not what was asked of it.
pub fn plain(status: StatusCode, text: &str) -> Message {
    let mut answer = with_body("text/plain; charset=UTF-8", format!("{text}\n"));
    answer.status = status;
    answer
}

/// The answer where mediation ended without one.
pub fn accepted() -> Message {
    Message::answer(StatusCode::ACCEPTED, Body::Empty)
}

/// An answer with a body, `200`.
pub fn with_body(content_type: &str, body: impl Into<Vec<u8>>) -> Message {
    let mut answer = Message::answer(StatusCode::OK, Body::Bytes(body.into()));
    answer.head.set("Content-Type", content_type.as_bytes()).expect("our own content types are valid header values");
    answer
}

fn soap(version: Version, fault: &Fault) -> Message {
    let who = if fault.origin == Origin::Client { Who::Sender } else { Who::Receiver };
    // What is said in another standard's words is said in these alone.
    let detail = || format!("<code>{}</code>", soap::escaped(&fault.error_code().text()));
    let detail = fault.subcode.is_none().then(detail);
    let written = soap::Fault {
        version,
        code: soap::Code::standard(version, who),
        subcode: fault.subcode,
        reason: &fault.message,
        node: None,
        role: None,
        detail: detail.as_deref(),
        header: None,
    };
    with_body(&format!("{}; charset=UTF-8", version.media_type()), written.write())
}

#[cfg(test)]
mod tests {
    use myelin_wss::{Refusal, Rule};

    use super::*;

    #[test]
    fn a_fault_answers_in_the_language_of_the_request() {
        let check = |format, content_type: &str, part: &str| {
            let mut fault = Fault::bus("a < b");
            fault.detail = Some("secret".to_owned());
            fault.trail.push("trail".to_owned());
            let answer = from_fault(&fault, format);
            assert_eq!(answer.status, 500);
            assert_eq!(answer.head.first("content-type").unwrap(), content_type.as_bytes());
            let Body::Bytes(body) = answer.body else { panic!("a fault has a body") };
            let body = String::from_utf8(body).unwrap();
            assert!(body.contains(part), "{body}");
            assert!(!body.contains("secret") && !body.contains("trail"), "{body}");
        };
        check(Format::Soap11, "text/xml; charset=UTF-8", "<faultstring>a &lt; b</faultstring>");
        check(Format::Soap12, "application/soap+xml; charset=UTF-8", "soapenv:Receiver");
        check(Format::Json, "application/json", r#"{"error":{"code":0,"message":"a < b"}}"#);
        check(Format::None, "text/plain; charset=UTF-8", "a < b\n");
    }

    #[test]
    fn a_limit_of_the_bus_is_worth_another_try_and_a_backend_that_rests_says_nothing_of_when() {
        let again = |fault: &Fault| from_fault(fault, Format::None).head.first("Retry-After").map(<[u8]>::to_vec);
        assert_eq!(again(&Fault::overloaded("")), Some(b"1".to_vec()));
        assert_eq!(again(&Fault::not_ready(303001, "")), None);
        assert_eq!(again(&Fault::bus("a defect")), None);
    }

    #[test]
    fn what_security_refuses_is_answered_in_the_words_of_its_standard_and_no_others() {
        let check = |rule, format, status: u16, parts: &[&str]| {
            let answer = from_fault(&Fault::refused(&Refusal::new(rule, "secret")), format);
            let Body::Bytes(body) = answer.body else { panic!("a fault has a body") };
            let body = String::from_utf8(body).unwrap();
            assert_eq!(answer.status, status, "{body}");
            assert!(parts.iter().all(|part| body.contains(part)), "{body}");
            assert!(!body.contains("secret") && !body.to_lowercase().contains("detail"), "{body}");
        };
        let sentence = "The signature or decryption was invalid";
        check(Rule::DecryptionFailed, Format::Soap11, 500, &[">wsse:FailedCheck<", sentence]);
        check(Rule::SignatureInvalid, Format::Soap12, 400, &["soapenv:Sender", ">wsse:FailedCheck<", sentence]);
        check(Rule::Expired, Format::Soap11, 500, &[">wsu:MessageExpired<"]);
        check(Rule::ReplayCacheFull, Format::Soap12, 500, &["soapenv:Receiver", ">wsse:InvalidSecurity<"]);
        check(Rule::NotAnEnvelope, Format::Json, 400, &["\"message\":"]);
    }
}
