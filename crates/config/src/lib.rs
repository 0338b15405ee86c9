//! Configuration: from files, archives and registries to elements with their places, and problems at places.
//!
//! It knows no artefact: what an element means is said in the layers above.
//! What a configuration may ask of the process around the bus ([`environment`]) is read here as well.

pub mod application;
pub mod archive;
pub mod choice;
pub mod dotenv;
pub mod element;
pub mod environment;
pub mod excerpt;
pub mod files;
pub mod included;
pub mod layout;
pub mod library;
pub mod problem;
pub mod properties;
pub mod registry;
pub mod report;
pub mod resource;
pub mod sources;
pub mod summary;
pub mod texts;
