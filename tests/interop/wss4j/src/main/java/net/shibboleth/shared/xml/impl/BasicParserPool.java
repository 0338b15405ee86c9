package net.shibboleth.shared.xml.impl;

import net.shibboleth.shared.xml.ParserPool;

/** Stands for OpenSAML 5's class of this name: see {@link ParserPool}. */
public final class BasicParserPool implements ParserPool {
    /** As WSS4J calls it. */
    public void setMaxPoolSize(int size) {}

    /** As WSS4J calls it. */
    public void initialize() {}
}
