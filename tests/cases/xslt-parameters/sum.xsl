<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:param name="a"/>
    <xsl:template match="/">
        <sum text="{$a}" more="{$a + 1}"/>
    </xsl:template>
</xsl:stylesheet>
