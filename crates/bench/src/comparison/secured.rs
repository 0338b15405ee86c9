//! Secured messages: the policies, the keys of both sides, and the client.

use std::path::{Path, PathBuf};

use anyhow::Context;
use myelin_wss::guard::{Side, Uses};

use super::scenario::Scenario;
use crate::load::Client;
use crate::security::{KeyArguments, make_stores};

const MODERN_GATEWAY: &str = include_str!("../../../../examples/secure-gateway/gateway-policy.xml");
const MODERN_CLIENT: &str = include_str!("../../../../examples/secure-client/client-policy.xml");
const LEGACY_GATEWAY: &str = include_str!("../../assets/legacy-policy.xml");

/// The least size of RSA keys that both profiles have.
const LEGACY_BITS: usize = 1024;
const MODERN_BITS: usize = 2048;

/// What secures the messages of a scenario.
pub(super) struct Secured {
    /// The policy of the gateway.
    pub(super) policy: PathBuf,
    pub(super) rsa_bits: usize,
    pub(super) client: Client,
}

impl Secured {
    /// Writes policies and keys into a folder; `None` for scenarios in clear.
    ///
    /// Keys as small as the legacy profile's are nobody's to make any more: they lie in the folder `keys`.
    /// Errors: a file cannot be written or read.
    pub(super) fn prepare(scenario: Scenario, folder: &Path, keys: Option<&Path>) -> anyhow::Result<Option<Secured>> {
        let (gateway, client, rsa_bits) = match scenario {
            Scenario::Secure => {
                make_stores(folder)?;
                (MODERN_GATEWAY.to_owned(), MODERN_CLIENT.to_owned(), MODERN_BITS)
            }
            Scenario::SecureLegacy => {
                let keys = std::path::absolute(keys.context("--keys says where the keys of the legacy profile are")?)?;
                let gateway = LEGACY_GATEWAY.replace("@KEYS@", &keys.display().to_string());
                let client = gateway
                    .replace("<ramp:user>bob-1024<", "<ramp:user>alice-1024<")
                    .replace(">useReqSigCert<", ">bob-1024<")
                    .replace("receivers.jks", "all.jks");
                (gateway, client, LEGACY_BITS)
            }
            _ => return Ok(None),
        };
        let (policy, theirs) = (folder.join("gateway-policy.xml"), folder.join("client-policy.xml"));
        std::fs::write(&policy, gateway)?;
        std::fs::write(&theirs, client)?;
        let arguments = KeyArguments { rsa_bits, ..KeyArguments::default() };
        let client = Client::new(arguments.guard(&theirs, Side::Initiator, Uses::Both)?.0);
        Ok(Some(Secured { policy, rsa_bits, client }))
    }

    /// What the bus is told besides its configuration.
    pub(super) fn settings(&self) -> String {
        format!("[myelin.security]\nrsa_bits = {}\n", self.rsa_bits)
    }
}

/// The proxy of a scenario, before an endpoint named `echo`.
pub(super) fn proxy(scenario: Scenario, policy: &Path) -> String {
    format!(
        r#"
    <localEntry key="policy" src="file:{}"/>
    <proxy name="{scenario}">
        <target>
            <inSequence><send><endpoint key="echo"/></send></inSequence>
            <outSequence><send/></outSequence>
        </target>
        <enableSec/>
        <policy key="policy"/>
    </proxy>"#,
        policy.display()
    )
}
