//! HTTP on the wire.
