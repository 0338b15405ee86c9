//! `<dblookup>`: columns of the first row that a statement finds become properties.

use crate::databases::{DatabaseMediator, Purpose};
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;

pub(super) const SPEC: Spec = Spec::new("dblookup", DOC, build);

const DOC: &str = r#"
Asks a database, and keeps columns of the first row as properties of the default scope.

- `connection` holds a `pool` with `url`, `user` and `password`, or with `dsName`, the name of a data source of
  `deployment.toml`; [sql.md](sql.md) has the URLs and the `property` elements of a pool.
- `statement` (one or more, run in their order) holds one `sql` with a `?` for each parameter,
  `parameter` elements with `type` and `value` or `expression`,
  and `result` elements with the `name` of a property and the `column`, by name or by number from 1.
- The types are `CHAR`, `VARCHAR`, `LONGVARCHAR`, `NUMERIC`, `DECIMAL`, `BIT`, `TINYINT`, `SMALLINT`, `INTEGER`, `BIGINT`,
  `REAL`, `FLOAT`, `DOUBLE`, `DATE` (`2026-11-21`), `TIME` (`19:30:00`) and `TIMESTAMP` (`2026-11-21 19:30:00.5`).

Parameters are values and never part of the statement's text; an empty one is null.
Where there is no row, or the column is null, the property stays as it was.
A statement that fails is a fault with the code 0; `ERROR_DETAIL` has what the database said.

    <dblookup>
        <connection>
            <pool>
                <dsName>stocks</dsName>
            </pool>
        </connection>
        <statement>
            <sql>select price, name from company where symbol = ?</sql>
            <parameter expression="get-property('symbol')" type="VARCHAR"/>
            <result name="price" column="price"/>
            <result name="company" column="2"/>
        </statement>
    </dblookup>
"#;

fn build(element: &Element, loader: &mut Loader) -> Built {
    Ok(Box::new(DatabaseMediator::read(element, Purpose::Lookup, loader)?))
}
