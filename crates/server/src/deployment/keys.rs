//! The keys of WSO2's `deployment.toml`: which are heeded, and what is said of the others.
//!
//! Source: the configuration catalogue of Micro Integrator 4, and what 70 files of others set.

use std::collections::BTreeSet;

use myelin_spelling::suggestion;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It has the effect that it has there.
    Heeded,
    /// What it sets is not supported yet.
    Later(&'static str),
    /// It sets something that this bus has no need of, or does in another way.
    Needless(&'static str),
}

use Standing::{Heeded, Later, Needless};

const THREADS: Standing = Needless("the bus runs one thread for each core");
const TLS: Standing = Later("--ca names the roots that backends are trusted by");
const CIPHERS: Standing =
    Needless("only suites with forward secrecy and AES-GCM or ChaCha20-Poly1305 are spoken, whatever is named");
const REVOCATION: Standing = Later("it is not asked whether certificates of clients are revoked");
const CLASS: Standing = Needless("it names a Java class, which cannot run in a native program");
const MANAGEMENT: Standing = Later("there is no management API yet");
const QUIET: Standing =
    Needless("a path that finds nothing is a warning; MYELIN_LOG=\"info,myelin::expression=error\" leaves those out");
const SQL: Standing = Later("data services are not supported yet");

/// Keys, and tables with all that is in them, by their paths; the longest that fits counts.
const KEYS: &[(&str, Standing)] = &[
    ("myelin", Heeded),
    ("server.hostname", Heeded),
    ("server.offset", Heeded),
    ("server.hot_deployment", Heeded),
    ("server.hot_update", Needless("changed files are reloaded, see hot_deployment")),
    ("server.enable_mtom", Later("attachments are not supported yet")),
    ("server.enable_swa", Later("attachments are not supported yet")),
    ("server.userAgent", Needless("it sets only the product name that WSO2 reports")),
    ("server.serverDetails", Needless("it sets only the product name that WSO2 reports")),
    ("server.name", Needless("it sets only the product name that WSO2 reports")),
    ("server.id", Later("there is no management API yet")),
    ("server.base_path", Needless("the addresses of the bus are those it listens on")),
    ("server.mode", Needless("there is one mode")),
    ("keystore.primary", Heeded),
    ("keystore.tls", Heeded),
    ("keystore.internal", Needless("nothing of the bus itself is encrypted with it")),
    ("truststore", Heeded),
    ("secrets", Heeded),
    ("secret", Needless("$secret refers to [secrets]; the bus reads no secrets from key stores")),
    ("user_store", Later("users are those of [myelin.security.users]; user stores are not supported yet")),
    ("realm_manager", Later("users are those of [myelin.security.users]; user stores are not supported yet")),
    ("super_admin", MANAGEMENT),
    ("internal_apis", MANAGEMENT),
    ("management_api", MANAGEMENT),
    ("management_api_token_handler", MANAGEMENT),
    ("dashboard", MANAGEMENT),
    ("dashboard_config", MANAGEMENT),
    ("service_catalog", Later("there is no catalogue of services yet")),
    ("icp_config", Later("there is no management API yet")),
    ("monitoring", Needless("there is no JVM to be watched by JMX")),
    ("prometheus", Later("metrics are not supported yet")),
    ("analytics", Later("analytics are not supported yet")),
    ("opentelemetry", Later("tracing is not supported yet")),
    ("open_telemetry", Later("tracing is not supported yet")),
    ("logging", Needless("the environment variable MYELIN_LOG sets the log level")),
    ("clustering", Later("several members that share work are not supported yet")),
    ("cluster_config", Later("several members that share work are not supported yet")),
    ("task_handling", Needless("every bus runs all tasks of its configuration")),
    ("datasource", Heeded),
    ("datasource.driver", Needless("the URL says which database it is")),
    ("datasource.jmx_enable", Needless("there is no JVM to be watched by JMX")),
    ("data_services", SQL),
    ("system.parameter", Needless("there is no JVM that has system properties; $sys means [myelin.system]")),
    ("system_parameter", Needless("there is no JVM that has system properties; $sys means [myelin.system]")),
    ("message_builders", Heeded),
    ("message_formatters", Heeded),
    ("blocking.message_builders", Needless("the content type decides how a body is read")),
    ("blocking.message_formatters", Needless("the content type decides how a body is written")),
    ("custom_message_builders", Heeded),
    ("custom_message_formatters", Heeded),
    ("synapse_handlers", CLASS),
    ("message_inspector", CLASS),
    ("server_listener", CLASS),
    ("nhttp", Needless("there is one HTTP transport")),
    ("mediation.synapse.timeout_handler_interval", Needless("time-outs of endpoints are exact")),
    ("mediation.synapse.preserve_namespace_on_xml_to_json", Heeded),
    ("mediation.synapse.enable_auto_primitive", Heeded),
    ("mediation.synapse.enable_xml_nil", Heeded),
    ("mediation.synapse.enable_namespace_declaration", Heeded),
    ("mediation.synapse.build_valid_nc_name", Heeded),
    ("mediation.synapse.disable_custom_replace_regex", Heeded),
    ("mediation.synapse.disable_auto_primitive_regex", Heeded),
    ("mediation.synapse.json_out_auto_array", Heeded),
    ("synapse_properties.synapse.commons", Heeded),
    ("synapse_properties.synapse.json", Heeded),
    ("synapse_properties.PRESERVE_SPACES", Heeded),
    ("synapse_properties.synapse.jsonpath.ignore.not.found.error", QUIET),
    ("mediation.synapse.jsonpath.ignore.not.found.error", QUIET),
    ("mediation.synapse.enable_xpath_dom_failover", Needless("there is one XPath engine, and it is complete")),
    ("mediation.synapse.core_threads", THREADS),
    ("mediation.synapse.max_threads", THREADS),
    ("mediation.synapse.threads_queue_length", THREADS),
    ("mediation.synapse.command_debugger_port", Needless("there is no debugger")),
    ("mediation.synapse.event_debugger_port", Needless("there is no debugger")),
    ("mediation.flow", Later("statistics are not supported yet")),
    ("mediation.statistics", Later("statistics are not supported yet")),
    ("mediation.stat", Later("statistics are not supported yet")),
    ("mediation.tracer", Later("tracing is not supported yet")),
    ("mediation.synapse.global_timeout_interval", Heeded),
    ("mediation.synapse.global_endpoint_suspend_duration", Heeded),
    ("mediation.synapse.global_endpoint_suspend_progression_factor", Heeded),
    ("mediation.synapse.override_endpoint_suspend_config_with_global_values", Heeded),
    ("mediation.synapse.maximum_failover_retries", Heeded),
    ("mediation.synapse.suspend_duration_on_maximum_failover", Heeded),
    ("mediation.maximum.failover.retries", Heeded),
    ("mediation.suspend.duration.on.maximum.failover", Heeded),
    ("mediation.synapse.sal.endpoints.sesssion.timeout.default", Heeded),
    ("synapse_properties.synapse.global_timeout_interval", Heeded),
    ("synapse_properties.synapse.global_endpoint_suspend_duration", Heeded),
    ("synapse_properties.synapse.global_endpoint_suspend_progression_factor", Heeded),
    ("synapse_properties.synapse.override_endpoint_suspend_config_with_global_values", Heeded),
    ("synapse_properties.synapse.maximum_failover_retries", Heeded),
    ("synapse_properties.synapse.suspend_duration_on_maximum_failover", Heeded),
    ("synapse_properties.maximum.failover.retries", Heeded),
    ("synapse_properties.suspend.duration.on.maximum.failover", Heeded),
    ("synapse_properties.synapse.sal.endpoints.sesssion.timeout.default", Heeded),
    ("synapse_properties.synapse.timeout_handler_interval", Needless("time-outs of endpoints are exact")),
    ("transport.http.socket_timeout", Heeded),
    ("transport.http.connection_timeout", Heeded),
    ("transport.http.max_message_size_bytes", Heeded),
    ("transport.http.enable_message_size_validation", Heeded),
    ("transport.http.max_http_connection_per_host_port", Heeded),
    ("transport.http.max_open_connections", Heeded),
    ("transport.http.listener.port", Heeded),
    ("transport.http.listener.enable", Heeded),
    ("transport.http.listener.bind_address", Heeded),
    ("transport.http.listener.hostname", Needless("[server] hostname sets the name of the bus")),
    ("transport.http.listener.wsdl_epr_prefix", Heeded),
    ("transport.http.listener.secured_port", Heeded),
    ("transport.http.listener.secured_enable", Heeded),
    ("transport.http.listener.secured_bind_address", Heeded),
    ("transport.http.listener.secured_protocols", Heeded),
    ("transport.http.listener.verify_client", Heeded),
    ("transport.http.listener.preferred_ciphers", CIPHERS),
    ("transport.http.listener.ssl_profile", Later("a listener shows one certificate, of [keystore.tls]")),
    ("transport.http.listener.certificate_revocation", REVOCATION),
    ("transport.http.listener", Needless("[myelin.server] holds the settings of listeners")),
    ("transport.https.listener.port", Heeded),
    ("transport.https.listener.enable", Heeded),
    ("transport.https.listener.bind_address", Heeded),
    ("transport.https.listener.protocols", Heeded),
    ("transport.https.listener.verify_client", Heeded),
    ("transport.https.listener.wsdl_epr_prefix", Heeded),
    ("transport.https.listener.keystore", Heeded),
    ("transport.https.listener.truststore", Heeded),
    ("transport.https.listener.ciphers", CIPHERS),
    ("transport.https.listener.preferred_ciphers", CIPHERS),
    ("transport.https.sender", TLS),
    ("transport.http.secured_listener.wsdl_epr_prefix", Heeded),
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
    ("transport.passthru.http.listener.port", Heeded),
    ("transport.passthru.https.listener.port", Heeded),
    ("transport.passthru", Needless("[myelin.server] and [myelin.client] hold the settings of the HTTP transport")),
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

/// What is to be said of a file, each line with its place in the file, which is told as `name`.
///
/// A text that is no TOML has nothing said of it here.
pub(super) fn remarks(name: &str, text: &str) -> Vec<String> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut walk = Walk { name, text, told: BTreeSet::new(), remarks: Vec::new() };
    walk.table("", table.get_ref());
    walk.remarks
}

struct Walk<'a> {
    name: &'a str,
    text: &'a str,
    /// Of a table that all is said of, it is said once.
    told: BTreeSet<&'static str>,
    remarks: Vec<String>,
}

impl Walk<'_> {
    fn table(&mut self, path: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let path = if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
            self.value(&path, key.span().start, value);
        }
    }

    fn value(&mut self, path: &str, offset: usize, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) if !table.is_empty() => self.table(path, table),
            DeValue::Array(items) if items.iter().any(|item| matches!(item.get_ref(), DeValue::Table(_))) => {
                items.iter().for_each(|item| self.value(path, offset, item));
            }
            _ => self.key(path, offset),
        }
    }

    fn key(&mut self, path: &str, offset: usize) {
        let said = match standing(path) {
            Some((_, Heeded)) => return,
            Some((key, Later(why) | Needless(why))) if self.told.insert(key) => format!("{key} has no effect: {why}"),
            Some(_) => return,
            None => {
                let suggestion = suggestion(path, KEYS.iter().map(|(key, _)| *key));
                format!("{path} is unknown and has no effect{suggestion}")
            }
        };
        let before = &self.text[..offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        self.remarks.push(format!("{}:{line}:{column}: {said}", self.name));
    }
}

/// What is known of a key: the longest entry of [`KEYS`] that it is or is in.
fn standing(path: &str) -> Option<(&'static str, Standing)> {
    let fits = |key: &str| path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    KEYS.iter().filter(|(key, _)| fits(key)).max_by_key(|(key, _)| key.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_effect_is_told_with_its_place_and_once() {
        let text = "[server]\nhostname = 'h'\noffest = 3\n[transport.jms]\nlistener.enable = true\n\
                    [[transport.jms.sender]]\nname = 'x'\n[nonsense]\na.b = 1\n[transport.http]\nlistener.port = 1\n";
        let expected = [
            "d.toml:3:1: server.offest is unknown and has no effect; did you mean server.offset?",
            "d.toml:5:10: transport.jms has no effect: JMS is not supported yet",
            "d.toml:9:3: nonsense.a.b is unknown and has no effect",
        ];
        assert_eq!(remarks("d.toml", text), expected);
    }

    #[test]
    fn the_longest_key_that_fits_counts() {
        assert_eq!(standing("transport.http.listener.port"), Some(("transport.http.listener.port", Heeded)));
        assert_eq!(standing("transport.https.sender.parameters"), Some(("transport.https.sender", TLS)));
        assert_eq!(standing("keystore.tls.password"), Some(("keystore.tls", Heeded)));
        assert_eq!(standing("transport.httpx"), None);
    }
}
