package chronoseal.bcpki;

import java.time.Instant;

import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Duration;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Time32;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.Time64;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.UINT16;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.ValidityPeriod;

/**
 * TAI time since 2004-01-01T00:00:00 UTC (IEEE 1609.2 Time32 and Time64).
 *
 * <p>Bouncy Castle's {@code Time64.now()} counts UTC and is five seconds late: TAI - UTC was 32 s at
 * the epoch and is 37 s since 2017.
 */
final class ItsTime {
    private static final long EPOCH_UNIX_S = 1_072_915_200L;
    private static final long LEAP_SECONDS_S = 5;

    private ItsTime() {}

    /** Now, in TAI seconds since the ITS epoch. */
    static long nowSeconds() {
        return nowMicroseconds() / 1_000_000;
    }

    static long nowMicroseconds() {
        Instant now = Instant.now();
        return (now.getEpochSecond() - EPOCH_UNIX_S + LEAP_SECONDS_S) * 1_000_000 + now.getNano() / 1_000;
    }

    static Time64 now64() {
        return new Time64(nowMicroseconds());
    }

    static ValidityPeriod validity(long startSeconds, int hours) {
        return new ValidityPeriod(new Time32(startSeconds), Duration.hours(new UINT16(hours)));
    }

    static ValidityPeriod validityYears(long startSeconds, int years) {
        return new ValidityPeriod(new Time32(startSeconds), Duration.years(new UINT16(years)));
    }

    static long startSeconds(ValidityPeriod period) {
        return period.getStart().getValue().longValueExact();
    }

    /** First second no longer covered. A year is 31556952 s (IEEE 1609.2 §6.3.20). */
    static long endSeconds(ValidityPeriod period) {
        long n = period.getDuration().getDuration().getValue().longValueExact();
        long seconds = switch (period.getDuration().getChoice()) {
            case Duration.microseconds, Duration.milliseconds -> 0;
            case Duration.seconds -> n;
            case Duration.minutes -> n * 60;
            case Duration.hours -> n * 3600;
            case Duration.sixtyHours -> n * 216_000;
            default -> n * 31_556_952;
        };
        return startSeconds(period) + seconds;
    }
}
