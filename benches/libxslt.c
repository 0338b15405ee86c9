/* libxslt's side of `cargo xtask bench xslt`: does what it is told on standard input, and says what it took.
 *
 * A line is `LIBRARY STYLESHEET MESSAGE RESULT COUNT`: three files, and how often to parse the message, transform it and
 * write the result to memory. The answer is `NANOSECONDS`, the CPU time of this thread for all repetitions, or a line
 * that begins with `!`; what the last repetition wrote is then in the file RESULT. */
#include <libxml/parser.h>
#include <libxslt/transform.h>
#include <libxslt/xsltutils.h>

#include "common.h"

static void save(const char *path, const xmlChar *text, int length) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, length, file) != (size_t)length) fail("the result cannot be written");
    fclose(file);
}

/* Compiled once; parser and stylesheet share their dictionary, which is the fast way. */
static xsltStylesheetPtr stylesheet;
static xmlParserCtxtPtr parser;

static void compile(const char *path) {
    xmlFreeParserCtxt(parser);
    xsltFreeStylesheet(stylesheet);
    stylesheet = xsltParseStylesheetFile(BAD_CAST path);
    if (!stylesheet) fail("the stylesheet does not compile");
    parser = xmlNewParserCtxt();
    xmlDictFree(parser->dict);
    parser->dict = stylesheet->dict;
    xmlDictReference(parser->dict);
}

int main(void) {
    char style[4096], message[4096], result[4096];
    long repetitions;
    printf("libxslt %s, libxml2 %s\n", xsltEngineVersion, xmlParserVersion);
    fflush(stdout);
    while (scanf("%*s %4095s %4095s %4095s %ld", style, message, result, &repetitions) == 4) {
        int length, written_length = 0;
        xmlChar *written = NULL;
        char *text = load(message, &length);
        compile(style);
        long long start = now();
        for (long turn = 0; turn < repetitions; turn++) {
            xmlFree(written);
            xmlDocPtr source = xmlCtxtReadMemory(parser, text, length, NULL, NULL, XML_PARSE_NONET | XML_PARSE_COMPACT);
            if (!source) fail("not well-formed");
            xmlDocPtr transformed = xsltApplyStylesheet(stylesheet, source, NULL);
            if (!transformed) fail("the transformation fails");
            if (xsltSaveResultToString(&written, &written_length, transformed, stylesheet)) fail("no result");
            xmlFreeDoc(transformed);
            xmlFreeDoc(source);
        }
        long long end = now();
        save(result, written, written_length);
        xmlFree(written);
        free(text);
        printf("%lld\n", end - start);
        fflush(stdout);
    }
    return 0;
}
