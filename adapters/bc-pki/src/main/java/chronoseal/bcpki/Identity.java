package chronoseal.bcpki;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.interfaces.ECPublicKey;

import org.bouncycastle.its.operator.ECDSAEncoder;
import org.bouncycastle.its.operator.ITSContentSigner;
import org.bouncycastle.oer.its.ieee1609dot2.CertificateBase;
import org.bouncycastle.oer.its.ieee1609dot2.CertificateId;
import org.bouncycastle.oer.its.ieee1609dot2.CertificateType;
import org.bouncycastle.oer.its.ieee1609dot2.EndEntityType;
import org.bouncycastle.oer.its.ieee1609dot2.IssuerIdentifier;
import org.bouncycastle.oer.its.ieee1609dot2.SequenceOfPsidGroupPermissions;
import org.bouncycastle.oer.its.ieee1609dot2.ToBeSignedCertificate;
import org.bouncycastle.oer.its.ieee1609dot2.VerificationKeyIndicator;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.CrlSeries;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.GeographicRegion;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.HashedId3;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.HashedId8;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Hostname;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicEncryptionKey;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicVerificationKey;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.UINT8;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.ValidityPeriod;

/**
 * A certificate authority of this PKI: its certificate and keys, kept as {@code NAME.oer},
 * {@code NAME.pem} (signing) and {@code NAME-enc.pem} (decryption; EA and AA only).
 */
record Identity(Cert certificate, PrivateKey signingKey, PrivateKey decryptionKey) {
    private static final int ROOT_YEARS = 8;
    private static final int AUTHORITY_YEARS = 4;

    /** What differs between the certificates this PKI issues (TS 103 097 §7.2). */
    record Content(String name, ValidityPeriod validity, GeographicRegion region, Permissions app, SequenceOfPsidGroupPermissions issue,
                   PublicVerificationKey verificationKey, PublicEncryptionKey encryptionKey) {}

    Signing.Signer signer() {
        return new Signing.Signer(signingKey, certificate);
    }

    static Identity root(Path directory, String name, ItsCurve curve) throws IOException {
        var issue = Permissions.groups(
            Permissions.AUTHORIZATION_TICKET.issuing(2, EndEntityType.app),
            Permissions.ENROLMENT_CREDENTIAL.issuing(2, EndEntityType.enrol),
            Permissions.parse("623:013e").issuing(1, EndEntityType.app));
        return loadOrCreate(directory, "rca", name + " RCA", curve, null, Permissions.ROOT, issue, ROOT_YEARS, null);
    }

    static Identity trustListManager(Path directory, String name, ItsCurve curve) throws IOException {
        return loadOrCreate(directory, "tlm", name + " TLM", curve, null, Permissions.TRUST_LIST_MANAGER, null, ROOT_YEARS, null);
    }

    static Identity enrolmentAuthority(Path directory, String name, ItsCurve curve, Identity root) throws IOException {
        var issue = Permissions.groups(Permissions.ENROLMENT_CREDENTIAL.issuing(1, EndEntityType.enrol));
        return loadOrCreate(directory, "ea", name + " EA", curve, curve, Permissions.ENROLMENT_AUTHORITY, issue, AUTHORITY_YEARS, root);
    }

    static Identity authorizationAuthority(Path directory, String name, ItsCurve curve, Identity root) throws IOException {
        var issue = Permissions.groups(Permissions.AUTHORIZATION_TICKET.issuing(1, EndEntityType.app));
        return loadOrCreate(directory, "aa", name + " AA", curve, curve, Permissions.AUTHORIZATION_AUTHORITY, issue, AUTHORITY_YEARS, root);
    }

    private static Identity loadOrCreate(Path directory, String file, String name, ItsCurve curve, ItsCurve encryptionCurve,
                                         Permissions app, SequenceOfPsidGroupPermissions issue, int years, Identity issuer) throws IOException {
        Path certificateFile = directory.resolve(file + ".oer");
        Path signingFile = directory.resolve(file + ".pem");
        Path decryptionFile = directory.resolve(file + "-enc.pem");
        if (Files.exists(certificateFile)) {
            return new Identity(Cert.read(certificateFile), Keys.readPrivate(signingFile),
                encryptionCurve == null ? null : Keys.readPrivate(decryptionFile));
        }
        KeyPair signing = Keys.generate(curve);
        KeyPair encryption = encryptionCurve == null ? null : Keys.generate(encryptionCurve);
        Content content = new Content(name, ItsTime.validityYears(ItsTime.nowSeconds(), years), null, app, issue,
            Keys.verificationKey((ECPublicKey) signing.getPublic()),
            encryption == null ? null : Keys.encryptionKey((ECPublicKey) encryption.getPublic()));
        Cert certificate;
        try {
            certificate = issuer == null ? issue(content, Signing.Signer.self(signing.getPrivate())) : issue(content, issuer.signer());
        } catch (Refused e) {
            throw new IOException("own certificate of " + name + " is not readable", e);
        }
        // Keys first: a certificate on disk promises that its keys are there.
        Keys.writePrivate(signingFile, signing.getPrivate());
        if (encryption != null) {
            Keys.writePrivate(decryptionFile, encryption.getPrivate());
        }
        Files.write(certificateFile, certificate.bytes());
        return new Identity(certificate, signing.getPrivate(), encryption == null ? null : encryption.getPrivate());
    }

    /**
     * Issues a certificate; {@code signer} without certificate makes it self-signed.
     *
     * <p>Assembled here and not by Bouncy Castle's ITSExplicitCertificateBuilder: that one writes every
     * signature as ecdsaNistP256Signature, whatever the issuer's curve (seen in 1.86).
     */
    static Cert issue(Content content, Signing.Signer signer) throws Refused {
        ToBeSignedCertificate tbs = ToBeSignedCertificate.builder()
            .setId(content.name == null ? CertificateId.none() : CertificateId.name(new Hostname(content.name)))
            .setCracaId(new HashedId3(new byte[3]))
            .setCrlSeries(new CrlSeries(0))
            .setValidityPeriod(content.validity)
            .setRegion(content.region)
            .setAppPermissions(content.app.asn1())
            .setCertIssuePermissions(content.issue)
            .setEncryptionKey(content.encryptionKey)
            .setVerifyKeyIndicator(VerificationKeyIndicator.verificationKey(content.verificationKey))
            .createToBeSignedCertificate();
        ITSContentSigner contentSigner = signer.contentSigner();
        try (OutputStream out = contentSigner.getOutputStream()) {
            out.write(Oer.encode(tbs, Oer.TBS_CERTIFICATE));
        } catch (IOException e) {
            throw new IllegalStateException("a digest does not fail", e);
        }
        return Cert.of(CertificateBase.builder()
            .setVersion(new UINT8(3))
            .setType(CertificateType.explicit)
            .setIssuer(issuer(signer))
            .setToBeSigned(tbs)
            .setSignature(ECDSAEncoder.toITS(contentSigner.getCurveID(), contentSigner.getSignature()))
            .createCertificateBase());
    }

    private static IssuerIdentifier issuer(Signing.Signer signer) {
        ItsCurve curve = Keys.curve(signer.key());
        if (signer.certificate() == null) {
            return IssuerIdentifier.self(curve.hashAlgorithm());
        }
        HashedId8 id = signer.certificate().hashedId8Asn1();
        return curve == ItsCurve.BRAINPOOLP384R1 ? IssuerIdentifier.sha384AndDigest(id) : IssuerIdentifier.sha256AndDigest(id);
    }
}
