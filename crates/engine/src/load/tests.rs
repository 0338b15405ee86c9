//! Layouts as tools make them, and archives: what is found in them, and what becomes of faults.

use std::fs;
use std::path::{Path, PathBuf};

use crate::load::load;
use myelin_config::report::Report;
use myelin_flow::settings::Settings;
use myelin_testkit::pack;

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sequence(name: &str, mediators: &str) -> String {
    format!("<sequence xmlns='http://ws.apache.org/ns/synapse' name='{name}'>{mediators}</sequence>")
}

fn report(paths: &[PathBuf]) -> Report {
    load(paths, &Settings::default()).report
}

/// What is found under a path, as `kind name`, with `!` behind what is faulty.
fn found(path: &Path) -> Vec<String> {
    let report = report(&[path.to_owned()]);
    let told = report.artefacts.iter().map(|artefact| {
        let name = artefact.name.rsplit('/').next().unwrap_or_default();
        format!("{} {name}{}", artefact.kind, if artefact.is_ok() { "" } else { "!" })
    });
    told.collect()
}

const STYLESHEET: &str = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/>";

#[test]
fn the_home_of_a_micro_integrator_is_read_with_its_archives_and_registry() {
    let folder = tempfile::tempdir().unwrap();
    let server = "repository/deployment/server";
    let main = sequence("main", "<xslt key='gov:/a.xslt'/>");
    write(folder.path(), &format!("{server}/synapse-configs/default/sequences/main.xml"), main);
    write(folder.path(), &format!("{server}/carbonapps/app.car"), application("App", &[("one", &sequence("one", ""))]));
    write(folder.path(), &format!("{server}/carbonapps/notes.txt"), "");
    write(folder.path(), &format!("{server}/dataservices/people.dbs"), "<data name='people'/>");
    write(folder.path(), "registry/governance/a.xslt", STYLESHEET);
    let expected = ["sequence main", "archive App", "sequence one", "dataService people.dbs!"];
    assert_eq!(found(folder.path()), expected);
    assert_eq!(found(&folder.path().join(server)), expected);
    assert_eq!(found(&folder.path().join(server).join("synapse-configs")), ["sequence main"]);
}

#[test]
fn a_project_of_the_extension_for_vs_code_is_read_with_its_resources() {
    let folder = tempfile::tempdir().unwrap();
    let inside = "src/main/wso2mi";
    let steps = "<xslt key='gov:/x/a.xslt'/><xslt key='resources:b.xslt'/>";
    write(folder.path(), "pom.xml", "<project/>");
    write(folder.path(), &format!("{inside}/artifacts/sequences/s.xml"), sequence("s", steps));
    write(folder.path(), &format!("{inside}/artifacts/data-sources/d.xml"), DATA_SOURCE);
    write(folder.path(), &format!("{inside}/resources/registry/gov/x/a.xslt"), STYLESHEET);
    let resources = "<artifacts><artifact name='b' type='registry/resource'><item><file>b.xslt</file>\
                     <path>/_system/governance/mi-resources</path></item></artifact></artifacts>";
    write(folder.path(), &format!("{inside}/resources/artifact.xml"), resources);
    write(folder.path(), &format!("{inside}/resources/b.xslt"), STYLESHEET);
    write(folder.path(), &format!("{inside}/resources/connectors/mi-connector.zip"), "");
    let expected = ["datasource d", "sequence s", "connector mi-connector.zip"];
    assert_eq!(found(folder.path()), expected);
    assert_eq!(found(&folder.path().join(inside)), expected);
}

#[test]
fn resources_of_the_extension_for_vs_code_lie_where_their_paths_say() {
    let folder = tempfile::tempdir().unwrap();
    let inside = "src/main/wso2mi";
    let steps = "<xslt key='gov:/x/a.xslt'/><xslt key='resources:deep/b.xslt'/><xslt key='resources:c.xslt'/>\
                 <log><property name='p' value='$SYSTEM:FROM_DOT_ENV'/></log>";
    write(folder.path(), &format!("{inside}/artifacts/sequences/sub/folder/s.xml"), sequence("s", steps));
    write(folder.path(), ".env", "FROM_DOT_ENV=\"it\"\n");
    let item = |file: &str, path: &str| {
        format!(
            "<artifact name='b' type='registry/resource'><item><file>{file}</file><path>{path}</path></item></artifact>"
        )
    };
    let listed = [item("a.xslt", "/_system/governance/x"), item("gone.xslt", "/_system/governance/x")].concat();
    write(
        folder.path(),
        &format!("{inside}/resources/registry/artifact.xml"),
        format!("<artifacts>{listed}</artifacts>"),
    );
    write(folder.path(), &format!("{inside}/resources/registry/gov/x/a.xslt"), STYLESHEET);
    let listed = item("b.xslt", "/_system/governance/mi-resources/deep");
    write(folder.path(), &format!("{inside}/resources/artifact.xml"), format!("<artifacts>{listed}</artifacts>"));
    let importing = STYLESHEET.replace(
        "/>",
        "><xsl:import href='../c.xslt' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/></xsl:stylesheet>",
    );
    write(folder.path(), &format!("{inside}/resources/deep/b.xslt"), importing);
    write(folder.path(), &format!("{inside}/resources/c.xslt"), STYLESHEET);
    let report = report(&[folder.path().to_owned()]);
    let text = report.to_text();
    // The sequence, and the list with a file that is gone.
    assert_eq!((report.ok(), report.faulty()), (2, 0), "{text}");
    assert!(report.artefacts.iter().all(|artefact| artefact.latent.is_empty()), "{text}");
    let warnings: Vec<_> = report.artefacts.iter().flat_map(|artefact| &artefact.warnings).collect();
    let told = "resources/registry/gone.xslt: /_system/governance/x/gone.xslt is not in the registry";
    assert!(warnings.len() == 1 && warnings[0].message().ends_with(told), "{text}");
    assert!(warnings[0].file().ends_with("registry/artifact.xml") && warnings[0].column() > 1, "{text}");
}

#[test]
fn a_folder_above_projects_reads_them_all_and_one_without_any_says_what_it_saw() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "one/src/main/wso2mi/artifacts/sequences/s.xml", sequence("s", ""));
    write(folder.path(), "two/src/main/synapse-config/sequences/t.xml", sequence("t", ""));
    write(folder.path(), "three/module/src/main/synapse-config/sequences/u.xml", sequence("u", ""));
    write(folder.path(), "notes/readme.md", "");
    assert_eq!(found(folder.path()), ["sequence s", "sequence u", "sequence t"]);
    let text = report(&[folder.path().join("notes")]).to_text();
    assert!(text.contains("holds no configuration"), "{text}");
}

#[test]
fn what_lies_beside_a_configuration_and_is_none_is_no_faulty_artefact() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "s.xml", sequence("s", ""));
    write(folder.path(), "policy.xml", "<wsp:Policy xmlns:wsp='http://schemas.xmlsoap.org/ws/2004/09/policy'/>");
    write(folder.path(), "request.xml", "<order><id>1</id></order>");
    write(folder.path(), "page.xml", "<!DOCTYPE html><html><br></html>");
    write(folder.path(), "misspelt.xml", "<sequnce name='t'/>");
    let report = report(&[folder.path().to_owned()]);
    let text = report.to_text();
    assert_eq!((report.ok(), report.faulty()), (4, 1), "{text}");
    assert!(
        text.contains("is no artefact: the file has no effect") && text.contains("did you mean sequence?"),
        "{text}"
    );
}

#[test]
fn a_file_of_others_in_a_folder_of_artefacts_is_no_faulty_artefact() {
    let folder = tempfile::tempdir().unwrap();
    let sequences = "synapse-configs/default/sequences";
    write(folder.path(), &format!("{sequences}/s.xml"), sequence("s", ""));
    write(folder.path(), &format!("{sequences}/pom.xml"), "<project xmlns='http://maven.apache.org/POM/4.0.0'/>");
    write(folder.path(), &format!("{sequences}/broken.xml"), "<sequence name='t'>");
    let report = report(&[folder.path().to_owned()]);
    let text = report.to_text();
    assert_eq!((report.ok(), report.faulty()), (2, 1), "{text}");
    assert!(text.contains("<project> of http://maven.apache.org/POM/4.0.0 is no artefact"), "{text}");
    assert!(text.contains("not well-formed XML"), "{text}");
}

#[test]
fn problems_in_archives_and_in_what_artefacts_include_are_told_with_their_lines() {
    let artifact = "<artifact name='s' version='1' type='synapse/sequence'>\n<file>s.xml</file>\n</artifact>";
    let artifacts = "<artifacts>\n<artifact name='a' version='1' type='carbon/application'>\n\
                     <dependency artifact='s' version='1' include='true' serverRole='EnterpriseServiceBus'/>\n\
                     \t<dependency artifact='gone' version='1' include='true' serverRole='EnterpriseServiceBus'/>\n\
                     </artifact></artifacts>";
    let text = "<sequence name='s'\txmlns='http://ws.apache.org/ns/synapse'>\r\n\t<lgo/>\r\n</sequence>";
    let files: [(&str, &[u8]); 3] = [
        ("artifacts.xml", artifacts.as_bytes()),
        ("s_1/artifact.xml", artifact.as_bytes()),
        ("s_1/s.xml", text.as_bytes()),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.car");
    fs::write(&path, pack(&files)).unwrap();
    let text = report(&[path]).to_text();
    assert!(text.contains("      2 |     <lgo/>\n        |     ^^^^\n"), "{text}");
    assert!(text.contains("      4 |     <dependency artifact='gone'"), "{text}");
}

#[test]
fn the_modules_of_a_maven_project_are_read_with_the_resources_that_they_bring_along() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "pom.xml", "<project/>");
    let steps = "<xslt key='conf:/x/a.xslt'/><xslt key='conf:/all/deep/b.xslt'/>";
    write(folder.path(), "configs/src/main/synapse-config/sequences/s.xml", sequence("s", steps));
    write(folder.path(), "configs/artifact.xml", "<artifacts/>");
    let resources = "<artifacts><artifact name='r' type='registry/resource'>\
                     <item><file>a.xslt</file><path>/_system/config/x</path></item>\
                     <collection><directory>all</directory><path>/_system/config/all</path></collection>\
                     </artifact></artifacts>";
    write(folder.path(), "registry/artifact.xml", resources);
    write(folder.path(), "registry/a.xslt", STYLESHEET);
    write(folder.path(), "registry/all/deep/b.xslt", STYLESHEET);
    write(folder.path(), "composite/pom.xml", "<project/>");
    assert_eq!(found(folder.path()), ["sequence s"]);
}

/// An archive with sequences and a resource `conf:/app/NAME.xslt`.
fn application(name: &str, sequences: &[(&str, &str)]) -> Vec<u8> {
    packed(name, sequences, &[])
}

fn packed(name: &str, sequences: &[(&str, &str)], more: &[(&str, &[u8])]) -> Vec<u8> {
    let mut files = Vec::new();
    let mut dependencies = String::new();
    for (sequence, text) in sequences {
        dependencies.push_str(&format!("<dependency artifact='{sequence}' version='1.0.0' include='true'/>"));
        let artifact = format!(
            "<artifact name='{sequence}' version='1.0.0' type='synapse/sequence'><file>{sequence}.xml</file></artifact>"
        );
        files.push((format!("{sequence}_1.0.0/artifact.xml"), artifact.into_bytes()));
        files.push((format!("{sequence}_1.0.0/{sequence}.xml"), text.as_bytes().to_vec()));
    }
    dependencies.push_str("<dependency artifact='r' version='1' serverRole='EnterpriseIntegrator'/>");
    let artifact = "<artifact name='r' version='1' type='registry/resource'><file>registry-info.xml</file></artifact>";
    files.push(("r_1/artifact.xml".into(), artifact.into()));
    let info = "<resources><item><file>a.xslt</file><path>/_system/config/app</path>\
                <mediaType>application/xslt+xml</mediaType></item>\
                <collection><directory>all</directory><path>/_system/config/all</path></collection></resources>";
    files.push(("r_1/registry-info.xml".into(), info.into()));
    files.push((format!("r_1/resources/{}", "a.xslt"), STYLESHEET.into()));
    let artifacts = format!(
        "<artifacts><artifact name='{name}' version='1.0.0' type='carbon/application'>{dependencies}</artifact></artifacts>"
    );
    files.push(("artifacts.xml".into(), artifacts.into_bytes()));
    let mut files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    files.extend(more);
    pack(&files)
}

/// Loads archives of one folder.
fn archives(archives: &[(&str, Vec<u8>)]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    archives.iter().for_each(|(name, bytes)| write(folder.path(), name, bytes));
    report(&[folder.path().to_owned()])
}

fn problems(report: &Report) -> Vec<String> {
    let all = report.artefacts.iter().flat_map(|artefact| &artefact.problems);
    all.map(|problem| problem.message().to_owned()).collect()
}

#[test]
fn an_archive_brings_artefacts_and_resources_that_others_may_use() {
    let user = application("B", &[("two", &sequence("two", "<sequence key='one'/>"))]);
    let one = sequence("one", "<xslt key='conf:/app/a.xslt'/>");
    let found = archives(&[("a.car", application("A", &[("one", &one)])), ("b.car", user)]);
    assert_eq!(found.faulty(), 0, "{}", found.to_text());
    let file = &found.artefacts[1].file;
    assert!(file.ends_with("a.car!/one_1.0.0/one.xml"), "{file}");
}

#[test]
fn of_an_archive_only_what_is_faulty_is_left_out() {
    let bad = application("A", &[("one", &sequence("one", "")), ("bad", &sequence("bad", "<frobnicate/>"))]);
    let user = application("B", &[("two", &sequence("two", "<sequence key='bad'/><sequence key='one'/>"))]);
    let found = archives(&[("a.car", bad), ("b.car", user)]);
    let faulty: Vec<&str> =
        found.artefacts.iter().filter(|artefact| !artefact.is_ok()).map(|artefact| &*artefact.name).collect();
    let text = found.to_text();
    assert_eq!(faulty, ["bad"], "{text}");
    assert!(text.contains("unknown mediator <frobnicate>"), "{text}");
    assert!(text.contains("will fail when reached") && text.contains("needs sequence \"bad\""), "{text}");
    assert!(text.contains("whole files               4      5"), "{text}");
}

#[test]
fn archives_that_cannot_be_read_are_faulty_alone() {
    let check = |bytes: Vec<u8>, part: &str| {
        let sound = application("C", &[("three", &sequence("three", ""))]);
        let found = archives(&[("bad.car", bytes), ("c.car", sound)]);
        assert_eq!((found.ok(), found.faulty()), (2, 1), "{}", found.to_text());
        assert!(problems(&found)[0].contains(part), "{part:?} is not in {}", found.to_text());
    };
    check(b"no archive".to_vec(), "no sound archive");
    check(pack(&[("a", b"")]), "no artifacts.xml");
    check(pack(&[("artifacts.xml", b"<artifacts/>")]), "names no artifact");
    check(pack(&[("artifacts.xml", b"<artifacts>")]), "not well-formed");
}

#[test]
fn of_an_archive_what_is_not_there_or_not_offered_is_faulty_alone() {
    let check = |bytes: Vec<u8>, part: &str| {
        let found = archives(&[("bad.car", bytes)]);
        assert_eq!((found.ok(), found.faulty()), (1, 1), "{}", found.to_text());
        assert!(problems(&found)[0].contains(part), "{part:?} is not in {}", found.to_text());
    };
    let missing = "<artifacts><artifact name='a'><dependency artifact='b' version='1'/></artifact></artifacts>";
    check(pack(&[("artifacts.xml", missing.as_bytes())]), "holds no b_1/artifact.xml");
    let artifact = "<artifact name='b' type='service/dataservice'/>";
    let files: [(&str, &[u8]); 2] = [("artifacts.xml", missing.as_bytes()), ("b_1/artifact.xml", artifact.as_bytes())];
    check(pack(&files), "data services");
}

#[test]
fn what_is_misspelt_in_the_files_of_an_archive_is_told_with_its_line() {
    let dependency = "<dependency artifact='s' version='1' include='true' serverRole='EnterpriseServiceBus'/>";
    let whole = |inside: &str| {
        format!(
            "<artifacts>\n<artifact name='a' version='1' type='carbon/application'>\n{inside}\n</artifact></artifacts>"
        )
    };
    let artifact =
        |kind: &str, file: &str| format!("<artifact name='s' version='1' type='{kind}'>\n{file}\n</artifact>");
    let check = |artifacts: &str, artifact: &str, expected: &str| {
        let text = sequence("s", "");
        let files: [(&str, &[u8]); 5] = [
            ("artifacts.xml", artifacts.as_bytes()),
            ("s_1/artifact.xml", artifact.as_bytes()),
            ("s_1/s-1.xml", text.as_bytes()),
            ("s_1/registry-info.xml", b"<resources>\n<itme><file>a.xslt</file></itme>\n</resources>"),
            ("s_1/resources/b.xslt", STYLESHEET.as_bytes()),
        ];
        let found = archives(&[("a.car", pack(&files))]).to_text();
        assert!(found.contains(expected), "{expected:?} is not in {found}");
    };
    let sound = artifact("synapse/sequence", "<file>s-1.xml</file>");
    check(&whole(dependency), &sound, "artefacts that run: 2, faulty: 0\n");
    check(
        &whole("<dependancy artifact='s' version='1'/>"),
        &sound,
        "a.car!/artifacts.xml:3:1: <dependancy> is unknown in <artifact>; did you mean <dependency>?\n\
         \x20     3 | <dependancy artifact='s' version='1'/>\n        | ^^^^^^^^^^^\n",
    );
    check(
        &whole("<dependency artifact='s' vresion='1'/>"),
        &sound,
        "a.car!/artifacts.xml:3:26: <dependency>: attribute \"vresion\" is unknown; did you mean version?\n",
    );
    check(
        &whole("<dependency artifact='s' version='1' serverRol='X'/>"),
        &sound,
        "attribute \"serverRol\" has no effect here; did you mean serverRole?\n",
    );
    check(
        &whole("<dependency artifact='s' version='2'/>"),
        &sound,
        "a.car!/artifacts.xml:3:23: the archive holds no s_2/artifact.xml; did you mean s_1?\n",
    );
    check(
        &whole(dependency).replace("<artifact ", "<artfact ").replace("</artifact>", "</artfact>"),
        &sound,
        "a.car!/artifacts.xml:2:1: <artfact> is unknown in <artifacts>; did you mean <artifact>?\n",
    );
    check(
        &whole(dependency),
        &artifact("synapse/seqence", "<file>s-1.xml</file>"),
        "a.car!/s_1/artifact.xml:1:38: s: there is no type \"synapse/seqence\"; did you mean synapse/sequence?\n",
    );
    check(
        &whole(dependency),
        &artifact("synapse/sequence", "<flie>s-1.xml</flie>"),
        "a.car!/s_1/artifact.xml:2:1: <flie> is unknown in <artifact>; did you mean <file>?\n",
    );
    check(
        &whole(dependency),
        &artifact("synapse/sequence", "<file>s-2.xml</file>"),
        "a.car!/s_1/artifact.xml:2:7: the archive holds no s_1/s-2.xml; did you mean s_1/s-1.xml?\n\
         \x20     2 | <file>s-2.xml</file>\n        |       ^^^^^^^\n",
    );
    check(
        &whole(dependency),
        &artifact("registry/resource", "<file>registry-info.xml</file>"),
        "a.car!/s_1/registry-info.xml:2:1: <itme> is unknown in <resources>; did you mean <item>?\n",
    );
}

#[test]
fn one_artefact_in_two_archives_is_a_problem_that_names_both() {
    let of = |name: &str| application(name, &[("one", &sequence("one", ""))]);
    let found = archives(&[("a.car", of("A")), ("b.car", of("B"))]);
    let problems = problems(&found);
    assert!(problems.iter().any(|problem| problem.contains("a.car!/one_1.0.0/one.xml")), "{problems:#?}");
    assert_eq!((found.ok(), found.faulty()), (3, 1), "{}", found.to_text());
    let found = archives(&[("a.car", of("A")), ("b.car", of("A"))]);
    assert!(found.to_text().contains("goes by the name of another archive"), "{}", found.to_text());
    assert_eq!((found.ok(), found.faulty()), (2, 1), "{}", found.to_text());
}

#[test]
fn archives_that_others_need_have_to_be_there_or_inside() {
    let descriptor = |text: &str| format!("<project>{text}</project>").into_bytes();
    let needs = descriptor(
        "<id>org_B_1.0.0</id><dependencies><dependency groupId='org' artifactId='A' version='1.0.0'/></dependencies>",
    );
    let user = packed("B", &[("two", &sequence("two", "<sequence key='one'/>"))], &[("descriptor.xml", &needs)]);
    let found = archives(&[("b.car", user.clone())]);
    assert!(
        found.to_text().contains("warning: ") && found.to_text().contains("it needs the archive org_A_1.0.0"),
        "{}",
        found.to_text()
    );
    let id = descriptor("<id>org_A_1.0.0</id>");
    let needed = packed("A", &[("one", &sequence("one", ""))], &[("descriptor.xml", &id)]);
    let found = archives(&[("a.car", needed.clone()), ("b.car", user)]);
    assert_eq!(found.faulty(), 0, "{}", found.to_text());
    let files: [(&str, &[u8]); 2] = [("descriptor.xml", &needs), ("dependencies/a.car", &needed)];
    let fat = packed("B", &[("two", &sequence("two", "<sequence key='one'/>"))], &files);
    let found = archives(&[("fat.car", fat)]);
    assert_eq!(found.faulty(), 0, "{}", found.to_text());
    // Archives in archives without end are none of a configuration.
    let mut nested = needed;
    for level in 0..5 {
        let name = format!("n{level}");
        nested = packed(&name, &[], &[("dependencies/in.car", &nested)]);
    }
    let found = archives(&[("deep.car", nested)]);
    assert!(found.to_text().contains("archives lie deeper"), "{}", found.to_text());
}

/// A data source as the extension for VS Code writes it.
const DATA_SOURCE: &str = "<datasource><name>d</name><description/><jndiConfig useDataSourceFactory='false'><name>jdbc/d</name>\
                           </jndiConfig><definition type='RDBMS'><configuration><driverClassName>org.sqlite.JDBC\
                           </driverClassName><url>jdbc:sqlite:d.db</url><username>u</username><password>p</password>\
                           <maxActive>3</maxActive></configuration></definition></datasource>";
