// Has Vanetza's verify and sign services exchange messages with a station of chronoseal's; run.sh starts both.
//
//     peer verify ROOT AA < MESSAGES      one message a line, in hexadecimal, as it and with each octet changed
//     peer sign ROOT AA TICKET KEY N      N CAMs and N DENMs, a line each
//
// Certificates are COER, the key is PEM. Exit status 1 if something is not as expected.

#include <vanetza/asn1/security/ToBeSignedCertificate.h>
#include <vanetza/common/its_aid.hpp>
#include <vanetza/common/manual_runtime.hpp>
#include <vanetza/common/stored_position_provider.hpp>
#include <vanetza/net/chunk_packet.hpp>
#include <vanetza/security/backend.hpp>
#include <vanetza/security/persistence.hpp>
#include <vanetza/security/straight_verify_service.hpp>
#include <vanetza/security/v3/certificate_cache.hpp>
#include <vanetza/security/v3/certificate_validator.hpp>
#include <vanetza/security/v3/hash.hpp>
#include <vanetza/security/v3/issuer_memory_lookup.hpp>
#include <vanetza/security/v3/persistence.hpp>
#include <vanetza/security/v3/sign_header_policy.hpp>
#include <vanetza/security/v3/sign_service.hpp>
#include <vanetza/security/v3/static_certificate_provider.hpp>
#include <vanetza/security/v3/trust_store.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

using namespace vanetza;
using namespace vanetza::security;

namespace
{

// Time64 counts TAI, which is 5 s ahead of UTC since 2004. Vanetza's clock takes what it is given.
Clock::time_point now()
{
    using namespace std::chrono;
    const auto unix_time = system_clock::now().time_since_epoch();
    return Clock::time_point { duration_cast<Clock::duration>(unix_time - seconds(1072915200) + seconds(5)) };
}

const char* name(VerificationReport report)
{
    static const char* names[] = { "accepted", "False_Signature", "Invalid_Certificate", "Revoked_Certificate",
        "Inconsistent_Chain", "Invalid_Timestamp", "Duplicate_Message", "Invalid_Mobility_Data", "Unsigned_Message",
        "Signer_Certificate_Not_Found", "Unsupported_Signer_Identifier_Type", "Incompatible_Protocol",
        "Configuration_Problem" };
    return names[static_cast<int>(report)];
}

struct Station
{
    Station(const std::string& root_file, const std::string& aa_file) :
        runtime(now()), backend(create_backend("OpenSSL")), root(v3::load_certificate_from_file(root_file)),
        aa(v3::load_certificate_from_file(aa_file))
    {
        trust.insert(root);
        if (!issuers.insert(root) || !issuers.insert(aa)) {
            throw std::runtime_error("root or AA is not taken for a CA");
        }
        PositionFix here;
        here.latitude = 48.7 * units::degree;
        here.longitude = 9.1 * units::degree;
        position.position_fix(here);
        validator.use_runtime(&runtime);
        validator.use_position_provider(&position);
        validator.use_location_checker(&locations);
        validator.use_issuer_lookup(&issuers);
        validator.use_trust_store(&trust);
        check_signature("root", root, nullptr);
        check_signature("AA", aa, &root);
    }

    // Its validator expects certificates whose own signature somebody has verified, so that is done here by its functions.
    void check_signature(const char* what, const v3::Certificate& cert, const v3::Certificate* issuer)
    {
        const ByteBuffer signed_part = asn1::encode_oer(asn_DEF_Vanetza_Security_ToBeSignedCertificate, &cert->toBeSigned);
        const auto key = v3::get_public_key(*(issuer ? *issuer : cert));
        const auto signature = v3::get_signature(*cert);
        if (!key || !signature) {
            throw std::runtime_error(std::string(what) + ": no key or no signature that is known");
        }
        const auto hash = v3::specified_hash_algorithm(key->type);
        ByteBuffer digest;
        if (issuer) {
            digest = v3::calculate_message_hash(*backend, hash, signed_part, *issuer);
        } else {
            digest = backend->calculate_hash(hash, signed_part);
            const ByteBuffer of_nothing = backend->calculate_hash(hash, {});
            digest.insert(digest.end(), of_nothing.begin(), of_nothing.end());
            digest = backend->calculate_hash(hash, digest);
        }
        if (!backend->verify_digest(*key, digest, *signature)) {
            throw std::runtime_error(std::string(what) + ": its signature does not verify");
        }
    }

    ManualRuntime runtime;
    std::unique_ptr<Backend> backend;
    v3::Certificate root, aa;
    StoredPositionProvider position;
    v3::DefaultLocationChecker locations;
    v3::IssuerMemoryLookup issuers;
    v3::TrustStore trust;
    v3::DefaultCertificateValidator validator;
};

// `original` is what was accepted before. Vanetza hashes what it has decoded, written again: octets of which nothing is left
// then, such as bits that must be zero, can be changed unseen. So can how a point is named of which only x is used.
std::string verdict(StraightVerifyService& service, const ByteBuffer& octets, const ByteBuffer& original, std::size_t at)
{
    v3::SecuredMessage message;
    if (!message.decode(octets)) {
        return "not decoded";
    }
    const auto report = service.verify(message).report;
    if (report == VerificationReport::Success && octets != original) {
        const bool x_only = original[at] == 0x80 && (octets[at] == 0x82 || octets[at] == 0x83);
        return message.encode() == original ? "the same once decoded" : x_only ? "the same x of a point" : "ACCEPTED";
    }
    return name(report);
}

int verify(Station& station)
{
    v3::CertificateCache cache;
    StraightVerifyService service { station.runtime, *station.backend, station.position };
    service.use_certificate_cache(&cache);
    service.use_certificate_validator(&station.validator);
    int messages = 0, changed = 0, wrong = 0;
    std::map<std::string, int> refusals;
    for (std::string line; std::getline(std::cin, line); ++messages) {
        ByteBuffer octets;
        for (std::size_t at = 0; at + 1 < line.size(); at += 2) {
            octets.push_back(std::stoi(line.substr(at, 2), nullptr, 16));
        }
        v3::SecuredMessage message;
        message.decode(octets);
        const bool with_certificate = message.is_signed() && v3::contains_certificate(message.signer_identifier());
        if (with_certificate) {
            v3::Certificate ticket { *v3::get_certificate(message.signer_identifier()) };
            station.check_signature("ticket", ticket, &station.aa);
        }
        const std::string said = verdict(service, octets, octets, 0);
        wrong += said != "accepted";
        std::cout << "  psid " << message.its_aid() << ", " << octets.size() << " octets, by "
                  << (with_certificate ? "certificate" : "digest") << ": " << said << "\n";
        for (std::size_t at = 0; at < octets.size(); ++at, ++changed) {
            ByteBuffer other = octets;
            other[at] ^= 1 << at % 8;
            const std::string why = verdict(service, other, octets, at);
            ++refusals[why];
            if (why == "ACCEPTED") {
                std::cout << "  accepted with octet " << at << " of " << line << " changed\n";
                ++wrong;
            }
        }
    }
    std::cout << "Vanetza: " << messages << " messages, " << changed << " changed ones:";
    for (const auto& refusal : refusals) {
        std::cout << " " << refusal.second << " " << refusal.first << ";";
    }
    std::cout << " " << wrong << " not as expected\n";
    return wrong || !messages;
}

int sign(Station& station, const std::string& ticket_file, const std::string& key_file, int count)
{
    const auto ticket = v3::load_certificate_from_file(ticket_file);
    station.check_signature("ticket", ticket, &station.aa);
    v3::StaticCertificateProvider provider { ticket, load_private_key_from_pem_file(key_file) };
    v3::DefaultSignHeaderPolicy policy { station.runtime, station.position, provider };
    v3::StraightSignService service { provider, *station.backend, policy, station.validator };
    for (int number = 0; number < 2 * count; ++number) {
        SignRequest request;
        ChunkPacket packet;
        packet[OsiLayer::Application] = ByteBuffer(number + 1, number);
        request.plain_message = std::move(packet);
        request.its_aid = number % 2 ? aid::DEN : aid::CA;
        station.runtime.trigger(now());
        auto confirm = service.sign(std::move(request));
        if (!confirm.secured_message) {
            throw std::runtime_error("Vanetza does not sign with this ticket");
        }
        static const char digits[] = "0123456789abcdef";
        for (const auto octet : boost::get<v3::SecuredMessage>(*confirm.secured_message).encode()) {
            std::cout << digits[octet >> 4] << digits[octet & 15];
        }
        std::cout << std::endl;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return 0;
}

} // namespace

int main(int count, char** arguments)
{
    try {
        const std::string what = count > 3 ? arguments[1] : "";
        if (what == "verify" && count == 4) {
            Station station { arguments[2], arguments[3] };
            return verify(station);
        } else if (what == "sign" && count == 7) {
            Station station { arguments[2], arguments[3] };
            return sign(station, arguments[4], arguments[5], std::stoi(arguments[6]));
        }
        std::cerr << "peer verify ROOT AA < MESSAGES, or peer sign ROOT AA TICKET KEY N\n";
    } catch (const std::exception& failure) {
        std::cerr << "peer: " << failure.what() << "\n";
    }
    return 2;
}
