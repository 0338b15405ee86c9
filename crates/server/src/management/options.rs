//! Where the management API is, and what it is bounded by.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use myelin_manage::api::{ApiOptions, User};

use crate::certificates::Source;
use crate::deployment::{KeyStoreTls, MANAGEMENT_PORT};

/// Where the management API is, and what it is bounded by.
#[derive(Clone, Debug)]
pub struct ManagementOptions {
    /// The address.
    pub address: SocketAddr,
    /// Whether somebody named it: else the bus serves without it where another process has it.
    pub is_wanted: bool,
    /// PEM files of a certificate chain and its key; without them the process makes a certificate for itself.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// A key store, which goes before them.
    pub key_store: Option<Arc<KeyStoreTls>>,
    /// The file of the users.
    pub users: PathBuf,
    /// Users that stand in `deployment.toml`.
    pub fixed_users: Vec<User>,
    /// How many clients may be connected. Default: 256.
    pub connections: usize,
    /// What bounds it otherwise.
    pub api: ApiOptions,
}

impl Default for ManagementOptions {
    fn default() -> ManagementOptions {
        ManagementOptions {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, MANAGEMENT_PORT)),
            is_wanted: false,
            certificate: None,
            key_store: None,
            users: PathBuf::from("conf/users.toml"),
            fixed_users: Vec::new(),
            connections: 256,
            api: ApiOptions::default(),
        }
    }
}

impl ManagementOptions {
    /// Where the certificate comes from that somebody named; `None` where the process makes one for itself.
    pub(crate) fn source(&self) -> Option<Source> {
        let files = || self.certificate.clone().map(|(chain, key)| Source::Files { chain, key });
        self.key_store.clone().map(Source::Store).or_else(files)
    }
}
