use myelin_telemetry::sampling::RootSampler;

use super::*;
use crate::deployment::{Deployment, parse};

fn options_of(text: &str, variables: &[(&str, &str)]) -> anyhow::Result<Option<TelemetryOptions>> {
    let Deployment { own, wso2_telemetry, .. } = parse(text)?;
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let secrets = |text: &str| match text.strip_prefix("$secret{") {
        Some("key}") => Ok("hidden".to_owned()),
        Some(_) => Err("there is no such secret".to_owned()),
        None => Ok(text.to_owned()),
    };
    options(&own.opentelemetry, &wso2_telemetry, &variable, &secrets)
}

fn some(text: &str, variables: &[(&str, &str)]) -> TelemetryOptions {
    options_of(text, variables).unwrap().expect("it is switched on")
}

fn refused(text: &str, variables: &[(&str, &str)], part: &str) {
    let error = format!("{:#}", options_of(text, variables).unwrap_err());
    assert!(error.contains(part), "{part:?} is not in {error:?}");
}

fn named<'a>(options: &'a TelemetryOptions, name: &str) -> Option<&'a AttributeValue> {
    options.resource.iter().find(|it| it.name == name).map(|it| &it.value)
}

#[test]
fn nothing_is_sent_where_nobody_asks_for_it() {
    assert!(options_of("", &[]).unwrap().is_none());
    assert!(options_of("[myelin.opentelemetry]\nmediators = true", &[]).unwrap().is_none());
    let off = "[myelin.opentelemetry]\nenable = false\nendpoint = \"http://a:4317\"";
    assert!(options_of(off, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b")]).unwrap().is_none());
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:4317"), ("OTEL_SDK_DISABLED", "TRUE")];
    assert!(options_of("", &variables).unwrap().is_none());
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:4317"), ("OTEL_TRACES_EXPORTER", "none")];
    assert!(options_of("", &variables).unwrap().is_none());
}

#[test]
fn wso2_s_keys_name_the_collector_and_its_key() {
    let text = "[opentelemetry]\nenable = true\nlogs = true\ntype = \"otlp\"\nprotocol = \"http\"\n\
                url = \"https://otlp.example:4318/v1/traces\"\n[[opentelemetry.properties]]\nname = \"api-key\"\n\
                value = \"$secret{key}\"\n[[opentelemetry.properties]]\nname = \"resource_attributes\"\n\
                value = \"deployment.environment.name=test,team=a%20b\"";
    let options = some(text, &[]);
    let traces = options.traces.as_ref().unwrap();
    assert_eq!(
        (traces.url.to_string().as_str(), traces.protocol),
        ("https://otlp.example:4318/v1/traces", Protocol::Http)
    );
    assert_eq!((traces.headers[0].0.as_str(), traces.headers[0].1.as_bytes()), ("api-key", &b"hidden"[..]));
    assert!(!format!("{options:?}").contains("hidden"), "{options:?}");
    assert!(options.logs.is_none());
    assert_eq!(named(&options, "team"), Some(&AttributeValue::Text("a b".into())));
    // The documentation of WSO2 has the path of HTTP for gRPC as well.
    let grpc =
        some("[opentelemetry]\nenable = true\ntype = \"otlp\"\nurl = \"https://otlp.example:4317/v1/traces\"", &[]);
    assert_eq!(grpc.traces.unwrap().protocol, Protocol::Grpc);
    let jaeger = some("[opentelemetry]\nenable = true\ntype = \"jaeger\"\nhost = \"j\"\nport = 4318", &[]);
    let traces = jaeger.traces.unwrap();
    assert_eq!((traces.url.to_string().as_str(), traces.protocol), ("http://j:4318/v1/traces", Protocol::Http));
}

#[test]
fn a_protocol_that_is_not_spoken_is_refused_by_name_with_what_to_do() {
    for (kind, part) in [
        ("type = \"jaeger\"\nhost = \"localhost\"\nport = 14250", "type = \"otlp\" and url = \"http://HOST:4317\""),
        ("type = \"zipkin\"\nurl = \"http://localhost:9411\"", "exporter for Zipkin"),
        ("type = \"log\"", "url of a collector"),
        ("type = \"otpl\"", "did you mean otlp?"),
    ] {
        let text = format!("[opentelemetry]\nenable = true\n{kind}");
        let deployment = parse(&text).unwrap();
        assert!(
            deployment.key_remarks.iter().any(|remark| remark.to_string().contains(part)),
            "{part}: {:?}",
            deployment.key_remarks
        );
        assert!(options_of(&text, &[]).unwrap().is_none());
        // Whoever names a collector of ours beside it has it.
        let text = format!("{text}\n[myelin.opentelemetry]\nendpoint = \"http://c:4317\"");
        assert_eq!(some(&text, &[]).traces.unwrap().url.to_string(), "http://c:4317/");
    }
    assert!(parse("[opentelemetry]\nenable = false\ntype = \"zipkin\"").unwrap().key_remarks.is_empty());
}

#[test]
fn variables_of_the_environment_say_what_the_file_does_not() {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base/"),
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://logs:9999/any"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1,b=x%3Dy"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "none"),
        ("OTEL_LOGS_EXPORTER", "otlp"),
        ("OTEL_SERVICE_NAME", "orders-bus"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=x"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1000"),
        ("OTEL_BSP_SCHEDULE_DELAY", "250"),
    ];
    let options = some("", &variables);
    let (traces, logs) = (options.traces.as_ref().unwrap(), options.logs.as_ref().unwrap());
    assert_eq!(traces.url.to_string(), "http://all:4318/base/v1/traces");
    assert_eq!(logs.url.to_string(), "http://logs:9999/any");
    assert_eq!((traces.gzip, traces.timeout), (false, Duration::from_millis(1500)));
    assert_eq!(traces.headers[1].1.as_bytes(), b"x=y");
    assert_eq!(named(&options, "service.name"), Some(&AttributeValue::Text("orders-bus".into())));
    assert_eq!(named(&options, "team"), Some(&AttributeValue::Text("x".into())));
    assert_eq!(options.tracing.sampler, Sampler { root: RootSampler::Ratio(0.25), follows_parent: true });
    assert_eq!((options.queue, options.batch, options.interval), (100, 100, Duration::from_millis(250)));
    let file = "[myelin.opentelemetry]\nendpoint = \"collector:4317\"\nprotocol = \"grpc\"\nservice_name = \"bus\"\n\
                headers = { k = \"$secret{key}\" }\nsampler = \"always_off\"\nkeep_faults = true\nkeep_slower = \"2s\"\n\
                queue = 7\nincoming = \"restart\"\nmediators = true\nlogs = false\ncompression = \"gzip\"";
    let options = some(file, &variables);
    let traces = options.traces.as_ref().unwrap();
    assert_eq!((traces.url.to_string().as_str(), traces.protocol), ("http://collector:4317/", Protocol::Grpc));
    assert_eq!((traces.headers.len(), traces.headers[0].1.as_bytes(), traces.gzip), (1, &b"hidden"[..], true));
    assert!(options.logs.is_none());
    assert_eq!(named(&options, "service.name"), Some(&AttributeValue::Text("bus".into())));
    assert_eq!(options.tracing.tail, TailSampler { faults: true, slower_than: Some(Duration::from_secs(2)) });
    assert!(options.tracing.mediators && !options.tracing.continues);
}

#[test]
fn certificates_are_those_of_the_file_or_of_variables_and_need_tls() {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c:4317"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"),
        ("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/traces.pem"),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/bus.pem"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/bus.key"),
    ];
    let traces = some("", &variables).traces.unwrap();
    assert_eq!(traces.roots, [PathBuf::from("/traces.pem")]);
    assert_eq!(traces.shows, Some(("/bus.pem".into(), "/bus.key".into())));
    let file =
        "[myelin.opentelemetry]\ncertificate = \"/own.pem\"\nclient_certificate = \"/a.pem\"\nclient_key = \"/a.key\"";
    let traces = some(file, &variables).traces.unwrap();
    assert_eq!(traces.roots, [PathBuf::from("/own.pem")]);
    assert_eq!(traces.shows, Some(("/a.pem".into(), "/a.key".into())));
    // Variables are for all programs, those without TLS included.
    let plain = [variables.as_slice(), &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c:4317")]].concat();
    let traces = some("", &plain).traces.unwrap();
    assert!(traces.roots.is_empty() && traces.shows.is_none());
    refused(file, &plain[5..], "c:4317 is reached without TLS");
    refused("", &variables[..4], "are needed together");
    let scheme = |insecure| {
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4317"), ("OTEL_EXPORTER_OTLP_INSECURE", insecure)];
        some("", &variables).traces.unwrap().url.to_string()
    };
    assert_eq!((scheme("true"), scheme("false")), ("http://c:4317/".to_owned(), "https://c:4317/".to_owned()));
}

#[test]
fn what_cannot_be_is_refused_and_no_secret_is_told() {
    let own = |line: &str| format!("[myelin.opentelemetry]\nenable = true\n{line}");
    refused(&own("sampler = \"always\""), &[], "there is no sampler \"always\"");
    refused(&own("ratio = 1.5"), &[], "between 0 and 1");
    refused(&own("endpoint = \"ftp://a\""), &[], "http:// or https:// is needed");
    refused(&own("endpoint = \"http://me:hush@a\""), &[], "put it into a header");
    refused(&own("headers = { a = \"$secret{none}\" }"), &[], "header a: there is no such secret");
    refused(&own("headers = { a = \"hu\\nsh\" }"), &[], "a header cannot hold its value");
    refused(&own(""), &[("OTEL_EXPORTER_OTLP_HEADERS", "hush")], "NAME=VALUE");
    refused(&own(""), &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")], "http/protobuf are spoken");
    for (line, variables) in [
        ("endpoint = \"http://me:hush@a\"", &[][..]),
        ("headers = { a = \"hu\\nsh\" }", &[]),
        ("", &[("OTEL_EXPORTER_OTLP_HEADERS", "hush")]),
    ] {
        let error = format!("{:#}", options_of(&own(line), variables).unwrap_err());
        assert!(!error.contains("hush") && !error.contains("hu\nsh"), "{error}");
    }
}
