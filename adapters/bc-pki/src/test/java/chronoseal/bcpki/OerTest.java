package chronoseal.bcpki;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HexFormat;

import org.bouncycastle.oer.OEREncoder;
import org.bouncycastle.oer.OERInputStream;
import org.bouncycastle.oer.its.etsi102941.CtlFormat;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.basetypes.CertificateSubjectAttributes;
import org.bouncycastle.oer.its.template.etsi102941.EtsiTs102941MessagesCa;
import org.bouncycastle.oer.its.template.etsi102941.basetypes.EtsiTs102941BaseTypes;
import org.junit.jupiter.api.Test;

/**
 * Encoding against the European L2 trust list and its manager's certificate. Origin of the two
 * files: github.com/librasn/rasn, standards/its/tests/data/CE4CF6C19BFED720.oer and
 * E7A4B2B045E7ACF9.oer (MIT OR Apache-2.0), downloaded there from the EU's CPOC.
 */
class OerTest {
    static byte[] resource(String name) throws Exception {
        try (var in = OerTest.class.getResourceAsStream("/" + name)) {
            return in.readAllBytes();
        }
    }

    @Test
    void verifiesTheEuropeanTrustList() throws Exception {
        Cert tlm = Cert.decode(resource("eu-tlm-l2.oer"));
        assertEquals("E7A4B2B045E7ACF9", tlm.id(), "the digest is SHA-384, as the key is on brainpoolP384r1");
        Signing.Message list = Signing.Message.decode(resource("eu-ectl-l2.oer"));
        list.checkListSigner(tlm, Permissions.CTL);

        CtlFormat ctl = Management.expect(list.payload(), EtsiTs102941DataContent.certificateTrustListTlm, CtlFormat::getInstance);
        assertEquals(1, ctl.getVersion().getVersion().intValueExact());
        assertEquals(5, ctl.getCtlCommands().getCtlCommands().size());
    }

    @Test
    void stockTemplateCannotReadTheEuropeanTrustList() throws Exception {
        byte[] payload = Signing.Message.decode(resource("eu-ectl-l2.oer")).payload();
        var stock = EtsiTs102941MessagesCa.EtsiTs102941Data.build();
        boolean roundTrip;
        try {
            roundTrip = java.util.Arrays.equals(payload, OEREncoder.toByteArray(OERInputStream.parse(payload, stock), stock));
        } catch (Exception e) {
            roundTrip = false;
        }
        assertFalse(roundTrip, "Bouncy Castle encodes CtlFormat.version correctly now: the own templates in Oer can go");
    }

    @Test
    void everyChangedOctetOfTheListIsRefused() throws Exception {
        Cert tlm = Cert.decode(resource("eu-tlm-l2.oer"));
        byte[] list = resource("eu-ectl-l2.oer");
        for (int i = 0; i < list.length; i++) {
            byte[] changed = list.clone();
            changed[i] ^= 1;
            int at = i;
            assertThrows(Refused.class, () -> {
                Signing.Message message = Signing.Message.decode(changed);
                message.checkListSigner(tlm, Permissions.CTL);
            }, () -> "octet " + at);
        }
    }

    @Test
    void subjectAttributesHaveOnePreambleOctet() throws Exception {
        var attributes = new CertificateSubjectAttributes(null, null, null, null, Permissions.parse("623:01c0").asn1(), null);
        byte[] encoded = OEREncoder.toByteArray(attributes, EtsiTs102941BaseTypes.CertificateSubjectAttributes.build());
        // extension bit and id, validityPeriod, region, assuranceLevel absent; appPermissions present; certIssuePermissions absent
        assertArrayEquals(HexFormat.of().parseHex("04" + "0101" + "80" + "02026f" + "81" + "03" + "02" + "01c0"), encoded);
    }

    @Test
    void refusesTrailingOctetsAndNonCanonicalLengths() throws Exception {
        byte[] tlm = resource("eu-tlm-l2.oer");
        assertThrows(Refused.class, () -> Cert.decode(java.util.Arrays.copyOf(tlm, tlm.length + 1)));
        assertThrows(Refused.class, () -> Cert.decode(java.util.Arrays.copyOf(tlm, tlm.length - 1)));
    }

    @Test
    void deepNestingIsRefusedNotOverrun() {
        // protocolVersion, signedData, hashId, payload with data: one level of signed data in signed data
        byte[] level = {3, (byte) 0x81, 0, 0x40};
        byte[] bomb = new byte[64 * 1024];
        for (int i = 0; i < bomb.length; i++) {
            bomb[i] = level[i % level.length];
        }
        assertThrows(Refused.class, () -> Oer.checkData(bomb));
    }

    @Test
    void claimedLengthsAllocateNothing() {
        // unsecuredData claiming 2^31 - 1 octets
        assertThrows(Refused.class, () -> Oer.checkData(HexFormat.of().parseHex("0380847fffffff00")));
    }
}
