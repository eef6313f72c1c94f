//! The exchanges over HTTP/1.1, asking. [TS 102 941 annex D]

use std::io::Read;
use std::time::Duration;

use super::ServiceError;

/// Content type of requests.
pub const REQUEST_TYPE: &str = "application/x-its-request";
/// Content type of answers.
pub const RESPONSE_TYPE: &str = "application/x-its-response";
/// Content type of trust lists.
pub const CTL_TYPE: &str = "application/x-its-ctl";
/// Content type of revocation lists.
pub const CRL_TYPE: &str = "application/x-its-crl";

/// Longest answer taken `[byte]`.
pub const ANSWER_LEN_MAX: u64 = 1 << 20;

/// So much is read of what an error says of itself `[byte]`.
const REASON_LEN_MAX: u64 = 300;

/// Asks authorities and distribution centres.
#[derive(Clone, Debug)]
pub struct HttpClient {
    agent: ureq::Agent,
}

impl Default for HttpClient {
    /// Gives up after ten seconds.
    fn default() -> Self {
        Self::new(Duration::from_secs(10))
    }
}

impl HttpClient {
    /// Gives up after `timeout`, connecting and waiting together.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Self { agent: config.into() }
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// [`ServiceError::Network`], or [`ServiceError::Http`] for an answer that is none of the protocol.
    pub fn post(&self, url: &str, request: &[u8]) -> Result<Vec<u8>, ServiceError> {
        let response = self.agent.post(url).header("Content-Type", REQUEST_TYPE).send(request);
        body(url, response, RESPONSE_TYPE)
    }

    /// Fetches a list.
    ///
    /// # Errors
    /// As [`HttpClient::post`].
    pub fn get(&self, url: &str, content_type: &str) -> Result<Vec<u8>, ServiceError> {
        body(url, self.agent.get(url).call(), content_type)
    }
}

fn body(
    url: &str,
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    expected: &str,
) -> Result<Vec<u8>, ServiceError> {
    let network = |reason: String| ServiceError::Network { url: url.to_owned(), reason };
    let http = |status: Option<u16>, expected: &str, found: String| ServiceError::Http {
        url: url.to_owned(),
        status,
        expected: expected.to_owned(),
        found,
    };
    let mut response = response.map_err(|error| network(error.to_string()))?;
    if response.status() != ureq::http::StatusCode::OK {
        let status = response.status().as_u16();
        let mut reason = String::new();
        let reader = response.body_mut().as_reader();
        // Only a text is of use to a person, and only its beginning.
        let is_read = reader.take(REASON_LEN_MAX).read_to_string(&mut reason).is_ok();
        let reason = reason.lines().next().filter(|line| is_read && !line.is_empty());
        let reason = reason.map(|reason| format!(" ({})", reason.replace(char::is_control, "?"))).unwrap_or_default();
        return Err(http(Some(status), "status 200", format!("status {status}{reason}")));
    }
    let found =
        response.headers().get("content-type").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    if found.as_deref() != Some(expected) {
        return Err(http(
            None,
            expected,
            found.map_or("no content type".to_owned(), |found| format!("content type {found}")),
        ));
    }
    let mut bytes = Vec::new();
    let reader = response.body_mut().as_reader();
    reader.take(ANSWER_LEN_MAX + 1).read_to_end(&mut bytes).map_err(|error| network(error.to_string()))?;
    if bytes.len() as u64 > ANSWER_LEN_MAX {
        return Err(http(None, &format!("at most {ANSWER_LEN_MAX} octets"), "more".to_owned()));
    }
    Ok(bytes)
}
