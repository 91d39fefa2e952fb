//! `stoa serve`: opens the data, listens, and stops cleanly.

use crate::{
    cli::Verb,
    command,
    config::Config,
    connection::{Certificates, Listener, fit_to_descriptors},
    demo, environments, housekeeping, indexing, item_jobs, key_upkeep, log,
    report::Output,
    searching,
    services::{Services, sentence},
    socket,
    watch::{self, Work},
};
use std::{
    io::IsTerminal,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    sync::Arc,
};
use stoa_http::ExchangeLog;

/// Bytes of the stack of each thread, whatever the environment says: documents of GraphQL and JSON are bounded so that they
/// need less.
const STACK: usize = 2 * 1024 * 1024;

pub fn serve(config: Config, with_demo: bool) -> Result<(), String> {
    let work = log::start(&config);
    config.check_mail()?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().thread_stack_size(STACK).build().map_err(|it| it.to_string())?;
    let served = runtime.block_on(run(config, work, with_demo));
    log::flush();
    served
}

async fn run(mut config: Config, work: Arc<Work>, with_demo: bool) -> Result<(), String> {
    // On SQLite sites are files; on PostgreSQL there are connections in their place.
    let (sites, files) = match config.database_url {
        None => (config.open_sites, 0),
        Some(_) => (0, config.database_connections),
    };
    fit_to_descriptors(&mut config.limits.http, sites, files + config.reach.limits.in_all)?;
    let certificates = match &config.tls {
        None => None,
        Some(tls) => {
            let _ = rustls::crypto::ring::default_provider().install_default();
            Some(Arc::new(Certificates::read(tls)?))
        }
    };
    let services = Services::open(&config).await.map_err(sentence)?;
    // The port is taken before the data is touched: a second server must not import a demo first.
    let listener = TcpListener::bind((config.host, config.port))
        .map_err(|it| format!("can't listen on {}:{}: {it}", config.host, config.port))?;
    listener.set_nonblocking(true).map_err(|it| it.to_string())?;
    let address = listener.local_addr().map_err(|it| it.to_string())?;
    let url = reachable_url(&config, address);

    services.set_url(&url);
    if config.reach.exceptions.loopback {
        tracing::info!("addresses of this machine may be called, because the server listens on loopback only");
    }
    if with_demo {
        demo::make_if_empty(&services, &url).await?;
    }
    let (commands, runtime) = (services.clone(), tokio::runtime::Handle::current());
    let run = move |verb: Verb, input, output: &mut dyn Output| command::run(&commands, &runtime, &verb, input, output);
    socket::serve(&config.data, run).map_err(|it| format!("can't open the command socket: {it}"))?;

    tokio::spawn(housekeeping::run(services.clone()));
    tokio::spawn(indexing::run(services.clone()));
    tokio::spawn(item_jobs::run(services.clone()));
    tokio::spawn(key_upkeep::run(services.clone()));
    tokio::spawn(searching::run(services.clone()));
    tokio::spawn(environments::run(services.clone()));
    let keeping = services.content.search_serve(&services.indexers);
    let sending = services.webhooks.start();
    let mut app = services.app(&config);
    if let Some(directory) = &config.test_traffic {
        let log = ExchangeLog::open(directory, ExchangeLog::MOST);
        app.exchanges = Some(log.map_err(|it| format!("can't write exchanges into {}: {it}", directory.display()))?);
        tracing::warn!("whole requests and answers are written into {}: for tests only", directory.display());
    }
    if let Some(address) = config.metrics {
        watch::serve(address, app.clone(), services.hooks.clone(), work).await?;
    }
    let listener = Listener {
        socket: tokio::net::TcpListener::from_std(listener).map_err(|it| it.to_string())?,
        certificates,
        traffic: app.traffic.clone(),
        settings: app.settings.clone(),
        service: stoa_http::service(app.clone()),
    };
    let realtime = app.realtime;
    let serving = tokio::spawn(listener.serve(async move {
        stop_signal().await;
        // Streams end by themselves, and connections once nothing is in progress on them.
        tokio::spawn(async move { realtime.close().await });
    }));
    announce(&config, &services, &url, address).await?;
    let served = serving.await;
    sending.end().await;
    keeping.end().await;
    let _ = std::fs::remove_file(stoa_store::DataDirectory::socket(&config.data));
    services.close().await;
    served.map_err(|it| it.to_string())
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
    if services.store.sites().await.map_err(sentence)?.is_empty() {
        eprintln!("\n  There is no site yet. The next step, in another terminal:");
        eprintln!("      stoa site create --name Mine --data {}\n", config.data.display());
    }
    if let Some(link) = services.first_owner_link().await? {
        let file = services.keep_owner_link(&config.data, &link)?;
        // A log is read by more than may run the site.
        if std::io::stderr().is_terminal() {
            eprintln!("  Owner     {link}");
            eprintln!("            one-time link, good for seven days: sets the password of the site's owner\n");
        } else {
            tracing::info!("the site has no owner: a one-time link for the first one was kept in {}", file.display());
        }
    }
    println!("ready {scheme}://{}", reachable_address(address));
    Ok(())
}

/// What links begin with: where nothing else is configured the address of the line `ready`, so that cookies and
/// storage of a browser are of one origin whichever link it followed.
fn reachable_url(config: &Config, address: SocketAddr) -> String {
    if let Some(url) = &config.public_url {
        return url.clone();
    }
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", reachable_address(address))
}

/// An address that listens everywhere is reached on this machine by its loopback.
fn reachable_address(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(it) if it.is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        IpAddr::V6(it) if it.is_unspecified() => (Ipv6Addr::LOCALHOST, address.port()).into(),
        _ => address,
    }
}

/// Waits for SIGTERM or SIGINT.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: requests in progress may finish");
}
