#!/bin/sh
# Makes what DDS Security needs for two participants, an insider and a stranger: FOLDER/{robot,station,insider,stranger}.
#
#   dds_keys.sh FOLDER none|sign|encrypt|encrypt-with-origin-authentication|encrypt-payload-too|encrypt-one-authority|submessage|payload
#
# The level is that of whole RTPS messages; with `payload-too`, the payload in them is encrypted as well. `submessage` and `payload` encrypt these
# alone, of data and of discovery, and leave the message around them as it is. Identities and permissions have a CA
# each, but with `one-authority`: then whoever has an identity can sign permissions of its own (CVE-2023-24010). That is what the insider does, whose
# identity is genuine and whom nobody gave permissions. The stranger's identity is of another CA.
set -eu
to=${1:?usage: dds_keys.sh FOLDER LEVEL}
payload=NONE
submessage=NONE
discovery=
authority=permissions
case ${2:-} in
    none) level=NONE ;;
    sign) level=SIGN ;;
    encrypt) level=ENCRYPT ;;
    encrypt-with-origin-authentication) level=ENCRYPT_WITH_ORIGIN_AUTHENTICATION ;;
    encrypt-payload-too) level=ENCRYPT payload=ENCRYPT ;;
    encrypt-one-authority) level=ENCRYPT authority=identity ;;
    submessage) level=NONE discovery=ENCRYPT submessage=ENCRYPT ;;
    payload) level=NONE discovery=ENCRYPT payload=ENCRYPT ;;
    *)
        echo "usage: dds_keys.sh FOLDER none|sign|encrypt|encrypt-with-origin-authentication|encrypt-payload-too|encrypt-one-authority|submessage|payload" >&2
        exit 64
        ;;
esac
umask 077
mkdir -p "$to/ca"

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

ca() { # name
    key "$to/ca/$1.key"
    openssl req -x509 -new -sha256 -key "$to/ca/$1.key" -days 30 -subj "/CN=$1" -out "$to/ca/$1.pem"
}

signed() { # text, document, certificate and key of who signs
    openssl smime -sign -text -in "$1" -out "$2" -signer "$3" -inkey "$4" 2>/dev/null
}

participant() { # name, identity CA, certificate and key of who signs its documents, the authority that it names for that
    at=$to/$1
    mkdir -p "$at"
    key "$at/key.pem"
    openssl req -new -sha256 -key "$at/key.pem" -subj "/CN=$1" -out "$to/ca/$1.csr"
    openssl x509 -req -sha256 -in "$to/ca/$1.csr" -CA "$to/ca/$2.pem" -CAkey "$to/ca/$2.key" -CAcreateserial -days 30 \
        -out "$at/identity.pem" 2>/dev/null
    cat > "$to/ca/$1.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <permissions><grant name="$1">
    <subject_name>CN=$1</subject_name>
    <validity><not_before>2020-01-01T00:00:00</not_before><not_after>2037-01-01T00:00:00</not_after></validity>
    <allow_rule>
      <domains><id>0</id></domains>
      <publish><topics><topic>*</topic></topics></publish>
      <subscribe><topics><topic>*</topic></topics></subscribe>
    </allow_rule>
    <default>DENY</default>
  </grant></permissions>
</dds>
XML
    signed "$to/ca/$1.xml" "$at/permissions.p7s" "$3" "$4"
    signed "$to/ca/governance.xml" "$at/governance.p7s" "$3" "$4"
    cp "$to/ca/$2.pem" "$at/identity_ca.pem"
    cp "$to/ca/$5.pem" "$at/permissions_ca.pem"
}

ca identity
ca permissions
ca strange
cat > "$to/ca/governance.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <domain_access_rules><domain_rule>
    <domains><id>0</id></domains>
    <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
    <enable_join_access_control>true</enable_join_access_control>
    <discovery_protection_kind>${discovery:-$level}</discovery_protection_kind>
    <liveliness_protection_kind>${discovery:-$level}</liveliness_protection_kind>
    <rtps_protection_kind>$level</rtps_protection_kind>
    <topic_access_rules><topic_rule>
      <topic_expression>*</topic_expression>
      <enable_discovery_protection>true</enable_discovery_protection>
      <enable_liveliness_protection>true</enable_liveliness_protection>
      <enable_read_access_control>true</enable_read_access_control>
      <enable_write_access_control>true</enable_write_access_control>
      <metadata_protection_kind>$submessage</metadata_protection_kind>
      <data_protection_kind>$payload</data_protection_kind>
    </topic_rule></topic_access_rules>
  </domain_rule></domain_access_rules>
</dds>
XML
participant robot identity "$to/ca/$authority.pem" "$to/ca/$authority.key" "$authority"
participant station identity "$to/ca/$authority.pem" "$to/ca/$authority.key" "$authority"
# Its own library would refuse documents of a wrong authority, so it names the one that they are of: then it is the others who have to.
participant insider identity "$to/insider/identity.pem" "$to/insider/key.pem" identity
participant stranger strange "$to/ca/$authority.pem" "$to/ca/$authority.key" "$authority"
