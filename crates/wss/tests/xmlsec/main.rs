//! Signatures and ciphertexts exchanged with xmlsec1, where it is installed: what either makes, the other understands.
//!
//! Not all that we know is known to the versions that distributions have: xmlsec1 1.2 has no RSA-PSS, and no OAEP with
//! another digest than SHA-1.

mod encryption;
mod envelopes;
mod signatures;

use std::path::{Path, PathBuf};
use std::process::Command;

use myelin_wss::algorithm::DigestMethod;
use myelin_wss::keys::{Curve, KeyKind, PrivateKey};
use myelin_xml::{Document, Kind, NodeId, Options};
use rcgen::{KeyPair, RsaKeySize};

const DIGESTS: [DigestMethod; 4] =
    [DigestMethod::Sha1, DigestMethod::Sha256, DigestMethod::Sha384, DigestMethod::Sha512];

/// The program, and a folder for what it is given.
struct Peer {
    folder: tempfile::TempDir,
}

impl Peer {
    /// None where there is no such program, which the test says.
    fn new() -> Option<Peer> {
        if Command::new("xmlsec1").arg("--version").output().is_err() {
            myelin_testkit::skip("xmlsec1 is not installed");
            return None;
        }
        Some(Peer { folder: tempfile::tempdir().expect("a folder can be made") })
    }

    /// Writes a file for the program.
    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("the folder can be written to");
        path
    }

    /// Runs the program on a document.
    ///
    /// Errors: what the program complains of.
    fn run(&self, arguments: &[&str], document: &[u8]) -> Result<Vec<u8>, String> {
        let (input, output) = (self.file("input.xml", document), self.folder.path().join("output.xml"));
        let mut command = Command::new("xmlsec1");
        command.args(arguments).arg("--output").arg(&output).arg(&input);
        let finished = command.output().expect("it is installed");
        if finished.status.success() {
            return std::fs::read(&output).or(Ok(Vec::new()));
        }
        Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&finished.stderr)))
    }
}

/// A key pair, as files for the program and as ours.
struct Pair {
    kind: KeyKind,
    private: PathBuf,
    public: PathBuf,
    key: PrivateKey,
}

impl Pair {
    fn new(peer: &Peer, kind: KeyKind) -> Pair {
        let pair = match kind {
            KeyKind::Rsa => KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048),
            KeyKind::Ec(Curve::P256) => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256),
            KeyKind::Ec(Curve::P384) => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384),
            KeyKind::Ec(Curve::P521) => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512),
        };
        let pair = pair.expect("a key can be made");
        Pair {
            kind,
            private: peer.file(&format!("{kind:?}.private"), pair.serialize_pem().as_bytes()),
            public: peer.file(&format!("{kind:?}.public"), pair.public_key_pem().as_bytes()),
            key: PrivateKey::from_der(&pair.serialize_der()).expect("it was just made"),
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("names here are text")
}

fn read(bytes: &[u8]) -> Document {
    Document::parse(bytes.to_vec(), &Options::default()).expect("it is well-formed")
}

/// The first element with that local name.
fn first(document: &Document, local: &str) -> NodeId {
    let mut all = document.descendants(document.document_node());
    all.find(|&node| document.kind(node) == Kind::Element && document.qname(node).local == local).expect("it is there")
}
