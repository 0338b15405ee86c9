//! What `<xslt>` says of a configuration.

use crate::mediators::tests::{check, check_missing};

#[test]
fn what_xslt_cannot_be_is_told_at_its_place() {
    check("<xslt/>", "key");
    check_missing("<xslt key='none'/>", "no local entry \"none\"");
    check_missing("<xslt key='conf:/none.xslt'/>", "no such file in the registry");
    check_missing("<xslt key='{$none'/>", "no local entry");
    check_missing("<xslt key='{$none}'/>", "expression");
    check("<xslt key='{$ctx:k}' source='//['/>", "expression");
    check("<xslt key='{$ctx:k}'><property name='p'/></xslt>", "value or expression");
    check("<xslt key='{$ctx:k}'><property value='v'/></xslt>", "name");
    check("<xslt key='{$ctx:k}'><resource location='l'/></xslt>", "key");
    check_missing("<xslt key='{$ctx:k}'><resource location='l' key='none'/></xslt>", "no local entry \"none\"");
    check("<xslt key='{$ctx:k}'><feature name='f' value='maybe'/></xslt>", "neither true nor false");
    check("<xslt key='{$ctx:k}'/>", "");
}
