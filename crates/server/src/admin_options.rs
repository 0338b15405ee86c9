//! Where an operator asks, as the configuration has it.

use std::net::SocketAddr;

/// Where Micro Integrator answers what it answers here, its offset included.
pub(crate) const PORT: u16 = 9201;

/// Where an operator asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdminOptions {
    /// The address.
    pub address: SocketAddr,
    /// Whether somebody named it: else the bus serves without it where another process has it.
    pub is_wanted: bool,
}
