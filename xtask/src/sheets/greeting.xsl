<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:g="urn:greeting" exclude-result-prefixes="#all">
  <xsl:param name="polite" as="xs:boolean" select="false()"/>
  <xsl:template match="person">
    <greeting to="{@id}">{if ($polite) then 'Good day' else 'Hello'}, <xsl:value-of select="name"/></greeting>
  </xsl:template>
  <xsl:template match="people">
    <greetings><xsl:apply-templates select="person"/></greetings>
  </xsl:template>
  <xsl:template name="nobody"><nobody/></xsl:template>
  <xsl:function name="g:initials" as="xs:string">
    <xsl:param name="name" as="xs:string"/>
    <xsl:sequence select="string-join(tokenize($name, ' ') ! substring(., 1, 1), '.')"/>
  </xsl:function>
</xsl:stylesheet>
