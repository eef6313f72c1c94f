package chronoseal.bcpki;

import java.util.Arrays;
import java.util.function.Function;

import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.ASN1TaggedObject;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941Data;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.basetypes.Version;

/** EtsiTs102941Data, the envelope of every message and list of TS 102 941. */
final class Management {
    private Management() {}

    static byte[] encode(int choice, ASN1Encodable content) {
        return Oer.encode(new EtsiTs102941Data(new Version(1), new EtsiTs102941DataContent(choice, content)), Oer.MANAGEMENT_DATA);
    }

    /** One alternative of EtsiTs102941DataContent, by its number there. */
    record Content(int choice, ASN1Encodable value) {}

    /** Taken apart here, because Bouncy Castle's EtsiTs102941DataContent reads no revocation list (seen in 1.86). */
    static Content decode(byte[] payload) throws Refused {
        ASN1Sequence data = convert(ASN1Sequence::getInstance, Oer.decode(payload, Oer.MANAGEMENT_DATA));
        Version version = convert(Version::getInstance, data.getObjectAt(0));
        if (version.getVersion().intValue() != 1) {
            throw new Refused(Refused.Reason.CANT_PARSE, "EtsiTs102941Data version " + version.getVersion());
        }
        ASN1TaggedObject content = convert(ASN1TaggedObject::getInstance, data.getObjectAt(1));
        return new Content(content.getTagNo(), content.getExplicitBaseObject());
    }

    /** Content that must be the alternative {@code choice}. */
    static <T> T expect(byte[] payload, int choice, Function<Object, T> getInstance) throws Refused {
        Content content = decode(payload);
        if (content.choice != choice) {
            throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "content " + content.choice + ", expected " + choice);
        }
        return convert(getInstance, content.value);
    }

    /** A value the template accepted but Bouncy Castle's class does not is unreadable all the same. */
    static <T> T convert(Function<Object, T> getInstance, ASN1Encodable value) throws Refused {
        try {
            return getInstance.apply(value);
        } catch (RuntimeException e) {
            throw new Refused(Refused.Reason.CANT_PARSE, String.valueOf(e.getMessage()));
        }
    }

    /** First 16 octets of the SHA-256 of the outermost encrypted request. */
    static byte[] requestHash(byte[] encryptedRequest) {
        return Arrays.copyOf(Cert.digest("SHA-256", encryptedRequest), 16);
    }
}
