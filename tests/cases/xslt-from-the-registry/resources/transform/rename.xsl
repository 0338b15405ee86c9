<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:o="urn:orders" xmlns:n="urn:new" exclude-result-prefixes="o">
    <xsl:template match="o:order">
        <n:purchase number="{@id}">
            <xsl:apply-templates select="o:symbol"/>
        </n:purchase>
    </xsl:template>
    <xsl:template match="o:symbol">
        <n:name><xsl:value-of select="."/></n:name>
    </xsl:template>
</xsl:stylesheet>
