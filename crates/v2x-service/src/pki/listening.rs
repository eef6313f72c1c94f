//! The port of the authorities: who is let in, and for how long.
//!
//! A connection has [`REQUEST_TIME_MAX`] to say what it wants, also between two requests. When all places are taken, an idle
//! connection makes room for a new one; [`super::places`] says which.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Runtime;

use super::ServiceError;
use super::exchange::{OUTWARD_MAX, WORKERS_MAX};
use super::places::{Peer, Places};
use super::server::State;
use super::service::{REQUEST_TIME_MAX, forget, router};

/// How long to wait after the system had no descriptor for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// A port that is taken, and not yet answered at.
pub(super) struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    pub(super) fn bind(address: SocketAddr) -> Result<Self, ServiceError> {
        let network =
            |error: std::io::Error| ServiceError::Network { url: address.to_string(), reason: error.to_string() };
        let listener = TcpListener::bind(address).map_err(network)?;
        listener.set_nonblocking(true).map_err(network)?;
        let address = listener.local_addr().map_err(network)?;
        Ok(Self { listener, address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn serve(self, state: Arc<State>) -> Result<Running, ServiceError> {
        let address = self.address;
        let network =
            |error: std::io::Error| ServiceError::Network { url: address.to_string(), reason: error.to_string() };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(WORKERS_MAX + OUTWARD_MAX)
            .enable_all()
            .build()
            .map_err(network)?;
        let listener = {
            let _guard = runtime.enter();
            tokio::net::TcpListener::from_std(self.listener).map_err(network)?
        };
        runtime.spawn(forget(Arc::clone(&state)));
        let ended = runtime.spawn(accept(listener, router(state)));
        Ok(Running { runtime: Some(runtime), ended })
    }
}

/// A server that answers until it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    runtime: Option<Runtime>,
    ended: tokio::task::JoinHandle<()>,
}

impl Running {
    pub(super) fn wait(&self) {
        while !self.ended.is_finished() {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // What is being signed or stored has a moment; a connection that is merely open has none.
            runtime.shutdown_timeout(Duration::from_millis(500));
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let places = Arc::new(Places::default());
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                // No descriptor is left: whoever is idle gives one back.
                places.end_one();
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(guest) = Places::take(&places, Peer::from(peer.ip())) else { continue };
        let (router, of_requests) = (TowerToHyperService::new(router.clone()), guest.clone());
        let served = tokio::spawn(async move {
            let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
                request.extensions_mut().insert(of_requests.clone());
                router.call(request)
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME_MAX);
            // What goes wrong on a connection ends it, and nothing else.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
        guest.ends_by(served.abort_handle());
    }
}
