package chronoseal.bcpki;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Arrays;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.oer.its.etsi102941.AuthorizationResponseCode;
import org.bouncycastle.oer.its.etsi102941.AuthorizationValidationRequest;
import org.bouncycastle.oer.its.etsi102941.AuthorizationValidationResponse;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.InnerAtRequest;
import org.bouncycastle.oer.its.etsi102941.InnerAtResponse;
import org.bouncycastle.oer.its.etsi102941.SharedAtRequest;
import org.bouncycastle.oer.its.etsi102941.basetypes.CertificateSubjectAttributes;
import org.bouncycastle.oer.its.etsi102941.basetypes.PublicKeys;

/**
 * Authorization authority: issues authorization tickets to stations it does not know, on the word of
 * the EA that enrolled them, its own or another vendor's (TS 102 941 §6.2.3.3).
 */
final class AuthorizationAuthority {
    private final Identity identity;
    private final EnrolmentAuthority ownEa;
    private final TrustStore trust;

    /** The EA refused: its response code is passed on to the station. */
    private static final class EaRefused extends Exception {
        private static final long serialVersionUID = 1L;
        final int authorizationCode;

        EaRefused(int validationCode) {
            super("EA answered code " + validationCode);
            // AuthorizationResponseCode lists the EA's codes in the same order behind its own; it lacks deniedrequest.
            this.authorizationCode = validationCode >= 14 ? 25 : validationCode + 13;
        }
    }

    AuthorizationAuthority(Identity identity, EnrolmentAuthority ownEa, TrustStore trust) {
        this.identity = identity;
        this.ownEa = ownEa;
        this.trust = trust;
    }

    /** Answers an encrypted request; {@link Refused} only if it cannot be decrypted. */
    byte[] handle(byte[] request) throws Refused {
        Encryption.Opened opened = Encryption.open(request, identity.certificate(), identity.decryptionKey());
        byte[] answer;
        try {
            Cert ticket = authorize(opened.plaintext());
            Log.info("aa", "ticket " + ticket.id());
            answer = response(request, 0, ticket);
        } catch (Refused refused) {
            Log.refused("aa", refused);
            answer = response(request, refused.reason.authorization, null);
        } catch (EaRefused refused) {
            Log.info("aa", "refused, " + refused.getMessage());
            answer = response(request, refused.authorizationCode, null);
        }
        return Encryption.sealUnder(opened.key(), Signing.sign(answer, Permissions.SECURED_CERTIFICATE_REQUEST, identity.signer()));
    }

    private Cert authorize(byte[] plaintext) throws Refused, EaRefused {
        Signing.Message outer = Signing.Message.decode(plaintext);
        InnerAtRequest wanted = Management.expect(outer.payload(), EtsiTs102941DataContent.authorizationRequest, InnerAtRequest::getInstance);
        outer.checkSelf(wanted.getPublicKeys().getVerificationKey(), Permissions.SECURED_CERTIFICATE_REQUEST);
        SharedAtRequest shared = wanted.getSharedAtRequest();
        if (!Arrays.equals(keyTag(wanted.getHmacKey().getOctets(), wanted.getPublicKeys()), shared.getKeyTag().getOctets())) {
            throw new Refused(Refused.Reason.KEYS_DONT_MATCH, "keyTag is not the HMAC of the public keys");
        }
        if (wanted.getPublicKeys().getEncryptionKey() != null) {
            Keys.publicKey(wanted.getPublicKeys().getEncryptionKey());
        }
        CertificateSubjectAttributes attributes = shared.getRequestedSubjectAttributes();
        if (shared.getCertificateFormat().getFormat() != 1 || attributes.getAppPermissions() == null
            || attributes.getCertIssuePermissions() != null) {
            throw new Refused(Refused.Reason.INCOMPLETE_REQUEST, "certificate format or permissions are not those of a ticket");
        }
        if (!permissions(attributes).isWithin(Permissions.AUTHORIZATION_TICKET)) {
            throw new Refused(Refused.Reason.AA_DENIES_PERMISSIONS, permissions(attributes) + " exceeds " + Permissions.AUTHORIZATION_TICKET);
        }

        CertificateSubjectAttributes confirmed = askEa(wanted);
        if (confirmed.getValidityPeriod() == null || confirmed.getAppPermissions() == null
            || !permissions(confirmed).isWithin(Permissions.AUTHORIZATION_TICKET)) {
            throw new Refused(Refused.Reason.AA_DENIES_PERMISSIONS, "EA confirmed attributes no ticket can have");
        }
        if (ItsTime.endSeconds(confirmed.getValidityPeriod()) > ItsTime.endSeconds(identity.certificate().toBeSigned().getValidityPeriod())) {
            throw new Refused(Refused.Reason.AA_DENIES_PERMISSIONS, "ticket would outlive this AA");
        }
        return Identity.issue(new Identity.Content(null, confirmed.getValidityPeriod(), confirmed.getRegion(), permissions(confirmed), null,
            wanted.getPublicKeys().getVerificationKey(), wanted.getPublicKeys().getEncryptionKey()), identity.signer());
    }

    /** Permissions as AA codes see them: an SSP that is no bitmap is denied by the AA. */
    private static Permissions permissions(CertificateSubjectAttributes attributes) throws Refused {
        try {
            return Permissions.of(attributes.getAppPermissions());
        } catch (Refused e) {
            throw new Refused(Refused.Reason.AA_DENIES_PERMISSIONS, e.getMessage());
        }
    }

    /** Authorization validation with the EA the station names (TS 102 941 §6.2.3.4). */
    private CertificateSubjectAttributes askEa(InnerAtRequest wanted) throws Refused, EaRefused {
        byte[] eaId = Permissions.octets(wanted.getSharedAtRequest().getEaId());
        boolean own = Arrays.equals(eaId, ownEa.certificate().hashedId8());
        TrustLists.Access foreign = own ? null : trust.findEa(eaId);
        Cert ea = own ? ownEa.certificate() : foreign.certificate();
        byte[] question = Management.encode(EtsiTs102941DataContent.authorizationValidationRequest,
            new AuthorizationValidationRequest(wanted.getSharedAtRequest(), wanted.getEcSignature()));
        Encryption.Sealed sealed = Encryption.sealTo(ea,
            Signing.sign(question, Permissions.SECURED_CERTIFICATE_REQUEST, identity.signer()));

        byte[] answer;
        try {
            answer = own ? ownEa.handle(sealed.message()) : Http.post(foreign.url(), sealed.message());
        } catch (IOException e) {
            throw new Refused(Refused.Reason.CANT_REACH_EA, e.getMessage());
        }
        AuthorizationValidationResponse response;
        try {
            Signing.Message signed = Signing.Message.decode(Encryption.openUnder(sealed.key(), answer));
            signed.checkSigner(ea, Permissions.SECURED_CERTIFICATE_REQUEST);
            response = Management.expect(signed.payload(), EtsiTs102941DataContent.authorizationValidationResponse,
                AuthorizationValidationResponse::getInstance);
        } catch (Refused e) {
            throw new Refused(Refused.Reason.CANT_REACH_EA, "EA's answer is refused, " + e.getMessage());
        }
        if (!Arrays.equals(response.getRequestHash().getOctets(), Management.requestHash(sealed.message()))) {
            throw new Refused(Refused.Reason.CANT_REACH_EA, "EA's answer is to another request");
        }
        int code = response.getResponseCode().getValue().intValue();
        if (code != 0) {
            throw new EaRefused(code);
        }
        if (response.getConfirmedSubjectAttributes() == null) {
            throw new Refused(Refused.Reason.CANT_REACH_EA, "EA confirmed nothing");
        }
        return response.getConfirmedSubjectAttributes();
    }

    /** First 16 octets of HMAC-SHA256 over the encoded public keys (TS 102 941 §6.2.3.3.1). */
    static byte[] keyTag(byte[] hmacKey, PublicKeys keys) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256", Keys.BC);
            mac.init(new SecretKeySpec(hmacKey, "HmacSHA256"));
            mac.update(Oer.encode(keys.getVerificationKey(), Oer.VERIFICATION_KEY));
            if (keys.getEncryptionKey() != null) {
                mac.update(Oer.encode(keys.getEncryptionKey(), Oer.ENCRYPTION_KEY));
            }
            return Arrays.copyOf(mac.doFinal(), 16);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Bouncy Castle has no HMAC-SHA256", e);
        }
    }

    private static byte[] response(byte[] request, int code, Cert certificate) {
        return Management.encode(EtsiTs102941DataContent.authorizationResponse, new InnerAtResponse(
            new DEROctetString(Management.requestHash(request)), new AuthorizationResponseCode(code), certificate == null ? null : certificate.asn1()));
    }
}
