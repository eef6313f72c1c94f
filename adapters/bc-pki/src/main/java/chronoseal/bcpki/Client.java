package chronoseal.bcpki;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.interfaces.ECPublicKey;
import java.util.Arrays;

import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.InnerAtResponse;
import org.bouncycastle.oer.its.etsi102941.InnerEcResponse;
import org.bouncycastle.oer.its.etsi102941.basetypes.PublicKeys;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097Certificate;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicVerificationKey;

/**
 * An ITS station at the PKI of any vendor. Its folder holds {@code canonical.pem}, the current
 * credential {@code ec.oer} with {@code ec.pem}, and {@code at/<HASHEDID8>.oer} with {@code .pem}
 * (and {@code -enc.pem}) for each ticket.
 */
final class Client {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path directory;
    private final Transport transport;

    /** How a request reaches an authority: {@link Http#post}, except in tests. */
    interface Transport {
        byte[] post(String url, byte[] request) throws IOException;
    }

    /** An authority answered with a response code other than ok. */
    static final class Denied extends Exception {
        private static final long serialVersionUID = 1L;

        Denied(String role, int code) {
            super(role + " answered response code " + code);
        }
    }

    Client(Path directory) {
        this(directory, Http::post);
    }

    Client(Path directory, Transport transport) {
        this.directory = directory;
        this.transport = transport;
    }

    /** Makes the canonical key, the one the EA must be told about; one that is there already stays, as the EA knows it. */
    void generateCanonicalKey(ItsCurve curve) throws IOException {
        if (Files.exists(directory.resolve("canonical.pem")) && Files.exists(directory.resolve("canonical.pub.pem"))) {
            return;
        }
        KeyPair pair = Keys.generate(curve);
        Keys.writePrivate(directory.resolve("canonical.pem"), pair.getPrivate());
        Keys.writePublic(directory.resolve("canonical.pub.pem"), (ECPublicKey) pair.getPublic());
    }

    /** First enrolment: the new key signs inside, the canonical key outside. */
    Cert enrol(byte[] canonicalId, PrivateKey canonicalKey, String url, Cert ea, ItsCurve curve) throws IOException, Refused, Denied {
        return requestCredential(canonicalId, Signing.Signer.self(canonicalKey), url, ea, curve);
    }

    /** Renewal with the current credential. */
    Cert renew(String url, Cert ea, ItsCurve curve) throws IOException, Refused, Denied {
        Cert current = credential();
        return requestCredential(current.hashedId8(), new Signing.Signer(credentialKey(), current), url, ea, curve);
    }

    private Cert requestCredential(byte[] itsId, Signing.Signer outer, String url, Cert ea, ItsCurve curve) throws IOException, Refused, Denied {
        KeyPair pair = Keys.generate(curve);
        var verificationKey = Keys.verificationKey((ECPublicKey) pair.getPublic());
        byte[] message = Requests.enrolment(itsId, pair, outer, Permissions.ENROLMENT_CREDENTIAL);
        Encryption.Sealed sealed = Encryption.sealTo(ea, message);
        var response = Management.expect(exchange(url, sealed, ea), EtsiTs102941DataContent.enrolmentResponse, InnerEcResponse::getInstance);
        checkRequestHash(response.getRequestHash(), sealed);
        checkCode("EA", response.getResponseCode().getValue().intValue());
        Cert credential = certificate(response.getCertificate(), ea, verificationKey);
        Keys.writePrivate(directory.resolve("ec.pem"), pair.getPrivate());
        Files.write(directory.resolve("ec.oer"), credential.bytes());
        return credential;
    }

    /** One ticket from {@code aa}, with a credential of {@code ea}, which may be another vendor's. */
    Cert authorize(String url, Cert aa, Cert ea, ItsCurve curve, boolean withEncryptionKey, Permissions permissions)
        throws IOException, Refused, Denied {
        byte[] hmacKey = new byte[32];
        RANDOM.nextBytes(hmacKey);
        KeyPair verification = Keys.generate(curve);
        KeyPair encryption = withEncryptionKey ? Keys.generate(ItsCurve.NISTP256) : null;
        var keys = new PublicKeys(Keys.verificationKey((ECPublicKey) verification.getPublic()),
            encryption == null ? null : Keys.encryptionKey((ECPublicKey) encryption.getPublic()));
        var shared = Requests.shared(ea, keys, hmacKey, permissions);
        // Only the EA learns which credential asks; the AA sees the ciphertext.
        var proof = Requests.encrypted(Requests.proof(shared, new Signing.Signer(credentialKey(), credential())), ea);
        byte[] message = Requests.authorization(keys, hmacKey, shared, proof, verification.getPrivate());
        Encryption.Sealed sealed = Encryption.sealTo(aa, message);
        var response = Management.expect(exchange(url, sealed, aa), EtsiTs102941DataContent.authorizationResponse, InnerAtResponse::getInstance);
        checkRequestHash(response.getRequestHash(), sealed);
        checkCode("AA", response.getResponseCode().getValue().intValue());
        Cert ticket = certificate(response.getCertificate(), aa, keys.getVerificationKey());
        if (ticket.toBeSigned().getAppPermissions() == null || !Permissions.of(ticket.toBeSigned().getAppPermissions()).isWithin(permissions)) {
            throw new Refused(Refused.Reason.DENIED_PERMISSIONS, "ticket has other permissions than asked for");
        }
        Path folder = directory.resolve("at");
        Keys.writePrivate(folder.resolve(ticket.id() + ".pem"), verification.getPrivate());
        if (encryption != null) {
            Keys.writePrivate(folder.resolve(ticket.id() + "-enc.pem"), encryption.getPrivate());
        }
        Files.write(folder.resolve(ticket.id() + ".oer"), ticket.bytes());
        return ticket;
    }

    private byte[] exchange(String url, Encryption.Sealed sealed, Cert authority) throws IOException, Refused {
        Signing.Message signed = Signing.Message.decode(Encryption.openUnder(sealed.key(), transport.post(url, sealed.message())));
        signed.checkSigner(authority, Permissions.SECURED_CERTIFICATE_REQUEST);
        return signed.payload();
    }

    private static void checkRequestHash(ASN1OctetString hash, Encryption.Sealed sealed) throws Refused {
        if (!Arrays.equals(hash.getOctets(), Management.requestHash(sealed.message()))) {
            throw new Refused(Refused.Reason.DENIED_REQUEST, "response is to another request");
        }
    }

    private static void checkCode(String role, int code) throws Denied {
        if (code != 0) {
            throw new Denied(role, code);
        }
    }

    private static Cert certificate(EtsiTs103097Certificate received, Cert issuer,
                                    PublicVerificationKey key) throws Refused {
        if (received == null) {
            throw new Refused(Refused.Reason.CANT_PARSE, "response code ok without certificate");
        }
        Cert certificate = Cert.of(received);
        certificate.checkIssuedBy(issuer);
        if (!Keys.sameKey(certificate.verificationKey(), key)) {
            throw new Refused(Refused.Reason.INVALID_KEYS, "certificate is for another key");
        }
        return certificate;
    }

    private Cert credential() throws IOException {
        return Cert.read(directory.resolve("ec.oer"));
    }

    private PrivateKey credentialKey() throws IOException {
        return Keys.readPrivate(directory.resolve("ec.pem"));
    }
}
