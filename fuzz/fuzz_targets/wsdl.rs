#![no_main]
//! Whatever a description says, it is refused, or what is published of it is well-formed and can be read again.

use libfuzzer_sys::fuzz_target;
use myelin_wsdl::{Addresses, Description, Documents, Form, Links, Options, Scheme, Source, publish};

fuzz_target!(|text: &str| {
    let read = |text: String| Documents::collect(Source { uri: "a.wsdl".to_owned(), text }, |_| None);
    let Ok(documents) = read(text.to_owned()) else { return };
    let Ok(description) = Description::read(&documents) else { return };
    let addresses = Addresses { asked: Scheme::Http, http: Some("http://bus/services/"), https: None };
    for form in [Form::Own, Form::Original] {
        let options = Options {
            service: "Service",
            documentation: None,
            form,
            links: Links::Relative,
            keep_policies: form == Form::Original,
            soap11: true,
            soap12: true,
            http: true,
            plain: true,
            secure: false,
        };
        let published = publish(Some(&documents), &description, &options);
        for page in [&published.wsdl, &published.wsdl2] {
            let page = String::from_utf8(page.fill(&addresses)).expect("text makes text");
            if let Err(error) = read(page) {
                // Both together are longer than one may be.
                assert!(!matches!(error.kind, myelin_wsdl::ErrorKind::Malformed(_)), "{error}");
            }
        }
    }
});
