//! Answers on request: every code there is, and what the station makes of it.

use chronoseal_v2x::pki::{
    AuthorizationResponseCode, AuthorizationValidationResponseCode, EnrolmentResponseCode, PkiError,
};
use chronoseal_v2x_service::pki::{Faults, ServiceError, TicketOptions};

use super::{Car, Pki};

#[test]
fn each_response_code_reaches_the_station() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let before = car.client.credential().unwrap().0.id();
    for code in EnrolmentResponseCode::ALL.iter().copied().filter(|code| !code.is_ok()) {
        pki.server.set_faults(Faults { enrolment: Some(code), ..Faults::default() });
        let error = pki.renew(&car).unwrap_err();
        assert!(matches!(error, ServiceError::Pki(PkiError::EnrolmentRefused(found)) if found == code), "{error}");
    }
    assert_eq!(car.client.credential().unwrap().0.id(), before, "a refusal changes nothing");
    for code in AuthorizationResponseCode::ALL.iter().copied().filter(|code| !code.is_ok()) {
        pki.server.set_faults(Faults { authorization: Some(code), ..Faults::default() });
        let error = pki.authorize(&car, &TicketOptions::default()).unwrap_err();
        assert!(matches!(error, ServiceError::Pki(PkiError::AuthorizationRefused(found)) if found == code), "{error}");
    }
    for code in AuthorizationValidationResponseCode::ALL.iter().copied().filter(|code| !code.is_ok()) {
        pki.server.set_faults(Faults { validation: Some(code), ..Faults::default() });
        let error = pki.authorize(&car, &TicketOptions::default()).unwrap_err();
        let expected = AuthorizationResponseCode::from(code);
        assert!(
            matches!(error, ServiceError::Pki(PkiError::AuthorizationRefused(found)) if found == expected),
            "{code}: {error}"
        );
    }
    assert!(car.client.tickets().unwrap().is_empty());
    pki.server.set_faults(Faults::default());
    pki.authorize(&car, &TicketOptions::default()).unwrap();
}
