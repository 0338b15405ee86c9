//! Samples 100 to 399: proxy services.

use super::Sample;
use super::balancing::sessions;
use super::mediation::two_channels;
use crate::client::{get, order, plain_quote, quote};
use crate::stage::Stage;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::own(150, include_str!("../own/150.xml"), a_proxy),
    Sample::apache(151, predefined_parts),
    Sample::own(153, include_str!("../own/153.xml"), headers_for_others_pass),
    Sample::apache(154, proxy_as_balancer),
    Sample::own(155, include_str!("../own/155.xml"), two_channels_of_a_proxy),
    Sample::own(157, include_str!("../own/157.xml"), conditional_router),
    Sample::apache(268, proxies_in_a_row),
];

fn a_proxy(stage: &mut Stage) {
    let scene = stage.ask("SOAP 1.1", &quote("IBM").at("/services/StockQuoteProxy"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
    let scene = stage.ask("SOAP 1.2", &quote("IBM").soap12().at("/services/StockQuoteProxy"));
    stage.expect_quote(&scene, "IBM");
    let scene = stage.ask("plain", &plain_quote("IBM").at("/services/StockQuoteProxy"));
    stage.expect(scene.answer.part("body").contains("getQuoteResponse"), "the plain client gets a quote");
    let scene = stage.ask("order", &order("IBM").at("/services/StockQuoteProxy"));
    stage.expect(scene.answer.part("status") == "202", "the order is accepted");
}

fn predefined_parts(stage: &mut Stage) {
    for proxy in ["/services/StockQuoteProxy1", "/services/StockQuoteProxy2"] {
        let address = format!("http://localhost:8280{proxy}");
        let scene = stage.ask(&proxy[10..], &quote("IBM").addressed(&address).at(proxy));
        stage.expect_quote(&scene, "IBM");
        stage.expect_received(&scene, 9000, 1);
    }
    let described = stage.ask("description", &get("/services/StockQuoteProxy1?wsdl"));
    let body = described.answer.part("body");
    stage.expect(described.answer.part("status") == "200" && body.contains("definitions"), "there is a WSDL");
}

fn headers_for_others_pass(stage: &mut Stage) {
    let block = concat!(
        r#"<wsse:Security xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">"#,
        "<wsse:UsernameToken><wsse:Username>bob</wsse:Username></wsse:UsernameToken></wsse:Security>"
    );
    let scene = stage.ask("secured", &quote("IBM").block(block).at("/services/StockQuoteProxy"));
    stage.expect_quote(&scene, "IBM");
    let got = scene.received.get(&9000).and_then(|all| all.first()).map_or("", |seen| seen.part("body"));
    stage.expect(got.contains("UsernameToken"), "the service gets the security header");
}

fn proxy_as_balancer(stage: &mut Stage) {
    let rounds = sessions(stage, "/services/LBProxy");
    stage.expect(rounds[0] == rounds[1] && rounds[1] == rounds[2], "each session stays with its server");
    let different: std::collections::BTreeSet<_> = rounds[0].iter().collect();
    stage.expect(different.len() == 3, "sessions are spread over the servers");
}

fn two_channels_of_a_proxy(stage: &mut Stage) {
    two_channels(stage, "/services/StockQuoteProxy");
}

fn conditional_router(stage: &mut Stage) {
    let at = "/services/StockQuoteProxy";
    let cases = [
        ("header", quote("IBM").with("foo", "bar").at(at), true),
        ("one header or another", quote("IBM").with("my_custom_header2", "foo").at(at), true),
        (
            "parameters",
            quote("IBM").with("my_custom_header3", "foo").at(&format!("{at}?qparam1=qpv_foo&qparam2=qpv_foo2")),
            true,
        ),
        ("nothing", quote("IBM").at(at), false),
    ];
    for (name, request, routed) in cases {
        let scene = stage.ask(name, &request);
        if routed {
            stage.expect_quote(&scene, "IBM");
        }
        stage.expect_received(&scene, 9000, usize::from(routed));
    }
}

fn proxies_in_a_row(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").at("/services/LocalTransportProxy"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}
