package chronoseal.bcpki;

import java.io.IOException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;

/**
 * A station that receives: it judges signed messages by a root and the lists of that root's distribution
 * centre, which it fetches again every so often. Lists that cannot be had, or are no good, leave the last
 * good ones in use.
 */
final class Receiver {
    private final Cert root;
    private final String centre;
    private final long refreshMillis;
    private TrustLists.Ctl authorities;
    private List<String> revoked;
    private long fetchedAt;
    private String lastFailure = "";
    /** Tickets that came with a message whose signatures were right, by identifier. */
    private final Map<String, Cert> tickets = new HashMap<>();

    Receiver(Cert root, String centre, long refreshMillis) throws Refused {
        root.checkIssuedBy(root);
        this.root = root;
        this.centre = centre.replaceAll("/+$", "");
        this.refreshMillis = refreshMillis;
    }

    /** What becomes of the message: {@code accepted TICKET} or {@code refused TICKET REASON}. */
    String judge(byte[] message, int psid) {
        refreshIfDue();
        String id = "unknown";
        try {
            Signing.Message signed = Signing.Message.decode(message);
            Cert sent = signed.signerCertificate();
            id = sent == null ? HexFormat.of().withUpperCase().formatHex(signed.signerDigest()) : sent.id();
            Cert ticket = sent == null ? tickets.get(id) : sent;
            if (ticket == null) {
                throw new Refused(Refused.Reason.INVALID_SIGNATURE, "its certificate did not come yet");
            }
            checkIssuer(ticket);
            if (ticket.toBeSigned().getAppPermissions() == null
                || Permissions.of(ticket.toBeSigned().getAppPermissions()).entries().stream().noneMatch(entry -> entry.psid() == psid)) {
                throw new Refused(Refused.Reason.DENIED_PERMISSIONS, "the ticket does not allow PSID " + psid);
            }
            signed.checkSender(ticket, psid);
            tickets.put(id, ticket);
            return "accepted " + id;
        } catch (Refused e) {
            return "refused " + id + " " + e.getMessage();
        }
    }

    /** The ticket's authority has to be on the trust list and not on the revocation list. */
    private void checkIssuer(Cert ticket) throws Refused {
        if (authorities == null || revoked == null) {
            throw new Refused(Refused.Reason.INVALID_AA, "there are no lists of root " + root.id() + " yet");
        }
        String issuer = ticket.isSelfSigned() ? ticket.id() : HexFormat.of().withUpperCase().formatHex(ticket.issuerId());
        if (revoked.contains(issuer)) {
            throw new Refused(Refused.Reason.INVALID_AA, "its authority " + issuer + " is on the revocation list");
        }
        for (TrustLists.Access access : authorities.aas()) {
            if (access.certificate().id().equals(issuer)) {
                access.certificate().checkIssuedBy(root);
                ticket.checkIssuedBy(access.certificate());
                return;
            }
        }
        throw new Refused(Refused.Reason.INVALID_AA, "its authority " + issuer + " is not on the trust list");
    }

    private void refreshIfDue() {
        long now = System.nanoTime() / 1_000_000;
        if (fetchedAt != 0 && now - fetchedAt < refreshMillis) {
            return;
        }
        fetchedAt = now;
        try {
            var ctl = TrustLists.readCtl(Http.get(centre + "/getctl/" + root.id(), Http.CTL), EtsiTs102941DataContent.certificateTrustListRca, root);
            var crl = TrustLists.readCrl(Http.get(centre + "/getcrl/" + root.id(), Http.CRL), root);
            if (authorities != null && authorities.sequence() == ctl.sequence() && crl.equals(revoked)) {
                return;
            }
            authorities = ctl;
            revoked = crl;
            lastFailure = "";
            Log.info("receiver", "trust list number " + ctl.sequence() + " with " + ctl.aas().size() + " AA, revocation list with " + crl.size()
                + (crl.isEmpty() ? "" : ": " + String.join(" ", crl)));
        } catch (IOException | Refused e) {
            if (!lastFailure.equals(String.valueOf(e.getMessage()))) {
                lastFailure = String.valueOf(e.getMessage());
                Log.info("receiver", "the lists that are held stay: " + lastFailure);
            }
        }
    }
}
