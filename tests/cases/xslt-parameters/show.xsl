<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:param name="a" select="'default a'"/>
    <xsl:param name="b" select="'default b'"/>
    <xsl:template match="/">
        <given a="{$a}" b="{$b}"/>
    </xsl:template>
</xsl:stylesheet>
