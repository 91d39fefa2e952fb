//! A connection to one of the addresses that were checked, and to nothing else.

use super::{
    call::Unreached,
    target::{Host, Target},
};
use crate::chain::chain;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

/// Addresses of a name that are tried.
const TRIED: usize = 4;
/// How long one has before the next is tried beside it (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

/// A connection, encrypted or not.
pub(super) type Stream = Box<dyn Duplex>;

pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

pub(super) struct Connector(TlsConnector);

impl Connector {
    /// Trusts the public certificate authorities, and one more (PEM).
    ///
    /// # Errors
    /// A sentence that says what is wrong with that one.
    pub(super) fn new(authority: Option<&[u8]>) -> Result<Self, String> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for certificate in authority.into_iter().flat_map(CertificateDer::pem_slice_iter) {
            let certificate = certificate.map_err(|it| format!("the certificate authority: {it}"))?;
            roots.add(certificate).map_err(|it| format!("the certificate authority: {it}"))?;
        }
        if authority.is_some() && roots.len() == webpki_roots::TLS_SERVER_ROOTS.len() {
            return Err("the certificate authority: there is no certificate".to_owned());
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|it| format!("TLS: {it}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// Connects to the first of the addresses that takes it. The name that TLS checks stays that of the target.
    pub(super) async fn connect(&self, target: &Target, addresses: &[IpAddr]) -> Result<Stream, Unreached> {
        let stream = first(addresses, target.port()).await?;
        // A request is written at once and its answer waited for; a delay would be for nothing.
        let _ = stream.set_nodelay(true);
        if !target.is_https() {
            return Ok(Box::new(stream));
        }
        let name = match target.host() {
            Host::Address(it) => ServerName::from(*it),
            Host::Name(it) => ServerName::try_from(it.clone())
                .map_err(|_| Unreached::Unconnected("the host is no name that a certificate has".to_owned()))?,
        };
        let encrypted = self.0.connect(name, stream).await;
        Ok(Box::new(encrypted.map_err(|it| Unreached::Unconnected(format!("TLS: {}", chain(&it))))?))
    }
}

/// Tries the addresses one after the other, both kinds in turn, without waiting long for any.
async fn first(addresses: &[IpAddr], port: u16) -> Result<TcpStream, Unreached> {
    let mut attempts: FuturesUnordered<_> = (0_u32..)
        .zip(in_turn(addresses).into_iter().take(TRIED))
        .map(|(before, address)| async move {
            tokio::time::sleep(HEAD_START * before).await;
            TcpStream::connect(SocketAddr::new(address, port)).await
        })
        .collect();
    let mut why = "there is no address".to_owned();
    while let Some(attempt) = attempts.next().await {
        match attempt {
            Ok(stream) => return Ok(stream),
            Err(error) => why = chain(&error),
        }
    }
    Err(Unreached::Unconnected(format!("the connection: {why}")))
}

/// IPv4 and IPv6 in turn, so that one that leads nowhere here costs a moment.
fn in_turn(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let (v4, v6): (Vec<IpAddr>, Vec<IpAddr>) = addresses.iter().partition(|it| it.is_ipv4());
    let pairs = v4.len().max(v6.len());
    (0..pairs).flat_map(|at| [v4.get(at), v6.get(at)]).flatten().copied().collect()
}
