<?xml version="1.0" encoding="UTF-8"?>
<!-- The way back from identity-reversed.xsl. -->
<xsl:stylesheet version="1.0"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
                xmlns:m="http://services.samples/xsd">
    <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

    <xsl:template match="@*|node()">
        <xsl:copy>
            <xsl:apply-templates select="@*|node()"/>
        </xsl:copy>
    </xsl:template>

    <xsl:template match="m:skcotSyub">
        <m:buyStocks><xsl:apply-templates select="@*|node()"/></m:buyStocks>
    </xsl:template>

    <xsl:template match="redro">
        <order><xsl:apply-templates select="@*|node()"/></order>
    </xsl:template>

    <xsl:template match="lobmys">
        <symbol><xsl:apply-templates select="@*|node()"/></symbol>
    </xsl:template>

    <xsl:template match="DIreyub">
        <buyerID><xsl:apply-templates select="@*|node()"/></buyerID>
    </xsl:template>

    <xsl:template match="ecirp">
        <price><xsl:apply-templates select="@*|node()"/></price>
    </xsl:template>

    <xsl:template match="emulov">
        <volume><xsl:apply-templates select="@*|node()"/></volume>
    </xsl:template>
</xsl:stylesheet>
