/* xmlsec1's side of the benchmark of WS-Security: does what it is told on standard input, and says what it took.
 *
 * The one argument is the folder with the keys that all sides use: NAME.pem and NAME.key.pem.
 * A line is `LIBRARY PROFILE MESSAGE RESULT COUNT`: `modern`, `legacy` or `ecdsa`, two files, and how many exchanges.
 * The answer is `NANOSECONDS`, the CPU time of this thread for all exchanges, or a line that begins with `!`; the last
 * response is then in the file RESULT. An exchange is what a gateway does: alice's request is parsed, decrypted,
 * verified and written; the backend's answer, the same plain message, is parsed, timestamped, signed, encrypted for
 * alice and written. The signer's certificate travels in the message and is checked against the root, as in a security
 * header; keys are read once, and the one to decrypt with is given; making the request is not timed. */
#include <libxml/parser.h>
#include <string.h>
#include <xmlsec/crypto.h>
#include <xmlsec/xmldsig.h>
#include <xmlsec/xmlenc.h>
#include <xmlsec/xmlsec.h>
#include <xmlsec/xmltree.h>

#include "common.h"

#define SOAP BAD_CAST "http://schemas.xmlsoap.org/soap/envelope/"
#define WSU "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
#define WSSE "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
#define DSIG "http://www.w3.org/2000/09/xmldsig#"
#define DSIG_MORE "http://www.w3.org/2001/04/xmldsig-more#"
#define ENC "http://www.w3.org/2001/04/xmlenc#"
#define C14N "http://www.w3.org/2001/10/xml-exc-c14n#"

typedef struct {
    const char *name, *ending, *signature, *digest, *transport, *cipher;
} Profile;

static const Profile PROFILES[] = {
    {"modern", "", DSIG_MORE "rsa-sha256", ENC "sha256", ENC "rsa-oaep-mgf1p",
     "http://www.w3.org/2009/xmlenc11#aes128-gcm"},
    {"legacy", "-1024", DSIG "rsa-sha1", DSIG "sha1", ENC "rsa-1_5", ENC "aes128-cbc"},
    {"ecdsa", "-p256", DSIG_MORE "ecdsa-sha256", ENC "sha256", NULL, NULL},
};

/* What one side needs to secure a message and to read the other's. */
typedef struct {
    xmlSecKeyPtr own;
    xmlSecKeysMngrPtr decrypting, encrypting, trusting;
} Side;

static const char *path(const char *folder, const char *name, const char *ending) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    return path;
}

static xmlSecKeyPtr key_of(const char *file, xmlSecKeyDataFormat format) {
    xmlSecKeyPtr key = xmlSecCryptoAppKeyLoad(file, format, NULL, NULL, NULL);
    if (!key) fail("a key cannot be read");
    return key;
}

static xmlSecKeysMngrPtr manager(xmlSecKeyPtr key) {
    xmlSecKeysMngrPtr manager = xmlSecKeysMngrCreate();
    if (!manager || xmlSecCryptoAppDefaultKeysMngrInit(manager)) fail("no manager of keys");
    if (key && xmlSecCryptoAppDefaultKeysMngrAdoptKey(manager, key)) fail("a key is not taken");
    return manager;
}

static Side side(const char *folder, const Profile *profile, const char *own_name, const char *peer_name) {
    char own[64], peer[64];
    snprintf(own, sizeof own, "%s%s", own_name, profile->ending);
    snprintf(peer, sizeof peer, "%s%s", peer_name, profile->ending);
    Side side;
    side.own = key_of(path(folder, own, ".key.pem"), xmlSecKeyDataFormatPem);
    side.decrypting = manager(xmlSecKeyDuplicate(side.own));
    if (xmlSecCryptoAppKeyCertLoad(side.own, path(folder, own, ".pem"), xmlSecKeyDataFormatPem))
        fail("a certificate cannot be read");
    side.encrypting = manager(key_of(path(folder, peer, ".pem"), xmlSecKeyDataFormatCertPem));
    side.trusting = manager(NULL);
    if (xmlSecCryptoAppKeysMngrCertLoad(side.trusting, path(folder, "ca", ".pem"), xmlSecKeyDataFormatPem,
                                        xmlSecKeyDataTypeTrusted))
        fail("the root cannot be read");
    return side;
}

static xmlNodePtr found(xmlDocPtr document, const char *name, const char *namespace) {
    xmlNodePtr node = xmlSecFindNode(xmlDocGetRootElement(document), BAD_CAST name, BAD_CAST namespace);
    if (!node) fail("an element is missing");
    return node;
}

static void register_id(xmlNodePtr node) {
    xmlAttrPtr id = xmlHasNsProp(node, BAD_CAST "Id", BAD_CAST WSU);
    if (!id) fail("an Id is missing");
    xmlAddID(NULL, node->doc, id->children->content, id);
}

static xmlDocPtr parsed(const xmlChar *text, int length) {
    xmlDocPtr document = xmlReadMemory((const char *)text, length, NULL, NULL, XML_PARSE_NONET | XML_PARSE_COMPACT);
    if (!document) fail("not well-formed");
    return document;
}

/* A header with everything but the values, and the element that an encrypted content goes into; made once a profile. */
static xmlDocPtr header_template(const Profile *profile) {
    static char text[8192];
    const char *reference =
        "<ds:Reference URI='#%s'><ds:Transforms><ds:Transform Algorithm='" C14N "'/></ds:Transforms>"
        "<ds:DigestMethod Algorithm='%s'/><ds:DigestValue/></ds:Reference>";
    char references[2048];
    int used = snprintf(references, sizeof references, reference, "TS", profile->digest);
    snprintf(references + used, sizeof references - used, reference, "body", profile->digest);
    snprintf(text, sizeof text,
             "<s:Header xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'>"
             "<wsse:Security xmlns:wsse='" WSSE "' xmlns:wsu='" WSU "' s:mustUnderstand='1'>"
             "<wsu:Timestamp wsu:Id='TS'><wsu:Created/><wsu:Expires/></wsu:Timestamp>"
             "<ds:Signature xmlns:ds='" DSIG "'><ds:SignedInfo><ds:CanonicalizationMethod Algorithm='" C14N "'/>"
             "<ds:SignatureMethod Algorithm='%s'/>%s</ds:SignedInfo><ds:SignatureValue/>"
             "<ds:KeyInfo><ds:X509Data><ds:X509Certificate/></ds:X509Data></ds:KeyInfo></ds:Signature>"
             "</wsse:Security></s:Header>",
             profile->signature, references);
    return parsed(BAD_CAST text, (int)strlen(text));
}

static xmlDocPtr encryption_template(const Profile *profile) {
    static char text[4096];
    if (!profile->cipher) return NULL;
    snprintf(text, sizeof text,
             "<xenc:EncryptedData xmlns:xenc='" ENC "' Type='" ENC "Content'>"
             "<xenc:EncryptionMethod Algorithm='%s'/><ds:KeyInfo xmlns:ds='" DSIG "'><xenc:EncryptedKey>"
             "<xenc:EncryptionMethod Algorithm='%s'/><xenc:CipherData><xenc:CipherValue/></xenc:CipherData>"
             "</xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue/></xenc:CipherData>"
             "</xenc:EncryptedData>",
             profile->cipher, profile->transport);
    return parsed(BAD_CAST text, (int)strlen(text));
}

static void set_time(xmlNodePtr timestamp, const char *name, time_t seconds) {
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
    xmlNodeSetContent(xmlSecFindChild(timestamp, BAD_CAST name, BAD_CAST WSU), BAD_CAST text);
}

static void sign(xmlDocPtr document, xmlDocPtr template, xmlSecKeyPtr key) {
    xmlNodePtr envelope = xmlDocGetRootElement(document);
    xmlNodePtr body = found(document, "Body", (const char *)SOAP);
    xmlNodePtr header = xmlDocCopyNode(xmlDocGetRootElement(template), document, 1);
    xmlAddPrevSibling(envelope->children, header);
    xmlNodePtr timestamp = found(document, "Timestamp", WSU);
    set_time(timestamp, "Created", time(NULL));
    set_time(timestamp, "Expires", time(NULL) + 300);
    xmlNewNsProp(body, xmlNewNs(body, BAD_CAST WSU, BAD_CAST "wsu"), BAD_CAST "Id", BAD_CAST "body");
    register_id(timestamp);
    register_id(body);
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(NULL);
    context->signKey = xmlSecKeyDuplicate(key);
    if (xmlSecDSigCtxSign(context, found(document, "Signature", DSIG))) fail("it cannot be signed");
    xmlSecDSigCtxDestroy(context);
}

static void encrypt(xmlDocPtr document, xmlDocPtr template, xmlSecKeysMngrPtr keys) {
    xmlNodePtr body = found(document, "Body", (const char *)SOAP);
    xmlNodePtr data = xmlDocCopyNode(xmlDocGetRootElement(template), document, 1);
    xmlSecEncCtxPtr context = xmlSecEncCtxCreate(keys);
    context->encKey = xmlSecKeyGenerate(xmlSecKeyDataAesId, 128, xmlSecKeyDataTypeSession);
    if (!context->encKey || xmlSecEncCtxXmlEncrypt(context, data, body)) fail("it cannot be encrypted");
    xmlSecEncCtxDestroy(context);
}

static void decrypt(xmlDocPtr document, xmlSecKeysMngrPtr keys) {
    xmlSecEncCtxPtr context = xmlSecEncCtxCreate(keys);
    if (xmlSecEncCtxDecrypt(context, found(document, "EncryptedData", ENC))) fail("it cannot be decrypted");
    xmlSecEncCtxDestroy(context);
}

static void verify(xmlDocPtr document, xmlSecKeysMngrPtr trusting) {
    register_id(found(document, "Timestamp", WSU));
    register_id(found(document, "Body", (const char *)SOAP));
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(trusting);
    if (xmlSecDSigCtxVerify(context, found(document, "Signature", DSIG))) fail("it cannot be verified");
    if (context->status != xmlSecDSigStatusSucceeded) fail("the signature is wrong");
    xmlSecDSigCtxDestroy(context);
}

typedef struct {
    const Profile *profile;
    xmlDocPtr header, encryption;
    Side client, server;
} Gateway;

static xmlChar *secured(const Gateway *gateway, const Side *side, const xmlChar *plain, int length,
                        int *written_length) {
    xmlChar *written = NULL;
    xmlDocPtr document = parsed(plain, length);
    sign(document, gateway->header, side->own);
    if (gateway->encryption) encrypt(document, gateway->encryption, side->encrypting);
    xmlDocDumpMemory(document, &written, written_length);
    xmlFreeDoc(document);
    return written;
}

static xmlChar *verified(const Gateway *gateway, const xmlChar *request, int length, int *written_length) {
    xmlChar *written = NULL;
    xmlDocPtr document = parsed(request, length);
    if (gateway->encryption) decrypt(document, gateway->server.decrypting);
    verify(document, gateway->server.trusting);
    xmlDocDumpMemory(document, &written, written_length);
    xmlFreeDoc(document);
    return written;
}

/* Whether the payload of `plain` is in `message`, byte for byte: libxml2 writes it as it stood. */
static int holds_payload(const xmlChar *message, const xmlChar *plain) {
    const char *start = strstr((const char *)plain, "<m:buyStocks");
    const char *end = start ? strstr(start, "</m:buyStocks>") : NULL;
    const char *there = strstr((const char *)message, "<m:buyStocks");
    return end && there && !strncmp(start, there, end - start);
}

static Gateway *gateway(const char *folder, const char *name) {
    static Gateway gateways[sizeof PROFILES / sizeof *PROFILES];
    for (size_t i = 0; i < sizeof PROFILES / sizeof *PROFILES; i++) {
        Gateway *gateway = &gateways[i];
        if (strcmp(PROFILES[i].name, name)) continue;
        if (!gateway->profile) {
            gateway->profile = &PROFILES[i];
            gateway->header = header_template(&PROFILES[i]);
            gateway->encryption = encryption_template(&PROFILES[i]);
            gateway->client = side(folder, &PROFILES[i], "alice", "bob");
            gateway->server = side(folder, &PROFILES[i], "bob", "alice");
        }
        return gateway;
    }
    fail("no such profile");
    return NULL;
}

int main(int count, char **arguments) {
    char profile[16], message[4096], result[4096];
    long repetitions;
    xmlInitParser();
    if (count != 2) fail("one argument is wanted: the folder with the keys");
    if (xmlSecInit() < 0 || xmlSecCryptoAppInit(NULL) < 0 || xmlSecCryptoInit() < 0) fail("xmlsec does not start");
    printf("xmlsec %s, libxml2 %s\n", XMLSEC_VERSION, xmlParserVersion);
    fflush(stdout);
    while (scanf("%*s %15s %4095s %4095s %ld", profile, message, result, &repetitions) == 4) {
        int plain_length, request_length, length = 0;
        xmlChar *plain = BAD_CAST load(message, &plain_length), *response = NULL;
        Gateway *ready = gateway(arguments[1], profile);
        xmlChar *request = secured(ready, &ready->client, plain, plain_length, &request_length);
        xmlChar *read = verified(ready, request, request_length, &length);
        if (!holds_payload(read, plain)) fail("what was verified is not what was sent");
        xmlFree(read);
        long long start = now();
        for (long exchange = 0; exchange < repetitions; exchange++) {
            xmlFree(response);
            xmlFree(verified(ready, request, request_length, &length));
            response = secured(ready, &ready->server, plain, plain_length, &length);
        }
        long long end = now();
        FILE *file = fopen(result, "wb");
        if (!file || fwrite(response, 1, length, file) != (size_t)length) fail("the result cannot be written");
        fclose(file);
        xmlFree(response);
        xmlFree(request);
        free(plain);
        printf("%lld\n", end - start);
        fflush(stdout);
    }
    return 0;
}
