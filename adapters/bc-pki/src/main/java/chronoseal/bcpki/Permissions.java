package chronoseal.bcpki;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.oer.its.ieee1609dot2.EndEntityType;
import org.bouncycastle.oer.its.ieee1609dot2.PsidGroupPermissions;
import org.bouncycastle.oer.its.ieee1609dot2.SequenceOfPsidGroupPermissions;
import org.bouncycastle.oer.its.ieee1609dot2.SubjectPermissions;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.BitmapSsp;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.BitmapSspRange;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Psid;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PsidSsp;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.PsidSspRange;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.SequenceOfPsidSsp;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.SequenceOfPsidSspRange;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.ServiceSpecificPermissions;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.SspRange;

/**
 * Sets of (PSID, bitmap SSP). The first octet of an SSP is its version and must match; every other
 * bit is a permission of its own (TS 103 097 §7.2, TS 102 965 for the PSID values).
 */
final class Permissions {
    static final int CAM = 36;
    static final int DENM = 37;
    static final int CRL = 622;
    static final int SECURED_CERTIFICATE_REQUEST = 623;
    static final int CTL = 624;

    record Entry(long psid, byte[] ssp) {
        @Override
        public String toString() {
            return psid + ":" + HexFormat.of().formatHex(ssp);
        }
    }

    /** What an enrolment credential may do: request enrolment (80) and authorization (40). */
    static final Permissions ENROLMENT_CREDENTIAL = parse("623:01c0");
    /** EA: enrolment response, authorization validation response, CA certificate request. */
    static final Permissions ENROLMENT_AUTHORITY = parse("623:010e");
    /** AA: authorization validation request, authorization response, CA certificate request. */
    static final Permissions AUTHORIZATION_AUTHORITY = parse("623:0132");
    /** RCA: CRLs, and CTL entries for EA, AA and DC. */
    static final Permissions ROOT = parse("622:01", "624:0138");
    /** TLM: CTL entries for TLM, RCA and DC. */
    static final Permissions TRUST_LIST_MANAGER = parse("624:01c8");
    /** Every permission this AA can put into an authorization ticket. */
    static final Permissions AUTHORIZATION_TICKET = parse("36:01ffff", "37:01ffffff", "137:01e0", "138:01c0", "139:01ffffffffff",
        "140:02ffffe0", "141:01c0", "639:01ff");

    private final List<Entry> entries;

    private Permissions(List<Entry> entries) {
        this.entries = List.copyOf(entries);
    }

    /** Entries of the form {@code PSID:HEXSSP}; {@code PSID} alone is a permission without SSP. */
    static Permissions parse(String... texts) {
        List<Entry> entries = new ArrayList<>();
        for (String text : texts) {
            String[] parts = text.split(":", 2);
            entries.add(new Entry(Long.parseLong(parts[0]), HexFormat.of().parseHex(parts.length == 2 ? parts[1] : "")));
        }
        // TS 103 097 §6: PSIDs in ascending order is the canonical order of this program's certificates.
        entries.sort(Comparator.comparingLong(Entry::psid));
        return new Permissions(entries);
    }

    static Permissions of(SequenceOfPsidSsp sequence) throws Refused {
        List<Entry> entries = new ArrayList<>();
        for (PsidSsp item : sequence.getPsidSsps()) {
            byte[] ssp = new byte[0];
            if (item.getSsp() != null) {
                if (item.getSsp().getChoice() != ServiceSpecificPermissions.bitmapSsp) {
                    throw new Refused(Refused.Reason.DENIED_PERMISSIONS, "SSP of PSID " + item.getPsid().getPsid() + " is no bitmap");
                }
                ssp = BitmapSsp.getInstance(item.getSsp().getServiceSpecificPermissions()).getString().getOctets();
            }
            entries.add(new Entry(item.getPsid().getPsid().longValueExact(), ssp));
        }
        return new Permissions(entries);
    }

    SequenceOfPsidSsp asn1() {
        return new SequenceOfPsidSsp(entries.stream().map(entry -> new PsidSsp(new Psid(entry.psid),
            entry.ssp.length == 0 ? null : ServiceSpecificPermissions.bitmapSsp(new BitmapSsp(entry.ssp)))).toList());
    }

    /** True if every entry is contained in an entry of {@code granted}. */
    boolean isWithin(Permissions granted) {
        return entries.stream().allMatch(wanted -> granted.entries.stream().anyMatch(entry -> contains(entry, wanted)));
    }

    private static boolean contains(Entry granted, Entry wanted) {
        if (granted.psid != wanted.psid || granted.ssp.length != wanted.ssp.length) {
            return false;
        }
        for (int i = 0; i < wanted.ssp.length; i++) {
            if (i == 0 ? granted.ssp[0] != wanted.ssp[0] : (wanted.ssp[i] & ~granted.ssp[i]) != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * The right to issue these permissions: the version octet is fixed, bits not granted are fixed
     * to zero, granted bits are free (mask bit 0).
     */
    PsidGroupPermissions issuing(int minChainLength, int eeType) {
        List<PsidSspRange> ranges = entries.stream().map(entry -> {
            byte[] mask = new byte[entry.ssp.length];
            for (int i = 0; i < mask.length; i++) {
                mask[i] = (byte) (i == 0 ? 0xff : ~entry.ssp[i]);
            }
            return new PsidSspRange(new Psid(entry.psid), entry.ssp.length == 0 ? null : SspRange.bitmapSspRange(
                BitmapSspRange.builder().setSspValue(entry.ssp).setSspBitMask(mask).createBitmapSspRange()));
        }).toList();
        return PsidGroupPermissions.builder()
            .setSubjectPermissions(SubjectPermissions.explicit(new SequenceOfPsidSspRange(ranges)))
            .setMinChainLength(minChainLength)
            .setChainLengthRange(0)
            .setEeType(new EndEntityType(eeType))
            .createPsidGroupPermissions();
    }

    static SequenceOfPsidGroupPermissions groups(PsidGroupPermissions... groups) {
        return new SequenceOfPsidGroupPermissions(Arrays.asList(groups));
    }

    Permissions plus(Permissions other) {
        List<Entry> all = new ArrayList<>(entries);
        all.addAll(other.entries);
        all.sort(Comparator.comparingLong(Entry::psid));
        return new Permissions(all);
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    List<Entry> entries() {
        return entries;
    }

    @Override
    public String toString() {
        return String.join(" ", entries.stream().map(Entry::toString).toList());
    }

    static byte[] octets(org.bouncycastle.asn1.ASN1Encodable value) {
        return ASN1OctetString.getInstance(value).getOctets();
    }
}
