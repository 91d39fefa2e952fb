//! The certificate, read again when its files change.

use crate::config::Tls;
use rustls::{
    ServerConfig,
    crypto::ring::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use std::{
    fmt,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

/// How often the files are looked at.
const PERIOD: Duration = Duration::from_secs(10);

/// A certificate chain with its key.
pub struct Certificates {
    files: Tls,
    current: Arc<Current>,
}

struct Current(RwLock<Arc<CertifiedKey>>);

/// What tells one version of a file from another: a renewal may replace it, or a link to it.
type Version = [Option<(u64, i64, i64, u64)>; 2];

impl Certificates {
    /// Reads the files.
    ///
    /// # Errors
    /// A sentence that names the file and what is wrong with it.
    pub fn read(files: &Tls) -> Result<Self, String> {
        let current = Arc::new(Current(RwLock::new(Arc::new(read(files)?))));
        Ok(Self { files: files.clone(), current })
    }

    /// The configuration of TLS, which has whatever was read last.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        let mut config = ServerConfig::builder().with_no_client_auth().with_cert_resolver(self.current.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }

    /// Reads the files again whenever they change. Files that can't be used are told of, and leave what there is.
    pub async fn keep_up_to_date(&self) {
        let mut seen = self.version();
        loop {
            tokio::time::sleep(PERIOD).await;
            let version = self.version();
            if version == seen {
                continue;
            }
            match read(&self.files) {
                Ok(key) => {
                    *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
                    tracing::info!("the certificate was read again");
                }
                // Perhaps only one of the two was written yet: the other changes the version again.
                Err(why) => tracing::warn!("the certificate is not changed: {why}"),
            }
            seen = version;
        }
    }

    fn version(&self) -> Version {
        [&self.files.cert, &self.files.key].map(|path| {
            let it = std::fs::metadata(path).ok()?;
            Some((it.ino(), it.mtime(), it.mtime_nsec(), it.len()))
        })
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Current")
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn read(files: &Tls) -> Result<CertifiedKey, String> {
    let wrong = |path: &Path, why: &dyn fmt::Display| format!("can't use {}: {why}", path.display());
    let chain = CertificateDer::pem_file_iter(&files.cert).and_then(|it| it.collect::<Result<Vec<_>, _>>());
    let chain = chain.map_err(|it| wrong(&files.cert, &it))?;
    if chain.is_empty() {
        return Err(wrong(&files.cert, &"it has no certificate"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|it| wrong(&files.key, &it))?;
    let key = any_supported_type(&key).map_err(|it| wrong(&files.key, &it))?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => Ok(certified),
        Err(_) => Err(wrong(&files.key, &format!("it is not the key of {}", files.cert.display()))),
    }
}
