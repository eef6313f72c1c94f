package chronoseal.bcpki;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** One line on standard error for each thing an operator wants to know, and plaintexts on request. */
final class Log {
    private static final AtomicInteger NEXT = new AtomicInteger(1);
    private static volatile Path traceDirectory;

    private Log() {}

    static void info(String role, String message) {
        System.err.println(role + ": " + message);
    }

    static void refused(String role, Refused refused) {
        System.err.println(role + ": refused, " + refused.getMessage());
    }

    /** From now on every message goes to a file of its own before encryption and after decryption. */
    static void traceTo(Path directory) {
        traceDirectory = directory;
    }

    /** Keeps a plaintext as {@code NUMBER-KIND.oer}, if that was asked for. */
    static void trace(String kind, byte[] plaintext) {
        if (traceDirectory != null) {
            Path file = traceDirectory.resolve("%04d-%s.oer".formatted(NEXT.getAndIncrement(), kind));
            try {
                Files.write(file, plaintext);
            } catch (IOException e) {
                info("trace", "cannot write " + file + ": " + e.getMessage());
            }
        }
    }
}
