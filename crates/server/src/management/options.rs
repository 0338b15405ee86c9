//! Where the management API is, and what it is bounded by.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use myelin_manage::api::{ApiOptions, User};

use crate::certificates::Source;
use crate::deployment::MANAGEMENT_PORT;

/// Where the management API is, and what it is bounded by.
#[derive(Clone, Debug)]
pub struct ManagementOptions {
    /// The address.
    pub address: SocketAddr,
    /// Whether somebody named it: else the bus serves without it where another process has it.
    pub is_wanted: bool,
    /// Where its certificate and key come from; `None` where the process makes a certificate for itself.
    pub(crate) certificate: Option<Source>,
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
            users: PathBuf::from("conf/users.toml"),
            fixed_users: Vec::new(),
            connections: 256,
            api: ApiOptions::default(),
        }
    }
}
