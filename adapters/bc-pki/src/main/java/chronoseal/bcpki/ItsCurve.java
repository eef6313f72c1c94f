package chronoseal.bcpki;

import java.util.Arrays;

import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.teletrust.TeleTrusTObjectIdentifiers;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.HashAlgorithm;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicVerificationKey;

/** The curves Bouncy Castle's {@code its} packages can sign with. */
enum ItsCurve {
    NISTP256("nistp256", "secp256r1", SECObjectIdentifiers.secp256r1, PublicVerificationKey.ecdsaNistP256, "SHA-256"),
    BRAINPOOLP256R1("brainpoolp256r1", "brainpoolP256r1", TeleTrusTObjectIdentifiers.brainpoolP256r1,
        PublicVerificationKey.ecdsaBrainpoolP256r1, "SHA-256"),
    BRAINPOOLP384R1("brainpoolp384r1", "brainpoolP384r1", TeleTrusTObjectIdentifiers.brainpoolP384r1,
        PublicVerificationKey.ecdsaBrainpoolP384r1, "SHA-384");

    final String option;
    final String jcaName;
    final ASN1ObjectIdentifier oid;
    /** Alternative of PublicVerificationKey, and of Signature. */
    final int choice;
    final String digest;

    ItsCurve(String option, String jcaName, ASN1ObjectIdentifier oid, int choice, String digest) {
        this.option = option;
        this.jcaName = jcaName;
        this.oid = oid;
        this.choice = choice;
        this.digest = digest;
    }

    HashAlgorithm hashAlgorithm() {
        return this == BRAINPOOLP384R1 ? HashAlgorithm.sha384 : HashAlgorithm.sha256;
    }

    static ItsCurve byOption(String name) {
        return Arrays.stream(values()).filter(c -> c.option.equals(name)).findFirst().orElseThrow(() ->
            new IllegalArgumentException("unknown curve " + name + ", one of nistp256, brainpoolp256r1, brainpoolp384r1"));
    }

    static ItsCurve byOid(ASN1ObjectIdentifier oid) {
        return Arrays.stream(values()).filter(c -> c.oid.equals(oid)).findFirst().orElseThrow(() ->
            new IllegalArgumentException("key on unsupported curve " + oid));
    }

    static ItsCurve byChoice(int choice) throws Refused {
        for (ItsCurve curve : values()) {
            if (curve.choice == choice) {
                return curve;
            }
        }
        throw new Refused(Refused.Reason.INVALID_KEYS, "unsupported verification key alternative " + choice);
    }
}
