package chronoseal.bcpki;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemWriter;

/** Whole-file reading and atomic writing. */
final class Files {
    private Files() {}

    static byte[] read(Path file) throws IOException {
        return java.nio.file.Files.readAllBytes(file);
    }

    static String readText(Path file) throws IOException {
        return java.nio.file.Files.readString(file);
    }

    /** Replaces {@code file} in one step, so that a reader sees the old content or the new one. */
    static void write(Path file, byte[] content, boolean secret) throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        java.nio.file.Files.createDirectories(directory);
        Path part = java.nio.file.Files.createTempFile(directory, ".part", "",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(secret ? "rw-------" : "rw-r--r--")));
        java.nio.file.Files.write(part, content);
        java.nio.file.Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    static void write(Path file, byte[] content) throws IOException {
        write(file, content, false);
    }

    static void writeText(Path file, String content) throws IOException {
        write(file, content.getBytes(StandardCharsets.UTF_8), false);
    }

    static void writePem(Path file, PemObject object, boolean secret) throws IOException {
        StringWriter text = new StringWriter();
        try (PemWriter writer = new PemWriter(text)) {
            writer.writeObject(object);
        }
        write(file, text.toString().getBytes(StandardCharsets.US_ASCII), secret);
    }

    static boolean exists(Path file) {
        return java.nio.file.Files.exists(file);
    }
}
