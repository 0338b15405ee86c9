//! `conditionalRouter`: which routes run, and what comes behind them.

use crate::common::{Scenario, post};

const ROUTER: &str = r#"<sequence name="first"><property name="X-Routes" scope="transport" expression="concat($trp:X-Routes, '1')"/></sequence>
    <proxy name="P"><target><inSequence>
      <conditionalRouter continueAfter="CONTINUE">
        <conditionalRoute breakRoute="false">
          <condition><match type="url" regex=".*/services/P.*"/></condition><target sequence="first"/>
        </conditionalRoute>
        <conditionalRoute breakRoute="false">
          <condition><or><equal source="x-tenant" value="GOLD"/><match type="property" source="no" regex=".*"/></or></condition>
          <target><sequence><property name="X-Routes" scope="transport" expression="concat($trp:X-Routes, '2')"/><drop/></sequence></target>
        </conditionalRoute>
        <conditionalRoute>
          <condition><and><equal type="param" source="q" value="a b"/><not><equal type="soap" source="//s" value="IBM"/></not></and></condition>
          <target><sequence><property name="X-Routes" scope="transport" expression="concat($trp:X-Routes, '3')"/></sequence></target>
        </conditionalRoute>
        <conditionalRoute>
          <condition><match type="url" source="path" regex="/services/P"/></condition>
          <target><sequence><property name="X-Routes" scope="transport" expression="concat($trp:X-Routes, '4')"/></sequence></target>
        </conditionalRoute>
      </conditionalRouter>
      <respond/>
    </inSequence></target></proxy>"#;

/// The routes that ran, and the status.
fn routes(continues: &str, target: &str, headers: &[(&str, &str)], body: &str) -> (u16, Option<String>) {
    let reply = Scenario::new(&ROUTER.replace("CONTINUE", continues)).serve(post(target, headers, body));
    (reply.status, reply.header("X-Routes").map(str::to_owned))
}

#[test]
fn every_route_whose_condition_holds_runs_until_one_breaks() {
    let check = |target: &str, headers: &[(&str, &str)], body: &str, expected: &str| {
        assert_eq!(
            routes("true", target, headers, body),
            (200, Some(expected.to_owned())),
            "{target} {headers:?} {body}"
        );
    };
    check("/services/P", &[], "<s>IBM</s>", "14");
    check("/services/P?q=a%20b", &[], "<s>IBM</s>", "14");
    check("/services/P?q=a%20b", &[], "<s>SUN</s>", "13");
    check("/services/P", &[("X-Tenant", "gold")], "<s/>", "124");
}

#[test]
fn without_continue_after_the_flow_ends_at_the_router() {
    assert_eq!(routes("false", "/services/P", &[], "<s/>"), (202, None));
}

#[test]
fn routes_that_do_not_break_may_each_send_the_message() {
    let route = |breaks: &str, path: &str| {
        format!(
            "<conditionalRoute breakRoute='{breaks}'><condition><match type='url' regex='.*'/></condition><target><sequence>\
             <send><endpoint><address uri='http://back/{path}'/></endpoint></send></sequence></target></conditionalRoute>"
        )
    };
    let check = |continues: &str, routes: &[String], expected: &[&str]| {
        let scenario = Scenario::new(&format!(
            "<proxy name='P'><target><inSequence><conditionalRouter continueAfter='{continues}'>{}</conditionalRouter>\
             <send><endpoint><address uri='http://back/behind'/></endpoint></send></inSequence></target></proxy>",
            routes.concat()
        ));
        assert_eq!(scenario.serve(post("/services/P", &[], "<a/>")).status, 200);
        let mut sent: Vec<String> = scenario.sent().iter().map(|sent| sent.uri[12..].to_owned()).collect();
        sent.sort();
        assert_eq!(sent, expected, "{continues}");
    };
    let both = [route("false", "1"), route("false", "2")];
    check("false", &both, &["1", "2"]);
    check("true", &both, &["1", "2", "behind"]);
    check("false", &[route("true", "1"), route("false", "2")], &["1"]);
    check("true", &[route("true", "1"), route("false", "2")], &["1", "behind"]);
}
