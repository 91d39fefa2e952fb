//! Calls of identity providers: what one network can keep others from.

use super::{
    ALLOWED, config,
    name_server::NameServer,
    peer::{Manner, Peer, says},
    reach,
};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use stoa_kernel::{Network, Secret};
use stoa_outbound::{ClientSecretIn, CodeExchange, OpenidClient, OpenidFailure, OpenidLimits};

async fn exchange(client: &OpenidClient, site: &str, from: &str, at: SocketAddr) -> Result<Vec<u8>, OpenidFailure> {
    let secret = Secret::new("hush");
    let exchange = CodeExchange {
        token_endpoint: &format!("http://{at}/token"),
        client_id: "client",
        client_secret: &secret,
        secret_in: ClientSecretIn::Header,
        code: &secret,
        verifier: &secret,
        redirect_uri: "https://stoa.example/callback",
    };
    client.exchange((site, Network::of(from.parse().unwrap())), exchange).await
}

#[tokio::test]
async fn network_that_waits_for_a_slow_provider_leaves_the_others_their_turns() {
    let server = NameServer::of(&[ALLOWED]).await;
    let slow = Peer::start(ALLOWED, Manner::NeverAnswers).await;
    let quick = Peer::start(ALLOWED, says("200 OK", "{}")).await;
    let limits = OpenidLimits {
        timeout: Duration::from_secs(60),
        at_once: 3,
        waiting: 0,
        of_network: 2,
        waiting_of_network: 0,
        in_all: 100,
    };
    let client = Arc::new(OpenidClient::new(reach(&config(&server)), limits));
    let (stranger, other) = ("192.0.2.1", "192.0.2.2");
    let held: Vec<_> = (0..2)
        .map(|_| {
            let (client, address) = (client.clone(), slow.address);
            tokio::spawn(async move { exchange(&client, "s", stranger, address).await })
        })
        .collect();
    slow.meets(2).await;
    // The site has a third turn, which is not for the network that has two.
    assert!(matches!(exchange(&client, "s", stranger, quick.address).await, Err(OpenidFailure::NotAsked(_))));
    assert_eq!(exchange(&client, "s", other, quick.address).await.unwrap(), b"{}");
    // Nor is it kept from other sites.
    assert_eq!(exchange(&client, "t", stranger, quick.address).await.unwrap(), b"{}");
    // Who goes gives the turns back.
    for one in &held {
        one.abort();
    }
    for one in held {
        assert!(one.await.unwrap_err().is_cancelled());
    }
    assert_eq!(exchange(&client, "s", stranger, quick.address).await.unwrap(), b"{}");
}
