package chronoseal.bcpki;

import java.io.ByteArrayInputStream;
import java.security.PrivateKey;
import java.util.Arrays;
import java.util.HexFormat;

import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.its.ETSISignedData;
import org.bouncycastle.its.ETSISignedDataBuilder;
import org.bouncycastle.its.ITSPublicVerificationKey;
import org.bouncycastle.its.jcajce.JcaITSContentSigner;
import org.bouncycastle.its.jcajce.JcaITSContentVerifierProvider;
import org.bouncycastle.its.operator.ITSContentSigner;
import org.bouncycastle.its.operator.ITSContentVerifierProvider;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097Data;
import org.bouncycastle.oer.its.ieee1609dot2.HashedData;
import org.bouncycastle.oer.its.ieee1609dot2.HeaderInfo;
import org.bouncycastle.oer.its.ieee1609dot2.Ieee1609Dot2Content;
import org.bouncycastle.oer.its.ieee1609dot2.SequenceOfCertificate;
import org.bouncycastle.oer.its.ieee1609dot2.SignedData;
import org.bouncycastle.oer.its.ieee1609dot2.SignerIdentifier;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Psid;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PublicVerificationKey;

/** Signed messages of the PKI: built and verified with Bouncy Castle, signers looked at by us. */
final class Signing {
    /** A request or response older or younger than this is refused [s]. */
    static final long CLOCK_DIFFERENCE_MAX_S = 300;

    /** A signing key, with the certificate it goes with; {@code null} for the signer {@code self}. */
    record Signer(PrivateKey key, Cert certificate) {
        static Signer self(PrivateKey key) {
            return new Signer(key, null);
        }

        ITSContentSigner contentSigner() {
            var factory = new JcaITSContentSigner.Builder().setProvider(Keys.BC);
            return certificate == null ? factory.build(key) : factory.build(key, certificate.its());
        }
    }

    private Signing() {}

    /** Message signed over an embedded payload (EtsiTs103097Data-Signed). */
    static byte[] sign(byte[] payload, int psid, Signer signer) {
        return build(ETSISignedDataBuilder.builder(header(psid)).setUnsecuredData(payload), signer).getEncoded();
    }

    /** Message signed over the SHA-256 of a payload held elsewhere (EtsiTs103097Data-SignedExternalPayload). */
    static byte[] signExternal(byte[] payload, int psid, Signer signer) {
        HashedData hash = HashedData.sha256HashedData(Cert.digest("SHA-256", payload));
        return build(ETSISignedDataBuilder.builder(header(psid)).setExtDataHash(hash), signer).getEncoded();
    }

    private static HeaderInfo header(int psid) {
        return HeaderInfo.builder().setPsid(new Psid(psid)).setGenerationTime(ItsTime.now64()).createHeaderInfo();
    }

    private static ETSISignedData build(ETSISignedDataBuilder builder, Signer signer) {
        return signer.certificate == null
            ? builder.build(signer.contentSigner())
            : builder.build(signer.contentSigner(), signer.certificate.hashedId8Asn1());
    }

    /** A signed message as received; nothing about it is believed before a {@code check} passed. */
    static final class Message {
        private final SignedData data;

        private Message(SignedData data) {
            this.data = data;
        }

        static Message decode(byte[] bytes) throws Refused {
            Oer.checkData(bytes);
            try {
                return new Message(new ETSISignedData(new ByteArrayInputStream(bytes)).getSignedData());
            } catch (IllegalStateException e) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "not signed data");
            } catch (java.io.IOException | RuntimeException e) {
                throw new Refused(Refused.Reason.CANT_PARSE, "no signed data: " + e.getMessage());
            }
        }

        static Message of(EtsiTs103097Data data) throws Refused {
            return decode(Oer.encode(data, Oer.DATA));
        }

        boolean isSelfSigned() {
            return data.getSigner().getChoice() == SignerIdentifier.self;
        }

        /** HashedId8 of the signer; anything else but a digest is refused. */
        byte[] signerDigest() throws Refused {
            if (data.getSigner().getChoice() != SignerIdentifier.digest) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "signer is not given by digest");
            }
            return ASN1OctetString.getInstance(data.getSigner().getSignerIdentifier()).getOctets();
        }

        /** The certificate the signer sent along, or null if it is named by its digest. */
        Cert signerCertificate() throws Refused {
            if (data.getSigner().getChoice() != SignerIdentifier.certificate) {
                return null;
            }
            var sent = SequenceOfCertificate.getInstance(data.getSigner().getSignerIdentifier()).getCertificates();
            if (sent.size() != 1) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "signer has " + sent.size() + " certificates");
            }
            return Cert.of(sent.get(0));
        }

        /** Whoever sent it holds this certificate, which is valid now; how the message names it was looked at. */
        void checkSender(Cert certificate, int psid) throws Refused {
            certificate.checkValidNow();
            check(new JcaITSContentVerifierProvider.Builder().setProvider(Keys.BC).build(certificate.its()), certificate.curve(), psid);
        }

        /** Signer {@code self}: the key is known from elsewhere. */
        void checkSelf(PublicVerificationKey key, int psid) throws Refused {
            if (!isSelfSigned()) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "signer is not self");
            }
            Keys.publicKey(key);
            check(new JcaITSContentVerifierProvider.Builder().setProvider(Keys.BC).build(new ITSPublicVerificationKey(key)),
                ItsCurve.byChoice(key.getChoice()), psid);
        }

        /** Signer by digest: it must be this certificate, valid now. */
        void checkSigner(Cert certificate, int psid) throws Refused {
            if (!Arrays.equals(signerDigest(), certificate.hashedId8())) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, "signed by "
                    + HexFormat.of().withUpperCase().formatHex(signerDigest()) + ", not by " + certificate.id());
            }
            certificate.checkValidNow();
            check(new JcaITSContentVerifierProvider.Builder().setProvider(Keys.BC).build(certificate.its()), certificate.curve(), psid);
        }

        /** As {@link #checkSigner} for lists: they may be old, and may name their signer by the certificate itself. */
        void checkListSigner(Cert certificate, int psid) throws Refused {
            Cert sent = signerCertificate();
            byte[] named = sent == null ? signerDigest() : sent.hashedId8();
            if (!Arrays.equals(named, certificate.hashedId8()) || (sent != null && !Arrays.equals(sent.bytes(), certificate.bytes()))) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, "list is not signed by " + certificate.id());
            }
            certificate.checkValidNow();
            checkSignature(new JcaITSContentVerifierProvider.Builder().setProvider(Keys.BC).build(certificate.its()), certificate.curve(), psid);
        }

        private void check(ITSContentVerifierProvider verifier, ItsCurve curve, int psid) throws Refused {
            checkSignature(verifier, curve, psid);
            HeaderInfo header = data.getTbsData().getHeaderInfo();
            long ageSeconds = ItsTime.nowSeconds() - header.getGenerationTime().getValue().longValue() / 1_000_000;
            if (Math.abs(ageSeconds) > CLOCK_DIFFERENCE_MAX_S) {
                throw new Refused(Refused.Reason.OUT_OF_SYNC, "generated " + ageSeconds + " s ago");
            }
        }

        private void checkSignature(ITSContentVerifierProvider verifier, ItsCurve curve, int psid) throws Refused {
            HeaderInfo header = data.getTbsData().getHeaderInfo();
            if (header.getGenerationTime() == null) {
                throw new Refused(Refused.Reason.INCOMPLETE_REQUEST, "generationTime is absent");
            }
            if (header.getPsid().getPsid().longValue() != psid) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "PSID " + header.getPsid().getPsid() + ", expected " + psid);
            }
            if (!data.getHashId().equals(curve.hashAlgorithm())) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, "hashId does not go with the signer's curve");
            }
            boolean valid;
            try {
                valid = new ETSISignedData(data).signatureValid(verifier);
            } catch (Exception e) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, String.valueOf(e.getMessage()));
            }
            if (!valid) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, "signature does not verify");
            }
        }

        /** Octets of the embedded payload. */
        byte[] payload() throws Refused {
            var inner = data.getTbsData().getPayload().getData();
            if (inner == null || inner.getContent().getChoice() != Ieee1609Dot2Content.unsecuredData) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "signed payload is not unsecured data");
            }
            return ASN1OctetString.getInstance(inner.getContent().getIeee1609Dot2Content()).getOctets();
        }

        /** The external payload must be this one. */
        void checkExternalPayload(byte[] payload) throws Refused {
            HashedData hash = data.getTbsData().getPayload().getExtDataHash();
            if (hash == null || hash.getChoice() != HashedData.sha256HashedData
                || !Arrays.equals(ASN1OctetString.getInstance(hash.getHashedData()).getOctets(), Cert.digest("SHA-256", payload))) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, "external payload hash does not match");
            }
        }
    }
}
