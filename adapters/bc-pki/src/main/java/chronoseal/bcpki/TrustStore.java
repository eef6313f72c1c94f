package chronoseal.bcpki;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;

/**
 * Roots of other vendors this PKI accepts, kept as {@code trust/<HASHEDID8>.oer} with the URL of their
 * distribution centre in {@code trust/<HASHEDID8>.url}. Their EAs and AAs are taken from the root's
 * trust list at each use, so that a revocation there counts here at once.
 */
final class TrustStore {
    private final Path directory;

    TrustStore(Path pkiDirectory) {
        this.directory = pkiDirectory.resolve("trust");
    }

    void add(Cert root, String centreUrl) throws IOException, Refused {
        root.checkIssuedBy(root);
        Files.writeText(directory.resolve(root.id() + ".url"), centreUrl.replaceAll("/+$", ""));
        Files.write(directory.resolve(root.id() + ".oer"), root.bytes());
    }

    /** Adds every root of a trust list manager's list for which the list names a distribution centre. */
    List<Cert> addFromEctl(Cert tlm, String ectlUrl) throws IOException, Refused {
        tlm.checkIssuedBy(tlm);
        var ectl = TrustLists.readCtl(Http.get(ectlUrl, Http.CTL), EtsiTs102941DataContent.certificateTrustListTlm, tlm);
        List<Cert> added = new ArrayList<>();
        for (Cert root : ectl.roots()) {
            for (TrustLists.Centre centre : ectl.centres()) {
                if (centre.rootIds().contains(root.id())) {
                    add(root, centre.url());
                    added.add(root);
                    break;
                }
            }
        }
        return added;
    }

    /** Trusted EA with this HashedId8. */
    TrustLists.Access findEa(byte[] hashedId8) throws Refused {
        return find(hashedId8, TrustLists.Ctl::eas, Refused.Reason.UNKNOWN_EA, Refused.Reason.INVALID_EA);
    }

    /** Trusted AA with this HashedId8. */
    TrustLists.Access findAa(byte[] hashedId8) throws Refused {
        return find(hashedId8, TrustLists.Ctl::aas, Refused.Reason.INVALID_AA, Refused.Reason.INVALID_AA);
    }

    private TrustLists.Access find(byte[] hashedId8, Function<TrustLists.Ctl, List<TrustLists.Access>> entries, Refused.Reason unknown,
                                   Refused.Reason invalid) throws Refused {
        String failures = "";
        for (Path file : roots()) {
            try {
                Cert root = Cert.read(file);
                String url = Files.readText(directory.resolve(root.id() + ".url"));
                byte[] ctl = Http.get(url + "/getctl/" + root.id(), Http.CTL);
                for (TrustLists.Access access : entries.apply(TrustLists.readCtl(ctl, EtsiTs102941DataContent.certificateTrustListRca, root))) {
                    if (!Arrays.equals(access.certificate().hashedId8(), hashedId8)) {
                        continue;
                    }
                    access.certificate().checkIssuedBy(root);
                    List<String> revoked = TrustLists.readCrl(Http.get(url + "/getcrl/" + root.id(), Http.CRL), root);
                    if (revoked.contains(access.certificate().id())) {
                        throw new Refused(invalid, access.certificate().id() + " is revoked");
                    }
                    return access;
                }
            } catch (IOException e) {
                failures += "; " + e.getMessage();
            } catch (Refused e) {
                if (e.reason == invalid) {
                    throw e;
                }
                failures += "; " + e.getMessage();
            }
        }
        throw new Refused(unknown, java.util.HexFormat.of().withUpperCase().formatHex(hashedId8) + " is in no trust list" + failures);
    }

    private List<Path> roots() throws Refused {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = java.nio.file.Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".oer")).sorted().toList();
        } catch (IOException e) {
            throw new Refused(Refused.Reason.DENIED_REQUEST, "trust store is unreadable: " + e.getMessage());
        }
    }
}
