<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:n="urn:new" exclude-result-prefixes="n">
    <xsl:template match="/n:purchase">
        <count><xsl:value-of select="count(n:name)"/></count>
    </xsl:template>
</xsl:stylesheet>
