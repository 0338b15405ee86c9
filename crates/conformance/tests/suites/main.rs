//! Suites that others made, each in the folder of its name.

mod c14n;
mod dsig;
mod json;
mod sheets;
mod xml;
mod xpath;
mod xslt;
