<?xml version="1.0" encoding="UTF-8"?>
<!-- Everything stays as it is, save for six names, which are written backwards. -->
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

    <xsl:template match="m:buyStocks">
        <m:skcotSyub><xsl:apply-templates select="@*|node()"/></m:skcotSyub>
    </xsl:template>

    <xsl:template match="order">
        <redro><xsl:apply-templates select="@*|node()"/></redro>
    </xsl:template>

    <xsl:template match="symbol">
        <lobmys><xsl:apply-templates select="@*|node()"/></lobmys>
    </xsl:template>

    <xsl:template match="buyerID">
        <DIreyub><xsl:apply-templates select="@*|node()"/></DIreyub>
    </xsl:template>

    <xsl:template match="price">
        <ecirp><xsl:apply-templates select="@*|node()"/></ecirp>
    </xsl:template>

    <xsl:template match="volume">
        <emulov><xsl:apply-templates select="@*|node()"/></emulov>
    </xsl:template>
</xsl:stylesheet>
