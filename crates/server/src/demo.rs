//! `stoa serve --demo`: the Atlas site with its collections, made once.
//!
//! The data are part of the program (made from npm packages when it is built). A marker in the data
//! directory says how far the making got, so that one which was interrupted goes on where it stopped.

use crate::{
    cli::Format,
    report::{Output, Report},
    services::{Services, operator, sentence},
    transfer,
};
use flate2::read::GzDecoder;
use rust_embed::RustEmbed;
use serde_json::Value;
use std::{io::Cursor, path::PathBuf, sync::Arc};
use stoa_content::transfer::ImportOptions;
use stoa_identity::client::NewClient;
use stoa_kernel::{Code, Fault, SiteId};
use stoa_store::{Site, SiteChange};

#[derive(RustEmbed)]
#[folder = "../../web/apps/atlas/demo/out"]
#[allow_missing = true]
struct Data;

/// Collections that come with items, and how many.
const FILLED: &[(&str, u64)] = &[("countries", 250), ("cities", 135_233)];

/// Makes the demo site unless the data directory is in use for something else or already has it.
pub async fn make_if_empty(services: &Services, url: &str) -> Result<(), String> {
    let marker = Marker::of(services);
    let site = match marker.read() {
        Some(State::Done) => return recognise(services).await.map_err(sentence),
        Some(State::Making(id)) => services.store.site(&id).await.map_err(sentence)?,
        None if services.store.sites().await.map_err(sentence)?.is_empty() => begin(services, url, &marker).await?,
        None => return Ok(()),
    };
    collections(services, &site).await?;
    let (services, runtime) = (services.clone(), tokio::runtime::Handle::current());
    tokio::task::spawn_blocking(move || fill(&services, &runtime, &site)).await.map_err(|it| it.to_string())??;
    marker.write(&State::Done)
}

/// Marks the demo site that an older version made, which had no mark: it was the first of its directory.
async fn recognise(services: &Services) -> Result<(), Fault> {
    let sites = services.store.site_list(false).await?;
    match sites.first() {
        Some(first) if first.name == "Atlas" && !sites.iter().any(|it| it.is_demo) => {
            let change = SiteChange { is_demo: Some(true), ..SiteChange::default() };
            services.store.site_update(&first.id, change, services.world.now()).await.map(drop)
        }
        _ => Ok(()),
    }
}

async fn begin(services: &Services, url: &str, marker: &Marker) -> Result<Arc<Site>, String> {
    // It answers where no host name of another site does.
    let wanted = SiteChange { name: Some("Atlas".to_owned()), is_demo: Some(true), ..SiteChange::default() };
    let site = services.store.site_make(wanted, &services.world).await.map_err(sentence)?;
    marker.write(&State::Making(site.id.clone()))?;
    let origins = vec![url.to_owned(), "http://localhost".to_owned(), "http://127.0.0.1".to_owned()];
    // Where another site has the host name, the demo is found beneath its id.
    let ways = ["".to_owned(), format!("/s/{}", site.id)];
    let new = NewClient {
        name: "Atlas".to_owned(),
        redirect_uris: ways
            .iter()
            .flat_map(|way| origins.iter().map(move |origin| format!("{origin}{way}/signed-in")))
            .collect(),
        origins,
        with_secret: false,
        ..NewClient::default()
    };
    services.identity.client_create(&site.id, new).await.map_err(sentence)?;
    Ok(site)
}

async fn collections(services: &Services, site: &Arc<Site>) -> Result<(), String> {
    let file = Data::get("collections.json").ok_or("this program was built without the demo data; run make build")?;
    let list: Vec<Value> = serde_json::from_slice(&file.data).map_err(|it| it.to_string())?;
    for collection in &list {
        match services.content.collection_create(site, &operator(), collection).await {
            Ok(_) => {}
            Err(fault) if fault.code() == Code::CollectionExists => {}
            Err(fault) => return Err(sentence(fault)),
        }
    }
    Ok(())
}

fn fill(services: &Services, runtime: &tokio::runtime::Handle, site: &Arc<Site>) -> Result<(), String> {
    let mut report = Report::new(false);
    for (collection, count) in FILLED {
        let file =
            Data::get(&format!("{collection}.jsonl.gz")).ok_or_else(|| format!("the demo data lack {collection}"))?;
        let items = Box::new(GzDecoder::new(Cursor::new(file.data.into_owned())));
        report.begin(&format!("{collection:<9}"), *count);
        let output: &mut dyn Output = &mut report;
        let source =
            transfer::Source { collection, format: Format::Jsonl, options: ImportOptions::default(), input: items };
        let result = transfer::import(services, runtime, site, source, output).map_err(|it| it.message)?;
        report.end();
        if result["failed"] != 0 {
            return Err(format!("the demo data could not be imported: {result}"));
        }
    }
    Ok(())
}

enum State {
    Making(SiteId),
    Done,
}

/// The file that remembers the state of the demo.
struct Marker(PathBuf);

impl Marker {
    fn of(services: &Services) -> Self {
        Self(services.store.directory().path().join("demo"))
    }

    fn read(&self) -> Option<State> {
        let text = std::fs::read_to_string(&self.0).ok()?;
        match text.trim().split_once(' ') {
            Some(("making", id)) => Some(State::Making(SiteId::from(id))),
            _ => Some(State::Done),
        }
    }

    fn write(&self, state: &State) -> Result<(), String> {
        let text = match state {
            State::Making(id) => format!("making {id}\n"),
            State::Done => "done\n".to_owned(),
        };
        // Renamed into place: a half-written marker would be taken for a finished demo.
        let draft = self.0.with_extension("new");
        std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &self.0)).map_err(|it| it.to_string())
    }
}
