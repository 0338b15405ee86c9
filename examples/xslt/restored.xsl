<?xml version="1.0" encoding="UTF-8"?>
<!-- The way back from reversed.xsl: names written backwards become ordinary ones again. -->
<xsl:stylesheet version="1.0" exclude-result-prefixes="m"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
                xmlns:m="http://services.samples/xsd">
    <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

    <xsl:template match="soapenv:Envelope">
        <soapenv:Envelope>
            <xsl:apply-templates/>
        </soapenv:Envelope>
    </xsl:template>

    <xsl:template match="soapenv:Body">
        <soapenv:Body>
            <xsl:apply-templates select="m:skcotSyub"/>
        </soapenv:Body>
    </xsl:template>

    <xsl:template match="m:skcotSyub">
        <m:buyStocks>
            <xsl:for-each select="redro">
                <order>
                    <xsl:apply-templates select="lobmys"/>
                    <xsl:apply-templates select="DIreyub"/>
                    <xsl:apply-templates select="ecirp"/>
                    <xsl:apply-templates select="emulov"/>
                </order>
            </xsl:for-each>
        </m:buyStocks>
    </xsl:template>

    <xsl:template match="lobmys">
        <symbol><xsl:value-of select="."/></symbol>
    </xsl:template>

    <xsl:template match="DIreyub">
        <buyerID><xsl:value-of select="."/></buyerID>
    </xsl:template>

    <xsl:template match="ecirp">
        <price><xsl:value-of select="."/></price>
    </xsl:template>

    <xsl:template match="emulov">
        <volume><xsl:value-of select="."/></volume>
    </xsl:template>
</xsl:stylesheet>
