package chronoseal.bcpki;

/** One line on standard error for each thing an operator wants to know. */
final class Log {
    private Log() {}

    static void info(String role, String message) {
        System.err.println(role + ": " + message);
    }

    static void refused(String role, Refused refused) {
        System.err.println(role + ": refused, " + refused.getMessage());
    }
}
