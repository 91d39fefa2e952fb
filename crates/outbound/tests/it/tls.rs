//! TLS checks the name that was called, whatever address the name server gives for it.

use super::{ALLOWED, config, get, name_server::NameServer, peer, reach};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{
    path::Path,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use stoa_outbound::{Reach, ReachConfig, Unreached};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A shop whose certificate a test's own authority signed.
struct Shop {
    port: u16,
    authority: Vec<u8>,
    /// The names that it was called by, as TLS told them.
    named: Arc<Mutex<Vec<Option<String>>>>,
    served: Arc<AtomicUsize>,
}

impl Shop {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        certify(folder.path());
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        let chain = CertificateDer::pem_slice_iter(&read("shop.pem")).map(|it| it.unwrap()).collect();
        let key = PrivateKeyDer::from_pem_slice(&read("shop.key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((ALLOWED, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shop = Self { port, authority: read("authority.pem"), named: Arc::default(), served: Arc::default() };
        let (named, served) = (shop.named.clone(), shop.served.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Who doesn't trust the certificate hangs up.
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                named.lock().unwrap().push(stream.get_ref().1.server_name().map(str::to_owned));
                served.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(peer::behave(stream, peer::says("200 OK", "hello"), Arc::default()));
            }
        });
        shop
    }

    /// A way to it; with the authority it is trusted.
    fn reach(&self, server: &NameServer, authority: Option<&[u8]>) -> Reach {
        reach(&ReachConfig { authority: authority.map(<[u8]>::to_vec), ..config(server) })
    }
}

/// An authority, and a certificate of it for `shop.example`.
fn certify(folder: &Path) {
    let openssl = |arguments: &str| {
        let made = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {key} -days 2 -subj /CN=authority -keyout authority.key -out authority.pem"));
    openssl(&format!("req {key} -subj /CN=shop -keyout shop.key -out shop.csr"));
    std::fs::write(folder.join("names"), "subjectAltName=DNS:shop.example,DNS:localhost\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    openssl(
        "x509 -req -in shop.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -extfile names -out shop.pem",
    );
}

#[tokio::test]
async fn certificate_is_that_of_the_name_and_not_of_the_address() {
    let (shop, server) = (Shop::open().await, NameServer::of(&[ALLOWED]).await);
    let trusting = shop.reach(&server, Some(&shop.authority));
    for good in ["shop.example", "SHOP.example", "shop.example."] {
        let answer = get(&trusting, &format!("https://{good}:{}/", shop.port)).await.unwrap();
        assert_eq!(answer.body, b"hello", "{good}");
    }
    assert!(shop.named.lock().unwrap().iter().all(|it| it.as_deref() == Some("shop.example")));
    assert_eq!(shop.served.load(Ordering::SeqCst), 3);
    // The same address by another name, or by itself.
    for bad in ["other.example", "shop.example.evil.example", ALLOWED] {
        let called = get(&trusting, &format!("https://{bad}:{}/", shop.port)).await;
        assert!(matches!(&called, Err(Unreached::Unconnected(why)) if why.starts_with("TLS: ")), "{bad}: {called:?}");
    }
    assert_eq!(server.asked().iter().filter(|it| it.0 == "shop.example").count(), 6, "each call asks anew");
}

#[tokio::test]
async fn authority_that_is_not_named_is_not_trusted() {
    let (shop, server) = (Shop::open().await, NameServer::of(&[ALLOWED]).await);
    let called = get(&shop.reach(&server, None), &format!("https://shop.example:{}/", shop.port)).await;
    assert!(matches!(&called, Err(Unreached::Unconnected(why)) if why.starts_with("TLS: ")), "{called:?}");
    // Nor is one that talks without TLS.
    let plain = peer::Peer::start(ALLOWED, peer::says("200 OK", "hello")).await;
    let called =
        get(&shop.reach(&server, Some(&shop.authority)), &format!("https://shop.example:{}/", plain.port())).await;
    assert!(matches!(&called, Err(Unreached::Unconnected(why)) if why.starts_with("TLS: ")), "{called:?}");
}
