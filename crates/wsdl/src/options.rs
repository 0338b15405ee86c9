//! How a service describes itself.

/// What kind of description a service publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One of its own: its name, its ports, the interface of the source.
    Own,
    /// The source as it came, with the service's addresses.
    Original,
    /// The source as it came, addresses and all.
    AsItCame,
}

/// How one page leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Seen from the page itself.
    Relative,
    /// With the address of the service.
    Absolute,
}

/// How a service describes itself.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Its name, which is the last part of its path.
    pub service: &'a str,
    /// What it says about itself instead of what the source says.
    pub documentation: Option<&'a str>,
    /// What kind of description.
    pub form: Form,
    /// How one page leads to another.
    pub links: Links,
    /// Whether policies in the source are handed on.
    pub keep_policies: bool,
    /// Whether it is spoken with in SOAP 1.1.
    pub soap11: bool,
    /// Whether it is spoken with in SOAP 1.2.
    pub soap12: bool,
    /// Whether it is spoken with in HTTP without SOAP.
    pub http: bool,
    /// Whether it is reached in the clear.
    pub plain: bool,
    /// Whether it is reached over TLS.
    pub secure: bool,
}
