package chronoseal.bcpki;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.util.Arrays;

import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.its.ETSIEncryptedData;
import org.bouncycastle.its.ETSIEncryptedDataBuilder;
import org.bouncycastle.its.ETSIRecipientInfo;
import org.bouncycastle.its.ETSIRecipientInfoBuilder;
import org.bouncycastle.its.jcajce.JcaETSIDataDecryptor;
import org.bouncycastle.its.jcajce.JceETSIDataEncryptor;
import org.bouncycastle.its.jcajce.JceETSIKeyWrapper;
import org.bouncycastle.oer.its.etsi103097.EtsiTs103097DataEncrypted;
import org.bouncycastle.oer.its.ieee1609dot2.AesCcmCiphertext;
import org.bouncycastle.oer.its.ieee1609dot2.EncryptedData;
import org.bouncycastle.oer.its.ieee1609dot2.Ieee1609Dot2Content;
import org.bouncycastle.oer.its.ieee1609dot2.PKRecipientInfo;
import org.bouncycastle.oer.its.ieee1609dot2.PreSharedKeyRecipientInfo;
import org.bouncycastle.oer.its.ieee1609dot2.RecipientInfo;
import org.bouncycastle.oer.its.ieee1609dot2.SequenceOfRecipientInfo;
import org.bouncycastle.oer.its.ieee1609dot2.SymmetricCiphertext;
import org.bouncycastle.oer.its.ieee1609dot2.basetypes.SymmetricEncryptionKey;

/**
 * Encryption of requests to a certificate (ECIES, by Bouncy Castle) and of responses under the
 * request's own AES key (pskRecipInfo), IEEE 1609.2 §5.3.5 and TS 102 941 §6.2.3.
 */
final class Encryption {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Octets of a message, with the AES-128 key that opened or closed it. */
    record Opened(byte[] plaintext, byte[] key) {}

    /** An encrypted request, and the key its response will use. */
    record Sealed(byte[] message, byte[] key) {}

    private Encryption() {}

    static Sealed sealTo(Cert recipient, byte[] plaintext) throws Refused {
        Log.trace("request-sent", plaintext);
        byte[] p1 = Cert.digest("SHA-256", recipient.bytes());
        var wrapper = new JceETSIKeyWrapper.Builder(recipient.encryptionKey(), p1).setProvider(Keys.BC).build();
        var encryptor = new JceETSIDataEncryptor.Builder().setRandom(RANDOM).setProvider(Keys.BC).build();
        var builder = new ETSIEncryptedDataBuilder();
        builder.addRecipientInfoBuilder(new ETSIRecipientInfoBuilder(wrapper, recipient.hashedId8()));
        return new Sealed(builder.build(encryptor, plaintext).getEncoded(), encryptor.getKey());
    }

    /** Decrypts what was sealed to {@code recipient}. */
    static Opened open(byte[] message, Cert recipient, PrivateKey key) throws Refused {
        byte[] p1 = Cert.digest("SHA-256", recipient.bytes());
        for (ETSIRecipientInfo info : decode(message).getRecipients().getMatches(null)) {
            if (info.getRecipientInfo().getChoice() != RecipientInfo.certRecipInfo) {
                continue;
            }
            var recipientId = PKRecipientInfo.getInstance(info.getRecipientInfo().getRecipientInfo()).getRecipientId();
            if (!Arrays.equals(ASN1OctetString.getInstance(recipientId).getOctets(), recipient.hashedId8())) {
                continue;
            }
            // Bouncy Castle does not look at the alternative and would take one curve's point for the other's.
            int curve = PKRecipientInfo.getInstance(info.getRecipientInfo().getRecipientInfo()).getEncKey().getChoice();
            if (curve != Keys.curve(key).choice) {
                throw new Refused(Refused.Reason.UNKNOWN_ENCRYPTION_ALGORITHM, "ECIES on another curve than this certificate's");
            }
            var decryptor = JcaETSIDataDecryptor.builder(key, p1).provider(Keys.BC).build();
            try {
                byte[] plaintext = info.getContent(decryptor);
                Log.trace("request-received", plaintext);
                return new Opened(plaintext, decryptor.getKey());
            } catch (RuntimeException e) {
                throw new Refused(Refused.Reason.DECRYPTION_FAILED, String.valueOf(e.getMessage()));
            }
        }
        throw new Refused(Refused.Reason.NOT_THE_RECIPIENT, "no recipient is " + recipient.id());
    }

    static byte[] sealUnder(byte[] key, byte[] plaintext) {
        Log.trace("response-sent", plaintext);
        byte[] nonce = new byte[12];
        RANDOM.nextBytes(nonce);
        EncryptedData data = EncryptedData.builder()
            .setRecipients(SequenceOfRecipientInfo.builder()
                .addRecipients(RecipientInfo.pskRecipInfo(new PreSharedKeyRecipientInfo(keyId(key))))
                .createSequenceOfRecipientInfo())
            .setCiphertext(SymmetricCiphertext.aes128ccm(AesCcmCiphertext.builder()
                .setNonce(nonce)
                .setCcmCiphertext(ccm(Cipher.ENCRYPT_MODE, key, nonce, plaintext))
                .createAesCcmCiphertext()))
            .createEncryptedData();
        return Oer.encode(new EtsiTs103097DataEncrypted(Ieee1609Dot2Content.encryptedData(data)), Oer.DATA);
    }

    static byte[] openUnder(byte[] key, byte[] message) throws Refused {
        EncryptedData data = decode(message).getEncryptedData();
        boolean ours = data.getRecipients().getRecipientInfos().stream().anyMatch(info ->
            info.getChoice() == RecipientInfo.pskRecipInfo
                && Arrays.equals(ASN1OctetString.getInstance(info.getRecipientInfo()).getOctets(), keyId(key)));
        if (!ours) {
            throw new Refused(Refused.Reason.NOT_THE_RECIPIENT, "response is not encrypted under the request's key");
        }
        if (data.getCiphertext().getChoice() != SymmetricCiphertext.aes128ccm) {
            throw new Refused(Refused.Reason.UNKNOWN_ENCRYPTION_ALGORITHM, "not AES-128-CCM");
        }
        var ciphertext = AesCcmCiphertext.getInstance(data.getCiphertext().getSymmetricCiphertext());
        try {
            byte[] plaintext = ccm(Cipher.DECRYPT_MODE, key, ciphertext.getNonce().getOctets(), ciphertext.getCcmCiphertext().getContent());
            Log.trace("response-received", plaintext);
            return plaintext;
        } catch (IllegalStateException e) {
            throw new Refused(Refused.Reason.DECRYPTION_FAILED, "AES-CCM tag is wrong");
        }
    }

    /** HashedId8 of the COER SymmetricEncryptionKey, alternative octet included. */
    private static byte[] keyId(byte[] key) {
        var encoded = Oer.encode(SymmetricEncryptionKey.aes128ccm(key), Oer.SYMMETRIC_KEY);
        return Arrays.copyOfRange(Cert.digest("SHA-256", encoded), 24, 32);
    }

    private static byte[] ccm(int mode, byte[] key, byte[] nonce, byte[] input) {
        try {
            Cipher cipher = Cipher.getInstance("AES/CCM/NoPadding", Keys.BC);
            cipher.init(mode, new SecretKeySpec(key, "AES"), new org.bouncycastle.jcajce.spec.AEADParameterSpec(nonce, 128));
            return cipher.doFinal(input);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private static ETSIEncryptedData decode(byte[] message) throws Refused {
        Oer.checkData(message);
        try {
            return new ETSIEncryptedData(new ByteArrayInputStream(message));
        } catch (IllegalStateException e) {
            throw new Refused(Refused.Reason.BAD_CONTENT_TYPE, "not encrypted data");
        } catch (IOException | RuntimeException e) {
            throw new Refused(Refused.Reason.CANT_PARSE, "no encrypted data: " + e.getMessage());
        }
    }
}
