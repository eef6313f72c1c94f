package chronoseal.bcpki;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;

import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.oer.Element;
import org.bouncycastle.oer.OERDefinition;
import org.bouncycastle.oer.OEREncoder;
import org.bouncycastle.oer.OERInputStream;
import org.bouncycastle.oer.its.template.etsi102941.EtsiTs102941TrustLists;
import org.bouncycastle.oer.its.template.etsi102941.EtsiTs102941TypesAuthorization;
import org.bouncycastle.oer.its.template.etsi102941.EtsiTs102941TypesAuthorizationValidation;
import org.bouncycastle.oer.its.template.etsi102941.EtsiTs102941TypesCaManagement;
import org.bouncycastle.oer.its.template.etsi102941.EtsiTs102941TypesEnrolment;
import org.bouncycastle.oer.its.template.etsi102941.basetypes.EtsiTs102941BaseTypes;
import org.bouncycastle.oer.its.template.etsi103097.EtsiTs103097Module;
import org.bouncycastle.oer.its.template.ieee1609dot2.IEEE1609dot2;
import org.bouncycastle.oer.its.template.ieee1609dot2.basetypes.Ieee1609Dot2BaseTypes;

/**
 * The OER templates in use, and strict canonical encoding and decoding with them.
 *
 * <p>Everything is Bouncy Castle's own template except the two trust list formats: there the field
 * {@code version Version} is an unconstrained INTEGER (length, then value), which Bouncy Castle
 * writes as one bare octet. The deployed European trust list settles it, see {@code OerTest}.
 */
final class Oer {
    static final Element DATA = EtsiTs103097Module.EtsiTs103097Data.build();
    static final Element CERTIFICATE = IEEE1609dot2.CertificateBase.build();
    static final Element TBS_CERTIFICATE = IEEE1609dot2.ToBeSignedCertificate.build();
    static final Element VERIFICATION_KEY = Ieee1609Dot2BaseTypes.PublicVerificationKey.build();
    static final Element ENCRYPTION_KEY = Ieee1609Dot2BaseTypes.PublicEncryptionKey.build();
    static final Element SYMMETRIC_KEY = Ieee1609Dot2BaseTypes.SymmetricEncryptionKey.build();
    static final Element INNER_EC_REQUEST = EtsiTs102941TypesEnrolment.InnerEcRequest.build();
    static final Element SHARED_AT_REQUEST = EtsiTs102941TypesAuthorization.SharedAtRequest.build();
    static final Element MANAGEMENT_DATA = managementData().build();

    /** Largest message or list accepted, in octets. */
    static final int LENGTH_MAX = 1 << 20;

    private Oer() {}

    /** Canonical encoding of a value built by this program. */
    static byte[] encode(ASN1Encodable value, Element template) {
        return OEREncoder.toByteArray(value, template);
    }

    /**
     * Decodes one value that fills {@code bytes} and is canonical: encoding it again must give the
     * same octets, so that hashing the re-encoding is hashing what was received.
     */
    static ASN1Encodable decode(byte[] bytes, Element template) throws Refused {
        if (bytes.length > LENGTH_MAX) {
            throw new Refused(Refused.Reason.CANT_PARSE, bytes.length + " octets, at most " + LENGTH_MAX);
        }
        ASN1Encodable value;
        byte[] again;
        try (OERInputStream in = new OERInputStream(new ByteArrayInputStream(bytes), LENGTH_MAX)) {
            value = in.parse(template);
            again = encode(value, template);
        } catch (IOException | RuntimeException | StackOverflowError e) {
            throw new Refused(Refused.Reason.CANT_PARSE, "not decodable: " + e);
        }
        if (!Arrays.equals(bytes, again)) {
            throw new Refused(Refused.Reason.CANT_PARSE, "not canonical, differs at octet " + Arrays.mismatch(bytes, again));
        }
        return value;
    }

    /** Decodes an Ieee1609Dot2Data; protocolVersion, its first octet, is 3 and not covered by any signature. */
    static void checkData(byte[] bytes) throws Refused {
        decode(bytes, DATA);
        if (bytes[0] != 3) {
            throw new Refused(Refused.Reason.CANT_PARSE, "protocolVersion " + bytes[0]);
        }
    }

    private static OERDefinition.Builder managementData() {
        OERDefinition.Builder version = OERDefinition.integer().typeName("Version");
        OERDefinition.Builder crl = OERDefinition.seq(
            version.label("version"),
            Ieee1609Dot2BaseTypes.Time32.label("thisUpdate"),
            Ieee1609Dot2BaseTypes.Time32.label("nextUpdate"),
            EtsiTs102941TrustLists.SequenceOfCrlEntry.label("entries"),
            OERDefinition.extension()).typeName("ToBeSignedCrl");
        OERDefinition.Builder ctl = OERDefinition.seq(
            version.label("version"),
            Ieee1609Dot2BaseTypes.Time32.label("nextUpdate"),
            OERDefinition.bool().label("isFullCtl"),
            OERDefinition.integer(0, 255).label("ctlSequence"),
            EtsiTs102941TrustLists.SequenceOfCtlCommand.label("ctlCommands"),
            OERDefinition.extension()).typeName("CtlFormat");
        OERDefinition.Builder content = OERDefinition.choice(
            EtsiTs102941TypesEnrolment.InnerEcRequestSignedForPop.label("enrolmentRequest"),
            EtsiTs102941TypesEnrolment.InnerEcResponse.label("enrolmentResponse"),
            EtsiTs102941TypesAuthorization.InnerAtRequest.label("authorizationRequest"),
            EtsiTs102941TypesAuthorization.InnerAtResponse.label("authorizationResponse"),
            crl.label("certificateRevocationList"),
            ctl.label("certificateTrustListTlm"),
            ctl.label("certificateTrustListRca"),
            EtsiTs102941TypesAuthorizationValidation.AuthorizationValidationRequest.label("authorizationValidationRequest"),
            EtsiTs102941TypesAuthorizationValidation.AuthorizationValidationResponse.label("authorizationValidationResponse"),
            EtsiTs102941TypesCaManagement.CaCertificateRequest.label("caCertificateRequest"),
            OERDefinition.extension()).typeName("EtsiTs102941DataContent");
        // `version Version (v1)` is constrained to one value, hence one octet: Bouncy Castle's 0..255 fits.
        return OERDefinition.seq(
            EtsiTs102941BaseTypes.Version.label("version"),
            content.label("content")).typeName("EtsiTs102941Data");
    }
}
