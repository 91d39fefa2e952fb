//! `stoa serve`: opens the data, listens, and stops cleanly.

use crate::{
    command,
    config::Config,
    demo, housekeeping, indexing, item_jobs,
    report::Output,
    services::{Services, sentence},
    socket,
};
use axum_server::{Handle, tls_rustls::RustlsConfig};
use hyper_util::{
    rt::{TokioExecutor, TokioTimer},
    server::conn::auto::Builder,
};
use std::{
    io::IsTerminal,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

/// How long requests in progress may go on after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);

pub fn serve(config: Config, with_demo: bool) -> Result<(), String> {
    start_log(&config);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|it| it.to_string())?;
    runtime.block_on(run(config, with_demo))
}

async fn run(config: Config, with_demo: bool) -> Result<(), String> {
    let services = Services::open(&config).await.map_err(sentence)?;
    // The port is taken before the data is touched: a second server must not import a demo first.
    let listener = TcpListener::bind((config.host, config.port))
        .map_err(|it| format!("can't listen on {}:{}: {it}", config.host, config.port))?;
    listener.set_nonblocking(true).map_err(|it| it.to_string())?;
    let address = listener.local_addr().map_err(|it| it.to_string())?;
    let url = reachable_url(&config, address);

    services.set_url(&url);
    if with_demo {
        demo::make_if_empty(&services, &url).await?;
    }
    let (commands, runtime) = (services.clone(), tokio::runtime::Handle::current());
    let run = move |it, input, output: &mut dyn Output| command::run(&commands, &runtime, it, input, output);
    socket::serve(&config.data, run).map_err(|it| format!("can't open the command socket: {it}"))?;

    let service =
        axum::ServiceExt::into_make_service_with_connect_info::<SocketAddr>(stoa_http::service(services.app(&config)));
    tokio::spawn(housekeeping::run(services.clone()));
    tokio::spawn(indexing::run(services.clone()));
    tokio::spawn(item_jobs::run(services.clone()));
    let handle = Handle::new();
    tokio::spawn(stop_on_signal(handle.clone()));
    announce(&config, &services, &url, address).await?;

    let served = match &config.tls {
        None => {
            let mut server = axum_server::from_tcp(listener).map_err(|it| it.to_string())?.handle(handle);
            limit(server.http_builder());
            server.serve(service).await
        }
        Some(tls) => {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let certificate = RustlsConfig::from_pem_file(&tls.cert, &tls.key)
                .await
                .map_err(|it| format!("can't use {} with {}: {it}", tls.cert.display(), tls.key.display()))?;
            let mut server =
                axum_server::from_tcp_rustls(listener, certificate).map_err(|it| it.to_string())?.handle(handle);
            limit(server.http_builder());
            server.serve(service).await
        }
    };
    let _ = std::fs::remove_file(stoa_store::DataDirectory::socket(&config.data));
    services.store.close();
    served.map_err(|it| it.to_string())
}

/// A connection that sends no complete head in this time is closed.
const HEAD_LIMIT: Duration = Duration::from_secs(30);

fn limit(builder: &mut Builder<TokioExecutor>) {
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_LIMIT);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_LIMIT).max_concurrent_streams(256);
}

/// The line `ready URL` is the contract for scripts; the rest is for people and goes to standard error.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what the command prints")]
async fn announce(config: &Config, services: &Services, url: &str, address: SocketAddr) -> Result<(), String> {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    if std::io::stderr().is_terminal() {
        eprintln!("\n  Website   {url}/");
        eprintln!("  Account   {url}/account/sign-in");
        eprintln!("  API       {url}/v2/… (token: {url}/oauth2/token)");
    }
    if let Some(link) = services.first_owner_link().await? {
        eprintln!("  Owner     {link}");
        eprintln!("            one-time link, good for seven days: sets the password of the site's owner\n");
    }
    println!("ready {scheme}://{address}");
    Ok(())
}

fn reachable_url(config: &Config, address: SocketAddr) -> String {
    if let Some(url) = &config.public_url {
        return url.clone();
    }
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let host = if address.ip().is_loopback() || address.ip().is_unspecified() {
        "localhost".to_owned()
    } else {
        address.ip().to_string()
    };
    format!("{scheme}://{host}:{}", address.port())
}

async fn stop_on_signal(handle: Handle<SocketAddr>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: requests in progress may finish");
    handle.graceful_shutdown(Some(GRACE));
}

fn start_log(config: &Config) {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if config.log_json {
        log.json().init();
    } else {
        log.with_ansi(std::io::stderr().is_terminal()).with_target(false).init();
    }
}
