<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:o="urn:orders" xmlns:n="urn:new" exclude-result-prefixes="n">
    <xsl:template match="/n:confirmed">
        <o:accepted by="{@by}"/>
    </xsl:template>
</xsl:stylesheet>
