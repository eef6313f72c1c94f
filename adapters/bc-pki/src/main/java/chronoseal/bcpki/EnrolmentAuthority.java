package chronoseal.bcpki;

import java.io.IOException;
import java.util.Arrays;

import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.oer.its.etsi102941.AuthorizationValidationRequest;
import org.bouncycastle.oer.its.etsi102941.AuthorizationValidationResponse;
import org.bouncycastle.oer.its.etsi102941.AuthorizationValidationResponseCode;
import org.bouncycastle.oer.its.etsi102941.EnrolmentResponseCode;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.InnerEcRequest;
import org.bouncycastle.oer.its.etsi102941.InnerEcResponse;
import org.bouncycastle.oer.its.etsi102941.SharedAtRequest;
import org.bouncycastle.oer.its.etsi102941.basetypes.CertificateSubjectAttributes;
import org.bouncycastle.oer.its.etsi102941.basetypes.EcSignature;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097Data;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.ValidityPeriod;

/**
 * Enrolment authority: issues enrolment credentials to registered stations (TS 102 941 §6.2.3.2) and
 * tells authorization authorities, its own or another vendor's, what a station may have (§6.2.3.4).
 */
final class EnrolmentAuthority {
    private static final int CREDENTIAL_YEARS = 3;
    /** Longest validity of a ticket, and how far ahead it may begin. */
    private static final int TICKET_HOURS_MAX = 168;
    private static final long PRELOAD_SECONDS_MAX = 90L * 86_400;

    private final Identity identity;
    private final Cert ownAa;
    private final Stations stations;
    private final TrustStore trust;

    EnrolmentAuthority(Identity identity, Cert ownAa, Stations stations, TrustStore trust) {
        this.identity = identity;
        this.ownAa = ownAa;
        this.stations = stations;
        this.trust = trust;
    }

    Cert certificate() {
        return identity.certificate();
    }

    /**
     * Answers an encrypted request. A request that cannot be decrypted gives no key to answer under,
     * which is the only case of {@link Refused}.
     */
    byte[] handle(byte[] request) throws Refused {
        Encryption.Opened opened = Encryption.open(request, identity.certificate(), identity.decryptionKey());
        byte[] answer;
        try {
            Signing.Message outer = Signing.Message.decode(opened.plaintext());
            Management.Content content = Management.decode(outer.payload());
            answer = content.choice() == EtsiTs102941DataContent.authorizationValidationRequest
                ? validate(request, outer, content)
                : enrol(request, outer, content);
        } catch (Refused refused) {
            answer = enrolmentResponse(request, refused.reason.enrolment, null);
            Log.refused("ea", refused);
        }
        return Encryption.sealUnder(opened.key(), Signing.sign(answer, Permissions.SECURED_CERTIFICATE_REQUEST, identity.signer()));
    }

    private byte[] enrol(byte[] request, Signing.Message outer, Management.Content content) throws Refused {
        if (content.choice() != EtsiTs102941DataContent.enrolmentRequest) {
            throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "content " + content.choice() + " is no enrolment request");
        }
        Signing.Message inner = Signing.Message.of(
            Management.convert(EtsiTs103097Data::getInstance, content.value()));
        InnerEcRequest wanted = Management.convert(InnerEcRequest::getInstance, Oer.decode(inner.payload(), Oer.INNER_EC_REQUEST));
        Stations.Station station = identify(outer, wanted.getItsId().getOctets());
        inner.checkSelf(wanted.getPublicKeys().getVerificationKey(), Permissions.SECURED_CERTIFICATE_REQUEST);
        CertificateSubjectAttributes attributes = wanted.getRequestedSubjectAttributes();
        if (wanted.getCertificateFormat().getFormat() != 1 || attributes.getAppPermissions() == null
            || attributes.getCertIssuePermissions() != null) {
            throw new Refused(Refused.Reason.INCOMPLETE_REQUEST, "certificate format or permissions are not those of a credential");
        }
        Permissions app = Permissions.of(attributes.getAppPermissions());
        if (app.isEmpty() || !app.isWithin(Permissions.ENROLMENT_CREDENTIAL)) {
            throw new Refused(Refused.Reason.DENIED_PERMISSIONS, app + " exceeds " + Permissions.ENROLMENT_CREDENTIAL);
        }
        if (wanted.getPublicKeys().getEncryptionKey() != null) {
            Keys.publicKey(wanted.getPublicKeys().getEncryptionKey());
        }
        Cert credential = Identity.issue(new Identity.Content(null, ItsTime.validityYears(ItsTime.nowSeconds(), CREDENTIAL_YEARS),
            attributes.getRegion(), app, null, wanted.getPublicKeys().getVerificationKey(), wanted.getPublicKeys().getEncryptionKey()),
            identity.signer());
        try {
            stations.addCredential(credential, station);
        } catch (IOException e) {
            throw new Refused(Refused.Reason.DENIED_REQUEST, "credential cannot be recorded: " + e.getMessage());
        }
        Log.info("ea", "credential " + credential.id() + " to station " + station.id());
        return enrolmentResponse(request, 0, credential);
    }

    /**
     * Whose request it is. The first enrolment is signed by the canonical key, not by the new one,
     * with the canonical identifier as itsId; a renewal is signed by the current credential, whose
     * HashedId8 is the itsId (TS 102 941 §6.2.3.2.1, TS 103 525-2 SECPKI_ITSS_ENR_02_BV).
     */
    private Stations.Station identify(Signing.Message outer, byte[] itsId) throws Refused {
        if (outer.isSelfSigned()) {
            Stations.Station station = stations.find(itsId);
            if (station.revoked()) {
                throw new Refused(Refused.Reason.BAD_ITS_STATUS, "station " + station.id() + " is revoked");
            }
            outer.checkSelf(Keys.verificationKey(station.canonicalKey()), Permissions.SECURED_CERTIFICATE_REQUEST);
            return station;
        }
        Stations.Credential current = stations.findCredential(outer.signerDigest());
        if (!Arrays.equals(itsId, current.certificate().hashedId8())) {
            throw new Refused(Refused.Reason.UNKNOWN_ITS, "itsId of a renewal is not the signing credential");
        }
        outer.checkSigner(current.certificate(), Permissions.SECURED_CERTIFICATE_REQUEST);
        return current.station();
    }

    private static byte[] enrolmentResponse(byte[] request, int code, Cert certificate) {
        return Management.encode(EtsiTs102941DataContent.enrolmentResponse, new InnerEcResponse(
            new DEROctetString(Management.requestHash(request)), new EnrolmentResponseCode(code), certificate == null ? null : certificate.asn1()));
    }

    private byte[] validate(byte[] request, Signing.Message outer, Management.Content content) {
        try {
            checkAa(outer);
            var asked = Management.convert(AuthorizationValidationRequest::getInstance, content.value());
            CertificateSubjectAttributes confirmed = confirm(asked.getSharedAtRequest(), asked.getEcSignature());
            return validationResponse(request, 0, confirmed);
        } catch (Refused refused) {
            Log.refused("ea validation", refused);
            return validationResponse(request, refused.reason.validation, null);
        }
    }

    private void checkAa(Signing.Message outer) throws Refused {
        byte[] digest = outer.signerDigest();
        Cert aa = Arrays.equals(digest, ownAa.hashedId8()) ? ownAa : trust.findAa(digest).certificate();
        var app = aa.toBeSigned().getAppPermissions();
        if (app == null || !Permissions.parse("623:0120").isWithin(Permissions.of(app))) {
            throw new Refused(Refused.Reason.INVALID_AA, aa.id() + " may not send authorization validation requests");
        }
        try {
            outer.checkSigner(aa, Permissions.SECURED_CERTIFICATE_REQUEST);
        } catch (Refused e) {
            throw e.reason == Refused.Reason.INVALID_SIGNATURE ? new Refused(Refused.Reason.INVALID_AA_SIGNATURE, e.getMessage()) : e;
        }
    }

    private CertificateSubjectAttributes confirm(SharedAtRequest shared, EcSignature signature) throws Refused {
        if (!Arrays.equals(Permissions.octets(shared.getEaId()), identity.certificate().hashedId8())) {
            throw new Refused(Refused.Reason.WRONG_EA, "eaId is not " + identity.certificate().id());
        }
        byte[] proof = Oer.encode(signature.getEcSignature(), Oer.DATA);
        if (signature.getChoice() == EcSignature.encryptedEcSignature) {
            proof = Encryption.open(proof, identity.certificate(), identity.decryptionKey()).plaintext();
        }
        Signing.Message signed = Signing.Message.decode(proof);
        Stations.Credential credential = stations.findCredential(signed.signerDigest());
        signed.checkSigner(credential.certificate(), Permissions.SECURED_CERTIFICATE_REQUEST);
        signed.checkExternalPayload(Oer.encode(shared, Oer.SHARED_AT_REQUEST));

        CertificateSubjectAttributes wanted = shared.getRequestedSubjectAttributes();
        if (wanted.getAppPermissions() == null || wanted.getCertIssuePermissions() != null) {
            throw new Refused(Refused.Reason.DENIED_PERMISSIONS, "no permissions of a ticket are requested");
        }
        Permissions app = Permissions.of(wanted.getAppPermissions());
        if (app.isEmpty() || !app.isWithin(credential.station().permissions())) {
            throw new Refused(Refused.Reason.DENIED_PERMISSIONS, app + " exceeds " + credential.station().permissions());
        }
        return new CertificateSubjectAttributes(null, ticketValidity(wanted.getValidityPeriod(), credential.certificate()),
            wanted.getRegion(), wanted.getAssuranceLevel(), wanted.getAppPermissions(), null);
    }

    /** The period asked for if it is allowed, cut to the longest one; a week from now if none is asked for. */
    private static ValidityPeriod ticketValidity(ValidityPeriod wanted, Cert credential) throws Refused {
        long now = ItsTime.nowSeconds();
        ValidityPeriod period = wanted == null ? ItsTime.validity(now, TICKET_HOURS_MAX) : wanted;
        long start = ItsTime.startSeconds(period);
        if (start > now + PRELOAD_SECONDS_MAX || ItsTime.endSeconds(period) <= now
            || start >= ItsTime.endSeconds(credential.toBeSigned().getValidityPeriod())) {
            throw new Refused(Refused.Reason.DENIED_PERMISSIONS, "validity period is not allowed");
        }
        return ItsTime.endSeconds(period) - start > TICKET_HOURS_MAX * 3600L ? ItsTime.validity(start, TICKET_HOURS_MAX) : period;
    }

    private static byte[] validationResponse(byte[] request, int code, CertificateSubjectAttributes confirmed) {
        return Management.encode(EtsiTs102941DataContent.authorizationValidationResponse, new AuthorizationValidationResponse(
            new DEROctetString(Management.requestHash(request)), new AuthorizationValidationResponseCode(code), confirmed));
    }
}
