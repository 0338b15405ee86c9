//! What `<script>` says of a configuration.

use crate::mediators::tests::{check, check_missing};

#[test]
fn what_a_script_cannot_be_is_told_at_its_place() {
    check("<script>1</script>", "language");
    check("<script language='groovy'>1</script>", "runs on a JVM only");
    check("<script language='lua'>1</script>", "no language of scripts");
    check("<script language='js' function='f'>1</script>", "function without key");
    check_missing("<script language='js' key='none'/>", "none");
    check("<script language='js' key='{$ctx:k}'/>", "");
    check("<script language='js'>mc.setPayloadXML(<a xmlns=''/>);</script>", "E4X");
    check("<script language='js'>mc.setPayloadXML(&lt;a/&gt;);</script>", "E4X");
    check("<script language='js'>java.io.File('x')</script>", "of a JVM");
    check("<script language='js'>mc.getConfiguration()</script>", "mc.getConfiguration is not offered");
    check("<script language='js'>var = 3</script>", "SyntaxError");
    check("<script language='js'>mc.getPayloadJSON()</script>", "");
}
