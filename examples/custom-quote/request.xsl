<?xml version="1.0" encoding="UTF-8"?>
<!-- The customers' own question becomes the one that the service understands. -->
<xsl:stylesheet version="1.0" exclude-result-prefixes="m"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:m="http://services.samples">
    <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

    <xsl:template match="m:CheckPriceRequest">
        <m:getQuote>
            <m:request>
                <m:symbol><xsl:value-of select="m:Code"/></m:symbol>
            </m:request>
        </m:getQuote>
    </xsl:template>
</xsl:stylesheet>
