package chronoseal.bcpki;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.interfaces.ECPublicKey;
import java.util.Arrays;
import java.util.HexFormat;

import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.its.ITSCertificate;
import org.bouncycastle.its.jcajce.JcaITSContentVerifierProvider;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097Certificate;
import org.bouncycastle.oer.its.ieee1609dot2.CertificateBase;
import org.bouncycastle.oer.its.ieee1609dot2.IssuerIdentifier;
import org.bouncycastle.oer.its.ieee1609dot2.ToBeSignedCertificate;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.HashedId8;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicVerificationKey;

/** An explicit TS 103 097 certificate together with its canonical octets. */
final class Cert {
    private final byte[] bytes;
    private final CertificateBase base;
    private final ItsCurve curve;

    private Cert(byte[] bytes, CertificateBase base) throws Refused {
        this.bytes = bytes;
        this.base = base;
        if (!(base.getToBeSigned().getVerifyKeyIndicator().getVerificationKeyIndicator() instanceof PublicVerificationKey key)) {
            throw new Refused(Refused.Reason.INVALID_KEYS, "implicit certificates are not supported");
        }
        if (!base.getVersion().getValue().equals(java.math.BigInteger.valueOf(3))) {
            throw new Refused(Refused.Reason.CANT_PARSE, "certificate version " + base.getVersion().getValue());
        }
        if (base.getSignature() == null) {
            throw new Refused(Refused.Reason.CANT_PARSE, "explicit certificate without signature");
        }
        this.curve = ItsCurve.byChoice(key.getChoice());
    }

    static Cert decode(byte[] bytes) throws Refused {
        try {
            return new Cert(bytes.clone(), CertificateBase.getInstance(Oer.decode(bytes, Oer.CERTIFICATE)));
        } catch (IllegalArgumentException | ClassCastException e) {
            throw new Refused(Refused.Reason.CANT_PARSE, "no certificate: " + e.getMessage());
        }
    }

    static Cert of(CertificateBase base) throws Refused {
        return decode(Oer.encode(base, Oer.CERTIFICATE));
    }

    static Cert read(Path file) throws IOException {
        try {
            return decode(Files.read(file));
        } catch (Refused e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    byte[] bytes() {
        return bytes.clone();
    }

    ToBeSignedCertificate toBeSigned() {
        return base.getToBeSigned();
    }

    /** As BC's signing and verifying classes take it. */
    ITSCertificate its() {
        return new ITSCertificate(base);
    }

    /** As responses and trust lists carry it. */
    EtsiTs103097Certificate asn1() {
        return EtsiTs103097Certificate.getInstance(base.toASN1Primitive());
    }

    ItsCurve curve() {
        return curve;
    }

    PublicVerificationKey verificationKey() {
        return PublicVerificationKey.getInstance(toBeSigned().getVerifyKeyIndicator().getVerificationKeyIndicator());
    }

    ECPublicKey encryptionKey() throws Refused {
        if (toBeSigned().getEncryptionKey() == null) {
            throw new Refused(Refused.Reason.INVALID_ENCRYPTION_KEY, "certificate " + id() + " has no encryption key");
        }
        return Keys.publicKey(toBeSigned().getEncryptionKey());
    }

    /** Last eight octets of the digest that goes with the certificate's own curve. */
    byte[] hashedId8() {
        byte[] digest = digest(curve.digest, bytes);
        return Arrays.copyOfRange(digest, digest.length - 8, digest.length);
    }

    HashedId8 hashedId8Asn1() {
        return new HashedId8(hashedId8());
    }

    /** HashedId8 in upper case hexadecimal, the name in URLs and files. */
    String id() {
        return HexFormat.of().withUpperCase().formatHex(hashedId8());
    }

    boolean isSelfSigned() {
        return base.getIssuer().getChoice() == IssuerIdentifier.self;
    }

    /** Issuer's HashedId8, or null when self-signed. */
    byte[] issuerId() {
        return isSelfSigned() ? null : ASN1OctetString.getInstance(base.getIssuer().getIssuerIdentifier()).getOctets();
    }

    /** Issuer digest, signature and validity of this certificate, now. */
    void checkIssuedBy(Cert issuer) throws Refused {
        if (isSelfSigned() ? !Arrays.equals(bytes, issuer.bytes) : !Arrays.equals(issuerId(), issuer.hashedId8())) {
            throw new Refused(Refused.Reason.INVALID_SIGNATURE, "certificate " + id() + " is not issued by " + issuer.id());
        }
        boolean valid;
        try {
            valid = its().isSignatureValid(new JcaITSContentVerifierProvider.Builder().setProvider(Keys.BC).build(issuer.its()));
        } catch (Exception e) {
            throw new Refused(Refused.Reason.INVALID_SIGNATURE, "certificate " + id() + ": " + e.getMessage());
        }
        if (!valid) {
            throw new Refused(Refused.Reason.INVALID_SIGNATURE, "signature of certificate " + id() + " is wrong");
        }
        checkValidNow();
    }

    void checkValidNow() throws Refused {
        long now = ItsTime.nowSeconds();
        var period = toBeSigned().getValidityPeriod();
        if (now < ItsTime.startSeconds(period) || now >= ItsTime.endSeconds(period)) {
            throw new Refused(Refused.Reason.DENIED_REQUEST, "certificate " + id() + " is outside its validity period");
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Cert cert && Arrays.equals(bytes, cert.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    static byte[] digest(String algorithm, byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm, Keys.BC);
            for (byte[] part : parts) {
                digest.update(part);
            }
            return digest.digest();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Bouncy Castle has no " + algorithm, e);
        }
    }
}
