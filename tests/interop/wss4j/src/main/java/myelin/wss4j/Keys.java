package myelin.wss4j;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.wss4j.common.crypto.Crypto;
import org.apache.wss4j.common.crypto.Merlin;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.CRLReason;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.jcajce.JcaX509CRLConverter;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v2CRLBuilder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * The keys of the tests: made when the program starts, gone when it ends.
 *
 * <p>A root {@code ca} has signed everybody but {@code carol}, whom {@code intermediate} has signed, and
 * {@code mallory}, who has signed herself. README.md lists the files.
 */
final class Keys {
    /** Of every store and every key in it. */
    static final String PASSWORD = "myelin-test";

    private record Person(String name, String kind, String issuer) {}

    private static final List<Person> PEOPLE = List.of(
            new Person("ca", "RSA-2048", "ca"),
            new Person("intermediate", "RSA-2048", "ca"),
            new Person("alice", "RSA-2048", "ca"),
            new Person("bob", "RSA-2048", "ca"),
            new Person("carol", "RSA-2048", "intermediate"),
            new Person("issuer", "RSA-2048", "ca"),
            new Person("alice-1024", "RSA-1024", "ca"),
            new Person("bob-1024", "RSA-1024", "ca"),
            new Person("alice-p256", "secp256r1", "ca"),
            new Person("bob-p256", "secp256r1", "ca"),
            new Person("alice-p384", "secp384r1", "ca"),
            new Person("alice-p521", "secp521r1", "ca"),
            new Person("expired", "secp256r1", "ca"),
            new Person("revoked", "secp256r1", "ca"),
            new Person("mallory", "RSA-2048", "mallory"));

    /** Whose certificates are good only for showing that they are not. */
    private static final Set<String> STRANGERS = Set.of("carol", "expired", "revoked", "mallory");

    private record Identity(PrivateKey key, Certificate[] chain) {
        X509Certificate certificate() {
            return (X509Certificate) chain[0];
        }
    }

    private final Path folder;
    private final Map<String, Identity> identities = new LinkedHashMap<>();

    private Keys(Path folder) {
        this.folder = folder;
    }

    Path folder() {
        return folder;
    }

    /** Makes everything and writes it to {@code folder}. */
    static Keys make(Path folder) throws Exception {
        // The password is known to everybody; what guessing it would cost is not worth seconds at each start.
        System.setProperty("jdk.jceks.iterationCount", "10000");
        System.setProperty("keystore.pkcs12.keyPbeIterationCount", "1000");
        System.setProperty("keystore.pkcs12.certPbeIterationCount", "1000");
        System.setProperty("keystore.pkcs12.macIterationCount", "1000");
        Keys keys = new Keys(folder);
        long serial = 1;
        for (Person person : PEOPLE) {
            keys.identities.put(person.name(), keys.identity(person, serial++));
        }
        keys.write();
        return keys;
    }

    private Identity identity(Person person, long serial) throws Exception {
        KeyPair pair = pair(person.kind());
        boolean own = person.issuer().equals(person.name());
        Identity issuer = identities.get(person.issuer());
        PrivateKey signer = own ? pair.getPrivate() : issuer.key();
        X500Name subject = name(person.name());
        boolean authority = person.name().equals("ca") || person.name().equals("intermediate");
        Instant start = Instant.now().minus(Duration.ofDays(30));
        Instant end = start.plus(Duration.ofDays(person.name().equals("expired") ? 10 : 3650));
        var builder = new JcaX509v3CertificateBuilder(
                own ? subject : name(person.issuer()),
                BigInteger.valueOf(0x1000 + serial), Date.from(start), Date.from(end), subject, pair.getPublic());
        var extensions = new JcaX509ExtensionUtils();
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(authority));
        builder.addExtension(
                Extension.subjectKeyIdentifier, false, extensions.createSubjectKeyIdentifier(pair.getPublic()));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(
                authority
                        ? KeyUsage.keyCertSign | KeyUsage.cRLSign
                        : KeyUsage.digitalSignature | KeyUsage.keyEncipherment | KeyUsage.keyAgreement));
        if (!own) {
            builder.addExtension(
                    Extension.authorityKeyIdentifier, false,
                    extensions.createAuthorityKeyIdentifier(issuer.certificate()));
        }
        var certificate = new JcaX509CertificateConverter()
                .getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withRSA").build(signer)));
        Certificate[] chain = person.issuer().equals("intermediate")
                ? new Certificate[] {certificate, issuer.certificate()}
                : new Certificate[] {certificate};
        return new Identity(pair.getPrivate(), chain);
    }

    private static KeyPair pair(String kind) throws GeneralSecurityException {
        if (kind.startsWith("RSA-")) {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(Integer.parseInt(kind.substring(4)));
            return generator.generateKeyPair();
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(kind));
        return generator.generateKeyPair();
    }

    private static X500Name name(String person) {
        return new X500Name("CN=" + person + ",O=Myelin,C=IE");
    }

    private void write() throws Exception {
        for (String type : List.of("jks", "jceks", "p12")) {
            KeyStore all = empty(type);
            KeyStore people = empty(type);
            KeyStore receivers = empty(type);
            for (var entry : identities.entrySet()) {
                String name = entry.getKey();
                Identity identity = entry.getValue();
                all.setKeyEntry(name, identity.key(), PASSWORD.toCharArray(), identity.chain());
                if (!name.equals("mallory")) {
                    people.setCertificateEntry(name, identity.certificate());
                }
                if (!STRANGERS.contains(name)) {
                    receivers.setKeyEntry(name, identity.key(), PASSWORD.toCharArray(), identity.chain());
                }
                KeyStore one = empty(type);
                one.setKeyEntry(name, identity.key(), PASSWORD.toCharArray(), identity.chain());
                save(one, name + "." + type);
            }
            save(all, "all." + type);
            save(people, "people." + type);
            save(receivers, "receivers." + type);
            KeyStore trust = empty(type);
            trust.setCertificateEntry("ca", identities.get("ca").certificate());
            save(trust, "trust." + type);
        }
        for (var entry : identities.entrySet()) {
            StringBuilder chain = new StringBuilder();
            for (Certificate certificate : entry.getValue().chain()) {
                chain.append(pem("CERTIFICATE", certificate.getEncoded()));
            }
            Files.writeString(folder.resolve(entry.getKey() + ".pem"), chain);
            Key key = entry.getValue().key();
            Files.writeString(folder.resolve(entry.getKey() + ".key.pem"), pem("PRIVATE KEY", key.getEncoded()));
        }
        Files.writeString(folder.resolve("ca.crl.pem"), pem("X509 CRL", revocations()));
    }

    private byte[] revocations() throws Exception {
        Identity ca = identities.get("ca");
        Date now = Date.from(Instant.now().minus(Duration.ofHours(1)));
        var builder = new JcaX509v2CRLBuilder(ca.certificate().getSubjectX500Principal(), now);
        builder.setNextUpdate(Date.from(Instant.now().plus(Duration.ofDays(30))));
        builder.addCRLEntry(identities.get("revoked").certificate().getSerialNumber(), now, CRLReason.keyCompromise);
        var signed = builder.build(new JcaContentSignerBuilder("SHA256withRSA").build(ca.key()));
        return new JcaX509CRLConverter().getCRL(signed).getEncoded();
    }

    private static KeyStore empty(String type) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(type.equals("p12") ? "PKCS12" : type.toUpperCase());
        store.load(null, null);
        return store;
    }

    private void save(KeyStore store, String file) throws GeneralSecurityException, IOException {
        try (OutputStream output = Files.newOutputStream(folder.resolve(file))) {
            store.store(output, PASSWORD.toCharArray());
        }
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    /**
     * A key store as WSS4J wants it.
     *
     * @param file a name in {@link #folder}, or an absolute path; its ending says the type
     * @param revocationList a file in PEM, or null
     */
    Crypto crypto(String file, String password, String revocationList) throws Exception {
        Merlin crypto = new Merlin();
        KeyStore store = empty(file.substring(file.lastIndexOf('.') + 1));
        try (InputStream input = Files.newInputStream(folder.resolve(file))) {
            store.load(input, password.toCharArray());
        }
        crypto.setKeyStore(store);
        if (revocationList != null) {
            try (InputStream input = Files.newInputStream(folder.resolve(revocationList))) {
                var lists = CertificateFactory.getInstance("X.509").generateCRLs(input);
                crypto.setCRLCertStore(CertStore.getInstance("Collection", new CollectionCertStoreParameters(lists)));
            }
        }
        return crypto;
    }

    /** The certificate of somebody. */
    X509Certificate certificate(String name) {
        Identity identity = identities.get(name);
        if (identity == null) {
            throw new IllegalArgumentException("nobody is called " + name);
        }
        return identity.certificate();
    }
}
