//! The keys of WSO2's `deployment.toml`: which are heeded, and why the others are not.
//!
//! Source: the configuration catalogue of Micro Integrator 4, and what 70 files of others set.

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has the effect that it has there.
    Heeded(Heed),
    /// What it sets is not supported yet.
    Later(&'static str),
    /// It sets something that this bus has no need of, or does in another way.
    Needless(&'static str),
}

/// What a key that is heeded does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heed {
    /// What its value is, and what it is where nothing is said.
    pub(super) value: &'static str,
    pub(super) default: &'static str,
    pub(super) meaning: &'static str,
    /// Whether a change of it waits for the next start.
    pub(super) needs_restart: bool,
}

/// A key whose change counts from the next reload on.
const fn reloaded(value: &'static str, default: &'static str, meaning: &'static str) -> Standing {
    Heeded(Heed { value, default, meaning, needs_restart: false })
}

/// A key whose change counts from the next start on.
const fn fixed(value: &'static str, default: &'static str, meaning: &'static str) -> Standing {
    Heeded(Heed { value, default, meaning, needs_restart: true })
}

/// A key that means the same as another one.
const fn same(other: &'static str, needs_restart: bool) -> Standing {
    Heeded(Heed { value: "", default: "", meaning: other, needs_restart })
}

use Standing::{Heeded, Later, Needless};

const THREADS: Standing = Needless("the bus runs one thread for each core");
const TLS: Standing = Later("--ca names the roots that backends are trusted by");
const CIPHERS: Standing =
    Needless("only suites with forward secrecy and AES-GCM or ChaCha20-Poly1305 are spoken, whatever is named");
const REVOCATION: Standing = Later("it is not asked whether certificates of clients are revoked");
const CLASS: Standing = Needless("it names a Java class, which cannot run in a native program");
const DASHBOARD: Standing = Needless("the console of the bus needs no dashboard server: docs/management.md");
const TOKENS: Standing =
    Needless("tokens are signed with a key that each process makes for itself, and the oldest goes first");
const QUIET: Standing =
    Needless("a path that finds nothing is a warning; MYELIN_LOG=\"info,myelin::expression=error\" leaves those out");
const SQL: Standing = Later("data services are not supported yet");

/// Keys, and tables with all that is in them, by their paths; the longest that fits counts.
pub(super) const KEYS: &[(&str, Standing)] = &[
    ("myelin", reloaded("a table", "", "see [below](#myelin)")),
    (
        "server.hostname",
        reloaded("text", "", "how the bus is called in what it publishes; `localhost` counts as nothing said"),
    ),
    ("server.offset", fixed("number", "10", "added to the ports of HTTP and HTTPS; without a file nothing is added")),
    (
        "server.hot_deployment",
        fixed("true, false", "true", "whether changed files are looked for; SIGHUP reloads in any case"),
    ),
    ("server.hot_update", Needless("changed files are reloaded, see hot_deployment")),
    ("server.enable_mtom", Later("attachments are not supported yet")),
    ("server.enable_swa", Later("attachments are not supported yet")),
    ("server.userAgent", Needless("it sets only the product name that WSO2 reports")),
    ("server.serverDetails", Needless("it sets only the product name that WSO2 reports")),
    ("server.name", Needless("it sets only the product name that WSO2 reports")),
    ("server.id", Needless("no dashboard server asks for it")),
    ("server.base_path", Needless("the addresses of the bus are those it listens on")),
    ("server.mode", Needless("there is one mode")),
    (
        "keystore.primary",
        reloaded(
            "a table: `file_name`, `type` (`JKS`, `JCEKS`, `PKCS12`, `PEM`), `password`, `alias`, `key_password`",
            "",
            "the key store of the server, which policies with `ServerCrypto` mean, and HTTPS where `[keystore.tls]` is not there",
        ),
    ),
    (
        "keystore.tls",
        reloaded(
            "a table: `file_name`, `type` (`JKS`, `JCEKS`, `PKCS12`, `PEM`), `password`, `alias`, `key_password`",
            "",
            "the key store of HTTPS",
        ),
    ),
    ("server.blocking", Needless("a blocking call takes no thread, and goes out as all others do")),
    ("encryption", Needless("the bus reads no passwords that WSO2's tools encrypted")),
    ("authorization_manager", CLASS),
    ("custom_transport", CLASS),
    ("passthru_properties", Needless("[myelin.server] and [myelin.client] hold the settings of the HTTP transport")),
    ("truststore.alias", Needless("all certificates of the store are trusted")),
    ("truststore.algorithm", Needless("all certificates of the store are trusted")),
    ("keystore.internal", Needless("nothing of the bus itself is encrypted with it")),
    (
        "truststore",
        reloaded(
            "a table: `file_name`, `type`, `password`",
            "",
            "who vouches for certificates of clients, and for those of `ServerCrypto`",
        ),
    ),
    ("secrets", reloaded("a table of texts", "", "what `$secret{ALIAS}` means: `\"[text]\"` or `\"$env{NAME}\"`")),
    ("secret", Needless("$secret refers to [secrets]; the bus reads no secrets from key stores")),
    (
        "user_store",
        Later(
            "LDAP and JDBC user stores are not offered: those of services are in [myelin.security.users], and `myelin user` makes those of the management API",
        ),
    ),
    (
        "realm_manager",
        Later(
            "LDAP and JDBC user stores are not offered: those of services are in [myelin.security.users], and `myelin user` makes those of the management API",
        ),
    ),
    ("super_admin", Needless("there is no default user; `myelin user add NAME --admin` makes one")),
    (
        "internal_apis.users",
        fixed(
            "a list of tables: `user.name`, `user.password`, `user.is_admin`",
            "",
            "users of the management API; `myelin user` keeps hashes of passwords instead: [management.md](management.md)",
        ),
    ),
    (
        "internal_apis.file_user_store.enable",
        fixed(
            "true, false",
            "true",
            "whether `[[internal_apis.users]]` counts; the file of `myelin user` does in any case",
        ),
    ),
    ("internal_apis", Needless("the management API has its own table, [myelin.management]")),
    (
        "management_api.jwt_token_security_handler.token_config.expiry",
        fixed("seconds", "3600", "how long a token of the management API is good for"),
    ),
    (
        "management_api.jwt_token_security_handler.token_store_config.max_size",
        fixed("number", "200", "tokens that are good at once"),
    ),
    ("management_api.jwt_token_security_handler.token_config", TOKENS),
    ("management_api.jwt_token_security_handler.token_store_config", TOKENS),
    (
        "management_api.jwt_token_security_handler.enable",
        Needless(
            "the management API never answers without a token; `listen = \"off\"` of [myelin.management] switches it off",
        ),
    ),
    ("management_api.cors", Needless("pages of other origins may not call the management API")),
    (
        "management_api.protocols",
        Needless("the management API speaks HTTPS, and HTTP only on the loopback address of [myelin.admin]"),
    ),
    ("management_api", Needless("the management API has its own table, [myelin.management]")),
    ("management_api_token_handler", TOKENS),
    ("mediation.internal_https_api_port", fixed("number", "9154", "the port of the management API, the offset added")),
    ("mediation.synapse.internal_https_api_port", same("mediation.internal_https_api_port", true)),
    ("dashboard", DASHBOARD),
    ("dashboard_config", DASHBOARD),
    ("service_catalog", Later("there is no catalogue of services yet")),
    ("icp_config", Later("the bus reports to no integration control plane yet")),
    ("monitoring", Needless("there is no JVM to be watched by JMX")),
    ("prometheus", Needless("metrics are always there: docs/operations.md")),
    (
        "metric_handler.proxy_latency_buckets",
        fixed("list of numbers", "0.00025 to 30", "bounds of the latencies of proxies, in seconds, at most 64"),
    ),
    (
        "metric_handler.api_latency_buckets",
        fixed("list of numbers", "0.00025 to 30", "bounds of the latencies of APIs, in seconds, at most 64"),
    ),
    (
        "metric_handler.inbound_endpoint_latency_buckets",
        fixed(
            "list of numbers",
            "0.00025 to 30",
            "bounds of the latencies of inbound endpoints, in seconds, at most 64",
        ),
    ),
    ("metric_handler", Needless("metrics are always there, whichever class is named: docs/operations.md")),
    (
        "http_access_log.enabled",
        fixed(
            "true, false",
            "false",
            "whether a line is written for each request: [running.md](running.md#access-log)",
        ),
    ),
    ("http_access_log.pattern", fixed("text", "", "what it holds, as `format` of [myelin.access_log]")),
    (
        "http_access_log.directory",
        fixed("text", "repository/logs", "where the file lies, beside the `deployment.toml`"),
    ),
    ("http_access_log.prefix", fixed("text", "http_access", "how its name begins; no date is put into it")),
    ("http_access_log.suffix", fixed("text", ".log", "how its name ends")),
    ("http_access_log", Needless("rotation is that of the system: SIGUSR1 opens the file again")),
    ("analytics", Later("analytics are not supported yet")),
    (
        "opentelemetry.enable",
        fixed("true, false", "false", "whether traces are sent: [opentelemetry.md](opentelemetry.md)"),
    ),
    (
        "opentelemetry.type",
        fixed("`otlp`, `jaeger`", "otlp", "what is spoken: OTLP, which Jaeger takes at its ports 4317 and 4318"),
    ),
    ("opentelemetry.url", fixed("URL", "http://localhost:4317", "the collector")),
    ("opentelemetry.host", fixed("text", "", "its host, where there is no `url`")),
    ("opentelemetry.port", fixed("port", "4317", "its port, where there is no `url`")),
    ("opentelemetry.protocol", fixed("`grpc`, `http`", "grpc", "how OTLP is framed; 4318 in the URL means `http`")),
    ("opentelemetry.service_name", fixed("text", "myelin", "the attribute `service.name`")),
    (
        "opentelemetry.properties",
        fixed(
            "a list of tables: `name`, `value`",
            "",
            "header lines for the collector, such as a key; `resource_attributes` is no header, and adds to the resource",
        ),
    ),
    ("opentelemetry.logs", Needless("spans are not written to a file; logs in [myelin.opentelemetry] sends the log")),
    ("opentelemetry.class", CLASS),
    ("opentelemetry", Needless("docs/opentelemetry.md lists the keys that there are")),
    ("open_telemetry", Needless("the table of Micro Integrator is [opentelemetry]")),
    ("logging", Needless("[myelin.log] sets levels, format and file of the log")),
    ("clustering", Later("several members that share work are not supported yet")),
    ("cluster_config", Later("several members that share work are not supported yet")),
    ("task_handling", Needless("every bus runs all tasks of its configuration")),
    (
        "datasource",
        reloaded(
            "a list of tables: `id`, `url`, `username`, `password`, `pool_options`",
            "",
            "databases with names: [sql.md](sql.md#data-sources-with-a-name)",
        ),
    ),
    ("datasource.driver", Needless("the URL says which database it is")),
    ("datasource.jmx_enable", Needless("there is no JVM to be watched by JMX")),
    ("data_services", SQL),
    ("system.parameter", Needless("there is no JVM that has system properties; $sys means [myelin.system]")),
    ("system_parameter", Needless("there is no JVM that has system properties; $sys means [myelin.system]")),
    (
        "message_builders",
        reloaded(
            "a table: a type of content and a Java class",
            "",
            "a body of that type is read as one of the type that the class is for",
        ),
    ),
    ("message_formatters", reloaded("the same", "", "counts where no builder is named for the type")),
    ("blocking.message_builders", Needless("the content type decides how a body is read")),
    ("blocking.message_formatters", Needless("the content type decides how a body is written")),
    ("custom_message_builders", reloaded("a list of tables: `content_type`, `class`", "", "the same for any type")),
    ("custom_message_formatters", reloaded("a list of tables: `content_type`, `class`", "", "the same for any type")),
    ("synapse_handlers", CLASS),
    ("message_inspector", CLASS),
    ("server_listener", CLASS),
    ("nhttp", Needless("there is one HTTP transport")),
    ("mediation.synapse.timeout_handler_interval", Needless("time-outs of endpoints are exact")),
    (
        "mediation.synapse.preserve_namespace_on_xml_to_json",
        reloaded("true, false, or text", "", "sets `synapse.commons.json.preserve.namespace`: [json.md](json.md)"),
    ),
    (
        "mediation.synapse.enable_auto_primitive",
        reloaded("true, false, or text", "", "sets `synapse.commons.json.output.autoPrimitive`: [json.md](json.md)"),
    ),
    (
        "mediation.synapse.enable_xml_nil",
        reloaded("true, false, or text", "", "sets `synapse.commons.enableXmlNilReadWrite`: [json.md](json.md)"),
    ),
    (
        "mediation.synapse.enable_namespace_declaration",
        reloaded(
            "true, false, or text",
            "",
            "sets `synapse.commons.json.output.enableNSDeclarations`: [json.md](json.md)",
        ),
    ),
    (
        "mediation.synapse.build_valid_nc_name",
        reloaded("true, false, or text", "", "sets `synapse.commons.json.buildValidNCNames`: [json.md](json.md)"),
    ),
    (
        "mediation.synapse.disable_custom_replace_regex",
        reloaded(
            "true, false, or text",
            "",
            "sets `synapse.commons.json.json.output.disableAutoPrimitive.customReplaceRegex`: [json.md](json.md)",
        ),
    ),
    (
        "mediation.synapse.disable_auto_primitive_regex",
        reloaded(
            "true, false, or text",
            "",
            "sets `synapse.commons.json.output.disableAutoPrimitive.regex`: [json.md](json.md)",
        ),
    ),
    (
        "mediation.synapse.json_out_auto_array",
        reloaded("true, false, or text", "", "sets `synapse.commons.json.output.jsonoutAutoArray`: [json.md](json.md)"),
    ),
    (
        "synapse_properties.synapse.commons",
        reloaded("text, true, false", "", "conversions between JSON and XML: [json.md](json.md)"),
    ),
    (
        "synapse_properties.synapse.json",
        reloaded("text, true, false", "", "conversions between JSON and XML: [json.md](json.md)"),
    ),
    (
        "synapse_properties.PRESERVE_SPACES",
        reloaded("true, false", "", "conversions between JSON and XML: [json.md](json.md)"),
    ),
    ("synapse_properties.synapse.jsonpath.ignore.not.found.error", QUIET),
    ("mediation.synapse.jsonpath.ignore.not.found.error", QUIET),
    ("mediation.synapse.enable_xpath_dom_failover", Needless("there is one XPath engine, and it is complete")),
    ("mediation.synapse.core_threads", THREADS),
    ("mediation.synapse.max_threads", THREADS),
    ("mediation.synapse.threads_queue_length", THREADS),
    ("mediation.synapse.command_debugger_port", Needless("there is no debugger")),
    ("mediation.synapse.event_debugger_port", Needless("there is no debugger")),
    ("mediation.flow", Needless("every exchange is counted, and traced where [opentelemetry] says so")),
    ("mediation.statistics", Needless("nothing of statistics is kept that would have to be cleaned")),
    (
        "mediation.stat",
        Needless("payloads and properties are no attributes of spans; [myelin.opentelemetry] has what is"),
    ),
    ("mediation.tracer", Needless("[myelin.trace] says what is traced and how much is kept: docs/tracing.md")),
    (
        "mediation.synapse.global_timeout_interval",
        reloaded("milliseconds", "120000", "to the head of a response, where its endpoint says nothing else"),
    ),
    (
        "mediation.synapse.global_endpoint_suspend_duration",
        reloaded("milliseconds", "30000", "the first suspension of an endpoint that does not say it"),
    ),
    (
        "mediation.synapse.global_endpoint_suspend_progression_factor",
        reloaded(
            "number",
            "1",
            "how many times as long each further suspension is, where the endpoint does not say it",
        ),
    ),
    (
        "mediation.synapse.override_endpoint_suspend_config_with_global_values",
        reloaded("true, false", "false", "the two keys above hold for all endpoints, whatever they say"),
    ),
    (
        "mediation.synapse.maximum_failover_retries",
        reloaded("number", "", "after so many failures in a row an endpoint is suspended, whatever it says"),
    ),
    (
        "mediation.synapse.suspend_duration_on_maximum_failover",
        reloaded("milliseconds", "30000", "for how long it then is"),
    ),
    ("mediation.maximum.failover.retries", same("mediation.synapse.maximum_failover_retries", false)),
    (
        "mediation.suspend.duration.on.maximum.failover",
        same("mediation.synapse.suspend_duration_on_maximum_failover", false),
    ),
    (
        "mediation.synapse.sal.endpoints.sesssion.timeout.default",
        reloaded("milliseconds", "120000", "how long sessions with members of a group are remembered"),
    ),
    ("synapse_properties.synapse.global_timeout_interval", same("mediation.synapse.global_timeout_interval", false)),
    (
        "synapse_properties.synapse.global_endpoint_suspend_duration",
        same("mediation.synapse.global_endpoint_suspend_duration", false),
    ),
    (
        "synapse_properties.synapse.global_endpoint_suspend_progression_factor",
        same("mediation.synapse.global_endpoint_suspend_progression_factor", false),
    ),
    (
        "synapse_properties.synapse.override_endpoint_suspend_config_with_global_values",
        same("mediation.synapse.override_endpoint_suspend_config_with_global_values", false),
    ),
    ("synapse_properties.synapse.maximum_failover_retries", same("mediation.synapse.maximum_failover_retries", false)),
    (
        "synapse_properties.synapse.suspend_duration_on_maximum_failover",
        same("mediation.synapse.suspend_duration_on_maximum_failover", false),
    ),
    ("synapse_properties.maximum.failover.retries", same("mediation.synapse.maximum_failover_retries", false)),
    (
        "synapse_properties.suspend.duration.on.maximum.failover",
        same("mediation.synapse.suspend_duration_on_maximum_failover", false),
    ),
    (
        "synapse_properties.synapse.sal.endpoints.sesssion.timeout.default",
        same("mediation.synapse.sal.endpoints.sesssion.timeout.default", false),
    ),
    (
        "synapse_properties.synapse.rest.CORSConfig.enabled",
        reloaded(
            "true, false",
            "whether an origin is named",
            "whether the two keys below hold for all APIs; then a CORSRequestHandler of an API has no effect: [apis.md](apis.md#corsrequesthandler)",
        ),
    ),
    (
        "synapse_properties.synapse.rest.CORSConfig.Access-Control-Allow-Origin",
        reloaded("origins with commas between, or `*`", "", "from which origins browsers may call APIs"),
    ),
    (
        "synapse_properties.synapse.rest.CORSConfig.Access-Control-Allow-Headers",
        reloaded("header names with commas between, or `*`", "", "which headers such calls may have"),
    ),
    ("synapse_properties.synapse.timeout_handler_interval", Needless("time-outs of endpoints are exact")),
    (
        "transport.http.socket_timeout",
        fixed(
            "milliseconds, or a text such as `\"3m\"`",
            "180000",
            "in which something must move on a connection with a message under way",
        ),
    ),
    (
        "transport.http.connection_timeout",
        fixed("milliseconds, or a text", "10000", "that a connection to a backend may take to be made"),
    ),
    (
        "transport.http.max_message_size_bytes",
        fixed("number", "", "larger request bodies get 413, if `enable_message_size_validation` is true"),
    ),
    ("transport.http.enable_message_size_validation", fixed("true, false", "false", "whether the key above counts")),
    (
        "transport.http.max_http_connection_per_host_port",
        fixed("number", "16384", "connections to one backend, for each thread; -1 is the default"),
    ),
    ("transport.http.max_open_connections", fixed("number", "20000", "connections of all clients; -1 is the default")),
    ("transport.http.listener.port", fixed("number", "8280", "the port of HTTP before the offset")),
    ("transport.http.listener.enable", fixed("true, false", "true", "whether HTTP is served")),
    (
        "transport.http.listener.bind_address",
        fixed("address or name", "0.0.0.0", "where HTTP is served, and HTTPS where nothing else is said"),
    ),
    ("transport.http.listener.hostname", Needless("[server] hostname sets the name of the bus")),
    (
        "transport.http.listener.wsdl_epr_prefix",
        reloaded("URL", "", "stands before `/services` in descriptions: [wsdl.md](wsdl.md#what-is-published)"),
    ),
    ("transport.http.listener.secured_port", same("transport.https.listener.port", true)),
    ("transport.http.listener.secured_enable", same("transport.https.listener.enable", true)),
    ("transport.http.listener.secured_bind_address", same("transport.https.listener.bind_address", true)),
    ("transport.http.listener.secured_protocols", same("transport.https.listener.protocols", false)),
    ("transport.http.listener.verify_client", same("transport.https.listener.verify_client", false)),
    ("transport.http.listener.preferred_ciphers", CIPHERS),
    ("transport.http.listener.ssl_profile", Later("a listener shows one certificate, of [keystore.tls]")),
    ("transport.http.listener.certificate_revocation", REVOCATION),
    ("transport.http.listener", Needless("[myelin.server] holds the settings of listeners")),
    (
        "transport.https.listener.port",
        fixed(
            "number",
            "8243",
            "the port of HTTPS before the offset; HTTPS is served where a port or `enable` says so",
        ),
    ),
    ("transport.https.listener.enable", fixed("true, false", "whether a port is named", "whether HTTPS is served")),
    ("transport.https.listener.bind_address", fixed("address or name", "that of HTTP", "where HTTPS is served")),
    (
        "transport.https.listener.protocols",
        reloaded("`TLSv1.2`, `TLSv1.3`, or both with a comma", "both", "versions of TLS; older ones are never spoken"),
    ),
    (
        "transport.https.listener.verify_client",
        reloaded(
            "`require`, `optional`, `none`",
            "none",
            "whether clients have to show a certificate that `[truststore]` knows the issuer of",
        ),
    ),
    (
        "transport.https.listener.wsdl_epr_prefix",
        reloaded("URL", "", "what stands before `/services` in descriptions, for HTTPS"),
    ),
    (
        "transport.https.listener.keystore",
        reloaded(
            "a table: `file_name`, `type` (`JKS`, `JCEKS`, `PKCS12`, `PEM`), `password`, `alias`, `key_password`",
            "",
            "counts before `[keystore.tls]`",
        ),
    ),
    (
        "transport.https.listener.truststore",
        reloaded("a table: `file_name`, `type`, `password`", "", "counts before `[truststore]`"),
    ),
    ("transport.https.listener.ciphers", CIPHERS),
    ("transport.https.listener.preferred_ciphers", CIPHERS),
    ("transport.https.sender", TLS),
    ("transport.http.secured_listener.wsdl_epr_prefix", same("transport.https.listener.wsdl_epr_prefix", false)),
    ("transport.http.secured_listener", Needless("[transport.https] holds the settings of HTTPS listeners")),
    ("transport.http.sender.enable", Needless("endpoints decide where messages are sent")),
    ("transport.http.sender", TLS),
    ("transport.http.secured_sender", TLS),
    ("transport.http.core_worker_pool_size", THREADS),
    ("transport.http.max_worker_pool_size", THREADS),
    ("transport.http.worker_pool_queue_length", THREADS),
    ("transport.http.worker_thread_keepalive_sec", THREADS),
    ("transport.http.io_buffer_size", Needless("the bus chooses the size of its buffers")),
    ("transport.http.force_xml_validation", Needless("a body is checked where something reads it")),
    ("transport.http.force_json_validation", Needless("a body is checked where something reads it")),
    ("transport.http.preserve_http_user_agent", Needless("the bus passes the header of clients on")),
    ("transport.http.preserve_http_server_name", Needless("the bus passes the header of backends on")),
    ("transport.http.preserve_http_headers", Needless("the bus passes header lines on as they came")),
    ("transport.http.disable_connection_keepalive", Later("use keep_alive in [myelin.server] and [myelin.client]")),
    ("transport.http", Needless("[myelin.server] and [myelin.client] hold the settings of the HTTP transport")),
    ("transport.passthru.http.listener.port", same("transport.http.listener.port", true)),
    ("transport.passthru.https.listener.port", same("transport.https.listener.port", true)),
    ("transport.passthru", Needless("[myelin.server] and [myelin.client] hold the settings of the HTTP transport")),
    ("transport.client", Needless("[myelin.client] holds the settings towards backends")),
    ("transport.netty", Needless("there is one HTTP transport")),
    ("transport.modules", Needless("there is no Axis2 that has modules")),
    ("transport.phase_order", Needless("there is no Axis2 that has phases")),
    ("transport.blocking", Needless("a blocking call takes no thread, and goes out as all others do")),
    ("transport.local", Needless("services of the same bus are reached by local:// without a connection")),
    ("transport.jms", Later("JMS is not supported yet")),
    ("transport.rabbitmq", Later("RabbitMQ is not supported yet")),
    ("transport.kafka", Later("Kafka is not supported yet")),
    ("transport.mqtt", Later("MQTT is not supported yet")),
    (
        "transport.vfs",
        Needless("the file transport is always on; the parameters of proxies and inbound endpoints configure it"),
    ),
    ("transport.mail", Later("mail is not supported yet")),
    ("transport.ws", Later("WebSocket is not supported yet")),
    ("transport.wss", Later("WebSocket is not supported yet")),
    ("transport.tcp", Later("TCP as a transport is not supported yet")),
    ("transport.udp", Later("UDP as a transport is not supported yet")),
    ("transport.hl7", Later("HL7 is not supported yet")),
    ("transport.fix", Later("FIX is not supported yet")),
    ("transport.msmq", Later("MSMQ is not supported yet")),
    ("transport.sap", Later("SAP is not supported yet")),
];

/// The keys in the tables of [`KEYS`] that are heeded as a whole.
const KEY_STORE: &[&str] = &["file_name", "type", "password", "alias", "key_password"];
const TRUST_STORE: &[&str] = &["file_name", "type", "password"];
const CLASS_OF_TYPE: &[&str] = &["content_type", "class"];
pub(super) const INNER: &[(&str, &[&str])] = &[
    ("keystore.primary", KEY_STORE),
    ("keystore.tls", KEY_STORE),
    ("transport.https.listener.keystore", KEY_STORE),
    ("truststore", TRUST_STORE),
    ("transport.https.listener.truststore", TRUST_STORE),
    ("internal_apis.users", &["user.name", "user.password", "user.is_admin"]),
    ("datasource", &["id", "url", "username", "password", "pool_options"]),
    ("opentelemetry.properties", &["name", "value", "header", "key"]),
    ("custom_message_builders", CLASS_OF_TYPE),
    ("custom_message_formatters", CLASS_OF_TYPE),
];

/// What is known of a key: the longest entry of [`KEYS`] that it is or is in.
pub(super) fn standing(path: &str) -> Option<(&'static str, Standing)> {
    let fits = |key: &str| path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    KEYS.iter().filter(|(key, _)| fits(key)).max_by_key(|(key, _)| key.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_key_that_fits_counts() {
        assert_eq!(
            standing("transport.http.listener.port"),
            Some(("transport.http.listener.port", fixed("number", "8280", "the port of HTTP before the offset")))
        );
        assert_eq!(standing("transport.https.sender.parameters"), Some(("transport.https.sender", TLS)));
        assert_eq!(
            standing("keystore.tls.password"),
            Some((
                "keystore.tls",
                reloaded(
                    "a table: `file_name`, `type` (`JKS`, `JCEKS`, `PKCS12`, `PEM`), `password`, `alias`, `key_password`",
                    "",
                    "the key store of HTTPS"
                )
            ))
        );
        assert_eq!(standing("transport.httpx"), None);
    }
}
