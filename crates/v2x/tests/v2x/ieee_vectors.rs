//! IEEE 1609.2a-2017 annex D, with the P1 of D.6.2 that the vectors were really made with (the standard prints the key
//! in its place).

use chronoseal_v2x::crypto::*;
use chronoseal_v2x::types::{CurvePoint, EciesP256EncryptedKey};

use crate::stations::hex;

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().unwrap()
}

#[test]
fn aes_ccm_d_6_1() {
    let vectors = include_str!("../data/ieee1609dot2_2017_d_6_1.txt");
    let mut count = 0;
    for line in vectors.lines().filter(|line| !line.starts_with('#')) {
        let [key, nonce, plaintext, ciphertext] = *line.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let (key, nonce) = (array(key), array(nonce));
        assert_eq!(ccm_seal(&key, &nonce, &hex(plaintext)).unwrap(), hex(ciphertext));
        assert_eq!(ccm_open(&key, &nonce, &hex(ciphertext)).unwrap(), hex(plaintext));
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn ecies_d_6_2() {
    // Ephemeral private key, recipient's private key, key, P1, C, T.
    let vectors = [
        [
            "1384C31D6982D52BCA3BED8A7E60F52FECDAB44E5C0EA166815A8159E09FFB42",
            "060E41440A4E35154CA0EFCB52412145836AD032833E6BC781E533BF14851085",
            "9169155B08B07674CBADF75FB46A7B0D",
            "A6B7B52554B4203F7E3ACFDB3A3ED8674EE086CE5906A7CAC2F8A398306D3BE9",
            "A6342013D623AD6C5F6882469673AE33",
            "80e1d85d30f1bae4ecf1a534a89a0786",
        ],
        [
            "1384C31D6982D52BCA3BED8A7E60F52FECDAB44E5C0EA166815A8159E09FFB42",
            "DA5E1D853FCC5D0C162A245B9F29D38EB6059F0DB172FB7FDA6663B925E8C744",
            "687E9757DEBFD87B0C267330C183C7B6",
            "05BED5F867B89F30FE5552DF414B65B9DD4073FC385D14921C641A145AA12051",
            "1F6346EDAEAF57561FC9604FEBEFF44E",
            "373c0fa7c52a0798ec36eadfe387c3ef",
        ],
    ];
    for [ephemeral, recipient, key, p1, c, t] in vectors {
        let mut ephemeral = SoftwareKey::from_scalar(Curve::NistP256, &hex(ephemeral)).unwrap();
        let mut recipient = SoftwareKey::from_scalar(Curve::NistP256, &hex(recipient)).unwrap();
        let public = recipient.public_point();
        let encrypted = encrypt_key_with(&mut ephemeral, &public, &hex(p1), &array(key)).unwrap();
        let v = array("F45A99137B1BB2C150D6D8CF7292CA07DA68C003DAA766A9AF7F67F5EE916828");
        let expected = EciesP256EncryptedKey { v: CurvePoint::CompressedY1(v), c: array(c), t: array(t) };
        assert_eq!(encrypted, expected);
        assert_eq!(*decrypt_key(&mut recipient, &hex(p1), &encrypted).unwrap().unwrap(), array(key));
        // The printed P1 does not open it.
        assert_eq!(decrypt_key(&mut recipient, &hex(key), &encrypted).unwrap(), None);
    }
}

#[test]
fn mac1_d_6_3() {
    let vectors = [
        ("0b".repeat(20), "4869205468657265".into(), "b0344c61d8db38535ca8afceaf0bf12b"),
        (
            "4a656665".into(),
            "7768617420646f2079612077616e7420666f72206e6f7468696e673f".into(),
            "5bdcc146bf60754e6a042426089575c7",
        ),
        ("aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a7"),
    ];
    for (key, message, tag) in vectors {
        assert_eq!(mac1(&hex(&key), &hex(&message)), array(tag));
    }
}

#[test]
fn kdf2_d_6_4() {
    let vectors = [
        ("96c05619d56c328ab95fe84b18264b08725b85e33fd34f08", "", "443024c3dae66b95e6f5670601558f71"),
        ("96f600b73ad6ac5629577eced51743dd2c24c21b1ac83ee4", "", "b6295162a7804f5667ba9070f82fa522"),
        (
            "22518b10e70f2a3f243810ae3254139efbee04aa57c7af7d",
            "75eef81aa3041e33b80971203d2c0c52",
            "c498af77161cc59f2962b9a713e2b215152d139766ce34a776df11866a69bf2e52a13d9c7c6fc878c50c5ea0bc7b00e0
             da2447cfd874f6cf92f30d0097111485500c90c3af8b487872d04685d14c8d1dc8d7fa08beb0ce0ababc11f0bd496269
             142d43525a78e5bc79a17f59676a5706dc54d54d4d1f0bd7e386128ec26afc21",
        ),
        (
            "7e335afa4b31d772c0635c7b0e06f26fcd781df947d2990a",
            "d65a4812733f8cdbcdfb4b2f4c191d87",
            "c0bd9e38a8f9de14c2acd35b2f3410c6988cf02400543631e0d6a4c1d030365acbf398115e51aaddebdc9590664210f9
             aa9fed770d4c57edeafa0b8c14f93300865251218c262d63dadc47dfa0e0284826793985137e0a544ec80abf2fdf5ab9
             0bdaea66204012efe34971dc431d625cd9a329b8217cc8fd0d9f02b13f2f6b0b",
        ),
    ];
    for (secret, p1, key) in vectors {
        let mut output = vec![0; hex(key).len()];
        kdf2(&hex(secret), &hex(p1), &mut output);
        assert_eq!(output, hex(key));
    }
}
