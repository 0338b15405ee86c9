//! What a `deployment.toml` comes to.

use myelin_engine::{DuplicateKeys, MonitorSettings};
use myelin_http::{Expect, Retry, XForwarded};

use super::*;

#[test]
fn ports_follow_the_offset_as_in_micro_integrator() {
    let port = |text: &str| parse(text).unwrap().http.unwrap().port();
    assert_eq!(port(""), 8290);
    assert_eq!(port("[server]\noffset = 0"), 8280);
    let moved = |text: &str| parse_with_offset(text, Some(20)).unwrap();
    assert_eq!(moved("[server]\noffset = 3").http.unwrap().port(), 8300);
    assert_eq!(moved("").admin().unwrap().unwrap().address.port(), 9211);
    assert_eq!(port("[server]\noffset = \"5\"\n[transport.http]\nlistener.port = 9000"), 9005);
    assert_eq!(port("[transport.passthru.http.listener]\nport = 8000"), 8010);
    assert!(parse("[server]\noffset = 70000").is_err());
    assert!(parse("[server]\noffset = \"many\"").is_err());
}

#[test]
fn bounds_of_latencies_and_the_access_log_have_the_keys_of_wso2() {
    let text = "[metric_handler]\nproxy_latency_buckets = [0.1, 1, 5]\napi_latency_buckets = \"0.5, 2\"\n\
                [http_access_log]\nenabled = true\npattern = \"combined\"\nprefix = \"http_gw\"\n";
    let deployment = parse(text).unwrap();
    let mut settings = myelin_engine::Settings::default();
    deployment.apply_mediation(&mut settings).unwrap();
    assert_eq!(settings.latency_bounds["proxy"], Bounds::new(&[0.1, 1.0, 5.0]).unwrap());
    assert_eq!(settings.latency_bounds["api"], Bounds::new(&[0.5, 2.0]).unwrap());
    let file = |deployment: &Deployment| deployment.access_log(None, None).unwrap();
    let expected = AccessLogOptions::to(Destination::File("repository/logs/http_gw.log".into()));
    assert_eq!(file(&deployment), Some(expected.in_format("combined", true).unwrap()));
    assert_eq!(file(&parse("[http_access_log]\npattern = \"common\"").unwrap()), None);
    let own = "[myelin.access_log]\nfile = \"-\"\nformat = \"json\"\nmask_queries = false\n";
    let expected = AccessLogOptions::to(Destination::Standard).in_format("json", false).unwrap();
    assert_eq!(file(&parse(&format!("{own}{text}")).unwrap()), Some(expected));
    for wrong in ["[2, 1]", "[]", "\"fast\"", "[true]", "1"] {
        let error = parse(&format!("[metric_handler]\nproxy_latency_buckets = {wrong}")).unwrap_err();
        assert!(error.to_string().contains("each larger than the one before"), "{error:#}");
    }
    let error = parse("[myelin.access_log]\nfile = \"-\"\nformat = \"comon\"").unwrap().access_log(None, None);
    assert!(format!("{:#}", error.unwrap_err()).contains("did you mean common?"));
}

#[test]
fn limits_come_from_wso2s_keys_and_from_ours() {
    let text = "[transport.http]\nsocket_timeout = 60000\nmax_message_size_bytes = 1000\n\
                enable_message_size_validation = true\n[myelin.server]\nhead_timeout = \"3s\"\nexpect = \"answer\"\n\
                x_forwarded = \"append\"\necho_credentials = true\n\
                [myelin.client]\nretry = \"never\"";
    let (mut server, mut client) = (ServerOptions::default(), ClientOptions::default());
    parse(text).unwrap().apply(&mut server, &mut client);
    assert_eq!((server.idle, client.idle), (Duration::from_secs(60), Duration::from_secs(60)));
    assert_eq!(server.body_bytes, Some(1000));
    assert_eq!(server.head_timeout, Duration::from_secs(3));
    assert_eq!((server.expect, client.retry), (Expect::Answer, Retry::Never));
    assert_eq!((server.forwarded.x_forwarded, server.echo_credentials), (XForwarded::Append, true));
    parse("[myelin.server]\nx_forwarded = true").unwrap().apply(&mut server, &mut client);
    assert_eq!(server.forwarded.x_forwarded, XForwarded::Replace);
    let error = format!("{:#}", parse("[myelin.server]\nx_forwarded = \"on\"").unwrap_err());
    assert!(error.contains("x_forwarded is true, false"), "{error}");
}

#[test]
fn wso2s_keys_say_where_http_is_served_how_long_things_take_and_how_many_there_may_be() {
    let text = "[server]\noffset = 0\n[transport.http]\nlistener.bind_address = \"localhost\"\n\
                socket_timeout = \"3m\"\nconnection_timeout = \"5000\"\nmax_open_connections = -1\n\
                max_http_connection_per_host_port = 100\n\
                [myelin.client]\nretry = \"never\"";
    let (mut server, mut client) = (ServerOptions::default(), ClientOptions::default());
    let connections = server.connections;
    let deployment = parse(text).unwrap();
    deployment.apply(&mut server, &mut client);
    assert_eq!(deployment.http, Some(([127, 0, 0, 1], 8280).into()));
    assert_eq!((server.idle, client.connect_timeout), (Duration::from_secs(180), Duration::from_secs(5)));
    assert_eq!(client.connections, 100);
    assert_eq!(server.connections, connections);
    assert_eq!(parse("[transport.http]\nlistener.enable = false").unwrap().http, None);
    let check = |text: &str, part: &str| {
        let error = format!("{:#}", parse(text).unwrap_err());
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    };
    check("[transport.http]\nlistener.bind_address = \"bus.example\"", "an IP address is needed");
    check("[transport.http]\nsocket_timeout = 0", "more than 0 ms");
    check("[server]\nhot_deployment = \"maybe\"", "true or false");
    check("[server]\nhostname = \"$env{MYELIN_HAS_NO_SUCH_NAME}\"", "the environment has no MYELIN");
}

#[test]
fn who_may_call_all_apis_stands_under_the_names_of_synapse() {
    let cors = |lines: &str| {
        let mut settings = myelin_engine::Settings::default();
        let deployment = parse(&format!("[synapse_properties]\n{lines}")).unwrap();
        deployment.apply_mediation(&mut settings).unwrap();
        (settings.cors, deployment.key_remarks.len())
    };
    let set = |allowed_origins: &[&str], allow_headers: Option<&str>| CorsSettings {
        allowed_origins: allowed_origins.iter().map(|&origin| origin.to_owned()).collect(),
        allow_headers: allow_headers.map(str::to_owned),
    };
    let origin = "'synapse.rest.CORSConfig.Access-Control-Allow-Origin' = 'https://a.example, https://b.example'\n";
    let both = ["https://a.example", "https://b.example"];
    assert_eq!(cors(origin), (Some(set(&both, None)), 0));
    let headers = "'synapse.rest.CORSConfig.Access-Control-Allow-Headers' = 'X-One,X-Two'\n";
    let on = "'synapse.rest.CORSConfig.enabled' = true\n";
    assert_eq!(cors(&format!("{on}{origin}{headers}")), (Some(set(&both, Some("X-One,X-Two"))), 0));
    assert_eq!(cors(&format!("{}{origin}", on.replace("true", "'false'"))), (None, 0));
    assert_eq!(cors(on), (Some(set(&[], None)), 1));
    assert_eq!(cors(headers), (None, 0));
}

#[test]
fn endpoints_have_their_defaults_under_the_names_of_synapse() {
    let text = "[synapse_properties]\n'synapse.global_timeout_interval' = 7000\n'maximum.failover.retries' = 3\n\
                [mediation]\nsynapse.global_endpoint_suspend_duration = 500\n\
                synapse.global_endpoint_suspend_progression_factor = \"1.5\"\n\
                synapse.override_endpoint_suspend_config_with_global_values = true\n\
                synapse.suspend_duration_on_maximum_failover = 9000\n";
    let mut settings = myelin_engine::Settings::default();
    parse(text).unwrap().apply_mediation(&mut settings).unwrap();
    let endpoints = settings.endpoints;
    assert_eq!(endpoints.timeout, Some(Duration::from_secs(7)));
    assert_eq!((endpoints.suspension_ms, endpoints.progression_factor), (500, 1.5));
    assert!(endpoints.override_suspension);
    assert_eq!(endpoints.failure_limit, Some((3, Duration::from_secs(9))));
    let warnings = findings::examine(&FileText::new("d.toml", text)).warnings;
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn monitors_say_what_they_want_otherwise_than_by_default() {
    let text = "[[myelin.monitors]]\nendpoint = \"a\"\n[[myelin.monitors]]\nendpoint = \"b\"\npath = \"/health\"\n\
                interval = \"1s\"\ntimeout = \"500ms\"\nexpect = [204]\nfall = 1\nrise = 4";
    let mut settings = myelin_engine::Settings::default();
    parse(text).unwrap().apply_mediation(&mut settings).unwrap();
    let other = MonitorSettings {
        path: Some("/health".to_owned()),
        interval: Duration::from_secs(1),
        timeout: Duration::from_millis(500),
        expect: vec![204],
        fall: 1,
        rise: 4,
        ..MonitorSettings::new("b")
    };
    assert_eq!(settings.monitors, [MonitorSettings::new("a"), other]);
    assert!(parse("[[myelin.monitors]]\npath = \"/health\"").is_err(), "a monitor is one of an endpoint");
}

#[test]
fn content_has_limits_and_choices_of_its_own() {
    let text = "[myelin.content]\nbody_bytes = 1000\njson_duplicate_keys = \"refuse\"";
    let mut settings = myelin_engine::Settings::default();
    parse(text).unwrap().apply_mediation(&mut settings).unwrap();
    assert_eq!((settings.body_limit_bytes, settings.json_duplicate_keys), (1000, DuplicateKeys::Refuse));
    assert!(parse("[myelin.content]\njson_duplicate_keys = \"any\"").is_err());
}

#[test]
fn stylesheets_have_limits_of_their_own() {
    let text =
        "[myelin.xslt]\ntime = \"500ms\"\ndepth = 100\ninstructions = 1000\noutput_bytes = 10\nmemory_bytes = 20";
    let mut settings = myelin_engine::Settings::default();
    parse(text).unwrap().apply_mediation(&mut settings).unwrap();
    let work = settings.stylesheets.work;
    assert_eq!(settings.stylesheets.time, Duration::from_millis(500));
    assert_eq!((work.depth, work.instructions, work.output_bytes, work.memory_bytes), (100, 1000, 10, 20));
}

#[test]
fn scripts_have_limits_of_their_own() {
    let text = "[myelin.scripts]\ntime = \"500ms\"\nmemory_bytes = 1000\nstack_bytes = 2000";
    let mut settings = myelin_engine::Settings::default();
    parse(text).unwrap().apply_mediation(&mut settings).unwrap();
    let work = settings.scripts.work;
    assert_eq!(settings.scripts.time, Duration::from_millis(500));
    assert_eq!((work.memory_bytes, work.stack_bytes), (1000, 2000));
}

#[test]
fn passwords_come_from_the_environment_and_stay_out_of_sight() {
    let text = "[keystore.primary]\nfile_name = \"wso2carbon.jks\"\nalias = \"bus\"\npassword = \"hush\"\n\
                [myelin.security]\nrsa_bits = 3072\n[myelin.security.limits]\ntokens = 3\n\
                [myelin.security.secrets]\nstore = \"$env{CARGO_PKG_NAME}\"\n\
                [myelin.security.key_passwords]\ngateway = \"$secret{store}\"\n\
                [myelin.security.users]\nalice = \"$secret{store}\"\n\
                bob = { password = \"hush\", roles = [\"admin\"] }";
    let mut settings = myelin_engine::Settings::default();
    let deployment = parse(text).unwrap();
    deployment.apply_mediation(&mut settings).unwrap();
    let security = &settings.security;
    assert_eq!(security.users["alice"].password.as_ref(), b"myelin-server");
    assert_eq!(security.key_passwords["gateway"].as_ref(), b"myelin-server");
    assert!(!security.users.contains_key("gateway"), "the password of a key lets nobody in");
    assert_eq!((security.rsa_bits_min, security.limits.tokens), (3072, 3));
    assert_eq!(security.users["bob"].roles, ["admin"]);
    assert_eq!(security.server_store.as_ref().unwrap().alias.as_deref(), Some("bus"));
    assert!(!format!("{deployment:?} {security:?}").contains("hush"));
    let missing = parse("[myelin.security.users]\nalice = \"$secret{none}\"").unwrap();
    assert!(missing.apply_mediation(&mut settings).unwrap_err().to_string().contains("alice"));
}

#[test]
fn data_sources_have_names_pools_and_passwords_that_nobody_sees() {
    let text = "[[datasource]]\nid = \"stocks\"\nurl = \"jdbc:postgresql://db/stocks\"\nusername = \"bus\"\n\
                password = \"$secret{stocks}\"\ndriver = \"org.postgresql.Driver\"\n\
                pool_options.maxActive = 20\npool_options.testOnBorrow = true\npool_options.jmxEnabled = true\n\
                [[datasource]]\nid = \"bonds\"\nurl = \"jdbc:sqlite:bonds.db\"\n\
                [myelin.sql]\ntimeout = \"2s\"\n[myelin.security.secrets]\nstocks = \"hush\"";
    let mut settings = myelin_engine::Settings::default();
    let deployment = parse(text).unwrap();
    deployment.apply_mediation(&mut settings).unwrap();
    let sources = &settings.databases.sources;
    let stocks = &sources["stocks"];
    assert_eq!((stocks.user.as_deref(), stocks.pool.connections), (Some("bus"), Some(20)));
    assert!(stocks.pool.test && stocks.password.as_ref().is_some_and(|password| password.0 == "hush"));
    assert_eq!(sources["bonds"].url, "jdbc:sqlite:bonds.db");
    assert!(!format!("{settings:?}").contains("hush"));
    assert_eq!(deployment.key_remarks.len(), 1, "{:?}", deployment.key_remarks);
    assert!(deployment.key_remarks[0].to_string().contains("jmxEnabled"), "{:?}", deployment.key_remarks);
    let check = |text: &str, part: &str| {
        let error = format!("{:#}", parse(text).unwrap_err());
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    };
    check("[[datasource]]\nid = \"a\"", "a has no url");
    check("[[datasource]]\nurl = \"jdbc:x\"", "has no id");
    check("[datasource]\nid = \"a\"", "[[datasource]]");
    check("[[datasource]]\nid = \"a\"\nurl = \"jdbc:$env{MYELIN_HAS_NO_SUCH_NAME}\"", "the environment has no");
    check("[[datasource]]\nid=\"a\"\nurl=\"u\"\n[[datasource]]\nid=\"a\"\nurl=\"u\"", "twice");
    check("[[datasource]]\nid=\"a\"\nurl=\"u\"\npool_options.maxActive=\"many\"", "no number");
    let missing = parse("[[datasource]]\nid=\"a\"\nurl=\"u\"\npassword=\"$secret{none}\"").unwrap();
    assert!(missing.apply_mediation(&mut settings).unwrap_err().to_string().contains("password"));
}

#[test]
fn a_misspelt_key_of_ours_is_an_error_that_names_it() {
    let error = format!("{:#}", parse("[myelin.server]\nhead_timout = \"3s\"").unwrap_err());
    assert!(error.contains("head_timout"), "{error}");
}
