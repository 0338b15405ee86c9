//! Ciphertexts in documents, and plaintexts that try to leave their places.

use myelin_xml::{Document, Kind, NodeId, Options};
use proptest::prelude::*;

use super::*;
use crate::Limits;
use crate::algorithm::{DigestMethod, KeyBits};
use crate::crypto::{decrypt, encrypt};
use crate::error::Rule;
use crate::vocabulary::XENC;

const KEY: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz012345";
const CIPHER: BlockCipher = BlockCipher::AesCbc(KeyBits::Bits128);

fn read(text: &str) -> Document {
    Document::parse(text.into(), &Options::default()).expect("it is well-formed")
}

fn find(document: &Document, local: &str) -> Vec<NodeId> {
    let all = document.descendants(document.document_node());
    all.filter(|&node| document.kind(node) == Kind::Element && document.qname(node).local == local).collect()
}

/// Puts a plaintext into each element `E` of a document.
fn spliced(text: &str, form: Form, plaintexts: &[&[u8]]) -> Result<String, Rule> {
    let document = read(text);
    let places = find(&document, "E");
    assert_eq!(places.len(), plaintexts.len());
    let pieces: Vec<Piece> = std::iter::zip(places, plaintexts)
        .map(|(place, plaintext)| Piece { place, form, plaintext: plaintext.to_vec() })
        .collect();
    let (spliced, places) = splice(&document, &pieces, &Options::default()).map_err(|refusal| refusal.rule)?;
    // What was outside of the pieces is found again, with what stood around it.
    for element in document.descendants(document.document_node()) {
        if document.kind(element) != Kind::Element || document.qname(element).local == "E" {
            continue;
        }
        let found = places.element(&document, &spliced, element).expect("it is still there");
        assert_eq!(document.qname(element), spliced.qname(found));
        let parents = (document.parent(element), spliced.parent(found));
        let (Some(old), Some(new)) = parents else { panic!("an element has a parent") };
        assert_eq!(places.element(&document, &spliced, old), Some(new));
    }
    Ok(spliced.source().to_owned())
}

#[test]
fn plaintexts_take_their_places() {
    for (text, form, plaintexts, expected) in [
        ("<a><E/></a>", Form::Element, vec!["<b/>"], "<a><b/></a>"),
        ("<a><E>x</E><E/></a>", Form::Element, vec!["<b>1</b>", "<c/>"], "<a><b>1</b><c/></a>"),
        ("<E/>", Form::Element, vec!["<b/>"], "<b/>"),
        ("<a>1<E/>2</a>", Form::Content, vec!["x"], "<a>1x2</a>"),
        ("<a>1<E/>2</a>", Form::Content, vec![""], "<a>12</a>"),
        ("<a>1<E/>2</a>", Form::Content, vec!["<![CDATA[x]]>&amp;"], "<a>1<![CDATA[x]]>&amp;2</a>"),
        ("<a>1<E/>2</a>", Form::Content, vec!["x<!-- y -->"], "<a>1x<!-- y -->2</a>"),
        ("<a><E/><b/></a>", Form::Content, vec!["x<c>y</c>z"], "<a>x<c>y</c>z<b/></a>"),
        ("<a><E/><!-- c --></a>", Form::Content, vec!["x"], "<a>x<!-- c --></a>"),
        (
            "<a xmlns:p='u'><E/><c><E/></c><d/></a>",
            Form::Content,
            vec!["<p:b/>", ""],
            "<a xmlns:p='u'><p:b/><c></c><d/></a>",
        ),
    ] {
        let plaintexts: Vec<&[u8]> = plaintexts.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(spliced(text, form, &plaintexts).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn a_plaintext_that_would_leave_its_place_is_refused() {
    let around = [
        "<r><a><E/></a><s/></r>",
        "<r><a>1<E/>2<!-- c -->3<?p d?>4<![CDATA[e]]>5<f g='h'/>;&gt;]]&gt;</a><s/></r>",
        "<r><a><E/><!-- c --> <?p d?><![CDATA[e]]><f g='h'/></a><!-- c --></r>",
        "<r><a><E/><?p d?></a></r>",
        "<r><a><E/><![CDATA[e]]></a><![CDATA[e]]></r>",
        "<r><a><E/>amp;gt; x='1'/></a></r>",
    ];
    let plaintexts: [&[u8]; 30] = [
        b"</a>",
        b"</a><a>",
        b"<b/></a><a><b/>",
        b"</a><b>",
        b"</a></r><r><a>",
        b"<b>",
        b"<b></b></b>",
        b"<!--",
        b"x<!-- -",
        b"<![CDATA[",
        b"<![CDATA[]]>&amp;<![CDATA[",
        b"<?",
        b"<?p ",
        b"<b ",
        b"<b",
        b"<b c='",
        b"<",
        b"</",
        b"<!",
        b"&",
        b"&#",
        b"&#6",
        b"&lt",
        b"]]>",
        b"<?xml version='1.0'?><b/>",
        b"<!DOCTYPE b><b/>",
        b"&entity;",
        b"<p:b/>",
        b"\xff",
        b"\xe2\x82",
    ];
    for text in around {
        for plaintext in plaintexts {
            for form in [Form::Content, Form::Element, Form::Octets] {
                let result = spliced(text, form, &[plaintext]);
                let shown = String::from_utf8_lossy(plaintext);
                assert_eq!(result, Err(Rule::DecryptionFailed), "{shown} in {text}");
            }
        }
    }
}

#[test]
fn an_element_is_one_element_and_nothing_else() {
    for plaintext in ["", " ", "x", "<b/><c/>", " <b/>", "<b/> ", "<!-- --><b/>", "<b/>x", "<?p?>"] {
        assert_eq!(spliced("<a><E/></a>", Form::Element, &[plaintext.as_bytes()]), Err(Rule::DecryptionFailed));
    }
    // Two contents that meet could be one text between them.
    assert_eq!(spliced("<a><E/><E/></a>", Form::Content, &[b"<![CDATA[", b"]]>"]), Err(Rule::DecryptionFailed));
    let document = read("<a><E><E/></E></a>");
    let pieces: Vec<_> = find(&document, "E")
        .into_iter()
        .map(|place| Piece { place, form: Form::Element, plaintext: b"<b/>".to_vec() })
        .collect();
    assert!(splice(&document, &pieces, &Options::default()).is_err());
}

#[test]
fn the_limits_of_the_document_hold_for_what_was_encrypted() {
    let document = read("<a><E/></a>");
    let piece = |plaintext: String| {
        vec![Piece { place: find(&document, "E")[0], form: Form::Element, plaintext: plaintext.into_bytes() }]
    };
    let options = Options { depth: 3, total_bytes: 1_000, ..Options::default() };
    assert!(splice(&document, &piece("<b><c/></b>".to_owned()), &options).is_ok());
    for plaintext in ["<b><c><d/></c></b>".to_owned(), format!("<b>{}</b>", "x".repeat(1_000))] {
        assert!(splice(&document, &piece(plaintext), &options).is_err());
    }
}

#[test]
fn what_is_written_is_read_and_canonical() {
    use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
    let oaep = |digest, mask| KeyMethod::Transport(KeyTransport::RsaOaep { digest, mask });
    let methods = [
        KeyMethod::Wrap(AesKeyWrap(KeyBits::Bits192)),
        KeyMethod::Transport(KeyTransport::Rsa15),
        oaep(DigestMethod::Sha1, DigestMethod::Sha1),
        oaep(DigestMethod::Sha256, DigestMethod::Sha1),
        oaep(DigestMethod::Sha512, DigestMethod::Sha256),
    ];
    let key_info = b"<ds:KeyName>k</ds:KeyName>";
    for (cipher, method) in std::iter::zip(BlockCipher::all(), methods.into_iter().cycle()) {
        let mut text = b"<e xmlns='urn:e'>".to_vec();
        NewKey { id: "k", method, key_info, references: &["d"] }.write(b"key", &mut text);
        NewData { id: "d", form: Form::Content, cipher, key_info }.write(b"data", &mut text);
        text.extend_from_slice(b"</e>");
        let document = Document::parse(text, &Options::default()).expect("it is well-formed");
        let (data, key) = (find(&document, "EncryptedData")[0], find(&document, "EncryptedKey")[0]);
        for element in [data, key] {
            let mut form = Vec::new();
            let subset = Subset { apex: element, excluded: &[] };
            canonicalize(&document, subset, &Canonical::new(Method::Exclusive), &mut form).expect("it has one");
            assert_eq!(document.as_read(element).map(str::as_bytes), Some(&form[..]));
        }
        let data = EncryptedData::read(&document, data, &Limits::default()).expect("it is what was written");
        assert_eq!((data.id.as_deref(), data.form, data.cipher), (Some("d"), Form::Content, cipher));
        assert_eq!(data.ciphertext(&document).expect("it is base64"), b"data");
        let key = EncryptedKey::read(&document, key, &Limits::default()).expect("it is what was written");
        assert_eq!((key.method, &key.references[..]), (method, &["d".to_owned()][..]));
        assert_eq!(key.ciphertext(&document).expect("it is base64"), b"key");
    }
}

#[test]
fn what_is_not_supported_is_refused_by_its_rule() {
    let mut text = Vec::new();
    NewData { id: "d", form: Form::Content, cipher: CIPHER, key_info: b"" }.write(b"data", &mut text);
    let data = String::from_utf8(text).expect("it is text");
    let value = "<xenc:CipherValue>ZGF0YQ==</xenc:CipherValue>";
    for (from, to, expected) in [
        (value, "<xenc:CipherReference URI='http://localhost/'/>", Rule::ExternalReference),
        (value, "", Rule::Malformed),
        (value, &value.repeat(2), Rule::UnknownElement),
        (CIPHER.uri(), "http://www.w3.org/2001/04/xmlenc#arcfour", Rule::UnknownAlgorithm),
        ("</xenc:EncryptionMethod>", "<xenc:KeySize>256</xenc:KeySize></xenc:EncryptionMethod>", Rule::Malformed),
        ("</xenc:EncryptedData>", "<x/></xenc:EncryptedData>", Rule::UnknownElement),
    ] {
        assert!(data.contains(from), "{from}");
        let document = read(&data.replacen(from, to, 1));
        let element = document.root_element().expect("it has a root");
        let result = EncryptedData::read(&document, element, &Limits::default());
        assert_eq!(result.map(|_| ()).map_err(|refusal| refusal.rule), Err(expected), "{to}");
    }
    let key = |method: &str| {
        let value = "<CipherData><CipherValue>ZGF0YQ==</CipherValue></CipherData>";
        let text = format!("<EncryptedKey xmlns='{XENC}'>{method}{value}</EncryptedKey>");
        let document = read(&text);
        let element = document.root_element().expect("it has a root");
        EncryptedKey::read(&document, element, &Limits::default()).map(|key| key.method).map_err(|refusal| refusal.rule)
    };
    let oaep = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";
    let label = format!("<EncryptionMethod Algorithm='{oaep}'><OAEPparams>AAAA</OAEPparams></EncryptionMethod>");
    assert_eq!(key(&label), Err(Rule::UnknownAlgorithm));
    assert!(key(&label.replace("AAAA", "")).is_ok());
    let wrap = "<EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#kw-tripledes'/>";
    assert_eq!(key(wrap), Err(Rule::UnknownAlgorithm));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_was_encrypted_comes_back(
        content in crate::samples::content(),
        cipher in prop::sample::select(BlockCipher::all().collect::<Vec<_>>()),
    ) {
        let key = &KEY[..cipher.key_bytes()];
        let mut ciphertext = Vec::new();
        encrypt(cipher, key, content.as_bytes(), &mut ciphertext).expect("the key has its length");
        let whole = |content: &[u8]| [b"<r xmlns:p='urn:p'><e/><a>", content, b"</a><e>1</e></r>"].concat();
        let mut written = Vec::new();
        NewData { id: "d", form: Form::Content, cipher, key_info: b"" }.write(&ciphertext, &mut written);
        let document = Document::parse(whole(&written), &Options::default()).expect("it is well-formed");
        let element = find(&document, "EncryptedData")[0];
        let data = EncryptedData::read(&document, element, &Limits::default()).expect("it is what was written");
        let mut plaintext = data.ciphertext(&document).expect("it is base64");
        decrypt(data.cipher, key, &mut plaintext).expect("it was encrypted with this key");
        let piece = Piece { place: element, form: data.form, plaintext };
        let (spliced, _) = splice(&document, &[piece], &Options::default()).expect("it is content");
        prop_assert_eq!(spliced.source().as_bytes(), &whole(content.as_bytes())[..]);
    }

    /// Whatever is put into a place: the document is refused, or all around it is as it was.
    #[test]
    fn no_plaintext_leaves_its_place(
        plaintext in "(<b>|</b>|</a>|<a>|<!--|-->|<!\\[CDATA\\[|\\]\\]>|<\\?p |\\?>|&|amp;|#65;|;|x|<|>|'|=|/>){0,6}",
        around in "(x|<!--c-->|<!\\[CDATA\\[d\\]\\]>|<\\?p e\\?>|amp;|;|&amp;|<f/>|-|\\]){0,4}",
    ) {
        let text = format!("<r><a><E/>{around}</a><s/></r>");
        prop_assume!(Document::parse(text.clone().into_bytes(), &Options::default()).is_ok());
        if let Ok(source) = spliced(&text, Form::Content, &[plaintext.as_bytes()]) {
            // The plaintext alone is content, so that nothing of it hung on what stands behind it.
            let alone = Document::parse(format!("<x>{plaintext}</x>").into_bytes(), &Options::default());
            prop_assert!(alone.is_ok());
            prop_assert_eq!(source, text.replacen("<E/>", &plaintext, 1));
        }
    }
}
