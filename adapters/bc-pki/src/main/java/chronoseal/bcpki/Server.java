package chronoseal.bcpki;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

import org.bouncycastle.oer.its.etsi102941.EtsiTs102941DataContent;

/** RCA, EA, AA, DC and TLM of one vendor behind one HTTP port (TS 102 941 annex D; no TLS by that annex). */
final class Server {
    private static final int REQUEST_LENGTH_MAX = 64 * 1024;

    private final Path directory;
    private final Identity root;
    private final Identity tlm;
    private final Identity ea;
    private final Identity aa;
    private final EnrolmentAuthority enrolment;
    private final AuthorizationAuthority authorization;
    private final HttpServer http;
    private final String url;

    private record Answer(int status, String contentType, byte[] body) {
        static Answer text(int status, String text) {
            return new Answer(status, "text/plain", (text + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
    }

    private interface Handler {
        Answer answer(HttpExchange exchange, String rest) throws IOException, Refused;
    }

    /** Loads the PKI in {@code directory}, creating what is missing, and binds the port (0 for any). */
    Server(Path directory, String name, ItsCurve curve, ItsCurve rootCurve, String bind, int port) throws IOException {
        this.directory = directory;
        this.root = Identity.root(directory, name, rootCurve);
        this.tlm = Identity.trustListManager(directory, name, rootCurve);
        this.ea = Identity.enrolmentAuthority(directory, name, curve, root);
        this.aa = Identity.authorizationAuthority(directory, name, curve, root);
        Stations stations = new Stations(directory);
        TrustStore trust = new TrustStore(directory);
        this.enrolment = new EnrolmentAuthority(ea, aa.certificate(), stations, trust);
        this.authorization = new AuthorizationAuthority(aa, enrolment, trust);
        this.http = HttpServer.create(new InetSocketAddress(bind, port), 0);
        this.url = "http://" + bind + ":" + http.getAddress().getPort();
    }

    /** Serves until the process ends; returns the base URL. */
    String start() throws IOException {
        int sequence = nextCtlSequence();
        byte[] rcaCtl = TrustLists.signCtl(root, EtsiTs102941DataContent.certificateTrustListRca, sequence, List.of(
            TrustLists.ea(ea.certificate(), url + "/ea"),
            TrustLists.aa(aa.certificate(), url + "/aa"),
            TrustLists.dc(url, root.certificate())));
        byte[] ectl = TrustLists.signCtl(tlm, EtsiTs102941DataContent.certificateTrustListTlm, sequence, List.of(
            TrustLists.tlm(tlm.certificate(), url),
            TrustLists.rca(root.certificate()),
            TrustLists.dc(url, root.certificate())));
        Map<String, Identity> own = Map.of("rca", root, "ea", ea, "aa", aa, "tlm", tlm);

        on("/ea", "POST", (exchange, rest) -> new Answer(200, Http.RESPONSE, enrolment.handle(body(exchange))));
        on("/aa", "POST", (exchange, rest) -> new Answer(200, Http.RESPONSE, authorization.handle(body(exchange))));
        on("/getctl", "GET", (exchange, rest) -> ofRoot(rest, () -> new Answer(200, Http.CTL, rcaCtl)));
        on("/getcrl", "GET", (exchange, rest) -> ofRoot(rest, () -> new Answer(200, Http.CRL, TrustLists.signCrl(root, revoked()))));
        on("/getectl", "GET", (exchange, rest) -> new Answer(200, Http.CTL, ectl));
        on("/certificates", "GET", (exchange, rest) -> {
            Identity identity = rest.endsWith(".oer") ? own.get(rest.substring(0, rest.length() - 4)) : null;
            return identity == null ? Answer.text(404, "no such certificate")
                : new Answer(200, "application/octet-stream", identity.certificate().bytes());
        });
        http.setExecutor(Executors.newCachedThreadPool());
        http.start();
        return url;
    }

    private interface ListSource {
        Answer list() throws IOException;
    }

    private Answer ofRoot(String id, ListSource source) throws IOException {
        return id.equals(root.certificate().id()) ? source.list() : Answer.text(404, "no list of " + id);
    }

    private List<String> revoked() throws IOException {
        Path file = directory.resolve("revoked");
        return Files.exists(file) ? Files.readText(file).lines().filter(line -> !line.isBlank()).toList() : List.of();
    }

    /** 1..255 and round again: a new list at every start, since the port may have changed. */
    private int nextCtlSequence() throws IOException {
        Path file = directory.resolve("ctl-sequence");
        int sequence = Files.exists(file) ? Integer.parseInt(Files.readText(file).trim()) % 255 + 1 : 1;
        Files.writeText(file, sequence + "\n");
        return sequence;
    }

    private void on(String path, String method, Handler handler) {
        HttpHandler adapter = exchange -> {
            Answer answer;
            try {
                answer = route(exchange, path, method, handler);
            } catch (Refused refused) {
                Log.refused(path, refused);
                answer = Answer.text(400, refused.getMessage());
            } catch (IOException | RuntimeException e) {
                Log.info(path, "failed, " + e);
                answer = Answer.text(500, "internal error");
            }
            try (exchange) {
                exchange.getResponseHeaders().set("Content-Type", answer.contentType);
                exchange.sendResponseHeaders(answer.status, answer.body.length);
                exchange.getResponseBody().write(answer.body);
            }
        };
        http.createContext(path, adapter);
    }

    private static Answer route(HttpExchange exchange, String path, String method, Handler handler) throws IOException, Refused {
        URI uri = exchange.getRequestURI();
        String rest = uri.getPath().substring(path.length());
        if (!rest.isEmpty() && !rest.startsWith("/")) {
            return Answer.text(404, "no such resource");
        }
        if (!exchange.getRequestMethod().equals(method)) {
            return Answer.text(405, "use " + method);
        }
        if (method.equals("POST") && !Http.REQUEST.equals(exchange.getRequestHeaders().getFirst("Content-Type"))) {
            return Answer.text(415, "content type must be " + Http.REQUEST);
        }
        return handler.answer(exchange, rest.isEmpty() ? "" : rest.substring(1));
    }

    private static byte[] body(HttpExchange exchange) throws IOException, Refused {
        byte[] body = exchange.getRequestBody().readNBytes(REQUEST_LENGTH_MAX + 1);
        if (body.length > REQUEST_LENGTH_MAX) {
            throw new Refused(Refused.Reason.CANT_PARSE, "request longer than " + REQUEST_LENGTH_MAX + " octets");
        }
        return body;
    }
}
