//! Stylesheets in the bus: what they may read, where their problems are told, and that none of them stops the others.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use crate::common::{Reply, Scenario, post, response};
use myelin_engine::{Loaded, Settings, StylesheetLimits, load};

const XSL: &str = "xmlns:xsl='http://www.w3.org/1999/XSL/Transform'";
const MESSAGE: &str =
    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><a>1</a></s:Body></s:Envelope>";

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn stylesheet(body: &str) -> String {
    format!("<xsl:stylesheet version='1.0' {XSL}>\n{body}\n</xsl:stylesheet>")
}

/// A stylesheet whose result is one empty element of that name.
fn makes(element: &str) -> String {
    stylesheet(&format!("<xsl:template match='/'><{element}/></xsl:template>"))
}

/// Loads artefacts, among them a proxy `P` with `steps` that answers, beside other files.
fn load_with(steps: &str, artefacts: &str, files: &[(&str, &str)], settings: &Settings) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "<definitions xmlns='http://ws.apache.org/ns/synapse'>{artefacts}\n\
         <proxy name='P'><target><inSequence>{steps}<respond/></inSequence></target></proxy></definitions>"
    );
    write(folder.path(), "synapse.xml", &text);
    files.iter().for_each(|(file, text)| write(folder.path(), file, text));
    load(&[folder.path().join("synapse.xml")], settings)
}

fn scenario_of(loaded: Loaded) -> Scenario {
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    Scenario::of(loaded, |_, _| Ok(response(200, &[], "")))
}

fn scenario(steps: &str, artefacts: &str, files: &[(&str, &str)]) -> Scenario {
    scenario_of(load_with(steps, artefacts, files, &Settings::default()))
}

fn entry(sheet: &str) -> String {
    format!("<localEntry key='sheet'>{}</localEntry>", sheet.replace("<xsl:stylesheet ", "<xsl:stylesheet xmlns='' "))
}

fn ask(scenario: &Scenario, headers: &[(&str, &str)]) -> Reply {
    scenario.serve(post("/services/P", headers, MESSAGE))
}

/// The problems of the proxy, without the folder.
fn problems(steps: &str, artefacts: &str, files: &[(&str, &str)]) -> Vec<String> {
    let report = load_with(steps, artefacts, files, &Settings::default()).report;
    let proxy = report.artefacts.iter().find(|artefact| artefact.kind == "proxy").unwrap();
    let file = |path: &str| Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
    let all = proxy.problems.iter().chain(&proxy.latent);
    all.map(|problem| format!("{}:{}:{}", file(problem.file()), problem.line(), problem.column())).collect()
}

#[test]
fn what_is_wrong_in_a_stylesheet_is_told_with_its_own_file_line_and_column() {
    let faulty = stylesheet("<xsl:template match='/'>\n  <xsl:value-of select='a['/>\n</xsl:template>");
    let in_file = problems("<xslt key='sheet'/>", "<localEntry key='sheet' src='a.xsl'/>", &[("a.xsl", &faulty)]);
    assert!(in_file.iter().any(|problem| problem.starts_with("a.xsl:3:")), "{in_file:?}");
    assert!(in_file.iter().any(|problem| problem.starts_with("synapse.xml:2:")), "{in_file:?}");
    let inline = problems("<xslt key='sheet'/>", &format!("\n\n{}", entry(&faulty)), &[]);
    assert!(inline.iter().any(|problem| problem.starts_with("synapse.xml:5:")), "{inline:?}");
    let broken = [("a.xsl", "<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n</a>")];
    let broken = problems("<xslt key='sheet'/>", "<localEntry key='sheet' src='a.xsl'/>", &broken);
    assert!(broken.iter().any(|problem| problem.starts_with("a.xsl:2:")), "{broken:?}");
    let text = format!("\n<localEntry key='sheet'><![CDATA[\n{faulty}]]></localEntry>");
    let text = problems("<xslt key='sheet'/>", &text, &[]);
    assert!(text.iter().any(|problem| problem.starts_with("synapse.xml:5:")), "{text:?}");
    let imports = stylesheet("<xsl:import href='lib.xsl'/>");
    let resource = "<xslt key='sheet'><resource location='lib.xsl' key='lib'/></xslt>";
    let entries = "<localEntry key='sheet' src='a.xsl'/><localEntry key='lib' src='b.xsl'/>";
    let imported = problems(resource, entries, &[("a.xsl", &imports), ("b.xsl", &faulty)]);
    assert!(imported.iter().any(|problem| problem.starts_with("b.xsl:3:")), "{imported:?}");
}

#[test]
fn a_faulty_stylesheet_is_told_whole_once_and_then_by_name() {
    let faulty = stylesheet("<xsl:template match='['/>\n<xsl:template match='['/>");
    let steps = "<xslt key='sheet'/>\n<xslt key='sheet'/>";
    let all = problems(steps, &entry(&faulty), &[]);
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn keys_of_the_registry_find_files_below_its_root_and_no_others() {
    let sheet = makes("r");
    let check = |key: &str, registry: &str, file: &str, is_found: bool| {
        let loaded = load_with(&format!("<xslt key='{key}'/>"), registry, &[(file, &sheet)], &Settings::default());
        assert_eq!(
            loaded.report.artefacts.iter().all(|artefact| artefact.latent.is_empty()),
            is_found,
            "{key}: {}",
            loaded.report.to_text()
        );
    };
    check("conf:/xslt/a.xslt", "", "registry/config/xslt/a.xslt", true);
    check("conf:xslt/a.xslt", "", "registry/conf/xslt/a.xslt", true);
    check("gov:/a.xslt", "<registry provider='x'/>", "registry/governance/a.xslt", true);
    check("/_system/governance/a.xslt", "", "registry/gov/a.xslt", true);
    check("resources:xslt/a.xslt", "", "registry/gov/mi-resources/xslt/a.xslt", true);
    let own = "<registry provider='x'><parameter name='root'>file:./own/</parameter></registry>";
    check("transform/a.xslt", own, "own/transform/a.xslt", true);
    check("conf:/a.xslt", own, "own/config/a.xslt", true);
    check("file:anywhere/a.xslt", "", "anywhere/a.xslt", true);
    check("conf:/../a.xslt", "", "registry/a.xslt", false);
    check("../a.xslt", own, "a.xslt", false);
    check("conf:/a.xslt", "", "registry/governance/a.xslt", false);
}

#[test]
fn a_registry_is_found_beside_the_layouts_of_micro_integrator_and_its_projects() {
    let check = |configuration: &str, sheet: &str| {
        let folder = tempfile::tempdir().unwrap();
        let proxy = "<proxy name='P' xmlns='http://ws.apache.org/ns/synapse'><target><inSequence>\
                     <xslt key='gov:/a.xslt'/><respond/></inSequence></target></proxy>";
        write(folder.path(), &format!("{configuration}/proxy-services/P.xml"), proxy);
        write(folder.path(), sheet, &makes("r"));
        let report = load(&[folder.path().join(configuration)], &Settings::default()).report;
        assert_eq!(report.faulty(), 0, "{}", report.to_text());
    };
    check("repository/deployment/server/synapse-configs/default", "registry/governance/a.xslt");
    check("src/main/wso2mi/artifacts", "src/main/wso2mi/resources/registry/gov/a.xslt");
    check("synapse-configs/default", "synapse-configs/default/registry/gov/a.xslt");
}

#[test]
fn stylesheets_of_the_registry_import_what_lies_beside_them() {
    let importing = |href: &str| stylesheet(&format!("<xsl:import href='{href}'/>"));
    let check = |href: &str, is_found: bool| {
        let importing = importing(href);
        let files = [("registry/config/xslt/a.xslt", &*importing), ("registry/config/common/lib.xslt", &*makes("lib"))];
        let outside = [files[0], files[1], ("lib.xslt", "<a/>")];
        let loaded = load_with("<xslt key='conf:/xslt/a.xslt'/>", "", &outside, &Settings::default());
        assert_eq!(
            loaded.report.artefacts.iter().all(|artefact| artefact.latent.is_empty()),
            is_found,
            "{href}: {}",
            loaded.report.to_text()
        );
    };
    check("../common/lib.xslt", true);
    check("conf:/common/lib.xslt", true);
    check("../../../lib.xslt", false);
    check("../../../../../../../../../etc/passwd", false);
    check("file:///etc/passwd", false);
    check("/etc/passwd", false);
    check("http://127.0.0.1:1/lib.xslt", false);
}

#[test]
fn a_key_that_is_worked_out_finds_what_was_loaded_and_nothing_else() {
    let files = [("registry/config/a.xslt", &*makes("in-registry")), ("a.xsl", &*makes("in-file"))];
    let artefacts = format!(
        "{}<localEntry key='file' src='a.xsl'/><localEntry key='text'>no stylesheet</localEntry>",
        entry(&makes("in-entry"))
    );
    let scenario = scenario("<xslt key='{$trp:K}'/>", &artefacts, &files);
    let check = |key: &str, part: &str| {
        let reply = ask(&scenario, &[("K", key)]);
        assert_eq!((reply.status == 200, reply.body.contains(part)), (part != "Fault", true), "{key}: {reply:?}");
    };
    check("sheet", "<in-entry/>");
    check("file", "<in-file/>");
    check("conf:/a.xslt", "<in-registry/>");
    check("config/a.xslt", "<in-registry/>");
    for key in
        ["", "text", "a.xsl", "file:a.xsl", "conf:/b.xslt", "../a.xsl", "conf:/../../a.xsl", "registry/config/a.xslt"]
    {
        check(key, "Fault");
    }
}

#[test]
fn a_faulty_stylesheet_is_a_warning_where_the_key_is_worked_out() {
    let files = [("registry/conf/a.xslt", "<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n</a>")];
    let loaded = load_with("<xslt key='{$trp:K}'/>", "", &files, &Settings::default());
    let warnings: Vec<String> =
        loaded.report.artefacts.iter().flat_map(|it| &it.warnings).map(ToString::to_string).collect();
    assert!(warnings.iter().any(|warning| warning.contains("a.xslt:2:")), "{warnings:?}");
    assert_eq!(loaded.report.faulty(), 0);
}

#[test]
fn endless_stylesheets_end_in_a_fault_and_the_bus_serves_on() {
    let bombs = [
        "<xsl:template match='/'><xsl:call-template name='t'/></xsl:template>\
         <xsl:template name='t'><xsl:call-template name='t'/></xsl:template>",
        "<xsl:template match='/'><xsl:call-template name='t'/></xsl:template>\
         <xsl:template name='t'><b><xsl:call-template name='t'/></b></xsl:template>",
        "<xsl:template match='/'><a><xsl:call-template name='t'><xsl:with-param name='s' select='\"ab\"'/></xsl:call-template></a>\
         </xsl:template><xsl:template name='t'><xsl:param name='s'/><xsl:call-template name='t'>\
         <xsl:with-param name='s' select='concat($s, $s)'/></xsl:call-template></xsl:template>",
        "<xsl:template match='/'><a><xsl:for-each select='//node()|//namespace::*'><xsl:apply-templates select='/'/></xsl:for-each></a></xsl:template>",
    ];
    let artefacts = "<sequence name='fault'><property name='HTTP_SC' value='502' scope='axis2'/><respond/></sequence>";
    let mut settings = Settings::default();
    // What has no depth would take long to run into the default in a build for tests.
    settings.stylesheets.work.instructions = 1_000_000;
    for bomb in bombs {
        let artefacts = format!("{artefacts}{}", entry(&stylesheet(bomb)));
        let scenario = scenario_of(load_with("<xslt key='sheet'/>", &artefacts, &[], &settings));
        let reply = ask(&scenario, &[]);
        assert_eq!((reply.status, reply.body.as_str()), (502, MESSAGE), "{bomb}");
        assert_eq!(ask(&scenario, &[]).status, 502);
    }
}

#[test]
fn limits_of_the_operator_hold() {
    let loop_sheet = stylesheet(
        "<xsl:template match='/'><a><xsl:call-template name='t'><xsl:with-param name='n' select='1000'/></xsl:call-template></a></xsl:template>\
         <xsl:template name='t'><xsl:param name='n'/><xsl:if test='$n &gt; 0'><b/><xsl:call-template name='t'>\
         <xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>",
    );
    let status = |change: fn(&mut StylesheetLimits)| {
        let mut settings = Settings::default();
        change(&mut settings.stylesheets);
        let scenario = scenario_of(load_with("<xslt key='sheet'/>", &entry(&loop_sheet), &[], &settings));
        ask(&scenario, &[]).status
    };
    assert_eq!(status(|_| ()), 200);
    assert_eq!(status(|limits| limits.work.instructions = 500), 500);
    assert_eq!(status(|limits| limits.work.output_bytes = 500), 500);
    // Whoever transforms in this test has no clock: the deadline is asked, and never passes.
    assert_eq!(status(|limits| limits.time = Duration::ZERO), 200);
}

#[test]
fn long_work_is_done_apart_and_gives_the_same() {
    let sheet = stylesheet(
        "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>",
    );
    let scenario = scenario("<xslt key='sheet'/>", &entry(&sheet), &[]);
    let message = |count: usize| format!("<a>{}</a>", "<b c='1'>text</b>".repeat(count));
    for count in [1, 100, 2_000, 20_000] {
        let message = message(count);
        let reply = scenario.serve(post("/services/P", &[], &message));
        assert_eq!(reply.body, message.replace('\'', "\""), "{count} elements");
    }
}

#[test]
fn what_is_not_escaped_cannot_break_out_of_its_place() {
    let sheet = stylesheet(
        "<xsl:template match='/'><r><xsl:value-of select='.' disable-output-escaping='yes'/></r></xsl:template>",
    );
    let scenario = scenario("<xslt key='sheet'/>", &entry(&sheet), &[]);
    let check = |text: &str, expected: Option<&str>| {
        let message = MESSAGE.replace('1', &text.replace('<', "&lt;"));
        let reply = scenario.serve(post("/services/P", &[], &message));
        match expected {
            Some(expected) => assert_eq!(reply.body, MESSAGE.replace("<a>1</a>", expected), "{text}"),
            None => assert_eq!(reply.status, 500, "{text}: {reply:?}"),
        }
    };
    check("<b/>", Some("<r><b/></r>"));
    check("<s:b/>", None);
    check("<b>", None);
    check("</r></s:Body><s:Body><r>", None);
    check("</r><evil/><r>", None);
    check("</r></around><around><r>", None);
}

#[test]
fn one_pass_over_the_bytes_and_the_tree_give_the_same() {
    let identity = "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>\
                    <xsl:template match='b'><renamed><xsl:value-of select='.'/></renamed></xsl:template>";
    let message = |version: &str, inside: &str| {
        format!(
            "<?xml version='1.0'?><!--c--><s:Envelope xmlns:s='{version}' xmlns='urn:d'>\n{inside}</s:Envelope><?p d?>"
        )
    };
    let (soap11, soap12) = ("http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope");
    let mut messages = vec![
        "<a xmlns='urn:a'><b xmlns=''>1</b></a>".to_owned(),
        "<!-- before --><a><b>&lt;</b><b/></a><!-- behind -->".to_owned(),
        "<Envelope><Body><a><b>1</b></a></Body></Envelope>".to_owned(),
        "<s:Envelope xmlns:s='urn:no-soap'><s:Body><a/></s:Body></s:Envelope>".to_owned(),
        "<a><b></a>".to_owned(),
        String::new(),
    ];
    for version in [soap11, soap12] {
        for inside in [
            "<s:Body><a xmlns=''><b>1</b></a></s:Body>",
            "<s:Header><s:Body><x/></s:Body></s:Header><s:Body>\n text <!--c--><a><b>1</b></a> <second/></s:Body>",
            "<s:Body/><s:Body><a/></s:Body>",
            "<Body><a/></Body><s:Body><b xmlns='' x='&quot;'>1</b></s:Body><last/>",
            "<s:Header/>",
            "",
            "<s:Body><a><b>1</b></a></s:Body><s:Broken>",
        ] {
            messages.push(message(version, inside));
        }
    }
    for sheet in [
        stylesheet(identity),
        makes("r"),
        stylesheet("<xsl:template match='/'><r><xsl:value-of select='//b'/></r></xsl:template>"),
    ] {
        let on_bytes = scenario("<xslt key='sheet'/>", &entry(&sheet), &[]);
        let on_tree = scenario("<builder/><xslt key='sheet'/>", &entry(&sheet), &[]);
        for message in &messages {
            let ask = |scenario: &Scenario| {
                let reply = scenario.serve(post("/services/P", &[], message));
                (reply.status, reply.body)
            };
            assert_eq!(ask(&on_bytes), ask(&on_tree), "{message}");
        }
    }
}

#[test]
fn what_one_pass_wrote_is_read_by_the_next() {
    let sheet = stylesheet("<xsl:template match='/*'><outer><xsl:copy-of select='.'/></outer></xsl:template>");
    let steps = "<filter xpath='//a'><then><xslt key='sheet'/></then></filter><xslt key='sheet'/>\
                 <filter xpath='//outer/outer/a = 1'><then><xslt key='sheet'/></then></filter>";
    let reply = ask(&scenario(steps, &entry(&sheet), &[]), &[]);
    assert_eq!(reply.body, MESSAGE.replace("<a>1</a>", "<outer><outer><outer><a>1</a></outer></outer></outer>"));
}
