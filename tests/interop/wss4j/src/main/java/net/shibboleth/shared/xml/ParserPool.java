package net.shibboleth.shared.xml;

/**
 * Stands for OpenSAML 5's interface of this name, so that WSS4J's OpenSAMLUtil links against OpenSAML 4.
 *
 * <p>WSS4J hands a pool to the registry, fails there, says so in its log and goes on; nothing we ask of it parses with one.
 */
public interface ParserPool {}
