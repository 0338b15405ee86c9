<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:template match="/"><xsl:comment>c</xsl:comment><xsl:processing-instruction name="p">d</xsl:processing-instruction><root><xsl:comment>inside</xsl:comment></root><xsl:comment>e</xsl:comment></xsl:template>
</xsl:stylesheet>
