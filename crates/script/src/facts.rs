//! What a script may read, and what it did: all that crosses between a message and a script.

use crate::error::Place;

/// What is known of the message when a script begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The body as JSON, where it is any.
    pub json: Option<String>,
    /// The first element of the body as XML, where there is one.
    pub xml: Option<String>,
    /// The whole SOAP envelope as XML, real or made around the body.
    pub envelope: Option<String>,
    /// Where it is addressed, who it is from, and so on.
    pub headers: Vec<(Header, String)>,
    /// Whether it is a response.
    pub is_response: bool,
    /// Whether its envelope is one of SOAP 1.1.
    pub is_soap11: bool,
    /// The properties that the script is known to ask for; `None` for one that is not set.
    pub properties: Vec<(Known, Option<Value>)>,
}

/// The name of a property in its scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// Its scope.
    pub scope: Scope,
    /// Its name.
    pub name: String,
}

/// The scopes that a script can name, and that of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `default`.
    Default,
    /// `axis2`.
    Axis2,
    /// `transport`.
    Transport,
    /// `operation`.
    Operation,
    /// That of variables, which `getVariable` and `setVariable` name; it has no word for `getProperty`.
    Variable,
}

impl Scope {
    /// The scope of a word.
    pub(crate) fn of(word: &str) -> Option<Scope> {
        Some(match word {
            "default" => Scope::Default,
            "axis2" => Scope::Axis2,
            "transport" => Scope::Transport,
            "operation" => Scope::Operation,
            "variable" => Scope::Variable,
            _ => return None,
        })
    }

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Scope::Default => "default",
            Scope::Axis2 => "axis2",
            Scope::Transport => "transport",
            Scope::Operation => "operation",
            Scope::Variable => "variable",
        }
    }
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Double(f64),
    /// An element, as its text.
    Xml(String),
    /// An object or an array, as its text.
    Json(String),
}

/// What addresses a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Header {
    /// `To`.
    To,
    /// `From`.
    From,
    /// `ReplyTo`.
    ReplyTo,
    /// `FaultTo`.
    FaultTo,
    /// `Action`, which is the SOAP action as well.
    Action,
    /// `MessageID`.
    MessageId,
}

impl Header {
    const ALL: [Header; 6] =
        [Header::To, Header::From, Header::ReplyTo, Header::FaultTo, Header::Action, Header::MessageId];

    /// The header of a word.
    pub(crate) fn of(word: &str) -> Option<Header> {
        Header::ALL.into_iter().find(|header| header.word() == word)
    }

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Header::To => "to",
            Header::From => "from",
            Header::ReplyTo => "replyTo",
            Header::FaultTo => "faultTo",
            Header::Action => "action",
            Header::MessageId => "messageId",
        }
    }
}

/// Something that a script did.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A property has another value, or none.
    Property(Known, Option<Value>),
    /// The body has another first element.
    Xml(String),
    /// The body is this JSON.
    Json(String),
    /// The envelope's header has one more block, which must be understood or not.
    Block {
        /// Its element, as text.
        xml: String,
        /// Whether `mustUnderstand` stands in it.
        must_understand: bool,
    },
    /// It is addressed otherwise.
    Header(Header, String),
    /// Something for the log, and how important it is, as the word of log4j.
    Log {
        /// `trace`, `debug`, `info`, `warn`, `error` or `fatal`.
        level: String,
        /// The sentence.
        text: String,
        /// Where the script says it; `None` where no line of the script does.
        place: Option<Place>,
    },
    /// The flow goes on so many milliseconds later.
    Pause(u64),
}

/// How a script ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it did, in its order.
    pub effects: Vec<Effect>,
    /// Whether the flow goes on: not after `false`.
    pub goes_on: bool,
    /// Properties that it asked for and that were not among its facts; their values may make it do something else.
    pub unknown: Vec<Known>,
}
