package chronoseal.bcpki;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Options of a subcommand: {@code --name value}, repeatable, and flags without value. */
final class Options {
    private final Map<String, List<String>> values = new HashMap<>();
    private final Set<String> used = new HashSet<>();

    Options(List<String> arguments, Set<String> flags) {
        for (int i = 0; i < arguments.size(); i++) {
            String name = arguments.get(i);
            if (!name.startsWith("--")) {
                throw new IllegalArgumentException("unexpected argument " + name);
            }
            name = name.substring(2);
            String value = "";
            if (!flags.contains(name)) {
                if (++i == arguments.size()) {
                    throw new IllegalArgumentException("--" + name + " needs a value");
                }
                value = arguments.get(i);
            }
            values.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
        }
    }

    String required(String name) {
        String value = optional(name, null);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    String optional(String name, String otherwise) {
        List<String> given = all(name);
        if (given.size() > 1) {
            throw new IllegalArgumentException("--" + name + " is given twice");
        }
        return given.isEmpty() ? otherwise : given.get(0);
    }

    List<String> all(String name) {
        used.add(name);
        return values.getOrDefault(name, List.of());
    }

    boolean flag(String name) {
        return !all(name).isEmpty();
    }

    /** After all options were asked for: whatever is left over is a mistake. */
    void finish() {
        for (String name : values.keySet()) {
            if (!used.contains(name)) {
                throw new IllegalArgumentException("unknown option --" + name);
            }
        }
    }
}
