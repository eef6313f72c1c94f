package chronoseal.bcpki;

/** Input that is not accepted: what was wrong in the words of TS 102 941, and the detail for a person. */
final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Why, with its value in each of the three response code enumerations of TS 102 941 v2.2.1
     * (EnrolmentResponseCode, AuthorizationResponseCode, AuthorizationValidationResponseCode).
     */
    enum Reason {
        CANT_PARSE(1, 1, 1),
        BAD_CONTENT_TYPE(2, 2, 2),
        NOT_THE_RECIPIENT(3, 3, 3),
        UNKNOWN_ENCRYPTION_ALGORITHM(4, 4, 4),
        DECRYPTION_FAILED(5, 5, 5),
        KEYS_DONT_MATCH(12, 6, 14),
        INCOMPLETE_REQUEST(10, 7, 14),
        INVALID_ENCRYPTION_KEY(8, 8, 11),
        OUT_OF_SYNC(13, 9, 14),
        UNKNOWN_EA(13, 10, 14),
        INVALID_EA(13, 11, 14),
        AA_DENIES_PERMISSIONS(11, 12, 12),
        CANT_REACH_EA(13, 13, 14),
        INVALID_AA(13, 19, 6),
        INVALID_AA_SIGNATURE(13, 20, 7),
        WRONG_EA(13, 21, 8),
        UNKNOWN_ITS(6, 22, 9),
        INVALID_SIGNATURE(7, 23, 10),
        BAD_ITS_STATUS(9, 22, 9),
        DENIED_PERMISSIONS(11, 25, 12),
        INVALID_KEYS(12, 24, 11),
        DENIED_REQUEST(13, 12, 14);

        final int enrolment;
        final int authorization;
        final int validation;

        Reason(int enrolment, int authorization, int validation) {
            this.enrolment = enrolment;
            this.authorization = authorization;
            this.validation = validation;
        }
    }

    final transient Reason reason;

    Refused(Reason reason, String detail) {
        super(reason + ": " + detail);
        this.reason = reason;
    }
}
