//! The exchanges over HTTP/1.1, answering. [TS 102 941 annex D]

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chronoseal_v2x::crypto::KeyError;
use chronoseal_v2x::message::DecryptError;
use chronoseal_v2x::pki::{Decision, ListKind, PkiError, Role};

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
        .route("/ea", post(|state, request| exchange(state, request, State::enrolment)))
        .route("/aa", post(|state, request| exchange(state, request, State::authorization)))
        .route("/getctl/{id}", get(full_list))
        .route("/getctl/{id}/{sequence}", get(delta_list))
        .route("/getcrl/{id}", get(revocation_list))
        .route("/getectl", get(full_ectl))
        .route("/getectl/{sequence}", get(delta_ectl))
        .route("/certificates/{name}", get(certificate))
        .with_state(state)
}

async fn exchange(
    Extract(state): Extract<Arc<State>>,
    request: Request,
    answer: fn(&State, &[u8]) -> Result<Decision, ServiceError>,
) -> Response {
    let content_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    if content_type != Some(REQUEST_TYPE.as_bytes()) {
        return text(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("content type must be {REQUEST_TYPE}"));
    }
    let body = match tokio::time::timeout(REQUEST_TIME_MAX, to_bytes(request.into_body(), REQUEST_LEN_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return text(StatusCode::PAYLOAD_TOO_LARGE, format!("at most {REQUEST_LEN_MAX} octets")),
        Err(_) => return text(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time".to_owned()),
    };
    blocking(state, move |state| match answer(state, &body) {
        Ok(decision) => typed(RESPONSE_TYPE, decision.answer),
        // Nothing to answer under: it was not for this authority, or no request at all.
        Err(ServiceError::Pki(error)) if is_of_request(&error) => text(StatusCode::BAD_REQUEST, error.to_string()),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    })
    .await
}

/// Whether the request is at fault, and not a key or device here.
fn is_of_request(error: &PkiError) -> bool {
    match error {
        PkiError::Decrypt(DecryptError::Key(error)) => !matches!(error, KeyError::Device(_)),
        PkiError::Decode(_) | PkiError::WrongContent { .. } | PkiError::Decrypt(_) => true,
        _ => false,
    }
}

async fn full_list(Extract(state): Extract<Arc<State>>, Path(id): Path<String>) -> Response {
    of_root(state, id, |state| state.list(ListKind::Root).map(Some), CTL_TYPE).await
}

async fn delta_list(Extract(state): Extract<Arc<State>>, Path((id, sequence)): Path<(String, u8)>) -> Response {
    of_root(state, id, move |state| state.delta(ListKind::Root, sequence), CTL_TYPE).await
}

async fn revocation_list(Extract(state): Extract<Arc<State>>, Path(id): Path<String>) -> Response {
    of_root(state, id, |state| state.revocation_list().map(Some), CRL_TYPE).await
}

async fn full_ectl(Extract(state): Extract<Arc<State>>) -> Response {
    blocking(state, |state| list(state.list(ListKind::TrustListManager).map(Some), CTL_TYPE)).await
}

async fn delta_ectl(Extract(state): Extract<Arc<State>>, Path(sequence): Path<u8>) -> Response {
    blocking(state, move |state| list(state.delta(ListKind::TrustListManager, sequence), CTL_TYPE)).await
}

async fn certificate(Extract(state): Extract<Arc<State>>, Path(name): Path<String>) -> Response {
    let role = name.strip_suffix(".oer").and_then(|name| Role::ALL.into_iter().find(|role| role.name() == name));
    match role {
        Some(role) => typed("application/octet-stream", state.certificate(role).certificate().as_bytes().to_vec()),
        None => text(StatusCode::NOT_FOUND, "no such certificate".to_owned()),
    }
}

async fn of_root(
    state: Arc<State>,
    id: String,
    read: impl FnOnce(&State) -> Result<Option<Vec<u8>>, ServiceError> + Send + 'static,
    content_type: &'static str,
) -> Response {
    if id != state.certificate(Role::Root).id().to_string() {
        return text(StatusCode::NOT_FOUND, format!("no list of {id}"));
    }
    blocking(state, move |state| list(read(state), content_type)).await
}

fn list(message: Result<Option<Vec<u8>>, ServiceError>, content_type: &'static str) -> Response {
    match message {
        Ok(Some(message)) => typed(content_type, message),
        Ok(None) => text(StatusCode::NOT_FOUND, "no list of that number is kept".to_owned()),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Forgets what is of no use any more, every now and then, until the server ends.
pub(super) async fn forget(state: Arc<State>) {
    let mut interval = tokio::time::interval(FORGET_EVERY);
    loop {
        interval.tick().await;
        let state = Arc::clone(&state);
        // What could not be forgotten now is forgotten the next time; it is not given out in either case.
        let _ = tokio::task::spawn_blocking(move || state.forget()).await;
    }
}

/// Runs what signs, decrypts, or waits for a store or another authority, where it holds nobody up.
async fn blocking(state: Arc<State>, act: impl FnOnce(&State) -> Response + Send + 'static) -> Response {
    let done = tokio::task::spawn_blocking(move || act(&state)).await;
    done.unwrap_or_else(|_| text(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be worked on".to_owned()))
}

fn typed(content_type: &'static str, bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, content_type)], Body::from(Bytes::from(bytes))).into_response()
}

fn text(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text + "\n").into_response()
}
