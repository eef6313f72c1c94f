package chronoseal.bcpki;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The HTTP/1.1 exchanges of TS 102 941 annex D, as a client. */
final class Http {
    static final String REQUEST = "application/x-its-request";
    static final String RESPONSE = "application/x-its-response";
    static final String CTL = "application/x-its-ctl";
    static final String CRL = "application/x-its-crl";

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();

    private Http() {}

    static byte[] post(String url, byte[] body) throws IOException {
        return send(request(url).header("Content-Type", REQUEST).POST(HttpRequest.BodyPublishers.ofByteArray(body)).build(), RESPONSE);
    }

    static byte[] get(String url, String contentType) throws IOException {
        return send(request(url).GET().build(), contentType);
    }

    private static HttpRequest.Builder request(String url) throws IOException {
        try {
            return HttpRequest.newBuilder(URI.create(url)).timeout(TIMEOUT);
        } catch (IllegalArgumentException e) {
            throw new IOException("bad URL " + url, e);
        }
    }

    private static byte[] send(HttpRequest request, String contentType) throws IOException {
        try {
            HttpResponse<InputStream> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream body = response.body()) {
                byte[] bytes = body.readNBytes(Oer.LENGTH_MAX + 1);
                if (response.statusCode() != 200) {
                    throw new IOException(request.uri() + " answered HTTP " + response.statusCode());
                }
                if (bytes.length > Oer.LENGTH_MAX) {
                    throw new IOException(request.uri() + " answered more than " + Oer.LENGTH_MAX + " octets");
                }
                String type = response.headers().firstValue("Content-Type").orElse("");
                if (!type.equals(contentType)) {
                    throw new IOException(request.uri() + " answered content type '" + type + "', expected " + contentType);
                }
                return bytes;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
