package chronoseal.bcpki;

import java.io.IOException;
import java.nio.file.Path;
import java.security.interfaces.ECPublicKey;
import java.util.HexFormat;

/**
 * The stations an EA knows, one folder each ({@code stations/<ID>/canonical.pub.pem}, {@code permissions},
 * {@code revoked} if it is), and the credentials it issued ({@code credentials/<HASHEDID8>.oer} and
 * {@code .station}).
 */
final class Stations {
    private final Path directory;
    private final Path credentials;

    /** A station by its canonical identifier. */
    record Station(String id, ECPublicKey canonicalKey, Permissions permissions, boolean revoked) {}

    /** An issued enrolment credential and whose it is. */
    record Credential(Cert certificate, Station station) {}

    Stations(Path pkiDirectory) {
        this.directory = pkiDirectory.resolve("stations");
        this.credentials = pkiDirectory.resolve("credentials");
    }

    void register(byte[] canonicalId, ECPublicKey canonicalKey, Permissions permissions) throws IOException {
        Path folder = folder(canonicalId);
        Files.writeText(folder.resolve("permissions"), permissions.toString());
        Keys.writePublic(folder.resolve("canonical.pub.pem"), canonicalKey);
    }

    void revoke(byte[] canonicalId) throws IOException {
        Path folder = folder(canonicalId);
        if (!Files.exists(folder)) {
            throw new IOException("no station " + HexFormat.of().formatHex(canonicalId));
        }
        Files.writeText(folder.resolve("revoked"), "");
    }

    Station find(byte[] canonicalId) throws Refused {
        Path folder = folder(canonicalId);
        Path key = folder.resolve("canonical.pub.pem");
        if (canonicalId.length == 0 || canonicalId.length > 64 || !Files.exists(key)) {
            throw new Refused(Refused.Reason.UNKNOWN_ITS, "no station " + HexFormat.of().formatHex(canonicalId));
        }
        try {
            String permissions = Files.readText(folder.resolve("permissions")).trim();
            return new Station(HexFormat.of().formatHex(canonicalId), Keys.readPublic(Files.readText(key), key),
                permissions.isEmpty() ? Permissions.parse() : Permissions.parse(permissions.split(" ")), Files.exists(folder.resolve("revoked")));
        } catch (IOException | RuntimeException e) {
            throw new Refused(Refused.Reason.DENIED_REQUEST, "record of the station is damaged: " + e.getMessage());
        }
    }

    void addCredential(Cert certificate, Station station) throws IOException {
        Files.writeText(credentials.resolve(certificate.id() + ".station"), station.id);
        Files.write(credentials.resolve(certificate.id() + ".oer"), certificate.bytes());
    }

    /** Credential issued here, by HashedId8, of a station in good standing. */
    Credential findCredential(byte[] hashedId8) throws Refused {
        String id = HexFormat.of().withUpperCase().formatHex(hashedId8);
        Path file = credentials.resolve(id + ".oer");
        if (!Files.exists(file)) {
            throw new Refused(Refused.Reason.UNKNOWN_ITS, "no enrolment credential " + id);
        }
        try {
            Station station = find(HexFormat.of().parseHex(Files.readText(credentials.resolve(id + ".station")).trim()));
            if (station.revoked) {
                throw new Refused(Refused.Reason.BAD_ITS_STATUS, "station " + station.id + " is revoked");
            }
            return new Credential(Cert.read(file), station);
        } catch (IOException | IllegalArgumentException e) {
            throw new Refused(Refused.Reason.DENIED_REQUEST, "record of the credential is damaged: " + e.getMessage());
        }
    }

    private Path folder(byte[] canonicalId) {
        return directory.resolve(HexFormat.of().formatHex(canonicalId));
    }
}
