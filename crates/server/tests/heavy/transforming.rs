//! A stylesheet that takes long holds up nobody but the client who waits for it.

use std::time::{Duration, Instant};

use crate::support::{Bus, definitions, settings};
use myelin_testkit::raw;

/// A stylesheet that does not end.
const ENDLESS: &str = r#"<localEntry key="endless">
    <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
        <xsl:template match="/">
            <xsl:for-each select="//i"><xsl:for-each select="//i"><xsl:for-each select="//i"><xsl:for-each select="//i">
                <xsl:if test="count(//i) = 0">never</xsl:if>
            </xsl:for-each></xsl:for-each></xsl:for-each></xsl:for-each>
        </xsl:template>
    </xsl:stylesheet>
</localEntry>"#;

fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /services/{path} HTTP/1.1\r\nHost: bus\r\nContent-Type: application/xml\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[test]
fn the_thread_serves_on_while_a_stylesheet_runs_into_its_time_limit() {
    let _turn = crate::turn();
    let configuration = definitions(&format!(
        r#"{ENDLESS}
        <proxy name="Slow"><target><inSequence><xslt key="endless"/><respond/></inSequence></target></proxy>
        <proxy name="Quick"><target><inSequence><respond/></inSequence></target></proxy>"#
    ));
    let bus = Bus::with(&configuration, settings());
    let message = format!("<a>{}</a>", "<i/>".repeat(1_000));
    let mut slow = raw::Client::connect(bus.address).unwrap();
    slow.send(&post("Slow", &message)).unwrap();
    let start = Instant::now();
    let slow = std::thread::spawn(move || slow.answer().unwrap());
    // A thread that is held up would serve one request, after the other.
    let mut served = 0;
    while !slow.is_finished() {
        assert_eq!(raw::exchange(bus.address, &post("Quick", "<a/>")).unwrap().status, 200);
        served += 1;
    }
    let answer = slow.join().unwrap();
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert!(start.elapsed() > Duration::from_millis(1_500), "the stylesheet ended at once");
    assert!(served > 10, "only {served} were served meanwhile");
}

#[test]
fn stylesheets_that_recurse_without_end_are_faults_and_the_bus_serves_on() {
    let _turn = crate::turn();
    let call = r#"<xsl:template match="/"><a><xsl:call-template name="again"/></a></xsl:template>"#;
    let again = |inside: &str| format!(r#"{call}<xsl:template name="again">{inside}</xsl:template>"#);
    let bombs = [
        again(r#"<xsl:call-template name="again"/>"#),
        again(r#"<b><xsl:call-template name="again"/></b>"#),
        again(r#"<xsl:variable name="v"><xsl:call-template name="again"/></xsl:variable><xsl:copy-of select="$v"/>"#),
        r#"<xsl:template match="/|*"><b><xsl:apply-templates select="/"/></b></xsl:template>"#.to_owned(),
    ];
    for bomb in bombs {
        let configuration = definitions(&format!(
            r#"<localEntry key="bomb"><xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">{bomb}</xsl:stylesheet></localEntry>
            <proxy name="Bomb"><target><inSequence><xslt key="bomb"/><respond/></inSequence></target></proxy>
            <proxy name="Quick"><target><inSequence><respond/></inSequence></target></proxy>"#
        ));
        let bus = Bus::with(&configuration, settings());
        assert_eq!(raw::exchange(bus.address, &post("Bomb", "<a/>")).unwrap().status, 500, "{bomb}");
        assert_eq!(raw::exchange(bus.address, &post("Quick", "<a/>")).unwrap().status, 200, "{bomb}");
    }
}
