package chronoseal.bcpki;

import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.interfaces.ECPublicKey;

import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.InnerAtRequest;
import org.bouncycastle.oer.its.etsi102941.InnerEcRequest;
import org.bouncycastle.oer.its.etsi102941.InnerEcRequestSignedForPop;
import org.bouncycastle.oer.its.etsi102941.SharedAtRequest;
import org.bouncycastle.oer.its.etsi102941.basetypes.CertificateFormat;
import org.bouncycastle.oer.its.etsi102941.basetypes.CertificateSubjectAttributes;
import org.bouncycastle.oer.its.etsi102941.basetypes.EcSignature;
import org.bouncycastle.oer.its.etsi102941.basetypes.PublicKeys;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097Data;

/** The station's requests of TS 102 941 §6.2.3, layer by layer, before encryption to the authority. */
final class Requests {
    private static final CertificateFormat TS_103_097 = new CertificateFormat(1);

    private Requests() {}

    /** EnrolmentRequestMessage: the new key signs inside, {@code outer} outside. */
    static byte[] enrolment(byte[] itsId, KeyPair pair, Signing.Signer outer, Permissions permissions) throws Refused {
        var wanted = new InnerEcRequest(new DEROctetString(itsId), TS_103_097,
            new PublicKeys(Keys.verificationKey((ECPublicKey) pair.getPublic()), null), attributes(permissions));
        byte[] inner = Signing.sign(Oer.encode(wanted, Oer.INNER_EC_REQUEST), Permissions.SECURED_CERTIFICATE_REQUEST,
            Signing.Signer.self(pair.getPrivate()));
        var forPop = InnerEcRequestSignedForPop.getInstance(data(inner).toASN1Primitive());
        return Signing.sign(Management.encode(EtsiTs102941DataContent.enrolmentRequest, forPop),
            Permissions.SECURED_CERTIFICATE_REQUEST, outer);
    }

    /** The part of a ticket request the EA gets to see. */
    static SharedAtRequest shared(Cert ea, PublicKeys keys, byte[] hmacKey, Permissions permissions) {
        return new SharedAtRequest(ea.hashedId8Asn1(), new DEROctetString(AuthorizationAuthority.keyTag(hmacKey, keys)), TS_103_097,
            attributes(permissions));
    }

    /** Signature of the credential over the shared part, held outside the message. */
    static byte[] proof(SharedAtRequest shared, Signing.Signer credential) {
        return Signing.signExternal(Oer.encode(shared, Oer.SHARED_AT_REQUEST), Permissions.SECURED_CERTIFICATE_REQUEST, credential);
    }

    static EcSignature encrypted(byte[] proof, Cert ea) throws Refused {
        return new EcSignature(EcSignature.encryptedEcSignature, data(Encryption.sealTo(ea, proof).message()));
    }

    static EcSignature plain(byte[] proof) throws Refused {
        return new EcSignature(EcSignature.ecSignature, data(proof));
    }

    /** AuthorizationRequestMessageWithPop, signed by the ticket's new key. */
    static byte[] authorization(PublicKeys keys, byte[] hmacKey, SharedAtRequest shared, EcSignature proof, PrivateKey ticketKey) {
        var wanted = new InnerAtRequest(keys, new DEROctetString(hmacKey), shared, proof);
        return Signing.sign(Management.encode(EtsiTs102941DataContent.authorizationRequest, wanted),
            Permissions.SECURED_CERTIFICATE_REQUEST, Signing.Signer.self(ticketKey));
    }

    private static CertificateSubjectAttributes attributes(Permissions permissions) {
        return new CertificateSubjectAttributes(null, null, null, null, permissions.asn1(), null);
    }

    private static EtsiTs103097Data data(byte[] message) throws Refused {
        return EtsiTs103097Data.getInstance(Oer.decode(message, Oer.DATA));
    }
}
