<?xml version="1.0" encoding="UTF-8"?>
<!-- Each element of an order message gets its name written backwards: one template for each name. -->
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
            <xsl:apply-templates select="m:buyStocks"/>
        </soapenv:Body>
    </xsl:template>

    <xsl:template match="m:buyStocks">
        <m:skcotSyub>
            <xsl:for-each select="order">
                <redro>
                    <xsl:apply-templates select="symbol"/>
                    <xsl:apply-templates select="buyerID"/>
                    <xsl:apply-templates select="price"/>
                    <xsl:apply-templates select="volume"/>
                </redro>
            </xsl:for-each>
        </m:skcotSyub>
    </xsl:template>

    <xsl:template match="symbol">
        <lobmys><xsl:value-of select="."/></lobmys>
    </xsl:template>

    <xsl:template match="buyerID">
        <DIreyub><xsl:value-of select="."/></DIreyub>
    </xsl:template>

    <xsl:template match="price">
        <ecirp><xsl:value-of select="."/></ecirp>
    </xsl:template>

    <xsl:template match="volume">
        <emulov><xsl:value-of select="."/></emulov>
    </xsl:template>
</xsl:stylesheet>
