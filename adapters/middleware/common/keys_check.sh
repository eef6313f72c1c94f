#!/bin/sh
# Says what is wrong with a folder of keys of DDS Security or TLS, a line each, with what mends it: keys_check.sh FOLDER.
#
# It compares what is in this folder only. What governance protects is printed too, since the documents of the other end have to say the same.
set -u
at=${1:?usage: keys_check.sh FOLDER}
found=0
kinds=

line() { echo "keys: $1"; }
wrong() {
    found=1
    line "$1"
}
first_of() { # names
    for name; do
        test -e "$at/$name" && echo "$at/$name" && return
    done
}

certificate=$(first_of identity.pem cert.pem certificate.pem)
authority=$(first_of identity_ca.pem identity_ca.cert.pem ca.pem)
permissions_authority=$(first_of permissions_ca.pem permissions_ca.cert.pem)
key=$at/key.pem
test -n "$certificate" && test -n "$authority" || exit 0
holder=$(openssl x509 -in "$certificate" -noout -subject -nameopt RFC2253 | sed 's/^subject=//')

# Prints what a signed document says, or why it says nothing.
opened() { # document
    text=$(openssl smime -verify -in "$at/$1" -CAfile "$permissions_authority" -purpose any 2>&1) && return
    case $text in
        *digest*failure* | *"signature failure"*) wrong "$1 was changed after it was signed: sign it again" ;;
        *"certificate verify error"* | *"signer certificate not found"*)
            wrong "$1 was signed by another authority than $(basename "$permissions_authority"): let that one sign it" ;;
        *) wrong "$1 is no signed document: $(echo "$text" | tail -n 1)" ;;
    esac
    text=
}

if test -n "$permissions_authority" && test -e "$at/governance.p7s"; then
    opened governance.p7s
    kinds=$(echo "$text" | tr -d '\r' | sed -n 's/.*<\([a-z]*\)_protection_kind>\(.*\)<\/.*/\1 \2/p' | sort -u | tr '\n' ',' | sed 's/,$//; s/,/, /g')
    test -z "$kinds" || line "governance.p7s protects $kinds: the other end's must say the same"
fi

said=$(openssl verify -CAfile "$authority" "$certificate" 2>&1) || case $said in
    *"has expired"*) wrong "$(basename "$certificate") ended on $(openssl x509 -in "$certificate" -noout -enddate | cut -d= -f2): make a new one" ;;
    *"not yet valid"*) wrong "$(basename "$certificate") begins on $(openssl x509 -in "$certificate" -noout -startdate | cut -d= -f2): set the clock, or make a new one" ;;
    *) wrong "$(basename "$certificate") was not signed by $(basename "$authority"): name the authority of this certificate, or let this one sign a certificate" ;;
esac
test "$(openssl x509 -in "$certificate" -noout -pubkey 2>&1)" = "$(openssl pkey -in "$key" -pubout 2>&1)" ||
    wrong "key.pem is not the key of $(basename "$certificate"): put both of one identity there"

if test -n "$permissions_authority" && test -e "$at/permissions.p7s"; then
    opened permissions.p7s
    if test -n "$text"; then
        echo "$text" | tr -d '\r' | sed -n 's/.*<subject_name>\(.*\)<\/subject_name>.*/\1/p' | sed 's/ *, */,/g; s/ *= */=/g' | grep -qxF "$holder" ||
            wrong "permissions.p7s has no grant for $holder, whose certificate this is: sign permissions for it, or use the certificate that they are for"
        until=$(echo "$text" | sed -n 's/.*<not_after>\([^<]*\)<.*/\1/p' | sort | head -n 1)
        test -z "$until" || test "$(date -d "$until" +%s 2>/dev/null || echo 9999999999)" -gt "$(date +%s)" ||
            wrong "permissions.p7s ended on $until: sign new ones"
    fi
fi
test $found = 1 || line "nothing is wrong with $(basename "$certificate") of $holder, its key and its documents by themselves: see whether the other end lets this holder in${kinds:+, and whether its governance protects the same}"
