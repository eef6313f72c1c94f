package chronoseal.bcpki;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/** The command line; see README.md. Exit status: 0 done, 1 refused or failed, 2 wrong usage. */
public final class Main {
    private static final String USAGE = """
        usage: java -jar bc-pki.jar COMMAND OPTIONS
          serve    --dir DIR --port N [--bind 127.0.0.1] [--name bc] [--curve C] [--root-curve C]
          register --dir DIR --id HEX --key PUBLIC.pem [--permission PSID:HEXSSP]...
          revoke   --dir DIR (--id HEX | --certificate CA.oer)
          trust    --dir DIR (--rca RCA.oer --dc URL | --tlm TLM.oer --ectl URL)
          show     --file CERTIFICATE.oer
          client keygen    --dir DIR [--curve C]
          client enrol     --dir DIR --id HEX --url EA_URL --ea EA.oer [--canonical-key KEY.pem] [--rca RCA.oer] [--curve C]
          client reenrol   --dir DIR --url EA_URL --ea EA.oer [--rca RCA.oer] [--curve C]
          client authorize --dir DIR --url AA_URL --aa AA.oer --ea EA.oer [--rca RCA.oer] [--count N]
                           [--permission PSID:HEXSSP]... [--encryption-key] [--curve C]
          client receive   --rca RCA.oer --dc URL [--refresh-ms 1000] [--psid 36]
        C is nistp256 (default), brainpoolp256r1 or, for signing keys only, brainpoolp384r1.
        Any command: [--trace DIR] keeps every message in DIR before encryption and after decryption.""";

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        List<String> words = Arrays.asList(arguments);
        int command = !words.isEmpty() && words.get(0).equals("client") ? 2 : 1;
        if (words.size() < command) {
            System.err.println(USAGE);
            return 2;
        }
        try {
            Options options = new Options(words.subList(command, words.size()), Set.of("encryption-key"));
            String trace = options.optional("trace", null);
            if (trace != null) {
                Log.traceTo(Path.of(trace));
            }
            switch (String.join(" ", words.subList(0, command))) {
                case "serve" -> serve(options);
                case "register" -> register(options);
                case "revoke" -> revoke(options);
                case "trust" -> trust(options);
                case "show" -> show(options);
                case "client keygen" -> keygen(options);
                case "client enrol" -> enrol(options);
                case "client reenrol" -> reenrol(options);
                case "client authorize" -> authorize(options);
                case "client receive" -> receive(options);
                default -> throw new IllegalArgumentException("unknown command " + words.get(command - 1));
            }
            return 0;
        } catch (IllegalArgumentException e) {
            System.err.println("bc-pki: " + e.getMessage());
            System.err.println(USAGE);
            return 2;
        } catch (IOException | Refused | Client.Denied | InterruptedException e) {
            System.err.println("bc-pki: " + e.getMessage());
            return 1;
        }
    }

    private static void serve(Options options) throws IOException, InterruptedException {
        ItsCurve curve = curve(options);
        Path directory = directory(options);
        String name = options.optional("name", "bc");
        ItsCurve rootCurve = ItsCurve.byOption(options.optional("root-curve", curve.option));
        String bind = options.optional("bind", "127.0.0.1");
        int port = Integer.parseInt(options.required("port"));
        options.finish();
        String url = new Server(directory, name, curve, rootCurve, bind, port).start();
        System.out.println("listening " + url);
        Thread.currentThread().join();
    }

    private static void register(Options options) throws IOException {
        byte[] id = HexFormat.of().parseHex(options.required("id"));
        Path key = Path.of(options.required("key"));
        Permissions permissions = permissions(options, Permissions.AUTHORIZATION_TICKET);
        Stations stations = new Stations(directory(options));
        options.finish();
        stations.register(id, Keys.readPublic(Files.readText(key), key), permissions);
    }

    private static void revoke(Options options) throws IOException {
        Path directory = directory(options);
        String certificate = options.optional("certificate", null);
        String id = certificate == null ? options.required("id") : null;
        options.finish();
        if (certificate == null) {
            new Stations(directory).revoke(HexFormat.of().parseHex(id));
            return;
        }
        Path list = directory.resolve("revoked");
        Files.writeText(list, (Files.exists(list) ? Files.readText(list) : "") + Cert.read(Path.of(certificate)).id() + "\n");
    }

    private static void trust(Options options) throws IOException, Refused {
        TrustStore store = new TrustStore(directory(options));
        String root = options.optional("rca", null);
        if (root != null) {
            String centre = options.required("dc");
            options.finish();
            store.add(Cert.read(Path.of(root)), centre);
            return;
        }
        Cert tlm = Cert.read(Path.of(options.required("tlm")));
        String ectl = options.required("ectl");
        options.finish();
        for (Cert added : store.addFromEctl(tlm, ectl)) {
            System.out.println("rca " + added.id());
        }
    }

    private static void show(Options options) throws IOException, Refused {
        Cert certificate = Cert.read(Path.of(options.required("file")));
        options.finish();
        var tbs = certificate.toBeSigned();
        System.out.println("hashedid8 " + certificate.id());
        System.out.println("issuer " + (certificate.isSelfSigned() ? "self" : HexFormat.of().withUpperCase().formatHex(certificate.issuerId())));
        System.out.println("curve " + certificate.curve().option);
        System.out.println("valid-from " + ItsTime.startSeconds(tbs.getValidityPeriod()) + " until " + ItsTime.endSeconds(tbs.getValidityPeriod()));
        if (tbs.getAppPermissions() != null) {
            System.out.println("app-permissions " + Permissions.of(tbs.getAppPermissions()));
        }
    }

    private static void keygen(Options options) throws IOException {
        Client client = new Client(directory(options));
        ItsCurve curve = curve(options);
        options.finish();
        client.generateCanonicalKey(curve);
    }

    private static void enrol(Options options) throws IOException, Refused, Client.Denied {
        Path directory = directory(options);
        byte[] id = HexFormat.of().parseHex(options.required("id"));
        Path key = Path.of(options.optional("canonical-key", directory.resolve("canonical.pem").toString()));
        String url = options.required("url");
        Cert ea = authority(options, "ea", true);
        ItsCurve curve = curve(options);
        options.finish();
        Cert credential = new Client(directory).enrol(id, Keys.readPrivate(key), url, ea, curve);
        System.out.println("ec " + credential.id());
    }

    private static void reenrol(Options options) throws IOException, Refused, Client.Denied {
        Path directory = directory(options);
        String url = options.required("url");
        Cert ea = authority(options, "ea", true);
        ItsCurve curve = curve(options);
        options.finish();
        System.out.println("ec " + new Client(directory).renew(url, ea, curve).id());
    }

    private static void authorize(Options options) throws IOException, Refused, Client.Denied {
        Client client = new Client(directory(options));
        String url = options.required("url");
        Cert aa = authority(options, "aa", true);
        // The EA may be another vendor's: the root given is the AA's.
        Cert ea = authority(options, "ea", false);
        int count = Integer.parseInt(options.optional("count", "1"));
        Permissions permissions = permissions(options, Permissions.parse("36:01ffff", "37:01ffffff"));
        boolean encryptionKey = options.flag("encryption-key");
        ItsCurve curve = curve(options);
        options.finish();
        for (int i = 0; i < count; i++) {
            System.out.println("at " + client.authorize(url, aa, ea, curve, encryptionKey, permissions).id());
        }
    }

    /** A message a line on standard input, in hexadecimal; what becomes of it on standard output. */
    private static void receive(Options options) throws IOException, Refused {
        Cert root = Cert.read(Path.of(options.required("rca")));
        String centre = options.required("dc");
        long refreshMillis = Long.parseLong(options.optional("refresh-ms", "1000"));
        int psid = Integer.parseInt(options.optional("psid", "36"));
        options.finish();
        Receiver receiver = new Receiver(root, centre, refreshMillis);
        var messages = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = messages.readLine(); line != null; line = messages.readLine()) {
            System.out.println(receiver.judge(HexFormat.of().parseHex(line.strip()), psid));
        }
    }

    /** Certificate of an authority, checked against {@code --rca} if that is given and {@code rooted}. */
    private static Cert authority(Options options, String name, boolean rooted) throws IOException, Refused {
        Cert certificate = Cert.read(Path.of(options.required(name)));
        String root = rooted ? options.optional("rca", null) : null;
        if (root != null) {
            certificate.checkIssuedBy(Cert.read(Path.of(root)));
        }
        return certificate;
    }

    private static Path directory(Options options) {
        return Path.of(options.required("dir"));
    }

    private static ItsCurve curve(Options options) {
        return ItsCurve.byOption(options.optional("curve", ItsCurve.NISTP256.option));
    }

    private static Permissions permissions(Options options, Permissions otherwise) {
        List<String> given = options.all("permission");
        return given.isEmpty() ? otherwise : Permissions.parse(given.toArray(String[]::new));
    }
}
