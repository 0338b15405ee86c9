//! WS-SecurityPolicy 1.1, 1.2 and 1.3, with the configuration of Apache Rampart.

mod model;

pub use model::{
    AlgorithmSuite, Alternative, Binding, Common, Crypto, DerivedKeys, ElementPart, EncryptionUser, HeaderPart,
    Inclusion, KeyReference, Layout, Parts, Password, Policy, Rampart, SamlVersion, SupportingTokens, Token, TokenKind,
    Wss, X509Form,
};
