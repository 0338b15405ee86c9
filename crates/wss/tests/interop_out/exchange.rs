//! Both directions.
