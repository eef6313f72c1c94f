#!/bin/sh
# Makes a key and a certificate each for robot, station, broker, an insider and a stranger: FOLDER/NAME/{ca,certificate,key}.pem.
#
#   tls_keys.sh FOLDER mutual
#
# The certificates name their holder as CN. All trust the same CA, but the stranger's own certificate is of another one. An insider has a
# certificate that is good, and no right to anything by its name.
set -eu
to=${1:?usage: tls_keys.sh FOLDER mutual}
test "${2:-}" = mutual || {
    echo "usage: tls_keys.sh FOLDER mutual" >&2
    exit 64
}
umask 077
mkdir -p "$to/ca"

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

ca() { # name
    key "$to/ca/$1.key"
    openssl req -x509 -new -sha256 -key "$to/ca/$1.key" -days 30 -subj "/O=chronoseal/CN=$1" -out "$to/ca/$1.pem"
}

holder() { # name, CA
    at=$to/$1
    mkdir -p "$at"
    key "$at/key.pem"
    openssl req -new -sha256 -key "$at/key.pem" -subj "/O=chronoseal/CN=$1" -out "$to/ca/$1.csr"
    openssl x509 -req -sha256 -in "$to/ca/$1.csr" -CA "$to/ca/$2.pem" -CAkey "$to/ca/$2.key" -CAcreateserial -days 30 \
        -extfile "$to/ca/holder.cnf" -out "$at/certificate.pem" 2>/dev/null
    cp "$to/ca/authority.pem" "$at/ca.pem"
}

# An extension makes it a certificate of version 3: those of version 1 are refused by rustls.
echo "basicConstraints = CA:FALSE" > "$to/ca/holder.cnf"
ca authority
ca strange
holder robot authority
holder station authority
holder broker authority
holder insider authority
holder stranger strange
