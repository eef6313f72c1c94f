package chronoseal.bcpki;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;

import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.jce.ECNamedCurveTable;
import org.bouncycastle.jce.interfaces.ECPrivateKey;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.jce.spec.ECPublicKeySpec;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.BasePublicEncryptionKey;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.EccCurvePoint;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.EccP256CurvePoint;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.EccP384CurvePoint;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicEncryptionKey;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicVerificationKey;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.SymmAlgorithm;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.util.io.pem.PemObject;

/** Key pairs, their PEM files, and their canonical (compressed) form in certificates. */
final class Keys {
    static final Provider BC = new BouncyCastleProvider();

    private Keys() {}

    static KeyPair generate(ItsCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", BC);
            generator.initialize(new ECGenParameterSpec(curve.jcaName));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Bouncy Castle has no EC generator for " + curve, e);
        }
    }

    static ItsCurve curve(PrivateKey key) {
        return ItsCurve.byOid(ASN1ObjectIdentifier.getInstance(
            PrivateKeyInfo.getInstance(key.getEncoded()).getPrivateKeyAlgorithm().getParameters()));
    }

    static ItsCurve curve(ECPublicKey key) {
        return ItsCurve.byOid(ASN1ObjectIdentifier.getInstance(
            SubjectPublicKeyInfo.getInstance(key.getEncoded()).getAlgorithm().getParameters()));
    }

    /** Public key of a private key read back from its file. */
    static ECPublicKey publicKey(PrivateKey key) {
        try {
            var spec = ECNamedCurveTable.getParameterSpec(curve(key).jcaName);
            var point = spec.getG().multiply(((ECPrivateKey) key).getD()).normalize();
            return (ECPublicKey) KeyFactory.getInstance("EC", BC).generatePublic(new ECPublicKeySpec(point, spec));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a private key of Bouncy Castle has a public point", e);
        }
    }

    /** The key as certificates and requests carry it: compressed, as the canonical form demands. */
    static PublicVerificationKey verificationKey(ECPublicKey key) {
        ItsCurve curve = curve(key);
        return new PublicVerificationKey(curve.choice, curve == ItsCurve.BRAINPOOLP384R1 ? point384(key) : point256(key));
    }

    /** Encryption key for ECIES; P-256 curves only. */
    static PublicEncryptionKey encryptionKey(ECPublicKey key) {
        BasePublicEncryptionKey base = switch (curve(key)) {
            case NISTP256 -> BasePublicEncryptionKey.eciesNistP256(point256(key));
            case BRAINPOOLP256R1 -> BasePublicEncryptionKey.eciesBrainpoolP256r1(point256(key));
            case BRAINPOOLP384R1 -> throw new IllegalArgumentException("ECIES needs a 256 bit curve");
        };
        return new PublicEncryptionKey(SymmAlgorithm.aes128Ccm, base);
    }

    static ECPublicKey publicKey(PublicVerificationKey key) throws Refused {
        try {
            return publicKey(ItsCurve.byChoice(key.getChoice()), (EccCurvePoint) key.getPublicVerificationKey());
        } catch (GeneralSecurityException | RuntimeException e) {
            throw new Refused(Refused.Reason.INVALID_KEYS, "verification key is no point: " + e.getMessage());
        }
    }

    static ECPublicKey publicKey(PublicEncryptionKey key) throws Refused {
        BasePublicEncryptionKey base = key.getPublicKey();
        try {
            return publicKey(base.getChoice() == BasePublicEncryptionKey.eciesNistP256 ? ItsCurve.NISTP256 : ItsCurve.BRAINPOOLP256R1,
                (EccCurvePoint) base.getBasePublicEncryptionKey());
        } catch (GeneralSecurityException | RuntimeException e) {
            throw new Refused(Refused.Reason.INVALID_ENCRYPTION_KEY, "encryption key is no point: " + e.getMessage());
        }
    }

    /**
     * Key with the curve by name. Bouncy Castle's own conversion of certificate keys spells the curve
     * out, and its JceETSIKeyWrapper then cannot tell which one it is (seen in 1.86).
     */
    private static ECPublicKey publicKey(ItsCurve curve, EccCurvePoint point) throws GeneralSecurityException {
        var spec = ECNamedCurveTable.getParameterSpec(curve.jcaName);
        var decoded = spec.getCurve().decodePoint(point.getEncodedPoint());
        return (ECPublicKey) KeyFactory.getInstance("EC", BC).generatePublic(new ECPublicKeySpec(decoded, spec));
    }

    static void writePrivate(Path file, PrivateKey key) throws IOException {
        Files.writePem(file, new PemObject("PRIVATE KEY", key.getEncoded()), true);
    }

    static void writePublic(Path file, ECPublicKey key) throws IOException {
        Files.writePem(file, new PemObject("PUBLIC KEY", key.getEncoded()), false);
    }

    /** Private key from PKCS#8 or SEC 1 PEM. */
    static PrivateKey readPrivate(Path file) throws IOException {
        Object object = parsePem(Files.readText(file), file);
        var converter = new JcaPEMKeyConverter().setProvider(BC);
        if (object instanceof PrivateKeyInfo info) {
            return converter.getPrivateKey(info);
        }
        if (object instanceof PEMKeyPair pair) {
            return converter.getKeyPair(pair).getPrivate();
        }
        throw new IOException(file + " holds no unencrypted PKCS#8 or SEC 1 private key");
    }

    /** Public key from SubjectPublicKeyInfo PEM. */
    static ECPublicKey readPublic(String pem, Object source) throws IOException {
        if (parsePem(pem, source) instanceof SubjectPublicKeyInfo info
            && new JcaPEMKeyConverter().setProvider(BC).getPublicKey(info) instanceof ECPublicKey key) {
            return key;
        }
        throw new IOException(source + " holds no SubjectPublicKeyInfo of an EC key");
    }

    private static Object parsePem(String pem, Object source) throws IOException {
        try (PEMParser parser = new PEMParser(new StringReader(pem))) {
            Object object = parser.readObject();
            // `openssl ecparam -genkey` puts the parameters first.
            return object instanceof ASN1ObjectIdentifier ? parser.readObject() : object;
        } catch (RuntimeException e) {
            throw new IOException(source + ": " + e.getMessage(), e);
        }
    }

    private static EccP256CurvePoint point256(ECPublicKey key) {
        byte[] x = abscissa(key, 32);
        return isOdd(key) ? EccP256CurvePoint.compressedY1(x) : EccP256CurvePoint.compressedY0(x);
    }

    private static EccP384CurvePoint point384(ECPublicKey key) {
        byte[] x = abscissa(key, 48);
        return isOdd(key) ? EccP384CurvePoint.compressedY1(x) : EccP384CurvePoint.compressedY0(x);
    }

    private static boolean isOdd(ECPublicKey key) {
        return key.getW().getAffineY().testBit(0);
    }

    private static byte[] abscissa(ECPublicKey key, int length) {
        byte[] signed = key.getW().getAffineX().toByteArray();
        byte[] fixed = new byte[length];
        int count = Math.min(length, signed.length);
        System.arraycopy(signed, signed.length - count, fixed, length - count, count);
        return fixed;
    }

    static boolean sameKey(PublicVerificationKey a, PublicVerificationKey b) {
        return Arrays.equals(Oer.encode(a, Oer.VERIFICATION_KEY), Oer.encode(b, Oer.VERIFICATION_KEY));
    }
}
