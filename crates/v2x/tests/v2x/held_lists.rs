//! Which lists a station takes, and what they say about whom.

use chronoseal_v2x::certificate::CertificateForm;
use chronoseal_v2x::coer::Rules;
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    AaEntry, Authority, CtlCommand, CtlDelete, CtlEntry, HeldLists, ListKind, ListName, ListRefusal, PkiError, Role,
    Taken, issue_authority, sign_revocation_list, sign_trust_list,
};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, Time64};

use crate::stations::{NOW, rng};

const DAY_S: u64 = 86_400;

fn later(seconds: u64) -> Time64 {
    NOW.plus_us(seconds * 1_000_000)
}

/// A root that signs lists, and an authority below it.
struct Issuer {
    root: Authority,
    aa: CertificateBuf,
}

impl Issuer {
    fn new(seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut key = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let [aa_key, encryption] = [(); 2].map(|()| SoftwareKey::generate(Curve::NistP256, &mut rng).public_point());
        let public = key.public_point();
        let root = issue_authority(Role::Root, "root", &public, None, None, &mut key, NOW.time32()).unwrap();
        let below = Some(&root);
        let role = Role::Authorization;
        let aa = issue_authority(role, "aa", &aa_key, Some(&encryption), below, &mut key, NOW.time32()).unwrap();
        let certificate = SignerCertificate::new(root).unwrap();
        Self { root: Authority { certificate, signing_key: Box::new(key), decryption_key: None }, aa }
    }

    fn id(&self) -> HashedId8 {
        self.root.id()
    }

    fn aa_id(&self) -> HashedId8 {
        SignerCertificate::new(self.aa.clone()).unwrap().id()
    }

    fn full(&mut self, number: u8, at: Time64) -> Vec<u8> {
        let aa = self.aa.clone();
        let entry = CtlEntry::Aa(AaEntry { aa_certificate: aa.view(), access_point: "http://aa" });
        sign_trust_list(&mut self.root, ListKind::Root, (true, number), vec![CtlCommand::Add(entry)], at, DAY_S)
            .unwrap()
    }

    fn without_aa(&mut self, number: u8, at: Time64) -> Vec<u8> {
        let delete = vec![CtlCommand::Delete(CtlDelete::Cert(self.aa_id()))];
        sign_trust_list(&mut self.root, ListKind::Root, (false, number), delete, at, DAY_S).unwrap()
    }

    fn revocations(&mut self, revoked: Vec<HashedId8>, at: Time64) -> Vec<u8> {
        sign_revocation_list(&mut self.root, revoked, at, DAY_S).unwrap()
    }
}

fn held(roots: &[&Issuer]) -> HeldLists {
    let roots = roots.iter().map(|issuer| issuer.root.certificate.clone());
    HeldLists::new(roots, Vec::new(), None, (Rules::STRICT, CertificateForm::Canonical))
}

#[test]
fn numbers_go_round_and_nothing_older_is_taken() {
    let mut issuer = Issuer::new(1);
    let mut lists = held(&[&issuer]);
    let name = ListName::Ctl(issuer.id());
    let before = issuer.full(249, later(0));
    assert_eq!(lists.offer(&issuer.full(250, later(1)), later(1)), Ok(Taken::New(name)));
    assert_eq!(lists.offer(&before, later(2)), Err(ListRefusal::Rollback { held: 250, offered: 249 }));
    assert_eq!(lists.offer(&issuer.full(3, later(3)), later(3)), Ok(Taken::New(name)), "255 is followed by 1");
    let behind = issuer.full(250, later(4));
    assert_eq!(lists.offer(&behind, later(4)), Err(ListRefusal::Rollback { held: 3, offered: 250 }));
    // A number that is ahead, under an older date: somebody kept it.
    let kept = issuer.full(9, later(1));
    assert_eq!(lists.offer(&kept, later(5)), Err(ListRefusal::Rollback { held: 3, offered: 9 }));
    assert_eq!(lists.number(name), Some(3));
    // After a long time away any newer one is taken.
    let long = later(2 * DAY_S);
    assert_eq!(lists.offer(&issuer.full(250, long), long), Ok(Taken::New(name)));
}

#[test]
fn changes_are_taken_after_the_list_they_change_alone() {
    let mut issuer = Issuer::new(2);
    let mut lists = held(&[&issuer]);
    let change = issuer.without_aa(2, later(1));
    assert_eq!(lists.offer(&change, later(1)), Err(ListRefusal::Gap { held: None, offered: 2 }));
    lists.offer(&issuer.full(1, later(0)), later(1)).unwrap();
    assert!(lists.trust().0.authority(issuer.aa_id()).is_some());
    let far = issuer.without_aa(4, later(2));
    assert_eq!(lists.offer(&far, later(2)), Err(ListRefusal::Gap { held: Some(1), offered: 4 }));
    lists.offer(&change, later(2)).unwrap();
    assert!(lists.trust().0.authority(issuer.aa_id()).is_none(), "it is off the list");
    assert_eq!(lists.messages(ListName::Ctl(issuer.id())).len(), 2, "both are kept");
}

#[test]
fn a_root_revokes_below_itself_only_and_nobody_else_revokes() {
    let (mut one, mut other, mut foreign) = (Issuer::new(3), Issuer::new(4), Issuer::new(5));
    let mut lists = held(&[&one, &other]);
    lists.offer(&one.full(1, later(0)), later(0)).unwrap();
    lists.offer(&other.full(1, later(0)), later(0)).unwrap();
    let of_foreign = foreign.revocations(vec![one.aa_id()], later(0));
    assert_eq!(lists.offer(&of_foreign, later(0)), Err(ListRefusal::Foreign(foreign.id())));
    lists.offer(&other.revocations(vec![one.aa_id(), other.aa_id()], later(1)), later(1)).unwrap();
    let (trust, problems) = lists.trust();
    assert!(problems.is_empty(), "{problems:?}");
    assert!(!trust.is_authority_revoked(one.aa_id()), "another root says so");
    assert!(trust.is_authority_revoked(other.aa_id()));
    assert!(!trust.has_revocation_list(one.id()) && trust.has_revocation_list(other.id()));
    lists.offer(&one.revocations(vec![one.aa_id()], later(2)), later(2)).unwrap();
    assert!(lists.trust().0.is_authority_revoked(one.aa_id()));
}

#[test]
fn a_broken_signature_and_an_older_revocation_list_leave_what_is_held() {
    let mut issuer = Issuer::new(6);
    let mut lists = held(&[&issuer]);
    let name = ListName::Crl(issuer.id());
    let old = issuer.revocations(vec![], later(0));
    let mut new = issuer.revocations(vec![issuer.aa_id()], later(5));
    *new.last_mut().unwrap() ^= 1;
    assert_eq!(lists.offer(&new, later(5)), Err(ListRefusal::Pki(PkiError::WrongSignature)));
    *new.last_mut().unwrap() ^= 1;
    assert_eq!(lists.offer(&new, later(5)), Ok(Taken::New(name)));
    assert!(matches!(lists.offer(&old, later(6)), Err(ListRefusal::OldRevocations { .. })));
    let again = issuer.revocations(vec![issuer.aa_id()], later(7));
    assert_eq!(lists.offer(&again, later(7)), Ok(Taken::Renewed(name)));
    assert_eq!(lists.offer(&again, later(8)), Ok(Taken::Held(name)));
    assert_eq!(lists.overdue(later(7 + DAY_S)), [name]);
}
