//! Why a message is refused, why one cannot be secured, and what is wrong with a policy.
//!
//! A refusal has a rule, which decides the one constant fault that the sender is told, and a detail for the log.
//! Nothing of the detail may reach the sender: which of several checks failed is what an attacker wants to learn.

use std::borrow::Cow;
use std::fmt;

use crate::vocabulary::{WSSE, WSU};

/// Why a message was refused: its sender's error, save for [`Rule::ReplayCacheFull`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which rule it broke.
    pub rule: Rule,
    /// What exactly, for the log only.
    pub detail: Cow<'static, str>,
    /// Whether something of the message was decrypted before.
    after_decryption: bool,
}

impl Refusal {
    /// A refusal by a rule, with what the log says of it.
    pub fn new(rule: Rule, detail: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal { rule, detail: detail.into(), after_decryption: false }
    }

    /// The same refusal, of a message of which something was decrypted before it was refused.
    ///
    /// Its fault is the one of a wrong ciphertext, whatever the rule: whoever changes a ciphertext and sees whether the
    /// next check or the decryption failed can decrypt any message by asking often enough.
    #[must_use]
    pub fn after_decryption(self) -> Refusal {
        Refusal { after_decryption: true, ..self }
    }

    /// What the sender is told: one of the few faults of the standard.
    pub fn fault_code(&self) -> FaultCode {
        if self.after_decryption { Rule::DecryptionFailed.fault_code() } else { self.rule.fault_code() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

impl std::error::Error for Refusal {}

/// The rules that a message can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The message is no SOAP envelope with one body.
    NotAnEnvelope,
    /// No `Security` header for this receiver.
    SecurityMissing,
    /// More than one `Security` header for this receiver.
    SecurityTwice,
    /// An element that is not known stands where only known ones may.
    UnknownElement,
    /// An element of security has not the shape that its standard gives it.
    Malformed,
    /// Two elements have the same id.
    DuplicateId,
    /// A reference leads to no element.
    UnresolvedReference,
    /// A reference leads out of the message.
    ExternalReference,
    /// A transform that is not on the list.
    UnknownTransform,
    /// An algorithm that is not known.
    UnknownAlgorithm,
    /// An algorithm that the policy does not name.
    AlgorithmNotAllowed,
    /// A keyed hash that was cut.
    TruncatedHmac,
    /// More of something than a bound allows.
    Limit,
    /// A digest or signature value that is wrong.
    SignatureInvalid,
    /// Anything at all went wrong while decrypting; never told apart further.
    DecryptionFailed,
    /// A key that is referred to is not known.
    KeyUnknown,
    /// A kind of token that the policy does not ask for, or that is not supported.
    TokenNotAllowed,
    /// A token that is not valid: an unreadable certificate, an assertion whose conditions are not met.
    TokenInvalid,
    /// A certificate or assertion that no trust anchor vouches for.
    NotTrusted,
    /// A key that is too small.
    KeyTooSmall,
    /// A user who is not known or has shown a wrong password.
    AuthenticationFailed,
    /// A user who has none of the roles that may.
    NotAuthorized,
    /// No timestamp, where there has to be one.
    TimestampMissing,
    /// More than one timestamp.
    TimestampTwice,
    /// The message is too old.
    Expired,
    /// The message says that it was made in the future.
    CreatedInFuture,
    /// The message was here before.
    Replay,
    /// No more messages can be remembered, so that none can be told from a replay: the receiver's lack.
    ReplayCacheFull,
    /// A part that has to be signed is not, at its place.
    NotSigned,
    /// A part that has to be encrypted is not, at its place.
    NotEncrypted,
    /// A part that has to be there is not.
    RequiredMissing,
    /// A token that has to be there is not, or is not used as it has to be.
    TokenMissing,
    /// The elements do not stand in the order that the policy asks for.
    LayoutWrong,
    /// What was done first and what then is not what the policy says.
    ProtectionOrderWrong,
    /// The signature is not encrypted, where it has to be.
    SignatureNotEncrypted,
    /// The signature does not cover the token that it is made with, where it has to.
    TokenNotProtected,
    /// The response does not confirm the signatures of its request.
    ConfirmationWrong,
    /// Another than who has to signed the response.
    WrongSigner,
    /// The message did not come through TLS, or without the client's certificate.
    TransportInsecure,
}

impl Rule {
    /// The fault for a message of which nothing was decrypted.
    ///
    /// All that can go wrong with keys, signatures and ciphertexts is one and the same fault, so that no answer tells
    /// whether a padding was right.
    /// Source: WS-Security 1.1 §12, §10 for `MessageExpired`.
    fn fault_code(self) -> FaultCode {
        match self {
            Rule::TokenNotAllowed => FaultCode::UnsupportedSecurityToken,
            Rule::UnknownAlgorithm | Rule::UnknownTransform | Rule::AlgorithmNotAllowed | Rule::TruncatedHmac => {
                FaultCode::UnsupportedAlgorithm
            }
            Rule::TokenInvalid => FaultCode::InvalidSecurityToken,
            Rule::AuthenticationFailed | Rule::NotAuthorized | Rule::NotTrusted => FaultCode::FailedAuthentication,
            Rule::SignatureInvalid
            | Rule::DecryptionFailed
            | Rule::DuplicateId
            | Rule::WrongSigner
            | Rule::KeyTooSmall => FaultCode::FailedCheck,
            Rule::KeyUnknown => FaultCode::SecurityTokenUnavailable,
            Rule::Expired | Rule::CreatedInFuture => FaultCode::MessageExpired,
            _ => FaultCode::InvalidSecurity,
        }
    }

    /// What the log says of it.
    fn sentence(self) -> &'static str {
        match self {
            Rule::NotAnEnvelope => "the message is no SOAP envelope with one body",
            Rule::SecurityMissing => "no Security header for this receiver",
            Rule::SecurityTwice => "more than one Security header for this receiver",
            Rule::UnknownElement => "an element that is not known here",
            Rule::Malformed => "an element of security without its proper shape",
            Rule::DuplicateId => "the same id twice",
            Rule::UnresolvedReference => "a reference that leads to nothing",
            Rule::ExternalReference => "a reference that leads out of the message",
            Rule::UnknownTransform => "a transform that is not supported",
            Rule::UnknownAlgorithm => "an algorithm that is not supported",
            Rule::AlgorithmNotAllowed => "an algorithm that the policy does not name",
            Rule::TruncatedHmac => "a keyed hash that was cut",
            Rule::Limit => "a bound is passed",
            Rule::SignatureInvalid => "the signature is not valid",
            Rule::DecryptionFailed => "the ciphertext is not valid",
            Rule::KeyUnknown => "the key is not known",
            Rule::TokenNotAllowed => "a token that the policy does not ask for",
            Rule::TokenInvalid => "the token is not valid",
            Rule::NotTrusted => "nothing trusted vouches for the token",
            Rule::KeyTooSmall => "the key is too small",
            Rule::AuthenticationFailed => "the user is not known, or the password is wrong",
            Rule::NotAuthorized => "the user has none of the roles that may",
            Rule::TimestampMissing => "no timestamp",
            Rule::TimestampTwice => "more than one timestamp",
            Rule::Expired => "the message is too old",
            Rule::CreatedInFuture => "the message was made in the future",
            Rule::Replay => "the message was here before",
            Rule::ReplayCacheFull => "no room to remember the message, so that it may be a replay",
            Rule::NotSigned => "a part is not signed",
            Rule::NotEncrypted => "a part is not encrypted",
            Rule::RequiredMissing => "a part is missing",
            Rule::TokenMissing => "a token is missing",
            Rule::LayoutWrong => "the header's elements stand in the wrong order",
            Rule::ProtectionOrderWrong => "signed and encrypted in the wrong order",
            Rule::SignatureNotEncrypted => "the signature is not encrypted",
            Rule::TokenNotProtected => "the signature does not cover its token",
            Rule::ConfirmationWrong => "the request's signatures are not confirmed",
            Rule::WrongSigner => "signed by another than expected",
            Rule::TransportInsecure => "the transport is not secured as the policy asks",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

/// The faults of WS-Security.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultCode {
    /// `wsse:UnsupportedSecurityToken`
    UnsupportedSecurityToken,
    /// `wsse:UnsupportedAlgorithm`
    UnsupportedAlgorithm,
    /// `wsse:InvalidSecurity`
    InvalidSecurity,
    /// `wsse:InvalidSecurityToken`
    InvalidSecurityToken,
    /// `wsse:FailedAuthentication`
    FailedAuthentication,
    /// `wsse:FailedCheck`
    FailedCheck,
    /// `wsse:SecurityTokenUnavailable`
    SecurityTokenUnavailable,
    /// `wsu:MessageExpired`
    MessageExpired,
}

impl FaultCode {
    /// The namespace of the code.
    pub fn namespace(self) -> &'static str {
        if self == FaultCode::MessageExpired { WSU } else { WSSE }
    }

    /// The local name of the code.
    pub fn local(self) -> &'static str {
        match self {
            FaultCode::UnsupportedSecurityToken => "UnsupportedSecurityToken",
            FaultCode::UnsupportedAlgorithm => "UnsupportedAlgorithm",
            FaultCode::InvalidSecurity => "InvalidSecurity",
            FaultCode::InvalidSecurityToken => "InvalidSecurityToken",
            FaultCode::FailedAuthentication => "FailedAuthentication",
            FaultCode::FailedCheck => "FailedCheck",
            FaultCode::SecurityTokenUnavailable => "SecurityTokenUnavailable",
            FaultCode::MessageExpired => "MessageExpired",
        }
    }

    /// The sentence that the standard has for it.
    pub fn reason(self) -> &'static str {
        match self {
            FaultCode::UnsupportedSecurityToken => "An unsupported token was provided",
            FaultCode::UnsupportedAlgorithm => "An unsupported signature or encryption algorithm was used",
            FaultCode::InvalidSecurity => "An error was discovered processing the <wsse:Security> header",
            FaultCode::InvalidSecurityToken => "An invalid security token was provided",
            FaultCode::FailedAuthentication => "The security token could not be authenticated or authorized",
            FaultCode::FailedCheck => "The signature or decryption was invalid",
            FaultCode::SecurityTokenUnavailable => "Referenced security token could not be retrieved",
            FaultCode::MessageExpired => "The message has expired",
        }
    }
}

/// Why a message cannot be secured: ours, or the configuration's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// What is to be secured is no SOAP envelope with one body.
    NotAnEnvelope,
    /// The exchange lacks something that the policy needs, such as the certificate that signed the request.
    Missing(Cow<'static, str>),
    /// An algorithm does not do with this key what is asked of it.
    Cryptography(Cow<'static, str>),
    /// A part of the message cannot be protected as the policy asks.
    Part(Cow<'static, str>),
    /// The message, or what it becomes, passes a bound.
    Limit(Cow<'static, str>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotAnEnvelope => f.write_str("only a SOAP envelope with one body can be secured"),
            Error::Missing(what) => write!(f, "to secure the message there is missing: {what}"),
            Error::Cryptography(what) => write!(f, "the message cannot be secured: {what}"),
            Error::Part(what) => write!(f, "a part of the message cannot be protected: {what}"),
            Error::Limit(what) => write!(f, "the message is too large to be secured: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// What is wrong with a policy or with the keys that it names, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line in the policy, from 1; 0 where no place in it is to blame.
    pub line: u64,
    /// The character in the line, from 1; 0 where no place in it is to blame.
    pub column: u64,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Problem {
    /// A problem of the policy as a whole, or of what it stands for.
    pub fn general(message: impl Into<String>) -> Problem {
        Problem { line: 0, column: 0, message: message.into() }
    }

    /// The same at a line and column of the policy, unless it has a place of its own.
    pub(crate) fn at(self, (line, column): (u64, u64)) -> Problem {
        if self.line == 0 { Problem { line, column, ..self } } else { self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return f.write_str(&self.message);
        }
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_padding_and_a_broken_signature_are_the_same_fault() {
        assert_eq!(Rule::DecryptionFailed.fault_code(), Rule::SignatureInvalid.fault_code());
    }

    #[test]
    fn what_is_refused_after_decrypting_is_told_as_a_broken_ciphertext() {
        let refusal = Refusal::new(Rule::NotSigned, "Body");
        assert_eq!(refusal.fault_code(), FaultCode::InvalidSecurity);
        assert_eq!(refusal.after_decryption().fault_code(), FaultCode::FailedCheck);
    }

    #[test]
    fn expiry_is_of_the_utility_namespace() {
        assert_eq!(Rule::Expired.fault_code().namespace(), WSU);
        assert_eq!(Rule::Replay.fault_code().namespace(), WSSE);
    }
}
