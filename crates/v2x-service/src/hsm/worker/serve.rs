//! The worker's side: one device, one request after another.

use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use zeroize::{Zeroize as _, Zeroizing};

use super::wire::{self, Answer, Description, Info, Point, Request};
use crate::hsm::{Curve, Hsm, HsmError, curve};

/// Answers requests until the other side ends.
///
/// # Errors
/// Those of the socket, and a message that is none.
pub fn serve(mut socket: impl Read + Write) -> io::Result<()> {
    let mut hsm: Option<Box<dyn Hsm>> = None;
    while let Some(request) = wire::receive(&mut socket)? {
        let answer = answer(&mut hsm, request).unwrap_or_else(Answer::Refused);
        wire::send(&mut socket, &answer)?;
    }
    Ok(())
}

fn answer(opened: &mut Option<Box<dyn Hsm>>, request: Request) -> Result<Answer, HsmError> {
    if let Request::Open { back_end, mut pin } = request {
        let result = back_end.open(&pin);
        pin.zeroize();
        let hsm = opened.insert(result?);
        let capabilities = Description::of(hsm.capabilities());
        let predefined = hsm.predefined_key_range().map(|range| (*range.start(), *range.end()));
        return Ok(Answer::Opened { capabilities, predefined });
    }
    let hsm = opened.as_mut().ok_or_else(|| HsmError::Protocol("a request before the first `Open`".into()))?;
    Ok(match request {
        Request::Open { .. } => unreachable!("answered above"),
        Request::CreateSymmetric { persistence, label } => Answer::Key(hsm.create_symmetric(persistence, &label)?),
        Request::CreatePair { curve, persistence, label } => {
            Answer::Key(hsm.create_pair(curve_of(curve)?, persistence, &label)?)
        }
        Request::Import { kind, secret, persistence, label } => {
            Answer::Key(hsm.import(&wire::imported(kind, secret)?, persistence, &label)?)
        }
        Request::ExportPublic { key } => Answer::Point(Point::of_public(&hsm.export_public(key)?)),
        Request::List => Answer::Infos(hsm.list()?.into_iter().map(Info::from).collect()),
        Request::Delete { key } => {
            hsm.delete(key)?;
            Answer::Done
        }
        Request::Sign { key, digest } => Answer::Point(Point::of_signature(&hsm.sign_digest(key, &digest)?)),
        Request::SignBatch { key, digests } => {
            let digests: Vec<&[u8]> = digests.iter().map(Vec::as_slice).collect();
            Answer::Points(hsm.sign_batch(key, &digests)?.iter().map(Point::of_signature).collect())
        }
        Request::Verify { public, digest, signature } => {
            Answer::Holds(hsm.verify(&public.public()?, &digest, &signature.signature()?)?)
        }
        Request::Encrypt { key, nonce, plaintext } => {
            Answer::Bytes(hsm.encrypt(key, &nonce, &Zeroizing::new(plaintext))?)
        }
        Request::Decrypt { key, nonce, ciphertext } => Answer::Bytes(hsm.decrypt(key, &nonce, &ciphertext)?),
        Request::Agree { key, peer } => Answer::Bytes(hsm.agree(key, &peer.public()?)?.as_bytes().to_vec()),
        Request::ReloadPredefined => Answer::Keys(hsm.reload_predefined()?),
        Request::Recover => hsm.recover()?.into(),
    })
}

fn curve_of(code: u8) -> Result<Curve, HsmError> {
    curve::of_code(code).ok_or_else(|| HsmError::Protocol(format!("curve {code}")))
}

/// What a worker does, from its start to its end: serves whoever started it, over its standard input.
#[must_use]
pub fn main() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    match socket.and_then(|socket| serve(&socket)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be reading.
            let _ = io::stderr().write_fmt(format_args!("hsm-worker: {error}\n"));
            ExitCode::FAILURE
        }
    }
}
