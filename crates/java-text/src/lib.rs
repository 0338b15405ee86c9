//! What Java prints and parses, once: numbers, dates and their patterns, regular expressions.
//!
//! Configurations, templates and stylesheets show what Java's own classes write, so these formats are theirs.
//! Knows no protocol, no document and no configuration.

pub mod calendar;
pub mod date;
pub mod decimal;
pub mod decimal_format;
pub mod digits;
pub mod number;
pub mod pattern;
pub mod percent;
