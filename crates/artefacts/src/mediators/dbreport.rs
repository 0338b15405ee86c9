//! `<dbreport>`: statements that change a database.

use crate::databases::{DatabaseMediator, Purpose};
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;

pub(super) const SPEC: Spec = Spec::new("dbreport", DOC, build);

const DOC: &str = r#"
Writes into a database.

- `connection`, `statement`, `sql` and `parameter` are those of [`dblookup`](#dblookup); there is no `result`.
- `useTransaction="true"`: all statements are one transaction, which is kept if none of them fails.
  Otherwise each is kept when it is done.

An `sql` without parameters may hold several statements.

    <dbreport useTransaction="true">
        <connection>
            <pool>
                <url>jdbc:sqlite::memory:</url>
                <property name="maxwait" value="2000"/>
            </pool>
        </connection>
        <statement>
            <sql>update company set price = ? where symbol = ?</sql>
            <parameter expression="//price" type="DOUBLE"/>
            <parameter expression="//symbol" type="VARCHAR"/>
        </statement>
        <statement>
            <sql>insert into changes (symbol, reason) values (?, ?)</sql>
            <parameter expression="//symbol" type="VARCHAR"/>
            <parameter value="report" type="VARCHAR"/>
        </statement>
    </dbreport>
"#;

fn build(element: &Element, loader: &mut Loader) -> Built {
    let together = element.switch("useTransaction", false)?;
    Ok(Box::new(DatabaseMediator::read(element, Purpose::Report { together }, loader)?))
}
