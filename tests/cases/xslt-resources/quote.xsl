<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:import href="library.xsl"/>
    <xsl:include href="more/included.xsl"/>
    <xsl:template match="/">
        <result>
            <xsl:apply-imports/>
            <xsl:call-template name="included"/>
            <xsl:copy-of select="document('rates.xml')/rates/rate"/>
        </result>
    </xsl:template>
</xsl:stylesheet>
