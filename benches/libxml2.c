/* libxml2's side of `cargo xtask bench xml`: does what it is told on standard input, and says what it took.
 *
 * A line is `LIBRARY TASK PATH COUNT`; the answer is `NANOSECONDS CHECK`, the CPU time of this thread for all repetitions and a
 * number that every library has to agree on, or a line that begins with `!`. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlreader.h>
#include <libxml/xpath.h>
#include <string.h>

#include "common.h"

static const int OPTIONS = XML_PARSE_NONET | XML_PARSE_COMPACT | XML_PARSE_HUGE;

static char *text;
static int length;
static xmlXPathCompExprPtr first_is_ibm;

static xmlDocPtr parse(void) {
    xmlDocPtr document = xmlReadMemory(text, length, NULL, NULL, OPTIONS);
    if (!document) fail("not well-formed");
    return document;
}

static long elements_below(xmlNodePtr node) {
    long count = 0;
    for (xmlNodePtr child = node->children; child; child = child->next)
        if (child->type == XML_ELEMENT_NODE) count += 1 + elements_below(child);
    return count;
}

static int condition(xmlDocPtr document) {
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    int holds = xmlXPathCompiledEvalToBoolean(first_is_ibm, context);
    xmlXPathFreeContext(context);
    return holds;
}

static xmlTextReaderPtr reader;

static void open_reader(void) {
    int failed;
    if (!reader) {
        reader = xmlReaderForMemory(text, length, NULL, NULL, OPTIONS);
        failed = !reader;
    } else {
        failed = xmlReaderNewMemory(reader, text, length, NULL, NULL, OPTIONS);
    }
    if (failed) fail("no reader");
}

static long events(void) {
    long elements = 0;
    int step;
    open_reader();
    while ((step = xmlTextReaderRead(reader)) == 1)
        elements += xmlTextReaderNodeType(reader) == XML_READER_TYPE_ELEMENT;
    if (step < 0) fail("not well-formed");
    return elements;
}

/* Whether an order's symbol has this text: of the first order only, or of any. */
static long symbol_is(const char *wanted, int only_first) {
    int step, inside = 0;
    open_reader();
    while ((step = xmlTextReaderRead(reader)) == 1) {
        int type = xmlTextReaderNodeType(reader);
        if (type == XML_READER_TYPE_ELEMENT) {
            inside = xmlStrEqual(xmlTextReaderConstLocalName(reader), BAD_CAST "symbol");
        } else if (type == XML_READER_TYPE_TEXT && inside) {
            int same = xmlStrEqual(xmlTextReaderConstValue(reader), BAD_CAST wanted);
            if (same || only_first) return same;
        } else {
            inside = 0;
        }
    }
    if (step < 0) fail("not well-formed");
    return 0;
}

int main(void) {
    char task[32], path[4096];
    long repetitions;
    first_is_ibm = xmlXPathCompile(BAD_CAST "//order[1]/symbol = 'IBM'");
    printf("libxml2 %s\n", xmlParserVersion);
    fflush(stdout);
    while (scanf("%*s %31s %4095s %ld", task, path, &repetitions) == 3) {
        long check = 0;
        free(text);
        text = load(path, &length);
        xmlDocPtr document = parse();
        xmlChar *written = NULL;
        int written_length;
        long long start = now();
        for (long turn = 0; turn < repetitions; turn++) {
            if (!strcmp(task, "events")) {
                check = events();
            } else if (!strcmp(task, "first")) {
                check = symbol_is("IBM", 1);
            } else if (!strcmp(task, "scan")) {
                check = symbol_is("NOBODY", 0);
            } else if (!strcmp(task, "tree")) {
                xmlFreeDoc(document);
                document = parse();
            } else if (!strcmp(task, "tree-xpath")) {
                xmlFreeDoc(document);
                document = parse();
                check = condition(document);
            } else if (!strcmp(task, "xpath")) {
                check = condition(document);
            } else if (!strncmp(task, "write", 5)) {
                /* A tree is all it keeps, so that it writes all anew, changed or not. */
                xmlFree(written);
                xmlDocDumpMemory(document, &written, &written_length);
            } else {
                fail("unknown task");
            }
        }
        long long end = now();
        if (!strcmp(task, "tree")) check = elements_below((xmlNodePtr)document);
        if (written)
            for (int index = 0; index < written_length; index++) check += written[index] == '<';
        xmlFree(written);
        xmlFreeDoc(document);
        printf("%lld %ld\n", end - start, check);
        fflush(stdout);
    }
    return 0;
}
