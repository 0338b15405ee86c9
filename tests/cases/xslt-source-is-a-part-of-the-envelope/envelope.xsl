<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:template match="/">
        <soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">
            <soapenv:Header><h xmlns="urn:h"/></soapenv:Header>
            <soapenv:Body><new><xsl:value-of select="name(*)"/></new></soapenv:Body>
        </soapenv:Envelope>
    </xsl:template>
</xsl:stylesheet>
