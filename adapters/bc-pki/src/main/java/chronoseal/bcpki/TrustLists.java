package chronoseal.bcpki;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import org.bouncycastle.asn1.ASN1Boolean;
import org.bouncycastle.oer.its.etsi102941.AaEntry;
import org.bouncycastle.oer.its.etsi102941.CrlEntry;
import org.bouncycastle.oer.its.etsi102941.CtlCommand;
import org.bouncycastle.oer.its.etsi102941.CtlEntry;
import org.bouncycastle.oer.its.etsi102941.CtlFormat;
import org.bouncycastle.oer.its.etsi102941.DcEntry;
import org.bouncycastle.oer.its.etsi102941.EaEntry;
import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;
import org.bouncycastle.oer.its.etsi102941.RootCaEntry;
import org.bouncycastle.oer.its.etsi102941.SequenceOfCrlEntry;
import org.bouncycastle.oer.its.etsi102941.SequenceOfCtlCommand;
import org.bouncycastle.oer.its.etsi102941.TlmEntry;
import org.bouncycastle.oer.its.etsi102941.ToBeSignedCrl;
import org.bouncycastle.oer.its.etsi102941.Url;
import org.bouncycastle.oer.its.etsi102941.basetypes.Version;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097Certificate;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.HashedId8;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.SequenceOfHashedId8;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Time32;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.UINT8;

/** Full certificate trust lists and revocation lists: writing, and reading those of any vendor (TS 102 941 §6.3). */
final class TrustLists {
    private static final long CTL_VALIDITY_S = 7 * 86_400;
    private static final long CRL_VALIDITY_S = 86_400;

    /** A certificate with the URL it is reached at: EA (by AAs), AA, TLM. */
    record Access(Cert certificate, String url) {}

    /** A distribution centre and the HashedId8 of the roots it serves. */
    record Centre(String url, List<String> rootIds) {}

    /** What a full trust list says. */
    record Ctl(int sequence, long nextUpdateSeconds, List<Cert> roots, List<Access> eas, List<Access> aas, List<Centre> centres,
               List<Access> managers) {}

    private TrustLists() {}

    static CtlCommand rca(Cert root) {
        return CtlCommand.add(CtlEntry.rca(new RootCaEntry(root.asn1(), null)));
    }

    static CtlCommand ea(Cert ea, String url) {
        return CtlCommand.add(CtlEntry.ea(new EaEntry(ea.asn1(), new Url(url), new Url(url))));
    }

    static CtlCommand aa(Cert aa, String url) {
        return CtlCommand.add(CtlEntry.aa(new AaEntry(aa.asn1(), new Url(url))));
    }

    static CtlCommand dc(String url, Cert root) {
        return CtlCommand.add(CtlEntry.dc(new DcEntry(new Url(url), new SequenceOfHashedId8(List.of(root.hashedId8Asn1())))));
    }

    static CtlCommand tlm(Cert tlm, String url) {
        return CtlCommand.add(CtlEntry.tlm(new TlmEntry(tlm.asn1(), null, new Url(url))));
    }

    /** Full CTL of a root ({@code certificateTrustListRca}) or of the TLM ({@code certificateTrustListTlm}). */
    static byte[] signCtl(Identity signer, int choice, int sequence, List<CtlCommand> commands) {
        var ctl = new CtlFormat(new Version(1), new Time32(ItsTime.nowSeconds() + CTL_VALIDITY_S), ASN1Boolean.TRUE, new UINT8(sequence),
            new SequenceOfCtlCommand(commands));
        return Signing.sign(Management.encode(choice, ctl), Permissions.CTL, signer.signer());
    }

    static byte[] signCrl(Identity root, List<String> revokedIds) {
        List<CrlEntry> entries = revokedIds.stream().map(id -> new CrlEntry(HexFormat.of().parseHex(id))).toList();
        var crl = new ToBeSignedCrl(new Version(1), new Time32(ItsTime.nowSeconds()), new Time32(ItsTime.nowSeconds() + CRL_VALIDITY_S),
            new SequenceOfCrlEntry(entries));
        return Signing.sign(Management.encode(EtsiTs102941DataContent.certificateRevocationList, crl), Permissions.CRL, root.signer());
    }

    /** Verifies and reads a full CTL. */
    static Ctl readCtl(byte[] message, int choice, Cert signer) throws Refused {
        Signing.Message signed = Signing.Message.decode(message);
        signed.checkListSigner(signer, Permissions.CTL);
        CtlFormat ctl = Management.expect(signed.payload(), choice, CtlFormat::getInstance);
        if (!ctl.getIsFullCtl().isTrue()) {
            throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "a delta list where a full list is needed");
        }
        long nextUpdate = ctl.getNextUpdate().getValue().longValueExact();
        if (nextUpdate <= ItsTime.nowSeconds()) {
            throw new Refused(Refused.Reason.OUT_OF_SYNC, "trust list has expired");
        }
        Ctl result = new Ctl(ctl.getCtlSequence().getValue().intValueExact(), nextUpdate,
            new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (CtlCommand command : ctl.getCtlCommands().getCtlCommands()) {
            if (command.getChoice() != CtlCommand.add) {
                throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "delete command in a full list");
            }
            read(Management.convert(CtlEntry::getInstance, command.getCtlCommand()), result);
        }
        return result;
    }

    private static void read(CtlEntry entry, Ctl into) throws Refused {
        switch (entry.getChoice()) {
            case CtlEntry.rca -> into.roots.add(cert(RootCaEntry.getInstance(entry.getCtlEntry()).getSelfsignedRootCa()));
            case CtlEntry.ea -> {
                EaEntry ea = EaEntry.getInstance(entry.getCtlEntry());
                into.eas.add(new Access(cert(ea.getEaCertificate()), ea.getAaAccessPoint().getUrl()));
            }
            case CtlEntry.aa -> {
                AaEntry aa = AaEntry.getInstance(entry.getCtlEntry());
                into.aas.add(new Access(cert(aa.getAaCertificate()), aa.getAccessPoint().getUrl()));
            }
            case CtlEntry.dc -> {
                DcEntry dc = DcEntry.getInstance(entry.getCtlEntry());
                List<String> ids = new ArrayList<>();
                for (HashedId8 id : dc.getCert().getHashedId8s()) {
                    ids.add(HexFormat.of().withUpperCase().formatHex(Permissions.octets(id)));
                }
                into.centres.add(new Centre(dc.getUrl().getUrl(), ids));
            }
            case CtlEntry.tlm -> {
                TlmEntry tlm = TlmEntry.getInstance(entry.getCtlEntry());
                into.managers.add(new Access(cert(tlm.getSelfSignedTLMCertificate()), tlm.getAccessPoint().getUrl()));
            }
            default -> throw new Refused(Refused.Reason.CANT_PARSE, "unknown trust list entry " + entry.getChoice());
        }
    }

    /** Verifies and reads a CRL: HashedId8 of revoked CA certificates, in upper case hexadecimal. */
    static List<String> readCrl(byte[] message, Cert root) throws Refused {
        Signing.Message signed = Signing.Message.decode(message);
        signed.checkListSigner(root, Permissions.CRL);
        ToBeSignedCrl crl = Management.expect(signed.payload(), EtsiTs102941DataContent.certificateRevocationList, ToBeSignedCrl::getInstance);
        if (crl.getNextUpdate().getValue().longValueExact() <= ItsTime.nowSeconds()) {
            throw new Refused(Refused.Reason.OUT_OF_SYNC, "revocation list has expired");
        }
        return crl.getEntries().getCrlEntries().stream()
            .map(entry -> HexFormat.of().withUpperCase().formatHex(Permissions.octets(entry))).toList();
    }

    private static Cert cert(EtsiTs103097Certificate certificate) throws Refused {
        return Cert.of(certificate);
    }
}
