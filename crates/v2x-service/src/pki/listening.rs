//! The port of the authorities: who is let in, and for how long.
//!
//! A connection has [`REQUEST_TIME_MAX`] to say what it wants, also between two requests. So many are open at once, of one
//! address fewer, that descriptors and memory last; one more is closed as it comes.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Runtime;

use super::ServiceError;
use super::server::State;
use super::service::{REQUEST_TIME_MAX, forget, router};

/// Connections open at once.
const CONNECTIONS_MAX: usize = 512;
/// Of one address.
const OF_ONE_ADDRESS_MAX: usize = 64;
/// Threads that sign, decrypt and ask others.
const WORKERS_MAX: usize = 32;
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
            .max_blocking_threads(WORKERS_MAX)
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
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(place) = Places::take(&places, peer.ip()) else { continue };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME_MAX);
            // What goes wrong on a connection ends it, and nothing else.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

/// Who is connected.
#[derive(Debug, Default)]
struct Places {
    taken: Mutex<BTreeMap<IpAddr, usize>>,
}

/// A connection's place; free again when it is dropped.
struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Places {
    fn take(places: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.values().sum::<usize>() >= CONNECTIONS_MAX {
            return None;
        }
        let of_address = taken.entry(address).or_default();
        if *of_address >= OF_ONE_ADDRESS_MAX {
            return None;
        }
        *of_address += 1;
        Some(Place { places: Arc::clone(places), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_address) = taken.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_takes_all_places_and_all_of_them_no_more_than_there_are() {
        let places = Arc::new(Places::default());
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        let mut held: Vec<Place> = Vec::new();
        for last in 0..20 {
            while let Some(place) = Places::take(&places, address(last)) {
                held.push(place);
                assert!(held.len() <= CONNECTIONS_MAX);
            }
            assert_eq!(held.len(), CONNECTIONS_MAX.min((usize::from(last) + 1) * OF_ONE_ADDRESS_MAX));
        }
        held.clear();
        assert!(places.taken.lock().unwrap().is_empty(), "nothing is remembered of who is gone");
        assert!(Places::take(&places, address(0)).is_some());
    }
}
