<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:x="urn:x" exclude-result-prefixes="x">
    <xsl:param name="x:a" select="'default'"/>
    <xsl:template match="/">
        <given a="{$x:a}"/>
    </xsl:template>
</xsl:stylesheet>
