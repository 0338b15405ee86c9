//! What is told of a configuration that asks databases.

use crate::mediators::tests::{check, check_missing};

/// A look-up with that pool and that statement.
fn lookup(pool: &str, statement: &str) -> String {
    format!("<dblookup><connection><pool>{pool}</pool></connection><statement>{statement}</statement></dblookup>")
}

const STOCKS: &str = "<dsName>stocks</dsName>";
const SQL: &str = "<sql>select 1</sql>";

#[test]
fn a_pool_names_or_describes_a_database_that_can_be_asked() {
    let missing = |pool: &str, part: &str| check_missing(&lookup(pool, SQL), part);
    let pool = |pool: &str, part: &str| check(&lookup(pool, SQL), part);
    pool(STOCKS, "");
    pool("<dsName>jdbc/stocks</dsName>", "");
    pool("<driver>org.x.Driver</driver><url>jdbc:x:y</url><user>u</user><password>p</password>", "");
    pool("<url>jdbc:x:y</url><property name='maxactive' value='3'/>", "");
    missing("<dsName>bonds</dsName>", "no data source \"bonds\"; a [[datasource]]");
    pool("<driver/><url/><user/><password/>", "<url> is empty");
    pool("<driver>x</driver>", "<pool> needs <url> or <dsName>");
    pool("<url>jdbc:h2:x</url>", "in a JVM only");
    pool("<url>jdbc:x:y</url><property name='maxactive' value='many'/>", "no number");
    pool("<url>jdbc:x:y</url><property name='maxactive'/>", "needs a value");
    pool("<url>jdbc:x:y</url><host>x</host>", "");
    missing("<url>$env{NOBODY_SETS_THIS}</url>", "the environment has no");
    missing("<url key='no.such.key'/>", "no.such.key");
    check("<dblookup><connection/></dblookup>", "has no <pool>");
    check("<dblookup/>", "has no <connection>");
    check(&format!("<dbreport><connection><pool>{STOCKS}</pool></connection></dbreport>"), "has no <statement>");
}

#[test]
fn a_statement_is_whole_before_anybody_asks() {
    let statement = |statement: &str, part: &str| check(&lookup(STOCKS, statement), part);
    statement("<sql>select ?</sql><parameter value='1' type='INTEGER'/><result name='a' column='1'/>", "");
    statement("<sql>select ?</sql><parameter expression='//a' type='VARCHAR'/>", "");
    statement("<parameter value='1' type='INTEGER'/>", "has no <sql>");
    statement("<sql> </sql>", "<sql> is empty");
    statement("<sql>select ?</sql>", "another number of parameters");
    statement("<sql>select ?</sql><parameter value='one' type='INTEGER'/>", "no whole number");
    statement("<sql>select ?</sql><parameter value='1' type='BLOB'/>", "\"BLOB\" is none");
    statement("<sql>select ?</sql><parameter value='1'/>", "\"type\" is missing");
    statement("<sql>select ?</sql><parameter type='INTEGER'/>", "needs value or expression");
    statement("<sql>select ?</sql><parameter expression='1 +' type='INTEGER'/>", "expression");
    statement("<sql>select 1</sql><result name='a'/>", "\"column\" is missing");
    statement("<sql>select 1</sql><sql>select 2</sql>", "holds one sql");
}
