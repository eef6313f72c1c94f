//! The exchanges over HTTP/1.1, answering. [TS 102 941 annex D]

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Path, Request, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chronoseal_v2x::crypto::KeyError;
use chronoseal_v2x::message::DecryptError;
use chronoseal_v2x::pki::{Decision, ListKind, PkiError, Role};

use super::exchange::Failure;
use super::places::Guest;
use super::reports::ReportAnswer;
use super::server::State;
use super::{CRL_TYPE, CTL_TYPE, REQUEST_TYPE, RESPONSE_TYPE, ServiceError};

/// Longest request taken `[byte]`.
const REQUEST_LEN_MAX: usize = 64 * 1024;
/// How long a request may take to arrive, its header and its body each.
pub(super) const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// How often what is of no use any more is forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(30);

pub(super) fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/ea", post(|state, guest, request| exchange(state, guest, request, State::enrolment)))
        .route("/aa", post(|state, guest, request| exchange(state, guest, request, State::authorization)))
        .route("/uploadMR-v1", post(report))
        .route("/getctl/{id}", get(full_list))
        .route("/getctl/{id}/{sequence}", get(delta_list))
        .route("/getcrl/{id}", get(revocation_list))
        .route("/getectl", get(full_ectl))
        .route("/getectl/{sequence}", get(delta_ectl))
        .route("/certificates/{name}", get(certificate))
        .with_state(state)
}

/// A misbehaviour report.
async fn report(Extract(state): OfState, Extension(guest): OfGuest, request: Request) -> Response {
    let body = match body(request).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    match state.work(&guest, move |state| state.take_report(&body)).await {
        Ok(Ok(ReportAnswer::Taken(id))) => {
            guest.is_answered();
            typed(RESPONSE_TYPE, id.to_vec())
        }
        Ok(Ok(ReportAnswer::Refused(status, reason))) => text(status, reason),
        Ok(Err(error)) => failed(error.into()),
        Err(failure) => failed(failure),
    }
}

/// What was posted, or why it is not taken.
async fn body(request: Request) -> Result<Bytes, Response> {
    let content_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    if content_type != Some(REQUEST_TYPE.as_bytes()) {
        return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("content type must be {REQUEST_TYPE}")));
    }
    match tokio::time::timeout(REQUEST_TIME_MAX, to_bytes(request.into_body(), REQUEST_LEN_MAX)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => Err(text(StatusCode::PAYLOAD_TOO_LARGE, format!("at most {REQUEST_LEN_MAX} octets"))),
        Err(_) => Err(text(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time".to_owned())),
    }
}

async fn exchange<F: Future<Output = Result<Decision, Failure>>>(
    Extract(state): Extract<Arc<State>>,
    Extension(guest): Extension<Guest>,
    request: Request,
    answer: fn(Arc<State>, Bytes, Guest) -> F,
) -> Response {
    let body = match body(request).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    match answer(state, body, guest.clone()).await {
        Ok(decision) => {
            if decision.refused.is_none() {
                guest.is_answered();
            }
            typed(RESPONSE_TYPE, decision.answer)
        }
        // Nothing to answer under: it was not for this authority, or no request at all.
        Err(Failure::Service(ServiceError::Pki(error))) if is_of_request(&error) => {
            text(StatusCode::BAD_REQUEST, error.to_string())
        }
        Err(failure) => failed(failure),
    }
}

fn failed(failure: Failure) -> Response {
    match failure {
        Failure::Busy => {
            let reason = "other requests of this address wait for authorities of other roots; try again later";
            let mut response = text(StatusCode::SERVICE_UNAVAILABLE, reason.to_owned());
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("5"));
            response
        }
        Failure::Lost => text(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be worked on".to_owned()),
        Failure::Service(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Whether a key or device here is at fault, and not what came.
pub(super) fn is_of_device(error: &PkiError) -> bool {
    matches!(error, PkiError::Decrypt(DecryptError::Key(KeyError::Device(_))) | PkiError::Key(KeyError::Device(_)))
}

/// Whether the request is at fault, and not a key or device here.
fn is_of_request(error: &PkiError) -> bool {
    match error {
        PkiError::Decrypt(DecryptError::Key(error)) => !matches!(error, KeyError::Device(_)),
        PkiError::Decode(_) | PkiError::WrongContent { .. } | PkiError::Decrypt(_) => true,
        _ => false,
    }
}

type OfState = Extract<Arc<State>>;
type OfGuest = Extension<Guest>;

async fn full_list(state: OfState, guest: OfGuest, Path(id): Path<String>) -> Response {
    of_root(state, guest, id, |state| state.list(ListKind::Root).map(Some), CTL_TYPE).await
}

async fn delta_list(state: OfState, guest: OfGuest, Path((id, sequence)): Path<(String, u8)>) -> Response {
    of_root(state, guest, id, move |state| state.delta(ListKind::Root, sequence), CTL_TYPE).await
}

async fn revocation_list(state: OfState, guest: OfGuest, Path(id): Path<String>) -> Response {
    of_root(state, guest, id, |state| state.revocation_list().map(Some), CRL_TYPE).await
}

async fn full_ectl(Extract(state): OfState, Extension(guest): OfGuest) -> Response {
    list(state, guest, |state| state.list(ListKind::TrustListManager).map(Some), CTL_TYPE).await
}

async fn delta_ectl(Extract(state): OfState, Extension(guest): OfGuest, Path(sequence): Path<u8>) -> Response {
    list(state, guest, move |state| state.delta(ListKind::TrustListManager, sequence), CTL_TYPE).await
}

async fn certificate(Extract(state): Extract<Arc<State>>, Path(name): Path<String>) -> Response {
    let role = name.strip_suffix(".oer").and_then(|name| Role::ALL.into_iter().find(|role| role.name() == name));
    match role {
        Some(role) => typed("application/octet-stream", state.certificate(role).certificate().as_bytes().to_vec()),
        None => text(StatusCode::NOT_FOUND, "no such certificate".to_owned()),
    }
}

async fn of_root(
    Extract(state): OfState,
    Extension(guest): OfGuest,
    id: String,
    read: impl FnOnce(&State) -> Result<Option<Vec<u8>>, ServiceError> + Send + 'static,
    content_type: &'static str,
) -> Response {
    if id != state.certificate(Role::Root).id().to_string() {
        return text(StatusCode::NOT_FOUND, format!("no list of {id}"));
    }
    list(state, guest, read, content_type).await
}

async fn list(
    state: Arc<State>,
    guest: Guest,
    read: impl FnOnce(&State) -> Result<Option<Vec<u8>>, ServiceError> + Send + 'static,
    content_type: &'static str,
) -> Response {
    match state.work(&guest, read).await {
        Ok(Ok(Some(message))) => {
            guest.is_answered();
            typed(content_type, message)
        }
        Ok(Ok(None)) => text(StatusCode::NOT_FOUND, "no list of that number is kept".to_owned()),
        Ok(Err(error)) => failed(error.into()),
        Err(failure) => failed(failure),
    }
}

/// Forgets what is of no use any more, every now and then, until the server ends.
pub(super) async fn forget(state: Arc<State>) {
    let mut interval = tokio::time::interval(FORGET_EVERY);
    loop {
        interval.tick().await;
        let forgetting = Arc::clone(&state);
        // What could not be forgotten now is forgotten the next time; it is not given out in either case.
        let _ = state.gate.work(move || forgetting.forget()).await;
    }
}

fn typed(content_type: &'static str, bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, content_type)], Body::from(Bytes::from(bytes))).into_response()
}

fn text(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text + "\n").into_response()
}
