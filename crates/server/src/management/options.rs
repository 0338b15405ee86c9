//! Where the management API is, and what it is bounded by.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use myelin_manage::api::{ApiOptions, User};

/// Where Micro Integrator has it, its offset included.
pub(crate) const PORT: u16 = 9164;

/// Where the management API is, and what it is bounded by.
#[derive(Clone, Debug)]
pub struct ManagementOptions {
    /// The address.
    pub address: SocketAddr,
    /// Whether somebody named it: else the bus serves without it where another process has it.
    pub is_wanted: bool,
    /// PEM files of a certificate chain and its key; without them the process makes a certificate for itself.
    pub certificate: Option<(PathBuf, PathBuf)>,
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
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            is_wanted: false,
            certificate: None,
            users: PathBuf::from("conf/users.toml"),
            fixed_users: Vec::new(),
            connections: 256,
            api: ApiOptions::default(),
        }
    }
}
