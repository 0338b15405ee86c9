//! `<connection>`: which database.

use std::sync::Arc;

use crate::datasources::told;
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::database::{DataSource, Database, Opened, Password};

/// The database that a `<connection>` names or describes.
///
/// Errors: a [`Problem`] where it is none that can be asked.
pub(crate) fn read(element: &Element, loader: &mut Loader) -> Result<(DataSource, Arc<dyn Database>), Problem> {
    let pool = element.child("pool").ok_or_else(|| element.problem("<connection> has no <pool>"))?;
    let (place, source) = match pool.child("dsName") {
        Some(name) => (name, named(pool, name, loader)?),
        None => described(pool, loader)?,
    };
    let Some(databases) = loader.settings.databases.databases.clone() else {
        return Err(
            place.problem("nobody here speaks with databases: they are not part of this build, or this is a test")
        );
    };
    let Opened { database, remarks } = databases.open(&source).map_err(|message| place.problem(message))?;
    remarks.into_iter().for_each(|remark| loader.warning(place.problem(remark)));
    Ok((source, database))
}

/// The data source of `deployment.toml` that a pool names.
fn named(pool: &Element, name: &Element, loader: &mut Loader) -> Result<DataSource, Problem> {
    for child in &pool.children {
        match child.name.as_str() {
            "dsName" => {}
            "icClass" | "url" | "user" | "password" => {
                let message = format!("{} has no effect: data sources are those of deployment.toml", child.tag());
                loader.warning(child.problem(message));
            }
            _ => {
                child.forgive();
                let message = format!("{} has no effect: the data source itself says how it is kept", child.tag());
                loader.warning(child.problem(message));
            }
        }
    }
    let key = name.text().value;
    loader.settings.databases.source(key).cloned().ok_or_else(|| {
        let message =
            format!("there is no data source {key:?}; a [[datasource]] of deployment.toml with this id is one");
        name.problem(message).latent()
    })
}

/// The data source that a pool describes, and the element that says where it is.
fn described<'e>(pool: &'e Element, loader: &mut Loader) -> Result<(&'e Element, DataSource), Problem> {
    let Some(url) = pool.child("url") else { return Err(pool.problem("<pool> needs <url> or <dsName>")) };
    let mut source = DataSource { url: told(url, loader)?, ..DataSource::default() };
    if source.url.is_empty() {
        return Err(url.problem("<url> is empty; jdbc:postgresql://host/database is one"));
    }
    for child in &pool.children {
        match child.name.as_str() {
            // The URL says which database it is.
            "url" | "driver" => child.forgive(),
            "user" => source.user = Some(told(child, loader)?).filter(|user| !user.is_empty()),
            "password" => source.password = Some(Password(told(child, loader)?)),
            "property" => property(child, &mut source, loader)?,
            _ => loader.no_effect(child, "a <pool>", &["user", "password", "property"]),
        }
    }
    Ok((url, source))
}

fn property(element: &Element, source: &mut DataSource, loader: &mut Loader) -> Result<(), Problem> {
    let name = element.required("name")?;
    let Some(value) = element.attribute("value") else {
        return Err(element.lacks("<property> of a pool needs a value"));
    };
    let remark = source.pool.set(name.value.trim(), value.value).map_err(|message| value.problem(message))?;
    if let Some(remark) = remark {
        loader.warning(name.problem(remark));
    }
    Ok(())
}
