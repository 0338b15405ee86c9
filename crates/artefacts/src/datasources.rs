//! `<datasource>`: a database that has a name, in a file of its own.
//!
//! Source: the data sources of WSO2 Micro Integrator, which its tools write into projects and archives.

use crate::loader::{Entry, Loader};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::database::{DataSource, Password};

/// Makes a data source known by its name and by its JNDI name; what `deployment.toml` says of a name goes before.
///
/// Errors: a [`Problem`] where it is none that could be asked, or refers to what is not there.
pub fn declare(element: &Element, loader: &mut Loader) -> Result<(), Problem> {
    let name = element.child("name").filter(|name| !name.text().value.is_empty());
    let name = name.ok_or_else(|| element.problem("<datasource> has no <name>"))?.text().value;
    let definition = element.child("definition").ok_or_else(|| element.problem("<datasource> has no <definition>"))?;
    let kind = definition.required("type")?;
    if kind.value != "RDBMS" {
        return Err(kind.problem(format!("a data source of type {:?} is not offered; RDBMS is", kind.value)));
    }
    let configuration = definition.child("configuration");
    let configuration = configuration.ok_or_else(|| definition.problem("<definition> has no <configuration>"))?;
    let mut source = DataSource::default();
    for child in &configuration.children {
        match child.name.as_str() {
            "url" => source.url = told(child, loader)?,
            "username" => source.user = Some(told(child, loader)?).filter(|user| !user.is_empty()),
            "password" => source.password = Some(Password(told(child, loader)?)),
            // The URL says which database it is.
            "driverClassName" => {}
            name => {
                let remark = source.pool.set(name, child.text().value).map_err(|message| child.problem(message))?;
                if let Some(remark) = remark {
                    loader.warning(child.problem(remark));
                }
            }
        }
    }
    if source.url.is_empty() {
        return Err(configuration.problem("<configuration> has no <url>"));
    }
    let jndi = element.child("jndiConfig").and_then(|config| config.child("name")).map(|name| name.text().value);
    for name in [Some(name), jndi].into_iter().flatten().filter(|name| !name.is_empty()) {
        loader.settings.databases.sources.entry(name.to_owned()).or_insert_with(|| source.clone());
    }
    element.forgive();
    Ok(())
}

/// What an element says: a text, a secret, or what a key leads to.
///
/// Errors: a [`Problem`] where what it refers to is not there.
pub fn told(element: &Element, loader: &Loader) -> Result<String, Problem> {
    if let Some(key) = element.attribute("key") {
        return Ok(match loader.entry(key)? {
            Entry::Text(text) => text.trim().to_owned(),
            Entry::Xml(fragment) => fragment.text().trim().to_owned(),
        });
    }
    let text = element.text();
    loader.secret(text.value).map_err(|message| text.problem(message).latent())
}

#[cfg(test)]
mod tests {
    use crate::databases::fake;
    use myelin_config::report::Report;
    use myelin_engine::load;
    use myelin_flow::settings::Settings;

    /// A data source with that in its definition, and a sequence that asks it by its JNDI name.
    fn report(definition: &str) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let source = format!(
            "<datasource>\n<name>bonds</name><jndiConfig><name>jdbc/bondsJndi</name></jndiConfig>{definition}</datasource>"
        );
        let asks = "<sequence name='s'><dblookup><connection><pool><dsName>jdbc/bondsJndi</dsName></pool></connection>\
                    <statement><sql>select 1</sql></statement></dblookup></sequence>";
        // Who asks may stand before what is asked.
        let files = [("a.xml", asks), ("b.xml", &source)].map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        load(&files, &Settings { databases: fake::settings(), ..Settings::default() }).report
    }

    #[test]
    fn a_data_source_of_a_project_is_asked_by_its_names() {
        let configuration = "<driverClassName>x</driverClassName><url>jdbc:x:y</url><username>u</username>\
                             <password>p</password><maxActive>3</maxActive><jmxEnabled>true</jmxEnabled>";
        let definition =
            format!("<definition type='RDBMS'><configuration>{configuration}</configuration></definition>");
        let report = report(&definition);
        assert_eq!(report.faulty(), 0, "{}", report.to_text());
        let warnings: Vec<String> =
            report.artefacts.iter().flat_map(|artefact| &artefact.warnings).map(ToString::to_string).collect();
        assert!(warnings.len() == 1 && warnings[0].contains("jmxEnabled"), "{warnings:?}");
    }

    #[test]
    fn one_that_cannot_be_asked_is_a_problem_in_its_own_file() {
        let check = |definition: &str, part: &str| {
            let text = report(definition).to_text();
            assert!(text.contains(part) && text.contains("b.xml:"), "{text}");
        };
        check("", "has no <definition>");
        check("<definition/>", "\"type\" is missing");
        check("<definition type='CUSTOM_TABULAR'/>", "\"CUSTOM_TABULAR\" is not offered; RDBMS is");
        check("<definition type='RDBMS'/>", "has no <configuration>");
        check("<definition type='RDBMS'><configuration/></definition>", "has no <url>");
        let many = "<url>jdbc:x:y</url><maxActive>many</maxActive>";
        check(&format!("<definition type='RDBMS'><configuration>{many}</configuration></definition>"), "no number");
    }
}
