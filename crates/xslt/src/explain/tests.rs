//! What a program looks like.

use crate::{NoResolver, Stylesheet};

#[test]
fn a_program_is_shown_with_its_rules_and_how_expressions_run() {
    let source = r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="xml"/>
<xsl:template match="order[@id]|line" mode="m"><o a="{@id}-{count(line)}"/></xsl:template>
<xsl:template match="/">
  <xsl:variable name="v" select="'x'"/>
  <xsl:choose>
    <xsl:when test="order"><xsl:apply-templates select="order/line" mode="m"/></xsl:when>
    <xsl:otherwise><xsl:call-template name="t"><xsl:with-param name="p">q</xsl:with-param></xsl:call-template></xsl:otherwise>
  </xsl:choose>
</xsl:template>
<xsl:template name="t"><xsl:param name="p"/><xsl:value-of select="$p"/></xsl:template>
</xsl:stylesheet>"#;
    let expected = r#"way: a tree, because a.xsl:5:3: an instruction needs more than one pass
module: a.xsl
output: xml

mode without a name: 1 rule, otherwise go on with the children, copy text
  document: template 1 match="/", at once, priority 0.5, precedence 0

mode m: 2 rules, otherwise go on with the children, copy text
  element order: template 0 match="order[@id]|line", after a test, priority 0.5, precedence 0
  element line: template 0 match="order[@id]|line", at once, priority 0, precedence 0

       3:1  template 0 match="order[@id]|line", 0 slots
      3:48    <o>
                @a = @id [direct] "-" count(line) [evaluated]

       4:1  template 1 match="/", 1 slot
       5:3    variable in slot 0
                value: 'x' [evaluated]
       6:3    choose
                when order [direct]
      7:28        apply-templates order/line [direct] in mode m
                otherwise
      8:20        call template 2 t, in place of this one
                    with $p: a tree
      8:73            text "q"

      11:1  template 2 t, 1 slot
     11:24    param $p in slot 0
                default: ""
     11:45    value-of $p [direct]
"#;
    let stylesheet = Stylesheet::compile(source.as_bytes(), "a.xsl", &NoResolver).expect("a stylesheet");
    assert_eq!(stylesheet.explain(), expected);
}
