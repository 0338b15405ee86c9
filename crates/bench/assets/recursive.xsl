<?xml version="1.0" encoding="UTF-8"?>
<!-- Every name but SOAP's own is written backwards, whatever it is, character by character: heavy work for an engine.
     Applied twice it gives the first message again. -->
<xsl:stylesheet version="1.0"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">
    <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

    <xsl:template match="soapenv:*">
        <xsl:copy>
            <xsl:copy-of select="@*"/>
            <xsl:apply-templates/>
        </xsl:copy>
    </xsl:template>

    <xsl:template match="*">
        <xsl:variable name="reversed">
            <xsl:call-template name="reverse">
                <xsl:with-param name="text" select="local-name()"/>
            </xsl:call-template>
        </xsl:variable>
        <xsl:variable name="prefix" select="substring(name(), 1, string-length(name()) - string-length(local-name()))"/>
        <xsl:element name="{$prefix}{$reversed}" namespace="{namespace-uri()}">
            <xsl:copy-of select="@*"/>
            <xsl:apply-templates/>
        </xsl:element>
    </xsl:template>

    <xsl:template name="reverse">
        <xsl:param name="text"/>
        <xsl:if test="$text != ''">
            <xsl:call-template name="reverse">
                <xsl:with-param name="text" select="substring($text, 2)"/>
            </xsl:call-template>
            <xsl:value-of select="substring($text, 1, 1)"/>
        </xsl:if>
    </xsl:template>
</xsl:stylesheet>
