package chronoseal.bcpki;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.interfaces.ECPublicKey;
import java.util.HexFormat;

import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.InnerAtResponse;
import org.bouncycastle.oer.its.etsi102941.InnerEcResponse;
import org.bouncycastle.oer.its.etsi102941.basetypes.PublicKeys;
import org.bouncycastle.oer.its.ieee1609dot2.EndEntityType;
import org.bouncycastle.oer.its.template.ieee1609dot2.IEEE1609dot2;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** EA and AA without a network, mostly what they must refuse. */
class AuthorityTest {
    private static final byte[] ID = {1, 2, 3, 4};
    private static final Permissions CAM = Permissions.parse("36:01ffff");

    @TempDir
    Path directory;
    private final KeyPair canonical = Keys.generate(ItsCurve.NISTP256);
    private Identity root;
    private Identity ea;
    private Identity aa;
    private EnrolmentAuthority enrolment;
    private AuthorizationAuthority authorization;
    private Client client;

    @BeforeEach
    void twoAuthoritiesAndAStation() throws Exception {
        root = Identity.root(directory, "test", ItsCurve.BRAINPOOLP384R1);
        ea = Identity.enrolmentAuthority(directory, "test", ItsCurve.NISTP256, root);
        aa = Identity.authorizationAuthority(directory, "test", ItsCurve.BRAINPOOLP256R1, root);
        Stations stations = new Stations(directory);
        TrustStore trust = new TrustStore(directory);
        enrolment = new EnrolmentAuthority(ea, aa.certificate(), stations, trust);
        authorization = new AuthorizationAuthority(aa, enrolment, trust);
        stations.register(ID, (ECPublicKey) canonical.getPublic(), CAM);
        client = new Client(directory.resolve("car"), this::post);
    }

    private byte[] post(String url, byte[] request) throws IOException {
        try {
            return url.equals("ea") ? enrolment.handle(request) : authorization.handle(request);
        } catch (Refused e) {
            throw new IOException(e);
        }
    }

    private Cert enrol() throws Exception {
        return client.enrol(ID, canonical.getPrivate(), "ea", ea.certificate(), ItsCurve.NISTP256);
    }

    private InnerEcResponse askEa(byte[] plaintext) throws Exception {
        Encryption.Sealed sealed = Encryption.sealTo(ea.certificate(), plaintext);
        Signing.Message answer = Signing.Message.decode(Encryption.openUnder(sealed.key(), enrolment.handle(sealed.message())));
        answer.checkSigner(ea.certificate(), Permissions.SECURED_CERTIFICATE_REQUEST);
        return Management.expect(answer.payload(), EtsiTs102941DataContent.enrolmentResponse, InnerEcResponse::getInstance);
    }

    private int enrolmentCode(byte[] plaintext) throws Exception {
        InnerEcResponse response = askEa(plaintext);
        assertEquals(response.getResponseCode().getValue().intValue() == 0, response.getCertificate() != null);
        return response.getResponseCode().getValue().intValue();
    }

    private int authorizationCode(byte[] plaintext) throws Exception {
        Encryption.Sealed sealed = Encryption.sealTo(aa.certificate(), plaintext);
        Signing.Message answer = Signing.Message.decode(Encryption.openUnder(sealed.key(), authorization.handle(sealed.message())));
        var response = Management.expect(answer.payload(), EtsiTs102941DataContent.authorizationResponse, InnerAtResponse::getInstance);
        assertEquals(response.getResponseCode().getValue().intValue() == 0, response.getCertificate() != null);
        return response.getResponseCode().getValue().intValue();
    }

    @Test
    void chainIsVerifiableAcrossThreeCurves() throws Exception {
        root.certificate().checkIssuedBy(root.certificate());
        ea.certificate().checkIssuedBy(root.certificate());
        aa.certificate().checkIssuedBy(root.certificate());
        assertThrows(Refused.class, () -> aa.certificate().checkIssuedBy(ea.certificate()));
        assertNull(root.certificate().toBeSigned().getEncryptionKey());
        assertNotNull(ea.certificate().toBeSigned().getEncryptionKey());
    }

    @Test
    void firstEnrolmentMustBeSignedByTheCanonicalKey() throws Exception {
        KeyPair pair = Keys.generate(ItsCurve.NISTP256);
        assertEquals(0, enrolmentCode(Requests.enrolment(ID, pair, Signing.Signer.self(canonical.getPrivate()), Permissions.ENROLMENT_CREDENTIAL)));
        assertEquals(7, enrolmentCode(Requests.enrolment(ID, pair, Signing.Signer.self(pair.getPrivate()), Permissions.ENROLMENT_CREDENTIAL)));
    }

    @Test
    void innerSignatureMustBeByTheRequestedKey() throws Exception {
        KeyPair requested = Keys.generate(ItsCurve.NISTP256);
        KeyPair other = Keys.generate(ItsCurve.NISTP256);
        KeyPair mixed = new KeyPair(requested.getPublic(), other.getPrivate());
        assertEquals(7, enrolmentCode(Requests.enrolment(ID, mixed, Signing.Signer.self(canonical.getPrivate()), Permissions.ENROLMENT_CREDENTIAL)));
    }

    @Test
    void refusesUnknownStationsAndTooWidePermissions() throws Exception {
        KeyPair pair = Keys.generate(ItsCurve.NISTP256);
        var signer = Signing.Signer.self(canonical.getPrivate());
        assertEquals(6, enrolmentCode(Requests.enrolment(new byte[] {9}, pair, signer, Permissions.ENROLMENT_CREDENTIAL)));
        assertEquals(6, enrolmentCode(Requests.enrolment(new byte[0], pair, signer, Permissions.ENROLMENT_CREDENTIAL)));
        assertEquals(11, enrolmentCode(Requests.enrolment(ID, pair, signer, Permissions.parse("623:01c1"))));
        assertEquals(11, enrolmentCode(Requests.enrolment(ID, pair, signer, CAM)));
    }

    @Test
    void renewalNamesItsCredential() throws Exception {
        Cert first = enrol();
        Cert second = client.renew("ea", ea.certificate(), ItsCurve.BRAINPOOLP256R1);
        assertEquals(ItsCurve.BRAINPOOLP256R1, second.curve());
        KeyPair pair = Keys.generate(ItsCurve.NISTP256);
        var current = new Signing.Signer(Keys.readPrivate(directory.resolve("car/ec.pem")), second);
        assertEquals(0, enrolmentCode(Requests.enrolment(second.hashedId8(), pair, current, Permissions.ENROLMENT_CREDENTIAL)));
        assertEquals(6, enrolmentCode(Requests.enrolment(first.hashedId8(), pair, current, Permissions.ENROLMENT_CREDENTIAL)));
    }

    @Test
    void unreadableContentIsAnsweredAndUndecryptableIsNot() throws Exception {
        assertEquals(1, enrolmentCode(new byte[] {3, (byte) 0x81}));
        var signer = Signing.Signer.self(canonical.getPrivate());
        assertEquals(1, enrolmentCode(Signing.sign(new byte[] {1, 2}, Permissions.SECURED_CERTIFICATE_REQUEST, signer)));
        assertThrows(Refused.class, () -> enrolment.handle(new byte[40]));
    }

    @Test
    void noChangedOctetOfARequestPasses() throws Exception {
        byte[] plaintext = Requests.enrolment(ID, Keys.generate(ItsCurve.NISTP256), Signing.Signer.self(canonical.getPrivate()),
            Permissions.ENROLMENT_CREDENTIAL);
        byte[] request = Encryption.sealTo(ea.certificate(), plaintext).message();
        // The ephemeral point's sign: both points have the same x, and x is all that ECIES uses (IEEE 1609.2 §5.3.5).
        int pointSign = 14;
        assertTrue(request[pointSign] == (byte) 0x82 || request[pointSign] == (byte) 0x83);
        for (int i = 0; i < request.length; i++) {
            if (i == pointSign) {
                continue;
            }
            byte[] changed = request.clone();
            changed[i] ^= 1;
            int at = i;
            assertThrows(Refused.class, () -> enrolment.handle(changed), () -> "octet " + at);
        }
    }

    @Test
    void clientRefusesTheAnswerToAnotherRequest() throws Exception {
        enrol();
        byte[][] first = new byte[1][];
        Client mixedUp = new Client(directory.resolve("car"), (url, request) -> {
            byte[] answer = post(url, request);
            if (first[0] == null) {
                first[0] = answer;
                return answer;
            }
            return first[0];
        });
        mixedUp.authorize("aa", aa.certificate(), ea.certificate(), ItsCurve.NISTP256, false, CAM);
        Refused refused = assertThrows(Refused.class,
            () -> mixedUp.authorize("aa", aa.certificate(), ea.certificate(), ItsCurve.NISTP256, false, CAM));
        assertEquals(Refused.Reason.NOT_THE_RECIPIENT, refused.reason);
    }

    @Test
    void ticketsNeedMatchingKeysAndProofs() throws Exception {
        Cert enrolled = enrol();
        var credential = new Signing.Signer(Keys.readPrivate(directory.resolve("car/ec.pem")), enrolled);
        KeyPair pair = Keys.generate(ItsCurve.NISTP256);
        KeyPair other = Keys.generate(ItsCurve.NISTP256);
        var keys = new PublicKeys(Keys.verificationKey((ECPublicKey) pair.getPublic()), null);
        var otherKeys = new PublicKeys(Keys.verificationKey((ECPublicKey) other.getPublic()), null);
        byte[] hmacKey = new byte[32];
        var shared = Requests.shared(ea.certificate(), keys, hmacKey, CAM);
        var proof = Requests.encrypted(Requests.proof(shared, credential), ea.certificate());

        assertEquals(0, authorizationCode(Requests.authorization(keys, hmacKey, shared, proof, pair.getPrivate())));
        assertEquals(0, authorizationCode(Requests.authorization(keys, hmacKey, shared,
            Requests.plain(Requests.proof(shared, credential)), pair.getPrivate())), "unencrypted proof");
        assertEquals(23, authorizationCode(Requests.authorization(keys, hmacKey, shared, proof, other.getPrivate())), "no possession");
        assertEquals(6, authorizationCode(Requests.authorization(otherKeys, hmacKey, shared, proof, other.getPrivate())), "keyTag of other keys");
        byte[] otherHmacKey = new byte[32];
        otherHmacKey[0] = 1;
        assertEquals(6, authorizationCode(Requests.authorization(keys, otherHmacKey, shared, proof, pair.getPrivate())), "another HMAC key");
        var wider = Requests.shared(ea.certificate(), keys, hmacKey, Permissions.parse("37:01ffffff"));
        assertEquals(23, authorizationCode(Requests.authorization(keys, hmacKey, wider, proof, pair.getPrivate())), "proof of another request");
        assertEquals(25, authorizationCode(Requests.authorization(keys, hmacKey, wider,
            Requests.encrypted(Requests.proof(wider, credential), ea.certificate()), pair.getPrivate())), "beyond the station's permissions");
        assertEquals(14, authorizationCode(Requests.authorization(keys, hmacKey, shared,
            Requests.encrypted(new byte[] {1}, ea.certificate()), pair.getPrivate())), "proof the EA cannot read");
        assertEquals(16, authorizationCode(Requests.authorization(keys, hmacKey, shared,
            Requests.encrypted(Requests.proof(shared, credential), aa.certificate()), pair.getPrivate())), "proof for somebody else");
        var stranger = Requests.shared(root.certificate(), keys, hmacKey, CAM);
        assertEquals(10, authorizationCode(Requests.authorization(keys, hmacKey, stranger, proof, pair.getPrivate())), "unknown EA");
    }

    @Test
    void issuingRightsLeaveOutDefaultsAndFixTheVersion() throws Exception {
        byte[] encoded = Oer.encode(CAM.issuing(1, EndEntityType.app), IEEE1609dot2.PsidGroupPermissions.build());
        assertEquals("00" + "80" + "0101" + "80" + "0124" + "82" + "08" + "0301ffff" + "03ff0000", HexFormat.of().formatHex(encoded));
        assertTrue(Permissions.parse("36:018000").isWithin(CAM));
        assertTrue(!Permissions.parse("36:02ffff").isWithin(CAM), "another SSP version");
        assertTrue(!Permissions.parse("36:01").isWithin(CAM), "another SSP length");
        assertTrue(!Permissions.parse("37:01ffff").isWithin(CAM), "another PSID");
    }
}
