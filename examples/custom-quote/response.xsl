<?xml version="1.0" encoding="UTF-8"?>
<!-- Of all that the service answers, the customers get the symbol and the price. -->
<xsl:stylesheet version="1.0" exclude-result-prefixes="m"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:m="http://services.samples"
                xmlns:x="http://services.samples/xsd">
    <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

    <xsl:template match="m:getQuoteResponse">
        <x:CheckPriceResponse>
            <x:Code><xsl:value-of select="m:return/m:symbol"/></x:Code>
            <x:Price><xsl:value-of select="m:return/m:last"/></x:Price>
        </x:CheckPriceResponse>
    </xsl:template>
</xsl:stylesheet>
